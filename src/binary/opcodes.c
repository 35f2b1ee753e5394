#include "binary/opcodes.h"

#define PACKAGE "tare" /* bfd.h refuses to be included without */
#include <dis-asm.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/array.h"

struct opcodes {
	struct disassemble_info info;
	disassembler_ftype decode;
	char *text;
	size_t room, length;
};

/* n: what vsnprintf() said of a piece. */
static int extend(struct opcodes *o, int n)
{
	if (n > 0)
		o->length += (size_t)n;
	if (o->length >= o->room)
		o->length = o->room - 1;
	return n;
}

__attribute__((format(printf, 2, 3))) static int print(void *stream, const char *format, ...)
{
	struct opcodes *o = stream;
	va_list arguments;
	va_start(arguments, format);
	int n = vsnprintf(o->text + o->length, o->room - o->length, format, arguments);
	va_end(arguments);
	return extend(o, n);
}

#ifdef TARE_OPCODES_STYLED
__attribute__((format(printf, 3, 4))) static int
print_styled(void *stream, enum disassembler_style style, const char *format, ...)
{
	struct opcodes *o = stream;
	va_list arguments;
	(void)style;
	va_start(arguments, format);
	int n = vsnprintf(o->text + o->length, o->room - o->length, format, arguments);
	va_end(arguments);
	return extend(o, n);
}
#endif

static void print_address(bfd_vma address, struct disassemble_info *info)
{
	print(info->stream, "0x%llx", (unsigned long long)address);
}

/* It returns -1 too, which is enough. */
static void ignore_error(int status, bfd_vma address, struct disassemble_info *info)
{
	(void)status;
	(void)address;
	(void)info;
}

struct opcodes *opcodes_new(uint64_t address, const uint8_t *bytes, size_t size)
{
	struct opcodes *o = xcalloc(1, sizeof *o);
	struct disassemble_info *info = &o->info;
#ifdef TARE_OPCODES_STYLED
	init_disassemble_info(info, o, print, print_styled);
#else
	init_disassemble_info(info, o, print);
#endif
#if defined __x86_64__
	info->arch = bfd_arch_i386;
	info->mach = bfd_mach_x86_64;
#elif defined __aarch64__
	info->arch = bfd_arch_aarch64;
	info->mach = bfd_mach_aarch64;
#endif
	info->endian = info->endian_code = BFD_ENDIAN_LITTLE;
	info->buffer = (bfd_byte *)bytes;
	info->buffer_vma = address;
	info->buffer_length = size;
	info->memory_error_func = ignore_error;
	info->print_address_func = print_address;
	disassemble_init_for_target(info);
	if (info->arch != bfd_arch_unknown)
		o->decode = disassembler(info->arch, false, info->mach, NULL);
	if (o->decode)
		return o;
	opcodes_free(o);
	return NULL;
}

void opcodes_free(struct opcodes *o)
{
	if (o)
		disassemble_free_target(&o->info);
	xfree(o);
}

size_t opcodes_decode(struct opcodes *o, uint64_t address, char *text, size_t room)
{
	o->text = text;
	o->room = room;
	o->length = 0;
	text[0] = '\0';
	int n = o->decode(address, &o->info);
	return n > 0 ? (size_t)n : 0;
}
