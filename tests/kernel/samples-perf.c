/* The perf back end of samples, as an ordinary user has it: run as nobody when this is root. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "collect/samples/samples.h"
#include "subject.h"

#define NOBODY 65534
#define HZ 997

static uint64_t cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* A section for each, of which the linker tells begin and end. */
#define ALONE(section_name) __attribute__((noinline, section(section_name)))
extern const char __start_spin_code[], __stop_spin_code[];
extern const char __start_spin_for_code[], __stop_spin_for_code[];
extern const char __start_main_code[], __stop_main_code[];

ALONE("spin_code") static void spin(volatile uint64_t *turns)
{
	/* gcc gives a leaf a frame only when somebody looks at it */
	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));
	for (int i = 0; i < 20000000; i++)
		++*turns;
}

ALONE("spin_for_code") static void spin_for(uint64_t ns)
{
	volatile uint64_t turns = 0;
	for (uint64_t until = cpu_ns() + ns; cpu_ns() < until;)
		spin(&turns);
}

/* A child of this process, at its gate. */
struct child {
	pid_t pid;
	int gate;
};

static struct child child_new(void (*run)(void))
{
	int gate[2];
	assert_int_equal(pipe(gate), 0);
	struct child c = { .pid = fork(), .gate = gate[1] };
	if (c.pid == 0) {
		char byte;
		close(gate[1]);
		if (read(gate[0], &byte, 1) != 0)
			_exit(1);
		run();
		_exit(0);
	}
	close(gate[0]);
	return c;
}

static struct rusage usage;

/* Runs it to its end under a collector. */
static struct samples *profiled(struct samples_options *o, void (*run)(void), struct profile *into)
{
	struct error err = ERROR_INIT;
	struct samples *s = NULL;
	struct child c = child_new(run);
	o->unprivileged = true;
	if (samples_open(&s, o, &err) || samples_follow(s, c.pid, &err) || samples_start(s, &err))
		fail_msg("%s; %s", err.text, err.hint);
	assert_false(samples_idle(s));
	close(c.gate);
	while (!samples_idle(s)) {
		uint64_t beat = samples_beat_ns(s);
		usleep((useconds_t)(beat < 100000000 ? beat / 1000 : 100000));
		assert_int_equal(samples_beat(s, &err), 0);
	}
	int status;
	wait4(c.pid, &status, 0, &usage);
	assert_int_equal(status, 0);
	samples_stop(s);
	samples_describe(s, into);
	assert_int_equal(samples_take(s, into, &err), 0);
	assert_int_equal(into->slices.count, 1);
	return s;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static uint64_t count_of_app(const struct profile *p, const char *name)
{
	uint64_t count = 0;
	for (size_t i = 0; i < p->samples.count; i++) {
		const struct profile_thread *t = &p->threads.items[p->samples.items[i].thread];
		const struct profile_instance *n = &p->instances.items[t->instance];
		if (strcmp(p->apps.items[n->app].name, name) == 0)
			count += p->samples.items[i].count;
	}
	return count;
}

/* Where in the file a function of this program is. */
static uint64_t offset_of(uintptr_t address)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4096];
	uintmax_t begin, end, offset, found = 0;
	while (maps && fgets(line, sizeof line, maps))
		if (sscanf(line, "%jx-%jx %*s %jx", &begin, &end, &offset) == 3 &&
		    address >= begin && address < end)
			found = address - begin + offset;
	if (maps)
		fclose(maps);
	assert_true(found > 0);
	return found;
}

static bool location_within(const struct profile *p, uint32_t location, const char *begin,
			    const char *end)
{
	const struct profile_location *l = &p->locations.items[location];
	const char *name = object_name(&p->objects.items[l->object]);
	return strcmp(name, "test-samples-perf") == 0 && l->offset >= offset_of((uintptr_t)begin) &&
	       l->offset < offset_of((uintptr_t)end - 1) + 1;
}

static void spin_a_second(void)
{
	spin_for(UINT64_C(1000000000));
}

