/* The causal model: 25 measures, 73 relations that it predicts (Tables IV and VI). */
#include <math.h>
#include <stdlib.h>

#include "protocol/ttp/ttp.h"
#include "stats/correlation.h"

#define MEDIUM 0.3
#define HIGH 0.7

const struct ttp_relation ttp_relations[TTP_RELATIONS] = {
	{ "Ia", TTP_Q_USER, TTP_Q_SYSTEM, TTP_HIGH, 0.372 },
	{ "Ib", TTP_Q_USER, TTP_Q_READS, TTP_HIGH, 0.402 },
	{ "Ic", TTP_Q_USER, TTP_Q_WRITES, TTP_HIGH, 0.357 },
	{ "Id", TTP_Q_READS, TTP_Q_BLKIO, TTP_HIGH, 0.430 },
	{ "Ie", TTP_Q_READS, TTP_Q_NVCSW, TTP_HIGH, 0.480 },
	{ "If", TTP_Q_READS, TTP_Q_SYSTEM, TTP_HIGH, 0.920 },
	{ "Ig", TTP_Q_WRITES, TTP_Q_NVCSW, TTP_HIGH, 0.549 },
	{ "IIa", TTP_Q_WRITES, TTP_Q_SYSTEM, TTP_HIGH, 0.898 },
	{ "IIb", TTP_Q_WRITES, TTP_Q_BLKIO, TTP_HIGH, 0.579 },
	{ "IIc", TTP_Q_NVCSW, TTP_Q_SYSTEM, TTP_HIGH, 0.647 },
	{ "IId", TTP_Q_NIVCSW, TTP_Q_USER, TTP_HIGH, 0.651 },
	{ "IIIa", TTP_U_USER, TTP_U_SYSTEM, TTP_MEDIUM, 0.775 },
	{ "IIId", TTP_U_READS, TTP_U_BLKIO, TTP_MEDIUM, 0.685 },
	{ "IIIe", TTP_U_READS, TTP_U_NVCSW, TTP_MEDIUM, 0.843 },
	{ "IIIf", TTP_U_READS, TTP_U_SYSTEM, TTP_MEDIUM, 0.813 },
	{ "IIIg", TTP_U_WRITES, TTP_U_NVCSW, TTP_MEDIUM, 0.502 },
	{ "IVa", TTP_U_WRITES, TTP_U_SYSTEM, TTP_MEDIUM, 0.458 },
	{ "IVb", TTP_U_WRITES, TTP_U_BLKIO, TTP_MEDIUM, 0.871 },
	{ "IVc", TTP_U_NVCSW, TTP_U_SYSTEM, TTP_MEDIUM, 0.924 },
	{ "IVd", TTP_U_NIVCSW, TTP_U_USER, TTP_MEDIUM, 0.776 },
	{ "IVe", TTP_U_NVCSW, TTP_U_USER, TTP_MEDIUM, 0.875 },
	{ "Va", TTP_D_USER, TTP_D_SYSTEM, TTP_MEDIUM, 0.462 },
	{ "Vd", TTP_D_READS, TTP_D_BLKIO, TTP_MEDIUM, 0.216 },
	{ "Ve", TTP_D_READS, TTP_D_NVCSW, TTP_MEDIUM, 0.401 },
	{ "Vf", TTP_D_READS, TTP_D_SYSTEM, TTP_MEDIUM, 0.612 },
	{ "Vg", TTP_D_WRITES, TTP_D_NVCSW, TTP_MEDIUM, 0.434 },
	{ "VIa", TTP_D_WRITES, TTP_D_SYSTEM, TTP_MEDIUM, 0.747 },
	{ "VIb", TTP_D_WRITES, TTP_D_BLKIO, TTP_MEDIUM, 0.283 },
	{ "VIc", TTP_D_NVCSW, TTP_D_SYSTEM, TTP_MEDIUM, 0.537 },
	{ "VId", TTP_D_NIVCSW, TTP_D_USER, TTP_MEDIUM, 0.699 },
	{ "VIe", TTP_D_NVCSW, TTP_D_USER, TTP_MEDIUM, 0.303 },
	{ "VIIa", TTP_Q_READS, TTP_O_IOWAIT, TTP_MEDIUM, 0.442 },
	{ "VIIb", TTP_U_READS, TTP_O_IOWAIT, TTP_LOW, 0.784 },
	{ "VIIc", TTP_D_READS, TTP_O_IOWAIT, TTP_LOW, 0.138 },
	{ "VIId", TTP_Q_WRITES, TTP_O_SOFTIRQ, TTP_MEDIUM, 0.692 },
	{ "VIIe", TTP_U_WRITES, TTP_O_SOFTIRQ, TTP_LOW, 0.206 },
	{ "VIIf", TTP_D_WRITES, TTP_O_SOFTIRQ, TTP_LOW, 0.323 },
	{ "VIIIa", TTP_Q_WRITES, TTP_O_IOWAIT, TTP_MEDIUM, 0.582 },
	{ "VIIIb", TTP_U_WRITES, TTP_O_IOWAIT, TTP_LOW, 0.472 },
	{ "VIIIc", TTP_D_WRITES, TTP_O_IOWAIT, TTP_LOW, 0.579 },
	{ "VIIId", TTP_Q_READS, TTP_O_SYSTEM, TTP_MEDIUM, 0.913 },
	{ "VIIIe", TTP_U_READS, TTP_O_SYSTEM, TTP_LOW, 0.415 },
	{ "VIIIf", TTP_D_READS, TTP_O_SYSTEM, TTP_LOW, 0.401 },
	{ "IXa", TTP_Q_READS, TTP_O_SOFTIRQ, TTP_MEDIUM, 0.698 },
	{ "IXb", TTP_U_READS, TTP_O_SOFTIRQ, TTP_LOW, 0.385 },
	{ "IXc", TTP_D_READS, TTP_O_SOFTIRQ, TTP_LOW, 0.237 },
	{ "IXd", TTP_Q_WRITES, TTP_O_SYSTEM, TTP_MEDIUM, 0.944 },
	{ "IXe", TTP_U_WRITES, TTP_O_SYSTEM, TTP_LOW, 0.223 },
	{ "IXf", TTP_D_WRITES, TTP_O_SYSTEM, TTP_LOW, 0.482 },
	{ "Xa", TTP_Q_USER, TTP_O_SYSTEM, TTP_MEDIUM, 0.417 },
	{ "Xb", TTP_U_USER, TTP_O_SYSTEM, TTP_LOW, 0.415 },
	{ "Xc", TTP_D_USER, TTP_O_SYSTEM, TTP_LOW, 0.300 },
	{ "Xd", TTP_Q_NVCSW, TTP_O_SYSTEM, TTP_MEDIUM, 0.665 },
	{ "Xe", TTP_U_NVCSW, TTP_O_SYSTEM, TTP_LOW, 0.445 },
	{ "Xf", TTP_D_NVCSW, TTP_O_SYSTEM, TTP_MEDIUM, 0.901 },
	{ "XIa", TTP_Q_NIVCSW, TTP_O_USER, TTP_MEDIUM, 0.653 },
	{ "XIb", TTP_U_NIVCSW, TTP_O_USER, TTP_LOW, 0.135 },
	{ "XIc", TTP_D_NIVCSW, TTP_O_USER, TTP_LOW, 0.286 },
	{ "XId", TTP_Q_NVCSW, TTP_O_USER, TTP_MEDIUM, 0.518 },
	{ "XIe", TTP_U_NVCSW, TTP_O_USER, TTP_LOW, 0.180 },
	{ "XIf", TTP_D_NVCSW, TTP_O_USER, TTP_LOW, 0.439 },
	{ "XIIa", TTP_Q_USER, TTP_O_SOFTIRQ, TTP_MEDIUM, 0.325 },
	{ "XIIb", TTP_U_USER, TTP_O_SOFTIRQ, TTP_LOW, 0.368 },
	{ "XIIc", TTP_D_USER, TTP_O_SOFTIRQ, TTP_LOW, 0.140 },
	{ "XIId", TTP_Q_NVCSW, TTP_O_SOFTIRQ, TTP_MEDIUM, 0.459 },
	{ "XIIe", TTP_Q_NIVCSW, TTP_O_SOFTIRQ, TTP_MEDIUM, 0.122 },
	{ "XIIIa", TTP_O_USER, TTP_O_SYSTEM, TTP_MEDIUM, 0.437 },
	{ "XIVa", TTP_Q_USER, TTP_O_USER, TTP_HIGH, 0.991 },
	{ "XIVb", TTP_U_USER, TTP_O_USER, TTP_LOW, 0.165 },
	{ "XIVc", TTP_D_USER, TTP_O_USER, TTP_LOW, 0.193 },
	{ "XIVd", TTP_Q_SYSTEM, TTP_O_SYSTEM, TTP_HIGH, 0.953 },
	{ "XIVe", TTP_U_SYSTEM, TTP_O_SYSTEM, TTP_LOW, 0.432 },
	{ "XIVf", TTP_D_SYSTEM, TTP_O_SYSTEM, TTP_LOW, 0.608 },
};

