/* Noise, profiles and queries as parts of a page. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>
#include <cmocka.h>

#include "../fixtures/near.h"
#include "../report/noise-fixture.h"
#include "../report/profile-report.h"
#include "../report/query-fixture.h"
#include "parts-fixture.h"
#include "report/page/profile_parts.h"
#include "stats/random.h"

static json_t *document_of(struct page *p)
{
	struct strbuf out = { 0 };
	page_json(p, &out);
	json_t *root = json_loadb(strbuf_text(&out), out.length, 0, NULL);
	assert_non_null(root);
	strbuf_release(&out);
	page_free(p);
	return root;
}

static json_t *section(const json_t *root, size_t i)
{
	return json_array_get(json_object_get(root, "sections"), i);
}

static double number(const json_t *o, const char *key)
{
	const json_t *value = json_object_get(o, key);
	assert_true(json_is_number(value));
	return json_number_value(value);
}

static const char *text(const json_t *o, const char *key)
{
	const json_t *value = json_object_get(o, key);
	assert_true(json_is_string(value));
	return json_string_value(value);
}

static json_int_t item(const json_t *o, const char *key, size_t i)
{
	return json_integer_value(json_array_get(json_object_get(o, key), i));
}

/* ---- noise ---- */

/* Block 0 is of all CPUs together, and has the grid. */
static const json_t *block(const json_t *noise_section, size_t i)
{
	const json_t *chart = json_object_get(json_object_get(noise_section, "charts"), "noise");
	return json_array_get(json_object_get(chart, "blocks"), i);
}

static double integral(const json_t *noise_section, size_t which, const char *key)
{
	const json_t *ns = json_object_get(block(noise_section, 0), "length_ns");
	const json_t *y = json_object_get(block(noise_section, which), key);
	size_t n = json_array_size(ns);
	double sum = 0;
	assert_int_equal(json_array_size(y), n);
	for (size_t i = 0; i < n; i++)
		sum += json_number_value(json_array_get(y, i));
	return sum *
	       log10(json_number_value(json_array_get(ns, n - 1)) /
		     json_number_value(json_array_get(ns, 0))) /
	       (double)(n - 1);
}

static void assert_close(double is, double should)
{
	assert_near(is / should, 1, 0.002);
}

static double rate_on(const json_t *all, const char *key)
{
	const json_t *bucket;
	size_t i;
	double sum = 0;
	json_array_foreach(json_object_get(all, "buckets"), i, bucket)
	{
		sum += number(bucket, key);
	}
	return sum / (number(all, "window_ns") / 1e9);
}

static double rate_of(const json_t *noise_section, const char *key)
{
	return rate_on(json_object_get(json_object_get(noise_section, "noise"), "together"), key);
}

/* Each CPU has the rates of its own. */
static void check_cpus(const json_t *noise_section)
{
	const json_t *cpus = json_object_get(json_object_get(noise_section, "noise"), "cpus");
	for (size_t i = 0; i < json_array_size(cpus); i++) {
		assert_close(integral(noise_section, 1 + i, "seen"),
			     rate_on(json_array_get(cpus, i), "count"));
		assert_close(integral(noise_section, 1 + i, "told"),
			     rate_on(json_array_get(cpus, i), "master_count"));
	}
	assert_null(block(noise_section, 1 + json_array_size(cpus)));
}

static void runs_without_data_are_sections_with_a_note(void **state)
{
	(void)state;
	char name[] = "going";
	const struct run run = { .id = 5, .name = name, .kind = SUBJECT_CPU };
	const struct noise_view noises = { .run = &run };
	const struct query_view queries = { .run = &run };
	struct page *p = page_new("nothing yet", false);
	page_add_noise(p, &noises, NULL, NULL);
	page_add_query(p, &queries, NULL, 0);
	json_t *root = document_of(p);
	static const char *const keys[] = { "noise", "query" };
	for (size_t i = 0; i < 2; i++) {
		const json_t *o = section(root, i);
		assert_string_equal(text(o, "kind"), keys[i]);
		assert_string_equal(text(o, "status"), "going");
		assert_true(json_is_null(json_object_get(o, keys[i])));
		assert_int_equal(json_array_size(json_object_get(o, "notes")), 1);
	}
	json_decref(root);
}

