/* From a file's text to an experiment: what the schema lets through is judged here, with the line
 * of what is wrong. */
#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/invoker.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "subject/experiment.h"
#include "subject/experiment_columns.h"
#include "subject/experiment_queries.h"
#include "subject/experiment_random.h"
#include "subject/experiment_schema.h"

/* unless it says otherwise */
#define TIME_LIMIT_NS (20ul * 60000000000u)
#define EXECUTIONS 10
#define SEED 1
#define EXECUTIONS_MOST 1000000
#define CARDINALITIES_MOST 1000
#define QUERIES_MOST 10000
#define SQL_FILE_MOST (1 << 20)
#define GENERATE_COLUMNS_MOST 200

struct reader {
	const struct raw_experiment *raw;
	const struct tree_node *tree;
	const char *relative;
	struct experiment *e;
	struct error *err;
};

#define fail(r, path, ...) tree_error((r)->tree, path, (r)->err, __VA_ARGS__)

static bool given(const struct reader *r, const char *path)
{
	return tree_find(r->tree, path) != NULL;
}

static char **copy_list(char *const *texts, unsigned count)
{
	if (!count)
		return NULL;
	char **list = xcalloc(count + 1, sizeof *list);
	for (unsigned i = 0; i < count; i++)
		list[i] = xstrdup(texts[i]);
	return list;
}

/* As seen from the experiment's file. */
static char *path_from(const char *relative, const char *path)
{
	if (path && *path != '/' && relative && *relative)
		return xprintf("%s/%s", relative, path);
	return xstrdup_or_null(path);
}

/* ---- how it is executed ---- */

static int read_execution(struct reader *r)
{
	const struct raw_experiment *raw = r->raw;
	struct experiment *e = r->e;
	e->name = xstrdup(raw->name ? raw->name : "experiment");
	e->scenario = (enum experiment_scenario)raw->scenario;
	e->order = (enum experiment_order)raw->order;
	e->cold = raw->cache == 1;
	e->seed = given(r, "seed") ? raw->seed : SEED;
	e->executions = given(r, "executions") ? raw->executions : EXECUTIONS;
	if (!e->executions || e->executions > EXECUTIONS_MOST)
		return fail(r, "executions", "it must be from 1 to %d", EXECUTIONS_MOST);
	e->time_limit_ns = TIME_LIMIT_NS;
	if (raw->time_limit &&
	    (!duration_parse(raw->time_limit, &e->time_limit_ns) || !e->time_limit_ns))
		return fail(r, "time_limit", "'%s' is not a time such as 500ms, 30s or 20m",
			    DISPLAYED(raw->time_limit, 64));
	e->settings = copy_list(raw->settings, raw->settings_count);
	return 0;
}

static int read_server(struct reader *r)
{
	const struct raw_server *s = r->raw->server;
	struct experiment *e = r->e;
	e->url = xstrdup_or_null(r->raw->url);
	e->driver_file = path_from(r->relative, r->raw->driver);
	if (!s)
		return 0;
	e->dbms = xstrdup_or_null(s->dbms);
	e->server =
		(struct experiment_server){ .data = path_from(r->relative, s->data),
					    .start = xstrdup_or_null(s->start),
					    .stop = xstrdup_or_null(s->stop),
					    .user = xstrdup_or_null(s->user),
					    .make = s->make,
					    .settings = copy_list(s->settings, s->settings_count) };
	if (s->dbms && strcmp(s->dbms, "postgresql") != 0 && strcmp(s->dbms, "mariadb") != 0 &&
	    s->data)
		return fail(r, "server.dbms",
			    "tare can run postgresql and mariadb from a data directory");
	if (s->data && (s->start || s->stop))
		return fail(r, "server", "either data or start and stop, not both");
	if (!s->data && (!s->start || !s->stop))
		return fail(r, "server", "it needs data (a directory), or both start and stop");
	if (s->data && !s->dbms)
		return fail(r, "server", "the key 'dbms' is missing: postgresql or mariadb");
	if (s->data && r->raw->url)
		return fail(r, "url",
			    "a server with data is reached by its own socket: leave it out");
	if (!s->data && !r->raw->url)
		return fail(r, "server",
			    "a server with start and stop needs the key 'url' beside it");
	if (!s->data && (s->make || s->settings_count))
		return fail(r, "server", "make and settings are for a server with data");
	return 0;
}

/* ---- cardinalities ---- */

