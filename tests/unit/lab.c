/* The lab: everything stored comes back, whatever its bytes; nothing that is not a lab is touched;
 * a crash, a full disk or a second tare loses nothing that was committed. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "lab-fixture.h"
#include "lab/image.h"
#include "lab/lab.h"
#include "lab/sqlite.h"

#define ODD "a'b\"c\n\xff\xfe\xc3(\x01 \xe2\x82\xac"

static struct error open_error(enum lab_mode mode)
{
	err = (struct error)ERROR_INIT;
	struct lab *lab = NULL;
	assert_int_equal(lab_open(&lab, path, mode, &err), -1);
	assert_null(lab);
	assert_non_null(strstr(err.text, directory));
	return err;
}

/* ---- things to store ---- */

static struct image make_image(size_t count)
{
	struct image image = { .begin_ns = random_value(),
			       .end_ns = random_value(),
			       .count = count };
	image.capacity = count;
	image.tasks = xcalloc(count + 1, sizeof *image.tasks);
	for (size_t i = 0; i < count; i++) {
		struct task_record *t = &image.tasks[i];
		t->present = random_value();
		t->at_ns = i * 500 + random_number() % 100;
		t->start_ns = random_value();
		for (int m = 0; m < TASK_MEASURES; m++)
			t->value[m] = random_value();
		t->tid = t->tgid = (int32_t)(i * 7);
		t->exit_code = (int32_t)random_number();
		memcpy(t->comm, "kworker\xff/0:1-ev", 16);
	}
	return image;
}

/* What an image looks like a little later: some counters grew, tasks went, came, changed places. */
static struct image later_image(const struct image *image)
{
	struct image later = { .begin_ns = image->end_ns, .end_ns = image->end_ns + 1 };
	later.capacity = image->count + 3;
	later.tasks = xcalloc(later.capacity, sizeof *later.tasks);
	for (size_t i = 0; i < image->count; i++) {
		struct task_record t = image->tasks[i];
		if (random_number() % 10 == 0)
			continue;
		t.at_ns += 1000000 + random_number() % 50;
		if (random_number() % 8 == 0)
			t.value[random_number() % TASK_MEASURES] += random_number() % 10000;
		later.tasks[later.count++] = t;
	}
	for (int i = 0; i < 3; i++) {
		later.tasks[later.count] = (struct task_record){ .tid = 90000 + i, .start_ns = 5 };
		later.count++;
	}
	for (size_t i = 0; later.count > 4 && i < 2; i++) {
		size_t a = random_number() % later.count, b = random_number() % later.count;
		struct task_record t = later.tasks[a];
		later.tasks[a] = later.tasks[b];
		later.tasks[b] = t;
	}
	return later;
}

static void make_run(struct run *run, const char *name)
{
	*run = (struct run){ .name = xstrdup(name),
			     .command = xstrdup("sleep 1"),
			     .started_at_ns = clock_realtime_ns(),
			     .planned = 10 };
}

static int64_t add_run(struct lab *lab, const char *name)
{
	struct run run;
	make_run(&run, name);
	ok(lab_add_run(lab, &run, &err));
	int64_t id = run.id;
	run_release(&run);
	return id;
}

static void make_execution(struct execution *x, uint32_t number)
{
	*x = (struct execution){ .number = number, .outcome = OUTCOME_SIGNALLED, .status = 9 };
	x->started_at_ns = 1700000000123456789;
	x->et_ns = 1000 + number;
	x->wait_ns = 2000;
	x->tree_ns = ABSENT_NS;
	x->pt_ns[GRADE_NET] = ABSENT_NS;
	x->pt_ns[GRADE_EXEC] = 900 + number;
	x->pt_ns[GRADE_TICK] = 0;
	x->user_ns = 1;
	x->system_ns = ABSENT_NS;
	x->self_ns = 7;
	x->left_behind = 3;
	x->ended = UINT32_MAX;
	x->lost = UINT64_MAX - 1;
	x->ephemeral = number % 2 ? -1 : 5;
	x->totals = (struct totals){ .present = 0x7fff5,
				     .rss_peak_bytes = UINT64_C(1) << 40,
				     .processes = 2,
				     .threads = 9 };
	for (int m = 0; m < TASK_CUMULATIVE; m++)
		if (x->totals.present >> m & 1)
			x->totals.value[m] = m == 4 ? UINT64_MAX : m == 2 ? 0 : random_value();
	x->before.present = 0xfffff & ~4u;
	x->after.present = 0;
	for (int m = 0; m < OVERALL_MEASURES; m++)
		x->before.value[m] = m == 2 ? 0 : random_value();
	for (int i = 0; i < 5; i++) {
		struct process p = { .role = (enum role)(i % 3),
				     .kernel = i & 1,
				     .started = i & 2,
				     .ended = i & 4,
				     .pid = 100 + i,
				     .ppid = -1,
				     .start_ns = random_value(),
				     .threads = 3,
				     .present = i ? 0x7ffffu : 0,
				     .rss_peak_bytes = 4096 };
		for (int m = 0; i && m < TASK_CUMULATIVE; m++)
			p.value[m] = random_value();
		snprintf(p.name, sizeof p.name, i ? "0123456789abcde%d" : "it's \"%d\"", i);
		array_push(&x->processes, p);
	}
}

static void same_image(const struct image *a, const struct image *b)
{
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->begin_ns, b->begin_ns);
	assert_int_equal(a->end_ns, b->end_ns);
	if (a->count)
		assert_memory_equal(a->tasks, b->tasks, a->count * sizeof *a->tasks);
}

