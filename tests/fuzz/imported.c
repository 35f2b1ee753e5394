/* A file for `tare import`: whatever is in it, it is refused with a text, or makes runs that hold
 * together. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "import/executions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_run(const struct imported_run *run)
{
	uint64_t daemons = 0;
	for (size_t i = 0; i < run->executions.count; i++) {
		const struct execution *x = &run->executions.items[i];
		if (!x->et_ns || (i && x->number <= run->executions.items[i - 1].number))
			abort();
		for (size_t p = 0; p < x->processes.count; p++)
			if (!memchr(x->processes.items[p].name, '\0',
				    sizeof x->processes.items->name))
				abort();
		daemons += x->processes.count;
	}
	if (!*run->name || !run->executions.count || daemons != run->daemons)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	imported_list list = { 0 };
	struct error err = ERROR_INIT;
	/* exactly as long as it is: a read beyond is seen */
	char *text = malloc(size ? size : 1);
	if (!text)
		abort();
	memcpy(text, data, size);
	if (imported_read(text, size, &list, &err)) {
		if (!*err.text || err.code != EXIT_USAGE || list.count)
			abort();
	} else {
		for (size_t i = 0; i < list.count; i++)
			check_run(&list.items[i]);
	}
	imported_release(&list);
	free(text);
	return 0;
}
