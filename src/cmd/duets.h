/* Several duets at once: what `tare compare` and pages share. */
#ifndef TARE_CMD_DUETS_H
#define TARE_CMD_DUETS_H

#include "cmd/view.h"

/* The caller frees the array. */
struct duet_view *loaded_duets(const loaded_list *list);
/* Pools duets that compare the same two sides by the same measure; false: these do not. */
bool pool_duets(const loaded_list *list, struct duet_pool *out);
/* `tare compare` of duets. Returns the exit code. slower < 0: not asked. */
int compare_duets(const loaded_list *list, enum table_format format, double slower);

#endif
