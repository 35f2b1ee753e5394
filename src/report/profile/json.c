/* docs/schema/profile.schema.json, docs/schema/profile-listing.schema.json */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "report/core/json.h"
#include "report/page/documents.h"
#include "report/profile/fields.h"

static void set_hex(json_t *o, const char *key, uint64_t value)
{
	char text[32];
	snprintf(text, sizeof text, "0x%" PRIx64, value);
	json_object_set_new(o, key, json_string(text));
}

/* ---- head ---- */

static json_t *settings_json(const struct profile *p)
{
	json_t *o = json_object();
	json_object_set_new(o, "mode", json_string(profile_mode_name(p->mode)));
	json_object_set_new(o, "stacks", json_string(profile_stacks_name(p->stacks)));
	json_set_real(o, "hz", p->hz > 0 ? p->hz : NAN);
	json_set_count(o, "cpus", p->cpus);
	return o;
}

static json_t *ends_json(const uint64_t ends[STACK_ENDS])
{
	json_t *o = json_object();
	for (enum stack_end e = 0; e < STACK_ENDS; e++)
		json_set_count(o, stack_end_name(e), ends[e]);
	return o;
}

static json_t *totals_json(const struct profile *p, const struct profile_totals *sums)
{
	const struct profile_slice *sum = &sums->slice;
	json_t *o = json_object();
	json_set_count(o, "samples", sum->samples);
	json_set_count(o, "user", sum->user);
	json_set_count(o, "kernel", sum->kernel);
	json_set_count(o, "idle", sum->idle);
	json_set_count(o, "others", sum->others);
	json_set_count(o, "lost", sum->lost);
	json_set_count(o, "throttled", sum->throttled);
	json_set_count(o, "untold", sum->untold);
	json_set_count(o, "peak_used", sum->peak_used);
	json_set_count(o, "peak_room", sum->peak_room);
	json_set_count(o, "self_ns", sum->self_ns);
	json_set_real(o, "self_share",
		      sums->cpu_ns > 0 ? (double)sum->self_ns / sums->cpu_ns : NAN);
	json_set_real(o, "cpu_ns", profile_ns(p, sum->samples));
	json_object_set_new(o, "stack_ends", ends_json(sums->ends));
	return o;
}

/* ---- views ---- */

static json_t *value_json(enum profile_field field, const struct profile_value *value)
{
	if (!value->present)
		return json_null();
	if (field == ROW_INLINED)
		return json_boolean(value->count);
	switch (profile_columns[field].type) {
	case COLUMN_TEXT:
		return json_text(value->text);
	case COLUMN_COUNT:
		return json_integer(value->count);
	case COLUMN_DATE:
		return json_date(value->count);
	default:
		return json_real_or_null(value->number);
	}
}

static json_t *row_json(const struct profile *p, const struct sleepy_view *v,
			const struct sleepy_row *row)
{
	json_t *o = json_object();
	for (enum profile_field f = 0; f < PROFILE_FIELDS; f++) {
		struct profile_value value;
		struct strbuf key = { 0 };
		if (!profile_has_field(v->by, f))
			continue;
		profile_field_of(p, v, row, f, &value);
		strbuf_puts(&key, profile_columns[f].name);
		if (profile_columns[f].type == COLUMN_DURATION)
			strbuf_puts(&key, "_ns");
		json_object_set_new(o, strbuf_text(&key), value_json(f, &value));
		strbuf_release(&key);
	}
	return o;
}

static json_t *view_json(const struct profile *p, const struct sleepy_view *v,
			 const struct profile_style *style)
{
	json_t *o = json_object(), *rows = json_array();
	profile_row_list list;
	profile_rows_of(v, style, &list);
	for (size_t i = 0; i < list.count; i++)
		json_array_append_new(rows, row_json(p, v, list.items[i].row));
	json_object_set_new(o, "by", json_string(sleepy_by_name(v->by)));
	json_set_count(o, "samples", v->samples);
	json_set_count(o, "all", v->all);
	json_set_count(o, "elapsed_ns", v->elapsed_ns);
	json_set_count(o, "without_function", v->no_function);
	json_object_set_new(o, "stack_ends", ends_json(v->ends));
	json_set_count(o, "row_count", v->rows.count);
	json_object_set_new(o, "rows", rows);
	array_release(&list);
	return o;
}

