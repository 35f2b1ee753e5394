/* Executions of queries for the reports that are made for those of commands: explain, processes. */
#include <math.h>
#include <stdlib.h>

#include "cmd/query/query.h"

/* Dropped ones are explained whatever they took, so that they count as above their bound. */
static struct emp_verdict verdict_of(uint32_t fired, bool timed_out)
{
	return (struct emp_verdict){ .rule = timed_out ? EMP_FAILED
					     : fired   ? EMP_OUTSIDE
						       : EMP_KEPT,
				     .value_ns = fired ? 1 : NAN,
				     .low_ns = fired ? 0 : NAN,
				     .high_ns = fired ? 0 : NAN };
}

/* The execution of the run that this one is, and what the protocol found. */
static const struct query_execution *find(const struct query_executions *x,
					  const struct execution *e, uint32_t *fired)
{
	const struct query_run *q = &x->of->queries;
	const uint32_t *bits = x->of->ttp.fired;
	array_each(at, &q->at) {
		for (size_t k = 0; k < at->executions.count && x->at == at; k++)
			if (at->executions.items[k].raw == e->id) {
				*fired = bits[k];
				return &at->executions.items[k];
			}
		bits += at->executions.count;
	}
	return NULL;
}

int query_executions_load(struct lab *lab, const struct loaded_run *l, const struct query_at *at,
			  struct query_executions *into, struct error *err)
{
	*into = (struct query_executions){ .of = l, .at = at };
	int failed = at ? lab_get_query_ledger(lab, l->run.id, at->query, at->cardinality,
					       &into->list, err)
			: lab_get_executions(lab, l->run.id, LAB_PROCESSES, &into->list, err);
	if (failed)
		return -1;
	into->result.verdicts = xcalloc(into->list.count + 1, sizeof *into->result.verdicts);
	into->result.count = into->list.count;
	for (size_t i = 0; at && i < into->list.count; i++) {
		uint32_t fired = 0;
		const struct query_execution *q = find(into, &into->list.items[i], &fired);
		if (q)
			into->list.items[i].number = q->number;
		into->result.verdicts[i] = verdict_of(fired, q && q->timed_out);
	}
	return 0;
}

void query_executions_release(struct query_executions *x)
{
	array_each(e, &x->list)
		execution_release(e);
	array_release(&x->list);
	free(x->result.verdicts);
	*x = (struct query_executions){ 0 };
}

struct run_view query_executions_view(const struct query_executions *x)
{
	return (struct run_view){ .run = &x->of->run,
				  .executions = x->list.items,
				  .count = x->list.count,
				  .result = &x->result,
				  .machine = &x->of->machine };
}

const struct query_at *query_most_varied(const struct loaded_run *l)
{
	const struct query_at *most = NULL;
	double spread = 0;
	for (size_t i = 0; i < l->queries.at.count; i++) {
		const struct query_at *at = &l->queries.at.items[i];
		const struct ttp_figure *f = &l->ttp.at[i].unfiltered[TTP_MEASURED];
		double slowest = 0;
		array_each(x, &at->executions)
			slowest = x->timed_out ? slowest : fmax(slowest, (double)x->measured_ns);
		if (!f->present || (most && slowest / f->median_ns <= spread))
			continue;
		most = at;
		spread = slowest / f->median_ns;
	}
	return most;
}
