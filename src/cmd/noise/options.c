#include "cmd/noise/noise.h"

#include <inttypes.h>
#include <jansson.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "report/core/json.h"

#define DURATION_NS 60000000000u
#define SHORTEST_ROUND_NS 10000000u	    /* also of a run */
#define LONGEST_THRESHOLD_NS 1000000000000u /* longer detours are not told apart */
#define LONGEST_ROUND_NS 10000000000u	    /* so long an interruption may take */

void noise_record_specs(spec_list *into, struct noise_options *o)
{
	bool top = o->live == NOISE_TOP;
	const struct option_spec specs[] = {
		{ 'c', "cpus", OPTION_TEXT, &o->cpus, "LIST",
		  "CPUs, as 1,4-7 or all (default: all but one, isolated too)" },
		{ 'd', "duration", OPTION_DURATION, &o->duration_ns, "TIME",
		  top ? "how long (default: until q or Ctrl-C)"
		      : "how long, as 10s or 1h (default: 1m)" },
		{ 't', "threshold", OPTION_TEXT, &o->threshold, "TIME",
		  "shortest detour: auto, paper or as 500ns" },
		{ 'P', "priority", OPTION_TEXT, &o->priority, "[f:]NUM",
		  "loops in the real-time class FIFO" },
		{ 0, "no-kernel", OPTION_FLAG, &o->no_kernel, NULL,
		  "do not ask the kernel: detours without names" },
		{ 0, "no-speed", OPTION_FLAG, &o->no_speed, NULL,
		  "do not watch the speed of the CPUs", .rare = true },
		{ 0, "baseline", OPTION_FLAG, &o->baseline, NULL,
		  "make it the baseline of this machine" },
		{ 'n', "name", OPTION_TEXT, &o->name, "NAME", "name of the run" },
		{ 'q', "quiet", OPTION_FLAG, &o->quiet, NULL, "no report, no progress" },
		{ 0, "worst", OPTION_INTEGER, &o->worst, "NUM",
		  "longest detours to keep with all their events (default: 20)", .max = 1000,
		  .rare = true },
		{ 0, "round", OPTION_DURATION, &o->round_ns, "TIME",
		  "length of a round (default: 1s)", .rare = true },
		{ 0, "no-lab", OPTION_FLAG, &o->no_lab, NULL, "keep nothing", .rare = true },
		{ 0, "tag", OPTION_TEXT, &o->tag, "TEXT", "a note kept with the run",
		  .rare = true },
	};
	const struct option_spec hist[] = {
		{ 'b', "bucket-size", OPTION_TEXT, &o->bucket, "US",
		  "width of a bucket, in µs or with a unit (default: 1)" },
		{ 'E', "entries", OPTION_INTEGER, &o->entries, "NUM",
		  "number of buckets (default: 256)", .min = 1, .max = 1000000 },
	};
	cmd_add_specs(into, specs, sizeof specs / sizeof *specs);
	if (o->live == NOISE_HIST)
		cmd_add_specs(into, hist, sizeof hist / sizeof *hist);
}

void noise_display_specs(spec_list *into, struct noise_display *d)
{
	const struct option_spec specs[] = {
		{ 'm', "mode", OPTION_CHOICE, &d->mode, "source|succession",
		  "by single source, or by sources in a row" },
		{ 0, "per-cpu", OPTION_FLAG, &d->per_cpu, NULL, "each CPU on its own, too" },
		{ 0, "most", OPTION_INTEGER, &d->most, "NUM", "rows (default: 20; 0: all)" },
		{ 0, "histogram", OPTION_FLAG, &d->histogram, NULL, "with the histograms" },
		{ 0, "density", OPTION_FLAG, &d->density, NULL, "with the densities, drawn" },
		{ 0, "zoom", OPTION_TEXT, &d->zoom, "LOW:HIGH",
		  "who makes the detours of 100us:110us" },
		{ 0, "json", OPTION_FLAG, &d->json, NULL, "JSON on standard output, nothing else" },
		{ 0, "export-json", OPTION_TEXT, &d->export_json, "FILE", "write JSON",
		  .rare = true },
		{ 0, "export-csv", OPTION_TEXT, &d->export_csv, "FILE", "write the sources as CSV",
		  .rare = true },
		{ 0, "export-perfetto", OPTION_TEXT, &d->export_perfetto, "FILE",
		  "write the longest detours as a trace for ui.perfetto.dev", .rare = true },
		{ 0, "lab", OPTION_TEXT, &d->lab->file, "FILE", "the lab (default: your own)" },
		{ 0 },
	};
	cmd_add_specs(into, specs, sizeof specs / sizeof *specs);
}

/* ---- judged ---- */

int noise_time(const char *option, const char *text, const char *wanted, uint64_t *ns,
	       struct error *err)
{
	bool bare = *text && strspn(text, "0123456789. ") == strlen(text);
	if (duration_parse(text, ns) && !(bare && *ns))
		return 0;
	cmd_refuse(err, "noise", option, text, wanted);
	if (bare)
		error_hint(err, "a number alone has no unit: write %sus", text);
	return -1;
}

