/* The few kernel types the BPF programs use, each with only the fields in use. CO-RE finds the real
 * offsets at load time, so a build needs no kernel BTF. A field that kernels disagree on has a
 * flavour (name___what): libbpf drops the suffix when matching. */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

typedef unsigned char __u8;
typedef short int __s16;
typedef short unsigned int __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long int __s64;
typedef long long unsigned int __u64;
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
enum { false = 0, true = 1 };

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PROG_ARRAY = 3,
	BPF_MAP_TYPE_QUEUE = 22,
	BPF_MAP_TYPE_STACK = 23,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_F_MMAPABLE = 1024,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
};

enum {
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
	BPF_RB_AVAIL_DATA = 0,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct rq {
	u64 clock;
};

struct cfs_rq {
	struct rq *rq;
	int throttle_count;
};

struct sched_entity {
	u64 sum_exec_runtime, prev_sum_exec_runtime;
	struct cfs_rq *cfs_rq;
};

struct sched_info {
	long long unsigned int run_delay, last_arrival, last_queued;
};

struct task_delay_info {
	u64 blkio_delay;
};

struct task_io_accounting {
	u64 rchar, wchar, syscr, syscw, read_bytes, write_bytes, cancelled_write_bytes;
};

struct percpu_counter {
	s64 count;
};

typedef struct seqcount {
	unsigned int sequence;
} seqcount_t;

struct mm_struct {
	seqcount_t mm_lock_seq;		   /* since 6.13 */
	struct percpu_counter rss_stat[4]; /* since 6.2 */
	long unsigned int hiwater_rss, total_vm, start_stack, arg_start;
};

typedef struct {
	s64 counter;
} atomic64_t;

struct mm_rss_stat {
	atomic64_t count[4];
};

struct mm_struct___before_6_2 {
	struct mm_rss_stat rss_stat;
};

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live;
	long unsigned int maxrss; /* pages */
};

struct thread_info {
	long unsigned int flags;
	u32 cpu;
	u32 status; /* x86 */
};

struct inode {
	u16 i_mode;
};

struct file {
	struct inode *f_inode;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct gendisk {
	int major, first_minor;
};

struct request_queue {
	struct gendisk *disk;
};

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	unsigned int __data_len;
	u64 start_time_ns;
	atomic_t ref;
};

struct request___before_5_16 {
	struct gendisk *rq_disk;
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	long unsigned int bp, di, orig_ax, ip, sp;
	u16 cs;
};
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	u64 regs[31];
	u64 sp, pc, pstate;
	s32 syscallno;
};
#else
struct pt_regs {
	u64 none;
};
#endif

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	int prio;
	struct sched_entity se;
	struct sched_info sched_info;
	struct mm_struct *mm;
	int pid, tgid;
	struct task_struct *real_parent, *group_leader;
	u64 self_exec_id;
	u64 utime, stime;
	long unsigned int nvcsw, nivcsw;
	u64 start_boottime;
	long unsigned int min_flt, maj_flt;
	char comm[16];
	struct signal_struct *signal;
	struct task_io_accounting ioac;
	struct css_set *cgroups;
	struct task_delay_info *delays;
	struct files_struct *files;
	unsigned int on_rq, on_cpu; /* bytes since 7.2, which only unsigned ones can be read as */
	unsigned int in_iowait : 1;
	bool throttled; /* since 6.18 */
};

struct work_struct {
	void *func;
};

struct hrtimer {
	void *function;
};

struct task_struct___before_5_14 {
	long int state;
};

struct task_struct___before_5_16 {
	unsigned int cpu;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	u64 session_id, seq_num;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

/* The interface of perf programs: fixed, unlike the kernel's own. */
#if defined(__TARGET_ARCH_x86)
struct perf_regs {
	u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs,
		flags, sp, ss;
};
#elif defined(__TARGET_ARCH_arm64)
struct perf_regs {
	u64 regs[31], sp, pc, pstate;
};
#else
struct perf_regs {
	u64 none;
};
#endif

struct bpf_perf_event_data {
	struct perf_regs regs;
	u64 sample_period, addr;
};

#endif
