/* The records of a study and of a watch: names, which cutoff holds, and stretches of bursts that
 * are put behind each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "record/bursts.h"
#include "record/study.h"

static void every_source_length_and_shape_has_its_name(void **state)
{
	(void)state;
	static const char *const sources[] = { "active", "watch", "runs" };
	static const char *const lengths[] = { "short", "long" };
	static const char *const shapes[] = { "symmetric", "L", "corner" };
	assert_int_equal(sizeof sources / sizeof *sources, STUDY_SOURCES);
	assert_int_equal(sizeof lengths / sizeof *lengths, STUDY_LENGTHS);
	assert_int_equal(sizeof shapes / sizeof *shapes, STUDY_SHAPES);
	for (int i = 0; i < STUDY_SOURCES; i++)
		assert_string_equal(study_source_names[(enum study_source)i], sources[i]);
	for (int i = 0; i < STUDY_LENGTHS; i++)
		assert_string_equal(study_length_names[(enum study_length)i], lengths[i]);
	for (int i = 0; i < STUDY_SHAPES; i++)
		assert_string_equal(study_shape_names[(enum study_shape)i], shapes[i]);
}

static void a_study_is_released_whole(void **state)
{
	(void)state;
	struct study s = { .id = 3 };
	study_release(&s); /* an empty one */
	for (int i = 0; i < STUDY_LENGTHS; i++) {
		array_push(&s.runs[i].levels, ((struct study_level){ .low_ns = 1 }));
		array_push(&s.runs[i].l_samples, 1);
		array_push(&s.runs[i].dropped, 2);
	}
	struct study_daemon d = { .name = "d" };
	array_push(&d.seen[STUDY_SHORT].samples, 1);
	array_push(&d.seen[STUDY_LONG].samples, 1);
	array_push(&s.daemons, d);
	array_push(&s.cutoffs, ((struct cutoff){ .id = 1 }));
	study_release(&s);
	static const struct study empty;
	assert_memory_equal(&s, &empty, sizeof s);
	study_release(&s); /* again */
}

