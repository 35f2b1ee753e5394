/* The reports of runs of queries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>
#include <cmocka.h>

#include "../fixtures/near.h"
#include "../fixtures/query-columns.h"
#include "../fixtures/text-lines.h"
#include "csv.h"
#include "fixture.h"
#include "query-fixture.h"

static const struct query_style full = {
	.all = true, .plans = true, .model = true, .checks = true
};

static void render(const struct query_fixture *f, const struct query_style *style,
		   struct strbuf *out)
{
	strbuf_clear(out);
	query_text(&f->view, style, out);
	assert_lines(out, style->style.width ? style->style.width : 80, style->style.ascii);
}

/* ---- text ---- */

/* In place of rows that the screen has no room for: what was dropped is seen there, too. */
static void a_plot_stands_for_rows_that_find_no_room(void **state)
{
	(void)state;
	struct query_fixture f;
	struct strbuf out = { 0 };
	assert_true(query_fixture_make(&f, "whole"));
	render(&f, &(struct query_style){ .style.lines = 8 }, &out);
	assert_non_null(strstr(strbuf_text(&out), "\n( ): 3 dropped (time of all); "));
	assert_non_null(strstr(strbuf_text(&out), "1 scan, 2 join, "));
	render(&f, &(struct query_style){ .style.lines = 8, .style.ascii = true }, &out);
	assert_non_null(strstr(strbuf_text(&out), "\n( ): 3 dropped (time of all); "));
	f.run.tags = (char *)"before; 'the' fix\n";
	render(&f, &(struct query_style){ 0 }, &out);
	assert_non_null(strstr(strbuf_text(&out), "\n  Tags        before; 'the' fix\\n\n"));
	strbuf_release(&out);
	f.run.tags = NULL;
	query_fixture_release(&f);
}

static void a_run_of_queries_is_shown_whole(void **state)
{
	(void)state;
	struct query_fixture f;
	struct strbuf out = { 0 };
	assert_true(query_fixture_make(&f, "whole"));
	render(&f, &(struct query_style){ 0 }, &out);
	const char *head =
		"Queries of experiment four on PostgreSQL 15.8 (Debian 15.8-0+deb12u1), cold,\n"
		"  exhaustive, run 12\n"
		"  Machine     Intel(R) Core(TM) i7-870, 2 CPUs, 4.0 GiB of memory, disk vda\n"
		"              (rotating), guest of kvm; Debian GNU/Linux 12, Linux\n"
		"              6.1.0-18-amd64\n"
		"  Queries     5, 8 Q@Cs at cardinalities from 100,000 to 1,000,000\n"
		"  Executions  80, 10 of each Q@C asked for; from 2026-09-15 08:00:00, for 12 min\n"
		"              34 s\n"
		"  Settings    jit off\n"
		"  Kept        5 of 8 Q@Cs (62 %), 73 of 80 executions (91 %)\n"
		"  Time        user + system time of the query's processes, and the time that\n"
		"              devices served them; median, relative error 0.29 %\n"
		"\n"
		"Query             Rows  Plan   Kept  CPU+device       σ   Read  Elapsed   Of all\n"
		"scan           100,000  B     10/10     45.0 ms  130 µs  2.0 %  51.0 ms  51.0 ms\n"
		"scan           500,000  A     10/10      300 ms  890 µs  101 %   323 ms   323 ms\n"
		"scan         1,000,000  A     10/10      600 ms  1.8 ms  101 %   643 ms   643 ms\n"
		"join           500,000  A     10/10      1.35 s  4.0 ms  101 %   1.44 s   1.44 s\n"
		"join         1,000,000  A      8/10      1.20 s  3.4 ms  101 %   1.28 s   1.28 s\n"
		"mean           500,000  A      5/10    (225 ms)  710 µs  101 %   243 ms   243 ms\n"
		"mean         1,000,000  A     10/10    (360 ms)   95 ms  101 %   483 ms   483 ms\n"
		"a query wi…  1,000,000  A     10/10    (375 ms)  1.1 ms  101 %   403 ms   403 ms\n"
		"Of all: elapsed time of all that ended. In parentheses: dropped; time of all.\n"
		"Dropped, excessive variation: mean at 1,000,000\n"
		"Dropped, another query process: a query with a long name at 1,000,000\n"
		"Dropped, fewer than 6 executions left: mean at 500,000\n"
		"Dropped, ephemeral process: 5 executions (6.2 %) of mean at 500,000\n"
		"Dropped, ambiguous query process: 1 execution (1.2 %) of join at 1,000,000\n"
		"Dropped, timed-out: 1 execution (1.2 %) of join at 1,000,000\n"
		"\n"
		"Of          Sanity check          Fired  Evaluated  Share\n"
		"experiment  missing queries           1          5   20 %\n"
		"Q@C         strict monotonicity       1          3   33 %\n"
		"Q@C         relaxed monotonicity      1          3   33 %\n"
		"afterwards  strict monotonicity       1          2   50 %\n"
		"afterwards  relaxed monotonicity      1          2   50 %\n"
		"Step 5: Time_calc of TTPv2 differs from elapsed by 8.7 % in Q@Cs kept, by 15 %\n"
		"  in those dropped; its relative error is 0.29 %.\n";
	assert_memory_equal(out.text, head, strlen(head));
	assert_has(&out, "\nNot monotone: join at 500,000 took 1.33 s, at 1,000,000 1.18 s "
			 "(relaxed, too)\n");
	assert_has(&out,
		   "\nCold: 7 of 8 Q@Cs read what their tables have, within 3 %; others: "
		   "scan at\n  100,000 (2.0 %). Less: by an index, or a cache was not empty.\n");
	assert_has(
		&out,
		"\n2026-09-15 08:01:00  restarted, join at 500,000: Merge Join (inner) → Hash Join\n");
	assert_has(&out, "\n2026-09-15 08:03:00  gave up, query 5 at 500,000: its plan changed");
	assert_has_not(&out, "made table");
	assert_has(&out, "\nMeanwhile: the query waited 0.016 % of the time for a CPU, steal was "
			 "0 %.\n");
	assert_has(&out, "\n\nDeviations from the protocol as printed: 19, listed by --checks.\n"
			 "For a paper: --paragraphs writes two paragraphs.\n");
	assert_has_not(&out, "Never varied");
	assert_has_not(&out, "Not seen");
	assert_has_not(&out, "Tucson");
	assert_has_not(&out, "\nPlans,");
	assert_has_not(&out, "causal");
	assert_has_not(&out, "\033");
	strbuf_release(&out);
	query_fixture_release(&f);
}

