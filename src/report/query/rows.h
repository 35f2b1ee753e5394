/* Shared by the reports of queries. Private to report/. */
#ifndef TARE_REPORT_QUERY_ROWS_H
#define TARE_REPORT_QUERY_ROWS_H

#include "report/core/format.h"
#include "report/query/report.h"

/* A Q@C for all reports. at, verdict and fired are borrowed from the view. */
struct query_row {
	const struct query_at *at;
	const struct ttp_at *verdict;
	const uint32_t *fired; /* by execution, bits of enum ttp_check */
	uint32_t query;
	char name[WORDS];
	uint64_t cardinality, table_bytes; /* 0: none, unknown */
	int plan;			   /* in the order of its letters; -1: unknown */
	char letter[16];		   /* "": unknown */
	uint64_t hash;
	bool plans; /* its executions had several */
	size_t made, kept;
	const char *dropped_by; /* NULL: it is kept */
	/* Those that are meaningful with this server. */
	struct ttp_figure times[TTP_TIMES], unfiltered[TTP_TIMES];
	struct ttp_figure time, io; /* of the headline */
	double sigma_ns;	    /* of time, to two digits; NaN: none */
	struct ttp_figure cpu, device, blocked;
	bool blocked_means; /* it is meaningful and present */
	double read_share;  /* as in struct ttp_at */
};

struct query_rows {
	ARRAY(struct query_row) list; /* in the run's order */
	enum ttp_time time;	      /* the headline: of each row.time and row.io */
	double relative_error;	      /* mean of sigma / mean of it, of the kept Q@Cs; NaN: none */
};
void query_rows_of(const struct query_view *v, struct query_rows *out);
void query_rows_release(struct query_rows *r);

/* "CPU + device", "CPU + blocked", "elapsed", "TTPv2's Time_calc" */
const char *query_time_title(enum ttp_time t);
/* "CPU + own device time", with its parts. */
const char *query_time_meaning(enum ttp_time t);

uint64_t query_plan_hash(const struct query_at *at); /* of its first execution; 0: unknown */
const struct query_plan *query_plan_of(const struct query_run *r, uint64_t hash); /* or NULL */

/* The sign in the terminal for the query at this index: 1 to 9, a to z, A to Z, + for the rest. */
char query_sign(size_t query);
/* Its name, or "query 3". */
void query_name(const struct query_run *r, uint32_t query, char out[WORDS]);
/* "join at 1,000,000"; only the name without a cardinality. */
void query_place(const struct query_run *r, uint32_t query, uint64_t cardinality,
		 char out[2 * WORDS]);
/* "3 h 12 min", "2 min 5 s"; below a minute like format_ns(). */
void format_span(double ns, char out[WORDS]);
/* "12 of 120 Q@Cs (10 %)" */
void format_part(uint64_t n, uint64_t of, const char *what, char out[WORDS]);
/* A setting of a server; NULL: there it has none. */
struct query_setting {
	char *name, *base, *other;
};
typedef ARRAY(struct query_setting) query_settings;
/* Of two runs of one DBMS, with their values as text. */
void query_settings_that_differ(const struct query_run *base, const struct query_run *other,
				query_settings *into);
/* Of one, as `base`; only those that decide most, unless all are wanted. */
void query_settings_of(const struct query_run *r, bool all, query_settings *into);
void query_settings_release(query_settings *list);
/* "PostgreSQL 15.8" */
void query_server(const struct query_run *r, char out[WORDS]);
/* The names of the checks in bits, separated by `between`. */
void put_checks(uint32_t bits, const char *between, struct strbuf *out);

struct query_style query_normal_style(const struct query_style *given);
void put_query_text(const char *first, const char *text, const struct query_style *style,
		    struct strbuf *out);
/* "  label       text" */
void put_query_fact(const char *label, const char *text, const struct query_style *style,
		    struct strbuf *out);

extern const char *const query_change_names[]; /* of enum ttp_change: "same", "only_base" */

/* ---- parts of the report ---- */

/* The most rows of the result and of a list, and names in a sentence, unless all are wanted. */
#define QUERY_MOST_AT 60
#define QUERY_MOST 20
#define QUERY_MOST_NAMED 5
size_t query_most(const struct query_style *style, size_t most);
/* "and 3 more Q@Cs", if only `most` of count were shown. */
void put_more(size_t count, size_t most, const char *what, const struct query_style *style,
	      struct strbuf *out);

