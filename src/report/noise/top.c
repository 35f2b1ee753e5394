/* The live view: what is lost now, on which CPU, to whom; cut to the screen. */
#include <math.h>
#include <stdio.h>

#include "report/noise/rows.h"

#define DEFAULT_LINES 24
#define HEADER_LINES 3	  /* two and an empty one */
#define SOURCE_LEAST 5	  /* lines of the source table before CPUs get any */
#define EXPLAINED_NS 8000 /* coverage is of detours longer than this */

static void put_line(const struct strbuf *text, bool bold, const struct style *style,
		     struct strbuf *out)
{
	SCOPED(strbuf_release) struct strbuf cut = { 0 };
	put_fitted(&cut, strbuf_text(text), style->width);
	put_coloured(out, bold && style->colour, BOLD, strbuf_text(&cut));
	strbuf_putc(out, '\n');
}

static void put_header(const struct noise *n, const struct noise_cpu *all,
		       const struct style *style, struct strbuf *out)
{
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	struct noise_coverage coverage;
	uint64_t s = n->elapsed_ns / 1000000000;
	noise_coverage_of(n, all, EXPLAINED_NS, &coverage);
	strbuf_printf(&text, "tare noise  %llu:%02llu:%02llu  ", (unsigned long long)(s / 3600),
		      (unsigned long long)(s / 60 % 60), (unsigned long long)(s % 60));
	put_cpus(n, &text);
	if (n->realtime)
		strbuf_printf(&text, " FIFO %d", n->priority);
	strbuf_printf(&text, "  threshold %s  duty %s", AS_NS((double)all->threshold_ns),
		      AS_SHARE(noise_duty(n, all)));
	put_line(&text, true, style, out);
	strbuf_clear(&text);
	double rate = noise_detour_rate(all);
	if (isfinite(rate))
		strbuf_printf(&text, "%.*f detours/s", rate < 10 ? 2 : 0, rate);
	else
		strbuf_puts(&text, "- detours/s");
	strbuf_printf(&text, "  lost %s", AS_SHARE(noise_lost_share(all)));
	if (n->kernel)
		strbuf_printf(&text, "  of > 8 µs explained %s, strict %s",
			      AS_SHARE(coverage.named), AS_SHARE(coverage.strict));
	if (all->lost)
		strbuf_printf(&text, "  %llu events lost", (unsigned long long)all->lost);
	put_line(&text, false, style, out);
	strbuf_putc(out, '\n');
}

static void put_cpu_lines(const struct noise *n, const struct style *style, struct strbuf *out)
{
	static const struct column columns[] = {
		{ "cpu", "CPU", COLUMN_COUNT },
		{ "rate", "Detours/s", COLUMN_REAL, .decimals = DECIMALS(0) },
		{ "lost", "Lost", COLUMN_PERCENT, .decimals = DECIMALS(2) },
		{ "longest", "Longest", COLUMN_DURATION, .digits = 3 },
		{ "explained", "> 8 µs explained", COLUMN_PERCENT, .decimals = DECIMALS(2) },
		{ "mostly", "Mostly", COLUMN_TEXT },
	};
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < n->cpus.count; i++) {
		const struct noise_cpu *c = &n->cpus.items[i];
		struct noise_coverage coverage;
		SCOPED(noise_rows_release) struct noise_rows rows;
		uint64_t min, max;
		char mostly[WORDS] = "";
		noise_coverage_of(n, c, EXPLAINED_NS, &coverage);
		noise_rows_of(c, NOISE_BY_SOURCE, &rows);
		if (rows.list.count && rows.ns && n->kernel)
			snprintf(mostly, sizeof mostly, "%s %.0f %%", rows.list.items[0].name,
				 100 * rows.list.items[0].share);
		table_add_count(t, c->cpu);
		table_add_number(t, noise_detour_rate(c));
		table_add_number(t, noise_lost_share(c));
		table_add_number(t, noise_extremes(c, &min, &max) ? (double)max : NAN);
		table_add_number(t, coverage.named);
		table_add_text(t, mostly);
	}
	table_put(t, style, out);
	strbuf_putc(out, '\n');
}

static void put_top_sources(const struct noise_view *v, const struct noise_cpu *all, size_t lines,
			    const struct noise_style *style, struct strbuf *out)
{
	SCOPED(noise_rows_release) struct noise_rows rows;
	noise_rows_of(all, style->mode, &rows);
	if (!rows.list.count)
		strbuf_puts(out, "No detour above the threshold yet.\n");
	else if (!v->noise->kernel)
		put_noise_not_seen(v, &style->style, out);
	else if (lines > 1) {
		/* the heading, and the line on the others, are lines, too */
		size_t most = lines - 1;
		if (rows.list.count > most)
			most = most > 1 ? most - 1 : 1;
		if (style->most && style->most < most)
			most = style->most;
		put_noise_sources(&rows, most, style, out);
	}
}

void noise_top(const struct noise_view *v, size_t lines, const struct noise_style *given,
	       struct strbuf *out)
{
	struct noise_style style = noise_normal_style(given);
	const struct noise *n = v->noise;
	SCOPED(noise_cpu_release) struct noise_cpu all;
	size_t from = out->length, used = HEADER_LINES;
	size_t cpu_lines = n->cpus.count + 2; /* with their heading and an empty line */
	lines = lines ? lines : DEFAULT_LINES;
	noise_together(n, &all);
	put_header(n, &all, &style.style, out);
	if (n->cpus.count > 1 && used + cpu_lines + SOURCE_LEAST <= lines) {
		put_cpu_lines(n, &style.style, out);
		used += cpu_lines;
	}
	put_top_sources(v, &all, lines > used ? lines - used : 0, &style, out);
	for (size_t i = from; i < out->length; i++)
		if (out->text[i] == '\n' && !--lines) {
			out->length = i + 1;
			out->text[out->length] = '\0';
		}
	style_finish(&style.style, out, from);
}
