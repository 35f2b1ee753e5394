/* Tables of runs, executions and processes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "report/core/format.h"
#include "report/time/counters.h"
#include "report/time/several.h"
#include "report/time/shares.h"

/* Where 0 says that it is not known. */
static void add_nonzero(struct table *t, int64_t count)
{
	if (count)
		table_add_count(t, count);
	else
		table_add_absent(t);
}

static const char *const statistics[] = { "_mean",   "_stddev", "_ci_low", "_ci_high",
					  "_median", "_mad",	"_min",	   "_max" };
static const enum emp_measure summarised[] = { EMP_ET, EMP_PT_NET, EMP_PT_EXEC, EMP_PT_TICK,
					       EMP_PT_STEADY };

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The names of all runs' parameters, each once, borrowed. */
typedef ARRAY(const char *) parameter_names;

static const char *parameter_value(const struct run *run, const char *name)
{
	for (size_t i = 0; i < run->parameters.count; i++)
		if (!strcmp(run->parameters.items[i].name, name))
			return run->parameters.items[i].value;
	return NULL;
}

static struct table *runs_table(const parameter_names *parameters)
{
	struct columns c = { 0 };
	columns_add_fields(&c, hyperfine_fields);
	for (size_t i = 0; i < parameters->count; i++)
		columns_add(&c, COLUMN_TEXT, "parameter_", parameters->items[i]);
	columns_add(&c, COLUMN_COUNT, "", "run");
	columns_add(&c, COLUMN_TEXT, "", "status");
	columns_add(&c, COLUMN_TEXT, "", "backend");
	columns_add(&c, COLUMN_TEXT, "", "headline");
	columns_add(&c, COLUMN_COUNT, "", "measured");
	columns_add(&c, COLUMN_COUNT, "", "kept");
	columns_add(&c, COLUMN_COUNT, "dropped_", "failed");
	columns_add(&c, COLUMN_COUNT, "dropped_", "cutoff");
	columns_add(&c, COLUMN_COUNT, "dropped_", "outside");
	for (size_t i = 0; i < COUNT(summarised); i++) {
		const char *measure = emp_measure_names[summarised[i]];
		for (size_t j = 0; j < COUNT(statistics); j++)
			columns_add(&c, COLUMN_DURATION, measure, statistics[j]);
		columns_add(&c, COLUMN_REAL, measure, "_effective_n");
		columns_add(&c, COLUMN_COUNT, measure, "_needed_n");
	}
	columns_add(&c, COLUMN_TEXT, "", "measure");
	columns_add(&c, COLUMN_RATIO, "", "relative");
	return table_of(&c);
}

static void add_summary(struct table *t, const struct summary *s, bool present)
{
	double any = present && s->n ? 1 : NAN, spread = present && s->n > 1 ? 1 : NAN;
	table_add_number(t, s->mean * any);
	table_add_number(t, s->stddev * spread);
	table_add_number(t, s->ci_low * spread);
	table_add_number(t, s->ci_high * spread);
	table_add_number(t, s->median * any);
	table_add_number(t, s->mad * spread);
	table_add_number(t, s->min * any);
	table_add_number(t, s->max * any);
	table_add_number(t, s->error.effective * spread);
	if (present && s->n)
		table_add_count(t, (int64_t)s->error.needed);
	else
		table_add_absent(t);
}