static void noise_has_densities_and_its_baseline(void **state)
{
	(void)state;
	json_t *root = document_of(parts_page());
	const json_t *guest = section(root, PARTS_GUEST), *plain = section(root, PARTS_PLAIN);
	assert_string_equal(text(guest, "kind"), "noise");
	assert_string_equal(text(guest, "anchor"), "run-12");
	assert_string_equal(text(guest, "subtitle"), "CPUs 0-1, ordinary scheduling, for 10.0 s");
	assert_true(json_array_size(json_object_get(block(guest, 0), "length_ns")) <= 512);
	assert_close(integral(guest, 0, "seen"), rate_of(guest, "count"));
	assert_close(integral(guest, 0, "told"), rate_of(guest, "master_count"));
	assert_close(integral(guest, 0, "baseline"), rate_of(plain, "count"));
	check_cpus(guest);
	const json_t *baseline = json_object_get(guest, "baseline");
	assert_int_equal(number(baseline, "number"), 12);
	assert_string_equal(text(baseline, "name"), "quiet guest");
	assert_true(json_is_object(json_object_get(baseline, "diff")));
	/* of what the kernel did not tell nothing is known */
	assert_close(integral(plain, 0, "seen"), rate_of(plain, "count"));
	static const char *const unknown[] = { "told", "baseline" };
	for (size_t i = 0; i < 2; i++)
		assert_true(json_is_null(
			json_array_get(json_object_get(block(plain, 0), unknown[i]), 0)));
	assert_true(json_is_null(json_object_get(plain, "baseline")));
	assert_null(block(section(root, PARTS_QUIET), 0));
	json_decref(root);
}

/* ---- the tree ---- */

static const char *name_at(const json_t *tree, size_t node)
{
	return json_string_value(
		json_array_get(json_object_get(tree, "names"), (size_t)item(tree, "name", node)));
}

static size_t size_of(const json_t *tree)
{
	static const char *const columns[] = { "object", "parent", "self", "kind" };
	size_t n = json_array_size(json_object_get(tree, "name"));
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(json_array_size(json_object_get(tree, columns[i])), n);
	return n;
}

/* Totals by node; what every tree must keep to is asserted. The caller frees. */
static json_int_t *totals_of(const json_t *tree)
{
	size_t n = size_of(tree), names = json_array_size(json_object_get(tree, "names"));
	size_t objects = json_array_size(json_object_get(tree, "where"));
	const json_t *name = json_object_get(tree, "name"),
		     *parents = json_object_get(tree, "parent");
	const json_t *self = json_object_get(tree, "self"), *kinds = json_object_get(tree, "kind");
	const json_t *object = json_object_get(tree, "object");
	json_int_t *total = calloc(n, sizeof *total);
	for (size_t i = n; i-- > 0;) {
		json_int_t parent = json_integer_value(json_array_get(parents, i));
		json_int_t kind = json_integer_value(json_array_get(kinds, i));
		json_int_t in = json_integer_value(json_array_get(object, i));
		total[i] += json_integer_value(json_array_get(self, i));
		assert_true(json_integer_value(json_array_get(name, i)) < (json_int_t)names);
		assert_int_equal(kind == 0, i == 0);
		assert_true(kind <= 1 ? in == -1 : in >= 0 && (size_t)in < objects);
		if (i == 0) {
			assert_int_equal(parent, -1);
		} else {
			assert_true(parent >= 0 && parent < (json_int_t)i);
			assert_int_equal(kind == 1, parent == 0);
			total[parent] += total[i];
		}
	}
	return total;
}

/* The node that the names lead to, below the root; NULL at the end. */
static size_t find(const json_t *tree, const char *const *path)
{
	size_t at = 0;
	for (; *path; path++) {
		size_t n = size_of(tree), next = at + 1;
		while (next < n && (item(tree, "parent", next) != (json_int_t)at ||
				    strcmp(name_at(tree, next), *path) != 0))
			next++;
		assert_true(next < n);
		at = next;
	}
	return at;
}
#define PATH(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void check_node(const json_t *tree, const char *const *path, json_int_t self, int kind,
		       const char *where)
{
	size_t at = find(tree, path);
	assert_int_equal(item(tree, "self", at), self);
	assert_int_equal(item(tree, "kind", at), kind);
	if (where)
		assert_string_equal(
			json_string_value(json_array_get(json_object_get(tree, "where"),
							 (size_t)item(tree, "object", at))),
			where);
}

