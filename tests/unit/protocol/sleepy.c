/* Views of a profile whose samples are known (fixtures/profile.h), and of hostile and large ones.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "../fixtures/near.h"
#include "../fixtures/profile.h"
#include "protocol/sleepy/sleepy.h"

static struct profile profile;

static int set_up(void **state)
{
	(void)state;
	fixture_profile(&profile);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	profile_release(&profile);
	return 0;
}

static const struct sleepy_row *row_named(const struct sleepy_view *v, const char *name)
{
	for (size_t i = 0; i < v->rows.count; i++)
		if (strcmp(v->rows.items[i].name, name) == 0)
			return &v->rows.items[i];
	fail_msg("there is no row %s", name);
	return NULL;
}

struct expected {
	const char *name;
	uint64_t self, total, user, kernel;
};

/* All rows, in order. */
static void check_rows(const struct sleepy_view *v, const struct expected *rows, size_t count)
{
	for (size_t i = 0; i < count && i < v->rows.count; i++) {
		const struct sleepy_row *row = &v->rows.items[i];
		assert_string_equal(row->name, rows[i].name);
		assert_int_equal(row->self, rows[i].self);
		assert_int_equal(row->total, rows[i].total);
		assert_int_equal(row->user, rows[i].user);
		assert_int_equal(row->kernel, rows[i].kernel);
	}
	assert_int_equal(v->rows.count, count);
}
#define CHECK(v, ...)                                           \
	check_rows(v, (const struct expected[]){ __VA_ARGS__ }, \
		   sizeof((const struct expected[]){ __VA_ARGS__ }) / sizeof(struct expected))

static void view(enum sleepy_by by, const struct sleepy_filter *f, bool merge,
		 struct sleepy_view *v)
{
	sleepy_aggregate(&profile, by, f, merge, v);
}

static void the_whole_system_is_split_into_states_that_add_up(void **state)
{
	(void)state;
	struct sleepy_view v;
	view(SLEEPY_SYSTEM, NULL, false, &v);
	CHECK(&v, { "user", 165, 165, 165, 0 }, { "kernel", 15, 15, 0, 15 },
	      { "idle", 1820, 1820, 0, 0 }, { "others", 0, 0, 0, 0 }, { "lost", 2, 2, 0, 0 },
	      { "not sampled", 1958, 1958, 0, 0 }); /* 99 Hz * 2 CPUs * 20 s = 3960 */
	assert_int_equal(v.samples, FIXTURE_SAMPLES);
	assert_int_equal(v.all, FIXTURE_SAMPLES);
	assert_int_equal(v.elapsed_ns, 2 * FIXTURE_SLICE_NS);
	assert_int_equal(v.busy, FIXTURE_SAMPLES + 2);
	assert_int_equal(v.no_function, FIXTURE_UNKNOWN);
	assert_int_equal(v.ends[STACK_COMPLETE], 110); /* not those only in the kernel */
	assert_int_equal(v.ends[STACK_LEAF], 25);
	assert_int_equal(v.ends[STACK_BROKEN], 40);
	sleepy_view_release(&v);
}

/* Whatever else is asked for, what is missing is of all that was seen; a little is no gap. */
static void what_was_not_sampled_is_a_gap_unless_it_is_little(void **state)
{
	(void)state;
	static const struct {
		uint64_t idle, missing;
	} cases[] = { { 3960 - 182, 0 }, { 3660, 0 }, { 3659, 119 }, { 9999, 0 }, { 0, 3778 } };
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct profile_slice *s = profile.slices.items;
		struct sleepy_view v;
		uint64_t idle[] = { s[0].idle, s[1].idle };
		s[0].idle = cases[i].idle;
		s[1].idle = 0;
		view(SLEEPY_SYSTEM, &(struct sleepy_filter){ .instance = -1, .app = "btree" },
		     false, &v);
		assert_int_equal(v.rows.items[2].self, cases[i].idle);
		assert_int_equal(v.rows.items[5].self, cases[i].missing);
		sleepy_view_release(&v);
		s[0].idle = idle[0];
		s[1].idle = idle[1];
	}
}

static void samples_are_summed_up_by_app_instance_thread_and_container(void **state)
{
	(void)state;
	struct sleepy_view v;
	view(SLEEPY_APP, NULL, false, &v);
	CHECK(&v, { "btree", 110, 110, 100, 10 }, { "python3", 70, 70, 65, 5 });
	sleepy_view_release(&v);
	view(SLEEPY_INSTANCE, NULL, false, &v);
	CHECK(&v, { "btree#0", 80, 80, 70, 10 }, { "python3#0", 70, 70, 65, 5 },
	      { "btree#1", 30, 30, 30, 0 });
	assert_int_equal(profile.instances.items[v.rows.items[2].instance].pid, 100);
	sleepy_view_release(&v);
	view(SLEEPY_THREAD, NULL, false, &v);
	CHECK(&v, { "btree#0/btree", 80, 80, 70, 10 }, { "python3#0/worker", 40, 40, 40, 0 },
	      { "btree#1/btree", 30, 30, 30, 0 }, { "python3#0/python3", 30, 30, 25, 5 });
	sleepy_view_release(&v);
	view(SLEEPY_CONTAINER, NULL, false, &v);
	CHECK(&v, { "/user.slice", 110, 110, 100, 10 }, { "0123", 70, 70, 65, 5 });
	sleepy_view_release(&v);
}

