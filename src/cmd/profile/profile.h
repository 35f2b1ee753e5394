/* Shared by the subcommands of `tare profile`. Private to it. */
#ifndef TARE_CMD_PROFILE_PROFILE_H
#define TARE_CMD_PROFILE_PROFILE_H

#include "base/options.h"
#include "base/progress.h"
#include "cmd/cmd.h"
#include "cmd/view.h"
#include "collect/machine/cpus.h"
#include "lab/lab.h"
#include "protocol/sleepy/sleepy.h"
#include "report/profile/report.h"
#include "run/record_profile.h"

#define PROFILE_ROWS 20	     /* of a view, by default */
#define PROFILE_TREE_ROWS 60 /* of a tree of calls */
#define PROFILE_NOT_GIVEN (-1)

/* ---- options of record and start (options.c) ---- */

struct profile_options {
	bool background; /* for start: no command */
	bool all, callers, user_only, no_lab, quiet, no_lines, no_code, unprivileged, as_root;
	const char *pids, *cgroup, *cpus, *frequency, *event, *keep, *name, *tag;
	struct lab_access *lab;
	int stacks;  /* PROFILE_NOT_GIVEN */
	long period; /* PROFILE_NOT_GIVEN */
	uint64_t duration_ns, slice_ns;
	/* set by profile_options_check() */
	const char *const *command; /* borrowed; NULL: none. It has command_words words */
	size_t command_words;
	cpu_list chosen;
	ARRAY(pid_t) processes;
	uint64_t keep_bytes; /* 0: no limit */
	struct samples_options samples;
};

#define PROFILE_OPTIONS \
	.stacks = PROFILE_NOT_GIVEN, .period = PROFILE_NOT_GIVEN, .slice_ns = PROFILE_SLICE_NS
/* All of them. */
void profile_record_specs(spec_list *into, struct profile_options *o);
int profile_options_check(struct profile_options *o, const struct cmd_args *args,
			  struct error *err);
void profile_options_release(struct profile_options *o);
/* "500MB", "2GiB", "1000000", with units of 1000 and of 1024. */
bool profile_size_parse(const char *text, uint64_t *bytes);
/* The recording that the options describe, not opened yet. It borrows from them. */
struct profile_recording profile_options_recording(const struct profile_options *o,
						   const struct cmd_args *args);

/* ---- stored runs (stored.c) ---- */

/* Which samples to show. */
struct profile_filter_options {
	const char *app, *object, *function, *comm, *container;
	long instance, pid, tid;
	bool user, kernel;
	uint64_t since_ns, until_ns; /* since the run's begin; until 0: its end */
};

/* Loads the named run or, with NULL, the newest profile. window: read only its times. */
int profile_load_named(struct loaded_run *into, struct lab *lab, const char *name,
		       const struct profile_filter_options *window, struct error *err);
/* Asks a running profile to store what it has. */
void profile_flush(struct lab *lab, int64_t id);

/* ---- display (report.c) ---- */

enum profile_output { PROFILE_AS_TEXT, PROFILE_AS_JSON, PROFILE_AS_CSV, PROFILE_AS_MARKDOWN };

void profile_filter_specs(spec_list *into, struct profile_filter_options *f);
int profile_filter_check(const char *command, const struct profile_filter_options *f,
			 struct error *err);
/* Everything except the times, because a loaded profile contains only those. */
struct sleepy_filter profile_filter_make(const struct profile_filter_options *f);

struct profile_display {
	int by; /* enum sleepy_by, PROFILE_BY_CALLERS; PROFILE_NOT_GIVEN: by app and by function */
	bool tree;
	long top; /* PROFILE_NOT_GIVEN: as many as suit the view */
	double least;
	bool merge_inlined;
	int sort; /* 1: by total */
	enum profile_output as;
	struct profile_filter_options filter;
};
#define PROFILE_BY_CALLERS SLEEPY_VIEWS
#define PROFILE_DISPLAY                                            \
	{                                                          \
		.by = PROFILE_NOT_GIVEN, .top = PROFILE_NOT_GIVEN, \
		.filter.instance = PROFILE_NOT_GIVEN               \
	}
struct profile_style profile_style_of(const struct profile_display *d, const struct profile *p);
/* Appends the report. */
int profile_render(const struct loaded_run *l, const struct profile_display *d, struct strbuf *out,
		   struct error *err);
/* As d->as says; frees it. */
void profile_render_table(struct table *t, const struct profile_display *d, struct strbuf *out);
/* One function by instruction (listing.c). */
int profile_render_listing(const struct loaded_run *l, const struct profile_display *d,
			   struct strbuf *out, struct error *err);
struct profile_sources;
/* The machine code of a function with its source lines. Names of files belong to the profile or the
 * sources, which are valid for one function. Code that was not stored is read from the file and
 * added to the profile. */
int profile_read_code(struct profile *p, uint32_t function, struct profile_sources *sources,
		      instruction_list *list, struct error *err);

/* ---- source text (source.c) ---- */

/* The reader, which is borrowed, can be shared by the sources of many functions. */
struct profile_sources *profile_sources_new(struct reader *reader);
struct reader *profile_sources_reader(const struct profile_sources *s);
void profile_sources_free(struct profile_sources *s);
/* A source function for profile_listing; context: the sources. */
const char *profile_source_line(void *context, const char *path, uint32_t line);
/* Adds the lines of all instructions of a function from its file, if that is unchanged since
 * sampling. The sources own the names. */
void profile_sources_add_lines(struct profile_sources *s, const struct profile *p, uint32_t object,
			       instruction_list *list);

/* ---- subcommands; argv[0] is "profile report" or the like ---- */

int profile_record(struct lab_access *lab, int argc, char **argv);
int profile_start(struct lab_access *lab, int argc, char **argv);
int profile_status(struct lab_access *lab, int argc, char **argv);
int profile_stop(struct lab_access *lab, int argc, char **argv);
int profile_report(struct lab_access *lab, int argc, char **argv);
int profile_diff(struct lab_access *lab, int argc, char **argv);
int profile_to_other(struct lab_access *lab, int argc, char **argv); /* export */
int profile_selftest(struct lab_access *lab, int argc, char **argv);

#endif
