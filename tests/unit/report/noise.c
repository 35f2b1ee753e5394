/* The reports of `tare noise`. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <cmocka.h>

#include "../fixtures/near.h"
#include "base/text.h"
#include "csv.h"
#include "noise-fixture.h"
#include "report/noise/rows.h"

static struct noise_fixture f;

static void assert_has(const struct strbuf *out, const char *text)
{
	if (!strstr(strbuf_text(out), text))
		fail_msg("\"%s\" is not in:\n%s", text, strbuf_text(out));
}

static void assert_has_not(const struct strbuf *out, const char *text)
{
	if (strstr(strbuf_text(out), text))
		fail_msg("\"%s\" is in:\n%s", text, strbuf_text(out));
}

/* No line wider than asked, none with spaces at its end, no NaN; the last ends. Returns how many.
 */
static size_t check_lines(const struct strbuf *out, size_t width)
{
	size_t lines = 0;
	char *copy = strdup(strbuf_text(out)), *rest = copy, *line;
	while ((line = strsep(&rest, "\n")) && rest) {
		size_t length = strlen(line);
		if (text_width(line) > width)
			fail_msg("%zu columns: %s", text_width(line), line);
		if (length && line[length - 1] == ' ')
			fail_msg("spaces at the end: %s", line);
		lines++;
	}
	assert_string_equal(line, "");
	free(copy);
	assert_has_not(out, "nan");
	assert_has_not(out, "inf ");
	return lines;
}

static void render(const struct noise_style *style, struct strbuf *out)
{
	strbuf_clear(out);
	noise_text(&f.view, style, out);
	check_lines(out, style->style.width ? style->style.width : 80);
}

/* ---- text ---- */

static void noise_is_shown_whole(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	noise_fixture_guest(&f);
	f.noise.cpus.items[1].lost = 3;
	render(&(struct noise_style){ .most = 10 }, &out);
	const char *head =
		"Noise on CPUs 0-1 for 10.0 s, ordinary scheduling, run 12: quiet guest\n"
		"  Loop        10 ns a turn (99.9 %: 20 ns), clock step 10 ns, threshold 100 ns\n"
		"  Watched     19.9 s of 20.1 s of CPU time, 20 rounds, duty cycle 98.98 %\n"
		"  Detours     32882, 1644 per s and CPU, from 110 ns to 3.93 ms\n"
		"  Time lost   343 ms, 1.71 % of the time looked at: 17.1 ms per s\n"
		"\n"
		"Sources, in µs\n"
		"Source           Lowest  Highest  Count     Mean     Total       σ      %\n"
		"host-periodic      8.20    14.20  19800    11.20  221819.8    1.72  64.70\n"
		"steal           1753.87  3917.43     20  2996.44   59928.9  725.91  17.48\n";
	assert_memory_equal(out.text, head, strlen(head));
	assert_has(&out, "\n… and 5 more (0.23 %)\n"
			 "Periodic: timer every 4.00 ms, ");
	assert_has(&out, "\nirq                  13.01 ms    3.80 %  timer\n");
	assert_has(&out, "\ntold by the kernel   26.47 ms    7.72 %  strict: ");
	assert_has(&out, "\nall                  342.8 ms  100.00 %\n");
	assert_has(&out, "\nover 1 µs    24882  340.6 ms  >99.99 %  7.77 %     34.88 %\n");
	assert_has(&out, "\nhost-periodic: an inference: 19800 of 27800 otherwise unexplained "
			 "detours are in\n  phase with 999.98 Hz (fitted in 20 of 20 rounds); "
			 "1.6 % would be by chance.\n");
	assert_has(&out, "\nUntold interrupts: HYP: Hypervisor callback interrupts (12). ");
	assert_has(&out, "\nIn no detour: 28 occurrences, 44.0 µs together: ");
	assert_has(&out, "\nLost: 3 of 18003 events");
	assert_has(&out, "\n    3.969 s    1  3.93 ms  timer (steal 3.92 ms)\n");
	assert_has_not(&out, "Not seen");
	assert_has_not(&out, "hrottled");
	assert_has_not(&out, "\033");
	strbuf_release(&out);
	noise_fixture_release(&f);
}

