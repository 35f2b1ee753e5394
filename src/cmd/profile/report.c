/* tare profile report and diff: views of stored profiles. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/profile/profile.h"

#define BY_CHOICES                                                               \
	"system|app|instance|thread|object|function|line|instruction|container|" \
	"callers"

/* ---- which samples ---- */

void profile_filter_specs(spec_list *into, struct profile_filter_options *f)
{
	const struct option_spec specs[] = {
		{ 0, "app", OPTION_TEXT, &f->app, "NAME",
		  "of this program; * and ? as in a shell" },
		{ 0, "instance", OPTION_INTEGER, &f->instance, "NUM",
		  "of this instance of the program", .max = INT32_MAX },
		{ 0, "pid", OPTION_INTEGER, &f->pid, "PID", "of this process", .min = 1,
		  .max = INT32_MAX },
		{ 0, "tid", OPTION_INTEGER, &f->tid, "TID", "of this thread", .min = 1,
		  .max = INT32_MAX },
		{ 0, "comm", OPTION_TEXT, &f->comm, "NAME", "of threads called so" },
		{ 0, "container", OPTION_TEXT, &f->container, "ID", "of a container or cgroup" },
		{ 0, "object", OPTION_TEXT, &f->object, "NAME", "in this file, as libc.so.6" },
		{ 0, "function", OPTION_TEXT, &f->function, "NAME",
		  "with this function on the stack; by line: in it" },
		{ 0, "user", OPTION_FLAG, &f->user, NULL, "in user space" },
		{ 0, "kernel", OPTION_FLAG, &f->kernel, NULL, "in the kernel" },
		{ 0, "since", OPTION_DURATION, &f->since_ns, "TIME",
		  "slices from TIME after the begin on" },
		{ 0, "until", OPTION_DURATION, &f->until_ns, "TIME",
		  "slices until TIME after the begin" },
	};
	cmd_add_specs(into, specs, sizeof specs / sizeof *specs);
}

int profile_filter_check(const char *command, const struct profile_filter_options *f,
			 struct error *err)
{
	if (f->user && f->kernel)
		return error_set(err, EXIT_USAGE, "%s: --user or --kernel; without, it is both",
				 command);
	if (f->until_ns && f->until_ns <= f->since_ns)
		return error_set(err, EXIT_USAGE, "%s: --until lies before --since", command);
	return 0;
}

struct sleepy_filter profile_filter_make(const struct profile_filter_options *f)
{
	return (struct sleepy_filter){ .app = f->app,
				       .object = f->object,
				       .function = f->function,
				       .comm = f->comm,
				       .container = f->container,
				       .instance = f->instance,
				       .pid = (uint32_t)f->pid,
				       .tid = (uint32_t)f->tid,
				       .space = f->user	    ? 1
						: f->kernel ? 2
							    : 0 };
}

/* ---- rendered ---- */

struct profile_style profile_style_of(const struct profile_display *d, const struct profile *p)
{
	return (struct profile_style){
		.style = { .width = (size_t)cmd_columns(), .colour = cmd_colour() },
		.most = d->top == PROFILE_NOT_GIVEN ? PROFILE_ROWS : (size_t)d->top,
		.least_share = d->least,
		.totals = p->stacks != STACKS_NONE,
		.by_total = p->stacks != STACKS_NONE && d->sort == 1,
		.all = !d->top
	};
}

#define VIEWS_MOST 3

static void render_text(const struct profile_subject *subject, const struct sleepy_view *views,
			size_t count, const struct profile_style *style, struct strbuf *out)
{
	profile_head_text(subject, style, out);
	for (size_t i = 0; i < count; i++) {
		strbuf_putc(out, '\n');
		profile_view_text(subject, &views[i], style, out);
	}
	SCOPED(strbuf_release) struct strbuf notes = { 0 };
	profile_notes_text(subject, style, &notes);
	if (style->totals && count > 1)
		put_wrapped(&notes, &style->style, "Callers: ", 2,
			    "tare profile report --tree, --by callers or --function NAME");
	if (notes.length)
		strbuf_printf(out, "\n%s", strbuf_text(&notes));
}

void profile_render_table(struct table *t, const struct profile_display *d, struct strbuf *out)
{
	static const enum table_format formats[] = { [PROFILE_AS_TEXT] = TABLE_TEXT,
						     [PROFILE_AS_JSON] = TABLE_JSON,
						     [PROFILE_AS_CSV] = TABLE_CSV,
						     [PROFILE_AS_MARKDOWN] = TABLE_MARKDOWN };
	table_render(t, formats[d->as], NULL, out);
	table_free(t);
}

/* ---- nothing of what was asked for ---- */

