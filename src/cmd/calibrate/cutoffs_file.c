/* tare cutoffs export and import: the cutoffs of a machine as a file, and whose they are. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "cmd/calibrate/cutoffs.h"
#include "cmd/cmd.h"
#include "collect/collect.h"
#include "report/core/json.h"

#define KIND "cutoffs"
#define FORMAT 1
#define FILE_MOST 4000000u
#define CUTOFFS_MOST 10000u
#define SECOND_NS INT64_C(1000000000)

/* ---- writing ---- */

json_t *cutoffs_to_json(const struct lab_cutoffs *c, const struct machine *now)
{
	const struct machine *then = c->machine.facts.count ? &c->machine : now;
	json_t *list = json_array(), *changed = json_array();
	cutoffs_change_list changes = { 0 };
	char identity[17], fingerprint[17];
	int64_t days;
	cutoffs_changes_here(c, now, &changes);
	for (size_t i = 0; i < changes.count; i++)
		json_array_append_new(changed,
				      json_pack("{s:s, s:o, s:o}", "fact", changes.items[i].fact,
						"then", json_text(changes.items[i].then), "now",
						json_text(changes.items[i].now)));
	for (size_t i = 0; i < c->cutoffs.count; i++) {
		const struct cutoff *one = &c->cutoffs.items[i];
		json_array_append_new(
			list, json_pack("{s:I, s:o, s:I, s:o, s:I, s:b}", "id", (json_int_t)one->id,
					"daemon", json_text(one->daemon), "from_ns",
					(json_int_t)one->from_ns, "below_ns",
					json_id((int64_t)one->below_ns), "cutoff_ns",
					(json_int_t)one->cutoff_ns, "edited", (int)one->edited));
	}
	machine_identity(now, identity);
	machine_fingerprint(then, fingerprint);
	json_t *machine = json_pack("{s:s, s:s, s:o, s:o, s:o}", "identity", identity,
				    "fingerprint", fingerprint, "host",
				    json_text(machine_get(now, "system.host")), "cpu",
				    json_text(machine_get(now, "cpu.model")), "kernel",
				    json_text(machine_get(then, "kernel.release")));
	bool valid = c->cutoffs.count && !changes.count &&
		     !cutoffs_old(c->made_at_ns, clock_realtime_ns(), &days);
	cutoffs_changes_release(&changes);
	return json_pack("{s:i, s:s, s:o, s:o, s:o, s:b, s:o, s:o}", "format", FORMAT, "kind", KIND,
			 "machine", machine, "study", json_id(c->study), "made_at",
			 json_date(c->made_at_ns), "valid", (int)valid, "changed", changed,
			 "cutoffs", list);
}

/* ---- reading ---- */

static int bad(struct error *err, const char *what)
{
	return error_set(err, EXIT_USAGE, "these are no cutoffs of tare: %s", what);
}

static bool read_ns(const json_t *value, uint64_t *into)
{
	json_int_t n = json_integer_value(value);
	if (!json_is_integer(value) || n < 0)
		return false;
	*into = (uint64_t)n;
	return true;
}

static int read_one(const json_t *item, size_t index, cutoff_list *into, struct error *err)
{
	struct cutoff c = { 0 };
	const json_t *name = json_object_get(item, "daemon");
	const json_t *below = json_object_get(item, "below_ns");
	const char *text = json_string_value(name);
	/* a NUL in its midst would be a shorter name */
	if (!text || strlen(text) != json_string_length(name))
		return error_set(err, EXIT_USAGE, "cutoff %zu of the file has no name of a daemon",
				 index + 1);
	if (!read_ns(json_object_get(item, "from_ns"), &c.from_ns) ||
	    !read_ns(json_object_get(item, "cutoff_ns"), &c.cutoff_ns) ||
	    !(json_is_null(below) || (read_ns(below, &c.below_ns) && c.below_ns > c.from_ns)))
		return error_set(err, EXIT_USAGE,
				 "cutoff %zu of the file: from_ns, below_ns and cutoff_ns must be "
				 "times in ns, below_ns above from_ns or null",
				 index + 1);
	/* one that is cut off here is still too long for the lab */
	snprintf(c.daemon, sizeof c.daemon, "%s", text);
	array_push(into, c);
	return 0;
}

/* As format_iso8601() writes it; null where it is not known. */
static int read_made_at(const json_t *value, struct cutoffs_file *into, struct error *err)
{
	struct tm date = { 0 };
	if (!value || json_is_null(value))
		return 0;
	const char *text = json_string_value(value);
	const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &date) : NULL;
	time_t seconds = rest ? timegm(&date) : 0;
	if (!rest || (*rest != '.' && *rest != 'Z') || seconds <= 0)
		return bad(err, "its \"made_at\" is no date");
	/* a clock that was ahead must not make them young for longer */
	int64_t now = clock_realtime_ns();
	into->made_at_ns = seconds > now / SECOND_NS ? now : seconds * SECOND_NS;
	return 0;
}

