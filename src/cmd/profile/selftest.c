/* tare profile selftest: programs whose profile is known, sampled. */
#include <inttypes.h>
#include <link.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "binary/disassemble.h"
#include "cmd/cmd.h"
#include "cmd/profile/profile.h"

#define WORK_NS 1500000000u /* CPU time of each process */
#define TURNS 20000
#define CODE_SIZE 256 /* of a loop, at most: they are aligned to it */
#define HEAVY_SHARE 0.75
#define SHARE_TOLERANCE 0.03 /* beside what chance alone explains */
#define COUNT_TOLERANCE 0.1
/* On a busy machine tasks change at the tick: who is sampled there is not who ran in between. */
#define TICK_TOLERANCE 0.7
#define SELFTEST_HZ 997
#define FEW 10 /* samples before the exec, and the like */

/* ---- the work: two loops alike, one called three times as often ---- */

#define LOOP __attribute__((noinline, aligned(CODE_SIZE)))

LOOP static uint64_t selftest_heavy(uint64_t value)
{
	for (int i = 0; i < TURNS; i++)
		value = value * UINT64_C(6364136223846793005) + 1;
	return value;
}

LOOP static uint64_t selftest_light(uint64_t value)
{
	for (int i = 0; i < TURNS; i++)
		value = value * UINT64_C(2862933555777941757) + 3;
	return value;
}

/* So that what follows in the file is not within the light one's place. */
LOOP static uint64_t after_loops(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int work(void)
{
	volatile uint64_t value = 1;
	/* two processes of one program: instances 0 and 1 */
	pid_t other = fork();
	if (other < 0)
		return EXIT_ENVIRONMENT;
	while (after_loops() < WORK_NS) {
		value = selftest_light(value);
		for (int i = 0; i < 3; i++)
			value = selftest_heavy(value);
	}
	if (other == 0)
		_exit(0);
	int status = 1;
	waitpid(other, &status, 0);
	return status ? EXIT_CHECK : EXIT_DONE;
}

/* ---- judged ---- */

static int find_base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uint64_t *)base = info->dlpi_addr; /* the program itself comes first */
	return 1;
}

/* What nm would call its address; of this program, which is also the one that was sampled. */
static uint64_t address_in_file(uint64_t (*function)(uint64_t))
{
	uint64_t base = 0;
	dl_iterate_phdr(find_base, &base);
	return (uint64_t)(uintptr_t)function - base;
}

struct tally {
	uint64_t all, heavy, light;
	uint64_t off; /* not at the begin of an instruction */
	instruction_list heavy_code, light_code;
	uint64_t heavy_at, light_at;
};

static bool is_boundary(const instruction_list *list, uint64_t address)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].address == address)
			return true;
	return false;
}

static void tally_up(const struct profile *p, struct tally *t)
{
	for (size_t i = 0; i < p->samples.count; i++) {
		const struct profile_sample *s = &p->samples.items[i];
		const struct profile_stack *stack = &p->stack_list.items[s->stack];
		t->all += s->count;
		if (!stack->count || stack->kernel)
			continue;
		const struct profile_location *l =
			&p->locations.items[p->links.items[stack->first]];
		uint64_t at = l->address;
		bool heavy = at - t->heavy_at < CODE_SIZE, light = at - t->light_at < CODE_SIZE;
		t->heavy += heavy ? s->count : 0;
		t->light += light ? s->count : 0;
		if ((heavy && !is_boundary(&t->heavy_code, at)) ||
		    (light && !is_boundary(&t->light_code, at)))
			t->off += s->count;
	}
}

static void judge_shares(struct verdict *v, const struct tally *t)
{
	double both = (double)(t->heavy + t->light);
	double share = both > 0 ? (double)t->heavy / both : 0;
	double chance = both > 0 ? 4 * sqrt(HEAVY_SHARE * (1 - HEAVY_SHARE) / both) : 1;
	cmd_judge(v, both > FEW && fabs(share - HEAVY_SHARE) <= SHARE_TOLERANCE + chance,
		  "shares: called 3:1, sampled %" PRIu64 ":%" PRIu64
		  " (%.1f %%, expected 75 %% within "
		  "%.1f)",
		  t->heavy, t->light, share * 100, (SHARE_TOLERANCE + chance) * 100);
	cmd_judge(v, both >= 0.9 * (double)t->all,
		  "place: %.1f %% of %" PRIu64 " samples are in the two loops (at least 90 %%)",
		  t->all ? both * 100 / (double)t->all : 0, t->all);
	cmd_judge(v, both > 0 && !t->off,
		  "boundaries: %" PRIu64 " samples are not at the begin of an instruction", t->off);
}

static void judge_identity(struct verdict *v, const struct profile *p)
{
	size_t found = 0;
	bool told_apart = true;
	uint32_t pid = 0, app = PROFILE_NONE, number = UINT32_MAX;
	for (uint32_t i = 0; i < p->instances.count; i++) {
		const struct profile_instance *instance = &p->instances.items[i];
		uint64_t samples = 0;
		for (size_t k = 0; k < p->samples.count; k++)
			if (p->threads.items[p->samples.items[k].thread].instance == i)
				samples += p->samples.items[k].count;
		if (samples < FEW)
			continue;
		if (found &&
		    (instance->pid == pid || instance->app != app || instance->number == number))
			told_apart = false;
		pid = instance->pid;
		app = instance->app;
		number = instance->number;
		found++;
	}
	cmd_judge(v, found == 2 && told_apart,
		  "identity: %zu instances, of one program in two processes (2 expected)", found);
}

