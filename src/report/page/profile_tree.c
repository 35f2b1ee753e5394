/* The tree of calls: the samples of all threads of an app by their stacks, outermost first. */
#include "report/page/profile_parts.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/sleepy/sleepy.h"
#include "report/core/json.h"
#include "report/core/shapes.h"

#define KIND_BITS 3

static uint32_t add_node(struct call_tree *t, struct call_node n)
{
	uint32_t number = number_of_pair(&t->nodes, (uint64_t)n.parent << KIND_BITS | n.kind,
					 (uint64_t)n.name << 32 | n.object);
	if (number == t->self.count)
		array_push(&t->self, 0);
	return number;
}

struct call_node call_node_at(const struct call_tree *t, size_t number)
{
	const struct number_pair *key = &t->nodes.items.items[number];
	return (struct call_node){ .parent = (uint32_t)(key->a >> KIND_BITS),
				   .kind = (enum node_kind)(key->a & ((1 << KIND_BITS) - 1)),
				   .name = (uint32_t)(key->b >> 32),
				   .object = (uint32_t)key->b };
}

/* ---- filled ---- */

static uint32_t name_of(struct call_tree *t, uint32_t id)
{
	char room[EXPORT_NAME_MAX];
	if (!t->name_of[id])
		t->name_of[id] = number_of_text(&t->names, export_name(t->p, id, room)) + 1;
	return t->name_of[id] - 1;
}

static uint32_t where_of(struct call_tree *t, uint32_t object)
{
	if (!t->where_of[object])
		t->where_of[object] =
			number_of_text(&t->where, t->p->objects.items[object].path) + 1;
	return t->where_of[object] - 1;
}

static void add_stack(void *context, const struct profile_sample *s, uint64_t count)
{
	struct call_tree *t = context;
	const struct profile *p = t->p;
	const uint32_t app = export_instance(p, s->thread)->app;
	uint32_t at = add_node(
		t, (struct call_node){ .kind = NODE_APP,
				       .name = number_of_text(&t->names, p->apps.items[app].name),
				       .object = app });
	export_stack(p, s->stack, &t->frames);
	array_each(f, &t->frames) {
		uint32_t id = export_name_id(p, f);
		enum node_kind kind = f->function == PROFILE_NONE ? NODE_UNKNOWN
				      : f->inlined		  ? NODE_INLINED
				      : f->kernel		  ? NODE_KERNEL
								  : NODE_USER;
		at = add_node(t, (struct call_node){ .parent = at,
						     .kind = kind,
						     .name = name_of(t, id),
						     .object = where_of(t, export_object(p, id)) });
	}
	t->self.items[at] += count;
}

/* ---- made smaller ---- */

uint64_t *call_tree_totals(const struct call_tree *t)
{
	uint64_t *total = xcalloc(t->self.count, sizeof *total);
	for (size_t i = t->self.count; i-- > 0;) {
		total[i] += t->self.items[i];
		if (i)
			total[call_node_at(t, i).parent] += total[i];
	}
	return total;
}

static int largest_first(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return ORDER(*y, *x);
}

/* A caller has at least the samples of what it calls, and comes first: so none stays whose caller
 * goes. */
bool *call_tree_choose(const struct call_tree *t, size_t most)
{
	bool *stays = xcalloc(t->self.count, sizeof *stays);
	uint64_t *total = call_tree_totals(t), limit = 0;
	size_t ties = 0; /* how many of those that have just the limit stay */
	if (t->self.count > most) {
		uint64_t *sorted = xcalloc(t->self.count, sizeof *sorted);
		memcpy(sorted, total, t->self.count * sizeof *sorted);
		qsort(sorted, t->self.count, sizeof *sorted, largest_first);
		limit = sorted[most - 1];
		while (ties < most && sorted[most - 1 - ties] == limit)
			ties++;
		xfree(sorted);
	}
	for (size_t i = 0; i < t->self.count; i++) {
		bool tied = total[i] == limit && ties;
		ties -= tied;
		stays[i] = t->self.count <= most || tied || total[i] > limit ||
			   call_node_at(t, i).kind <= NODE_APP;
	}
	xfree(total);
	return stays;
}

static void fold(struct call_tree *t, size_t most, size_t *folded, uint64_t *samples)
{
	struct call_tree all = *t;
	bool *stays = call_tree_choose(t, most);
	uint32_t *now = xcalloc(all.self.count, sizeof *now); /* who has a node's samples */
	uint64_t *self = xcalloc(all.self.count, sizeof *self);
	t->nodes = (struct pair_numbers){ 0 };
	t->self.items = NULL;
	t->self.count = t->self.capacity = 0;
	for (size_t i = 0; i < all.self.count; i++) {
		struct call_node n = call_node_at(&all, i);
		n.parent = i ? now[n.parent] : NOWHERE;
		now[i] = stays[i] ? add_node(t, n) : n.parent;
		self[now[i]] += all.self.items[i];
		if (!stays[i]) {
			++*folded;
			*samples += all.self.items[i];
		}
	}
	for (size_t i = 0; i < t->self.count; i++)
		t->self.items[i] = self[i];
	xfree(stays);
	xfree(now);
	xfree(self);
	array_release(&all.self);
	pair_numbers_release(&all.nodes);
}

/* ---- written ---- */

void call_tree_make(struct call_tree *t, const struct profile *p)
{
	*t = (struct call_tree){ .p = p,
				 .name_of = xcalloc(export_names(p) + 1, sizeof(uint32_t)),
				 .where_of = xcalloc(p->objects.count + 1, sizeof(uint32_t)) };
	add_node(t,
		 (struct call_node){ .parent = NOWHERE, .name = number_of_text(&t->names, "all") });
	sleepy_each(p, NULL, add_stack, t);
}

void call_tree_release(struct call_tree *t)
{
	pair_numbers_release(&t->nodes);
	array_release(&t->self);
	text_numbers_release(&t->names);
	text_numbers_release(&t->where);
	array_release(&t->frames);
	xfree(t->name_of);
	xfree(t->where_of);
}

json_t *page_profile_tree(const struct profile *p, size_t most, size_t *folded, uint64_t *samples)
{
	struct call_tree t;
	call_tree_make(&t, p);
	*folded = 0;
	*samples = 0;
	if (t.self.count > most)
		fold(&t, most, folded, samples);
	json_t *o = json_shape(&stack_tree_shape, &t);
	for (size_t i = 0; i < t.self.count; i++) {
		struct call_node n = call_node_at(&t, i);
		json_append(o, "name", json_integer(n.name));
		json_append(o, "object",
			    json_integer(n.kind <= NODE_APP ? -1 : (json_int_t)n.object));
		json_append(o, "parent", json_integer(i ? (json_int_t)n.parent : -1));
		json_append(o, "self", json_count(t.self.items[i]));
		json_append(o, "kind", json_integer(n.kind));
	}
	call_tree_release(&t);
	return o;
}
