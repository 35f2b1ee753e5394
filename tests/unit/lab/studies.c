/* Studies of daemons in the lab: they come back as they were, whatever becomes of their runs;
 * damage is an error. */
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"
#include "lab/lab.h"
#include "lab/sqlite.h"
#include "study.h"

#define SECOND UINT64_C(1000000000)

static int64_t add_run(struct lab *lab)
{
	struct run run = { .name = xstrdup("inc"), .command = xstrdup("tare inc") };
	ok(lab_add_run(lab, &run, &err));
	ok(lab_end_run(lab, run.id, RUN_COMPLETE, &err));
	int64_t id = run.id;
	run_release(&run);
	return id;
}

static bool exists(struct lab *lab, const struct machine *m, int64_t id)
{
	struct study back = { 0 };
	bool found = true;
	ok(lab_get_study(lab, m, id, &found, &back, &err));
	study_release(&back);
	return found;
}

/* ---- studies ---- */

static void studies_come_back(void **state)
{
	(void)state;
	static const size_t sizes[] = { 0, 10, 25, 100, 3000 };
	enum { COUNT = sizeof sizes / sizeof *sizes };
	struct study stored[COUNT];
	struct machine machines[COUNT];
	struct lab *lab = open_lab(LAB_WRITE);
	for (size_t i = 0; i < COUNT; i++) {
		char host[20];
		snprintf(host, sizeof host, "host%zu", i);
		random_study(&stored[i], add_host(lab, host, "6.1", &machines[i]), sizes[i]);
		for (int k = 0; k < STUDY_LENGTHS; k++)
			if (stored[i].runs[k].present && random_number() % 2)
				stored[i].runs[k].run = add_run(lab);
		ok(lab_add_study(lab, &stored[i], &err));
		assert_int_equal(stored[i].id, i + 1);
		for (size_t k = 0; k < stored[i].cutoffs.count; k++)
			assert_true(stored[i].cutoffs.items[k].id > 0);
	}
	lab_close(lab);
	lab = open_lab(LAB_READ);
	for (size_t i = 0; i < COUNT; i++) {
		comes_back(lab, &machines[i], 0, &stored[i]);
		comes_back(lab, NULL, stored[i].id, &stored[i]);
		study_release(&stored[i]);
		machine_release(&machines[i]);
	}
	assert_false(exists(lab, NULL, 99));
	lab_close(lab);
}

static void the_newest_study_of_a_machine_is_in_force(void **state)
{
	(void)state;
	struct machine here, updated, there, nowhere = { 0 };
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t one = add_host(lab, "here", "6.1", &here);
	int64_t two = add_host(lab, "here", "6.12", &updated); /* the same one, later */
	int64_t three = add_host(lab, "there", "6.1", &there);
	struct study a, b, c;
	random_study(&a, one, 40);
	random_study(&b, two, 40);
	random_study(&c, three, 40);
	ok(lab_add_study(lab, &a, &err));
	ok(lab_add_study(lab, &b, &err));
	ok(lab_add_study(lab, &c, &err));
	comes_back(lab, &here, 0, &b);
	comes_back(lab, &updated, 0, &b);
	comes_back(lab, &there, 0, &c);
	assert_false(exists(lab, &nowhere, 0));
	lab_study_list rows = { 0 };
	ok(lab_list_studies(lab, &rows, &err));
	assert_int_equal(rows.count, 3);
	assert_true(rows.items[0].id == c.id && rows.items[0].in_force);
	assert_true(rows.items[1].id == b.id && rows.items[1].in_force);
	assert_true(rows.items[2].id == a.id && !rows.items[2].in_force);
	const struct study *all[] = { &c, &b, &a };
	for (size_t i = 0; i < 3; i++) {
		const struct lab_study_row *row = &rows.items[i];
		uint32_t daemons = 0;
		for (size_t k = 0; k < all[i]->daemons.count; k++)
			daemons += all[i]->daemons.items[k].seen[0].long_executions ||
				   all[i]->daemons.items[k].seen[1].long_executions;
		assert_int_equal(row->daemons, daemons);
		assert_int_equal(row->cutoffs, all[i]->cutoffs.count);
		assert_true(row->machine == all[i]->machine && row->source == all[i]->source);
		assert_int_equal(row->made_at_ns, all[i]->made_at_ns);
		assert_int_equal(row->short_ns, all[i]->runs[STUDY_SHORT].length_ns);
		assert_int_equal(row->long_ns, all[i]->runs[STUDY_LONG].length_ns);
	}
	array_release(&rows);
	/* where the cutoffs come from: the machine as it was then */
	struct lab_cutoffs got = { 0 };
	ok(lab_get_cutoffs(lab, &here, &got, &err));
	assert_int_equal(got.made_at_ns, b.made_at_ns);
	assert_string_equal(machine_get(&got.machine, "kernel.release"), "6.12");
	assert_int_equal(got.cutoffs.count, b.cutoffs.count);
	for (size_t i = 0; i < got.cutoffs.count; i++)
		same_cutoff(&got.cutoffs.items[i], &b.cutoffs.items[i]);
	lab_cutoffs_release(&got);
	/* replaced: the older study has them still, out of force */
	for (size_t i = 0; i < a.cutoffs.count; i++)
		a.cutoffs.items[i].id = 0;
	comes_back(lab, NULL, a.id, &a);
	study_release(&a);
	study_release(&b);
	study_release(&c);
	lab_close(lab);
	machine_release(&here);
	machine_release(&updated);
	machine_release(&there);
}

