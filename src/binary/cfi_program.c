#include "binary/cfi_program.h"

#include <dwarf.h>
#include <string.h>

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

/* How a block that reads the CFA from the stack ends: what is stored there, or 8 more than that, as
 * hand-written code keeps the rsp it came with. The length without; 0: it is neither. */
static size_t without_end(const uint8_t *block, size_t length, bool *is_8_more)
{
	static const uint8_t more[] = { DW_OP_deref, DW_OP_plus_uconst, 8 };
	*is_8_more = length > sizeof more &&
		     memcmp(block + length - sizeof more, more, sizeof more) == 0;
	if (*is_8_more)
		return length - sizeof more;
	return length > 1 && block[length - 1] == DW_OP_deref ? length - 1 : 0;
}

static void set_cfa_expression(struct program *p, uint64_t length)
{
	struct state *s = &p->state;
	struct reader block = *p->r;
	bool is_8_more;
	reader_skip(p->r, length);
	if (p->r->bad)
		return;
	const uint8_t *bytes = block.section->bytes + block.at;
	s->cfa = UNWIND_NONE;
	if (is_plt(bytes, length, &s->expression_offset)) {
		s->cfa = UNWIND_PLT;
		return;
	}
	size_t address = without_end(bytes, length, &is_8_more);
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

static bool is_signal(const struct state *s)
{
	return s->cfa == UNWIND_SP_AT && s->expression_offset == UNWIND_SIGNAL_SP &&
	       s->ra.place == PLACE_AT_SP && s->ra.offset == UNWIND_SIGNAL_IP &&
	       s->bp.place == PLACE_AT_SP && s->bp.offset == UNWIND_SIGNAL_BP &&
	       (s->sp.place == PLACE_SAME ||
		(s->sp.place == PLACE_AT_SP && s->sp.offset == UNWIND_SIGNAL_SP));
}

static struct unwind_row row_of(const struct state *s)
{
	struct unwind_row row = { .how = UNWIND_NONE };
	if (s->ra.place == PLACE_UNDEFINED) {
		row.how = UNWIND_END;
		return row;
	}
	if (is_signal(s)) {
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

void program_row(struct program *p, struct unwind_row row)
{
	row.pc = (uint32_t)(p->pc - p->low);
	if (p->into->rows.count > p->first) {
		const struct unwind_row *last = &p->into->rows.items[p->into->rows.count - 1];
		if (last->how == row.how && last->offset == row.offset && last->bp == row.bp)
			return;
	}
	array_push(&p->into->rows, row);
}

bool program_advance(struct program *p, uint64_t pc)
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
	int64_t data_align = p->common->data_align;
	switch (op) {
	case DW_CFA_def_cfa:
		set_cfa_register(s, reader_unsigned(p->r));
		s->cfa_offset = (int64_t)reader_unsigned(p->r);
		return true;
	case DW_CFA_def_cfa_sf:
		set_cfa_register(s, reader_unsigned(p->r));
		s->cfa_offset = scaled((uint64_t)reader_signed(p->r), data_align);
		return true;
	case DW_CFA_def_cfa_register:
		set_cfa_register(s, reader_unsigned(p->r));
		return true;
	case DW_CFA_def_cfa_offset:
		s->cfa_offset = (int64_t)reader_unsigned(p->r);
		return true;
	case DW_CFA_def_cfa_offset_sf:
		s->cfa_offset = scaled((uint64_t)reader_signed(p->r), data_align);
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

bool program_run(struct program *p)
{
	while (p->r->at < p->r->end) {
		if (!run_one(p) || p->r->bad)
			return false;
	}
	return true;
}
