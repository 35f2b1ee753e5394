/* The passive study: windows cut from what was watched, as the samples of a program of any length.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "collect/collect.h"
#include "protocol/sedona/windows.h"
#include "run/control.h"
#include "run/study.h"

#define FLUSH_PATIENCE_S 30
#define DEFAULT_SHORT_NS UINT64_C(1000000000)
#define LEAST_WINDOWS 30 /* of a long run that was not asked for */
#define LEAST_TIMES 5	 /* so many times the short one, or there is none */

static int load_record(struct lab *lab, const struct machine *m, struct study_windows *w,
		       bursts_list *parts, struct error *err)
{
	struct control_place place;
	struct error none = ERROR_INIT;
	if (control_place_of(&place, CONTROL_WATCH, lab_path(lab), false, &none) == 0)
		free(control_ask(&place, "flush", FLUSH_PATIENCE_S, &none));
	if (lab_get_bursts(lab, m, 0, w->since_ns, w->until_ns, parts, err))
		return -1;
	uint32_t cpus = 0;
	w->stretches = parts->count;
	for (size_t i = 0; i < parts->count; i++) {
		const struct bursts *b = &parts->items[i];
		w->covered_ns += b->end_ns - b->begin_ns;
		w->lost += b->lost;
		cpus = b->cpus > cpus ? b->cpus : cpus;
	}
	if (!w->covered_ns) {
		error_set(err, EXIT_USAGE,
			  w->since_ns || w->until_ns
				  ? "nothing was watched on this machine in that time"
				  : "nothing was watched on this machine yet");
		return error_hint(err, "'tare calibrate --watch' begins a watch");
	}
	if (w->cpu == WINDOWS_WORST_CPU || (uint32_t)w->cpu < cpus)
		return 0;
	return error_set(err, EXIT_USAGE, "calibrate: there is no CPU %d on record, only 0 to %u",
			 w->cpu, cpus - 1);
}

/* The study is of the machine as the newest watch found it, not as it is now. */
static int find_machine(struct lab *lab, const struct machine *m, const struct study_windows *w,
			struct study_input *in, struct error *err)
{
	FREED lab_watch_list list = { 0 };
	SCOPED(machine_release) struct machine newest = { 0 };
	char here[17], there[17];
	int64_t last = 0; /* that was looked at */
	machine_identity(m, here);
	int failed = lab_list_watches(lab, &list, err);
	for (size_t i = 0; i < list.count && !failed; i++) {
		const struct watch_row *row = &list.items[i];
		struct machine then = { 0 };
		bool used = row->covered_ns && row->ended_at_ns > w->since_ns &&
			    (!w->until_ns || row->begun_at_ns < w->until_ns);
		if (!used || row->machine == last)
			continue;
		failed = lab_get_machine(lab, row->machine, &then, err);
		machine_identity(&then, there);
		last = row->machine;
		if (!failed && strcmp(here, there) == 0 && !in->machine) {
			in->machine = row->machine;
			newest = then;
			continue;
		}
		const char *was = machine_get(&then, "kernel.release");
		const char *is = machine_get(&newest, "kernel.release");
		if (!failed && strcmp(here, there) == 0 && was && is && strcmp(was, is) != 0)
			in->notice("watch %" PRId64 " was made with kernel %s, the newest with %s: "
				   "--since leaves\n      the older ones out",
				   row->id, was, is);
		machine_release(&then);
	}
	return failed ? -1 : 0;
}

/* The longest of 5, 10, 20, 50 ... s that the record has enough windows of; 0: none. */
static uint64_t default_long(const bursts_list *parts)
{
	uint64_t best = 0, length = LEAST_TIMES * DEFAULT_SHORT_NS;
	for (unsigned i = 0;; i++) {
		uint64_t windows = 0;
		for (size_t k = 0; k < parts->count; k++)
			windows += (parts->items[k].end_ns - parts->items[k].begin_ns) / length;
		if (windows < LEAST_WINDOWS)
			return best;
		best = length;
		length = i % 3 == 2 ? length / 2 * 5 : length * 2;
	}
}

static int cut(const bursts_list *parts, struct study_windows *w, struct study_input *in,
	       struct error *err)
{
	if (!w->lengths_ns[STUDY_SHORT]) {
		w->lengths_ns[STUDY_SHORT] = DEFAULT_SHORT_NS;
		w->lengths_ns[STUDY_LONG] = default_long(parts);
	}
	for (int l = 0; l < STUDY_LENGTHS; l++) {
		const struct windows_options how = { .length_ns = w->lengths_ns[l],
						     .cpu = w->cpu,
						     .most = STUDY_MOST };
		char covered[32], length[32];
		if (!how.length_ns)
			continue;
		in->has_long = l == STUDY_LONG;
		windows_cut(parts->items, parts->count, &how, &in->runs[l], &w->cpu);
		in->runs[l].length_ns = how.length_ns;
		size_t count = in->runs[l].samples.count;
		if (count >= STUDY_LEAST)
			continue;
		text_duration((double)w->covered_ns, 3, covered, sizeof covered);
		text_duration((double)how.length_ns, 3, length, sizeof length);
		error_set(err, EXIT_USAGE,
			  "what was watched, %s in %zu stretch%s, has %zu window%s of %s", covered,
			  w->stretches, w->stretches == 1 ? "" : "es", count, count == 1 ? "" : "s",
			  length);
		return error_hint(err,
				  "a study takes %d or more: watch longer, or choose a shorter "
				  "--length",
				  STUDY_LEAST);
	}
	return 0;
}

int study_cut_windows(struct lab *lab, struct study_windows *w, struct study_input *in,
		      struct error *err)
{
	SCOPED(machine_release) struct machine m = { 0 };
	FREED bursts_list parts = { 0 };
	machine_read(&m);
	int failed = load_record(lab, &m, w, &parts, err) || find_machine(lab, &m, w, in, err) ||
		     cut(&parts, w, in, err);
	for (size_t i = 0; i < parts.count; i++)
		bursts_release(&parts.items[i]);
	return failed ? -1 : 0;
}
