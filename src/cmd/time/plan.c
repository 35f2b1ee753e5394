#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/file.h"
#include "base/invoker.h"
#include "base/text.h"
#include "cmd/time/plan.h"
#include "cmd/view.h"
#include "collect/machine/cpus.h"
#include "lab/lab.h"
#include "report/core/json.h"

static int make_space(const struct time_options *o, parameter_space *space, struct error *err)
{
	if (o->step && !o->scans.count)
		return error_set(err, EXIT_USAGE,
				 "time: --parameter-step-size goes with --parameter-scan");
	for (size_t i = 0; i + 2 < o->scans.count; i += 3)
		if (parameter_scan(space, o->scans.items[i], o->scans.items[i + 1],
				   o->scans.items[i + 2], o->step, err))
			return -1;
	for (size_t i = 0; i + 1 < o->lists.count; i += 2)
		if (parameter_list(space, o->lists.items[i], o->lists.items[i + 1], err))
			return -1;
	if (parameter_combinations(space) > 10000)
		return error_set(err, EXIT_USAGE,
				 "time: more than 10,000 combinations of parameters");
	return 0;
}

static int make_shell(const struct time_options *o, word_list *shell, struct error *err)
{
	if (o->no_shell && o->shell && strcmp(o->shell, "none") != 0)
		return error_set(err, EXIT_USAGE, "time: -N and --shell contradict each other");
	if (o->no_shell || (o->shell && strcmp(o->shell, "none") == 0))
		return 0;
	const char *text = o->shell && strcmp(o->shell, "default") != 0 ? o->shell : "sh";
	if (words_split(text, shell, err))
		return error_prefix(err, "time: --shell");
	if (!shell->count)
		return error_set(err, EXIT_USAGE, "time: --shell is empty");
	return 0;
}

static void through_shell(const word_list *shell, const char *text, word_list *argv)
{
	if (!shell->count)
		array_push(argv, xstrdup("sh"));
	for (size_t i = 0; i < shell->count; i++)
		array_push(argv, xstrdup(shell->items[i]));
	array_push(argv, xstrdup("-c"));
	array_push(argv, xstrdup(text));
	array_push(argv, NULL);
	argv->count--;
}

static void make_hook(const struct time_plan *p, size_t combination, const char *text,
		      word_list *argv)
{
	if (!text)
		return;
	static const parameter_space none = { 0 };
	bool reference = combination == SIZE_MAX;
	char *filled =
		parameter_fill(reference ? &none : &p->space, reference ? 0 : combination, text);
	through_shell(&p->shell, filled, argv);
	free(filled);
}

/* An option given once for all commands, or once for each: the text for command `index`. */
static const char *of_command(const text_list *list, size_t index)
{
	if (!list->count)
		return NULL;
	return list->items[list->count == 1 ? 0 : index];
}

static int check_counts(const struct time_options *o, size_t commands, struct error *err)
{
	const struct {
		const char *option;
		const text_list *list;
	} each[] = { { "--prepare", &o->prepare },
		     { "--conclude", &o->conclude },
		     { "--output", &o->outputs } };
	for (size_t i = 0; i < sizeof each / sizeof *each; i++)
		if (each[i].list->count > 1 && each[i].list->count != commands)
			return error_set(
				err, EXIT_USAGE,
				"time: %s is given %zu times for %zu commands; give it once, or "
				"once for each",
				each[i].option, each[i].list->count, commands);
	return 0;
}

static int add_command(const struct time_options *o, struct time_plan *p, const char *text,
		       size_t index, size_t combination, struct error *err)
{
	static const parameter_space none = { 0 };
	bool reference = combination == SIZE_MAX;
	const parameter_space *space = reference ? &none : &p->space;
	size_t n = reference ? 0 : combination;
	struct time_command c = { .combination = combination };
	c.text = parameter_fill(space, n, text);
	if (p->shell.count) {
		through_shell(&p->shell, c.text, &c.argv);
	} else if (words_split(c.text, &c.argv, err)) {
		free(c.text);
		return error_prefix(err, "time");
	}
	if (!c.argv.count || (p->shell.count && c.text[strspn(c.text, " \t\n")] == '\0')) {
		free(c.text);
		words_release(&c.argv);
		return error_set(err, EXIT_USAGE, "time: a command is empty");
	}
	make_hook(p, combination, o->setup, &c.setup);
	make_hook(p, combination, of_command(&o->prepare, index), &c.prepare);
	make_hook(p, combination, of_command(&o->conclude, index), &c.conclude);
	make_hook(p, combination, o->cleanup, &c.cleanup);
	c.output = parameter_fill(space, n, of_command(&o->outputs, index));
	array_push(&p->commands, c);
	return 0;
}

