/* Samples on the live kernel: how many, whose, where, and the stacks. Bounds are wide, for this
 * runs on busy machines; bench/profile-* has the sharp ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "collect/samples/samples.h"
#include "subject.h"

#define MS UINT64_C(1000000)
#define DEPTH 20

/* ---- subjects ---- */

static uint64_t used_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

static volatile uint64_t sink;

/* Built without frame pointers: only .eh_frame leads out. */
__attribute__((noinline)) static void spin(uint64_t ns)
{
	for (uint64_t begin = used_ns(); used_ns() - begin < ns;)
		for (int i = 0; i < 20000; i++)
			sink += (uint64_t)i;
}

__attribute__((noinline)) static void descend(int depth, uint64_t ns)
{
	if (depth > 1)
		descend(depth - 1, ns);
	else
		spin(ns);
	sink++;
}

#define PAGES 3000

/* A page fault each. */
__attribute__((noinline)) static void touch(volatile char *memory)
{
	for (size_t i = 0; i < PAGES; i++)
		memory[i * (size_t)getpagesize()] = 1;
}

static void touch_pages(void)
{
	size_t size = PAGES * (size_t)getpagesize();
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || madvise(memory, size, MADV_NOHUGEPAGE) != 0)
		_exit(1);
	touch(memory);
}

/* Started by main() as `test-samples-live spin MS`: an app of its own. */
static int spinner(int argc, char **argv)
{
	spin((uint64_t)atoi(argv[argc - 1]) * MS);
	return 0;
}

/* ---- helpers ---- */

struct taken {
	struct samples *samples;
	struct profile profile;
};

static void begin(struct taken *t, const struct samples_options *o, pid_t follow)
{
	struct error err = ERROR_INIT;
	*t = (struct taken){ 0 };
	if (samples_open(&t->samples, o, &err))
		fail_msg("%s", err.text);
	if (follow && samples_follow(t->samples, follow, &err))
		fail_msg("%s", err.text);
	if (samples_start(t->samples, &err))
		fail_msg("%s", err.text);
}

static void beat(struct taken *t, uint64_t ns)
{
	struct error err = ERROR_INIT;
	struct pollfd fd = { .fd = samples_fd(t->samples), .events = POLLIN };
	poll(&fd, 1, (int)(ns / MS));
	assert_int_equal(samples_beat(t->samples, &err), 0);
}

static void take(struct taken *t)
{
	struct error err = ERROR_INIT;
	samples_stop(t->samples);
	assert_int_equal(samples_take(t->samples, &t->profile, &err), 0);
	const struct profile_slice *s = &t->profile.slices.items[0];
	uint64_t sum = 0, user = 0;
	for (size_t i = 0; i < t->profile.samples.count; i++) {
		const struct profile_sample *sample = &t->profile.samples.items[i];
		sum += sample->count;
		if (t->profile.stack_list.items[sample->stack].kernel == 0)
			user += sample->count;
	}
	/* every sample is in the profile, once */
	assert_int_equal(sum, s->samples);
	assert_int_equal(user, s->user);
	assert_int_equal(s->user + s->kernel, s->samples);
	assert_int_equal(s->lost, 0);
}

static void end(struct taken *t)
{
	profile_release(&t->profile);
	samples_close(t->samples);
}

static const struct profile_instance *instance_of(const struct profile *p,
						  const struct profile_sample *s)
{
	return &p->instances.items[p->threads.items[s->thread].instance];
}

static uint64_t samples_of_pid(const struct profile *p, uint32_t pid)
{
	uint64_t count = 0;
	for (size_t i = 0; i < p->samples.count; i++)
		if (instance_of(p, &p->samples.items[i])->pid == pid)
			count += p->samples.items[i].count;
	return count;
}

/* A child at a gate: it begins when the pipe is closed. */
struct child {
	pid_t pid;
	int gate;
};

static struct child fork_at_gate(void (*run)(void))
{
	int gate[2];
	char byte;
	assert_int_equal(pipe(gate), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(gate[1]);
		if (read(gate[0], &byte, 1) != 0)
			_exit(1);
		run();
		_exit(0);
	}
	close(gate[0]);
	return (struct child){ .pid = pid, .gate = gate[1] };
}

