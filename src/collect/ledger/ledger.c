#include "collect/ledger/ledger.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "collect/backend/kernel.h"
#include "collect/bpf/ledger.h"
#include "collect/ledger/names.h"
#include "ledger.skel.h"
#include "ledger_raw.skel.h"
#include "record/task.h"

#define LINKS 64	      /* more than there are programs */
#define TRACE_MOST (8u << 20) /* events of one execution: 400 MB */
#define STREAM_BYTES (64u << 20)

struct resolved {
	uint32_t key;
	char name[LEDGER_NAME_SIZE];
	int32_t pid;
};

struct begun {
	uint64_t begin_ns;
	uint32_t slot;
};

struct mapping {
	void *data;
	size_t size;
};

struct ledger_keeper {
	struct ledger_bpf *skel;	 /* one of these two */
	struct ledger_raw_bpf *raw_skel; /* is not NULL */
	struct bpf_object *object;
	struct bpf_link *links[LINKS];
	size_t link_count;
	struct ledger_control *control;
	struct mapping mappings[4];
	struct ledger_cpu *cpus;
	struct ledger_slot *slots;
	struct ledger_outsider *others;
	struct ledger_device *devices;
	int cpu_count, tasks_map, spills_map, crowd_map, free_slots, free_others, stream;
	bool trace, armed, hands_on;
	uint64_t stopped_ns;
	uint64_t overflow; /* events beyond TRACE_MOST */
	double event_ns[LEDGER_EVENTS];
	char not_seen[256];
	bool not_net;
	ARRAY(struct trace_event) events;
	ARRAY(struct resolved) resolved;
	ARRAY(struct begun) order; /* of the threads */
};

/* ---- loading ---- */

/* Tracepoints without which there is no ledger. */
static bool is_essential(const char *tracepoint)
{
	static const char *const list[] = { "sched_switch", "sched_waking", "sched_wakeup_new",
					    "task_rename" };
	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		if (strcmp(tracepoint, list[i]) == 0)
			return true;
	return false;
}

struct lack {
	const char *tracepoint, *what;
	bool net; /* without it the time a thread ran is not net of everything else */
};

/* What is not seen without a tracepoint; the rest is of no weight, or only other machines have it.
 */
static const struct lack lacks[] = {
	{ "irq_handler_entry", "interrupts of devices", true },
	{ "irq_handler_exit", "interrupts of devices", true },
	{ "softirq_entry", "soft interrupts", true },
	{ "softirq_exit", "soft interrupts", true },
#if defined(__x86_64__)
	{ "local_timer_entry", "interrupts of the timer", true },
	{ "local_timer_exit", "interrupts of the timer", true },
	{ "reschedule_entry", "interrupts between CPUs", true },
	{ "reschedule_exit", "interrupts between CPUs", true },
	{ "nmi_handler", "non-maskable interrupts", true },
#endif
	{ "block_io_start", "which requests a device served", false },
	{ "block_io_done", "which requests a device served", false },
	{ "sched_migrate_task", "moves between CPUs", false },
};

static void note_unseen(struct ledger_keeper *k, const char *what, bool net)
{
	size_t used = strlen(k->not_seen);
	k->not_net |= net;
	if (!strstr(k->not_seen, what))
		snprintf(k->not_seen + used, sizeof k->not_seen - used, "%s%s", used ? ", " : "",
			 what);
}

static void note_lack(struct ledger_keeper *k, const char *tracepoint)
{
	for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++)
		if (strcmp(tracepoint, lacks[i].tracepoint) == 0)
			note_unseen(k, lacks[i].what, lacks[i].net);
}

static struct bpf_map *map_of(const struct ledger_keeper *k, const char *name)
{
	return bpf_object__find_map_by_name(k->object, name);
}

#define FILL_RODATA(data, k, known, from_rq)                               \
	do {                                                               \
		(data)->self_tgid = getpid();                              \
		(data)->steal_known = known;                               \
		(data)->steal_from_rq = from_rq;                           \
		(data)->tracing = (k)->trace;                              \
		(data)->hands_on = (k)->hands_on;                          \
		(data)->ring_half = STREAM_BYTES / 2;                      \
		call_classes((uint8_t *)(data)->call_class, LEDGER_CALLS); \
	} while (0)

static int open_object(struct ledger_keeper *k, bool raw, bool steal, int64_t from_rq)
{
	if (raw) {
		k->raw_skel = ledger_raw_bpf__open();
		if (!k->raw_skel)
			return -1;
		FILL_RODATA(k->raw_skel->rodata, k, steal, from_rq);
		k->object = k->raw_skel->obj;
	} else {
		k->skel = ledger_bpf__open();
		if (!k->skel)
			return -1;
		FILL_RODATA(k->skel->rodata, k, steal, from_rq);
		k->object = k->skel->obj;
	}
	return 0;
}

