/* Watches in the lab: bursts come back as they were, joined where they follow each other; the
 * oldest go when there is no more room. */
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "bursts.h"
#include "fixture.h"
#include "lab/chunk.h"
#include "lab/lab.h"
#include "lab/sqlite.h"

/* ---- round trips ---- */

static void bursts_come_back(void **state)
{
	(void)state;
	static const size_t sizes[][2] = { { 0, 0 },  { 1, 0 },	   { 1, 1 },	  { 3, 7 },
					   { 5, 60 }, { 80, 900 }, { 300, 20000 } };
	enum { COUNT = sizeof sizes / sizeof *sizes };
	struct bursts stored[COUNT];
	int64_t watches[COUNT];
	struct machine m;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t machine = add_host(lab, "here", "6.1", &m);
	for (size_t i = 0; i < COUNT; i++) {
		random_bursts(&stored[i], sizes[i][0], sizes[i][1]);
		watches[i] = begin_watch(lab, machine);
		ok(lab_add_bursts(lab, watches[i], &stored[i], 0, &err));
		ok(lab_end_watch(lab, watches[i], &err));
	}
	lab_close(lab);
	lab = open_lab(LAB_READ);
	for (size_t i = 0; i < COUNT; i++) {
		bursts_list list = get_bursts(lab, &m, watches[i], 0, 0);
		assert_int_equal(list.count, 1);
		same_bursts(&stored[i], &list.items[0]);
		release_bursts(&list);
		bursts_release(&stored[i]);
	}
	lab_close(lab);
	machine_release(&m);
}

static void neighbours_are_joined(void **state)
{
	(void)state;
	struct machine m;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t machine = add_host(lab, "here", "6.1", &m), watch = begin_watch(lab, machine);
	struct bursts whole, parts[5];
	usual_bursts(&whole, 100 * SECOND, 5000, 2e6);
	/* five parts of a thousand; a burst may have begun long before its part */
	for (size_t k = 0; k < 5; k++) {
		struct bursts *p = &parts[k];
		const struct burst *first = &whole.bursts.items[k * 1000];
		stretch(p, k ? first->begin_ns : whole.begin_ns, 0);
		p->end_ns = k < 4 ? first[1000].begin_ns : whole.end_ns;
		p->lost = k;
		for (size_t i = 0; i < whole.processes.count; i++)
			array_push(&p->processes, whole.processes.items[i]);
		for (size_t i = 0; i < 1000; i++)
			array_push(&p->bursts, first[i]);
		ok(lab_add_bursts(lab, watch, p, 0, &err));
		bursts_release(p);
	}
	whole.lost = 10;
	bursts_list list = get_bursts(lab, &m, 0, 0, 0);
	assert_int_equal(list.count, 1);
	same_bursts(&whole, &list.items[0]);
	release_bursts(&list);
	/* what was not watched between two divides them, and every watch is one of its own */
	put_stretch(lab, watch, whole.end_ns + 1, SECOND);
	put_stretch(lab, watch, whole.end_ns + 1 + SECOND, SECOND);
	ok(lab_end_watch(lab, watch, &err));
	watch = begin_watch(lab, machine);
	put_stretch(lab, watch, whole.end_ns + 1 + 2 * SECOND, SECOND);
	list = get_bursts(lab, &m, 0, 0, 0);
	assert_int_equal(list.count, 3);
	assert_int_equal(list.items[0].end_ns, whole.end_ns);
	assert_int_equal(list.items[0].bursts.count, 5000);
	assert_int_equal(list.items[1].bursts.count, 2);
	assert_int_equal(list.items[1].end_ns, whole.end_ns + 1 + 2 * SECOND);
	assert_int_equal(list.items[2].bursts.count, 1);
	release_bursts(&list);
	lab_close(lab);
	bursts_release(&whole);
	machine_release(&m);
}

