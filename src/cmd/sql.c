#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "lab/lab.h"
#include "report/core/json.h"
#include "report/core/table.h"

struct sql_options {
	struct lab_access *lab;
	bool csv, tsv, json;
};

/* Rows on their way out: a table, or JSON, whose cells keep the type that SQL gave them. */
struct rows {
	bool json;
	struct table *table;
	json_t *array;
	size_t bytes; /* about how much memory they take */
};
#define ANSWER_BYTES (512u << 20)
#define CELL_BYTES 64 /* beside its text */

/* The name of a column within a row's object: a, and a_2 for another of that name. */
static char *json_name(const json_t *row, int columns, const char *const *names, int column)
{
	char *name = text_utf8(names[column]);
	if (!json_object_get(row, name))
		return name;
	struct strbuf other = { 0 };
	bool taken = true;
	for (int number = 2; taken; number++) {
		strbuf_release(&other);
		strbuf_printf(&other, "%s_%d", name, number);
		taken = json_object_get(row, strbuf_text(&other));
		for (int i = 0; !taken && i < columns; i++)
			taken = strcmp(names[i], strbuf_text(&other)) == 0;
	}
	free(name);
	return strbuf_detach(&other);
}

static json_t *json_cell(const char *text, enum lab_type type)
{
	double real = type == LAB_REAL ? strtod(text, NULL) : 0;
	if (type == LAB_NULL)
		return json_null();
	if (type == LAB_INTEGER)
		return json_integer(strtoll(text, NULL, 10));
	if (type == LAB_REAL && isfinite(real))
		return json_real(real);
	return json_text(text);
}

static bool add_row(void *context, int columns, const char *const *names, const char *const *values,
		    const enum lab_type *types)
{
	struct rows *rows = context;
	for (int i = 0; values && i < columns; i++)
		rows->bytes += CELL_BYTES + (values[i] ? strlen(values[i]) : 0);
	if (rows->bytes > ANSWER_BYTES)
		return false;
	if (rows->json) {
		json_t *row = json_object();
		for (int i = 0; values && i < columns; i++) {
			FREED char *name = json_name(row, columns, names, i);
			json_object_set_new(row, name, json_cell(values[i], types[i]));
		}
		if (values)
			json_array_append(rows->array, row);
		json_decref(row);
		return true;
	}
	/* texts as SQL has them, numbers to the right: rounding is for reports */
	if (!rows->table) {
		FREED struct column *made = xcalloc((size_t)columns, sizeof *made);
		for (int i = 0; i < columns; i++)
			made[i] = (struct column){ names[i], names[i], COLUMN_TEXT,
						   .right = types && (types[i] == LAB_INTEGER ||
								      types[i] == LAB_REAL) };
		rows->table = table_new(made, (size_t)columns);
	}
	for (int i = 0; values && i < columns; i++)
		table_add_text(rows->table, values[i]);
	return true;
}

