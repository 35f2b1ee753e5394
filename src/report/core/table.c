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
	for (size_t i = 0; i < t->cells.count; i++) {
		xfree(t->cells.items[i].text);
		xfree(t->cells.items[i].shorter);
	}
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

void table_add_scaled(struct table *t, double value, const struct scale *scale)
{
	table_add_number(t, value);
	t->cells.items[t->cells.count - 1].scale = *scale;
}

void table_add_shown(struct table *t, double value, const char *shown)
{
	bool present = isfinite(value);
	array_push(&t->cells, (struct cell){ .present = present,
					     .text = text_utf8(shown),
					     .integer = present ? (int64_t)value : 0,
					     .number = value });
}

void table_add_either(struct table *t, const char *text, const char *shorter)
{
	table_add_text(t, text);
	t->cells.items[t->cells.count - 1].shorter = display_copy(shorter);
}

void table_paint(struct table *t, const char *colour)
{
	t->cells.items[t->cells.count - 1].colour = colour;
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
	case FIELD_ADDRESS:
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
			struct column *column = &c->list.items[c->list.count - 1];
			column->code = cursor.leaf.flags & FIELD_CODE;
			if (cursor.leaf.title && cursor.leaf.kind != FIELD_MEASURES)
				column->title = cursor.leaf.title;
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
	struct field_cursor c = { .fields = fields, .without = FIELD_NOT_CSV, .unnamed = true };
	while (field_next(&c)) {
		struct value v = field_value(&c, object);
		enum column_type type = next_type(t);
		char digits[20];
		if (v.type == IS_ABSENT) {
			table_add_absent(t);
		} else if (c.leaf.kind == FIELD_HASH) {
			snprintf(digits, sizeof digits, "%016llx", (unsigned long long)v.integer);
			table_add_text(t, digits);
		} else if (c.leaf.kind == FIELD_ADDRESS) {
			snprintf(digits, sizeof digits, "0x%llx", (unsigned long long)v.integer);
			table_add_text(t, digits);
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

/* A figure and, where there is one, its spread: "1.20", "1.20 ± 0.03". */
static void put_figure(double value, double spread, int decimals, const char *between,
		       char out[WORDS])
{
	int length = snprintf(out, WORDS, "%.*f", decimals, value);
	if (isfinite(spread))
		snprintf(out + length, WORDS - (size_t)length, " %s %.*f", between, decimals,
			 spread);
}

static void put_number(const struct column *c, const struct cell *cell, const char *between,
		       char out[WORDS])
{
	double value = c->sign ? fabs(cell->number) : cell->number;
	int decimals = cell->scale.ns > 0 ? cell->scale.decimals : c->decimals - 1;
	struct scale scale = cell->scale;
	switch (c->type) {
	case COLUMN_DURATION:
		if (scale.ns <= 0 && c->decimals) {
			scale = scale_for(value, c->unit);
			scale.decimals = decimals;
		}
		if (scale.ns <= 0) {
			format_duration(value, c->digits ? c->digits : 4, c->unit, out);
			break;
		}
		put_figure(value / scale.ns, cell->spread / scale.ns, scale.decimals, between, out);
		if (!c->bare) {
			size_t length = strlen(out);
			snprintf(out + length, WORDS - length, " %s", scale.unit);
		}
		break;
	case COLUMN_BYTES:
		text_bytes(value, out, WORDS);
		break;
	case COLUMN_PERCENT:
		if (decimals < 0)
			format_percent(value, out);
		else if (c->bare)
			format_points(value, decimals, out);
		else
			format_share(value, decimals, out);
		break;
	case COLUMN_RATIO:
		put_figure(value, cell->spread, decimals < 0 ? 2 : decimals, between, out);
		break;
	default:
		if (decimals < 0)
			snprintf(out, WORDS, "%.*g", c->digits ? c->digits : 4, value);
		else
			put_figure(value, cell->spread, decimals, between, out);
	}
	if (c->sign && *out != '<' && value > 0) {
		char figure[WORDS - 1];
		snprintf(figure, sizeof figure, "%s", out);
		snprintf(out, WORDS, "%c%s", cell->number > 0 ? '+' : '-', figure);
	}
}

char *table_display(const struct table *t, size_t row, size_t column, const struct style *style)
{
	const struct cell *cell = table_cell(t, row, column);
	const struct column *spec = &t->columns[column];
	char out[WORDS] = "-";
	if (cell->text)
		return display_copy(cell->text);
	if (!cell->present)
		return xstrdup(out);
	if (spec->type == COLUMN_DATE)
		text_date(cell->integer, out, sizeof out);
	else if (spec->type != COLUMN_COUNT)
		put_number(spec, cell, style && style->ascii ? "+-" : "±", out);
	else if (spec->thousands)
		format_count((uint64_t)cell->integer, out);
	else
		snprintf(out, sizeof out, spec->sign ? "%+lld" : "%lld", (long long)cell->integer);
	return xstrdup(out);
}

static bool is_empty(const struct table *t, size_t column)
{
	for (size_t r = 0; r < table_rows(t); r++) {
		const struct cell *cell = table_cell(t, r, column);
		if (cell->text ? *cell->text : cell->present)
			return false;
	}
	return true;
}

/* All of the column with the same decimals, so that its figures can be compared by eye. */
static int common_decimals(const struct table *t, size_t column)
{
	double unit = t->columns[column].unit ? scale_for(0, t->columns[column].unit).ns : 1;
	double largest = 0;
	for (size_t r = 0; r < table_rows(t); r++)
		if (table_cell(t, r, column)->present)
			largest = fmax(largest, fabs(table_cell(t, r, column)->number) / unit);
	return largest < 1e4 ? 2 : largest < 1e6 ? 1 : 0;
}

/* The columns that these readers see, of the same cells. */
static struct table chosen(const struct table *t, enum audience readers, const struct style *style)
{
	struct table out = { .columns = xcalloc(t->width + 1, sizeof *out.columns) };
	size_t *places = xcalloc(t->width + 1, sizeof *places);
	for (size_t c = 0; c < t->width; c++) {
		const struct column *column = &t->columns[c];
		bool people = readers == FOR_PEOPLE;
		if ((column->only && column->only != readers) ||
		    (people && column->if_any && is_empty(t, c)) ||
		    (people && style && style->width && style->width < column->from) ||
		    (people && c && t->columns[c - 1].spread))
			continue;
		places[out.width] = c;
		out.columns[out.width] = *column;
		if (column->common)
			out.columns[out.width].decimals = DECIMALS(common_decimals(t, c));
		if (style && style->ascii && column->ascii)
			out.columns[out.width].title = column->ascii;
		out.width++;
	}
	for (size_t r = 0; r < table_rows(t); r++)
		for (size_t c = 0; c < out.width; c++) {
			struct cell cell = *table_cell(t, r, places[c]);
			cell.spread = NAN;
			if (out.columns[c].spread && table_cell(t, r, places[c] + 1)->present)
				cell.spread = table_cell(t, r, places[c] + 1)->number;
			array_push(&out.cells, cell);
		}
	xfree(places);
	return out;
}

static bool is_left_out(const size_t *widths, size_t column)
{
	return !widths[column];
}

static size_t least_width(const struct column *c)
{
	return c->least ? c->least : READABLE;
}

/* What the columns need at least to be read, with the space between them, while columns of this
 * spare can still be left out. */
static size_t readable_width(const struct table *t, const size_t *widths, int spare)
{
	size_t total = 0;
	for (size_t c = 0; c < t->width; c++) {
		const struct column *column = &t->columns[c];
		bool cut = column->type == COLUMN_TEXT && widths[c] > least_width(column) &&
			   !(column->whole && spare >= column->whole);
		if (!is_left_out(widths, c))
			total += 2 + (cut ? least_width(column) : widths[c]);
	}
	return total ? total - 2 : 0;
}

static void leave_out(const struct table *t, size_t width, size_t *widths)
{
	while (width) {
		size_t least = t->width;
		for (size_t c = 0; c < t->width; c++)
			if (!is_left_out(widths, c) && t->columns[c].spare &&
			    (least == t->width || t->columns[c].spare > t->columns[least].spare))
				least = c;
		if (least == t->width ||
		    readable_width(t, widths, t->columns[least].spare) <= width)
			return;
		widths[least] = 0;
	}
}

/* The widths that fit: the widest text column gives way, one column at a time, down to 4 or what
 * it asks for. */
static void fit_widths(const struct table *t, size_t width, size_t *widths)
{
	for (;;) {
		size_t total = 0, widest = t->width;
		for (size_t c = 0; c < t->width; c++) {
			const struct column *column = &t->columns[c];
			total += is_left_out(widths, c) ? 0 : widths[c] + 2;
			if (column->type == COLUMN_TEXT &&
			    widths[c] > (column->least ? column->least : 4) &&
			    (widest == t->width || widths[c] > widths[widest]))
				widest = c;
		}
		if (!width || total <= width + 2 || widest == t->width)
			return;
		widths[widest]--;
	}
}

/* cells: what it is made of; NULL: titles. */
static void put_row(const struct table *t, char *const *row, const struct cell *cells,
		    const size_t *widths, bool colours, struct strbuf *out)
{
	for (size_t c = 0; c < t->width; c++) {
		struct strbuf cell = { 0 };
		if (is_left_out(widths, c))
			continue;
		const char *shown = row[c], *colour = cells && colours ? cells[c].colour : NULL;
		if (cells && cells[c].shorter && text_width(shown) > widths[c])
			shown = cells[c].shorter;
		(t->columns[c].middle ? put_middle : put_fitted)(&cell, shown, widths[c]);
		size_t gap = widths[c] - text_width(strbuf_text(&cell));
		bool last = c + 1 == t->width;
		if (table_right(&t->columns[c]))
			strbuf_pad(out, ' ', gap);
		put_coloured(out, colour && cell.length, colour ? colour : "", strbuf_text(&cell));
		if (!last)
			strbuf_pad(out, ' ', 2 + (table_right(&t->columns[c]) ? 0 : gap));
		strbuf_release(&cell);
	}
	while (out->length && out->text[out->length - 1] == ' ')
		out->text[--out->length] = '\0';
}

void table_render_text(const struct table *t, const struct style *style, struct strbuf *out)
{
	size_t rows = table_rows(t);
	size_t *widths = xcalloc(t->width, sizeof *widths);
	char **text = xcalloc((rows + 1) * t->width, sizeof *text);
	for (size_t r = 0; r <= rows; r++)
		for (size_t c = 0; c < t->width; c++) {
			char **cell = &text[r * t->width + c];
			*cell = r ? table_display(t, r - 1, c, style)
				  : display_copy(t->columns[c].title);
			size_t width = text_width(*cell);
			widths[c] = width > widths[c] ? width : widths[c];
		}
	for (size_t c = 0; c < t->width && style && style->width; c++)
		if (t->columns[c].most && widths[c] > t->columns[c].most)
			widths[c] = t->columns[c].most;
	leave_out(t, style ? style->width : 0, widths);
	fit_widths(t, style ? style->width : 0, widths);
	for (size_t r = 0; r <= rows; r++) {
		bool bold = !r && style && style->colour;
		if (bold)
			strbuf_puts(out, BOLD);
		put_row(t, text + r * t->width, r ? table_cell(t, r - 1, 0) : NULL, widths,
			style && style->colour, out);
		strbuf_puts(out, bold ? RESET "\n" : "\n");
	}
	for (size_t i = 0; i < (rows + 1) * t->width; i++)
		xfree(text[i]);
	xfree(text);
	xfree(widths);
}

void table_render(const struct table *t, enum table_format format, const struct style *style,
		  struct strbuf *out)
{
	static const struct {
		enum audience readers;
		void (*render)(const struct table *t, struct strbuf *out);
	} renderers[] = {
		[TABLE_TEXT] = { FOR_PEOPLE, NULL },
		[TABLE_JSON] = { FOR_DATA, table_render_json },
		[TABLE_CSV] = { FOR_DATA, table_render_csv },
		[TABLE_TSV] = { FOR_DATA, table_render_tsv },
		[TABLE_MARKDOWN] = { FOR_PEOPLE, table_render_markdown },
		[TABLE_ASCIIDOC] = { FOR_PEOPLE, table_render_asciidoc },
		[TABLE_ORGMODE] = { FOR_PEOPLE, table_render_orgmode },
	};
	struct table seen =
		chosen(t, renderers[format].readers, format == TABLE_TEXT ? style : NULL);
	if (format == TABLE_TEXT)
		table_render_text(&seen, style, out);
	else
		renderers[format].render(&seen, out);
	array_release(&seen.cells);
	xfree(seen.columns);
}

void table_put(struct table *t, const struct style *style, struct strbuf *out)
{
	table_render(t, TABLE_TEXT, style, out);
	table_free(t);
}
