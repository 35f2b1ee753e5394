/* The names of events, and the bits that sysfs says they have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "collect/counters/events.h"

static char sysfs[64];

static void put(const char *path, const char *text)
{
	char at[256];
	snprintf(at, sizeof at, "%s/%s", sysfs, path);
	FILE *file = fopen(at, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int make_sysfs(void **unused)
{
	(void)unused;
	char at[128];
	static const char *const folders[] = { "",
					       "/cpu",
					       "/cpu/format",
					       "/cpu/events",
					       "/msr",
					       "/msr/format",
					       "/msr/events",
					       "/later",
					       "/later/format",
					       "/later/events",
					       "/later/caps" };
	strcpy(sysfs, "/tmp/tare-counters.XXXXXX");
	if (!mkdtemp(sysfs))
		return -1;
	for (size_t i = 1; i < sizeof folders / sizeof *folders; i++) {
		snprintf(at, sizeof at, "%s%s", sysfs, folders[i]);
		mkdir(at, 0700);
	}
	put("cpu/type", "4\n");
	put("cpu/format/event", "config:0-7,32-35\n");
	put("cpu/format/umask", "config:8-15\n");
	put("cpu/format/inv", "config:23\n");
	put("cpu/format/offcore", "config1:0-63\n");
	put("cpu/events/slow-loads", "event=0x1cd,umask=0x1,inv\n");
	put("msr/type", "9\n");
	put("msr/format/event", "config:0-63\n");
	put("msr/events/aperf", "event=0x01\n");
	put("later/type", "8\n");
	put("later/format/event", "config:0-15\n");
	put("later/format/umask", "config:8-15\n");
	return 0;
}

static int remove_sysfs(void **unused)
{
	(void)unused;
	char command[128];
	snprintf(command, sizeof command, "rm -r %s", sysfs);
	return system(command);
}

static counter_events parse(const char *list)
{
	counter_events events = { 0 };
	struct error err = ERROR_INIT;
	if (counter_events_parse(list, sysfs, &events, &err))
		fail_msg("%s: %s", list, err.text);
	return events;
}

static void refuse(const char *list, const char *what)
{
	counter_events events = { 0 };
	struct error err = ERROR_INIT;
	assert_int_equal(counter_events_parse(list, sysfs, &events, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	if (!strstr(err.text, what))
		fail_msg("'%s' has no '%s'", err.text, what);
	assert_int_equal(events.count, 0);
}

static void perfs_names_are_known_with_their_modes(void **unused)
{
	(void)unused;
	counter_events e = parse("cycles,cpu-cycles:u,branches:k,faults,context-switches:uk,cs:k");
	assert_int_equal(e.count, 6);
	assert_int_equal(e.items[0].config, PERF_COUNT_HW_CPU_CYCLES);
	assert_int_equal(e.items[0].modes, COUNTER_BOTH);
	assert_true(e.items[0].apart);
	assert_int_equal(e.items[1].modes, COUNTER_USER);
	assert_string_equal(e.items[1].name, "cycles:u"); /* its first name */
	assert_false(e.items[1].apart);
	assert_int_equal(e.items[2].config, PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	assert_int_equal(e.items[2].modes, COUNTER_KERNEL);
	assert_true(counter_event_is_software(&e.items[3]));
	assert_true(e.items[4].by_kernel);
	assert_string_equal(e.items[5].name, "context-switches:k");
	array_release(&e);
	refuse("faults,page-faults", "named twice");
	refuse("cs:u", "happens in the kernel");
}

static void caches_are_made_of_three_parts(void **unused)
{
	(void)unused;
	counter_events e = parse("L1-dcache-loads,dTLB-load-misses,LLC-store-misses:u");
	assert_int_equal(e.items[0].type, PERF_TYPE_HW_CACHE);
	assert_int_equal(e.items[0].config, PERF_COUNT_HW_CACHE_L1D);
	assert_int_equal(e.items[1].config,
			 PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_RESULT_MISS << 16);
	assert_int_equal(e.items[2].config, PERF_COUNT_HW_CACHE_LL |
						    PERF_COUNT_HW_CACHE_OP_WRITE << 8 |
						    PERF_COUNT_HW_CACHE_RESULT_MISS << 16);
	array_release(&e);
}

