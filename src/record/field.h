/* The catalogue: every fact is one row of a table of fields. A row gives the fact's place in its
 * struct, its name, meaning and unit, and how the struct marks it as unknown. SQL columns and
 * views, JSON, CSV, the JSON schemas, the page's types and docs/lab.md are all made from these
 * rows.  To add a fact, add a member to the struct, a row to its table, and the code that measures
 * it. Then run `make generated` to update the generated files. */
#ifndef TARE_RECORD_FIELD_H
#define TARE_RECORD_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ABSENT_NS UINT64_MAX /* a time that was not measured: unavailable is never zero */

enum unit {
	UNIT_NONE,
	UNIT_NS,
	UNIT_BYTES,
	UNIT_COUNT,
	UNIT_TICKS,
	UNIT_ID,
	UNIT_SHARE, /* a fraction: 0.25 is 25 % */
	UNIT_PER_S,
};

/* The C type of a member, and which of its values mean that it is unknown. */
enum field_kind {
	FIELD_END,
	FIELD_BOOL,  /* bool */
	FIELD_ENUM,  /* an enum below `limit`, called names[value]; with limit 1 always names[0] */
	FIELD_I32,   /* int32_t */
	FIELD_U32,   /* uint32_t */
	FIELD_I64,   /* int64_t */
	FIELD_ID,    /* int64_t; 0 is absent */
	FIELD_KNOWN, /* int64_t; -1 is absent */
	FIELD_U64,   /* uint64_t; also size_t */
	FIELD_NS,    /* uint64_t; ABSENT_NS is absent */
	FIELD_TEXT,  /* char *: tare's own text, made valid UTF-8; NULL is absent */
	FIELD_RAW,   /* char *: the user's bytes; SQL stores them as NAME and a repaired copy as
			NAME_text; NULL is absent */
	FIELD_NAME, /* char[limit]: stored unchanged; with FIELD_ZERO_ABSENT, an empty one is absent
		       in JSON */
	FIELD_REAL, /* double; NaN and infinity are absent */
	FIELD_DATE, /* int64_t: CLOCK_REALTIME in ns; 0 is absent */
	FIELD_HASH, /* uint64_t: 16 hexadecimal digits; 0 is absent */
	FIELD_ADDRESS, /* uint64_t: "0x1f"; ABSENT_NS is absent */
	/* One row for many numbers. */
	FIELD_CAUSES, /* uint64_t[LEDGER_CAUSES], or double if `item` is FIELD_REAL: one column per
			 cause, named after the cause and then the row */
	FIELD_MEASURES, /* uint64_t[limit]: one column per row of `measures`, named after the row
			   and then the measure; absent if its bit is clear in the uint64_t at
			   `bits` */
	FIELD_EACH, /* uint64_t[limit]: one column per name in `names`, named after that and then
		       the row; each is of kind `item` */
	/* Only in JSON. */
	FIELD_CONST,  /* the number `limit` */
	FIELD_OBJECT, /* a struct described by `shape`; with FIELD_ZERO_ABSENT it is null if the
			 first row of its shape is 0 or absent */
	FIELD_LIST, /* an ARRAY of structs of `limit` bytes each, described by `shape`, or of plain
		       values of kind `item` */
	FIELD_MAP,  /* an object with any keys; its values are described as in a list. With `item`
		       FIELD_TEXT it is an ARRAY of pairs of char *, otherwise a json_t *, which may
		       be NULL */
	FIELD_ANY,  /* the JSON schema in `more` describes it */
	FIELD_SPLICE, /* the rows of `shape` are inserted here, for the struct at offset */
};

