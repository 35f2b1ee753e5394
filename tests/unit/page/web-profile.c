#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/profile/report.h"
#include "web-fixture.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define SLICES 20
#define SLICE_NS UINT64_C(500000000)
#define INSTRUCTIONS 160
#define KERNEL UINT64_C(0xffffffff81000000)

/* From the app to the innermost frame. '+': in libc; '%': in the kernel; '~': inlined into the one
 * before; '?': of dash, where no function is known. */
#define SERVE "database _start +__libc_start_main main serve "
static const struct {
	const char *frames;
	uint32_t before, after; /* samples */
} stacks[] = {
	{ SERVE "execute scan btree_search ~compare_keys", 2400, 3000 },
	{ SERVE "execute scan btree_search", 1300, 1900 },
	{ SERVE "execute scan hash_row", 900, 300 },
	{ SERVE "execute sort_rows +qsort_r compare_rows", 700, 700 },
	{ SERVE "execute sort_rows +qsort_r", 210, 210 },
	{ SERVE "parse lex", 160, 160 },
	{ SERVE "parse allocate +malloc %asm_exc_page_fault %handle_mm_fault %clear_page", 230,
	  230 },
	{ SERVE "reply +write %entry_SYSCALL_64 %ksys_write %vfs_write", 340, 340 },
	{ SERVE "reply +write %entry_SYSCALL_64 %ksys_write %sock_write_iter %tcp_sendmsg", 410,
	  410 },
	{ "sh ?", 30, 30 },
	{ "[ksoftirqd] %ret_from_fork %run_ksoftirqd %handle_softirqs %net_rx_action", 120, 120 },
};

/* Where in a function its samples are: instructions, and how many of 100. */
static const uint32_t hot[][2] = { { 60, 55 }, { 61, 20 }, { 64, 10 }, { 120, 12 }, { 121, 3 } };

static const char *const listed[] = { "compare_rows", "btree_search", "hash_row", "tcp_sendmsg" };

struct made_profile {
	struct profile profile;
	struct run run;
	struct profile_subject subject;
	uint32_t database, dash, libc, kernel; /* objects */
	instruction_list instructions[COUNT(listed)];
	sleepy_counts counts[COUNT(listed)];
	struct profile_listing listings[COUNT(listed)];
};

static uint32_t add_object(struct profile *p, const char *path, enum object_kind kind)
{
	struct profile_object o = { .path = (char *)path, .kind = kind };
	o.inode = strlen(path);
	return profile_add_object(p, &o);
}

static uint32_t function_of(struct made_profile *m, uint32_t object, const char *name, bool inlined)
{
	uint64_t hash = 0;
	for (const char *c = name; *c; c++)
		hash = hash * 31 + (unsigned char)*c;
	struct profile_function f = { .object = object, .name = (char *)name };
	if (!inlined) {
		f.size = 4 * INSTRUCTIONS;
		f.address = (hash % 4096 + 1) * 0x1000 + (object == m->kernel ? KERNEL : 0);
	}
	if (object == m->database) {
		f.file = (char *)"/src/btree.c";
		f.line = 40;
	}
	return profile_add_function(&m->profile, &f);
}

static uint32_t location_of(struct made_profile *m, uint32_t function, uint32_t inlined,
			    uint32_t instruction)
{
	struct profile *p = &m->profile;
	const struct profile_function *f = &p->functions.items[function];
	uint64_t address = f->address + 4 * (instruction + (inlined == PROFILE_NONE ? 0 : 30));
	struct profile_frame frames[2] = { { .function = inlined, .line = 45 },
					   { .function = function, .line = 45 } };
	bool alone = inlined == PROFILE_NONE;
	uint32_t at = profile_add_location(p, f->object, address);
	profile_set_frames(p, at, address, frames + alone, 2 - alone);
	return at;
}