static void shares_of_classes_add_up(void **state)
{
	(void)state;
	noise_fixture_guest(&f);
	for (size_t i = 0; i < 2; i++) {
		const struct noise_cpu *c = &f.noise.cpus.items[i];
		for (int mode = 0; mode < 2; mode++) {
			struct noise_rows rows;
			uint64_t ns = 0;
			noise_rows_of(c, (enum noise_mode)mode, &rows);
			for (size_t k = 0; k < rows.list.count; k++) {
				ns += rows.list.items[k].seen.ns;
				if (k)
					assert_true(rows.list.items[k].seen.ns <=
						    rows.list.items[k - 1].seen.ns);
			}
			assert_true(ns == c->total.ns);
			noise_rows_release(&rows);
		}
		struct noise_coverage coverage;
		noise_coverage_of(&f.noise, c, 0, &coverage);
		assert_true(coverage.ns == c->total.ns && coverage.count == c->total.count);
		assert_true(coverage.strict < coverage.overlap &&
			    coverage.overlap < coverage.named);
	}
	noise_fixture_release(&f);
}

/* The price of the real-time class is no noise: coverage is as it is without it. */
static void throttled_time_is_not_counted_as_noise(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	struct noise_coverage before, after;
	noise_fixture_guest(&f);
	noise_coverage_of(&f.noise, &f.noise.cpus.items[0], 8000, &before);
	struct noise_piece piece = { NOISE_THROTTLED, "sshd", 50000000 };
	noise_fixture_detour(&f, 0, 1000000, &piece, 1);
	noise_coverage_of(&f.noise, &f.noise.cpus.items[0], 8000, &after);
	assert_true(after.ns == before.ns && after.count == before.count + 1);
	assert_near(after.named, before.named, 1e-12);
	assert_near(after.strict, before.strict, 1e-12);
	assert_near(after.overlap, before.overlap, 1e-12);
	render(&(struct noise_style){ 0 }, &out);
	assert_has(&out, " per s; of it 50.0 ms\n"
			 "              throttled: the price of --priority, not noise\n");
	assert_has(&out, "\nThrottled time is in none of them.\n");
	strbuf_release(&out);
	noise_fixture_release(&f);
}

static void every_form_fits_every_width(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	noise_fixture_guest(&f);
	static const size_t widths[] = { 60, 72, 80, 104, 200 };
	for (size_t i = 0; i < 5; i++)
		for (int bits = 0; bits < 8; bits++)
			render(&(struct noise_style){ .style.width = widths[i],
						      .mode = bits & 1,
						      .style.ascii = bits & 2,
						      .per_cpu = bits & 4,
						      .histograms = true,
						      .density = true },
			       &out);
	render(&(struct noise_style){ .style.ascii = true, .histograms = true, .density = true },
	       &out);
	for (const char *c = out.text; *c; c++)
		assert_true((unsigned char)*c < 128);
	assert_has(&out, "\nSources, in us\n");
	assert_has(&out, "\nDetours per s and decade; Parzen, bandwidth ");

	render(&(struct noise_style){ .per_cpu = true }, &out);
	assert_has(&out, "\n\nCPU 0\n");
	assert_has(&out, "\n\nCPU 1\n");
	assert_has(&out, "\n\nAll CPUs together\n");

	render(&(struct noise_style){ .mode = NOISE_BY_SUCCESSION }, &out);
	assert_has(&out, "\ntimer_softirq:sched ");
	assert_has(&out, "\nIn succession ");
	assert_has_not(&out, "more (");

	render(&(struct noise_style){ .style.width = 110 }, &out);
	assert_has(&out, "\ntimer               irq ");
	assert_has(&out, "4.00 ms\n");

	strbuf_clear(&out);
	noise_text(&f.view, &(struct noise_style){ .style.colour = true }, &out);
	assert_has(&out, "\033[1mSource ");
	strbuf_release(&out);
	noise_fixture_release(&f);
}

/* Runs of days have figures that are wide: they are shown whole or not at all. */
static void wide_figures_are_shown_whole_or_not_at_all(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	noise_fixture_guest(&f);
	struct noise_source *s = noise_source_get(&f.noise.cpus.items[0], NOISE_IRQ, "timer");
	s->spread.count = 12345678901;
	s->spread.ns = 7776000000000000;
	s->spread.max_ns = 987654321000;
	f.noise.cpus.items[0].total.ns += s->spread.ns;
	render(&(struct noise_style){ 0 }, &out);
	assert_has(&out, "12345681391");
	assert_has(&out, "7776000006");
	render(&(struct noise_style){ .style.width = 60 }, &out);
	assert_has(&out, "12345681391");
	assert_has(&out, "7776000006");
	strbuf_release(&out);
	noise_fixture_release(&f);
}

