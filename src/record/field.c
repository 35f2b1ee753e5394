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
	snprintf(c->name, sizeof c->name, "%s%s", before ? f->name : name, before ? name : f->name);
	snprintf(c->csv, sizeof c->csv, "%s%s", before ? csv : name, before ? name : csv);
	snprintf(c->json, sizeof c->json, "%s%s", json, f->json ? name : c->name);
	c->leaf = *f;
	c->leaf.name = c->name;
	c->leaf.json = c->json;
	c->leaf.csv = c->csv;
	c->leaf.offset = c->base + f->offset + c->next * sizeof(uint64_t);
	c->leaf.bits += c->base;
	c->leaf.kind = FIELD_U64;
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
		switch (f->kind) {
		case FIELD_END:
			return false;
		case FIELD_SPLICE:
			c->spliced = f->shape->fields;
			c->base = f->offset;
			continue;
		case FIELD_CAUSES:
			if (c->next < LEDGER_CAUSES) {
				take_apart(c, f, ledger_causes[c->next].name, false);
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

struct value field_value(const struct field_cursor *c, const void *object)
{
	const struct field *f = &c->leaf;
	const void *p = (const char *)object + f->offset;
	bool zero_absent = f->flags & FIELD_ZERO_ABSENT;
	int64_t i64;
	double real;
	if (f->flags & (FIELD_BY_HAND | FIELD_MAYBE))
		return (struct value){ IS_ABSENT };
	switch (f->kind) {
	case FIELD_BOOL:
		return (struct value){ IS_BOOL, .integer = *(const bool *)p };
	case FIELD_MAYBE_BOOL:
		return *(const int32_t *)p < 0
			       ? (struct value){ IS_ABSENT }
			       : (struct value){ IS_BOOL, .integer = *(const int32_t *)p };
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
		memcpy(&i64, (const char *)object + f->bits, sizeof i64);
		if (!((uint64_t)i64 >> c->bit & 1))
			return (struct value){ IS_ABSENT };
		memcpy(&i64, p, sizeof i64);
		return integer(i64, false);
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
