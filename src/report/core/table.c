#include "report/core/table.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/core/format.h"
#include "report/core/table_private.h"

#define READABLE 16 /* columns of a text that still tell what it is */

struct table *table_new(const struct column *columns, size_t count)
{
	struct table *t = xcalloc(1, sizeof *t);
	t->columns = xcalloc(count, sizeof *columns);
	t->strings = xcalloc(2 * count, sizeof *t->strings);
	t->width = count;
	for (size_t i = 0; i < count; i++) {
		t->columns[i] = columns[i];
		t->columns[i].name = t->strings[2 * i] = text_utf8(columns[i].name);
		t->columns[i].title = t->strings[2 * i + 1] = text_utf8(columns[i].title);
	}
	return t;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < 2 * t->width; i++)
		xfree(t->strings[i]);
	xfree(t->strings);
	for (size_t i = 0; i < t->cells.count; i++)
		xfree(t->cells.items[i].text);
	array_release(&t->cells);
	xfree(t->columns);
	xfree(t);
}

static enum column_type next_type(const struct table *t)
{
	return t->columns[t->cells.count % t->width].type;
}

void table_add_text(struct table *t, const char *text)
{
	assert(next_type(t) == COLUMN_TEXT);
	array_push(&t->cells,
		   (struct cell){ .present = text, .text = text ? text_utf8(text) : NULL });
}

void table_add_count(struct table *t, int64_t count)
{
	assert(next_type(t) == COLUMN_COUNT);
	array_push(&t->cells, (struct cell){ .present = true, .integer = count });
}

void table_add_number(struct table *t, double value)
{
	assert(next_type(t) >= COLUMN_DURATION && next_type(t) <= COLUMN_REAL);
	array_push(&t->cells, (struct cell){ .present = isfinite(value), .number = value });
}

void table_add_date(struct table *t, int64_t realtime_ns)
{
	assert(next_type(t) == COLUMN_DATE);
	array_push(&t->cells, (struct cell){ .present = true, .integer = realtime_ns });
}

void table_add_absent(struct table *t)
{
	array_push(&t->cells, (struct cell){ .present = false });
}

void columns_add(struct columns *c, enum column_type type, const char *prefix, const char *name)
{
	struct strbuf sb = { 0 };
	strbuf_printf(&sb, "%s%s", prefix, name);
	array_push(&c->list, (struct column){ .name = sb.text, .title = sb.text, .type = type });
}

static enum column_type field_column(const struct field *f)
{
	switch (f->kind) {
	case FIELD_ENUM:
	case FIELD_TEXT:
	case FIELD_RAW:
	case FIELD_NAME:
	case FIELD_HASH:
		return COLUMN_TEXT;
	case FIELD_DATE:
		return COLUMN_DATE;
	case FIELD_REAL:
		return f->unit == UNIT_NS      ? COLUMN_DURATION
		       : f->unit == UNIT_SHARE ? COLUMN_PERCENT
					       : COLUMN_REAL;
	default:
		return f->kind == FIELD_NS || f->unit == UNIT_NS ? COLUMN_DURATION
		       : f->unit == UNIT_BYTES			 ? COLUMN_BYTES
								 : COLUMN_COUNT;
	}
}

void columns_add_fields(struct columns *c, const struct field *fields)
{
	struct field_cursor cursor = { .fields = fields };
	while (field_next(&cursor))
		if (!(cursor.leaf.flags & FIELD_NOT_CSV)) {
			/* the column adds the unit to its name itself */
			const char *name = cursor.leaf.csv, *unit = strstr(name, "_ns");
			char *plain = xstrndup(name, unit && !unit[3] ? (size_t)(unit - name)
								      : strlen(name));
			columns_add(c, field_column(&cursor.leaf), "", plain);
			xfree(plain);
		}
}

