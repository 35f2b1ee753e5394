/* What the reports of queries have in common: private to report/. */
#ifndef TARE_REPORT_QUERY_ROWS_H
#define TARE_REPORT_QUERY_ROWS_H

#include "report/core/format.h"
#include "report/query/report.h"

/* A Q@C as every report has it. at, verdict and fired are borrowed from the view. */
struct query_row {
	const struct query_at *at;
	const struct ttp_at *verdict;
	const uint32_t *fired; /* by execution, bits of enum ttp_check */
	uint32_t query;
	char name[WORDS];
	uint64_t cardinality, table_bytes; /* 0: none, not known */
	int plan;			   /* in the order of plan_letter(); -1: not known */
	char letter[16];		   /* "": not known */
	uint64_t hash;
	bool plans; /* its executions had several */
	size_t made, kept;
	const char *dropped_by; /* NULL: it is kept */
	/* Those that mean something with this server. */
	struct ttp_figure times[TTP_TIMES], unfiltered[TTP_TIMES];
	struct ttp_figure time, io; /* the headline's */
	double sigma_ns;	    /* of time, to two digits; NaN: there is none */
	struct ttp_figure cpu, device, blocked;
	bool blocked_means; /* and is present */
	double read_share;  /* as of struct ttp_at */
};

struct query_rows {
	ARRAY(struct query_row) list; /* as in the run */
	enum ttp_time time;	      /* the headline: of each row.time and row.io */
	double relative_error;	      /* mean of sigma / mean of it, of the Q@Cs kept; NaN: none */
};
void query_rows_of(const struct query_view *v, struct query_rows *out);
void query_rows_release(struct query_rows *r);

/* "CPU + device", "CPU + blocked", "elapsed", "TTPv2's Time_calc" */
const char *query_time_title(enum ttp_time t);
/* "CPU + own device time", with what it is made of. */
const char *query_time_meaning(enum ttp_time t);

/* Plans are lettered within each query, as they come from its highest cardinality down: A, B, ...,
 * Z, AA; "-" for -1. */
void plan_letter(int plan, char out[16]);
uint64_t query_plan_hash(const struct query_at *at); /* of its first execution; 0: not known */
const struct query_plan *query_plan_of(const struct query_run *r, uint64_t hash); /* or NULL */

/* Of the query in this place, in the terminal: 1 to 9, a to z, A to Z, + for the rest. */
char query_sign(size_t query);
/* Its name, or "query 3". */
void query_name(const struct query_run *r, uint32_t query, char out[WORDS]);
/* "join at 1,000,000"; without a cardinality the name alone. */
void query_place(const struct query_run *r, uint32_t query, uint64_t cardinality,
		 char out[2 * WORDS]);
/* "3 h 12 min", "2 min 5 s"; below a minute as format_ns(). */
void format_span(double ns, char out[WORDS]);
/* "12 of 120 Q@Cs (10 %)" */
void format_part(uint64_t n, uint64_t of, const char *what, char out[WORDS]);
/* "PostgreSQL 15.8" */
void query_server(const struct query_run *r, char out[WORDS]);
/* Names of the checks in bits, with this between them. */
void put_checks(uint32_t bits, const char *between, struct strbuf *out);

struct query_style query_normal_style(const struct query_style *given);
/* What was written since `from`: plain spaces, and with style->ascii no µ and no …. */
void query_finish(const struct query_style *style, struct strbuf *out, size_t from);
void query_render(struct table *t, const struct query_style *style,
		  struct strbuf *out); /* and frees it */
void put_query_text(const char *first, const char *text, const struct query_style *style,
		    struct strbuf *out);
/* "  label       text" */
void put_query_fact(const char *label, const char *text, const struct query_style *style,
		    struct strbuf *out);

extern const char *const query_change_names[]; /* of enum ttp_change: "same", "only_base" */

/* ---- parts of the report ---- */

/* Rows of the result, of a list, and names in a sentence, unless all are asked for. */
#define QUERY_MOST_AT 60
#define QUERY_MOST 20
#define QUERY_MOST_NAMED 5
size_t query_most(const struct query_style *style, size_t most);
/* "and 3 more Q@Cs": of count at most so many were shown. */
void put_more(size_t count, size_t most, const char *what, const struct query_style *style,
	      struct strbuf *out);

/* Executions asked for of each Q@C; where that is not known, the most that one has. */
uint32_t query_planned(const struct query_run *r);
/* Of the Q@Cs that were begun: how many executions they lack. */
uint64_t query_missing(const struct query_run *r);

