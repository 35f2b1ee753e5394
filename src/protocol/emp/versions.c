#include "protocol/emp/versions.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "protocol/doctor/doctor.h"

#define SAMPLES 10 /* of v6 */

/* How near sigma and the share of outliers of a part must be to those of the whole, or else not be
 * shown to differ. With these the paper's own tables (XX and XXI: INC128, 800 samples) recommend
 * 10, as the paper does. */
#define NEAR_SIGMA 0.25
#define NEAR_SHARE 0.1
#define RESOLUTION_NS 1000.0 /* sigmas closer than this are the clock's */
#define LEVEL 0.99	     /* of the interval; several sizes are asked */
/* Times the variance of the logarithm of sigma where rule (II) drops some: 2.2 for normal
 * values, 2.5 for lognormal (sigma 0.5) and 2.8 for exponential ones, simulated. */
#define TRIMMED 2.5

#define DAY_NS (24 * 3600e9)
#define FIRST_SERIES_DAYS 18476 /* Linux 5.8, since 1970 */
#define SERIES_DAYS 66.5
#define NEW_DAYS 730 /* a series is called up to date so long */

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

/* When the series of a kernel came out, in ns since 1970: one follows the other every 66 or 67
 * days, since 5.8 on 2020-08-02, and from 6 on after x.19 comes the next x. 0: it cannot be read,
 * or is older. */
static double series_ns(const char *release)
{
	int major, minor;
	if (!release || sscanf(release, "%d.%d", &major, &minor) < 2 || major < 5 ||
	    (major == 5 && minor < 8))
		return 0;
	int series = major == 5 ? minor - 8 : 12 + 20 * (major - 6) + minor;
	return (FIRST_SERIES_DAYS + SERIES_DAYS * series) * DAY_NS;
}

/* A version number tells that a kernel is old, but not whether an older series has had its updates.
 */
static bool is_of_an_old_series(const char *release, int64_t at_ns, char why[EMP_WHY])
{
	double out_ns = series_ns(release);
	char date[32], shown[64];
	if (!(out_ns > 0) || (at_ns && (double)at_ns - out_ns < NEW_DAYS * DAY_NS))
		return false;
	text_date((int64_t)out_ns, date, sizeof date);
	text_display(release, shown, sizeof shown);
	snprintf(why, EMP_WHY,
		 "Linux %s is of a series from about %.4s: whether it has had its updates is not "
		 "known here",
		 shown, date);
	return true;
}

/* Checks of the doctor without which a version cannot be judged. */
static bool is_needed(const char *id, enum emp_version v)
{
	static const char *const needed[][5] = { [EMP_V1] = { "daemons", "cron", "updates",
							      "indexers" },
						 [EMP_V2] = { "ntp" },
						 [EMP_V3] = { "turbo", "governor" },
						 [EMP_V4] = { "kernel" } };
	for (const char *const *n = needed[v]; *n; n++)
		if (strcmp(id, *n) == 0)
			return true;
	return false;
}

enum emp_met emp_condition(const struct machine *m, int64_t at_ns, enum emp_version v,
			   char why[EMP_WHY])
{
	char asked[8];
	finding_list findings = { 0 };
	const struct finding *worst = NULL, *unknown = NULL;
	bool of_machine = v >= EMP_V1 && v <= EMP_V4;
	snprintf(why, EMP_WHY, "%s",
		 of_machine ? "nothing is known of the machine" : "it asks nothing of the machine");
	if (!of_machine)
		return EMP_NOT_MET;
	if (!m || !m->facts.count)
		return EMP_CANNOT_SAY;
	snprintf(asked, sizeof asked, "EMP %s", emp_version_names[v]);
	doctor_judge(m, &findings); /* worst first */
	array_each(f, &findings) {
		/* a little load is what tare itself has left; more is a daemon that was not stopped
		 */
		bool load = v == EMP_V1 && strcmp(f->id, "load") == 0 &&
			    f->severity == SEVERITY_BAD;
		bool own = strstr(f->source, asked);
		bool hides = own && strcmp(f->id, "frequency_hidden") == 0 &&
			     f->severity == SEVERITY_NOTE;
		if ((own || load) && !worst)
			worst = f;
		if (!unknown && (hides || (f->severity == SEVERITY_UNKNOWN && is_needed(f->id, v))))
			unknown = f;
	}
	enum emp_met met = !worst || worst->severity == SEVERITY_UNKNOWN ? EMP_CANNOT_SAY
			   : worst->severity >= SEVERITY_WARN		 ? EMP_NOT_MET
			   : unknown					 ? EMP_CANNOT_SAY
									 : EMP_MET;
	const struct finding *said = met == EMP_CANNOT_SAY && unknown ? unknown : worst;
	if (said)
		text_display(said->condition, why, EMP_WHY);
	if (met == EMP_MET && v == EMP_V4 &&
	    is_of_an_old_series(machine_get(m, "kernel.release"), at_ns, why))
		met = EMP_CANNOT_SAY;
	array_release(&findings);
	return met;
}

