/* Locals that are released when their scope ends, however it is left: `FREED char *text =
 * file_read(path);`. Do not use it for a value that is passed on to another owner. */
#ifndef TARE_BASE_SCOPE_H
#define TARE_BASE_SCOPE_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Calls release(&local) at the end of the scope, so the local must be initialised. */
#define SCOPED(release) __attribute__((cleanup(release)))
#define FREED SCOPED(scope_free)   /* a pointer, or an ARRAY, which begins with one */
#define CLOSED SCOPED(scope_close) /* a descriptor, or -1; keeps errno */

static inline void scope_free(void *local)
{
	void *p;
	memcpy(&p, local, sizeof p);
	free(p);
}

static inline void scope_close(const int *fd)
{
	int saved = errno;
	if (*fd >= 0)
		close(*fd);
	errno = saved;
}

#endif
