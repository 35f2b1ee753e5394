/* The lab: the database of runs, behind one small interface. It is implemented with SQLite. */
#ifndef TARE_LAB_LAB_H
#define TARE_LAB_LAB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "record/bursts.h"
#include "record/duet.h"
#include "record/execution.h"
#include "record/machine.h"
#include "record/noise.h"
#include "record/profile.h"
#include "record/query.h"
#include "record/study.h"

struct lab;

enum lab_mode {
	LAB_READ,  /* must exist; nothing is changed */
	LAB_WRITE, /* created if missing, migrated if older */
	LAB_EDIT,  /* must exist; otherwise like LAB_WRITE */
};

/* path NULL: $TARE_LAB, or else $XDG_DATA_HOME/tare/lab.db, or ~/.local/share/tare/lab.db. Under
 * sudo the home is that of the invoking user, who also owns every file created. LAB_IN_MEMORY is a
 * new lab that is gone when closed. */
#define LAB_IN_MEMORY ":memory:"
int lab_open(struct lab **out, const char *path, enum lab_mode mode, struct error *err);
void lab_close(struct lab *lab);
const char *lab_path(const struct lab *lab);
/* Something in the file that is not tare's and is ignored because it is only read; NULL: nothing.
 */
const char *lab_stranger(const struct lab *lab);
/* What a command does with its lab. */
enum lab_need {
	NO_LAB,
	READS_LAB,
	EDITS_LAB,   /* it must exist */
	WRITES_LAB,  /* it is created if missing */
	LAB_BY_PART, /* depends on the subcommand or an option */
};
/* The lab of a command. The caller of the command closes it. It is opened at most once, at its
 * first use, because --lab is among the command's own options. */
struct lab_access {
	enum lab_need need;
	const char *file; /* as for lab_open() */
	struct lab *open; /* NULL: not yet */
};
struct lab *lab_access_open(struct lab_access *a, struct error *err); /* NULL: an error */
/* Closes it before the command ends: before a fork, or before others are notified. */
void lab_access_close(struct lab_access *a);
/* How long to wait for other writers, as a rule. */
#define LAB_PATIENCE_NS 5000000000u
/* From now on; it also forgets what failed before. */
void lab_be_patient(struct lab *lab, uint64_t ns);
/* Whether what the last call failed for may pass by itself: another program has the lab locked, or
 * the disk is full. words: what is in the way, "locked by PID 12 (python3)". */
#define LAB_WORDS 96
bool lab_hindered(const struct lab *lab, char words[LAB_WORDS]);
/* The user has already waited this long, so waiting for other writers is shortened by as much. */
void lab_waited(struct lab *lab, uint64_t ns);

/* Stores a machine once per distinct set of facts, and gives its id. */
int lab_add_machine(struct lab *lab, const struct machine *m, int64_t *id, struct error *err);
int lab_get_machine(struct lab *lab, int64_t id, struct machine *into, struct error *err);

/* An invocation of tare: a command line and its runs. SQL and JSON call it a study. */
int lab_add_invocation(struct lab *lab, const char *command_line, int64_t *id, struct error *err);
/* Stores the run and fills in run->id. The run is RUN_GOING and owned by this process. */
int lab_add_run(struct lab *lab, struct run *run, struct error *err);
int lab_end_run(struct lab *lab, int64_t run, enum run_status status, struct error *err);
/* Makes an interrupted or failed run RUN_GOING again, owned by this process. Refuses a complete run
 * and one that is going, so that only one of several callers gets it. */
int lab_resume_run(struct lab *lab, int64_t run, struct error *err);

/* Stores the execution with its processes, ledger and trace in one transaction, and fills in x->id.
 * The images of tasks are not stored (decision 026). */
int lab_add_execution(struct lab *lab, int64_t run, struct execution *x, struct error *err);
/* Like lab_add_execution(), for many executions in one transaction. */
int lab_add_executions(struct lab *lab, int64_t run, struct execution *x, size_t count,
		       struct error *err);

/* If a run is marked as going but its tare is gone, it is given as RUN_INTERRUPTED. */
int lab_get_run(struct lab *lab, int64_t id, struct run *into, struct error *err);

