/* tare daemon: the synthetic daemon, told to stop by signals, with what it did as CSV. */
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "subject/daemon.h"

#define NOT_GIVEN (-1)
enum daemon_class { CLASS_FIFO, CLASS_OTHER };

struct daemon_options {
	struct daemon_plan plan;
	int class; /* index in "fifo|other"; NOT_GIVEN */
	bool fifo;
	long count, cpu, priority, start_at, seed;
	const char *log;
};

static void stop(int number)
{
	(void)number;
	daemon_stop();
}

static int write_log(const char *path, const struct daemon *d, struct error *err)
{
	SCOPED(strbuf_release) struct strbuf out = { 0 };
	strbuf_puts(&out, "number,begin_ns,length_ns,cpu_ns\n");
	uint64_t dropped = d->activations > DAEMON_LOG_MOST ? d->activations - DAEMON_LOG_MOST : 0;
	for (uint64_t i = dropped; i < d->activations; i++) {
		const struct daemon_activation *a = &d->log[i % DAEMON_LOG_MOST];
		strbuf_printf(&out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", a->number,
			      a->begin_ns, a->length_ns, a->cpu_ns);
	}
	int failed = file_write(path, strbuf_text(&out), out.length, err);
	if (!failed && dropped)
		fprintf(stderr,
			"tare: the log has the last %d activations; %" PRIu64
			" before them were dropped\n",
			DAEMON_LOG_MOST, dropped);
	return failed;
}

static void say_begin(const struct daemon *d)
{
	char name[64], period[64], work[64], jitter[32] = "", class[32] = "", cpu[32] = "";
	text_display(d->plan.name, name, sizeof name);
	text_duration((double)d->plan.period_ns, 4, period, sizeof period);
	text_duration((double)d->plan.work_ns, 4, work, sizeof work);
	if (d->plan.jitter > 0)
		snprintf(jitter, sizeof jitter, " ± %.3g %%", 100 * d->plan.jitter);
	if (d->realtime)
		snprintf(class, sizeof class, ", FIFO %d", d->plan.priority);
	if (d->plan.cpu >= 0)
		snprintf(cpu, sizeof cpu, ", CPU %d", d->plan.cpu);
	if (d->plan.realtime && !d->realtime)
		fputs("tare: without CAP_SYS_NICE the daemon runs in the ordinary class: others "
		      "may\n      interrupt its work and delay it\n",
		      stderr);
	if (!d->locked)
		fputs("tare: its memory cannot be locked: page faults may lengthen its work\n",
		      stderr);
	fprintf(stderr, "tare: %s (%d) works %s every %s%s%s%s\n", name, (int)getpid(), work,
		period, jitter, class, cpu);
}

static void say_end(const struct daemon *d)
{
	uint64_t kept = d->activations < DAEMON_LOG_MOST ? d->activations : DAEMON_LOG_MOST;
	uint64_t low = UINT64_MAX, high = 0;
	double sum = 0;
	for (uint64_t i = 0; i < kept; i++) {
		uint64_t ns = d->log[i].length_ns;
		low = ns < low ? ns : low;
		high = ns > high ? ns : high;
		sum += (double)ns;
	}
	fprintf(stderr, "tare: %" PRIu64 " activation%s", d->activations,
		d->activations == 1 ? "" : "s");
	if (kept) {
		char mean[64], least[64], most[64];
		text_duration(sum / (double)kept, 4, mean, sizeof mean);
		text_duration((double)low, 4, least, sizeof least);
		text_duration((double)high, 4, most, sizeof most);
		fprintf(stderr, " of %s (%s to %s)", mean, least, most);
	}
	if (d->missed)
		fprintf(stderr, "; %" PRIu64 " deadline%s missed", d->missed,
			d->missed == 1 ? "" : "s");
	fputc('\n', stderr);
}

