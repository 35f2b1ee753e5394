#!/usr/bin/env bats
# What the built program itself says of how it was hardened. TARE names it, or an installed one.

bats_require_minimum_version 1.5.0

# not of the build with sanitizers, which check the same in other ways
# bats file_tags=slow

setup() {
	load common
	command -v readelf >/dev/null || skip "readelf is not installed"
}

@test "hardening: the program is position independent and its tables are read-only once it starts" {
	readelf -Wh "$TARE" | grep -E '^ *Type: +DYN'
	readelf -Wd "$TARE" | grep -E 'FLAGS_1.* PIE'
	readelf -Wd "$TARE" | grep -E 'BIND_NOW|FLAGS_1.* NOW'
	readelf -Wl "$TARE" | grep -E '^ +GNU_RELRO '
	run ! grep -E 'TEXTREL' <(readelf -Wd "$TARE")
}

@test "hardening: no memory is both writable and executable" {
	# the stack's own header must be there: without it the stack is executable
	readelf -Wl "$TARE" | grep -E '^ +GNU_STACK .* RW +0x'
	run ! grep -E '^ +(LOAD|GNU_STACK) .* (RWE|WE) +0x' <(readelf -Wl "$TARE")
}

@test "hardening: stacks have guards, and calls into libc are checked" {
	readelf -W --dyn-syms "$TARE" | grep -E '__stack_chk_(fail|guard)'
	# by more than one function, so that it is not only what a library brought along
	[ "$(readelf -W --dyn-syms "$TARE" | grep -cE ' __[a-z]+_chk@')" -ge 5 ]
}

@test "hardening: branches go only to where a branch may go" {
	# the program as a whole is marked only if the C library's first objects are, and Debian's are not
	case $(uname -m) in
	x86_64) [ "$(objdump -d "$TARE" | grep -c endbr64)" -ge 1000 ] ;;
	aarch64) [ "$(objdump -d "$TARE" | grep -cE 'bti|paciasp')" -ge 1000 ] ;;
	*) skip "this machine has no such marks" ;;
	esac
}

@test "hardening: a large frame of a stack cannot jump over its guard page" {
	readelf -W --debug-dump=info --dwarf-depth=1 "$TARE" 2>/dev/null | grep DW_AT_producer >"$BATS_TEST_TMPDIR/producers"
	grep -q 'GNU C' "$BATS_TEST_TMPDIR/producers" || skip "only gcc notes its options, in what debuggers read"
	run ! grep -v -- -fstack-clash-protection "$BATS_TEST_TMPDIR/producers"
}
