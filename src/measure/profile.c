#include "measure/profile.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/interrupt.h"

#define TERM_PATIENCE_MS 2000
#define SHORTEST_BEAT_NS 1000000u

struct going {
	struct samples *samples;
	const struct profile_plan *plan;
	profile_slice_fn each;
	void *context;
	uint64_t end_ns;   /* UINT64_MAX: open */
	uint64_t slice_ns; /* when the slice ends */
	uint64_t beat_ns;  /* when the next beat is due */
	bool begun, over;
};

/* Everything since the last slice, handed over. */
static int hand_over(struct going *g, struct error *err)
{
	struct profile slice = { 0 };
	samples_describe(g->samples, &slice);
	int failed = samples_take(g->samples, &slice, err) || g->each(g->context, &slice, err);
	profile_release(&slice);
	g->slice_ns = clock_monotonic_ns() + g->plan->slice_ns;
	return failed ? -1 : 0;
}

enum watched { WATCH_SAMPLES, WATCH_COMMAND, WATCH_CONTROL, WATCHED };

/* Sleeps until something is due or comes; negative descriptors are nothing to poll. */
static void wait_for_something(const struct going *g, struct pollfd fds[WATCHED])
{
	uint64_t now = clock_monotonic_ns();
	uint64_t until = g->beat_ns < g->slice_ns ? g->beat_ns : g->slice_ns;
	until = until < g->end_ns ? until : g->end_ns;
	uint64_t ns = until > now ? until - now : 0;
	struct timespec most = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };
	const struct profile_plan *plan = g->plan;
	fds[WATCH_SAMPLES] = (struct pollfd){ .fd = samples_fd(g->samples), .events = POLLIN };
	fds[WATCH_COMMAND] = (struct pollfd){ .fd = plan->command ? plan->command->pidfd : -1,
					      .events = POLLIN };
	fds[WATCH_CONTROL] =
		(struct pollfd){ .fd = plan->control ? plan->control_fd : -1, .events = POLLIN };
	if (ppoll(fds, WATCHED, &most, interrupt_mask()) < 0)
		for (int i = 0; i < WATCHED; i++)
			fds[i].revents = 0;
}

static int step(struct going *g, struct error *err)
{
	struct pollfd fds[WATCHED];
	wait_for_something(g, fds);
	uint64_t now = clock_monotonic_ns();
	if (interrupted() || fds[WATCH_COMMAND].revents || now >= g->end_ns) {
		g->over = true;
		return 0;
	}
	if (fds[WATCH_SAMPLES].revents || now >= g->beat_ns) {
		uint64_t every = samples_beat_ns(g->samples);
		if (samples_beat(g->samples, err))
			return -1;
		g->beat_ns = clock_monotonic_ns() +
			     (every < SHORTEST_BEAT_NS ? SHORTEST_BEAT_NS : every);
		if (g->plan->beat)
			g->plan->beat(g->context);
	}
	if (fds[WATCH_CONTROL].revents) {
		enum profile_wish wish = PROFILE_GO_ON;
		if (g->plan->control(g->context, &wish, err))
			return -1;
		if (wish == PROFILE_END)
			g->over = true;
		if (wish == PROFILE_CUT && hand_over(g, err))
			return -1;
	}
	if (now >= g->slice_ns && hand_over(g, err))
		return -1;
	if (!g->plan->command && samples_idle(g->samples))
		g->over = true;
	return 0;
}

/* Waits for its end, which tare brings about where it has not come by itself. */
static int end_command(struct command *c)
{
	struct pollfd ended = { .fd = c->pidfd, .events = POLLIN };
	int status = 0;
	bool alone = poll(&ended, 1, 0) == 1;
	if (!alone && !c->stamp->exec_ns) {
		kill(c->pid, SIGKILL); /* until its exec tare's handlers are its own, too */
	} else if (!alone) {
		kill(c->pid, SIGTERM);
		kill(c->pid, SIGCONT);
		if (poll(&ended, 1, TERM_PATIENCE_MS) != 1)
			kill(c->pid, SIGKILL);
	}
	while (waitpid(c->pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return alone ? status : -1;
}

int profile_run(struct samples *s, const struct profile_plan *plan, profile_slice_fn each,
		void *context, int *status, struct error *err)
{
	struct going g = { .samples = s, .plan = plan, .each = each, .context = context };
	int failed = samples_start(s, err);
	if (!failed) {
		uint64_t begin = clock_monotonic_ns();
		g.begun = true;
		g.end_ns = plan->duration_ns ? begin + plan->duration_ns : UINT64_MAX;
		g.slice_ns = begin + plan->slice_ns;
		g.beat_ns = begin + samples_beat_ns(s);
		if (plan->command)
			command_start(plan->command);
		if (plan->started)
			plan->started(context);
		while (!failed && !g.over)
			failed = step(&g, err);
		samples_stop(s);
	}
	if (plan->command) {
		int ended = end_command(plan->command);
		if (status)
			*status = ended;
	}
	/* also after an error: what was sampled is not lost by it */
	struct error late = ERROR_INIT;
	if (g.begun && hand_over(&g, failed ? &late : err))
		failed = -1;
	if (failed)
		return -1;
	return interrupted() ? error_set(err, EXIT_INTERRUPTED, "interrupted") : 0;
}
