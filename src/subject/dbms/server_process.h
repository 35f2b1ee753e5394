/* Processes of and for a server, as another user in their own session. Private to subject/dbms/. */
#ifndef TARE_SUBJECT_DBMS_SERVER_PROCESS_H
#define TARE_SUBJECT_DBMS_SERVER_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/invoker.h"

/* The user that a process runs as. */
struct server_user {
	bool change; /* false: the same user as tare */
	const char *name;
	char home[256];
	uid_t uid;
	gid_t gid;
	gid_t groups[1024];
	size_t group_count;
};
/* change is set if tare is root and name (or NULL) is another user. False: no such user. */
bool server_user_find(const char *name, struct server_user *into);
/* Touches files as that user: as invoker_begin(), which see. */
__attribute__((warn_unused_result)) int server_user_begin(const struct server_user *user,
							  struct as_user *as);

/* Runs a command until it ends. If it fails, the error contains its output. directory: where it
 * runs; NULL: where tare does. */
int server_command_run(char *const *words, const struct server_user *user, const char *directory,
		       struct error *err);

/* Starts a server in directory, with its log and pid file there. It gets stop_signal when the
 * thread that started it ends, so that a killed tare leaves no server running for long; *guarded is
 * for guard_release(), because the guard makes sure of that. */
#define SERVER_LOG "tare.log"
#define SERVER_PID "tare.pid"
int server_process_start(char *const *words, const struct server_user *user, const char *directory,
			 int stop_signal, pid_t *pid, int *guarded, struct error *err);
/* The server that some tare started in this directory as this user and that still runs, or 0. */
pid_t server_process_find(const char *directory, const struct server_user *user);
/* Waits until it ends, and reaps it if it is tare's child. False: it did not end in that time. */
bool server_process_await_end(pid_t pid, unsigned ms);

#endif
