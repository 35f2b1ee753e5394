/* Profiles in the lab: they come back as they were however they were cut into slices, the old
 * becomes coarser and stays bounded, and the views say the same. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "../fixtures/profile.h"
#include "fixture.h"
#include "lab/lab.h"
#include "lab/sqlite.h"
#include "profile-text.h"

#define SECOND UINT64_C(1000000000)

static int64_t add_run(struct lab *lab, enum subject_kind kind)
{
	struct run run = { .kind = kind, .name = xstrdup("p") };
	ok(lab_add_run(lab, &run, &err));
	int64_t id = run.id;
	run_release(&run);
	return id;
}

static void refused(int failed, const char *text, const char *hint)
{
	assert_int_equal(failed, -1);
	assert_int_equal(err.code, EXIT_USAGE);
	if (!strstr(err.text, text) || !strstr(err.hint, hint))
		fail_msg("'%s', not '%s'; hint '%s', not '%s'", err.text, text, err.hint, hint);
}

static void same_text(char *expected, char *got)
{
	if (strcmp(expected, got) != 0) {
		size_t at = 0;
		while (expected[at] && expected[at] == got[at])
			at++;
		fail_msg("differs at %zu: expected '%.200s', got '%.200s'", at,
			 expected + (at > 80 ? at - 80 : 0), got + (at > 80 ? at - 80 : 0));
	}
	free(expected);
	free(got);
}

static void comes_back(struct lab *lab, int64_t run, const struct profile *p)
{
	struct profile back = { 0 };
	ok(lab_get_profile(lab, run, 0, 0, &back, &err));
	same_text(profile_text(p), profile_text(&back));
	profile_release(&back);
}

/* ---- things to store ---- */

static const char *random_text(char *room, size_t size)
{
	memset(room, 0, size);
	random_name(room, size);
	return room;
}

static uint32_t below(size_t limit)
{
	return (uint32_t)(random_number() % limit);
}

static void random_places(struct profile *p, size_t size)
{
	char text[40], other[40];
	for (size_t i = 0; i < 2 + size / 20; i++) {
		struct profile_object o = { .path = (char *)random_text(text, sizeof text) };
		o.kind = (enum object_kind)below(OBJECT_KINDS);
		o.build_id_size = (uint8_t)below(BUILD_ID_MAX + 1);
		for (size_t k = 0; k < o.build_id_size; k++)
			o.build_id[k] = (uint8_t)random_number();
		o.device = random_value();
		o.inode = random_value();
		o.pid = below(3);
		profile_add_object(p, &o);
	}
	for (size_t i = 0; i < 3 + size / 4; i++) {
		struct profile_function f = { .object = below(p->objects.count) };
		f.name = (char *)random_text(text, sizeof text);
		f.address = random_value();
		f.size = random_value();
		f.line = below(1000);
		f.file = (char *)(below(2) ? random_text(other, sizeof other) : NULL);
		uint32_t at = profile_add_function(p, &f);
		if (below(2))
			profile_add_code(p, at, (const uint8_t *)text, 1 + below(39));
	}
	for (size_t i = 0; i < 5 + size; i++) {
		struct profile_frame frames[4];
		size_t count = below(5);
		for (size_t k = 0; k < count; k++)
			frames[k] = (struct profile_frame){
				below(p->functions.count), below(1000),
				(char *)(below(3) ? NULL : random_text(other, sizeof other))
			};
		uint32_t at = profile_add_location(p, below(p->objects.count), random_value());
		profile_set_frames(p, at, random_value(), frames, count);
	}
}

static void random_owners(struct profile *p, size_t size)
{
	char name[30], cgroup[30];
	for (size_t i = 0; i < 2 + size / 20; i++)
		profile_add_app(p, random_text(name, sizeof name),
				below(4) ? below(p->objects.count) : PROFILE_NONE);
	for (size_t i = 0; i < 3 + size / 4; i++) {
		struct profile_instance in = { .app = below(p->apps.count), .number = below(100) };
		in.pid = below(5);
		in.start_ns = random_value();
		in.exec_id = random_value();
		in.first_ns = random_value();
		random_name(in.comm, sizeof in.comm);
		in.cgroup = (char *)(below(2) ? random_text(cgroup, sizeof cgroup) : NULL);
		in.container = below(2) ? in.cgroup : NULL;
		profile_add_instance(p, &in);
	}
	for (size_t i = 0; i < 4 + size / 2; i++)
		profile_add_thread(p, below(p->instances.count), below(1000),
				   random_text(name, 16));
}