static const json_t *view_of(const json_t *profile_section, const char *by)
{
	const json_t *view;
	size_t i;
	json_array_foreach(json_object_get(json_object_get(profile_section, "profile"), "views"), i,
			   view)
	{
		if (strcmp(text(view, "by"), by) == 0)
			return view;
	}
	fail_msg("no view by %s", by);
	return NULL;
}

static void a_profile_is_a_tree_of_all_its_samples(void **state)
{
	(void)state;
	json_t *root = document_of(parts_page());
	const json_t *s = section(root, PARTS_PROFILE), *tree = json_object_get(s, "tree");
	const char *start = "__libc_start_call_main";
	assert_string_equal(text(s, "subtitle"), "the whole system, sampled by cpu-clock, 99 Hz");
	json_int_t *total = totals_of(tree);
	assert_int_equal(total[0], FIXTURE_SAMPLES);
	check_node(tree, PATH("btree", start, "main", "search", "compare"), FIXTURE_COMPARE, 4,
		   NULL);
	check_node(tree, PATH("btree", start, "main", "search"), FIXTURE_SEARCH, 2, NULL);
	check_node(tree, PATH("btree", start), 0, 2, "/usr/lib/libc.so.6");
	check_node(tree,
		   PATH("btree", start, "main", "search", "compare", "asm_exc_page_fault",
			"clear_page_erms"),
		   10, 3, "[kernel]");
	check_node(tree, PATH("python3", "python3+0x5000"), FIXTURE_UNKNOWN, 5, NULL);
	check_node(tree, PATH("python3", "python3+0x5000", "py::loop"), 40, 2, "[jit]");
	assert_int_equal(total[find(tree, PATH("btree"))], FIXTURE_BTREE);
	assert_int_equal(total[find(tree, PATH("python3"))], FIXTURE_PYTHON);
	free(total);
	/* those that only call are there, too */
	const json_t *functions = json_object_get(view_of(s, "function"), "rows"), *row;
	size_t i, found = 0;
	json_array_foreach(functions, i, row)
	{
		found += strcmp(text(row, "name"), "main") == 0 && number(row, "samples") == 0 &&
			 number(row, "total_samples") == FIXTURE_BTREE;
	}
	assert_int_equal(found, 1);
	const json_t *slices = json_object_get(s, "slices");
	assert_int_equal(item(slices, "at_ms", 0), 0);
	assert_int_equal(item(slices, "at_ms", 1), 10000);
	assert_int_equal(item(slices, "ms", 1), 10000);
	assert_int_equal(item(slices, "user", 0), 90);
	assert_int_equal(item(slices, "kernel", 1), 5);
	assert_int_equal(item(slices, "idle", 0), 900);
	assert_int_equal(json_array_size(json_object_get(s, "listings")), 1);
	assert_int_equal(json_array_size(json_object_get(s, "notes")), 0);
	assert_int_equal(json_array_size(json_object_get(section(root, PARTS_NOTHING), "notes")),
			 1);
	/* of nothing there is the root */
	assert_int_equal(size_of(json_object_get(section(root, PARTS_NOTHING), "tree")), 1);
	json_decref(root);
}

/* ---- a large profile ---- */

#define MANY_FUNCTIONS 4000
#define MANY_STACKS 50000

static uint32_t add_thread(struct profile *p, const char *app, uint32_t object, uint32_t pid)
{
	struct profile_instance instance = { .app = profile_add_app(p, app, object), .pid = pid };
	return profile_add_thread(p, profile_add_instance(p, &instance), pid, "worker");
}

