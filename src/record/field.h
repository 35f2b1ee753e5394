/* The catalogue: every fact is one row of a table of fields. A row says where the fact is in its
 * struct, how it is called, what it means, in which unit it is, and how the struct says that it is
 * not known. SQL columns and views, JSON, CSV, the JSON schemas, the page's types and docs/lab.md
 * all come from these rows.
 *
 * To add a fact: add a member to the struct, a row to its table, and the line that measures it.
 * Then run `make generated`, which renews the files that are made from the catalogue. */
#ifndef TARE_RECORD_FIELD_H
#define TARE_RECORD_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ABSENT_NS UINT64_MAX /* a time that was not seen: unavailable is never zero */

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

/* What a member is, and which of its values mean that nothing is known. */
enum field_kind {
	FIELD_END,
	FIELD_BOOL,    /* bool */
	FIELD_ENUM,    /* an enum below `limit`, called names[value]; of limit 1: always names[0] */
	FIELD_I32,     /* int32_t */
	FIELD_U32,     /* uint32_t */
	FIELD_I64,     /* int64_t */
	FIELD_ID,      /* int64_t; 0 is absent */
	FIELD_KNOWN,   /* int64_t; -1 is absent */
	FIELD_U64,     /* uint64_t; also size_t */
	FIELD_NS,      /* uint64_t; ABSENT_NS is absent */
	FIELD_TEXT,    /* char *: our own, made valid UTF-8; NULL is absent */
	FIELD_RAW,     /* char *: the user's bytes; in SQL as NAME and, repaired, NAME_text; NULL is
			  absent */
	FIELD_NAME,    /* char[limit]: its bytes as they are; in JSON an empty one is absent with
			  FIELD_ZERO_ABSENT */
	FIELD_REAL,    /* double; NaN and infinity are absent */
	FIELD_DATE,    /* int64_t: CLOCK_REALTIME in ns; 0 is absent */
	FIELD_HASH,    /* uint64_t: 16 hexadecimal digits; 0 is absent */
	FIELD_ADDRESS, /* uint64_t: "0x1f"; ABSENT_NS is absent */
	/* One row for many numbers. */
	FIELD_CAUSES,	/* uint64_t[LEDGER_CAUSES], or double with `item` FIELD_REAL: a column per
			   cause, called CAUSE and then the name */
	FIELD_MEASURES, /* uint64_t[limit]: a column per row of `measures`, called by the name and
			   then the measure; absent where its bit is clear in the uint64_t at `bits`
			 */
	FIELD_EACH,	/* uint64_t[limit]: a column per name in `names`, called that and then the
			   name; each of kind `item` */
	/* Only in JSON. */
	FIELD_CONST,  /* the number `limit` */
	FIELD_OBJECT, /* a struct, described by `shape`; null with FIELD_ZERO_ABSENT where the
			 first row of its shape is 0 or absent */
	FIELD_LIST, /* an ARRAY of structs, described by `shape`, of `limit` bytes each; or of plain
		       values: `item` */
	FIELD_MAP,  /* an object with any keys; its values as in a list. With `item` FIELD_TEXT
		       an ARRAY of pairs of char *, with nothing a json_t *, which may be NULL */
	FIELD_ANY,  /* whatever `more` says */
	FIELD_SPLICE, /* the rows of `shape` stand here, of the struct at offset */
};

enum field_flag {
	FIELD_NOT_SQL = 1,
	FIELD_NOT_JSON = 2,
	FIELD_NOT_CSV = 4,
	FIELD_ONLY_SQL = FIELD_NOT_JSON | FIELD_NOT_CSV,
	FIELD_ONLY_JSON = FIELD_NOT_SQL | FIELD_NOT_CSV,
	FIELD_ZERO_ABSENT =
		8, /* in JSON and CSV 0 means that it is not known; of an enum, its limit does */
	FIELD_BY_HAND =
		16,	   /* the code that makes the JSON fills it in; the row only describes it */
	FIELD_MAYBE = 32,  /* filled in by hand, and null where it is not known */
	FIELD_ALWAYS = 64, /* its kind could be absent, but here it never is */
	FIELD_OPTIONAL = 128,	 /* the JSON may leave it out */
	FIELD_GIVEN = 512,	 /* in JSON and CSV: absent unless the bool at `bits` is true */
	FIELD_OF_SEVERAL = 1024, /* likewise: unless the uint64_t at `bits` is 2 or more */
	FIELD_MISSING = 256,	 /* of measures: `bits` is a uint32_t of those that are not known */
	FIELD_CODE = 2048,	 /* marked up as code where a table has that */
};

struct measure;
struct shape;

struct field {
	const char *name; /* in SQL and CSV; in JSON unless `json` says otherwise */
	enum field_kind kind;
	unsigned limit; /* see the kinds */
	size_t offset;
	const char *meaning; /* for documents: a phrase or sentences */
	enum unit unit;
	unsigned flags;
	const char
		*title; /* a heading for people; NULL: not among the columns that they are shown */
	const char *json; /* "pt_ns.net": the member net of the object pt_ns */
	const char *csv;
	const char *const *names;
	const struct shape *shape;
	const struct shape *const
		*either; /* of a list: its items have one of these shapes; ended by NULL */
	enum field_kind item;
	const struct measure *measures;
	size_t bits;
	const char *more; /* further members of its JSON schema: "\"maximum\": 1" */
};

/* A row; what else it says follows as .unit = UNIT_BYTES and so on. */
#define FACT(type, member, name_, kind_, meaning_, ...)                         \
	{                                                                       \
		.name = name_, .kind = kind_, .offset = offsetof(type, member), \
		.meaning = meaning_, __VA_ARGS__                                \
	}

/* A struct as JSON has it. */
struct shape {
	const char *name; /* of the type, in snake_case; unique */
	const char *meaning;
	const struct field *fields;
	const char *more; /* as of a field */
};

/* A document that tare writes: docs/schema/NAME.schema.json. */
struct document {
	const char *name;
	const char *title, *meaning;
	const struct shape *shape;
};

/* Goes through the rows one by one, those that stand for many numbers taken apart and spliced ones
 * put in. Begin with { .fields = table }. A leaf is a row of a single value; its name is valid
 * until the next call. */
struct field_cursor {
	const struct field *fields;
	unsigned without; /* rows with one of these flags are left out */
	bool unnamed;	  /* the names are not needed, which is quicker */
	struct field leaf;
	unsigned bit; /* of a leaf that stands for a measure: its bit at leaf.bits */
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
/* False: it is filled in by hand, or the struct says that it is not there. */
bool field_given(const struct field_cursor *c, const void *object);

/* The other way, for leaves that are integers. What cannot say that it is not known becomes 0. -1:
 * the value is out of its bounds; field_most() is the highest that may be. */
int field_set(const struct field_cursor *c, void *object, bool known, int64_t value);
uint64_t field_most(const struct field *f);
/* The same for the member itself, the bits of measures apart. */
int field_put(const struct field *f, void *member, bool known, int64_t value);
void field_put_bit(const struct field *f, void *object, unsigned bit, bool known);

#endif
