/* The experiment: every query at every cardinality, executed as often as asked. */
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "measure/query_names.h"
#include "measure/query_tables.h"
#include "subject/experiment_random.h"

#define BACK_OFF_NS 100000000u
#define TRIES 10   /* the paper's */
#define RETRIES 3  /* after an error of a server that is there: a cancel, a deadlock */
#define RESTARTS 5 /* of one Q@C: a plan that flips each time is not waited for */

struct pair {
	uint32_t query; /* from 1 */
	uint64_t cardinality;
};

struct conduct {
	struct query_rig *r;
	const struct experiment *e;
	const struct query_conduct_options *o;
	const struct query_hooks *hooks;
	ARRAY(struct pair) pairs; /* in the order of execution */
	uint64_t *above;	  /* by query: its plan at the next higher cardinality; 0: none */
	struct execution raw;
	struct query_names names;
	struct table_book tables;
	size_t done, total;
	/* where it is */
	struct pair at;
	bool filled; /* the table that varies, to this: */
	uint64_t filled_to;
	bool prepared, warmed; /* on this connection; since it began */
	uint64_t plan;	       /* of the Q@C; 0: not known yet */
	uint64_t now;	       /* the plan that was found last */
	uint32_t restarts;
	bool changed;	 /* the plan is not that of the executions so far */
	uint32_t number; /* of the execution to be made */
	bool refused;	 /* by a hook: it cannot be stored, which is no fault of a query */
	char doing[96];
};

static void tell_progress(struct conduct *c)
{
	const struct query_progress p = { c->done, c->total, c->doing };
	if (c->hooks->progress)
		c->hooks->progress(c->hooks->context, &p);
}

static int hooked(struct conduct *c, int failed)
{
	c->refused |= failed != 0;
	return failed;
}

static int tell_event(struct conduct *c, enum query_event_kind kind, uint64_t plan, uint64_t before,
		      const char *text, struct error *err)
{
	struct query_event event = { .kind = kind,
				     .at_ns = clock_realtime_ns(),
				     .query = c->at.query,
				     .cardinality = c->at.cardinality,
				     .plan = plan,
				     .before = before,
				     .text = text ? xstrdup(text) : NULL };
	int failed = hooked(c, c->hooks->event(c->hooks->context, &event, err));
	free(event.text);
	return failed;
}

/* ---- errors that pass ---- */

/* Whether an error is of the server and not of the connection to it: a statement that fails, or one
 * that somebody cancelled. */
static bool is_answer(const struct conduct *c, const struct error *err)
{
	return !c->refused && (err->code == EXIT_USAGE || err->code == EXIT_ENVIRONMENT) &&
	       !dbms_lost(c->r->dbms);
}

static int pause_run(struct conduct *c, struct error *err)
{
	struct error late = ERROR_INIT;
	char why[sizeof err->text];
	memcpy(why, err->text, sizeof why);
	tell_event(c, QUERY_PAUSED, 0, 0, why, &late);
	error_set(err, EXIT_SUBJECT, "paused after %d tries: %.800s", TRIES, why);
	return error_hint(err, "'tare query resume' goes on with it when the server is well again");
}

/* Does a step again and again, with a longer pause each time, and with a new connection where it
 * was lost. What the statement itself is to blame for is not tried again. */
static int patiently(struct conduct *c, int (*step)(struct conduct *c, struct error *err),
		     struct error *err)
{
	uint64_t pause = c->o->back_off_ns ? c->o->back_off_ns : BACK_OFF_NS;
	bool lost = false;
	int answers = 0; /* in a row, from a server that is there */
	for (int attempt = 0;; attempt++, pause *= 2) {
		if (interrupted())
			return error_set(err, EXIT_INTERRUPTED, "interrupted");
		*err = (struct error)ERROR_INIT;
		bool connected = true;
		if (attempt)
			c->prepared = false;
		if (lost) {
			c->warmed = false; /* it may be another server process */
			connected = (!c->r->server || server_start(c->r->server, err) == 0) &&
				    dbms_reconnect(c->r->dbms, err) == 0;
		}
		if (connected && step(c, err) == 0)
			return 0;
		if (c->refused || err->code == EXIT_INTERRUPTED)
			return -1;
		/* a server that cannot be reached at all may be back, too */
		lost = !connected || !is_answer(c, err);
		answers = lost ? 0 : answers + 1;
		if (!lost && (err->code == EXIT_USAGE || answers > RETRIES))
			return -1;
		if (attempt == TRIES)
			return pause_run(c, err);
		struct error told = ERROR_INIT;
		if (tell_event(c, QUERY_BACKED_OFF, 0, 0, err->text, &told)) {
			*err = told;
			return -1;
		}
		const struct timespec t = { (time_t)(pause / 1000000000u),
					    (long)(pause % 1000000000u) };
		ppoll(NULL, 0, &t, interrupt_mask());
		if (interrupted())
			return error_set(err, EXIT_INTERRUPTED, "interrupted");
	}
}