static void every_run_fits_every_width(void **state)
{
	(void)state;
	static const size_t widths[] = { 60, 0, 100, 130, 300 };
	for (size_t i = 0; query_fixture_names[i]; i++)
		for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
			for (int ascii = 0; ascii < 2; ascii++) {
				struct query_fixture f;
				struct strbuf out = { 0 };
				struct query_style style = full;
				style.style.width = widths[w];
				style.style.ascii = ascii;
				assert_true(query_fixture_make(&f, query_fixture_names[i]));
				render(&f, &style, &out);
				strbuf_release(&out);
				query_fixture_release(&f);
			}
}

static void plans_checks_and_correlations_are_shown_if_asked_for(void **state)
{
	(void)state;
	struct query_fixture f;
	struct strbuf out = { 0 };
	struct query_style style = full;
	assert_true(query_fixture_make(&f, "whole"));
	render(&f, &style, &out);
	assert_has(&out, "\nscan\n"
			 "  plan A from 1,000,000 down to 500,000\n"
			 "    Aggregate: strategy: Plain\n"
			 "      Seq Scan on t: a < 100\n"
			 "  plan B at 100,000: Seq Scan on t → Index Scan on t using t_a\n"
			 "    Aggregate: strategy: Plain\n"
			 "  -   Seq Scan on t: a < 100\n"
			 "  +   Index Scan on t using t_a: a < 100\n"
			 "\njoin\n"
			 "  plan A at every cardinality\n"
			 "    Hash Join (inner): t.a = other.b\n"
			 "      Seq Scan on t\n"
			 "      Hash\n"
			 "        Seq Scan on u as other\n");
	assert_has(&out, "\nexperiment  steal time                                       0    "
			 "     80    0 %\n");
	assert_has(&out, "\nexecution   ephemeral process                                5    "
			 "     80  6.2 %\n");
	assert_has(&out, "\n\nDropped execution  No.  Elapsed  By\n"
			 "join at 1,000,000    4   1.29 s  timed-out\n"
			 "join at 1,000,000    7   1.29 s  ambiguous query process\n"
			 "mean at 500,000      1   243 ms  ephemeral process\n");
	assert_has(&out, "\nNever varied: q.writes, ");
	assert_has(&out, "\n\nDeviations from the protocol as printed\n- the drive's own");
	assert_has(&out, "\n- check of context switch: against the other executions of the Q@C;");
	assert_has(&out, "\nXIVa   q.user    o.user     high       1.00  < 0.001  high      match  "
			 "     0.99\n");
	assert_has(&out,
		   "\n8 of 73 correlations are as predicted, 6 one level off, 2 two or more; 57 "
		   "cannot");
	style = (struct query_style){ .style.width = 138 };
	render(&f, &style, &out);
	assert_has(&out, "  Time_calc  Dropped by\n");
	assert_has(&out, "  222 ms  fewer than 6 exec");
	style.style.width = 98;
	render(&f, &style, &out);
	assert_has(&out, "  300 ms  890 µs   200 ms   100 ms  101 %   323 ms   323 ms\n");
	style.style.width = 97;
	render(&f, &style, &out);
	assert_has(&out, "  300 ms  890 µs   200 ms  101 %   323 ms   323 ms\n");
	strbuf_release(&out);
	query_fixture_release(&f);
}

