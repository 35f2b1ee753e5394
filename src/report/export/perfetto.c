#include "report/export/perfetto.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/export/perfetto_packets.h"
#include "report/export/trace_names.h"

/* Numbers of tracks begin here ("tare"), so that the trace can be merged with others. */
#define TRACKS ((uint64_t)0x74617265 << 32)
#define NO_STATE LEDGER_CAUSES
#define NOWHERE UINT32_MAX
#define NAME_SIZE 17
#define TITLE_SIZE 96
#define KTHREADD 2
/* More interrupts within each other than any CPU has: the ends of some were lost. */
#define DEEPEST 16
#define PACKET_BYTES ((size_t)64 << 10)

/* A tid from one beginning to its end: a tid may be given again. */
struct life {
	int32_t tid, tgid;
	int32_t maker;	/* its process; 0: not known */
	unsigned flags; /* enum trace_flag, of all its events */
	size_t next;	/* of the same tid; 0: none */
	char first[NAME_SIZE], last[NAME_SIZE], name[NAME_SIZE]; /* name: as of now */
	bool begun, ended, declared;
	uint64_t track;	     /* the subject's only */
	unsigned state;	     /* its open slice: enum ledger_cause or NO_STATE */
	uint32_t cpu, began; /* where it runs, or NOWHERE; where it ran last */
	uint64_t works;	     /* track of its work items; 0: none yet */
	bool working;
};

struct slot { /* of a hash table; lives[0] is nobody's, so 0 is free */
	int32_t tid;
	size_t first, current;
};

struct interrupt {
	uint32_t cause, source;
};

struct cpu {
	bool switched;
	int32_t running; /* tid; 0: idle */
	uint64_t track;
	struct interrupt stack[DEEPEST];
	size_t depth;
	uint64_t last_ns; /* of a slice of the track */
	uint64_t detours; /* track */
	bool away;
	struct strbuf events;
};

struct lane { /* requests that do not overlap */
	uint32_t device;
	uint64_t track;
	bool busy;
	int32_t tid;
	uint32_t bytes;
	bool write;
	uint64_t order;
};

struct writer {
	struct strbuf *out;
	const struct perfetto_title *named;
	struct trace_names names;
	ARRAY(struct life) lives;
	struct slot *slots;
	size_t slot_mask, slots_used;
	ARRAY(struct cpu) cpus;
	ARRAY(struct lane) lanes;
	uint64_t tracks, requests;
	uint64_t title, interrupts, devices; /* tracks */
	uint64_t start_ns, end_ns;
	bool kthreadd; /* introduced */
};

/* -- threads */

static size_t slot_index(const struct writer *w, int32_t tid)
{
	size_t i = ((uint32_t)tid * UINT32_C(2654435769)) & w->slot_mask;
	while (w->slots[i].first && w->slots[i].tid != tid)
		i = (i + 1) & w->slot_mask;
	return i;
}

static void grow_slots(struct writer *w)
{
	FREED struct slot *had = w->slots;
	size_t count = had ? w->slot_mask + 1 : 0;
	w->slot_mask = count ? 2 * count - 1 : 255;
	w->slots = xcalloc(w->slot_mask + 1, sizeof *w->slots);
	for (size_t i = 0; i < count; i++)
		if (had[i].first)
			w->slots[slot_index(w, had[i].tid)] = had[i];
}

static size_t add_life(struct writer *w, int32_t tid)
{
	array_push(&w->lives,
		   (struct life){ .tid = tid, .tgid = tid, .state = NO_STATE, .cpu = NOWHERE });
	return w->lives.count - 1;
}

/* The life of the tid at this point; NULL: idle. Valid until the next is found. */
static struct life *life_of(struct writer *w, int32_t tid)
{
	if (!tid)
		return NULL;
	if (!w->slots || w->slots_used * 2 > w->slot_mask)
		grow_slots(w);
	struct slot *slot = &w->slots[slot_index(w, tid)];
	if (!slot->first) {
		size_t first = add_life(w, tid);
		*slot = (struct slot){ .tid = tid, .first = first, .current = first };
		w->slots_used++;
	}
	return &w->lives.items[slot->current];
}

