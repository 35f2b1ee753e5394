/* Steps 5 to 10 on the papers' own data, and what the rules say at their edges. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../fixtures/near.h"
#include "base/file.h"
#include "protocol/sedona/private.h"
#include "sedona-machine.h"

#define MS 1000000u
#define S UINT64_C(1000000000)

/* ---- the golden files ---- */

/* The lines of a golden file without comments and head; the caller frees. */
static char *golden(const char *name)
{
	char path[512];
	snprintf(path, sizeof path, "%s/%s", TARE_GOLDEN, name);
	char *text = file_read(path);
	assert_non_null(text);
	char *body = text;
	while (*body == '#')
		body = strchr(body, '\n') + 1;
	body = strchr(body, '\n') + 1;
	memmove(text, body, strlen(body) + 1);
	return text;
}

static void read_cluster(const char *name, sedona_cluster_list *out)
{
	char *text = golden(name), *rest = text;
	for (char *line; (line = strsep(&rest, "\n")) && *line;) {
		struct sedona_cluster_row row = { 0 };
		unsigned long long max;
		double sigma;
		assert_int_equal(sscanf(line, "%16[^,],%llu,%lf", row.name, &max, &sigma), 3);
		row.max_ns = max * MS;
		row.sigma_ns = sigma * MS;
		array_push(out, row);
	}
	free(text);
}

static void read_l_samples(const char *name, struct sedona_run *out)
{
	char *text = golden(name), *rest = text;
	for (char *line; (line = strsep(&rest, "\n")) && *line;) {
		char daemon[DAEMON_NAME];
		unsigned number;
		unsigned long long pt;
		assert_int_equal(sscanf(line, "%u,%16[^,],%llu", &number, daemon, &pt), 3);
		size_t n = out->samples.count;
		if (!n || out->samples.items[n - 1].number != number)
			array_push(&out->samples,
				   (struct sedona_sample){ .number = number,
							   .first = out->executions.count });
		out->samples.items[out->samples.count - 1].count++;
		array_push(&out->executions,
			   (struct sedona_execution){ sedona_name_index(out, daemon), pt * MS });
	}
	free(text);
}

struct papers {
	struct sedona_run l[STUDY_LENGTHS];
	sedona_cluster_list cluster[STUDY_LENGTHS];
	struct study study;
};

static int study_papers(void **state)
{
	struct papers *p = calloc(1, sizeof *p);
	if (!p)
		return -1;
	read_cluster("emp-inc128-cluster.csv", &p->cluster[STUDY_SHORT]);
	read_l_samples("emp-inc128-lsamples.csv", &p->l[STUDY_SHORT]);
	read_cluster("emp-inc16384-cluster.csv", &p->cluster[STUDY_LONG]);
	read_l_samples("emp-inc16384-lsamples.csv", &p->l[STUDY_LONG]);
	const uint32_t total[] = { 800, 40 };
	const uint64_t length[] = { 128 * S, 16384 * S };
	struct sedona_seen_run seen[STUDY_LENGTHS];
	for (int i = 0; i < STUDY_LENGTHS; i++)
		seen[i] = (struct sedona_seen_run){ .l_samples = &p->l[i],
						    .cluster = p->cluster[i].items,
						    .cluster_count = p->cluster[i].count,
						    .total = total[i],
						    .length_ns = length[i] };
	sedona_cutoffs(&seen[STUDY_SHORT], &seen[STUDY_LONG], MS, &p->study);
	*state = p;
	return 0;
}

static int release_papers(void **state)
{
	struct papers *p = *state;
	for (int i = 0; i < STUDY_LENGTHS; i++) {
		sedona_run_release(&p->l[i]);
		array_release(&p->cluster[i]);
	}
	study_release(&p->study);
	free(p);
	return 0;
}

static void check_seen(const struct study_seen *seen, const char *ms)
{
	if (!*ms)
		return;
	assert_true(seen->has_cutoff);
	assert_int_equal(seen->cutoff_ns, strtoull(ms, NULL, 10) * MS);
}