void time_csv(const struct run_view *views, size_t count, size_t wanted, struct strbuf *out)
{
	enum emp_measure m = several_choice(views, count, NULL).measure;
	size_t reference = reference_run(views, count, m, wanted);
	double base = reference < count ? views[reference].result->kept[m].mean : NAN;
	parameter_names parameters = { 0 };
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < views[i].run->parameters.count; j++) {
			const char *name = views[i].run->parameters.items[j].name;
			size_t k = 0;
			while (k < parameters.count && strcmp(parameters.items[k], name) != 0)
				k++;
			if (k == parameters.count)
				array_push(&parameters, name);
		}
	struct table *t = runs_table(&parameters);
	for (size_t i = 0; i < count; i++) {
		const struct emp_result *r = views[i].result;
		const struct run *run = views[i].run;
		if (!has_measured(&views[i]))
			continue;
		struct hyperfine h = hyperfine_of(&views[i]);
		table_add_fields(t, hyperfine_fields, &h);
		for (size_t j = 0; j < parameters.count; j++)
			table_add_text(t, parameter_value(run, parameters.items[j]));
		add_nonzero(t, run->id);
		table_add_text(t, run_status_names[run->status]);
		table_add_text(t, backend_name(run->backend));
		table_add_text(t, emp_measure_names[r->shown]);
		table_add_count(t, (int64_t)(r->count - r->dropped[EMP_WARMUP]));
		table_add_count(t, (int64_t)r->kept[EMP_ET].n);
		table_add_count(t, (int64_t)r->dropped[EMP_FAILED]);
		table_add_count(t, (int64_t)r->dropped[EMP_CUTOFF]);
		table_add_count(t, (int64_t)r->dropped[EMP_OUTSIDE]);
		for (size_t j = 0; j < COUNT(summarised); j++)
			add_summary(t, &r->kept[summarised[j]], r->present[summarised[j]]);
		table_add_text(t, emp_measure_names[m]);
		table_add_number(t, base > 0 && r->kept[m].mean > 0 ? r->kept[m].mean / base : NAN);
	}
	table_render(t, TABLE_CSV, NULL, out);
	table_free(t);
	array_release(&parameters);
}

/* "11.02 ± 0.13": a mean with its spread, in the column's unit. */
static void add_mean(struct table *t, const struct summary *s, const struct scale *unit)
{
	char cell[WORDS];
	if (!s->n || !isfinite(s->stddev)) { /* or not above the shell's own */
		table_add_absent(t);
		return;
	}
	if (s->n > 1)
		snprintf(cell, sizeof cell, "%.*f ± %.*f", unit->decimals, s->mean / unit->ns,
			 unit->decimals, s->stddev / unit->ns);
	else
		format_figure(s->mean, unit, cell);
	table_add_text(t, cell);
}

static void add_figure(struct table *t, const struct summary *s, double ns,
		       const struct scale *unit)
{
	char cell[WORDS];
	format_figure(ns, unit, cell);
	table_add_text(t, s->n ? cell : NULL);
}

static void add_relative(struct table *t, const struct summary *reference, const struct summary *s)
{
	char cell[WORDS];
	double sigma = reference && s->n > 1 && reference->n > 1 ? ratio_sigma(reference, s) : 0;
	int decimals = ratio_decimals(sigma);
	if (!s->n || !reference || reference->mean <= 0 || s->mean <= 0) {
		table_add_absent(t);
		return;
	}
	if (reference == s)
		snprintf(cell, sizeof cell, "1.00");
	else if (sigma > 0)
		snprintf(cell, sizeof cell, "%.*f ± %.*f", decimals, s->mean / reference->mean,
			 decimals, sigma);
	else
		snprintf(cell, sizeof cell, "%.2f", s->mean / reference->mean);
	table_add_text(t, cell);
}

/* The unit of a whole column is that of its first run, as in hyperfine; the decimals are each
 * run's own. */
static enum time_unit column_unit(const struct summary *all, size_t count,
				  const struct style *style)
{
	if (style && style->unit != TIME_UNIT_AUTO)
		return style->unit;
	for (size_t i = 0; i < count; i++)
		if (all[i].n)
			return natural_unit(all[i].mean);
	return TIME_UNIT_SECOND;
}

/* hyperfine's columns and, where the runs have it, process time. There is one relative column, of
 * what they are compared by. */
static struct table *markup_table(enum time_unit unit, enum time_unit pt_unit, enum emp_measure pt,
				  bool by_pt)
{
	struct column columns[] = {
		{ "command", "Command", COLUMN_TEXT, .code = true },
		{ "mean", "Mean", COLUMN_TEXT, .right = true },
		{ "min", "Min", COLUMN_TEXT, .right = true },
		{ "max", "Max", COLUMN_TEXT, .right = true },
		{ "relative", "Relative", COLUMN_TEXT, .right = true },
		{ "pt_mean", NULL, COLUMN_TEXT, .right = true },
	};
	const struct column pt_relative = { "pt_relative", "PT relative", COLUMN_TEXT,
					    .right = true };
	char titles[6][WORDS];
	for (size_t i = 1; i <= 3; i++) {
		snprintf(titles[i], WORDS, "%s [%s]", columns[i].title, scale_for(0, unit).unit);
		columns[i].title = titles[i];
	}
	if (pt == EMP_ET)
		return table_new(columns, 5);
	snprintf(titles[5], WORDS, "PT %s [%s]",
		 pt == EMP_PT_STEADY ? "steady" : grade_names[pt - EMP_PT_NET],
		 scale_for(0, pt_unit).unit);
	columns[5].title = titles[5];
	if (by_pt) {
		columns[4] = columns[5];
		columns[5] = pt_relative;
	}
	return table_new(columns, 6);
}

