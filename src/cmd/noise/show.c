/* tare noise show: runs of noise, found and printed. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "cmd/cmd.h"
#include "cmd/noise/noise.h"
#include "collect/collect.h"
#include "run/find.h"

/* *id 0: there is none. */
static int get_baseline(struct lab *lab, const struct machine *m, int64_t *id, struct error *err)
{
	struct machine here = { 0 };
	if (!m)
		machine_read(&here);
	int failed = lab_get_baseline(lab, m ? m : &here, id, err);
	machine_release(&here);
	return failed;
}

int noise_find_baseline(struct lab *lab, const struct machine *m, int64_t *id, struct error *err)
{
	if (get_baseline(lab, m, id, err))
		return -1;
	if (*id)
		return 0;
	error_set(err, EXIT_USAGE, "there is no baseline of this machine in %s", lab_path(lab));
	return error_hint(err, "'tare noise record --baseline' makes one");
}

int noise_find(struct lab *lab, const char *text, const struct machine *m, int64_t *id,
	       struct error *err)
{
	/* of one that is going there may be nothing in the lab yet */
	const unsigned kinds = LAB_OF(SUBJECT_CPU) | LAB_SETTLED;
	struct error none = ERROR_INIT;
	if (strcmp(text, "baseline") != 0)
		return run_find(lab, text, kinds, id, err);
	if (get_baseline(lab, m, id, err))
		return -1;
	if (*id || run_find(lab, text, kinds, id, &none) == 0) /* a run may be called so */
		return 0;
	return noise_find_baseline(lab, m, id, err);
}

/* ---- printed ---- */

struct noise_style noise_style_of(const struct noise_display *d)
{
	return (struct noise_style){ .style = { .width = (size_t)cmd_columns(),
						.colour = cmd_colour() },
				     .mode = (enum noise_mode)d->mode,
				     .per_cpu = d->per_cpu,
				     .most = (uint32_t)d->most,
				     .density = d->density,
				     .histograms = d->histogram };
}

void noise_render(const struct loaded_run *l, enum run_form_as as, const struct noise_display *d,
		  struct strbuf *out)
{
	const struct noise_view v = loaded_noise(l);
	struct noise_style style = noise_style_of(d);
	if (as == RUN_TEXT) {
		noise_text(&v, &style, out);
	} else if (as == RUN_JSON) {
		noise_json(&v, out);
	} else if (as == RUN_PERFETTO) {
		noise_perfetto(&v, out);
	} else {
		style.most = 0; /* for programs: all rows, whatever people see */
		struct table *t = style.histograms ? noise_histogram_table(&v)
						   : noise_sources_table(&v, &style);
		table_render(t, TABLE_CSV, NULL, out);
		table_free(t);
	}
}

bool noise_to_stdout(const struct noise_display *d)
{
	const char *paths[] = { d->export_json, d->export_csv, d->export_perfetto };
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
		if (paths[i] && strcmp(paths[i], "-") == 0)
			return true;
	return d->json;
}

int noise_print(const struct loaded_run *l, const struct noise_display *d, bool quiet,
		const struct noise_options *hist, struct error *err)
{
	const struct {
		const char *path;
		enum run_form_as as;
	} exports[] = { { d->export_json, RUN_JSON },
			{ d->export_csv, RUN_CSV },
			{ d->export_perfetto, RUN_PERFETTO },
			{ d->json ? "-" : NULL, RUN_JSON } };
	const struct noise_view view = loaded_noise(l);
	const struct noise_style style = noise_style_of(d);
	const struct style screen = cmd_plot_style();
	SCOPED(strbuf_release) struct strbuf out = { 0 };
	bool text = !quiet && !noise_to_stdout(d);
	if (text && d->high_ns) {
		noise_zoom(&view, d->low_ns, d->high_ns, &style, &out);
	} else if (text && !hist) {
		noise_text(&view, &style, &out);
	} else if (text) {
		size_t lines = 0;
		noise_hist(&view, hist->bucket_ns, (uint32_t)hist->entries, &out);
		for (const char *c = strbuf_text(&out); *c; c++)
			lines += *c == '\n';
		/* what is longer than the screen is followed by a plot: that is seen of it then */
		if (plot_wanted(&screen, lines))
			plot_noise(&view, &screen, &out);
	}
	fputs(strbuf_text(&out), stdout);
	fflush(stdout);
	int failed = 0;
	for (size_t i = 0; i < sizeof exports / sizeof *exports && !failed; i++) {
		strbuf_clear(&out);
		if (!exports[i].path)
			continue;
		noise_render(l, exports[i].as, d, &out);
		failed = file_write(exports[i].path, strbuf_text(&out), out.length, err);
	}
	return failed;
}

/* ---- the command ---- */

static int show(void *options, const struct cmd_args *args, struct error *err)
{
	struct noise_display *d = options;
	SCOPED(loaded_run_release) struct loaded_run l = { 0 };
	struct lab *lab;
	int64_t id;
	if (args->operands.count > 1) {
		error_set(err, EXIT_USAGE, "noise show: one RUN, not %zu", args->operands.count);
		return error_hint(err, "'tare noise diff BASE RUN' compares two");
	}
	const char *name = args->operands.count ? args->operands.items[0] : "last";
	int failed = noise_display_check(d, err) || !(lab = lab_access_open(d->lab, err)) ||
		     noise_find(lab, name, NULL, &id, err) || run_load(&l, lab, id, NULL, err) ||
		     noise_print(&l, d, false, NULL, err);
	return failed ? -1 : EXIT_DONE;
}

int noise_show(struct lab_access *lab, int argc, char **argv)
{
	struct noise_display d = { .most = NOISE_ROWS, .lab = lab };
	FREED spec_list specs = { 0 };
	noise_display_specs(&specs, &d);
	return cmd_run(
		"tare noise show [OPTIONS] [RUN]",
		"A stored run of noise: a number, a name, 'last', 'baseline'; the default is the\n"
		"newest one.\n",
		specs.items, argc, argv, show, &d);
}
