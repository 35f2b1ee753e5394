/* tare noise record, top and hist: measure, store, read back, print. */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/noise/noise.h"

struct session {
	const struct noise_options *o;
	bool quiet; /* no text on stdout, no progress */
	struct noise_recording recording;
	uint64_t begun_ns;
	struct progress progress;
	char label[40];
	struct noise_screen *screen;
};

static bool on_round(void *context, const struct noise_recording *r)
{
	struct session *s = context;
	const struct noise *n = &r->noise;
	if (s->screen) {
		const struct noise_view view = { &r->run, n, &r->to.machine };
		return noise_screen_draw(s->screen, &view, &s->o->display);
	}
	char note[96];
	uint64_t count = 0;
	if (!progress_due(&s->progress))
		return false;
	for (size_t i = 0; i < n->cpus.count; i++)
		count += n->cpus.items[i].total.count;
	snprintf(note, sizeof note, "%" PRIu64 " detours, longest %.31s", count,
		 n->worst.count ? AS_DURATION((double)n->worst.items[0].ns, 3) : "none");
	progress_update(&s->progress, (clock_monotonic_ns() - s->begun_ns) / 1000000000u,
			s->o->plan.duration_ns / 1000000000u, note);
	return false;
}

static int open_everything(struct session *s, const struct cmd_args *args, struct error *err)
{
	const struct noise_options *o = s->o;
	struct noise_recording *r = &s->recording;
	/* bad CPUs and thresholds are found out before a lab is made */
	if (noise_recording_open(r, &o->detours, (uint32_t)o->worst, err)) {
		if (err->code == EXIT_ENVIRONMENT && o->detours.priority && !*err->hint)
			error_hint(err, "run it as root, or leave out --priority");
		return -1;
	}
	/* whether this process may use a CPU that is not measured */
	cpu_set_t rest;
	CPU_ZERO(&rest);
	bool known = sched_getaffinity(0, sizeof rest, &rest) == 0;
	for (size_t i = 0; i < o->chosen.count; i++)
		CPU_CLR(o->chosen.items[i], &rest);
	struct strbuf cpus = { 0 }, name = { 0 };
	const char *lacks = detours_not_seen(r->detours);
	const char *plural = o->chosen.count > 1 ? "s" : "";
	cpus_text(o->chosen.items, o->chosen.count, &cpus);
	if (!o->cpus && !s->quiet)
		fprintf(stderr, "tare: measuring CPU%s %s; -c chooses others\n", plural,
			strbuf_text(&cpus));
	if (known && !CPU_COUNT(&rest) && !s->quiet)
		fprintf(stderr, "tare: no CPU is left for tare itself: it works between the "
				"rounds, on the measured ones\n");
	uint32_t cpu;
	pid_t rival = detours_rival(r->detours, &cpu);
	if (rival && !o->quiet)
		fprintf(stderr,
			"tare: another tare noise (%d) measures CPU %u already: each is noise to the "
			"other\n",
			rival, cpu);
	if (o->name)
		strbuf_puts(&name, o->name);
	else
		strbuf_printf(&name, "noise of CPU%s %s", plural, strbuf_text(&cpus));
	strbuf_release(&cpus);
	r->to.command_line = cmd_line(args->argc, args->argv);
	r->to.notice = cmd_notice;
	r->run = (struct run){ .kind = SUBJECT_CPU,
			       .name = strbuf_detach(&name),
			       .command = xstrdup(r->to.command_line),
			       .conditions = conditions_take(noise_conditions(o)),
			       .backend = r->noise.kernel ? BACKEND_BPF : BACKEND_PLAIN,
			       .not_seen = *lacks ? xstrdup(lacks) : NULL,
			       .tags = recorded_text(o->tag) };
	return recorder_open(&r->to, o->display.lab, o->no_lab ? RECORD_IN_MEMORY : RECORD_IN_LAB,
			     err) ||
	       recorder_begin(&r->to, &r->run, err);
}

static int set_baseline(struct lab *lab, void *run, struct error *err)
{
	return lab_set_baseline(lab, *(const int64_t *)run, err);
}

