/* Profiles in the lab: they come back as they were however they were cut into slices, the old
 * becomes coarser and stays bounded, and the views say the same. */
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "lab-fixture.h"
#include "lab/lab.h"
#include "lab/sqlite.h"
#include "profile-fixture.h"
#include "profile-text.h"

#define SECOND UINT64_C(1000000000)

static int64_t add_run(struct lab *lab, enum subject_kind kind)
{
	struct run run = { .kind = kind, .name = xstrdup("p") };
	ok(lab_add_run(lab, &run, &err));
	int64_t id = run.id;
	run_release(&run);
	return id;
}

static void refused(int failed, const char *text, const char *hint)
{
	assert_int_equal(failed, -1);
	assert_int_equal(err.code, EXIT_USAGE);
	if (!strstr(err.text, text) || !strstr(err.hint, hint))
		fail_msg("'%s', not '%s'; hint '%s', not '%s'", err.text, text, err.hint, hint);
}

static void same_text(char *expected, char *got)
{
	if (strcmp(expected, got) != 0) {
		size_t at = 0;
		while (expected[at] && expected[at] == got[at])
			at++;
		fail_msg("differs at %zu: expected '%.200s', got '%.200s'", at,
			 expected + (at > 80 ? at - 80 : 0), got + (at > 80 ? at - 80 : 0));
	}
	free(expected);
	free(got);
}

static void comes_back(struct lab *lab, int64_t run, const struct profile *p)
{
	struct profile back = { 0 };
	ok(lab_get_profile(lab, run, 0, 0, &back, &err));
	same_text(profile_text(p), profile_text(&back));
	profile_release(&back);
}

/* ---- things to store ---- */

static const char *random_text(char *room, size_t size)
{
	memset(room, 0, size);
	random_name(room, size);
	return room;
}

static uint32_t below(size_t limit)
{
	return (uint32_t)(random_number() % limit);
}

static void random_places(struct profile *p, size_t size)
{
	char text[40], other[40];
	for (size_t i = 0; i < 2 + size / 20; i++) {
		struct profile_object o = { .path = (char *)random_text(text, sizeof text) };
		o.kind = (enum object_kind)below(OBJECT_KINDS);
		o.build_id_size = (uint8_t)below(BUILD_ID_MAX + 1);
		for (size_t k = 0; k < o.build_id_size; k++)
			o.build_id[k] = (uint8_t)random_number();
		o.device = random_value();
		o.inode = random_value();
		o.pid = below(3);
		profile_add_object(p, &o);
	}
	for (size_t i = 0; i < 3 + size / 4; i++) {
		struct profile_function f = { .object = below(p->objects.count) };
		f.name = (char *)random_text(text, sizeof text);
		f.address = random_value();
		f.size = random_value();
		f.line = below(1000);
		f.file = (char *)(below(2) ? random_text(other, sizeof other) : NULL);
		uint32_t at = profile_add_function(p, &f);
		if (below(2))
			profile_add_code(p, at, (const uint8_t *)text, 1 + below(39));
	}
	for (size_t i = 0; i < 5 + size; i++) {
		struct profile_frame frames[4];
		size_t count = below(5);
		for (size_t k = 0; k < count; k++)
			frames[k] = (struct profile_frame){
				below(p->functions.count), below(1000),
				(char *)(below(3) ? NULL : random_text(other, sizeof other))
			};
		uint32_t at = profile_add_location(p, below(p->objects.count), random_value());
		profile_set_frames(p, at, random_value(), frames, count);
	}
}

static void random_owners(struct profile *p, size_t size)
{
	char name[30], cgroup[30];
	for (size_t i = 0; i < 2 + size / 20; i++)
		profile_add_app(p, random_text(name, sizeof name),
				below(4) ? below(p->objects.count) : PROFILE_NONE);
	for (size_t i = 0; i < 3 + size / 4; i++) {
		struct profile_instance in = { .app = below(p->apps.count), .number = below(100) };
		in.pid = below(5);
		in.start_ns = random_value();
		in.exec_id = random_value();
		in.first_ns = random_value();
		random_name(in.comm, sizeof in.comm);
		in.cgroup = (char *)(below(2) ? random_text(cgroup, sizeof cgroup) : NULL);
		in.container = below(2) ? in.cgroup : NULL;
		profile_add_instance(p, &in);
	}
	for (size_t i = 0; i < 4 + size / 2; i++)
		profile_add_thread(p, below(p->instances.count), below(1000),
				   random_text(name, 16));
}

