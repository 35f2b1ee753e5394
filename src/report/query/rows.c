#include "report/query/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define LABEL 14

/* ---- plans ---- */

/* Plans are lettered within each query, from its highest cardinality down: A, ..., Z, AA. */
static void plan_letter(int plan, char out[16])
{
	char reversed[16];
	size_t n = 0;
	for (int left = plan + 1; left > 0; left = (left - 1) / 26)
		reversed[n++] = (char)('A' + (left - 1) % 26);
	for (size_t i = 0; i < n; i++)
		out[i] = reversed[n - 1 - i];
	out[n] = '\0';
}

/* Of one query, whose rows are [first, end). */
static void letter_plans(struct query_row *rows, size_t first, size_t end)
{
	int next = 0;
	for (size_t i = end; i-- > first;) {
		uint64_t hash = rows[i].hash;
		rows[i].plan = -1;
		for (size_t k = end; hash && --k > i;)
			if (rows[k].hash == hash)
				rows[i].plan = rows[k].plan;
		if (hash && rows[i].plan < 0)
			rows[i].plan = next++;
		if (hash)
			plan_letter(rows[i].plan, rows[i].letter);
	}
}

uint64_t query_plan_hash(const struct query_at *at)
{
	return at && at->executions.count ? at->executions.items[0].plan : 0;
}

const struct query_plan *query_plan_of(const struct query_run *r, uint64_t hash)
{
	for (size_t i = 0; i < r->plans.count; i++)
		if (r->plans.items[i].hash == hash)
			return &r->plans.items[i];
	return NULL;
}

/* ---- rows ---- */

static struct query_row row_of(const struct query_run *run, const struct query_at *at,
			       const struct ttp_at *verdict, enum ttp_time time)
{
	struct query_row row = { .at = at,
				 .verdict = verdict,
				 .query = at->query,
				 .cardinality = at->cardinality,
				 .table_bytes = at->table_bytes,
				 .made = at->executions.count,
				 .kept = verdict->kept,
				 .dropped_by = verdict->drop ? ttp_drop_names[verdict->drop] : NULL,
				 .time = verdict->times[time],
				 .cpu = verdict->cpu,
				 .device = verdict->device,
				 .blocked = verdict->blocked,
				 .read_share = verdict->read_share,
				 .sigma_ns = NAN };
	query_name(run, at->query, row.name);
	row.blocked_means = row.blocked.present && ttp_time_means(run, TTP_BLOCKED);
	for (enum ttp_time t = 0; t < TTP_TIMES; t++) {
		row.times[t] = verdict->times[t];
		row.unfiltered[t] = verdict->unfiltered[t];
		row.times[t].present &= ttp_time_means(run, t);
		row.unfiltered[t].present &= ttp_time_means(run, t);
	}
	if (time == TTP_DEVICE || time == TTP_BLOCKED)
		row.io = time == TTP_DEVICE ? row.device : row.blocked;
	if (row.time.present && row.kept > 1) {
		double ns = row.time.sigma_ns, unit = ns > 0 ? pow(10, floor(log10(ns)) - 1) : 1;
		row.sigma_ns = round(ns / unit) * unit;
	}
	for (size_t k = 0; k < row.made; k++) {
		uint64_t hash = at->executions.items[k].plan;
		row.hash = k ? row.hash : hash;
		row.plans |= hash != row.hash;
	}
	return row;
}

void query_rows_of(const struct query_view *v, struct query_rows *out)
{
	const struct query_run *run = v->data;
	const uint32_t *fired = v->result->fired;
	*out = (struct query_rows){ .time = ttp_best_time(run, v->result) };
	out->relative_error = ttp_relative_error(v->result, out->time);
	for (size_t i = 0; i < run->at.count; i++) {
		array_push(&out->list,
			   row_of(run, &run->at.items[i], &v->result->at[i], out->time));
		out->list.items[i].fired = fired;
		fired += run->at.items[i].executions.count;
	}
	for (size_t first = 0, end; first < out->list.count; first = end) {
		for (end = first; end < out->list.count &&
				  out->list.items[end].query == out->list.items[first].query;)
			end++;
		letter_plans(out->list.items, first, end);
	}
}

void query_rows_release(struct query_rows *r)
{
	array_release(&r->list);
}

bool query_reads_as(double share, bool cold)
{
	return cold ? fabs(share - 1) <= 0.03 : share < 0.01;
}