/* Each function calls a few others, as programs do: stacks share how they begin. */
static void make_many(struct profile *p)
{
	struct random r = { 8 };
	uint32_t at[MANY_FUNCTIONS], stack[PROFILE_FRAMES_MAX];
	uint32_t object = profile_add_object(
		p, &(struct profile_object){ .path = (char *)"/usr/bin/server" });
	uint32_t threads[4];
	p->stacks = STACKS_EH_FRAME;
	p->hz = 99;
	p->cpus = 2;
	array_push(&p->slices, (struct profile_slice){ .begin_ns = 1, .end_ns = 3600000000001 });
	for (uint32_t i = 0; i < 4; i++)
		threads[i] = add_thread(p, i % 2 ? "server" : "client", object, 100 + i);
	for (uint32_t i = 0; i < MANY_FUNCTIONS; i++) {
		char name[80];
		snprintf(name, sizeof name, "ns::storage::Engine<Key%u>::operation_%u(int)", i % 7,
			 i);
		uint32_t f = profile_add_function(
			p, &(struct profile_function){ .object = object,
						       .name = name,
						       .address = 0x1000 + 64 * i,
						       .size = 64 });
		at[i] = profile_add_location(p, object, 64 * i);
		profile_set_frames(p, at[i], 0x1000 + 64 * i,
				   &(struct profile_frame){ .function = f }, 1);
	}
	while (p->stack_list.count < MANY_STACKS) {
		size_t depth = 12 + random_below(&r, 30);
		uint32_t f = (uint32_t)random_below(&r, 3);
		for (size_t i = depth; i-- > 0;) {
			stack[i] = at[f];
			/* mostly the same one */
			f = (f * 5 + 1 + (uint32_t)random_below(&r, 8) / 6) % MANY_FUNCTIONS;
		}
		uint32_t s = profile_add_stack(p, stack, depth, 0, STACK_COMPLETE);
		uint64_t count = 1 + random_below(&r, 5);
		profile_add_sample(p, 0, threads[random_below(&r, 4)], s, count);
		p->slices.items[0].samples += count;
		p->slices.items[0].user += count;
	}
}

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void a_large_profile_becomes_a_page_quickly(void **state)
{
	(void)state;
	struct profile p = { 0 };
	struct run run = { .id = 1 };
	const struct profile_subject s = { .run = &run, .profile = &p };
	struct page *page = page_new("large", false);
	struct strbuf out = { 0 };
	size_t folded;
	uint64_t samples;
	make_many(&p);
	double from = seconds();
	json_t *tree = page_profile_tree(&p, SIZE_MAX, &folded, &samples);
	double took = seconds() - from;
	json_int_t *total = totals_of(tree);
	assert_int_equal(folded, 0);
	assert_int_equal(total[0], p.slices.items[0].samples);
	free(total);
	page_add_profile(page, &s, NULL, 0);
	page_html(page, &out);
	print_message("%zu stacks: %zu nodes in %.2f s, a page of %.1f MB\n", p.stack_list.count,
		      size_of(tree), took, (double)out.length / 1e6);
	assert_true(out.length < 15000000);
	assert_true(took < 10); /* a fraction of a second but for sanitizers */
	json_decref(tree);
	strbuf_release(&out);
	page_free(page);
	profile_release(&p);
}

/* The smallest are counted in their callers: nothing is lost, and no node without its caller. */
static void small_nodes_are_counted_in_their_callers(void **state)
{
	(void)state;
	struct profile_case c;
	struct profile p = { 0 };
	size_t gone;
	uint64_t samples;
	make_many(&p);
	json_t *all = page_profile_tree(&p, SIZE_MAX, &gone, &samples);
	size_t n = size_of(all);
	json_decref(all);
	for (size_t most = 10; most < n; most *= 50) {
		json_t *tree = page_profile_tree(&p, most, &gone, &samples);
		json_int_t *total = totals_of(tree);
		assert_true(size_of(tree) >= most && size_of(tree) <= most + 3);
		assert_int_equal(size_of(tree) + gone, n);
		assert_int_equal(total[0], p.slices.items[0].samples);
		assert_true(samples > 0 && samples <= p.slices.items[0].samples);
		free(total);
		json_decref(tree);
	}
	profile_release(&p);
	profile_case_make(&c);
	json_t *tree = page_profile_tree(&c.profile, 5, &gone, &samples);
	json_int_t *total = totals_of(tree);
	assert_int_equal(total[find(tree, PATH("btree"))], FIXTURE_BTREE);
	assert_int_equal(total[find(tree, PATH("python3"))], FIXTURE_PYTHON);
	free(total);
	json_decref(tree);
	profile_case_release(&c);
}

