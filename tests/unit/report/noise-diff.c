#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../fixtures/jitter.h"
#include "base/text.h"
#include "perfetto-check.h"
#include "report/noise/report.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct made_source quiet[] = {
	{ NOISE_IRQ, "timer", 250, 3000, 0.1 },
	{ NOISE_SOFTIRQ, "softirq:sched", 40, 1500, 0.3 },
	{ NOISE_STEAL, "steal", 5, 40000, 0.5 },
	{ NOISE_UNEXPLAINED, "unexplained", 30, 400, 0.4 },
};
static const struct made_source busy[] = {
	{ NOISE_IRQ, "timer", 250, 3000, 0.1 },
	{ NOISE_SOFTIRQ, "softirq:sched", 40, 1500, 0.3 },
	{ NOISE_STEAL, "steal", 15, 40000, 0.5 },
	{ NOISE_UNEXPLAINED, "unexplained", 30, 400, 0.4 },
	{ NOISE_THREAD, "dummydaemon1", 0.5, 2500000, 0.01 },
	{ NOISE_WORK, "work:\xe6\xbc\xa2\xff\033 of any bytes and much too long", 9, 1e9, 0 },
};

struct pair {
	struct noise base, run;
	struct jitter_diff d;
	struct run of_base, of_run;
};

static void pair_make(struct pair *p, size_t of_busy, uint32_t parts)
{
	struct made_run how = { .cpus = 2, .parts = parts, .part_s = 1 };
	struct random seed = { 9 };
	struct error err = ERROR_INIT;
	*p = (struct pair){ .of_base = { .id = 3, .name = (char *)"tuned" },
			    .of_run = { .name = (char *)"upgraded" } };
	make_noise(&p->base, &how, quiet, COUNT(quiet), &seed);
	make_noise(&p->run, &how, of_busy ? busy : quiet, of_busy ? of_busy : COUNT(quiet), &seed);
	assert_int_equal(jitter_compare(&p->base, &p->run, &p->d, &err), 0);
}

static void pair_release(struct pair *p)
{
	jitter_diff_release(&p->d);
	noise_release(&p->base);
	noise_release(&p->run);
}

static char *told(const struct pair *p, const struct noise_style *style)
{
	struct strbuf out = { 0 };
	struct noise_view base = { &p->of_base, &p->base, NULL },
			  run = { &p->of_run, &p->run, NULL };
	noise_diff_text(&base, &run, &p->d, style, &out);
	return strbuf_detach(&out);
}

static void assert_fits(const char *text, size_t width)
{
	char *copy = strdup(text), *rest = copy;
	for (char *line; (line = strsep(&rest, "\n"));) {
		if (text_width(line) > width)
			fail_msg("wider than %zu: %s", width, line);
		if (*line && line[strlen(line) - 1] == ' ')
			fail_msg("blanks at the end: '%s'", line);
	}
	free(copy);
}

static void a_comparison_fits_every_width(void **state)
{
	(void)state;
	static const uint32_t parts[] = { 3, 20 };
	static const size_t widths[] = { 0, 20, 60, 79, 80, 100, 200 };
	for (size_t i = 0; i < COUNT(parts); i++)
		for (size_t k = 0; k < COUNT(widths); k++) {
			struct pair p;
			pair_make(&p, COUNT(busy), parts[i]);
			for (int ascii = 0; ascii < 2; ascii++) {
				struct noise_style style = { .style.width = widths[k],
							     .style.ascii = ascii,
							     .density = true };
				char *text = told(&p, &style);
				assert_fits(text, !widths[k]	   ? 80
						  : widths[k] < 60 ? 60
								   : widths[k]);
				free(text);
			}
			pair_release(&p);
		}
}