/* Each of three roles has these, in the order of enum ttp_model_measure. */
static const enum query_measure of_role[] = { QUERY_USER_NS, QUERY_SYSTEM_NS, QUERY_BLKIO_NS,
					      QUERY_READS,   QUERY_WRITES,    QUERY_NVCSW,
					      QUERY_NIVCSW };
#define OF_ROLE (sizeof of_role / sizeof *of_role)

const char *const ttp_model_measure_names[TTP_MODEL_MEASURES] = {
	"q.user", "q.system", "q.blkio",   "q.reads",  "q.writes", "q.nvcsw", "q.nivcsw",
	"u.user", "u.system", "u.blkio",   "u.reads",  "u.writes", "u.nvcsw", "u.nivcsw",
	"d.user", "d.system", "d.blkio",   "d.reads",  "d.writes", "d.nvcsw", "d.nivcsw",
	"o.user", "o.system", "o.softirq", "o.iowait",
};

const char *const ttp_level_names[TTP_LEVELS] = { "low", "med", "high" };

double ttp_model_value(const struct query_execution *x, enum ttp_model_measure m)
{
	static const enum overall_measure of_cpus[] = { OVERALL_USER, OVERALL_SYSTEM,
							OVERALL_SOFTIRQ, OVERALL_IOWAIT };
	if (m < TTP_O_USER) {
		size_t role = (size_t)m / OF_ROLE, measure = (size_t)m % OF_ROLE;
		const struct query_usage *u = &x->usage[role];
		return u->missing >> of_role[measure] & 1 ? NAN
							  : (double)u->value[of_role[measure]];
	}
	enum overall_measure o = of_cpus[m - TTP_O_USER];
	bool nice = m == TTP_O_USER; /* user time of any priority */
	if (x->overall_missing & (1u << o | (uint32_t)nice << OVERALL_NICE))
		return NAN;
	return (double)x->overall_ns[o] + (nice ? (double)x->overall_ns[OVERALL_NICE] : 0);
}