/* Everything but slices and samples. */
static void random_world(struct profile *p, size_t size)
{
	uint32_t links[2 * PROFILE_FRAMES_MAX];
	p->mode = (enum profile_mode)below(PROFILE_MODES);
	p->stacks = (enum profile_stacks)below(PROFILE_STACKS);
	p->hz = (double)random_number() / 7;
	p->cpus = below(1000);
	p->realtime_ns = (int64_t)random_number();
	random_places(p, size);
	random_owners(p, size);
	for (size_t i = 0; i < 6 + size; i++) {
		size_t count = below(10) ? below(20) : below(2 * PROFILE_FRAMES_MAX + 1);
		for (size_t k = 0; k < count; k++)
			links[k] = below(p->locations.count);
		profile_add_stack(p, links, count, below(count + 1),
				  (enum stack_end)below(STACK_ENDS));
	}
}

static void random_slice(struct profile *p, uint64_t begin_ns, uint64_t length_ns, size_t samples)
{
	struct profile_slice slice = { .begin_ns = begin_ns, .end_ns = begin_ns + length_ns };
	uint32_t at = (uint32_t)p->slices.count;
	for (size_t i = 0; i < samples; i++) {
		uint32_t stack = below(p->stack_list.count);
		uint64_t count = 1 + random_number() % 1000;
		profile_add_sample(p, at, below(p->threads.count), stack, count);
		slice.samples += count;
		*(p->stack_list.items[stack].kernel ? &slice.kernel : &slice.user) += count;
	}
	slice.idle = random_number() % 1000;
	slice.others = random_number() % 1000;
	slice.lost = random_number() % 1000;
	slice.throttled = random_number() % 1000;
	slice.untold = random_number() % 1000;
	slice.peak_used = below(1000);
	slice.peak_room = below(100000);
	slice.self_ns = random_number() % 1000000;
	array_push(&p->slices, slice);
}

/* Code of functions that no sample refers to does not come back. */
static void drop_code(struct profile *p)
{
	for (size_t i = 0; i < p->code.count; i++)
		xfree(p->code.items[i].bytes);
	p->code.count = 0;
}

static void random_profile(struct profile *p, size_t size, size_t slices)
{
	*p = (struct profile){ 0 };
	random_world(p, size);
	for (size_t i = 0; i < slices; i++)
		random_slice(p, (1 + i) * 10 * SECOND, 10 * SECOND, 20 + size * 3);
}

/* The slices [first, end) of p, in a profile of their own. */
static void cut(const struct profile *p, uint32_t first, uint32_t end, struct profile *into)
{
	struct profile part = *p;
	struct profile_sample *samples = NULL;
	size_t count = 0;
	samples = xcalloc(p->samples.count + 1, sizeof *samples);
	for (size_t i = 0; i < p->samples.count; i++) {
		struct profile_sample s = p->samples.items[i];
		if (s.slice < first || s.slice >= end)
			continue;
		s.slice -= first;
		samples[count++] = s;
	}
	part.samples.items = samples;
	part.samples.count = count;
	part.slices.items = p->slices.items + first;
	part.slices.count = end - first;
	*into = (struct profile){ 0 };
	profile_merge(into, &part);
	free(samples);
}

/* ---- round trips ---- */

static void profiles_come_back(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	struct profile stored[5];
	int64_t runs[5];
	for (size_t i = 0; i < 5; i++) {
		random_profile(&stored[i], i * i * 20, 1 + i);
		runs[i] = add_run(lab, SUBJECT_SYSTEM);
		ok(lab_add_slices(lab, runs[i], &stored[i], &err));
	}
	lab_close(lab);
	lab = open_lab(LAB_READ);
	for (size_t i = 0; i < 5; i++) {
		struct run run = { 0 };
		struct profile back = { 0 };
		ok(lab_get_run(lab, runs[i], &run, &err));
		assert_int_equal(run.kind, SUBJECT_SYSTEM);
		run_release(&run);
		ok(lab_get_profile(lab, runs[i], 0, 0, &back, &err));
		for (size_t k = 0; k < back.code.count; k++) {
			/* it is that of the function of its name */
			const struct profile_code *c = &back.code.items[k];
			assert_ptr_equal(profile_find_code(&back, c->function), c);
		}
		drop_code(&stored[i]);
		drop_code(&back);
		same_text(profile_text(&stored[i]), profile_text(&back));
		profile_release(&back);
		profile_release(&stored[i]);
	}
	lab_close(lab);
}

static void the_fixture_comes_back(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	struct profile p = { 0 };
	int64_t run = add_run(lab, SUBJECT_SYSTEM);
	fixture_profile(&p);
	ok(lab_add_slices(lab, run, &p, &err));
	comes_back(lab, run, &p);
	profile_release(&p);
	lab_close(lab);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	seed = 20261116;
	const struct CMUnitTest tests[] = {
		TEST(profiles_come_back),
		TEST(the_fixture_comes_back),
	};
	return cmocka_run_group_tests_name("lab-profile", tests, NULL, NULL);
}
