/* tare plot: a figure for a paper, drawn by gnuplot from the data beside it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/guard.h"
#include "base/invoker.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/page/plot.h"
#include "cmd/view.h"

#define LEAST_CM 2
#define MOST_CM 100
#define CM_PER_INCH 2.54
#define MESSAGE_MOST 600

/* ---- options ---- */

/* "8.5x6", "8.5x6cm", "4x3in". */
static int parse_size(const char *text, struct chart_look *look, struct error *err)
{
	double width, height, unit = 1;
	char a[32], b[32], shown[64];
	const char *x = strchr(text, 'x');
	size_t length = strlen(text), end = length;
	if (text_ends_with(text, "in"))
		unit = CM_PER_INCH;
	if (text_ends_with(text, "in") || text_ends_with(text, "cm"))
		end -= 2;
	bool good = x && (size_t)(x - text) < sizeof a && end > (size_t)(x - text) &&
		    end - (size_t)(x - text) - 1 < sizeof b;
	if (good) {
		snprintf(a, sizeof a, "%.*s", (int)(x - text), text);
		snprintf(b, sizeof b, "%.*s", (int)(end - (size_t)(x - text) - 1), x + 1);
		good = real_parse(a, &width) && real_parse(b, &height);
	}
	if (good) {
		look->width_cm = width * unit;
		look->height_cm = height * unit;
		if (look->width_cm >= LEAST_CM && look->width_cm <= MOST_CM &&
		    look->height_cm >= LEAST_CM && look->height_cm <= MOST_CM)
			return 0;
	}
	text_display(text, shown, sizeof shown);
	error_set(err, EXIT_USAGE, "plot: --size '%s' is no size from %d to %d cm", shown, LEAST_CM,
		  MOST_CM);
	return error_hint(err, "width x height in cm or inches: 8.5x6, 8.5x6cm, 3.3x2.4in");
}

/* Where everything goes. */
struct target {
	char *directory, *stem; /* "." and "fig" of fig.pdf; both NULL: standard output */
	char *data_name, *script_name, *picture_name;
	enum chart_format format;
};

static char *joined(const char *a, const char *between, const char *b)
{
	struct strbuf sb = { 0 };
	strbuf_printf(&sb, "%s%s%s", a, between, b);
	return strbuf_detach(&sb);
}

static int find_format(const struct plot_options *o, size_t *stem, struct target *t,
		       struct error *err)
{
	const char *name = strrchr(o->output, '/') ? strrchr(o->output, '/') + 1 : o->output;
	const char *dot = strrchr(name, '.');
	char shown[128];
	*stem = strlen(name);
	for (int i = 0; dot && dot > name && i < CHART_FORMATS; i++)
		if (strcasecmp(dot + 1, chart_extension((enum chart_format)i)) == 0) {
			t->format = (enum chart_format)i;
			*stem = (size_t)(dot - name);
			if (o->format >= 0 && o->format != i)
				return error_set(
					err, EXIT_USAGE,
					"plot: --format and the name of the file disagree");
			return 0;
		}
	if (o->format >= 0) {
		t->format = (enum chart_format)o->format;
		return 0;
	}
	text_display(o->output, shown, sizeof shown);
	if (strcmp(o->output, "-") == 0)
		error_set(err, EXIT_USAGE, "plot: what to write to standard output?");
	else
		error_set(err, EXIT_USAGE, "plot: '%s' does not end in .pdf, .svg or .png", shown);
	return error_hint(err, "name it so, or say --format pdf, svg or png");
}