void time_markup(const struct run_view *views, size_t count, size_t reference,
		 const struct style *style, enum table_format format, struct strbuf *out)
{
	enum emp_measure m = several_choice(views, count, NULL).measure;
	bool by_time = m != EMP_ET && !emp_is_count(m);
	enum emp_measure shown_pt = by_time ? m : several_pt(views, count);
	FREED struct summary *et = xcalloc(count, sizeof *et);
	FREED struct summary *pt = xcalloc(count, sizeof *pt);
	for (size_t i = 0; i < count; i++) {
		et[i] = views[i].result->kept[EMP_ET];
		pt[i] = views[i].result->kept[shown_pt];
	}
	size_t best = reference_run(views, count, m, reference);
	enum time_unit unit = column_unit(et, count, style);
	enum time_unit pt_unit = column_unit(pt, count, style);
	struct table *t = markup_table(unit, pt_unit, shown_pt, by_time);
	for (size_t i = 0; i < count; i++) {
		if (!has_measured(&views[i]))
			continue;
		struct scale scale = scale_of_summary(&et[i], unit);
		table_add_text(t, run_title(views[i].run));
		add_mean(t, &et[i], &scale);
		add_figure(t, &et[i], et[i].min, &scale);
		add_figure(t, &et[i], et[i].max, &scale);
		const struct summary *of = best < count ? &views[best].result->kept[m] : NULL;
		if (!by_time)
			add_relative(t, of, &views[i].result->kept[m]);
		if (shown_pt == EMP_ET)
			continue;
		scale = scale_of_summary(&pt[i], pt_unit);
		add_mean(t, &pt[i], &scale);
		if (by_time)
			add_relative(t, of, &views[i].result->kept[m]);
	}
	table_render(t, format, style, out);
	table_free(t);
}

static bool has_ledger(const struct run_view *views, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < views[i].count; j++)
			if (views[i].executions[j].ledger.present)
				return true;
	return false;
}

struct table *time_executions(const struct run_view *views, size_t count)
{
	bool ledger = has_ledger(views, count);
	struct columns c = { 0 };
	columns_add(&c, COLUMN_COUNT, "", "run");
	columns_add(&c, COLUMN_TEXT, "", "command");
	columns_add_fields(&c, execution_fields);
	/* every column is there: titles would leave most of them as they are in CSV */
	for (size_t i = 0; i < c.list.count; i++)
		c.list.items[i].title = c.list.items[i].name;
	columns_add(&c, COLUMN_DURATION, "", "et_less_shell");
	columns_add(&c, COLUMN_DURATION, "", "pt_less_shell");
	columns_add(&c, COLUMN_TEXT, "", "rule");
	columns_add(&c, COLUMN_TEXT, "", "reason");
	for (size_t i = 0; ledger && i < LEDGER_CAUSES; i++)
		columns_add(&c, COLUMN_DURATION, "wall_", ledger_causes[i].name);
	FREED counter_names names = { 0 };
	counter_names_of(views, count, &names);
	for (size_t i = 0; i < names.count; i++)
		columns_add(&c, COLUMN_COUNT, "counter_", names.items[i]);
	FREED counter_names apart = { 0 };
	counter_names_apart(views, count, &names, &apart);
	for (size_t i = 0; i < apart.count; i++)
		columns_add(&c, COLUMN_COUNT, "counter_user_", apart.items[i]);
	struct table *t = table_of(&c);
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < views[i].count; j++) {
			const struct execution *x = &views[i].executions[j];
			const struct emp_verdict *v =
				j < views[i].result->count ? &views[i].result->verdicts[j] : NULL;
			add_nonzero(t, views[i].run->id);
			table_add_text(t, run_title(views[i].run));
			table_add_fields(t, execution_fields, x);
			table_add_number(t, less_shell(x->et_ns, views[i].run->shell_et_ns));
			table_add_number(t, headline_pt(&views[i], x));
			table_add_text(t, v ? emp_rule_names[v->rule] : NULL);
			table_add_text(t, v && *v->reason ? v->reason : NULL);
			for (size_t k = 0; ledger && k < LEDGER_CAUSES; k++)
				table_add_number(t, x->ledger.present ? (double)x->ledger.wall_ns[k]
								      : NAN);
			for (size_t k = 0; k < names.count; k++) {
				const struct counter *n =
					counter_find(&x->counters, names.items[k]);
				if (n)
					table_add_count(t, n->value);
				else
					table_add_absent(t);
			}
			for (size_t k = 0; k < apart.count; k++) {
				int64_t n = counter_in_user_mode(&x->counters, apart.items[k]);
				if (n >= 0)
					table_add_count(t, n);
				else
					table_add_absent(t);
			}
		}
	return t;
}

