#include "binary/cfi.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- numbers, none from behind the end of what is read ---- */

struct reader {
	const struct cfi_section *section;
	size_t at, end; /* in the section */
	bool bad;	/* read past the end: every value since is 0 */
};

/* So many, at most 8, the lowest first. */
static inline uint64_t reader_bytes(struct reader *r, size_t count)
{
	uint64_t value = 0;
	if (r->bad || r->end - r->at < count) {
		r->bad = true;
		return 0;
	}
	for (size_t i = 0; i < count; i++)
		value |= (uint64_t)r->section->bytes[r->at + i] << (8 * i);
	r->at += count;
	return value;
}

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

static uint64_t reader_unsigned(struct reader *r)
{
	return read_leb(r, false);
}

static int64_t reader_signed(struct reader *r)
{
	return (int64_t)read_leb(r, true);
}

static void reader_skip(struct reader *r, uint64_t count)
{
	if (r->bad || count > r->end - r->at)
		r->bad = true;
	else
		r->at += count;
}

/* A pointer in an encoding (DW_EH_PE_*): the bare value, and with what it is relative to. */
static uint64_t reader_format(struct reader *r, uint8_t encoding)
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

static uint64_t reader_pointer(struct reader *r, uint8_t encoding, uint64_t datarel)
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

/* ---- the instructions of a common entry (CIE) and of an entry (FDE), run for rsp, rbp and the
 * return address ---- */

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

/* Numbers of registers in DWARF, x86-64. */
enum { RBP = 6, RSP = 7, RIP = 16 };

static int64_t scaled(uint64_t factor, int64_t align)
{
	return (int64_t)(factor * (uint64_t)align);
}

/* A block that is one `breg`: register + offset is where the value is stored. */
static struct rule stored_at(struct reader *r, size_t length)
{
	struct rule rule = { .place = PLACE_OTHER };
	size_t end = r->at + length;
	if (!length)
		return rule;
	uint64_t op = reader_bytes(r, 1);
	if (op != DW_OP_breg6 && op != DW_OP_breg7)
		return rule;
	int64_t offset = reader_signed(r);
	if (r->bad || r->at != end)
		return rule;
	rule.place = op == DW_OP_breg6 ? PLACE_AT_BP : PLACE_AT_SP;
	rule.offset = offset;
	return rule;
}

/* The linker's expression for its PLT: from byte `lit` of a 16-byte entry on, its push is done. */
static bool is_plt(const uint8_t *block, size_t length, int64_t *from)
{
	static const uint8_t form[] = {
		DW_OP_breg7, 8,	       DW_OP_breg16, 0,		DW_OP_lit15, DW_OP_and,
		DW_OP_lit0,  DW_OP_ge, DW_OP_lit3,   DW_OP_shl, DW_OP_plus,
	};
	enum { LIT = 6 };
	if (length != sizeof form || memcmp(block, form, LIT) != 0 ||
	    memcmp(block + LIT + 1, form + LIT + 1, sizeof form - LIT - 1) != 0 ||
	    block[LIT] < DW_OP_lit0 || block[LIT] > DW_OP_lit15)
		return false;
	*from = block[LIT] - DW_OP_lit0;
	return true;
}

static void set_cfa_expression(struct program *p, uint64_t length)
{
	struct state *s = &p->state;
	struct reader block = *p->r;
	reader_skip(p->r, length);
	if (p->r->bad)
		return;
	const uint8_t *bytes = block.section->bytes + block.at;
	s->cfa = UNWIND_NONE;
	if (is_plt(bytes, length, &s->expression_offset)) {
		s->cfa = UNWIND_PLT;
		return;
	}
	/* One that reads the CFA from the stack ends with what is stored there, or 8 more than
	 * that, as hand-written code keeps the rsp it came with. */
	static const uint8_t more[] = { DW_OP_deref, DW_OP_plus_uconst, 8 };
	bool is_8_more = length > sizeof more &&
			 memcmp(bytes + length - sizeof more, more, sizeof more) == 0;
	size_t address = 0;
	if (is_8_more)
		address = length - sizeof more;
	else if (length > 1 && bytes[length - 1] == DW_OP_deref)
		address = length - 1;
	block.end = block.at + address;
	struct rule at = stored_at(&block, address);
	s->expression_offset = at.offset;
	if (at.place == PLACE_AT_SP)
		s->cfa = is_8_more ? UNWIND_SP_AT_8 : UNWIND_SP_AT;
	else if (at.place == PLACE_AT_BP && !is_8_more)
		s->cfa = UNWIND_BP_AT;
}

static void set_cfa_register(struct state *s, uint64_t reg)
{
	s->cfa = reg == RSP ? UNWIND_SP : reg == RBP ? UNWIND_BP : UNWIND_NONE;
}

