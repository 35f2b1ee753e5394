#include "jitter-scene.h"

#include <stdio.h>
#include <string.h>

static void add_name(struct trace *t, uint32_t cause, uint32_t source, const char *prefix)
{
	struct trace_name n = { .cause = cause, .source = source };
	snprintf(n.name, sizeof n.name, "%s%u", prefix, source);
	array_push(&t->names, n);
}

void scene_init(struct scene *s)
{
	uint32_t cpu = 3;
	memset(s, 0, sizeof *s);
	for (uint32_t i = 1; i <= 9; i++) {
		add_name(&s->trace, LEDGER_IRQ, i, "irq");
		add_name(&s->trace, LEDGER_SOFTIRQ, i, "s");
		add_name(&s->trace, TRACE_NAMES_WORK, i, "w");
	}
	s->round.cpu = cpu;
	s->round.tid = LOOP;
	s->round.kernel = true;
	noise_init(&s->noise, &cpu, 1);
	s->jitter = jitter_new(&s->noise);
}

void scene_release(struct scene *s)
{
	jitter_free(s->jitter);
	noise_release(&s->noise);
	trace_release(&s->trace);
	array_release(&s->detours);
}

void scene_detour(struct scene *s, uint64_t begin_ns, uint64_t end_ns)
{
	struct detour d = { begin_ns, end_ns, 0, 0 };
	array_push(&s->detours, d);
}

struct trace_event *scene_event(struct scene *s, uint64_t at_ns, enum trace_kind kind, uint32_t a,
				uint32_t b)
{
	struct trace_event e = { .at_ns = at_ns, .kind = (uint8_t)kind, .cpu = 3, .a = a, .b = b };
	array_push(&s->trace.events, e);
	return &s->trace.events.items[s->trace.events.count - 1];
}

void scene_irq(struct scene *s, uint64_t begin_ns, uint64_t end_ns, uint32_t number)
{
	scene_event(s, begin_ns, TRACE_ENTER, LEDGER_IRQ, number);
	scene_event(s, end_ns, TRACE_LEAVE, LEDGER_IRQ, number);
}

void scene_softirq(struct scene *s, uint64_t begin_ns, uint64_t end_ns, uint32_t number)
{
	scene_event(s, begin_ns, TRACE_ENTER, LEDGER_SOFTIRQ, number);
	scene_event(s, end_ns, TRACE_LEAVE, LEDGER_SOFTIRQ, number);
}

void scene_switch(struct scene *s, uint64_t at_ns, int32_t from, int32_t to, const char *comm)
{
	struct trace_event *e = scene_event(s, at_ns, TRACE_SWITCH, (uint32_t)from, LEDGER_QUEUED);
	e->tid = e->tgid = to;
	memcpy(e->comm, comm, strnlen(comm, sizeof e->comm));
}

void scene_play(struct scene *s)
{
	s->round.detours = s->detours.items;
	s->round.detour_count = s->detours.count;
	s->round.events = s->trace.events.items;
	s->round.event_count = s->trace.events.count;
	s->round.names = s->trace.names.items;
	s->round.name_count = s->trace.names.count;
	s->round.end_ns = s->round.begin_ns + 1000000000;
	jitter_add_round(s->jitter, &s->round, 1);
	s->round.begin_ns = s->round.end_ns;
	s->detours.count = s->trace.events.count = 0;
}

const struct noise_source *scene_source(const struct noise_cpu *c, enum noise_class class,
					const char *name)
{
	for (size_t i = 0; i < c->sources.count; i++)
		if (c->sources.items[i].class == class && !strcmp(c->sources.items[i].name, name))
			return &c->sources.items[i];
	return NULL;
}

const struct noise_combination *scene_combination(const struct noise_cpu *c, const char *name)
{
	for (size_t i = 0; i < c->combinations.count; i++)
		if (!strcmp(c->combinations.items[i].name, name))
			return &c->combinations.items[i];
	return NULL;
}

static struct noise_bucket histogram_sum(const struct noise_histogram *h)
{
	struct noise_bucket sum = { 0, 0 };
	for (unsigned i = 0; i < NOISE_BUCKETS; i++) {
		sum.count += noise_histogram_at(h, i).count;
		sum.ns += noise_histogram_at(h, i).ns;
	}
	return sum;
}

