/* Profiles for other programs, read back by nothing of what wrote them. What their own readers say
 * is asked by tests/profile/exports. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>
#include <cmocka.h>

#include "../fixtures/profile.h"
#include "report/profile/report.h"

static const struct sleepy_filter all = SLEEPY_ALL;

static void export_of(const struct profile *p, const struct sleepy_filter *f,
		      enum profile_format format, struct strbuf *out)
{
	profile_export(&(struct profile_subject){ .profile = p }, f, format, out);
}

/* Of the fixture; the caller releases. */
static struct strbuf exported(const struct sleepy_filter *f, enum profile_format format)
{
	struct profile p = { 0 };
	struct strbuf out = { 0 };
	fixture_profile(&p);
	export_of(&p, f, format, &out);
	profile_release(&p);
	return out;
}

static json_t *parsed(struct strbuf *text)
{
	json_error_t error;
	json_t *root = json_loadb(text->text, text->length, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		fail_msg("line %d: %s", error.line, error.text);
	strbuf_release(text);
	return root;
}

static json_int_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static const char *string(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));
	return value ? value : "";
}

/* ---- folded ---- */

static void folded_stacks_have_every_sample(void **state)
{
	(void)state;
	struct strbuf text = exported(&all, PROFILE_FOLDED);
	assert_string_equal(
		text.text,
		"btree;__libc_start_call_main;main;search 20\n"
		"btree;__libc_start_call_main;main;search;compare 80\n"
		"btree;__libc_start_call_main;main;search;compare;asm_exc_page_fault_[k];"
		"clear_page_erms_[k] 10\n"
		"python3;finish_task_switch.isra.0_[k] 5\n"
		"python3;python3+0x5000 25\n"
		"python3;python3+0x5000;py::loop 40\n");
	strbuf_release(&text);
}

static void folded_stacks_hold_only_what_the_filter_passes(void **state)
{
	(void)state;
	struct sleepy_filter f = all;
	f.app = "python3";
	f.begin_ns = FIXTURE_BEGIN_NS + FIXTURE_SLICE_NS;
	struct strbuf text = exported(&f, PROFILE_FOLDED);
	assert_string_equal(text.text, "python3;finish_task_switch.isra.0_[k] 5\n"
				       "python3;python3+0x5000 5\n"
				       "python3;python3+0x5000;py::loop 40\n");
	strbuf_release(&text);
}

/* One function of this name, sampled 3 times. */
static void named_profile(struct profile *p, const char *name)
{
	uint32_t object = profile_add_object(
		p, &(struct profile_object){ .path = (char *)"/bin/x", .kind = OBJECT_FILE });
	uint32_t app = profile_add_app(p, "x", object);
	uint32_t instance =
		profile_add_instance(p, &(struct profile_instance){ .app = app, .pid = 1 });
	uint32_t thread = profile_add_thread(p, instance, 1, "x");
	uint32_t function = profile_add_function(
		p, &(struct profile_function){
			   .object = object, .name = (char *)name, .address = 16, .size = 16 });
	uint32_t location = profile_add_location(p, object, 16);
	profile_set_frames(p, location, 16, &(struct profile_frame){ .function = function }, 1);
	p->hz = 100;
	array_push(&p->slices, (struct profile_slice){ .begin_ns = 5, .end_ns = 10 });
	profile_add_sample(p, 0, thread, profile_add_stack(p, &location, 1, 0, STACK_COMPLETE), 3);
}

/* Whatever a name holds, a line stays a line of so many names and one count. */
static void any_name_stays_on_one_folded_line(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{ "operator; ()", "x;operator: () 3\n" },
		{ "two\nlines", "x;two\\nlines 3\n" },
		{ "worker 12", "x;worker_12 3\n" },
		{ "version 1.5", "x;version_1.5 3\n" },
		{ "12", "x;12 3\n" },
		{ "a b", "x;a b 3\n" },
		{ "\xff\x01", "x;\\xff\\x01 3\n" },
		{ "", "x;? 3\n" },
		{ "caf\xc3\xa9", "x;caf\xc3\xa9 3\n" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct profile p = { 0 };
		struct strbuf text = { 0 };
		named_profile(&p, cases[i][0]);
		export_of(&p, &all, PROFILE_FOLDED, &text);
		assert_string_equal(text.text, cases[i][1]);
		strbuf_release(&text);
		profile_release(&p);
	}
}