/* Values of one measure over the executions that are kept, each run's from 0 to 1, NaN where it
 * was not seen; how many. */
static size_t scaled(const struct query_run *const *runs, const struct ttp_result *const *results,
		     size_t count, enum ttp_model_measure m, double *out)
{
	size_t all = 0;
	for (size_t d = 0; d < count; d++) {
		size_t n = 0, at = 0;
		double low = INFINITY, high = -INFINITY;
		for (size_t i = 0; i < runs[d]->at.count; i++) {
			const struct query_at *q = &runs[d]->at.items[i];
			for (size_t k = 0; k < q->executions.count; k++, at++) {
				if (results[d]->fired[at] || results[d]->at[i].drop)
					continue;
				out[n] = ttp_model_value(&q->executions.items[k], m);
				low = fmin(low, out[n]);
				high = fmax(high, out[n++]);
			}
		}
		for (size_t i = 0; i < n; i++)
			out[i] = high > low ? (out[i] - low) / (high - low) : out[i] - low;
		out += n;
		all += n;
	}
	return all;
}

/* By measure; how many there are of each. */
static size_t values_of(const struct query_run *const *runs,
			const struct ttp_result *const *results, size_t count,
			double *values[TTP_MODEL_MEASURES])
{
	size_t n = 0, kept = 0;
	for (size_t d = 0; d < count; d++)
		for (size_t i = 0; i < runs[d]->at.count; i++)
			n += runs[d]->at.items[i].executions.count;
	for (int m = 0; m < TTP_MODEL_MEASURES; m++) {
		values[m] = xcalloc(n + 1, sizeof *values[m]);
		kept = scaled(runs, results, count, (enum ttp_model_measure)m, values[m]);
	}
	return kept;
}

static void values_release(double *values[TTP_MODEL_MEASURES])
{
	for (int m = 0; m < TTP_MODEL_MEASURES; m++)
		xfree(values[m]);
}

/* Over the executions in which both were seen. */
static void correlate_seen(const double *x, const double *y, size_t n, struct correlation *out)
{
	FREED double *seen = xcalloc(2 * n + 1, sizeof *seen);
	size_t both = 0;
	for (size_t i = 0; i < n; i++)
		if (!isnan(x[i]) && !isnan(y[i])) {
			seen[both] = x[i];
			seen[n + both++] = y[i];
		}
	correlate(seen, seen + n, both, out);
}

void ttp_model_matrix(const struct query_run *run, const struct ttp_result *result,
		      double r[TTP_MODEL_MEASURES][TTP_MODEL_MEASURES])
{
	double *values[TTP_MODEL_MEASURES];
	size_t n = values_of(&run, &result, 1, values);
	for (int i = 0; i < TTP_MODEL_MEASURES; i++)
		for (int k = i; k < TTP_MODEL_MEASURES; k++) {
			struct correlation c;
			correlate_seen(values[i], values[k], n, &c);
			r[i][k] = r[k][i] = c.r;
		}
	values_release(values);
}

void ttp_model(const struct query_run *const *runs, const struct ttp_result *const *results,
	       size_t count, struct ttp_correlation out[TTP_RELATIONS])
{
	double *values[TTP_MODEL_MEASURES];
	size_t n = values_of(runs, results, count, values);
	for (int i = 0; i < TTP_RELATIONS; i++) {
		const struct ttp_relation *relation = &ttp_relations[i];
		struct correlation c;
		correlate_seen(values[relation->left], values[relation->right], n, &c);
		out[i] = (struct ttp_correlation){ .r = c.r, .p = c.p, .off = -1 };
		if (isnan(c.r))
			continue;
		double size = fabs(c.r);
		out[i].level = size >= HIGH ? TTP_HIGH : size >= MEDIUM ? TTP_MEDIUM : TTP_LOW;
		/* all predictions are in the positive direction (section 5.2) */
		int level = c.r < 0 ? -(int)out[i].level : (int)out[i].level;
		int off = abs(level - (int)relation->predicted);
		out[i].off = off > 2 ? 2 : off;
	}
	values_release(values);
}