struct query_reading query_reading_of(const struct query_rows *rows)
{
	struct query_reading r = { 0 };
	for (size_t i = 0; i < rows->list.count; i++) {
		double share = rows->list.items[i].read_share;
		if (isnan(share))
			continue;
		r.known++;
		r.whole += query_reads_as(share, true);
		r.less += !query_reads_as(share, true) && share < 1;
		r.more += !query_reads_as(share, true) && share > 1;
		r.warm += query_reads_as(share, false);
	}
	return r;
}

struct query_surroundings query_surroundings_of(const struct query_run *r,
						const struct query_rows *rows)
{
	struct query_surroundings s = { 0 };
	double elapsed = 0, tasks_time = 0;
	for (size_t i = 0; i < rows->list.count; i++) {
		const struct query_row *row = &rows->list.items[i];
		for (size_t k = 0; k < row->at->executions.count; k++) {
			const struct query_execution *x = &row->at->executions.items[k];
			s.lost += x->lost > 0;
			if (row->fired[k])
				continue;
			uint32_t tasks = x->query_tasks ? x->query_tasks : 1;
			s.several |= tasks > 1;
			elapsed += (double)x->measured_ns;
			tasks_time += ((double)x->measured_ns + (double)x->snapshot_ns) * tasks;
			s.run_delay += x->run_delay_ns == ABSENT_NS ? NAN : (double)x->run_delay_ns;
			s.steal += x->overall_missing >> OVERALL_STEAL & 1
					   ? NAN
					   : (double)x->overall_ns[OVERALL_STEAL];
		}
	}
	s.run_delay = tasks_time > 0 ? s.run_delay / tasks_time : NAN;
	s.steal = elapsed > 0 ? s.steal / elapsed / (r->cpus ? r->cpus : 1) : NAN;
	return s;
}

uint32_t query_planned(const struct query_run *r)
{
	uint32_t most = r->planned;
	for (size_t i = 0; !r->planned && i < r->at.count; i++)
		if (r->at.items[i].executions.count > most)
			most = (uint32_t)r->at.items[i].executions.count;
	return most;
}

#define GROWN 1.02 /* tables that are larger by this count as grown */

/* The Q@C whose tables grew most from its first execution to its last, and by how much. */
static double most_grown(const struct query_run *r, const struct query_at **which)
{
	double most = 1;
	array_each(at, &r->at) {
		size_t count = at->executions.count;
		if (!count || !at->executions.items[0].table_bytes)
			continue;
		double grown = (double)at->executions.items[count - 1].table_bytes /
			       (double)at->executions.items[0].table_bytes;
		if (grown > most) {
			most = grown;
			*which = at;
		}
	}
	return most;
}

void put_query_writes(const struct query_run *r, struct strbuf *out)
{
	size_t ended[QUERY_TRANSACTIONS + 1] = { 0 };
	array_each(at, &r->at)
		array_each(x, &at->executions)
			ended[x->transaction]++;
	if (ended[QUERY_ROLLED_BACK])
		strbuf_puts(out, "each execution was rolled back; no commit is in the times");
	if (ended[QUERY_COMMITTED])
		strbuf_printf(out, "%severy execution was committed; its commit is in its time",
			      out->length ? "; " : "");
	const struct query_at *which = NULL;
	if (most_grown(r, &which) < GROWN)
		return;
	char from[WORDS], to[WORDS], place[2 * WORDS];
	text_bytes((double)which->executions.items[0].table_bytes, from, sizeof from);
	text_bytes((double)which->executions.items[which->executions.count - 1].table_bytes, to,
		   sizeof to);
	query_place(r, which->query, which->cardinality, place);
	strbuf_printf(out,
		      "; the tables of %s grew from %s to %s meanwhile, so that later executions "
		      "met larger ones%s",
		      place, from, to,
		      ended[QUERY_ROLLED_BACK] ? " (what is rolled back takes room until it is "
						 "vacuumed)"
					       : "");
}

uint64_t query_missing(const struct query_run *r)
{
	uint64_t missing = 0;
	for (size_t i = 0; i < r->at.count; i++)
		if (r->at.items[i].executions.count < r->planned)
			missing += r->planned - r->at.items[i].executions.count;
	return missing;
}

/* ---- words ---- */

const char *query_time_title(enum ttp_time t)
{
	static const char *const titles[TTP_TIMES] = { "elapsed", "Time_calc", "CPU + blocked",
						       "CPU + device" };
	return titles[t];
}

const char *query_time_meaning(enum ttp_time t)
{
	static const char *const meanings[TTP_TIMES] = {
		"elapsed time, from asking to the last row",
		"TTPv2's calculated time: user + system + blocked on I/O, less half of IOWait",
		"user + system time of the query's processes, and the time they were blocked on "
		"I/O",
		"user + system time of the query's processes, and the time that devices served "
		"them",
	};
	return meanings[t];
}

