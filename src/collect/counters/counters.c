#include "collect/counters/counters.h"

#include <errno.h>
#include <glob.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/counters/events.h"

/* Long enough for the kernel to put a group on the CPU. */
#define TRIAL_NS 50000u

/* The usual ones, in the order in which they are shown. What this CPU lacks is left out. */
#define USUAL                                                    \
	"instructions,cycles,ref-cycles,branches,branch-misses," \
	"cache-references,cache-misses,dTLB-load-misses,"        \
	"stalled-cycles-frontend,stalled-cycles-backend,"        \
	"page-faults,context-switches,cpu-migrations"
/* How fast the CPU ran, where the kernel has a PMU for it (arch/x86/events/msr.c). */
#define SPEED "msr/aperf/,msr/mperf/"

/* One event of the kernel's: an event of the list, in one mode or both. */
struct slot {
	size_t event;
	unsigned modes;
	int leader; /* the slot whose group it is in; -1: it is alone or a leader */
	bool pinned;
	int fd;
};
typedef ARRAY(struct slot) slot_list;

struct counters {
	counter_events events;
	slot_list slots;
	bool user_only; /* the kernel may not be counted by this process */
	bool forbidden; /* nothing may: there are no events */
};

static int open_event(const struct counter_event *e, unsigned modes, pid_t pid, int group,
		      bool pinned, bool on_exec)
{
	struct perf_event_attr a = { .size = sizeof a,
				     .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
						    PERF_FORMAT_TOTAL_TIME_RUNNING,
				     .disabled = group < 0,
				     .inherit = on_exec,
				     .enable_on_exec = on_exec && group < 0,
				     .pinned = pinned && group < 0 };
	counter_event_attr(e, modes, &a);
	return (int)syscall(SYS_perf_event_open, &a, pid, -1, group, PERF_FLAG_FD_CLOEXEC);
}

static void close_slots(slot_list *slots)
{
	array_each(s, slots) {
		if (s->fd >= 0)
			close(s->fd);
		s->fd = -1;
	}
}

static bool open_slots(const struct counters *c, slot_list *slots, pid_t pid, bool on_exec)
{
	bool all = true;
	array_each(s, slots) {
		int group = s->leader < 0 ? -1 : slots->items[s->leader].fd;
		s->fd = s->leader >= 0 && group < 0
				? -1
				: open_event(&c->events.items[s->event], s->modes, pid, group,
					     s->pinned, on_exec);
		all &= s->fd >= 0;
	}
	return all;
}

/* value, time enabled, time running */
static bool read_event(int fd, uint64_t out[3])
{
	/* a pinned event that lost its counter to others reads as the end of a file */
	return fd >= 0 && read(fd, out, 3 * sizeof *out) == (ssize_t)(3 * sizeof *out);
}

/* Whether the CPU counts all of them at once. The kernel refuses some groups that are too large,
 * but not all of them: another user of the counters, such as the NMI watchdog, shows only when
 * they are to run. */
