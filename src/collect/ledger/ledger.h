/* The keeper of the ledger: programs in bpf/ledger.bpf.c, beside those of the bpf back end. Private
 * to collect/. */
#ifndef TARE_COLLECT_LEDGER_LEDGER_H
#define TARE_COLLECT_LEDGER_LEDGER_H

#include <sys/types.h>

#include "base/error.h"
#include "record/ledger.h"
#include "record/trace.h"

struct bpf_link;
struct ledger_keeper;

enum ledger_attach {
	LEDGER_ATTACH_BEST,
	LEDGER_ATTACH_RAW, /* as on a kernel whose BTF lacks the tracepoints */
};

/* Loads without attaching. members: fd of the map of the tree's processes. */
int ledger_keeper_open(struct ledger_keeper **out, int members, bool trace, enum ledger_attach how,
		       struct error *err);
/* ends: the program that the last switch of a task is handed on to, attached so far by *link; that
 * link is then dropped, if this kernel can do so. */
int ledger_keeper_attach(struct ledger_keeper *k, int ends, struct bpf_link **link,
			 struct error *err);
void ledger_keeper_close(struct ledger_keeper *k);

/* Between stop and take nothing changes. */
void ledger_keeper_arm(struct ledger_keeper *k);
/* For threads that run already: the ledger begins here and ends with stop. */
int ledger_keeper_arm_running(struct ledger_keeper *k, pid_t thread, pid_t process,
			      struct error *err);
void ledger_keeper_stop(struct ledger_keeper *k);
void ledger_keeper_take(struct ledger_keeper *k, struct ledger *ledger, struct trace *trace);

/* The stream of --trace: its map, -1 without, and what takes an event from it. */
int ledger_keeper_stream(const struct ledger_keeper *k);
int ledger_keeper_on_event(void *keeper, void *data, size_t size);

/* Whether the programs are at work, and what they cost. */
uint32_t *ledger_keeper_active(struct ledger_keeper *k);
void ledger_keeper_set_cost(struct ledger_keeper *k, const double event_ns[LEDGER_EVENTS]);

/* What an event costs, in ns, beyond being called at all (some 20 ns). To be called in a process of
 * its own that is the subject; turns *active on and off. */
void ledger_cost_measure(uint32_t *active, double event_ns[LEDGER_EVENTS]);

#endif
