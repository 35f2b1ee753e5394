/* Turns samples as the kernel counted them into a profile: identities get their apps, addresses
 * their objects. Private to collect/. */
#ifndef TARE_COLLECT_SAMPLES_TALLY_H
#define TARE_COLLECT_SAMPLES_TALLY_H

#include "collect/bpf/profile.h"
#include "collect/samples/sideband.h"
#include "record/profile.h"

struct tally;

struct tally *tally_new(struct sideband *sb);
void tally_free(struct tally *t); /* NULL is fine */

/* Begins a slice. `into` must be empty except for slice 0, and stay valid until the next call. */
void tally_begin(struct tally *t, struct profile *into);

/* Adds one entry of a table. words are those of its half, for the stack. */
void tally_slot(struct tally *t, const struct profile_slot *slot, const char comm[16],
		const __u64 *words);

/* Adds one sample whose user stack was unwound here. Addresses of callers are already minus 1. The
 * middle of a deep one is overwritten. */
void tally_dump(struct tally *t, const struct profile_dump *dump, const struct image_of *image,
		uint64_t *user, size_t count, enum stack_end end);

/* Forgets instances that ended, if there are many. */
void tally_forget(struct tally *t);

#endif
