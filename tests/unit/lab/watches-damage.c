/* What a lab does not take as bursts, and what it makes of damaged ones: an error. */
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bursts.h"
#include "fixture.h"
#include "lab/chunk.h"
#include "lab/lab.h"
#include "lab/sqlite.h"

static void impossible_watches_and_bursts_are_refused(void **state)
{
	(void)state;
	struct machine m;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t watch = begin_watch(lab, add_host(lab, "here", "6.1", &m)), none = 0;
	struct bursts b, bad;
	bursts_list list = { 0 };
	stretch(&b, SECOND, SECOND);
	add_process(&b, 3, "a");
	add_burst(&b, SECOND, 10, 0);
	assert_refused(lab_begin_watch(lab, 99, &none, &err), "no machine 99");
	assert_refused(lab_add_bursts(lab, 77, &b, 0, &err), "no watch 77");
	assert_refused(lab_end_watch(lab, 77, &err), "no watch 77");
	assert_refused(lab_get_bursts(lab, &m, 77, 0, 0, &list, &err), "no watch 77");
	bad = b;
	bad.end_ns = 1;
	assert_refused(lab_add_bursts(lab, watch, &bad, 0, &err), "ends before");
	b.bursts.items[0].process = 1;
	assert_refused(lab_add_bursts(lab, watch, &b, 0, &err), "bounds");
	b.bursts.items[0].process = 0;
	b.bursts.items[0].cpu = 4;
	assert_refused(lab_add_bursts(lab, watch, &b, 0, &err), "bounds");
	b.bursts.items[0].cpu = 3;
	b.bursts.items[0].span_ns = UINT64_MAX;
	assert_refused(lab_add_bursts(lab, watch, &b, 0, &err), "bounds");
	b.bursts.items[0].span_ns = 5;
	b.bursts.items[0].busy_ns = 6;
	assert_refused(lab_add_bursts(lab, watch, &b, 0, &err), "bounds");
	assert_int_equal(query(lab, "SELECT count(*) FROM watch_chunk"), 0);
	assert_int_equal(query(lab, "SELECT count(*) FROM watch"), 1);
	lab_close(lab);
	lab = open_lab(LAB_READ);
	b.bursts.items[0].busy_ns = 5;
	assert_refused(lab_add_bursts(lab, watch, &b, 0, &err), "for reading");
	assert_refused(lab_begin_watch(lab, 1, &none, &err), "for reading");
	lab_close(lab);
	bursts_release(&b);
	machine_release(&m);
}

static void damage_is_an_error(void **state)
{
	(void)state;
	static const char *const damages[] = {
		"UPDATE watch_chunk SET data = x''",
		"UPDATE watch_chunk SET data = x'01'",
		"UPDATE watch_chunk SET data = zeroblob(50)",
		"UPDATE watch_chunk SET data = CAST(x'02' || substr(data, 2) AS BLOB)",
		"UPDATE watch_chunk SET data = CAST(data || x'00' AS BLOB)",
		"UPDATE watch_chunk SET data = substr(data, 1, length(data) - 1)",
		"UPDATE watch_chunk SET bursts = bursts + 1",
		"UPDATE watch_chunk SET bursts = -1",
		"UPDATE watch_chunk SET bursts = 1 << 60",
		"UPDATE watch_chunk SET processes = processes - 1",
		"UPDATE watch_chunk SET processes = -9",
		"UPDATE watch_chunk SET cpus = 1",
		"UPDATE watch_chunk SET cpus = -1",
		"UPDATE watch_chunk SET end_ns = 5",
	};
	struct lab *lab = open_lab(LAB_WRITE);
	struct machine m;
	struct bursts b;
	int64_t watch = begin_watch(lab, add_host(lab, "here", "6.1", &m));
	usual_bursts(&b, 100 * SECOND, 200, 1e6);
	put_stretch(lab, watch, 10 * SECOND, SECOND);
	ok(lab_add_bursts(lab, watch, &b, 0, &err));
	bursts_list list = { 0 };
	for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
		char sql[200];
		snprintf(sql, sizeof sql, "BEGIN; %s WHERE id = 2", damages[i]);
		if (sqlite3_exec(lab->db, sql, NULL, NULL, NULL))
			fail_msg("%s: %s", damages[i], sqlite3_errmsg(lab->db));
		if (lab_get_bursts(lab, &m, 0, 0, 0, &list, &err) != -1)
			fail_msg("not seen: %s", damages[i]);
		assert_non_null(strstr(err.text, "damaged"));
		assert_int_equal(list.count, 0);
		sqlite3_exec(lab->db, "ROLLBACK", NULL, NULL, NULL);
	}
	array_release(&list);
	list = get_bursts(lab, &m, 0, 0, 0);
	assert_int_equal(list.count, 2);
	same_bursts(&b, &list.items[1]);
	release_bursts(&list);
	bursts_release(&b);
	lab_close(lab);
	machine_release(&m);
}

/* Whatever is done to the bytes: an error, or what could have been stored. */
static void damaged_chunks_are_an_error(void **state)
{
	(void)state;
	struct bursts b;
	unsigned char *good, *bad;
	size_t length, unseen = 0;
	usual_bursts(&b, SECOND, 300, 1e6);
	ok(chunk_encode(&b, &good, &length, &err));
	bad = xmalloc(length);
	for (int i = 0; i < 5000; i++) {
		bool mended = i % 2; /* the checksum says nothing of it */
		size_t now = random_below(10) ? length : random_below(length);
		memcpy(bad, good, length);
		for (uint64_t k = 1 + random_below(3); k; k--)
			bad[random_below(length)] ^= (unsigned char)(1 + random_below(255));
		if (mended && now >= CHUNK_HEADER) {
			uint32_t sum = chunk_checksum(bad + CHUNK_HEADER, now - CHUNK_HEADER);
			memcpy(bad + CHUNK_CHECKSUM_AT, &sum, sizeof sum);
			*bad = 1;
		}
		struct bursts back = { .begin_ns = b.begin_ns, .cpus = b.cpus };
		if (chunk_decode(bad, now, b.processes.count, b.bursts.count, &back, &err)) {
			assert_non_null(strstr(err.text, "damaged"));
			assert_true(!back.bursts.items && !back.processes.items);
			continue;
		}
		unseen += !mended;
		unsigned char *again;
		ok(chunk_encode(&back, &again, &now, &err));
		free(again);
		bursts_release(&back);
	}
	assert_int_equal(unseen, 0);
	free(good);
	free(bad);
	bursts_release(&b);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	seed = 20261117;
	const struct CMUnitTest tests[] = {
		TEST(impossible_watches_and_bursts_are_refused),
		TEST(damage_is_an_error),
		TEST(damaged_chunks_are_an_error),
	};
	return cmocka_run_group_tests_name("lab-watches-damage", tests, NULL, NULL);
}
