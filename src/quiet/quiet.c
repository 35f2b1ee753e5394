/* Plan, apply, restore: the same for every kind of change. */
#include "quiet/quiet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "base/guard.h"
#include "base/interrupt.h"
#include "base/options.h"
#include "base/text.h"
#include "quiet/journal.h"

static const struct change_ops *const ops[CHANGE_KINDS] = {
	[CHANGE_FILE] = &file_ops,   [CHANGE_UNIT] = &unit_ops, [CHANGE_SYSV] = &sysv_ops,
	[CHANGE_PAUSE] = &pause_ops, [CHANGE_SWAP] = &swap_ops, [CHANGE_CPUSET] = &cpuset_ops,
};

const char *quiet_state_name(enum quiet_state s)
{
	static const char *const names[QUIET_STATES] = {
		[QUIET_WOULD_CHANGE] = "would change",
		[QUIET_CHANGED] = "changed",
		[QUIET_ALREADY] = "as wanted",
		[QUIET_ABSENT] = "absent",
		[QUIET_REFUSED] = "refused",
		[QUIET_RESTORED] = "restored",
		[QUIET_LEFT] = "left",
	};
	return names[s];
}

/* ---- changes and items ---- */

void changes_release(change_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		struct change *c = &list->items[i];
		free(c->what);
		free(c->before);
		free(c->wanted);
		free(c->why);
		free(c->after);
	}
	array_release(list);
}

struct change *change_add(change_list *list, enum change_kind kind, const char *knob,
			  const char *what, const char *before, const char *wanted)
{
	array_push(list, (struct change){ .kind = kind,
					  .knob = knob,
					  .what = xstrdup(what),
					  .before = xstrdup_or_null(before),
					  .wanted = xstrdup_or_null(wanted) });
	return &list->items[list->count - 1];
}

void change_judge(struct change *c, enum quiet_state state, const char *fmt, ...)
{
	struct strbuf why = { 0 };
	va_list args;
	va_start(args, fmt);
	strbuf_vprintf(&why, fmt, args);
	va_end(args);
	free(c->why);
	c->why = strbuf_detach(&why);
	c->state = state;
}

void quiet_list_release(quiet_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].what);
		free(list->items[i].before);
		free(list->items[i].after);
		free(list->items[i].why);
	}
	array_release(list);
}

static void add_item(quiet_list *out, const struct change *c)
{
	/* what people call it: a unit's, a process's or a device's name says little alone */
	static const char *const lead[CHANGE_KINDS] = { [CHANGE_UNIT] = "service ",
							[CHANGE_SYSV] = "service ",
							[CHANGE_PAUSE] = "process ",
							[CHANGE_SWAP] = "swap " };
	const char *before = lead[c->kind] ? lead[c->kind] : "";
	array_push(out, (struct quiet_item){ .knob = c->knob,
					     .what = xprintf("%s%s", before, c->what),
					     .before = c->before ? value_word(c->before) : NULL,
					     .after = c->after	  ? value_word(c->after)
						      : c->wanted ? value_word(c->wanted)
								  : NULL,
					     .state = c->state,
					     .why = xstrdup_or_null(c->why) });
}

/* ---- the options ---- */

bool quiet_is_machine(const struct quiet_options *o)
{
	return !o->root || !*o->root;
}

char *quiet_path(const struct quiet_options *o, const char *path)
{
	return xprintf("%s%s", o->root ? o->root : "", path);
}

