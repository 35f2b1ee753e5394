#!/usr/bin/env bats
# tare query as a user types it, on SQLite; the binary is $TARE. Servers are in tests/db.

setup() {
	: "${TARE:?set TARE to the binary under test}"
	cd "$BATS_TEST_TMPDIR" || return 1
	export TARE_LAB=$BATS_TEST_TMPDIR/lab.db XDG_CACHE_HOME=$BATS_TEST_TMPDIR TMPDIR=$BATS_TEST_TMPDIR
	schemas=$BATS_TEST_DIRNAME/../../docs/schema
	TARE_RUNTIME_DIR=$(mktemp -d /tmp/tare-run.XXXXXX)
	export TARE_RUNTIME_DIR
	# no knob of this machine is turned unless a test is about that
	export TARE_QUIET_ROOT=$BATS_TEST_TMPDIR/machine
	mkdir "$TARE_QUIET_ROOT"
}

teardown() {
	[ -z "${going:-}" ] || kill -9 "$going" 2>/dev/null || true
	[ -z "${server:-}" ] || kill -INT "$server" 2>/dev/null || true
	[ -z "${other:-}" ] || kill -9 "$other" 2>/dev/null || true
	rm -rf "$TARE_RUNTIME_DIR"
}

# refused WORDS ARGUMENTS...: exits with 2, says WORDS
refused() {
	local words=$1
	shift
	run timeout 20 "$TARE" query "$@"
	echo "$output"
	[ "$status" -eq 2 ]
	output=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$output" == *"$words"* ]]
}

# sql STATEMENT: the one value that it gives
sql() {
	"$TARE" sql --tsv "$1" | tail -n 1
}

# measured STATUS: it was, even if others disturbed it so that nothing could be kept (5)
measured() {
	[ "$1" -eq 0 ] || [ "$1" -eq 5 ]
}

# measure ARGUMENTS...: `tare query`, as above
measure() {
	"$TARE" query "$@" || measured $?
}

# small: an experiment of two queries at two cardinalities, as small.yaml
small() {
	cat >small.yaml <<-'END'
		name: small
		cardinalities: [3000, 1000]
		tables:
		  - name: items
		    varies: true
		    seed: 7
		    columns:
		      - { name: id, type: integer, serial: true, primary: true }
		      - { name: kind, type: integer, distinct: 40 }
		      - { name: price, type: integer, from: 1, to: 100000 }
		  - name: kinds
		    rows: 40
		    seed: 8
		    columns:
		      - { name: id, type: integer, serial: true }
		      - { name: weight, type: integer, distinct: 9 }
		queries:
		  - name: total
		    sql: SELECT kind, sum(price) FROM items GROUP BY kind
		  - name: joined
		    sql: SELECT count(*) FROM items JOIN kinds ON items.kind < kinds.id WHERE weight > 1
	END
}

# What is stored of run $1: exactly $2 executions of each of $3 Q@Cs, numbered from 1, none twice.
whole() {
	[ "$(sql "SELECT count(*) FROM query_executions WHERE run = $1")" -eq $(($2 * $3)) ]
	[ "$(sql "SELECT count(*) FROM (SELECT DISTINCT query, cardinality, execution FROM query_executions
		WHERE run = $1 AND execution BETWEEN 1 AND $2)")" -eq $(($2 * $3)) ]
	[ "$(sql "SELECT count(DISTINCT raw) FROM query_executions WHERE run = $1")" -eq $(($2 * $3)) ]
	[ "$(sql "SELECT count(*) FROM query_ats WHERE run = $1 AND executions = $2 AND plans = 1")" -eq "$3" ]
}

