/* Reports of the made-up profile, exactly; of hostile and empty ones, safely. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <cmocka.h>

#include "base/text.h"
#include "profile-report.h"

static const struct profile_style plain = { .style.width = 80 };

static struct profile_case c;

static int set_up(void **state)
{
	(void)state;
	profile_case_make(&c);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	profile_case_release(&c);
	return 0;
}

static void check_text(struct strbuf *out, const char *expected)
{
	assert_string_equal(strbuf_text(out), expected);
	strbuf_release(out);
}

static void check_view(enum sleepy_by by, const struct profile_style *style, const char *expected)
{
	struct sleepy_view v;
	struct strbuf out = { 0 };
	sleepy_aggregate(&c.profile, by, NULL, false, &v);
	profile_view_text(&c.subject, &v, style, &out);
	check_text(&out, expected);
	sleepy_view_release(&v);
}

static void the_head_says_what_was_sampled_and_how(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	profile_head_text(&c.subject, &plain, &out);
	check_text(
		&out,
		"Profile of the whole system for 20.0 s, run 7\n"
		"  Sampled   by cpu-clock, 99 Hz, on 2 CPUs; stacks by .eh_frame\n"
		"  Seen      180 samples, 165 user, 15 kernel: 1.82 s, 4.5 % of CPU time\n"
		"  Stacks    62.9 % of 175 reached their thread's start; 22.9 % broke off\n"
		"  Lost      2 samples found no room (20.2 ms); sampling was held back 1 time\n"
		"  Cost      tare used 6.00 ms, 0.015 % of CPU time; fullest buffer 0.17 % full\n");
}

static void made_under(const char *conditions)
{
	conditions_release(&c.run.conditions);
	c.run.conditions = conditions_take(conditions ? strdup(conditions) : NULL);
}

/* Its end is not what a long command hides. */
static void the_head_shows_the_end_of_a_long_command(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	c.run.name = (char *)"build-a";
	made_under("{\"command\":\"sh -c 'for i in 1 2 3 4 5 6; do gcc -O2 "
		   "-I/work/main/src -D_GNU_SOURCE -c /work/main/src/report/table.c "
		   "-I/usr/include/with/a/long/name -o /dev/null; done'\"}");
	profile_head_text(&c.subject, &(struct profile_style){ .style.width = 60 }, &out);
	out.text[out.length = (size_t)(strstr(out.text, "  Sampled") - out.text)] = '\0';
	check_text(&out, "Profile of sh -c 'for i in 1 2 3 4 5 6; do gcc -O2\n"
			 "  -I/work/main/src -D…able.c -I/usr/include/with/a/long/name\n"
			 "  -o /dev/null; done' for 20.0 s, run 7: build-a\n");
}

/* On the tick, of some processes, with all that can go wrong. */
static void the_head_and_its_notes_tell_what_went_wrong(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	struct profile_slice *s = &c.profile.slices.items[0];
	c.profile.mode = PROFILE_TICK;
	c.profile.hz = 250;
	c.profile.stacks = STACKS_NONE;
	s->others = 400;
	s->untold = 3;
	s->kernel = 60;
	s->user = 40;
	c.run.name = (char *)"nightly \033[31m";
	c.run.status = RUN_INTERRUPTED;
	made_under("{\"pids\":[1,2,3,4,5,6,7]}");
	profile_head_text(&c.subject, &plain, &out);
	strbuf_putc(&out, '\n');
	profile_notes_text(&c.subject, &plain, &out);
	check_text(
		&out,
		"Profile of PIDs 1, 2, 3, 4, 5 and 2 more for 20.0 s (interrupted), run 7:\n"
		"  nightly \\x1b[31m\n"
		"  Sampled   on the kernel's tick, 250 Hz, on 2 CPUs; no stacks\n"
		"  Seen      180 samples, 115 user, 65 kernel: 720 ms, 1.8 % of CPU time\n"
		"  Others    400 samples of what was not asked for: left out\n"
		"  Lost      2 samples found no room (8.00 ms); sampling was held back 1 time; 3\n"
		"            events of processes went untold: some code may lack its name\n"
		"  Cost      tare used 6.00 ms, 0.015 % of CPU time; fullest buffer 0.17 % full\n"
		"\n"
		"Note: a program that runs in step with the kernel's tick is seen always or\n"
		"  never; with -F 997 it is not.\n"
		"Note: kernel samples pile up where interrupts are enabled again: what ran with\n"
		"  them disabled is counted there.\n");
	check_view(SLEEPY_SYSTEM, &plain,
		   "By system, of 180 samples (720 ms)\n"
		   "CPUs were        Samples     Time  CPU time\n"
		   "in user code         165   660 ms     1.7 %\n"
		   "in the kernel         15  60.0 ms     0.1 %\n"
		   "idle                1820   7.28 s    18.2 %\n"
		   "busy for others      400   1.60 s     4.0 %  not what was asked for\n"
		   "not known              2  8.00 ms    <0.1 %  samples were lost\n"
		   "not sampled         7598   30.4 s    76.0 %  late timers or the hypervisor\n");
}

