/* Step 1: the sanity checks of Appendix E. */
#include <math.h>
#include <stdlib.h>

#include "protocol/ttp/private.h"

#define MOST_STEAL 0.05
#define SNAPSHOT_TICKS 10 /* that the paper's snapshot takes */
#define SWITCH_SIGMAS 3
#define LEAST_SWITCHES 3  /* executions of which one can stand out */
#define SAMPLING_SIGMAS 3 /* of what is sampled on ticks */
#define CACHE_SIGMAS 10
#define OTHERS_DEVICE 2	  /* devices served others so many times as long as the query */
#define OTHERS_MEASURED 2 /* and that was more than this part of the time */
#define OWN_MEASURED 100  /* and the query for more than this part, or it did not wait */

const char *const ttp_wide_check_names[TTP_WIDE_CHECKS] = {
	"missing queries", "unique plan", "underlying measure",	 "derived measure",
	"steal time",	   "guest time",  "other query process", "other utility process",
};

const char *const ttp_check_names[TTP_CHECKS] = {
	"ephemeral process",
	"DBMS time",
	"zero query time",
	"query time",
	"query user tick",
	"overall computation time",
	"computation time",
	"BlockIO delay time",
	"IOWait time",
	"context switch",
	"ambiguous query process",
	"no query process",
	"timed-out",
	"lost events",
};

const char *const ttp_at_check_names[TTP_AT_CHECKS] = {
	"excessive variation in query computation time",
	"possible query result cache",
	"strict monotonicity",
	"relaxed monotonicity",
};

const char *ttp_form_note(enum ttp_check c)
{
	static const char *const notes[TTP_CHECKS] = {
		[TTP_EPHEMERAL] =
			"more tasks made, by the kernel's counter of forks, than snapshots and ends show",
		[TTP_DBMS_TIME] =
			"of daemons the CPU time, as much of it as falls to the query's part of the time "
			"between the snapshots, divided by the number of CPUs",
		[TTP_QUERY_TIME] =
			"measured time, with what the snapshots took, counts once for each "
			"thread of the query; where a server reads in other threads than the query's, "
			"blocked time is left out",
		[TTP_USER_TICKS] =
			"the tolerance is three deviations of counting ticks, not one tick",
		[TTP_OVERALL_CPU] =
			"measured time, with what the snapshots took and a tick, counts once for each "
			"CPU",
		[TTP_CPU] =
			"measured time, with what the snapshots took and a tick, counts once for each "
			"CPU",
		[TTP_BLKIO] =
			"of the query's processes alone, since others may have been blocked before; not "
			"asked where a server reads in other threads than the query's",
		[TTP_IOWAIT] =
			"devices served the query for more than 1 % of the time, and others more than "
			"twice as long, for more than half of the time; IOWait says nothing here",
		[TTP_SWITCHES] =
			"against the other executions of the Q@C; their deviation counts as at least the "
			"root of their mean, and one switch",
		[TTP_LOST] = "added; an execution in which the collector lost events is dropped",
	};
	return notes[c];
}

void ttp_add(struct ttp_moments *m, double x)
{
	double from = x - m->mean;
	m->mean += from / ++m->n;
	m->squares += from * (x - m->mean);
}

double ttp_sigma(const struct ttp_moments *m)
{
	return m->n > 1 ? sqrt(m->squares / (m->n - 1)) : 0;
}

struct checker {
	const struct query_run *run;
	bool paper;
	double tick_ns, most_steal, cpus;
	struct ttp_result *out;
};

/* ---- the experiment ---- */

/* Adapted: what was blocked is known of processes that are younger than delay accounting, which the
 * one that evaluates has to be. What is lacking is noted. */
static bool lacks_measure(const struct checker *c, const struct query_execution *x)
{
	struct ttp_missing *missing = &c->out->missing;
	uint32_t any = x->overall_missing;
	missing->overall |= x->overall_missing;
	for (int role = 0; role < QUERY_ROLES; role++) {
		uint32_t needless = c->paper || role == QUERY_QUERY ? 0 : 1u << QUERY_BLKIO_NS;
		uint32_t bits = x->usage[role].processes ? x->usage[role].missing & ~needless : 0;
		missing->roles[role] |= bits;
		any |= bits;
	}
	return any != 0;
}

