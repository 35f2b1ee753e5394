#include "report/figure_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define LABEL_COLUMNS_MOST 26 /* of a name beside an axis or in the key */
#define TITLE_COLUMNS_MOST 120
#define DEFAULT_HEIGHT_CM 6
#define PNG_DPI 300
#define CM_PER_INCH 2.54
#define POINTS_PER_INCH 72
#define SVG_DPI 96
#define FONT_POINTS 8

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
	for (size_t i = 0; i < a->tics.count; i++)
		xfree(a->tics.items[i].label);
	array_release(&a->tics);
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
	xfree(f);
}

int figure_empty(struct error *err, const char *what)
{
	return error_set(err, EXIT_USAGE, "there is nothing to plot: %s", what);
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

void figure_row(struct figure *f, size_t block, const double *values, size_t count,
		const char *name)
{
	struct figure_block *b = &f->blocks.items[block];
	for (size_t i = 0; i < count; i++) {
		char text[WORDS] = "NaN";
		if (isfinite(values[i]))
			snprintf(text, sizeof text, "%.12g", values[i]);
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

/* gnuplot counts blocks that have rows. */
static size_t index_of(const struct figure *f, size_t block)
{
	size_t index = 0;
	for (size_t i = 0; i < block; i++)
		index += f->blocks.items[i].count > 0;
	return index;
}

/* ---- layers and axes ---- */

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

void figure_axis_label(struct figure_axis *a, const char *label)
{
	xfree(a->label);
	a->label = xstrdup(label);
}

void figure_axis_time(struct figure_axis *a, const char *label, double most_ns)
{
	static const struct {
		double from_ns, unit_ns;
		const char *name;
	} units[] = { { 2 * 86400e9, 86400e9, "days" },
		      { 2 * 3600e9, 3600e9, "h" },
		      { 300e9, 60e9, "min" },
		      { 1e9, 1e9, "s" },
		      { 1e6, 1e6, "ms" },
		      { 1e3, 1e3, "µs" },
		      { 0, 1, "ns" } };
	char text[WORDS];
	size_t i = 0;
	while (most_ns < units[i].from_ns)
		i++;
	a->unit = units[i].unit_ns;
	snprintf(text, sizeof text, "%s (%s)", label, units[i].name);
	figure_axis_label(a, text);
}

void figure_axis_tic(struct figure_axis *a, double at, const char *label)
{
	array_push(&a->tics, (struct figure_tic){ at, label ? xstrdup(label) : NULL });
}

/* "10⁻³" */
static void power_text(int power, char out[WORDS])
{
	static const char *const digits[] = { "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹" };
	char plain[16];
	if (power >= 0 && power <= 2) {
		snprintf(out, WORDS, "%d", power == 0 ? 1 : power == 1 ? 10 : 100);
		return;
	}
	snprintf(plain, sizeof plain, "%d", power);
	size_t used = (size_t)snprintf(out, WORDS, "10");
	for (const char *c = plain; *c; c++)
		used += (size_t)snprintf(out + used, WORDS - used, "%s",
					 *c == '-' ? "⁻" : digits[*c - '0']);
}

void figure_axis_log(struct figure_axis *a, const char *label, double low, double high, bool time)
{
	int first = (int)floor(log10(low)), last = (int)ceil(log10(high));
	last = last > first ? last : first + 1;
	/* beyond, small tics are a grey bar and names run into each other */
	int step = 1 + (last - first) / 8;
	a->log = true;
	/* a tic at the very end would be left out by how it is rounded */
	a->low = pow(10, first) * 0.9999;
	a->high = pow(10, last) * 1.0001;
	for (int power = first; power <= last; power++) {
		char name[WORDS];
		if (time)
			text_duration(pow(10, power), 1, name, sizeof name);
		else
			power_text(power, name);
		figure_axis_tic(a, pow(10, power), (power - first) % step ? NULL : name);
		for (int i = 2; i < 10 && step == 1 && power < last; i++)
			figure_axis_tic(a, i * pow(10, power), NULL);
	}
	figure_axis_label(a, label);
}

#define ROW_CM 0.38
#define ROWS_AROUND_CM 1.6

void figure_axis_rows(struct figure *f, size_t count)
{
	f->y.low = (double)count - 0.4;
	f->y.high = -0.6;
	f->height_cm = ROWS_AROUND_CM + ROW_CM * (double)count;
	f->height_cm = f->height_cm < 3.5 ? 3.5 : f->height_cm;
}

/* ---- the script ---- */

/* In single quotes gnuplot knows neither escapes nor commands, and a quote is written twice; so is
 * the sign of a format where one is expected. */
static void put_quoted(struct strbuf *out, const char *text, size_t columns, bool format)
{
	char *shown = display_copy(text);
	struct strbuf fitted = { 0 };
	if (columns)
		put_middle(&fitted, shown, columns);
	else
		strbuf_puts(&fitted, shown);
	strbuf_putc(out, '\'');
	for (const char *c = strbuf_text(&fitted); *c; c++) {
		if (*c == '\'' || (format && *c == '%'))
			strbuf_putc(out, *c);
		strbuf_putc(out, *c);
	}
	strbuf_putc(out, '\'');
	strbuf_release(&fitted);
	xfree(shown);
}

void put_gnuplot(struct strbuf *out, const char *text, size_t columns)
{
	put_quoted(out, text, columns, false);
}

/* With the directory, else a name such as "<x" would be a command, and "-" no file. */
static void put_file(struct strbuf *out, const char *name)
{
	struct strbuf path = { 0 };
	strbuf_printf(&path, "./%s", name);
	put_gnuplot(out, strbuf_text(&path), 0);
	strbuf_release(&path);
}

const char *figure_extension(enum figure_format format)
{
	static const char *const names[FIGURE_FORMATS] = { "pdf", "svg", "png" };
	return names[format];
}

/* Text of 8 points and thin lines, whatever the unit of the terminal. */
static void put_terminal(const struct figure_look *look, double width, double height,
			 struct strbuf *out)
{
	double dots = PNG_DPI / CM_PER_INCH, px = SVG_DPI / CM_PER_INCH;
	strbuf_puts(out, "set terminal ");
	switch (look->format) {
	case FIGURE_SVG:
		strbuf_printf(out,
			      "svg noenhanced size %.0f,%.0f font 'sans-serif,%.1f' linewidth 0.75 "
			      "background 'white'",
			      width * px, height * px,
			      (double)FONT_POINTS * SVG_DPI / POINTS_PER_INCH);
		break;
	case FIGURE_PNG:
		strbuf_printf(out,
			      "pngcairo noenhanced color butt size %.0f,%.0f font "
			      "'sans-serif,%d' fontscale %.2f linewidth 2.5 pointscale 2.5",
			      width * dots, height * dots, FONT_POINTS,
			      (double)PNG_DPI / POINTS_PER_INCH * 0.75);
		break;
	default: /* its fonts are embedded by themselves */
		strbuf_printf(out,
			      "pdfcairo noenhanced color butt size %.2fcm,%.2fcm font "
			      "'sans-serif,%d' fontscale 0.75 linewidth 0.8 pointscale 0.4",
			      width, height, FONT_POINTS);
	}
	strbuf_putc(out, '\n');
}

static void put_pens(struct strbuf *out)
{
	/* colours that the colour-blind tell apart (Okabe and Ito), each with a dash and a point of
	 * its own for print without colour */
	static const struct {
		const char *colour, *dash;
		int point;
	} pens[] = { { "#0072b2", "1", 7 },	  { "#d55e00", "(12,5)", 2 },
		     { "#000000", "(4,4)", 4 },	  { "#009e73", "(14,4,3,4)", 8 },
		     { "#cc79a7", "(20,6)", 12 }, { "#e69f00", "(14,4,3,4,3,4)", 6 },
		     { "#56b4e9", "(7,4)", 10 },  { "#777777", "(2,3)", 1 } };
	for (size_t i = 0; i < sizeof pens / sizeof *pens; i++)
		strbuf_printf(out, "set linetype %zu lc rgb '%s' dt %s lw 1.5 pt %d ps 0.6\n",
			      i + 1, pens[i].colour, pens[i].dash, pens[i].point);
	strbuf_puts(out, "set linetype cycle 8\n");
}

const char *const figure_fills[FIGURE_FILLS] = {
	"boxxyerror fs solid 1 noborder lc rgb '#9ecae1'",
	"boxxyerror fs solid 1 noborder lc rgb '#b2182b'",
	"boxxyerror fs pattern 5 noborder lc rgb '#000000'",
	"boxxyerror fs solid 1 noborder lc rgb '#e08214'",
	"boxxyerror fs pattern 4 noborder lc rgb '#1b7837'",
	"boxxyerror fs solid 1 noborder lc rgb '#542788'",
	"boxxyerror fs pattern 2 noborder lc rgb '#b35806'",
	"boxxyerror fs solid 1 noborder lc rgb '#cccccc'",
};

static void put_bound(double bound, struct strbuf *out)
{
	if (isfinite(bound))
		strbuf_printf(out, "%.9g", bound);
	else
		strbuf_putc(out, '*');
}

static void put_axis(const struct figure_axis *a, char name, struct strbuf *out)
{
	if (a->label) {
		strbuf_printf(out, "set %clabel ", name);
		put_gnuplot(out, a->label, 0);
		strbuf_puts(out, name == 'x'	 ? " offset 0,0.3\n"
				 : a->tics.count ? "\n"
						 : " offset 1,0\n");
	}
	if (a->log)
		strbuf_printf(out, "set logscale %c\n", name);
	if (isfinite(a->low) || isfinite(a->high)) {
		strbuf_printf(out, "set %crange [", name);
		put_bound(a->low, out);
		strbuf_putc(out, ':');
		put_bound(a->high, out);
		strbuf_puts(out, "]\n");
	}
	if (!a->tics.count)
		return;
	strbuf_printf(out, "set %ctics %snomirror (", name,
		      a->sloping ? "rotate by 90 right " : "");
	for (size_t i = 0; i < a->tics.count; i++) {
		const struct figure_tic *t = &a->tics.items[i];
		strbuf_puts(out, i ? ", " : "");
		put_quoted(out, t->label ? t->label : "", LABEL_COLUMNS_MOST, true);
		strbuf_printf(out, " %.9g%s", t->at, t->label ? "" : " 1");
	}
	strbuf_puts(out, ")\n");
}

static void put_layers(const struct figure *f, struct strbuf *out)
{
	bool first = true;
	strbuf_puts(out, "plot ");
	for (size_t i = 0; i < f->layers.count; i++) {
		const struct figure_layer *l = &f->layers.items[i];
		if (!f->blocks.items[l->block].count)
			continue;
		strbuf_printf(out, "%sdata index %zu using %s with %s ", first ? "" : ", \\\n     ",
			      index_of(f, l->block), l->columns, l->style);
		if (l->title) {
			strbuf_puts(out, "title ");
			put_gnuplot(out, l->title, LABEL_COLUMNS_MOST);
		} else
			strbuf_puts(out, "notitle");
		first = false;
	}
	strbuf_putc(out, '\n');
}

void figure_script(const struct figure *f, const struct figure_look *look, struct strbuf *out)
{
	double width = look->width_cm > 0 ? look->width_cm : FIGURE_COLUMN_CM;
	double height = look->height_cm > 0 ? look->height_cm : f->height_cm;
	strbuf_puts(out, "# A figure by tare plot: gnuplot makes it anew from the data beside it.\n"
			 "reset\nset encoding utf8\n");
	put_terminal(look, width, height, out);
	strbuf_puts(out, "set output ");
	put_file(out, look->picture_name);
	strbuf_puts(out, "\ndata = ");
	put_file(out, look->data_name);
	strbuf_puts(out, "\nset datafile separator \"\\t\"\nset datafile missing 'NaN'\n");
	put_pens(out);
	strbuf_puts(out, "set border 3 lw 0.8\nset tics nomirror scale 0.6\n"
			 "set grid xtics ytics lt 1 lc rgb '#dddddd' dt 1 lw 0.5\n");
	if (f->key)
		strbuf_printf(out, "set key %s Left reverse samplen 1.5 spacing 0.95 noautotitle\n",
			      f->key);
	else
		strbuf_puts(out, "unset key\n");
	if (look->title) {
		strbuf_puts(out, "set title ");
		put_gnuplot(out, look->title, TITLE_COLUMNS_MOST);
		strbuf_putc(out, '\n');
	}
	strbuf_printf(out, "set rmargin %d\n", f->x.log ? 4 : 2); /* half of the last tic's name */
	if (f->square)
		strbuf_puts(out, "set size square\n");
	if (f->tic_points)
		strbuf_printf(out, "set tics font ',%d'\n", f->tic_points);
	put_axis(&f->x, 'x', out);
	put_axis(&f->y, 'y', out);
	strbuf_puts(out, strbuf_text(&f->extra));
	put_layers(f, out);
	strbuf_puts(out, "set output\n");
}