static int read_steps(struct reader *r)
{
	const struct raw_steps *s = r->raw->steps;
	bool ranged = given(r, "cardinalities.from") || given(r, "cardinalities.to");
	uint64_t from = ranged ? s->from : s->step, to = ranged ? s->to : s->max;
	if (ranged == given(r, "cardinalities.max"))
		return fail(r, "cardinalities", "either from, to and step, or max and step");
	if (!s->step)
		return fail(r, "cardinalities.step", "it must be at least 1");
	if (!from || to < from)
		return fail(r, "cardinalities",
			    "they go from %" PRIu64 " to %" PRIu64 ": there are none", from, to);
	if ((to - from) / s->step >= CARDINALITIES_MOST)
		return fail(r, "cardinalities", "they are more than %d", CARDINALITIES_MOST);
	for (uint64_t steps = (to - from) / s->step + 1; steps--;)
		array_push(&r->e->cardinalities, from + steps * s->step);
	return 0;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? 1 : x > y ? -1 : 0;
}

static int read_cardinalities(struct reader *r)
{
	const struct raw_experiment *raw = r->raw;
	struct experiment *e = r->e;
	if (raw->steps && read_steps(r))
		return -1;
	for (unsigned i = 0; i < raw->cardinalities_count; i++) {
		char path[64];
		snprintf(path, sizeof path, "cardinalities[%u]", i);
		if (!raw->cardinalities[i])
			return fail(r, path, "it must be at least 1");
		for (unsigned k = 0; k < i; k++)
			if (raw->cardinalities[k] == raw->cardinalities[i])
				return fail(r, path, "%" PRIu64 " is there already",
					    raw->cardinalities[i]);
		array_push(&e->cardinalities, raw->cardinalities[i]);
	}
	if (e->cardinalities.count)
		qsort(e->cardinalities.items, e->cardinalities.count, sizeof(uint64_t), by_size);
	if (e->cardinalities.count && e->cardinalities.items[0] > ROWS_MOST)
		return fail(r, "cardinalities", "the largest is over %" PRIu64, ROWS_MOST);
	return 0;
}

/* ---- tables ---- */

static int read_rows(struct reader *r, const struct raw_table *raw, const char *path,
		     uint64_t scale, struct experiment_table *t)
{
	unsigned __int128 rows = raw->rows;
	if (raw->varies) {
		if (given(r, path))
			return fail(r, path,
				    "the table that varies has as many rows as the largest "
				    "cardinality: leave it out");
		t->rows = r->e->cardinalities.count ? r->e->cardinalities.items[0] : 1;
		return 0;
	}
	if (raw->scales)
		rows = (rows * scale + 999999) / 1000000;
	if (!rows || rows > ROWS_MOST)
		return fail(r, path, "the number of rows must be from 1 to %" PRIu64, ROWS_MOST);
	t->rows = (uint64_t)rows;
	return 0;
}

static int read_table(struct reader *r, unsigned i, uint64_t scale)
{
	const struct raw_table *raw = &r->raw->tables[i];
	struct experiment_table *t = &r->e->tables.items[i];
	char path[64], rows[72], seed[72];
	snprintf(path, sizeof path, "tables[%u]", i);
	snprintf(rows, sizeof rows, "%s.rows", path);
	r->e->tables.count++;
	t->name = xstrdup(raw->name);
	t->varies = raw->varies;
	snprintf(seed, sizeof seed, "%s.seed", path);
	t->seed = given(r, seed) ? raw->seed : draw_key(r->e->seed, raw->name);
	if (!name_is_plain(raw->name))
		return fail(r, path, NAME_RULE, raw->name);
	for (unsigned k = 0; k < i; k++)
		if (strcasecmp(r->e->tables.items[k].name, raw->name) == 0)
			return fail(r, path, "two tables are called '%s'", raw->name);
	if (read_rows(r, raw, rows, scale, t))
		return -1;
	return columns_read(raw, r->tree, path, r->e, t, r->err);
}

/* The rows of the table that varies are kept in a table called so. */
static int check_kept_name(const struct reader *r, const char *varying)
{
	int failed = 0;
	FREED char *kept = xprintf("%s_all", varying);
	for (size_t i = 0; i < r->e->tables.count && !failed; i++) {
		char path[64];
		snprintf(path, sizeof path, "tables[%zu]", i);
		if (strcasecmp(r->e->tables.items[i].name, kept) == 0)
			failed = fail(r, path,
				      "'%s' is where tare keeps all rows of '%s', which varies: "
				      "it needs another name",
				      r->e->tables.items[i].name, varying);
	}
	return failed;
}

