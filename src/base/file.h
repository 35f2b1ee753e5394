/* Small files read whole; files written so that a reader never sees half of one. */
#ifndef TARE_BASE_FILE_H
#define TARE_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/scope.h"

/* The contents, NUL-terminated, or NULL with errno set; the caller frees. Works for /proc and /sys.
 */
char *file_read(const char *path);
/* The same from where an open file stands to its end. */
char *file_read_from(int fd);
/* The same of what may hold bytes of 0. */
char *file_read_bytes(const char *path, size_t *length);
/* The same without trailing white space; for one-line files. */
char *file_read_line(const char *path);

/* /proc/PID/NAME, as file_read(). */
char *file_read_proc(long pid, const char *name);

/* A descriptor to read a regular file from, or -1. Nothing else is opened, not even to look at it:
 * to open a device may do something, and a pipe waits. */
int file_open_regular(const char *path);
/* The same of what a descriptor of O_PATH stands for; closes that. */
int file_reopen_regular(int at);

/* Where in these directories, separated by ':', there is such a program; the caller frees. NULL: in
 * none. */
char *file_find_program(const char *directories, const char *name);

/* Replaces path by these bytes through a temporary file beside it; "-" is standard output. */
int file_write(const char *path, const char *bytes, size_t length, struct error *err);

/* A directory, no link to one, of this user's that nobody else may look into: what is in there can
 * be believed. directory_own() makes it where there is none. */
bool directory_is_own(const char *path);
bool directory_own(const char *path);

/* Where to keep what is of no use after the next boot: TARE_RUNTIME_DIR, or /run/tare, which is
 * root's. NULL: the variable holds no full path. */
const char *runtime_directory(void);

/* Whoever typed sudo: present when this process is root on behalf of another user, invalid when
 * SUDO_UID or SUDO_GID do not say who that is. */
struct invoker {
	bool present, invalid;
	uid_t uid;
	gid_t gid;
	char name[64];
	char home[256];
};
void invoker_get(struct invoker *into);
/* An error where it is invalid: nobody may be taken for root by mistake. */
int invoker_check(const struct invoker *who, struct error *err);

/* Files made between these two belong to the invoker of sudo; both do nothing without one. */
void invoker_begin(void);
void invoker_end(void);

#endif
