/* The instructions of a common entry (CIE) and of an entry (FDE), run for rsp, rbp and the return
 * address. */
#ifndef TARE_BINARY_CFI_PROGRAM_H
#define TARE_BINARY_CFI_PROGRAM_H

#include "binary/cfi.h"
#include "binary/cfi_reader.h"

/* gcc nests two or three deep. */
#define REMEMBERED_MAX 16

/* Where a register of the caller is. */
enum place {
	PLACE_SAME, /* nothing was said; rsp: the CFA */
	PLACE_AT_CFA,
	PLACE_IS_CFA, /* the value, not its address, is CFA + offset */
	PLACE_AT_BP,
	PLACE_AT_SP,
	PLACE_UNDEFINED,
	PLACE_OTHER,
};

struct rule {
	enum place place;
	int64_t offset;
};

struct state {
	uint8_t cfa;		   /* enum unwind_cfa; UNWIND_NONE: no form */
	int64_t cfa_offset;	   /* from a register; an expression leaves it as it was */
	int64_t expression_offset; /* of the other forms */
	struct rule bp, sp, ra;
};

/* A common entry (CIE). */
struct common {
	size_t at;
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* of addresses in its entries */
	bool augmented;	  /* entries have augmentation data */
	struct state initial;
};

struct program {
	struct reader *r;
	const struct common *common;
	struct state state, remembered[REMEMBERED_MAX];
	size_t remembered_count;
	uint64_t pc, end;
	uint64_t low;
	struct cfi *into; /* NULL: a CIE's instructions, which cover no code */
	size_t first;
};

/* All that the reader has. false: what follows pc cannot be told. */
bool program_run(struct program *p);

/* The state holds from pc to this one. Addresses go up; false: these do not, and nothing more is
 * to be believed. */
bool program_advance(struct program *p, uint64_t pc);

/* A row from pc on, unless the last says the same. */
void program_row(struct program *p, struct unwind_row row);

#endif