/* Every row of emp-cutoffs.csv is there, in its order, and no other. */
static void the_papers_cutoffs_come_out_of_its_samples(void **state)
{
	const struct papers *p = *state;
	char *text = golden("emp-cutoffs.csv"), *rest = text;
	size_t row = 0;
	for (char *line; (line = strsep(&rest, "\n")) && *line && *line != '#'; row++) {
		const char *daemon = strsep(&line, ","), *short_ms = strsep(&line, ",");
		const char *long_ms = strsep(&line, ","), *applies = strsep(&line, ",");
		const struct study_daemon *d = daemon_named(&p->study, daemon);
		assert_true(row < p->study.cutoffs.count);
		const struct cutoff *c = &p->study.cutoffs.items[row];
		check_seen(&d->seen[STUDY_SHORT], short_ms);
		check_seen(&d->seen[STUDY_LONG], long_ms);
		uint64_t below = *applies == '<' ? strtoull(applies + 1, NULL, 10) * S : 0;
		uint64_t from = *applies == '>' ? strtoull(applies + 2, NULL, 10) * S : 0;
		assert_string_equal(c->daemon, daemon);
		assert_int_equal(c->from_ns, from);
		assert_int_equal(c->below_ns, below);
		assert_int_equal(c->cutoff_ns, strtoull(line, NULL, 10) * MS);
	}
	assert_int_equal(row, 16);
	assert_int_equal(p->study.cutoffs.count, row);
	assert_false(daemon_named(&p->study, "bash")->seen[STUDY_LONG].has_cutoff);
	free(text);
}

static void the_papers_periods_come_out_of_its_samples(void **state)
{
	const struct papers *p = *state;
	static const struct {
		const char *daemon;
		double samples; /* 0: none */
		bool uncertain;
	} want[] = {
		{ "flush-9:0", 559, true },   { "jbd2/md0-8", 559, true },
		{ "md0_raid1", 559, true },   { "rhn_check", 671 / 6., false },
		{ "rhnsd", 671 / 6., false }, { "rhsmcertd-worke", 671 / 6., false },
		{ "bash", 0, false },	      { "grep", 0, false },
		{ "sshd", 0, false },	      { "rhsmcertd", 0, false },
		{ "java", 0, false },
	};
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		const struct study_daemon *d = daemon_named(&p->study, want[i].daemon);
		assert_int_equal(d->period.found, want[i].samples > 0);
		assert_int_equal(d->period.uncertain, want[i].uncertain);
		assert_near(d->period.samples, want[i].samples, 1e-9);
		assert_near((double)d->period.ns, want[i].samples * 128e9, 1);
		assert_false(d->seen[STUDY_LONG].period.found);
	}
	const struct study_daemon *check = daemon_named(&p->study, "rhn_check");
	assert_true(check->period.error_ns > 0 && check->period.error_ns < 128 * S);
	assert_int_equal(check->seen[STUDY_SHORT].long_least_ns, 562 * MS);
	assert_int_equal(check->seen[STUDY_SHORT].long_most_ns, 35176u * (uint64_t)MS);
	assert_int_equal(check->seen[STUDY_SHORT].samples.count, 7);
	assert_int_equal(check->seen[STUDY_LONG].long_executions, 2);
}

/* EMP Table XVII, from the comment below the golden rows. */
static void the_papers_dropped_samples_are_dropped(void **state)
{
	const struct papers *p = *state;
	const uint64_t program[] = { 128 * S, 16384 * S };
	const uint32_t want[STUDY_LENGTHS][15] = {
		{ 75, 104, 186, 216, 298, 328, 366, 410, 439, 522, 551, 634, 663, 746, 775 },
		{ 10, 16 },
	};
	for (int i = 0; i < STUDY_LENGTHS; i++) {
		struct study_run out = { .length_ns = program[i] };
		sedona_drop(&p->l[i], p->study.cutoffs.items, p->study.cutoffs.count, &out);
		assert_int_equal(out.dropped.count, i == STUDY_SHORT ? 15 : 2);
		assert_memory_equal(out.dropped.items, want[i], out.dropped.count * sizeof **want);
		/* 451 is the one that stays */
		assert_int_equal(p->l[i].samples.count - out.dropped.count, i == STUDY_SHORT);
		array_release(&out.dropped);
	}
}

