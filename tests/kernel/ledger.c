/* The ledger on the live kernel: it adds up, whatever the subject does, and names what disturbed.
 * Bounds on times are wide, for this runs on busy machines; bench/ledger-* has the sharp ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dirent.h>
#include <errno.h>
#include <linux/bpf.h>
#include <mntent.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "closure.h"
#include "measure/execute.h"
#include "subject.h"

static char programs[4096]; /* their folder */
static char folder[64];	    /* for files, on a disk where there is one */
static char own_log[96], other_log[96];
static int cpu; /* one that may be used */
static struct collector *collector;
static struct execution x;

#define PROGRAM(name) program((char[4200]){ 0 }, name)
#define IN_FOLDER(name) in_folder((char[128]){ 0 }, name)
#define ARGV(...)                               \
	(char *const *)(const char *[])         \
	{                                       \
		__VA_ARGS__, (const char *)NULL \
	}

static const char *program(char into[4200], const char *name)
{
	snprintf(into, 4200, "%s/%s", programs, name);
	return into;
}

static const char *in_folder(char into[128], const char *name)
{
	snprintf(into, 128, "%s/%s", folder, name);
	return into;
}

static void give_up(const char *reason)
{
	const char *require = getenv("TARE_TEST_REQUIRE");
	if (require && *require == '1')
		fail_msg("%s", reason);
	print_message("skipped: %s\n", reason);
	skip();
}

static int open_collector(struct collector **c, struct error *err)
{
	if (collector_open(c, BACKEND_BPF, err))
		return -1;
	if (collector_keep_ledger(*c, false, err)) {
		collector_close(*c);
		*c = NULL;
		return -1;
	}
	return 0;
}

static int begin(void **state)
{
	struct error err = ERROR_INIT;
	(void)state;
	if (open_collector(&collector, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return -1;
	}
	return 0;
}

static int end(void **state)
{
	(void)state;
	collector_close(collector);
	collector = NULL;
	execution_release(&x);
	return 0;
}

static void run_as(const struct launch *launch, const struct execute_options *options,
		   char *const *argv)
{
	struct error err = ERROR_INIT;
	struct launcher *l;
	unlink(own_log);
	assert_int_equal(launcher_new(&l, launch, &err), 0);
	if (execute(collector, l, launch, argv, options, &x, &err))
		fail_msg("%s (%s)", err.text, err.hint);
	launcher_free(l);
}

/* The edges of each turn on a CPU are read at slightly different instants. And the kernel takes off
 * exec what was stolen while an idle CPU woke up, which was not the thread's yet: as long as the
 * host likes. */
static bool too_much_net(void)
{
	uint64_t net = x.pt_ns[GRADE_NET], exec = x.pt_ns[GRADE_EXEC];
	uint64_t slack = exec / 10 + x.totals.threads * UINT64_C(20000) +
			 x.ledger.subject.count[LEDGER_RUN] * UINT64_C(2000);
	return net != ABSENT_NS && net > exec + slack;
}

/* What holds for every ledger. */
static void assert_closed(void)
{
	char why[4096];
	closure_verdict(&x, why, sizeof why);
	if (*why)
		fail_msg("%s", why);
	const struct ledger *l = &x.ledger;
	assert_int_equal(l->threads.count + l->unlisted, x.totals.threads);
	assert_true(x.pt_ns[GRADE_NET] != ABSENT_NS);
	if (too_much_net())
		fail_msg("PT(net) %llu ns, PT(exec) %llu ns",
			 (unsigned long long)x.pt_ns[GRADE_NET],
			 (unsigned long long)x.pt_ns[GRADE_EXEC]);
	if (l->threads.count == 1 && !l->unlisted) {
		const struct ledger_thread *t = &l->threads.items[0];
		uint64_t life = t->end_ns - t->begin_ns, et = x.et_ns;
		/* where tare was told first, that is the end of the ET, and the thread ends later
		 */
		bool told_first = et == x.wait_ns;
		assert_true(told_first ? life >= et
				       : (life > et ? life - et : et - life) <= closure_allows(et));
	}
}

static void run_closed(char *const *argv)
{
	struct launch launch = { .as_root = true, .iteration = -1 };
	struct execute_options options = { .grace_ns = 2000000000u };
	int tries = 0;
	do /* the host does not steal at the first moment of a turn each time */
		run_as(&launch, &options, argv);
	while (too_much_net() && ++tries < 3);
	assert_int_equal(x.outcome, OUTCOME_EXITED);
	assert_int_equal(x.status, 0);
	assert_closed();
}

static void run_there(struct launch *launch, char *const *argv)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	launch->cpus = &set;
	struct execute_options options = { .grace_ns = 2000000000u };
	run_as(launch, &options, argv);
	assert_int_equal(x.status, 0);
	assert_closed();
}

