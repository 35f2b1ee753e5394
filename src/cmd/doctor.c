/* tare doctor: reads the machine's facts, judges them, prints what disturbs and what mends it. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/doctor_speed.h"
#include "collect/collect.h"
#include "protocol/doctor/doctor.h"
#include "record/machine.h"
#include "report/core/json.h"
#include "report/core/shapes.h"

#define SEVERITIES (SEVERITY_BAD + 1)

struct doctor {
	bool json, all, facts, speed;
	uint64_t duration_ns; /* of --speed */
	int fail_if;	      /* index in "note|warn|bad"; -1: never */
	const char *from;
};

struct tally {
	size_t of[SEVERITIES];
	enum severity worst; /* OK at least */
};

static struct tally tally_of(const finding_list *findings)
{
	struct tally t = { .worst = SEVERITY_OK };
	for (size_t i = 0; i < findings->count; i++) {
		enum severity s = findings->items[i].severity;
		t.of[s]++;
		if (s > t.worst)
			t.worst = s;
	}
	return t;
}

/* Words from column `indent` on, no further than `columns` (a longer word stands alone). Broken
 * lines end in `glue`, so that a command can still be pasted. The cursor is at column `indent`. */
static void print_wrapped(const char *text, size_t indent, size_t columns, const char *glue)
{
	size_t at = indent, reserve = strlen(glue);
	for (bool first = true; *text; first = false) {
		size_t length = strcspn(text, " ");
		FREED char *word = xstrndup(text, length);
		size_t width = text_width(word);
		text += length;
		text += strspn(text, " ");
		if (!first && at + 1 + width + (*text ? reserve : 0) > columns) {
			printf("%s\n%*s", glue, (int)indent, "");
			at = indent;
		} else if (!first) {
			putchar(' ');
			at++;
		}
		fputs(word, stdout);
		at += width;
	}
	putchar('\n');
}

static void print_part(const char *text, size_t columns, const char *glue)
{
	char shown[1024];
	text_display(text, shown, sizeof shown);
	print_wrapped(shown, 8, columns, glue);
}

static void print_finding(const struct finding *f, size_t columns, bool colour)
{
	static const struct {
		const char *label, *paint;
	} grades[SEVERITIES] = {
		[SEVERITY_UNKNOWN] = { "?", "2" },  [SEVERITY_OK] = { "ok", "32" },
		[SEVERITY_NOTE] = { "note", "36" }, [SEVERITY_WARN] = { "WARN", "33" },
		[SEVERITY_BAD] = { "BAD", "1;31" },
	};
	const char *on = colour ? "\033[" : "", *paint = colour ? grades[f->severity].paint : "";
	const char *set = colour ? "m" : "", *off = colour ? "\033[0m" : "";
	printf("%s%s%s%-4s%s    ", on, paint, set, grades[f->severity].label, off);
	char condition[400];
	snprintf(condition, sizeof condition, "%s [%s]", f->condition, f->id);
	print_part(condition, columns, "");
	if (f->severity <= SEVERITY_OK)
		return;
	printf("        ");
	print_part(f->effect, columns, "");
	printf("     %s%s%s->%s ", on, colour ? "2" : "", set, off);
	print_part(f->remedy, columns, f->command ? " \\" : "");
}

static void print_text(const finding_list *findings, bool all)
{
	static const char *const words[SEVERITIES] = {
		[SEVERITY_OK] = "Nothing known stands in the way of measuring here",
		[SEVERITY_NOTE] = "Fit for measuring; report the notes",
		[SEVERITY_WARN] = "Times will vary more than they need to",
		[SEVERITY_BAD] = "Mend the bad ones before measuring here",
	};
	int columns = cmd_columns();
	for (size_t i = 0; i < findings->count; i++)
		if (all || findings->items[i].severity > SEVERITY_OK)
			print_finding(&findings->items[i], columns < 80 ? (size_t)columns : 80,
				      cmd_colour());
	struct tally t = tally_of(findings);
	printf("%s: %zu bad, %zu warn, %zu note, %zu ok.\n", words[t.worst], t.of[SEVERITY_BAD],
	       t.of[SEVERITY_WARN], t.of[SEVERITY_NOTE], t.of[SEVERITY_OK]);
}

static json_t *json_header(const struct machine *m)
{
	char fingerprint[17];
	machine_fingerprint(m, fingerprint);
	return json_pack("{s:s, s:s}", "tare", TARE_VERSION, "fingerprint", fingerprint);
}

