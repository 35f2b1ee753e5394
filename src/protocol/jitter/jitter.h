/* The OS-jitter analysis of De, Kothari and Mann (section III), made online: the detours of a round
 * are matched with what the kernel told, and every ns of them is put under one source. */
#ifndef TARE_PROTOCOL_JITTER_JITTER_H
#define TARE_PROTOCOL_JITTER_JITTER_H

#include "record/detour.h"
#include "record/noise.h"

struct jitter; /* the analyser's memory between rounds: of bounded size */

/* into is added to by each round; it must have been made by noise_init() with these CPUs. */
struct jitter *jitter_new(struct noise *into);
void jitter_free(struct jitter *j);

/* A round of all CPUs, in the order of noise.cpus. Adds one to the parts. */
void jitter_add_round(struct jitter *j, const struct detour_round *rounds, size_t count);

#endif