# bats test_tags=slow
@test "query: an experiment makes its own SQLite file, and is reported in every form" {
	small
	run "$TARE" query -r 6 small.yaml
	echo "$output"
	measured "$status"
	[[ "$output" == *total* ]] && [[ "$output" == *joined* ]]
	whole 1 6 4
	[ "$(sql "SELECT status || ' ' || kind || ' ' || name FROM runs")" = "complete query small" ]
	[ "$(sql "SELECT group_concat(kind || ' ' || text) FROM (SELECT * FROM query_events ORDER BY text)")" = \
		"made table items,made table items_all,made table kinds" ]
	[ "$(sql "SELECT dbms || ' ' || planned || ' ' || cold FROM query_runs")" = "sqlite 6 0" ]
	# nobody asked for the file: it is gone
	[ -z "$(ls -d tare-query-* 2>/dev/null)" ]
	# a query has the rows of its cardinality
	[ "$(sql "SELECT group_concat(DISTINCT rows) FROM query_executions WHERE query = 1")" = 40 ]
	[ "$(sql "SELECT min(query_user_ns + query_system_ns) > 0 FROM query_executions")" = 1 ]
	[ "$(sql "SELECT count(*) FROM query_executions WHERE query_user_ns + query_system_ns > 1.1 * (measured_ns + snapshot_ns)")" = 0 ]

	"$TARE" query report --json >run.json
	jq -e '.run.id == 1' run.json
	"$TARE" query report 1 --csv >run.csv
	[ "$(wc -l <run.csv)" -eq 5 ]
	"$TARE" query report small --executions >executions.csv
	[ "$(wc -l <executions.csv)" -eq 25 ]
	"$TARE" query report --markdown >run.md
	grep -q '^#' run.md && grep -q '| *3,*000 *|' run.md
	[ "$("$TARE" query report --paragraphs | grep -c .)" -ge 2 ]
	for extra in --all --plans --model --checks --paper; do
		run "$TARE" query report $extra
		[ "$status" -eq 0 ]
		[ -n "$output" ]
	done
	run "$TARE" query report --checks
	for check in "missing queries" "ephemeral process" "context switch" "strict monotonicity"; do
		[[ "$output" == *"$check"* ]]
	done
	run "$TARE" query report --model
	[[ "$output" == *"of 73 "* ]]
	# what is always the same is said when asked for
	run "$TARE" query report
	[ "${#lines[@]}" -lt 40 ]
	[[ "$output" == *"listed by --checks"* ]] && [[ "$output" == *"For a paper: "* ]]
	[[ "$output" != *"made table"* ]] && [[ "$output" != *"Tucson"* ]]
	run "$TARE" query report --checks
	[[ "$output" == *$'\n- '* ]]
	# the same to files, and by the commands of all runs
	"$TARE" query report -a --export-json f.json --export-csv f.csv --export-executions f.x --export-markdown f.md >/dev/null
	cmp run.json f.json && cmp run.csv f.csv && cmp executions.csv f.x && cmp run.md f.md
	run "$TARE" show last
	[ "$status" -eq 0 ]
	[[ "$output" == *joined* ]]
	"$TARE" export last | cmp - run.json
	"$TARE" list | grep -q small
}

@test "query: the JSON is what its schema says" {
	python3 -c 'import jsonschema' 2>/dev/null || skip "needs python3-jsonschema"
	small
	measure -r 6 small.yaml --json >run.json
	"$TARE" query report --paper --json >paper.json
	for file in run.json paper.json; do
		python3 - "$schemas/query.schema.json" $file <<-'END'
			import json, jsonschema, sys
			schema, document = (json.load(open(name)) for name in sys.argv[1:])
			jsonschema.Draft202012Validator(schema).validate(document)
			assert set(document) == set(schema["properties"]), document
		END
	done
}

