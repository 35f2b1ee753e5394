#include "protocol/emp_versions.h"

const char *emp_version_name(enum emp_version v)
{
	(void)v;
	return "";
}
const char *emp_version_adds(enum emp_version v)
{
	(void)v;
	return "";
}
void emp_versions(const struct run *run, const struct execution *executions, size_t count,
		  const struct machine *machine, const struct emp_options *options,
		  struct emp_versions *out)
{
	(void)run;
	(void)executions;
	(void)count;
	(void)machine;
	(void)options;
	*out = (struct emp_versions){ 0 };
}
void emp_sizes(const struct run *run, const struct execution *executions, size_t count,
	       const struct emp_options *options, emp_size_list *out)
{
	(void)run;
	(void)executions;
	(void)count;
	(void)options;
	(void)out;
}
