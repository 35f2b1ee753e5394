#!/usr/bin/env bats
# What `tare query` says of errors, of what was not measured, and of two runs; the binary is $TARE.

setup() {
	: "${TARE:?set TARE to the binary under test}"
	cd "$BATS_TEST_TMPDIR" || return 1
	export TARE_LAB=$BATS_TEST_TMPDIR/lab.db XDG_CACHE_HOME=$BATS_TEST_TMPDIR TMPDIR=$BATS_TEST_TMPDIR
	TARE_RUNTIME_DIR=$(mktemp -d /tmp/tare-run.XXXXXX)
	export TARE_RUNTIME_DIR TARE_QUIET_ROOT=$BATS_TEST_TMPDIR/machine
	mkdir "$TARE_QUIET_ROOT"
}

teardown() {
	[ -z "${going:-}" ] || kill "$going" 2>/dev/null || true
	[ -z "${server:-}" ] || kill -INT "$server" 2>/dev/null || true
	[ -z "${sockets:-}" ] || rm -rf "$sockets"
	rm -rf "$TARE_RUNTIME_DIR"
}

# sql STATEMENT: the one value that it gives
sql() {
	"$TARE" sql --tsv "$1" | tail -n 1
}

# serve SETTING...: a PostgreSQL with these settings, at $url
serve() {
	local bin as=()
	bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
	[ -x "$bin/initdb" ] || skip "needs postgresql"
	sockets=$(mktemp -d /tmp/tare-pg.XXXXXX)
	if [ "$(id -u)" -eq 0 ]; then
		id postgres >/dev/null 2>&1 || skip "needs a user postgres"
		as=(setpriv --reuid postgres --regid postgres --clear-groups)
		chown postgres "$sockets"
	fi
	"${as[@]}" "$bin/initdb" -D "$sockets/data" -U postgres -A trust -N >/dev/null
	printf '%s\n' "$@" >>"$sockets/data/postgresql.conf"
	"${as[@]}" "$bin/postgres" -D "$sockets/data" -c listen_addresses= -k "$sockets" >pg.log 2>&1 3>&- &
	server=$!
	url="postgresql://postgres@/postgres?host=$sockets"
	for ((i = 0; i < 400; i++)); do
		! psql -qXc 'SELECT 1' "$url" >/dev/null 2>&1 || return 0
		sleep 0.05
	done
	cat pg.log
	return 1
}

# fill_overflow: a table whose one value has no absolute one, so that abs() of it fails when executed
fill_overflow() {
	python3 - "$1" <<-'END2'
		import sqlite3, sys
		db = sqlite3.connect("mine.db")
		db.execute("CREATE TABLE IF NOT EXISTS t(a)")
		db.execute("DELETE FROM t")
		db.execute("INSERT INTO t VALUES (?)", (int(sys.argv[1]),))
		db.commit()
	END2
}

@test "query: a query that fails costs itself alone, and resume tries it again" {
	fill_overflow -9223372036854775808
	run "$TARE" query -r 6 -e 'SELECT 1 + a FROM t' -e 'SELECT abs(a) FROM t' -e 'SELECT 3 + a FROM t' sqlite:mine.db
	echo "$output"
	[ "$status" -eq 4 ]
	[[ "$output" == *"failed: "*"integer overflow"* ]]
	[[ "$output" == *"gave up, "*"integer overflow"* ]]
	[[ "$output" == *"tare query resume 1"* ]]
	[ "$(sql "SELECT group_concat(n) FROM (SELECT query || ':' || count(*) AS n FROM query_executions GROUP BY query)")" = 1:6,3:6 ]
	[ "$(sql "SELECT query || ' ' || kind FROM query_events WHERE text LIKE '%integer overflow%'")" = "2 gave up" ]
	[ "$("$TARE" query report --json | jq -r '.events[] | select(.kind == "gave up") | .query')" = 2 ]
	[ "$(sql "SELECT status FROM runs")" = interrupted ]
	# the same once more
	run "$TARE" query resume
	[ "$status" -eq 4 ]
	[ "$(sql "SELECT count(*) FROM query_executions")" = 12 ]
	[ "$(sql "SELECT count(*) FROM query_events WHERE kind = 'gave up'")" = 2 ]
	# and then it is well
	fill_overflow 7
	run "$TARE" query resume
	echo "$output"
	[ "$status" -eq 0 ] || [ "$status" -eq 5 ]
	[ "$(sql "SELECT group_concat(n) FROM (SELECT query || ':' || count(*) AS n FROM query_executions GROUP BY query)")" = 1:6,2:6,3:6 ]
	[ "$(sql "SELECT status FROM runs")" = complete ]
}