struct table *time_executions_brief(const struct run_view *view)
{
	static const struct column columns[] = {
		{ "number", "#", COLUMN_COUNT },
		{ "et", "Elapsed", COLUMN_DURATION, .digits = 5 },
		{ "pt", "Process", COLUMN_DURATION, .digits = 5 },
		{ "rss_peak", "Memory", COLUMN_BYTES, .spare = 1 },
		{ "nivcsw", "Forced", COLUMN_COUNT, .spare = 2 },
		{ "rule", "Rule", COLUMN_TEXT },
		{ "reason", "Reason", COLUMN_TEXT },
	};
	struct table *t = table_new(columns, COUNT(columns));
	const struct run *run = view->run;
	for (size_t i = 0; i < view->count; i++) {
		const struct execution *x = &view->executions[i];
		const struct emp_verdict *v = i < view->result->count ? &view->result->verdicts[i]
								      : NULL;
		table_add_count(t, x->number);
		table_add_number(t, less_shell(x->et_ns, run->shell_et_ns));
		table_add_number(t, headline_pt(view, x));
		table_add_number(t,
				 x->totals.rss_peak_bytes ? (double)x->totals.rss_peak_bytes : NAN);
		if (x->totals.present >> TASK_NIVCSW & 1)
			table_add_count(t, (int64_t)x->totals.value[TASK_NIVCSW]);
		else
			table_add_absent(t);
		table_add_text(t, v ? emp_rule_names[v->rule] : NULL);
		table_add_text(t, v ? v->reason : NULL);
	}
	return t;
}

struct table *time_processes(const struct run_view *view)
{
	static const struct column columns[] = {
		{ "name", "Process", COLUMN_TEXT },
		{ "role", "Role", COLUMN_TEXT },
		{ "executions", "Seen", COLUMN_COUNT, .spare = 2 },
		{ "exec_total", "Total", COLUMN_DURATION, .digits = 3 },
		{ "exec_mean", "Mean", COLUMN_DURATION, .digits = 3, .spare = 1 },
		{ "exec_max", "Max", COLUMN_DURATION, .digits = 3, .spare = 3 },
		{ "share_of_et", "Share", COLUMN_PERCENT },
		{ "started", "Start", COLUMN_COUNT, .spare = 4 },
		{ "ended", "End", COLUMN_COUNT, .spare = 5 },
	};
	struct table *t = table_new(columns, COUNT(columns));
	struct shares shares;
	shares_of(view, &shares);
	array_each(s, &shares.list) {
		double exec = s->exec_seen ? (double)s->exec_ns : NAN;
		table_add_text(t, s->name);
		table_add_text(t, role_names[s->role]);
		table_add_count(t, (int64_t)s->executions);
		table_add_number(t, exec);
		table_add_number(t, exec / (double)shares.executions);
		table_add_number(t, s->exec_seen ? (double)s->exec_max_ns : NAN);
		table_add_number(t, shares.window_ns ? exec / (double)shares.window_ns : NAN);
		table_add_count(t, (int64_t)s->started);
		table_add_count(t, (int64_t)s->ended);
	}
	shares_release(&shares);
	return t;
}
