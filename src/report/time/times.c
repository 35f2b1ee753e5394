#include "report/time/times.h"

#include <math.h>

#include "report/core/format.h"
#include "report/time/several.h"

double time_value(const struct run_view *v, size_t i, enum emp_measure m)
{
	const struct execution *x = &v->executions[i];
	if (m == EMP_ET)
		return less_shell(x->et_ns, v->run->shell_et_ns);
	struct steady_input in;
	if (m == EMP_PT_STEADY)
		return emp_speed(v->run, x, &in) ? steady_value(&v->result->steady, &in) : NAN;
	size_t g = (size_t)m - EMP_PT_NET;
	return x->pt_ns[g] == ABSENT_NS ? NAN : less_shell(x->pt_ns[g], v->run->shell_pt_ns[g]);
}

int time_check_measure(const struct run_view *v, enum emp_measure m, struct error *err)
{
	size_t measured = 0;
	for (size_t i = 0; i < v->count; i++)
		measured += rule_is_measured(v->result->verdicts[i].rule);
	if (!measured)
		return error_set(err, EXIT_USAGE,
				 "there is nothing to plot: no execution of run %lld was measured",
				 (long long)v->run->id);
	if (v->result->present[m])
		return 0;
	error_set(err, EXIT_USAGE, "run %lld has no %s", (long long)v->run->id, measure_title(m));
	return error_hint(err, "'tare show %lld' tells what it has", (long long)v->run->id);
}
