#include "report/query/rows.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define LABEL 14

/* ---- figures ---- */

static bool cpu_of(const struct query_execution *x, double *ns)
{
	*ns = (double)query_cpu_ns(x, QUERY_QUERY);
	return !(x->usage[QUERY_QUERY].missing & (1u << QUERY_USER_NS | 1u << QUERY_SYSTEM_NS));
}

static bool device_of(const struct query_execution *x, double *ns)
{
	*ns = (double)x->own_device_ns;
	return x->own_device_ns != ABSENT_NS;
}

static bool blocked_of(const struct query_execution *x, double *ns)
{
	*ns = (double)x->usage[QUERY_QUERY].value[QUERY_BLKIO_NS];
	return !(x->usage[QUERY_QUERY].missing >> QUERY_BLKIO_NS & 1);
}

static int by_value(const void *a, const void *b)
{
	double p = *(const double *)a, q = *(const double *)b;
	return p < q ? -1 : p > q;
}

/* Of the executions kept; not present when one of them does not have it. */
static struct ttp_figure figure_of(const struct query_row *row,
				   bool (*get)(const struct query_execution *, double *))
{
	size_t n = 0;
	bool known = true;
	double *each = xcalloc(row->at->executions.count + 1, sizeof *each);
	for (size_t k = 0; k < row->at->executions.count; k++)
		if (!row->fired[k])
			known = get(&row->at->executions.items[k], &each[n++]) && known;
	struct ttp_figure f = { .present = known && n > 0 };
	for (size_t i = 0; i < n; i++)
		f.mean_ns += each[i] / (double)n;
	for (size_t i = 0; i < n && n > 1; i++)
		f.sigma_ns += pow(each[i] - f.mean_ns, 2) / (double)(n - 1);
	f.sigma_ns = sqrt(f.sigma_ns);
	if (n) {
		qsort(each, n, sizeof *each, by_value);
		f.median_ns = (each[(n - 1) / 2] + each[n / 2]) / 2;
	}
	xfree(each);
	return f;
}

bool query_sigma(const struct ttp_figure *f, size_t executions, double *ns)
{
	double unit = f->sigma_ns > 0 ? pow(10, floor(log10(f->sigma_ns)) - 1) : 1;
	*ns = round(f->sigma_ns / unit) * unit;
	return f->present && executions > 1;
}

/* Whether caches were cold or warm has nothing to do with what is dropped. */
static double read_share_of(const struct query_at *at)
{
	double bytes = 0, n = 0;
	for (size_t k = 0; k < at->executions.count; k++) {
		const struct query_execution *x = &at->executions.items[k];
		if (x->outcome == QUERY_TIMED_OUT || x->read_bytes == ABSENT_NS)
			continue;
		bytes += (double)x->read_bytes;
		n++;
	}
	return n > 0 && at->table_bytes ? bytes / n / (double)at->table_bytes : NAN;
}

/* ---- plans ---- */

static uint64_t plan_of(const struct query_at *at)
{
	return at->executions.count ? at->executions.items[0].plan : 0;
}

static bool has_several(const struct query_at *at)
{
	for (size_t k = 1; k < at->executions.count; k++)
		if (at->executions.items[k].plan != at->executions.items[0].plan)
			return true;
	return false;
}

/* Of one query, whose rows are [first, end). */
static void letter_plans(struct query_row *rows, size_t first, size_t end)
{
	int next = 0;
	for (size_t i = end; i-- > first;) {
		uint64_t hash = plan_of(rows[i].at);
		rows[i].plan = -1;
		for (size_t k = end; hash && --k > i;)
			if (plan_of(rows[k].at) == hash)
				rows[i].plan = rows[k].plan;
		if (hash && rows[i].plan < 0)
			rows[i].plan = next++;
	}
}

void plan_letter(int plan, char out[16])
{
	char reversed[16];
	size_t n = 0;
	if (plan < 0) {
		snprintf(out, 16, "-");
		return;
	}
	for (int left = plan + 1; left > 0; left = (left - 1) / 26)
		reversed[n++] = (char)('A' + (left - 1) % 26);
	for (size_t i = 0; i < n; i++)
		out[i] = reversed[n - 1 - i];
	out[n] = '\0';
}

const struct query_plan *query_plan_of(const struct query_run *r, uint64_t hash)
{
	for (size_t i = 0; i < r->plans.count; i++)
		if (r->plans.items[i].hash == hash)
			return &r->plans.items[i];
	return NULL;
}

/* ---- rows ---- */

static void fill_row(struct query_row *row, enum ttp_time time)
{
	row->cpu = figure_of(row, cpu_of);
	row->device = figure_of(row, device_of);
	row->blocked = figure_of(row, blocked_of);
	row->time = row->verdict->times[time];
	row->io = time == TTP_DEVICE	? row->device
		  : time == TTP_BLOCKED ? row->blocked
					: (struct ttp_figure){ 0 };
	row->plans = has_several(row->at);
	row->read_share = read_share_of(row->at);
}

void query_rows_of(const struct query_view *v, struct query_rows *out)
{
	const struct query_run *run = v->data;
	const uint32_t *fired = v->result->fired;
	double sum = 0, n = 0;
	*out = (struct query_rows){ .time = ttp_best_time(run, v->result) };
	for (size_t i = 0; i < run->at.count; i++) {
		struct query_row row = { .at = &run->at.items[i],
					 .verdict = &v->result->at[i],
					 .fired = fired };
		fired += row.at->executions.count;
		fill_row(&row, out->time);
		if (!row.verdict->drop && row.time.present && row.time.mean_ns > 0) {
			sum += row.time.sigma_ns / row.time.mean_ns;
			n++;
		}
		array_push(&out->list, row);
	}
	for (size_t first = 0, end; first < out->list.count; first = end) {
		for (end = first;
		     end < out->list.count &&
		     out->list.items[end].at->query == out->list.items[first].at->query;)
			end++;
		letter_plans(out->list.items, first, end);
	}
	out->relative_error = n > 0 ? sum / n : NAN;
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
			strbuf_printf(out, "%s%s", n++ ? between : "", ttp_check_name(c));
}

/* ---- text ---- */

struct query_style query_normal_style(const struct query_style *given)
{
	struct query_style s = given ? *given : (struct query_style){ 0 };
	s.width = s.width <= 0 ? 80 : s.width < 60 ? 60 : s.width;
	return s;
}

void query_finish(const struct query_style *style, struct strbuf *out, size_t from)
{
	style_finish(&(struct style){ .ascii = style->ascii }, out, from);
}

void query_render(struct table *t, const struct query_style *style, struct strbuf *out)
{
	table_render(t, TABLE_TEXT,
		     &(struct style){ .width = (size_t)style->width, .colour = style->colour },
		     out);
	table_free(t);
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

/* A copy whose percentages do not break; query_finish() makes plain spaces of it. */
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
	char *shown = unbroken(text);
	size_t indent = strspn(first, " ");
	put_paragraph(out,
		      &(struct paragraph){ .width = (size_t)style->width,
					   .indent = *first ? indent + 2 : 0,
					   .first = first },
		      shown);
	xfree(shown);
}

void put_query_fact(const char *label, const char *text, const struct query_style *style,
		    struct strbuf *out)
{
	char first[LABEL + 16], *shown = unbroken(text);
	snprintf(first, sizeof first, "  %-*.20s", LABEL - 2, label);
	put_paragraph(out,
		      &(struct paragraph){
			      .width = (size_t)style->width, .indent = LABEL, .first = first },
		      shown);
	xfree(shown);
}