/* ---- what was done already ---- */

static const struct query_at *stored(const struct conduct *c, struct pair p)
{
	const struct query_run *done = c->o->done;
	for (size_t i = 0; done && i < done->at.count; i++)
		if (done->at.items[i].query == p.query &&
		    done->at.items[i].cardinality == p.cardinality)
			return &done->at.items[i];
	return NULL;
}

static bool is_stored(const struct query_at *at, uint32_t number)
{
	for (size_t i = 0; at && i < at->executions.count; i++)
		if (at->executions.items[i].number == number)
			return true;
	return false;
}

/* A Q@C that was not executed since it has the plan of the next higher cardinality. */
static const struct query_event *skipped(const struct conduct *c, struct pair p)
{
	const struct query_run *done = c->o->done;
	for (size_t i = 0; done && i < done->events.count; i++) {
		const struct query_event *event = &done->events.items[i];
		if (event->kind == QUERY_SAME_PLAN && event->query == p.query &&
		    event->cardinality == p.cardinality)
			return event;
	}
	return NULL;
}

/* ---- the order ---- */

static void add_pairs(struct conduct *c, uint64_t cardinality, uint64_t *drawn)
{
	size_t first = c->pairs.count, count = c->e->queries.count;
	for (uint32_t q = 1; q <= count; q++)
		array_push(&c->pairs, (struct pair){ q, cardinality });
	for (size_t i = count; drawn && i > 1; i--) {
		size_t j = (size_t)(draw(c->e->seed, (*drawn)++) % i);
		struct pair *a = &c->pairs.items[first + i - 1], *b = &c->pairs.items[first + j];
		struct pair kept = *a;
		*a = *b;
		*b = kept;
	}
}

/* Cardinalities go down from the largest, in whatever order queries come. */
static void set_order(struct conduct *c)
{
	const struct experiment *e = c->e;
	uint64_t drawn = 0;
	if (!e->cardinalities.count) {
		add_pairs(c, 0, e->order == ORDER_SHUFFLED ? &drawn : NULL);
	} else if (e->order == ORDER_BY_QUERY) {
		for (uint32_t q = 1; q <= e->queries.count; q++)
			for (size_t i = 0; i < e->cardinalities.count; i++)
				array_push(&c->pairs,
					   (struct pair){ q, e->cardinalities.items[i] });
	} else {
		for (size_t i = 0; i < e->cardinalities.count; i++)
			add_pairs(c, e->cardinalities.items[i],
				  e->order == ORDER_SHUFFLED ? &drawn : NULL);
	}
	c->total = c->pairs.count * e->executions;
}

/* ---- a Q@C ---- */

static int note_table(void *context, const char *name, struct error *err)
{
	struct conduct *c = context;
	return tell_event(c, QUERY_MADE_TABLE, 0, 0, name, err);
}

static int create_tables(struct conduct *c, struct error *err)
{
	return query_tables_create(c->r->dbms, c->e, &c->tables, err);
}

static int load_tables(struct conduct *c, struct error *err)
{
	return query_tables_load(c->r->dbms, c->e, err);
}

/* Whether the server understands them: before rows are loaded, and before an hour has passed. */
static int check_queries(struct conduct *c, struct error *err)
{
	for (size_t i = 0; i < c->e->queries.count; i++)
		if (dbms_prepare(c->r->dbms, c->e->queries.items[i].sql, err))
			return error_prefix(err, "query %zu", i + 1);
	return 0;
}