/* De, Kothari and Mann, Table I. */
static void the_papers_table_i_comes_out(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		double share;
	} paper[] = { { "timer", 63.27 },	 { "hidd", 9.35 }, { "python", 7.96 },
		      { "haldaddonstor", 5.19 }, { "ide1", 4.05 }, { "events0", 1.96 },
		      { "eth0", 1.51 } };
	struct strbuf out = { 0 };
	struct csv csv;
	noise_fixture_table1(&f, TARE_GOLDEN "/jitter-table1.csv");
	struct table *t = noise_sources_table(&f.view, NULL);
	table_render(t, TABLE_CSV, NULL, &out);
	table_free(t);
	csv_parse(out.text, &csv);
	assert_int_equal(csv.rows, 1 + 7 + 2);
	size_t row = 0;
	for (size_t i = 0; i < 7; i++) {
		row++;
		if (!strcmp(csv_at(&csv, row, "source"), "others"))
			row++;
		assert_string_equal(csv_at(&csv, row, "source"), paper[i].name);
		/* the paper cuts digits off, so up to 0.01 less */
		double share = strtod(csv_at(&csv, row, "share_percent"), NULL);
		assert_near(share, paper[i].share + 0.005, 0.0051);
	}
	csv_release(&csv);
	strbuf_clear(&out);
	noise_text(&f.view, NULL, &out);
	check_lines(&out, 80);
	assert_has(&out,
		   "\ntimer            9.74  1042.05  76997   14.70  1131522    828.1  63.27\n");
	assert_has(&out,
		   "\nhidd             4.52   364.31   3404   49.17   167375   3451.0   9.36\n");
	strbuf_release(&out);
	noise_fixture_release(&f);
}

static void without_the_kernel_it_says_what_was_not_seen(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	noise_fixture_plain(&f);
	f.run.status = RUN_INTERRUPTED;
	render(&(struct noise_style){ .histograms = true, .density = true }, &out);
	/* 4800 per decade at most, in 19.9 s */
	assert_has(&out, "\n 1e+02 │");
	assert_has(&out, "\n 1e-01 │");
	assert_null(strstr(out.text, "\n 1e+03 │"));
	assert_has(&out, " s (interrupted), SCHED_FIFO 95");
	assert_has(&out, "\n  Lengths     half below 10.8 µs, 90 % below 19.0 µs");
	assert_null(strstr(out.text, "unexplained"));
	assert_null(strstr(out.text, "100.00 %"));
	assert_has(&out, "\nNot seen: without CAP_BPF the kernel tells nothing.\n");
	f.run.status = RUN_GOING;
	f.run.not_seen[0] = '\0';
	render(&(struct noise_style){ 0 }, &out);
	assert_has(&out, " s (still going), SCHED_FIFO 95");
	assert_has(&out, "\nNot seen: who caused a detour.\n");
	strbuf_clear(&out);
	noise_zoom(&f.view, 1000, 1000000, NULL, &out);
	noise_top(&f.view, 24, NULL, &out);
	assert_null(strstr(out.text, "unexplained"));
	assert_has(&out, "\nNot seen: who caused a detour.\n");
	strbuf_release(&out);
	noise_fixture_release(&f);
}

static void a_run_without_detours_is_shown_without_harm(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	noise_fixture_empty(&f, 2);
	render(&(struct noise_style){ .histograms = true, .density = true, .per_cpu = true }, &out);
	assert_has(&out, "  Detours     none above the threshold\n");
	for (size_t i = 0; i < 2; i++) /* not even a round */
		f.noise.cpus.items[i].window_ns = f.noise.cpus.items[i].unwatched_ns = 0;
	f.noise.elapsed_ns = 0;
	render(&(struct noise_style){ 0 }, &out);
	assert_has(&out, "duty cycle -\n");
	strbuf_clear(&out);
	noise_top(&f.view, 24, NULL, &out);
	assert_true(check_lines(&out, 80) <= 24);
	noise_json(&f.view, &out);
	f.view.run = NULL;
	noise_json(&f.view, &out);
	struct table *t = noise_histogram_table(&f.view);
	assert_int_equal(table_rows(t), 0);
	table_free(t);
	strbuf_release(&out);
	noise_fixture_release(&f);
}

