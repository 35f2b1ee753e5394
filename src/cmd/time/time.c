#include "cmd/time/plan.h"

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
#include "cmd/time/duet.h"
#include "cmd/view.h"
#include "run/find.h"

struct session {
	const struct time_options *o;
	struct time_recording recording;
	int64_t baseline;
	loaded_list done; /* the runs that ended, in order */
	bool silent;	  /* no text on stdout */
	struct style style;
	size_t reference; /* the run (from 1) that the others are compared with; 0: the fastest */
	struct progress progress;
	char label[40];
};

static void on_begun(void *context, const struct run *run)
{
	struct session *s = context;
	text_display(run->name, s->label, sizeof s->label);
	progress_init(&s->progress, s->label, !s->silent && s->o->style != STYLE_BASIC);
}

static void on_progress(void *context, uint32_t done, uint32_t planned, double mean_ns)
{
	struct session *s = context;
	char mean[32] = "", note[64];
	if (!progress_due(&s->progress))
		return;
	if (!isnan(mean_ns))
		text_duration(mean_ns, 4, mean, sizeof mean);
	snprintf(note, sizeof note, "mean %s", mean);
	progress_update(&s->progress, done, s->o->precision > 0 ? 0 : planned, note);
}

/* Reads the run back and prints its block: the same path as `tare show`. */
static int on_ended(void *context, const struct run *run, struct error *err)
{
	struct session *s = context;
	progress_clear(&s->progress);
	const struct load_options how = { .detail = s->o->ledger ? LAB_THREADS : LAB_PROCESSES };
	if (loaded_add(&s->done, s->recording.to.lab, run->id, &how, err))
		return -1;
	if (s->silent)
		return 0;
	FREED struct run_view *views = loaded_views(&s->done);
	SCOPED(strbuf_release) struct strbuf out = { 0 };
	if (s->done.count > 1)
		strbuf_putc(&out, '\n');
	time_text_run(&views[s->done.count - 1], s->done.count,
		      s->done.count > 1 ? TIME_NOT_SEEN_SAID | TIME_LEDGER_SAID : 0, &s->style,
		      &out);
	bool lacks = false;
	if (s->o->counters) {
		SCOPED(strbuf_release) struct strbuf counters = { 0 };
		if (time_counters(&views[s->done.count - 1], views, &s->style, &counters))
			strbuf_printf(&out, "\n%s", strbuf_text(&counters));
	}
	if (s->o->ledger) {
		SCOPED(strbuf_release) struct strbuf ledger = { 0 };
		lacks = !time_ledger(&views[s->done.count - 1], LEDGER_OF_KEPT, &s->style, &ledger);
		strbuf_printf(&out, "%s%s", lacks ? "" : "\n", strbuf_text(&ledger));
	}
	fputs(strbuf_text(&out), stdout);
	fflush(stdout);
	if (lacks) {
		struct error why = ERROR_INIT;
		loaded_no_ledger(&s->done.items[s->done.count - 1], LEDGER_OF_KEPT, &why);
		cmd_fail(&why);
	}
	return 0;
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
		SCOPED(strbuf_release) struct strbuf out = { 0 };
		if (exports[i].format == TABLE_JSON)
			time_json(views, s->done.count, s->reference, &out);
		else if (exports[i].format == TABLE_CSV)
			time_csv(views, s->done.count, s->reference, &out);
		else
			time_markup(views, s->done.count, s->reference, &s->style,
				    exports[i].format, &out);
		failed = file_write(exports[i].path, strbuf_text(&out), out.length, err);
	}
	return failed;
}