static void samples_are_where_the_time_is(void **state)
{
	(void)state;
	struct samples_options o = { .mode = PROFILE_CLOCK, .hz = HZ };
	struct profile p = { 0 };
	struct samples *s = profiled(&o, spin_a_second, &p);
	assert_int_equal(samples_backend(s), BACKEND_PLAIN);
	assert_non_null(strstr(samples_not_seen(s), "kernel"));
	assert_int_equal(p.mode, PROFILE_CLOCK);
	const struct profile_slice *slice = &p.slices.items[0];
	double expected = seconds(usage.ru_utime) * HZ;
	print_message("%ju samples, %.0f by its CPU time; lost %ju, tare itself %.1f ms\n",
		      (uintmax_t)slice->samples, expected, (uintmax_t)slice->lost,
		      (double)slice->self_ns / 1e6);
	assert_true((double)slice->samples >= 0.9 * expected);
	assert_true((double)slice->samples <= 1.1 * expected + 5);
	assert_int_equal(slice->lost, 0);
	uint64_t inside = 0;
	for (size_t i = 0; i < p.samples.count; i++) {
		const struct profile_stack *k = &p.stack_list.items[p.samples.items[i].stack];
		assert_int_equal(k->count, 1);
		if (location_within(&p, p.links.items[k->first], __start_spin_code,
				    __stop_spin_code))
			inside += p.samples.items[i].count;
	}
	assert_true((double)inside >= 0.95 * (double)slice->samples);
	assert_int_equal(p.instances.count, 1);
	assert_int_equal(count_of_app(&p, "test-samples-perf"), slice->samples);
	for (uint32_t i = 0; i < p.objects.count; i++) {
		int fd = samples_object_fd(s, &p.objects.items[i]);
		assert_true(p.objects.items[i].kind != OBJECT_FILE || fd >= 0);
		close(fd);
	}
	samples_close(s);
	profile_release(&p);
}

#define PAGES 3000

static void touch_pages(void)
{
	size_t page = (size_t)getpagesize();
	volatile char *memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || madvise((void *)memory, PAGES * page, MADV_NOHUGEPAGE) != 0)
		_exit(1);
	for (size_t i = 0; i < PAGES; i++)
		memory[i * page] = 1;
}

static void own_page_faults_are_samples(void **state)
{
	(void)state;
	struct samples_options o = { .mode = PROFILE_EVENT, .event = "page-faults", .period = 10 };
	struct profile p = { 0 };
	struct samples *s = profiled(&o, touch_pages, &p);
	assert_int_equal(p.mode, PROFILE_EVENT);
	assert_string_equal(p.event, "page-faults");
	assert_int_equal(p.period, 10);
	assert_in_range(p.slices.items[0].samples, PAGES / 10, PAGES / 10 + 60);
	samples_close(s);
	profile_release(&p);
}

static void what_only_the_kernel_sees_is_refused(void **state)
{
	(void)state;
	static const char *const events[] = { "context-switches", "page-faults:k" };
	for (size_t i = 0; i < 2; i++) {
		struct samples *s = NULL;
		struct error err = ERROR_INIT;
		struct samples_options o = { .mode = PROFILE_EVENT,
					     .event = events[i],
					     .unprivileged = true };
		assert_int_equal(samples_open(&s, &o, &err), -1);
		assert_int_equal(err.code, EXIT_ENVIRONMENT);
		assert_non_null(strstr(err.text, "happens in the kernel"));
	}
}

static bool stack_has(const struct profile *p, const struct profile_stack *k, const char *begin,
		      const char *end)
{
	for (uint32_t i = 1; i < k->count; i++)
		if (location_within(p, p->links.items[k->first + i], begin, end))
			return true;
	return false;
}

struct depth {
	uint64_t caller, to_main, ends[STACK_ENDS];
};

/* How many of the samples have the caller of spin(), and main(), in their stack. */
static struct depth depth_of(const struct profile *p)
{
	struct depth d = { 0 };
	for (size_t i = 0; i < p->samples.count; i++) {
		const struct profile_stack *k = &p->stack_list.items[p->samples.items[i].stack];
		uint64_t count = p->samples.items[i].count;
		if (stack_has(p, k, __start_spin_for_code, __stop_spin_for_code))
			d.caller += count;
		if (stack_has(p, k, __start_main_code, __stop_main_code))
			d.to_main += count;
		d.ends[k->end] += count;
	}
	return d;
}

