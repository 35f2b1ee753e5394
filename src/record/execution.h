/* The facts of one execution of a subject, and of a run: executions under the same conditions. */
#ifndef TARE_RECORD_EXECUTION_H
#define TARE_RECORD_EXECUTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "record/conditions.h"
#include "record/counter.h"
#include "record/field.h"
#include "record/ledger.h"
#include "record/speed.h"
#include "record/task.h"
#include "record/trace.h"

enum backend { BACKEND_PLAIN, BACKEND_NETLINK, BACKEND_BPF, BACKENDS };
extern const char *const backend_names[];
const char *backend_name(enum backend backend);

enum outcome {
	OUTCOME_EXITED,	   /* status is the exit code */
	OUTCOME_SIGNALLED, /* status is the signal */
	OUTCOME_TIMED_OUT, /* ended by tare at the time limit */
};
extern const char *const outcome_names[];

/* The grades of process time, best first. */
enum grade { GRADE_NET, GRADE_EXEC, GRADE_TICK, GRADES };
extern const char *const grade_names[];

/* The role of a process in an execution. */
enum role { ROLE_SUBJECT, ROLE_DAEMON, ROLE_SELF };
extern const char *const role_names[];

/* One process that ran during the execution: its threads summed, as differences over it. */
struct process {
	enum role role;
	bool kernel;	     /* a kernel thread */
	bool started, ended; /* within the execution */
	int32_t pid, ppid;
	uint64_t start_ns;		 /* CLOCK_BOOTTIME; with pid, its identity */
	uint32_t threads;		 /* threads seen */
	uint64_t present;		 /* as in task_record */
	uint64_t value[TASK_CUMULATIVE]; /* differences, by enum task_measure */
	uint64_t rss_peak_bytes;
	char name[17]; /* daemon_name() */
};

/* Its PT: from the scheduler or else from the ticks, for which both halves are needed. False:
 * unknown, and *ns is 0. */
bool process_pt_ns(const struct process *p, uint64_t *ns);

struct overall {
	uint64_t present; /* bit per enum overall_measure */
	uint64_t value[OVERALL_MEASURES];
};

/* What the subject's tree used, summed over every task that was ever in it. */
struct totals {
	uint64_t present;		 /* as in task_record */
	uint64_t value[TASK_CUMULATIVE]; /* by enum task_measure */
	uint64_t rss_peak_bytes;	 /* of the largest process; 0: unknown */
	uint32_t processes, threads;	 /* tasks that belonged to it (threads include leaders) */
};

struct execution {
	int64_t id;	 /* in the lab; 0 before it is stored */
	uint32_t number; /* from 1 within the run; warm-ups are counted separately */
	bool warmup;	 /* dropped by EMP's first rule */
	enum outcome outcome;
	int status;		/* exit code or signal */
	int64_t started_at_ns;	/* CLOCK_REALTIME */
	uint64_t et_ns;		/* of the subject's first process, from its exec to its end */
	uint64_t wait_ns;	/* likewise, until tare's wait returned */
	uint64_t tree_ns;	/* until the end of the last process of the tree */
	uint64_t pt_ns[GRADES]; /* ABSENT_NS if unknown */
	/* This execution's own split of exec by its ticks; ABSENT_NS if no tick fell on it. Below
	 * about 100 ms it is noise and must be pooled over the run (emp's user_share). With the
	 * plain back end it is the kernel's own split, which is all user without a tick. */
	uint64_t user_ns, system_ns;
	struct totals totals;
	double switches_per_s;
	uint32_t left_behind;	  /* processes of the tree still alive when the first one ended */
	uint32_t ended;		  /* of those, ended by tare */
	uint64_t lost;		  /* events the collector lost */
	int64_t ephemeral;	  /* tasks made but never seen; -1 if unknown */
	uint64_t self_ns;	  /* CPU time of tare within the timed window */
	struct speed_means speed; /* of the CPUs, while the subject had them */
	counter_list counters;	  /* of the tree; empty: none was read */
	struct overall before, after;
	ARRAY(struct process)
	processes; /* everything that ran: the subject's first, then by exec */
	/* The source of the processes; not stored. Empty if the back end has none. */
	struct image tasks_before, tasks_after, exits;
	struct ledger ledger; /* .present: it was kept */
	struct trace trace;   /* .present: it was asked for */
};