/* ---- by an event ---- */

static struct strbuf exported_by_event(enum profile_format format)
{
	struct profile p = { 0 };
	struct strbuf out = { 0 };
	fixture_profile(&p);
	p.mode = PROFILE_EVENT;
	p.hz = NAN;
	p.period = 1009;
	snprintf(p.event, sizeof p.event, "branch-misses");
	export_of(&p, &all, format, &out);
	profile_release(&p);
	return out;
}

static void speedscope_of_an_event_has_events_for_weights(void **state)
{
	(void)state;
	struct strbuf text = exported_by_event(PROFILE_SPEEDSCOPE);
	assert_null(strstr(text.text, "nanoseconds"));
	json_t *root = parsed(&text);
	json_t *whole = json_array_get(json_object_get(root, "profiles"), 0);
	assert_string_equal(string(whole, "name"), "branch-misses");
	assert_string_equal(string(whole, "unit"), "none");
	assert_int_equal(number(whole, "endValue"), FIXTURE_SAMPLES * 1009);
	json_decref(root);
}

static void firefox_gets_no_cpu_time_of_an_event(void **state)
{
	(void)state;
	struct strbuf text = exported_by_event(PROFILE_FIREFOX);
	assert_null(strstr(text.text, "threadCPUDelta"));
	assert_non_null(strstr(text.text, "\"weightType\":\"samples\""));
	json_decref(parsed(&text));
}

/* ---- speedscope ---- */

static void speedscope_has_a_profile_of_all_and_of_each_app(void **state)
{
	(void)state;
	struct strbuf text = exported(&all, PROFILE_SPEEDSCOPE);
	json_t *root = parsed(&text);
	json_t *profiles = json_object_get(root, "profiles");
	static const struct {
		const char *name;
		json_int_t samples;
	} want[] = { { "all", FIXTURE_SAMPLES },
		     { "btree", FIXTURE_BTREE },
		     { "python3", FIXTURE_PYTHON } };
	size_t frames = json_array_size(json_object_get(json_object_get(root, "shared"), "frames"));
	assert_int_equal(json_array_size(profiles), 3);
	for (size_t i = 0; i < 3; i++) {
		json_t *profile = json_array_get(profiles, i);
		json_t *samples = json_object_get(profile, "samples");
		json_t *weights = json_object_get(profile, "weights");
		assert_string_equal(string(profile, "name"), want[i].name);
		assert_int_equal(json_array_size(samples), json_array_size(weights));
		json_int_t sum = 0;
		size_t at, level;
		json_t *weight, *stack, *frame;
		json_array_foreach(weights, at, weight) sum += json_integer_value(weight);
		json_array_foreach(samples, at, stack) json_array_foreach(stack, level, frame)
			assert_in_range(json_integer_value(frame), 0, frames - 1);
		assert_int_equal(sum, number(profile, "endValue"));
		assert_int_equal((sum * 99 + 500000000) / 1000000000, want[i].samples);
	}
	json_decref(root);
}

/* ---- Firefox ---- */

/* Every column is as long as its table says. */
static json_int_t check_table(const json_t *thread, const char *name)
{
	json_t *table = json_object_get(thread, name), *column;
	const char *key;
	assert_true(json_is_object(table));
	json_int_t length = number(table, "length");
	json_object_foreach(table, key, column) if (json_is_array(column))
		assert_int_equal(json_array_size(column), length);
	return length;
}

/* null, -1 or a row of the other table. */
static void check_references(const json_t *thread, const char *table, const char *column,
			     json_int_t rows)
{
	json_t *cells = json_object_get(json_object_get(thread, table), column), *cell;
	size_t at;
	assert_true(json_is_array(cells));
	json_array_foreach(cells, at, cell) if (!json_is_null(cell))
		assert_in_range(json_integer_value(cell) + 1, 0, rows);
}

