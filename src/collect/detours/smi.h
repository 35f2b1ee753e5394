/* Counts the SMIs of a CPU: firmware takes it, and no tracepoint shows that. Private to collect/.
 */
#ifndef TARE_COLLECT_DETOURS_SMI_H
#define TARE_COLLECT_DETOURS_SMI_H

#include <stdint.h>

/* Opens the kernel's event msr/smi/ on a CPU. Returns -1 if there is none, or if this process may
 * not use it. */
int smi_open(uint32_t cpu);
/* The count since smi_open(), or ABSENT_NS. Costs a system call on that CPU, and an interrupt of it
 * on another. */
uint64_t smi_read(int fd);

#endif
