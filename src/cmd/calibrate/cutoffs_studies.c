/* tare cutoffs studies, show and rm-study: the studies that cutoffs come from. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/text.h"
#include "cmd/calibrate/calibrate.h"
#include "cmd/calibrate/cutoffs.h"
#include "cmd/cmd.h"
#include "collect/collect.h"

/* ---- listing ---- */

static struct table *studies_table(struct lab *lab, const lab_study_list *list)
{
	static const struct column columns[] = {
		{ "study", "Study", COLUMN_COUNT },
		{ "made_at", "Made", COLUMN_DATE },
		{ "source", "Source", COLUMN_TEXT },
		{ "short", "Short run", COLUMN_DURATION, .digits = 3 },
		{ "long", "Long run", COLUMN_DURATION, .digits = 3 },
		{ "daemons", "Daemons", COLUMN_COUNT },
		{ "cutoffs", "Cutoffs", COLUMN_COUNT },
		{ "machine", "Machine", COLUMN_TEXT },
		{ "in_force", "In force", COLUMN_COUNT },
	};
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < list->count; i++) {
		const struct lab_study_row *s = &list->items[i];
		SCOPED(machine_release) struct machine m = { 0 };
		struct error none = ERROR_INIT;
		const char *host = s->machine && !lab_get_machine(lab, s->machine, &m, &none)
					   ? machine_get(&m, "system.host")
					   : NULL;
		table_add_count(t, s->id);
		table_add_date(t, s->made_at_ns);
		table_add_text(t, study_source_names[s->source]);
		table_add_number(t, s->short_ns ? (double)s->short_ns : NAN);
		table_add_number(t, s->long_ns ? (double)s->long_ns : NAN);
		table_add_count(t, s->daemons);
		table_add_count(t, s->cutoffs);
		table_add_text(t, host);
		table_add_count(t, s->in_force);
	}
	return t;
}

struct studies_options {
	struct lab_access *lab;
	struct calibrate_display d;
};

static int list_studies(void *options, const struct cmd_args *args, struct error *err)
{
	const struct studies_options *o = options;
	lab_study_list list = { 0 };
	if (args->operands.count)
		return error_set(err, EXIT_USAGE, "cutoffs studies takes no operands");
	struct lab *lab = lab_access_open(o->lab, err);
	int failed = !lab || lab_list_studies(lab, &list, err);
	if (!failed && !list.count && !o->d.json) {
		puts("There is no study yet: 'tare calibrate' makes one.");
	} else if (!failed) {
		struct table *t = studies_table(lab, &list);
		cmd_print_table(t, o->d.json ? TABLE_JSON : TABLE_TEXT);
		table_free(t);
	}
	array_release(&list);
	return failed ? -1 : EXIT_DONE;
}

int cutoffs_studies(struct lab_access *lab, int argc, char **argv)
{
	struct studies_options o = { .lab = lab };
	struct option_spec specs[] = { { 0, "json", OPTION_FLAG, &o.d.json, NULL, "as JSON" },
				       LAB_OPTION(lab, "the lab"),
				       { 0 } };
	return cmd_run("tare cutoffs studies [OPTIONS]", "Lists the studies of 'tare calibrate'.\n",
		       specs, argc, argv, list_studies, &o);
}

/* ---- one of them ---- */

int cutoffs_parse_study(const char *text, int64_t *id, struct error *err)
{
	long number;
	char shown[64];
	if (integer_parse(text, 1, INT64_MAX, &number)) {
		*id = number;
		return 0;
	}
	text_display(text, shown, sizeof shown);
	error_set(err, EXIT_USAGE, "a study has a number, unlike '%s'", shown);
	return error_hint(err, "'tare cutoffs studies' lists them");
}

