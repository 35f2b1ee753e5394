/* Services, timers and cron: through systemd where it is init, through `service` elsewhere. What
 * keeps the machine reachable or alive is never stopped. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/process.h"
#include "quiet/change.h"
#include "quiet/systemd.h"
#include "record/noncritical.h"

/* ---- what is never stopped ---- */

#define REACHES "keeps the machine reachable"
#define NETWORK "keeps the network up"
#define INIT "is part of init"
#define GUEST "is how this machine is run from outside"
#define CONTAINERS "would take its containers with it"
#define LOGIN "keeps people logged in"
#define CLOCK "keeps the clock, which EMP v2 asks for"
#define STORAGE "keeps file systems there"
#define GUARD "decides what traffic passes"

const char *quiet_kept(const char *service)
{
	static const struct {
		const char *pattern, *why;
	} kept[] = {
		{ "ssh*", REACHES },
		{ "dropbear*", REACHES },
		{ "telnet*", REACHES },
		{ "tailscale*", REACHES },
		{ "openvpn*", REACHES },
		{ "wg-quick*", REACHES },
		{ "network*", NETWORK },
		{ "NetworkManager*", NETWORK },
		{ "dhclient*", NETWORK },
		{ "dhcpcd*", NETWORK },
		{ "wpa_supplicant*", NETWORK },
		{ "iwd*", NETWORK },
		{ "connman*", NETWORK },
		{ "wicked*", NETWORK },
		{ "ifup*", NETWORK },
		{ "resolvconf*", NETWORK },
		{ "firewalld*", GUARD },
		{ "nftables*", GUARD },
		{ "iptables*", GUARD },
		{ "ufw*", GUARD },
		{ "systemd-*d", INIT },
		{ "systemd-*d.*", INIT },
		{ "init*", INIT },
		{ "dbus*", INIT },
		{ "udev*", INIT },
		{ "eudev*", INIT },
		{ "elogind*", INIT },
		{ "*.slice", INIT },
		{ "*.scope", INIT },
		{ "*.target", INIT },
		{ "*.device", INIT },
		{ "*.swap", INIT },
		{ "polkit*", LOGIN },
		{ "*getty*", LOGIN },
		{ "user@*", LOGIN },
		{ "user-runtime-dir@*", LOGIN },
		{ "cloud-*", GUEST },
		{ "qemu-guest-agent*", GUEST },
		{ "qemu-ga*", GUEST },
		{ "open-vm-tools*", GUEST },
		{ "vmtoolsd*", GUEST },
		{ "hv-*", GUEST },
		{ "hyperv-*", GUEST },
		{ "walinuxagent*", GUEST },
		{ "waagent*", GUEST },
		{ "amazon-ssm-agent*", GUEST },
		{ "google-*", GUEST },
		{ "xe-*", GUEST },
		{ "containerd*", CONTAINERS },
		{ "docker*", CONTAINERS },
		{ "podman*", CONTAINERS },
		{ "crio*", CONTAINERS },
		{ "kubelet*", CONTAINERS },
		{ "k3s*", CONTAINERS },
		{ "lxc*", CONTAINERS },
		{ "lxd*", CONTAINERS },
		{ "libvirt*", CONTAINERS },
		{ "chrony*", CLOCK },
		{ "ntp*", CLOCK },
		{ "openntpd*", CLOCK },
		{ "ptp4l*", CLOCK },
		{ "phc2sys*", CLOCK },
		{ "*.mount", STORAGE },
		{ "multipath*", STORAGE },
		{ "iscsi*", STORAGE },
		{ "open-iscsi*", STORAGE },
		{ "lvm2*", STORAGE },
		{ "dm-event*", STORAGE },
		{ "rpcbind*", STORAGE },
		{ "nfs*", STORAGE },
		{ "autofs*", STORAGE },
		{ "nbd*", STORAGE },
		{ "thermald*", "keeps the machine from overheating" },
	};
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
		if (fnmatch(kept[i].pattern, service, FNM_CASEFOLD) == 0)
			return kept[i].why;
	return NULL;
}

