/* The record of a profile: what is added twice is there once, and merging adds up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../fixtures/profile.h"
#include "base/clock.h"

#define MANY 100000

static struct profile_object file_object(const char *path)
{
	return (struct profile_object){ .path = (char *)path, .kind = OBJECT_FILE, .inode = 7 };
}

static void objects_are_there_once(void **state)
{
	(void)state;
	struct profile p = { 0 };
	char path[] = "/bin/x";
	struct profile_object o = file_object(path);
	assert_int_equal(profile_add_object(&p, &o), 0);
	path[5] = 'y'; /* it was copied */
	assert_string_equal(p.objects.items[0].path, "/bin/x");
	path[5] = 'x';
	assert_int_equal(profile_add_object(&p, &o), 0);
	struct profile_object others[] = { o, o, o, o, o };
	others[0].inode = 8;
	others[1].device = 1;
	others[2].pid = 1;
	others[3].kind = OBJECT_JIT;
	others[4].build_id_size = 2;
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(profile_add_object(&p, &others[i]), i + 1);
	others[4].build_id[1] = 9; /* replaced on disk */
	assert_int_equal(profile_add_object(&p, &others[4]), 6);
	others[4].build_id[2] = 9; /* beyond its size */
	assert_int_equal(profile_add_object(&p, &others[4]), 6);
	assert_int_equal(p.objects.count, 7);
	profile_release(&p);
	assert_null(p.objects.items);
}

static void owners_are_there_once(void **state)
{
	(void)state;
	struct profile p = { 0 };
	assert_int_equal(profile_add_app(&p, "[kworker]", PROFILE_NONE), 0);
	assert_int_equal(profile_add_app(&p, "[kworker]", PROFILE_NONE), 0);
	assert_int_equal(profile_add_app(&p, "[kworker]", 0), 1);
	assert_int_equal(profile_add_app(&p, "x", PROFILE_NONE), 2);
	struct profile_instance i = { .app = 1, .pid = 5, .start_ns = 6, .exec_id = 7 };
	i.cgroup = (char *)"/a";
	assert_int_equal(profile_add_instance(&p, &i), 0);
	struct profile_instance again = i, exec = i, reused = i;
	again.app = 0; /* as it was at first */
	again.cgroup = NULL;
	exec.exec_id = 8;
	reused.start_ns = 60;
	assert_int_equal(profile_add_instance(&p, &again), 0);
	assert_int_equal(p.instances.items[0].app, 1);
	assert_string_equal(p.instances.items[0].cgroup, "/a");
	assert_int_equal(profile_add_instance(&p, &exec), 1);
	assert_int_equal(profile_add_instance(&p, &reused), 2);
	assert_int_equal(profile_add_thread(&p, 0, 5, "one"), 0);
	assert_int_equal(profile_add_thread(&p, 1, 5, NULL), 1);
	assert_int_equal(profile_add_thread(&p, 0, 5, "rcu_exp_par_gp_kthread_worker/0"), 0);
	assert_string_equal(p.threads.items[0].comm, "rcu_exp_par_gp_kthread_worker/0");
	char name[PROFILE_COMM + 1];
	memset(name, 'x', PROFILE_COMM);
	name[PROFILE_COMM] = 0; /* one more than there is room for */
	assert_int_equal(profile_add_thread(&p, 0, 5, name), 0);
	assert_int_equal(strlen(p.threads.items[0].comm), PROFILE_COMM - 1);
	assert_string_equal(p.threads.items[1].comm, "");
	profile_release(&p);
}

