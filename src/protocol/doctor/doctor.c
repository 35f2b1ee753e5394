#include "protocol/doctor/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "protocol/doctor/checks.h"
#include "record/noncritical.h"

const char *const severity_names[] = { "unknown", "ok", "note", "warn", "bad" };

bool fact_number(const char *value, double *number)
{
	return value && real_parse(value, number);
}

/* Whether word is one of words, which are separated by any of the separators. */
static bool among(const char *word, const char *words, const char *separators)
{
	size_t length = strlen(word);
	for (const char *p = words; *p; p += strspn(p, separators)) {
		size_t n = strcspn(p, separators);
		if (n == length && strncmp(p, word, n) == 0)
			return true;
		p += n;
	}
	return false;
}

/* The units, or services, that the daemons in a list belong to: "{units}" in a text. */
static size_t put_units(const char *names, char *out, size_t size)
{
	size_t used = 0;
	*out = '\0';
	for (size_t i = 0; i < known_daemon_count; i++) {
		const struct known_daemon *d = &known_daemons[i];
		if (!d->unit || !among(d->comm, names, ", ") || among(d->unit, out, " "))
			continue;
		int n = snprintf(out + used, size - used, "%s%s", used ? " " : "", d->unit);
		if (n < 0 || (size_t)n >= size - used)
			break;
		used += (size_t)n;
	}
	out[used] = '\0';
	return used;
}

/* One "{...}" of a template, into out; how many bytes it became. */
static size_t put_reference(const struct machine *m, const char *own, const char *name,
			    size_t length, char *out, size_t size)
{
	char key[96];
	snprintf(key, sizeof key, "%.*s", (int)length, name);
	if (strcmp(key, "units") == 0)
		return put_units(own, out, size);
	bool words = strcmp(key, "words") == 0;
	const char *value = length && !words ? machine_get(m, key) : own;
	int n = snprintf(out, size, "%s", value ? value : "?");
	size_t used = n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1, kept = 0;
	for (size_t i = 0; words && i < used; i++)
		if (out[i] != ',')
			out[kept++] = out[i];
	return words ? kept : used;
}

static void expand(const struct machine *m, const char *own, const char *template, char *out,
		   size_t size)
{
	size_t used = 0;
	for (const char *p = template; p && *p && used + 1 < size; p++) {
		size_t length = *p == '{' ? strcspn(p, "}") : 0;
		if (length && p[length] == '}' && p[1] != ' ') {
			used += put_reference(m, own, p + 1, length - 1, out + used, size - used);
			p += length;
		} else {
			out[used++] = *p;
		}
	}
	out[used] = '\0';
}

static bool fires(const struct check *row, const char *value)
{
	double number, limit;
	switch (row->test) {
	case IS:
		return strcmp(value, row->operand) == 0;
	case IS_NOT:
		return !among(value, row->operand, "|");
	case ABOVE:
		return fact_number(value, &number) && fact_number(row->operand, &limit) &&
		       number > limit;
	case BELOW:
		return fact_number(value, &number) && fact_number(row->operand, &limit) &&
		       number < limit;
	case LISTS:
		return *value && strcmp(value, "none") != 0;
	}
	return false;
}

static void judge(const struct machine *m, const struct check *check, struct finding *f)
{
	struct check row = *check; /* a judge may put other words in */
	const char *value = machine_get(m, row.fact);
	const char *also = row.also ? machine_get(m, row.also) : NULL;
	*f = (struct finding){ .id = row.id, .source = row.source };
	if (!value || (row.also && !also)) {
		f->severity = SEVERITY_UNKNOWN;
		snprintf(f->condition, sizeof f->condition, "not known here: %s is missing",
			 value ? row.also : row.fact);
		return;
	}
	if (row.judge)
		f->severity = row.judge(m, value, &row);
	else if (fires(&row, value) && (!also || !among(also, "0|no|none|off", "|")))
		f->severity = row.severity;
	else
		f->severity = SEVERITY_OK;
	if (f->severity == SEVERITY_UNKNOWN) {
		snprintf(f->condition, sizeof f->condition, "not known here: %s says \"%.64s\"",
			 row.fact, value);
		return;
	}
	expand(m, value, f->severity > SEVERITY_OK ? row.condition : row.fine, f->condition,
	       sizeof f->condition);
	if (f->severity <= SEVERITY_OK)
		return;
	f->command = row.remedy && strncmp(row.remedy, "$ ", 2) == 0;
	expand(m, value, row.effect, f->effect, sizeof f->effect);
	expand(m, value, row.remedy + (f->command ? 2 : 0), f->remedy, sizeof f->remedy);
}

void doctor_judge(const struct machine *m, finding_list *out)
{
	struct finding *found = xcalloc(doctor_checks_count, sizeof *found);
	for (size_t i = 0; i < doctor_checks_count; i++)
		judge(m, &doctor_checks[i], &found[i]);
	for (int s = SEVERITY_BAD; s >= SEVERITY_UNKNOWN; s--)
		for (size_t i = 0; i < doctor_checks_count; i++)
			if ((int)found[i].severity == s)
				array_push(out, found[i]);
	free(found);
}
