#include "report/time/several.h"

#include <math.h>

#include "base/array.h"
#include "report/core/format.h"

struct emp_judged judged_view(const struct run_view *view, bool other)
{
	return (struct emp_judged){ view->run, view->executions, view->result, other };
}

/* The caller frees them. */
static struct emp_judged *judged_views(const struct run_view *views, size_t count)
{
	struct emp_judged *judged = xcalloc(count, sizeof *judged);
	for (size_t i = 0; i < count; i++)
		judged[i] = judged_view(&views[i], false);
	return judged;
}

enum emp_measure several_pt(const struct run_view *views, size_t count)
{
	FREED struct emp_judged *judged = judged_views(views, count);
	return emp_best_pt(judged, count);
}

struct emp_choice several_choice(const struct run_view *views, size_t count, struct strbuf *why)
{
	FREED struct emp_judged *judged = judged_views(views, count);
	struct emp_choice choice;
	emp_choose(judged, count, EMP_MEASURES, &choice);
	if (why)
		emp_choice_words(&choice, judged, why);
	return choice;
}

const char *run_title(const struct run *run)
{
	return run->name && *run->name ? run->name : run->command ? run->command : "";
}

bool has_measured(const struct run_view *view)
{
	for (size_t i = 0; i < view->count; i++)
		if (!view->executions[i].warmup)
			return true;
	return false;
}

void measured_et(const struct run_view *view, struct summary *out)
{
	double *times = xcalloc(view->count + 1, sizeof *times);
	size_t n = 0;
	for (size_t i = 0; i < view->count; i++)
		if (!view->executions[i].warmup)
			times[n++] = less_shell(view->executions[i].et_ns, view->run->shell_et_ns);
	summarise(times, n, out);
	xfree(times);
}

struct hyperfine hyperfine_of(const struct run_view *view)
{
	double pt = 0, share = view->result->user_share;
	size_t n = 0;
	enum emp_measure headline = view->result->headline;
	enum grade grade = headline == EMP_ET ? GRADE_EXEC : (enum grade)(headline - EMP_PT_NET);
	for (size_t i = 0; i < view->count; i++) {
		const struct execution *x = &view->executions[i];
		if (x->warmup || x->pt_ns[grade] == ABSENT_NS)
			continue;
		pt += less_shell(x->pt_ns[grade], view->run->shell_pt_ns[grade]);
		n++;
	}
	double mean = n ? pt / (double)n : NAN;
	struct summary s;
	measured_et(view, &s);
	double second = s.n ? 1e9 : NAN;
	return (struct hyperfine){ .command = run_title(view->run),
				   .mean = s.mean / second,
				   .stddev = s.n > 1 ? s.stddev / second : NAN,
				   .median = s.median / second,
				   .user = mean * share / 1e9,
				   .system = mean * (1 - share) / 1e9,
				   .min = s.min / second,
				   .max = s.max / second };
}

double headline_pt(const struct run_view *view, const struct execution *x)
{
	enum emp_measure headline = view->result->headline;
	if (headline < EMP_PT_NET || headline > EMP_PT_TICK)
		return NAN;
	enum grade g = (enum grade)(headline - EMP_PT_NET);
	return x->pt_ns[g] == ABSENT_NS ? NAN : less_shell(x->pt_ns[g], view->run->shell_pt_ns[g]);
}

size_t fastest(const struct run_view *views, size_t count, enum emp_measure m)
{
	size_t best = count;
	for (size_t i = 0; i < count; i++) {
		const struct summary *s = &views[i].result->kept[m];
		if (views[i].result->present[m] && s->n &&
		    (best == count || s->mean < views[best].result->kept[m].mean))
			best = i;
	}
	return best;
}

size_t reference_run(const struct run_view *views, size_t count, enum emp_measure m, size_t wanted)
{
	if (wanted && wanted <= count && views[wanted - 1].result->kept[m].n)
		return wanted - 1;
	return fastest(views, count, m);
}

double ratio_sigma(const struct summary *a, const struct summary *b)
{
	if (a->mean <= 0 || b->mean <= 0)
		return 0;
	return b->mean / a->mean * hypot(a->stddev / a->mean, b->stddev / b->mean);
}