/* Everything but slices and samples. */
static void random_world(struct profile *p, size_t size)
{
	uint32_t links[2 * PROFILE_FRAMES_MAX];
	p->mode = (enum profile_mode)below(PROFILE_MODES);
	p->stacks = (enum profile_stacks)below(PROFILE_STACKS);
	p->hz = (double)random_number() / 7;
	if (p->mode == PROFILE_EVENT) {
		p->period = 1 + below(100000);
		snprintf(p->event, sizeof p->event, "%s", below(2) ? "page-faults" : "rc4:u");
	}
	p->cpus = below(1000);
	p->realtime_ns = (int64_t)random_number();
	random_places(p, size);
	random_owners(p, size);
	for (size_t i = 0; i < 6 + size; i++) {
		/* as deep as they get only now and then: a text is made of each */
		size_t count = below(10)   ? below(20)
			       : below(30) ? below(200)
					   : below(2 * PROFILE_FRAMES_MAX + 1);
		for (size_t k = 0; k < count; k++)
			links[k] = below(p->locations.count);
		profile_add_stack(p, links, count, below(count + 1),
				  (enum stack_end)below(STACK_ENDS));
	}
}

static void random_slice(struct profile *p, uint64_t begin_ns, uint64_t length_ns, size_t samples)
{
	struct profile_slice slice = { .begin_ns = begin_ns, .end_ns = begin_ns + length_ns };
	uint32_t at = (uint32_t)p->slices.count;
	for (size_t i = 0; i < samples; i++) {
		uint32_t stack = below(p->stack_list.count);
		uint64_t count = 1 + random_number() % 1000;
		profile_add_sample(p, at, below(p->threads.count), stack, count);
		slice.samples += count;
		*(p->stack_list.items[stack].kernel ? &slice.kernel : &slice.user) += count;
	}
	slice.idle = random_number() % 1000;
	slice.others = random_number() % 1000;
	slice.lost = random_number() % 1000;
	slice.throttled = random_number() % 1000;
	slice.untold = random_number() % 1000;
	slice.peak_used = below(1000);
	slice.peak_room = below(100000);
	slice.self_ns = random_number() % 1000000;
	array_push(&p->slices, slice);
}

/* Code of functions that no sample refers to does not come back. */
static void drop_code(struct profile *p)
{
	for (size_t i = 0; i < p->code.count; i++)
		xfree(p->code.items[i].bytes);
	p->code.count = 0;
}

static void random_profile(struct profile *p, size_t size, size_t slices)
{
	*p = (struct profile){ 0 };
	random_world(p, size);
	for (size_t i = 0; i < slices; i++)
		random_slice(p, (1 + i) * 10 * SECOND, 10 * SECOND, 20 + size * 3);
}

/* The slices [first, end) of p, in a profile of their own. */
static void cut(const struct profile *p, uint32_t first, uint32_t end, struct profile *into)
{
	struct profile part = *p;
	struct profile_sample *samples = NULL;
	size_t count = 0;
	samples = xcalloc(p->samples.count + 1, sizeof *samples);
	for (size_t i = 0; i < p->samples.count; i++) {
		struct profile_sample s = p->samples.items[i];
		if (s.slice < first || s.slice >= end)
			continue;
		s.slice -= first;
		samples[count++] = s;
	}
	part.samples.items = samples;
	part.samples.count = count;
	part.slices.items = p->slices.items + first;
	part.slices.count = end - first;
	*into = (struct profile){ 0 };
	profile_merge(into, &part);
	free(samples);
}

/* ---- round trips ---- */

static void profiles_come_back(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	struct profile stored[5];
	int64_t runs[5];
	for (size_t i = 0; i < 5; i++) {
		random_profile(&stored[i], i * i * 20, 1 + i);
		runs[i] = add_run(lab, SUBJECT_SYSTEM);
		ok(lab_add_slices(lab, runs[i], &stored[i], &err));
	}
	lab_close(lab);
	lab = open_lab(LAB_READ);
	for (size_t i = 0; i < 5; i++) {
		struct run run = { 0 };
		struct profile back = { 0 };
		ok(lab_get_run(lab, runs[i], &run, &err));
		assert_int_equal(run.kind, SUBJECT_SYSTEM);
		run_release(&run);
		ok(lab_get_profile(lab, runs[i], 0, 0, &back, &err));
		for (size_t k = 0; k < back.code.count; k++) {
			/* it is that of the function of its name */
			const struct profile_code *c = &back.code.items[k];
			assert_ptr_equal(profile_find_code(&back, c->function), c);
		}
		drop_code(&stored[i]);
		drop_code(&back);
		same_text(profile_text(&stored[i]), profile_text(&back));
		profile_release(&back);
		profile_release(&stored[i]);
	}
	lab_close(lab);
}

static void the_fixture_comes_back(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	struct profile p = { 0 };
	int64_t run = add_run(lab, SUBJECT_SYSTEM);
	fixture_profile(&p);
	ok(lab_add_slices(lab, run, &p, &err));
	comes_back(lab, run, &p);
	/* and a list says how much there is of it */
	run_list runs = { 0 };
	run_count_list counts = { 0 };
	double samples = 0;
	for (size_t i = 0; i < p.slices.count; i++)
		samples += (double)p.slices.items[i].samples;
	ok(lab_list_runs(lab, NULL, 0, &runs, &counts, &err));
	assert_true(samples > 0);
	assert_true(counts.items[0].samples == samples);
	assert_true(fabs(counts.items[0].sampled_ns - samples * 1e9 / p.hz) < 1);
	run_release(&runs.items[0]);
	array_release(&runs);
	array_release(&counts);
	profile_release(&p);
	lab_close(lab);
}