# bats test_tags=slow
@test "query: one's own statements are measured on one's own tables" {
	python3 - <<-'END'
		import sqlite3
		db = sqlite3.connect("shop.db")
		db.execute("CREATE TABLE orders(id INTEGER PRIMARY KEY, price INTEGER)")
		db.executemany("INSERT INTO orders(price) VALUES (?)", ((n,) for n in range(20000)))
		db.commit()
	END
	before=$(sha256sum <shop.db)
	run "$TARE" query -r 6 -n mine --tag note -e 'SELECT sum(price) FROM orders' \
		-e 'SELECT id FROM orders WHERE price > 10' sqlite:shop.db
	echo "$output"
	measured "$status"
	whole 1 6 2
	[ "$(sql "SELECT group_concat(rows) FROM (SELECT DISTINCT query, rows FROM query_executions ORDER BY query)")" = 1,19989 ]
	[ "$(sql "SELECT name || ' ' || tags FROM runs")" = "mine note" ]
	[ "$(sha256sum <shop.db)" = "$before" ]
	# a bare path will do; nothing is kept
	measure -q -r 6 --no-lab -e 'SELECT count(*) FROM orders' shop.db
	[ "$(sql "SELECT count(*) FROM runs")" = 1 ]
	[ "$("$TARE" query -r 6 --no-lab -e 'SELECT count(*) FROM orders' shop.db --csv | wc -l)" -eq 2 ]
}

# made NAME PERCENT PLAN: imports a run of two queries, ten executions each, of which the second takes
# PERCENT of a usual time and has that plan
made() {
	awk -v percent="$2" -v plan="$3" 'BEGIN {
		print "query,cardinality,execution,measured_ns,plan,query_user_ns,query_system_ns,query_blkio_ns,query_process,query_processes,own_device_ns,others_device_ns,overall_iowait_ns"
		for (q = 1; q <= 2; q++)
			for (x = 1; x <= 10; x++) {
				factor = (q == 2 ? percent / 100 : 1) * (1 + (x * 7 % 10) / 1000)
				printf "%d,1000,%d,%d,%016x,%d,%d,%d,1,1,%d,0,%d\n", q, x, 50000000 * factor, q == 2 ? plan : 7,
					30000000 * factor, 1000000 * factor, 9000000 * factor, 8000000 * factor, 2000000 * factor
			}
	}' >"$1.csv"
	"$TARE" query import --dbms sqlite -n "$1" "$1.csv"
}

@test "query: compare finds what is slower and which plans changed" {
	made old 100 8
	made same 100 8
	made slower 110 8
	made otherwise 100 9
	run "$TARE" query compare old same --fail
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"2 Q@Cs"* ]]
	run "$TARE" query compare old slower
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"1.10"* ]] || [[ "$output" == *"10 %"* ]] || [[ "$output" == *"10.0 %"* ]]
	for time in best device blocked calculated measured; do
		run "$TARE" query compare old slower --fail -t $time --all
		[ "$status" -eq 1 ]
		run "$TARE" query compare slower old --fail -t $time # faster is fine
		[ "$status" -eq 0 ]
	done
	run "$TARE" query compare old otherwise --fail
	[ "$status" -eq 1 ]
	"$TARE" query compare old slower --json >compared.json
	if python3 -c 'import jsonschema' 2>/dev/null; then
		python3 - "$schemas/query-compare.schema.json" compared.json <<-'END'
			import json, jsonschema, sys
			schema, document = (json.load(open(name)) for name in sys.argv[1:])
			jsonschema.Draft202012Validator(schema).validate(document)
			assert set(document) == set(schema["properties"]), document
		END
	fi
	refused "two runs, not 1" compare old
	refused "no run" compare old nothing
}

