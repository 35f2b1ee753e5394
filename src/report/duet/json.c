/* docs/schema/duet.schema.json */
#include <stdio.h>
#include <stdlib.h>

#include "report/core/json.h"
#include "report/core/shapes.h"
#include "report/duet/document.h"
#include "report/page/documents.h"

static char *finished(struct strbuf *text)
{
	style_finish(&(struct style){ 0 }, text, 0);
	return text->length ? strbuf_detach(text) : NULL;
}

json_t *duet_document(const struct duet_view *v)
{
	struct strbuf text = { 0 };
	duet_way_sentence(v, &text);
	struct duet_head head = { .format = 1,
				  .data = *v->duet,
				  .result = *v->result,
				  .elapsed_ns = duet_elapsed_ns(v),
				  .sentence = finished(&text) };
	json_t *root = json_shape(&duet_shape, &head), *verdicts = json_array();
	free(head.sentence);
	array_each(s, &v->result->verdicts) {
		struct duet_said said = { .v = *s, .name = v->duet->sides.items[s->side].name };
		struct strbuf words = { 0 }, gate = { 0 };
		duet_sentence(v, s, &words);
		duet_gate_sentence(v, s, &gate);
		said.sentence = finished(&words);
		said.gate_sentence = finished(&gate);
		json_array_append_new(verdicts, json_shape(&duet_verdict_shape, &said));
		free(said.sentence);
		free(said.gate_sentence);
	}
	char seed[32];
	snprintf(seed, sizeof seed, "%llu", (unsigned long long)v->duet->seed);
	json_object_set_new(root, "seed", json_text(seed));
	json_object_set_new(root, "run", json_run(v->run));
	json_object_set_new(root, "machine", json_machine(v->machine));
	json_object_set_new(root, "verdicts", verdicts);
	return root;
}

void duet_json(const struct duet_view *v, struct strbuf *out)
{
	put_json(v->duet ? duet_document(v) : json_null(), 1, out);
}