static void by_event(struct profile *p, const char *event, uint64_t period)
{
	p->mode = PROFILE_EVENT;
	p->hz = NAN;
	p->period = period;
	snprintf(p->event, sizeof p->event, "%s", event);
}

/* An event's overflow is no time. */
static void a_profile_by_an_event_speaks_of_events(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	struct profile_slice *s = &c.profile.slices.items[0];
	by_event(&c.profile, "cache-misses:u", 10007);
	c.profile.stacks = STACKS_NONE;
	s->others = 400;
	s->idle = c.profile.slices.items[1].idle = 0;
	profile_head_text(&c.subject, &plain, &out);
	strbuf_putc(&out, '\n');
	profile_notes_text(&c.subject, &plain, &out);
	check_text(
		&out,
		"Profile of the whole system for 20.0 s, run 7\n"
		"  Sampled   by cache-misses:u, one of 10007, on 2 CPUs; no stacks\n"
		"  Seen      180 samples, 165 user, 15 kernel: 1.80 M cache-misses:u\n"
		"  Others    400 samples of what was not asked for: left out\n"
		"  Lost      2 samples found no room (20.0 k cache-misses:u); sampling was held\n"
		"            back 1 time\n"
		"  Cost      tare used 6.00 ms, 0.015 % of CPU time; fullest buffer 0.17 % full\n"
		"\n"
		"Note: a sample is the event, not time: the shares are of the events, and do not\n"
		"  say where time went.\n");
	check_view(SLEEPY_SYSTEM, &plain,
		   "By system, of 180 samples (1.80 M cache-misses:u)\n"
		   "Events came    Samples   Share\n"
		   "in user code       165  28.4 %\n"
		   "in the kernel       15   2.6 %\n"
		   "from others        400  68.7 %  not what was asked for\n"
		   "not known            2   0.3 %  samples were lost\n");
	struct sleepy_view v;
	sleepy_aggregate(&c.profile, SLEEPY_APP, NULL, false, &v);
	profile_json(&c.subject, &v, 1, &plain, &out);
	assert_non_null(strstr(out.text, "\"cpu_ns\": null"));
	assert_non_null(strstr(out.text, "\"event\": \"cache-misses:u\""));
	assert_non_null(strstr(out.text, "\"hz\": null"));
	strbuf_release(&out);
	sleepy_view_release(&v);
}

/* Each one is a sample: there is no chance in the shares. */
static void of_each_event_shares_have_no_margin(void **state)
{
	(void)state;
	by_event(&c.profile, "page-faults", 1);
	check_view(SLEEPY_APP, &plain,
		   "By app, of 180 samples (180 page-faults)\n"
		   "Share %  Samples  App\n"
		   "   61.1      110  btree\n"
		   "   38.9       70  python3\n");
}

static void the_title_says_what_was_profiled(void **state)
{
	(void)state;
	static const struct {
		const char *name, *command, *conditions, *title;
	} runs[] = {
		{ "profile of loop", "tare profile ./loop", NULL, "Profile of loop for 20.0 s" },
		{ "x", "tare profile -- ./loop 3", "{}", "Profile of ./loop 3 for 20.0 s: x" },
		{ "x", "tare profile", "{\"cgroup\":\"/a\"}",
		  "Profile of cgroup /a for 20.0 s: x" },
		{ "x", "tare profile -a", "no JSON", "Profile of the whole system for 20.0 s: x" },
		{ NULL, NULL, "{\"pids\":[12]}", "Profile of PID 12 for 20.0 s" },
	};
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
		struct strbuf out = { 0 };
		conditions_release(&c.run.conditions);
		c.run = (struct run){ .name = (char *)runs[i].name,
				      .command = (char *)runs[i].command,
				      .status = RUN_COMPLETE };
		made_under(runs[i].conditions);
		profile_head_text(&c.subject, &plain, &out);
		*strchr(out.text, '\n') = 0;
		check_text(&out, runs[i].title);
	}
}

