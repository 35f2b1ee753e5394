/* Charts for the page, and the one table of colours. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "record/ledger.h"
#include "report/chart/chart.h"
#include "report/core/json.h"

/* Pens are colours that the colour-blind tell apart (Okabe and Ito). */
const struct chart_colour chart_colours[CHART_ROLES] = {
	[CHART_KEPT] = { "#1f6fb2", "#6db3f2" },
	[CHART_OUTSIDE] = { "#d1660f", "#ff9d4d" },
	[CHART_CUTOFF] = { "#c0392b", "#ff8a80" },
	[CHART_FAILED] = { "#777777", "#a3adbb" },
	[CHART_CROSS] = { "#000000", "#e6eaf0" },
	[CHART_RING] = { "#000000", "#e6eaf0" },
	[CHART_BAR] = { "#9ecae1", "#6aa9ee" },
	[CHART_KERNEL] = { "#b35806", "#ff9d4d" },
	[CHART_INFERRED] = { "#b2182b", "#ff8a80" },
	[CHART_FRAME] = { "#777777", "#a3adbb" },
	[CHART_REST] = { "#d0d0d0", "#586274" },
	[CHART_INTERVAL] = { "#000000", "#e6eaf0" },
	[CHART_SPREAD] = { "#777777", "#a3adbb" },
	[CHART_GUIDE] = { "#777777", "#a3adbb" },
	[CHART_PEN + 0] = { "#0072b2", "#56b4e9" },
	[CHART_PEN + 1] = { "#d55e00", "#ff9d4d" },
	[CHART_PEN + 2] = { "#000000", "#e6eaf0" },
	[CHART_PEN + 3] = { "#009e73", "#4fd0bd" },
	[CHART_PEN + 4] = { "#cc79a7", "#f08fc0" },
	[CHART_PEN + 5] = { "#e69f00", "#f2c744" },
	[CHART_PEN + 6] = { "#56b4e9", "#a9bfd6" },
	[CHART_PEN + 7] = { "#777777", "#a3adbb" },
	[CHART_CAUSE + (int) LEDGER_RUN] = { "#2f6db3", "#6aa9ee" },
	[CHART_CAUSE + (int) LEDGER_IRQ] = { "#d1660f", "#ff9d4d" },
	[CHART_CAUSE + (int) LEDGER_SOFTIRQ] = { "#b58300", "#f2c744" },
	[CHART_CAUSE + (int) LEDGER_NMI] = { "#8d5fb0", "#c39be6" },
	[CHART_CAUSE + (int) LEDGER_STEAL] = { "#b3261e", "#ff8a80" },
	[CHART_CAUSE + (int) LEDGER_QUEUED] = { "#c2508f", "#f08fc0" },
	[CHART_CAUSE + (int) LEDGER_WAKING] = { "#7891ac", "#a9bfd6" },
	[CHART_CAUSE + (int) LEDGER_THROTTLED] = { "#7a4b2a", "#c99a74" },
	[CHART_CAUSE + (int) LEDGER_IO] = { "#1b8a7a", "#4fd0bd" },
	[CHART_CAUSE + (int) LEDGER_IO_OTHER] = { "#6b8e23", "#b5d35c" },
	[CHART_CAUSE + (int) LEDGER_IO_IDLE] = { "#5a6f80", "#90a4b5" },
	[CHART_CAUSE + (int) LEDGER_FAULT] = { "#4b4fb5", "#9aa0ff" },
	[CHART_CAUSE + (int) LEDGER_FUTEX] = { "#9b604b", "#bd8875" },
	[CHART_CAUSE + (int) LEDGER_PIPE] = { "#4b8e9b", "#75b1bd" },
	[CHART_CAUSE + (int) LEDGER_SOCKET] = { "#644b9b", "#8c75bd" },
	[CHART_CAUSE + (int) LEDGER_TIMER] = { "#a8923c", "#cfc06a" },
	[CHART_CAUSE + (int) LEDGER_POLL] = { "#819b4b", "#a6bd75" },
	[CHART_CAUSE + (int) LEDGER_CHILD] = { "#4b9b7b", "#75bda0" },
	[CHART_CAUSE + (int) LEDGER_LOCK] = { "#8a3b5c", "#d18aa8" },
	[CHART_CAUSE + (int) LEDGER_SLEEP] = { "#4b779b", "#759dbd" },
	[CHART_CAUSE + (int) LEDGER_STOPPED] = { "#444b54", "#c5ccd4" },
	[CHART_CAUSE + (int) LEDGER_UNSEEN] = { "#586274", "#a3adbb" },
	/* as in the ledger where both know it */
	[CHART_CLASS + (int) NOISE_IRQ] = { "#d1660f", "#ff9d4d" },
	[CHART_CLASS + (int) NOISE_SOFTIRQ] = { "#b58300", "#f2c744" },
	[CHART_CLASS + (int) NOISE_NMI] = { "#8d5fb0", "#c39be6" },
	[CHART_CLASS + (int) NOISE_THREAD] = { "#2f6db3", "#6aa9ee" },
	[CHART_CLASS + (int) NOISE_WORK] = { "#6b8e23", "#b5d35c" },
	[CHART_CLASS + (int) NOISE_FAULT] = { "#4b4fb5", "#9aa0ff" },
	[CHART_CLASS + (int) NOISE_THROTTLED] = { "#7a4b2a", "#c99a74" },
	[CHART_CLASS + (int) NOISE_DELIVERY] = { "#7891ac", "#a9bfd6" },
	[CHART_CLASS + (int) NOISE_STEAL] = { "#b3261e", "#ff8a80" },
	[CHART_CLASS + (int) NOISE_HOST] = { "#c2508f", "#f08fc0" },
	[CHART_CLASS + (int) NOISE_UNEXPLAINED] = { "#5a6f80", "#90a4b5" },
	[CHART_CLASS + (int) NOISE_SMI] = { "#1b8a7a", "#4fd0bd" },
};

