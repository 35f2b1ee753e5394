/* The papers' MATC and MATR: the product of two square matrices, its elements made column by column
 * or row by row. The work is the same, its order in memory is not.
 *
 *	matrix matc|matr N
 *
 * Prints a check value, which is the same for both.
 */
#include <inttypes.h>
#include <string.h>

#include "rounds.h"

static uint64_t element(const uint32_t *a, const uint32_t *b, size_t size, size_t row,
			size_t column)
{
	uint64_t sum = 0;
	for (size_t k = 0; k < size; k++)
		sum += (uint64_t)a[row * size + k] * b[k * size + column];
	return sum;
}

static void multiply(const uint32_t *a, const uint32_t *b, size_t size, bool by_column,
		     uint64_t *product)
{
	for (size_t outer = 0; outer < size; outer++)
		for (size_t inner = 0; inner < size; inner++) {
			size_t row = by_column ? inner : outer, column = by_column ? outer : inner;
			product[row * size + column] = element(a, b, size, row, column);
		}
}

int main(int argc, char **argv)
{
	uint64_t size = 0, check = 0;
	bool by_column = argc == 3 && strcmp(argv[1], "matc") == 0;
	if (argc != 3 || (!by_column && strcmp(argv[1], "matr") != 0) ||
	    !rounds_number(argv[2], &size) || !size || size > 1u << 14) {
		fprintf(stderr, "usage: %s matc|matr N\n", argv[0]);
		return 2;
	}
	size_t cells = size * size;
	uint32_t *factors = malloc(2 * cells * sizeof *factors), random = 1;
	uint64_t *product = malloc(cells * sizeof *product);
	if (!factors || !product)
		return 1;
	for (size_t i = 0; i < 2 * cells; i++) {
		random = random * 1664525u + 1013904223u;
		factors[i] = random >> 16;
	}
	multiply(factors, factors + cells, size, by_column, product);
	for (size_t i = 0; i < cells; i++)
		check = check * 31 + product[i];
	printf("%" PRIu64 "\n", check);
	free(factors);
	free(product);
	return 0;
}