static void every_view_is_a_table_of_shares(void **state)
{
	(void)state;
	check_view(SLEEPY_SYSTEM, &plain,
		   "By system, of 180 samples (1.82 s)\n"
		   "CPUs were      Samples     Time  CPU time\n"
		   "in user code       165   1.67 s     4.2 %\n"
		   "in the kernel       15   152 ms     0.4 %\n"
		   "idle              1820   18.4 s    46.0 %\n"
		   "not known            2  20.2 ms     0.1 %  samples were lost\n"
		   "not sampled       1958   19.8 s    49.4 %  late timers or the hypervisor\n");
	check_view(SLEEPY_INSTANCE, &plain,
		   "By instance, of 180 samples (1.82 s); ± is 95 %, in points\n"
		   "Share %    ±  Samples  PID  First seen  Instance   Container\n"
		   "   44.4  7.3       80  100     1.00 ms  btree#0    -\n"
		   "   38.9  7.3       70  200     1.00 ms  python3#0  0123\n"
		   "   16.7  6.1       30  100      10.0 s  btree#1    -\n");
	check_view(SLEEPY_THREAD, &plain,
		   "By thread, of 180 samples (1.82 s); ± is 95 %, in points\n"
		   "Share %    ±  Samples  TID  Thread\n"
		   "   44.4  7.3       80  100  btree#0/btree\n"
		   "   22.2  6.6       40  201  python3#0/worker\n"
		   "   16.7  6.1       30  100  btree#1/btree\n"
		   "   16.7  6.1       30  200  python3#0/python3\n");
	check_view(SLEEPY_FUNCTION, &plain,
		   "By function, of 180 samples (1.82 s); ± is 95 %, in points\n"
		   "Share %    ±  Samples  Function                       Object    App\n"
		   "   44.4  7.3       80  compare (inlined)              btree     btree\n"
		   "   22.2  6.6       40  py::loop                       [jit]     python3\n"
		   "   13.9  5.8       25  python3+0x5000                 python3   python3\n"
		   "   11.1  5.4       20  search                         btree     btree\n"
		   "    5.6  4.4       10  [k] clear_page_erms            [kernel]  btree\n"
		   "    2.8  3.6        5  [k] finish_task_switch.isra.0  [kernel]  python3\n");
	check_view(SLEEPY_LINE, &plain,
		   "By line, of 180 samples (1.82 s); ± is 95 %, in points\n"
		   "Share %    ±  Samples  Line             Function                  App\n"
		   "   44.4  7.3       80  /src/btree.h:6   compare                   btree\n"
		   "   22.2  6.6       40  (not known)      py::loop                  python3\n"
		   "   13.9  5.8       25  (not known)      python3+0x5000            python3\n"
		   "   11.1  5.4       20  /src/btree.c:26  search                    btree\n"
		   "    5.6  4.4       10  (not known)      [k] clear_page_erms       btree\n"
		   "    2.8  3.6        5  (not known)      [k] finish_t…itch.isra.0  python3\n");
	/* the function is what many a line is known by */
	check_view(SLEEPY_LINE, &(struct profile_style){ .style.width = 60, .totals = true },
		   "By line, of 180 samples (1.82 s)\n"
		   "Self %  Samples  Line             Function\n"
		   "  44.4       80  /src/btree.h:6   compare\n"
		   "  22.2       40  (not known)      py::loop\n"
		   "  13.9       25  (not known)      python3+0x5000\n"
		   "  11.1       20  /src/btree.c:26  search\n"
		   "   5.6       10  (not known)      [k] clear_page_erms\n"
		   "   2.8        5  (not known)      [k] finish_t…itch.isra.0\n");
	check_view(SLEEPY_LINE,
		   &(struct profile_style){ .style.width = 60, .totals = true, .by_total = true },
		   "By line, of 180 samples (1.82 s)\n"
		   "Total %  Self %  Line             Function\n"
		   "   61.1     0.0  /src/btree.c:97  main\n"
		   "   61.1     0.0  (not known)      __libc_start_call_main\n"
		   "   50.0    44.4  /src/btree.h:6   compare\n"
		   "   50.0     0.0  /src/btree.c:24  search\n"
		   "   36.1    13.9  (not known)      python3+0x5000\n"
		   "   22.2    22.2  (not known)      py::loop\n"
		   "   11.1    11.1  /src/btree.c:26  search\n"
		   "    5.6     5.6  (not known)      [k] clear_page_erms\n"
		   "    5.6     0.0  (not known)      [k] asm_exc_page_fault\n"
		   "    2.8     2.8  (not known)      [k] finish_t…itch.isra.0\n");
	check_view(
		SLEEPY_INSTRUCTION, &plain,
		"By instruction, of 180 samples (1.82 s); ± is 95 %, in points\n"
		"Share %    ±  Samples           Address  At                    Object    App\n"
		"   44.4  7.3       80              1106  search+0x6            btree     btree\n"
		"   22.2  6.6       40      7f0000001010  py::loop+0x10         [jit]     python3\n"
		"   13.9  5.8       25            405000  python3+0x5000        python3   python3\n"
		"   11.1  5.4       20              110a  search+0xa            btree     btree\n"
		"    5.6  4.4       10  ffffffff81a00007  [k] clear_…_erms+0x7  [kernel]  btree\n"
		"    2.8  3.6        5  ffffffff810d20aa  [k] finish…ra.0+0xaa  [kernel]  python3\n");
}