static int read_tables(struct reader *r)
{
	double scale = 1;
	unsigned varying = 0;
	struct experiment *e = r->e;
	if (r->raw->scale &&
	    (!real_parse(r->raw->scale, &scale) || !(scale >= 0.000001) || scale > 1e6))
		return fail(r, "scale", "'%s' is not a number from 0.000001 to 1000000",
			    DISPLAYED(r->raw->scale, 64));
	/* so that ratios between tables hold exactly */
	uint64_t millionths = (uint64_t)(scale * 1e6 + 0.5);
	/* none may move later: columns point at them */
	array_reserve(&e->tables, r->raw->tables_count);
	if (r->raw->tables_count)
		memset(e->tables.items, 0, r->raw->tables_count * sizeof *e->tables.items);
	for (unsigned i = 0; i < r->raw->tables_count; i++) {
		if (read_table(r, i, millionths))
			return -1;
		varying += r->raw->tables[i].varies;
	}
	if (e->cardinalities.count && varying != 1)
		return fail(r, "cardinalities",
			    varying ? "%u tables say 'varies: true', but one alone may"
				    : "they need a table that says 'varies: true'; %u do",
			    varying);
	if (!e->cardinalities.count && varying)
		return fail(r, "tables", "a table varies, but the key 'cardinalities' is missing");
	for (size_t i = 0; i < e->tables.count; i++)
		if (e->tables.items[i].varies && check_kept_name(r, e->tables.items[i].name))
			return -1;
	return 0;
}

/* ---- queries ---- */

/* Without white space around it and semicolons at its end. */
static char *statement(const char *sql)
{
	size_t length = strlen(sql);
	while (isspace((unsigned char)*sql)) {
		sql++;
		length--;
	}
	while (length && (isspace((unsigned char)sql[length - 1]) || sql[length - 1] == ';'))
		length--;
	return xstrndup(sql, length);
}

/* Takes the name; NULL: by its number. */
static int add_query(struct reader *r, char *name, const char *sql, const char *path)
{
	struct experiment *e = r->e;
	char shown[64];
	if (!name) {
		snprintf(shown, sizeof shown, "q%zu", e->queries.count + 1);
		name = xstrdup(shown);
	}
	text_display(name, shown, sizeof shown);
	bool twice = false;
	for (size_t i = 0; i < e->queries.count; i++)
		twice |= strcmp(e->queries.items[i].name, name) == 0;
	array_push(&e->queries, (struct experiment_query){ name, statement(sql) });
	if (twice)
		return fail(r, path, "two queries are called '%s'", shown);
	if (e->queries.count > QUERIES_MOST)
		return fail(r, path, "there are more than %d queries", QUERIES_MOST);
	if (!*e->queries.items[e->queries.count - 1].sql)
		return fail(r, path, "there is no SQL in it");
	return 0;
}

static int read_query_file(struct reader *r, const char *file, const char *path)
{
	FREED char *full = path_from(r->relative, file), *sql = NULL;
	struct stat st;
	AS_USER(as);
	CLOSED int fd = invoker_begin(&as, NULL) ? -1 : file_open_regular(full);
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size <= SQL_FILE_MOST)
		sql = file_read_from(fd);
	if (!sql)
		return fail(r, path, "'%s' cannot be read: it must be a file of at most 1 MiB",
			    DISPLAYED(full, 128));
	const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
	size_t length = strlen(base), suffix = strlen(".sql");
	if (length > suffix && text_ends_with(base, ".sql"))
		length -= suffix;
	return add_query(r, xstrndup(base, length), sql, path);
}

