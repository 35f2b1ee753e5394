/* Cutoffs in the lab: those of the newest study of a machine, and what was edited by hand, which is
 * not lost to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"
#include "lab/lab.h"
#include "study.h"

static void add_one(struct lab *lab, int64_t machine, const char *daemon, uint64_t from,
		    uint64_t end)
{
	struct study s = one_cutoff(machine, daemon, from, end);
	ok(lab_add_study(lab, &s, &err));
	study_release(&s);
}

static void a_study_replaces_cutoffs(void **state)
{
	(void)state;
	struct machine m, other;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t machine = add_host(lab, "here", "6.1", &m);
	add_host(lab, "there", "6.1", &other);
	put_new(lab, &other, "cron", 0, 0, 9);
	in_force(lab, &m, 0, "");
	add_one(lab, machine, "cron", 0, 10);
	add_one(lab, machine, "atd", 0, 10); /* cron's, not edited, goes */
	in_force(lab, &m, 2, "atd:0-10=5");
	put_new(lab, &m, "sshd", 0, 0, 7);    /* a daemon that no study knows */
	put_new(lab, &m, "cron", 0, 5, 1);    /* in its range */
	put_new(lab, &m, "cron", 50, 100, 2); /* and beside it */
	in_force(lab, &m, 2, "atd:0-10=5 cron:0-5=1* cron:50-100=2* sshd:0-0=7*");
	add_one(lab, machine, "cron", 4, 50);
	in_force(lab, &m, 3, "cron:4-50=5 cron:50-100=2* sshd:0-0=7*");
	/* a study that found nothing */
	struct study none = { .machine = machine };
	ok(lab_add_study(lab, &none, &err));
	in_force(lab, &m, 0, "cron:50-100=2* sshd:0-0=7*"); /* none is the study's */
	in_force(lab, &other, 0, "cron:0-0=9*");
	/* removed again: the one before holds, but for what is edited */
	put_new(lab, &m, "cron", 0, 5, 8);
	ok(lab_remove_study(lab, 4, &err));
	in_force(lab, &m, 0, "cron:0-5=8* cron:50-100=2* sshd:0-0=7*");
	ok(lab_remove_study(lab, 1, &err)); /* not in force */
	in_force(lab, &m, 0, "cron:0-5=8* cron:50-100=2* sshd:0-0=7*");
	ok(lab_remove_study(lab, 3, &err));
	in_force(lab, &m, 2, "atd:0-10=5 cron:0-5=8* cron:50-100=2* sshd:0-0=7*");
	struct study expected = one_cutoff(machine, "atd", 0, 10);
	expected.id = 2;
	expected.cutoffs.items[0].id = query(lab, "SELECT id FROM cutoffs WHERE daemon = 'atd'");
	comes_back(lab, &m, 0, &expected); /* it knows which cutoff its own is now */
	study_release(&expected);
	ok(lab_remove_study(lab, 2, &err));
	in_force(lab, &m, 0, "cron:0-5=8* cron:50-100=2* sshd:0-0=7*");
	struct lab_cutoffs got = { 0 };
	ok(lab_get_cutoffs(lab, &m, &got, &err));
	/* the oldest */
	assert_int_equal(got.made_at_ns,
			 query(lab, "SELECT edited_at_ns FROM cutoff WHERE daemon = 'sshd'"));
	assert_int_equal(got.machine.facts.count, 0);
	lab_cutoffs_release(&got);
	lab_close(lab);
	machine_release(&m);
	machine_release(&other);
}