/* Idle time that makes up for the rest, then with something that cannot be seen. */
static void the_system_is_shown_with_what_was_not_sampled(void **state)
{
	(void)state;
	c.profile.slices.items[0].idle = 3960 - 182;
	c.profile.slices.items[1].idle = 0;
	check_view(SLEEPY_SYSTEM, &plain,
		   "By system, of 180 samples (1.82 s)\n"
		   "CPUs were      Samples     Time  CPU time\n"
		   "in user code       165   1.67 s     4.2 %\n"
		   "in the kernel       15   152 ms     0.4 %\n"
		   "idle              3778   38.2 s    95.4 %\n"
		   "not known            2  20.2 ms     0.1 %  samples were lost\n");
	c.profile.slices.items[0].idle = 0;
	c.run.not_seen = (char *)"the kernel was not seen";
	struct sleepy_view v;
	struct strbuf out = { 0 };
	sleepy_aggregate(&c.profile, SLEEPY_SYSTEM, NULL, false, &v);
	profile_view_text(&c.subject, &v, &plain, &out);
	assert_non_null(strstr(out.text, "not sampled       3778   38.2 s    95.4 %  see the"));
	assert_non_null(strstr(out.text, "in the kernel"));
	assert_null(strstr(out.text, "idle"));
	strbuf_release(&out);
	sleepy_view_release(&v);
}

/* The same program from three places, whose functions are called the same, too. */
static void namesakes_are_shown_with_what_tells_them_apart(void **state)
{
	(void)state;
	static const char *const paths[] = { "/w/wt-cmd/build/tare", "/w/main/build/tare",
					     "/usr/bin/tare" };
	struct profile p = { .hz = 99, .cpus = 1 };
	profile_release(&c.profile);
	array_push(&p.slices, (struct profile_slice){ .end_ns = 1000000000, .samples = 60 });
	for (uint32_t i = 0; i < 4; i++) {
		struct profile_object o = { .path = (char *)paths[i % 3] };
		struct profile_function f = { .object = profile_add_object(&p, &o),
					      .name = (char *)"run",
					      .address = 0x100 * (i + 1),
					      .size = 16 };
		struct profile_frame frame = { .function = profile_add_function(&p, &f) };
		uint32_t location = profile_add_location(&p, f.object, f.address);
		profile_set_frames(&p, location, f.address, &frame, 1);
		struct profile_instance instance = { .app = profile_add_app(&p, "tare", f.object),
						     .pid = i % 3 + 1 };
		uint32_t thread =
			profile_add_thread(&p, profile_add_instance(&p, &instance), 1, "a");
		profile_add_sample(&p, 0, thread,
				   profile_add_stack(&p, &location, 1, 0, STACK_LEAF),
				   30 - 10 * i / 2);
	}
	c.profile = p;
	check_view(SLEEPY_APP, &plain,
		   "By app, of 90 samples (909 ms); ± is 95 %, in points\n"
		   "Share %   ±  Samples  App\n"
		   "     50  10       45  tare (wt-cmd/build)\n"
		   "     28  10       25  tare (main/build)\n"
		   "     22  10       20  tare (bin)\n");
	check_view(SLEEPY_FUNCTION, &plain,
		   "By function, of 90 samples (909 ms); ± is 95 %, in points\n"
		   "Share %   ±  Samples  Function          Object  App\n"
		   "     33  10       30  run (0x100)       tare    tare\n"
		   "     28  10       25  run (main/build)  tare    tare\n"
		   "     22  10       20  run (bin)         tare    tare\n"
		   "     17   9       15  run (0x400)       tare    tare\n");
	check_view(SLEEPY_FUNCTION, &(struct profile_style){ .style.width = 80, .most = 1 },
		   "By function, of 90 samples (909 ms); ± is 95 %, in points\n"
		   "Share %   ±  Samples  Function  Object  App\n"
		   "     33  10       30  run       tare    tare\n"
		   "… and 3 more functions with 67 % of the samples\n");
}

