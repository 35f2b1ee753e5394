#include "query-fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
#define SCAN 0x1111u
#define SEARCH 0x2222u
#define JOIN 0x3333u
#define SORTED 0x4444u
#define BEGAN INT64_C(1789459200000000000) /* 2026-09-15 08:00:00 UTC */

const char *const query_fixture_names[] = { "whole",   "slower",   "warm",  "refused",
					    "dropped", "imported", "empty", NULL };

/* ms of CPU, a little up and down, and a device that serves it for half as long. */
static struct query_execution make(uint32_t number, double ms, uint64_t plan)
{
	double cpu = ms * 1e6 * (1 + 0.002 * (double)(number * 7 % 5) - 0.004);
	uint64_t device = (uint64_t)(cpu / 2);
	struct query_execution x = { .number = number,
				     .measured_ns = (uint64_t)(cpu * 1.6) + 3 * MS,
				     .snapshot_ns = 2 * MS,
				     .plan = plan,
				     .query_process = 5,
				     .query_tasks = 1,
				     .own_device_ns = device,
				     .others_device_ns = MS,
				     .blkio_most_ns = device + MS,
				     .started_at_ns = BEGAN + (int64_t)number * 1000000000,
				     .rows = 10,
				     .read_bytes = ABSENT_NS,
				     .run_delay_ns = MS / 10 };
	x.usage[QUERY_QUERY] = (struct query_usage){
		.value = { [QUERY_USER_NS] = (uint64_t)(cpu * 0.9),
			   [QUERY_SYSTEM_NS] = (uint64_t)(cpu * 0.1),
			   [QUERY_BLKIO_NS] = device + MS,
			   [QUERY_READS] = (uint64_t)ms * 10 + number,
			   [QUERY_NVCSW] = 100 + number % 3 },
		.processes = 1,
	};
	x.usage[QUERY_DAEMON] =
		(struct query_usage){ .value = { [QUERY_USER_NS] = MS / 10 * (number % 4) },
				      .processes = 3 };
	x.overall_ns[OVERALL_USER] = (uint64_t)cpu;
	x.overall_ns[OVERALL_SYSTEM] = (uint64_t)(cpu * 0.1);
	x.overall_ns[OVERALL_IOWAIT] = device / 10;
	return x;
}

static struct query_at *add_at(struct query_fixture *f, uint32_t query, uint64_t cardinality,
			       double ms, uint64_t plan)
{
	array_push(&f->data.at, ((struct query_at){ .query = query,
						    .cardinality = cardinality,
						    .table_bytes = cardinality * 100 }));
	struct query_at *at = &f->data.at.items[f->data.at.count - 1];
	for (uint32_t i = 1; i <= 10; i++) {
		struct query_execution x = make(i, ms, plan);
		if (cardinality)
			x.read_bytes = f->data.cold ? at->table_bytes * 101 / 100 : 512;
		array_push(&at->executions, x);
	}
	return at;
}

static void add_text(struct query_fixture *f, uint32_t query, const char *name, const char *sql)
{
	array_push(&f->data.texts, ((struct query_text){ query, strdup(name), strdup(sql) }));
}

static void add_plan(struct query_fixture *f, uint64_t hash, const char *json)
{
	array_push(&f->data.plans, ((struct query_plan){ hash, strdup(json) }));
}

static void add_event(struct query_fixture *f, enum query_event_kind kind, uint32_t query,
		      uint64_t cardinality, const char *text)
{
	bool restarted = kind == QUERY_RESTARTED;
	const struct query_event e = { .kind = kind,
				       .at_ns = BEGAN + (int64_t)f->data.events.count *
								INT64_C(60000000000),
				       .query = query,
				       .cardinality = cardinality,
				       .plan = restarted ? JOIN : 0,
				       .before = restarted ? SORTED : 0,
				       .text = text ? strdup(text) : NULL };
	array_push(&f->data.events, e);
}

