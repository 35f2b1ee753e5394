/* Sums of the ledgers of a run's executions. Private to report/. */
#ifndef TARE_REPORT_TIME_LEDGER_H
#define TARE_REPORT_TIME_LEDGER_H

#include "base/array.h"
#include "report/core/numbers.h"
#include "report/time/report.h"

enum sum_kind { SUM_ENTRY, SUM_OTHER, SUM_PROCESS, SUM_INTERRUPT };

/* The sum under one name over all added executions. */
struct ledger_sum {
	enum sum_kind kind;
	enum ledger_cause cause; /* SUM_ENTRY and SUM_INTERRUPT */
	const char *name;	 /* borrowed from the executions */
	int32_t pid;		 /* 0: none or several */
	bool self, kernel;	 /* SUM_OTHER */
	uint64_t ns, count;	 /* count: times or bursts; for a process, its threads */
	uint64_t processes;	 /* SUM_PROCESS */
	uint64_t worst_ns;	 /* the most in one execution */
	uint32_t worst;		 /* its number */
	uint64_t longest_ns;	 /* SUM_OTHER: of one burst */
	uint64_t delayed_ns, io_delayed_ns;
	uint64_t subject_ns, subject_count; /* SUM_INTERRUPT */
	struct ledger_account account;	    /* SUM_PROCESS */
	uint64_t current_ns;		    /* scratch: in the execution being added */
	size_t last;			    /* scratch: the execution it was last seen in */
};

struct ledger_sums {
	size_t n; /* executions added */
	uint64_t et_ns, wall_total_ns;
	uint64_t wall_ns[LEDGER_CAUSES], worst_ns[LEDGER_CAUSES];
	uint32_t worst[LEDGER_CAUSES]; /* the number of that execution; 0: none */
	double slower_ns; /* of run: since the CPU was slower than its best; NaN: not known */
	struct ledger_account subject;
	bool threads; /* some execution had several */
	/* by kind, cause, then ns descending; others first by what they delayed */
	ARRAY(struct ledger_sum) list;
	uint64_t events[LEDGER_EVENTS], subject_events;
	double cost_ns, subject_cost_ns;
	uint64_t self_ns; /* CPU time of tare; ABSENT_NS: unknown for one of them */
	uint64_t lost, unlisted;
	const char *not_seen; /* of the last; NULL: everything was seen */
	/* scratch: indexes of the list */
	struct text_numbers names;
	struct pair_numbers keys; /* kind and cause, name */
};

#define LEDGER_OF_MEASURED (LEDGER_OF_KEPT - 1) /* includes dropped ones */

/* Sums over the kept executions with a ledger, the measured ones, or the one with index `only`. */
void ledger_sums_of(const struct run_view *view, size_t only, struct ledger_sums *out);
/* Sums over those executions that have a ledger. */
void ledger_sums_of_executions(const struct execution *const *executions, size_t count,
			       struct ledger_sums *out);
void ledger_sums_release(struct ledger_sums *s);

/* "run 97.1 % · queued 1.9 % postgres · irq 0.6 % timer", in at most two lines of this many
 * columns, the second indented. What is small or does not fit goes into the rest. */
void put_ledger_line(const struct ledger_sums *s, bool ascii, size_t columns, size_t indent,
		     struct strbuf *out);
/* A sentence on what the ledgers lack, if anything. said: omit what the kernel does not report. */
void put_ledger_note(const struct ledger_sums *s, bool said, struct strbuf *out);

#endif
