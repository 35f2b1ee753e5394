/* Imports runs that were measured elsewhere, from CSV with the columns run, sample, et_ns, pt_ns,
 * daemon and daemon_pt_ns in any order. It has a row for each execution of a daemon, or for a
 * sample without any, one row without daemon and daemon_pt_ns. */
#ifndef TARE_IMPORT_EXECUTIONS_H
#define TARE_IMPORT_EXECUTIONS_H

#include "base/error.h"
#include "record/execution.h"

#define IMPORTED_RUNS_MOST 1000

struct imported_run {
	char *name;			    /* from the column run */
	ARRAY(struct execution) executions; /* by sample; their begin is unknown: 0 */
	uint64_t daemons;		    /* executions of daemons, over all samples */
};
typedef ARRAY(struct imported_run) imported_list;

/* Reads the runs in order of their first row; list must be empty. On an error (EXIT_USAGE), which
 * names the line and the column, nothing is read. */
int imported_read(const char *text, size_t length, imported_list *list, struct error *err);
void imported_release(imported_list *list);

#endif
