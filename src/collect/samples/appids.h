/* SLEEPY's appids: the name of a binary and its ordinal in this session. Private to collect/. */
#ifndef TARE_COLLECT_SAMPLES_APPIDS_H
#define TARE_COLLECT_SAMPLES_APPIDS_H

#include "collect/samples/sideband.h"
#include "record/profile.h"

struct appids;

struct appids *appids_new(void);
void appids_free(struct appids *a); /* NULL is fine */

/* Fills in app (which is added to `into`), number, pid, comm, cgroup and container, and start_ns
 * and exec_id if start_ns is 0. The caller sets first_ns. An image has the same number in every
 * profile; a new one gets the next number of its app, so call this in order of first samples. Both
 * texts are borrowed from the image. image NULL: unknown; the app is "[unknown]" and the number is
 * i->pid. */
void appids_fill(struct appids *a, struct profile *into, struct image_of *image,
		 struct sideband *sb, struct profile_instance *i);

/* "kworker/0:1-events" -> "[kworker]": similar kernel threads are one app. */
#define APPIDS_THREAD_NAME (PROFILE_COMM + 2)
void appids_thread_name(const char *comm, char name[APPIDS_THREAD_NAME]);

/* The cgroup path in a text like /proc/PID/cgroup: that of the v2 hierarchy, or else of systemd's,
 * or else of the first; NULL: none. The caller frees it. */
char *appids_cgroup(const char *text);

#endif