/* A name that was mistyped must not look like a program that did nothing. */
static int no_samples(const struct profile_filter_options *f, struct error *err)
{
	/* with the view that lists what could have been asked for, the last one given counts */
	const struct {
		const char *option, *text;
		long number; /* where there is no text; negative: not given */
		enum sleepy_by by;
	} asked[] = {
		{ "app", f->app, -1, SLEEPY_APP },
		{ "container", f->container, -1, SLEEPY_CONTAINER },
		{ "instance", NULL, f->instance, SLEEPY_INSTANCE },
		{ "pid", NULL, f->pid ? f->pid : -1, SLEEPY_INSTANCE },
		{ "tid", NULL, f->tid ? f->tid : -1, SLEEPY_THREAD },
		{ "comm", f->comm, -1, SLEEPY_THREAD },
		{ "object", f->object, -1, SLEEPY_OBJECT },
		{ "function", f->function, -1, SLEEPY_FUNCTION },
	};
	enum sleepy_by by = SLEEPY_SYSTEM;
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
		if (!asked[i].text && asked[i].number < 0)
			continue;
		by = asked[i].by;
		strbuf_printf(&text, " --%s ", asked[i].option);
		if (asked[i].text)
			strbuf_printf(&text, "'%s'", DISPLAYED(asked[i].text, 128));
		else
			strbuf_printf(&text, "%ld", asked[i].number);
	}
	strbuf_puts(&text, f->user ? " --user" : f->kernel ? " --kernel" : "");
	strbuf_puts(&text, f->since_ns ? " --since" : "");
	strbuf_puts(&text, f->until_ns ? " --until" : "");
	error_set(err, EXIT_USAGE, "there are no samples of what was asked for:%s",
		  strbuf_text(&text));
	if (by == SLEEPY_SYSTEM)
		return -1;
	return error_hint(err, "'tare profile report --by %s' lists what there is",
			  sleepy_by_names[by]);
}

/* An empty profile has nothing, whatever is asked for: that is no mistake. */
static bool found_nothing(const struct profile_filter_options *f, const struct sleepy_view *v)
{
	return !v->samples && (v->all || f->since_ns || f->until_ns);
}

/* ---- what calls what ---- */

static bool shows_calls(const struct profile_display *d, const struct profile *p)
{
	return d->tree || d->by == PROFILE_BY_CALLERS ||
	       (d->filter.function && d->by == PROFILE_NOT_GIVEN && p->stacks != STACKS_NONE &&
		d->as == PROFILE_AS_TEXT);
}

/* Of one function those who call it and what it calls; else one of the two, of all. */
static int render_calls(const struct loaded_run *l, const struct profile_display *d,
			struct strbuf *out, struct error *err)
{
	const struct profile_subject subject = loaded_profile(l);
	const struct sleepy_filter filter = profile_filter_make(&d->filter);
	struct profile_style style = profile_style_of(d, &l->profile);
	SCOPED(sleepy_view_release) struct sleepy_view view = { 0 };
	bool callers = d->by == PROFILE_BY_CALLERS;
	if (l->profile.stacks == STACKS_NONE) {
		error_set(err, EXIT_USAGE, "this profile has no callers");
		return error_hint(err, "'tare profile -g' records them");
	}
	sleepy_aggregate(&l->profile, SLEEPY_SYSTEM, &filter, d->merge_inlined, &view);
	if (found_nothing(&d->filter, &view))
		return no_samples(&d->filter, err);
	struct profile_calls calls = { .filter = &filter,
				       .function = d->filter.function,
				       .up = callers,
				       .direct = callers && !d->filter.function,
				       .merge_inlined = d->merge_inlined };
	if (d->top == PROFILE_NOT_GIVEN && !calls.direct)
		style.most = PROFILE_TREE_ROWS;
	if (d->as != PROFILE_AS_TEXT) {
		profile_render_table(profile_calls_table(&subject, &calls, &style), d, out);
		return 0;
	}
	profile_head_text(&subject, &style, out);
	for (int up = 1; up >= 0; up--) {
		/* of one function both, unless one of them was asked for */
		if (calls.function && !d->tree && !callers)
			calls.up = up;
		else if (up != calls.up)
			continue;
		strbuf_putc(out, '\n');
		profile_calls_text(&subject, &calls, &style, out);
	}
	return 0;
}

/* ---- one of them ---- */

