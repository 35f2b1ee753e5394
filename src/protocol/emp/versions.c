#include "protocol/emp/versions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "protocol/doctor/doctor.h"

#define SAMPLES 10 /* of v6 */

/* How near sigma and the share of outliers of a part must be to those of the whole. With these the
 * paper's own tables (XX and XXI: INC128, 800 samples) recommend 10, as the paper does. */
#define NEAR_SIGMA 0.25
#define NEAR_SHARE 0.1
#define RESOLUTION_NS 1000.0 /* sigmas closer than this are the clock's */

const char *const emp_version_names[] = { "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v6+steady" };

const char *emp_version_adds(enum emp_version v)
{
	static const char *const adds[] = {
		"elapsed time of every execution",
		"process time; non-critical daemons stopped",
		"clock kept by NTP",
		"turbo and frequency scaling off",
		"up-to-date kernel",
		"outliers dropped by rules I and II",
		"ten samples",
		"process time at the best speed of the CPU (tare's own step)",
	};
	return adds[v];
}

/* ---- what the versions ask for ---- */

bool emp_condition(const struct machine *m, enum emp_version v, char why[EMP_WHY])
{
	char asked[8];
	finding_list findings = { 0 };
	const struct finding *worst = NULL;
	bool of_machine = v >= EMP_V1 && v <= EMP_V4;
	snprintf(why, EMP_WHY, "%s",
		 of_machine ? "nothing is known of the machine" : "it asks nothing of the machine");
	if (!m || !m->facts.count || !of_machine)
		return false;
	snprintf(asked, sizeof asked, "EMP %s", emp_version_names[v]);
	doctor_judge(m, &findings); /* worst first */
	for (size_t i = 0; i < findings.count && !worst; i++)
		if (strstr(findings.items[i].source, asked))
			worst = &findings.items[i];
	bool met = worst && worst->severity != SEVERITY_UNKNOWN && worst->severity < SEVERITY_WARN;
	if (worst)
		text_display(worst->condition, why, EMP_WHY);
	array_release(&findings);
	return met;
}

/* v's own addition, in this run. */
static bool holds(enum emp_version v, const struct machine *machine, const struct emp_result *r,
		  char why[EMP_WHY])
{
	size_t measured = r->unfiltered[EMP_ET].n;
	switch (v) {
	case EMP_V0:
		return true;
	case EMP_V1:
		if (r->headline != EMP_ET)
			break;
		snprintf(why, EMP_WHY, "no process time was seen");
		return false;
	case EMP_V5:
		if (!r->cutoffs.count && r->cutoffs.study) {
			snprintf(why, EMP_WHY,
				 "the study of this machine found no cutoff to apply");
			return true;
		}
		if (!r->cutoffs.count)
			snprintf(why, EMP_WHY, "no cutoffs of this machine: rule II alone");
		else if (!r->cutoffs.hold)
			snprintf(why, EMP_WHY,
				 "no cutoff of this machine is for this length: rule II alone");
		else if (!r->cutoffs.seen)
			snprintf(why, EMP_WHY, "no daemon was seen: rule II alone");
		else
			snprintf(why, EMP_WHY, "%zu cutoff%s for this length", r->cutoffs.hold,
				 r->cutoffs.hold == 1 ? "" : "s");
		return r->cutoffs.hold && r->cutoffs.seen;
	case EMP_STEADY:
		if (r->present[EMP_PT_STEADY])
			snprintf(why, EMP_WHY, "the CPU's speed explains %.0f %% of σ",
				 100 * r->steady.explained);
		else
			snprintf(why, EMP_WHY, "the CPU's speed explains nothing of σ");
		return r->present[EMP_PT_STEADY];
	case EMP_V6:
		snprintf(why, EMP_WHY, measured >= SAMPLES ? "the first 10 of %zu" : "only %zu",
			 measured);
		return measured >= SAMPLES;
	default:
		break;
	}
	return emp_condition(machine, v, why);
}

/* ---- what they give ---- */

/* So many of the executions that n of them count; all where fewer do. */
static size_t prefix_of(const struct emp_result *all, size_t n)
{
	for (size_t i = 0, counted = 0; i < all->count; i++) {
		if (counted == n)
			return i;
		counted += all->verdicts[i].rule != EMP_WARMUP &&
			   all->verdicts[i].rule != EMP_FAILED;
	}
	return all->count;
}

