#include "base/links.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/array.h"
#include "base/strbuf.h"

#define HOPS_MOST 40 /* as the kernel */

/* Each step is taken from an open folder, so nobody can exchange what was judged. openat2() could
 * do without links or with all of them, and containers may forbid it. */
struct walk {
	uid_t user;
	struct strbuf rest;
	int at;
	unsigned hops;
	struct found dangling; /* the first link, if it is the last part of the path */
};

static bool is_stranger(const struct walk *w, const struct stat *link)
{
	struct stat folder;
	if (link->st_uid == 0 || link->st_uid == w->user)
		return false;
	return w->user == 0 || fstat(w->at, &folder) || folder.st_uid != link->st_uid;
}

/* The descriptor, which somebody else closes from now on. */
static int taken(int *fd)
{
	int its = *fd;
	*fd = -1;
	return its;
}

static void move(struct walk *w, int to)
{
	scope_close(&w->at);
	w->at = to;
}

/* A link: what is left of the path begins with its text. */
static int take_link(struct walk *w, int link, const char *rest)
{
	char text[PATH_MAX];
	ssize_t length = readlinkat(link, "", text, sizeof text - 1);
	if (length < 0)
		return -1;
	text[length] = '\0';
	SCOPED(strbuf_release) struct strbuf next = { 0 };
	strbuf_printf(&next, "%s%s%s", text, *rest ? "/" : "", rest);
	if (next.length >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strbuf_clear(&w->rest);
	strbuf_puts(&w->rest, next.text);
	if (*text == '/')
		move(w, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
	return w->at < 0 ? -1 : 0;
}

/* A link of /proc stands for a file that need not have a name. */
static bool is_magic(int link)
{
	struct statfs fs;
	return fstatfs(link, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

static void end_at(struct walk *w, int file, const char *name, struct found *into)
{
	if (file < 0 && w->dangling.name) {
		*into = w->dangling;
		w->dangling = (struct found){ .folder = -1, .file = -1 };
		return;
	}
	*into = (struct found){ .folder = w->at, .name = xstrdup(name), .file = file };
	w->at = -1;
}

/* One part of the path. 1: it was the last. */
static int step(struct walk *w, struct found *into)
{
	char *name = w->rest.text + strspn(w->rest.text, "/");
	size_t length = strcspn(name, "/");
	FREED char *part = length ? xstrndup(name, length) : xstrdup(".");
	const char *after = name + length;
	bool last = !*after;
	FREED char *rest = xstrdup(after + strspn(after, "/"));
	struct stat st;
	CLOSED int next = openat(w->at, part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (next < 0 && errno == ENOENT && (last || w->dangling.name)) {
		end_at(w, -1, part, into);
		return 1;
	}
	if (next < 0 || fstat(next, &st))
		return -1;
	if (S_ISLNK(st.st_mode)) {
		if (++w->hops > HOPS_MOST || is_stranger(w, &st)) {
			errno = ELOOP;
			return -1;
		}
		if (is_magic(next)) {
			int to = openat(w->at, part, O_PATH | O_CLOEXEC);
			if (to < 0)
				return -1;
			if (last) {
				*into = (struct found){ .folder = -1, .file = to };
				return 1;
			}
			move(w, to);
			strbuf_clear(&w->rest);
			strbuf_puts(&w->rest, rest);
			return 0;
		}
		if (last && !w->dangling.name) {
			int folder = fcntl(w->at, F_DUPFD_CLOEXEC, 0);
			w->dangling = (struct found){ folder, xstrdup(part), -1 };
		}
		return take_link(w, next, rest);
	}
	if (last) {
		end_at(w, taken(&next), part, into);
		return 1;
	}
	move(w, taken(&next));
	strbuf_clear(&w->rest);
	strbuf_puts(&w->rest, rest);
	return 0;
}

int links_follow(const char *path, uid_t user, struct found *into)
{
	struct walk w = { .user = user, .dangling = { .folder = -1, .file = -1 } };
	*into = (struct found){ .folder = -1, .file = -1 };
	strbuf_puts(&w.rest, path);
	w.at = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int ended = w.at < 0 ? -1 : 0;
	while (!ended)
		ended = step(&w, into);
	scope_close(&w.at);
	found_release(&w.dangling);
	int saved = errno;
	strbuf_release(&w.rest);
	errno = saved;
	return ended < 0 ? -1 : 0;
}

void found_release(struct found *found)
{
	int saved = errno;
	scope_close(&found->folder);
	scope_close(&found->file);
	free(found->name);
	*found = (struct found){ .folder = -1, .file = -1 };
	errno = saved;
}
