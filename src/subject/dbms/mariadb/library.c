#include "subject/dbms/mariadb/library.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define FILE_NAME "libmariadb.so.3"

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
#define ROW(name) { #name, offsetof(struct mariadb_library, name) },
	MARIADB_FUNCTIONS(ROW)
#undef ROW
};

static int cannot_load(struct error *err)
{
	const char *reason = dlerror();
	error_set(err, EXIT_ENVIRONMENT, "cannot load %s: %s", FILE_NAME,
		  reason ? reason : "it lacks a function");
	return error_hint(err, "it is in Debian's package libmariadb3");
}

const struct mariadb_library *mariadb_library(struct error *err)
{
	static struct mariadb_library library;
	static bool loaded;
	if (loaded)
		return &library;
	void *handle = dlopen(FILE_NAME, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		cannot_load(err);
		return NULL;
	}
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		void *found = dlsym(handle, functions[i].name);
		if (!found) {
			cannot_load(err);
			dlclose(handle);
			return NULL;
		}
		memcpy((char *)&library + functions[i].offset, &found, sizeof found);
	}
	/* the first mysql_init() has SIGPIPE ignored in the whole process, which the subjects that
	 * tare starts would inherit; the library itself sends without that signal */
	struct sigaction before;
	sigaction(SIGPIPE, NULL, &before);
	library.mysql_close(library.mysql_init(NULL));
	sigaction(SIGPIPE, &before, NULL);
	loaded = true;
	return &library;
}
