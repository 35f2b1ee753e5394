/* The lab: the database of runs, behind one small interface. SQLite is the one implementation
 * today. */
#ifndef TARE_LAB_LAB_H
#define TARE_LAB_LAB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "record/bursts.h"
#include "record/execution.h"
#include "record/machine.h"
#include "record/noise.h"
#include "record/profile.h"
#include "record/query.h"
#include "record/study.h"

struct lab;

enum lab_mode {
	LAB_READ,  /* must exist; nothing is changed */
	LAB_WRITE, /* made when it does not exist, migrated when it is older */
	LAB_EDIT,  /* must exist; else like LAB_WRITE */
};

/* path NULL: $TARE_LAB, else $XDG_DATA_HOME/tare/lab.db, or ~/.local/share/tare/lab.db. Under sudo
 * the home is the invoking user's, and every file made stays theirs. LAB_IN_MEMORY: a new lab that
 * is gone when closed. */
#define LAB_IN_MEMORY ":memory:"
int lab_open(struct lab **out, const char *path, enum lab_mode mode, struct error *err);
void lab_close(struct lab *lab);
const char *lab_path(const struct lab *lab);
/* What a command does with its lab. */
enum lab_need {
	NO_LAB,
	READS_LAB,
	EDITS_LAB,   /* it must exist */
	WRITES_LAB,  /* it is made when it does not exist */
	LAB_BY_PART, /* the part of the command that is run says it, or an option does */
};
/* The lab that a command is given by whoever called it, who closes it. It is opened at most once,
 * when it is first asked for, since --lab is among the command's own options. */
struct lab_access {
	enum lab_need need;
	const char *file; /* as lab_open() takes it */
	struct lab *open; /* NULL: not yet */
};
struct lab *lab_access_open(struct lab_access *a, struct error *err); /* NULL: an error */
/* Earlier than the command's end: before a fork, or before others are told. */
void lab_access_close(struct lab_access *a);
/* Its user has waited for so long already: others who write are waited for that much less. */
void lab_waited(struct lab *lab, uint64_t ns);

/* Stores a machine once per distinct set of facts; gives its id. */
int lab_add_machine(struct lab *lab, const struct machine *m, int64_t *id, struct error *err);
int lab_get_machine(struct lab *lab, int64_t id, struct machine *into, struct error *err);

/* A study groups the runs of one command line. */
int lab_add_study(struct lab *lab, const char *command_line, int64_t *id, struct error *err);
/* Stores the run and fills in run->id; it is RUN_GOING, owned by this process. */
int lab_add_run(struct lab *lab, struct run *run, struct error *err);
int lab_end_run(struct lab *lab, int64_t run, enum run_status status, struct error *err);
/* One that was interrupted or failed is RUN_GOING again, owned by this process. Refuses one that is
 * going, so that of several that ask at once one gets it, and one that is complete. */
int lab_resume_run(struct lab *lab, int64_t run, struct error *err);

/* Stores the execution, its processes, ledger and trace in one transaction and fills in x->id. The
 * images of tasks are not stored (decision 026). */
int lab_add_execution(struct lab *lab, int64_t run, struct execution *x, struct error *err);
/* The same of many, all in one transaction. */
int lab_add_executions(struct lab *lab, int64_t run, struct execution *x, size_t count,
		       struct error *err);

/* A run that says it is going although its tare is gone is given as RUN_INTERRUPTED. */
int lab_get_run(struct lab *lab, int64_t id, struct run *into, struct error *err);

/* Sets of kinds of runs. */
#define LAB_OF(kind) (1u << (kind))
#define LAB_ALL_KINDS (LAB_OF(SUBJECT_KINDS) - 1)
#define LAB_SETTLED LAB_OF(SUBJECT_KINDS) /* one that is going comes after all others */
/* A run by id ("12"), by name (the newest of that name), "last" (or "@0"), "@1" the one before it,
 * ... Only runs of these kinds are counted back, and of a name the newest of them is preferred.
 * kind, when not NULL, gets that of the run, which may be another one where it was named. Nothing
 * matches: an error that says what there is; but *id is 0 where 'last' has none of these kinds. */
int lab_find_run(struct lab *lab, const char *text, unsigned kinds, int64_t *id,
		 enum subject_kind *kind, struct error *err);

