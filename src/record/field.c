#include "record/field.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "record/ledger.h"
#include "record/measure.h"

/* One number of a row that stands for many. The JSON name of such a row is "totals." or the like.
 */
static void take_apart(struct field_cursor *c, const struct field *f, const char *name, bool before)
{
	const char *json = f->json ? f->json : "", *csv = f->csv ? f->csv : f->name;
	if (!c->unnamed) {
		snprintf(c->name, sizeof c->name, "%s%s", before ? f->name : name,
			 before ? name : f->name);
		snprintf(c->csv, sizeof c->csv, "%s%s", before ? csv : name, before ? name : csv);
		snprintf(c->json, sizeof c->json, "%s%s", json, f->json ? name : c->name);
	}
	c->leaf = *f;
	c->leaf.name = c->name;
	c->leaf.json = c->json;
	c->leaf.csv = c->csv;
	c->leaf.offset = c->base + f->offset + c->next * sizeof(uint64_t);
	c->leaf.bits += c->base;
	c->leaf.kind = f->item ? f->item : FIELD_U64;
	c->bit = c->next++;
}

bool field_next(struct field_cursor *c)
{
	for (;;) {
		const struct field **rows = c->spliced ? &c->spliced : &c->fields;
		const struct field *f = *rows;
		if (!f->kind && c->spliced) {
			c->spliced = NULL;
			c->base = 0;
			c->fields++;
			continue;
		}
		if (f->flags & c->without) {
			(*rows)++;
			continue;
		}
		switch (f->kind) {
		case FIELD_END:
			return false;
		case FIELD_SPLICE:
			c->spliced = f->shape->fields;
			c->base = f->offset;
			continue;
		case FIELD_CAUSES:
			if (c->next < LEDGER_CAUSES) {
				const char *meaning = ledger_causes[c->next].meaning;
				take_apart(c, f, ledger_causes[c->next].name, false);
				c->leaf.meaning = f->meaning ? f->meaning : meaning;
				return true;
			}
			break;
		case FIELD_MEASURES:
			if (c->next < f->limit) {
				const struct measure *m = &f->measures[c->next];
				take_apart(c, f, m->name, true);
				c->leaf.kind = FIELD_MEASURES;
				c->leaf.unit = m->unit;
				c->leaf.meaning = m->meaning;
				c->leaf.title = m->title;
				return true;
			}
			break;
		case FIELD_EACH:
			if (c->next < f->limit) {
				take_apart(c, f, f->names[c->next], false);
				c->leaf.kind = f->item;
				return true;
			}
			break;
		default:
			c->leaf = *f;
			c->leaf.offset += c->base;
			c->leaf.bits += c->base;
			c->leaf.json = f->json ? f->json : f->name;
			c->leaf.csv = f->csv ? f->csv : f->name;
			(*rows)++;
			return true;
		}
		c->next = 0;
		(*rows)++;
	}
}

static struct value integer(int64_t n, bool absent)
{
	return absent ? (struct value){ IS_ABSENT } : (struct value){ IS_INTEGER, .integer = n };
}

static struct value text(const char *s)
{
	return s ? (struct value){ IS_TEXT, .text = s } : (struct value){ IS_ABSENT };
}

bool field_given(const struct field_cursor *c, const void *object)
{
	const struct field *f = &c->leaf;
	const void *bits = (const char *)object + f->bits;
	return !(f->flags & (FIELD_BY_HAND | FIELD_MAYBE)) &&
	       (!(f->flags & FIELD_GIVEN) || *(const bool *)bits) &&
	       (!(f->flags & FIELD_OF_SEVERAL) || *(const uint64_t *)bits > 1);
}

