/* The journal of a quiet machine, which root believes: whatever is in the file, it is refused with
 * a text, or every change that it tells of is of a knob that tare has, and every file is in /proc
 * or /sys. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "quiet/journal.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[256];
static int fd;

static void remove_file(void)
{
	unlink(path);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	const char *folder = getenv("TARE_FUZZ_DIR");
	snprintf(path, sizeof path, "%s/tare-fuzz-%d.journal", folder ? folder : "/dev/shm",
		 (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		abort();
	atexit(remove_file);
	return 0;
}

static bool is_below(const char *file)
{
	size_t n = strlen(file);
	return (strncmp(file, "/sys/", 5) == 0 || strncmp(file, "/proc/", 6) == 0) &&
	       !strstr(file, "/../") && (n < 3 || strcmp(file + n - 3, "/..") != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct journal j = JOURNAL_INIT;
	struct error err = ERROR_INIT;
	const struct quiet_options o = { .journal = path };
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	if (journal_open(&j, &o, &err)) {
		if (!*err.text)
			abort();
	} else {
		if (j.fd < 0 || j.whole < 0 || (size_t)j.whole > size || j.owner < 0)
			abort();
		for (size_t i = 0; i < j.changes.count; i++) {
			const struct change *c = &j.changes.items[i];
			if (!quiet_knob_find(c->knob) || c->kind >= CHANGE_KINDS || !c->what ||
			    (c->kind == CHANGE_FILE && !is_below(c->what)))
				abort();
		}
		journal_is_abandoned(&j);
	}
	journal_release(&j);
	return 0;
}
