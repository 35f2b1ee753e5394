/* The one way in which tare, run by sudo, touches files for the user who typed it: with that user's
 * rights and in that user's name. docs/security.md says which files are opened so. */
#ifndef TARE_BASE_INVOKER_H
#define TARE_BASE_INVOKER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/scope.h"

/* The user who typed sudo. present: this process is root on behalf of another user. invalid:
 * SUDO_UID or SUDO_GID do not say who that is. */
struct invoker {
	bool present, invalid;
	uid_t uid;
	gid_t gid;
	char name[64];
	char home[256];
	const gid_t *groups; /* all of that user's, SUDO_GID among them; never freed */
	size_t group_count;
};
void invoker_get(struct invoker *into);
/* Fails if it is invalid, so that nobody is taken for root by mistake. */
int invoker_check(const struct invoker *who, struct error *err);

/* Whose rights this thread had over files before. Starts as { 0 }. */
struct as_user {
	bool begun;
	gid_t *groups;
	int group_count;
};

/* Until user_end() this thread touches files as the invoker: user, group and supplementary groups.
 * Does nothing without an invoker. It nests. If it fails, with errno, nothing has changed: the
 * caller must not go on, because it would go on as root.
 *
 *	AS_USER(as);
 *	if (invoker_begin(&as, err))
 *		return -1;
 *
 * Neither start threads nor processes meanwhile, since they would inherit a part of it. */
__attribute__((warn_unused_result)) int invoker_begin(struct as_user *as, struct error *err);
/* The same for any other user; does nothing unless this process is root. Fails within the scope of
 * another user. */
__attribute__((warn_unused_result)) int user_begin(struct as_user *as, uid_t uid, gid_t gid,
						   const gid_t *groups, size_t group_count);
void user_end(struct as_user *as); /* keeps errno */
/* In a process that was forked within a scope and outlives it: ends all of them, so that a new one
 * begins with root's rights. */
void user_forget(void);
#define AS_USER(name) SCOPED(user_end) struct as_user name = { 0 }

/* Becomes a user for good, in all that a process is; false, with errno, if a part of it failed or
 * there is a way back. For a child that was just forked, by root. */
bool user_become(uid_t uid, gid_t gid, const gid_t *groups, size_t group_count);

/* Every group of a user, primary among them; the caller frees it. NULL with errno. */
gid_t *user_groups(const char *name, gid_t primary, size_t *count);

/* Whether path is "/dev/stdin", "/dev/fd/N" or the like. fd: that descriptor if this program was
 * started with it, because to open it again would need rights over it; else -1 with errno. */
bool descriptor_named(const char *path, int *fd);
/* open() as the invoker, with O_CLOEXEC; a copy of the descriptor if the path names one. */
int invoker_open(const char *path, int flags);

/* From here on everything that SQLite opens, makes or removes, in any thread and at any time, is
 * touched as the invoker. Call it before each sqlite3_open*(). */
int invoker_for_sqlite(struct error *err);

#endif
