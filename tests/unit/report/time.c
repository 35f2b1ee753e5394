/* The report of a run in text. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/text.h"
#include "fixture.h"
#include "report/core/format.h"

static void set_summary(struct fixture *f, enum emp_measure m, struct summary s)
{
	s.error.effective = (double)s.n;
	f->result.kept[m] = s;
}

static void a_report_says_what_dependence_leaves_of_the_executions(void **state)
{
	(void)state;
	static struct fixture f;
	fixture_init(&f, "./prog", 11, 1000);
	f.result.kept[EMP_PT_NET].error.effective = 3;
	f.result.kept[EMP_ET].error.too_few = true;
	f.result.kept[EMP_ET].error.needed = 120;
	struct strbuf out = { 0 };
	time_text(&f.view, 1, 0, NULL, &out);
	assert_non_null(strstr(out.text, "11 executions tell as much as 3 independent ones"));
	assert_non_null(strstr(out.text, "too few: about 120 needed\n"));
	strbuf_release(&out);
	fixture_release(&f);
}

static void the_report_of_a_run_is_shown_whole(void **state)
{
	(void)state;
	static struct fixture f;
	fixture_init(&f, "./prog", 11, 1000);
	fixture_drop(&f, 7, EMP_OUTSIDE, "process time 1.009 s is outside; kworker/0 ran 8.2 ms");
	fixture_warn(&f, "drift", "The times rise by 0.4 %.", "Raise --warmup.");
	f.run.shell = strdup("/bin/sh");
	f.run.shell_et_ns = 1234567;
	f.run.shell_pt_ns[GRADE_NET] = 800000;
	set_summary(&f, EMP_PT_NET,
		    (struct summary){ 10, 1.0021e9, 1e6, 0.001, 1.002e9, 6e5, 9.982e8, 1.0039e9,
				      1.0015e9, 1.0027e9 });
	set_summary(&f, EMP_ET,
		    (struct summary){ 10, 1.01e9, 2e7, 0.0198, 1.004e9, 1.2e7, 1.001e9, 1.08e9,
				      9.98e8, 1.022e9 });
	f.result.unfiltered[EMP_PT_NET] = (struct summary){ 11,	 1.003e9, 2.2e6, 0.0022,  1e9,
							    6e5, 9e8,	  1.1e9, 1.001e9, 1.005e9 };
	f.result.unfiltered[EMP_ET] = f.result.kept[EMP_ET];
	struct strbuf out = { 0 };
	time_text(&f.view, 1, 0, NULL, &out);
	char *bars = strstr(out.text, "▕");
	assert_non_null(bars);
	const char *expected =
		"Command 1: ./prog\n"
		"  Process time (net)    1.0021 s ± 0.0010 s        95% [1.0015, 1.0027] s\n"
		"    σ/mean 0.10 %       median 1.0020 ± 0.0006 s   range 0.9982 … 1.0039 s\n"
		"    without rule II     1.0030 s ± 0.0022 s        95% [1.0010, 1.0050] s\n"
		"                        ▕";
	assert_memory_equal(out.text, expected, strlen(expected));
	expected = "  Elapsed time          1.010 s ± 0.020 s          95% [0.998, 1.022] s\n"
		   "    σ/mean 2.0 %        median 1.004 ± 0.012 s     range 1.001 … 1.080 s\n";
	assert_non_null(strstr(out.text, expected));
	expected =
		"  User, system          900 ms, 100 ms\n"
		"  Subject               3 processes, 5 threads, 12.0 MiB at most\n"
		"  Held up               20.4 ms waiting for a CPU (2.0 % of its time on or for\n"
		"                        one), 12 forced switches\n"
		"  Also ran              per execution: kworker/0 1.20 ms (0.12 %), sshd 506 µs\n"
		"                        (0.050 %), cron 30.0 µs (0.003 %)\n"
		"  Executions            10 of 11 kept, 1 warm-up before\n"
		"    dropped, rule II    #7: process time 1.009 s is outside; kworker/0 ran 8.2\n"
		"                        ms\n"
		"  Shell                 /bin/sh; its own 1.23 ms elapsed and 800 µs process time\n"
		"                        taken off\n"
		"  Seen by               bpf back end; process time net of interrupts and steal.\n"
		"  Warning               The times rise by 0.4 %.\n"
		"                        Raise --warmup.\n";
	const char *rest = strstr(out.text, "  User, system");
	assert_non_null(rest);
	assert_string_equal(rest, expected);
	strbuf_release(&out);
	fixture_release(&f);
}

/* What a terminal shows: colours taken out. */
static void strip_colours(struct strbuf *text)
{
	char *to = text->text;
	for (const char *from = text->text; *from; from++) {
		if (*from == '\033') {
			from += strcspn(from, "m");
			continue;
		}
		*to++ = *from;
	}
	*to = '\0';
	text->length = (size_t)(to - text->text);
}

