#include "emp-fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

struct execution execution(double et_ns, double pt_ns)
{
	return (struct execution){ .et_ns = (uint64_t)et_ns,
				   .pt_ns = { ABSENT_NS, pt_ns < 0 ? ABSENT_NS : (uint64_t)pt_ns,
					      ABSENT_NS },
				   .user_ns = ABSENT_NS,
				   .system_ns = ABSENT_NS };
}

void make(struct execution *x, size_t n, const double *et_ns, const double *pt_ns)
{
	for (size_t i = 0; i < n; i++) {
		x[i] = execution(et_ns[i], pt_ns ? pt_ns[i] : -1);
		x[i].number = (uint32_t)i + 1;
	}
}

void add_process(struct execution *x, enum role role, const char *name, double exec_ns)
{
	struct process p = { .role = role,
			     .present = 1 << TASK_EXEC,
			     .value[TASK_EXEC] = (uint64_t)exec_ns };
	snprintf(p.name, sizeof p.name, "%s", name);
	array_push(&x->processes, p);
}

void release_executions(struct execution *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		array_release(&x[i].processes);
}

const struct emp_warning *find(const struct emp_result *r, const char *id)
{
	for (size_t i = 0; i < r->warnings.count; i++)
		if (strcmp(r->warnings.items[i].id, id) == 0)
			return &r->warnings.items[i];
	return NULL;
}

void assert_holds(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' does not hold '%s'", text, part);
}

void assert_text(const struct emp_result *r, const char *id, const char *part)
{
	const struct emp_warning *w = find(r, id);
	assert_non_null(w);
	assert_holds(w->text, part);
}

void assert_remedy(const struct emp_result *r, const char *id, const char *part)
{
	const struct emp_warning *w = find(r, id);
	assert_non_null(w);
	assert_holds(w->remedy, part);
}

double normal(struct random *r)
{
	double u = 1 - random_unit(r);
	return sqrt(-2 * log(u)) * cos(6.283185307179586 * random_unit(r));
}
