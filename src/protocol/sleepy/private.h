/* Which samples pass a filter. Private to protocol/sleepy/. */
#ifndef TARE_PROTOCOL_SLEEPY_PRIVATE_H
#define TARE_PROTOCOL_SLEEPY_PRIVATE_H

#include "protocol/sleepy/sleepy.h"

/* Evaluated once per slice, thread and stack, however many samples there are. */
struct sleepy_sieve {
	bool *slices, *threads, *stacks;
};
void sleepy_sieve_make(const struct profile *p, const struct sleepy_filter *f,
		       struct sleepy_sieve *out);
void sleepy_sieve_release(struct sleepy_sieve *s);
static inline bool sleepy_passes(const struct sleepy_sieve *s, const struct profile_sample *sample)
{
	return s->slices[sample->slice] && s->threads[sample->thread] && s->stacks[sample->stack];
}

/* The innermost location; PROFILE_NONE: unknown. */
static inline uint32_t sleepy_leaf(const struct profile *p, const struct profile_stack *s)
{
	return s->count ? p->links.items[s->first] : PROFILE_NONE;
}

/* The function that contains the code of a location, or PROFILE_NONE. */
static inline uint32_t sleepy_function_of(const struct profile *p, uint32_t location)
{
	if (location == PROFILE_NONE || !p->locations.items[location].frames)
		return PROFILE_NONE;
	const struct profile_location *l = &p->locations.items[location];
	return p->frames.items[l->first_frame + l->frames - 1].function;
}

/* For a location without a function, called "object+0xoffset". */
bool sleepy_unnamed_matches(const struct profile *p, const char *pattern, uint32_t location);

/* A container's id or the cgroup's path; NULL: unknown. */
const char *sleepy_container_of(const struct profile_instance *i);

#endif
