/* A command with the ledger's programs at work and idle, taking turns within one process: unlike
 *two runs of tare, both find the machine in the same state. What an idle program costs is not in
 *it.
 *
 *	bench-ledger-pairs PAIRS COMMAND [ARGUMENT...]
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "base/interrupt.h"
#include "measure/execute.h"

#define WARM_UPS 2

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;
	struct collector *without, *with;
	struct launcher *l;
	struct launch launch = { .iteration = -1 };
	struct execute_options options = { .grace_ns = 1000000000 };
	struct execution x = { 0 };
	int pairs = argc > 2 ? atoi(argv[1]) : 0;
	if (pairs < 1)
		return 2;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	interrupt_watch();
	int failed = collector_open(&without, BACKEND_BPF, &err) ||
		     collector_open(&with, BACKEND_BPF, &err) ||
		     collector_keep_ledger(with, false, &err) || launcher_new(&l, &launch, &err);
	double *share = calloc((size_t)pairs, sizeof *share);
	for (int i = -WARM_UPS; i < pairs && !failed && share; i++) {
		double et[2] = { 0 };
		for (int turn = 0; turn < 2 && !failed; turn++) {
			int kept = (i + turn) & 1; /* each comes first every other time */
			failed = execute(kept ? with : without, l, &launch, argv + 2, &options, &x,
					 &err);
			et[kept] = (double)x.et_ns;
		}
		if (i >= 0)
			share[i] = 100 * (et[1] / et[0] - 1);
	}
	if (failed || !share) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	qsort(share, (size_t)pairs, sizeof *share, by_value);
	printf("%d pairs in one process: ET with the ledger at work / idle - 1 = %+.3f %% median, quartiles "
	       "[%+.3f, %+.3f]\n",
	       pairs, share[pairs / 2], share[pairs / 4], share[pairs * 3 / 4]);
	free(share);
	execution_release(&x);
	launcher_free(l);
	collector_close(with);
	collector_close(without);
	return 0;
}
