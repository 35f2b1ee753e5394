#include "record/speed.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "record/field.h"

const char *const speed_kind_names[SPEED_KINDS] = { "chain", "ports", "turns", "loads" };
const char *const speed_kind_phrases[SPEED_KINDS] = { "on dependent work", "on full ports",
						      "on tight loops", "on loads from memory" };

/* A probe took too long to be mere slowness when it took this many times the lower quartile. A busy
 * sibling or a lower clock makes work take up to about three times as long, never ten; what comes
 * from memory varies by more. */
static const double too_long[SPEED_KINDS] = { 4, 4, 4, 8 };

struct speed_means speed_unknown(void)
{
	return (struct speed_means){
		.ns = { NAN, NAN, NAN, NAN }, .used = -1, .left_out = -1, .self_ns = ABSENT_NS
	};
}

static int by_size(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;
	return ORDER(x, y);
}

static double lower_quartile(const struct speed_sample *samples, size_t count, enum speed_kind k,
			     float *room)
{
	size_t n = 0;
	for (size_t i = 0; i < count; i++)
		if (!samples[i].flags)
			room[n++] = samples[i].ns[k];
	if (!n)
		return NAN;
	qsort(room, n, sizeof *room, by_size);
	return (double)room[n / 4];
}

void speed_mean(struct speed_sample *samples, size_t count, struct speed_means *out)
{
	float *room = xcalloc(count, sizeof *room);
	double most[SPEED_KINDS], sum[SPEED_KINDS] = { 0 };
	*out = speed_unknown();
	out->used = out->left_out = 0;
	for (enum speed_kind k = 0; k < SPEED_KINDS; k++)
		most[k] = too_long[k] * lower_quartile(samples, count, k, room);
	xfree(room);
	for (size_t i = 0; i < count; i++) {
		struct speed_sample *s = &samples[i];
		if (s->flags & SPEED_ELSEWHERE)
			continue;
		for (enum speed_kind k = 0; k < SPEED_KINDS && !s->flags; k++)
			if ((double)s->ns[k] > most[k] || !(s->ns[k] > 0))
				s->flags |= SPEED_INTERRUPTED;
		if (s->flags) {
			out->left_out++;
			continue;
		}
		out->used++;
		for (enum speed_kind k = 0; k < SPEED_KINDS; k++)
			sum[k] += 1 / (double)s->ns[k];
	}
	for (enum speed_kind k = 0; k < SPEED_KINDS && out->used; k++)
		out->ns[k] = (double)out->used / sum[k];
}
