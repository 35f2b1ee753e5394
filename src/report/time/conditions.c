/* Of the block of one run: the cutoffs it was judged by, and what was done to the machine for it.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "protocol/emp/versions.h"
#include "report/core/rows.h"
#include "report/time/parts.h"

void put_cutoffs(const struct run_view *view, const struct style *style, struct strbuf *out)
{
	const struct emp_cutoffs *c = &view->result->cutoffs;
	struct strbuf text = { 0 };
	char length[WORDS], date[WORDS];
	if (!c->count)
		return;
	format_duration(c->program_ns, 3, style->unit, length);
	if (!c->hold)
		strbuf_printf(&text, "none of %zu is for a program of %s", c->count, length);
	else if (!c->seen)
		strbuf_puts(&text, "not applied: no daemon was seen");
	else
		strbuf_printf(&text, "%zu applied, for a program of %s", c->hold, length);
	strbuf_puts(&text, c->study ? "; of study " : "; set by hand or imported");
	if (c->study)
		strbuf_printf(&text, "%lld", (long long)c->study);
	if (c->made_at_ns) {
		format_iso8601(c->made_at_ns, date);
		strbuf_printf(&text, ", %.10s", date);
	}
	put_labelled(out, style, "  Cutoffs", NULL, strbuf_text(&text));
	strbuf_release(&text);
}

/* The version that the run was made by; EMP_V0: by none. */
static enum emp_version version_of(const json_t *conditions)
{
	const char *name = json_string_value(json_object_get(conditions, "emp"));
	for (enum emp_version v = EMP_V1; name && v < EMP_VERSIONS; v++)
		if (!strcmp(name, emp_version_name(v)))
			return v;
	return EMP_V0;
}

void put_emp_version(const struct run_view *view, const struct style *style, struct strbuf *out)
{
	json_t *all = view->run->conditions ? json_loads(view->run->conditions, 0, NULL) : NULL;
	enum emp_version version = version_of(all);
	json_decref(all);
	if (version == EMP_V0)
		return;
	struct strbuf text = { 0 };
	bool met = true;
	char why[EMP_WHY], kernel[EMP_WHY] = "";
	strbuf_puts(&text, emp_version_name(version));
	for (enum emp_version v = EMP_V1; v <= version && v <= EMP_V4; v++) {
		bool holds = emp_condition(view->machine, v, why);
		if (!holds)
			strbuf_printf(&text, "%s %s is not met: %s", met ? ";" : ".",
				      emp_version_name(v), why);
		else if (v == EMP_V4)
			memcpy(kernel, why, sizeof kernel);
		met = met && holds;
	}
	if (met)
		strbuf_puts(&text, "; its conditions are met");
	if (*kernel)
		strbuf_printf(&text, ". %s", kernel);
	put_labelled(out, style, "  EMP", met ? NULL : YELLOW, strbuf_text(&text));
	strbuf_release(&text);
}

struct knob_count {
	const char *name;
	size_t changed, refused;
};
typedef ARRAY(struct knob_count) knob_list;

static void count_knobs(const json_t *changes, knob_list *out)
{
	for (size_t i = 0; i < json_array_size(changes); i++) {
		const json_t *change = json_array_get(changes, i);
		const char *knob = json_string_value(json_object_get(change, "knob"));
		const char *state = json_string_value(json_object_get(change, "state"));
		size_t at = 0;
		if (!knob || !state)
			continue;
		while (at < out->count && strcmp(out->items[at].name, knob) != 0)
			at++;
		if (at == out->count)
			array_push(out, (struct knob_count){ .name = knob });
		out->items[at].changed += !strcmp(state, "changed");
		out->items[at].refused += !strcmp(state, "refused");
	}
}

static void put_knobs(struct strbuf *text, const knob_list *knobs, bool refused)
{
	bool first = true;
	for (size_t i = 0; i < knobs->count; i++) {
		const struct knob_count *k = &knobs->items[i];
		size_t n = refused ? k->refused : k->changed;
		char name[WORDS];
		if (!n)
			continue;
		text_display(k->name, name, sizeof name);
		if (first && refused)
			strbuf_puts(text, "; refused: ");
		strbuf_printf(text, first ? "%s" : ", %s", name);
		if (n > 1)
			strbuf_printf(text, " (%zu)", n);
		first = false;
	}
	if (first && !refused)
		strbuf_puts(text, "nothing had to be changed");
}

void put_quiet(const struct run_view *view, const struct style *style, struct strbuf *out)
{
	json_t *all = view->run->conditions ? json_loads(view->run->conditions, 0, NULL) : NULL;
	const json_t *quiet = json_object_get(all, "quiet");
	struct strbuf text = { 0 };
	knob_list knobs = { 0 };
	if (json_is_string(quiet)) {
		strbuf_puts(&text, "by an earlier 'tare quiet'");
	} else if (json_is_array(quiet)) {
		count_knobs(quiet, &knobs);
		put_knobs(&text, &knobs, false);
		put_knobs(&text, &knobs, true);
	}
	if (text.length)
		put_labelled(out, style, "  Quiet", NULL, strbuf_text(&text));
	array_release(&knobs);
	strbuf_release(&text);
	json_decref(all);
}
