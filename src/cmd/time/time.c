#include "cmd/time/plan.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/time/quiet.h"
#include "cmd/view.h"

#define SHELL_CALIBRATION_RUNS 30

struct session {
	const struct time_options *o;
	struct time_plan *p;
	struct lab *lab;
	struct collector *collector;
	int64_t machine, study, baseline;
	char *conditions, *directory, *command_line;
	char *no_ledger;  /* why there is none although there could be; NULL: it is kept */
	struct run *runs; /* one per command; id 0 until begun */
	bool *stored;	  /* an execution of it is in the lab */
	loaded_list done; /* the runs that ended, in order */
	bool silent;	  /* no text on stdout */
	struct time_quiet quiet;
	struct time_style style;
	struct progress progress;
	char label[40];
	double sum_ns;
	size_t summed;
};

/* ---- what the plan tells ---- */

static void describe_run(struct session *s, size_t item, struct run *run)
{
	const struct time_command *c = &s->p->commands.items[item];
	*run = (struct run){ .study = s->study,
			     .name = xstrdup(c->name),
			     .command = xstrdup(c->text),
			     .shell = s->p->shell.count ? xstrdup(s->o->shell ? s->o->shell : "sh")
							: NULL,
			     .directory = xstrdup(s->directory),
			     .conditions = xstrdup(s->conditions),
			     .backend = collector_backend(s->collector),
			     .started_at_ns = clock_realtime_ns(),
			     .planned = s->p->plan.runs,
			     .machine = s->machine,
			     .version = xstrdup(TARE_VERSION),
			     .tags = s->o->tag ? xstrdup(s->o->tag) : NULL };
	const char *not_seen = collector_not_seen(s->collector);
	struct strbuf text = { 0 };
	strbuf_puts(&text, not_seen ? not_seen : "");
	if (s->no_ledger)
		strbuf_printf(&text, "%sthe ledger (%s).", not_seen ? " Nor " : "", s->no_ledger);
	run->not_seen = text.length ? strbuf_detach(&text) : NULL;
	strbuf_release(&text);
	for (size_t i = 0; c->combination != SIZE_MAX && i < s->p->space.count; i++) {
		const char *value = parameter_value(&s->p->space, c->combination, i);
		array_push(&run->parameters, (struct parameter){ xstrdup(s->p->space.items[i].name),
								 xstrdup(value) });
	}
	if (run->shell) {
		run->shell_et_ns = s->p->plan.shell.et_ns;
		memcpy(run->shell_pt_ns, s->p->plan.shell.pt_ns, sizeof run->shell_pt_ns);
	}
}

/* Ends the run in the lab, reads it back and prints its block: the same path as `tare show`. */
static int finish_run(struct session *s, size_t item, enum run_status status, struct error *err)
{
	struct run *run = &s->runs[item];
	if (!run->id || run->ended_at_ns)
		return 0;
	progress_clear(&s->progress);
	if (!s->stored[item]) { /* it could not be started: there is nothing to keep */
		int64_t id = run->id;
		run->id = 0;
		return lab_end_run(s->lab, id, status, err) || lab_remove_run(s->lab, id, err);
	}
	run->ended_at_ns = clock_realtime_ns();
	if (lab_end_run(s->lab, run->id, status, err) ||
	    loaded_add(&s->done, s->lab, run->id, s->o->ledger ? LAB_THREADS : LAB_PROCESSES, err))
		return -1;
	if (s->silent)
		return 0;
	struct run_view *views = loaded_views(&s->done);
	struct strbuf out = { 0 };
	if (s->done.count > 1)
		strbuf_putc(&out, '\n');
	time_text_run(&views[s->done.count - 1], s->done.count, &s->style, &out);
	s->style.not_seen_said = s->style.ledger_said = true;
	bool lacks = false;
	if (s->o->ledger) {
		struct strbuf ledger = { 0 };
		lacks = !time_ledger(&views[s->done.count - 1], LEDGER_OF_KEPT, &s->style, &ledger);
		strbuf_printf(&out, "%s%s", lacks ? "" : "\n", strbuf_text(&ledger));
		strbuf_release(&ledger);
	}
	fputs(strbuf_text(&out), stdout);
	fflush(stdout);
	if (lacks) {
		struct error why = ERROR_INIT;
		loaded_no_ledger(&s->done.items[s->done.count - 1], LEDGER_OF_KEPT, &why);
		cmd_fail(&why);
	}
	strbuf_release(&out);
	free(views);
	return 0;
}