# bats test_tags=slow
@test "query: a cancelled query is tried again, and a division by zero is recorded" {
	serve
	run "$TARE" query -r 6 -e 'SELECT 1 / (count(*) - count(*)) FROM pg_class' -e 'SELECT count(*) FROM pg_class' "$url"
	echo "$output"
	[ "$status" -eq 4 ]
	[ "$(sql "SELECT query || ' ' || count(*) FROM query_executions")" = "2 6" ]
	[ "$(sql "SELECT text LIKE '%division by zero%22012%' FROM query_events WHERE query = 1")" = 1 ]
	# each execution is one of pg_sleep: whatever is cancelled is one of them
	(
		# three are tried again; a fourth in a row would not be
		for ((i = 0; i < 3; i++)); do
			sleep 0.4
			psql -qXAtc "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE '%0.317%' AND pid <> pg_backend_pid()" \
				"$url" >/dev/null 2>&1
		done
	) 3>&- &
	going=$!
	run timeout 60 "$TARE" query -r 6 --back-off 10ms -e 'SELECT pg_sleep(0.317)' "$url"
	echo "$output"
	wait $going || true
	going=
	[ "$status" -eq 0 ] || [ "$status" -eq 5 ]
	[ "$(sql "SELECT count(*) FROM query_executions WHERE run = 2 AND measured_ns >= 317000000")" = 6 ]
	[ "$(sql "SELECT count(*) > 0 FROM query_events WHERE run = 2 AND kind = 'backed off' AND query = 1 AND text LIKE '%57014%'")" = 1 ]
	[ "$(sql "SELECT status FROM runs WHERE id = 2")" = complete ]
}

@test "query: the paper's example, imported, keeps what the paper kept" {
	# of the fourth and the seventh the paper has no more than the time
	awk -F, '
		/^#/ { next }
		/^time_meas_ms/ { for (i = 2; i <= 11; i++) ns[i] = $i "000000" }
		/^u_query/ { for (i = 2; i <= 11; i++) u[i] = $i }
		/^s_query/ { for (i = 2; i <= 11; i++) s[i] = $i }
		/^blkio_query/ { for (i = 2; i <= 11; i++) b[i] = $i }
		/^iowait/ { for (i = 2; i <= 11; i++) w[i] = $i }
		END {
			print "query,cardinality,execution,measured_ns,query_user_ticks,query_system_ticks,query_blkio_ticks,overall_iowait_ticks"
			for (i = 2; i <= 11; i++) {
				line = "1,1000," i - 1 "," ns[i] "," u[i] "," s[i] "," b[i] "," w[i]
				gsub(/-/, "", line)
				print line
			}
		}' "$BATS_TEST_DIRNAME/../golden/ttp-example.csv" >example.csv
	"$TARE" query import --dbms paper example.csv
	for form in --paper ""; do
		# shellcheck disable=SC2086
		"$TARE" query report $form --json >run.json
		jq -e '.at_kept == 1 and .executions_kept == 8' run.json
		jq -e '[.at[0].executions[] | select(.dropped_by != []) | .number] == [4, 7]' run.json
		jq -e '.at[0].times.calculated | (.median_ns == 1992500000) and (.sigma_ns - 46252000 | fabs) < 5000' run.json
		# nobody counted the user time of the CPUs: neither passed nor failed
		jq -e '.checks.execution[] | select(.name == "query user tick") | .fired == 0 and .of == 0' run.json
		jq -e '.checks.experiment[] | select(.name == "other query process") | .of == 0' run.json
		run "$TARE" query report $form
		echo "$output"
		[[ "$output" == *"Not evaluated: "*"query user tick"* ]]
	done
	run "$TARE" query report --checks
	[[ "$output" == *"query user tick"*"0"*"0"*"not evaluated"* ]]
	[[ "$output" != *Asked* ]]
}

