#include "study-fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MS 1000000ull
#define S 1000000000ull

const char *const study_fixture_names[] = { "paper", "live",	"corner", "unexplained",
					    "quiet", "alike",	"few",	  "one",
					    "empty", "nothing", NULL };

/* Of a generator of numbers that are the same everywhere: 0 <= x < below. */
static uint64_t draw(struct study_fixture *f, uint64_t below)
{
	f->seed = f->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (f->seed >> 33) % below;
}

/* ---- samples ---- */

/* count samples of length_ns and up to spread_ns more. */
static void add_samples(struct study_fixture *f, enum study_length k, size_t count,
			uint64_t length_ns, uint64_t spread_ns)
{
	struct sedona_run *r = &f->runs[k];
	struct study_run *found = &f->study.runs[k];
	int64_t at = 1789460000 * (int64_t)S;
	for (size_t i = 0; i < count; i++) {
		uint64_t more = 0;
		for (size_t n = 0; n < 4 && spread_ns; n++)
			more += draw(f, spread_ns / 4);
		struct sedona_sample s = { .number = (uint32_t)i + 1,
					   .at_ns = at,
					   .et_ns = length_ns + more };
		at += (int64_t)s.et_ns;
		array_push(&r->samples, s);
	}
	r->length_ns = length_ns;
	f->is_l[k] = xcalloc(count + 1, sizeof(bool));
	found->present = true;
	found->length_ns = length_ns;
}

static void slow(struct study_fixture *f, enum study_length k, uint32_t number, uint64_t by_ns,
		 bool dropped)
{
	f->runs[k].samples.items[number - 1].et_ns += by_ns;
	f->is_l[k][number - 1] = true;
	array_push(&f->study.runs[k].l_samples, number);
	if (dropped)
		array_push(&f->study.runs[k].dropped, number);
}

static bool is_dropped(const struct study_run *found, uint32_t number)
{
	for (size_t i = 0; i < found->dropped.count; i++)
		if (found->dropped.items[i] == number)
			return true;
	return false;
}

static void moments(const struct study_fixture *f, enum study_length k, bool kept, double *mean,
		    double *sigma)
{
	const struct sedona_run *r = &f->runs[k];
	double sum = 0, squares = 0, n = 0;
	for (int pass = 0; pass < 2; pass++) {
		n = 0;
		for (size_t i = 0; i < r->samples.count; i++) {
			const struct sedona_sample *s = &r->samples.items[i];
			if (kept && is_dropped(&f->study.runs[k], s->number))
				continue;
			n++;
			if (pass)
				squares += pow((double)s->et_ns - *mean, 2);
			else
				sum += (double)s->et_ns;
		}
		*mean = n > 0 ? sum / n : 0;
	}
	*sigma = n > 1 ? sqrt(squares / (n - 1)) : 0;
}

/* Counts, bounds and moments of what was added. */
static void finish(struct study_fixture *f, enum study_length k)
{
	const struct sedona_run *r = &f->runs[k];
	struct study_run *found = &f->study.runs[k];
	found->samples = (uint32_t)r->samples.count;
	found->cluster = found->samples - (uint32_t)found->l_samples.count;
	for (size_t i = 0; i < r->samples.count; i++) {
		uint64_t et = r->samples.items[i].et_ns;
		if (f->is_l[k][i])
			continue;
		if (!found->cluster_low_ns || et < found->cluster_low_ns)
			found->cluster_low_ns = et;
		if (et > found->cluster_high_ns)
			found->cluster_high_ns = et;
	}
	moments(f, k, false, &found->mean_ns, &found->sigma_ns);
	moments(f, k, true, &found->mean_kept_ns, &found->sigma_kept_ns);
}