static int name_commands(const struct time_options *o, struct time_plan *p, size_t first,
			 size_t given, struct error *err)
{
	static const parameter_space none = { 0 };
	size_t count = p->commands.count - first;
	if (o->names.count > count)
		return error_set(err, EXIT_USAGE,
				 "time: --command-name is given %zu times for %zu commands",
				 o->names.count, count);
	for (size_t i = 0; i < p->commands.count; i++) {
		struct time_command *c = &p->commands.items[i];
		const char *text = c->text;
		if (i >= first) {
			/* one name per command as typed covers all its combinations */
			size_t typed = o->names.count == given ? (i - first) % given : i - first;
			if (typed < o->names.count)
				text = o->names.items[typed];
		}
		c->name = c->combination == SIZE_MAX
				  ? parameter_fill(&none, 0, text)
				  : parameter_fill(&p->space, c->combination, text);
	}
	return 0;
}

static int make_commands(const struct time_options *o, const text_list *operands,
			 struct time_plan *p, struct error *err)
{
	if (!operands->count) {
		error_set(err, EXIT_USAGE, "time: no command given");
		return error_hint(err, "for instance: tare time 'sort big.txt'");
	}
	size_t combinations = parameter_combinations(&p->space);
	size_t index = 0, first = o->reference ? 1 : 0;
	size_t total = operands->count * combinations + first;
	bool per_typed = o->prepare.count == operands->count ||
			 o->conclude.count == operands->count ||
			 o->outputs.count == operands->count;
	if (check_counts(o, per_typed && combinations > 1 ? operands->count : total, err))
		return -1;
	if (o->reference && add_command(o, p, o->reference, index++, SIZE_MAX, err))
		return -1;
	for (size_t n = 0; n < combinations; n++) {
		for (size_t i = 0; i < operands->count; i++) {
			size_t at = per_typed && combinations > 1 ? i : index;
			if (add_command(o, p, operands->items[i], at, n, err))
				return -1;
			index++;
		}
	}
	return name_commands(o, p, first, operands->count, err);
}

static int parse_codes(const struct time_options *o, struct time_plan *p, struct error *err)
{
	if (!o->ignore || !*o->ignore || strcmp(o->ignore, "all-non-zero") == 0) {
		p->plan.ignore_failure = o->ignore != NULL;
		return 0;
	}
	char *copy = xstrdup(o->ignore), *save = NULL;
	int failed = 0;
	for (char *word = strtok_r(copy, ",", &save); word && !failed;
	     word = strtok_r(NULL, ",", &save)) {
		long code;
		if (integer_parse(word, 0, 255, &code))
			array_push(&p->codes, (int)code);
		else
			failed = error_set(
				err, EXIT_USAGE,
				"time: --ignore-failure wants exit codes such as 1,2, not '%.40s'",
				word);
	}
	free(copy);
	p->plan.expected_codes = p->codes.items;
	p->plan.expected_count = p->codes.count;
	return failed;
}

static int parse_sched(const char *text, struct launch *launch, struct error *err)
{
	static const struct {
		const char *name;
		int policy;
		bool real_time;
	} classes[] = { { "other", SCHED_OTHER, false },
			{ "batch", SCHED_BATCH, false },
			{ "idle", SCHED_IDLE, false },
			{ "fifo", SCHED_FIFO, true },
			{ "rr", SCHED_RR, true } };
	size_t n = strcspn(text, ":");
	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
		if (strlen(classes[i].name) != n || strncmp(text, classes[i].name, n) != 0)
			continue;
		long priority = classes[i].real_time ? 1 : 0;
		if (text[n] &&
		    (!classes[i].real_time || !integer_parse(text + n + 1, 1, 99, &priority)))
			break;
		launch->policy = classes[i].policy;
		launch->rt_priority = (int)priority;
		return 0;
	}
	error_set(err, EXIT_USAGE, "time: --sched cannot be '%.40s'", text);
	return error_hint(err, "one of: other, batch, idle, fifo[:PRIORITY], rr[:PRIORITY]");
}