static void places_are_there_once(void **state)
{
	(void)state;
	struct profile p = { 0 };
	struct profile_function f = { .object = 0, .name = (char *)"f", .address = 0x10 };
	assert_int_equal(profile_add_function(&p, &f), 0);
	f.size = 99; /* not what makes it another */
	assert_int_equal(profile_add_function(&p, &f), 0);
	f.object = 1;
	assert_int_equal(profile_add_function(&p, &f), 1);
	f.address = 0;
	assert_int_equal(profile_add_function(&p, &f), 2);
	uint32_t at = profile_add_location(&p, 3, 0x55);
	assert_int_equal(profile_add_location(&p, 3, 0x55), at);
	assert_int_not_equal(profile_add_location(&p, 2, 0x55), at);
	assert_int_equal(p.locations.items[at].address, 0x55);
	char file[] = "a.c";
	profile_set_frames(&p, at, 0x1055,
			   (struct profile_frame[]){ { 2, 7, file }, { 0, 9, NULL } }, 2);
	file[0] = 'b';
	const struct profile_location *l = &p.locations.items[at];
	assert_true(l->address == 0x1055 && l->frames == 2);
	assert_string_equal(p.frames.items[l->first_frame].file, "a.c");
	assert_null(p.frames.items[l->first_frame + 1].file);
	profile_set_frames(&p, at, 0x2055, (struct profile_frame[]){ { 1, 1, NULL } }, 1);
	assert_true(l->address == 0x2055 && l->frames == 1);
	assert_int_equal(p.frames.items[l->first_frame].function, 1);
	profile_release(&p);
}

/* The name of a frame of a stack, counted from the innermost. */
static const char *frame_name(const struct profile *p, uint32_t stack, uint32_t i)
{
	const struct profile_location *l =
		&p->locations.items[p->links.items[p->stack_list.items[stack].first + i]];
	return l->frames ? p->functions.items[p->frames.items[l->first_frame].function].name : "";
}

static void what_a_walk_left_out_has_a_frame(void **state)
{
	(void)state;
	struct profile p = { .stacks = STACKS_EH_FRAME };
	uint32_t links[2 + PROFILE_FRAMES_MAX];
	uint32_t object = profile_add_object(
		&p, &(struct profile_object){ .path = (char[]){ "a" }, .kind = OBJECT_FILE });
	for (uint32_t i = 0; i < 2 + PROFILE_FRAMES_MAX; i++)
		links[i] = profile_add_location(&p, object, i);
	/* all of it */
	uint32_t whole = profile_add_walked_stack(&p, links, 2 + PROFILE_FRAMES_MAX, 2,
						  PROFILE_FRAMES_MAX, STACK_COMPLETE);
	const struct profile_stack *s = &p.stack_list.items[whole];
	assert_true(s->count == 2 + PROFILE_FRAMES_MAX && s->end == STACK_COMPLETE);
	/* both ends */
	uint32_t middle = profile_add_walked_stack(&p, links, 2 + PROFILE_FRAMES_MAX, 2, 5000,
						   STACK_COMPLETE);
	s = &p.stack_list.items[middle];
	assert_true(s->count == 3 + PROFILE_FRAMES_MAX && s->kernel == 2 && s->end == STACK_ELIDED);
	assert_string_equal(frame_name(&p, middle, 2 + PROFILE_FRAMES_INNER), "[truncated]");
	assert_int_equal(p.links.items[s->first + s->count - 1], links[1 + PROFILE_FRAMES_MAX]);
	assert_int_equal(profile_add_walked_stack(&p, links, 2 + PROFILE_FRAMES_MAX, 2, 4999,
						  STACK_COMPLETE),
			 middle);
	/* the inner end only */
	uint32_t inner =
		profile_add_walked_stack(&p, links, 2 + PROFILE_FRAMES_MAX, 2, 8192, STACK_LIMIT);
	s = &p.stack_list.items[inner];
	assert_true(s->count == 3 + PROFILE_FRAMES_INNER && s->end == STACK_LIMIT);
	assert_string_equal(frame_name(&p, inner, s->count - 1), "[truncated]");
	/* the reasons are told apart */
	static const struct {
		enum stack_end end;
		const char *root;
	} ends[] = { { STACK_LIMIT, "[truncated]" },
		     { STACK_NO_ROOM, "[truncated]" },
		     { STACK_BROKEN, "[broken]" } };
	for (size_t i = 0; i < 3; i++) {
		uint32_t cut = profile_add_walked_stack(&p, links, 3, 0, 3, ends[i].end);
		assert_int_equal(p.stack_list.items[cut].count, 4);
		assert_int_equal(p.stack_list.items[cut].end, ends[i].end);
		assert_string_equal(frame_name(&p, cut, 3), ends[i].root);
	}
	uint32_t leaf = profile_add_walked_stack(&p, links, 1, 0, 1, STACK_LEAF);
	assert_int_equal(p.stack_list.items[leaf].count, 1);
	/* frame pointers do not tell the end from a break */
	p.stacks = STACKS_POINTERS;
	uint32_t end = profile_add_walked_stack(&p, links, 3, 0, 3, STACK_BROKEN);
	assert_int_equal(p.stack_list.items[end].count, 3);
	profile_release(&p);
}

