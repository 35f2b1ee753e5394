/* How often studies of simulated machines are right; bench/sedona prints the same of more machines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../fixtures/daemons.h"

#define MACHINES 100
#define SEED 11

static void a_frequent_daemon_of_varying_length_drops_few_samples(void **state)
{
	(void)state;
	static const struct {
		enum lengths how;
		double spread;
	} cases[] = { { LENGTHS_EVEN, 0 },
		      { LENGTHS_EVEN, 0.0577 }, /* within 10 % */
		      { LENGTHS_EVEN, 0.289 },
		      { LENGTHS_LOGNORMAL, 0.3 },
		      { LENGTHS_EXPONENTIAL, 1 } };
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct frequent_rates r;
		simulate_frequent(SEED, MACHINES, cases[i].how, cases[i].spread, &r);
		assert_true(r.dropped <= 0.01 * r.good);
		/* lengths without a gap before or after them: the cluster may be round, and a rare
		 * daemon may be lost among the longest */
		if (cases[i].how == LENGTHS_EXPONENTIAL)
			continue;
		assert_true(r.kept <= 0.05 * r.bad);
		assert_int_equal(r.called_rare, 0);
	}
}

static void a_period_survives_missing_and_extra_occurrences_and_drift(void **state)
{
	(void)state;
	static const struct period_options cases[] = {
		{ .missing = 1 / 12., .exactly = true, .periods = 12 },
		{ .extra = 1 / 12., .exactly = true, .periods = 12 },
		{ .missing = 0.1, .exactly = true },
		{ .extra = 0.1, .exactly = true },
		{ .missing = 0.1, .extra = 0.1, .exactly = true },
		{ .missing = 0.1, .jitter = 0.03, .exactly = true },
		{ .drift = 0.1 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct period_rates r;
		simulate_periods(SEED, MACHINES, &cases[i], &r);
		assert_true(r.right >= 0.95 * MACHINES);
		assert_int_equal(r.found, r.right);
	}
}

static void occurrences_at_random_have_no_period(void **state)
{
	(void)state;
	for (int n = 8; n <= 32; n *= 2) {
		struct period_rates r;
		simulate_random(SEED, 5 * MACHINES, n, &r);
		assert_true(r.found <= 1);
	}
}

static void bystanders_get_no_cutoff(void **state)
{
	(void)state;
	for (int tells_delays = 0; tells_delays < 2; tells_delays++) {
		struct bystander_rates r;
		simulate_bystanders(SEED, MACHINES, tells_delays, &r);
		assert_true(r.cutoffs <= 1 - tells_delays);
		assert_int_equal(r.found, MACHINES);
	}
}

static void machines_that_were_understood_still_are(void **state)
{
	(void)state;
	for (enum known k = 0; k < KNOWN_MACHINES; k++)
		assert_true(simulate_known(SEED, MACHINES, k) >= 0.97 * MACHINES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frequent_daemon_of_varying_length_drops_few_samples),
		cmocka_unit_test(a_period_survives_missing_and_extra_occurrences_and_drift),
		cmocka_unit_test(occurrences_at_random_have_no_period),
		cmocka_unit_test(bystanders_get_no_cutoff),
		cmocka_unit_test(machines_that_were_understood_still_are),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
