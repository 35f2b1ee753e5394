/* A tree of files that stands for a machine to be made quiet. */
#ifndef TARE_TESTS_QUIET_FIXTURE_H
#define TARE_TESTS_QUIET_FIXTURE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "quiet/quiet.h"

#define CPU "/sys/devices/system/cpu/"
#define THP "/sys/kernel/mm/transparent_hugepage/"

#define TREE_FILES 23
struct tree_file {
	const char *path, *text;
};
extern const struct tree_file tree_files[TREE_FILES];
extern char tree_root[64], tree_journal[96];

int tree_begin(void **state);
int tree_end(void **state);
#define ON_TREE(test) cmocka_unit_test_setup_teardown(test, tree_begin, tree_end)

char *tree_path(const char *path); /* in the tree; the caller frees */
void tree_put(const char *path, const char *text);
void tree_mode(const char *path, mode_t mode);
void assert_file(const char *path, const char *text);
void assert_as_before(void); /* all of it, and there is no journal */

struct quiet_options tree_options(void); /* of the tree, with two CPUs isolated */
void tree_apply(const struct quiet_options *o, int owner);
void tree_restore(const struct quiet_options *o);
const struct quiet_item *item_of(const quiet_list *list, const char *what);
void assert_state(const quiet_list *list, const char *what, enum quiet_state state);

/* Between these two root is a user whom the modes of files concern. */
bool anyone_begin(void);
void anyone_end(bool was_root);

#endif