static void stacks_and_samples_are_there_once(void **state)
{
	(void)state;
	struct profile p = { 0 };
	uint32_t a[] = { 1, 2, 3 }, b[] = { 1, 2, 4 };
	assert_int_equal(profile_add_stack(&p, a, 3, 1, STACK_COMPLETE), 0);
	assert_int_equal(profile_add_stack(&p, b, 3, 1, STACK_COMPLETE), 1);
	assert_int_equal(profile_add_stack(&p, a, 2, 1, STACK_COMPLETE), 2);
	assert_int_equal(profile_add_stack(&p, a, 3, 0, STACK_COMPLETE), 3);
	assert_int_equal(profile_add_stack(&p, a, 3, 1, STACK_BROKEN), 4);
	assert_int_equal(profile_add_stack(&p, NULL, 0, 0, STACK_LEAF), 5);
	assert_int_equal(profile_add_stack(&p, a, 3, 1, STACK_COMPLETE), 0);
	assert_int_equal(profile_add_stack(&p, NULL, 0, 0, STACK_LEAF), 5);
	profile_add_sample(&p, 0, 1, 2, 5);
	profile_add_sample(&p, 0, 1, 2, 6);
	profile_add_sample(&p, 1, 1, 2, 1);
	profile_add_sample(&p, 0, 2, 1, 1);
	assert_int_equal(p.samples.count, 3);
	assert_int_equal(p.samples.items[0].count, 11);
	assert_null(profile_find_code(&p, 4));
	profile_add_code(&p, 4, (const uint8_t *)"\x90\xc3", 2);
	profile_add_code(&p, 4, (const uint8_t *)"\xcc", 1);
	profile_add_code(&p, 5, NULL, 0);
	assert_int_equal(p.code.count, 1);
	assert_int_equal(profile_find_code(&p, 4)->bytes[1], 0xc3);
	assert_null(profile_find_code(&p, 5));
	profile_release(&p);
}

/* Also where the numbers go up together: it must not take a second. */
static void a_hundred_thousand_of_each_are_found_again_quickly(void **state)
{
	(void)state;
	struct profile p = { 0 };
	uint64_t begin = clock_monotonic_ns();
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < MANY; i++) {
			uint32_t link = i;
			assert_int_equal(profile_add_location(&p, i % 7, i * UINT64_C(16)), i);
			assert_int_equal(profile_add_thread(&p, i, 4096 + i, NULL), i);
			assert_int_equal(profile_add_stack(&p, &link, 1, 0, STACK_LEAF), i);
			profile_add_sample(&p, i % 3, i, i, 1);
		}
	uint64_t took = clock_monotonic_ns() - begin;
	assert_int_equal(p.locations.count, MANY);
	assert_int_equal(p.samples.count, MANY);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(p.samples.items[i].count, 2);
	if (took > 5000000000)
		fail_msg("%d of each took %.1f s", MANY, (double)took / 1e9);
	profile_release(&p);
}

/* ---- merging ---- */

static uint64_t sum_of(const struct profile *p, const char *app, const char *function)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < p->samples.count; i++) {
		const struct profile_sample *s = &p->samples.items[i];
		const struct profile_thread *t = &p->threads.items[s->thread];
		const char *name = p->apps.items[p->instances.items[t->instance].app].name;
		const struct profile_stack *stack = &p->stack_list.items[s->stack];
		const struct profile_location *l =
			&p->locations.items[p->links.items[stack->first]];
		const char *leaf =
			l->frames
				? p->functions.items[p->frames.items[l->first_frame].function].name
				: "";
		if (strcmp(name, app) == 0 && strcmp(leaf, function) == 0)
			sum += s->count;
	}
	return sum;
}

