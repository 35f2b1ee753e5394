/* docs/schema/profile.schema.json, docs/schema/profile-listing.schema.json */
#include <jansson.h>

#include "report/core/json.h"
#include "report/core/shapes.h"
#include "report/page/documents.h"
#include "report/profile/rows.h"

json_t *profile_document(const struct profile_subject *s, const struct profile_part *parts,
			 size_t count)
{
	const struct profile *p = s->profile;
	struct profile_totals sums;
	SCOPED(strbuf_release) struct strbuf subject = { 0 };
	json_t *root = json_shape(&profile_shape, p), *views = json_array();
	profile_totals_of(p, &sums);
	put_profile_subject(s->run, &subject);
	json_object_set_new(root, "run", json_run(s->run));
	json_object_set_new(root, "machine", json_machine(s->machine));
	json_object_set_new(root, "subject", json_text(strbuf_text(&subject)));
	if (p->slices.count && p->realtime_ns)
		json_object_set_new(root, "begun_at",
				    json_date(p->realtime_ns + (int64_t)sums.slice.begin_ns));
	json_set_count(root, "elapsed_ns", sums.elapsed_ns);
	json_object_set_new(root, "totals", json_shape(&profile_totals_shape, &sums));
	json_object_set_new(root, "views", views);
	for (size_t i = 0; i < count; i++) {
		const struct sleepy_view *v = parts[i].view;
		struct profile_style style = profile_normal_style(&parts[i].style);
		json_t *view = json_shape(&profile_view_shape, v), *rows = json_array();
		FREED profile_row_list list;
		profile_rows_of(v, &style, &list);
		for (size_t k = 0; k < list.count; k++) {
			struct profile_row row;
			profile_row_of(p, v, list.items[k].row, &row);
			json_array_append_new(rows, json_shape(profile_row_shapes[v->by], &row));
		}
		json_object_set_new(view, "rows", rows);
		json_array_append_new(views, view);
	}
	return root;
}

void profile_json(const struct profile_subject *s, const struct sleepy_view *views, size_t count,
		  const struct profile_style *given, struct strbuf *out)
{
	struct profile_style style = profile_normal_style(given);
	FREED struct profile_part *parts = xcalloc(count + 1, sizeof *parts);
	for (size_t i = 0; i < count; i++)
		parts[i] = (struct profile_part){ &views[i], style };
	put_json(profile_document(s, parts, count), 1, out);
}

json_t *profile_listing_document(const struct profile_subject *s, const struct profile_listing *l)
{
	const struct profile_function *f = &s->profile->functions.items[l->function];
	const struct profile_object *object = &s->profile->objects.items[f->object];
	json_t *function = json_shape(&profile_function_shape, f);
	char build_id[2 * BUILD_ID_MAX + 1];
	SCOPED(listing_release) struct listing lines;
	build_id_text(object, build_id);
	json_object_set_new(function, "object", json_text(object->path));
	json_object_set_new(function, "object_kind", json_string(object_kind_names[object->kind]));
	json_object_set_new(function, "build_id", json_text(*build_id ? build_id : NULL));
	listing_of(s->profile, l, &lines);
	for (size_t i = 0; i < lines.list.count; i++) {
		struct listing_line *line = &lines.list.items[i];
		if (l->source && line->file && line->line)
			line->source = l->source(l->context, line->file, line->line);
	}
	json_t *root = json_shape(&profile_listing_shape, &lines);
	json_object_set_new(root, "run", json_run(s->run));
	json_object_set_new(root, "settings", json_shape(&profile_settings_shape, s->profile));
	json_object_set_new(root, "function", function);
	return root;
}

void profile_listing_json(const struct profile_subject *s, const struct profile_listing *l,
			  struct strbuf *out)
{
	put_json(profile_listing_document(s, l), 1, out);
}
