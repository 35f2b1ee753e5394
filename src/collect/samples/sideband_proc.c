/* Processes that run already, from /proc. */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "collect/backend/procfs.h"
#include "collect/samples/sideband_private.h"
#include "record/task.h"

#define KERNEL_THREAD 0x00200000u /* PF_KTHREAD in /proc/PID/stat */

/* Lines of /proc/PID/maps have a newline in a path as \012. */
static void unescape(char *path)
{
	char *to = path;
	for (const char *from = path; *from; to++) {
		bool newline = strncmp(from, "\\012", 4) == 0;
		*to = newline ? '\n' : *from;
		from += newline ? 4 : 1;
	}
	*to = 0;
}

/* A process with a root of its own names its files from there. */
static const char *beneath(const char *root, const char *path)
{
	size_t length = strlen(root);
	if (length > 1 && strncmp(path, root, length) == 0 && path[length] == '/')
		return path + length;
	return path;
}

static bool link_of(uint32_t pid, const char *name, char *into, size_t size)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%u/%s", pid, name);
	ssize_t length = readlink(path, into, size - 1);
	into[length > 0 ? length : 0] = 0;
	return length > 0;
}

/* One line; false: not one of code. */
static bool parse_line(char *line, const char *root, struct origin *from, uint64_t *offset)
{
	uintmax_t begin, end, at, inode;
	unsigned major, minor;
	char permissions[5];
	int path = 0;
	if (sscanf(line, "%jx-%jx %4s %jx %x:%x %ju %n", &begin, &end, permissions, &at, &major,
		   &minor, &inode, &path) < 7 ||
	    permissions[2] != 'x' || end <= begin || !path)
		return false;
	unescape(line + path);
	*offset = at;
	from->path = beneath(root, line + path);
	from->begin = begin;
	from->end = end;
	from->id = (struct file_id){ .device = makedev(major, minor), .inode = inode };
	return true;
}

/* The executable's object by /proc/PID/exe, of what is mapped; PROFILE_NONE: not told. */
static uint32_t executable_of(struct sideband *sb, uint32_t pid, const struct image_of *image,
			      const char *root)
{
	char exe[4352], name[64];
	struct stat s;
	if (!link_of(pid, "exe", exe, sizeof exe))
		return PROFILE_NONE;
	snprintf(name, sizeof name, "/proc/%u/exe", pid);
	bool known = stat(name, &s) == 0;
	char *deleted = strstr(exe, " (deleted)");
	if (deleted && !deleted[10])
		*deleted = 0;
	for (size_t i = 0; i < image->mappings.count; i++) {
		uint32_t object = image->mappings.items[i].object;
		if (object_is_file(sb, object) &&
		    (strcmp(sideband_object(sb, object)->object.path, beneath(root, exe)) == 0 ||
		     (known && sb->objects.items[object]->id.inode == s.st_ino)))
			return object;
	}
	return PROFILE_NONE;
}

static void read_maps(struct sideband *sb, uint32_t pid, struct image_of *into)
{
	char root[4096], *save = NULL;
	FREED char *text = file_read_proc(pid, "maps");
	if (!text)
		return;
	link_of(pid, "root", root, sizeof root);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct origin from = { .pid = pid };
		uint64_t offset;
		if (!parse_line(line, root, &from, &offset))
			continue;
		struct mapping m = { .begin = from.begin, .end = from.end };
		m.object = object_intern(sb, &from);
		m.offset = object_offset(sb, m.object, m.begin, offset);
		image_map(into, &m, 0);
	}
	into->executable = executable_of(sb, pid, into, root);
	for (size_t i = 0; i < into->mappings.count && into->executable == PROFILE_NONE; i++)
		image_judge(sb, into, into->mappings.items[i].object);
}

static bool number_of(const char *name, uint32_t *number)
{
	long value;
	if (!isdigit((unsigned char)*name) || !integer_parse(name, 1, INT32_MAX, &value))
		return false;
	*number = (uint32_t)value;
	return true;
}