/* Where it begins, and as many bytes as the view says. */
static void measured(struct lab *lab, int64_t run, const struct profile *p)
{
	uint64_t begin = 0, bytes = 0;
	char sql[80];
	ok(lab_measure_profile(lab, run, &begin, &bytes, &err));
	snprintf(sql, sizeof sql, "SELECT bytes FROM profiles WHERE run = %d", (int)run);
	assert_int_equal(bytes, query(lab, sql));
	assert_int_equal(begin, p->slices.items[0].begin_ns);
	/* nothing is stored */
	ok(lab_measure_profile(lab, add_run(lab, SUBJECT_SYSTEM), &begin, &bytes, &err));
	assert_true(!begin && !bytes);
}

/* In one call, or slice by slice, by one tare or by two that know nothing of each other. */
static void slices_add_up(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE), *other = open_lab(LAB_WRITE);
	struct profile p, part;
	int64_t run = add_run(lab, SUBJECT_SYSTEM), beside = add_run(lab, SUBJECT_SYSTEM);
	random_profile(&p, 60, 6);
	drop_code(&p);
	for (uint32_t i = 0; i < 6; i++) {
		cut(&p, i, i + 1, &part);
		ok(lab_add_slices(i == 2 || i == 3 ? other : lab, run, &part, &err));
		ok(lab_add_slices(lab, beside, &part, &err));
		profile_release(&part);
	}
	comes_back(lab, run, &p);
	comes_back(other, beside, &p);
	measured(lab, run, &p);
	/* a window, and the same slices once more */
	struct profile back = { 0 }, twice = { 0 };
	ok(lab_get_profile(lab, run, 20 * SECOND, 40 * SECOND, &back, &err));
	cut(&p, 1, 3, &part);
	same_text(profile_text(&part), profile_text(&back));
	profile_release(&back);
	ok(lab_get_profile(lab, run, 50 * SECOND, 0, &back, &err));
	assert_int_equal(back.slices.count, 2);
	profile_release(&back);
	ok(lab_add_slices(other, run, &part, &err));
	profile_merge(&twice, &p);
	profile_merge(&twice, &part);
	comes_back(lab, run, &twice);
	comes_back(lab, beside, &p);
	profile_release(&part);
	profile_release(&twice);
	profile_release(&p);
	lab_close(lab);
	lab_close(other);
}

static void locations_get_their_frames_later(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	struct profile p = { 0 }, plain = { 0 }, sum = { 0 };
	int64_t run = add_run(lab, SUBJECT_SYSTEM);
	fixture_profile(&p);
	fixture_profile(&plain);
	for (size_t i = 0; i < plain.locations.count; i++) {
		plain.locations.items[i].frames = 0;
		plain.locations.items[i].address = plain.locations.items[i].offset;
	}
	drop_code(&plain);
	for (uint32_t i = 0; i < 3; i++) { /* bare, looked up, and bare again */
		struct profile *from = i == 1 ? &p : &plain;
		for (size_t k = 0; k < 2; k++)
			from->slices.items[k].begin_ns += 100 * SECOND;
		if (i == 2)
			lab_close(lab);
		lab = i == 2 ? open_lab(LAB_WRITE) : lab;
		ok(lab_add_slices(lab, run, from, &err));
		profile_merge(&sum, from);
	}
	strcpy(p.threads.items[0].comm, "renamed");
	profile_merge(&sum, &p);
	ok(lab_add_slices(lab, run, &p, &err));
	comes_back(lab, run, &sum);
	profile_release(&p);
	profile_release(&plain);
	profile_release(&sum);
	lab_close(lab);
}

static void what_is_no_profile_is_refused(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	struct profile p = { 0 }, back = { 0 };
	int64_t command = add_run(lab, SUBJECT_COMMAND), run = add_run(lab, SUBJECT_SYSTEM);
	fixture_profile(&p);
	refused(lab_add_slices(lab, command, &p, &err), "is not a profile", "tare show");
	refused(lab_add_slices(lab, 77, &p, &err), "no run 77", "tare list");
	refused(lab_get_profile(lab, command, 0, 0, &back, &err), "is not a profile", "tare show");
	refused(lab_get_profile(lab, run, 0, 0, &back, &err), "nothing of run 2 was stored",
		"soon");
	ok(lab_add_slices(lab, run, &p, &err));
	uint32_t *const places[] = { &p.samples.items[0].stack,	    &p.samples.items[0].thread,
				     &p.samples.items[0].slice,	    &p.links.items[0],
				     &p.threads.items[0].instance,  &p.instances.items[0].app,
				     &p.apps.items[0].object,	    &p.functions.items[0].object,
				     &p.locations.items[0].object,  &p.locations.items[0].frames,
				     &p.frames.items[0].function,   &p.stack_list.items[0].count,
				     &p.stack_list.items[0].kernel, &p.code.items[0].function };
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		uint32_t was = *places[i];
		*places[i] = 5000;
		refused(lab_add_slices(lab, run, &p, &err), "beyond the bounds", "");
		*places[i] = was;
	}
	comes_back(lab, run, &p);
	profile_release(&p);
	lab_close(lab);
}