static json_int_t check_thread(const json_t *thread, json_int_t libs)
{
	json_int_t stacks = check_table(thread, "stackTable");
	json_int_t frames = check_table(thread, "frameTable");
	json_int_t functions = check_table(thread, "funcTable");
	json_int_t resources = check_table(thread, "resourceTable");
	json_int_t symbols = check_table(thread, "nativeSymbols");
	json_int_t strings = (json_int_t)json_array_size(json_object_get(thread, "stringArray"));
	check_table(thread, "samples");
	check_table(thread, "markers");
	check_references(thread, "samples", "stack", stacks);
	check_references(thread, "stackTable", "prefix", stacks);
	check_references(thread, "stackTable", "frame", frames);
	check_references(thread, "frameTable", "func", functions);
	check_references(thread, "frameTable", "nativeSymbol", symbols);
	check_references(thread, "funcTable", "resource", resources);
	check_references(thread, "funcTable", "name", strings);
	check_references(thread, "funcTable", "fileName", strings);
	check_references(thread, "resourceTable", "lib", libs);
	check_references(thread, "resourceTable", "name", strings);
	check_references(thread, "nativeSymbols", "libIndex", libs);
	json_t *samples = json_object_get(thread, "samples");
	json_int_t sum = 0;
	double last = 0;
	for (size_t i = 0; i < (size_t)number(samples, "length"); i++) {
		double ms = json_real_value(json_array_get(json_object_get(samples, "time"), i));
		assert_true(ms >= last && ms <= 20000);
		last = ms;
		sum += json_integer_value(json_array_get(json_object_get(samples, "weight"), i));
	}
	return sum;
}

static void firefox_has_a_thread_for_each_thread_of_an_instance(void **state)
{
	(void)state;
	struct strbuf text = exported(&all, PROFILE_FIREFOX);
	json_t *root = parsed(&text);
	json_t *threads = json_object_get(root, "threads");
	json_t *libs = json_object_get(root, "libs");
	static const struct {
		const char *pid, *process;
		json_int_t samples;
	} want[] = { { "100", "btree#0", FIXTURE_BTREE_0 },
		     { "100.1", "btree#1", FIXTURE_BTREE_1 },
		     { "200", "python3#0", 30 },
		     { "200", "python3#0", 40 } };
	assert_int_equal(json_array_size(threads), 4);
	for (size_t i = 0; i < 4; i++) {
		json_t *thread = json_array_get(threads, i);
		assert_string_equal(string(thread, "pid"), want[i].pid);
		assert_string_equal(string(thread, "processName"), want[i].process);
		assert_int_equal(check_thread(thread, (json_int_t)json_array_size(libs)),
				 want[i].samples);
	}
	json_t *meta = json_object_get(root, "meta");
	double start_ms = json_real_value(json_object_get(meta, "startTime"));
	assert_true(start_ms > 1700001000000 - 1 && start_ms < 1700001000000 + 1);
	json_t *lib = json_array_get(libs, 0);
	assert_string_equal(string(lib, "codeId"), "cccccccccccccccccccccccccccccccccccccccc");
	assert_string_equal(string(lib, "breakpadId"), "CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC0");
	json_decref(root);
}

/* The second slice alone: times count from its begin. */
static void times_for_firefox_count_from_the_begin_of_the_window(void **state)
{
	(void)state;
	struct sleepy_filter f = all;
	f.begin_ns = FIXTURE_BEGIN_NS + FIXTURE_SLICE_NS;
	struct strbuf text = exported(&f, PROFILE_FIREFOX);
	json_t *root = parsed(&text), *thread;
	json_int_t libs = (json_int_t)json_array_size(json_object_get(root, "libs")), sum = 0;
	size_t at;
	json_array_foreach(json_object_get(root, "threads"), at, thread)
		sum += check_thread(thread, libs);
	assert_int_equal(sum, 80);
	thread = json_array_get(json_object_get(root, "threads"), 0);
	json_t *times = json_object_get(json_object_get(thread, "samples"), "time");
	assert_true(json_real_value(json_array_get(times, json_array_size(times) - 1)) <= 10000);
	json_decref(root);
}

