#include "labs.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/options.h"
#include "base/text.h"
#include "cmd/cmd.h"

/* What is printed goes to PLAIN: a terminal; JSON: a program that reads JSON; DATA: another. */
enum printed { PLAIN, JSON, DATA };

/* Runs 1 to 4 are of commands, 5 is a duet, 6 and 7 are noise, 8 and 9 profiles, 10 and 11 queries;
 * make-lab records them in this order. At the end those that were added last: the seeds in
 * corpus/rows and corpus/pages have the number of the line. */
static const struct {
	int (*run)(struct lab_access *lab, int argc, char **argv);
	enum printed printed;
	const char *line;
} commands[] = {
	{ cmd_list, PLAIN, "list" },
	{ cmd_list, JSON, "list --json" },
	{ cmd_show, PLAIN, "show 1" },
	{ cmd_show, PLAIN, "show 2" },
	{ cmd_show, JSON, "show --json 2" },
	{ cmd_show, PLAIN, "show 4 3" },
	{ cmd_show, PLAIN, "show --ledger 2" },
	{ cmd_show, PLAIN, "show --ledger -e 1 2" },
	{ cmd_show, PLAIN, "show --counters 2 1" },
	{ cmd_show, PLAIN, "show -p 2" },
	{ cmd_show, PLAIN, "show -x 2" },
	{ cmd_show, PLAIN, "show --machine 2" },
	{ cmd_show, PLAIN, "show 5" },
	{ cmd_show, JSON, "show --json 5" },
	{ cmd_show, PLAIN, "show -x 5" },
	{ cmd_show, PLAIN, "show 6" },
	{ cmd_show, JSON, "show --json 7" },
	{ cmd_show, PLAIN, "show 8" },
	{ cmd_show, JSON, "show --json 9" },
	{ cmd_show, PLAIN, "show 10" },
	{ cmd_show, JSON, "show --json 10" },
	{ cmd_show, PLAIN, "show -p 10" },
	{ cmd_explain, PLAIN, "explain 2" },
	{ cmd_explain, JSON, "explain --json 2 1" },
	{ cmd_explain, PLAIN, "explain 10" },
	{ cmd_compare, PLAIN, "compare 2 3" },
	{ cmd_compare, JSON, "compare -f json 1 3 4" },
	{ cmd_compare, PLAIN, "compare 5 5" },
	{ cmd_compare, PLAIN, "compare 10 11" },
	{ cmd_emp, PLAIN, "emp 1" },
	{ cmd_emp, JSON, "emp --json 1" },
	{ cmd_emp, PLAIN, "emp -s 1" },
	{ cmd_export, DATA, "export -f csv -x 2" },
	{ cmd_export, DATA, "export -f markdown 2 3" },
	{ cmd_export, DATA, "export -f orgmode 1" },
	{ cmd_export, JSON, "export 1 2" },
	{ cmd_export, DATA, "export --perfetto 2" },
	{ cmd_export, DATA, "export --perfetto 6" },
	{ cmd_export, DATA, "export -f csv 7" },
	{ cmd_export, DATA, "export -f csv 9" },
	{ cmd_export, DATA, "export -f markdown 10" },
	{ cmd_export, DATA, "export -f csv -x 11" },
	{ cmd_noise, PLAIN, "noise show 7" },
	{ cmd_noise, PLAIN, "noise diff 6 7" },
	{ cmd_noise, JSON, "noise diff --json 6 7" },
	{ cmd_profile, PLAIN, "profile report 8" },
	{ cmd_profile, PLAIN, "profile report --tree 8" },
	{ cmd_profile, PLAIN, "profile report --by object 9" },
	{ cmd_profile, PLAIN, "profile report --by line 8" },
	{ cmd_profile, PLAIN, "profile diff 8 9" },
	{ cmd_profile, DATA, "profile export -f pprof 8" },
	{ cmd_profile, DATA, "profile export -f folded 8" },
	{ cmd_profile, JSON, "profile export -f speedscope 8" },
	{ cmd_profile, JSON, "profile export -f firefox 8" },
	{ cmd_query, PLAIN, "query report --checks 10" },
	{ cmd_query, PLAIN, "query report --plans --all 10" },
	{ cmd_query, PLAIN, "query report --model 11" },
	{ cmd_query, PLAIN, "query report --paragraphs --paper 10" },
	{ cmd_query, PLAIN, "query report --ledger 1 10" },
	{ cmd_query, JSON, "query compare --json 10 11" },
	{ cmd_cutoffs, PLAIN, "cutoffs studies" },
	{ cmd_cutoffs, JSON, "cutoffs show --json 1" },
	{ cmd_cutoffs, PLAIN, "cutoffs show 1" },
	{ cmd_report, JSON, "report --json 1 2 3 4" },
	{ cmd_report, JSON, "report --json 5" },
	{ cmd_report, JSON, "report --json 6 7" },
	{ cmd_report, JSON, "report --json 8 9" },
	{ cmd_report, JSON, "report --json 10 11" },
	{ cmd_report, JSON, "report --json --daemons=1" },
	{ cmd_sql, DATA, "sql -f csv 'SELECT * FROM runs, executions LIMIT 9'" },
};
#define COMMANDS (sizeof commands / sizeof *commands)

