/* Who had each CPU during an execution, and what the subject's threads waited for, from its trace.
 */
#include <stdlib.h>
#include <string.h>

#include "report/export/trace_names.h"
#include "report/page/time_parts.h"

#define DEEPEST 16 /* interrupts within each other */
#define NAME_SIZE 17
#define NO_WAIT LEDGER_CAUSES
#define NO_THREAD SIZE_MAX

/* As web/src/types.ts numbers them. */
enum slice_kind {
	SLICE_SUBJECT,
	SLICE_OTHER,
	SLICE_SELF,
	SLICE_KERNEL,
	SLICE_IRQ,
	SLICE_SOFTIRQ,
	SLICE_NMI,
};

/* A turn on a CPU, an interrupt, or a wait of a thread. */
struct span {
	uint64_t at_ns, ns; /* at: since the execution's begin */
	uint32_t cpu;
	enum slice_kind kind;
	uint32_t cause, source; /* of an interrupt; cause: of a wait */
	size_t thread;		/* of a wait */
	char name[NAME_SIZE];	/* of a task */
	size_t order;		/* of those that are alike otherwise */
};
typedef ARRAY(struct span) span_list;

struct thread {
	int32_t tid;
	char name[NAME_SIZE]; /* its last */
};

/* A tid: who it is, and what it does just now. */
struct actor {
	int32_t tid;
	unsigned flags;
	char name[NAME_SIZE];
	size_t thread; /* of the subject's; NO_THREAD: not met yet */
	bool running;
	unsigned wait; /* enum ledger_cause or NO_WAIT */
	uint64_t since_ns;
};

struct open_interrupt {
	uint32_t cause, source;
	uint64_t since_ns;
};

struct cpu {
	bool switched;
	int32_t running; /* tid; 0: idle */
	uint64_t since_ns;
	struct open_interrupt stack[DEEPEST];
	size_t depth;
};

struct reader {
	uint64_t begin_ns, end_ns;  /* of the execution */
	ARRAY(struct actor) actors; /* by tid */
	ARRAY(struct cpu) cpus;
	span_list slices, waits;
	ARRAY(struct thread) threads;
};

/* ---- who there is ---- */

static int by_tid(const void *a, const void *b)
{
	const struct actor *x = a, *y = b;
	return ORDER(x->tid, y->tid);
}

static struct actor *actor_of(struct reader *r, int32_t tid)
{
	struct actor key = { .tid = tid };
	return tid && r->actors.count
		       ? bsearch(&key, r->actors.items, r->actors.count, sizeof key, by_tid)
		       : NULL;
}

static void set_name(char *name, const char *comm)
{
	if (*comm)
		memcpy(name, comm, NAME_SIZE - 1);
}

static void find_actors(struct reader *r, const struct trace *t)
{
	size_t kept = 0;
	array_each(e, &t->events) {
		const struct actor blank = { .thread = NO_THREAD, .wait = NO_WAIT };
		while (r->cpus.count <= e->cpu)
			array_push(&r->cpus, (struct cpu){ 0 });
		if (!trace_names_thread(e))
			continue;
		array_push(&r->actors, blank);
		r->actors.items[r->actors.count - 1].tid = e->tid;
		if (e->kind != TRACE_SWITCH)
			continue;
		array_push(&r->actors, blank);
		r->actors.items[r->actors.count - 1].tid = (int32_t)e->a;
	}
	array_sort(&r->actors, by_tid);
	for (size_t i = 0; i < r->actors.count; i++)
		if (!i || r->actors.items[i].tid != r->actors.items[kept - 1].tid)
			r->actors.items[kept++] = r->actors.items[i];
	r->actors.count = kept;
}

/* First walk: what each was called first, and who had each CPU when the trace began: whoever left
 * it first. */
static void survey(struct reader *r, const struct trace_event *e)
{
	struct actor *actor = trace_names_thread(e) ? actor_of(r, e->tid) : NULL;
	if (actor) {
		actor->flags |= e->flags &
				(unsigned)(TRACE_IS_SUBJECT | TRACE_IS_SELF | TRACE_IS_KERNEL);
		if (e->kind == TRACE_BEGIN || e->kind == TRACE_WAKEUP)
			actor->flags |= TRACE_IS_SUBJECT;
		if (!*actor->name)
			set_name(actor->name, e->comm);
	}
	if (e->kind != TRACE_SWITCH)
		return;
	struct actor *leaver = actor_of(r, (int32_t)e->a);
	struct cpu *cpu = &r->cpus.items[e->cpu];
	if (leaver && e->flags & TRACE_LEAVER_SUBJECT)
		leaver->flags |= TRACE_IS_SUBJECT;
	if (!cpu->switched)
		cpu->running = (int32_t)e->a;
	cpu->switched = true;
}

/* ---- slices and waits ---- */

/* The part of it within the execution; false: there is none. */
static bool clip(const struct reader *r, uint64_t from_ns, uint64_t to_ns, uint64_t *at_ns,
		 uint64_t *ns)
{
	if (from_ns < r->begin_ns)
		from_ns = r->begin_ns;
	if (to_ns > r->end_ns)
		to_ns = r->end_ns;
	if (to_ns <= from_ns)
		return false;
	*at_ns = from_ns - r->begin_ns;
	*ns = to_ns - from_ns;
	return true;
}

