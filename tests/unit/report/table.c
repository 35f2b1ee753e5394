#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <cmocka.h>

#include "base/text.h"
#include "csv.h"
#include "report/core/table.h"

static const struct column every[] = {
	{ "name", "Name", COLUMN_TEXT },      { "seen", "Seen", COLUMN_COUNT },
	{ "took", "Took", COLUMN_DURATION },  { "read_bytes", "Read", COLUMN_BYTES },
	{ "share", "Share", COLUMN_PERCENT }, { "faster", "Faster", COLUMN_RATIO },
	{ "slope", "Slope", COLUMN_REAL },    { "begun", "Begun", COLUMN_DATE },
};

static struct table *every_type(const char *text)
{
	struct table *t = table_new(every, 8);
	table_add_text(t, text);
	table_add_count(t, -42);
	table_add_number(t, 1234567);
	table_add_number(t, 1536);
	table_add_number(t, 0.0312);
	table_add_number(t, 1.5);
	table_add_number(t, 0.1);
	table_add_date(t, 1763197953123456789);
	for (size_t i = 0; i < 8; i++)
		table_add_absent(t);
	return t;
}

static void check(const struct table *t, enum table_format format, const char *expected)
{
	struct strbuf out = { 0 };
	table_render(t, format, NULL, &out);
	assert_string_equal(strbuf_text(&out), expected);
	strbuf_release(&out);
}

static void a_table_is_rendered_in_each_format(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	struct table *t = every_type("plain");
	assert_int_equal(table_rows(t), 2);
	check(t, TABLE_TEXT,
	      "Name   Seen      Took     Read  Share  Faster  Slope  Begun\n"
	      "plain   -42  1.235 ms  1.5 KiB  3.1 %    1.50    0.1  2025-11-15 09:12:33\n"
	      "-         -         -        -      -       -      -  -\n");
	check(t, TABLE_CSV,
	      "name,seen,took_ns,read_bytes,share_percent,faster,slope,begun\n"
	      "plain,-42,1234567,1536,3.12,1.5,0.1,2025-11-15T09:12:33.123Z\n"
	      ",,,,,,,\n");
	check(t, TABLE_TSV,
	      "name\tseen\ttook_ns\tread_bytes\tshare_percent\tfaster\tslope\tbegun\n"
	      "plain\t-42\t1234567\t1536\t3.12\t1.5\t0.1\t2025-11-15T09:12:33.123Z\n"
	      "\t\t\t\t\t\t\t\n");
	check(t, TABLE_MARKDOWN,
	      "| Name | Seen | Took | Read | Share | Faster | Slope | Begun |\n"
	      "|:---|---:|---:|---:|---:|---:|---:|:---|\n"
	      "| plain | -42 | 1.235 ms | 1.5 KiB | 3.1 % | 1.50 | 0.1 | 2025-11-15 09:12:33 |\n"
	      "| - | - | - | - | - | - | - | - |\n");
	check(t, TABLE_JSON,
	      "[\n  {\n    \"name\": \"plain\",\n    \"seen\": -42,\n    \"took_ns\": 1234567.0,\n"
	      "    \"read_bytes\": 1536.0,\n    \"share_percent\": 3.12,\n    \"faster\": 1.5,\n"
	      "    \"slope\": 0.1,\n    \"begun\": \"2025-11-15T09:12:33.123Z\"\n  },\n"
	      "  {\n    \"name\": null,\n    \"seen\": null,\n    \"took_ns\": null,\n"
	      "    \"read_bytes\": null,\n    \"share_percent\": null,\n    \"faster\": null,\n"
	      "    \"slope\": null,\n    \"begun\": null\n  }\n]\n");
	table_free(t);
}

