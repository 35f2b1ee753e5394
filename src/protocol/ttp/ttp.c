#include "protocol/ttp/ttp.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/ttp/private.h"

#define SHORT_TICKS 2

const char *const ttp_drop_names[TTP_DROPS] = {
	"kept",
	"excessive variation",
	"possible result cache",
	"another query process",
	"too short to measure",
	"fewer than 6 executions left",
};

const char *const ttp_time_names[TTP_TIMES] = { "measured", "calculated", "cpu_blocked",
						"cpu_device" };

/* ---- step 4 ---- */

double ttp_io_calc(double blkio, double iowait)
{
	return blkio - 0.5 * iowait;
}

double ttp_io_calc_of(double blkio_p, double iowait, double blkio_query, double blkio_utility,
		      double blkio_daemon)
{
	double all = blkio_query + blkio_utility + blkio_daemon;
	return all > 0 ? blkio_p - blkio_p * iowait / all : blkio_p;
}

bool ttp_time_of(const struct query_execution *x, enum ttp_time t, double *ns)
{
	const uint32_t cpu_bits = 1u << QUERY_USER_NS | 1u << QUERY_SYSTEM_NS;
	const uint32_t missing = x->usage[QUERY_QUERY].missing;
	bool has_cpu = !(missing & cpu_bits), has_blkio = !(missing >> QUERY_BLKIO_NS & 1);
	double cpu = (double)query_cpu_ns(x, QUERY_QUERY);
	double blkio = (double)x->usage[QUERY_QUERY].value[QUERY_BLKIO_NS];
	if (x->timed_out)
		return false;
	switch (t) {
	case TTP_MEASURED:
		*ns = (double)x->measured_ns;
		return true;
	case TTP_CALC:
		*ns = cpu + ttp_io_calc(blkio, (double)x->overall_ns[OVERALL_IOWAIT]);
		return has_cpu && has_blkio && !(x->overall_missing >> OVERALL_IOWAIT & 1);
	case TTP_BLOCKED:
		*ns = cpu + blkio;
		return has_cpu && has_blkio;
	case TTP_DEVICE:
		*ns = cpu + (double)x->own_device_ns;
		return has_cpu && x->own_device_ns != ABSENT_NS;
	case TTP_PART_CPU:
		*ns = cpu;
		return has_cpu;
	case TTP_PART_DEVICE:
		*ns = (double)x->own_device_ns;
		return x->own_device_ns != ABSENT_NS;
	case TTP_PART_BLOCKED:
		*ns = blkio;
		return has_blkio;
	}
	return false;
}

struct ttp_figure ttp_figure_of(const struct query_at *q, const uint32_t *fired, enum ttp_time t)
{
	struct ttp_moments m = { 0 };
	double *each = xcalloc(q->executions.count + 1, sizeof *each);
	size_t n = 0;
	bool known = true;
	for (size_t k = 0; k < q->executions.count; k++) {
		if (fired ? fired[k] != 0 : q->executions.items[k].timed_out)
			continue;
		known = known && ttp_time_of(&q->executions.items[k], t, &each[n]);
		ttp_add(&m, each[n++]);
	}
	struct ttp_figure f = { .present = known && n > 0 };
	if (f.present) {
		gsl_sort(each, 1, n);
		f.median_ns = (each[(n - 1) / 2] + each[n / 2]) / 2;
		f.mean_ns = m.mean;
		f.sigma_ns = ttp_sigma(&m);
	}
	xfree(each);
	return f;
}

/* ---- step 3 ---- */

/* Whether tare connected to the server again between the two: a new process is expected then. */
static bool was_connected_anew(const struct query_run *run, const struct query_execution *a,
			       const struct query_execution *b)
{
	bool anew = false;
	array_each(e, &run->events)
		anew |= (e->kind == QUERY_BACKED_OFF || e->kind == QUERY_RESUMED) &&
			e->at_ns >= a->started_at_ns && e->at_ns <= b->started_at_ns;
	return anew;
}

static bool has_one_process(const struct query_run *run, const struct query_at *q,
			    const uint32_t *fired)
{
	const struct query_execution *before = NULL;
	size_t kept = 0, others = 0, unexplained = 0;
	for (size_t k = 0; k < q->executions.count; k++) {
		const struct query_execution *x = &q->executions.items[k];
		if (fired[k])
			continue;
		if (!x->query_process)
			return false;
		bool other = before && x->query_process != before->query_process;
		others += other;
		unexplained += other && !was_connected_anew(run, before, x);
		kept++;
		before = x;
	}
	/* where caches are emptied by a restart, each has a process of its own */
	return !unexplained || (run->cold && others == kept - 1);
}

