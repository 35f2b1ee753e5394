/* Prints the catalogue as JSON, for scripts/generate: the documents, the shapes that they are made
 * of, and the views of the lab. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "lab/lab.h"
#include "report/core/shapes.h"

static const char *const kinds[] = {
	[FIELD_BOOL] = "bool",	     [FIELD_ENUM] = "enum",	 [FIELD_I32] = "integer",
	[FIELD_U32] = "count",	     [FIELD_I64] = "integer",	 [FIELD_ID] = "integer",
	[FIELD_KNOWN] = "count",     [FIELD_U64] = "count",	 [FIELD_NS] = "count",
	[FIELD_TEXT] = "text",	     [FIELD_RAW] = "text",	 [FIELD_NAME] = "text",
	[FIELD_REAL] = "real",	     [FIELD_DATE] = "date",	 [FIELD_HASH] = "hash",
	[FIELD_CAUSES] = NULL,	     [FIELD_MEASURES] = "count", [FIELD_OBJECT] = "object",
	[FIELD_LIST] = "list",	     [FIELD_MAP] = "map",	 [FIELD_ANY] = "any",
	[FIELD_SPLICE] = NULL,	     [FIELD_EACH] = NULL,	 [FIELD_CONST] = "count",
	[FIELD_ADDRESS] = "address",
};

static json_t *shapes, *shape_at; /* by name: described, and where they are in memory */

static void add_shape(const struct shape *s);

/* Whether null may stand there. */
static bool nullable(const struct field *f)
{
	if (f->flags & FIELD_ALWAYS && f->kind != FIELD_LIST &&
	    f->kind != FIELD_MAP) /* there it is about items */
		return false;
	if (f->flags & (FIELD_MAYBE | FIELD_ZERO_ABSENT | FIELD_GIVEN))
		return true;
	switch (f->kind) {
	case FIELD_ID:
	case FIELD_KNOWN:
	case FIELD_NS:
	case FIELD_TEXT:
	case FIELD_RAW:
	case FIELD_REAL:
	case FIELD_DATE:
	case FIELD_HASH:
	case FIELD_ADDRESS:
	case FIELD_MEASURES:
		return true;
	default:
		return false;
	}
}

static json_t *describe(const struct field *f)
{
	const struct field item = { .kind = f->item, .flags = f->flags & FIELD_ALWAYS };
	enum field_kind kind = f->kind == FIELD_MEASURES && f->item ? f->item : f->kind;
	json_t *o = json_pack("{s:s, s:s, s:b, s:b, s:b, s:s?, s:s?, s:s?}", "path", f->json,
			      "kind", kinds[kind], "null", nullable(f), "optional",
			      (f->flags & FIELD_OPTIONAL) != 0, "item_null", nullable(&item),
			      "meaning", f->meaning, "more", f->more, "item",
			      f->item ? kinds[f->item] : NULL);
	if (f->kind == FIELD_ENUM || f->item == FIELD_ENUM) {
		json_t *names = json_array();
		for (unsigned i = 0; i < f->limit; i++)
			json_array_append_new(names, json_string(f->names[i]));
		json_object_set_new(o, "names", names);
	}
	if (f->shape) {
		json_object_set_new(o, "shape", json_string(f->shape->name));
		add_shape(f->shape);
	}
	if (f->either) {
		json_t *either = json_array();
		for (const struct shape *const *s = f->either; *s; s++) {
			json_array_append_new(either, json_string((*s)->name));
			add_shape(*s);
		}
		json_object_set_new(o, "either", either);
	}
	return o;
}

static void add_shape(const struct shape *s)
{
	json_t *seen = json_object_get(shape_at, s->name);
	if (seen) {
		if (json_integer_value(seen) != (json_int_t)(uintptr_t)s) {
			fprintf(stderr, "catalogue: two shapes are called %s\n", s->name);
			exit(1);
		}
		return;
	}
	json_object_set_new(shape_at, s->name, json_integer((json_int_t)(uintptr_t)s));
	json_t *rows = json_array();
	json_object_set_new(shapes, s->name,
			    json_pack("{s:s?, s:s?, s:O}", "meaning", s->meaning, "more", s->more,
				      "fields", rows));
	struct field_cursor c = { .fields = s->fields, .without = FIELD_NOT_JSON };
	while (field_next(&c))
		json_array_append_new(rows, describe(&c.leaf));
	json_decref(rows);
}

static void add_column(void *context, const char *view, const char *column, const char *meaning)
{
	json_array_append_new(context, json_pack("{s:s, s:s?, s:s}", "view", view, "column", column,
						 "meaning", meaning));
}

int main(void)
{
	struct error err = ERROR_INIT;
	json_t *list = json_array(), *views = json_array();
	shapes = json_object();
	shape_at = json_object();
	for (const struct document *d = documents; d->name; d++) {
		add_shape(d->shape);
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "name", d->name,
						      "title", d->title, "meaning", d->meaning,
						      "shape", d->shape->name));
	}
	if (lab_views(add_column, views, &err)) {
		fprintf(stderr, "catalogue: %s\n", err.text);
		return 1;
	}
	json_t *root =
		json_pack("{s:o, s:o, s:o}", "documents", list, "shapes", shapes, "views", views);
	json_dumpf(root, stdout, JSON_INDENT(1));
	json_decref(root);
	json_decref(shape_at);
	return 0;
}
