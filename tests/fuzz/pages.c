/* A lab that is damaged as a file: bytes of its pages, or its end. The first byte of the input is
 * the command that reports it; then come changes: three bytes say where, one how many, and the new
 * bytes. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "labs.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *path;
static char *whole;
static size_t length;
static int fd;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	path = labs_begin();
	whole = file_read_bytes(path, &length);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (!whole || fd < 0)
		abort();
	return 0;
}

static void put(const void *bytes, size_t count, size_t at)
{
	if (pwrite(fd, bytes, count, (off_t)at) != (ssize_t)count)
		abort();
}

/* Makes the changes, or puts back what was there. */
static void change(const uint8_t *at, const uint8_t *end, bool back)
{
	while (end - at > 4) {
		size_t place = ((size_t)at[0] << 16 | (size_t)at[1] << 8 | at[2]) % length;
		size_t count = 1 + at[3] % 64;
		at += 4;
		if (count > (size_t)(end - at))
			count = (size_t)(end - at);
		if (count > length - place)
			count = length - place;
		put(back ? (const void *)(whole + place) : at, count, place);
		at += count;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lab *lab;
	struct error err = ERROR_INIT;
	if (size < 5)
		return 0;
	change(data + 1, data + size, false);
	bool cut = data[1] == 255;
	if (cut && ftruncate(fd, (off_t)(((size_t)data[2] << 16 | data[3]) % length)))
		abort();
	if (lab_open(&lab, path, LAB_READ, &err) == 0) {
		labs_run(lab, *data);
		lab_close(lab);
	} else if (!*err.text) {
		abort();
	}
	if (cut)
		put(whole, length, 0);
	else
		change(data + 1, data + size, true);
	return 0;
}
