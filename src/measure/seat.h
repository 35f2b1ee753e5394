/* A seat of a duet: a process of its own that executes the commands of one side, so that two can
 * run at once and each has its own collector, its own orphans and its own end. If tare is killed,
 * the seats are, and with them their subjects. */
#ifndef TARE_MEASURE_SEAT_H
#define TARE_MEASURE_SEAT_H

#include "measure/groups.h"
#include "measure/plan.h"

struct seat;

struct seat_options {
	const struct plan *plan;     /* its items are executed; kept by reference */
	enum backend backend;	     /* BACKENDS: the best available */
	bool ledger;		     /* keep one if possible: it makes process time net */
	const struct seat *other;    /* opened before; NULL: none */
	const struct groups *groups; /* that it and its commands run in; NULL: tare's */
};

/* How a command is started. */
struct seat_start {
	size_t item;
	long iteration;		/* -1: a warm-up */
	uint64_t padding;	/* bytes of environment */
	uint64_t time_limit_ns; /* 0: none */
	uint64_t slice_ns;	/* of the scheduler; 0: its own */
	bool pinned;
	cpu_set_t cpus;		 /* if pinned */
	char group[CGROUP_PATH]; /* a control group that it joins, as a directory; "": none */
};

enum seat_news {
	SEAT_OPEN,  /* the collector is ready */
	SEAT_READY, /* the command waits at the gate */
	SEAT_ENDED, /* it has run */
	SEAT_USED,  /* the answer to seat_ask() */
	SEAT_FAILED,
};

struct seat_report {
	enum seat_news news;
	pid_t pid;	   /* SEAT_READY */
	uint64_t slice_ns; /* SEAT_READY: what the kernel made of the slice; 0: it has none */
	uint64_t used_ns;  /* SEAT_USED: CPU time of its tree since its exec; ABSENT_NS: unknown */
	/* SEAT_OPEN */
	enum backend backend;
	bool ledger;
	char not_seen[512];
	/* SEAT_ENDED */
	enum outcome outcome;
	int status;
	int64_t started_at_ns;
	uint64_t et_ns, pt_ns[GRADES], end_ns; /* end: CLOCK_MONOTONIC, when it was noticed */
	uint64_t switches;
	int64_t instructions, cycles; /* in user mode; -1: not counted */
	/* How long anything of it could have run, and the same summed over its threads: on a CPU or
	 * waiting for one. Their ratio is how many CPUs it would use at once. ABSENT_NS: unknown.
	 */
	uint64_t active_ns, demand_ns;
	uint32_t processes, threads, left_behind;
	struct error err; /* SEAT_FAILED */
};

/* Forks; the first report is SEAT_OPEN or SEAT_FAILED. */
int seat_open(struct seat **out, const struct seat_options *o, struct error *err);
/* Ends what runs there. NULL is fine. */
void seat_close(struct seat *s);

/* Readable when there is a report. */
int seat_fd(const struct seat *s);
/* Waits for the next report. -1 if the seat is gone or the user interrupted. SEAT_FAILED becomes an
 * error, too. */
int seat_read(struct seat *s, struct seat_report *r, struct error *err);

int seat_start(struct seat *s, const struct seat_start *start, struct error *err);
void seat_go(struct seat *s);  /* opens the gate of a command that is ready */
void seat_ask(struct seat *s); /* how much CPU time it has used so far */

#endif