static void judge_count(struct verdict *v, const struct profile *p, const struct tally *t)
{
	struct rusage used = { 0 };
	getrusage(RUSAGE_CHILDREN, &used);
	double cpu_s = (double)used.ru_utime.tv_sec + (double)used.ru_stime.tv_sec +
		       1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
	double expected = cpu_s * p->hz;
	double most = p->mode == PROFILE_TICK ? TICK_TOLERANCE : COUNT_TOLERANCE;
	cmd_judge(v, expected > 0 && fabs((double)t->all - expected) <= most * expected,
		  "count: %" PRIu64 " samples, %.0f expected of %.2f s of CPU time at %g Hz",
		  t->all, expected, cpu_s, p->hz);
}

/* ---- sampled ---- */

static int keep_slice(void *context, struct profile *slice, struct error *err)
{
	(void)err;
	profile_merge(context, slice);
	return 0;
}

static int sample_work(struct samples *s, struct launcher *launcher, const struct launch *launch,
		       struct profile *into, struct error *err)
{
	char self[] = "/proc/self/exe", profile[] = "profile", selftest[] = "selftest";
	char option[] = "--work";
	char *words[] = { self, profile, selftest, option, NULL };
	struct command command;
	int status = 0;
	if (command_spawn(launcher, launch, words, &command, err))
		return -1;
	const struct profile_plan plan = { .slice_ns = PROFILE_SLICE_NS,
					   .command = &command,
					   .control_fd = -1 };
	int failed = samples_follow(s, command.pid, err);
	if (failed) {
		kill(command.pid, SIGKILL);
		waitpid(command.pid, NULL, 0);
	} else {
		failed = profile_run(s, &plan, keep_slice, into, &status, err) ||
			 command_started(&command, self, err);
	}
	command_release(&command);
	if (!failed && status)
		failed = error_set(err, EXIT_ENVIRONMENT, "the selftest's program failed");
	return failed;
}

static int sample_object(void *context, const struct profile_object *o)
{
	return samples_object_fd(context, o);
}

static int collect(const struct samples_options *options, struct profile *into, struct error *err)
{
	struct samples *s = NULL;
	struct launcher *launcher = NULL;
	const struct launch launch = { .as_root = true, .iteration = -1 };
	int failed = samples_open(&s, options, err) || launcher_new(&launcher, &launch, err) ||
		     sample_work(s, launcher, &launch, into, err);
	if (!failed) {
		const struct symbols_options how = { .open = sample_object,
						     .context = s,
						     .no_lines = true };
		struct reader *reader = reader_new(&how);
		reader_fill(reader, into);
		reader_free(reader);
	}
	launcher_free(launcher);
	samples_close(s);
	return failed;
}

static int code_of(uint64_t (*function)(uint64_t), uint64_t address, instruction_list *into,
		   struct error *err)
{
	const uint8_t *code;
	memcpy(&code, &function, sizeof code); /* no cast turns a function into data */
	return disassemble(address, code, CODE_SIZE, into, err);
}

struct selftest_options {
	const char *frequency;
	bool working;
};

static int test(void *options, const struct cmd_args *args, struct error *err)
{
	const struct selftest_options *o = options;
	struct samples_options how = { .mode = PROFILE_CLOCK };
	SCOPED(profile_release) struct profile p = { 0 };
	struct verdict v = { "ok ", "not ok " };
	struct tally t = { .heavy_at = address_in_file(selftest_heavy),
			   .light_at = address_in_file(selftest_light) };
	long hz = SELFTEST_HZ;
	if (args->operands.count)
		return error_set(err, EXIT_USAGE, "profile selftest takes no operands");
	if (o->working)
		return work();
	if (o->frequency && strcmp(o->frequency, "tick") == 0) {
		how.mode = PROFILE_TICK;
	} else if (o->frequency && !integer_parse(o->frequency, 1, INT32_MAX, &hz)) {
		return error_set(err, EXIT_USAGE,
				 "profile selftest: --frequency wants samples a second or 'tick', "
				 "not '%s'",
				 DISPLAYED(o->frequency, 64));
	} else {
		how.hz = (uint32_t)hz;
	}
	interrupt_watch();
	int failed = code_of(selftest_heavy, t.heavy_at, &t.heavy_code, err) ||
		     code_of(selftest_light, t.light_at, &t.light_code, err) ||
		     collect(&how, &p, err);
	if (!failed) {
		tally_up(&p, &t);
		judge_shares(&v, &t);
		judge_identity(&v, &p);
		judge_count(&v, &p, &t);
	}
	array_release(&t.heavy_code);
	array_release(&t.light_code);
	return failed ? -1 : v.failed ? EXIT_CHECK : EXIT_DONE;
}

int profile_selftest(struct lab_access *lab, int argc, char **argv)
{
	(void)lab;
	struct selftest_options o = { 0 };
	struct option_spec specs[] = { { 'F', "frequency", OPTION_TEXT, &o.frequency, "HZ",
					 "samples a second, or tick (default: 997)" },
				       { 0, "work", OPTION_FLAG, &o.working, NULL,
					 "be what is sampled", .hidden = true },
				       { 0 } };
	return cmd_run("tare profile selftest [OPTIONS]",
		       "Samples two loops, one called three times as often as the other, in two\n"
		       "processes, and checks what is found. Takes about 5 s.\n",
		       specs, argc, argv, test, &o);
}
