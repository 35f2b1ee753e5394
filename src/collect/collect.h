/* Reading the kernel, through one of three back ends behind one interface. In this order:
 *
 * - collector_open(); collector_keep_ledger(), or not
 * - collector_arm(): the next child that this process forks is a subject's root
 * - fork; collector_adopt(); collector_snapshot() of the tasks before
 * - the subject runs; now and then collector_drain(), when collector_fd() says so
 * - collector_root_end_ns(), wait4(), collector_reaped()
 * - collector_finish(): exits and totals; collector_take_ledger(); collector_snapshot() of the
 * tasks after
 */
#ifndef TARE_COLLECT_COLLECT_H
#define TARE_COLLECT_COLLECT_H

#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"
#include "record/execution.h"

struct collector;

/* Opens the back end wanted, or the best this process may use when want is BACKENDS. */
int collector_open(struct collector **out, enum backend want, struct error *err);
void collector_close(struct collector *c);

/* From the next collector_arm() on the ledger is kept, and with trace every event. Also measures
 * what its programs cost here, some ms. -1 with the reason: this back end or this kernel cannot;
 * everything else works as before. */
int collector_keep_ledger(struct collector *c, bool trace, struct error *err);
/* After collector_finish(): the ledger of the execution; .present is false when none was kept. */
void collector_take_ledger(struct collector *c, struct ledger *ledger, struct trace *trace);

enum backend collector_backend(const struct collector *c);
/* One sentence: what this back end does not see, and what would let a better one be used. NULL: all
 * is seen. */
const char *collector_not_seen(const struct collector *c);

/* Every task now. Memory of the image is reused. Back end plain: without the I/O of other users'
 * tasks. TASK_USER and TASK_SYSTEM are raw ticks from bpf and netlink; from plain they are scaled
 * by the kernel, a split of exec and no grade of their own. */
int collector_snapshot(struct collector *c, struct image *image, struct error *err);

/* From now on exits are kept and the next process forked by this one roots the subject's tree.
 */
void collector_arm(struct collector *c);
int collector_adopt(struct collector *c, pid_t root, struct error *err);

/* From now on exits are kept; there is no subject yet. To be called before the first snapshot of
 * what runs already, so that no task comes and goes unseen until it is armed. */
void collector_listen(struct collector *c);
/* In place of arm and adopt, for what runs already: from now on these threads (with process: all of
 * that process, those it makes as well) are the subject, and so is what `maker` (0: nobody) forks
 * until finish. Exits are kept since collector_listen(), or from now on without it. The ledger,
 * where one is kept, begins at the instant of this call and ends with collector_disarm(). Totals
 * are not known of such a subject: images and exits tell. */
struct collector_running {
	pid_t thread;  /* 0: none */
	pid_t process; /* 0: none */
	pid_t maker;
};
int collector_arm_running(struct collector *c, const struct collector_running *who,
			  struct error *err);
/* The ledger of such a subject ends here; before collector_finish(). */
void collector_disarm(struct collector *c);

/* Readable when collector_drain() should be called; -1 when the back end has none. */
int collector_fd(const struct collector *c);
void collector_drain(struct collector *c);

/* To be called when the root has ended, before it is waited for. The end of its last thread,
 * CLOCK_MONOTONIC, waiting briefly for the record; 0 when not known. */
uint64_t collector_root_end_ns(struct collector *c);

/* The processes of the tree that are alive, appended to pids; the root included while it lives. */
typedef ARRAY(pid_t) pid_list;
void collector_members(struct collector *c, pid_list *pids);

/* To be called for every child that wait4() gave to this process between arm and finish: the root
 * and, since tare is a child subreaper, the orphans of its tree; children from before arm are
 * ignored. Back end plain knows totals from nothing else. netlink needs it for exec to the µs (an
 * exit record lacks up to one tick of it) and when events were lost. */
void collector_reaped(struct collector *c, pid_t pid, const struct rusage *usage);

/* Stops keeping exits and hands them over with the tree's totals. The root's use before its exec,
 * as in `base`, is taken off; base may be NULL. *lost: at least so many events were lost; a measure
 * of the totals that suffered by it is not present. */
void collector_finish(struct collector *c, const struct totals *base, struct image *exits,
		      struct totals *totals, uint64_t *lost);

/* Which back ends this build has and whether each may be used here: why is "" when it may. */
void collector_probe(enum backend backend, bool *built, bool *usable, char why[256]);

/* System-wide measures now. */
void overall_read(struct overall *into);

/* Every fact about this machine (record/machine.h). */
struct machine;
void machine_read(struct machine *into);

#endif
