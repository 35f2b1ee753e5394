#include "protocol/emp/explain.h"

#include <math.h>
#include <stdlib.h>

#include "stats/summary.h"

#define SLOW_SIGMAS 3
#define SLOW_MATTERS 0.02   /* of the median: less is not worth a reason */
#define MAD_TO_SIGMA 1.4826 /* of a normal distribution */

const char *const explain_why_names[] = { "asked", "slow", "slowest" };

struct candidate {
	uint64_t et_ns;
	size_t index;
};

typedef ARRAY(struct candidate) candidate_list;

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	return ORDER(x->et_ns, y->et_ns) ?: ORDER(x->index, y->index);
}

/* Executions with a ledger that are neither warm-ups nor failed, by ET; on demand the kept ones
 * only. */
static void find_candidates(const struct execution *executions, size_t count,
			    const struct emp_result *r, bool kept, candidate_list *out)
{
	for (size_t i = 0; i < count && i < r->count; i++) {
		enum emp_rule rule = r->verdicts[i].rule;
		if (executions[i].ledger.present &&
		    (rule == EMP_KEPT || (!kept && (rule == EMP_CUTOFF || rule == EMP_OUTSIDE))))
			array_push(out, (struct candidate){ executions[i].et_ns, i });
	}
	array_sort(out, compare_candidates);
}

static void add(const struct execution *executions, size_t index, enum explain_why why,
		struct explanation *out)
{
	const struct execution *x = &executions[index], *base = &executions[out->base];
	struct explained e = { .index = index,
			       .why = why,
			       .threads = has_threads(x) || has_threads(base) };
	difference_of(x, base, DIFFERENCE_WALL, &e.wall);
	if (e.threads)
		difference_of(x, base, DIFFERENCE_ACCOUNT, &e.account);
	array_push(&out->list, e);
}

static bool is_slow(const struct candidate *c, uint64_t base_ns, const struct emp_result *r,
		    const struct explanation *e)
{
	const struct emp_verdict *v = &r->verdicts[c->index];
	bool high = (v->rule == EMP_CUTOFF || v->rule == EMP_OUTSIDE) && v->value_ns > v->high_ns;
	return c->et_ns > base_ns && (high || (double)c->et_ns > e->limit_ns);
}

static int no_ledger(const struct execution *executions, size_t count, struct error *err)
{
	bool any = false;
	for (size_t i = 0; i < count; i++)
		any |= executions[i].ledger.present;
	if (any)
		return error_set(err, EXIT_USAGE,
				 "of the executions with a ledger none succeeded: there is none to "
				 "compare with");
	error_set(err, EXIT_ENVIRONMENT, "no ledger was kept, so nothing can be explained");
	return error_hint(err, "measure again as root, where the bpf back end keeps one: "
			       "sudo tare time --ledger ...");
}

/* The candidates, and of them the base, the median one of those kept or else of all, and the limit;
 * fewer than `least`: only the candidates. */
static void find_base(const struct execution *executions, size_t count,
		      const struct emp_result *result, size_t least, candidate_list *all,
		      struct explanation *out)
{
	candidate_list kept = { 0 };
	find_candidates(executions, count, result, false, all);
	find_candidates(executions, count, result, true, &kept);
	if (all->count >= least) {
		const candidate_list *from = kept.count ? &kept : all;
		double *et = xmalloc(all->count * sizeof *et);
		struct summary s;
		for (size_t i = 0; i < all->count; i++)
			et[i] = (double)all->items[i].et_ns;
		summarise_unordered(et, all->count, &s);
		xfree(et);
		out->base = from->items[(from->count - 1) / 2].index;
		out->median_ns = s.median;
		out->limit_ns = s.median +
				fmax(SLOW_SIGMAS * MAD_TO_SIGMA * s.mad, SLOW_MATTERS * s.median);
	}
	array_release(&kept);
}

bool explain_finds_slow(const struct execution *executions, size_t count,
			const struct emp_result *result)
{
	candidate_list all = { 0 };
	struct explanation e = { 0 };
	bool found = false;
	find_base(executions, count, result, 2, &all, &e);
	for (size_t i = 0; all.count > 1 && i < all.count && !found; i++)
		found = is_slow(&all.items[i], executions[e.base].et_ns, result, &e);
	array_release(&all);
	return found;
}

int explain_run(const struct execution *executions, size_t count, const struct emp_result *result,
		size_t asked, struct explanation *out, struct error *err)
{
	candidate_list all = { 0 };
	struct explanation found = { 0 };
	int failed = 0;
	*out = (struct explanation){ 0 };
	find_base(executions, count, result, 1, &all, &found);
	if (!all.count) {
		failed = no_ledger(executions, count, err);
	} else if (asked != EXPLAIN_SLOW_ONES && !executions[asked].ledger.present) {
		failed = error_set(err, EXIT_ENVIRONMENT,
				   "no ledger was kept of this execution, so nothing can be "
				   "explained");
	} else if (asked == EXPLAIN_SLOW_ONES && all.count < 2) {
		error_set(err, EXIT_USAGE,
			  "one execution alone cannot be explained: there is none to compare with");
		failed = error_hint(err, "--runs 10 and more tell what is usual");
	} else {
		*out = found;
		out->compared = all.count;
		bool slow_ones = asked == EXPLAIN_SLOW_ONES;
		size_t slowest = all.items[all.count - 1].index;
		for (size_t i = all.count; slow_ones && i-- > 0;)
			if (is_slow(&all.items[i], executions[out->base].et_ns, result, out))
				add(executions, all.items[i].index, EXPLAIN_SLOW, out);
		if (slow_ones && !out->list.count && slowest != out->base)
			add(executions, slowest, EXPLAIN_SLOWEST, out);
		else if (!slow_ones && asked != out->base)
			add(executions, asked, EXPLAIN_ASKED, out);
	}
	array_release(&all);
	return failed;
}

void explanation_release(struct explanation *e)
{
	for (size_t i = 0; i < e->list.count; i++) {
		difference_release(&e->list.items[i].wall);
		difference_release(&e->list.items[i].account);
	}
	array_release(&e->list);
	*e = (struct explanation){ 0 };
}
