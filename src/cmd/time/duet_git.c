/* `tare duet --git`: the same command of two revisions. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/guard.h"
#include "base/interrupt.h"
#include "base/invoker.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "cmd/time/duet.h"
#include "measure/execute.h"

struct revisions {
	char folder[64];       /* of everything */
	int guarded;	       /* the folder, for guard_release() */
	char tree[2][96];      /* the worktrees */
	char *name[2], *id[2]; /* as given; the commit's short id */
	bool made[2];
	char log[96];
	struct launcher *launcher;
};

/* Runs as the user who typed sudo: git and builds are theirs. Output goes to the log. */
static int run_as_user(struct revisions *r, const char *directory, char *const *argv, int *status,
		       struct error *err)
{
	const struct launch launch = { .output = OUTPUT_FILE,
				       .output_path = r->log,
				       .directory = directory,
				       .iteration = -1 };
	return hook_execute(r->launcher, &launch, argv, status, err);
}

static char *read_log(const struct revisions *r)
{
	size_t length;
	char *text = invoker_read(r->log, &length);
	return text ? text : xstrdup("");
}

/* The last lines of the log, for an error. */
static void tail_of(const char *text, char *into, size_t size)
{
	size_t length = strlen(text);
	while (length && text[length - 1] == '\n')
		length--;
	size_t from = length;
	for (int lines = 0; from > 0 && length - from < size / 2; from--)
		if (text[from - 1] == '\n' && ++lines == 3)
			break;
	char part[512];
	snprintf(part, sizeof part, "%.*s", (int)(length - from), text + from);
	text_display(part, into, size);
}

static int run_shell(struct revisions *r, const char *directory, const char *command,
		     const char *words, struct error *err)
{
	/* both streams in one log, in order */
	FREED char *script = xprintf("exec 2>&1\n%s", command);
	char *const argv[] = { (char *)"sh", (char *)"-c", script, NULL };
	int status;
	if (run_as_user(r, directory, argv, &status, err))
		return -1;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	FREED char *log = read_log(r);
	char last[400];
	tail_of(log, last, sizeof last);
	error_set(err, EXIT_SUBJECT, "duet: %s failed: %s", words,
		  *last ? last : "it said nothing");
	return -1;
}

static char *quote(const char *text)
{
	struct strbuf out = { 0 };
	strbuf_putc(&out, '\'');
	for (; *text; text++)
		if (*text == '\'')
			strbuf_puts(&out, "'\\''");
		else
			strbuf_putc(&out, *text);
	strbuf_putc(&out, '\'');
	return strbuf_detach(&out);
}

/* Of a commit's short id and its whole one, a line each: the short one, longer if it has digits
 * only, because a side is called by it, and a name is not a number. */
static char *short_id(const char *ids)
{
	size_t length = strcspn(ids, "\n");
	const char *whole = ids + length + (ids[length] == '\n');
	size_t digits = strspn(whole, "0123456789");
	size_t most = strcspn(whole, "\n");
	length = digits < length ? length : digits + 1;
	return xstrndup(whole, length < most ? length : most);
}

/* "main..topic", "main...topic" (from where they parted), "main" or "main.." (up to HEAD). */
static int name_revisions(struct revisions *r, const char *text, struct error *err)
{
	const char *dots = strstr(text, "..");
	bool from_base = dots && dots[2] == '.';
	const char *to = dots ? dots + (from_base ? 3 : 2) : "";
	r->name[0] = dots ? xstrndup(text, (size_t)(dots - text)) : xstrdup(text);
	r->name[1] = xstrdup(*to ? to : "HEAD");
	for (int i = 0; i < 2; i++) {
		if (!*r->name[i] || *r->name[i] == '-')
			return error_set(err, EXIT_USAGE, "duet: --git wants BASE..HEAD, not '%s'",
					 DISPLAYED(text, 100));
		FREED char *name = quote(r->name[i]), *other = quote(r->name[1]);
		FREED char *find = i == 0 && from_base
					   ? xprintf("git merge-base %s %s", name, other)
					   : xprintf("git rev-parse --verify %s'^{commit}'", name);
		FREED char *command = xprintf(
			"c=$(%s) && git rev-parse --short \"$c\" && git rev-parse \"$c\"", find);
		if (run_shell(r, NULL, command, "git rev-parse", err)) {
			err->code = EXIT_USAGE;
			return error_hint(err, "--git takes two revisions of the repository here");
		}
		FREED char *ids = read_log(r);
		r->id[i] = short_id(ids);
	}
	return 0;
}

