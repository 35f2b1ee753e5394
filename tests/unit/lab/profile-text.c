#include "profile-text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"

typedef ARRAY(char *) line_list;

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *joined(line_list *lines)
{
	struct strbuf all = { 0 };
	strbuf_puts(&all, "");
	if (lines->count)
		qsort(lines->items, lines->count, sizeof *lines->items, by_text);
	for (size_t i = 0; i < lines->count; i++) {
		strbuf_printf(&all, "%s\n", lines->items[i]);
		free(lines->items[i]);
	}
	array_release(lines);
	return strbuf_detach(&all);
}

static const char *shown(const char *text)
{
	return text ? text : "NULL";
}

static void put_object(struct strbuf *s, const struct profile *p, uint32_t at)
{
	if (at == PROFILE_NONE) {
		strbuf_puts(s, "none");
		return;
	}
	const struct profile_object *o = &p->objects.items[at];
	char id[2 * BUILD_ID_MAX + 1];
	build_id_text(o, id);
	strbuf_printf(s, "%s:%d:%s:%" PRIu64 ":%" PRIu64 ":%u", o->path, o->kind, id, o->device,
		      o->inode, o->pid);
}

static void put_function(struct strbuf *s, const struct profile *p, uint32_t at)
{
	const struct profile_function *f = &p->functions.items[at];
	strbuf_printf(s, "%s %" PRIx64 "+%" PRIx64 " %s:%u ", f->name, f->address, f->size,
		      shown(f->file), f->line);
	put_object(s, p, f->object);
}

static void put_location(struct strbuf *s, const struct profile *p, uint32_t at)
{
	const struct profile_location *l = &p->locations.items[at];
	strbuf_printf(s, "{%" PRIx64 " %" PRIx64 " ", l->offset, l->address);
	put_object(s, p, l->object);
	for (uint32_t i = 0; i < l->frames; i++) {
		const struct profile_frame *f = &p->frames.items[l->first_frame + i];
		strbuf_printf(s, " (%u %s ", f->line, shown(f->file));
		put_function(s, p, f->function);
		strbuf_puts(s, ")");
	}
	strbuf_puts(s, "}");
}

static void put_thread(struct strbuf *s, const struct profile *p, uint32_t at)
{
	const struct profile_thread *t = &p->threads.items[at];
	const struct profile_instance *i = &p->instances.items[t->instance];
	const struct profile_app *a = &p->apps.items[i->app];
	strbuf_printf(s, "%u %s [%u %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %s %s %s] %s ", t->tid,
		      t->comm, i->number, i->pid, i->start_ns, i->exec_id, i->first_ns, i->comm,
		      shown(i->cgroup), shown(i->container), a->name);
	put_object(s, p, a->object);
}

static char *sample_line(const struct profile *p, const struct profile_sample *sample)
{
	const struct profile_stack *stack = &p->stack_list.items[sample->stack];
	struct strbuf s = { 0 };
	strbuf_printf(&s, "%" PRIu64 " ", p->slices.items[sample->slice].begin_ns);
	put_thread(&s, p, sample->thread);
	strbuf_printf(&s, " %u %d", stack->kernel, stack->end);
	for (uint32_t i = 0; i < stack->count; i++)
		put_location(&s, p, p->links.items[stack->first + i]);
	strbuf_printf(&s, " = %" PRIu64, sample->count);
	return strbuf_detach(&s);
}

static char *slice_line(const struct profile_slice *l)
{
	struct strbuf s = { 0 };
	const uint64_t values[] = { l->begin_ns,  l->end_ns,	l->samples, l->user,	  l->kernel,
				    l->idle,	  l->others,	l->lost,    l->throttled, l->untold,
				    l->peak_used, l->peak_room, l->self_ns };
	strbuf_puts(&s, "slice");
	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		strbuf_printf(&s, " %" PRIu64, values[i]);
	return strbuf_detach(&s);
}

char *profile_text(const struct profile *p)
{
	line_list lines = { 0 };
	struct strbuf s = { 0 };
	strbuf_printf(&s, "%d %d %.17g %u %" PRId64 " %s %" PRIu64, p->mode, p->stacks, p->hz,
		      p->cpus, p->realtime_ns, p->event, p->period);
	array_push(&lines, strbuf_detach(&s));
	for (size_t i = 0; i < p->slices.count; i++)
		array_push(&lines, slice_line(&p->slices.items[i]));
	for (size_t i = 0; i < p->code.count; i++) {
		strbuf_puts(&s, "code ");
		put_function(&s, p, p->code.items[i].function);
		for (uint32_t k = 0; k < p->code.items[i].size; k++)
			strbuf_printf(&s, " %02x", p->code.items[i].bytes[k]);
		array_push(&lines, strbuf_detach(&s));
	}
	for (size_t i = 0; i < p->samples.count; i++)
		array_push(&lines, sample_line(p, &p->samples.items[i]));
	return joined(&lines);
}

/* "app function" of a sample. */
static char *owner_line(const struct profile *p, const struct profile_sample *sample)
{
	struct strbuf s = { 0 };
	const struct profile_thread *t = &p->threads.items[sample->thread];
	const struct profile_stack *stack = &p->stack_list.items[sample->stack];
	strbuf_printf(&s, "%s ", p->apps.items[p->instances.items[t->instance].app].name);
	if (stack->count) {
		const struct profile_location *l =
			&p->locations.items[p->links.items[stack->first]];
		if (l->frames)
			put_function(&s, p, p->frames.items[l->first_frame].function);
	}
	return strbuf_detach(&s);
}

struct owner {
	char *line;
	uint64_t count;
};

static int by_line(const void *a, const void *b)
{
	return strcmp(((const struct owner *)a)->line, ((const struct owner *)b)->line);
}

char *profile_sums(const struct profile *p)
{
	ARRAY(struct owner) owners = { 0 };
	line_list lines = { 0 };
	for (size_t i = 0; i < p->samples.count; i++)
		array_push(&owners, (struct owner){ owner_line(p, &p->samples.items[i]),
						    p->samples.items[i].count });
	if (owners.count)
		qsort(owners.items, owners.count, sizeof *owners.items, by_line);
	for (size_t i = 0, next; i < owners.count; i = next) {
		struct strbuf s = { 0 };
		uint64_t sum = 0;
		for (next = i;
		     next < owners.count && by_line(&owners.items[i], &owners.items[next]) == 0;
		     next++)
			sum += owners.items[next].count;
		strbuf_printf(&s, "%s = %" PRIu64, owners.items[i].line, sum);
		array_push(&lines, strbuf_detach(&s));
	}
	for (size_t i = 0; i < owners.count; i++)
		free(owners.items[i].line);
	array_release(&owners);
	return joined(&lines);
}
