/* The part of the report of `tare query` that says what was dropped and why, and what the times are
 * worth. */
#include <math.h>
#include <stdio.h>

#include "record/measure.h"
#include "report/query/rows.h"

/* ---- what was dropped ---- */

/* Places one after the other, of which so many are named. */
struct naming {
	const struct query_view *view;
	const struct query_style *style;
	struct strbuf *out;
	size_t count;
};

/* True: it is one of those, and what there is to say of it may follow. */
static bool name_at(struct naming *n, const struct query_row *row)
{
	char place[2 * WORDS];
	if (n->count++ >= query_most(n->style, QUERY_MOST_NAMED))
		return false;
	query_place(n->view->data, row->at->query, row->at->cardinality, place);
	strbuf_printf(n->out, "%s%s", n->count > 1 ? ", " : "", place);
	return true;
}

static void end_naming(const struct naming *n)
{
	if (n->count > query_most(n->style, QUERY_MOST_NAMED))
		strbuf_printf(n->out, " and %zu more", n->count - QUERY_MOST_NAMED);
}

/* "Dropped, DBMS time: 12 executions (5.0 %) of 5 Q@Cs, most of scan at 80,000" */
static void put_dropped_by(const struct query_view *v, const struct query_rows *rows,
			   enum ttp_check check, const struct query_style *style,
			   struct strbuf *out)
{
	size_t executions = 0, ats = 0, most = 0;
	const struct query_at *worst = NULL;
	for (size_t i = 0; i < rows->list.count; i++) {
		const struct query_row *row = &rows->list.items[i];
		size_t fired = 0;
		for (size_t k = 0; k < row->at->executions.count; k++)
			fired += row->fired[k] >> check & 1;
		executions += fired;
		ats += fired > 0;
		if (fired > most) {
			most = fired;
			worst = row->at;
		}
	}
	if (!worst)
		return;
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	char first[WORDS], number[WORDS], share[WORDS], place[2 * WORDS];
	format_count(executions, number);
	format_percent((double)executions / (double)v->result->executions, share);
	query_place(v->data, worst->query, worst->cardinality, place);
	strbuf_printf(&text, "%s execution%s (%s) of ", number, executions == 1 ? "" : "s", share);
	if (ats > 1)
		strbuf_printf(&text, "%zu Q@Cs, most of ", ats);
	strbuf_puts(&text, place);
	snprintf(first, sizeof first, "Dropped, %s: ", ttp_check_names[check]);
	put_query_text(first, strbuf_text(&text), style, out);
}

/* ---- what it is worth ---- */

static void put_bits(uint32_t bits, bool of_cpus, const char *whose, struct strbuf *out)
{
	const char *between = out->length ? "; " : "";
	for (int i = 0; bits >> i; i++)
		if (bits >> i & 1) {
			strbuf_printf(out, "%s%s", between,
				      of_cpus ? overall_measures[i].name : query_measure_name(i));
			between = ", ";
		}
	if (bits)
		strbuf_printf(out, " of %s", whose);
}

/* Which measures the check of them did not find. */
static void put_missing(const struct query_view *v, const struct query_style *style,
			struct strbuf *out)
{
	const struct ttp_missing *m = &v->result->missing;
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	for (enum query_role role = 0; role < QUERY_ROLES; role++) {
		char whose[WORDS];
		snprintf(whose, sizeof whose, "%s processes", query_role_names[role]);
		put_bits(m->roles[role], false, role == QUERY_OWN ? "tare itself" : whose, &text);
	}
	put_bits(m->overall, true, "the CPUs", &text);
	if (text.length)
		put_query_text("Underlying measures that are missing: ", strbuf_text(&text), style,
			       out);
}

/* Of how many executions a check was not evaluated though it applies to them. */
static uint64_t not_evaluated(const struct query_view *v, enum ttp_check check)
{
	const struct ttp_result *r = v->result;
	bool paper = v->options->form == TTP_PAPER;
	uint64_t missing = r->executions - r->checks[check].of, unseen = 0;
	switch (check) {
	case TTP_BLKIO: /* where others read for the query, its blocked time means nothing */
		return !paper && v->data->io_by_process ? 0 : missing;
	case TTP_SWITCHES:
		return missing - r->switches_alone;
	case TTP_LOST: /* the paper does not have it */
		return paper ? 0 : missing;
	case TTP_WORKERS:
		array_each(at, &v->data->at)
			array_each(x, &at->executions)
				unseen += x->workers < 0 && x->workers_planned > 0;
		return paper ? 0 : unseen;
	default:
		return missing;
	}
}