static void check_lines(struct strbuf *text, size_t width)
{
	strip_colours(text);
	for (size_t i = 0, n; i < text->length; i += n) {
		n = utf8_length(text->text + i, text->length - i);
		assert_true(n > 0);
		assert_true(text->text[i] == '\n' || (unsigned char)text->text[i] >= 0x20);
		assert_int_not_equal(text->text[i], 0x7f);
	}
	assert_int_equal(text->text[text->length - 1], '\n');
	char *save, *line = strtok_r(text->text, "\n", &save);
	for (; line; line = strtok_r(NULL, "\n", &save))
		if (text_width(line) > width)
			fail_msg("%zu columns instead of %zu: %s", text_width(line), width, line);
}

static const char *odd_command(size_t i, char *buffer, size_t size)
{
	static const char *const commands[] = {
		"",
		"./prog \"quoted\" 'x'",
		"two\nlines\n",
		"a|b,c;\t\x01\x1b[31mred\x7f",
		"\xff\xfe\x80 bytes",
		"日本語の長い名前を持つ命令 日本語の長い名前を持つ命令 日本語の長い名前",
	};
	if (i < 6)
		return commands[i];
	memset(buffer, 'x', size - 1);
	buffer[size - 1] = '\0';
	for (size_t j = 6; i == 7 && j < size - 1; j += 7)
		buffer[j] = ' ';
	return buffer;
}

static void vary(struct fixture *f, size_t i, size_t n)
{
	if (n > 3)
		fixture_drop(
			f, 2, EMP_OUTSIDE,
			"a_reason_without_any_space_that_is_longer_than_a_line_of_eighty_columns_"
			"can_ever_hold_\xff_and then\nsome more");
	if (n > 4)
		fixture_drop(f, 4, EMP_FAILED, "");
	if (i % 2)
		fixture_plain(f);
	if (i % 3 == 0) {
		fixture_warn(f, "few", "only a few executions; an interval over so few says little",
			     "Take more: --runs 30 or more would halve the interval of the mean.");
		f->run.shell =
			strdup("/a/very/long/path/to/a/shell/that/does/not/fit/on/a/line/sh");
		f->run.shell_et_ns = 100;
		f->executions[n].left_behind = 2;
		f->executions[n].ended = 1;
		f->executions[n].lost = 3;
		f->executions[n].ephemeral = 4;
		f->run.status = RUN_INTERRUPTED;
		f->run.planned = 100;
		free(f->run.name);
		f->run.name = strdup("a name that is not the command");
	}
}