/* Sixty rows of the result, five names and no dropped execution, unless all are asked for. */
static void many_rows_are_shortened_unless_all_are_asked_for(void **state)
{
	(void)state;
	struct query_fixture f;
	struct strbuf out = { 0 };
	assert_true(query_fixture_make(&f, "warm"));
	for (uint32_t q = 3; q < 65; q++) {
		struct query_at at = { .query = q, .table_bytes = 100 };
		for (uint32_t k = 0; k < 10; k++) {
			struct query_execution x = f.data.at.items[0].executions.items[k];
			x.ephemeral = k < (q == 40 ? 2 : 1);
			x.read_bytes = q % 2 ? 1 : 0;
			array_push(&at.executions, x);
		}
		array_push(&f.data.at, at);
	}
	query_fixture_judge(&f);
	render(&f, &(struct query_style){ 0 }, &out);
	assert_has(&out, "\nand 5 more Q@Cs\n");
	assert_has_not(&out, "\nquery 60 ");
	assert_has(&out, "\nDropped, ephemeral process: 63 executions (9.7 %) of 62 Q@Cs, most of "
			 "query 40\n");
	assert_has_not(&out, "Dropped execution ");
	assert_has(&out,
		   "\nWarm: 34 of 65 Q@Cs read less than 1 % of their tables; others: query 3 "
		   "(1.0 %),\n  query 5 (1.0 %), query 7 (1.0 %), query 9 (1.0 %), query 11 "
		   "(1.0 %) and 26\n  more.\n");
	render(&f, &(struct query_style){ .all = true }, &out);
	assert_has_not(&out, " more");
	assert_has(&out, "\nquery 60 ");
	assert_has(&out, "\nquery 64             1  6.20 ms  ephemeral process\n");
	strbuf_release(&out);
	query_fixture_release(&f);
}