/* Run when tare wants it, not attached to a tracepoint. */
static bool is_visitor(const struct bpf_program *p)
{
	return bpf_program__expected_attach_type(p) == BPF_TRACE_ITER;
}

static int choose_programs(struct ledger_keeper *k, const struct btf *btf, struct error *err)
{
	struct bpf_program *p;
	bpf_object__for_each_program(p, k->object)
	{
		const char *tracepoint = program_tracepoint(p);
		if (is_visitor(p) || kernel_has_pair(btf, tracepoint))
			continue;
		if (is_essential(tracepoint))
			return error_set(err, EXIT_ENVIRONMENT, "this kernel has no tracepoint %s",
					 tracepoint);
		bpf_program__set_autoload(p, false);
		note_lack(k, tracepoint);
	}
	return 0;
}

/* Values of an array are padded to 8 bytes, which all of ours are already. */
static void *map_memory(struct ledger_keeper *k, int index, const char *name, size_t bytes)
{
	struct mapping *m = &k->mappings[index];
	m->data = kernel_map_memory(map_of(k, name), bytes, false, &m->size);
	return m->data;
}

static int load(struct ledger_keeper *k, int members, struct error *err)
{
	k->cpu_count = libbpf_num_possible_cpus();
	bpf_map__set_max_entries(map_of(k, "cpus"), (uint32_t)k->cpu_count);
	if (k->trace)
		bpf_map__set_max_entries(map_of(k, "stream"), STREAM_BYTES);
	bpf_map__reuse_fd(map_of(k, "members"), members);
	int failed = k->skel ? ledger_bpf__load(k->skel) : ledger_raw_bpf__load(k->raw_skel);
	if (failed)
		return error_set(err, EXIT_ENVIRONMENT,
				 "the kernel refused the programs of the ledger: %s",
				 kernel_refusal(-failed));
	k->cpus = map_memory(k, 0, "cpus", sizeof *k->cpus * (size_t)k->cpu_count);
	k->slots = map_memory(k, 1, "slots", sizeof *k->slots * LEDGER_SLOTS);
	k->others = map_memory(k, 2, "others", sizeof *k->others * LEDGER_OTHERS);
	k->devices = map_memory(k, 3, "devices", sizeof *k->devices * LEDGER_DEVICES);
	if (!k->cpus || !k->slots || !k->others || !k->devices)
		return error_errno(err, EXIT_ENVIRONMENT, "cannot map the ledger");
	k->tasks_map = bpf_map__fd(map_of(k, "tasks"));
	k->spills_map = bpf_map__fd(map_of(k, "spills"));
	k->crowd_map = bpf_map__fd(map_of(k, "crowd"));
	k->free_slots = bpf_map__fd(map_of(k, "free_slots"));
	k->free_others = bpf_map__fd(map_of(k, "free_others"));
	k->stream = k->trace ? bpf_map__fd(map_of(k, "stream")) : -1;
	return 0;
}

/* All but the loading: what the kernel has, and the programs for that. */
static int prepare(struct ledger_keeper *k, enum ledger_attach how, struct error *err)
{
	SCOPED(kernel_btf_release) struct btf *btf = btf__load_vmlinux_btf();
	int64_t from_rq = 0;
	bool steal = btf && kernel_steal(btf, &from_rq);
	bool raw = how == LEDGER_ATTACH_RAW || !btf ||
		   btf__find_by_name_kind(btf, "btf_trace_sched_switch", BTF_KIND_TYPEDEF) < 0;
#if defined(__x86_64__)
	k->hands_on = !raw; /* others learnt later to have both calls and hand-overs */
#endif
	if (open_object(k, raw, steal, from_rq))
		return error_errno(err, EXIT_ENVIRONMENT, "cannot open the programs of the ledger");
	if (!steal && kernel_is_guest())
		note_unseen(k, "time stolen by the hypervisor", true);
	/* the BTF of a kernel that needs raw tracepoints does not tell which it has */
	return raw ? 0 : choose_programs(k, btf, err);
}

/* The one that ledger_keeper_expect() began. */
static struct {
	pthread_t thread;
	struct ledger_keeper *k; /* NULL: none */
	enum ledger_attach how;
	int members, failed;
	struct error err;
} expected;

static void *load_expected(void *unused)
{
	expected.failed = prepare(expected.k, expected.how, &expected.err) ||
			  load(expected.k, expected.members, &expected.err);
	return unused;
}

