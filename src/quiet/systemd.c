#include "quiet/systemd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/interrupt.h"

bool systemd_runs(void)
{
	struct stat st;
	return lstat("/run/systemd/system", &st) == 0 && S_ISDIR(st.st_mode);
}

#ifdef HAVE_LIBSYSTEMD
#include <systemd/sd-bus.h>

#define SYSTEMD "org.freedesktop.systemd1"
#define MANAGER "/org/freedesktop/systemd1", SYSTEMD ".Manager"
#define PATIENCE_NS UINT64_C(120000000000) /* systemd kills what does not stop after 90 s */

struct systemd {
	sd_bus *bus;
};

int systemd_open(struct systemd **out, struct error *err)
{
	sd_bus *bus = NULL;
	int code = sd_bus_open_system(&bus);
	if (code < 0) {
		error_set(err, EXIT_ENVIRONMENT, "cannot ask systemd over the system bus: %s",
			  strerror(-code));
		return error_hint(err, "is dbus running?");
	}
	*out = xcalloc(1, sizeof **out);
	(*out)->bus = bus;
	return 0;
}

void systemd_close(struct systemd *s)
{
	if (!s)
		return;
	sd_bus_flush_close_unref(s->bus);
	free(s);
}

static int failed(int code, const sd_bus_error *why, const char *to_do, const char *unit,
		  struct error *err)
{
	return error_set(err, EXIT_ENVIRONMENT, "cannot %s %s: %s", to_do, unit,
			 why && why->message ? why->message : strerror(-code));
}

/* The object of a unit, which the caller frees; NULL where it is not loaded, or the code is below
 * 0. */
static int object_of(struct systemd *s, const char *unit, char **out)
{
	sd_bus_error why = SD_BUS_ERROR_NULL;
	sd_bus_message *reply = NULL;
	const char *path = NULL;
	*out = NULL;
	int code = sd_bus_call_method(s->bus, SYSTEMD, MANAGER, "GetUnit", &why, &reply, "s", unit);
	if (code >= 0)
		code = sd_bus_message_read(reply, "o", &path);
	if (code >= 0)
		*out = xstrdup(path);
	else if (sd_bus_error_has_name(&why, SYSTEMD ".NoSuchUnit"))
		code = 0;
	sd_bus_message_unref(reply);
	sd_bus_error_free(&why);
	return code;
}

static char *text_of(struct systemd *s, const char *object, const char *property)
{
	char *text = NULL;
	if (sd_bus_get_property_string(s->bus, SYSTEMD, object, SYSTEMD ".Unit", property, NULL,
				       &text) < 0)
		return xstrdup("");
	return text;
}

enum unit_state systemd_state(struct systemd *s, const char *unit, char id[256])
{
	FREED char *object = NULL;
	snprintf(id, 256, "%s", unit);
	int code = object_of(s, unit, &object);
	if (!object)
		return code < 0 ? UNIT_UNKNOWN : UNIT_ABSENT;
	FREED char *active = text_of(s, object, "ActiveState");
	FREED char *sub = text_of(s, object, "SubState"), *name = text_of(s, object, "Id");
	enum unit_state state = UNIT_WORKING;
	if (*name)
		snprintf(id, 256, "%s", name);
	if (!*active) {
		state = UNIT_UNKNOWN;
	} else if (strcmp(active, "deactivating") == 0) {
		state = UNIT_STOPPING;
	} else if (strcmp(active, "inactive") == 0 || strcmp(active, "failed") == 0) {
		state = UNIT_ABSENT;
	} else if (strcmp(active, "active") == 0 && strcmp(sub, "exited") == 0) {
		state = UNIT_DONE;
	} else if (strcmp(active, "active") == 0) {
		int transient = 0;
		bool told = sd_bus_get_property_trivial(s->bus, SYSTEMD, object, SYSTEMD ".Unit",
							"Transient", NULL, 'b', &transient) >= 0;
		state = told && transient ? UNIT_PASSING : UNIT_RUNNING;
	}
	return state;
}