static void each_kind_of_run_says_what_is_special_about_it(void **state)
{
	(void)state;
	static const struct {
		const char *which, *said, *not_said;
	} cases[] = {
		{ "warm", "\nNo sanity check fired.\n", "Dropped" },
		{ "warm", "\nquery 1  1,000  B     10/10   4.00 ms", "CPU+device" },
		{ "warm", "\nWarm: 3 of 3 Q@Cs read less than 1 % of their tables.\n", "Cold" },
		{ "warm", "\nOnepass: 2 Q@Cs not executed, as the plan", "What happened" },
		{ "warm", "\nDeviations from the protocol as printed: 18, listed by", "CPUs were" },
		{ "dropped", "\nquery 1  1,000  B     0/10  (6.20 ms)  -    -        -  6.20 ms\n",
		  "Step 5" },
		{ "dropped", "\nquery 2  4,000  A      0/7  (51.0 ms)  -    -        -  51.0 ms\n",
		  "relative error" },
		{ "dropped", "on SQLite 3.40.1, warm, onepass, run 12\n  (interrupted)\n",
		  "kept." },
		{ "dropped", ", 10 of each Q@C asked for, 3 missing;", "device time" },
		{ "dropped",
		  "\n  Not seen    Block events (no BTF), and so the time of devices.\n  Kept",
		  "Never varied" },
		{ "dropped", "\nUnderlying measures that are missing: user of query processes\n",
		  "blkio" },
		{ "dropped", "\nFor a paper: no paragraphs, as the run is not complete.\n",
		  "--paragraphs" },
		{ "dropped", " events were lost in 1 execution, dropped for that.\n", "too small" },
		{ "refused", "\nRefused: this server reads in threads other than the query's",
		  "Step 5" },
		{ "refused", "Queries on MariaDB 10.11.6-MariaDB, cold, run 12\n", "experiment " },
		{ "refused", "\nquery 1     -  A     10/10     75.0 ms  220 µs     -",
		  "monotonicity" },
		/* 10 times 0.1 ms, of 5 + 10 threads and 85 ms */
		{ "refused", "\nMeanwhile: the query's threads each waited 0.078 % of the time for",
		  "the query waited" },
		{ "imported", "Queries measured elsewhere on a DBMS that is not known\n",
		  "Machine" },
		{ "imported", "\nexperiment  derived measure        10         10  100 %\n",
		  "in ticks" },
		{ "imported", "\nUnderlying measures that are missing: reads of daemon processes\n",
		  "Not seen" },
		{ "imported", "\nNot evaluated: ephemeral process", "Asked" },
		{ "empty", "\nNothing was executed.\n", "Kept" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct query_fixture f;
		struct strbuf out = { 0 };
		assert_true(query_fixture_make(&f, cases[i].which));
		render(&f, &(struct query_style){ 0 }, &out);
		assert_has(&out, cases[i].said);
		assert_has_not(&out, cases[i].not_said);
		strbuf_release(&out);
		query_fixture_release(&f);
	}
}

static void judge_and_render(struct query_fixture *f, struct strbuf *out)
{
	query_fixture_judge(f);
	render(f, &(struct query_style){ .style.width = 300 }, out);
}

static void missing_workers_are_those_of_executions_that_were_kept(void **state)
{
	(void)state;
	struct query_fixture f;
	SCOPED(strbuf_release) struct strbuf out = { 0 };
	assert_true(query_fixture_make(&f, "whole"));
	array_each(x, &f.data.at.items[0].executions) {
		x->workers_planned = 4;
		x->workers = x->number == 3 ? 1 : 3;
	}
	judge_and_render(&f, &out);
	assert_has(&out, "only 3 of 4 planned workers ran");
	f.data.at.items[0].executions.items[4].workers = -1;
	judge_and_render(&f, &out);
	assert_has(&out, "\nNot evaluated: missing worker (of 1 execution). What");
	query_fixture_release(&f);
}

/* Neither is a lack of measurements. */
static void checks_that_do_not_apply_are_not_said_to_lack_measures(void **state)
{
	(void)state;
	struct query_fixture f;
	SCOPED(strbuf_release) struct strbuf out = { 0 };
	assert_true(query_fixture_make(&f, "refused"));
	assert_true(f.data.io_by_process);
	judge_and_render(&f, &out);
	assert_has_not(&out, "Not evaluated");
	query_fixture_release(&f);
	assert_true(query_fixture_make(&f, "whole"));
	f.data.at.items[0].executions.count = 2;
	judge_and_render(&f, &out);
	assert_has_not(&out, "Not evaluated");
	f.data.at.items[0].executions.items[0].usage[QUERY_QUERY].missing = 1u << QUERY_NVCSW;
	judge_and_render(&f, &out);
	assert_has(&out, "Not evaluated: context switch (of 1 execution). What");
	query_fixture_release(&f);
}

/* Whatever names and plans there are, lines stay lines. */
static void strange_names_and_plans_keep_lines_lines(void **state)
{
	(void)state;
	struct query_fixture f;
	struct strbuf out = { 0 };
	assert_true(query_fixture_make(&f, "whole"));
	free(f.data.texts.items[0].name);
	f.data.texts.items[0].name = strdup("a\nb\033[31m|`*");
	free(f.data.plans.items[0].json);
	f.data.plans.items[0].json = strdup("no JSON\n");
	free(f.data.plans.items[1].json);
	f.data.plans.items[1].json = NULL;
	struct strbuf deep = { 0 };
	for (int i = 0; i < 200; i++)
		strbuf_puts(&deep, "{\"node\":\"Limit\",\"children\":[");
	strbuf_puts(&deep, "7");
	for (int i = 0; i < 200; i++)
		strbuf_puts(&deep, "]}");
	free(f.data.plans.items[2].json);
	f.data.plans.items[2].json = strbuf_detach(&deep);
	render(&f, &full, &out);
	assert_has_not(&out, "\033");
	assert_has(&out, "no JSON\\n");
	strbuf_clear(&out);
	query_markdown(&f.view, &full, &out);
	assert_has(&out, "\n| a\\\\nb\\\\x1b\\[31m\\|\\`\\* |");
	strbuf_release(&out);
	query_fixture_release(&f);
}

/* ---- section 9 ---- */

static void the_paragraphs_for_a_paper_say_what_was_done(void **state)
{
	(void)state;
	struct query_fixture f;
	struct strbuf out = { 0 };
	assert_true(query_fixture_make(&f, "whole"));
	query_paragraphs(&f.view, &out);
	assert_has(&out,
		   "Query times on PostgreSQL 15.8 (Debian 15.8-0+deb12u1) were measured with "
		   "the Tucson Timing Protocol Version 2 (TTPv2) [Currim et al. 2016], by tare "
		   "0.7.0, on a machine (Intel(R) Core(TM) i7-870, 2 CPUs,");
	assert_has(&out, "executed 10 times at each cardinality, each time with cold caches. A");
	assert_has(&out,
		   "these deviations: the drive's own cache was not flushed by reading a file "
		   "larger than it; daemons of the operating system were left running; 2 CPUs "
		   "were online, not one; I/O is the time that devices");
	assert_has(
		&out,
		"the checks of ephemeral process, DBMS time, query time, query user tick, overall computation time, "
		"computation time, BlockIO delay time, IOWait time and context switch have the form");
	assert_has(&out,
		   "\n\nExperiment-wide sanity checks were violated (missing queries: 1 of 5 "
		   "queries (20 %)). By their own sanity checks, 8.8 % of the query "
		   "executions and 38 % of the queries-at-cardinality (Q@Cs) were dropped. Of "
		   "the Q@Cs kept, 0 % then varied excessively in calculated time; 50 % of "
		   "adjacent pairs violated strict and 50 % relaxed monotonicity.");
	query_fixture_release(&f);
	strbuf_clear(&out);
	assert_true(query_fixture_make(&f, "warm"));
	f.options.form = TTP_PAPER;
	f.data.cold = true;
	query_fixture_judge(&f);
	query_paragraphs(&f.view, &out);
	assert_has(
		&out,
		"larger than it; daemons of the operating system were left running; I/O is blocked time, of which half of IOWait is not "
		"taken off.\n");
	assert_has(&out, "\nThe run violated none of the experiment-wide sanity checks.");
	assert_has(&out, "0 % then varied excessively in calculated time. The mean"); /* no pairs */
	query_fixture_release(&f);
	strbuf_clear(&out);
	assert_true(query_fixture_make(&f, "refused"));
	query_paragraphs(&f.view, &out);
	assert_has_not(&out, "in calculated time");
	query_fixture_release(&f);
	strbuf_release(&out);
}

/* What was not done is said. */
static void the_paragraphs_say_what_was_not_done(void **state)
{
	(void)state;
	struct query_fixture f;
	struct strbuf out = { 0 };
	assert_true(query_fixture_make(&f, "dropped"));
	query_paragraphs(&f.view, &out);
	assert_has(&out,
		   "executed 10 times at each cardinality where its plan differs from that of "
		   "the next higher cardinality, with warm caches. The run is not complete, so "
		   "that Q@Cs may be missing; 3 "
		   "of 30 executions (10 %) of the Q@Cs begun are missing. A");
	assert_has(&out, "(Q@Cs) were dropped. Nothing was kept: by the protocol this run has no");
	strbuf_clear(&out);
	f.run.status = RUN_COMPLETE;
	query_paragraphs(&f.view, &out);
	assert_has(&out, "warm caches. 3 of 30 executions (10 %) of the Q@Cs begun are missing. A");
	query_fixture_release(&f);
	strbuf_clear(&out);
	assert_true(query_fixture_make(&f, "warm"));
	for (size_t k = 0; k < 10; k++) {
		f.data.at.items[1].executions.items[k].usage[QUERY_QUERY].missing =
			1u << QUERY_BLKIO_NS;
		f.data.at.items[0].executions.items[k].overall_missing = 1u << OVERALL_IOWAIT;
		f.data.at.items[2].executions.items[k].overall_missing = 1u << OVERALL_IOWAIT;
	}
	query_fixture_judge(&f);
	render(&f, &(struct query_style){ 0 }, &out);
	assert_has(&out, "\nStep 5: not evaluated, as TTPv2's Time_calc rests on measures");
	assert_has_not(&out, "then varied");
	query_fixture_release(&f);
	strbuf_release(&out);
}

/* The floor of step 3 (iii), and in what times are. */
static void the_paragraphs_say_in_what_ticks_times_are(void **state)
{
	(void)state;
	static const struct {
		uint64_t tick_ns, floor_ns;
		const char *said, *not_said;
	} cases[] = {
		{ 0, 20000000, "half of IOWait is not taken off; steal time", "too short" },
		{ 4000000, 8000000, "ticks were of 4.00 ms, not of 10 ms;", "too short" },
		{ 4000000, 100000, "Q@Cs are too short up to 100 µs, not up to 2 ticks", "in ns," },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct query_fixture f;
		struct strbuf out = { 0 };
		assert_true(query_fixture_make(&f, "imported"));
		f.options = (struct ttp_options){ .tick_ns = cases[i].tick_ns,
						  .floor_ns = cases[i].floor_ns };
		query_fixture_judge(&f);
		query_paragraphs(&f.view, &out);
		assert_has_not(&out, "times are in ns");
		assert_has_not(&out, cases[i].not_said);
		assert_has(&out, cases[i].said);
		strbuf_release(&out);
		query_fixture_release(&f);
	}
}

static void markdown_lists_every_item_that_the_protocol_asks_for(void **state)
{
	(void)state;
	struct query_fixture f;
	struct strbuf out = { 0 };
	assert_true(query_fixture_make(&f, "whole"));
	query_markdown(&f.view, &full, &out);
	assert_has(&out, "# Query times: four on PostgreSQL 15.8 (Debian 15.8-0+deb12u1)\n\nQuery");
	assert_has(&out, "\n1. **Protocol**: Tucson Timing Protocol Version 2 (TTPv2) \\[Currim");
	assert_has(&out,
		   "\n9. **Post-sanity checks**: excessive variation 0 %, strict monotonicity "
		   "50 %, relaxed monotonicity 50 %\n");
	assert_has(&out,
		   "\n| mean | 500,000 | A | 5 | 10 | 225 ms | 710 µs | 150 ms | 75.0 ms | "
		   "243 ms | 222 ms | 225 ms | 243 ms | 101 % | fewer than 6 executions left |\n");
	assert_has(&out, "\n| join at 1,000,000 | 7 | 1.29 s | ambiguous query process |\n");
	assert_has(&out, "\n```text\n\nscan\n  plan A from");
	assert_has(&out, "\n## The causal model\n");
	/* nothing for a paper */
	f.run.status = RUN_INTERRUPTED;
	strbuf_clear(&out);
	query_markdown(&f.view, &full, &out);
	assert_has(&out, "\n\nNo paragraphs for a paper, as the run is not complete.\n\n## What");
	query_fixture_release(&f);
	assert_true(query_fixture_make(&f, "dropped"));
	f.run.status = RUN_COMPLETE;
	strbuf_clear(&out);
	query_markdown(&f.view, &full, &out);
	assert_has(&out, "\n\nNo paragraphs for a paper, as nothing was kept.\n\n## What");
	strbuf_release(&out);
	query_fixture_release(&f);
}

/* One execution has no σ, and what was dropped was read, too. */
static void a_single_execution_has_no_sigma(void **state)
{
	(void)state;
	struct query_fixture f;
	struct strbuf out = { 0 };
	assert_true(query_fixture_make(&f, "whole"));
	for (size_t k = 0; k < 10; k++) {
		struct query_execution *x = &f.data.at.items[2].executions.items[k];
		x->ephemeral = k > 0;
		x->read_bytes = k > 0 ? 110000000 : 100000000;
	}
	f.data.at.items[1].executions.items[0].read_bytes = ABSENT_NS;
	query_fixture_judge(&f);
	render(&f, &(struct query_style){ 0 }, &out);
	assert_has(&out, " A      1/10    (600 ms)       -  109 %   ");
	assert_has(&out, "; others: scan at\n  100,000 (2.0 %), scan at 1,000,000 (109 %). Less");
	assert_has(&out, "\nscan           500,000  A     10/10      300 ms  890 µs  101 %");
	strbuf_clear(&out);
	query_markdown(&f.view, &full, &out);
	assert_has(&out, " A | 1 | 10 | 600 ms | - | ");
	strbuf_release(&out);
	query_fixture_release(&f);
}

/* ---- tables ---- */

static void csv_of_executions_has_every_column_and_value(void **state)
{
	(void)state;
	for (size_t i = 0; query_fixture_names[i]; i++) {
		struct query_fixture f;
		struct strbuf out = { 0 };
		struct csv csv;
		size_t row = 1;
		assert_true(query_fixture_make(&f, query_fixture_names[i]));
		struct table *t = query_executions_table(&f.view);
		table_render(t, TABLE_CSV, NULL, &out);
		table_free(t);
		csv_parse(out.text, &csv);
		size_t columns = 3;
		EACH_COLUMN(c)
		columns++;
		assert_int_equal(csv.columns, columns);
		assert_int_equal(csv.rows, f.result.executions + 1);
		for (size_t k = 0; k < f.data.at.count; k++)
			for (size_t n = 0; n < f.data.at.items[k].executions.count; n++, row++) {
				const struct query_execution *x =
					&f.data.at.items[k].executions.items[n];
				EACH_COLUMN(c)
				{
					uint64_t value;
					const char *cell = csv_at(&csv, row, c.leaf.csv);
					bool known = column_get(&c, x, &value);
					int base = c.leaf.kind == FIELD_HASH ? 16 : 10;
					assert_int_equal(known, *cell != '\0');
					assert_true(!known || strtoull(cell, NULL, base) == value);
				}
			}
		csv_release(&csv);
		strbuf_release(&out);
		query_fixture_release(&f);
	}
}

static void csv_of_executions_says_by_what_each_was_dropped(void **state)
{
	(void)state;
	struct query_fixture f;
	struct strbuf out = { 0 };
	struct csv csv;
	assert_true(query_fixture_make(&f, "whole"));
	f.data.at.items[0].executions.items[1].ephemeral = 2;
	f.data.at.items[0].executions.items[1].timed_out = true;
	query_fixture_judge(&f);
	struct table *t = query_executions_table(&f.view);
	table_render(t, TABLE_CSV, NULL, &out);
	table_free(t);
	csv_parse(out.text, &csv);
	assert_string_equal(csv_at(&csv, 1, "dropped_by"), "");
	assert_string_equal(csv_at(&csv, 2, "dropped_by"), "ephemeral process; timed-out");
	assert_string_equal(csv_at(&csv, 1, "plan"), "0000000000002222");
	csv_release(&csv);
	strbuf_clear(&out);
	t = query_table(&f.view);
	table_render(t, TABLE_CSV, NULL, &out);
	table_free(t);
	csv_parse(out.text, &csv);
	assert_int_equal(csv.rows, 9);
	assert_string_equal(csv_at(&csv, 1, "kept"), "9");
	assert_string_equal(csv_at(&csv, 1, "plan"), "B");
	assert_string_equal(csv_at(&csv, 2, "cpu_device_ns"), "300000000");
	assert_string_equal(csv_at(&csv, 2, "read_percent"), "101");
	assert_string_equal(csv_at(&csv, 7, "dropped_by"), "excessive variation");
	assert_string_equal(csv_at(&csv, 2, "unfiltered_cpu_device_ns"), "300000000");
	assert_string_equal(csv_at(&csv, 6, "unfiltered_measured_ns"), "243000000");
	csv_release(&csv);
	query_fixture_release(&f);
	strbuf_clear(&out);
	assert_true(query_fixture_make(&f, "refused")); /* no table varies */
	t = query_table(&f.view);
	table_render(t, TABLE_CSV, NULL, &out);
	table_free(t);
	csv_parse(out.text, &csv);
	assert_string_equal(csv_at(&csv, 1, "cardinality"), "");
	csv_release(&csv);
	strbuf_release(&out);
	query_fixture_release(&f);
}

static void json_has_times_checks_and_paragraphs(void **state)
{
	(void)state;
	struct query_fixture f;
	struct strbuf out = { 0 };
	assert_true(query_fixture_make(&f, "whole"));
	query_json(&f.view, &out);
	json_t *root = json_loads(out.text, 0, NULL);
	assert_non_null(root);
	const json_t *at = json_array_get(json_object_get(root, "at"), 4);
	assert_string_equal(json_string_value(json_object_get(root, "time")), "cpu_device");
	assert_int_equal(json_integer_value(json_object_get(at, "kept")), 8);
	const json_t *x = json_array_get(json_object_get(at, "executions"), 3);
	assert_string_equal(json_string_value(json_array_get(json_object_get(x, "dropped_by"), 0)),
			    "timed-out");
	const json_t *time = json_object_get(json_object_get(at, "times"), "cpu_device");
	assert_near(json_real_value(json_object_get(time, "median_ns")), 1199.2e6, 1e6);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(root, "experiment"), "seed")),
		"18446744073709551615");
	assert_int_equal(json_array_size(json_object_get(root, "paragraphs")), 2);
	assert_true(json_is_null(json_object_get(root, "no_paragraphs")));
	json_decref(root);
	query_fixture_release(&f);
	strbuf_clear(&out);
	assert_true(query_fixture_make(&f, "dropped"));
	query_json(&f.view, &out);
	root = json_loads(out.text, 0, NULL);
	at = json_array_get(json_object_get(root, "at"), 0);
	x = json_object_get(at, "executions");
	assert_true(json_is_null(json_object_get(json_array_get(x, 1), "cpu_ns")));
	assert_true(json_is_integer(json_object_get(json_array_get(x, 0), "cpu_ns")));
	assert_true(json_is_null(json_object_get(json_object_get(at, "times"), "measured")));
	time = json_object_get(json_object_get(at, "unfiltered"), "measured");
	assert_near(json_real_value(json_object_get(time, "median_ns")), 6.2e6, 1e4);
	const json_t *missing = json_object_get(json_object_get(root, "checks"), "missing");
	assert_int_equal(json_array_size(missing), 1);
	assert_string_equal(json_string_value(json_array_get(missing, 0)), "query_user_ns");
	assert_int_equal(json_array_size(json_object_get(root, "paragraphs")), 0);
	assert_string_equal(json_string_value(json_object_get(root, "no_paragraphs")),
			    "the run is not complete");
	json_decref(root);
	query_fixture_release(&f);
	strbuf_clear(&out);
	assert_true(query_fixture_make(&f, "refused"));
	query_json(&f.view, &out);
	root = json_loads(out.text, 0, NULL);
	at = json_array_get(json_object_get(root, "at"), 0);
	assert_true(json_is_null(json_object_get(at, "cardinality")));
	json_decref(root);
	strbuf_release(&out);
	query_fixture_release(&f);
}

