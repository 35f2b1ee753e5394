/* What an hour of a profile takes in the lab: 360 slices of 10 s of two busy cores at 99 Hz, with
 * 1,500 rows of samples each, go through lab_add_slices(). Prints the cost per slice and row, the
 * bytes by table, and what reading the hour back, rolling it up and removing it take. With an
 * argument: so many stacks that are new in each slice ("0": none are kept). Not a test. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "lab/lab.h"

#define SLICES 360
#define ROWS 1500
#define FUNCTIONS 5000
#define LOCATIONS 20000
#define OBJECTS 60
#define CHAINS 4000 /* that come again */

static uint64_t seed = 1;

static uint32_t below(uint32_t limit)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((seed >> 33) % limit);
}

/* Few are common, many are rare: as code is. */
static uint32_t skewed(uint32_t limit)
{
	double x = (double)below(1u << 30) / (1u << 30);
	return (uint32_t)(x * x * x * (limit - 1));
}

static void check(int failed, const struct error *err)
{
	if (!failed)
		return;
	fprintf(stderr, "bench-profile-lab: %s\n", err->text);
	exit(err->code);
}

static uint32_t add_object(struct profile *p, uint32_t number)
{
	char path[64];
	snprintf(path, sizeof path, "/usr/lib/x86_64-linux-gnu/lib%u.so.6", number);
	struct profile_object o = { .path = path, .build_id_size = BUILD_ID_MAX };
	o.inode = 1000 + number;
	o.device = 0xfd00;
	memset(o.build_id, (int)number, sizeof o.build_id);
	return profile_add_object(p, &o);
}

static uint32_t add_location(struct profile *p, uint32_t number)
{
	char name[64], file[64];
	uint32_t function = number % FUNCTIONS, object = add_object(p, function % OBJECTS);
	uint64_t offset = 0x1000 + (uint64_t)function * 512 + number / FUNCTIONS * 16;
	uint32_t at = profile_add_location(p, object, offset);
	if (p->locations.items[at].frames)
		return at;
	snprintf(name, sizeof name, "some_function_of_middling_length_%u", function);
	snprintf(file, sizeof file, "/build/source/src/part%u/file%u.c", function % 20,
		 function % 400);
	struct profile_function f = { .object = object, .name = name, .size = 300, .line = 20 };
	f.address = 0x1000 + (uint64_t)function * 512;
	f.file = file;
	struct profile_frame frames[2] = { { .line = number % 700 }, { .line = number % 500 } };
	frames[0].function = frames[1].function = profile_add_function(p, &f);
	profile_set_frames(p, at, offset + 0x1000, frames, number % 4 ? 1 : 2);
	uint8_t code[300];
	for (size_t i = 0; i < sizeof code; i++)
		code[i] = (uint8_t)(function * 31 + i * i);
	profile_add_code(p, frames[0].function, code, sizeof code);
	return at;
}

static uint32_t add_thread(struct profile *p, uint32_t slice)
{
	/* most of the time goes to what lives long */
	uint32_t number = below(10) ? below(40) : 1000 + slice * 20 + below(20);
	char name[32];
	snprintf(name, sizeof name, "program%u", number % 50);
	uint32_t app = profile_add_app(p, name, add_object(p, number % 50));
	struct profile_instance i = { .app = app, .number = number, .pid = 1000 + number };
	i.start_ns = UINT64_C(1000000007) * number;
	i.cgroup =
		(char *)(number % 3 ? "/system.slice/some.service" : "/user.slice/user-1000.slice");
	snprintf(i.comm, sizeof i.comm, "%.15s", name);
	return profile_add_thread(p, profile_add_instance(p, &i), 1000 + number, name);
}

/* The callers of chain `number` are always the same. */
static uint32_t add_stack(struct profile *p, uint32_t number, bool stacks)
{
	uint32_t links[40], count = 1;
	links[0] = add_location(p, skewed(LOCATIONS));
	if (stacks) {
		uint64_t kept = seed;
		seed = number * 77u + 5;
		count = 8 + below(30);
		for (uint32_t i = 1; i < count; i++)
			links[i] = add_location(p, i + 6 > count ? i : skewed(LOCATIONS));
		seed = kept;
	}
	return profile_add_stack(p, links, count, 0, stacks ? STACK_COMPLETE : STACK_LEAF);
}

static void make_slice(struct profile *p, uint32_t slice, uint32_t fresh)
{
	*p = (struct profile){ .hz = 99, .cpus = 2, .mode = PROFILE_CLOCK };
	for (uint32_t i = 0; p->samples.count < ROWS; i++) {
		uint32_t chain = i < fresh ? CHAINS + slice * ROWS + i : skewed(CHAINS);
		profile_add_sample(p, 0, add_thread(p, slice), add_stack(p, chain, fresh), 1);
	}
	uint64_t begin = (1 + slice) * UINT64_C(10000000000);
	array_push(&p->slices, (struct profile_slice){ .begin_ns = begin,
						       .end_ns = begin + UINT64_C(10000000000),
						       .samples = 1980,
						       .user = 1980,
						       .self_ns = 30000000 });
}

