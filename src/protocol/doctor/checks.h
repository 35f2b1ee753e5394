/* The table of checks. checks.c has the table, judges.c the functions that its harder rows need,
 * and doctor.c applies both. */
#ifndef TARE_PROTOCOL_DOCTOR_CHECKS_H
#define TARE_PROTOCOL_DOCTOR_CHECKS_H

#include "protocol/doctor/doctor.h"

enum test {
	IS,	/* fires when the fact equals the operand */
	IS_NOT, /* ... is none of the operand's words (separated by "|") */
	ABOVE,	/* ... is a number above it */
	BELOW,
	LISTS, /* ... names something: it is neither "none" nor empty */
};

/* In texts "{}" is the value of the row's fact, "{key}" that of another fact, "{units}" the
 * services of the daemons that the row's fact lists, and "{words}" that list with spaces instead of
 * commas. A remedy that begins with "$ " is a command. */
struct check {
	const char *id, *source;
	const char *fact; /* without it the result is unknown */
	enum test test;
	const char *operand;
	enum severity severity; /* when it fires */
	const char *fine, *condition, *effect, *remedy;
	const char *also; /* a second fact, which must be known and not "0", "no" or "none" */
	/* Used instead of the test. Returns the severity and may replace the texts of *row, a
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
enum severity judge_smi(const struct machine *m, const char *value, struct check *row);
enum severity judge_reporting(const struct machine *m, const char *value, struct check *row);

/* Whether a fact is a number; if so, sets *number. */
bool fact_number(const char *value, double *number);

#endif
