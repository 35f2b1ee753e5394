#include "subject/dbms/odbc/library.h"

#include <dlfcn.h>
#include <string.h>

#define LIBRARY "libodbc.so.2"

static int load(struct odbc_library *into, struct error *err)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		error_set(err, EXIT_ENVIRONMENT, "cannot load %s: %s", LIBRARY, dlerror());
		return error_hint(err, "Debian's package is libodbc2");
	}
	struct odbc_library found = { 0 };
#define ODBC_FIND(function)                                    \
	*(void **)&found.function = dlsym(library, #function); \
	if (!found.function)                                   \
		return error_set(err, EXIT_ENVIRONMENT, "%s has no %s", LIBRARY, #function);
	ODBC_FUNCTIONS(ODBC_FIND)
#undef ODBC_FIND
	*into = found;
	return 0;
}

const struct odbc_library *odbc_library(struct error *err)
{
	static struct odbc_library loaded;
	if (!loaded.SQLAllocHandle && load(&loaded, err))
		return NULL;
	return &loaded;
}