static void rows_left_out_are_counted(void **state)
{
	(void)state;
	check_view(SLEEPY_FUNCTION, &(struct profile_style){ .style.width = 80, .most = 2 },
		   "By function, of 180 samples (1.82 s); ± is 95 %, in points\n"
		   "Share %    ±  Samples  Function           Object  App\n"
		   "   44.4  7.3       80  compare (inlined)  btree   btree\n"
		   "   22.2  6.6       40  py::loop           [jit]   python3\n"
		   "… and 4 more functions with 33.3 % of the samples\n");
	check_view(SLEEPY_FUNCTION,
		   &(struct profile_style){ .style.width = 80,
					    .least_share = 0.05,
					    .most = 4,
					    .totals = true,
					    .by_total = true },
		   "By function, of 180 samples (1.82 s); ± is 95 %, in points\n"
		   "Total %  Self %    ±  Samples  Function                Object     App\n"
		   "   61.1    11.1  5.4       20  search                  btree      btree\n"
		   "   61.1     0.0  2.1        0  __libc_start_call_main  libc.so.6  btree\n"
		   "   61.1     0.0  2.1        0  main                    btree      btree\n"
		   "   50.0    44.4  7.3       80  compare (inlined)       btree      btree\n"
		   "… and 4 more functions with 44.4 % of the samples\n");
}

static void a_filtered_view_says_of_how_many_samples_it_is(void **state)
{
	(void)state;
	struct sleepy_view v;
	struct strbuf out = { 0 };
	struct sleepy_filter f = SLEEPY_ALL;
	f.comm = "worker";
	sleepy_aggregate(&c.profile, SLEEPY_FUNCTION, &f, false, &v);
	profile_view_text(&c.subject, &v, &plain, &out);
	check_text(&out, "By function, of 40 of 180 samples (404 ms); ± is 95 %, in points\n"
			 "Share %  ±  Samples  Function  Object  App\n"
			 "    100  9       40  py::loop  [jit]   python3\n");
	sleepy_view_release(&v);
	f.comm = "nobody";
	sleepy_aggregate(&c.profile, SLEEPY_FUNCTION, &f, false, &v);
	profile_view_text(&c.subject, &v, &plain, &out);
	check_text(&out, "By function, of 0 of 180 samples (0 ns)\n");
	sleepy_view_release(&v);
}

static void a_listing_shows_instructions_with_source_and_shares(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	profile_listing_text(&c.subject, &c.listing, &plain, &out);
	check_text(
		&out,
		"search in /usr/bin/btree: 100 of 180 samples (55.6 %), 1.01 s\n"
		"An address is what would have come next: its cost is mostly of the one before.\n"
		"Share %  Samples  Address    Instruction\n"
		"                           btree.c:20  int search(const int *at, int key)\n"
		"                     1100    push %rbp\n"
		"                     1101    mov %rsp,%rbp\n"
		"                           btree.c:24      while (compare(*at, key))\n"
		"                     1104    mov (%rdi),%eax\n"
		"                           btree.h:6\n"
		"   44.4       80     1106  > cmp %esi,%eax\n"
		"                           btree.c:24      while (compare(*at, key))\n"
		"                     1108    je 1110 <search+0x10>\n"
		"                           btree.c:26          at += 2;    /* the next */\n"
		"   11.1       20     110a    add $0x8,%rdi\n"
		"                     110e    jmp 1104 <search+0x4>\n"
		"                     1110    pop %rbp\n"
		"                     1111    ret\n");
}

/* 30 instructions; samples on the 20th and outside. */
static void instructions_without_samples_are_folded_unless_all_are_wanted(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	instruction_list list = { 0 };
	sleepy_counts counts = { 0 };
	for (uint64_t i = 0; i < 30; i++)
		array_push(&list,
			   (struct instruction){ .address = 0x1000 + i, .size = 1, .text = "nop" });
	array_push(&counts, (struct sleepy_count){ 0x1013, 9 });
	array_push(&counts, (struct sleepy_count){ 0x2000, 1 });
	struct profile_listing l = { .instructions = &list, .counts = &counts, .samples = 10 };
	profile_listing_text(&c.subject, &l, &plain, &out);
	check_text(
		&out,
		"search in /usr/bin/btree: 10 of 10 samples (100 %), 101 ms\n"
		"An address is what would have come next: its cost is mostly of the one before.\n"
		"1 sample is at addresses where no instruction of this list begins.\n"
		"Share %  Samples  Address    Instruction\n"
		"                             … 18 instructions without samples\n"
		"                     1012    nop\n"
		"     90        9     1013  > nop\n"
		"                     1014    nop\n"
		"                     1015    nop\n"
		"                     1016    nop\n"
		"                     1017    nop\n"
		"                     1018    nop\n"
		"                     1019    nop\n"
		"                     101a    nop\n"
		"                     101b    nop\n"
		"                     101c    nop\n"
		"                     101d    nop\n");
	/* rows are counted in tables, not here */
	profile_listing_text(&c.subject, &l, &(struct profile_style){ .most = 5 }, &out);
	assert_non_null(strstr(out.text, "… 18 instructions without samples"));
	assert_non_null(strstr(out.text, "101d    nop\n"));
	strbuf_release(&out);
	profile_listing_text(&c.subject, &l, &(struct profile_style){ .all = true }, &out);
	assert_null(strstr(out.text, "without samples"));
	size_t nops = 0;
	for (const char *at = out.text; (at = strstr(at, "nop")); at++)
		nops++;
	assert_int_equal(nops, 30);
	strbuf_release(&out);
	array_release(&list);
	array_release(&counts);
}

