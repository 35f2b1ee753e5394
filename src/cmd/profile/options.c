/* What tare profile record and start are told. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/profile/profile.h"
#include "report/core/json.h"

#define SHORTEST_SLICE_NS 100000000u
#define LONGEST_SLICE_NS 3600000000000u
#define SHORTEST_NS 10000000u  /* of a duration */
#define SMALLEST_KEEP 1000000u /* below, dictionaries alone would not fit */
#define BACKGROUND_KEEP 500000000u
#define EVENT_HZ 997 /* a prime: programs with periods of 1 ms are not in phase with it */

static const enum profile_stacks stack_choices[] = { STACKS_EH_FRAME, STACKS_POINTERS,
						     STACKS_NONE };

void profile_record_specs(spec_list *into, struct profile_options *o)
{
	const struct option_spec what[] = {
		{ 'a', "all", OPTION_FLAG, &o->all, NULL, "the whole system (the default)" },
		{ 'p', "pid", OPTION_TEXT, &o->pids, "PID[,PID]",
		  "processes, and what they start" },
		{ 0, "cgroup", OPTION_TEXT, &o->cgroup, "PATH", "what runs in a cgroup" },
		{ 'c', "cpus", OPTION_TEXT, &o->cpus, "LIST", "CPUs, as 1,4-7 or all (default)" },
		{ 'd', "duration", OPTION_DURATION, &o->duration_ns, "TIME",
		  o->background ? "how long (default: until stopped)"
				: "how long (default: until Ctrl-C or the end)" },
		{ 'F', "frequency", OPTION_TEXT, &o->frequency, "HZ",
		  "samples a second, tick or max (default: tick)" },
		{ 0, "event", OPTION_TEXT, &o->event, "EVENT",
		  "what samples: cpu-clock, cycles, cache-misses, page-faults, ..." },
		{ 0, "period", OPTION_INTEGER, &o->period, "NUM",
		  "of an event: a sample for each NUM of it", .min = 1, .max = INT64_MAX },
		{ 'g', NULL, OPTION_FLAG, &o->callers, NULL, "with callers: --stacks eh_frame" },
		{ 0, "stacks", OPTION_CHOICE, &o->stacks, "eh_frame|fp|none",
		  "how callers are found (default: none)" },
		{ 0, "user-only", OPTION_FLAG, &o->user_only, NULL, "nothing of the kernel" },
		{ 0, "slice", OPTION_DURATION, &o->slice_ns, "TIME",
		  "what is told apart in time (default: 10s)" },
		{ 0, "keep", OPTION_TEXT, &o->keep, "SIZE",
		  o->background ? "at most SIZE of this run (default: 500MB; 0: all)"
				: "at most SIZE of this run, as 500MB (default: all)" },
		{ 'n', "name", OPTION_TEXT, &o->name, "NAME", "name of the run" },
	};
	const struct option_spec rest[] = {
		{ 0, "no-lines", OPTION_FLAG, &o->no_lines, NULL, "functions, no lines of source",
		  .rare = true },
		{ 0, "no-code", OPTION_FLAG, &o->no_code, NULL, "keep no machine code of functions",
		  .rare = true },
		{ 0, "unprivileged", OPTION_FLAG, &o->unprivileged, NULL,
		  "as if this were not root", .rare = true },
		{ 0, "tag", OPTION_TEXT, &o->tag, "TEXT", "a note kept with the run",
		  .rare = true },
		{ 0, "lab", OPTION_TEXT, &o->lab->file, "FILE", "the lab (default: your own)" },
		{ 'q', "quiet", OPTION_FLAG, &o->quiet, NULL,
		  o->background ? "say nothing" : "no report, no progress" },
	};
	const struct option_spec foreground[] = {
		{ 0, "as-root", OPTION_FLAG, &o->as_root, NULL,
		  "under sudo: not as the user who typed it", .rare = true },
		{ 0, "no-lab", OPTION_FLAG, &o->no_lab, NULL, "keep nothing", .rare = true },
	};
	cmd_add_specs(into, what, sizeof what / sizeof *what);
	cmd_add_specs(into, rest, sizeof rest / sizeof *rest);
	if (!o->background)
		cmd_add_specs(into, foreground, sizeof foreground / sizeof *foreground);
	array_push(into, (struct option_spec){ 0 });
}

