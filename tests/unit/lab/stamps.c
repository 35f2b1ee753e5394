/* Names and tags, the search by them and the order of lists; what somebody who looks on while
 * others write is told by. */
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "fixture.h"
#include "sample.h"

#define ODD "a'b\"c\n\xff\xfe\xc3(\x01 \xe2\x82\xac"

static void same_tags(struct lab *lab, int64_t id, const char *tags)
{
	struct run run = { 0 };
	ok(lab_get_run(lab, id, &run, &err));
	if (tags)
		assert_string_equal(run.tags, tags);
	else
		assert_null(run.tags);
	run_release(&run);
}

static size_t found(struct lab *lab, struct lab_search search)
{
	run_list runs = { 0 };
	ok(lab_search_runs(lab, &search, &runs, NULL, &err));
	size_t count = runs.count;
	for (size_t i = 0; i < count; i++)
		run_release(&runs.items[i]);
	array_release(&runs);
	return count;
}

static void tags_are_set_and_found(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t first = add_run(lab, "apple"), second = add_run(lab, "banana");
	ok(lab_tag_run(lab, first, ODD, &err));
	same_tags(lab, first, ODD);
	ok(lab_tag_run(lab, first, "red, round", &err));
	assert_int_equal(found(lab, (struct lab_search){ .like = "ROUND" }), 1);
	assert_int_equal(found(lab, (struct lab_search){ .before = second }), 1);
	assert_int_equal(found(lab, (struct lab_search){ .before = first }), 0);
	assert_int_equal(found(lab, (struct lab_search){ .most = 1 }), 1);
	ok(lab_tag_run(lab, first, "", &err));
	same_tags(lab, first, NULL);
	assert_refused(lab_tag_run(lab, 1234, "x", &err), "there is no run 1234");
	lab_close(lab);
}

static void tags_become(struct lab *lab, const char *add, const char *remove, const char *tags)
{
	char *now = NULL;
	ok(lab_change_tags(lab, 1, add, remove, &now, &err));
	assert_string_equal(now, tags);
	free(now);
	same_tags(lab, 1, *tags ? tags : NULL);
}

static void single_tags_come_and_go(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	char *now = NULL;
	add_run(lab, "apple");
	tags_become(lab, "checked", NULL, "checked");
	tags_become(lab, " checked,, very round ,checked", "no", "checked, very round");
	tags_become(lab, NULL, "very round,check", "checked");
	tags_become(lab, "Checked", "checked", "Checked");
	tags_become(lab, NULL, "Checked", "");
	/* what needs no change is left as it was written */
	ok(lab_tag_run(lab, 1, " a ,b\xff,\n", &err));
	tags_become(lab, "a", "c", " a ,b\xff,\n");
	tags_become(lab, "c", NULL, " a ,b\xff, c");
	assert_refused(lab_change_tags(lab, 7, "x", NULL, &now, &err), "there is no run 7");
	assert_null(now);
	lab_close(lab);
}

/* A change of one transaction says so; of several nobody knows but who makes them. */
static void a_busy_lab_says_what_was_not_changed(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t run = add_run(lab, "apple");
	char *now = NULL;
	ok(lab_end_run(lab, run, RUN_COMPLETE, &err));
	lab_close(lab);
	sqlite3 *other;
	assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	lab = open_lab(LAB_EDIT);
	uint64_t begin = clock_monotonic_ns();
	lab_waited(lab, UINT64_C(6000000000));
	assert_int_equal(lab_remove_run(lab, run, &err), -1);
	assert_string_equal(err.hint, "try again when it is done");
	assert_int_equal(lab_edit_run(lab, run, "pear", NULL, &err), -1);
	assert_string_equal(err.hint, "nothing was changed; try again when it is done");
	err = (struct error)ERROR_INIT;
	assert_int_equal(lab_change_tags(lab, run, "x", NULL, &now, &err), -1);
	assert_string_equal(err.hint, "nothing was changed; try again when it is done");
	assert_true(clock_monotonic_ns() - begin < UINT64_C(4000000000));
	/* another failure is not that one */
	sqlite3_close(other);
	execute_sql("CREATE TRIGGER no BEFORE UPDATE OF tags ON run BEGIN"
		    " SELECT raise(ABORT, 'no'); END");
	err = (struct error)ERROR_INIT;
	assert_int_equal(lab_edit_run(lab, run, NULL, "x", &err), -1);
	assert_string_equal(err.hint, "");
	lab_close(lab);
}

