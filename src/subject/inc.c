#include "subject/inc.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/invoker.h"
#include "base/strbuf.h"

#define STRETCH_NS \
	20000000u /* of CPU time: five ticks or more, and short enough to be undisturbed */
#define STRETCHES 15
#define NAME_MOST 128
#define RATE_MOST 1e12 /* turns per second, of any CPU */

/* Aligned: where a loop of one cycle lies in its cache line decides how long it takes. */
__attribute__((noinline, aligned(64))) uint64_t inc_run(uint64_t turns)
{
	uint64_t count = 0;
	while (count < turns) {
		count++;
		__asm__ volatile("" : "+r"(count)); /* each turn is made */
	}
	return count;
}

static uint64_t cpu_ns(uint64_t turns)
{
	uint64_t begin = clock_cpu_ns();
	inc_run(turns);
	return clock_cpu_ns() - begin;
}

double inc_calibrate(void)
{
	uint64_t turns = 1000000, least = UINT64_MAX, ns;
	while ((ns = cpu_ns(turns)) < STRETCH_NS / 2)
		turns *= 2;
	turns = (uint64_t)((double)turns * STRETCH_NS / (double)ns);
	for (int i = 0; i < STRETCHES; i++) {
		ns = cpu_ns(turns);
		least = ns < least ? ns : least;
	}
	return (double)turns * 1e9 / (double)(least ? least : 1);
}

/* ---- the cache ---- */

/* The model of the CPU, as /proc/cpuinfo tells it; "unknown" where it does not. */
static void cpu_model(char out[NAME_MOST])
{
	static const char *const keys[] = { "model name", "CPU part", "cpu model" };
	char line[256];
	FILE *info = fopen("/proc/cpuinfo", "re");
	snprintf(out, NAME_MOST, "unknown");
	for (bool found = false; !found && info && fgets(line, sizeof line, info);) {
		char *value = strchr(line, ':');
		for (size_t i = 0; value && i < sizeof keys / sizeof *keys; i++)
			found |= strncmp(line, keys[i], strlen(keys[i])) == 0;
		if (!found)
			continue;
		value += 1 + strspn(value + 1, " \t");
		value[strcspn(value, "\n")] = '\0';
		snprintf(out, NAME_MOST, "%s", value);
	}
	if (info)
		fclose(info);
}

/* NULL: there is no place for it. */
static char *cache_directory(void)
{
	struct invoker who;
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	invoker_get(&who);
	if (cache && *cache == '/' && !who.present)
		return xprintf("%s/tare", cache);
	if (who.present)
		home = who.home;
	struct passwd *pw = home && *home ? NULL : getpwuid(getuid());
	if (pw)
		home = pw->pw_dir;
	return home && *home == '/' ? xprintf("%s/.cache/tare", home) : NULL;
}

/* "RATE MODEL" in one line; 0: not there, or of another CPU. */
static double read_rate(const char *path, const char *model)
{
	FREED char *line = invoker_read_line(path);
	char *rest;
	double rate = line ? strtod(line, &rest) : 0;
	bool valid = line && rest != line && *rest == ' ' && strcmp(rest + 1, model) == 0 &&
		     rate >= 1 && rate <= RATE_MOST;
	return valid ? rate : 0;
}

int inc_turns(uint64_t ns, bool again, uint64_t *turns, struct error *err)
{
	char model[NAME_MOST];
	FREED char *directory = cache_directory();
	FREED char *path = directory ? xprintf("%s/inc", directory) : NULL;
	cpu_model(model);
	double rate = directory && !again ? read_rate(path, model) : 0;
	if (rate == 0) {
		rate = inc_calibrate();
		if (directory) {
			/* If the rate cannot be stored, it is measured again the next time. */
			struct error ignored = ERROR_INIT;
			char line[NAME_MOST + 40];
			int length = snprintf(line, sizeof line, "%.17g %s\n", rate, model);
			const char *slash = strrchr(directory, '/');
			FREED char *parent =
				xstrndup(directory, slash ? (size_t)(slash - directory) : 0);
			AS_USER(as);
			if (invoker_begin(&as, NULL) == 0) {
				mkdir(parent, 0700);
				mkdir(directory, 0700);
				file_write(path, line, (size_t)length, &ignored);
			}
		}
	}
	double wanted = rate * (double)ns / 1e9;
	/* whatever the rate, nobody counts for 292 years */
	if (ns > INT64_MAX || !(wanted < 0x1p63))
		return error_set(err, EXIT_USAGE, "inc: that is longer than can be counted");
	*turns = wanted < 1 ? 1 : (uint64_t)wanted;
	return 0;
}