static int make_launch(const struct time_options *o, struct time_plan *p, struct error *err)
{
	struct launch *l = &p->plan.launch;
	*l = (struct launch){ .no_aslr = o->no_aslr, .as_root = o->as_root, .iteration = -1 };
	if (o->input && strcmp(o->input, "null") != 0) {
		AS_USER(as);
		if (!o->as_root && invoker_begin(&as, err))
			return -1;
		if (faccessat(AT_FDCWD, o->input, R_OK, AT_EACCESS))
			return error_set(err, EXIT_USAGE,
					 "time: cannot read the input '%.200s': %s", o->input,
					 strerror(errno));
		l->input = o->input;
	}
	if (o->show_output && o->outputs.count)
		return error_set(err, EXIT_USAGE,
				 "time: --show-output and --output contradict each other");
	if (o->show_output)
		l->output = OUTPUT_INHERIT;
	if (o->cpus) {
		if (strcmp(o->cpus, "all") != 0 && !cpus_parse(o->cpus, &p->cpus))
			return error_set(
				err, EXIT_USAGE,
				"time: --cpu wants a list such as 0,2-3, or all, not '%.40s'",
				o->cpus);
		if (cpus_choose_set(o->cpus, &p->cpus, err))
			return -1;
		l->cpus = &p->cpus;
	}
	if (o->sched && parse_sched(o->sched, l, err))
		return -1;
	if (o->nice_level != LONG_MIN) {
		l->set_nice = true;
		l->nice_level = (int)o->nice_level;
	}
	/* what sudo was typed for is often in a hook: dropping caches, changing a setting */
	p->plan.hook_launch = (struct launch){ .output = l->output, .as_root = true };
	return 0;
}

/* An export that cannot be written is found out before hours of measuring, not after. */
static int check_exports(const struct time_options *o, struct error *err)
{
	const char *const files[] = { o->export_json, o->export_csv, o->export_markdown,
				      o->export_asciidoc, o->export_orgmode };
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		if (!files[i] || strcmp(files[i], "-") == 0)
			continue;
		char shown[256];
		text_display(files[i], shown, sizeof shown);
		char *folder = xstrdup(files[i]), *slash = strrchr(folder, '/');
		const char *where = slash ? (slash == folder ? "/" : (*slash = '\0', folder)) : ".";
		/* as the user who will own it */
		AS_USER(as);
		if (invoker_begin(&as, err)) {
			free(folder);
			return -1;
		}
		bool exists = faccessat(AT_FDCWD, files[i], F_OK, AT_EACCESS) == 0;
		int failed = faccessat(AT_FDCWD, exists ? files[i] : where, W_OK, AT_EACCESS);
		int reason = errno;
		free(folder);
		if (failed)
			return error_set(err, EXIT_USAGE, "cannot write %s: %s", shown,
					 strerror(reason));
	}
	return 0;
}

#define EMP_RULES 5   /* the first version with rules (I) and (II) */
#define EMP_SAMPLES 6 /* the first with a fixed number of samples */

int time_apply_emp(struct time_options *o, struct error *err)
{
	if (!o->emp)
		return 0;
	if (o->emp >= EMP_RULES && (o->keep_outliers || o->no_cutoffs))
		return error_set(err, EXIT_USAGE, "time: --emp v%d and --%s contradict each other",
				 o->emp, o->keep_outliers ? "keep-outliers" : "no-cutoffs");
	if (o->emp < EMP_RULES)
		o->keep_outliers = o->no_cutoffs = true;
	if (o->emp >= EMP_SAMPLES && !o->runs && !o->min_runs && !o->max_runs && o->precision < 0)
		o->runs = 10;
	return 0;
}

/* Options of `tare time` that a duet has no use for are refused, not ignored. */
int time_check_duet(const struct time_options *o, struct error *err)
{
	const struct {
		bool given;
		const char *name;
	} not_for_duets[] = { { o->quiet, "quiet" },
			      { o->emp, "emp" },
			      { o->trace, "trace" },
			      { o->ledger, "ledger" },
			      { o->baseline, "baseline" },
			      { o->counters, "counters" },
			      { o->order, "order" },
			      { o->export_asciidoc, "export-asciidoc" },
			      { o->export_orgmode, "export-orgmode" } };
	for (size_t i = 0; i < sizeof not_for_duets / sizeof *not_for_duets; i++)
		if (not_for_duets[i].given)
			return error_set(err, EXIT_USAGE,
					 "time: --duet and --%s contradict each other",
					 not_for_duets[i].name);
	return 0;
}

