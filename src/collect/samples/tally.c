#include "collect/samples/tally.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "collect/samples/appids.h"
#include "collect/samples/cgroups.h"
#include "collect/samples/unwound.h"

#define KNOWN_MOST 16384 /* instances, before those that ended are forgotten */

/* An instance of the session. In each slice it is at another position. */
struct known {
	struct profile_identity identity;
	struct profile_instance instance; /* app: of `who` */
	uint32_t here;			  /* in the slice; PROFILE_NONE: not yet */
};

struct tally {
	struct sideband *sb;
	struct appids *appids;
	struct cgroups *cgroups;
	struct profile *into;
	struct profile who; /* apps and their executables, of the session */
	ARRAY(struct known) known;
	uint32_t *slots;	  /* of known, by identity: position + 1 */
	size_t size;		  /* a power of 2 */
	ARRAY(uint32_t) objects;  /* of the sideband, in the slice; PROFILE_NONE: not yet */
	uint32_t kernel, unknown; /* objects of the slice */
};

struct tally *tally_new(struct sideband *sb)
{
	struct tally *t = xcalloc(1, sizeof *t);
	t->sb = sb;
	t->appids = appids_new();
	t->cgroups = cgroups_new();
	t->size = 1024;
	t->slots = xcalloc(t->size, sizeof *t->slots);
	return t;
}

static void release_known(struct known *k)
{
	xfree(k->instance.cgroup);
	xfree(k->instance.container);
}

void tally_free(struct tally *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->known.count; i++)
		release_known(&t->known.items[i]);
	array_release(&t->known);
	array_release(&t->objects);
	xfree(t->slots);
	profile_release(&t->who);
	appids_free(t->appids);
	cgroups_free(t->cgroups);
	xfree(t);
}

void tally_begin(struct tally *t, struct profile *into)
{
	t->into = into;
	for (size_t i = 0; i < t->known.count; i++)
		t->known.items[i].here = PROFILE_NONE;
	for (size_t i = 0; i < t->objects.count; i++)
		t->objects.items[i] = PROFILE_NONE;
	t->kernel = t->unknown = PROFILE_NONE;
}

/* ---- who ---- */

static size_t slot_of(const struct tally *t, const struct profile_identity *id)
{
	uint64_t hash =
		(id->start_ns ^ (uint64_t)id->tgid << 32 ^ id->exec_id) * 0x9e3779b97f4a7c15u;
	size_t at = (size_t)(hash >> 32) & (t->size - 1);
	while (t->slots[at]) {
		const struct profile_identity *k = &t->known.items[t->slots[at] - 1].identity;
		if (k->start_ns == id->start_ns && k->tgid == id->tgid && k->exec_id == id->exec_id)
			break;
		at = (at + 1) & (t->size - 1);
	}
	return at;
}

static void rehash(struct tally *t)
{
	while (t->known.count * 2 >= t->size)
		t->size *= 2;
	xfree(t->slots);
	t->slots = xcalloc(t->size, sizeof *t->slots);
	for (size_t i = 0; i < t->known.count; i++)
		t->slots[slot_of(t, &t->known.items[i].identity)] = (uint32_t)i + 1;
}

void tally_forget(struct tally *t)
{
	if (t->known.count < KNOWN_MOST)
		return;
	uint64_t now = clock_monotonic_ns();
	size_t kept = 0;
	for (size_t i = 0; i < t->known.count; i++) {
		struct known *k = &t->known.items[i];
		const struct image_of *image = sideband_find(t->sb, k->identity.tgid, now);
		if (image && !image->end_ns && image->begin_ns <= k->instance.first_ns)
			t->known.items[kept++] = *k;
		else
			release_known(k);
	}
	t->known.count = kept;
	rehash(t);
	/* keep only apps that still have an instance */
	struct profile who = { 0 };
	for (size_t i = 0; i < t->known.count; i++) {
		struct profile_instance *instance = &t->known.items[i].instance;
		const struct profile_app *app = &t->who.apps.items[instance->app];
		uint32_t object = app->object;
		if (object != PROFILE_NONE)
			object = profile_add_object(&who, &t->who.objects.items[object]);
		instance->app = profile_add_app(&who, app->name, object);
	}
	profile_release(&t->who);
	t->who = who;
}