static void a_comparison_begins_with_its_verdict(void **state)
{
	(void)state;
	struct pair p;
	pair_make(&p, 5, 30);
	char *text = told(&p, &(struct noise_style){ 0 });
	assert_memory_equal(text, "1 new source, 1 grown; jitter 2.", 31);
	assert_non_null(strstr(text, "0.001.\n"));
	assert_non_null(strstr(text, "\nBaseline  tuned (run 3), 30.0 s on 2 CPUs; "));
	assert_non_null(strstr(text, "\nnew     dummydaemon1 "));
	assert_non_null(strstr(text, "\n        by its clock "));
	assert_non_null(strstr(text, "\n        remainder "));
	assert_non_null(strstr(text, "\nunsure  timer "));
	assert_non_null(strstr(text, "\nLengths  "));
	assert_non_null(strstr(text, "  dummydaemon1\n"));
	assert_null(strstr(text, "Note"));
	free(text);
	text = told(&p, &(struct noise_style){ .most = 2 });
	assert_non_null(strstr(text, "\n3 sources have no sure change ("));
	assert_null(strstr(text, "timer"));
	free(text);
	text = told(&p, &(struct noise_style){ .most = 1 });
	assert_non_null(strstr(text, "\nand 1 more that changed ("));
	assert_non_null(strstr(text, "\n3 sources have no sure change ("));
	free(text);
	p.base.kernel = false;
	p.run.cpus.items[0].threshold_ns = 1000;
	text = told(&p, &(struct noise_style){ 0 });
	assert_memory_equal(text, "Sources have names in one of the two only; jitter 2.", 51);
	assert_non_null(strstr(text, "Note      The baseline has no names from the kernel"));
	assert_non_null(strstr(text, "100 ns before and 1.00 µs now"));
	free(text);
	pair_release(&p);
	pair_make(&p, 0, 30);
	text = told(&p, NULL);
	assert_memory_equal(text, "No source is surely new, grown, shrunk or gone; jitter ", 55);
	free(text);
	pair_release(&p);
	pair_make(&p, 0, 2);
	text = told(&p, NULL);
	assert_non_null(strstr(text, "rounds too few or too uneven"));
	free(text);
	pair_release(&p);
}

/* The trace of the worst: as the reader of perfetto-check.c sees it. */
static void the_trace_of_the_longest_detours_is_a_perfetto_trace(void **state)
{
	(void)state;
	struct pair p;
	struct strbuf out = { 0 };
	struct perfetto_counts counts;
	pair_make(&p, 0, 4);
	struct noise_view v = { &p.of_run, &p.run, NULL };
	noise_perfetto(&v, &out);
	assert_null(perfetto_check(out.text, out.length, &counts));
	assert_int_equal(counts.slices, 1); /* the title's */
	strbuf_clear(&out);
	make_worst(&p.run);
	noise_perfetto(&v, &out);
	const char *wrong = perfetto_check(out.text, out.length, &counts);
	if (wrong)
		fail_msg("%s", wrong);
	/* title, 3 detours, 3 interrupts, a work item; begin, loss, page fault */
	assert_int_equal(counts.slices, 8);
	assert_int_equal(counts.instants, 3);
	assert_int_equal(counts.busy_ns, 2521000 - 800);
	/* far from the others, with what was cut: nothing of it may last until they begin */
	struct noise_worst *w = &p.run.worst.items[0];
	for (size_t i = 0; i < w->trace.events.count; i++)
		w->trace.events.items[i].at_ns += 1000000000;
	w->begin_ns += 1000000000;
	w->trace.events.count = 2; /* in the midst of a work item */
	strbuf_clear(&out);
	noise_perfetto(&v, &out);
	wrong = perfetto_check(out.text, out.length, &counts);
	if (wrong)
		fail_msg("%s", wrong);
	assert_true(counts.busy_ns < 3000000);
	strbuf_release(&out);
	pair_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_comparison_fits_every_width),
		cmocka_unit_test(a_comparison_begins_with_its_verdict),
		cmocka_unit_test(the_trace_of_the_longest_detours_is_a_perfetto_trace),
	};
	return cmocka_run_group_tests_name("report-noise-diff", tests, NULL, NULL);
}
