#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/execution.h"
#include "record/machine.h"

static struct task_record task(int tgid, int tid, uint64_t start, uint64_t exec, uint32_t flags,
			       const char *comm)
{
	struct task_record t = { .tgid = tgid,
				 .tid = tid,
				 .start_ns = start,
				 .flags = flags | (tgid == tid ? TASK_IS_LEADER : 0),
				 .present = 1u << TASK_EXEC };
	t.value[TASK_EXEC] = exec;
	memcpy(t.comm, comm, strnlen(comm, sizeof t.comm));
	return t;
}

static const struct process *find(const struct execution *x, int pid, uint64_t start)
{
	for (size_t i = 0; i < x->processes.count; i++)
		if (x->processes.items[i].pid == pid && x->processes.items[i].start_ns == start)
			return &x->processes.items[i];
	return NULL;
}

static void processes_are_the_difference_of_images_and_exits(void **state)
{
	(void)state;
	struct task_record before[] = {
		task(1, 1, 10, 500, 0, "init"),
		task(50, 50, 20, 1000, 0, "postgres"),
		task(50, 51, 21, 2000, 0, "pg-worker"),
		task(70, 70, 30, 100, 0, "cron"),
		task(90, 90, 40, 7, 0, "tare"),
		task(95, 95, 45, 5, TASK_IS_SUBJECT, "tare"),
	};
	struct task_record after[] = {
		task(1, 1, 10, 500, 0, "init"), /* did nothing */
		task(50, 50, 20, 1600, 0, "postgres"),
		task(50, 51, 21, 2400, 0, "pg-worker"),
		task(90, 90, 40, 107, 0, "tare"),
		task(99, 99, 60, 33, TASK_IS_KERNEL, "kworker/0:1-events"),
	};
	struct task_record exits[] = {
		task(70, 70, 30, 150, TASK_HAS_EXITED, "cron"),
		task(70, 70, 55, 25, TASK_HAS_EXITED, "run-parts"), /* the pid again */
		task(95, 96, 50, 40, TASK_HAS_EXITED | TASK_IS_SUBJECT, "prog"),
		task(95, 95, 45, 65, TASK_HAS_EXITED | TASK_IS_SUBJECT, "prog"),
	};
	struct image b = { .tasks = before, .count = 6 }, a = { .tasks = after, .count = 5 },
		     e = { .tasks = exits, .count = 4 };
	struct execution x = { 0 };
	x.before.present = x.after.present = 1u << OVERALL_FORKS;
	x.before.value[OVERALL_FORKS] = 100;
	x.after.value[OVERALL_FORKS] = 105; /* 3 were seen */
	processes_between(&b, &a, &e, 90, &x);

	assert_int_equal(x.processes.items[0].role, ROLE_SUBJECT);
	const struct process *subject = find(&x, 95, 45);
	assert_non_null(subject);
	assert_int_equal(subject->value[TASK_EXEC], 100); /* 65 - 5 and a thread's 40 */
	assert_int_equal(subject->threads, 2);
	assert_true(subject->ended && !subject->started);
	assert_string_equal(subject->name, "prog");

	const struct process *postgres = find(&x, 50, 20);
	assert_int_equal(postgres->value[TASK_EXEC], 1000);
	assert_int_equal(postgres->role, ROLE_DAEMON);
	assert_string_equal(postgres->name, "postgres");

	assert_int_equal(find(&x, 70, 30)->value[TASK_EXEC], 50);
	const struct process *again = find(&x, 70, 55);
	assert_int_equal(again->value[TASK_EXEC], 25);
	assert_true(again->started && again->ended);
	assert_string_equal(again->name, "run-parts");

	assert_int_equal(find(&x, 90, 40)->role, ROLE_SELF);
	const struct process *kworker = find(&x, 99, 60);
	assert_true(kworker->kernel && kworker->started);
	assert_string_equal(kworker->name, "kworker/0");
	assert_null(find(&x, 1, 10));
	assert_int_equal(x.ephemeral, 2);
	array_release(&x.processes);
}

/* Odd identities: a thread with a lower id than its leader, an exit before the execution began, an
 * exec by a thread that takes over the leader's id. */