/* Releases them. */
static void print_rows(struct rows *rows, const struct sql_options *o, bool failed)
{
	if (!failed && rows->json) {
		FREED char *text =
			json_dumps(rows->array, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
		puts(text);
	} else if (!failed) {
		cmd_print_table(rows->table, o->csv ? TABLE_CSV : o->tsv ? TABLE_TSV : TABLE_TEXT);
	}
	table_free(rows->table);
	json_decref(rows->array);
}

static int query(const struct sql_options *o, const char *statement, struct error *err)
{
	struct lab *lab = lab_access_open(o->lab, err);
	if (!lab)
		return -1;
	struct rows rows = { .json = o->json, .array = json_array() };
	int failed = lab_sql(lab, statement, add_row, &rows, err);
	if (!failed && rows.bytes > ANSWER_BYTES) {
		failed = error_set(err, EXIT_USAGE, "SQL: the answer is larger than 512 MiB");
		error_hint(err, "ask for less of it, with LIMIT, count() or sum()");
	}
	print_rows(&rows, o, failed);
	return failed;
}

static int query_from_stdin(const struct sql_options *o, struct error *err)
{
	SCOPED(strbuf_release) struct strbuf statement = { 0 };
	char part[4096];
	size_t n;
	int failed;
	while ((n = fread(part, 1, sizeof part, stdin)) > 0)
		strbuf_add(&statement, part, n);
	if (ferror(stdin))
		failed = error_set(err, EXIT_USAGE, "sql: cannot read standard input: %s",
				   strerror(errno));
	else if (strlen(strbuf_text(&statement)) != statement.length)
		failed = error_set(err, EXIT_USAGE,
				   "sql: the statement on standard input has a zero byte");
	else
		failed = query(o, strbuf_text(&statement), err);
	return failed;
}

/* ---- without a statement: what there is to ask ---- */

static void print_view(void *context, const char *view, const char *column, const char *meaning)
{
	struct paragraph p = { .width = (size_t)cmd_columns() };
	struct strbuf *out = context, first = { 0 };
	if (column)
		strbuf_printf(&first, "  %-22s", column);
	else
		strbuf_printf(&first, "%s: ", view);
	strbuf_puts(out, column ? "" : "\n");
	p.first = strbuf_text(&first);
	p.indent = column ? 24 : strlen(view) + 2;
	put_paragraph(out, &p, meaning);
	strbuf_release(&first);
}

static void add_view(void *context, const char *view, const char *column, const char *meaning)
{
	static const char *const names[] = { "view", "column", "meaning" };
	static const enum lab_type types[] = { LAB_TEXT, LAB_TEXT, LAB_TEXT };
	if (column)
		add_row(context, 3, names, (const char *const[]){ view, column, meaning }, types);
}

static int describe(const struct sql_options *o, struct error *err)
{
	if (o->json || o->csv || o->tsv) {
		struct rows rows = { .json = o->json, .array = json_array() };
		int failed = lab_views(add_view, &rows, err);
		print_rows(&rows, o, failed);
		return failed;
	}
	struct strbuf out = { 0 };
	strbuf_puts(&out,
		    "What 'tare sql \"SELECT ...\"' can ask (times in ns, NULL is not seen):\n");
	int failed = lab_views(print_view, &out, err);
	cmd_print(&out);
	return failed;
}

static int run(void *options, const struct cmd_args *args, struct error *err)
{
	const struct sql_options *o = options;
	const text_list *words = &args->operands;
	if (words->count > 1) {
		error_set(err, EXIT_USAGE, "sql: more than one STATEMENT");
		return error_hint(err, "put the statement in quotes");
	}
	if (o->csv + o->tsv + o->json > 1)
		return error_set(err, EXIT_USAGE,
				 "sql: --csv, --tsv and --json exclude each other");
	int failed = !words->count			 ? describe(o, err)
		     : strcmp(words->items[0], "-") == 0 ? query_from_stdin(o, err)
							 : query(o, words->items[0], err);
	return failed ? -1 : EXIT_DONE;
}

int cmd_sql(struct lab_access *lab, int argc, char **argv)
{
	struct sql_options o = { .lab = lab };
	struct option_spec specs[] = {
		{ 0, "csv", OPTION_FLAG, &o.csv, NULL, "as CSV" },
		{ 0, "tsv", OPTION_FLAG, &o.tsv, NULL, "as tab-separated values" },
		{ 0, "json", OPTION_FLAG, &o.json, NULL, "as JSON: an object for each row" },
		LAB_OPTION(lab, "the lab to read"),
		{ 0 }
	};
	return cmd_run(
		"tare sql [OPTIONS] [STATEMENT]",
		"Asks the lab in SQL (SQLite's); nothing is changed. '-' reads the statement from\n"
		"standard input. Without one, the views and their columns are listed.\n",
		specs, argc, argv, run, &o);
}