static int fill(struct conduct *c, struct error *err)
{
	return query_tables_fill(c->r->dbms, c->e, c->at.cardinality, err);
}

static void add_relations(const json_t *node, json_t *names)
{
	const char *relation = json_string_value(json_object_get(node, "relation"));
	const json_t *children = json_object_get(node, "children");
	if (relation)
		json_object_set_new(names, relation, json_true());
	for (size_t i = 0; i < json_array_size(children); i++)
		add_relations(json_array_get(children, i), names);
}

/* Bytes of the tables in the plan; 0 where one of them is not told. */
static uint64_t bytes_of(struct conduct *c, const struct query_plan *plan)
{
	json_t *root = json_loads(plan->json, 0, NULL), *names = json_object();
	uint64_t sum = 0;
	bool known = true;
	const char *name;
	json_t *value;
	add_relations(root, names);
	json_object_foreach(names, name, value)
	{
		struct error ignored = ERROR_INIT;
		uint64_t bytes = 0;
		known &= dbms_table_bytes(c->r->dbms, name, &bytes, &ignored) == 0 && bytes;
		sum += bytes;
	}
	json_decref(names);
	json_decref(root);
	return known ? sum : 0;
}

/* Finds its plan now; a new one is told. */
static int look_at_plan(struct conduct *c, uint64_t *bytes, struct error *err)
{
	struct query_plan plan = { 0 };
	if (!c->prepared) {
		if (dbms_prepare(c->r->dbms, c->e->queries.items[c->at.query - 1].sql, err))
			return error_prefix(err, "query %" PRIu32, c->at.query);
		c->prepared = true;
	}
	if (dbms_plan(c->r->dbms, &plan, err))
		return -1;
	int failed = 0;
	if (plan.hash != c->now)
		failed = hooked(c, c->hooks->planned(c->hooks->context, &plan, err));
	if (bytes)
		*bytes = bytes_of(c, &plan);
	c->now = plan.hash;
	free(plan.json);
	return failed;
}

static int begin_at(struct conduct *c, struct error *err)
{
	struct query_at at = { .query = c->at.query, .cardinality = c->at.cardinality };
	if (look_at_plan(c, &at.table_bytes, err))
		return -1;
	if (c->e->scenario == SCENARIO_ONEPASS && !c->plan && c->now == c->above[c->at.query - 1])
		return 0;
	return hooked(c, c->hooks->begun(c->hooks->context, &at, err));
}

static int execute_once(struct conduct *c, struct error *err)
{
	struct query_execution q;
	uint64_t table_bytes = 0;
	if (look_at_plan(c, c->o->writes ? &table_bytes : NULL, err))
		return -1;
	if (!c->plan)
		c->plan = c->now;
	c->changed = c->now != c->plan;
	if (c->changed)
		return 0;
	if (c->e->cold) {
		c->prepared = false;
		if (query_cold(c->r, err) || look_at_plan(c, NULL, err))
			return -1;
		c->changed = c->now != c->plan;
		if (c->changed)
			return 0;
	}
	/* once more than asked for, so that all it reads is in the caches */
	if (!c->e->cold && !c->warmed && query_execute(c->r, c->e->time_limit_ns, &q, &c->raw, err))
		return -1;
	c->warmed = true;
	if (query_execute(c->r, c->e->time_limit_ns, &q, &c->raw, err))
		return -1;
	query_name_processes(&c->names, &c->raw);
	q.number = c->number;
	q.table_bytes = table_bytes;
	q.plan = c->plan;
	return hooked(c, c->hooks->executed(c->hooks->context, c->at.query, c->at.cardinality, &q,
					    &c->raw, err));
}

static int executions(struct conduct *c, const struct query_at *before, struct error *err)
{
	size_t done = c->done;
	for (c->number = 1; c->number <= c->e->executions; c->number++) {
		tell_progress(c);
		if (is_stored(before, c->number)) {
			c->done++;
			continue;
		}
		if (patiently(c, execute_once, err))
			return -1;
		c->done++;
		if (!c->changed)
			continue;
		/* the plan is another one: all over again, from the first execution */
		uint64_t plan = c->plan;
		c->done = done;
		c->plan = 0;
		c->warmed = false;
		if (tell_event(c, QUERY_RESTARTED, c->now, plan, "the plan changed", err))
			return -1;
		if (++c->restarts > RESTARTS)
			return tell_event(c, QUERY_GAVE_UP, 0, 0, NULL, err);
		before = NULL;
		c->number = 0;
	}
	return 0;
}