void ledger_keeper_expect(int members, bool trace, enum ledger_attach how)
{
	ledger_keeper_expect_no_more();
	expected.k = xcalloc(1, sizeof *expected.k);
	expected.k->trace = trace;
	expected.how = how;
	expected.members = members;
	if (pthread_create(&expected.thread, NULL, load_expected, NULL)) {
		free(expected.k);
		expected.k = NULL;
	}
}

void ledger_keeper_expect_no_more(void)
{
	if (!expected.k)
		return;
	pthread_join(expected.thread, NULL);
	ledger_keeper_close(expected.k);
	expected.k = NULL;
}

int ledger_keeper_open(struct ledger_keeper **out, int members, bool trace, enum ledger_attach how,
		       struct error *err)
{
	struct ledger_keeper *k = expected.k;
	int failed;
	if (k && k->trace == trace && expected.how == how) {
		pthread_join(expected.thread, NULL);
		expected.k = NULL;
		failed = expected.failed;
		*err = failed ? expected.err : *err;
	} else {
		k = xcalloc(1, sizeof *k);
		k->trace = trace;
		failed = prepare(k, how, err) || load(k, members, err);
	}
	if (failed) {
		ledger_keeper_close(k);
		return -1;
	}
	k->control = k->raw_skel ? &k->raw_skel->bss->control : &k->skel->bss->control;
	*out = k;
	return 0;
}

int ledger_keeper_attach(struct ledger_keeper *k, int ends, struct bpf_link **link,
			 struct error *err)
{
	struct bpf_program *p = bpf_object__find_program_by_name(k->object, "ledger_edge");
	uint32_t first = 0;
	int edge = bpf_program__fd(p);
	if (edge < 0 ||
	    bpf_map_update_elem(bpf_map__fd(map_of(k, "edges")), &first, &edge, BPF_ANY))
		for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++)
			if (lacks[i].net)
				note_unseen(k, lacks[i].what, true);
	bpf_object__for_each_program(p, k->object)
	{
		/* the program that those of interrupts hand on to is not attached itself */
		if (!bpf_program__autoload(p) || k->link_count == LINKS || is_visitor(p) ||
		    strcmp(bpf_program__name(p), "ledger_edge") == 0)
			continue;
		struct bpf_link *made = bpf_program__attach(p);
		if (made) {
			k->links[k->link_count++] = made;
		} else if (is_essential(program_tracepoint(p))) {
			return error_errno(err, EXIT_ENVIRONMENT, "cannot attach the ledger to %s",
					   program_tracepoint(p));
		} else {
			note_lack(k, program_tracepoint(p));
		}
	}
	/* last, since from here on the ledger's program has to do its work */
	if (k->hands_on &&
	    bpf_map_update_elem(bpf_map__fd(map_of(k, "ends")), &first, &ends, BPF_ANY) == 0) {
		bpf_link__destroy(*link);
		*link = NULL;
	}
	return 0;
}

void ledger_keeper_close(struct ledger_keeper *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->link_count; i++)
		bpf_link__destroy(k->links[i]);
	for (size_t i = 0; i < sizeof k->mappings / sizeof *k->mappings; i++)
		if (k->mappings[i].data)
			munmap(k->mappings[i].data, k->mappings[i].size);
	ledger_bpf__destroy(k->skel);
	ledger_raw_bpf__destroy(k->raw_skel);
	array_release(&k->events);
	array_release(&k->resolved);
	array_release(&k->order);
	free(k);
}

uint32_t *ledger_keeper_active(struct ledger_keeper *k)
{
	return &k->control->active;
}

void ledger_keeper_set_cost(struct ledger_keeper *k, const double event_ns[LEDGER_EVENTS])
{
	memcpy(k->event_ns, event_ns, sizeof k->event_ns);
}

int ledger_keeper_stream(const struct ledger_keeper *k)
{
	return k->stream;
}

int ledger_keeper_on_event(void *keeper, void *data, size_t size)
{
	struct ledger_keeper *k = keeper;
	if (size < sizeof(struct trace_event))
		return 0;
	if (k->events.count < TRACE_MOST)
		array_push(&k->events, *(struct trace_event *)data);
	else
		k->overflow++;
	return 0;
}

/* ---- one execution ---- */

static uint32_t used(uint32_t counter, uint32_t room)
{
	return counter < room - 1 ? counter : room - 1;
}

static void empty_list(int map)
{
	uint32_t index;
	while (bpf_map_lookup_and_delete_elem(map, NULL, &index) == 0)
		;
}

