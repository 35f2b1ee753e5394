/* Walks stacks: the kernel's own with its helper, the user's by the rows of .eh_frame that tare put
 * into a map (binary/unwind.h), or by frame pointers if there are none. Private to
 * profile.bpf.c. */
#ifndef TARE_COLLECT_BPF_PROFILE_WALK_BPF_H
#define TARE_COLLECT_BPF_PROFILE_WALK_BPF_H

typedef u8 uint8_t;
typedef u32 uint32_t;
typedef signed char int8_t;
typedef s16 int16_t;
#include "binary/unwind.h"

#define ROW_STEPS 13	      /* rows of a page are at most 4096 */
#define SPAN_STEPS 8	      /* 2^7 spans */
#define FRAME_MOST (8u << 20) /* a frame pointer does not point farther up than this */

#define PF_KTHREAD 0x200000

enum followed {
	FOLLOWED_NOT,	 /* no room: only the instruction */
	FOLLOWED,	 /* what->stack is set */
	FOLLOWED_DUMPED, /* tare will unwind it */
};

/* As in enum stack_end of record/profile.h. */
enum { END_LEAF, END_COMPLETE, END_LIMIT, END_BROKEN };

struct place {
	u64 ip, sp, bp;
	bool user;
};

const volatile __u32 follow_stacks = 0;
const volatile __u32 row_mask = 0;  /* number of rows in the map, a power of 2, minus 1 */
const volatile __u32 use_rows = 0;  /* otherwise only frame pointers */
const volatile __u32 dump_room = 0; /* above this, tare is woken */

struct profile_control control = {};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* CPUs */
	__type(key, u32);
	__type(value, struct profile_cpu);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* CPUs */
	__type(key, u32);
	__type(value, struct profile_words);
} words SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, 8); /* set before loading */
} rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set before loading */
	__type(key, u32);
	__type(value, struct profile_space);
} spaces SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set before loading */
	__type(key, struct profile_identity);
	__type(value, u32);
} space_of SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* set before loading */
} dumps SEC(".maps");

/* ---- registers ---- */

static __always_inline void place_of_perf(struct place *r, struct bpf_perf_event_data *ctx)
{
#if defined(__TARGET_ARCH_x86)
	r->ip = ctx->regs.ip;
	r->sp = ctx->regs.sp;
	r->bp = ctx->regs.bp;
	r->user = (ctx->regs.cs & 3) != 0;
#elif defined(__TARGET_ARCH_arm64)
	r->ip = ctx->regs.pc;
	r->sp = ctx->regs.sp;
	r->bp = ctx->regs.regs[29];
	r->user = (ctx->regs.pstate & 15) == 0;
#endif
}

static __always_inline bool place_of_kernel(struct place *r, struct pt_regs *regs)
{
	if (!regs)
		return false;
#if defined(__TARGET_ARCH_x86)
	/* what the processor itself pushes, in its order */
	struct {
		u64 ip, cs, flags, sp, ss;
	} pushed;
	if (bpf_probe_read_kernel(&pushed, sizeof pushed, &regs->ip))
		return false;
	r->ip = pushed.ip;
	r->sp = pushed.sp;
	r->user = (pushed.cs & 3) != 0;
	r->bp = follow_stacks ? BPF_CORE_READ(regs, bp) : 0;
#elif defined(__TARGET_ARCH_arm64)
	r->ip = BPF_CORE_READ(regs, pc);
	r->sp = BPF_CORE_READ(regs, sp);
	r->bp = BPF_CORE_READ(regs, regs[29]);
	r->user = (BPF_CORE_READ(regs, pstate) & 15) == 0;
#endif
	return true;
}

/* ---- one frame ---- */

struct walk {
	u64 ip, sp, bp; /* ip is an address inside the call, except for the first frame */
	u32 space;	/* NO_SPACE: none */
	u32 count, end;
	u32 outside;   /* an address was in no span */
	u32 span;      /* of the last frame */
	u32 signal;    /* it was a signal frame */
	u32 where, at; /* where the addresses go */
	u64 hash;
	u64 row_ip, row_pc; /* of the row found last: recursion asks for the same one */
	struct unwind_row row;
	u64 page_begin; /* of what was copied of the stack */
	u32 page_size;
};
#define NO_SPACE 0xffffffff

