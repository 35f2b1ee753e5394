#include "report/time/shares.h"

#include <stdlib.h>
#include <string.h>

static int compare_shares(const void *a, const void *b)
{
	const struct share *x = a, *y = b;
	return ORDER(x->role, y->role) ?: ORDER(y->exec_ns, x->exec_ns) ?: strcmp(x->name, y->name);
}

void shares_of(const struct run_view *view, struct shares *s)
{
	*s = (struct shares){ 0 };
	for (size_t i = 0; i < view->count; i++) {
		const struct execution *x = &view->executions[i];
		if (x->warmup || !x->processes.count)
			continue;
		s->executions++;
		/* what a process used was counted up to the end of the tree */
		bool longer = x->tree_ns != ABSENT_NS && x->tree_ns > x->et_ns;
		s->window_ns += longer ? x->tree_ns : x->et_ns;
		array_each(p, &x->processes) {
			size_t k = 0;
			while (k < s->list.count && (s->list.items[k].role != p->role ||
						     strcmp(s->list.items[k].name, p->name) != 0))
				k++;
			if (k == s->list.count)
				array_push(&s->list,
					   (struct share){ .name = p->name, .role = p->role });
			struct share *share = &s->list.items[k];
			if (share->last != s->executions) {
				share->last = s->executions;
				share->executions++;
				share->current_ns = 0;
			}
			share->processes++;
			share->started += p->started;
			share->ended += p->ended;
			if (!(p->present >> TASK_EXEC & 1))
				continue;
			share->exec_seen = true;
			share->exec_ns += p->value[TASK_EXEC];
			share->current_ns += p->value[TASK_EXEC];
			if (share->current_ns > share->exec_max_ns)
				share->exec_max_ns = share->current_ns;
		}
	}
	array_sort(&s->list, compare_shares);
}

void shares_release(struct shares *s)
{
	array_release(&s->list);
}
