#!/usr/bin/env bats
# A lab that waits and lasts: locks, full disks, names that are no UTF-8, labs of strangers.

load common

setup() {
	: "${TARE:?set TARE to the binary under test}"
	command -v python3 >/dev/null || skip "needs python3"
	cd "$BATS_TEST_TMPDIR" || return 1
	export TARE_LAB=$BATS_TEST_TMPDIR/lab.db
	small=
}

teardown() {
	if [ -n "${locker-}" ]; then kill "$locker" 2>/dev/null || true; fi
	if [ -n "${watch-}" ]; then "$TARE" calibrate --watch-stop >/dev/null 2>&1 || true; fi
	if [ -n "${tare-}" ]; then kill "$tare" 2>/dev/null || true; fi
	if [ -n "$small" ]; then soon umount "$small" || true; fi
}

sql() {
	"$TARE" sql --csv "$1" | tail -n +2
}

# lock SECONDS: another program has the lab for that long, from when this returns
lock() {
	python3 - "$TARE_LAB" "$1" <<-'END' &
		import sqlite3, sys, time
		lab = sqlite3.connect(sys.argv[1], isolation_level=None)
		lab.execute("BEGIN IMMEDIATE")
		open("locked", "w").close()
		time.sleep(float(sys.argv[2]))
		lab.execute("COMMIT")
	END
	locker=$!
	soon test -e locked
}

# stored RUN: the lab has an execution of it
stored() {
	[ "$(sql "SELECT count(*) FROM executions WHERE run = $1")" -gt 0 ]
}

# going: a run has begun and has not ended
going() {
	[ "$(sql "SELECT count(*) FROM runs WHERE status = 'going'")" -gt 0 ]
}

# small_disk SIZE: a file system of that size, with the lab on it
small_disk() {
	needs_root
	small=$BATS_TEST_TMPDIR/small
	mkdir "$small"
	if ! mount -t tmpfs -o size="$1" none "$small"; then
		small=
		skip "needs a file system of its own"
	fi
	TARE_LAB=$small/lab.db
}

fill() {
	dd if=/dev/zero of="$small/fill" bs=4k 2>/dev/null || true
}

# bats test_tags=slow
@test "time: a lab that is locked for long is waited for, and no execution is lost" {
	"$TARE" time -N -r 1 -w 0 --style none true
	"$TARE" time -N -r 70 -w 0 --style none 'sleep 0.1' 2>err >out &
	tare=$!
	soon stored 2
	lock 9
	wait "$tare"
	grep -q "waiting for the lab: locked by PID $locker (python3); [0-9]* executions are held" err
	grep -q "the lab took the [0-9]* executions that were held" err
	[ "$(sql 'SELECT count(*), max(number), count(DISTINCT number) FROM executions WHERE run = 2')" = 70,70,70 ]
	[ "$(sql 'SELECT status FROM runs WHERE id = 2')" = complete ]
}

# bats test_tags=slow
@test "time: interrupted while the lab is locked, it says how many executions are lost" {
	"$TARE" time -N -r 1 -w 0 --style none true
	"$TARE" time -N -r 500 -w 0 --style none 'sleep 0.1' 2>err >out &
	tare=$!
	soon stored 2
	lock 60
	sleep 2
	kill -TERM "$tare"
	status=0
	wait "$tare" || status=$?
	[ "$status" -eq 3 ]
	tr -s ' \n' ' ' <err | grep -q "the last [0-9]* executions are lost: .*another program has it locked"
	kill "$locker"
	[ "$("$TARE" sql --csv 'PRAGMA integrity_check' | tail -1)" = ok ]
	# what was stored before is there, and nobody waits for the rest
	[ "$("$TARE" list --json | jq -r '.[0].status')" = interrupted ]
	[ "$(sql 'SELECT count(*) FROM executions WHERE run = 2')" -gt 0 ]
}

# bats test_tags=slow
@test "time: interrupted while the lab is locked for a moment longer, it loses nothing" {
	"$TARE" time -N -r 1 -w 0 --style none true
	"$TARE" time -N -r 500 -w 0 --style none 'sleep 0.1' 2>err >out &
	tare=$!
	soon stored 2
	lock 60
	before=$(sql 'SELECT count(*) FROM executions WHERE run = 2')
	sleep 2
	kill -TERM "$tare"
	sleep 1
	kill "$locker"
	wait "$tare" || true
	cat err
	if grep -q "lost" err; then false; fi
	[ "$(sql 'SELECT count(*) = max(number) FROM executions WHERE run = 2')" = 1 ]
	[ "$(sql 'SELECT count(*) FROM executions WHERE run = 2')" -ge $((before + 10)) ]
	[ "$(sql 'SELECT status FROM runs WHERE id = 2')" = interrupted ]
}