static int fill_plan(struct daemon_options *o, const text_list *operands, struct error *err)
{
	char shown[128];
	if (operands->count) {
		text_display(operands->items[0], shown, sizeof shown);
		return error_set(err, EXIT_USAGE, "daemon takes no operands, but was given '%s'",
				 shown);
	}
	if (o->fifo && o->class == CLASS_OTHER)
		return error_set(err, EXIT_USAGE, "daemon: either --fifo or --class other");
	o->plan.realtime = o->class != CLASS_OTHER;
	if (!o->plan.realtime && o->priority)
		return error_set(err, EXIT_USAGE, "daemon: --priority is of the class fifo");
	o->plan.priority = o->priority ? (int)o->priority : 99;
	o->plan.cpu = (int)o->cpu;
	o->plan.count = (uint64_t)o->count;
	o->plan.start_ns = (uint64_t)o->start_at;
	o->plan.seed = (uint64_t)o->seed;
	return 0;
}

static int run_daemon(void *options, const struct cmd_args *args, struct error *err)
{
	struct daemon_options *o = options;
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct daemon d = { 0 };
	if (fill_plan(o, &args->operands, err) || daemon_check(&o->plan, err))
		return -1;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		struct sigaction old;
		sigaction(numbers[i], NULL, &old);
		if (old.sa_handler != SIG_IGN) /* nohup tare daemon ... */
			sigaction(numbers[i], &(struct sigaction){ .sa_handler = stop }, NULL);
	}
	if (daemon_prepare(&d, &o->plan, err))
		return -1;
	/* that it cannot be written is said now, not after hours */
	if (o->log && strcmp(o->log, "-") != 0 && write_log(o->log, &d, err)) {
		daemon_release(&d);
		return -1;
	}
	say_begin(&d);
	daemon_run(&d);
	int failed = o->log ? write_log(o->log, &d, err) : 0;
	say_end(&d);
	daemon_release(&d);
	return failed;
}

int cmd_daemon(struct lab_access *lab, int argc, char **argv)
{
	(void)lab;
	struct daemon_options o = {
		.plan = { .name = "dummydaemon1", .period_ns = 10000000000u, .work_ns = 2500000 },
		.class = NOT_GIVEN,
		.cpu = -1,
		.seed = (long)(clock_monotonic_ns() & 0x7fffffff)
	};
	struct option_spec specs[] = {
		{ 0, "name", OPTION_TEXT, &o.plan.name, "NAME",
		  "what the task is called (default: dummydaemon1)" },
		{ 'p', "period", OPTION_DURATION, &o.plan.period_ns, "TIME",
		  "from one activation to the next (default: 10s)" },
		{ 'w', "work", OPTION_DURATION, &o.plan.work_ns, "TIME",
		  "how long each of them computes (default: 2500us)" },
		{ 0, "busy", OPTION_DURATION, &o.plan.work_ns, "TIME", "the same" },
		{ 0, "jitter", OPTION_FRACTION, &o.plan.jitter, "SHARE",
		  "each period is longer or shorter by up to SHARE, as 5%" },
		{ 0, "seed", OPTION_INTEGER, &o.seed, "NUM",
		  "of the jitter (default: by the clock)", .max = LONG_MAX },
		{ 'n', "count", OPTION_INTEGER, &o.count, "NUM", "end after NUM activations",
		  .min = 1 },
		{ 'd', "duration", OPTION_DURATION, &o.plan.duration_ns, "TIME",
		  "end after so long" },
		{ 0, "cpu", OPTION_INTEGER, &o.cpu, "NUM", "stay on this CPU", .max = 1048576 },
		{ 0, "class", OPTION_CHOICE, &o.class, "fifo|other",
		  "scheduling class (default: fifo, where permitted)" },
		{ 0, "fifo", OPTION_FLAG, &o.fifo, NULL, "--class fifo" },
		{ 0, "priority", OPTION_INTEGER, &o.priority, "NUM",
		  "of the class fifo, 1 to 99 (default: 99)", .min = 1, .max = 99 },
		{ 0, "start-at", OPTION_INTEGER, &o.start_at, "NS",
		  "first activation, ns of CLOCK_MONOTONIC (default: a period from now)", .min = 1,
		  .max = LONG_MAX },
		{ 0, "log", OPTION_TEXT, &o.log, "FILE",
		  "at the end, each activation as CSV; - is standard output" },
		{ 0 }
	};
	return cmd_run(
		"tare daemon [OPTIONS]",
		"Jitter of known name, period and length: sleeps, computes, sleeps, until "
		"it is\ninterrupted. For checking what 'tare noise' and 'tare calibrate' find.\n",
		specs, argc, argv, run_daemon, &o);
}
