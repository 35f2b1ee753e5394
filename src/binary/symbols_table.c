#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "binary/symbols_demangle.h"
#include "binary/symbols_private.h"

#define BACK_MAX 64 /* how many symbols that end before are passed over */

char *demangled(const char *name)
{
	char plain[NAME_LENGTH_MAX];
	if (demangle(name, plain, sizeof plain))
		return xstrdup(plain);
	return xstrndup(name, strnlen(name, NAME_LENGTH_MAX));
}

void symbol_table_room(struct symbol_table *t, uint64_t bytes)
{
	uint64_t left = NAMES_MAX - t->names.length;
	t->names_most = t->names.length + (size_t)(bytes < left ? bytes : left);
}

bool symbol_table_add(struct symbol_table *t, uint64_t start, uint64_t size, const char *name,
		      uint8_t binding, uint8_t type)
{
	size_t most = t->names_most ? t->names_most : NAMES_MAX;
	if (t->list.count >= SYMBOLS_MAX || t->names.length >= most || !work_on(t->work, 1))
		return false;
	size_t length = strnlen(name, NAME_LENGTH_MAX);
	if (length >= most - t->names.length)
		return false;
	uint64_t end;
	if (__builtin_add_overflow(start, size, &end))
		end = start;
	array_push(&t->list, (struct symbol){ .start = start,
					      .end = end,
					      .reach = t->list.count, /* until it is sorted */
					      .name = (uint32_t)t->names.length,
					      .binding = binding,
					      .type = type });
	strbuf_add(&t->names, name, length);
	strbuf_add(&t->names, "", 1);
	return true;
}

const char *symbol_table_name(const struct symbol_table *t, const struct symbol *s)
{
	return t->names.text + s->name;
}

static int by_start(const void *a, const void *b, void *work)
{
	const struct symbol *x = a, *y = b;
	work_on(work, 1); /* to breathe */
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->reach < y->reach ? -1 : x->reach > y->reach;
}

/* What is compared of names, as people read them. */
struct looks {
	bool known, system_call;
	size_t underscores, length;
};

static void look_at(const struct symbol_table *t, const struct symbol *s, struct looks *into)
{
	char plain[NAME_LENGTH_MAX];
	const char *name = symbol_table_name(t, s);
	if (into->known)
		return;
	if (work_on(t->work, 64) && demangle(name, plain, sizeof plain))
		name = plain;
	*into = (struct looks){ .known = true,
				.system_call = strncmp(name, "SyS", 3) == 0 ||
					       strncmp(name, "compat_SyS", 10) == 0,
				.underscores = strspn(name, "_"),
				.length = strlen(name) };
}

/* perf's rules for two names of one address, in its order: does the second win? */
static bool second_is_better(const struct symbol_table *t, const struct symbol *a,
			     struct looks *looks_a, const struct symbol *b, struct looks *looks_b)
{
	bool sized_a = a->end > a->start, sized_b = b->end > b->start;
	if (sized_a != sized_b)
		return sized_b;
	if ((a->binding == STB_WEAK) != (b->binding == STB_WEAK))
		return a->binding == STB_WEAK;
	if ((a->binding == STB_GLOBAL) != (b->binding == STB_GLOBAL))
		return b->binding == STB_GLOBAL;
	look_at(t, a, looks_a);
	look_at(t, b, looks_b);
	if (looks_a->underscores != looks_b->underscores)
		return looks_b->underscores < looks_a->underscores;
	if (looks_a->length != looks_b->length)
		return looks_b->length > looks_a->length;
	return looks_a->system_call;
}

static void drop_aliases(struct symbol_table *t)
{
	size_t kept = 0;
	struct looks looks = { 0 }; /* of the last that is kept */
	for (size_t i = 0; i < t->list.count; i++) {
		struct symbol *last = kept ? &t->list.items[kept - 1] : NULL;
		const struct symbol *next = &t->list.items[i];
		struct looks others = { 0 };
		if (!last || last->start != next->start) {
			t->list.items[kept++] = *next;
			looks = others;
		} else if (t->latest || second_is_better(t, last, &looks, next, &others)) {
			*last = *next;
			looks = others;
		}
	}
	t->list.count = kept;
}

void symbol_table_finish(struct symbol_table *t)
{
	if (!t->list.count)
		return;
	qsort_r(t->list.items, t->list.count, sizeof *t->list.items, by_start, t->work);
	/* a label within a function that has a size says less than the function's name */
	uint64_t reach = 0;
	size_t kept = 0;
	for (size_t i = 0; i < t->list.count; i++) {
		struct symbol *s = &t->list.items[i];
		if (s->type == STT_NOTYPE && s->start < reach)
			continue;
		if (s->type != STT_NOTYPE && s->end > reach)
			reach = s->end;
		t->list.items[kept++] = *s;
	}
	t->list.count = kept;
	/* those without a size reach to the next; the last to the end of the page after it */
	for (size_t i = 0; i < t->list.count; i++) {
		struct symbol *s = &t->list.items[i];
		if (s->end > s->start)
			continue;
		if (i + 1 < t->list.count)
			s->end = t->list.items[i + 1].start;
		else if (__builtin_add_overflow((s->start + 4095) & ~(uint64_t)4095, 4096, &s->end))
			s->end = s->start;
	}
	drop_aliases(t);
	reach = 0;
	for (size_t i = 0; i < t->list.count; i++) {
		struct symbol *s = &t->list.items[i];
		reach = s->end > reach ? s->end : reach;
		s->reach = reach;
	}
	t->list.items = xrealloc(t->list.items, t->list.count * sizeof *t->list.items);
	t->list.capacity = t->list.count;
	t->names.capacity = t->names.length + 1;
	t->names.text = xrealloc(t->names.text, t->names.capacity);
}

const struct symbol *symbol_table_find(const struct symbol_table *t, uint64_t address)
{
	size_t low = array_count_up_to(&t->list, start, address);
	for (size_t back = 0; low-- > 0 && back < BACK_MAX; back++) {
		const struct symbol *s = &t->list.items[low];
		if (address < s->end)
			return s;
		if (address >= s->reach)
			break;
	}
	return NULL;
}

size_t symbol_table_memory(const struct symbol_table *t)
{
	return t->list.capacity * sizeof *t->list.items + t->names.capacity;
}

void symbol_table_release(struct symbol_table *t)
{
	array_release(&t->list);
	strbuf_release(&t->names);
	*t = (struct symbol_table){ .work = t->work };
}
