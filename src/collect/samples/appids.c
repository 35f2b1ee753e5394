#include "collect/samples/appids.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

#define BUCKETS 1024
/* Names that are counted one by one. Those beyond have numbers from one counter: still unique, but
 * not from 0. */
#define MOST 65536

struct name_count {
	struct name_count *next;
	uint32_t count;
	char *path; /* of the executable; "" for kernel threads */
	char *name;
};

struct appids {
	struct name_count *buckets[BUCKETS];
	uint32_t names, others;
};

struct appids *appids_new(void)
{
	return xcalloc(1, sizeof(struct appids));
}

void appids_free(struct appids *a)
{
	for (size_t i = 0; a && i < BUCKETS; i++) {
		for (struct name_count *c = a->buckets[i], *next; c; c = next) {
			next = c->next;
			xfree(c->path);
			xfree(c->name);
			xfree(c);
		}
	}
	xfree(a);
}

static uint32_t mix(uint32_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 16777619u;
	return hash;
}

static uint32_t next_number(struct appids *a, const char *name, const char *path)
{
	uint32_t hash = mix(mix(2166136261u, name) * 31, path);
	struct name_count **bucket = &a->buckets[(hash ^ hash >> 16) % BUCKETS], *c = *bucket;
	while (c && (strcmp(c->name, name) != 0 || strcmp(c->path, path) != 0))
		c = c->next;
	if (c)
		return c->count++;
	if (a->names >= MOST)
		return a->others++;
	c = xmalloc(sizeof *c);
	*c = (struct name_count){ *bucket, 1, xstrdup(path), xstrdup(name) };
	*bucket = c;
	a->names++;
	return 0;
}

void appids_thread_name(const char *comm, char name[APPIDS_THREAD_NAME])
{
	size_t length = strnlen(comm, PROFILE_COMM - 1), cut = strcspn(comm, "/:");
	size_t end = length;
	if (cut > 0 && cut < length) {
		end = cut;
	} else {
		while (end > 1 && isdigit((unsigned char)comm[end - 1]))
			end--;
		while (end > 1 && end < length && strchr("-_.", comm[end - 1]))
			end--;
	}
	snprintf(name, APPIDS_THREAD_NAME, "[%.*s]", (int)end, comm);
}

/* The kernel keeps 15 characters of a name with its task, and all of them elsewhere, which only
 * /proc tells. Of a worker it tells what it works on right now, too: "kworker/0:1-events". */
static void whole_comm(const struct image_of *image, char comm[PROFILE_COMM])
{
	static const char worker[] = "kworker/", rescuer[] = "kworker/R-";
	snprintf(comm, PROFILE_COMM, "%s", image->comm);
	FREED char *text = image->kernel && !image->end_ns ? file_read_proc(image->pid, "comm")
							   : NULL;
	if (!text || strncmp(text, image->comm, strlen(image->comm)) != 0)
		return;
	snprintf(comm, PROFILE_COMM, "%.*s", (int)strcspn(text, "\n"), text);
	if (strncmp(comm, worker, strlen(worker)) == 0 &&
	    strncmp(comm, rescuer, strlen(rescuer)) != 0)
		comm[strcspn(comm, "+-")] = 0;
}

/* A line is "4:cpu,memory:/path". */
static const char *path_if(const char *line, size_t length, const char *controllers)
{
	const char *first = memchr(line, ':', length), *second;
	if (!first || !(second = memchr(first + 1, ':', length - (size_t)(first + 1 - line))))
		return NULL;
	size_t size = (size_t)(second - first - 1);
	if (controllers &&
	    (size != strlen(controllers) || memcmp(first + 1, controllers, size) != 0))
		return NULL;
	return second + 1;
}

char *appids_cgroup(const char *text)
{
	static const char *const wanted[] = { "", "name=systemd", NULL };
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		for (const char *line = text; *line;) {
			size_t length = strcspn(line, "\n");
			const char *path = path_if(line, length, wanted[i]);
			if (path)
				return xstrndup(path, length - (size_t)(path - line));
			line += length + (line[length] == '\n');
		}
	}
	return NULL;
}

static const struct profile_object *executable_of(struct sideband *sb, const struct image_of *image)
{
	if (image->kernel || image->executable == PROFILE_NONE)
		return NULL;
	return &sideband_object(sb, image->executable)->object;
}

void appids_fill(struct appids *a, struct profile *into, struct image_of *image,
		 struct sideband *sb, struct profile_instance *i)
{
	if (!image) {
		i->app = profile_add_app(into, "[unknown]", PROFILE_NONE);
		i->number = i->pid;
		return;
	}
	const struct profile_object *executable = executable_of(sb, image);
	char room[APPIDS_THREAD_NAME];
	const char *name = i->comm;
	whole_comm(image, i->comm);
	if (executable)
		name = object_name(executable);
	else if (image->kernel)
		appids_thread_name(i->comm, room), name = room;
	if (!image->numbered) {
		image->instance = next_number(a, name, executable ? executable->path : "");
		image->numbered = true;
		/* the process may be gone later, so its cgroup is read at the first sample */
		FREED char *text = image->end_ns ? NULL : file_read_proc(image->pid, "cgroup");
		if (text)
			image->cgroup = appids_cgroup(text);
		if (text && image->cgroup)
			image->container = cgroup_container(image->cgroup);
	}
	i->app = profile_add_app(into, name,
				 executable ? profile_add_object(into, executable) : PROFILE_NONE);
	i->number = image->instance;
	i->pid = image->pid;
	if (!i->start_ns) {
		i->start_ns = image->start_ns;
		i->exec_id = image->number;
	}
	i->cgroup = image->cgroup;
	i->container = image->container;
}
