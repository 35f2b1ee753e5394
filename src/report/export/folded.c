/* Folded stacks, as flamegraph.pl and its kin read them: "app;outer;inner count". */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/export/profile.h"

struct folded_line {
	char *stack;
	uint64_t count;
};

struct folded {
	const struct profile *profile;
	export_frames frames;
	ARRAY(struct folded_line) lines;
};

/* ';' separates, and a line is a line: ';' becomes ':' as stackcollapse-perf.pl has it, what cannot
 * be printed \xNN. */
static void put_name(struct strbuf *line, const char *name)
{
	size_t room = strlen(name) * 4 + 1;
	FREED char *shown = xmalloc(room);
	text_display(name, shown, room);
	for (char *c = shown; *c; c++)
		if (*c == ';')
			*c = ':';
	/* readers would take a number behind the last blank for a second count */
	char *blank = strrchr(shown, ' ');
	if (blank && blank[1] && strspn(blank + 1, "0123456789.") == strlen(blank + 1))
		*blank = '_';
	strbuf_puts(line, *shown ? shown : "?");
}

static void fold(void *context, const struct profile_sample *s, uint64_t count)
{
	struct folded *f = context;
	struct strbuf line = { 0 };
	char room[EXPORT_NAME_MAX];
	put_name(&line, export_app(f->profile, s->thread)->name);
	export_stack(f->profile, s->stack, &f->frames);
	for (size_t i = 0; i < f->frames.count; i++) {
		const struct export_frame *frame = &f->frames.items[i];
		strbuf_putc(&line, ';');
		put_name(&line, export_name(f->profile, export_name_id(f->profile, frame), room));
		if (frame->kernel)
			strbuf_puts(&line, "_[k]");
	}
	array_push(&f->lines, (struct folded_line){ strbuf_detach(&line), count });
}

static int by_stack(const void *a, const void *b)
{
	return strcmp(((const struct folded_line *)a)->stack,
		      ((const struct folded_line *)b)->stack);
}

void export_folded(const struct profile_subject *s, const struct sleepy_filter *f,
		   struct strbuf *out)
{
	struct folded folded = { .profile = s->profile };
	sleepy_each(s->profile, f, fold, &folded);
	if (folded.lines.count)
		qsort(folded.lines.items, folded.lines.count, sizeof *folded.lines.items, by_stack);
	for (size_t i = 0; i < folded.lines.count;) {
		struct folded_line *line = &folded.lines.items[i];
		uint64_t count = 0;
		size_t next = i;
		for (; next < folded.lines.count &&
		       strcmp(folded.lines.items[next].stack, line->stack) == 0;
		     next++)
			count += folded.lines.items[next].count;
		strbuf_printf(out, "%s %llu\n", line->stack, (unsigned long long)count);
		i = next;
	}
	for (size_t i = 0; i < folded.lines.count; i++)
		xfree(folded.lines.items[i].stack);
	array_release(&folded.lines);
	array_release(&folded.frames);
}