static char path[256];

static void remove_file(void)
{
	static const char *const ends[] = { "", "-wal", "-shm", "-journal" };
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		FREED char *name = xprintf("%s%s", path, ends[i]);
		unlink(name);
	}
}

static void unpack(void)
{
	size_t packed;
	FREED char *bytes = file_read_bytes(TARE_FUZZ_LAB, &packed);
	unsigned long long size = bytes ? ZSTD_getFrameContentSize(bytes, packed) : 0;
	if (!size || size > 1 << 24)
		abort();
	FREED char *lab = xmalloc(size);
	struct error err = ERROR_INIT;
	if (ZSTD_decompress(lab, size, bytes, packed) != size || file_write(path, lab, size, &err))
		abort();
}

const char *labs_begin(void)
{
	const char *folder = getenv("TARE_FUZZ_DIR");
	snprintf(path, sizeof path, "%s/tare-fuzz-%d.db", folder ? folder : "/dev/shm",
		 (int)getpid());
	unpack();
	atexit(remove_file);
	/* neither a collector nor a quiet machine of this one's is asked */
	setenv("TARE_RUNTIME_DIR", "/nonexistent", 1);
	setenv("NO_COLOR", "1", 1);
	setenv("TZ", "UTC", 1);
	int out = memfd_create("printed", MFD_CLOEXEC);
	if (out < 0 || dup2(out, STDOUT_FILENO) < 0)
		abort();
	close(out);
	/* libFuzzer and the sanitizers keep their own */
	stderr = fopen("/dev/null", "we");
	return path;
}

static bool is_plain(const char *text, size_t length)
{
	for (size_t i = 0, n; i < length; i += n) {
		n = utf8_length(text + i, length - i);
		unsigned char c = (unsigned char)text[i];
		if (!n || (c < ' ' && c != '\n') || c == 0x7f ||
		    (c == 0xc2 && (unsigned char)text[i + 1] < 0xa0))
			return false;
	}
	return true;
}

static void check(enum printed printed, const char *text, size_t length)
{
	json_error_t why;
	if (printed == PLAIN && !is_plain(text, length))
		abort();
	if (printed != JSON)
		return;
	json_t *all = json_loadb(text, length, 0, &why);
	if (!all)
		abort();
	json_decref(all);
}

void labs_run(struct lab *lab, uint8_t command)
{
	size_t which = command % COMMANDS;
	word_list words = { 0 };
	struct error err = ERROR_INIT;
	if (words_split(commands[which].line, &words, &err))
		abort();
	struct lab_access access = { .need = READS_LAB, .open = lab };
	int code = commands[which].run(&access, (int)words.count, words.items);
	words_release(&words);
	fflush(stdout);
	off_t length = lseek(STDOUT_FILENO, 0, SEEK_CUR);
	if (length > 0 && code == 0) {
		char *text = mmap(NULL, (size_t)length, PROT_READ, MAP_SHARED, STDOUT_FILENO, 0);
		if (text == MAP_FAILED)
			abort();
		check(commands[which].printed, text, (size_t)length);
		munmap(text, (size_t)length);
	}
	if (lseek(STDOUT_FILENO, 0, SEEK_SET) || ftruncate(STDOUT_FILENO, 0))
		abort();
}