static uint64_t classes_sum(const struct noise_detours *d)
{
	uint64_t ns = 0;
	for (size_t i = 0; i < NOISE_CLASSES; i++)
		ns += d->class_ns[i];
	return ns;
}

static const char *buckets_wrong(const struct noise_cpu *c)
{
	struct noise_detours sum = { 0 };
	for (unsigned i = 0; i < NOISE_BUCKETS; i++) {
		const struct noise_detours *b = &c->buckets[i];
		if (classes_sum(b) != b->ns)
			return "a bucket's classes";
		sum.count += b->count;
		sum.ns += b->ns;
		sum.overlap_ns += b->overlap_ns;
		for (size_t k = 0; k < NOISE_CLASSES; k++)
			sum.class_ns[k] += b->class_ns[k];
	}
	return memcmp(&sum, &c->total, sizeof sum) ? "the buckets' sum" : NULL;
}

static const char *cpu_wrong(const struct noise_cpu *c)
{
	uint64_t by_class[NOISE_CLASSES] = { 0 }, strict = 0, told = 0;
	struct noise_bucket seen = { 0, 0 };
	if (classes_sum(&c->total) != c->total.ns)
		return "the classes' sum";
	for (size_t i = 0; i < c->sources.count; i++) {
		const struct noise_source *s = &c->sources.items[i];
		struct noise_bucket lengths = histogram_sum(&s->lengths);
		by_class[s->class] += s->spread.ns;
		if (lengths.count != s->spread.count || lengths.ns != s->spread.ns)
			return "a source's lengths";
	}
	if (memcmp(by_class, c->total.class_ns, sizeof by_class) != 0)
		return "the sources' sum";
	for (size_t i = 0; i < NOISE_CLASSES; i++)
		if (noise_class_strict((enum noise_class)i))
			strict += by_class[i];
	for (size_t i = 0; i < c->combinations.count; i++) {
		const struct noise_combination *x = &c->combinations.items[i];
		seen.count += x->seen.count;
		seen.ns += x->seen.ns;
		told += x->told.ns;
		if (!*x->name || x->seen.count != x->told.count ||
		    histogram_sum(&x->seen_lengths).ns != x->seen.ns ||
		    histogram_sum(&x->told_lengths).ns != x->told.ns)
			return "a combination";
	}
	if (seen.count != c->total.count || seen.ns != c->total.ns || told != strict)
		return "the combinations' sum";
	if (histogram_sum(&c->master).ns != strict)
		return "the master histogram";
	return buckets_wrong(c);
}

static const char *parts_wrong(const struct noise *n)
{
	uint64_t detours = 0, ns = 0, window = 0, shares = 0;
	for (size_t i = 0; i < n->cpus.count; i++) {
		detours += n->cpus.items[i].total.count;
		ns += n->cpus.items[i].total.ns;
		window += n->cpus.items[i].window_ns;
	}
	for (size_t i = 0; i < n->parts.count; i++) {
		const struct noise_part *p = &n->parts.items[i];
		detours -= p->count;
		ns -= p->ns;
		window -= p->window_ns;
		shares = 0;
		for (size_t k = 0; k < p->shares.count; k++) {
			const struct noise_share *s = &p->shares.items[k];
			shares += s->ns;
			if (k && (s[-1].cpu > s->cpu ||
				  (s[-1].cpu == s->cpu && s[-1].source >= s->source)))
				return "a part's order";
			if (s->cpu >= n->cpus.count ||
			    s->source >= n->cpus.items[s->cpu].sources.count)
				return "a part's source";
		}
		if (shares != p->ns)
			return "a part's shares";
	}
	return detours || ns || window ? "the parts' sum" : NULL;
}

const char *noise_sums_wrong(const struct noise *n)
{
	for (size_t i = 0; i < n->cpus.count; i++) {
		const char *wrong = cpu_wrong(&n->cpus.items[i]);
		if (wrong)
			return wrong;
	}
	for (size_t i = 0; i < n->worst.count; i++) {
		uint64_t ns = 0;
		for (size_t k = 0; k < NOISE_CLASSES; k++)
			ns += n->worst.items[i].class_ns[k];
		if (ns != n->worst.items[i].ns || (i && n->worst.items[i - 1].ns < ns))
			return "the worst";
	}
	return n->parts.count > NOISE_PARTS_MAX || n->worst.count > n->worst_max ? "a bound"
										 : parts_wrong(n);
}