static void a_report_fits_every_width(void **state)
{
	(void)state;
	static const size_t widths[] = { 60, 80, 0, 132 }, counts[] = { 0, 1, 2, 10, 60 };
	static const double means[] = { 1e-5, 0.0123, 1, 999.99996, 123456.7, 9e9 };
	static struct fixture f[2];
	char buffer[301];
	for (size_t i = 0; i < 8; i++)
		for (size_t c = 0; c < 5; c++)
			for (size_t m = 0; m < 6; m++) {
				const char *command = odd_command(i, buffer, sizeof buffer);
				fixture_init(&f[0], command, counts[c], means[m]);
				fixture_init(&f[1], command, 5, means[5 - m]);
				vary(&f[0], i + c, counts[c]);
				struct run_view views[] = { f[0].view, f[1].view };
				for (size_t w = 0; w < 4; w++) {
					struct style style = {
						.width = widths[w],
						.colour = w % 2,
						.ascii = m % 2,
						.unit = (enum time_unit)(w + 1) % 5,
					};
					struct strbuf out = { 0 };
					/* nobody wants a year in ns */
					if (m == 5 || m == 0)
						style.unit = TIME_UNIT_AUTO;
					time_text(views, 2, w, &style, &out);
					check_lines(&out, widths[w] ? widths[w] : 80);
					strbuf_release(&out);
				}
				fixture_release(&f[0]);
				fixture_release(&f[1]);
			}
}

static bool says(const struct fixture *f, const struct style *style, const char *text)
{
	struct strbuf out = { 0 };
	time_text_run(&f->view, 1, 0, style, &out);
	bool found = strstr(strbuf_text(&out), text);
	strbuf_release(&out);
	return found;
}

static void few_executions_are_shown_without_an_interval(void **state)
{
	(void)state;
	static struct fixture f;
	fixture_init(&f, "true", 0, 1);
	assert_true(says(&f, NULL, "Executions            none measured, 1 warm-up before"));
	assert_false(says(&f, NULL, "Process time"));
	fixture_release(&f);
	fixture_init(&f, "true", 1, 1.5);
	assert_true(says(&f, NULL, "  Process time (net)    1.498 ms\n"));
	assert_false(says(&f, NULL, "±"));
	assert_false(says(&f, NULL, "95%"));
	assert_true(says(&f, NULL, "Executions            1, all kept"));
	fixture_release(&f);
	fixture_init(&f, "true", 3, 1.5);
	f.run.planned = 10;
	f.run.status = RUN_INTERRUPTED;
	assert_true(says(&f, NULL, "3, all kept, 1 warm-up before; interrupted, 10 were\n"));
	fixture_drop(&f, 1, EMP_FAILED, "exited with 1");
	fixture_drop(&f, 2, EMP_FAILED, "exited with 1");
	fixture_drop(&f, 3, EMP_FAILED, "killed by SIGKILL");
	assert_true(says(&f, NULL, "dropped, failed     #1-2: exited with 1\n"));
	assert_true(says(&f, NULL, "dropped, failed     #3: killed by SIGKILL\n"));
	assert_false(says(&f, NULL, "without rule II"));
	fixture_release(&f);
}

static void of_many_drops_the_farthest_are_shown(void **state)
{
	(void)state;
	static struct fixture f;
	fixture_init(&f, "true", 60, 1.5);
	for (size_t i = 1; i <= 20; i++) {
		char reason[40];
		snprintf(reason, sizeof reason, "reason %zu", i);
		fixture_drop(&f, i, i < 11 ? EMP_OUTSIDE : EMP_FAILED, reason);
		f.verdicts[i].value_ns = i % 2 ? 100.0 + (double)i : 100.0 - (double)i;
		f.verdicts[i].low_ns = 99.5;
		f.verdicts[i].high_ns = 100.5;
	}
	assert_true(
		says(&f, NULL,
		     "    dropped, failed     #11: reason 11\n"
		     "    dropped, failed     #12: reason 12\n"
		     "    dropped, failed     #13: reason 13\n"
		     "    dropped, failed     #14: reason 14\n"
		     "                        … and 6 more (10 %): tare show 7 --executions\n"
		     "    dropped, rule II    #10: reason 10\n"
		     "    dropped, rule II    #9: reason 9\n"
		     "    dropped, rule II    #8: reason 8\n"
		     "    dropped, rule II    #7: reason 7\n"
		     "                        … and 6 more (10 %): tare show 7 --executions\n"));
	f.run.id = 0;
	assert_true(says(&f, NULL, "more (10 %): tare show RUN --executions\n"));
	fixture_release(&f);
}

