/* The bpf back end: programs in bpf/tasks.bpf.c. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "collect/backend/backend.h"
#include "collect/backend/kernel.h"
#include "collect/bpf/tasks.h"
#include "collect/ledger/ledger.h"
#include "tasks.skel.h"

_Static_assert(sizeof(struct title_record) < sizeof(struct task_record),
	       "the ring tells them apart by their size");
_Static_assert(TASKS_CUMULATIVE == TASK_CUMULATIVE, "the kernel side sums other measures");

#define END_PATIENCE_NS 20000000u

struct bpf_state {
	struct tasks_bpf *skel;
	struct ring_buffer *ring;
	struct image exits;
	ARRAY(struct title_record) titles;
	struct ledger_keeper *keeper; /* NULL: no ledger is kept */
	bool running;		      /* the subject was there before */
	int members;		      /* of the map, made before it was loaded; -1: it was not */
};

static int on_exit_record(void *context, void *data, size_t size)
{
	struct bpf_state *s = context;
	if (size == sizeof(struct title_record))
		array_push(&s->titles, *(const struct title_record *)data);
	else if (size >= sizeof(struct task_record))
		memcpy(image_add(&s->exits), data, sizeof(struct task_record));
	return 0;
}

static enum ledger_attach ledger_attach(void)
{
	return getenv("TARE_LEDGER_RAW") ? LEDGER_ATTACH_RAW : LEDGER_ATTACH_BEST;
}

/* Set before open(): a ledger will be asked for, with a trace or without. */
static struct {
	bool ledger, trace;
} expected;

static void bpf_expect_ledger(bool trace)
{
	expected.ledger = true;
	expected.trace = trace;
}

/* Makes the map that the programs of the tree and those of the ledger share before either is
 * loaded, and begins to load those of the ledger. */
static void begin_ledger(struct bpf_state *s)
{
	const struct bpf_map *m = s->skel->maps.members;
	int fd = bpf_map_create(bpf_map__type(m), bpf_map__name(m), bpf_map__key_size(m),
				bpf_map__value_size(m), bpf_map__max_entries(m), NULL);
	s->members = fd; /* closed at the end in any case */
	if (fd >= 0 && bpf_map__reuse_fd(s->skel->maps.members, fd) == 0)
		ledger_keeper_expect(fd, expected.trace, ledger_attach());
	expected.ledger = false;
}

static int load(struct bpf_state *s, struct error *err)
{
	s->skel = tasks_bpf__open();
	if (!s->skel)
		return error_errno(err, EXIT_ENVIRONMENT, "cannot open the BPF programs");
	s->skel->rodata->page_size = (uint32_t)sysconf(_SC_PAGESIZE);
	s->skel->rodata->self_tgid = getpid();
	s->skel->rodata->ring_half = bpf_map__max_entries(s->skel->maps.exits) / 2;
	bpf_program__set_autoattach(s->skel->progs.enlist, false);
	if (expected.ledger)
		begin_ledger(s);
	int failed = tasks_bpf__load(s->skel);
	if (failed)
		return error_set(err, EXIT_ENVIRONMENT, "the kernel refused the BPF programs: %s",
				 kernel_refusal(-failed));
	failed = tasks_bpf__attach(s->skel);
	if (failed)
		return error_set(err, EXIT_ENVIRONMENT, "cannot attach the BPF programs: %s",
				 strerror(-failed));
	s->ring = ring_buffer__new(bpf_map__fd(s->skel->maps.exits), on_exit_record, s, NULL);
	if (!s->ring)
		return error_errno(err, EXIT_ENVIRONMENT, "cannot map the BPF ring buffer");
	return 0;
}

static void bpf_close(void *state)
{
	struct bpf_state *s = state;
	if (!s)
		return;
	ledger_keeper_expect_no_more();
	if (s->members >= 0)
		close(s->members);
	ring_buffer__free(s->ring);
	ledger_keeper_close(s->keeper);
	tasks_bpf__destroy(s->skel);
	image_release(&s->exits);
	array_release(&s->titles);
	free(s);
}

