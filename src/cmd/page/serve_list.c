#include "cmd/page/serve_list.h"

#include <jansson.h>
#include <math.h>

#include "report/core/json.h"

static const char *kind_name(enum subject_kind kind)
{
	static const char *const names[SUBJECT_KINDS] = { "time", "noise", "profile", "query" };
	return names[kind];
}

/* Of a damaged lab it may be any number. */
static json_t *count_or_real(double value)
{
	return fabs(value) < 0x1p53 ? json_integer((json_int_t)value) : json_real_or_null(value);
}

/* What came of it, in an object called as its kind; nothing while nothing is stored. */
static void set_result(json_t *o, const struct run *run, const struct run_summary_row *s)
{
	json_t *result = NULL;
	if (run->kind == SUBJECT_CPU && isfinite(s->watched_ns)) {
		result = json_object();
		json_object_set_new(result, "cpus", json_integer(s->cpus));
		json_object_set_new(result, "watched_ns", json_real(s->watched_ns));
		json_object_set_new(result, "lost_share", json_real_or_null(s->lost_share));
	} else if (run->kind == SUBJECT_SYSTEM && isfinite(s->samples)) {
		result = json_object();
		json_object_set_new(result, "samples", count_or_real(s->samples));
		json_object_set_new(result, "cpu_ns", json_real_or_null(s->sampled_ns));
	} else if (run->kind == SUBJECT_QUERY && s->ats) {
		result = json_object();
		json_object_set_new(result, "queries", json_integer(s->queries));
		json_object_set_new(result, "ats", json_integer(s->ats));
	}
	if (result)
		json_object_set_new(o, kind_name(run->kind), result);
}

static json_t *list_row(const struct run *run, const struct run_summary_row *count)
{
	json_t *o = json_object();
	bool executes = run->kind == SUBJECT_COMMAND || run->kind == SUBJECT_QUERY;
	json_object_set_new(o, "id", json_integer(run->id));
	json_object_set_new(o, "kind", json_string(kind_name(run->kind)));
	json_object_set_new(o, "name", json_text(run->name));
	json_object_set_new(o, "command", json_text(run->command));
	json_object_set_new(o, "tags", json_text(run->tags));
	json_object_set_new(o, "status", json_string(run_status_name(run->status)));
	json_object_set_new(o, "started_at", json_date(run->started_at_ns));
	json_object_set_new(o, "ended_at",
			    run->ended_at_ns ? json_date(run->ended_at_ns) : json_null());
	json_object_set_new(o, "executions",
			    executes ? json_integer(count->executions) : json_null());
	json_object_set_new(o, "mean_et_ns", json_real_or_null(count->mean_et_ns));
	json_object_set_new(o, "mean_pt_ns", json_real_or_null(count->mean_pt_exec_ns));
	set_result(o, run, count);
	return o;
}

static json_t *list_study(const struct lab_study_row *s)
{
	json_t *o = json_object();
	json_object_set_new(o, "id", json_integer(s->id));
	json_object_set_new(o, "made_at", json_date(s->made_at_ns));
	json_object_set_new(o, "source", json_string(study_source_name(s->source)));
	json_object_set_new(o, "daemons", json_integer(s->daemons));
	json_object_set_new(o, "cutoffs", json_integer(s->cutoffs));
	return o;
}

static json_t *list_document(const run_list *runs, const run_count_list *counts,
			     const lab_study_list *studies, uint32_t most)
{
	json_t *o = json_object(), *rows = json_array(), *of_daemons = json_array();
	for (size_t i = 0; i < runs->count && i < most; i++)
		json_array_append_new(rows, list_row(&runs->items[i], &counts->items[i]));
	for (size_t i = 0; i < studies->count; i++)
		json_array_append_new(of_daemons, list_study(&studies->items[i]));
	json_object_set_new(o, "runs", rows);
	json_object_set_new(o, "studies", of_daemons);
	json_object_set_new(o, "more", json_boolean(runs->count > most));
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
	run_list runs = { 0 };
	run_count_list counts = { 0 };
	lab_study_list studies = { 0 };
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
		json_t *document = list_document(&runs, &counts, &studies, r->most);
		put_compact_json(document, out);
		json_decref(document);
	}
	for (size_t i = 0; i < runs.count; i++)
		run_release(&runs.items[i]);
	array_release(&runs);
	array_release(&counts);
	array_release(&studies);
	return failed ? -1 : 0;
}