static void samples_are_summed_up_by_function_inlined_or_not(void **state)
{
	(void)state;
	struct sleepy_view v;
	view(SLEEPY_FUNCTION, NULL, false, &v);
	CHECK(&v, { "compare", 80, 90, 80, 0 }, { "py::loop", 40, 40, 40, 0 },
	      { "python3+0x5000", 25, 65, 25, 0 }, { "search", 20, 110, 20, 0 },
	      { "clear_page_erms", 10, 10, 0, 10 }, { "finish_task_switch.isra.0", 5, 5, 0, 5 },
	      { "__libc_start_call_main", 0, 110, 0, 0 }, { "main", 0, 110, 0, 0 },
	      { "asm_exc_page_fault", 0, 10, 0, 0 });
	assert_string_equal(row_named(&v, "main")->where, "btree");
	assert_string_equal(row_named(&v, "py::loop")->where, "[jit]");
	assert_int_equal(row_named(&v, "main")->app, 0);
	sleepy_view_release(&v);
	view(SLEEPY_FUNCTION, NULL, true, &v);
	CHECK(&v, { "search", 100, 110, 100, 0 }, { "py::loop", 40, 40, 40, 0 },
	      { "python3+0x5000", 25, 65, 25, 0 }, { "clear_page_erms", 10, 10, 0, 10 },
	      { "finish_task_switch.isra.0", 5, 5, 0, 5 },
	      { "__libc_start_call_main", 0, 110, 0, 0 }, { "main", 0, 110, 0, 0 },
	      { "asm_exc_page_fault", 0, 10, 0, 0 });
	sleepy_view_release(&v);
}

static void samples_are_summed_up_by_object_line_and_instruction(void **state)
{
	(void)state;
	struct sleepy_view v;
	view(SLEEPY_OBJECT, NULL, false, &v);
	CHECK(&v, { "/usr/bin/btree", 100, 110, 100, 0 }, { "[jit]", 40, 40, 40, 0 },
	      { "/usr/bin/python3", 25, 65, 25, 0 }, { "[kernel]", 15, 15, 0, 15 },
	      { "/usr/lib/libc.so.6", 0, 110, 0, 0 });
	sleepy_view_release(&v);
	view(SLEEPY_LINE, NULL, false, &v);
	assert_string_equal(v.rows.items[0].name, "/src/btree.h:6");
	assert_int_equal(v.rows.items[0].self, 80);
	assert_int_equal(v.rows.items[0].line, 6);
	assert_int_equal(row_named(&v, "/src/btree.c:24")->total, 90);
	assert_int_equal(row_named(&v, "/src/btree.c:26")->self, 20);
	assert_int_equal(row_named(&v, "py::loop")->self, 40);
	sleepy_view_release(&v);
	view(SLEEPY_INSTRUCTION, NULL, false, &v);
	CHECK(&v, { "search+0x6", 80, 80, 80, 0 }, { "py::loop+0x10", 40, 40, 40, 0 },
	      { "python3+0x5000", 25, 25, 25, 0 }, { "search+0xa", 20, 20, 20, 0 },
	      { "clear_page_erms+0x7", 10, 10, 0, 10 },
	      { "finish_task_switch.isra.0+0xaa", 5, 5, 0, 5 });
	assert_int_equal(v.rows.items[0].address, 0x1106);
	assert_int_equal(v.rows.items[2].address, 0x405000);
	sleepy_view_release(&v);
}

static uint64_t passing(struct sleepy_filter f)
{
	struct sleepy_view v;
	view(SLEEPY_FUNCTION, &f, false, &v);
	uint64_t samples = v.samples, sum = 0;
	for (size_t i = 0; i < v.rows.count; i++)
		sum += v.rows.items[i].self;
	assert_int_equal(sum, samples);
	assert_int_equal(v.all, FIXTURE_SAMPLES);
	sleepy_view_release(&v);
	return samples;
}
#define PASSING(...) \
	passing((struct sleepy_filter){ .instance = -1, .innermost = true, __VA_ARGS__ })

