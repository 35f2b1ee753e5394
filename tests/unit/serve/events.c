/* Those who listen, and those who work, with connections that are none. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "serve/events.h"
#include "serve/workers.h"

/* ---- a lab that changes when it is told to, and connections ---- */

static uint64_t stamp_now;

static int tell_states(void *context, struct serve_state *states, size_t count, uint64_t *list,
		       struct error *err)
{
	(void)context, (void)err;
	*list = 1;
	for (size_t i = 0; i < count; i++)
		states[i] = (struct serve_state){ states[i].run, true, "going", stamp_now };
	return 0;
}

static bool always(void *context)
{
	(void)context;
	return true;
}

struct connection {
	bool suspended, gone;
};

static void suspend(void *connection)
{
	struct connection *c = connection;
	assert_false(c->suspended);
	c->suspended = true;
}

static void resume(void *connection)
{
	struct connection *c = connection;
	assert_true(c->suspended);
	c->suspended = false;
}

static bool gone(void *connection)
{
	struct connection *c = connection;
	return c->gone;
}

static const struct serve_source changing = { .states = tell_states, .changed = always };
static const struct events_driver driver = { suspend, resume, gone };

static struct listener *add(struct events *all, struct connection *c)
{
	struct serve_state *states = calloc(1, sizeof *states);
	states[0] = (struct serve_state){ 1, true, "going", stamp_now };
	return listener_add(all, c, states, 1, 1, NULL);
}

/* All that there is for it, and then it is suspended. */
static void read_all(struct events *all, struct listener *l, const char *wanted)
{
	char into[4096] = "";
	ssize_t n = listener_read(all, l, into, sizeof into - 1);
	assert_true(n > 0 && strstr(into, wanted));
	assert_int_equal(listener_read(all, l, into, sizeof into), 0);
}

static void listeners_are_woken_by_changes(void **state)
{
	(void)state;
	struct events *all = events_new(&changing, &driver);
	struct connection c = { 0 };
	struct listener *l = add(all, &c);
	read_all(all, l, "retry:");
	events_tick(all);
	assert_true(c.suspended);
	stamp_now++;
	events_tick(all);
	assert_false(c.suspended);
	read_all(all, l, "event: change");
	listener_remove(all, l);
	events_free(all);
}

static void who_does_not_read_is_left(void **state)
{
	(void)state;
	struct events *all = events_new(&changing, &driver);
	struct connection c = { 0 };
	char into[16];
	struct listener *l = add(all, &c);
	for (int i = 0; i < 2000; i++) {
		stamp_now++;
		events_tick(all);
	}
	assert_int_equal(listener_read(all, l, into, sizeof into), -1);
	listener_remove(all, l);
	events_free(all);
}

static void who_hangs_up_makes_room(void **state)
{
	(void)state;
	static struct connection c[LISTENERS_MAX + 1];
	static struct listener *l[LISTENERS_MAX + 1];
	struct events *all = events_new(&changing, &driver);
	char into[16];
	for (size_t i = 0; i < LISTENERS_MAX; i++) {
		l[i] = add(all, &c[i]);
		assert_non_null(l[i]);
		read_all(all, l[i], "retry:");
	}
	assert_null(add(all, &c[LISTENERS_MAX]));
	c[7].gone = true;
	events_tick(all);
	assert_false(c[7].suspended);
	assert_true(c[8].suspended);
	assert_int_equal(listener_read(all, l[7], into, sizeof into), -1);
	listener_remove(all, l[7]);
	l[7] = add(all, &c[LISTENERS_MAX]);
	assert_non_null(l[7]);
	for (size_t i = 0; i < LISTENERS_MAX; i++)
		listener_remove(all, l[i]);
	events_free(all);
}

static void all_are_resumed_at_the_end(void **state)
{
	(void)state;
	struct events *all = events_new(&changing, &driver);
	struct connection c[2] = { 0 };
	char into[16];
	struct listener *l = add(all, &c[0]);
	read_all(all, l, "retry:");
	events_close(all);
	assert_false(c[0].suspended);
	assert_int_equal(listener_read(all, l, into, sizeof into), -1);
	assert_null(add(all, &c[1]));
	listener_remove(all, l);
	events_free(all);
}

/* ---- work ---- */

#define WORKS 20
#define LATE_MAX 10000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t step = PTHREAD_COND_INITIALIZER;
static bool open_gate;
static unsigned begun, made, finished, refused;

static int stamp_each(void *context, const struct request *r, uint64_t *stamp, struct error *err)
{
	(void)context, (void)err;
	*stamp = r->most; /* no two are the same */
	return 0;
}

static int answer_at_the_gate(void *context, const struct request *r, struct strbuf *out,
			      struct error *err)
{
	(void)context, (void)r, (void)err;
	pthread_mutex_lock(&lock);
	begun++;
	pthread_cond_broadcast(&step);
	while (!open_gate)
		pthread_cond_wait(&step, &lock);
	made++;
	pthread_mutex_unlock(&lock);
	strbuf_puts(out, "{}");
	return 0;
}

static const struct serve_source slow = { .stamp = stamp_each, .answer = answer_at_the_gate };

static void note_done(struct work *w)
{
	pthread_mutex_lock(&lock);
	finished++;
	refused += w->answer->status == 503;
	pthread_cond_broadcast(&step);
	pthread_mutex_unlock(&lock);
	answer_release(w->answer);
}

