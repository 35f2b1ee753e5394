/* tare noise record, top and hist: measure, store, read back, print. */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/noise/noise.h"
#include "collect/collect.h"

/* A run of days is stored now and then; that costs at most 1/50 of its time. */
#define STORE_EVERY_NS 60000000000u
#define STORE_SHARE 50

struct session {
	const struct noise_options *o;
	bool quiet; /* no text on stdout, no progress */
	struct noise_recording recording;
	struct lab *lab;
	struct machine machine;
	struct run run;
	bool seen; /* a round is in the recording */
	uint64_t store_at_ns;
	uint64_t begun_ns;
	struct progress progress;
	char label[40];
	struct noise_screen *screen;
};

/* ---- while it goes ---- */

static int store(struct session *s, struct error *err)
{
	uint64_t begin = clock_monotonic_ns();
	if (lab_put_noise(s->lab, s->run.id, &s->recording.noise, err))
		return -1;
	uint64_t end = clock_monotonic_ns(), pause = (end - begin) * STORE_SHARE;
	s->store_at_ns = end + (pause > STORE_EVERY_NS ? pause : STORE_EVERY_NS);
	return 0;
}

static void tell_progress(struct session *s)
{
	const struct noise *n = &s->recording.noise;
	char longest[32] = "none", note[96];
	uint64_t count = 0;
	if (!progress_due(&s->progress))
		return;
	for (size_t i = 0; i < n->cpus.count; i++)
		count += n->cpus.items[i].total.count;
	if (n->worst.count)
		text_duration((double)n->worst.items[0].ns, 3, longest, sizeof longest);
	snprintf(note, sizeof note, "%" PRIu64 " detours, longest %s", count, longest);
	progress_update(&s->progress, (clock_monotonic_ns() - s->begun_ns) / 1000000000u,
			s->o->plan.duration_ns / 1000000000u, note);
}

static int on_round(void *context, const struct detour_round *rounds, size_t count, bool *enough,
		    struct error *err)
{
	struct session *s = context;
	noise_recording_add(&s->recording, rounds, count);
	s->seen = true;
	if (s->screen) {
		const struct noise_view view = { &s->run, &s->recording.noise, &s->machine };
		*enough = noise_screen_draw(s->screen, &view, &s->o->display);
	} else {
		tell_progress(s);
	}
	/* a lab that cannot be written to now may be later: only the last time counts */
	if (clock_monotonic_ns() >= s->store_at_ns && store(s, err)) {
		*err = (struct error)ERROR_INIT;
		s->store_at_ns = clock_monotonic_ns() + STORE_EVERY_NS;
	}
	return 0;
}

/* ---- before ---- */

static char *default_name(const struct noise_options *o)
{
	struct strbuf name = { 0 };
	strbuf_printf(&name, "noise of CPU%s ", o->chosen.count > 1 ? "s" : "");
	cpus_text(o->chosen.items, o->chosen.count, &name);
	return strbuf_detach(&name);
}

/* What could not be seen, and how it could; NULL: nothing. */
static char *not_seen(const struct session *s)
{
	struct strbuf text = { 0 };
	strbuf_puts(&text, detours_not_seen(s->recording.detours));
	while (text.length && text.text[text.length - 1] == ' ')
		text.text[--text.length] = '\0';
	if (!s->recording.noise.kernel && !s->o->no_kernel && geteuid() != 0)
		strbuf_printf(&text, "%sRun as root to have names.", text.length ? " " : "");
	char *all = text.length ? xstrdup(text.text) : NULL;
	strbuf_release(&text);
	return all;
}

