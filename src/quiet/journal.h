/* The journal of a quiet machine: what was there before, on disk before anything is changed.
 *Private to quiet*.c.
 *
 * Text, a record a line, its fields separated by tabs with \t, \n and \\ written out:
 *
 *	tare-quiet 1
 *	boot	ID
 *	owner	PID	START		the process that makes it quiet
 *	since	NS
 *	change	KIND	KNOB	WHAT	BEFORE	WANTED
 *	...
 *	begin				all of the above was on disk at once
 *	made	N	AFTER		change N was made and reads so | refused	N
 *	made	N			the same; how it reads is not known
 *	keep				it stays without its owner
 *	restoring	PID	START	this process undoes it
 *	finished	N		change N was undone, or left
 *
 * Changes are made in their order: the first that is neither made nor refused may have been. */
#ifndef TARE_QUIET_JOURNAL_H
#define TARE_QUIET_JOURNAL_H

#include <sys/types.h>

#include "quiet/change.h"

struct journal {
	int fd; /* -1: none. The lock is on it */
	char *path;
	int owner; /* who is responsible now; 0: nobody */
	unsigned long long owner_start;
	int64_t since_ns;
	bool stale;  /* of an earlier boot */
	off_t whole; /* bytes of whole lines: the last may have been cut off */
	change_list changes;
};
#define JOURNAL_INIT     \
	{                \
		.fd = -1 \
	}
void journal_release(struct journal *j);

/* Its changes are j->changes. EXIT_USAGE: there is one already. After an error j->fd is -1, and
 * none was made. */
int journal_create(struct journal *j, const struct quiet_options *o, int owner, struct error *err);

/* To look at. 0: read; j->fd < 0: there is none. */
int journal_open(struct journal *j, const struct quiet_options *o, struct error *err);
/* To undo: locked before it is read, so that nothing in it is done by two. j->fd < 0 also where
 * another process has it, or removed it meanwhile. */
int journal_take(struct journal *j, const struct quiet_options *o, struct error *err);

bool journal_is_abandoned(const struct journal *j);

/* after: NULL where it is not known. */
int journal_made(struct journal *j, size_t number, const char *after, struct error *err);
int journal_refused(struct journal *j, size_t number, struct error *err);
int journal_keep(struct journal *j, struct error *err);
int journal_restoring(struct journal *j, struct error *err);
int journal_finished(struct journal *j, size_t number, struct error *err);
int journal_remove(struct journal *j, struct error *err);

#endif