static void filters_let_through_what_they_name(void **state)
{
	(void)state;
	assert_int_equal(PASSING(.app = "btree"), 110);
	assert_int_equal(PASSING(.app = "bt"), 0);
	assert_int_equal(PASSING(.app = "bt*"), 110);
	assert_int_equal(passing((struct sleepy_filter){ .app = "btree", .instance = 1 }), 30);
	assert_int_equal(passing((struct sleepy_filter){ .app = "*", .instance = 0 }), 150);
	assert_int_equal(PASSING(.pid = 100), 110);
	assert_int_equal(PASSING(.tid = 201), 40);
	assert_int_equal(PASSING(.comm = "work?r"), 40);
	assert_int_equal(PASSING(.object = "btree"), 100);
	assert_int_equal(PASSING(.object = "/usr/bin/*"), 125);
	assert_int_equal(PASSING(.object = "[kernel]"), 15);
	assert_int_equal(PASSING(.object = "[k*"), 15);
	assert_int_equal(PASSING(.function = "compare"), 80);
	assert_int_equal(passing((struct sleepy_filter){ .function = "compare", .instance = -1 }),
			 90);
	assert_int_equal(PASSING(.function = "main"), 0);
	assert_int_equal(passing((struct sleepy_filter){ .function = "main", .instance = -1 }),
			 110);
	assert_int_equal(PASSING(.function = "search"), 100);
	assert_int_equal(PASSING(.function = "python3+0x5000"), 25);
	assert_int_equal(PASSING(.function = "*"), 180);
	assert_int_equal(PASSING(.function = "search", .app = "python3"), 0);
	assert_int_equal(PASSING(.function = "[k] clear_page_erms"), 10);
	assert_int_equal(PASSING(.function = "[k] clear_page_erms ([kernel])"), 10);
	assert_int_equal(PASSING(.function = "[k] clear*"), 10);
	assert_int_equal(PASSING(.function = "[k] search"), 0);
	assert_int_equal(PASSING(.function = "compare (inlined)"), 80);
	assert_int_equal(PASSING(.function = "search (inlined)"), 0);
	assert_int_equal(PASSING(.function = "compare (inlined) (btree.h:5)"), 80);
	assert_int_equal(PASSING(.function = "search (0x1100)"), 100);
	assert_int_equal(PASSING(.function = "search (0x1101)"), 0);
	assert_int_equal(PASSING(.function = "search (btree)"), 100);
	assert_int_equal(PASSING(.function = "search (libc.so.6)"), 0);
	assert_int_equal(PASSING(.function = "search (usr/bin)"), 100);
	assert_int_equal(PASSING(.function = "search ()"), 0);
	assert_int_equal(PASSING(.function = "(inlined)"), 0);
	assert_int_equal(PASSING(.function = "python3+0x5000 (python3)"), 25);
	assert_int_equal(PASSING(.function = "py::loop (PID 200)"), 40);
	assert_int_equal(PASSING(.function = "py::loop (PID 201)"), 0);
	assert_int_equal(PASSING(.app = "btree (bin)"), 110);
	assert_int_equal(PASSING(.app = "btree (in)"), 0);
	assert_int_equal(PASSING(.app = "btree (bbbbbbbb)"), 110);
	assert_int_equal(PASSING(.app = "btree (bbb)"), 0);
	assert_int_equal(PASSING(.object = "/usr/bin/btree (bbbbbbbb)"), 100);
	assert_int_equal(PASSING(.object = "[k] [kernel]"), 15);
	assert_int_equal(PASSING(.container = "0123"), 70);
	assert_int_equal(PASSING(.container = "/docker/*"), 70);
	assert_int_equal(PASSING(.space = 1), 165);
	assert_int_equal(PASSING(.space = 2), 15);
	assert_int_equal(PASSING(.end_ns = FIXTURE_BEGIN_NS + 1), 100);
	assert_int_equal(PASSING(.begin_ns = FIXTURE_BEGIN_NS + 1), 80);
	assert_int_equal(PASSING(.end_ns = FIXTURE_BEGIN_NS), 0);
}

/* Rows of these paths and of one name, and how each is told apart. */
static void check_marks(const char *const paths[], const char *const expected[], size_t count)
{
	struct profile p = { 0 };
	struct sleepy_shown shown[8];
	struct sleepy_view v;
	array_push(&p.slices, (struct profile_slice){ .end_ns = 1 });
	for (uint32_t i = 0; i < count; i++) {
		struct profile_object o = { .path = (char *)paths[i], .inode = i };
		o.build_id_size = 20;
		memset(o.build_id, (int)(i + 0xa0), 20);
		struct profile_instance instance = { .app = i, .pid = i + 1 };
		assert_int_equal(profile_add_app(&p, "tare", profile_add_object(&p, &o)), i);
		uint32_t at = profile_add_instance(&p, &instance);
		profile_add_sample(&p, 0, profile_add_thread(&p, at, i, "tare"),
				   profile_add_stack(&p, NULL, 0, 0, STACK_LEAF), 100 - i);
	}
	sleepy_aggregate(&p, SLEEPY_APP, NULL, false, &v);
	assert_int_equal(v.rows.count, count);
	for (size_t i = 0; i < count; i++)
		shown[i] = (struct sleepy_shown){ .row = &v.rows.items[i] };
	sleepy_tell_apart(&p, SLEEPY_APP, shown, count);
	for (size_t i = 0; i < count; i++) {
		char name[64];
		if (!expected[i]) {
			assert_null(shown[i].mark);
			continue;
		}
		assert_non_null(shown[i].mark);
		assert_string_equal(shown[i].mark, expected[i]);
		/* what is shown finds this one, and no other */
		snprintf(name, sizeof name, "tare (%s)", shown[i].mark);
		for (uint32_t k = 0; k < count; k++)
			assert_int_equal(sleepy_app_matches(&p, name, k), k == i);
		xfree(shown[i].mark);
	}
	sleepy_view_release(&v);
	profile_release(&p);
}

