#include "binary/cfi_reader.h"

#include <dwarf.h>

static uint64_t read_leb(struct reader *r, bool is_signed)
{
	uint64_t value = 0, byte;
	unsigned shift = 0;
	do {
		byte = reader_bytes(r, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += shift < 64 ? 7 : 0;
	} while (byte & 0x80);
	if (is_signed && shift < 64 && byte & 0x40)
		value |= ~UINT64_C(0) << shift;
	return value;
}

uint64_t reader_unsigned(struct reader *r)
{
	return read_leb(r, false);
}

int64_t reader_signed(struct reader *r)
{
	return (int64_t)read_leb(r, true);
}

void reader_skip(struct reader *r, uint64_t count)
{
	if (r->bad || count > r->end - r->at)
		r->bad = true;
	else
		r->at += count;
}

uint64_t reader_format(struct reader *r, uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return reader_bytes(r, 8);
	case DW_EH_PE_uleb128:
		return reader_unsigned(r);
	case DW_EH_PE_sleb128:
		return (uint64_t)reader_signed(r);
	case DW_EH_PE_udata2:
		return reader_bytes(r, 2);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int16_t)reader_bytes(r, 2);
	case DW_EH_PE_udata4:
		return reader_bytes(r, 4);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int32_t)reader_bytes(r, 4);
	default:
		r->bad = true;
		return 0;
	}
}

uint64_t reader_pointer(struct reader *r, uint8_t encoding, uint64_t datarel)
{
	uint64_t base = 0;
	switch (encoding & 0xf0) {
	case DW_EH_PE_absptr:
		break;
	case DW_EH_PE_pcrel:
		base = r->section->address + r->at;
		break;
	case DW_EH_PE_datarel:
		base = datarel;
		break;
	default:
		r->bad = true;
	}
	return base + reader_format(r, encoding);
}

void reader_skip_pointer(struct reader *r, uint8_t encoding)
{
	if (encoding == DW_EH_PE_omit)
		return;
	if ((encoding & 0x70) == DW_EH_PE_aligned)
		reader_skip(r, -(r->section->address + r->at) & 7);
	reader_format(r, encoding);
}
