/* The causal model of TTPv2: its relations as the paper has them, and correlations that are known.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../fixtures/near.h"
#include "base/file.h"
#include "protocol/ttp/ttp.h"
#include "stats/correlation.h"
#include "stats/random.h"

static void the_relations_are_those_of_the_paper(void **state)
{
	(void)state;
	char *text = file_read(TARE_GOLDEN "/ttp-correlations.csv");
	assert_non_null(text);
	char *rest = text;
	int n = 0;
	for (char *line; (line = strsep(&rest, "\n"));) {
		char id[8], left[16], right[16], level[8];
		double r;
		if (sscanf(line, "%7[^,],%15[^,],%15[^,],%7[^,],%lf", id, left, right, level, &r) !=
			    5 ||
		    strcmp(id, "id") == 0)
			continue;
		assert_true(n < TTP_RELATIONS);
		const struct ttp_relation *have = &ttp_relations[n++];
		assert_string_equal(have->id, id);
		assert_string_equal(ttp_model_measure_names[have->left], left);
		assert_string_equal(ttp_model_measure_names[have->right], right);
		assert_string_equal(ttp_level_names[have->predicted], level);
		assert_near(have->papers, r, 0);
	}
	assert_int_equal(n, TTP_RELATIONS);
	free(text);
}

/* Two rows of numbers, of which the second is r times the first and the rest at right angles to it,
 * once both are centred: their correlation is r. */
static void make_pair(double r, double *x, double *y, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double angle = 2 * M_PI * (double)i / (double)n;
		x[i] = 1000 + 300 * cos(angle);
		y[i] = 7e9 + 2e9 * (r * cos(angle) + sqrt(1 - r * r) * sin(angle));
	}
}

static void known_correlations_come_out(void **state)
{
	(void)state;
	double x[1000], y[1000];
	struct correlation c;
	for (int i = -9; i <= 9; i++) {
		make_pair(i / 10., x, y, 1000);
		correlate(x, y, 1000, &c);
		assert_near(c.r, i / 10., 1e-9);
		assert_true(i == 0 ? c.p > 0.9 : c.p < 0.01);
	}
	correlate(x, x, 1000, &c);
	assert_near(c.r, 1, 1e-12);
	assert_near(c.p, 0, 1e-12);
	/* r = 0.5 of 12: t = 1.826 of 10 degrees, p = 0.0978 */
	make_pair(0.5, x, y, 12);
	correlate(x, y, 12, &c);
	assert_near(c.p, 0.0979, 2e-4);
	for (size_t i = 0; i < 12; i++)
		y[i] = 3;
	correlate(x, y, 12, &c);
	assert_true(isnan(c.r) && c.p == 1);
	correlate(x, y, 0, &c);
	assert_true(isnan(c.r));
}

static void set(struct query_execution *x, enum ttp_model_measure m, double value)
{
	static const enum overall_measure overall[] = { OVERALL_USER, OVERALL_SYSTEM,
							OVERALL_SOFTIRQ, OVERALL_IOWAIT };
	static const enum query_measure of_role[] = { QUERY_USER_NS,  QUERY_SYSTEM_NS,
						      QUERY_BLKIO_NS, QUERY_READS,
						      QUERY_WRITES,   QUERY_NVCSW,
						      QUERY_NIVCSW };
	if (m >= TTP_O_USER)
		x->overall_ns[overall[m - TTP_O_USER]] = (uint64_t)value;
	else
		x->usage[m / 7].value[of_role[m % 7]] = (uint64_t)value;
	assert_near(ttp_model_value(x, m), floor(value), 0.5);
}

/* Every measure is a wave of its own frequency with a share of the common one: the correlation of
 * two is the product of their shares. Large numbers, so that being whole does not matter. */
static void a_model_of_known_data_has_the_known_correlations(void **state)
{
	(void)state;
	const int N = 1024;
	struct query_run run = { .queries = 1 };
	struct random random = { 5 };
	double share[TTP_MODEL_MEASURES];
	for (int m = 0; m < TTP_MODEL_MEASURES; m++)
		share[m] = 0.2 + 0.79 * random_unit(&random);
	array_push(&run.at, (struct query_at){ .query = 1 });
	for (int i = 0; i < N; i++) {
		struct query_execution x = { 0 };
		double common = cos(2 * M_PI * i / N);
		for (int m = 0; m < TTP_MODEL_MEASURES; m++) {
			double own = cos(2 * M_PI * i * (m + 2) / N);
			set(&x, (enum ttp_model_measure)m,
			    1e15 * (2 + share[m] * common + sqrt(1 - share[m] * share[m]) * own));
		}
		array_push(&run.at.items[0].executions, x);
	}
	uint32_t *fired = calloc(N, sizeof *fired);
	struct ttp_at at = { 0 };
	const struct ttp_result result = { .fired = fired, .at = &at };
	const struct query_run *runs[] = { &run, &run };
	const struct ttp_result *results[] = { &result, &result };
	struct ttp_correlation out[TTP_RELATIONS];
	for (size_t count = 1; count <= 2; count++) {
		ttp_model(runs, results, count, out);
		for (int i = 0; i < TTP_RELATIONS; i++) {
			double r = share[ttp_relations[i].left] * share[ttp_relations[i].right];
			assert_near(out[i].r, r, 1e-9);
			enum ttp_level level = r >= 0.7	  ? TTP_HIGH
					       : r >= 0.3 ? TTP_MEDIUM
							  : TTP_LOW;
			assert_int_equal(out[i].level, level);
			assert_int_equal(out[i].off,
					 abs((int)level - (int)ttp_relations[i].predicted));
		}
	}
	/* the other way round: as strong, and no match */
	for (int i = 0; i < N; i++) {
		struct query_execution *x = &run.at.items[0].executions.items[i];
		uint64_t *user = &x->usage[QUERY_QUERY].value[QUERY_USER_NS];
		*user = UINT64_C(4000000000000000) - *user;
	}
	struct ttp_correlation before[TTP_RELATIONS];
	memcpy(before, out, sizeof before);
	ttp_model(runs, results, 1, out);
	for (int i = 0; i < TTP_RELATIONS; i++) {
		bool turned = ttp_relations[i].left == TTP_Q_USER ||
			      ttp_relations[i].right == TTP_Q_USER;
		int away = turned ? (int)before[i].level + (int)ttp_relations[i].predicted
				  : before[i].off;
		assert_near(out[i].r, turned ? -before[i].r : before[i].r, 1e-9);
		assert_int_equal(out[i].level, before[i].level);
		assert_int_equal(out[i].off, away > 2 ? 2 : away);
	}
	/* of a measure that was not seen nothing can be told */
	for (int i = 0; i < N; i++)
		run.at.items[0].executions.items[i].usage[QUERY_QUERY].missing = 1 << QUERY_READS;
	ttp_model(runs, results, 1, out);
	for (int i = 0; i < TTP_RELATIONS; i++)
		assert_int_equal(out[i].off == -1, ttp_relations[i].left == TTP_Q_READS ||
							   ttp_relations[i].right == TTP_Q_READS);
	at.drop = TTP_DROP_FEW; /* of what is dropped nothing is known */
	ttp_model(runs, results, 1, out);
	assert_true(isnan(out[0].r));
	assert_int_equal(out[0].off, -1);
	free(fired);
	query_run_release(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_relations_are_those_of_the_paper),
		cmocka_unit_test(known_correlations_come_out),
		cmocka_unit_test(a_model_of_known_data_has_the_known_correlations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
