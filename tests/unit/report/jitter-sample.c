/* jitter-sample WHAT: two made-up runs of `tare noise` compared (text, json), or the worst of one
 * as a trace (perfetto): what the schema check and Perfetto's own reader are given, and people who
 * change the layout. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../fixtures/jitter.h"
#include "report/noise/report.h"

static const struct made_source quiet[] = {
	{ NOISE_IRQ, "timer", 250, 3000, 0.1 },
	{ NOISE_SOFTIRQ, "softirq:sched", 40, 1500, 0.3 },
	{ NOISE_SOFTIRQ, "softirq:rcu", 9, 900, 0.3 },
	{ NOISE_THREAD, "sshd", 2, 20000, 0.5 },
	{ NOISE_THREAD, "cron", 1, 200000, 0.2 },
	{ NOISE_STEAL, "steal", 5, 40000, 0.5 },
	{ NOISE_HOST, "host-periodic", 60, 12000, 0.2 },
	{ NOISE_UNEXPLAINED, "unexplained", 30, 400, 0.4 },
};
static const struct made_source busy[] = {
	{ NOISE_IRQ, "timer", 250, 3000, 0.1 },
	{ NOISE_SOFTIRQ, "softirq:sched", 10, 1500, 0.3 },
	{ NOISE_SOFTIRQ, "softirq:rcu", 9, 900, 0.3 },
	{ NOISE_THREAD, "sshd", 2, 20000, 0.5 },
	{ NOISE_STEAL, "steal", 15, 40000, 0.5 },
	{ NOISE_HOST, "host-periodic", 60, 12000, 0.2 },
	{ NOISE_UNEXPLAINED, "unexplained", 30, 400, 0.4 },
	{ NOISE_THREAD, "dummydaemon1", 0.5, 2500000, 0.01 },
	{ NOISE_WORK, "work:a_function_with_a_name_longer_than_others", 3, 60000, 0.3 },
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "text";
	struct made_run how = { .cpus = 2, .parts = strstr(what, "few") ? 3 : 60, .part_s = 1 };
	struct noise base, run;
	struct random seed = { 7 };
	struct error err = ERROR_INIT;
	struct jitter_diff d;
	struct strbuf out = { 0 };
	struct run first = { .id = 12, .name = (char *)"tuned" };
	struct run second = { .name = (char *)"after \xff the upgrade" };
	make_noise(&base, &how, quiet, COUNT(quiet), &seed);
	make_noise(&run, &how, busy, COUNT(busy), &seed);
	make_worst(&run);
	if (strstr(what, "unlike")) {
		base.kernel = false;
		base.cpus.items[0].threshold_ns = 250;
	}
	struct noise_view of_base = { &first, &base, NULL }, of_run = { &second, &run, NULL };
	struct noise_style style = { .style.colour = isatty(1), .density = true };
	if (jitter_compare(&base, &run, &d, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	if (!strcmp(what, "perfetto"))
		noise_perfetto(&of_run, &out);
	else if (!strncmp(what, "json", 4))
		noise_diff_json(&of_base, &of_run, &d, &out);
	else
		noise_diff_text(&of_base, &of_run, &d, &style, &out);
	fwrite(out.text, 1, out.length, stdout);
	strbuf_release(&out);
	jitter_diff_release(&d);
	noise_release(&base);
	noise_release(&run);
	return 0;
}