static void two_profiles_are_compared_by_function(void **state)
{
	(void)state;
	struct strbuf out = { 0 };
	profile_diff_text(&c.subject, &c.subject, &c.diff, &plain, &out);
	check_text(
		&out,
		"Profiles compared by function\n"
		"  before  profile of the whole system (run 7): 100 samples, by cpu-clock, 99 Hz;\n"
		"          0.101 CPU s per s\n"
		"  after   profile of the whole system (run 7): 80 samples, by cpu-clock, 99 Hz;\n"
		"          0.0808 CPU s per s\n"
		"The share of 2 functions grew and of 3 shrank (p < 0.05, adjusted); 1 may be the\n"
		"same.\n"
		"Shares are of the samples, their change in points ± 95 %; ms/s is CPU time per\n"
		"second.\n"
		"\n"
		"Change   ±  Before %  ms/s  After %  ms/s       p  Of\n"
		"   +50  11         0     0       50  40.4  <0.001  py::loop ([jit])\n"
		"   -20   8        20  20.2        0     0  <0.001  search (btree)\n"
		"   -14  10        20  20.2        6  5.05   0.012  python3+0x5000 (python3)\n"
		"   -12  14        50  50.5       38  30.3   0.094  compare (btree)\n"
		"   -10   7        10  10.1        0     0   0.005  [k] clear_page…rms ([kernel])\n"
		"    +6   6         0     0        6  5.05   0.019  [k] finish_tas…a.0 ([kernel])\n"
		"Note: p and ± know how the samples fell, not how much two runs of the same\n"
		"  differ.\n");
}

static void render_csv(struct table *t, struct strbuf *out)
{
	table_render(t, TABLE_CSV, NULL, out);
	table_free(t);
}

static void csv_has_full_figures_of_every_view(void **state)
{
	(void)state;
	struct sleepy_view v;
	struct strbuf out = { 0 };
	struct profile_style two = { .most = 2 };
	sleepy_aggregate(&c.profile, SLEEPY_INSTANCE, NULL, false, &v);
	render_csv(profile_view_table(&c.subject, &v, &two), &out);
	check_text(
		&out,
		"name,samples,share_percent,share_low_percent,share_high_percent,cpu_ns,user,kernel,a"
		"pp,instance,pid,comm,start_boottime_ns,first_sample,container,cgroup\n"
		"btree#0,80,44.4444444444444,37.3767085799576,51.7443525080603,808080808.080808,70,10"
		",btree,0,100,btree,5000000000,2023-11-14T22:30:00.001Z,,/user.slice\n"
		"python3#0,70,38.8888888888889,32.0703194509525,46.1718027250833,707070707.0707071,65"
		",5,python3,0,200,python3,6000000000,2023-11-14T22:30:00.001Z,0123,/docker/0123\n");
	sleepy_view_release(&v);
	sleepy_aggregate(&c.profile, SLEEPY_FUNCTION, NULL, false, &v);
	render_csv(profile_view_table(&c.subject, &v, &two), &out);
	check_text(
		&out,
		"name,samples,share_percent,share_low_percent,share_high_percent,cpu_ns,total_samples"
		",total_share_percent,user,kernel,app,function,inlined,address,object,object_kind,bui"
		"ld_id,file,line\n"
		"compare,80,44.4444444444444,37.3767085799576,51.7443525080603,808080808.080808,90,50"
		",80,0,btree,compare,1,,/usr/bin/btree,file,bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb,"
		"/src/btree.h,5\n"
		"py::loop,40,22.2222222222222,16.7650559313486,28.840249508741,404040404.040404,40,22"
		".2222222222222,40,0,python3,py::loop,0,0x7f0000001000,[jit],jit,,,\n");
	sleepy_view_release(&v);
	render_csv(profile_listing_table(&c.subject, &c.listing), &out);
	assert_non_null(strstr(out.text, "\nsearch,0x1106,80,44.4444"));
	strbuf_release(&out);
	render_csv(profile_diff_table(&c.diff, &two), &out);
	assert_non_null(strstr(out.text, "\npy::loop,[jit],0,0,40,0,50,50,"));
	size_t lines = 0;
	for (const char *at = out.text; *at; at++)
		lines += *at == '\n';
	assert_int_equal(lines, 3);
	strbuf_release(&out);
}

