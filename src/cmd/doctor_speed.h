/* Part of doctor.c. */
#ifndef TARE_CMD_DOCTOR_SPEED_H
#define TARE_CMD_DOCTOR_SPEED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Watches all CPUs for so long and prints what it saw. The exit code, or -1. */
int doctor_speed(uint64_t ns, bool json, struct error *err);

#endif
