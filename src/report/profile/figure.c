/* Figures of profiles. */
#include <stdio.h>

#include "report/chart/figure_private.h"
#include "report/profile/rows.h"

static void say_profile(struct figure *f, const char *kind, const struct profile_subject *s)
{
	struct strbuf words = { 0 };
	figure_say_run(f, kind, s->run, s->machine);
	put_profile_mode(s->profile, &words);
	figure_say(f, "sampled", strbuf_text(&words));
	strbuf_release(&words);
}

int figure_functions(struct figure *f, const struct profile_subject *s, const struct sleepy_view *v,
		     size_t most, struct error *err)
{
	const char *columns = "row\tshare\tlow\thigh\tsamples\tname";
	say_profile(f, "functions", s);
	size_t blocks[] = { figure_block(f, columns, "user: share of the samples, 95 % interval"),
			    figure_block(f, columns, "kernel") };
	size_t shown = 0;
	double top = 0;
	for (; shown < v->rows.count && shown < most; shown++) {
		const struct sleepy_row *r = &v->rows.items[shown];
		struct proportion p;
		if (!r->self)
			break;
		proportion_of(r->self, v->samples, &p);
		double row[] = { (double)shown, p.share, p.low, p.high, (double)r->self };
		bool kernel = profile_row_kernel(s->profile, v, r);
		figure_row(f, blocks[kernel], row, 5, r->name);
		figure_axis_tic(&f->y, (double)shown, r->name);
		top = fmax(top, p.high);
	}
	if (!shown)
		return figure_empty(err, "there are no samples in this profile");
	figure_axis_label(&f->x, "share of the samples (%)");
	figure_axis_rows(f, shown);
	figure_axis_from_zero(&f->x, top * 100);
	f->x.high = fmin(f->x.high, 100);
	const char *const titles[] = { "user", "kernel" };
	const char *const styles[] = {
		"boxxyerror fs solid 1 border lt -1 dt 1 lc rgb '#9ecae1' lw 0.5",
		"boxxyerror fs solid 1 border lt -1 dt 1 lc rgb '#b35806' lw 0.5"
	};
	for (size_t k = 0; k < 2; k++)
		figure_layer(f, blocks[k], styles[k], titles[k],
			     "(0):1:(0):($2*100):($1-0.35):($1+0.35)");
	for (size_t k = 0; k < 2; k++)
		figure_layer(f, blocks[k], "xerrorbars dt 1 pt 0 lc rgb '#000000' lw 1", NULL,
			     "($2*100):1:($3*100):($4*100)");
	f->key = true;
	return 0;
}

int figure_system(struct figure *f, const struct profile_subject *s, struct error *err)
{
	const struct profile *p = s->profile;
	double end = 0;
	say_profile(f, "system", s);
	size_t block = figure_block(
		f, "begin_ns\tend_ns\tuser_cpus\tkernel_cpus\tidle_cpus\tothers_cpus\tlost_cpus",
		"CPUs by what they did, a row for each slice");
	uint64_t begin = s->begin_ns;
	for (size_t i = 0; i < p->slices.count && !begin; i++)
		begin = p->slices.items[i].begin_ns;
	enum { PARTS = 3 };
	double top = 0;
	bool any[PARTS] = { false };
	for (size_t i = 0; i < p->slices.count; i++) {
		const struct profile_slice *c = &p->slices.items[i];
		double samples = p->hz * (double)(c->end_ns - c->begin_ns) / 1e9;
		double row[] = { (double)c->begin_ns - (double)begin,
				 (double)c->end_ns - (double)begin,
				 (double)c->user / samples,
				 (double)c->kernel / samples,
				 (double)c->idle / samples,
				 (double)c->others / samples,
				 (double)c->lost / samples };
		if (!(samples > 0))
			continue;
		end = fmax(end, row[1]);
		top = fmax(top, row[2] + row[3] + row[4]);
		for (size_t k = 0; k < PARTS; k++)
			any[k] |= row[2 + k] > 0;
		figure_row(f, block, row, 7, NULL);
	}
	if (!figure_rows(f))
		return figure_empty(err, "this profile has no slices, or its rate is not known");
	figure_axis_time(&f->x, "time into the run", end);
	figure_axis_label(&f->y, "CPUs");
	f->x.low = 0;
	f->x.high = end / f->x.unit;
	figure_axis_from_zero(&f->y, top);
	char low[WORDS], high[WORDS];
	snprintf(low, sizeof low, "$1/%g", f->x.unit);
	snprintf(high, sizeof high, "$2/%g", f->x.unit);
	/* as on the page: what was taken for others, or lost, stays blank */
	const struct figure_stack stack = { block, 3, low, high, false };
	static const char *const titles[PARTS] = { "user", "kernel", "idle" };
	const char *const styles[PARTS] = { figure_fills[0], figure_fills[2], figure_fills[7] };
	for (size_t k = 0; k < PARTS; k++)
		if (any[k])
			figure_stack_layer(f, &stack, 3 + k, styles[k], titles[k]);
	f->key = true;
	return 0;
}
