#!/bin/sh
# A database server with its clients, on a socket in DIR and nowhere else, as an unprivileged user.
#
#	pgbench.sh prepare DIR       makes the database in DIR, which must be empty
#	pgbench.sh run DIR SECONDS   server up, two clients for SECONDS, server down: the subject
#
# Exit code 77, with the reason, when there is no PostgreSQL here.
set -eu
mode=${1:?} dir=${2:?} seconds=${3:-2}

bin=
for candidate in "$(pg_config --bindir 2>/dev/null || :)" /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /usr/bin; do
	if [ -x "$candidate/postgres" ] && [ -x "$candidate/initdb" ]; then bin=$candidate; fi
done
if [ -z "$bin" ]; then
	echo "PostgreSQL is not installed"
	exit 77
fi
PATH=$bin:$PATH
if ! command -v pgbench >/dev/null; then
	echo "pgbench is not installed"
	exit 77
fi
# The server refuses to be root. That user need not be able to read this file.
if [ "$(id -u)" -eq 0 ]; then
	chown 65534:65534 "$dir"
	exec setpriv --reuid=65534 --regid=65534 --clear-groups sh -c "$(cat "$0")" "$0" "$@"
fi
cd "$dir"
export HOME="$dir" LC_ALL=C PGHOST="$dir" PGUSER=tare PGDATABASE=postgres
start() { pg_ctl -D "$dir/data" -l "$dir/log" -w -o "-c listen_addresses='' -k '$dir'" start; }
stop() { pg_ctl -D "$dir/data" -m fast -w stop; }
case $mode in
prepare)
	initdb -D "$dir/data" -U tare -A trust --no-sync >"$dir/initdb.log"
	start >/dev/null
	pgbench -i -s 1 -q 2>/dev/null >/dev/null
	stop >/dev/null
	;;
run)
	start
	pgbench -n -c 2 -T "$seconds" && failed=0 || failed=1
	stop
	exit $failed
	;;
esac
