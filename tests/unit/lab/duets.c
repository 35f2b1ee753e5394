/* Duets in the lab: they come back as they were, also while they are going. */
#include "fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/sqlite.h"

static int64_t add_duet_run(struct lab *lab)
{
	struct run run = { .kind = SUBJECT_DUET,
			   .name = xstrdup("new against old"),
			   .command = xstrdup("tare duet old new") };
	ok(lab_add_run(lab, &run, &err));
	int64_t id = run.id;
	run_release(&run);
	return id;
}

static struct duet some_duet(void)
{
	struct duet d = { .way = DUET_FREEZER,
			  .why = xstrdup("both have 4 threads"),
			  .cpus = xstrdup("0-1"),
			  .turn_ns = 5000000,
			  .max_time_ns = 60000000000,
			  .precision = 0.005,
			  .precise = true,
			  .slower = NAN,
			  .seed = UINT64_MAX - 3,
			  .revisions = xstrdup("abc..def") };
	array_push(&d.sides, ((struct duet_side){ xstrdup("old"), xstrdup("./old \xff") }));
	array_push(&d.sides, ((struct duet_side){ xstrdup("n\xe9w"), xstrdup("./new") }));
	for (uint32_t i = 0; i < 9; i++) {
		struct duet_part p = { .pair = i / 2,
				       .side = i % 2,
				       .repeat = i % 3,
				       .place = i & 1,
				       .warmup = i == 2,
				       .outcome = (enum outcome)(i % 3),
				       .status = (int)i - 1,
				       .started_at_ns = 1700000000000000000 + i,
				       .et_ns = random_value() >> 1,
				       .turn_ns = i == 3 ? ABSENT_NS : i,
				       .pt_ns = { ABSENT_NS, i, random_value() >> 1 },
				       .overlap = i == 4 ? (double)NAN : 0.25 * i,
				       .switches = i == 5 ? ABSENT_NS : i,
				       .padding = 16 * i };
		array_push(&d.parts, p);
	}
	array_push(&d.looks, ((struct duet_look){ 3, 0.125 }));
	array_push(&d.looks, ((struct duet_look){ 4, 1 }));
	return d;
}

static void same_text(const char *a, const char *b)
{
	assert_true(!a == !b);
	if (a)
		assert_string_equal(a, b);
}

static bool same_real(double a, double b)
{
	return isnan(a) ? isnan(b) : a == b;
}

static void same_parts(const struct duet *a, const struct duet *b, size_t count)
{
	assert_int_equal(b->parts.count, count);
	for (size_t i = 0; i < count; i++) {
		struct duet_part p = a->parts.items[i], q = b->parts.items[i];
		assert_true(same_real(p.overlap, q.overlap));
		assert_true(p.pair == q.pair && p.side == q.side && p.repeat == q.repeat &&
			    p.place == q.place && p.warmup == q.warmup && p.outcome == q.outcome &&
			    p.status == q.status && p.started_at_ns == q.started_at_ns &&
			    p.et_ns == q.et_ns && p.turn_ns == q.turn_ns &&
			    !memcmp(p.pt_ns, q.pt_ns, sizeof p.pt_ns) && p.switches == q.switches &&
			    p.padding == q.padding);
	}
}

static void comes_back(struct lab *lab, int64_t run, const struct duet *a, size_t parts,
		       size_t looks)
{
	struct duet b = { 0 };
	ok(lab_get_duet(lab, run, &b, &err));
	assert_true(a->way == b.way && a->turn_ns == b.turn_ns && a->period_ns == b.period_ns &&
		    a->slice_ns == b.slice_ns && a->max_time_ns == b.max_time_ns &&
		    a->precise == b.precise && a->seed == b.seed);
	assert_true(same_real(a->precision, b.precision) && same_real(a->slower, b.slower));
	same_text(a->why, b.why);
	same_text(a->lacks, b.lacks);
	same_text(a->cpus, b.cpus);
	same_text(a->revisions, b.revisions);
	assert_int_equal(a->sides.count, b.sides.count);
	for (size_t i = 0; i < a->sides.count; i++) {
		same_text(a->sides.items[i].name, b.sides.items[i].name);
		same_text(a->sides.items[i].command, b.sides.items[i].command);
	}
	same_parts(a, &b, parts);
	assert_int_equal(b.looks.count, looks);
	for (size_t i = 0; i < looks; i++)
		assert_true(a->looks.items[i].pairs == b.looks.items[i].pairs &&
			    a->looks.items[i].spent == b.looks.items[i].spent);
	duet_release(&b);
}

