/* The kinds of figures: what each is made from. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "cmd/calibrate/calibrate.h"
#include "cmd/calibrate/cutoffs.h"
#include "cmd/cmd.h"
#include "cmd/duets.h"
#include "cmd/noise/noise.h"
#include "cmd/page/plot.h"
#include "cmd/profile/profile.h"
#include "cmd/query/query.h"
#include "cmd/view.h"
#include "run/find.h"

#define DEFAULT_TOP 15
#define MOST_ROWS 300 /* of a figure on paper */

/* ---- time ---- */

enum time_figure { SAMPLES, HISTOGRAM, DENSITY, LEDGER, DUAL, COMPARE, SIGMA };

static int make_time(const struct plot_options *o, int which, struct chart *c, struct error *err)
{
	enum emp_measure m = compared_measures[o->measure];
	SCOPED(loaded_release) loaded_list list = { 0 };
	/* ledgers also say by what runs are to be compared */
	bool ledgers = which == LEDGER || which == COMPARE;
	const struct load_options how = { .detail = ledgers ? LAB_PROCESSES : LAB_ROWS,
					  .measure = compared_words[o->measure] };
	int failed = cmd_load_runs(o->lab, &o->runs, o->together, &how, &list, err);
	if (!failed) {
		struct run_view *v = loaded_views(&list);
		switch ((enum time_figure)which) {
		case SAMPLES:
			failed = chart_samples(c, v, m, err);
			break;
		case HISTOGRAM:
			failed = chart_histogram(c, v, m, err);
			break;
		case DENSITY:
			failed = chart_density(c, v, m, err);
			break;
		case LEDGER:
			failed = chart_ledger(c, v, err);
			break;
		case DUAL:
			failed = chart_dual(c, v, m, err);
			break;
		case COMPARE:
			failed = chart_compare(c, v, list.count, m, err);
			break;
		case SIGMA:
			failed = chart_sigma(c, v, list.count, err);
			break;
		}
		free(v);
	}
	return failed;
}

/* ---- noise ---- */

enum noise_figure { DETOURS, SOURCES, SPEED };

static const char *first_run(const struct plot_options *o)
{
	return o->runs.count ? o->runs.items[0] : "last";
}

static size_t top_of(const struct plot_options *o)
{
	return o->top ? (size_t)o->top : DEFAULT_TOP;
}

/* The second run, else the machine's baseline; 0: none, or it is the run itself. */
static int find_base(struct lab *lab, const struct plot_options *o, const struct loaded_run *l,
		     int64_t *id, struct error *err)
{
	*id = 0;
	if (o->runs.count > 2)
		return error_set(err, EXIT_USAGE,
				 "plot: a run of noise and one as its baseline, not %zu",
				 o->runs.count);
	if (o->runs.count > 1)
		return noise_find(lab, o->runs.items[1], &l->machine, id, err);
	if (l->machine.facts.count && lab_get_baseline(lab, &l->machine, id, err))
		return -1;
	*id = *id == l->run.id ? 0 : *id;
	return 0;
}

static int make_noise(const struct plot_options *o, int which, struct chart *c, struct error *err)
{
	SCOPED(loaded_run_release) struct loaded_run l = { 0 }, base = { 0 };
	struct lab *lab = NULL;
	int64_t id = 0;
	int failed = !(lab = lab_access_open(o->lab, err)) ||
		     noise_find(lab, first_run(o), NULL, &id, err) ||
		     run_load(&l, lab, id, NULL, err);
	if (!failed && which == DETOURS)
		failed = find_base(lab, o, &l, &id, err) ||
			 (id && run_load(&base, lab, id, NULL, err));
	if (!failed) {
		struct noise_view v = loaded_noise(&l), b = loaded_noise(&base);
		failed = which == DETOURS   ? chart_noise(c, &v, base.run.id ? &b : NULL, err)
			 : which == SOURCES ? chart_sources(c, &v, top_of(o), err)
					    : chart_speed(c, &v, err);
	}
	return failed;
}

/* ---- profiles ---- */

enum profile_figure { FUNCTIONS, SYSTEM };