static void long_running_daemons_come_first_and_by_name(void **state)
{
	const struct papers *p = *state;
	bool others = false;
	for (size_t i = 0; i < p->study.daemons.count; i++) {
		const struct study_daemon *d = &p->study.daemons.items[i];
		bool long_running = d->seen[STUDY_SHORT].long_executions ||
				    d->seen[STUDY_LONG].long_executions;
		if (i && long_running == !others)
			assert_true(strcmp(d[-1].name, d->name) < 0);
		assert_false(long_running && others);
		others = !long_running;
	}
	assert_true(others);
	assert_int_equal(daemon_named(&p->study, "java")->seen[STUDY_SHORT].long_executions, 0);
}

/* The whole study of samples that the tables describe: each daemon of the cluster takes its maximum
 * in every other sample and 2 sigma less in the others. */
static void rebuild(const struct papers *p, enum study_length length, uint32_t total, uint64_t ns,
		    struct sedona_run *out)
{
	const struct sedona_run *l = &p->l[length];
	struct random r = { 5 };
	size_t next = 0;
	out->length_ns = ns;
	for (uint32_t i = 1; i <= total; i++) {
		struct sedona_sample s = { .number = i, .first = out->executions.count };
		double et = (double)ns + 4e6 * machine_gaussian(&r);
		if (next < l->samples.count && l->samples.items[next].number == i) {
			const struct sedona_sample *of = &l->samples.items[next++];
			for (size_t k = of->first; k < of->first + of->count; k++) {
				struct sedona_execution x = l->executions.items[k];
				x.daemon = sedona_name_index(out, l->names.items[x.daemon].text);
				array_push(&out->executions, x);
				et += (double)x.pt_ns;
			}
		} else {
			array_each(c, &p->cluster[length]) {
				double less = i % 2 ? 2 * c->sigma_ns : 0;
				if (less >= (double)c->max_ns)
					continue;
				uint64_t pt = c->max_ns - (uint64_t)less;
				array_push(&out->executions,
					   ((struct sedona_execution){
						   sedona_name_index(out, c->name), pt, 0 }));
				/* what is usual is part of the length */
			}
		}
		s.et_ns = (uint64_t)et;
		s.count = out->executions.count - s.first;
		array_push(&out->samples, s);
	}
}

static void the_papers_study_comes_out_of_samples_like_its_own(void **state)
{
	const struct papers *p = *state;
	static const struct {
		const char *daemon;
		unsigned long long short_ms, long_ms; /* 0: none */
	} want[] = { { "bash", 1, 0 },	{ "flush-9:0", 64, 48 }, { "jbd2/md0-8", 4, 11 },
		     { "grep", 1, 12 }, { "md0_raid1", 35, 51 }, { "rhn_check", 281, 12828 },
		     { "rhnsd", 2, 12 } };
	static const uint32_t gone[] = { 75,  104, 186, 216, 298, 328, 366, 410,
					 439, 522, 551, 634, 663, 746, 775 };
	struct sedona_run runs[STUDY_LENGTHS] = { 0 };
	struct study s = { 0 };
	rebuild(p, STUDY_SHORT, 800, 128 * S, &runs[STUDY_SHORT]);
	rebuild(p, STUDY_LONG, 40, 16384 * S, &runs[STUDY_LONG]);
	sedona_study(&runs[STUDY_SHORT], &runs[STUDY_LONG], MS, &s, NULL);
	assert_int_equal(s.runs[STUDY_SHORT].l_samples.count, 16);
	assert_int_equal(s.runs[STUDY_SHORT].dropped.count, 15);
	assert_memory_equal(s.runs[STUDY_SHORT].dropped.items, gone, sizeof gone);
	assert_int_equal(s.runs[STUDY_LONG].dropped.count, 2);
	assert_int_equal(s.runs[STUDY_LONG].dropped.items[0], 10);
	assert_int_equal(s.runs[STUDY_LONG].dropped.items[1], 16);
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		const struct study_daemon *d = daemon_named(&s, want[i].daemon);
		assert_int_equal(d->seen[STUDY_SHORT].cutoff_ns, want[i].short_ms * MS);
		assert_int_equal(d->seen[STUDY_LONG].cutoff_ns, want[i].long_ms * MS);
	}
	study_release(&s);
	for (int i = 0; i < STUDY_LENGTHS; i++)
		sedona_run_release(&runs[i]);
}

