/* Prints a made-up study in a format of report/: what the schema check reads, and people who change
 * the layout. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "report/time/emp.h"
#include "report/time/explain.h"

static void fill(struct fixture f[4])
{
	fixture_init(&f[0], "./prog --size 10", 12, 1000);
	fixture_drop(&f[0], 4, EMP_OUTSIDE,
		     "process time 1009.3 ms, outside 998.1 … 1006.2 ms; kworker/0 ran 8.2 ms "
		     "instead of 1.2 ms");
	fixture_drop(&f[0], 5, EMP_CUTOFF, "cron ran 562 ms, above its cutoff of 281 ms");
	snprintf(f[0].verdicts[5].daemon, sizeof f[0].verdicts[5].daemon, "cron");
	f[0].result.cutoffs = (struct emp_cutoffs){ .count = 16,
						    .hold = 10,
						    .program_ns = 1020000000,
						    .seen = true,
						    .study = 3,
						    .made_at_ns = 1763197953123000000 };
	fixture_ledger(&f[0], false);
	fixture_disturb(&f[0], 7, 61200000);
	fixture_warn(&f[0], "drift", "the elapsed times rise by 0.4 % over the run (p = 0.003)",
		     "Let the machine settle: raise --warmup, or see tare doctor.");
	fixture_parameter(&f[0], "size", "10");
	fixture_init(&f[1], "./prog --size 20", 12, 1905);
	fixture_parameter(&f[1], "size", "20");
	f[1].run.shell = strdup("/bin/sh");
	f[1].run.shell_et_ns = 1234567;
	f[1].run.shell_pt_ns[GRADE_NET] = 800000;
	fixture_judge(&f[1]);
	fixture_ledger(&f[1], true);
	fixture_disturb(&f[1], 9, 250000000);
	fixture_init(&f[2], "./prog --fail 'a|b' \xff", 3, 0.5);
	for (size_t i = 1; i <= 3; i++) {
		f[2].executions[i].status = 1;
		fixture_drop(&f[2], i, EMP_FAILED, "exited with 1");
	}
	fixture_plain(&f[2]);
	f[2].run.status = RUN_FAILED;
	fixture_init(&f[3], "./prog --interrupted", 0, 1);
	f[3].run.status = RUN_INTERRUPTED;
}

static void explain(const struct run_view *view, size_t asked, bool json, const struct style *style,
		    struct strbuf *out)
{
	struct explanation e;
	struct error err = ERROR_INIT;
	if (explain_run(view->executions, view->count, view->result, asked, &e, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	if (json && out->length)
		strbuf_putc(out, ',');
	if (json)
		explain_json(view, &e, out);
	else
		explain_text(view, &e, 0, style, out);
	strbuf_putc(out, '\n');
	explanation_release(&e);
}

/* In the last two executions sshd is above its cutoff. */
static void emp(const struct run_view *view, bool json, const struct style *style,
		struct strbuf *out)
{
	static const struct cutoff cutoff = { .daemon = "sshd", .cutoff_ns = 410500 };
	const struct emp_options options = { .cutoffs = &cutoff, .cutoff_count = 1 };
	struct emp_versions versions;
	emp_size_list sizes = { 0 };
	emp_versions(view->run, view->executions, view->count, view->machine, &options, &versions);
	emp_sizes(view->run, view->executions, view->count, &options, &sizes);
	if (json) {
		strbuf_puts(out, out->length ? "," : "");
		emp_json(view, &versions, &sizes, out);
		strbuf_putc(out, ',');
		emp_json(view, &versions, NULL, out);
	} else {
		emp_text(view, &versions, &sizes, style, out);
	}
	array_release(&sizes);
}

int main(int argc, char **argv)
{
	static struct fixture f[4];
	const char *format = argc > 1 ? argv[1] : "text";
	struct style style = { .colour = isatty(1) };
	struct strbuf out = { 0 };
	fill(f);
	struct run_view views[4] = { f[0].view, f[1].view, f[2].view, f[3].view };
	if (!strcmp(format, "json"))
		time_json(views, 4, 0, &out);
	else if (!strcmp(format, "csv"))
		time_csv(views, 4, 0, &out);
	else if (!strcmp(format, "markdown"))
		time_markup(views, 4, 0, &style, TABLE_MARKDOWN, &out);
	else if (!strcmp(format, "executions") || !strcmp(format, "processes")) {
		bool all = !strcmp(format, "executions");
		struct table *t = all ? time_executions(views, 4) : time_processes(&views[0]);
		table_render(t, all ? TABLE_CSV : TABLE_TEXT, NULL, &out);
		table_free(t);
	} else if (!strcmp(format, "brief")) {
		struct table *t = time_executions_brief(&views[0]);
		table_render(t, TABLE_TEXT, &(struct style){ .width = 80 }, &out);
		table_free(t);
	} else if (!strcmp(format, "ledger")) {
		time_ledger(&views[0], LEDGER_OF_KEPT, &style, &out);
		strbuf_putc(&out, '\n');
		time_ledger(&views[1], LEDGER_OF_KEPT, &style, &out);
		strbuf_putc(&out, '\n');
		time_ledger(&views[1], 9, &style, &out);
	} else if (!strncmp(format, "explain", 7)) {
		for (size_t i = 0; i < 2; i++)
			explain(&views[i], i == 0 ? EXPLAIN_SLOW_ONES : 9,
				!strcmp(format, "explain-json"), &style, &out);
	} else if (!strncmp(format, "emp", 3)) {
		for (size_t i = 0; i < 4; i++)
			emp(&views[i], !strcmp(format, "emp-json"), &style, &out);
	} else
		time_text(views, 4, 0, &style, &out);
	fputs(strbuf_text(&out), stdout);
	strbuf_release(&out);
	for (size_t i = 0; i < 4; i++)
		fixture_release(&f[i]);
	return 0;
}
