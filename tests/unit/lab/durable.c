/* What a power cut leaves of a lab. Every write, sync, creation and removal that SQLite asks the
 * system for is noted; then the power fails after each of them. What was not synced may be on the
 * disk or not, in any order, or in part: some ways are tried each time. The lab must then be whole,
 * and have all that it was said to have. */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/invoker.h"
#include "fixture.h"
#include "sample.h"

enum what { WROTE, CUT, SYNCED, MADE, REMOVED, SYNCED_FOLDER, PROMISED };

struct event {
	enum what what;
	int file; /* of FILES */
	off_t at; /* or the size */
	size_t length;
	char *bytes;
	/* promised: this statement gives 1 */
	const char *true_then;
};
static ARRAY(struct event) events;
static size_t quiet_until; /* no power fails before this event */
static bool noting;

enum { LAB_FILE, WAL, JOURNAL, FILES };
static const char *const suffixes[FILES] = { "", "-wal", "-journal" };

static int file_of(const char *name)
{
	size_t length = strlen(path);
	if (!noting || strncmp(name, path, length) != 0)
		return -1;
	for (int f = 0; f < FILES; f++)
		if (strcmp(name + length, suffixes[f]) == 0)
			return f;
	return -1;
}

/* -1: none of the lab's. */
static int file_of_fd(int fd, char name[300])
{
	char link[64];
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = noting ? readlink(link, name, 299) : -1;
	name[n > 0 ? n : 0] = '\0';
	return file_of(name);
}

static void note(enum what what, int file, off_t at, const void *bytes, size_t length)
{
	struct event e = { what, file, at, length, NULL, NULL };
	if (bytes) {
		e.bytes = malloc(length);
		memcpy(e.bytes, bytes, length);
	}
	array_push(&events, e);
}

/* ---- in place of the system's ---- */

static int synced(int fd)
{
	char name[300];
	int file = file_of_fd(fd, name);
	if (file >= 0)
		note(SYNCED, file, 0, NULL, 0);
	else if (noting && strcmp(name, directory) == 0)
		note(SYNCED_FOLDER, 0, 0, NULL, 0);
	return 0;
}

int fsync(int fd)
{
	return synced(fd);
}

int fdatasync(int fd)
{
	return synced(fd);
}

static int noting_open(const char *name, int flags, int mode)
{
	int file = file_of(name);
	if (file >= 0 && flags & O_CREAT && access(name, F_OK))
		note(MADE, file, 0, NULL, 0);
	return open(name, flags, mode);
}

static ssize_t noting_pwrite(int fd, const void *bytes, size_t length, off_t at)
{
	char name[300];
	int file = file_of_fd(fd, name);
	if (file >= 0)
		note(WROTE, file, at, bytes, length);
	return pwrite(fd, bytes, length, at);
}

static ssize_t noting_write(int fd, const void *bytes, size_t length)
{
	char name[300];
	int file = file_of_fd(fd, name);
	if (file >= 0)
		note(WROTE, file, lseek(fd, 0, SEEK_CUR), bytes, length);
	return write(fd, bytes, length);
}

static int noting_ftruncate(int fd, off_t size)
{
	char name[300];
	int file = file_of_fd(fd, name);
	if (file >= 0)
		note(CUT, file, size, NULL, 0);
	return ftruncate(fd, size);
}

static int noting_unlink(const char *name)
{
	int file = file_of(name);
	if (file >= 0)
		note(REMOVED, file, 0, NULL, 0);
	return unlink(name);
}

static void replace_calls(void)
{
	static const struct {
		const char *name;
		sqlite3_syscall_ptr call;
	} calls[] = { { "open", (sqlite3_syscall_ptr)noting_open },
		      { "pwrite", (sqlite3_syscall_ptr)noting_pwrite },
		      { "pwrite64", (sqlite3_syscall_ptr)noting_pwrite },
		      { "write", (sqlite3_syscall_ptr)noting_write },
		      { "ftruncate", (sqlite3_syscall_ptr)noting_ftruncate },
		      { "unlink", (sqlite3_syscall_ptr)noting_unlink } };
	/* it replaces calls once, when a lab is first opened: these come after */
	assert_int_equal(invoker_for_sqlite(NULL), 0);
	sqlite3_vfs *vfs = sqlite3_vfs_find("unix");
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		vfs->xSetSystemCall(vfs, calls[i].name, calls[i].call);
}

