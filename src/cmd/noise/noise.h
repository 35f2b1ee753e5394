/* Shared by the subcommands of `tare noise`. Private to it. */
#ifndef TARE_CMD_NOISE_NOISE_H
#define TARE_CMD_NOISE_NOISE_H

#include "base/options.h"
#include "cmd/kinds.h"
#include "cmd/view.h"
#include "collect/detours/detours.h"
#include "collect/machine/cpus.h"
#include "lab/lab.h"
#include "report/noise/report.h"
#include "run/record_noise.h"

#define NOISE_NOT_GIVEN UINT64_MAX
#define NOISE_ROWS 20 /* of the source table, by default */

enum noise_live { NOISE_RECORD, NOISE_TOP, NOISE_HIST };

/* How to show a run, new or stored. */
struct noise_display {
	int mode; /* enum noise_mode */
	bool per_cpu, histogram, density, json;
	long most;
	const char *zoom;
	const char *export_json, *export_csv, *export_perfetto;
	struct lab_access *lab;
	/* set by noise_display_check() */
	uint64_t low_ns, high_ns; /* of the zoom; high 0: none */
};

struct noise_options {
	enum noise_live live;
	const char *cpus, *threshold, *priority, *name, *tag, *bucket;
	uint64_t duration_ns, round_ns;
	long worst, entries;
	bool baseline, no_kernel, no_speed, no_lab, quiet;
	struct noise_display display;
	/* set by noise_options_check() */
	cpu_list chosen;
	struct detours_options detours;
	struct noise_plan plan;
	uint64_t bucket_ns;
};

/* ---- options (options.c) ---- */

void noise_record_specs(spec_list *into, struct noise_options *o);
/* Call it last. */
void noise_display_specs(spec_list *into, struct noise_display *d);

int noise_options_check(struct noise_options *o, struct error *err);
int noise_display_check(struct noise_display *d, struct error *err);
/* The CPUs of the text. If it is NULL, all that affinity can reach except one that tare itself
 * needs (unless there is no other): the first of the mask that tare was started with. */
int noise_cpus(const char *text, cpu_list *into, struct error *err);
/* Parses a time with its unit. A bare number other than 0 is refused, because it would be seconds
 * here, but µs for users of rtla or oslat. wanted: what the option expects, for the error. */
int noise_time(const char *option, const char *text, const char *wanted, uint64_t *ns,
	       struct error *err);
/* Every option that shaped the run, as a JSON object. The caller frees it. */
char *noise_conditions(const struct noise_options *o);

/* ---- stored runs (show.c) ---- */

/* Like run_find() for noise, but "baseline" is that of machine m (NULL: this machine). */
int noise_find(struct lab *lab, const char *text, const struct machine *m, int64_t *id,
	       struct error *err);
/* The baseline of m (NULL: this machine); an error if there is none. */
int noise_find_baseline(struct lab *lab, const struct machine *m, int64_t *id, struct error *err);

/* Whether an export or --json goes to standard output, so that nothing else may. */
bool noise_to_stdout(const struct noise_display *d);
struct noise_style noise_style_of(const struct noise_display *d);
/* Prints the report (unless quiet, or an export goes to stdout) and writes the exports. hist: print
 * `tare noise hist` instead; NULL: the report. */
int noise_print(const struct loaded_run *l, const struct noise_display *d, bool quiet,
		const struct noise_options *hist, struct error *err);

/* As the display says; text is the complete report. */
void noise_render(const struct loaded_run *l, enum run_form_as as, const struct noise_display *d,
		  struct strbuf *out);

/* ---- the screen of `tare noise top` (top.c) ---- */

struct noise_screen;
struct noise_screen *noise_screen_open(void);
/* Returns whether the user asked to end it. */
bool noise_screen_draw(struct noise_screen *s, const struct noise_view *v,
		       const struct noise_display *d);
void noise_screen_close(struct noise_screen *s); /* NULL is fine */

/* ---- subcommands; argv[0] is "noise top" or the like ---- */

int noise_record(struct lab_access *lab, int argc, char **argv); /* also top and hist */
int noise_show(struct lab_access *lab, int argc, char **argv);
int noise_diff(struct lab_access *lab, int argc, char **argv);
int noise_selftest(struct lab_access *lab, int argc, char **argv);

#endif
