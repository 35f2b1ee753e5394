/* A profile on its way from the collector to the lab. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/profile/profile.h"
#include "collect/collect.h"

#define HOLD_NS 60000000000u /* longer, a crash would lose too much */
#define HOLD_BYTES (64u << 20)
#define DROP_BYTES (128u << 20) /* more is not held for a lab that takes nothing */
#define ROLL_EVERY_NS 60000000000u
#define MINUTE_AFTER_NS 600000000000u
#define HOUR_AFTER_NS 86400000000000u
#define BACKGROUND_TABLES (96u << 20) /* of symbols, where tare stays for days */

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

/* ---- storing ---- */

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

static void let_go(struct profile_session *s)
{
	profile_release(&s->held);
	s->held = (struct profile){ 0 };
	s->held_since_ns = 0;
}

static bool is_too_much(struct profile_session *s)
{
	uint64_t begin, bytes;
	return lab_measure_profile(s->lab, s->run.id, &begin, &bytes, &s->trouble) == 0 &&
	       bytes > s->o->keep_bytes;
}

/* Old slices become coarser, and the oldest go, so that the run stays below --keep: now and then,
 * when it is too much, and at the end. */
static void roll(struct profile_session *s, bool at_end)
{
	uint64_t now = clock_monotonic_ns();
	const struct lab_roll how = { .minute_after_ns = MINUTE_AFTER_NS,
				      .hour_after_ns = HOUR_AFTER_NS,
				      .keep_bytes = s->o->keep_bytes };
	if (!s->o->keep_bytes || (!at_end && now - s->rolled_ns < ROLL_EVERY_NS && !is_too_much(s)))
		return;
	s->rolled_ns = now;
	lab_roll_slices(s->lab, s->run.id, &how, now, NULL, &s->trouble);
}

int profile_session_store(struct profile_session *s, struct error *err)
{
	if (!s->held_since_ns)
		return 0;
	symbols_fill(s->symbols, &s->held);
	breathe(s->samples);
	int failed = lab_add_slices(s->lab, s->run.id, &s->held, err);
	breathe(s->samples);
	if (failed)
		return -1;
	s->stored += (uint32_t)s->held.slices.count;
	let_go(s);
	s->trouble = (struct error)ERROR_INIT;
	roll(s, false);
	breathe(s->samples);
	if (s->o->background)
		malloc_trim(0); /* what a busy moment needed is not kept for days */
	return 0;
}

/* A lab that took nothing for long: what is held goes, and is counted. */
static void bound_held(struct profile_session *s)
{
	if (profile_bytes(&s->held) < DROP_BYTES)
		return;
	s->dropped += (uint32_t)s->held.slices.count;
	s->dropped_why = s->trouble;
	let_go(s);
}

void profile_session_add(struct profile_session *s, struct profile *slice)
{
	uint64_t now = clock_monotonic_ns();
	for (size_t i = 0; i < slice->slices.count; i++) {
		s->taken += slice->slices.items[i].samples;
		s->lost += slice->slices.items[i].lost;
		s->slices++;
	}
	if (!s->held_since_ns) {
		/* the first is taken over as it is */
		s->held = *slice;
		*slice = (struct profile){ 0 };
		s->held_since_ns = now;
	} else {
		profile_merge(&s->held, slice);
	}
	if (!s->o->background && now - s->held_since_ns < HOLD_NS &&
	    profile_bytes(&s->held) < HOLD_BYTES)
		return;
	/* a lab that cannot be written to now may be later */
	struct error why = ERROR_INIT;
	if (profile_session_store(s, &why)) {
		s->trouble = why;
		bound_held(s);
	}
}

/* ---- before ---- */

static char *default_name(const struct profile_options *o)
{
	struct strbuf name = { 0 };
	if (o->command) {
		const char *slash = strrchr(o->command[0], '/');
		strbuf_printf(&name, "profile of %s", slash ? slash + 1 : o->command[0]);
	} else if (o->pids) {
		strbuf_printf(&name, "profile of process%s %s", o->processes.count > 1 ? "es" : "",
			      o->pids);
	} else if (o->cgroup) {
		strbuf_printf(&name, "profile of cgroup %s", o->cgroup);
	} else {
		strbuf_puts(&name, "profile of the whole system");
	}
	return strbuf_detach(&name);
}

