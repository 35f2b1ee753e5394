/* SIGINT, SIGTERM and SIGHUP end a measurement cleanly: what was measured is kept, and what was
 * changed is restored. */
#ifndef TARE_BASE_INTERRUPT_H
#define TARE_BASE_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

/* From now on these signals are noted, and blocked except while waiting with interrupt_mask(). */
void interrupt_watch(void);
bool interrupted(void);
/* The mask to wait under (ppoll), which lets the signals through. */
const sigset_t *interrupt_mask(void);

#endif