static void merging_adds_up_counts_and_repeats_nothing(void **state)
{
	(void)state;
	struct profile a = { 0 }, sum = { 0 };
	fixture_profile(&a);
	profile_merge(&sum, &a);
	assert_true(sum.mode == a.mode && sum.stacks == a.stacks && sum.cpus == 2);
	assert_true(sum.hz == a.hz && sum.realtime_ns == a.realtime_ns);
	profile_merge(&sum, &a);
	assert_int_equal(sum.objects.count, a.objects.count);
	assert_int_equal(sum.instances.count, 3);
	assert_int_equal(sum.threads.count, 4);
	assert_int_equal(sum.locations.count, a.locations.count);
	assert_int_equal(sum.frames.count, a.frames.count);
	assert_int_equal(sum.stack_list.count, a.stack_list.count);
	assert_int_equal(sum.slices.count, 2);
	assert_int_equal(sum.samples.count, a.samples.count);
	assert_int_equal(sum.code.count, 1);
	assert_int_equal(sum.slices.items[0].samples, 200);
	assert_int_equal(sum.slices.items[0].lost, 4);
	assert_int_equal(sum.slices.items[0].peak_used, 7);
	assert_int_equal(sum.slices.items[1].end_ns, a.slices.items[1].end_ns);
	assert_int_equal(sum_of(&sum, "btree", "compare"), 2 * FIXTURE_COMPARE);
	assert_int_equal(sum_of(&sum, "btree", "search"), 2 * FIXTURE_SEARCH);
	assert_int_equal(sum_of(&sum, "python3", ""), 2 * FIXTURE_UNKNOWN);
	profile_release(&a);
	profile_release(&sum);
}

/* The same things at other positions, and things that only one of them has. */
static void merging_moves_positions_and_keeps_what_only_one_has(void **state)
{
	(void)state;
	struct profile a = { 0 }, b = { 0 };
	struct profile_object o = file_object("/bin/other");
	uint32_t other = profile_add_object(&b, &o);
	uint32_t app = profile_add_app(&b, "other", other);
	uint32_t i = profile_add_instance(&b, &(struct profile_instance){ .app = app, .pid = 9 });
	uint32_t thread = profile_add_thread(&b, i, 9, "other");
	uint32_t location = profile_add_location(&b, other, 0x99);
	uint32_t stack = profile_add_stack(&b, &location, 1, 0, STACK_LEAF);
	array_push(&b.slices, (struct profile_slice){ .begin_ns = 3, .samples = 4, .user = 4 });
	profile_add_sample(&b, 0, thread, stack, 4);
	fixture_profile(&a);
	profile_merge(&b, &a);
	assert_int_equal(b.slices.count, 3);
	assert_true(b.mode == PROFILE_TICK); /* it had slices: its own */
	assert_int_equal(sum_of(&b, "other", ""), 4);
	assert_int_equal(sum_of(&b, "btree", "compare"), FIXTURE_COMPARE);
	assert_int_equal(sum_of(&b, "python3", "py::loop"), 40);
	const struct profile_code *code = &b.code.items[0];
	assert_string_equal(b.functions.items[code->function].name, "search");
	assert_ptr_equal(profile_find_code(&b, code->function), code);
	profile_release(&a);
	profile_release(&b);
}

/* A location comes without frames first, or once more without what was found before. */
static void merging_keeps_what_was_looked_up(void **state)
{
	(void)state;
	struct profile plain = { 0 }, known = { 0 }, sum = { 0 };
	struct profile_object o = file_object("/bin/x");
	for (struct profile *p = &plain;; p = &known) {
		profile_add_object(p, &o);
		profile_add_location(p, 0, 0x10);
		profile_add_location(p, 0, 0x20);
		if (p == &known)
			break;
	}
	struct profile_function f = { .name = (char *)"f", .address = 0x1000, .size = 0x40 };
	profile_add_function(&known, &f);
	profile_set_frames(&known, 0, 0x1010, (struct profile_frame[]){ { 0, 3, NULL } }, 1);
	profile_set_frames(&known, 1, 0x1020, NULL, 0); /* no function there */
	profile_merge(&sum, &plain);
	assert_int_equal(sum.locations.items[0].frames, 0);
	profile_merge(&sum, &known);
	profile_merge(&sum, &plain);
	assert_int_equal(sum.locations.count, 2);
	assert_int_equal(sum.locations.items[0].frames, 1);
	assert_int_equal(sum.locations.items[0].address, 0x1010);
	assert_int_equal(sum.locations.items[1].frames, 0);
	assert_int_equal(sum.locations.items[1].address, 0x1020);
	profile_release(&plain);
	profile_release(&known);
	profile_release(&sum);
}