static void what_the_cutoffs_dropped_is_shown_and_by_which_study(void **state)
{
	(void)state;
	static struct fixture f;
	fixture_init(&f, "true", 20, 100);
	assert_false(says(&f, NULL, "Cutoffs"));
	f.result.cutoffs = (struct emp_cutoffs){ .count = 9,
						 .hold = 6,
						 .program_ns = 102e6,
						 .seen = true,
						 .study = 3,
						 .made_at_ns = 1763197953123000000 };
	for (size_t i = 1; i <= 6; i++) {
		char reason[80];
		snprintf(reason, sizeof reason, "cron ran %zu ms, above its cutoff of 2 ms",
			 (i * 5) % 7 + 2);
		fixture_drop(&f, i, EMP_CUTOFF, reason);
		f.verdicts[i].value_ns = (double)((i * 5) % 7 + 2);
		f.verdicts[i].high_ns = 2;
	}
	/* those farthest above first; by the list of numbers 7 5 3 8 6 4 */
	assert_true(says(&f, NULL,
			 "  Executions            14 of 20 kept, 1 warm-up before\n"
			 "    dropped, rule I     #4: cron ran 8 ms, above its cutoff of 2 ms\n"
			 "    dropped, rule I     #1: cron ran 7 ms, above its cutoff of 2 ms\n"
			 "    dropped, rule I     #5: cron ran 6 ms, above its cutoff of 2 ms\n"
			 "    dropped, rule I     #2: cron ran 5 ms, above its cutoff of 2 ms\n"
			 "                        … and 2 more (10 %): tare show 7 --executions\n"
			 "  Cutoffs               6 applied, for a program of 102 ms; of study 3,\n"
			 "                        2025-11-15\n"));
	assert_true(says(&f, NULL, "    without rule I      "));
	assert_false(says(&f, NULL, "without rules"));
	fixture_drop(&f, 7, EMP_OUTSIDE, "too far out");
	assert_true(says(&f, NULL, "    without rules I, II "));
	f.result.cutoffs.study = f.result.cutoffs.made_at_ns = 0;
	assert_true(says(&f, NULL, "102 ms; set by hand or\n                        imported\n"));
	f.result.cutoffs.seen = false;
	assert_true(says(&f, NULL, "  Cutoffs               not applied: no daemon was seen"));
	f.result.cutoffs.hold = 0;
	assert_true(says(&f, NULL, "none of 9 is for a program of 102 ms"));
	fixture_release(&f);
}

static void made_under(struct fixture *f, const char *conditions)
{
	conditions_release(&f->run.conditions);
	f->run.conditions = conditions_take(strdup(conditions));
}

