/* tare doctor --speed: watches how fast the CPUs are, and how steadily. */
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "cmd/doctor_speed.h"
#include "collect/speed/speed.h"
#include "protocol/doctor/speed.h"
#include "report/core/format.h"
#include "report/core/json.h"
#include "report/core/shapes.h"
#include "report/core/table.h"

typedef ARRAY(struct speed_cpu) speed_cpu_list;

static void wait_for(uint64_t ns)
{
	uint64_t until = clock_monotonic_ns() + ns, now;
	while (!interrupted() && (now = clock_monotonic_ns()) < until) {
		uint64_t left = until - now;
		struct timespec t = { (time_t)(left / 1000000000u), (long)(left % 1000000000u) };
		ppoll(NULL, 0, &t, interrupt_mask());
	}
}

static void print_json(const speed_cpu_list *cpus, uint64_t ns, const char *not_seen)
{
	enum speed_grade grade = speed_grade_of(cpus->items, cpus->count);
	json_t *root = json_pack("{s:s, s:I, s:s, s:s}", "tare", TARE_VERSION, "watched_ns",
				 (json_int_t)ns, "grade", speed_grade_names[grade], "advice",
				 speed_advice(grade));
	json_object_set_new(root, "not_seen", not_seen ? json_text(not_seen) : json_null());
	json_object_set_new(root, "cpus", json_array());
	array_each(c, cpus)
		json_append(root, "cpus", json_shape(&speed_cpu_shape, c));
	FREED char *text = json_dumps(root, JSON_INDENT(2) | JSON_ENSURE_ASCII);
	puts(text);
	json_decref(root);
}

static void print_table(const speed_cpu_list *cpus)
{
	const struct column columns[] = {
		{ "cpu", "CPU", COLUMN_COUNT },
		{ "grade", "Grade", COLUMN_TEXT },
		{ "work", "Work", COLUMN_TEXT },
		{ "best", "Best", COLUMN_DURATION, .digits = 3 },
		{ "median", "Median", COLUMN_DURATION, .digits = 3 },
		{ "worst", "Worst", COLUMN_DURATION, .digits = 3 },
		{ "varied", "Varied", COLUMN_PERCENT },
	};
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	array_each(c, cpus)
		for (enum speed_kind k = 0; k < SPEED_KINDS; k++) {
			table_add_count(t, c->cpu);
			table_add_text(t, k ? "" : speed_grade_names[c->grade]);
			table_add_text(t, speed_kind_names[k]);
			table_add_number(t, c->of[k].best);
			table_add_number(t, c->of[k].median);
			table_add_number(t, c->of[k].worst);
			table_add_number(t, c->of[k].varied);
		}
	SCOPED(strbuf_release) struct strbuf out = { 0 };
	table_render(t, TABLE_TEXT, NULL, &out);
	table_free(t);
	fputs(strbuf_text(&out), stdout);
}

static void print_text(const speed_cpu_list *cpus, uint64_t ns, const char *not_seen)
{
	static const char *const words[SPEED_GRADES] = {
		[SPEED_GRADE_UNKNOWN] = "Not known",
		[SPEED_GRADE_STEADY] = "Steady",
		[SPEED_GRADE_SHARED] = "Shared",
		[SPEED_GRADE_THROTTLED] = "Throttled",
	};
	enum speed_grade grade = speed_grade_of(cpus->items, cpus->count);
	double most = 0;
	uint64_t probes = 0, left_out = 0;
	array_each(c, cpus) {
		for (enum speed_kind k = 0; k < SPEED_LOADS; k++)
			most = c->of[k].varied > most ? c->of[k].varied : most;
		probes += c->probes;
		left_out += c->left_out;
	}
	char watched[WORDS], varied[WORDS];
	format_duration((double)ns, 2, TIME_UNIT_AUTO, watched);
	format_percent(most, varied);
	printf("%s: within %s the speed of %zu CPU%s varied by up to %s.\n%s\n\n", words[grade],
	       watched, cpus->count, cpus->count == 1 ? "" : "s", varied, speed_advice(grade));
	print_table(cpus);
	printf("\nMeans over 100 ms of %llu probes; %llu that were interrupted are left out.%s%s\n",
	       (unsigned long long)probes, (unsigned long long)left_out, not_seen ? "\n" : "",
	       not_seen ? not_seen : "");
}

int doctor_speed(uint64_t ns, bool json, struct error *err)
{
	struct speed_probe *p;
	struct speed_series series;
	struct speed_means all;
	speed_cpu_list cpus = { 0 };
	if (speed_probe_open(&p, &(struct speed_options){ 0 }, err))
		return -1;
	interrupt_watch();
	uint64_t begin = clock_monotonic_ns();
	speed_probe_begin(p);
	wait_for(ns);
	speed_probe_end(p, &all);
	uint64_t watched = clock_monotonic_ns() - begin;
	for (size_t i = 0; speed_probe_series(p, i, &series); i++) {
		struct speed_cpu c = { .cpu = series.cpu };
		struct speed_sample *copy = xcalloc(series.count + 1, sizeof *copy);
		memcpy(copy, series.samples, series.count * sizeof *copy);
		speed_judge(copy, series.count, &c);
		xfree(copy);
		array_push(&cpus, c);
	}
	if (json)
		print_json(&cpus, watched, speed_probe_not_seen(p));
	else
		print_text(&cpus, watched, speed_probe_not_seen(p));
	array_release(&cpus);
	speed_probe_close(p);
	return interrupted() ? EXIT_INTERRUPTED : EXIT_DONE;
}
