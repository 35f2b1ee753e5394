/* What a row is called, told apart from others of its name, and found again by what was shown. */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "protocol/sleepy/private.h"

#define KERNEL_MARK "[k] "
#define ID_SHOWN 8 /* digits of a build-id */

/* Names may hold brackets and backslashes ("[kernel]", "operator[]"): only * and ? are special. */
bool sleepy_matches(const char *pattern, const char *text)
{
	if (!pattern)
		return true;
	if (!text)
		return false;
	if (!strpbrk(pattern, "*?"))
		return strcmp(pattern, text) == 0;
	char *plain = xmalloc(2 * strlen(pattern) + 1), *to = plain;
	for (const char *c = pattern; *c; c++) {
		if (*c == '[' || *c == '\\')
			*to++ = '\\';
		*to++ = *c;
	}
	*to = 0;
	bool found = fnmatch(plain, text, 0) == 0;
	xfree(plain);
	return found;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

static bool is_inlined(const struct profile_function *f)
{
	return !f->address && !f->size;
}

/* ---- found by what was shown ---- */

/* Something with a name; object and function NULL: none is known. */
struct named {
	const char *name;
	const struct profile_object *object;
	const struct profile_function *function;
};

/* The directory is this one, or ends with it. */
static bool lies_in(const char *path, const char *place)
{
	const char *slash = strrchr(path, '/');
	size_t length = strlen(place), room = slash ? (size_t)(slash - path) : 0;
	if (!slash)
		return false;
	if (length == (room ? room : 1) && strncmp(path, place, length) == 0)
		return true;
	return *place != '/' && length && length < room && path[room - length - 1] == '/' &&
	       strncmp(path + room - length, place, length) == 0;
}

static bool object_has_mark(const struct profile_object *o, const char *mark)
{
	char id[2 * BUILD_ID_MAX + 1], pid[32];
	build_id_text(o, id);
	snprintf(pid, sizeof pid, "PID %" PRIu32, o->pid);
	return strcmp(mark, object_name(o)) == 0 || strcmp(mark, o->path) == 0 ||
	       lies_in(o->path, mark) ||
	       (strlen(mark) >= ID_SHOWN && strncmp(mark, id, strlen(mark)) == 0) ||
	       (o->pid && strcmp(mark, pid) == 0);
}

static bool function_has_mark(const struct profile_function *f, const char *mark)
{
	char address[32];
	snprintf(address, sizeof address, "0x%" PRIx64, f->address);
	if (is_inlined(f) && strcmp(mark, "inlined") == 0)
		return true;
	if (!is_inlined(f))
		return strcmp(mark, address) == 0;
	struct strbuf place = { 0 };
	strbuf_printf(&place, "%s:%" PRIu32, f->file ? last_part(f->file) : "", f->line);
	bool same = strcmp(mark, strbuf_text(&place)) == 0;
	strbuf_release(&place);
	return same;
}

/* The pattern, or it with what reports put around names: "[k] name", "name (inlined)",
 * "name (object)", "name (0x1234)" and the like. */
static bool means(const char *pattern, const struct named *n)
{
	if (sleepy_matches(pattern, n->name))
		return true;
	if (strncmp(pattern, KERNEL_MARK, strlen(KERNEL_MARK)) == 0)
		return n->object &&
		       (n->object->kind == OBJECT_KERNEL || n->object->kind == OBJECT_MODULE) &&
		       means(pattern + strlen(KERNEL_MARK), n);
	size_t length = strlen(pattern), open = length;
	if (!length || pattern[length - 1] != ')')
		return false;
	while (open > 0 && strncmp(pattern + open, " (", 2) != 0)
		open--;
	if (!open)
		return false;
	char *name = xstrdup(pattern);
	name[length - 1] = name[open] = 0;
	const char *mark = name + open + 2;
	bool meant = ((n->object && object_has_mark(n->object, mark)) ||
		      (n->function && function_has_mark(n->function, mark))) &&
		     means(name, n);
	xfree(name);
	return meant;
}

bool sleepy_app_matches(const struct profile *p, const char *pattern, uint32_t app)
{
	const struct profile_app *a = &p->apps.items[app];
	const struct named named = {
		.name = a->name,
		.object = a->object == PROFILE_NONE ? NULL : &p->objects.items[a->object],
	};
	return means(pattern, &named);
}

bool sleepy_object_matches(const struct profile *p, const char *pattern, uint32_t object)
{
	const struct profile_object *o = &p->objects.items[object];
	return means(pattern, &(struct named){ .name = o->path, .object = o }) ||
	       means(pattern, &(struct named){ .name = object_name(o), .object = o });
}

bool sleepy_function_matches(const struct profile *p, const char *pattern, uint32_t function)
{
	const struct profile_function *f = &p->functions.items[function];
	return means(pattern, &(struct named){ .name = f->name,
					       .object = &p->objects.items[f->object],
					       .function = f });
}

bool sleepy_unnamed_matches(const struct profile *p, const char *pattern, uint32_t location)
{
	const struct profile_location *l = &p->locations.items[location];
	const struct profile_object *o = &p->objects.items[l->object];
	struct strbuf name = { 0 };
	if (sleepy_is_region(p, location))
		strbuf_puts(&name, object_name(o));
	else
		strbuf_printf(&name, "%s+0x%" PRIx64, object_name(o), l->offset);
	bool meant = means(pattern, &(struct named){ .name = strbuf_text(&name), .object = o });
	strbuf_release(&name);
	return meant;
}

/* ---- told apart ---- */

struct shown {
	const struct sleepy_row *row;
	const struct profile_object *object;	 /* NULL: none */
	const struct profile_function *function; /* NULL: none */
	enum sleepy_by by;
	size_t at; /* in what was given */
};
typedef ARRAY(struct shown) shown_list;

static int compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

/* Equal: nothing that stands in the table tells them apart. */
static int by_looks(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;
	const struct sleepy_row *r = x->row, *s = y->row;
	int order = compare_texts(r->name, s->name);
	order = order ? order : compare_texts(r->where, s->where);
	if (!order && x->by == SLEEPY_INSTRUCTION)
		order = (r->address > s->address) - (r->address < s->address);
	if (order || !x->function || !y->function)
		return order ? order : !x->function - !y->function;
	order = is_inlined(x->function) - is_inlined(y->function);
	return order ? order : strcmp(x->function->name, y->function->name);
}

/* The end of its path that no other of them has, without the file's name. */
static char *place_of(const struct shown *one, const struct shown *all, size_t count)
{
	const char *path = one->object->path, *slash = strrchr(path, '/');
	if (!slash)
		return NULL;
	char *place = xstrdup(path);
	place[slash > path ? slash - path : 1] = 0;
	for (size_t from = (size_t)(slash - path); from-- > 1;) {
		bool alone = path[from] == '/';
		for (size_t i = 0; alone && i < count; i++)
			alone = &all[i] == one || !all[i].object ||
				!lies_in(all[i].object->path, place + from + 1);
		if (!alone)
			continue;
		char *found = xstrdup(place + from + 1);
		xfree(place);
		return found;
	}
	return place;
}

static char *told_apart(const struct shown *one, const struct shown *all, size_t count)
{
	const struct profile_object *o = one->object;
	const struct profile_function *f = one->function;
	bool same_path = false, same_object = false;
	for (size_t i = 0; o && i < count; i++) {
		if (&all[i] == one || !all[i].object)
			continue;
		same_object |= all[i].object == o;
		same_path |= strcmp(all[i].object->path, o->path) == 0;
	}
	if (!o || (!same_object && !same_path))
		return o ? place_of(one, all, count) : NULL;
	struct strbuf text = { 0 };
	char id[2 * BUILD_ID_MAX + 1];
	build_id_text(o, id);
	if (same_object && f && f->address)
		strbuf_printf(&text, "0x%" PRIx64, f->address);
	else if (same_object && f && f->file)
		strbuf_printf(&text, "%s:%" PRIu32, last_part(f->file), f->line);
	else if (!same_object && *id)
		strbuf_printf(&text, "%.*s", ID_SHOWN, id);
	else if (!same_object && o->pid)
		strbuf_printf(&text, "PID %" PRIu32, o->pid);
	return text.length ? strbuf_detach(&text) : NULL;
}

void sleepy_tell_apart(const struct profile *p, enum sleepy_by by, struct sleepy_shown *rows,
		       size_t count)
{
	shown_list list = { 0 };
	if (!count || by == SLEEPY_SYSTEM || by == SLEEPY_INSTANCE || by == SLEEPY_THREAD ||
	    by == SLEEPY_CONTAINER)
		return;
	for (size_t i = 0; i < count; i++) {
		const struct sleepy_row *row = rows[i].row;
		uint32_t object = by == SLEEPY_APP ? p->apps.items[row->app].object : row->object;
		struct shown one = { .row = row, .by = by, .at = i };
		one.object = object == PROFILE_NONE ? NULL : &p->objects.items[object];
		one.function = row->function == PROFILE_NONE ? NULL
							     : &p->functions.items[row->function];
		array_push(&list, one);
	}
	array_sort(&list, by_looks);
	for (size_t i = 0, next; i < list.count; i = next) {
		next = i + 1;
		while (next < list.count && by_looks(&list.items[i], &list.items[next]) == 0)
			next++;
		for (size_t k = i; k < next && next - i > 1; k++)
			rows[list.items[k].at].mark =
				told_apart(&list.items[k], &list.items[i], next - i);
	}
	array_release(&list);
}
