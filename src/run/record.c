#include "run/record.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "collect/collect.h"

#define SECOND_NS 1000000000u
#define PATIENCE_NS (SECOND_NS / 5) /* of an attempt while something is measured */
#define AGAIN_NS (SECOND_NS / 4)    /* between attempts */
#define TELL_NS (3ull * SECOND_NS)
#define LAST_NS (5ull * SECOND_NS) /* after a signal */
#define WAIT_NS (3600ull * SECOND_NS)
#define HELD_BYTES (64u << 20)

/* ---- waiting for the lab ---- */

static size_t held_count(const struct recorder *r)
{
	return r->held.count - r->held_from;
}

static int store_held(struct recorder *r, struct error *why)
{
	for (; r->held_from < r->held.count; r->held_from++) {
		struct held *h = &r->held.items[r->held_from];
		if (h->store(r->lab, h->what, why))
			return -1;
		h->release(h->what);
		r->held_bytes -= h->bytes;
	}
	array_release(&r->held);
	r->held_from = 0;
	return 0;
}

static void tell_waiting(struct recorder *r, const char *words)
{
	if (!r->notice || r->told || clock_monotonic_ns() - r->hindered_ns < TELL_NS)
		return;
	r->told = true;
	if (held_count(r))
		r->notice("waiting for the lab: %s; %zu executions are held in memory", words,
			  held_count(r));
	else
		r->notice("waiting for the lab: %s", words);
}

int recorder_try(struct recorder *r, record_fn store, void *what, struct error *err)
{
	struct error why = ERROR_INIT;
	char words[LAB_WORDS];
	size_t waiting = held_count(r);
	lab_be_patient(r->lab, PATIENCE_NS);
	bool failed = store_held(r, &why) || (store && store(r->lab, what, &why));
	bool later = failed && lab_hindered(r->lab, words);
	lab_be_patient(r->lab, LAB_PATIENCE_NS);
	r->tried_ns = clock_monotonic_ns();
	if (later) {
		r->trouble = why;
		if (!r->hindered_ns)
			r->hindered_ns = r->tried_ns;
		tell_waiting(r, words);
		return 1;
	}
	if (failed) {
		*err = why;
		return -1;
	}
	if (r->told && waiting)
		r->notice("the lab took the %zu executions that were held", waiting);
	r->trouble = (struct error)ERROR_INIT;
	r->hindered_ns = 0;
	r->told = false;
	return 0;
}

/* Returns early when a signal comes. */
static void pause_for(uint64_t ns)
{
	ppoll(NULL, 0, &(struct timespec){ .tv_nsec = (long)ns }, interrupt_mask());
}

static void release_held(struct recorder *r)
{
	for (; r->held_from < r->held.count; r->held_from++)
		r->held.items[r->held_from].release(r->held.items[r->held_from].what);
	array_release(&r->held);
	r->held_from = r->held_bytes = 0;
}

static int give_up(struct recorder *r, struct error *err)
{
	size_t lost = held_count(r);
	release_held(r);
	r->signalled_ns = 1; /* from now on there is one try */
	*err = r->trouble;
	if (lost) {
		char why[sizeof err->text];
		snprintf(why, sizeof why, "%s", err->text);
		error_set(err, EXIT_ENVIRONMENT, "the last %zu executions are lost: %.900s", lost,
			  why);
	}
	return -1;
}

int recorder_wait(struct recorder *r, record_fn store, void *what, struct error *err)
{
	uint64_t begin = clock_monotonic_ns();
	for (;;) {
		int later = recorder_try(r, store, what, err);
		if (later < 0 && held_count(r)) {
			r->trouble = *err;
			return give_up(r, err);
		}
		if (later <= 0)
			return later;
		if (interrupted())
			recorder_hurry(r);
		uint64_t now = clock_monotonic_ns(); /* not before signalled_ns */
		if ((r->signalled_ns && now - r->signalled_ns > LAST_NS) || now - begin > WAIT_NS)
			return give_up(r, err);
		if (r->signalled_ns) /* it is pending, and would end each pause at once */
			nanosleep(&(struct timespec){ .tv_nsec = AGAIN_NS }, NULL);
		else
			pause_for(AGAIN_NS);
	}
}

