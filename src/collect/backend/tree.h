/* A process tree from parent ids alone: what is left when fork events are not to be had.
 * Private to collect/. */
#ifndef TARE_COLLECT_BACKEND_TREE_H
#define TARE_COLLECT_BACKEND_TREE_H

#include <stdbool.h>

#include "collect/backend/procfs.h"
#include "collect/collect.h"

/* One process: alive, or as its exit record has it. */
struct kin {
	pid_t pid, ppid;
	bool member; /* of the subject's tree */
};
typedef ARRAY(struct kin) kin_list;

/* The subject's tree: the root, its descendants, and the processes that tare, a child subreaper,
 * became the parent of. Children tare had before are its helpers, not the subject's. */
struct tree {
	pid_t self, root; /* root 0: no subject yet, or none that has one */
	pid_t maker;	  /* 0: nobody; its children from before are no members either */
	bool running; /* the root was there before: what tare becomes the parent of is not its */
	procfs_pids helpers;
};

/* Forgets the last root and notes the helpers. */
void tree_arm(struct tree *tree, struct procfs *p);
/* In place of both, for what runs already. */
void tree_arm_running(struct tree *tree, struct procfs *p, const struct collector_running *who);
void tree_adopt(struct tree *tree, pid_t root);
void tree_release(struct tree *tree);

/* Whether tare had this child before. */
bool tree_is_helper(const struct tree *tree, pid_t pid);

/* Whether pid is a member, in a marked list. */
bool tree_has(const kin_list *list, pid_t pid);

/* Every process in /proc that is not gone, marked. */
void tree_scan(const struct tree *tree, struct procfs *p, kin_list *list);

/* Those that tare became the parent of, appended; not yet reaped ones among them. Quicker than a
 * scan: a chain of processes that each fork the next and exit outruns that. */
void tree_children(const struct tree *tree, struct procfs *p, pid_list *pids);

/* Flags the subject's tasks of a snapshot. */
void tree_flag(const struct tree *tree, struct image *image);

#endif
