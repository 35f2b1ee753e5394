#include <stdio.h>
#include <string.h>

#ifdef __x86_64__
#include <asm/perf_regs.h>
#endif

#include "base/file.h"
#include "collect/samples/perf.h"
#include "collect/samples/unwound.h"

uint64_t samples_perf_type(enum profile_stacks stacks)
{
	switch (stacks) {
	case STACKS_POINTERS:
		return PERF_SAMPLE_CALLCHAIN;
	case STACKS_EH_FRAME:
		return PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	default:
		return 0;
	}
}

uint64_t samples_perf_registers(void)
{
#ifdef __x86_64__
	return UINT64_C(1) << PERF_REG_X86_BP | UINT64_C(1) << PERF_REG_X86_SP |
	       UINT64_C(1) << PERF_REG_X86_IP;
#else
	return 0;
#endif
}

/* The words of a sample behind its fixed part. */
struct rest {
	const uint8_t *at;
	size_t left;
};

static bool take_words(struct rest *r, void *into, size_t count)
{
	size_t size = count * sizeof(uint64_t);
	if (r->left / sizeof(uint64_t) < count)
		return false;
	memcpy(into, r->at, size);
	r->at += size;
	r->left -= size;
	return true;
}

struct walk {
	uint64_t ips[PROFILE_FRAMES_MAX];
	size_t count;
	enum stack_end end;
};

/* What the kernel followed by frame pointers. It does not say why it ended where it did. */
static void walk_chain(struct rest *rest, struct walk *w)
{
	uint64_t left, ip;
	size_t count = 0;
	if (!take_words(rest, &left, 1))
		return;
	w->end = STACK_BROKEN;
	for (; left > 0 && take_words(rest, &ip, 1); left--) {
		if (ip >= PERF_CONTEXT_MAX) /* a mark of what follows */
			continue;
		if (count == PROFILE_FRAMES_MAX) {
			w->end = STACK_LIMIT;
			break;
		}
		if (count > 0 && ip == 0)
			break;
		w->ips[count] = count ? ip - 1 : ip;
		count++;
	}
	if (count > 0)
		w->count = count;
}

static void walk_copy(struct samples_perf *s, struct image_of *image, struct rest *rest,
		      struct walk *w)
{
	uint64_t abi, registers[3], size, used;
	if (!take_words(rest, &abi, 1) || abi != PERF_SAMPLE_REGS_ABI_64 ||
	    !take_words(rest, registers, 3) || !take_words(rest, &size, 1) || size == 0 ||
	    size > rest->left || rest->left - size < sizeof used)
		return;
	memcpy(&used, rest->at + size, sizeof used);
	struct unwind_state from = { .bp = registers[0], .sp = registers[1], .ip = registers[2] };
	struct unwind_memory stack = { .begin = from.sp,
				       .bytes = rest->at,
				       .size = (size_t)(used < size ? used : size) };
	w->count = unwound(s->sb, image, from, &stack, w->ips, PROFILE_FRAMES_MAX, &w->end);
}

/* Where an address lies. A mapping can be missing only when its record was lost; /proc is ahead of
 * the records that are not read yet, so otherwise it is not asked. */
static uint32_t location_of(struct samples_perf *s, struct image_of *image, uint64_t ip)
{
	const struct mapping *m = image ? image_mapping(image, ip) : NULL;
	if (!m && s->lost_any && image && !image->end_ns && image->user != s->beats) {
		image->user = s->beats;
		if (sideband_refresh(s->sb, image->pid) == image)
			m = image_mapping(image, ip);
	}
	if (!m) {
		struct profile_object unknown = { .path = (char[]){ "[unknown]" },
						  .kind = OBJECT_UNKNOWN };
		return profile_add_location(&s->now, profile_add_object(&s->now, &unknown), ip);
	}
	struct sideband_object *o = sideband_object(s->sb, m->object);
	if (!o->tried) /* while the process lives */
		sideband_object_fd(s->sb, m->object, image->pid);
	return profile_add_location(&s->now, profile_add_object(&s->now, &o->object),
				    m->offset + (ip - m->begin));
}

/* Its own name, which for other threads than the leader only /proc tells. */
static void comm_of(const struct image_of *image, uint32_t pid, uint32_t tid, char comm[16])
{
	char path[64];
	snprintf(comm, 16, "%s", image ? image->comm : "");
	if (image && tid == pid)
		return;
	snprintf(path, sizeof path, "/proc/%u/task/%u/comm", pid, tid);
	FREED char *text = file_read_line(path);
	if (text)
		snprintf(comm, 16, "%s", text);
}

static uint32_t thread_of(struct samples_perf *s, struct image_of *image,
			  const struct perf_rings_sample *told)
{
	struct profile_instance i = { .pid = told->pid, .first_ns = told->time_ns };
	appids_fill(s->appids, &s->now, image, s->sb, &i);
	uint32_t instance = profile_add_instance(&s->now, &i);
	char comm[16];
	for (size_t k = s->now.threads.count; k-- > 0;) {
		const struct profile_thread *t = &s->now.threads.items[k];
		if (t->instance == instance && t->tid == told->tid && told->tid != told->pid)
			return (uint32_t)k;
	}
	comm_of(image, told->pid, told->tid, comm);
	return profile_add_thread(&s->now, instance, told->tid, comm);
}

static void take_sample(struct samples_perf *s, const struct perf_event_header *record)
{
	struct perf_rings_sample told;
	if (record->size < sizeof told)
		return;
	memcpy(&told, record, sizeof told);
	struct image_of *image = sideband_find(s->sb, told.pid, told.time_ns);
	if (!image)
		image = sideband_refresh(s->sb, told.pid);
	struct rest rest = { (const uint8_t *)record + sizeof told, record->size - sizeof told };
	struct walk walk = { .ips = { told.ip }, .count = 1, .end = STACK_LEAF };
	uint32_t locations[PROFILE_FRAMES_MAX];
	/* first, so that what its mappings lack is there when it is unwound */
	locations[0] = location_of(s, image, told.ip);
	if (s->stacks == STACKS_POINTERS)
		walk_chain(&rest, &walk);
	else if (s->stacks == STACKS_EH_FRAME && image)
		walk_copy(s, image, &rest, &walk);
	for (size_t i = 1; i < walk.count; i++)
		locations[i] = location_of(s, image, walk.ips[i]);
	uint32_t stack = profile_add_stack(&s->now, locations, walk.count, 0, walk.end);
	profile_add_sample(&s->now, 0, thread_of(s, image, &told), stack, 1);
	s->now.slices.items[0].samples++;
	s->now.slices.items[0].user++;
}

static void take_record(void *context, const struct perf_event_header *record, uint64_t time_ns)
{
	struct samples_perf *s = context;
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		take_sample(s, record);
		break;
	case PERF_RECORD_THROTTLE:
		s->now.slices.items[0].throttled++;
		break;
	default:
		sideband_take(s->sb, record, time_ns);
		break;
	}
}

void samples_perf_read(struct samples_perf *s)
{
	struct profile_slice *slice = &s->now.slices.items[0];
	size_t used, room;
	s->beats++;
	perf_rings_read(s->rings, take_record, s);
	/* of samples and of what was told of processes: which, the kernel does not say */
	uint64_t lost = sideband_lost(s->sb);
	slice->lost += lost;
	s->lost_any = s->lost_any || lost > 0;
	perf_rings_peak(s->rings, &used, &room);
	slice->peak_room = (uint32_t)room;
	if (used > slice->peak_used)
		slice->peak_used = (uint32_t)used;
}
