/* tare quiet: makes the machine quiet, around a command or until --restore; says what it changed.
 */
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "quiet/quiet.h"
#include "report/core/json.h"
#include "subject/command.h"

#define END_PATIENCE_NS UINT64_C(5000000000)

struct quiet {
	bool restore, status, dry_run, list, json, all, force, no_aslr, as_root;
	text_list only, except, stop, keep;
	const char *isolate;
	/* made of them */
	word_list only_words, except_words, stop_words, keep_words;
	cpu_set_t set;
	ARRAY(uint32_t) cpus;
	struct quiet_options options;
};

/* ---- what is printed ---- */

static void print_json(const char *name, json_t *value)
{
	json_t *root = json_pack("{s:s, s:o}", "tare", TARE_VERSION, name, value);
	FREED char *text = json_dumps(root, JSON_INDENT(2) | JSON_ENSURE_ASCII);
	puts(text);
	json_decref(root);
}

static void print_list(const struct quiet *q, const quiet_list *items)
{
	static const struct column columns[] = {
		{ "knob", "knob", COLUMN_TEXT },     { "what", "what", COLUMN_TEXT },
		{ "before", "before", COLUMN_TEXT }, { "after", "after", COLUMN_TEXT },
		{ "state", "state", COLUMN_TEXT },
	};
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	json_t *list = json_array();
	size_t counts[QUIET_STATES] = { 0 };
	const char *between = "";
	for (size_t i = 0; i < items->count; i++) {
		const struct quiet_item *item = &items->items[i];
		const char *name = quiet_state_name(item->state);
		bool back = item->state == QUIET_RESTORED || item->state == QUIET_LEFT;
		struct strbuf state = { 0 };
		counts[item->state]++;
		json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:o, s:s, s:o}", "knob",
						      item->knob, "what", json_text(item->what),
						      "before", json_text(item->before), "after",
						      json_text(item->after), "state", name, "why",
						      json_text(item->why)));
		if (!q->all && (item->state == QUIET_ALREADY || item->state == QUIET_ABSENT))
			continue;
		strbuf_printf(&state, "%s%s%s", name, item->why ? ": " : "",
			      item->why ? item->why : "");
		table_add_text(t, item->knob);
		table_add_text(t, item->what);
		table_add_text(t, back ? item->after : item->before);
		table_add_text(t, back ? item->before : item->after);
		table_add_text(t, state.text);
		strbuf_release(&state);
	}
	if (!q->json && table_rows(t))
		cmd_print_table(t, TABLE_TEXT);
	for (int s = 0; s < QUIET_STATES && !q->json; s++) {
		if (!counts[s])
			continue;
		printf("%s%zu %s", between, counts[s], quiet_state_name((enum quiet_state)s));
		between = ", ";
	}
	if (q->json)
		print_json("changes", json_incref(list));
	else
		puts(*between ? "." : "Nothing to do.");
	json_decref(list);
	table_free(t);
}

static int print_knobs(const struct quiet *q)
{
	static const struct column columns[] = {
		{ "knob", "knob", COLUMN_TEXT },
		{ "when", "when", COLUMN_TEXT },
		{ "source", "asked for by", COLUMN_TEXT },
		{ "effect", "effect", COLUMN_TEXT },
	};
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	json_t *list = json_array();
	for (const struct quiet_knob *k = quiet_knobs; k->name; k++) {
		table_add_text(t, k->name);
		table_add_text(t, k->isolates ? "--isolate" : k->by_default ? "default" : "named");
		table_add_text(t, k->source);
		table_add_text(t, k->effect);
		json_array_append_new(list, json_pack("{s:s, s:b, s:b, s:s, s:s}", "name", k->name,
						      "default", (int)k->by_default, "isolates",
						      (int)k->isolates, "source", k->source,
						      "effect", k->effect));
	}
	if (q->json) {
		print_json("knobs", list);
	} else {
		cmd_print_table(t, TABLE_TEXT);
		json_decref(list);
		puts("\nAddress randomisation is a process's own: --no-aslr, here and with tare time.");
	}
	table_free(t);
	return EXIT_DONE;
}

