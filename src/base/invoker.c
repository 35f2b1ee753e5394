#include "base/invoker.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"

#define USER_ENTRY_MAX (1UL << 20) /* bytes: a directory service may have long ones */
#define KEY_MOST 32		   /* of a number in the environment */

/* ---- who it is ---- */

/* What the user database said of SUDO_UID and SUDO_GID. It is asked once, because files are opened
 * often and a directory service may be far away. Neither changed nor freed once it is published. */
struct known {
	struct known *next;
	char uid[KEY_MOST], gid[KEY_MOST];
	struct invoker who;
};

static _Atomic(struct known *) latest;

/* Not getpwuid(): labs are opened by several threads. */
static bool fill_in_user(struct invoker *into, uid_t uid)
{
	struct passwd entry, *pw = NULL;
	size_t size = 4096;
	FREED char *room = xmalloc(size);
	while (getpwuid_r(uid, &entry, room, size, &pw) == ERANGE && size < USER_ENTRY_MAX) {
		size *= 2;
		room = xrealloc(room, size);
	}
	if (pw) {
		snprintf(into->name, sizeof into->name, "%s", pw->pw_name);
		snprintf(into->home, sizeof into->home, "%s", pw->pw_dir);
	}
	return pw;
}

gid_t *user_groups(const char *name, gid_t primary, size_t *count)
{
	for (int room = 64; room <= NGROUPS_MAX + 1; room *= 2) {
		int n = room;
		gid_t *groups = xmalloc((size_t)room * sizeof *groups);
		if (getgrouplist(name, primary, groups, &n) >= 0) {
			*count = (size_t)n;
			return groups;
		}
		free(groups);
	}
	errno = E2BIG;
	return NULL;
}

bool user_become(uid_t uid, gid_t gid, const gid_t *groups, size_t group_count)
{
	return setgroups(group_count, groups) == 0 && setresgid(gid, gid, gid) == 0 &&
	       setresuid(uid, uid, uid) == 0 && (uid == 0 || setresuid(-1, 0, -1) != 0);
}

static void look_up(struct invoker *into, const char *uid, const char *gid)
{
	long u, g;
	*into = (struct invoker){ 0 };
	/* the highest number means "no id" */
	if (!integer_parse(uid, 0, UINT32_MAX - 1L, &u) || !gid ||
	    !integer_parse(gid, 0, UINT32_MAX - 1L, &g) || !fill_in_user(into, (uid_t)u)) {
		*into = (struct invoker){ .invalid = true };
		return;
	}
	if (u == 0) {
		*into = (struct invoker){ 0 };
		return;
	}
	into->uid = (uid_t)u;
	into->gid = (gid_t)g;
	into->groups = user_groups(into->name, into->gid, &into->group_count);
	into->present = into->groups;
	into->invalid = !into->groups;
}

void invoker_get(struct invoker *into)
{
	*into = (struct invoker){ 0 };
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");
	if (geteuid() != 0 || !uid || !*uid || strcmp(uid, "0") == 0)
		return;
	for (const struct known *k = atomic_load(&latest); k; k = k->next)
		if (gid && strcmp(k->uid, uid) == 0 && strcmp(k->gid, gid) == 0) {
			*into = k->who;
			return;
		}
	look_up(into, uid, gid);
	if (!into->present)
		return;
	struct known *known = xcalloc(1, sizeof *known);
	snprintf(known->uid, KEY_MOST, "%s", uid);
	snprintf(known->gid, KEY_MOST, "%s", gid);
	known->who = *into;
	known->next = atomic_load(&latest);
	while (!atomic_compare_exchange_weak(&latest, &known->next, known))
		;
}

int invoker_check(const struct invoker *who, struct error *err)
{
	if (!who->invalid)
		return 0;
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");
	char user[64], group[64];
	text_display(uid ? uid : "", user, sizeof user);
	text_display(gid ? gid : "", group, sizeof group);
	error_set(err, EXIT_USAGE,
		  "cannot run as the user who typed sudo: SUDO_UID '%s' with SUDO_GID '%s' names "
		  "no user",
		  user, group);
	return error_hint(err, "--as-root runs the command as root");
}

/* ---- acting as a user ---- */

/* How many scopes of this thread act as the same user, and who that is. */
static _Thread_local unsigned depth;
static _Thread_local uid_t acting;

/* The system call itself: glibc's setgroups() changes all threads, and a lab is opened by several.
 * As setfsuid() and setfsgid(), it is the thread's. */
static int set_groups(size_t count, const gid_t *groups)
{
	return (int)syscall(SYS_setgroups, count, groups);
}

