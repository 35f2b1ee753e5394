/* The parsers behind overall_read() (collect/collect.h), which work on text so that they can be
 * tested. Each sets what it finds, with its bit in present, and leaves the rest alone. */
#ifndef TARE_COLLECT_BACKEND_OVERALL_H
#define TARE_COLLECT_BACKEND_OVERALL_H

#include "record/execution.h"

void overall_parse_stat(const char *text, struct overall *into);
void overall_parse_vmstat(const char *text, struct overall *into);

#endif
