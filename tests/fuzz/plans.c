/* Plans as servers tell them, addresses of databases, and statements: the first byte chooses what
 * the rest is. What is understood as a plan has a text that is JSON, is the same the second time,
 * and can be shown. */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "report/query/rows.h"
#include "subject/dbms/driver.h"
#include "subject/dbms/mariadb/plan.h"
#include "subject/dbms/mariadb/url.h"
#include "subject/dbms/plan.h"
#include "subject/dbms/sqlite/alias.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Lines: a byte is the id, one the parent, the rest the detail. */
static int of_rows(char *text, struct query_plan *into, struct error *err)
{
	struct sqlite_plan_row rows[32];
	size_t count = 0;
	char *save = NULL;
	for (char *line = strtok_r(text, "\n", &save); line && count < 32;
	     line = strtok_r(NULL, "\n", &save))
		if (strlen(line) >= 2)
			rows[count++] =
				(struct sqlite_plan_row){ line[0] & 31, line[1] & 31, line + 2 };
	return plan_of_sqlite(rows, count, into, err);
}

static int read_plan(uint8_t which, const char *given, struct query_plan *into, struct error *err)
{
	FREED char *text = xstrdup(given);
	switch (which) {
	case 0:
		return plan_of_postgresql(text, into, err);
	case 1:
		return plan_of_mariadb(text, into, err);
	case 2: {
		char *written = strchr(text, '\n');
		if (written)
			*written++ = '\0';
		return plan_of_mariadb_written(text, written, into, err);
	}
	case 3:
		return of_rows(text, into, err);
	case 4:
		plan_drop_numbers(text);
		return plan_of_text(text, into, err);
	default:
		return plan_of_text(text, into, err);
	}
}

static void check_plan(uint8_t which, const char *text)
{
	struct query_plan one = { 0 }, two = { 0 };
	struct error err = ERROR_INIT;
	SCOPED(strbuf_release) struct strbuf shown = { 0 };
	if (read_plan(which, text, &one, &err)) {
		if (!*err.text)
			abort();
		return;
	}
	json_t *all = json_loads(one.json, 0, NULL);
	if (!all || read_plan(which, text, &two, &err) || strcmp(one.json, two.json) != 0 ||
	    one.hash != two.hash)
		abort();
	json_decref(all);
	/* against one with a node less */
	char flat[] = "{\"node\":\"SCAN\",\"children\":[{\"node\":\"SEARCH\"}]}";
	struct query_plan other = { .json = flat };
	put_plan_change(&one, &other, false, &shown);
	put_plan_change(&other, &one, true, &shown);
	xfree(one.json);
	xfree(two.json);
}

static void parse_words(const char *text)
{
	const char *at = NULL;
	number_within(text);
	for (char *name; (name = sqlite_alias_next(text, &at, "t"));)
		free(name);
	struct mariadb_url url;
	struct error err = ERROR_INIT;
	if (mariadb_url_parse(text, &url, &err) && (!*err.text || err.code != EXIT_USAGE))
		abort();
	mariadb_url_release(&url);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	char *text = xstrndup((const char *)data + 1, size - 1);
	if (*data % 8 == 7)
		parse_words(text);
	else
		check_plan(*data % 8, text);
	free(text);
	return 0;
}