/* Reads from a copy of the page that the walk is in: one call of the helper for many frames. */
static __always_inline bool read_word(struct walk *w, u64 at, u64 *into)
{
	u32 cpu = w->where >> 1;
	struct profile_words *mine = bpf_map_lookup_elem(&words, &cpu);
	if (!mine || at & 7)
		return bpf_probe_read_user(into, sizeof *into, (void *)at) == 0;
	if (at - w->page_begin >= w->page_size) {
		/* what lies below the stack's end is not needed */
		u64 page = at & ~(u64)(PROFILE_PAGE - 1);
		u64 begin = w->sp > page && w->sp <= at ? w->sp & ~7ull : page;
		u32 size = PROFILE_PAGE - (begin & (PROFILE_PAGE - 1));
		w->page_begin = begin;
		w->page_size = size;
		if (bpf_probe_read_user(mine->page, size, (void *)begin) != 0) {
			w->page_size = 0;
			return false;
		}
	}
	*into = mine->page[(at - w->page_begin) / 8 & (PROFILE_PAGE / 8 - 1)];
	return true;
}

/* The rule for an address; false: none. */
static __always_inline bool find_row(struct walk *w, struct unwind_row *into, u64 *address)
{
	u32 zero = 0, index = w->space;
	struct profile_space *space = bpf_map_lookup_elem(&spaces, &index);
	struct unwind_row *all = bpf_map_lookup_elem(&rows, &zero);
	if (!space || !all)
		return false;
	struct profile_span *span = &space->spans[w->span & (PROFILE_SPANS - 1)];
	u32 low = 0, high = space->count;
	if (w->span >= space->count || w->ip < span->begin ||
	    w->ip >= span->end) { /* callers are often in the same file */
		for (int i = 0; i < SPAN_STEPS; i++) {
			if (low >= high)
				break;
			u32 middle = (low + high) / 2;
			if (w->ip < space->spans[middle & (PROFILE_SPANS - 1)].begin)
				high = middle;
			else
				low = middle + 1;
		}
		span = &space->spans[(low - 1) & (PROFILE_SPANS - 1)];
		if (low == 0 || w->ip >= span->end) {
			w->outside = 1;
			return false;
		}
		w->span = low - 1;
	}
	u64 pc = w->ip - span->bias;
	if (!span->rows || pc >= span->limit)
		return false;
	/* entries of the page index are also rows: pc is the number of the row */
	u32 page = span->index + (u32)(pc >> 12);
	low = all[page & row_mask].pc;
	high = all[(page + 1) & row_mask].pc + 1;
	for (int i = 0; i < ROW_STEPS; i++) { /* the last row that begins at or before pc */
		if (high - low <= 1 || high < low)
			break;
		u32 middle = low + (high - low) / 2;
		if (all[(span->row + middle) & row_mask].pc <= pc)
			low = middle;
		else
			high = middle;
	}
	*into = all[(span->row + low) & row_mask];
	*address = pc;
	return into->pc <= pc && (into->how & 15) != UNWIND_NONE;
}

#if defined(__TARGET_ARCH_arm64)
#define CODE_BITS 0xffffffffffffull /* above them is a signature (pointer authentication) */
#define OUTERMOST_BP(bp) ((bp) == 0)
#else
#define CODE_BITS (~0ull)
#define OUTERMOST_BP(bp) false
#endif

static __always_inline int by_pointer(struct walk *w)
{
	u64 caller, bp;
	if (OUTERMOST_BP(w->bp)) {
		w->end = END_COMPLETE;
		return 1;
	}
	if (w->bp < w->sp || w->bp - w->sp > FRAME_MOST || (w->bp & 7) ||
	    !read_word(w, w->bp, &bp) || !read_word(w, w->bp + 8, &caller) || caller < 4096) {
		w->end = END_BROKEN;
		return 1;
	}
	w->sp = w->bp + 16;
	w->bp = bp;
	w->ip = (caller & CODE_BITS) - 1;
	return 0;
}

static __always_inline int out_of_signal(struct walk *w)
{
	u64 ip, sp, bp;
	w->signal = 1;
	if (!read_word(w, w->sp + UNWIND_SIGNAL_IP, &ip) ||
	    !read_word(w, w->sp + UNWIND_SIGNAL_SP, &sp) ||
	    !read_word(w, w->sp + UNWIND_SIGNAL_BP, &bp)) {
		w->end = END_BROKEN;
		return 1;
	}
	w->ip = ip; /* was interrupted, did not call */
	w->sp = sp;
	w->bp = bp;
	return 0;
}