@test "query: what --executions wrote is imported as it was" {
	small
	measure -q -r 6 small.yaml --export-executions x.csv
	run "$TARE" query import -n again --dbms sqlite --cpus "$(getconf _NPROCESSORS_ONLN)" x.csv
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == "run 2: 24 executions of 4 Q@Cs" ]]
	columns="query, cardinality, execution, timed_out, measured_ns, snapshot_ns, plan, query_user_ns, query_system_ns,
		query_blkio_ns, query_nvcsw, query_processes, daemon_user_ns, overall_user_ns, overall_iowait_ns, query_process, ephemeral,
		own_device_ns, others_device_ns, rows, read_bytes, run_delay_ns, lost"
	[ "$(sql "SELECT count(*) FROM (SELECT $columns FROM query_executions WHERE run = 1
		EXCEPT SELECT $columns FROM query_executions WHERE run = 2)")" = 0 ]
	# and judged as it was
	for run in 1 2; do
		# but for names of queries and sizes of tables, which the file has not
		"$TARE" query report $run --csv | cut -d, -f 1,3-19 >judged.$run
	done
	cmp judged.1 judged.2
	"$TARE" query report 2 --executions | cmp - x.csv
	"$TARE" query import -n piped - <x.csv
	refused "was not made here" resume piped
	# all or nothing, and where
	sed '3s/^\([^,]*,[^,]*\),[^,]*/\1,many/' x.csv >bad.csv
	refused "3" import bad.csv
	sed '4d; 3p' x.csv >twice.csv
	refused "twice.csv" import twice.csv
	cut -d, -f 2- x.csv >short.csv
	refused "query" import short.csv
	: >empty.csv
	refused "empty.csv" import empty.csv
	refused "cannot read" import nothing.csv
	refused "longer than nothing" import --tick 0 x.csv
	[ "$(sql "SELECT count(*) FROM runs")" = 3 ]
}

@test "query: check says what a file would do" {
	small
	run "$TARE" query check small.yaml
	[ "$status" -eq 0 ]
	[[ "$output" == *"small: 2 queries at 2 cardinalities from 3000 down to 1000"* ]]
	[[ "$output" == *"40 executions in all"* ]]
	[ "$("$TARE" query check small.yaml --queries | grep -c '^-- ')" -eq 2 ]
	"$TARE" query check small.yaml --show | cmp - small.yaml
	for name in quick onepass tpch; do
		"$TARE" query check $name
		"$TARE" query check $name --show >$name.yaml
		"$TARE" query check $name.yaml
	done
	[ "$("$TARE" query check tpch --scale 0.1 | grep lineitem | grep -oE '[0-9]+ rows')" = "600000 rows" ]
	[ ! -e lab.db ] # nothing was connected to
}

# bad LINE WORDS SED-SCRIPT: the small experiment, changed so, is refused at that line
bad() {
	sed "$3" small.yaml >bad.yaml
	refused "bad.yaml: line $1: " check bad.yaml
	[[ "$output" == *"$2"* ]]
	refused "line $1: " bad.yaml
}

# bats test_tags=long
@test "query: bad files are refused, and the line named" {
	small
	bad 2 "unknown key 'cardinality'" '2s/cardinalities/cardinality/'
	bad 2 "whole number" '2s/3000/many/'
	bad 2 "whole number" '2s/3000/-3/'
	bad 2 "3000 is there already" '2s/1000/3000/'
	bad 5 "true or false" '5s/true/perhaps/'
	bad 8 "integer" '8s/integer/integre/'
	bad 8 "the key 'name' is missing" '8s/name: id, //'
	bad 12 "rows" '12s/40/0/'
	bad 17 "a list is wanted" '18,$d; 17s/.*/queries: 5/'
	printf 'name: [\n' >bad.yaml
	refused "line" check bad.yaml
	: >bad.yaml
	refused "bad.yaml" check bad.yaml
	printf 'name: x\n' >bad.yaml
	refused "there are no queries" check bad.yaml
	printf 'queries: &q\n  - *q\n' >bad.yaml
	refused "line" check bad.yaml
	# ten million bytes of aliases of aliases
	python3 - >bad.yaml <<-'END'
		print("a0: &a0 [x, x, x, x, x, x, x, x, x, x]")
		for n in range(1, 200000):
		    print(f"a{n}: &a{n} [*a{n-1}, *a{n-1}, *a{n-1}, *a{n-1}]")
	END
	refused "bad.yaml" check bad.yaml
	refused "cannot read the experiment nothing" check nothing
	refused "cannot read the experiment nothing" nothing
	refused "cannot read the experiment" check .
	refused "one experiment, not 2" check quick onepass
	refused "a number above 0" check tpch --scale -1
	[ ! -e lab.db ]
}