static void stacks_go_up_to_main(void **state)
{
	(void)state;
	static const enum profile_stacks kinds[] = { STACKS_POINTERS, STACKS_EH_FRAME };
	for (size_t i = 0; i < 2; i++) {
		struct samples_options o = { .mode = PROFILE_CLOCK, .hz = HZ, .stacks = kinds[i] };
		struct profile p = { 0 };
		struct samples *s = profiled(&o, spin_a_second, &p);
		double all = (double)p.slices.items[0].samples;
		struct depth d = depth_of(&p);
		print_message("%s: %.0f samples, caller %ju, main %ju, complete %ju, limit %ju, "
			      "broken %ju, lost %ju, tare itself %.1f ms\n",
			      profile_stacks_names[p.stacks], all, (uintmax_t)d.caller,
			      (uintmax_t)d.to_main, (uintmax_t)d.ends[STACK_COMPLETE],
			      (uintmax_t)d.ends[STACK_LIMIT], (uintmax_t)d.ends[STACK_BROKEN],
			      (uintmax_t)p.slices.items[0].lost,
			      (double)p.slices.items[0].self_ns / 1e6);
		assert_true(all >= 0.9 * seconds(usage.ru_utime) * HZ);
		assert_true((double)d.caller >= 0.95 * all);
		if (kinds[i] == STACKS_EH_FRAME) {
			assert_true((double)d.to_main >= 0.95 * all);
			assert_true((double)d.ends[STACK_COMPLETE] >= 0.95 * all);
		}
		samples_close(s);
		profile_release(&p);
	}
}

static void family(void)
{
	pid_t same = fork();
	if (same == 0) {
		spin_for(UINT64_C(300000000));
		_exit(0);
	}
	waitpid(same, NULL, 0);
	pid_t other = fork();
	if (other == 0) {
		execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done",
		      (char *)NULL);
		_exit(1);
	}
	waitpid(other, NULL, 0);
	spin_for(UINT64_C(300000000));
}

static void forks_are_instances_and_execs_apps(void **state)
{
	(void)state;
	struct samples_options o = { .mode = PROFILE_CLOCK, .hz = HZ };
	struct profile p = { 0 };
	struct samples *s = profiled(&o, family, &p);
	unsigned own = 0, numbers = 0, shells = 0;
	for (size_t i = 0; i < p.instances.count; i++) {
		const struct profile_instance *n = &p.instances.items[i];
		const struct profile_app *app = &p.apps.items[n->app];
		if (strcmp(app->name, "test-samples-perf") == 0) {
			own++;
			numbers |= 1u << n->number;
		} else {
			shells++;
			assert_int_equal(n->number, 0);
			assert_int_equal(n->exec_id, 1);
			assert_true(app->object != PROFILE_NONE);
		}
	}
	/* the child before its exec may have had a sample of its own */
	assert_true(own == 2 || own == 3);
	assert_int_equal(numbers & 3, 3);
	assert_int_equal(shells, 1);
	double of_own = (double)count_of_app(&p, "test-samples-perf");
	assert_true(of_own > 0.85 * 0.6 * HZ && of_own < 1.2 * 0.6 * HZ);
	samples_close(s);
	profile_release(&p);
}

static void *spin_thread(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "spinner");
	volatile uint64_t turns = 0;
	for (int i = 0; i < 10; i++)
		spin(&turns);
	return NULL;
}

static void two_threads(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, spin_thread, NULL);
	spin_thread(NULL);
	pthread_join(thread, NULL);
}

static void threads_are_of_one_instance(void **state)
{
	(void)state;
	struct samples_options o = { .mode = PROFILE_TICK };
	struct profile p = { 0 };
	struct samples *s = profiled(&o, two_threads, &p);
	assert_non_null(strstr(samples_not_seen(s), "tick"));
	assert_int_equal(p.instances.count, 1);
	assert_int_equal(p.threads.count, 2);
	double expected = seconds(usage.ru_utime) * p.hz;
	assert_true((double)p.slices.items[0].samples >= 0.7 * expected);
	samples_close(s);
	profile_release(&p);
}