static void forget(struct ledger_keeper *k)
{
	struct ledger_control *c = k->control;
	if (c->slots_used > LEDGER_SLOTS / 2)
		empty_list(k->free_slots);
	if (c->others_used > LEDGER_OTHERS / 2)
		empty_list(k->free_others);
	if (c->spilled)
		kernel_empty_map(k->spills_map);
	if (c->crowded)
		kernel_empty_map(k->crowd_map);
	/* tasks that ended between executions were not seen to end */
	int32_t tasks = c->tasks;
	if (tasks > LEDGER_TASKS_MAX / 2) {
		kernel_empty_map(k->tasks_map);
		tasks = 0;
	}
	uint32_t generation = c->generation;
	*c = (struct ledger_control){ .generation = generation + 1,
				      .tasks = tasks,
				      .clock_ns = c->clock_ns,
				      .clock_at_ns = c->clock_at_ns };
	for (int i = 0; i < k->cpu_count; i++) {
		struct ledger_cpu *cpu = &k->cpus[i];
		if (generation && cpu->generation != generation)
			continue;
		memset(cpu->events, 0, sizeof cpu->events);
		cpu->subject_events = 0;
		memset(cpu->alone_ns, 0, sizeof cpu->alone_ns);
		memset(cpu->sources, 0, sizeof cpu->sources);
	}
	memset(k->devices, 0, LEDGER_DEVICES * sizeof *k->devices);
	k->events.count = 0;
	k->overflow = 0;
	k->resolved.count = 0;
}

void ledger_keeper_arm(struct ledger_keeper *k)
{
	forget(k);
	k->control->armed_ns = clock_monotonic_ns();
	k->armed = true;
	__atomic_store_n(&k->control->active, 1, __ATOMIC_SEQ_CST);
}

int ledger_keeper_arm_running(struct ledger_keeper *k, pid_t thread, pid_t process,
			      struct error *err)
{
	const struct bpf_program *p = bpf_object__find_program_by_name(k->object, "ledger_enlist");
	forget(k);
	k->control->enlisted_tid = thread;
	k->control->enlisted_tgid = process;
	if (kernel_visit_tasks(p, thread, process) != 0)
		return error_errno(err, EXIT_ENVIRONMENT, "cannot begin the ledger");
	if ((thread || process) && !k->control->slots_used)
		return error_set(err, EXIT_SUBJECT, "thread %d is gone",
				 (int)(thread ? thread : process));
	/* All enlisted threads begin at the same instant. There is no root to end with. */
	struct ledger_control *c = k->control;
	uint32_t count = used(c->slots_used, LEDGER_SLOTS);
	c->root_slot = LEDGER_SLOTS;
	c->root_tgid = -1;
	c->window = 1;
	k->armed = true;
	uint64_t now = clock_monotonic_ns();
	for (uint32_t i = 1; i <= count; i++)
		k->slots[i].begin_ns = k->slots[i].since_ns = now;
	c->armed_ns = c->begin_ns = c->wall_mark_ns = now;
	__atomic_store_n(&c->active, 1, __ATOMIC_SEQ_CST);
	return 0;
}

void ledger_keeper_stop(struct ledger_keeper *k)
{
	if (!k->armed)
		return;
	__atomic_store_n(&k->control->active, 0, __ATOMIC_SEQ_CST);
	k->stopped_ns = clock_monotonic_ns();
	k->armed = false;
}

/* ---- names ---- */

/* The threads of tare that disturb the subject on purpose have a name of their own. */
static bool is_speed_probe(const struct ledger_outsider *o)
{
	return o->tgid == getpid() && strncmp(o->comm, "tare-speed/", 11) == 0;
}

static const struct resolved *resolve(struct ledger_keeper *k, uint32_t key)
{
	for (size_t i = 0; i < k->resolved.count; i++)
		if (k->resolved.items[i].key == key)
			return &k->resolved.items[i];
	struct resolved r = { .key = key };
	uint32_t id = key & 0xffffff;
	const struct ledger_outsider *o = &k->others[(id & OCCUPANT_INDEX) % LEDGER_OTHERS];
	char name[17];
	switch (key >> 24) {
	case LEDGER_QUEUED:
		if (id & OCCUPANT_SUBJECT || id == OCCUPANT_UNLISTED) {
			snprintf(r.name, sizeof r.name, "itself");
		} else if (id & OCCUPANT_OTHER) {
			daemon_name(o->comm, name);
			snprintf(r.name, sizeof r.name, "%s",
				 o->tgid != getpid() ? name
				 : is_speed_probe(o) ? "tare (speed probe)"
						     : "tare");
			r.pid = o->tgid;
		} else {
			snprintf(r.name, sizeof r.name, "several");
		}
		break;
	case LEDGER_IRQ:
	case LEDGER_SOFTIRQ:
	case LEDGER_NMI:
		source_name(id, r.name);
		break;
	case LEDGER_IO:
	case LEDGER_IO_IDLE:
	case LEDGER_FAULT:
		if (id && id <= LEDGER_DEVICES)
			device_name(k->devices[id - 1].number, r.name);
		else
			snprintf(r.name, sizeof r.name, "unknown device");
		break;
	default:
		call_name(id, r.name);
	}
	array_push(&k->resolved, r);
	return &k->resolved.items[k->resolved.count - 1];
}