/* ---- the old becomes coarser ---- */

static void totals(const struct profile *p, struct profile_slice *sum)
{
	*sum = (struct profile_slice){ 0 };
	for (size_t i = 0; i < p->slices.count; i++) {
		const struct profile_slice *l = &p->slices.items[i];
		sum->samples += l->samples;
		sum->user += l->user;
		sum->kernel += l->kernel;
		sum->idle += l->idle;
		sum->others += l->others;
		sum->lost += l->lost;
		sum->throttled += l->throttled;
		sum->untold += l->untold;
		sum->self_ns += l->self_ns;
		if (l->peak_used > sum->peak_used) {
			sum->peak_used = l->peak_used;
			sum->peak_room = l->peak_room;
		}
		sum->end_ns += l->end_ns - l->begin_ns;
	}
}

static void the_old_becomes_coarser(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	struct profile p, back = { 0 };
	struct profile_slice before, after;
	int64_t run = add_run(lab, SUBJECT_SYSTEM);
	random_profile(&p, 2, 3 * 360); /* three hours */
	drop_code(&p);
	ok(lab_add_slices(lab, run, &p, &err));
	totals(&p, &before);
	uint64_t origin = p.slices.items[0].begin_ns, now = origin + 3 * 3600 * SECOND, bytes = 0;
	struct lab_roll roll = { .minute_after_ns = 1800 * SECOND, .hour_after_ns = 7200 * SECOND };
	ok(lab_roll_slices(lab, run, &roll, now, &bytes, &err));
	assert_true(bytes > 10000);
	ok(lab_get_profile(lab, run, 0, 0, &back, &err));
	/* an hour, 1.5 hours of minutes, and half of one as it was */
	assert_int_equal(back.slices.count, 1 + 90 + 180);
	assert_int_equal(back.slices.items[0].begin_ns, origin);
	assert_int_equal(back.slices.items[0].end_ns, origin + 3600 * SECOND);
	assert_int_equal(back.slices.items[1].begin_ns, origin + 3600 * SECOND);
	assert_int_equal(back.slices.items[1].end_ns, origin + 3660 * SECOND);
	assert_int_equal(back.slices.items[91].begin_ns, origin + 9000 * SECOND);
	assert_int_equal(back.slices.items[91].end_ns, origin + 9010 * SECOND);
	totals(&back, &after);
	assert_memory_equal(&before, &after, sizeof before);
	same_text(profile_sums(&p), profile_sums(&back));
	/* nothing is left to do; later, all of it is */
	char *text = profile_text(&back);
	profile_release(&back);
	ok(lab_roll_slices(lab, run, &roll, now, &bytes, &err));
	ok(lab_get_profile(lab, run, 0, 0, &back, &err));
	same_text(text, profile_text(&back));
	profile_release(&back);
	ok(lab_roll_slices(lab, run, &roll, now + 9000 * SECOND, NULL, &err));
	ok(lab_get_profile(lab, run, 0, 0, &back, &err));
	assert_int_equal(back.slices.count, 3);
	totals(&back, &after);
	assert_memory_equal(&before, &after, sizeof before);
	same_text(profile_sums(&p), profile_sums(&back));
	assert_int_equal(query(lab,
			       "SELECT count(*) FROM profile_sample s WHERE NOT EXISTS (SELECT 1 "
			       "FROM profile_slice l WHERE l.id = s.id >> 24)"),
			 0);
	profile_release(&back);
	profile_release(&p);
	lab_close(lab);
}

static const char *const tables[] = {
	"profile",	    "profile_object", "profile_app",	  "profile_cgroup",
	"profile_instance", "profile_thread", "profile_function", "profile_code",
	"profile_location", "profile_frame",  "profile_chain",	  "profile_slice",
	"profile_sample",
};
#define TABLES (sizeof tables / sizeof *tables)

static int64_t rows_in(struct lab *lab, size_t table)
{
	char sql[80];
	snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", tables[table]);
	return query(lab, sql);
}

