#include "base/interrupt.h"

#include <stddef.h>

static volatile sig_atomic_t seen;
static sigset_t outside;

static void note(int number)
{
	(void)number;
	seen = 1;
}

void interrupt_watch(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	static bool watched;
	/* a second time they would count as blocked from outside, and never get through */
	if (watched)
		return;
	watched = true;
	struct sigaction action = { .sa_handler = note };
	sigset_t blocked;
	sigemptyset(&blocked);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		struct sigaction old;
		sigaction(numbers[i], NULL, &old);
		if (old.sa_handler == SIG_IGN)
			continue; /* nohup tare ... */
		sigaction(numbers[i], &action, NULL);
		sigaddset(&blocked, numbers[i]);
	}
	sigprocmask(SIG_BLOCK, &blocked, &outside);
}

bool interrupted(void)
{
	sigset_t pending;
	if (!seen && sigpending(&pending) == 0 &&
	    (sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) ||
	     sigismember(&pending, SIGHUP)))
		seen = 1;
	return seen;
}

const sigset_t *interrupt_mask(void)
{
	return &outside;
}