/* ---- names ---- */

static void an_object_is_named_by_the_last_part_of_its_path(void **state)
{
	(void)state;
	struct profile_object o = file_object("/usr/bin/gcc");
	char text[2 * BUILD_ID_MAX + 1];
	assert_string_equal(object_name(&o), "gcc");
	o.path = (char *)"gcc";
	assert_string_equal(object_name(&o), "gcc");
	o.path = (char *)"/odd/";
	assert_string_equal(object_name(&o), "/odd/");
	o.path = (char *)"[a/b]";
	o.kind = OBJECT_MODULE;
	assert_string_equal(object_name(&o), "[a/b]");
	build_id_text(&o, text);
	assert_string_equal(text, "");
	o.build_id_size = 3;
	memcpy(o.build_id, "\x80\xc0\x01", 3);
	build_id_text(&o, text);
	assert_string_equal(text, "80c001");
	o.build_id_size = BUILD_ID_MAX;
	memset(o.build_id, 0xff, BUILD_ID_MAX);
	build_id_text(&o, text);
	assert_int_equal(strlen(text), 40);
}

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void a_cgroup_tells_the_id_of_its_container(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{ "/docker/" HEX, HEX },
		{ "/system.slice/docker-" HEX ".scope", HEX },
		{ "/machine.slice/libpod-" HEX ".scope/container", HEX },
		{ "/kubepods.slice/kubepods-pod1.slice/cri-containerd-" HEX ".scope", HEX },
		{ "/kubepods/burstable/pod0/crio-" HEX, HEX },
		{ "/lxc.payload.web/init.scope", "web" },
		{ "/lxc/web", "web" },
		{ "/machine.slice/systemd-nspawn@deb.service/payload", "deb" },
		{ "/machine.slice/machine-deb.scope", "deb" },
		{ "/user.slice/user-1000.slice/session-2.scope", NULL },
		{ "/x/" HEX "0", NULL }, /* 65 digits are no id */
		{ "/lxc/", NULL },
		{ "/", NULL },
		{ "", NULL },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *id = cgroup_container(cases[i][0]);
		if ((id == NULL) != (cases[i][1] == NULL) || (id && strcmp(id, cases[i][1]) != 0))
			fail_msg("%s: %s", cases[i][0], id ? id : "none");
		xfree(id);
	}
}

static void every_value_has_a_name(void **state)
{
	(void)state;
	for (int i = 0; i < PROFILE_MODES; i++)
		assert_true(*profile_mode_names[(enum profile_mode)i]);
	for (int i = 0; i < PROFILE_STACKS; i++)
		assert_true(*profile_stacks_names[(enum profile_stacks)i]);
	for (int i = 0; i < OBJECT_KINDS; i++)
		assert_true(*object_kind_names[(enum object_kind)i]);
	for (int i = 0; i < STACK_ENDS; i++)
		assert_true(*stack_end_names[(enum stack_end)i]);
	assert_string_equal(object_kind_names[OBJECT_UNKNOWN], "unknown");
	assert_string_equal(stack_end_names[STACK_BROKEN], "broken");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_are_there_once),
		cmocka_unit_test(owners_are_there_once),
		cmocka_unit_test(places_are_there_once),
		cmocka_unit_test(stacks_and_samples_are_there_once),
		cmocka_unit_test(what_a_walk_left_out_has_a_frame),
		cmocka_unit_test(a_hundred_thousand_of_each_are_found_again_quickly),
		cmocka_unit_test(merging_adds_up_counts_and_repeats_nothing),
		cmocka_unit_test(merging_moves_positions_and_keeps_what_only_one_has),
		cmocka_unit_test(merging_keeps_what_was_looked_up),
		cmocka_unit_test(an_object_is_named_by_the_last_part_of_its_path),
		cmocka_unit_test(a_cgroup_tells_the_id_of_its_container),
		cmocka_unit_test(every_value_has_a_name),
	};
	return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
