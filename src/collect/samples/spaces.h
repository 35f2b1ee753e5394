/* What the kernel side needs to follow user stacks: the unwind rows of each object and the mappings
 * of each process, in maps. Private to collect/. */
#ifndef TARE_COLLECT_SAMPLES_SPACES_H
#define TARE_COLLECT_SAMPLES_SPACES_H

#include "base/error.h"
#include "collect/bpf/profile.h"
#include "collect/samples/sideband.h"

struct profile_bpf;
struct spaces;

#define SPACES_ROWS (4u << 20) /* a power of 2; 8 bytes each */
#define SPACES_TABLES 2048
#define SPACES_PROCESSES 8192

/* skel must be loaded, and its maps must have these sizes. */
int spaces_open(struct spaces **out, struct profile_bpf *skel, struct sideband *sb,
		struct error *err);
void spaces_close(struct spaces *s); /* NULL is fine */

/* Reads the rows of all running processes, which may take a while. */
void spaces_prepare(struct spaces *s);

/* The kernel side lacked this program or (outside) one of its addresses. Gives it what is known. */
void spaces_tell(struct spaces *s, const struct profile_identity *id, struct image_of *image,
		 bool outside);

/* Call it after sideband_read(): withdraws the tables of programs with new mappings. */
void spaces_look_again(struct spaces *s);

/* Frees the tables that no process uses any more. */
void spaces_forget(struct spaces *s);

#endif