static void odd_identities_are_told_apart(void **state)
{
	(void)state;
	struct task_record before[] = {
		task(32000, 32000, 10, 100, 0, "daemon"),
		task(32000, 500, 20, 200, 0, "worker"),
		task(77, 77, 30, 10, TASK_IS_SUBJECT, "prog"),
	};
	struct task_record after[] = {
		task(32000, 32000, 10, 1100, 0, "daemon"),
		task(32000, 500, 20, 2200, 0, "worker"),
	};
	struct task_record exits[] = {
		task(60, 60, 5, 3600000000000, TASK_HAS_EXITED, "old-daemon"),
		task(77, 77, 30, 15, TASK_HAS_EXITED | TASK_IS_SUBJECT, "prog"),
		task(77, 77, 30, 40, TASK_HAS_EXITED | TASK_IS_SUBJECT, "prog"),
	};
	exits[0].at_ns = 900; /* before the first image was complete */
	exits[1].at_ns = 1500;
	exits[2].at_ns = 1600;
	struct image b = { .tasks = before, .count = 3, .begin_ns = 950, .end_ns = 1000 };
	struct image a = { .tasks = after, .count = 2 }, e = { .tasks = exits, .count = 3 };
	struct execution x = { 0 };
	processes_between(&b, &a, &e, 1, &x);
	assert_int_equal(x.processes.count, 2);
	const struct process *daemon = find(&x, 32000, 10);
	assert_non_null(daemon);
	assert_string_equal(daemon->name, "daemon");
	assert_int_equal(daemon->threads, 2);
	assert_int_equal(daemon->value[TASK_EXEC], 3000);
	assert_null(find(&x, 60, 5));
	/* 55 in all, less the 10 before */
	assert_int_equal(find(&x, 77, 30)->value[TASK_EXEC], 45);
	array_release(&x.processes);
}

static void without_processes_their_number_is_unknown(void **state)
{
	(void)state;
	struct image none = { 0 };
	struct execution x = { 0 };
	processes_between(&none, &none, &none, 1, &x);
	assert_int_equal(x.processes.count, 0);
	assert_int_equal(x.ephemeral, -1); /* not known, not zero */
	execution_release(&x);
}

static void daemons_of_one_kind_share_a_name(void **state)
{
	(void)state;
	static const struct {
		const char *comm, *name;
	} cases[] = { { "kworker/0:1-events", "kworker/0" },
		      { "kworker/u8:3", "kworker/u8" },
		      { "flush-9:0", "flush-9:0" },
		      { "a\nb\x01", "a?b?" },
		      { "caf\xc3\xa9", "caf\xc3\xa9" },
		      { "bad\xff", "bad?" },
		      { "sixteen-bytes-xx", "sixteen-bytes-xx" },
		      { "", "" } };
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char comm[16] = { 0 }, name[17];
		memcpy(comm, cases[i].comm, strnlen(cases[i].comm, 16));
		daemon_name(comm, name);
		if (strlen(cases[i].comm) <= 16)
			assert_string_equal(name, cases[i].name);
	}
}

static void a_machine_comes_back_from_text_and_load_does_not_change_it(void **state)
{
	(void)state;
	struct machine m = { 0 }, again = { 0 };
	machine_set(&m, "cpu.model", "Some CPU");
	machine_set(&m, "kernel.cmdline", "a=b\nc\\d");
	machine_set(&m, "now.load", "0.5");
	char *text = machine_to_text(&m);
	machine_from_text(&again, text);
	assert_string_equal(machine_get(&again, "kernel.cmdline"), "a=b\nc\\d");
	assert_null(machine_get(&again, "none"));
	char one[17], two[17], three[17];
	machine_fingerprint(&m, one);
	machine_set(&again, "now.load", "3.5");
	machine_fingerprint(&again, two);
	assert_string_equal(one, two);
	machine_set(&again, "cpu.model", "Another");
	machine_fingerprint(&again, three);
	assert_string_not_equal(one, three);
	machine_setf(&m, "cpu.count", "%d", 12);
	assert_int_equal(machine_number(&m, "cpu.count", -1), 12);
	assert_int_equal(machine_number(&m, "cpu.model", -1), -1);
	free(text);
	machine_release(&m);
	machine_release(&again);
}