static void add_plans(struct query_fixture *f)
{
	add_plan(
		f, SCAN,
		"{\"children\":[{\"conditions\":[\"a < 100\"],\"node\":\"Seq Scan\","
		"\"relation\":\"t\"}],\"details\":{\"strategy\":\"Plain\"},\"node\":\"Aggregate\"}");
	add_plan(f, SEARCH,
		 "{\"children\":[{\"conditions\":[\"a < 100\"],\"index\":\"t_a\","
		 "\"node\":\"Index Scan\",\"relation\":\"t\"}],"
		 "\"details\":{\"strategy\":\"Plain\"},\"node\":\"Aggregate\"}");
	add_plan(f, JOIN,
		 "{\"children\":[{\"node\":\"Seq Scan\",\"relation\":\"t\"},{\"children\":[{"
		 "\"alias\":\"other\",\"node\":\"Seq Scan\",\"relation\":\"u\"}],"
		 "\"node\":\"Hash\"}],\"conditions\":[\"t.a = other.b\"],\"join\":\"inner\","
		 "\"node\":\"Hash Join\"}");
	add_plan(f, SORTED,
		 "{\"children\":[{\"children\":[{\"node\":\"Seq Scan\",\"relation\":\"t\"}],"
		 "\"details\":{\"key\":\"a\"},\"node\":\"Sort\"},{\"alias\":\"other\","
		 "\"node\":\"Seq Scan\",\"relation\":\"u\"}],\"conditions\":[\"t.a = other.b\"],"
		 "\"join\":\"inner\",\"node\":\"Merge Join\"}");
}

static void make_whole(struct query_fixture *f, bool slower)
{
	struct query_at *at;
	snprintf(f->data.dbms, sizeof f->data.dbms, "postgresql");
	f->data.version = strdup("PostgreSQL 15.8 (Debian 15.8-0+deb12u1)");
	f->data.settings = strdup("{\"jit\":\"off\"}");
	f->data.experiment_name = strdup("four");
	f->data.experiment = strdup("name: four\n");
	f->data.scenario = strdup("exhaustive");
	f->data.cold = true;
	f->data.planned = 10;
	f->data.seed = UINT64_MAX;
	f->data.time_limit_ns = 1200000 * MS;
	f->data.queries = 5;		       /* the fifth was never executed */
	at = add_at(f, 1, 100000, 30, SEARCH); /* reads few of the pages */
	for (size_t k = 0; k < 10; k++)
		at->executions.items[k].read_bytes /= 50;
	add_at(f, 1, 500000, slower ? 220 : 200, SCAN);
	add_at(f, 1, 1000000, 400, SCAN);
	add_at(f, 2, 500000, 900, slower ? SORTED : JOIN); /* longer than at the higher one */
	at = add_at(f, 2, 1000000, 800, JOIN);
	at->executions.items[3].timed_out = true;
	at->executions.items[6].utility_most_ns = UINT64_C(900000000000);
	at = add_at(f, 3, 500000, 150, SCAN);
	for (size_t k = 0; k < 5; k++)
		at->executions.items[2 * k].ephemeral = 1;
	at = add_at(f, 3, 1000000, 300, SCAN);
	for (size_t k = 0; k < 10; k += 2)
		at->executions.items[k].usage[QUERY_QUERY].value[QUERY_USER_NS] /= 3;
	at = add_at(f, 4, 1000000, 250, JOIN);
	at->executions.items[9].query_process = 6;
	add_text(f, 1, "scan", "SELECT count(*) FROM t WHERE a < 100");
	add_text(f, 2, "join", "SELECT * FROM t JOIN u AS other ON t.a = other.b");
	add_text(f, 3, "mean", "SELECT avg(a) FROM t WHERE a < 100");
	add_text(f, 4, "a query with a long name", "SELECT a FROM t JOIN u AS other USING (a)");
	add_plans(f);
	add_event(f, QUERY_BACKED_OFF, 2, 1000000, "connection lost: server closed it");
	add_event(f, QUERY_RESTARTED, 2, 500000, NULL);
	add_event(f, QUERY_MADE_TABLE, 0, 0, "t");
	add_event(f, QUERY_GAVE_UP, 5, 500000, "its plan changed five times");
	f->data.cpus = 2;
	f->run.id = slower ? 13 : 12;
}

static void make_warm(struct query_fixture *f)
{
	snprintf(f->data.dbms, sizeof f->data.dbms, "sqlite");
	f->data.version = strdup("3.40.1");
	f->data.experiment_name = strdup("quick");
	f->data.scenario = strdup("onepass");
	f->data.planned = 10;
	f->data.queries = 2;
	add_at(f, 1, 1000, 2, SEARCH);
	add_at(f, 1, 4000, 9, SCAN);
	add_at(f, 2, 4000, 30, JOIN);
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 10; k++) {
			struct query_execution *x = &f->data.at.items[i].executions.items[k];
			x->own_device_ns = x->others_device_ns = ABSENT_NS;
		}
	add_plans(f);
	add_event(f, QUERY_SAME_PLAN, 1, 2000, NULL);
	add_event(f, QUERY_SAME_PLAN, 2, 1000, NULL);
	f->data.cpus = 1;
}

