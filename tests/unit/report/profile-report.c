#include "profile-report.h"

#include <stdio.h>
#include <string.h>

static const char *source_line(void *context, const char *file, uint32_t line)
{
	(void)context;
	if (strcmp(file, "/src/btree.c") != 0)
		return NULL;
	return line == 20   ? "int search(const int *at, int key)"
	       : line == 26 ? "\t\tat += 2;\t/* the next */"
			    : "\twhile (compare(*at, key))";
}

static void add_instruction(struct profile_case *c, uint64_t address, uint8_t size,
			    const char *text, const char *file, uint32_t line)
{
	struct instruction i = {
		.address = address, .size = size, .file = (char *)file, .line = line
	};
	snprintf(i.text, sizeof i.text, "%s", text);
	array_push(&c->instructions, i);
}

static void list_search(struct profile_case *c)
{
	add_instruction(c, 0x1100, 1, "push %rbp", "/src/btree.c", 20);
	add_instruction(c, 0x1101, 3, "mov %rsp,%rbp", "/src/btree.c", 20);
	add_instruction(c, 0x1104, 2, "mov (%rdi),%eax", "/src/btree.c", 24);
	add_instruction(c, 0x1106, 2, "cmp %esi,%eax", "/src/btree.h", 6);
	add_instruction(c, 0x1108, 2, "je 1110 <search+0x10>", "/src/btree.c", 24);
	add_instruction(c, 0x110a, 4, "add $0x8,%rdi", "/src/btree.c", 26);
	add_instruction(c, 0x110e, 2, "jmp 1104 <search+0x4>", "/src/btree.c", 26);
	add_instruction(c, 0x1110, 1, "pop %rbp", NULL, 0);
	add_instruction(c, 0x1111, 1, "ret", NULL, 0);
	sleepy_instructions(&c->profile, 0, NULL, &c->counts);
	c->listing = (struct profile_listing){ .function = 0,
					       .instructions = &c->instructions,
					       .counts = &c->counts,
					       .samples = FIXTURE_SAMPLES,
					       .source = source_line };
}

void profile_case_make(struct profile_case *c)
{
	struct sleepy_filter first = SLEEPY_ALL, second = SLEEPY_ALL;
	struct sleepy_view before, after;
	*c = (struct profile_case){ .run = { .id = 7,
					     .kind = SUBJECT_SYSTEM,
					     .name = (char *)"profile of the whole system",
					     .command = (char *)"tare profile -F 99 -g -d 20s",
					     .conditions = conditions_take(
						     strdup("{\"event\":\"cpu-clock\"}")),
					     .status = RUN_COMPLETE,
					     .started_at_ns = 1700001000000000000,
					     .ended_at_ns = 1700001020000000000,
					     .version = (char *)"0.1.0" } };
	fixture_profile(&c->profile);
	c->subject = (struct profile_subject){ .run = &c->run, .profile = &c->profile };
	list_search(c);
	first.end_ns = second.begin_ns = FIXTURE_BEGIN_NS + 1;
	sleepy_aggregate(&c->profile, SLEEPY_FUNCTION, &first, false, &before);
	sleepy_aggregate(&c->profile, SLEEPY_FUNCTION, &second, false, &after);
	sleepy_compare(&before, &after, c->profile.hz, c->profile.hz, &c->diff);
	sleepy_view_release(&before);
	sleepy_view_release(&after);
}

void profile_case_release(struct profile_case *c)
{
	conditions_release(&c->run.conditions);
	profile_release(&c->profile);
	array_release(&c->instructions);
	array_release(&c->counts);
	sleepy_diff_release(&c->diff);
}

void profile_case_text(const struct profile_case *c, const struct profile_style *style,
		       struct strbuf *out)
{
	profile_head_text(&c->subject, style, out);
	for (enum sleepy_by by = 0; by < SLEEPY_VIEWS; by++) {
		struct sleepy_view v;
		sleepy_aggregate(&c->profile, by, NULL, false, &v);
		strbuf_putc(out, '\n');
		profile_view_text(&c->subject, &v, style, out);
		sleepy_view_release(&v);
	}
	strbuf_putc(out, '\n');
	profile_notes_text(&c->subject, style, out);
}

void profile_case_json(const struct profile_case *c, const struct profile_style *style,
		       struct strbuf *out)
{
	struct sleepy_view views[SLEEPY_VIEWS];
	for (enum sleepy_by by = 0; by < SLEEPY_VIEWS; by++)
		sleepy_aggregate(&c->profile, by, NULL, false, &views[by]);
	profile_json(&c->subject, views, SLEEPY_VIEWS, style, out);
	for (enum sleepy_by by = 0; by < SLEEPY_VIEWS; by++)
		sleepy_view_release(&views[by]);
}