static int on_begun(void *context, size_t item, struct error *err)
{
	struct session *s = context;
	if (s->p->plan.order == ORDER_SEQUENTIAL && item > 0 &&
	    finish_run(s, item - 1, RUN_COMPLETE, err))
		return -1;
	if (!s->study && lab_add_study(s->lab, s->command_line, &s->study, err))
		return -1;
	describe_run(s, item, &s->runs[item]);
	text_display(s->runs[item].name, s->label, sizeof s->label);
	progress_init(&s->progress, s->label, !s->silent && s->o->style != STYLE_BASIC);
	s->sum_ns = 0;
	s->summed = 0;
	return lab_add_run(s->lab, &s->runs[item], err);
}

static int on_executed(void *context, size_t item, struct execution *x, struct error *err)
{
	struct session *s = context;
	enum grade g = execution_grade(x);
	s->sum_ns += (double)(g < GRADES ? x->pt_ns[g] : x->et_ns);
	s->summed++;
	if (lab_add_execution(s->lab, s->runs[item].id, x, err))
		return -1;
	s->stored[item] = true;
	return 0;
}

static void on_progress(void *context, size_t item, uint32_t done, uint32_t planned)
{
	struct session *s = context;
	(void)item;
	if (!progress_due(&s->progress))
		return;
	char mean[32] = "", note[64];
	if (s->summed)
		text_duration(s->sum_ns / (double)s->summed, 4, mean, sizeof mean);
	snprintf(note, sizeof note, "mean %s", mean);
	progress_update(&s->progress, done, s->o->precision > 0 ? 0 : planned, note);
}

/* ---- before and after ---- */

/* Kept wherever it can be; that it cannot is an error only to who asked for it. */
static int keep_ledger(struct session *s, struct error *err)
{
	struct error why = ERROR_INIT;
	if (s->o->no_ledger || collector_keep_ledger(s->collector, s->o->trace, &why) == 0)
		return 0;
	if (s->o->ledger || s->o->trace) {
		error_set(err, EXIT_ENVIRONMENT, "no ledger can be kept: %s", why.text);
		return error_hint(err, "%s",
				  *why.hint ? why.hint
					    : "leave out --ledger and --trace, "
					      "or run as root with the bpf back end");
	}
	/* the other back ends say themselves what they do not see */
	if (collector_backend(s->collector) == BACKEND_BPF)
		s->no_ledger = xstrdup(why.text);
	return 0;
}

static int open_everything(struct session *s, int argc, char **argv, struct error *err)
{
	if (s->o->no_lab)
		s->o->lab->file = LAB_IN_MEMORY;
	s->lab = lab_access_open(s->o->lab, err);
	if (!s->lab) {
		if (!*err->hint)
			error_hint(err,
				   "--lab FILE keeps the run elsewhere, --no-lab keeps nothing");
		return -1;
	}
	if (s->o->baseline && cmd_find_run(s->lab, s->o->baseline, &s->baseline, err))
		return -1;
	static const enum backend wanted[] = { BACKENDS, BACKEND_BPF, BACKEND_NETLINK,
					       BACKEND_PLAIN };
	if (collector_open(&s->collector, wanted[s->o->backend], err) || keep_ledger(s, err))
		return -1;
	interrupt_watch();
	if (time_quiet_begin(s->o, &s->quiet, err))
		return -1;
	struct machine m = { 0 };
	machine_read(&m);
	struct strbuf line = { 0 };
	strbuf_puts(&line, "tare");
	for (int i = 0; i < argc; i++) {
		char *quoted = text_shell_quoted(argv[i]);
		strbuf_printf(&line, " %s", quoted);
		free(quoted);
	}
	int failed = lab_add_machine(s->lab, &m, &s->machine, err);
	s->command_line = strbuf_detach(&line);
	machine_release(&m);
	s->directory = getcwd(NULL, 0);
	if (!s->directory)
		s->directory = xstrdup("?");
	s->conditions = time_conditions(s->o, s->p, time_quiet_json(&s->quiet));
	return failed;
}

