/* Of the block of one run: how many executions there were, and which were dropped for what. */
#include <math.h>
#include <string.h>

#include "report/core/rows.h"
#include "report/time/parts.h"

/* "#1-3, 7" of the executions dropped for the same reason as the one at `first`. */
static void put_numbers(const struct run_view *view, size_t first, struct strbuf *out)
{
	const struct emp_verdict *verdicts = view->result->verdicts, *v = &verdicts[first];
	uint32_t from = 0, to = 0;
	for (size_t i = first; i <= view->result->count; i++) {
		bool same = i < view->result->count && i < view->count &&
			    verdicts[i].rule == v->rule && !strcmp(verdicts[i].reason, v->reason);
		uint32_t number = same ? view->executions[i].number : 0;
		if (same && from && number == to + 1) {
			to = number;
		} else if (same || (from && i == view->result->count)) {
			if (from && from < to)
				strbuf_printf(out, "%u-%u, ", from, to);
			else if (from)
				strbuf_printf(out, "%u, ", from);
			from = to = number;
		}
	}
	out->length -= 2; /* the last ", " */
	out->text[out->length] = '\0';
}

#define DROPS_SHOWN 4 /* of each rule: the list of all is `tare show --executions` */

/* How far out it is, to compare it with others of the same rule. */
static double distance(const struct emp_verdict *v)
{
	return v->rule == EMP_OUTSIDE  ? fabs(v->value_ns - (v->low_ns + v->high_ns) / 2)
	       : v->rule == EMP_CUTOFF ? v->value_ns / fmax(v->high_ns, 1)
				       : 0;
}

/* Of the executions dropped by a rule the first of each reason, those farthest from the mean
 * before the others; how many are shown. */
static size_t worst_drops(const struct run_view *view, enum emp_rule rule,
			  size_t worst[DROPS_SHOWN])
{
	const struct emp_verdict *verdicts = view->result->verdicts;
	size_t n = 0;
	for (size_t i = 0; i < view->result->count && i < view->count; i++) {
		bool told = verdicts[i].rule != rule;
		for (size_t j = 0; j < n && !told; j++)
			told = !strcmp(verdicts[worst[j]].reason, verdicts[i].reason);
		if (told)
			continue;
		size_t at = n;
		while (at && distance(&verdicts[worst[at - 1]]) < distance(&verdicts[i]))
			at--;
		if (at == DROPS_SHOWN)
			continue;
		n += n < DROPS_SHOWN;
		for (size_t j = n - 1; j > at; j--)
			worst[j] = worst[j - 1];
		worst[at] = i;
	}
	return n;
}

static void put_drops(const struct run_view *view, enum emp_rule rule, const struct style *style,
		      struct strbuf *out)
{
	static const char *const labels[] = { [EMP_FAILED] = "    dropped, failed",
					      [EMP_CUTOFF] = "    dropped, rule I",
					      [EMP_OUTSIDE] = "    dropped, rule II" };
	const struct emp_result *r = view->result;
	size_t worst[DROPS_SHOWN], n = worst_drops(view, rule, worst), more = 0;
	for (size_t k = 0; k < n; k++) {
		const struct emp_verdict *v = &r->verdicts[worst[k]];
		struct strbuf text = { 0 };
		strbuf_putc(&text, '#');
		put_numbers(view, worst[k], &text);
		strbuf_printf(&text, ": %s", *v->reason ? v->reason : "no reason recorded");
		put_labelled_text(out, style, labels[rule], RED, &text);
	}
	for (size_t i = 0; i < r->count && i < view->count; i++) {
		bool told = r->verdicts[i].rule != rule;
		for (size_t k = 0; k < n && !told; k++)
			told = !strcmp(r->verdicts[worst[k]].reason, r->verdicts[i].reason);
		more += !told;
	}
	if (!more)
		return;
	struct strbuf text = { 0 };
	char share[WORDS];
	format_percent((double)more / (double)(r->count - r->dropped[EMP_WARMUP]), share);
	strbuf_printf(&text, "… and %zu more (%s): tare show ", more, share);
	if (view->run->id > 0)
		strbuf_printf(&text, "%lld --executions", (long long)view->run->id);
	else
		strbuf_puts(&text, "RUN --executions");
	put_labelled_text(out, style, "", NULL, &text);
}

void put_executions(const struct run_view *view, const struct style *style, struct strbuf *out)
{
	const struct emp_result *r = view->result;
	const struct run *run = view->run;
	size_t warmups = r->dropped[EMP_WARMUP], measured = r->count - warmups;
	size_t kept = measured - r->dropped[EMP_FAILED] - r->dropped[EMP_CUTOFF] -
		      r->dropped[EMP_OUTSIDE];
	struct strbuf text = { 0 };
	if (!measured)
		strbuf_puts(&text, "none measured");
	else if (kept == measured)
		strbuf_printf(&text, "%zu, all kept", measured);
	else
		strbuf_printf(&text, "%zu of %zu kept", kept, measured);
	if (warmups)
		strbuf_printf(&text, ", %zu warm-up%s before", warmups, warmups == 1 ? "" : "s");
	static const char *const endings[] = { [RUN_GOING] = "; still going",
					       [RUN_COMPLETE] = "",
					       [RUN_INTERRUPTED] = "; interrupted",
					       [RUN_FAILED] = "; the run failed" };
	strbuf_puts(&text, endings[run->status]);
	if (run->status != RUN_COMPLETE && run->planned > measured)
		strbuf_printf(&text, ", %u %s planned", run->planned,
			      run->planned == 1 ? "was" : "were");
	put_labelled_text(out, style, "  Executions", run->status == RUN_COMPLETE ? NULL : YELLOW,
			  &text);
	put_drops(view, EMP_FAILED, style, out);
	put_drops(view, EMP_CUTOFF, style, out);
	put_drops(view, EMP_OUTSIDE, style, out);
}
