#include "run/record_profile.h"

#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define HOLD_NS 60000000000u /* longer, a crash would lose too much */
#define HOLD_BYTES (64u << 20)
#define DROP_BYTES (128u << 20) /* more is not held for a lab that takes nothing */
#define ROLL_EVERY_NS 60000000000u
#define MINUTE_AFTER_NS 600000000000u
#define HOUR_AFTER_NS 86400000000000u
#define BACKGROUND_TABLES (96u << 20) /* of symbols, where tare stays for days */

/* ---- storing ---- */

static int open_object(void *context, const struct profile_object *o)
{
	return samples_object_fd(context, o);
}

/* The kernel's buffers fill while names are looked for and stored. An error comes again with the
 * next beat of the measurement, which is the one to tell it. */
static void breathe(void *context)
{
	struct error none = ERROR_INIT;
	samples_beat(context, &none);
}

static size_t profile_bytes(const struct profile *p)
{
	size_t bytes = p->objects.count * sizeof *p->objects.items +
		       p->instances.count * sizeof *p->instances.items +
		       p->threads.count * sizeof *p->threads.items +
		       p->functions.count * sizeof *p->functions.items +
		       p->locations.count * sizeof *p->locations.items +
		       p->links.count * sizeof *p->links.items +
		       p->stack_list.count * sizeof *p->stack_list.items +
		       p->samples.count * sizeof *p->samples.items;
	return 2 * bytes; /* strings and what finds them again */
}

static void let_go(struct profile_recording *r)
{
	profile_release(&r->held);
	r->held = (struct profile){ 0 };
	r->held_since_ns = 0;
}

/* Old slices become coarser, and the oldest go, so that the run stays below keep_bytes: now and
 * then, when it is too much, and at the end. */
static void roll(struct profile_recording *r, bool at_end)
{
	uint64_t now = clock_monotonic_ns(), begin, bytes;
	const struct lab_roll how = { .minute_after_ns = MINUTE_AFTER_NS,
				      .hour_after_ns = HOUR_AFTER_NS,
				      .keep_bytes = r->keep_bytes };
	if (!r->keep_bytes)
		return;
	if (!at_end && now - r->rolled_ns < ROLL_EVERY_NS &&
	    (lab_measure_profile(r->to.lab, r->run.id, &begin, &bytes, &r->trouble) ||
	     bytes <= r->keep_bytes))
		return;
	r->rolled_ns = now;
	lab_roll_slices(r->to.lab, r->run.id, &how, now, NULL, &r->trouble);
}

static int add_slices(struct lab *lab, void *what, struct error *err)
{
	const struct profile_recording *r = what;
	return lab_add_slices(lab, r->run.id, &r->held, err);
}

static int store(struct profile_recording *r, bool at_end, struct error *err)
{
	if (!r->held_since_ns)
		return 0;
	reader_fill(r->reader, &r->held);
	breathe(r->samples);
	int failed = at_end ? recorder_wait(&r->to, add_slices, r, err)
			    : recorder_try(&r->to, add_slices, r, err);
	breathe(r->samples);
	if (failed > 0)
		*err = r->to.trouble;
	if (failed)
		return -1;
	r->stored += (uint32_t)r->held.slices.count;
	let_go(r);
	r->trouble = (struct error)ERROR_INIT;
	roll(r, false);
	breathe(r->samples);
	if (r->background)
		malloc_trim(0); /* what a busy moment needed is not kept for days */
	return 0;
}

void profile_recording_add(struct profile_recording *r, struct profile *slice)
{
	uint64_t now = clock_monotonic_ns();
	if (slice->slices.count) /* the reader is a part of tare */
		slice->slices.items[slice->slices.count - 1].self_ns += reader_spent_ns(r->reader);
	for (size_t i = 0; i < slice->slices.count; i++) {
		r->taken += slice->slices.items[i].samples;
		r->lost += slice->slices.items[i].lost;
		r->slices++;
	}
	if (!r->held_since_ns) {
		/* the first is taken over as it is */
		r->held = *slice;
		*slice = (struct profile){ 0 };
		r->held_since_ns = now;
	} else {
		profile_merge(&r->held, slice);
	}
	if (!r->background && now - r->held_since_ns < HOLD_NS &&
	    profile_bytes(&r->held) < HOLD_BYTES)
		return;
	/* a lab that cannot be written to now may be later; of one that took nothing for long, what
	 * is held goes, and is counted */
	struct error why = ERROR_INIT;
	if (store(r, false, &why) == 0)
		return;
	r->trouble = why;
	if (profile_bytes(&r->held) < DROP_BYTES)
		return;
	r->dropped += (uint32_t)r->held.slices.count;
	r->dropped_why = r->trouble;
	let_go(r);
}

