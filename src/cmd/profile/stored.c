/* Stored profiles: found, loaded, and what `tare show` and `tare export` do with one. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/profile/profile.h"
#include "run/control.h"

#define FLUSH_PATIENCE_S 30

/* A moment of the run as the lab has it. */
static uint64_t moment(uint64_t begin_ns, uint64_t after_ns)
{
	return after_ns < INT64_MAX - begin_ns ? begin_ns + after_ns : INT64_MAX;
}

static int load_slices(struct profile_loaded *into, struct lab *lab, int64_t run,
		       const struct profile_filter_options *window, struct error *err)
{
	uint64_t since = 0, until = 0, bytes;
	if (lab_measure_profile(lab, run, &into->begin_ns, &bytes, err))
		return -1;
	if (window && window->since_ns)
		since = moment(into->begin_ns, window->since_ns);
	if (window && window->until_ns)
		until = moment(into->begin_ns, window->until_ns);
	/* only the listing of a function has a use for code */
	return (window && window->function ? lab_get_profile : lab_get_profile_without_code)(
		lab, run, since, until, &into->profile, err);
}

int profile_load_run(struct profile_loaded *into, struct lab *lab, int64_t run,
		     const struct profile_filter_options *window, struct error *err)
{
	*into = (struct profile_loaded){ 0 };
	if (cmd_load_run(lab, run, &into->run, &into->machine, err) == 0 &&
	    load_slices(into, lab, run, window, err) == 0)
		return 0;
	profile_loaded_release(into);
	return -1;
}

void profile_loaded_release(struct profile_loaded *l)
{
	run_release(&l->run);
	profile_release(&l->profile);
	machine_release(&l->machine);
	*l = (struct profile_loaded){ 0 };
}

struct profile_subject profile_loaded_subject(const struct profile_loaded *l)
{
	return (struct profile_subject){ .run = &l->run,
					 .machine = l->machine.facts.count ? &l->machine : NULL,
					 .profile = &l->profile,
					 .begin_ns = l->begin_ns };
}

/* ---- found ---- */

static int find_newest(struct lab *lab, int64_t *id, struct error *err)
{
	int failed = cmd_newest_run(lab, SUBJECT_SYSTEM, false, id, err);
	if (failed || *id)
		return failed;
	error_set(err, EXIT_USAGE, "there is no profile in %s", lab_path(lab));
	return error_hint(err, "'tare profile' makes one");
}

static int find(struct lab *lab, const char *name, int64_t *id, struct error *err)
{
	struct run run = { 0 };
	if (!name)
		return find_newest(lab, id, err);
	if (lab_find_run(lab, name, id, err) || lab_get_run(lab, *id, &run, err))
		return -1;
	enum subject_kind kind = run.kind;
	run_release(&run);
	if (kind == SUBJECT_SYSTEM)
		return 0;
	error_set(err, EXIT_USAGE, "run %" PRId64 " is no profile: it is one of 'tare %s'", *id,
		  kind == SUBJECT_CPU	  ? "noise"
		  : kind == SUBJECT_QUERY ? "query"
					  : "time");
	return error_hint(err, "'tare show %" PRId64 "' shows it", *id);
}

/* A collector in the background is asked to store what it has. That there is none to ask is no
 * error: what is in the lab is shown. */
static void flush_if_going(struct lab *lab, int64_t id)
{
	struct run run = { 0 };
	struct error none = ERROR_INIT;
	struct control_place place;
	if (lab_get_run(lab, id, &run, &none) == 0 && run.status == RUN_GOING &&
	    control_place_of(&place, CONTROL_PROFILE, lab_path(lab), false, &none) == 0)
		free(control_ask(&place, "flush", FLUSH_PATIENCE_S, &none));
	run_release(&run);
}

int profile_load_named(struct profile_loaded *into, struct lab *lab, const char *name,
		       const struct profile_filter_options *window, struct error *err)
{
	int64_t id;
	if (find(lab, name, &id, err))
		return -1;
	flush_if_going(lab, id);
	return profile_load_run(into, lab, id, window, err);
}

/* ---- for the other commands ---- */

static int write_stored(struct lab *lab, int64_t run, const struct profile_display *d,
			const char *path, struct error *err)
{
	struct profile_loaded l = { 0 };
	struct strbuf out = { 0 };
	char name[32];
	snprintf(name, sizeof name, "%" PRId64, run);
	int failed = profile_load_named(&l, lab, name, &d->filter, err) ||
		     profile_render(&l, d, &out, err) ||
		     file_write(path, strbuf_text(&out), out.length, err);
	strbuf_release(&out);
	profile_loaded_release(&l);
	return failed;
}

int profile_show_stored(struct lab *lab, int64_t run, bool json, struct error *err)
{
	struct profile_display d = PROFILE_DISPLAY;
	d.as = json ? PROFILE_AS_JSON : PROFILE_AS_TEXT;
	return write_stored(lab, run, &d, "-", err);
}

int profile_export_stored(struct lab *lab, int64_t run, bool json, const char *path,
			  struct error *err)
{
	struct profile_display d = PROFILE_DISPLAY;
	d.as = json ? PROFILE_AS_JSON : PROFILE_AS_CSV;
	d.top = 0; /* for programs: all rows, whatever people see */
	return write_stored(lab, run, &d, path, err);
}
