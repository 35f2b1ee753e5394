#include "profile-fixture.h"

#include <string.h>

/* 0x1100 push %rbp; mov %rsp,%rbp; 0x1104 mov (%rdi),%eax; 0x1106 cmp %esi,%eax; je 0x1110;
 * 0x110a add $8,%rdi; jmp 0x1104; 0x1110 pop %rbp; ret */
static const uint8_t search_code[] = { 0x55, 0x48, 0x89, 0xe5, 0x8b, 0x07, 0x39, 0xf0, 0x74,
				       0x06, 0x48, 0x83, 0xc7, 0x08, 0xeb, 0xf4, 0x5d, 0xc3 };

enum { SEARCH_COMPARE, SEARCH, FAULT, UNKNOWN, JITTED, SWITCH };

static uint32_t add_file(struct profile *p, const char *path, uint64_t inode, uint8_t id)
{
	struct profile_object o = { .path = (char *)path, .kind = OBJECT_FILE };
	o.build_id_size = BUILD_ID_MAX;
	memset(o.build_id, id, sizeof o.build_id);
	o.device = 0xfd01;
	o.inode = inode;
	return profile_add_object(p, &o);
}

static uint32_t add_memory(struct profile *p, const char *path, enum object_kind kind, uint32_t pid)
{
	return profile_add_object(
		p, &(struct profile_object){ .path = (char *)path, .kind = kind, .pid = pid });
}

static uint32_t add_function(struct profile *p, uint32_t object, const char *name, uint64_t address,
			     uint64_t size, const char *file, uint32_t line)
{
	return profile_add_function(p, &(struct profile_function){ .object = object,
								   .name = (char *)name,
								   .address = address,
								   .size = size,
								   .file = (char *)file,
								   .line = line });
}

/* A location of one frame, or of two where a second function is given. In files the address is the
 * offset and 0x1000. */
static uint32_t add_location(struct profile *p, uint64_t address, uint32_t function, uint32_t line,
			     uint32_t outer, uint32_t outer_line)
{
	uint32_t object = p->functions.items[function].object;
	bool file = p->objects.items[object].kind == OBJECT_FILE;
	uint32_t at = profile_add_location(p, object, file ? address - 0x1000 : address);
	struct profile_frame frames[] = { { .function = function, .line = line },
					  { .function = outer, .line = outer_line } };
	profile_set_frames(p, at, address, frames, outer == PROFILE_NONE ? 1 : 2);
	return at;
}

/* The stacks; positions in stack_list are those of the enum. */
static void add_stacks(struct profile *p, uint32_t btree, uint32_t python)
{
	uint32_t libc = add_file(p, "/usr/lib/libc.so.6", 12, 0xcc);
	uint32_t kernel = add_memory(p, "[kernel]", OBJECT_KERNEL, 0);
	uint32_t jit = add_memory(p, "[jit]", OBJECT_JIT, 200);
	uint32_t search =
		add_function(p, btree, "search", 0x1100, sizeof search_code, "/src/btree.c", 20);
	uint32_t compare = add_function(p, btree, "compare", 0, 0, "/src/btree.h", 5);
	uint32_t main_ = add_function(p, btree, "main", 0x1200, 0x80, "/src/btree.c", 90);
	uint32_t start = add_function(p, libc, "__libc_start_call_main", 0x27150, 0x100, NULL, 0);
	uint32_t clear =
		add_function(p, kernel, "clear_page_erms", 0xffffffff81a00000, 16, NULL, 0);
	uint32_t fault =
		add_function(p, kernel, "asm_exc_page_fault", 0xffffffff81c01000, 0x30, NULL, 0);
	uint32_t finish = add_function(p, kernel, "finish_task_switch.isra.0", 0xffffffff810d2000,
				       0x2a0, NULL, 0);
	uint32_t loop = add_function(p, jit, "py::loop", 0x7f0000001000, 0x400, NULL, 0);

	uint32_t none = PROFILE_NONE;
	uint32_t in_compare = add_location(p, 0x1106, compare, 6, search, 24);
	uint32_t in_search = add_location(p, 0x110a, search, 26, none, 0);
	uint32_t in_main = add_location(p, 0x1241, main_, 97, none, 0);
	uint32_t in_start = add_location(p, 0x271c9, start, 0, none, 0);
	uint32_t in_clear = add_location(p, 0xffffffff81a00007, clear, 0, none, 0);
	uint32_t in_fault = add_location(p, 0xffffffff81c01025, fault, 0, none, 0);
	uint32_t in_finish = add_location(p, 0xffffffff810d20aa, finish, 0, none, 0);
	uint32_t in_loop = add_location(p, 0x7f0000001010, loop, 0, none, 0);
	uint32_t unknown = profile_add_location(p, python, 0x5000);
	profile_set_frames(p, unknown, 0x405000, NULL, 0);

	profile_add_stack(p, (uint32_t[]){ in_compare, in_main, in_start }, 3, 0, STACK_COMPLETE);
	profile_add_stack(p, (uint32_t[]){ in_search, in_main, in_start }, 3, 0, STACK_COMPLETE);
	profile_add_stack(p, (uint32_t[]){ in_clear, in_fault, in_compare, in_main, in_start }, 5,
			  2, STACK_COMPLETE);
	profile_add_stack(p, (uint32_t[]){ unknown }, 1, 0, STACK_LEAF);
	profile_add_stack(p, (uint32_t[]){ in_loop, unknown }, 2, 0, STACK_BROKEN);
	profile_add_stack(p, (uint32_t[]){ in_finish }, 1, 1, STACK_COMPLETE);
	profile_add_code(p, search, search_code, sizeof search_code);
}

