/* The journal of a quiet machine: the previous values, on disk before anything is changed.
 * Private to quiet/.
 *
 * It is text with one record per line. Fields are separated by tabs; \t, \n and \\ are escaped:
 *
 *	tare-quiet 1
 *	boot	ID
 *	owner	PID	START		the process that makes it quiet
 *	since	NS
 *	change	KIND	KNOB	WHAT	BEFORE	WANTED
 *	...
 *	begin				all of the above is on disk
 *	made	N	AFTER		change N was made and has this value
 *	made	N			the same; its value is unknown
 *	refused	N			change N was refused
 *	keep				it stays without its owner
 *	left				its owner needs it no longer, but others use a part of it
 *	restoring	PID	START	this process is undoing it
 *	finished	N		change N was undone, or left
 *
 * Changes are made in order, so the first that is neither made nor refused may have been made. */
#ifndef TARE_QUIET_JOURNAL_H
#define TARE_QUIET_JOURNAL_H

#include <sys/types.h>

#include "quiet/change.h"

struct journal {
	int fd; /* -1: none. It holds the lock */
	char *path;
	int owner; /* who is responsible now; 0: nobody */
	unsigned long long owner_start;
	int64_t since_ns;
	bool stale;  /* from an earlier boot */
	bool left;   /* whoever uses it last undoes it */
	off_t whole; /* bytes of complete lines, because the last may be cut off */
	change_list changes;
};
#define JOURNAL_INIT     \
	{                \
		.fd = -1 \
	}
void journal_release(struct journal *j);

/* Creates the journal of j->changes. EXIT_USAGE: there is one already. After an error j->fd is -1,
 * and none was made. */
int journal_create(struct journal *j, const struct quiet_options *o, int owner, struct error *err);

/* Reads the journal. j->fd < 0: there is none. */
int journal_open(struct journal *j, const struct quiet_options *o, struct error *err);
/* Opens the journal to undo it. It is locked before it is read, so that only one process undoes it.
 * j->fd < 0 also if another process has it or has removed it meanwhile. */
int journal_take(struct journal *j, const struct quiet_options *o, struct error *err);

bool journal_is_abandoned(const struct journal *j);

/* Opens the file whose lock, shared, says that a process uses this knob. The kernel releases the
 * lock with its process, however that ends. make: create the file if it is missing. Returns -1 with
 * errno. */
int journal_open_use(const struct quiet_options *o, const char *knob, bool make);

/* after: NULL if unknown. */
int journal_made(struct journal *j, size_t number, const char *after, struct error *err);
int journal_refused(struct journal *j, size_t number, struct error *err);
int journal_keep(struct journal *j, struct error *err);
int journal_leave(struct journal *j, struct error *err);
int journal_restoring(struct journal *j, struct error *err);
int journal_finished(struct journal *j, size_t number, struct error *err);
int journal_remove(struct journal *j, struct error *err);

#endif