typedef ARRAY(struct run) run_list;
/* What came of a run, at a glance; NAN: not of this kind, or nothing was stored yet. */
struct run_summary_row {
	uint32_t executions, warmups;	    /* stored, of commands and queries */
	double mean_et_ns, mean_pt_exec_ns; /* less the shell, of all but warm-ups */
	uint32_t cpus;			    /* of noise */
	double watched_ns, lost_share;	    /* of noise: of all CPUs together */
	double samples, sampled_ns;	    /* of a profile: but idle ones, and the CPU time */
	uint32_t queries, ats;		    /* of queries: to be executed; Q@Cs begun */
};
typedef ARRAY(struct run_summary_row) run_count_list;
/* The last three: kind by kind, by what was made (executions, time watched, samples), and by what
 * came of it: mean ET or PT, share lost, CPU time, Q@Cs. */
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
	uint32_t skip;	  /* so many of the first */
	enum lab_order order;
	bool up; /* the least first. What is not known comes last in any case. */
};
/* By default the newest first. counts, when not NULL, gets an entry per run. The caller releases
 * the runs. */
int lab_search_runs(struct lab *lab, const struct lab_search *search, run_list *runs,
		    run_count_list *counts, struct error *err);
int lab_list_runs(struct lab *lab, const char *like, uint32_t most, run_list *runs,
		  run_count_list *counts, struct error *err);
int lab_study_runs(struct lab *lab, int64_t study, run_list *runs, struct error *err);

typedef ARRAY(struct execution) execution_list;
enum lab_detail {
	LAB_ROWS,      /* the execution rows alone */
	LAB_PROCESSES, /* and the processes that ran, and the ledger but for its threads */
	LAB_THREADS,   /* and the ledger's threads and details */
};
int lab_get_executions(struct lab *lab, int64_t run, enum lab_detail detail, execution_list *into,
		       struct error *err);
/* The stored trace of one execution (x->id); into->present says whether there is one. */
int lab_get_trace(struct lab *lab, int64_t execution, struct trace *into, struct error *err);

/* The noise of a run (SUBJECT_CPU), in one transaction, in place of what was stored of it before: a
 * run of days is stored now and then while it goes. */
int lab_put_noise(struct lab *lab, int64_t run, const struct noise *n, struct error *err);
/* into is zeroed; released by the caller. An error (EXIT_USAGE) when the run is not one of noise.
 */
int lab_get_noise(struct lab *lab, int64_t run, struct noise *into, struct error *err);
/* Whether there is more of a run of noise or of queries than the run itself: of one that has just
 * begun, or failed at once, there may be nothing. */
int lab_has_data(struct lab *lab, int64_t run, bool *has, struct error *err);
/* Makes the run the baseline of its machine (by its identity, whatever its kernel and settings), in
 * place of the one before. */
int lab_set_baseline(struct lab *lab, int64_t run, struct error *err);
/* The baseline of this machine; *run is 0 when there is none. */
int lab_get_baseline(struct lab *lab, const struct machine *m, int64_t *run, struct error *err);

/* Adds a slice (or several) of a profile to a run (SUBJECT_SYSTEM), in one transaction:
 * dictionaries are merged with what is stored of the run. What is not in the lab then is lost with
 * the process. */
int lab_add_slices(struct lab *lab, int64_t run, const struct profile *p, struct error *err);
/* into is zeroed; released by the caller. Slices that begin within [begin, end) of CLOCK_MONOTONIC;
 * end 0: to the last. Only what their samples refer to is in the dictionaries. An error
 * (EXIT_USAGE) when the run is not a profile, or nothing of it was stored yet. */
int lab_get_profile(struct lab *lab, int64_t run, uint64_t begin_ns, uint64_t end_ns,
		    struct profile *into, struct error *err);
/* The same but for the code of functions, which takes a while to unpack. */
int lab_get_profile_without_code(struct lab *lab, int64_t run, uint64_t begin_ns, uint64_t end_ns,
				 struct profile *into, struct error *err);
/* Of a profile: when its first slice began (CLOCK_MONOTONIC), also when that is gone since, and
 * about how many bytes it takes. Both are 0 when nothing was stored yet. */
int lab_measure_profile(struct lab *lab, int64_t run, uint64_t *begin_ns, uint64_t *bytes,
			struct error *err);
struct lab_roll {
	uint64_t minute_after_ns; /* slices older than this become slices of a minute; 0: never */
	uint64_t hour_after_ns;	  /* and of an hour */
	uint64_t keep_bytes; /* above, the oldest slices go, with what only they used; 0: no cap */
};
/* Makes the old of a run coarser. now: CLOCK_MONOTONIC. *bytes, when not NULL, is what the run
 * takes afterwards, about. */
