#include "report/export/proto.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum wire { WIRE_VARINT = 0, WIRE_LENGTH = 2 };

/* A length is written before it is known, so it always takes this many bytes. */
#define LENGTH_BYTES 4

static void put_varint(struct strbuf *out, uint64_t value)
{
	char bytes[10];
	size_t n = 0;
	do {
		bytes[n] = (char)(value & 0x7f);
		value >>= 7;
		if (value)
			bytes[n] = (char)(bytes[n] | 0x80);
		n++;
	} while (value);
	strbuf_add(out, bytes, n);
}

static void put_key(struct strbuf *out, uint32_t field, enum wire wire)
{
	put_varint(out, (uint64_t)field << 3 | wire);
}

void proto_uint(struct strbuf *out, uint32_t field, uint64_t value)
{
	put_key(out, field, WIRE_VARINT);
	put_varint(out, value);
}

void proto_packed(struct strbuf *out, uint32_t field, const uint64_t *values, size_t count)
{
	if (!count)
		return;
	size_t packed = proto_open(out, field);
	for (size_t i = 0; i < count; i++)
		put_varint(out, values[i]);
	proto_close(out, packed);
}

void proto_text(struct strbuf *out, uint32_t field, const char *text)
{
	FREED char *valid = text_utf8(text);
	size_t length = strlen(valid);
	put_key(out, field, WIRE_LENGTH);
	put_varint(out, length);
	strbuf_add(out, valid, length);
}

size_t proto_open(struct strbuf *out, uint32_t field)
{
	put_key(out, field, WIRE_LENGTH);
	strbuf_pad(out, 0, LENGTH_BYTES);
	return out->length;
}

void proto_close(struct strbuf *out, size_t opened)
{
	size_t length = out->length - opened;
	char *to = out->text + opened - LENGTH_BYTES;
	for (int i = 0; i < LENGTH_BYTES; i++, length >>= 7)
		to[i] = (char)((length & 0x7f) | (i < LENGTH_BYTES - 1 ? 0x80 : 0));
}