static void the_cutoff_that_holds_is_found_by_daemon_and_time(void **state)
{
	(void)state;
	static const struct cutoff list[] = {
		{ .id = 1, .daemon = "cron", .from_ns = 0, .below_ns = 10 },
		{ .id = 2, .daemon = "cron", .from_ns = 10, .below_ns = 20 },
		{ .id = 3, .daemon = "flush", .from_ns = 5, .below_ns = 0 },
		{ .id = 4, .daemon = "cron", .from_ns = 30, .below_ns = 0 },
	};
	static const struct {
		const char *daemon;
		uint64_t et_ns;
		int64_t id; /* 0: none */
	} cases[] = {
		{ "cron", 0, 1 },	    { "cron", 9, 1 },
		{ "cron", 10, 2 },	    { "cron", 19, 2 },
		{ "cron", 20, 0 },	    { "cron", 29, 0 },
		{ "cron", 30, 4 },	    { "cron", UINT64_MAX, 4 },
		{ "flush", 4, 0 },	    { "flush", 5, 3 },
		{ "flush", UINT64_MAX, 3 }, { "cro", 5, 0 },
		{ "crond", 5, 0 },	    { "", 5, 0 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct cutoff *c = cutoff_find(list, 4, cases[i].daemon, cases[i].et_ns);
		assert_int_equal(c ? c->id : 0, cases[i].id);
	}
	assert_null(cutoff_find(NULL, 0, "cron", 5));
}

/* ---- bursts ---- */

static void add_process(struct bursts *b, int32_t pid, uint64_t start_ns, const char *name)
{
	struct burst_process p = { .pid = pid, .start_ns = start_ns };
	snprintf(p.name, sizeof p.name, "%s", name);
	array_push(&b->processes, p);
}

static void add_burst(struct bursts *b, uint64_t begin_ns, uint32_t process)
{
	array_push(&b->bursts, ((struct burst){ .begin_ns = begin_ns, .process = process }));
}

static void are_sorted(const struct bursts *b)
{
	for (size_t i = 1; i < b->bursts.count; i++)
		assert_true(b->bursts.items[i - 1].begin_ns <= b->bursts.items[i].begin_ns);
}

static void bursts_are_sorted(void **state)
{
	(void)state;
	struct bursts b = { 0 };
	bursts_sort(&b);
	uint32_t random = 7;
	for (uint32_t i = 0; i < 1000; i++) {
		random = random * 1664525 + 1013904223;
		add_burst(&b, random % 500, i);
	}
	bursts_sort(&b);
	are_sorted(&b);
	uint64_t sum = 0; /* none was lost on the way */
	for (size_t i = 0; i < b.bursts.count; i++)
		sum += b.bursts.items[i].process;
	assert_int_equal(sum, 999 * 500);
	/* where they begin together, by process: the order does not depend on what it was */
	for (size_t i = 1; i < b.bursts.count; i++)
		if (b.bursts.items[i - 1].begin_ns == b.bursts.items[i].begin_ns)
			assert_true(b.bursts.items[i - 1].process < b.bursts.items[i].process);
	bursts_release(&b);
	static const struct bursts empty;
	assert_memory_equal(&b, &empty, sizeof b);
}

static void stretches_are_appended_and_keep_order_and_processes(void **state)
{
	(void)state;
	struct bursts all = { 0 }, next = { .begin_ns = 100, .end_ns = 200, .realtime_ns = 5000 };
	next.cpus = 2;
	next.lost = 3;
	add_process(&next, 10, 1, "sh");
	add_process(&next, 11, 1, "cron");
	add_burst(&next, 100, 1);
	add_burst(&next, 150, 0);
	bursts_append(&all, &next); /* to nothing: it is that one */
	assert_true(all.begin_ns == 100 && all.end_ns == 200 && all.realtime_ns == 5000);
	assert_true(all.cpus == 2 && all.lost == 3 && all.processes.count == 2);
	bursts_release(&next);

	next = (struct bursts){ .begin_ns = 200, .end_ns = 300, .realtime_ns = 9, .cpus = 4 };
	next.lost = 4;
	add_process(&next, 11, 2, "atd");  /* the number was given to another */
	add_process(&next, 10, 1, "bash"); /* and this one has a new name */
	add_burst(&next, 120, 1);	   /* began before its stretch */
	add_burst(&next, 150, 0);
	add_burst(&next, 250, 1);
	bursts_append(&all, &next);
	bursts_release(&next);
	assert_true(all.begin_ns == 100 && all.end_ns == 300 && all.realtime_ns == 5000);
	assert_true(all.cpus == 4 && all.lost == 7);
	assert_int_equal(all.processes.count, 3);
	assert_string_equal(all.processes.items[0].name, "bash");
	assert_string_equal(all.processes.items[1].name, "cron");
	assert_string_equal(all.processes.items[2].name, "atd");
	static const uint64_t begins[] = { 100, 120, 150, 150, 250 };
	static const uint32_t processes[] = { 1, 0, 0, 2, 0 };
	assert_int_equal(all.bursts.count, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(all.bursts.items[i].begin_ns, begins[i]);
		assert_int_equal(all.bursts.items[i].process, processes[i]);
	}
	bursts_append(&all, &(struct bursts){ .begin_ns = 300, .end_ns = 400 }); /* nothing ran */
	assert_true(all.end_ns == 400 && all.bursts.count == 5 && all.cpus == 4);
	bursts_release(&all);
}

/* Cut anywhere and put together again, it is what it was. */
static void what_was_cut_into_stretches_is_put_together_again(void **state)
{
	(void)state;
	struct bursts all = { 0 };
	uint32_t random = 3, count = 0;
	for (uint64_t i = 0; i < 300; i++) {
		struct bursts next = { .begin_ns = i * 1000, .end_ns = (i + 1) * 1000, .cpus = 1 };
		for (uint32_t k = 0; k < 5; k++)
			add_process(&next, (int32_t)(i / 10 + k), 1, "p");
		for (uint32_t k = 0; k < i % 20; k++, count++) {
			random = random * 1664525 + 1013904223;
			uint64_t before = k == 0 && i > 10 ? random % 9000 : 0;
			add_burst(&next, i * 1000 + random % 1000 - before, k % 5);
			next.bursts.items[k].busy_ns = i / 10 + k % 5; /* its pid */
		}
		bursts_sort(&next);
		bursts_append(&all, &next);
		bursts_release(&next);
	}
	assert_int_equal(all.bursts.count, count);
	assert_int_equal(all.processes.count, 34);
	are_sorted(&all);
	for (size_t i = 0; i < all.bursts.count; i++)
		assert_int_equal(all.processes.items[all.bursts.items[i].process].pid,
				 all.bursts.items[i].busy_ns);
	bursts_release(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_source_length_and_shape_has_its_name),
		cmocka_unit_test(a_study_is_released_whole),
		cmocka_unit_test(the_cutoff_that_holds_is_found_by_daemon_and_time),
		cmocka_unit_test(bursts_are_sorted),
		cmocka_unit_test(stretches_are_appended_and_keep_order_and_processes),
		cmocka_unit_test(what_was_cut_into_stretches_is_put_together_again),
	};
	return cmocka_run_group_tests_name("study", tests, NULL, NULL);
}
