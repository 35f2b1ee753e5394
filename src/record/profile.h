/* Where time was spent, or where an event such as a cache miss occurred: samples of what the CPUs
 * executed, from the instruction to the system.
 *
 * A profile is self-contained: samples refer to its dictionaries (apps, instances, threads,
 * objects, functions, locations, stacks) by index. A collector's few seconds and an hour from the
 * lab are both profiles. The *_add functions intern: they return the existing entry if there is
 * one. Strings are copied. */
#ifndef TARE_RECORD_PROFILE_H
#define TARE_RECORD_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "record/counter.h"
#include "record/field.h"

#define PROFILE_NONE UINT32_MAX /* an index that refers to nothing */
#define BUILD_ID_MAX 20
#define PROFILE_COMM 64 /* a thread's name; of a kernel thread it may be longer than 15 */
/* Of the user part of a stack, the innermost and the outermost frames are kept. */
#define PROFILE_FRAMES_INNER 1024
#define PROFILE_FRAMES_OUTER 256
#define PROFILE_FRAMES_MAX (PROFILE_FRAMES_INNER + PROFILE_FRAMES_OUTER)

/* What triggers a sample. */
enum profile_mode {
	PROFILE_TICK,	/* the kernel's own timer tick */
	PROFILE_CLOCK,	/* a separate timer, perf's cpu-clock */
	PROFILE_CYCLES, /* the hardware's cycle counter, at a rate */
	PROFILE_EVENT,	/* each so many of an event: a sample stands for events, not for time */
	PROFILE_MODES
};
extern const char *const profile_mode_names[PROFILE_MODES];

/* How user stacks were unwound. */
enum profile_stacks {
	STACKS_NONE,	 /* a sample is one instruction */
	STACKS_POINTERS, /* by frame pointers */
	STACKS_EH_FRAME, /* by .eh_frame, or by frame pointers where there is none */
	PROFILE_STACKS
};
extern const char *const profile_stacks_names[PROFILE_STACKS];

/* The source of mapped code. */
enum object_kind {
	OBJECT_FILE,
	OBJECT_KERNEL, /* path "[kernel]" */
	OBJECT_MODULE, /* of the kernel; path "[name]"; it has functions, but their locations are
			  the kernel's */
	OBJECT_VDSO,   /* path "[vdso]" */
	OBJECT_JIT, /* named by a perf map; path "[jit]"; it has functions, but their locations are
		       the memory's */
	OBJECT_MEMORY,	/* memory without a file: "[anon]", "[heap]", "[stack]" */
	OBJECT_UNKNOWN, /* no mapping was found; path "[unknown]" */
	OBJECT_KINDS
};
extern const char *const object_kind_names[OBJECT_KINDS];

struct profile_object {
	char *path; /* as its process sees it; without " (deleted)" */
	enum object_kind kind;
	uint8_t build_id[BUILD_ID_MAX];
	uint8_t build_id_size;	/* 0: none */
	uint64_t device, inode; /* 0: unknown */
	/* JIT code and memory belong to one process, whose pid distinguishes them. Otherwise 0. */
	uint32_t pid;
};

/* A binary, in the paper's sense. Kernel threads are apps, too: "[kworker]". */
struct profile_app {
	char *name;	 /* last part of the path, or "[...]" */
	uint32_t object; /* its executable; PROFILE_NONE for kernel threads */
};

/* appid (name, number): one program in one process. */
struct profile_instance {
	uint32_t app;
	uint32_t number; /* of this app, from 0 in order of appearance in the session */
	uint32_t pid;
	uint64_t start_ns; /* of the process, CLOCK_BOOTTIME */
	uint64_t exec_id;  /* how many programs it had before; with pid and start, the identity */
	uint64_t first_ns; /* CLOCK_MONOTONIC; first sample */
	char comm[PROFILE_COMM];
	char *cgroup;	 /* path in the hierarchy; NULL: unknown */
	char *container; /* id, if the cgroup shows it; NULL: none */
};

struct profile_thread {
	uint32_t instance;
	uint32_t tid;
	char comm[PROFILE_COMM];
};

struct profile_function {
	uint32_t object;
	char *name;	  /* demangled */
	uint64_t address; /* its first, as in a location; 0 with size 0: unknown (inlined) */
	uint64_t size;
	char *file;    /* source; NULL: unknown */
	uint32_t line; /* where it is declared; 0: unknown */
};

/* One level of a location: the function and the line in its source. */
struct profile_frame {
	uint32_t function;
	uint32_t line; /* 0: unknown */
	char *file;    /* source of the line if it is not the function's own; otherwise NULL */
};

struct profile_location {
	uint32_t object;
	/* In a file: the byte offset; otherwise like address. For a caller in a stack it is the
	 * return address minus 1, which is inside the call. */
	uint64_t offset;
	uint64_t address; /* as nm and objdump show it; in kernel and memory, the actual address */
	/* Innermost inlined function first, the function itself last. 0: unknown (file+offset). */
	uint32_t first_frame, frames;
};

enum stack_end {
	STACK_LEAF,	/* not unwound: only the instruction is known */
	STACK_COMPLETE, /* to where the thread started */
	STACK_LIMIT,	/* deeper than it was followed */
	STACK_BROKEN,	/* unreadable: no unwind rows, or memory that is not there */
	STACK_NO_ROOM,	/* the collector's buffer was full */
	STACK_ELIDED,	/* complete, but frames in its middle were left out */
	STACK_ENDS
};
extern const char *const stack_end_names[];
extern const struct shape stack_ends_shape; /* of uint64_t[STACK_ENDS] */

