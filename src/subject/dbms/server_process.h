/* Processes of and for a server: as another user, in a session of their own. Private to
 * subject/dbms/. */
#ifndef TARE_SUBJECT_DBMS_SERVER_PROCESS_H
#define TARE_SUBJECT_DBMS_SERVER_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/* Whom a process becomes. */
struct server_user {
	bool change; /* false: it stays who tare is */
	const char *name;
	uid_t uid;
	gid_t gid;
	gid_t groups[64];
	int group_count;
};
/* change is set when tare is root and name (or NULL) is another user's. False: there is none such.
 */
bool server_user_find(const char *name, struct server_user *into);

/* Runs a command until it ends; what it says goes into the error when that is not well. directory:
 * where it runs; NULL: where tare does. */
int server_command_run(char *const *words, const struct server_user *user, const char *directory,
		       struct error *err);

/* Starts a server in directory, where its log and its process's number are. It gets stop_signal
 * when the thread that started it ends: a killed tare leaves no server behind for long. */
#define SERVER_LOG "tare.log"
#define SERVER_PID "tare.pid"
int server_process_start(char *const *words, const struct server_user *user, const char *directory,
			 int stop_signal, pid_t *pid, struct error *err);
/* The server that a tare started in there and that still runs, or 0. */
pid_t server_process_find(const char *directory);
/* Until it ended, reaping it if it is tare's child. False: it did not in that time. */
bool server_process_await_end(pid_t pid, unsigned ms);

#endif