static int bpf_open(void **state, struct error *err)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
		return error_set(err, EXIT_ENVIRONMENT,
				 "this kernel has no BTF (/sys/kernel/btf/vmlinux)");
	if (!kernel_tells_our_pids())
		return error_set(err, EXIT_ENVIRONMENT,
				 "this is a container: its pids are not the kernel's");
	kernel_quiet();
	struct bpf_state *s = xcalloc(1, sizeof *s);
	s->members = -1;
	if (load(s, err)) {
		bpf_close(s);
		return -1;
	}
	*state = s;
	return 0;
}

static int bpf_snapshot(void *state, struct image *image, struct error *err)
{
	struct bpf_state *s = state;
	image->count = 0;
	image->begin_ns = clock_monotonic_ns();
	CLOSED int fd = bpf_iter_create(bpf_link__fd(s->skel->links.snapshot));
	if (fd < 0)
		return error_errno(err, EXIT_ENVIRONMENT, "cannot read the tasks");
	size_t used = 0, size = sizeof *image->tasks;
	for (;;) {
		image->tasks = array_grow(image->tasks, &image->capacity, used / size + 160, size);
		ssize_t n = read(fd, (char *)image->tasks + used, image->capacity * size - used);
		if (n == 0)
			break;
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return error_errno(err, EXIT_ENVIRONMENT, "cannot read the tasks");
		used += (size_t)n;
	}
	image->count = used / size;
	image->end_ns = clock_monotonic_ns();
	return 0;
}

static bool has_members(const struct bpf_state *s)
{
	return __atomic_load_n(&s->skel->bss->live_members, __ATOMIC_SEQ_CST) > 0;
}

static void reset(struct bpf_state *s)
{
	ring_buffer__consume(s->ring);
	s->exits.count = s->titles.count = 0;
	if (has_members(s)) {
		kernel_empty_map(bpf_map__fd(s->skel->maps.members));
		__atomic_store_n(&s->skel->bss->live_members, 0, __ATOMIC_SEQ_CST);
	}
	struct tasks_bpf__bss *b = s->skel->bss;
	b->root_tgid = b->maker_tgid = b->enlisted_tgid = 0;
	b->root_end_ns = 0;
	b->lost = b->lost_members = 0;
	memset(&b->totals, 0, sizeof b->totals);
	s->running = false;
}

static void bpf_arm(void *state)
{
	struct bpf_state *s = state;
	struct tasks_bpf__bss *b = s->skel->bss;
	reset(s);
	if (s->keeper)
		ledger_keeper_arm(s->keeper);
	__atomic_store_n(&b->armed, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&b->active, 1, __ATOMIC_SEQ_CST);
}

static void bpf_listen(void *state)
{
	struct bpf_state *s = state;
	reset(s);
	s->running = true;
	__atomic_store_n(&s->skel->bss->active, 1, __ATOMIC_SEQ_CST);
}

/* The thread alone needs nothing here: its records are known by its id. */
static int bpf_arm_running(void *state, const struct collector_running *who, struct error *err)
{
	struct bpf_state *s = state;
	struct tasks_bpf__bss *b = s->skel->bss;
	int failed = 0;
	__atomic_store_n(&b->maker_tgid, who->maker, __ATOMIC_SEQ_CST);
	b->enlisted_tgid = who->process;
	if (who->process && kernel_visit_tasks(s->skel->progs.enlist, 0, who->process))
		failed = error_errno(err, EXIT_ENVIRONMENT, "cannot read the tasks");
	else if (who->process && !has_members(s))
		failed = error_set(err, EXIT_SUBJECT, "process %d is gone", (int)who->process);
	else if (s->keeper)
		failed = ledger_keeper_arm_running(s->keeper, who->thread, who->process, err);
	if (failed)
		__atomic_store_n(&b->active, 0, __ATOMIC_SEQ_CST);
	return failed;
}