static void a_removed_run_leaves_the_study(void **state)
{
	(void)state;
	struct machine m;
	struct lab *lab = open_lab(LAB_WRITE);
	struct study s;
	random_study(&s, add_host(lab, "here", "6.1", &m), 50);
	for (int i = 0; i < STUDY_LENGTHS; i++) {
		s.runs[i].present = true;
		s.runs[i].run = add_run(lab);
	}
	ok(lab_add_study(lab, &s, &err));
	ok(lab_remove_run(lab, s.runs[STUDY_SHORT].run, &err));
	s.runs[STUDY_SHORT].run = 0;
	comes_back(lab, &m, 0, &s);
	assert_int_equal(query(lab, "SELECT short_run IS NULL AND long_run = 2 FROM studies"), 1);
	study_release(&s);
	lab_close(lab);
	machine_release(&m);
}

static const char *const tables[] = { "daemon_study",
				      "daemon_study_run",
				      "daemon_study_level",
				      "daemon_study_daemon",
				      "daemon_study_seen",
				      "daemon_study_cutoff",
				      "cutoff" };
#define TABLES (sizeof tables / sizeof *tables)

static int64_t rows_in(struct lab *lab, size_t table)
{
	char sql[80];
	snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", tables[table]);
	return query(lab, sql);
}

static void a_removed_study_takes_all_with_it(void **state)
{
	(void)state;
	struct machine m;
	struct lab *lab = open_lab(LAB_WRITE);
	struct study s;
	do
		random_study(&s, add_host(lab, "here", "6.1", &m), 200);
	while (!s.runs[0].levels.count && (study_release(&s), machine_release(&m), true));
	ok(lab_add_study(lab, &s, &err));
	for (size_t i = 0; i < TABLES; i++)
		assert_true(rows_in(lab, i) > 0);
	assert_refused(lab_remove_study(lab, 7, &err), "no study 7");
	ok(lab_remove_study(lab, s.id, &err));
	for (size_t i = 0; i < TABLES; i++)
		assert_int_equal(rows_in(lab, i), 0);
	assert_refused(lab_remove_study(lab, s.id, &err), "no study 1");
	in_force(lab, &m, 0, "");
	int64_t before = s.id;
	ok(lab_add_study(lab, &s, &err));
	assert_true(s.id > before); /* numbers are not given twice */
	study_release(&s);
	lab_close(lab);
	machine_release(&m);
}

/* ---- damage, no room, versions ---- */

