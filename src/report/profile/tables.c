/* Views as data. */
#include <math.h>

#include "report/profile/rows.h"

/* What a row says of whom it is. */
static void set_owner(const struct profile *p, const struct sleepy_row *row,
		      struct profile_row *out)
{
	if (row->app != PROFILE_NONE)
		out->app = p->apps.items[row->app].name;
	out->container = row->container;
	if (row->instance != PROFILE_NONE) {
		const struct profile_instance *i = &p->instances.items[row->instance];
		out->instance = i->number;
		out->pid = i->pid;
		out->comm = i->comm;
		out->start_boottime_ns = (double)i->start_ns;
		if (i->first_ns)
			out->first_sample_at = p->realtime_ns + (int64_t)i->first_ns;
		out->container = i->container;
		out->cgroup = i->cgroup;
	}
	if (row->thread != PROFILE_NONE) {
		out->tid = p->threads.items[row->thread].tid;
		out->comm = p->threads.items[row->thread].comm;
	}
}

/* What a row says of the code. */
static void set_place(const struct profile *p, const struct sleepy_view *v,
		      const struct sleepy_row *row, struct profile_row *out)
{
	uint32_t object = v->by == SLEEPY_APP ? p->apps.items[row->app].object : row->object;
	if (row->function != PROFILE_NONE) {
		const struct profile_function *f = &p->functions.items[row->function];
		out->function = f->name;
		out->known = true;
		out->inlined = profile_row_inlined(p, row);
		out->offset = row->address - f->address;
		out->address = f->address ? f->address : ABSENT_NS;
		out->file = f->file;
		out->line = f->line;
	}
	if (row->location != PROFILE_NONE)
		out->address = row->address;
	if (object != PROFILE_NONE) {
		const struct profile_object *o = &p->objects.items[object];
		out->object = o->path;
		out->object_kind = o->kind;
		build_id_text(o, out->build_id);
	}
	if (v->by == SLEEPY_LINE) {
		out->file = row->file;
		out->line = row->line;
	}
}

void profile_row_of(const struct profile *p, const struct sleepy_view *v,
		    const struct sleepy_row *row, struct profile_row *out)
{
	struct proportion share;
	double any = v->samples ? 1 : NAN;
	proportion_of(row->self, v->samples, &share);
	*out = (struct profile_row){
		.name = row->name,
		.samples = row->self,
		.total_samples = row->total,
		.user = row->user,
		.kernel = row->kernel,
		.share = share.share,
		.share_low = share.low * any,
		.share_high = share.high * any,
		.total_share = v->samples ? (double)row->total / (double)v->samples : NAN,
		.cpu_ns = profile_ns(p, row->self),
		.cpu_share = profile_cpu_share(p, v, row->self),
		.start_boottime_ns = NAN,
		.offset = ABSENT_NS,
		.address = ABSENT_NS,
		.object_kind = OBJECT_KINDS,
	};
	if (v->by == SLEEPY_SYSTEM)
		return;
	set_owner(p, row, out);
	set_place(p, v, row, out);
}

struct table *profile_view_table(const struct profile_subject *s, const struct sleepy_view *v,
				 const struct profile_style *given)
{
	struct profile_style style = profile_normal_style(given);
	const struct field *fields = profile_row_shapes[v->by]->fields;
	struct columns columns = { 0 };
	profile_row_list rows;
	columns_add_fields(&columns, fields);
	struct table *t = table_of(&columns);
	profile_rows_of(v, &style, &rows);
	for (size_t i = 0; i < rows.count; i++) {
		struct profile_row row;
		profile_row_of(s->profile, v, rows.items[i].row, &row);
		table_add_fields(t, fields, &row);
	}
	array_release(&rows);
	return t;
}