static void namesakes_are_told_apart_by_path_or_build_id(void **state)
{
	(void)state;
	check_marks(
		(const char *[]){ "/w/wt-cmd/build/tare", "/w/main/build/tare", "/usr/bin/tare" },
		(const char *[]){ "wt-cmd/build", "main/build", "bin" }, 3);
	check_marks((const char *[]){ "/build/tare", "/x/build/tare", "/tare" },
		    (const char *[]){ "/build", "/x/build", "/" }, 3);
	check_marks((const char *[]){ "/a/tare", "/a/tare", "/b/tare" },
		    (const char *[]){ "a0a0a0a0", "a1a1a1a1", "/b" }, 3);
	check_marks((const char *[]){ "/a/tare" }, (const char *[]){ NULL }, 1);
}

/* Functions of one name in one object, two of them inlined, and one in its namesake. */
static void functions_of_one_name_are_told_apart(void **state)
{
	(void)state;
	static const struct {
		const char *path, *file;
		uint64_t address;
		const char *mark;
	} cases[] = {
		{ "/a/x", NULL, 0x100, "0x100" }, { "/a/x", NULL, 0x200, "0x200" },
		{ "/a/x", "/s/a.h", 0, "a.h:7" }, { "/a/x", "/s/b.h", 0, "b.h:7" },
		{ "/b/x", NULL, 0x100, "/b" },	  { "/b/y", NULL, 0x100, NULL },
	};
	enum { COUNT = sizeof cases / sizeof *cases };
	struct profile p = { 0 };
	struct sleepy_row rows[COUNT];
	struct sleepy_shown shown[COUNT];
	for (size_t i = 0; i < COUNT; i++) {
		struct profile_object o = { .path = (char *)cases[i].path };
		struct profile_function f = { .object = profile_add_object(&p, &o),
					      .name = (char *)"f",
					      .address = cases[i].address,
					      .size = cases[i].address ? 16 : 0,
					      .file = (char *)cases[i].file,
					      .line = 7 };
		array_push(&p.functions, f);
		rows[i] = (struct sleepy_row){ .app = PROFILE_NONE,
					       .object = f.object,
					       .function = (uint32_t)i,
					       .name = (char *)"f",
					       .where = cases[i].path + 3 };
		shown[i] = (struct sleepy_shown){ .row = &rows[i] };
	}
	sleepy_tell_apart(&p, SLEEPY_FUNCTION, shown, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		if (cases[i].mark)
			assert_string_equal(shown[i].mark, cases[i].mark);
		else
			assert_null(shown[i].mark);
		xfree(shown[i].mark);
	}
	p.functions.count = 0; /* their texts are borrowed */
	profile_release(&p);
}

static void samples_are_counted_by_instruction_of_a_function(void **state)
{
	(void)state;
	sleepy_counts counts;
	sleepy_instructions(&profile, 0, NULL, &counts); /* search */
	assert_int_equal(counts.count, 2);
	assert_int_equal(counts.items[0].address, 0x1106);
	assert_int_equal(counts.items[0].self, 80);
	assert_int_equal(counts.items[1].address, 0x110a);
	assert_int_equal(counts.items[1].self, 20);
	array_release(&counts);
	sleepy_instructions(&profile, 0, &(struct sleepy_filter){ .instance = 1 }, &counts);
	assert_int_equal(counts.count, 1);
	assert_int_equal(counts.items[0].self, 30);
	array_release(&counts);
}

struct seen {
	size_t calls;
	uint64_t samples, unknown;
};

static void see(void *context, const struct profile_sample *s, uint64_t count)
{
	struct seen *seen = context;
	seen->calls++;
	seen->samples += count;
	char name[64];
	sleepy_location_name(&profile,
			     profile.links.items[profile.stack_list.items[s->stack].first], name,
			     sizeof name);
	if (strcmp(name, "python3+0x5000") == 0)
		seen->unknown += count;
}

static void every_stack_is_visited_once_with_all_its_samples(void **state)
{
	(void)state;
	struct seen seen = { 0 };
	sleepy_each(&profile, NULL, see, &seen);
	assert_int_equal(seen.calls, 7); /* 8 rows, one of them in both slices */
	assert_int_equal(seen.samples, FIXTURE_SAMPLES);
	assert_int_equal(seen.unknown, FIXTURE_UNKNOWN);
	char name[8];
	sleepy_location_name(&profile, PROFILE_NONE, name, sizeof name);
	assert_string_equal(name, "[unknow");
}