# bats test_tags=slow
@test "noise, duet, calibrate: a lab that is locked at the end is waited for" {
	needs_root
	"$TARE" time -N -r 1 -w 0 --style none true
	printf '#!/bin/sh\nsleep 0.1\n' >nap
	chmod +x nap
	cp nap other
	for command in "noise -q -d 8s" "duet -N --pairs 50 ./nap ./other" "calibrate --short 100ms:80"; do
		rm -f locked
		# shellcheck disable=SC2086
		"$TARE" $command >out 2>err &
		tare=$!
		soon going
		lock 100
		for _ in $(seq 60); do
			if grep -q "waiting for the lab: locked by PID $locker" err; then break; fi
			sleep 1
		done
		kill "$locker"
		status=0
		wait "$tare" || status=$?
		echo "$command: $status"
		cat err
		[ "$status" -eq 0 ]
		grep -q "waiting for the lab: locked by PID $locker" err
	done
}

# bats test_tags=slow
@test "calibrate: a lab that is locked when the study is stored is waited for" {
	"$TARE" time -N -r 40 -w 0 --style none 'sleep 0.01'
	lock 8
	"$TARE" calibrate --from 1 2>err
	tr -s ' \n' ' ' <err | grep -q "waiting for the lab: locked by PID $locker"
	[ "$(sql 'SELECT count(*) FROM studies')" = 1 ]
}

# bats test_tags=slow
@test "query: a lab that is locked for long is waited for, and no execution is lost" {
	"$TARE" time -N -r 1 -w 0 --style none true
	sqlite3 data.db 'CREATE TABLE t(a)'
	"$TARE" query -q -r 60 -e 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 400000)
		SELECT count(*) FROM c' sqlite:data.db 2>err &
	tare=$!
	query_stored() { [ "$(sql 'SELECT count(*) FROM query_executions')" -gt 0 ]; }
	soon query_stored
	lock 9
	status=0
	wait "$tare" || status=$?
	cat err
	[ "$status" -eq 0 ] || [ "$status" -eq 5 ] # 5: on a busy machine too few may be left
	tr -s ' \n' ' ' <err | grep -q "waiting for the lab: locked by PID $locker (python3)"
	[ "$(sql 'SELECT count(*), max(execution), count(DISTINCT execution) FROM query_executions')" = 60,60,60 ]
	[ "$(sql 'SELECT status FROM runs WHERE id = 2')" = complete ]
}

# bats test_tags=slow
@test "calibrate: a lab that is locked when a watch ends is waited for, and the watch is whole" {
	needs_root
	"$TARE" time -N -r 1 -w 0 --style none true
	watch=yes
	"$TARE" calibrate --watch 2>err
	watching() { [ "$(sql 'SELECT status FROM watches')" = going ]; }
	soon watching
	sleep 1
	lock 3 # after a signal it waits for 5 s
	"$TARE" calibrate --watch-stop 2>>err >>err || true
	for _ in $(seq 30); do
		if ! watching; then break; fi
		sleep 1
	done
	cat err
	[ "$(sql 'SELECT status FROM watches')" = complete ]
	# from its begin to when it was told to end
	[ "$(sql 'SELECT covered_ns > 1000000000 AND bursts > 0 FROM watches')" = 1 ]
	[ "$("$TARE" sql --csv 'PRAGMA integrity_check' | tail -1)" = ok ]
}

# bats test_tags=slow
@test "time: a full disk is waited for; with room again it goes on" {
	small_disk 16m
	"$TARE" time -N -r 1 -w 0 --style none true
	"$TARE" time -N -r 90 -w 0 --style none 'sleep 0.1' 2>err >out &
	tare=$!
	soon stored 2
	fill
	soon grep -q "waiting for the lab: the disk is full" err
	rm "$small/fill"
	wait "$tare"
	[ "$(sql 'SELECT count(*), max(number) FROM executions WHERE run = 2')" = 90,90 ]
	[ "$(sql 'SELECT status FROM runs WHERE id = 2')" = complete ]
}