static void raw_events_are_hexadecimal(void **unused)
{
	(void)unused;
	counter_events e = parse("r1a8,rC4:k");
	assert_int_equal(e.items[0].type, PERF_TYPE_RAW);
	assert_int_equal(e.items[0].config, 0x1a8);
	assert_int_equal(e.items[1].config, 0xc4);
	array_release(&e);
	refuse("r", "no event 'r'");
	refuse("rxyz", "no event");
	refuse("r12345678123456781", "no event");
}

static void the_bits_of_a_format_may_lie_apart(void **unused)
{
	(void)unused;
	counter_events e = parse("cpu/event=0x1cd,umask=0x1/,cpu/slow-loads/:u,"
				 "cpu/event=1,offcore=0xffff0000ffff0000/");
	assert_int_equal(e.count, 3);
	assert_int_equal(e.items[0].type, 4);
	assert_int_equal(e.items[0].config, UINT64_C(0x1000001cd));
	assert_int_equal(e.items[1].config, UINT64_C(0x1008001cd));
	assert_int_equal(e.items[1].modes, COUNTER_USER);
	assert_int_equal(e.items[2].config1, UINT64_C(0xffff0000ffff0000));
	array_release(&e);
}

static void the_msr_pmu_takes_no_counter_and_has_no_modes(void **unused)
{
	(void)unused;
	counter_events e = parse("msr/aperf/,cpu/slow-loads/,faults");
	assert_true(e.items[0].msr);
	assert_int_equal(e.items[0].type, 9);
	assert_int_equal(e.items[0].modes, COUNTER_BOTH);
	assert_false(e.items[0].apart);
	assert_false(counter_event_takes_counter(&e.items[0]));
	assert_true(counter_event_takes_counter(&e.items[1]));
	assert_false(counter_event_takes_counter(&e.items[2]));
	assert_true(counter_event_described(sysfs, "msr", "aperf"));
	assert_false(counter_event_described(sysfs, "msr", "mperf"));
	array_release(&e);
}

static void put_all(const char *const *list)
{
	for (; list[0]; list += 2)
		put(list[0], list[1]);
}

static void remove_all(const char *const *list)
{
	char at[256];
	for (; list[0]; list += 2) {
		snprintf(at, sizeof at, "%s/%s", sysfs, list[0]);
		unlink(at);
	}
}

/* As Intel's Sapphire Rapids has them. */
static const char *const intel[] = { "later/events/slots",
				     "event=0x00,umask=0x4\n",
				     "later/events/topdown-retiring",
				     "event=0x00,umask=0x80\n",
				     "later/events/topdown-bad-spec",
				     "event=0x00,umask=0x81\n",
				     "later/events/topdown-fe-bound",
				     "event=0x00,umask=0x82\n",
				     "later/events/topdown-be-bound",
				     "event=0x00,umask=0x83\n",
				     NULL };
/* As ARM's Neoverse V1 has them. */
static const char *const arm[] = { "later/events/cpu_cycles",
				   "event=0x0011\n",
				   "later/events/stall_slot",
				   "event=0x003f\n",
				   "later/events/stall_slot_frontend",
				   "event=0x003e\n",
				   "later/events/stall_slot_backend",
				   "event=0x003d\n",
				   "later/events/op_retired",
				   "event=0x003a\n",
				   "later/events/op_spec",
				   "event=0x003b\n",
				   "later/caps/slots",
				   "0x00000008\n",
				   NULL };

static void topdown_is_a_group_that_slots_lead(void **unused)
{
	(void)unused;
	put_all(intel);
	counter_events e = parse("cycles,topdown:u");
	assert_int_equal(e.count, 6);
	assert_int_equal(e.items[0].group, 0);
	assert_string_equal(e.items[1].name, "slots:u");
	assert_int_equal(e.items[1].config, 0x400);
	assert_int_equal(e.items[1].times, 1);
	assert_string_equal(e.items[5].name, "topdown-be-bound:u");
	assert_int_equal(e.items[5].config, 0x8300);
	for (size_t i = 1; i < 6; i++) {
		assert_int_equal(e.items[i].group, 1);
		assert_int_equal(e.items[i].type, 8);
		assert_int_equal(e.items[i].modes, COUNTER_USER);
	}
	array_release(&e);
	refuse("topdown,topdown", "named twice");
	remove_all(intel);
}

