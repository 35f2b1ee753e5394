/* Shared by the parts of the perf back end: perf.c (events and their life) and perf_take.c (records
 * into a profile). */
#ifndef TARE_COLLECT_SAMPLES_PERF_H
#define TARE_COLLECT_SAMPLES_PERF_H

#include "base/strbuf.h"
#include "collect/machine/cpus.h"
#include "collect/samples/appids.h"
#include "collect/samples/backend.h"
#include "collect/samples/perf_rings.h"
#include "collect/samples/sideband.h"

struct samples_perf {
	enum profile_mode mode;
	enum profile_stacks stacks;
	uint32_t hz;
	cpu_list cpus;	     /* all online ones: processes may be reported on any */
	ARRAY(bool) sampled; /* for each CPU, whether it was asked for */
	size_t ring_bytes;
	struct perf_rings *rings;
	ARRAY(int) events; /* each writes into the ring of its CPU */
	ARRAY(pid_t) followed;
	struct strbuf not_seen;

	struct sideband *sb;
	struct appids *appids;
	struct profile now; /* since the last take; one slice */
	uint64_t self_ns;   /* CPU time of this process at the last take */
	uint64_t beats;
	bool lost_any;
	bool busy; /* a followed process was alive at the last beat */
};

/* The fields of a sample after struct perf_rings_sample. */
uint64_t samples_perf_type(enum profile_stacks stacks);
#define SAMPLES_PERF_STACK_BYTES 16384u
/* rbp, rsp and rip, in this order; 0: no .eh_frame unwinding on this machine. */
uint64_t samples_perf_registers(void);

/* Takes the records out of the rings. */
void samples_perf_read(struct samples_perf *s);

#endif
