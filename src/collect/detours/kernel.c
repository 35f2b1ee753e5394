#include "collect/detours/kernel.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "collect/backend/kernel.h"
#include "collect/bpf/ledger.h"
#include "collect/ledger/names.h"
#include "noise.skel.h"

#define LINKS 64 /* more than there are programs */
#define ROOM_MOST (128u << 10)
#define ROOM_LEAST (8u << 10)
#define MEMORY_MOST (512u << 20) /* for the events of all CPUs */
/* How far the pairs of clocks may be off, and then some. */
#define EDGE_NS 1000

struct symbol {
	uint64_t address;
	size_t name; /* where in symbol_names */
};

struct detour_kernel {
	struct noise_bpf *skel;
	struct bpf_link *links[LINKS];
	size_t link_count, cpu_count;
	uint32_t room;
	struct noise_slot *slots;
	struct trace_event *events;
	size_t slots_size, events_size;
	bool steal;
	ARRAY(struct symbol) symbols; /* of functions, by address */
	struct strbuf symbol_names;   /* each ends with a NUL */
	ARRAY(uint64_t) functions;    /* of work items, by number */
	ARRAY(struct trace_name) names;
};

/* ---- loading ---- */

struct lack {
	const char *tracepoint, *what;
};

static const struct lack lacks[] = {
	{ "irq_handler_entry", "interrupts of devices" },
	{ "softirq_entry", "soft interrupts" },
	{ "sched_switch", "threads" },
#if defined(__x86_64__)
	{ "local_timer_entry", "interrupts of the timer" },
	{ "reschedule_entry", "interrupts between CPUs" },
	{ "nmi_handler", "non-maskable interrupts" },
#endif
	{ "page_fault_user", "page faults" },
	{ "workqueue_execute_start", "work items" },
};

static void note_unseen(struct strbuf *not_seen, const char *what)
{
	strbuf_printf(not_seen, "%s%s", not_seen->length ? ", " : "", what);
}

static void note_lack(struct strbuf *not_seen, const char *tracepoint)
{
	for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++)
		if (strcmp(tracepoint, lacks[i].tracepoint) == 0)
			note_unseen(not_seen, lacks[i].what);
}

static bool is_called(const struct bpf_program *p)
{
	return strcmp(bpf_program__section_name(p), "syscall") == 0;
}

static void choose_programs(struct detour_kernel *k, const struct btf *btf, struct strbuf *not_seen)
{
	struct bpf_program *p;
	bpf_object__for_each_program(p, k->skel->obj)
	{
		if (is_called(p) || kernel_has_pair(btf, program_tracepoint(p)))
			continue;
		bpf_program__set_autoload(p, false);
		note_lack(not_seen, program_tracepoint(p));
	}
}

/* ---- names of functions ---- */

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	return (x->address > y->address) - (x->address < y->address);
}

/* Read once: it takes some 50 ms, which a pause between rounds must not. A module that comes later
 * has no names. */
static void read_symbols(struct detour_kernel *k)
{
	FILE *symbols = fopen("/proc/kallsyms", "re");
	char line[512], name[LEDGER_NAME_SIZE], type;
	while (symbols && fgets(line, sizeof line, symbols)) {
		struct symbol s = { .name = k->symbol_names.length };
		/* addresses are 0 for those who may not know them */
		if (sscanf(line, "%" SCNx64 " %c %47s", &s.address, &type, name) != 3 ||
		    !s.address || (type != 't' && type != 'T'))
			continue;
		strbuf_add(&k->symbol_names, name, strlen(name) + 1);
		array_push(&k->symbols, s);
	}
	if (symbols)
		fclose(symbols);
	array_sort(&k->symbols, by_address);
}