# ---- labs of strangers ----

# strange SQL...: changes the lab as its owner could, and leaves a copy in the file before
strange() {
	python3 - "$TARE_LAB" "$@" <<-'END'
		import sqlite3, sys
		lab = sqlite3.connect(sys.argv[1], isolation_level=None)
		for statement in sys.argv[2:]:
		    lab.execute(statement)
		lab.execute("PRAGMA wal_checkpoint(TRUNCATE)")
		lab.execute("PRAGMA journal_mode = DELETE")
	END
	cp "$TARE_LAB" before
}

# bounded COMMAND...: it ends, and takes at most 2 GiB
bounded() {
	(
		# the shadow memory of sanitizers is larger than any limit
		[ "${TARE_TEST_SANITIZED:-0}" = 1 ] || ulimit -v 2097152
		exec timeout -s KILL 120 "$@"
	)
}

ENDLESS="WITH RECURSIVE e(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM e)"

@test "a stranger's lab: a trigger writes nothing" {
	"$TARE" time -N -r 2 -w 0 --style none true
	strange "CREATE TABLE loot (b)" \
		"CREATE TRIGGER evil AFTER UPDATE ON run BEGIN INSERT INTO loot $ENDLESS SELECT zeroblob(1000000) FROM e LIMIT 900; END"
	for command in "tag last x" "rename last x" "rm last" "time -N -r 1 -w 0 true"; do
		# shellcheck disable=SC2086
		run bounded "$TARE" $command
		echo "$command: $status $output"
		[ "$status" -eq 2 ]
		[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"'evil', which is not tare's; nothing was changed"* ||
			"$(tr -s ' \n' ' ' <<<"$output")" == *"'loot', which is not tare's; nothing was changed"* ]]
	done
	cmp lab.db before
	# what only reads does, and says that something is there
	run bounded "$TARE" list
	[ "$status" -eq 0 ]
	[[ "$output" == *"is not tare's: it is ignored"*2/2* ]]
	bounded "$TARE" show last
}

@test "a stranger's lab: one of tare's triggers with another text is none of tare's" {
	"$TARE" time -N -r 2 -w 0 --style none true
	strange "DROP TRIGGER ledger_goes" \
		"CREATE TRIGGER ledger_goes AFTER DELETE ON execution BEGIN UPDATE run SET name = 'x'; END"
	run bounded "$TARE" rm last
	[ "$status" -eq 2 ]
	[[ "$output" == *"'ledger_goes'"* ]]
	cmp lab.db before
}

@test "a stranger's lab: a trigger with a name of SQLite's is none of SQLite's" {
	"$TARE" time -N -r 2 -w 0 --style none true
	strange "PRAGMA writable_schema = ON" \
		"INSERT INTO sqlite_schema VALUES ('trigger', 'sqlite_evil', 'run', 0, 'CREATE TRIGGER sqlite_evil AFTER UPDATE ON run BEGIN UPDATE machine SET facts = zeroblob(2000000); END')"
	run bounded "$TARE" tag last x
	echo "$status $output"
	[ "$status" -eq 2 ]
	[[ "$output" == *"'sqlite_evil'"* ]]
	cmp lab.db before
	bounded "$TARE" list
}

@test "a stranger's lab: an index, a default or a check that computes something is none of tare's" {
	"$TARE" time -N -r 2 -w 0 --style none true
	cp lab.db whole.db
	for statement in "CREATE INDEX run_by_name ON run (name, zeroblob(2000000))" \
		"CREATE INDEX other ON run (name)" \
		"ALTER TABLE run ADD COLUMN evil BLOB CHECK (zeroblob(2000000) <> id)" \
		"ALTER TABLE execution ADD COLUMN evil INTEGER CHECK (length(zeroblob(2000000)) > 0)" \
		"CREATE TABLE machine (id INTEGER PRIMARY KEY, evil DEFAULT (zeroblob(2000000)))" \
		"CREATE VIEW MACHINE AS SELECT 1 AS id"; do
		cp whole.db lab.db
		case $statement in
		*run_by_name*) strange "DROP INDEX run_by_name" "$statement" ;;
		*machine* | *MACHINE*) strange "ALTER TABLE machine RENAME TO other" "$statement" ;;
		*) strange "$statement" ;;
		esac
		run bounded "$TARE" tag last x
		echo "$statement: $status $output"
		[ "$status" -eq 2 ]
		[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"which is not tare's; nothing was changed"* ]]
		cmp lab.db before
	done
	# a view in the place of a table is not read either, however its name is spelled
	run bounded "$TARE" show last
	[ "$status" -eq 2 ]
	[[ "$output" == *"'MACHINE'"* ]]
}