static void print_json(json_t *root)
{
	FREED char *text = json_dumps(root, JSON_INDENT(2) | JSON_ENSURE_ASCII);
	puts(text);
	json_decref(root);
}

static void print_findings_json(const struct machine *m, const finding_list *findings, bool all)
{
	struct tally t = tally_of(findings);
	json_t *root = json_header(m), *counts = json_object(), *list = json_array();
	for (unsigned s = SEVERITY_UNKNOWN; s < SEVERITIES; s++)
		json_object_set_new(counts, severity_names[(enum severity)s],
				    json_integer((json_int_t)t.of[s]));
	for (size_t i = 0; i < findings->count; i++)
		if (all || findings->items[i].severity > SEVERITY_OK)
			json_array_append_new(list,
					      json_shape(&finding_shape, &findings->items[i]));
	json_object_set_new(root, "verdict", json_text(severity_names[t.worst]));
	json_object_set_new(root, "counts", counts);
	json_object_set_new(root, "findings", list);
	print_json(root);
}

/* The facts of this machine, or those that a file keeps in the form of --facts. */
static int facts_get(const struct doctor *o, struct machine *m, struct error *err)
{
	if (!o->from) {
		machine_read(m);
		return 0;
	}
	char shown[200];
	size_t length;
	char *text =
		cmd_read_file(o->from, READ_ALL, "cannot read the facts in ", shown, &length, err);
	if (!text)
		return -1;
	machine_from_text(m, text);
	free(text);
	if (m->facts.count)
		return 0;
	error_set(err, EXIT_USAGE, "there are no facts in %s", shown);
	return error_hint(err, "`tare doctor --facts` prints them in the form wanted");
}

static int report(void *options, const struct cmd_args *args, struct error *err)
{
	const struct doctor *o = options;
	struct machine m = { 0 };
	finding_list findings = { 0 };
	if (args->operands.count)
		return error_set(err, EXIT_USAGE,
				 "doctor takes no operands, but was given '%.100s'",
				 args->operands.items[0]);
	if (o->speed && (o->facts || o->from || o->fail_if >= 0))
		return error_set(err, EXIT_USAGE,
				 "doctor: --speed watches instead of judging facts: leave out --%s",
				 o->facts  ? "facts"
				 : o->from ? "from"
					   : "fail-if");
	if (o->speed)
		return doctor_speed(o->duration_ns, o->json, err);
	if (facts_get(o, &m, err))
		return -1;
	doctor_judge(&m, &findings);
	struct tally t = tally_of(&findings);
	if (o->facts && o->json) {
		json_t *root = json_header(&m), *machine = json_machine(&m);
		json_object_set(root, "facts", json_object_get(machine, "facts"));
		json_decref(machine);
		print_json(root);
	} else if (o->facts) {
		FREED char *text = machine_to_text(&m);
		fputs(text, stdout);
	} else if (o->json)
		print_findings_json(&m, &findings, o->all);
	else
		print_text(&findings, o->all);
	array_release(&findings);
	machine_release(&m);
	return o->fail_if >= 0 && (int)t.worst >= SEVERITY_NOTE + o->fail_if ? EXIT_CHECK
									     : EXIT_DONE;
}

int cmd_doctor(struct lab_access *lab, int argc, char **argv)
{
	(void)lab;
	struct doctor o = { .fail_if = -1, .duration_ns = 10000000000u };
	struct option_spec specs[] = {
		{ 'a', "all", OPTION_FLAG, &o.all, NULL,
		  "show what is in order and what is not known too" },
		{ 0, "fail-if", OPTION_CHOICE, &o.fail_if, "note|warn|bad",
		  "exit with 1 when a finding is that grave" },
		{ 0, "facts", OPTION_FLAG, &o.facts, NULL, "print the facts instead, key=value" },
		{ 0, "from", OPTION_TEXT, &o.from, "FILE",
		  "judge the facts in FILE (as --facts printed them; - is standard input)" },
		{ 0, "speed", OPTION_FLAG, &o.speed, NULL,
		  "watch how steady the speed of the CPUs is instead" },
		{ 'd', "duration", OPTION_DURATION, &o.duration_ns, "TIME",
		  "watch for so long (default: 10s)" },
		{ 0, "json", OPTION_FLAG, &o.json, NULL,
		  "print JSON (doctor.schema.json, doctor-speed.schema.json)" },
		{ 0 }
	};
	return cmd_run(
		"tare doctor [OPTIONS]",
		"Judges this machine by EMP's and TTPv2's conditions for measuring, and says for\n"
		"each that is not met what it does and what mends it. Changes nothing.\n",
		specs, argc, argv, report, &o);
}
