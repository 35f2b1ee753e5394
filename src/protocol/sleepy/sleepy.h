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
extern const char *const sleepy_by_names[SLEEPY_VIEWS]; /* "system", "app", ... */

/* Selects samples; NULL and zero: all. Texts match complete names, or use * and ? as in a shell.
 * function may be anywhere on the stack, unless `innermost`; object is that of the function or,
 * without one, of the innermost location. A location matches by an inlined function or by the
 * function it was inlined into. container is its id or the cgroup's path. */
struct sleepy_filter {
	const char *app, *object, *function, *comm, *container;
	bool innermost;		   /* the function must be */
	int64_t instance;	   /* number within app; -1: all */
	uint32_t pid, tid;	   /* 0: all */
	int space;		   /* 0: both, 1: user, 2: kernel */
	uint64_t begin_ns, end_ns; /* slices that begin within, CLOCK_MONOTONIC; end 0: all */
};
#define SLEEPY_ALL             \
	{                      \
		.instance = -1 \
	}
/* Whether a text matches a filter. Pattern NULL matches any text; no other one matches NULL. */
bool sleepy_matches(const char *pattern, const char *text);
/* Like sleepy_matches(), for named things. The pattern may be a name as reports show it: "[k]
 * name", "name (inlined)", or "name (mark)" with a mark of sleepy_tell_apart() or an object. An
 * object may be given by its path or the last part of it. */
bool sleepy_app_matches(const struct profile *p, const char *pattern, uint32_t app);
bool sleepy_object_matches(const struct profile *p, const char *pattern, uint32_t object);
bool sleepy_function_matches(const struct profile *p, const char *pattern, uint32_t function);

/* One row. Indices that do not apply to the view are PROFILE_NONE. */
struct sleepy_row {
	/* app: also in views by place, if all samples are of one app. function in LINE and
	 * INSTRUCTION: the one that the line or instruction belongs to. */
	uint32_t app, instance, thread, object, function, location;
	const char *file; /* borrowed; view LINE */
	uint32_t line;
	uint64_t address;      /* INSTRUCTION: of the instruction that was about to execute */
	const char *container; /* view CONTAINER: the id or the cgroup's path; borrowed */
	uint64_t self;	       /* samples with this innermost */
	/* Samples with this anywhere in the stack, counted once each. It equals self without
	 * stacks, in views by owner, and for INSTRUCTION, where callers are known only by their
	 * call. */
	uint64_t total;
	uint64_t user, kernel; /* of self */
	char *name;	       /* its name in one line; owned */
	const char *where;     /* the object of a function, line or instruction, which distinguishes
				  equal names; borrowed; NULL: none */
};

#define SLEEPY_STATES 6 /* rows of a view SYSTEM */

struct sleepy_view {
	enum sleepy_by by;
	/* By self, then total, then name. SYSTEM is always user, kernel, idle, others, lost, not
	 * sampled. The last is what is missing from all CPUs for all the time, if that is more than
	 * the others' rounding. */
	ARRAY(struct sleepy_row) rows;
	uint64_t samples;     /* that passed the filter */
	uint64_t all;	      /* of the profile */
	uint64_t no_function; /* of samples: innermost location without a function */
	/* how the stacks of samples with a user part ended, by enum stack_end */
	uint64_t ends[STACK_ENDS];
	/* In the slices that begin within the filter's time, whatever else it says: */
	uint64_t elapsed_ns;
	uint64_t busy; /* samples, including those of others and lost ones */
};

/* Innermost functions are the inlined ones unless merge_inlined. Overwrites `into` unreleased. */
void sleepy_aggregate(const struct profile *p, enum sleepy_by by, const struct sleepy_filter *f,
		      bool merge_inlined, struct sleepy_view *into);
void sleepy_view_release(struct sleepy_view *v);

/* A row that is shown with others. If its name is not unique, the mark distinguishes it: a part of
 * its path, a build-id or an address. NULL: the name is enough, or nothing is known. The caller
 * frees marks. */
struct sleepy_shown {
	const struct sleepy_row *row;
	char *mark;
};
void sleepy_tell_apart(const struct profile *p, enum sleepy_by by, struct sleepy_shown *rows,
		       size_t count);

/* Counts at each address of one function, including code inlined there, in ascending order. */
struct sleepy_count {
	uint64_t address, self;
};
typedef ARRAY(struct sleepy_count) sleepy_counts;
void sleepy_instructions(const struct profile *p, uint32_t function, const struct sleepy_filter *f,
			 sleepy_counts *into);

/* Compares two profiles row by row. Rows are matched by name and object, or by the last part of
 * paths that only one has; rows with the same name are summed. Shares are of each profile's
 * samples. The difference has the 95 % interval of two proportions and a p adjusted for the number
 * of rows. p is NaN if there are too few samples for any result; such rows are not counted in the
 * adjustment. */
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
/* p < 0.05: the change is more than sampling noise. */
bool sleepy_change_sure(const struct sleepy_change *c);
/* Fills in everything except names, from the samples before and after of each row and of all. */
void sleepy_judge(struct sleepy_change *list, size_t count, uint64_t before, uint64_t after);
void sleepy_compare(const struct sleepy_view *before, const struct sleepy_view *after,
		    double before_hz, double after_hz, struct sleepy_diff *into);
void sleepy_diff_release(struct sleepy_diff *d);

/* Calls each with all samples that pass. Samples with the same thread and stack are summed over the
 * slices into count (s is the first of them), sorted by thread, then stack. For folded stacks and
 * the like. */
typedef void (*sleepy_stack_fn)(void *context, const struct profile_sample *s, uint64_t count);
void sleepy_each(const struct profile *p, const struct sleepy_filter *f, sleepy_stack_fn each,
		 void *context);
/* Code without a function in memory that no file backs: the region is all that can be told of it,
 * for its addresses mean nothing to anybody. */
bool sleepy_is_region(const struct profile *p, uint32_t location);
/* "libc.so.6+0x1234", "[anon]" of a region, or the name of the function that contains it (not of
 * one inlined there). */
void sleepy_location_name(const struct profile *p, uint32_t location, char *out, size_t size);

#endif