static int calibrate_shell(struct session *s, struct error *err)
{
	if (!s->p->shell.count)
		return 0;
	word_list argv = { 0 };
	for (size_t i = 0; i < s->p->shell.count; i++)
		array_push(&argv, s->p->shell.items[i]);
	array_push(&argv, (char *)"-c");
	array_push(&argv, (char *)"");
	array_push(&argv, NULL);
	int failed = shell_calibrate(s->collector, &s->p->plan, argv.items, SHELL_CALIBRATION_RUNS,
				     &s->p->plan.shell, err);
	array_release(&argv);
	return failed;
}

static int write_exports(const struct session *s, const struct run_view *views, struct error *err)
{
	const struct time_options *o = s->o;
	const struct {
		const char *path;
		enum table_format format;
	} exports[] = {
		{ o->export_json, TABLE_JSON },		{ o->export_csv, TABLE_CSV },
		{ o->export_markdown, TABLE_MARKDOWN }, { o->export_asciidoc, TABLE_ASCIIDOC },
		{ o->export_orgmode, TABLE_ORGMODE },	{ o->json ? "-" : NULL, TABLE_JSON }
	};
	int failed = 0;
	for (size_t i = 0; i < sizeof exports / sizeof *exports && !failed; i++) {
		if (!exports[i].path)
			continue;
		struct strbuf out = { 0 };
		if (exports[i].format == TABLE_JSON)
			time_json(views, s->done.count, &s->style, &out);
		else if (exports[i].format == TABLE_CSV)
			time_csv(views, s->done.count, &out);
		else
			time_markup(views, s->done.count, &s->style, exports[i].format, &out);
		failed = file_write(exports[i].path, strbuf_text(&out), out.length, err);
		strbuf_release(&out);
	}
	return failed;
}

/* Against the stored baseline, or else the first command. 1: something was slower than allowed. */
static int judge_slower(struct session *s, struct error *err)
{
	loaded_list base = { 0 };
	const struct loaded_run *against = s->done.items;
	size_t first = 1;
	int verdict = 0;
	if (s->baseline) {
		if (loaded_add(&base, s->lab, s->baseline, LAB_ROWS, err))
			return -1;
		against = base.items;
		first = 0;
	}
	for (size_t i = first; i < s->done.count && verdict >= 0; i++) {
		struct run_comparison c;
		if (loaded_compare(against, &s->done.items[i], compared_measures[s->o->measure], &c,
				   err)) {
			verdict = -1;
			break;
		}
		struct strbuf words = { 0 };
		put_comparison(against, &s->done.items[i], &c, &words);
		if (s->baseline && !s->silent)
			printf("%s", strbuf_text(&words));
		if (s->o->slower >= 0 && cmd_judge_slower(&c, s->o->slower)) {
			if (!s->baseline || s->silent)
				fprintf(stderr, "%s", strbuf_text(&words));
			verdict = 1;
		}
		strbuf_release(&words);
	}
	loaded_release(&base);
	return verdict;
}

static int conclude(struct session *s, struct error *err)
{
	if (!s->done.count)
		return EXIT_DONE;
	struct run_view *views = loaded_views(&s->done);
	if (!s->silent && s->done.count > 1) {
		struct strbuf out = { 0 };
		strbuf_putc(&out, '\n');
		time_text_summary(views, s->done.count, &s->style, &out);
		fputs(strbuf_text(&out), stdout);
		strbuf_release(&out);
	}
	fflush(stdout);
	int failed = write_exports(s, views, err);
	free(views);
	if (failed)
		return err->code;
	if (!s->baseline && s->o->slower < 0)
		return EXIT_DONE;
	int verdict = judge_slower(s, err);
	return verdict < 0 ? err->code : verdict ? EXIT_CHECK : EXIT_DONE;
}