/* ---- from maps to records ---- */

static void add_entry(struct ledger *l, enum ledger_cause cause, const char *name, int32_t pid,
		      uint64_t ns, uint64_t count)
{
	for (size_t i = 0; i < l->entries.count; i++) {
		struct ledger_entry *e = &l->entries.items[i];
		if (e->cause == cause && e->pid == pid && strcmp(e->name, name) == 0) {
			e->ns += ns;
			e->count += count;
			return;
		}
	}
	struct ledger_entry e = { .cause = cause, .pid = pid, .ns = ns, .count = count };
	snprintf(e.name, sizeof e.name, "%.47s", name);
	array_push(&l->entries, e);
}

static void add_key(struct ledger_keeper *k, struct ledger *l, uint32_t key, uint64_t ns,
		    uint64_t count)
{
	const struct resolved *r = resolve(k, key);
	add_entry(l, (enum ledger_cause)(key >> 24), r->name, r->pid, ns, count);
}

/* Up to when the time of a thread that has a CPU is entered. */
static bool last_mark(const struct ledger_keeper *k, uint32_t index, uint64_t *at)
{
	for (int c = 0; c < k->cpu_count; c++)
		if (k->cpus[c].generation == k->control->generation &&
		    k->cpus[c].occupant == (OCCUPANT_SUBJECT | index)) {
			*at = k->cpus[c].mark_ns;
			return true;
		}
	return false;
}

/* What a thread that lives on was about when tare looked. */
static void settle_living(const struct ledger_keeper *k, uint32_t index, struct ledger_thread *t)
{
	const struct ledger_slot *s = &k->slots[index];
	t->alive = true;
	t->end_ns = k->stopped_ns;
	t->account.tick_user_ns = t->account.tick_system_ns = 0;
	uint64_t since = s->since_ns;
	enum ledger_cause state = s->state < LEDGER_CAUSES ? (enum ledger_cause)s->state
							   : LEDGER_UNSEEN;
	/* one that was enlisted on a CPU and has not been met there since had it all along */
	if (state == LEDGER_RUN && !last_mark(k, index, &since) && s->count[LEDGER_RUN]) {
		/* it left its CPU without being seen: what is not accounted for */
		state = LEDGER_UNSEEN;
		since = t->begin_ns + ledger_account_sum(&t->account);
	}
	if (since < t->end_ns)
		t->account.ns[state] += t->end_ns - since;
}

static void take_thread(struct ledger_keeper *k, uint32_t index, struct ledger *l)
{
	const struct ledger_slot *s = &k->slots[index];
	struct ledger_thread t = { .tid = s->tid,
				   .tgid = s->tgid,
				   .start_ns = s->start_ns,
				   .begin_ns = s->begin_ns,
				   .end_ns = s->end_ns };
	daemon_name(s->comm, t.name);
	for (int c = 0; c < LEDGER_CAUSES; c++) {
		t.account.ns[c] = s->ns[c];
		t.account.count[c] = s->count[c];
	}
	t.account.tick_user_ns = s->user_ns;
	t.account.tick_system_ns = s->system_ns;
	t.account.migrations = s->migrations;
	if (!s->end_ns)
		settle_living(k, index, &t);
	for (int i = 0; i < LEDGER_NAMES && s->names[i].key; i++) {
		const struct ledger_name *n = &s->names[i];
		const struct resolved *r = resolve(k, n->key);
		struct ledger_entry d = { .thread = (uint32_t)l->threads.count,
					  .cause = (enum ledger_cause)(n->key >> 24),
					  .pid = r->pid,
					  .ns = n->ns,
					  .count = n->count };
		memcpy(d.name, r->name, sizeof d.name);
		array_push(&l->details, d);
		add_key(k, l, n->key, n->ns, n->count);
	}
	ledger_account_add(&l->subject, &t.account);
	array_push(&l->threads, t);
}

