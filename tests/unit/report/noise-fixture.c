#include "noise-fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUND_NS 1000000000ull
#define ROUNDS 10
#define GAP_NS 4000000ull /* between rounds */

/* Of a generator of numbers that are the same everywhere: 0 <= x < below. */
static uint64_t draw(struct noise_fixture *f, uint64_t below)
{
	f->seed = f->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (f->seed >> 33) % below;
}

void noise_fixture_empty(struct noise_fixture *f, size_t cpus)
{
	uint32_t numbers[64] = { 0 };
	*f = (struct noise_fixture){ .seed = 1 };
	for (size_t i = 0; i < cpus; i++)
		numbers[i] = (uint32_t)i;
	noise_init(&f->noise, numbers, cpus);
	f->noise.kernel = f->noise.steal_told = true;
	f->noise.begin_ns = 5000000000000ull;
	f->noise.elapsed_ns = ROUNDS * (ROUND_NS + GAP_NS);
	for (size_t i = 0; i < cpus; i++) {
		struct noise_cpu *c = &f->noise.cpus.items[i];
		c->rounds = ROUNDS;
		c->window_ns = ROUNDS * ROUND_NS;
		c->unwatched_ns = 62000000;
		c->turns = 990000000;
		c->threshold_ns = 100;
		c->step_ns = 10;
		c->turn_ns = 10;
		c->turn_p999_ns = 20;
		c->host.rounds = ROUNDS;
	}
	for (uint64_t i = 0; i < ROUNDS; i++) {
		struct noise_part p = { .begin_ns = i * (ROUND_NS + GAP_NS),
					.window_ns = cpus * ROUND_NS };
		array_push(&f->noise.parts, p);
	}
	f->run = (struct run){ .id = 12,
			       .kind = SUBJECT_CPU,
			       .name = strdup("quiet guest"),
			       .command = strdup("tare noise --duration 10"),
			       .conditions =
				       conditions_take(strdup("{\"duration_ns\": 10000000000}")),
			       .status = RUN_COMPLETE,
			       .started_at_ns = 1789460000123000000,
			       .ended_at_ns = 1789460010163000000,
			       .version = strdup("0.1.0") };
	f->view = (struct noise_view){ .run = &f->run, .noise = &f->noise };
}

static void add_part(struct noise_fixture *f, size_t cpu, size_t source, uint64_t at_ns,
		     uint64_t ns)
{
	struct noise_part *p = &f->noise.parts.items[at_ns / (ROUND_NS + GAP_NS)];
	for (size_t i = 0; i < p->shares.count; i++) {
		struct noise_share *s = &p->shares.items[i];
		if (s->cpu == cpu && s->source == source) {
			s->count++;
			s->ns += ns;
			return;
		}
	}
	array_push(&p->shares, (struct noise_share){ (uint32_t)cpu, (uint32_t)source, 1, ns });
}

static void add_piece(struct noise_fixture *f, size_t cpu, uint64_t at_ns,
		      const struct noise_piece *p)
{
	struct noise_cpu *c = &f->noise.cpus.items[cpu];
	const char *name = p->name ? p->name : noise_class_names[p->class];
	struct noise_source *s = noise_source_get(c, p->class, name);
	noise_spread_add(&s->spread, p->ns);
	noise_histogram_add(&s->lengths, noise_bucket_of(p->ns), 1, p->ns);
	if (s->last_ns && at_ns / (ROUND_NS + GAP_NS) == s->last_ns / (ROUND_NS + GAP_NS))
		noise_histogram_add(&s->intervals, noise_bucket_of(at_ns - s->last_ns), 1,
				    at_ns - s->last_ns);
	s->last_ns = at_ns;
	add_part(f, cpu, (size_t)(s - c->sources.items), at_ns, p->ns);
}

static void add_detours(struct noise_detours *d, const uint64_t class_ns[NOISE_CLASSES],
			uint64_t ns, bool told)
{
	d->count++;
	d->ns += ns;
	d->overlap_ns += told ? ns : 0;
	for (size_t i = 0; i < NOISE_CLASSES; i++)
		d->class_ns[i] += class_ns[i];
}

static void add_worst(struct noise_fixture *f, const struct noise_worst *w)
{
	size_t at = f->noise.worst.count;
	array_push(&f->noise.worst, *w);
	struct noise_worst *items = f->noise.worst.items;
	for (; at && items[at - 1].ns < w->ns; at--)
		items[at] = items[at - 1];
	items[at] = *w;
	if (f->noise.worst.count > f->noise.worst_max)
		f->noise.worst.count = f->noise.worst_max;
}

