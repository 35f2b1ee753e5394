/* A quiet machine: EMP v1-v3 and what tuned, pyperf and temci know, as one table of knobs. What was
 * there before is in a journal on disk before the first write, and is put back by quiet_restore(),
 * also after the tare that changed it was killed. */
#ifndef TARE_QUIET_QUIET_H
#define TARE_QUIET_QUIET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"
#include "base/cpus.h"
#include "base/error.h"

/* One thing that can be changed; a knob may be many files (one per CPU, per IRQ, per service). */
struct quiet_knob {
	const char *name; /* "turbo", "governor", "services", ...; what --only and --except take */
	const char *source; /* who asks for it: "EMP v3", "tuned", "pyperf" */
	const char *effect; /* one sentence: what it quiets */
	bool by_default;    /* changed unless excepted; others only when named */
	bool isolates;	    /* only where CPUs to isolate are given */
};
extern const struct quiet_knob quiet_knobs[]; /* ends with a name of NULL */

struct quiet_options {
	const char *root;    /* a directory that stands for /; NULL or "": the machine itself. With
				one, services are not touched */
	const char *journal; /* NULL: quiet.journal in the runtime directory (/run/tare, beneath
				root) */
	const char *const *only, *const *except; /* names of knobs; "default" in only stands for
						    those of by_default */
	size_t only_count, except_count;
	const uint32_t *isolate; /* CPUs to keep everything else from; NULL: none */
	size_t isolate_count;
	const char *const *services, *const *keep_services; /* also stop these; never stop these */
	size_t service_count, keep_service_count;
	bool force; /* quiet_restore(): also what somebody else changed meanwhile */
	/* Called before and after each change and each restoring of one, where a test may end the
	 * process; NULL: not. */
	void (*step)(void *context);
	void *context;
};

enum quiet_state {
	QUIET_WOULD_CHANGE, /* of a plan */
	QUIET_CHANGED,
	QUIET_ALREADY, /* as wanted already */
	QUIET_ABSENT,  /* this machine has no such knob */
	QUIET_REFUSED, /* the kernel, or a read-only file system, said no; why tells */
	QUIET_RESTORED,
	QUIET_LEFT, /* somebody else changed it meanwhile: not put back; why tells */
	QUIET_STATES,
};
const char *quiet_state_name(enum quiet_state s); /* "would change", "changed", "as wanted", ... */

struct quiet_item {
	const char *knob;
	char *what;	      /* a path without the root, or "service cron.service" */
	char *before, *after; /* after: what is wanted; NULL where not known */
	enum quiet_state state;
	char *why; /* NULL: nothing to say */
};
typedef ARRAY(struct quiet_item) quiet_list;
void quiet_list_release(quiet_list *list);

/* What would be changed; nothing is. */
int quiet_plan(const struct quiet_options *o, quiet_list *out, struct error *err);

/* Changes it: all prior values are journalled and on disk before the first write. EXIT_USAGE: the
 * machine is quiet already (says whose doing); EXIT_ENVIRONMENT: not root, or the journal cannot be
 * written: nothing was changed. A knob that refuses does not stop the others. owner: the pid that
 * wants it; when that is gone, the next tare restores. 0: it stays until quiet_restore(). */
int quiet_apply(const struct quiet_options *o, int owner, quiet_list *out, struct error *err);

/* Puts back exactly what was there, last change first, then removes the journal. No journal, or
 * another process is at it: done, out is empty. What fails stays in the journal, and -1. */
int quiet_restore(const struct quiet_options *o, quiet_list *out, struct error *err);
/* The same of what this process was made quiet for; another's, or nobody's, is left. */
int quiet_restore_own(const struct quiet_options *o, int owner, quiet_list *out, struct error *err);
/* The same of what nobody answers for: its owner is gone, or it is of an earlier boot. */
int quiet_restore_abandoned(const struct quiet_options *o, quiet_list *out, struct error *err);

/* Who holds the machine quiet. */
struct quiet_status {
	bool quiet;	  /* there is a journal */
	bool abandoned;	  /* its owner is gone: it should be restored */
	bool stale;	  /* of an earlier boot: nothing of it is in force */
	int owner;	  /* 0: nobody's, stays until restored */
	int64_t since_ns; /* CLOCK_REALTIME */
	size_t changes;
};
int quiet_look(const struct quiet_options *o, struct quiet_status *out, struct error *err);

/* Whether this process could have something to restore: one call of the kernel where not. */
bool quiet_is_journalled(const struct quiet_options *o);

/* Moves a process onto the isolated CPUs, where quiet_apply() made a partition of them: nothing
 * else may run there. None was made: done. */
int quiet_enter(const struct quiet_options *o, int pid, struct error *err);

/* Why a service is never stopped: it keeps the machine reachable or alive. NULL: it may be. */
const char *quiet_kept(const char *service);

#endif
