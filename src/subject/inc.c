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

/* Turns in a stretch of about STRETCH_NS. */
static uint64_t find_stretch(void)
{
	uint64_t turns = 1000000;
	for (;;) {
		uint64_t begin = clock_cpu_ns();
		inc_run(turns);
		uint64_t ns = clock_cpu_ns() - begin;
		if (ns >= STRETCH_NS / 2)
			return (uint64_t)((double)turns * STRETCH_NS / (double)ns);
		turns *= 2;
	}
}

double inc_calibrate(void)
{
	uint64_t turns = find_stretch(), least = UINT64_MAX;
	for (int i = 0; i < STRETCHES; i++) {
		uint64_t begin = clock_cpu_ns();
		inc_run(turns);
		uint64_t ns = clock_cpu_ns() - begin;
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
	while (info && fgets(line, sizeof line, info)) {
		char *value = strchr(line, ':');
		for (size_t i = 0; value && i < sizeof keys / sizeof *keys; i++) {
			if (strncmp(line, keys[i], strlen(keys[i])) != 0)
				continue;
			value += 1 + strspn(value + 1, " \t");
			value[strcspn(value, "\n")] = '\0';
			snprintf(out, NAME_MOST, "%s", value);
			fclose(info);
			return;
		}
	}
	if (info)
		fclose(info);
}

/* NULL: there is no place for it. */
static char *cache_directory(void)
{
	struct strbuf path = { 0 };
	struct invoker who;
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	invoker_get(&who);
	if (cache && *cache == '/' && !who.present) {
		strbuf_printf(&path, "%s/tare", cache);
		return strbuf_detach(&path);
	}
	if (who.present)
		home = who.home;
	struct passwd *pw = home && *home ? NULL : getpwuid(getuid());
	if (pw)
		home = pw->pw_dir;
	if (!home || *home != '/')
		return NULL;
	strbuf_printf(&path, "%s/.cache/tare", home);
	return strbuf_detach(&path);
}

/* "RATE MODEL" in one line; 0: not there, or of another CPU. */
static double read_rate(const char *path, const char *model)
{
	FREED char *line = file_read_line(path);
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
	SCOPED(strbuf_release) struct strbuf path = { 0 };
	cpu_model(model);
	if (directory)
		strbuf_printf(&path, "%s/inc", directory);
	double rate = directory && !again ? read_rate(path.text, model) : 0;
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
			invoker_begin();
			mkdir(parent, 0700);
			mkdir(directory, 0700);
			file_write(path.text, line, (size_t)length, &ignored);
			invoker_end();
		}
	}
	double wanted = rate * (double)ns / 1e9;
	if (!(wanted < 0x1p63))
		return error_set(err, EXIT_USAGE, "inc: that is longer than can be counted");
	*turns = wanted < 1 ? 1 : (uint64_t)wanted;
	return 0;
}