static __always_inline bool find_cfa(struct walk *w, const struct unwind_row *row, u64 pc, u64 *cfa)
{
	s64 offset = row->offset;
	switch (row->how & 15) {
	case UNWIND_SP:
		*cfa = w->sp + offset;
		return true;
	case UNWIND_BP:
		*cfa = w->bp + offset;
		return true;
	case UNWIND_BP_AT:
		return read_word(w, w->bp + offset, cfa);
	case UNWIND_SP_AT:
		return read_word(w, w->sp + offset, cfa);
	case UNWIND_SP_AT_8:
		if (!read_word(w, w->sp + offset, cfa))
			return false;
		*cfa += 8;
		return true;
	case UNWIND_PLT:
		*cfa = w->sp + 8 + ((pc & 15) >= offset ? 8 : 0);
		return true;
	}
	return false;
}

/* Goes from the frame in w to its caller's. If not 0, w->end says why there is none. It is global,
 * so it is verified once. */
__attribute__((noinline)) int step(struct walk *w)
{
	if (!w)
		return 1;
	struct unwind_row row;
	u64 pc, cfa, caller;
	if (!use_rows || w->space == NO_SPACE)
		return by_pointer(w);
	if (w->ip == w->row_ip) {
		row = w->row;
		pc = w->row_pc;
	} else if (find_row(w, &row, &pc)) {
		w->row_ip = w->ip;
		w->row_pc = pc;
		w->row = row;
	} else {
		return by_pointer(w);
	}
	u32 how = row.how & 15;
	if (how == UNWIND_END) {
		w->end = END_COMPLETE;
		return 1;
	}
	if (how == UNWIND_SIGNAL)
		return out_of_signal(w);
	if (!find_cfa(w, &row, pc, &cfa) || cfa <= w->sp || (cfa & 7) ||
	    !read_word(w, cfa - 8, &caller)) {
		w->end = END_BROKEN;
		return 1;
	}
	u32 bp = row.how >> 4;
	u64 saved = cfa + 8 * (s64)row.bp;
	if (bp == UNWIND_BP_SAVED && saved >= w->sp)
		read_word(w, saved, &w->bp);
	else if (bp == UNWIND_BP_AT_BP)
		read_word(w, w->bp, &w->bp);
	else if (bp == UNWIND_BP_LOST)
		w->bp = 0;
	w->sp = cfa;
	w->ip = caller - 1;
	if (caller == 0) {
		w->end = END_COMPLETE;
		return 1;
	}
	return 0;
}

/* ---- a stack ---- */

