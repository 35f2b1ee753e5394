/* How often daemon studies of simulated machines are right, and which sample sizes `tare emp
 * --sizes` recommends for simulated runs. Standard output is Markdown. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../tests/unit/fixtures/daemons.h"
#include "protocol/emp/versions.h"
#include "stats/random.h"

#define SIZED 300 /* executions of a run */

static void frequent(uint64_t seed, int machines)
{
	static const struct {
		const char *name;
		enum lengths how;
		double spread;
	} settings[] = {
		{ "alike", LENGTHS_EVEN, 0 },
		{ "evenly within 10 %", LENGTHS_EVEN, 0.0577 },
		{ "evenly within 50 %", LENGTHS_EVEN, 0.289 },
		{ "lognormal, σ = 0.3", LENGTHS_LOGNORMAL, 0.3 },
		{ "exponential", LENGTHS_EXPONENTIAL, 1 },
	};
	puts("| a frequent daemon, its lengths | good samples dropped | samples of a rare one kept | "
	     "machines whose last zoom is no corner |\n| --- | --: | --: | --: |");
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		struct frequent_rates r;
		simulate_frequent(seed, machines, settings[i].how, settings[i].spread, &r);
		printf("| %s | %.2f %% | %.2f %% | %d |\n", settings[i].name,
		       100 * r.dropped / r.good, 100 * r.kept / r.bad, r.called_rare);
	}
}

static void periods(uint64_t seed, int machines)
{
	static const struct {
		const char *name;
		struct period_options o;
	} settings[] = {
		{ "as it is", { 0 } },
		{ "one of twelve missing", { .missing = 1 / 12., .exactly = true, .periods = 12 } },
		{ "one of twelve too many", { .extra = 1 / 12., .exactly = true, .periods = 12 } },
		{ "10 % missing", { .missing = 0.1, .exactly = true } },
		{ "10 % too many", { .extra = 0.1, .exactly = true } },
		{ "each missing with 10 %", { .missing = 0.1 } },
		{ "10 % too many on average", { .extra = 0.1 } },
		{ "10 % missing, 10 % too many",
		  { .missing = 0.1, .extra = 0.1, .exactly = true } },
		{ "10 % missing, 3 % jitter", { .missing = 0.1, .jitter = 0.03, .exactly = true } },
		{ "10 % missing, drift of 10 %",
		  { .missing = 0.1, .drift = 0.1, .exactly = true } },
		{ "a drift of 10 %", { .drift = 0.1 } },
		{ "a drift of 20 %", { .drift = 0.2 } },
	};
	puts("\n| a daemon with a period | within 5 % of it | another one found |\n"
	     "| --- | --: | --: |");
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		struct period_rates r;
		simulate_periods(seed, machines, &settings[i].o, &r);
		printf("| %s | %d of %d | %d |\n", settings[i].name, r.right, machines,
		       r.found - r.right);
	}
	puts("\n| occurrences at random | machines with a period |\n| --- | --: |");
	for (int n = 4; n <= 32; n *= 2) {
		struct period_rates r;
		simulate_random(seed, 10 * machines, n, &r);
		printf("| %d | %d of %d |\n", n, r.found, 10 * machines);
	}
}

static size_t recommended(struct random *r, double skew, double dependence)
{
	static struct execution x[SIZED];
	struct run run = { 0 };
	emp_size_list sizes = { 0 };
	double wave = 0;
	size_t found = 0;
	for (size_t i = 0; i < SIZED; i++) {
		double u = 1 - random_unit(r);
		double z = sqrt(-2 * log(u)) * cos(2 * M_PI * random_unit(r));
		wave = i ? dependence * wave + sqrt(1 - dependence * dependence) * z : z;
		x[i] = execution_unknown();
		x[i].number = (uint32_t)i + 1;
		x[i].et_ns = (uint64_t)(skew > 0 ? 1e9 * exp(skew * wave) : 1e9 + 1e7 * wave);
		x[i].pt_ns[GRADE_EXEC] = x[i].et_ns;
	}
	emp_sizes(&run, x, SIZED, &(struct emp_options){ 0 }, &sizes);
	for (size_t i = 0; i < sizes.count; i++)
		if (sizes.items[i].recommended)
			found = sizes.items[i].n;
	array_release(&sizes);
	return found;
}

static void sizes(uint64_t seed, int machines)
{
	static const struct {
		const char *name;
		double skew, dependence;
	} settings[] = { { "independent, normal", 0, 0 },
			 { "independent, lognormal (σ = 0.5)", 0.5, 0 },
			 { "AR(1), 0.8", 0, 0.8 } };
	static const size_t columns[] = { 10, 20, 30, 40, 75, 150, 300 };
	printf("\n| runs of %d executions: recommended", SIZED);
	for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
		printf(" | %zu", columns[k]);
	puts(" |\n| --- | --: | --: | --: | --: | --: | --: | --: |");
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		struct random r = { seed * 1000 + i };
		int counts[SIZED + 1] = { 0 };
		for (int m = 0; m < machines; m++)
			counts[recommended(&r, settings[i].skew, settings[i].dependence)]++;
		printf("| %s", settings[i].name);
		for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
			printf(" | %d", counts[columns[k]]);
		puts(" |");
	}
}

int main(int argc, char **argv)
{
	int machines = argc > 1 ? atoi(argv[1]) : 100;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 7;
	if (machines < 1) {
		fprintf(stderr, "usage: bench-sedona [MACHINES [SEED]]\n");
		return 2;
	}
	printf("%d machines each, seed %llu\n\n", machines, (unsigned long long)seed);
	frequent(seed, machines);
	periods(seed, machines);
	puts("\n| 30 bystanders | cutoffs for one of them | the daemon has a cutoff |\n"
	     "| --- | --: | --: |");
	for (int known = 0; known < 2; known++) {
		struct bystander_rates r;
		simulate_bystanders(seed, machines, known, &r);
		printf("| %s | %d | %d |\n", known ? "delays known" : "delays not known", r.cutoffs,
		       r.found);
	}
	puts("\n| machines that have always been understood | right |\n| --- | --: |");
	for (enum known k = 0; k < KNOWN_MACHINES; k++)
		printf("| %s | %d of %d |\n", known_names[k], simulate_known(seed, machines, k),
		       machines);
	sizes(seed, machines);
	return 0;
}