static void check_wide(const struct checker *c)
{
	struct ttp_count *wide = c->out->wide;
	bool *seen = xcalloc((size_t)c->run->queries + 1, sizeof *seen);
	array_each(q, &c->run->at) {
		size_t plans = 0;
		if (q->query && q->query <= c->run->queries)
			seen[q->query] |= q->executions.count > 0;
		for (size_t k = 0; k < q->executions.count; k++) {
			const struct query_execution *x = &q->executions.items[k];
			plans += x->plan != q->executions.items[0].plan;
			wide[TTP_UNDERLYING].fired += lacks_measure(c, x);
			wide[TTP_DERIVED].fired += x->ephemeral < 0;
			double steal = (double)x->overall_ns[OVERALL_STEAL];
			wide[TTP_STEAL].fired +=
				steal >
				(c->paper ? 0 : c->most_steal * c->cpus * (double)x->measured_ns);
			bool guest = x->overall_ns[OVERALL_GUEST] > 0;
			for (int role = 0; role < QUERY_ROLES; role++)
				guest |= x->usage[role].value[QUERY_GUEST_NS] > 0;
			wide[TTP_GUEST].fired += guest;
			wide[TTP_OTHER_QUERY].fired += x->other_query > 0;
			wide[TTP_OTHER_UTILITY].fired += x->other_utility > 0;
		}
		wide[TTP_UNIQUE_PLAN].fired += plans > 0;
	}
	for (uint32_t i = 1; i <= c->run->queries; i++)
		wide[TTP_MISSING_QUERY].fired += !seen[i];
	wide[TTP_MISSING_QUERY].of = c->run->queries;
	wide[TTP_UNIQUE_PLAN].of = c->run->at.count;
	for (int i = TTP_UNDERLYING; i < TTP_WIDE_CHECKS; i++)
		wide[i].of = c->out->executions;
	xfree(seen);
}

/* ---- an execution ---- */

static bool over_user_ticks(const struct checker *c, const struct query_execution *x)
{
	double user = (double)x->usage[QUERY_QUERY].value[QUERY_USER_NS];
	double overall = (double)x->overall_ns[OVERALL_USER] + (double)x->overall_ns[OVERALL_NICE];
	double ticks = fmax(1, overall / c->tick_ns);
	return user > overall + c->tick_ns * (c->paper ? 1 : SAMPLING_SIGMAS * sqrt(ticks) + 1);
}

static bool over_iowait(const struct checker *c, const struct query_execution *x)
{
	if (c->paper)
		return x->overall_ns[OVERALL_IOWAIT] > x->usage[QUERY_QUERY].value[QUERY_BLKIO_NS];
	if (x->own_device_ns == ABSENT_NS || x->others_device_ns == ABSENT_NS)
		return false;
	return x->own_device_ns > x->measured_ns / OWN_MEASURED &&
	       x->others_device_ns / OTHERS_DEVICE > x->own_device_ns &&
	       x->others_device_ns > x->measured_ns / OTHERS_MEASURED;
}

/* Adapted: a daemon that waits for a device takes nothing from the query, and may have waited since
 * before; on several CPUs a daemon has to take more to be in the way; and what it used is known
 * from image to image, of which a short query is a small part. */
static double daemons_time(const struct checker *c, const struct query_execution *x)
{
	double measured = (double)x->measured_ns, images = measured + (double)x->snapshot_ns;
	if (c->paper)
		return (double)query_process_ns(x, QUERY_DAEMON);
	double share = images > 0 ? measured / images : 1;
	return (double)query_cpu_ns(x, QUERY_DAEMON) * share / c->cpus;
}

/* The paper has whole ticks: of what is in ns, those that have passed, and of the time there was,
 * those that have begun. */
static double used_of(const struct checker *c, double ns)
{
	return c->paper ? floor(ns / c->tick_ns) * c->tick_ns : ns;
}

