#include "protocol/emp/cutoffs_validity.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "record/noncritical.h"

#define DAY_NS INT64_C(86400000000000)

bool cutoffs_old(int64_t made_at_ns, int64_t at_ns, int64_t *days)
{
	*days = 0;
	if (!made_at_ns || !at_ns)
		return false;
	*days = (at_ns - made_at_ns) / DAY_NS;
	return llabs(*days) > CUTOFFS_OLD_DAYS;
}

/* Whether the list "cron, sshd" has the word of this length. */
static bool lists(const char *list, const char *word, size_t length)
{
	while (*list) {
		size_t n = strcspn(list, ", ");
		if (n == length && !strncmp(list, word, n))
			return true;
		list += n + strspn(list + n, ", ");
	}
	return false;
}

/* The words of a that b does not have; NULL when there is none. */
static char *only_in(const char *a, const char *b)
{
	struct strbuf out = { 0 };
	while (*a) {
		size_t n = strcspn(a, ", ");
		if (n && !(n == 4 && !strncmp(a, "none", n)) && !lists(b, a, n))
			strbuf_printf(&out, "%s%.*s", out.length ? ", " : "", (int)n, a);
		a += n + strspn(a + n, ", ");
	}
	char *words = out.length ? xstrndup(out.text, out.length) : NULL;
	strbuf_release(&out);
	return words;
}

void cutoffs_changes(const struct machine *then, const struct machine *now, bool quieted,
		     cutoffs_change_list *into)
{
	static const struct {
		const char *fact, *name;
	} facts[] = { { "kernel.release", "kernel" },
		      { "cpu.model", "CPU" },
		      { "cpu.present", "CPUs present" },
		      { "cpu.online", "CPUs online" },
		      { "cpu.smt", "SMT" } };
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
		const char *was = machine_get(then, facts[i].fact);
		const char *is = machine_get(now, facts[i].fact);
		if (was && is && strcmp(was, is) != 0)
			array_push(into, (struct cutoffs_change){ facts[i].fact, facts[i].name, was,
								  is, NULL, NULL });
	}
	for (enum daemon_kind k = 0; k < DAEMON_KINDS; k++) {
		const char *fact = daemon_kind_fact(k);
		const char *was = machine_get(then, fact), *is = machine_get(now, fact);
		if (!was || !is || k == DAEMON_UPDATES)
			continue;
		struct cutoffs_change c = { .fact = fact, .then = was, .now = is };
		c.come = only_in(is, was);
		c.gone = quieted ? NULL : only_in(was, is);
		if (c.come || c.gone)
			array_push(into, c);
	}
}

void cutoffs_changes_release(cutoffs_change_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].come);
		free(list->items[i].gone);
	}
	array_release(list);
}