static enum ttp_drop drop_of(const struct query_run *run, const struct query_at *q,
			     const uint32_t *fired, const struct ttp_options *o,
			     const struct ttp_at *at)
{
	double floor = o->form == TTP_PAPER
			       ? SHORT_TICKS * (double)(o->tick_ns ? o->tick_ns : TTP_TICK_NS)
			       : (double)o->floor_ns;
	if (at->fired >> TTP_VARIATION & 1)
		return TTP_DROP_VARIATION;
	if (at->fired >> TTP_RESULT_CACHE & 1)
		return TTP_DROP_RESULT_CACHE;
	if (!has_one_process(run, q, fired))
		return TTP_DROP_QUERY_PROCESS;
	if (at->kept && at->times[TTP_MEASURED].mean_ns <= floor)
		return TTP_DROP_SHORT;
	return at->kept < TTP_LEAST_EXECUTIONS ? TTP_DROP_FEW : TTP_KEPT;
}

/* ---- monotonicity ---- */

size_t ttp_next_higher(const struct query_run *run, size_t at)
{
	const struct query_at *low = &run->at.items[at];
	for (size_t i = at + 1; i < run->at.count; i++) {
		const struct query_at *high = &run->at.items[i];
		if (high->query != low->query)
			break;
		if (low->executions.count && high->executions.count &&
		    low->executions.items[0].plan == high->executions.items[0].plan)
			return i;
	}
	return SIZE_MAX;
}

void ttp_monotonicity(const struct query_run *run, const struct ttp_level_time *times,
		      struct ttp_count *strict, struct ttp_count *relaxed, uint32_t *bits)
{
	for (size_t i = 0; i < run->at.count; i++) {
		size_t higher = ttp_next_higher(run, i);
		if (higher == SIZE_MAX)
			continue;
		const struct ttp_level_time *low = &times[i], *high = &times[higher];
		if (low->skip || high->skip || low->time != high->time)
			continue;
		strict->of++;
		relaxed->of++;
		if (low->ns > high->ns) {
			strict->fired++;
			bits[i] |= 1u << TTP_STRICT;
		}
		if (low->ns - low->sigma_ns / 2 > high->ns + high->sigma_ns / 2) {
			relaxed->fired++;
			bits[i] |= 1u << TTP_RELAXED;
		}
	}
}

/* ---- step 5 ---- */

static double mean_or_nan(const struct ttp_moments *m)
{
	return m->n > 0 ? m->mean : NAN;
}

double ttp_relative_error(const struct ttp_result *r, enum ttp_time t)
{
	struct ttp_moments errors = { 0 };
	for (size_t i = 0; i < r->at_count; i++) {
		const struct ttp_figure *f = &r->at[i].times[t];
		if (!r->at[i].drop && f->present && f->mean_ns > 0)
			ttp_add(&errors, f->sigma_ns / f->mean_ns);
	}
	return mean_or_nan(&errors);
}

/* Whatever calculated times are asked about once they are there. */
static void check_after(const struct query_run *run, struct ttp_result *out)
{
	struct ttp_level_time *times = xcalloc(run->at.count + 1, sizeof *times);
	uint32_t *bits = xcalloc(run->at.count + 1, sizeof *bits);
	struct ttp_moments kept = { 0 }, dropped = { 0 };
	for (size_t i = 0; i < run->at.count; i++) {
		struct ttp_at *at = &out->at[i];
		const struct ttp_figure *calc = &at->times[TTP_CALC],
					*measured = &at->times[TTP_MEASURED];
		times[i] = (struct ttp_level_time){ at->drop || !calc->present, TTP_CALC,
						    calc->median_ns, calc->sigma_ns };
		if (calc->present && measured->median_ns > 0)
			ttp_add(at->drop ? &dropped : &kept,
				fabs(measured->median_ns - calc->median_ns) / measured->median_ns);
		if (times[i].skip)
			continue;
		out->post.variation.of++;
		if (calc->sigma_ns > TTP_MOST_VARIATION * calc->mean_ns) {
			out->post.variation.fired++;
			at->after |= 1u << TTP_VARIATION;
		}
	}
	ttp_monotonicity(run, times, &out->post.strict, &out->post.relaxed, bits);
	for (size_t i = 0; i < run->at.count; i++)
		out->at[i].after |= bits[i];
	out->post.kept_difference = mean_or_nan(&kept);
	out->post.dropped_difference = mean_or_nan(&dropped);
	out->relative_error = ttp_relative_error(out, TTP_CALC);
	/* model measures that are the same in all executions */
	for (int m = 0; m < TTP_MODEL_MEASURES; m++) {
		double first = NAN;
		bool varies = false;
		for (size_t i = 0; i < run->at.count; i++)
			array_each(x, &run->at.items[i].executions) {
				double value = ttp_model_value(x, (enum ttp_model_measure)m);
				varies |= !isnan(first) && !isnan(value) && value != first;
				first = isnan(first) ? value : first;
			}
		/* of what was never seen it cannot be said */
		out->post.constant |= !isnan(first) && !varies ? 1u << m : 0;
	}
	xfree(times);
	xfree(bits);
}