int lab_roll_slices(struct lab *lab, int64_t run, const struct lab_roll *roll, uint64_t now_ns,
		    uint64_t *bytes, struct error *err);

/* ---- daemon studies and cutoffs ---- */

/* Stores a study (s->machine must be set) in one transaction; fills in s->id and the ids of its
 * cutoffs. Its cutoffs become those of its machine (by identity) in place of the ones before;
 * edited ones whose daemon and range it has no cutoff for stay. */
int lab_add_study_of_daemons(struct lab *lab, struct study *s, struct error *err);
/* id 0: the newest of this machine (by identity), else that one of any (m may be NULL). *found is
 * false when there is none. Its cutoffs have the ids of those in force; 0: edited or replaced
 * since. A run removed since is 0. */
int lab_get_study_of_daemons(struct lab *lab, const struct machine *m, int64_t id, bool *found,
			     struct study *into, struct error *err);
struct lab_study_row {
	int64_t id, machine, made_at_ns;
	enum study_source source;
	uint64_t short_ns, long_ns; /* lengths of its runs; 0: none */
	uint32_t daemons, cutoffs;  /* long-running ones */
	bool in_force;		    /* the newest of its machine */
};
typedef ARRAY(struct lab_study_row) lab_study_list;
/* Newest first. */
int lab_list_studies_of_daemons(struct lab *lab, lab_study_list *into, struct error *err);
/* The cutoffs that come from it go, too; those of the study before it hold again. */
int lab_remove_study_of_daemons(struct lab *lab, int64_t id, struct error *err);

/* The cutoffs in force on this machine (by identity), and where they come from. */
struct lab_cutoffs {
	cutoff_list cutoffs;
	int64_t study;		/* the newest of the machine; 0: all by hand or imported */
	int64_t made_at_ns;	/* of the study, or without one of the oldest of them */
	struct machine machine; /* as it was at the study; no facts: unknown */
};
int lab_get_cutoffs(struct lab *lab, const struct machine *m, struct lab_cutoffs *into,
		    struct error *err);
void lab_cutoffs_release(struct lab_cutoffs *c);
/* c->id 0: a new one; ranges of one daemon must not overlap (EXIT_USAGE). It is marked as edited.
 */
int lab_put_cutoff(struct lab *lab, const struct machine *m, struct cutoff *c, struct error *err);
/* These take the place of all that their daemons have, marked as edited, at made_at_ns (0: now).
 * All or, when one is bad (EXIT_USAGE) or cannot be stored, none. */
int lab_replace_cutoffs(struct lab *lab, const struct machine *m, const struct cutoff *list,
			size_t count, int64_t made_at_ns, struct error *err);
/* id 0: all of the machine's. */
int lab_remove_cutoff(struct lab *lab, const struct machine *m, int64_t id, struct error *err);

/* ---- watches ---- */

/* A watch: stretches of bursts, in chunks. */
int lab_begin_watch(struct lab *lab, int64_t machine, int64_t *watch, struct error *err);
/* One chunk, compressed, in one transaction: of a minute or so, as each has its own processes.
 * Then, above keep_bytes (0: no cap) over all watches, the oldest chunks go. */
int lab_add_bursts(struct lab *lab, int64_t watch, const struct bursts *b, uint64_t keep_bytes,
		   struct error *err);
int lab_end_watch(struct lab *lab, int64_t watch, struct error *err);
struct lab_watch_row {
	int64_t id, machine, begun_at_ns, ended_at_ns; /* CLOCK_REALTIME; of what is kept */
	uint64_t covered_ns, bytes, bursts, lost;
	bool going;
};
typedef ARRAY(struct lab_watch_row) lab_watch_list;
/* Newest first. */
int lab_list_watches(struct lab *lab, lab_watch_list *into, struct error *err);
/* The stretches of this machine's watches (m NULL: of any), oldest first, watch by watch; chunks of
 * one watch with nothing unwatched between them are joined. watch 0: of all of them. What ran
 * between the two times (CLOCK_REALTIME; until 0: to the end), also when it began before or ended
 * after; a chunk that is cut keeps all of its `lost`. The caller releases each. */
typedef ARRAY(struct bursts) bursts_list;
int lab_get_bursts(struct lab *lab, const struct machine *m, int64_t watch, int64_t since_ns,
		   int64_t until_ns, bursts_list *into, struct error *err);
/* Refuses one that is going. */
int lab_remove_watch(struct lab *lab, int64_t watch, struct error *err);