/* f calls g calls f: each counts once in total. A stack without any location is there, too. */
static void a_recursive_function_counts_once_in_total(void **state)
{
	(void)state;
	struct profile p = { .stacks = STACKS_POINTERS };
	uint32_t object = profile_add_object(&p, &(struct profile_object){ .path = (char *)"/a" });
	uint32_t locations[3], list[6];
	for (uint32_t i = 0; i < 3; i++) {
		/* two places in f, one in g */
		struct profile_function f = { .object = object,
					      .name = (char *)(i < 2 ? "f" : "g"),
					      .address = i < 2 ? 0x100 : 0x200,
					      .size = 0x100 };
		struct profile_frame frame = { .function = profile_add_function(&p, &f) };
		locations[i] = profile_add_location(&p, object, 0x100 + 0x80 * i);
		profile_set_frames(&p, locations[i], 0x100 + 0x80 * i, &frame, 1);
	}
	for (size_t i = 0; i < 6; i++)
		list[i] = locations[i % 3];
	uint32_t instance = profile_add_instance(
		&p, &(struct profile_instance){ .app = profile_add_app(&p, "a", object) });
	uint32_t thread = profile_add_thread(&p, instance, 1, "a");
	array_push(&p.slices, (struct profile_slice){ .end_ns = 1 });
	profile_add_sample(&p, 0, thread, profile_add_stack(&p, list, 6, 0, STACK_COMPLETE), 10);
	profile_add_sample(&p, 0, thread, profile_add_stack(&p, NULL, 0, 0, STACK_BROKEN), 3);
	struct sleepy_view v;
	sleepy_aggregate(&p, SLEEPY_FUNCTION, NULL, false, &v);
	CHECK(&v, { "f", 10, 10, 10, 0 }, { "[unknown]", 3, 3, 3, 0 }, { "g", 0, 10, 0, 0 });
	sleepy_view_release(&v);
	sleepy_aggregate(&p, SLEEPY_OBJECT, NULL, false, &v);
	CHECK(&v, { "/a", 10, 10, 10, 0 }, { "[unknown]", 3, 3, 3, 0 });
	sleepy_view_release(&v);
	profile_release(&p);
}

/* A module's functions are its own, their locations the kernel's. */
static void functions_of_a_module_belong_to_the_module(void **state)
{
	(void)state;
	struct profile p = { 0 };
	char kernel[] = "[kernel]", ext4[] = "[ext4]", name[] = "ext4_read";
	uint32_t in = profile_add_object(
		&p, &(struct profile_object){ .path = kernel, .kind = OBJECT_KERNEL });
	uint32_t of = profile_add_object(
		&p, &(struct profile_object){ .path = ext4, .kind = OBJECT_MODULE });
	uint32_t read = profile_add_location(&p, in, 0xc0001000);
	uint32_t bare = profile_add_location(&p, in, 0x81000000);
	struct profile_function f = { .object = of, .name = name, .address = 0xc0001000 };
	struct profile_frame frame = { .function = profile_add_function(&p, &f) };
	profile_set_frames(&p, read, 0xc0001000, &frame, 1);
	uint32_t instance = profile_add_instance(
		&p, &(struct profile_instance){ .app = profile_add_app(&p, "a", PROFILE_NONE) });
	uint32_t thread = profile_add_thread(&p, instance, 1, "a");
	array_push(&p.slices, (struct profile_slice){ .end_ns = 1 });
	profile_add_sample(&p, 0, thread, profile_add_stack(&p, &read, 1, 1, STACK_COMPLETE), 10);
	profile_add_sample(&p, 0, thread, profile_add_stack(&p, &bare, 1, 1, STACK_COMPLETE), 3);
	struct sleepy_view v;
	sleepy_aggregate(&p, SLEEPY_OBJECT, NULL, false, &v);
	CHECK(&v, { "[ext4]", 10, 10, 0, 10 }, { "[kernel]", 3, 3, 0, 3 });
	sleepy_view_release(&v);
	struct sleepy_filter filter = SLEEPY_ALL;
	filter.object = "[ext4]";
	sleepy_aggregate(&p, SLEEPY_FUNCTION, &filter, false, &v);
	CHECK(&v, { "ext4_read", 10, 10, 0, 10 });
	assert_string_equal(v.rows.items[0].where, "[ext4]");
	assert_int_equal(v.rows.items[0].object, of);
	sleepy_view_release(&v);
	profile_release(&p);
}