/* ---- two runs ---- */

static void compare(const char *a, const char *b, const struct query_style *style,
		    struct strbuf *out)
{
	struct query_fixture base, other;
	struct ttp_comparison c;
	assert_true(query_fixture_make(&base, a));
	assert_true(query_fixture_make(&other, b));
	ttp_compare(&base.data, &base.result, &other.data, &other.result, TTP_TIMES, &c);
	strbuf_clear(out);
	query_compare_text(&base.view, &other.view, &c, style, out);
	assert_lines(out, style->style.width ? style->style.width : 80, style->style.ascii);
	ttp_comparison_release(&c);
	query_fixture_release(&base);
	query_fixture_release(&other);
}

static void two_runs_of_queries_are_compared(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	compare("whole", "slower", &(struct query_style){ 0 }, &out);
	assert_has(&out, "Run 13 (PostgreSQL 15.8 (Debian 15.8-0+deb12u1), four) against run 12\n");
	assert_has(&out, "\n  Compared    5 Q@Cs by CPU + device\n  Kept        5 of 8 Q@Cs of the "
			 "base, 5 of 8 of the other\n");
	assert_has(&out,
		   "\n  Overall     1.0192 times the base's CPU + device (geometric mean; 95 %: "
		   "1.0174\n              to 1.0211), 1.0191 times its elapsed time (1.0173 to "
		   "1.0209)\n");
	assert_has(
		&out,
		"\n  Times       1 slower, 0 faster, 4 without a significant difference by CPU +\n");
	assert_has(&out, "  p (Holm)  Elapsed\n");
	assert_has(
		&out,
		"\nPlans that changed\n  join at 500,000 (1.0000 times the CPU + device, 1.0000 "
		"times the elapsed\n    time): Hash Join (inner) → Merge Join (inner); new: Sort; "
		"Hash gone\n");
	assert_has(&out,
		   "\nscan   500,000  300 ms  330 ms  1.100  1.096 to 1.104  < 0.001     1.099  "
		   "slower\n");
	assert_has(&out, "\nNo significant difference: 4 Q@Cs, ratios 1.000 to 1.000.");
	assert_has_not(&out, "so few");
	assert_true(strstr(out.text, "Plans that") < strstr(out.text, "Times that"));
	compare("whole", "slower", &(struct query_style){ .all = true, .style.ascii = true }, &out);
	assert_has(&out, "\nEvery Q@C, by CPU + device\n");
	assert_has(&out, "plan\n");
	compare("warm", "refused", &(struct query_style){ 0 }, &out);
	assert_has(&out, "0 Q@Cs by elapsed; 3 kept in the base alone; 1 kept in the other\n");
	compare("warm", "empty", &(struct query_style){ .style.width = 60 }, &out);
	strbuf_release(&out);
}