/* From here on it waits for `cause`, or for nothing. */
static void set_wait(struct reader *r, struct actor *a, unsigned cause, uint64_t at_ns)
{
	struct span w = { .cause = a->wait };
	if (!(a->flags & TRACE_IS_SUBJECT))
		return;
	if (a->wait != NO_WAIT && clip(r, a->since_ns, at_ns, &w.at_ns, &w.ns)) {
		if (a->thread == NO_THREAD) {
			a->thread = r->threads.count;
			array_push(&r->threads, (struct thread){ .tid = a->tid });
		}
		memcpy(r->threads.items[a->thread].name, a->name, NAME_SIZE);
		w.thread = a->thread;
		array_push(&r->waits, w);
	}
	a->wait = cause;
	a->since_ns = at_ns;
}

static void end_turn(struct reader *r, uint32_t number, uint64_t at_ns)
{
	struct cpu *cpu = &r->cpus.items[number];
	struct actor *a = actor_of(r, cpu->running);
	struct span s = { .cpu = number };
	if (!a)
		return;
	a->running = false;
	s.kind = a->flags & TRACE_IS_SUBJECT  ? SLICE_SUBJECT
		 : a->flags & TRACE_IS_SELF   ? SLICE_SELF
		 : a->flags & TRACE_IS_KERNEL ? SLICE_KERNEL
					      : SLICE_OTHER;
	memcpy(s.name, a->name, sizeof s.name);
	if (clip(r, cpu->since_ns, at_ns, &s.at_ns, &s.ns))
		array_push(&r->slices, s);
}

/* The innermost interrupts end, until `depth` are left. */
static void unwind(struct reader *r, uint32_t number, size_t depth, uint64_t at_ns)
{
	struct cpu *cpu = &r->cpus.items[number];
	while (cpu->depth > depth) {
		const struct open_interrupt *i = &cpu->stack[--cpu->depth];
		struct span s = { .cpu = number, .cause = i->cause, .source = i->source };
		s.kind = i->cause == LEDGER_SOFTIRQ ? SLICE_SOFTIRQ
			 : i->cause == LEDGER_NMI   ? SLICE_NMI
						    : SLICE_IRQ;
		if (clip(r, i->since_ns, at_ns, &s.at_ns, &s.ns))
			array_push(&r->slices, s);
	}
}

static void read_switch(struct reader *r, const struct trace_event *e)
{
	struct cpu *cpu = &r->cpus.items[e->cpu];
	struct actor *leaver = actor_of(r, (int32_t)e->a), *next = actor_of(r, e->tid);
	unwind(r, e->cpu, 0, e->at_ns); /* none lasts across a switch: their ends were lost */
	end_turn(r, e->cpu, e->at_ns);
	if (leaver && leaver != next) {
		bool known = e->b < LEDGER_CAUSES && !ledger_on_cpu((enum ledger_cause)e->b);
		leaver->running = false;
		set_wait(r, leaver,
			 e->b == TRACE_ENDED ? NO_WAIT
			 : known	     ? e->b
					     : LEDGER_UNSEEN,
			 e->at_ns);
	}
	cpu->running = e->tid;
	cpu->since_ns = e->at_ns;
	if (!next)
		return;
	set_name(next->name, e->comm);
	set_wait(r, next, NO_WAIT, e->at_ns);
	next->running = true;
}

static void read_interrupt(struct reader *r, const struct trace_event *e)
{
	struct cpu *cpu = &r->cpus.items[e->cpu];
	size_t i = cpu->depth;
	if (e->kind == TRACE_ENTER) {
		if (cpu->depth == DEEPEST) /* the ends of some were lost */
			unwind(r, e->cpu, 0, e->at_ns);
		cpu->stack[cpu->depth++] = (struct open_interrupt){ e->a, e->b, e->at_ns };
		return;
	}
	while (i && (cpu->stack[i - 1].cause != e->a || cpu->stack[i - 1].source != e->b))
		i--;
	if (i) /* else it began before the trace */
		unwind(r, e->cpu, i - 1, e->at_ns);
}

static void read_event(struct reader *r, const struct trace_event *e)
{
	struct actor *a = actor_of(r, e->tid);
	switch (e->kind) {
	case TRACE_SWITCH:
		read_switch(r, e);
		break;
	case TRACE_WAKEUP:
		if (a && !a->running && (a->wait >= LEDGER_IO || a->wait == NO_WAIT))
			set_wait(r, a, LEDGER_QUEUED, e->at_ns);
		break;
	case TRACE_BEGIN:
	case TRACE_END:
	case TRACE_RENAME:
		if (!a)
			break;
		set_name(a->name, e->comm);
		if (e->kind == TRACE_RENAME)
			break;
		/* a tid may be given again: then it is another thread */
		set_wait(r, a, NO_WAIT, e->at_ns);
		if (e->kind == TRACE_BEGIN) {
			a->thread = NO_THREAD;
			set_wait(r, a, a->running ? NO_WAIT : LEDGER_QUEUED, e->at_ns);
		}
		break;
	case TRACE_ENTER:
	case TRACE_LEAVE:
		read_interrupt(r, e);
		break;
	default:
		break;
	}
}

