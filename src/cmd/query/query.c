/* tare query: the time of queries, by the Tucson Timing Protocol. */
#include "cmd/query/query.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cmd/cmd.h"

int cmd_query(struct lab_access *lab, int argc, char **argv)
{
	static const struct subcommand parts[] = {
		{ "run", query_record, WRITES_LAB },
		{ "resume", query_resume, EDITS_LAB },
		{ "report", query_report, READS_LAB },
		{ "compare", query_compare, READS_LAB },
		{ "check", query_check, NO_LAB },
		{ "import", query_import, WRITES_LAB },
		{ 0 },
	};
	bool named = false;
	for (const struct subcommand *p = parts; argc > 1 && p->name; p++)
		named |= strcmp(argv[1], p->name) == 0;
	if (named)
		return cmd_parts(parts, false, lab, argc, argv);
	lab->need = WRITES_LAB;
	return query_record(lab, argc, argv); /* anything else is an experiment */
}

/* At most so much of it, whatever it is: a device, or a pipe, has no end. NULL with errno. */
static char *read_some(const char *path, size_t most, size_t *length)
{
	int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	char *text = xmalloc(most + 1);
	ssize_t n = 0;
	*length = 0;
	do {
		n = read(fd, text + *length, most - *length);
		*length += n > 0 ? (size_t)n : 0;
	} while ((n > 0 && *length < most) || (n < 0 && errno == EINTR));
	int why = errno;
	close(fd);
	text[*length] = '\0';
	if (n >= 0)
		return text;
	free(text);
	errno = why;
	return NULL;
}

static int read_file(const char *path, struct experiment *into, struct error *err)
{
	char shown[200];
	size_t length = 0;
	text_display(strcmp(path, "-") == 0 ? "standard input" : path, shown, sizeof shown);
	char *text = read_some(path, EXPERIMENT_MOST + 1, &length);
	if (!text) {
		error_set(err, EXIT_USAGE, "cannot read the experiment %s: %s", shown,
			  strerror(errno));
		return error_hint(err, "the built-in ones are quick, onepass and tpch");
	}
	const char *slash = strrchr(path, '/');
	char *directory = slash ? xstrndup(path, (size_t)(slash - path)) : xstrdup(".");
	int failed = experiment_parse(text, length, *directory ? directory : "/", into, err);
	free(directory);
	free(text);
	return failed ? error_prefix(err, "%s", shown) : 0;
}

int query_scale(const char *text, double *scale, struct error *err)
{
	*scale = 0;
	if (!text || (real_parse(text, scale) && *scale > 0))
		return 0;
	return error_set(err, EXIT_USAGE, "query: --scale takes a number above 0, not '%.60s'",
			 text);
}

int query_experiment(const char *name, double scale, struct experiment *into, struct error *err)
{
	for (size_t i = 0; experiment_names[i]; i++)
		if (strcmp(name, experiment_names[i]) == 0)
			return experiment_builtin(name, scale, into, err);
	return read_file(name, into, err);
}