/* By the scheduler, else by the tick with both its halves. */
static void process_time_is_the_schedulers_or_both_halves_of_the_tick(void **state)
{
	(void)state;
	const uint64_t exec = 1u << TASK_EXEC, user = 1u << TASK_USER, system = 1u << TASK_SYSTEM;
	static const uint64_t unset = 99;
	const struct {
		uint64_t present;
		bool seen;
		uint64_t ns;
	} cases[] = { { exec | user | system, true, 7 },
		      { exec, true, 7 },
		      { exec | user, true, 7 },
		      { user | system, true, 50 },
		      { user, false, 0 },
		      { system, false, 0 },
		      { 0, false, 0 } };
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct process p = { .present = cases[i].present };
		uint64_t ns = unset;
		p.value[TASK_EXEC] = 7;
		p.value[TASK_USER] = 20;
		p.value[TASK_SYSTEM] = 30;
		assert_int_equal(process_pt_ns(&p, &ns), cases[i].seen);
		assert_int_equal(ns, cases[i].ns);
	}
}

static void every_measure_has_a_name_and_says_what_it_means(void **state)
{
	(void)state;
	for (int m = 0; m < TASK_MEASURES; m++)
		assert_true(task_measures[m].name && *task_measures[m].name &&
			    task_measures[m].source && task_measures[m].meaning);
	for (int m = 0; m < OVERALL_MEASURES; m++)
		assert_true(overall_measures[m].name && *overall_measures[m].name);
	assert_int_equal(OVERALL_MEASURES, 20); /* as TTPv2 counts them */
}

static void add_thread(struct ledger *l, int32_t tgid, uint64_t run, uint64_t queued)
{
	struct ledger_thread t = { .tid = tgid, .tgid = tgid };
	t.account.ns[LEDGER_RUN] = run;
	t.account.ns[LEDGER_QUEUED] = queued;
	t.account.count[LEDGER_QUEUED] = 1;
	array_push(&l->details, (struct ledger_entry){ .thread = (uint32_t)l->threads.count,
						       .cause = LEDGER_QUEUED,
						       .name = "cron",
						       .ns = queued,
						       .count = 1 });
	ledger_account_add(&l->subject, &t.account);
	array_push(&l->threads, t);
}

static void processes_left_out_of_a_ledger_leave_nothing_behind(void **state)
{
	(void)state;
	struct ledger l = { .present = true };
	const int32_t two[] = { 1, 3 };
	add_thread(&l, 1, 100, 10);
	add_thread(&l, 2, 200, 500);
	add_thread(&l, 3, 50, 30);
	array_push(&l.entries,
		   (struct ledger_entry){
			   .cause = LEDGER_QUEUED, .name = "cron", .ns = 540, .count = 3 });
	array_push(&l.entries, (struct ledger_entry){ .cause = LEDGER_RUN, .ns = 350 });
	l.wall_ns[LEDGER_RUN] = 110;
	ledger_keep_processes(&l, two, 2);
	assert_int_equal(l.threads.count, 2);
	assert_int_equal(l.threads.items[1].tgid, 3);
	assert_int_equal(l.subject.ns[LEDGER_RUN], 150);
	assert_int_equal(l.subject.count[LEDGER_QUEUED], 2);
	assert_int_equal(l.details.count, 2);
	assert_int_equal(l.details.items[1].thread, 1);
	assert_int_equal(l.details.items[1].ns, 30);
	/* by ns, in the new order */
	assert_int_equal(l.entries.items[0].cause, LEDGER_RUN);
	assert_int_equal(l.entries.items[0].ns, 150);
	assert_int_equal(l.entries.items[1].ns, 40);
	assert_int_equal(l.entries.items[1].count, 2);
	assert_int_equal(l.wall_ns[LEDGER_RUN], 110);
	ledger_keep_processes(&l, two, 1);
	assert_int_equal(l.threads.count, 1);
	assert_int_equal(l.wall_ns[LEDGER_RUN], 100);
	assert_int_equal(l.wall_ns[LEDGER_QUEUED], 10);
	ledger_release(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_are_the_difference_of_images_and_exits),
		cmocka_unit_test(odd_identities_are_told_apart),
		cmocka_unit_test(without_processes_their_number_is_unknown),
		cmocka_unit_test(daemons_of_one_kind_share_a_name),
		cmocka_unit_test(a_machine_comes_back_from_text_and_load_does_not_change_it),
		cmocka_unit_test(every_measure_has_a_name_and_says_what_it_means),
		cmocka_unit_test(process_time_is_the_schedulers_or_both_halves_of_the_tick),
		cmocka_unit_test(processes_left_out_of_a_ledger_leave_nothing_behind),
	};
	return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
