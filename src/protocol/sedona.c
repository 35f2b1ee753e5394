#include "protocol/sedona.h"

void sedona_run_release(struct sedona_run *r)
{
	(void)r;
}
uint32_t sedona_name_index(struct sedona_run *r, const char *name)
{
	(void)r;
	(void)name;
	return 0;
}
void sedona_run_of(const struct run *run, const struct execution *executions, size_t count,
		   struct sedona_run *out)
{
	(void)run;
	(void)executions;
	(void)count;
	(void)out;
}
void sedona_split(const struct sedona_run *r, bool *is_l, struct study_run *out)
{
	(void)r;
	(void)is_l;
	(void)out;
}
void sedona_cluster(const struct sedona_run *r, const bool *is_l, sedona_cluster_list *out)
{
	(void)r;
	(void)is_l;
	(void)out;
}
void sedona_cutoffs(const struct sedona_seen_run *short_run, const struct sedona_seen_run *long_run,
		    uint64_t unit_ns, struct study *out)
{
	(void)short_run;
	(void)long_run;
	(void)unit_ns;
	(void)out;
}
void sedona_period(const uint32_t *numbers, size_t count, uint32_t total, uint64_t spacing_ns,
		   struct study_period *out)
{
	(void)numbers;
	(void)count;
	(void)total;
	(void)spacing_ns;
	(void)out;
}
void sedona_study(const struct sedona_run *short_run, const struct sedona_run *long_run,
		  uint64_t unit_ns, struct study *out, bool *is_l[STUDY_LENGTHS])
{
	(void)short_run;
	(void)long_run;
	(void)unit_ns;
	(void)out;
	(void)is_l;
}
const struct sedona_execution *sedona_offender(const struct sedona_run *r,
					       const struct sedona_sample *s,
					       const struct cutoff *cutoffs, size_t count,
					       uint64_t program_ns, const struct cutoff **cutoff)
{
	(void)r;
	(void)s;
	(void)cutoffs;
	(void)count;
	(void)program_ns;
	(void)cutoff;
	return NULL;
}
