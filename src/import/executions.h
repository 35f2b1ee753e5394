/* Runs that were measured elsewhere, from CSV with the columns run, sample, et_ns, pt_ns, daemon
 * and daemon_pt_ns in any order: a row for each daemon's execution, or one with neither daemon nor
 * daemon_pt_ns for a sample without any. */
#ifndef TARE_IMPORT_EXECUTIONS_H
#define TARE_IMPORT_EXECUTIONS_H

#include "base/error.h"
#include "record/execution.h"

#define IMPORTED_RUNS_MOST 1000

struct imported_run {
	char *name;			    /* as in the column run */
	ARRAY(struct execution) executions; /* by sample; when each began is not known: 0 */
	uint64_t daemons;		    /* executions of daemons, in all of them */
};
typedef ARRAY(struct imported_run) imported_list;

/* The runs in the order in which they begin; list must be empty. All or none: an error (EXIT_USAGE)
 * names the line and the column. */
int imported_read(const char *text, size_t length, imported_list *list, struct error *err);
void imported_release(imported_list *list);

#endif
