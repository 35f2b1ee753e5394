/* What the kernel tells of processes beside the samples: forks, execs, ends and every mapping of
 * code, in order, also of processes that live for a millisecond. Private to collect/.
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

/* A file (or "[vdso]", ...) that code was mapped from. Kept for as long as a process has it mapped,
 * and for some minutes after its file was asked for last. */
struct sideband_object {
	struct profile_object object; /* path NULL: this one is gone */
	int fd;			      /* -1: not open (not tried yet, or cannot be) */
	bool tried;
	void *user;	/* unwound.c's */
	uint64_t place; /* the collector's; 0 at first: e.g. where in the kernel its rows are */
};

struct mapping {
	uint64_t begin, end; /* addresses */
	/* In the file, of begin; memory without a file: begin itself, so that what lies behind an
	 * address is always offset + (address - begin). */
	uint64_t offset;
	uint32_t object; /* sideband_object(sb, object) */
};

/* One that another took the place of. */
struct past_mapping {
	struct mapping mapping;
	uint64_t until_ns;
};

struct image_of {
	uint32_t pid;
	/* CLOCK_MONOTONIC; begin 0: before the watch began; end 0: it lives */
	uint64_t begin_ns, end_ns;
	uint64_t start_ns; /* of the process, CLOCK_BOOTTIME; 0: not known */
	uint32_t number;   /* how many programs the process had before, as far as was told */
	char comm[16];
	uint32_t executable;		 /* object; PROFILE_NONE: not known or a kernel thread */
	bool kernel;			 /* a kernel thread */
	uint32_t version;		 /* changes whenever the mappings do */
	ARRAY(struct mapping) mappings;	 /* executable ones, sorted, none overlap */
	ARRAY(struct past_mapping) past; /* the last few, in order of time */
	uint64_t user;			 /* the collector's; 0 at first, copied to nobody */
	/* of appids.c, likewise */
	bool numbered;
	uint32_t instance;
	char *cgroup, *container;
};

struct sideband_options {
	const uint32_t *cpus; /* NULL: all that are online */
	size_t cpu_count;
	size_t ring_bytes; /* per CPU; 0: 512 KiB */
};

/* Watches the whole system; needs CAP_PERFMON or root. Processes that run already are read from
 * /proc, after the watch began: nothing falls between. */
int sideband_open(struct sideband **out, const struct sideband_options *options, struct error *err);
void sideband_close(struct sideband *sb); /* NULL is fine */

/* Takes over what was told until now, in order of time. Returns whether anything was. */
bool sideband_read(struct sideband *sb);
/* One descriptor for poll(): readable when a ring is half full. */
int sideband_fd(const struct sideband *sb);
/* Records the kernel had no room for, since the last call. Whoever misses a mapping asks
 * sideband_refresh(). */
uint64_t sideband_lost(struct sideband *sb);

/* The image of a process at a time; NULL: none was told. A task on its way out still has its last
 * one. The pointer is good until the next sideband_forget(), its mappings until the next
 * sideband_read() or sideband_refresh(). */
struct image_of *sideband_find(struct sideband *sb, uint32_t pid, uint64_t at_ns);
/* Takes over what was told until now, then reads /proc/PID anew; NULL when it is gone. */
struct image_of *sideband_refresh(struct sideband *sb, uint32_t pid);
/* The mapping around an address; NULL: none. */
const struct mapping *image_mapping(const struct image_of *image, uint64_t address);
/* As it was then: a library may have taken the place of another since. */
const struct mapping *image_mapping_at(const struct image_of *image, uint64_t address,
				       uint64_t at_ns);

/* All live images, in any order: each is called with each of them. */
typedef void (*image_fn)(void *context, struct image_of *image);
void sideband_each(struct sideband *sb, image_fn each, void *context);
/* Images that ended before this time go, and objects that nobody needs any more: their numbers are
 * used again. `gone` is called before with each of those. */
void sideband_on_gone(struct sideband *sb, void (*gone)(struct sideband_object *object));
void sideband_forget(struct sideband *sb, uint64_t before_ns);

struct sideband_object *sideband_object(struct sideband *sb, uint32_t object);
/* The one that a profile has a copy of; PROFILE_NONE: none. */
uint32_t sideband_object_like(const struct sideband *sb, const struct profile_object *o);
/* Opens its file once and keeps it open, so that it may be deleted: through a living process's root
 * where the path alone leads elsewhere (pid 0: none known), checked by build-id or inode. -1:
 * cannot. At most a quarter of RLIMIT_NOFILE are kept; beyond, the least recently used are closed.
 */
int sideband_object_fd(struct sideband *sb, uint32_t object, uint32_t pid);

/* Also for the perf back end, whose rings hold samples beside these records: one record as perf
 * writes it; time from the sample_id at its end, which may be there or not. Records of other kinds
 * do nothing. */
struct perf_event_header;
void sideband_take(struct sideband *sb, const struct perf_event_header *record, uint64_t time_ns);
/* A sideband without rings of its own, fed by sideband_take(). */
struct sideband *sideband_new(void);

#endif