int systemd_active(struct systemd *s, const char *suffix, word_list *out, struct error *err)
{
	sd_bus_error why = SD_BUS_ERROR_NULL;
	sd_bus_message *reply = NULL;
	char pattern[64];
	snprintf(pattern, sizeof pattern, "*%s", suffix);
	int code = sd_bus_call_method(s->bus, SYSTEMD, MANAGER, "ListUnitsByPatterns", &why, &reply,
				      "asas", 1, "active", 1, pattern);
	if (code >= 0)
		code = sd_bus_message_enter_container(reply, 'a', "(ssssssouso)");
	while (code >= 0 && (code = sd_bus_message_enter_container(reply, 'r', "ssssssouso")) > 0) {
		const char *name; /* the first of the ten members */
		code = sd_bus_message_read(reply, "s", &name);
		if (code >= 0)
			code = sd_bus_message_skip(reply, "sssssouso");
		if (code >= 0)
			code = sd_bus_message_exit_container(reply);
		if (code >= 0)
			array_push(out, xstrdup(name));
	}
	int answer = code < 0 ? failed(code, &why, "list", pattern, err) : 0;
	sd_bus_message_unref(reply);
	sd_bus_error_free(&why);
	return answer;
}

int systemd_triggers(struct systemd *s, const char *unit, word_list *out, struct error *err)
{
	char *object, **names = NULL;
	sd_bus_message *reply = NULL;
	int code = object_of(s, unit, &object);
	if (object)
		code = sd_bus_get_property(s->bus, SYSTEMD, object, SYSTEMD ".Unit", "TriggeredBy",
					   NULL, &reply, "as");
	if (object && code >= 0)
		code = sd_bus_message_read_strv(reply, &names);
	for (char **name = names; name && *name; name++) {
		array_push(out, xstrdup(*name));
		free(*name);
	}
	free(names);
	sd_bus_message_unref(reply);
	free(object);
	return code < 0 ? failed(code, NULL, "ask what starts", unit, err) : 0;
}

/* Whether systemd has nothing more to do for the unit. */
static bool is_settled(struct systemd *s, const char *unit, bool on, bool *as_wanted)
{
	FREED char *object = NULL;
	uint32_t job = 0;
	int code = object_of(s, unit, &object);
	*as_wanted = code >= 0 && !on; /* not loaded any more */
	if (!object)
		return code >= 0; /* what is not known may come to be */
	sd_bus_message *reply = NULL;
	if (sd_bus_get_property(s->bus, SYSTEMD, object, SYSTEMD ".Unit", "Job", NULL, &reply,
				"(uo)") >= 0)
		sd_bus_message_read(reply, "(uo)", &job, NULL);
	sd_bus_message_unref(reply);
	FREED char *active = text_of(s, object, "ActiveState");
	bool runs = strcmp(active, "active") == 0;
	bool rests = strcmp(active, "inactive") == 0 || strcmp(active, "failed") == 0;
	*as_wanted = on ? runs : rests;
	return *as_wanted || (job == 0 && (runs || rests));
}

int systemd_turn(struct systemd *s, const char *unit, bool on, struct error *err)
{
	const char *to_do = on ? "start" : "stop";
	sd_bus_error why = SD_BUS_ERROR_NULL;
	uint64_t until = clock_monotonic_ns() + PATIENCE_NS;
	bool as_wanted = false;
	int code = sd_bus_call_method(s->bus, SYSTEMD, MANAGER, on ? "StartUnit" : "StopUnit", &why,
				      NULL, "ss", unit, "replace");
	int answer = code < 0 ? failed(code, &why, to_do, unit, err) : 0;
	sd_bus_error_free(&why);
	while (!answer && !is_settled(s, unit, on, &as_wanted)) {
		if (!on && interrupted())
			return failed(-EINTR, NULL, to_do, unit, err);
		if (clock_monotonic_ns() > until)
			return failed(-ETIMEDOUT, NULL, to_do, unit, err);
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	if (!answer && !as_wanted)
		answer = error_set(err, EXIT_ENVIRONMENT, "it did not %s", to_do);
	return answer;
}

#else

int systemd_open(struct systemd **out, struct error *err)
{
	*out = NULL;
	return error_set(err, EXIT_ENVIRONMENT, "this tare was built without libsystemd");
}

void systemd_close(struct systemd *s)
{
	free(s);
}

enum unit_state systemd_state(struct systemd *s, const char *unit, char id[256])
{
	(void)s;
	snprintf(id, 256, "%s", unit);
	return UNIT_ABSENT;
}

int systemd_active(struct systemd *s, const char *suffix, word_list *out, struct error *err)
{
	(void)suffix;
	(void)out;
	return systemd_open(&s, err);
}

int systemd_triggers(struct systemd *s, const char *unit, word_list *out, struct error *err)
{
	return systemd_active(s, unit, out, err);
}

int systemd_turn(struct systemd *s, const char *unit, bool on, struct error *err)
{
	(void)unit;
	(void)on;
	return systemd_open(&s, err);
}

#endif
