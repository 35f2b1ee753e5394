#include "cmd/page/page.h"

#include <jansson.h>
#include <math.h>

#include "report/core/json.h"

/* What came of it; NULL while nothing is stored. */
static json_t *result_of(const struct run *run, const struct run_summary_row *s)
{
	if (run->kind == SUBJECT_CPU && isfinite(s->watched_ns))
		return json_pack("{s:I, s:f, s:o}", "cpus", (json_int_t)s->cpus, "watched_ns",
				 s->watched_ns, "lost_share", json_real_or_null(s->lost_share));
	if (run->kind == SUBJECT_SYSTEM && isfinite(s->samples))
		return json_pack("{s:o, s:o}", "samples", /* of a damaged lab any number */
				 fabs(s->samples) < 0x1p53 ? json_integer((json_int_t)s->samples)
							   : json_real_or_null(s->samples),
				 "cpu_ns", json_real_or_null(s->sampled_ns));
	if (run->kind == SUBJECT_QUERY && s->ats)
		return json_pack("{s:I, s:I}", "queries", (json_int_t)s->queries, "ats",
				 (json_int_t)s->ats);
	if (run->kind == SUBJECT_DUET && s->sides)
		return json_pack("{s:I, s:I}", "pairs", (json_int_t)s->pairs, "sides",
				 (json_int_t)s->sides);
	return NULL;
}

static json_t *list_row(const struct run *run, const struct run_summary_row *s)
{
	static const char *const kinds[SUBJECT_KINDS] = { "time", "noise", "profile", "query",
							  "duet" };
	const bool executes = run->kind == SUBJECT_COMMAND || run->kind == SUBJECT_QUERY ||
			      run->kind == SUBJECT_DUET;
	json_t *o = json_pack("{s:I, s:s, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "id",
			      (json_int_t)run->id, "kind", kinds[run->kind], "name",
			      json_text(run->name), "command", json_text(run->command), "tags",
			      json_text(run->tags), "status", run_status_names[run->status],
			      "started_at", json_date(run->started_at_ns), "ended_at",
			      json_date(run->ended_at_ns), "executions",
			      executes ? json_integer(s->executions) : json_null(),
			      "mean_et_of_all_ns", json_real_or_null(s->mean_et_ns),
			      "mean_pt_exec_of_all_ns", json_real_or_null(s->mean_pt_exec_ns));
	json_t *result = result_of(run, s);
	if (result) /* in an object called as its kind */
		json_object_set_new(o, kinds[run->kind], result);
	return o;
}

int serve_list(struct lab *lab, const struct request *r, struct strbuf *out, struct error *err)
{
	static const enum lab_order orders[] = {
		[SORT_NUMBER] = LAB_BY_NUMBER,	 [SORT_NAME] = LAB_BY_NAME,
		[SORT_COMMAND] = LAB_BY_COMMAND, [SORT_TAGS] = LAB_BY_TAGS,
		[SORT_STATUS] = LAB_BY_STATUS,	 [SORT_BEGAN] = LAB_BY_BEGIN,
		[SORT_MADE] = LAB_BY_MADE,	 [SORT_ET] = LAB_BY_ET,
		[SORT_PT] = LAB_BY_PT,
	};
	_Static_assert(sizeof orders / sizeof *orders == SORTS && (int)SORTS == (int)LAB_ORDERS,
		       "what may be asked for is what the lab can do");
	FREED run_list runs = { 0 };
	FREED run_count_list counts = { 0 };
	FREED lab_study_list studies = { 0 };
	/* one more than wanted says whether there are more */
	struct lab_search search = { .like = r->like,
				     .before = r->before,
				     .most = r->most + 1,
				     .skip = r->skip,
				     .order = orders[r->sort],
				     .up = r->up };
	int failed = lab_search_runs(lab, &search, &runs, &counts, err) ||
		     lab_list_studies(lab, &studies, err);
	if (!failed) {
		json_t *rows = json_array(), *of_daemons = json_array();
		for (size_t i = 0; i < runs.count && i < r->most; i++)
			json_array_append_new(rows, list_row(&runs.items[i], &counts.items[i]));
		for (size_t i = 0; i < studies.count; i++) {
			const struct lab_study_row *s = &studies.items[i];
			json_array_append_new(of_daemons,
					      json_pack("{s:I, s:o, s:s, s:I, s:I}", "id",
							(json_int_t)s->id, "made_at",
							json_date(s->made_at_ns), "source",
							study_source_names[s->source], "daemons",
							(json_int_t)s->daemons, "cutoffs",
							(json_int_t)s->cutoffs));
		}
		json_t *document = json_pack("{s:o, s:o, s:b}", "runs", rows, "studies", of_daemons,
					     "more", (int)(runs.count > r->most));
		put_compact_json(document, out);
		json_decref(document);
	}
	for (size_t i = 0; i < runs.count; i++)
		run_release(&runs.items[i]);
	return failed ? -1 : 0;
}
