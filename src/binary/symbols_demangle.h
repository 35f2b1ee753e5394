/* A separate file, because libiberty's headers declare functions with names that base/ uses. */
#ifndef TARE_BINARY_SYMBOLS_DEMANGLE_H
#define TARE_BINARY_SYMBOLS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* Demangles a name of C++ or Rust without parameters, like perf. False: not mangled, or too
 * long. */
bool demangle(const char *name, char *into, size_t size);

#endif