static int check_threshold(struct noise_options *o, struct error *err)
{
	static const char wanted[] =
		"'auto', 'paper' or a time with its unit, such as 500ns (at most 1000s)";
	const char *text = o->threshold;
	uint64_t ns;
	bool paper = text && strcmp(text, "paper") == 0;
	if (!text || paper || strcmp(text, "auto") == 0) {
		o->detours.threshold = paper ? THRESHOLD_PAPER : THRESHOLD_AUTO;
		return 0;
	}
	if (noise_time("threshold", text, wanted, &ns, err))
		return -1;
	if (!ns || ns > LONGEST_THRESHOLD_NS)
		return cmd_refuse(err, "noise", "threshold", text, wanted);
	o->detours.threshold = THRESHOLD_NS;
	o->detours.threshold_ns = ns;
	return 0;
}

int noise_cpus(const char *text, cpu_list *into, struct error *err)
{
	cpu_set_t own;
	if (cpus_choose(text ? text : "all", into, err))
		return -1;
	if (text || into->count < 2 || sched_getaffinity(0, sizeof own, &own))
		return 0;
	size_t spared = 0;
	while (spared < into->count - 1 && !CPU_ISSET(into->items[spared], &own))
		spared++;
	into->count--;
	memmove(into->items + spared, into->items + spared + 1,
		(into->count - spared) * sizeof *into->items);
	return 0;
}

int noise_options_check(struct noise_options *o, struct error *err)
{
	if (o->baseline && o->no_lab)
		return error_set(err, EXIT_USAGE,
				 "noise: a --baseline is kept in the lab, --no-lab keeps nothing");
	if (o->name && lab_check_name(o->name, err))
		return -1;
	if (o->duration_ns < SHORTEST_ROUND_NS) {
		error_set(err, EXIT_USAGE, "noise: --duration is 10ms or more");
		return error_hint(err, "'tare noise top' goes on until it is ended");
	}
	if (o->round_ns < SHORTEST_ROUND_NS || o->round_ns > LONGEST_ROUND_NS)
		return error_set(err, EXIT_USAGE, "noise: --round is from 10ms to 10s");
	o->plan.round_ns = o->round_ns;
	o->plan.duration_ns = o->duration_ns != NOISE_NOT_GIVEN ? o->duration_ns
			      : o->live == NOISE_TOP		? 0
								: DURATION_NS;
	if (check_threshold(o, err))
		return -1;
	long us = 1, priority = 0;
	if (o->priority &&
	    !integer_parse(o->priority + (strncmp(o->priority, "f:", 2) == 0 ? 2 : 0), 1, 99,
			   &priority)) {
		cmd_refuse(err, "noise", "priority", o->priority,
			   "a FIFO priority from 1 to 99, such as f:50");
		return error_hint(err, "without it the loops are of the ordinary class");
	}
	o->detours.priority = (int)priority;
	if (o->bucket && !integer_parse(o->bucket, 1, 1000000000, &us) &&
	    (!duration_parse(o->bucket, &o->bucket_ns) || !o->bucket_ns))
		return cmd_refuse(err, "noise", "bucket-size", o->bucket,
				  "a width in µs, such as 5");
	if (!o->bucket_ns)
		o->bucket_ns = (uint64_t)us * 1000;
	if (noise_display_check(&o->display, err) || noise_cpus(o->cpus, &o->chosen, err))
		return -1;
	o->detours.cpus = o->chosen.items;
	o->detours.count = o->chosen.count;
	o->detours.kernel = !o->no_kernel;
	o->detours.speed = !o->no_speed;
	return 0;
}

int noise_display_check(struct noise_display *d, struct error *err)
{
	static const char wanted[] = "two times with their units, such as 100us:110us";
	if (!d->zoom)
		return 0;
	const char *colon = strchr(d->zoom, ':');
	if (!colon)
		return cmd_refuse(err, "noise", "zoom", d->zoom, wanted);
	FREED char *low = xstrndup(d->zoom, (size_t)(colon - d->zoom));
	if (noise_time("zoom", low, wanted, &d->low_ns, err) ||
	    noise_time("zoom", colon + 1, wanted, &d->high_ns, err))
		return -1;
	if (d->low_ns >= d->high_ns)
		return cmd_refuse(err, "noise", "zoom", d->zoom,
				  "the shorter time first, such as 100us:110us");
	if (d->json)
		return error_set(err, EXIT_USAGE, "noise: --zoom and --json exclude each other");
	return 0;
}

char *noise_conditions(const struct noise_options *o)
{
	SCOPED(strbuf_release) struct strbuf cpus = { 0 };
	cpus_text(o->chosen.items, o->chosen.count, &cpus);
	json_t *all = json_pack("{s:s, s:I, s:I, s:i, s:b, s:b, s:I}", "cpus", strbuf_text(&cpus),
				"duration_ns", (json_int_t)o->plan.duration_ns, "round_ns",
				(json_int_t)o->plan.round_ns, "priority", o->detours.priority,
				"kernel", (int)o->detours.kernel, "speed", (int)o->detours.speed,
				"worst", (json_int_t)o->worst);
	if (o->detours.threshold == THRESHOLD_NS)
		json_set_count(all, "threshold_ns", o->detours.threshold_ns);
	else
		json_object_set_new(
			all, "threshold",
			json_string(o->detours.threshold == THRESHOLD_PAPER ? "paper" : "auto"));
	char *text = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	return text;
}
