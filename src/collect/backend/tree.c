#include "collect/backend/tree.h"

#include <stdlib.h>
#include <unistd.h>

static void add_kin(void *context, struct task_record *task, const struct stat_extra *extra)
{
	kin_list *list = context;
	if (!procfs_is_gone(extra) || extra->threads > 1)
		array_push(list, (struct kin){ task->tgid, task->ppid, false });
}

void tree_arm(struct tree *tree, struct procfs *p)
{
	tree->self = getpid();
	tree->root = tree->maker = 0;
	tree->running = false;
	tree->helpers.count = 0;
	procfs_children(p, &tree->helpers);
}

void tree_arm_running(struct tree *tree, struct procfs *p, const struct collector_running *who)
{
	FREED kin_list list = { 0 };
	tree_arm(tree, p);
	tree->running = true;
	tree->root = who->process;
	tree->maker = who->maker;
	if (who->maker)
		procfs_each_process(p, PROCFS_STAT, add_kin, &list, NULL);
	for (size_t i = 0; i < list.count; i++)
		if (list.items[i].ppid == who->maker)
			array_push(&tree->helpers, list.items[i].pid);
}

void tree_adopt(struct tree *tree, pid_t root)
{
	tree->root = root;
}

void tree_release(struct tree *tree)
{
	array_release(&tree->helpers);
}

static int compare_kin(const void *a, const void *b)
{
	const struct kin *x = a, *y = b;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct kin *find(const kin_list *list, pid_t pid)
{
	struct kin wanted = { .pid = pid };
	return list->count ? bsearch(&wanted, list->items, list->count, sizeof wanted, compare_kin)
			   : NULL;
}

bool tree_has(const kin_list *list, pid_t pid)
{
	const struct kin *k = find(list, pid);
	return k && k->member;
}

bool tree_is_helper(const struct tree *tree, pid_t pid)
{
	for (size_t i = 0; i < tree->helpers.count; i++)
		if (tree->helpers.items[i] == pid && pid != tree->root)
			return true;
	return false;
}

/* Walks up to the root or to tare. Ids that were reused could form a ring, hence the limit. */
static bool descends(const struct tree *tree, const kin_list *list, const struct kin *k)
{
	for (size_t steps = 0; k && steps <= list->count; steps++) {
		if (k->member || k->pid == tree->root)
			return true;
		if (tree->maker && k->ppid == tree->maker)
			return !tree_is_helper(tree, k->pid);
		if (k->ppid == tree->self && !tree->running)
			return k->pid != tree->self && !tree_is_helper(tree, k->pid);
		if (tree->root && k->ppid == tree->root)
			return true;
		k = find(list, k->ppid);
	}
	return false;
}

/* Sorts by pid and marks the members; a pid may occur twice. */
static void tree_mark(const struct tree *tree, kin_list *list)
{
	if ((!tree->root && !tree->maker) || !list->count)
		return;
	array_sort(list, compare_kin);
	for (size_t i = 0; i < list->count; i++)
		list->items[i].member = descends(tree, list, &list->items[i]);
}

void tree_scan(const struct tree *tree, struct procfs *p, kin_list *list)
{
	procfs_each_process(p, PROCFS_STAT, add_kin, list, NULL);
	tree_mark(tree, list);
}

void tree_children(const struct tree *tree, struct procfs *p, pid_list *pids)
{
	FREED procfs_pids children = { 0 };
	procfs_children(p, &children);
	for (size_t i = 0; i < children.count; i++)
		if (!tree_is_helper(tree, children.items[i]))
			array_push(pids, children.items[i]);
}

void tree_flag(const struct tree *tree, struct image *image)
{
	if (!tree->root && !tree->maker)
		return;
	FREED kin_list list = { 0 };
	for (size_t i = 0; i < image->count; i++)
		if (image->tasks[i].flags & TASK_IS_LEADER)
			array_push(&list, (struct kin){ image->tasks[i].tgid, image->tasks[i].ppid,
							false });
	tree_mark(tree, &list);
	for (size_t i = 0; i < image->count; i++)
		if (tree_has(&list, image->tasks[i].tgid))
			image->tasks[i].flags |= TASK_IS_SUBJECT;
}
