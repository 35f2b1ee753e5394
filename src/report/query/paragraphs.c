/* Section 9 of the paper: nine pieces of information, and two paragraphs made of them. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/query/rows.h"

#define MOST_STEAL 0.05 /* that of struct ttp_options */
#define TICK_NS 10000000u

static void __attribute__((format(printf, 2, 3))) say(sentence_list *list, const char *fmt, ...)
{
	struct strbuf text = { 0 };
	va_list args;
	va_start(args, fmt);
	strbuf_vprintf(&text, fmt, args);
	va_end(args);
	style_finish(&(struct style){ 0 }, &text, 0);
	array_push(list, strbuf_detach(&text));
}

void sentences_release(sentence_list *s)
{
	for (size_t i = 0; i < s->count; i++)
		xfree(s->items[i]);
	array_release(s);
}

/* ---- deviations ---- */

/* What was measured otherwise than the paper did, whatever the form of the checks. */
static void say_conditions(const struct query_view *v, sentence_list *into)
{
	const struct query_run *r = v->data;
	if (r->imported)
		say(into, "the executions were measured elsewhere and imported");
	if (!r->cold && !r->imported)
		say(into, "caches were warm, not cold: each Q@C was executed once before, which "
			  "does not count");
	if (r->cold && !r->imported)
		say(into, "the drive's own cache was not flushed by reading a file larger than it");
	if (v->run && !r->imported && !v->run->conditions.quieted)
		say(into, "daemons of the operating system were left running");
	if (r->cpus > 1)
		say(into, "%u CPUs were online, not one", r->cpus);
	if (r->io_by_process)
		say(into, "this server reads in threads other than the query's, so what rests on "
			  "the query's blocked time (Time_calc, CPU + blocked) is refused");
}

/* "a, b and c" of the paper's checks whose form is another here. */
static void put_adapted(struct strbuf *out)
{
	const char *last = NULL;
	for (enum ttp_check c = 0; c < TTP_CHECKS; c++) {
		if (!ttp_form_note(c) || c == TTP_LOST || c == TTP_WORKERS)
			continue;
		if (last)
			strbuf_printf(out, "%s%s", out->length ? ", " : "", last);
		last = ttp_check_names[c];
	}
	strbuf_printf(out, "%s%s", out->length ? " and " : "", last);
}

static void say_checks(const struct query_view *v, bool brief, sentence_list *into)
{
	uint64_t tick_ns = v->options->tick_ns ? v->options->tick_ns : TICK_NS;
	uint64_t floor_ns = v->options->floor_ns;
	double steal = v->options->most_steal > 0 ? v->options->most_steal : MOST_STEAL;
	char value[WORDS];
	struct strbuf adapted = { 0 };
	format_ns((double)tick_ns, value);
	if (!v->data->imported)
		say(into, "times are in ns, not in ticks of 10 ms");
	else if (tick_ns != TICK_NS)
		say(into, "ticks were of %s, not of 10 ms", value);
	format_ns((double)floor_ns, value);
	if (floor_ns && floor_ns != 2 * tick_ns)
		say(into, "Q@Cs are too short up to %s, not up to 2 ticks", value);
	format_percent(steal, value);
	say(into, "steal time is a violation above %s of the CPUs' time, not above 0", value);
	say(into, "check of underlying measure: the time that processes older than delay "
		  "accounting were blocked is not asked for");
	if (brief) {
		put_adapted(&adapted);
		say(into,
		    "the checks of %s have the form that tare documents for several CPUs and exact "
		    "clocks",
		    strbuf_text(&adapted));
		say(into, "executions in which the collector lost events were dropped, too");
		strbuf_release(&adapted);
		return;
	}
	for (enum ttp_check c = 0; c < TTP_CHECKS; c++)
		if (ttp_form_note(c))
			say(into, "check of %s: %s", ttp_check_names[c], ttp_form_note(c));
}

void query_deviations(const struct query_view *v, bool brief, sentence_list *into)
{
	enum ttp_time best = ttp_best_time(v->data, v->result);
	say_conditions(v, into);
	if (best == TTP_DEVICE)
		say(into, "I/O is the time that devices served the query, measured from block "
			  "events, not blocked time less half of IOWait");
	else if (best == TTP_BLOCKED)
		say(into, "I/O is blocked time, of which half of IOWait is not taken off");
	if (v->options->form == TTP_ADAPTED)
		say_checks(v, brief, into);
}

/* ---- the nine items ---- */

static const char *fact(const struct query_view *v, const char *key)
{
	const char *value = v->machine ? machine_get(v->machine, key) : NULL;
	return value && *value ? value : NULL;
}