static int make_profile(const struct plot_options *o, int which, struct chart *c, struct error *err)
{
	SCOPED(loaded_run_release) struct loaded_run l = { 0 };
	const struct profile_filter_options all = { 0 };
	struct lab *lab = lab_access_open(o->lab, err);
	int failed = !lab || profile_load_named(&l, lab, first_run(o), &all, err);
	struct profile_subject s = loaded_profile(&l);
	if (!failed && which == FUNCTIONS) {
		SCOPED(sleepy_view_release) struct sleepy_view v = { 0 };
		sleepy_aggregate(&l.profile, SLEEPY_FUNCTION, &(struct sleepy_filter)SLEEPY_ALL,
				 false, &v);
		failed = chart_functions(c, &s, &v, top_of(o), err);
	} else if (!failed) {
		failed = chart_system(c, &s, err);
	}
	return failed;
}

/* ---- queries ---- */

enum query_figure { TIMES, SPLIT, MATRIX };

/* By number or name; *query 0: all. */
static int choose_query(const struct plot_options *o, const struct query_run *q, uint32_t *query,
			struct error *err)
{
	long number;
	char shown[64];
	*query = 0;
	if (!o->query)
		return 0;
	for (size_t i = 0; i < q->texts.count && !*query; i++)
		if (q->texts.items[i].name && strcmp(q->texts.items[i].name, o->query) == 0)
			*query = q->texts.items[i].query;
	if (!*query && integer_parse(o->query, 1, UINT32_MAX, &number))
		for (size_t i = 0; i < q->at.count; i++)
			if (q->at.items[i].query == (uint32_t)number)
				*query = (uint32_t)number;
	if (*query)
		return 0;
	text_display(o->query, shown, sizeof shown);
	error_set(err, EXIT_USAGE, "plot: the run has no query '%s'", shown);
	return error_hint(err, "a query's name or its number from 1 to %" PRIu32, q->queries);
}

static int make_query(const struct plot_options *o, int which, struct chart *c, struct error *err)
{
	struct lab *lab = NULL;
	SCOPED(loaded_run_release) struct loaded_run l = { 0 };
	int64_t id;
	uint32_t query;
	int failed = !(lab = lab_access_open(o->lab, err)) ||
		     run_find(lab, first_run(o), LAB_OF(SUBJECT_QUERY), &id, err) ||
		     run_load(&l, lab, id, NULL, err) || choose_query(o, &l.queries, &query, err);
	if (!failed) {
		struct query_view v = loaded_queries(&l);
		failed = which == TIMES	  ? chart_query(c, &v, query, err)
			 : which == SPLIT ? chart_split(c, &v, query, err)
					  : chart_matrix(c, &v, err);
		if (!failed && which == SPLIT && c->y.ticks.count > MOST_ROWS) {
			failed = error_set(err, EXIT_USAGE, "%zu Q@Cs are too many for one figure",
					   c->y.ticks.count);
			error_hint(err, "--query NUM shows those of one query");
		}
	}
	return failed;
}

/* ---- duets ---- */

enum duet_figure { RATIOS, FOREST };

static int make_duet(const struct plot_options *o, int which, struct chart *c, struct error *err)
{
	SCOPED(loaded_release) loaded_list list = { 0 };
	struct lab *lab = lab_access_open(o->lab, err);
	int failed = lab ? 0 : -1;
	int64_t id;
	for (size_t i = 0; !failed && (i < o->runs.count || !i); i++)
		failed = run_find(lab, o->runs.count ? o->runs.items[i] : "last",
				  LAB_OF(SUBJECT_DUET), &id, err) ||
			 loaded_add(&list, lab, id, NULL, err);
	if (failed)
		return -1;
	FREED struct duet_view *views = loaded_duets(&list);
	return which == RATIOS ? chart_duet(c, views, err)
			       : chart_forest(c, views, list.count, err);
}

/* ---- daemon studies ---- */

enum study_figure { ZOOMS, PERIODS };

static int draw_study(const struct plot_options *o, int which, const struct study *s,
		      const struct machine *m, const struct study_input *in,
		      bool *const is_l[STUDY_LENGTHS], struct chart *c, struct error *err)
{
	enum study_length l = o->long_run ? STUDY_LONG : STUDY_SHORT;
	if (!s->runs[l].present)
		return error_set(err, EXIT_USAGE, "study %" PRId64 " has no %s run", s->id,
				 study_length_names[l]);
	if (!is_l[l])
		return error_set(err, EXIT_USAGE,
				 "the samples of study %" PRId64
				 " are not in the lab: its run is gone, or it was cut from a watch",
				 s->id);
	return which == PERIODS
		       ? chart_periods(c, s, l, m, &in->runs[l], err)
		       : chart_zoom(c, s, l, m, &in->runs[l], is_l[l], (size_t)o->zoom, err);
}