/* 10 µs in detours of which the kernel told nothing, 10 in others beside the 0.8 of the fixture. */
static void what_is_left_unexplained_is_told(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	struct noise_style style = { 0 };
	noise_fixture_guest(&f);
	struct noise_cpu *c = &f.noise.cpus.items[0];
	unsigned bucket = noise_bucket_of(5000);
	struct noise_combination *alone = noise_combination_get(c, "unexplained");
	noise_histogram_add(&alone->seen_lengths, bucket, 2, 10000);
	c->buckets[bucket].class_ns[NOISE_UNEXPLAINED] += 20000;
	noise_text(&f.view, &style, &out);
	check_lines(&out, 80);
	assert_has(&out, "\nunexplained: of the 20.8 µs in detours over 1 µs, 48.08 % in ones");
	strbuf_release(&out);
	noise_fixture_release(&f);
}

static void smis_are_told_where_they_are_counted(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	struct noise_style style = { 0 };
	struct machine metal = { 0 };
	const struct noise_piece firmware[] = { { NOISE_SMI, NULL, 90000 } };
	const struct noise_piece dark[] = { { NOISE_UNEXPLAINED, NULL, 30000 } };
	noise_fixture_guest(&f);
	render(&style, &out);
	assert_has_not(&out, "smi");
	struct noise_cpu *c = &f.noise.cpus.items[0];
	c->smi_count = c->smi_explained = 0; /* and the other does not count them */
	noise_fixture_detour(&f, 0, 9000000000, dark, 1);
	noise_histogram_add(&noise_combination_get(c, "unexplained")->seen_lengths,
			    noise_bucket_of(30000), 1, 30000);
	render(&style, &out);
	assert_has_not(&out, "smi");
	assert_has(&out, "or firmware.");
	machine_set(&metal, "system.hypervisor", "none");
	f.view.machine = &metal;
	render(&style, &out);
	assert_has_not(&out, "firmware");
	assert_has(&out, "the CPU counted no SMI: likely the hardware");
	noise_fixture_detour(&f, 0, 9500000000, firmware, 1);
	c->smi_count = 3;
	render(&style, &out);
	assert_has(&out,
		   "\nsmi: firmware took the CPUs 3 times, by their count; none of them in a");
	c->smi_explained = 2;
	render(&style, &out);
	assert_has(&out,
		   "\nsmi: firmware took the CPUs 3 times, by their count; 2 of them in detours");
	assert_has(&out, "90.0 µs.\n");
	const char *text = strbuf_text(&out), *class = strstr(text, "\nsmi  ");
	assert_non_null(class);
	assert_true(strstr(class, "\nunexplained  ") > class); /* which is last */
	f.noise.kernel = false;
	render(&style, &out);
	assert_has(&out, "\nsmi: firmware took the CPUs 3 times, by their count.\n");
	f.noise.kernel = true;
	strbuf_clear(&out);
	noise_json(&f.view, &out);
	json_t *root = json_loads(strbuf_text(&out), 0, NULL);
	json_t *cpus = json_object_get(root, "cpus");
	json_t *one = json_object_get(json_array_get(cpus, 0), "smi");
	json_t *other = json_object_get(json_array_get(cpus, 1), "smi");
	assert_int_equal(json_integer_value(json_object_get(one, "count")), 3);
	assert_true(json_is_null(json_object_get(other, "count")));
	json_decref(root);
	f.view.machine = NULL;
	machine_release(&metal);
	strbuf_release(&out);
	noise_fixture_release(&f);
}

/* ---- zoom ---- */