static void same_execution(const struct execution *a, const struct execution *b)
{
	struct execution x = *a, y = *b;
	assert_int_equal(a->processes.count, b->processes.count);
	for (size_t i = 0; i < a->processes.count; i++) {
		const struct process *p = &a->processes.items[i], *q = &b->processes.items[i];
		assert_string_equal(p->name, q->name);
		assert_int_equal(p->role, q->role);
		assert_true(p->kernel == q->kernel && p->started == q->started &&
			    p->ended == q->ended);
		assert_true(p->pid == q->pid && p->ppid == q->ppid && p->threads == q->threads);
		assert_int_equal(p->start_ns, q->start_ns);
		assert_int_equal(p->present, q->present);
		assert_int_equal(p->rss_peak_bytes, q->rss_peak_bytes);
		assert_memory_equal(p->value, q->value, sizeof p->value);
	}
	same_image(&a->tasks_before, &b->tasks_before);
	same_image(&a->tasks_after, &b->tasks_after);
	same_image(&a->exits, &b->exits);
	/* the rest is plain numbers; padding is zero in both */
	memset(&x.processes, 0, sizeof x - offsetof(struct execution, processes));
	memset(&y.processes, 0, sizeof y - offsetof(struct execution, processes));
	assert_memory_equal(&x.totals, &y.totals, sizeof x.totals);
	assert_memory_equal(&x.before, &y.before, sizeof x.before);
	assert_memory_equal(&x.after, &y.after, sizeof x.after);
	assert_true(x.id == y.id && x.number == y.number && x.warmup == y.warmup);
	assert_true(x.outcome == y.outcome && x.status == y.status);
	assert_true(x.started_at_ns == y.started_at_ns && x.et_ns == y.et_ns);
	assert_true(x.wait_ns == y.wait_ns && x.tree_ns == y.tree_ns);
	assert_memory_equal(x.pt_ns, y.pt_ns, sizeof x.pt_ns);
	assert_true(x.user_ns == y.user_ns && x.system_ns == y.system_ns);
	assert_true(x.left_behind == y.left_behind && x.ended == y.ended && x.lost == y.lost);
	assert_true(x.ephemeral == y.ephemeral && x.self_ns == y.self_ns);
}

static void release_executions(execution_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		execution_release(&list->items[i]);
	array_release(list);
}

static size_t count_executions(struct lab *lab, int64_t run, enum lab_detail detail)
{
	execution_list list = { 0 };
	ok(lab_get_executions(lab, run, detail, &list, &err));
	size_t count = list.count;
	release_executions(&list);
	return count;
}

static char *bytes_of(const char *file, size_t *length)
{
	FILE *f = fopen(file, "rb");
	assert_non_null(f);
	char *bytes = xmalloc(1 << 20);
	*length = fread(bytes, 1, 1 << 20, f);
	fclose(f);
	return bytes;
}

static void write_bytes(const char *file, const char *bytes, size_t length)
{
	ok(file_write(file, bytes, length, &err));
}

/* ---- round trips ---- */

static void runs_come_back(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	struct machine m = { 0 }, back = { 0 };
	machine_set(&m, "cpu.model", "odd\n\xff=\\");
	machine_set(&m, "now.load", "0.5");
	int64_t machine, again, study;
	ok(lab_add_machine(lab, &m, &machine, &err));
	ok(lab_add_machine(lab, &m, &again, &err));
	assert_int_equal(machine, again);
	ok(lab_get_machine(lab, machine, &back, &err));
	assert_string_equal(machine_get(&back, "cpu.model"), "odd\n\xff=\\");
	ok(lab_add_study(lab, ODD, &study, &err));
	struct run run = { .study = study,
			   .machine = machine,
			   .name = xstrdup(ODD),
			   .command = xstrdup("\xff" ODD),
			   .shell = xstrdup("/bin/\xfe"),
			   .directory = xstrdup("/\n"),
			   .conditions = xstrdup("{\"runs\":3}"),
			   .backend = BACKEND_BPF,
			   .not_seen = xstrdup("é"),
			   .started_at_ns = 5,
			   .planned = UINT32_MAX,
			   .shell_et_ns = 11,
			   .version = xstrdup("1"),
			   .tags = xstrdup("") };
	run.shell_pt_ns[GRADE_NET] = ABSENT_NS;
	run.shell_pt_ns[GRADE_EXEC] = 12;
	run.shell_pt_ns[GRADE_TICK] = UINT64_MAX - 5;
	array_push(&run.parameters, (struct parameter){ xstrdup("n"), xstrdup(ODD) });
	array_push(&run.parameters, (struct parameter){ xstrdup("\xff"), xstrdup("") });
	run.backend = BACKEND_PLAIN;
	run.planned = 3;
	run.shell_et_ns = 99;
	ok(lab_add_run(lab, &run, &err));
	lab_close(lab);

	lab = open_lab(LAB_READ);
	struct run got = { 0 };
	ok(lab_get_run(lab, run.id, &got, &err));
	assert_int_equal(got.status, RUN_GOING);
	assert_int_equal(got.backend, BACKEND_PLAIN);
	assert_string_equal(got.name, ODD);
	assert_string_equal(got.command, "\xff" ODD);
	assert_string_equal(got.shell, "/bin/\xfe");
	assert_string_equal(got.directory, "/\n");
	assert_string_equal(got.conditions, "{\"runs\":3}");
	assert_string_equal(got.not_seen, "é");
	assert_string_equal(got.version, "1");
	assert_string_equal(got.tags, "");
	assert_int_equal(got.study, study);
	assert_int_equal(got.machine, machine);
	assert_int_equal(got.planned, 3);
	assert_true(got.started_at_ns == 5 && got.ended_at_ns == 0 && got.shell_et_ns == 99);
	assert_memory_equal(got.shell_pt_ns, run.shell_pt_ns, sizeof got.shell_pt_ns);
	assert_int_equal(got.parameters.count, 2);
	assert_string_equal(got.parameters.items[0].value, ODD);
	assert_string_equal(got.parameters.items[1].name, "\xff");
	assert_int_equal(lab_end_run(lab, run.id, RUN_COMPLETE, &err), -1); /* for reading only */
	lab_close(lab);
	run_release(&run);
	run_release(&got);
	machine_release(&m);
	machine_release(&back);
}