static json_t *colour_json(size_t role, const char *meaning)
{
	return json_pack("{s:s, s:s, s:s*}", "light", chart_colours[role].light, "dark",
			 chart_colours[role].dark, "meaning", meaning);
}

json_t *chart_colours_json(void)
{
	json_t *causes = json_object(), *classes = json_object();
	for (size_t i = 0; i < LEDGER_CAUSES; i++)
		json_object_set_new(causes, ledger_causes[i].name,
				    colour_json(CHART_CAUSE + i, ledger_causes[i].meaning));
	for (size_t i = 0; i < NOISE_CLASSES; i++)
		json_object_set_new(classes, noise_class_names[(enum noise_class)i],
				    colour_json(CHART_CLASS + i, NULL));
	return json_pack("{s:o, s:o}", "causes", causes, "classes", classes);
}

json_t *chart_real(double value)
{
	if (!isfinite(value))
		return json_null();
	char text[WORDS];
	snprintf(text, sizeof text, "%.6g", value);
	return json_real(strtod(text, NULL));
}

static json_t *axis_json(const struct chart_axis *a)
{
	return json_pack("{s:o, s:b, s:o, s:o}", "name", json_text(a->name), "log", a->log, "low",
			 chart_real(a->low * a->unit), "high", chart_real(a->high * a->unit));
}

/* Whole numbers as they are, ns to the last one where 6 digits would say less. */
static json_t *value_json(double value, bool ns)
{
	bool whole = value == floor(value) && fabs(value) < 1e15;
	if (whole || (ns && fabs(value) >= 1e6 && fabs(value) < 1e18))
		return json_integer(llround(value));
	return chart_real(value);
}

/* By the names of its columns. */
static json_t *block_json(const struct chart_block *b)
{
	json_t *o = json_object();
	char *columns = xstrdup(b->columns), *rest = columns, *name;
	for (size_t k = 0; (name = strsep(&rest, "\t")); k++) {
		json_t *list = json_array();
		for (size_t i = 0; i < b->count; i++)
			json_array_append_new(
				list, k < b->width ? value_json(b->values.items[i * b->width + k],
								text_ends_with(name, "_ns"))
						   : json_text(b->names.items[i]));
		json_object_set_new(o, name, list);
	}
	xfree(columns);
	return o;
}

json_t *chart_json(const struct chart *c)
{
	json_t *blocks = json_array();
	for (size_t i = 0; i < c->blocks.count; i++)
		json_array_append_new(blocks, block_json(&c->blocks.items[i]));
	return json_pack("{s:o, s:o, s:o, s:o}", "x", axis_json(&c->x), "y", axis_json(&c->y),
			 "bandwidth", c->bandwidth > 0 ? chart_real(c->bandwidth) : json_null(),
			 "blocks", blocks);
}