static void put_hardware(const struct query_view *v, struct strbuf *out)
{
	const char *model = fact(v, "cpu.model"), *memory = fact(v, "memory.total_mib");
	const char *host = fact(v, "system.hypervisor"), *disk = fact(v, "now.directory.disk");
	char key[WORDS];
	strbuf_puts(out, model ? model : "");
	if (v->data->cpus)
		strbuf_printf(out, "%s%u CPU%s", out->length ? ", " : "", v->data->cpus,
			      v->data->cpus == 1 ? "" : "s");
	if (memory) {
		char size[WORDS];
		text_bytes(strtod(memory, NULL) * 1048576, size, sizeof size);
		strbuf_printf(out, ", %s of memory", size);
	}
	snprintf(key, sizeof key, "disk.%.60s.rotational", disk ? disk : "");
	const char *rotates = disk ? fact(v, key) : NULL;
	if (disk)
		strbuf_printf(out, "%sdisk %s%s", out->length ? ", " : "", disk,
			      !rotates		      ? ""
			      : !strcmp(rotates, "1") ? " (rotating)"
						      : " (not rotating)");
	if (host && strcmp(host, "none") != 0)
		strbuf_printf(out, ", guest of %s", host);
	if (!out->length)
		strbuf_puts(out, "not known");
}

/* "3 of 80 executions (3.8 %) of the Q@Cs begun are missing"; nothing when none is. */
static void put_missing(const struct query_view *v, struct strbuf *out)
{
	uint64_t missing = query_missing(v->data);
	char text[WORDS];
	if (!missing)
		return;
	format_part(missing, (uint64_t)v->data->planned * v->data->at.count, "executions", text);
	strbuf_printf(out, "%s of the Q@Cs begun %s missing", text, missing == 1 ? "is" : "are");
}

static void put_joined(const sentence_list *list, struct strbuf *out)
{
	for (size_t i = 0; i < list->count; i++)
		strbuf_printf(out, "%s%s", i ? "; " : "", list->items[i]);
}

/* "steal time: 3 of 120 executions (2.5 %)"; nothing when none fired. */
static void put_wide(const struct query_view *v, struct strbuf *out)
{
	size_t said = 0;
	for (enum ttp_wide_check c = 0; c < TTP_WIDE_CHECKS; c++) {
		const struct ttp_count *count = &v->result->wide[c];
		char text[WORDS];
		if (!count->fired)
			continue;
		format_part(count->fired, count->of,
			    c == TTP_MISSING_QUERY ? "queries"
			    : c == TTP_UNIQUE_PLAN ? "Q@Cs"
						   : "executions",
			    text);
		strbuf_printf(out, "%s%s: %s", said++ ? ", " : "", ttp_wide_check_names[c], text);
	}
}

static double share_of(uint64_t n, uint64_t of)
{
	return of ? (double)n / (double)of : 0;
}

struct shares {
	char executions[WORDS], at[WORDS], variation[WORDS], strict[WORDS], relaxed[WORDS];
};

static void shares_of_drops(const struct ttp_result *r, struct shares *out)
{
	format_percent(share_of(r->executions - r->executions_kept, r->executions),
		       out->executions);
	format_percent(share_of(r->at_count - r->at_kept, r->at_count), out->at);
	format_percent(share_of(r->post.variation.fired, r->post.variation.of), out->variation);
	format_percent(share_of(r->post.strict.fired, r->post.strict.of), out->strict);
	format_percent(share_of(r->post.relaxed.fired, r->post.relaxed.of), out->relaxed);
}

void query_items(const struct query_view *v, struct query_item out[QUERY_ITEMS])
{
	static const char *const names[QUERY_ITEMS] = { "Protocol",
							"Hardware",
							"Operating system",
							"Executions per Q@C",
							"Resulting measures",
							"Deviations",
							"Experiment-wide sanity checks",
							"Execution and Q@C sanity checks",
							"Post-sanity checks" };
	struct strbuf text[QUERY_ITEMS] = { 0 }, missing = { 0 };
	const char *os = fact(v, "system.os"), *kernel = fact(v, "kernel.release");
	enum ttp_time best = ttp_best_time(v->data, v->result);
	sentence_list deviations = { 0 };
	struct shares s;
	shares_of_drops(v->result, &s);
	strbuf_puts(&text[0], "Tucson Timing Protocol Version 2 (TTPv2) [Currim et al. 2016]");
	if (v->run && v->run->version)
		strbuf_printf(&text[0], ", by tare %s", v->run->version);
	put_hardware(v, &text[1]);
	strbuf_puts(&text[2], os ? os : kernel ? "" : "not known");
	if (kernel)
		strbuf_printf(&text[2], "%sLinux %s", os ? ", " : "", kernel);
	strbuf_printf(&text[3], "%u", query_planned(v->data));
	put_missing(v, &missing);
	if (missing.length)
		strbuf_printf(&text[3], "; %s", strbuf_text(&missing));
	strbuf_clear(&missing);
	put_query_writes(v->data, &missing);
	if (missing.length)
		strbuf_printf(&text[3], "; %s", strbuf_text(&missing));
	strbuf_release(&missing);
	strbuf_printf(&text[4], "%s (median over executions, with its standard deviation), in ns",
		      query_time_meaning(best));
	if (best != TTP_MEASURED)
		strbuf_puts(&text[4], "; beside it elapsed time");
	if (ttp_has_time(v->data, v->result, TTP_CALC))
		strbuf_puts(&text[4], " and TTPv2's Time_calc");
	query_deviations(v, false, &deviations);
	put_joined(&deviations, &text[5]);
	if (!deviations.count)
		strbuf_puts(&text[5], "none");
	sentences_release(&deviations);
	put_wide(v, &text[6]);
	if (!text[6].length)
		strbuf_puts(&text[6], "no violations");
	strbuf_printf(&text[7], "%s of the executions and %s of the Q@Cs were dropped",
		      s.executions, s.at);
	if (!ttp_time_means(v->data, TTP_CALC))
		strbuf_puts(&text[8], "refused: they rest on Time_calc");
	else if (!v->result->post.variation.of)
		strbuf_puts(&text[8], "none could be asked");
	else
		strbuf_printf(&text[8],
			      "excessive variation %s, strict monotonicity %s, relaxed "
			      "monotonicity %s",
			      s.variation, s.strict, s.relaxed);
	for (size_t i = 0; i < QUERY_ITEMS; i++)
		out[i] = (struct query_item){ names[i], strbuf_detach(&text[i]) };
}