/* How many of the Q@Cs whose bytes are known read what their tables have (within 3 %), less, more;
 * and fewer than 1 % of that. */
struct query_reading {
	size_t known, whole, less, more, warm;
};
/* Whether it read as cold or as warm caches let expect. */
bool query_reads_as(double share, bool cold);
struct query_reading query_reading_of(const struct query_rows *rows);

/* Shares over the executions kept; NaN: not seen. */
struct query_surroundings {
	double run_delay; /* of the time between the snapshots, of each of the query's tasks */
	bool several;	  /* tasks, in one execution or another */
	double steal;	  /* of the CPUs' time */
	size_t lost;	  /* executions of all in which events were lost */
};
struct query_surroundings query_surroundings_of(const struct query_run *r,
						const struct query_rows *rows);

/* Each a sentence. brief: the forms of the sanity checks are one. */
typedef ARRAY(char *) sentence_list;
void query_deviations(const struct query_view *v, bool brief, sentence_list *into);
void sentences_release(sentence_list *s);
/* Section 9: nine names and what there is to say. */
struct query_item {
	const char *name;
	char *text;
};
#define QUERY_ITEMS 9
void query_items(const struct query_view *v, struct query_item out[QUERY_ITEMS]);
void query_items_release(struct query_item items[QUERY_ITEMS]);
/* Why this run is nothing to write a paper about; NULL: it may be. */
const char *query_unfit(const struct query_view *v);

/* What was dropped, and what the times are worth. */
void put_query_findings(const struct query_view *v, const struct query_rows *rows,
			const struct query_style *style, struct strbuf *out);
/* The list of deviations from the protocol, or how many there are. */
void put_query_deviations(const struct query_view *v, const struct query_style *style,
			  struct strbuf *out);

/* Trees of plans by query, and how they change with the cardinality. */
void put_query_plans(const struct query_view *v, const struct query_rows *rows,
		     const struct query_style *style, struct strbuf *out);
/* What changes from one plan to the other: "Seq Scan on t → Index Scan using t_a on t". */
void put_plan_change(const struct query_plan *from, const struct query_plan *to, bool ascii,
		     struct strbuf *out);

/* ---- what the catalogue describes (shapes.c) ---- */

extern const struct field query_row_fields[]; /* of struct query_row */

/* An execution and what the protocol says of it. */
struct query_judged {
	struct query_execution x;
	uint64_t cpu_ns;
	double times[TTP_TIMES]; /* NaN: not known, or it means nothing */
};
struct query_check {
	uint32_t check; /* of one of the enums of checks */
	struct ttp_count count;
};
struct query_relation {
	const char *id, *left, *right;
	enum ttp_level predicted, observed;
	double papers_r, r, p;
	int64_t off; /* levels; -1: r is not known */
	bool known;
};
/* Copies of the view's, whose memory stays theirs. */
struct query_head {
	uint32_t type;
	uint64_t format;
	struct query_run data;
	struct ttp_options options;
	struct ttp_result result;
	enum ttp_time time;
	double relative_error;
	struct query_reading reading;
	struct query_surroundings surroundings;
	const char *no_paragraphs;
	bool has_post, has_reading;
};
struct query_side {
	int64_t run;
	const char *name, *dbms, *version;
	bool cold;
	size_t kept;
};
struct query_pair {
	struct ttp_pair pair;
	char name[WORDS];
	uint64_t base_plan, other_plan;
};
struct query_compared {
	uint32_t type;
	uint64_t format;
	struct query_side base, other;
	struct ttp_comparison c;
};

/* Executions that were dropped, with these titles. NULL: there is none. */
struct table *query_dropped_table(const struct query_view *v, const char *what, const char *number,
				  const char *by);
/* NULL: there is none to show. Columns scope, check, fired, of, share. */
enum query_checks {
	QUERY_ALL_CHECKS,
	QUERY_FIRED_CHECKS,
	QUERY_OTHER_CHECKS, /* fired, and drop nothing */
};
struct table *query_checks_table(const struct query_view *v, enum query_checks which);
/* The causal model: a row for each relation. */
void query_model_of(const struct query_view *v, struct query_relation out[TTP_RELATIONS]);
struct table *query_model_table(const struct query_relation model[TTP_RELATIONS]);
/* "40 of 73 as predicted, ..." */
void put_model_summary(const struct query_relation model[TTP_RELATIONS], struct strbuf *out);

#endif