static uint64_t cpu_ns_of(pid_t pid)
{
	clockid_t clock;
	struct timespec t = { 0 };
	assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
	assert_int_equal(clock_gettime(clock, &t), 0);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *spin_forever(void *unused)
{
	while (!spin_thread(unused)) {
	}
	return NULL;
}

static void spin_on_two_threads_forever(void)
{
	pthread_t thread;
	alarm(20);
	pthread_create(&thread, NULL, spin_forever, NULL);
	spin_forever(NULL);
}

/* A process that runs already, with threads; in two slices. */
static void a_running_process_is_sampled_in_slices(void **state)
{
	(void)state;
	struct child c = child_new(spin_on_two_threads_forever);
	close(c.gate);
	usleep(100000);
	struct samples_options o = { .mode = PROFILE_CLOCK,
				     .hz = HZ,
				     .unprivileged = true,
				     .pids = &c.pid,
				     .pid_count = 1 };
	struct samples *s = NULL;
	struct error err = ERROR_INIT;
	struct profile p = { 0 };
	if (samples_open(&s, &o, &err) || samples_start(s, &err))
		fail_msg("%s", err.text);
	uint64_t before = cpu_ns_of(c.pid);
	for (int i = 0; i < 2; i++) {
		usleep(300000);
		assert_int_equal(samples_take(s, &p, &err), 0);
		uint64_t used = cpu_ns_of(c.pid) - before;
		double expected = (double)used / 1e9 * HZ;
		before += used;
		print_message("slice %d: %ju samples, %.0f by its CPU time\n", i,
			      (uintmax_t)p.slices.items[i].samples, expected);
		/* the clock is read a little before and after the slice's ends */
		assert_true((double)p.slices.items[i].samples >= 0.85 * expected - 10);
		assert_true((double)p.slices.items[i].samples <= 1.15 * expected + 10);
	}
	assert_false(samples_idle(s));
	kill(c.pid, SIGKILL);
	waitpid(c.pid, NULL, 0);
	assert_int_equal(samples_take(s, &p, &err), 0);
	assert_true(samples_idle(s));
	assert_int_equal(p.slices.count, 3);
	for (int i = 0; i < 2; i++) {
		assert_true(p.slices.items[i].samples > 0);
		assert_true(p.slices.items[i].end_ns > p.slices.items[i].begin_ns + 290000000);
		assert_true(p.slices.items[i].end_ns <= p.slices.items[i + 1].begin_ns);
	}
	assert_int_equal(p.instances.count, 1);
	assert_int_equal(p.threads.count, 2);
	assert_true(p.instances.items[0].start_ns > 0);
	if (access("/proc/self/cgroup", R_OK) == 0)
		assert_non_null(p.instances.items[0].cgroup);
	for (size_t i = 0; i < p.objects.count; i++)
		assert_true(p.objects.items[i].kind != OBJECT_UNKNOWN);
	samples_close(s);
	profile_release(&p);
}

/* Whoever waits for the descriptor instead of the beat loses nothing either. */
static void a_ring_that_fills_wakes_who_waits_for_it(void **state)
{
	(void)state;
	struct child c = child_new(spin_a_second);
	struct samples_options o = { .mode = PROFILE_CLOCK,
				     .hz = 3989,
				     .stacks = STACKS_EH_FRAME,
				     .unprivileged = true,
				     .pids = &c.pid,
				     .pid_count = 1 };
	struct samples *s = NULL;
	struct error err = ERROR_INIT;
	struct profile p = { 0 };
	if (samples_open(&s, &o, &err) || samples_start(s, &err))
		fail_msg("%s", err.text);
	close(c.gate);
	unsigned woken = 0;
	while (!samples_idle(s)) {
		struct pollfd wait = { .fd = samples_fd(s), .events = POLLIN };
		woken += poll(&wait, 1, 1000) > 0;
		assert_int_equal(samples_beat(s, &err), 0);
	}
	waitpid(c.pid, NULL, 0);
	assert_int_equal(samples_take(s, &p, &err), 0);
	const struct profile_slice *slice = &p.slices.items[0];
	print_message("%ju samples at 3989 Hz, woken %u times, lost %ju, ring %u KiB, at most %u%% "
		      "full, throttled %ju\n",
		      (uintmax_t)slice->samples, woken, (uintmax_t)slice->lost,
		      slice->peak_room / 1024,
		      100 * (slice->peak_used / 1024) / (slice->peak_room / 1024),
		      (uintmax_t)slice->throttled);
	assert_true(woken >= 2);
	assert_true(woken < slice->samples / 4);
	/* a reader that gets no CPU for long loses some */
	assert_true(slice->lost * 10 < slice->samples);
	samples_close(s);
	profile_release(&p);
}

static void what_cannot_be_is_said(void **state)
{
	(void)state;
	struct samples *s = NULL;
	struct error err = ERROR_INIT;
	struct samples_options o = { .mode = PROFILE_CLOCK, .hz = HZ, .unprivileged = true };
	assert_int_equal(samples_open(&s, &o, &err), 0);
	assert_int_equal(samples_start(s, &err), -1);
	assert_int_equal(err.code, EXIT_ENVIRONMENT);
	assert_true(*err.hint);
	samples_close(s);
	o.hz = samples_max_hz() + 1;
	assert_int_equal(samples_open(&s, &o, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	pid_t gone = fork();
	if (gone == 0)
		_exit(0);
	waitpid(gone, NULL, 0);
	o.hz = HZ;
	o.pids = &gone;
	o.pid_count = 1;
	assert_int_equal(samples_open(&s, &o, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	o.pid_count = 0;
	o.cgroup = "/";
	assert_int_equal(samples_open(&s, &o, &err), -1);
	assert_int_equal(err.code, EXIT_ENVIRONMENT);
}

static bool nobody_reads(const char *path)
{
	int status = 0;
	pid_t child = fork();
	if (child == 0)
		_exit(setgid(NOBODY) != 0 || setuid(NOBODY) != 0 || access(path, R_OK) != 0);
	return waitpid(child, &status, 0) == child && status == 0;
}

static bool copy_self(const char *to)
{
	char buffer[65536];
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int into = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	ssize_t n = from < 0 || into < 0 ? -1 : 1;
	while (n > 0 && (n = read(from, buffer, sizeof buffer)) > 0)
		n = write(into, buffer, (size_t)n) == n ? n : -1;
	close(from);
	close(into);
	return n == 0;
}

/* A clone may lie where nobody else looks: then this program runs as a copy that nobody may read.
 */
static void go_where_nobody_reads(char **argv)
{
	char self[4096] = "", directory[] = "/tmp/tare-samples-XXXXXX", copy[128];
	int status = 1;
	if (geteuid() != 0 || readlink("/proc/self/exe", self, sizeof self - 1) < 0 ||
	    nobody_reads(self))
		return;
	if (!mkdtemp(directory) || chmod(directory, 0755) != 0)
		skip_all("cannot make a directory");
	snprintf(copy, sizeof copy, "%s/test-samples-perf", directory);
	if (copy_self(copy)) {
		pid_t child = fork();
		if (child == 0) {
			execv(copy, argv);
			_exit(1);
		}
		waitpid(child, &status, 0);
	}
	unlink(copy);
	rmdir(directory);
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* A process that was another user's until now is not this one's to look at, unless it says so. */
static void become_nobody(void)
{
	if (geteuid() != 0)
		return;
	if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0 || prctl(PR_SET_DUMPABLE, 1) != 0)
		skip_all("cannot become nobody");
}

ALONE("main_code") int main(int argc, char **argv)
{
	(void)argc;
	go_where_nobody_reads(argv);
	become_nobody();
	struct samples *s = NULL;
	struct error err = ERROR_INIT;
	struct samples_options o = { .mode = PROFILE_CLOCK, .hz = HZ, .unprivileged = true };
	if (samples_open(&s, &o, &err))
		skip_all(err.text);
	samples_close(s);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_where_the_time_is),
		cmocka_unit_test(own_page_faults_are_samples),
		cmocka_unit_test(what_only_the_kernel_sees_is_refused),
		cmocka_unit_test(stacks_go_up_to_main),
		cmocka_unit_test(forks_are_instances_and_execs_apps),
		cmocka_unit_test(threads_are_of_one_instance),
		cmocka_unit_test(a_running_process_is_sampled_in_slices),
		cmocka_unit_test(a_ring_that_fills_wakes_who_waits_for_it),
		cmocka_unit_test(what_cannot_be_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