static void name_and_tags_change_together(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t run = add_run(lab, "apple"), id = 0;
	ok(lab_edit_run(lab, run, "pear", "green", &err));
	ok(lab_find_run(lab, "pear", LAB_ALL_KINDS, &id, NULL, &err));
	assert_int_equal(id, run);
	same_tags(lab, run, "green");
	/* what is not given stays */
	ok(lab_edit_run(lab, run, NULL, "", &err));
	same_tags(lab, run, NULL);
	ok(lab_edit_run(lab, run, "plum", NULL, &err));
	ok(lab_find_run(lab, "plum", LAB_ALL_KINDS, &id, NULL, &err));
	/* both or none: the tags cannot be stored, so the name is not */
	execute_sql("CREATE TRIGGER no BEFORE UPDATE OF tags ON run BEGIN"
		    " SELECT raise(ABORT, 'no'); END");
	assert_int_equal(lab_edit_run(lab, run, "fig", "x", &err), -1);
	execute_sql("DROP TRIGGER no");
	assert_refused(lab_find_run(lab, "fig", LAB_ALL_KINDS, &id, NULL, &err),
		       "there is no run 'fig'");
	assert_refused(lab_edit_run(lab, run, "12", "x", &err), "cannot be called");
	same_tags(lab, run, NULL);
	assert_refused(lab_edit_run(lab, 1234, "x", "y", &err), "there is no run 1234");
	lab_close(lab);
}

/* The names of the runs in this order, joined. */
static void in_order(struct lab *lab, enum lab_order order, bool up, const char *names)
{
	struct lab_search search = { .order = order, .up = up };
	char said[64] = "";
	for (uint32_t i = 0; i < 8; i++) { /* one by one: skipped are the ones before */
		run_list runs = { 0 };
		search.most = 1;
		search.skip = i;
		ok(lab_search_runs(lab, &search, &runs, NULL, &err));
		if (runs.count)
			strncat(said, runs.items[0].name, 3);
		for (size_t k = 0; k < runs.count; k++)
			run_release(&runs.items[k]);
		array_release(&runs);
	}
	assert_string_equal(said, names);
}

static void lists_are_sorted(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	static const char *const names[] = { "b", "A", "d", "C" };
	for (int i = 0; i < 4; i++) {
		int64_t run = add_run(lab, names[i]);
		struct execution x;
		/* of b one that takes 1009, of A three of about 1002, of d none */
		for (uint32_t k = 1; k <= (i == 0 ? 1 : i == 1 ? 3 : i == 3 ? 2 : 0); k++) {
			make_execution(&x, i == 0 ? 9 : k + (i == 3) * 3);
			ok(lab_add_execution(lab, run, &x, &err));
			execution_release(&x);
		}
	}
	ok(lab_end_run(lab, 1, RUN_FAILED, &err));
	ok(lab_end_run(lab, 3, RUN_COMPLETE, &err));
	ok(lab_tag_run(lab, 2, "z", &err));
	ok(lab_tag_run(lab, 4, "y", &err));
	execute_sql("UPDATE run SET started_at_ns = -id * id * (id - 3)");
	in_order(lab, LAB_BY_NUMBER, false, "CdAb");
	in_order(lab, LAB_BY_NUMBER, true, "bAdC");
	in_order(lab, LAB_BY_NAME, true, "AbCd");
	in_order(lab, LAB_BY_NAME, false, "dCbA");
	in_order(lab, LAB_BY_COMMAND, true, "CdAb"); /* all the same: the newest first */
	in_order(lab, LAB_BY_TAGS, true, "CAdb");    /* without come last, */
	in_order(lab, LAB_BY_TAGS, false, "ACdb");   /* whichever way */
	in_order(lab, LAB_BY_STATUS, true, "CAdb");
	in_order(lab, LAB_BY_BEGIN, true, "CdbA");
	in_order(lab, LAB_BY_MADE, false, "ACbd");
	in_order(lab, LAB_BY_ET, false, "bCAd");
	in_order(lab, LAB_BY_ET, true, "ACbd");
	in_order(lab, LAB_BY_PT, true, "ACbd");
	/* of two that say going, one is not */
	execute_sql("UPDATE run SET owner_boot = 'another' WHERE id = 4");
	in_order(lab, LAB_BY_STATUS, true, "AdCb");
	/* other kinds come after, by what they have */
	execute_sql(
		"UPDATE run SET kind = 3 WHERE id IN (1, 2);"
		"INSERT INTO query_at VALUES (1, 1, 1, 10, 0), (2, 1, 1, 20, 0), (3, 2, 1, 10, 0);"
		"INSERT INTO query_execution (at, execution) VALUES (3, 1)");
	in_order(lab, LAB_BY_ET, false, "CdbA");
	in_order(lab, LAB_BY_ET, true, "CdAb");
	in_order(lab, LAB_BY_MADE, false, "CdAb");
	lab_close(lab);
}

static uint64_t stamp_of(struct lab *lab, int64_t run)
{
	uint64_t stamp;
	ok(lab_stamp_run(lab, run, &stamp, &err));
	assert_true(stamp < UINT64_C(1) << 53);
	return stamp;
}

static uint64_t stamp_of_list(struct lab *lab, bool counts)
{
	uint64_t stamp;
	ok(lab_stamp_list(lab, counts, &stamp, &err));
	return stamp;
}

static uint32_t version_of(struct lab *lab)
{
	uint32_t version;
	ok(lab_version(lab, &version, &err));
	return version;
}