void ttp_judge(const struct query_run *run, const struct ttp_options *options,
	       struct ttp_result *out)
{
	*out = (struct ttp_result){ .at_count = run->at.count };
	for (size_t i = 0; i < run->at.count; i++)
		out->executions += run->at.items[i].executions.count;
	out->fired = xcalloc(out->executions + 1, sizeof *out->fired);
	out->at = xcalloc(out->at_count + 1, sizeof *out->at);
	ttp_check_all(run, options, out);
	for (size_t i = 0, first = 0; i < run->at.count; i++) {
		const struct query_at *q = &run->at.items[i];
		const uint32_t *fired = out->fired + first;
		struct ttp_at *at = &out->at[i];
		for (size_t k = 0; k < q->executions.count; k++)
			at->kept += !fired[k];
		for (int t = 0; t < TTP_TIMES; t++) {
			at->times[t] = ttp_figure_of(q, fired, (enum ttp_time)t);
			at->unfiltered[t] = ttp_figure_of(q, NULL, (enum ttp_time)t);
		}
		at->cpu = ttp_figure_of(q, fired, TTP_PART_CPU);
		at->device = ttp_figure_of(q, fired, TTP_PART_DEVICE);
		at->blocked = ttp_figure_of(q, fired, TTP_PART_BLOCKED);
		double bytes = 0, n = 0;
		array_each(x, &q->executions) {
			if (x->timed_out || x->read_bytes == ABSENT_NS)
				continue;
			bytes += (double)x->read_bytes;
			n++;
		}
		at->read_share = n > 0 && q->table_bytes ? bytes / n / (double)q->table_bytes : NAN;
		at->drop = drop_of(run, q, fired, options, at);
		if (at->drop)
			out->dropped[at->drop]++;
		else
			out->at_kept++;
		out->executions_kept += at->kept;
		first += q->executions.count;
	}
	check_after(run, out);
}

void ttp_result_release(struct ttp_result *r)
{
	xfree(r->fired);
	xfree(r->at);
	*r = (struct ttp_result){ 0 };
}

bool ttp_time_means(const struct query_run *run, enum ttp_time t)
{
	return !run->io_by_process || t == TTP_MEASURED || t == TTP_DEVICE;
}

bool ttp_has_time(const struct query_run *run, const struct ttp_result *r, enum ttp_time t)
{
	size_t asked = 0;
	if (!ttp_time_means(run, t))
		return false;
	for (size_t i = 0; i < r->at_count; i++) {
		if (r->at_kept ? r->at[i].drop != TTP_KEPT : !r->at[i].kept)
			continue;
		if (!r->at[i].times[t].present)
			return false;
		asked++;
	}
	return asked > 0;
}

enum ttp_time ttp_best_time(const struct query_run *run, const struct ttp_result *r)
{
	return ttp_has_time(run, r, TTP_DEVICE)	   ? TTP_DEVICE
	       : ttp_has_time(run, r, TTP_BLOCKED) ? TTP_BLOCKED
						   : TTP_MEASURED;
}

/* ---- ephemeral processes ---- */

static int by_id(const void *a, const void *b)
{
	uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
	return ORDER(p, q);
}

static bool holds(struct ttp_set s, uint64_t id)
{
	return s.count && bsearch(&id, s.ids, s.count, sizeof id, by_id);
}

size_t ttp_ephemeral(struct ttp_set first, struct ttp_set second, struct ttp_set stopped)
{
	size_t found = 0;
	for (size_t i = 0; i < first.count; i++)
		found += !holds(stopped, first.ids[i]) && !holds(second, first.ids[i]);
	return found;
}

size_t ttp_kept_ledgers(const struct query_run *q, const struct ttp_result *r, size_t at,
			const struct execution *list, size_t count, const struct execution **kept)
{
	const struct query_at *all = &q->at.items[at];
	const uint32_t *fired = r->fired;
	size_t n = 0;
	for (size_t i = 0; i < at; i++)
		fired += q->at.items[i].executions.count;
	for (size_t i = 0; i < count && !r->at[at].drop; i++)
		for (size_t k = 0; k < all->executions.count && list[i].ledger.present; k++)
			if (all->executions.items[k].raw == list[i].id) {
				if (!fired[k])
					kept[n++] = &list[i];
				break;
			}
	return n;
}

void ttp_mean_ledger(const struct execution *const *kept, size_t count, struct ttp_ledger *mean)
{
	mean->et_ns = 0;
	memset(mean->wall_ns, 0, sizeof mean->wall_ns);
	if (!count)
		return;
	for (size_t i = 0; i < count; i++) {
		mean->et_ns += kept[i]->et_ns;
		for (int c = 0; c < LEDGER_CAUSES; c++)
			mean->wall_ns[c] += kept[i]->ledger.wall_ns[c];
	}
	mean->et_ns = (mean->et_ns + count / 2) / count;
	for (int c = 0; c < LEDGER_CAUSES; c++)
		mean->wall_ns[c] = (mean->wall_ns[c] + count / 2) / count;
}