# bats test_tags=slow
@test "a stranger's lab: a table that is an endless view, or computes its columns, is not read" {
	"$TARE" time -N -r 2 -w 0 --style none true
	cp lab.db whole.db
	for statement in "CREATE VIEW run AS $ENDLESS SELECT n AS id, 0 AS kind, 0 AS status FROM e" \
		"CREATE TABLE run (id INTEGER PRIMARY KEY, kind, status, name AS (zeroblob(900000000)))"; do
		cp whole.db lab.db
		strange "ALTER TABLE run RENAME TO other" "$statement"
		for command in list "show last" "tag last x" "rm last" "export last" "report -o out.html"; do
			# shellcheck disable=SC2086
			run bounded "$TARE" $command
			echo "$command: $status $output"
			[ "$status" -eq 2 ]
			[[ "$output" == *"'run', which is not"* ]]
		done
		cmp lab.db before
	done
}

# bats test_tags=slow
@test "a stranger's lab: an endless answer to sql does not take all memory" {
	"$TARE" time -N -r 2 -w 0 --style none true
	strange "DROP VIEW runs" "CREATE VIEW runs AS $ENDLESS SELECT n AS id, 'some text' AS name FROM e"
	run bounded "$TARE" sql "SELECT * FROM runs"
	[ "$status" -eq 2 ]
	[[ "$output" == *"larger than 512 MiB"* ]]
	run bounded "$TARE" sql "SELECT zeroblob(900000000)"
	[ "$status" -ne 0 ]
	[ "$status" -lt 128 ]
	# a view of no use that ends by ^C
	timeout -s INT 1 "$TARE" sql "SELECT count(*) FROM runs" >/dev/null 2>&1 || status=$?
	[ "$status" -eq 124 ]
	bounded "$TARE" list
}

@test "a stranger's lab: pages that lead to the same rows again and again end" {
	"$TARE" time -N -r 1 -w 0 --style none true
	strange
	# an interior page above the executions whose many cells lead to one page, four such above each other
	python3 - lab.db <<-'END'
		import sqlite3, struct, sys
		root = sqlite3.connect(sys.argv[1]).execute("SELECT rootpage FROM sqlite_schema WHERE name = 'run'").fetchone()[0]
		data = bytearray(open(sys.argv[1], "rb").read())
		size = struct.unpack(">H", data[16:18])[0]
		pages = len(data) // size
		leaf = bytes(data[(root - 1) * size:root * size])
		data += leaf
		child = pages + 1
		def interior(child):
		    page = bytearray(size)
		    cells = 500
		    at = size
		    page[0] = 5
		    for i in range(cells):
		        at -= 5
		        page[at:at + 5] = struct.pack(">I", child) + bytes([i % 100 + 1])
		        page[12 + 2 * i:14 + 2 * i] = struct.pack(">H", at)
		    page[3:5] = struct.pack(">H", cells)
		    page[5:7] = struct.pack(">H", at)
		    page[8:12] = struct.pack(">I", child)
		    return page
		for level in range(3):
		    data += interior(child)
		    child += 1
		data[(root - 1) * size:root * size] = interior(child)
		data[28:32] = struct.pack(">I", len(data) // size)
		open(sys.argv[1], "wb").write(data)
	END
	run bounded "$TARE" list
	echo "$status $output"
	[ "$status" -eq 2 ]
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"more rows than its size can explain"* ]]
}

# ---- names that are no UTF-8 ----

# readable: another SQLite client reads every column of every table and view
readable() {
	python3 - "$TARE_LAB" <<-'END'
		import sqlite3, sys
		lab = sqlite3.connect(sys.argv[1])
		for kind, name in lab.execute("SELECT type, name FROM sqlite_schema WHERE type IN ('table', 'view')").fetchall():
		    try:
		        lab.execute(f'SELECT * FROM "{name}"').fetchall()
		    except sqlite3.OperationalError as e:
		        sys.exit(f"{kind} {name}: {e}")
	END
}