static int print_status(const struct quiet *q, struct error *err)
{
	struct quiet_status s;
	char since[32];
	if (quiet_look(&q->options, &s, err))
		return -1;
	if (q->json) {
		print_json("status",
			   json_pack("{s:b, s:b, s:b, s:i, s:I, s:I}", "quiet", (int)s.quiet,
				     "abandoned", (int)s.abandoned, "stale", (int)s.stale, "owner",
				     s.owner, "since_ns", (json_int_t)s.since_ns, "changes",
				     (json_int_t)s.changes));
		return EXIT_DONE;
	}
	text_date(s.since_ns, since, sizeof since);
	if (!s.quiet)
		puts("Not quiet: nothing is to be put back.");
	else if (s.left)
		printf("Changed since %s by process %d, which has ended: other tares use %zu "
		       "changes and put them back.\n",
		       since, s.owner, s.changes);
	else if (s.owner)
		printf("Quiet since %s by process %d%s: %zu changes are to be put back.\n", since,
		       s.owner, s.abandoned ? ", which is gone" : "", s.changes);
	else
		printf("Quiet since %s until `tare quiet --restore`: %zu changes are to be put "
		       "back.\n",
		       since, s.changes);
	return EXIT_DONE;
}

/* ---- around a command ---- */

/* Waits until it ends; when interrupted, ends it. */
static int wait_for(const struct command *c)
{
	struct pollfd end = { .fd = c->pidfd, .events = POLLIN };
	uint64_t until = 0;
	int status = 0;
	while (waitpid(c->pid, &status, WNOHANG) == 0) {
		if (interrupted() && !until) {
			kill(c->pid, SIGTERM);
			until = clock_monotonic_ns() + END_PATIENCE_NS;
		}
		if (until && clock_monotonic_ns() > until)
			kill(c->pid, SIGKILL);
		ppoll(&end, 1, &(struct timespec){ .tv_nsec = 100000000 }, interrupt_mask());
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Starts it, on the isolated CPUs where there are some. *code: its own. */
static int run_command(const struct quiet *q, struct launcher *l, const struct launch *launch,
		       const text_list *words, int *code, struct error *err)
{
	struct command c = { .pidfd = -1, .output_fd = -1 };
	FREED text_list argv = { 0 };
	for (size_t i = 0; i < words->count; i++)
		array_push(&argv, words->items[i]);
	array_push(&argv, NULL);
	int failed = command_spawn(l, launch, (char *const *)argv.items, &c, err);
	if (!failed) {
		failed = quiet_enter(&q->options, (int)c.pid, err);
		if (failed)
			kill(c.pid, SIGKILL);
		else
			command_start(&c);
		*code = wait_for(&c);
		quiet_left();
		if (!failed)
			failed = command_started(&c, argv.items[0], err);
		command_release(&c);
	}
	return failed;
}

/* What could not be changed is worth a line; what was is not, beside the command's own output. */
static void tell_refused(const quiet_list *items)
{
	for (size_t i = 0; i < items->count; i++) {
		const struct quiet_item *item = &items->items[i];
		if (item->state == QUIET_REFUSED || item->state == QUIET_LEFT)
			fprintf(stderr, "tare: %s %s: %s\n", quiet_state_name(item->state),
				item->what, item->why);
	}
}

static int around(struct quiet *q, const text_list *words)
{
	struct launch launch = { .inherit_input = true,
				 .output = OUTPUT_INHERIT,
				 .no_aslr = q->no_aslr,
				 .as_root = q->as_root,
				 .iteration = -1 };
	struct launcher *l = NULL;
	struct error err = ERROR_INIT;
	quiet_list made = { 0 }, undone = { 0 };
	int code = 0;
	interrupt_watch();
	if (launcher_new(&l, &launch, &err))
		return cmd_fail(&err);
	int failed = quiet_apply(&q->options, (int)getpid(), &made, &err);
	tell_refused(&made);
	/* without a partition the command is at least kept to the CPUs that others are kept from */
	launch.cpus = q->isolate ? &q->set : NULL;
	for (size_t i = 0; i < made.count; i++)
		if (strcmp(made.items[i].knob, "cpuset") == 0 &&
		    made.items[i].state == QUIET_CHANGED)
			launch.cpus = NULL;
	if (!failed && !interrupted())
		failed = run_command(q, l, &launch, words, &code, &err);
	if (failed)
		code = cmd_fail(&err);
	/* without root nothing was changed, and to put it back is one more error */
	if (quiet_is_journalled(&q->options) &&
	    quiet_restore_own(&q->options, (int)getpid(), &undone, &err)) {
		failed = cmd_fail(&err);
		code = code ? code : failed;
	}
	tell_refused(&undone);
	quiet_list_release(&made);
	quiet_list_release(&undone);
	launcher_free(l);
	return interrupted() ? EXIT_INTERRUPTED : code;
}

/* ---- the others ---- */

static int apply(struct quiet *q)
{
	SCOPED(quiet_list_release) quiet_list items = { 0 }, undone = { 0 };
	struct error err = ERROR_INIT;
	int code = EXIT_DONE;
	interrupt_watch();
	if (quiet_apply(&q->options, 0, &items, &err))
		code = cmd_fail(&err);
	if (!code && interrupted()) {
		if (quiet_restore(&q->options, &undone, &err))
			code = cmd_fail(&err);
		tell_refused(&undone);
	}
	if (interrupted())
		code = EXIT_INTERRUPTED;
	if (!code)
		print_list(q, &items);
	return code;
}

static int restore(const struct quiet *q, struct error *err)
{
	SCOPED(quiet_list_release) quiet_list items = { 0 };
	struct quiet_status status;
	struct error ignored = ERROR_INIT;
	interrupt_watch(); /* not half of it */
	if (!q->force && quiet_look(&q->options, &status, &ignored) == 0 && status.quiet &&
	    status.owner && !status.abandoned && !status.stale) {
		error_set(err, EXIT_USAGE,
			  "the machine is quiet for process %d, which still runs and puts "
			  "everything back itself",
			  status.owner);
		return error_hint(err, "'tare quiet --restore --force' does it now");
	}
	int failed = quiet_restore(&q->options, &items, err);
	if (!failed && !items.count && quiet_is_journalled(&q->options))
		failed = error_set(err, EXIT_USAGE,
				   "another tare is at it: changing or putting back right now");
	else if (!failed || items.count)
		print_list(q, &items);
	return failed;
}

/* Commas part names, and the option may be given again. */
static void split(const text_list *given, word_list *out)
{
	for (size_t i = 0; i < given->count; i++)
		for (const char *at = given->items[i]; *at;) {
			size_t n = strcspn(at, ",");
			if (n)
				array_push(out, xstrndup(at, n));
			at += n + (at[n] == ',');
		}
}

static int make_options(struct quiet *q, struct error *err)
{
	if (q->isolate && !cpus_parse(q->isolate, &q->set))
		return error_set(err, EXIT_USAGE, "--isolate takes CPUs like 1,2-3, not '%.64s'",
				 q->isolate);
	for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (q->isolate && CPU_ISSET(cpu, &q->set))
			array_push(&q->cpus, cpu);
	split(&q->only, &q->only_words);
	split(&q->except, &q->except_words);
	split(&q->stop, &q->stop_words);
	split(&q->keep, &q->keep_words);
	q->options = (struct quiet_options){
		.root = getenv("TARE_QUIET_ROOT"),
		.only = (const char *const *)q->only_words.items,
		.only_count = q->only_words.count,
		.except = (const char *const *)q->except_words.items,
		.except_count = q->except_words.count,
		.isolate = q->cpus.items,
		.isolate_count = q->cpus.count,
		.services = (const char *const *)q->stop_words.items,
		.service_count = q->stop_words.count,
		.keep_services = (const char *const *)q->keep_words.items,
		.keep_service_count = q->keep_words.count,
		.force = q->force,
	};
	return 0;
}

static int check(const struct quiet *q, const text_list *command, struct error *err)
{
	int modes = q->restore + q->status + q->dry_run + q->list;
	char shown[64];
	if (modes > 1)
		return error_set(err, EXIT_USAGE,
				 "quiet does one of --restore, --status, --dry-run and --list");
	if (command->count && modes) {
		text_display(command->items[0], shown, sizeof shown);
		return error_set(err, EXIT_USAGE,
				 "quiet runs no command ('%s') with --restore, --status, --dry-run "
				 "or --list",
				 shown);
	}
	if (q->force && !q->restore)
		return error_set(err, EXIT_USAGE, "--force goes with --restore");
	if ((q->no_aslr || q->as_root) && !command->count)
		return error_set(err, EXIT_USAGE, "--no-aslr and --as-root go with a command");
	if (q->json && command->count)
		return error_set(err, EXIT_USAGE, "--json does not go with a command");
	return 0;
}

static int run(void *options, const struct cmd_args *args, struct error *err)
{
	struct quiet *q = options;
	const text_list *command = &args->operands;
	/* an empty variable must not make it quiet for good */
	if (!command->count && strcmp(args->argv[args->argc - 1], "--") == 0)
		return error_set(err, EXIT_USAGE, "quiet: there is no command after --");
	if (check(q, command, err) || make_options(q, err))
		return -1;
	if (q->list)
		return print_knobs(q);
	if (q->status)
		return print_status(q, err);
	if (q->dry_run) {
		SCOPED(quiet_list_release) quiet_list items = { 0 };
		int failed = quiet_plan(&q->options, &items, err);
		if (!failed)
			print_list(q, &items);
		return failed ? -1 : EXIT_DONE;
	}
	if (q->restore)
		return restore(q, err) ? -1 : EXIT_DONE;
	return command->count ? around(q, command) : apply(q);
}

int cmd_quiet(struct lab_access *lab, int argc, char **argv)
{
	(void)lab;
	struct quiet q = { 0 };
	struct option_spec specs[] = {
		{ 'n', "dry-run", OPTION_FLAG, &q.dry_run, NULL,
		  "say what would change; change nothing" },
		{ 'r', "restore", OPTION_FLAG, &q.restore, NULL,
		  "put back exactly what was there" },
		{ 's', "status", OPTION_FLAG, &q.status, NULL,
		  "is the machine quiet, and by whom" },
		{ 'l', "list", OPTION_FLAG, &q.list, NULL,
		  "the knobs, who asks for them, what they do" },
		{ 'o', "only", OPTION_TEXTS, &q.only, "KNOB,...",
		  "only these; 'default' stands for the usual ones" },
		{ 'x', "except", OPTION_TEXTS, &q.except, "KNOB,...", "not these" },
		{ 'i', "isolate", OPTION_TEXT, &q.isolate, "CPUS",
		  "keep other tasks, interrupts and kernel work off these" },
		{ 0, "stop", OPTION_TEXTS, &q.stop, "SERVICE,...", "stop these, too" },
		{ 0, "keep", OPTION_TEXTS, &q.keep, "SERVICE,...", "do not stop these" },
		{ 'a', "all", OPTION_FLAG, &q.all, NULL, "also show what is as wanted or absent" },
		{ 0, "force", OPTION_FLAG, &q.force, NULL,
		  "with --restore: also what others changed meanwhile", .rare = true },
		{ 0, "no-aslr", OPTION_FLAG, &q.no_aslr, NULL,
		  "run the command without address randomisation", .rare = true },
		{ 0, "as-root", OPTION_FLAG, &q.as_root, NULL,
		  "under sudo: run the command as root", .rare = true },
		{ 0, "json", OPTION_FLAG, &q.json, NULL, "print JSON (quiet.schema.json)" },
		{ 0 }
	};
	int code = cmd_run(
		"tare quiet [OPTIONS] [-- COMMAND [ARGUMENT...]]",
		"Makes the machine quiet: around a command, or until --restore. What was there\n"
		"before is kept on disk first, and is put back also after a crash.\n",
		specs, argc, argv, run, &q);
	text_list *const given[] = { &q.only, &q.except, &q.stop, &q.keep };
	word_list *const words[] = { &q.only_words, &q.except_words, &q.stop_words, &q.keep_words };
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
		array_release(given[i]);
		words_release(words[i]);
	}
	array_release(&q.cpus);
	return code;
}

/* ---- after a crash ---- */

void cmd_quiet_recover(void)
{
	struct quiet_options o = { .root = getenv("TARE_QUIET_ROOT") };
	struct quiet_status s;
	struct error err = ERROR_INIT;
	quiet_list items = { 0 };
	char since[32];
	size_t restored = 0;
	if (!quiet_is_journalled(&o))
		return;
	/* an error is met again by whoever asks for the machine to be quiet */
	if (quiet_look(&o, &s, &err) || !(s.abandoned || s.stale))
		return;
	text_date(s.since_ns, since, sizeof since);
	int failed = quiet_restore_abandoned(&o, &items, &err);
	for (size_t i = 0; i < items.count; i++)
		restored += items.items[i].state == QUIET_RESTORED;
	if (failed)
		cmd_fail(&err);
	else if (s.stale)
		fprintf(stderr,
			"tare: a journal of %s was removed: the machine was started since\n",
			since);
	else if (items.count)
		fprintf(stderr, "tare: put back %zu settings that process %d left behind at %s\n",
			restored, s.owner, since);
	tell_refused(&items);
	quiet_list_release(&items);
}