static struct rule *rule_of(struct state *s, uint64_t reg)
{
	return reg == RBP ? &s->bp : reg == RSP ? &s->sp : reg == RIP ? &s->ra : NULL;
}

static void set_rule(struct program *p, uint64_t reg, enum place place, int64_t offset)
{
	struct rule *rule = rule_of(&p->state, reg);
	if (rule)
		*rule = (struct rule){ .place = place, .offset = offset };
}

static void set_initial(struct program *p, uint64_t reg)
{
	struct rule *rule = rule_of(&p->state, reg);
	struct state initial = p->common->initial;
	if (rule)
		*rule = *rule_of(&initial, reg);
}

static void set_expression(struct program *p, bool is_value)
{
	uint64_t reg = reader_unsigned(p->r), length = reader_unsigned(p->r);
	struct reader block = *p->r;
	reader_skip(p->r, length);
	if (p->r->bad)
		return;
	block.end = p->r->at;
	struct rule rule = { .place = PLACE_OTHER };
	if (!is_value)
		rule = stored_at(&block, length);
	set_rule(p, reg, rule.place, rule.offset);
}

static bool fits(int64_t value, int64_t low, int64_t high)
{
	return value >= low && value <= high;
}

static struct unwind_row row_of(const struct state *s)
{
	struct unwind_row row = { .how = UNWIND_NONE };
	if (s->ra.place == PLACE_UNDEFINED) {
		row.how = UNWIND_END;
		return row;
	}
	if (s->cfa == UNWIND_SP_AT && s->expression_offset == UNWIND_SIGNAL_SP &&
	    s->ra.place == PLACE_AT_SP && s->ra.offset == UNWIND_SIGNAL_IP &&
	    s->bp.place == PLACE_AT_SP && s->bp.offset == UNWIND_SIGNAL_BP &&
	    (s->sp.place == PLACE_SAME ||
	     (s->sp.place == PLACE_AT_SP && s->sp.offset == UNWIND_SIGNAL_SP))) {
		row.how = UNWIND_SIGNAL;
		return row;
	}
	bool is_based = s->cfa == UNWIND_SP || s->cfa == UNWIND_BP;
	int64_t offset = is_based ? s->cfa_offset : s->expression_offset;
	bool sp_is_cfa = s->sp.place == PLACE_SAME ||
			 (s->sp.place == PLACE_IS_CFA && !s->sp.offset);
	if (s->cfa == UNWIND_NONE || !sp_is_cfa || s->ra.place != PLACE_AT_CFA ||
	    s->ra.offset != -8 || !fits(offset, INT16_MIN, INT16_MAX))
		return row;
	enum unwind_bp bp = UNWIND_BP_LOST;
	if (s->bp.place == PLACE_SAME) {
		bp = UNWIND_BP_SAME;
	} else if (s->bp.place == PLACE_AT_BP && s->bp.offset == 0) {
		bp = UNWIND_BP_AT_BP;
	} else if (s->bp.place == PLACE_AT_CFA && s->bp.offset % 8 == 0 &&
		   fits(s->bp.offset / 8, INT8_MIN, INT8_MAX)) {
		bp = UNWIND_BP_SAVED;
		row.bp = (int8_t)(s->bp.offset / 8);
	}
	row.offset = (int16_t)offset;
	row.how = (uint8_t)(s->cfa | bp << 4);
	return row;
}

/* A row from pc on, unless the last says the same. */
static void program_row(struct program *p, struct unwind_row row)
{
	row.pc = (uint32_t)(p->pc - p->low);
	if (p->into->rows.count > p->first) {
		const struct unwind_row *last = &p->into->rows.items[p->into->rows.count - 1];
		if (last->how == row.how && last->offset == row.offset && last->bp == row.bp)
			return;
	}
	array_push(&p->into->rows, row);
}

/* The state holds from pc to this one. Addresses go up; false: these do not, and nothing more is
 * to be believed. */
static bool program_advance(struct program *p, uint64_t pc)
{
	if (!p->into || pc < p->pc)
		return false;
	if (pc > p->pc && p->pc < p->end)
		program_row(p, row_of(&p->state));
	p->pc = pc < p->end ? pc : p->end;
	return true;
}

static bool advance(struct program *p, uint64_t delta)
{
	uint64_t step;
	if (__builtin_mul_overflow(delta, p->common->code_align, &step) ||
	    __builtin_add_overflow(step, p->pc, &step))
		step = p->end;
	return program_advance(p, step);
}