static uint32_t check_one(const struct checker *c, const struct query_execution *x)
{
	double measured = (double)x->measured_ns, all = 0;
	if (c->paper)
		measured = ceil(measured / c->tick_ns) * c->tick_ns;
	double tasks = c->paper || !x->query_tasks ? 1 : x->query_tasks;
	/* what tasks used is known from image to image, which is a bit longer than the query */
	double snapshot = (double)x->snapshot_ns, window = measured + (c->paper ? 0 : snapshot);
	/* and the time of a task that runs just then is up to a tick old */
	double all_window = c->paper ? measured + SNAPSHOT_TICKS * c->tick_ns
				     : (window + c->tick_ns) * c->cpus;
	double overall = (double)x->overall_ns[OVERALL_USER] + (double)x->overall_ns[OVERALL_NICE] +
			 (double)x->overall_ns[OVERALL_SYSTEM];
	uint64_t query = query_process_ns(x, QUERY_QUERY);
	/* adapted: what it was blocked for means nothing where others read for it */
	bool blocks = c->paper || !c->run->io_by_process;
	double blkio = c->paper ? (double)x->blkio_most_ns
				: (double)x->usage[QUERY_QUERY].value[QUERY_BLKIO_NS];
	double query_time = blocks ? (double)query : (double)query_cpu_ns(x, QUERY_QUERY);
	for (int role = 0; role < QUERY_ROLES; role++)
		all += (double)query_cpu_ns(x, (enum query_role)role);
	const bool fired[TTP_CHECKS] = {
		[TTP_EPHEMERAL] = x->ephemeral > 0,
		[TTP_DBMS_TIME] = (double)query + (double)query_process_ns(x, QUERY_UTILITY) <
				  daemons_time(c, x),
		[TTP_ZERO_TIME] = query == 0,
		[TTP_QUERY_TIME] = used_of(c, query_time) > window * tasks,
		[TTP_USER_TICKS] = over_user_ticks(c, x),
		[TTP_OVERALL_CPU] = used_of(c, overall) >
				    window * c->cpus + (c->paper ? 0 : c->tick_ns * c->cpus),
		[TTP_CPU] = used_of(c, all) > all_window,
		[TTP_BLKIO] = blocks && used_of(c, blkio) > window * (c->paper ? 1 : tasks),
		[TTP_IOWAIT] = over_iowait(c, x),
		[TTP_AMBIGUOUS] = x->utility_most_ns > query_cpu_ns(x, QUERY_QUERY),
		[TTP_NO_QUERY_PROCESS] = !x->usage[QUERY_QUERY].processes,
		[TTP_TIMED_OUT] = x->timed_out,
		[TTP_LOST] = !c->paper && x->lost > 0,
	};
	uint32_t bits = 0;
	for (int i = 0; i < TTP_CHECKS; i++)
		bits |= fired[i] ? 1u << i : 0;
	return bits;
}

/* ---- context switches ---- */

struct switches {
	size_t group; /* its Q@C; 0 in the paper's form */
	uint64_t plan;
	double count;
	size_t at;
};

static int by_group(const void *a, const void *b)
{
	const struct switches *p = a, *q = b;
	return ORDER(p->group, q->group) ?: ORDER(p->plan, q->plan);
}

/* Adapted: against the others alone, or one of ten could never be 3 sigmas off. Counts that
 * hardly varied may do so by chance: sigma is at least that of counting at random. */
static double most_switches(const struct checker *c, struct ttp_moments m, double count)
{
	if (c->paper)
		return m.mean + SWITCH_SIGMAS * ttp_sigma(&m);
	if (m.n < LEAST_SWITCHES)
		return INFINITY;
	struct ttp_moments others = { .n = m.n - 1 };
	others.mean = (m.n * m.mean - count) / others.n;
	others.squares = fmax(0, m.squares - (count - m.mean) * (count - others.mean));
	double least = fmax(1, sqrt(fmax(0, others.mean)));
	return others.mean + SWITCH_SIGMAS * fmax(least, ttp_sigma(&others));
}

