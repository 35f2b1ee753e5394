#include "measure/query_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#define SERVER "postgres"
#define MOST_KNOWN 4096 /* more are forgotten, all at once */

/* What a PostgreSQL's process does, by its title: "postgres: 15/main: autovacuum worker shop". A
 * session's begins with its user's name: that stays a "postgres". */
static const char *name_of_title(const char *title)
{
	static const struct {
		const char *title, *name;
	} kinds[] = {
		{ "autovacuum worker", "autovacuum" },
		{ "autovacuum launcher", "autovac launcher" },
		{ "background writer", "bgwriter" },
		{ "checkpointer", "checkpointer" },
		{ "walwriter", "walwriter" },
		{ "walsender", "walsender" },
		{ "walreceiver", "walreceiver" },
		{ "archiver", "archiver" },
		{ "startup", "startup" },
		{ "stats collector", "stats collector" },
		{ "io worker", "io worker" },
		{ "parallel worker", "parallel worker" },
		{ "logical replication", "logical repl." },
	};
	if (strncmp(title, SERVER ": ", sizeof SERVER + 1) != 0)
		return NULL;
	title += sizeof SERVER + 1;
	const char *cluster = strstr(title, ": ");
	for (int behind = 0; behind < 2 && title; behind++, title = cluster ? cluster + 2 : NULL)
		for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
			if (strncmp(title, kinds[i].title, strlen(kinds[i].title)) == 0)
				return kinds[i].name;
	return NULL;
}

static const char *look_up(struct query_names *known, const struct process *p)
{
	for (size_t i = 0; i < known->count; i++)
		if (known->items[i].pid == p->pid && known->items[i].start_ns == p->start_ns)
			return known->items[i].name;
	char path[32];
	snprintf(path, sizeof path, "/proc/%d/cmdline", (int)p->pid);
	FREED char *title = p->ended ? NULL : file_read(path);
	const char *name = title ? name_of_title(title) : NULL;
	if (!name)
		return NULL;
	if (known->count == MOST_KNOWN)
		known->count = 0;
	struct known_process one = { .pid = p->pid, .start_ns = p->start_ns };
	snprintf(one.name, sizeof one.name, "%s", name);
	array_push(known, one);
	return known->items[known->count - 1].name;
}

static void rename_entries(struct ledger_entry *entries, size_t count, int32_t pid,
			   const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (entries[i].pid == pid && strcmp(entries[i].name, SERVER) == 0)
			snprintf(entries[i].name, sizeof entries[i].name, "%s", name);
}

void query_name_processes(struct query_names *known, struct execution *x)
{
	array_each(p, &x->processes) {
		const char *name = p->role != ROLE_SUBJECT && strcmp(p->name, SERVER) == 0
					   ? look_up(known, p)
					   : NULL;
		if (!name)
			continue;
		snprintf(p->name, sizeof p->name, "%s", name);
		rename_entries(x->ledger.entries.items, x->ledger.entries.count, p->pid, name);
		rename_entries(x->ledger.details.items, x->ledger.details.count, p->pid, name);
		array_each(o, &x->ledger.others)
			if (o->pid == p->pid)
				snprintf(o->name, sizeof o->name, "%s", name);
	}
}

void query_names_release(struct query_names *known)
{
	array_release(known);
}