static void bpf_disarm(void *state)
{
	struct bpf_state *s = state;
	if (!s->keeper)
		return;
	/* If this very thread is the subject, and no event told of its switch to this CPU (decision
	 * 012), setting its name makes it known. */
	char name[16];
	if (prctl(PR_GET_NAME, name) == 0)
		prctl(PR_SET_NAME, name);
	ledger_keeper_stop(s->keeper);
}

static int bpf_adopt(void *state, pid_t root, struct error *err)
{
	struct bpf_state *s = state;
	if (__atomic_load_n(&s->skel->bss->root_tgid, __ATOMIC_SEQ_CST) == root)
		return 0;
	return error_set(err, EXIT_ENVIRONMENT, "the BPF programs did not see process %d begin",
			 (int)root);
}

static int bpf_fd(void *state)
{
	struct bpf_state *s = state;
	return ring_buffer__epoll_fd(s->ring);
}

static void bpf_drain(void *state)
{
	struct bpf_state *s = state;
	ring_buffer__consume(s->ring);
}

static uint64_t bpf_root_end_ns(void *state)
{
	struct bpf_state *s = state;
	uint64_t until = clock_monotonic_ns() + END_PATIENCE_NS;
	for (;;) {
		uint64_t end = __atomic_load_n(&s->skel->bss->root_end_ns, __ATOMIC_SEQ_CST);
		if (end || clock_monotonic_ns() > until)
			return end;
	}
}

static int by_pid(const void *a, const void *b)
{
	return ORDER(*(const pid_t *)a, *(const pid_t *)b);
}

static void bpf_members(void *state, pid_list *pids)
{
	struct bpf_state *s = state;
	if (!has_members(s))
		return;
	int map = bpf_map__fd(s->skel->maps.members);
	uint64_t key, *previous = NULL;
	struct member m;
	while (bpf_map_get_next_key(map, previous, &key) == 0) {
		if (bpf_map_lookup_elem(map, &key, &m) == 0)
			array_push(pids, (pid_t)m.tgid);
		previous = &key;
	}
	/* when one ends meanwhile, the walk may begin again and meet others twice */
	array_sort(pids, by_pid);
	size_t kept = 0;
	for (size_t i = 0; i < pids->count; i++)
		if (kept == 0 || pids->items[i] != pids->items[kept - 1])
			pids->items[kept++] = pids->items[i];
	pids->count = kept;
}

/* What the tasks of the tree that are alive have used. */
static void add_living(struct bpf_state *s, struct totals *living)
{
	SCOPED(image_release) struct image now = { 0 };
	if (!has_members(s) || bpf_snapshot(s, &now, NULL))
		return;
	for (size_t i = 0; i < now.count; i++)
		if (now.tasks[i].flags & TASK_IS_SUBJECT)
			totals_add(living, &now.tasks[i]);
}

static uint64_t bpf_used_ns(void *state)
{
	struct bpf_state *s = state;
	struct totals living = { .present = UINT64_MAX };
	add_living(s, &living);
	return s->skel->bss->totals.value[TASK_EXEC] + living.value[TASK_EXEC];
}

static void bpf_finish(void *state, const struct totals *base, struct image *exits,
		       struct totals *totals, uint64_t *lost)
{
	struct bpf_state *s = state;
	struct tasks_bpf__bss *b = s->skel->bss;
	struct totals living = { .present = UINT64_MAX };
	/* processes left behind and still alive count with what they have used so far */
	if (!s->running)
		add_living(s, &living);
	__atomic_store_n(&b->active, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&b->armed, 0, __ATOMIC_SEQ_CST);
	if (s->keeper)
		ledger_keeper_stop(s->keeper);
	ring_buffer__consume(s->ring);