/* Sets of kinds of runs. */
#define LAB_OF(kind) (1u << (kind))
#define LAB_ALL_KINDS (LAB_OF(SUBJECT_KINDS) - 1)
#define LAB_SETTLED LAB_OF(SUBJECT_KINDS) /* runs that are going come after all others */
/* Finds a run by id ("12"), by name (the newest of that name), or by place: "last" or "@0", "@1"
 * for the one before, and so on. Only runs of these kinds are counted back; among runs of the same
 * name, these kinds are preferred. kind, unless NULL, gets the kind of the run, which may be a
 * different one if the run was named. If nothing matches, the error lists what there is; *id is 0
 * if 'last' has none of these kinds. */
int lab_find_run(struct lab *lab, const char *text, unsigned kinds, int64_t *id,
		 enum subject_kind *kind, struct error *err);

typedef ARRAY(struct run) run_list;
/* The results of a run at a glance; NAN: not for this kind, or nothing stored yet. */
struct run_summary_row {
	uint32_t executions, warmups;	    /* of commands, queries, duets: stored */
	double mean_et_ns, mean_pt_exec_ns; /* without the shell and warm-ups */
	uint32_t cpus;			    /* of noise */
	double watched_ns, lost_share;	    /* of noise: over all CPUs */
	double samples, sampled_ns;	    /* of a profile: without idle samples; CPU time */
	uint32_t queries, ats;		    /* of queries: queries planned, Q@Cs begun */
	uint32_t pairs, sides;		    /* of a duet: pairs stored, without warm-ups */
};
typedef ARRAY(struct run_summary_row) run_count_list;
/* The last three order kind by kind: by what was made (executions, time watched, samples), and by
 * the result (mean ET or PT, share lost, CPU time, Q@Cs, pairs). */
enum lab_order {
	LAB_BY_NUMBER,
	LAB_BY_NAME,
	LAB_BY_COMMAND,
	LAB_BY_TAGS,
	LAB_BY_STATUS,
	LAB_BY_BEGIN,
	LAB_BY_MADE,
	LAB_BY_ET,
	LAB_BY_PT,
	LAB_ORDERS
};
struct lab_search {
	const char *like; /* a part of name, command or tags; NULL: all */
	int64_t before;	  /* only runs with a smaller id; 0: all */
	uint32_t most;	  /* 0: no limit */
	uint32_t skip;	  /* skip this many at the start */
	enum lab_order order;
	bool up; /* smallest first. Unknown values always come last. */
};
/* The newest run comes first by default. counts, unless NULL, gets an entry per run. The caller
 * releases the runs. Their conditions have only the text, because parsing it is the slowest
 * part. */
int lab_search_runs(struct lab *lab, const struct lab_search *search, run_list *runs,
		    run_count_list *counts, struct error *err);
int lab_list_runs(struct lab *lab, const char *like, uint32_t most, run_list *runs,
		  run_count_list *counts, struct error *err);
int lab_invocation_runs(struct lab *lab, int64_t invocation, run_list *runs, struct error *err);

typedef ARRAY(struct execution) execution_list;
enum lab_detail {
	LAB_ROWS,      /* only the execution rows */
	LAB_PROCESSES, /* also the processes, and the ledger without its threads */
	LAB_THREADS,   /* also the ledger's threads and details */
};
int lab_get_executions(struct lab *lab, int64_t run, enum lab_detail detail, execution_list *into,
		       struct error *err);
/* The stored trace of one execution (x->id). into->present says whether there is one. */
int lab_get_trace(struct lab *lab, int64_t execution, struct trace *into, struct error *err);

/* Stores the noise of a run (SUBJECT_CPU) in one transaction and replaces what was stored before: a
 * run of days is stored repeatedly while it goes. */
int lab_put_noise(struct lab *lab, int64_t run, const struct noise *n, struct error *err);
/* into must be zeroed; the caller releases it. EXIT_USAGE if it is not a run of noise. */
int lab_get_noise(struct lab *lab, int64_t run, struct noise *into, struct error *err);
/* Whether a run of noise or queries has any data. One that has just begun may have none. */
int lab_has_data(struct lab *lab, int64_t run, bool *has, struct error *err);
/* Makes the run the baseline of its machine and replaces the previous one. Machines are compared by
 * identity, whatever their kernel and settings. */
