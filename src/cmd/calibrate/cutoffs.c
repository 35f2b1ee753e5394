/* tare cutoffs: what is in force on this machine, and editing it. */
#include "cmd/calibrate/cutoffs.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "collect/collect.h"
#include "quiet/quiet.h"
#include "report/study/report.h"

#define DAY_NS INT64_C(86400000000000)

/* ---- what has changed since ---- */

void cutoffs_changes_here(const struct lab_cutoffs *c, const struct machine *now,
			  cutoffs_change_list *into)
{
	const struct quiet_options usual = { 0 };
	struct quiet_status s;
	bool quieted = quiet_is_journalled(&usual) && quiet_look(&usual, &s, NULL) == 0 &&
		       s.quiet && !s.stale;
	cutoffs_changes(&c->machine, now, quieted, into);
}

static void print_changes(const struct lab_cutoffs *c, const struct machine *now)
{
	SCOPED(cutoffs_changes_release) cutoffs_change_list changes = { 0 };
	int64_t days;
	cutoffs_changes_here(c, now, &changes);
	if (changes.count)
		puts("The machine has changed since:");
	for (size_t i = 0; i < changes.count; i++) {
		const struct cutoffs_change *one = &changes.items[i];
		const char *is_now = one->name ? one->now : one->come;
		char then[128], is[128];
		text_display(one->name ? one->then : one->gone ? one->gone : "", then, sizeof then);
		text_display(is_now ? is_now : "", is, sizeof is);
		if (one->name)
			printf("  %s: %s -> %s\n", one->fact, then, is);
		if (one->come)
			printf("  now runs %s\n", is);
		if (one->gone)
			printf("  no longer runs %s\n", then);
	}
	bool old = cutoffs_old(c->made_at_ns, clock_realtime_ns(), &days);
	if (old)
		printf("They are %" PRId64 " days old.\n", days);
	if (old || changes.count)
		puts("'tare calibrate' makes a new study.");
}

/* ---- listing ---- */

static void print_origin(const struct lab_cutoffs *c)
{
	char date[64], age[32];
	text_date(c->made_at_ns, date, sizeof date);
	int64_t days = (clock_realtime_ns() - c->made_at_ns) / DAY_NS;
	if (days < 1)
		snprintf(age, sizeof age, "today");
	else
		snprintf(age, sizeof age, "%" PRId64 " day%s ago", days, days == 1 ? "" : "s");
	size_t edited = 0;
	for (size_t i = 0; i < c->cutoffs.count; i++)
		edited += c->cutoffs.items[i].edited;
	if (!c->study)
		printf("In force on this machine, by hand or imported, the oldest of %s (%s)\n",
		       date, age);
	else if (edited)
		printf("In force on this machine: study %" PRId64 " of %s (%s), and %zu by hand or "
		       "imported\n",
		       c->study, date, age, edited);
	else
		printf("In force on this machine: study %" PRId64 " of %s (%s)\n", c->study, date,
		       age);
}

static void print_table(const struct lab_cutoffs *c, enum table_format format)
{
	struct table *t = daemons_cutoffs(c->cutoffs.items, c->cutoffs.count);
	cmd_print_table(t, format);
	table_free(t);
}

/* What a part needs: the lab, this machine, and its cutoffs; and its options. */
struct in_force {
	struct lab_access *access;
	bool json, csv, markdown, all;
	struct lab *lab;
	struct machine machine;
	struct lab_cutoffs now;
};

static int open_in_force(struct in_force *f, struct error *err)
{
	machine_read(&f->machine);
	f->lab = lab_access_open(f->access, err);
	return f->lab ? lab_get_cutoffs(f->lab, &f->machine, &f->now, err) : -1;
}

static void close_in_force(struct in_force *f)
{
	lab_cutoffs_release(&f->now);
	machine_release(&f->machine);
}

static int print_list(void *options, const struct cmd_args *args, struct error *err)
{
	struct in_force *f = options;
	const struct lab_cutoffs *c = &f->now;
	if (args->operands.count)
		return error_set(err, EXIT_USAGE, "cutoffs: unexpected '%.64s'",
				 args->operands.items[0]);
	if (f->json + f->csv + f->markdown > 1)
		return error_set(err, EXIT_USAGE,
				 "cutoffs: --json, --csv and --markdown contradict each other");
	if (open_in_force(f, err))
		return -1;
	if (f->json) {
		json_t *all = cutoffs_to_json(c, &f->machine);
		FREED char *text = json_dumps(all, JSON_INDENT(2));
		puts(text ? text : "{}");
		json_decref(all);
	} else if (f->csv || f->markdown) {
		print_table(c, f->csv ? TABLE_CSV : TABLE_MARKDOWN);
	} else if (!c->cutoffs.count && !c->study) {
		puts("No cutoffs are in force on this machine.\n"
		     "'tare calibrate' finds its daemons and makes them.");
	} else {
		print_origin(c);
		if (c->cutoffs.count)
			print_table(c, TABLE_TEXT);
		else
			puts("It found no daemon that takes a cutoff.");
		print_changes(c, &f->machine);
	}
	return EXIT_DONE;
}

