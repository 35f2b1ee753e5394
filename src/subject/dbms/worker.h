/* A thread that does one job at a time while another thread waits for it. A call that blocks in a
 * client library can thus be cancelled, and work inside this process can be measured by its own
 * thread. It sleeps while idle, and does not receive signals. Private to subject/dbms/. */
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
	WORKER_LIMIT,	/* wait->limit_ns has passed, so `cancel` was called */
	WORKER_STOPPED, /* wait->stop returned true, likewise */
};
/* Runs work(context) in the worker and always waits until it returns. cancel(context) is called in
 * this thread, repeatedly until then, because the first call may come before there is anything to
 * cancel. Only the work knows whether it ended by itself after all. */
enum worker_end worker_run(struct worker *w, worker_fn work, worker_fn cancel, void *context,
			   const struct dbms_wait *wait);

#endif