/* A slice in which everything is its own: a process that lived for a moment. */
static void churn(struct profile *p, uint64_t number)
{
	char name[32];
	*p = (struct profile){ .hz = 99, .cpus = 2 };
	for (uint32_t i = 0; i < 20; i++) {
		snprintf(name, sizeof name, "/tmp/%" PRIu64 "/%u", number, i);
		uint32_t o = profile_add_object(p, &(struct profile_object){ .path = name });
		uint32_t a = profile_add_app(p, name + 5, o);
		struct profile_instance in = { .app = a, .pid = i, .start_ns = number };
		in.cgroup = name;
		uint32_t t = profile_add_thread(p, profile_add_instance(p, &in), i, "x");
		struct profile_function f = { .object = o, .name = name, .address = 16 };
		uint32_t function = profile_add_function(p, &f), links[3];
		profile_add_code(p, function, (const uint8_t *)name, sizeof name);
		for (uint32_t k = 0; k < 3; k++) {
			links[k] = profile_add_location(p, o, 16 + k);
			profile_set_frames(p, links[k], 16 + k,
					   &(struct profile_frame){ .function = function }, 1);
		}
		profile_add_sample(p, 0, t, profile_add_stack(p, links, 3, 0, STACK_COMPLETE), 1);
	}
	array_push(&p->slices, (struct profile_slice){ .begin_ns = number * 60 * SECOND,
						       .end_ns = (number + 1) * 60 * SECOND,
						       .samples = 20,
						       .user = 20 });
}

/* A simulated day of short-lived programs: neither the run nor the file grows on. */
static void a_night_stays_bounded(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t run = add_run(lab, SUBJECT_SYSTEM), half = 0;
	struct lab_roll roll = { 600 * SECOND, 7200 * SECOND, 500000 };
	for (uint64_t i = 1; i <= 480; i++) {
		struct profile p;
		churn(&p, i);
		ok(lab_add_slices(lab, run, &p, &err));
		profile_release(&p);
		if (i % 12 == 0) {
			uint64_t bytes = 0;
			ok(lab_roll_slices(lab, run, &roll, (i + 1) * 60 * SECOND, &bytes, &err));
			assert_true(bytes <= roll.keep_bytes);
		}
		if (i == 240)
			half = query(lab, "PRAGMA page_count");
	}
	/* the estimate is one of bytes in the file */
	int64_t pages = query(lab, "PRAGMA page_count");
	assert_true(half * 4096 < 2 * (int64_t)roll.keep_bytes);
	assert_true(pages <= half + half / 10);
	assert_true(query(lab, "SELECT count(*) FROM profile_slice") > 10);
	/* nothing is left that nothing refers to */
	static const char *const orphans[] = {
		"profile_thread x WHERE NOT EXISTS (SELECT 1 FROM profile_sample s WHERE s.thread = x.id",
		"profile_chain x WHERE NOT EXISTS (SELECT 1 FROM profile_sample s WHERE s.chain = x.id",
		"profile_instance x WHERE NOT EXISTS (SELECT 1 FROM profile_thread s WHERE s.instance = x.id",
		"profile_app x WHERE NOT EXISTS (SELECT 1 FROM profile_instance s WHERE s.app = x.id",
		"profile_cgroup x WHERE NOT EXISTS (SELECT 1 FROM profile_instance s WHERE s.cgroup = x.id",
		"profile_function x WHERE NOT EXISTS (SELECT 1 FROM profile_frame s WHERE s.function = x.id",
		"profile_object x WHERE NOT EXISTS (SELECT 1 FROM profile_app s WHERE s.object = x.id",
	};
	struct profile back = { 0 };
	ok(lab_roll_slices(lab, run, &(struct lab_roll){ .keep_bytes = 250000 }, 1, NULL, &err));
	for (size_t i = 0; i < sizeof orphans / sizeof *orphans; i++) {
		char sql[200];
		snprintf(sql, sizeof sql, "SELECT count(*) FROM %s)", orphans[i]);
		assert_int_equal(query(lab, sql), 0);
	}
	ok(lab_get_profile(lab, run, 0, 0, &back, &err)); /* and nothing is missing */
	profile_release(&back);
	ok(lab_roll_slices(lab, run, &(struct lab_roll){ .keep_bytes = 1 }, 1, NULL, &err));
	uint64_t begin = 0, bytes = 0; /* what is gone was there */
	ok(lab_measure_profile(lab, run, &begin, &bytes, &err));
	assert_true(begin < (uint64_t)query(lab, "SELECT begin_ns FROM profile_slice"));
	assert_int_equal(query(lab, "SELECT count(*) FROM profile_slice"), 1);
	assert_int_equal(query(lab, "SELECT end_ns FROM profile_slice"),
			 481 * 60 * (int64_t)SECOND);
	lab_close(lab);
}

static void a_removed_run_takes_all_with_it(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	struct profile p, more;
	int64_t kept = add_run(lab, SUBJECT_SYSTEM), run = add_run(lab, SUBJECT_SYSTEM);
	int64_t before[TABLES];
	random_profile(&p, 60, 3);
	random_profile(&more, 80, 3);
	ok(lab_add_slices(lab, kept, &p, &err));
	for (size_t i = 0; i < TABLES; i++)
		before[i] = rows_in(lab, i);
	ok(lab_add_slices(lab, run, &more, &err));
	for (size_t i = 0; i < TABLES; i++)
		assert_true(rows_in(lab, i) > before[i]);
	ok(lab_end_run(lab, run, RUN_COMPLETE, &err));
	ok(lab_end_run(lab, kept, RUN_COMPLETE, &err));
	ok(lab_remove_run(lab, run, &err));
	for (size_t i = 0; i < TABLES; i++)
		assert_int_equal(rows_in(lab, i), before[i]);
	ok(lab_add_slices(lab, kept, &more, &err)); /* nothing of it is taken as known */
	ok(lab_remove_run(lab, kept, &err));
	for (size_t i = 0; i < TABLES; i++)
		assert_int_equal(rows_in(lab, i), 0);
	profile_release(&p);
	profile_release(&more);
	lab_close(lab);
}

