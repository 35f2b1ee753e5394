/* Apart from the rest because libiberty's headers declare functions by names that base/ has. */
#ifndef TARE_BINARY_SYMBOLS_DEMANGLE_H
#define TARE_BINARY_SYMBOLS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* The name of C++ or Rust as people write it, without parameters, as perf does. False: it is none,
 * or does not fit. */
bool demangle(const char *name, char *into, size_t size);

#endif