/* From now on the lab keeps this, whatever happens. */
static void promise(const char *true_then)
{
	note(PROMISED, 0, 0, NULL, 0);
	events.items[events.count - 1].true_then = true_then;
}

/* ---- the disk after a power cut ---- */

struct disk_file {
	char *bytes;
	size_t size, room;
	bool there;
};

static void apply(struct disk_file *f, const struct event *e, size_t length)
{
	size_t end = e->what == WROTE ? (size_t)e->at + length : (size_t)e->at;
	if (end > f->room) {
		f->room = 2 * end;
		f->bytes = realloc(f->bytes, f->room);
	}
	if (end > f->size)
		memset(f->bytes + f->size, 0, end - f->size);
	if (e->what == CUT || end > f->size)
		f->size = end;
	if (e->what == WROTE)
		memcpy(f->bytes + e->at, e->bytes, length);
}

/* What of the writes that were not synced is on the disk. */
enum luck { NONE, ALL, EVEN, ODD, LAST, TORN, LUCKS };

static size_t lucky_length(enum luck luck, size_t i, size_t count, size_t length)
{
	switch (luck) {
	case ALL:
		return length;
	case EVEN:
		return i % 2 ? 0 : length;
	case ODD:
		return i % 2 ? length : 0;
	case LAST:
		return i + 1 == count ? length : 0;
	case TORN:
		return i + 1 < count ? length : length / 1024 * 512;
	default:
		return 0;
	}
}

/* The file as it is after the first `until` events. */
static struct disk_file after(int file, size_t until, enum luck luck)
{
	struct disk_file f = { 0 };
	ARRAY(size_t) waiting = { 0 }; /* events that nothing made sure of yet */
	bool there = false;	       /* for who looks at it before the power fails */
	for (size_t i = 0; i <= until; i++) {
		const struct event *e = i < until ? &events.items[i] : NULL;
		if (e && e->what == SYNCED_FOLDER)
			f.there = there;
		if (e && e->file != file)
			continue;
		if (e && (e->what == MADE || e->what == REMOVED)) {
			there = e->what == MADE;
			/* a new file of that name has nothing of the old one */
			if (there) {
				f.size = 0;
				waiting.count = 0;
			}
		}
		if (e && (e->what == WROTE || e->what == CUT))
			array_push(&waiting, i);
		if (e && e->what != SYNCED)
			continue;
		for (size_t k = 0; k < waiting.count; k++) {
			const struct event *w = &events.items[waiting.items[k]];
			size_t length = e ? w->length
					  : lucky_length(luck, k, waiting.count, w->length);
			if (w->what == WROTE ? length > 0 : e || luck == ALL || luck == TORN)
				apply(&f, w, length);
		}
		waiting.count = 0;
	}
	if (luck == ALL || luck == TORN)
		f.there = there;
	array_release(&waiting);
	return f;
}

static void put(const char *name, struct disk_file *f)
{
	unlink(name);
	if (f->there) {
		int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		assert_true(fd >= 0);
		assert_true(write(fd, f->bytes ? f->bytes : "", f->size) == (ssize_t)f->size);
		close(fd);
	}
	free(f->bytes);
}

static int64_t ask(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	int64_t answer = -1;
	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW)
		answer = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return answer;
}

static void power_fails(size_t until, enum luck luck)
{
	char lost[200], name[220];
	sqlite3 *db = NULL;
	snprintf(lost, sizeof lost, "%s/lost.db", directory);
	for (int f = 0; f < FILES; f++) {
		struct disk_file file = after(f, until, luck);
		snprintf(name, sizeof name, "%s%s", lost, suffixes[f]);
		put(name, &file);
	}
	snprintf(name, sizeof name, "%s-shm", lost);
	unlink(name);
	assert_int_equal(sqlite3_open(lost, &db), SQLITE_OK);
	int64_t whole = ask(db, "SELECT integrity_check = 'ok' FROM pragma_integrity_check");
	if (whole != 1)
		print_error("not whole after event %zu, luck %d: %s\n", until, luck,
			    sqlite3_errmsg(db));
	assert_int_equal(whole, 1);
	for (size_t i = 0; i < until; i++)
		if (events.items[i].what == PROMISED && ask(db, events.items[i].true_then) != 1) {
			print_error("lost after event %zu of %zu, luck %d: %s\n", until,
				    events.count, luck, events.items[i].true_then);
			fail();
		}
	sqlite3_close(db);
}

