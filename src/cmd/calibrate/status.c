/* tare calibrate --watch-status, --watch-stop and --watch-rm: the watch, and what is on record. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "cmd/calibrate/calibrate.h"
#include "cmd/cmd.h"
#include "report/core/json.h"
#include "run/control.h"

/* ---- what is on record ---- */

/* A lab that is not there has nothing on record. */
static void list_watches(struct lab_access *in, lab_watch_list *into)
{
	struct error none = ERROR_INIT;
	struct lab *lab = lab_access_open(in, &none);
	if (lab)
		lab_list_watches(lab, into, &none);
}

static void print_record(const lab_watch_list *list)
{
	static const struct column columns[] = {
		{ "watch", "Watch", COLUMN_COUNT },	   { "begun_at", "Begun", COLUMN_DATE },
		{ "covered", "Covered", COLUMN_DURATION }, { "bursts", "Bursts", COLUMN_COUNT },
		{ "lost", "Lost", COLUMN_COUNT },	   { "bytes", "Size", COLUMN_BYTES },
	};
	if (!list->count)
		return;
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < list->count; i++) {
		const struct watch_row *w = &list->items[i];
		table_add_count(t, w->id);
		table_add_date(t, w->begun_at_ns);
		table_add_number(t, (double)w->covered_ns);
		table_add_count(t, (int64_t)w->bursts);
		table_add_count(t, (int64_t)w->lost);
		table_add_number(t, (double)w->bytes);
	}
	puts("On record:");
	cmd_print_table(t, TABLE_TEXT);
	table_free(t);
}

/* ---- the watch itself ---- */

static void print_status(const json_t *all)
{
	char lab[256], error[512], keep[32];
	text_display(control_text(all, "lab"), lab, sizeof lab);
	text_bytes((double)control_number(all, "keep_bytes"), keep, sizeof keep);
	printf("running: watch %lld, pid %lld, since %s\n", control_number(all, "watch"),
	       control_number(all, "pid"), control_text(all, "since"));
	if (*control_text(all, "until"))
		printf("  ends at %s\n", control_text(all, "until"));
	printf("  %lld bursts stored (the last minute's follow), %lld lost",
	       control_number(all, "bursts"), control_number(all, "lost"));
	if (control_number(all, "held"))
		printf(", %lld held", control_number(all, "held"));
	if (control_number(all, "dropped"))
		printf(", %lld dropped", control_number(all, "dropped"));
	printf("; lab %s", lab);
	if (control_number(all, "keep_bytes"))
		printf(", keeps %s", keep);
	putchar('\n');
	if (*control_text(all, "error")) {
		text_display(control_text(all, "error"), error, sizeof error);
		printf("  could not store: %s\n", error);
	}
}

/* A watch that is going although this user has none: root's, who alone is answered. */
static void hint_at_others(const lab_watch_list *list, struct error *err)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].going)
			error_hint(err,
				   "watch %" PRId64
				   " is going: one that root started answers root alone",
				   list->items[i].id);
}

int calibrate_watch_status(const struct calibrate_options *o, struct error *err)
{
	FREED lab_watch_list list = { 0 };
	json_t *all = control_ask_lab(CONTROL_WATCH, o->lab, "status", err);
	list_watches(o->lab, &list);
	int failed = all ? 0 : -1;
	if (failed && err->code == EXIT_CHECK) {
		hint_at_others(&list, err);
		all = json_pack("{s:b}", "running", 0);
	}
	if (o->json && all) {
		json_object_set_new(all, "format", json_integer(1));
		json_object_set_new(
			all, "record",
			json_shapes(&watch_row_shape, list.items, list.count, sizeof *list.items));
		char *text = json_dumps(all, JSON_INDENT(2));
		puts(text ? text : "{}");
		free(text);
		*err->text = '\0'; /* it is said already */
	} else if (all) {
		if (!failed)
			print_status(all);
		print_record(&list);
	}
	fflush(stdout);
	json_decref(all);
	return failed;
}

int calibrate_watch_stop(const struct calibrate_options *o, struct error *err)
{
	json_t *all = control_ask_lab(CONTROL_WATCH, o->lab, "stop", err);
	if (!all) {
		FREED lab_watch_list list = { 0 };
		list_watches(o->lab, &list);
		if (err->code == EXIT_CHECK)
			hint_at_others(&list, err);
		return -1;
	}
	long long watch = control_number(all, "watch");
	int failed = 0;
	if (*control_text(all, "error"))
		failed = error_set(err, EXIT_ENVIRONMENT,
				   "stopped; of watch %lld not all is in the lab: %s", watch,
				   control_text(all, "error"));
	else if (!o->quiet)
		printf("stopped: watch %lld, %lld bursts\n'tare calibrate --from-watch' studies "
		       "it\n",
		       watch, control_number(all, "bursts"));
	json_decref(all);
	return failed;
}

int calibrate_watch_remove(const struct calibrate_options *o, struct error *err)
{
	struct lab *lab = NULL;
	int failed = !(lab = lab_access_open(o->lab, err)) ||
		     lab_remove_watch(lab, o->removed, err);
	if (!failed && !o->quiet)
		printf("removed: watch %" PRId64 "\n", o->removed);
	return failed ? -1 : 0;
}
