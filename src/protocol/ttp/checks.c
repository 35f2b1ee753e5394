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
	"missing worker",
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
		[TTP_WORKERS] =
			"added; an execution is dropped for which fewer helper processes were seen to "
			"work than its plan has, and than worked in another of its Q@C",
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

/* Whether these measures, bits of enum query_measure, were seen of all processes of the role. */
static bool knows(const struct query_execution *x, enum query_role role, uint32_t bits)
{
	return !(x->usage[role].missing & bits);
}

#define BLKIO (1u << QUERY_BLKIO_NS)
#define CPU (1u << QUERY_USER_NS | 1u << QUERY_SYSTEM_NS)

static bool knows_overall(const struct query_execution *x, uint32_t bits)
{
	return !(x->overall_missing & bits);
}

static void count_one(struct ttp_count *c, bool fired, bool evaluated)
{
	c->fired += fired;
	c->of += evaluated;
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
			count_one(&wide[TTP_UNDERLYING], lacks_measure(c, x), true);
			count_one(&wide[TTP_DERIVED], x->ephemeral < 0, true);
			double steal = (double)x->overall_ns[OVERALL_STEAL];
			count_one(&wide[TTP_STEAL],
				  steal > (c->paper ? 0
						    : c->most_steal * c->cpus *
							      (double)x->measured_ns),
				  knows_overall(x, 1u << OVERALL_STEAL));
			bool guest = x->overall_ns[OVERALL_GUEST] > 0;
			for (int role = 0; role < QUERY_ROLES; role++)
				guest |= x->usage[role].value[QUERY_GUEST_NS] > 0;
			count_one(&wide[TTP_GUEST], guest,
				  guest || knows_overall(x, 1u << OVERALL_GUEST));
			count_one(&wide[TTP_OTHER_QUERY], x->other_query > 0, x->other_query >= 0);
			count_one(&wide[TTP_OTHER_UTILITY], x->other_utility > 0,
				  x->other_utility >= 0);
		}
		wide[TTP_UNIQUE_PLAN].fired += plans > 0;
	}
	for (uint32_t i = 1; i <= c->run->queries; i++)
		wide[TTP_MISSING_QUERY].fired += !seen[i];
	wide[TTP_MISSING_QUERY].of = c->run->queries;
	wide[TTP_UNIQUE_PLAN].of = c->run->at.count;
	xfree(seen);
}

/* ---- an execution ---- */

/* What a check says of an execution. It is not evaluated where it rests on what was not measured,
 * unless the rest decides it. */
struct verdict {
	bool fired, evaluated;
};

/* Of `left > right`, where left is at least this much, and just this if it is known. */
static struct verdict over(double left, bool known, double right)
{
	return (struct verdict){ left > right, left > right || known };
}

static struct verdict over_user_ticks(const struct checker *c, const struct query_execution *x)
{
	double user = (double)x->usage[QUERY_QUERY].value[QUERY_USER_NS];
	double overall = (double)x->overall_ns[OVERALL_USER] + (double)x->overall_ns[OVERALL_NICE];
	double ticks = fmax(1, overall / c->tick_ns);
	double most = overall + c->tick_ns * (c->paper ? 1 : SAMPLING_SIGMAS * sqrt(ticks) + 1);
	bool known = knows(x, QUERY_QUERY, 1u << QUERY_USER_NS) &&
		     knows_overall(x, 1u << OVERALL_USER | 1u << OVERALL_NICE);
	return (struct verdict){ known && user > most, known };
}

static struct verdict over_iowait(const struct checker *c, const struct query_execution *x)
{
	if (c->paper) {
		bool known = knows(x, QUERY_QUERY, BLKIO) && knows_overall(x, 1u << OVERALL_IOWAIT);
		return (struct verdict){
			known && x->overall_ns[OVERALL_IOWAIT] >
					 x->usage[QUERY_QUERY].value[QUERY_BLKIO_NS],
			known
		};
	}
	if (x->own_device_ns == ABSENT_NS || x->others_device_ns == ABSENT_NS)
		return (struct verdict){ 0 };
	return (struct verdict){ x->own_device_ns > x->measured_ns / OWN_MEASURED &&
					 x->others_device_ns / OTHERS_DEVICE > x->own_device_ns &&
					 x->others_device_ns > x->measured_ns / OTHERS_MEASURED,
				 true };
}

/* Whether daemons used more than the DBMS. `most_blocked`: of blocked time that is not known.
 * Adapted: a daemon that waits for a device takes nothing from the query, and may have waited since
 * before; on several CPUs a daemon has to take more to be in the way; and what it used is known
 * from image to image, of which a short query is a small part. */