void noise_fixture_detour(struct noise_fixture *f, size_t cpu, uint64_t at_ns,
			  const struct noise_piece *pieces, size_t count)
{
	struct noise_cpu *c = &f->noise.cpus.items[cpu];
	struct noise_worst w = { .cpu = c->cpu, .begin_ns = f->noise.begin_ns + at_ns };
	uint64_t strict = 0, at = at_ns;
	enum noise_class largest = NOISE_UNEXPLAINED;
	for (size_t i = 0; i < count; i++) {
		const struct noise_piece *p = &pieces[i];
		add_piece(f, cpu, at, p);
		at += p->ns;
		w.ns += p->ns;
		w.class_ns[p->class] += p->ns;
		if (w.class_ns[p->class] > w.class_ns[largest])
			largest = p->class;
		if (!noise_class_strict(p->class))
			continue;
		strict += p->ns;
		size_t used = strlen(w.name);
		snprintf(w.name + used, sizeof w.name - used, "%s%s", used ? "_" : "", p->name);
	}
	if (!*w.name)
		snprintf(w.name, sizeof w.name, "%s", noise_class_names[largest]);
	struct noise_combination *x = noise_combination_get(c, w.name);
	noise_spread_add(&x->seen, w.ns);
	noise_histogram_add(&x->seen_lengths, noise_bucket_of(w.ns), 1, w.ns);
	if (strict) {
		noise_spread_add(&x->told, strict);
		noise_histogram_add(&x->told_lengths, noise_bucket_of(strict), 1, strict);
		noise_histogram_add(&c->master, noise_bucket_of(strict), 1, strict);
	}
	add_detours(&c->total, w.class_ns, w.ns, strict);
	add_detours(&c->buckets[noise_bucket_of(w.ns)], w.class_ns, w.ns, strict);
	struct noise_part *part = &f->noise.parts.items[at_ns / (ROUND_NS + GAP_NS)];
	part->count++;
	part->ns += w.ns;
	add_worst(f, &w);
}

/* ---- a guest ---- */

static void tick(struct noise_fixture *f, size_t cpu, uint64_t at, uint64_t number)
{
	struct noise_piece pieces[6] = {
		{ NOISE_DELIVERY, NULL, 5200 + draw(f, 1800) },
		{ NOISE_IRQ, "timer", 2100 + draw(f, 900) },
	};
	size_t n = 2;
	if (number % 3 == 0)
		pieces[n++] = (struct noise_piece){ NOISE_SOFTIRQ, "softirq:sched",
						    1400 + draw(f, 1200) };
	if (number % 10 == 0)
		pieces[n++] =
			(struct noise_piece){ NOISE_SOFTIRQ, "softirq:rcu", 600 + draw(f, 600) };
	if (number % 16 == 0)
		pieces[n++] =
			(struct noise_piece){ NOISE_SOFTIRQ, "softirq:timer", 900 + draw(f, 900) };
	pieces[n++] = (struct noise_piece){ NOISE_DELIVERY, NULL, 200 + draw(f, 200) };
	if (number % 240 == 239)
		pieces[n - 1] =
			(struct noise_piece){ NOISE_STEAL, NULL, 1500000 + draw(f, 2500000) };
	noise_fixture_detour(f, cpu, at, pieces, n);
}

static void round_of(struct noise_fixture *f, size_t cpu, uint64_t begin)
{
	struct noise_cpu *c = &f->noise.cpus.items[cpu];
	for (uint64_t i = 0; i < 249; i++)
		tick(f, cpu, begin + 1000000 + i * 4000000 + draw(f, 2000), i);
	for (uint64_t i = 0; i < 990; i++) {
		struct noise_piece host[] = { { NOISE_HOST, NULL, 8200 + draw(f, 6000) } };
		noise_fixture_detour(f, cpu, begin + 300000 + i * 1000020 + draw(f, 500), host, 1);
	}
	for (uint64_t i = 0; i < 400; i++) {
		struct noise_piece dark[] = { { NOISE_UNEXPLAINED, NULL,
						110 + draw(f, 300) * draw(f, 10) / 4 } };
		noise_fixture_detour(f, cpu, begin + draw(f, ROUND_NS), dark, 1);
	}
	for (uint64_t i = 0; i < 3; i++) {
		struct noise_piece pieces[] = {
			{ NOISE_DELIVERY, NULL, 6100 },
			{ NOISE_IRQ, "virtio3-input.0", 4300 + draw(f, 1500) },
			{ NOISE_SOFTIRQ, "softirq:net_rx", 9000 + draw(f, 9000) },
			{ NOISE_THREAD, "sshd", 82000 + draw(f, 90000) },
			{ NOISE_DELIVERY, NULL, 1800 },
		};
		noise_fixture_detour(f, cpu, begin + draw(f, ROUND_NS), pieces, 5);
	}
	struct noise_piece work[] = { { NOISE_DELIVERY, NULL, 2400 },
				      { NOISE_THREAD, "kworker/0:1", 3100 },
				      { NOISE_WORK, "work:vmstat_update", 17000 + draw(f, 3000) },
				      { NOISE_DELIVERY, NULL, 900 } };
	noise_fixture_detour(f, cpu, begin + 512000000, work, 4);
	struct noise_piece nmi[] = { { NOISE_NMI, "nmi:perf", 3100 },
				     { NOISE_UNEXPLAINED, NULL, 40 } };
	noise_fixture_detour(f, cpu, begin + 612000000, nmi, 2);
	c->host.fitted++;
	c->host.in_phase += 990;
	c->host.looked_at += 1390;
}

