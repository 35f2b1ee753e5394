#include "report/core/numbers.h"

#include <string.h>

#include "base/text.h"

static uint64_t hash_pair(uint64_t a, uint64_t b)
{
	uint64_t x = (a * 0x9e3779b97f4a7c15u) ^ (b + 0x7f4a7c159e3779b9u + (a << 7));
	x *= 0xd6e8feb86659fd93u;
	return x ^ x >> 32;
}

static uint64_t hash_text(const char *text)
{
	uint64_t hash = 14695981039346656037u;
	while (*text)
		hash = (hash ^ (uint8_t)*text++) * 1099511628211u;
	return hash ^ hash >> 32;
}

/* Room for one more than `count`; true: the slots are empty now, and what was there is to be put
 * again. */
static bool slots_grow(struct number_slots *s, size_t count)
{
	if (count * 4 < s->size * 3)
		return false;
	xfree(s->slots);
	s->size = s->size ? s->size * 2 : 256;
	s->slots = xcalloc(s->size, sizeof *s->slots);
	return true;
}

static void slots_put(struct number_slots *s, uint64_t hash, size_t number)
{
	size_t at = hash & (s->size - 1);
	while (s->slots[at])
		at = (at + 1) & (s->size - 1);
	s->slots[at] = (uint32_t)number + 1;
}

uint32_t number_of_pair(struct pair_numbers *p, uint64_t a, uint64_t b)
{
	if (slots_grow(&p->index, p->items.count))
		for (size_t i = 0; i < p->items.count; i++)
			slots_put(&p->index, hash_pair(p->items.items[i].a, p->items.items[i].b),
				  i);
	uint64_t hash = hash_pair(a, b);
	for (size_t at = hash & (p->index.size - 1); p->index.slots[at];
	     at = (at + 1) & (p->index.size - 1)) {
		const struct number_pair *found = &p->items.items[p->index.slots[at] - 1];
		if (found->a == a && found->b == b)
			return p->index.slots[at] - 1;
	}
	slots_put(&p->index, hash, p->items.count);
	array_push(&p->items, (struct number_pair){ a, b });
	return (uint32_t)p->items.count - 1;
}

uint32_t number_of_text(struct text_numbers *t, const char *text)
{
	if (slots_grow(&t->index, t->items.count))
		for (size_t i = 0; i < t->items.count; i++)
			slots_put(&t->index, hash_text(t->items.items[i]), i);
	uint64_t hash = hash_text(text);
	for (size_t at = hash & (t->index.size - 1); t->index.slots[at];
	     at = (at + 1) & (t->index.size - 1))
		if (strcmp(t->items.items[t->index.slots[at] - 1], text) == 0)
			return t->index.slots[at] - 1;
	slots_put(&t->index, hash, t->items.count);
	array_push(&t->items, xstrdup(text));
	return (uint32_t)t->items.count - 1;
}

void pair_numbers_release(struct pair_numbers *p)
{
	array_release(&p->items);
	xfree(p->index.slots);
	p->index = (struct number_slots){ 0 };
}

void text_numbers_release(struct text_numbers *t)
{
	for (size_t i = 0; i < t->items.count; i++)
		xfree(t->items.items[i]);
	array_release(&t->items);
	xfree(t->index.slots);
	t->index = (struct number_slots){ 0 };
}
