/* Names for the numbers in the ledger's maps. Private to collect/. */
#ifndef TARE_COLLECT_LEDGER_NAMES_H
#define TARE_COLLECT_LEDGER_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define LEDGER_NAME_SIZE 48

/* Fills in the class of each call, as the BPF programs read it. */
void call_classes(uint8_t *classes, size_t count);
/* "clock_nanosleep", "call 451", "page fault". */
void call_name(uint32_t call, char out[LEDGER_NAME_SIZE]);
/* "net_rx", "timer", "virtio1-req.0", "irq 77". */
void source_name(uint32_t source, char out[LEDGER_NAME_SIZE]);
/* "vda", from major << 20 | minor. */
void device_name(uint32_t number, char out[LEDGER_NAME_SIZE]);
/* The action names of an interrupt number in the text of /proc/interrupts; "" if unknown. */
void irq_name(const char *interrupts, uint32_t irq, char out[LEDGER_NAME_SIZE]);

#endif