/* v's own addition, in this run. */
static enum emp_met holds(enum emp_version v, const struct run *run, const struct machine *machine,
			  const struct emp_result *r, char why[EMP_WHY])
{
	size_t measured = r->unfiltered[EMP_ET].n;
	bool held;
	switch (v) {
	case EMP_V0:
		return EMP_MET;
	case EMP_V1:
		if (r->headline != EMP_ET)
			break;
		snprintf(why, EMP_WHY, "no process time was seen");
		return EMP_NOT_MET;
	case EMP_V5:
		held = r->cutoffs.hold && r->cutoffs.seen;
		if (!r->cutoffs.count && r->cutoffs.study) {
			snprintf(why, EMP_WHY,
				 "the study of this machine found no cutoff to apply");
			held = true;
		} else if (!r->cutoffs.count)
			snprintf(why, EMP_WHY, "no cutoffs of this machine: rule II alone");
		else if (!r->cutoffs.hold)
			snprintf(why, EMP_WHY,
				 "no cutoff of this machine is for this length: rule II alone");
		else if (!r->cutoffs.seen)
			snprintf(why, EMP_WHY, "no daemon was seen: rule II alone");
		else
			snprintf(why, EMP_WHY, "%zu cutoff%s for this length", r->cutoffs.hold,
				 r->cutoffs.hold == 1 ? "" : "s");
		return held ? EMP_MET : EMP_NOT_MET;
	case EMP_STEADY:
		if (r->present[EMP_PT_STEADY])
			snprintf(why, EMP_WHY, "the CPU's speed explains %.0f %% of σ",
				 100 * r->steady.explained);
		else
			snprintf(why, EMP_WHY, "the CPU's speed explains nothing of σ");
		return r->present[EMP_PT_STEADY] ? EMP_MET : EMP_NOT_MET;
	case EMP_V6:
		snprintf(why, EMP_WHY, measured >= SAMPLES ? "the first 10 of %zu" : "only %zu",
			 measured);
		return measured >= SAMPLES ? EMP_MET : EMP_NOT_MET;
	default:
		break;
	}
	return emp_condition(machine, run->started_at_ns, v, why);
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
	enum emp_met met = EMP_MET; /* so far */
	const char *lacks = NULL;
	bool shows_steady = judged.steady.n && !options->by_measure;
	*out = (struct emp_versions){ .count = shows_steady ? EMP_VERSIONS : EMP_STEADY,
				      .by_measure = options->by_measure };
	for (enum emp_version v = EMP_V0; v < EMP_VERSIONS; v++) {
		struct emp_version_row *row = &out->rows[v];
		row->version = v;
		char why[EMP_WHY] = "";
		enum emp_met own = holds(v, run, machine, v == EMP_STEADY ? &steady : &judged, why);
		if (own < met) /* the reason is one before it; what is not known is said, too */
			snprintf(row->why, sizeof row->why, "%s %s%s%.120s", lacks,
				 met == EMP_NOT_MET ? "is not met" : "cannot be said",
				 own == EMP_MET ? "" : ", and it cannot be said: ",
				 own == EMP_MET ? "" : why);
		else
			memcpy(row->why, why, sizeof row->why);
		if (own > met) {
			lacks = emp_version_names[v];
			met = own;
		}
		row->held = met == EMP_MET;
		row->unsaid = met == EMP_CANNOT_SAY;
		const struct emp_result *r = v == EMP_STEADY ? &steady
					     : v == EMP_V6   ? &ten
					     : v == EMP_V5   ? &judged
							     : &all;
		bool adjusted = v == EMP_STEADY && r->present[EMP_PT_STEADY];
		row->measure = v == EMP_V0 ? EMP_ET : adjusted ? EMP_PT_STEADY : r->lead;
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

static double outliers_of(const struct emp_size_row *row)
{
	return (double)(row->dropped_cutoff + row->dropped_outside);
}

/* n times the variance of the logarithm of sigma of n values like these: (kurtosis - 1) / 4
 * (Kendall & Stuart, "The advanced theory of statistics", 10.15), and more where rule (II) drops
 * some of them. */
static double spread_of_sigma(const double *x, size_t n, const struct emp_size_row *whole)
{
	const struct summary *s = &whole->value;
	double sum = 0;
	for (size_t i = 0; i < n && s->stddev > 0; i++)
		sum += pow((x[i] - s->mean) / s->stddev, 4);
	double kurtosis = n ? fmax(sum / (double)n, 1) : 1;
	return (whole->dropped_outside ? TRIMMED : 1) * (kurtosis - 1) / 4;
}

/* The interval in which sigma of n of the whole lies but for chance; that the n are among the whole
 * makes the difference smaller. */
static void bound_sigma(const struct summary *whole, double spread, struct emp_size_row *row)
{
	double n = (double)row->value.n, error = 0;
	if (row->value.n > 1)
		error = sqrt(spread * fmax(0, 1 / n - 1 / (double)whole->n)) *
			gsl_cdf_tdist_Pinv(1 - (1 - LEVEL) / 2, n - 1);
	row->sigma_low = whole->stddev * exp(-error);
	row->sigma_high = whole->stddev * exp(error);
}

/* Near the whole, or not shown to differ from it. */
static bool is_like(const struct emp_size_row *row, const struct emp_size_row *whole)
{
	double sigma = row->value.stddev, off = fabs(sigma - whole->value.stddev);
	bool near = off <= fmax(NEAR_SIGMA * whole->value.stddev, RESOLUTION_NS);
	if (row->value.n < 2 || !(near || (sigma >= row->sigma_low && sigma <= row->sigma_high)))
		return false;
	double outliers = outliers_of(row), n = (double)row->n;
	double share = outliers_of(whole) / (double)whole->n;
	if (fabs(outliers / n - share) <= NEAR_SHARE)
		return true;
	/* that so many or more, or so few or fewer, are outliers by chance */
	unsigned k = (unsigned)outliers;
	double p = outliers / n > share ? k ? gsl_cdf_binomial_Q(k - 1, share, (unsigned)row->n) : 1
					: gsl_cdf_binomial_P(k, share, (unsigned)row->n);
	return p >= (1 - LEVEL) / 2;
}

void emp_sizes(const struct run *run, const struct execution *executions, size_t count,
	       const struct emp_options *options, emp_size_list *out)
{
	struct emp_options none = with_rules(*options, false), both = with_rules(*options, true);
	struct emp_result all;
	emp_judge(run, executions, count, &none, &all);
	size_t first = out->count, best = SIZE_MAX;
	double spread = 0;
	for (size_t n = all.unfiltered[EMP_ET].n; n; n = smaller(n)) {
		struct emp_result r;
		emp_judge(run, executions, prefix_of(&all, n), &both, &r);
		struct emp_size_row row = { .n = n,
					    .dropped_cutoff = r.dropped[EMP_CUTOFF],
					    .dropped_outside = r.dropped[EMP_OUTSIDE],
					    .et = r.kept[EMP_ET],
					    .value = r.kept[r.lead] };
		if (out->count == first) {
			size_t kept;
			double *values = emp_values(run, executions, &r, r.lead, &kept);
			spread = spread_of_sigma(values, kept, &row);
			xfree(values);
		}
		bound_sigma(out->count > first ? &out->items[first].value : &row.value, spread,
			    &row);
		array_push(out, row);
		emp_result_release(&r);
	}
	for (size_t i = first; i < out->count && out->items[i].n >= SAMPLES; i++) {
		if (!is_like(&out->items[i], &out->items[first]))
			break;
		best = i;
	}
	if (best != SIZE_MAX)
		out->items[best].recommended = true;
	emp_result_release(&all);
}
