#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/duets.h"
#include "cmd/query/query.h"
#include "cmd/view.h"
#include "report/core/format.h"
#include "run/find.h"

struct compare_options {
	struct lab_access *lab;
	int format, measure;
	double slower;
};

static const enum table_format formats[] = { TABLE_TEXT, TABLE_JSON, TABLE_CSV, TABLE_MARKDOWN };

/* The runs of one operand: they follow each other in the list. */
struct side {
	size_t first, count;
};

#define MEAN_COLUMN 4

static double mean_of(const struct loaded_run *l, size_t count, enum emp_measure m, size_t *n)
{
	double mean = 0;
	*n = 0;
	for (size_t i = 0; i < count; i++) {
		mean += l[i].result.kept[m].mean / (double)count;
		*n += l[i].result.kept[m].n;
	}
	return mean;
}

static void add_row(struct table *t, const struct loaded_run *l, size_t count, bool clusters,
		    enum emp_measure m, const struct emp_comparison *c)
{
	size_t n;
	double mean = mean_of(l, count, m, &n);
	table_add_count(t, l->run.id);
	table_add_text(t, l->run.name);
	table_add_text(t, emp_measure_names[m]);
	table_add_count(t, (int64_t)n);
	table_add_number(t, mean);
	table_add_number(t, c ? c->ratio : 1);
	table_add_number(t, c ? c->ratio_low : NAN);
	table_add_number(t, c ? c->ratio_high : NAN);
	table_add_number(t, c ? c->p : NAN);
	if (clusters)
		table_add_count(t, (int64_t)count);
}

static void put_note(bool single, struct strbuf *out)
{
	const struct paragraph p = { .width = (size_t)cmd_columns(), .first = "" };
	if (single)
		put_paragraph(
			out, &p,
			"Variation between runs is not in the interval: give several, as 3,5,7 4,6,8.");
}

/* The exit code, or -1. */
static int compare(const loaded_list *list, const struct side *sides, size_t count,
		   const struct compare_options *o, struct error *err)
{
	struct column columns[] = {
		{ "run", "Run", COLUMN_COUNT },
		{ "name", "Name", COLUMN_TEXT, .code = true },
		{ "measure", "Measure", COLUMN_TEXT, .spare = 2 },
		{ "executions", "n", COLUMN_COUNT, .spare = 3 },
		{ "mean", "Mean", COLUMN_DURATION },
		{ "ratio", "Ratio", COLUMN_RATIO },
		{ "ratio_low", "95% low", COLUMN_RATIO },
		{ "ratio_high", "high", COLUMN_RATIO },
		{ "p", "p", COLUMN_REAL, .spare = 1 },
		{ "runs", "Runs", COLUMN_COUNT,
		  .spare = 4 }, /* people see it if it says something */
	};
	bool people = formats[o->format] == TABLE_TEXT || formats[o->format] == TABLE_MARKDOWN;
	bool clusters = !people || list->count > count;
	SCOPED(strbuf_release) struct strbuf words = { 0 };
	int code = EXIT_DONE;
	const struct side *first = &sides[0];
	const struct loaded_run *base = &list->items[first->first];
	bool single = first->count == 1;
	struct emp_choice choice;
	SCOPED(strbuf_release) struct strbuf why = { 0 };
	loaded_choose(base, list->count, NULL, 0, compared_measures[o->measure], &choice, &why);
	/* what was asked for and is not there is an error below */
	if (o->measure)
		choice.measure = compared_measures[o->measure];
	if (emp_is_count(choice.measure)) {
		columns[MEAN_COLUMN].type = COLUMN_REAL;
		columns[MEAN_COLUMN].decimals = DECIMALS(0);
	}
	struct table *t = table_new(columns, sizeof columns / sizeof *columns - !clusters);
	for (size_t i = 1; i < count && code >= 0; i++) {
		const struct side *side = &sides[i];
		const struct loaded_run *other = &list->items[side->first];
		struct run_comparison c;
		if (loaded_compare_sides(base, first->count, other, side->count, choice.measure, &c,
					 err)) {
			code = -1;
			break;
		}
		if (i == 1)
			add_row(t, base, first->count, clusters, c.measure, NULL);
		add_row(t, other, side->count, clusters, c.measure, &c.result);
		put_comparison(base, other, &c, &words);
		single |= side->count == 1;
		if (o->slower >= 0 && cmd_judge_slower(&c, o->slower))
			code = EXIT_CHECK;
	}
	if (code >= 0) {
		if (!o->measure)
			put_comparison_why(choice.measure, strbuf_text(&why), &words);
		put_note(single, &words);
		cmd_print_table(t, formats[o->format]);
		if (formats[o->format] == TABLE_TEXT)
			printf("\n%s", strbuf_text(&words));
	}
	table_free(t);
	return code;
}

/* Loads the runs if the first one is a duet; then the others must be, too. */
static int load_duets(struct lab *lab, const struct compare_options *o, const text_list *names,
		      loaded_list *list, bool *duets, struct error *err)
{
	enum subject_kind kind;
	int64_t id;
	struct error ignored = ERROR_INIT; /* it may be a list of runs */
	*duets = !run_find_any(lab, names->items[0], LAB_OF(SUBJECT_COMMAND) | LAB_OF(SUBJECT_DUET),
			       &id, &kind, &ignored) &&
		 kind == SUBJECT_DUET;
	if (*duets && o->measure)
		return error_set(err, EXIT_USAGE, "compare: --measure is not for duets");
	for (size_t i = 0; *duets && i < names->count; i++)
		if (run_find(lab, names->items[i], LAB_OF(SUBJECT_DUET), &id, err) ||
		    loaded_add(list, lab, id, NULL, err))
			return -1;
	return 0;
}

