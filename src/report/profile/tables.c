/* Views as data. */
#include "report/profile/fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const struct column profile_columns[PROFILE_FIELDS] = {
	[ROW_NAME] = { "name", "Name", COLUMN_TEXT },
	[ROW_SAMPLES] = { "samples", "Samples", COLUMN_COUNT },
	[ROW_SHARE] = { "share", "Share", COLUMN_PERCENT },
	[ROW_SHARE_LOW] = { "share_low", "From", COLUMN_PERCENT },
	[ROW_SHARE_HIGH] = { "share_high", "To", COLUMN_PERCENT },
	[ROW_TIME] = { "cpu", "CPU time", COLUMN_DURATION },
	[ROW_TOTAL_SAMPLES] = { "total_samples", "Total samples", COLUMN_COUNT },
	[ROW_TOTAL_SHARE] = { "total_share", "Total", COLUMN_PERCENT },
	[ROW_USER] = { "user", "User", COLUMN_COUNT },
	[ROW_KERNEL] = { "kernel", "Kernel", COLUMN_COUNT },
	[ROW_CPU_SHARE] = { "cpu_share", "Of CPU time", COLUMN_PERCENT },
	[ROW_APP] = { "app", "App", COLUMN_TEXT },
	[ROW_NUMBER] = { "instance", "Instance", COLUMN_COUNT },
	[ROW_PID] = { "pid", "PID", COLUMN_COUNT },
	[ROW_TID] = { "tid", "TID", COLUMN_COUNT },
	[ROW_COMM] = { "comm", "Command", COLUMN_TEXT },
	[ROW_STARTED] = { "start_boottime", "Started", COLUMN_DURATION },
	[ROW_FIRST] = { "first_sample", "First sample", COLUMN_DATE },
	[ROW_CONTAINER] = { "container", "Container", COLUMN_TEXT },
	[ROW_CGROUP] = { "cgroup", "Cgroup", COLUMN_TEXT },
	[ROW_FUNCTION] = { "function", "Function", COLUMN_TEXT, .code = true },
	[ROW_INLINED] = { "inlined", "Inlined", COLUMN_COUNT },
	[ROW_OFFSET] = { "offset", "Offset", COLUMN_TEXT },
	[ROW_ADDRESS] = { "address", "Address", COLUMN_TEXT },
	[ROW_OBJECT] = { "object", "Object", COLUMN_TEXT },
	[ROW_OBJECT_KIND] = { "object_kind", "Kind", COLUMN_TEXT },
	[ROW_BUILD_ID] = { "build_id", "Build id", COLUMN_TEXT },
	[ROW_FILE] = { "file", "File", COLUMN_TEXT },
	[ROW_LINE] = { "line", "Line", COLUMN_COUNT },
};

#define BIT(by) (1u << SLEEPY_##by)
#define BY_PLACE (BIT(FUNCTION) | BIT(LINE) | BIT(INSTRUCTION))