# bats test_tags=long
@test "query: bad input is refused" {
	small
	refused "nothing to measure"
	refused "in which database?" -e 'SELECT 1'
	refused "names no database" -e 'SELECT 1' db2://somewhere
	refused "names no file" -e 'SELECT 1' sqlite:
	refused "one database, not also" -e 'SELECT 1' sqlite::memory: sqlite:other.db
	refused "exclude each other" --cold --warm small.yaml
	refused "exclude each other" --force --reuse small.yaml
	refused "exclude each other" --json --csv small.yaml
	refused "SELEC" -e 'SELEC 1' sqlite::memory:
	refused "nowhere" -e 'SELECT * FROM nowhere' sqlite::memory:
	refused "--runs" -r 0 small.yaml
	refused "last" -n last small.yaml
	[ "$(sql "SELECT count(*) FROM runs")" = 0 ]
	refused "no run of 'tare query'" report
	refused "no run of 'tare query'" resume
	"$TARE" time -N -r 3 -n other true >/dev/null
	for part in report resume "report --json"; do
		# shellcheck disable=SC2086
		run "$TARE" query $part other
		[ "$status" -eq 2 ]
	done
	measure -q -r 6 -e 'SELECT 1' sqlite::memory:
	refused "has no Q@C '7'" report --ledger 7
	refused "has no Q@C '1@5'" report --ledger 1@5
	refused "has no Q@C '1x'" report --ledger 1x
	refused "is complete" resume
}

# bats test_tags=slow
@test "query: a table that is there is not dropped" {
	small
	python3 - <<-'END'
		import sqlite3
		db = sqlite3.connect("mine.db")
		db.execute("CREATE TABLE items(precious TEXT)")
		db.execute("INSERT INTO items VALUES ('mine')")
		db.commit()
	END
	precious() {
		[ "$(python3 -c 'import sqlite3; print(sqlite3.connect("mine.db").execute("SELECT * FROM items").fetchall())')" = "[('mine',)]" ]
	}
	before=$(sha256sum <mine.db)
	refused "table items is there already" -r 6 small.yaml sqlite:mine.db
	precious
	[ "$(sha256sum <mine.db)" = "$before" ] # nor was anything made beside it
	[ "$(sql "SELECT count(*) FROM runs")" = 0 ]
	refused "table items is there already, and would be filled anew" -r 6 --reuse small.yaml sqlite:mine.db
	precious
	# tables that have other rows are not the experiment's; nor is what it would make beside its own
	python3 - <<-'END'
		import sqlite3
		for name, table in ("kinds.db", "kinds"), ("all.db", "items_all"):
		    db = sqlite3.connect(name)
		    db.execute(f"CREATE TABLE {table}(a)")
		    db.commit()
	END
	before=$(sha256sum kinds.db all.db)
	refused "table kinds has 0 rows, the experiment's has 40" -r 6 --reuse small.yaml sqlite:kinds.db
	refused "table items_all is there already" -r 6 small.yaml sqlite:all.db
	refused "table items_all has 0 rows, the experiment's has 3000" -r 6 --reuse small.yaml sqlite:all.db
	[ "$(sha256sum kinds.db all.db)" = "$before" ]
	[ "$(sql "SELECT count(*) FROM runs")" = 0 ]
	measure -q -r 6 --force small.yaml sqlite:mine.db
	whole "$(sql "SELECT max(id) FROM runs")" 6 4
	# they stay, and can be used again
	refused "is there already" -r 6 small.yaml sqlite:mine.db
	measure -q -r 6 --reuse small.yaml sqlite:mine.db
	whole "$(sql "SELECT max(id) FROM runs")" 6 4
	[ "$(sql "SELECT count(DISTINCT plan) = 2 FROM query_executions")" = 1 ]
}

