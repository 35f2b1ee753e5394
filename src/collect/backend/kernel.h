/* What the running kernel offers to BPF programs. Private to collect/. */
#ifndef TARE_COLLECT_BACKEND_KERNEL_H
#define TARE_COLLECT_BACKEND_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct bpf_map;
struct bpf_program;
struct btf;

/* Silences libbpf's own messages; errors are reported in tare's words. */
void kernel_quiet(void);

/* The kernel's types, or NULL with an error. Also silences libbpf. */
struct btf *kernel_btf(struct error *err);
void kernel_btf_release(struct btf **btf); /* for SCOPED() */

/* Why the kernel refused programs with this errno. */
const char *kernel_refusal(int number);

/* Sets the error that the kernel refused programs ("program of a watch") or, without privileges,
 * that this user may not watch `deed`. */
int kernel_refused(const char *deed, const char *programs, int number, struct error *err);

/* Deletes all entries of a map whose keys are at most 16 bytes long. */
void kernel_empty_map(int map);

/* BPF programs see the pids of the initial namespace, which mean other processes in another one. */
bool kernel_tells_our_pids(void);

/* "sched_switch" for SEC("tp_btf/sched_switch"). */
const char *program_tracepoint(const struct bpf_program *p);
/* Whether the kernel has the tracepoint and, for NAME_entry or NAME_exit, also its counterpart: one
 * without the other would be worse than neither. */
bool kernel_has_pair(const struct btf *btf, const char *name);

/* The place of the hypervisor's clock of stolen time, relative to a CPU's run queue. False:
 * unknown, or nothing is counted there. */
bool kernel_steal(const struct btf *btf, int64_t *from_rq);
bool kernel_is_guest(void);
/* The place of a per-CPU variable, relative to its CPU's run queue. */
bool kernel_from_rq(const struct btf *btf, const char *variable, int64_t *from_rq);
/* The addresses of functions; 0: unknown. Takes about 50 ms. */
void kernel_functions(const char *const *names, uint64_t *addresses, size_t count);
/* Runs an iterator once over at least these tasks (0: none). It may visit others, so the program
 * must check. Returns -1 with errno. */
int kernel_visit_tasks(const struct bpf_program *p, pid_t thread, pid_t process);
/* Waits until every CPU has left the BPF programs that it is in now. */
void kernel_wait_for_programs(void);
/* Maps the memory of a BPF map; *size is rounded to pages. at_once: no page has to be faulted in
 * later. NULL with errno. */
void *kernel_map_memory(struct bpf_map *map, size_t bytes, bool at_once, size_t *size);

#endif