/* ---- damage, no room ---- */

static void damage_is_an_error(void **state)
{
	(void)state;
	static const char *const damages[] = {
		"UPDATE profile SET mode = 9",
		"UPDATE profile SET cpus = -1",
		"UPDATE profile_slice SET peak_used = -5",
		"UPDATE profile_sample SET thread = 99999",
		"UPDATE profile_sample SET thread = -1",
		"UPDATE profile_sample SET location = 99999",
		"UPDATE profile_sample SET location = NULL",
		"UPDATE profile_sample SET chain = 0",
		"UPDATE profile_object SET kind = 77",
		"UPDATE profile_object SET run = 2",
		"UPDATE profile_object SET build_id = zeroblob(21)",
		"DELETE FROM profile_object",
		"UPDATE profile_app SET object = 99",
		"DELETE FROM profile_app",
		"DELETE FROM profile_cgroup",
		"UPDATE profile_instance SET pid = -4",
		"UPDATE profile_instance SET run = 2",
		"DELETE FROM profile_thread WHERE id = 2",
		"UPDATE profile_thread SET tid = 1 << 40 WHERE tid = 201",
		"UPDATE profile_thread SET instance = 0 WHERE tid = 201",
		"UPDATE profile_function SET object = 44",
		"UPDATE profile_function SET line = -1",
		"DELETE FROM profile_function",
		"UPDATE profile_code SET size = 1 << 60",
		"UPDATE profile_code SET size = 1",
		"UPDATE profile_code SET data = x'00112233'",
		"UPDATE profile_code SET data = x''",
		"UPDATE profile_location SET object = 0",
		"UPDATE profile_frame SET function = 999",
		"UPDATE profile_frame SET line = -9",
		"UPDATE profile_frame SET level = level + 5",
		"UPDATE profile_chain SET kernel = 6",
		"UPDATE profile_chain SET kernel = -1",
		"UPDATE profile_chain SET stop = 6",
		"UPDATE profile_chain SET run = 2",
		"UPDATE profile_chain SET links = 'x'",
		"UPDATE profile_chain SET links = ','",
		"UPDATE profile_chain SET links = ',1,'",
		"UPDATE profile_chain SET links = ',-1'",
		"UPDATE profile_chain SET links = ',99999'",
		"UPDATE profile_chain SET links = ',99999999999999999999999'",
	};
	struct profile p = { 0 };
	fixture_profile(&p);
	for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
		struct lab *lab = NULL;
		struct profile back = { 0 };
		ok(lab_open(&lab, LAB_IN_MEMORY, LAB_WRITE, &err));
		int64_t run = add_run(lab, SUBJECT_SYSTEM);
		add_run(lab, SUBJECT_SYSTEM);
		ok(lab_add_slices(lab, run, &p, &err));
		sqlite3_exec(lab->db, "PRAGMA foreign_keys = OFF", NULL, NULL, NULL);
		if (sqlite3_exec(lab->db, damages[i], NULL, NULL, NULL))
			fail_msg("%s: %s", damages[i], sqlite3_errmsg(lab->db));
		if (lab_get_profile(lab, run, 0, 0, &back, &err) != -1)
			fail_msg("not seen: %s", damages[i]);
		assert_non_null(strstr(err.text, "damaged"));
		assert_null(back.samples.items);
		/* rolling up what is damaged may fail, and does not crash */
		lab_roll_slices(lab, run, &(struct lab_roll){ 1, 1, 1 }, 7200 * 1000 * SECOND, NULL,
				&err);
		lab_close(lab);
	}
	profile_release(&p);
}

/* What was stored before stays, and what was not is not half there. */
static void a_full_disk_keeps_whole_slices_and_no_halves(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	struct profile p, part, sum = { 0 };
	int64_t run = add_run(lab, SUBJECT_SYSTEM);
	uint32_t stored = 0;
	random_profile(&p, 30, 40);
	drop_code(&p);
	char limit[60];
	snprintf(limit, sizeof limit, "PRAGMA max_page_count = %d",
		 (int)query(lab, "PRAGMA page_count") + 15);
	assert_int_equal(sqlite3_exec(lab->db, limit, NULL, NULL, NULL), SQLITE_OK);
	for (; stored < 40; stored++) {
		cut(&p, stored, stored + 1, &part);
		int failed = lab_add_slices(lab, run, &part, &err);
		profile_release(&part);
		if (failed)
			break;
	}
	assert_in_range(stored, 1, 39);
	assert_int_equal(err.code, EXIT_ENVIRONMENT);
	assert_non_null(strstr(err.text, "what was stored before is kept"));
	cut(&p, 0, stored, &sum);
	comes_back(lab, run, &sum);
	sqlite3_exec(lab->db, "PRAGMA max_page_count = 100000", NULL, NULL, NULL);
	cut(&p, stored, 40, &part);
	ok(lab_add_slices(lab, run, &part, &err)); /* with room it goes on */
	comes_back(lab, run, &p);
	profile_release(&part);
	profile_release(&sum);
	profile_release(&p);
	lab_close(lab);
}

