/* A B-tree: its time is in several functions, about half of it where a node's keys are searched.
 *
 *	profile-btree [COUNT [MS]]     COUNT (3*10^6) operations on a new tree, one in five inserts
 *a random key, the others look one up; with MS again and again, until it has used about that much
 *CPU time
 *
 * Prints a checksum of the last round; exits with 1 if the tree is none afterwards.
 */
#include <inttypes.h>
#include <string.h>

#include "rounds.h"

#define LEAST 64 /* children of a node that is not the root */
#define KEYS (2 * LEAST - 1)
#define PART 100 /* operations, some us */

struct node {
	uint32_t count;
	bool leaf;
	uint32_t keys[KEYS];
	struct node *children[KEYS + 1];
};

struct tree {
	struct node *root;
	struct node *nodes; /* room for all that there can be */
	size_t used;
	uint64_t keys;
};

__attribute__((noinline)) static uint32_t random_key(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)(*state >> 32);
}

static struct node *new_node(struct tree *t, bool leaf)
{
	struct node *n = &t->nodes[t->used++];
	n->count = 0;
	n->leaf = leaf;
	return n;
}

/* Position of the first key that is not below. */
__attribute__((noinline)) static uint32_t search_keys(const uint32_t *keys, uint32_t count,
						      uint32_t key)
{
	uint32_t at = 0;
	while (at < count && keys[at] < key)
		at++;
	return at;
}

__attribute__((noinline)) static bool lookup(const struct node *n, uint32_t key)
{
	for (;;) {
		uint32_t at = search_keys(n->keys, n->count, key);
		if (at < n->count && n->keys[at] == key)
			return true;
		if (n->leaf)
			return false;
		n = n->children[at];
	}
}

/* The full child at a position becomes two, its middle key comes up. */
__attribute__((noinline)) static void split_child(struct tree *t, struct node *n, uint32_t at)
{
	struct node *left = n->children[at], *right = new_node(t, left->leaf);
	right->count = LEAST - 1;
	memcpy(right->keys, left->keys + LEAST, (LEAST - 1) * sizeof *right->keys);
	if (!left->leaf)
		memcpy(right->children, left->children + LEAST, LEAST * sizeof(struct node *));
	left->count = LEAST - 1;
	memmove(n->keys + at + 1, n->keys + at, (n->count - at) * sizeof *n->keys);
	memmove(n->children + at + 2, n->children + at + 1,
		(n->count - at) * sizeof(struct node *));
	n->keys[at] = left->keys[LEAST - 1];
	n->children[at + 1] = right;
	n->count++;
}

/* Into a node with room. */
__attribute__((noinline)) static void insert_below(struct tree *t, struct node *n, uint32_t key)
{
	uint32_t at = search_keys(n->keys, n->count, key);
	if (at < n->count && n->keys[at] == key)
		return;
	if (n->leaf) {
		memmove(n->keys + at + 1, n->keys + at, (n->count - at) * sizeof *n->keys);
		n->keys[at] = key;
		n->count++;
		t->keys++;
		return;
	}
	if (n->children[at]->count == KEYS) {
		split_child(t, n, at);
		if (n->keys[at] == key)
			return;
		if (n->keys[at] < key)
			at++;
	}
	insert_below(t, n->children[at], key);
}

__attribute__((noinline)) static void insert(struct tree *t, uint32_t key)
{
	if (t->root->count == KEYS) {
		struct node *root = new_node(t, false);
		root->children[0] = t->root;
		t->root = root;
		split_child(t, root, 0);
	}
	insert_below(t, t->root, key);
}

/* Keys in order, leaves at one depth: how many keys, or -1. `last` is the one before. */
static int64_t check(const struct node *n, uint32_t depth, int64_t *last)
{
	int64_t keys = n->count;
	for (uint32_t i = 0; i <= n->count; i++) {
		int64_t below = 0;
		if (n->leaf != (depth == 0))
			return -1;
		if (!n->leaf)
			below = check(n->children[i], depth - 1, last);
		if (below < 0 || (i < n->count && (int64_t)n->keys[i] <= *last))
			return -1;
		keys += below;
		if (i < n->count)
			*last = n->keys[i];
	}
	return keys;
}

static bool sound(const struct tree *t)
{
	uint32_t depth = 0;
	int64_t last = -1;
	for (const struct node *n = t->root; !n->leaf; n = n->children[0])
		depth++;
	return check(t->root, depth, &last) == (int64_t)t->keys;
}

__attribute__((noinline)) static uint64_t operate(struct tree *t, struct rounds *r)
{
	uint64_t count = r->count;
	uint64_t state = 0x9e3779b97f4a7c15u, found = 0;
	t->used = 0;
	t->keys = 0;
	t->root = new_node(t, true);
	for (uint64_t i = 0; i < count; i++) {
		if (i && i % PART == 0)
			rounds_mark(r);
		uint32_t key = random_key(&state) % (uint32_t)(count + 1);
		if (i % 5 == 0)
			insert(t, key);
		else
			found += lookup(t->root, key);
	}
	return found;
}

int main(int argc, char **argv)
{
	struct rounds rounds;
	if (!rounds_read(&rounds, argc, argv, 3000000))
		return 2;
	/* every node but the root has LEAST - 1 keys at least */
	struct tree tree = { .nodes = calloc(rounds.count / 5 / (LEAST - 1) + 3,
					     sizeof(struct node)) };
	if (!tree.nodes)
		return 2;
	uint64_t found;
	do
		found = operate(&tree, &rounds);
	while (rounds_more(&rounds));
	bool is_tree = sound(&tree);
	printf("%" PRIu64 "\n", found * 1000003 + tree.keys);
	free(tree.nodes);
	return is_tree ? 0 : 1;
}