/* ---- pprof ---- */

struct pprof_sums {
	size_t samples, mappings, locations, functions, strings;
	uint64_t count, ns, period;
};

static uint64_t varint(const uint8_t **at, const uint8_t *end)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		assert_true(*at < end);
		value |= (uint64_t)(**at & 0x7f) << shift;
		if (!(*(*at)++ & 0x80))
			return value;
	}
	fail_msg("a number is too long");
	return 0;
}

/* Field 2 of a sample: its two values, packed. */
static void read_sample(const uint8_t *at, const uint8_t *end, struct pprof_sums *sums)
{
	while (at < end) {
		uint64_t key = varint(&at, end);
		assert_int_equal(key & 7, 2);
		uint64_t length = varint(&at, end);
		assert_true(length <= (uint64_t)(end - at));
		const uint8_t *value = at;
		at += length;
		if (key >> 3 != 2)
			continue;
		sums->count += varint(&value, at);
		sums->ns += varint(&value, at);
		assert_ptr_equal(value, at);
	}
}

static void read_pprof(const uint8_t *at, size_t size, struct pprof_sums *sums)
{
	const uint8_t *end = at + size;
	size_t *counts[] = { [2] = &sums->samples,
			     [3] = &sums->mappings,
			     [4] = &sums->locations,
			     [5] = &sums->functions,
			     [6] = &sums->strings };
	while (at < end) {
		uint64_t key = varint(&at, end), value = varint(&at, end);
		if (key >> 3 == 12)
			sums->period = value;
		if ((key & 7) == 0)
			continue;
		assert_int_equal(key & 7, 2);
		assert_true(value <= (uint64_t)(end - at));
		if (key >> 3 == 2)
			read_sample(at, at + value, sums);
		if (key >> 3 == 6 && !sums->strings)
			assert_int_equal(value, 0); /* the first is "" */
		if (key >> 3 >= 2 && key >> 3 <= 6)
			++*counts[key >> 3];
		at += value;
	}
}

static uint8_t plain[65536]; /* the last one read */
static size_t plain_size;

static struct pprof_sums pprof_in(struct strbuf packed)
{
	z_stream z = { .next_in = (uint8_t *)packed.text,
		       .avail_in = (uInt)packed.length,
		       .next_out = plain,
		       .avail_out = sizeof plain };
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	struct pprof_sums sums = { 0 };
	plain_size = z.total_out;
	read_pprof(plain, plain_size, &sums);
	inflateEnd(&z);
	strbuf_release(&packed);
	return sums;
}

static struct pprof_sums pprof_of(const struct sleepy_filter *f)
{
	return pprof_in(exported(f, PROFILE_PPROF));
}

static void pprof_has_every_sample_and_what_it_points_to(void **state)
{
	(void)state;
	struct pprof_sums sums = pprof_of(&all);
	assert_int_equal(sums.samples, 7);
	assert_int_equal(sums.count, FIXTURE_SAMPLES);
	assert_in_range(sums.ns, 1818181818 - 7, 1818181818 + 7);
	assert_int_equal(sums.period, 10101010);
	assert_int_equal(sums.mappings, 5);
	assert_int_equal(sums.locations, 9);
	assert_int_equal(sums.functions, 9); /* 8, and the place that has none */
}

static void pprof_of_an_event_counts_events(void **state)
{
	(void)state;
	struct pprof_sums sums = pprof_in(exported_by_event(PROFILE_PPROF));
	assert_int_equal(sums.count, FIXTURE_SAMPLES);
	assert_int_equal(sums.ns, FIXTURE_SAMPLES * 1009);
	assert_int_equal(sums.period, 1009);
	assert_non_null(memmem(plain, plain_size, "branch-misses", 13));
	assert_null(memmem(plain, plain_size, "nanoseconds", 11));
}

