#!/bin/sh
# Writes a C source that puts the file given into the program as page_built. The assembler reads it: a compiler would take a while over so
# many bytes. Its sum makes the source another one when the page is.
set -eu
[ "$(grep -c TARE-DOCUMENT "$1")" -eq 1 ] || {
	echo "$1: no page, or one without its place for a document: TARE-DOCUMENT" >&2
	exit 1
}
echo "/* $(cksum <"$1") */"
cat <<EOF
#include "report/page/private.h"
__asm__(".section .rodata\n"
	".balign 16\n"
	".globl page_built\n"
	"page_built:\n"
	".incbin \"$1\"\n"
	"page_built_end:\n"
	".byte 0\n"
	".balign 8\n"
	".globl page_built_size\n"
	"page_built_size:\n"
	".quad page_built_end - page_built\n"
	".previous\n");
EOF
