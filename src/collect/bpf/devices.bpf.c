/* Every block request with its submitter. At block_io_start that is the current task; later, when
 * the request is issued or done, anybody may be. A request is handed over once, when it is over.
 *
 * Requeued requests, and those done in parts, are over at their one block_io_done. Bios that are
 * merged into a request make it longer until it is issued; a request that is merged into another
 * ends there, told by block_rq_merge.
 *
 * Some kernels do not tell what happens in interrupts while certain tasks have the CPU (decision
 * 012), ends of requests among it: those are found out when the request is used again, or free. */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "collect/bpf/devices.h"
#include "collect/bpf/request.bpf.h"

char LICENSE[] SEC("license") = "GPL";

#define OP_MASK 0xffu /* of cmd_flags */
#define OP_READ 0
#define OP_WRITE 1
#define OP_ZONE_APPEND 7
#define RING_BYTES (8u << 20)

struct device_control control = {};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, struct device_request);
} requests SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} ring SEC(".maps");

static __always_inline void lose(void)
{
	__sync_fetch_and_add(&control.lost, 1);
}

static __noinline int hand_over(const struct device_request *r, u64 end_ns, u32 flags)
{
	struct device_request *to = bpf_ringbuf_reserve(&ring, sizeof *to, 0);
	if (!to) {
		lose();
		return 0;
	}
	*to = *r;
	to->end_ns = end_ns;
	to->flags |= flags;
	/* nobody is woken within a measurement unless the ring would run over */
	bool late = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > RING_BYTES / 2;
	bpf_ringbuf_submit(to, late ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
	return 0;
}

/* Data that pass between the machine and the device: a discard passes none. */
static __always_inline u32 bytes_of(struct request *rq)
{
	u32 op = BPF_CORE_READ(rq, cmd_flags) & OP_MASK;
	return op == OP_READ || op == OP_WRITE || op == OP_ZONE_APPEND
		       ? BPF_CORE_READ(rq, __data_len)
		       : 0;
}

static __always_inline u32 flags_of(struct request *rq)
{
	return BPF_CORE_READ(rq, cmd_flags) & 1 ? DEVICE_WRITE : 0;
}

SEC("tp_btf/block_io_start")
int BPF_PROG(devices_start, struct request *rq)
{
	if (!control.active)
		return 0;
	u64 key = (u64)rq, now = bpf_ktime_get_ns(), who = bpf_get_current_pid_tgid();
	if (control.end_ns && now >= control.end_ns)
		return 0;
	struct device_request r = { .begin_ns = now,
				    .device = number_of(rq),
				    .bytes = bytes_of(rq),
				    .tid = (s32)who,
				    .tgid = (s32)(who >> 32),
				    .flags = flags_of(rq) };
	if (!r.device)
		return 0;
	struct device_request *old = bpf_map_lookup_elem(&requests, &key);
	if (old) { /* it was over, or it could not begin again */
		hand_over(old, now, DEVICE_UNTOLD);
		*old = r;
	} else if (bpf_map_update_elem(&requests, &key, &r, BPF_ANY)) {
		lose();
	} else {
		__sync_fetch_and_add(&control.in_flight, 1);
	}
	return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(devices_issue, struct request *rq)
{
	if (!control.active)
		return 0;
	u64 key = (u64)rq;
	struct device_request *r = bpf_map_lookup_elem(&requests, &key);
	u32 bytes = r ? bytes_of(rq) : 0;
	/* issued again, a part of it may be done already */
	if (r && bytes > r->bytes)
		r->bytes = bytes;
	return 0;
}

struct bpf_map;

/* Hands over what is over and was not told. */
static long settle(struct bpf_map *map, const u64 *key, struct device_request *r, void *unused)
{
	struct request *rq = (void *)*key;
	if (BPF_CORE_READ(rq, ref.counter))
		return 0;
	hand_over(r, bpf_ktime_get_ns(), DEVICE_UNTOLD);
	if (!bpf_map_delete_elem(map, key))
		__sync_fetch_and_add(&control.in_flight, -1);
	return 0;
}

SEC("syscall")
int devices_settle(void *unused)
{
	bpf_for_each_map_elem(&requests, settle, 0, 0);
	return 0;
}

static __always_inline bool end_request(u64 key, u64 now, u32 flags)
{
	struct device_request *r = bpf_map_lookup_elem(&requests, &key);
	if (!r)
		return false;
	hand_over(r, now, flags);
	if (!bpf_map_delete_elem(&requests, &key))
		__sync_fetch_and_add(&control.in_flight, -1);
	return true;
}

SEC("tp_btf/block_io_done")
int BPF_PROG(devices_done, struct request *rq)
{
	if (!control.active)
		return 0;
	u64 now = bpf_ktime_get_ns();
	if (end_request((u64)rq, now, 0))
		return 0;
	/* In flight already when this began. Those that began later without being told are the
	 * flushes that the kernel makes within a request, which is known. */
	u64 began = BPF_CORE_READ(rq, start_time_ns);
	struct device_request r = { .begin_ns = began,
				    .device = number_of(rq),
				    .flags = flags_of(rq) };
	if (r.device && began && began < control.begin_ns)
		hand_over(&r, now, 0);
	return 0;
}

SEC("tp_btf/block_rq_merge")
int BPF_PROG(devices_merged, struct request *rq)
{
	if (control.active)
		end_request((u64)rq, bpf_ktime_get_ns(), DEVICE_MERGED);
	return 0;
}
