#include "subject/experiment.h"

#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "subject/experiment_texts.h"

#define SCALE_LEAST 0.001 /* fewer suppliers than a part has would follow */
#define SCALE_MOST 1000.0

static void table_release(struct experiment_table *t)
{
	for (size_t i = 0; i < t->columns.count; i++) {
		free(t->columns.items[i].name);
		xfree_all(t->columns.items[i].words);
	}
	for (size_t i = 0; i < t->indexes.count; i++)
		free(t->indexes.items[i]);
	array_release(&t->columns);
	array_release(&t->indexes);
	free(t->name);
}

void experiment_release(struct experiment *e)
{
	for (size_t i = 0; i < e->tables.count; i++)
		table_release(&e->tables.items[i]);
	for (size_t i = 0; i < e->queries.count; i++) {
		free(e->queries.items[i].name);
		free(e->queries.items[i].sql);
	}
	array_release(&e->tables);
	array_release(&e->queries);
	array_release(&e->cardinalities);
	xfree_all(e->settings);
	xfree_all(e->server.settings);
	free(e->server.data);
	free(e->server.start);
	free(e->server.stop);
	free(e->server.user);
	free(e->name);
	free(e->text);
	free(e->url);
	free(e->dbms);
	free(e->driver_file);
	*e = (struct experiment){ 0 };
}

const char *table_numbered(const struct experiment_table *t)
{
	const struct experiment_column *found = NULL;
	for (size_t i = 0; i < t->columns.count; i++) {
		const struct experiment_column *c = &t->columns.items[i];
		bool numbered = c->serial && (c->kind == KIND_INTEGER || c->kind == KIND_BIGINT) &&
				!c->of && c->repeat <= 1 && !c->distinct &&
				(!c->ranged || c->from == 1) && !(c->nulls > 0);
		/* the primary key has an index */
		if (numbered && (!found || (c->primary && !found->primary)))
			found = c;
	}
	return found ? found->name : NULL;
}

/* ---- built in ---- */

int experiment_builtin(const char *name, double scale, struct experiment *into, struct error *err)
{
	size_t i = 0;
	while (experiment_names[i] && strcmp(experiment_names[i], name) != 0)
		i++;
	if (!experiment_names[i]) {
		const char *near = nearest_word(name, experiment_names);
		error_set(err, EXIT_USAGE, "there is no built-in experiment '%s'",
			  DISPLAYED(name, 64));
		if (near)
			return error_hint(err, "did you mean '%s'?", near);
		return error_hint(err, "there are quick, onepass and tpch");
	}
	if (scale != 0 && !(scale >= SCALE_LEAST && scale <= SCALE_MOST))
		return error_set(err, EXIT_USAGE, "the scale must be from %g to %g", SCALE_LEAST,
				 SCALE_MOST);
	static const char key[] = "\nscale: ";
	const char *own = experiment_texts[i], *at = strstr(own, key);
	if (scale != 0 && !at)
		return error_set(err, EXIT_USAGE, "'%s' has no scale", name);
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	if (scale != 0) {
		at += strlen(key);
		strbuf_add(&text, own, (size_t)(at - own));
		strbuf_printf(&text, "%.6g", scale);
		own = at + strcspn(at, "\n");
	}
	strbuf_puts(&text, own);
	int failed = experiment_parse(text.text, text.length, NULL, into, err);
	if (failed)
		error_prefix(err, "%s", name);
	return failed;
}