/* Two apps of one name are two; a stack of nothing is its app's. */
static void apps_of_one_name_are_two_nodes(void **state)
{
	(void)state;
	struct profile p = { 0 };
	size_t gone;
	uint64_t samples;
	uint32_t a = profile_add_object(&p, &(struct profile_object){ .path = (char *)"/a/x" });
	uint32_t b = profile_add_object(&p, &(struct profile_object){ .path = (char *)"/b/x" });
	uint32_t nothing = profile_add_stack(&p, NULL, 0, 0, STACK_LEAF);
	array_push(&p.slices, (struct profile_slice){ .samples = 5, .user = 5 });
	profile_add_sample(&p, 0, add_thread(&p, "x", a, 1), nothing, 2);
	profile_add_sample(&p, 0, add_thread(&p, "x", b, 2), nothing, 3);
	json_t *tree = page_profile_tree(&p, SIZE_MAX, &gone, &samples);
	json_int_t *total = totals_of(tree);
	assert_int_equal(size_of(tree), 3);
	assert_int_equal(total[1], 2);
	assert_int_equal(total[2], 3);
	assert_int_equal(item(tree, "name", 1), item(tree, "name", 2));
	free(total);
	json_decref(tree);
	profile_release(&p);
}

/* ---- two of them ---- */

#define CALLED 30 /* functions */
#define DRAWN 20000

/* Samples of a program that calls as it likes; in `grown` of 100 of them it is in the function
 * "grown" instead. */
static void draw_samples(struct profile *p, uint64_t seed, uint64_t grown)
{
	struct random r = { seed };
	uint32_t at[CALLED + 1], stack[8];
	uint32_t object =
		profile_add_object(p, &(struct profile_object){ .path = (char *)"/usr/bin/x" });
	uint32_t thread = add_thread(p, "x", object, 1);
	p->stacks = STACKS_EH_FRAME;
	array_push(&p->slices, (struct profile_slice){ .samples = DRAWN, .user = DRAWN });
	for (uint32_t i = 0; i <= CALLED; i++) {
		char name[16];
		snprintf(name, sizeof name, i < CALLED ? "f%u" : "grown", i);
		uint32_t f = profile_add_function(
			p, &(struct profile_function){
				   .object = object, .name = name, .address = 64 * i, .size = 64 });
		at[i] = profile_add_location(p, object, 64 * i);
		profile_set_frames(p, at[i], 64 * i, &(struct profile_frame){ .function = f }, 1);
	}
	for (int i = 0; i < DRAWN; i++) {
		size_t depth = 3 + random_below(&r, 6);
		for (size_t k = 0; k < depth; k++)
			stack[k] = at[random_below(&r, 3) * 10 + random_below(&r, 4)];
		stack[depth - 1] = at[0];
		if (random_below(&r, 100) < grown)
			stack[depth - 2] = at[CALLED];
		profile_add_sample(p, 0, thread,
				   profile_add_stack(p, stack, depth, 0, STACK_COMPLETE), 1);
	}
}

static size_t count_sure(const json_t *side)
{
	const json_t *sure;
	size_t i, n = 0;
	json_array_foreach(json_object_get(side, "sure"), i, sure)
		n += json_integer_value(sure) != 0;
	return n;
}