void noise_fixture_guest(struct noise_fixture *f)
{
	noise_fixture_empty(f, 2);
	for (size_t cpu = 0; cpu < 2; cpu++) {
		struct noise_cpu *c = &f->noise.cpus.items[cpu];
		for (uint64_t i = 0; i < ROUNDS; i++)
			round_of(f, cpu, i * (ROUND_NS + GAP_NS));
		struct noise_piece fault[] = { { NOISE_FAULT, "page fault", 1900 },
					       { NOISE_DELIVERY, NULL, 300 } };
		noise_fixture_detour(f, cpu, 40000, fault, 2);
		c->host.period_ns = 1000020;
		c->host.width_ns = 8000;
		c->host.chance = 0.016;
		c->events = 9000;
		c->outside = 14;
		c->outside_ns = 22000;
		array_push(&c->untold,
			   (struct noise_untold){ "HYP: Hypervisor callback interrupts", 6 });
	}
}

void noise_fixture_plain(struct noise_fixture *f)
{
	noise_fixture_empty(f, 2);
	f->noise.kernel = f->noise.steal_told = false;
	f->noise.realtime = true;
	f->noise.priority = 95;
	f->run.not_seen = strdup("Without CAP_BPF the kernel tells nothing.");
	for (uint64_t i = 0; i < 2000; i++) {
		struct noise_piece dark[] = { { NOISE_UNEXPLAINED, NULL, 1000 + draw(f, 20000) } };
		noise_fixture_detour(f, i % 2, draw(f, ROUNDS * ROUND_NS), dark, 1);
	}
}

/* ---- the paper ---- */

/* 100 * 1131522.36 / 63.27: the paper's table leaves out what is below 0.02 %. */
#define TABLE1_ALL_NS 1788402000ull

static void add_row(struct noise_cpu *c, const char *name, double min_us, double max_us,
		    uint64_t count, double total_us, double sigma_us)
{
	bool irq = !strcmp(name, "timer") || !strcmp(name, "ide1") || !strcmp(name, "eth0");
	struct noise_source *s = noise_source_get(c, irq ? NOISE_IRQ : NOISE_THREAD, name);
	double mean = total_us * 1e3 / (double)count;
	s->spread = (struct noise_spread){ .count = count,
					   .ns = (uint64_t)(total_us * 1e3 + 0.5),
					   .min_ns = (uint64_t)(min_us * 1e3 + 0.5),
					   .max_ns = (uint64_t)(max_us * 1e3 + 0.5) };
	s->spread.squares = (sigma_us * sigma_us * 1e6 + mean * mean) * (double)count;
	c->total.count += count;
	c->total.ns += s->spread.ns;
	c->total.class_ns[s->class] += s->spread.ns;
}

void noise_fixture_table1(struct noise_fixture *f, const char *path)
{
	char line[256], name[64];
	double min, max, mean, total, sigma, share;
	unsigned long count;
	FILE *file = fopen(path, "r");
	if (!file)
		abort();
	noise_fixture_empty(f, 1);
	struct noise_cpu *c = &f->noise.cpus.items[0];
	/* the last of the table first: the order must come from the report */
	add_row(c, "cupsd", 117.92, 349.48, 2, 472.12, 19563.9);
	while (fgets(line, sizeof line, file))
		if (sscanf(line, "%63[^,],%lf,%lf,%lu,%lf,%lf,%lf,%lf", name, &min, &max, &count,
			   &mean, &total, &sigma, &share) == 8)
			add_row(c, name, min, max, count, total, sigma);
	fclose(file);
	add_row(c, "others", 0.92, 364.31, 2540, (double)(TABLE1_ALL_NS - c->total.ns) / 1e3, 3000);
	c->buckets[noise_bucket_of(15000)] = c->total;
}

void noise_fixture_release(struct noise_fixture *f)
{
	noise_release(&f->noise);
	run_release(&f->run);
}