/* The executions wanted for each Q@C or, if unknown, the most that one has. */
uint32_t query_planned(const struct query_run *r);
/* How many executions the Q@Cs that were begun still lack. */
uint64_t query_missing(const struct query_run *r);
/* What became of what executions wrote, if they might write: a sentence without its period. */
void put_query_writes(const struct query_run *r, struct strbuf *out);

/* How many of the Q@Cs with known bytes read as much as their tables have (within 3 %), less, or
 * more, and how many read less than 1 % of that. */
struct query_reading {
	size_t known, whole, less, more, warm;
};
/* Whether the share read is as expected with cold or with warm caches. */
bool query_reads_as(double share, bool cold);
struct query_reading query_reading_of(const struct query_rows *rows);

/* Shares over the kept executions; NaN: not seen. */
struct query_surroundings {
	double run_delay; /* of the time between the snapshots, per task of the query */
	bool several;	  /* some execution had several tasks */
	double steal;	  /* of the CPUs' time */
	size_t lost;	  /* of all executions, those in which events were lost */
};
struct query_surroundings query_surroundings_of(const struct query_run *r,
						const struct query_rows *rows);

/* One sentence each. brief: one sentence for all adapted sanity checks. */
typedef ARRAY(char *) sentence_list;
void query_deviations(const struct query_view *v, bool brief, sentence_list *into);
void sentences_release(sentence_list *s);
/* Section 9: nine names and their texts. */
struct query_item {
	const char *name;
	char *text;
};
#define QUERY_ITEMS 9
void query_items(const struct query_view *v, struct query_item out[QUERY_ITEMS]);
void query_items_release(struct query_item items[QUERY_ITEMS]);
/* Why this run should not be reported in a paper; NULL: it may be. */
const char *query_unfit(const struct query_view *v);

/* What was dropped, and how good the times are. */
void put_query_findings(const struct query_view *v, const struct query_rows *rows,
			const struct query_style *style, struct strbuf *out);
/* The list of deviations from the protocol, or their number. */
void put_query_deviations(const struct query_view *v, const struct query_style *style,
			  struct strbuf *out);

/* Plan trees by query, and how they change with the cardinality. */
void put_query_plans(const struct query_view *v, const struct query_rows *rows,
		     const struct query_style *style, struct strbuf *out);
/* The difference between two plans: "Seq Scan on t → Index Scan using t_a on t". */
void put_plan_change(const struct query_plan *from, const struct query_plan *to, bool ascii,
		     struct strbuf *out);

/* ---- described by the catalogue (shapes.c) ---- */

extern const struct field query_row_fields[]; /* of struct query_row */

/* An execution and the protocol's verdict. */
struct query_judged {
	struct query_execution x;
	uint64_t cpu_ns;
	double times[TTP_TIMES]; /* NaN: unknown, or not meaningful */
};
struct query_check {
	uint32_t check; /* of one of the enums of checks */
	struct ttp_count count;
};
struct query_relation {
	const char *id, *left, *right;
	enum ttp_level predicted, observed;
	double papers_r, r, p;
	int64_t off; /* levels; -1: r is unknown */
	bool known;
};
/* Copies of the view's members, whose memory they share. */
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

/* The dropped executions, under these titles. NULL: there are none. */
struct table *query_dropped_table(const struct query_view *v, const char *what, const char *number,
				  const char *by);
/* Columns scope, check, fired, of, share. NULL: there is nothing to show. */
enum query_checks {
	QUERY_ALL_CHECKS,
	QUERY_FIRED_CHECKS,
	QUERY_OTHER_CHECKS, /* fired, but dropped nothing */
};
struct table *query_checks_table(const struct query_view *v, enum query_checks which);
/* The causal model, a row per relation. */
void query_model_of(const struct query_view *v, struct query_relation out[TTP_RELATIONS]);
struct table *query_model_table(const struct query_relation model[TTP_RELATIONS]);
/* "40 of 73 as predicted, ..." */
void put_model_summary(const struct query_relation model[TTP_RELATIONS], struct strbuf *out);

#endif