int lab_set_baseline(struct lab *lab, int64_t run, struct error *err);
/* The baseline of this machine; *run is 0 if there is none. */
int lab_get_baseline(struct lab *lab, const struct machine *m, int64_t *run, struct error *err);

/* Adds one or more slices of a profile to a run (SUBJECT_SYSTEM) in one transaction, and merges
 * their dictionaries with those stored for the run. Until then, data are lost if the process
 * ends. */
int lab_add_slices(struct lab *lab, int64_t run, const struct profile *p, struct error *err);
/* Loads the slices that begin within [begin, end) of CLOCK_MONOTONIC (end 0: no end), and only the
 * dictionary entries that their samples use. into must be zeroed; the caller releases it.
 * EXIT_USAGE if the run is not a profile, or has no data yet. */
int lab_get_profile(struct lab *lab, int64_t run, uint64_t begin_ns, uint64_t end_ns,
		    struct profile *into, struct error *err);
/* Like lab_get_profile(), but without the code of functions, which is slow to unpack. */
int lab_get_profile_without_code(struct lab *lab, int64_t run, uint64_t begin_ns, uint64_t end_ns,
				 struct profile *into, struct error *err);
/* When the first slice of a profile began (CLOCK_MONOTONIC), even if that slice is gone, and about
 * how many bytes the profile takes. Both are 0 if nothing is stored yet. */
int lab_measure_profile(struct lab *lab, int64_t run, uint64_t *begin_ns, uint64_t *bytes,
			struct error *err);
struct lab_roll {
	uint64_t minute_after_ns; /* slices older than this are merged into minutes; 0: never */
	uint64_t hour_after_ns;	  /* and into hours */
	uint64_t keep_bytes; /* above this, the oldest slices and their own data are removed; 0: no
				limit */
};
/* Makes the old slices of a run coarser. now_ns is CLOCK_MONOTONIC. *bytes, unless NULL, is about
 * what the run takes afterwards. */
int lab_roll_slices(struct lab *lab, int64_t run, const struct lab_roll *roll, uint64_t now_ns,
		    uint64_t *bytes, struct error *err);

/* ---- daemon studies and cutoffs ---- */

/* Stores a study (s->machine must be set) in one transaction and fills in s->id and the ids of its
 * cutoffs. Its cutoffs replace those of its machine (by identity), except edited cutoffs whose
 * daemon and range the study does not cover. */
int lab_add_study(struct lab *lab, struct study *s, struct error *err);
/* id 0 selects the newest study of this machine (by identity); any other id selects that study, and
 * m may be NULL. *found is false if there is none. Its cutoffs have the ids of those in force; 0:
 * edited or replaced since. A run that was removed is 0. */
int lab_get_study(struct lab *lab, const struct machine *m, int64_t id, bool *found,
		  struct study *into, struct error *err);
struct lab_study_row {
	int64_t id, machine, made_at_ns;
	enum study_source source;
	uint64_t short_ns, long_ns; /* lengths of its runs; 0: none */
	uint32_t daemons, cutoffs;  /* daemons: long-running ones */
	bool in_force;		    /* it is the newest of its machine */
};
typedef ARRAY(struct lab_study_row) lab_study_list;
/* Newest first. */
int lab_list_studies(struct lab *lab, lab_study_list *into, struct error *err);
/* Also removes the cutoffs that come from it. Those of the study before it are in force again. */
int lab_remove_study(struct lab *lab, int64_t id, struct error *err);

/* The cutoffs in force on this machine (by identity), and their origin. */
/* The best speed that was seen of this machine's CPUs, in ns of a probe's work; NaN: none. Noting
 * it takes the run's executions, which are stored, into account. */
int lab_get_speeds(struct lab *lab, const struct machine *m, double ns[SPEED_KINDS],
		   struct error *err);
int lab_note_speeds(struct lab *lab, int64_t run, const struct machine *m, struct error *err);