/* ---- versions ---- */

static void a_lab_before_profiles_is_brought_up_to_date(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		execute_sql(lab_schema[i]);
	execute_sql(
		"PRAGMA application_id = 0x74617265; PRAGMA user_version = 3;"
		"INSERT INTO run (status, backend, name, command, parameters, parameters_raw,"
		" started_at_ns, planned, owner_pid, owner_start, owner_boot, owner_space, kind)"
		" VALUES (1, 2, x'6f', x'74', '{}', x'', 5, 1, 1, 1, '', '', 0),"
		" (1, 2, x'6e', x'74', '{}', x'', 6, 1, 1, 1, '', '', 1);"
		"INSERT INTO noise VALUES (2, 0, 0, 1, 0, 1, 2, 3, 4);"
		"INSERT INTO noise_cpu (run, position, cpu, rounds, window_ns, unwatched_ns, turns,"
		" threshold_ns, count, ns, irq_ns, softirq_ns, nmi_ns, thread_ns, work_ns, fault_ns,"
		" throttled_ns, delivery_ns, steal_ns, host_ns, unexplained_ns, overlap_ns,"
		" host_rounds, host_fitted, host_in_phase, host_looked_at, events, lost, outside,"
		" outside_ns) VALUES (2, 0, 7, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,"
		" 1, 1, 1, 1, 1, 1, 1, 1)");
	struct lab *lab = open_lab(LAB_WRITE);
	assert_int_equal(query(lab, "PRAGMA user_version"), lab_schema_version);
	assert_int_equal(query(lab, "SELECT group_concat(id || kind) = '1command,2cpu' FROM runs"),
			 1);
	assert_int_equal(query(lab, "SELECT count(*) FROM noise_runs WHERE run = 2 AND name = 'n'"),
			 1);
	struct run old = { 0 };
	struct noise n;
	ok(lab_get_run(lab, 2, &old, &err));
	assert_int_equal(old.kind, SUBJECT_CPU);
	run_release(&old);
	ok(lab_get_noise(lab, 2, &n, &err));
	assert_int_equal(n.cpus.items[0].cpu, 7);
	noise_release(&n);
	struct profile p = { 0 };
	int64_t run = add_run(lab, SUBJECT_SYSTEM);
	fixture_profile(&p);
	ok(lab_add_slices(lab, run, &p, &err));
	comes_back(lab, run, &p);
	profile_release(&p);
	assert_int_not_equal(sqlite3_exec(lab->db, "UPDATE run SET kind = 5", NULL, NULL, NULL),
			     SQLITE_OK); /* it is checked as before, only wider */
	sqlite3_stmt *stmt = NULL;
	ok(lab_prepare(lab, &stmt, "PRAGMA foreign_key_check", "read", &err));
	assert_int_equal(sqlite3_step(stmt), SQLITE_DONE);
	sqlite3_finalize(stmt);
	lab_close(lab);
}

/* ---- views ---- */