static int check_options(const struct time_options *o, struct error *err)
{
	if (o->runs && (o->min_runs || o->max_runs))
		return error_set(err, EXIT_USAGE,
				 "time: --runs and --min-runs/--max-runs contradict each other");
	if (o->max_runs && o->min_runs > o->max_runs)
		return error_set(err, EXIT_USAGE, "time: --min-runs is larger than --max-runs");
	if (o->runs && o->precision > 0)
		return error_set(err, EXIT_USAGE,
				 "time: --runs and --precision contradict each other");
	if (o->precision == 0)
		return error_set(err, EXIT_USAGE, "time: --precision 0 is never reached");
	if (o->json && o->show_output)
		return error_set(err, EXIT_USAGE,
				 "time: --json and --show-output would mix on standard output");
	if (o->no_lab && o->lab->file)
		return error_set(err, EXIT_USAGE, "time: --lab and --no-lab contradict each other");
	if (o->no_lab && o->baseline)
		return error_set(err, EXIT_USAGE, "time: --baseline needs the lab it is in");
	if (o->no_ledger && (o->ledger || o->trace))
		return error_set(err, EXIT_USAGE,
				 "time: --no-ledger and --%s contradict each other",
				 o->ledger ? "ledger" : "trace");
	if (o->counters && !strcmp(o->counters, "none") &&
	    emp_is_count(compared_measures[o->measure]))
		return error_set(err, EXIT_USAGE,
				 "time: --measure %s and --counters none contradict each other",
				 compared_words[o->measure]);
	if (o->no_lab && o->trace)
		return error_set(err, EXIT_USAGE, "time: --trace needs a lab to be kept in");
	if ((o->quiet || o->emp) && geteuid() != 0 && !getenv("TARE_QUIET_ROOT")) {
		error_set(err, EXIT_ENVIRONMENT,
			  "time: --%s changes settings of the machine, which takes root",
			  o->quiet ? "quiet" : "emp");
		return error_hint(err, "sudo tare time ... ('tare quiet --dry-run' shows what it "
				       "changes), or leave the option out");
	}
	/* whom the subject runs as is judged before a lab is made for the wrong one */
	struct invoker user;
	invoker_get(&user);
	if (!o->as_root && invoker_check(&user, err))
		return -1;
	for (size_t i = 0; i < o->names.count; i++)
		if (lab_check_name(o->names.items[i], err))
			return error_prefix(err, "time: --command-name");
	return check_exports(o, err);
}

int time_plan_make(const struct time_options *o, const text_list *operands, struct time_plan *out,
		   struct error *err)
{
	struct plan *plan = &out->plan;
	if (check_options(o, err) || make_space(o, &out->space, err) ||
	    make_shell(o, &out->shell, err) || make_launch(o, out, err) ||
	    parse_codes(o, out, err) || make_commands(o, operands, out, err))
		return -1;
	if (o->slower >= 0 && !o->baseline && out->commands.count < 2) {
		error_set(err, EXIT_USAGE, "time: --fail-if-slower has nothing to compare with");
		return error_hint(err, "give --baseline RUN, or a second command");
	}
	plan->warmup = (uint32_t)o->warmup;
	plan->runs = (uint32_t)o->runs;
	plan->max_runs = (uint32_t)o->max_runs;
	plan->min_runs = o->min_runs ? (uint32_t)o->min_runs : 10;
	if (plan->max_runs && plan->min_runs > plan->max_runs)
		plan->min_runs = plan->max_runs;
	if (o->precision > 0 && !plan->max_runs)
		plan->max_runs = 10000;
	plan->min_time_ns = o->min_time_ns;
	plan->precision = o->precision > 0 ? o->precision : 0;
	/* in the order of COMPARED_MEASURES; steady is fitted only at the end, and counts are
	 * not what a run is long enough for */
	static const unsigned judged_by[] = { PLAN_BY_BEST,
					      PLAN_BY_ET,
					      (unsigned)PLAN_BY_GRADE + GRADE_NET,
					      (unsigned)PLAN_BY_GRADE + GRADE_EXEC,
					      (unsigned)PLAN_BY_GRADE + GRADE_TICK,
					      (unsigned)PLAN_BY_GRADE + GRADE_NET,
					      PLAN_BY_BEST,
					      PLAN_BY_BEST };
	plan->judged_by = judged_by[o->measure];
	plan->order = (enum order)o->order;
	plan->seed = (uint64_t)o->seed;
	plan->pad_environment = !o->no_padding;
	plan->through_shell = out->shell.count;
	plan->execute = (struct execute_options){ .time_limit_ns = o->time_limit_ns,
						  .orphans = (enum orphans)o->orphans,
						  .grace_ns = o->grace_ns };
	out->items = xcalloc(out->commands.count, sizeof *out->items);
	for (size_t i = 0; i < out->commands.count; i++) {
		struct time_command *c = &out->commands.items[i];
		out->items[i] = (struct plan_item){ .argv = c->argv.items,
						    .setup = c->setup.items,
						    .prepare = c->prepare.items,
						    .conclude = c->conclude.items,
						    .cleanup = c->cleanup.items,
						    .output = c->output };
	}
	plan->items = out->items;
	plan->count = out->commands.count;
	return 0;
}