/* Against the stored baseline, or else the first command. 1: something was slower than allowed. */
static int judge_slower(struct session *s, struct error *err)
{
	SCOPED(loaded_release) loaded_list base = { 0 };
	const struct loaded_run *against = s->done.items;
	const struct load_options with_ledgers = { .detail = LAB_PROCESSES,
						   .measure = compared_words[s->o->measure] };
	enum emp_measure measure = compared_measures[s->o->measure];
	SCOPED(strbuf_release) struct strbuf why = { 0 };
	size_t first = 1;
	int verdict = 0;
	if (s->baseline) {
		if (loaded_add(&base, s->recording.to.lab, s->baseline, &with_ledgers, err))
			return -1;
		against = base.items;
		first = 0;
	}
	if (measure == EMP_MEASURES) {
		struct emp_choice choice;
		loaded_choose(base.items, base.count, s->done.items, s->done.count, measure,
			      &choice, &why);
		measure = choice.measure;
	}
	for (size_t i = first; i < s->done.count && verdict >= 0; i++) {
		struct run_comparison c;
		if (loaded_compare(against, &s->done.items[i], measure, &c, err)) {
			verdict = -1;
			break;
		}
		SCOPED(strbuf_release) struct strbuf words = { 0 };
		put_comparison(against, &s->done.items[i], &c, &words);
		if (i + 1 == s->done.count)
			put_comparison_why(measure, strbuf_text(&why), &words);
		if (s->baseline && !s->silent)
			printf("%s", strbuf_text(&words));
		if (s->o->slower >= 0 && cmd_judge_slower(&c, s->o->slower)) {
			if (!s->baseline || s->silent)
				fprintf(stderr, "%s", strbuf_text(&words));
			verdict = 1;
		}
	}
	return verdict;
}

static int conclude(struct session *s, struct error *err)
{
	if (!s->done.count)
		return EXIT_DONE;
	FREED struct run_view *views = loaded_views(&s->done);
	if (!s->silent && s->done.count > 1) {
		SCOPED(strbuf_release) struct strbuf out = { 0 };
		strbuf_putc(&out, '\n');
		time_text_summary(views, s->done.count, s->reference, &s->style, &out);
		fputs(strbuf_text(&out), stdout);
	}
	fflush(stdout);
	int failed = write_exports(s, views, err);
	if (failed)
		return err->code;
	if (!s->baseline && s->o->slower < 0)
		return EXIT_DONE;
	int verdict = judge_slower(s, err);
	return verdict < 0 ? err->code : verdict ? EXIT_CHECK : EXIT_DONE;
}

static int measure(struct session *s, struct error *err)
{
	const struct time_options *o = s->o;
	struct time_recording *t = &s->recording;
	t->to.notice = cmd_notice;
	if (recorder_open(&t->to, o->lab, o->no_lab ? RECORD_IN_MEMORY : RECORD_IN_LAB, err) ||
	    (o->baseline &&
	     run_find(t->to.lab, o->baseline, LAB_OF(SUBJECT_COMMAND), &s->baseline, err)) ||
	    time_recording_open(t, err))
		return -1;
	t->conditions = time_conditions(o, t->p, &t->quiet);
	int failed = time_recording_run(t, err);
	progress_clear(&s->progress);
	return failed;
}

/* What runs are to be compared by, if that is a count. */
static const char *counted_word(const struct time_options *o)
{
	return emp_is_count(compared_measures[o->measure]) ? compared_words[o->measure] : NULL;
}

