/* One change of the machine: planned, journalled, made and undone. Private to quiet/. */
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
	char *before;	  /* the exact bytes; NULL if there is nothing to change */
	char *wanted;
	enum quiet_state state; /* when planned: WOULD_CHANGE, ALREADY, ABSENT or REFUSED */
	char *why;
	/* from the journal */
	char *after;   /* its value after the change; NULL: not made, or unknown */
	bool begun;    /* made, refused, or under way when its maker ended */
	bool finished; /* restored, or left */
};
typedef ARRAY(struct change) change_list;

void changes_release(change_list *list);

/* All strings are copied. */
struct change *change_add(change_list *list, enum change_kind kind, const char *knob,
			  const char *what, const char *before, const char *wanted);
/* Sets its state, and why. */
void change_judge(struct change *c, enum quiet_state state, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The result of reading: something that cannot be read may still exist. */
enum reading {
	READ_VALUE,
	READ_GONE,
	READ_FAILED,
};

/* How to read and set a kind. */
struct change_ops {
	/* The current value, which the caller frees; NULL unless READ_VALUE. READ_FAILED sets
	 * err. */
	enum reading (*now)(const struct quiet_options *o, const struct change *c, char **value,
			    struct error *err);
	/* A slow one ends early if interrupted, unless it restores. */
	int (*put)(const struct quiet_options *o, const struct change *c, const char *value,
		   struct error *err);
};
/* READ_GONE or READ_FAILED, depending on errno. */
enum reading reading_of_errno(struct error *err);
extern const struct change_ops file_ops, unit_ops, sysv_ops, pause_ops, swap_ops, cpuset_ops;

/* Whether two texts of a file mean the same: trailing blanks are ignored, and of "always [madvise]
 * never" only the word in brackets counts. */
bool value_equal(const char *a, const char *b);
/* That word, or the text without trailing blanks. The caller frees it. */
char *value_word(const char *text);

/* path below the root of the options. The caller frees it. */
char *quiet_path(const struct quiet_options *o, const char *path);
bool quiet_is_machine(const struct quiet_options *o); /* not a directory that stands for it */

/* The knob with this name; NULL: not in the table, so no journal or plan may name it. */
const struct quiet_knob *quiet_knob_find(const char *name);

/* Each adds its part of the table to a plan. */
int plan_files(const struct quiet_options *o, const struct quiet_knob *k, change_list *out,
	       struct error *err);
int plan_services(const struct quiet_options *o, const struct quiet_knob *k, change_list *out,
		  struct error *err);
int plan_swap(const struct quiet_options *o, const struct quiet_knob *k, change_list *out,
	      struct error *err);
int plan_cpuset(const struct quiet_options *o, const struct quiet_knob *k, change_list *out,
		struct error *err);

/* Whether this errno of process_look() says so. */
bool process_is_gone(int reason);

#endif