void query_name(const struct query_run *r, uint32_t query, char out[WORDS])
{
	for (size_t i = 0; i < r->texts.count; i++) {
		const struct query_text *t = &r->texts.items[i];
		if (t->query == query && t->name && *t->name) {
			text_display(t->name, out, WORDS);
			return;
		}
	}
	snprintf(out, WORDS, "query %u", query);
}

void query_place(const struct query_run *r, uint32_t query, uint64_t cardinality,
		 char out[2 * WORDS])
{
	char name[WORDS], rows[WORDS];
	query_name(r, query, name);
	format_count(cardinality, rows);
	if (cardinality)
		snprintf(out, 2 * (size_t)WORDS, "%s at %.40s", name, rows);
	else
		snprintf(out, 2 * (size_t)WORDS, "%s", name);
}

void format_span(double ns, char out[WORDS])
{
	unsigned long long s = (unsigned long long)(ns / 1e9 + 0.5);
	if (s < 60)
		format_ns(ns, out);
	else if (s < 3600)
		snprintf(out, WORDS, "%llu min %llu s", s / 60, s % 60);
	else
		snprintf(out, WORDS, "%llu h %llu min", s / 3600, s % 3600 / 60);
}

void format_part(uint64_t n, uint64_t of, const char *what, char out[WORDS])
{
	char number[WORDS], all[WORDS], share[WORDS];
	format_count(n, number);
	format_count(of, all);
	format_percent(of ? (double)n / (double)of : 0, share);
	snprintf(out, WORDS, "%.30s of %.30s %s (%.30s)", number, all, what, share);
}

void query_server(const struct query_run *r, char out[WORDS])
{
	static const struct {
		const char *id, *name;
	} names[] = { { "postgresql", "PostgreSQL" },
		      { "mariadb", "MariaDB" },
		      { "mysql", "MySQL" },
		      { "sqlite", "SQLite" } };
	bool known = *r->dbms && strcmp(r->dbms, "?") != 0;
	const char *name = known ? r->dbms : "a DBMS that is not known";
	char version[WORDS] = "";
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		name = strcmp(r->dbms, names[i].id) ? name : names[i].name;
	if (r->version)
		text_display(r->version, version, 80);
	/* most servers begin with their own name */
	if (!strncasecmp(version, name, strlen(name)))
		snprintf(out, WORDS, "%s", version);
	else
		snprintf(out, WORDS, "%.40s%s%.80s", name, *version ? " " : "", version);
}

void put_checks(uint32_t bits, const char *between, struct strbuf *out)
{
	size_t n = 0;
	for (enum ttp_check c = 0; c < TTP_CHECKS; c++)
		if (bits >> c & 1)
			strbuf_printf(out, "%s%s", n++ ? between : "", ttp_check_names[c]);
}

/* ---- text ---- */

struct query_style query_normal_style(const struct query_style *given)
{
	struct query_style s = given ? *given : (struct query_style){ 0 };
	s.style = style_normal(&s.style);
	return s;
}

size_t query_most(const struct query_style *style, size_t most)
{
	return style->all ? SIZE_MAX : most;
}

void put_more(size_t count, size_t most, const char *what, const struct query_style *style,
	      struct strbuf *out)
{
	if (count > query_most(style, most))
		strbuf_printf(out, "and %zu more %s%s\n", count - most, what,
			      count - most == 1 ? "" : "s");
}

/* A copy whose percentages do not break; style_finish() makes plain spaces of it. */
static char *unbroken(const char *text)
{
	struct strbuf out = { 0 };
	for (; *text; text++)
		if (!strncmp(text, " %", 2))
			strbuf_puts(&out, "\u00a0");
		else
			strbuf_putc(&out, *text);
	return strbuf_detach(&out);
}

void put_query_text(const char *first, const char *text, const struct query_style *style,
		    struct strbuf *out)
{
	FREED char *shown = unbroken(text);
	size_t indent = strspn(first, " ");
	put_paragraph(out,
		      &(struct paragraph){ .width = style->style.width,
					   .indent = *first ? indent + 2 : 0,
					   .first = first },
		      shown);
}

void put_query_fact(const char *label, const char *text, const struct query_style *style,
		    struct strbuf *out)
{
	char first[LABEL + 16], *shown = unbroken(text);
	snprintf(first, sizeof first, "  %-*.20s", LABEL - 2, label);
	put_paragraph(
		out,
		&(struct paragraph){ .width = style->style.width, .indent = LABEL, .first = first },
		shown);
	xfree(shown);
}
