/* Reads small files; writes files so that a reader never sees half of one. */
#ifndef TARE_BASE_FILE_H
#define TARE_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/scope.h"

/* The NUL-terminated contents, which the caller frees, or NULL with errno. Works for /proc and
 * /sys. */
char *file_read(const char *path);
/* Like file_read(), from the current position of an open file to its end. */
char *file_read_from(int fd);
/* Like file_read(), for files that may contain NUL bytes. */
char *file_read_bytes(const char *path, size_t *length);
char *file_read_bytes_from(int fd, size_t *length);
/* Like file_read(), without trailing white space, for one-line files. */
char *file_read_line(const char *path);

/* Like file_read_bytes() and file_read_line(), for a file that the user named: as the invoker. */
char *invoker_read(const char *path, size_t *length);
char *invoker_read_line(const char *path);

/* Like file_read(), for /proc/PID/NAME. */
char *file_read_proc(long pid, const char *name);

/* A descriptor for reading a regular file, or -1. Other files are not opened at all, because
 * opening a device may have effects and opening a pipe blocks. */
int file_open_regular(const char *path);
/* Like file_open_regular(), for a file opened with O_PATH. Closes at. */
int file_reopen_regular(int at);

/* The path of a program in directories separated by ':'. The caller frees it. NULL: not found. */
char *file_find_program(const char *directories, const char *name);

/* Replaces path by these bytes through a temporary file beside it, as the invoker (invoker.h); "-"
 * is standard output. Pipes and devices are written to. A link is followed unless it is a
 * stranger's (links.h); a dangling one is replaced. */
int file_write(const char *path, const char *bytes, size_t length, struct error *err);

/* Whether path is a directory (not a link to one) that belongs to this user and nobody else can
 * access, so its contents can be trusted. For root, nobody else can have written to the directories
 * above either. directory_own() creates it if it is missing. */
bool directory_is_own(const char *path);
bool directory_own(const char *path);
/* Removes what is in a directory, as far as it can; links are not followed. */
void directory_empty(const char *path);

/* Where to keep files that are useless after the next boot: TARE_RUNTIME_DIR, or /run/tare, which
 * belongs to root. NULL: the variable is not an absolute path. */
const char *runtime_directory(void);

#endif