static void cycles_of_arm_stand_for_their_slots(void **unused)
{
	(void)unused;
	put_all(arm);
	counter_events e = parse("topdown");
	assert_int_equal(e.count, 6);
	assert_string_equal(e.items[0].name, "slots");
	assert_int_equal(e.items[0].config, 0x11);
	assert_int_equal(e.items[0].times, 8);
	assert_string_equal(e.items[3].name, "stall_slot_backend");
	assert_int_equal(e.items[3].config, 0x3d);
	assert_int_equal(e.items[3].times, 1);
	array_release(&e);
	/* a CPU that does not say how many */
	put("later/caps/slots", "0x00000000\n");
	counter_events none = { 0 };
	struct error err = ERROR_INIT;
	assert_int_equal(counter_events_parse("topdown", sysfs, &none, &err), -1);
	assert_int_equal(err.code, EXIT_ENVIRONMENT);
	assert_string_equal(err.text, "this machine cannot count 'topdown'");
	remove_all(arm);
}

static void what_is_no_event_is_refused(void **unused)
{
	(void)unused;
	char longest[COUNTER_NAME + 2];
	memset(longest, 'a', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	refuse("", "empty");
	refuse(",,", "empty");
	refuse("cycle", "no event 'cycle'");
	refuse("cycles:p", "modifier");
	refuse("cycles:", "modifier");
	refuse("cycles,cycles", "named twice");
	refuse("cycles,foo", "no event 'foo'");
	refuse("cpu/event=0x1000000/", "no event"); /* more bits than it has */
	refuse("cpu/event=/", "no event");
	refuse("cpu/../../x/", "no event");
	refuse("cpu//", "no event");
	refuse("gpu/event=1/", "no event");
	refuse("/", "no event");
	refuse(longest, "too long");
}

static void counts_are_scaled_by_the_time_they_were_counted(void **unused)
{
	(void)unused;
	assert_int_equal(counter_scaled(1000, 50, 50), 1000);
	assert_int_equal(counter_scaled(1000, 100, 25), 4000);
	assert_int_equal(counter_scaled(0, 100, 25), 0);
	assert_int_equal(counter_scaled(7, 100, 0), -1); /* never counted: not 0 */
	assert_int_equal(counter_scaled(UINT64_C(1) << 52, 3, 2), (int64_t)3 << 51);
}

static void user_mode_is_found_in_either_form(void **unused)
{
	(void)unused;
	counter_list list = { 0 };
	array_push(&list, (struct counter){ "cycles", 30, 20, 10, 1, 1 });
	array_push(&list, (struct counter){ "branches", 30, -1, -1, 1, 1 });
	array_push(&list, (struct counter){ "branches:u", 21, 21, -1, 1, 1 });
	array_push(&list, (struct counter){ "faults", -1, -1, -1, 1, 0 });
	assert_int_equal(counter_in_user_mode(&list, "cycles"), 20);
	assert_int_equal(counter_in_user_mode(&list, "branches"), 21);
	assert_int_equal(counter_in_user_mode(&list, "instructions"), -1);
	assert_null(counter_find(&list, "faults"));
	array_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perfs_names_are_known_with_their_modes),
		cmocka_unit_test(caches_are_made_of_three_parts),
		cmocka_unit_test(raw_events_are_hexadecimal),
		cmocka_unit_test(the_bits_of_a_format_may_lie_apart),
		cmocka_unit_test(the_msr_pmu_takes_no_counter_and_has_no_modes),
		cmocka_unit_test(topdown_is_a_group_that_slots_lead),
		cmocka_unit_test(cycles_of_arm_stand_for_their_slots),
		cmocka_unit_test(what_is_no_event_is_refused),
		cmocka_unit_test(counts_are_scaled_by_the_time_they_were_counted),
		cmocka_unit_test(user_mode_is_found_in_either_form),
	};
	return cmocka_run_group_tests(tests, make_sysfs, remove_sysfs);
}
