#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/invoker.h"
#include "base/options.h"
#include "base/text.h"

static void durations_are_read_with_their_units_and_odd_ones_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = { { "1", 1000000000 },
		     { "1.5s", 1500000000 },
		     { "250ms", 250000000 },
		     { "10us", 10000 },
		     { "7ns", 7 },
		     { "2m", 120000000000 },
		     { "1h", 3600000000000 },
		     { "0", 0 },
		     { "3 µs", 3000 } };
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		uint64_t ns = 99;
		assert_true(duration_parse(good[i].text, &ns));
		assert_int_equal(ns, good[i].ns);
	}
	static const char *const bad[] = { "",	  "s",	  "-1s", "1x",	"1 2",	      "1e400",
					   "nan", "0x10", "1s ", " 1s", "9999999999d" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		uint64_t ns = 99;
		assert_false(duration_parse(bad[i], &ns));
		assert_int_equal(ns, 99);
	}
}

static void fractions_are_read_with_or_without_a_percent_sign(void **state)
{
	(void)state;
	double x;
	assert_true(fraction_parse("0.2%", &x));
	assert_float_equal(x, 0.002, 1e-12);
	assert_true(fraction_parse("0.05", &x));
	assert_float_equal(x, 0.05, 1e-12);
	assert_false(fraction_parse("2", &x)); /* 2 % or 200 %? */
	assert_false(fraction_parse("-1%", &x));
	assert_false(fraction_parse("5 s", &x));
	assert_false(fraction_parse("%", &x));
}

static void text_is_shown_without_control_characters_and_cut_to_its_room(void **state)
{
	(void)state;
	char out[64];
	text_display("a\nb\x01\xff'\xc3\xa9", out, sizeof out);
	assert_string_equal(out, "a\\nb\\x01\\xff'\xc3\xa9");
	char tiny[8];
	text_display("abcdefghijk", tiny, sizeof tiny);
	assert_string_equal(tiny, "abcd…");
	text_display("abcdefg", tiny, sizeof tiny);
	assert_string_equal(tiny, "abcdefg");
	assert_int_equal(utf8_length("\xed\xa0\x80", 3), 0); /* a surrogate */
	assert_int_equal(utf8_length("\xc0\x80", 2), 0);     /* overlong */
	assert_int_equal(text_width("µs \xe6\xbc\xa2"), 5);
	char *clean = text_utf8("x\xff");
	assert_string_equal(clean, "x\xef\xbf\xbd");
	free(clean);
	char *quoted = text_shell_quoted("it's");
	assert_string_equal(quoted, "'it'\\''s'");
	free(quoted);
}

static void durations_are_shown_with_four_digits_in_a_fitting_unit(void **state)
{
	(void)state;
	static const struct {
		double ns;
		const char *text;
	} cases[] = { { 1.2345e9, "1.234 s" },
		      { 999.96e6, "1.000 s" },
		      { 45.6789e6, "45.68 ms" },
		      { 12, "12 ns" },
		      { 0, "0 ns" },
		      { 1500, "1.500 µs" },
		      { 123.4e9, "123.4 s" },
		      { 99.997e6, "100.0 ms" },
		      { 9.99996e6, "10.00 ms" } };
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char out[32];
		text_duration(cases[i].ns, 4, out, sizeof out);
		assert_string_equal(out, cases[i].text);
	}
}

struct sample {
	long runs;
	bool flag, other;
	const char *text;
	text_list lists;
	int choice;
	word_list words; /* the options point into them */
};

static int parse(struct sample *s, text_list *operands, struct error *err, const char *line)
{
	struct option_spec specs[] = {
		{ 'r', "runs", OPTION_INTEGER, &s->runs, "NUM", "runs", .min = 1 },
		{ 'i', "ignore", OPTION_FLAG, &s->flag, NULL, "flag" },
		{ 'N', NULL, OPTION_FLAG, &s->other, NULL, "other" },
		{ 't', "text", OPTION_TEXT, &s->text, "TEXT", "text" },
		{ 'P', "scan", OPTION_TEXTS, &s->lists, "VAR MIN MAX", "scan", .arity = 3 },
		{ 0, "order", OPTION_CHOICE, &s->choice, "sequential|random", "order" },
		{ 0 }
	};
	words_release(&s->words);
	assert_int_equal(words_split(line, &s->words, NULL), 0);
	enum help help = HELP_NONE;
	return options_parse("time", specs, (int)s->words.count, s->words.items, operands, &help,
			     err);
}

static void options_are_parsed_and_misspelt_ones_get_a_hint(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct sample s = { 0 };
	text_list operands = { 0 };
	assert_int_equal(parse(&s, &operands, &err,
			       "time -iNr5 one --text=x -P n 1 8 --order random -- --two"),
			 0);
	assert_true(s.flag && s.other);
	assert_int_equal(s.runs, 5);
	assert_string_equal(s.text, "x");
	assert_int_equal(s.lists.count, 3);
	assert_int_equal(s.choice, 1);
	assert_int_equal(operands.count, 2);
	assert_string_equal(operands.items[1], "--two");

	static const char *const bad[] = { "time --runs",     "time --runs 0",
					   "time -r x",	      "time --rnus 3",
					   "time -P n 1",     "time --order what",
					   "time --ignore=1", "time -z",
					   "time --runs=1.5", "time -r 99999999999999999999" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		err = (struct error)ERROR_INIT;
		assert_int_equal(parse(&s, &operands, &err, bad[i]), -1);
		assert_int_equal(err.code, EXIT_USAGE);
		assert_true(*err.text);
	}
	err = (struct error)ERROR_INIT;
	parse(&s, &operands, &err, "time --rnus 3");
	assert_string_equal(err.hint, "did you mean '--runs'?");
	words_release(&s.words);
	array_release(&s.lists);
	array_release(&operands);
}