struct value field_value(const struct field_cursor *c, const void *object)
{
	const struct field *f = &c->leaf;
	const void *p = (const char *)object + f->offset, *bits = (const char *)object + f->bits;
	bool zero_absent = f->flags & FIELD_ZERO_ABSENT, known;
	int64_t i64;
	double real;
	if (!field_given(c, object))
		return (struct value){ IS_ABSENT };
	switch (f->kind) {
	case FIELD_BOOL:
		return (struct value){ IS_BOOL, .integer = *(const bool *)p };
	case FIELD_ENUM:
		if (f->limit == 1)
			return text(f->names[0]);
		return text(*(const uint32_t *)p < f->limit ? f->names[*(const uint32_t *)p]
							    : NULL);
	case FIELD_CONST:
		return integer(f->limit, false);
	case FIELD_I32:
		return integer(*(const int32_t *)p, zero_absent && !*(const int32_t *)p);
	case FIELD_U32:
		return integer(*(const uint32_t *)p, zero_absent && !*(const uint32_t *)p);
	case FIELD_REAL:
		memcpy(&real, p, sizeof real);
		return isfinite(real) && !(zero_absent && real == 0)
			       ? (struct value){ IS_REAL, .real = real }
			       : (struct value){ IS_ABSENT };
	case FIELD_TEXT:
	case FIELD_RAW:
		return text(*(char *const *)p);
	case FIELD_NAME:
		return text(zero_absent && !*(const char *)p ? NULL : p);
	case FIELD_MEASURES:
		known = f->flags & FIELD_MISSING ? !(*(const uint32_t *)bits >> c->bit & 1)
						 : *(const uint64_t *)bits >> c->bit & 1;
		memcpy(&i64, p, sizeof i64);
		return integer(i64, !known);
	default:
		memcpy(&i64, p, sizeof i64);
		return integer(i64,
			       (f->kind == FIELD_KNOWN && i64 == -1) ||
				       ((f->kind == FIELD_NS || f->kind == FIELD_ADDRESS) &&
					(uint64_t)i64 == ABSENT_NS) ||
				       (!i64 && (zero_absent || f->kind == FIELD_ID ||
						 f->kind == FIELD_DATE || f->kind == FIELD_HASH)));
	}
}

uint64_t field_most(const struct field *f)
{
	return f->kind == FIELD_BOOL			     ? 1
	       : f->kind == FIELD_ENUM			     ? f->limit - 1
	       : f->kind == FIELD_I32			     ? INT32_MAX
	       : f->kind == FIELD_U32			     ? UINT32_MAX
	       : f->kind == FIELD_HASH || f->unit == UNIT_ID ? UINT64_MAX
							     : INT64_MAX;
}

int field_put(const struct field *f, void *member, bool known, int64_t value)
{
	switch (f->kind) {
	case FIELD_BOOL:
		if (value < 0 || value > 1)
			return -1;
		*(bool *)member = value;
		return 0;
	case FIELD_ENUM:
		if (!known && f->flags & FIELD_ZERO_ABSENT)
			value = f->limit;
		else if (!known || value < 0 || value >= f->limit)
			return -1;
		*(uint32_t *)member = (uint32_t)value;
		return 0;
	case FIELD_U32:
		if (value < 0 || value > UINT32_MAX)
			return -1;
		*(uint32_t *)member = (uint32_t)value;
		return 0;
	case FIELD_I32:
		if (value < INT32_MIN || value > INT32_MAX)
			return -1;
		*(int32_t *)member = (int32_t)value;
		return 0;
	case FIELD_KNOWN:
		value = known ? value : -1;
		break;
	case FIELD_NS:
		value = known ? value : (int64_t)ABSENT_NS;
		break;
	case FIELD_REAL:
		*(double *)member = known ? (double)value : NAN;
		return 0;
	default:
		if (value < 0 && f->unit == UNIT_NS)
			return -1;
		break;
	}
	memcpy(member, &value, sizeof value);
	return 0;
}

void field_put_bit(const struct field *f, void *object, unsigned bit, bool known)
{
	void *bits = (char *)object + f->bits;
	if (!(f->flags & FIELD_MISSING))
		*(uint64_t *)bits |= (uint64_t)known << bit;
	else if (known)
		*(uint32_t *)bits &= ~(1u << bit);
	else
		*(uint32_t *)bits |= 1u << bit;
}

int field_set(const struct field_cursor *c, void *object, bool known, int64_t value)
{
	if (c->leaf.kind == FIELD_MEASURES)
		field_put_bit(&c->leaf, object, c->bit, known);
	return field_put(&c->leaf, (char *)object + c->leaf.offset, known, value);
}
