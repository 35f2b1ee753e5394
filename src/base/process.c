#include "base/process.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"

#define STOP_PATIENCE_NS 100000000u /* one in vfork does not stop before its child has */
#define END_PATIENCE_NS 1000000000u
#define PAUSE_NS 200000

bool process_look(pid_t pid, struct process_look *into)
{
	FREED char *text = file_read_proc(pid, "stat");
	const char *end = text ? strrchr(text, ')') : NULL;
	/* the state is the first after the name, the start the 20th */
	return end && sscanf(end + 1,
			     " %c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			     "%*s %*s %llu",
			     &into->state, &into->parent, &into->start) == 3;
}

int process_open(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

int process_signal(int fd, int signal)
{
	return (int)syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0);
}

bool process_ends(int fd, unsigned ms)
{
	struct pollfd ended = { .fd = fd, .events = POLLIN };
	uint64_t now = clock_monotonic_ns(), until = now + ms * UINT64_C(1000000);
	int ready = poll(&ended, 1, 0);
	while (ready <= 0 && now < until) {
		ready = poll(&ended, 1, (int)((until - now) / 1000000 + 1));
		now = clock_monotonic_ns();
	}
	return ready > 0;
}

/* ---- trees ---- */

/* Its number and start name a process for ever; a descriptor for each would be too many. */
struct member {
	pid_t pid;
	unsigned long long start;
};
typedef ARRAY(struct member) member_list;

static bool is_member(const member_list *all, pid_t pid)
{
	array_each(m, all)
		if (m->pid == pid)
			return true;
	return false;
}

static bool look_at(const struct member *m, struct process_look *look)
{
	return process_look(m->pid, look) && look->start == m->start;
}

static int signal_member(const struct member *m, int number)
{
	struct process_look look;
	CLOSED int fd = process_open(m->pid);
	return fd >= 0 && look_at(m, &look) ? process_signal(fd, number) : -1;
}

/* One look at all processes of the machine: stops the children of members and makes them members.
 * This also works on kernels that do not list children. */
static void add_children(member_list *all)
{
	DIR *proc = opendir("/proc");
	for (struct dirent *e; proc && (e = readdir(proc));) {
		struct process_look look;
		long pid;
		if (!integer_parse(e->d_name, 1, INT32_MAX, &pid) || is_member(all, (pid_t)pid) ||
		    !process_look((pid_t)pid, &look) || !is_member(all, look.parent))
			continue;
		struct member m = { (pid_t)pid, look.start };
		if (signal_member(&m, SIGSTOP) == 0)
			array_push(all, m);
	}
	if (proc)
		closedir(proc);
}

static bool is_still(const struct member *m)
{
	struct process_look look;
	return !look_at(m, &look) || strchr("TtZX", look.state);
}

static bool is_gone(const struct member *m)
{
	struct process_look look;
	return !look_at(m, &look) || strchr("ZX", look.state);
}

static void await(bool (*is)(const struct member *), const member_list *all, size_t from,
		  uint64_t patience_ns)
{
	uint64_t until = clock_monotonic_ns() + patience_ns;
	for (size_t i = from; i < all->count; i++)
		while (!is(&all->items[i]) && clock_monotonic_ns() < until)
			nanosleep(&(struct timespec){ 0, PAUSE_NS }, NULL);
}

void process_kill_tree(pid_t pid, int fd)
{
	struct process_look look;
	if (!process_look(pid, &look) || process_ends(fd, 0))
		return;
	FREED member_list all = { 0 };
	process_signal(fd, SIGSTOP);
	array_push(&all, (struct member){ pid, look.start });
	uint64_t until = clock_monotonic_ns() + END_PATIENCE_NS;
	for (size_t looked = 0; looked < all.count && clock_monotonic_ns() < until;) {
		await(is_still, &all, looked, STOP_PATIENCE_NS);
		looked = all.count;
		add_children(&all);
	}
	array_each(m, &all)
		signal_member(m, SIGKILL);
	await(is_gone, &all, 0, END_PATIENCE_NS);
}