static int list(struct lab_access *lab, int argc, char **argv)
{
	struct in_force f = { .access = lab };
	struct option_spec specs[] = {
		{ 0, "json", OPTION_FLAG, &f.json, NULL, "as JSON, as 'export' writes it" },
		{ 0, "csv", OPTION_FLAG, &f.csv, NULL, "as CSV" },
		{ 0, "markdown", OPTION_FLAG, &f.markdown, NULL, "as a Markdown table" },
		LAB_OPTION(lab, "the lab"),
		{ 0 }
	};
	int code = cmd_run("tare cutoffs [list] [OPTIONS]\n"
			   "       tare cutoffs set DAEMON|ID CUTOFF [--from TIME] [--below TIME]\n"
			   "       tare cutoffs rm ID|DAEMON... | --all\n"
			   "       tare cutoffs export [FILE]\n"
			   "       tare cutoffs import FILE [--force]\n"
			   "       tare cutoffs studies\n"
			   "       tare cutoffs show [STUDY] [--plot]\n"
			   "       tare cutoffs rm-study STUDY...",
			   "The cutoffs in force on this machine: an execution in which a daemon "
			   "used more\nCPU time than its cutoff is dropped by 'tare time'.\n",
			   specs, argc, argv, print_list, &f);
	close_in_force(&f);
	return code;
}

/* ---- editing ---- */

struct wanted {
	struct in_force f;
	const char *from, *below;
	struct cutoff cutoff;
};

static int parse_time(const char *what, const char *text, uint64_t *into, struct error *err)
{
	char shown[64];
	if (duration_parse(text, into) && *into <= INT64_MAX)
		return 0;
	text_display(text, shown, sizeof shown);
	return error_set(err, EXIT_USAGE, "cutoffs set: %s wants a time such as 250ms, not '%s'",
			 what, shown);
}

/* An existing one of that number or range is changed; without a range, the only one there is. */
static int find_edited(const struct lab_cutoffs *now, struct wanted *w, struct error *err)
{
	const struct cutoff *only = NULL;
	size_t ranges = 0;
	long id = 0;
	bool number = !w->from && !w->below && integer_parse(w->cutoff.daemon, 1, INT64_MAX, &id);
	for (size_t i = 0; i < now->cutoffs.count; i++) {
		const struct cutoff *c = &now->cutoffs.items[i];
		if (number && c->id == id) {
			uint64_t cutoff_ns = w->cutoff.cutoff_ns;
			w->cutoff = *c;
			w->cutoff.cutoff_ns = cutoff_ns;
			return 0;
		}
		if (strcmp(c->daemon, w->cutoff.daemon) != 0)
			continue;
		ranges++;
		only = c;
		if (c->from_ns == w->cutoff.from_ns && c->below_ns == w->cutoff.below_ns &&
		    (w->from || w->below || !c->below_ns)) {
			w->cutoff.id = c->id;
			return 0;
		}
	}
	if (w->from || w->below || !only)
		return 0;
	if (ranges > 1) {
		error_set(err, EXIT_USAGE, "%s has cutoffs for %zu ranges of program length",
			  w->cutoff.daemon, ranges);
		return error_hint(err, "say which by its ID, as 'tare cutoffs' lists them");
	}
	w->cutoff.id = only->id;
	w->cutoff.from_ns = only->from_ns;
	w->cutoff.below_ns = only->below_ns;
	return 0;
}