# made NAME CPU ELAPSED TASKS: imports ten executions of a query of so many ms of CPU and of elapsed time
made() {
	awk -v cpu="$2" -v elapsed="$3" -v tasks="$4" 'BEGIN {
		print "query,cardinality,execution,measured_ns,plan,query_user_ns,query_system_ns,query_blkio_ns,query_tasks,own_device_ns,others_device_ns"
		for (x = 1; x <= 10; x++) {
			factor = 1 + (x * 7 % 10) / 1000
			printf "1,0,%d,%d,%016x,%d,1000000,0,%d,0,0\n", x, elapsed * 1000000 * factor, 7, cpu * 1000000 * factor, tasks
		}
	}' >"$1.csv"
	"$TARE" query import --dbms postgresql --cpus 4 -n "$1" "$1.csv"
}

@test "query: compare calls a speed-up by elapsed time no slow-down, unless asked for CPU time" {
	made serial 100 110 1
	made parallel 125 70 3
	run "$TARE" query compare serial parallel --fail
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"times the base's CPU + device"* ]] && [[ "$output" == *"times its elapsed time"* ]]
	[[ "$output" == *" 1.24"*" 0.63"*"faster by elapsed"* ]]
	# what is asked for decides
	for option in "--measure device" "-m blocked" "-t device"; do
		# shellcheck disable=SC2086
		run "$TARE" query compare serial parallel --fail $option
		echo "$output"
		[ "$status" -eq 1 ]
		[[ "$output" == *"slower"* ]] && [[ "$output" != *"by elapsed"* ]]
	done
	run "$TARE" query compare serial parallel --fail --measure elapsed
	[ "$status" -eq 0 ]
	# and a user who waits longer is told, whatever was saved
	run "$TARE" query compare parallel serial --fail
	echo "$output"
	[ "$status" -eq 1 ]
	[[ "$output" == *"slower by elapsed"* ]]
	run "$TARE" query compare parallel serial --fail --measure device
	[ "$status" -eq 0 ]
	"$TARE" query compare serial parallel --json |
		jq -e '.time == "cpu_device" and .contrary == 1 and (.pairs[0] | .by == "measured" and .change == "faster" and
			.ratio > 1.2 and .elapsed.ratio < 0.7)'
	# the command of all runs takes them, too
	run "$TARE" compare serial parallel --fail-if-slower 0.05
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"faster by elapsed"* ]]
	run "$TARE" compare parallel serial --measure et --fail-if-slower 0.05
	[ "$status" -eq 1 ]
	run "$TARE" compare parallel serial --measure et --fail-if-slower 0.9
	[ "$status" -eq 0 ]
	run "$TARE" compare serial parallel --measure tick
	[ "$status" -eq 2 ]
}

# bats test_tags=slow
@test "query: settings are the user's own, and are told" {
	serve "jit = on" "work_mem = '5MB'"
	for as in on off; do
		run "$TARE" query -r 6 -n $as -e 'SELECT count(*) FROM pg_class' "$url&options=-cjit%3D$as"
		echo "$output"
		[ "$status" -eq 0 ] || [ "$status" -eq 5 ]
		[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"Settings "*"jit $as"*"work_mem 5MB"* ]]
		"$TARE" query report $as --json | jq -e ".server.settings.jit == \"$as\""
	done
	run "$TARE" query compare on off
	echo "$output"
	[[ "$output" == *"Settings"*"jit on → off"* ]] || [[ "$output" == *"Settings"*"jit on -> off"* ]] || [[ "$output" == *"0 Q@Cs"* ]]
	# the experiment says so
	printf "url: '%s'\nexecutions: 6\nsettings: ['SET jit = off']\nqueries: ['SELECT 1 + 1']\n" "$url" >e.yaml
	"$TARE" query -q e.yaml || [ $? -eq 5 ]
	"$TARE" query report --json | jq -e '.server.settings.jit == "off"'
}