int profile_render(const struct loaded_run *l, const struct profile_display *d, struct strbuf *out,
		   struct error *err)
{
	if (d->by == SLEEPY_INSTRUCTION && d->filter.function)
		return profile_render_listing(l, d, out, err);
	if (shows_calls(d, &l->profile))
		return render_calls(l, d, out, err);
	enum sleepy_by by[VIEWS_MOST];
	struct sleepy_view views[VIEWS_MOST];
	size_t count = 0;
	if (d->by != PROFILE_NOT_GIVEN) {
		by[count++] = (enum sleepy_by)d->by;
	} else {
		if (d->as == PROFILE_AS_JSON)
			by[count++] = SLEEPY_SYSTEM;
		if (d->as == PROFILE_AS_JSON || d->as == PROFILE_AS_TEXT)
			by[count++] = SLEEPY_APP;
		by[count++] = SLEEPY_FUNCTION;
	}
	struct sleepy_filter filter = profile_filter_make(&d->filter);
	const struct profile_subject subject = loaded_profile(l);
	const struct profile_style style = profile_style_of(d, &l->profile);
	/* lines are of their function's own code */
	filter.innermost = d->by == SLEEPY_LINE || d->by == SLEEPY_INSTRUCTION;
	memset(views, 0, sizeof views);
	for (size_t i = 0; i < count; i++)
		sleepy_aggregate(&l->profile, by[i], &filter, d->merge_inlined, &views[i]);
	int failed = found_nothing(&d->filter, &views[0]) ? no_samples(&d->filter, err) : 0;
	if (!failed && d->as == PROFILE_AS_TEXT)
		render_text(&subject, views, count, &style, out);
	else if (!failed && d->as == PROFILE_AS_JSON)
		profile_json(&subject, views, count, &style, out);
	else if (!failed)
		profile_render_table(profile_view_table(&subject, &views[count - 1], &style), d,
				     out);
	for (size_t i = 0; i < count; i++)
		sleepy_view_release(&views[i]);
	return failed;
}

/* ---- two of them ---- */

static int render_diff(const struct loaded_run *a, const struct loaded_run *b,
		       const struct profile_display *d, struct strbuf *out, struct error *err)
{
	enum sleepy_by by = d->by == PROFILE_NOT_GIVEN ? SLEEPY_FUNCTION : (enum sleepy_by)d->by;
	SCOPED(sleepy_view_release) struct sleepy_view before = { 0 }, after = { 0 };
	SCOPED(sleepy_diff_release) struct sleepy_diff diff = { 0 };
	if (!a->profile.samples.count || !b->profile.samples.count)
		return error_set(err, EXIT_USAGE, "run %" PRId64 " has no samples to compare",
				 a->profile.samples.count ? b->run.id : a->run.id);
	const struct sleepy_filter filter = profile_filter_make(&d->filter);
	sleepy_aggregate(&a->profile, by, &filter, d->merge_inlined, &before);
	sleepy_aggregate(&b->profile, by, &filter, d->merge_inlined, &after);
	sleepy_compare(&before, &after, a->profile.hz, b->profile.hz, &diff);
	const struct profile_subject sa = loaded_profile(a), sb = loaded_profile(b);
	const struct profile_style style = profile_style_of(d, &b->profile);
	int failed = found_nothing(&d->filter, &before) && found_nothing(&d->filter, &after)
			     ? no_samples(&d->filter, err)
			     : 0;
	if (!failed && d->as == PROFILE_AS_TEXT)
		profile_diff_text(&sa, &sb, &diff, &style, out);
	else if (!failed && d->as == PROFILE_AS_JSON)
		profile_diff_json(&sa, &sb, &diff, out);
	else if (!failed)
		profile_render_table(profile_diff_table(&diff, &style), d, out);
	return failed;
}

/* ---- the commands ---- */

struct report_options {
	struct profile_display display;
	bool json, csv, markdown;
	const char *least;
	struct lab_access *lab;
	bool compare; /* `tare profile diff` */
	text_list diff;
};

/* Elsewhere 2 may be 2 % or 200 %; here, where others take per cent too, it can be but one. */
static bool least_parse(const char *text, double *least)
{
	double percent;
	if (fraction_parse(text, least))
		return *least <= 1;
	if (!real_parse(text, &percent) || percent < 1 || percent > 100)
		return false;
	*least = percent / 100;
	return true;
}

static int check(const char *command, struct report_options *o, bool diff, struct error *err)
{
	struct profile_display *d = &o->display;
	if (o->json + o->csv + o->markdown > 1)
		return error_set(err, EXIT_USAGE,
				 "%s: --json, --csv and --markdown exclude each other", command);
	if (o->least && !least_parse(o->least, &d->least))
		return error_set(err, EXIT_USAGE,
				 "%s: --percent-limit wants a share such as 0.5%%, not '%s'",
				 command, DISPLAYED(o->least, 128));
	d->as = o->json	      ? PROFILE_AS_JSON
		: o->csv      ? PROFILE_AS_CSV
		: o->markdown ? PROFILE_AS_MARKDOWN
			      : PROFILE_AS_TEXT;
	if (d->tree && d->by != PROFILE_NOT_GIVEN)
		return error_set(err, EXIT_USAGE, "%s: --tree is a view of its own, without --by",
				 command);
	if (diff && (d->tree || d->by == PROFILE_BY_CALLERS))
		return error_set(err, EXIT_USAGE, "%s: trees of calls are not compared", command);
	if (diff && d->by == SLEEPY_INSTRUCTION)
		return error_set(err, EXIT_USAGE,
				 "%s: instructions of two profiles cannot be matched", command);
	return profile_filter_check(command, &d->filter, err);
}