/* ---- judged ---- */

bool profile_size_parse(const char *text, uint64_t *bytes)
{
	static const struct {
		const char *unit;
		double bytes;
	} units[] = { { "", 1 },
		      { "B", 1 },
		      { "K", 1e3 },
		      { "KB", 1e3 },
		      { "M", 1e6 },
		      { "MB", 1e6 },
		      { "G", 1e9 },
		      { "GB", 1e9 },
		      { "T", 1e12 },
		      { "TB", 1e12 },
		      { "KiB", 1024. },
		      { "MiB", 1024. * 1024 },
		      { "GiB", 1024. * 1024 * 1024 },
		      { "TiB", 1024. * 1024 * 1024 * 1024 } };
	size_t digits = strspn(text, "0123456789.");
	char number[32];
	double value;
	if (!digits || digits >= sizeof number)
		return false;
	memcpy(number, text, digits);
	number[digits] = '\0';
	const char *unit = text + digits + strspn(text + digits, " ");
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (strcasecmp(unit, units[i].unit) != 0)
			continue;
		if (!real_parse(number, &value) || value * units[i].bytes >= 1e18)
			return false;
		*bytes = (uint64_t)(value * units[i].bytes);
		return true;
	}
	return false;
}

/* A COMMAND comes after "--"; other operands do not. */
static int check_command(struct profile_options *o, const struct cmd_args *args, struct error *err)
{
	const text_list *operands = &args->operands;
	int dashes = 1, argc = args->argc;
	char **argv = args->argv;
	while (dashes < argc && strcmp(argv[dashes], "--") != 0)
		dashes++;
	size_t after = dashes < argc ? (size_t)(argc - dashes - 1) : 0;
	if (operands->count > after) {
		error_set(err, EXIT_USAGE, "%s: '%s' is neither an option nor after --", argv[0],
			  DISPLAYED(operands->items[0], 128));
		return o->background ? error_hint(err, "it samples in the background, no command")
				     : error_hint(err,
						  "a COMMAND comes after --: "
						  "'tare profile [OPTIONS] -- %s'",
						  DISPLAYED(operands->items[0], 128));
	}
	if (!operands->count)
		return dashes < argc && !o->background
			       ? error_set(err, EXIT_USAGE, "profile: no COMMAND after --")
			       : 0;
	if (o->background) {
		error_set(err, EXIT_USAGE, "profile start takes no COMMAND");
		return error_hint(err, "'tare profile -- COMMAND' profiles one");
	}
	o->command = operands->items;
	o->command_words = operands->count;
	return 0;
}

static int check_subject(struct profile_options *o, struct error *err)
{
	if (o->all && (o->pids || o->cgroup))
		return error_set(err, EXIT_USAGE,
				 "profile: --all is the whole system; --pid and --cgroup are less");
	if (o->command && (o->pids || o->cgroup))
		return error_set(err, EXIT_USAGE,
				 "profile: a COMMAND, or --pid and --cgroup, not both");
	if (o->cgroup && !*o->cgroup)
		return cmd_refuse(err, "profile", "cgroup", o->cgroup,
				  "a path, such as /system.slice");
	FREED char *copy = o->pids ? xstrdup(o->pids) : NULL;
	char *at = copy, *word;
	while ((word = strsep(&at, ","))) {
		long pid;
		if (!integer_parse(word, 1, INT32_MAX, &pid))
			return cmd_refuse(err, "profile", "pid", o->pids,
					  "numbers of processes, such as 4711 or 4711,4712");
		array_push(&o->processes, (pid_t)pid);
	}
	o->samples.pids = o->processes.items;
	o->samples.pid_count = o->processes.count;
	o->samples.cgroup = o->cgroup;
	if (!o->cpus)
		return 0;
	if (cpus_choose_online(o->cpus, &o->chosen, err))
		return -1;
	o->samples.cpus = o->chosen.items;
	o->samples.cpu_count = o->chosen.count;
	return 0;
}