/* Parallel to the tree's nodes: here at least a node's own total, all of the root. */
static void check_places(const json_t *side, const struct profile *p, size_t most)
{
	size_t gone;
	uint64_t samples;
	json_t *tree = page_profile_tree(p, most, &gone, &samples);
	json_int_t *total = totals_of(tree);
	const size_t n = size_of(tree);
	assert_int_equal(json_array_size(json_object_get(side, "here")), n);
	assert_int_equal(json_array_size(json_object_get(side, "other")), n);
	assert_int_equal(json_array_size(json_object_get(side, "sure")), n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(item(side, "here", i), total[i]);
	assert_int_equal(item(side, "other", 0), DRAWN);
	free(total);
	json_decref(tree);
}

static void only_places_that_surely_changed_are_marked(void **state)
{
	(void)state;
	struct profile before = { 0 }, same = { 0 }, after = { 0 };
	size_t gone;
	uint64_t samples;
	draw_samples(&before, 1, 0);
	draw_samples(&same, 2, 0);
	draw_samples(&after, 3, 3);
	json_t *o = page_profile_places(&before, &same, SIZE_MAX);
	print_message("%zu nodes\n",
		      json_array_size(json_object_get(json_object_get(o, "after"), "sure")));
	check_places(json_object_get(o, "before"), &before, SIZE_MAX);
	check_places(json_object_get(o, "after"), &same, SIZE_MAX);
	assert_int_equal(count_sure(json_object_get(o, "before")), 0);
	assert_int_equal(count_sure(json_object_get(o, "after")), 0);
	json_decref(o);
	/* of trees that are cut, too, against all of the other */
	for (size_t most = 50; most <= 5000; most *= 100) {
		o = page_profile_places(&before, &after, most);
		const json_t *side = json_object_get(o, "after");
		json_t *tree = page_profile_tree(&after, most, &gone, &samples);
		check_places(json_object_get(o, "before"), &before, most);
		check_places(side, &after, most);
		size_t f = find(tree, PATH("x", "f0", "grown"));
		assert_int_equal(item(side, "sure", f), 1);
		assert_int_equal(item(side, "other", f), 0);
		assert_true(item(side, "here", f) > 50);
		json_decref(tree);
		json_decref(o);
	}
	profile_release(&before);
	profile_release(&same);
	profile_release(&after);
}

/* ---- names that want to be more ---- */

static char *long_name(void)
{
	char *name = malloc(10001);
	memset(name, 'x', 10000);
	name[10000] = 0;
	return name;
}

static void hostile_names_do_not_leave_the_embedded_document(void **state)
{
	(void)state;
	char *big = long_name();
	const char *const names[] = { "</script><script>alert(1)</script>",
				      "\"'<!--",
				      "\xe2\x80\xae gpj.exe",
				      "\x01\x1b[31m\n",
				      "\xff\xfe not UTF-8",
				      big };
	struct profile p = { 0 };
	struct run run = { .id = 1, .name = (char *)names[0], .command = (char *)names[1] };
	const struct profile_subject s = { .run = &run, .profile = &p };
	struct page *page = page_new(names[0], false);
	struct strbuf html = { 0 }, none = { 0 };
	array_push(&p.slices, (struct profile_slice){ .samples = 6, .user = 6 });
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t object = profile_add_object(
			&p, &(struct profile_object){ .path = (char *)names[i] });
		uint32_t f = profile_add_function(
			&p, &(struct profile_function){ .object = object,
							.name = (char *)names[i],
							.address = 16,
							.size = 16 });
		uint32_t at = profile_add_location(&p, object, 16);
		profile_set_frames(&p, at, 16, &(struct profile_frame){ .function = f }, 1);
		profile_add_sample(&p, 0, add_thread(&p, names[i], object, i + 1),
				   profile_add_stack(&p, &at, 1, 0, STACK_COMPLETE), 1);
	}
	page_add_profile(page, &s, NULL, 0);
	page_html(page, &html);
	page_empty(&none);
	/* the document adds no "<" to the page */
	size_t of_page = 0, of_none = 0;
	for (size_t i = 0; i < html.length; i++)
		of_page += html.text[i] == '<';
	for (size_t i = 0; i < none.length; i++)
		of_none += none.text[i] == '<';
	assert_int_equal(of_page, of_none);
	json_t *root = document_of(page);
	const json_t *tree = json_object_get(section(root, 0), "tree");
	free(totals_of(tree));
	for (size_t i = 0; i < 6; i++)
		if (i != 4) /* which no JSON can have */
			check_node(tree, PATH(names[i], names[i]), 1, 2, names[i]);
	json_decref(root);
	strbuf_release(&html);
	strbuf_release(&none);
	profile_release(&p);
	free(big);
}

/* ---- listings ---- */

/* One of many instructions of which two have samples. */
static void list_many(instruction_list *list, sleepy_counts *counts, size_t n, size_t every)
{
	for (size_t i = 0; i < n; i++) {
		array_push(list, (struct instruction){ .address = i, .size = 1, .text = "nop" });
		if (i % every == every / 2)
			array_push(counts, (struct sleepy_count){ i, 1 });
	}
}