static void run_pinned(char *const *argv)
{
	struct launch launch = { .as_root = true, .iteration = -1 };
	run_there(&launch, argv);
}

/* Something beside the subject, on the chosen CPU or (-1) anywhere, but at once; logs to other_log.
 */
static pid_t start_beside(int on_cpu, char *const *argv)
{
	unlink(other_log);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid > 0) {
		usleep(100000);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(on_cpu >= 0 ? on_cpu : cpu, &set);
	if (on_cpu >= 0)
		sched_setaffinity(0, sizeof set, &set);
	else
		sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 10 });
	setenv("BURN_LOG", other_log, 1);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execv(argv[0], argv);
	_exit(127);
}

/* Its exit code, or -1 when a signal ended it. */
static int stop_beside(pid_t pid)
{
	int status = 0;
	kill(pid, SIGTERM);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int run_plainly(char *const *argv)
{
	int status = -1;
	pid_t pid = fork();
	if (pid == 0) {
		execvp(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct span {
	uint64_t begin, end;
};
typedef ARRAY(struct span) span_list;

/* From lines "BEGIN END [CPU]"; blocked: without the CPU time, which comes first. */
static void read_spans(const char *path, bool blocked, span_list *spans)
{
	FILE *in = fopen(path, "r");
	char line[128];
	while (in && fgets(line, sizeof line, in)) {
		unsigned long long from, to, cpu_ns = 0;
		if (sscanf(line, "%llu %llu %llu", &from, &to, &cpu_ns) >= 2)
			array_push(spans, (struct span){ from + (blocked ? cpu_ns : 0), to });
	}
	if (in)
		fclose(in);
}

/* How long both lists were within a span; each is in order and does not overlap itself. */
static uint64_t common_ns(const span_list *a, const span_list *b)
{
	uint64_t sum = 0;
	for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
		const struct span *s = &a->items[i], *t = &b->items[j];
		uint64_t from = s->begin > t->begin ? s->begin : t->begin;
		uint64_t to = s->end < t->end ? s->end : t->end;
		sum += to > from ? to - from : 0;
		if (s->end < t->end)
			i++;
		else
			j++;
	}
	return sum;
}

static uint64_t entry_ns(enum ledger_cause cause, const char *name)
{
	uint64_t ns = 0;
	for (size_t i = 0; i < x.ledger.entries.count; i++) {
		const struct ledger_entry *e = &x.ledger.entries.items[i];
		if (e->cause == cause && strcmp(e->name, name) == 0)
			ns += e->ns;
	}
	return ns;
}

static const struct ledger_other *find_other(pid_t pid)
{
	for (size_t i = 0; i < x.ledger.others.count; i++)
		if (x.ledger.others.items[i].pid == pid)
			return &x.ledger.others.items[i];
	return NULL;
}

static uint64_t io_ns(void)
{
	const uint64_t *ns = x.ledger.subject.ns;
	return ns[LEDGER_IO] + ns[LEDGER_IO_OTHER] + ns[LEDGER_IO_IDLE];
}

static void assert_near(const char *what, uint64_t measured, uint64_t truth, double share)
{
	double ratio = (double)measured / (double)truth;
	if (!(ratio > 1 - share && ratio < 1 + share))
		fail_msg("%s: %llu ns, true %llu ns", what, (unsigned long long)measured,
			 (unsigned long long)truth);
}

/* ---- closure ---- */

static void a_busy_loop_runs_and_its_interrupts_are_seen_from_both_sides(void **state)
{
	(void)state;
	const uint64_t *ns = x.ledger.subject.ns;
	run_pinned(ARGV(PROGRAM("burn"), "loop", "200ms"));
	assert_int_equal(x.ledger.threads.count, 1);
	assert_string_equal(x.ledger.threads.items[0].name, "burn");
	assert_true(x.ledger.wall_ns[LEDGER_RUN] >= ns[LEDGER_RUN] / 2);
	/* the tick at least, seen from both sides */
	uint64_t count = 0, subject_ns[LEDGER_CAUSES] = { 0 };
	for (size_t i = 0; i < x.ledger.interrupts.count; i++) {
		const struct ledger_interrupt *it = &x.ledger.interrupts.items[i];
		assert_true(it->cause >= LEDGER_IRQ && it->cause <= LEDGER_NMI);
		assert_true(*it->name && it->count >= it->subject_count);
		assert_true(it->ns >= it->subject_ns);
		count += it->subject_count;
		subject_ns[it->cause] += it->subject_ns;
	}
	assert_true(count > 0 && ns[LEDGER_IRQ] > 0);
	for (int cause = LEDGER_IRQ; cause <= LEDGER_NMI; cause++) {
		uint64_t slack = ns[cause] / 10 + 50000;
		assert_in_range(subject_ns[cause], ns[cause] > slack ? ns[cause] - slack : 0,
				ns[cause] + slack);
	}
	assert_true(x.ledger.events[LEDGER_SWITCHES] > 0);
	assert_true(x.ledger.events[LEDGER_INTERRUPTS] >= count);
	for (int e = 0; e < LEDGER_EVENTS; e++)
		assert_true(x.ledger.event_ns[e] >= 0 && x.ledger.event_ns[e] < 20000);
	assert_true(ledger_subject_cost_ns(&x.ledger) <= ledger_cost_ns(&x.ledger));
	assert_true(ledger_cost_ns(&x.ledger) < (double)x.et_ns / 10);
}

static void who_delays_a_loop_is_named_with_its_bursts(void **state)
{
	(void)state;
	pid_t pid = start_beside(cpu, ARGV(PROGRAM("burn"), "bursts", "30", "1", "3"));
	run_pinned(ARGV(PROGRAM("burn"), "loop", "300ms"));
	const struct ledger_other *o = find_other(pid);
	stop_beside(pid);
	assert_non_null(o);
	assert_string_equal(o->name, "burn");
	assert_true(!o->self && !o->kernel && o->bursts > 0);
	uint64_t most = o->ns + closure_allows(x.et_ns);
	if (o->longest_ns > most || o->delayed_ns > most)
		fail_msg("bursts %llu ns, the longest %llu ns, delayed by them %llu ns",
			 (unsigned long long)o->ns, (unsigned long long)o->longest_ns,
			 (unsigned long long)o->delayed_ns);
	assert_true(o->delayed_ns > x.et_ns / 20);
	assert_true(x.ledger.subject.ns[LEDGER_QUEUED] >= o->delayed_ns);
}

static void a_cold_read_waits_for_io(void **state)
{
	(void)state;
	const char *file = IN_FOLDER("cold");
	assert_int_equal(run_plainly(ARGV(PROGRAM("reader"), "make", file, "20000000")), 0);
	run_closed(ARGV(PROGRAM("reader"), "cold", file));
	/* unless the folder is not on a device */
	if (x.totals.value[TASK_READ_BYTES] >= 20000000)
		assert_true(io_ns() > 0);
	unlink(file);
}

static void make_project(const char *where)
{
	char path[256];
	assert_int_equal(mkdir(where, 0755), 0);
	snprintf(path, sizeof path, "%s/Makefile", where);
	FILE *out = fopen(path, "w");
	assert_non_null(out);
	fprintf(out, "all: $(patsubst %%.c,%%.o,$(wildcard *.c))\n\tcc -o all *.o\n"
		     "%%.o: %%.c\n\tcc -O1 -c -o $@ $<\n");
	fclose(out);
	for (int i = 0; i < 30; i++) {
		snprintf(path, sizeof path, "%s/f%d.c", where, i);
		out = fopen(path, "w");
		assert_non_null(out);
		fprintf(out, "#include <stdio.h>\nint f%d(int n) { return n > 1 ? n * %d : 0; }\n",
			i, i);
		if (i == 0)
			fprintf(out, "int main(void) { printf(\"%%d\", f0(7)); return 0; }\n");
		fclose(out);
	}
}

static void the_ledger_of_a_parallel_make_closes(void **state)
{
	(void)state;
	if (run_plainly(ARGV("sh", "-c", "command -v make cc >/dev/null")))
		give_up("make or cc is not installed");
	const char *where = IN_FOLDER("project");
	make_project(where);
	run_closed(ARGV("make", "-s", "-j2", "-C", where));
	assert_true(x.totals.processes > 60);
	assert_true(x.ledger.subject.ns[LEDGER_CHILD] > 0);
}

static void threads_of_a_mutex_wait_for_it(void **state)
{
	(void)state;
	run_closed(ARGV(PROGRAM("burn"), "mutex", "8", "300ms"));
	assert_int_equal(x.ledger.threads.count, 9);
	/* one holds it, seven wait, and one waits for all of them */
	assert_true(x.ledger.subject.ns[LEDGER_FUTEX] > ledger_account_sum(&x.ledger.subject) / 3);
	/* while others wait, somebody holds it: asleep or running */
	assert_true(x.ledger.wall_ns[LEDGER_FUTEX] < x.et_ns / 2);
}

static void the_ledger_of_a_database_closes(void **state)
{
	(void)state;
	const char *where = IN_FOLDER("pg");
	assert_int_equal(mkdir(where, 0755), 0);
	int made = run_plainly(ARGV(PROGRAM("pgbench.sh"), "prepare", where));
	if (made == 77)
		give_up("PostgreSQL is not installed");
	assert_int_equal(made, 0);
	run_closed(ARGV(PROGRAM("pgbench.sh"), "run", where, "2"));
	assert_true(x.ledger.threads.count > 8);
	assert_true(x.ledger.subject.ns[LEDGER_SOCKET] + x.ledger.subject.ns[LEDGER_POLL] > 0);
}

static void ledgers_of_random_mixes_close(void **state)
{
	(void)state;
	for (int seed = 1; seed <= 20; seed++) {
		char text[16], why[4096];
		snprintf(text, sizeof text, "%d", seed);
		struct launch launch = { .as_root = true, .iteration = -1 };
		struct execute_options options = { .grace_ns = 2000000000u };
		run_as(&launch, &options, ARGV(PROGRAM("mix"), text, "60"));
		assert_int_equal(x.status, 0);
		closure_verdict(&x, why, sizeof why);
		if (*why) {
			char *actions = file_read(own_log);
			fail_msg("mix %d 60: %s\n%s", seed, why, actions ? actions : "");
		}
		assert_closed();
	}
}

static void ledgers_of_very_short_programs_close(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++)
		run_closed(ARGV("true"));
}

/* What outlives the root has a ledger to its own end; the wall-clock view ends with the root. */
static void an_orphan_has_a_ledger_to_its_own_end(void **state)
{
	(void)state;
	run_closed(ARGV(PROGRAM("burn"), "orphan", "60ms"));
	assert_int_equal(x.ledger.threads.count, 2);
	assert_true(x.ledger.subject.ns[LEDGER_RUN] > 40000000);
	assert_true(x.ledger.threads.items[1].end_ns > x.ledger.end_ns);
}

static void a_ledger_that_was_ended_at_the_limit_closes(void **state)
{
	(void)state;
	struct launch launch = { .as_root = true, .iteration = -1 };
	struct execute_options options = { .time_limit_ns = 100000000, .grace_ns = 1000000000 };
	run_as(&launch, &options, ARGV(PROGRAM("burn"), "threads", "4", "20s"));
	assert_int_equal(x.outcome, OUTCOME_TIMED_OUT);
	assert_closed();
}

/* ---- truth ---- */

static void sleep_is_a_timer(void **state)
{
	(void)state;
	run_closed(ARGV("sleep", "0.2"));
	assert_true(x.ledger.subject.ns[LEDGER_TIMER] > 190000000);
	assert_true(x.ledger.wall_ns[LEDGER_TIMER] > 190000000);
	const struct ledger_entry *top = NULL;
	for (size_t i = x.ledger.entries.count; i-- > 0;)
		if (x.ledger.entries.items[i].cause == LEDGER_TIMER)
			top = &x.ledger.entries.items[i];
	assert_non_null(top);
	assert_non_null(strstr(top->name, "nanosleep"));
}

static void a_real_time_task_beside_it_is_charged_what_it_took(void **state)
{
	(void)state;
	char on[16];
	snprintf(on, sizeof on, "%d", cpu);
	span_list bursts = { 0 }, window = { 0 };
	pid_t pid = start_beside(cpu, ARGV(PROGRAM("rtburst"), "20", "2500", "30000", on));
	/* real-time itself, but after that one: nothing else is before it on the CPU */
	struct launch launch = {
		.as_root = true, .iteration = -1, .policy = SCHED_FIFO, .rt_priority = 1
	};
	run_there(&launch, ARGV(PROGRAM("burn"), "loop", "500ms"));
	const struct ledger_other *found = find_other(pid);
	struct ledger_other o = found ? *found : (struct ledger_other){ 0 };
	int code = stop_beside(pid);
	if (code == 3)
		give_up("a real-time class is not allowed here");
	assert_int_equal(code, 0);
	read_spans(other_log, false, &bursts);
	array_push(&window, (struct span){ x.ledger.begin_ns, x.ledger.end_ns });
	uint64_t truth = common_ns(&bursts, &window);
	array_release(&bursts);
	array_release(&window);
	assert_true(truth > 20000000);
	assert_near("queued behind rtburst", entry_ns(LEDGER_QUEUED, "rtburst"), truth, 0.1);
	assert_string_equal(o.name, "rtburst");
	assert_near("delayed by rtburst", o.delayed_ns, truth, 0.1);
}

/* Both have one request at a time in flight (a block is no more than one can hold): while both have
 * one, the device is shared evenly. Real-time, for a wait for a CPU would look like one for the
 * device in their logs. */
static void a_device_is_shared_evenly_with_a_rival_reader(void **state)
{
	(void)state;
	const char *file = IN_FOLDER("blocks"), *block = "4194304";
	span_list own = { 0 }, rivals = { 0 };
	assert_int_equal(run_plainly(ARGV(PROGRAM("reader"), "make", file, "67108864")), 0);
	sync(); /* others' writes would have a share, too */
	pid_t pid =
		start_beside(-1, ARGV(PROGRAM("reader"), "random", "rival", file, block, "30s"));
	struct launch launch = {
		.as_root = true, .iteration = -1, .policy = SCHED_FIFO, .rt_priority = 10
	};
	struct execute_options options = { .grace_ns = 2000000000u };
	run_as(&launch, &options, ARGV(PROGRAM("reader"), "random", "own", file, block, "300"));
	int code = stop_beside(pid);
	unlink(file);
	if (x.status == 3 || code == 3)
		give_up("no direct I/O on the file system of /var/tmp");
	assert_int_equal(x.status, 0);
	assert_int_equal(code, 0);
	assert_closed();
	if (io_ns() == 0 && x.totals.value[TASK_READ_BYTES] == 0)
		give_up("/var/tmp is not on a block device");
	read_spans(own_log, true, &own);
	read_spans(other_log, true, &rivals);
	/* Two that always wait for each other have half each. Where CPU time is scarce the rival
	 * pauses, and what it has in flight when it is met may be all of what they have in common.
	 */
	uint64_t common = common_ns(&own, &rivals), truth = common / 2;
	array_release(&own);
	array_release(&rivals);
	/* of a device that third parties use too, as after a build, the rival has less than half */
	uint64_t rival = entry_ns(LEDGER_IO_OTHER, "rival");
	uint64_t others = x.ledger.subject.ns[LEDGER_IO_OTHER];
	uint64_t least = others - rival < rival / 5 ? truth / 3 : 1;
	if (rival < least || rival > common * 21 / 20 || others < truth / 2)
		fail_msg("I/O of rival %llu ns, true %llu ns; of all others %llu ns",
			 (unsigned long long)rival, (unsigned long long)truth,
			 (unsigned long long)others);
	const struct ledger_other *o = find_other(pid);
	assert_non_null(o);
	assert_true(o->io_delayed_ns >= least);
}

/* ---- faults ---- */

static void thousands_of_short_lives_are_counted(void **state)
{
	(void)state;
	run_closed(ARGV(PROGRAM("burn"), "shortlived", "3000"));
	assert_int_equal(x.totals.threads, 6001);
	assert_true(x.ledger.threads.count > 4000);
	/* more than can be listed: the rest is in the sums */
	assert_int_equal(x.ledger.threads.count + x.ledger.unlisted, 6001);
	/* a busy disk may have more owners of requests than there is room for; nothing else is lost
	 */
	assert_true(x.ledger.lost < 10);
	assert_near("run of all", x.ledger.subject.ns[LEDGER_RUN], x.totals.value[TASK_EXEC], 0.3);
}

/* As on a kernel whose BTF does not know the tracepoints. */
static void raw_tracepoints_keep_a_ledger_as_well(void **state)
{
	struct error err = ERROR_INIT;
	(void)state;
	collector_close(collector);
	setenv("TARE_LEDGER_RAW", "1", 1);
	int failed = open_collector(&collector, &err);
	unsetenv("TARE_LEDGER_RAW");
	if (failed)
		fail_msg("%s", err.text);
	run_closed(ARGV(PROGRAM("burn"), "loop", "50ms"));
	assert_true(x.ledger.subject.count[LEDGER_IRQ] > 0);
	run_closed(ARGV(PROGRAM("burn"), "forks", "50", "1"));
	run_closed(ARGV(PROGRAM("burn"), "mutex", "4", "50"));
	assert_true(x.ledger.subject.ns[LEDGER_FUTEX] > 0);
}

static void pids_used_again_are_threads_of_their_own(void **state)
{
	(void)state;
	run_closed(ARGV(PROGRAM("burn"), "reuse", "50"));
	char *text = file_read(own_log);
	long again = text ? atol(text) : 0;
	free(text);
	assert_int_equal(x.totals.threads, 101);
	size_t twice = 0;
	for (size_t i = 0; i < x.ledger.threads.count; i++)
		for (size_t j = 0; j < i; j++) {
			const struct ledger_thread *a = &x.ledger.threads.items[i],
						   *b = &x.ledger.threads.items[j];
			if (a->tid != b->tid)
				continue;
			assert_true(a->start_ns != b->start_ns && a->begin_ns >= b->end_ns);
			twice++;
		}
	assert_true(twice >= (size_t)again);
}

static const struct ledger_thread *root_thread(void)
{
	assert_true(x.ledger.threads.count > 0);
	return &x.ledger.threads.items[0];
}

static void assert_wandered(void)
{
	span_list stopped = { 0 };
	read_spans(own_log, false, &stopped);
	assert_int_equal(stopped.count, 1);
	uint64_t truth = stopped.items[0].end - stopped.items[0].begin;
	array_release(&stopped);
	const struct ledger_thread *root = root_thread();
	assert_string_equal(root->name, "wandered");
	assert_near("stopped", root->account.ns[LEDGER_STOPPED], truth, 0.3);
	cpu_set_t allowed;
	sched_getaffinity(0, sizeof allowed, &allowed);
	if (CPU_COUNT(&allowed) > 1)
		assert_true(root->account.migrations >= 4);
}

static void a_thread_that_is_renamed_stopped_and_moved_is_followed(void **state)
{
	(void)state;
	run_closed(ARGV(PROGRAM("wander")));
	assert_wandered();
	run_closed(ARGV(PROGRAM("burn"), "exec", "60ms"));
	assert_true(x.ledger.subject.ns[LEDGER_RUN] > 40000000);
}

/* The folder of a new control group with the CPU controller, v1 or v2; false when there is none. */
static bool make_cgroup(char into[256], bool *v1)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	bool found = false;
	struct mntent *m;
	while (mounts && !found && (m = getmntent(mounts))) {
		char path[256];
		*v1 = strcmp(m->mnt_type, "cgroup") == 0 && hasmntopt(m, "cpu");
		if (strcmp(m->mnt_type, "cgroup2") == 0) {
			snprintf(path, sizeof path, "%s/cgroup.subtree_control", m->mnt_dir);
			FILE *control = fopen(path, "w");
			found = control && fputs("+cpu", control) >= 0;
			if (control && fclose(control))
				found = false;
		} else {
			found = *v1;
		}
		if (found)
			snprintf(into, 256, "%s/tare-test.%d", m->mnt_dir, (int)getpid());
	}
	if (mounts)
		endmntent(mounts);
	return found && mkdir(into, 0755) == 0;
}

/* It is empty as soon as the last exit is done. */
static void remove_cgroup(const char *path)
{
	for (int i = 0; i < 100 && rmdir(path) && errno == EBUSY; i++)
		usleep(10000);
}

static void set_cgroup(const char *where, const char *name, const char *value)
{
	char path[512];
	snprintf(path, sizeof path, "%s/%s", where, name);
	FILE *out = fopen(path, "w");
	bool ok = out && fputs(value, out) >= 0;
	if (out && fclose(out))
		ok = false;
	if (!ok) {
		remove_cgroup(where);
		fail_msg("%s: %s", path, strerror(errno));
	}
}

/* How long a group with one thread was stopped for its quota, as the kernel says. */
static uint64_t throttled_ns(const char *where, bool v1)
{
	char path[512], line[256];
	unsigned long long value = 0;
	snprintf(path, sizeof path, "%s/cpu.stat", where);
	FILE *in = fopen(path, "r");
	while (in && fgets(line, sizeof line, in) &&
	       sscanf(line, v1 ? "throttled_time %llu" : "throttled_usec %llu", &value) != 1)
		;
	if (in)
		fclose(in);
	return v1 ? value : value * 1000;
}

static void a_thread_that_moves_to_a_cgroup_is_followed(void **state)
{
	(void)state;
	char where[256];
	bool v1;
	if (!make_cgroup(where, &v1))
		give_up("no control group with the CPU controller can be made here");
	struct launch launch = { .as_root = true, .iteration = -1 };
	struct execute_options options = { .grace_ns = 2000000000u };
	run_as(&launch, &options, ARGV(PROGRAM("wander"), where));
	remove_cgroup(where);
	assert_int_equal(x.status, 0);
	assert_closed();
	assert_wandered();
}

static void time_over_a_quota_is_throttled(void **state)
{
	(void)state;
	char where[256];
	bool v1;
	if (!make_cgroup(where, &v1))
		give_up("no control group with the CPU controller can be made here");
	if (v1) {
		set_cgroup(where, "cpu.cfs_period_us", "50000");
		set_cgroup(where, "cpu.cfs_quota_us", "10000");
		set_cgroup(where, "cpu.shares", "262144");
	} else {
		set_cgroup(where, "cpu.max", "10000 50000");
		/* before others: on a busy machine they would not let it use up its quota */
		set_cgroup(where, "cpu.weight", "10000");
	}
	struct launch launch = { .as_root = true, .iteration = -1 };
	struct execute_options options = { .grace_ns = 2000000000u };
	run_as(&launch, &options,
	       ARGV("sh", "-c", "echo $$ >\"$1\"/cgroup.procs; exec \"$2\" loop 100ms", "sh", where,
		    PROGRAM("burn")));
	uint64_t throttled = throttled_ns(where, v1);
	remove_cgroup(where);
	assert_int_equal(x.status, 0);
	assert_closed();
	/* 100 ms at a fifth of a CPU */
	assert_true(x.et_ns > 250000000);
	assert_true(throttled > 100000000);
	/* as the kernel itself counts it, however long others kept it from the CPU. Its count
	 * begins when the group is stopped; a thread is when it next returns to its program. */
	for (int i = 0; i < 2; i++) {
		uint64_t ns = i ? x.ledger.wall_ns[LEDGER_THROTTLED]
				: x.ledger.subject.ns[LEDGER_THROTTLED];
		if (ns < throttled * 3 / 4 || ns > throttled * 5 / 4)
			fail_msg("throttled for %llu ns, by the kernel %llu ns",
				 (unsigned long long)ns, (unsigned long long)throttled);
	}
}

/* With a collector of its own: 0 when all its ledgers close. */
static int measure_alone(void)
{
	struct error err = ERROR_INIT;
	struct collector *c = NULL;
	struct launcher *l = NULL;
	struct launch launch = { .as_root = true, .iteration = -1 };
	struct execute_options options = { .grace_ns = 1000000000 };
	struct execution own = { 0 };
	char why[1024] = "";
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	int failed = open_collector(&c, &err) || launcher_new(&l, &launch, &err);
	for (int i = 0; i < 10 && !failed; i++) {
		failed = execute(c, l, &launch, ARGV(PROGRAM("mix"), "7", "40"), &options, &own,
				 &err);
		if (!failed)
			closure_verdict(&own, why, sizeof why);
		failed = failed || *why;
	}
	if (failed)
		fprintf(stderr, "%s%s\n", err.text, why);
	launcher_free(l);
	collector_close(c);
	execution_release(&own);
	return failed;
}

static void two_collectors_keep_ledgers_at_once(void **state)
{
	(void)state;
	int told[2], theirs = -1;
	assert_int_equal(pipe(told), 0);
	pid_t pid = fork();
	if (pid == 0) {
		int failed = measure_alone();
		_exit(write(told[1], &failed, sizeof failed) < 0);
	}
	close(told[1]);
	int ours = measure_alone();
	/* not by its exit, which execute() may have taken */
	assert_int_equal(read(told[0], &theirs, sizeof theirs), sizeof theirs);
	close(told[0]);
	waitpid(pid, NULL, 0);
	assert_int_equal(ours, 0);
	assert_int_equal(theirs, 0);
}

typedef ARRAY(uint32_t) id_list;

/* Ids of the BPF programs that a process holds, itself or through a link. */
static void held_programs(pid_t pid, id_list *ids)
{
	char path[600];
	snprintf(path, sizeof path, "/proc/%d/fdinfo", (int)pid);
	DIR *fds = opendir(path);
	for (struct dirent *e; fds && (e = readdir(fds));) {
		snprintf(path, sizeof path, "/proc/%d/fdinfo/%s", (int)pid, e->d_name);
		char *text = e->d_name[0] != '.' ? file_read(path) : NULL;
		char *at = text ? strstr(text, "prog_id:") : NULL;
		if (at)
			array_push(ids, (uint32_t)strtoul(at + strlen("prog_id:"), NULL, 10));
		free(text);
	}
	if (fds)
		closedir(fds);
}

static bool program_is_there(uint32_t id)
{
	union bpf_attr attr = { .prog_id = id };
	long fd = syscall(SYS_bpf, BPF_PROG_GET_FD_BY_ID, &attr, sizeof attr);
	if (fd >= 0)
		close((int)fd);
	return fd >= 0 || errno != ENOENT;
}

static void a_killed_tare_leaves_nothing_behind(void **state)
{
	(void)state;
	int told[2];
	assert_int_equal(pipe(told), 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct error err = ERROR_INIT;
		struct launch launch = { .as_root = true, .iteration = -1 };
		struct execute_options options = { 0 };
		struct launcher *l;
		struct collector *c;
		close(told[0]);
		if (open_collector(&c, &err) || launcher_new(&l, &launch, &err) ||
		    write(told[1], "x", 1) != 1)
			_exit(1);
		execute(c, l, &launch, ARGV("sleep", "1"), &options, &x, &err);
		_exit(1);
	}
	char byte;
	close(told[1]);
	assert_int_equal(read(told[0], &byte, 1), 1);
	close(told[0]);
	usleep(200000); /* within the execution */
	id_list ids = { 0 };
	held_programs(pid, &ids);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_true(ids.count > 0);
	uint64_t until = clock_monotonic_ns() + 5000000000u;
	size_t left;
	do {
		left = 0;
		for (size_t i = 0; i < ids.count; i++)
			left += program_is_there(ids.items[i]);
		usleep(20000);
	} while (left && clock_monotonic_ns() < until);
	array_release(&ids);
	assert_int_equal(left, 0);
	while (waitpid(-1, NULL, 0) > 0)
		; /* the subject, an orphan now */
}

static void other_back_ends_keep_no_ledger(void **state)
{
	(void)state;
	for (enum backend b = BACKEND_PLAIN; b < BACKEND_BPF; b++) {
		struct error err = ERROR_INIT;
		struct collector *c;
		if (collector_open(&c, b, &err))
			continue;
		assert_int_equal(collector_keep_ledger(c, false, &err), -1);
		assert_true(*err.text);
		collector = c;
		struct launch launch = { .as_root = true, .iteration = -1 };
		struct execute_options options = { 0 };
		run_as(&launch, &options, ARGV("true"));
		assert_false(x.ledger.present);
		assert_true(x.pt_ns[GRADE_NET] == ABSENT_NS);
		collector_close(c);
		collector = NULL;
	}
}

static void need_ledger(void)
{
	struct error err = ERROR_INIT;
	struct collector *c;
	if (open_collector(&c, &err))
		skip_all(err.text);
	collector_close(c);
}

static void remove_folder(void)
{
	run_plainly(ARGV("rm", "-rf", folder));
}

static void prepare(const char *burn)
{
	cpu_set_t allowed;
	CPU_ZERO(&allowed);
	sched_getaffinity(0, sizeof allowed, &allowed);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &allowed))
			cpu = i;
	snprintf(programs, sizeof programs, "%.*s", (int)(strrchr(burn, '/') - burn), burn);
	strcpy(folder, "/var/tmp/tare-ledger.XXXXXX");
	if (!mkdtemp(folder) || chmod(folder, 0755))
		skip_all("no folder can be made in /var/tmp");
	snprintf(own_log, sizeof own_log, "%s/own", folder);
	snprintf(other_log, sizeof other_log, "%s/other", folder);
	setenv("BURN_LOG", own_log, 1);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	interrupt_watch();
}