/* ---- names of any bytes ---- */

static const char hostile[] = "operator\033[2J\n\t\xff\xfe<\"漢字\">";

static void make_hostile(struct profile *p)
{
	static char longest[3000];
	for (size_t i = 0; i < sizeof longest - 1; i++)
		longest[i] = "std::pair<"[i % 10];
	const char *const names[] = { hostile, longest };
	*p = (struct profile){ .hz = 99, .cpus = 1 };
	array_push(&p->slices, (struct profile_slice){ .end_ns = 1000000000, .samples = 3 });
	for (uint32_t i = 0; i < 2; i++) {
		struct profile_object o = { .path = (char *)names[i], .inode = i };
		uint32_t object = profile_add_object(p, &o);
		struct profile_function f = { .object = object,
					      .name = (char *)names[i],
					      .address = 1,
					      .size = 9,
					      .file = (char *)names[i] };
		struct profile_frame frame = { .function = profile_add_function(p, &f),
					       .line = 4000000000 };
		uint32_t location = profile_add_location(p, object, 5);
		profile_set_frames(p, location, UINT64_MAX, &frame, 1);
		struct profile_instance instance = { .app = profile_add_app(p, names[i], object),
						     .number = UINT32_MAX,
						     .pid = UINT32_MAX - i,
						     .cgroup = (char *)names[i],
						     .container = (char *)names[i] };
		uint32_t at = profile_add_instance(p, &instance);
		profile_add_sample(p, 0, profile_add_thread(p, at, UINT32_MAX, "a\nb"),
				   profile_add_stack(p, &location, 1, 0, STACK_LEAF), i + 1);
	}
}

/* Nothing that a terminal acts on, no line too long, all of it UTF-8. */
static void check_safe(const char *text, size_t width)
{
	char *valid = text_utf8(text);
	assert_string_equal(valid, text);
	char *copy = xstrdup(text), *rest = copy, *line;
	while ((line = strsep(&rest, "\n"))) {
		if (text_width(line) > width)
			fail_msg("too wide: %s", line);
		for (const char *at = line; *at; at++)
			assert_true((unsigned char)*at >= 0x20 && *at != 0x7f);
	}
	xfree(copy);
	free(valid);
}

static void any_name_is_shown_safely_at_every_width(void **state)
{
	(void)state;
	static const size_t widths[] = { 60, 80, 132 };
	struct profile p;
	make_hostile(&p);
	struct run run = { .name = (char *)hostile, .not_seen = (char *)hostile };
	struct profile_subject s = { .run = &run, .profile = &p };
	for (size_t i = 0; i < 3; i++)
		for (enum sleepy_by by = 0; by < SLEEPY_VIEWS; by++) {
			struct profile_style style = { .style.width = widths[i], .totals = by % 2 };
			struct strbuf out = { 0 };
			struct sleepy_view v;
			struct sleepy_diff d;
			sleepy_aggregate(&p, by, NULL, false, &v);
			sleepy_compare(&v, &v, 99, 99, &d);
			profile_head_text(&s, &style, &out);
			profile_view_text(&s, &v, &style, &out);
			profile_notes_text(&s, &style, &out);
			profile_diff_text(&s, &s, &d, &style, &out);
			check_safe(strbuf_text(&out), widths[i]);
			strbuf_release(&out);
			profile_json(&s, &v, 1, &style, &out);
			json_t *json = json_loads(strbuf_text(&out), 0, NULL);
			assert_non_null(json);
			json_decref(json);
			strbuf_release(&out);
			sleepy_diff_release(&d);
			sleepy_view_release(&v);
		}
	profile_release(&p);
}