# odd_program: a program whose name and file are no UTF-8
odd_program() {
	odd=$'od\xffd\xe9'
	cat >"$odd" <<-'END'
		#!/usr/bin/python3
		import ctypes, threading, time
		libc = ctypes.CDLL(None)
		libc.prctl(15, b"n\xff\xfem\xe9", 0, 0, 0)
		end = time.monotonic() + 0.3
		while time.monotonic() < end:
		    pass
	END
	chmod +x "$odd"
}

@test "names that are no UTF-8: any SQLite client reads the lab" {
	odd_program
	"$TARE" time -N -r 2 -w 0 -n $'n\xff' --tag $'t\xff' --style none "./$odd"
	mkdir $'d\xff'
	(cd $'d\xff' && "$TARE" time -r 1 -w 0 --style none -i $'sh -c "exit 3" \xff')
	if [ "$(id -u)" -eq 0 ]; then
		"$TARE" profile -q -- "./$odd"
		"$odd" 2>/dev/null || "./$odd" &
		"$TARE" noise -q -d 1s
		wait
	fi
	run "$TARE" query -r 2 -q -e $'SELECT 1 -- \xff' "sqlite:x.db"
	run "$TARE" query -r 2 -q -e $'SELECT nothing -- \xff' "sqlite:x.db"
	readable
	[ "$(sql "SELECT count(*) > 0 FROM processes WHERE name = 'n??m?'")" = 1 ]
	[ "$(id -u)" -ne 0 ] || [ "$(sql "SELECT count(*) > 0 FROM profile_instances WHERE hex(comm) = '6EEF9FBFEF9FBE6DEF9FA9'")" = 1 ]
}

@test "names that are no UTF-8: those of an older lab are mended" {
	odd_program
	"$TARE" time -N -r 2 -w 0 --style none "./$odd"
	python3 - "$TARE_LAB" <<-'END'
		import sqlite3, sys
		lab = sqlite3.connect(sys.argv[1], isolation_level=None)
		lab.execute("UPDATE process SET name = CAST(X'6EFFFE6DE9' AS TEXT) WHERE name = 'n??m?'")
		lab.execute("DROP VIEW counters") # of version 11
		lab.execute("DROP TABLE counter")
		for view in "runs", "cpus", "histogram", "worst": # of version 12
		    lab.execute(f"DROP VIEW noise_{view}")
		for column in "cpu.smi_ns", "cpu.smi_count", "cpu.smi_explained", "bucket.smi_ns", "longest.smi_ns":
		    lab.execute("ALTER TABLE noise_{} DROP COLUMN {}".format(*column.split(".")))
		lab.execute("DELETE FROM noise_class WHERE name = 'smi'")
		lab.execute("PRAGMA user_version = 9")
	END
	if readable; then false; fi
	"$TARE" tag last x
	readable
	[ "$(sql "SELECT count(*) > 0 FROM processes WHERE hex(name) = '6EEF9FBFEF9FBE6DEF9FA9'")" = 1 ]
	[ "$("$TARE" sql --csv 'PRAGMA user_version' | tail -1)" -ge 10 ]
}

# ---- room ----

# pragma NAME: as another client sees it
pragma() {
	python3 -c 'import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute("PRAGMA " + sys.argv[2]).fetchone()[0])' "$TARE_LAB" "$1"
}