enum speed_turn ledger_keeper_turn(const struct ledger_keeper *k, uint32_t cpu, uint64_t *events)
{
	*events = 0;
	if (cpu >= (uint32_t)k->cpu_count)
		return SPEED_TURN_UNKNOWN;
	const volatile struct ledger_cpu *c = &k->cpus[cpu];
	*events = c->events[LEDGER_SWITCHES] + c->events[LEDGER_INTERRUPTS];
	if (c->generation != k->control->generation || !c->head)
		return SPEED_TURN_UNKNOWN;
	uint32_t before = c->bursts[(c->head - 1) & (LEDGER_BURSTS - 1)].occupant;
	return before == OCCUPANT_UNLISTED || before & OCCUPANT_SUBJECT ? SPEED_TURN_SUBJECT
									: SPEED_TURN_OTHER;
}

static void take_folded(struct ledger_keeper *k, struct ledger *l)
{
	const struct ledger_control *c = k->control;
	struct ledger_account rest = { .tick_user_ns = c->folded_user_ns,
				       .tick_system_ns = c->folded_system_ns,
				       .migrations = c->folded_migrations };
	memcpy(rest.ns, c->folded_ns, sizeof rest.ns);
	memcpy(rest.count, c->folded_count, sizeof rest.count);
	ledger_account_add(&l->subject, &rest);
	l->unlisted = c->folded + c->unseen;
	uint32_t key, *previous = NULL;
	struct {
		uint64_t ns, count;
	} value;
	while (c->spilled && bpf_map_get_next_key(k->spills_map, previous, &key) == 0) {
		if (bpf_map_lookup_elem(k->spills_map, &key, &value) == 0)
			add_key(k, l, key, value.ns, value.count);
		previous = &key;
	}
}

/* Threads of a process come together; those of the crowd have no pid, but a name. */
static struct ledger_other *other_of(struct ledger *l, const struct ledger_outsider *o)
{
	struct ledger_other fresh = { .pid = o->tgid,
				      .self = o->tgid == getpid(),
				      .kernel = o->kernel };
	daemon_name(o->comm, fresh.name);
	if (is_speed_probe(o))
		snprintf(fresh.name, sizeof fresh.name, "tare-speed");
	for (size_t i = 0; i < l->others.count; i++)
		if (l->others.items[i].pid == fresh.pid &&
		    ((fresh.pid && !fresh.self) ||
		     strcmp(l->others.items[i].name, fresh.name) == 0))
			return &l->others.items[i];
	array_push(&l->others, fresh);
	return &l->others.items[l->others.count - 1];
}

static void add_outsider(struct ledger *l, const struct ledger_outsider *o)
{
	if (!o->ns && !o->delayed_ns && !o->io_delayed_ns)
		return;
	struct ledger_other *into = other_of(l, o);
	into->ns += o->ns;
	into->bursts += o->bursts;
	into->delayed_ns += o->delayed_ns;
	into->io_delayed_ns += o->io_delayed_ns;
	if (o->longest_ns > into->longest_ns)
		into->longest_ns = o->longest_ns;
}

static void take_others(struct ledger_keeper *k, struct ledger *l)
{
	uint32_t count = used(k->control->others_used, LEDGER_OTHERS);
	for (uint32_t i = 1; i <= count; i++)
		add_outsider(l, &k->others[i]);
	char key[16], *previous = NULL;
	struct ledger_outsider one;
	while (k->control->crowded && bpf_map_get_next_key(k->crowd_map, previous, key) == 0) {
		if (bpf_map_lookup_elem(k->crowd_map, key, &one) == 0)
			add_outsider(l, &one);
		previous = key;
	}
	/* whoever still had a CPU when tare looked */
	for (int c = 0; c < k->cpu_count; c++) {
		const struct ledger_cpu *cpu = &k->cpus[c];
		if (cpu->generation != k->control->generation || !(cpu->occupant & OCCUPANT_OTHER))
			continue;
		uint64_t begin = cpu->turn_ns > l->begin_ns ? cpu->turn_ns : l->begin_ns;
		if (begin >= l->end_ns)
			continue;
		struct ledger_other *o =
			other_of(l, &k->others[(cpu->occupant & OCCUPANT_INDEX) % LEDGER_OTHERS]);
		o->ns += l->end_ns - begin;
		o->bursts++;
		if (l->end_ns - begin > o->longest_ns)
			o->longest_ns = l->end_ns - begin;
	}
}