json_t *profile_document(const struct profile_subject *s, const struct profile_part *parts,
			 size_t count)
{
	const struct profile *p = s->profile;
	struct profile_totals sums;
	struct strbuf subject = { 0 };
	json_t *root = json_object(), *list = json_array();
	profile_totals_of(p, &sums);
	put_profile_subject(s->run, &subject);
	for (size_t i = 0; i < count; i++) {
		struct profile_style style = profile_normal_style(&parts[i].style);
		json_array_append_new(list, view_json(p, parts[i].view, &style));
	}
	json_object_set_new(root, "type", json_string("profile"));
	json_object_set_new(root, "format", json_integer(1));
	json_object_set_new(root, "run", json_run(s->run));
	json_object_set_new(root, "machine", json_machine(s->machine));
	json_object_set_new(root, "subject", json_text(strbuf_text(&subject)));
	json_object_set_new(root, "settings", settings_json(p));
	json_object_set_new(root, "begun_at",
			    p->slices.count && p->realtime_ns
				    ? json_date(p->realtime_ns + (int64_t)sums.slice.begin_ns)
				    : json_null());
	json_set_count(root, "elapsed_ns", sums.elapsed_ns);
	json_set_count(root, "slices", p->slices.count);
	json_object_set_new(root, "totals", totals_json(p, &sums));
	json_object_set_new(root, "views", list);
	strbuf_release(&subject);
	return root;
}

void profile_json(const struct profile_subject *s, const struct sleepy_view *views, size_t count,
		  const struct profile_style *given, struct strbuf *out)
{
	struct profile_style style = profile_normal_style(given);
	struct profile_part *parts = xcalloc(count + 1, sizeof *parts);
	for (size_t i = 0; i < count; i++)
		parts[i] = (struct profile_part){ &views[i], style };
	put_json(profile_document(s, parts, count), 1, out);
	xfree(parts);
}

/* ---- a listing ---- */

static json_t *function_json(const struct profile *p, uint32_t function)
{
	const struct profile_function *f = &p->functions.items[function];
	const struct profile_object *object = &p->objects.items[f->object];
	char build_id[2 * BUILD_ID_MAX + 1];
	json_t *o = json_object();
	build_id_text(object, build_id);
	json_object_set_new(o, "name", json_text(f->name));
	json_object_set_new(o, "object", json_text(object->path));
	json_object_set_new(o, "object_kind", json_string(object_kind_name(object->kind)));
	json_object_set_new(o, "build_id", *build_id ? json_string(build_id) : json_null());
	set_hex(o, "address", f->address);
	json_set_count(o, "size", f->size);
	json_object_set_new(o, "file", json_text(f->file));
	json_object_set_new(o, "line", f->line ? json_integer(f->line) : json_null());
	return o;
}

static json_t *instruction_json(const struct profile_listing *l, const struct listing_line *line)
{
	const struct instruction *i = line->instruction;
	json_t *o = json_object();
	bool read = l->source && i->file && i->line;
	set_hex(o, "address", i->address);
	json_set_count(o, "size", i->size);
	json_object_set_new(o, "text", json_text(i->text));
	json_set_count(o, "samples", line->self);
	json_set_real(o, "share", l->samples ? (double)line->self / (double)l->samples : NAN);
	json_object_set_new(o, "file", json_text(i->file));
	json_object_set_new(o, "line", i->line ? json_integer(i->line) : json_null());
	json_object_set_new(o, "source",
			    json_text(read ? l->source(l->context, i->file, i->line) : NULL));
	return o;
}

json_t *profile_listing_document(const struct profile_subject *s, const struct profile_listing *l)
{
	json_t *root = json_object(), *list = json_array();
	struct listing lines;
	listing_of(l, &lines);
	for (size_t i = 0; i < lines.list.count; i++)
		json_array_append_new(list, instruction_json(l, &lines.list.items[i]));
	json_object_set_new(root, "type", json_string("profile-listing"));
	json_object_set_new(root, "format", json_integer(1));
	json_object_set_new(root, "run", json_run(s->run));
	json_object_set_new(root, "settings", settings_json(s->profile));
	json_object_set_new(root, "function", function_json(s->profile, l->function));
	json_set_count(root, "samples", l->samples);
	json_set_count(root, "self", lines.self);
	json_set_count(root, "elsewhere", lines.elsewhere);
	json_object_set_new(root, "instructions", list);
	listing_release(&lines);
	return root;
}

void profile_listing_json(const struct profile_subject *s, const struct profile_listing *l,
			  struct strbuf *out)
{
	put_json(profile_listing_document(s, l), 1, out);
}