static bool is_wish(const struct quiet_options *o, const char *service)
{
	for (size_t i = 0; i < o->keep_service_count; i++) {
		const char *keep = o->keep_services[i];
		size_t n = strlen(keep);
		if (strncmp(service, keep, n) == 0 && (!service[n] || service[n] == '.'))
			return true;
	}
	return false;
}

/* ---- which ---- */

/* Whether daemons of the kind belong to the knob. */
static bool is_of_knob(const char *knob, enum daemon_kind kind)
{
	static const struct {
		const char *knob;
		unsigned kinds;
	} belongs[] = {
		{ "services", 1u << DAEMON_UPDATES | 1u << DAEMON_INDEX | 1u << DAEMON_SERVICE },
		{ "jobs", 1u << DAEMON_TIMED },
		{ "power", 1u << DAEMON_POWER },
		{ "irqbalance", 1u << DAEMON_IRQ },
	};
	for (size_t i = 0; i < sizeof belongs / sizeof *belongs; i++)
		if (strcmp(belongs[i].knob, knob) == 0)
			return belongs[i].kinds >> kind & 1;
	return false;
}

/* Also as the name of a process. */
static bool is_planned(const change_list *out, const char *what)
{
	size_t n = strlen(what);
	for (size_t i = 0; i < out->count; i++) {
		const char *planned = out->items[i].what;
		if (strncmp(planned, what, n) == 0 && (!planned[n] || planned[n] == ' '))
			return true;
	}
	return false;
}

/* ---- systemd ---- */

static void plan_unit(const struct quiet_options *o, struct systemd *s, const char *knob,
		      const char *unit, change_list *out)
{
	char id[256];
	enum unit_state state = systemd_state(s, unit, id);
	if (state == UNIT_ABSENT || state == UNIT_DONE || quiet_kept(id) || is_wish(o, id) ||
	    is_planned(out, id))
		return;
	struct change *c = change_add(out, CHANGE_UNIT, knob, id, "active", "inactive");
	if (state == UNIT_UNKNOWN)
		change_judge(c, QUIET_REFUSED, "systemd does not say whether it runs");
	else if (state == UNIT_WORKING || state == UNIT_STOPPING)
		change_judge(c, QUIET_REFUSED, "it is at work and ends by itself: try again then");
	else if (state == UNIT_PASSING)
		change_judge(c, QUIET_REFUSED, "it is transient: it could not be started again");
}

/* Also what would start it again. That comes after it, since a socket must be there before its
 * service when both are started. */
static int plan_service_unit(const struct quiet_options *o, struct systemd *s, const char *knob,
			     const char *name, change_list *out, struct error *err)
{
	SCOPED(words_release) word_list triggers = { 0 };
	size_t before = out->count;
	FREED char *unit = xprintf("%s%s", name, strchr(name, '.') ? "" : ".service");
	plan_unit(o, s, knob, unit, out);
	bool stops = out->count > before && out->items[before].state == QUIET_WOULD_CHANGE;
	int failed = stops ? systemd_triggers(s, unit, &triggers, err) : 0;
	for (size_t i = 0; !failed && i < triggers.count; i++)
		plan_unit(o, s, knob, triggers.items[i], out);
	return failed;
}

static void plan_units(const struct quiet_options *o, const char *knob, const text_list *names,
		       change_list *out)
{
	SCOPED(words_release) word_list timers = { 0 };
	struct systemd *s = NULL;
	struct error why = ERROR_INIT;
	int failed = systemd_open(&s, &why);
	for (size_t i = 0; !failed && i < names->count; i++)
		failed = plan_service_unit(o, s, knob, names->items[i], out, &why);
	if (!failed && strcmp(knob, "jobs") == 0)
		failed = systemd_active(s, ".timer", &timers, &why);
	for (size_t i = 0; !failed && i < timers.count; i++)
		plan_unit(o, s, knob, timers.items[i], out);
	if (failed)
		change_judge(change_add(out, CHANGE_UNIT, knob, "of systemd", NULL, NULL),
			     QUIET_REFUSED, "%s", why.text);
	systemd_close(s);
}