/* ---- before ---- */

/* Forked before the collector is there: it waits at its gate. Its standard streams are tare's. */
static int spawn(struct profile_recording *r, struct error *err)
{
	const struct launch launch = { .inherit_input = true,
				       .output = OUTPUT_INHERIT,
				       .as_root = r->as_root,
				       .iteration = -1 };
	r->argv = xcalloc(r->word_count + 1, sizeof *r->argv);
	for (size_t i = 0; i < r->word_count; i++)
		r->argv[i] = (char *)r->words[i];
	if (launcher_new(&r->launcher, &launch, err) ||
	    command_spawn(r->launcher, &launch, r->argv, &r->command, err)) {
		r->command.pid = 0;
		return -1;
	}
	return 0;
}

static int begin(struct profile_recording *r, struct lab_access *lab, enum recorder_lab which,
		 struct error *err)
{
	/* what is wrong with the options is found out before a lab is made */
	if (samples_open(&r->samples, &r->how, err)) {
		if (err->code == EXIT_ENVIRONMENT && geteuid() != 0 && !*err->hint)
			error_hint(err, "run it as root, or profile what is your own: "
					"'tare profile -- COMMAND'");
		return -1;
	}
	const struct symbols_options symbols = { .open = open_object,
						 .context = r->samples,
						 .breathe = breathe,
						 .no_lines = r->no_lines,
						 .no_code = r->no_code,
						 .memory = r->background ? BACKGROUND_TABLES : 0 };
	r->reader = reader_new(&symbols);
	const char *not_seen = samples_not_seen(r->samples);
	r->run.kind = SUBJECT_SYSTEM;
	r->run.command = xstrdup(r->to.command_line);
	r->run.backend = samples_backend(r->samples);
	r->run.not_seen = not_seen && *not_seen ? xstrdup(not_seen) : NULL;
	return recorder_open(&r->to, lab, which, err) || recorder_begin(&r->to, &r->run, err) ||
	       (r->words && r->follow && samples_follow(r->samples, r->command.pid, err));
}

int profile_recording_open(struct profile_recording *r, struct lab_access *lab,
			   enum recorder_lab which, struct error *err)
{
	r->begun_ns = r->rolled_ns = clock_monotonic_ns();
	if (r->words && spawn(r, err))
		return -1;
	if (begin(r, lab, which, err) == 0)
		return 0;
	if (r->command.pid > 0) {
		kill(r->command.pid, SIGKILL);
		waitpid(r->command.pid, NULL, 0);
	}
	profile_recording_forget(r);
	return -1;
}

/* ---- after ---- */

int profile_recording_end(struct profile_recording *r, enum run_status status, struct error *err)
{
	struct error late = ERROR_INIT;
	if (r->background)
		recorder_hurry(&r->to);
	int failed = store(r, true, err);
	if (!failed && r->slices)
		roll(r, true);
	return recorder_end(&r->to, &r->run, status, failed || r->slices, failed ? &late : err) ||
			       failed
		       ? -1
		       : 0;
}

void profile_recording_forget(struct profile_recording *r)
{
	struct error none = ERROR_INIT;
	if (r->run.id)
		recorder_end(&r->to, &r->run, RUN_FAILED, false, &none);
}

int profile_recording_judge(const struct profile_recording *r, struct error *err)
{
	if (r->dropped)
		return error_set(err, EXIT_ENVIRONMENT,
				 "%u of %u slices are missing, for they could not be stored: %s",
				 r->dropped, r->slices, r->dropped_why.text);
	if (*r->trouble.text && !r->held_since_ns)
		return error_set(err, EXIT_ENVIRONMENT, "--keep could not be kept to: %s",
				 r->trouble.text);
	return 0;
}

void profile_recording_close(struct profile_recording *r)
{
	if (r->command.pid > 0)
		command_release(&r->command);
	launcher_free(r->launcher);
	free(r->argv);
	let_go(r);
	reader_free(r->reader);
	samples_close(r->samples);
	run_release(&r->run);
	recorder_close(&r->to);
	*r = (struct profile_recording){ 0 };
}