/* Begins the Q@C and executes it. */
static int measure_pair(struct conduct *c, const struct query_at *before, struct error *err)
{
	if (patiently(c, begin_at, err))
		return -1;
	if (c->e->scenario == SCENARIO_ONEPASS && !c->plan && c->now == c->above[c->at.query - 1]) {
		c->plan = c->now;
		return tell_event(c, QUERY_SAME_PLAN, c->now, 0, NULL, err);
	}
	return executions(c, before, err);
}

static int conduct_pair(struct conduct *c, struct pair p, struct error *err)
{
	c->at = p;
	c->prepared = c->warmed = c->changed = false;
	c->restarts = 0;
	c->now = 0;
	const struct query_at *before = stored(c, p);
	const struct query_event *skip = skipped(c, p);
	c->plan = before && before->executions.count ? before->executions.items[0].plan
		  : skip			     ? skip->plan
						     : 0;
	bool complete = true;
	size_t done = c->done;
	for (uint32_t n = 1; n <= c->e->executions && complete; n++)
		complete = skip || is_stored(before, n);
	if (!complete) {
		if (c->e->cardinalities.count && (!c->filled || c->filled_to != p.cardinality)) {
			snprintf(c->doing, sizeof c->doing, "filling to %" PRIu64, p.cardinality);
			tell_progress(c);
			c->filled = false;
			if (patiently(c, fill, err))
				return -1;
			c->filled = true;
			c->filled_to = p.cardinality;
		}
		snprintf(c->doing, sizeof c->doing, "query %" PRIu32 " at %" PRIu64, p.query,
			 p.cardinality);
		if (measure_pair(c, before, err)) {
			if (!is_answer(c, err))
				return -1;
			/* the others may be well: what is missing is for a resumed run */
			struct error told = ERROR_INIT;
			FREED char *why =
				xprintf("%s%s%s", err->text, *err->hint ? "; " : "", err->hint);
			if (tell_event(c, QUERY_GAVE_UP, 0, 0, why, &told)) {
				*err = told;
				return -1;
			}
			*err = (struct error)ERROR_INIT;
		}
	}
	c->done = done + c->e->executions;
	c->above[p.query - 1] = c->plan;
	return 0;
}

int query_conduct(struct query_rig *r, const struct experiment *e,
		  const struct query_conduct_options *o, const struct query_hooks *hooks,
		  struct error *err)
{
	struct conduct c = { .r = r, .e = e, .o = o, .hooks = hooks };
	c.above = xcalloc(e->queries.count + 1, sizeof *c.above);
	set_order(&c);
	/* the tables that the run made before it was interrupted are its own */
	const struct query_run *done = c.o->elsewhere ? NULL : c.o->done;
	c.tables = (struct table_book){ .others = c.o->tables, .note = note_table, .context = &c };
	for (size_t i = 0; done && i < done->events.count; i++)
		if (done->events.items[i].kind == QUERY_MADE_TABLE && done->events.items[i].text)
			table_book_add(&c.tables, done->events.items[i].text);
	c.tables.before = c.tables.ours.count;
	snprintf(c.doing, sizeof c.doing, "making the tables");
	tell_progress(&c);
	int failed = patiently(&c, create_tables, err);
	if (!failed && patiently(&c, check_queries, err)) {
		failed = -1;
		if (err->code == EXIT_USAGE)
			query_tables_undo(r->dbms, &c.tables);
	}
	if (!failed)
		failed = patiently(&c, load_tables, err);
	for (size_t i = 0; !failed && i < c.pairs.count; i++)
		failed = conduct_pair(&c, c.pairs.items[i], err);
	array_release(&c.pairs);
	table_book_release(&c.tables);
	xfree(c.above);
	query_names_release(&c.names);
	execution_release(&c.raw);
	return failed;
}
