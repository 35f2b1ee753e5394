/* SLEEPY's aggregation: samples by system, app, instance, thread, function, line, instruction.
 * Pure: a profile in, rows out. */
#ifndef TARE_PROTOCOL_SLEEPY_SLEEPY_H
#define TARE_PROTOCOL_SLEEPY_SLEEPY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"
#include "record/profile.h"

enum sleepy_by {
	SLEEPY_SYSTEM, /* user, kernel, idle, lost */
	SLEEPY_APP,
	SLEEPY_INSTANCE, /* appid: app#number */
	SLEEPY_THREAD,
	SLEEPY_OBJECT,
	SLEEPY_FUNCTION,
	SLEEPY_LINE,
	SLEEPY_INSTRUCTION,
	SLEEPY_CONTAINER, /* by cgroup */
	SLEEPY_VIEWS
};
extern const char *const sleepy_by_names[SLEEPY_VIEWS];
const char *sleepy_by_name(enum sleepy_by by); /* "system", "app", ... */

/* Which samples; NULL and zero: all. Texts match whole names, or with * and ? as a shell would.
 * object and function are of where the CPU was: the innermost location, whose function may be one
 * that was inlined or the one that it was inlined into. container: its id, or the cgroup's path. */
struct sleepy_filter {
	const char *app, *object, *function, *comm, *container;
	int64_t instance;	   /* number within app; -1: all */
	uint32_t pid, tid;	   /* 0: all */
	int space;		   /* 0: both, 1: user, 2: kernel */
	uint64_t begin_ns, end_ns; /* slices that begin within, CLOCK_MONOTONIC; end 0: all */
};
#define SLEEPY_ALL             \
	{                      \
		.instance = -1 \
	}
/* Whether a text is what a filter asks for; pattern NULL: any is; else text NULL is not. */
bool sleepy_matches(const char *pattern, const char *text);
/* The same of what has a name, which may be given as reports show it: "[k] name",
 * "name (inlined)", "name (mark)" with a mark of sleepy_tell_apart or an object. Objects are meant
 * by their path or by the last part of it. */
bool sleepy_app_matches(const struct profile *p, const char *pattern, uint32_t app);
bool sleepy_object_matches(const struct profile *p, const char *pattern, uint32_t object);
bool sleepy_function_matches(const struct profile *p, const char *pattern, uint32_t function);

/* One row. Positions that do not apply to the view are PROFILE_NONE. */
struct sleepy_row {
	/* app: of views by place, too, when all samples are of one. function of LINE and
	 * INSTRUCTION: what the line or instruction belongs to. */
	uint32_t app, instance, thread, object, function, location;
	const char *file; /* borrowed; view LINE */
	uint32_t line;
	uint64_t address; /* INSTRUCTION: of the location; what is sampled is what comes next */
	const char *container; /* view CONTAINER: the id, or the cgroup's path; borrowed */
	uint64_t self;	       /* samples with it as the innermost */
	/* Samples with it anywhere in the stack, once each; = self without stacks and in views by
	 * owner. INSTRUCTION: = self, for a caller is known to be inside of its call only. */
	uint64_t total;
	uint64_t user, kernel; /* of self */
	char *name;	       /* what it is called in one line; owned */
	const char *where; /* object of a function, line or instruction: tells two of a name apart;
			      borrowed; NULL: none */
};

#define SLEEPY_STATES 6 /* rows of a view SYSTEM */

struct sleepy_view {
	enum sleepy_by by;
	/* By self, then total, then name. SYSTEM: always user, kernel, idle, others, lost, not
	 * sampled. The last is what is missing at all CPUs for all the time, where that is more
	 * than the rounding of the others. */
	ARRAY(struct sleepy_row) rows;
	uint64_t samples;     /* that passed the filter */
	uint64_t all;	      /* of the profile */
	uint64_t no_function; /* of samples: innermost location without a function */
	/* of samples with a user part: how their stacks ended, by enum stack_end */
	uint64_t ends[STACK_ENDS];
	/* Of the slices that begin within the filter's time, whatever else it says: */
	uint64_t elapsed_ns;
	uint64_t busy; /* samples, those of others and lost ones included */
};

/* Innermost functions are the inlined ones unless merge_inlined. Whatever `into` had is not
 * released. */
void sleepy_aggregate(const struct profile *p, enum sleepy_by by, const struct sleepy_filter *f,
		      bool merge_inlined, struct sleepy_view *into);
void sleepy_view_release(struct sleepy_view *v);

/* A row that is shown with others: where they look alike, a mark such as the part of a path that is
 * its own, a build-id or an address; NULL: its name will do, or nothing is known. The caller frees
 * marks. */
struct sleepy_shown {
	const struct sleepy_row *row;
	char *mark;
};
void sleepy_tell_apart(const struct profile *p, enum sleepy_by by, struct sleepy_shown *rows,
		       size_t count);

/* Counts at each address of one function, what is inlined there included, ascending. */
struct sleepy_count {
	uint64_t address, self;
};
typedef ARRAY(struct sleepy_count) sleepy_counts;
void sleepy_instructions(const struct profile *p, uint32_t function, const struct sleepy_filter *f,
			 sleepy_counts *into);

/* Two profiles, row by row, matched by name and object, of paths that only one has by their last
 * part; rows of one name are summed. Shares are of each one's samples; the interval of the
 * difference is that of two proportions (95 %), p adjusted for the number of rows. p is NaN where
 * there are so few samples that nothing could be told, however they had fallen; such rows are not
 * counted in the adjustment. */
struct sleepy_change {
	char *name, *where;	/* where: as in a row; NULL: none */
	bool kernel;		/* all of it */
	uint64_t before, after; /* self */
	double before_share, after_share, change, low, high, p;
};
struct sleepy_diff {
	enum sleepy_by by;
	uint64_t before, after; /* samples */
	double before_hz, after_hz;
	uint64_t before_elapsed_ns, after_elapsed_ns;
	ARRAY(struct sleepy_change) rows; /* by the size of the change */
};
/* p < 0.05: the change is more than how the samples happened to fall. */
bool sleepy_change_sure(const struct sleepy_change *c);
/* From samples before and after of each, and of all: everything else but names. */
void sleepy_judge(struct sleepy_change *list, size_t count, uint64_t before, uint64_t after);
void sleepy_compare(const struct sleepy_view *before, const struct sleepy_view *after,
		    double before_hz, double after_hz, struct sleepy_diff *into);
void sleepy_diff_release(struct sleepy_diff *d);

/* Calls each for all samples that pass, those of one thread and stack summed over the slices into
 * count (s is the first of them), by thread, then stack: for folded stacks and the like. */
typedef void (*sleepy_stack_fn)(void *context, const struct profile_sample *s, uint64_t count);
void sleepy_each(const struct profile *p, const struct sleepy_filter *f, sleepy_stack_fn each,
		 void *context);
/* "libc.so.6+0x1234" or the name of the function it is in (not of what was inlined there). */
void sleepy_location_name(const struct profile *p, uint32_t location, char *out, size_t size);

#endif
