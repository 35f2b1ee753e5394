#include "report/chart/chart.h"

#include <stdio.h>

#define DEFAULT_HEIGHT_CM 6

struct chart *chart_new(void)
{
	struct chart *c = xcalloc(1, sizeof *c);
	c->x = c->y =
		(struct chart_axis){ .unit = 1, .low = NAN, .high = NAN, .from = NAN, .to = NAN };
	c->height_cm = DEFAULT_HEIGHT_CM;
	return c;
}

static void release_axis(struct chart_axis *a)
{
	chart_ticks_release(&a->ticks);
	xfree(a->name);
	xfree(a->label);
}

void chart_free(struct chart *c)
{
	if (!c)
		return;
	release_axis(&c->x);
	release_axis(&c->y);
	for (size_t i = 0; i < c->blocks.count; i++) {
		struct chart_block *b = &c->blocks.items[i];
		for (size_t k = 0; k < b->names.count; k++)
			xfree(b->names.items[k]);
		xfree(b->title);
		xfree(b->columns);
		array_release(&b->values);
		array_release(&b->names);
	}
	for (size_t i = 0; i < c->series.count; i++)
		xfree(c->series.items[i].title);
	array_release(&c->blocks);
	array_release(&c->series);
	strbuf_release(&c->head);
	strbuf_release(&c->note);
	xfree(c);
}

const char *chart_note(const struct chart *c)
{
	return c->note.length ? strbuf_text(&c->note) : NULL;
}

int chart_empty(struct error *err, const char *what)
{
	return error_set(err, EXIT_USAGE, "there is nothing to plot: %s", what);
}

int chart_by_value(const void *a, const void *b)
{
	double p = *(const double *)a, q = *(const double *)b;
	return p < q ? -1 : p > q;
}

/* ---- data ---- */

void chart_say(struct chart *c, const char *label, const char *text)
{
	FREED char *shown = display_copy(text);
	strbuf_printf(&c->head, "# %s: %s\n", label, shown);
}

void chart_say_machine(struct chart *c, const struct machine *machine)
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
	chart_say(c, "machine", strbuf_text(&all));
	strbuf_release(&all);
}

void chart_say_run(struct chart *c, const char *kind, const struct run *run,
		   const struct machine *machine)
{
	char words[WORDS];
	if (kind)
		chart_say(c, "figure", kind);
	snprintf(words, sizeof words, "%lld", (long long)run->id);
	chart_say(c, "run", words);
	if (run->name)
		chart_say(c, "name", run->name);
	if (run->command)
		chart_say(c, "command", run->command);
	format_iso8601(run->started_at_ns, words);
	chart_say(c, "measured", words);
	chart_say_machine(c, machine);
	if (run->version)
		chart_say(c, "tare", run->version);
}

size_t chart_block(struct chart *c, const char *columns, const char *title)
{
	array_push(&c->blocks, (struct chart_block){ .title = display_copy(title),
						     .columns = xstrdup(columns) });
	return c->blocks.count - 1;
}

void chart_row(struct chart *c, size_t block, const double *values, size_t count, const char *name)
{
	struct chart_block *b = &c->blocks.items[block];
	array_reserve(&b->values, count);
	for (size_t i = 0; i < count; i++)
		b->values.items[b->values.count++] = values[i];
	if (name)
		array_push(&b->names, xstrdup(name));
	b->width = count;
	b->count++;
}

size_t chart_rows(const struct chart *c)
{
	size_t rows = 0;
	for (size_t i = 0; i < c->blocks.count; i++)
		rows += c->blocks.items[i].count;
	return rows;
}

struct chart_series *chart_add(struct chart *c, size_t block, enum chart_shape shape, unsigned role,
			       const char *title, unsigned x, unsigned y)
{
	array_push(&c->series, (struct chart_series){ .block = block,
						      .shape = shape,
						      .role = role,
						      .title = title ? xstrdup(title) : NULL,
						      .x = x,
						      .y = y });
	return &c->series.items[c->series.count - 1];
}

bool chart_has(const struct chart *c, const struct chart_series *s, size_t row)
{
	return (!s->where || chart_at(c, s->block, row, s->where) > 0) &&
	       (!s->unless || !(chart_at(c, s->block, row, s->unless) > 0));
}