static int make_study(const struct plot_options *o, int which, struct chart *c, struct error *err)
{
	struct lab *lab = NULL;
	SCOPED(study_release) struct study s = { 0 };
	SCOPED(machine_release) struct machine m = { 0 };
	SCOPED(study_input_release) struct study_input in = { .notice = cmd_notice };
	bool *is_l[STUDY_LENGTHS] = { 0 };
	int64_t id = 0; /* the newest of this machine */
	int failed = !(lab = lab_access_open(o->lab, err)) ||
		     (*o->daemons && cutoffs_parse_study(o->daemons, &id, err)) ||
		     cutoffs_get_study(lab, id, &s, &m, err) ||
		     study_load_samples(lab, &s, &in, is_l, err) ||
		     draw_study(o, which, &s, &m, &in, is_l, c, err);
	for (int l = 0; l < STUDY_LENGTHS; l++)
		free(is_l[l]);
	return failed;
}

/* ---- all of them ---- */

/* Options of a kind. */
enum { MEASURE = 1, STUDY = 2, TOP = 4, QUERY = 8, LONG = 16, ZOOM = 32 };

const struct plot_kind plot_kinds[] = {
	{ "samples", SUBJECT_COMMAND, false, "executions over time, dropped ones marked", make_time,
	  SAMPLES, MEASURE },
	{ "histogram", SUBJECT_COMMAND, false, "how often which time", make_time, HISTOGRAM,
	  MEASURE },
	{ "density", SUBJECT_COMMAND, false, "the same as densities", make_time, DENSITY, MEASURE },
	{ "ledger", SUBJECT_COMMAND, false, "where the time of each execution went", make_time,
	  LEDGER, 0 },
	{ "dual", SUBJECT_COMMAND, false, "each execution against the one before", make_time, DUAL,
	  MEASURE },
	{ "compare", SUBJECT_COMMAND, true, "means of several runs with intervals", make_time,
	  COMPARE, MEASURE | STUDY },
	{ "sigma", SUBJECT_COMMAND, true, "standard deviation against task length", make_time,
	  SIGMA, STUDY },
	{ "noise", SUBJECT_CPU, true, "densities of detours, beside the baseline", make_noise,
	  DETOURS, 0 },
	{ "sources", SUBJECT_CPU, false, "time taken by each source", make_noise, SOURCES, TOP },
	{ "speed", SUBJECT_CPU, false, "speed of the watched CPUs over time", make_noise, SPEED,
	  0 },
	{ "functions", SUBJECT_SYSTEM, false, "the functions with the most samples", make_profile,
	  FUNCTIONS, TOP },
	{ "system", SUBJECT_SYSTEM, false, "what the CPUs did over time", make_profile, SYSTEM, 0 },
	{ "query", SUBJECT_QUERY, false, "time by cardinality, plan changes marked", make_query,
	  TIMES, QUERY },
	{ "split", SUBJECT_QUERY, false, "CPU, own I/O and other of each Q@C", make_query, SPLIT,
	  QUERY },
	{ "matrix", SUBJECT_QUERY, false, "correlations of the model's measures", make_query,
	  MATRIX, 0 },
	{ "duet", SUBJECT_DUET, false, "the ratio of each pair, and how it settled", make_duet,
	  RATIOS, 0 },
	{ "forest", SUBJECT_DUET, true, "ratios of duets with intervals", make_duet, FOREST, 0 },
	{ "zooms", SUBJECT_KINDS, false, "pairs of samples at a zoom level", make_study, ZOOMS,
	  LONG | ZOOM },
	{ "periods", SUBJECT_KINDS, false, "when each long-running daemon ran", make_study, PERIODS,
	  LONG },
	{ 0 },
};

const struct plot_kind *plot_kind_find(const char *name)
{
	for (const struct plot_kind *k = plot_kinds; k->name; k++)
		if (strcmp(k->name, name) == 0)
			return k;
	return NULL;
}

static const char *subject_words(enum subject_kind of)
{
	static const char *const words[SUBJECT_KINDS + 1] = {
		[SUBJECT_COMMAND] = "of 'tare time'",	[SUBJECT_CPU] = "of 'tare noise'",
		[SUBJECT_SYSTEM] = "of 'tare profile'", [SUBJECT_QUERY] = "of 'tare query'",
		[SUBJECT_DUET] = "of 'tare duet'",	[SUBJECT_KINDS] = "a daemon study",
	};
	return words[of];
}

