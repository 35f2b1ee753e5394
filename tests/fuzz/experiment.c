/* A file of an experiment is whatever a user has written. What is accepted must be whole: its rows
 * can be made and its tables declared, and the text it keeps means the same again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "subject/experiment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const char *dbms_type(const struct dbms *d, enum column_kind kind, uint32_t length, char out[64])
{
	(void)d;
	snprintf(out, 64, "K%d(%u)", kind, length);
	return out;
}

static void make_rows(const struct experiment_table *t)
{
	const char **values = xcalloc(t->columns.count, sizeof *values);
	struct table_rows *r = table_rows_open(t, 20);
	while (table_rows_next(r, values))
		for (size_t i = 0; i < t->columns.count; i++)
			if (values[i] && strlen(values[i]) > 10000)
				abort();
	table_rows_close(r);
	free(values);
	free(table_create_sql(t, NULL, NULL));
	for (size_t i = 0;; i++) {
		char *sql = table_index_sql(t, i, NULL);
		free(sql);
		if (!sql)
			break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct experiment e, again;
	struct error err = ERROR_INIT;
	char *text = xstrndup((const char *)data, size); /* to the first zero byte */
	size_t length = strlen(text);
	/* files there are none */
	if (experiment_parse(text, length, "/nonexistent", &e, &err) == 0) {
		if (!e.queries.count || !e.name || strlen(e.text) != length)
			abort();
		for (size_t i = 0; i < e.tables.count; i++)
			make_rows(&e.tables.items[i]);
		if (experiment_parse(e.text, length, "/nonexistent", &again, &err) ||
		    again.queries.count != e.queries.count)
			abort();
		experiment_release(&again);
		experiment_release(&e);
	} else if (!*err.text) {
		abort();
	}
	free(text);
	return 0;
}