static int run_session(void *options, const struct cmd_args *args, struct error *err)
{
	struct time_options *o = options;
	struct time_plan p = { 0 };
	if (o->duet) {
		struct duet_options d;
		duet_options_init(&d);
		d.pairs = o->runs ? o->runs : o->max_runs;
		const enum emp_measure by = compared_measures[o->measure];
		if (emp_is_count(by))
			d.measure = by == EMP_CYCLES ? 1 + DUET_CYCLES : 1 + DUET_INSTRUCTIONS;
		return time_check_duet(o, err) ? -1 : duet_session(o, &d, args, err);
	}
	if (time_apply_emp(o, err) || time_plan_make(o, &args->operands, &p, err)) {
		time_plan_release(&p);
		return -1;
	}
	static const enum backend wanted[] = { BACKENDS, BACKEND_BPF, BACKEND_NETLINK,
					       BACKEND_PLAIN };
	struct session s = { .o = o,
			     .silent = o->json || o->style == STYLE_NONE ||
				       (o->export_json && strcmp(o->export_json, "-") == 0),
			     .reference = o->reference ? 1 : 0,
			     .style = { .width = (size_t)cmd_columns(),
					.unit = (enum time_unit)o->unit,
					.colour = o->style == STYLE_COLOR ||
						  o->style == STYLE_FULL ||
						  (o->style == STYLE_AUTO && cmd_colour()) } };
	s.recording =
		(struct time_recording){ .p = &p,
					 .backend = wanted[o->backend],
					 .no_ledger = o->no_ledger,
					 .no_speed = o->no_speed,
					 .counters = o->counters,
					 .counted = counted_word(o),
					 .must_have_ledger = o->ledger || o->trace,
					 .trace = o->trace,
					 .make_quiet = o->quiet || o->emp,
					 .emp = o->quiet ? 0 : o->emp,
					 .tags = o->tag,
					 .shell_name = o->shell ? o->shell : "sh",
					 .context = &s,
					 .begun = on_begun,
					 .progress = on_progress,
					 .ended = on_ended,
					 .to.command_line = cmd_line(args->argc, args->argv) };
	int failed = measure(&s, err);
	int code = failed ? cmd_fail(err) : EXIT_DONE;
	struct error restoring = ERROR_INIT, late = ERROR_INIT;
	if (run_quiet_end(&s.recording.quiet, &restoring)) {
		if (!*restoring.hint)
			error_hint(&restoring, "'tare quiet --restore' tries again");
		int left = cmd_fail(&restoring);
		code = failed ? code : left;
		failed = -1;
	}
	int verdict = conclude(&s, &late);
	if (!failed)
		code = verdict;
	if (*late.text)
		cmd_fail(&late);
	loaded_release(&s.done);
	time_recording_close(&s.recording);
	time_plan_release(&p);
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
		  "until the mean of all is known to ±SHARE, as 0.2%" },
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
		{ 0, "duet", OPTION_FLAG, &o.duet, NULL, "at once on one CPU; see 'tare duet'" },
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
		{ 0, "cpu", OPTION_TEXT, &o.cpus, "LIST", "pin to these CPUs, as 0,2-3 or all" },
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
		{ 0, "no-speed", OPTION_FLAG, &o.no_speed, NULL,
		  "do not watch the speed of the CPUs" },
		{ 0, "counters", OPTION_TEXT, &o.counters, "LIST",
		  "events to count, as cycles,branch-misses:u; or none" },
		{ 0, "trace", OPTION_FLAG, &o.trace, NULL, "keep every event, for 'tare export'" },
		{ 0, "keep-outliers", OPTION_FLAG, &o.keep_outliers, NULL, "do not apply rule (II)",
		  .rare = true },
		{ 0, "no-cutoffs", OPTION_FLAG, &o.no_cutoffs, NULL, "do not apply rule (I)",
		  .rare = true },
		{ 0, "baseline", OPTION_TEXT, &o.baseline, "RUN", "compare with a stored run" },
		{ 0, "measure", OPTION_CHOICE, &o.measure, COMPARED_MEASURES,
		  "what to judge by (default: ET if one sleeps or does I/O, or else the best PT)",
		  .rare = true },
		{ 0, "fail-if-slower", OPTION_FRACTION, &o.slower, "SHARE",
		  "exit with 1 if slower, as 2%" },
		{ 'u', "time-unit", OPTION_CHOICE, &o.unit, TIME_UNIT_CHOICES, "unit of the times",
		  .also = TIME_UNIT_SHORT, .rare = true },
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
	int code = cmd_run("tare time [OPTIONS] COMMAND...", ABOUT, specs, argc, argv, run_session,
			   &o);
	array_release(&o.prepare);
	array_release(&o.conclude);
	array_release(&o.names);
	array_release(&o.outputs);
	array_release(&o.scans);
	array_release(&o.lists);
	return code;
}