/* As in the papers' samples, but java takes 2 ms instead of 3 in the long run's cluster: halfway to
 * the 3 ms of its L-samples is 3 ms, and it takes up to 6 ms in usual samples of the short run. */
static void a_cutoff_below_what_is_usual_in_the_other_run_is_not_given(void **state)
{
	const struct papers *p = *state;
	struct sedona_seen_run seen[STUDY_LENGTHS];
	struct study s = { 0 };
	sedona_cluster_list rows = { 0 };
	array_each(row, &p->cluster[STUDY_LONG]) {
		array_push(&rows, *row);
		if (strcmp(row->name, "java") == 0) {
			rows.items[rows.count - 1].max_ns = 2 * MS;
			rows.items[rows.count - 1].sigma_ns = 0;
		}
	}
	for (int i = 0; i < STUDY_LENGTHS; i++)
		seen[i] = (struct sedona_seen_run){
			.l_samples = &p->l[i],
			.cluster = i ? rows.items : p->cluster[i].items,
			.cluster_count = i ? rows.count : p->cluster[i].count,
			.total = i ? 40 : 800,
			.length_ns = i ? 16384 * S : 128 * S,
		};
	sedona_cutoffs(&seen[STUDY_SHORT], &seen[STUDY_LONG], MS, &s);
	const struct study_daemon *java = daemon_named(&s, "java");
	assert_int_equal(java->seen[STUDY_LONG].cutoff_ns, 3 * MS);
	assert_null(cutoff_find(s.cutoffs.items, s.cutoffs.count, "java", 128 * S));
	assert_null(cutoff_find(s.cutoffs.items, s.cutoffs.count, "java", 16384 * S));
	assert_int_equal(s.cutoffs.count, 16); /* all the others */
	array_each(c, &s.cutoffs) {
		const struct study_daemon *d = daemon_named(&s, c->daemon);
		for (int i = 0; i < STUDY_LENGTHS; i++)
			if (cutoff_find(c, 1, c->daemon, seen[i].length_ns))
				assert_true(c->cutoff_ns >= d->seen[i].cluster_max_ns);
	}
	array_release(&rows);
	study_release(&s);
}

/* ---- periods ---- */

static struct study_period period_of(const uint32_t *numbers, size_t count, uint32_t total)
{
	struct study_period p;
	struct sedona_occurrence *seen = xcalloc(count + 1, sizeof *seen);
	for (size_t i = 0; i < count; i++)
		seen[i].number = numbers[i];
	sedona_period(seen, count, total, S, &p);
	xfree(seen);
	return p;
}
#define PERIOD(total, ...) \
	period_of((const uint32_t[]){ __VA_ARGS__ }, sizeof((uint32_t[]){ __VA_ARGS__ }) / 4, total)

static void even_distances_are_a_period(void **state)
{
	(void)state;
	struct study_period p = PERIOD(120, 7, 27, 47, 67, 87, 107);
	assert_true(p.found && !p.uncertain);
	assert_near(p.samples, 20, 1e-9);
	assert_int_equal(p.ns, 20 * S);
	assert_true(p.error_ns > 0 && p.error_ns < S);
	/* one that reached into the next sample is still one */
	p = PERIOD(120, 19, 20, 79, 80);
	assert_true(p.found && p.uncertain);
	assert_near(p.samples, 60, 1e-9);
	/* 2 samples off is even enough, 3 are not; nor is half a run, nor one, nor none */
	assert_true(PERIOD(100, 10, 30, 52, 70, 90).found);
	assert_false(PERIOD(100, 10, 30, 53, 73, 93).found);
	assert_false(PERIOD(100, 41, 61, 81).found);
	assert_false(PERIOD(100, 5, 25, 45).found);
	assert_false(PERIOD(100, 50).found);
	assert_false(period_of(NULL, 0, 100).found);
	/* 5 % of long gaps */
	assert_true(PERIOD(1000, 100, 300, 509, 700, 900).found);
	assert_false(PERIOD(1000, 100, 300, 511, 700, 900).found);
}

