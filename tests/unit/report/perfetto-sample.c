/* perfetto-sample TRACE BOOKS: a trace as `tare export --perfetto` writes it, and the books of the
 * made-up machine it is from, as JSON. */
#include <stdlib.h>

#include "perfetto-fixture.h"
#include "report/export/perfetto.h"

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	struct fixture f;
	struct strbuf out = { 0 };
	fixture_make(&f, 20000);
	f.trace.lost = 3;
	struct perfetto_title title = { .run = "sample",
					.execution = "execution 2",
					.begin_ns = FIXTURE_BEGIN,
					.end_ns = f.now_ns,
					.started_at_ns = INT64_C(1767225600000000000) };
	perfetto_render(&f.trace, &title, &out);
	FILE *trace = fopen(argv[1], "wb"), *books = fopen(argv[2], "w");
	if (!trace || !books || fwrite(out.text, 1, out.length, trace) != out.length)
		return 1;
	fixture_print(&f, books);
	strbuf_release(&out);
	fixture_release(&f);
	return fclose(trace) || fclose(books);
}