static void describe_run(struct session *s, int argc, char **argv)
{
	const struct noise_options *o = s->o;
	s->run = (struct run){ .kind = SUBJECT_CPU,
			       .name = o->name ? xstrdup(o->name) : default_name(o),
			       .command = cmd_line(argc, argv),
			       .directory = getcwd(NULL, 0),
			       .conditions = noise_conditions(o),
			       .backend = s->recording.noise.kernel ? BACKEND_BPF : BACKEND_PLAIN,
			       .not_seen = not_seen(s),
			       .started_at_ns = clock_realtime_ns(),
			       .version = xstrdup(TARE_VERSION),
			       .tags = o->tag ? xstrdup(o->tag) : NULL };
	if (!s->run.directory)
		s->run.directory = xstrdup("?");
}

static int open_lab(struct session *s, struct error *err)
{
	const struct noise_options *o = s->o;
	if (o->no_lab)
		o->display.lab->file = LAB_IN_MEMORY;
	s->lab = lab_access_open(o->display.lab, err);
	if (!s->lab) {
		if (!*err->hint)
			error_hint(err,
				   "--lab FILE keeps the run elsewhere, --no-lab keeps nothing");
		return -1;
	}
	machine_read(&s->machine);
	return lab_add_machine(s->lab, &s->machine, &s->run.machine, err) ||
	       lab_add_study(s->lab, s->run.command, &s->run.study, err) ||
	       lab_add_run(s->lab, &s->run, err);
}

/* Whether this process may use a CPU that is not measured. */
static bool has_a_place(const struct noise_options *o)
{
	cpu_set_t rest;
	CPU_ZERO(&rest);
	if (sched_getaffinity(0, sizeof rest, &rest))
		return true; /* nobody knows */
	for (size_t i = 0; i < o->chosen.count; i++)
		CPU_CLR(o->chosen.items[i], &rest);
	return CPU_COUNT(&rest) > 0;
}

static int open_everything(struct session *s, int argc, char **argv, struct error *err)
{
	const struct noise_options *o = s->o;
	/* bad CPUs and thresholds are found out before a lab is made */
	if (noise_recording_open(&s->recording, &o->detours, (uint32_t)o->worst, err)) {
		if (err->code == EXIT_ENVIRONMENT && o->detours.priority && !*err->hint)
			error_hint(err, "run it as root, or leave out --priority");
		return -1;
	}
	describe_run(s, argc, argv);
	if (!o->cpus && !s->quiet) {
		struct strbuf cpus = { 0 };
		cpus_text(o->chosen.items, o->chosen.count, &cpus);
		fprintf(stderr, "tare: measuring CPU%s %s; -c chooses others\n",
			o->chosen.count > 1 ? "s" : "", strbuf_text(&cpus));
		strbuf_release(&cpus);
	}
	if (!has_a_place(o) && !s->quiet)
		fprintf(stderr, "tare: no CPU is left for tare itself: it works between the "
				"rounds, on the measured ones\n");
	return open_lab(s, err);
}

/* ---- after ---- */

/* Everything that was seen is stored; a run that saw nothing is not kept. */
static int end_run(struct session *s, enum run_status status, struct error *err)
{
	if (!s->seen)
		return lab_end_run(s->lab, s->run.id, status, err) ||
		       lab_remove_run(s->lab, s->run.id, err);
	detours_untold(s->recording.detours, &s->recording.noise);
	if (store(s, err) || lab_end_run(s->lab, s->run.id, status, err))
		return -1;
	if (!s->o->baseline)
		return 0;
	if (status == RUN_COMPLETE)
		return lab_set_baseline(s->lab, s->run.id, err);
	fprintf(stderr, "tare: it did not come to its end: the baseline stays what it was\n");
	return 0;
}

static int report(struct session *s, struct error *err)
{
	struct noise_loaded l = { 0 };
	int failed = noise_load(&l, s->lab, s->run.id, err) ||
		     noise_print(&l, &s->o->display, s->quiet,
				 s->o->live == NOISE_HIST ? s->o : NULL, err);
	noise_loaded_release(&l);
	return failed;
}

