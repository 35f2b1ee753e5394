#include "record/study.h"

#include <string.h>

const char *study_source_name(enum study_source source)
{
	static const char *const names[] = { "active", "watch", "runs" };
	return names[source];
}

const char *study_length_name(enum study_length length)
{
	static const char *const names[] = { "short", "long" };
	return names[length];
}

const char *study_shape_name(enum study_shape shape)
{
	static const char *const names[] = { "symmetric", "L", "corner" };
	return names[shape];
}

bool number_list_has(const number_list *list, uint32_t number)
{
	for (size_t low = 0, high = list->count; low < high;) {
		size_t middle = low + (high - low) / 2;
		if (list->items[middle] == number)
			return true;
		if (list->items[middle] < number)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

void study_release(struct study *s)
{
	for (int i = 0; i < STUDY_LENGTHS; i++) {
		array_release(&s->runs[i].levels);
		array_release(&s->runs[i].l_samples);
		array_release(&s->runs[i].dropped);
	}
	for (size_t i = 0; i < s->daemons.count; i++)
		for (int k = 0; k < STUDY_LENGTHS; k++)
			array_release(&s->daemons.items[i].seen[k].samples);
	array_release(&s->daemons);
	array_release(&s->cutoffs);
	*s = (struct study){ 0 };
}

const struct cutoff *cutoff_find(const struct cutoff *list, size_t count, const char *daemon,
				 uint64_t et_ns)
{
	for (size_t i = 0; i < count; i++) {
		const struct cutoff *c = &list[i];
		if (strcmp(c->daemon, daemon) == 0 && et_ns >= c->from_ns &&
		    (!c->below_ns || et_ns < c->below_ns))
			return c;
	}
	return NULL;
}