static void rename_life(char *name, const char *comm)
{
	if (*comm)
		snprintf(name, NAME_SIZE, "%.*s", NAME_SIZE - 1, comm);
}

/* A thread begins: as another life when the one before had begun or ended. */
static void begin_life(struct writer *w, int32_t tid)
{
	struct life *life = life_of(w, tid);
	if (!life)
		return;
	if (life->begun || life->ended) {
		struct slot *slot = &w->slots[slot_index(w, tid)];
		size_t current = slot->current, next = life->next;
		if (!next) {
			next = add_life(w, tid);
			w->lives.items[current].next = next;
		}
		slot->current = next;
		life = &w->lives.items[next];
	}
	life->begun = true;
}

/* First walk: whose lives there are and what they were called, so that each can be introduced by
 * the name it had at last; who had each CPU at the start. */
static void survey(struct writer *w, const struct trace_event *e)
{
	int32_t maker = 0;
	if (e->kind == TRACE_BEGIN) {
		struct life *by = life_of(w, (int32_t)e->a);
		maker = by && by->tgid != e->tgid ? by->tgid : 0;
		begin_life(w, e->tid);
	}
	struct life *life = life_of(w, e->tid);
	if (life && maker)
		life->maker = maker;
	if (life && trace_names_thread(e)) {
		life->flags |= e->flags &
			       (unsigned)(TRACE_IS_SUBJECT | TRACE_IS_SELF | TRACE_IS_KERNEL);
		if (e->kind == TRACE_BEGIN || e->kind == TRACE_WAKEUP)
			life->flags |= TRACE_IS_SUBJECT;
		if (e->tgid)
			life->tgid = e->tgid;
		if (!*life->first)
			rename_life(life->first, e->comm);
		rename_life(life->last, e->comm);
	}
	if (life && e->kind == TRACE_END)
		life->ended = true;
	while (w->cpus.count <= e->cpu)
		array_push(&w->cpus, (struct cpu){ 0 });
	if (e->kind != TRACE_SWITCH)
		return;
	struct cpu *cpu = &w->cpus.items[e->cpu];
	if (!cpu->switched)
		cpu->running = (int32_t)e->a;
	cpu->switched = true;
	struct life *leaver = life_of(w, (int32_t)e->a);
	if (leaver && e->flags & TRACE_LEAVER_SUBJECT)
		leaver->flags |= TRACE_IS_SUBJECT;
	if (leaver && e->b == TRACE_ENDED)
		leaver->ended = true;
}

/* Says who it is, once. */
static void declare(struct writer *w, struct life *life, uint64_t at_ns)
{
	if (!life || life->declared)
		return;
	life->declared = true;
	bool subject = life->flags & TRACE_IS_SUBJECT;
	const struct life *leader = life;
	const struct slot *slot = &w->slots[slot_index(w, life->tgid)];
	if (slot->first && *w->lives.items[slot->current].last)
		leader = &w->lives.items[slot->current];
	int32_t parent = leader->maker;
	if (life->flags & TRACE_IS_KERNEL) {
		parent = life->tgid == KTHREADD ? 0 : KTHREADD;
		if (!w->kthreadd && life->tgid != KTHREADD)
			packets_process(w->out, at_ns, KTHREADD, 0, KTHREADD, "kthreadd",
					"kthreadd");
		w->kthreadd = true;
	}
	char process[NAME_SIZE + 16];
	snprintf(process, sizeof process, "%s%s", subject ? "subject: " : "", leader->last);
	packets_process(w->out, at_ns, life->tgid, parent, life->tid, process, life->last);
	if (!subject)
		return;
	life->track = ++w->tracks;
	packets_thread_track(w->out, at_ns, life->track, life->tgid, life->tid, life->last);
}

/* The open slice of a thread of the subject: why it does not run, or where it does. */
static void set_state(struct writer *w, struct life *life, unsigned state, uint64_t at_ns)
{
	if (!life->track || life->ended)
		return;
	if (life->state != NO_STATE)
		packets_end(w->out, at_ns, life->track);
	life->state = state;
	if (state == NO_STATE)
		return;
	struct packets_note note = { "cpu", NULL, life->cpu };
	if (state != LEDGER_RUN)
		note = (struct packets_note){ "cause", ledger_causes[state].name, 0 };
	packets_begin(w->out, at_ns, life->track, ledger_causes[state].name, &note, 1);
}