static int measure(struct session *s, struct error *err)
{
	/* orphans of a subject become tare's children, so that none escapes unseen */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (calibrate_shell(s, err))
		return -1;
	struct plan_events events = {
		.context = s, .begun = on_begun, .executed = on_executed, .progress = on_progress
	};
	size_t at;
	int failed = plan_run(s->collector, &s->p->plan, &events, &at, err);
	enum run_status bad = failed && err->code == EXIT_INTERRUPTED ? RUN_INTERRUPTED
								      : RUN_FAILED;
	for (size_t i = 0; i < s->p->plan.count; i++) {
		/* in rounds an interruption ends every run short of its count, an error only one */
		bool cut = failed && (i == at || (bad == RUN_INTERRUPTED &&
						  s->p->plan.order != ORDER_SEQUENTIAL));
		struct error ending = ERROR_INIT;
		if (finish_run(s, i, cut ? bad : RUN_COMPLETE, failed ? &ending : err))
			failed = -1;
	}
	return failed;
}

static void release_session(struct session *s)
{
	for (size_t i = 0; s->runs && i < s->p->plan.count; i++)
		run_release(&s->runs[i]);
	free(s->runs);
	free(s->stored);
	free(s->conditions);
	free(s->no_ledger);
	free(s->command_line);
	free(s->directory);
	loaded_release(&s->done);
	collector_close(s->collector);
}

static int run_session(const struct time_options *o, struct time_plan *p, int argc, char **argv)
{
	struct error err = ERROR_INIT;
	struct session s = { .o = o, .p = p };
	s.silent = o->json || o->style == STYLE_NONE ||
		   (o->export_json && strcmp(o->export_json, "-") == 0);
	s.style = (struct time_style){ .width = (size_t)cmd_columns(),
				       .unit = (enum time_unit)o->unit,
				       .reference = o->reference ? 1 : 0 };
	s.style.colour = o->style == STYLE_COLOR || o->style == STYLE_FULL ||
			 (o->style == STYLE_AUTO && cmd_colour());
	s.runs = xcalloc(p->plan.count, sizeof *s.runs);
	s.stored = xcalloc(p->plan.count, sizeof *s.stored);
	int failed = open_everything(&s, argc, argv, &err) || measure(&s, &err);
	int code = failed ? cmd_fail(&err) : EXIT_DONE;
	struct error restoring = ERROR_INIT, late = ERROR_INIT;
	if (time_quiet_end(&s.quiet, &restoring)) {
		int left = cmd_fail(&restoring);
		code = failed ? code : left;
		failed = -1;
	}
	int verdict = conclude(&s, &late);
	if (!failed)
		code = verdict;
	if (*late.text)
		cmd_fail(&late);
	release_session(&s);
	return code;
}

#define ABOUT                                                                               \
	"Runs each COMMAND repeatedly and says how long it took: the process time of its\n" \
	"whole tree, exact to the ns, its elapsed time, and what else ran. Options mean\n"  \
	"what they mean in hyperfine.\n"