int main(int argc, char **argv)
{
	if (argc < 2 || !strchr(argv[1], '/'))
		return 2;
	need_ledger();
	prepare(argv[1]);
#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(a_busy_loop_runs_and_its_interrupts_are_seen_from_both_sides),
		TEST(who_delays_a_loop_is_named_with_its_bursts),
		TEST(a_cold_read_waits_for_io),
		TEST(the_ledger_of_a_parallel_make_closes),
		TEST(threads_of_a_mutex_wait_for_it),
		TEST(the_ledger_of_a_database_closes),
		TEST(ledgers_of_random_mixes_close),
		TEST(ledgers_of_very_short_programs_close),
		TEST(an_orphan_has_a_ledger_to_its_own_end),
		TEST(a_ledger_that_was_ended_at_the_limit_closes),
		TEST(sleep_is_a_timer),
		TEST(a_real_time_task_beside_it_is_charged_what_it_took),
		TEST(a_device_is_shared_evenly_with_a_rival_reader),
		TEST(thousands_of_short_lives_are_counted),
		TEST(raw_tracepoints_keep_a_ledger_as_well),
		TEST(pids_used_again_are_threads_of_their_own),
		TEST(a_thread_that_is_renamed_stopped_and_moved_is_followed),
		TEST(a_thread_that_moves_to_a_cgroup_is_followed),
		TEST(time_over_a_quota_is_throttled),
		cmocka_unit_test(two_collectors_keep_ledgers_at_once),
		cmocka_unit_test(a_killed_tare_leaves_nothing_behind),
		cmocka_unit_test_teardown(other_back_ends_keep_no_ledger, end),
	};
	int failed = cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
	remove_folder();
	return failed;
}
