/* Queries and controls systemd units over the bus. Private to quiet/. */
#ifndef TARE_QUIET_SYSTEMD_H
#define TARE_QUIET_SYSTEMD_H

#include <stdbool.h>

#include "base/error.h"
#include "base/options.h"

struct systemd;

bool systemd_runs(void); /* it is this machine's init */
/* EXIT_ENVIRONMENT also if tare was built without it. */
int systemd_open(struct systemd **out, struct error *err);
void systemd_close(struct systemd *s);

enum unit_state {
	UNIT_ABSENT,  /* not loaded, or not running */
	UNIT_RUNNING, /* active, with something to stop */
	UNIT_DONE,    /* active, but without a running process */
	UNIT_WORKING, /* starting, reloading, or a job that will end by itself */
	UNIT_STOPPING,
	UNIT_PASSING, /* running, but gone for good once it is stopped */
	UNIT_UNKNOWN, /* systemd did not answer */
};
/* id: the unit's own name if the given one is an alias. */
enum unit_state systemd_state(struct systemd *s, const char *unit, char id[256]);

/* The names of all active units with this suffix (".timer"). */
int systemd_active(struct systemd *s, const char *suffix, word_list *out, struct error *err);
/* The sockets, paths and timers that would start the unit again. */
int systemd_triggers(struct systemd *s, const char *unit, word_list *out, struct error *err);

/* Starts or stops the unit and waits until that is done. A signal ends the wait for a stop. */
int systemd_turn(struct systemd *s, const char *unit, bool on, struct error *err);

#endif