static int choose_target(const struct plot_options *o, struct target *t, struct error *err)
{
	size_t length;
	if (!o->output || !*o->output) {
		error_set(err, EXIT_USAGE, "plot: -o FILE is missing");
		return error_hint(err, "'tare plot RUN -o figure.pdf', for example");
	}
	if (find_format(o, &length, t, err))
		return -1;
	const char *slash = strrchr(o->output, '/'), *name = slash ? slash + 1 : o->output;
	bool out = strcmp(o->output, "-") == 0;
	/* a script has names in quotes, on one line */
	for (const char *c = name; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return error_set(err, EXIT_USAGE,
					 "plot: a control character in the name of the file");
	FREED char *shown = text_utf8(name);
	bool valid = strcmp(shown, name) == 0;
	if (!valid)
		return error_set(err, EXIT_USAGE, "plot: the name of the file is no UTF-8");
	if (!*name || length > 200)
		return error_set(err, EXIT_USAGE,
				 "plot: a file's name of 1 to 200 bytes is wanted");
	if (!out) {
		t->directory = slash ? xstrndup(o->output, (size_t)(slash + 1 - o->output))
				     : xstrdup("");
		t->stem = xstrndup(name, length);
	}
	t->data_name = joined(out ? "figure" : t->stem, ".", "dat");
	t->script_name = joined(out ? "figure" : t->stem, ".", "gp");
	t->picture_name = out ? xstrdup("figure") : xstrdup(name);
	return 0;
}

/* ---- gnuplot ---- */

/* A directory of our own, in which it works: what was there before stays until all went well. It is
 * the invoker's of sudo, as are the files, and gnuplot is run as that user. */
struct workshop {
	char *directory, *program;
	int guarded;  /* the directory, for guard_release() */
	int messages; /* what gnuplot says */
	struct invoker who;
	sigset_t
		signals; /* as they were: one that ends this program waits until all is tidied up */
};

static int workshop_open(struct workshop *w, struct error *err)
{
	const char *tmp = getenv("TMPDIR"), *path = getenv("PATH");
	sigset_t ending;
	*w = (struct workshop){ .messages = -1 };
	invoker_get(&w->who);
	if (invoker_check(&w->who, err))
		return error_hint(err, "without SUDO_UID it is drawn as root");
	w->program = file_find_program(path ? path : "", "gnuplot");
	w->messages = memfd_create("gnuplot", MFD_CLOEXEC);
	char *directory = joined(tmp && *tmp ? tmp : "/tmp", "/", "tare-plot-XXXXXX");
	sigemptyset(&ending);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGHUP);
	sigprocmask(SIG_BLOCK, &ending, &w->signals);
	if (w->messages >= 0 && guard_make_folder(directory, &w->guarded))
		w->directory = directory;
	else
		error_set(err, EXIT_ENVIRONMENT, "cannot make a directory in %.200s: %s",
			  tmp && *tmp ? tmp : "/tmp", strerror(errno));
	if (w->directory)
		return 0;
	free(directory);
	sigprocmask(SIG_SETMASK, &w->signals, NULL);
	return -1;
}

static char *within(const struct workshop *w, const char *name)
{
	return joined(w->directory, "/", name);
}

static void workshop_close(struct workshop *w, const struct target *t)
{
	const char *names[] = { t->data_name, t->script_name, t->picture_name };
	AS_USER(as);
	bool theirs = invoker_begin(&as, NULL) == 0;
	for (size_t i = 0; theirs && w->directory && i < sizeof names / sizeof *names; i++) {
		FREED char *path = within(w, names[i]);
		unlink(path);
	}
	if (theirs && w->directory)
		rmdir(w->directory);
	user_end(&as);
	guard_release(w->guarded);
	if (w->messages >= 0)
		close(w->messages);
	if (w->directory)
		sigprocmask(SIG_SETMASK, &w->signals, NULL);
	free(w->directory);
	free(w->program);
}

/* Its first words: they name the line of the script. */
static int say_failure(const struct workshop *w, int status, struct error *err)
{
	char text[MESSAGE_MOST] = "", shown[MESSAGE_MOST] = "";
	if (pread(w->messages, text, sizeof text - 1, 0) < 0)
		*text = '\0';
	for (char *c = text; *c; c++)
		if (*c == '\n')
			*c = ' ';
	text_display(text + strspn(text, " "), shown, sizeof shown);
	if (WIFSIGNALED(status))
		error_set(err, EXIT_ENVIRONMENT, "gnuplot was ended by signal %d: %s",
			  WTERMSIG(status), shown);
	else
		error_set(err, EXIT_ENVIRONMENT, "gnuplot failed: %s",
			  *shown ? shown : "it does not say why");
	return error_hint(
		err, "no file was changed; 'tare plot' needs gnuplot 5 with the cairo terminals");
}

#define EXIT_NOT_STARTED 127

/* In the child. */
static void become_gnuplot(const struct workshop *w, const char *script, pid_t tare)
{
	/* -d: without what is in the user's own .gnuplot */
	char *argv[] = { (char *)"gnuplot", (char *)"-d", (char *)script, NULL };
	const struct invoker *who = &w->who;
	int null = open("/dev/null", O_RDWR);
	bool ready = dup2(w->messages, STDERR_FILENO) >= 0 && dup2(null, STDIN_FILENO) >= 0 &&
		     dup2(null, STDOUT_FILENO) >= 0;
	if (ready && who->present)
		ready = user_become(who->uid, who->gid, who->groups, who->group_count);
	if (ready && chdir(w->directory) == 0) {
		/* after the change of user, which clears it; tare may be gone already */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pid_t parent = getppid(); /* 0: it is in another pid namespace */
		if (parent && parent != tare)
			_exit(EXIT_NOT_STARTED);
		sigprocmask(SIG_SETMASK, &w->signals, NULL);
		execv(w->program, argv);
	}
	dprintf(w->messages, "cannot start %s: %s", w->program, strerror(errno));
	_exit(EXIT_NOT_STARTED);
}

