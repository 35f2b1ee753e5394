/* tare calibrate: the options, and which of its ways they mean. */
#include "cmd/calibrate/calibrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/profile/profile.h"

#define SHORT_DEFAULT "1s:120"
#define KEEP_DEFAULT "200MB"
#define SMALLEST_KEEP 1000000u
#define SHORTEST_NS 1000000u
#define LONGEST_NS (UINT64_C(30) * 86400 * 1000000000u)

#define BIT(mode) (1u << (mode))

/* ---- values ---- */

/* "128s:800" */
static int parse_part(const char *option, const char *text, struct calibrate_part *into,
		      struct error *err)
{
	const char *colon = strrchr(text, ':');
	char time[32];
	long samples;
	size_t n = colon ? (size_t)(colon - text) : 0;
	if (!n || n >= sizeof time)
		return cmd_refuse(err, "calibrate", option, text,
				  "a time and a count, such as " SHORT_DEFAULT);
	snprintf(time, sizeof time, "%.*s", (int)n, text);
	if (!duration_parse(time, &into->length_ns) ||
	    !integer_parse(colon + 1, 0, INT32_MAX, &samples))
		return cmd_refuse(err, "calibrate", option, text,
				  "a time and a count, such as " SHORT_DEFAULT);
	if (into->length_ns < SHORTEST_NS || into->length_ns > LONGEST_NS)
		return cmd_refuse(err, "calibrate", option, text, "a time from 1ms to 30 days");
	if (samples < STUDY_LEAST || samples > STUDY_MOST)
		return cmd_refuse(err, "calibrate", option, text, "a count from 6 to 100000");
	into->samples = (uint32_t)samples;
	return 0;
}

/* "2h": so long ago; or a date with a time, local. */
static int parse_moment(const char *option, const char *text, int64_t *into, struct error *err)
{
	static const char *const forms[] = { "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M",
					     "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d" };
	uint64_t ago;
	if (duration_parse(text, &ago) && ago < (uint64_t)clock_realtime_ns()) {
		*into = clock_realtime_ns() - (int64_t)ago;
		return 0;
	}
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		struct tm at = { .tm_isdst = -1 };
		const char *end = strptime(text, forms[i], &at);
		time_t seconds = end && !*end ? mktime(&at) : -1;
		if (seconds > 0) {
			*into = (int64_t)seconds * 1000000000;
			return 0;
		}
	}
	return cmd_refuse(err, "calibrate", option, text,
			  "a time ago such as 2h, or one such as '2026-11-15 09:30'");
}

static int parse_lengths(struct calibrate_options *o, struct error *err)
{
	if (o->lengths.count > STUDY_LENGTHS)
		return error_set(err, EXIT_USAGE,
				 "calibrate: --length is given %zu times; a study has a short and "
				 "a long run",
				 o->lengths.count);
	for (size_t i = 0; i < o->lengths.count; i++)
		if (!duration_parse(o->lengths.items[i], &o->windows_ns[i]) ||
		    o->windows_ns[i] < SHORTEST_NS || o->windows_ns[i] > LONGEST_NS)
			return cmd_refuse(err, "calibrate", "length", o->lengths.items[i],
					  "a time from 1ms to 30 days");
	uint64_t a = o->windows_ns[STUDY_SHORT], b = o->windows_ns[STUDY_LONG];
	if (b && a == b)
		return error_set(err, EXIT_USAGE, "calibrate: --length is given the same twice");
	if (b && b < a) {
		o->windows_ns[STUDY_SHORT] = b;
		o->windows_ns[STUDY_LONG] = a;
	}
	return 0;
}