/* What is between brackets goes first; brackets that are a name stay. */
static void what_is_between_brackets_is_cut_first(void **state)
{
	(void)state;
	static const struct {
		const char *name, *shown;
	} names[] = {
		{ "std::map<std::string, std::vector<int>>::insert(std::pair<int, int>&&)",
		  "std::map<…>::insert(…)" },
		{ "std::operator<<(std::basic_ostream<char>&, std::_Setw) [clone .cold]",
		  "std::operator<<(…) [clone .cold]" },
		{ "Very::Long::Name::Of::A::Functor::operator()(int, char const*, double)",
		  "Very::Long::Name::…or::operator()(…)" },
		{ "<alloc::vec::Vec<T> as core::iter::traits::collect::Extend>::extend",
		  "<…>::extend" },
		{ "f(decltype(std::declval<T>()->g(0)), long, long, long, long, long)", "f(…)" },
		{ "this_one_is_not_balanced<<<<<<<<<<<<<<<<<<(((((((((((((((((((((((((",
		  "this_one_is_not_ba…(((((((((((((((((" },
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct sleepy_view v = { .by = SLEEPY_FUNCTION,
					 .samples = 1000000,
					 .all = 1000000 };
		struct strbuf out = { 0 }, row = { 0 };
		array_push(&v.rows, (struct sleepy_row){ .name = (char *)names[i].name,
							 .where = "a",
							 .app = PROFILE_NONE,
							 .instance = PROFILE_NONE,
							 .thread = PROFILE_NONE,
							 .object = PROFILE_NONE,
							 .function = PROFILE_NONE,
							 .location = PROFILE_NONE,
							 .self = 1000000 });
		profile_view_text(&c.subject, &v, &(struct profile_style){ .style.width = 62 },
				  &out);
		strbuf_printf(&row, "  %s  ", names[i].shown);
		if (!strstr(out.text, row.text))
			fail_msg("%s", out.text);
		check_safe(out.text, 62);
		strbuf_release(&out);
		strbuf_release(&row);
		array_release(&v.rows);
	}
}

static const char *hostile_source(void *context, const char *file, uint32_t line)
{
	(void)context;
	(void)file;
	(void)line;
	return hostile;
}

static void any_code_is_listed_safely(void **state)
{
	(void)state;
	struct profile p;
	struct strbuf out = { 0 };
	instruction_list list = { 0 };
	sleepy_counts counts;
	make_hostile(&p);
	struct instruction i = { .address = UINT64_MAX, .file = (char *)hostile, .line = 9 };
	memset(i.text, '\033', sizeof i.text - 1);
	array_push(&list, i);
	sleepy_instructions(&p, 0, NULL, &counts);
	assert_int_equal(counts.count, 1);
	struct profile_listing l = {
		.instructions = &list, .counts = &counts, .samples = 3, .source = hostile_source
	};
	profile_listing_text(&(struct profile_subject){ .profile = &p }, &l, &plain, &out);
	check_safe(strbuf_text(&out), 80);
	strbuf_release(&out);
	profile_listing_json(&(struct profile_subject){ .profile = &p }, &l, &out);
	json_t *json = json_loads(strbuf_text(&out), 0, NULL);
	assert_non_null(json);
	json_decref(json);
	strbuf_release(&out);
	array_release(&list);
	array_release(&counts);
	profile_release(&p);
}

static void an_empty_profile_is_shown_without_harm(void **state)
{
	(void)state;
	struct profile empty = { 0 };
	struct profile_subject s = { .profile = &empty };
	struct strbuf out = { 0 };
	profile_head_text(&s, NULL, &out);
	for (enum sleepy_by by = 0; by < SLEEPY_VIEWS; by++) {
		struct sleepy_view v;
		struct sleepy_diff d;
		sleepy_aggregate(&empty, by, NULL, false, &v);
		sleepy_compare(&v, &v, 0, 0, &d);
		profile_view_text(&s, &v, NULL, &out);
		profile_diff_text(&s, &s, &d, NULL, &out);
		struct table *t = profile_view_table(&s, &v, NULL);
		assert_int_equal(table_rows(t), by == SLEEPY_SYSTEM ? SLEEPY_STATES : 0);
		table_free(t);
		sleepy_diff_release(&d);
		sleepy_view_release(&v);
	}
	profile_notes_text(&s, NULL, &out);
	assert_null(strstr(out.text, "nan"));
	assert_null(strstr(out.text, "inf"));
	strbuf_release(&out);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(the_head_says_what_was_sampled_and_how),
		TEST(the_head_and_its_notes_tell_what_went_wrong),
		TEST(the_head_shows_the_end_of_a_long_command),
		TEST(a_profile_by_an_event_speaks_of_events),
		TEST(of_each_event_shares_have_no_margin),
		TEST(the_title_says_what_was_profiled),
		TEST(every_view_is_a_table_of_shares),
		TEST(the_system_is_shown_with_what_was_not_sampled),
		TEST(namesakes_are_shown_with_what_tells_them_apart),
		TEST(rows_left_out_are_counted),
		TEST(a_filtered_view_says_of_how_many_samples_it_is),
		TEST(a_listing_shows_instructions_with_source_and_shares),
		TEST(instructions_without_samples_are_folded_unless_all_are_wanted),
		TEST(two_profiles_are_compared_by_function),
		TEST(csv_has_full_figures_of_every_view),
		TEST(any_name_is_shown_safely_at_every_width),
		TEST(any_code_is_listed_safely),
		TEST(what_is_between_brackets_is_cut_first),
		TEST(an_empty_profile_is_shown_without_harm),
	};
	return cmocka_run_group_tests_name("report-profile", tests, NULL, NULL);
}
