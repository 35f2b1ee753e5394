/* A process tree from parent ids alone, for when there are no fork events. Private to collect/. */
#ifndef TARE_COLLECT_BACKEND_TREE_H
#define TARE_COLLECT_BACKEND_TREE_H

#include <stdbool.h>

#include "collect/backend/procfs.h"
#include "collect/collect.h"

/* One process: alive, or from its exit record. */
struct kin {
	pid_t pid, ppid;
	bool member; /* of the subject's tree */
};
typedef ARRAY(struct kin) kin_list;

/* The subject's tree: the root, its descendants, and the processes that tare inherited as a child
 * subreaper. Children that tare had before are its helpers and do not belong to the subject. */
struct tree {
	pid_t self, root; /* root 0: no subject yet, or one without a root */
	pid_t maker;	  /* 0: nobody; its earlier children are not members either */
	bool running; /* the root ran before; processes that tare inherits do not belong to it */
	procfs_pids helpers;
};

/* Forgets the last root and notes the helpers. */
void tree_arm(struct tree *tree, struct procfs *p);
/* Used instead of tree_arm() and tree_adopt() for a subject that already runs. */
void tree_arm_running(struct tree *tree, struct procfs *p, const struct collector_running *who);
void tree_adopt(struct tree *tree, pid_t root);
void tree_release(struct tree *tree);

/* Whether tare had this child before. */
bool tree_is_helper(const struct tree *tree, pid_t pid);

/* Whether pid is a member, in a marked list. */
bool tree_has(const kin_list *list, pid_t pid);

/* Lists every living process in /proc, marked. */
void tree_scan(const struct tree *tree, struct procfs *p, kin_list *list);

/* Appends the processes whose parent tare became, including those not reaped yet. It is faster than
 * a scan, which a chain of processes that each fork the next and exit would outrun. */
void tree_children(const struct tree *tree, struct procfs *p, pid_list *pids);

/* Flags the subject's tasks in a snapshot. */
void tree_flag(const struct tree *tree, struct image *image);

#endif