# bats test_tags=slow
@test "query: explain and show --processes name autovacuum" {
	[ "$(id -u)" -eq 0 ] || skip "needs root, for the ledger"
	# with pauses, it lasts for more than an execution: one that begins and ends within it has no title
	serve "autovacuum_naptime = 1s" "autovacuum_vacuum_threshold = 0" "autovacuum_vacuum_scale_factor = 0" \
		"autovacuum_vacuum_cost_delay = 5ms" "autovacuum_analyze_threshold = 0" "autovacuum_analyze_scale_factor = 0"
	psql -qXc 'CREATE TABLE busy AS SELECT n, md5(n::text) AS t FROM generate_series(1, 150000) n' "$url"
	while :; do
		psql -qXc 'UPDATE busy SET n = n + 1' "$url" >/dev/null 2>&1 || sleep 0.1
	done 3>&- &
	going=$!
	# on a busy machine none may have begun yet
	for ((i = 0; i < 4; i++)); do
		rm -f "$TARE_LAB"*
		run timeout 120 "$TARE" query -r 8 -n beside -e 'SELECT count(*) FROM generate_series(1, 2500000) n WHERE n % 7 = 0' "$url"
		echo "$output"
		[ "$status" -eq 0 ] || [ "$status" -eq 5 ]
		[[ "$("$TARE" show --processes --all beside)" != *autovacuum* ]] || break
	done
	kill $going
	wait $going || true
	going=
	run "$TARE" show --processes --all beside
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *autovacuum* ]]
	run "$TARE" explain beside
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == "Query 1"*"in the mean: "* ]]
	[[ "$output" == *"with a ledger; the median one is "* ]]
	"$TARE" explain --json beside | jq -e '.explained | length > 0'
	run "$TARE" explain beside 1
	[ "$status" -eq 0 ]
	run "$TARE" explain beside 2
	[ "$status" -eq 2 ]
	[[ "$output" == *"no Q@C '2'"* ]]
}

# bats test_tags=alone
@test "query: where nothing is kept, the reason comes first, and the exit status is 5" {
	# more CPU time of others than of the query, on every CPU
	for ((i = 0; i < 3 * $(getconf _NPROCESSORS_ONLN); i++)); do
		timeout 60 sh -c 'while :; do :; done' 3>&- &
		busy+=($!)
	done
	run timeout 50 "$TARE" query -r 8 -e 'SELECT 1' sqlite::memory:
	kill "${busy[@]}"
	echo "$output"
	[ "$status" -eq 5 ]
	output=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$output" == *", run 1 No trustworthy time: "*"Raw: "*" … "* ]] || [[ "$output" == *", run 1 No trustworthy time: "*"Raw: "*" to "* ]]
	# fewer than the protocol needs are what was asked for
	run "$TARE" query -r 2 -e 'WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 300000) SELECT count(*) FROM c' sqlite::memory:
	echo "$output"
	[ "$status" -eq 0 ] || [ "$("$TARE" query report --json | jq .executions_kept)" = 0 ]
	# to read a stored run is no measurement
	"$TARE" query report 1 >/dev/null
}

# rows: how many table t has, asked of the server or the file itself
rows() {
	case $url in
	sqlite:*) sqlite3 "${url#sqlite:}" 'SELECT count(*) FROM t' ;;
	*) psql -qAtXc 'SELECT count(*) FROM t' "$url" ;;
	esac
}

# not_without_consent STATEMENT...: each fails, says how to allow it, and leaves the five rows of t as they are
not_without_consent() {
	for statement; do
		run timeout 60 "$TARE" query -r 6 -n refused -e "$statement" "$url"
		echo "$output"
		[ "$status" -eq 2 ] || [ "$status" -eq 4 ]
		[[ "$(tr -s ' \n' ' ' <<<"$output")" == *--allow-writes* ]]
		[ "$(rows)" = 5 ]
	done
}

