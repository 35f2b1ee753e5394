/* Judges a duet: the ratio of each side to the reference, with an interval that holds although the
 * duet looked at it again and again and stopped when it liked what it saw. Pure. */
#ifndef TARE_PROTOCOL_DUET_DUET_H
#define TARE_PROTOCOL_DUET_DUET_H

#include "record/duet.h"

/* What is compared. */
enum duet_measure {
	DUET_PT_NET,
	DUET_PT_EXEC,
	DUET_TURN,
	DUET_ET,
	DUET_INSTRUCTIONS, /* counts, of user mode: where times are in ns, these are numbers */
	DUET_CYCLES,
	DUET_MEASURES
};
extern const char *const duet_measure_names[DUET_MEASURES]; /* "pt_net", "pt_exec", ... */
static inline bool duet_is_count(enum duet_measure m)
{
	return m == DUET_INSTRUCTIONS || m == DUET_CYCLES;
}
extern const char *const duet_measure_words[DUET_MEASURES]; /* "process time (net)", ... */

enum duet_end {
	DUET_OPEN,   /* not known yet: the interval has 1 (or the limit) within it */
	DUET_FASTER, /* the other side takes less time than the reference */
	DUET_SLOWER, /* it takes more */
	DUET_SAME,   /* within ± precision: no difference that matters */
};

/* The three ends of --fail-if-slower. */
enum duet_gate { DUET_GATE_NONE, DUET_GATE_SLOWER, DUET_GATE_NOT_SLOWER, DUET_GATE_NOT_KNOWN };

/* One counted pair. */
struct duet_pair {
	uint32_t pair;
	int64_t at_ns;	  /* CLOCK_REALTIME at which it began */
	double ns[2];	  /* reference, other: by the measure, per whole execution */
	double log_ratio; /* ln(other / reference) */
	double overlap;	  /* the smaller of the two sides'; NaN: unknown */
	bool trimmed;	  /* among the outermost tenths, which the mean leaves out */
};

/* A look at the pairs so far: the interval holds at all of them together. */
struct duet_step {
	size_t pairs; /* counted ones of this side */
	double ratio, low, high;
	double level; /* nominal level of this look's interval */
};

/* One side against the reference. */
struct duet_verdict {
	uint32_t side;
	size_t pairs, failed; /* counted, and left out because an execution failed */
	size_t unusable;      /* left out: a time is not known, or not above the shell's */
	/* Counted although its sides hardly took turns (one had far more of the CPU than the
	 * other), so that the two did not meet the same speed. */
	size_t apart;
	size_t judged, trimmed;	 /* of the counted: by the last look, and left out of its mean */
	double ratio, low, high; /* other / reference; NaN: fewer than 3 pairs */
	double level;		 /* nominal level of the last look's interval */
	double sigma;		 /* of the log ratio of one pair */
	enum duet_end end;
	enum duet_gate gate;
	double mean_ns[2]; /* of the measure, per execution */
	double spread[2];  /* sigma / mean of the measure of each side over the pairs: how much the
			      speed varied */
	double cost[2], cost_low[2], cost_high[2]; /* what sharing cost each side: PT in pairs / PT
						      alone; NaN: unknown */
	ARRAY(struct duet_pair) list;
	ARRAY(struct duet_step) steps; /* the last one is the verdict's */
};

struct duet_result {
	enum duet_measure measure;
	ARRAY(struct duet_verdict) verdicts; /* one per side but the reference */
	bool done;			     /* every verdict is sure, so that the duet may stop */
};

/* Why the duet cannot be compared by the measure, as a clause; NULL: it can, judging by
 * the executions that were made alone. */
const char *duet_measure_missing(const struct duet *d, enum duet_measure m);

/* measure DUET_MEASURES: what its way asks for (ET for whole executions, the best PT otherwise). */
void duet_judge(const struct duet *d, enum duet_measure measure, struct duet_result *out);
void duet_result_release(struct duet_result *r);

#endif
