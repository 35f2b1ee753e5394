/* Noise of CPUs. */
#include <math.h>

#include "base/text.h"
#include "protocol/jitter/lengths.h"
#include "report/noise/rows.h"
#include "report/page/documents.h"
#include "report/page/private.h"
#include "report/time/several.h"

/* Rates of each CPU alone, on the grid of all together; of one there is nothing to tell apart. */
static void add_cpus(struct chart *c, const struct noise *n)
{
	double grid[CHART_NOISE_GRID], rates[2][CHART_NOISE_GRID];
	for (size_t i = 0; i < CHART_NOISE_GRID; i++)
		grid[i] = log10(chart_at(c, 0, i, 0));
	for (size_t k = 0; n->cpus.count > 1 && k < n->cpus.count; k++) {
		const struct noise_cpu *cpu = &n->cpus.items[k];
		size_t block = chart_block(c, "seen\ttold", "a CPU");
		for (int told = 0; told < 2; told++) {
			struct jitter_lengths l;
			jitter_lengths_of(cpu, told, &l);
			jitter_rates(&l, noise_window_s(cpu), c->bandwidth, grid, CHART_NOISE_GRID,
				     rates[told]);
			jitter_lengths_release(&l);
		}
		for (size_t i = 0; i < CHART_NOISE_GRID && cpu->window_ns; i++) {
			double row[] = { rates[0][i], n->kernel ? rates[1][i] : NAN };
			chart_row(c, block, row, 2, NULL);
		}
	}
}

/* ---- the section ---- */

void page_add_noise(struct page *p, const struct noise_view *v, const struct noise_view *baseline,
		    const struct jitter_diff *diff)
{
	const struct noise *n = v->noise;
	struct strbuf subtitle = { 0 };
	if (n) { /* "CPUs 0-1, ordinary scheduling, for 3.00 s" */
		char elapsed[WORDS];
		text_duration((double)n->elapsed_ns, 3, elapsed, sizeof elapsed);
		put_cpus(n, &subtitle);
		strbuf_puts(&subtitle, ", ");
		put_scheduling(n, &subtitle);
		strbuf_printf(&subtitle, ", for %s", elapsed);
	}
	json_t *o =
		page_head_stored(p, &noise_section_shape, v->run, v->machine, n ? &subtitle : NULL);
	json_object_set_new(o, "noise", n ? noise_document(v) : json_null());
	if (n) {
		struct error none = ERROR_INIT;
		struct chart *c = chart_new();
		int failed = chart_noise(c, v, baseline, &none);
		if (!failed)
			add_cpus(c, n);
		page_chart(o, "noise", c, failed);
	}
	if (baseline && diff) {
		json_t *against = json_shape(&baseline_shape, baseline->run);
		json_object_set_new(against, "name", json_text(run_title(baseline->run)));
		json_object_set_new(against, "diff", noise_diff_document(baseline, v, diff));
		json_object_set_new(o, "baseline", against);
	}
	page_add(p, o);
	strbuf_release(&subtitle);
}

void page_compare_noise(struct page *p, size_t base, size_t run, const struct noise_view *base_view,
			const struct noise_view *run_view, const struct jitter_diff *d)
{
	json_array_append_new(p->comparisons,
			      json_pack("{s:s, s:I, s:I, s:o}", "kind", "noise", "base",
					(json_int_t)base, "run", (json_int_t)run, "diff",
					noise_diff_document(base_view, run_view, d)));
}
