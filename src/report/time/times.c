#include "report/time/times.h"

#include <math.h>

#include "report/core/format.h"

double time_value(const struct run_view *v, size_t i, enum emp_measure m)
{
	const struct execution *x = &v->executions[i];
	if (m == EMP_ET)
		return less_shell(x->et_ns, v->run->shell_et_ns);
	size_t g = (size_t)m - EMP_PT_NET;
	return x->pt_ns[g] == ABSENT_NS ? NAN : less_shell(x->pt_ns[g], v->run->shell_pt_ns[g]);
}