	uint64_t present = b->totals.threads ? b->totals.present : 0;
	if (b->totals.without_blkio)
		present &= ~(UINT64_C(1) << TASK_BLKIO_DELAY);
	*totals = (struct totals){ .present = present & living.present,
				   .rss_peak_bytes = b->totals.rss_peak_bytes,
				   .processes = b->totals.processes,
				   .threads = b->totals.threads };
	for (int m = 0; m < TASK_CUMULATIVE; m++)
		totals->value[m] = b->totals.value[m] + living.value[m];
	totals_subtract(totals, base);
	*lost = b->lost + b->lost_members;

	/* hand the records over and keep the other buffer for the next execution */
	struct image had = *exits;
	*exits = s->exits;
	s->exits = had;
	s->exits.count = 0;
}

static const char *bpf_title(const void *state, pid_t pid)
{
	const struct bpf_state *s = state;
	for (size_t i = s->titles.count; i--;)
		if (s->titles.items[i].tgid == pid)
			return s->titles.items[i].text;
	return NULL;
}

/* Has a child, as the subject, measure what the programs cost. */
static void measure_cost(struct bpf_state *s)
{
	double *event_ns = mmap(NULL, LEDGER_EVENTS * sizeof *event_ns, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (event_ns == MAP_FAILED)
		return;
	bpf_arm(s);
	pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "tare-cost"); /* begins the ledger */
		ledger_cost_measure(ledger_keeper_active(s->keeper), event_ns);
		_exit(0);
	}
	if (child > 0)
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
	SCOPED(image_release) struct image exits = { 0 };
	struct totals totals;
	uint64_t lost;
	bpf_finish(s, NULL, &exits, &totals, &lost);
	ledger_keeper_set_cost(s->keeper, event_ns);
	munmap(event_ns, LEDGER_EVENTS * sizeof *event_ns);
}

static int bpf_keep_ledger(void *state, bool trace, struct error *err)
{
	struct bpf_state *s = state;
	struct ledger_keeper *k = NULL;
	if (s->keeper)
		return 0;
	if (ledger_keeper_open(&k, bpf_map__fd(s->skel->maps.members), trace, ledger_attach(), err))
		return -1;
	if (ledger_keeper_attach(k, bpf_program__fd(s->skel->progs.on_switch),
				 &s->skel->links.on_switch, err)) {
		ledger_keeper_close(k);
		return -1;
	}
	if (trace &&
	    ring_buffer__add(s->ring, ledger_keeper_stream(k), ledger_keeper_on_event, k)) {
		ledger_keeper_close(k);
		return error_set(err, EXIT_ENVIRONMENT, "cannot map the ring buffer of the trace");
	}
	s->keeper = k;
	measure_cost(s);
	return 0;
}

static void bpf_take_ledger(void *state, struct ledger *ledger, struct trace *trace)
{
	struct bpf_state *s = state;
	if (s->keeper)
		ledger_keeper_take(s->keeper, ledger, trace);
}

static bool bpf_knows_turns(const void *state)
{
	return ((const struct bpf_state *)state)->keeper != NULL;
}

static enum speed_turn bpf_turn(const void *state, uint32_t cpu, uint64_t *events)
{
	return ledger_keeper_turn(((const struct bpf_state *)state)->keeper, cpu, events);
}

const struct backend_ops bpf_backend = {
	.backend = BACKEND_BPF,
	.open = bpf_open,
	.close = bpf_close,
	.expect_ledger = bpf_expect_ledger,
	.keep_ledger = bpf_keep_ledger,
	.take_ledger = bpf_take_ledger,
	.knows_turns = bpf_knows_turns,
	.turn = bpf_turn,
	.snapshot = bpf_snapshot,
	.arm = bpf_arm,
	.adopt = bpf_adopt,
	.listen = bpf_listen,
	.arm_running = bpf_arm_running,
	.disarm = bpf_disarm,
	.fd = bpf_fd,
	.drain = bpf_drain,
	.root_end_ns = bpf_root_end_ns,
	.members = bpf_members,
	.used_ns = bpf_used_ns,
	.title = bpf_title,
	.finish = bpf_finish,
};
