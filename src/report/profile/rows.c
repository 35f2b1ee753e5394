#include "report/profile/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define MOST_PIDS 5 /* named */
#define OPERATOR "operator"
#define FOLDED_MOST 5000 /* bytes of a name: longer ones are only cut, for that takes no time */

struct profile_style profile_normal_style(const struct profile_style *given)
{
	struct profile_style s = given ? *given : (struct profile_style){ 0 };
	s.style.width = s.style.width && s.style.width < 60 ? 60 : s.style.width;
	return s;
}

void profile_totals_of(const struct profile *p, struct profile_totals *out)
{
	struct profile_slice *sum = &out->slice;
	*out = (struct profile_totals){ 0 };
	for (size_t i = 0; i < p->slices.count; i++) {
		const struct profile_slice *s = &p->slices.items[i];
		out->elapsed_ns += s->end_ns > s->begin_ns ? s->end_ns - s->begin_ns : 0;
		sum->begin_ns = !i || s->begin_ns < sum->begin_ns ? s->begin_ns : sum->begin_ns;
		sum->end_ns = s->end_ns > sum->end_ns ? s->end_ns : sum->end_ns;
		sum->samples += s->samples;
		sum->user += s->user;
		sum->kernel += s->kernel;
		sum->idle += s->idle;
		sum->others += s->others;
		sum->lost += s->lost;
		sum->throttled += s->throttled;
		sum->untold += s->untold;
		sum->self_ns += s->self_ns;
		if (!i || s->peak_used > sum->peak_used) {
			sum->peak_used = s->peak_used;
			sum->peak_room = s->peak_room;
		}
	}
	out->cpu_ns = (double)p->cpus * (double)out->elapsed_ns;
	out->self_share = out->cpu_ns > 0 ? (double)sum->self_ns / out->cpu_ns : NAN;
	out->sampled_ns = profile_ns(p, sum->samples);
	for (size_t i = 0; i < p->samples.count; i++) {
		const struct profile_stack *s = &p->stack_list.items[p->samples.items[i].stack];
		if (s->count <= s->kernel)
			continue;
		out->ends[s->end] += p->samples.items[i].count;
		out->user_stacks += p->samples.items[i].count;
	}
}

double profile_ns(const struct profile *p, uint64_t samples)
{
	return p->hz > 0 ? (double)samples / p->hz * 1e9 : NAN;
}

double profile_cpu_share(const struct profile *p, const struct sleepy_view *v, uint64_t samples)
{
	double cpu_ns = (double)p->cpus * (double)v->elapsed_ns;
	return cpu_ns > 0 ? profile_ns(p, samples) / cpu_ns : NAN;
}

/* ---- words ---- */

/* What tare calls a run that got no name. */
#define DEFAULT_NAME "profile of "

const char *profile_given_name(const struct run *run)
{
	return run && run->name && *run->name &&
			       strncmp(run->name, DEFAULT_NAME, strlen(DEFAULT_NAME)) != 0
		       ? run->name
		       : NULL;
}

void put_profile_subject(const struct run *run, struct strbuf *out)
{
	const struct conditions *c = run ? &run->conditions : NULL;
	/* of what is not in the conditions, tare's own command line tells, or the name */
	const char *words = run && run->command ? strstr(run->command, " -- ") : NULL;
	if (c && c->pids.count) {
		size_t count = c->pids.count;
		strbuf_puts(out, count == 1 ? "PID " : "PIDs ");
		for (size_t i = 0; i < count && i < MOST_PIDS; i++)
			strbuf_printf(out, "%s%lld", i ? ", " : "", (long long)c->pids.items[i]);
		if (count > MOST_PIDS)
			strbuf_printf(out, " and %zu more", count - MOST_PIDS);
	} else if (c && c->cgroup) {
		strbuf_printf(out, "cgroup %s", c->cgroup);
	} else if (c && c->command) {
		strbuf_puts(out, c->command);
	} else if (words) {
		strbuf_puts(out, words + strlen(" -- "));
	} else if (run && run->name && *run->name && !profile_given_name(run)) {
		strbuf_puts(out, run->name + strlen(DEFAULT_NAME));
	} else {
		strbuf_puts(out, "the whole system");
	}
}

void put_profile_mode(const struct profile *p, struct strbuf *out)
{
	static const char *const words[PROFILE_MODES] = {
		[PROFILE_TICK] = "on the kernel's tick",
		[PROFILE_CLOCK] = "by cpu-clock",
		[PROFILE_CYCLES] = "by the CPU's cycles",
	};
	if (p->mode != PROFILE_EVENT)
		strbuf_printf(out, "%s, %.6g Hz", words[p->mode], p->hz);
	else if (p->period == 1)
		strbuf_printf(out, "by %s, each one", p->event);
	else
		strbuf_printf(out, "by %s, one of %llu", p->event, (unsigned long long)p->period);
}

