#include "cmd/time/duet.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/progress.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/kinds.h"
#include "cmd/time/plan.h"
#include "run/record_duet.h"

struct session {
	const struct time_options *o;
	struct progress progress;
	bool silent, verbose;
};

static void on_progress(void *context, uint32_t pairs, uint64_t elapsed_ns,
			const struct duet_result *result)
{
	struct session *s = context;
	char note[96];
	if (!progress_due(&s->progress))
		return;
	if (!pairs)
		snprintf(note, sizeof note, "each alone first");
	else if (!result || !result->verdicts.count || isnan(result->verdicts.items[0].ratio))
		snprintf(note, sizeof note, "%u pairs, %.0f s", pairs, (double)elapsed_ns / 1e9);
	else
		snprintf(note, sizeof note, "%u pairs, %.0f s: ratio %.4f [%.4f, %.4f]", pairs,
			 (double)elapsed_ns / 1e9, result->verdicts.items[0].ratio,
			 result->verdicts.items[0].low, result->verdicts.items[0].high);
	progress_update(&s->progress, 0, 0, note);
}

/* Characters that mean something to a shell, beyond quotes, which tare reads itself. */
static bool wants_shell(const char *text)
{
	return strpbrk(text, "|&;<>()$`*?[]~#\n{}") != NULL;
}

/* Without an option, a shell is used only if a command needs one: it is work of both sides that
 * hides a part of their difference. */
static void choose_shell(struct time_options *o, const text_list *operands)
{
	bool wanted = o->setup || o->cleanup || o->prepare.count || o->conclude.count;
	for (size_t i = 0; i < operands->count; i++)
		wanted |= wants_shell(operands->items[i]);
	if (o->reference)
		wanted |= wants_shell(o->reference);
	if (!o->shell && !wanted)
		o->no_shell = true;
}

static char *name_of(const struct duet *d)
{
	struct strbuf text = { 0 };
	if (d->sides.count == 2)
		strbuf_printf(&text, "%s / %s", d->sides.items[1].name, d->sides.items[0].name);
	else
		strbuf_printf(&text, "%zu commands / %s", d->sides.count - 1,
			      d->sides.items[0].name);
	return strbuf_detach(&text);
}

static int check(const struct duet_options *d, const struct time_options *o,
		 const struct time_plan *p, struct error *err)
{
	if (p->commands.count < 2) {
		error_set(err, EXIT_USAGE, "duet: two commands are needed");
		return error_hint(err, "for instance: tare duet ./old ./new");
	}
	if (!d->max_time_ns)
		return error_set(err, EXIT_USAGE, "duet: --max-time 0 leaves no time");
	if (d->period_ns && (d->period_ns < 50000 || d->period_ns > 100000000))
		return error_set(err, EXIT_USAGE, "duet: --period wants 50us to 100ms");
	if (d->turn_ns < 1000000)
		return error_set(err, EXIT_USAGE, "duet: --turn wants 1ms or more");
	const struct duet asked = { .way = (enum duet_way)(d->way - 1) };
	if (d->way && d->measure &&
	    duet_check_measure(&asked, (enum duet_measure)(d->measure - 1), err))
		return -1;
	if (o->sched && d->way != 1 + DUET_WHOLE)
		return error_set(err, EXIT_USAGE,
				 "duet: --sched fifo and rr do not take turns; give --how whole");
	return 0;
}