/* ---- queries (SUBJECT_QUERY) ---- */

/* What is known when the run begins: all of q but at, plans and events, once after lab_add_run().
 */
int lab_add_query_run(struct lab *lab, int64_t run, const struct query_run *q, struct error *err);
/* A Q@C, before its first execution; one that is there keeps its executions and gets these
 * table_bytes. */
int lab_add_query_at(struct lab *lab, int64_t run, const struct query_at *at, struct error *err);
/* Once for each distinct plan; one that is there already is fine. */
int lab_add_query_plan(struct lab *lab, int64_t run, const struct query_plan *p, struct error *err);
int lab_add_query_event(struct lab *lab, int64_t run, const struct query_event *e,
			struct error *err);
/* One execution of a Q@C and, unless raw is NULL, its processes and ledger as an execution of
 * the run, in one transaction. Refuses (EXIT_USAGE) a number that is there. Fills in
 * raw->id and raw->number (counted over the run). */
int lab_add_query_execution(struct lab *lab, int64_t run, uint32_t query, uint64_t cardinality,
			    const struct query_execution *q, struct execution *raw,
			    struct error *err);
/* All of it at once, in one transaction: for imports and tests. */
int lab_add_query_data(struct lab *lab, int64_t run, const struct query_run *q, struct error *err);
/* Throws away the executions of a Q@C, and stores the event that is the reason, in one transaction.
 */
int lab_restart_query_at(struct lab *lab, int64_t run, const struct query_event *why,
			 struct error *err);
/* into is zeroed; released by the caller. EXIT_USAGE when the run is not one of queries. */
int lab_get_query_run(struct lab *lab, int64_t run, struct query_run *into, struct error *err);
/* The stored executions of a Q@C with their processes and ledgers (LAB_PROCESSES), in order. */
int lab_get_query_ledger(struct lab *lab, int64_t run, uint32_t query, uint64_t cardinality,
			 execution_list *into, struct error *err);

/* Names that lab_find_run() would read otherwise ("12", "last", "@1") and "" are refused. */
int lab_check_name(const char *name, struct error *err);
/* Name and tags in one transaction; NULL: stays as it is. */
int lab_edit_run(struct lab *lab, int64_t run, const char *name, const char *tags,
		 struct error *err);
int lab_rename_run(struct lab *lab, int64_t run, const char *name, struct error *err);
/* Free text in place of what there was; NULL or "": none. */
int lab_tag_run(struct lab *lab, int64_t run, const char *tags, struct error *err);
/* Adds tags to those that the run has and takes away others first, in one transaction; each is a
 * list with commas, NULL: none. *now is what it has then, "" for none; the caller frees. */
int lab_change_tags(struct lab *lab, int64_t run, const char *add, const char *remove, char **now,
		    struct error *err);
/* Refuses a run that is going. The last run of a study takes the study with it. */
int lab_remove_run(struct lab *lab, int64_t run, struct error *err);

/* ---- for whoever looks on while others write ---- */

/* Differs from the value before when another connection has committed since; costs next to nothing.
 */
int lab_version(struct lab *lab, uint32_t *version, struct error *err);
/* A number below 2^53 that changes when what a report of the run is made from does: the run itself,
 * what it measured, and the studies, cutoffs and baselines by which it is judged. */
int lab_stamp_run(struct lab *lab, int64_t run, uint64_t *stamp, struct error *err);
/* The same of the list of runs, and of the studies and cutoffs; with the means and counts of runs,
 * or without. */
int lab_stamp_list(struct lab *lab, bool counts, uint64_t *stamp, struct error *err);

/* Runs one read-only statement; row is called per row with texts (NULL for SQL NULL; a blob as
 * X'hex') and their types. A statement that would write, or reach another file, is an error, as are
 * several statements. names are given with the first call and also when there are no rows (values
 * and types NULL then). row returns false to stop. */
enum lab_type { LAB_NULL, LAB_INTEGER, LAB_REAL, LAB_TEXT, LAB_BLOB };
typedef bool (*lab_row_fn)(void *context, int columns, const char *const *names,
			   const char *const *values, const enum lab_type *types);
int lab_sql(struct lab *lab, const char *statement, lab_row_fn row, void *context,
	    struct error *err);

/* The views made for users and their columns, with their meanings, as the newest schema documents
 * them; needs no lab. column is NULL for the view itself. */
typedef void (*lab_view_fn)(void *context, const char *view, const char *column,
			    const char *meaning);
int lab_views(lab_view_fn each, void *context, struct error *err);

#endif