/* One missing, one too many, one too late. */
static void a_period_survives_one_occurrence_that_is_missing_or_too_many(void **state)
{
	(void)state;
	struct study_period p = PERIOD(240, 7, 27, 47, 67, 107, 127, 147, 167, 187, 207, 227);
	assert_true(p.found && !p.uncertain);
	assert_near(p.samples, 20, 1e-9);
	p = PERIOD(240, 7, 27, 47, 67, 87, 94, 107, 127, 147, 167, 187, 207, 227);
	assert_true(p.found);
	assert_near(p.samples, 20, 1e-9);
	/* the first is missing, and so is the last */
	assert_true(PERIOD(240, 27, 47, 67, 87, 107, 127, 147, 167, 187, 207).found);
	/* half of them are not */
	assert_false(PERIOD(240, 7, 13, 27, 60, 71, 87, 101, 122, 167, 180, 207).found);
	/* only in the first half of the run */
	assert_false(PERIOD(240, 7, 27, 47, 67, 87, 107).found);
}

static void random_samples_have_no_period(void **state)
{
	(void)state;
	assert_false(PERIOD(200, 3, 4, 9, 17, 60, 61, 75, 140, 199).found);
	assert_false(PERIOD(30, 2, 4, 9, 11, 14, 21, 23, 28).found);
}

/* ---- cutoffs at the edges ---- */

static void add_sample(struct sedona_run *r, uint32_t number, const char *daemon, uint64_t pt_ns)
{
	array_push(&r->samples, (struct sedona_sample){ .number = number,
							.first = r->executions.count,
							.count = daemon ? 1 : 0 });
	if (daemon)
		array_push(&r->executions,
			   (struct sedona_execution){ sedona_name_index(r, daemon), pt_ns });
}

static struct study study_of(struct sedona_run *l, uint32_t total, uint64_t length_ns,
			     struct sedona_run *l_long, uint64_t long_ns)
{
	struct study s = { 0 };
	struct sedona_seen_run a = { .l_samples = l, .total = total, .length_ns = length_ns };
	struct sedona_seen_run b = { .l_samples = l_long, .total = 40, .length_ns = long_ns };
	sedona_cutoffs(&a, l_long ? &b : NULL, 1, &s);
	sedona_run_release(l);
	if (l_long)
		sedona_run_release(l_long);
	return s;
}

/* The longest gap less the shortest of the set bits. */
static int gaps_differ(unsigned bits)
{
	int last = -1, shortest = 99, longest = 0;
	for (int i = 0; i < 32; i++) {
		if (!(bits >> i & 1))
			continue;
		if (last >= 0) {
			shortest = i - last < shortest ? i - last : shortest;
			longest = i - last > longest ? i - last : longest;
		}
		last = i;
	}
	return longest - shortest;
}

/* Against every way to place 4 or 5 of 17. */
static void the_chance_of_even_gaps_is_what_counting_gives(void **state)
{
	(void)state;
	for (int marks = 4; marks <= 5; marks++) {
		unsigned all = 0, as_even[17] = { 0 }, asked = 0;
		for (unsigned bits = 0; bits < 1u << 17; bits++) {
			if (__builtin_popcount(bits) != marks)
				continue;
			all++;
			for (int d = gaps_differ(bits); d < 17; d++)
				as_even[d]++;
		}
		for (unsigned bits = 0; bits < 1u << 17; bits++) {
			uint32_t numbers[5], n = 0;
			int differ = gaps_differ(bits);
			/* neighbours are one; what differs by more than the mean is not asked */
			if (__builtin_popcount(bits) != marks || (bits & bits << 1) ||
			    differ * marks > 17)
				continue;
			for (uint32_t i = 0; i < 17; i++)
				if (bits >> i & 1)
					numbers[n++] = i + 1;
			assert_near(sedona_p_even(numbers, n, 17), (double)as_even[differ] / all,
				    1e-9);
			asked++;
		}
		assert_true(asked > 100);
	}
}

