/* One change of the machine, as it is planned, journalled, made and undone. Private to quiet/. */
#ifndef TARE_QUIET_CHANGE_H
#define TARE_QUIET_CHANGE_H

#include "quiet/quiet.h"

enum change_kind {
	CHANGE_FILE,   /* of /proc or /sys */
	CHANGE_UNIT,   /* of systemd: "active", "inactive" */
	CHANGE_SYSV,   /* a script of /etc/init.d: "running", "stopped" */
	CHANGE_PAUSE,  /* a process, "NAME PID START": "running", "paused" */
	CHANGE_SWAP,   /* a device or file: "on PRIORITY", "off" */
	CHANGE_CPUSET, /* a cgroup: "absent", "absent -cpuset", "CPUS isolated" */
	CHANGE_KINDS,
};

struct change {
	enum change_kind kind;
	const char *knob; /* one of quiet_knobs */
	char *what;	  /* a path without the root, a unit, ... */
	char *before;	  /* the exact bytes; NULL where there is nothing to change */
	char *wanted;
	enum quiet_state state; /* WOULD_CHANGE, ALREADY, ABSENT or REFUSED when planned */
	char *why;
	/* what the journal says of it */
	char *after;   /* how it read once it was made; NULL: not made, or not known */
	bool begun;    /* made, refused, or the one at which its maker ended */
	bool finished; /* restored, or left */
};
typedef ARRAY(struct change) change_list;

void changes_release(change_list *list);

/* Takes a copy of all strings. */
struct change *change_add(change_list *list, enum change_kind kind, const char *knob,
			  const char *what, const char *before, const char *wanted);
/* Its state, and why. */
void change_judge(struct change *c, enum quiet_state state, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* What came of reading something: what cannot be read may well be there. */
enum reading {
	READ_VALUE,
	READ_GONE,
	READ_FAILED,
};

/* How a kind is read and set. */
struct change_ops {
	/* As it is now, which the caller frees; NULL unless READ_VALUE. err: of READ_FAILED. */
	enum reading (*now)(const struct quiet_options *o, const struct change *c, char **value,
			    struct error *err);
	/* What takes long ends early when interrupted, unless it puts back. */
	int (*put)(const struct quiet_options *o, const struct change *c, const char *value,
		   struct error *err);
};
/* READ_GONE or READ_FAILED, as errno says. */
enum reading reading_of_errno(struct error *err);
extern const struct change_ops file_ops, unit_ops, sysv_ops, pause_ops, swap_ops, cpuset_ops;

/* Whether two texts of a file mean the same: blanks at the end do not count, and of
 * "always [madvise] never" only the word in brackets does. */
bool value_equal(const char *a, const char *b);
/* That word, or the text without its end; the caller frees. */
char *value_word(const char *text);

/* path beneath the root of the options; the caller frees. */
char *quiet_path(const struct quiet_options *o, const char *path);
bool quiet_is_machine(const struct quiet_options *o); /* not a directory that stands for it */

/* A line of the journal, or a part of a plan, may name only what is in the table. */
const struct quiet_knob *quiet_knob_find(const char *name);

/* What each part of the table adds to a plan. */
int plan_files(const struct quiet_options *o, const struct quiet_knob *k, change_list *out,
	       struct error *err);
int plan_services(const struct quiet_options *o, const struct quiet_knob *k, change_list *out,
		  struct error *err);
int plan_swap(const struct quiet_options *o, const struct quiet_knob *k, change_list *out,
	      struct error *err);
int plan_cpuset(const struct quiet_options *o, const struct quiet_knob *k, change_list *out,
		struct error *err);

/* When the process was started, in the kernel's ticks since boot, and its state; false: gone, or
 * it cannot be told, as errno says. */
bool process_start(int pid, unsigned long long *start, char *state);
bool process_is_gone(int reason);

#endif
