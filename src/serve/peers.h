/* The connections, and how long each may take. Private to serve/. The library closes a silent one,
 * but one that sends a byte from time to time would stay forever. */
#ifndef TARE_SERVE_PEERS_H
#define TARE_SERVE_PEERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum peer_state {
	PEER_ASKING, /* tare waits for its request */
	PEER_WAITS,  /* it waits for tare */
	PEER_TAKING, /* tare waits for it to take its answer */
	PEER_LEAVES, /* it was shut down */
};

struct peer {
	int fd;
	enum peer_state state;
	uint64_t since_ns;    /* CLOCK_MONOTONIC; of the state */
	uint64_t close_at_ns; /* 0: never */
	atomic_bool gone;     /* it has hung up, or will send nothing more */
	struct peer *next, **before;
};

struct peers {
	pthread_mutex_t lock;
	struct peer *first;
	size_t most;
};

/* most: with more, those that tare has waited for longest are shut down. */
void peers_init(struct peers *all, size_t most);
void peers_release(struct peers *all);
struct peer *peer_add(struct peers *all, int fd, uint64_t allowed_ns);
/* allowed_ns: for the state, from now on; 0: forever. */
void peer_allow(struct peers *all, struct peer *p, enum peer_state state, uint64_t allowed_ns);
/* Call it before its descriptor is closed. */
void peer_remove(struct peers *all, struct peer *p);
/* Shuts down connections whose time is up, which the library then closes. Also finds those that are
 * gone, because the library does not while they are suspended. */
void peers_check(struct peers *all);

#endif