void put_profile_worth(const struct profile *p, uint64_t samples, struct strbuf *out)
{
	char amount[WORDS];
	double ns = profile_ns(p, samples);
	if (p->mode == PROFILE_EVENT) {
		format_amount((double)samples * (double)p->period, amount);
		strbuf_printf(out, "%s %s", amount, p->event);
	} else {
		strbuf_puts(out, isnan(ns) ? "-" : AS_DURATION(ns, 3));
	}
}

const char *profile_row_word(enum sleepy_by by, size_t count)
{
	static const char *const words[SLEEPY_VIEWS][2] = {
		[SLEEPY_SYSTEM] = { "state", "states" },
		[SLEEPY_APP] = { "app", "apps" },
		[SLEEPY_INSTANCE] = { "instance", "instances" },
		[SLEEPY_THREAD] = { "thread", "threads" },
		[SLEEPY_OBJECT] = { "object", "objects" },
		[SLEEPY_FUNCTION] = { "function", "functions" },
		[SLEEPY_LINE] = { "line", "lines" },
		[SLEEPY_INSTRUCTION] = { "instruction", "instructions" },
		[SLEEPY_CONTAINER] = { "container", "containers" },
	};
	return words[by][count != 1];
}

/* ---- rows ---- */

static int by_total(const void *a, const void *b)
{
	const struct sleepy_row *x = ((const struct sleepy_shown *)a)->row;
	const struct sleepy_row *y = ((const struct sleepy_shown *)b)->row;
	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return (x > y) - (x < y);
}

void profile_rows_of(const struct sleepy_view *v, const struct profile_style *style,
		     profile_row_list *out)
{
	bool all = v->by == SLEEPY_SYSTEM;
	double least = style->least_share * (double)v->samples;
	*out = (profile_row_list){ 0 };
	for (size_t i = 0; i < v->rows.count; i++) {
		const struct sleepy_row *row = &v->rows.items[i];
		uint64_t weight = style->by_total ? row->total : row->self;
		if (all || (weight && (double)weight >= least))
			array_push(out, (struct sleepy_shown){ .row = row });
	}
	if (style->by_total && !all && out->count)
		qsort(out->items, out->count, sizeof *out->items, by_total);
	if (!all && style->most && out->count > style->most)
		out->count = style->most;
}

bool profile_row_kernel(const struct profile *p, const struct sleepy_view *v,
			const struct sleepy_row *row)
{
	if (v->by == SLEEPY_SYSTEM || row->object == PROFILE_NONE)
		return false;
	enum object_kind kind = p->objects.items[row->object].kind;
	return kind == OBJECT_KERNEL || kind == OBJECT_MODULE;
}

/* ---- figures ---- */

int profile_decimals(uint64_t n)
{
	return n < 100 ? 0 : n < 100000 ? 1 : 2;
}

/* ---- names that are too long ---- */

/* The bracket that closes the one at name[from]; 0: none does. "->" closes nothing. */
static size_t closing(const char *name, size_t from)
{
	size_t depth = 0;
	for (size_t i = from; name[i]; i++) {
		if (name[i] == '<' || name[i] == '(')
			depth++;
		else if ((name[i] == '>' && name[i - 1] != '-') || name[i] == ')')
			depth--;
		if (!depth)
			return i;
	}
	return 0;
}

/* Of C++ and Rust names, what is between brackets says least: "map<…>::insert(…)". */
static void put_folded(struct strbuf *out, const char *name)
{
	for (size_t i = 0; name[i];) {
		/* "operator<<" and "operator()": its brackets are a name */
		size_t word = strncmp(name + i, OPERATOR, strlen(OPERATOR)) ? 0 : strlen(OPERATOR);
		if (word)
			word += strncmp(name + i + word, "()", 2) ? strspn(name + i + word, "<>=-")
								  : 2;
		size_t end = name[i] == '<' || name[i] == '(' ? closing(name, i) : 0;
		if (word) {
			strbuf_add(out, name + i, word);
			i += word;
		} else if (end > i + 2) {
			strbuf_printf(out, "%c…%c", name[i], name[end]);
			i = end + 1;
		} else
			strbuf_putc(out, name[i++]);
	}
}

void table_add_symbol(struct table *t, const char *before, const char *name, const char *after)
{
	SCOPED(strbuf_release) struct strbuf text = { 0 }, shorter = { 0 };
	strbuf_printf(&text, "%s%s%s", before, name, after);
	strbuf_puts(&shorter, before);
	if (strlen(name) < FOLDED_MOST)
		put_folded(&shorter, name);
	else
		strbuf_puts(&shorter, name);
	strbuf_puts(&shorter, after);
	table_add_either(t, strbuf_text(&text), strbuf_text(&shorter));
}

/* ---- what is known of a row ---- */

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
		out->inlined = !f->address && !f->size;
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
	FREED profile_row_list rows;
	columns_add_fields(&columns, fields);
	struct table *t = table_of(&columns);
	profile_rows_of(v, &style, &rows);
	for (size_t i = 0; i < rows.count; i++) {
		struct profile_row row;
		profile_row_of(s->profile, v, rows.items[i].row, &row);
		table_add_fields(t, fields, &row);
	}
	return t;
}