@test "query: executions over the time limit are cut and counted" {
	# ends on its own only after minutes
	run timeout 60 "$TARE" query -r 3 -l 150ms sqlite::memory: \
		-e 'WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 2000000000) SELECT count(*) FROM c'
	echo "$output"
	[ "$status" -eq 5 ]
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"No trustworthy time: 3 of 3 executions were disturbed: it was cancelled at the time limit."* ]]
	[[ "$output" == *"timed"* ]]
	[ "$(sql "SELECT count(*) || ' ' || sum(timed_out) FROM query_executions")" = "3 3" ]
	# the clock begins a little later than the limit
	[ "$(sql "SELECT min(measured_ns) >= 100000000 AND max(measured_ns) < 5000000000 FROM query_executions")" = 1 ]
}

# bats test_tags=long
@test "query: a million rows are fetched, not stored" {
	run timeout 120 "$TARE" query -r 2 sqlite::memory: \
		-e "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1000000) SELECT n, 'some more words' FROM c"
	measured "$status"
	[ "$(sql "SELECT min(rows) || ' ' || max(rows) FROM query_executions")" = "1000000 1000000" ]
	[ "$(stat -c %s lab.db)" -lt 4000000 ]
}

# slowly ARGUMENTS...: `tare query` with these in the background, as $going
slowly() {
	env --default-signal=INT "$TARE" query "$@" >/dev/null 2>said 3>&- &
	going=$!
}

# until_is STATEMENT: waits until the one value that it gives is 1
until_is() {
	for ((i = 0; i < 1000; i++)); do
		[ ! -e "$TARE_LAB" ] || [ "$(sql "$1" 2>/dev/null)" != 1 ] || return 0
		sleep 0.02
	done
	echo "never: $1"
	return 1
}

# bats test_tags=slow
@test "query: interrupted, it goes on where it stopped" {
	small
	slowly -r 200 small.yaml
	until_is "SELECT count(*) > 20 FROM query_executions"
	refused "is going" resume
	kill -INT $going
	code=0
	wait $going || code=$?
	going=
	[ $code -eq 130 ]
	grep -q "tare query resume 1" said
	[ "$(sql "SELECT status FROM runs")" = interrupted ]
	made=$(sql "SELECT count(*) FROM query_executions")
	[ "$made" -lt 800 ]
	# what there is, is reported
	"$TARE" query report --json | jq -e .
	# its tables are there as long as it may go on
	[ -n "$(ls tare-query-*/tables.db)" ]
	first=$(sql "SELECT max(started_at_ns) FROM query_executions")
	run "$TARE" query resume
	echo "$output"
	measured "$status"
	whole 1 200 4
	[ "$(sql "SELECT count(*) FROM query_executions WHERE started_at_ns <= $first")" = "$made" ]
	[ "$(sql "SELECT status FROM runs")" = complete ]
	[ "$(sql "SELECT count(*) FROM query_events WHERE kind = 'resumed'")" = 1 ]
	[ -z "$(ls -d tare-query-* 2>/dev/null)" ]
	refused "is complete" resume 1
}

# bats test_tags=slow
@test "query: killed anywhere, it goes on with what is missing" {
	small
	RANDOM=4711
	for ((kills = 0; kills < 10; kills++)); do
		there=0
		[ ! -e lab.db ] || there=$(sql "SELECT count(*) FROM query_runs" 2>/dev/null || echo 0)
		if [ "$there" = 1 ]; then
			before=$(sql "SELECT count(*) FROM query_executions")
			slowly resume -q 1
			# every other one when it executes, the rest anywhere from its start on; it may have been
			# killed after its last execution
			[ $((kills % 2)) -eq 0 ] ||
				until_is "SELECT count(*) > $before OR (SELECT status = 'complete' FROM runs) FROM query_executions"
		else
			slowly -q -r 100 small.yaml sqlite:tables.db
		fi
		sleep "$(printf '0.%03d' $((RANDOM % 500)))"
		kill -9 $going 2>/dev/null || true
		wait $going || true
		going=
		[ ! -e lab.db ] || [ "$(sql "SELECT count(*) FROM runs WHERE status = 'complete'" 2>/dev/null)" != 1 ] || break
	done
	if [ "$there" = 0 ]; then
		measure -q -r 100 small.yaml sqlite:tables.db
	elif [ "$(sql "SELECT status FROM runs")" != complete ]; then
		run "$TARE" query resume -q 1
		echo "$output"
		measured "$status"
	fi
	[ "$(sql "SELECT count(*) FROM runs")" = 1 ]
	whole 1 100 4
}

