#include "collect/samples_backend.h"

static int perf_open(void **state, const struct samples_options *options, struct error *err)
{
	(void)state;
	(void)options;
	return error_set(err, EXIT_ENVIRONMENT, "cannot sample without root");
}

const struct samples_ops samples_perf_ops = { .backend = BACKEND_PLAIN, .open = perf_open };
