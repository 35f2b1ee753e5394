/* Shared by the parts of the sideband: sideband.c (processes and images), sideband_objects.c and
 * sideband_proc.c (/proc). */
#ifndef TARE_COLLECT_SAMPLES_SIDEBAND_PRIVATE_H
#define TARE_COLLECT_SAMPLES_SIDEBAND_PRIVATE_H

#include "collect/samples/perf_rings.h"
#include "collect/samples/sideband.h"

struct process {
	uint32_t pid;
	struct process *next; /* in its bucket */
	/* When /proc was read. Records of earlier events are already included in that. */
	uint64_t read_ns;
	ARRAY(struct image_of *) images; /* never empty; in order of begin */
	ARRAY(uint32_t) tids;		 /* living threads */
};

/* Identifies the file of an object. */
struct file_id {
	uint64_t device, inode;
	uint64_t generation; /* 0: unknown, because /proc does not show it */
};

struct object {
	struct sideband_object its;
	struct file_id id; /* as last reported, even if it has a build-id */
	uint32_t next;	   /* in its bucket */
	uint32_t tried_pid;
	uint64_t used; /* when its file was last used, counted by sb->uses */
	uint64_t used_ns;
};

struct sideband {
	struct process **buckets;
	size_t bucket_count, process_count;
	ARRAY(struct object *) objects;
	ARRAY(uint32_t) unused; /* of objects: numbers that can be reused */
	void (*gone)(struct sideband_object *object);
	uint32_t *object_buckets; /* positions in objects */
	size_t object_bucket_count;
	size_t open_files, most_files;
	uint64_t uses;
	uint64_t lost;
	struct perf_rings *rings; /* NULL: fed by sideband_take() */
	size_t ring_bytes;
	int hotplug; /* cpus_watch(); -1: the CPUs were given */
	uint32_t changes;
	bool unwatched; /* not all could be opened: the next reading tries again */
};

/* sideband.c */
struct process *process_find(const struct sideband *sb, uint32_t pid);
struct process *process_add(struct sideband *sb, uint32_t pid);
struct image_of *process_newest(const struct process *p);
/* Begins a new image of the process, a copy of `like` (NULL: empty), and ends the one before. */
struct image_of *process_begin(struct sideband *sb, struct process *p, uint64_t at_ns,
			       const struct image_of *like);
void process_set_tid(struct process *p, uint32_t tid); /* it may be known already */
typedef void (*process_fn)(struct sideband *sb, void *context, struct process *p);
void process_each(struct sideband *sb, process_fn each, void *context);
/* Like mmap(), replaces what was there. at_ns 0: the old mapping was wrong before, too. */
void image_map(struct image_of *image, const struct mapping *m, uint64_t at_ns);
/* Sets the executable if it is unknown: the first file, unless that is the dynamic loader. */
void image_judge(struct sideband *sb, struct image_of *image, uint32_t object);

/* sideband_objects.c */
/* The source of a mapping of code, as the kernel reports it. */
struct origin {
	const char *path;
	uint32_t pid;
	uint64_t begin, end; /* of the mapping */
	struct file_id id;
};
uint32_t object_intern(struct sideband *sb, const struct origin *from);
bool object_is_file(const struct sideband *sb, uint32_t object);
bool object_is_loader(const struct sideband *sb, uint32_t object);
/* For the child of a fork: memory belongs to each process alone. */
uint32_t object_for_child(struct sideband *sb, uint32_t object, uint32_t pid);
uint64_t object_offset(const struct sideband *sb, uint32_t object, uint64_t begin, uint64_t offset);
void objects_release(struct sideband *sb);
void objects_forget(struct sideband *sb);

/* sideband_proc.c */
/* False if the process is gone. */
bool proc_read(struct sideband *sb, uint32_t pid);
/* Reads every process. Known processes that are missing have ended. */
void proc_read_all(struct sideband *sb);

#endif
