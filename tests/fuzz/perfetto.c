/* A stored trace is read back from a file that anyone may have changed. Whatever its events say,
 * the export must parse, its slices nest and its switches follow from each other. The input is a
 * byte of options, then events; small numbers are made likely, or events would have nothing in
 * common. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/report/perfetto-check.h"
#include "report/export/perfetto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace t = { .present = true };
	struct strbuf out = { 0 };
	struct perfetto_counts counts;
	struct perfetto_title title = { .run = "fuzz", .execution = "execution 1" };
	if (!size)
		return 0;
	uint8_t options = *data++;
	size--;
	for (; size >= sizeof(struct trace_event); size -= sizeof(struct trace_event)) {
		struct trace_event e;
		memcpy(&e, data, sizeof e);
		data += sizeof e;
		if (options & 1) {
			e.tid %= 8;
			e.tgid %= 8;
			e.a %= 8;
			e.cpu %= 4;
		}
		if (options & 2)
			e.at_ns %= 4096;
		array_push(&t.events, e);
	}
	if (options & 4)
		array_push(&t.names, (struct trace_name){ LEDGER_IRQ, 1, "timer" });
	if (options & 8)
		trace_sort(&t);
	if (options & 16)
		title.begin_ns = 100, title.end_ns = 4000;
	perfetto_render(&t, &title, &out);
	if (perfetto_check(out.text, out.length, &counts))
		abort();
	strbuf_release(&out);
	trace_release(&t);
	return 0;
}
