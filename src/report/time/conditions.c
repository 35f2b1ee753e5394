/* Of the block of one run: the cutoffs it was judged by, and what was done to the machine for it.
 */
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
	put_labelled_text(out, style, "  Cutoffs", NULL, &text);
}

void put_emp_version(const struct run_view *view, const struct style *style, struct strbuf *out)
{
	const char *name = view->run->conditions.emp;
	enum emp_version version = EMP_V0; /* by none */
	for (enum emp_version v = EMP_V1; name && v < EMP_VERSIONS; v++)
		if (!strcmp(name, emp_version_names[v]))
			version = v;
	if (version == EMP_V0)
		return;
	struct strbuf text = { 0 };
	enum emp_met met = EMP_MET;
	char why[EMP_WHY], kernel[EMP_WHY] = "";
	strbuf_puts(&text, emp_version_names[version]);
	for (enum emp_version v = EMP_V1; v <= version && v <= EMP_V4; v++) {
		enum emp_met own = emp_condition(view->machine, view->run->started_at_ns, v, why);
		if (own != EMP_MET)
			strbuf_printf(&text, "%s %s %s: %s", met == EMP_MET ? ";" : ".",
				      emp_version_names[v],
				      own == EMP_NOT_MET ? "is not met" : "cannot be said", why);
		else if (v == EMP_V4)
			memcpy(kernel, why, sizeof kernel);
		met = own > met ? own : met;
	}
	if (met == EMP_MET)
		strbuf_puts(&text, "; its conditions are met");
	if (*kernel)
		strbuf_printf(&text, ". %s", kernel);
	put_labelled_text(out, style, "  EMP", met == EMP_MET ? NULL : YELLOW, &text);
}

static void put_knobs(struct strbuf *text, const struct conditions *c, bool refused)
{
	bool first = true;
	array_each(k, &c->quiet) {
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
	const struct conditions *c = &view->run->conditions;
	struct strbuf text = { 0 };
	if (c->quieted_before) {
		strbuf_puts(&text, "by an earlier 'tare quiet'");
	} else if (c->quieted_for_it) {
		put_knobs(&text, c, false);
		put_knobs(&text, c, true);
	}
	put_labelled_text(out, style, "  Quiet", NULL, &text);
}
