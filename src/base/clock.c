#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t read_clock(clockid_t id)
{
	struct timespec ts;
	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t clock_monotonic_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_boottime_ns(void)
{
	return read_clock(CLOCK_BOOTTIME);
}

int64_t clock_realtime_ns(void)
{
	return (int64_t)read_clock(CLOCK_REALTIME);
}

uint64_t clock_cpu_ns(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t clock_thread_cpu_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

bool real_parse(const char *text, double *value)
{
	char *end;
	if (!*text || strspn(text, "0123456789+-.eE") != strlen(text))
		return false; /* strtod would take "inf", "nan" and hexadecimal */
	double x = strtod(text, &end);
	if (end == text || *end || !isfinite(x))
		return false;
	*value = x;
	return true;
}

bool integer_parse(const char *text, long min, long max, long *value)
{
	char *end;
	errno = 0;
	long x = strtol(text, &end, 10);
	if (end == text || *end || errno || x < min || x > max || strchr(" \t\n", *text))
		return false;
	*value = x;
	return true;
}

/* Splits "12.5ms" into 12.5 and "ms". */
static bool number_and_unit(const char *text, double *number, const char **unit)
{
	char digits[64];
	size_t n = strspn(text, "0123456789.");
	if (!n || n >= sizeof digits)
		return false;
	memcpy(digits, text, n);
	digits[n] = '\0';
	*unit = text + n;
	while (**unit == ' ')
		(*unit)++;
	return real_parse(digits, number);
}

bool duration_parse(const char *text, uint64_t *ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {
		{ "", 1e9 }, { "s", 1e9 },  { "ms", 1e6 },   { "us", 1e3 },   { "µs", 1e3 },
		{ "ns", 1 }, { "m", 60e9 }, { "min", 60e9 }, { "h", 3600e9 }, { "d", 86400e9 }
	};
	double number;
	const char *unit;
	if (!number_and_unit(text, &number, &unit))
		return false;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (strcmp(unit, units[i].unit) != 0)
			continue;
		double value = number * units[i].ns;
		if (value > 9e18)
			return false;
		*ns = (uint64_t)llround(value);
		return true;
	}
	return false;
}

bool fraction_parse(const char *text, double *value)
{
	double number;
	const char *unit;
	if (!number_and_unit(text, &number, &unit))
		return false;
	if (strcmp(unit, "%") == 0)
		*value = number / 100;
	else if (!*unit && number < 1) /* 2 is more likely meant as 2 % than as 200 % */
		*value = number;
	else
		return false;
	return true;
}