static int parse_values(struct calibrate_options *o, struct error *err)
{
	bool all = o->cpus && strcmp(o->cpus, "all") == 0;
	if (o->cpus && !all && !cpus_parse(o->cpus, &o->cpu_set))
		return cmd_refuse(err, "calibrate", "cpu", o->cpus, "a list such as 0,2-3, or all");
	if (o->cpus && o->mode == CALIBRATE_FROM_WATCH && (all || CPU_COUNT(&o->cpu_set) != 1))
		return cmd_refuse(err, "calibrate", "cpu", o->cpus, "one CPU with --from-watch");
	if (o->cpus && (all || o->mode == CALIBRATE_ACTIVE) &&
	    cpus_choose_set(o->cpus, &o->cpu_set, err))
		return -1;
	if (o->since && parse_moment("since", o->since, &o->since_ns, err))
		return -1;
	if (o->until && parse_moment("until", o->until, &o->until_ns, err))
		return -1;
	if (o->since_ns && o->until_ns && o->since_ns >= o->until_ns)
		return error_set(err, EXIT_USAGE, "calibrate: --since is not before --until");
	if (o->mode == CALIBRATE_ACTIVE || o->mode == CALIBRATE_CONTINUE) {
		const struct calibrate_part *p = o->parts;
		const char *first = o->short_run || o->mode != CALIBRATE_ACTIVE ? o->short_run
										: SHORT_DEFAULT;
		if ((first && parse_part("short", first, &o->parts[STUDY_SHORT], err)) ||
		    (o->long_run && parse_part("long", o->long_run, &o->parts[STUDY_LONG], err)))
			return -1;
		if (o->long_run && p[STUDY_LONG].length_ns <= p[STUDY_SHORT].length_ns)
			return error_set(err, EXIT_USAGE,
					 "calibrate: the long run's program must take longer than "
					 "the short run's");
		return 0;
	}
	if (o->mode == CALIBRATE_WATCH) {
		const char *keep = o->keep ? o->keep : KEEP_DEFAULT;
		if (*o->watch && (!duration_parse(o->watch, &o->duration_ns) || !o->duration_ns))
			return cmd_refuse(err, "calibrate", "watch", o->watch,
					  "how long, such as 8h");
		if (!profile_size_parse(keep, &o->keep_bytes) ||
		    (o->keep_bytes && o->keep_bytes < SMALLEST_KEEP))
			return cmd_refuse(err, "calibrate", "keep", keep,
					  "a size of 1MB or more, or 0 for all");
		return 0;
	}
	long number;
	if (o->mode != CALIBRATE_REMOVE)
		return parse_lengths(o, err);
	if (!integer_parse(o->watch_rm, 1, INT64_MAX, &number)) {
		cmd_refuse(err, "calibrate", "watch-rm", o->watch_rm, "the number of a watch");
		return error_hint(err, "'tare calibrate --watch-status' lists them");
	}
	o->removed = number;
	return 0;
}

/* ---- which way ---- */

static const struct {
	const char *option;
	enum lab_need lab;
	int (*go)(const struct calibrate_options *o, struct error *err);
} ways[CALIBRATE_MODES] = {
	[CALIBRATE_ACTIVE] = { "--active", WRITES_LAB, calibrate_active },
	[CALIBRATE_CONTINUE] = { "--continue", EDITS_LAB, calibrate_active },
	[CALIBRATE_WATCH] = { "--watch", WRITES_LAB, calibrate_watch },
	[CALIBRATE_STATUS] = { "--watch-status", READS_LAB, calibrate_watch_status },
	[CALIBRATE_STOP] = { "--watch-stop", READS_LAB, calibrate_watch_stop },
	[CALIBRATE_REMOVE] = { "--watch-rm", EDITS_LAB, calibrate_watch_remove },
	[CALIBRATE_FROM_WATCH] = { "--from-watch", EDITS_LAB, calibrate_from_watch },
	[CALIBRATE_FROM] = { "--from", EDITS_LAB, calibrate_from },
};

