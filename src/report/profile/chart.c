/* Charts of profiles. */

#include "report/chart/charts.h"
#include "report/profile/rows.h"

static void say_profile(struct chart *c, const char *kind, const struct profile_subject *s)
{
	SCOPED(strbuf_release) struct strbuf words = { 0 };
	chart_say_run(c, kind, s->run, s->machine);
	put_profile_mode(s->profile, &words);
	chart_say(c, "sampled", strbuf_text(&words));
}

int chart_functions(struct chart *c, const struct profile_subject *s, const struct sleepy_view *v,
		    size_t most, struct error *err)
{
	const char *columns = "row\tshare\tlow\thigh\tsamples\tname";
	say_profile(c, "functions", s);
	size_t blocks[] = { chart_block(c, columns, "user: share of the samples, 95 % interval"),
			    chart_block(c, columns, "kernel") };
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
		chart_row(c, blocks[kernel], row, 5, r->name);
		chart_axis_tick(&c->y, (double)shown, r->name);
		top = fmax(top, p.high);
	}
	if (!shown)
		return chart_empty(err, "there are no samples in this profile");
	chart_axis_label(&c->x, "share of the samples (%)");
	c->x.unit = 0.01;
	chart_axis_rows(c, shown);
	chart_axis_from_zero(&c->x, top);
	c->x.high = fmin(c->x.high, 100);
	for (unsigned k = 0; k < 2; k++)
		chart_add(c, blocks[k], CHART_BARS, k ? CHART_KERNEL : CHART_BAR,
			  k ? "kernel" : "user", 1, 0);
	for (unsigned k = 0; k < 2; k++)
		chart_add(c, blocks[k], CHART_INTERVALS, CHART_INTERVAL, NULL, 1, 0);
	c->key = true;
	return 0;
}

int chart_system(struct chart *c, const struct profile_subject *s, struct error *err)
{
	const struct profile *p = s->profile;
	double end = 0;
	say_profile(c, "system", s);
	if (p->mode == PROFILE_EVENT)
		return chart_empty(err, "a profile by an event does not say what CPUs did");
	size_t block = chart_block(
		c, "begin_ns\tend_ns\tuser_cpus\tkernel_cpus\tidle_cpus\tothers_cpus\tlost_cpus",
		"CPUs by what they did, a row for each slice");
	uint64_t begin = s->begin_ns;
	for (size_t i = 0; i < p->slices.count && !begin; i++)
		begin = p->slices.items[i].begin_ns;
	enum { PARTS = 3 };
	double top = 0;
	bool any[PARTS] = { false };
	for (size_t i = 0; i < p->slices.count; i++) {
		const struct profile_slice *slice = &p->slices.items[i];
		double samples = p->hz * (double)(slice->end_ns - slice->begin_ns) / 1e9;
		double row[] = { (double)slice->begin_ns - (double)begin,
				 (double)slice->end_ns - (double)begin,
				 (double)slice->user / samples,
				 (double)slice->kernel / samples,
				 (double)slice->idle / samples,
				 (double)slice->others / samples,
				 (double)slice->lost / samples };
		if (!(samples > 0))
			continue;
		end = fmax(end, row[1]);
		top = fmax(top, row[2] + row[3] + row[4]);
		for (size_t k = 0; k < PARTS; k++)
			any[k] |= row[2 + k] > 0;
		chart_row(c, block, row, 7, NULL);
	}
	if (!chart_rows(c))
		return chart_empty(err, "this profile has no slices, or its rate is not known");
	chart_axis_time(&c->x, "time into the run", end);
	chart_axis_label(&c->y, "CPUs");
	c->x.low = 0;
	c->x.high = end / c->x.unit;
	chart_axis_from_zero(&c->y, top);
	/* as on the page: what was taken for others, or lost, stays blank */
	static const char *const titles[PARTS] = { "user", "kernel", "idle" };
	static const enum chart_role roles[PARTS] = { CHART_BAR, CHART_KERNEL, CHART_REST };
	for (unsigned k = 0; k < PARTS; k++)
		if (any[k])
			chart_add(c, block, CHART_BARS, roles[k], titles[k], 0, 2 + k)->stack_from =
				2;
	c->key = true;
	return 0;
}