/* Lets it run to its end; gives its CPU time. */
static uint64_t run_to_end(struct child *c, struct taken *t)
{
	struct rusage used;
	int status;
	close(c->gate);
	while (wait4(c->pid, &status, WNOHANG, &used) == 0)
		beat(t,
		     samples_beat_ns(t->samples) < 50 * MS ? samples_beat_ns(t->samples) : 50 * MS);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return ((uint64_t)used.ru_utime.tv_sec + (uint64_t)used.ru_stime.tv_sec) * 1000 * MS +
	       ((uint64_t)used.ru_utime.tv_usec + (uint64_t)used.ru_stime.tv_usec) * 1000;
}

/* Of tasks that share a CPU, one loses it at the tick more often than another: whose the tick is
 * says less than how many there are. So this one shares with nobody. */
static void spin_600(void)
{
	struct sched_param first = { .sched_priority = 1 };
	sched_setscheduler(0, SCHED_FIFO, &first);
	spin(600 * MS);
}

/* Offset of a function in the file, by /proc/self/maps. */
static uint64_t offset_of(const void *code)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long from, to, offset, address = (unsigned long)code;
	char line[512];
	uint64_t found = 0;
	while (maps && fgets(line, sizeof line, maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &from, &to, &offset) == 3 && address >= from &&
		    address < to)
			found = address - from + offset;
	assert_non_null(maps);
	fclose(maps);
	return found;
}

static bool is_in(const struct profile *p, uint32_t location, uint64_t begin_offset, size_t size)
{
	const struct profile_location *l = &p->locations.items[location];
	return l->offset >= begin_offset && l->offset < begin_offset + size &&
	       strcmp(object_name(&p->objects.items[l->object]), "test-samples-live") == 0;
}

/* ---- tests ---- */

static void counts_cpu_time(enum profile_mode mode, uint32_t hz)
{
	struct taken t;
	struct samples_options o = { .mode = mode, .hz = hz };
	struct child c = fork_at_gate(spin_600);
	begin(&t, &o, 0);
	uint64_t cpu_ns = run_to_end(&c, &t);
	take(&t);
	assert_true(t.profile.hz > 1);
	double expected = (double)cpu_ns / 1e9 * t.profile.hz;
	uint64_t seen = samples_of_pid(&t.profile, (uint32_t)c.pid);
	if ((double)seen < expected * 0.85 || (double)seen > expected * 1.15)
		fail_msg("%ju samples, %.0f expected", (uintmax_t)seen, expected);
	uint64_t inside = 0, user = 0, from = offset_of((const void *)spin);
	for (size_t i = 0; i < t.profile.samples.count; i++) {
		const struct profile_sample *s = &t.profile.samples.items[i];
		const struct profile_stack *stack = &t.profile.stack_list.items[s->stack];
		if (instance_of(&t.profile, s)->pid != (uint32_t)c.pid || stack->kernel)
			continue;
		user += s->count;
		assert_int_equal(stack->count, 1);
		if (is_in(&t.profile, t.profile.links.items[stack->first], from, 256))
			inside += s->count;
	}
	assert_true(user * 10 > seen * 8);
	assert_true(inside * 100 > user * 90);
	end(&t);
}

static void samples_on_the_tick_count_cpu_time(void **state)
{
	(void)state;
	counts_cpu_time(PROFILE_TICK, 0);
}

static void samples_on_a_timer_count_cpu_time(void **state)
{
	(void)state;
	counts_cpu_time(PROFILE_CLOCK, 997);
}

/* Samples in touch(), of a child that touches pages. */
static uint64_t faults_seen(const char *event, uint64_t period)
{
	struct taken t;
	struct samples_options o = { .mode = PROFILE_EVENT, .event = event, .period = period };
	struct child c = fork_at_gate(touch_pages);
	begin(&t, &o, c.pid);
	run_to_end(&c, &t);
	take(&t);
	const struct profile *p = &t.profile;
	assert_int_equal(p->mode, PROFILE_EVENT);
	assert_string_equal(p->event, event);
	assert_int_equal(p->period, period ? period : 1);
	assert_false(p->hz > 0);
	assert_int_equal(p->slices.items[0].idle, 0);
	uint64_t inside = 0, from = offset_of((const void *)touch);
	array_each(s, &p->samples) {
		const struct profile_stack *stack = &p->stack_list.items[s->stack];
		if (!stack->kernel && is_in(p, p->links.items[stack->first], from, 128))
			inside += s->count;
	}
	end(&t);
	return inside;
}

static void each_page_fault_is_a_sample_where_it_occurred(void **state)
{
	(void)state;
	assert_int_equal(faults_seen("page-faults", 0), PAGES);
	assert_int_equal(faults_seen("page-faults:k", 1), 0);
}