static int choose_mode(struct calibrate_options *o, struct error *err)
{
	const bool given[CALIBRATE_MODES] = { o->active,	o->resume != NULL,
					      o->watch != NULL, o->watch_status,
					      o->watch_stop,	o->watch_rm != NULL,
					      o->from_watch,	o->from != NULL };
	const char *first = NULL;
	o->mode = CALIBRATE_ACTIVE;
	for (unsigned m = 0; m < CALIBRATE_MODES; m++) {
		if (!given[m] || (m == CALIBRATE_ACTIVE && o->resume))
			continue;
		if (first)
			return error_set(err, EXIT_USAGE,
					 "calibrate: %s and %s are different things", first,
					 ways[m].option);
		first = ways[m].option;
		o->mode = (enum calibrate_mode)m;
	}
	return 0;
}

/* Options that mean nothing there are no oversight to pass over. */
static int check_belonging(const struct calibrate_options *o, struct error *err)
{
	const unsigned active = BIT(CALIBRATE_ACTIVE) | BIT(CALIBRATE_CONTINUE);
	const unsigned studies = active | BIT(CALIBRATE_FROM_WATCH) | BIT(CALIBRATE_FROM);
	const struct {
		const char *option;
		bool given;
		unsigned modes;
	} belonging[] = {
		{ "short", o->short_run, active },
		{ "long", o->long_run, active },
		{ "cpu", o->cpus, active | BIT(CALIBRATE_FROM_WATCH) },
		{ "backend", o->backend != 0, active },
		{ "foreground", o->foreground, BIT(CALIBRATE_WATCH) },
		{ "keep", o->keep, BIT(CALIBRATE_WATCH) },
		{ "length", o->lengths.count > 0, BIT(CALIBRATE_FROM_WATCH) },
		{ "since", o->since, BIT(CALIBRATE_FROM_WATCH) },
		{ "until", o->until, BIT(CALIBRATE_FROM_WATCH) },
		{ "plot", o->plot, studies },
		{ "steady", o->steady != 0, studies },
		{ "no-store", o->no_store, studies },
		{ "json", o->json, studies | BIT(CALIBRATE_STATUS) },
	};
	for (size_t i = 0; i < sizeof belonging / sizeof *belonging; i++)
		if (belonging[i].given && !(belonging[i].modes & BIT(o->mode)))
			return error_set(err, EXIT_USAGE, "calibrate: --%s does not go with %s",
					 belonging[i].option, ways[o->mode].option);
	if (o->json && o->plot)
		return error_set(err, EXIT_USAGE, "calibrate: --plot is no JSON");
	return 0;
}

/* What may stand after the option without "=". */
static int take_operands(struct calibrate_options *o, const text_list *operands, struct error *err)
{
	const char **into = o->mode == CALIBRATE_WATCH && !*o->watch	   ? &o->watch
			    : o->mode == CALIBRATE_CONTINUE && !*o->resume ? &o->resume
			    : o->mode == CALIBRATE_FROM			   ? &o->second
									   : NULL;
	size_t first = 0;
	if (into && operands->count)
		*into = operands->items[first++];
	if (first == operands->count)
		return 0;
	char shown[64];
	text_display(operands->items[first], shown, sizeof shown);
	error_set(err, EXIT_USAGE, "calibrate: unexpected '%s'", shown);
	return o->mode == CALIBRATE_ACTIVE
		       ? error_hint(err, "'tare calibrate --from RUN' studies a stored run")
		       : -1;
}

static int run(void *options, const struct cmd_args *args, struct error *err)
{
	struct calibrate_options *o = options;
	if (choose_mode(o, err) || take_operands(o, &args->operands, err) ||
	    check_belonging(o, err) || parse_values(o, err))
		return -1;
	bool from = o->mode == CALIBRATE_FROM || o->mode == CALIBRATE_FROM_WATCH;
	o->lab->need = from && o->no_store ? READS_LAB : ways[o->mode].lab;
	o->args = args;
	return ways[o->mode].go(o, err) ? -1 : EXIT_DONE;
}

