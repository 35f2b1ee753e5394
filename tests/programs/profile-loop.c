/* Nearly all of its time is in the few instructions of one loop.
 *
 *	profile-loop [COUNT [MS]]     adds up the numbers below COUNT (10^9); with MS again and
 *again, until it has used about that much CPU time
 *
 * Prints the sum of the last round.
 */
#include <inttypes.h>

#include "rounds.h"

__attribute__((noinline)) static uint64_t loop(uint64_t count)
{
	uint64_t sum = 0;
	for (uint64_t i = 0; i < count; i++) {
		sum += i;
		__asm__ volatile("" : "+r"(sum)); /* every addition is made */
	}
	return sum;
}

int main(int argc, char **argv)
{
	struct rounds rounds;
	if (!rounds_read(&rounds, argc, argv, 1000000000))
		return 2;
	uint64_t sum;
	do
		sum = loop(rounds.count);
	while (rounds_more(&rounds));
	printf("%" PRIu64 "\n", sum);
	return 0;
}
