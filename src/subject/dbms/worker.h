/* A thread that does one thing at a time for the thread that waits for it. What blocks inside a
 * client's library can so be cancelled, and what runs inside this process has a thread of its own
 * to be measured by. Idle, it sleeps; signals are for others. Private to subject/dbms/. */
#ifndef TARE_SUBJECT_DBMS_WORKER_H
#define TARE_SUBJECT_DBMS_WORKER_H

#include <sys/types.h>

#include "base/error.h"
#include "subject/dbms/dbms.h"

struct worker;
typedef void (*worker_fn)(void *context);

int worker_start(struct worker **out, const char *name, struct error *err);
/* Ends the thread. NULL is fine. */
void worker_stop(struct worker *w);
pid_t worker_tid(const struct worker *w);

enum worker_end {
	WORKER_DONE,
	WORKER_LIMIT,	/* wait->limit_ns was over, so `cancel` was called */
	WORKER_STOPPED, /* wait->stop said so, likewise */
};
/* Has work(context) done and waits until it returned, in any case. cancel(context) is called in
 * this thread, again and again until then: the first call may come before there is anything to
 * cancel. Work that ended by itself nevertheless knows that best. */
enum worker_end worker_run(struct worker *w, worker_fn work, worker_fn cancel, void *context,
			   const struct dbms_wait *wait);

#endif