static void words_are_split_as_a_shell_splits_them(void **state)
{
	(void)state;
	word_list w = { 0 };
	assert_int_equal(words_split("a 'b c' \"d\\\"e\" f\\ g ''", &w, NULL), 0);
	assert_int_equal(w.count, 5);
	assert_string_equal(w.items[1], "b c");
	assert_string_equal(w.items[2], "d\"e");
	assert_string_equal(w.items[3], "f g");
	assert_string_equal(w.items[4], "");
	assert_null(w.items[5]);
	words_release(&w);
	struct error err = ERROR_INIT;
	assert_int_equal(words_split("a 'b", &w, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
}

static void lists_of_texts_are_copied_and_hashes_are_those_of_fnv(void **state)
{
	(void)state;
	char first[] = "a";
	const char *const two[] = { first, "b", NULL };
	char **copy = xstrdup_all(two);
	first[0] = 'x';
	assert_string_equal(copy[0], "a");
	assert_string_equal(copy[1], "b");
	assert_null(copy[2]);
	xfree_all(copy);
	copy = xstrdup_all(NULL);
	assert_null(copy[0]);
	xfree_all(copy);
	xfree_all(NULL);
	assert_true(text_ends_with("x.db", ".db") && text_ends_with(".db", ".db"));
	assert_false(text_ends_with("db", ".db") || text_ends_with("x.db ", ".db"));
	/* by the authors of FNV */
	assert_true(text_hash("") == 0xcbf29ce484222325u);
	assert_true(text_hash("foobar") == 0x85944171f73967e8u);
}

static void programs_are_found_only_in_the_named_directories_of_the_path(void **state)
{
	(void)state;
	char *path = file_find_program("/nowhere::/bin:/usr/bin", "sh");
	assert_string_equal(path, "/bin/sh");
	free(path);
	assert_null(file_find_program("/nowhere:", "sh"));
	assert_null(file_find_program("", "sh"));
}

static void an_invoker_of_sudo_is_believed_only_if_its_ids_exist(void **state)
{
	(void)state;
	static const struct {
		const char *uid, *gid;
		bool present, invalid;
	} cases[] = { { NULL, "0", false, false },	  { "0", "0", false, false },
		      { "", "", false, false },		  { "abc", "0", false, true },
		      { "4294967295", "0", false, true }, { "4242424", "0", false, true },
		      { "65534", "x", false, true },	  { "65534", NULL, false, true },
		      { "65534", "65534", true, false } };
	if (geteuid() != 0)
		skip();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct invoker who;
		unsetenv("SUDO_UID");
		unsetenv("SUDO_GID");
		if (cases[i].uid)
			setenv("SUDO_UID", cases[i].uid, 1);
		if (cases[i].gid)
			setenv("SUDO_GID", cases[i].gid, 1);
		invoker_get(&who);
		assert_int_equal(who.present, cases[i].present);
		assert_int_equal(who.invalid, cases[i].invalid);
	}
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
}

/* A device may do something when it is opened; a pipe stands for one here. */
static void only_regular_files_are_opened(void **state)
{
	(void)state;
	char root[] = "/tmp/tare-regular-XXXXXX", file[64], pipe[64], link[64], events[512];
	assert_non_null(mkdtemp(root));
	snprintf(file, sizeof file, "%s/file", root);
	snprintf(pipe, sizeof pipe, "%s/pipe", root);
	snprintf(link, sizeof link, "%s/link", root);
	assert_int_equal(file_write(file, "text", 4, NULL), 0);
	assert_int_equal(mkfifo(pipe, 0600), 0);
	assert_int_equal(symlink("pipe", link), 0);
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	assert_true(watch >= 0 && inotify_add_watch(watch, pipe, IN_OPEN) >= 0);
	assert_int_equal(file_open_regular(pipe), -1);
	assert_int_equal(file_open_regular(link), -1);
	assert_int_equal(file_open_regular(root), -1);
	assert_int_equal(file_open_regular("/dev/null"), -1);
	assert_int_equal(file_open_regular("/nowhere/at/all"), -1);
	assert_int_equal(read(watch, events, sizeof events), -1);
	close(watch);
	int fd = file_open_regular(file);
	assert_int_equal(read(fd, events, sizeof events), 4);
	assert_memory_equal(events, "text", 4);
	close(fd);
	unlink(link);
	unlink(pipe);
	unlink(file);
	rmdir(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_regular_files_are_opened),
		cmocka_unit_test(durations_are_read_with_their_units_and_odd_ones_are_refused),
		cmocka_unit_test(fractions_are_read_with_or_without_a_percent_sign),
		cmocka_unit_test(text_is_shown_without_control_characters_and_cut_to_its_room),
		cmocka_unit_test(durations_are_shown_with_four_digits_in_a_fitting_unit),
		cmocka_unit_test(options_are_parsed_and_misspelt_ones_get_a_hint),
		cmocka_unit_test(words_are_split_as_a_shell_splits_them),
		cmocka_unit_test(lists_of_texts_are_copied_and_hashes_are_those_of_fnv),
		cmocka_unit_test(programs_are_found_only_in_the_named_directories_of_the_path),
		cmocka_unit_test(an_invoker_of_sudo_is_believed_only_if_its_ids_exist),
	};
	return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