/* Of the query's process, against others: of the same Q@C and plan; the paper has all of them. */
static void check_switches(const struct checker *c)
{
	struct switches *all = xcalloc(c->out->executions + 1, sizeof *all);
	size_t n = 0;
	for (size_t i = 0; i < c->run->at.count; i++) {
		const struct query_at *q = &c->run->at.items[i];
		for (size_t k = 0; k < q->executions.count; k++, n++) {
			const struct query_execution *x = &q->executions.items[k];
			const uint64_t *value = x->usage[QUERY_QUERY].value;
			all[n] = (struct switches){ .group = c->paper ? 0 : i,
						    .plan = c->paper ? 0 : x->plan,
						    .count = (double)value[QUERY_NVCSW] +
							     (double)value[QUERY_NIVCSW],
						    .at = n };
		}
	}
	qsort(all, n, sizeof *all, by_group);
	for (size_t first = 0, next; first < n; first = next) {
		struct ttp_moments m = { 0 };
		for (next = first; next < n && !by_group(&all[next], &all[first]); next++)
			ttp_add(&m, all[next].count);
		for (size_t i = first; i < next; i++)
			if (all[i].count > most_switches(c, m, all[i].count))
				c->out->fired[all[i].at] |= 1u << TTP_SWITCHES;
	}
	xfree(all);
}

/* ---- a Q@C ---- */

static bool is_cached(const struct query_at *q, double margin)
{
	if (q->executions.count < 2)
		return false;
	double first = (double)query_cpu_ns(&q->executions.items[0], QUERY_QUERY);
	for (size_t k = 1; k < q->executions.count; k++)
		if (first <= (double)query_cpu_ns(&q->executions.items[k], QUERY_QUERY) + margin)
			return false;
	return margin > 0;
}

/* Over all executions that ended. */
static void check_at(const struct checker *c)
{
	struct ttp_result *out = c->out;
	struct ttp_moments sigmas = { 0 };
	for (size_t i = 0; i < c->run->at.count; i++) {
		const struct query_at *q = &c->run->at.items[i];
		struct ttp_moments m = { 0 };
		for (size_t k = 0; k < q->executions.count; k++)
			if (!q->executions.items[k].timed_out)
				ttp_add(&m,
					(double)query_cpu_ns(&q->executions.items[k], QUERY_QUERY));
		if (m.n > 1)
			ttp_add(&sigmas, ttp_sigma(&m));
		if (ttp_sigma(&m) > TTP_MOST_VARIATION * m.mean)
			out->at[i].fired |= 1u << TTP_VARIATION;
	}
	for (size_t i = 0; i < c->run->at.count; i++)
		if (is_cached(&c->run->at.items[i], CACHE_SIGMAS * sigmas.mean))
			out->at[i].fired |= 1u << TTP_RESULT_CACHE;
	size_t count = c->run->at.count;
	struct ttp_level_time *times = xcalloc(count + 1, sizeof *times);
	uint32_t *bits = xcalloc(count + 1, sizeof *bits);
	for (size_t i = 0; i < count; i++) {
		struct ttp_figure calc = ttp_figure_of(&c->run->at.items[i], NULL, TTP_CALC);
		times[i] = (struct ttp_level_time){ !calc.present, calc.median_ns, calc.sigma_ns };
	}
	ttp_monotonicity(c->run, times, &out->at_checks[TTP_STRICT], &out->at_checks[TTP_RELAXED],
			 bits);
	for (size_t i = 0; i < count; i++) {
		out->at[i].fired |= bits[i];
		for (int k = TTP_VARIATION; k <= TTP_RESULT_CACHE; k++)
			out->at_checks[k].fired += out->at[i].fired >> k & 1;
	}
	out->at_checks[TTP_VARIATION].of = out->at_checks[TTP_RESULT_CACHE].of = count;
	xfree(times);
	xfree(bits);
}

void ttp_check_all(const struct query_run *run, const struct ttp_options *o, struct ttp_result *out)
{
	bool paper = o->form == TTP_PAPER;
	const struct checker c = { .run = run,
				   .paper = paper,
				   .tick_ns = o->tick_ns ? (double)o->tick_ns : TTP_TICK_NS,
				   .most_steal = o->most_steal > 0 ? o->most_steal : MOST_STEAL,
				   .cpus = paper || !run->cpus ? 1 : run->cpus,
				   .out = out };
	size_t at = 0;
	check_wide(&c);
	array_each(q, &run->at) {
		for (size_t k = 0; k < q->executions.count; k++)
			out->fired[at++] = check_one(&c, &q->executions.items[k]);
	}
	check_switches(&c);
	for (int i = 0; i < TTP_CHECKS; i++) {
		out->checks[i].of = out->executions;
		for (at = 0; at < out->executions; at++)
			out->checks[i].fired += out->fired[at] >> i & 1;
	}
	check_at(&c);
}