static void the_conditions_of_a_run_are_shown_if_they_are_known(void **state)
{
	(void)state;
	static struct fixture f;
	fixture_init(&f, "true", 10, 100);
	machine_set(&f.machine, "now.clock.synchronised", "yes");
	machine_set(&f.machine, "cpu.turbo", "on");
	machine_set(&f.machine, "kernel.release", "6.9.0");
	static const char *const daemons[] = { "service", "timed", "updates", "index" };
	for (size_t i = 0; i < 4; i++) {
		char key[40];
		snprintf(key, sizeof key, "now.daemons.%s", daemons[i]);
		machine_set(&f.machine, key, "none");
	}
	static const char *const none[] = { "{}", "not JSON", "{\"emp\": \"v9\", \"quiet\": 3}" };
	for (size_t i = 0; i < 3; i++) {
		made_under(&f, none[i]);
		assert_false(says(&f, NULL, "  EMP"));
		assert_false(says(&f, NULL, "  Quiet"));
	}
	made_under(&f, "{\"emp\": \"v2\", \"quiet\": \"standing\"}");
	assert_true(says(&f, NULL, "  EMP                   v2; its conditions are met\n"));
	assert_true(says(&f, NULL, "  Quiet                 by an earlier 'tare quiet'\n"));
	made_under(&f, "{\"emp\": \"v6\", \"quiet\": []}");
	assert_true(says(
		&f, NULL,
		"  EMP                   v6; v3 is not met: Turbo (boost) is on. Linux 6.9.0 is\n"
		"                        recent enough\n"));
	assert_true(says(&f, NULL, "  Quiet                 nothing had to be changed\n"));
	machine_set(&f.machine, "now.daemons.timed", "cron");
	assert_true(says(
		&f, NULL,
		"  EMP                   v6; v1 is not met: Jobs are started by the clock: cron.\n"
		"                        v3 is not met: Turbo (boost) is on. Linux 6.9.0 is\n"));
	machine_set(&f.machine, "kernel.release", "6.1.0");
	assert_true(says(&f, NULL, "is on. v4 cannot be said:"));
	machine_set(&f.machine, "kernel.release", "6.9.0");
	made_under(&f, "{\"quiet\": ["
		       "{\"knob\": \"services\", \"what\": \"a\", \"state\": \"changed\"},"
		       "{\"knob\": \"turbo\", \"what\": \"t\", \"state\": \"as wanted\"},"
		       "{\"knob\": \"smt\", \"what\": \"s\", \"state\": \"refused\"},"
		       "{\"knob\": \"services\", \"what\": \"b\", \"state\": \"changed\"},"
		       "{\"knob\": \"governor\", \"what\": \"g\", \"state\": \"changed\"},"
		       "{\"what\": \"no knob\"}, 7]}");
	assert_true(
		says(&f, NULL, "  Quiet                 services (2), governor; refused: smt\n"));
	f.view.machine = NULL;
	made_under(&f, "{\"emp\": \"v1\"}");
	assert_true(says(&f, NULL, "v1; v1 cannot be said: nothing is known of the machine\n"));
	fixture_release(&f);
}

static void shares_are_of_what_was_seen(void **state)
{
	(void)state;
	static struct fixture f;
	fixture_init(&f, "true", 4, 1);
	for (size_t i = 0; i < f.view.count; i++) {
		struct execution *x = &f.executions[i];
		x->tree_ns = 12000000; /* a daemon of 1.2 ms in an ET of 1 */
		x->totals.value[TASK_EXEC] = 1000000;
		x->totals.value[TASK_RUN_DELAY] = 3000000;
		x->totals.value[TASK_BLKIO_DELAY] = 80000000;
		x->totals.value[TASK_NIVCSW] = x->totals.value[TASK_MAJ_FLT] = 1;
	}
	assert_true(says(&f, NULL, "kworker/0 1.20 ms (10 %)"));
	assert_true(says(&f, &(struct style){ .width = 200 },
			 "3.00 ms waiting for a CPU (75 % of its time on or for one), 1 forced "
			 "switch, 80.0 ms waiting for block I/O, 1 major fault\n"));
	for (size_t i = 0; i < f.view.count; i++)
		memset(f.executions[i].totals.value, 0, sizeof f.executions[i].totals.value);
	assert_false(says(&f, NULL, "Held up"));
	f.run.status = RUN_INTERRUPTED;
	f.run.planned = 1;
	f.view.count = f.result.count = 1;
	assert_true(says(&f, NULL, "none measured, 1 warm-up before; interrupted, 1 was"));
	f.view.count = 5;
	fixture_release(&f);
}

static void what_was_not_seen_is_not_shown_as_zero(void **state)
{
	(void)state;
	static struct fixture f;
	fixture_init(&f, "./prog", 10, 100);
	assert_true(says(&f, NULL, "Also ran"));
	fixture_plain(&f);
	assert_true(says(&f, NULL, "Process time (tick)"));
	assert_true(says(&f, NULL, "plain back end; process time sampled at the tick. Not"));
	assert_false(says(&f, NULL, "Also ran"));
	assert_false(says(&f, NULL, "Subject"));
	assert_false(says(&f, NULL, "Held up"));
	f.executions[1].totals.processes = f.executions[1].totals.threads = 1;
	f.executions[1].totals.rss_peak_bytes = 12 << 20;
	f.executions[1].ephemeral = 3;
	assert_true(says(&f, NULL, "  Subject               12.0 MiB at most\n"));
	assert_false(says(&f, NULL, "Lost"));
	f.run.backend = BACKEND_NETLINK;
	f.executions[1].ephemeral = f.executions[1].lost = 1;
	assert_true(says(&f, NULL, "Lost                  1 event, 1 task that came and went"));
	f.run.backend = BACKEND_PLAIN;
	f.result.present[EMP_PT_TICK] = false;
	f.result.headline = EMP_ET;
	assert_false(says(&f, NULL, "Process time (tick)"));
	assert_true(says(&f, NULL, "plain back end; no process time."));
	fixture_release(&f);
}

