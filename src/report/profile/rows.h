/* What the reports of a profile have in common: private to report/. */
#ifndef TARE_REPORT_PROFILE_ROWS_H
#define TARE_REPORT_PROFILE_ROWS_H

#include "report/core/format.h"
#include "report/profile/report.h"
#include "stats/proportions.h"

struct profile_style profile_normal_style(const struct profile_style *given);

/* Over all slices: their sums, begin of the first, end of the last, the fullest buffer. */
struct profile_totals {
	struct profile_slice slice;
	uint64_t elapsed_ns; /* gaps between slices are not in it */
	double cpu_ns;	     /* CPUs * elapsed */
	/* By enum stack_end, of samples with a user part. */
	uint64_t ends[STACK_ENDS], user_stacks;
	double self_share, sampled_ns; /* of cpu_ns; what the samples stand for; NaN: not known */
};
void profile_totals_of(const struct profile *p, struct profile_totals *out);

/* ns of CPU time that so many samples stand for; NaN when the rate is not known. */
double profile_ns(const struct profile *p, uint64_t samples);

/* CPU time per time: so many samples in elapsed_ns; NaN when one is not known. */
double profile_cpu_per_s(uint64_t samples, double hz, uint64_t elapsed_ns);

/* A change with its CPU time per time, and one of the two profiles. */
struct profile_change {
	struct sleepy_change of;
	double before_cpu_per_s, after_cpu_per_s; /* NaN: not known */
	bool sure;
};
void profile_change_of(const struct sleepy_diff *d, size_t row, struct profile_change *out);
struct profile_side {
	enum profile_mode mode;
	uint32_t cpus;
	uint64_t samples, elapsed_ns;
	double hz, cpu_per_s;
};

/* Of a row of a view by system: of CPUs * elapsed; NaN without one. */
double profile_cpu_share(const struct profile *p, const struct sleepy_view *v, uint64_t samples);

/* "the whole system", "python3 x.py", "PIDs 12, 13", "cgroup /x" */
void put_profile_subject(const struct run *run, struct strbuf *out);
const char *profile_given_name(const struct run *run); /* by the user; NULL: none */
/* "on the kernel's tick, 250 Hz" */
void put_profile_mode(const struct profile *p, struct strbuf *out);

/* Rows of a view that are shown, by style->most and least_share: by what they are without their
 * callees, or with totals by what they are with them. Of a system: all. Borrowed, without marks. */
typedef ARRAY(struct sleepy_shown) profile_row_list;
void profile_rows_of(const struct sleepy_view *v, const struct profile_style *style,
		     profile_row_list *out);
/* What is known of a row; which of it a view has is said by profile_row_shapes. Borrowed. */
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
	bool inlined, known; /* known: the function is */
	uint64_t offset, address;
	const char *object;
	enum object_kind object_kind; /* OBJECT_KINDS: not known */
	char build_id[2 * BUILD_ID_MAX + 1];
	const char *file;
	uint32_t line;
};
void profile_row_of(const struct profile *p, const struct sleepy_view *v,
		    const struct sleepy_row *row, struct profile_row *out);
extern const struct shape *const profile_row_shapes[SLEEPY_VIEWS + 1];
/* It is code of the kernel. */
bool profile_row_kernel(const struct profile *p, const struct sleepy_view *v,
			const struct sleepy_row *row);
/* The function was inlined where it was sampled. */
bool profile_row_inlined(const struct profile *p, const struct sleepy_row *row);
/* "function", plural "functions" */
const char *profile_row_word(enum sleepy_by by, size_t count);

/* Shares of a view stand below each other: one number of decimals, as n samples support. */
int profile_decimals(uint64_t n);
/* What its way of sampling cannot tell, in sentences without their first capital. */
#define PROFILE_NOTES 2
size_t profile_notes_of(const struct profile *p, const char *notes[PROFILE_NOTES]);

/* ---- listings ---- */

struct listing_line {
	const struct instruction *instruction;
	const char *function;
	uint64_t address, size, self;
	double share; /* NaN: of nothing */
	const char *text, *file;
	uint32_t line;
	const char *source; /* the text of the line; filled in for JSON only */
};
struct listing {
	ARRAY(struct listing_line) list;
	uint64_t self;	    /* all of the function's samples */
	uint64_t elsewhere; /* of them, at addresses where no instruction of the list begins */
	uint64_t most;	    /* of one instruction */
};
void listing_of(const struct profile *p, const struct profile_listing *l, struct listing *out);
void listing_release(struct listing *l);

/* What a document has of it (documents.h). */
struct profile_part {
	const struct sleepy_view *view;
	struct profile_style style; /* which of its rows */
};

/* ---- text ---- */

void put_samples_count(struct strbuf *out, uint64_t count, const char *word); /* "3 samples" */
void put_cpu_seconds(struct strbuf *out, double ns);			      /* "1.23 s" */
void put_profile_system(const struct profile_subject *s, const struct sleepy_view *v,
			const struct style *style, struct strbuf *out);
/* A function's name, with something before and after it; where it does not fit, what is between
 * its brackets goes first. */
void table_add_symbol(struct table *t, const char *before, const char *name, const char *after);

#endif
