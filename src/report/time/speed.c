#include "report/time/speed.h"

#include <math.h>
#include <stdio.h>

#include "report/core/rows.h"
#include "report/time/parts.h"
#include "report/time/several.h"

#define VARIED 0.01   /* less is steady */
#define UNSTEADY 0.03 /* more hides differences that people look for */
#define MOST_OF 0.5   /* of what is to be explained */
#define CLOCK 0.97    /* a chain that is slower than this is a lower clock, and no sibling */

double speed_slower_ns(const struct run_view *view, const struct execution *x)
{
	struct steady_input in;
	const struct emp_result *r = view->result;
	if (!r->present[EMP_PT_STEADY] || !emp_speed(view->run, x, &in))
		return NAN;
	return in.pt_ns - steady_value(&r->steady, &in);
}

void put_speed(const struct run_view *view, const struct style *style, struct strbuf *out)
{
	const struct steady_fit *f = &view->result->steady;
	struct strbuf text = { 0 };
	char varied[WORDS], part[WORDS];
	if (f->n < 2)
		return;
	format_percent(f->varied, varied);
	if (f->varied < VARIED)
		strbuf_printf(&text, "steady: it varied by %s", varied);
	else
		strbuf_printf(&text, "varied by %s", varied);
	if (view->result->present[EMP_PT_STEADY]) {
		const struct summary *s = &view->result->kept[EMP_PT_STEADY];
		char at[WORDS], sigma[WORDS];
		format_percent(f->explained, part);
		format_percent(s->relative_error, sigma);
		format_duration(s->mean, 4, style->unit, at);
		strbuf_printf(&text, ", which explains %s of σ", part);
		if (view->result->lead == EMP_PT_STEADY)
			strbuf_puts(&text,
				    "; PT(steady) is PT(net) at the best speed seen, estimated");
		else
			strbuf_printf(&text, "; at the best speed seen, PT(steady) %s, σ/mean %s",
				      at, sigma);
	}
	put_labelled(out, style, "  CPU speed", NULL, strbuf_text(&text));
	strbuf_release(&text);
}

/* What a kind of work has to be slow for. */
static const char *reason_of(const struct steady_fit *f, const struct steady_input *in)
{
	if (steady_speed(f, in, SPEED_CHAIN) < CLOCK)
		return "its clock was probably lower";
	return f->most == SPEED_LOADS ? "others probably used its caches or memory"
				      : "its sibling was probably busy";
}

bool put_slower_cpu(const struct run_view *view, const struct execution *x,
		    const struct execution *base, double more_ns, const struct style *style,
		    struct strbuf *out)
{
	const struct steady_fit *f = &view->result->steady;
	double here = speed_slower_ns(view, x), there = speed_slower_ns(view, base);
	struct steady_input in;
	char speed[WORDS], part[WORDS];
	if (!(more_ns > 0) || !(here - there > MOST_OF * more_ns) || f->most >= SPEED_KINDS ||
	    !emp_speed(view->run, x, &in))
		return false;
	format_percent(steady_speed(f, &in, f->most), speed);
	format_duration(fmin(here - there, more_ns), 3, style->unit, part);
	strbuf_printf(out, "; the CPU ran at %s of its best %s; %s (%s of it, estimated)", speed,
		      speed_kind_phrases[f->most], reason_of(f, &in), part);
	return true;
}

/* What is left of the difference of two runs with the speed taken off. */
static void put_at_equal_speed(const struct run_view *a, const struct run_view *b,
			       struct strbuf *out)
{
	const struct emp_judged judged[] = { { a->run, a->executions, a->result, false },
					     { b->run, b->executions, b->result, true } };
	struct emp_comparison c;
	if (!emp_compare_at_equal_speed(judged, 2, &c) || c.needed || !isfinite(c.ratio_low) ||
	    !isfinite(c.ratio_high))
		return;
	strbuf_printf(out,
		      "At equal speed the second would take %.3g times as long as the first "
		      "[%.3g, %.3g], if a slower CPU slows both down alike (estimated). ",
		      c.ratio, c.ratio_low, c.ratio_high);
}

void put_speed_advice(const struct run_view *views, size_t count, enum emp_measure m,
		      const struct style *style, struct strbuf *out)
{
	double varied = 0, hidden = 0;
	struct strbuf text = { 0 };
	char speed[WORDS], share[WORDS];
	for (size_t i = 0; i < count; i++) {
		const struct emp_result *r = views[i].result;
		const struct summary *s = &r->kept[m];
		if (r->steady.n >= 2 && r->steady.varied > varied)
			varied = r->steady.varied;
		/* the speed of one run is not that of another: its means differ by about sigma */
		if (s->n && s->relative_error > hidden)
			hidden = s->relative_error;
	}
	if (!(varied > UNSTEADY) || count < 2)
		return;
	if (count == 2)
		put_at_equal_speed(&views[0], &views[1], &text);
	format_percent(varied, speed);
	format_percent(hidden, share);
	strbuf_printf(&text,
		      "The CPU's speed varied by %s meanwhile, which may hide differences "
		      "below about %s. ",
		      speed, share);
	if (count == 2)
		strbuf_puts(&text, "Both at once meet the same speed: tare duet A B. ");
	strbuf_puts(&text, "In turns they meet similar ones: --order interleaved.");
	struct paragraph p = { .width = style->width, .indent = 2, .first = "  " };
	put_paragraph(out, &p, strbuf_text(&text));
	strbuf_release(&text);
}