/* Instructions about the CFA; false: it is none of them. */
static bool run_cfa(struct program *p, uint8_t op)
{
	struct state *s = &p->state;
	switch (op) {
	case DW_CFA_def_cfa_register:
		set_cfa_register(s, reader_unsigned(p->r));
		return true;
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
		set_cfa_register(s, reader_unsigned(p->r));
		__attribute__((fallthrough));
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
		if (op == DW_CFA_def_cfa || op == DW_CFA_def_cfa_offset)
			s->cfa_offset = (int64_t)reader_unsigned(p->r);
		else
			s->cfa_offset =
				scaled((uint64_t)reader_signed(p->r), p->common->data_align);
		return true;
	case DW_CFA_def_cfa_expression:
		set_cfa_expression(p, reader_unsigned(p->r));
		return true;
	default:
		return false;
	}
}

/* Instructions about a register; false: it is none of them. */
static bool run_register(struct program *p, uint8_t op)
{
	int64_t data_align = p->common->data_align;
	uint64_t reg;
	switch (op) {
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		set_expression(p, op == DW_CFA_val_expression);
		return true;
	case DW_CFA_offset_extended:
	case DW_CFA_val_offset:
		reg = reader_unsigned(p->r);
		set_rule(p, reg, op == DW_CFA_val_offset ? PLACE_IS_CFA : PLACE_AT_CFA,
			 scaled(reader_unsigned(p->r), data_align));
		return true;
	case DW_CFA_offset_extended_sf:
	case DW_CFA_val_offset_sf:
		reg = reader_unsigned(p->r);
		set_rule(p, reg, op == DW_CFA_val_offset_sf ? PLACE_IS_CFA : PLACE_AT_CFA,
			 scaled((uint64_t)reader_signed(p->r), data_align));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		reg = reader_unsigned(p->r);
		set_rule(p, reg, PLACE_AT_CFA, scaled(-reader_unsigned(p->r), data_align));
		return true;
	case DW_CFA_restore_extended:
		set_initial(p, reader_unsigned(p->r));
		return true;
	case DW_CFA_undefined:
		set_rule(p, reader_unsigned(p->r), PLACE_UNDEFINED, 0);
		return true;
	case DW_CFA_same_value:
		reg = reader_unsigned(p->r);
		/* only of rbp is it the same as nothing said */
		set_rule(p, reg, reg == RBP ? PLACE_SAME : PLACE_OTHER, 0);
		return true;
	case DW_CFA_register:
		set_rule(p, reader_unsigned(p->r), PLACE_OTHER, 0);
		reader_unsigned(p->r);
		return true;
	default:
		return false;
	}
}

/* false: the rest cannot be told. */
static bool run_one(struct program *p)
{
	uint8_t op = (uint8_t)reader_bytes(p->r, 1), low = op & 0x3f;
	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		return advance(p, low);
	case DW_CFA_offset:
		set_rule(p, low, PLACE_AT_CFA,
			 scaled(reader_unsigned(p->r), p->common->data_align));
		return true;
	case DW_CFA_restore:
		set_initial(p, low);
		return true;
	default:
		break;
	}
	switch (op) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_set_loc:
		return program_advance(p, reader_pointer(p->r, p->common->encoding, 0));
	case DW_CFA_advance_loc1:
		return advance(p, reader_bytes(p->r, 1));
	case DW_CFA_advance_loc2:
		return advance(p, reader_bytes(p->r, 2));
	case DW_CFA_advance_loc4:
		return advance(p, reader_bytes(p->r, 4));
	case DW_CFA_remember_state:
		if (p->remembered_count == REMEMBERED_MAX)
			return false;
		p->remembered[p->remembered_count++] = p->state;
		return true;
	case DW_CFA_restore_state:
		if (!p->remembered_count)
			return false;
		p->state = p->remembered[--p->remembered_count];
		return true;
	case DW_CFA_GNU_args_size:
		reader_unsigned(p->r);
		return true;
	default:
		return run_cfa(p, op) || run_register(p, op);
	}
}

/* All that the reader has. false: what follows pc cannot be told. */
static bool program_run(struct program *p)
{
	while (p->r->at < p->r->end) {
		if (!run_one(p) || p->r->bad)
			return false;
	}
	return true;
}

/* ---- entries ---- */

#define RETURN_ADDRESS 16 /* its column, x86-64 */

bool cfi_pointer(const uint8_t *bytes, size_t size, size_t at, uint8_t encoding, uint64_t address,
		 uint64_t *value)
{
	struct cfi_section section = { .bytes = bytes, .size = size, .address = address };
	struct reader r = { .section = &section, .at = at, .end = size, .bad = at > size };
	*value = reader_pointer(&r, encoding, address);
	return !r.bad;
}

void cfi_section_clear(struct cfi_section *s)
{
	s->low = UINT64_MAX;
	s->high = 0;
}

