/* The passive study: windows cut from what was watched, as the samples of a program of any length.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cmd/calibrate/calibrate.h"
#include "collect/collect.h"
#include "protocol/sedona/windows.h"
#include "run/control.h"

#define FLUSH_PATIENCE_S 30
#define DEFAULT_SHORT_NS UINT64_C(1000000000)
#define LEAST_WINDOWS 30 /* of a long run that was not asked for */
#define LEAST_TIMES 5	 /* so many times the short one, or there is none */

struct record {
	bursts_list parts;
	uint64_t covered_ns, lost;
};

/* A watch that is going stores what it has so far. */
static void flush_watch(struct lab *lab)
{
	struct control_place place;
	struct error none = ERROR_INIT;
	if (control_place_of(&place, CONTROL_WATCH, lab_path(lab), false, &none) == 0)
		free(control_ask(&place, "flush", FLUSH_PATIENCE_S, &none));
}

static void release_record(struct record *r)
{
	for (size_t i = 0; i < r->parts.count; i++)
		bursts_release(&r->parts.items[i]);
	array_release(&r->parts);
}

static int load_record(const struct calibrate_options *o, struct lab *lab, const struct machine *m,
		       struct record *into, struct error *err)
{
	flush_watch(lab);
	if (lab_get_bursts(lab, m, 0, o->since_ns, o->until_ns, &into->parts, err))
		return -1;
	for (size_t i = 0; i < into->parts.count; i++) {
		const struct bursts *b = &into->parts.items[i];
		into->covered_ns += b->end_ns - b->begin_ns;
		into->lost += b->lost;
	}
	if (into->covered_ns)
		return 0;
	error_set(err, EXIT_USAGE,
		  o->since_ns || o->until_ns ? "nothing was watched on this machine in that time"
					     : "nothing was watched on this machine yet");
	return error_hint(err, "'tare calibrate --watch' begins a watch");
}

/* ---- which machine it was ---- */

static bool is_used(const struct calibrate_options *o, const struct lab_watch_row *w)
{
	return w->covered_ns && w->ended_at_ns > o->since_ns &&
	       (!o->until_ns || w->begun_at_ns < o->until_ns);
}

static void warn_of_kernel(const struct lab_watch_row *w, const struct machine *then,
			   const struct machine *newest)
{
	const char *was = machine_get(then, "kernel.release");
	const char *is = machine_get(newest, "kernel.release");
	if (was && is && strcmp(was, is) != 0)
		fprintf(stderr,
			"tare: watch %" PRId64 " was made with kernel %s, the newest with %s: "
			"--since leaves\n      the older ones out\n",
			w->id, was, is);
}

/* The study is of the machine as the newest watch found it, not as it is now. */
static int find_machine(const struct calibrate_options *o, struct lab *lab, const struct machine *m,
			int64_t *into, struct error *err)
{
	lab_watch_list list = { 0 };
	struct machine newest = { 0 };
	char here[17], there[17];
	int64_t last = 0; /* that was looked at */
	machine_identity(m, here);
	int failed = lab_list_watches(lab, &list, err);
	for (size_t i = 0; i < list.count && !failed; i++) {
		const struct lab_watch_row *w = &list.items[i];
		struct machine then = { 0 };
		if (!is_used(o, w) || w->machine == last)
			continue;
		failed = lab_get_machine(lab, w->machine, &then, err);
		machine_identity(&then, there);
		last = w->machine;
		if (!failed && strcmp(here, there) == 0) {
			if (*into)
				warn_of_kernel(w, &then, &newest);
			else {
				*into = w->machine;
				newest = then;
				then = (struct machine){ 0 };
			}
		}
		machine_release(&then);
	}
	machine_release(&newest);
	array_release(&list);
	return failed ? -1 : 0;
}

/* ---- windows ---- */

static uint64_t windows_of(const struct record *r, uint64_t length_ns)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < r->parts.count; i++)
		sum += (r->parts.items[i].end_ns - r->parts.items[i].begin_ns) / length_ns;
	return sum;
}

/* The longest of 5, 10, 20, 50 ... s that the record has enough windows of; 0: none. */
static uint64_t default_long(const struct record *r)
{
	uint64_t best = 0, length = LEAST_TIMES * DEFAULT_SHORT_NS;
	for (unsigned i = 0; windows_of(r, length) >= LEAST_WINDOWS; i++) {
		best = length;
		length = i % 3 == 2 ? length / 2 * 5 : length * 2;
	}
	return best;
}