/* So that the entries of each cause add up. */
static void name_the_rest(struct ledger *l)
{
	uint64_t named[LEDGER_CAUSES] = { 0 }, counted[LEDGER_CAUSES] = { 0 };
	for (size_t i = 0; i < l->entries.count; i++) {
		named[l->entries.items[i].cause] += l->entries.items[i].ns;
		counted[l->entries.items[i].cause] += l->entries.items[i].count;
	}
	for (int c = 0; c < LEDGER_CAUSES; c++) {
		uint64_t count = l->subject.count[c];
		if (l->subject.ns[c] > named[c])
			add_entry(l, (enum ledger_cause)c, "", 0, l->subject.ns[c] - named[c],
				  count > counted[c] ? count - counted[c] : 0);
	}
}

static void take_interrupts(struct ledger_keeper *k, struct ledger *l)
{
	for (uint32_t s = 0; s < LEDGER_SOURCES; s++) {
		struct ledger_interrupt i = { .cause = s < SOURCE_TIMER	 ? LEDGER_SOFTIRQ
						       : s == SOURCE_NMI ? LEDGER_NMI
									 : LEDGER_IRQ };
		for (int c = 0; c < k->cpu_count; c++) {
			const struct ledger_source *from = &k->cpus[c].sources[s];
			i.count += from->count;
			i.ns += from->ns;
			i.subject_count += from->subject_count;
			i.subject_ns += from->subject_ns;
		}
		if (!i.count)
			continue;
		memcpy(i.name, resolve(k, NAME_KEY(i.cause, s))->name, sizeof i.name);
		array_push(&l->interrupts, i);
	}
}

static void move_share(uint64_t *wall, enum ledger_cause from, enum ledger_cause to, double part,
		       double whole)
{
	if (whole <= 0 || part <= 0)
		return;
	uint64_t ns = (uint64_t)((double)wall[from] * (part < whole ? part / whole : 1));
	wall[from] -= ns;
	wall[to] += ns;
}

static enum ledger_cause state_of_all(const struct ledger_control *c)
{
#define IF_ANY(cause)               \
	if (c->in_state[cause] > 0) \
		return cause;
	IF_ANY(LEDGER_RUN)
	EACH_WAIT(IF_ANY)
#undef IF_ANY
	return LEDGER_UNSEEN;
}

/* The kernel side knows a stretch as blocked; whom the device served is known by the threads'
 * accounts. */
static void take_wall(const struct ledger_keeper *k, struct ledger *l)
{
	const struct ledger_control *c = k->control;
	uint64_t *wall = l->wall_ns;
	memcpy(wall, c->wall_ns, sizeof l->wall_ns);
	/* CPUs that came in another order than their clocks leave a few ns below 0 */
	for (int cause = 0; cause < LEDGER_CAUSES; cause++)
		if (wall[cause] > INT64_MAX)
			wall[cause] = 0;
	if (!c->end_ns && l->end_ns > c->wall_mark_ns) /* it lives on */
		wall[state_of_all(c)] += l->end_ns - c->wall_mark_ns;
	for (int i = 0; i < k->cpu_count; i++)
		for (int cause = LEDGER_IRQ; cause < LEDGER_QUEUED; cause++) {
			uint64_t ns = k->cpus[i].alone_ns[cause];
			if (ns > wall[LEDGER_RUN])
				ns = wall[LEDGER_RUN];
			wall[LEDGER_RUN] -= ns;
			wall[cause] += ns;
		}
	/* make up for a few ns that were lost or counted twice in a race */
	uint64_t sum = 0, life = l->end_ns - l->begin_ns;
	int most = LEDGER_RUN;
	for (int cause = 0; cause < LEDGER_CAUSES; cause++) {
		sum += wall[cause];
		if (wall[cause] > wall[most])
			most = cause;
	}
	if (sum <= life)
		wall[LEDGER_RUN] += life - sum;
	else
		wall[most] -= sum - life < wall[most] ? sum - life : wall[most];
	const uint64_t *all = l->subject.ns;
	double fault_other = (double)c->fault_other_ns;
	double other = (double)all[LEDGER_IO_OTHER] - fault_other;
	double own = (double)all[LEDGER_IO], idle = (double)all[LEDGER_IO_IDLE];
	move_share(wall, LEDGER_IO, LEDGER_IO_OTHER, other, own + other + idle);
	move_share(wall, LEDGER_IO, LEDGER_IO_IDLE, idle, own + idle);
	move_share(wall, LEDGER_FAULT, LEDGER_IO_OTHER, fault_other,
		   (double)all[LEDGER_FAULT] + fault_other);
}

static int by_begin(const void *a, const void *b)
{
	const struct begun *x = a, *y = b;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->slot < y->slot ? -1 : x->slot > y->slot;
}