/* One stack for each hot instruction of the innermost function. */
static void add_stack(struct made_profile *m, uint32_t thread, const char *text, uint32_t samples,
		      bool callers)
{
	struct profile *p = &m->profile;
	uint32_t functions[16], inlined = PROFILE_NONE;
	size_t count = 0, kernel = 0;
	char frames[256], *rest = frames;
	snprintf(frames, sizeof frames, "%s", text);
	strtok_r(rest, " ", &rest);
	for (char *name; (name = strtok_r(rest, " ", &rest));) {
		uint32_t object = *name == '+' ? m->libc : *name == '%' ? m->kernel : m->database;
		uint32_t function = *name == '?'
					    ? PROFILE_NONE
					    : function_of(m, object, name + !!strchr("+%~", *name),
							  *name == '~');
		kernel += *name == '%';
		if (*name == '~')
			inlined = function;
		else
			functions[count++] = function;
	}
	for (size_t h = 0; h < COUNT(hot); h++) {
		uint32_t locations[16], left = samples * hot[h][1] / 100;
		size_t n = callers ? count : 1;
		for (size_t i = 0; i < n; i++) {
			uint32_t f = functions[count - 1 - i];
			if (f == PROFILE_NONE) {
				locations[i] = profile_add_location(p, m->dash, 0x12f0);
				profile_set_frames(p, locations[i], 0x12f0, NULL, 0);
			} else {
				locations[i] = location_of(m, f, i ? PROFILE_NONE : inlined,
							   i ? 4 : hot[h][0]);
			}
		}
		size_t in_kernel = kernel < n ? kernel : n;
		uint32_t stack = profile_add_stack(p, locations, n, (uint32_t)in_kernel,
						   callers ? STACK_COMPLETE : STACK_LEAF);
		if (h + 1 == COUNT(hot)) /* what rounding left */
			for (size_t k = 0, all = samples; k < h; k++)
				left = (uint32_t)(all -= samples * hot[k][1] / 100);
		for (uint32_t s = 0; s < SLICES && left; s++) {
			uint32_t part = s + 1 < SLICES ? left / (SLICES - s) : left;
			struct profile_slice *slice = &p->slices.items[s];
			if (part)
				profile_add_sample(p, s, thread, stack, part);
			slice->samples += part;
			*(kernel ? &slice->kernel : &slice->user) += part;
			left -= part;
		}
	}
}

static const char *source_line(void *context, const char *file, uint32_t line)
{
	static const char *const lines[] = { "\tfor (size_t i = 0; i < node->count; i++) {",
					     "\t\tif (compare_keys(node->keys[i], key) >= 0)",
					     "\t\t\tbreak;" };
	(void)context;
	(void)file;
	return lines[line % COUNT(lines)];
}

static void add_listing(struct made_profile *m, size_t at)
{
	static const char *const texts[] = { "movq 0x8(%rdi,%rax,8),%rcx", "cmpq %rcx,%rsi",
					     "jne 0x1040", "addq $0x1,%rax" };
	const struct profile *p = &m->profile;
	uint32_t f = 0;
	while (strcmp(p->functions.items[f].name, listed[at]) != 0)
		f++;
	bool gap = p->functions.items[f].object == m->kernel; /* an instruction is missing there */
	for (uint32_t i = 0; i < INSTRUCTIONS; i++) {
		uint64_t address = p->functions.items[f].address + 4 * (i + (gap && i >= 122));
		struct instruction x = { .address = address, .size = 4, .line = 40 + i / 5 };
		x.file = (char *)"/src/btree.c";
		snprintf(x.text, sizeof x.text, "%s", texts[i % COUNT(texts)]);
		array_push(&m->instructions[at], x);
	}
	sleepy_instructions(p, f, NULL, &m->counts[at]);
	m->listings[at] = (struct profile_listing){ .function = f,
						    .instructions = &m->instructions[at],
						    .counts = &m->counts[at],
						    .samples = 6800,
						    .source = source_line };
}

