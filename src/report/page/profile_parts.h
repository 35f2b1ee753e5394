/* The parts of a profile's section. Private to report/page/. */
#ifndef TARE_REPORT_PAGE_PROFILE_PARTS_H
#define TARE_REPORT_PAGE_PROFILE_PARTS_H

#include <jansson.h>

#include "report/export/profile.h"

enum node_kind { NODE_ROOT, NODE_APP, NODE_USER, NODE_KERNEL, NODE_INLINED, NODE_UNKNOWN };
#define NOWHERE UINT32_MAX

/* The number of a node is that of its key; a key comes after its parent's. */
struct call_node {
	uint32_t parent, name;
	uint32_t object; /* of an app: its own number, because two may have the same name */
	enum node_kind kind;
};

struct call_tree {
	const struct profile *p;
	struct pair_numbers nodes;
	ARRAY(uint64_t) self;
	struct text_numbers names, where;
	uint32_t *name_of, *where_of; /* by export_name_id(), by object: number + 1; 0: not yet */
	export_frames frames;	      /* scratch */
};

void call_tree_make(struct call_tree *t, const struct profile *p);
void call_tree_release(struct call_tree *t);
struct call_node call_node_at(const struct call_tree *t, size_t number);
/* By node. The caller frees it. */
uint64_t *call_tree_totals(const struct call_tree *t);
/* By node: whether it is kept if `most` are wanted, in unchanged order. The caller frees it. */
bool *call_tree_choose(const struct call_tree *t, size_t most);

/* The call tree (web/src/types.ts: Tree), a new reference. Beyond `most` nodes the smallest leaves
 * are counted in their callers: *folded of them, with *samples of their own. */
json_t *page_profile_tree(const struct profile *p, size_t most, size_t *folded, uint64_t *samples);

/* What changed between two call trees, by the path of names (web/src/types.ts: Places of before and
 * after), for the nodes of page_profile_tree() with the same `most`. */
json_t *page_profile_places(const struct profile *before, const struct profile *after, size_t most);

#endif
