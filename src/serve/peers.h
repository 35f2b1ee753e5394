/* The connections, and how long each may take: private to serve/. The library ends one that is
 * silent; one that sends a byte now and then would stay for ever. */
#ifndef TARE_SERVE_PEERS_H
#define TARE_SERVE_PEERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct peer {
	int fd;
	uint64_t close_at_ns; /* CLOCK_MONOTONIC; 0: never */
	atomic_bool gone;     /* it has hung up, or will send nothing more */
	struct peer *next, **before;
};

struct peers {
	pthread_mutex_t lock;
	struct peer *first;
};

void peers_init(struct peers *all);
void peers_release(struct peers *all);
struct peer *peer_add(struct peers *all, int fd, uint64_t allowed_ns);
void peer_allow(struct peers *all, struct peer *p,
		uint64_t allowed_ns); /* from now on; 0: for ever */
/* Before its descriptor is closed. */
void peer_remove(struct peers *all, struct peer *p);
/* Shuts down those whose time is up; the library closes them then. Finds those that are gone, which
 * the library does not while their connection is suspended. */
void peers_check(struct peers *all);

#endif