static void profile_make(struct made_profile *m, int64_t id, bool after, bool callers)
{
	static const char *const apps[] = { "database", "sh", "[ksoftirqd]" };
	*m = (struct made_profile){ 0 };
	struct profile *p = &m->profile;
	p->mode = PROFILE_CLOCK;
	p->stacks = callers ? STACKS_EH_FRAME : STACKS_NONE;
	p->hz = 997;
	p->cpus = 2;
	p->realtime_ns = INT64_C(1700000000000000000);
	m->run = (struct run){ .id = id,
			       .kind = SUBJECT_SYSTEM,
			       .name = strdup(after ? "after the change"
						    : "profile of the whole system"),
			       .command = strdup("tare profile -F 997 -g -d 10s"),
			       .status = RUN_COMPLETE,
			       .started_at_ns = 1700001000000000000,
			       .ended_at_ns = 1700001010000000000,
			       .version = strdup("0.1.0") };
	m->subject = (struct profile_subject){ .run = &m->run, .profile = p };
	m->database = add_object(p, "/usr/bin/database", OBJECT_FILE);
	m->dash = add_object(p, "/usr/bin/dash", OBJECT_FILE);
	m->libc = add_object(p, "/usr/lib/x86_64-linux-gnu/libc.so.6", OBJECT_FILE);
	m->kernel = add_object(p, "[kernel]", OBJECT_KERNEL);
	for (uint32_t s = 0; s < SLICES; s++) {
		struct profile_slice slice = { .begin_ns = s * SLICE_NS,
					       .end_ns = (s + 1) * SLICE_NS };
		slice.idle = 60;
		slice.lost = s == 3 ? 3 : 0;
		slice.peak_used = 37;
		slice.peak_room = 8192;
		slice.self_ns = 800000;
		array_push(&p->slices, slice);
	}
	for (uint32_t a = 0; a < COUNT(apps); a++) {
		uint32_t object = a == 0 ? m->database : a == 1 ? m->dash : PROFILE_NONE;
		struct profile_instance i = { .app = profile_add_app(p, apps[a], object),
					      .pid = 4711 + a,
					      .start_ns = 1000000000,
					      .first_ns = 500000000,
					      .cgroup = (char *)"/system.slice" };
		snprintf(i.comm, sizeof i.comm, "%.15s", apps[a]);
		uint32_t thread =
			profile_add_thread(p, profile_add_instance(p, &i), 4711 + a, apps[a]);
		for (size_t k = 0; k < COUNT(stacks); k++)
			if (strncmp(stacks[k].frames, apps[a], strlen(apps[a])) == 0)
				add_stack(m, thread, stacks[k].frames,
					  after ? stacks[k].after : stacks[k].before, callers);
	}
	for (size_t k = 0; k < COUNT(listed); k++)
		add_listing(m, k);
}

static void made_release(struct made_profile *m)
{
	for (size_t k = 0; k < COUNT(listed); k++) {
		array_release(&m->instructions[k]);
		array_release(&m->counts[k]);
	}
	profile_release(&m->profile);
	run_release(&m->run);
}

struct page *web_profiles(bool callers)
{
	static struct made_profile before, after;
	struct sleepy_view views[2];
	struct sleepy_diff diff;
	struct page *p = page_new("before and after", false);
	profile_make(&before, 1, false, callers);
	profile_make(&after, 2, true, callers);
	page_add_profile(p, &before.subject, before.listings, COUNT(listed));
	page_add_profile(p, &after.subject, after.listings, COUNT(listed));
	sleepy_aggregate(&before.profile, SLEEPY_FUNCTION, NULL, false, &views[0]);
	sleepy_aggregate(&after.profile, SLEEPY_FUNCTION, NULL, false, &views[1]);
	sleepy_compare(&views[0], &views[1], before.profile.hz, after.profile.hz, &diff);
	page_compare_profiles(p, 0, 1, &before.subject, &after.subject, &diff);
	sleepy_diff_release(&diff);
	sleepy_view_release(&views[0]);
	sleepy_view_release(&views[1]);
	made_release(&before);
	made_release(&after);
	return p;
}