static void even_gaps_are_improbable_and_uneven_ones_are_not(void **state)
{
	(void)state;
	static const uint32_t every_fourth[] = { 3, 7, 11, 15, 19, 23, 27, 31 };
	static const uint32_t nearly[] = { 3, 7, 11, 14, 18, 22, 26, 30 };
	static const uint32_t reaching_over[] = { 3, 7, 11, 12, 15, 19, 23, 27, 31 };
	static const uint32_t any[] = { 3, 5, 11, 14, 20, 22, 27, 31 };
	assert_true(sedona_p_even(every_fourth, 8, 32) < 1e-4);
	assert_true(sedona_p_even(nearly, 8, 31) < 2e-3);
	/* one that reaches into the next makes it harder: 0.0035 are not enough */
	assert_near(sedona_p_even(reaching_over, 9, 32), 0.0035, 1e-4);
	assert_true(sedona_p_even(any, 8, 31) > 0.05);
	assert_true(sedona_p_even(every_fourth, 3, 12) == 1);
	assert_true(sedona_p_even(every_fourth, 8, 100000) == 1);
}

/* A short run whose own length is beyond 5 % of a period has cutoffs for that length. */
static void cutoffs_hold_for_their_run(void **state)
{
	(void)state;
	struct sedona_run l = { 0 }, l_long = { 0 };
	for (uint32_t i = 7; i <= 120; i += 20)
		add_sample(&l, i, "d", 300 * MS);
	struct study s = study_of(&l, 120, S, NULL, 0);
	assert_int_equal(s.cutoffs.count, 1);
	assert_int_equal(s.cutoffs.items[0].below_ns, 2 * S);
	assert_int_equal(s.cutoffs.items[0].cutoff_ns, 150 * MS);
	assert_non_null(cutoff_find(s.cutoffs.items, 1, "d", S));
	study_release(&s);

	for (uint32_t i = 7; i <= 120; i += 20)
		add_sample(&l, i, "d", 300 * MS);
	add_sample(&l_long, 3, "d", 600 * MS);
	s = study_of(&l, 120, S, &l_long, 4 * S);
	assert_int_equal(s.cutoffs.count, 2);
	assert_int_equal(s.cutoffs.items[0].below_ns, 2 * S);
	assert_int_equal(s.cutoffs.items[1].from_ns, 2 * S);
	assert_int_equal(s.cutoffs.items[1].below_ns, 0);
	assert_int_equal(s.cutoffs.items[1].cutoff_ns, 300 * MS);
	study_release(&s);
}

/* Without a period the larger one holds for all, even where only the long run has one. */
static void without_a_period_the_larger_cutoff_holds_for_all_lengths(void **state)
{
	(void)state;
	struct sedona_run l = { 0 }, l_long = { 0 };
	add_sample(&l, 50, "both", 10 * MS);
	add_sample(&l_long, 3, "both", 6 * MS);
	add_sample(&l_long, 20, "long", 7);
	struct study s = study_of(&l, 100, S, &l_long, 100 * S);
	assert_int_equal(s.cutoffs.count, 2);
	assert_string_equal(s.cutoffs.items[0].daemon, "both");
	assert_int_equal(s.cutoffs.items[0].cutoff_ns, 5 * MS);
	assert_int_equal(s.cutoffs.items[1].cutoff_ns, 4); /* 3.5, half up */
	assert_int_equal(s.cutoffs.items[1].from_ns, 0);
	assert_int_equal(s.cutoffs.items[1].below_ns, 0);
	study_release(&s);

	s = study_of(&l, 100, S, NULL, 0); /* no L-sample, no daemon */
	assert_int_equal(s.cutoffs.count, 0);
	assert_int_equal(s.daemons.count, 0);
	study_release(&s);
}