/* Draws; *picture is the caller's to free. */
static int draw(const struct target *t, const struct strbuf *data, const struct strbuf *script,
		char **picture, size_t *length, struct error *err)
{
	struct workshop w;
	int failed = workshop_open(&w, err), status = 0;
	if (!failed) {
		FREED char *local = joined(".", "/", t->script_name);
		char *data_path = within(&w, t->data_name),
		     *script_path = within(&w, t->script_name);
		FREED char *path = within(&w, t->picture_name);
		failed = file_write(data_path, strbuf_text(data), data->length, err) ||
			 file_write(script_path, strbuf_text(script), script->length, err);
		pid_t tare = getpid(), pid = failed ? -1 : fork();
		if (pid == 0)
			become_gnuplot(&w, local, tare);
		if (!failed && pid < 0)
			failed = error_set(err, EXIT_ENVIRONMENT, "cannot start %s: %s", w.program,
					   strerror(errno));
		int drawing = failed ? 0 : guard_process(pid, 0);
		while (!failed && waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		guard_release(drawing);
		if (status)
			failed = say_failure(&w, status, err);
		*picture = failed ? NULL : invoker_read(path, length);
		if (!failed && (!*picture || !*length))
			failed = say_failure(&w, 0, err);
		free(data_path);
		free(script_path);
	}
	workshop_close(&w, t);
	return failed;
}

/* ---- the files ---- */

static int write_named(const struct target *t, const char *name, const char *bytes, size_t length,
		       struct error *err)
{
	FREED char *path = joined(t->directory, "", name);
	int failed = file_write(path, bytes, length, err);
	if (failed)
		error_hint(err, "is there such a directory, and may you write to it?");
	return failed;
}

static int write_sources(const struct target *t, const struct strbuf *data,
			 const struct strbuf *script, struct error *err)
{
	return write_named(t, t->data_name, strbuf_text(data), data->length, err) ||
	       write_named(t, t->script_name, strbuf_text(script), script->length, err);
}

static int write_all(const struct target *t, const struct strbuf *data, const struct strbuf *script,
		     struct error *err)
{
	char *picture = NULL;
	size_t length = 0;
	const char *path = getenv("PATH");
	char *program = file_find_program(path ? path : "", "gnuplot");
	free(program);
	if (!program) {
		if (t->directory && write_sources(t, data, script, err))
			return -1;
		error_set(err, EXIT_ENVIRONMENT, "there is no gnuplot to draw with%s",
			  t->directory ? "; the data and the script were written" : "");
		return error_hint(err, "install it (Debian: apt install gnuplot-nox)%s",
				  t->directory ? ", then run it on the script, or the same again"
					       : "");
	}
	int failed = draw(t, data, script, &picture, &length, err);
	if (!failed && t->directory)
		failed = write_sources(t, data, script, err) ||
			 write_named(t, t->picture_name, picture, length, err);
	else if (!failed)
		failed = file_write("-", picture, length, err);
	free(picture);
	return failed;
}

static int plot(void *options, const struct cmd_args *args, struct error *err)
{
	struct plot_options *o = options;
	const text_list *words = &args->operands;
	/* the last word is a kind where it is the name of one */
	const struct plot_kind *asked =
		words->count ? plot_kind_find(words->items[words->count - 1]) : NULL;
	struct chart_look look = { .title = o->title };
	struct target t = { 0 };
	const struct plot_kind *kind = NULL;
	struct chart *c = chart_new();
	SCOPED(strbuf_release) struct strbuf data = { 0 }, script = { 0 };
	int failed = 0;
	for (size_t i = 0; i + (asked ? 1 : 0) < words->count; i++)
		array_push(&o->runs, words->items[i]);
	if (o->daemons && o->runs.count) {
		error_set(err, EXIT_USAGE, "plot: --daemons is of a study, not of a run");
		failed = error_hint(err, "a study's number is attached: --daemons=3");
	}
	if (o->wide)
		look.width_cm = CHART_WIDE_CM;
	failed = failed || (o->size && parse_size(o->size, &look, err)) ||
		 choose_target(o, &t, err) || plot_kind_choose(o, asked, &kind, err) ||
		 kind->make(o, kind->which, c, err);
	if (!failed) {
		look.format = t.format;
		look.data_name = t.data_name;
		look.picture_name = t.picture_name;
		chart_data(c, &data);
		chart_script(c, &look, &script);
		failed = write_all(&t, &data, &script, err);
		if (!failed && chart_note(c))
			fprintf(stderr, "tare: %s\n", chart_note(c));
		/* "tare: wrote fig.pdf, fig.dat and fig.gp" */
		const char *const names[] = { t.picture_name, t.data_name, t.script_name };
		static const char *const before[] = { "tare: wrote ", ", ", " and " };
		for (size_t i = 0; !failed && t.directory && isatty(STDERR_FILENO) && i < 3; i++) {
			FREED char *path = joined(t.directory, "", names[i]);
			FREED char *shown = text_shell_quoted(path);
			fprintf(stderr, "%s%s%s", before[i], shown, i == 2 ? "\n" : "");
		}
	}
	chart_free(c);
	char *const owned[] = { t.directory, t.stem, t.data_name, t.script_name, t.picture_name };
	for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
		free(owned[i]);
	return failed ? -1 : EXIT_DONE;
}

/* ---- the command ---- */

static void put_about(struct strbuf *about)
{
	static const struct {
		enum subject_kind of;
		const char *words;
	} groups[] = { { SUBJECT_COMMAND, "tare time" },
		       { SUBJECT_CPU, "tare noise" },
		       { SUBJECT_SYSTEM, "tare profile" },
		       { SUBJECT_QUERY, "tare query" },
		       { SUBJECT_DUET, "tare duet" },
		       { SUBJECT_KINDS, "tare calibrate, with --daemons" } };
	strbuf_puts(
		about,
		"A figure for a paper, drawn by gnuplot, of a stored run (default: the newest).\n"
		"Beside FILE its data (.dat) and its script (.gp) are written. KIND is one of\n");
	for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
		strbuf_printf(about, "  of %s:\n", groups[g].words);
		for (const struct plot_kind *k = plot_kinds; k->name; k++)
			if (k->of == groups[g].of)
				strbuf_printf(about, "    %-11s%s\n", k->name, k->about);
	}
}

