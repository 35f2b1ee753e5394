/* What the parts of the sideband share: sideband.c (processes and images), sideband_objects.c
 * and sideband_proc.c (/proc). */
#ifndef TARE_COLLECT_SAMPLES_SIDEBAND_PRIVATE_H
#define TARE_COLLECT_SAMPLES_SIDEBAND_PRIVATE_H

#include "collect/samples/perf_rings.h"
#include "collect/samples/sideband.h"

struct process {
	uint32_t pid;
	struct process *next; /* in its bucket */
	/* When /proc was read: what is told to have happened before is in that already. */
	uint64_t read_ns;
	ARRAY(struct image_of *) images; /* never empty; in order of begin */
	ARRAY(uint32_t) tids;		 /* threads that live */
};

/* Some names of the file behind an object. */
struct file_id {
	uint64_t device, inode;
	uint64_t generation; /* 0: not known, /proc does not tell */
};

struct object {
	struct sideband_object its;
	struct file_id id; /* as last told, also of one with a build-id */
	uint32_t next;	   /* in its bucket */
	uint32_t tried_pid;
	uint64_t used; /* when its file was asked for last, by sb->uses */
	uint64_t used_ns;
};

struct sideband {
	struct process **buckets;
	size_t bucket_count, process_count;
	ARRAY(struct object *) objects;
	ARRAY(uint32_t) unused; /* of objects: numbers to be used again */
	void (*gone)(struct sideband_object *object);
	uint32_t *object_buckets; /* positions in objects */
	size_t object_bucket_count;
	size_t open_files, most_files;
	uint64_t uses;
	uint64_t lost;
	struct perf_rings *rings; /* NULL: fed by sideband_take() */
};

/* sideband.c */
struct process *process_find(const struct sideband *sb, uint32_t pid);
struct process *process_add(struct sideband *sb, uint32_t pid);
struct image_of *process_newest(const struct process *p);
/* The process's new image; the one before ends. `like`: what it begins with; NULL: nothing. */
struct image_of *process_begin(struct sideband *sb, struct process *p, uint64_t at_ns,
			       const struct image_of *like);
void process_set_tid(struct process *p, uint32_t tid); /* one that may be known already */
typedef void (*process_fn)(struct sideband *sb, void *context, struct process *p);
void process_each(struct sideband *sb, process_fn each, void *context);
/* As mmap() does: what was there goes. at_ns 0: it was not so before either. */
void image_map(struct image_of *image, const struct mapping *m, uint64_t at_ns);
/* The executable, where it is not known: the first file, unless that is the dynamic loader. */
void image_judge(struct sideband *sb, struct image_of *image, uint32_t object);

/* sideband_objects.c */
/* What code was mapped from, as the kernel tells it. */
struct origin {
	const char *path;
	uint32_t pid;
	uint64_t begin, end; /* of the mapping */
	struct file_id id;
};
uint32_t object_intern(struct sideband *sb, const struct origin *from);
bool object_is_file(const struct sideband *sb, uint32_t object);
bool object_is_loader(const struct sideband *sb, uint32_t object);
/* For the child of a fork: memory is each process's own. */
uint32_t object_for_child(struct sideband *sb, uint32_t object, uint32_t pid);
uint64_t object_offset(const struct sideband *sb, uint32_t object, uint64_t begin, uint64_t offset);
void objects_release(struct sideband *sb);
void objects_forget(struct sideband *sb);

/* sideband_proc.c */
/* False: it is gone. */
bool proc_read(struct sideband *sb, uint32_t pid);
/* Every process; those that are known and not there have ended. */
void proc_read_all(struct sideband *sb);

#endif