/* Two watches of one time are two stretches, not one with everything twice. */
static void watches_of_one_time_are_stretches_of_their_own(void **state)
{
	(void)state;
	struct machine m;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t machine = add_host(lab, "here", "6.1", &m);
	int64_t a = begin_watch(lab, machine), b = begin_watch(lab, machine);
	for (uint64_t i = 0; i < 4; i++) {
		put_stretch(lab, a, i * SECOND, SECOND);
		put_stretch(lab, b, i * SECOND + SECOND / 2, SECOND);
	}
	bursts_list list = get_bursts(lab, &m, 0, 0, 0);
	assert_int_equal(list.count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(list.items[i].bursts.count, 4);
	assert_true(list.items[0].begin_ns == 0 && list.items[1].begin_ns == SECOND / 2);
	release_bursts(&list);
	lab_close(lab);
	machine_release(&m);
}

static void watches_of_machines_are_kept_apart(void **state)
{
	(void)state;
	struct machine here, updated, there;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t one = add_host(lab, "here", "6.1", &here);
	int64_t two = add_host(lab, "here", "6.12", &updated); /* the same one, later */
	int64_t three = add_host(lab, "there", "6.1", &there);
	int64_t watch = begin_watch(lab, one);
	put_stretch(lab, watch, 0, SECOND);
	put_stretch(lab, begin_watch(lab, two), 10 * SECOND, SECOND);
	int64_t other = begin_watch(lab, three);
	put_stretch(lab, other, 20 * SECOND, SECOND);
	bursts_list list = get_bursts(lab, &here, 0, 0, 0);
	assert_int_equal(list.count, 2);
	release_bursts(&list);
	list = get_bursts(lab, &updated, watch, 0, 0);
	assert_int_equal(list.count, 1);
	release_bursts(&list);
	list = get_bursts(lab, &there, 0, 0, 0);
	assert_int_equal(list.count, 1);
	assert_int_equal(list.items[0].begin_ns, 20 * SECOND);
	release_bursts(&list);
	list = get_bursts(lab, &there, watch, 0, 0); /* of the other machine */
	assert_int_equal(list.count, 0);
	list = get_bursts(lab, NULL, other, 0, 0);
	assert_int_equal(list.count, 1);
	release_bursts(&list);
	lab_watch_list rows = { 0 };
	ok(lab_list_watches(lab, &rows, &err));
	assert_int_equal(rows.count, 3);
	assert_true(rows.items[0].id == other && rows.items[0].machine == three);
	assert_true(rows.items[2].id == watch && rows.items[2].machine == one);
	array_release(&rows);
	lab_close(lab);
	machine_release(&here);
	machine_release(&updated);
	machine_release(&there);
}

static void a_part_of_the_time_has_the_bursts_that_end_in_it(void **state)
{
	(void)state;
	struct machine m;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t watch = begin_watch(lab, add_host(lab, "here", "6.1", &m));
	struct bursts b;
	for (uint64_t i = 0; i < 6; i++) { /* [0, 60) s in chunks of 10; bursts end each second */
		stretch(&b, i * 10 * SECOND, 10 * SECOND);
		add_process(&b, 7, "d");
		for (uint64_t k = 0; k < 10; k++)
			add_burst(&b, (i * 10 + k) * SECOND + SECOND / 2, SECOND / 4, 0);
		ok(lab_add_bursts(lab, watch, &b, 0, &err));
		bursts_release(&b);
	}
	static const struct {
		uint64_t since, until;
		uint64_t begin, end;
		size_t bursts;
	} cases[] = {
		{ 0, 0, 0, 60, 60 },	{ 20, 0, 20, 60, 40 }, { 0, 20, 0, 20, 20 },
		{ 13, 47, 13, 47, 34 }, { 13, 17, 13, 17, 4 }, { 59, 100, 59, 60, 1 },
		{ 30, 30, 0, 0, 0 },	{ 60, 0, 0, 0, 0 },    { 70, 80, 0, 0, 0 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int64_t since = EPOCH + (int64_t)(cases[i].since * SECOND);
		int64_t until = EPOCH + (int64_t)(cases[i].until * SECOND);
		bursts_list list = get_bursts(lab, &m, 0, cases[i].since ? since : 0,
					      cases[i].until ? until : 0);
		assert_int_equal(list.count, cases[i].bursts ? 1 : 0);
		if (cases[i].bursts) {
			const struct bursts *got = &list.items[0];
			assert_int_equal(got->begin_ns, cases[i].begin * SECOND);
			assert_int_equal(got->end_ns, cases[i].end * SECOND);
			assert_int_equal(got->realtime_ns, EPOCH + (int64_t)got->begin_ns);
			assert_int_equal(got->bursts.count, cases[i].bursts);
		}
		release_bursts(&list);
	}
	/* those that go on over either cut are there, too */
	bursts_list list = get_bursts(lab, &m, 0, EPOCH + (int64_t)(20 * SECOND + SECOND * 6 / 10),
				      EPOCH + (int64_t)(22 * SECOND + SECOND * 6 / 10));
	assert_int_equal(list.items[0].bursts.count, 3);
	assert_int_equal(list.items[0].bursts.items[0].begin_ns, 20 * SECOND + SECOND / 2);
	assert_int_equal(list.items[0].bursts.items[2].begin_ns, 22 * SECOND + SECOND / 2);
	release_bursts(&list);
	lab_close(lab);
	machine_release(&m);
}

/* ---- how a watch ends ---- */

static void a_watch_goes_while_its_tare_lives(void **state)
{
	(void)state;
	struct machine m;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t machine = add_host(lab, "here", "6.1", &m), ended = begin_watch(lab, machine);
	put_stretch(lab, ended, 5 * SECOND, SECOND);
	lab_watch_list rows = { 0 };
	ok(lab_list_watches(lab, &rows, &err));
	assert_true(rows.items[0].going);
	assert_refused(lab_remove_watch(lab, ended, &err), "is going");
	ok(lab_end_watch(lab, ended, &err));
	int report[2];
	assert_int_equal(pipe(report), 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct lab *own = open_lab(LAB_WRITE);
		put_stretch(own, begin_watch(own, machine), 20 * SECOND, SECOND);
		if (write(report[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	char x;
	assert_int_equal(read(report[0], &x, 1), 1);
	rows.count = 0;
	ok(lab_list_watches(lab, &rows, &err));
	assert_int_equal(rows.count, 2);
	assert_true(rows.items[0].going && !rows.items[1].going);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(report[0]);
	close(report[1]);
	rows.count = 0;
	ok(lab_list_watches(lab, &rows, &err));
	assert_false(rows.items[0].going);
	assert_int_equal(rows.items[0].bursts, 1); /* what was stored is kept */
	assert_int_equal(rows.items[0].lost, 1);
	assert_int_equal(rows.items[0].covered_ns, SECOND);
	assert_int_equal(rows.items[0].begun_at_ns, EPOCH + (int64_t)(20 * SECOND));
	assert_int_equal(rows.items[0].ended_at_ns, EPOCH + (int64_t)(21 * SECOND));
	assert_int_equal(query(lab, "SELECT count(*) FROM watches WHERE status = 'going'"), 1);
	lab_close(lab);
	lab = open_lab(LAB_WRITE); /* now the view knows it too */
	assert_int_equal(query(lab, "SELECT group_concat(status) = 'complete,interrupted' AND "
				    "sum(bursts) = 2 AND sum(lost) = 2 AND sum(chunks) = 2 AND "
				    "sum(covered_ns) = 2000000000 AND min(bytes) > 100 AND "
				    "max(kept_from) = '2023-11-14T22:13:40.000Z' FROM watches"),
			 1);
	ok(lab_remove_watch(lab, rows.items[0].id, &err));
	assert_int_equal(query(lab, "SELECT count(*) FROM watch_chunk"), 1);
	assert_refused(lab_remove_watch(lab, rows.items[0].id, &err), "there is no watch");
	array_release(&rows);
	lab_close(lab);
	machine_release(&m);
}

/* ---- room ---- */

static void the_oldest_bursts_go_when_there_are_too_many_bytes(void **state)
{
	(void)state;
	struct machine m;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t machine = add_host(lab, "here", "6.1", &m), first = begin_watch(lab, machine);
	uint64_t keep = 0;
	struct bursts b;
	for (uint64_t i = 0; i < 5; i++)
		put_stretch(lab, first, i * SECOND, SECOND);
	ok(lab_end_watch(lab, first, &err));
	int64_t watch = begin_watch(lab, machine), empty = begin_watch(lab, machine);
	for (uint64_t i = 0; i < 60; i++) {
		usual_bursts(&b, (100 + i) * 10 * SECOND, 500, 1e6);
		if (i == 0) { /* as large as ten such, about */
			unsigned char *bytes;
			size_t length;
			ok(chunk_encode(&b, &bytes, &length, &err));
			keep = 10 * (length + 100);
			free(bytes);
		}
		ok(lab_add_bursts(lab, watch, &b, keep, &err));
		assert_true(query(lab, "SELECT sum(bytes) FROM watches") <= (int64_t)keep);
		/* what is there is the newest, in one piece */
		bursts_list list = get_bursts(lab, &m, watch, 0, 0);
		assert_int_equal(list.items[list.count - 1].end_ns, b.end_ns);
		if (i > 20)
			assert_in_range(query(lab, "SELECT chunks FROM watches WHERE id = 2"), 8,
					11);
		release_bursts(&list);
		bursts_release(&b);
	}
	/* the first one went with its last chunk; one that may go on stays */
	assert_int_equal(query(lab, "SELECT count(*) FROM watches WHERE id = 1"), 0);
	assert_int_equal(query(lab, "SELECT count(*) FROM watches"), 2);
	lab_watch_list rows = { 0 };
	ok(lab_list_watches(lab, &rows, &err));
	assert_true(rows.items[0].id == empty && rows.items[0].bursts == 0);
	assert_true(rows.items[0].begun_at_ns == rows.items[0].ended_at_ns);
	assert_true(rows.items[1].begun_at_ns > EPOCH + (int64_t)(1400 * SECOND));
	array_release(&rows);
	/* the file does not grow, and the last chunk stays however small the cap is */
	assert_true(query(lab, "PRAGMA page_count") * 4096 < 6 * (int64_t)keep + 600000);
	usual_bursts(&b, 2000 * SECOND, 500, 1e6);
	ok(lab_add_bursts(lab, watch, &b, 1, &err));
	bursts_list list = get_bursts(lab, &m, 0, 0, 0);
	assert_int_equal(list.count, 1);
	same_bursts(&b, &list.items[0]);
	release_bursts(&list);
	bursts_release(&b);
	lab_close(lab);
	machine_release(&m);
}

static void a_full_disk_keeps_what_was_stored(void **state)
{
	(void)state;
	struct machine m;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t watch = begin_watch(lab, add_host(lab, "here", "6.1", &m));
	char limit[60];
	size_t stored = 0;
	struct bursts b;
	snprintf(limit, sizeof limit, "PRAGMA max_page_count = %d",
		 (int)query(lab, "PRAGMA page_count") + 30);
	assert_int_equal(sqlite3_exec(lab->db, limit, NULL, NULL, NULL), SQLITE_OK);
	for (; stored < 100; stored++) {
		usual_bursts(&b, stored * 100 * SECOND, 2000, 1e6);
		int failed = lab_add_bursts(lab, watch, &b, 0, &err);
		bursts_release(&b);
		if (failed)
			break;
	}
	assert_in_range(stored, 1, 99);
	assert_int_equal(err.code, EXIT_ENVIRONMENT);
	assert_non_null(strstr(err.text, "what was stored before is kept"));
	bursts_list list = get_bursts(lab, &m, 0, 0, 0);
	assert_int_equal(list.count, stored);
	release_bursts(&list);
	/* and a cap makes room */
	usual_bursts(&b, 5000 * SECOND, 100, 1e6);
	sqlite3_exec(lab->db, "PRAGMA max_page_count = 100000", NULL, NULL, NULL);
	ok(lab_add_bursts(lab, watch, &b, 1, &err));
	bursts_release(&b);
	list = get_bursts(lab, &m, 0, 0, 0);
	assert_int_equal(list.count, 1);
	release_bursts(&list);
	lab_close(lab);
	machine_release(&m);
}

/* A million: some bytes each, some seconds at worst (bench/programs/lab.c has the figures). */
static void a_million_bursts_are_stored_small_and_fast(void **state)
{
	(void)state;
	struct machine m;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t watch = begin_watch(lab, add_host(lab, "here", "6.1", &m));
	uint64_t at = SECOND, wrote = 0;
	for (int i = 0; i < 100; i++) {
		struct bursts b;
		usual_bursts(&b, at, 10000, 2e6);
		at = b.end_ns;
		uint64_t begin = clock_monotonic_ns();
		ok(lab_add_bursts(lab, watch, &b, UINT64_C(1) << 40, &err));
		wrote += clock_monotonic_ns() - begin;
		bursts_release(&b);
	}
	uint64_t begin = clock_monotonic_ns();
	bursts_list list = get_bursts(lab, &m, 0, 0, 0);
	uint64_t got = clock_monotonic_ns() - begin;
	assert_int_equal(list.count, 1);
	assert_int_equal(list.items[0].bursts.count, 1000000);
	assert_int_equal(list.items[0].processes.count, 40);
	release_bursts(&list);
	double bytes = (double)query(lab, "SELECT bytes FROM watches") / 1e6;
	print_message("%.2f bytes per burst, written in %.2f s, read in %.2f s\n", bytes,
		      (double)wrote / 1e9, (double)got / 1e9);
	assert_true(bytes < 8);
	assert_true(wrote < 30 * SECOND && got < 30 * SECOND);
	lab_close(lab);
	machine_release(&m);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	seed = 20261117;
	const struct CMUnitTest tests[] = {
		TEST(bursts_come_back),
		TEST(neighbours_are_joined),
		TEST(watches_of_one_time_are_stretches_of_their_own),
		TEST(watches_of_machines_are_kept_apart),
		TEST(a_part_of_the_time_has_the_bursts_that_end_in_it),
		TEST(a_watch_goes_while_its_tare_lives),
		TEST(the_oldest_bursts_go_when_there_are_too_many_bytes),
		TEST(a_full_disk_keeps_what_was_stored),
		TEST(a_million_bursts_are_stored_small_and_fast),
	};
	return cmocka_run_group_tests_name("lab-watches", tests, NULL, NULL);
}