static void end_work(struct writer *w, struct life *life, uint64_t at_ns)
{
	if (life->working)
		packets_end(w->out, at_ns, life->works);
	life->working = false;
}

/* -- CPUs */

static uint64_t cpu_track(struct writer *w, uint32_t number)
{
	struct cpu *cpu = &w->cpus.items[number];
	if (!cpu->track) {
		char name[32];
		snprintf(name, sizeof name, "CPU %" PRIu32, number);
		if (!w->interrupts) {
			w->interrupts = ++w->tracks;
			packets_track(w->out, w->interrupts, 0, "Interrupts", TRACKS_BY_RANK);
		}
		cpu->track = ++w->tracks;
		packets_track(w->out, cpu->track, w->interrupts, name, (int)number);
	}
	return cpu->track;
}

/* The innermost interrupts end, until `depth` are left. */
static void unwind(struct writer *w, struct cpu *cpu, size_t depth, uint64_t at_ns)
{
	if (cpu->depth > depth)
		cpu->last_ns = at_ns;
	for (; cpu->depth > depth; cpu->depth--)
		packets_end(w->out, at_ns, cpu->track);
}

static void mark_lost(struct writer *w, uint32_t cpu, uint64_t at_ns)
{
	packets_instant(w->out, at_ns, cpu_track(w, cpu), "events lost before here", NULL, 0);
}

static enum packets_state native_state(uint32_t why)
{
	switch (why) {
	case LEDGER_IO:
	case LEDGER_IO_OTHER:
	case LEDGER_IO_IDLE:
	case LEDGER_FAULT:
	case LEDGER_LOCK:
		return STATE_BLOCKED;
	case LEDGER_STOPPED:
		return STATE_STOPPED;
	case TRACE_ENDED:
		return STATE_DEAD;
	default:
		return why >= LEDGER_FUTEX && why <= LEDGER_SLEEP ? STATE_SLEEPING : STATE_RUNNABLE;
	}
}

static const char *life_name(const struct life *life)
{
	return life ? life->name : "swapper";
}

/* The CPU goes from whom it had to `to`, who can be on one CPU only. */
static void hand_over(struct writer *w, uint32_t number, int32_t to, enum packets_state left_as,
		      uint64_t at_ns)
{
	struct cpu *cpu = &w->cpus.items[number];
	struct life *from = life_of(w, cpu->running), *next = life_of(w, to);
	if (next && next->cpu != NOWHERE && next->cpu != number) {
		mark_lost(w, next->cpu, at_ns);
		hand_over(w, next->cpu, 0, STATE_RUNNABLE, at_ns);
	}
	packets_switch(&cpu->events, at_ns, cpu->running, life_name(from), left_as, to,
		       life_name(next));
	if (from)
		from->cpu = NOWHERE;
	if (next)
		next->cpu = next->began = number;
	cpu->running = to;
	if (cpu->events.length > PACKET_BYTES)
		packets_cpu(w->out, number, &cpu->events);
}

static void put_switch(struct writer *w, const struct trace_event *e, uint64_t at_ns)
{
	struct cpu *cpu = &w->cpus.items[e->cpu];
	int32_t leaving = (int32_t)e->a;
	struct life *leaver = life_of(w, leaving), *next = life_of(w, e->tid);
	declare(w, leaver, at_ns);
	declare(w, next, at_ns);
	unwind(w, cpu, 0, at_ns); /* none lasts across a switch: their ends were lost */
	if (next)
		rename_life(next->name, e->comm);
	if (cpu->running != leaving) {
		struct life *believed = life_of(w, cpu->running);
		mark_lost(w, e->cpu, at_ns);
		hand_over(w, e->cpu, leaving, STATE_SLEEPING, at_ns);
		if (believed)
			set_state(w, believed, LEDGER_UNSEEN, at_ns);
	}
	hand_over(w, e->cpu, e->tid, native_state(e->b), at_ns);
	if (leaver && e->b == TRACE_ENDED) {
		end_work(w, leaver, at_ns);
		set_state(w, leaver, NO_STATE, at_ns);
		leaver->ended = true;
	} else if (leaver && leaver != next) {
		bool known = e->b < LEDGER_CAUSES && !ledger_on_cpu(e->b);
		set_state(w, leaver, known ? e->b : LEDGER_UNSEEN, at_ns);
	}
	if (next)
		set_state(w, next, LEDGER_RUN, at_ns);
}