/* Ends the run, reads it back and prints it. */
static int conclude(struct session *s, enum run_status status, struct error *err)
{
	struct noise_recording *r = &s->recording;
	if (noise_recording_end(r, status, err))
		return -1;
	if (!r->seen)
		return 0;
	if (s->o->baseline && status != RUN_COMPLETE)
		fprintf(stderr,
			"tare: it did not come to its end: the baseline stays what it was\n");
	else if (s->o->baseline && recorder_wait(&r->to, set_baseline, &r->run.id, err))
		return -1;
	SCOPED(loaded_run_release) struct loaded_run l = { 0 };
	return run_load(&l, r->to.lab, r->run.id, NULL, err) ||
	       noise_print(&l, &s->o->display, s->quiet, s->o->live == NOISE_HIST ? s->o : NULL,
			   err);
}

static int run_session(void *options, const struct cmd_args *args, struct error *err)
{
	struct noise_options *o = options;
	struct error late = ERROR_INIT;
	if (args->operands.count) {
		error_set(err, EXIT_USAGE, "%s takes no operands, but was given '%.100s'",
			  args->argv[0], args->operands.items[0]);
		return error_hint(err, "of a stored run: 'tare noise show RUN%s'",
				  o->live == NOISE_HIST ? " --histogram" : "");
	}
	if (noise_options_check(o, err))
		return -1;
	struct session s = { .o = o, .quiet = o->quiet || noise_to_stdout(&o->display) };
	interrupt_watch();
	int failed = open_everything(&s, args, err);
	if (!failed) {
		text_display(s.recording.run.name, s.label, sizeof s.label);
		progress_init(&s.progress, s.label, !s.quiet);
		s.begun_ns = clock_monotonic_ns();
		if (o->live == NOISE_TOP && !s.quiet)
			s.screen = noise_screen_open();
		failed = noise_recording_run(&s.recording, &o->plan, on_round, &s, err);
		noise_screen_close(s.screen);
		progress_clear(&s.progress);
	}
	if (failed && err->code == EXIT_INTERRUPTED)
		error_set(err, EXIT_INTERRUPTED,
			  s.recording.seen ? "interrupted: this is what was seen until then"
					   : "interrupted before anything was seen");
	int code = failed ? cmd_fail(err) : EXIT_DONE;
	if (s.recording.run.id && conclude(&s, recorded_status(failed, err), &late)) {
		cmd_fail(&late);
		if (!failed)
			code = late.code;
	}
	noise_recording_close(&s.recording);
	return code;
}

static const struct {
	const char *name, *usage, *about;
} kinds[] = {
	[NOISE_RECORD] = { "noise record",
			   "tare noise [record] [OPTIONS]\n"
			   "       tare noise top [OPTIONS]\n"
			   "       tare noise hist [OPTIONS]\n"
			   "       tare noise show [RUN]\n"
			   "       tare noise diff [[BASE] RUN]\n"
			   "       tare noise selftest",
			   "Runs a loop on each CPU that sees every moment in which it does not run, and\n"
			   "says who took the CPU away: interrupts, tasks, the hypervisor. -c, -d and -P are\n"
			   "those of rtla.\n" },
	[NOISE_TOP] = { "noise top", "tare noise top [OPTIONS]",
			"The sources of noise, drawn anew each second; the report at the end.\n" },
	[NOISE_HIST] = { "noise hist", "tare noise hist [OPTIONS]",
			 "The lengths of the detours in equal buckets, as 'rtla osnoise hist' prints them.\n"
			 "-c, -d, -P, -b and -E are those of rtla.\n" },
};

int noise_record(struct lab_access *lab, int argc, char **argv)
{
	struct noise_options o = { .display.lab = lab,
				   .duration_ns = NOISE_NOT_GIVEN,
				   .round_ns = NOISE_ROUND_NS,
				   .worst = NOISE_WORST_DEFAULT,
				   .entries = 256,
				   .display.most = NOISE_ROWS };
	FREED spec_list specs = { 0 };
	for (enum noise_live live = NOISE_RECORD; live <= NOISE_HIST; live++)
		if (strcmp(argv[0], kinds[live].name) == 0)
			o.live = live;
	noise_record_specs(&specs, &o);
	noise_display_specs(&specs, &o.display);
	int code = cmd_run(kinds[o.live].usage, kinds[o.live].about, specs.items, argc, argv,
			   run_session, &o);
	array_release(&o.chosen);
	return code;
}
