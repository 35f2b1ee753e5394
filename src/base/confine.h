/* Gives up rights for good: ids, capabilities, system calls, files. For processes that handle what
 * strangers made. Each function says whether the kernel took it; who calls goes on without. */
#ifndef TARE_BASE_CONFINE_H
#define TARE_BASE_CONFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define NOBODY 65534 /* user and group without rights over any file */

/* Becomes this user, without a way back. name: whose groups it gets; NULL: none. True: nothing to
 * do, too, because this process is not root. */
bool confine_ids(uid_t uid, gid_t gid, const char *name);
/* No capability is left, none comes back, and other processes of the user cannot look into this
 * one. */
bool confine_rights(void);

enum confine_calls {
	/* Reads descriptors that it is given: opens nothing, starts nothing, connects to nothing.
	 */
	CONFINE_READER,
	/* Accepts connections and opens files; threads and forks, but no other program. */
	CONFINE_SERVER,
};
/* Calls that are not on the list fail with EPERM; those of another architecture end the process. */
bool confine_calls(enum confine_calls which);
/* Whether this kernel has what confine_calls() needs. */
bool confine_calls_known(void);

/* Files beneath `writable` can be read, made, written and removed; files beneath the readable ones
 * (NULL at the end) only read; others not opened at all. Before threads are started. */
bool confine_files(const char *writable, const char *const *readable);

/* Closes every descriptor but 0, 1, 2 and `kept`, and takes away memory that is shared with other
 * processes, which the kernel's maps are. For a child that was just forked. */
void confine_inherited(int kept);

#endif