/* Only what the samples that pass point to is written. */
static void pprof_holds_only_what_the_filter_passes(void **state)
{
	(void)state;
	struct sleepy_filter f = all;
	f.app = "python3";
	f.space = 2;
	struct pprof_sums sums = pprof_of(&f);
	assert_int_equal(sums.samples, 1);
	assert_int_equal(sums.count, 5);
	assert_int_equal(sums.mappings, 1);
	assert_int_equal(sums.locations, 1);
	assert_int_equal(sums.functions, 1);
}

/* ---- all of them ---- */

static void an_empty_profile_is_exported_in_every_format(void **state)
{
	(void)state;
	for (int format = 0; format < PROFILE_FORMATS; format++) {
		struct profile p = { 0 };
		struct strbuf text = { 0 };
		export_of(&p, &all, (enum profile_format)format, &text);
		if (format == PROFILE_FOLDED)
			assert_int_equal(text.length, 0);
		else
			assert_true(text.length > 0);
		if (format == PROFILE_SPEEDSCOPE || format == PROFILE_FIREFOX)
			json_decref(parsed(&text));
		strbuf_release(&text);
	}
}

/* More than the tables of what was seen hold at first. */
static void thousands_of_functions_are_exported(void **state)
{
	(void)state;
	struct profile p = { 0 };
	named_profile(&p, "first");
	for (uint32_t i = 0; i < 3000; i++) {
		char name[16];
		snprintf(name, sizeof name, "f%u", i);
		uint32_t function = profile_add_function(
			&p, &(struct profile_function){
				    .object = 0, .name = name, .address = 32 + i, .size = 1 });
		uint32_t at = profile_add_location(&p, 0, 32 + i);
		profile_set_frames(&p, at, 32 + i, &(struct profile_frame){ .function = function },
				   1);
		profile_add_sample(&p, 0, 0, profile_add_stack(&p, &at, 1, 0, STACK_COMPLETE), 1);
	}
	struct strbuf text = { 0 };
	export_of(&p, &all, PROFILE_FIREFOX, &text);
	json_t *root = parsed(&text);
	json_t *thread = json_array_get(json_object_get(root, "threads"), 0);
	assert_int_equal(check_thread(thread, 1), 3003);
	assert_int_equal(check_table(thread, "funcTable"), 3001);
	assert_int_equal(check_table(thread, "stackTable"), 3001);
	json_decref(root);
	profile_release(&p);
}

static void hostile_names_leave_json_valid(void **state)
{
	(void)state;
	static const char *const names[] = { "\"",	 "\\",	     "</script>",
					     "\x01\n\t", "\xff\xfe", "\xed\xa0\x80" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		for (int format = PROFILE_SPEEDSCOPE; format <= PROFILE_FIREFOX; format++) {
			struct profile p = { 0 };
			struct strbuf text = { 0 };
			named_profile(&p, names[i]);
			export_of(&p, &all, (enum profile_format)format, &text);
			json_decref(parsed(&text));
			profile_release(&p);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folded_stacks_have_every_sample),
		cmocka_unit_test(folded_stacks_hold_only_what_the_filter_passes),
		cmocka_unit_test(any_name_stays_on_one_folded_line),
		cmocka_unit_test(speedscope_of_an_event_has_events_for_weights),
		cmocka_unit_test(firefox_gets_no_cpu_time_of_an_event),
		cmocka_unit_test(pprof_of_an_event_counts_events),
		cmocka_unit_test(speedscope_has_a_profile_of_all_and_of_each_app),
		cmocka_unit_test(firefox_has_a_thread_for_each_thread_of_an_instance),
		cmocka_unit_test(times_for_firefox_count_from_the_begin_of_the_window),
		cmocka_unit_test(pprof_has_every_sample_and_what_it_points_to),
		cmocka_unit_test(pprof_holds_only_what_the_filter_passes),
		cmocka_unit_test(an_empty_profile_is_exported_in_every_format),
		cmocka_unit_test(thousands_of_functions_are_exported),
		cmocka_unit_test(hostile_names_leave_json_valid),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