#define USAGE                                                                    \
	"tare calibrate [--short TIME:NUM] [--long TIME:NUM] [OPTIONS]\n"        \
	"       tare calibrate --watch [TIME] | --watch-status | --watch-stop\n" \
	"       tare calibrate --from-watch [OPTIONS] | --from SHORT [LONG] | --continue"
#define ABOUT                                                                            \
	"Finds this machine's long-running daemons, their periods, and the cutoffs by\n" \
	"which 'tare time' drops the executions that they disturbed.\n"

int cmd_calibrate(struct lab_access *lab, int argc, char **argv)
{
	struct calibrate_options o = { .lab = lab };
	struct option_spec specs[] = {
		{ 0, "active", OPTION_FLAG, &o.active, NULL,
		  "study by executions of 'tare inc' (the default)", .rare = true },
		{ 0, "short", OPTION_TEXT, &o.short_run, "TIME:NUM",
		  "the short run (default: " SHORT_DEFAULT "; the paper's: 128s:800)" },
		{ 0, "long", OPTION_TEXT, &o.long_run, "TIME:NUM",
		  "a long run, too (the paper's: 16384s:40)" },
		{ 0, "cpu", OPTION_TEXT, &o.cpus, "LIST", "pin to these; the CPU of the windows" },
		{ 0, "continue", OPTION_OPTIONAL, &o.resume, "RUN",
		  "go on with a study that was interrupted" },
		{ 0, "watch", OPTION_OPTIONAL, &o.watch, "TIME",
		  "record every process in the background" },
		{ 0, "watch-status", OPTION_FLAG, &o.watch_status, NULL,
		  "what the watch does, and what is on record" },
		{ 0, "watch-stop", OPTION_FLAG, &o.watch_stop, NULL, "end the watch" },
		{ 0, "watch-rm", OPTION_TEXT, &o.watch_rm, "WATCH",
		  "remove a watch from what is on record", .rare = true },
		{ 0, "foreground", OPTION_FLAG, &o.foreground, NULL, "watch until Ctrl-C",
		  .rare = true },
		{ 0, "keep", OPTION_TEXT, &o.keep, "SIZE",
		  "of what was watched (default: " KEEP_DEFAULT "; 0: all)", .rare = true },
		{ 0, "from-watch", OPTION_FLAG, &o.from_watch, NULL,
		  "study windows cut from what was watched" },
		{ 0, "length", OPTION_TEXTS, &o.lengths, "TIME",
		  "of the windows; a second one is the long run" },
		{ 0, "since", OPTION_TEXT, &o.since, "TIME", "windows from then on, as 2h ago",
		  .rare = true },
		{ 0, "until", OPTION_TEXT, &o.until, "TIME", "windows before then", .rare = true },
		{ 0, "from", OPTION_TEXT, &o.from, "SHORT", "study a stored run, or two" },
		{ 0, "steady", OPTION_CHOICE, &o.steady, "auto|yes|no",
		  "compare samples without the variation of the CPU's speed", .rare = true },
		{ 0, "no-store", OPTION_FLAG, &o.no_store, NULL,
		  "show the study; the cutoffs in force stay", .rare = true },
		{ 0, "plot", OPTION_FLAG, &o.plot, NULL,
		  "samples over time, and each zoom as a scatter plot" },
		{ 0, "json", OPTION_FLAG, &o.json, NULL, "the study or the status as JSON" },
		{ 'q', "quiet", OPTION_FLAG, &o.quiet, NULL, "no text, no progress", .rare = true },
		{ 0, "backend", OPTION_CHOICE, &o.backend, "auto|bpf|netlink|plain",
		  "how to read the kernel", .rare = true },
		LAB_OPTION(lab, "the lab"),
		{ 0 }
	};
	int code = cmd_run(USAGE, ABOUT, specs, argc, argv, run, &o);
	array_release(&o.lengths);
	return code;
}