static void a_duet_comes_back_at_every_moment(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	struct duet d = some_duet();
	int64_t run = add_duet_run(lab), beside = add_duet_run(lab);
	ok(lab_add_duet(lab, run, &d, &err));
	ok(lab_add_duet(lab, beside, &d, &err));
	comes_back(lab, run, &d, 0, 0);
	ok(lab_add_duet_parts(lab, run, d.parts.items, 5, NULL, &err));
	ok(lab_add_duet_parts(lab, beside, d.parts.items, 1, NULL, &err));
	comes_back(lab, run, &d, 5, 0);
	ok(lab_add_duet_parts(lab, run, d.parts.items + 5, 3, &d.looks.items[0], &err));
	ok(lab_add_duet_parts(lab, run, d.parts.items + 8, 1, &d.looks.items[1], &err));
	comes_back(lab, run, &d, 9, 2);
	comes_back(lab, beside, &d, 1, 0);
	lab_close(lab);
	lab = open_lab(LAB_READ);
	comes_back(lab, run, &d, 9, 2);
	lab_close(lab);
	duet_release(&d);
}

static void a_duet_is_counted_listed_and_seen_by_its_stamp(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	struct duet d = some_duet();
	int64_t run = add_duet_run(lab);
	uint64_t before, after;
	bool has = false;
	ok(lab_add_duet(lab, run, &d, &err));
	ok(lab_has_data(lab, run, &has, &err));
	assert_true(has);
	ok(lab_stamp_run(lab, run, &before, &err));
	ok(lab_add_duet_parts(lab, run, d.parts.items, d.parts.count, &d.looks.items[0], &err));
	ok(lab_stamp_run(lab, run, &after, &err));
	assert_true(before != after);
	run_list runs = { 0 };
	run_count_list counts = { 0 };
	for (int order = 0; order < LAB_ORDERS; order++) {
		struct lab_search search = { .order = (enum lab_order)order };
		ok(lab_search_runs(lab, &search, &runs, &counts, &err));
	}
	assert_int_equal(runs.count, LAB_ORDERS);
	assert_int_equal(counts.items[0].executions, 6); /* without 2 alone and 1 warm-up */
	assert_int_equal(counts.items[0].warmups, 1);
	assert_int_equal(counts.items[0].pairs, 4);
	assert_int_equal(counts.items[0].sides, 2);
	assert_int_equal(query(lab, "SELECT executions FROM runs WHERE kind = 'duet'"), 6);
	assert_int_equal(query(lab, "SELECT pairs FROM duets WHERE way = 'freezer'"), 4);
	for (size_t i = 0; i < runs.count; i++)
		run_release(&runs.items[i]);
	array_release(&runs);
	array_release(&counts);
	lab_close(lab);
	duet_release(&d);
}

static void a_removed_duet_takes_everything_with_it(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	struct duet d = some_duet();
	int64_t run = add_duet_run(lab);
	ok(lab_add_duet(lab, run, &d, &err));
	ok(lab_add_duet_parts(lab, run, d.parts.items, 9, &d.looks.items[0], &err));
	ok(lab_end_run(lab, run, RUN_COMPLETE, &err));
	ok(lab_remove_run(lab, run, &err));
	assert_int_equal(query(lab, "SELECT (SELECT count(*) FROM duet_part) + (SELECT count(*)"
				    " FROM duet_side) + (SELECT count(*) FROM duet_look) +"
				    " (SELECT count(*) FROM duet)"),
			 0);
	lab_close(lab);
	duet_release(&d);
}

static void what_is_no_duet_is_refused(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	struct run run = { .name = xstrdup("x"), .command = xstrdup("x") };
	struct duet d = { 0 };
	ok(lab_add_run(lab, &run, &err));
	assert_refused(lab_get_duet(lab, run.id, &d, &err), "is not one of 'tare duet'");
	assert_refused(lab_get_duet(lab, 77, &d, &err), "no run 77");
	assert_refused(lab_get_duet(lab, add_duet_run(lab), &d, &err), "nothing of run");
	run_release(&run);
	lab_close(lab);
}

static void a_damaged_duet_is_an_error(void **state)
{
	(void)state;
	static const char *const damage[] = {
		"UPDATE duet SET way = 3",
		"UPDATE duet_part SET side = 2",
		"UPDATE duet_part SET pair = 4000000000",
		"UPDATE duet_part SET outcome = 9",
		"DELETE FROM duet_side WHERE side = 1",
		"UPDATE duet_side SET name = NULL",
	};
	for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
		struct lab *lab = open_lab(LAB_WRITE);
		struct duet d = some_duet(), back = { 0 };
		int64_t run = add_duet_run(lab);
		ok(lab_add_duet(lab, run, &d, &err));
		ok(lab_add_duet_parts(lab, run, d.parts.items, 9, NULL, &err));
		execute_sql(damage[i]);
		err = (struct error)ERROR_INIT;
		assert_int_equal(lab_get_duet(lab, run, &back, &err), -1);
		assert_non_null(strstr(err.text, "is damaged"));
		assert_true(!back.sides.count && !back.parts.count);
		ok(lab_end_run(lab, run, RUN_COMPLETE, &err));
		ok(lab_remove_run(lab, run, &err));
		lab_close(lab);
		duet_release(&d);
	}
}