/* Of the events, time and cycles at a rate have modes of their own; for all others, a sample stands
 * for as many of them as every other one. */
static enum profile_mode mode_of(const struct profile_options *o)
{
	const char *event = o->event ? o->event : "auto";
	if (strcmp(event, "auto") == 0 || strcmp(event, "cpu-clock") == 0)
		return PROFILE_CLOCK;
	return strcmp(event, "cycles") == 0 && o->period == PROFILE_NOT_GIVEN ? PROFILE_CYCLES
									      : PROFILE_EVENT;
}

static int check_period(struct profile_options *o, struct error *err)
{
	if (o->frequency) {
		error_set(err, EXIT_USAGE,
			  "profile: --frequency samples by time or by cycles, not by '%s'",
			  DISPLAYED(o->event, 128));
		return error_hint(err, "--period NUM takes a sample for each NUM of the event, so "
				       "that all samples stand for as many");
	}
	o->samples.mode = PROFILE_EVENT;
	o->samples.event = o->event;
	o->samples.period = o->period == PROFILE_NOT_GIVEN ? 0 : (uint64_t)o->period;
	return samples_check_event(o->event, err);
}

static int check_rate(struct profile_options *o, struct error *err)
{
	static const char wanted[] = "samples a second, 'tick' or 'max'";
	const char *text = o->frequency;
	uint32_t limit = samples_max_hz();
	bool timed = o->event && strcmp(o->event, "auto") != 0;
	long hz = limit && limit < EVENT_HZ ? (long)limit : EVENT_HZ;
	enum profile_mode mode = mode_of(o);
	if (mode == PROFILE_EVENT)
		return check_period(o, err);
	if (o->period != PROFILE_NOT_GIVEN) {
		error_set(err, EXIT_USAGE, "profile: --period counts events, and there is none");
		return error_hint(err, "'--event cache-misses --period 10000', for example");
	}
	if (text && strcmp(text, "tick") == 0 && timed)
		return error_set(err, EXIT_USAGE,
				 "profile: --frequency tick has no --event: the tick is the event");
	if ((!text && !timed) || (text && strcmp(text, "tick") == 0)) {
		o->samples.mode = PROFILE_TICK;
		return 0;
	}
	if (text && strcmp(text, "max") == 0)
		hz = limit ? (long)limit : hz;
	else if (text && !integer_parse(text, 1, INT32_MAX, &hz))
		return cmd_refuse(err, "profile", "frequency", text, wanted);
	if (limit && hz > (long)limit) {
		error_set(err, EXIT_USAGE,
			  "profile: %ld samples a second are more than the %u "
			  "that this kernel allows",
			  hz, limit);
		return error_hint(err, "'-F max' takes as many; root may raise the limit: sysctl "
				       "kernel.perf_event_max_sample_rate");
	}
	o->samples.mode = mode;
	o->samples.hz = (uint32_t)hz;
	return 0;
}

static int check_bounds(struct profile_options *o, struct error *err)
{
	if (o->duration_ns && o->duration_ns < SHORTEST_NS)
		return error_set(err, EXIT_USAGE, "profile: --duration is 10ms or more");
	if (o->slice_ns < SHORTEST_SLICE_NS || o->slice_ns > LONGEST_SLICE_NS)
		return error_set(err, EXIT_USAGE, "profile: --slice is from 100ms to 1h");
	if (!o->keep) {
		o->keep_bytes = o->background ? BACKGROUND_KEEP : 0;
		return 0;
	}
	if (!profile_size_parse(o->keep, &o->keep_bytes))
		return cmd_refuse(err, "profile", "keep", o->keep, "a size, such as 500MB");
	if (o->keep_bytes && o->keep_bytes < SMALLEST_KEEP)
		return cmd_refuse(err, "profile", "keep", o->keep, "1MB or more, or 0 for all");
	if (o->no_lab)
		return error_set(err, EXIT_USAGE,
				 "profile: --keep bounds what is kept, --no-lab keeps nothing");
	return 0;
}

