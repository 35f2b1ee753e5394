#include "collect/samples_spaces.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "binary/unwind.h"
#include "collect/kernel.h"
#include "collect/unwound.h"
#include "profile.skel.h"

#define PAGE_SHIFT 12 /* of the page index */
#define BATCH 512

/* Where the rows of an object are in the map. */
struct placed {
	bool tried;
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
	ARRAY(struct placed) placed; /* by object of the sideband */
	uint8_t *taken;		     /* by table */
	struct made {
		uint32_t pid, version; /* of the image that a table was made from */
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
		error_set(err, EXIT_ENVIRONMENT, "cannot map the memory for unwind rows: %s",
			  strerror(errno));
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

/* Every CPU has left the programs that it was in. */
static void wait_for_programs(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0)
		usleep(20000);
}

/* ---- rows ---- */

/* Rows and page index one after the other; false: no room. */
static bool place(struct spaces *s, struct placed *p, const struct unwind_table *t)
{
	uint32_t limit = t->rows[t->count - 1].pc;
	uint32_t pages = (limit >> PAGE_SHIFT) + 2;
	if (t->count > SPACES_ROWS || s->used + t->count + pages > SPACES_ROWS)
		return false;
	p->base = t->base;
	p->row = s->used;
	p->index = s->used + (uint32_t)t->count;
	p->limit = limit;
	memcpy(s->rows + p->row, t->rows, t->count * sizeof *t->rows);
	uint32_t row = 0;
	for (uint32_t page = 0; page < pages; page++) {
		while (row + 1 < t->count && t->rows[row + 1].pc <= (uint64_t)page << PAGE_SHIFT)
			row++;
		s->rows[p->index + page] = (struct unwind_row){ .pc = row };
	}
	p->rows = (uint32_t)t->count;
	s->used += (uint32_t)t->count + pages;
	return true;
}

/* All rows and tables go; what runs is learned anew. For when there are too many of either. */
static void start_over(struct spaces *s)
{
	struct profile_identity id;
	while (bpf_map_get_next_key(s->space_of, NULL, &id) == 0 &&
	       bpf_map_delete_elem(s->space_of, &id) == 0) {
	}
	wait_for_programs();
	s->used = 0;
	s->placed.count = 0;
	memset(s->taken, 0, SPACES_TABLES);
}

/* NULL: no room. */
static const struct placed *placed_object(struct spaces *s, uint32_t object,
					  const struct unwind_table *t)
{
	while (s->placed.count <= object)
		array_push(&s->placed, (struct placed){ 0 });
	struct placed *p = &s->placed.items[object];
	if (!p->tried && t->count > 1 && !place(s, p, t))
		return NULL;
	p->tried = true;
	return p;
}

/* ---- tables ---- */

static uint32_t free_table(struct spaces *s)
{
	for (uint32_t i = 0; i < SPACES_TABLES; i++)
		if (!s->taken[i])
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
	bool told = bpf_map_lookup_elem(s->space_of, id, &now) == 0 && now < SPACES_TABLES;
	if (told && s->made[now].pid == image->pid && s->made[now].version == image->version) {
		if (outside)
			s->tables[now].known = 1; /* nobody knows more */
		return;
	}
	uint32_t table = free_table(s);
	if (table == PROFILE_NONE) {
		spaces_forget(s);
		table = free_table(s);
	}
	if (table == PROFILE_NONE || !fill_table(s, &s->tables[table], image)) {
		start_over(s);
		table = 0;
		if (!fill_table(s, &s->tables[table], image))
			return; /* its rows alone are too many: frame pointers must do */
	}
	s->tables[table].known = 0;
	s->taken[table] = 1;
	s->made[table] = (struct made){ .pid = image->pid, .version = image->version };
	bpf_map_update_elem(s->space_of, id, &table, BPF_ANY);
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
		if (!s->taken[i] || !s->tables[i].known)
			continue;
		const struct image_of *image = sideband_find(s->sb, s->made[i].pid, now);
		if (image && image->version != s->made[i].version)
			s->tables[i].known = 0;
	}
}

void spaces_forget(struct spaces *s)
{
	uint8_t in_use[SPACES_TABLES] = { 0 };
	struct profile_identity keys[BATCH];
	uint32_t values[BATCH], at = 0;
	for (bool first = true;; first = false) {
		uint32_t count = BATCH, next;
		int failed = bpf_map_lookup_batch(s->space_of, first ? NULL : &at, &next, keys,
						  values, &count, NULL);
		for (uint32_t i = 0; i < count && (!failed || errno == ENOENT); i++)
			if (values[i] < SPACES_TABLES)
				in_use[values[i]] = 1;
		at = next;
		if (failed && errno != ENOENT)
			return; /* not told: all stay */
		if (failed)
			break;
	}
	wait_for_programs();
	for (uint32_t i = 0; i < SPACES_TABLES; i++)
		s->taken[i] = s->taken[i] && in_use[i];
}