/* Whose fault fills the period is chance where others have faults, too. */
static void one_of_so_many_page_faults_is_a_sample(void **state)
{
	(void)state;
	uint64_t seen = faults_seen("page-faults:u", 10);
	if (seen < PAGES / 10 * 8 / 10 || seen > PAGES / 10 * 12 / 10)
		fail_msg("%ju samples instead of %d", (uintmax_t)seen, PAGES / 10);
}

static void refuse_event(const char *event, enum exit_code code, const char *words)
{
	struct samples *s;
	struct error err = ERROR_INIT;
	struct samples_options o = { .mode = PROFILE_EVENT, .event = event };
	assert_int_equal(samples_open(&s, &o, &err), -1);
	assert_int_equal(err.code, code);
	if (!strstr(err.text, words))
		fail_msg("%s", err.text);
}

static void what_is_no_event_or_cannot_sample_is_refused(void **state)
{
	(void)state;
	refuse_event("no-such-event", EXIT_USAGE, "no event");
	refuse_event("page-faults,minor-faults", EXIT_USAGE, "several events");
	refuse_event("task-clock", EXIT_USAGE, "is time");
	if (access("/sys/bus/event_source/devices/msr/events/tsc", F_OK) == 0)
		refuse_event("msr/tsc/", EXIT_ENVIRONMENT, "cannot sample by it");
}

static void deep_600(void)
{
	descend(DEPTH, 600 * MS);
}

static void stacks_to_the_start(enum profile_mode mode)
{
	struct taken t;
	struct samples_options o = { .mode = mode, .hz = 997, .stacks = STACKS_EH_FRAME };
	struct child c = fork_at_gate(deep_600);
	begin(&t, &o, 0);
	run_to_end(&c, &t);
	take(&t);
	uint64_t user = 0, complete = 0, whole = 0, from = offset_of((const void *)descend);
	for (size_t i = 0; i < t.profile.samples.count; i++) {
		const struct profile_sample *s = &t.profile.samples.items[i];
		const struct profile_stack *stack = &t.profile.stack_list.items[s->stack];
		if (instance_of(&t.profile, s)->pid != (uint32_t)c.pid ||
		    stack->kernel == stack->count)
			continue;
		user += s->count;
		complete += stack->end == STACK_COMPLETE ? s->count : 0;
		size_t inside = 0;
		for (uint32_t k = 0; k < stack->count; k++)
			inside += is_in(&t.profile, t.profile.links.items[stack->first + k], from,
					128);
		/* the caller may lie right behind it */
		whole += inside == DEPTH || inside == DEPTH + 1 ? s->count : 0;
	}
	assert_true(user > 50);
	if (complete * 100 < user * 95 || whole * 100 < user * 95)
		fail_msg("of %ju stacks %ju reach the start, %ju have all %d frames",
			 (uintmax_t)user, (uintmax_t)complete, (uintmax_t)whole, DEPTH);
	end(&t);
}

/* Deeper than what is kept, and than what is copied while the program is not known yet. */
#define DEEP 5000

static void deep_recursion(void)
{
	descend(DEEP, 600 * MS);
}

static void a_deep_recursion_keeps_both_its_ends(void **state)
{
	(void)state;
	struct taken t;
	struct samples_options o = { .mode = PROFILE_CLOCK, .hz = 997, .stacks = STACKS_EH_FRAME };
	struct child c = fork_at_gate(deep_recursion);
	begin(&t, &o, 0);
	run_to_end(&c, &t);
	take(&t);
	uint64_t user = 0, both = 0, from = offset_of((const void *)deep_recursion);
	for (size_t i = 0; i < t.profile.samples.count; i++) {
		const struct profile_sample *s = &t.profile.samples.items[i];
		const struct profile_stack *stack = &t.profile.stack_list.items[s->stack];
		const uint32_t *links = t.profile.links.items + stack->first;
		if (instance_of(&t.profile, s)->pid != (uint32_t)c.pid ||
		    stack->kernel == stack->count)
			continue;
		user += s->count;
		bool outer = false;
		for (uint32_t k = stack->count - 20; stack->count > 20 && k < stack->count; k++)
			outer |= is_in(&t.profile, links[k], from, 32);
		both += outer && stack->end == STACK_ELIDED &&
					stack->count == stack->kernel + PROFILE_FRAMES_MAX + 1
				? s->count
				: 0;
	}
	assert_true(user > 50);
	if (both * 100 < user * 97)
		fail_msg("of %ju stacks %ju have both ends", (uintmax_t)user, (uintmax_t)both);
	end(&t);
}