static char *copied(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

#define EARLY (UINT64_C(1) << 63)
#define EXEC_NS 100000000u /* no exec takes longer */

/* While a process execs, the sideband tells of the new program before the kernel's count goes up. A
 * sample in between has the new image and the old count: it is the new program's. image->user is
 * the count first seen with it, + 1, and whether that may have been too early. */
static uint32_t decided(uint32_t exec_id, struct image_of *image, uint64_t at_ns)
{
	if (!image)
		return exec_id;
	if (!image->user)
		image->user = (exec_id + UINT64_C(1)) |
			      (at_ns - image->begin_ns < EXEC_NS ? EARLY : 0);
	uint32_t first = (uint32_t)((image->user & ~EARLY) - 1);
	/* samples do not come in order */
	bool late = exec_id + 1 == first && at_ns - image->begin_ns < EXEC_NS;
	return late || (image->user & EARLY && exec_id == first + 1) ? first : exec_id;
}

static struct known *known_of(struct tally *t, const struct profile_identity *seen, uint64_t at_ns,
			      const char *comm, uint64_t cgroup)
{
	struct image_of *image = sideband_find(t->sb, seen->tgid, at_ns);
	struct profile_identity id = *seen;
	id.exec_id = decided(seen->exec_id, image, at_ns);
	size_t slot = slot_of(t, &id);
	if (t->slots[slot])
		return &t->known.items[t->slots[slot] - 1];
	if (t->known.count * 2 >= t->size) {
		rehash(t);
		slot = slot_of(t, &id);
	}
	struct known new = { .identity = id,
			     .here = PROFILE_NONE,
			     .instance = { .pid = id.tgid,
					   .start_ns = id.start_ns,
					   .exec_id = id.exec_id,
					   .first_ns = at_ns } };
	snprintf(new.instance.comm, sizeof new.instance.comm, "%.15s", comm);
	appids_fill(t->appids, &t->who, image, t->sb, &new.instance);
	if (!new.instance.cgroup)
		new.instance.cgroup = (char *)cgroups_path(t->cgroups, cgroup);
	new.instance.cgroup = copied(new.instance.cgroup);
	if (new.instance.cgroup && !new.instance.container)
		new.instance.container = cgroup_container(new.instance.cgroup);
	else
		new.instance.container = copied(new.instance.container);
	array_push(&t->known, new);
	t->slots[slot] = (uint32_t)t->known.count;
	return &t->known.items[t->known.count - 1];
}

static uint32_t thread_here(struct tally *t, struct known *k, uint32_t tid, const char *comm)
{
	struct profile *p = t->into;
	if (k->here == PROFILE_NONE) {
		const struct profile_app *app = &t->who.apps.items[k->instance.app];
		struct profile_instance new = k->instance;
		uint32_t object =
			app->object == PROFILE_NONE
				? PROFILE_NONE
				: profile_add_object(p, &t->who.objects.items[app->object]);
		new.app = profile_add_app(p, app->name, object);
		k->here = profile_add_instance(p, &new);
	}
	char name[16];
	snprintf(name, sizeof name, "%.15s", comm);
	/* of a kernel thread there may be more */
	bool same = strncmp(k->instance.comm, name, strlen(name)) == 0 && k->identity.tgid == tid;
	return profile_add_thread(p, k->here, tid, same ? k->instance.comm : name);
}

/* ---- where ---- */

static uint32_t plain_object(struct tally *t, uint32_t *kept, enum object_kind kind,
			     const char *path)
{
	if (*kept == PROFILE_NONE)
		*kept = profile_add_object(
			t->into, &(struct profile_object){ .path = (char *)path, .kind = kind });
	return *kept;
}

static uint32_t kernel_location(struct tally *t, uint64_t ip)
{
	return profile_add_location(t->into, plain_object(t, &t->kernel, OBJECT_KERNEL, "[kernel]"),
				    ip);
}

static uint32_t object_here(struct tally *t, uint32_t object, const struct profile_identity *id)
{
	while (t->objects.count <= object)
		array_push(&t->objects, PROFILE_NONE);
	const struct profile_object *o = &sideband_object(t->sb, object)->object;
	if (o->kind == OBJECT_JIT || o->kind == OBJECT_MEMORY) {
		struct profile_object own = *o;
		own.pid = id->tgid;
		own.inode = id->start_ns; /* a pid is used again */
		return profile_add_object(t->into, &own);
	}
	if (t->objects.items[object] == PROFILE_NONE) {
		t->objects.items[object] = profile_add_object(t->into, o);
		sideband_object_fd(t->sb, object,
				   id->tgid); /* it may be deleted when names are wanted */
	}
	return t->objects.items[object];
}

static uint32_t user_location(struct tally *t, const struct image_of *image,
			      const struct profile_identity *id, uint64_t at_ns, uint64_t ip)
{
	const struct mapping *m = image ? image_mapping_at(image, ip, at_ns) : NULL;
	if (!m) {
		uint32_t unknown = plain_object(t, &t->unknown, OBJECT_UNKNOWN, "[unknown]");
		return profile_add_location(t->into, unknown, ip);
	}
	uint32_t object = object_here(t, m->object, id);
	enum object_kind kind = t->into->objects.items[object].kind;
	uint64_t offset = kind == OBJECT_FILE	? ip - m->begin + m->offset
			  : kind == OBJECT_VDSO ? ip - m->begin
						: ip;
	return profile_add_location(t->into, object, offset);
}

/* ---- counting ---- */

_Static_assert(PROFILE_INNER == PROFILE_FRAMES_INNER && PROFILE_OUTER == PROFILE_FRAMES_OUTER, "");

struct place_list {
	uint32_t locations[PROFILE_DEPTH + PROFILE_USER];
	size_t count, kernel;
	size_t depth; /* of the user part */
};

static void add_sample(struct tally *t, uint32_t thread, const struct place_list *l,
		       enum stack_end end, uint64_t count)
{
	uint32_t stack =
		profile_add_walked_stack(t->into, l->locations, l->count, l->kernel, l->depth, end);
	profile_add_sample(t->into, 0, thread, stack, count);
}

/* The kernel's part, without the first `skip`, which belong to the sampling itself. */
static void add_kernel(struct tally *t, struct place_list *l, const __u64 *words, uint32_t skip,
		       uint32_t count)
{
	for (uint32_t i = skip; i < count && i < PROFILE_DEPTH; i++)
		l->locations[l->count++] = kernel_location(t, words[i] - (i > skip));
	l->kernel = l->count;
}

struct user_place {
	const struct image_of *image;
	const struct profile_identity *identity;
	uint64_t at_ns;
};

static void add_user(struct tally *t, struct place_list *l, const struct user_place *of,
		     uint64_t ip, uint64_t *last)
{
	/* recursion comes to the same place again and again */
	l->locations[l->count] = l->count > l->kernel && ip == *last
					 ? l->locations[l->count - 1]
					 : user_location(t, of->image, of->identity, of->at_ns, ip);
	l->count++;
	*last = ip;
}

/* No room for the stack, or none was asked for. */
static void add_leaf(struct tally *t, uint32_t thread, const struct profile_slot *slot,
		     const struct user_place *of)
{
	bool user = slot->flags & PROFILE_IN_USER, cut = slot->flags & PROFILE_CUT;
	struct place_list l = { .count = 1, .kernel = !user, .depth = user };
	l.locations[0] = user ? user_location(t, of->image, of->identity, of->at_ns, slot->ip)
			      : kernel_location(t, slot->ip);
	add_sample(t, thread, &l,
		   cut	  ? STACK_NO_ROOM
		   : user ? STACK_LEAF
			  : STACK_COMPLETE,
		   slot->count);
}

void tally_slot(struct tally *t, const struct profile_slot *slot, const char comm[16],
		const __u64 *words)
{
	struct known *k = known_of(t, &slot->identity, slot->first_ns, comm, slot->cgroup);
	uint32_t thread = thread_here(t, k, slot->tid, comm), pid = slot->identity.tgid;
	const struct user_place of = { sideband_find(t->sb, pid, slot->first_ns), &slot->identity,
				       slot->first_ns };
	if (!slot->stack || slot->stack > PROFILE_WORDS - PROFILE_STACK_MOST + 1) {
		add_leaf(t, thread, slot, &of);
		return;
	}
	const __u64 *stack = words + slot->stack - 1;
	uint64_t counts = stack[1], last = 0;
	uint32_t kernel = counts & 0xffff, user = counts >> 16 & 0xffff;
	uint32_t skip = (uint32_t)(counts >> 48);
	if (kernel > PROFILE_DEPTH || user > PROFILE_WALK || skip > kernel)
		kernel = user = skip = 0; /* cannot be: memory that others write is not trusted */
	struct place_list l = { .depth = user };
	add_kernel(t, &l, stack + 2, skip, kernel);
	for (uint32_t i = 0; i < user; i++) {
		if (i == PROFILE_INNER && user > PROFILE_USER)
			i = user - PROFILE_OUTER;
		add_user(t, &l, &of, stack[2 + kernel + PROFILE_USER_WORD(i)], &last);
	}
	if (l.kernel)
		l.locations[0] = kernel_location(t, slot->ip);
	else if (l.count)
		l.locations[0] =
			user_location(t, of.image, &slot->identity, slot->first_ns, slot->ip);
	add_sample(t, thread, &l, (enum stack_end)(counts >> 32 & 3), slot->count);
}

void tally_dump(struct tally *t, const struct profile_dump *dump, const struct image_of *image,
		uint64_t *user, size_t count, enum stack_end end)
{
	struct known *k = known_of(t, &dump->identity, dump->at_ns, dump->comm, dump->cgroup);
	uint32_t thread = thread_here(t, k, dump->tid, dump->comm);
	uint32_t kernel = dump->kernel_count & 0xffff, skip = dump->kernel_count >> 16;
	const struct user_place of = { image, &dump->identity, dump->at_ns };
	struct place_list l = { .depth = count };
	uint64_t last = 0;
	add_kernel(t, &l, dump->kernel, skip, kernel);
	count = unwound_keep(user, count);
	for (size_t i = 0; i < count; i++)
		add_user(t, &l, &of, user[i], &last);
	add_sample(t, thread, &l, end, 1);
}
