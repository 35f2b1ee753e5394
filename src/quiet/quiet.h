/* A quiet machine: EMP v1-v3 and what tuned, pyperf and temci do, as one table of knobs. Previous
 * values are in a journal on disk before the first write. quiet_restore() restores them, even after
 * the tare that changed them was killed. */
#ifndef TARE_QUIET_QUIET_H
#define TARE_QUIET_QUIET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"
#include "base/cpus.h"
#include "base/error.h"

/* One thing that can be changed. It may be many files (one per CPU, per IRQ, per service). */
struct quiet_knob {
	const char
		*name; /* "turbo", "governor", "services", ...: the names for --only and --except */
	const char *source; /* what asks for it: "EMP v3", "tuned", "pyperf" */
	const char *effect; /* one sentence: what it quiets */
	bool by_default;    /* changed unless excepted; others only if named */
	bool isolates;	    /* only if there are CPUs to isolate */
};
extern const struct quiet_knob quiet_knobs[]; /* ends with a name of NULL */

struct quiet_options {
	const char *root; /* a directory used as /; NULL or "": the machine itself. With one,
			     services are not touched */
	const char
		*journal; /* NULL: quiet.journal in the runtime directory (/run/tare, below root) */
	const char *const *only,
		*const *except; /* names of knobs; "default" in only selects those of by_default */
	size_t only_count, except_count;
	const uint32_t *isolate; /* CPUs to keep free of everything else; NULL: none */
	size_t isolate_count;
	const char *const *services, *const *keep_services; /* also stop these; never stop these */
	size_t service_count, keep_service_count;
	bool force; /* quiet_restore(): also restore what somebody else changed meanwhile */
	/* Called before and after each change and restore, where a test may end the process; or
	 * NULL. With it, no guard restores. */
	void (*step)(void *context);
	void *context;
};

enum quiet_state {
	QUIET_WOULD_CHANGE, /* in a plan */
	QUIET_CHANGED,
	QUIET_ALREADY, /* it already has the wanted value */
	QUIET_ABSENT,  /* this machine has no such knob */
	QUIET_REFUSED, /* refused by the kernel or a read-only file system; see why */
	QUIET_RESTORED,
	QUIET_LEFT, /* not restored because somebody else changed it meanwhile; see why */
	QUIET_STATES,
};
const char *quiet_state_name(enum quiet_state s); /* "would change", "changed", "as wanted", ... */

struct quiet_item {
	const char *knob;
	char *what;	      /* a path without the root, or "service cron.service" */
	char *before, *after; /* after: the wanted value; NULL: unknown */
	enum quiet_state state;
	char *why; /* NULL: none */
};
typedef ARRAY(struct quiet_item) quiet_list;
void quiet_list_release(quiet_list *list);

/* Lists what would be changed, without changing it. */
int quiet_plan(const struct quiet_options *o, quiet_list *out, struct error *err);

/* Makes the changes. All previous values are journalled and on disk before the first write.
 * EXIT_USAGE: the machine is already quiet (says by whom). EXIT_ENVIRONMENT: not root, or the
 * journal cannot be written; nothing was changed. A knob that refuses does not stop the others.
 * owner is the pid that wants it; when that is gone, the next tare restores. 0: it stays until
 * quiet_restore(). */
int quiet_apply(const struct quiet_options *o, int owner, quiet_list *out, struct error *err);

/* Restores exactly the previous values, last change first, then removes the journal. If there is no
 * journal, or another process is restoring, it succeeds with out empty. What fails stays in the
 * journal, and it returns -1. */
int quiet_restore(const struct quiet_options *o, quiet_list *out, struct error *err);
/* Like quiet_restore(), if this owner made the machine quiet. Otherwise nothing is restored. What
 * others use (quiet_use()) is left to them. */
int quiet_restore_own(const struct quiet_options *o, int owner, quiet_list *out, struct error *err);
/* Likewise, if the owner is gone or the journal is from an earlier boot. */
int quiet_restore_abandoned(const struct quiet_options *o, quiet_list *out, struct error *err);

/* Changes one knob for as long as somebody uses it. Several processes may, and the last one, which
 * need not be the one that changed it, restores it; after a kill -9 the next user or tare does. On
 * success *use is to be given to quiet_unuse(); otherwise it is -1. */
int quiet_use(const struct quiet_options *o, const char *knob, int *use, struct error *err);
/* Sets *use to -1; does nothing if it is. */
int quiet_unuse(const struct quiet_options *o, int *use, struct error *err);

/* Whether the machine is quiet, and who wanted it. */
struct quiet_status {
	bool quiet;	  /* there is a journal */
	bool abandoned;	  /* its owner is gone, so it should be restored */
	bool left;	  /* its owner has ended, and others still use what it changed */
	bool stale;	  /* from an earlier boot: nothing of it is in force */
	int owner;	  /* 0: nobody; it stays until restored */
	int64_t since_ns; /* CLOCK_REALTIME */
	size_t changes;
};
int quiet_look(const struct quiet_options *o, struct quiet_status *out, struct error *err);

/* Whether this process might have something to restore. It costs one system call if not. */
bool quiet_is_journalled(const struct quiet_options *o);

/* Moves a process onto the isolated CPUs if quiet_apply() made a partition of them, where nothing
 * else may run. Succeeds if there is none. */
int quiet_enter(const struct quiet_options *o, int pid, struct error *err);
/* The process that entered has ended: the guard has nothing to end there any more. */
void quiet_left(void);

/* Why a service is never stopped: it keeps the machine reachable or alive. NULL: it may be. */
const char *quiet_kept(const char *service);

#endif
