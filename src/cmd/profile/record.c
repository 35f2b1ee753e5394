/* tare profile record: sample, store, read back, print. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/profile/profile.h"

struct recording {
	const struct profile_options *o;
	struct profile_session session;
	struct launcher *launcher;
	struct command command;
	char **words;
	int status;
	bool quiet;
	struct progress progress;
	char label[40];
};

/* ---- while it goes ---- */

static int on_slice(void *context, struct profile *slice, struct error *err)
{
	struct recording *r = context;
	(void)err;
	profile_session_add(&r->session, slice);
	return 0;
}

static void on_beat(void *context)
{
	struct recording *r = context;
	char note[64];
	if (!progress_due(&r->progress))
		return;
	snprintf(note, sizeof note, "%" PRIu64 " samples stored, Ctrl-C ends it", r->session.taken);
	progress_update(&r->progress, (clock_monotonic_ns() - r->session.begun_ns) / 1000000000u,
			r->o->duration_ns / 1000000000u,
			r->session.taken ? note : "Ctrl-C ends it");
}

/* ---- before ---- */

/* Forked before the collector is there: it waits at its gate. Its standard streams are tare's. */
static int spawn(struct recording *r, struct error *err)
{
	const struct profile_options *o = r->o;
	const struct launch launch = { .inherit_input = true,
				       .output = OUTPUT_INHERIT,
				       .as_root = o->as_root,
				       .iteration = -1 };
	if (!o->command)
		return 0;
	r->words = xcalloc(o->command_words + 1, sizeof *r->words);
	for (size_t i = 0; i < o->command_words; i++)
		r->words[i] = (char *)o->command[i];
	if (launcher_new(&r->launcher, &launch, err) ||
	    command_spawn(r->launcher, &launch, r->words, &r->command, err)) {
		r->command.pid = 0;
		return -1;
	}
	return 0;
}

static void end_unstarted(struct recording *r)
{
	if (r->command.pid <= 0)
		return;
	kill(r->command.pid, SIGKILL);
	waitpid(r->command.pid, NULL, 0);
}

static int prepare(struct recording *r, int argc, char **argv, struct error *err)
{
	if (spawn(r, err))
		return -1;
	if (profile_session_open(&r->session, r->o, argc, argv, err) ||
	    (r->command.pid > 0 && !r->o->all &&
	     samples_follow(r->session.samples, r->command.pid, err))) {
		end_unstarted(r);
		return -1;
	}
	return 0;
}

static int measure(struct recording *r, struct error *err)
{
	const struct profile_options *o = r->o;
	struct profile_plan plan = { .duration_ns = o->duration_ns,
				     .slice_ns = o->slice_ns,
				     .command = r->command.pid > 0 ? &r->command : NULL,
				     .control_fd = -1,
				     .beat = o->command ? NULL : on_beat };
	text_display(r->session.run.name, r->label, sizeof r->label);
	/* a command's output has the terminal */
	progress_init(&r->progress, r->label, !r->quiet && !o->command);
	fflush(stdout);
	int failed = profile_run(r->session.samples, &plan, on_slice, r, &r->status, err);
	progress_clear(&r->progress);
	if (failed || !plan.command || !o->command)
		return failed;
	return command_started(&r->command, o->command[0], err);
}

/* ---- after ---- */

static int judge_command(const struct recording *r, struct error *err)
{
	char shown[128];
	if (!r->o->command || r->status <= 0) /* -1: tare ended it */
		return 0;
	text_display(r->o->command[0], shown, sizeof shown);
	if (WIFSIGNALED(r->status))
		return error_set(err, EXIT_SUBJECT, "'%s' was ended by signal %d (%s)", shown,
				 WTERMSIG(r->status), strsignal(WTERMSIG(r->status)));
	return error_set(err, EXIT_SUBJECT, "'%s' ended with exit code %d", shown,
			 WEXITSTATUS(r->status));
}