static struct verdict under_daemons(const struct checker *c, const struct query_execution *x,
				    double most_blocked)
{
	double measured = (double)x->measured_ns, images = measured + (double)x->snapshot_ns;
	double share = images > 0 ? measured / images : 1;
	double daemons = c->paper ? (double)query_process_ns(x, QUERY_DAEMON)
				  : (double)query_cpu_ns(x, QUERY_DAEMON) * share / c->cpus;
	double dbms = (double)query_process_ns(x, QUERY_QUERY) +
		      (double)query_process_ns(x, QUERY_UTILITY);
	/* adapted: as in the check of underlying measures, of other processes it is not needed */
	bool blocked = knows(x, QUERY_QUERY, BLKIO) &&
		       (!c->paper || knows(x, QUERY_UTILITY, BLKIO));
	bool computed = knows(x, QUERY_QUERY, CPU) && knows(x, QUERY_UTILITY, CPU);
	bool fired = computed && dbms + (blocked ? 0 : most_blocked) < daemons;
	bool known = knows(x, QUERY_DAEMON, c->paper ? CPU | BLKIO : CPU);
	return (struct verdict){ fired, fired || (known && dbms >= daemons) };
}

/* The paper has whole ticks: of what is in ns, those that have passed, and of the time there was,
 * those that have begun. */
static double used_of(const struct checker *c, double ns)
{
	return c->paper ? floor(ns / c->tick_ns) * c->tick_ns : ns;
}

/* All of them but that of context switches; counts what was evaluated. Bits of those that fired. */
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
	uint64_t query = query_process_ns(x, QUERY_QUERY), cpu = query_cpu_ns(x, QUERY_QUERY);
	bool knows_cpu = knows(x, QUERY_QUERY, CPU), knows_blkio = knows(x, QUERY_QUERY, BLKIO);
	bool knows_all = true, knows_blocked = x->blkio_most_ns != ABSENT_NS;
	/* adapted: what it was blocked for means nothing where others read for it */
	bool blocks = c->paper || !c->run->io_by_process;
	double blkio = !c->paper       ? (double)x->usage[QUERY_QUERY].value[QUERY_BLKIO_NS]
		       : knows_blocked ? (double)x->blkio_most_ns
				       : 0;
	/* who is blocked on I/O waits for a device that serves somebody */
	double served = x->own_device_ns == ABSENT_NS || x->others_device_ns == ABSENT_NS
				? window
				: (double)x->own_device_ns + (double)x->others_device_ns;
	double most_blocked = fmin(window, served) * tasks;
	double utility = x->utility_most_ns == ABSENT_NS ? 0 : (double)x->utility_most_ns;
	for (int role = 0; role < QUERY_ROLES; role++) {
		all += (double)query_cpu_ns(x, (enum query_role)role);
		knows_all &= knows(x, (enum query_role)role, CPU);
		knows_blocked &= knows(x, (enum query_role)role, BLKIO);
	}
	const struct verdict verdicts[TTP_CHECKS] = {
		[TTP_EPHEMERAL] = { x->ephemeral > 0, x->ephemeral >= 0 },
		[TTP_DBMS_TIME] = under_daemons(c, x, most_blocked),
		[TTP_ZERO_TIME] = { !query && knows_cpu && knows_blkio,
				    query || (knows_cpu && knows_blkio) },
		[TTP_QUERY_TIME] = over(used_of(c, blocks ? (double)query : (double)cpu),
					knows_cpu && (!blocks || knows_blkio), window * tasks),
		[TTP_USER_TICKS] = over_user_ticks(c, x),
		[TTP_OVERALL_CPU] = over(used_of(c, overall),
					 knows_overall(x, 1u << OVERALL_USER | 1u << OVERALL_NICE |
								  1u << OVERALL_SYSTEM),
					 window * c->cpus + (c->paper ? 0 : c->tick_ns * c->cpus)),
		[TTP_CPU] = over(used_of(c, all), knows_all, all_window),
		[TTP_BLKIO] = blocks ? over(used_of(c, blkio),
					    c->paper ? knows_blocked : knows_blkio,
					    window * (c->paper ? 1 : tasks))
				     : (struct verdict){ 0 },
		[TTP_IOWAIT] = over_iowait(c, x),
		[TTP_AMBIGUOUS] = { knows_cpu && utility > (double)cpu,
				    knows_cpu && x->utility_most_ns != ABSENT_NS &&
					    (utility > (double)cpu ||
					     knows(x, QUERY_UTILITY, CPU)) },
		[TTP_NO_QUERY_PROCESS] = { !x->usage[QUERY_QUERY].processes, true },
		[TTP_TIMED_OUT] = { x->timed_out, true },
		/* who measured elsewhere may have lost some, too */
		[TTP_LOST] = { !c->paper && x->lost > 0,
			       !c->paper && (x->lost || !c->run->imported) },
	};
	uint32_t bits = 0;
	for (int i = 0; i < TTP_CHECKS; i++) {
		bits |= verdicts[i].fired ? 1u << i : 0;
		c->out->checks[i].of += verdicts[i].evaluated;
	}
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
	size_t n = 0, at = 0;
	for (size_t i = 0; i < c->run->at.count; i++) {
		const struct query_at *q = &c->run->at.items[i];
		for (size_t k = 0; k < q->executions.count; k++, at++) {
			const struct query_execution *x = &q->executions.items[k];
			const uint64_t *value = x->usage[QUERY_QUERY].value;
			if (!knows(x, QUERY_QUERY, 1u << QUERY_NVCSW | 1u << QUERY_NIVCSW))
				continue;
			all[n++] = (struct switches){ .group = c->paper ? 0 : i,
						      .plan = c->paper ? 0 : x->plan,
						      .count = (double)value[QUERY_NVCSW] +
							       (double)value[QUERY_NIVCSW],
						      .at = at };
		}
	}
	qsort(all, n, sizeof *all, by_group);
	for (size_t first = 0, next; first < n; first = next) {
		struct ttp_moments m = { 0 };
		for (next = first; next < n && !by_group(&all[next], &all[first]); next++)
			ttp_add(&m, all[next].count);
		for (size_t i = first; i < next; i++) {
			bool fired = all[i].count > most_switches(c, m, all[i].count);
			c->out->fired[all[i].at] |= fired ? 1u << TTP_SWITCHES : 0;
			bool alone = m.n < (c->paper ? 2 : LEAST_SWITCHES);
			c->out->checks[TTP_SWITCHES].of += !alone;
			c->out->switches_alone += alone;
		}
	}
	xfree(all);
}

