/* What 'tare serve' gives up once its port is open: it answers strangers. */
#include <dirent.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/file.h"
#include "base/invoker.h"
#include "base/text.h"
#include "cmd/page/page.h"

#define CANDIDATES 4
#define READABLE 64

struct candidate {
	uid_t uid;
	gid_t gid;
	char name[64]; /* "": without groups of its own */
};

static bool become(const struct candidate *c)
{
	return confine_ids(c->uid, c->gid, *c->name ? c->name : NULL) && confine_rights();
}

/* Whether this user can read the lab; tried by a child, since there is no way back. */
static bool can_serve(const struct candidate *c, const char *path)
{
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		struct lab *lab;
		bool works = become(c) && lab_open(&lab, path, LAB_READ, NULL) == 0;
		if (works)
			lab_close(lab);
		_exit(!works);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* Who it could be instead of root, the best first; the last is root itself. */
static size_t list_candidates(const char *path, bool read_only, struct candidate into[])
{
	struct invoker who;
	struct stat st;
	size_t count = 0;
	invoker_get(&who);
	if (who.present) {
		into[count] = (struct candidate){ .uid = who.uid, .gid = who.gid };
		snprintf(into[count++].name, sizeof into->name, "%s", who.name);
	}
	if (stat(path, &st) == 0 && st.st_uid != 0 && !(who.present && st.st_uid == who.uid)) {
		const struct passwd *owner = getpwuid(st.st_uid);
		into[count] = (struct candidate){ .uid = st.st_uid,
						  .gid = owner ? owner->pw_gid : st.st_gid };
		snprintf(into[count++].name, sizeof into->name, "%s", owner ? owner->pw_name : "");
	}
	if (read_only) /* root's names and tags only root can change */
		into[count++] = (struct candidate){ .uid = NOBODY, .gid = NOBODY };
	into[count++] = (struct candidate){ 0 };
	return count;
}

static void leave_root(const char *path, bool read_only)
{
	struct candidate list[CANDIDATES];
	size_t count = list_candidates(path, read_only, list), i = 0;
	while (i < count && !(can_serve(&list[i], path) && become(&list[i])))
		i++;
	if (geteuid() == 0)
		fprintf(stderr, "tare: stays root%s: nobody else can read %s\n",
			i < count ? ", without its capabilities" : "", DISPLAYED(path, 256));
}

/* Folders of programs, sources and homes, whose lines reports show: all but those of the system. */
static void list_readable(char *into[READABLE])
{
	static const char *const left_out[] = { ".",	      "..",  "boot", "dev", "etc",
						"lost+found", "run", "sys",  "var" };
	size_t count = 0;
	into[count++] = xstrdup("/etc/localtime");
	into[count++] = xstrdup("/dev/urandom");
	DIR *root = opendir("/");
	for (const struct dirent *e; root && (e = readdir(root)) && count < READABLE - 1;) {
		bool system = false;
		for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
			system = system || strcmp(e->d_name, left_out[i]) == 0;
		if (!system)
			into[count++] = xprintf("/%s", e->d_name);
	}
	if (root)
		closedir(root);
	into[count] = NULL;
}

void serve_confine(const char *path, bool read_only)
{
	char *readable[READABLE];
	FREED char *folder = xstrdup(path);
	*strrchr(folder, '/') = '\0';
	tzset(); /* while it may be read */
	if (geteuid() == 0)
		leave_root(path, read_only);
	else
		confine_rights();
	list_readable(readable);
	if (!confine_files(*folder ? folder : "/", (const char *const *)readable))
		fprintf(stderr,
			"tare: this kernel has no Landlock, so the server could open any file "
			"that its user can\n");
	for (size_t i = 0; readable[i]; i++)
		xfree(readable[i]);
	if (!confine_calls(CONFINE_SERVER))
		fprintf(stderr,
			"tare: this kernel has no seccomp filters, so the server could make "
			"any system call\n");
}