static void add_level(struct study_fixture *f, enum study_length k, uint64_t high_ns,
		      uint64_t cut_ns, enum study_shape shape)
{
	const struct sedona_run *r = &f->runs[k];
	struct study_level l = { .low_ns = f->study.runs[k].cluster_low_ns,
				 .high_ns = high_ns,
				 .cut_ns = cut_ns,
				 .shape = shape };
	for (size_t i = 0; i + 1 < r->samples.count; i += 2) {
		uint64_t x = r->samples.items[i].et_ns, y = r->samples.items[i + 1].et_ns;
		if (x > high_ns || y > high_ns)
			continue;
		if (x > cut_ns)
			*(y > cut_ns ? &l.both : &l.first) += 1;
		else
			*(y > cut_ns ? &l.second : &l.neither) += 1;
	}
	double pairs = l.neither + l.first + l.second + l.both;
	if (pairs > 0)
		l.both_expected = (l.first + l.both) * (double)(l.second + l.both) / pairs;
	array_push(&f->study.runs[k].levels, l);
}

/* ---- daemons ---- */

static struct study_daemon *add_daemon(struct study_fixture *f, const char *name)
{
	struct study_daemon d = { 0 };
	snprintf(d.name, sizeof d.name, "%s", name);
	array_push(&f->study.daemons, d);
	return &f->study.daemons.items[f->study.daemons.count - 1];
}

static void in_cluster(struct study_seen *s, uint32_t executions, uint64_t max_ns, double sigma_ns)
{
	s->cluster_executions = executions;
	s->cluster_max_ns = max_ns;
	s->cluster_sigma_ns = sigma_ns;
}

static void in_l_samples(struct study_seen *s, uint64_t least_ns, uint64_t most_ns,
			 const uint32_t *numbers, size_t count)
{
	s->long_executions = (uint32_t)count;
	s->long_least_ns = least_ns;
	s->long_most_ns = most_ns;
	for (size_t i = 0; i < count; i++)
		array_push(&s->samples, numbers[i]);
	s->has_cutoff = true;
	s->cutoff_ns = (s->cluster_max_ns + least_ns + 1) / 2;
}

static void periodic(struct study_daemon *d, double samples, uint64_t ns, uint64_t error_ns,
		     bool uncertain)
{
	d->period = (struct study_period){ true, uncertain, samples, ns, error_ns };
	d->seen[STUDY_SHORT].period = d->period;
}

static void add_cutoff(struct study_fixture *f, const char *daemon, uint64_t from_ns,
		       uint64_t below_ns, uint64_t cutoff_ns)
{
	struct cutoff c = { .id = f->study.id ? (int64_t)f->study.cutoffs.count + 1 : 0,
			    .from_ns = from_ns,
			    .below_ns = below_ns,
			    .cutoff_ns = cutoff_ns };
	snprintf(c.daemon, sizeof c.daemon, "%s", daemon);
	array_push(&f->study.cutoffs, c);
}

/* ---- whole studies ---- */

static void paper_runs(struct study_fixture *f)
{
	static const uint32_t slow_short[] = { 75,  104, 186, 216, 298, 328, 366, 410,
					       439, 451, 522, 551, 634, 663, 746, 775 };
	f->study.runs[STUDY_SHORT].run = 12;
	f->study.runs[STUDY_LONG].run = 13;
	add_samples(f, STUDY_SHORT, 800, 128 * S, 12 * MS);
	for (size_t i = 0; i < sizeof slow_short / sizeof *slow_short; i++) {
		uint32_t n = slow_short[i];
		slow(f, STUDY_SHORT, n, n == 75 || n == 634 ? 34 * S : (100 + 60 * (n % 7)) * MS,
		     n != 451);
	}
	finish(f, STUDY_SHORT);
	add_level(f, STUDY_SHORT, 163 * S, 130 * S, STUDY_L);
	add_level(f, STUDY_SHORT, 129 * S, 128 * S + 20 * MS, STUDY_L);
	add_level(f, STUDY_SHORT, f->study.runs[0].cluster_high_ns, 128 * S + 8 * MS,
		  STUDY_SYMMETRIC);
	add_samples(f, STUDY_LONG, 40, 16384 * S, 900 * MS);
	slow(f, STUDY_LONG, 10, 25 * S, true);
	slow(f, STUDY_LONG, 16, 24 * S, true);
	finish(f, STUDY_LONG);
	add_level(f, STUDY_LONG, 16410 * S, 16390 * S, STUDY_L);
	add_level(f, STUDY_LONG, f->study.runs[1].cluster_high_ns, 16384 * S + 500 * MS,
		  STUDY_SYMMETRIC);
}