static void choose_lengths(const struct calibrate_options *o, const struct record *r,
			   uint64_t into[STUDY_LENGTHS])
{
	into[STUDY_SHORT] = o->windows_ns[STUDY_SHORT];
	into[STUDY_LONG] = o->windows_ns[STUDY_LONG];
	if (into[STUDY_SHORT])
		return;
	into[STUDY_SHORT] = DEFAULT_SHORT_NS;
	into[STUDY_LONG] = default_long(r);
}

static int pinned_cpu(const struct calibrate_options *o)
{
	for (int cpu = 0; o->cpus && cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &o->cpu_set))
			return cpu;
	return WINDOWS_WORST_CPU;
}

static int check_cpu(const struct record *r, int cpu, struct error *err)
{
	uint32_t cpus = 0;
	for (size_t i = 0; i < r->parts.count; i++)
		cpus = r->parts.items[i].cpus > cpus ? r->parts.items[i].cpus : cpus;
	if (cpu == WINDOWS_WORST_CPU || (uint32_t)cpu < cpus)
		return 0;
	return error_set(err, EXIT_USAGE, "calibrate: there is no CPU %d on record, only 0 to %u",
			 cpu, cpus - 1);
}

/* *cpu: which one, then the one that was taken, by both runs. */
static int cut(const struct record *r, const uint64_t lengths[STUDY_LENGTHS], int *cpu,
	       struct calibrate_input *in, struct error *err)
{
	char covered[32], length[32];
	for (int l = 0; l < STUDY_LENGTHS; l++) {
		struct windows_options w = { .length_ns = lengths[l],
					     .cpu = *cpu,
					     .most = CALIBRATE_MOST };
		if (!w.length_ns)
			continue;
		in->has_long = l == STUDY_LONG;
		windows_cut(r->parts.items, r->parts.count, &w, &in->runs[l], cpu);
		in->runs[l].length_ns = w.length_ns;
		if (in->runs[l].samples.count >= CALIBRATE_LEAST)
			continue;
		text_duration((double)r->covered_ns, 3, covered, sizeof covered);
		text_duration((double)w.length_ns, 3, length, sizeof length);
		error_set(err, EXIT_USAGE,
			  "what was watched, %s in %zu stretch%s, has %zu window%s of %s", covered,
			  r->parts.count, r->parts.count == 1 ? "" : "es",
			  in->runs[l].samples.count, in->runs[l].samples.count == 1 ? "" : "s",
			  length);
		return error_hint(err,
				  "a study takes %d or more: watch longer, or choose a shorter "
				  "--length",
				  CALIBRATE_LEAST);
	}
	return 0;
}

static void say_record(const struct record *r, const struct calibrate_input *in, int cpu)
{
	char covered[32], length[32];
	text_duration((double)r->covered_ns, 3, covered, sizeof covered);
	printf("Windows of CPU %d, from %s watched in %zu stretch%s\n", cpu, covered,
	       r->parts.count, r->parts.count == 1 ? "" : "es");
	for (int l = 0; l < STUDY_LENGTHS; l++) {
		if (in->runs[l].samples.count < CALIBRATE_MOST)
			continue;
		text_duration((double)in->runs[l].length_ns, 3, length, sizeof length);
		printf("Of those of %s the newest %d\n", length, CALIBRATE_MOST);
	}
	if (r->lost)
		fprintf(stderr, "tare: %" PRIu64 " bursts were lost: the kernel had no room\n",
			r->lost);
}

int calibrate_from_watch(const struct calibrate_options *o, struct error *err)
{
	struct lab *lab = NULL;
	struct machine m = { 0 };
	struct record record = { 0 };
	struct calibrate_input in = { .source = STUDY_WATCH };
	uint64_t lengths[STUDY_LENGTHS] = { 0 };
	int cpu = pinned_cpu(o);
	machine_read(&m);
	int failed = !(lab = lab_access_open(o->lab, err)) ||
		     load_record(o, lab, &m, &record, err) || check_cpu(&record, cpu, err) ||
		     find_machine(o, lab, &m, &in.machine, err);
	if (!failed) {
		choose_lengths(o, &record, lengths);
		failed = cut(&record, lengths, &cpu, &in, err);
	}
	if (!failed && !o->quiet && !o->json)
		say_record(&record, &in, cpu);
	if (!failed)
		failed = calibrate_conclude(o, lab, &in, err);
	calibrate_input_release(&in);
	release_record(&record);
	machine_release(&m);
	return failed ? -1 : 0;
}
