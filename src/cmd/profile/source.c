/* Source text beside machine code, where it is still there. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/invoker.h"
#include "binary/reader.h"
#include "cmd/profile/profile.h"

#define FILE_MOST (16 << 20)

struct source_file {
	char *path;
	char *text; /* NULL: cannot be read; lines end with NUL */
	ARRAY(const char *) lines;
};

struct profile_sources {
	ARRAY(struct source_file) files;
	struct reader *reader;
	struct profile lines; /* of every instruction: whose names are borrowed */
};

struct profile_sources *profile_sources_new(struct reader *reader)
{
	struct profile_sources *s = xcalloc(1, sizeof *s);
	s->reader = reader;
	return s;
}

struct reader *profile_sources_reader(const struct profile_sources *s)
{
	return s->reader;
}

void profile_sources_free(struct profile_sources *s)
{
	for (size_t i = 0; i < s->files.count; i++) {
		xfree(s->files.items[i].path);
		xfree(s->files.items[i].text);
		array_release(&s->files.items[i].lines);
	}
	array_release(&s->files);
	profile_release(&s->lines);
	xfree(s);
}

/* NULL: not a file of a reasonable size, or not one for the eyes of who typed sudo: names of files
 * come from the program that was sampled. */
static char *read_text(const char *path)
{
	struct stat st;
	AS_USER(as);
	CLOSED int fd = invoker_begin(&as, NULL) ? -1 : file_open_regular(path);
	bool small = fd >= 0 && fstat(fd, &st) == 0 && st.st_size <= FILE_MOST;
	return small ? file_read_from(fd) : NULL;
}

static struct source_file *file_of(struct profile_sources *s, const char *path)
{
	for (size_t i = 0; i < s->files.count; i++)
		if (strcmp(s->files.items[i].path, path) == 0)
			return &s->files.items[i];
	struct source_file new = { .path = xstrdup(path), .text = read_text(path) };
	for (char *line = new.text; line &&*line;) {
		char *end = strchr(line, '\n');
		array_push(&new.lines, line);
		if (end)
			*end = 0;
		line = end ? end + 1 : NULL;
	}
	array_push(&s->files, new);
	return &s->files.items[s->files.count - 1];
}

const char *profile_source_line(void *context, const char *path, uint32_t line)
{
	const struct source_file *f = path ? file_of(context, path) : NULL;
	return f && line > 0 && line <= f->lines.count ? f->lines.items[line - 1] : NULL;
}

void profile_sources_add_lines(struct profile_sources *s, const struct profile *p, uint32_t object,
			       instruction_list *list)
{
	/* any location tells how far addresses are from bytes of the file */
	uint64_t shift = 0;
	bool told = false;
	for (size_t i = 0; i < p->locations.count && !told; i++) {
		const struct profile_location *l = &p->locations.items[i];
		told = l->object == object && l->frames > 0 && list->count > 0 &&
		       l->address >= list->items[0].address &&
		       l->address <= list->items[list->count - 1].address;
		shift = l->address - l->offset;
	}
	if (!told)
		return;
	profile_release(&s->lines);
	uint32_t own = profile_add_object(&s->lines, &p->objects.items[object]);
	for (size_t i = 0; i < list->count; i++)
		profile_add_location(&s->lines, own, list->items[i].address - shift);
	reader_fill(s->reader, &s->lines);
	for (size_t i = 0; i < list->count && i < s->lines.locations.count; i++) {
		const struct profile_location *l = &s->lines.locations.items[i];
		if (!l->frames)
			continue;
		const struct profile_frame *frame = &s->lines.frames.items[l->first_frame];
		list->items[i].line = frame->line;
		list->items[i].file = frame->file ? frame->file
						  : s->lines.functions.items[frame->function].file;
	}
}