static void damage_is_an_error(void **state)
{
	(void)state;
	static const char *const damages[] = {
		"UPDATE daemon_study SET source = 3",
		"UPDATE daemon_study_run SET length = 2 WHERE length = 1",
		"UPDATE daemon_study_run SET samples = -1",
		"UPDATE daemon_study_run SET l_samples = ''",
		"UPDATE daemon_study_run SET l_samples = '['",
		"UPDATE daemon_study_run SET l_samples = '[]]'",
		"UPDATE daemon_study_run SET l_samples = '[1'",
		"UPDATE daemon_study_run SET l_samples = '[1,]'",
		"UPDATE daemon_study_run SET l_samples = '[-1]'",
		"UPDATE daemon_study_run SET dropped = '[4294967296]'",
		"UPDATE daemon_study_run SET dropped = '[99999999999999999999]'",
		"UPDATE daemon_study_run SET dropped = '[1 2]'",
		"DELETE FROM daemon_study_run",
		"UPDATE daemon_study_level SET shape = 3",
		"UPDATE daemon_study_level SET shape = -1",
		"UPDATE daemon_study_level SET both = 1 << 40",
		"UPDATE daemon_study_level SET position = position + 20",
		"UPDATE daemon_study_level SET length = length + 7",
		"UPDATE daemon_study_daemon SET position = 5 WHERE position = 0",
		"DELETE FROM daemon_study_daemon WHERE position = 2",
		"DELETE FROM daemon_study_daemon",
		"DELETE FROM daemon_study_seen WHERE length = 1",
		"DELETE FROM daemon_study_seen",
		"DELETE FROM daemon_study_seen WHERE daemon = 2 AND length = 1",
		"UPDATE daemon_study_seen SET daemon = 3 WHERE daemon = 2",
		"UPDATE daemon_study_seen SET samples = 'x'",
		"UPDATE daemon_study_seen SET cluster_executions = -7",
		"UPDATE daemon_study_cutoff SET position = 9 WHERE position = 0",
	};
	static const char *const cutoffs[] = {
		"UPDATE cutoff SET daemon = ''",
		"UPDATE cutoff SET from_ns = -1",
		"UPDATE cutoff SET below_ns = 1, from_ns = 2",
		"UPDATE cutoff SET cutoff_ns = -1",
		"DELETE FROM machine",
	};
	size_t count = sizeof damages / sizeof *damages, more = sizeof cutoffs / sizeof *cutoffs;
	struct lab *lab = open_lab(LAB_WRITE);
	struct machine m;
	struct study s;
	random_study(&s, add_host(lab, "here", "6.1", &m), 30);
	for (int k = 0; k < STUDY_LENGTHS; k++) {
		s.runs[k].present = true;
		array_push(&s.runs[k].levels, ((struct study_level){ 0 }));
	}
	ok(lab_add_study(lab, &s, &err));
	sqlite3_exec(lab->db, "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = 1",
		     NULL, NULL, NULL);
	for (size_t i = 0; i < count + more; i++) {
		struct study back = { 0 };
		struct lab_cutoffs got = { 0 };
		bool found = false;
		const char *damage = i < count ? damages[i] : cutoffs[i - count];
		sqlite3_exec(lab->db, "BEGIN", NULL, NULL, NULL);
		if (sqlite3_exec(lab->db, damage, NULL, NULL, NULL))
			fail_msg("%s: %s", damage, sqlite3_errmsg(lab->db));
		int failed = i < count ? lab_get_study(lab, &m, 0, &found, &back, &err)
				       : lab_get_cutoffs(lab, &m, &got, &err);
		if (failed != -1)
			fail_msg("not seen: %s", damage);
		if (strncmp(damage, "DELETE FROM machine", 19) != 0)
			assert_non_null(strstr(err.text, "damaged"));
		assert_true(!found && !back.daemons.items && !got.cutoffs.items);
		sqlite3_exec(lab->db, "ROLLBACK", NULL, NULL, NULL);
	}
	comes_back(lab, &m, 0, &s);
	study_release(&s);
	lab_close(lab);
	machine_release(&m);
}

static void a_full_disk_keeps_the_last_study_in_force(void **state)
{
	(void)state;
	struct machine m;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t machine = add_host(lab, "here", "6.1", &m);
	struct study last = { 0 }, next;
	char limit[60];
	int stored = 0;
	snprintf(limit, sizeof limit, "PRAGMA max_page_count = %d",
		 (int)query(lab, "PRAGMA page_count") + 60);
	assert_int_equal(sqlite3_exec(lab->db, limit, NULL, NULL, NULL), SQLITE_OK);
	for (; stored < 200; stored++) {
		random_study(&next, machine, 100);
		if (lab_add_study(lab, &next, &err))
			break;
		study_release(&last);
		last = next;
	}
	assert_in_range(stored, 1, 199);
	assert_int_equal(err.code, EXIT_ENVIRONMENT);
	assert_non_null(strstr(err.text, "what was stored before is kept"));
	comes_back(lab, &m, 0, &last); /* its cutoffs are in force, still */
	sqlite3_exec(lab->db, "PRAGMA max_page_count = 100000", NULL, NULL, NULL);
	ok(lab_add_study(lab, &next, &err)); /* with room it goes on */
	comes_back(lab, &m, 0, &next);
	study_release(&last);
	study_release(&next);
	lab_close(lab);
	machine_release(&m);
}

