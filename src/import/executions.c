#include "import/executions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/csv.h"
#include "base/text.h"

#define NS_MOST 1000000000000000000l /* 31 years */
#define COMM_MOST 15		     /* bytes of a task's name */

enum column { RUN, SAMPLE, ET, PT, DAEMON, DAEMON_PT, COLUMNS };
static const char *const column_names[] = { "run",   "sample", "et_ns",
					    "pt_ns", "daemon", "daemon_pt_ns" };

struct row {
	uint64_t line;
	size_t run;
	uint32_t sample;
	uint64_t et_ns, pt_ns;
	bool daemon; /* there is one */
	char name[17];
	uint64_t daemon_pt_ns;
};

struct reader {
	struct csv csv;
	size_t places[COLUMNS]; /* of each column in a record */
	ARRAY(struct row) rows;
	imported_list runs;
};

static const char *field(const struct reader *r, enum column column)
{
	return r->csv.fields.items[r->places[column]];
}

static int bad(const struct reader *r, enum column column, const char *wanted, struct error *err)
{
	char shown[64];
	text_display(field(r, column), shown, sizeof shown);
	return error_set(err, EXIT_USAGE, "line %" PRIu64 ", column %s: '%s' is not %s",
			 r->csv.line, column_names[column], shown, wanted);
}

/* ---- the header ---- */

static int bad_header(const struct reader *r, const char *what, const char *name, struct error *err)
{
	char shown[64];
	text_display(name, shown, sizeof shown);
	error_set(err, EXIT_USAGE, "line %" PRIu64 ": %s '%s'", r->csv.line, what, shown);
	return error_hint(err, "the first line names the columns: "
			       "run,sample,et_ns,pt_ns,daemon,daemon_pt_ns");
}

static int read_header(struct reader *r, struct error *err)
{
	int got = csv_next(&r->csv, err);
	if (got < 0)
		return -1;
	if (!got)
		return error_set(err, EXIT_USAGE, "there is nothing in it");
	for (int c = 0; c < COLUMNS; c++)
		r->places[c] = SIZE_MAX;
	for (size_t i = 0; i < r->csv.fields.count; i++) {
		const char *name = r->csv.fields.items[i];
		int c = 0;
		while (c < COLUMNS && strcmp(name, column_names[c]) != 0)
			c++;
		if (c == COLUMNS)
			return bad_header(r, "there is no column", name, err);
		if (r->places[c] != SIZE_MAX)
			return bad_header(r, "two columns are called", name, err);
		r->places[c] = i;
	}
	for (int c = 0; c < COLUMNS; c++)
		if (r->places[c] == SIZE_MAX)
			return bad_header(r, "it lacks the column", column_names[c], err);
	return 0;
}

/* ---- a row ---- */

static int read_ns(const struct reader *r, enum column column, long least, uint64_t *ns,
		   struct error *err)
{
	long value;
	const char *text = field(r, column);
	if (!integer_parse(text, least, NS_MOST, &value))
		return bad(r, column,
			   least ? "a number of ns from 1 on" : "a number of ns from 0 on", err);
	*ns = (uint64_t)value;
	return 0;
}

static int read_run(struct reader *r, size_t *run, struct error *err)
{
	const char *name = field(r, RUN);
	if (!*name)
		return bad(r, RUN, "the name of a run", err);
	if (r->rows.count) { /* mostly that of the row before */
		*run = r->rows.items[r->rows.count - 1].run;
		if (strcmp(r->runs.items[*run].name, name) == 0)
			return 0;
	}
	for (*run = 0; *run < r->runs.count; ++*run)
		if (strcmp(r->runs.items[*run].name, name) == 0)
			return 0;
	if (r->runs.count == IMPORTED_RUNS_MOST)
		return error_set(err, EXIT_USAGE,
				 "line %" PRIu64 ", column run: there are more than %d runs",
				 r->csv.line, IMPORTED_RUNS_MOST);
	array_push(&r->runs, (struct imported_run){ .name = xstrdup(name) });
	return 0;
}

static int read_daemon(struct reader *r, struct row *row, struct error *err)
{
	const char *name = field(r, DAEMON), *pt = field(r, DAEMON_PT);
	char comm[COMM_MOST + 1] = "";
	row->daemon = *name != '\0';
	if (!row->daemon && !*pt)
		return 0;
	if (!row->daemon)
		return bad(r, DAEMON, "the name of a daemon, whose daemon_pt_ns there is", err);
	/* what a kworker is called beyond that says what it last did, which is not in its name */
	if (strlen(name) > COMM_MOST && strncmp(name, "kworker/", 8) != 0)
		return bad(r, DAEMON, "a task's name, which has 15 bytes at most", err);
	memcpy(comm, name, strnlen(name, COMM_MOST));
	daemon_name(comm, row->name);
	return read_ns(r, DAEMON_PT, 0, &row->daemon_pt_ns, err);
}

