/* Keeps the ledger with the programs in bpf/ledger.bpf.c, which run beside those of the bpf back
 * end. Private to collect/. */
#ifndef TARE_COLLECT_LEDGER_LEDGER_H
#define TARE_COLLECT_LEDGER_LEDGER_H

#include <sys/types.h>

#include "base/error.h"
#include "collect/speed/speed.h"
#include "record/ledger.h"
#include "record/trace.h"

struct bpf_link;
struct ledger_keeper;

enum ledger_attach {
	LEDGER_ATTACH_BEST,
	LEDGER_ATTACH_RAW, /* as on a kernel whose BTF lacks the tracepoints */
};

/* Begins ledger_keeper_open() in a thread of its own, so that the programs of the tree can be
 * loaded meanwhile: the two take the longest of tare's start. Call one of the two functions below
 * afterwards; members stays open until then. */
void ledger_keeper_expect(int members, bool trace, enum ledger_attach how);
void ledger_keeper_expect_no_more(void);

/* Loads without attaching. members is the fd of the map with the tree's processes. */
int ledger_keeper_open(struct ledger_keeper **out, int members, bool trace, enum ledger_attach how,
		       struct error *err);
/* ends is the program that handles the last switch of a task, so far attached by *link. It is
 * called by the ledger's program instead, and *link is dropped, if this kernel supports it. */
int ledger_keeper_attach(struct ledger_keeper *k, int ends, struct bpf_link **link,
			 struct error *err);
void ledger_keeper_close(struct ledger_keeper *k);

/* Nothing changes between stop and take. */
void ledger_keeper_arm(struct ledger_keeper *k);
/* For threads that already run: the ledger begins here and ends with stop. */
int ledger_keeper_arm_running(struct ledger_keeper *k, pid_t thread, pid_t process,
			      struct error *err);
void ledger_keeper_stop(struct ledger_keeper *k);
void ledger_keeper_take(struct ledger_keeper *k, struct ledger *ledger, struct trace *trace);

/* Who had a CPU before the thread that has it now, and how many events were counted there: for that
 * thread alone, since others see it change meanwhile. */
enum speed_turn ledger_keeper_turn(const struct ledger_keeper *k, uint32_t cpu, uint64_t *events);

/* The event stream of --trace: its map (-1: no trace), and the function that takes an event. */
int ledger_keeper_stream(const struct ledger_keeper *k);
int ledger_keeper_on_event(void *keeper, void *data, size_t size);

/* Whether the programs are active, and what they cost. */
uint32_t *ledger_keeper_active(struct ledger_keeper *k);
void ledger_keeper_set_cost(struct ledger_keeper *k, const double event_ns[LEDGER_EVENTS]);

/* Measures what an event costs in ns, beyond the call itself (about 20 ns). Call it in a separate
 * process that is the subject. It switches *active on and off. */
void ledger_cost_measure(uint32_t *active, double event_ns[LEDGER_EVENTS]);

#endif
