/* Swap, off and on again with the priority it had. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/swap.h>

#include "base/clock.h"
#include "base/file.h"
#include "quiet/change.h"

/* A line of /proc/swaps: where, what, size, used, priority. Blanks in the name are \040 there. */
static bool read_line(const char *line, char path[512], int *priority)
{
	return sscanf(line, "%511s %*s %*s %*s %d", path, priority) == 2 && *path == '/' &&
	       !strchr(path, '\\');
}

static enum reading swap_now(const struct quiet_options *o, const struct change *c, char **value,
			     struct error *err)
{
	FREED char *text = file_read("/proc/swaps");
	char *rest = text, path[512];
	struct strbuf out = { 0 };
	struct stat st;
	int priority;
	(void)o;
	*value = NULL;
	if (!text) {
		error_errno(err, EXIT_ENVIRONMENT, "/proc/swaps");
		return READ_FAILED;
	}
	for (char *line; rest && !out.length && (line = strsep(&rest, "\n"));)
		if (read_line(line, path, &priority) && strcmp(path, c->what) == 0)
			strbuf_printf(&out, "on %d", priority);
	if (!out.length && stat(c->what, &st))
		return reading_of_errno(err);
	*value = out.length ? strbuf_detach(&out) : xstrdup("off");
	return READ_VALUE;
}

/* The kernel gives what has no priority of its own one below 0. */
static int swap_put(const struct quiet_options *o, const struct change *c, const char *value,
		    struct error *err)
{
	long priority;
	(void)o;
	int flags = 0;
	if (strncmp(value, "on ", 3) == 0 &&
	    integer_parse(value + 3, 0, SWAP_FLAG_PRIO_MASK, &priority))
		flags = SWAP_FLAG_PREFER | (int)priority << SWAP_FLAG_PRIO_SHIFT;
	int failed = strcmp(value, "off") == 0 ? swapoff(c->what) : swapon(c->what, flags);
	return failed ? error_set(err, EXIT_ENVIRONMENT, "%s", strerror(errno)) : 0;
}

const struct change_ops swap_ops = { swap_now, swap_put };

int plan_swap(const struct quiet_options *o, const struct quiet_knob *k, change_list *out,
	      struct error *err)
{
	(void)err;
	if (strcmp(k->name, "swap") != 0 || !quiet_is_machine(o))
		return 0;
	char *text = file_read("/proc/swaps"), *end = text ? text + strlen(text) : NULL;
	/* The last first: the kernel numbers those without a priority of their own as they come,
	 * and restoring goes the other way. */
	for (char *line; text && end > text; end = line) {
		char path[512];
		int priority;
		end[-1] = '\0';
		line = strrchr(text, '\n');
		line = line ? line + 1 : text;
		if (!read_line(line, path, &priority))
			continue;
		FREED char *before = xprintf("on %d", priority);
		change_add(out, CHANGE_SWAP, k->name, path, before, "off");
	}
	free(text);
	return 0;
}