static void put_wakeup(struct writer *w, const struct trace_event *e, uint64_t at_ns)
{
	struct life *life = life_of(w, e->tid);
	struct strbuf *events = &w->cpus.items[e->cpu].events;
	declare(w, life, at_ns);
	if (!life || life->cpu != NOWHERE)
		return;
	bool waiting = life->state >= LEDGER_IO && life->state < LEDGER_CAUSES;
	if (waiting)
		packets_blocked(events, at_ns, life->tid, life->state, life->state <= LEDGER_FAULT);
	packets_waking(events, at_ns, (int32_t)e->a, life->tid, life->name, life->began);
	if (waiting || life->state == NO_STATE)
		set_state(w, life, LEDGER_QUEUED, at_ns);
}

static void put_begin(struct writer *w, const struct trace_event *e, uint64_t at_ns)
{
	struct life *before = life_of(w, e->tid);
	if (!before)
		return;
	/* should its end have been lost */
	if (before->begun)
		set_state(w, before, NO_STATE, at_ns);
	begin_life(w, e->tid);
	struct life *life = life_of(w, e->tid);
	/* Readers take what happens at one instant in an order of their own: the new thread has to
	 * be there before anything is said of it. */
	if (!life->declared && at_ns)
		packets_new_task(&w->cpus.items[e->cpu].events, at_ns - 1, (int32_t)e->a, e->tid,
				 life->name, e->tid != e->tgid);
	declare(w, life, at_ns);
	set_state(w, life, life->cpu == NOWHERE ? LEDGER_QUEUED : LEDGER_RUN, at_ns);
}

/* -- interrupts */

static void put_enter(struct writer *w, const struct trace_event *e, uint64_t at_ns)
{
	uint64_t track = cpu_track(w, e->cpu);
	struct cpu *cpu = &w->cpus.items[e->cpu];
	char source[64], name[96];
	trace_source(&w->names, e->a, e->b, source, sizeof source);
	snprintf(name, sizeof name, "%s %s",
		 e->a < LEDGER_CAUSES ? ledger_causes[e->a].name : "interrupt", source);
	if (cpu->depth == DEEPEST) {
		mark_lost(w, e->cpu, at_ns);
		unwind(w, cpu, 0, at_ns);
	}
	cpu->stack[cpu->depth++] = (struct interrupt){ e->a, e->b };
	cpu->last_ns = at_ns;
	packets_begin(w->out, at_ns, track, name, NULL, 0);
}

static void put_leave(struct writer *w, const struct trace_event *e, uint64_t at_ns)
{
	struct cpu *cpu = &w->cpus.items[e->cpu];
	size_t i = cpu->depth;
	while (i && (cpu->stack[i - 1].cause != e->a || cpu->stack[i - 1].source != e->b))
		i--;
	if (!i)
		return; /* it began before the trace, or its begin was lost */
	if (i != cpu->depth)
		mark_lost(w, e->cpu, at_ns);
	unwind(w, cpu, i - 1, at_ns);
}

/* Told when it ends; what began after it did was within another. */
static void put_nmi(struct writer *w, const struct trace_event *e, uint64_t at_ns)
{
	uint64_t track = cpu_track(w, e->cpu), begin_ns = at_ns > e->b ? at_ns - e->b : 0;
	struct cpu *cpu = &w->cpus.items[e->cpu];
	struct packets_note note = { "ns", NULL, e->b };
	if (begin_ns < cpu->last_ns)
		begin_ns = cpu->last_ns;
	if (begin_ns < w->start_ns)
		begin_ns = w->start_ns;
	packets_begin(w->out, begin_ns, track, "nmi", &note, 1);
	packets_end(w->out, at_ns, track);
	cpu->last_ns = at_ns;
}

/* -- work items: on the track of their worker, since one that sleeps lets another have the CPU */

static struct life *worker_of(struct writer *w, const struct trace_event *e)
{
	return life_of(w, e->tid ? e->tid : w->cpus.items[e->cpu].running);
}