/* The sum of the counts and times (ns, to the digits shown) of a zoom. */
static void sum_of_zoom(const char *text, uint64_t *count, double *ns)
{
	*count = 0;
	*ns = 0;
	char *copy = strdup(text), *rest = copy, *line;
	strsep(&rest, "\n");
	strsep(&rest, "\n");
	while ((line = strsep(&rest, "\n")) && *line) {
		unsigned long n;
		double time;
		char unit[8];
		char *figures = strstr(line, "  ");
		assert_non_null(figures);
		assert_int_equal(sscanf(figures, "%lu %lf %7s", &n, &time, unit), 3);
		*count += n;
		*ns += time * (!strcmp(unit, "ms") ? 1e6 : !strcmp(unit, "ns") ? 1 : 1e3);
	}
	free(copy);
}

static void a_zoom_sums_up_the_detours_between_two_edges(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	uint64_t count, all = 0, all_ns = 0;
	double ns;
	noise_fixture_guest(&f);
	for (size_t i = 0; i < 2; i++)
		for (unsigned b = noise_bucket_of(9000); b < noise_bucket_of(110000); b++) {
			all += f.noise.cpus.items[i].buckets[b].count;
			all_ns += f.noise.cpus.items[i].buckets[b].ns;
		}
	/* 9050 is no edge, 109000 is none, either */
	struct noise_style style = { .mode = NOISE_BY_SUCCESSION };
	noise_zoom(&f.view, 9050, 109000, &style, &out);
	check_lines(&out, 80);
	assert_has(&out, "Detours from 9.00 µs to 110 µs: ");
	sum_of_zoom(out.text, &count, &ns);
	assert_true(count == all);
	assert_near(ns, (double)all_ns, 1e-3 * (double)all_ns);

	style.mode = NOISE_BY_SOURCE;
	strbuf_clear(&out);
	noise_zoom(&f.view, 80000, 200000, &style, &out);
	assert_has(&out, "Detours from 80.0 µs to 200 µs: 60, 9.55 ms (2.79 % of all time lost)\n"
			 "In succession ");
	assert_has(&out, "\nAlone this long  Count      Time     Share\n"
			 "sshd                60  7.953 ms  100.00 %\n");
	strbuf_clear(&out);
	noise_zoom(&f.view, 1000000, UINT64_MAX, &style, &out);
	assert_has(&out, "Detours from 1.00 ms on: 20, ");
	strbuf_clear(&out);
	noise_zoom(&f.view, 20000000, 30000000, &style, &out);
	assert_has(&out, ": none\nNothing has such a length.\n");
	style.per_cpu = true;
	style.most = 1;
	strbuf_clear(&out);
	noise_zoom(&f.view, 0, 100000, &style, &out);
	check_lines(&out, 80);
	assert_has(&out, "CPU 1\nDetours from 0 ns to 100 µs: ");
	assert_has(&out, "… and ");
	noise_fixture_release(&f);
	noise_fixture_empty(&f, 1); /* one CPU is all of them */
	strbuf_clear(&out);
	noise_zoom(&f.view, 0, 100000, &style, &out);
	assert_has_not(&out, "CPU");
	strbuf_release(&out);
	noise_fixture_release(&f);
}

/* ---- top, hist ---- */

static void the_live_view_fits_the_screen(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	noise_fixture_guest(&f);
	for (size_t lines = 1; lines <= 40; lines++)
		for (size_t width = 60; width <= 120; width += 20) {
			strbuf_clear(&out);
			noise_top(&f.view, lines, &(struct noise_style){ .style.width = width },
				  &out);
			assert_true(check_lines(&out, width) <= lines);
		}
	strbuf_clear(&out);
	noise_top(&f.view, 14, NULL, &out);
	assert_int_equal(check_lines(&out, 80), 14);
	assert_has(&out,
		   "tare noise  0:00:10  CPUs 0-1  threshold 100 ns  duty 98.98 %\n"
		   "1644 detours/s  lost 1.71 %  of > 8 µs explained 100.00 %, strict 7.69 %\n"
		   "\nCPU  Detours/s ");
	assert_has(&out,
		   "\n  1       1644  1.74 %  3.93 ms          100.00 %  host-periodic 64 %\n");
	assert_has(&out, "\n… and 10 more (");
	strbuf_release(&out);
	noise_fixture_release(&f);
}