static void long_listings_are_cut_where_there_are_no_samples(void **state)
{
	(void)state;
	struct profile_case c;
	struct profile_listing lists[3];
	instruction_list code[3] = { 0 };
	sleepy_counts counts[3] = { 0 };
	profile_case_make(&c);
	list_many(&code[0], &counts[0], 6000, 3000); /* two places */
	list_many(&code[1], &counts[1], 6000, 2);    /* everywhere */
	list_many(&code[2], &counts[2], 4000, 4000);
	for (size_t i = 0; i < 3; i++) {
		lists[i] = c.listing;
		lists[i].instructions = &code[i];
		lists[i].counts = &counts[i];
	}
	c.profile.mode = PROFILE_TICK;
	struct page *page = page_new("listings", false);
	page_add_profile(page, &c.subject, lists, 3);
	json_t *root = document_of(page);
	const json_t *s = section(root, 0), *made = json_object_get(s, "listings");
	assert_int_equal(json_array_size(made), 2);
	const json_t *first = json_array_get(made, 0), *second = json_array_get(made, 1);
	assert_int_equal(json_array_size(json_object_get(first, "instructions")), 42);
	assert_int_equal(number(first, "self"), 2);
	assert_int_equal(number(first, "elsewhere"), 0);
	assert_int_equal(json_array_size(json_object_get(second, "instructions")), 4000);
	const json_t *notes = json_object_get(s, "notes");
	assert_int_equal(json_array_size(notes), 3);
	assert_string_equal(json_string_value(json_array_get(notes, 0)),
			    "A program that runs in step with the kernel's tick is seen always or "
			    "never; with -F 997 it is not.");
	json_decref(root);
	for (size_t i = 0; i < 3; i++) {
		array_release(&code[i]);
		array_release(&counts[i]);
	}
	profile_case_release(&c);
}

/* ---- queries ---- */

static void check_matrix(const struct query_fixture *f, const json_t *matrix)
{
	struct ttp_correlation found[TTP_RELATIONS];
	const struct query_run *run = &f->data;
	const struct ttp_result *result = &f->result;
	const json_t *rows = json_object_get(matrix, "r");
	ttp_model(&run, &result, 1, found);
	assert_int_equal(json_array_size(rows), TTP_MODEL_MEASURES);
	for (size_t i = 0; i < TTP_RELATIONS; i++) {
		const struct ttp_relation *relation = &ttp_relations[i];
		const json_t *there =
			json_array_get(json_array_get(rows, relation->left), relation->right);
		const json_t *back =
			json_array_get(json_array_get(rows, relation->right), relation->left);
		assert_true(json_equal(there, back));
		if (isnan(found[i].r))
			assert_true(json_is_null(there));
		else
			assert_near(json_number_value(there), found[i].r, 1e-6);
	}
	for (size_t i = 0; i < TTP_MODEL_MEASURES; i++) {
		const json_t *own = json_array_get(json_array_get(rows, i), i);
		assert_true(json_is_null(own) || fabs(json_number_value(own) - 1) < 1e-6);
		assert_string_equal(
			json_string_value(json_array_get(json_object_get(matrix, "measures"), i)),
			ttp_model_measure_names[(enum ttp_model_measure)i]);
	}
}

static void queries_have_their_matrix_and_ledgers(void **state)
{
	(void)state;
	struct query_fixture whole;
	json_t *root = document_of(parts_page());
	const json_t *s = section(root, PARTS_WHOLE), *ledgers = json_object_get(s, "ledgers");
	assert_true(query_fixture_make(&whole, "whole"));
	check_matrix(&whole, json_object_get(s, "matrix"));
	assert_true(json_is_null(json_object_get(section(root, PARTS_EMPTY), "matrix")));
	assert_string_equal(text(s, "subtitle"),
			    "four on PostgreSQL 15.8 (Debian 15.8-0+deb12u1), cold, exhaustive");
	assert_int_equal(json_array_size(ledgers), 2);
	const json_t *first = json_array_get(ledgers, 0), *second = json_array_get(ledgers, 1);
	assert_int_equal(number(first, "cardinality"), 100000);
	assert_string_equal(json_string_value(json_array_get(json_object_get(first, "causes"), 1)),
			    "io");
	assert_int_equal(item(first, "mean", 1), 11000000);
	assert_int_equal(number(first, "elapsed_ns"), 50000000);
	assert_true(json_is_null(json_object_get(second, "cardinality")));
	assert_int_equal(item(second, "mean", 0), 7);
	query_fixture_release(&whole);
	json_decref(root);
}