static void executions_come_back(void **state)
{
	(void)state;
	enum { COUNT = 12 };
	struct execution stored[COUNT];
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t a = add_run(lab, "a"), b = add_run(lab, "b");
	struct image last = make_image(90);
	for (uint32_t i = 0; i < COUNT; i++) {
		struct execution *x = &stored[i];
		make_execution(x, i + 1);
		x->warmup = i == 0;
		if (i == 5) { /* taken but empty, and not taken */
			x->tasks_before.begin_ns = 1;
		} else if (i == 7) {
			x->tasks_before = make_image(70); /* nothing in common: a new key */
			x->exits = make_image(2);
		} else {
			x->tasks_before = later_image(&last);
			x->tasks_after = later_image(&x->tasks_before);
			x->exits = make_image(i % 3);
			x->exits.begin_ns = i % 3 ? x->exits.begin_ns : 0;
			x->exits.end_ns = i % 3 ? x->exits.end_ns : 0;
		}
		ok(lab_add_execution(lab, i % 2 ? b : a, x, &err));
		assert_true(x->id > 0);
	}
	lab_close(lab);
	lab = open_lab(LAB_READ);
	for (int side = 0; side < 2; side++) {
		execution_list list = { 0 };
		ok(lab_get_executions(lab, side ? b : a, LAB_IMAGES, &list, &err));
		assert_int_equal(list.count, COUNT / 2);
		for (size_t i = 0; i < list.count; i++)
			same_execution(&list.items[i], &stored[2 * i + (size_t)side]);
		release_executions(&list);
		ok(lab_get_executions(lab, side ? b : a, LAB_ROWS, &list, &err));
		assert_int_equal(list.items[0].processes.count, 0);
		assert_null(list.items[0].tasks_before.tasks);
		release_executions(&list);
	}
	run_list runs = { 0 };
	run_count_list counts = { 0 };
	ok(lab_list_runs(lab, NULL, 0, &runs, &counts, &err));
	assert_int_equal(counts.count, 2);
	assert_string_equal(runs.items[0].name, "b"); /* newest first */
	assert_int_equal(counts.items[0].executions, 6);
	assert_int_equal(counts.items[1].executions, 5);
	assert_int_equal(counts.items[1].warmups, 1);
	assert_float_equal(counts.items[1].mean_et_ns, 1007, 1e-9);	/* 3 5 7 9 11 */
	assert_float_equal(counts.items[0].mean_pt_exec_ns, 907, 1e-9); /* 2 .. 12 */
	for (size_t i = 0; i < runs.count; i++)
		run_release(&runs.items[i]);
	array_release(&runs);
	array_release(&counts);
	lab_close(lab);
	for (int i = 0; i < COUNT; i++)
		execution_release(&stored[i]);
	image_release(&last);
}

static void many_executions_are_stored_or_none(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t run = add_run(lab, "x");
	struct execution x[4];
	for (uint32_t i = 0; i < 4; i++) {
		make_execution(&x[i], i + 1);
		x[i].id = 0;
		x[i].tasks_before = i ? later_image(&x[0].tasks_before) : make_image(50);
		x[i].tasks_after = later_image(&x[i].tasks_before);
	}
	enum outcome outcome = x[2].outcome;
	x[2].outcome = (enum outcome)7;
	assert_int_equal(lab_add_executions(lab, run, x, 3, &err), -1);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(x[i].id, 0);
	assert_int_equal(count_executions(lab, run, LAB_IMAGES), 0);
	x[2].outcome = outcome;
	ok(lab_add_executions(lab, run, x, 3, &err));
	ok(lab_add_executions(lab, run, x, 0, &err));
	ok(lab_add_execution(lab, run, &x[3], &err)); /* coded against one of the three */
	assert_int_equal(query(lab, "SELECT count(*) FROM image WHERE kind = 0 AND base IS NOT "
				    "NULL"),
			 1);
	execution_list list = { 0 };
	ok(lab_get_executions(lab, run, LAB_IMAGES, &list, &err));
	assert_int_equal(list.count, 4);
	for (size_t i = 0; i < 4; i++) {
		same_execution(&list.items[i], &x[i]);
		execution_release(&x[i]);
	}
	release_executions(&list);
	lab_close(lab);
}

static void runs_are_found(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t id = 77;
	assert_int_equal(lab_find_run(lab, "last", &id, &err), -1);
	assert_non_null(strstr(err.hint, "no runs yet"));
	int64_t one = add_run(lab, "sort"), two = add_run(lab, "100% 'odd'\n\xff"),
		three = add_run(lab, "sort"), four = add_run(lab, "1");
	static const char *const unknown[] = {
		"@4", "99", "@", "@-1", "", "SORT", "99999999999999999999"
	};
	for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
		assert_int_equal(lab_find_run(lab, unknown[i], &id, &err), -1);
		assert_int_equal(err.code, EXIT_USAGE);
		assert_int_equal(id, 77);
	}
	assert_int_equal(lab_find_run(lab, "srot", &id, &err), -1);
	assert_non_null(strstr(err.hint, "'sort'"));
	ok(lab_find_run(lab, "sort", &id, &err));
	assert_int_equal(id, three);
	ok(lab_find_run(lab, "1", &id, &err)); /* a number is an id first */
	assert_int_equal(id, one);
	ok(lab_find_run(lab, "last", &id, &err));
	assert_int_equal(id, four);
	ok(lab_find_run(lab, "@2", &id, &err));
	assert_int_equal(id, two);
	ok(lab_find_run(lab, "100% 'odd'\n\xff", &id, &err));
	assert_int_equal(id, two);
	run_list runs = { 0 };
	ok(lab_list_runs(lab, "% 'ODD", 0, &runs, NULL, &err));
	assert_int_equal(runs.count, 1);
	assert_int_equal(runs.items[0].id, two);
	run_release(&runs.items[0]);
	array_release(&runs);
	ok(lab_list_runs(lab, "sleep", 3, &runs, NULL, &err));
	assert_int_equal(runs.count, 3);
	for (size_t i = 0; i < runs.count; i++)
		run_release(&runs.items[i]);
	array_release(&runs);
	static const char *const refused[] = { "", "12", "last", "@3" };
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(lab_rename_run(lab, one, refused[i], &err), -1);
	ok(lab_rename_run(lab, one, ODD, &err));
	ok(lab_find_run(lab, ODD, &id, &err));
	assert_int_equal(id, one);
	assert_int_equal(lab_rename_run(lab, 1234, "x", &err), -1);
	lab_close(lab);
}