struct table *table_of(struct columns *c)
{
	struct table *t = table_new(c->list.items, c->list.count);
	for (size_t i = 0; i < c->list.count; i++)
		xfree((char *)c->list.items[i].name);
	array_release(&c->list);
	return t;
}

void table_add_fields(struct table *t, const struct field *fields, const void *object)
{
	struct field_cursor c = { .fields = fields };
	while (field_next(&c)) {
		if (c.leaf.flags & FIELD_NOT_CSV)
			continue;
		struct value v = field_value(&c, object);
		enum column_type type = next_type(t);
		char hash[17];
		if (v.type == IS_ABSENT) {
			table_add_absent(t);
		} else if (c.leaf.kind == FIELD_HASH) {
			snprintf(hash, sizeof hash, "%016llx", (unsigned long long)v.integer);
			table_add_text(t, hash);
		} else if (type == COLUMN_TEXT) {
			table_add_text(t, v.text);
		} else if (type == COLUMN_COUNT) {
			table_add_count(t, v.integer);
		} else if (type == COLUMN_DATE) {
			table_add_date(t, v.integer);
		} else {
			table_add_number(t, v.type == IS_REAL ? v.real : (double)v.integer);
		}
	}
}

size_t table_rows(const struct table *t)
{
	return t->width ? t->cells.count / t->width : 0;
}

const struct cell *table_cell(const struct table *t, size_t row, size_t column)
{
	return &t->cells.items[row * t->width + column];
}

char *table_key(const struct column *c)
{
	static const char *const suffixes[] = { [COLUMN_DURATION] = "_ns",
						[COLUMN_BYTES] = "_bytes",
						[COLUMN_PERCENT] = "_percent",
						[COLUMN_DATE] = NULL };
	const char *suffix = suffixes[c->type] ? suffixes[c->type] : "";
	size_t name = strlen(c->name), extra = strlen(suffix);
	if (name >= extra && !strcmp(c->name + name - extra, suffix))
		suffix = "";
	struct strbuf sb = { 0 };
	strbuf_printf(&sb, "%s%s", c->name, suffix);
	return strbuf_detach(&sb);
}

bool table_right(const struct column *c)
{
	return c->right || (c->type != COLUMN_TEXT && c->type != COLUMN_DATE);
}

char *table_display(const struct table *t, size_t row, size_t column)
{
	const struct cell *cell = table_cell(t, row, column);
	const struct column *spec = &t->columns[column];
	char out[WORDS] = "-";
	if (cell->present)
		switch (spec->type) {
		case COLUMN_TEXT:
			return display_copy(cell->text);
		case COLUMN_COUNT:
			snprintf(out, sizeof out, "%lld", (long long)cell->integer);
			break;
		case COLUMN_DURATION:
			if (spec->unit != TIME_UNIT_AUTO)
				format_short(cell->number, (enum time_unit)spec->unit, out);
			else
				text_duration(cell->number, spec->digits ? spec->digits : 4, out,
					      sizeof out);
			break;
		case COLUMN_BYTES:
			text_bytes(cell->number, out, sizeof out);
			break;
		case COLUMN_PERCENT:
			format_percent(cell->number, out);
			break;
		case COLUMN_RATIO:
			snprintf(out, sizeof out, "%.2f", cell->number);
			break;
		case COLUMN_REAL:
			snprintf(out, sizeof out, "%.4g", cell->number);
			break;
		case COLUMN_DATE:
			text_date(cell->integer, out, sizeof out);
			break;
		}
	return xstrdup(out);
}

static bool is_left_out(const size_t *widths, size_t column)
{
	return !widths[column];
}

/* What the columns need at least to be read, with the space between them. */
static size_t readable_width(const struct table *t, const size_t *widths)
{
	size_t total = 0;
	for (size_t c = 0; c < t->width; c++)
		if (!is_left_out(widths, c))
			total += 2 + (t->columns[c].type == COLUMN_TEXT && widths[c] > READABLE
					      ? READABLE
					      : widths[c]);
	return total ? total - 2 : 0;
}

