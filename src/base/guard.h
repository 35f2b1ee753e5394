/* A process that puts things right when tare is gone, however it went: it ends what tare had
 * started, has settings put back and removes temporary folders. It sleeps until then.
 *
 * What it would have to do is in memory that both share, so adding something costs no system call
 * and does not wake it. tare's forked processes share it too. */
#ifndef TARE_BASE_GUARD_H
#define TARE_BASE_GUARD_H

#include <stdbool.h>
#include <sys/types.h>

/* Starts the guard, unless it runs. Everything here calls it; call it early yourself where threads
 * or large memory come later. Without a guard (no memory left) nothing else fails.
 * When tare exits with nothing left below, the guard ends first, and tare waits for that. */
void guard_start(void);

/* Each of these adds something to be done when tare is gone, and returns a number for
 * guard_release(), which takes it off again. 0 means that it could not be added; releasing 0 does
 * nothing. */

/* A process is killed with its tree. 0: only a place, for a subject that was started in the group.
 * signal is sent first if it is not 0, and the process then has some seconds to end. */
int guard_process(pid_t pid, int signal);
/* A control group is killed and removed. */
int guard_group(const char *path);
/* A folder that tare made is removed with its contents, with its owner's rights. One that is not
 * there yet is removed only if it is empty. */
int guard_folder(const char *path);
/* Like mkdtemp() as the invoker (base/invoker.h), and the new folder is the guard's at once. False
 * with errno. */
bool guard_make_folder(char *template, int *number);
/* A function of tare is called. */
int guard_call(void (*call)(const char *text), const char *text);

void guard_release(int number);

/* The control group in which this tare's subjects start, so that none of a tree can escape: a
 * descriptor of its directory, or -1 with errno where this machine or user has none. Made when
 * first asked for and removed at tare's exit, where what is left in it is moved to tare's own
 * group. */
int guard_subjects(void);
const char *guard_subjects_path(void); /* NULL: none */
/* In a forked process of tare: from now on its subjects start in this group. */
void guard_enter(const char *group);

#endif