/* After each sync, and just before it; and after each promise. */
static void power_fails_anywhere(void)
{
	noting = false;
	size_t syncs = 0;
	for (size_t i = quiet_until; i < events.count; i++) {
		enum what what = events.items[i].what;
		if (what == WROTE || what == CUT || what == MADE)
			continue;
		syncs += what == SYNCED;
		for (int luck = 0; luck < LUCKS; luck++) {
			power_fails(i, (enum luck)luck);
			power_fails(i + 1, (enum luck)luck);
		}
	}
	assert_true(syncs > 2);
}

/* ---- what is done to a lab ---- */

static void add_some(struct lab *lab, int64_t run, uint32_t from, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct execution x;
		make_execution(&x, from + i);
		ok(lab_add_execution(lab, run, &x, &err));
		execution_release(&x);
	}
}

static int set_up_noting(void **state)
{
	int failed = set_up(state);
	noting = true;
	return failed;
}

static int tear_down_noting(void **state)
{
	noting = false;
	quiet_until = 0;
	array_each(e, &events)
		free(e->bytes);
	array_release(&events);
	return tear_down(state);
}

static void what_was_stored_survives_a_power_cut(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t run = add_run(lab, "first");
	promise("SELECT count(*) = 1 FROM run WHERE id = 1");
	add_some(lab, run, 1, 12);
	ok(lab_end_run(lab, run, RUN_COMPLETE, &err));
	promise("SELECT count(*) = 12 FROM execution WHERE run = 1 AND (SELECT status FROM run) = 1");
	run = add_run(lab, "second");
	add_some(lab, run, 1, 3);
	ok(lab_rename_run(lab, 1, "renamed", &err));
	promise("SELECT name = x'72656e616d6564' FROM run WHERE id = 1");
	promise("SELECT count(*) = 3 FROM execution WHERE run = 2");
	ok(lab_end_run(lab, run, RUN_COMPLETE, &err));
	lab_close(lab);
	power_fails_anywhere();
}

static void the_first_execution_after_a_second_is_on_the_disk(void **state)
{
	(void)state;
	noting = false;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t run = add_run(lab, "long");
	lab_close(lab);
	/* the disk has been as it is for long */
	noting = true;
	array_push(&events, (struct event){ .what = MADE });
	int fd = open(path, O_RDONLY);
	struct stat st;
	assert_int_equal(fstat(fd, &st), 0);
	char *bytes = malloc((size_t)st.st_size);
	assert_true(read(fd, bytes, (size_t)st.st_size) == st.st_size);
	note(WROTE, LAB_FILE, 0, bytes, (size_t)st.st_size);
	note(SYNCED, LAB_FILE, 0, NULL, 0);
	note(SYNCED_FOLDER, 0, 0, NULL, 0);
	quiet_until = events.count;
	free(bytes);
	close(fd);
	lab = open_lab(LAB_WRITE);
	add_some(lab, run, 1, 1);
	promise("SELECT count(*) >= 1 FROM execution");
	add_some(lab, run, 2, 20);
	ok(lab_end_run(lab, run, RUN_INTERRUPTED, &err));
	promise("SELECT count(*) = 21 FROM execution");
	lab_close(lab);
	power_fails_anywhere();
}

static void a_removed_run_does_not_come_back(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t one = add_run(lab, "one"), two = add_run(lab, "two");
	add_some(lab, one, 1, 10);
	ok(lab_end_run(lab, one, RUN_COMPLETE, &err));
	add_some(lab, two, 1, 2);
	ok(lab_end_run(lab, two, RUN_COMPLETE, &err));
	promise("SELECT count(*) = 2 FROM execution WHERE run = 2");
	ok(lab_remove_run(lab, one, &err));
	promise("SELECT count(*) = 0 FROM run WHERE id = 1");
	lab_close(lab);
	power_fails_anywhere();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_stored_survives_a_power_cut, set_up_noting,
						tear_down_noting),
		cmocka_unit_test_setup_teardown(the_first_execution_after_a_second_is_on_the_disk,
						set_up_noting, tear_down_noting),
		cmocka_unit_test_setup_teardown(a_removed_run_does_not_come_back, set_up_noting,
						tear_down_noting),
	};
	replace_calls();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
