/* Settings of the servers that queries ran on: theirs, as tare sets none but what the experiment
 * says. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "report/query/rows.h"

/* Those that decide most about a query's time and plan. */
static const char *const main_ones[] = {
	"shared_buffers",
	"work_mem",
	"jit",
	"max_parallel_workers_per_gather",
	"autovacuum",
	"statement_timeout",
	"innodb_buffer_pool_size",
	"query_cache_type",
	"max_statement_time",
	"cache_size",
	"mmap_size",
	"journal_mode",
	NULL,
};

static bool is_main(const char *name)
{
	for (const char *const *m = main_ones; *m; m++)
		if (strcmp(*m, name) == 0)
			return true;
	return false;
}

static char *value_text(const json_t *value)
{
	if (json_is_string(value))
		return xstrdup(json_string_value(value));
	return value && !json_is_null(value) ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT)
					     : NULL;
}

void query_settings_of(const struct query_run *r, bool all, query_settings *into)
{
	json_auto_t *settings = r->settings ? json_loads(r->settings, 0, NULL) : NULL;
	const char *name;
	json_t *value;
	json_object_foreach(settings, name, value)
	{
		char *text = all || is_main(name) ? value_text(value) : NULL;
		if (text)
			array_push(into, (struct query_setting){ xstrdup(name), text, NULL });
	}
}

void query_settings_that_differ(const struct query_run *base, const struct query_run *other,
				query_settings *into)
{
	json_auto_t *a = base->settings ? json_loads(base->settings, 0, NULL) : NULL;
	json_auto_t *b = other->settings ? json_loads(other->settings, 0, NULL) : NULL;
	const char *name;
	json_t *value;
	if (strcmp(base->dbms, other->dbms) != 0 || !a || !b)
		return;
	json_object_foreach(a, name, value)
	{
		json_t *there = json_object_get(b, name);
		if (!json_equal(value, there))
			array_push(into, (struct query_setting){ xstrdup(name), value_text(value),
								 value_text(there) });
	}
	json_object_foreach(b, name, value)
	{
		if (!json_object_get(a, name))
			array_push(into, (struct query_setting){ xstrdup(name), NULL,
								 value_text(value) });
	}
}

void query_settings_release(query_settings *list)
{
	array_each(s, list) {
		free(s->name);
		free(s->base);
		free(s->other);
	}
	array_release(list);
}
