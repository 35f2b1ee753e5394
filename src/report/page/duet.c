/* Duets. */

#include "report/page/documents.h"
#include "report/page/private.h"

#define PARTS_MOST 20000 /* one takes 300 bytes */

void page_add_duet(struct page *p, const struct duet_view *v)
{
	const bool stored = v->duet;
	struct strbuf subtitle = { 0 };
	for (size_t i = 0; stored && i < v->duet->sides.count; i++)
		strbuf_printf(&subtitle, "%s%s", i ? " against " : "",
			      v->duet->sides.items[v->duet->sides.count - 1 - i].name);
	json_t *o = page_head_stored(p, &duet_section_shape, v->run, v->machine,
				     stored ? &subtitle : NULL);
	json_t *document = stored ? duet_document(v) : json_null();
	if (stored && v->duet->parts.count > PARTS_MOST) {
		json_object_set_new(document, "parts", json_array());
		page_notef(o,
			   "The %zu executions are not in this page one by one: 'tare export -x -f "
			   "csv' lists them.",
			   v->duet->parts.count);
	}
	if (stored && v->duet->lacks)
		page_note(o, v->duet->lacks);
	json_object_set_new(o, "duet", document);
	page_add(p, o);
	strbuf_release(&subtitle);
}

void page_compare_duets(struct page *p, const size_t *sections, size_t count,
			const struct duet_pool *pool, const char *sentence)
{
	json_t *of = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(of, json_integer((json_int_t)sections[i]));
	json_t *o = json_shape(&duet_comparison_shape, pool);
	json_object_set_new(o, "kind", json_string("duet"));
	json_object_set_new(o, "sections", of);
	json_object_set_new(o, "sentence", json_text(sentence));
	json_array_append_new(p->comparisons, o);
}