static int load(struct detour_kernel *k, struct error *err)
{
	bpf_map__set_max_entries(k->skel->maps.slots, (uint32_t)k->cpu_count);
	bpf_map__set_max_entries(k->skel->maps.events, (uint32_t)k->cpu_count * k->room);
	int failed = noise_bpf__load(k->skel);
	if (failed)
		return kernel_refused("what happens on CPUs", "programs", -failed, err);
	k->slots = kernel_map_memory(k->skel->maps.slots, k->cpu_count * sizeof *k->slots, true,
				     &k->slots_size);
	k->events = kernel_map_memory(k->skel->maps.events,
				      k->cpu_count * k->room * sizeof *k->events, true,
				      &k->events_size);
	if (!k->slots || !k->events)
		return error_errno(err, EXIT_ENVIRONMENT, "cannot map the memory for events");
	return 0;
}

static int attach(struct detour_kernel *k, struct strbuf *not_seen, struct error *err)
{
	struct bpf_program *p;
	bpf_object__for_each_program(p, k->skel->obj)
	{
		if (!bpf_program__autoload(p) || is_called(p) || k->link_count == LINKS)
			continue;
		struct bpf_link *made = bpf_program__attach(p);
		if (made)
			k->links[k->link_count++] = made;
		else if (strcmp(program_tracepoint(p), "sched_switch") == 0)
			return error_errno(err, EXIT_ENVIRONMENT, "cannot attach to %s",
					   program_tracepoint(p));
		else
			note_lack(not_seen, program_tracepoint(p));
	}
	return 0;
}

int detour_kernel_open(struct detour_kernel **out, const uint32_t *cpus, size_t count,
		       struct strbuf *not_seen, struct error *err)
{
	SCOPED(kernel_btf_release) struct btf *btf = kernel_btf(err);
	if (!btf)
		return -1;
	struct detour_kernel *k = xcalloc(1, sizeof *k);
	int64_t from_rq = 0;
	k->cpu_count = count;
	k->room = ROOM_MOST;
	while (k->room > ROOM_LEAST && (uint64_t)k->room * count * sizeof *k->events > MEMORY_MOST)
		k->room /= 2;
	k->steal = kernel_steal(btf, &from_rq);
	k->skel = noise_bpf__open();
	int failed = !k->skel;
	if (failed) {
		error_errno(err, EXIT_ENVIRONMENT, "cannot open the BPF programs");
	} else {
		for (size_t i = 0; i < count; i++)
			if (cpus[i] < NOISE_CPUS_MAX)
				k->skel->rodata->slot_of_cpu[cpus[i]] = (uint16_t)(i + 1);
		k->skel->rodata->room = k->room;
		k->skel->rodata->steal_known = k->steal;
		k->skel->rodata->steal_from_rq = from_rq;
		choose_programs(k, btf, not_seen);
		if (!k->steal && kernel_is_guest())
			note_unseen(not_seen, "time stolen by the hypervisor");
		failed = load(k, err) || attach(k, not_seen, err);
	}
	if (failed) {
		detour_kernel_close(k);
		return -1;
	}
	read_symbols(k);
	*out = k;
	return 0;
}

void detour_kernel_close(struct detour_kernel *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->link_count; i++)
		bpf_link__destroy(k->links[i]);
	if (k->slots)
		munmap(k->slots, k->slots_size);
	if (k->events)
		munmap(k->events, k->events_size);
	noise_bpf__destroy(k->skel);
	array_release(&k->functions);
	array_release(&k->symbols);
	strbuf_release(&k->symbol_names);
	array_release(&k->names);
	free(k);
}

int detour_kernel_here(const struct detour_kernel *k)
{
	return bpf_program__fd(k->skel->progs.noise_here);
}

const volatile struct noise_slot *detour_kernel_slot(const struct detour_kernel *k, size_t index)
{
	return &k->slots[index];
}

bool detour_kernel_tells_steal(const struct detour_kernel *k)
{
	return k->steal;
}

/* ---- a round ---- */

void detour_kernel_begin(struct detour_kernel *k)
{
	for (size_t i = 0; i < k->cpu_count; i++) {
		k->slots[i].occupant = NOISE_NOBODY;
		__atomic_store_n(&k->slots[i].head, 0, __ATOMIC_SEQ_CST);
	}
	__atomic_store_n(&k->skel->bss->control.active, 1, __ATOMIC_SEQ_CST);
}

