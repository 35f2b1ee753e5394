/* How much of a CPU's time is taken from a loop that does nothing but read the clock:
 *
 *	bench-profile-gaps MILLISECONDS
 *
 * prints ns lost per second in gaps of 0.3 to 300 us, gaps per second, and their median in ns. What
 *takes the CPU for longer is another task or the host. Unlike the time of a program this does not
 * depend on how fast the CPU happens to be. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <x86intrin.h>

#include "base/array.h"
#include "base/clock.h"

#define SHORTEST_NS 300
#define LONGEST_NS 300000

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv)
{
	uint64_t ns = (argc > 1 ? strtoull(argv[1], NULL, 10) : 1000) * 1000000;
	/* ticks of the counter in a second, first */
	uint64_t begin = clock_monotonic_ns(), from = __rdtsc();
	while (clock_monotonic_ns() - begin < 20000000) {
	}
	double per_ns = (double)(__rdtsc() - from) / (double)(clock_monotonic_ns() - begin);
	uint64_t least = (uint64_t)(SHORTEST_NS * per_ns), most = (uint64_t)(LONGEST_NS * per_ns);
	ARRAY(uint64_t) gaps = { 0 };
	array_reserve(&gaps, 100000);
	for (size_t i = 0; i < gaps.capacity; i += 512)
		gaps.items[i] = 0;
	uint64_t last = __rdtsc(), end = last + (uint64_t)((double)ns * per_ns), sum = 0;
	while (last < end) {
		uint64_t now = __rdtsc(), gap = now - last;
		if (gap > least && gap < most && gaps.count < gaps.capacity) {
			gaps.items[gaps.count++] = gap;
			sum += gap;
			now = __rdtsc();
		}
		last = now;
	}
	qsort(gaps.items, gaps.count, sizeof *gaps.items, compare);
	double seconds = (double)ns / 1e9;
	printf("%.0f %.0f %.0f\n", (double)sum / per_ns / seconds, (double)gaps.count / seconds,
	       gaps.count ? (double)gaps.items[gaps.count / 2] / per_ns : 0);
	array_release(&gaps);
	return 0;
}
