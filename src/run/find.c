#include "run/find.h"

#include <inttypes.h>

static const struct {
	const char *words, *shower;
	const char *none, *maker; /* where there is none of it */
} kinds_of[SUBJECT_KINDS] = {
	[SUBJECT_COMMAND] = { "one of 'tare time'", "show", "run of 'tare time'",
			      "'tare time' makes one" },
	[SUBJECT_CPU] = { "one of 'tare noise'", "noise show", "run of 'tare noise'",
			  "'tare noise' makes one" },
	[SUBJECT_SYSTEM] = { "a profile", "profile report", "profile", "'tare profile' makes one" },
	[SUBJECT_QUERY] = { "one of 'tare query'", "query report", "run of 'tare query'",
			    "'tare query quick' makes one, in a minute" },
	[SUBJECT_DUET] = { "one of 'tare duet'", "show", "run of 'tare duet'",
			   "'tare duet A B' makes one" },
};

const char *run_kind_words(enum subject_kind kind)
{
	return kinds_of[kind].words;
}

const char *run_kind_shower(enum subject_kind kind)
{
	return kinds_of[kind].shower;
}

/* The one kind of a set; SUBJECT_KINDS: there are several. */
static enum subject_kind only_kind(unsigned kinds)
{
	int k = 0;
	while (k < SUBJECT_KINDS && (kinds & LAB_ALL_KINDS) != LAB_OF(k))
		k++;
	return (enum subject_kind)k;
}

int run_find_any(struct lab *lab, const char *text, unsigned kinds, int64_t *id,
		 enum subject_kind *kind, struct error *err)
{
	enum subject_kind wanted = only_kind(kinds);
	if (lab_find_run(lab, text, kinds, id, kind, err))
		return -1;
	if (*id)
		return 0;
	if (wanted == SUBJECT_KINDS)
		return error_set(err, EXIT_USAGE, "there is no run to take in %s", lab_path(lab));
	error_set(err, EXIT_USAGE, "there is no %s in %s", kinds_of[wanted].none, lab_path(lab));
	return error_hint(err, "%s", kinds_of[wanted].maker);
}

int run_find(struct lab *lab, const char *text, unsigned kinds, int64_t *id, struct error *err)
{
	enum subject_kind kind, wanted = only_kind(kinds);
	if (run_find_any(lab, text, kinds, id, &kind, err))
		return -1;
	if (kinds & LAB_OF(kind))
		return 0;
	bool executes = kind == SUBJECT_COMMAND || kind == SUBJECT_QUERY || kind == SUBJECT_DUET;
	error_set(err, EXIT_USAGE, "run %" PRId64 " is %s%s%s", *id, kinds_of[kind].words,
		  wanted == SUBJECT_COMMAND && !executes ? ": it has no executions" : ", not ",
		  wanted == SUBJECT_COMMAND && !executes ? "" : kinds_of[wanted].words);
	return error_hint(err, "'tare %s %" PRId64 "' shows it", kinds_of[kind].shower, *id);
}
