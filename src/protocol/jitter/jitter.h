/* The OS-jitter analysis of De, Kothari and Mann (section III), done online: matches the detours of
 * a round with the kernel's events and assigns every ns of them to one source. */
#ifndef TARE_PROTOCOL_JITTER_JITTER_H
#define TARE_PROTOCOL_JITTER_JITTER_H

#include "record/detour.h"
#include "record/noise.h"

struct jitter; /* the analyser's memory between rounds, of bounded size */

/* Each round is added to `into`, which noise_init() must have prepared for these CPUs. */
struct jitter *jitter_new(struct noise *into);
void jitter_free(struct jitter *j);

/* Adds a round of all CPUs, in the order of noise.cpus, as one part. */
void jitter_add_round(struct jitter *j, const struct detour_round *rounds, size_t count);

#endif
