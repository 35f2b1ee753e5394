/* Reads the kernel through one of three back ends behind one interface. The order of calls is:
 *
 * - collector_open(); collector_keep_ledger() if wanted
 * - collector_arm(): the next child that this process forks is a subject's root
 * - fork; collector_adopt(); collector_snapshot() of the tasks before
 * - while the subject runs, collector_drain() whenever collector_fd() is readable
 * - collector_root_end_ns(), wait4(), collector_reaped()
 * - collector_finish(): exits and totals; collector_take_ledger()
 * - collector_snapshot() of the tasks after */
#ifndef TARE_COLLECT_COLLECT_H
#define TARE_COLLECT_COLLECT_H

#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"
#include "collect/speed/speed.h"
#include "record/execution.h"

struct collector;

/* Says that collector_open() and collector_keep_ledger() will be called with the same arguments, so
 * that part of it is done beside the rest. */
void collector_expect_ledger(enum backend want, bool trace);

/* Opens the back end `want`, or with BACKENDS the best one that this process may use. */
int collector_open(struct collector **out, enum backend want, struct error *err);
void collector_close(struct collector *c);

/* Keeps the ledger from the next collector_arm() on, and with trace every event. Also measures what
 * its programs cost here, which takes some ms. Returns -1 with the reason if this back end or
 * kernel cannot; everything else still works. */
int collector_keep_ledger(struct collector *c, bool trace, struct error *err);
/* Call it after collector_finish(). .present is false if no ledger was kept. */
void collector_take_ledger(struct collector *c, struct ledger *ledger, struct trace *trace);

/* A speed_turn_fn of which the collector is the context. Says SPEED_TURN_UNKNOWN where no ledger is
 * kept: then nobody knows. */
enum speed_turn collector_turn(void *collector, uint32_t cpu, uint64_t *events);
bool collector_knows_turns(const struct collector *c);

enum backend collector_backend(const struct collector *c);
/* A sentence on what this back end does not see, and what would help. NULL: it sees everything. */
const char *collector_not_seen(const struct collector *c);

/* Every task now. The memory of the image is reused. The plain back end has no I/O of other users'
 * tasks. TASK_USER and TASK_SYSTEM are raw ticks from bpf and netlink; from plain they are scaled
 * by the kernel, so they split exec and are not a grade of their own. */
int collector_snapshot(struct collector *c, struct image *image, struct error *err);

/* From now on exits are kept, and the next process forked by this one is the subject's root. */
void collector_arm(struct collector *c);
int collector_adopt(struct collector *c, pid_t root, struct error *err);

/* From now on exits are kept, but there is no subject yet. Call it before the first snapshot of
 * what already runs, so that no task begins and ends unseen before it is armed. */
void collector_listen(struct collector *c);
/* Used instead of arm and adopt for a subject that already runs. From now on these threads are the
 * subject (with process, all its threads, including new ones), and so is what `maker` (0: nobody)
 * forks until finish. Exits are kept since collector_listen(), or without it from now on. The
 * ledger, if kept, begins at this call and ends with collector_disarm(). Such a subject has no
 * totals; use images and exits. */
struct collector_running {
	pid_t thread;  /* 0: none */
	pid_t process; /* 0: none */
	pid_t maker;
};
int collector_arm_running(struct collector *c, const struct collector_running *who,
			  struct error *err);
/* Ends the ledger of such a subject. Call it before collector_finish(). */
void collector_disarm(struct collector *c);

/* Readable when collector_drain() should be called; -1 if the back end has none. */
int collector_fd(const struct collector *c);
void collector_drain(struct collector *c);

/* Call it when the root has ended, before waiting for it. Returns when its last thread ended
 * (CLOCK_MONOTONIC), after waiting briefly for the record; 0 if unknown. */
uint64_t collector_root_end_ns(struct collector *c);

/* Appends the living processes of the tree to pids, including the root while it lives. */
typedef ARRAY(pid_t) pid_list;
void collector_members(struct collector *c, pid_list *pids);

/* Call it for every child that wait4() returned to this process between arm and finish: the root
 * and, because tare is a child subreaper, the orphans of its tree. Children from before arm are
 * ignored. It is the only source of totals for the plain back end. netlink needs it for exec to the
 * µs (an exit record lacks up to one tick of it) and when events were lost. */
void collector_reaped(struct collector *c, pid_t pid, const struct rusage *usage);

/* The CPU time that the tree of the running subject has used so far, what its root used before its
 * exec included; ABSENT_NS if this back end cannot say. */
uint64_t collector_used_ns(struct collector *c);

/* Stops keeping exits and returns them with the totals of the tree. What the root used before its
 * exec is in `base` and subtracted; base may be NULL. *lost: at least this many events were lost; a
 * measure that was affected is not present in the totals. */
void collector_finish(struct collector *c, const struct totals *base, struct image *exits,
		      struct totals *totals, uint64_t *lost);

/* The title (the beginning of the command line) that a process which `maker` forked had at its end.
 * Call it after collector_finish(); valid until the next snapshot. NULL: not seen. */
const char *collector_title(const struct collector *c, pid_t pid);
/* Whether this back end sees titles at all. */
bool collector_tells_titles(const struct collector *c);

/* Whether this build has a back end and whether it can be used here; why is "" if it can. */
void collector_probe(enum backend backend, bool *built, bool *usable, char why[256]);

/* System-wide measures now. */
void overall_read(struct overall *into);

/* Every fact about this machine (record/machine.h). */
struct machine;
void machine_read(struct machine *into);

#endif