static int read_row(struct reader *r, struct error *err)
{
	struct row row = { .line = r->csv.line, .pt_ns = ABSENT_NS };
	long sample;
	if (r->csv.fields.count != COLUMNS)
		return error_set(err, EXIT_USAGE,
				 "line %" PRIu64 ": it has %zu fields, the header %d columns",
				 row.line, r->csv.fields.count, COLUMNS);
	if (!integer_parse(field(r, SAMPLE), 1, UINT32_MAX, &sample))
		return bad(r, SAMPLE, "a sample's number, from 1 on", err);
	row.sample = (uint32_t)sample;
	if (read_run(r, &row.run, err) || read_ns(r, ET, 1, &row.et_ns, err) ||
	    (*field(r, PT) && read_ns(r, PT, 0, &row.pt_ns, err)) || read_daemon(r, &row, err))
		return -1;
	array_push(&r->rows, row);
	return 0;
}

/* ---- rows of a sample become an execution ---- */

static int by_sample(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	if (x->sample != y->sample)
		return x->sample < y->sample ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static int by_exec(const void *a, const void *b)
{
	uint64_t x = ((const struct process *)a)->value[TASK_EXEC];
	uint64_t y = ((const struct process *)b)->value[TASK_EXEC];
	return (x < y) - (x > y);
}

static int contradiction(const struct row *row, const struct row *first, enum column column,
			 const char *what, struct error *err)
{
	return error_set(err, EXIT_USAGE,
			 "line %" PRIu64 ", column %s: it %s line %" PRIu64
			 ", which has the same run and sample",
			 row->line, column_names[column], what, first->line);
}

static int check_sample(const struct row *rows, size_t count, struct error *err)
{
	for (size_t i = 1; i < count; i++) {
		if (rows[i].et_ns != rows[0].et_ns)
			return contradiction(&rows[i], rows, ET, "differs from", err);
		if (rows[i].pt_ns != rows[0].pt_ns)
			return contradiction(&rows[i], rows, PT, "differs from", err);
		if (!rows[i].daemon || !rows[0].daemon)
			return contradiction(&rows[i], rows, DAEMON,
					     rows[i].daemon ? "is empty in" : "is empty, unlike in",
					     err);
	}
	return 0;
}

static void add_execution(struct imported_run *run, const struct row *rows, size_t count)
{
	struct execution x = execution_unknown();
	x.number = rows[0].sample;
	x.et_ns = rows[0].et_ns;
	x.pt_ns[GRADE_EXEC] = rows[0].pt_ns;
	array_reserve(&x.processes, count);
	for (size_t i = 0; i < count && rows[i].daemon; i++) {
		struct process p = { .role = ROLE_DAEMON, .present = 1u << TASK_EXEC };
		p.value[TASK_EXEC] = rows[i].daemon_pt_ns;
		memcpy(p.name, rows[i].name, sizeof p.name);
		array_push(&x.processes, p);
	}
	qsort(x.processes.items, x.processes.count, sizeof *x.processes.items, by_exec);
	run->daemons += x.processes.count;
	array_push(&run->executions, x);
}

int imported_read(const char *text, size_t length, imported_list *list, struct error *err)
{
	struct reader r = { 0 };
	csv_begin(&r.csv, text, length);
	int got = read_header(&r, err) ? -1 : 1;
	while (got > 0) {
		got = csv_next(&r.csv, err);
		if (got > 0 && read_row(&r, err))
			got = -1;
	}
	const struct row *rows = r.rows.items;
	if (!got && !r.rows.count)
		got = error_set(err, EXIT_USAGE, "there is no sample in it");
	if (r.rows.count)
		qsort(r.rows.items, r.rows.count, sizeof *rows, by_sample);
	for (size_t i = 0, n; i < r.rows.count && !got; i += n) {
		n = 1;
		while (i + n < r.rows.count && rows[i + n].run == rows[i].run &&
		       rows[i + n].sample == rows[i].sample)
			n++;
		got = check_sample(rows + i, n, err);
		if (!got)
			add_execution(&r.runs.items[rows[i].run], rows + i, n);
	}
	if (got)
		imported_release(&r.runs);
	else
		*list = r.runs;
	array_release(&r.rows);
	csv_release(&r.csv);
	return got;
}

void imported_release(imported_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		struct imported_run *run = &list->items[i];
		for (size_t x = 0; x < run->executions.count; x++)
			execution_release(&run->executions.items[x]);
		array_release(&run->executions);
		free(run->name);
	}
	array_release(list);
}
