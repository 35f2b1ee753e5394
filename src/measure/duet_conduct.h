/* Shared by duet.c, which runs the pairs, and duet_alone.c, which runs the commands alone and
 * chooses from that how they take turns. */
#ifndef TARE_MEASURE_DUET_CONDUCT_H
#define TARE_MEASURE_DUET_CONDUCT_H

#include "measure/duet.h"
#include "measure/groups.h"
#include "measure/seat.h"
#include "measure/turns.h"

struct place { /* one of the two at work in a pair */
	struct seat *seat;
	size_t side;
	bool running;
	uint32_t repeat, first_ended; /* first_ended: its repeat 0 is over */
	uint64_t had_ns;	      /* turns before it began */
	uint64_t used_ns; /* when the other's first execution ended; ABSENT_NS: not asked */
	uint64_t padding;
	uint32_t order;
	ARRAY(struct duet_part) parts;
};

struct alone {	       /* the most that was seen of a side alone */
	double active; /* the share of its time in which it ran or wanted to */
	double cpus;   /* that it would have used at once */
};

struct conduct {
	const struct duet_plan *p;
	struct duet *d;
	const struct duet_events *events;
	struct place place[2];
	struct launcher *hooks;
	struct groups *groups; /* NULL: none can be made here, see no_groups */
	struct error no_groups;
	struct turns *turns;
	struct alone *alone; /* by side */
	double *ratio; /* by side: its CPU time over the reference's in its last pair; 0: none yet
			*/
	cpu_set_t usable, shared;
	uint64_t begin_ns, longest_ns, random, looked_at;
	uint64_t round_ns; /* how long the last round of pairs took */
	uint32_t pairs;
	size_t failed_side;
	bool has_hooks, done, ledger;
};

/* ---- duet.c ---- */

bool conduct_is_over(const struct conduct *c);
/* One execution by itself, from start to end, hooks included. cpus NULL: as the command is
 * launched. Its part is added to the place. */
int conduct_execute(struct conduct *c, struct place *at, size_t side, const cpu_set_t *cpus,
		    struct seat_report *r, struct error *err);
/* Moves the parts of both places to the duet; returns how many. */
size_t conduct_keep_parts(struct conduct *c);

/* ---- duet_alone.c ---- */

/* Adds a sentence to a text such as the duet's `lacks`. */
__attribute__((format(printf, 2, 3))) void conduct_say(char **into, const char *fmt, ...);
/* Each side alone, after its setup hook: what it waits for and how many CPUs it uses. */
int conduct_alone_first(struct conduct *c, struct error *err);
/* Now and then between pairs, to see what sharing costs. */
int conduct_alone_again(struct conduct *c, struct error *err);
/* Chooses how they take turns, and makes ready for it. */
int conduct_prepare(struct conduct *c, struct error *err);

#endif
