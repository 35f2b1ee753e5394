/* tare noise show, and what `tare show` and `tare export` do with a run of noise. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/noise/noise.h"
#include "collect/collect.h"

/* ---- runs ---- */

int noise_load(struct noise_loaded *into, struct lab *lab, int64_t run, struct error *err)
{
	*into = (struct noise_loaded){ 0 };
	if (cmd_load_run(lab, run, &into->run, &into->machine, err) == 0 &&
	    lab_get_noise(lab, run, &into->noise, err) == 0)
		return 0;
	noise_loaded_release(into);
	return -1;
}

void noise_loaded_release(struct noise_loaded *l)
{
	run_release(&l->run);
	noise_release(&l->noise);
	machine_release(&l->machine);
	*l = (struct noise_loaded){ 0 };
}

struct noise_view noise_loaded_view(const struct noise_loaded *l)
{
	return (struct noise_view){ .run = &l->run,
				    .noise = &l->noise,
				    .machine = l->machine.facts.count ? &l->machine : NULL };
}

static int find_newest(struct lab *lab, int64_t *id, struct error *err)
{
	/* of one that is going there may be nothing in the lab yet */
	int failed = cmd_newest_run(lab, SUBJECT_CPU, true, id, err);
	if (failed || *id)
		return failed;
	error_set(err, EXIT_USAGE, "there is no run of 'tare noise' in %s", lab_path(lab));
	return error_hint(err, "'tare noise' makes one");
}

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
	struct error none = ERROR_INIT;
	if (!text)
		return find_newest(lab, id, err);
	if (strcmp(text, "baseline") != 0)
		return lab_find_run(lab, text, id, err);
	if (get_baseline(lab, m, id, err))
		return -1;
	if (*id || lab_find_run(lab, text, id, &none) == 0) /* a run may be called so */
		return 0;
	return noise_find_baseline(lab, m, id, err);
}

/* ---- printed ---- */

struct noise_style noise_style_of(const struct noise_display *d)
{
	return (struct noise_style){ .width = (size_t)cmd_columns(),
				     .colour = cmd_colour(),
				     .mode = (enum noise_mode)d->mode,
				     .per_cpu = d->per_cpu,
				     .most = (uint32_t)d->most,
				     .density = d->density,
				     .histograms = d->histogram };
}

static int write_as(const struct noise_view *v, enum noise_export as, const char *path,
		    const struct noise_style *style, struct error *err)
{
	struct strbuf out = { 0 };
	if (as == NOISE_AS_JSON) {
		noise_json(v, &out);
	} else if (as == NOISE_AS_PERFETTO) {
		noise_perfetto(v, &out);
	} else {
		/* for programs: all rows, whatever people see */
		struct noise_style all = *style;
		all.most = 0;
		struct table *t = style->histograms ? noise_histogram_table(v)
						    : noise_sources_table(v, &all);
		table_render(t, TABLE_CSV, NULL, &out);
		table_free(t);
	}
	int failed = file_write(path, strbuf_text(&out), out.length, err);
	strbuf_release(&out);
	return failed;
}

static int write_exports(const struct noise_view *v, const struct noise_display *d,
			 const struct noise_style *style, struct error *err)
{
	const struct {
		const char *path;
		enum noise_export as;
	} exports[] = { { d->export_json, NOISE_AS_JSON },
			{ d->export_csv, NOISE_AS_CSV },
			{ d->export_perfetto, NOISE_AS_PERFETTO },
			{ d->json ? "-" : NULL, NOISE_AS_JSON } };
	for (size_t i = 0; i < sizeof exports / sizeof *exports; i++)
		if (exports[i].path && write_as(v, exports[i].as, exports[i].path, style, err))
			return -1;
	return 0;
}

bool noise_to_stdout(const struct noise_display *d)
{
	const char *paths[] = { d->export_json, d->export_csv, d->export_perfetto };
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
		if (paths[i] && strcmp(paths[i], "-") == 0)
			return true;
	return d->json;
}

/* What is longer than the screen is followed by a plot, which is what is seen of it then. */
static void put_hist(const struct noise_view *v, const struct noise_options *hist,
		     struct strbuf *out)
{
	const struct plot_style style = cmd_plot_style();
	size_t lines = 0;
	noise_hist(v, hist->bucket_ns, (uint32_t)hist->entries, out);
	for (const char *c = strbuf_text(out); *c; c++)
		lines += *c == '\n';
	if (plot_wanted(&style, lines))
		plot_noise(v, &style, out);
}

int noise_print(const struct noise_loaded *l, const struct noise_display *d, bool quiet,
		const struct noise_options *hist, struct error *err)
{
	struct noise_view view = noise_loaded_view(l);
	struct noise_style style = noise_style_of(d);
	struct strbuf out = { 0 };
	if (!quiet && !noise_to_stdout(d)) {
		if (d->high_ns)
			noise_zoom(&view, d->low_ns, d->high_ns, &style, &out);
		else if (hist)
			put_hist(&view, hist, &out);
		else
			noise_text(&view, &style, &out);
	}
	fputs(strbuf_text(&out), stdout);
	fflush(stdout);
	strbuf_release(&out);
	return write_exports(&view, d, &style, err);
}

/* ---- for the other commands ---- */

int noise_show_stored(struct lab *lab, int64_t run, const struct noise_display *d,
		      struct error *err)
{
	struct noise_loaded l = { 0 };
	int failed = noise_load(&l, lab, run, err) || noise_print(&l, d, false, NULL, err);
	noise_loaded_release(&l);
	return failed;
}

int noise_export(struct lab *lab, int64_t run, enum noise_export as, const char *path,
		 struct error *err)
{
	struct noise_loaded l = { 0 };
	const struct noise_style style = { 0 };
	int failed = noise_load(&l, lab, run, err);
	if (!failed) {
		struct noise_view view = noise_loaded_view(&l);
		failed = write_as(&view, as, path, &style, err);
	}
	noise_loaded_release(&l);
	return failed;
}

/* ---- the command ---- */

static int show(const char *name, const struct noise_display *d, struct error *err)
{
	struct lab *lab = lab_access_open(d->lab, err);
	struct noise_loaded l = { 0 };
	int64_t id;
	int failed = !lab || noise_find(lab, name, NULL, &id, err) ||
		     noise_load(&l, lab, id, err) || noise_print(&l, d, false, NULL, err);
	noise_loaded_release(&l);
	return failed;
}

int noise_show(struct lab_access *lab, int argc, char **argv)
{
	struct noise_display d = { .most = NOISE_ROWS, .lab = lab };
	spec_list specs = { 0 };
	text_list operands = { 0 };
	int code;
	noise_display_specs(&specs, &d);
	noise_specs_end(&specs);
	if (cmd_options(
		    "tare noise show [OPTIONS] [RUN]",
		    "A stored run of noise: a number, a name, 'last', 'baseline'; the default is the\n"
		    "newest one.\n",
		    specs.items, argc, argv, &operands, &code)) {
		struct error err = ERROR_INIT;
		code = EXIT_DONE;
		if (operands.count > 1) {
			error_set(&err, EXIT_USAGE, "noise show: one RUN, not %zu", operands.count);
			error_hint(&err, "'tare noise diff BASE RUN' compares two");
		} else if (!noise_display_check(&d, &err)) {
			show(operands.count ? operands.items[0] : NULL, &d, &err);
		}
		if (*err.text)
			code = cmd_fail(&err);
	}
	array_release(&operands);
	array_release(&specs);
	return code;
}