static void a_histogram_is_printed_as_rtla_prints_it(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	noise_fixture_empty(&f, 2);
	static const uint64_t lengths[] = { 500, 1000, 1999, 4999, 5000, 99999, 260000 };
	for (size_t i = 0; i < 7; i++) {
		struct noise_piece piece = { NOISE_UNEXPLAINED, NULL, lengths[i] };
		noise_fixture_detour(&f, 1, 1000000 * i, &piece, 1);
	}
	f.noise.elapsed_ns = (86400ull + 3660) * 1000000000 + 500000000;
	noise_hist(&f.view, 1000, 256, &out);
	assert_string_equal(out.text, "# tare noise histogram\n"
				      "# Time unit is microseconds (us)\n"
				      "# Duration:   1 01:01:01\n"
				      "Index   CPU-000   CPU-001\n"
				      "0             0         1\n"
				      "1             0         2\n"
				      "4             0         1\n"
				      "5             0         1\n"
				      "99            0         1\n"
				      "over:         0         1\n"
				      "count:        0         7\n"
				      "min:          -         0\n"
				      "avg:          -     53.36\n"
				      "max:          -       260\n");
	strbuf_clear(&out);
	noise_hist(&f.view, 5000, 20, &out);
	assert_has(&out, "\n0             0         4\n5             0         1\n95            0"
			 "         1\nover:         0         1\n");
	strbuf_release(&out);
	noise_fixture_release(&f);
}

/* ---- as data ---- */

static void tables_have_the_sources_of_each_cpu(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	struct csv csv;
	noise_fixture_guest(&f);
	struct table *t = noise_sources_table(&f.view, &(struct noise_style){ .per_cpu = true });
	table_render(t, TABLE_CSV, NULL, &out);
	table_free(t);
	csv_parse(out.text, &csv);
	double total[2] = { 0 }, share = 0;
	for (size_t row = 1; row < csv.rows; row++) {
		size_t cpu = (size_t)atoi(csv_at(&csv, row, "cpu"));
		total[cpu] += strtod(csv_at(&csv, row, "total_ns"), NULL);
		share += strtod(csv_at(&csv, row, "share_percent"), NULL);
		if (!strcmp(csv_at(&csv, row, "source"), "timer")) {
			assert_string_equal(csv_at(&csv, row, "class"), "irq");
			assert_near(strtod(csv_at(&csv, row, "period_ns"), NULL), 4e6, 100);
		}
	}
	assert_near(total[0], (double)f.noise.cpus.items[0].total.ns, 0);
	assert_near(total[1], (double)f.noise.cpus.items[1].total.ns, 0);
	assert_near(share, 200, 1e-9);
	csv_release(&csv);

	strbuf_clear(&out);
	t = noise_histogram_table(&f.view);
	table_render(t, TABLE_CSV, NULL, &out);
	table_free(t);
	csv_parse(out.text, &csv);
	double ns = 0, unexplained = 0;
	for (size_t row = 1; row < csv.rows; row++) {
		ns += strtod(csv_at(&csv, row, "total_ns"), NULL);
		unexplained += strtod(csv_at(&csv, row, "unexplained_ns"), NULL);
		assert_true(strtod(csv_at(&csv, row, "bucket_low_ns"), NULL) <
			    strtod(csv_at(&csv, row, "bucket_high_ns"), NULL));
	}
	assert_near(ns, total[0] + total[1], 0);
	assert_near(unexplained, 2231185, 0);
	csv_release(&csv);
	noise_fixture_release(&f);

	/* what was not seen is empty, not 0 */
	noise_fixture_plain(&f);
	strbuf_clear(&out);
	t = noise_histogram_table(&f.view);
	table_render(t, TABLE_CSV, NULL, &out);
	table_free(t);
	csv_parse(out.text, &csv);
	assert_string_equal(csv_at(&csv, 1, "strict_ns"), "");
	assert_string_equal(csv_at(&csv, 1, "steal_ns"), "");
	assert_string_equal(csv_at(&csv, 1, "unexplained_ns"), "");
	assert_string_equal(csv_at(&csv, 1, "master_count"), "");
	csv_release(&csv);
	strbuf_clear(&out);
	t = noise_sources_table(&f.view, &(struct noise_style){ .mode = NOISE_BY_SUCCESSION });
	table_render(t, TABLE_CSV, NULL, &out);
	table_free(t);
	csv_parse(out.text, &csv);
	assert_int_equal(csv.rows, 1); /* no source has a name */
	csv_release(&csv);
	strbuf_release(&out);
	noise_fixture_release(&f);
}