extern const struct field execution_fields[], process_fields[];
extern const struct shape execution_shape, process_shape, overall_shape;

/* One of which nothing is known yet: what can say so is absent, the rest is 0. */
struct execution execution_unknown(void);
void execution_release(struct execution *x);
/* Takes its lists, which x then lacks; the numbers are in both. Without images of tasks. */
struct execution execution_take(struct execution *x);
/* About how much memory it takes. */
size_t execution_bytes(const struct execution *x);
/* Clears it but keeps its memory for the next one. */
void execution_begin_again(struct execution *x);

/* Whether an execution that ended so counts: it exited with 0 or one of these codes, or failures
 * are ignored and it did not time out. */
bool outcome_counts(enum outcome outcome, int status, const int *codes, size_t count,
		    bool ignore_failure);
/* Whether it exited with 0 or one of these codes. */
bool execution_succeeded(const struct execution *x, const int *codes, size_t count);

/* The best grade this execution has, or GRADES if none. */
enum grade execution_grade(const struct execution *x);

/* Where its elapsed time went, in ns: by its ledger, or else by what the scheduler counted. */
struct execution_spent {
	double blocked_ns; /* all of it slept or was blocked on I/O */
	double queued_ns;  /* it was ready, but others had the CPU; NaN: not told from blocked_ns */
	/* on a CPU: over all threads, and while any of them was. NaN: there is no process time */
	double run_ns, run_wall_ns;
};
/* A share of the elapsed time that is blocked: what process time does not have of it cannot be
 * neglected from here on. */
#define SPENT_WAITING 0.1
struct execution_spent execution_spent(const struct execution *x, bool by_ledger);

enum run_status {
	RUN_GOING, /* its tare is working on it */
	RUN_COMPLETE,
	RUN_INTERRUPTED, /* by the user, or its tare is gone */
	RUN_FAILED,	 /* the subject failed or could not be started */
};
extern const char *const run_status_names[];

struct parameter {
	char *name, *value;
};

/* What a run measured. SUBJECT_SYSTEM is a profile of the system or a part of it. */
enum subject_kind {
	SUBJECT_COMMAND,
	SUBJECT_CPU,
	SUBJECT_SYSTEM,
	SUBJECT_QUERY,
	SUBJECT_DUET,
	SUBJECT_KINDS
};
extern const char *const subject_kind_names[SUBJECT_KINDS];

struct run {
	int64_t id; /* in the lab */
	enum subject_kind kind;
	int64_t invocation; /* of tare: shared by the runs of one command line */
	char *name;	    /* the user's name for it, or the command */
	char *command;	    /* as given, with parameters filled in; any bytes */
	char *shell;	    /* NULL: started without one */
	char *directory;
	struct conditions conditions;
	ARRAY(struct parameter) parameters;
	enum backend backend;
	char *not_seen; /* one sentence on what this back end could not see, or NULL */
	enum run_status status;
	int64_t started_at_ns, ended_at_ns; /* CLOCK_REALTIME; ended 0 while going */
	uint32_t planned;		    /* executions asked for; 0: open-ended */
	/* The median cost of the shell, which is subtracted from times. 0 without a shell. */
	uint64_t shell_et_ns, shell_pt_ns[GRADES];
	int64_t machine; /* id in the lab */
	char *version;	 /* of tare */
	char *tags;	 /* any text, may be NULL */
};

void run_release(struct run *run);

/* Calls each with each task of two images and the exits between them, process by process, leaders
 * first: its record in the first image (NULL: it did not exist yet) and its last one. An exec by a
 * thread leaves two ends of one task; the second call for it has TASK_ONCE_MORE and first NULL. */
enum task_stay { TASK_STAYED, TASK_ENDED, TASK_ONCE_MORE };
typedef void (*task_between_fn)(void *context, const struct task_record *first,
				const struct task_record *last, enum task_stay stay);
void tasks_between(const struct image *before, const struct image *after, const struct image *exits,
		   task_between_fn each, void *context);

/* Computes what every process used between two images, as differences. self is tare's pid.
 * processes must be zeroed; the subject's come first, then by exec descending. Processes that used
 * nothing are omitted unless they belong to the subject. Also sets into->ephemeral from
 * into->before and into->after: tasks that the kernel counted but nobody saw. */
void processes_between(const struct image *before, const struct image *after,
		       const struct image *exits, int32_t self, struct execution *into);

#endif