static int read_all(const json_t *all, struct cutoffs_file *into, struct error *err)
{
	const char *kind = json_string_value(json_object_get(all, "kind"));
	const json_t *list = json_object_get(all, "cutoffs");
	const json_t *machine = json_object_get(all, "machine");
	const char *identity = json_string_value(json_object_get(machine, "identity"));
	const char *host = json_string_value(json_object_get(machine, "host"));
	if (!kind || strcmp(kind, KIND) != 0)
		return bad(err, "its \"kind\" is not \"" KIND "\"");
	if (json_integer_value(json_object_get(all, "format")) != FORMAT)
		return bad(err, "its \"format\" is not known to this tare");
	if (!identity || strlen(identity) != 16 || strspn(identity, "0123456789abcdef") != 16)
		return bad(err, "it does not say of which machine");
	snprintf(into->identity, sizeof into->identity, "%s", identity);
	text_display(host ? host : "its name is not known", into->host, sizeof into->host);
	if (read_made_at(json_object_get(all, "made_at"), into, err))
		return -1;
	if (!json_is_array(list))
		return bad(err, "\"cutoffs\" is no list");
	if (json_array_size(list) > CUTOFFS_MOST)
		return bad(err, "there are more than 10000");
	for (size_t i = 0; i < json_array_size(list); i++)
		if (read_one(json_array_get(list, i), i, &into->cutoffs, err))
			return -1;
	return 0;
}

int cutoffs_from_json(const char *text, size_t length, struct cutoffs_file *into, struct error *err)
{
	json_error_t why;
	json_t *all = json_loadb(text, length, JSON_REJECT_DUPLICATES, &why);
	if (!all) {
		char shown[128];
		text_display(why.text, shown, sizeof shown);
		return error_set(err, EXIT_USAGE, "these are no cutoffs of tare: line %d: %s",
				 why.line, shown);
	}
	int failed = read_all(all, into, err);
	json_decref(all);
	return failed;
}

/* ---- the commands ---- */

static int export_cutoffs(void *options, const struct cmd_args *args, struct error *err)
{
	SCOPED(machine_release) struct machine now = { 0 };
	SCOPED(lab_cutoffs_release) struct lab_cutoffs c = { 0 };
	if (args->operands.count > 1)
		return error_set(err, EXIT_USAGE, "cutoffs export takes one FILE");
	machine_read(&now);
	struct lab *lab = lab_access_open(options, err);
	int failed = !lab || lab_get_cutoffs(lab, &now, &c, err);
	if (!failed) {
		json_t *all = cutoffs_to_json(&c, &now);
		FREED char *text = json_dumps(all, JSON_INDENT(2));
		SCOPED(strbuf_release) struct strbuf out = { 0 };
		strbuf_printf(&out, "%s\n", text ? text : "{}");
		failed = file_write(args->operands.count ? args->operands.items[0] : "-",
				    strbuf_text(&out), out.length, err);
		json_decref(all);
	}
	return failed ? -1 : EXIT_DONE;
}

int cutoffs_export(struct lab_access *lab, int argc, char **argv)
{
	struct option_spec specs[] = { LAB_OPTION(lab, "the lab"), { 0 } };
	return cmd_run("tare cutoffs export [OPTIONS] [FILE]",
		       "Writes the cutoffs in force on this machine as JSON, with what machine it "
		       "is;\nto standard output without a FILE.\n",
		       specs, argc, argv, export_cutoffs, lab);
}

struct import_options {
	struct lab_access *lab;
	bool force;
};

static int import_cutoffs(void *options, const struct cmd_args *args, struct error *err)
{
	const struct import_options *o = options;
	struct lab *lab;
	SCOPED(machine_release) struct machine now = { 0 };
	struct cutoffs_file file = { 0 };
	char identity[17], shown[200];
	size_t length;
	if (args->operands.count != 1)
		return error_set(err, EXIT_USAGE, "cutoffs import takes one FILE");
	char *text = cmd_read_file(args->operands.items[0], FILE_MOST + 1, "cannot read ", shown,
				   &length, err);
	if (!text)
		return -1;
	machine_read(&now);
	machine_identity(&now, identity);
	int failed = length > FILE_MOST
			     ? error_set(err, EXIT_USAGE, "%s is too large to be cutoffs", shown)
			     : cutoffs_from_json(text, length, &file, err);
	if (!failed && !o->force && strcmp(file.identity, identity) != 0) {
		error_set(err, EXIT_USAGE, "these cutoffs are of another machine (%s)", file.host);
		failed = error_hint(err, "its daemons are not this one's; --force takes them all "
					 "the same");
	}
	failed = failed || !(lab = lab_access_open(o->lab, err)) ||
		 lab_replace_cutoffs(lab, &now, file.cutoffs.items, file.cutoffs.count,
				     file.made_at_ns, err);
	if (!failed)
		printf("%zu cutoff%s imported\n", file.cutoffs.count,
		       file.cutoffs.count == 1 ? "" : "s");
	array_release(&file.cutoffs);
	free(text);
	return failed ? -1 : EXIT_DONE;
}

int cutoffs_import(struct lab_access *lab, int argc, char **argv)
{
	struct import_options o = { .lab = lab };
	struct option_spec specs[] = { { 0, "force", OPTION_FLAG, &o.force, NULL,
					 "also those of another machine" },
				       LAB_OPTION(lab, "the lab"),
				       { 0 } };
	return cmd_run("tare cutoffs import [OPTIONS] FILE",
		       "Takes cutoffs that 'tare cutoffs export' wrote; - is standard input. "
		       "Those of\nthe same daemons are replaced, others stay.\n",
		       specs, argc, argv, import_cutoffs, &o);
}
