/* Where time was spent: samples of what the CPUs executed, from the instruction to the system.
 *
 * A profile is self-contained: samples point into its dictionaries (apps, instances, threads,
 * objects, functions, locations, stacks) by position. What a collector hands over for a few seconds
 * and what the lab gives back of an hour are both one. The *_add functions intern: what is there
 * already is found again. Strings are copied. */
#ifndef TARE_RECORD_PROFILE_H
#define TARE_RECORD_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "record/field.h"

#define PROFILE_NONE UINT32_MAX /* a position that points nowhere */
#define BUILD_ID_MAX 20
#define PROFILE_FRAMES_MAX                                                    \
	127 /* of a stack's part in the kernel, and of its part in user space \
	     */

/* What makes a CPU look. */
enum profile_mode {
	PROFILE_TICK,	/* the kernel's own timer tick */
	PROFILE_CLOCK,	/* a timer of its own, perf's cpu-clock */
	PROFILE_CYCLES, /* the hardware's cycle counter */
	PROFILE_MODES
};
extern const char *const profile_mode_names[PROFILE_MODES];
const char *profile_mode_name(enum profile_mode mode); /* "tick", "cpu-clock", "cycles" */

/* How far user stacks were followed. */
enum profile_stacks {
	STACKS_NONE,	 /* a sample is one instruction */
	STACKS_POINTERS, /* by frame pointers */
	STACKS_EH_FRAME, /* by .eh_frame, by frame pointers where there is none */
	PROFILE_STACKS
};
const char *profile_stacks_name(enum profile_stacks stacks); /* "none", "fp", "eh_frame" */

/* What code was mapped from. */
enum object_kind {
	OBJECT_FILE,
	OBJECT_KERNEL,	/* path "[kernel]" */
	OBJECT_MODULE,	/* of the kernel; path "[name]"; has functions, their locations are the
			   kernel's */
	OBJECT_VDSO,	/* path "[vdso]" */
	OBJECT_JIT,	/* what a perf map names; path "[jit]"; has functions, their locations are
			   the memory's */
	OBJECT_MEMORY,	/* memory without a file: "[anon]", "[heap]", "[stack]" */
	OBJECT_UNKNOWN, /* no mapping was found; path "[unknown]" */
	OBJECT_KINDS
};
extern const char *const object_kind_names[OBJECT_KINDS];
const char *object_kind_name(enum object_kind kind); /* "file", "kernel", ... */

struct profile_object {
	char *path; /* as its process names it; without " (deleted)" */
	enum object_kind kind;
	uint8_t build_id[BUILD_ID_MAX];
	uint8_t build_id_size;	/* 0: none */
	uint64_t device, inode; /* 0: not known */
	/* JIT and memory are a process's own: its pid tells two apart. Else 0. */
	uint32_t pid;
};

/* A binary, as the paper means it. Kernel threads are apps, too: "[kworker]". */
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
	uint64_t exec_id;  /* how many programs the process had before; with pid and start the
			      identity */
	uint64_t first_ns; /* CLOCK_MONOTONIC; first sample */
	char comm[16];
	char *cgroup;	 /* path in the hierarchy; NULL: not known */
	char *container; /* id, as far as the cgroup tells; NULL: none */
};

struct profile_thread {
	uint32_t instance;
	uint32_t tid;
	char comm[16];
};

struct profile_function {
	uint32_t object;
	char *name;	  /* demangled */
	uint64_t address; /* its first, as in a location; 0 with size 0: not known (inlined) */
	uint64_t size;
	char *file;    /* source; NULL: not known */
	uint32_t line; /* where it is declared; 0: not known */
};

/* One level of a location: the function and where in its source. */
struct profile_frame {
	uint32_t function;
	uint32_t line; /* 0: not known */
	char *file; /* source of the line where it is not the function's own; NULL: the function's
		     */
};

struct profile_location {
	uint32_t object;
	/* In a file: of its bytes; else as address. Of a caller in a stack it is that of the return
	 * address less 1: inside of the call. */
	uint64_t offset;
	uint64_t address; /* what nm and objdump show; in kernel and memory: where it was */
	/* Innermost inlined function first, the function itself last. 0: not known, said as
	 * file+offset. */
	uint32_t first_frame, frames;
};