# consents: what is written is rolled back, or kept if that is asked for; both are told
consents() {
	run "$TARE" query -r 6 -n back --allow-writes -e 'INSERT INTO t VALUES (9)' "$url"
	echo "$output"
	[ "$status" -eq 0 ] || [ "$status" -eq 5 ]
	[ "$(rows)" = 5 ]
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"Writes each execution was rolled back; no commit is in the times"* ]]
	"$TARE" query report back --json | jq -e '[.at[].executions[].transaction] | unique == ["rolled back"]'
	[ "$(sql "SELECT count(*) FROM query_executions x JOIN runs r ON r.id = x.run WHERE r.name = 'back' AND x.transaction_end = 1")" = 6 ]
	run "$TARE" query -r 6 -n kept --allow-writes --commit -e 'INSERT INTO t VALUES (9)' "$url"
	echo "$output"
	[ "$status" -eq 0 ] || [ "$status" -eq 5 ]
	# the first one warms the caches
	[ "$(rows)" = 12 ]
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"Writes every execution was committed"* ]]
	run "$TARE" query -r 6 -n read -e 'SELECT count(*) FROM t' "$url"
	[[ "$output" != *Writes* ]]
	"$TARE" query report read --json | jq -e '[.at[].executions[].transaction] | unique == ["read only"]'
}

@test "query: SQLite writes only with consent" {
	url=sqlite:$PWD/x.db
	sqlite3 x.db 'CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1), (2), (3), (4), (5)'
	before=$(sha256sum x.db)
	not_without_consent 'WITH x AS (SELECT 9) INSERT INTO t SELECT * FROM x' 'INSERT INTO t VALUES (9)' 'PRAGMA user_version = 5'
	[ "$(sha256sum x.db)" = "$before" ]
	consents
	run "$TARE" query --commit -e 'SELECT 1' "$url"
	[ "$status" -eq 2 ]
	[[ "$output" == *"--commit goes with --allow-writes"* ]]
}

@test "query: a run that writes is resumed only with consent" {
	url=sqlite:$PWD/x.db
	sqlite3 x.db 'CREATE TABLE t (a INTEGER); CREATE TABLE u (a INTEGER); CREATE TABLE v AS SELECT -9223372036854775808 AS a'
	# the second one fails until another number is in v
	run "$TARE" query -r 6 --allow-writes --commit -e 'INSERT INTO t VALUES (9)' -e 'INSERT INTO u SELECT abs(a) FROM v' "$url"
	echo "$output"
	[ "$status" -eq 4 ]
	[[ "$output" == *"'tare query resume --allow-writes --commit 1'"* ]]
	sqlite3 x.db 'UPDATE v SET a = 9'
	for given in '' --allow-writes; do
		run "$TARE" query resume $given 1
		echo "$output"
		[ "$status" -eq 2 ]
		output=$(tr -s ' \n' ' ' <<<"$output")
		[[ "$output" == *"run 1 changes data in $url, and needs your consent again"* ]]
		[[ "$output" == *"'tare query resume --allow-writes --commit 1'"* ]]
	done
	run "$TARE" query resume --commit 1
	[ "$status" -eq 2 ]
	[ "$(sqlite3 x.db 'SELECT count(*) FROM u')" = 0 ]
	run "$TARE" query resume --allow-writes --commit 1
	echo "$output"
	[ "$status" -eq 0 ] || [ "$status" -eq 5 ]
	[ "$(sqlite3 x.db 'SELECT count(*) FROM u')" = 7 ]
}

# listed: the files of this database, with contents and times
listed() {
	stat -c '%n %s %Y' w.db*
	sha256sum w.db
}

@test "query: reading a database with a log leaves no file beside it" {
	sqlite3 w.db 'PRAGMA journal_mode = WAL; CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1), (2), (3)'
	before=$(listed)
	[ "$(ls w.db*)" = w.db ]
	run "$TARE" query -r 6 -e 'SELECT sum(a) FROM t' sqlite:w.db
	echo "$output"
	[ "$status" -eq 0 ] || [ "$status" -eq 5 ]
	diff <(echo "$before") <(listed)
	# those of another process stay, as what it has written does
	mkfifo commands
	sqlite3 w.db <commands &
	other=$!
	exec 7>commands
	echo "INSERT INTO t VALUES (4);" >&7
	for ((i = 0; i < 100; i++)); do [ -s w.db-wal ] && break || sleep 0.1; done
	before=$(listed)
	"$TARE" query -q -r 6 -e 'SELECT sum(a) FROM t' sqlite:w.db || [ $? -eq 5 ]
	diff <(echo "$before" | grep -v shm) <(listed | grep -v shm)
	exec 7>&-
	wait "$other"
	other=
	[ "$(sqlite3 w.db 'SELECT sum(a) FROM t')" = 10 ]
}