/* exec is there, but not one tick fell on the run */
static void the_split_of_user_and_system_is_unknown_without_a_tick(void **state)
{
	(void)state;
	static struct fixture f;
	struct strbuf out = { 0 };
	fixture_init(&f, "./prog", 10, 1);
	f.result.present[EMP_USER] = f.result.present[EMP_SYSTEM] = false;
	f.result.user_share = NAN;
	fixture_judge(&f);
	time_text(&f.view, 1, 0, NULL, &out);
	assert_non_null(strstr(out.text, "  User, system          not known: no tick was seen\n"));
	strbuf_release(&out);
	fixture_release(&f);
}

static void units_colour_and_ascii_are_followed(void **state)
{
	(void)state;
	static struct fixture f;
	fixture_init(&f, "./prog", 10, 100);
	assert_true(says(&f, &(struct style){ .unit = TIME_UNIT_SECOND }, "0.102"));
	assert_true(says(&f, &(struct style){ .unit = TIME_UNIT_MICROSECOND }, " µs ± "));
	assert_true(says(&f, &(struct style){ .colour = true }, "\033[1m./prog\033[0m"));
	assert_false(says(&f, NULL, "\033"));
	assert_true(says(&f, NULL, "█"));
	assert_false(says(&f, &(struct style){ .ascii = true }, "█"));
	assert_true(says(&f, &(struct style){ .ascii = true }, "#"));
	fixture_release(&f);
}

static void digits_follow_the_standard_error(void **state)
{
	(void)state;
	static const struct {
		size_t n;
		double mean, stddev;
		const char *text;
	} cases[] = {
		/* standard error: 0.3 ms, 0.126 ms, 31 ms, 0.3 ns; none; one value */
		{ 10, 1.002e9, 1e6, "1.0020 s" }, { 10, 1.002e9, 4e5, "1.00200 s" },
		{ 10, 1.2345e9, 1e8, "1.23 s" },  { 10, 1234.5, 1, "1.234 µs" },
		{ 10, 5e6, 0, "5.000 ms" },	  { 1, 123.456e6, 0, "123.5 ms" },
		{ 10, 512.7, 30, "513 ns" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct summary s = { .n = cases[i].n,
				     .mean = cases[i].mean,
				     .stddev = cases[i].stddev };
		struct scale scale = scale_of_summary(&s, TIME_UNIT_AUTO);
		char out[WORDS];
		format_time(s.mean, &scale, out);
		assert_string_equal(out, cases[i].text);
	}
	char out[WORDS];
	static const struct {
		double fraction;
		const char *text;
	} percents[] = { { 0, "0 %" },		{ 0.000001, "<0.001 %" }, { 0.000012, "0.001 %" },
			 { 0.00123, "0.12 %" }, { 0.25, "25 %" },	  { 12.5, "1250 %" } };
	for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
		format_percent(percents[i].fraction, out);
		assert_string_equal(out, percents[i].text);
	}
	format_duration(99.97e6, 3, TIME_UNIT_AUTO, out);
	assert_string_equal(out, "100 ms");
	format_duration(999.9e3, 3, TIME_UNIT_AUTO, out);
	assert_string_equal(out, "1.00 ms");
	format_p(0.0004, out);
	assert_string_equal(out, "p < 0.001");
	format_p(0.0079, out);
	assert_string_equal(out, "p = 0.008");
	format_p(0.421, out);
	assert_string_equal(out, "p = 0.42");
}

