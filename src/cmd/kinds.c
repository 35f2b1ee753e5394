#include "cmd/kinds.h"

#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/noise/noise.h"
#include "cmd/profile/profile.h"
#include "cmd/query/query.h"
#include "cmd/view.h"

#define BIT(form) (1u << (form))
#define TABLES \
	(BIT(RUN_CSV) | BIT(RUN_MARKDOWN) | BIT(RUN_ASCIIDOC) | BIT(RUN_ORGMODE) | BIT(RUN_TSV))

static void put_table(struct table *t, enum table_format format, struct strbuf *out)
{
	table_render(t, format, NULL, out);
	table_free(t);
}

static void render_commands(const loaded_list *runs, const struct run_form *form,
			    struct strbuf *out)
{
	static const enum table_format formats[] = {
		[RUN_TEXT] = TABLE_TEXT,	 [RUN_JSON] = TABLE_JSON,
		[RUN_CSV] = TABLE_CSV,		 [RUN_MARKDOWN] = TABLE_MARKDOWN,
		[RUN_ASCIIDOC] = TABLE_ASCIIDOC, [RUN_ORGMODE] = TABLE_ORGMODE,
		[RUN_TSV] = TABLE_TSV,
	};
	FREED struct run_view *views = loaded_views(runs);
	struct style style = cmd_style(form->unit);
	style.colour &= form->as == RUN_TEXT;
	if (form->executions)
		put_table(time_executions(views, runs->count), formats[form->as], out);
	else if (form->as == RUN_TEXT)
		time_text(views, runs->count, 0, &style, out);
	else if (form->as == RUN_JSON)
		time_json(views, runs->count, 0, out);
	else if (form->as == RUN_CSV)
		time_csv(views, runs->count, 0, out);
	else
		time_markup(views, runs->count, 0, &style, formats[form->as], out);
}

static void render_noise(const loaded_list *runs, const struct run_form *form, struct strbuf *out)
{
	const struct noise_display display = { .most = form->as == RUN_TEXT ? NOISE_ROWS : 0 };
	noise_render(&runs->items[0], form->as, &display, out);
}

static void render_profile(const loaded_list *runs, const struct run_form *form, struct strbuf *out)
{
	struct profile_display d = PROFILE_DISPLAY;
	struct error none = ERROR_INIT; /* nothing was chosen that could have no samples */
	d.as = form->as == RUN_TEXT   ? PROFILE_AS_TEXT
	       : form->as == RUN_JSON ? PROFILE_AS_JSON
				      : PROFILE_AS_CSV;
	if (form->exported)
		d.top = 0; /* for programs: all rows, whatever people see */
	profile_render(&runs->items[0], &d, out, &none);
}

static void render_queries(const loaded_list *runs, const struct run_form *form, struct strbuf *out)
{
	query_put(&runs->items[0], form->as, form->executions, &(struct query_display){ 0 }, out);
}

static void render_duet(const loaded_list *runs, const struct run_form *form, struct strbuf *out)
{
	const struct duet_view v = loaded_duet(&runs->items[0]);
	const struct style style = cmd_style(form->unit);
	if (form->as == RUN_TEXT)
		duet_text(&v, &style, !form->brief, out);
	else if (form->as == RUN_JSON)
		duet_json(&v, out);
	else if (form->as == RUN_MARKDOWN)
		duet_markdown(&v, out);
	else
		put_table(duet_parts_table(&v, 1), form->as == RUN_TSV ? TABLE_TSV : TABLE_CSV,
			  out);
}

const struct run_kind run_kinds[SUBJECT_KINDS] = {
	[SUBJECT_COMMAND] = { .exports = BIT(RUN_JSON) | TABLES,
			      .of_executions = BIT(RUN_JSON) | TABLES,
			      .render = render_commands,
			      .page_options = { .detail = LAB_PROCESSES },
			      .add_to_page = page_times_add },
	[SUBJECT_CPU] = { .exports = BIT(RUN_JSON) | BIT(RUN_CSV) | BIT(RUN_PERFETTO),
			  .goes_out = "as JSON, as CSV or with --perfetto",
			  .render = render_noise,
			  .page_options = { .may_be_empty = true },
			  .add_to_page = page_noise_add,
			  .compare_on_page = page_noise_compare },
	[SUBJECT_SYSTEM] = { .exports = BIT(RUN_JSON) | BIT(RUN_CSV),
			     .goes_out = "as JSON or as CSV",
			     .prepare = profile_flush,
			     .render = render_profile,
			     .page_options = { .may_be_empty = true, .code = true },
			     .add_to_page = page_profile_add,
			     .compare_on_page = page_profile_compare },
	[SUBJECT_QUERY] = { .exports = BIT(RUN_JSON) | BIT(RUN_CSV) | BIT(RUN_MARKDOWN),
			    .of_executions = BIT(RUN_CSV),
			    .goes_out = "as JSON, CSV or Markdown",
			    .render = render_queries,
			    .page_options = { .may_be_empty = true },
			    .add_to_page = page_queries_add,
			    .compare_on_page = page_queries_compare },
	[SUBJECT_DUET] = { .exports = BIT(RUN_JSON) | BIT(RUN_CSV) | BIT(RUN_TSV) |
				      BIT(RUN_MARKDOWN),
			   .of_executions = BIT(RUN_CSV) | BIT(RUN_TSV),
			   .goes_out = "as JSON, CSV, TSV or Markdown",
			   .render = render_duet,
			   .page_options = { .may_be_empty = true },
			   .add_to_page = page_duets_add },
};
