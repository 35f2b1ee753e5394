/* tare query compare: two runs of the same queries, or two servers. */
#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/query/query.h"
#include "run/find.h"

#define MEASURES "best|device|blocked|calculated|measured|elapsed"
static const enum ttp_time times[] = { TTP_TIMES, TTP_DEVICE,	TTP_BLOCKED,
				       TTP_CALC,  TTP_MEASURED, TTP_MEASURED };

struct compare_options {
	struct lab_access *lab;
	int time;
	bool json, all, fail;
};

/* Whether one is slower by more than this share; and what else --fail asks. */
static bool is_slower(const struct ttp_comparison *c, double share)
{
	bool slower = false;
	array_each(p, &c->pairs) {
		const struct ttp_ratio *r = p->by == c->time ? &p->time : &p->elapsed;
		slower |= p->change == TTP_SLOWER && r->ratio > 1 + share;
	}
	return slower;
}

int query_compare_runs(struct lab *lab, const text_list *names, const struct query_compare_how *how,
		       struct error *err)
{
	const struct query_style style = { .style = cmd_plot_style(), .all = how->all };
	struct loaded_run base = { 0 }, other = { 0 };
	SCOPED(ttp_comparison_release) struct ttp_comparison c = { 0 };
	struct strbuf out = { 0 };
	int64_t ids[2];
	int code = -1;
	if (names->count != 2)
		return error_set(err, EXIT_USAGE, "query compare: two runs, not %zu", names->count);
	if (!run_find(lab, names->items[0], LAB_OF(SUBJECT_QUERY), &ids[0], err) &&
	    !run_find(lab, names->items[1], LAB_OF(SUBJECT_QUERY), &ids[1], err) &&
	    !run_load(&base, lab, ids[0], NULL, err) && !run_load(&other, lab, ids[1], NULL, err)) {
		const struct query_view a = loaded_queries(&base), b = loaded_queries(&other);
		ttp_compare(a.data, a.result, b.data, b.result, how->time, &c);
		if (how->json)
			query_compare_json(&a, &b, &c, &out);
		else
			query_compare_text(&a, &b, &c, &style, &out);
		cmd_print(&out);
		bool failed = how->fail_if_slower >= 0 &&
			      (is_slower(&c, how->fail_if_slower) ||
			       (how->fail_if_plan && c.plan_changes) || !c.compared);
		code = failed ? EXIT_CHECK : EXIT_DONE;
		if (how->fail_if_slower >= 0 && !c.compared)
			fprintf(stderr, "tare: nothing could be compared\n");
	}
	loaded_run_release(&base);
	loaded_run_release(&other);
	return code;
}

static int compare(void *options, const struct cmd_args *args, struct error *err)
{
	const struct compare_options *o = options;
	const struct query_compare_how how = { .time = times[o->time],
					       .json = o->json,
					       .all = o->all,
					       .fail_if_slower = o->fail ? 0 : -1,
					       .fail_if_plan = o->fail };
	struct lab *lab = lab_access_open(o->lab, err);
	return lab ? query_compare_runs(lab, &args->operands, &how, err) : -1;
}

int query_compare(struct lab_access *lab, int argc, char **argv)
{
	struct compare_options o = { .lab = lab };
	struct option_spec specs[] = {
		{ 'm', "measure", OPTION_CHOICE, &o.time, MEASURES,
		  "what to compare, and what --fail goes by (default: the best that both runs "
		  "have; elapsed time where it changed the other way)" },
		{ 't', "time", OPTION_CHOICE, &o.time, MEASURES, "the same", .rare = true },
		{ 0, "json", OPTION_FLAG, &o.json, NULL, "JSON on standard output, nothing else" },
		{ 'a', "all", OPTION_FLAG, &o.all, NULL, "also the Q@Cs that did not change" },
		{ 0, "fail", OPTION_FLAG, &o.fail, NULL,
		  "exit with 1 when a Q@C is slower or its plan changed" },
		LAB_OPTION(lab, "the lab"),
		{ 0 }
	};
	return cmd_run(
		"tare query compare [OPTIONS] BASE RUN",
		"Two runs of the same queries: of one server at two times, or of two servers.\n"
		"Plans that changed, and times that changed by more than chance.\n",
		specs, argc, argv, compare, &o);
}