enum field_flag {
	FIELD_NOT_SQL = 1,
	FIELD_NOT_JSON = 2,
	FIELD_NOT_CSV = 4,
	FIELD_ONLY_SQL = FIELD_NOT_JSON | FIELD_NOT_CSV,
	FIELD_ONLY_JSON = FIELD_NOT_SQL | FIELD_NOT_CSV,
	FIELD_ZERO_ABSENT = 8, /* in JSON and CSV 0 means unknown; for an enum, its limit does */
	FIELD_BY_HAND = 16,    /* the code that makes the JSON sets it; the row only describes it */
	FIELD_MAYBE = 32,      /* set by hand, and null if unknown */
	FIELD_ALWAYS = 64,     /* its kind could be absent, but this one never is */
	FIELD_OPTIONAL = 128,  /* the JSON may omit it */
	FIELD_GIVEN = 512,     /* in JSON and CSV, absent unless the bool at `bits` is true */
	FIELD_OF_SEVERAL = 1024, /* likewise, unless the uint64_t at `bits` is 2 or more */
	FIELD_MISSING = 256,	 /* for measures: the uint32_t at `bits` marks those unknown */
	FIELD_CODE = 2048,	 /* marked up as code in tables that support it */
};

struct measure;
struct shape;

struct field {
	const char *name; /* in SQL and CSV; also in JSON unless `json` is set */
	enum field_kind kind;
	unsigned limit; /* see the kinds */
	size_t offset;
	const char *meaning; /* for documentation: a phrase or sentences */
	enum unit unit;
	unsigned flags;
	const char *title; /* the heading for people; NULL: people do not see this column */
	const char *json;  /* "pt_ns.net": the member net of the object pt_ns */
	const char *csv;
	const char *const *names;
	const struct shape *shape;
	const struct shape *const
		*either; /* for a list: its items have one of these shapes; ends with NULL */
	enum field_kind item;
	const struct measure *measures;
	size_t bits;
	const char *more; /* more members of its JSON schema: "\"maximum\": 1" */
};

/* A row. Further members follow, such as .unit = UNIT_BYTES. */
#define FACT(type, member, name_, kind_, meaning_, ...)                         \
	{                                                                       \
		.name = name_, .kind = kind_, .offset = offsetof(type, member), \
		.meaning = meaning_, __VA_ARGS__                                \
	}

/* How JSON presents a struct. */
struct shape {
	const char *name; /* of the type, in snake_case; unique */
	const char *meaning;
	const struct field *fields;
	const char *more; /* as in struct field */
};

/* A document that tare writes. Its schema is docs/schema/NAME.schema.json. */
struct document {
	const char *name;
	const char *title, *meaning;
	const struct shape *shape;
};

/* Iterates over the rows. Rows that stand for many numbers are split and spliced rows are inserted,
 * so that every leaf is a row with a single value. Begin with { .fields = table }. The names of a
 * leaf are valid until the next call. */
struct field_cursor {
	const struct field *fields;
	unsigned without; /* rows with one of these flags are skipped */
	bool unnamed;	  /* faster; use it if the names are not needed */
	struct field leaf;
	unsigned bit; /* for a measure: its bit at leaf.bits */
	/* private */
	unsigned next;
	char name[96], json[96], csv[96];
	const struct field *spliced;
	size_t base;
};
bool field_next(struct field_cursor *c);

/* The value of a leaf in a struct. Text is borrowed. */
enum value_type { IS_ABSENT, IS_BOOL, IS_INTEGER, IS_REAL, IS_TEXT };
struct value {
	enum value_type type;
	int64_t integer;
	double real;
	const char *text;
};
struct value field_value(const struct field_cursor *c, const void *object);
/* False if the code sets it by hand, or if the struct marks it as absent. */
bool field_given(const struct field_cursor *c, const void *object);

/* Stores an integer leaf. A member that cannot be marked as unknown becomes 0. Returns -1 if the
 * value is out of range; field_most() is the highest allowed value. */
int field_set(const struct field_cursor *c, void *object, bool known, int64_t value);
uint64_t field_most(const struct field *f);
/* Like field_set(), for a member itself; field_put_bit() sets the presence bit of a measure. */
int field_put(const struct field *f, void *member, bool known, int64_t value);
void field_put_bit(const struct field *f, void *object, unsigned bit, bool known);

#endif