static bool print_row(void *context, int columns, const char *const *names,
		      const char *const *values, const enum lab_type *types)
{
	(void)context;
	(void)names;
	(void)types;
	for (int i = 0; values && i < columns; i++)
		printf("%s%s", values[i] ? values[i] : "NULL", i + 1 < columns ? "\t" : "\n");
	return true;
}

static double since_ms(uint64_t begin_ns)
{
	return (double)(clock_monotonic_ns() - begin_ns) / 1e6;
}

static double cpu_ms(void)
{
	struct rusage r;
	getrusage(RUSAGE_SELF, &r);
	return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1e3 +
	       (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e3;
}

int main(int argc, char **argv)
{
	uint32_t fresh = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 200;
	char path[] = "/tmp/tare-bench.XXXXXX", name[64];
	struct error err = ERROR_INIT;
	struct lab *lab;
	struct run run = { .kind = SUBJECT_SYSTEM, .name = (char *)"bench" };
	if (!mkdtemp(path))
		return 1;
	snprintf(name, sizeof name, "%s/lab.db", path);
	check(lab_open(&lab, name, LAB_WRITE, &err), &err);
	check(lab_add_run(lab, &run, &err), &err);
	double cpu = 0, worst = 0;
	for (uint32_t i = 0; i < SLICES; i++) {
		struct profile p;
		make_slice(&p, i, fresh);
		double begin = cpu_ms(), took;
		check(lab_add_slices(lab, run.id, &p, &err), &err);
		took = cpu_ms() - begin;
		cpu += took;
		worst = took > worst ? took : worst;
		profile_release(&p);
	}
	printf("store: %.2f ms of CPU per slice (worst %.1f), %.2f us per row of samples\n",
	       cpu / SLICES, worst, 1e3 * cpu / SLICES / ROWS);
	check(lab_sql(lab,
		      "SELECT 'samples', count(*) FROM profile_sample UNION ALL SELECT 'chains', "
		      "count(*) FROM profile_chain UNION ALL SELECT 'locations', count(*) FROM "
		      "profile_location UNION ALL SELECT 'functions', count(*) FROM "
		      "profile_function UNION ALL SELECT 'threads', count(*) FROM profile_thread "
		      "UNION ALL SELECT 'estimated bytes', bytes FROM profiles UNION ALL SELECT "
		      "'bytes of the file', page_count * page_size FROM pragma_page_count, "
		      "pragma_page_size",
		      print_row, NULL, &err),
	      &err);
	struct error none = ERROR_INIT;
	lab_sql(lab,
		"SELECT name, sum(pgsize) FROM dbstat WHERE name LIKE '%profile%' GROUP BY name",
		print_row, NULL, &none);
	for (int i = 0; i < 3; i++) {
		struct profile p = { 0 };
		uint64_t begin = clock_monotonic_ns();
		double before = cpu_ms();
		check(lab_get_profile(lab, run.id, 0, 0, &p, &err), &err);
		printf("read: %.0f ms, of CPU %.0f (%zu samples, %zu locations, %zu stacks)\n",
		       since_ms(begin), cpu_ms() - before, p.samples.count, p.locations.count,
		       p.stack_list.count);
		profile_release(&p);
	}
	static const char *const views[] = { "profile_apps",	"profile_functions",
					     "profile_lines",	"profile_instructions",
					     "profile_threads", "profile_samples",
					     "profile_frames" };
	for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
		char sql[100];
		snprintf(sql, sizeof sql, "SELECT '%s', count(*) FROM %s WHERE run = 1", views[i],
			 views[i]);
		uint64_t begin = clock_monotonic_ns();
		check(lab_sql(lab, sql, print_row, NULL, &err), &err);
		printf("\t%.0f ms\n", since_ms(begin));
	}
	uint64_t bytes = 0;
	for (int i = 0; i < 3; i++) {
		static const char *const what[] = { "roll up to minutes", "keep half", "to hours" };
		struct lab_roll roll = { .minute_after_ns = i == 0, .hour_after_ns = i == 2 };
		roll.keep_bytes = i == 1 ? bytes / 2 : 0;
		uint64_t begin = clock_monotonic_ns();
		double before = cpu_ms();
		check(lab_roll_slices(lab, run.id, &roll, UINT64_C(90000000000000), &bytes, &err),
		      &err);
		printf("%s: %.0f ms, of CPU %.0f; %" PRIu64 " bytes then\n", what[i],
		       since_ms(begin), cpu_ms() - before, bytes);
	}
	check(lab_end_run(lab, run.id, RUN_COMPLETE, &err), &err);
	uint64_t begin = clock_monotonic_ns();
	check(lab_remove_run(lab, run.id, &err), &err);
	printf("remove: %.0f ms\n", since_ms(begin));
	lab_close(lab);
	unlink(name);
	rmdir(path);
	return 0;
}
