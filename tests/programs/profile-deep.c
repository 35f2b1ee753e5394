/* A recursion of known depth: profile-deep DEPTH MS [vary] spins for MS of CPU time in work(),
 * which called itself DEPTH - 1 times under main. With vary, the depth is another one each
 * millisecond, up to DEPTH. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sink;

static uint64_t used_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

__attribute__((noinline)) static void work(uint64_t depth, uint64_t until_ns)
{
	if (depth > 1)
		work(depth - 1, until_ns);
	else
		do
			for (int i = 0; i < 20000; i++)
				sink += (uint64_t)i;
		while (used_ns() < until_ns);
	sink++; /* what follows a call keeps it from becoming a jump */
}

int main(int argc, char **argv)
{
	uint64_t depth = argc > 1 ? strtoull(argv[1], NULL, 10) : 300;
	uint64_t until_ns = (argc > 2 ? strtoull(argv[2], NULL, 10) : 1000) * 1000000;
	uint64_t state = 1;
	if (argc <= 3)
		work(depth, until_ns);
	for (uint64_t now; argc > 3 && (now = used_ns()) < until_ns;) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		work(1 + (state >> 33) % depth, now + 1000000);
	}
	printf("%llu\n", (unsigned long long)sink);
	return 0;
}
