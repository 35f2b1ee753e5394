/* Daemons known to be unnecessary during measurements, and a few that matter for other reasons: the
 * papers' lists (EMP appendix C, TTPv2 appendix A) with current names added. */
#ifndef TARE_RECORD_NONCRITICAL_H
#define TARE_RECORD_NONCRITICAL_H

#include <stdbool.h>
#include <stddef.h>

enum daemon_kind {
	DAEMON_TIMED,	/* starts jobs at times of the day */
	DAEMON_UPDATES, /* fetches or installs software */
	DAEMON_INDEX,	/* walks file systems */
	DAEMON_SERVICE, /* serves something that a measurement does not need */
	DAEMON_DESKTOP, /* a graphical session */
	DAEMON_POWER,	/* changes frequencies or idle states */
	DAEMON_IRQ,	/* moves interrupts between CPUs */
	DAEMON_NTP,	/* keeps the clock: wanted */
	DAEMON_KINDS,
};

struct known_daemon {
	const char *comm; /* as the kernel shows it: at most 15 bytes */
	enum daemon_kind kind;
	const char *unit; /* systemd unit that stops it; NULL: none of its own */
	bool paper;	  /* in the list of EMP or TTPv2 */
};

extern const struct known_daemon known_daemons[];
extern const size_t known_daemon_count;

const struct known_daemon *known_daemon_find(const char *comm); /* NULL: unknown */

/* The fact (record/machine.h) that lists the running ones of a kind; "none" if there are none. */
const char *daemon_kind_fact(enum daemon_kind kind);

#endif