/* Checks that passed or failed for nothing, as what they rest on was not measured. */
static void put_not_evaluated(const struct query_view *v, const struct query_style *style,
			      struct strbuf *out)
{
	const struct ttp_result *r = v->result;
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	for (int i = TTP_STEAL; i < (int)TTP_WIDE_CHECKS + TTP_CHECKS; i++) {
		bool wide = i < TTP_WIDE_CHECKS;
		int check = wide ? i : i - TTP_WIDE_CHECKS;
		uint64_t missing = wide ? r->executions - r->wide[check].of
					: not_evaluated(v, (enum ttp_check)check);
		if (!missing)
			continue;
		strbuf_printf(&text, "%s%s", text.length ? ", " : "",
			      wide ? ttp_wide_check_names[check] : ttp_check_names[check]);
		if (missing < r->executions)
			strbuf_printf(&text, " (of %llu execution%s)", (unsigned long long)missing,
				      missing == 1 ? "" : "s");
	}
	if (text.length) {
		strbuf_puts(&text, ". What these checks rest on was not measured.");
		put_query_text("Not evaluated: ", strbuf_text(&text), style, out);
	}
}

static void put_post(const struct query_view *v, const struct query_style *style,
		     struct strbuf *out)
{
	const struct ttp_result *r = v->result;
	struct strbuf text = { 0 };
	char kept[WORDS], dropped[WORDS], error[WORDS];
	size_t said = 0;
	if (!ttp_time_means(v->data, TTP_CALC)) {
		put_query_text(
			"Refused: ",
			"this server reads in threads other than the query's, so the query's "
			"blocked time, and with it CPU + blocked and TTPv2's Time_calc, mean "
			"nothing.",
			style, out);
		return;
	}
	format_percent(r->post.kept_difference, kept);
	format_percent(r->post.dropped_difference, dropped);
	format_percent(r->relative_error, error);
	strbuf_printf(&text, "Time_calc of TTPv2 differs from elapsed by %s in Q@Cs kept", kept);
	if (isfinite(r->post.dropped_difference))
		strbuf_printf(&text, ", by %s in those dropped", dropped);
	strbuf_printf(&text, "; its relative error is %s.", error);
	if (isfinite(r->post.kept_difference))
		put_query_text("Step 5: ", strbuf_text(&text), style, out);
	else if (r->at_kept)
		put_query_text(
			"Step 5: ",
			"not evaluated, as TTPv2's Time_calc rests on measures that were not seen.",
			style, out);
	strbuf_clear(&text);
	for (enum ttp_model_measure m = 0; m < TTP_MODEL_MEASURES; m++)
		if (r->post.constant >> m & 1)
			strbuf_printf(&text, "%s%s", said++ ? ", " : "",
				      ttp_model_measure_names[m]);
	if (said && r->executions > 1 && style->checks)
		put_query_text("Never varied: ", strbuf_text(&text), style, out);
	strbuf_release(&text);
}

/* Calculated times of a Q@C and the next higher one, whose plan is the same. */
static void put_monotonicity(const struct query_view *v, const struct query_rows *rows,
			     const struct query_style *style, struct strbuf *out)
{
	struct strbuf text = { 0 };
	size_t said = 0;
	if (!ttp_time_means(v->data, TTP_CALC))
		return;
	for (size_t i = 0; i + 1 < rows->list.count; i++) {
		const struct query_row *row = &rows->list.items[i], *next;
		char place[2 * WORDS], higher[WORDS], time[WORDS], against[WORDS];
		if (!(row->verdict->after >> TTP_STRICT & 1) ||
		    said++ >= query_most(style, QUERY_MOST_NAMED))
			continue;
		next = &rows->list.items[ttp_next_higher(v->data, i)];
		query_place(v->data, row->at->query, row->at->cardinality, place);
		format_count(next->at->cardinality, higher);
		format_ns(row->verdict->times[TTP_CALC].median_ns, time);
		format_ns(next->verdict->times[TTP_CALC].median_ns, against);
		strbuf_printf(&text, "%s%s took %s, at %s %s%s", said > 1 ? "; " : "", place, time,
			      higher, against,
			      row->verdict->after >> TTP_RELAXED & 1 ? " (relaxed, too)" : "");
	}
	if (said > query_most(style, QUERY_MOST_NAMED))
		strbuf_printf(&text, "; and %zu more", said - QUERY_MOST_NAMED);
	if (said)
		put_query_text("Not monotone: ", strbuf_text(&text), style, out);
	strbuf_release(&text);
}

static void put_reading(const struct query_view *v, const struct query_rows *rows,
			const struct query_style *style, struct strbuf *out)
{
	struct query_reading r = query_reading_of(rows);
	struct strbuf text = { 0 }, others = { 0 };
	struct naming n = { v, style, &others, 0 };
	if (!r.known)
		return;
	if (v->data->cold)
		strbuf_printf(&text, "%zu of %zu Q@Cs read what their tables have, within 3 %%",
			      r.whole, r.known);
	else
		strbuf_printf(&text, "%zu of %zu Q@Cs read less than 1 %% of their tables", r.warm,
			      r.known);
	for (size_t i = 0; i < rows->list.count; i++) {
		double share = rows->list.items[i].read_share;
		char percent[WORDS];
		if (isnan(share) || query_reads_as(share, v->data->cold))
			continue;
		format_percent(share, percent);
		if (name_at(&n, &rows->list.items[i]))
			strbuf_printf(&others, " (%s)", percent);
	}
	end_naming(&n);
	strbuf_printf(&text, "%s%s.", n.count ? "; others: " : "", strbuf_text(&others));
	if (v->data->cold && r.less)
		strbuf_puts(&text, " Less: by an index, or a cache was not empty.");
	put_query_text(v->data->cold ? "Cold: " : "Warm: ", strbuf_text(&text), style, out);
	strbuf_release(&text);
	strbuf_release(&others);
}

