/* The papers' SORT: insertion sort of random numbers, the same ones every time.
 *
 *	sort N
 *
 * Prints a check value over the sorted numbers.
 */
#include <inttypes.h>

#include "rounds.h"

static void fill(uint32_t *numbers, size_t count)
{
	uint32_t random = 1;
	for (size_t i = 0; i < count; i++) {
		random = random * 1664525u + 1013904223u;
		numbers[i] = random;
	}
}

static void insertion_sort(uint32_t *numbers, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		uint32_t number = numbers[i];
		size_t at = i;
		for (; at && numbers[at - 1] > number; at--)
			numbers[at] = numbers[at - 1];
		numbers[at] = number;
	}
}

int main(int argc, char **argv)
{
	uint64_t count = 0, check = 0;
	if (argc != 2 || !rounds_number(argv[1], &count) || !count || count > 1u << 28) {
		fprintf(stderr, "usage: %s N\n", argv[0]);
		return 2;
	}
	uint32_t *numbers = malloc(count * sizeof *numbers);
	if (!numbers)
		return 1;
	fill(numbers, count);
	insertion_sort(numbers, count);
	for (size_t i = 0; i < count; i++) {
		if (i && numbers[i] < numbers[i - 1])
			return 1;
		check = check * 31 + numbers[i];
	}
	printf("%" PRIu64 "\n", check);
	free(numbers);
	return 0;
}