bool profile_has_field(enum sleepy_by by, enum profile_field field)
{
	static const unsigned rows = (1u << SLEEPY_VIEWS) - 1 - BIT(SYSTEM);
	static const unsigned views[PROFILE_FIELDS] = {
		[ROW_NAME] = rows | BIT(SYSTEM),
		[ROW_SAMPLES] = rows | BIT(SYSTEM),
		[ROW_SHARE] = rows,
		[ROW_SHARE_LOW] = rows,
		[ROW_SHARE_HIGH] = rows,
		[ROW_TIME] = rows | BIT(SYSTEM),
		[ROW_TOTAL_SAMPLES] = BIT(OBJECT) | BIT(FUNCTION) | BIT(LINE),
		[ROW_TOTAL_SHARE] = BIT(OBJECT) | BIT(FUNCTION) | BIT(LINE),
		[ROW_USER] = rows,
		[ROW_KERNEL] = rows,
		[ROW_CPU_SHARE] = BIT(SYSTEM),
		[ROW_APP] = rows,
		[ROW_NUMBER] = BIT(INSTANCE) | BIT(THREAD),
		[ROW_PID] = BIT(INSTANCE) | BIT(THREAD),
		[ROW_TID] = BIT(THREAD),
		[ROW_COMM] = BIT(INSTANCE) | BIT(THREAD),
		[ROW_STARTED] = BIT(INSTANCE),
		[ROW_FIRST] = BIT(INSTANCE),
		[ROW_CONTAINER] = BIT(INSTANCE) | BIT(CONTAINER),
		[ROW_CGROUP] = BIT(INSTANCE),
		[ROW_FUNCTION] = BY_PLACE,
		[ROW_INLINED] = BIT(FUNCTION) | BIT(LINE),
		[ROW_OFFSET] = BIT(INSTRUCTION),
		[ROW_ADDRESS] = BY_PLACE - BIT(LINE),
		[ROW_OBJECT] = BY_PLACE | BIT(OBJECT) | BIT(APP),
		[ROW_OBJECT_KIND] = BY_PLACE | BIT(OBJECT),
		[ROW_BUILD_ID] = BY_PLACE | BIT(OBJECT) | BIT(APP),
		[ROW_FILE] = BIT(FUNCTION) | BIT(LINE),
		[ROW_LINE] = BIT(FUNCTION) | BIT(LINE),
	};
	return views[field] >> by & 1;
}

/* ---- values ---- */

static void set_count(struct profile_value *out, uint64_t count)
{
	out->present = true;
	out->count = (int64_t)count;
}

static void set_text(struct profile_value *out, const char *text)
{
	out->present = text;
	out->text = text;
}

static void set_hex(struct profile_value *out, uint64_t value)
{
	snprintf(out->room, sizeof out->room, "0x%" PRIx64, value);
	set_text(out, out->room);
}

static void set_number(struct profile_value *out, double number)
{
	out->present = isfinite(number);
	out->number = number;
}

static void set_figure(const struct profile *p, const struct sleepy_view *v,
		       const struct sleepy_row *row, enum profile_field field,
		       struct profile_value *out)
{
	struct proportion share;
	proportion_of(row->self, v->samples, &share);
	if (field == ROW_SAMPLES)
		set_count(out, row->self);
	else if (field == ROW_SHARE)
		set_number(out, share.share);
	else if (field == ROW_SHARE_LOW)
		set_number(out, v->samples ? share.low : NAN);
	else if (field == ROW_SHARE_HIGH)
		set_number(out, v->samples ? share.high : NAN);
	else if (field == ROW_TIME)
		set_number(out, profile_ns(p, row->self));
	else if (field == ROW_TOTAL_SAMPLES)
		set_count(out, row->total);
	else if (field == ROW_TOTAL_SHARE)
		set_number(out, v->samples ? (double)row->total / (double)v->samples : NAN);
	else if (field == ROW_USER)
		set_count(out, row->user);
	else if (field == ROW_KERNEL)
		set_count(out, row->kernel);
	else if (field == ROW_CPU_SHARE)
		set_number(out, profile_cpu_share(p, v, row->self));
}

static void set_owner(const struct profile *p, const struct sleepy_row *row,
		      enum profile_field field, struct profile_value *out)
{
	const struct profile_instance *i =
		row->instance == PROFILE_NONE ? NULL : &p->instances.items[row->instance];
	const struct profile_thread *thread =
		row->thread == PROFILE_NONE ? NULL : &p->threads.items[row->thread];
	if (field == ROW_APP && row->app != PROFILE_NONE)
		set_text(out, p->apps.items[row->app].name);
	else if (field == ROW_NUMBER && i)
		set_count(out, i->number);
	else if (field == ROW_PID && i)
		set_count(out, i->pid);
	else if (field == ROW_TID && thread)
		set_count(out, thread->tid);
	else if (field == ROW_COMM && (thread || i))
		set_text(out, thread ? thread->comm : i->comm);
	else if (field == ROW_STARTED && i)
		set_number(out, (double)i->start_ns);
	else if (field == ROW_FIRST && i && i->first_ns)
		set_count(out, (uint64_t)(p->realtime_ns + (int64_t)i->first_ns));
	else if (field == ROW_CONTAINER)
		set_text(out, i ? i->container : row->container);
	else if (field == ROW_CGROUP && i)
		set_text(out, i->cgroup);
}

