/* From a frame to its caller's, by what .eh_frame says, in a form that needs no interpreter: rows
 * sorted by address. The kernel side walks the same rows (collect/bpf/profile.bpf.c), so this
 * header is C for both and the row is small. x86-64 only; elsewhere there are no rows. */
#ifndef TARE_BINARY_UNWIND_H
#define TARE_BINARY_UNWIND_H

#ifndef __bpf__
#include <stddef.h>
#include <stdint.h>
#endif

/* Where the caller's frame (CFA) is. The return address is the 8 bytes below it. */
enum unwind_cfa {
	UNWIND_NONE,  /* nothing is known from here on (a gap, or a rule with no form here) */
	UNWIND_END,   /* the return address is undefined: the thread starts here */
	UNWIND_SP,    /* rsp + offset */
	UNWIND_BP,    /* rbp + offset */
	UNWIND_BP_AT, /* what is stored at rbp + offset (realigned stacks) */
	UNWIND_SP_AT, /* what is stored at rsp + offset */
	UNWIND_PLT,   /* rsp + 8, and 8 more from byte `offset` of each 16 on (the PLT's expression)
		       */
	UNWIND_SIGNAL,	/* a signal frame: registers are in the ucontext at rsp */
	UNWIND_SP_AT_8, /* 8 more than what is stored at rsp + offset (OpenSSL's assembly) */
};
/* Where the caller's rbp is. */
enum unwind_bp {
	UNWIND_BP_SAME,
	/* at CFA + 8 * bp; where that is below sp, still in rbp: compilers say nothing of the pop
	 * before a return */
	UNWIND_BP_SAVED,
	UNWIND_BP_LOST,	 /* cannot be told: wrong frames are worse than none, so 0 */
	UNWIND_BP_AT_BP, /* at the present rbp (realigned stacks, with UNWIND_BP_AT) */
};

struct unwind_row {
	uint32_t pc;	/* from here on, relative to the first address of the table */
	int16_t offset; /* of the CFA, in bytes */
	int8_t bp;	/* in words from the CFA */
	uint8_t how;	/* unwind_cfa | unwind_bp << 4 */
};

/* Offsets of rbp, rsp and rip from rsp in a signal frame at __restore_rt, where rsp is at the
 * kernel's struct ucontext: in its uc_mcontext. */
#define UNWIND_SIGNAL_BP 120
#define UNWIND_SIGNAL_SP 160
#define UNWIND_SIGNAL_IP 168

#ifndef __bpf__
struct unwind_table {
	uint64_t base;		 /* the ELF address that pc counts from: of the first code */
	struct unwind_row *rows; /* sorted by pc; the last is UNWIND_NONE, where the code ends */
	size_t count;
};

/* Of an ELF image in memory (a mapped file, or the vdso); zeroed where it has none or is not
 * x86-64. Hostile images are fine: what does not parse is left out. Linear in the image's size. */
void unwind_read(struct unwind_table *into, const void *image, size_t size);
void unwind_release(struct unwind_table *t);

/* The row for an ELF address (it may be an UNWIND_NONE); NULL: none. */
const struct unwind_row *unwind_find(const struct unwind_table *t, uint64_t address);

struct unwind_state {
	uint64_t ip, sp, bp;
};
/* A copy of a piece of a stack. */
struct unwind_memory {
	uint64_t begin; /* address of the first byte */
	const uint8_t *bytes;
	size_t size;
};
enum unwind_result { UNWIND_CALLER, UNWIND_DONE, UNWIND_STUCK, UNWIND_BEYOND };
/* To the caller: state is its; it is untouched when the result is another.
 *  - DONE: there is no caller: UNWIND_END, or a return address of 0.
 *  - STUCK: no row, UNWIND_NONE, or what the row says cannot be: a CFA that is not above sp or not
 * a multiple of 8, or a word that is needed below sp (but see UNWIND_BP_SAVED).
 *  - BEYOND: a word that is needed is above sp, but not in the copy.
 * In this order: the CFA; the checks of it; the return address at CFA - 8; rbp. The caller's sp is
 * the CFA. With UNWIND_SIGNAL ip, sp and bp are read from the frame, in this order, and sp need not
 * grow, as handlers may have a stack of their own: so who walks must bound the steps.
 *
 * state->ip of a caller is a return address: look up the row of ip - 1, as a call can be the last
 * instruction of its function. The exception is what UNWIND_SIGNAL gives: that ip is exact.
 * address_in_16: the last 4 bits of the address whose row it is (UNWIND_PLT). */
enum unwind_result unwind_step(const struct unwind_row *row, struct unwind_state *state,
			       uint64_t address_in_16, const struct unwind_memory *stack);
#endif

#endif
