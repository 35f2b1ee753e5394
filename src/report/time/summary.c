/* How the runs of one command line compare: hyperfine's summary, with intervals and a test behind
 * it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/core/format.h"
#include "report/time/several.h"
#include "report/time/speed.h"

static void put_title(struct strbuf *out, const struct style *style, const struct run *run,
		      size_t columns)
{
	char *safe = display_copy(run_title(run));
	struct strbuf cut = { 0 };
	put_middle(&cut, safe, columns);
	put_coloured(out, style->colour, CYAN, strbuf_text(&cut));
	strbuf_release(&cut);
	xfree(safe);
}

static void put_test(const struct emp_comparison *c, double ratio, double low, double high,
		     struct strbuf *out)
{
	char p[WORDS];
	int finer = ratio_decimals((high - low) / 4);
	format_p(c->p, p);
	strbuf_puts(out, c->significant ? "" : "not significant: ");
	if (ratio < 1e6)
		strbuf_printf(out, "95%% [%.*f, %.*f], ", finer, low, finer, high);
	strbuf_printf(out, "%s, %s", p, c->test);
}

static void put_relation(const struct run_view *a, const struct run_view *b, enum emp_measure m,
			 const struct style *style, struct strbuf *out)
{
	struct emp_comparison c;
	const struct summary *s_a = &a->result->kept[m], *s_b = &b->result->kept[m];
	const struct emp_judged sides[] = { judged_view(a, false), judged_view(b, true) };
	emp_compare_sides(sides, 2, m, &c);
	/* turned so that it is never below 1: nobody reads "0.8 times faster" */
	bool slower = c.ratio < 1 && c.ratio > 0; /* the reference is the slower one */
	double ratio = slower ? 1 / c.ratio : c.ratio;
	double low = slower ? 1 / c.ratio_high : c.ratio_low;
	double high = slower ? 1 / c.ratio_low : c.ratio_high;
	double sigma = slower ? ratio_sigma(s_b, s_a) : ratio_sigma(s_a, s_b);

	struct strbuf line = { 0 };
	if (!isfinite(ratio) || !(ratio > 0)) {
		strbuf_puts(out, "    no ratio to ");
		put_title(out, style, b->run, style->width - 16 - 30);
		strbuf_puts(out, ": no time above the shell's\n");
		return;
	}
	bool spread = s_a->n > 1 && s_b->n > 1 && isfinite(sigma) && sigma > 0;
	int decimals = ratio_decimals(spread ? sigma : 0);
	if (ratio >= 1e6)
		strbuf_printf(&line, "    %.1e", ratio);
	else
		strbuf_printf(&line, "    %.*f", decimals, ratio);
	if (spread && ratio < 1e6)
		strbuf_printf(&line, " ± %.*f", decimals, sigma);
	strbuf_printf(&line, " times %s than ",
		      emp_is_count(m) ? slower ? "more" : "fewer"
		      : slower	      ? "slower"
				      : "faster");
	size_t used = text_width(strbuf_text(&line));
	strbuf_puts(out, strbuf_text(&line));
	put_title(out, style, b->run, style->width - used);
	strbuf_putc(out, '\n');
	strbuf_release(&line);
	if (c.needed)
		strbuf_printf(&line, "too few to say: about %zu executions are needed", c.needed);
	else if (!isfinite(c.p))
		return;
	else
		put_test(&c, ratio, low, high, &line);
	struct paragraph paragraph = {
		.width = style->width, .indent = 6, .first = "      ", .colour = NULL
	};
	put_paragraph(out, &paragraph, strbuf_text(&line));
	strbuf_release(&line);
}

/* Where process time and elapsed time name different runs, and not by a hair. */
static void put_fastest_by_et(const struct run_view *views, size_t count, size_t best,
			      const struct style *style, struct strbuf *out)
{
	size_t by_et = fastest(views, count, EMP_ET);
	if (by_et == count || by_et == best)
		return;
	double least = views[by_et].result->kept[EMP_ET].mean;
	double other = views[best].result->kept[EMP_ET].mean;
	if (!(other > 1.05 * least))
		return;
	char a[WORDS], b[WORDS];
	struct strbuf end = { 0 };
	format_duration(least, 3, style->unit, a);
	format_duration(other, 3, style->unit, b);
	strbuf_printf(&end, " is fastest: %s against %s", a, b);
	size_t used = strlen("  By elapsed time ") + text_width(strbuf_text(&end));
	strbuf_puts(out, "  By elapsed time ");
	put_title(out, style, views[by_et].run, style->width > used + 8 ? style->width - used : 8);
	strbuf_printf(out, "%s\n", strbuf_text(&end));
	strbuf_release(&end);
}

void time_text_summary(const struct run_view *views, size_t count, size_t wanted,
		       const struct style *given, struct strbuf *out)
{
	struct style style = style_normal(given);
	struct strbuf words = { 0 }, why = { 0 };
	struct emp_choice choice = several_choice(views, count, &why);
	enum emp_measure m = choice.measure;
	size_t best = fastest(views, count, m), reference = reference_run(views, count, m, wanted);
	strbuf_puts(&words, measure_title(m));
	if (why.length)
		strbuf_printf(&words, ", since %s", strbuf_text(&why));
	else if (choice.why == EMP_WHY_ASKED)
		strbuf_puts(&words, ", as asked for");
	static const char title[] = "Summary";
	struct paragraph head = { .width = style.width, .indent = 2, .first = "Summary: " };
	struct strbuf line = { 0 };
	put_paragraph(&line, &head, strbuf_text(&words));
	put_coloured(out, style.colour, BOLD, title);
	strbuf_puts(out, strbuf_text(&line) + strlen(title));
	strbuf_release(&line);
	strbuf_release(&words);
	strbuf_release(&why);
	if (best == count) {
		strbuf_puts(out, "  No execution was kept: nothing to compare.\n");
		return;
	}
	strbuf_puts(out, "  ");
	put_title(out, &style, views[reference].run, style.width - 20);
	strbuf_puts(out, reference != best ? " ran\n"
			 : emp_is_count(m) ? " took the fewest\n"
					   : " was fastest\n");
	for (size_t i = 0; i < count; i++)
		if (i != reference && views[i].result->kept[m].n)
			put_relation(&views[reference], &views[i], m, &style, out);
	for (size_t i = 0; i < count; i++)
		if (!views[i].result->kept[m].n) {
			strbuf_puts(out, "  ");
			put_title(out, &style, views[i].run, style.width - 25);
			strbuf_puts(out, ": no execution kept\n");
		}
	put_fastest_by_et(views, count, best, &style, out);
	put_speed_advice(views, count, m, &style, out);
}
