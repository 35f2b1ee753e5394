/* The facts of a duet: subjects that ran at once on the same CPU (or, where that would be the wrong
 * question, in turns as whole executions), so that all of them met the same speed. Side 0 is the
 * reference that the others are compared with. */
#ifndef TARE_RECORD_DUET_H
#define TARE_RECORD_DUET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "record/execution.h"
#include "record/field.h"

/* How the sides of a pair shared the CPUs. */
enum duet_way {
	DUET_SCHEDULER, /* at once on one CPU; the scheduler alternates them */
	DUET_FREEZER,	/* at once on a set of CPUs; one is frozen while the other runs */
	DUET_WHOLE,	/* whole executions in the order A B B A; compared by elapsed time */
	DUET_WAYS,
};
extern const char *const duet_way_names[DUET_WAYS];

/* One subject. */
struct duet_side {
	char *name;    /* the user's name for it, or the command */
	char *command; /* any bytes */
};

/* One execution of one side. A pair has one of the reference and one of another side. If one ended
 * first it was started again while the other went on (repeat 1, 2, ...). */
struct duet_part {
	uint32_t
		pair; /* from 1; 0: alone, before or between the pairs, to see what sharing costs */
	uint32_t side;
	uint32_t repeat; /* 0: the one that the pair began with */
	uint32_t place;	 /* the order in which the pair's sides were started: 0, 1 */
	bool warmup;	 /* of the first pair of its two sides, which is not counted */
	enum outcome outcome;
	int status;
	int64_t started_at_ns;	/* CLOCK_REALTIME */
	uint64_t et_ns;		/* from exec to the end of the first process */
	uint64_t turn_ns;	/* of ET, while it was not frozen; ABSENT_NS: it never was frozen */
	uint64_t pt_ns[GRADES]; /* ABSENT_NS if unknown */
	/* The share of this execution that ran while the other side of its pair did, by CPU time.
	 * 1 for a repeat 0 that is not longer than the other side's; NaN: unknown. */
	double overlap;
	uint64_t switches; /* how often it was put on or taken off a CPU; ABSENT_NS: unknown */
	uint64_t padding;  /* bytes of environment that moved its stack */
	int64_t instructions, cycles; /* in user mode; -1: not counted */
};

/* A look at the data while the duet went on, at which it could have stopped. */
struct duet_look {
	uint32_t pairs; /* so far, warm-ups included */
	double spent;	/* the share of the error rate that was used up by then, 0 to 1 */
};

struct duet {
	enum duet_way way;
	char *why;	      /* a clause on why this way: "./a waits 80 % of the time" */
	char *lacks;	      /* what could not be done here, and its effect; NULL: nothing */
	char *cpus;	      /* that they shared: "1" or "0-1" */
	uint64_t period_ns;   /* of the wake-ups that make the scheduler alternate; 0: none */
	uint64_t slice_ns;    /* of the scheduler, as asked for; 0: its own */
	uint64_t turn_ns;     /* length of a turn by the freezer; 0: none */
	uint64_t max_time_ns; /* to go on for at most */
	/* It is the same, and the duet may stop, once the interval is within ± this share. With
	 * `precise` it also goes on until then when the sign is already sure. */
	double precision;
	bool precise;
	double slower;		   /* --fail-if-slower; NaN: not given */
	uint64_t seed;		   /* of order and padding */
	bool ignore_failure;	   /* failed executions count, unless they timed out */
	ARRAY(int) expected_codes; /* exit codes that are no failure */
	/* The median cost of the shell alone, which is subtracted; 0 without a shell. */
	uint64_t shell_et_ns, shell_pt_ns[GRADES];
	enum backend backend; /* as in struct run, which stores it */
	char *revisions;      /* --git: "BASE..HEAD" as resolved; NULL: none */
	ARRAY(struct duet_side) sides;
	ARRAY(struct duet_part) parts; /* in the order in which they ended */
	ARRAY(struct duet_look) looks;
};

extern const struct field duet_fields[], duet_side_fields[], duet_part_fields[], duet_look_fields[];

void duet_release(struct duet *d);

#endif