static void json_has_shares_and_rates_of_the_window(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	noise_fixture_guest(&f);
	noise_json(&f.view, &out);
	json_t *root = json_loads(out.text, 0, NULL);
	assert_non_null(root);
	assert_string_equal(json_string_value(json_object_get(root, "type")), "noise");
	json_t *cpu = json_array_get(json_object_get(root, "cpus"), 1);
	assert_int_equal(json_integer_value(json_object_get(cpu, "cpu")), 1);
	assert_near(json_real_value(json_object_get(cpu, "duty_cycle")), 9.938 / 10.04, 1e-9);
	/* shares and rates are of the window */
	json_t *detours = json_object_get(cpu, "detours");
	assert_near(json_real_value(json_object_get(detours, "lost_share")),
		    (double)f.noise.cpus.items[1].total.ns / 10e9, 1e-12);
	assert_near(json_real_value(json_object_get(detours, "per_s")),
		    (double)f.noise.cpus.items[1].total.count / 10, 1e-9);
	assert_int_equal(json_array_size(json_object_get(root, "worst")), NOISE_WORST_DEFAULT);
	json_decref(root);
	noise_fixture_release(&f);

	noise_fixture_plain(&f);
	strbuf_clear(&out);
	noise_json(&f.view, &out);
	root = json_loads(out.text, 0, NULL);
	json_t *together = json_object_get(root, "together");
	assert_true(json_is_null(json_object_get(together, "cpu")));
	json_t *classes = json_object_get(json_object_get(together, "detours"), "class_ns");
	assert_true(json_is_null(json_object_get(classes, "irq")));
	assert_true(json_is_null(json_object_get(classes, "steal")));
	assert_true(json_is_null(json_object_get(classes, "unexplained")));
	assert_int_equal(json_array_size(json_object_get(together, "sources")), 0);
	assert_int_equal(json_array_size(json_object_get(together, "combinations")), 0);
	json_t *part = json_array_get(json_object_get(root, "parts"), 0);
	assert_int_equal(json_array_size(json_object_get(part, "shares")), 0);
	assert_true(json_is_null(json_object_get(json_object_get(together, "host"), "period_ns")));
	json_decref(root);
	strbuf_release(&out);
	noise_fixture_release(&f);
}

/* ---- the speed ---- */

/* 5 s of one CPU: a fifth of the time its ports are at this share of their best speed. */
static void watch_speed(struct noise_cpu *c, double share)
{
	for (uint64_t at = 0; at < 5000000000; at += 10000000) {
		float ports = (float)(at < 1000000000 ? 1500 / share : 1500);
		noise_speed_add(&c->speeds, at,
				&(struct speed_sample){ at, { 700, ports, 700, 2000 }, 0 });
	}
}

static void a_line_says_by_how_much_the_speed_varied(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	noise_fixture_guest(&f);
	render(&(struct noise_style){ 0 }, &out);
	assert_has_not(&out, "CPU speed");
	watch_speed(&f.noise.cpus.items[0], 0.998);
	watch_speed(&f.noise.cpus.items[1], 0.75);
	render(&(struct noise_style){ 0 }, &out);
	assert_has(&out, "\n  CPU speed   that of CPU 1 varied most, by 25 %: 75 to 100 % of its "
			 "best on\n              full ports\n");
	render(&(struct noise_style){ .per_cpu = true }, &out);
	assert_has(&out, "\n  CPU speed   varied by 0.20 %\n");
	assert_has(&out, "\n  CPU speed   varied by 25 %: 75 to 100 % of its best on full ports\n");
	strbuf_release(&out);
	noise_fixture_release(&f);
}