static void describe_run(struct profile_session *s, int argc, char **argv)
{
	const struct profile_options *o = s->o;
	const char *not_seen = samples_not_seen(s->samples);
	s->run = (struct run){ .kind = SUBJECT_SYSTEM,
			       .name = o->name ? xstrdup(o->name) : default_name(o),
			       .command = cmd_line(argc, argv),
			       .directory = getcwd(NULL, 0),
			       .conditions = profile_conditions(o),
			       .backend = samples_backend(s->samples),
			       .not_seen = not_seen && *not_seen ? xstrdup(not_seen) : NULL,
			       .started_at_ns = clock_realtime_ns(),
			       .version = xstrdup(TARE_VERSION),
			       .tags = o->tag ? xstrdup(o->tag) : NULL };
	if (!s->run.directory)
		s->run.directory = xstrdup("?");
}

static int open_lab(struct profile_session *s, struct error *err)
{
	if (s->o->no_lab)
		s->o->lab->file = LAB_IN_MEMORY;
	s->lab = lab_access_open(s->o->lab, err);
	if (!s->lab) {
		if (!*err->hint)
			error_hint(err, s->o->background ? "--lab FILE keeps the run elsewhere"
							 : "--lab FILE keeps the run elsewhere, "
							   "--no-lab keeps nothing");
		return -1;
	}
	machine_read(&s->machine);
	return lab_add_machine(s->lab, &s->machine, &s->run.machine, err) ||
	       lab_add_study(s->lab, s->run.command, &s->run.study, err) ||
	       lab_add_run(s->lab, &s->run, err);
}

int profile_session_open(struct profile_session *s, const struct profile_options *o, int argc,
			 char **argv, struct error *err)
{
	*s = (struct profile_session){ .o = o, .begun_ns = clock_monotonic_ns() };
	s->rolled_ns = s->begun_ns;
	/* what is wrong with the options is found out before a lab is made */
	if (samples_open(&s->samples, &o->samples, err)) {
		if (err->code == EXIT_ENVIRONMENT && geteuid() != 0 && !*err->hint)
			error_hint(err, "run it as root, or profile what is your own: "
					"'tare profile -- COMMAND'");
		return -1;
	}
	const struct symbols_options symbols = { .open = open_object,
						 .context = s->samples,
						 .breathe = breathe,
						 .no_lines = o->no_lines,
						 .no_code = o->no_code,
						 .memory = o->background ? BACKGROUND_TABLES : 0 };
	s->symbols = symbols_new(&symbols);
	describe_run(s, argc, argv);
	return open_lab(s, err) ? -1 : 0;
}

/* ---- after ---- */

int profile_session_end(struct profile_session *s, enum run_status status, struct error *err)
{
	if (!s->run.id)
		return 0;
	int failed = profile_session_store(s, err);
	struct error late = ERROR_INIT;
	if (!failed && s->slices)
		roll(s, true);
	if (lab_end_run(s->lab, s->run.id, status, failed ? &late : err))
		return -1;
	if (failed)
		return -1;
	return s->slices ? 0 : lab_remove_run(s->lab, s->run.id, err);
}

int profile_session_judge(const struct profile_session *s, struct error *err)
{
	if (s->dropped)
		return error_set(err, EXIT_ENVIRONMENT,
				 "%u of %u slices are missing, for they could not be stored: %s",
				 s->dropped, s->slices, s->dropped_why.text);
	if (*s->trouble.text && !s->held_since_ns)
		return error_set(err, EXIT_ENVIRONMENT, "--keep could not be kept to: %s",
				 s->trouble.text);
	return 0;
}

void profile_session_close(struct profile_session *s)
{
	let_go(s);
	symbols_free(s->symbols);
	samples_close(s->samples);
	run_release(&s->run);
	machine_release(&s->machine);
	if (s->lab)
		lab_access_close(s->o->lab);
	*s = (struct profile_session){ 0 };
}