static size_t executions_of(const json_t *query_section)
{
	const json_t *at;
	size_t i, n = 0;
	json_array_foreach(json_object_get(json_object_get(query_section, "query"), "at"), i, at)
	{
		n += json_array_size(json_object_get(at, "executions"));
	}
	return n;
}

static void too_many_executions_are_left_out_with_a_note(void **state)
{
	(void)state;
	struct query_fixture f;
	assert_true(query_fixture_make(&f, "warm"));
	struct query_at *at = &f.data.at.items[0];
	const struct query_execution one = at->executions.items[0];
	size_t n = f.result.executions;
	for (; n < 30001; n++) {
		struct query_execution x = one;
		x.number = (uint32_t)n + 1000;
		array_push(&at->executions, x);
	}
	query_fixture_judge(&f);
	struct page *page = page_new("many", false);
	page_add_query(page, &f.view, NULL, 0);
	json_t *root = document_of(page);
	assert_int_equal(executions_of(section(root, 0)), 0);
	assert_int_equal(json_array_size(json_object_get(section(root, 0), "notes")), 1);
	json_decref(root);
	at->executions.count--;
	query_fixture_judge(&f);
	page = page_new("fewer", false);
	page_add_query(page, &f.view, NULL, 0);
	root = document_of(page);
	assert_int_equal(executions_of(section(root, 0)), 30000);
	assert_int_equal(json_array_size(json_object_get(section(root, 0), "notes")), 0);
	json_decref(root);
	query_fixture_release(&f);
}

/* ---- comparisons ---- */

static void comparisons_point_to_their_sections(void **state)
{
	(void)state;
	json_t *root = document_of(parts_page());
	const json_t *list = json_object_get(root, "comparisons");
	assert_int_equal(json_array_size(list), 3);
	const json_t *noises = json_array_get(list, 0), *profiles = json_array_get(list, 1),
		     *queries = json_array_get(list, 2);
	assert_string_equal(text(noises, "kind"), "noise");
	assert_int_equal(number(noises, "base"), PARTS_GUEST);
	assert_int_equal(number(noises, "run"), PARTS_PLAIN);
	assert_string_equal(text(profiles, "kind"), "profile");
	assert_int_equal(number(profiles, "before"), PARTS_PROFILE);
	assert_int_equal(number(profiles, "after"), PARTS_NOTHING);
	/* with nothing to compare with, nothing is sure */
	assert_int_equal(count_sure(json_object_get(json_object_get(profiles, "places"), "before")),
			 0);
	assert_string_equal(text(queries, "kind"), "query");
	assert_int_equal(number(queries, "base"), PARTS_WHOLE);
	assert_int_equal(number(queries, "other"), PARTS_SLOWER);
	assert_true(json_array_size(json_object_get(json_object_get(queries, "diff"), "pairs")) >
		    0);
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(noise_has_densities_and_its_baseline),
		cmocka_unit_test(a_profile_is_a_tree_of_all_its_samples),
		cmocka_unit_test(a_large_profile_becomes_a_page_quickly),
		cmocka_unit_test(small_nodes_are_counted_in_their_callers),
		cmocka_unit_test(apps_of_one_name_are_two_nodes),
		cmocka_unit_test(hostile_names_do_not_leave_the_embedded_document),
		cmocka_unit_test(only_places_that_surely_changed_are_marked),
		cmocka_unit_test(long_listings_are_cut_where_there_are_no_samples),
		cmocka_unit_test(queries_have_their_matrix_and_ledgers),
		cmocka_unit_test(too_many_executions_are_left_out_with_a_note),
		cmocka_unit_test(comparisons_point_to_their_sections),
		cmocka_unit_test(runs_without_data_are_sections_with_a_note),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