int cmd_time(struct lab_access *lab, int argc, char **argv)
{
	struct time_options o = { .lab = lab,
				  .warmup = 1,
				  .min_time_ns = 3000000000u,
				  .grace_ns = 1000000000u,
				  .nice_level = LONG_MIN,
				  .slower = -1,
				  .precision = -1,
				  .seed = (long)(clock_monotonic_ns() & 0x7fffffff) };
	struct option_spec specs[] = {
		{ 'w', "warmup", OPTION_INTEGER, &o.warmup, "NUM",
		  "executions to throw away first (default: 1)" },
		{ 'r', "runs", OPTION_INTEGER, &o.runs, "NUM", "exactly NUM executions", .min = 1 },
		{ 'm', "min-runs", OPTION_INTEGER, &o.min_runs, "NUM",
		  "at least NUM (default: 10, and 3 s)", .min = 1 },
		{ 'M', "max-runs", OPTION_INTEGER, &o.max_runs, "NUM", "at most NUM", .min = 1,
		  .rare = true },
		{ 0, "precision", OPTION_FRACTION, &o.precision, "SHARE",
		  "until the 95% interval is within ±SHARE, as 0.2%" },
		{ 's', "setup", OPTION_TEXT, &o.setup, "CMD",
		  "before the executions of each command", .rare = true },
		{ 'p', "prepare", OPTION_TEXTS, &o.prepare, "CMD", "before each execution" },
		{ 'C', "conclude", OPTION_TEXTS, &o.conclude, "CMD", "after each execution",
		  .rare = true },
		{ 'c', "cleanup", OPTION_TEXT, &o.cleanup, "CMD",
		  "after the executions of each command", .rare = true },
		{ 'P', "parameter-scan", OPTION_TEXTS, &o.scans, "VAR MIN MAX",
		  "{VAR} from MIN to MAX", .arity = 3, .rare = true },
		{ 'D', "parameter-step-size", OPTION_TEXT, &o.step, "DELTA", "step of the scan",
		  .rare = true },
		{ 'L', "parameter-list", OPTION_TEXTS, &o.lists, "VAR VALUES",
		  "{VAR} for each of a,b,c", .arity = 2 },
		{ 0, "reference", OPTION_TEXT, &o.reference, "CMD",
		  "compare the others with this one", .rare = true },
		{ 'n', "command-name", OPTION_TEXTS, &o.names, "NAME",
		  "name of a command, in order", .rare = true },
		{ 'S', "shell", OPTION_TEXT, &o.shell, "SHELL",
		  "the shell, or 'none' (default: sh)" },
		{ 'N', NULL, OPTION_FLAG, &o.no_shell, NULL, "no shell" },
		{ 'i', "ignore-failure", OPTION_OPTIONAL, &o.ignore, "CODES",
		  "non-zero exits are no failure" },
		{ 0, "show-output", OPTION_FLAG, &o.show_output, NULL, "let the command print" },
		{ 0, "output", OPTION_TEXTS, &o.outputs, "WHERE", "null, pipe, inherit or a file",
		  .rare = true },
		{ 0, "input", OPTION_TEXT, &o.input, "FILE", "standard input (default: null)",
		  .rare = true },
		{ 0, "order", OPTION_CHOICE, &o.order, "sequential|interleaved|random",
		  "order of the commands" },
		{ 0, "seed", OPTION_INTEGER, &o.seed, "NUM", "of the random order and padding",
		  .rare = true },
		{ 0, "time-limit", OPTION_DURATION, &o.time_limit_ns, "TIME",
		  "end an execution after TIME" },
		{ 0, "min-time", OPTION_DURATION, &o.min_time_ns, "TIME",
		  "go on at least TIME (default: 3s)", .rare = true },
		{ 0, "min-benchmarking-time", OPTION_DURATION, &o.min_time_ns, "TIME", "",
		  .hidden = true },
		{ 0, "orphans", OPTION_CHOICE, &o.orphans, "end|leave",
		  "processes left behind (default: end)", .rare = true },
		{ 0, "grace", OPTION_DURATION, &o.grace_ns, "TIME",
		  "wait so long for them (default: 1s)", .rare = true },
		{ 0, "quiet", OPTION_FLAG, &o.quiet, NULL,
		  "quieten the machine meanwhile (as root)" },
		{ 0, "emp", OPTION_CHOICE, &o.emp, "none|v1|v2|v3|v4|v5|v6",
		  "by this version of EMP (as root)", .rare = true },
		{ 0, "cpu", OPTION_TEXT, &o.cpus, "LIST", "pin to these CPUs" },
		{ 0, "nice", OPTION_INTEGER, &o.nice_level, "NUM", "nice level", .min = -20,
		  .max = 19, .rare = true },
		{ 0, "sched", OPTION_TEXT, &o.sched, "CLASS",
		  "other, batch, idle, fifo:NUM or rr:NUM", .rare = true },
		{ 0, "no-aslr", OPTION_FLAG, &o.no_aslr, NULL, "no address randomisation",
		  .rare = true },
		{ 0, "no-padding", OPTION_FLAG, &o.no_padding, NULL, "no random environment size",
		  .rare = true },
		{ 0, "as-root", OPTION_FLAG, &o.as_root, NULL,
		  "under sudo: not as the user who typed it", .rare = true },
		{ 0, "ledger", OPTION_FLAG, &o.ledger, NULL,
		  "show where every ns went, cause by cause" },
		{ 0, "no-ledger", OPTION_FLAG, &o.no_ledger, NULL, "do not keep a ledger" },
		{ 0, "trace", OPTION_FLAG, &o.trace, NULL, "keep every event, for 'tare export'" },
		{ 0, "keep-outliers", OPTION_FLAG, &o.keep_outliers, NULL, "do not apply rule (II)",
		  .rare = true },
		{ 0, "no-cutoffs", OPTION_FLAG, &o.no_cutoffs, NULL, "do not apply rule (I)",
		  .rare = true },
		{ 0, "baseline", OPTION_TEXT, &o.baseline, "RUN", "compare with a stored run" },
		{ 0, "measure", OPTION_CHOICE, &o.measure, COMPARED_MEASURES,
		  "what those two compare (default: the best PT)", .rare = true },
		{ 0, "fail-if-slower", OPTION_FRACTION, &o.slower, "SHARE",
		  "exit with 1 if slower, as 2%" },
		{ 'u', "time-unit", OPTION_CHOICE, &o.unit, TIME_UNIT_CHOICES, "unit of the times",
		  .rare = true },
		{ 0, "style", OPTION_CHOICE, &o.style, "auto|basic|full|nocolor|color|none",
		  "output style", .rare = true },
		{ 0, "json", OPTION_FLAG, &o.json, NULL, "JSON on standard output, nothing else" },
		{ 0, "export-json", OPTION_TEXT, &o.export_json, "FILE",
		  "write JSON, hyperfine's and more" },
		{ 0, "export-csv", OPTION_TEXT, &o.export_csv, "FILE", "write CSV", .rare = true },
		{ 0, "export-markdown", OPTION_TEXT, &o.export_markdown, "FILE",
		  "write a Markdown table" },
		{ 0, "export-asciidoc", OPTION_TEXT, &o.export_asciidoc, "FILE",
		  "write an AsciiDoc table", .rare = true },
		{ 0, "export-orgmode", OPTION_TEXT, &o.export_orgmode, "FILE",
		  "write an org-mode table", .rare = true },
		{ 0, "backend", OPTION_CHOICE, &o.backend, "auto|bpf|netlink|plain",
		  "how to read the kernel", .rare = true },
		{ 0, "lab", OPTION_TEXT, &lab->file, "FILE", "keep the run in this lab" },
		{ 0, "no-lab", OPTION_FLAG, &o.no_lab, NULL, "keep nothing", .rare = true },
		{ 0, "tag", OPTION_TEXT, &o.tag, "TEXT", "a note kept with the run", .rare = true },
		{ 0 }
	};
	text_list operands = { 0 };
	int code;
	if (cmd_options("tare time [OPTIONS] COMMAND...", ABOUT, specs, argc, argv, &operands,
			&code)) {
		struct error err = ERROR_INIT;
		struct time_plan p = { 0 };
		if (time_apply_emp(&o, &err) || time_plan_make(&o, &operands, &p, &err))
			code = cmd_fail(&err);
		else
			code = run_session(&o, &p, argc, argv);
		time_plan_release(&p);
	}
	array_release(&operands);
	array_release(&o.prepare);
	array_release(&o.conclude);
	array_release(&o.names);
	array_release(&o.outputs);
	array_release(&o.scans);
	array_release(&o.lists);
	return code;
}