static void views_say_the_same(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	struct profile p = { 0 }, other;
	int64_t run = add_run(lab, SUBJECT_SYSTEM), beside = add_run(lab, SUBJECT_SYSTEM);
	fixture_profile(&p);
	random_profile(&other, 50, 3);
	ok(lab_add_slices(lab, run, &p, &err));
	ok(lab_add_slices(lab, beside, &other, &err));
	static const char *const truths[] = {
		"SELECT count(*) = 2 FROM profiles",
		"SELECT mode = 'cpu-clock' AND stacks = 'eh_frame' AND hz = 99 AND cpus = 2 AND slices "
		"= 2 AND seconds = 20.0 AND samples = 180 AND user = 165 AND kernel = 15 AND idle = "
		"1820 AND lost = 2 AND throttled = 1 AND bytes > 1000 AND name = 'p' FROM profiles "
		"WHERE run = 1",
		"SELECT group_concat(samples) = '100,80' AND max(seconds) = 10.0 AND min(begin_at) = "
		"'2023-11-14T22:30:00.000Z' FROM profile_slices WHERE run = 1",
		"SELECT instances = 2 AND threads = 2 AND samples = 110 AND user = 100 AND kernel = 10 "
		"AND path = '/usr/bin/btree' AND build_id LIKE 'bbbb%' AND abs(share - 110.0 / 180) < "
		"1e-9 FROM profile_apps WHERE run = 1 AND app = 'btree'",
		"SELECT group_concat(samples) = '80,30' AND max(pid) = 100 AND count(DISTINCT start_ns) "
		"= 2 FROM (SELECT * FROM profile_instances WHERE run = 1 AND app = 'btree' ORDER BY "
		"instance)",
		"SELECT cgroup = '/docker/0123' AND container = '0123' AND threads = 2 AND kernel = 5 "
		"AND first_at = '2023-11-14T22:30:00.001Z' FROM profile_instances WHERE run = 1 AND "
		"app = 'python3'",
		"SELECT samples = 40 AND comm = 'worker' AND pid = 200 FROM profile_threads WHERE run = "
		"1 AND tid = 201",
		"SELECT samples = 80 AND address IS NULL AND file = '/src/btree.h' AND line = 5 AND "
		"object = '/usr/bin/btree' AND kind = 'file' FROM profile_functions WHERE run = 1 AND "
		"function = 'compare'",
		"SELECT samples = 20 AND address = 0x1100 AND size = 18 FROM profile_functions WHERE run "
		"= 1 AND function = 'search'",
		"SELECT samples = 25 AND object = '/usr/bin/python3' FROM profile_functions WHERE run = "
		"1 AND function IS NULL",
		"SELECT samples = 80 AND file = '/src/btree.h' FROM profile_lines WHERE run = 1 AND line "
		"= 6",
		"SELECT samples = 80 AND offset = 0x106 AND address_hex = '0x1106' FROM "
		"profile_instructions WHERE run = 1 AND address = 0x1106",
		"SELECT address_hex = '0xffffffff81a00007' AND kind = 'kernel' FROM "
		"profile_instructions WHERE run = 1 AND function = 'clear_page_erms'",
		"SELECT count(*) = 8 AND sum(count) = 180 AND sum(iif(space = 'kernel', count, 0)) = 15 "
		"FROM profile_samples WHERE run = 1",
		"SELECT count = 10 AND app = 'btree' AND instance = 0 AND tid = 100 AND object = "
		"'[kernel]' AND cgroup = '/user.slice' AND container IS NULL AND begin_at = "
		"'2023-11-14T22:30:00.000Z' FROM profile_samples WHERE run = 1 AND function = "
		"'clear_page_erms'",
		"SELECT group_concat(function || ':' || depth || space) = 'clear_page_erms:0kernel,"
		"asm_exc_page_fault:1kernel,compare:2user,search:2user,main:3user,"
		"__libc_start_call_main:4user' AND max(samples) = 10 AND min(end) = 'complete' FROM "
		"(SELECT * FROM profile_frames f WHERE run = 1 AND EXISTS (SELECT 1 FROM profile_samples "
		"s WHERE s.chain = f.chain AND s.leaf = f.leaf AND s.function = 'clear_page_erms') "
		"ORDER BY depth, level)",
		"SELECT sum(samples) = 110 FROM (SELECT DISTINCT chain, leaf, samples FROM "
		"profile_frames WHERE run = 1 AND function = 'search')",
		"SELECT kind = 'system' AND executions = 0 FROM runs WHERE id = 1",
		/* on the random one: all agree */
		"SELECT samples = (SELECT sum(samples) FROM profile_slices WHERE run = 2) AND samples = "
		"(SELECT sum(samples) FROM profile_apps WHERE run = 2) AND samples = (SELECT "
		"sum(samples) FROM profile_instances WHERE run = 2) AND samples = (SELECT sum(samples) "
		"FROM profile_threads WHERE run = 2) AND samples = (SELECT sum(count) FROM "
		"profile_samples WHERE run = 2) FROM profiles WHERE run = 2",
		"SELECT a = b AND b = c AND c = d FROM (SELECT (SELECT sum(samples) FROM "
		"profile_functions WHERE run = 2) a, (SELECT sum(samples) FROM profile_lines WHERE run "
		"= 2) b, (SELECT sum(samples) FROM profile_instructions WHERE run = 2) c, (SELECT "
		"sum(samples) FROM profile_frames WHERE run = 2 AND depth = 0 AND level = 0) d)",
	};
	for (size_t i = 0; i < sizeof truths / sizeof *truths; i++)
		if (query(lab, truths[i]) != 1)
			fail_msg("not true: %s", truths[i]);
	profile_release(&p);
	profile_release(&other);
	lab_close(lab);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	seed = 20261116;
	const struct CMUnitTest tests[] = {
		TEST(profiles_come_back),
		TEST(the_fixture_comes_back),
		TEST(slices_add_up),
		TEST(locations_get_their_frames_later),
		TEST(what_is_no_profile_is_refused),
		TEST(the_old_becomes_coarser),
		TEST(a_night_stays_bounded),
		TEST(a_removed_run_takes_all_with_it),
		TEST(damage_is_an_error),
		TEST(a_full_disk_keeps_whole_slices_and_no_halves),
		TEST(a_lab_before_profiles_is_brought_up_to_date),
		TEST(views_say_the_same),
	};
	return cmocka_run_group_tests_name("lab-profile", tests, NULL, NULL);
}