static bool is_named(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static bool is_chosen(const struct quiet_options *o, const struct quiet_knob *k)
{
	if (is_named(o->except, o->except_count, k->name))
		return false;
	bool chosen = !o->only_count ? k->by_default
				     : is_named(o->only, o->only_count, k->name) ||
					       (k->by_default &&
						is_named(o->only, o->only_count, "default"));
	return chosen && (!k->isolates || o->isolate_count);
}

static int check_names(const char *const *names, size_t count, struct error *err)
{
	FREED text_list known = { 0 };
	for (const struct quiet_knob *k = quiet_knobs; k->name; k++)
		array_push(&known, k->name);
	array_push(&known, NULL);
	for (size_t i = 0; i < count; i++) {
		if (quiet_knob_find(names[i]) || strcmp(names[i], "default") == 0)
			continue;
		error_set(err, EXIT_USAGE, "there is no knob '%s'", DISPLAYED(names[i], 64));
		const char *near = nearest_word(names[i], known.items);
		return near ? error_hint(err, "did you mean '%s'?", near)
			    : error_hint(err, "`tare quiet --list` names them");
	}
	return 0;
}

static int check_cpus(const struct quiet_options *o, struct error *err)
{
	FREED char *path = quiet_path(o, "/sys/devices/system/cpu/online");
	FREED char *online = file_read_line(path);
	cpu_set_t set;
	if (!online || !cpus_parse(online, &set))
		return error_set(err, EXIT_ENVIRONMENT,
				 "cannot tell which CPUs there are to isolate from %s", path);
	for (size_t i = 0; i < o->isolate_count; i++) {
		if (o->isolate[i] >= CPU_SETSIZE || !CPU_ISSET(o->isolate[i], &set))
			return error_set(err, EXIT_USAGE,
					 "cannot isolate CPU %u: the CPUs online are %s",
					 o->isolate[i], online);
		CPU_CLR(o->isolate[i], &set);
	}
	if (CPU_COUNT(&set) > 0)
		return 0;
	error_set(err, EXIT_USAGE, "cannot isolate all CPUs (%s)", online);
	return error_hint(err, "everything else needs at least one");
}

/* ---- planning ---- */

static int plan(const struct quiet_options *o, change_list *out, struct error *err)
{
	static int (*const planners[])(const struct quiet_options *, const struct quiet_knob *,
				       change_list *, struct error *) = { plan_services, plan_files,
									  plan_swap, plan_cpuset };
	if (check_names(o->only, o->only_count, err) ||
	    check_names(o->except, o->except_count, err))
		return -1;
	if (o->service_count && !is_chosen(o, quiet_knob_find("services"))) {
		error_set(err, EXIT_USAGE, "cannot stop '%.64s' without the knob 'services'",
			  o->services[0]);
		return error_hint(err, "add it to the ones chosen");
	}
	for (size_t i = 0; i < o->service_count; i++) {
		const char *why = quiet_kept(o->services[i]);
		if (why)
			return error_set(err, EXIT_USAGE, "'%s' is never stopped: it %s",
					 DISPLAYED(o->services[i], 64), why);
	}
	for (size_t i = 0; !o->isolate_count && i < o->only_count; i++) {
		const struct quiet_knob *k = quiet_knob_find(o->only[i]);
		if (k && k->isolates) {
			error_set(err, EXIT_USAGE, "the knob '%s' needs CPUs to isolate", k->name);
			return error_hint(err, "name them: --isolate CPUS");
		}
	}
	if (o->isolate_count && check_cpus(o, err))
		return -1;
	for (const struct quiet_knob *k = quiet_knobs; k->name; k++) {
		size_t before = out->count;
		if (!is_chosen(o, k))
			continue;
		for (size_t i = 0; i < sizeof planners / sizeof *planners; i++)
			if (planners[i](o, k, out, err))
				return -1;
		if (out->count == before)
			change_add(out, CHANGE_FILE, k->name, "-", NULL, NULL)->state =
				QUIET_ABSENT;
	}
	return 0;
}

int quiet_plan(const struct quiet_options *o, quiet_list *out, struct error *err)
{
	SCOPED(changes_release) change_list changes = { 0 };
	int failed = plan(o, &changes, err);
	for (size_t i = 0; !failed && i < changes.count; i++)
		add_item(out, &changes.items[i]);
	return failed;
}

/* ---- changing ---- */

static void step(const struct quiet_options *o)
{
	if (o->step)
		o->step(o->context);
}

static void make(const struct quiet_options *o, struct change *c)
{
	struct error why = ERROR_INIT;
	step(o);
	int failed = ops[c->kind]->put(o, c, c->wanted, &why);
	/* A change that was interrupted, failed half-way or cannot be read may still take effect:
	 * it counts as made, and how it will read is unknown. */
	const struct error *failure = failed ? &why : NULL;
	struct error unread = ERROR_INIT;
	FREED char *now = NULL;
	enum reading reading = failure && interrupted() ? READ_FAILED
							: ops[c->kind]->now(o, c, &now, &unread);
	bool same = now && value_equal(now, c->before);
	if (reading == READ_GONE || (failure && same))
		change_judge(c, QUIET_REFUSED, "%s", failure ? failure->text : "it is gone");
	else if (same)
		change_judge(c, QUIET_REFUSED, "it was written, and is what it was");
	else if (failure)
		change_judge(c, QUIET_CHANGED, "perhaps: %s", failure->text);
	else if (reading == READ_FAILED)
		change_judge(c, QUIET_CHANGED, "it cannot be read back: %s", unread.text);
	else
		c->state = QUIET_CHANGED;
	if (c->state == QUIET_CHANGED && !failure) {
		c->after = now;
		now = NULL;
	}
	step(o);
}

static int check_free(const struct quiet_options *o, struct error *err)
{
	struct quiet_status status;
	char since[32];
	if (quiet_look(o, &status, err))
		return -1;
	if (!status.quiet)
		return 0;
	if (status.stale) {
		SCOPED(quiet_list_release) quiet_list none = { 0 };
		return quiet_restore_abandoned(o, &none, err);
	}
	text_date(status.since_ns, since, sizeof since);
	if (status.left) {
		error_set(err, EXIT_USAGE,
			  "another tare still uses %zu setting%s changed at %s by process %d, "
			  "which has ended",
			  status.changes, status.changes == 1 ? "" : "s", since, status.owner);
		return error_hint(err, "the last one that uses it puts it back; wait for that");
	}
	if (status.owner)
		error_set(err, EXIT_USAGE,
			  "the machine is quiet already, since %s, by process %d%s", since,
			  status.owner, status.abandoned ? ", which is gone" : "");
	else
		error_set(err, EXIT_USAGE, "the machine is quiet already, since %s", since);
	if (status.owner && !status.abandoned)
		return error_hint(err, "it puts everything back when it ends; wait for it");
	return error_hint(err, "`tare quiet --restore` puts everything back");
}

static int check_root(const struct quiet_options *o, const char *to_do, struct error *err)
{
	if (!quiet_is_machine(o) || geteuid() == 0)
		return 0;
	error_set(err, EXIT_ENVIRONMENT, "cannot %s: that takes root", to_do);
	return error_hint(err, "sudo tare quiet; --dry-run and --list work for everyone");
}

static int make_all(const struct quiet_options *o, struct journal *j, int owner, quiet_list *out,
		    struct error *err)
{
	int failed = journal_create(j, o, owner ? owner : (int)getpid(), err);
	/* a service may take long to stop: who does not want to wait puts back what was changed */
	for (size_t i = 0; !failed && i < j->changes.count && !interrupted(); i++) {
		make(o, &j->changes.items[i]);
		const struct change *c = &j->changes.items[i];
		failed = c->state == QUIET_CHANGED ? journal_made(j, i, c->after, err)
						   : journal_refused(j, i, err);
		add_item(out, &j->changes.items[i]);
	}
	return failed || (!owner && journal_keep(j, err)) ? -1 : 0;
}

/* ---- the guard ---- */

#define GUARD_TRIES 50
#define GUARD_PAUSE_US 20000

static int guarded; /* for guard_release() */

/* In the guard, when the tare that made the changes is gone. */
static void restore_for_dead(const char *text)
{
	const char *journal = strchr(text, '\n') + 1;
	FREED char *root = xstrndup(text, (size_t)(journal - text - 1));
	const struct quiet_options o = { .root = root, .journal = *journal ? journal : NULL };
	struct quiet_status status;
	/* a script that was just being started may hold the journal's lock for a moment */
	for (int i = 0; i < GUARD_TRIES; i++) {
		SCOPED(quiet_list_release) quiet_list restored = { 0 };
		quiet_restore_abandoned(&o, &restored, NULL);
		if (quiet_look(&o, &status, NULL) || !status.quiet || !status.abandoned)
			return;
		usleep(GUARD_PAUSE_US);
	}
}

/* What the guard finds is the journal, so this may come long before it is needed. */
static void guard_changes(const struct quiet_options *o)
{
	/* a test that ends its process wants to see what that leaves */
	if (guarded || o->step)
		return;
	FREED char *text = xprintf("%s\n%s", o->root ? o->root : "", o->journal ? o->journal : "");
	guarded = guard_call(restore_for_dead, text);
}

static void unguard_changes(void)
{
	guard_release(guarded);
	guarded = 0;
}

/* use: the lock of the knob that this process is about to use; -1: none. */
static int apply(const struct quiet_options *o, int owner, int use, quiet_list *out,
		 struct error *err)
{
	SCOPED(journal_release) struct journal j = JOURNAL_INIT;
	SCOPED(changes_release) change_list all = { 0 };
	int failed = check_root(o, "make the machine quiet", err) || check_free(o, err) ||
		     plan(o, &all, err);
	if (!failed) {
		/* changes go to the journal, in order; the rest is only reported */
		for (size_t i = 0; i < all.count; i++) {
			if (all.items[i].state != QUIET_WOULD_CHANGE) {
				add_item(out, &all.items[i]);
				continue;
			}
			array_push(&j.changes, all.items[i]);
			all.items[i] = (struct change){ 0 };
		}
		if (j.changes.count)
			guard_changes(o);
		failed = j.changes.count && make_all(o, &j, owner, out, err);
	}
	if (failed && j.fd >= 0) {
		SCOPED(quiet_list_release) quiet_list undone = { 0 };
		/* our own locks, on the journal and on the knob, would keep us from it */
		journal_release(&j);
		if (use >= 0)
			flock(use, LOCK_UN);
		quiet_restore_own(o, owner ? owner : (int)getpid(), &undone, NULL);
		if (use >= 0)
			flock(use, LOCK_SH);
	}
	return failed ? -1 : 0;
}

int quiet_apply(const struct quiet_options *o, int owner, quiet_list *out, struct error *err)
{
	int failed = apply(o, owner, -1, out, err);
	if (failed || !owner)
		unguard_changes();
	return failed;
}

/* ---- restoring ---- */

static void undo(const struct quiet_options *o, struct change *c)
{
	struct error why = ERROR_INIT;
	FREED char *now = NULL;
	enum reading reading = ops[c->kind]->now(o, c, &now, &why);
	/* A stop that was begun and not waited for may come after the service was seen to run: only
	 * a start calls it off. */
	bool may_come = !c->after && (c->kind == CHANGE_UNIT || c->kind == CHANGE_SYSV);
	step(o);
	if (reading == READ_FAILED) {
		change_judge(c, QUIET_REFUSED, "it cannot be read: %s", why.text);
	} else if (!now) {
		change_judge(c, QUIET_LEFT, "it is gone");
	} else if (strcmp(now, c->before) == 0 && !may_come) {
		c->state = QUIET_RESTORED;
	} else if (c->after && strcmp(now, c->after) != 0 && !o->force &&
		   c->kind != CHANGE_CPUSET) { /* one that was made is removed in any case */
		FREED char *is = value_word(now), *was = value_word(c->before);
		change_judge(c, QUIET_LEFT, "somebody made it '%s' meanwhile; it was '%s'", is,
			     was);
	} else {
		struct error unread = ERROR_INIT;
		FREED char *then = NULL;
		int failed = ops[c->kind]->put(o, c, c->before, &why);
		reading = ops[c->kind]->now(o, c, &then, &unread);
		if (then && strcmp(then, c->before) == 0)
			c->state = QUIET_RESTORED;
		else if (failed || reading == READ_FAILED)
			change_judge(c, QUIET_REFUSED, "%s", failed ? why.text : unread.text);
		else
			change_judge(c, QUIET_REFUSED, "it was written, and is something else");
	}
	step(o);
}

/* Of a knob that is to be restored: nobody may begin to use it meanwhile. */
struct lock {
	const char *knob;
	int fd; /* -1: nobody ever used it */
	bool used;
};
typedef ARRAY(struct lock) lock_list;

static void locks_release(lock_list *locks)
{
	array_each(lock, locks)
		if (lock->fd >= 0)
			close(lock->fd);
	array_release(locks);
}

static bool is_used(const struct quiet_options *o, const char *knob, lock_list *locks)
{
	array_each(lock, locks)
		if (strcmp(lock->knob, knob) == 0)
			return lock->used;
	struct lock lock = { knob, journal_open_use(o, knob, false), false };
	lock.used = lock.fd >= 0 && flock(lock.fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
	array_push(locks, lock);
	return lock.used;
}

/* heedless: also what others use. */
static int undo_all(const struct quiet_options *o, struct journal *j, bool heedless,
		    quiet_list *out, struct error *err)
{
	SCOPED(locks_release) lock_list locks = { 0 };
	FREED ARRAY(size_t) undone = { 0 };
	size_t refused = 0, used = 0;
	for (size_t i = j->changes.count; i--;) {
		const struct change *c = &j->changes.items[i];
		if (!c->begun || c->finished)
			continue;
		if (!heedless && is_used(o, c->knob, &locks))
			used++;
		else
			array_push(&undone, i);
	}
	/* where the disk is full it is undone all the same: the notes only spare doing it again */
	if (undone.count)
		journal_restoring(j, NULL);
	for (size_t k = 0; k < undone.count; k++) {
		size_t i = undone.items[k];
		struct change *c = &j->changes.items[i];
		undo(o, c);
		add_item(out, c);
		if (c->state == QUIET_REFUSED)
			refused++;
		else
			journal_finished(j, i, NULL);
	}
	if (used && !j->left)
		journal_leave(j, NULL);
	if (!refused)
		return used ? 0 : journal_remove(j, err);
	error_set(err, EXIT_ENVIRONMENT, "%zu of %zu changes could not be put back", refused,
		  j->changes.count);
	return error_hint(err, "they stay in %s; `tare quiet --restore` tries again", j->path);
}

/* Whose journal is undone. */
enum whose {
	ANYBODYS,
	ONES_OWN,
	ABANDONED,
};

static int restore(const struct quiet_options *o, enum whose whose, int owner, quiet_list *out,
		   struct error *err)
{
	SCOPED(journal_release) struct journal j = JOURNAL_INIT;
	if (check_root(o, "put the machine's settings back", err) || journal_take(&j, o, err))
		return -1;
	if (j.fd < 0)
		return 0;
	bool abandoned = j.stale || journal_is_abandoned(&j);
	if (whose == ABANDONED ? !abandoned : whose == ONES_OWN && (abandoned || j.owner != owner))
		return 0;
	return j.stale ? journal_remove(&j, err) : undo_all(o, &j, whose == ANYBODYS, out, err);
}

int quiet_restore(const struct quiet_options *o, quiet_list *out, struct error *err)
{
	return restore(o, ANYBODYS, 0, out, err);
}

int quiet_restore_own(const struct quiet_options *o, int owner, quiet_list *out, struct error *err)
{
	int failed = restore(o, ONES_OWN, owner, out, err);
	if (!failed && owner == (int)getpid())
		unguard_changes();
	return failed;
}

int quiet_restore_abandoned(const struct quiet_options *o, quiet_list *out, struct error *err)
{
	return restore(o, ABANDONED, 0, out, err);
}

/* ---- what several use ---- */

#define USE_TRIES 25
#define USE_PAUSE_US 20000

/* Whether the knob is as wanted already, by whomever. */
static bool is_as_wanted(const struct quiet_options *o)
{
	SCOPED(changes_release) change_list changes = { 0 };
	bool wanted = plan(o, &changes, NULL) == 0;
	array_each(c, &changes)
		wanted &= c->state == QUIET_ALREADY;
	return wanted;
}

int quiet_use(const struct quiet_options *o, const char *knob, int *use, struct error *err)
{
	struct quiet_options one = *o;
	int failed = -1, fd;
	*use = -1;
	if (check_root(o, "make the machine quiet", err))
		return -1;
	fd = journal_open_use(o, knob, true);
	if (fd < 0 || flock(fd, LOCK_SH)) {
		error_errno(err, EXIT_ENVIRONMENT, "cannot lock the journal's knob '%s'", knob);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	one.only = &knob;
	one.only_count = 1;
	/* another one may be about to change it, or to restore what it changed */
	for (int i = 0; failed && i < USE_TRIES && !interrupted(); i++) {
		SCOPED(quiet_list_release) quiet_list changes = { 0 };
		if (i)
			usleep(USE_PAUSE_US);
		failed = !is_as_wanted(&one) && apply(&one, (int)getpid(), fd, &changes, err);
		if (failed && err && err->code != EXIT_USAGE)
			break;
	}
	if (failed)
		close(fd);
	else
		*use = fd;
	return failed ? -1 : 0;
}

int quiet_unuse(const struct quiet_options *o, int *use, struct error *err)
{
	struct quiet_status status;
	bool left = false;
	if (*use < 0)
		return 0;
	/* First it is said that this process needs it no longer, then that it does not use it:
	 * whoever then finds that nobody does restores it. */
	for (int i = 0; !left && i < USE_TRIES; i++) {
		SCOPED(journal_release) struct journal j = JOURNAL_INIT;
		if (i)
			usleep(USE_PAUSE_US);
		/* another process may be looking at it just now */
		if (journal_take(&j, o, err))
			break;
		if (j.fd >= 0)
			left = j.owner != (int)getpid() || journal_leave(&j, NULL) == 0;
		else
			left = quiet_look(o, &status, NULL) == 0 && !status.quiet;
	}
	close(*use);
	*use = -1;
	SCOPED(quiet_list_release) quiet_list restored = { 0 };
	int failed = quiet_restore_abandoned(o, &restored, err);
	/* what a full or broken disk kept from being noted is the guard's when tare ends */
	if (left)
		unguard_changes();
	return failed;
}

int quiet_look(const struct quiet_options *o, struct quiet_status *out, struct error *err)
{
	SCOPED(journal_release) struct journal j = JOURNAL_INIT;
	*out = (struct quiet_status){ 0 };
	if (journal_open(&j, o, err))
		return -1;
	if (j.fd < 0)
		return 0;
	*out = (struct quiet_status){ .quiet = true,
				      .abandoned = journal_is_abandoned(&j),
				      .left = j.left,
				      .stale = j.stale,
				      .owner = j.owner,
				      .since_ns = j.since_ns };
	for (size_t i = 0; i < j.changes.count; i++)
		out->changes += j.changes.items[i].begun && !j.changes.items[i].finished;
	return 0;
}