/* A JIT without a map: its addresses are as many as its samples, and mean nothing. */
static void code_in_memory_without_a_name_is_one_row_of_each_process(void **state)
{
	(void)state;
	struct profile p = { .stacks = STACKS_EH_FRAME };
	array_push(&p.slices, (struct profile_slice){ .end_ns = 1 });
	for (uint32_t pid = 7; pid < 9; pid++) {
		uint32_t anon = profile_add_object(
			&p, &(struct profile_object){
				    .path = (char *)"[anon]", .kind = OBJECT_MEMORY, .pid = pid });
		uint32_t instance = profile_add_instance(
			&p, &(struct profile_instance){
				    .app = profile_add_app(&p, "node", PROFILE_NONE), .pid = pid });
		uint32_t thread = profile_add_thread(&p, instance, pid, "node");
		for (uint32_t i = 0; i < 21; i++) {
			uint32_t stack[] = { profile_add_location(&p, anon, 0x7f0000 + i),
					     profile_add_location(&p, anon, 0x7f1000) };
			profile_add_sample(&p, 0, thread,
					   profile_add_stack(&p, stack, 2, 0, STACK_COMPLETE), pid);
		}
	}
	struct sleepy_view v;
	for (int line = 0; line < 2; line++) {
		sleepy_aggregate(&p, line ? SLEEPY_LINE : SLEEPY_FUNCTION, NULL, false, &v);
		CHECK(&v, { "[anon]", 168, 168, 168, 0 }, { "[anon]", 147, 147, 147, 0 });
		struct sleepy_shown shown[] = { { &v.rows.items[0], NULL },
						{ &v.rows.items[1], NULL } };
		sleepy_tell_apart(&p, v.by, shown, 2);
		assert_string_equal(shown[0].mark, "PID 8");
		assert_string_equal(shown[1].mark, "PID 7");
		xfree(shown[0].mark);
		xfree(shown[1].mark);
		sleepy_view_release(&v);
	}
	sleepy_aggregate(&p, SLEEPY_INSTRUCTION, NULL, false, &v);
	assert_int_equal(v.rows.count, 42);
	sleepy_view_release(&v);
	struct sleepy_filter filter = SLEEPY_ALL;
	filter.function = "[anon]";
	sleepy_aggregate(&p, SLEEPY_FUNCTION, &filter, false, &v);
	assert_int_equal(v.samples, 315);
	sleepy_view_release(&v);
	profile_release(&p);
}

static void a_function_is_found_anywhere_on_the_stack(void **state)
{
	(void)state;
	struct profile p = { .stacks = STACKS_EH_FRAME };
	uint32_t object = profile_add_object(&p, &(struct profile_object){ .path = (char *)"/a" });
	uint32_t at[2];
	for (uint32_t i = 0; i < 2; i++) {
		struct profile_function f = { .object = object,
					      .name = (char *)(i ? "main" : "leaf"),
					      .address = 0x100 * (i + 1),
					      .size = 0x100 };
		struct profile_frame frame = { .function = profile_add_function(&p, &f) };
		at[i] = profile_add_location(&p, object, f.address);
		profile_set_frames(&p, at[i], f.address, &frame, 1);
	}
	uint32_t instance = profile_add_instance(
		&p, &(struct profile_instance){ .app = profile_add_app(&p, "a", object) });
	uint32_t thread = profile_add_thread(&p, instance, 1, "a");
	array_push(&p.slices, (struct profile_slice){ .end_ns = 1 });
	profile_add_sample(&p, 0, thread, profile_add_stack(&p, at, 2, 0, STACK_COMPLETE), 10);
	profile_add_sample(&p, 0, thread, profile_add_stack(&p, at, 1, 0, STACK_LEAF), 3);
	struct sleepy_filter filter = SLEEPY_ALL;
	struct sleepy_view v;
	filter.function = "main";
	sleepy_aggregate(&p, SLEEPY_FUNCTION, &filter, false, &v);
	CHECK(&v, { "leaf", 10, 10, 10, 0 }, { "main", 0, 10, 0, 0 });
	sleepy_view_release(&v);
	filter.object = "/b"; /* which it is not in */
	sleepy_aggregate(&p, SLEEPY_FUNCTION, &filter, false, &v);
	assert_int_equal(v.samples, 0);
	sleepy_view_release(&v);
	filter.object = NULL;
	filter.innermost = true;
	sleepy_aggregate(&p, SLEEPY_FUNCTION, &filter, false, &v);
	assert_int_equal(v.samples, 0);
	sleepy_view_release(&v);
	profile_release(&p);
}

static void views_of_an_empty_profile_are_empty(void **state)
{
	(void)state;
	struct profile p = { 0 };
	for (enum sleepy_by by = 0; by < SLEEPY_VIEWS; by++) {
		struct sleepy_view v, w;
		struct sleepy_diff d;
		assert_non_null(sleepy_by_names[by]);
		sleepy_aggregate(&p, by, NULL, false, &v);
		sleepy_aggregate(&p, by, NULL, true, &w);
		assert_int_equal(v.samples, 0);
		assert_int_equal(v.rows.count, by == SLEEPY_SYSTEM ? SLEEPY_STATES : 0);
		sleepy_compare(&v, &w, 99, 99, &d);
		assert_int_equal(d.rows.count, 0);
		sleepy_diff_release(&d);
		sleepy_view_release(&v);
		sleepy_view_release(&w);
	}
}

static const struct sleepy_change *change_named(const struct sleepy_diff *d, const char *name)
{
	for (size_t i = 0; i < d->rows.count; i++)
		if (strcmp(d->rows.items[i].name, name) == 0)
			return &d->rows.items[i];
	fail_msg("there is no change of %s", name);
	return NULL;
}

