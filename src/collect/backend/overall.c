#include "collect/backend/overall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/collect.h"

struct row {
	const char *name; /* of the line, with the space after it */
	enum overall_measure measure;
};

static const struct row stat_rows[] = {
	{ "cpu ", OVERALL_USER },
	{ "intr ", OVERALL_INTERRUPTS },
	{ "ctxt ", OVERALL_SWITCHES },
	{ "btime ", OVERALL_BOOT_TIME },
	{ "processes ", OVERALL_FORKS },
	{ "procs_running ", OVERALL_RUNNING },
	{ "procs_blocked ", OVERALL_BLOCKED },
};

static const struct row vmstat_rows[] = {
	{ "pgpgin ", OVERALL_PAGE_IN },
	{ "pgpgout ", OVERALL_PAGE_OUT },
	{ "pswpin ", OVERALL_SWAP_IN },
	{ "pswpout ", OVERALL_SWAP_OUT },
};

#define ROWS(table) (sizeof(table) / sizeof *(table))

/* The number at text, or NULL when there is none or it is too large; else what follows it. */
static const char *number(const char *text, uint64_t *value)
{
	while (*text == ' ')
		text++;
	if (*text < '0' || *text > '9')
		return NULL;
	uint64_t n = 0;
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*text - '0'), &n))
			return NULL;
	if (*text && *text != ' ' && *text != '\n')
		return NULL;
	*value = n;
	return text;
}

static const char *take(const char *text, enum overall_measure measure, struct overall *into)
{
	uint64_t value;
	const char *rest = number(text, &value);
	if (rest) {
		into->value[measure] = value;
		into->present |= 1ull << measure;
	}
	return rest;
}

static void parse(const char *text, const struct row *rows, size_t count, struct overall *into)
{
	size_t left = count;
	for (const char *line = text; left && line && *line;) {
		for (size_t i = 0; i < count; i++) {
			size_t length = strlen(rows[i].name);
			if (*line != *rows[i].name || strncmp(line, rows[i].name, length) != 0)
				continue;
			const char *rest = take(line + length, rows[i].measure, into);
			/* "cpu" has ten numbers in the order of the enum; old kernels fewer */
			for (unsigned m = OVERALL_NICE;
			     rest && rows[i].measure == OVERALL_USER && m <= OVERALL_GUEST_NICE;
			     m++)
				rest = take(rest, (enum overall_measure)m, into);
			left--;
			break;
		}
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
}

void overall_parse_stat(const char *text, struct overall *into)
{
	parse(text, stat_rows, ROWS(stat_rows), into);
}

void overall_parse_vmstat(const char *text, struct overall *into)
{
	parse(text, vmstat_rows, ROWS(vmstat_rows), into);
}

struct source {
	const char *path;
	int fd;
	char *buffer;
	size_t size;
	void (*parse)(const char *text, struct overall *into);
};

/* Kept open and allocated: this is called at both ends of every execution. */
static struct source sources[] = {
	{ "/proc/stat", -1, NULL, 64 * 1024, overall_parse_stat },
	{ "/proc/vmstat", -1, NULL, 32 * 1024, overall_parse_vmstat },
};

static bool fill(struct source *s)
{
	if (s->fd < 0)
		s->fd = open(s->path, O_RDONLY | O_CLOEXEC);
	if (s->fd < 0)
		return false;
	if (!s->buffer)
		s->buffer = xmalloc(s->size);
	size_t length = 0;
	ssize_t n;
	/* until 0: seq_file hands out /proc/vmstat a page at a time */
	while ((n = pread(s->fd, s->buffer + length, s->size - 1 - length, (off_t)length)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		length += (size_t)n;
		if (length == s->size - 1)
			s->buffer = xrealloc(s->buffer, s->size *= 2);
	}
	s->buffer[length] = '\0';
	return length > 0;
}

void overall_read(struct overall *into)
{
	*into = (struct overall){ 0 };
	for (size_t i = 0; i < ROWS(sources); i++)
		if (fill(&sources[i]))
			sources[i].parse(sources[i].buffer, into);
}