static int read_generated(struct reader *r)
{
	const struct raw_generate *g = r->raw->generate;
	struct query_recipe recipe = {
		.count = g->count,
		.joins = given(r, "generate.joins") ? g->joins : 3,
		.selections = given(r, "generate.selections") ? g->selections : 2,
		.aggregates = 0.75,
		.seed = given(r, "generate.seed") ? g->seed : r->e->seed,
	};
	if (!r->e->tables.count)
		return fail(r, "generate",
			    "queries can be generated for tables of this file only: "
			    "the key 'tables' is missing");
	size_t columns = 0; /* every pair of them is looked at */
	for (size_t i = 0; i < r->e->tables.count; i++)
		columns += r->e->tables.items[i].columns.count;
	if (columns > GENERATE_COLUMNS_MOST)
		return fail(r, "generate", "the tables have more than %d columns in all",
			    GENERATE_COLUMNS_MOST);
	if (!g->count || g->count > 1000)
		return fail(r, "generate.count", "it must be from 1 to 1000");
	if (recipe.joins > JOINS_MOST)
		return fail(r, "generate.joins", "it must be from 0 to %d", JOINS_MOST);
	if (recipe.selections > 10)
		return fail(r, "generate.selections", "it must be from 0 to 10");
	if (g->aggregates && strcmp(g->aggregates, "1") == 0)
		recipe.aggregates = 1;
	else if (g->aggregates &&
		 (!fraction_parse(g->aggregates, &recipe.aggregates) || recipe.aggregates > 1))
		return fail(r, "generate.aggregates", "it must be a share such as 75%%");
	size_t others = r->e->queries.count;
	if (others + g->count > QUERIES_MOST)
		return fail(r, "generate.count", "there are more than %d queries", QUERIES_MOST);
	if (queries_generate(r->e, &recipe, r->err)) {
		error_prefix(r->err, "line %u: generate", tree_line(r->tree, "generate"));
		return -1;
	}
	const struct experiment_query *queries = r->e->queries.items;
	for (size_t i = others; i < r->e->queries.count; i++)
		for (size_t k = 0; k < others; k++)
			if (strcmp(queries[i].name, queries[k].name) == 0)
				return fail(r, "generate",
					    "two queries are called '%s': those that are generated "
					    "are g1, g2, ...",
					    queries[i].name);
	return 0;
}

static int read_queries(struct reader *r)
{
	const struct raw_experiment *raw = r->raw;
	char path[64];
	for (unsigned i = 0; i < raw->queries_count; i++) {
		snprintf(path, sizeof path, "queries[%u]", i);
		if (add_query(r, xstrdup_or_null(raw->queries[i].name), raw->queries[i].sql, path))
			return -1;
	}
	for (unsigned i = 0; i < raw->texts_count; i++) {
		snprintf(path, sizeof path, "queries[%u]", i);
		if (add_query(r, NULL, raw->texts[i], path))
			return -1;
	}
	for (unsigned i = 0; i < raw->query_files_count; i++) {
		snprintf(path, sizeof path, "query_files[%u]", i);
		if (read_query_file(r, raw->query_files[i], path))
			return -1;
	}
	if (raw->generate && read_generated(r))
		return -1;
	if (!r->e->queries.count) {
		fail(r, "", "there are no queries");
		return error_hint(r->err, "give queries, query_files or generate");
	}
	return 0;
}

int experiment_parse(const char *text, size_t length, const char *relative, struct experiment *into,
		     struct error *err)
{
	struct tree_node tree = { 0 };
	struct raw_experiment *raw = NULL;
	struct experiment e = { 0 };
	if (tree_parse(text, length, &tree, err))
		return -1;
	int failed = raw_load(text, length, &tree, &raw, err);
	if (!failed) {
		struct reader r = { raw, &tree, relative, &e, err };
		failed = read_execution(&r) || read_server(&r) || read_cardinalities(&r) ||
			 read_tables(&r) || read_queries(&r);
	}
	raw_free(raw, &tree);
	yaml_tree_release(&tree);
	e.text = xstrndup(text, length);
	if (failed)
		experiment_release(&e);
	else
		*into = e;
	return failed ? -1 : 0;
}

int experiment_of_statements(const char *const *sql, size_t count, struct experiment *into,
			     struct error *err)
{
	struct experiment e = { .name = xstrdup("statements"),
				.executions = EXECUTIONS,
				.time_limit_ns = TIME_LIMIT_NS,
				.seed = SEED };
	json_auto_t *list = json_array();
	int failed =
		count > QUERIES_MOST
			? error_set(err, EXIT_USAGE, "there are more than %d queries", QUERIES_MOST)
			: 0;
	for (size_t i = 0; i < count && !failed; i++) {
		FREED char *text = text_utf8(sql[i]);
		array_push(&e.queries,
			   (struct experiment_query){ xprintf("q%zu", i + 1), statement(sql[i]) });
		json_array_append_new(list, json_string(text));
		if (!*e.queries.items[i].sql)
			failed = error_set(err, EXIT_USAGE, "there is no SQL in '%.60s'", sql[i]);
	}
	/* as a file would have it: what is stored, and what a resumed run reads */
	FREED char *queries = json_dumps(list, JSON_COMPACT);
	e.text = xprintf("name: %s\nqueries: %s\n", e.name, queries);
	if (failed)
		experiment_release(&e);
	else
		*into = e;
	return failed;
}