static void stamps_tell_of_changes(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t run = add_run(lab, "apple"), another = add_run(lab, "banana");
	struct lab *reader = open_lab(LAB_READ);
	uint32_t version = version_of(reader);
	uint64_t stamp = stamp_of(reader, run), list = stamp_of_list(reader, false),
		 full = stamp_of_list(reader, true);
	assert_int_equal(version_of(reader), version);
	assert_true(stamp_of(reader, run) == stamp);

	struct execution x;
	make_execution(&x, 1);
	ok(lab_add_execution(lab, run, &x, &err));
	execution_release(&x);
	assert_int_not_equal(version_of(reader), version);
	assert_true(stamp_of(reader, run) != stamp);
	assert_true(stamp_of_list(reader, false) == list);
	assert_true(stamp_of_list(reader, true) != full);

	/* another run is of no matter to it */
	stamp = stamp_of(reader, run);
	ok(lab_rename_run(lab, another, "pear", &err));
	assert_true(stamp_of(reader, run) == stamp);
	assert_true(stamp_of_list(reader, false) != list);

	ok(lab_end_run(lab, run, RUN_COMPLETE, &err));
	assert_true(stamp_of(reader, run) != stamp);
	stamp = stamp_of(reader, run);
	ok(lab_tag_run(lab, run, "red", &err));
	assert_true(stamp_of(reader, run) != stamp);
	assert_refused(lab_stamp_run(reader, 1234, &stamp, &err), "there is no run 1234");
	lab_close(reader);
	lab_close(lab);
}

static void a_run_whose_tare_was_killed_is_shown_as_interrupted(void **state)
{
	(void)state;
	int ready[2];
	char byte = 0;
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct lab *lab = open_lab(LAB_WRITE);
		add_run(lab, "apple");
		if (write(ready[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	struct lab *reader = open_lab(LAB_READ);
	uint32_t version = version_of(reader);
	uint64_t stamp = stamp_of(reader, 1), list = stamp_of_list(reader, false);
	assert_true(stamp_of_list(reader, false) == list);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/* it left no word of it in the lab, and is shown as interrupted all the same */
	assert_int_equal(version_of(reader), version);
	assert_true(stamp_of(reader, 1) != stamp);
	assert_true(stamp_of_list(reader, false) != list);
	/* which is no news to anybody when it is written down */
	stamp = stamp_of(reader, 1);
	list = stamp_of_list(reader, false);
	lab_close(open_lab(LAB_WRITE));
	assert_int_equal(query(reader, "SELECT count(*) FROM runs WHERE status = 'interrupted'"),
			 1);
	assert_true(stamp_of(reader, 1) == stamp);
	assert_true(stamp_of_list(reader, false) == list);
	lab_close(reader);
	close(ready[0]);
	close(ready[1]);
}

/* To say what readers see anyway, nobody waits for whoever writes. */
static void a_busy_lab_is_opened_at_once(void **state)
{
	(void)state;
	static const char marked[] = "SELECT count(*) FROM runs WHERE status = 'interrupted'";
	struct lab *lab = open_lab(LAB_WRITE);
	add_run(lab, "apple");
	add_run(lab, "pear");
	lab_close(lab);
	execute_sql("UPDATE run SET owner_boot = 'another'");
	sqlite3 *other;
	assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	uint64_t begin = clock_monotonic_ns();
	lab = open_lab(LAB_EDIT);
	assert_true(clock_monotonic_ns() - begin < UINT64_C(4000000000));
	assert_int_equal(query(lab, marked), 0);
	lab_close(lab);
	sqlite3_close(other);
	lab = open_lab(LAB_EDIT);
	assert_int_equal(query(lab, marked), 2);
	lab_close(lab);
}

static void the_list_knows_cutoffs_and_queries(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	struct machine m;
	add_host(lab, "grape", "6.1", &m);
	uint64_t list = stamp_of_list(lab, false);
	struct cutoff c = { .cutoff_ns = 1000, .daemon = "cron" };
	ok(lab_put_cutoff(lab, &m, &c, &err));
	assert_true(stamp_of_list(lab, false) != list);
	list = stamp_of_list(lab, false);
	c.cutoff_ns = 2000;
	ok(lab_put_cutoff(lab, &m, &c, &err));
	assert_true(stamp_of_list(lab, false) != list);
	machine_release(&m);

	add_run(lab, "apple");
	execute_sql("INSERT INTO query_at VALUES (1, 1, 1, 10, 0), (2, 1, 1, 20, 0);"
		    "INSERT INTO query_execution (at, execution) VALUES (1, 1), (2, 1)");
	list = stamp_of_list(lab, true);
	/* not of the newest Q@C */
	execute_sql("INSERT INTO query_execution (at, execution) VALUES (1, 2)");
	assert_true(stamp_of_list(lab, true) != list);
	lab_close(lab);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(tags_are_set_and_found),
		TEST(single_tags_come_and_go),
		TEST(a_busy_lab_says_what_was_not_changed),
		TEST(name_and_tags_change_together),
		TEST(lists_are_sorted),
		TEST(stamps_tell_of_changes),
		TEST(a_run_whose_tare_was_killed_is_shown_as_interrupted),
		TEST(a_busy_lab_is_opened_at_once),
		TEST(the_list_knows_cutoffs_and_queries),
	};
	return cmocka_run_group_tests_name("lab-stamps", tests, NULL, NULL);
}