/* Samples with these cutoffs for a program of that length: which go, as bits by number. */
static unsigned dropped(const struct sedona_run *r, const struct cutoff *cutoffs, size_t count,
			uint64_t program_ns, struct study_run *out)
{
	unsigned bits = 0;
	*out = (struct study_run){ .length_ns = program_ns };
	sedona_drop(r, cutoffs, count, out);
	for (size_t i = 0; i < out->dropped.count; i++)
		bits |= 1u << out->dropped.items[i];
	array_release(&out->dropped);
	return bits;
}

/* One execution above its cutoff is enough, equal is not above, and the length decides which. */
static void one_execution_above_its_cutoff_drops_the_sample(void **state)
{
	(void)state;
	struct sedona_run r = { 0 };
	struct study_run out;
	add_sample(&r, 1, "c", 9000);
	array_push(&r.executions, (struct sedona_execution){ sedona_name_index(&r, "a"), 30 });
	r.samples.items[0].count = 2;
	add_sample(&r, 3, "b", 25);
	add_sample(&r, 4, "a", 20);
	add_sample(&r, 5, NULL, 0);
	for (size_t i = 0; i < 4; i++)
		r.samples.items[i].et_ns = 100 + 10 * i;
	const struct cutoff cutoffs[] = { { .daemon = "a", .below_ns = S, .cutoff_ns = 20 },
					  { .daemon = "a", .from_ns = S, .cutoff_ns = 30 },
					  { .daemon = "b", .cutoff_ns = 10 } };
	assert_int_equal(dropped(&r, cutoffs, 3, S - 1, &out), 1u << 1 | 1u << 3);
	assert_near(out.mean_kept_ns, 125, 1e-9);
	assert_near(out.sigma_kept_ns, sqrt(50), 1e-9);
	assert_int_equal(dropped(&r, cutoffs, 2, S - 1, &out), 1u << 1);
	assert_int_equal(dropped(&r, cutoffs, 3, S, &out), 1u << 3);
	assert_int_equal(dropped(&r, cutoffs, 2, S, &out), 0);
	assert_near(out.mean_kept_ns, 115, 1e-9);
	sedona_run_release(&r);
}

/* ---- the cluster, and stored runs ---- */

static void daemons_of_the_cluster_are_summed_up_by_name(void **state)
{
	(void)state;
	struct sedona_run r = { 0 };
	add_sample(&r, 1, "z", 2);
	add_sample(&r, 2, "a", 5);
	add_sample(&r, 3, "z", 1000);
	add_sample(&r, 4, "z", 4);
	add_sample(&r, 5, NULL, 0);
	add_sample(&r, 6, "only-l", 7);
	const bool is_l[] = { false, false, true, false, false, true };
	sedona_cluster_list rows = { 0 };
	sedona_cluster(&r, is_l, &rows);
	assert_int_equal(rows.count, 2);
	assert_string_equal(rows.items[0].name, "a");
	assert_near(rows.items[0].sigma_ns, 0, 0);
	assert_string_equal(rows.items[1].name, "z");
	assert_int_equal(rows.items[1].executions, 2);
	assert_int_equal(rows.items[1].max_ns, 4);
	assert_near(rows.items[1].sigma_ns, sqrt(2), 1e-12);
	array_release(&rows);
	sedona_run_release(&r);
}

static struct process process_of(enum role role, const char *name, uint64_t present, uint64_t exec,
				 uint64_t user, uint64_t system)
{
	struct process p = { .role = role, .present = present };
	p.value[TASK_EXEC] = exec;
	p.value[TASK_USER] = user;
	p.value[TASK_SYSTEM] = system;
	snprintf(p.name, sizeof p.name, "%s", name);
	return p;
}