# grow RUN BYTES: the run has that much more to be removed with it
grow() {
	python3 - "$TARE_LAB" "$1" "$2" <<-'END'
		import os, sqlite3, sys
		lab = sqlite3.connect(sys.argv[1])
		first = lab.execute("SELECT min(id) FROM execution WHERE run = ?", (sys.argv[2],)).fetchone()[0]
		names = [c[1] for c in lab.execute("PRAGMA table_info(execution)") if c[1] not in ("id", "number")]
		for i in range(int(sys.argv[3]) // 1000000):
		    lab.execute(f"INSERT INTO execution (number, {','.join(names)}) SELECT 1000 + ?, {','.join(names)} FROM execution WHERE id = ?", (i, first))
		    lab.execute("INSERT INTO trace VALUES (last_insert_rowid(), 1, 0, 0, 0, ?)", (os.urandom(1000000),))
		lab.commit()
		lab.execute("PRAGMA wal_checkpoint(TRUNCATE)")
	END
}

# bats test_tags=long
@test "rm: the file shrinks, and others write meanwhile" {
	"$TARE" time -N -r 1 -w 0 --style none true
	"$TARE" time -N -r 1 -w 0 --style none true
	grow 1 30000000
	grow 2 80000000
	[ "$(pragma auto_vacuum)" = 2 ]
	before=$(stat -c %s lab.db)
	# another writer counts what it commits between the end of the removal and that of tare
	python3 - "$TARE" <<-'END' >commits
		import sqlite3, subprocess, sys, time
		lab = sqlite3.connect("lab.db", isolation_level=None, timeout=60)
		rm = subprocess.Popen([sys.argv[1], "rm", "2"], stdout=subprocess.DEVNULL)
		commits = 0
		while rm.poll() is None:
		    lab.execute("BEGIN IMMEDIATE")
		    gone = lab.execute("SELECT count(*) FROM run WHERE id = 2").fetchone()[0] == 0
		    lab.execute("UPDATE run SET tags = ? WHERE id = 1", (str(commits).encode(),))
		    lab.execute("COMMIT")
		    commits += gone
		    time.sleep(0.001)
		print(commits)
		sys.exit(rm.returncode)
	END
	echo "commits: $(cat commits)"
	[ "$(cat commits)" -ge 5 ]
	[ "$(stat -c %s lab.db)" -lt $((before / 2)) ]
	[ "$("$TARE" sql --csv 'PRAGMA integrity_check' | tail -1)" = ok ]
}

# bats test_tags=long
@test "rm: a large lab of an older tare is rewritten only with --compact" {
	"$TARE" time -N -r 1 -w 0 --style none true
	"$TARE" time -N -r 1 -w 0 --style none true
	python3 -c 'import sqlite3
lab = sqlite3.connect("lab.db")
lab.execute("PRAGMA journal_mode = DELETE")
lab.execute("PRAGMA auto_vacuum = NONE")
lab.execute("VACUUM")'
	grow 2 80000000
	before=$(stat -c %s lab.db)
	run "$TARE" rm 2
	[ "$status" -eq 0 ]
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"the lab keeps 7"[0-9]" MiB for new runs; 'tare rm --compact' gives them back"* ]]
	[ "$(stat -c %s lab.db)" -ge "$before" ]
	"$TARE" rm --compact
	[ "$(stat -c %s lab.db)" -lt 4000000 ]
	[ "$(pragma auto_vacuum)" = 2 ]
	[ "$(sql 'SELECT count(*) FROM executions')" = 1 ]
}

# slow: not with sanitizers, which take more memory than the lab
# bats test_tags=slow
@test "rm: --compact rewrites a lab of an older tare on the disk, not in memory" {
	"$TARE" time -N -r 1 -w 0 --style none true
	python3 -c 'import sqlite3
lab = sqlite3.connect("lab.db")
lab.execute("PRAGMA journal_mode = DELETE")
lab.execute("PRAGMA auto_vacuum = NONE")
lab.execute("VACUUM")'
	grow 1 150000000
	peak() {
		python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@" | tail -1
	}
	TMPDIR=/proc peak "$TARE" rm --compact >kib
	cat kib
	[ "$(cat kib)" -lt 100000 ]
	[ "$(pragma auto_vacuum)" = 2 ]
	[ "$("$TARE" sql --csv 'PRAGMA integrity_check' | tail -1)" = ok ]
}

@test "list: a full disk without room for a file beside the lab" {
	small_disk 16m
	"$TARE" time -N -r 1 -w 0 --style none true
	rm -f "$TARE_LAB-shm" "$TARE_LAB-wal"
	fill
	"$TARE" list
	"$TARE" show last
}

# bats test_tags=long
@test "rm: on a full disk it makes room" {
	small_disk 24m
	"$TARE" time -N -r 1 -w 0 --style none true
	"$TARE" time -N -r 40 -w 0 --style none true
	grow 2 6000000
	fill
	[ "$(stat -f -c %a "$small")" -eq 0 ]
	before=$(stat -c %s "$TARE_LAB")
	"$TARE" rm 2
	[ "$(stat -c %s "$TARE_LAB")" -lt $((before / 2)) ]
	[ "$(stat -f -c %a "$small")" -gt 0 ]
	[ "$(sql 'SELECT group_concat(id) FROM runs')" = 1 ]
	[ "$("$TARE" sql --csv 'PRAGMA integrity_check' | tail -1)" = ok ]
	# and it is a lab as before
	"$TARE" time -N -r 2 -w 0 --style none true
	[ "$(pragma journal_mode)" = wal ]
}