static bool is_wanted(const struct work *w)
{
	return w->request.before == 0;
}

/* As many as there are threads are begun, the others wait. */
static void ask_all(struct workers *all, struct work works[WORKS], unsigned unwanted_from)
{
	open_gate = false;
	begun = made = finished = refused = 0;
	for (unsigned i = 0; i < WORKS; i++) {
		works[i] = (struct work){ .done = note_done, .wanted = is_wanted };
		works[i].request.route = ROUTE_RUNS;
		works[i].request.most = i;
		works[i].request.before = i >= unwanted_from;
		assert_true(workers_ask(all, &works[i]));
	}
	pthread_mutex_lock(&lock);
	while (!begun)
		pthread_cond_wait(&step, &lock);
	pthread_mutex_unlock(&lock);
}

static void open_it(void)
{
	pthread_mutex_lock(&lock);
	open_gate = true;
	pthread_cond_broadcast(&step);
	pthread_mutex_unlock(&lock);
}

static void unwanted_work_is_not_done(void **state)
{
	(void)state;
	struct work works[WORKS];
	struct workers *all = workers_start(&slow);
	ask_all(all, works, WORKS / 2);
	open_it();
	pthread_mutex_lock(&lock);
	while (finished < WORKS)
		pthread_cond_wait(&step, &lock);
	pthread_mutex_unlock(&lock);
	assert_int_equal(made, WORKS / 2);
	assert_int_equal(refused, WORKS - WORKS / 2);
	workers_stop(all);
	workers_free(all);
}

static uint64_t longest_ns; /* that a change had waited for its turn */

static int edit_at_the_gate(void *context, int64_t run, const struct request_edit *e,
			    uint64_t waited_ns, struct error *err)
{
	struct strbuf none = { 0 };
	(void)run, (void)e;
	/* one at a time */
	longest_ns = waited_ns > longest_ns ? waited_ns : longest_ns;
	int failed = answer_at_the_gate(context, NULL, &none, err);
	strbuf_release(&none);
	return failed;
}

static int answer_at_once(void *context, const struct request *r, struct strbuf *out,
			  struct error *err)
{
	(void)context, (void)r, (void)err;
	strbuf_puts(out, "{}");
	return 0;
}

static const struct serve_source busy = { .stamp = stamp_each,
					  .answer = answer_at_once,
					  .edit = edit_at_the_gate };

/* A lab that is locked keeps the one who changes it waiting, and the others who would, in line. */
static void readers_do_not_wait_for_changes(void **state)
{
	(void)state;
	static int64_t run = 1;
	struct work works[WORKS];
	struct workers *all = workers_start(&busy);
	open_gate = false;
	begun = made = finished = refused = 0;
	for (unsigned i = 0; i < WORKS; i++) {
		bool writes = i < WORKS - 1;
		works[i] = (struct work){ .done = note_done, .wanted = is_wanted };
		works[i].request.route = writes ? ROUTE_RUN : ROUTE_RUNS;
		works[i].request.writes = writes;
		works[i].request.runs.items = &run;
		works[i].request.runs.count = writes;
		assert_true(workers_ask(all, &works[i]));
	}
	pthread_mutex_lock(&lock);
	while (!finished)
		pthread_cond_wait(&step, &lock);
	assert_int_equal(made, 0);
	assert_true(begun <= 1);
	pthread_mutex_unlock(&lock);
	uint64_t held_ns = 20000000;
	usleep((useconds_t)(held_ns / 1000));
	open_it();
	pthread_mutex_lock(&lock);
	while (finished < WORKS)
		pthread_cond_wait(&step, &lock);
	pthread_mutex_unlock(&lock);
	assert_int_equal(made, WORKS - 1);
	assert_in_range(longest_ns, held_ns, UINT64_C(60000000000));
	workers_stop(all);
	workers_free(all);
}

static void *stop(void *context)
{
	workers_stop(context);
	return NULL;
}

static void what_waits_is_refused_at_the_end(void **state)
{
	(void)state;
	static struct work late[LATE_MAX + 1];
	struct work works[WORKS];
	struct workers *all = workers_start(&slow);
	pthread_t stopper;
	unsigned taken = 0;
	ask_all(all, works, WORKS);
	assert_int_equal(pthread_create(&stopper, NULL, stop, all), 0);
	/* the gate stays closed until it is being stopped */
	for (late[0] = works[0]; taken < LATE_MAX && workers_ask(all, &late[taken]); taken++) {
		late[taken + 1] = works[0];
		usleep(1000);
	}
	assert_true(taken < LATE_MAX);
	open_it();
	pthread_join(stopper, NULL);
	assert_int_equal(finished, WORKS + taken);
	assert_int_equal(made, begun);
	assert_int_equal(refused, finished - made);
	assert_true(made < WORKS);
	workers_free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(listeners_are_woken_by_changes),
		cmocka_unit_test(who_does_not_read_is_left),
		cmocka_unit_test(who_hangs_up_makes_room),
		cmocka_unit_test(all_are_resumed_at_the_end),
		cmocka_unit_test(unwanted_work_is_not_done),
		cmocka_unit_test(readers_do_not_wait_for_changes),
		cmocka_unit_test(what_waits_is_refused_at_the_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
