#include "collect/samples/cgroups.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/strbuf.h"

#define LOOK_AGAIN_NS 1000000000u /* the tree is not walked more often */
#define DEPTH_MOST 32

struct named {
	uint64_t id;
	char *path;
};

struct cgroups {
	char *mount;
	ARRAY(struct named) named; /* by id */
	uint64_t walked_ns;
};

char *cgroup_mount(void)
{
	FILE *mounts = fopen("/proc/self/mounts", "re");
	char line[4096], place[2048], type[64];
	char *found = NULL;
	while (mounts && !found && fgets(line, sizeof line, mounts))
		if (sscanf(line, "%*s %2047s %63s", place, type) == 2 &&
		    strcmp(type, "cgroup2") == 0)
			found = xstrdup(place);
	if (mounts)
		fclose(mounts);
	return found;
}

struct cgroups *cgroups_new(void)
{
	struct cgroups *c = xcalloc(1, sizeof *c);
	c->mount = cgroup_mount();
	return c;
}

static void forget(struct cgroups *c)
{
	for (size_t i = 0; i < c->named.count; i++)
		xfree(c->named.items[i].path);
	c->named.count = 0;
}

void cgroups_free(struct cgroups *c)
{
	if (!c)
		return;
	forget(c);
	array_release(&c->named);
	xfree(c->mount);
	xfree(c);
}

static int by_id(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	return (x->id > y->id) - (x->id < y->id);
}

/* An id is the number of the directory's inode. */
static void walk(struct cgroups *c, int directory, struct strbuf *path, int depth)
{
	struct stat st;
	DIR *entries = fdopendir(directory);
	if (!entries) {
		close(directory);
		return;
	}
	if (fstat(directory, &st) == 0)
		array_push(
			&c->named,
			(struct named){ .id = st.st_ino,
					.path = xstrdup(path->length ? strbuf_text(path) : "/") });
	for (struct dirent *e; depth < DEPTH_MOST && (e = readdir(entries));) {
		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		size_t length = path->length;
		int below = openat(directory, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		strbuf_printf(path, "/%s", e->d_name);
		if (below >= 0)
			walk(c, below, path, depth + 1);
		path->text[length] = 0;
		path->length = length;
	}
	closedir(entries);
}

static const char *find(const struct cgroups *c, uint64_t id)
{
	struct named wanted = { .id = id };
	const struct named *found = c->named.count ? bsearch(&wanted, c->named.items,
							     c->named.count, sizeof wanted, by_id)
						   : NULL;
	return found ? found->path : NULL;
}

const char *cgroups_path(struct cgroups *c, uint64_t id)
{
	const char *path = find(c, id);
	uint64_t now = clock_monotonic_ns();
	if (path || !c->mount || (c->walked_ns && now - c->walked_ns < LOOK_AGAIN_NS))
		return path;
	c->walked_ns = now;
	forget(c);
	SCOPED(strbuf_release) struct strbuf at = { 0 };
	int root = open(c->mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root >= 0)
		walk(c, root, &at, 0);
	array_sort(&c->named, by_id);
	return find(c, id);
}