static void fill(struct duet_recording *r, const struct duet_options *d,
		 const struct time_options *o)
{
	static const enum backend wanted[] = { BACKENDS, BACKEND_BPF, BACKEND_NETLINK,
					       BACKEND_PLAIN };
	const struct time_plan *p = r->p;
	r->plan = (struct duet_plan){ .backend = wanted[o->backend],
				      .ledger = !o->no_ledger,
				      .way = d->way ? (enum duet_way)(d->way - 1) : DUET_WAYS,
				      .cpus = o->cpus ? &p->cpus : NULL,
				      .max_pairs = (uint32_t)d->pairs };
	r->measure = d->measure ? (enum duet_measure)(d->measure - 1) : DUET_MEASURES;
	r->duet = (struct duet){ .period_ns = d->period_ns,
				 .slice_ns = DUET_SLICE_NS,
				 .turn_ns = d->turn_ns,
				 .max_time_ns = d->max_time_ns,
				 .precise = o->precision > 0,
				 .precision = o->precision > 0 ? o->precision : DUET_SAME_WITHIN,
				 .slower = o->slower >= 0 ? o->slower : NAN,
				 .seed = (uint64_t)o->seed,
				 .revisions = xstrdup_or_null(d->revisions) };
	for (size_t i = 0; i < p->commands.count; i++)
		array_push(&r->duet.sides,
			   (struct duet_side){ xstrdup(p->commands.items[i].name),
					       xstrdup(p->commands.items[i].text) });
}

static int put(const loaded_list *list, enum run_form_as as, bool brief, const char *path,
	       struct error *err)
{
	SCOPED(strbuf_release) struct strbuf out = { 0 };
	run_kinds[SUBJECT_DUET].render(list, &(struct run_form){ .as = as, .brief = brief }, &out);
	return file_write(path, strbuf_text(&out), out.length, err);
}

/* Reads the run back and shows it, as `tare show` would, but by the measure that was asked for. */
static int conclude(struct session *s, struct duet_recording *r, struct error *err)
{
	const struct time_options *o = s->o;
	SCOPED(loaded_release) loaded_list list = { 0 };
	if (!r->run.id || !r->stored)
		return EXIT_DONE;
	if (loaded_add(&list, r->to.lab, r->run.id, NULL, err))
		return -1;
	/* the run does not store by what it was asked to be compared */
	struct loaded_run *l = &list.items[0];
	duet_result_release(&l->duet_result);
	duet_judge(&l->duet, r->measure, &l->duet_result);
	const struct {
		const char *path;
		enum run_form_as as;
	} exports[] = { { o->export_json, RUN_JSON },
			{ o->export_csv, RUN_CSV },
			{ o->export_markdown, RUN_MARKDOWN },
			{ o->json     ? "-"
			  : s->silent ? NULL
				      : "-",
			  o->json ? RUN_JSON : RUN_TEXT } };
	for (size_t i = 0; i < sizeof exports / sizeof *exports; i++)
		if (exports[i].path && put(&list, exports[i].as, !s->verbose, exports[i].path, err))
			return -1;
	int code = EXIT_DONE;
	for (size_t i = 0; i < r->result.verdicts.count; i++) {
		enum duet_gate gate = r->result.verdicts.items[i].gate;
		if (gate == DUET_GATE_SLOWER)
			code = EXIT_CHECK;
		else if (gate == DUET_GATE_NOT_KNOWN && code == EXIT_DONE)
			code = EXIT_NOT_KNOWN;
	}
	return code;
}

static int record(struct session *s, struct duet_recording *r, struct error *err)
{
	const struct time_options *o = s->o;
	r->to.notice = cmd_notice;
	if (recorder_open(&r->to, o->lab, o->no_lab ? RECORD_IN_MEMORY : RECORD_IN_LAB, err))
		return -1;
	progress_init(&s->progress, "duet", !s->silent && o->style != STYLE_BASIC);
	int failed = duet_recording_run(r, err);
	progress_clear(&s->progress);
	return failed;
}

