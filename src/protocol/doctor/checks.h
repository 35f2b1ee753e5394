/* The table of checks: checks.c is data, judges.c the functions that its harder rows
 * need, doctor.c applies them. */
#ifndef TARE_PROTOCOL_DOCTOR_CHECKS_H
#define TARE_PROTOCOL_DOCTOR_CHECKS_H

#include "protocol/doctor/doctor.h"

enum test {
	IS,	/* fires when the fact equals the operand */
	IS_NOT, /* ... is none of the operand's words (separated by "|") */
	ABOVE,	/* ... is a number above it */
	BELOW,
	LISTS, /* ... names something: is neither "none" nor empty */
};

/* In texts "{}" is the value of the row's fact, "{key}" that of any other, "{units}" the services
 * of the daemons that the row's fact lists, "{words}" that list with spaces instead of commas. A
 * remedy that begins with
 * "$ " is a command. */
struct check {
	const char *id, *source;
	const char *fact; /* without it the check is not known */
	enum test test;
	const char *operand;
	enum severity severity; /* when it fires */
	const char *fine, *condition, *effect, *remedy;
	const char *also; /* a second fact that must be known and not "0", "no" or "none" to fire */
	/* Instead of the test. Says the severity, and may replace any of the four texts in *row, a
	 * copy. */
	enum severity (*judge)(const struct machine *m, const char *value, struct check *row);
};

extern const struct check doctor_checks[];
extern const size_t doctor_checks_count;

enum severity judge_clock(const struct machine *m, const char *value, struct check *row);
enum severity judge_kernel(const struct machine *m, const char *value, struct check *row);
enum severity judge_clocksource(const struct machine *m, const char *value, struct check *row);
enum severity judge_steal(const struct machine *m, const char *value, struct check *row);
enum severity judge_load(const struct machine *m, const char *value, struct check *row);
enum severity judge_memory(const struct machine *m, const char *value, struct check *row);
enum severity judge_privilege(const struct machine *m, const char *value, struct check *row);
enum severity judge_paranoid(const struct machine *m, const char *value, struct check *row);
enum severity judge_quota(const struct machine *m, const char *value, struct check *row);
enum severity judge_affinity(const struct machine *m, const char *value, struct check *row);
enum severity judge_directory(const struct machine *m, const char *value, struct check *row);
enum severity judge_disk(const struct machine *m, const char *value, struct check *row);
enum severity judge_scheduler(const struct machine *m, const char *value, struct check *row);
enum severity judge_frequency_range(const struct machine *m, const char *value, struct check *row);
enum severity judge_numa(const struct machine *m, const char *value, struct check *row);
enum severity judge_daemons(const struct machine *m, const char *value, struct check *row);
enum severity judge_timers(const struct machine *m, const char *value, struct check *row);
enum severity judge_reporting(const struct machine *m, const char *value, struct check *row);

/* Whether a fact is a number, and which. */
bool fact_number(const char *value, double *number);

#endif