static void a_comparison_finds_what_changed_its_share(void **state)
{
	(void)state;
	struct sleepy_view before, after;
	struct sleepy_diff d;
	view(SLEEPY_FUNCTION,
	     &(struct sleepy_filter){ .instance = -1, .end_ns = FIXTURE_BEGIN_NS + 1 }, false,
	     &before);
	view(SLEEPY_FUNCTION,
	     &(struct sleepy_filter){ .instance = -1, .begin_ns = FIXTURE_BEGIN_NS + 1 }, false,
	     &after);
	sleepy_compare(&before, &after, 99, 97, &d);
	assert_int_equal(d.before, 100);
	assert_int_equal(d.after, 80);
	assert_int_equal(d.rows.count, 6); /* callers without samples of their own are no rows */
	assert_string_equal(d.rows.items[0].name, "py::loop");
	assert_string_equal(d.rows.items[0].where, "[jit]");
	assert_near(d.rows.items[0].change, 0.5, 1e-12);
	assert_true(sleepy_change_sure(&d.rows.items[0]));
	const struct sleepy_change *c = change_named(&d, "compare");
	assert_int_equal(c->before, 50);
	assert_int_equal(c->after, 30);
	assert_near(c->change, 0.375 - 0.5, 1e-12);
	assert_true(c->low < c->change && c->change < c->high && c->high > 0);
	assert_false(sleepy_change_sure(c));
	assert_true(change_named(&d, "clear_page_erms")->kernel);
	for (size_t i = 1; i < d.rows.count; i++)
		assert_true(fabs(d.rows.items[i - 1].change) >= fabs(d.rows.items[i].change));
	sleepy_diff_release(&d);
	sleepy_compare(&before, &before, 99, 99, &d);
	for (size_t i = 0; i < d.rows.count; i++) {
		assert_near(d.rows.items[i].change, 0, 0);
		assert_false(sleepy_change_sure(&d.rows.items[i]));
	}
	sleepy_diff_release(&d);
	sleepy_view_release(&before);
	sleepy_view_release(&after);
}

static void add_named(struct sleepy_view *v, const char *name, const char *where, uint64_t self)
{
	array_push(&v->rows,
		   (struct sleepy_row){ .name = (char *)name, .where = where, .self = self });
	v->samples += self;
}

/* One program in two places is one; what both have at its place stays apart from its namesakes. */
static void a_program_at_another_place_is_compared_with_itself(void **state)
{
	(void)state;
	static const enum sleepy_by views[] = { SLEEPY_OBJECT, SLEEPY_LINE, SLEEPY_CONTAINER };
	for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
		struct sleepy_view before = { .by = views[i] }, after = { .by = views[i] };
		struct sleepy_diff d;
		add_named(&before, "/a/prog", "o", 97);
		add_named(&after, "/b/prog", "o", 95);
		add_named(&before, "/lib/x", "o", 1);
		add_named(&after, "/lib/x", "o", 1);
		add_named(&before, "/opt/x", "o", 2);
		add_named(&after, "/opt/x", "o", 2);
		add_named(&after, "/opt/new", "o", 2);
		add_named(&after, "/lib/new", "o", 3);
		sleepy_compare(&before, &after, 99, 99, &d);
		if (views[i] == SLEEPY_CONTAINER) { /* its paths are no places of the same */
			assert_int_equal(d.rows.count, 6);
			assert_int_equal(change_named(&d, "/a/prog")->after, 0);
		} else {
			assert_int_equal(d.rows.count, 5);
			assert_int_equal(change_named(&d, "prog")->before, 97);
			assert_int_equal(change_named(&d, "prog")->after, 95);
			assert_false(sleepy_change_sure(change_named(&d, "prog")));
		}
		assert_int_equal(change_named(&d, "/lib/x")->before, 1);
		assert_int_equal(change_named(&d, "/opt/x")->after, 2);
		assert_int_equal(change_named(&d, "/opt/new")->after, 2);
		assert_int_equal(change_named(&d, "/lib/new")->after, 3);
		sleepy_diff_release(&d);
		array_release(&before.rows);
		array_release(&after.rows);
	}
}

/* Rows of few samples say nothing, and do not hide those that do. */
static void rare_rows_do_not_hide_a_change_that_is_sure(void **state)
{
	(void)state;
	struct sleepy_view views[2] = { { .by = SLEEPY_FUNCTION }, { .by = SLEEPY_FUNCTION } };
	struct sleepy_diff d;
	char names[2000][16];
	for (size_t i = 0; i < 2000; i++) {
		struct sleepy_row row = { .name = names[i], .self = 1 };
		snprintf(names[i], sizeof names[i], "rare%zu", i);
		array_push(&views[i % 2].rows, row);
	}
	array_push(&views[0].rows, (struct sleepy_row){ .name = (char *)"hot", .self = 4000 });
	array_push(&views[1].rows, (struct sleepy_row){ .name = (char *)"hot", .self = 4000 });
	array_push(&views[1].rows, (struct sleepy_row){ .name = (char *)"new", .self = 12 });
	views[0].samples = 5000;
	views[1].samples = 5012;
	sleepy_compare(&views[0], &views[1], 99, 99, &d);
	assert_int_equal(d.rows.count, 2002);
	assert_true(isnan(change_named(&d, "rare7")->p));
	assert_true(sleepy_change_sure(change_named(&d, "new")));
	assert_false(sleepy_change_sure(change_named(&d, "hot")));
	sleepy_diff_release(&d);
	array_release(&views[0].rows);
	array_release(&views[1].rows);
}