int duet_session(struct time_options *o, const struct duet_options *d, const struct cmd_args *args,
		 struct error *err)
{
	struct time_plan p = { 0 };
	struct run_quiet quiet = { 0 };
	choose_shell(o, &args->operands);
	if (time_plan_make(o, &args->operands, &p, err) || check(d, o, &p, err)) {
		time_plan_release(&p);
		return -1;
	}
	for (size_t i = 0; d->directories && i < p.plan.count; i++)
		p.items[i].directory = d->directories[i];
	struct session s = { .o = o,
			     .silent = o->json || o->style == STYLE_NONE,
			     .verbose = d->verbose };
	struct duet_recording r = { .p = &p,
				    .tags = o->tag,
				    .shell_name = o->shell ? o->shell : "sh",
				    .conditions = time_conditions(o, &p, &quiet),
				    .context = &s,
				    .progress = on_progress,
				    .to.command_line = cmd_line(args->argc, args->argv) };
	fill(&r, d, o);
	FREED char *name = o->names.count > p.commands.count ? NULL : name_of(&r.duet);
	r.name = name ? name : o->names.items[p.commands.count];
	int failed = record(&s, &r, err), code = failed ? cmd_fail(err) : EXIT_DONE;
	struct error late = ERROR_INIT;
	int verdict = conclude(&s, &r, &late);
	if (*late.text)
		verdict = cmd_fail(&late);
	duet_recording_close(&r);
	time_plan_release(&p);
	return failed ? code : verdict;
}

static int run_session(void *options, const struct cmd_args *args, struct error *err)
{
	struct duet_options *d = options;
	if (d->git)
		return duet_git(d, args, err);
	if (d->build)
		return error_set(err, EXIT_USAGE, "duet: --build belongs to --git");
	return duet_session(d->time, d, args, err);
}

#define ABOUT                                                                           \
	"Compares commands by running them at once on the same CPU, in turns of a\n"    \
	"fraction of a millisecond, so that all of them meet the same CPU speed. The\n" \
	"first is the reference. It stops as soon as the answer is sure.\n"

void duet_options_init(struct duet_options *d)
{
	*d = (struct duet_options){ .max_time_ns = 60000000000u,
				    .period_ns = DUET_PERIOD_NS,
				    .turn_ns = DUET_TURN_NS };
}