struct lab_cutoffs {
	cutoff_list cutoffs;
	int64_t study;		/* the newest of the machine; 0: all edited or imported */
	int64_t made_at_ns;	/* of the study, or without one of the oldest cutoff */
	struct machine machine; /* as it was at the study; no facts: unknown */
};
int lab_get_cutoffs(struct lab *lab, const struct machine *m, struct lab_cutoffs *into,
		    struct error *err);
void lab_cutoffs_release(struct lab_cutoffs *c);
/* Stores a cutoff and marks it as edited. c->id 0: a new one. The ranges of one daemon must not
 * overlap (EXIT_USAGE). */
int lab_put_cutoff(struct lab *lab, const struct machine *m, struct cutoff *c, struct error *err);
/* Replaces all cutoffs of these daemons and marks the new ones as edited at made_at_ns (0: now). If
 * one is bad (EXIT_USAGE) or cannot be stored, nothing changes. */
int lab_replace_cutoffs(struct lab *lab, const struct machine *m, const struct cutoff *list,
			size_t count, int64_t made_at_ns, struct error *err);
/* id 0: all cutoffs of the machine. */
int lab_remove_cutoff(struct lab *lab, const struct machine *m, int64_t id, struct error *err);

/* ---- watches ---- */

/* Begins a watch. It consists of stretches of bursts, stored in chunks. */
int lab_begin_watch(struct lab *lab, int64_t machine, int64_t *watch, struct error *err);
/* Stores one chunk, compressed, in one transaction. It should cover about a minute, because each
 * has its own processes. If all watches together then take more than keep_bytes (0: no limit), the
 * oldest chunks are removed. */
int lab_add_bursts(struct lab *lab, int64_t watch, const struct bursts *b, uint64_t keep_bytes,
		   struct error *err);
int lab_end_watch(struct lab *lab, int64_t watch, struct error *err);
typedef ARRAY(struct watch_row) lab_watch_list;
/* Newest first. */
int lab_list_watches(struct lab *lab, lab_watch_list *into, struct error *err);
/* Loads the stretches of this machine's watches (m NULL: of any machine), oldest first, watch by
 * watch; watch 0: all of them. Chunks of one watch without a gap between them are joined. It
 * includes what ran between the two times (CLOCK_REALTIME; until 0: to the end), even if it began
 * before or ended after. A chunk that is cut keeps its full `lost`. The caller releases each. */
typedef ARRAY(struct bursts) bursts_list;
int lab_get_bursts(struct lab *lab, const struct machine *m, int64_t watch, int64_t since_ns,
		   int64_t until_ns, bursts_list *into, struct error *err);
/* Refuses a watch that is going. */
int lab_remove_watch(struct lab *lab, int64_t watch, struct error *err);

/* ---- queries (SUBJECT_QUERY) ---- */

/* Stores what is known when the run begins: all of q except at, plans and events. Call it once,
 * after lab_add_run(). */
int lab_add_query_run(struct lab *lab, int64_t run, const struct query_run *q, struct error *err);
/* Adds a Q@C, before its first execution. If it already exists, it keeps its executions and gets
 * the new table_bytes. */
int lab_add_query_at(struct lab *lab, int64_t run, const struct query_at *at, struct error *err);
/* Once for each distinct plan. Adding it again does nothing. */
int lab_add_query_plan(struct lab *lab, int64_t run, const struct query_plan *p, struct error *err);
int lab_add_query_event(struct lab *lab, int64_t run, const struct query_event *e,
			struct error *err);
/* Stores one execution of a Q@C and, unless raw is NULL, its processes and ledger as an execution
 * of the run, in one transaction. Refuses a number that already exists (EXIT_USAGE). Fills in
 * raw->id and raw->number (counted over the run). */
int lab_add_query_execution(struct lab *lab, int64_t run, uint32_t query, uint64_t cardinality,
			    const struct query_execution *q, struct execution *raw,
			    struct error *err);
/* Stores everything in one transaction, for imports and tests. */
int lab_add_query_data(struct lab *lab, int64_t run, const struct query_run *q, struct error *err);
/* Removes the executions of a Q@C and stores the event that is the reason, in one transaction. */
int lab_restart_query_at(struct lab *lab, int64_t run, const struct query_event *why,
			 struct error *err);
