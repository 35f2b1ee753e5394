/* Two trees of calls, place by place: a place is a path of names, whatever files they are in and
 * whether they were inlined, for that differs between two builds of one program. */
#include "protocol/sleepy/sleepy.h"
#include "report/core/json.h"
#include "report/core/shapes.h"
#include "report/page/profile_parts.h"

struct places {
	struct text_numbers names;	     /* of both trees */
	struct pair_numbers places;	     /* that of the caller, name */
	ARRAY(struct sleepy_change) changes; /* by place; without names */
};

struct side {
	struct call_tree tree;
	uint32_t *place; /* by node */
};

static void count(struct places *p, uint32_t place, uint64_t samples, bool after)
{
	if (place == p->changes.count)
		array_push(&p->changes, (struct sleepy_change){ 0 });
	struct sleepy_change *c = &p->changes.items[place];
	*(after ? &c->after : &c->before) += samples;
}

static void add_side(struct places *p, struct side *s, const struct profile *profile, bool after)
{
	call_tree_make(&s->tree, profile);
	const struct text_numbers *names = &s->tree.names;
	uint64_t *total = call_tree_totals(&s->tree);
	uint32_t *name = xcalloc(names->items.count, sizeof *name);
	s->place = xcalloc(s->tree.self.count, sizeof *s->place);
	for (size_t i = 0; i < names->items.count; i++)
		name[i] = number_of_text(&p->names, names->items.items[i]);
	for (size_t i = 0; i < s->tree.self.count; i++) {
		struct call_node n = call_node_at(&s->tree, i);
		uint32_t caller = i ? s->place[n.parent] : NOWHERE;
		s->place[i] = number_of_pair(&p->places, caller, name[n.name]);
		count(p, s->place[i], total[i], after);
	}
	xfree(name);
	xfree(total);
}

static json_t *side_json(const struct places *p, const struct side *s, size_t most, bool after)
{
	json_t *o = json_shape(&profile_comparison_side_shape, s);
	bool *stays = call_tree_choose(&s->tree, most);
	for (size_t i = 0; i < s->tree.self.count; i++) {
		const struct sleepy_change *c = &p->changes.items[s->place[i]];
		if (!stays[i])
			continue;
		json_append(o, "here", json_count(after ? c->after : c->before));
		json_append(o, "other", json_count(after ? c->before : c->after));
		json_append(o, "sure", json_integer(i && sleepy_change_sure(c)));
	}
	xfree(stays);
	return o;
}

json_t *page_profile_places(const struct profile *before, const struct profile *after, size_t most)
{
	struct places p = { 0 };
	struct side a, b;
	json_t *o = json_object();
	add_side(&p, &a, before, false);
	add_side(&p, &b, after, true);
	/* the root has all samples of both: there is nothing to test */
	const struct sleepy_change all = p.changes.items[0];
	sleepy_judge(p.changes.items + 1, p.changes.count - 1, all.before, all.after);
	json_object_set_new(o, "before", side_json(&p, &a, most, false));
	json_object_set_new(o, "after", side_json(&p, &b, most, true));
	call_tree_release(&a.tree);
	call_tree_release(&b.tree);
	xfree(a.place);
	xfree(b.place);
	text_numbers_release(&p.names);
	pair_numbers_release(&p.places);
	array_release(&p.changes);
	return o;
}