struct profile_stack {
	uint32_t first, count; /* in `links`: locations, innermost first */
	uint32_t kernel;       /* of them, how many are in the kernel */
	enum stack_end end;    /* of the user part; complete if there is none */
};

struct profile_sample {
	uint32_t slice, thread, stack;
	uint64_t count;
};

/* A window of time. Losses are counted, not estimated. */
struct profile_slice {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	uint64_t samples;	   /* all that were taken except idle ones: user + kernel */
	uint64_t user, kernel;
	uint64_t idle;	    /* the CPU had nothing to do */
	uint64_t others;    /* taken, but outside what was asked for (-p, --cgroup, a command) */
	uint64_t lost;	    /* taken, but without room */
	uint64_t throttled; /* times the kernel throttled sampling */
	uint64_t untold;    /* mappings, forks and exits that the kernel had no room to report */
	uint32_t peak_used, peak_room; /* entries of the fullest buffer */
	uint64_t self_ns;	       /* CPU time of tare */
};

/* The bytes of a function with samples, so that a view by instruction needs no file later. */
struct profile_code {
	uint32_t function;
	uint8_t *bytes;
	uint32_t size;
};

struct profile_index; /* finds existing entries; private */

struct profile {
	enum profile_mode mode;
	enum profile_stacks stacks;
	double hz;		  /* samples per second and busy CPU; 0: unknown, or by an event */
	char event[COUNTER_NAME]; /* PROFILE_EVENT: its name, as perf calls it */
	uint64_t period;     /* PROFILE_EVENT: events that each sample stands for; otherwise 0 */
	uint32_t cpus;	     /* sampled */
	int64_t realtime_ns; /* CLOCK_REALTIME at CLOCK_MONOTONIC 0 */
	ARRAY(struct profile_object) objects;
	ARRAY(struct profile_app) apps;
	ARRAY(struct profile_instance) instances;
	ARRAY(struct profile_thread) threads;
	ARRAY(struct profile_function) functions;
	ARRAY(struct profile_frame) frames;
	ARRAY(struct profile_location) locations;
	ARRAY(uint32_t) links;
	ARRAY(struct profile_stack) stack_list;
	ARRAY(struct profile_slice) slices;
	ARRAY(struct profile_sample) samples;
	ARRAY(struct profile_code) code;
	struct profile_index *index;
};

/* A zeroed profile is empty. */
void profile_release(struct profile *p);

uint32_t profile_add_object(struct profile *p, const struct profile_object *o);
uint32_t profile_add_app(struct profile *p, const char *name, uint32_t object);
/* Found by pid, start and exec_id; app, number and the rest are those of the first call. */
uint32_t profile_add_instance(struct profile *p, const struct profile_instance *i);
/* Found by instance and tid; a new comm replaces the old. */
uint32_t profile_add_thread(struct profile *p, uint32_t instance, uint32_t tid, const char *comm);
/* Found by object, address and name. */
uint32_t profile_add_function(struct profile *p, const struct profile_function *f);
/* Found by object and offset; address is the offset until it is symbolised. */
uint32_t profile_add_location(struct profile *p, uint32_t object, uint64_t offset);
/* Sets the address and frames of a location and replaces earlier ones; file strings are copied. */
void profile_set_frames(struct profile *p, uint32_t location, uint64_t address,
			const struct profile_frame *frames, size_t count);
/* The object of a location's code: that of its function if known, which distinguishes modules and
 * JIT code, or else what it was mapped from. */
uint32_t profile_location_object(const struct profile *p, uint32_t location);
/* Found by content. */
uint32_t profile_add_stack(struct profile *p, const uint32_t *locations, size_t count,
			   size_t kernel, enum stack_end end);
/* Like profile_add_stack(), for a stack that was just walked. `depth` is the number of its user
 * frames; with more than PROFILE_FRAMES_MAX of them, `locations` has the innermost and the
 * outermost ones. A frame "[truncated]" or "[broken]" stands for those that are missing. */
uint32_t profile_add_walked_stack(struct profile *p, const uint32_t *locations, size_t count,
				  size_t kernel, size_t depth, enum stack_end end);
/* Adds to the count of (slice, thread, stack). */
void profile_add_sample(struct profile *p, uint32_t slice, uint32_t thread, uint32_t stack,
			uint64_t count);
/* Adds the bytes of a function; existing ones stay. */
void profile_add_code(struct profile *p, uint32_t function, const uint8_t *bytes, uint32_t size);
const struct profile_code *profile_find_code(const struct profile *p, uint32_t function);

/* Adds the counts of `from`; the end is the later of the two. */
void profile_slice_add(struct profile_slice *to, const struct profile_slice *from);

/* Adds everything of `from` to `to`, which takes over mode, hz etc. if it has no slices. Slices
 * with the same begin are merged. */
void profile_merge(struct profile *to, const struct profile *from);

/* The last part of a path. */
const char *object_name(const struct profile_object *o);
/* "80c0..." in hex; "" if there is none. */
void build_id_text(const struct profile_object *o, char text[2 * BUILD_ID_MAX + 1]);
/* The id of a docker, podman, containerd, CRI-O, LXC or systemd-nspawn container in a cgroup's
 * path; NULL: none. The caller frees it. */
char *cgroup_container(const char *path);

/* ---- the catalogue ---- */

extern const struct field profile_settings_fields[], profile_slice_fields[],
	profile_object_fields[], profile_instance_fields[], profile_function_fields[];
extern const struct shape profile_settings_shape, profile_slice_shape, profile_function_shape;

#endif