static void leave_out(const struct table *t, size_t width, size_t *widths)
{
	while (width && readable_width(t, widths) > width) {
		size_t least = t->width;
		for (size_t c = 0; c < t->width; c++)
			if (!is_left_out(widths, c) && t->columns[c].spare &&
			    (least == t->width || t->columns[c].spare > t->columns[least].spare))
				least = c;
		if (least == t->width)
			return;
		widths[least] = 0;
	}
}

/* The widths that fit: the widest text column gives way, one column at a time, down to 4. */
static void fit_widths(const struct table *t, size_t width, size_t *widths)
{
	for (;;) {
		size_t total = 0, widest = t->width;
		for (size_t c = 0; c < t->width; c++) {
			total += is_left_out(widths, c) ? 0 : widths[c] + 2;
			if (t->columns[c].type == COLUMN_TEXT && widths[c] > 4 &&
			    (widest == t->width || widths[c] > widths[widest]))
				widest = c;
		}
		if (!width || total <= width + 2 || widest == t->width)
			return;
		widths[widest]--;
	}
}

static void put_row(const struct table *t, char *const *row, const size_t *widths,
		    struct strbuf *out)
{
	for (size_t c = 0; c < t->width; c++) {
		struct strbuf cell = { 0 };
		if (is_left_out(widths, c))
			continue;
		put_fitted(&cell, row[c], widths[c]);
		size_t gap = widths[c] - text_width(strbuf_text(&cell));
		bool last = c + 1 == t->width;
		if (table_right(&t->columns[c]))
			strbuf_pad(out, ' ', gap);
		strbuf_puts(out, strbuf_text(&cell));
		if (!last)
			strbuf_pad(out, ' ', 2 + (table_right(&t->columns[c]) ? 0 : gap));
		strbuf_release(&cell);
	}
	while (out->length && out->text[out->length - 1] == ' ')
		out->text[--out->length] = '\0';
}

void table_render_text(const struct table *t, const struct table_style *style, struct strbuf *out)
{
	size_t rows = table_rows(t);
	size_t *widths = xcalloc(t->width, sizeof *widths);
	char **text = xcalloc((rows + 1) * t->width, sizeof *text);
	for (size_t r = 0; r <= rows; r++)
		for (size_t c = 0; c < t->width; c++) {
			char **cell = &text[r * t->width + c];
			*cell = r ? table_display(t, r - 1, c) : display_copy(t->columns[c].title);
			size_t width = text_width(*cell);
			widths[c] = width > widths[c] ? width : widths[c];
		}
	leave_out(t, style ? style->width : 0, widths);
	fit_widths(t, style ? style->width : 0, widths);
	for (size_t r = 0; r <= rows; r++) {
		bool bold = !r && style && style->colour;
		if (bold)
			strbuf_puts(out, BOLD);
		put_row(t, text + r * t->width, widths, out);
		strbuf_puts(out, bold ? RESET "\n" : "\n");
	}
	for (size_t i = 0; i < (rows + 1) * t->width; i++)
		xfree(text[i]);
	xfree(text);
	xfree(widths);
}

void table_render(const struct table *t, enum table_format format, const struct table_style *style,
		  struct strbuf *out)
{
	switch (format) {
	case TABLE_TEXT:
		table_render_text(t, style, out);
		break;
	case TABLE_JSON:
		table_render_json(t, out);
		break;
	case TABLE_CSV:
		table_render_csv(t, out);
		break;
	case TABLE_TSV:
		table_render_tsv(t, out);
		break;
	case TABLE_MARKDOWN:
		table_render_markdown(t, out);
		break;
	case TABLE_ASCIIDOC:
		table_render_asciidoc(t, out);
		break;
	case TABLE_ORGMODE:
		table_render_orgmode(t, out);
		break;
	}
}