static char *summary_of(struct fixture *f, size_t count, size_t reference)
{
	struct run_view views[3];
	struct strbuf out = { 0 };
	for (size_t i = 0; i < count; i++)
		views[i] = f[i].view;
	time_text_summary(views, count, reference, NULL, &out);
	return strbuf_detach(&out);
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no \"%s\" in:\n%s", part, text);
}

static void a_summary_compares_with_the_fastest_or_the_reference(void **state)
{
	(void)state;
	static struct fixture f[3];
	fixture_init(&f[0], "slow", 10, 200);
	fixture_init(&f[1], "fast", 10, 100);
	fixture_init(&f[2], "failing", 2, 1);
	fixture_drop(&f[2], 1, EMP_FAILED, "x");
	fixture_drop(&f[2], 2, EMP_FAILED, "x");
	char *text = summary_of(f, 3, 0);
	assert_has(text, "Summary: process time (net)\n  fast was fastest\n    2.00");
	assert_has(text, " times faster than slow\n      95% [");
	assert_has(text, "  failing: no execution kept\n");
	assert_null(strstr(text, "not significant"));
	assert_null(strstr(text, "By elapsed"));
	xfree(text);
	text = summary_of(f, 2, 1);
	assert_has(text, "  slow ran\n    2.00");
	assert_has(text, " times slower than fast\n");
	xfree(text);
	/* the faster by process time waited longer */
	for (size_t i = 0; i < f[1].view.count; i++)
		f[1].executions[i].et_ns *= 3;
	fixture_judge(&f[1]);
	text = summary_of(f, 2, 0);
	assert_has(text, "  fast was fastest\n");
	assert_has(text, "  By elapsed time slow is fastest: 204 ms against 306 ms\n");
	xfree(text);
	for (size_t i = 0; i < f[1].view.count; i++)
		f[1].executions[i].et_ns = f[0].executions[i].et_ns / 100 * 104;
	fixture_judge(&f[1]);
	text = summary_of(f, 2, 0);
	assert_null(strstr(text, "By elapsed")); /* not by enough */
	xfree(text);
	for (size_t i = 0; i < 3; i++)
		fixture_release(&f[i]);
	fixture_init(&f[0], "one", 10, 100);
	fixture_init(&f[1], "two", 10, 100);
	text = summary_of(f, 2, 0);
	assert_has(text, "      not significant: 95% [");
	xfree(text);
	fixture_plain(&f[1]);
	text = summary_of(f, 2, 0);
	assert_has(text, "Summary: process time (tick)");
	xfree(text);
	/* nothing left when the shell is taken off: a ratio to 0 says nothing */
	f[1].run.shell_pt_ns[GRADE_TICK] = 1000000000;
	fixture_judge(&f[1]);
	text = summary_of(f, 2, 0);
	assert_has(text, "    no ratio to one: no time above the shell's\n");
	xfree(text);
	fixture_release(&f[0]);
	fixture_release(&f[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_report_of_a_run_is_shown_whole),
		cmocka_unit_test(a_report_says_what_dependence_leaves_of_the_executions),
		cmocka_unit_test(a_report_fits_every_width),
		cmocka_unit_test(few_executions_are_shown_without_an_interval),
		cmocka_unit_test(what_was_not_seen_is_not_shown_as_zero),
		cmocka_unit_test(the_split_of_user_and_system_is_unknown_without_a_tick),
		cmocka_unit_test(units_colour_and_ascii_are_followed),
		cmocka_unit_test(digits_follow_the_standard_error),
		cmocka_unit_test(a_summary_compares_with_the_fastest_or_the_reference),
		cmocka_unit_test(of_many_drops_the_farthest_are_shown),
		cmocka_unit_test(what_the_cutoffs_dropped_is_shown_and_by_which_study),
		cmocka_unit_test(the_conditions_of_a_run_are_shown_if_they_are_known),
		cmocka_unit_test(shares_are_of_what_was_seen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
