#include "binary/disassemble.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef TARE_CAPSTONE
#include <capstone/capstone.h>
#endif
#ifdef TARE_OPCODES
#include "binary/opcodes.h"
#endif

#if defined __aarch64__
#define BAD_SIZE 4
#else
#define BAD_SIZE 1
#endif

struct decoder {
	uint64_t address;
	const uint8_t *bytes;
	size_t size;
#ifdef TARE_CAPSTONE
	csh capstone;
	cs_insn *instruction; /* NULL: capstone does not know this machine */
#endif
#ifdef TARE_OPCODES
	struct opcodes *opcodes;
#endif
};

/* Both libraries' spacing to one: a blank after the mnemonic, none after a comma. */
static void squeeze(char *text)
{
	char *to = text;
	for (const char *from = text; *from; from++) {
		char last = ' ';
		if (to > text)
			last = to[-1];
		bool blank = *from == ' ' || *from == '\t';
		if (!blank)
			*to++ = *from;
		else if (last != ' ' && last != ',')
			*to++ = ' ';
	}
	if (to > text && to[-1] == ' ')
		to--;
	*to = '\0';
}

/* capstone 5 has a number of 64 bits in decimal; 4 and the other library have it in hexadecimal. */
static void write_text(const char *from, char *text, size_t room)
{
	const char *number = strchr(from, '$');
	char *rest = NULL;
	unsigned long long value = 0;
	if (number && isdigit((unsigned char)number[1]))
		value = strtoull(number + 1, &rest, 10);
	if (value > 9)
		snprintf(text, room, "%.*s$0x%llx%s", (int)(number - from), from, value, rest);
	else
		snprintf(text, room, "%.*s", (int)room - 1, from);
}

#ifdef TARE_CAPSTONE
static bool open_capstone(struct decoder *d)
{
#if defined __x86_64__
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &d->capstone) != CS_ERR_OK)
		return false;
	cs_option(d->capstone, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
#elif defined __aarch64__
	if (cs_open(CS_ARCH_ARM64, CS_MODE_ARM, &d->capstone) != CS_ERR_OK)
		return false;
#else
	return false;
#endif
	d->instruction = cs_malloc(d->capstone);
	return true;
}
#endif

static bool open_decoder(struct decoder *d)
{
	bool any = false;
#ifdef TARE_CAPSTONE
	any |= open_capstone(d);
#endif
#ifdef TARE_OPCODES
	d->opcodes = opcodes_new(d->address, d->bytes, d->size);
	any |= d->opcodes != NULL;
#endif
	return any;
}

static size_t decode(struct decoder *d, size_t at, char *text, size_t room)
{
	char spaced[256] = "";
	size_t n = 0;
#ifdef TARE_CAPSTONE
	const uint8_t *bytes = d->bytes + at;
	size_t left = d->size - at;
	uint64_t address = d->address + at;
	if (d->instruction &&
	    cs_disasm_iter(d->capstone, &bytes, &left, &address, d->instruction)) {
		snprintf(spaced, sizeof spaced, "%s %s", d->instruction->mnemonic,
			 d->instruction->op_str);
		n = d->instruction->size;
	}
#endif
#ifdef TARE_OPCODES
	if (!n && d->opcodes)
		n = opcodes_decode(d->opcodes, d->address + at, spaced, sizeof spaced);
#endif
	if (!n) {
		snprintf(text, room, "(bad)");
		return d->size - at < BAD_SIZE ? d->size - at : BAD_SIZE;
	}
	squeeze(spaced);
	write_text(spaced, text, room);
	return n;
}

int disassemble(uint64_t address, const uint8_t *bytes, size_t size, instruction_list *into,
		struct error *err)
{
	struct decoder d = { .address = address, .bytes = bytes, .size = size };
	if (!open_decoder(&d)) {
		error_set(err, EXIT_ENVIRONMENT,
			  "cannot show instructions: tare was built without "
			  "a disassembler");
		return error_hint(
			err, "install capstone's headers (libcapstone-dev) and build it again");
	}
	for (size_t at = 0; at < size;) {
		array_reserve(into, 1);
		struct instruction *i = &into->items[into->count++];
		*i = (struct instruction){ .address = address + at };
		i->size = (uint8_t)decode(&d, at, i->text, sizeof i->text);
		at += i->size;
	}
#ifdef TARE_CAPSTONE
	if (d.instruction)
		cs_free(d.instruction, 1);
	if (d.capstone)
		cs_close(&d.capstone);
#endif
#ifdef TARE_OPCODES
	opcodes_free(d.opcodes);
#endif
	return 0;
}