/* ---- helper processes ---- */

/* A server may always start fewer than it has planned, for lack of room: then that is how long the
 * query takes there. One execution with fewer than others has another work. */
static void check_workers(const struct checker *c)
{
	size_t at = 0;
	array_each(q, &c->run->at) {
		for (size_t k = 0; k < q->executions.count; k++, at++) {
			const struct query_execution *x = &q->executions.items[k];
			int64_t most = 0;
			array_each(other, &q->executions)
				if (other->plan == x->plan && other->workers > most)
					most = other->workers;
			c->out->checks[TTP_WORKERS].of += x->workers >= 0;
			if (x->workers >= 0 && x->workers < x->workers_planned && x->workers < most)
				c->out->fired[at] |= 1u << TTP_WORKERS;
		}
	}
}

/* ---- a Q@C ---- */

static struct verdict is_cached(const struct query_at *q, double margin)
{
	struct verdict cached = { true, true };
	if (q->executions.count < 2 || margin <= 0)
		return (struct verdict){ 0 };
	double first = (double)query_cpu_ns(&q->executions.items[0], QUERY_QUERY);
	array_each(x, &q->executions) {
		if (!knows(x, QUERY_QUERY, CPU))
			return (struct verdict){ 0 };
		cached.fired &= x == q->executions.items ||
				first > (double)query_cpu_ns(x, QUERY_QUERY) + margin;
	}
	return cached;
}

/* Over all executions that ended. */
static void check_at(const struct checker *c)
{
	struct ttp_result *out = c->out;
	struct ttp_moments sigmas = { 0 };
	for (size_t i = 0; i < c->run->at.count; i++) {
		const struct query_at *q = &c->run->at.items[i];
		struct ttp_moments m = { 0 };
		array_each(x, &q->executions)
			if (!x->timed_out && knows(x, QUERY_QUERY, CPU))
				ttp_add(&m, (double)query_cpu_ns(x, QUERY_QUERY));
		if (m.n > 1)
			ttp_add(&sigmas, ttp_sigma(&m));
		bool varies = ttp_sigma(&m) > TTP_MOST_VARIATION * m.mean;
		out->at[i].fired |= varies ? 1u << TTP_VARIATION : 0;
		count_one(&out->at_checks[TTP_VARIATION], varies, m.n > 1);
	}
	for (size_t i = 0; i < c->run->at.count; i++) {
		struct verdict v = is_cached(&c->run->at.items[i], CACHE_SIGMAS * sigmas.mean);
		out->at[i].fired |= v.fired ? 1u << TTP_RESULT_CACHE : 0;
		count_one(&out->at_checks[TTP_RESULT_CACHE], v.fired, v.evaluated);
	}
	size_t count = c->run->at.count;
	struct ttp_level_time *times = xcalloc(count + 1, sizeof *times);
	uint32_t *bits = xcalloc(count + 1, sizeof *bits);
	for (size_t i = 0; i < count; i++) {
		/* adapted: where that is refused or not known, by the next best */
		static const enum ttp_time order[] = { TTP_CALC, TTP_DEVICE, TTP_MEASURED };
		struct ttp_figure f = { 0 };
		enum ttp_time t = TTP_TIMES;
		for (size_t k = 0; k < (c->paper ? 1 : 3) && !f.present; k++) {
			t = order[k];
			if (c->paper || ttp_time_means(c->run, t))
				f = ttp_figure_of(&c->run->at.items[i], NULL, t);
		}
		times[i] = (struct ttp_level_time){ !f.present, t, f.median_ns, f.sigma_ns };
	}
	ttp_monotonicity(c->run, times, &out->at_checks[TTP_STRICT], &out->at_checks[TTP_RELAXED],
			 bits);
	for (size_t i = 0; i < count; i++)
		out->at[i].fired |= bits[i];
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
	if (!paper)
		check_workers(&c);
	for (int i = 0; i < TTP_CHECKS; i++) {
		for (at = 0; at < out->executions; at++)
			out->checks[i].fired += out->fired[at] >> i & 1;
	}
	check_at(&c);
}