static int build(struct revisions *r, const char *command, struct error *err)
{
	for (int i = 0; i < 2; i++) {
		snprintf(r->tree[i], sizeof r->tree[i], "%s/%c-%.20s", r->folder, 'a' + i,
			 r->id[i]);
		FREED char *add =
			xprintf("git worktree add --detach '%s' %s", r->tree[i], r->id[i]);
		if (run_shell(r, NULL, add, "git worktree add", err))
			return -1;
		r->made[i] = true;
		char words[64];
		snprintf(words, sizeof words, "the build of %.20s", r->id[i]);
		if (command && run_shell(r, r->tree[i], command, words, err)) {
			/* it is removed with the rest, so the hint says how to see it */
			return error_hint(err, "git checkout %s, and build it there to see more",
					  r->id[i]);
		}
	}
	return 0;
}

static void clean_up(struct revisions *r)
{
	struct error ignored = ERROR_INIT;
	for (int i = 0; i < 2; i++) {
		FREED char *remove = xprintf("git worktree remove --force '%s'", r->tree[i]);
		if (r->made[i])
			run_shell(r, NULL, remove, "git worktree remove", &ignored);
		free(r->name[i]);
		free(r->id[i]);
	}
	AS_USER(as);
	if (*r->folder && invoker_begin(&as, NULL) == 0) {
		unlink(r->log);
		rmdir(r->folder);
	}
	user_end(&as);
	guard_release(r->guarded);
	launcher_free(r->launcher);
}

static int open_folder(struct revisions *r, struct error *err)
{
	const struct launch launch = { .iteration = -1 };
	snprintf(r->folder, sizeof r->folder, "/tmp/tare-duet-XXXXXX");
	if (!guard_make_folder(r->folder, &r->guarded)) {
		*r->folder = '\0';
		return error_errno(err, EXIT_ENVIRONMENT, "duet: cannot make a folder in /tmp");
	}
	snprintf(r->log, sizeof r->log, "%s/log", r->folder);
	return launcher_new(&r->launcher, &launch, err);
}

int duet_git(struct duet_options *d, const struct cmd_args *args, struct error *err)
{
	struct revisions r = { 0 };
	if (args->operands.count != 1) {
		error_set(err, EXIT_USAGE, "duet: --git compares one command, not %zu",
			  args->operands.count);
		return error_hint(
			err, "tare duet --git main..HEAD --build 'make -j2' -- './prog input'");
	}
	interrupt_watch();
	int result = open_folder(&r, err) || name_revisions(&r, d->git, err) ? -1 : 0;
	if (!result && strcmp(r.id[0], r.id[1]) == 0)
		result = error_set(err, EXIT_USAGE, "duet: %s and %s are the same commit %s",
				   r.name[0], r.name[1], r.id[0]);
	if (!result)
		result = build(&r, d->build, err);
	if (!result) {
		struct cmd_args both = *args;
		const char *const folders[2] = { r.tree[0], r.tree[1] };
		const char *commands[2] = { args->operands.items[0], args->operands.items[0] };
		FREED char *span = xprintf("%s..%s", r.id[0], r.id[1]);
		both.operands.items = commands;
		both.operands.count = 2;
		d->directories = folders;
		d->revisions = span;
		if (!d->time->names.count)
			for (int i = 0; i < 2; i++)
				array_push(&d->time->names, r.id[i]);
		result = duet_session(d->time, d, &both, err);
	}
	if (result < 0 && err->code == EXIT_DONE)
		err->code = EXIT_ENVIRONMENT;
	clean_up(&r);
	return result;
}