void recorder_hurry(struct recorder *r)
{
	if (!r->signalled_ns)
		r->signalled_ns = clock_monotonic_ns();
}

int recorder_hold(struct recorder *r, const struct held *item, struct error *err)
{
	array_push(&r->held, *item);
	r->held_bytes += item->bytes;
	if (r->held_bytes > HELD_BYTES)
		return recorder_wait(r, NULL, NULL, err);
	if (r->hindered_ns && clock_monotonic_ns() - r->tried_ns < AGAIN_NS)
		return 0;
	return recorder_try(r, NULL, NULL, err) < 0 ? -1 : 0;
}

struct run_execution {
	int64_t run;
	struct execution x;
};

static int store_execution(struct lab *lab, void *what, struct error *err)
{
	struct run_execution *e = what;
	return lab_add_execution(lab, e->run, &e->x, err);
}

static void release_execution(void *what)
{
	struct run_execution *e = what;
	execution_release(&e->x);
	free(e);
}

int recorder_add_execution(struct recorder *r, int64_t run, struct execution *x, struct error *err)
{
	struct run_execution now = { run, *x };
	int later = r->hindered_ns ? 1 : recorder_try(r, store_execution, &now, err);
	if (later <= 0)
		return later;
	struct run_execution *e = xcalloc(1, sizeof *e);
	*e = (struct run_execution){ run, execution_take(x) };
	const struct held item = { store_execution, release_execution, e, execution_bytes(&e->x) };
	return recorder_hold(r, &item, err);
}

/* ---- a run ---- */

int recorder_open(struct recorder *r, struct lab_access *lab, enum recorder_lab which,
		  struct error *err)
{
	if (which == RECORD_IN_MEMORY)
		lab->file = LAB_IN_MEMORY;
	r->access = lab;
	r->lab = lab_access_open(lab, err);
	if (r->lab)
		return 0;
	if (!*err->hint)
		error_hint(err, "--lab FILE keeps the run elsewhere%s",
			   which == RECORD_IN_FILE ? "" : ", --no-lab keeps nothing");
	return -1;
}

int recorder_add_machine(struct recorder *r, struct error *err)
{
	machine_read(&r->machine);
	return lab_add_machine(r->lab, &r->machine, &r->machine_id, err);
}

static int add_run(struct lab *lab, void *run, struct error *err)
{
	return lab_add_run(lab, run, err);
}

int recorder_begin(struct recorder *r, struct run *run, struct error *err)
{
	bool first = !r->invocation;
	if ((!r->machine_id && recorder_add_machine(r, err)) ||
	    (!r->invocation && lab_add_invocation(r->lab, r->command_line, &r->invocation, err)))
		return -1;
	run->machine = r->machine_id;
	run->invocation = r->invocation;
	run->directory = getcwd(NULL, 0);
	if (!run->directory)
		run->directory = xstrdup("?");
	run->version = xstrdup(TARE_VERSION);
	run->started_at_ns = clock_realtime_ns();
	/* before the first run there is nothing to lose */
	return first ? lab_add_run(r->lab, run, err) : recorder_wait(r, add_run, run, err);
}

struct run_end {
	int64_t run;
	enum run_status status;
	bool keep;
};

static int end_run(struct lab *lab, void *what, struct error *err)
{
	const struct run_end *e = what;
	return lab_end_run(lab, e->run, e->status, err) ||
			       (!e->keep && lab_remove_run(lab, e->run, err))
		       ? -1
		       : 0;
}

int recorder_end(struct recorder *r, const struct run *run, enum run_status status, bool keep,
		 struct error *err)
{
	return recorder_wait(r, end_run, &(struct run_end){ run->id, status, keep }, err);
}

void recorder_close(struct recorder *r)
{
	machine_release(&r->machine);
	free(r->command_line);
	release_held(r);
	if (r->access)
		lab_access_close(r->access);
	*r = (struct recorder){ 0 };
}

enum run_status recorded_status(int failed, const struct error *err)
{
	if (!failed)
		return RUN_COMPLETE;
	return err->code == EXIT_INTERRUPTED ? RUN_INTERRUPTED : RUN_FAILED;
}

char *recorded_text(const char *text)
{
	return text ? xstrdup(text) : NULL;
}
