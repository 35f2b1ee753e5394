#include "report/core/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/core/format.h"
#include "report/core/shapes.h"

/* "pt_ns.net" is the member net of the object pt_ns, which is made where it is not there yet. */
static void set_at(json_t *o, const char *path, json_t *value)
{
	const char *dot = strchr(path, '.');
	if (!dot) {
		json_object_set_new(o, path, value);
		return;
	}
	char *outer = xstrndup(path, (size_t)(dot - path));
	json_t *inner = json_object_get(o, outer);
	if (!inner)
		json_object_set_new(o, outer, inner = json_object());
	json_object_set_new(inner, dot + 1, value);
	xfree(outer);
}

static json_t *leaf_json(const struct field_cursor *c, const void *object)
{
	const struct field *f = &c->leaf;
	const void *p = (const char *)object + f->offset;
	if (f->flags & FIELD_BY_HAND && f->kind == FIELD_LIST)
		return json_array();
	if (f->flags & FIELD_BY_HAND && f->kind == FIELD_MAP)
		return json_object();
	if (!field_given(c, object) || f->kind == FIELD_ANY)
		return json_null();
	if (f->kind == FIELD_OBJECT) {
		struct field_cursor first = { .fields = f->shape->fields };
		struct value v = { IS_BOOL };
		if (f->flags & FIELD_ZERO_ABSENT && field_next(&first))
			v = field_value(&first, p);
		return v.type == IS_ABSENT || (v.type == IS_INTEGER && !v.integer)
			       ? json_null()
			       : json_shape(f->shape, p);
	}
	if (f->kind == FIELD_MAP && !f->item) {
		json_t *map = *(json_t *const *)p;
		return map ? json_incref(map) : json_null();
	}
	if (f->kind == FIELD_MAP) {
		const ARRAY(struct fact) *pairs = p;
		json_t *map = json_object();
		for (size_t i = 0; i < pairs->count; i++) {
			char *key = text_utf8(pairs->items[i].key);
			json_object_set_new(map, key, json_text(pairs->items[i].value));
			xfree(key);
		}
		return map;
	}
	if (f->kind == FIELD_LIST) {
		const ARRAY(char) *list = p;
		if (f->shape)
			return json_shapes(f->shape, list->items, list->count, f->limit);
		const struct field_cursor plain = { .leaf = { .kind = f->item } };
		json_t *values = json_array();
		for (size_t i = 0; i < list->count; i++)
			json_array_append_new(values,
					      leaf_json(&plain, list->items + i * f->limit));
		return values;
	}
	struct value v = field_value(c, object);
	switch (v.type) {
	case IS_ABSENT:
		return json_null();
	case IS_BOOL:
		return json_boolean(v.integer);
	case IS_REAL:
		return json_real(v.real);
	case IS_TEXT:
		return json_text(v.text);
	case IS_INTEGER:
		break;
	}
	switch (f->kind) {
	case FIELD_DATE:
		return json_date(v.integer);
	case FIELD_HASH:
		return json_hash((uint64_t)v.integer);
	case FIELD_ADDRESS:
		return json_sprintf("0x%" PRIx64, (uint64_t)v.integer);
	default:
		return json_integer(v.integer);
	}
}

json_t *json_shape(const struct shape *shape, const void *object)
{
	json_t *o = json_object();
	struct field_cursor c = { .fields = shape->fields,
				  .without = FIELD_NOT_JSON | FIELD_OPTIONAL };
	object = object ? object : shape; /* rows that are filled in by hand look at none */
	while (field_next(&c))
		set_at(o, c.leaf.json, leaf_json(&c, object));
	return o;
}

json_t *json_shapes(const struct shape *shape, const void *items, size_t count, size_t size)
{
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_shape(shape, (const char *)items + i * size));
	return list;
}

json_t *json_real_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_count(uint64_t n)
{
	return json_integer((json_int_t)n);
}

json_t *json_hash(uint64_t hash)
{
	char text[17];
	snprintf(text, sizeof text, "%016" PRIx64, hash);
	return hash ? json_string(text) : json_null();
}

json_t *json_text(const char *text)
{
	if (!text)
		return json_null();
	char *valid = text_utf8(text);
	json_t *value = json_string(valid);
	xfree(valid);
	return value;
}

json_t *json_ns(uint64_t ns)
{
	return ns == ABSENT_NS ? json_null() : json_integer((json_int_t)ns);
}

json_t *json_date(int64_t realtime_ns)
{
	char date[WORDS];
	if (!realtime_ns)
		return json_null();
	format_iso8601(realtime_ns, date);
	return json_string(date);
}

json_t *json_id(int64_t id)
{
	return id ? json_integer(id) : json_null();
}

json_t *json_machine(const struct machine *machine)
{
	char fingerprint[17];
	if (!machine)
		return json_null();
	json_t *o = json_shape(&machine_shape, machine);
	machine_fingerprint(machine, fingerprint);
	json_object_set_new(o, "fingerprint", json_string(fingerprint));
	return o;
}

json_t *json_parsed(const char *text)
{
	json_t *o = text ? json_loads(text, 0, NULL) : NULL;
	return o ? o : json_null();
}

json_t *json_run(const struct run *run)
{
	return run ? json_shape(&stored_run_shape, run) : json_null();
}

void json_append(json_t *o, const char *key, json_t *value)
{
	json_array_append_new(json_object_get(o, key), value);
}

void json_set_count(json_t *o, const char *key, uint64_t n)
{
	json_object_set_new(o, key, json_count(n));
}

void json_set_real(json_t *o, const char *key, double value)
{
	json_object_set_new(o, key, json_real_or_null(value));
}

/* 15 digits hold a day in ns exactly, without the noise of a 17th digit */
static void put_dump(const json_t *root, size_t flags, struct strbuf *out)
{
	char *text = json_dumps(root, flags | JSON_REAL_PRECISION(15));
	strbuf_puts(out, text);
	free(text);
}

void put_json(json_t *root, size_t indent, struct strbuf *out)
{
	put_dump(root, JSON_INDENT(indent), out);
	strbuf_putc(out, '\n');
	json_decref(root);
}

void put_compact_json(const json_t *root, struct strbuf *out)
{
	put_dump(root, JSON_COMPACT, out);
}