@test "query: a database that was not closed properly says what to do" {
	sqlite3 k.db 'CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000) SELECT i FROM n'
	sqlite3 k.db 'PRAGMA cache_size = 5' BEGIN 'UPDATE t SET i = 0' '.shell cp k.db hot.db; cp k.db-journal hot.db-journal' ROLLBACK
	run "$TARE" query -r 6 -e 'SELECT sum(i) FROM t' sqlite:hot.db
	echo "$output"
	[ "$status" -eq 2 ]
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"it was not closed properly: open it once with sqlite3, or give --allow-writes"* ]]
	run "$TARE" query -r 6 --allow-writes -e 'SELECT sum(i) FROM t' sqlite:hot.db
	[ "$status" -eq 0 ] || [ "$status" -eq 5 ]
	[ "$(sqlite3 hot.db 'SELECT sum(i) FROM t')" = 200010000 ]
}

@test "query: what SQLite executes in no transaction is told with --commit" {
	sqlite3 x.db 'CREATE TABLE t (a INTEGER)'
	for statement in VACUUM 'PRAGMA user_version = 5'; do
		run "$TARE" query -r 6 --allow-writes -e "$statement" sqlite:x.db
		echo "$output"
		[ "$status" -eq 2 ] || [ "$status" -eq 4 ]
		[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"--commit executes what cannot be rolled back"* ]]
	done
}

@test "query: a file that nobody may write is read" {
	url=sqlite:$PWD/x.db
	sqlite3 x.db 'CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1), (2), (3), (4), (5)'
	chmod 444 x.db
	run "$TARE" query -r 6 -e 'SELECT sum(a) FROM t' "$url"
	echo "$output"
	[ "$status" -eq 0 ] || [ "$status" -eq 5 ]
}

# bats test_tags=long
@test "query: PostgreSQL writes only with consent, and its bloat is told" {
	serve "fsync = off" "autovacuum = off"
	psql -qXc "CREATE TABLE t (a int); INSERT INTO t SELECT generate_series(1, 5)" \
		-c "CREATE FUNCTION writes() RETURNS int LANGUAGE plpgsql AS 'BEGIN INSERT INTO t VALUES (9); RETURN 1; END'" "$url"
	not_without_consent 'WITH x AS (INSERT INTO t VALUES (9) RETURNING a) SELECT * FROM x' 'SELECT writes()' 'INSERT INTO t VALUES (9)'
	# what other queries have measured stays
	run "$TARE" query -r 6 -n mixed -e 'SELECT 1' -e 'SELECT writes()' -e 'SELECT 2' "$url"
	echo "$output"
	[ "$status" -eq 4 ]
	[[ "$output" == *"cannot execute INSERT in a read-only transaction"* ]]
	[ "$(sql "SELECT count(*) FROM query_executions x JOIN runs r ON r.id = x.run WHERE r.name = 'mixed'")" = 12 ]
	consents
	# dead rows stay after a roll-back, so that the table grows
	psql -qXc 'CREATE TABLE big AS SELECT n FROM generate_series(1, 20000) n' "$url"
	size=$(psql -qAtXc "SELECT pg_relation_size('big')" "$url")
	run "$TARE" query -r 6 -n bloat --allow-writes -e 'UPDATE big SET n = n + 1' "$url"
	echo "$output"
	[ "$(psql -qAtXc 'SELECT sum(n) FROM big' "$url")" = 200010000 ]
	[ "$(psql -qAtXc "SELECT pg_relation_size('big')" "$url")" -gt $((2 * size)) ]
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"grew from "*" to "*"vacuumed"* ]]
	"$TARE" query report bloat --json | jq -e '[.at[].executions[].relation_bytes] | .[-1] > .[0] and .[0] > 0'
	# a run says what it was allowed
	"$TARE" sql "SELECT json_extract(conditions, '$.writes') FROM runs WHERE name = 'bloat'" | grep 'rolled back'
}