/* What the paper's machine did not have, or could not see. */
static void put_surroundings(const struct query_view *v, const struct query_rows *rows,
			     const struct query_style *style, struct strbuf *out)
{
	struct query_surroundings s = query_surroundings_of(v->data, rows);
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	char share[WORDS];
	if (isfinite(s.run_delay)) {
		format_percent(s.run_delay, share);
		if (s.several && v->data->cpus)
			strbuf_printf(&text,
				      "the query's threads each waited %s of the time for one of "
				      "the %u CPUs",
				      share, v->data->cpus);
		else
			strbuf_printf(&text, "%s waited %s of the time for a CPU",
				      s.several ? "the query's threads each" : "the query", share);
	}
	if (isfinite(s.steal)) {
		format_percent(s.steal, share);
		strbuf_printf(&text, "%ssteal was %s", text.length ? ", " : "", share);
	}
	if (s.lost)
		strbuf_printf(&text, "%sevents were lost in %zu execution%s, %s",
			      text.length ? ", " : "", s.lost, s.lost == 1 ? "" : "s",
			      v->options->form == TTP_ADAPTED ? "dropped for that"
							      : "without a device time");
	int64_t workers = INT64_MAX, planned = 0;
	size_t i = 0;
	array_each(at, &v->data->at)
		array_each(x, &at->executions)
			if (!v->result->fired[i++] && x->workers >= 0 &&
			    x->workers < x->workers_planned && x->workers < workers) {
				workers = x->workers;
				planned = x->workers_planned;
			}
	if (planned)
		strbuf_printf(&text, "%sonly %lld of %lld planned workers ran",
			      text.length ? ", " : "", (long long)workers, (long long)planned);
	strbuf_putc(&text, '.');
	if (text.length > 1)
		put_query_text("Meanwhile: ", strbuf_text(&text), style, out);
}

void put_query_deviations(const struct query_view *v, const struct query_style *style,
			  struct strbuf *out)
{
	SCOPED(sentences_release) sentence_list list = { 0 };
	char text[WORDS];
	query_deviations(v, false, &list);
	strbuf_putc(out, '\n');
	snprintf(text, sizeof text, "%zu, listed by --checks.", list.count);
	if (!style->checks || !list.count)
		put_query_text("Deviations from the protocol as printed: ",
			       list.count ? text : "none.", style, out);
	else
		strbuf_puts(out, "Deviations from the protocol as printed\n");
	for (size_t i = 0; style->checks && i < list.count; i++)
		put_query_text("- ", list.items[i], style, out);
}

void put_query_findings(const struct query_view *v, const struct query_rows *rows,
			const struct query_style *style, struct strbuf *out)
{
	for (enum ttp_drop d = TTP_KEPT + 1; d < TTP_DROPS; d++) {
		SCOPED(strbuf_release) struct strbuf text = { 0 };
		struct naming n = { v, style, &text, 0 };
		char first[WORDS];
		for (size_t i = 0; i < rows->list.count; i++)
			if (rows->list.items[i].verdict->drop == d)
				name_at(&n, &rows->list.items[i]);
		end_naming(&n);
		snprintf(first, sizeof first, "Dropped, %s: ", ttp_drop_names[d]);
		if (n.count)
			put_query_text(first, strbuf_text(&text), style, out);
	}
	for (enum ttp_check c = 0; c < TTP_CHECKS; c++)
		put_dropped_by(v, rows, c, style, out);
	/* those checks that drop something were named with it */
	struct table *each = style->all ? query_dropped_table(v, "Dropped execution", "No.", "By")
					: NULL;
	struct table *t =
		query_checks_table(v, style->checks ? QUERY_ALL_CHECKS : QUERY_OTHER_CHECKS);
	struct table *fired = query_checks_table(v, QUERY_FIRED_CHECKS);
	if (each) {
		strbuf_putc(out, '\n');
		table_put(each, &style->style, out);
	}
	strbuf_putc(out, '\n');
	if (t)
		table_put(t, &style->style, out);
	else if (!fired)
		strbuf_puts(out, "No sanity check fired.\n");
	table_free(fired);
	put_missing(v, style, out);
	put_not_evaluated(v, style, out);
	put_post(v, style, out);
	put_monotonicity(v, rows, style, out);
	put_reading(v, rows, style, out);
	put_surroundings(v, rows, style, out);
}