/* By a time that was not seen nothing can be compared, which is not the same as no difference. */
static void by_a_time_that_was_not_seen_nothing_is_compared(void **state)
{
	(void)state;
	struct query_fixture f;
	struct ttp_comparison c;
	struct strbuf out = { 0 };
	assert_true(query_fixture_make(&f, "warm"));
	ttp_compare(&f.data, &f.result, &f.data, &f.result, TTP_DEVICE, &c);
	assert_int_equal(c.compared, 0);
	query_compare_text(&f.view, &f.view, &c, NULL, &out);
	assert_has(&out, "0 Q@Cs by CPU + device; 3 of which it is not known\n");
	assert_has_not(&out, "without a significant");
	ttp_comparison_release(&c);
	strbuf_release(&out);
	query_fixture_release(&f);
}

/* Six of each are too few for 33 Q@Cs: p is at least 2 in 924. Ten are enough, if they are kept. */
static void too_few_executions_to_find_a_difference_are_told(void **state)
{
	(void)state;
	static const struct {
		uint32_t made, kept;
		bool few;
	} cases[] = { { 6, 6, true }, { 10, 6, true }, { 10, 10, false } };
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct query_fixture f;
		struct ttp_comparison c;
		struct strbuf out = { 0 };
		assert_true(query_fixture_make(&f, "warm"));
		for (uint32_t q = 3; q < 33; q++) {
			struct query_at at = { .query = q };
			for (uint32_t k = 0; k < cases[i].made; k++)
				array_push(&at.executions, f.data.at.items[0].executions.items[k]);
			array_push(&f.data.at, at);
		}
		for (size_t q = 0; q < f.data.at.count; q++)
			for (size_t k = cases[i].kept; k < f.data.at.items[q].executions.count; k++)
				f.data.at.items[q].executions.items[k].ephemeral = 1;
		query_fixture_judge(&f);
		ttp_compare(&f.data, &f.result, &f.data, &f.result, TTP_TIMES, &c);
		query_compare_text(&f.view, &f.view, &c, NULL, &out);
		assert_has(&out, "33 Q@Cs by CPU + blocked\n");
		if (cases[i].few)
			assert_has(&out, "\nNote: there are so few executions for so many Q@Cs");
		else
			assert_has_not(&out, "so few");
		ttp_comparison_release(&c);
		strbuf_release(&out);
		query_fixture_release(&f);
	}
}