static void runs_are_removed(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t ids[2], study;
	ok(lab_add_study(lab, "tare", &study, &err));
	for (int i = 0; i < 2; i++) {
		struct run run;
		make_run(&run, "x");
		run.study = study;
		ok(lab_add_run(lab, &run, &err));
		ids[i] = run.id;
		run_release(&run);
		struct execution x;
		make_execution(&x, 1);
		x.tasks_before = make_image(50);
		x.tasks_after = later_image(&x.tasks_before);
		ok(lab_add_execution(lab, ids[i], &x, &err));
		execution_release(&x);
	}
	assert_int_equal(lab_remove_run(lab, ids[0], &err), -1);
	assert_non_null(strstr(err.text, "is going"));
	assert_int_equal(count_executions(lab, ids[0], LAB_IMAGES), 1);
	ok(lab_end_run(lab, ids[0], RUN_COMPLETE, &err));
	ok(lab_end_run(lab, ids[1], RUN_FAILED, &err));
	ok(lab_remove_run(lab, ids[0], &err));
	assert_int_equal(lab_remove_run(lab, ids[0], &err), -1);
	assert_int_equal(query(lab, "SELECT count(*) FROM study"), 1);
	assert_int_equal(query(lab, "SELECT count(*) FROM image"), 2);
	assert_int_equal(query(lab, "SELECT count(*) FROM process"), 5);
	assert_int_equal(count_executions(lab, ids[1], LAB_IMAGES), 1);
	ok(lab_remove_run(lab, ids[1], &err));
	assert_int_equal(query(lab, "SELECT (SELECT count(*) FROM study) + (SELECT count(*) FROM "
				    "image) + (SELECT count(*) FROM process) + (SELECT count(*) "
				    "FROM execution)"),
			 0);
	assert_true(add_run(lab, "y") > ids[1]); /* numbers are not given twice */
	lab_close(lab);
}

/* ---- the file ---- */

static void an_empty_file_becomes_a_lab(void **state)
{
	(void)state;
	write_bytes(path, "", 0);
	err = open_error(LAB_READ);
	assert_non_null(strstr(err.text, "there is no lab"));
	struct lab *lab = open_lab(LAB_WRITE);
	assert_int_equal(query(lab, "PRAGMA user_version"), lab_schema_version);
	assert_int_equal(query(lab, "PRAGMA application_id"), 0x74617265);
	lab_close(lab);
}