void query_items_release(struct query_item items[QUERY_ITEMS])
{
	for (size_t i = 0; i < QUERY_ITEMS; i++)
		xfree(items[i].text);
}

/* ---- the paragraphs ---- */

static void put_times(const struct query_view *v, struct strbuf *out)
{
	const struct query_run *r = v->data;
	bool varies = r->at.count && r->at.items[0].cardinality;
	bool onepass = r->scenario && !strcmp(r->scenario, "onepass");
	SCOPED(strbuf_release) struct strbuf missing = { 0 };
	strbuf_printf(out, " Each query was executed %u times%s%s.", query_planned(r),
		      !varies	? ""
		      : onepass ? " at each cardinality where its plan differs from that of the "
				  "next higher cardinality"
				: " at each cardinality",
		      r->imported ? ""
		      : r->cold	  ? ", each time with cold caches"
				  : ", with warm caches");
	put_missing(v, &missing);
	if (v->run && v->run->status != RUN_COMPLETE)
		strbuf_printf(out, " The run is not complete, so that Q@Cs may be missing%s%s.",
			      missing.length ? "; " : "", strbuf_text(&missing));
	else if (missing.length)
		strbuf_printf(out, " %s.", strbuf_text(&missing));
}

static void put_quality(const struct query_view *v, struct strbuf *out)
{
	SCOPED(strbuf_release) struct strbuf wide = { 0 };
	struct query_rows rows;
	struct shares s;
	char error[WORDS];
	shares_of_drops(v->result, &s);
	put_wide(v, &wide);
	if (wide.length)
		strbuf_printf(out, "Experiment-wide sanity checks were violated (%s).",
			      strbuf_text(&wide));
	else
		strbuf_puts(out, "The run violated none of the experiment-wide sanity checks.");
	strbuf_printf(out,
		      " By their own sanity checks, %s of the query executions and %s of the "
		      "queries-at-cardinality (Q@Cs) were dropped.",
		      s.executions, s.at);
	if (!v->result->at_kept)
		strbuf_puts(out, " Nothing was kept: by the protocol this run has no result.");
	if (ttp_time_means(v->data, TTP_CALC) && v->result->post.variation.of) {
		strbuf_printf(out,
			      " Of the Q@Cs kept, %s then varied excessively in calculated time",
			      s.variation);
		if (v->result->post.strict.of)
			strbuf_printf(out,
				      "; %s of adjacent pairs violated strict and %s relaxed "
				      "monotonicity",
				      s.strict, s.relaxed);
		strbuf_putc(out, '.');
	}
	query_rows_of(v, &rows);
	if (isfinite(rows.relative_error)) {
		format_percent(rows.relative_error, error);
		strbuf_printf(out, " The mean relative error of a query's time is %s.", error);
	}
	query_rows_release(&rows);
}

const char *query_unfit(const struct query_view *v)
{
	return v->run && v->run->status != RUN_COMPLETE ? "the run is not complete"
	       : !v->result->at_kept			? "nothing was kept"
							: NULL;
}

void query_paragraphs(const struct query_view *v, struct strbuf *out)
{
	const struct query_run *r = v->data;
	struct query_item items[QUERY_ITEMS];
	char server[WORDS];
	sentence_list list = { 0 };
	query_items(v, items);
	query_server(r, server);
	strbuf_printf(out, "Query times on %s were measured with the %s", server, items[0].text);
	if (v->machine && v->machine->facts.count)
		strbuf_printf(out, ", on a machine (%s) running %s", items[1].text, items[2].text);
	strbuf_putc(out, '.');
	put_times(v, out);
	strbuf_printf(out, " A query's time is %s: the median of its executions, in ns.",
		      query_time_meaning(ttp_best_time(r, v->result)));
	query_deviations(v, true, &list);
	if (list.count) {
		strbuf_puts(out, " The protocol was followed with these deviations: ");
		put_joined(&list, out);
		strbuf_putc(out, '.');
	} else
		strbuf_puts(out, " The protocol was followed without deviations.");
	sentences_release(&list);
	query_items_release(items);
	strbuf_puts(out, "\n\n");
	put_quality(v, out);
	strbuf_putc(out, '\n');
}