static int by_entry_ns(const void *a, const void *b)
{
	const struct ledger_entry *x = a, *y = b;
	return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : 0;
}

static int by_delay(const void *a, const void *b)
{
	const struct ledger_other *x = a, *y = b;
	uint64_t dx = x->delayed_ns + x->io_delayed_ns, dy = y->delayed_ns + y->io_delayed_ns;
	if (dx != dy)
		return dx < dy ? 1 : -1;
	return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : 0;
}

static int by_interrupt_ns(const void *a, const void *b)
{
	const struct ledger_interrupt *x = a, *y = b;
	return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : 0;
}

static void take_trace(struct ledger_keeper *k, struct trace *t)
{
	if (!k->trace)
		return;
	t->present = true;
	t->lost = k->control->trace_lost + k->overflow;
	/* hand the events over and keep the other buffer for the next execution */
	struct trace_event *items = t->events.items;
	size_t capacity = t->events.capacity, kept = 0;
	for (size_t i = 0; i < k->events.count; i++)
		if (k->events.items[i].at_ns >= k->control->begin_ns)
			k->events.items[kept++] = k->events.items[i];
	t->events.items = k->events.items;
	t->events.capacity = k->events.capacity;
	t->events.count = kept;
	k->events.items = items;
	k->events.capacity = capacity;
	k->events.count = 0;
	trace_sort(t);
	for (size_t i = 0; i < k->resolved.count; i++) {
		const struct resolved *r = &k->resolved.items[i];
		uint32_t cause = r->key >> 24;
		if (cause != LEDGER_IRQ && cause != LEDGER_SOFTIRQ && cause != LEDGER_NMI)
			continue;
		struct trace_name n = { .cause = cause, .source = r->key & 0xffffff };
		memcpy(n.name, r->name, sizeof n.name);
		array_push(&t->names, n);
	}
	for (int d = 0; d < LEDGER_DEVICES && k->devices[d].number; d++) {
		struct trace_name n = { .cause = LEDGER_IO, .source = k->devices[d].number };
		device_name(n.source, n.name);
		array_push(&t->names, n);
	}
}

void ledger_keeper_take(struct ledger_keeper *k, struct ledger *l, struct trace *trace)
{
	const struct ledger_control *c = k->control;
	ledger_clear(l);
	trace_clear(trace);
	if (!c->begin_ns)
		return;
	l->present = true;
	l->begin_ns = c->begin_ns;
	l->end_ns = c->end_ns ? c->end_ns : k->stopped_ns;
	uint32_t count = used(c->slots_used, LEDGER_SLOTS);
	k->order.count = 0;
	for (uint32_t i = 1; i <= count; i++)
		if (k->slots[i].begin_ns)
			array_push(&k->order, (struct begun){ k->slots[i].begin_ns, i });
	array_sort(&k->order, by_begin);
	for (size_t i = 0; i < k->order.count; i++)
		take_thread(k, k->order.items[i].slot, l);
	take_folded(k, l);
	take_others(k, l);
	/* name those whose requests occupied the device */
	uint64_t sum = 0, all = l->subject.ns[LEDGER_IO_OTHER];
	for (size_t i = 0; i < l->others.count; i++)
		sum += l->others.items[i].io_delayed_ns;
	/* several threads that waited at once, and rounding */
	double scale = sum > all ? (double)all / (double)sum : 1;
	for (size_t i = 0; i < l->others.count; i++) {
		struct ledger_other *o = &l->others.items[i];
		o->io_delayed_ns = (uint64_t)((double)o->io_delayed_ns * scale);
		if (o->io_delayed_ns)
			add_entry(l, LEDGER_IO_OTHER, o->self ? "tare" : o->name, o->pid,
				  o->io_delayed_ns, 0);
	}
	name_the_rest(l);
	take_interrupts(k, l);
	take_wall(k, l);
	array_sort(&l->entries, by_entry_ns);
	array_sort(&l->others, by_delay);
	array_sort(&l->interrupts, by_interrupt_ns);
	for (int i = 0; i < k->cpu_count; i++) {
		for (int e = 0; e < LEDGER_EVENTS; e++)
			l->events[e] += k->cpus[i].events[e];
		l->subject_events += k->cpus[i].subject_events;
	}
	memcpy(l->event_ns, k->event_ns, sizeof l->event_ns);
	l->lost = c->lost;
	l->subject.count[LEDGER_UNSEEN] += c->unseen;
	memcpy(l->not_seen, k->not_seen, sizeof l->not_seen);
	l->net = !k->not_net && !c->unseen;
	take_trace(k, trace);
}