/* into must be zeroed; the caller releases it. EXIT_USAGE if it is not a run of queries. */
int lab_get_query_run(struct lab *lab, int64_t run, struct query_run *into, struct error *err);
/* The stored executions of a Q@C with their processes and ledgers (LAB_PROCESSES), in order. */
int lab_get_query_ledger(struct lab *lab, int64_t run, uint32_t query, uint64_t cardinality,
			 execution_list *into, struct error *err);

/* ---- duets (SUBJECT_DUET) ---- */

/* Stores what is known when the pairs begin: all of d except parts, looks, and what the run has
 * (ignore_failure, expected_codes and the cost of the shell). Call it once, after lab_add_run(). */
int lab_add_duet(struct lab *lab, int64_t run, const struct duet *d, struct error *err);
/* Appends parts and, unless look is NULL, a look, in one transaction. */
int lab_add_duet_parts(struct lab *lab, int64_t run, const struct duet_part *parts, size_t count,
		       const struct duet_look *look, struct error *err);
/* into must be zeroed; the caller releases it. What the run has is not set. EXIT_USAGE if it is not
 * a duet. */
int lab_get_duet(struct lab *lab, int64_t run, struct duet *into, struct error *err);

/* Refuses "" and names that lab_find_run() would read differently ("12", "last", "@1"). */
int lab_check_name(const char *name, struct error *err);
/* Sets name and tags in one transaction; NULL leaves one unchanged. */
int lab_edit_run(struct lab *lab, int64_t run, const char *name, const char *tags,
		 struct error *err);
int lab_rename_run(struct lab *lab, int64_t run, const char *name, struct error *err);
/* Replaces the tags with any text; NULL or "": none. */
int lab_tag_run(struct lab *lab, int64_t run, const char *tags, struct error *err);
/* Removes some tags of a run and then adds others, in one transaction. Each argument is a list with
 * commas; NULL: none. *now is the resulting tags, "" for none; the caller frees it. */
int lab_change_tags(struct lab *lab, int64_t run, const char *add, const char *remove, char **now,
		    struct error *err);
/* Refuses a run that is going. Removing the last run of an invocation removes the invocation. */
int lab_remove_run(struct lab *lab, int64_t run, struct error *err);
/* Gives all unused room back to the disk. A lab of an older tare is rewritten, and others wait as
 * long as that takes; from then on it shrinks in steps. */
int lab_compact(struct lab *lab, struct error *err);
int64_t lab_unused_bytes(struct lab *lab);

/* ---- for readers while others write ---- */

/* Changes when another connection has committed since the last call. It costs almost nothing. */
int lab_version(struct lab *lab, uint32_t *version, struct error *err);
/* A number below 2^53 that changes when a report of the run would change: with the run, its data,
 * and the studies, cutoffs and baselines that it is judged by. */
int lab_stamp_run(struct lab *lab, int64_t run, uint64_t *stamp, struct error *err);
/* Like lab_stamp_run(), for the list of runs, studies and cutoffs. counts: also the runs'
 * counts. */
int lab_stamp_list(struct lab *lab, bool counts, uint64_t *stamp, struct error *err);

/* Runs one read-only statement and calls row for each row with texts and their types (NULL for SQL
 * NULL, X'hex' for a blob). Several statements, or one that would write or reach another file, are
 * an error. The first call has the names; if there are no rows, it has values and types NULL. row
 * returns false to stop. */
enum lab_type { LAB_NULL, LAB_INTEGER, LAB_REAL, LAB_TEXT, LAB_BLOB };
typedef bool (*lab_row_fn)(void *context, int columns, const char *const *names,
			   const char *const *values, const enum lab_type *types);
int lab_sql(struct lab *lab, const char *statement, lab_row_fn row, void *context,
	    struct error *err);

/* Lists the views for users and their columns, with their meanings, as the newest schema documents
 * them. It needs no lab. column is NULL for the view itself. */
typedef void (*lab_view_fn)(void *context, const char *view, const char *column,
			    const char *meaning);
int lab_views(lab_view_fn each, void *context, struct error *err);

#endif