static void a_stored_run_becomes_samples_with_daemons(void **state)
{
	(void)state;
	const uint64_t exec = 1u << TASK_EXEC, ticks = 1u << TASK_USER | 1u << TASK_SYSTEM;
	struct run run = { .id = 5, .shell_et_ns = 100 };
	struct execution x[4] = {
		{ .number = 1, .warmup = true, .et_ns = 900 },
		{ .number = 1, .et_ns = 1100, .started_at_ns = 77 },
		{ .number = 2, .et_ns = 500, .outcome = OUTCOME_SIGNALLED, .status = 9 },
		{ .number = 3, .et_ns = 60 },
	};
	array_push(&x[1].processes, process_of(ROLE_SUBJECT, "inc", exec, 1000, 0, 0));
	array_push(&x[1].processes, process_of(ROLE_DAEMON, "sshd", exec | ticks, 30, 1, 1));
	array_push(&x[1].processes, process_of(ROLE_DAEMON, "sshd", ticks, 0, 5, 6));
	array_push(&x[1].processes, process_of(ROLE_DAEMON, "idle", exec, 0, 0, 0));
	array_push(&x[1].processes, process_of(ROLE_SELF, "tare", exec, 9, 0, 0));
	x[1].processes.items[1].pid = 40;
	x[1].ledger.present = true;
	array_push(&x[1].ledger.others,
		   ((struct ledger_other){ .pid = 40, .delayed_ns = 20, .io_delayed_ns = 3 }));
	struct sedona_run r;
	sedona_run_of(&run, x, 4, &r);
	assert_true(r.samples.items[0].tells_delays);
	assert_int_equal(r.executions.items[0].delay_ns, 23);
	assert_int_equal(r.executions.items[1].delay_ns, 0);
	assert_false(r.samples.items[1].tells_delays);
	array_release(&x[1].ledger.others);
	assert_int_equal(r.run, 5);
	assert_int_equal(r.samples.count, 2);
	assert_int_equal(r.samples.items[0].number, 1);
	assert_int_equal(r.samples.items[0].at_ns, 77);
	assert_int_equal(r.samples.items[0].et_ns, 1000);
	assert_int_equal(r.samples.items[0].count, 2);
	assert_int_equal(r.executions.items[0].pt_ns, 30);
	assert_int_equal(r.executions.items[1].pt_ns, 11);
	assert_string_equal(r.names.items[r.executions.items[1].daemon].text, "sshd");
	assert_int_equal(r.samples.items[1].number, 3);
	assert_int_equal(r.samples.items[1].et_ns, 0);
	assert_int_equal(r.samples.items[1].count, 0);
	assert_int_equal(r.names.count, 1);
	sedona_run_release(&r);
	array_release(&x[1].processes);
}

int main(void)
{
	const struct CMUnitTest golden_tests[] = {
		cmocka_unit_test(the_papers_cutoffs_come_out_of_its_samples),
		cmocka_unit_test(the_papers_periods_come_out_of_its_samples),
		cmocka_unit_test(the_papers_dropped_samples_are_dropped),
		cmocka_unit_test(long_running_daemons_come_first_and_by_name),
		cmocka_unit_test(the_papers_study_comes_out_of_samples_like_its_own),
		cmocka_unit_test(a_cutoff_below_what_is_usual_in_the_other_run_is_not_given),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(even_distances_are_a_period),
		cmocka_unit_test(a_period_survives_one_occurrence_that_is_missing_or_too_many),
		cmocka_unit_test(random_samples_have_no_period),
		cmocka_unit_test(the_chance_of_even_gaps_is_what_counting_gives),
		cmocka_unit_test(even_gaps_are_improbable_and_uneven_ones_are_not),
		cmocka_unit_test(cutoffs_hold_for_their_run),
		cmocka_unit_test(without_a_period_the_larger_cutoff_holds_for_all_lengths),
		cmocka_unit_test(one_execution_above_its_cutoff_drops_the_sample),
		cmocka_unit_test(daemons_of_the_cluster_are_summed_up_by_name),
		cmocka_unit_test(a_stored_run_becomes_samples_with_daemons),
	};
	return cmocka_run_group_tests(golden_tests, study_papers, release_papers) +
	       cmocka_run_group_tests(tests, NULL, NULL);
}