static void paper(struct study_fixture *f)
{
	static const uint32_t bash[] = { 366, 451 }, flush[] = { 75, 634 };
	static const uint32_t check[] = { 75, 186, 298, 410, 522, 634, 746 }, both[] = { 10, 16 };
	f->study.id = 3;
	f->study.machine = 1;
	f->study.made_at_ns = 1789460000123000000;
	machine_set(&f->machine, "cpu.model", "Intel(R) Core(TM) i7-870");
	machine_set(&f->machine, "kernel.release", "6.1.0-18-amd64");
	paper_runs(f);
	struct study_daemon *d = add_daemon(f, "bash");
	in_l_samples(&d->seen[0], 1 * MS, 2 * MS, bash, 2);
	add_cutoff(f, "bash", 0, 0, 1 * MS);
	d = add_daemon(f, "flush-9:0");
	in_cluster(&d->seen[0], 30, 1 * MS, 0);
	in_l_samples(&d->seen[0], 126 * MS, 127 * MS, flush, 2);
	in_cluster(&d->seen[1], 37, 7 * MS, 1.5e6);
	in_l_samples(&d->seen[1], 89 * MS, 91 * MS, both, 2);
	periodic(d, 559, 71552 * S, 181 * S, true);
	add_cutoff(f, "flush-9:0", 0, 3600 * S, 64 * MS);
	add_cutoff(f, "flush-9:0", 3600 * S, 0, 48 * MS);
	d = add_daemon(f, "rhn_check");
	in_l_samples(&d->seen[0], 562 * MS, 35176 * MS, check, 7);
	in_cluster(&d->seen[1], 38, 714 * MS, 93e6);
	in_l_samples(&d->seen[1], 24942 * MS, 25310 * MS, both, 2);
	periodic(d, 111.83, 14314 * S, 22 * S, false);
	add_cutoff(f, "rhn_check", 0, 720 * S, 281 * MS);
	add_cutoff(f, "rhn_check", 720 * S, 0, 12828 * MS);
	static const struct {
		const char *name;
		uint64_t max_ns;
	} others[] = { { "cifs", 1 * MS },	 { "java", 6 * MS }, { "kblockd/0", 1 * MS },
		       { "khugepaged", 1 * MS }, { "ntpd", 1 * MS }, { "proc_monitor", 204 * MS } };
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		in_cluster(&add_daemon(f, others[i].name)->seen[0], 700, others[i].max_ns, 2e5);
}

static void live(struct study_fixture *f)
{
	static const uint32_t a[] = { 5, 25, 44, 64, 84, 103 }, b[] = { 31, 90 };
	f->study.source = STUDY_WATCH;
	add_samples(f, STUDY_SHORT, 120, 1 * S, 300000);
	for (size_t i = 0; i < 6; i++) {
		slow(f, STUDY_SHORT, a[i], 300 * MS + draw(f, 2 * MS), true);
		if (i == 1 || i == 4)
			slow(f, STUDY_SHORT, b[i / 4], 1000 * MS + draw(f, 2 * MS), true);
	}
	finish(f, STUDY_SHORT);
	add_level(f, STUDY_SHORT, 2010 * MS, 1500 * MS, STUDY_L);
	add_level(f, STUDY_SHORT, 1310 * MS, 1100 * MS, STUDY_L);
	add_level(f, STUDY_SHORT, f->study.runs[0].cluster_high_ns, 1000 * MS + 200000,
		  STUDY_SYMMETRIC);
	struct study_daemon *d = add_daemon(f, "tare-a");
	in_l_samples(&d->seen[0], 299 * MS, 303 * MS, a, 6);
	periodic(d, 19.6, 20013 * MS, 40 * MS, false);
	add_cutoff(f, "tare-a", 0, 1000650000, 149500000);
	d = add_daemon(f, "tare-b");
	in_l_samples(&d->seen[0], 998 * MS, 1001 * MS, b, 2);
	periodic(d, 59, 60200 * MS, 900 * MS, true);
	add_cutoff(f, "tare-b", 0, 3 * S, 499 * MS);
	in_cluster(&add_daemon(f, "tare-c")->seen[0], 17, 2100000, 31000);
}

