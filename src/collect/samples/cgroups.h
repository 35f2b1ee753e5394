/* Names of cgroups (v2) by the ids that BPF programs see, because a process may be gone when its
 * name is needed. Private to collect/. */
#ifndef TARE_COLLECT_SAMPLES_CGROUPS_H
#define TARE_COLLECT_SAMPLES_CGROUPS_H

#include <stdint.h>

struct cgroups;

/* Where cgroup v2 is mounted; NULL: nowhere. The caller frees it. */
char *cgroup_mount(void);

struct cgroups *cgroups_new(void);
void cgroups_free(struct cgroups *c); /* NULL is fine */
/* Its path in the hierarchy, "/" for the root; NULL: unknown. Valid until the next call. */
const char *cgroups_path(struct cgroups *c, uint64_t id);

#endif