void detour_kernel_end(struct detour_kernel *k)
{
	__atomic_store_n(&k->skel->bss->control.active, 0, __ATOMIC_SEQ_CST);
}

/* Nearly sorted: only an interrupt that came while another program was about to write is out of
 * place. */
static void sort_events(struct trace_event *e, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct trace_event moved = e[i];
		size_t at = i;
		for (; at && e[at - 1].at_ns > moved.at_ns; at--)
			e[at] = e[at - 1];
		e[at] = moved;
	}
}

static uint32_t function_at(struct detour_kernel *k, uint64_t address)
{
	for (size_t i = 0; i < k->functions.count; i++)
		if (k->functions.items[i] == address)
			return (uint32_t)i;
	struct trace_name n = { .cause = TRACE_NAMES_WORK, .source = (uint32_t)k->functions.count };
	struct symbol wanted = { .address = address };
	const struct symbol *found = k->symbols.count
					     ? bsearch(&wanted, k->symbols.items, k->symbols.count,
						       sizeof wanted, by_address)
					     : NULL;
	if (found)
		snprintf(n.name, sizeof n.name, "%s", k->symbol_names.text + found->name);
	else
		snprintf(n.name, sizeof n.name, "%#" PRIx64, address);
	array_push(&k->names, n);
	array_push(&k->functions, address);
	return n.source;
}

double detour_kernel_take(struct detour_kernel *k, size_t index, struct detour_round *round)
{
	uint64_t wanted = __atomic_load_n(&k->slots[index].head, __ATOMIC_SEQ_CST);
	size_t count = wanted < k->room ? (size_t)wanted : k->room, begin = 0;
	struct trace_event *e = k->events + index * k->room;
	sort_events(e, count);
	while (begin < count && e[begin].at_ns + EDGE_NS < round->begin_ns)
		begin++;
	while (count > begin && e[count - 1].at_ns > round->end_ns + EDGE_NS)
		count--;
	for (size_t i = begin; i < count; i++) {
		e[i].cpu = (uint16_t)round->cpu;
		if (e[i].kind == TRACE_WORK_BEGIN) {
			uint64_t address = (uint64_t)e[i].b << 32 | e[i].a;
			e[i].a = function_at(k, address);
			e[i].b = 0;
		}
	}
	round->events = e + begin;
	round->event_count = count - begin;
	round->lost = wanted - (wanted < k->room ? wanted : k->room);
	return (double)wanted / (double)k->room;
}

/* ---- names ---- */

static bool is_named(const struct detour_kernel *k, uint32_t cause, uint32_t source)
{
	for (size_t i = 0; i < k->names.count; i++)
		if (k->names.items[i].cause == cause && k->names.items[i].source == source)
			return true;
	return false;
}

void detour_kernel_name(struct detour_kernel *k, struct detour_round *rounds, size_t count)
{
	/* by source: most events have one that is known already */
	uint8_t known[LEDGER_SOURCES] = { 0 };
	for (size_t i = 0; i < k->names.count; i++)
		if (k->names.items[i].cause != TRACE_NAMES_WORK)
			known[k->names.items[i].source] = 1;
	for (size_t r = 0; r < count; r++)
		for (size_t i = 0; i < rounds[r].event_count; i++) {
			const struct trace_event *e = &rounds[r].events[i];
			if (e->kind != TRACE_ENTER || e->b >= LEDGER_SOURCES || known[e->b] ||
			    is_named(k, e->a, e->b))
				continue;
			struct trace_name n = { .cause = e->a, .source = e->b };
			source_name(e->b, n.name);
			array_push(&k->names, n);
			known[e->b] = 1;
		}
	for (size_t r = 0; r < count; r++) {
		rounds[r].names = k->names.items;
		rounds[r].name_count = k->names.count;
	}
}
