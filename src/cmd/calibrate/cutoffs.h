/* The parts of `tare cutoffs`, which handles the cutoffs in force on this machine. Private to
 * it. */
#ifndef TARE_CMD_CALIBRATE_CUTOFFS_H
#define TARE_CMD_CALIBRATE_CUTOFFS_H

#include "lab/lab.h"
#include "protocol/emp/cutoffs_validity.h"

struct json_t; /* of jansson */

/* What has changed on this machine since they were made (cutoffs.c). Daemons that `tare quiet`
 * stopped are not a change. */
void cutoffs_changes_here(const struct lab_cutoffs *c, const struct machine *now,
			  cutoffs_change_list *into);

/* ---- as JSON (cutoffs_file.c) ---- */

/* docs/schema/cutoffs.schema.json, for `--json` and the exported file. now: this machine. */
struct json_t *cutoffs_to_json(const struct lab_cutoffs *c, const struct machine *now);

struct cutoffs_file {
	int64_t made_at_ns;	     /* 0: unknown */
	char identity[17], host[64]; /* of its machine; its name, for display */
	cutoff_list cutoffs;
};
/* Reads such a file, from any source. It does not check whether the lab would accept the cutoffs.
 * The caller releases into->cutoffs, even after an error. */
int cutoffs_from_json(const char *text, size_t length, struct cutoffs_file *into,
		      struct error *err);

/* ---- parts of the command; argv[0] is "cutoffs export" or the like ---- */

int cutoffs_export(struct lab_access *lab, int argc, char **argv);
int cutoffs_import(struct lab_access *lab, int argc, char **argv);
int cutoffs_studies(struct lab_access *lab, int argc, char **argv); /* cutoffs_studies.c */
int cutoffs_show(struct lab_access *lab, int argc, char **argv);
int cutoffs_rm_study(struct lab_access *lab, int argc, char **argv);

/* Parses the number of a study. */
int cutoffs_parse_study(const char *text, int64_t *id, struct error *err);
/* id 0: the newest of this machine. The caller releases both, even after an error. */
int cutoffs_get_study(struct lab *lab, int64_t id, struct study *into, struct machine *machine,
		      struct error *err);

#endif