@test "query: delay accounting is put back" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	mkdir -p "$TARE_QUIET_ROOT/proc/sys/kernel"
	echo 0 >"$TARE_QUIET_ROOT/proc/sys/kernel/task_delayacct"
	small
	slowly -q -r 300 small.yaml
	until_is "SELECT count(*) > 5 FROM query_executions"
	[ "$(cat "$TARE_QUIET_ROOT/proc/sys/kernel/task_delayacct")" = 1 ]
	kill -9 $going
	wait $going || true
	going=
	# by the next one
	measure -q -r 6 -e 'SELECT 1' sqlite::memory:
	[ "$(cat "$TARE_QUIET_ROOT/proc/sys/kernel/task_delayacct")" = 0 ]
}

@test "query: two tares do not take delay accounting from each other" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	accounting=$TARE_QUIET_ROOT/proc/sys/kernel/task_delayacct
	mkdir -p "${accounting%/*}"
	echo 0 >"$accounting"
	small
	slowly -q -r 300 small.yaml
	until_is "SELECT count(*) > 5 FROM query_executions"
	TARE_LAB=$BATS_TEST_TMPDIR/other.db measure -q -r 6 -e 'SELECT 1' sqlite::memory:
	[ "$(cat "$accounting")" = 1 ] # the second, which did not switch it on
	TARE_LAB=$BATS_TEST_TMPDIR/other.db "$TARE" query -q -r 100000 -e 'SELECT 1' sqlite::memory: 3>&- &
	other=$!
	TARE_LAB=$BATS_TEST_TMPDIR/other.db until_is "SELECT count(*) > 3 FROM query_executions WHERE run = 2"
	kill -TERM $going # the first, which did
	wait $going || true
	going=
	[ "$(cat "$accounting")" = 1 ]
	kill -TERM $other
	wait $other || true
	other=
	[ "$(cat "$accounting")" = 0 ]
}

# bats test_tags=long
@test "query: without privileges it works and says what was not seen, but is not cold" {
	[ "$(id -u)" -eq 0 ] || skip "needs root, to give it up"
	command -v setpriv >/dev/null || skip "needs setpriv"
	small
	mine=$TARE_RUNTIME_DIR/mine # nobody may not enter bats's directories
	chmod 711 "$TARE_RUNTIME_DIR"
	mkdir -m 700 "$mine"
	cp small.yaml "$TARE" "$mine"
	chown -R nobody "$mine"
	as_nobody() {
		(cd "$mine" && env TARE_RUNTIME_DIR="$mine" TARE_LAB="$mine/lab.db" TMPDIR="$mine" TARE_QUIET_ROOT="$mine" \
			XDG_CACHE_HOME="$mine" setpriv --reuid nobody --clear-groups "$mine/${TARE##*/}" "$@")
	}
	run as_nobody query -r 6 small.yaml
	echo "$output"
	measured "$status"
	[ "$(as_nobody sql --tsv "SELECT count(*) FROM query_executions WHERE query_user_ns + query_system_ns > 0" | tail -n 1)" = 24 ]
	[ "$(as_nobody sql --tsv "SELECT count(own_device_ns) FROM query_executions" | tail -n 1)" = 0 ]
	[ "$(as_nobody sql --tsv "SELECT not_seen IS NOT NULL FROM runs" | tail -n 1)" = 1 ]
	run as_nobody query -r 6 --cold small.yaml
	[ "$status" -eq 3 ]
	[[ "$output" == *"cold caches"* ]]
}