/* Neither a run nor a kind: which of the two was meant is told by where it stands. */
static int unknown_word(const struct plot_options *o, const char *word, struct error *err)
{
	const char *names[sizeof plot_kinds / sizeof *plot_kinds] = { NULL };
	char shown[64];
	for (size_t i = 0; plot_kinds[i].name; i++)
		names[i] = plot_kinds[i].name;
	const char *near = nearest_word(word, names);
	if (o->runs.count < 2 && !near)
		return -1; /* there is no such run, as err says */
	text_display(word, shown, sizeof shown);
	error_set(err, EXIT_USAGE, "plot: '%s' is neither a run nor a kind of figure", shown);
	if (near)
		return error_hint(err, "did you mean '%s'?", near);
	return error_hint(err, "'tare plot --help' lists the kinds");
}

/* The subject of all runs. 'last' is the newest that `asked` can be drawn of. */
static int find_subject(const struct plot_options *o, const struct plot_kind *asked,
			enum subject_kind *of, int64_t *id, struct error *err)
{
	const unsigned kinds = asked ? LAB_OF(asked->of) : LAB_ALL_KINDS;
	struct lab *lab = NULL;
	int failed = !(lab = lab_access_open(o->lab, err));
	size_t count = o->runs.count ? o->runs.count : 1;
	for (size_t i = 0; i < count && !failed; i++) {
		const char *name = o->runs.count ? o->runs.items[i] : "last";
		int64_t found = 0;
		enum subject_kind kind = SUBJECT_COMMAND;
		failed = lab_find_run(lab, name, kinds, &found, &kind, err);
		if (failed && i + 1 == o->runs.count)
			unknown_word(o, name, err);
		if (!failed && !found) /* says that there is none */
			failed = run_find(lab, name, kinds, &found, err);
		if (!failed && i && kind != *of) {
			failed = error_set(err, EXIT_USAGE,
					   "plot: run %" PRId64 " is one %s, run %" PRId64
					   " one %s: no figure shows both",
					   *id, subject_words(*of), found, subject_words(kind));
		} else if (!failed && !i) {
			*of = kind;
			*id = found;
		}
	}
	return failed;
}

int plot_kind_choose(const struct plot_options *o, const struct plot_kind *asked,
		     const struct plot_kind **into, struct error *err)
{
	const struct {
		const char *name;
		bool given;
		unsigned option;
	} options[] = { { "--measure", o->measure != 0, MEASURE },
			{ "--study", o->together, STUDY },
			{ "--top", o->top != 0, TOP },
			{ "--query", o->query != NULL, QUERY },
			{ "--long", o->long_run, LONG },
			{ "--zoom", o->zoom != 0, ZOOM } };
	enum subject_kind of = SUBJECT_KINDS;
	int64_t id = 0;
	const struct plot_kind *k = asked ? asked : plot_kinds;
	bool several = o->together || o->runs.count > 1;
	if (!o->daemons && (!asked || k->of != SUBJECT_KINDS) &&
	    find_subject(o, asked, &of, &id, err))
		return -1;
	if (!o->daemons && asked && k->of == SUBJECT_KINDS) {
		error_set(err, EXIT_USAGE, "plot: '%s' is of a daemon study, not of a run",
			  k->name);
		return error_hint(err, "'tare plot --daemons %s -o FILE' draws it", k->name);
	}
	while (!asked && k->of != of)
		k++;
	while (!asked && several && !k->several && k[1].of == of)
		k++;
	if (k->of != of && o->daemons)
		error_set(err, EXIT_USAGE, "plot: '%s' is not a figure of a daemon study", k->name);
	else if (k->of != of)
		error_set(err, EXIT_USAGE,
			  "plot: '%s' does not fit run %" PRId64 ", which is one %s", k->name, id,
			  subject_words(of));
	else if (several && !k->several)
		error_set(err, EXIT_USAGE, "plot: '%s' shows one run, not several", k->name);
	if (*err->text) {
		SCOPED(strbuf_release) struct strbuf names = { 0 };
		for (k = plot_kinds; k->name; k++)
			if (k->of == of)
				strbuf_printf(&names, "%s%s", names.length ? ", " : "", k->name);
		error_hint(err, "what fits: %s", strbuf_text(&names));
		return -1;
	}
	*into = k;
	/* an option that does nothing would look as if it had done something */
	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		if (options[i].given && !(k->options & options[i].option))
			return error_set(err, EXIT_USAGE, "plot: %s does not go with '%s'",
					 options[i].name, k->name);
	return 0;
}