void cfi_section_cover(struct cfi_section *s, uint64_t address, uint64_t size)
{
	uint64_t end;
	if (__builtin_add_overflow(address, size, &end))
		return;
	s->low = address < s->low ? address : s->low;
	s->high = end > s->high ? end : s->high;
}

bool cfi_section_bound(struct cfi_section *s)
{
	if (s->high <= s->low)
		return false;
	if (s->high - s->low > UINT32_MAX)
		s->high = s->low + UINT32_MAX;
	return true;
}

typedef ARRAY(struct common) common_list;

static bool read_augmentation(struct reader *r, struct common *c, const char *letters)
{
	c->encoding = DW_EH_PE_absptr;
	c->augmented = letters[0] == 'z';
	if (!letters[0])
		return true;
	if (!c->augmented)
		return false;
	uint64_t length = reader_unsigned(r);
	struct reader data = *r;
	reader_skip(r, length);
	if (r->bad)
		return false;
	data.end = r->at;
	for (const char *letter = letters + 1; *letter; letter++) {
		switch (*letter) {
		case 'R':
			c->encoding = (uint8_t)reader_bytes(&data, 1);
			break;
		case 'L':
			reader_skip(&data, 1);
			break;
		case 'P': {
			uint8_t encoding = (uint8_t)reader_bytes(&data, 1);
			if (encoding == DW_EH_PE_omit)
				break;
			if ((encoding & 0x70) == DW_EH_PE_aligned)
				reader_skip(&data, -(r->section->address + data.at) & 7);
			reader_format(&data, encoding);
			break;
		}
		case 'S': /* a signal frame: its rules tell that too */
			break;
		default:
			return false;
		}
	}
	return !data.bad;
}

static bool read_common(struct reader *r, struct common *c)
{
	uint64_t version = reader_bytes(r, 1);
	if (version != 1 && version != 3)
		return false;
	const char *letters = (const char *)r->section->bytes + r->at;
	size_t length = strnlen(letters, r->end - r->at);
	reader_skip(r, length + 1);
	if (r->bad)
		return false;
	c->code_align = reader_unsigned(r);
	c->data_align = reader_signed(r);
	uint64_t ra = version == 1 ? reader_bytes(r, 1) : reader_unsigned(r);
	if (ra != RETURN_ADDRESS || !read_augmentation(r, c, letters) || r->bad)
		return false;
	struct program p = { .r = r, .common = c };
	if (!program_run(&p))
		return false;
	c->initial = p.state;
	return true;
}

static void read_entry(struct reader *r, const struct common *c, struct cfi *into)
{
	const struct cfi_section *section = r->section;
	uint64_t begin = reader_pointer(r, c->encoding, 0);
	uint64_t range = reader_format(r, c->encoding), end;
	if (c->augmented)
		reader_skip(r, reader_unsigned(r));
	if (r->bad || !range || __builtin_add_overflow(begin, range, &end) ||
	    begin < section->low || end > section->high)
		return;
	struct program p = {
		.r = r,
		.common = c,
		.state = c->initial,
		.pc = begin,
		.end = end,
		.low = section->low,
		.into = into,
		.first = into->rows.count,
	};
	if (program_run(&p))
		program_advance(&p, end);
	else if (p.pc < end)
		program_row(&p, (struct unwind_row){ .how = UNWIND_NONE });
	array_push(&into->spans, (struct cfi_span){
					 .begin = (uint32_t)(begin - section->low),
					 .end = (uint32_t)(end - section->low),
					 .first = p.first,
					 .count = into->rows.count - p.first,
				 });
}

void cfi_read(struct cfi *into, const struct cfi_section *section)
{
	FREED common_list commons = { 0 };
	struct reader r = { .section = section, .end = section->size };
	while (r.at < section->size) {
		size_t at = r.at;
		uint64_t length = reader_bytes(&r, 4);
		if (!length && section->terminated)
			break;
		struct reader body = r;
		reader_skip(&r, length);
		/* a length of 2^32 - 1 would announce one of 64 bits: no linker writes that here */
		if (r.bad)
			break;
		body.end = r.at;
		size_t id_at = body.at;
		uint64_t id = reader_bytes(&body, 4);
		if (body.bad)
			continue;
		if (!id) {
			struct common c = { .at = at };
			if (read_common(&body, &c))
				array_push(&commons, c);
		} else if (id <= id_at) {
			size_t up_to = array_count_up_to(&commons, at, id_at - id);
			if (up_to && commons.items[up_to - 1].at == id_at - id)
				read_entry(&body, &commons.items[up_to - 1], into);
		}
	}
}

void cfi_release(struct cfi *c)
{
	array_release(&c->spans);
	array_release(&c->rows);
}
