/* Processes and their images, from records in order of time.
 *
 * When has a process ended? perf tells the end of each thread. Its threads are kept by tid, and the
 * process ends with the last of them, whichever that is, or when its pid is forked anew. An exec
 * leaves one thread, which has the process's pid from then on, whichever called it: the others'
 * ends are told before, the old leader's too. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/machine/cpus.h"
#include "collect/samples/sideband_private.h"

/* ---- its own rings: a dummy event on each CPU, which counts nothing and tells everything else
 * ----
 */

#define RING_BYTES (512u << 10)

static int watch_cpu(struct sideband *sb, uint32_t cpu, size_t ring_bytes, struct error *err)
{
	/* attr.build_id would save reading files, but the kernel then marks the records of every
	 * other listener as holding a build-id, which they do not: perf aborts on those */
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_RINGS_ID,
		.sample_id_all = 1,
		.disabled = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(ring_bytes / 2),
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	int event =
		(int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (event < 0 && errno == ENODEV) /* went offline */
		return 0;
	if (event < 0) {
		int why = errno;
		error_set(err, EXIT_ENVIRONMENT, "cannot watch the processes of CPU %u: %s", cpu,
			  strerror(why));
		return why == EACCES || why == EPERM ? error_hint(err, "needs root or CAP_PERFMON")
						     : -1;
	}
	return perf_rings_add(sb->rings, event, err);
}

/* cpus NULL: all that are online. */
static int watch(struct sideband *sb, const uint32_t *cpus, size_t count, struct error *err)
{
	FREED cpu_list online = { 0 };
	size_t known = perf_rings_count(sb->rings);
	if (!cpus && cpus_online(&online, err))
		return -1;
	if (!cpus) {
		cpus = online.items;
		count = online.count;
	}
	for (size_t i = 0; i < count; i++)
		if (watch_cpu(sb, cpus[i], sb->ring_bytes, err))
			return -1;
	for (size_t i = known; i < perf_rings_count(sb->rings); i++)
		if (ioctl(perf_rings_event(sb->rings, i), PERF_EVENT_IOC_ENABLE, 0) != 0)
			return error_errno(err, EXIT_ENVIRONMENT,
					   "cannot begin to watch processes");
	return 0;
}

int sideband_open(struct sideband **out, const struct sideband_options *options, struct error *err)
{
	struct sideband *sb = sideband_new();
	sb->ring_bytes = options->ring_bytes ? options->ring_bytes : RING_BYTES;
	if (!options->cpus)
		sb->hotplug = cpus_watch(); /* before the CPUs are listed */
	if (perf_rings_new(&sb->rings, sb->ring_bytes, err) ||
	    watch(sb, options->cpus, options->cpu_count, err)) {
		sideband_close(sb);
		return -1;
	}
	if (sb->hotplug >= 0)
		perf_rings_wake(sb->rings, sb->hotplug);
	proc_read_all(sb);
	*out = sb;
	return 0;
}

static void take(void *context, const struct perf_event_header *record, uint64_t time_ns)
{
	sideband_take(context, record, time_ns);
}

bool sideband_read(struct sideband *sb)
{
	if (!sb->rings)
		return false;
	uint64_t lost = sb->lost;
	size_t known = perf_rings_count(sb->rings);
	/* The kernel ends the events of a CPU that goes, and it has none when it comes back. */
	bool changed = cpus_changed(sb->hotplug);
	if (changed || sb->unwatched)
		sb->unwatched = watch(sb, NULL, 0, NULL) != 0;
	size_t count = perf_rings_read(sb->rings, take, sb);
	if (perf_rings_count(sb->rings) > known && !sb->unwatched)
		perf_rings_drop(sb->rings, known);
	sb->changes += changed;
	if (changed || sb->lost != lost)
		proc_read_all(sb);
	return count > 0;
}

uint32_t sideband_changes(const struct sideband *sb)
{
	return sb->changes;
}

int sideband_fd(const struct sideband *sb)
{
	return sb->rings ? perf_rings_fd(sb->rings) : -1;
}

#define PAST_MOST 64 /* mappings that others took the place of, of an image */

#define FIRST_BUCKETS 256
#define KTHREADD 2 /* the parent of kernel threads */

/* ---- processes ---- */

static size_t bucket_of(const struct sideband *sb, uint32_t pid)
{
	return (pid * UINT32_C(2654435761) >> 7) & (sb->bucket_count - 1);
}

struct process *process_find(const struct sideband *sb, uint32_t pid)
{
	struct process *p = sb->buckets[bucket_of(sb, pid)];
	while (p && p->pid != pid)
		p = p->next;
	return p;
}

static void process_link(struct sideband *sb, struct process *p)
{
	struct process **bucket = &sb->buckets[bucket_of(sb, p->pid)];
	p->next = *bucket;
	*bucket = p;
}

static void more_buckets(struct sideband *sb)
{
	FREED struct process **old = sb->buckets;
	size_t count = sb->bucket_count;
	sb->bucket_count *= 2;
	sb->buckets = xcalloc(sb->bucket_count, sizeof(void *));
	for (size_t i = 0; i < count; i++) {
		for (struct process *p = old[i], *next; p; p = next) {
			next = p->next;
			process_link(sb, p);
		}
	}
}

struct process *process_add(struct sideband *sb, uint32_t pid)
{
	struct process *p = process_find(sb, pid);
	if (p)
		return p;
	if (sb->process_count >= sb->bucket_count)
		more_buckets(sb);
	p = xcalloc(1, sizeof *p);
	p->pid = pid;
	process_link(sb, p);
	sb->process_count++;
	return p;
}

struct image_of *process_newest(const struct process *p)
{
	return p->images.count ? p->images.items[p->images.count - 1] : NULL;
}

static void image_free(struct image_of *image)
{
	array_release(&image->mappings);
	array_release(&image->past);
	xfree(image->cgroup);
	xfree(image->container);
	xfree(image);
}

static void process_free(struct process *p)
{
	for (size_t i = 0; i < p->images.count; i++)
		image_free(p->images.items[i]);
	array_release(&p->images);
	array_release(&p->tids);
	xfree(p);
}

void process_set_tid(struct process *p, uint32_t tid)
{
	for (size_t i = 0; i < p->tids.count; i++)
		if (p->tids.items[i] == tid)
			return;
	array_push(&p->tids, tid);
}

static void drop_tid(struct process *p, uint32_t tid)
{
	for (size_t i = p->tids.count; i-- > 0;) {
		if (p->tids.items[i] != tid)
			continue;
		p->tids.items[i] = p->tids.items[--p->tids.count];
		return;
	}
}

void process_each(struct sideband *sb, process_fn each, void *context)
{
	for (size_t i = 0; i < sb->bucket_count; i++)
		for (struct process *p = sb->buckets[i]; p; p = p->next)
			each(sb, context, p);
}

/* ---- images ---- */

struct image_of *process_begin(struct sideband *sb, struct process *p, uint64_t at_ns,
			       const struct image_of *like)
{
	struct image_of *last = process_newest(p), *image = xcalloc(1, sizeof *image);
	if (last && !last->end_ns)
		last->end_ns = at_ns;
	image->pid = p->pid;
	image->begin_ns = at_ns;
	image->executable = PROFILE_NONE;
	image->version = 1;
	if (like) {
		memcpy(image->comm, like->comm, sizeof image->comm);
		image->executable = like->executable;
		image->kernel = like->kernel;
		array_reserve(&image->mappings, like->mappings.count);
		for (size_t i = 0; i < like->mappings.count; i++) {
			struct mapping m = like->mappings.items[i];
			m.object = object_for_child(sb, m.object, image->pid);
			array_push(&image->mappings, m);
		}
	}
	array_push(&p->images, image); /* NOLINT(bugprone-sizeof-expression): of pointers */
	return image;
}

/* The first mapping that ends behind an address. */
static size_t first_behind(const struct image_of *image, uint64_t address)
{
	size_t low = 0, high = image->mappings.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (image->mappings.items[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

const struct mapping *image_mapping(const struct image_of *image, uint64_t address)
{
	size_t i = first_behind(image, address);
	if (i == image->mappings.count || image->mappings.items[i].begin > address)
		return NULL;
	return &image->mappings.items[i];
}

static bool same_mapping(const struct mapping *a, const struct mapping *b)
{
	return a->begin == b->begin && a->end == b->end && a->offset == b->offset &&
	       a->object == b->object;
}

static bool continues(const struct mapping *a, const struct mapping *b)
{
	return a->end == b->begin && a->object == b->object &&
	       a->offset + (a->end - a->begin) == b->offset;
}

const struct mapping *image_mapping_at(const struct image_of *image, uint64_t address,
				       uint64_t at_ns)
{
	for (size_t i = 0; i < image->past.count; i++) {
		const struct past_mapping *p = &image->past.items[i];
		if (p->until_ns > at_ns && address >= p->mapping.begin && address < p->mapping.end)
			return &p->mapping;
	}
	return image_mapping(image, address);
}

static void keep_past(struct image_of *image, const struct mapping *old, const struct mapping *new,
		      uint64_t at_ns)
{
	if (!at_ns || old->object == new->object)
		return; /* grown, or mapped again piece by piece */
	if (image->past.count == PAST_MOST) {
		memmove(image->past.items, image->past.items + 1,
			(PAST_MOST - 1) * sizeof *image->past.items);
		image->past.count--;
	}
	array_push(&image->past, (struct past_mapping){ .mapping = *old, .until_ns = at_ns });
}

void image_map(struct image_of *image, const struct mapping *m, uint64_t at_ns)
{
	size_t first = first_behind(image, m->begin), behind = first, count = image->mappings.count;
	struct mapping *all = image->mappings.items, pieces[3], *last = pieces;
	pieces[0] = *m;
	while (behind < count && all[behind].begin < m->end)
		behind++;
	if (behind == first + 1 && same_mapping(&all[first], m))
		return;
	for (size_t i = first; i < behind; i++)
		keep_past(image, &all[i], m, at_ns);
	if (behind > first && all[first].begin < m->begin) {
		pieces[0] = all[first];
		pieces[0].end = m->begin;
		*++last = *m;
	}
	/* A JIT makes its memory executable page by page: neighbours become one. */
	if (last == pieces && first > 0 && continues(&all[first - 1], m))
		pieces[0].begin = all[--first].begin, pieces[0].offset = all[first].offset;
	if (behind > first && all[behind - 1].end > m->end) {
		struct mapping rest = all[behind - 1];
		rest.offset += m->end - rest.begin;
		rest.begin = m->end;
		*++last = rest;
	}
	size_t made = (size_t)(last - pieces) + 1, gone = behind - first;
	if (made > gone)
		array_reserve(&image->mappings, made - gone);
	all = image->mappings.items;
	memmove(all + first + made, all + behind, (count - behind) * sizeof *all);
	memcpy(all + first, pieces, made * sizeof *all);
	image->mappings.count = count - gone + made;
	image->version++;
}

void image_judge(struct sideband *sb, struct image_of *image, uint32_t object)
{
	if (!object_is_file(sb, object))
		return;
	if (image->executable == PROFILE_NONE ||
	    (object_is_loader(sb, image->executable) && !object_is_loader(sb, object)))
		image->executable = object;
}

struct image_of *sideband_find(struct sideband *sb, uint32_t pid, uint64_t at_ns)
{
	struct process *p = process_find(sb, pid);
	for (size_t i = p ? p->images.count : 0; i-- > 0;)
		if (p->images.items[i]->begin_ns <= at_ns)
			return p->images.items[i];
	return NULL;
}

void sideband_each(struct sideband *sb, image_fn each, void *context)
{
	for (size_t i = 0; i < sb->bucket_count; i++)
		for (struct process *p = sb->buckets[i]; p; p = p->next)
			if (!process_newest(p)->end_ns)
				each(context, process_newest(p));
}

static void forget_images(struct process *p, uint64_t before_ns)
{
	size_t kept = 0;
	for (size_t i = 0; i < p->images.count; i++) {
		struct image_of *image = p->images.items[i];
		if (image->end_ns && image->end_ns < before_ns)
			image_free(image);
		else
			p->images.items[kept++] = image;
	}
	p->images.count = kept;
}

void sideband_forget(struct sideband *sb, uint64_t before_ns)
{
	for (size_t i = 0; i < sb->bucket_count; i++) {
		for (struct process **at = &sb->buckets[i]; *at;) {
			struct process *p = *at;
			forget_images(p, before_ns);
			if (p->images.count) {
				at = &p->next;
				continue;
			}
			*at = p->next;
			process_free(p);
			sb->process_count--;
		}
	}
	objects_forget(sb);
}

/* ---- records ---- */

struct task_told {
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

struct comm_told {
	struct perf_event_header header;
	uint32_t pid, tid;
};

struct map_told {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, size, offset;
};

struct map2_told {
	struct map_told map;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
};

struct lost_told {
	struct perf_event_header header;
	uint64_t id, lost;
};

static bool is_process(uint32_t pid)
{
	return pid != 0 && pid <= INT32_MAX;
}

/* One that was not told before, because something was lost or this began in its midst. */
static struct process *process_told(struct sideband *sb, uint32_t pid, uint32_t tid, uint64_t at_ns)
{
	struct process *p = process_add(sb, pid);
	if (!p->images.count)
		process_begin(sb, p, at_ns, NULL);
	if (!p->tids.count)
		process_set_tid(p, tid);
	return p;
}

static void take_fork(struct sideband *sb, const struct task_told *told, uint64_t time_ns)
{
	if (!is_process(told->pid))
		return;
	if (told->tid != told->pid) {
		struct process *p = process_find(sb, told->pid);
		if (p)
			process_set_tid(p, told->tid);
		return;
	}
	struct process *p = process_add(sb, told->pid), *parent = process_find(sb, told->ppid);
	struct image_of *last = process_newest(p);
	uint64_t start_ns = time_ns + (clock_boottime_ns() - clock_monotonic_ns());
	if (last && time_ns <= p->read_ns) {
		last->begin_ns = time_ns;
		return;
	}
	if (last && time_ns < last->begin_ns) {
		last->start_ns = start_ns;
		return;
	}
	struct image_of *like = NULL;
	for (size_t i = parent ? parent->images.count : 0; i-- > 0 && !like;)
		if (parent->images.items[i]->begin_ns <= time_ns)
			like = parent->images.items[i];
	struct image_of *image = process_begin(sb, p, time_ns, like);
	image->start_ns = start_ns;
	image->kernel = image->kernel || told->ppid == KTHREADD;
	p->tids.count = 0;
	process_set_tid(p, told->tid);
}

static void take_exit(struct sideband *sb, const struct task_told *told, uint64_t time_ns)
{
	struct process *p = process_find(sb, told->pid);
	/* a process that had this pid before the one that was read from /proc */
	if (!p || (told->tid == told->pid && time_ns <= p->read_ns))
		return;
	drop_tid(p, told->tid);
	struct image_of *last = process_newest(p);
	if (!p->tids.count && !last->end_ns && last->begin_ns <= time_ns)
		last->end_ns = time_ns;
}

static void take_comm(struct sideband *sb, const struct comm_told *told, const char *comm,
		      uint64_t time_ns)
{
	bool exec = told->header.misc & PERF_RECORD_MISC_COMM_EXEC;
	if (!is_process(told->pid) || (!exec && told->tid != told->pid))
		return;
	bool known = process_find(sb, told->pid) != NULL;
	struct process *p = process_told(sb, told->pid, told->tid, time_ns);
	struct image_of *image = process_newest(p);
	if (time_ns <= p->read_ns) {
		if (exec)
			image->begin_ns = time_ns;
		return;
	}
	if (exec && known) {
		struct image_of *before = image;
		image = process_begin(sb, p, time_ns, NULL);
		image->start_ns = before->start_ns;
		image->number = before->number + 1;
	}
	if (exec) {
		p->tids.count = 0;
		process_set_tid(p, told->pid);
	}
	snprintf(image->comm, sizeof image->comm, "%s", comm);
}

static void take_map(struct sideband *sb, const struct map_told *told, struct origin *from,
		     uint64_t time_ns)
{
	uint64_t end;
	if (!is_process(told->pid) || told->header.misc & PERF_RECORD_MISC_MMAP_DATA ||
	    !told->size || __builtin_add_overflow(told->address, told->size, &end))
		return;
	struct process *p = process_told(sb, told->pid, told->tid, time_ns);
	if (time_ns <= p->read_ns)
		return;
	struct image_of *image = process_newest(p);
	from->pid = told->pid;
	from->begin = told->address;
	from->end = end;
	struct mapping m = { .begin = told->address, .end = end };
	m.object = object_intern(sb, from);
	m.offset = object_offset(sb, m.object, m.begin, told->offset);
	image_map(image, &m, time_ns);
	image_judge(sb, image, m.object);
}

/* The fixed part of a record; false: it is shorter. */
static bool head(const struct perf_event_header *record, void *into, size_t size)
{
	if (record->size < size)
		return false;
	memcpy(into, record, size);
	return true;
}

/* The text behind the fixed part; NULL: it does not end. */
static const char *text(const struct perf_event_header *record, size_t after)
{
	const char *at = (const char *)record + after;
	return memchr(at, 0, record->size - after) ? at : NULL;
}

void sideband_take(struct sideband *sb, const struct perf_event_header *record, uint64_t time_ns)
{
	union {
		struct task_told task;
		struct comm_told comm;
		struct map_told map;
		struct map2_told map2;
		struct lost_told lost;
	} told;
	const char *name;
	switch (record->type) {
	case PERF_RECORD_FORK:
		if (head(record, &told.task, sizeof told.task))
			take_fork(sb, &told.task, time_ns);
		break;
	case PERF_RECORD_EXIT:
		if (head(record, &told.task, sizeof told.task))
			take_exit(sb, &told.task, time_ns);
		break;
	case PERF_RECORD_COMM:
		if (head(record, &told.comm, sizeof told.comm) &&
		    (name = text(record, sizeof told.comm)))
			take_comm(sb, &told.comm, name, time_ns);
		break;
	case PERF_RECORD_MMAP:
		if (head(record, &told.map, sizeof told.map) &&
		    (name = text(record, sizeof told.map)))
			take_map(sb, &told.map, &(struct origin){ .path = name }, time_ns);
		break;
	case PERF_RECORD_MMAP2:
		if (head(record, &told.map2, sizeof told.map2) &&
		    (name = text(record, sizeof told.map2))) {
			/* Whatever PERF_RECORD_MISC_MMAP_BUILD_ID says: it may be another
			 * listener's (see watch_cpu()). */
			struct origin from = { .path = name,
					       .id = { .device = makedev(told.map2.major,
									 told.map2.minor),
						       .inode = told.map2.inode,
						       .generation = told.map2.generation } };
			if (told.map2.protection & PROT_EXEC)
				take_map(sb, &told.map2.map, &from, time_ns);
		}
		break;
	case PERF_RECORD_LOST:
		if (head(record, &told.lost, sizeof told.lost))
			sb->lost += told.lost.lost;
		break;
	default:
		break;
	}
}

uint64_t sideband_lost(struct sideband *sb)
{
	uint64_t lost = sb->lost;
	sb->lost = 0;
	return lost;
}

struct image_of *sideband_refresh(struct sideband *sb, uint32_t pid)
{
	if (sb->rings)
		sideband_read(sb);
	if (!is_process(pid) || !proc_read(sb, pid))
		return NULL;
	return process_newest(process_find(sb, pid));
}

struct sideband *sideband_new(void)
{
	struct sideband *sb = xcalloc(1, sizeof *sb);
	struct rlimit files = { .rlim_cur = 1024 };
	getrlimit(RLIMIT_NOFILE, &files);
	sb->most_files = files.rlim_cur / 4 > 8 ? (size_t)files.rlim_cur / 4 : 8;
	sb->bucket_count = FIRST_BUCKETS;
	sb->buckets = xcalloc(sb->bucket_count, sizeof(void *));
	sb->hotplug = -1;
	return sb;
}

void sideband_close(struct sideband *sb)
{
	if (!sb)
		return;
	perf_rings_free(sb->rings);
	if (sb->hotplug >= 0)
		close(sb->hotplug);
	for (size_t i = 0; i < sb->bucket_count; i++) {
		for (struct process *p = sb->buckets[i], *next; p; p = next) {
			next = p->next;
			process_free(p);
		}
	}
	xfree(sb->buckets);
	objects_release(sb);
	xfree(sb);
}