/* Read back from the lab; where that could not take it, of what is held. */
static int report(struct recording *r, bool stored, struct error *err)
{
	struct profile_session *s = &r->session;
	struct profile_display d = PROFILE_DISPLAY;
	struct profile_loaded l = { 0 };
	struct strbuf out = { 0 };
	int failed = 0;
	if (stored) {
		failed = profile_load_run(&l, s->lab, s->run.id, NULL, err) ||
			 profile_render(&l, &d, &out, err);
		profile_loaded_release(&l);
	} else {
		const struct profile_loaded held = { .run = s->run,
						     .profile = s->held,
						     .machine = s->machine };
		failed = profile_render(&held, &d, &out, err);
	}
	fputs(strbuf_text(&out), stdout);
	fflush(stdout);
	strbuf_release(&out);
	return failed;
}

static enum run_status status_of(int failed, const struct error *err)
{
	if (!failed)
		return RUN_COMPLETE;
	return err->code == EXIT_INTERRUPTED ? RUN_INTERRUPTED : RUN_FAILED;
}

/* A command that never began leaves nothing worth a run. */
static void forget(struct recording *r)
{
	struct error none = ERROR_INIT;
	struct profile_session *s = &r->session;
	if (s->run.id && lab_end_run(s->lab, s->run.id, RUN_FAILED, &none) == 0)
		lab_remove_run(s->lab, s->run.id, &none);
}

/* Of several errors the first one's code is the exit code. */
static int fail_too(int code, const struct error *err)
{
	int own = cmd_fail(err);
	return code ? code : own;
}

static int conclude(struct recording *r, int failed, struct error *err)
{
	struct profile_session *s = &r->session;
	struct error late = ERROR_INIT;
	bool cut = failed && err->code == EXIT_INTERRUPTED;
	if (failed && r->command.pid > 0 && r->command.stamp->failed) {
		forget(r);
		return cmd_fail(err);
	}
	if (cut)
		error_set(err, EXIT_INTERRUPTED,
			  s->taken ? "interrupted: this is what was sampled until then"
				   : "interrupted before anything was sampled");
	int code = failed ? cmd_fail(err) : EXIT_DONE;
	if (!s->run.id)
		return code;
	enum run_status status = status_of(failed, err);
	struct error bad = ERROR_INIT;
	if (!failed && judge_command(r, &bad))
		status = RUN_FAILED;
	bool stored = profile_session_end(s, status, &late) == 0;
	if (!stored)
		code = fail_too(code, &late);
	if (!r->quiet && s->slices && report(r, stored, &late))
		code = fail_too(code, &late);
	if (profile_session_judge(s, &late))
		code = fail_too(code, &late);
	return *bad.text ? fail_too(code, &bad) : code;
}

static int run_recording(const struct profile_options *o, int argc, char **argv)
{
	struct error err = ERROR_INIT;
	struct recording r = { .o = o, .quiet = o->quiet };
	interrupt_watch();
	int failed = prepare(&r, argc, argv, &err);
	bool begun = !failed;
	if (!failed)
		failed = measure(&r, &err);
	int code = begun ? conclude(&r, failed, &err) : cmd_fail(&err);
	if (!begun)
		forget(&r);
	if (r.command.pid > 0)
		command_release(&r.command);
	launcher_free(r.launcher);
	free(r.words);
	profile_session_close(&r.session);
	return code;
}

int profile_record(struct lab_access *lab, int argc, char **argv)
{
	struct profile_options o;
	spec_list specs = { 0 };
	text_list operands = { 0 };
	int code;
	profile_options_init(&o);
	o.lab = lab;
	profile_record_specs(&specs, &o);
	array_push(&specs, (struct option_spec){ 0 });
	if (cmd_options("tare profile [record] [OPTIONS] [-- COMMAND...]\n"
			"       tare profile start [OPTIONS]\n"
			"       tare profile status\n"
			"       tare profile stop\n"
			"       tare profile report [OPTIONS] [RUN]\n"
			"       tare profile diff [OPTIONS] A B\n"
			"       tare profile export [OPTIONS] [RUN]\n"
			"       tare profile selftest",
			"Samples what the CPUs execute and says where the time goes: by program,\n"
			"function, line, instruction. -a, -p, -F and -g are those of perf.\n",
			specs.items, argc, argv, &operands, &code)) {
		struct error err = ERROR_INIT;
		code = profile_options_check(&o, &operands, argc, argv, &err)
			       ? cmd_fail(&err)
			       : run_recording(&o, argc, argv);
	}
	profile_options_release(&o);
	array_release(&operands);
	array_release(&specs);
	return code;
}