static void a_missing_directory_is_made(void **state)
{
	(void)state;
	snprintf(path, sizeof path, "%s/a/b/lab.db", directory);
	err = open_error(LAB_READ);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_non_null(strstr(err.text, "there is no lab"));
	char deep[128];
	snprintf(deep, sizeof deep, "%s/a", directory);
	assert_int_equal(access(deep, F_OK), -1); /* reading made nothing */
	lab_close(open_lab(LAB_WRITE));
	struct stat st;
	snprintf(deep, sizeof deep, "%s/a/b", directory);
	assert_int_equal(stat(deep, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	snprintf(path, sizeof path, "%s/a/b/lab.db/c", directory); /* below a file */
	err = open_error(LAB_WRITE);
	snprintf(path, sizeof path, "%s/a", directory);
	err = open_error(LAB_WRITE);
	assert_non_null(strstr(err.text, "is a directory"));
}

static void refused_untouched(enum exit_code code, const char *text)
{
	for (enum lab_mode mode = LAB_READ; mode <= LAB_WRITE; mode++) {
		size_t before, after;
		char *bytes = bytes_of(path, &before);
		err = open_error(mode);
		assert_int_equal(err.code, code);
		if (!strstr(err.text, text)) {
			print_error("'%s' is not in '%s'\n", text, err.text);
			fail();
		}
		assert_non_null(strstr(err.text, "nothing was changed"));
		assert_true(*err.hint);
		char *now = bytes_of(path, &after);
		assert_int_equal(before, after);
		assert_memory_equal(bytes, now, before);
		xfree(bytes);
		xfree(now);
		for (int i = 0; i < 3; i++) {
			char beside[160];
			snprintf(beside, sizeof beside, "%s%s", path,
				 (const char *[]){ "-wal", "-shm", "-journal" }[i]);
			assert_int_equal(access(beside, F_OK), -1);
		}
	}
}

static void other_files_are_left_alone(void **state)
{
	(void)state;
	write_bytes(path, "just a text\n", 12);
	refused_untouched(EXIT_USAGE, "is not a tare lab");
	char big[5000];
	memset(big, 'x', sizeof big);
	write_bytes(path, big, sizeof big);
	refused_untouched(EXIT_USAGE, "is not a tare lab");
	unlink(path);
	static const char *const modes[] = { "DELETE", "WAL" };
	for (int i = 0; i < 2; i++) {
		sqlite3 *db;
		char sql[200];
		snprintf(sql, sizeof sql, "PRAGMA journal_mode = %s; CREATE TABLE t (x);",
			 modes[i]);
		assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
		assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
		sqlite3_close(db);
		refused_untouched(EXIT_USAGE, "database of another program");
		unlink(path);
	}
}

static void newer_and_damaged_labs_are_refused(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	add_run(lab, "x");
	lab_close(lab);
	execute_sql("PRAGMA user_version = 9");
	refused_untouched(EXIT_USAGE, "schema version 9");
	char back[40];
	snprintf(back, sizeof back, "PRAGMA user_version = %d", lab_schema_version);
	execute_sql(back);
	lab_close(open_lab(LAB_WRITE));
	assert_int_equal(truncate(path, 3 * 4096), 0);
	refused_untouched(EXIT_USAGE, "is damaged");
	assert_int_equal(truncate(path, 60), 0);
	refused_untouched(EXIT_USAGE, "is not a tare lab");
}

/* Impossible values in the rows must be an error, not an index out of an array. */
static void damaged_rows_are_an_error(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t run = add_run(lab, "x");
	struct execution x;
	make_execution(&x, 1);
	x.tasks_before = make_image(20);
	ok(lab_add_execution(lab, run, &x, &err));
	execution_release(&x);
	lab_close(lab);
	static const struct {
		const char *sql, *back;
	} cases[] = {
		{ "UPDATE image SET data = zeroblob(50)", NULL },
		{ "UPDATE image SET base = id", "UPDATE image SET base = NULL" },
		{ "UPDATE image SET base = 4000", "UPDATE image SET base = NULL" },
		{ "UPDATE image SET count = -1", "UPDATE image SET count = 20" },
		{ "UPDATE image SET count = 19", "UPDATE image SET count = 20" },
		{ "UPDATE image SET version = 2", "UPDATE image SET version = 1" },
		{ "UPDATE image SET data = x''", NULL },
		{ "UPDATE process SET pid = 1 << 40", "UPDATE process SET pid = 1" },
		{ "PRAGMA ignore_check_constraints = 1; UPDATE process SET role = 3",
		  "UPDATE process SET role = 1" },
		{ "PRAGMA ignore_check_constraints = 1; UPDATE execution SET outcome = -1",
		  "UPDATE execution SET outcome = 1" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		execute_sql("CREATE TABLE keep AS SELECT id, data FROM image");
		execute_sql(cases[i].sql);
		lab = open_lab(LAB_READ);
		execution_list list = { 0 };
		assert_int_equal(lab_get_executions(lab, run, LAB_IMAGES, &list, &err), -1);
		assert_int_equal(list.count, 0);
		assert_int_equal(err.code, EXIT_USAGE);
		assert_non_null(strstr(err.text, "is damaged"));
		lab_close(lab);
		execute_sql("UPDATE image SET data = (SELECT data FROM keep WHERE keep.id = "
			    "image.id); DROP TABLE keep");
		if (cases[i].back)
			execute_sql(cases[i].back);
		lab = open_lab(LAB_READ);
		assert_int_equal(count_executions(lab, run, LAB_IMAGES), 1);
		lab_close(lab);
	}
	execute_sql("PRAGMA ignore_check_constraints = 1; UPDATE run SET status = 200");
	lab = open_lab(LAB_READ);
	struct run got = { 0 };
	assert_int_equal(lab_get_run(lab, run, &got, &err), -1);
	lab_close(lab);
}

/* Runs the function in a child as nobody, who may not write where root may; 0 when it liked it. */
static int in_child(int (*function)(void), bool nobody)
{
	pid_t pid = fork();
	if (pid == 0) {
		if (nobody && getuid() == 0 && (setgid(65534) || setuid(65534)))
			_exit(99);
		_exit(function());
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int try_read_only(void)
{
	struct lab *lab;
	if (!lab_open(&lab, path, LAB_WRITE, &err) || err.code != EXIT_ENVIRONMENT || !*err.hint)
		return 1;
	/* reading works all the same, without -shm */
	if (lab_open(&lab, path, LAB_READ, &err))
		return 2;
	struct run run = { 0 };
	int failed = lab_get_run(lab, 1, &run, &err);
	run_release(&run);
	lab_close(lab);
	snprintf(path, sizeof path, "%s/new/lab.db", directory);
	if (!lab_open(&lab, path, LAB_WRITE, &err) || err.code != EXIT_ENVIRONMENT || !*err.hint)
		return 3;
	return failed ? 4 : 0;
}

static void read_only_directory(void **state)
{
	(void)state;
	snprintf(path, sizeof path, "%s/la?b #%%41.db", directory); /* not for SQLite's URIs */
	struct lab *lab = open_lab(LAB_WRITE);
	add_run(lab, "x");
	lab_close(lab);
	assert_int_equal(chmod(path, 0444), 0);
	assert_int_equal(chmod(directory, 0555), 0);
	assert_int_equal(in_child(try_read_only, true), 0);
}

static void reading_changes_nothing(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	add_run(lab, "x");
	lab_close(lab);
	size_t before, after;
	char *bytes = bytes_of(path, &before), beside[160];
	lab = open_lab(LAB_READ);
	assert_int_equal(query(lab, "SELECT count(*) FROM runs"), 1);
	lab_close(lab);
	char *now = bytes_of(path, &after);
	assert_int_equal(before, after);
	assert_memory_equal(bytes, now, before);
	snprintf(beside, sizeof beside, "%s-shm", path);
	assert_int_equal(access(beside, F_OK), -1);
	xfree(bytes);
	xfree(now);
}

static void in_memory(void **state)
{
	(void)state;
	struct lab *lab;
	assert_int_equal(chdir(directory), 0);
	ok(lab_open(&lab, LAB_IN_MEMORY, LAB_WRITE, &err));
	int64_t run = add_run(lab, "x");
	struct execution x;
	make_execution(&x, 1);
	ok(lab_add_execution(lab, run, &x, &err));
	ok(lab_end_run(lab, run, RUN_COMPLETE, &err));
	assert_int_equal(count_executions(lab, run, LAB_IMAGES), 1);
	execution_release(&x);
	lab_close(lab);
	assert_int_equal(access(":memory:", F_OK), -1);
	assert_int_equal(chdir("/"), 0);
}

/* ---- several processes ---- */

static int write_200(void)
{
	struct lab *lab;
	struct run run;
	make_run(&run, "parallel");
	if (lab_open(&lab, path, LAB_WRITE, &err) || lab_add_run(lab, &run, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	for (uint32_t i = 1; i <= 200; i++) {
		struct execution x;
		make_execution(&x, i);
		x.tasks_before = make_image(10);
		if (lab_add_execution(lab, run.id, &x, &err)) {
			fprintf(stderr, "%s\n", err.text);
			return 2;
		}
		execution_release(&x);
	}
	int failed = lab_end_run(lab, run.id, RUN_COMPLETE, &err);
	lab_close(lab);
	run_release(&run);
	return failed ? 3 : 0;
}

/* They make the lab at once, too. */
static void processes_write_at_once(void **state)
{
	(void)state;
	pid_t pids[4];
	for (int i = 0; i < 4; i++)
		if ((pids[i] = fork()) == 0)
			_exit(write_200());
	for (int i = 0; i < 4; i++) {
		int status;
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	struct lab *lab = open_lab(LAB_READ);
	assert_int_equal(query(lab, "SELECT count(*) FROM runs WHERE status = 'complete'"), 4);
	for (int64_t run = 1; run <= 4; run++)
		assert_int_equal(count_executions(lab, run, LAB_IMAGES), 200);
	lab_close(lab);
}

static void many_make_the_lab_at_once(void **state)
{
	(void)state;
	for (int round = 0; round < 10; round++) {
		pid_t pids[6];
		snprintf(path, sizeof path, "%s/%d.db", directory, round);
		for (int i = 0; i < 6; i++)
			if ((pids[i] = fork()) == 0) {
				struct lab *lab;
				if (lab_open(&lab, path, LAB_WRITE, &err)) {
					fprintf(stderr, "%s\n", err.text);
					_exit(1);
				}
				add_run(lab, "x");
				lab_close(lab);
				_exit(0);
			}
		int failed = 0, status;
		for (int i = 0; i < 6; i++) {
			waitpid(pids[i], &status, 0);
			failed += status != 0;
		}
		assert_int_equal(failed, 0);
		struct lab *lab = open_lab(LAB_READ);
		assert_int_equal(query(lab, "SELECT count(*) FROM runs"), 6);
		lab_close(lab);
	}
}

static void a_killed_writer_loses_nothing(void **state)
{
	(void)state;
	int report[2];
	assert_int_equal(pipe(report), 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct lab *lab = open_lab(LAB_WRITE);
		int64_t run = add_run(lab, "killed");
		for (uint32_t i = 1;; i++) {
			struct execution x;
			make_execution(&x, i);
			ok(lab_add_execution(lab, run, &x, &err));
			execution_release(&x);
			if (write(report[1], &i, sizeof i) != sizeof i)
				_exit(1);
		}
	}
	uint32_t committed = 0;
	while (committed < 50)
		assert_int_equal(read(report[0], &committed, sizeof committed), sizeof committed);
	struct run run = { 0 };
	struct lab *lab = open_lab(LAB_READ); /* while it is being written */
	ok(lab_get_run(lab, 1, &run, &err));
	assert_int_equal(run.status, RUN_GOING);
	run_release(&run);
	lab_close(lab);
	/* opening for writing must not declare a living owner gone */
	lab = open_lab(LAB_WRITE);
	assert_int_equal(lab_remove_run(lab, 1, &err), -1);
	lab_close(lab);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(report[1]);
	for (uint32_t i; read(report[0], &i, sizeof i) == sizeof i;)
		committed = i;
	close(report[0]);

	lab = open_lab(LAB_READ);
	ok(lab_get_run(lab, 1, &run, &err));
	assert_int_equal(run.status, RUN_INTERRUPTED);
	run_release(&run);
	size_t kept = count_executions(lab, 1, LAB_IMAGES);
	assert_true(kept == committed || kept == committed + 1);
	assert_int_equal(query(lab, "SELECT count(*) FROM runs WHERE status = 'going'"), 1);
	lab_close(lab);
	lab = open_lab(LAB_WRITE); /* now the view knows it too */
	assert_int_equal(query(lab, "SELECT count(*) FROM runs WHERE status = 'interrupted'"), 1);
	ok(lab_remove_run(lab, 1, &err));
	lab_close(lab);
}

/* ---- no room ---- */

/* Stores executions until it cannot; then what was stored must be there, and more room must help.
 */
enum fullness { FULL_DISK, FULL_FILE, FULL_PAGES };

static int fill_up(enum fullness how)
{
	bool limited = how == FULL_FILE;
	struct lab *lab;
	struct run run;
	make_run(&run, "full");
	if (lab_open(&lab, path, LAB_WRITE, &err) || lab_add_run(lab, &run, &err))
		return 1;
	struct rlimit limit = { 300000, RLIM_INFINITY };
	signal(SIGXFSZ, SIG_IGN);
	if (limited && setrlimit(RLIMIT_FSIZE, &limit))
		return 2;
	if (how == FULL_PAGES &&
	    sqlite3_exec(lab->db, "PRAGMA max_page_count = 200", NULL, NULL, NULL))
		return 2;
	size_t stored = 0;
	for (uint32_t i = 1; i < 100000; i++) {
		struct execution x;
		make_execution(&x, i);
		x.tasks_before = make_image(20);
		int failed = lab_add_execution(lab, run.id, &x, &err);
		execution_release(&x);
		if (failed)
			break;
		stored++;
	}
	if (stored < 10 || err.code != EXIT_ENVIRONMENT || !*err.hint ||
	    !strstr(err.text, "what was stored before is kept"))
		return 3;
	execution_list list = { 0 };
	if (lab_get_executions(lab, run.id, LAB_IMAGES, &list, &err) || list.count != stored)
		return 4;
	release_executions(&list);
	lab_close(lab);
	limit.rlim_cur = RLIM_INFINITY;
	if (limited && setrlimit(RLIMIT_FSIZE, &limit))
		return 5;
	if (lab_open(&lab, path, LAB_READ, &err) ||
	    lab_get_executions(lab, run.id, LAB_IMAGES, &list, &err) || list.count != stored)
		return 6;
	release_executions(&list);
	lab_close(lab);
	run_release(&run);
	return 0;
}

static int fill_limited(void)
{
	return fill_up(FULL_FILE);
}

/* Where nothing can be mounted (no root, a chroot) SQLite itself says that the disk is full. */
static int fill_tmpfs(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", directory, "tmpfs", 0, "size=2m"))
		return fill_up(FULL_PAGES);
	return fill_up(FULL_DISK);
}

/* A lab that finds no room at once leaves nothing behind. */
static int make_limited(void)
{
	struct lab *lab;
	struct rlimit limit = { 8192, RLIM_INFINITY };
	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &limit) || !lab_open(&lab, path, LAB_WRITE, &err))
		return 1;
	if (err.code != EXIT_ENVIRONMENT || !strstr(err.text, "cannot make lab") ||
	    strstr(err.text, "kept"))
		return 2;
	return access(path, F_OK) ? 0 : 3;
}

static void no_room_for_a_new_lab(void **state)
{
	(void)state;
	assert_int_equal(in_child(make_limited, false), 0);
}

static int fill_pages(void)
{
	snprintf(path, sizeof path, "%s/pages.db", directory);
	return fill_up(FULL_PAGES);
}

static void a_file_at_its_limit(void **state)
{
	(void)state;
	assert_int_equal(in_child(fill_limited, false), 0);
}

static void a_full_disk(void **state)
{
	(void)state;
	assert_int_equal(in_child(fill_tmpfs, false), 0);
	assert_int_equal(in_child(fill_pages, false), 0);
}

static int try_locked(void)
{
	struct lab *lab;
	struct run run;
	make_run(&run, "locked");
	if (lab_open(&lab, path, LAB_WRITE, &err) || !lab_add_run(lab, &run, &err))
		return 1;
	return err.code == EXIT_ENVIRONMENT && strstr(err.text, "locked") ? 0 : 2;
}

static void a_locked_lab(void **state)
{
	(void)state;
	lab_close(open_lab(LAB_WRITE));
	sqlite3 *db;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(in_child(try_locked, false), 0);
	sqlite3_close(db);
}

/* ---- under sudo ---- */

static int as_invoker(void)
{
	struct lab *lab;
	struct stat st;
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534", 1);
	snprintf(path, sizeof path, "%s/mine/lab.db", directory);
	for (int round = 0; round < 2; round++) {
		if (lab_open(&lab, path, LAB_WRITE, &err))
			return 1;
		struct run run;
		make_run(&run, "sudo");
		if (lab_add_run(lab, &run, &err))
			return 2;
		run_release(&run);
		static const char *const ends[] = { "", "-wal", "-shm" };
		for (int i = 0; i < 3; i++) {
			char file[160];
			snprintf(file, sizeof file, "%s%s", path, ends[i]);
			if (stat(file, &st) || st.st_uid != 65534 || st.st_gid != 65534)
				return 3 + i;
		}
		lab_close(lab);
	}
	return geteuid() == 0 ? 0 : 9;
}

static void files_belong_to_the_invoker_of_sudo(void **state)
{
	(void)state;
	if (getuid() != 0) {
		print_message("files under sudo: needs root\n");
		skip();
	}
	assert_int_equal(chmod(directory, 0777), 0);
	assert_int_equal(in_child(as_invoker, false), 0);
}

/* ---- SQL ---- */

static bool no_row(void *context, int columns, const char *const *names, const char *const *values,
		   const enum lab_type *types)
{
	(void)types;
	assert_null(values);
	assert_int_equal(columns, 2);
	assert_string_equal(names[1], "b");
	*(bool *)context = true;
	return true;
}

static bool odd_row(void *context, int columns, const char *const *names, const char *const *values,
		    const enum lab_type *types)
{
	(void)names;
	assert_int_equal(columns, 4);
	assert_true(types[0] == LAB_NULL && types[1] == LAB_REAL && types[2] == LAB_BLOB &&
		    types[3] == LAB_TEXT);
	assert_null(values[0]);
	assert_string_equal(values[1], "1.5");
	assert_string_equal(values[2], "X'00FF'");
	assert_string_equal(values[3], "it's");
	++*(int *)context;
	return false; /* stop: the second row is not given */
}

static bool ignore_row(void *context, int columns, const char *const *names,
		       const char *const *values, const enum lab_type *types)
{
	(void)context, (void)columns, (void)names, (void)values, (void)types;
	return true;
}

static void sql_only_reads(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	add_run(lab, "x");
	char attach[200], outside[128];
	snprintf(outside, sizeof outside, "%s/out.db", directory);
	snprintf(attach, sizeof attach, "ATTACH '%s' AS o", outside);
	char vacuum[200];
	snprintf(vacuum, sizeof vacuum, "VACUUM INTO '%s'", outside);
	const char *refused[] = { attach,
				  vacuum,
				  "DELETE FROM run",
				  "DROP VIEW runs",
				  "PRAGMA user_version = 7",
				  "PRAGMA journal_mode = DELETE",
				  "PRAGMA query_only = OFF",
				  "PRAGMA wal_checkpoint",
				  "BEGIN",
				  "SELECT load_extension('x')",
				  "CREATE TEMP TABLE t (x)",
				  "VACUUM",
				  "SELECT 1; DELETE FROM run",
				  "SELECT 1; SELECT 2",
				  "",
				  " -- x",
				  "SELECT",
				  "SELECT nothing FROM runs",
				  "REINDEX",
				  "ANALYZE",
				  "WITH a AS (SELECT 1) UPDATE run SET planned = 4",
				  "EXPLAIN DELETE FROM run",
				  "UPDATE sqlite_master SET type = 'x'",
				  "PRAGMA writable_schema = 1" };
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		if (!lab_sql(lab, refused[i], ignore_row, NULL, &err) || err.code != EXIT_USAGE) {
			print_error("not refused: %s\n", refused[i]);
			fail();
		}
	}
	assert_int_equal(access(outside, F_OK), -1);
	assert_int_equal(query(lab, "SELECT count(*) FROM runs; -- all\n ;"), 1);
	assert_int_equal(query(lab,
			       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
			       "WHERE i < 5) SELECT sum(i) FROM n"),
			 15);
	assert_int_equal(query(lab, "SELECT count(*) FROM pragma_table_info('machines')"), 5);
	bool called = false;
	ok(lab_sql(lab, "SELECT 1 AS a, 2 AS b WHERE 0", no_row, &called, &err));
	assert_true(called);
	int rows = 0;
	ok(lab_sql(lab, "SELECT NULL, 1.5, x'00ff', 'it''s' UNION ALL SELECT 1, 2, 3, 4", odd_row,
		   &rows, &err));
	assert_int_equal(rows, 1);
	add_run(lab, "y"); /* the authorizer is gone again */
	lab_close(lab);
}

struct described {
	struct lab *lab;
	char view[64];
	int columns, views;
};

static void judge_description(void *context, const char *view, const char *column,
			      const char *meaning)
{
	struct described *d = context;
	char sql[256];
	assert_true(strlen(meaning) > 2);
	if (!column) {
		snprintf(d->view, sizeof d->view, "%s", view);
		d->columns = 0;
		d->views++;
		snprintf(sql, sizeof sql, "SELECT count(*) >= 0 FROM %s", view);
		assert_int_equal(query(d->lab, sql), 1);
		return;
	}
	assert_string_equal(d->view, view);
	snprintf(sql, sizeof sql,
		 "SELECT count(*) FROM pragma_table_info('%s') WHERE cid = %d AND name = '%s'",
		 view, d->columns++, column);
	if (query(d->lab, sql) != 1) {
		print_error("%s.%s is described but not there\n", view, column);
		fail();
	}
}

static void count_columns(void *context, const char *view, const char *column, const char *meaning)
{
	(void)view;
	(void)meaning;
	*(long *)context += column != NULL;
}

static void views_are_described(void **state)
{
	(void)state;
	struct described d = { .lab = open_lab(LAB_WRITE) };
	ok(lab_views(judge_description, &d, &err));
	assert_int_equal(d.views, 37);
	long described = 0;
	ok(lab_views(count_columns, &described, &err));
	assert_int_equal(described,
			 query(d.lab, "SELECT count(*) FROM sqlite_schema s, "
				      "pragma_table_info(s.name) WHERE s.type = 'view'"));
	lab_close(d.lab);
}

/* ---- the codec ---- */

static void images_survive_coding(void **state)
{
	(void)state;
	struct image_codec *codec = image_codec_new();
	static const size_t sizes[] = { 0, 1, 2, 3, 100, 3000 };
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
		struct image a = make_image(sizes[s]), b = later_image(&a);
		if (sizes[s] > 2)
			a.tasks[2] = a.tasks[1]; /* the same task twice */
		const struct image *pairs[][2] = {
			{ &a, NULL }, { &b, &a }, { &a, &b }, { &a, &a }
		};
		for (int i = 0; i < 4; i++) {
			const void *bytes;
			size_t length;
			ok(image_encode(codec, pairs[i][0], pairs[i][1], &bytes, &length, &err));
			if (sizes[s] == 100 && i == 3)
				assert_true(length < 300); /* only at_ns differs */
			void *copy = xmalloc(length);
			memcpy(copy, bytes, length);
			struct image back = { 0 };
			ok(image_decode(codec, copy, length, pairs[i][0]->count, pairs[i][1], &back,
					&err));
			back.begin_ns = pairs[i][0]->begin_ns;
			back.end_ns = pairs[i][0]->end_ns;
			same_image(&back, pairs[i][0]);
			image_release(&back);
			xfree(copy);
		}
		image_release(&a);
		image_release(&b);
	}
	image_codec_free(codec);
}

/* Whatever is done to the bytes: an error, or the very same records. */
static void damaged_images_are_an_error(void **state)
{
	(void)state;
	struct image_codec *codec = image_codec_new();
	struct image base = make_image(40), image = later_image(&base);
	const void *bytes;
	size_t length;
	int survived = 0;
	for (int pass = 0; pass < 2; pass++) { /* compressed, and too small for that */
		if (pass)
			image.count = 1;
		ok(image_encode(codec, &image, &base, &bytes, &length, &err));
		unsigned char *good = xmalloc(length), *bad = xmalloc(length + 8);
		memcpy(good, bytes, length);
		for (int i = 0; i < 20000; i++) {
			size_t now = length, count = image.count;
			memcpy(bad, good, length);
			switch (random_number() % 5) {
			case 0:
				now = random_number() % length;
				break;
			case 1:
				now = length + 1 + random_number() % 8;
				memset(bad + length, (int)random_number(), now - length);
				break;
			case 2:
				count = random_number() % 5000;
				break;
			default:
				for (uint64_t k = random_number() % 3 + 1; k; k--)
					bad[random_number() % length] ^=
						(unsigned char)(1 << random_number() % 8);
			}
			struct image back = { 0 };
			if (image_decode(codec, bad, now, count, &base, &back, &err)) {
				assert_int_equal(err.code, EXIT_USAGE);
				assert_non_null(strstr(err.text, "damaged"));
				assert_null(back.tasks);
				continue;
			}
			survived++;
			assert_int_equal(back.count, image.count);
			assert_memory_equal(back.tasks, image.tasks,
					    image.count * sizeof *image.tasks);
			image_release(&back);
		}
		/* the wrong base is noticed as well */
		struct image back = { 0 };
		base.tasks[0].value[TASK_EXEC]++;
		int wrong = image_decode(codec, good, length, image.count, &base, &back, &err);
		base.tasks[0].value[TASK_EXEC]--;
		if (!pass)
			assert_int_equal(wrong, -1);
		image_release(&back);
		xfree(good);
		xfree(bad);
	}
	assert_true(survived < 40000 / 4);
	image_release(&base);
	image_release(&image);
	image_codec_free(codec);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	seed = 20261115;
	const struct CMUnitTest tests[] = {
		TEST(runs_come_back),
		TEST(executions_come_back),
		TEST(many_executions_are_stored_or_none),
		TEST(runs_are_found),
		TEST(runs_are_removed),
		TEST(an_empty_file_becomes_a_lab),
		TEST(a_missing_directory_is_made),
		TEST(other_files_are_left_alone),
		TEST(newer_and_damaged_labs_are_refused),
		TEST(damaged_rows_are_an_error),
		TEST(read_only_directory),
		TEST(reading_changes_nothing),
		TEST(in_memory),
		TEST(processes_write_at_once),
		TEST(many_make_the_lab_at_once),
		TEST(a_killed_writer_loses_nothing),
		TEST(a_file_at_its_limit),
		TEST(a_full_disk),
		TEST(no_room_for_a_new_lab),
		TEST(a_locked_lab),
		TEST(files_belong_to_the_invoker_of_sudo),
		TEST(sql_only_reads),
		TEST(views_are_described),
		TEST(images_survive_coding),
		TEST(damaged_images_are_an_error),
	};
	return cmocka_run_group_tests_name("lab", tests, NULL, NULL);
}