static void put_work(struct writer *w, const struct trace_event *e, uint64_t at_ns)
{
	struct life *life = worker_of(w, e);
	if (!life)
		return; /* who has the CPU is not known yet */
	declare(w, life, at_ns);
	if (!life->works) {
		life->works = ++w->tracks;
		packets_thread_track(w->out, at_ns, life->works, life->tgid, life->tid, life->last);
	}
	end_work(w, life, at_ns);
	char name[64];
	trace_source(&w->names, TRACE_NAMES_WORK, e->a, name, sizeof name);
	packets_begin(w->out, at_ns, life->works, name, NULL, 0);
	life->working = true;
}

/* -- detours of the loop of `tare noise` */

static void end_detour(struct writer *w, struct cpu *cpu, uint64_t at_ns)
{
	if (cpu->away)
		packets_end(w->out, at_ns, cpu->detours);
	cpu->away = false;
}

static void put_detour(struct writer *w, const struct trace_event *e, uint64_t at_ns)
{
	struct cpu *cpu = &w->cpus.items[e->cpu];
	const struct perfetto_detour *known = NULL;
	struct packets_note notes[NOISE_CLASSES];
	size_t count = 0;
	if (!cpu->detours) {
		char name[32];
		snprintf(name, sizeof name, "detours of CPU %u", e->cpu);
		cpu->detours = ++w->tracks;
		packets_track(w->out, cpu->detours, 0, name, 1);
	}
	for (size_t i = 0; i < w->named->detour_count; i++) {
		const struct perfetto_detour *d = &w->named->detours[i];
		if (d->cpu == e->cpu && d->begin_ns == e->at_ns)
			known = d;
	}
	for (unsigned i = 0; known && i < NOISE_CLASSES; i++)
		if (known->class_ns[i])
			notes[count++] =
				(struct packets_note){ noise_class_names[(enum noise_class)i], NULL,
						       known->class_ns[i] };
	end_detour(w, cpu, at_ns); /* should its end have been lost */
	packets_begin(w->out, at_ns, cpu->detours, known ? known->name : "detour", notes, count);
	cpu->away = true;
}

/* -- block I/O: requests of a device may overlap, slices of a track may not */

static struct lane *free_lane(struct writer *w, uint32_t device)
{
	for (size_t i = 0; i < w->lanes.count; i++)
		if (!w->lanes.items[i].busy && w->lanes.items[i].device == device)
			return &w->lanes.items[i];
	if (!w->devices) {
		w->devices = ++w->tracks;
		packets_track(w->out, w->devices, 0, "Block I/O", 2);
	}
	char name[64];
	trace_source(&w->names, LEDGER_IO, device, name, sizeof name);
	array_push(&w->lanes, (struct lane){ .device = device, .track = ++w->tracks });
	struct lane *lane = &w->lanes.items[w->lanes.count - 1];
	/* readers draw tracks of one name and one parent as one */
	packets_track(w->out, lane->track, w->devices, name, 0);
	return lane;
}

static void put_io_start(struct writer *w, const struct trace_event *e, uint64_t at_ns)
{
	struct lane *lane = free_lane(w, e->a);
	struct life *life = life_of(w, e->tid);
	bool write = e->flags & TRACE_IS_WRITE;
	char bytes[32], comm[NAME_SIZE] = "", name[128];
	text_bytes(e->b, bytes, sizeof bytes);
	rename_life(comm, e->comm);
	snprintf(name, sizeof name, "%s%s: %s %s",
		 life && life->flags & TRACE_IS_SUBJECT ? "subject: " : "", comm,
		 write ? "write" : "read", bytes);
	struct packets_note notes[] = { { "bytes", NULL, e->b },
					{ "tid", NULL, (uint32_t)e->tid } };
	packets_begin(w->out, at_ns, lane->track, name, notes, 2);
	lane->busy = true;
	lane->tid = e->tid;
	lane->bytes = e->b;
	lane->write = write;
	lane->order = w->requests++;
}