static int measure(struct session *s, struct error *err)
{
	const struct noise_options *o = s->o;
	text_display(s->run.name, s->label, sizeof s->label);
	progress_init(&s->progress, s->label, !s->quiet);
	s->begun_ns = clock_monotonic_ns();
	if (o->live == NOISE_TOP && !s->quiet)
		s->screen = noise_screen_open();
	int failed = noise_run(s->recording.detours, o->chosen.count, &o->plan, on_round, s, err);
	noise_screen_close(s->screen);
	s->screen = NULL;
	progress_clear(&s->progress);
	return failed;
}

static int run_session(const struct noise_options *o, int argc, char **argv)
{
	struct error err = ERROR_INIT, late = ERROR_INIT;
	struct session s = { .o = o, .quiet = o->quiet || noise_to_stdout(&o->display) };
	interrupt_watch();
	int failed = open_everything(&s, argc, argv, &err) || measure(&s, &err);
	bool cut = failed && err.code == EXIT_INTERRUPTED;
	if (cut)
		error_set(&err, EXIT_INTERRUPTED,
			  s.seen ? "interrupted: this is what was seen until then"
				 : "interrupted before anything was seen");
	int code = failed ? cmd_fail(&err) : EXIT_DONE;
	if (s.run.id && (end_run(&s,
				 cut	  ? RUN_INTERRUPTED
				 : failed ? RUN_FAILED
					  : RUN_COMPLETE,
				 &late) ||
			 (s.seen && report(&s, &late)))) {
		cmd_fail(&late);
		if (!failed)
			code = late.code;
	}
	noise_recording_close(&s.recording);
	run_release(&s.run);
	machine_release(&s.machine);
	return code;
}

#define RECORD_USAGE                            \
	"tare noise [record] [OPTIONS]\n"       \
	"       tare noise top [OPTIONS]\n"     \
	"       tare noise hist [OPTIONS]\n"    \
	"       tare noise show [RUN]\n"        \
	"       tare noise diff [[BASE] RUN]\n" \
	"       tare noise selftest"

static const char *const usages[] = { RECORD_USAGE, "tare noise top [OPTIONS]",
				      "tare noise hist [OPTIONS]" };
static const char *const abouts[] = {
	"Runs a loop on each CPU that sees every moment in which it does not run, and\n"
	"says who took the CPU away: interrupts, tasks, the hypervisor. -c, -d and -P are\n"
	"those of rtla.\n",
	"The sources of noise, drawn anew each second; the report at the end.\n",
	("The lengths of the detours in equal buckets, as 'rtla osnoise hist' prints them.\n"
	 "-c, -d, -P, -b and -E are those of rtla.\n"),
};

int noise_record(enum noise_live live, struct lab_access *lab, int argc, char **argv)
{
	struct noise_options o = { .live = live,
				   .display.lab = lab,
				   .duration_ns = NOISE_NOT_GIVEN,
				   .round_ns = NOISE_ROUND_NS,
				   .worst = NOISE_WORST_DEFAULT,
				   .entries = 256,
				   .display.most = NOISE_ROWS };
	spec_list specs = { 0 };
	text_list operands = { 0 };
	int code;
	noise_record_specs(&specs, &o);
	noise_display_specs(&specs, &o.display);
	noise_specs_end(&specs);
	if (cmd_options(usages[live], abouts[live], specs.items, argc, argv, &operands, &code)) {
		struct error err = ERROR_INIT;
		if (operands.count) {
			error_set(&err, EXIT_USAGE, "%s takes no operands, but was given '%.100s'",
				  argv[0], operands.items[0]);
			error_hint(&err, "of a stored run: 'tare noise show RUN%s'",
				   live == NOISE_HIST ? " --histogram" : "");
			code = cmd_fail(&err);
		} else {
			code = noise_options_check(&o, &err) ? cmd_fail(&err)
							     : run_session(&o, argc, argv);
		}
	}
	noise_options_release(&o);
	array_release(&operands);
	array_release(&specs);
	return code;
}
