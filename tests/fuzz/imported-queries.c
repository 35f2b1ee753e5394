/* A file for `tare query import`: whatever is in it, it is refused with a text, or makes a run that
 * holds together. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "import/queries.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_run(const struct query_run *run)
{
	for (size_t i = 0; i < run->at.count; i++) {
		const struct query_at *at = &run->at.items[i], *before = at - 1;
		if (!at->query || at->query > run->queries || !at->executions.count ||
		    at->executions.count > run->planned)
			abort();
		if (i && (before->query > at->query ||
			  (before->query == at->query && before->cardinality >= at->cardinality)))
			abort();
		for (size_t k = 0; k < at->executions.count; k++) {
			const struct query_execution *x = &at->executions.items[k];
			if (!x->number || (k && x->number <= x[-1].number) ||
			    x->measured_ns > INT64_MAX)
				abort();
		}
	}
	if (!run->at.count || run->queries > IMPORTED_QUERIES_MOST)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct query_run run = { 0 };
	struct error err = ERROR_INIT;
	/* exactly as long as it is: a read beyond is seen */
	char *text = malloc(size ? size : 1);
	if (!text)
		abort();
	memcpy(text, data, size);
	if (imported_queries_read(text, size, size & 1 ? 0 : size << 20, &run, &err)) {
		if (!*err.text || err.code != EXIT_USAGE || run.at.items)
			abort();
	} else {
		check_run(&run);
	}
	query_run_release(&run);
	free(text);
	return 0;
}