static uint32_t add_instance(struct profile *p, uint32_t app, uint32_t number, uint32_t pid,
			     uint64_t start_ns, const char *container)
{
	struct profile_instance i = { .app = app, .number = number, .pid = pid };
	i.start_ns = start_ns;
	i.exec_id = 1;
	i.first_ns = FIXTURE_BEGIN_NS + number * FIXTURE_SLICE_NS + 1000000;
	strcpy(i.comm, number || pid == 100 ? "btree" : "python3");
	i.cgroup = (char *)(container ? "/docker/0123" : "/user.slice");
	i.container = (char *)container;
	return profile_add_instance(p, &i);
}

static void add_slices(struct profile *p)
{
	struct profile_slice first = { .begin_ns = FIXTURE_BEGIN_NS,
				       .end_ns = FIXTURE_BEGIN_NS + FIXTURE_SLICE_NS };
	first.samples = 100;
	first.user = 90;
	first.kernel = 10;
	first.idle = 900;
	first.lost = 2;
	first.peak_used = 7;
	first.peak_room = 4096;
	first.self_ns = 3000000;
	struct profile_slice second = first;
	second.begin_ns = first.end_ns;
	second.end_ns = first.end_ns + FIXTURE_SLICE_NS;
	second.samples = 80;
	second.user = 75;
	second.kernel = 5;
	second.idle = 920;
	second.lost = 0;
	second.throttled = 1;
	second.peak_used = 5;
	array_push(&p->slices, first);
	array_push(&p->slices, second);
}

void fixture_profile(struct profile *p)
{
	p->mode = PROFILE_CLOCK;
	p->stacks = STACKS_EH_FRAME;
	p->hz = 99;
	p->cpus = 2;
	p->realtime_ns = INT64_C(1700000000000000000);
	uint32_t btree = add_file(p, "/usr/bin/btree", 10, 0xbb);
	uint32_t python = add_file(p, "/usr/bin/python3", 11, 0xaa);
	add_stacks(p, btree, python);
	uint32_t btrees = profile_add_app(p, "btree", btree);
	uint32_t pythons = profile_add_app(p, "python3", python);
	uint32_t first = add_instance(p, btrees, 0, 100, 5000000000, NULL);
	uint32_t again = add_instance(p, btrees, 1, 100, 9000000000, NULL);
	uint32_t snake = add_instance(p, pythons, 0, 200, 6000000000, "0123");
	uint32_t t100 = profile_add_thread(p, first, 100, "btree");
	uint32_t t100_again = profile_add_thread(p, again, 100, "btree");
	uint32_t t200 = profile_add_thread(p, snake, 200, "python3");
	uint32_t t201 = profile_add_thread(p, snake, 201, "worker");
	add_slices(p);
	profile_add_sample(p, 0, t100, SEARCH_COMPARE, 50);
	profile_add_sample(p, 0, t100, SEARCH, 20);
	profile_add_sample(p, 0, t100, FAULT, 10);
	profile_add_sample(p, 0, t200, UNKNOWN, 20);
	profile_add_sample(p, 1, t100_again, SEARCH_COMPARE, 30);
	profile_add_sample(p, 1, t200, UNKNOWN, 5);
	profile_add_sample(p, 1, t200, SWITCH, 5);
	profile_add_sample(p, 1, t201, JITTED, 40);
}
