#include "serve/peers.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/array.h"
#include "base/clock.h"

void peers_init(struct peers *all, size_t most)
{
	all->most = most;
	pthread_mutex_init(&all->lock, NULL);
	all->first = NULL;
}

void peers_release(struct peers *all)
{
	pthread_mutex_destroy(&all->lock);
}

static uint64_t until(uint64_t allowed_ns)
{
	return allowed_ns ? clock_monotonic_ns() + allowed_ns : 0;
}

static void set_state(struct peer *p, enum peer_state state, uint64_t allowed_ns)
{
	p->state = state;
	p->since_ns = clock_monotonic_ns();
	p->close_at_ns = until(allowed_ns);
}

static void shut_down(struct peer *p)
{
	shutdown(p->fd, SHUT_RDWR);
	set_state(p, PEER_LEAVES, 0);
}

/* Whoever sends or takes a byte now and then must not keep others out. Under the lock. */
static void make_room(struct peers *all)
{
	size_t count = 0;
	struct peer *slowest = NULL;
	for (struct peer *p = all->first; p; p = p->next) {
		count += p->state != PEER_LEAVES;
		if ((p->state == PEER_ASKING || p->state == PEER_TAKING) &&
		    (!slowest || p->since_ns < slowest->since_ns))
			slowest = p;
	}
	if (count > all->most && slowest)
		shut_down(slowest);
}

struct peer *peer_add(struct peers *all, int fd, uint64_t allowed_ns)
{
	struct peer *p = xcalloc(1, sizeof *p);
	p->fd = fd;
	set_state(p, PEER_ASKING, allowed_ns);
	pthread_mutex_lock(&all->lock);
	p->next = all->first;
	p->before = &all->first;
	if (p->next)
		p->next->before = &p->next;
	all->first = p;
	make_room(all);
	pthread_mutex_unlock(&all->lock);
	return p;
}

void peer_allow(struct peers *all, struct peer *p, enum peer_state state, uint64_t allowed_ns)
{
	pthread_mutex_lock(&all->lock);
	if (p->state != PEER_LEAVES)
		set_state(p, state, allowed_ns);
	pthread_mutex_unlock(&all->lock);
}

void peer_remove(struct peers *all, struct peer *p)
{
	pthread_mutex_lock(&all->lock);
	*p->before = p->next;
	if (p->next)
		p->next->before = p->before;
	pthread_mutex_unlock(&all->lock);
	free(p);
}

void peers_check(struct peers *all)
{
	uint64_t now = clock_monotonic_ns();
	FREED ARRAY(struct pollfd) fds = { 0 };
	pthread_mutex_lock(&all->lock);
	for (struct peer *p = all->first; p; p = p->next) {
		array_push(&fds, (struct pollfd){ .fd = p->fd, .events = POLLRDHUP });
		if (p->close_at_ns && p->close_at_ns <= now)
			shut_down(p);
	}
	/* under the lock, so that no descriptor is another's by now */
	if (poll(fds.items, fds.count, 0) > 0) {
		size_t i = 0;
		for (struct peer *p = all->first; p; p = p->next)
			if (fds.items[i++].revents)
				p->gone = true;
	}
	pthread_mutex_unlock(&all->lock);
}
