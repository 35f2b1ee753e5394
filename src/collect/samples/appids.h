/* SLEEPY's appids: (name of a binary, how manyth of it in this session). Private to collect/. */
#ifndef TARE_COLLECT_SAMPLES_APPIDS_H
#define TARE_COLLECT_SAMPLES_APPIDS_H

#include "collect/samples/sideband.h"
#include "record/profile.h"

struct appids;

struct appids *appids_new(void);
void appids_free(struct appids *a); /* NULL is fine */

/* Fills app (which is added to `into`), number, pid, comm, cgroup and container; start_ns and
 * exec_id where start_ns is 0. first_ns is the caller's. An image has the same number in every
 * profile; a new one the next of its app, so this is called in order of first samples. Both texts
 * are borrowed from the image. image NULL: nothing is known, "[unknown]" with the pid in *i. */
void appids_fill(struct appids *a, struct profile *into, struct image_of *image,
		 struct sideband *sb, struct profile_instance *i);

/* "kworker/0:1-events" -> "[kworker]": kernel threads that do the same are one app. */
void appids_thread_name(const char *comm, char name[19]);

/* The path in a text like /proc/PID/cgroup: of the v2 hierarchy, else of systemd's, else of the
 * first; NULL: none. The caller frees. */
char *appids_cgroup(const char *text);

#endif