static int put_wanted(void *options, const struct cmd_args *args, struct error *err)
{
	struct wanted *w = options;
	const text_list *words = &args->operands;
	if (words->count != 2) {
		error_set(err, EXIT_USAGE, "cutoffs set takes a DAEMON and a CUTOFF");
		return error_hint(err, "as in: tare cutoffs set rhn_check 281ms");
	}
	if (parse_time("the CUTOFF", words->items[1], &w->cutoff.cutoff_ns, err) ||
	    (w->from && parse_time("--from", w->from, &w->cutoff.from_ns, err)) ||
	    (w->below && parse_time("--below", w->below, &w->cutoff.below_ns, err)))
		return -1;
	if (w->below && w->cutoff.below_ns <= w->cutoff.from_ns)
		return error_set(err, EXIT_USAGE, "cutoffs set: --below is not above --from");
	/* one that is cut off here is still too long for the lab */
	snprintf(w->cutoff.daemon, sizeof w->cutoff.daemon, "%s", words->items[0]);
	return open_in_force(&w->f, err) || find_edited(&w->f.now, w, err)
		       ? -1
		       : lab_put_cutoff(w->f.lab, &w->f.machine, &w->cutoff, err);
}

static int set(struct lab_access *lab, int argc, char **argv)
{
	struct wanted w = { .f.access = lab };
	struct option_spec specs[] = { { 0, "from", OPTION_TEXT, &w.from, "TIME",
					 "for programs that take TIME or longer (default: 0)" },
				       { 0, "below", OPTION_TEXT, &w.below, "TIME",
					 "for programs that take less (default: any)" },
				       LAB_OPTION(lab, "the lab"),
				       { 0 } };
	int code = cmd_run("tare cutoffs set [OPTIONS] DAEMON|ID CUTOFF",
			   "Executions in which DAEMON uses more CPU time than CUTOFF are dropped "
			   "from now\non.\n",
			   specs, argc, argv, put_wanted, &w);
	close_in_force(&w.f);
	return code;
}

/* "3", or all of a daemon. `remove`: else it is only looked for. */
static int remove_named(struct in_force *f, const char *text, bool remove, struct error *err)
{
	long id = 0;
	size_t found = 0;
	bool number = integer_parse(text, 1, INT64_MAX, &id);
	for (size_t i = 0; i < f->now.cutoffs.count; i++) {
		const struct cutoff *c = &f->now.cutoffs.items[i];
		if (number ? c->id != id : strcmp(c->daemon, text) != 0)
			continue;
		if (remove && lab_remove_cutoff(f->lab, &f->machine, c->id, err))
			return -1;
		found++;
	}
	if (found)
		return 0;
	char shown[64];
	text_display(text, shown, sizeof shown);
	error_set(err, EXIT_USAGE, "no cutoff in force on this machine is '%s'", shown);
	return error_hint(err, "'tare cutoffs' lists them");
}

static int remove_cutoffs(void *options, const struct cmd_args *args, struct error *err)
{
	struct in_force *f = options;
	const text_list *names = &args->operands;
	if (open_in_force(f, err))
		return -1;
	if (f->all && names->count)
		return error_set(err, EXIT_USAGE, "cutoffs rm: --all leaves nothing to name");
	if (!f->all && !names->count)
		return error_set(err, EXIT_USAGE, "cutoffs rm takes a number, a DAEMON, or --all");
	if (f->all)
		return f->now.cutoffs.count ? lab_remove_cutoff(f->lab, &f->machine, 0, err) : 0;
	/* none of them when one is wrong */
	for (size_t i = 0; i < 2 * names->count; i++)
		if (remove_named(f, names->items[i % names->count], i >= names->count, err))
			return -1;
	return 0;
}

static int rm(struct lab_access *lab, int argc, char **argv)
{
	struct in_force f = { .access = lab };
	struct option_spec specs[] = { { 0, "all", OPTION_FLAG, &f.all, NULL, "of this machine" },
				       LAB_OPTION(lab, "the lab"),
				       { 0 } };
	int code = cmd_run("tare cutoffs rm [OPTIONS] ID|DAEMON...",
			   "Removes cutoffs; the studies they come from stay.\n", specs, argc, argv,
			   remove_cutoffs, &f);
	close_in_force(&f);
	return code;
}

int cmd_cutoffs(struct lab_access *lab, int argc, char **argv)
{
	static const struct subcommand parts[] = {
		{ "list", list, READS_LAB },
		{ "set", set, WRITES_LAB },
		{ "rm", rm, EDITS_LAB },
		{ "export", cutoffs_export, READS_LAB },
		{ "import", cutoffs_import, WRITES_LAB },
		{ "studies", cutoffs_studies, READS_LAB },
		{ "show", cutoffs_show, READS_LAB },
		{ "rm-study", cutoffs_rm_study, EDITS_LAB },
		{ 0 },
	};
	return cmd_parts(parts, false, lab, argc, argv);
}
