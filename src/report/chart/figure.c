#include "report/chart/figure_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define DEFAULT_HEIGHT_CM 6

struct figure *figure_new(void)
{
	struct figure *f = xcalloc(1, sizeof *f);
	struct figure_axis *axes[] = { &f->x, &f->y };
	for (size_t i = 0; i < 2; i++) {
		axes[i]->unit = 1;
		axes[i]->low = axes[i]->high = NAN;
	}
	f->height_cm = DEFAULT_HEIGHT_CM;
	return f;
}

static void release_axis(struct figure_axis *a)
{
	figure_tics_release(&a->tics);
	xfree(a->label);
}

void figure_free(struct figure *f)
{
	if (!f)
		return;
	release_axis(&f->x);
	release_axis(&f->y);
	for (size_t i = 0; i < f->blocks.count; i++) {
		xfree(f->blocks.items[i].title);
		xfree(f->blocks.items[i].columns);
		strbuf_release(&f->blocks.items[i].rows);
	}
	for (size_t i = 0; i < f->layers.count; i++) {
		xfree(f->layers.items[i].columns);
		xfree(f->layers.items[i].title);
	}
	array_release(&f->blocks);
	array_release(&f->layers);
	strbuf_release(&f->head);
	strbuf_release(&f->extra);
	strbuf_release(&f->note);
	xfree(f);
}

const char *figure_note(const struct figure *f)
{
	return f->note.length ? strbuf_text(&f->note) : NULL;
}

int figure_empty(struct error *err, const char *what)
{
	return error_set(err, EXIT_USAGE, "there is nothing to plot: %s", what);
}

int figure_by_value(const void *a, const void *b)
{
	double p = *(const double *)a, q = *(const double *)b;
	return p < q ? -1 : p > q;
}

/* ---- data ---- */

void figure_say(struct figure *f, const char *label, const char *text)
{
	char *shown = display_copy(text);
	strbuf_printf(&f->head, "# %s: %s\n", label, shown);
	xfree(shown);
}

void figure_say_machine(struct figure *f, const struct machine *machine)
{
	static const char *const facts[] = { "system.host", "cpu.model", "kernel.release" };
	struct strbuf all = { 0 };
	char print[17];
	if (!machine || !machine->facts.count)
		return;
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
		const char *value = machine_get(machine, facts[i]);
		if (value)
			strbuf_printf(&all, "%s%s", all.length ? ", " : "", value);
	}
	machine_fingerprint(machine, print);
	strbuf_printf(&all, "%s%s", all.length ? ", " : "", print);
	figure_say(f, "machine", strbuf_text(&all));
	strbuf_release(&all);
}

void figure_say_run(struct figure *f, const char *kind, const struct run *run,
		    const struct machine *machine)
{
	char words[WORDS];
	if (kind)
		figure_say(f, "figure", kind);
	snprintf(words, sizeof words, "%lld", (long long)run->id);
	figure_say(f, "run", words);
	if (run->name)
		figure_say(f, "name", run->name);
	if (run->command)
		figure_say(f, "command", run->command);
	format_iso8601(run->started_at_ns, words);
	figure_say(f, "measured", words);
	figure_say_machine(f, machine);
	if (run->version)
		figure_say(f, "tare", run->version);
}

size_t figure_block(struct figure *f, const char *columns, const char *title)
{
	array_push(&f->blocks, (struct figure_block){ .title = display_copy(title),
						      .columns = xstrdup(columns) });
	return f->blocks.count - 1;
}

void figure_number(double value, char out[WORDS])
{
	bool whole = value == floor(value) && fabs(value) < 1e19;
	snprintf(out, WORDS, whole ? "%.0f" : "%.15g", value + 0.0); /* which is never -0 */
}

void figure_row(struct figure *f, size_t block, const double *values, size_t count,
		const char *name)
{
	struct figure_block *b = &f->blocks.items[block];
	for (size_t i = 0; i < count; i++) {
		char text[WORDS] = "NaN";
		if (isfinite(values[i]))
			figure_number(values[i], text);
		strbuf_printf(&b->rows, "%s%s", i ? "\t" : "", text);
	}
	if (name) {
		char shown[256]; /* of longer lines gnuplot complains */
		text_display(name, shown, sizeof shown);
		strbuf_printf(&b->rows, "\t%s", shown);
	}
	strbuf_putc(&b->rows, '\n');
	b->count++;
}

size_t figure_rows(const struct figure *f)
{
	size_t rows = 0;
	for (size_t i = 0; i < f->blocks.count; i++)
		rows += f->blocks.items[i].count;
	return rows;
}

void figure_data(const struct figure *f, struct strbuf *out)
{
	size_t index = 0;
	strbuf_puts(out, strbuf_text(&f->head));
	strbuf_puts(
		out,
		"# columns are separated by tabs; names that end in _ns are ns; NaN: not known\n");
	for (size_t i = 0; i < f->blocks.count; i++) {
		const struct figure_block *b = &f->blocks.items[i];
		if (!b->count)
			continue;
		strbuf_printf(out, "%s# block %zu: %s\n# %s\n%s", index ? "\n\n" : "", index,
			      b->title, b->columns, strbuf_text(&b->rows));
		index++;
	}
}

/* ---- layers ---- */

/* By lightness, the first ones far from each other: eight shades of grey cannot all be. Hatching
 * would be another one in each format, and nothing on a bar of 1 mm. */
const char *const figure_fills[FIGURE_FILLS] = {
	"boxxyerror fs solid 1 noborder lc rgb '#4292c6'",
	"boxxyerror fs solid 1 noborder lc rgb '#fdd0a2'",
	"boxxyerror fs solid 1 noborder lc rgb '#99000d'",
	"boxxyerror fs solid 1 noborder lc rgb '#6a51a3'",
	"boxxyerror fs solid 1 noborder lc rgb '#ffeda0'",
	"boxxyerror fs solid 1 noborder lc rgb '#000000'",
	"boxxyerror fs solid 1 noborder lc rgb '#a1d99b'",
	"boxxyerror fs solid 1 noborder lc rgb '#d0d0d0'",
};

void figure_layer(struct figure *f, size_t block, const char *style, const char *title,
		  const char *columns, ...)
{
	struct strbuf using = { 0 };
	va_list args;
	va_start(args, columns);
	strbuf_vprintf(&using, columns, args);
	va_end(args);
	array_push(&f->layers, (struct figure_layer){ .block = block,
						      .style = style,
						      .title = title ? xstrdup(title) : NULL,
						      .columns = strbuf_detach(&using) });
}

void figure_stack_layer(struct figure *f, const struct figure_stack *s, size_t column,
			const char *style, const char *title)
{
	struct strbuf below = { 0 };
	double unit = s->lying ? f->x.unit : f->y.unit;
	for (size_t k = s->first; k < column; k++)
		strbuf_printf(&below, "%s$%zu", k > s->first ? "+" : "", k);
	const char *under = below.length ? strbuf_text(&below) : "0";
	if (s->lying)
		figure_layer(f, s->block, style, title,
			     "(0):(%s):((%s)/%g):((%s+$%zu)/%g):(%s):(%s)", s->low, under, unit,
			     under, column, unit, s->low, s->high);
	else
		figure_layer(f, s->block, style, title,
			     "(%s):(0):(%s):(%s):((%s)/%g):((%s+$%zu)/%g)", s->low, s->low, s->high,
			     under, unit, under, column, unit);
	strbuf_release(&below);
}