/* A leader that ended before its threads is not one of them any more. */
static void read_threads(struct process *p, bool leader_gone)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%u/task", p->pid);
	DIR *dir = opendir(path);
	p->tids.count = 0;
	uint32_t tid;
	for (struct dirent *e; dir && (e = readdir(dir));)
		if (number_of(e->d_name, &tid) && !(tid == p->pid && leader_gone))
			process_set_tid(p, tid);
	if (dir)
		closedir(dir);
	if (!p->tids.count)
		process_set_tid(p, p->pid);
}

static bool same_mappings(const struct image_of *a, const struct image_of *b)
{
	if (a->mappings.count != b->mappings.count)
		return false;
	for (size_t i = 0; i < a->mappings.count; i++) {
		const struct mapping *x = &a->mappings.items[i], *y = &b->mappings.items[i];
		if (x->begin != y->begin || x->end != y->end || x->offset != y->offset ||
		    x->object != y->object)
			return false;
	}
	return true;
}

/* Whether what is there now is another program than the image, of which nothing was told. */
static bool is_another(struct sideband *sb, const struct image_of *image,
		       const struct image_of *now)
{
	return image->end_ns ||
	       (image->executable != PROFILE_NONE && now->executable != PROFILE_NONE &&
		image->executable != now->executable && !object_is_loader(sb, now->executable));
}

bool proc_read(struct sideband *sb, uint32_t pid)
{
	struct task_record task;
	struct stat_extra extra;
	uint64_t at_ns = clock_monotonic_ns();
	FREED char *text = file_read_proc(pid, "stat");
	memset(&task, 0, sizeof task);
	memset(&extra, 0, sizeof extra);
	bool good = text && stat_parse(text, strlen(text), &task, &extra);
	if (!good)
		return false;
	if (procfs_is_gone(&extra) && extra.threads <= 1)
		return false;
	struct image_of now = { .pid = pid,
				.start_ns = task.start_ns,
				.executable = PROFILE_NONE,
				.kernel = extra.flags & KERNEL_THREAD };
	memcpy(now.comm, task.comm, sizeof now.comm);
	if (!now.kernel)
		read_maps(sb, pid, &now);
	struct process *p = process_add(sb, pid);
	p->read_ns = at_ns;
	read_threads(p, procfs_is_gone(&extra));
	/* Takes over what was read; the mappings are the image's then. */
	struct image_of *image = process_newest(p);
	if (!image || is_another(sb, image, &now)) {
		uint32_t number = image && !image->end_ns ? image->number + 1 : 0;
		image = process_begin(sb, p, image ? p->read_ns : 0, NULL);
		image->number = number;
	}
	if (now.mappings.count && !same_mappings(image, &now)) {
		array_release(&image->mappings);
		array_release(&image->past);
		memcpy(&image->mappings, &now.mappings, sizeof image->mappings);
		memset(&now.mappings, 0, sizeof now.mappings);
		image->version++;
	}
	if (image->executable == PROFILE_NONE)
		image->executable = now.executable;
	image->kernel = now.kernel;
	memcpy(image->comm, now.comm, sizeof image->comm);
	if (!image->start_ns)
		image->start_ns = now.start_ns;
	array_release(&now.mappings);
	array_release(&now.past);
	return true;
}

/* Those that were not found any more. */
static void end_unread(struct sideband *sb, void *context, struct process *p)
{
	uint64_t begun_ns = *(const uint64_t *)context;
	struct image_of *image = process_newest(p);
	(void)sb;
	if (p->read_ns < begun_ns && !image->end_ns && image->begin_ns < begun_ns) {
		image->end_ns = begun_ns;
		p->tids.count = 0;
	}
}

void proc_read_all(struct sideband *sb)
{
	uint64_t begun_ns = clock_monotonic_ns();
	DIR *dir = opendir("/proc");
	uint32_t pid;
	if (!dir)
		return;
	for (struct dirent *e; (e = readdir(dir));)
		if (number_of(e->d_name, &pid))
			proc_read(sb, pid);
	closedir(dir);
	process_each(sb, end_unread, &begun_ns);
}