static void cutoffs_are_edited(void **state)
{
	(void)state;
	struct machine m, other;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t machine = add_host(lab, "here", "6.1", &m);
	add_host(lab, "there", "6.1", &other);
	struct study s = one_cutoff(machine, "cron", 10, 20);
	add_cutoff(&s, "cron", 20, 0, 6);
	ok(lab_add_study(lab, &s, &err));
	int64_t id = s.cutoffs.items[0].id, second = s.cutoffs.items[1].id, none = 0;
	ok(put_cutoff(lab, &m, &id, "cron", 5, 20, 99));
	assert_int_equal(id, s.cutoffs.items[0].id);
	in_force(lab, &m, s.id, "cron:5-20=99* cron:20-0=6");
	/* the study says what it found, still */
	s.cutoffs.items[0].id = 0;
	comes_back(lab, &m, 0, &s);
	study_release(&s);
	static const struct {
		uint64_t from, end;
	} overlapping[] = { { 0, 0 }, { 0, 6 }, { 19, 20 }, { 7, 8 }, { 30, 0 }, { 1000, 1001 } };
	for (size_t i = 0; i < sizeof overlapping / sizeof *overlapping; i++) {
		assert_refused(put_cutoff(lab, &m, &none, "cron", overlapping[i].from,
					  overlapping[i].end, 1),
			       "overlaps");
		assert_true(*err.hint);
	}
	assert_refused(put_cutoff(lab, &m, &id, "cron", 5, 21, 1), "overlaps");
	assert_refused(put_cutoff(lab, &m, &none, "x", 5, 5, 1), "cannot be for programs");
	assert_refused(put_cutoff(lab, &m, &none, "x", 6, 5, 1), "cannot be for programs");
	assert_refused(put_cutoff(lab, &m, &none, "x", UINT64_MAX, 0, 1), "cannot be for programs");
	assert_refused(put_cutoff(lab, &m, &none, "x", 0, UINT64_MAX, 1), "cannot be for programs");
	static const char *const names[] = { "", "0123456789abcdef", "a\nb", "\xff", "\x7f" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		assert_refused(put_cutoff(lab, &m, &none, names[i], 0, 5, 1), "cannot be called");
	int64_t unknown = 99, theirs = id;
	assert_refused(put_cutoff(lab, &m, &unknown, "x", 0, 5, 1), "no cutoff 99");
	assert_refused(put_cutoff(lab, &other, &theirs, "x", 0, 5, 1), "no cutoff");
	in_force(lab, &m, 1, "cron:5-20=99* cron:20-0=6");
	put_new(lab, &m, "cron", 0, 5, 0); /* up to where the next begins */
	put_new(lab, &m, "0123456789abcde", 7, 8, INT64_MAX >> 40);
	ok(put_cutoff(lab, &m, &second, "\xc3\xa4 (b)", 0, 0, 3)); /* of another daemon now */
	in_force(lab, &m, 0,
		 "0123456789abcde:7-8=8388607* cron:0-5=0* cron:5-20=99* \xc3\xa4 (b):0-0=3*");
	assert_refused(lab_remove_cutoff(lab, &other, id, &err), "no cutoff");
	assert_refused(lab_remove_cutoff(lab, &m, 99, &err), "no cutoff 99");
	ok(lab_remove_cutoff(lab, &m, id, &err));
	put_new(lab, &other, "cron", 0, 0, 1);
	in_force(lab, &m, 0, "0123456789abcde:7-8=8388607* cron:0-5=0* \xc3\xa4 (b):0-0=3*");
	ok(lab_remove_cutoff(lab, &m, 0, &err));
	ok(lab_remove_cutoff(lab, &m, 0, &err)); /* none is no error */
	in_force(lab, &m, 1, "");
	in_force(lab, &other, 0, "cron:0-0=1*");
	lab_close(lab);
	lab = open_lab(LAB_READ);
	assert_refused(put_cutoff(lab, &m, &none, "x", 0, 5, 1), "for reading");
	assert_refused(lab_remove_cutoff(lab, &m, 0, &err), "for reading");
	lab_close(lab);
	machine_release(&m);
	machine_release(&other);
}

/* As an import does. */
static void cutoffs_are_replaced(void **state)
{
	(void)state;
	struct machine m;
	struct lab_cutoffs got = { 0 };
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t machine = add_host(lab, "here", "6.1", &m);
	struct cutoff list[] = { { .daemon = "cron", .from_ns = 3, .below_ns = 9, .cutoff_ns = 1 },
				 { .daemon = "new", .cutoff_ns = 2 },
				 { .daemon = "cron", .from_ns = 9, .cutoff_ns = 3 } };
	add_one(lab, machine, "cron", 0, 10);
	put_new(lab, &m, "cron", 10, 20, 7);
	put_new(lab, &m, "atd", 0, 0, 8);
	ok(lab_replace_cutoffs(lab, &m, list, 0, 1000, &err)); /* none is no change */
	in_force(lab, &m, 1, "atd:0-0=8* cron:0-10=5 cron:10-20=7*");
	/* a bad one at the end changes nothing */
	const struct cutoff good = list[2];
	static const struct {
		struct cutoff bad;
		const char *says;
	} cases[] = {
		{ { .daemon = "0123456789abcdef" }, "cannot be called" },
		{ { .daemon = "" }, "cannot be called" },
		{ { .daemon = "a\nb" }, "cannot be called" },
		{ { .daemon = "cron", .from_ns = 8 }, "overlaps" },
		{ { .daemon = "x", .from_ns = 5, .below_ns = 5 }, "cannot be for programs" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		list[2] = cases[i].bad;
		assert_refused(lab_replace_cutoffs(lab, &m, list, 3, 1000, &err), cases[i].says);
		in_force(lab, &m, 1, "atd:0-0=8* cron:0-10=5 cron:10-20=7*");
	}
	list[2] = good;
	/* nor does one that cannot be stored, when others are */
	execute_sql("CREATE TRIGGER full BEFORE INSERT ON cutoff WHEN new.daemon = 'new'"
		    " BEGIN SELECT raise(ABORT, 'full'); END");
	assert_int_equal(lab_replace_cutoffs(lab, &m, list, 3, 1000, &err), -1);
	in_force(lab, &m, 1, "atd:0-0=8* cron:0-10=5 cron:10-20=7*");
	execute_sql("DROP TRIGGER full");
	ok(lab_replace_cutoffs(lab, &m, list, 3, 1000, &err));
	in_force(lab, &m, 0, "atd:0-0=8* cron:3-9=1* cron:9-0=3* new:0-0=2*");
	ok(lab_get_cutoffs(lab, &m, &got, &err));
	assert_int_equal(got.made_at_ns, 1000); /* as the file says; the oldest */
	assert_int_equal(got.machine.facts.count, 0);
	lab_cutoffs_release(&got);
	ok(lab_replace_cutoffs(lab, &m, list, 3, 0, &err)); /* onto themselves; not known when */
	ok(lab_get_cutoffs(lab, &m, &got, &err));
	assert_true(got.made_at_ns > 1000 && got.cutoffs.count == 4);
	lab_cutoffs_release(&got);
	lab_close(lab);
	machine_release(&m);
}

static void impossible_studies_are_refused(void **state)
{
	(void)state;
	struct machine m;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t machine = add_host(lab, "here", "6.1", &m);
	add_one(lab, machine, "cron", 0, 10);
	static const struct {
		const char *daemon;
		uint64_t from, end;
		const char *text;
	} cases[] = {
		{ "", 0, 0, "no daemon" },
		{ "atd", 5, 6, "overlaps" },
		{ "x", 6, 6, "cannot be for programs" },
		{ "x", 0, UINT64_MAX, "cannot be for programs" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct study s = one_cutoff(machine, "atd", 0, 0);
		add_cutoff(&s, cases[i].daemon, cases[i].from, cases[i].end, 1);
		assert_refused(lab_add_study(lab, &s, &err), cases[i].text);
		assert_true(s.id == 0 && s.cutoffs.items[0].id == 0);
		study_release(&s);
	}
	struct study s = one_cutoff(0, "atd", 0, 0);
	assert_refused(lab_add_study(lab, &s, &err), "no machine 0");
	s.machine = machine;
	s.runs[0].present = true;
	s.runs[0].run = 99; /* there is no such run */
	assert_int_equal(lab_add_study(lab, &s, &err), -1);
	assert_int_equal(s.id, 0);
	study_release(&s);
	in_force(lab, &m, 1, "cron:0-10=5"); /* and nothing changed */
	lab_close(lab);
	machine_release(&m);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_study_replaces_cutoffs),
		TEST(cutoffs_are_edited),
		TEST(cutoffs_are_replaced),
		TEST(impossible_studies_are_refused),
	};
	return cmocka_run_group_tests_name("lab-cutoffs", tests, NULL, NULL);
}