static void json_has_the_speed_of_each_cpu_over_time(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	noise_fixture_guest(&f);
	watch_speed(&f.noise.cpus.items[1], 0.8);
	noise_json(&f.view, &out);
	json_t *root = json_loads(out.text, 0, NULL);
	json_t *cpus = json_object_get(root, "cpus");
	assert_true(json_is_null(json_object_get(json_array_get(cpus, 0), "speed")));
	assert_true(json_is_null(json_object_get(json_object_get(root, "together"), "speed")));
	json_t *speed = json_object_get(json_array_get(cpus, 1), "speed");
	assert_near(json_real_value(json_object_get(speed, "least")), 0.8, 1e-6);
	assert_int_equal(json_integer_value(json_object_get(speed, "probes")), 500);
	assert_int_equal(json_integer_value(json_object_get(speed, "point_ns")), 100000000);
	json_t *ports = json_object_get(json_object_get(speed, "work"), "ports");
	assert_near(json_real_value(json_object_get(ports, "varied")), 0.25, 1e-6);
	json_t *points = json_object_get(speed, "points");
	assert_int_equal(json_array_size(points), 50);
	json_t *point = json_array_get(points, 10);
	assert_int_equal(json_integer_value(json_object_get(point, "begin_ns")), 1000000000);
	assert_near(json_real_value(json_object_get(point, "ports_ns")), 1500, 1e-6);
	json_decref(root);
	strbuf_release(&out);
	noise_fixture_release(&f);
}

/* ---- periods ---- */

static void add_interval(struct noise_source *s, uint64_t ns)
{
	noise_histogram_add(&s->intervals, noise_bucket_of(ns), 1, ns);
}

static void the_period_of_a_source_is_found_in_its_intervals(void **state)
{
	(void)state;
	struct noise_source s = { 0 };
	double share;
	assert_near(noise_source_period(&s, &share), 0, 0);
	for (int i = 0; i < 7; i++)
		add_interval(&s, 4000000);
	assert_near(noise_source_period(&s, NULL), 0, 0); /* too few */
	for (int i = 0; i < 63; i++)
		add_interval(&s, 3990000 + 1000 * (uint64_t)(i % 20));
	assert_near(noise_source_period(&s, &share), 4e6, 5000);
	assert_near(share, 1, 0);
	/* some are missed, some are not of it */
	for (int i = 0; i < 20; i++)
		add_interval(&s, i % 2 ? 8000000 : 12000000);
	for (int i = 0; i < 10; i++)
		add_interval(&s, 700000);
	assert_near(noise_source_period(&s, &share), 4e6, 5000);
	assert_near(share, 0.9, 1e-9);
	noise_histogram_release(&s.intervals);

	/* at random times: exponential intervals */
	for (int i = 0; i < 1000; i++)
		add_interval(&s, (uint64_t)(-log((i + 0.5) / 1000) * 1e6));
	assert_near(noise_source_period(&s, &share), 0, 0);
	assert_near(share, 0, 0);
	noise_histogram_release(&s.intervals);

	/* only ever every second one: that is the period */
	for (int i = 0; i < 100; i++)
		add_interval(&s, 20000000);
	assert_near(noise_source_period(&s, &share), 2e7, 1);
	noise_histogram_release(&s.intervals);

	/* the ends of the scale */
	for (int i = 0; i < 10; i++)
		add_interval(&s, i % 2 ? 1 : 5000000000000);
	assert_near(noise_source_period(&s, &share), 0, 0);
	noise_histogram_release(&s.intervals);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(noise_is_shown_whole),
		cmocka_unit_test(shares_of_classes_add_up),
		cmocka_unit_test(throttled_time_is_not_counted_as_noise),
		cmocka_unit_test(every_form_fits_every_width),
		cmocka_unit_test(wide_figures_are_shown_whole_or_not_at_all),
		cmocka_unit_test(the_papers_table_i_comes_out),
		cmocka_unit_test(without_the_kernel_it_says_what_was_not_seen),
		cmocka_unit_test(a_run_without_detours_is_shown_without_harm),
		cmocka_unit_test(what_is_left_unexplained_is_told),
		cmocka_unit_test(smis_are_told_where_they_are_counted),
		cmocka_unit_test(a_zoom_sums_up_the_detours_between_two_edges),
		cmocka_unit_test(the_live_view_fits_the_screen),
		cmocka_unit_test(a_histogram_is_printed_as_rtla_prints_it),
		cmocka_unit_test(tables_have_the_sources_of_each_cpu),
		cmocka_unit_test(json_has_shares_and_rates_of_the_window),
		cmocka_unit_test(a_line_says_by_how_much_the_speed_varied),
		cmocka_unit_test(json_has_the_speed_of_each_cpu_over_time),
		cmocka_unit_test(the_period_of_a_source_is_found_in_its_intervals),
	};
	return cmocka_run_group_tests_name("report-noise", tests, NULL, NULL);
}