static void set_text(json_t *o, const char *key, const char *value)
{
	if (value)
		json_object_set_new(o, key, json_text(value));
}

/* What was changed, was as wanted or refused. */
static json_t *quiet_json(const struct run_quiet *q)
{
	static const char *const states[QUIET_STATES] = { [QUIET_CHANGED] = "changed",
							  [QUIET_ALREADY] = "as wanted",
							  [QUIET_REFUSED] = "refused" };
	if (q->standing)
		return json_string("standing");
	json_t *list = json_array();
	for (size_t i = 0; i < q->changes.count; i++) {
		const struct quiet_item *item = &q->changes.items[i];
		if (!states[item->state])
			continue;
		json_t *o = json_object();
		json_object_set_new(o, "knob", json_text(item->knob));
		json_object_set_new(o, "what", json_text(item->what));
		json_object_set_new(o, "before", json_text(item->before));
		json_object_set_new(o, "after", json_text(item->after));
		json_object_set_new(o, "state", json_text(states[item->state]));
		json_array_append_new(list, o);
	}
	return list;
}

char *time_conditions(const struct time_options *o, const struct time_plan *p,
		      const struct run_quiet *quiet)
{
	static const char *const orders[] = { "sequential", "interleaved", "random" };
	static const char *const orphans[] = { "end", "leave" };
	json_t *all = json_object();
	json_object_set_new(all, "warmup", json_integer(p->plan.warmup));
	json_object_set_new(all, "runs", json_integer(p->plan.runs));
	json_object_set_new(all, "min_runs", json_integer(p->plan.min_runs));
	json_object_set_new(all, "max_runs", json_integer(p->plan.max_runs));
	json_object_set_new(all, "min_time_ns", json_integer((json_int_t)p->plan.min_time_ns));
	if (o->precision > 0)
		json_object_set_new(all, "precision", json_real(o->precision));
	json_object_set_new(all, "order", json_string(orders[p->plan.order]));
	json_object_set_new(all, "seed", json_integer((json_int_t)p->plan.seed));
	json_object_set_new(all, "environment_padding", json_boolean(p->plan.pad_environment));
	json_object_set_new(all, "ignore_failure", json_boolean(p->plan.ignore_failure));
	json_t *codes = json_array();
	for (size_t i = 0; i < p->codes.count; i++)
		json_array_append_new(codes, json_integer(p->codes.items[i]));
	json_object_set_new(all, "expected_codes", codes);
	json_object_set_new(all, "keep_outliers", json_boolean(o->keep_outliers));
	json_object_set_new(all, "cutoffs", json_boolean(!o->no_cutoffs));
	set_text(all, "measure", compared_words[o->measure]);
	if (o->emp)
		json_object_set_new(all, "emp", json_sprintf("v%d", o->emp));
	if (o->quiet || o->emp)
		json_object_set_new(all, "quiet", quiet_json(quiet));
	json_object_set_new(all, "time_limit_ns", json_integer((json_int_t)o->time_limit_ns));
	json_object_set_new(all, "ledger", json_boolean(!o->no_ledger));
	json_object_set_new(all, "speed", json_boolean(!o->no_speed));
	set_text(all, "counters", o->counters);
	json_object_set_new(all, "trace", json_boolean(o->trace));
	json_object_set_new(all, "orphans", json_string(orphans[o->orphans]));
	json_object_set_new(all, "aslr", json_boolean(!o->no_aslr));
	set_text(all, "cpus", o->cpus);
	set_text(all, "sched", o->sched);
	if (o->nice_level != LONG_MIN)
		json_object_set_new(all, "nice", json_integer(o->nice_level));
	set_text(all, "setup", o->setup);
	set_text(all, "cleanup", o->cleanup);
	set_text(all, "input", o->input);
	struct invoker user;
	invoker_get(&user);
	if (user.present && !o->as_root)
		set_text(all, "user", user.name);
	char *text = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	return text;
}
