/* Finds a file by its path without following links that a stranger may have put there. A link is
 * followed if it is root's or the user's own. Where the user is not root, it is also followed if
 * its folder is its owner's, as the kernel does with fs.protected_symlinks. */
#ifndef TARE_BASE_LINKS_H
#define TARE_BASE_LINKS_H

#include <sys/types.h>

#include "base/scope.h"

struct found {
	int folder; /* O_PATH, holds the file; -1: only the kernel knows (/proc/self/fd/1) */
	char *name; /* in it */
	int file;   /* O_PATH, no link; -1: there is none */
};

/* 0, or -1 with errno: ELOOP if a link is a stranger's. A dangling link itself is what was found,
 * with no file: who writes there replaces it. Call found_release() either way. */
int links_follow(const char *path, uid_t user, struct found *into);
void found_release(struct found *found); /* keeps errno */

#endif