/* Neither returns whether it worked, so they are asked: -1 is no user and changes nothing. */
static bool set_ids(uid_t uid, gid_t gid)
{
	setfsgid(gid);
	setfsuid(uid);
	return (gid_t)setfsgid((gid_t)-1) == gid && (uid_t)setfsuid((uid_t)-1) == uid;
}

#define BIT(capability) (UINT64_C(1) << (capability))

/* setfsuid() takes these from the thread when it leaves root, unless secure bits forbid. */
static bool has_rights_over_files(void)
{
	static const uint64_t over_files = BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) |
					   BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_FOWNER) |
					   BIT(CAP_FSETID) | BIT(CAP_LINUX_IMMUTABLE) |
					   BIT(CAP_MKNOD) | BIT(CAP_MAC_OVERRIDE);
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };
	if (syscall(SYS_capget, &header, data))
		return true;
	uint64_t effective = data[0].effective | (uint64_t)data[1].effective << 32;
	return effective & over_files;
}

static void go_back(const struct as_user *as)
{
	/* neither root nor the user: nothing that comes after could be trusted */
	if (!set_ids(geteuid(), getegid()) || set_groups((size_t)as->group_count, as->groups))
		abort();
}

int user_begin(struct as_user *as, uid_t uid, gid_t gid, const gid_t *groups, size_t group_count)
{
	*as = (struct as_user){ 0 };
	if (geteuid() != 0)
		return 0;
	if (depth && acting != uid) {
		errno = EPERM;
		return -1;
	}
	if (depth == 0) {
		int n = getgroups(0, NULL);
		as->groups = xmalloc(((size_t)(n > 0 ? n : 0) + 1) * sizeof *as->groups);
		as->group_count = n > 0 ? getgroups(n, as->groups) : n;
		int failed = as->group_count < 0 || set_groups(group_count, groups) ? errno : 0;
		if (!failed && (!set_ids(uid, gid) || (uid != 0 && has_rights_over_files()))) {
			failed = EPERM;
			go_back(as);
		}
		if (failed) {
			free(as->groups);
			as->groups = NULL;
			errno = failed;
			return -1;
		}
	}
	depth++;
	acting = uid;
	as->begun = true;
	return 0;
}

int invoker_begin(struct as_user *as, struct error *err)
{
	struct invoker who;
	invoker_get(&who);
	*as = (struct as_user){ 0 };
	if (who.invalid) {
		invoker_check(&who, err);
		error_hint(err, "'env -u SUDO_UID tare ...' is root's own, files and all");
		errno = EPERM;
		return -1;
	}
	if (!who.present || user_begin(as, who.uid, who.gid, who.groups, who.group_count) == 0)
		return 0;
	int saved = errno;
	error_errno(err, EXIT_ENVIRONMENT, "cannot touch files as %s, who typed sudo", who.name);
	errno = saved;
	return -1;
}

void user_end(struct as_user *as)
{
	if (!as->begun)
		return;
	int saved = errno;
	as->begun = false;
	if (--depth == 0)
		go_back(as);
	free(as->groups);
	as->groups = NULL;
	errno = saved;
}

void user_forget(void)
{
	if (!depth)
		return;
	depth = 0;
	/* root needs no supplementary groups */
	go_back(&(struct as_user){ 0 });
}

/* ---- files ---- */

bool descriptor_named(const char *path, int *fd)
{
	static const struct {
		const char *name;
		int fd;
	} streams[] = { { "/dev/stdin", 0 }, { "/dev/stdout", 1 }, { "/dev/stderr", 2 } };
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
	long number = -1;
	for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
		if (strcmp(path, streams[i].name) == 0)
			number = streams[i].fd;
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		size_t length = strlen(folders[i]);
		if (strncmp(path, folders[i], length) == 0 &&
		    !integer_parse(path + length, 0, INT_MAX, &number))
			number = -1;
	}
	if (number < 0)
		return false;
	/* tare's own files, such as the lab, are closed on exec; what it was given is not */
	int flags = fcntl((int)number, F_GETFD);
	*fd = flags >= 0 && !(flags & FD_CLOEXEC) ? (int)number : -1;
	if (*fd < 0)
		errno = EBADF;
	return true;
}

int invoker_open(const char *path, int flags)
{
	int given;
	if (descriptor_named(path, &given))
		return given < 0 ? -1 : fcntl(given, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	AS_USER(as);
	if (invoker_begin(&as, NULL))
		return -1;
	return open(path, flags | O_CLOEXEC, 0666);
}