/* The oldest request that this may be the end of: of the same size, or else of the same thread. */
static struct lane *find_request(struct writer *w, const struct trace_event *e)
{
	struct lane *best = NULL;
	int best_rank = 0;
	for (size_t i = 0; i < w->lanes.count; i++) {
		struct lane *lane = &w->lanes.items[i];
		if (!lane->busy || lane->device != e->a)
			continue;
		int rank = 4 * (lane->tid == e->tid) + 2 * (lane->bytes == e->b) +
			   (lane->write == !!(e->flags & TRACE_IS_WRITE));
		if (rank < 3)
			continue;
		if (rank > best_rank || (rank == best_rank && lane->order < best->order)) {
			best = lane;
			best_rank = rank;
		}
	}
	return best;
}

/* -- the whole */

static uint64_t time_of(const struct trace_event *e)
{
	return e->at_ns > INT64_MAX ? INT64_MAX : e->at_ns;
}

static void put_event(struct writer *w, const struct trace_event *e)
{
	static void (*const put[])(struct writer *, const struct trace_event *, uint64_t) = {
		[TRACE_SWITCH] = put_switch,	   [TRACE_WAKEUP] = put_wakeup,
		[TRACE_BEGIN] = put_begin,	   [TRACE_ENTER] = put_enter,
		[TRACE_LEAVE] = put_leave,	   [TRACE_IO_START] = put_io_start,
		[TRACE_WORK_BEGIN] = put_work,	   [TRACE_NMI] = put_nmi,
		[TRACE_DETOUR_BEGIN] = put_detour,
	};
	uint64_t at_ns = time_of(e);
	if (e->kind < sizeof put / sizeof *put && put[e->kind]) {
		put[e->kind](w, e, at_ns);
		return;
	}
	struct life *life;
	struct lane *lane;
	char words[NAME_SIZE + 64];
	switch (e->kind) {
	case TRACE_END:
	case TRACE_RENAME:
		life = life_of(w, e->tid);
		declare(w, life, at_ns);
		if (life && e->kind == TRACE_END) {
			set_state(w, life, NO_STATE, at_ns);
			life->ended = true;
		} else if (life) {
			rename_life(life->name, e->comm);
			snprintf(words, sizeof words, "called %s from here", life->name);
			if (life->track)
				packets_instant(w->out, at_ns, life->track, words, NULL, 0);
		}
		break;
	case TRACE_MIGRATE:
		life = life_of(w, e->tid);
		snprintf(words, sizeof words, "to CPU %" PRIu32, e->a);
		if (life && life->track && !life->ended)
			packets_instant(w->out, at_ns, life->track, words, NULL, 0);
		break;
	case TRACE_SPEED:
		snprintf(words, sizeof words,
			 "speed: ports %.0f ns, turns %.0f ns, chain %.0f ns, loads %.0f ns",
			 e->a / 10.0, e->tgid / 10.0, e->tid / 10.0, e->b / 10.0);
		packets_instant(w->out, at_ns, cpu_track(w, e->cpu), words, NULL, 0);
		break;
	case TRACE_FAULT:
		packets_instant(w->out, at_ns, cpu_track(w, e->cpu), "page fault", NULL, 0);
		break;
	case TRACE_WORK_END:
		life = worker_of(w, e);
		if (life)
			end_work(w, life, at_ns);
		break;
	case TRACE_DETOUR_END:
		end_detour(w, &w->cpus.items[e->cpu], at_ns);
		break;
	case TRACE_IO_DONE:
		lane = find_request(w, e);
		if (lane) { /* else it began before the trace, or its begin was lost */
			packets_end(w->out, at_ns, lane->track);
			lane->busy = false;
		}
		break;
	default:
		break;
	}
}