static void stacks_on_the_tick_go_to_the_start(void **state)
{
	(void)state;
	stacks_to_the_start(PROFILE_TICK);
}

static void stacks_on_a_timer_go_to_the_start(void **state)
{
	(void)state;
	stacks_to_the_start(PROFILE_CLOCK);
}

static void spin_fork_and_exec(void)
{
	spin(150 * MS);
	pid_t pid = fork();
	if (pid == 0) {
		spin(150 * MS);
		execl("/proc/self/exe", "test-samples-live", "spin", "150", NULL);
		_exit(9);
	}
	int status;
	waitpid(pid, &status, 0);
	_exit(status);
}

static void instances_of_an_app_are_told_apart(void **state)
{
	(void)state;
	struct taken t;
	struct samples_options o = { .mode = PROFILE_CLOCK, .hz = 997 };
	struct child c = fork_at_gate(spin_fork_and_exec);
	begin(&t, &o, c.pid);
	run_to_end(&c, &t);
	assert_true(samples_idle(t.samples));
	take(&t);
	/* the child, its child, and what that became by exec: three instances of one app, two with
	 * one pid */
	const struct profile *p = &t.profile;
	assert_int_equal(p->instances.count, 3);
	assert_int_equal(p->apps.count, 1);
	uint32_t numbers = 0, shared = 0;
	for (size_t i = 0; i < 3; i++) {
		numbers |= 1u << p->instances.items[i].number;
		for (size_t k = 0; k < i; k++)
			shared += p->instances.items[i].pid == p->instances.items[k].pid;
		assert_true(samples_of_pid(p, p->instances.items[i].pid) > 30);
	}
	assert_int_equal(numbers, 7);
	assert_int_equal(shared, 1);
	assert_true(p->slices.items[0].others > 0 || p->slices.items[0].idle > 0);
	end(&t);
}

static char *copy_of_self(void)
{
	static char path[64];
	char buffer[65536];
	snprintf(path, sizeof path, "/tmp/tare-samples-%d", (int)getpid());
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	assert_true(from >= 0 && to >= 0);
	for (ssize_t n; (n = read(from, buffer, sizeof buffer)) > 0;)
		assert_int_equal(write(to, buffer, (size_t)n), n);
	close(from);
	close(to);
	return path;
}

static char *copied;

static void run_copy(void)
{
	execl(copied, copied, "spin", "400", NULL);
	_exit(9);
}

static void a_binary_deleted_while_it_runs_is_known(void **state)
{
	(void)state;
	struct taken t;
	struct samples_options o = { .mode = PROFILE_CLOCK, .hz = 997 };
	copied = copy_of_self();
	struct child c = fork_at_gate(run_copy);
	begin(&t, &o, c.pid);
	close(c.gate);
	c.gate = dup(0);
	for (int i = 0; i < 4; i++)
		beat(&t, 50 * MS);
	struct error err = ERROR_INIT;
	assert_int_equal(samples_take(t.samples, &t.profile, &err), 0);
	assert_int_equal(unlink(copied), 0);
	run_to_end(&c, &t);
	const struct profile_object *object = NULL;
	for (size_t i = 0; i < t.profile.objects.count; i++)
		if (strcmp(t.profile.objects.items[i].path, copied) == 0)
			object = &t.profile.objects.items[i];
	assert_non_null(object);
	int fd = samples_object_fd(t.samples, object);
	assert_true(fd >= 0);
	char magic[4];
	assert_int_equal(pread(fd, magic, 4, 0), 4);
	assert_memory_equal(magic, "\177ELF", 4);
	close(fd);
	end(&t);
}

