/* tare profile record: sample, store, read back, print. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/profile/profile.h"

struct session {
	const struct profile_options *o;
	struct profile_recording recording;
	int status; /* of the command */
	struct progress progress;
	char label[40];
};

static int on_slice(void *context, struct profile *slice, struct error *err)
{
	struct session *s = context;
	(void)err;
	profile_recording_add(&s->recording, slice);
	return 0;
}

static void on_beat(void *context)
{
	struct session *s = context;
	const struct profile_recording *r = &s->recording;
	char note[64];
	if (!progress_due(&s->progress))
		return;
	snprintf(note, sizeof note, "%" PRIu64 " samples stored, Ctrl-C ends it", r->taken);
	progress_update(&s->progress, (clock_monotonic_ns() - r->begun_ns) / 1000000000u,
			s->o->duration_ns / 1000000000u, r->taken ? note : "Ctrl-C ends it");
}

static int measure(struct session *s, struct error *err)
{
	const struct profile_options *o = s->o;
	struct profile_recording *r = &s->recording;
	const struct profile_plan plan = { .duration_ns = o->duration_ns,
					   .slice_ns = o->slice_ns,
					   .command = o->command ? &r->command : NULL,
					   .control_fd = -1,
					   .beat = o->command ? NULL : on_beat };
	text_display(r->run.name, s->label, sizeof s->label);
	/* a command's output has the terminal */
	progress_init(&s->progress, s->label, !o->quiet && !o->command);
	fflush(stdout);
	int failed = profile_run(r->samples, &plan, on_slice, s, &s->status, err);
	progress_clear(&s->progress);
	return failed || !o->command ? failed : command_started(&r->command, o->command[0], err);
}

static int judge_command(const struct session *s, struct error *err)
{
	if (!s->o->command || s->status <= 0) /* -1: tare ended it */
		return 0;
	const char *name = s->o->command[0];
	if (WIFSIGNALED(s->status))
		return error_set(err, EXIT_SUBJECT, "'%s' was ended by signal %d (%s)",
				 DISPLAYED(name, 128), WTERMSIG(s->status),
				 strsignal(WTERMSIG(s->status)));
	return error_set(err, EXIT_SUBJECT, "'%s' ended with exit code %d", DISPLAYED(name, 128),
			 WEXITSTATUS(s->status));
}

/* Read back from the lab; where that could not take it, of what is held. */
static int report(struct session *s, bool stored, struct error *err)
{
	const struct profile_recording *r = &s->recording;
	struct profile_display d = PROFILE_DISPLAY;
	struct loaded_run l = { 0 };
	SCOPED(strbuf_release) struct strbuf out = { 0 };
	int failed = 0;
	if (stored) {
		failed = run_load(&l, r->to.lab, r->run.id, NULL, err) ||
			 profile_render(&l, &d, &out, err);
		loaded_run_release(&l);
	} else {
		const struct loaded_run held = {
			.run = r->run, .stored = true, .profile = r->held, .machine = r->to.machine
		};
		failed = profile_render(&held, &d, &out, err);
	}
	fputs(strbuf_text(&out), stdout);
	fflush(stdout);
	return failed;
}

/* Of several errors the first one's code is the exit code. */
static int fail_too(int code, const struct error *err)
{
	int own = cmd_fail(err);
	return code ? code : own;
}

static int conclude(struct session *s, int failed, struct error *err)
{
	struct profile_recording *r = &s->recording;
	struct error late = ERROR_INIT, bad = ERROR_INIT;
	if (failed && r->words && r->command.stamp->failed) {
		/* a command that never began leaves nothing worth a run */
		profile_recording_forget(r);
		return cmd_fail(err);
	}
	if (failed && err->code == EXIT_INTERRUPTED)
		error_set(err, EXIT_INTERRUPTED,
			  r->taken ? "interrupted: this is what was sampled until then"
				   : "interrupted before anything was sampled");
	int code = failed ? cmd_fail(err) : EXIT_DONE;
	enum run_status status = recorded_status(failed, err);
	if (!failed && judge_command(s, &bad))
		status = RUN_FAILED;
	bool stored = profile_recording_end(r, status, &late) == 0;
	if (!stored)
		code = fail_too(code, &late);
	if (!s->o->quiet && r->slices && report(s, stored, &late))
		code = fail_too(code, &late);
	if (profile_recording_judge(r, &late))
		code = fail_too(code, &late);
	const char *trouble = reader_trouble(r->reader);
	if (trouble)
		fprintf(stderr, "tare: warning: %s\n", trouble);
	return *bad.text ? fail_too(code, &bad) : code;
}

static int run_session(void *options, const struct cmd_args *args, struct error *err)
{
	struct profile_options *o = options;
	int code = -1;
	if (profile_options_check(o, args, err))
		return -1;
	struct session s = { .o = o, .recording = profile_options_recording(o, args) };
	interrupt_watch();
	if (profile_recording_open(&s.recording, o->lab,
				   o->no_lab ? RECORD_IN_MEMORY : RECORD_IN_LAB, err) == 0) {
		int failed = measure(&s, err);
		code = conclude(&s, failed, err);
	}
	profile_recording_close(&s.recording);
	return code;
}

int profile_record(struct lab_access *lab, int argc, char **argv)
{
	SCOPED(profile_options_release) struct profile_options o = { PROFILE_OPTIONS, .lab = lab };
	FREED spec_list specs = { 0 };
	profile_record_specs(&specs, &o);
	return cmd_run("tare profile [record] [OPTIONS] [-- COMMAND...]\n"
		       "       tare profile start [OPTIONS]\n"
		       "       tare profile status\n"
		       "       tare profile stop\n"
		       "       tare profile report [OPTIONS] [RUN]\n"
		       "       tare profile diff [OPTIONS] A B\n"
		       "       tare profile export [OPTIONS] [RUN]\n"
		       "       tare profile selftest",
		       "Samples what the CPUs execute and says where the time goes: by program,\n"
		       "function, line, instruction. -a, -p, -F and -g are those of perf.\n",
		       specs.items, argc, argv, run_session, &o);
}