/* A study that was stored before it was known what steadied ones are. */
static void a_study_of_version_5_is_read(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++)
		execute_sql(lab_schema[i]);
	execute_sql(
		"PRAGMA application_id = 0x74617265; PRAGMA user_version = 5;"
		"INSERT INTO machine VALUES (1, 'f', CAST('system.host=here' AS BLOB), NULL, 5);"
		"INSERT INTO daemon_study VALUES (1, 1, 5, 1, 'i');"
		"INSERT INTO daemon_study_run VALUES (1, 0, NULL, 1000, 9, 9, 1, 2, 0.5, 0.5, 1.5, 1.5,"
		" '[]', '[]')");
	struct lab *lab = open_lab(LAB_WRITE);
	struct study s = { 0 };
	bool found = false;
	ok(lab_get_study(lab, NULL, 1, &found, &s, &err));
	assert_true(found);
	assert_true(s.runs[STUDY_SHORT].present && s.runs[STUDY_SHORT].samples == 9);
	assert_false(s.runs[STUDY_SHORT].steadied);
	assert_int_equal(query(lab, "SELECT short_steadied = 0 AND short_steady_sigma_ns IS NULL "
				    "FROM studies"),
			 1);
	study_release(&s);
	lab_close(lab);
}

static void a_lab_before_studies_is_brought_up_to_date(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++)
		execute_sql(lab_schema[i]);
	execute_sql(
		"PRAGMA application_id = 0x74617265; PRAGMA user_version = 4;"
		"INSERT INTO machine VALUES (1, 'f', CAST('system.host=here' AS BLOB), NULL, 5);"
		"INSERT INTO study VALUES (1, x'74', NULL, 5);"
		"INSERT INTO run (study, machine, status, backend, name, command, parameters,"
		" parameters_raw, started_at_ns, planned, owner_pid, owner_start, owner_boot,"
		" owner_space) VALUES (1, 1, 1, 2, x'6f', x'74', '{}', x'', 5, 1, 1, 1, '', '')");
	struct lab *lab = NULL;
	assert_int_equal(lab_open(&lab, path, LAB_READ, &err), -1);
	assert_non_null(strstr(err.text, "older schema version 4"));
	lab = open_lab(LAB_WRITE);
	assert_int_equal(query(lab, "PRAGMA user_version"), lab_schema_version);
	struct run old = { 0 };
	ok(lab_get_run(lab, 1, &old, &err));
	assert_true(old.invocation == 1 && old.machine == 1 && strcmp(old.name, "o") == 0);
	run_release(&old);
	struct machine m = { 0 };
	struct study s;
	int64_t watch = 0;
	ok(lab_get_machine(lab, 1, &m, &err));
	random_study(&s, 1, 60);
	s.runs[STUDY_LONG].present = true;
	s.runs[STUDY_LONG].run = 1;
	ok(lab_add_study(lab, &s, &err));
	comes_back(lab, &m, 0, &s);
	study_release(&s);
	ok(lab_begin_watch(lab, 1, &watch, &err));
	sqlite3_stmt *stmt = NULL;
	ok(lab_prepare(lab, &stmt, "PRAGMA foreign_key_check", "read", &err));
	assert_int_equal(sqlite3_step(stmt), SQLITE_DONE);
	sqlite3_finalize(stmt);
	lab_close(lab);
	machine_release(&m);
}

/* ---- views ---- */