int cutoffs_get_study(struct lab *lab, int64_t id, struct study *into, struct machine *machine,
		      struct error *err)
{
	struct machine now = { 0 };
	bool found = false;
	if (!id)
		machine_read(&now);
	int failed = lab_get_study(lab, &now, id, &found, into, err);
	machine_release(&now);
	if (failed)
		return -1;
	if (!found && id)
		error_set(err, EXIT_USAGE, "there is no study %" PRId64, id);
	else if (!found)
		error_set(err, EXIT_USAGE, "there is no study of this machine yet");
	if (!found)
		return error_hint(err, id ? "'tare cutoffs studies' lists those there are"
					  : "'tare calibrate' makes one");
	return into->machine ? lab_get_machine(lab, into->machine, machine, err) : 0;
}

static int show(void *options, const struct cmd_args *args, struct error *err)
{
	const struct studies_options *o = options;
	const text_list *operands = &args->operands;
	int64_t id = 0;
	SCOPED(study_release) struct study s = { 0 };
	SCOPED(machine_release) struct machine m = { 0 };
	struct study_input in = { .notice = cmd_notice };
	bool *is_l[STUDY_LENGTHS] = { 0 };
	if (operands->count > 1)
		return error_set(err, EXIT_USAGE, "cutoffs show takes one STUDY");
	if (o->d.json && o->d.plot)
		return error_set(err, EXIT_USAGE, "cutoffs show: --plot is no JSON");
	if (operands->count && cutoffs_parse_study(operands->items[0], &id, err))
		return -1;
	struct lab *lab = lab_access_open(o->lab, err);
	int failed = !lab || cutoffs_get_study(lab, id, &s, &m, err) ||
		     (o->d.plot && study_load_samples(lab, &s, &in, is_l, err));
	if (!failed) {
		calibrate_print(&s, s.machine ? &m : NULL, &in, is_l, &o->d);
		if (o->d.plot && !is_l[STUDY_SHORT] && !is_l[STUDY_LONG])
			cmd_notice("no plots: the samples of this study are not in the lab");
	}
	for (int l = 0; l < STUDY_LENGTHS; l++)
		free(is_l[l]);
	study_input_release(&in);
	return failed ? -1 : EXIT_DONE;
}

int cutoffs_show(struct lab_access *lab, int argc, char **argv)
{
	struct studies_options o = { .lab = lab };
	struct option_spec specs[] = { { 0, "plot", OPTION_FLAG, &o.d.plot, NULL,
					 "with plots, where its runs are stored" },
				       { 0, "json", OPTION_FLAG, &o.d.json, NULL, "as JSON" },
				       LAB_OPTION(lab, "the lab"),
				       { 0 } };
	return cmd_run("tare cutoffs show [OPTIONS] [STUDY]",
		       "A stored study again, as 'tare calibrate' printed it; the newest of this "
		       "machine\nwithout a number.\n",
		       specs, argc, argv, show, &o);
}

static int remove_studies(void *options, const struct cmd_args *args, struct error *err)
{
	const text_list *names = &args->operands;
	struct lab *lab = NULL;
	int64_t id;
	if (!names->count)
		return error_set(err, EXIT_USAGE, "cutoffs rm-study takes a STUDY");
	for (size_t i = 0; i < names->count; i++)
		if (cutoffs_parse_study(names->items[i], &id, err))
			return -1;
	int failed = !(lab = lab_access_open(options, err));
	/* none of them when one is wrong */
	for (size_t i = 0; i < 2 * names->count && !failed; i++) {
		bool found = true;
		SCOPED(study_release) struct study s = { 0 };
		failed = cutoffs_parse_study(names->items[i % names->count], &id, err);
		if (!failed && i >= names->count)
			failed = lab_remove_study(lab, id, err);
		else if (!failed)
			failed = lab_get_study(lab, NULL, id, &found, &s, err);
		if (!failed && !found)
			failed = error_set(err, EXIT_USAGE, "there is no study %" PRId64, id);
	}
	return failed ? -1 : EXIT_DONE;
}

int cutoffs_rm_study(struct lab_access *lab, int argc, char **argv)
{
	struct option_spec specs[] = { LAB_OPTION(lab, "the lab"), { 0 } };
	return cmd_run("tare cutoffs rm-study [OPTIONS] STUDY...",
		       "Removes studies with the cutoffs that come from them; their runs stay.\n",
		       specs, argc, argv, remove_studies, lab);
}
