#include "collect/samples/spaces.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "binary/unwind.h"
#include "collect/backend/kernel.h"
#include "collect/samples/unwound.h"
#include "profile.skel.h"

#define PAGE_SHIFT 12 /* of the page index */
#define BATCH 512
#define AGAIN_NS 10000000000u /* everything is not thrown away more often */

enum { FREE, TAKEN, DOUBTED };

/* Where the rows of an object are in the map. */
struct placed {
	uint32_t row, index, limit, rows; /* as in profile_span; rows 0: none */
	uint64_t base;			  /* as in unwind_table */
};

struct spaces {
	struct sideband *sb;
	int space_of;
	struct unwind_row *rows;
	struct profile_space *tables;
	size_t rows_size, tables_size;
	uint32_t used;		     /* rows */
	ARRAY(struct placed) placed; /* sideband_object.place: which, + 1 */
	uint8_t *taken;		     /* by table: TAKEN, DOUBTED */
	uint64_t began_ns;	     /* since when rows are kept */
	struct made {
		struct profile_identity identity;
		uint32_t version; /* of the image that the table was made from */
	} * made;
};

int spaces_open(struct spaces **out, struct profile_bpf *skel, struct sideband *sb,
		struct error *err)
{
	struct spaces *s = xcalloc(1, sizeof *s);
	s->sb = sb;
	s->space_of = bpf_map__fd(skel->maps.space_of);
	s->rows = kernel_map_memory(skel->maps.rows, SPACES_ROWS * sizeof *s->rows, false,
				    &s->rows_size);
	s->tables = kernel_map_memory(skel->maps.spaces, SPACES_TABLES * sizeof *s->tables, false,
				      &s->tables_size);
	s->taken = xcalloc(SPACES_TABLES, sizeof *s->taken);
	s->made = xcalloc(SPACES_TABLES, sizeof *s->made);
	if (!s->rows || !s->tables) {
		error_errno(err, EXIT_ENVIRONMENT, "cannot map the memory for unwind rows");
		spaces_close(s);
		return -1;
	}
	*out = s;
	return 0;
}

void spaces_close(struct spaces *s)
{
	if (!s)
		return;
	if (s->rows)
		munmap(s->rows, s->rows_size);
	if (s->tables)
		munmap(s->tables, s->tables_size);
	array_release(&s->placed);
	xfree(s->taken);
	xfree(s->made);
	xfree(s);
}

/* ---- rows ---- */

static void forget_processes(struct spaces *s)
{
	struct profile_identity id;
	while (bpf_map_get_next_key(s->space_of, NULL, &id) == 0 &&
	       bpf_map_delete_elem(s->space_of, &id) == 0) {
	}
}

/* NULL: no room. */
static const struct placed *placed_object(struct spaces *s, uint32_t object,
					  const struct unwind_table *t)
{
	static const struct placed nowhere;
	struct sideband_object *of = sideband_object(s->sb, object);
	if (of->place)
		return &s->placed.items[of->place - 1];
	if (t->count < 2 || t->count + (t->rows[t->count - 1].pc >> PAGE_SHIFT) + 2 > SPACES_ROWS)
		return &nowhere; /* none, or more than there could ever be room for */
	struct placed p = { 0 };
	/* the page index lies behind the rows */
	uint32_t limit = t->rows[t->count - 1].pc;
	uint32_t pages = (limit >> PAGE_SHIFT) + 2;
	if (t->count > SPACES_ROWS || s->used + t->count + pages > SPACES_ROWS)
		return NULL;
	p.base = t->base;
	p.row = s->used;
	p.index = s->used + (uint32_t)t->count;
	p.limit = limit;
	memcpy(s->rows + p.row, t->rows, t->count * sizeof *t->rows);
	uint32_t row = 0;
	for (uint32_t page = 0; page < pages; page++) {
		while (row + 1 < t->count && t->rows[row + 1].pc <= (uint64_t)page << PAGE_SHIFT)
			row++;
		s->rows[p.index + page] = (struct unwind_row){ .pc = row };
	}
	p.rows = (uint32_t)t->count;
	s->used += (uint32_t)t->count + pages;
	array_push(&s->placed, p);
	of->place = s->placed.count;
	return &s->placed.items[s->placed.count - 1];
}

/* ---- tables ---- */

static uint32_t free_table(struct spaces *s)
{
	for (uint32_t i = 0; i < SPACES_TABLES; i++)
		if (s->taken[i] == FREE)
			return i;
	return PROFILE_NONE;
}