static void views_say_the_same(void **state)
{
	(void)state;
	struct machine m;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t machine = add_host(lab, "here", "6.1", &m);
	struct study s = { .source = STUDY_RUNS, .machine = machine };
	s.made_at_ns = INT64_C(1700000000500000000);
	struct study_run *r = &s.runs[STUDY_SHORT];
	*r = (struct study_run){ .present = true, .run = add_run(lab), .length_ns = 128 * SECOND };
	r->samples = 800;
	r->cluster = 780;
	r->sigma_ns = 9;
	r->sigma_kept_ns = 3;
	r->mean_ns = 100;
	r->mean_kept_ns = 90;
	r->steadied = true;
	r->steady_sigma_ns = 7;
	r->steady_sigma_kept_ns = 3;
	for (uint32_t i = 0; i < 3; i++)
		array_push(&r->l_samples, i * 100);
	array_push(&r->dropped, 200);
	struct study_daemon d = { .name = "flush-9:0", .period = { true, false, 20, SECOND, 7 } };
	d.seen[STUDY_SHORT].long_executions = 2;
	d.seen[STUDY_SHORT].long_least_ns = 11;
	d.seen[STUDY_SHORT].has_cutoff = true;
	d.seen[STUDY_SHORT].cutoff_ns = 10;
	array_push(&d.seen[STUDY_SHORT].samples, 100);
	array_push(&d.seen[STUDY_SHORT].samples, 200);
	array_push(&s.daemons, d);
	array_push(&s.daemons, ((struct study_daemon){ .name = "cron" }));
	add_cutoff(&s, "flush-9:0", 0, 64 * SECOND, 10);
	add_cutoff(&s, "flush-9:0", 64 * SECOND, 0, 12);
	ok(lab_add_study(lab, &s, &err));
	put_new(lab, &m, "cron", 0, 0, 8);
	static const char *const truths[] = {
		"SELECT id = 1 AND source = 'runs' AND made_at = '2023-11-14T22:13:20.500Z' AND "
		"machine = 1 AND in_force = 1 AND short_run = 1 AND short_ns = 128000000000 AND "
		"short_samples = 800 AND short_cluster = 780 AND short_l_samples = 3 AND short_dropped "
		"= 1 AND short_sigma_ns = 9.0 AND short_sigma_kept_ns = 3.0 AND short_mean_ns = 100.0 "
		"AND short_mean_kept_ns = 90.0 AND short_steadied AND short_steady_sigma_ns = 7.0 "
		"AND short_steady_sigma_kept_ns = 3.0 AND long_steadied IS NULL AND daemons = 1 AND cutoffs = 2 FROM studies",
		"SELECT long_run IS NULL AND long_ns IS NULL AND long_l_samples IS NULL FROM studies",
		"SELECT count(*) = 2 FROM study_daemons WHERE study = 1",
		"SELECT long_running = 1 AND period_ns = 1000000000 AND period_error_ns = 7 AND "
		"period_uncertain = 0 AND short_cutoff_ns = 10 AND short_long_least_ns = 11 AND "
		"long_cutoff_ns IS NULL AND short_cluster_max_ns IS NULL FROM study_daemons WHERE "
		"daemon = 'flush-9:0'",
		"SELECT group_concat(j.value) = '100,200' FROM study_daemons d, "
		"json_each(d.short_samples) j",
		"SELECT long_running = 0 AND period_ns IS NULL AND short_samples = '[]' FROM "
		"study_daemons WHERE daemon = 'cron'",
		"SELECT count(*) = 3 AND sum(edited) = 1 AND count(study) = 2 AND count(below_ns) = 1 "
		"AND count(edited_at) = 1 FROM cutoffs WHERE identity = (SELECT identity FROM studies)",
		"SELECT cutoff_ns = 12 AND from_ns = 64000000000 FROM cutoffs WHERE below_ns IS NULL "
		"AND NOT edited",
	};
	for (size_t i = 0; i < sizeof truths / sizeof *truths; i++)
		if (query(lab, truths[i]) != 1)
			fail_msg("not true: %s", truths[i]);
	study_release(&s);
	lab_close(lab);
	machine_release(&m);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	seed = 20261118;
	const struct CMUnitTest tests[] = {
		TEST(studies_come_back),
		TEST(the_newest_study_of_a_machine_is_in_force),
		TEST(a_removed_run_leaves_the_study),
		TEST(a_removed_study_takes_all_with_it),
		TEST(damage_is_an_error),
		TEST(a_full_disk_keeps_the_last_study_in_force),
		TEST(a_lab_before_studies_is_brought_up_to_date),
		TEST(a_study_of_version_5_is_read),
		TEST(views_say_the_same),
	};
	return cmocka_run_group_tests_name("lab-studies", tests, NULL, NULL);
}