/* With both rules or without any. */
static struct emp_options with_rules(struct emp_options options, bool both)
{
	options.keep_outside = !both;
	options.no_steady = true;
	options.cutoff_count = both ? options.cutoff_count : 0;
	return options;
}

void emp_versions(const struct run *run, const struct execution *executions, size_t count,
		  const struct machine *machine, const struct emp_options *options,
		  struct emp_versions *out)
{
	struct emp_options none = with_rules(*options, false), both = with_rules(*options, true);
	struct emp_result all, judged, ten, steady;
	struct emp_options with_steady = both;
	with_steady.no_steady = false;
	emp_judge(run, executions, count, &none, &all);
	emp_judge(run, executions, count, &both, &judged);
	emp_judge(run, executions, prefix_of(&all, SAMPLES), &both, &ten);
	emp_judge(run, executions, prefix_of(&all, SAMPLES), &with_steady, &steady);
	bool held = true;
	const char *lacks = NULL;
	*out = (struct emp_versions){ .count = judged.steady.n ? EMP_VERSIONS : EMP_STEADY };
	for (enum emp_version v = EMP_V0; v < EMP_VERSIONS; v++) {
		struct emp_version_row *row = &out->rows[v];
		row->version = v;
		bool own = holds(v, machine, v == EMP_STEADY ? &steady : &judged, row->why);
		if (own && !held) /* its own is met, one before it is not */
			snprintf(row->why, sizeof row->why, "%s is not met", lacks);
		else if (!own && !lacks)
			lacks = emp_version_names[v];
		row->held = held = held && own;
		const struct emp_result *r = v == EMP_STEADY ? &steady
					     : v == EMP_V6   ? &ten
					     : v == EMP_V5   ? &judged
							     : &all;
		bool adjusted = v == EMP_STEADY && r->present[EMP_PT_STEADY];
		row->measure = v == EMP_V0 ? EMP_ET : adjusted ? EMP_PT_STEADY : r->headline;
		row->et = r->kept[EMP_ET];
		row->value = r->kept[row->measure];
		row->n = row->value.n;
		row->dropped_cutoff = r->dropped[EMP_CUTOFF];
		row->dropped_outside = r->dropped[EMP_OUTSIDE];
	}
	emp_result_release(&all);
	emp_result_release(&judged);
	emp_result_release(&ten);
	emp_result_release(&steady);
}

/* ---- how many samples it takes ---- */

/* The paper's sizes: halves down to some dozens, then 40, 30, 20, 10 and 5. */
static size_t smaller(size_t n)
{
	static const size_t last[] = { 40, 30, 20, 10, 5 };
	if (n / 2 > 60)
		return n / 2;
	for (size_t i = 0; i < sizeof last / sizeof *last; i++)
		if (last[i] < n)
			return last[i];
	return 0;
}

static double outlier_share(const struct emp_size_row *row)
{
	return (double)(row->dropped_cutoff + row->dropped_outside) / (double)row->n;
}

void emp_sizes(const struct run *run, const struct execution *executions, size_t count,
	       const struct emp_options *options, emp_size_list *out)
{
	struct emp_options none = with_rules(*options, false), both = with_rules(*options, true);
	struct emp_result all;
	emp_judge(run, executions, count, &none, &all);
	size_t first = out->count, best = SIZE_MAX;
	for (size_t n = all.unfiltered[EMP_ET].n; n; n = smaller(n)) {
		struct emp_result r;
		emp_judge(run, executions, prefix_of(&all, n), &both, &r);
		array_push(out, (struct emp_size_row){ .n = n,
						       .dropped_cutoff = r.dropped[EMP_CUTOFF],
						       .dropped_outside = r.dropped[EMP_OUTSIDE],
						       .et = r.kept[EMP_ET],
						       .value = r.kept[r.headline] });
		emp_result_release(&r);
	}
	for (size_t i = first; i < out->count && out->items[i].n >= SAMPLES; i++) {
		const struct emp_size_row *row = &out->items[i], *whole = &out->items[first];
		double off = fabs(row->value.stddev - whole->value.stddev);
		if (row->value.n < 2 ||
		    !(off <= fmax(NEAR_SIGMA * whole->value.stddev, RESOLUTION_NS)) ||
		    !(fabs(outlier_share(row) - outlier_share(whole)) <= NEAR_SHARE))
			break;
		best = i;
	}
	if (best != SIZE_MAX)
		out->items[best].recommended = true;
	emp_result_release(&all);
}
