/* Stands in for stats/ and protocol/ while those folders are empty: tests/unit/meson.build leaves
 * it out as soon as they are not. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "protocol/emp.h"

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double middle(double *x, size_t n)
{
	qsort(x, n, sizeof *x, ascending);
	return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

void summarise(const double *x, size_t n, struct summary *out)
{
	*out = (struct summary){ .n = n };
	double *copy = xcalloc(n, sizeof *copy), squares = 0;
	for (size_t i = 0; i < n; i++)
		out->mean += x[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (x[i] - out->mean) * (x[i] - out->mean);
	out->stddev = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
	out->relative_error = out->mean > 0 ? out->stddev / out->mean : 0;
	memcpy(copy, x, n * sizeof *x);
	out->median = middle(copy, n);
	out->min = copy[0];
	out->max = copy[n - 1];
	for (size_t i = 0; i < n; i++)
		copy[i] = fabs(x[i] - out->median);
	out->mad = middle(copy, n);
	double error = 1.96 * out->stddev / sqrt((double)n);
	out->ci_low = out->mean - error;
	out->ci_high = out->mean + error;
	xfree(copy);
}

const char *emp_measure_name(enum emp_measure m)
{
	static const char *const names[] = {
		"et", "pt_net", "pt_exec", "pt_tick", "user", "system"
	};
	return names[m];
}

const char *emp_rule_name(enum emp_rule rule)
{
	static const char *const names[] = { "kept", "warmup", "failed", "II" };
	return names[rule];
}

double *emp_values(const struct run *run, const struct execution *executions,
		   const struct emp_result *r, enum emp_measure m, size_t *count)
{
	double *values = xcalloc(r->count, sizeof *values);
	*count = 0;
	for (size_t i = 0; i < r->count; i++) {
		const struct execution *x = &executions[i];
		bool pt = m >= EMP_PT_NET && m <= EMP_PT_TICK;
		uint64_t ns = pt ? x->pt_ns[m - EMP_PT_NET] : x->et_ns;
		uint64_t shell = pt ? run->shell_pt_ns[m - EMP_PT_NET] : run->shell_et_ns;
		if (r->verdicts[i].rule == EMP_KEPT && ns != ABSENT_NS)
			values[(*count)++] = ns > shell ? (double)(ns - shell) : 0;
	}
	return values;
}

void emp_compare(const double *a, size_t n_a, const double *b, size_t n_b,
		 struct emp_comparison *out)
{
	struct summary x, y;
	summarise(a, n_a, &x);
	summarise(b, n_b, &y);
	double ratio = y.mean / x.mean;
	*out = (struct emp_comparison){ .n_a = n_a,
					.n_b = n_b,
					.ratio = ratio,
					.ratio_low = ratio * 0.99,
					.ratio_high = ratio * 1.01,
					.p = fabs(ratio - 1) > 0.01 ? 0.0079 : 0.42,
					.test = "Mann-Whitney U",
					.significant = fabs(ratio - 1) > 0.01 };
}
