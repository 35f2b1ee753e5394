/* Goes from a frame to its caller by .eh_frame, in a form that needs no interpreter: rows sorted by
 * address. The kernel side walks the same rows (collect/bpf/profile.bpf.c), so this header is C for
 * both, and the row is small. x86-64 only; other machines have no rows. */
#ifndef TARE_BINARY_UNWIND_H
#define TARE_BINARY_UNWIND_H

#ifndef __bpf__
#include <stddef.h>
#include <stdint.h>
#endif

/* Where the caller's frame (CFA) is. The return address is in the 8 bytes below it. */
enum unwind_cfa {
	UNWIND_NONE,   /* unknown from here on (a gap, or a rule that has no form here) */
	UNWIND_END,    /* the return address is undefined: the thread starts here */
	UNWIND_SP,     /* rsp + offset */
	UNWIND_BP,     /* rbp + offset */
	UNWIND_BP_AT,  /* the value at rbp + offset (realigned stacks) */
	UNWIND_SP_AT,  /* the value at rsp + offset */
	UNWIND_PLT,    /* rsp + 8, plus 8 from byte `offset` of each 16 on (the PLT's expression) */
	UNWIND_SIGNAL, /* a signal frame: the registers are in the ucontext at rsp */
	UNWIND_SP_AT_8, /* the value at rsp + offset, plus 8 (OpenSSL's assembly) */
};
/* Where the caller's rbp is. */
enum unwind_bp {
	UNWIND_BP_SAME,
	/* at CFA + 8 * bp; if that is below sp, still in rbp, because compilers do not describe the
	 * pop before a return */
	UNWIND_BP_SAVED,
	UNWIND_BP_LOST,	 /* unknown, and set to 0, because wrong frames are worse than none */
	UNWIND_BP_AT_BP, /* at the current rbp (realigned stacks, with UNWIND_BP_AT) */
};

struct unwind_row {
	uint32_t pc;	/* valid from here on, relative to the table's first address */
	int16_t offset; /* of the CFA, in bytes */
	int8_t bp;	/* in words from the CFA */
	uint8_t how;	/* unwind_cfa | unwind_bp << 4 */
};

/* Offsets of rbp, rsp and rip from rsp in a signal frame at __restore_rt, where rsp points to the
 * kernel's struct ucontext. They are in its uc_mcontext. */
#define UNWIND_SIGNAL_BP 120
#define UNWIND_SIGNAL_SP 160
#define UNWIND_SIGNAL_IP 168

#ifndef __bpf__
struct unwind_table {
	uint64_t base;		 /* the ELF address that pc is relative to: of the first code */
	struct unwind_row *rows; /* sorted by pc; the last is UNWIND_NONE, at the end of the code */
	size_t count;
};

/* Reads an ELF image in memory (a mapped file, or the vdso). The table is zeroed if there is none
 * or it is not x86-64. What does not parse is skipped, even if hostile. Linear in the image's
 * size. */
void unwind_read(struct unwind_table *into, const void *image, size_t size);
void unwind_release(struct unwind_table *t);

/* The row for an ELF address (possibly UNWIND_NONE); NULL: none. */
const struct unwind_row *unwind_find(const struct unwind_table *t, uint64_t address);

struct unwind_state {
	uint64_t ip, sp, bp;
};
/* A copy of a part of a stack. */
struct unwind_memory {
	uint64_t begin; /* address of the first byte */
	const uint8_t *bytes;
	size_t size;
};
enum unwind_result { UNWIND_CALLER, UNWIND_DONE, UNWIND_STUCK, UNWIND_BEYOND };
/* Goes to the caller: state becomes the caller's. Any other result leaves it untouched:
 *  - DONE: there is no caller: UNWIND_END, or a return address of 0.
 *  - STUCK: there is no row, it is UNWIND_NONE, or it is impossible: the CFA is not above sp or not
 * a multiple of 8, or a word below sp is needed (but see UNWIND_BP_SAVED).
 *  - BEYOND: a word above sp is needed, but not in the copy.
 * The order is: the CFA, its checks, the return address at CFA - 8, rbp. The caller's sp is the
 * CFA. With UNWIND_SIGNAL, ip, sp and bp are read from the frame in this order, and sp need not
 * grow, because handlers may have their own stack. Whoever walks must therefore limit the steps.
 *
 * state->ip of a caller is a return address: look up the row of ip - 1, because a call can be the
 * last instruction of its function. After UNWIND_SIGNAL, ip is exact instead.
 * address_in_16: the last 4 bits of the address whose row it is (UNWIND_PLT). */
enum unwind_result unwind_step(const struct unwind_row *row, struct unwind_state *state,
			       uint64_t address_in_16, const struct unwind_memory *stack);
#endif

#endif
