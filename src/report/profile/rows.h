/* Shared by the reports of a profile. Private to report/. */
#ifndef TARE_REPORT_PROFILE_ROWS_H
#define TARE_REPORT_PROFILE_ROWS_H

#include "report/core/format.h"
#include "report/profile/report.h"
#include "stats/proportions.h"

struct profile_style profile_normal_style(const struct profile_style *given);

/* Over all slices: their sums, the begin of the first, the end of the last, the fullest buffer. */
struct profile_totals {
	struct profile_slice slice;
	uint64_t elapsed_ns; /* without gaps between slices */
	double cpu_ns;	     /* CPUs * elapsed */
	/* By enum stack_end, of samples with a user part. */
	uint64_t ends[STACK_ENDS], user_stacks;
	double self_share,
		sampled_ns; /* of cpu_ns; the CPU time that the samples represent; NaN: unknown */
};
void profile_totals_of(const struct profile *p, struct profile_totals *out);

/* The CPU time in ns that this many samples represent; NaN if the rate is unknown. */
double profile_ns(const struct profile *p, uint64_t samples);

/* A change with its CPU time per elapsed time, and one of the two profiles. */
struct profile_change {
	struct sleepy_change of;
	double before_cpu_per_s, after_cpu_per_s; /* NaN: unknown */
	bool sure;
};
struct profile_side {
	enum profile_mode mode;
	const char *event; /* NULL: none */
	uint64_t period;
	uint32_t cpus;
	uint64_t samples, elapsed_ns;
	double hz, cpu_per_s;
};
/* A comparison as JSON has it. */
struct profile_changes {
	enum sleepy_by by;
	struct profile_side before, after;
	ARRAY(struct profile_change) rows;
};

/* For a row of a view by system: its share of CPUs * elapsed; NaN without elapsed time. */
double profile_cpu_share(const struct profile *p, const struct sleepy_view *v, uint64_t samples);

/* "the whole system", "python3 x.py", "PIDs 12, 13", "cgroup /x" */
void put_profile_subject(const struct run *run, struct strbuf *out);
const char *profile_given_name(const struct run *run); /* given by the user; NULL: none */
/* "on the kernel's tick, 250 Hz", "by cache-misses, one of 10007" */
void put_profile_mode(const struct profile *p, struct strbuf *out);

/* The rows of a view that are shown, by style->most and least_share: ranked without their callees
 * or, with totals, including them. By system: all rows. Borrowed, without marks. */
typedef ARRAY(struct sleepy_shown) profile_row_list;
void profile_rows_of(const struct sleepy_view *v, const struct profile_style *style,
		     profile_row_list *out);
/* What is known of a row; profile_row_shapes says which members a view has. Borrowed. */
struct profile_row {
	const char *name;
	uint64_t samples, total_samples, user, kernel;
	double share, share_low, share_high, total_share;
	double cpu_ns, cpu_share;
	const char *app;
	uint32_t instance, pid, tid;
	const char *comm;
	double start_boottime_ns;
	int64_t first_sample_at;
	const char *container, *cgroup;
	const char *function;
	bool inlined, known; /* known: the function is known */
	uint64_t offset, address;
	const char *object;
	enum object_kind object_kind; /* OBJECT_KINDS: unknown */
	char build_id[2 * BUILD_ID_MAX + 1];
	const char *file;
	uint32_t line;
};
void profile_row_of(const struct profile *p, const struct sleepy_view *v,
		    const struct sleepy_row *row, struct profile_row *out);
extern const struct shape *const profile_row_shapes[SLEEPY_VIEWS + 1];
/* Whether it is kernel code. */
bool profile_row_kernel(const struct profile *p, const struct sleepy_view *v,
			const struct sleepy_row *row);
/* "function", plural "functions" */
const char *profile_row_word(enum sleepy_by by, size_t count);

/* The decimals for all shares of a view, as n samples support. */
int profile_decimals(uint64_t n);
/* The limits of its way of sampling, in sentences without their first capital. */
#define PROFILE_NOTES 3
size_t profile_notes_of(const struct profile *p, const char *notes[PROFILE_NOTES]);

/* ---- listings ---- */

struct listing_line {
	const struct instruction *instruction;
	const char *function;
	uint64_t address, size, self;
	double share; /* NaN: there are no samples */
	const char *text, *file;
	uint32_t line;
	const char *source; /* the text of the line; only set for JSON */
};
struct listing {
	ARRAY(struct listing_line) list;
	uint64_t self;	    /* all samples of the function */
	uint64_t elsewhere; /* of those, at addresses where no instruction of the list begins */
	uint64_t most;	    /* of one instruction */
	uint64_t samples;   /* that shares are of */
};
void listing_of(const struct profile *p, const struct profile_listing *l, struct listing *out);
void listing_release(struct listing *l);

/* A view in a document (documents.h). */
struct profile_part {
	const struct sleepy_view *view;
	struct profile_style style; /* which rows it includes */
};

/* ---- text ---- */

void put_samples_count(struct strbuf *out, uint64_t count, const char *word); /* "3 samples" */
/* What they stand for: "1.23 s" of CPU time, or "12.3 M cache-misses". */
void put_profile_worth(const struct profile *p, uint64_t samples, struct strbuf *out);
void put_profile_system(const struct profile_subject *s, const struct sleepy_view *v,
			const struct style *style, struct strbuf *out);
/* A function's name with text around it. If it does not fit, its brackets are emptied first. */
void table_add_symbol(struct table *t, const char *before, const char *name, const char *after);

#endif
