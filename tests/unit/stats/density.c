/* Parzen's window. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../fixtures/near.h"
#include "stats/density.h"

#define GRID 2001

static double grid[GRID], density[GRID];

static void lay_grid(double low, double high)
{
	for (size_t i = 0; i < GRID; i++)
		grid[i] = low + (high - low) * (double)i / (GRID - 1);
}

static double integral(void)
{
	double sum = 0;
	for (size_t i = 1; i < GRID; i++)
		sum += (density[i] + density[i - 1]) / 2 * (grid[i] - grid[i - 1]);
	return sum;
}

static double normal(double x, double mean, double sigma)
{
	double z = (x - mean) / sigma;
	return exp(-z * z / 2) / (sigma * sqrt(2 * acos(-1)));
}

static void the_density_of_one_point_is_the_kernel(void **state)
{
	(void)state;
	const double x = 3, weight = 7;
	lay_grid(-5, 11);
	density_estimate(&x, &weight, 1, 0.5, grid, GRID, density);
	assert_near(integral(), 1, 1e-5);
	for (size_t i = 0; i < GRID; i++)
		assert_near(density[i], normal(grid[i], 3, 0.5), 1e-5);
}

static void a_weight_is_as_good_as_repetitions(void **state)
{
	(void)state;
	static double once[GRID];
	const double x[] = { 1, 2, 2, 2, 5 }, ones[] = { 1, 1, 1, 1, 1 };
	const double merged[] = { 5, 1, 2 }, weight[] = { 1, 1, 3 };
	lay_grid(-10, 16);
	density_estimate(x, ones, 5, 0.7, grid, GRID, once);
	density_estimate(merged, weight, 3, 0.7, grid, GRID, density);
	for (size_t i = 0; i < GRID; i++)
		assert_near(density[i], once[i], 1e-12);
	assert_near(integral(), 1, 1e-5);
	assert_near(density_bandwidth(x, ones, 5, 0), density_bandwidth(merged, weight, 3, 0),
		    1e-12);
}

/* Two normals given exactly by their weights: what comes out is each with its variance and the
 * kernel's. */
static void the_density_of_a_mixture_is_its_parts_widened_by_the_kernel(void **state)
{
	(void)state;
	double x[1200], weight[1200];
	for (size_t i = 0; i < 1200; i++) {
		x[i] = -4 + 0.01 * (double)i;
		weight[i] = 1e6 * (0.3 * normal(x[i], 0, 0.5) + 0.7 * normal(x[i], 4, 0.8));
	}
	const double h = 0.2;
	double wide0 = sqrt(0.25 + h * h), wide1 = sqrt(0.64 + h * h);
	lay_grid(-6, 10);
	density_estimate(x, weight, 1200, h, grid, GRID, density);
	assert_near(integral(), 1, 1e-5);
	for (size_t i = 0; i < GRID; i++)
		assert_near(density[i],
			    0.3 * normal(grid[i], 0, wide0) + 0.7 * normal(grid[i], 4, wide1),
			    1e-4);
}

static void the_bandwidth_follows_silvermans_rule(void **state)
{
	(void)state;
	double x[8001], weight[8001], total = 0;
	for (size_t i = 0; i < 8001; i++) {
		x[i] = -4 + 0.001 * (double)i;
		weight[i] = normal(x[i], 0, 1) * 100;
		total += weight[i];
	}
	/* of a normal, sigma and IQR / 1.34 are the same, but for the latter's third digit */
	assert_near(density_bandwidth(x, weight, 8001, 0), 0.9 * pow(total, -0.2), 0.01);
	assert_near(density_bandwidth(x, weight, 8001, 0.5), 0.5, 0);

	const double far[] = { 0, 1, 2, 3, 1000 }, ones[] = { 1, 1, 1, 1, 1 };
	assert_near(density_bandwidth(far, ones, 5, 0), 0.9 * 2 / 1.34 * pow(5, -0.2), 1e-9);

	/* most of it in one place: sigma has to do */
	const double two[] = { 0, 1 }, heavy[] = { 99, 1 };
	assert_near(density_bandwidth(two, heavy, 2, 0), 0.9 * sqrt(0.0099) * pow(100, -0.2), 1e-9);
}

static void the_density_of_nothing_is_zero(void **state)
{
	(void)state;
	const double x = 1, zero = 0;
	lay_grid(0, 1);
	density_estimate(NULL, NULL, 0, 0.5, grid, GRID, density);
	assert_near(integral(), 0, 0);
	density_estimate(&x, &zero, 1, 0.5, grid, GRID, density);
	assert_near(integral(), 0, 0);
	assert_near(density_bandwidth(NULL, NULL, 0, 0.25), 0.25, 0);
	assert_near(density_bandwidth(&x, &zero, 1, 0.25), 0.25, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_density_of_one_point_is_the_kernel),
		cmocka_unit_test(a_weight_is_as_good_as_repetitions),
		cmocka_unit_test(the_density_of_a_mixture_is_its_parts_widened_by_the_kernel),
		cmocka_unit_test(the_bandwidth_follows_silvermans_rule),
		cmocka_unit_test(the_density_of_nothing_is_zero),
	};
	return cmocka_run_group_tests_name("density", tests, NULL, NULL);
}