static void put_title(struct writer *w, const struct perfetto_title *title, const struct trace *t)
{
	char name[TITLE_SIZE], shown[TITLE_SIZE / 2];
	const char *words[LEDGER_CAUSES];
	uint64_t begin_ns = title->begin_ns;
	for (size_t i = 0; !begin_ns && i < t->events.count; i++)
		if (t->events.items[i].kind == TRACE_BEGIN)
			begin_ns = time_of(&t->events.items[i]);
	if (!begin_ns || begin_ns > INT64_MAX)
		begin_ns = w->start_ns;
	for (int i = 0; i < LEDGER_CAUSES; i++)
		words[i] = ledger_causes[i].name;
	packets_start(w->out, begin_ns, title->started_at_ns, words, LEDGER_CAUSES);
	text_display(title->run, shown, sizeof shown);
	snprintf(name, sizeof name, "tare: %s, %s", shown, title->execution);
	w->title = ++w->tracks;
	packets_track(w->out, w->title, 0, name, 0);
	if (title->end_ns > begin_ns && title->end_ns <= INT64_MAX) {
		packets_begin(w->out, begin_ns, w->title, title->execution, NULL, 0);
		packets_end(w->out, title->end_ns, w->title);
	}
	packets_instant(w->out, begin_ns, w->title,
			title->begin ? title->begin : "begin of the execution", NULL, 0);
	if (t->lost) {
		struct packets_note note = { "lost", NULL, t->lost };
		snprintf(name, sizeof name, "%" PRIu64 " events lost: this trace has gaps",
			 t->lost);
		packets_instant(w->out, w->start_ns, w->title, name, &note, 1);
	}
}

/* Who had each CPU when the trace began: whoever left it first. */
static void put_first(struct writer *w)
{
	for (size_t i = 0; i < w->cpus.count; i++) {
		int32_t tid = w->cpus.items[i].running;
		struct life *life = life_of(w, tid);
		w->cpus.items[i].running = 0;
		if (!life || life->cpu != NOWHERE)
			continue;
		declare(w, life, w->start_ns);
		hand_over(w, (uint32_t)i, tid, STATE_RUNNABLE, w->start_ns);
	}
}

static bool in_order(const struct trace *t)
{
	for (size_t i = 1; i < t->events.count; i++)
		if (t->events.items[i - 1].at_ns > t->events.items[i].at_ns)
			return false;
	return true;
}

static void render(const struct trace *t, const struct perfetto_title *title, struct strbuf *out)
{
	const struct trace_event *events = t->events.items;
	size_t count = t->events.count;
	struct writer w = { .out = out, .named = title, .tracks = TRACKS };
	w.start_ns = count ? time_of(&events[0]) : title->begin_ns;
	w.end_ns = count ? time_of(&events[count - 1]) : title->begin_ns;
	trace_names_of(t, &w.names);
	add_life(&w, 0); /* nobody's */
	for (size_t i = 0; i < count; i++)
		survey(&w, &events[i]);
	for (size_t i = 0; i < w.lives.count; i++) {
		struct life *life = &w.lives.items[i];
		life->begun = life->ended = false;
		memcpy(life->name, life->first, sizeof life->name);
	}
	for (size_t i = 0; w.slots && i <= w.slot_mask; i++)
		w.slots[i].current = w.slots[i].first;
	put_title(&w, title, t);
	put_first(&w);
	for (size_t i = 0; i < count; i++)
		put_event(&w, &events[i]);
	for (size_t i = 0; i < w.lives.count; i++) {
		set_state(&w, &w.lives.items[i], NO_STATE, w.end_ns);
		end_work(&w, &w.lives.items[i], w.end_ns);
	}
	for (size_t i = 0; i < w.lanes.count; i++)
		if (w.lanes.items[i].busy)
			packets_end(w.out, w.end_ns, w.lanes.items[i].track);
	for (size_t i = 0; i < w.cpus.count; i++) {
		struct cpu *cpu = &w.cpus.items[i];
		unwind(&w, cpu, 0, w.end_ns);
		end_detour(&w, cpu, w.end_ns);
		if (cpu->running)
			hand_over(&w, (uint32_t)i, 0, STATE_RUNNABLE, w.end_ns);
		packets_cpu(w.out, (uint32_t)i, &cpu->events);
		strbuf_release(&cpu->events);
	}
	array_release(&w.lives);
	array_release(&w.cpus);
	array_release(&w.lanes);
	free(w.slots);
	trace_names_release(&w.names);
}

void perfetto_render(const struct trace *t, const struct perfetto_title *title, struct strbuf *out)
{
	if (in_order(t)) {
		render(t, title, out);
		return;
	}
	struct trace sorted = { .lost = t->lost, .names = t->names };
	for (size_t i = 0; i < t->events.count; i++)
		array_push(&sorted.events, t->events.items[i]);
	trace_sort(&sorted);
	render(&sorted, title, out);
	array_release(&sorted.events);
}
