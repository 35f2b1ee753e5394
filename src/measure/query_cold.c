/* Empty caches before an execution. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "measure/query.h"

static const char drop_caches[] = "/proc/sys/vm/drop_caches";

/* Dirty pages survive the dropping: they have to be written first. */
static int empty_kernel(struct error *err)
{
	sync();
	int fd = open(drop_caches, O_WRONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, "3", 1);
	int why = errno;
	if (fd >= 0)
		close(fd);
	if (n == 1)
		return 0;
	error_set(err, EXIT_ENVIRONMENT, "cannot empty the kernel's caches: %s: %s", drop_caches,
		  strerror(why));
	return error_hint(err, "run as root, or measure with warm caches");
}

int query_cold_check(const struct query_rig *r, struct error *err)
{
	if (access(drop_caches, W_OK) != 0) {
		error_set(err, EXIT_ENVIRONMENT, "cold caches need the right to empty them (%s)",
			  drop_caches);
		return error_hint(err, "run as root, or measure with warm caches");
	}
	if (dbms_cold(r->dbms) == DBMS_COLD_RESTART && !r->server) {
		error_set(
			err, EXIT_USAGE,
			"%s has cold caches only after a restart, and this server is not tare's to "
			"restart",
			dbms_name(r->dbms));
		return error_hint(err, "describe it in an experiment file, under 'server'");
	}
	return 0;
}

int query_cold(struct query_rig *r, struct error *err)
{
	if (dbms_cold(r->dbms) == DBMS_COLD_ONLINE) {
		if (dbms_forget(r->dbms, err) == 0)
			return empty_kernel(err);
		/* one that cannot while it runs can by being started anew */
		if (err->code != EXIT_ENVIRONMENT || !r->server)
			return -1;
		*err = (struct error)ERROR_INIT;
	}
	dbms_disconnect(r->dbms);
	if (server_stop(r->server, err) || empty_kernel(err) || server_start(r->server, err))
		return -1;
	return dbms_reconnect(r->dbms, err);
}