/* Nothing is kept, half of an execution's measures were not seen, and the run was interrupted. */
static void make_dropped(struct query_fixture *f)
{
	make_warm(f);
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 10; k++)
			f->data.at.items[i].executions.items[k].ephemeral = 1;
	struct query_execution *x = f->data.at.items[0].executions.items;
	x[0].lost = 2;
	x[1].usage[QUERY_QUERY].missing = 1u << QUERY_USER_NS;
	f->data.at.items[2].executions.count = 7;
	f->run.status = RUN_INTERRUPTED;
	f->run.not_seen = strdup("Block events (no BTF), and so the time of devices.");
}

static void make_refused(struct query_fixture *f)
{
	snprintf(f->data.dbms, sizeof f->data.dbms, "mariadb");
	f->data.version = strdup("10.11.6-MariaDB");
	f->data.cold = f->data.io_by_process = true;
	f->data.planned = 10;
	f->data.queries = 1;
	f->data.cpus = 2;
	struct query_at *at = add_at(f, 1, 0, 50, SCAN);
	for (size_t k = 0; k < at->executions.count; k++)
		at->executions.items[k].query_tasks = 1 + (k > 4);
	add_plans(f);
}

static void make_imported(struct query_fixture *f)
{
	f->data.imported = true;
	f->data.queries = 1;
	f->options.form = TTP_PAPER;
	struct query_at *at = add_at(f, 1, 1000, 2000, 0);
	at->table_bytes = 0;
	for (size_t k = 0; k < at->executions.count; k++) {
		struct query_execution *x = &at->executions.items[k];
		x->own_device_ns = x->others_device_ns = x->read_bytes = x->run_delay_ns =
			ABSENT_NS;
		x->usage[QUERY_DAEMON].missing = 1u << QUERY_READS;
		x->ephemeral = -1;
		x->started_at_ns = 0;
	}
}

static void make_machine(struct query_fixture *f)
{
	machine_set(&f->machine, "cpu.model", "Intel(R) Core(TM) i7-870");
	machine_set(&f->machine, "memory.total_mib", "4096");
	machine_set(&f->machine, "kernel.release", "6.1.0-18-amd64");
	machine_set(&f->machine, "system.os", "Debian GNU/Linux 12");
	machine_set(&f->machine, "system.hypervisor", "kvm");
	machine_set(&f->machine, "now.directory.disk", "vda");
	machine_set(&f->machine, "disk.vda.rotational", "1");
	f->run = (struct run){ .id = f->run.id ? f->run.id : 12,
			       .kind = SUBJECT_QUERY,
			       .name = strdup("four"),
			       .version = strdup("0.7.0"),
			       .not_seen = f->run.not_seen,
			       .status = f->run.status ? f->run.status : RUN_COMPLETE,
			       .started_at_ns = BEGAN,
			       .ended_at_ns = BEGAN + INT64_C(754000000000) };
}

bool query_fixture_make(struct query_fixture *f, const char *which)
{
	*f = (struct query_fixture){ 0 };
	if (!strcmp(which, "whole") || !strcmp(which, "slower"))
		make_whole(f, *which == 's');
	else if (!strcmp(which, "warm"))
		make_warm(f);
	else if (!strcmp(which, "dropped"))
		make_dropped(f);
	else if (!strcmp(which, "refused"))
		make_refused(f);
	else if (!strcmp(which, "imported"))
		make_imported(f);
	else if (strcmp(which, "empty") != 0)
		return false;
	if (!f->data.imported)
		make_machine(f);
	f->options.floor_ns = 100000;
	f->view = (struct query_view){ f->data.imported ? NULL : &f->run,
				       f->data.imported ? NULL : &f->machine, &f->data, &f->options,
				       &f->result };
	query_fixture_judge(f);
	return true;
}

void query_fixture_judge(struct query_fixture *f)
{
	ttp_result_release(&f->result);
	ttp_judge(&f->data, &f->options, &f->result);
}

void query_fixture_release(struct query_fixture *f)
{
	ttp_result_release(&f->result);
	query_run_release(&f->data);
	machine_release(&f->machine);
	run_release(&f->run);
}
