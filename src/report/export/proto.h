/* Writes the wire format of Protocol Buffers. Private to report/export/. */
#ifndef TARE_REPORT_EXPORT_PROTO_H
#define TARE_REPORT_EXPORT_PROTO_H

#include <stdint.h>

#include "base/strbuf.h"

void proto_uint(struct strbuf *out, uint32_t field, uint64_t value);
/* Invalid UTF-8 is replaced. */
void proto_text(struct strbuf *out, uint32_t field, const char *text);
/* Repeated numbers in one field; writes nothing if there are none. */
void proto_packed(struct strbuf *out, uint32_t field, const uint64_t *values, size_t count);

/* Begins a nested message of less than 256 MiB; what is written until proto_close() is in it. */
size_t proto_open(struct strbuf *out, uint32_t field);
void proto_close(struct strbuf *out, size_t opened);

#endif