int cmd_duet(struct lab_access *lab, int argc, char **argv)
{
	struct duet_options d;
	duet_options_init(&d);
	struct time_options o = { .lab = lab,
				  .warmup = 1,
				  .grace_ns = 1000000000u,
				  .nice_level = LONG_MIN,
				  .slower = -1,
				  .precision = -1,
				  .seed = (long)(clock_monotonic_ns() & 0x7fffffff) };
	d.time = &o;
	struct option_spec specs[] = {
		{ 0, "max-time", OPTION_DURATION, &d.max_time_ns, "TIME",
		  "stop after TIME even if not sure (default: 60s)" },
		{ 0, "pairs", OPTION_INTEGER, &d.pairs, "NUM", "at most NUM pairs", .min = 1 },
		{ 0, "precision", OPTION_FRACTION, &o.precision, "SHARE",
		  "go on until the interval is within ±SHARE" },
		{ 0, "fail-if-slower", OPTION_FRACTION, &o.slower, "SHARE",
		  "exit 1 if slower, as 1%; 5 if not known yet" },
		{ 0, "how", OPTION_CHOICE, &d.way, "auto|scheduler|freezer|whole",
		  "how they take turns (default: by what they do)" },
		{ 0, "measure", OPTION_CHOICE, &d.measure,
		  "best|pt_net|pt_exec|turn|et|instructions|cycles",
		  "what is compared (default: the best)", .rare = true },
		{ 0, "cpu", OPTION_TEXT, &o.cpus, "LIST", "share one of these CPUs, or all" },
		{ 0, "period", OPTION_DURATION, &d.period_ns, "TIME",
		  "alternate every TIME (default: 500us)", .rare = true },
		{ 0, "turn", OPTION_DURATION, &d.turn_ns, "TIME",
		  "a turn by the freezer (default: 10ms)", .rare = true },
		{ 0, "git", OPTION_TEXT, &d.git, "BASE..HEAD",
		  "build two revisions and compare them" },
		{ 0, "build", OPTION_TEXT, &d.build, "CMD", "how to build a revision" },
		{ 'w', "warmup", OPTION_INTEGER, &o.warmup, "NUM",
		  "executions alone before (default: 1)", .min = 1, .rare = true },
		{ 's', "setup", OPTION_TEXT, &o.setup, "CMD", "before all of each command",
		  .rare = true },
		{ 'p', "prepare", OPTION_TEXTS, &o.prepare, "CMD", "before each execution" },
		{ 'C', "conclude", OPTION_TEXTS, &o.conclude, "CMD", "after each execution",
		  .rare = true },
		{ 'c', "cleanup", OPTION_TEXT, &o.cleanup, "CMD", "after all of each command",
		  .rare = true },
		{ 'n', "command-name", OPTION_TEXTS, &o.names, "NAME",
		  "name of a command, in order" },
		{ 'S', "shell", OPTION_TEXT, &o.shell, "SHELL",
		  "the shell (default: sh, if a command needs one)" },
		{ 'N', NULL, OPTION_FLAG, &o.no_shell, NULL, "no shell" },
		{ 'i', "ignore-failure", OPTION_OPTIONAL, &o.ignore, "CODES",
		  "non-zero exits are no failure" },
		{ 0, "show-output", OPTION_FLAG, &o.show_output, NULL, "let the commands print",
		  .rare = true },
		{ 0, "output", OPTION_TEXTS, &o.outputs, "WHERE", "null, pipe, inherit or a file",
		  .rare = true },
		{ 0, "input", OPTION_TEXT, &o.input, "FILE", "standard input (default: null)",
		  .rare = true },
		{ 0, "time-limit", OPTION_DURATION, &o.time_limit_ns, "TIME",
		  "end an execution after TIME", .rare = true },
		{ 0, "seed", OPTION_INTEGER, &o.seed, "NUM", "of the random order and padding",
		  .rare = true },
		{ 0, "no-aslr", OPTION_FLAG, &o.no_aslr, NULL, "no address randomisation",
		  .rare = true },
		{ 0, "no-padding", OPTION_FLAG, &o.no_padding, NULL, "no random environment size",
		  .rare = true },
		{ 0, "no-ledger", OPTION_FLAG, &o.no_ledger, NULL,
		  "do not take interrupts off the time", .rare = true },
		{ 0, "as-root", OPTION_FLAG, &o.as_root, NULL,
		  "under sudo: not as the user who typed it", .rare = true },
		{ 0, "backend", OPTION_CHOICE, &o.backend, "auto|bpf|netlink|plain",
		  "how to read the kernel", .rare = true },
		{ 0, "style", OPTION_CHOICE, &o.style, "auto|basic|full|nocolor|color|none",
		  "output style", .rare = true },
		{ 'v', "verbose", OPTION_FLAG, &d.verbose, NULL, "print all details" },
		{ 0, "json", OPTION_FLAG, &o.json, NULL, "JSON on standard output, nothing else" },
		{ 0, "export-json", OPTION_TEXT, &o.export_json, "FILE", "write JSON",
		  .rare = true },
		{ 0, "export-csv", OPTION_TEXT, &o.export_csv, "FILE", "write CSV", .rare = true },
		{ 0, "export-markdown", OPTION_TEXT, &o.export_markdown, "FILE",
		  "write a summary for a pull request" },
		{ 0, "lab", OPTION_TEXT, &lab->file, "FILE", "keep the run in this lab" },
		{ 0, "no-lab", OPTION_FLAG, &o.no_lab, NULL, "keep nothing", .rare = true },
		{ 0, "tag", OPTION_TEXT, &o.tag, "TEXT", "a note kept with the run", .rare = true },
		{ 0 }
	};
	int code = cmd_run("tare duet [OPTIONS] REFERENCE COMMAND...\n"
			   "       tare duet [OPTIONS] --git BASE..HEAD [--build CMD] -- COMMAND",
			   ABOUT, specs, argc, argv, run_session, &d);
	array_release(&o.prepare);
	array_release(&o.conclude);
	array_release(&o.names);
	array_release(&o.outputs);
	return code;
}
