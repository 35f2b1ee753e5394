/* The histogram as `rtla osnoise hist` prints it, for what already reads that. */
#include <stdio.h>

#include "report/noise/rows.h"

#define DEFAULT_WIDTH_NS 1000
#define DEFAULT_ENTRIES 256

static void put_row(const char *name, size_t cpus, const uint64_t *values, size_t stride,
		    struct strbuf *out)
{
	strbuf_printf(out, "%-6s", name);
	for (size_t i = 0; i < cpus; i++)
		strbuf_printf(out, "%s%9llu", i ? " " : "", (unsigned long long)values[i * stride]);
	strbuf_putc(out, '\n');
}

/* rtla's: whole µs, and two decimals of the mean; "-" where there was no detour. */
static void put_extremes(const struct noise *n, struct strbuf *out)
{
	static const char *const names[] = { "count:", "min:  ", "avg:  ", "max:  " };
	for (size_t line = 0; line < sizeof names / sizeof *names; line++) {
		strbuf_puts(out, names[line]);
		for (size_t i = 0; i < n->cpus.count; i++) {
			const struct noise_cpu *c = &n->cpus.items[i];
			uint64_t min, max;
			bool any = noise_extremes(c, &min, &max);
			strbuf_puts(out, i ? " " : "");
			if (line == 0)
				strbuf_printf(out, "%9llu", (unsigned long long)c->total.count);
			else if (!any)
				strbuf_printf(out, "%9s", "-");
			else if (line == 2)
				strbuf_printf(out, "%9.2f",
					      (double)c->total.ns / (double)c->total.count / 1e3);
			else
				strbuf_printf(out, "%9llu",
					      (unsigned long long)(line == 1 ? min : max) / 1000);
		}
		strbuf_putc(out, '\n');
	}
}

void noise_hist(const struct noise_view *v, uint64_t width_ns, uint32_t entries, struct strbuf *out)
{
	const struct noise *n = v->noise;
	size_t cpus = n->cpus.count;
	uint64_t s = (n->elapsed_ns + 500000000) / 1000000000;
	width_ns = width_ns ? width_ns : DEFAULT_WIDTH_NS;
	entries = entries ? entries : DEFAULT_ENTRIES;
	strbuf_printf(out,
		      "# tare noise histogram\n# Time unit is microseconds (us)\n"
		      "# Duration: %3llu %02llu:%02llu:%02llu\nIndex",
		      (unsigned long long)(s / 86400), (unsigned long long)(s / 3600 % 24),
		      (unsigned long long)(s / 60 % 60), (unsigned long long)(s % 60));
	for (size_t i = 0; i < cpus; i++)
		strbuf_printf(out, "   CPU-%03u", n->cpus.items[i].cpu);
	strbuf_putc(out, '\n');
	/* A fine bucket is counted where its low edge is. Below 100 µs edges of 1 or 5 µs are edges
	 * of fine buckets, too, so nothing is in the wrong one. Beyond that a fine bucket may reach
	 * over an edge, but it is no wider than 2 % of the length. */
	size_t stride = (size_t)entries + 1; /* the last is what is over */
	FREED uint64_t *counts = xcalloc(cpus * stride + 1, sizeof *counts);
	FREED uint64_t *all = xcalloc(stride, sizeof *all);
	for (size_t i = 0; i < cpus; i++)
		for (unsigned fine = 0; fine < NOISE_BUCKETS; fine++) {
			uint64_t at = (fine ? noise_bucket_low(fine) : 0) / width_ns;
			uint64_t count = n->cpus.items[i].buckets[fine].count;
			at = at < entries ? at : entries;
			counts[i * stride + at] += count;
			all[at] += count;
		}
	for (uint32_t b = 0; b < entries; b++) {
		char name[WORDS];
		snprintf(name, sizeof name, "%.10g", (double)b * (double)width_ns / 1e3);
		if (all[b])
			put_row(name, cpus, counts + b, stride, out);
	}
	put_row("over:", cpus, counts + entries, stride, out);
	put_extremes(n, out);
}