int profile_options_check(struct profile_options *o, const struct cmd_args *args, struct error *err)
{
	if (check_command(o, args, err) || (o->name && lab_check_name(o->name, err)) ||
	    check_bounds(o, err) || check_subject(o, err) || check_rate(o, err))
		return -1;
	o->samples.stacks = o->stacks != PROFILE_NOT_GIVEN ? stack_choices[o->stacks]
			    : o->callers		   ? STACKS_EH_FRAME
							   : STACKS_NONE;
	if (o->callers && o->samples.stacks == STACKS_NONE)
		return error_set(err, EXIT_USAGE,
				 "profile: -g is with callers, --stacks none without");
	o->samples.no_kernel = o->user_only;
	o->samples.unprivileged = o->unprivileged;
	return 0;
}

void profile_options_release(struct profile_options *o)
{
	array_release(&o->chosen);
	array_release(&o->processes);
}

/* Every option that shaped the run, as a JSON object; the caller frees. */
static char *conditions_of(const struct profile_options *o)
{
	const struct samples_options *s = &o->samples;
	SCOPED(strbuf_release) struct strbuf cpus = { 0 };
	if (o->cpus)
		cpus_text(o->chosen.items, o->chosen.count, &cpus);
	json_t *all = json_pack("{s:s, s:s, s:I, s:I, s:b, s:b, s:b, s:b}", "event",
				s->event ? s->event : profile_mode_names[s->mode], "stacks",
				profile_stacks_names[s->stacks], "slice_ns",
				(json_int_t)o->slice_ns, "duration_ns", (json_int_t)o->duration_ns,
				"user_only", (int)s->no_kernel, "background", (int)o->background,
				"lines", (int)!o->no_lines, "code", (int)!o->no_code);
	if (s->period)
		json_object_set_new(all, "period", json_integer((json_int_t)s->period));
	if (s->hz)
		json_object_set_new(all, "frequency", json_integer(s->hz));
	if (o->cpus)
		json_object_set_new(all, "cpus", json_string(strbuf_text(&cpus)));
	if (o->cgroup)
		json_object_set_new(all, "cgroup", json_text(o->cgroup));
	if (o->pids) {
		json_t *pids = json_array();
		for (size_t i = 0; i < o->processes.count; i++)
			json_array_append_new(pids, json_integer(o->processes.items[i]));
		json_object_set_new(all, "pids", pids);
	}
	if (o->keep_bytes)
		json_object_set_new(all, "keep_bytes", json_integer((json_int_t)o->keep_bytes));
	char *text = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	return text;
}

struct profile_recording profile_options_recording(const struct profile_options *o,
						   const struct cmd_args *args)
{
	struct strbuf name = { 0 };
	if (o->name) {
		strbuf_puts(&name, o->name);
	} else if (o->command) {
		const char *slash = strrchr(o->command[0], '/');
		strbuf_printf(&name, "profile of %s", slash ? slash + 1 : o->command[0]);
	} else if (o->pids) {
		strbuf_printf(&name, "profile of process%s %s", o->processes.count > 1 ? "es" : "",
			      o->pids);
	} else if (o->cgroup) {
		strbuf_printf(&name, "profile of cgroup %s", o->cgroup);
	} else {
		strbuf_puts(&name, "profile of the whole system");
	}
	return (struct profile_recording){ .how = o->samples,
					   .words = o->command,
					   .word_count = o->command_words,
					   .follow = !o->all,
					   .as_root = o->as_root,
					   .background = o->background,
					   .no_lines = o->no_lines,
					   .no_code = o->no_code,
					   .keep_bytes = o->keep_bytes,
					   .to.notice = cmd_notice,
					   .to.command_line = cmd_line(args->argc, args->argv),
					   .run = { .name = strbuf_detach(&name),
						    .conditions = conditions_take(conditions_of(o)),
						    .tags = recorded_text(o->tag) } };
}