static void corner(struct study_fixture *f)
{
	add_samples(f, STUDY_SHORT, 200, 1 * S, 1 * MS);
	for (size_t i = 0; i < 200; i++)
		f->runs[0].samples.items[i].et_ns += draw(f, 5) < 2 ? 50 * MS : 0;
	finish(f, STUDY_SHORT);
	add_level(f, STUDY_SHORT, f->study.runs[0].cluster_high_ns, 1025 * MS, STUDY_CORNER);
	in_cluster(&add_daemon(f, "busy")->seen[0], 81, 50 * MS, 2e7);
}

static void unexplained(struct study_fixture *f)
{
	add_samples(f, STUDY_SHORT, 50, 10 * MS, 1000);
	slow(f, STUDY_SHORT, 7, 3 * MS, false);
	slow(f, STUDY_SHORT, 20, 2 * MS, false);
	finish(f, STUDY_SHORT);
	add_level(f, STUDY_SHORT, 14 * MS, 11 * MS, STUDY_L);
	add_level(f, STUDY_SHORT, f->study.runs[0].cluster_high_ns, 10 * MS + 500, STUDY_SYMMETRIC);
	in_cluster(&add_daemon(f, "rcu_sched")->seen[0], 48, 41000, 9000);
}

static void plain(struct study_fixture *f, size_t count, uint64_t spread_ns)
{
	f->study.source = STUDY_RUNS;
	add_samples(f, STUDY_SHORT, count, 100 * MS, spread_ns);
	finish(f, STUDY_SHORT);
	if (count >= 6)
		add_level(f, STUDY_SHORT, f->study.runs[0].cluster_high_ns,
			  100 * MS + spread_ns / 2, STUDY_SYMMETRIC);
}

bool study_fixture_make(struct study_fixture *f, const char *which)
{
	static const struct {
		const char *name;
		size_t count;
		uint64_t spread_ns;
	} plains[] = { { "quiet", 100, 2 * MS },
		       { "alike", 20, 0 },
		       { "few", 4, 2 * MS },
		       { "one", 1, 0 },
		       { "empty", 0, 0 } };
	*f = (struct study_fixture){ .seed = 1 };
	if (!strcmp(which, "paper"))
		paper(f);
	else if (!strcmp(which, "live"))
		live(f);
	else if (!strcmp(which, "corner"))
		corner(f);
	else if (!strcmp(which, "unexplained"))
		unexplained(f);
	else if (strcmp(which, "nothing") != 0) {
		for (size_t i = 0; i < sizeof plains / sizeof *plains; i++)
			if (!strcmp(which, plains[i].name)) {
				plain(f, plains[i].count, plains[i].spread_ns);
				return true;
			}
		return false;
	}
	return true;
}

void study_fixture_release(struct study_fixture *f)
{
	study_release(&f->study);
	machine_release(&f->machine);
	for (size_t k = 0; k < STUDY_LENGTHS; k++) {
		array_release(&f->runs[k].names);
		array_release(&f->runs[k].samples);
		array_release(&f->runs[k].executions);
		xfree(f->is_l[k]);
	}
	*f = (struct study_fixture){ 0 };
}