int cmd_plot(struct lab_access *lab, int argc, char **argv)
{
	struct plot_options o = { .lab = lab, .format = -1 };
	struct option_spec specs[] = {
		{ 'o', "output", OPTION_TEXT, &o.output, "FILE",
		  "NAME.pdf, NAME.svg or NAME.png; - is standard output" },
		{ 0, "format", OPTION_CHOICE, &o.format, "pdf|svg|png",
		  "where the name does not tell" },
		{ 0, "size", OPTION_TEXT, &o.size, "WxH",
		  "in cm, or with 'in' in inches (default: 8.5 wide)" },
		{ 0, "wide", OPTION_FLAG, &o.wide, NULL, "two columns: 17.5 cm" },
		{ 0, "title", OPTION_TEXT, &o.title, "TEXT", "above it (default: none)" },
		{ 0, "measure", OPTION_CHOICE, &o.measure, COMPARED_TIMES,
		  "of time's figures (not ledger, sigma)" },
		{ 0, "study", OPTION_FLAG, &o.together, NULL,
		  "all runs of the same command line (compare, sigma)" },
		{ 0, "top", OPTION_INTEGER, &o.top, "NUM",
		  "rows of functions and sources (default: 15)", .min = 1, .max = 200 },
		{ 0, "query", OPTION_TEXT, &o.query, "QUERY", "this one, by name or number" },
		{ 0, "daemons", OPTION_OPTIONAL, &o.daemons, "STUDY",
		  "of a study of daemons (default: the newest)" },
		{ 0, "long", OPTION_FLAG, &o.long_run, NULL, "its long run, not the short one" },
		{ 0, "zoom", OPTION_INTEGER, &o.zoom, "NUM",
		  "its zoom level, from 1 (default: the last)", .min = 1 },
		LAB_OPTION(lab, "the lab to read"),
		{ 0 }
	};
	SCOPED(strbuf_release) struct strbuf about = { 0 };
	put_about(&about);
	int code = cmd_run("tare plot [OPTIONS] [RUN...] [KIND] -o FILE", strbuf_text(&about),
			   specs, argc, argv, plot, &o);
	array_release(&o.runs);
	return code;
}