static void read_events(struct reader *r, const struct trace *t)
{
	find_actors(r, t);
	for (size_t i = 0; i < t->events.count; i++)
		survey(r, &t->events.items[i]);
	for (size_t i = 0; i < r->cpus.count; i++) {
		struct actor *a = actor_of(r, r->cpus.items[i].running);
		r->cpus.items[i].since_ns = t->events.items[0].at_ns;
		if (a)
			a->running = true;
	}
	for (size_t i = 0; i < t->events.count; i++)
		read_event(r, &t->events.items[i]);
	uint64_t last_ns = t->events.count ? t->events.items[t->events.count - 1].at_ns : 0;
	for (uint32_t i = 0; i < r->cpus.count; i++) {
		unwind(r, i, 0, last_ns);
		end_turn(r, i, last_ns);
	}
	for (size_t i = 0; i < r->actors.count; i++)
		set_wait(r, &r->actors.items[i], NO_WAIT, last_ns);
}

/* ---- what is shown ---- */

/* By begin; of those that begin at once, what is interrupted comes first. */
static int by_begin(const void *a, const void *b)
{
	const struct span *x = a, *y = b;
	return ORDER(x->at_ns, y->at_ns) ?: ORDER(y->ns, x->ns) ?: ORDER(x->kind, y->kind) ?:
	       ORDER(x->order, y->order);
}

/* The longest first; of those of one length, in the order that they have. */
static int by_length(const void *a, const void *b)
{
	const struct span *x = a, *y = b;
	return ORDER(y->ns, x->ns) ?: ORDER(x->order, y->order);
}

/* Leaves the `most` longest, by begin; gives how many went. */
static size_t cut(span_list *list, size_t most)
{
	size_t had = list->count;
	for (size_t i = 0; i < had; i++)
		list->items[i].order = i;
	if (had > most) {
		qsort(list->items, had, sizeof *list->items, by_length);
		list->count = most;
	}
	array_sort(list, by_begin);
	return had - list->count;
}

/* The CPUs that have one, and who had them. */
static void put_slices(struct time_section *t, const struct reader *r,
		       const struct trace_names *names, json_t *o)
{
	int *index = xcalloc(r->cpus.count + 1, sizeof *index), cpus = 0;
	for (size_t i = 0; i < r->slices.count; i++)
		index[r->slices.items[i].cpu] = 1;
	for (size_t i = 0; i < r->cpus.count; i++) {
		if (!index[i])
			continue;
		index[i] = cpus++;
		json_append(o, "cpus", json_count(i));
	}
	for (size_t i = 0; i < r->slices.count; i++) {
		const struct span *s = &r->slices.items[i];
		char name[64];
		if (s->kind >= SLICE_IRQ)
			trace_source(names, s->cause, s->source, name, sizeof name);
		json_append(o, "slices",
			    json_pack("[i, I, I, i, o]", index[s->cpu], (json_int_t)s->at_ns,
				      (json_int_t)s->ns, (int)s->kind,
				      section_name(t, s->kind >= SLICE_IRQ ? name : s->name)));
	}
	xfree(index);
}

json_t *page_trace(struct time_section *t, const struct execution *x, struct trace *trace,
		   size_t most)
{
	struct reader r = { 0 };
	struct trace_names names;
	json_t *o = json_shape(&trace_shape, x);
	trace_sort(trace);
	trace_names_of(trace, &names);
	r.begin_ns = trace->events.count ? trace->events.items[0].at_ns : 0;
	for (size_t i = trace->events.count; i-- > 0;)
		if (trace->events.items[i].kind == TRACE_BEGIN)
			r.begin_ns = trace->events.items[i].at_ns;
	if (x->ledger.present)
		r.begin_ns = x->ledger.begin_ns;
	r.end_ns = r.begin_ns + x->et_ns;
	if (trace->events.count)
		read_events(&r, trace);
	json_set_count(o, "cut", cut(&r.slices, most) + cut(&r.waits, most));
	size_t shown = r.slices.count > r.waits.count ? r.slices.count : r.waits.count;
	t->slices_left -= shown < t->slices_left ? shown : t->slices_left;
	put_slices(t, &r, &names, o);
	array_each(w, &r.waits)
		json_append(o, "waits",
			    json_pack("[I, I, I, o]", (json_int_t)w->thread, (json_int_t)w->at_ns,
				      (json_int_t)w->ns,
				      section_name(t, ledger_causes[w->cause].name)));
	for (size_t i = 0; i < r.threads.count; i++)
		json_append(o, "threads",
			    json_pack("[o, i]", section_name(t, r.threads.items[i].name),
				      (int)r.threads.items[i].tid));
	trace_names_release(&names);
	array_release(&r.actors);
	array_release(&r.cpus);
	array_release(&r.slices);
	array_release(&r.waits);
	array_release(&r.threads);
	return o;
}
