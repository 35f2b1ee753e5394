/* How steady the speed of the watched CPUs was, in words. */
#include <math.h>

#include "report/noise/rows.h"

#define LABEL 14
#define STEADY 0.01 /* less is not worth a word on what it was */

void put_noise_speed(const struct noise *n, const struct noise_cpu *c, const struct style *style,
		     struct strbuf *out)
{
	struct jitter_speed s, worst = { .least = NAN };
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	bool all = c->cpu == UINT32_MAX, several = all && n->cpus.count > 1;
	uint32_t cpu = c->cpu;
	for (size_t i = 0; i < (all ? n->cpus.count : 1); i++) {
		const struct noise_cpu *one = all ? &n->cpus.items[i] : c;
		jitter_speed_of(one, &s);
		if (isnan(s.least) || s.least >= worst.least)
			continue;
		worst = s;
		cpu = one->cpu;
	}
	if (isnan(worst.least))
		return;
	if (several)
		strbuf_printf(&text, "that of CPU %u varied most, by %s", cpu,
			      AS_PERCENT(1 - worst.least));
	else
		strbuf_printf(&text, "varied by %s", AS_PERCENT(1 - worst.least));
	if (1 - worst.least >= STEADY)
		strbuf_printf(&text, ": %.0f to 100\u00a0%% of its best %s", 100 * worst.least,
			      speed_kind_phrases[worst.most]);
	put_wrapped(out, style, "  CPU speed   ", LABEL, "%s", strbuf_text(&text));
}