static void texts_are_escaped_in_markup(void **state)
{
	(void)state;
	static const struct column columns[] = {
		{ "command", "Command", COLUMN_TEXT, .code = true },
		{ "mean", "Mean [ms]", COLUMN_TEXT, .right = true },
		{ "note", "Note", COLUMN_TEXT },
	};
	struct table *t = table_new(columns, 3);
	table_add_text(t, "a|b `c`\n");
	table_add_text(t, "1 ± 2");
	table_add_text(t, "*x*_y_|z\n<b>");
	table_add_absent(t);
	table_add_text(t, NULL);
	table_add_text(t, "`");
	check(t, TABLE_MARKDOWN,
	      "| Command | Mean [ms] | Note |\n|:---|---:|:---|\n"
	      "| ``a\\|b `c`\\n`` | 1 ± 2 | \\*x\\*\\_y\\_\\|z\\\\n\\<b\\> |\n"
	      "| - | - | \\` |\n");
	check(t, TABLE_ASCIIDOC,
	      "[cols=\"<,>,<\", options=\"header\"]\n|===\n| Command\n| Mean [ms]\n| Note\n\n"
	      "| `a\\|b `c`\\n`\n| 1 ± 2\n| *x*_y_\\|z\\n<b>\n\n| -\n| -\n| `\n|===\n");
	check(t, TABLE_ORGMODE,
	      "| Command | Mean [ms] | Note |\n|--+--+--|\n"
	      "| =a\\vert{}b `c`\\n= | 1 ± 2 | *x*_y_\\vert{}z\\n<b> |\n| - | - | ` |\n");
	table_free(t);
}

/* Bytes of every kind, in every format: valid UTF-8, and as many lines as rows where a line is a
 * row. */
static void odd_texts_stay_one_row_and_valid_utf_8(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"",
		"\"quoted\", twice\"",
		"two\nlines\r\n",
		"tab\there\\n",
		"a|b||c",
		"\xff\xfe\x80 cut \xe2\x82",
		"\x01\x1b[31m\x7f",
		" leading",
		"日本語 テキスト",
		"=cmd()",
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		for (enum table_format f = TABLE_TEXT; f <= TABLE_ORGMODE; f++) {
			struct table *t = every_type(texts[i]);
			struct strbuf out = { 0 };
			table_render(t, f, NULL, &out);
			size_t lines = 0;
			for (size_t at = 0, n; at < out.length; at += n) {
				n = utf8_length(out.text + at, out.length - at);
				assert_true(n > 0);
				lines += out.text[at] == '\n';
				if (f != TABLE_CSV && f != TABLE_TSV)
					assert_true(out.text[at] == '\n' ||
						    (unsigned char)out.text[at] >= 0x20);
			}
			if (f == TABLE_TEXT || f == TABLE_TSV)
				assert_int_equal(lines, 3);
			if (f == TABLE_MARKDOWN || f == TABLE_ORGMODE)
				assert_int_equal(lines, 4);
			strbuf_release(&out);
			table_free(t);
		}
}

static void texts_come_back_from_csv_and_json(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"\"quoted\", twice\"", "two\nlines\r\n", " x ", "a,b", "\x01\x1b[31m", "日本"
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct table *t = every_type(texts[i]);
		struct strbuf csv = { 0 }, json = { 0 };
		struct csv parsed;
		table_render(t, TABLE_CSV, NULL, &csv);
		csv_parse(strbuf_text(&csv), &parsed);
		assert_int_equal(parsed.rows, 3);
		assert_int_equal(parsed.columns, 8);
		assert_string_equal(csv_at(&parsed, 1, "name"), texts[i]);
		assert_string_equal(csv_at(&parsed, 1, "took_ns"), "1234567");
		assert_string_equal(csv_at(&parsed, 2, "name"), "");
		csv_release(&parsed);
		table_render(t, TABLE_JSON, NULL, &json);
		json_t *root = json_loads(strbuf_text(&json), 0, NULL);
		assert_non_null(root);
		json_t *row = json_array_get(root, 0);
		assert_string_equal(json_string_value(json_object_get(row, "name")), texts[i]);
		json_decref(root);
		strbuf_release(&csv);
		strbuf_release(&json);
		table_free(t);
	}
}

