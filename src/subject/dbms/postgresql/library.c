#include <dlfcn.h>

#include "subject/dbms/postgresql/postgresql.h"

#define LIBRARY "libpq.so.5"

const struct libpq *libpq_load(struct error *err)
{
	static struct libpq loaded;
	static void *library;
	if (library)
		return &loaded;
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	bool whole = handle != NULL;
#define LIBPQ_LOOK(name) \
	whole = whole && (loaded.name = (__typeof__(name) *)dlsym(handle, #name)) != NULL;
	LIBPQ_FUNCTIONS(LIBPQ_LOOK)
#undef LIBPQ_LOOK
	if (whole) {
		library = handle;
		return &loaded;
	}
	error_set(err, EXIT_ENVIRONMENT, "cannot load " LIBRARY ": %s", dlerror());
	error_hint(err, "install the package libpq5");
	if (handle)
		dlclose(handle);
	return NULL;
}
