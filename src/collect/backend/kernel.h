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

/* libbpf keeps what it thinks to itself: errors are told in our own words. */
void kernel_quiet(void);

/* The kernel's types, or NULL with an error; quiets libbpf, too. */
struct btf *kernel_btf(struct error *err);

/* Says that programs ("program of a watch") could not be loaded; without privileges, that nobody
 * may watch this deed. */
int kernel_refused(const char *deed, const char *programs, int number, struct error *err);

/* Deletes all entries of a map, whose keys are at most 16 bytes long. */
void kernel_empty_map(int map);

/* BPF programs see the pids of the initial namespace; in another one they would name other
 * processes. */
bool kernel_tells_our_pids(void);

/* "sched_switch" of SEC("tp_btf/sched_switch"). */
const char *program_tracepoint(const struct bpf_program *p);
/* It has the tracepoint, and of NAME_entry and NAME_exit both: one without the other would be worse
 * than neither. */
bool kernel_has_pair(const struct btf *btf, const char *name);

/* Where the hypervisor's clock of stolen time is, relative to a CPU's run queue. False: not known,
 * or nothing counts there. */
bool kernel_steal(const struct btf *btf, int64_t *from_rq);
bool kernel_is_guest(void);
/* Where a per-CPU variable is, relative to its CPU's run queue. */
bool kernel_from_rq(const struct btf *btf, const char *variable, int64_t *from_rq);
/* Where functions are; 0: not told. Takes some 50 ms. */
void kernel_functions(const char *const *names, uint64_t *addresses, size_t count);
/* Runs an iterator once, over these tasks at least (0: none): it has to look itself. -1 with errno.
 */
int kernel_visit_tasks(const struct bpf_program *p, pid_t thread, pid_t process);
/* Until every CPU has left the BPF programs that it is in now. */
void kernel_wait_for_programs(void);
/* The memory of a BPF map that can be mapped; *size: rounded to pages; at_once: no page will have
 * to be faulted in. NULL with errno. */
void *kernel_map_memory(struct bpf_map *map, size_t bytes, bool at_once, size_t *size);

#endif