# bats test_tags=slow
@test "query: a password is not stored" {
	bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
	[ -x "$bin/initdb" ] || skip "needs postgresql"
	as=()
	mkdir pg
	if [ "$(id -u)" -eq 0 ]; then
		id postgres >/dev/null 2>&1 || skip "needs a user postgres"
		as=(setpriv --reuid postgres --regid postgres --clear-groups)
		chown postgres pg
		chmod 711 .
		# bats's own directories above
		for ((above = 0; above < 3; above++)); do chmod a+x "$(realpath ".$(printf '/..%.0s' $(seq 0 $above))")" || true; done
	fi
	sockets=$(mktemp -d /tmp/tare-pg.XXXXXX)
	[ "$(id -u)" -ne 0 ] || chown postgres "$sockets"
	"${as[@]}" "$bin/initdb" -D "$PWD/pg" -U postgres -A trust -N >/dev/null
	"${as[@]}" "$bin/postgres" -D "$PWD/pg" -c listen_addresses= -k "$sockets" >pg.log 2>&1 3>&- &
	server=$!
	url="postgresql://postgres:s3cretword@/postgres?host=$sockets"
	for ((i = 0; i < 200; i++)); do
		[ ! -S "$sockets/.s.PGSQL.5432" ] || break
		sleep 0.05
	done
	sleep 0.5
	run "$TARE" query -r 6 -e 'SELECT count(*) FROM pg_class' "$url"
	echo "$output"
	measured "$status"
	# nor in an experiment's file
	printf "url: '%s'\nexecutions: 6\nqueries: ['SELECT 1 + 1']\n" "$url" >e.yaml
	measure -q e.yaml
	measure -q -r 6 -e 'SELECT 2' "postgresql:///postgres?host=$sockets&user=postgres&password=s3cretword"
	[ "$(sql "SELECT count(*) FROM query_executions")" = 18 ]
	# where it cannot be taken out, nothing is stored
	sed 's/s3cret/s3\\x63ret/; y/'"'/\"/" e.yaml >escaped.yaml
	refused "would be stored" escaped.yaml
	[ "$(cat lab.db* | grep -ca s3cretword)" = 0 ]
	for run in 1 2 3; do [ "$("$TARE" query report $run --json | grep -c s3cretword)" = 0 ]; done
	kill -INT $server
	wait $server || true
	server=
	# it is gone: tried again, then paused
	run timeout 60 "$TARE" query -r 6 --back-off 1ms -e 'SELECT 1' "$url"
	echo "$output"
	[ "$status" -eq 3 ] || [ "$status" -eq 4 ] || [ "$status" -eq 2 ]
	[[ "$output" != *s3cretword* ]]
	rm -rf "$sockets"
}

@test "query: where there is no user to run a server as, root does not" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	unshare -m true || skip "needs mount namespaces"
	grep -v '^\(nobody\|postgres\):' /etc/passwd >passwd
	echo 'passwd: files' >nsswitch.conf # systemd's would make up a nobody
	cat >own.yaml <<-END
		name: own
		server: { dbms: postgresql, data: $PWD/data, make: true }
		queries: ["SELECT 1"]
	END
	run timeout 60 unshare -m sh -c 'mount --bind passwd /etc/passwd &&
		mount --bind nsswitch.conf /etc/nsswitch.conf && exec "$@"' sh "$TARE" query -q own.yaml
	echo "$output"
	[[ "$output" != *"cannot run a server of"* ]] || skip "built without PostgreSQL"
	[ "$status" -eq 3 ]
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"neither a user 'postgres' nor 'nobody'"* ]]
	[ ! -e data ]
}
