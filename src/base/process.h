/* Processes by descriptor (pidfd): a number may become another process's between two calls. */
#ifndef TARE_BASE_PROCESS_H
#define TARE_BASE_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

struct process_look {
	char state; /* 'R', 'S', 'T', 'Z', ... */
	pid_t parent;
	unsigned long long start; /* in ticks since boot */
};
/* False: it is gone or cannot be looked at; errno says which. */
bool process_look(pid_t pid, struct process_look *into);

/* A pidfd, closed on exec, or -1 with errno. */
int process_open(pid_t pid);
/* -1 with errno. */
int process_signal(int fd, int signal);
/* Whether it ends within this time. It need not be a child. */
bool process_ends(int fd, unsigned ms);

/* Kills the process, its children, their children and so on. Each is stopped before its children
 * are looked for, so that none can fork or exit meanwhile. What had lost its parent before cannot
 * be found. Returns when they are dead, or after a second. */
void process_kill_tree(pid_t pid, int fd);

#endif