/* An hour: 500,000 rows of samples with stacks of 30. */
#define MANY 500000
#define DEPTH 30

static void make_hour(struct profile *p)
{
	uint32_t object = profile_add_object(p, &(struct profile_object){ .path = (char *)"/a" });
	uint32_t app = profile_add_app(p, "a", object), thread = 0, links[DEPTH];
	uint64_t random = 1;
	for (uint32_t i = 0; i < 20000; i++) {
		char name[32];
		snprintf(name, sizeof name, "function_%u", i);
		struct profile_frame frames[2] = { { .line = i % 97 + 1 }, { .line = i + 1 } };
		for (uint32_t k = 0; k < 2; k++)
			frames[k].function = profile_add_function(
				p, &(struct profile_function){ .object = object,
							       .name = k ? name : (char *)"inlined",
							       .address = k * (i + 1) * 16,
							       .file = (char *)"a.c" });
		profile_set_frames(p, profile_add_location(p, object, i), i, frames, 2);
	}
	for (uint32_t i = 0; i < 1000; i++) {
		struct profile_instance instance = { .app = app, .number = i, .pid = i + 1 };
		thread = profile_add_thread(p, profile_add_instance(p, &instance), i + 1, "a");
	}
	for (uint32_t i = 0; i < 60; i++)
		array_push(&p->slices, (struct profile_slice){ .begin_ns = i, .end_ns = i + 1 });
	for (uint32_t i = 0; i < MANY; i++) {
		for (uint32_t k = 0; k < DEPTH; k++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			links[k] = (uint32_t)(random >> 33) % 20000;
		}
		profile_add_sample(p, i % 60, i % (thread + 1),
				   profile_add_stack(p, links, DEPTH, 0, STACK_COMPLETE), 1);
	}
}

static void count_calls(void *context, const struct profile_sample *s, uint64_t count)
{
	(void)s;
	*(uint64_t *)context += count;
}

static double seconds_since(const struct timespec *begin)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)(now.tv_sec - begin->tv_sec) + (double)(now.tv_nsec - begin->tv_nsec) / 1e9;
}

/* The bound is far above what it takes: it is there to find what is not linear. */
static void an_hour_of_samples_is_viewed_quickly(void **state)
{
	(void)state;
	struct profile p = { .stacks = STACKS_EH_FRAME };
	struct timespec begin;
	uint64_t counted = 0;
	make_hour(&p);
	for (enum sleepy_by by = 0; by < SLEEPY_VIEWS; by++) {
		struct sleepy_view v;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
		sleepy_aggregate(&p, by, NULL, false, &v);
		double took = seconds_since(&begin);
		print_message("an hour by %s: %.0f ms, %zu rows\n", sleepy_by_names[by], took * 1e3,
			      v.rows.count);
		assert_int_equal(v.samples, MANY);
		assert_true(took < 5);
		sleepy_view_release(&v);
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	sleepy_each(&p, NULL, count_calls, &counted);
	print_message("each: %.0f ms\n", seconds_since(&begin) * 1e3);
	assert_int_equal(counted, MANY);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_whole_system_is_split_into_states_that_add_up),
		cmocka_unit_test(what_was_not_sampled_is_a_gap_unless_it_is_little),
		cmocka_unit_test(samples_are_summed_up_by_app_instance_thread_and_container),
		cmocka_unit_test(samples_are_summed_up_by_function_inlined_or_not),
		cmocka_unit_test(samples_are_summed_up_by_object_line_and_instruction),
		cmocka_unit_test(filters_let_through_what_they_name),
		cmocka_unit_test(namesakes_are_told_apart_by_path_or_build_id),
		cmocka_unit_test(functions_of_one_name_are_told_apart),
		cmocka_unit_test(samples_are_counted_by_instruction_of_a_function),
		cmocka_unit_test(every_stack_is_visited_once_with_all_its_samples),
		cmocka_unit_test(a_recursive_function_counts_once_in_total),
		cmocka_unit_test(functions_of_a_module_belong_to_the_module),
		cmocka_unit_test(code_in_memory_without_a_name_is_one_row_of_each_process),
		cmocka_unit_test(a_function_is_found_anywhere_on_the_stack),
		cmocka_unit_test(views_of_an_empty_profile_are_empty),
		cmocka_unit_test(a_comparison_finds_what_changed_its_share),
		cmocka_unit_test(a_program_at_another_place_is_compared_with_itself),
		cmocka_unit_test(rare_rows_do_not_hide_a_change_that_is_sure),
		cmocka_unit_test(an_hour_of_samples_is_viewed_quickly),
	};
	return cmocka_run_group_tests_name("sleepy", tests, set_up, tear_down);
}