static __always_inline u64 mix(u64 hash, u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

/* The words of one half of a CPU; where is CPU << 1
 *
 * half. A sample reads control.half only once, because it may change meanwhile. */
static __always_inline u64 *words_of(u32 where)
{
	u32 cpu = where >> 1;
	struct profile_words *all = bpf_map_lookup_elem(&words, &cpu);
	return all ? all->halves[where & 1] : 0;
}

/* Walks up some frames and writes their addresses from word w->at on. If not 0, that is all. The
 * innermost is not in the hash: samples of different instructions share their callers. */
__attribute__((noinline)) int walk_some(struct walk *w)
{
	u64 *all = w ? words_of(w->where) : 0;
	if (!all)
		return 1;
	for (u32 i = 0; i < PROFILE_CHUNK; i++) {
		u32 n = w->count, at = (w->at + PROFILE_USER_WORD(n)) & (PROFILE_WORDS - 1);
		all[at] = w->ip;
		if (n && n < PROFILE_INNER)
			w->hash = mix(w->hash, w->ip);
		w->signal = 0;
		w->count = n + 1;
		int last = step(w);
		if (w->signal && n) /* the handler returns here; it is not a call */
			all[at]++;
		if (last)
			return 1;
	}
	return 0;
}

/* Walks the stack up from w. */
__attribute__((noinline)) int walk_up(struct walk *w)
{
	u64 *all = w ? words_of(w->where) : 0;
	if (!all)
		return 1;
	for (u32 i = 0; i < PROFILE_CHUNKS; i++)
		if (walk_some(w))
			break;
	/* The ring is hashed in order, not where it begins: stacks that differ only in what is left
	 * out are one. */
	u32 first = w->count > PROFILE_USER ? w->count - PROFILE_OUTER : PROFILE_INNER;
	for (u32 i = 0; i < PROFILE_OUTER; i++) {
		u32 n = first + i;
		if (n >= w->count)
			break;
		w->hash = mix(w->hash, all[(w->at + PROFILE_USER_WORD(n)) & (PROFILE_WORDS - 1)]);
	}
	return 0;
}

/* How many of the n words of the kernel's part from `at` on belong to the tick itself, whose
 * interrupt is on top of what it interrupted. */
__attribute__((noinline)) int above(u32 where, u32 at, u32 n, u64 ip)
{
	u64 *all = words_of(where);
	if (!all)
		return 0;
	for (u32 i = 0; i < 40; i++) {
		if (i >= n)
			break;
		if (all[(at + i) & (PROFILE_WORDS - 1)] == ip)
			return i;
	}
	return 0;
}

__attribute__((noinline)) u64 hash_of_words(u32 where, u32 at, u32 n, u64 hash)
{
	u64 *all = words_of(where);
	if (!all)
		return hash;
	for (u32 i = 0; i < PROFILE_DEPTH; i++) {
		if (i >= n)
			break;
		hash = mix(hash, all[(at + i) & (PROFILE_WORDS - 1)]);
	}
	return hash;
}

/* The current place in user space, or where it entered the kernel. */
static __always_inline bool user_place(struct task_struct *t, const struct place *r,
				       struct place *user)
{
	if (r->user) {
		*user = *r;
		return true;
	}
	if (t->flags & PF_KTHREAD || !t->mm) /* or it is ending */
		return false;
	struct pt_regs *regs = (void *)bpf_task_pt_regs(t);
	return place_of_kernel(user, regs) && user->ip;
}

/* Copies the stack page by page, because the memory above it may not be mapped. */
static __always_inline u32 copy_stack(u8 *to, u64 sp, u32 pages)
{
	u32 size = PROFILE_PAGE - (sp & (PROFILE_PAGE - 1));
	if (bpf_probe_read_user(to, size & (2 * PROFILE_PAGE - 1), (void *)sp) != 0)
		return 0;
	for (u32 i = 0; i < pages - 1; i++) {
		if (size > (pages - 1) * PROFILE_PAGE ||
		    bpf_probe_read_user(to + size, PROFILE_PAGE, (void *)(sp + size)) != 0)
			break;
		size += PROFILE_PAGE;
	}
	return size;
}

struct dumped {
	const struct walk *user;
	const struct profile_slot *what;
	u32 flags;
	const u64 *kernel;
	u32 kernel_count; /* as in profile_dump */
	struct profile_half *half;
};

static __always_inline bool dump_pages(struct task_struct *t, const struct dumped *from, u32 pages)
{
	struct profile_dump *d = bpf_ringbuf_reserve(&dumps, sizeof *d + pages * PROFILE_PAGE, 0);
	if (!d)
		return false;
	d->identity = from->what->identity;
	d->ip = from->user->ip;
	d->sp = from->user->sp;
	d->bp = from->user->bp;
	d->at_ns = bpf_ktime_get_ns();
	d->cgroup = bpf_get_current_cgroup_id();
	d->tid = from->what->tid;
	d->flags = from->what->flags | from->flags;
	d->kernel_count = from->kernel_count;
	bpf_probe_read_kernel(d->comm, sizeof d->comm, t->comm);
	bpf_probe_read_kernel(d->kernel, PROFILE_DEPTH * sizeof *d->kernel, from->kernel);
	d->size = copy_stack(d->stack, from->user->sp, pages);
	u64 waiting = bpf_ringbuf_query(&dumps, BPF_RB_AVAIL_DATA);
	/* A deep one should be the last that is copied. But there may be a reason for each: tare is
	 * woken once until it has looked. */
	bool deep = d->size >= (PROFILE_DUMP_PAGES - 1) * PROFILE_PAGE && !from->half->hurried;
	bool soon = waiting > dump_room || deep;
	if (deep)
		from->half->hurried = 1;
	bpf_ringbuf_submit(d, soon ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
	return true;
}

static __always_inline bool dump(struct task_struct *t, const struct dumped *from)
{
	u64 top = BPF_CORE_READ(t, mm, start_stack), sp = from->user->sp;
	if (top > sp && top - sp < (PROFILE_DUMP_FEW - 1) * PROFILE_PAGE)
		return dump_pages(t, from, PROFILE_DUMP_FEW);
	if (top > sp && top - sp >= (PROFILE_DUMP_PAGES - 1) * PROFILE_PAGE &&
	    top - sp < (PROFILE_DUMP_MANY - 1) * PROFILE_PAGE &&
	    dump_pages(t, from, PROFILE_DUMP_MANY))
		return true;
	return dump_pages(t, from, PROFILE_DUMP_PAGES);
}

/* Finds the stack just written at `offset` among those of this half, or keeps it. */
static __always_inline u32 keep(struct profile_half *half, u64 *all, u32 offset, u32 length,
				u64 hash)
{
	for (int i = 0; i < PROFILE_PROBES; i++) {
		u32 *entry = &half->index[(hash + i) & (PROFILE_INDEX - 1)];
		u32 at = *entry;
		if (!at) {
			*entry = offset + 1;
			break;
		}
		if (all[(at - 1) & (PROFILE_WORDS - 1)] == hash)
			return at;
	}
	half->words = offset + length;
	if (half->words > PROFILE_WORDS / PROFILE_FULL && !half->woken) {
		u64 *note = bpf_ringbuf_reserve(&dumps, sizeof *note, 0);
		half->woken = 1;
		if (note) {
			*note = 0;
			bpf_ringbuf_submit(note, BPF_RB_FORCE_WAKEUP);
		}
	}
	return offset + 1;
}

static __always_inline enum followed follow(void *ctx, struct profile_half *half, u32 where,
					    struct task_struct *t, const struct place *r,
					    struct profile_slot *what, bool tick)
{
	u64 *all = words_of(where);
	u32 offset = half->words, n = 0, skip = 0;
	if (!all || offset > PROFILE_WORDS - PROFILE_STACK_MOST)
		return FOLLOWED_NOT;
	u64 *stack = &all[offset];
	if (!r->user) {
		long size = bpf_get_stack(ctx, stack + 2, PROFILE_DEPTH * sizeof *stack, 0);
		n = size > 0 && size <= PROFILE_DEPTH * 8 ? (u32)size / 8 : 0;
		if (n == 0) {
			stack[2] = r->ip;
			n = 1;
		}
		if (tick)
			skip = above(where, offset + 2, n, r->ip);
	}
	struct place user;
	struct walk w = { .space = NO_SPACE,
			  .end = END_COMPLETE,
			  .where = where,
			  .at = offset + 2 + n,
			  .row_ip = ~0ull };
	struct dumped d = { .user = &w,
			    .what = what,
			    .kernel = stack + 2,
			    .kernel_count = n | skip << 16,
			    .half = half };
	if (user_place(t, r, &user)) {
		w.ip = user.ip;
		w.sp = user.sp;
		w.bp = user.bp;
		if (n)
			w.hash = mix(0, user.ip);
		u32 *space = bpf_map_lookup_elem(&space_of, &what->identity);
		if (use_rows && !space && dump(t, &d))
			return FOLLOWED_DUMPED;
		if (space)
			w.space = *space;
		w.end = END_LIMIT;
		walk_up(&w);
		struct profile_space *s = w.outside && space ? bpf_map_lookup_elem(&spaces, space)
							     : 0;
		w.ip = user.ip;
		w.sp = user.sp;
		w.bp = user.bp;
		d.flags = PROFILE_OUTSIDE;
		if (s && !s->known && dump(t, &d))
			return FOLLOWED_DUMPED;
	}
	u32 kept = w.count < PROFILE_USER ? w.count : PROFILE_USER;
	bool cut = w.count > PROFILE_USER;
	u64 hash = mix(w.hash, PROFILE_COUNTS(n, kept + cut, w.end, skip));
	if (n)
		hash = hash_of_words(where, offset + 3 + skip, n - skip - 1, hash);
	stack[0] = hash;
	stack[1] = PROFILE_COUNTS(n, w.count, w.end, skip);
	what->stack = keep(half, all, offset, 2 + n + kept, hash);
	return FOLLOWED;
}

#endif
