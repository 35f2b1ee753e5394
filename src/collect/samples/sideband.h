/* What the kernel reports about processes beside the samples, in order: forks, execs, exits and
 * every mapping of code, even of processes that live for a millisecond. Private to collect/.
 *
 * An image is one program in one process: from its fork or exec to its next exec or its end. */
#ifndef TARE_COLLECT_SAMPLES_SIDEBAND_H
#define TARE_COLLECT_SAMPLES_SIDEBAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/array.h"
#include "base/error.h"
#include "record/profile.h"

struct sideband;

/* A file (or "[vdso]", ...) that code was mapped from. It is kept while a process has it mapped,
 * and for some minutes after its file was last used. */
struct sideband_object {
	struct profile_object object; /* path NULL: removed */
	int fd;			      /* -1: not open (not tried yet, or impossible) */
	bool tried;
	void *user;	/* used by unwound.c */
	uint64_t place; /* for the collector, initially 0: e.g. where its rows are in the kernel */
};

struct mapping {
	uint64_t begin, end; /* addresses */
	/* Of begin, in the file. For memory without a file it is begin itself, so that the offset
	 * of an address is always offset + (address - begin). */
	uint64_t offset;
	uint32_t object; /* sideband_object(sb, object) */
};

/* A mapping that was replaced. */
struct past_mapping {
	struct mapping mapping;
	uint64_t until_ns;
};

struct image_of {
	uint32_t pid;
	/* CLOCK_MONOTONIC; begin 0: before the watch began; end 0: alive */
	uint64_t begin_ns, end_ns;
	uint64_t start_ns; /* of the process, CLOCK_BOOTTIME; 0: unknown */
	uint32_t number;   /* how many programs the process had before, as far as reported */
	char comm[16];
	uint32_t executable;		 /* object; PROFILE_NONE: unknown or a kernel thread */
	bool kernel;			 /* a kernel thread */
	uint32_t version;		 /* changes whenever the mappings do */
	ARRAY(struct mapping) mappings;	 /* executable ones, sorted, without overlap */
	ARRAY(struct past_mapping) past; /* the last few, in order of time */
	uint64_t user;			 /* for the collector; initially 0, and never copied */
	/* likewise for appids.c */
	bool numbered;
	uint32_t instance;
	char *cgroup, *container;
};

struct sideband_options {
	const uint32_t *cpus; /* NULL: all online CPUs */
	size_t cpu_count;
	size_t ring_bytes; /* per CPU; 0: 512 KiB */
};

/* Watches the whole system; needs CAP_PERFMON or root. Processes that already run are read from
 * /proc after the watch began, so that nothing is missed. */
int sideband_open(struct sideband **out, const struct sideband_options *options, struct error *err);
void sideband_close(struct sideband *sb); /* NULL is fine */

/* Processes what was reported so far, in order of time. Returns whether there was anything. */
bool sideband_read(struct sideband *sb);
/* One descriptor for poll(), readable when a ring is half full. */
int sideband_fd(const struct sideband *sb);
/* How often CPUs went or came: what else was opened on each of them must be opened again. */
uint32_t sideband_changes(const struct sideband *sb);
/* Records that the kernel had no room for since the last call. If a mapping is missing, call
 * sideband_refresh(). */
uint64_t sideband_lost(struct sideband *sb);

/* The image of a process at a time; NULL: none was reported. An exiting task still has its last
 * one. The pointer is valid until the next sideband_forget(), its mappings until the next
 * sideband_read() or sideband_refresh(). */
struct image_of *sideband_find(struct sideband *sb, uint32_t pid, uint64_t at_ns);
/* Processes what was reported so far, then reads /proc/PID again; NULL if the process is gone. */
struct image_of *sideband_refresh(struct sideband *sb, uint32_t pid);
/* The mapping that contains an address; NULL: none. */
const struct mapping *image_mapping(const struct image_of *image, uint64_t address);
/* The mapping at an earlier time, because a library may have replaced another since. */
const struct mapping *image_mapping_at(const struct image_of *image, uint64_t address,
				       uint64_t at_ns);

/* Calls each with every live image, in any order. */
typedef void (*image_fn)(void *context, struct image_of *image);
void sideband_each(struct sideband *sb, image_fn each, void *context);
/* sideband_forget() removes images that ended before this time, and objects that nobody needs any
 * more, whose numbers are reused. It calls `gone` with each object before removing it. */
void sideband_on_gone(struct sideband *sb, void (*gone)(struct sideband_object *object));
void sideband_forget(struct sideband *sb, uint64_t before_ns);

struct sideband_object *sideband_object(struct sideband *sb, uint32_t object);
/* The object that a profile has a copy of; PROFILE_NONE: none. */
uint32_t sideband_object_like(const struct sideband *sb, const struct profile_object *o);
/* Opens its file once and keeps it open, so that it may be deleted. If the path alone leads
 * elsewhere, it is opened through the root of a living process (pid 0: none known), and checked by
 * build-id or inode. Returns -1 if that is impossible. At most a quarter of RLIMIT_NOFILE are kept
 * open; beyond that, the least recently used are closed. */
int sideband_object_fd(struct sideband *sb, uint32_t object, uint32_t pid);

/* Processes one record as perf writes it, at time_ns; the sample_id at its end may be missing.
 * Other kinds of records are ignored. The perf back end, whose rings also hold samples, calls this
 * too. */
struct perf_event_header;
void sideband_take(struct sideband *sb, const struct perf_event_header *record, uint64_t time_ns);
/* A sideband without its own rings, fed by sideband_take(). */
struct sideband *sideband_new(void);

#endif
