/* The document and the file around it. */
#include "report/page/page.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "protocol/doctor/doctor.h"
#include "report/chart/chart.h"
#include "report/page/private.h"

#define PLACE "TARE-DOCUMENT" /* in the built page */

struct page *page_new(const char *title, bool served)
{
	struct page *p = xcalloc(1, sizeof(*p));
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	p->root = json_object();
	p->machines = json_array();
	p->sections = json_array();
	p->comparisons = json_array();
	json_object_set_new(p->root, "type", json_string("page"));
	json_object_set_new(p->root, "format", json_integer(1));
	json_object_set_new(p->root, "tare", json_string(TARE_VERSION));
	json_object_set_new(p->root, "made_at",
			    json_date((int64_t)now.tv_sec * 1000000000 + now.tv_nsec));
	json_object_set_new(p->root, "title", json_text(title));
	json_object_set_new(p->root, "served", json_boolean(served));
	json_object_set_new(p->root, "colours", chart_colours_json());
	json_object_set_new(p->root, "machines", p->machines);
	json_object_set_new(p->root, "sections", p->sections);
	json_object_set_new(p->root, "comparisons", p->comparisons);
	return p;
}

void page_free(struct page *p)
{
	if (!p)
		return;
	json_decref(p->root);
	xfree(p);
}

size_t page_section_count(const struct page *p)
{
	return json_array_size(p->sections);
}

/* Whatever tells it from others best: in a container, the host's name is nothing that lasts. */
static json_t *machine_name(const struct machine *machine)
{
	static const char *const keys[] = { "system.host", "now.system.host", "system.product",
					    "cpu.model" };
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const char *name = machine_get(machine, keys[i]);
		if (name && *name)
			return json_text(name);
	}
	return json_string("a machine");
}

static bool is_fine(const json_t *finding)
{
	const char *severity = json_string_value(json_object_get(finding, "severity"));
	return strcmp(severity, severity_names[SEVERITY_OK]) == 0;
}

/* In each run its state may be another: what was found must hold for all that share it. Of what is
 * fine, figures may differ. */
static bool is_same_machine(const json_t *a, const json_t *b)
{
	const json_t *of_a = json_object_get(a, "findings"), *of_b = json_object_get(b, "findings");
	for (size_t i = 0; i < json_array_size(of_a); i++) {
		const json_t *x = json_array_get(of_a, i), *y = json_array_get(of_b, i);
		if (!json_equal(x, y) &&
		    !(is_fine(x) && is_fine(y) &&
		      json_equal(json_object_get(x, "id"), json_object_get(y, "id"))))
			return false;
	}
	return json_equal(json_object_get(a, "fingerprint"), json_object_get(b, "fingerprint"));
}

/* What the other does not share is not told. */
static void keep_common(json_t *machine, const json_t *other)
{
	json_t *facts = json_object_get(machine, "facts"), *value;
	json_t *findings = json_object_get(machine, "findings");
	const char *key;
	void *next;
	json_object_foreach_safe(facts, next, key, value)
	{
		if (!json_equal(value, json_object_get(json_object_get(other, "facts"), key)))
			json_object_del(facts, key);
	}
	for (size_t i = 0; i < json_array_size(findings); i++) {
		json_t *mine = json_array_get(findings, i);
		if (!json_equal(mine, json_array_get(json_object_get(other, "findings"), i)))
			json_object_set_new(mine, "condition",
					    json_string("fine in each of these runs"));
	}
}

/* The index of a machine, which is added once for each of its states; null without a machine. */
static json_t *page_machine(struct page *p, const struct machine *machine)
{
	if (!machine || !machine->facts.count)
		return json_null();
	finding_list findings = { 0 };
	doctor_judge(machine, &findings);
	json_t *o = json_machine(machine);
	size_t count = json_array_size(p->machines);
	json_object_set_new(o, "name", machine_name(machine));
	json_object_set_new(o, "findings",
			    json_shapes(&finding_shape, findings.items, findings.count,
					sizeof *findings.items));
	array_release(&findings);
	for (size_t i = 0; i < count; i++) {
		json_t *known = json_array_get(p->machines, i);
		if (is_same_machine(known, o)) {
			keep_common(known, o);
			json_decref(o);
			return json_integer((json_int_t)i);
		}
	}
	json_array_append_new(p->machines, o);
	return json_integer((json_int_t)count);
}

json_t *page_head(struct page *p, const struct shape *section, const void *facts,
		  const struct run *run, const struct machine *machine, const char *subtitle)
{
	json_t *o = json_shape(section, facts);
	const char *kind = json_string_value(json_object_get(o, "kind"));
	/* what is not stored is told apart by its place */
	json_object_set_new(
		o, "anchor",
		run->id ? json_sprintf(section == &study_section_shape ? "study-%lld" : "run-%lld",
				       (long long)run->id)
			: json_sprintf("section-%zu", page_section_count(p) + 1));
	if (!subtitle)
		subtitle = run->command ? run->command : "";
	json_object_set_new(o, "title", json_text(run->name ? run->name : kind));
	json_object_set_new(o, "subtitle", json_text(subtitle));
	json_object_set_new(o, "machine", page_machine(p, machine));
	if (run->not_seen && *run->not_seen)
		page_notef(o, "Not seen: %s", run->not_seen);
	return o;
}

json_t *page_head_stored(struct page *p, const struct shape *section, const struct run *run,
			 const struct machine *machine, struct strbuf *subtitle)
{
	json_t *o =
		page_head(p, section, run, run, machine, subtitle ? strbuf_text(subtitle) : NULL);
	if (!subtitle)
		page_note(o, "Nothing of this run is stored: it has just begun, or ended at once.");
	return o;
}

void page_note(json_t *section, const char *text)
{
	json_append(section, "notes", json_text(text));
}

void page_notef(json_t *section, const char *fmt, ...)
{
	struct strbuf text = { 0 };
	va_list args;
	va_start(args, fmt);
	strbuf_vprintf(&text, fmt, args);
	va_end(args);
	page_note(section, strbuf_text(&text));
	strbuf_release(&text);
}

void page_chart(json_t *section, const char *name, struct chart *c, int failed)
{
	if (!failed)
		json_object_set_new(json_object_get(section, "charts"), name, chart_json(c));
	chart_free(c);
}

void page_add(struct page *p, json_t *section)
{
	json_array_append_new(p->sections, section);
}

void page_json(const struct page *p, struct strbuf *out)
{
	put_compact_json(p->root, out);
}

/* In a script element only "<" could end it or begin a comment. */
static void put_escaped(const char *text, struct strbuf *out)
{
	for (const char *at = text;;) {
		const char *next = strchrnul(at, '<');
		strbuf_add(out, at, (size_t)(next - at));
		if (!*next)
			return;
		strbuf_puts(out, "\\u003c");
		at = next + 1;
	}
}

static void put_page(const char *document, struct strbuf *out)
{
	const char *place = memmem(page_built, page_built_size, PLACE, strlen(PLACE));
	assert(place); /* embed-page.sh sees to it */
	const char *rest = place + strlen(PLACE);
	strbuf_add(out, page_built, (size_t)(place - page_built));
	put_escaped(document, out);
	strbuf_add(out, rest, page_built_size - (size_t)(rest - page_built));
}

void page_html(const struct page *p, struct strbuf *out)
{
	struct strbuf json = { 0 };
	page_json(p, &json);
	put_page(strbuf_text(&json), out);
	strbuf_release(&json);
}

void page_empty(struct strbuf *out)
{
	put_page("", out);
}