/* Compares runs of queries if the first one is such a run. Returns the exit code, -1 after an
 * error, or -2 if it is none. */
static int compare_queries(struct lab *lab, const struct compare_options *o, const text_list *names,
			   struct error *err)
{
	struct error ignored = ERROR_INIT;
	enum table_format format = formats[o->format];
	enum emp_measure m = compared_measures[o->measure];
	enum subject_kind kind;
	int64_t id;
	if (run_find_any(lab, names->items[0], LAB_OF(SUBJECT_COMMAND) | LAB_OF(SUBJECT_DUET), &id,
			 &kind, &ignored) ||
	    kind != SUBJECT_QUERY)
		return -2;
	if ((m != EMP_MEASURES && m != EMP_ET) || (format != TABLE_TEXT && format != TABLE_JSON)) {
		error_set(
			err, EXIT_USAGE,
			"compare: of queries, --measure is best or et, and --format text or json");
		return error_hint(err, "'tare query compare' has more measures");
	}
	const struct query_compare_how how = { .time = m == EMP_ET ? TTP_MEASURED : TTP_TIMES,
					       .json = format == TABLE_JSON,
					       .fail_if_slower = o->slower };
	return query_compare_runs(lab, names, &how, err);
}

static int load_one(struct lab *lab, const char *name, const char *measure, loaded_list *list,
		    const struct side *side, struct error *err)
{
	int64_t id;
	if (run_find(lab, name, LAB_OF(SUBJECT_COMMAND), &id, err))
		return -1;
	/* twice the same run would look like two runs that agree */
	for (size_t i = side->first; i < list->count; i++)
		if (list->items[i].run.id == id)
			return error_set(err, EXIT_USAGE, "compare: run %lld is named twice",
					 (long long)id);
	/* with ledgers, which say whether they waited or queued */
	const struct load_options how = { .detail = LAB_PROCESSES, .measure = measure };
	return loaded_add(list, lab, id, &how, err);
}

/* A run, or several with commas between them. A name may have a comma itself. */
static int load_side(struct lab *lab, const char *text, const char *measure, loaded_list *list,
		     struct side *side, struct error *err)
{
	*side = (struct side){ .first = list->count };
	struct error not_one = ERROR_INIT;
	int64_t id;
	int failed = 0;
	if (!strchr(text, ',') || !run_find(lab, text, LAB_OF(SUBJECT_COMMAND), &id, &not_one)) {
		failed = load_one(lab, text, measure, list, side, err);
	} else {
		FREED char *names = xstrdup(text);
		char *rest = NULL;
		for (char *name = strtok_r(names, ",", &rest); name && !failed;
		     name = strtok_r(NULL, ",", &rest))
			failed = load_one(lab, name, measure, list, side, err);
	}
	side->count = list->count - side->first;
	if (!failed && !side->count)
		return error_set(err, EXIT_USAGE, "compare: '%s' names no run", text);
	return failed ? -1 : 0;
}

static int run(void *options, const struct cmd_args *args, struct error *err)
{
	const struct compare_options *o = options;
	loaded_list list = { 0 };
	if (args->operands.count < 2) {
		error_set(err, EXIT_USAGE, "compare: needs two runs or more");
		return error_hint(err, "'tare list' shows them");
	}
	bool duets = false;
	FREED struct side *sides = xcalloc(args->operands.count, sizeof *sides);
	struct lab *lab = lab_access_open(o->lab, err);
	int code = lab ? compare_queries(lab, o, &args->operands, err) : -1;
	if (code != -2)
		return code;
	code = load_duets(lab, o, &args->operands, &list, &duets, err);
	if (!code && duets)
		code = compare_duets(&list, formats[o->format], o->slower);
	for (size_t i = 0; !duets && i < args->operands.count && !code; i++)
		code = load_side(lab, args->operands.items[i], compared_words[o->measure], &list,
				 &sides[i], err);
	if (!code && !duets)
		code = compare(&list, sides, args->operands.count, o, err);
	loaded_release(&list);
	return code;
}

int cmd_compare(struct lab_access *lab, int argc, char **argv)
{
	struct compare_options o = { .lab = lab, .slower = -1 };
	struct option_spec specs[] = {
		{ 'm', "measure", OPTION_CHOICE, &o.measure, COMPARED_MEASURES,
		  "what to compare (default: ET if they sleep or do I/O, or else the best PT)" },
		{ 0, "fail-if-slower", OPTION_FRACTION, &o.slower, "SHARE",
		  "exit with 1 if a run is significantly slower than the first by more than this" },
		{ 'f', "format", OPTION_CHOICE, &o.format, "text|json|csv|markdown",
		  "output format" },
		LAB_OPTION(lab, "the lab to read"),
		{ 0 }
	};
	return cmd_run(
		"tare compare [OPTIONS] BASE RUN...",
		"Ratio of the means with an interval, and a p-value, against the first run.\n"
		"A run is a number, a name, 'last', or @1 for the run before the last. Several\n"
		"runs of one thing are joined by commas, as in 3,5,7. Of duets: their ratios,\n"
		"and that of all together if they compare the same two. Two runs of queries are\n"
		"compared as by 'tare query compare'.\n",
		specs, argc, argv, run, &o);
}