static void impossible_rates_groups_and_processes_are_refused(void **state)
{
	(void)state;
	struct samples *s;
	struct error err = ERROR_INIT;
	struct samples_options fast = { .mode = PROFILE_CLOCK, .hz = samples_max_hz() + 1 };
	assert_int_equal(samples_open(&s, &fast, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	struct samples_options nowhere = { .mode = PROFILE_TICK, .cgroup = "no/such/cgroup" };
	assert_int_equal(samples_open(&s, &nowhere, &err), -1);
	assert_true(err.code == EXIT_USAGE || err.code == EXIT_ENVIRONMENT);
	pid_t gone = 4194304 + 7; /* above every pid_max */
	struct samples_options nobody = { .mode = PROFILE_TICK, .pids = &gone, .pid_count = 1 };
	assert_int_equal(samples_open(&s, &nobody, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
}

static void nothing(void)
{
}

/* It ends when it is known and not watched yet. */
static void a_process_that_ended_before_the_start_leaves_nothing_to_wait_for(void **state)
{
	(void)state;
	struct taken t = { 0 };
	struct error err = ERROR_INIT;
	struct child c = fork_at_gate(nothing);
	struct samples_options o = {
		.mode = PROFILE_CLOCK, .hz = 997, .pids = &c.pid, .pid_count = 1
	};
	assert_int_equal(samples_open(&t.samples, &o, &err), 0);
	close(c.gate);
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)c.pid, &info, WEXITED | WNOWAIT),
			 0); /* a zombie now */
	assert_int_equal(samples_start(t.samples, &err), 0);
	assert_true(samples_idle(t.samples));
	assert_int_equal(waitpid(c.pid, NULL, 0), c.pid);
	end(&t);
}

static uint64_t samples_in(const struct profile *p, uint32_t slice)
{
	uint64_t count = 0;
	for (size_t i = 0; i < p->samples.count; i++)
		if (p->samples.items[i].slice == slice)
			count += p->samples.items[i].count;
	return count;
}

/* Slices one after the other hold each sample once. */
static void slices_of(enum profile_stacks stacks)
{
	struct taken t;
	struct samples_options o = { .mode = PROFILE_CLOCK, .hz = 997, .stacks = stacks };
	struct child c = fork_at_gate(spin_600);
	begin(&t, &o, c.pid);
	close(c.gate);
	c.gate = dup(0);
	struct error err = ERROR_INIT;
	for (int i = 0; i < 3; i++) {
		beat(&t, 100 * MS);
		assert_int_equal(samples_take(t.samples, &t.profile, &err), 0);
	}
	uint64_t cpu_ns = run_to_end(&c, &t);
	samples_stop(t.samples);
	assert_int_equal(samples_take(t.samples, &t.profile, &err), 0);
	assert_int_equal(t.profile.slices.count, 4);
	uint64_t sum = 0;
	for (size_t i = 0; i < 4; i++) {
		sum += t.profile.slices.items[i].samples;
		assert_int_equal(samples_in(&t.profile, (uint32_t)i),
				 t.profile.slices.items[i].samples);
		if (i > 0)
			assert_true(t.profile.slices.items[i].begin_ns ==
				    t.profile.slices.items[i - 1].end_ns);
	}
	assert_int_equal(sum, samples_of_pid(&t.profile, (uint32_t)c.pid));
	double expected = (double)cpu_ns / 1e9 * 997;
	assert_true((double)sum > expected * 0.85 && (double)sum < expected * 1.15);
	assert_int_equal(t.profile.instances.count, 1);
	end(&t);
}

static void slices_add_up(void **state)
{
	(void)state;
	slices_of(STACKS_NONE);
	slices_of(STACKS_POINTERS);
	slices_of(STACKS_EH_FRAME);
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "spin") == 0)
		return spinner(argc, argv);
	struct samples *s;
	struct error err = ERROR_INIT;
	struct samples_options o = { .mode = PROFILE_TICK };
	if (samples_open(&s, &o, &err))
		skip_all(err.text);
	bool bpf = samples_backend(s) == BACKEND_BPF;
	samples_close(s);
	if (!bpf)
		skip_all("without BPF");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_on_the_tick_count_cpu_time),
		cmocka_unit_test(samples_on_a_timer_count_cpu_time),
		cmocka_unit_test(each_page_fault_is_a_sample_where_it_occurred),
		cmocka_unit_test(one_of_so_many_page_faults_is_a_sample),
		cmocka_unit_test(what_is_no_event_or_cannot_sample_is_refused),
		cmocka_unit_test(stacks_on_the_tick_go_to_the_start),
		cmocka_unit_test(stacks_on_a_timer_go_to_the_start),
		cmocka_unit_test(a_deep_recursion_keeps_both_its_ends),
		cmocka_unit_test(instances_of_an_app_are_told_apart),
		cmocka_unit_test(a_binary_deleted_while_it_runs_is_known),
		cmocka_unit_test(impossible_rates_groups_and_processes_are_refused),
		cmocka_unit_test(slices_add_up),
		cmocka_unit_test(a_process_that_ended_before_the_start_leaves_nothing_to_wait_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
