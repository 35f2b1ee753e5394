#include "protocol/windows.h"

void windows_cut(const struct bursts *parts, size_t count, const struct windows_options *options,
		 struct sedona_run *out, int *cpu)
{
	(void)parts;
	(void)count;
	(void)options;
	(void)out;
	(void)cpu;
}