/* One that is still stopping was not put back. */
static enum reading unit_now(const struct quiet_options *o, const struct change *c, char **value,
			     struct error *err)
{
	struct systemd *s = NULL;
	char id[256];
	(void)o;
	*value = NULL;
	if (systemd_open(&s, err))
		return READ_FAILED;
	enum unit_state state = systemd_state(s, c->what, id);
	systemd_close(s);
	if (state == UNIT_UNKNOWN) {
		error_set(err, EXIT_ENVIRONMENT, "systemd does not say whether it runs");
		return READ_FAILED;
	}
	*value = xstrdup(state == UNIT_ABSENT	  ? "inactive"
			 : state == UNIT_STOPPING ? "stopping"
						  : "active");
	return READ_VALUE;
}

static int unit_put(const struct quiet_options *o, const struct change *c, const char *value,
		    struct error *err)
{
	struct systemd *s = NULL;
	(void)o;
	if (systemd_open(&s, err))
		return -1;
	int failed = systemd_turn(s, c->what, strcmp(value, "active") == 0, err);
	systemd_close(s);
	return failed;
}

const struct change_ops unit_ops = { unit_now, unit_put };

/* ---- scripts of /etc/init.d ---- */

#define SERVICE_PATIENCE_NS UINT64_C(60000000000)
#define NOT_STARTED 127 /* as of a shell */

