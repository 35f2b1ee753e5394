#include "serve/library.h"

#include <dlfcn.h>

#define LIBRARY "libmicrohttpd.so.12"

static int load(struct mhd_library *into, struct error *err)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		error_set(err, EXIT_ENVIRONMENT, "cannot load %s: %s", LIBRARY, dlerror());
		return error_hint(err, "Debian's package is libmicrohttpd12");
	}
	struct mhd_library found = { 0 };
#define MHD_FIND(function)                                     \
	*(void **)&found.function = dlsym(library, #function); \
	if (!found.function)                                   \
		return error_set(err, EXIT_ENVIRONMENT, "%s has no %s", LIBRARY, #function);
	MHD_FUNCTIONS(MHD_FIND)
#undef MHD_FIND
	*into = found;
	return 0;
}

const struct mhd_library *mhd_library(struct error *err)
{
	static struct mhd_library loaded;
	if (!loaded.MHD_start_daemon && load(&loaded, err))
		return NULL;
	return &loaded;
}