static bool fits(const struct counters *c, slot_list *slots)
{
	uint64_t figures[3] = { 0 };
	bool good = open_slots(c, slots, 0, false);
	if (good) {
		ioctl(slots->items[0].fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
		uint64_t until = clock_monotonic_ns() + TRIAL_NS;
		while (clock_monotonic_ns() < until)
			;
		good = read_event(slots->items[0].fd, figures) && figures[2] > figures[1] / 2;
	}
	close_slots(slots);
	return good;
}

/* Instructions and cycles: what everything else is a share of. */
static bool is_main(const struct counter_event *e)
{
	return e->type == PERF_TYPE_HARDWARE &&
	       (e->config == PERF_COUNT_HW_INSTRUCTIONS || e->config == PERF_COUNT_HW_CPU_CYCLES);
}

/* Which of the events are counted by the CPU, and which of these in both modes apart. */
enum which { WHICH_ALL, WHICH_MAIN, WHICH_OTHERS };
enum split { SPLIT_NONE, SPLIT_MAIN, SPLIT_ALL };

static void add_slots(const struct counters *c, enum which which, enum split split, bool group,
		      bool pinned, slot_list *out)
{
	int leader = -1;
	for (size_t i = 0; i < c->events.count; i++) {
		const struct counter_event *e = &c->events.items[i];
		bool main = is_main(e), apart = split == SPLIT_ALL || (split && main);
		if (!counter_event_takes_counter(e) || e->group || (which == WHICH_MAIN && !main) ||
		    (which == WHICH_OTHERS && main))
			continue;
		apart &= e->apart && e->modes == COUNTER_BOTH;
		const unsigned modes[] = { apart ? COUNTER_USER : e->modes, COUNTER_KERNEL };
		for (size_t m = 0; m < 1 + (size_t)apart; m++) {
			struct slot s = { .event = i,
					  .modes = modes[m],
					  .leader = leader,
					  .pinned = pinned,
					  .fd = -1 };
			array_push(out, s);
			if (group && leader < 0)
				leader = (int)out->count - 1;
		}
	}
}

/* All at once where the CPU has as many counters: with user and kernel mode apart, or else only of
 * instructions and cycles. Where it has fewer, instructions and cycles are pinned, so that they
 * are exact, and the kernel rotates the others through the counters that are left. Those that must
 * be in one group are one of their own. */
static void arrange(struct counters *c)
{
	static const struct {
		enum which which;
		enum split split;
	} tries[] = { { WHICH_ALL, SPLIT_ALL },
		      { WHICH_ALL, SPLIT_MAIN },
		      { WHICH_MAIN, SPLIT_ALL },
		      { WHICH_MAIN, SPLIT_NONE } };
	for (size_t i = 0; i < sizeof tries / sizeof *tries && !c->slots.count; i++) {
		bool all = tries[i].which == WHICH_ALL;
		add_slots(c, tries[i].which, tries[i].split, true, !all, &c->slots);
		if (c->slots.count && !fits(c, &c->slots))
			array_release(&c->slots);
		else if (!all)
			add_slots(c, WHICH_OTHERS, SPLIT_NONE, false, false, &c->slots);
	}
	if (!c->slots.count)
		add_slots(c, WHICH_ALL, SPLIT_NONE, false, false, &c->slots);
	int leader = -1;
	for (size_t i = 0; i < c->events.count; i++) {
		const struct counter_event *e = &c->events.items[i];
		if (counter_event_takes_counter(e) && !e->group)
			continue;
		if (e->group && leader < 0)
			leader = (int)c->slots.count;
		struct slot s = { .event = i, .modes = e->modes, .leader = -1, .fd = -1 };
		if (e->group && leader != (int)c->slots.count)
			s.leader = leader;
		array_push(&c->slots, s);
	}
}

/* Whether this process may count it, if need be in user mode only; errno says why not. leader: of
 * the group that it must be in, or -1. Returns the event, or -1. */
static int try_event(struct counters *c, struct counter_event *e, int leader)
{
	int fd = open_event(e, e->modes, 0, leader, false, false);
	if (fd < 0 && (errno == EACCES || errno == EPERM) && e->apart && !e->by_kernel) {
		int why = errno;
		e->modes = COUNTER_USER;
		fd = open_event(e, e->modes, 0, leader, false, false);
		c->user_only |= fd >= 0;
		errno = why;
	}
	return fd;
}

/* Keeps those that can be counted. -1: one cannot, and all must be. */
static int try_events(struct counters *c, bool all, struct error *err)
{
	size_t kept = 0;
	int leader = -1, failed = 0;
	unsigned group = 0;
	for (size_t i = 0; i < c->events.count && !failed; i++) {
		struct counter_event *e = &c->events.items[i];
		bool leads = e->group && e->group != group;
		int fd = try_event(c, e, e->group && !leads ? leader : -1);
		if (fd >= 0)
			c->events.items[kept++] = *e;
		else if (all)
			failed = counter_event_refused(e->name, errno, err);
		if (leads) {
			if (leader >= 0)
				close(leader);
			leader = fd;
			group = e->group;
		} else if (fd >= 0) {
			close(fd);
		}
	}
	if (leader >= 0)
		close(leader);
	c->events.count = kept;
	return failed;
}

/* Whether the kernel has a driver for counters of the CPU, which may be of several kinds. */
static bool has_pmu(void)
{
	glob_t found;
	bool any = glob(COUNTER_SYSFS "/{cpu,cpu_core,armv[0-9]*}", GLOB_BRACE, NULL, &found) == 0;
	globfree(&found);
	return any;
}

bool counters_hardware(struct error *why)
{
	struct counter_event cycles = { .type = PERF_TYPE_HARDWARE,
					.config = PERF_COUNT_HW_CPU_CYCLES };
	int fd = open_event(&cycles, COUNTER_USER, 0, -1, false, false);
	if (fd < 0) {
		int reason = errno;
		counter_event_refused(NULL, reason, why);
		errno = reason;
		return false;
	}
	close(fd);
	return true;
}

int counters_open(struct counters **out, const char *list, struct error *err)
{
	*out = NULL;
	if (!list && !counters_hardware(NULL)) {
		if ((errno == EACCES || errno == EPERM) && has_pmu()) {
			*out = xcalloc(1, sizeof **out);
			(*out)->forbidden = true;
		}
		return 0;
	}
	struct counters *c = xcalloc(1, sizeof *c);
	bool speed = counter_event_described(COUNTER_SYSFS, "msr", "aperf") &&
		     counter_event_described(COUNTER_SYSFS, "msr", "mperf");
	const char *names = list ? list : speed ? USUAL "," SPEED : USUAL;
	if (counter_events_parse(names, COUNTER_SYSFS, &c->events, err) ||
	    try_events(c, list, err)) {
		counters_close(c);
		return -1;
	}
	arrange(c);
	*out = c;
	return 0;
}

void counters_close(struct counters *c)
{
	if (!c)
		return;
	close_slots(&c->slots);
	array_release(&c->slots);
	array_release(&c->events);
	free(c);
}

bool counters_have(const struct counters *c, const char *name)
{
	size_t n = strlen(name);
	for (size_t i = 0; c && i < c->slots.count; i++) {
		const struct slot *s = &c->slots.items[i];
		const char *event = c->events.items[s->event].name;
		if (s->modes == COUNTER_USER && strncmp(event, name, n) == 0 &&
		    (!event[n] || strcmp(event + n, ":u") == 0))
			return true;
	}
	return false;
}

const char *counters_not_seen(const struct counters *c)
{
	return c && c->user_only
		       ? "Counters are of user mode only: kernel.perf_event_paranoid keeps the "
			 "kernel's from this user."
	       : c && c->forbidden
		       ? "Counters of the CPU are not allowed here: by kernel.perf_event_paranoid, or by "
			 "the rules of a container."
		       : NULL;
}

void counters_begin(struct counters *c, pid_t pid)
{
	open_slots(c, &c->slots, pid, true);
}

/* Adds what one slot counted. A group whose leader lost its counter has stopped. */
static void add_count(const struct counters *c, const struct slot *s, uint32_t times,
		      struct counter *to)
{
	uint64_t figures[3] = { 0 }, first[3];
	if (s->leader < 0 || read_event(c->slots.items[s->leader].fd, first))
		read_event(s->fd, figures);
	figures[0] *= times;
	int64_t value = counter_scaled(figures[0], figures[1], figures[2]);
	if (s->modes & COUNTER_USER && s->modes != COUNTER_BOTH)
		to->user = value;
	if (s->modes & COUNTER_KERNEL && s->modes != COUNTER_BOTH)
		to->kernel = value;
	/* of two slots: the one that was counted for the shorter time */
	if (!to->enabled_ns || figures[2] < to->running_ns) {
		to->enabled_ns = figures[1];
		to->running_ns = figures[2];
	}
	to->value = value < 0 || to->value < 0 ? -1 : to->value + value;
}

void counters_end(struct counters *c, counter_list *into)
{
	for (size_t i = 0; into && i < c->events.count; i++) {
		struct counter counted = { .user = -1, .kernel = -1 };
		memcpy(counted.name, c->events.items[i].name, sizeof counted.name);
		array_each(s, &c->slots)
			if (s->event == i)
				add_count(c, s, c->events.items[i].times, &counted);
		array_push(into, counted);
	}
	close_slots(&c->slots);
}