/* The exit status of `service NAME WORD`; -1: it could not be asked, or was interrupted. */
static int ask_service(const char *name, const char *word, bool interruptible)
{
	pid_t pid = fork();
	if (pid == 0) {
		sigset_t none;
		int null = open("/dev/null", O_RDWR);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		for (int fd = 0; fd < 3; fd++)
			dup2(null, fd);
		setsid();
		if (chdir("/") == 0)
			execle("/usr/sbin/service", "service", name, word, NULL,
			       (char *[]){ (char *)"PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL });
		_exit(NOT_STARTED);
	}
	uint64_t until = clock_monotonic_ns() + SERVICE_PATIENCE_NS;
	for (int status; pid > 0;) {
		pid_t ended = waitpid(pid, &status, WNOHANG);
		if (ended == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		if (ended < 0 && errno != EINTR)
			break;
		/* with the programs that the script waits for: setsid() made them one group */
		if (interruptible && interrupted())
			kill(-pid, SIGKILL);
		if (clock_monotonic_ns() > until)
			kill(pid, SIGKILL);
		nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	}
	return -1;
}

/* False: errno says why. */
static bool has_script(const char *name)
{
	FREED char *path = xprintf("/etc/init.d/%s", name);
	errno = ENOENT;
	return !strchr(name, '/') && access(path, X_OK) == 0;
}

static enum reading sysv_now(const struct quiet_options *o, const struct change *c, char **value,
			     struct error *err)
{
	(void)o;
	*value = NULL;
	if (!has_script(c->what))
		return reading_of_errno(err);
	int status = ask_service(c->what, "status", false);
	if (status < 0 || status == NOT_STARTED) {
		error_set(err, EXIT_ENVIRONMENT, "`service %s status` did not answer", c->what);
		return READ_FAILED;
	}
	*value = xstrdup(status == 0 ? "running" : "stopped");
	return READ_VALUE;
}

static int sysv_put(const struct quiet_options *o, const struct change *c, const char *value,
		    struct error *err)
{
	bool starts = strcmp(value, "running") == 0; /* which is to put back */
	const char *word = starts ? "start" : "stop";
	(void)o;
	int status = ask_service(c->what, word, !starts);
	return status ? error_set(err, EXIT_ENVIRONMENT, "`service %s %s` failed (%d)", c->what,
				  word, status)
		      : 0;
}

const struct change_ops sysv_ops = { sysv_now, sysv_put };

/* ---- processes held by a signal ---- */

bool process_is_gone(int reason)
{
	return reason == ENOENT || reason == ESRCH;
}

/* "NAME PID START"; false: it is gone, or cannot be looked at, as errno says. */
static bool held_process(const struct change *c, int *pid, char *state)
{
	unsigned long long start;
	struct process_look now;
	bool there = sscanf(c->what, "%*s %d %llu", pid, &start) == 2 && process_look(*pid, &now);
	if (there)
		*state = now.state;
	return there && now.start == start && now.state != 'Z';
}

static enum reading pause_now(const struct quiet_options *o, const struct change *c, char **value,
			      struct error *err)
{
	int pid;
	char state;
	(void)o;
	*value = NULL;
	errno = 0;
	if (held_process(c, &pid, &state)) {
		*value = xstrdup(state == 'T' ? "paused" : "running");
		return READ_VALUE;
	}
	if (errno == 0 || process_is_gone(errno)) /* 0: the number is another's now */
		return READ_GONE;
	error_set(err, EXIT_ENVIRONMENT, "%s", strerror(errno));
	return READ_FAILED;
}

static int pause_put(const struct quiet_options *o, const struct change *c, const char *value,
		     struct error *err)
{
	bool hold = strcmp(value, "paused") == 0;
	int pid;
	char state;
	(void)o;
	if (!held_process(c, &pid, &state))
		return error_set(err, EXIT_ENVIRONMENT, "it is gone");
	if (kill(pid, hold ? SIGSTOP : SIGCONT))
		return error_set(err, EXIT_ENVIRONMENT, "%s", strerror(errno));
	/* the signal is taken when the process next gets a CPU */
	for (int i = 0; i < 200 && held_process(c, &pid, &state) && (state == 'T') != hold; i++)
		nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	return 0;
}

const struct change_ops pause_ops = { pause_now, pause_put };

/* Daemons that start jobs, where no systemd stops them: held, so that they lose nothing. */
static void plan_holds(const struct quiet_options *o, const char *knob, change_list *out)
{
	static const char *const files[] = { "/run/crond.pid", "/run/cron.pid", "/run/atd.pid",
					     "/run/anacron.pid" };
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		FREED char *text = file_read_line(files[i]);
		char path[64], what[96];
		struct process_look look;
		long pid;
		if (!text || !integer_parse(text, 2, INT32_MAX, &pid))
			continue;
		snprintf(path, sizeof path, "/proc/%ld/comm", pid);
		FREED char *comm = file_read_line(path);
		const struct known_daemon *d = comm ? known_daemon_find(comm) : NULL;
		if (d && d->kind == DAEMON_TIMED && !is_wish(o, comm) &&
		    process_look((pid_t)pid, &look)) {
			snprintf(what, sizeof what, "%s %ld %llu", comm, pid, look.start);
			struct change *c =
				change_add(out, CHANGE_PAUSE, knob, what, "running", "paused");
			if (look.state == 'T')
				c->state = QUIET_ALREADY;
		}
	}
}

int plan_services(const struct quiet_options *o, const struct quiet_knob *k, change_list *out,
		  struct error *err)
{
	FREED text_list names = { 0 };
	(void)err;
	if (!quiet_is_machine(o))
		return 0;
	/* the services of this knob, each once */
	if (strcmp(k->name, "services") == 0)
		for (size_t i = 0; i < o->service_count; i++)
			array_push(&names, o->services[i]);
	for (size_t i = 0; i < known_daemon_count; i++) {
		const struct known_daemon *d = &known_daemons[i];
		bool seen = !d->unit || !is_of_knob(k->name, d->kind);
		for (size_t j = 0; !seen && j < names.count; j++)
			seen = strcmp(names.items[j], d->unit) == 0;
		if (!seen)
			array_push(&names, d->unit);
	}
	if (names.count && systemd_runs()) {
		plan_units(o, k->name, &names, out);
		return 0;
	}
	if (strcmp(k->name, "jobs") == 0)
		plan_holds(o, k->name, out);
	for (size_t i = 0; i < names.count; i++) {
		size_t n = strlen(names.items[i]), suffix = strlen(".service");
		if (n > suffix && strcmp(names.items[i] + n - suffix, ".service") == 0)
			n -= suffix;
		FREED char *name = xstrndup(names.items[i], n);
		if (has_script(name) && !quiet_kept(name) && !is_wish(o, name) &&
		    !is_planned(out, name) && ask_service(name, "status", true) == 0)
			change_add(out, CHANGE_SYSV, k->name, name, "running", "stopped");
	}
	return 0;
}
