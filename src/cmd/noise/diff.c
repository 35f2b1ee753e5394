/* tare noise diff: what of a run's noise the baseline does not have. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/noise/noise.h"

struct diff_options {
	struct lab_access *lab;
	const char *new;
	bool json, density;
	long most;
	double grown; /* negative: not given */
};

/* The baseline is that of the machine that the run was made on. */
static int load_both(const struct diff_options *o, const text_list *operands,
		     struct loaded_run *base, struct loaded_run *run, struct error *err)
{
	struct lab *lab = lab_access_open(o->lab, err);
	int64_t base_id, run_id;
	size_t n = operands->count;
	const char *base_name = n == 2 ? operands->items[0] : NULL;
	int failed = !lab ||
		     noise_find(lab, n ? operands->items[n - 1] : "last", NULL, &run_id, err) ||
		     run_load(run, lab, run_id, NULL, err);
	const struct machine *m = run->machine.facts.count ? &run->machine : NULL;
	if (!failed)
		failed = base_name ? noise_find(lab, base_name, m, &base_id, err)
				   : noise_find_baseline(lab, m, &base_id, err);
	if (!failed && !base_name && base_id == run_id) {
		failed = error_set(err, EXIT_USAGE, "run %" PRId64 " is the baseline itself",
				   run_id);
		error_hint(err, "'tare noise' records another to be compared with it");
	}
	if (!failed)
		failed = run_load(base, lab, base_id, NULL, err);
	return failed;
}

/* Whether a new source was once that long, said on stderr; -1 if that cannot be told. */
static int judge_new(const struct loaded_run *base, const struct loaded_run *run,
		     const struct jitter_diff *d, uint64_t limit_ns, struct error *err)
{
	int bad = 0;
	if (!base->noise.kernel || !run->noise.kernel) {
		error_set(err, EXIT_NOT_KNOWN,
			  "whether a source is new cannot be told: %s has no names",
			  run->noise.kernel ? "the baseline" : "the run");
		return error_hint(err, "names need root, or CAP_BPF and CAP_PERFMON");
	}
	for (size_t i = 0; i < d->sources.count; i++) {
		const struct jitter_source_diff *s = &d->sources.items[i];
		if (s->change != JITTER_NEW || s->run_max_ns < limit_ns)
			continue;
		fprintf(stderr, "tare: new source %s (%s): up to %s, at least %s\n",
			DISPLAYED(s->name, 64), noise_class_names[s->class],
			AS_DURATION((double)s->run_max_ns, 3), AS_DURATION((double)limit_ns, 3));
		bad = 1;
	}
	return bad;
}

/* The same when the time lost grew by more than this share. */
static int judge_grown(const struct jitter_diff *d, double share, struct error *err)
{
	if (isnan(d->ratio_low)) {
		error_set(
			err, EXIT_NOT_KNOWN,
			"whether the noise grew cannot be told: the rounds are too few or too uneven");
		return error_hint(err, "longer runs tell, of at least 4 rounds each");
	}
	if (d->ratio_low <= 1 + share)
		return 0;
	fprintf(stderr,
		"tare: the noise grew by more than %.3g %%: %.3g times as much time lost "
		"(95 %%: %.3g to %.3g)\n",
		share * 100, d->ratio, d->ratio_low, d->ratio_high);
	return 1;
}

static int compare(void *options, const struct cmd_args *args, struct error *err)
{
	const struct diff_options *o = options;
	SCOPED(loaded_run_release) struct loaded_run base = { 0 }, run = { 0 };
	struct jitter_diff d = { 0 };
	SCOPED(strbuf_release) struct strbuf out = { 0 };
	uint64_t new_ns = NOISE_NOT_GIVEN;
	bool bad = false;
	if (args->operands.count > 2)
		return error_set(err, EXIT_USAGE, "noise diff: one BASE and one RUN");
	if (o->new &&noise_time("fail-if-new", o->new, "0 or a time with its unit", &new_ns, err))
		return -1;
	int failed = load_both(o, &args->operands, &base, &run, err) ||
		     jitter_compare(&base.noise, &run.noise, &d, err);
	if (!failed) {
		struct noise_view a = loaded_noise(&base), b = loaded_noise(&run);
		const struct noise_display display = { .most = o->most, .density = o->density };
		struct noise_style style = noise_style_of(&display);
		if (o->json)
			noise_diff_json(&a, &b, &d, &out);
		else
			noise_diff_text(&a, &b, &d, &style, &out);
		fputs(strbuf_text(&out), stdout);
		fflush(stdout);
		/* a sure worsening outweighs what cannot be told */
		struct error other = ERROR_INIT;
		int new = new_ns == NOISE_NOT_GIVEN ? 0 : judge_new(&base, &run, &d, new_ns, err);
		int grown = o->grown < 0 ? 0 : judge_grown(&d, o->grown, new < 0 ? &other : err);
		bad = new > 0 || grown > 0;
		failed = !bad && (new < 0 || grown < 0);
		jitter_diff_release(&d);
	}
	return failed ? -1 : bad ? EXIT_CHECK : EXIT_DONE;
}

int noise_diff(struct lab_access *lab, int argc, char **argv)
{
	struct diff_options o = { .lab = lab, .grown = -1, .most = NOISE_ROWS };
	struct option_spec specs[] = {
		{ 0, "fail-if-new", OPTION_TEXT, &o.new, "TIME",
		  "exit with 1 if a new source once took so long, as 50us" },
		{ 0, "fail-if-grown", OPTION_FRACTION, &o.grown, "SHARE",
		  "exit with 1 if more time is lost, as 10%" },
		{ 0, "most", OPTION_INTEGER, &o.most, "NUM", "rows (default: 20; 0: all)" },
		{ 0, "density", OPTION_FLAG, &o.density, NULL, "with the densities, drawn" },
		{ 0, "json", OPTION_FLAG, &o.json, NULL, "JSON on standard output" },
		{ 0, "lab", OPTION_TEXT, &lab->file, "FILE", "the lab (default: your own)" },
		{ 0 }
	};
	return cmd_run(
		"tare noise diff [OPTIONS] [[BASE] RUN]",
		"Which sources of noise RUN has and BASE lacks, which grew, and how sure that is.\n"
		"Without BASE: the baseline of the machine; without RUN: the newest run of noise.\n",
		specs, argc, argv, compare, &o);
}