static void long_texts_are_cut_to_the_width_and_no_more(void **state)
{
	(void)state;
	struct strbuf long_text = { 0 };
	for (size_t i = 0; i < 100; i++)
		strbuf_puts(&long_text, i % 2 ? "語" : "a");
	for (size_t width = 72; width < 100; width++) {
		struct table *t = every_type(strbuf_text(&long_text));
		struct style style = { .width = width };
		struct strbuf out = { 0 };
		table_render(t, TABLE_TEXT, &style, &out);
		size_t widest = 0;
		for (char *save, *line = strtok_r(out.text, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save)) {
			size_t columns = text_width(line);
			widest = columns > widest ? columns : widest;
			if (strstr(line, "-42"))
				assert_non_null(strstr(line, "…"));
		}
		assert_true(widest <= width);
		assert_true(widest + 2 >= width); /* no more is cut than needed */
		strbuf_release(&out);
		table_free(t);
	}
	strbuf_release(&long_text);
}

/* What matters less goes before a name is cut to nothing; formats for machines have it all. */
static void columns_that_matter_less_go_first(void **state)
{
	(void)state;
	static const struct column columns[] = {
		{ "run", "Run", COLUMN_COUNT },
		{ "name", "Name", COLUMN_TEXT },
		{ "seen", "Seen", COLUMN_COUNT, .spare = 2 },
		{ "note", "Note", COLUMN_TEXT, .spare = 1 },
	};
	struct table *t = table_new(columns, 4);
	table_add_count(t, 1);
	table_add_text(t, "twenty-columns-wide");
	table_add_count(t, 2);
	table_add_text(t, "of-ten-col");
	static const struct {
		size_t width;
		const char *text;
	} cases[] = {
		{ 0, "Run  Name                 Seen  Note\n"
		     "  1  twenty-columns-wide     2  of-ten-col\n" },
		{ 39, "Run  Name              Seen  Note\n"
		      "  1  twenty-columns-…     2  of-ten-col\n" },
		{ 38, "Run  Name                 Note\n"
		      "  1  twenty-columns-wide  of-ten-col\n" },
		{ 32, "Run  Name\n"
		      "  1  twenty-columns-wide\n" },
		{ 15, "Run  Name\n"
		      "  1  twenty-co…\n" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct strbuf out = { 0 };
		table_render(t, TABLE_TEXT, &(struct style){ .width = cases[i].width }, &out);
		assert_string_equal(strbuf_text(&out), cases[i].text);
		strbuf_clear(&out);
		table_render(t, TABLE_CSV, &(struct style){ .width = cases[i].width }, &out);
		assert_string_equal(strbuf_text(&out), "run,name,seen,note\n"
						       "1,twenty-columns-wide,2,of-ten-col\n");
		strbuf_release(&out);
	}
	table_free(t);
}

static void an_empty_table_has_a_header_and_half_a_row_is_none(void **state)
{
	(void)state;
	struct table *t = table_new(every, 2);
	struct style style = { .colour = true };
	struct strbuf out = { 0 };
	check(t, TABLE_JSON, "[]\n");
	check(t, TABLE_CSV, "name,seen\n");
	table_add_text(t, "half a row is no row");
	check(t, TABLE_CSV, "name,seen\n");
	table_render(t, TABLE_TEXT, &style, &out);
	assert_string_equal(strbuf_text(&out), "\033[1mName  Seen\033[0m\n");
	strbuf_release(&out);
	table_free(t);
	table_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_is_rendered_in_each_format),
		cmocka_unit_test(texts_are_escaped_in_markup),
		cmocka_unit_test(odd_texts_stay_one_row_and_valid_utf_8),
		cmocka_unit_test(texts_come_back_from_csv_and_json),
		cmocka_unit_test(long_texts_are_cut_to_the_width_and_no_more),
		cmocka_unit_test(columns_that_matter_less_go_first),
		cmocka_unit_test(an_empty_table_has_a_header_and_half_a_row_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