enum stack_end {
	STACK_LEAF,	/* was not followed: only the instruction is known */
	STACK_COMPLETE, /* to where the thread started */
	STACK_LIMIT,	/* the rest found no room */
	STACK_BROKEN,	/* something told no way on */
	STACK_ENDS
};
const char *stack_end_name(enum stack_end end);
extern const struct shape stack_ends_shape; /* of uint64_t[STACK_ENDS] */

struct profile_stack {
	uint32_t first, count; /* in `links`: locations, the innermost first */
	uint32_t kernel;       /* of them, so many in the kernel */
	enum stack_end end;    /* of the part in user space; complete where there is none */
};

struct profile_sample {
	uint32_t slice, thread, stack;
	uint64_t count;
};

/* A window of time. What was lost is counted, not guessed. */
struct profile_slice {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	uint64_t samples;	   /* all that were taken, idle ones left out: user + kernel */
	uint64_t user, kernel;
	uint64_t idle;	    /* the CPU had nothing to do */
	uint64_t others;    /* taken, but not of what was asked for (-p, --cgroup, a command) */
	uint64_t lost;	    /* taken, no room */
	uint64_t throttled; /* times the kernel held sampling back */
	uint64_t untold;    /* mappings, forks and ends that the kernel had no room to tell */
	uint32_t peak_used, peak_room; /* entries of the fullest buffer */
	uint64_t self_ns;	       /* CPU time of tare */
};

/* The bytes of a function that has samples: a view by instruction needs no file later on. */
struct profile_code {
	uint32_t function;
	uint8_t *bytes;
	uint32_t size;
};

struct profile_index; /* finds what was added; private */

struct profile {
	enum profile_mode mode;
	enum profile_stacks stacks;
	double hz;	     /* samples per second and busy CPU */
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

/* A zeroed one is empty. */
void profile_release(struct profile *p);

uint32_t profile_add_object(struct profile *p, const struct profile_object *o);
uint32_t profile_add_app(struct profile *p, const char *name, uint32_t object);
/* By pid, start and exec_id; app, number and the rest are those of the first time. */
uint32_t profile_add_instance(struct profile *p, const struct profile_instance *i);
/* By instance and tid; a new comm replaces the old. */
uint32_t profile_add_thread(struct profile *p, uint32_t instance, uint32_t tid, const char *comm);
/* By object, address and name. */
uint32_t profile_add_function(struct profile *p, const struct profile_function *f);
/* By object and offset; address is the offset until it is symbolised. */
uint32_t profile_add_location(struct profile *p, uint32_t object, uint64_t offset);
/* Gives a location its address and frames, in place of those before; file strings are copied. */
void profile_set_frames(struct profile *p, uint32_t location, uint64_t address,
			const struct profile_frame *frames, size_t count);
/* What its code is of: of its function where that is known, which tells modules and JIT apart; else
 * what it was mapped from. */
uint32_t profile_location_object(const struct profile *p, uint32_t location);
/* By content. */
uint32_t profile_add_stack(struct profile *p, const uint32_t *locations, size_t count,
			   size_t kernel, enum stack_end end);
/* Adds to the count of (slice, thread, stack). */
void profile_add_sample(struct profile *p, uint32_t slice, uint32_t thread, uint32_t stack,
			uint64_t count);
/* Bytes of a function; those that are there stay. */
void profile_add_code(struct profile *p, uint32_t function, const uint8_t *bytes, uint32_t size);
const struct profile_code *profile_find_code(const struct profile *p, uint32_t function);

/* What was counted in `from`, too; it ends with the later of the two. */
void profile_slice_add(struct profile_slice *to, const struct profile_slice *from);

/* Everything of `from` into `to`, whose mode, hz etc. are taken over when it has no slices. Slices
 * of equal begin become one. */
void profile_merge(struct profile *to, const struct profile *from);

/* The last part of a path. */
const char *object_name(const struct profile_object *o);
/* "80c0..." in hex; "" where there is none. */
void build_id_text(const struct profile_object *o, char text[2 * BUILD_ID_MAX + 1]);
/* The id of a docker, podman, containerd, CRI-O, LXC or systemd-nspawn container in a cgroup's
 * path; NULL: none. The caller frees. */
char *cgroup_container(const char *path);

/* ---- the catalogue ---- */

extern const struct field profile_settings_fields[], profile_slice_fields[],
	profile_object_fields[], profile_instance_fields[], profile_function_fields[];
extern const struct shape profile_settings_shape, profile_slice_shape, profile_function_shape;

#endif