/* false: no room for the rows of an object. */
static bool fill_table(struct spaces *s, struct profile_space *table, struct image_of *image)
{
	table->count = 0;
	for (size_t i = 0; i < image->mappings.count && table->count < PROFILE_SPANS; i++) {
		const struct mapping *m = &image->mappings.items[i];
		const struct unwound_object *o = unwound_object(s->sb, m->object, image->pid);
		const struct placed *p = placed_object(s, m->object, &o->table);
		uint64_t address = 0;
		if (!p)
			return false;
		bool code = unwound_address(o, m->offset, &address);
		table->spans[table->count++] = (struct profile_span){
			.begin = m->begin,
			.end = m->end,
			.bias = m->begin - address + p->base,
			.row = p->row,
			.index = p->index,
			.limit = p->limit,
			.rows = code ? p->rows : 0,
		};
	}
	return true;
}

void spaces_tell(struct spaces *s, const struct profile_identity *id, struct image_of *image,
		 bool outside)
{
	uint32_t now;
	if (image->end_ns)
		return; /* nobody would take it away again */
	bool told = bpf_map_lookup_elem(s->space_of, id, &now) == 0 && now < SPACES_TABLES;
	if (told && s->made[now].identity.tgid == image->pid &&
	    s->made[now].version == image->version) {
		if (outside)
			s->tables[now].known = 1; /* nobody knows more */
		return;
	}
	uint32_t table = free_table(s);
	if (table == PROFILE_NONE)
		return; /* its stacks go on to be copied, until others have ended */
	if (!fill_table(s, &s->tables[table], image)) {
		if (clock_monotonic_ns() - s->began_ns < AGAIN_NS)
			return;
		/* There is no room for more rows: all of them go, and what runs is learned again.
		 */
		forget_processes(s);
		kernel_wait_for_programs();
		forget_processes(s); /* a fork was under way */
		kernel_wait_for_programs();
		struct sideband_object *of;
		for (uint32_t i = 0; (of = sideband_object(s->sb, i)); i++)
			of->place = 0;
		s->used = 0;
		s->placed.count = 0;
		memset(s->taken, FREE, SPACES_TABLES);
		s->began_ns = clock_monotonic_ns();
		table = 0;
		if (!fill_table(s, &s->tables[table], image))
			return;
	}
	s->tables[table].known = 0;
	s->made[table] = (struct made){ .identity = *id, .version = image->version };
	if (bpf_map_update_elem(s->space_of, id, &table, BPF_ANY) == 0)
		s->taken[table] = TAKEN;
}

static void prepare_image(void *context, struct image_of *image)
{
	struct spaces *s = context;
	for (size_t i = 0; i < image->mappings.count; i++) {
		uint32_t object = image->mappings.items[i].object;
		placed_object(s, object, &unwound_object(s->sb, object, image->pid)->table);
	}
}

void spaces_prepare(struct spaces *s)
{
	sideband_each(s->sb, prepare_image, s);
}

void spaces_look_again(struct spaces *s)
{
	uint64_t now = clock_monotonic_ns();
	for (uint32_t i = 0; i < SPACES_TABLES; i++) {
		if (s->taken[i] == FREE)
			continue;
		const struct image_of *image = sideband_find(s->sb, s->made[i].identity.tgid, now);
		/* unless it is gone it is asked about, and made anew, at its next sample */
		if (image && image->version != s->made[i].version)
			bpf_map_delete_elem(s->space_of, &s->made[i].identity);
	}
}

/* A table may have been handed on by a fork just while the map was read: it is doubted first, and
 * free when the next look does not find it either. */
void spaces_forget(struct spaces *s)
{
	uint8_t in_use[SPACES_TABLES] = { 0 };
	struct profile_identity keys[BATCH];
	uint32_t values[BATCH], at = 0;
	uint64_t now = clock_monotonic_ns();
	ARRAY(struct profile_identity) gone = { 0 };
	for (bool first = true, more = true; more; first = false) {
		uint32_t count = BATCH, next = 0;
		int failed = bpf_map_lookup_batch(s->space_of, first ? NULL : &at, &next, keys,
						  values, &count, NULL);
		if (failed && errno != ENOENT) {
			array_release(&gone);
			return; /* not told: all stay */
		}
		for (uint32_t i = 0; i < count; i++) {
			const struct image_of *image = sideband_find(s->sb, keys[i].tgid, now);
			if (!image || image->end_ns)
				array_push(&gone, keys[i]);
			else if (values[i] < SPACES_TABLES)
				in_use[values[i]] = 1;
		}
		at = next;
		more = !failed;
	}
	for (size_t i = 0; i < gone.count; i++)
		bpf_map_delete_elem(s->space_of, &gone.items[i]);
	array_release(&gone);
	kernel_wait_for_programs();
	for (uint32_t i = 0; i < SPACES_TABLES; i++) {
		if (s->taken[i] == FREE)
			continue;
		s->taken[i] = in_use[i] ? TAKEN : s->taken[i] == DOUBTED ? FREE : DOUBTED;
	}
}
