#include "report/profile/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/core/json.h"

#define MOST_PIDS 5	 /* named */
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

static void put_pids(const struct conditions *c, struct strbuf *out)
{
	size_t count = c->pids.count;
	strbuf_puts(out, count == 1 ? "PID " : "PIDs ");
	for (size_t i = 0; i < count && i < MOST_PIDS; i++)
		strbuf_printf(out, "%s%lld", i ? ", " : "", (long long)c->pids.items[i]);
	if (count > MOST_PIDS)
		strbuf_printf(out, " and %zu more", count - MOST_PIDS);
}

/* What tare calls a run that got no name. */
#define DEFAULT_NAME "profile of "

const char *profile_given_name(const struct run *run)
{
	return run && run->name && *run->name &&
			       strncmp(run->name, DEFAULT_NAME, strlen(DEFAULT_NAME)) != 0
		       ? run->name
		       : NULL;
}

/* Of what is not in the conditions, tare's own command line tells, or the name. */
static void put_told_subject(const struct run *run, struct strbuf *out)
{
	const char *words = run && run->command ? strstr(run->command, " -- ") : NULL;
	if (words)
		strbuf_puts(out, words + strlen(" -- "));
	else if (run && run->name && *run->name && !profile_given_name(run))
		strbuf_puts(out, run->name + strlen(DEFAULT_NAME));
	else
		strbuf_puts(out, "the whole system");
}

void put_profile_subject(const struct run *run, struct strbuf *out)
{
	const struct conditions *c = run ? &run->conditions : NULL;
	if (c && c->pids.count)
		put_pids(c, out);
	else if (c && c->cgroup)
		strbuf_printf(out, "cgroup %s", c->cgroup);
	else if (c && c->command)
		strbuf_puts(out, c->command);
	else
		put_told_subject(run, out);
}

void put_profile_mode(const struct profile *p, struct strbuf *out)
{
	static const char *const words[PROFILE_MODES] = {
		[PROFILE_TICK] = "on the kernel's tick",
		[PROFILE_CLOCK] = "by cpu-clock",
		[PROFILE_CYCLES] = "by the CPU's cycles",
	};
	strbuf_printf(out, "%s, %.6g Hz", words[p->mode], p->hz);
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

bool profile_row_inlined(const struct profile *p, const struct sleepy_row *row)
{
	return row->function != PROFILE_NONE && !p->functions.items[row->function].address &&
	       !p->functions.items[row->function].size;
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

/* "operator<<" and "operator()": its brackets are a name. */
static size_t operator_length(const char *name)
{
	static const char word[] = "operator";
	size_t length = sizeof word - 1;
	if (strncmp(name, word, length) != 0)
		return 0;
	if (strncmp(name + length, "()", 2) == 0)
		return length + 2;
	return length + strspn(name + length, "<>=-");
}

/* Of C++ and Rust names, what is between brackets says least: "map<…>::insert(…)". */
static void put_folded(struct strbuf *out, const char *name)
{
	for (size_t i = 0; name[i];) {
		size_t word = operator_length(name + i);
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
	struct strbuf text = { 0 }, shorter = { 0 };
	strbuf_printf(&text, "%s%s%s", before, name, after);
	strbuf_puts(&shorter, before);
	if (strlen(name) < FOLDED_MOST)
		put_folded(&shorter, name);
	else
		strbuf_puts(&shorter, name);
	strbuf_puts(&shorter, after);
	table_add_either(t, strbuf_text(&text), strbuf_text(&shorter));
	strbuf_release(&text);
	strbuf_release(&shorter);
}