static const struct profile_object *object_of(const struct profile *p, const struct sleepy_view *v,
					      const struct sleepy_row *row)
{
	uint32_t object = row->object;
	if (v->by == SLEEPY_APP)
		object = p->apps.items[row->app].object;
	return object == PROFILE_NONE ? NULL : &p->objects.items[object];
}

static void set_place(const struct profile *p, const struct sleepy_view *v,
		      const struct sleepy_row *row, enum profile_field field,
		      struct profile_value *out)
{
	const struct profile_object *o = object_of(p, v, row);
	const struct profile_function *f =
		row->function == PROFILE_NONE ? NULL : &p->functions.items[row->function];
	bool line = v->by == SLEEPY_LINE;
	if (field == ROW_FUNCTION && f)
		set_text(out, f->name);
	else if (field == ROW_INLINED && f)
		set_count(out, profile_row_inlined(p, row));
	else if (field == ROW_OFFSET && f)
		set_hex(out, row->address - f->address);
	else if (field == ROW_ADDRESS && row->location != PROFILE_NONE)
		set_hex(out, row->address);
	else if (field == ROW_ADDRESS && f && f->address)
		set_hex(out, f->address);
	else if (field == ROW_OBJECT && o)
		set_text(out, o->path);
	else if (field == ROW_OBJECT_KIND && o)
		set_text(out, object_kind_name(o->kind));
	else if (field == ROW_BUILD_ID && o && o->build_id_size) {
		build_id_text(o, out->room);
		set_text(out, out->room);
	} else if (field == ROW_FILE)
		set_text(out, line ? row->file : f ? f->file : NULL);
	else if (field == ROW_LINE && (line ? row->line : f ? f->line : 0))
		set_count(out, line ? row->line : f->line);
}

void profile_field_of(const struct profile *p, const struct sleepy_view *v,
		      const struct sleepy_row *row, enum profile_field field,
		      struct profile_value *out)
{
	*out = (struct profile_value){ 0 };
	if (field == ROW_NAME)
		set_text(out, row->name);
	else if (field < ROW_APP)
		set_figure(p, v, row, field, out);
	else if (field < ROW_FUNCTION)
		set_owner(p, row, field, out);
	else
		set_place(p, v, row, field, out);
}

/* ---- the table ---- */

static void add_value(struct table *t, enum column_type type, const struct profile_value *value)
{
	if (!value->present)
		table_add_absent(t);
	else if (type == COLUMN_TEXT)
		table_add_text(t, value->text);
	else if (type == COLUMN_COUNT)
		table_add_count(t, value->count);
	else if (type == COLUMN_DATE)
		table_add_date(t, value->count);
	else
		table_add_number(t, value->number);
}

struct table *profile_view_table(const struct profile_subject *s, const struct sleepy_view *v,
				 const struct profile_style *given)
{
	struct profile_style style = profile_normal_style(given);
	struct column columns[PROFILE_FIELDS];
	profile_row_list rows;
	size_t count = 0;
	for (enum profile_field f = 0; f < PROFILE_FIELDS; f++)
		if (profile_has_field(v->by, f))
			columns[count++] = profile_columns[f];
	struct table *t = table_new(columns, count);
	profile_rows_of(v, &style, &rows);
	for (size_t i = 0; i < rows.count; i++)
		for (enum profile_field f = 0; f < PROFILE_FIELDS; f++) {
			struct profile_value value;
			if (!profile_has_field(v->by, f))
				continue;
			profile_field_of(s->profile, v, rows.items[i].row, f, &value);
			add_value(t, profile_columns[f].type, &value);
		}
	array_release(&rows);
	return t;
}