/* A lab of the version before duets, with a run of a command and one of queries. */
static void make_older(void)
{
	int before = 0;
	while (!strstr(lab_schema[before], "CREATE TABLE duet "))
		execute_sql(lab_schema[before++]);
	char *marks = sqlite3_mprintf(
		"PRAGMA application_id = 0x74617265; PRAGMA user_version = %d", before);
	execute_sql(marks);
	sqlite3_free(marks);
	execute_sql(
		"INSERT INTO run (status, backend, name, command, parameters, parameters_raw,"
		" started_at_ns, planned, owner_pid, owner_start, owner_boot, owner_space, kind)"
		" VALUES (1, 2, x'6f', x'74', '{}', x'', 5, 1, 1, 1, '', '', 0),"
		" (1, 2, x'6e', x'74', '{}', x'', 6, 1, 1, 1, '', '', 3)");
}

static void a_lab_before_duets_is_brought_up_to_date(void **state)
{
	(void)state;
	make_older();
	struct lab *lab = open_lab(LAB_WRITE);
	struct duet d = some_duet();
	assert_int_equal(
		query(lab, "SELECT group_concat(id || kind) = '1command,2query' FROM runs"), 1);
	int64_t run = add_duet_run(lab);
	ok(lab_add_duet(lab, run, &d, &err));
	comes_back(lab, run, &d, 0, 0);
	lab_close(lab);
	duet_release(&d);
}

static void a_lab_before_duets_can_be_read_as_it_is(void **state)
{
	(void)state;
	make_older();
	struct lab *lab = open_lab(LAB_READ);
	run_list runs = { 0 };
	run_count_list counts = { 0 };
	uint64_t stamp;
	for (int order = 0; order < LAB_ORDERS; order++) {
		struct lab_search search = { .order = (enum lab_order)order };
		ok(lab_search_runs(lab, &search, &runs, &counts, &err));
	}
	assert_int_equal(runs.count, 2 * LAB_ORDERS);
	ok(lab_stamp_run(lab, 1, &stamp, &err));
	ok(lab_stamp_list(lab, true, &stamp, &err));
	assert_int_equal(
		query(lab, "SELECT group_concat(id || kind) = '1command,2query' FROM runs"), 1);
	assert_int_equal(query(lab, "SELECT count(*) FROM duets"), 0);
	assert_int_equal(query(lab, "PRAGMA user_version") < lab_schema_version, 1);
	assert_int_equal(query(lab, "SELECT count(*) FROM main.sqlite_schema WHERE name = 'duet'"),
			 0);
	for (size_t i = 0; i < runs.count; i++)
		run_release(&runs.items[i]);
	array_release(&runs);
	array_release(&counts);
	lab_close(lab);
}

static void views_have_every_column(void **state)
{
	(void)state;
	static const struct {
		const char *view;
		const struct field *fields;
	} views[] = { { "duets", duet_fields },
		      { "duet_sides", duet_side_fields },
		      { "duet_parts", duet_part_fields },
		      { "duet_looks", duet_look_fields } };
	struct lab *lab = open_lab(LAB_WRITE);
	for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
		struct field_cursor c = { .fields = views[i].fields };
		while (field_next(&c)) {
			char *sql = sqlite3_mprintf("SELECT count(*) FROM pragma_table_info(%Q)"
						    " WHERE name = %Q",
						    views[i].view, c.leaf.name);
			if (!query(lab, sql))
				fail_msg("%s has no %s", views[i].view, c.leaf.name);
			sqlite3_free(sql);
		}
	}
	lab_close(lab);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_duet_comes_back_at_every_moment),
		TEST(a_duet_is_counted_listed_and_seen_by_its_stamp),
		TEST(a_removed_duet_takes_everything_with_it),
		TEST(what_is_no_duet_is_refused),
		TEST(a_damaged_duet_is_an_error),
		TEST(a_lab_before_duets_is_brought_up_to_date),
		TEST(a_lab_before_duets_can_be_read_as_it_is),
		TEST(views_have_every_column),
	};
	return cmocka_run_group_tests_name("duets", tests, NULL, NULL);
}