/* ---- the ledger ---- */

static void the_ledger_of_a_query_is_told_in_words_and_rows(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	struct query_style style = { 0 };
	for (int threads = 0; threads < 2; threads++) {
		struct fixture *f = calloc(1, sizeof *f);
		const struct execution *list[10];
		fixture_init(f, "q", 10, 100);
		fixture_ledger(f, threads);
		for (size_t i = 0; i < 10; i++)
			list[i] = &f->executions[i + 1];
		strbuf_clear(&out);
		query_ledger_text(list, 10, &style, &out);
		assert_lines(&out, 80, false);
		assert_has(
			&out,
			"the mean of 10 executions (elapsed in the query itself: 102 ms), the\n");
		assert_has(&out, "query computed 97 %");
		assert_has(&out, "\nCPU ");
		assert_has(&out, "\nwaiting for a CPU ");
		assert_has(&out, "postgres ");
		if (threads)
			assert_has(&out, "\nElapsed: when any of its threads ran");
		else
			assert_has_not(&out, "Threads");
		fixture_release(f);
		free(f);
	}
	strbuf_clear(&out);
	query_ledger_text(NULL, 0, NULL, &out);
	assert_string_equal(out.text, "No ledger was kept of these executions.\n");
	strbuf_release(&out);
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_of_queries_is_shown_whole),
		cmocka_unit_test(a_plot_stands_for_rows_that_find_no_room),
		cmocka_unit_test(every_run_fits_every_width),
		cmocka_unit_test(plans_checks_and_correlations_are_shown_if_asked_for),
		cmocka_unit_test(many_rows_are_shortened_unless_all_are_asked_for),
		cmocka_unit_test(each_kind_of_run_says_what_is_special_about_it),
		cmocka_unit_test(missing_workers_are_those_of_executions_that_were_kept),
		cmocka_unit_test(checks_that_do_not_apply_are_not_said_to_lack_measures),
		cmocka_unit_test(strange_names_and_plans_keep_lines_lines),
		cmocka_unit_test(the_paragraphs_for_a_paper_say_what_was_done),
		cmocka_unit_test(the_paragraphs_say_what_was_not_done),
		cmocka_unit_test(the_paragraphs_say_in_what_ticks_times_are),
		cmocka_unit_test(markdown_lists_every_item_that_the_protocol_asks_for),
		cmocka_unit_test(a_single_execution_has_no_sigma),
		cmocka_unit_test(csv_of_executions_has_every_column_and_value),
		cmocka_unit_test(csv_of_executions_says_by_what_each_was_dropped),
		cmocka_unit_test(json_has_times_checks_and_paragraphs),
		cmocka_unit_test(two_runs_of_queries_are_compared),
		cmocka_unit_test(too_few_executions_to_find_a_difference_are_told),
		cmocka_unit_test(by_a_time_that_was_not_seen_nothing_is_compared),
		cmocka_unit_test(the_ledger_of_a_query_is_told_in_words_and_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
