#include "collect/machine/cpus.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/file.h"
#include "base/text.h"

#define CPUS "/sys/devices/system/cpu"

/* Is it in the list that this file holds? Without the file the affinity has the last word. */
static bool is_in(const char *path, size_t cpu)
{
	FREED char *list = file_read_line(path);
	cpu_set_t set;
	return !list || !cpus_parse(list, &set) || CPU_ISSET(cpu, &set);
}

static int not_usable(size_t cpu, struct error *err)
{
	if (!is_in(CPUS "/present", cpu)) {
		FREED char *present = file_read_line(CPUS "/present");
		error_set(err, EXIT_USAGE, "there is no CPU %zu", cpu);
		error_hint(err, "this machine has the CPUs %s", present ? present : "0");
		return -1;
	}
	if (!is_in(CPUS "/online", cpu)) {
		error_set(err, EXIT_USAGE, "CPU %zu is offline", cpu);
		return error_hint(err, "as root: echo 1 >" CPUS "/cpu%zu/online", cpu);
	}
	FREED char *cpuset = file_read_line("/proc/self/cpuset");
	error_set(err, EXIT_USAGE, "the cgroup of this process, %s, may not use CPU %zu",
		  DISPLAYED(cpuset ? cpuset : "/", 100), cpu);
	return error_hint(err,
			  "its cpuset leaves it out; start tare in a cgroup that has this CPU");
}

/* Of the CPUs that can be had. */
static int choose(const char *text, const cpu_set_t *possible, cpu_set_t *into, struct error *err)
{
	if (strcmp(text, "all") == 0) {
		*into = *possible;
		return 0;
	}
	if (!cpus_parse(text, into)) {
		error_set(err, EXIT_USAGE, "'%s' is not a list of CPUs", DISPLAYED(text, 64));
		return error_hint(err, "write it like 1, 0-3 or 0,2,4-7 (below %d), or all",
				  CPU_SETSIZE);
	}
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, into) && !CPU_ISSET(cpu, possible))
			return not_usable(cpu, err);
	return 0;
}

static void list(const cpu_set_t *set, cpu_list *into)
{
	for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, set))
			array_push(into, cpu);
}

int cpus_choose_set(const char *text, cpu_set_t *into, struct error *err)
{
	cpu_set_t reachable;
	if (!cpus_reachable(&reachable))
		return error_errno(err, EXIT_ENVIRONMENT,
				   "cannot learn which CPUs this process may use");
	return choose(text, &reachable, into, err);
}

int cpus_choose(const char *text, cpu_list *into, struct error *err)
{
	cpu_set_t set;
	if (cpus_choose_set(text, &set, err))
		return -1;
	list(&set, into);
	return 0;
}

static int read_online(cpu_set_t *online, struct error *err)
{
	FREED char *text = file_read_line(CPUS "/online");
	bool told = text && cpus_parse(text, online);
	return told ? 0
		    : error_set(err, EXIT_ENVIRONMENT, "cannot learn which CPUs are online: %s",
				CPUS "/online");
}

int cpus_choose_online(const char *text, cpu_list *into, struct error *err)
{
	cpu_set_t online, set;
	if (read_online(&online, err) || choose(text, &online, &set, err))
		return -1;
	list(&set, into);
	return 0;
}

int cpus_online(cpu_list *into, struct error *err)
{
	return cpus_choose_online("all", into, err);
}

#define UEVENTS_OF_THE_KERNEL 1

int cpus_watch(void)
{
	struct sockaddr_nl from = { .nl_family = AF_NETLINK, .nl_groups = UEVENTS_OF_THE_KERNEL };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_KOBJECT_UEVENT);
	if (fd >= 0 && bind(fd, (struct sockaddr *)&from, sizeof from) != 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool is_of_a_cpu(const char *event)
{
	static const char where[] = "@/devices/system/cpu/cpu";
	const char *at = strchr(event, '@');
	return at && strncmp(at, where, sizeof where - 1) == 0 &&
	       (strncmp(event, "online@", 7) == 0 || strncmp(event, "offline@", 8) == 0);
}

bool cpus_changed(int fd)
{
	bool changed = false;
	for (char event[128]; fd >= 0;) {
		ssize_t got = recv(fd, event, sizeof event - 1, 0);
		if (got < 0 && errno != ENOBUFS)
			break;
		event[got < 0 ? 0 : got] = '\0';
		changed = changed || got < 0 || is_of_a_cpu(event); /* or some were lost */
	}
	return changed;
}
