#include "fixture.h"

#include <ftw.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char directory[64], path[128];
struct error err;
uint64_t seed;

static int remove_entry(const char *name, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(name);
}

/* In place of libc's: some disks take 100 ms for each. Weak, because in durable.c the power does
 * fail. */
__attribute__((weak)) int fsync(int fd)
{
	(void)fd;
	return 0;
}

__attribute__((weak)) int fdatasync(int fd)
{
	(void)fd;
	return 0;
}

int set_up(void **state)
{
	(void)state;
	snprintf(directory, sizeof directory, "/tmp/tare-lab.XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof path, "%s/lab.db", directory);
	return 0;
}

int tear_down(void **state)
{
	(void)state;
	chmod(directory, 0700);
	return nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

struct lab *open_lab(enum lab_mode mode)
{
	struct lab *lab = NULL;
	ok(lab_open(&lab, path, mode, &err));
	return lab;
}

void execute_sql(const char *sql)
{
	sqlite3 *db;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL)) {
		print_error("%s: %s\n", sql, sqlite3_errmsg(db));
		fail();
	}
	sqlite3_close(db);
}

static bool note_number(void *context, int columns, const char *const *names,
			const char *const *values, const enum lab_type *types)
{
	(void)names;
	assert_int_equal(columns, 1);
	assert_int_equal(types[0], LAB_INTEGER);
	*(int64_t *)context = strtoll(values[0], NULL, 10);
	return true;
}

int64_t query(struct lab *lab, const char *sql)
{
	int64_t value = INT64_MIN;
	ok(lab_sql(lab, sql, note_number, &value, &err));
	return value;
}

int64_t add_host(struct lab *lab, const char *host, const char *kernel, struct machine *m)
{
	int64_t id = 0;
	*m = (struct machine){ 0 };
	machine_set(m, "system.host", host);
	machine_set(m, "kernel.release", kernel);
	ok(lab_add_machine(lab, m, &id, &err));
	return id;
}

void assert_refused(int failed, const char *text)
{
	assert_int_equal(failed, -1);
	assert_int_equal(err.code, EXIT_USAGE);
	if (!strstr(err.text, text))
		fail_msg("'%s', not '%s'", err.text, text);
}

uint64_t random_number(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed >> 33 ^ seed << 20;
}

uint64_t random_value(void)
{
	uint64_t kind = random_number() % 16;
	return kind == 0 ? 0 : kind == 1 ? UINT64_MAX : random_number() >> random_number() % 64;
}

void random_name(char *name, size_t size)
{
	size_t length = random_number() % size;
	for (size_t i = 0; i < length; i++)
		name[i] = (char)(random_number() % 255 + 1);
}
