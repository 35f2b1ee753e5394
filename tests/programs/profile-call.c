/* Nearly all of its time is in a function that a loop calls.
 *
 *	profile-call [COUNT [MS]]     calls it COUNT (10^5) times, the i-th time to add up the
 *numbers below i; with MS again and again, until it has used about that much CPU time
 *
 * Prints the sum of the last round.
 */
#include <inttypes.h>

#include "rounds.h"

__attribute__((noinline)) static uint64_t callee(uint64_t count)
{
	uint64_t sum = 0;
	for (uint64_t i = 0; i < count; i++) {
		sum += i;
		__asm__ volatile("" : "+r"(sum)); /* every addition is made */
	}
	return sum;
}

__attribute__((noinline)) static uint64_t caller(uint64_t count)
{
	uint64_t sum = 0;
	for (uint64_t i = 0; i < count; i++)
		sum += callee(i);
	return sum;
}

int main(int argc, char **argv)
{
	struct rounds rounds;
	if (!rounds_read(&rounds, argc, argv, 100000))
		return 2;
	uint64_t sum;
	do
		sum = caller(rounds.count);
	while (rounds_more(&rounds));
	printf("%" PRIu64 "\n", sum);
	return 0;
}