static int report(void *options, const struct cmd_args *args, struct error *err)
{
	struct report_options *o = options;
	const struct profile_display *d = &o->display;
	const char *command = args->argv[0];
	const text_list *runs = o->diff.count ? &o->diff : &args->operands;
	bool compare = o->compare || o->diff.count;
	struct loaded_run loaded[2] = { 0 };
	SCOPED(strbuf_release) struct strbuf out = { 0 };
	if (check(command, o, compare, err))
		return -1;
	if (o->diff.count > 2 || (o->diff.count && args->operands.count))
		return error_set(err, EXIT_USAGE, "%s: --diff takes two runs and is all", command);
	if (o->compare && runs->count != 2) {
		error_set(err, EXIT_USAGE, "profile diff: two runs, A and B");
		return error_hint(err, "'tare profile diff @1 last', for example");
	}
	if (!compare && runs->count > 1) {
		error_set(err, EXIT_USAGE, "%s: one RUN, not %zu", command, runs->count);
		return error_hint(err, "'tare profile diff A B' compares two");
	}
	struct lab *lab = lab_access_open(o->lab, err);
	int failed = !lab;
	for (size_t i = 0; !failed && i < (compare ? 2 : 1); i++)
		failed = profile_load_named(
			&loaded[i], lab, i < runs->count ? runs->items[i] : NULL, &d->filter, err);
	if (!failed)
		failed = compare ? render_diff(&loaded[0], &loaded[1], d, &out, err)
				 : profile_render(&loaded[0], d, &out, err);
	if (!failed)
		fputs(strbuf_text(&out), stdout);
	loaded_run_release(&loaded[0]);
	loaded_run_release(&loaded[1]);
	return failed ? -1 : EXIT_DONE;
}

static int run(struct lab_access *lab, bool compare, const char *usage, const char *about, int argc,
	       char **argv)
{
	struct report_options o = { .display = PROFILE_DISPLAY, .lab = lab, .compare = compare };
	struct profile_display *d = &o.display;
	const struct option_spec own[] = {
		{ 0, "by", OPTION_CHOICE, &d->by, BY_CHOICES, "the view" },
		{ 0, "tree", OPTION_FLAG, &d->tree, NULL, "what calls what, from the outside in" },
		{ 0, "top", OPTION_INTEGER, &d->top, "NUM",
		  "rows (default: 20, of a tree 60; 0: all)", .max = INT32_MAX },
		{ 0, "percent-limit", OPTION_TEXT, &o.least, "SHARE",
		  "only rows of at least this share, as 1% or 1" },
		{ 0, "sort", OPTION_CHOICE, &d->sort, "self|total",
		  "by its own samples, or with those of what it called" },
		{ 0, "merge-inlined", OPTION_FLAG, &d->merge_inlined, NULL,
		  "inlined functions count as their caller's" },
		{ 0, "json", OPTION_FLAG, &o.json, NULL, "as JSON" },
		{ 0, "csv", OPTION_FLAG, &o.csv, NULL, "as CSV" },
		{ 0, "markdown", OPTION_FLAG, &o.markdown, NULL, "as a Markdown table" },
		{ 0, "lab", OPTION_TEXT, &lab->file, "FILE", "the lab (default: your own)" },
	};
	const struct option_spec two = {
		0,	   "diff", OPTION_TEXTS,
		&o.diff,   "A B",  "compare two runs, as 'tare profile diff'",
		.arity = 2
	};
	FREED spec_list specs = { 0 };
	cmd_add_specs(&specs, own, sizeof own / sizeof *own);
	profile_filter_specs(&specs, &d->filter);
	if (!compare)
		array_push(&specs, two);
	array_push(&specs, (struct option_spec){ 0 });
	int code = cmd_run(usage, about, specs.items, argc, argv, report, &o);
	array_release(&o.diff);
	return code;
}

int profile_report(struct lab_access *lab, int argc, char **argv)
{
	return run(lab, false, "tare profile report [OPTIONS] [RUN]",
		   "Where the time of a stored profile went; the default is the newest one, also\n"
		   "while it is going. --by instruction --function NAME lists machine code.\n",
		   argc, argv);
}

int profile_diff(struct lab_access *lab, int argc, char **argv)
{
	return run(lab, true, "tare profile diff [OPTIONS] A B",
		   "What takes more, and what less, of the time in B than in A: by function,\n"
		   "unless --by says otherwise, with the interval of the difference.\n",
		   argc, argv);
}
