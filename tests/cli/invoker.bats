#!/usr/bin/env bats
# What a user gets who controls the names, the folders, the environment and the time while somebody types sudo tare.
# docs/security.md has a row for each of these tests. The binary is $TARE.

load common

user=65534

setup() {
	: "${TARE:?set TARE to the binary under test}"
	needs_root
	getent passwd $user >/dev/null || skip "needs a user $user"
	place=$(mktemp -d /tmp/tare-invoker.XXXXXX)
	chmod 755 "$place"
	# of root: a file that nobody else may touch, and a folder that others may only look into
	root=$place/root home=$place/home
	mkdir "$root" "$home"
	echo "root's own" >"$root/secret"
	chmod 600 "$root/secret"
	chown $user:$user "$home"
	export TARE_RUNTIME_DIR=$BATS_TEST_TMPDIR/run
	export TARE_LAB=$home/lab.db
	unset XDG_DATA_HOME XDG_CACHE_HOME SUDO_UID SUDO_GID
	cd "$home" || return 1
}

teardown() {
	[ -z "${swapper:-}" ] || kill "$swapper" 2>/dev/null || true
	[ -z "${place:-}" ] || rm -rf "$place"
}

# sudo_tare ARGUMENTS...: as root for the user; the environment may say more
sudo_tare() { SUDO_UID=$user SUDO_GID=$user "$TARE" "$@"; }
as_user() { setpriv --reuid=$user --regid=$user --clear-groups "$@"; }
flat() { output=$(tr -s ' \n' ' ' <<<"$output"); }

# a lab with one run, the user's
measured() { sudo_tare time -N -w 0 -r 2 --style none true; }

# root's file and folder are as they were
untouched() {
	[ "$(cat "$root/secret")" = "root's own" ]
	[ "$(stat -c '%u %g %a' "$root/secret")" = "0 0 600" ]
	[ "$(ls -A "$root")" = secret ]
}

# ---- what is written ----

@test "invoker: a link at the target is followed with the user's rights only" {
	measured
	as_user ln -s "$root/secret" out.json
	run sudo_tare export -f json -o out.json
	[ "$status" -eq 2 ]
	[[ "$output" == *"cannot write out.json: Permission denied"* ]]
	untouched
	# a link to where the user may write is the user's wish
	as_user mkdir elsewhere
	as_user touch elsewhere/file
	as_user ln -sfn elsewhere/file out.json
	sudo_tare export -f json -o out.json
	jq -e .results elsewhere/file >/dev/null
	[ -L out.json ]
	[ "$(stat -c %u elsewhere/file)" = $user ]
}

# bats test_tags=long
@test "invoker: who swaps a pipe and a link in a loop gets nothing written by root" {
	measured
	as_user mkfifo out.json
	as_user ln -s "$root/secret" other
	coproc python3 "$BATS_TEST_DIRNAME/swap.py" $user out.json other
	swapper=$COPROC_PID
	read -r _ <&"${COPROC[0]}"
	for _ in $(seq 150); do
		sudo_tare export -f json -o out.json 2>/dev/null || true
		[ "$(head -c 10 "$root/secret")" = "root's own" ]
	done
	untouched
	kill -0 "$swapper" # to the end
}

@test "invoker: a subject that puts a link to root's pipe there reaches nobody" {
	mkfifo -m 600 "$place/pipe"
	exec 9<>"$place/pipe"
	run sudo_tare time -w 0 -r 1 --style none --export-json out.json "ln -s $place/pipe out.json"
	[ "$status" -ne 0 ]
	[[ "$output" == *"cannot write out.json"* ]]
	run timeout 0.2 head -c 1 <&9
	[ -z "$output" ]
	exec 9>&-
}

@test "invoker: a pipe of the user's own is written to, and stays one" {
	measured
	as_user mkfifo out.json
	timeout 20 cat out.json >"$BATS_TEST_TMPDIR/read" &
	sudo_tare export -f json -o out.json
	wait
	jq -e .results "$BATS_TEST_TMPDIR/read" >/dev/null
	[ -p out.json ]
}

@test "invoker: a second name of root's file is replaced, the file is not" {
	measured
	ln "$root/secret" out.json # as where fs.protected_hardlinks is 0
	sudo_tare export -f json -o out.json
	untouched
	[ "$(stat -c %u out.json)" = $user ]
	jq -e .results out.json >/dev/null
}

@test "invoker: a dangling link makes nothing where it leads" {
	measured
	as_user ln -s "$root/new" out.json
	run sudo_tare export -f json -o out.json
	untouched
	as_user ln -sfn "$home/new" out.json
	sudo_tare export -f json -o out.json
	[ ! -e new ]
	[ ! -L out.json ]
	[ "$(stat -c %u out.json)" = $user ]
}

@test "invoker: a link among the folders leads no further than the user" {
	measured
	as_user ln -s "$root" folder
	for name in folder/new.json folder/secret folder/../root/new.json; do
		run sudo_tare export -f json -o "$name"
		[ "$status" -eq 2 ]
		[[ "$output" == *"cannot write $name: Permission denied"* ]]
	done
	untouched
}

@test "invoker: root itself follows no link of somebody else" {
	measured
	mkdir -m 1777 "$place/tmp"
	as_user ln -s "$root/secret" out.json
	as_user ln -s "$root" folder
	as_user ln -s "$root/secret" "$place/tmp/out.json"
	for name in out.json folder/new.json "$place/tmp/out.json"; do
		run "$TARE" export -f json -o "$name"
		[ "$status" -eq 2 ]
		flat
		[[ "$output" == *"cannot write $name: Too many levels of symbolic links"* ]]
	done
	untouched
	# its own are followed, and so are root's by the user
	touch "$place/mine"
	ln -s "$place/mine" "$place/link"
	"$TARE" export -f json -o "$place/link"
	jq -e .results "$place/mine" >/dev/null
}

@test "invoker: in a sticky folder nobody's link is followed but the user's own" {
	measured
	mkdir -m 1777 "$place/tmp"
	as_user touch target
	setpriv --reuid=65533 --regid=65533 --clear-groups ln -s "$home/target" "$place/tmp/theirs"
	as_user ln -s "$home/target" "$place/tmp/own"
	run sudo_tare export -f json -o "$place/tmp/theirs"
	[ "$status" -eq 2 ]
	[ ! -s target ]
	sudo_tare export -f json -o "$place/tmp/own"
	[ -s target ]
	# nor is another's file replaced
	setpriv --reuid=65533 --regid=65533 --clear-groups touch "$place/tmp/file"
	run sudo_tare export -f json -o "$place/tmp/file"
	[ "$status" -eq 2 ]
	[ ! -s "$place/tmp/file" ]
}

# bats test_tags=long
@test "invoker: where tare is run is no reason to write there" {
	measured
	cd "$root"
	for command in "export -f json -o new.json" "report -o new.html" "time -N -r 1 --export-csv new.csv true" \
		"time -w 0 -r 1 --output new.txt true" "plot -o new.svg" "cutoffs export new.json"; do
		run sudo_tare $command
		[ "$status" -ne 0 ]
	done
	untouched
}

@test "invoker: figures and pages are written with the user's rights" {
	measured
	for name in out.html out.svg out.gp out.dat; do
		as_user ln -s "$root/secret" $name
	done
	run sudo_tare report -o out.html
	[ "$status" -eq 2 ]
	run sudo_tare plot -o out.svg
	[ "$status" -ne 0 ]
	untouched
}

@test "invoker: --output of time is opened as the user" {
	as_user ln -s "$root/secret" out.txt
	run sudo_tare time -w 0 -r 1 --style none --output out.txt 'echo mine'
	[ "$status" -ne 0 ]
	untouched
	as_user ln -s "$root/secret" in.txt
	run sudo_tare time -w 0 -r 1 --style none --input in.txt cat
	[ "$status" -eq 2 ]
	[[ "$output" == *"cannot read the input"* ]]
}

# bats test_tags=long
@test "invoker: standard output and inherited descriptors are written to as they are" {
	measured
	sudo_tare export -f json -o /dev/stdout | jq -e .results >/dev/null
	sudo_tare export -f json -o - | jq -e .results >/dev/null
	sudo_tare export -f json -o /dev/fd/7 7>"$root/of-root" # opened by the shell, as root
	jq -e .results "$root/of-root" >/dev/null
	{ echo before; sudo_tare export -f json -o /dev/stdout; } >"$root/of-root"
	[ "$(head -1 "$root/of-root")" = before ]
	sudo_tare export -f json -o >(jq -e .results >"$BATS_TEST_TMPDIR/substituted")
	soon test -s "$BATS_TEST_TMPDIR/substituted"
	# a file of tare's own is none of them
	before=$(sha256sum lab.db)
	for fd in $(seq 3 30); do
		SUDO_UID=$user SUDO_GID=$user python3 -c 'import subprocess, sys; subprocess.run(sys.argv[1:])' \
			"$TARE" export -f json -o /dev/fd/"$fd" 2>/dev/null
	done
	[ "$(sha256sum lab.db)" = "$before" ]
}

# ---- groups, and what cannot be taken on ----

# with_groups COMMAND...: where the user is in the group 54321, too
with_groups() {
	cp /etc/group "$place/group"
	echo "tare-test:x:54321:$(id -un $user)" >>"$place/group"
	unshare -m sh -c "mount --bind '$place/group' /etc/group && exec \"\$@\"" sh "$@"
}

@test "invoker: the user's other groups count, root's do not" {
	unshare -m true || skip "needs mount namespaces"
	measured
	mkdir -m 770 "$place/shared"
	chgrp 54321 "$place/shared"
	run sudo_tare export -f json -o "$place/shared/out.json"
	[ "$status" -eq 2 ]
	export SUDO_UID=$user SUDO_GID=$user
	with_groups "$TARE" export -f json -o "$place/shared/out.json"
	[ "$(stat -c '%u %g' "$place/shared/out.json")" = "$user $user" ]
	with_groups "$TARE" time -N -w 0 -r 1 --style none --lab "$place/shared/lab.db" true
	[ "$(stat -c %u "$place/shared/lab.db")" = $user ]
	# what is open to a group of root's
	mkdir -m 770 "$place/wheel"
	run setpriv --groups 0,54322 "$TARE" export -f json -o "$place/wheel/out.json"
	[ "$status" -eq 2 ]
	chgrp 54322 "$place/wheel"
	run setpriv --groups 0,54322 "$TARE" export -f json -o "$place/wheel/out.json"
	[ "$status" -eq 2 ]
	[ -z "$(ls -A "$place/wheel")" ]
}

@test "invoker: what cannot act as the user does not act as root" {
	measured
	export SUDO_UID=$user SUDO_GID=$user
	for less in "--bounding-set -setgid" "--bounding-set -setuid" "--securebits +no_setuid_fixup"; do
		# shellcheck disable=SC2086
		run setpriv $less "$TARE" import - --lab "$root/lab.db" <<<"run,sample,et_ns,pt_ns,daemon,daemon_pt_ns"
		[ "$status" -ne 0 ]
		# shellcheck disable=SC2086
		run setpriv $less "$TARE" export -f json -o out.json
		[ "$status" -eq 3 ]
		flat
		[[ "$output" == *"cannot touch files as "*", who typed sudo: Operation not permitted"* ]]
		[ ! -e out.json ]
	done
	untouched
}

@test "invoker: SUDO_UID that names nobody is not taken for root" {
	measured
	for uid in 4242424 x -1; do
		SUDO_UID=$uid SUDO_GID=$user run "$TARE" export -f json -o out.json
		[ "$status" -eq 2 ]
		flat
		[[ "$output" == *"SUDO_UID '$uid'"*"env -u SUDO_UID"* ]]
		SUDO_UID=$uid SUDO_GID=$user run "$TARE" time -N --as-root -r 1 --lab "$root/lab.db" true
		[ "$status" -eq 2 ]
	done
	[ ! -e out.json ]
	untouched
}

# ---- labs ----

@test "invoker: a default lab that is a link makes nothing where it leads" {
	as_user mkdir -p share/tare
	for target in "$root/new.db" "$home/nowhere.db"; do
		as_user ln -sfn "$target" share/tare/lab.db
		TARE_LAB='' XDG_DATA_HOME=$home/share run sudo_tare time -N -r 1 true
		[ "$status" -ne 0 ]
		[ ! -e "$target" ]
	done
	flat
	[[ "$output" == *"it is a link to nowhere"* ]]
	as_user ln -sfn "$root/secret" share/tare/lab.db
	TARE_LAB='' XDG_DATA_HOME=$home/share run sudo_tare time -N -r 1 true
	[ "$status" -ne 0 ]
	untouched
	# to a file of the user's own it is followed
	as_user touch other.db
	as_user ln -sfn "$home/other.db" share/tare/lab.db
	TARE_LAB='' XDG_DATA_HOME=$home/share sudo_tare time -N -r 1 --style none true
	[ -s other.db ]
}

@test "invoker: a lab is nowhere opened or made as root for a user" {
	for lab in "$root/lab.db" "$root/new/lab.db"; do
		TARE_LAB=$lab run sudo_tare time -N -r 1 true
		[ "$status" -ne 0 ]
	done
	run sudo_tare time -N -r 1 --lab "$root/lab.db" true
	[ "$status" -eq 3 ]
	flat
	[[ "$output" == *"$root/lab.db"*"chown "* ]]
	as_user ln -s "$root" folder
	run sudo_tare time -N -r 1 --lab folder/lab.db true
	[ "$status" -eq 3 ]
	untouched
	# HOME is root's to say, not whose lab it is
	TARE_LAB='' HOME=$root XDG_DATA_HOME='' run sudo_tare time -N -r 1 true
	[ "$status" -ne 0 ]
	untouched
}

@test "invoker: a mistyped --lab makes no folder, whoever types it" {
	for lab in no/such/dir/l.db "$place/no/such/l.db"; do
		run sudo_tare time -N -r 1 --lab "$lab" true
		[ "$status" -eq 2 ]
		[[ "$output" == *"there is no folder"* ]]
		run "$TARE" import --lab "$lab" - <<<"x"
		[ "$status" -eq 2 ]
	done
	[ ! -e no ]
	[ ! -e "$place/no" ]
}

# bats test_tags=long
@test "invoker: a lab that root made is used if the user may, and else says what to do" {
	"$TARE" time -N -w 0 -r 2 --style none -n first true
	[ "$(stat -c %u lab.db)" = 0 ]
	chmod 644 lab.db
	sudo_tare list | grep -q first # may be read
	run sudo_tare time -N -r 1 true
	[ "$status" -eq 3 ]
	flat
	[[ "$output" == *"chown $(id -un $user): "*"lab.db"* ]]
	chmod 600 lab.db
	run sudo_tare list
	[ "$status" -eq 3 ]
	flat
	[[ "$output" == *"chown $(id -un $user): "*"lab.db"* ]]
	chmod 666 lab.db
	sudo_tare time -N -w 0 -r 2 --style none -n second true
	chmod 600 lab.db
	chown $user lab.db
	sudo_tare list | grep -q second
}

# bats test_tags=long
@test "invoker: files beside the lab are the user's, and no way to root's" {
	measured
	sudo_tare time -N -w 0 -r 1 --style none "sh -c 'stat -c %u lab.db lab.db-wal lab.db-shm >owners'"
	[ "$(sort -u owners)" = $user ]
	[ ! -e lab.db-wal ] # removed at the end, as the user
	for end in wal shm journal; do
		as_user ln -sfn "$root/secret" lab.db-$end
		run sudo_tare time -N -r 1 --style none true
		run "$TARE" time -N -r 1 --style none true # root itself
		rm -f lab.db-$end
		ln "$root/secret" lab.db-$end # as where fs.protected_hardlinks is 0
		run sudo_tare time -N -r 1 --style none true
		run "$TARE" time -N -r 1 --style none true
		[ "$(stat -c %u "$root/secret")" = 0 ]
		rm -f lab.db-$end
		untouched
		sudo_tare time -N -w 0 -r 1 --style none true
	done
}

@test "invoker: SQL reaches no database that the user may not read" {
	measured
	sqlite3 "$root/secret.db" "CREATE TABLE t AS SELECT 'hidden' AS x"
	chmod 600 "$root/secret.db"
	run sudo_tare sql "ATTACH '$root/secret.db' AS s"
	[ "$status" -ne 0 ]
	run sudo_tare query -r 1 -q -e 'SELECT x FROM t' "sqlite:$root/secret.db"
	[ "$status" -ne 0 ]
	[[ "$output" != *hidden* ]]
	rm "$root/secret.db"
	untouched
}

# ---- databases of tare query ----

tables() {
	cat >"$1" <<-YAML
		tables:
		  - {name: t, rows: 100, columns: [{name: a, type: integer}]}
		queries: ["SELECT count(*) FROM t"]
		executions: 2
	YAML
}

# bats test_tags=long
@test "invoker: SQLite's files are made as the user, and links not followed as root" {
	tables e.yaml
	chown $user e.yaml
	sudo_tare query -q e.yaml sqlite:new.db
	[ "$(stat -c %u new.db* lab.db | sort -u)" = $user ]
	as_user ln -s "$root/made.db" link.db
	run sudo_tare query -q e.yaml sqlite:link.db
	[ "$status" -ne 0 ]
	run sudo_tare query -q e.yaml "sqlite:$root/made.db"
	[ "$status" -ne 0 ]
	untouched
	# tare's own file for tables is in TMPDIR
	as_user mkdir tmp
	TMPDIR=$home/tmp sudo_tare query -q e.yaml
	[ -z "$(ls -A tmp)" ]
	TMPDIR=$root run sudo_tare query -q e.yaml
	[ "$status" -eq 3 ]
	untouched
}

# nothing answers at port 1: tare starts it and waits, until it is ended
commands() {
	cat >e.yaml <<-YAML
		url: postgresql://127.0.0.1:1/x
		server:
		  start: id -u >>$home/who; echo "\$HOME" >>$home/who
		  stop: id -u >>$home/who
		  $1
		queries: ["SELECT 1"]
	YAML
	chmod 644 e.yaml
	export SUDO_UID=$user SUDO_GID=$user
}

ended_after_start() {
	"$TARE" query -q e.yaml 2>"$BATS_TEST_TMPDIR/err" &
	local pid=$!
	soon grep -q / who || true # its second line is HOME
	kill $pid
	wait $pid || true
}

# bats test_tags=long
@test "invoker: an experiment's start and stop run as the user" {
	run sudo_tare query -q -e 'SELECT 1' postgresql://127.0.0.1:1/x
	[[ "$output" == *refused* ]] || skip "needs libpq"
	commands ''
	ended_after_start
	[ "$(head -1 who)" = $user ]
	[ "$(grep -c '^0$' who)" -eq 0 ]
	grep -qx "$(getent passwd $user | cut -d: -f6)" who
	[ "$(stat -c %u who)" = $user ]
	rm -f who
	commands 'user: root'
	run timeout 20 "$TARE" query -q e.yaml
	[ "$status" -eq 2 ]
	flat
	[[ "$output" == *"user 'root'"*"env -u SUDO_UID"* ]]
	[ ! -e who ]
	unset SUDO_UID SUDO_GID
	ended_after_start # root itself
	[ "$(head -1 who)" = 0 ]
}

has_executions() { [ "$(sudo_tare sql --tsv 'SELECT count(*) > 2 FROM query_executions' | tail -1)" = 1 ]; }

# bats test_tags=long
@test "invoker: query resume starts nothing for a lab of somebody else" {
	SUDO_UID=$user SUDO_GID=$user "$TARE" query -q -r 2000 -e 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
		SELECT count(*) FROM n' sqlite::memory: 2>"$BATS_TEST_TMPDIR/err" &
	pid=$!
	soon has_executions
	kill $pid
	wait $pid || true
	cp lab.db "$root/copy.db"
	for lab in "$home/lab.db" "$root/copy.db"; do
		stored=$(TARE_LAB=$lab "$TARE" sql --tsv 'SELECT count(*) FROM query_executions' | tail -1)
		[ "$stored" -lt 2000 ]
		TARE_LAB=$lab run timeout -s INT 2 "$TARE" query resume -q
		flat
		now=$(TARE_LAB=$lab "$TARE" sql --tsv 'SELECT count(*) FROM query_executions' | tail -1)
		if [ "$lab" = "$home/lab.db" ]; then
			[ "$status" -eq 2 ]
			[[ "$output" == *"is somebody else's"*"copy the file"* ]]
			[ "$now" = "$stored" ]
		else
			[ "$now" -gt "$stored" ]
		fi
	done
	rm "$root/copy.db"*
	untouched
}

server() {
	cat >e.yaml <<-YAML
		server: {dbms: postgresql, data: $1, make: true}
		queries: ["SELECT 1"]
		executions: 1
	YAML
	chmod 644 e.yaml
	run sudo_tare query -q e.yaml
	[ "$status" -ne 0 ] || output=worked
	[ "$status" -ne 5 ] || output=worked # nothing kept: the machine was busy
}

# bats test_tags=long
@test "invoker: a server's data directory is made as the user and used as the server's" {
	compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || skip "needs PostgreSQL"
	getent passwd postgres >/dev/null || skip "needs a user postgres"
	server "$root/pg"
	[ "$output" != worked ]
	as_user ln -s "$root" pg.tare-making
	server pg
	[ "$output" != worked ]
	as_user ln -s "$root" folder
	server folder/pg
	[ "$output" != worked ]
	untouched
	rm pg.tare-making
	server pg
	[ "$output" = worked ]
	[ "$(stat -c %U pg)" = postgres ]
	[ ! -e pg.tare-making ]
	# a pid file that names a process of root's, which would be ended as the server
	(cd pg && exec sleep 60) 3>&- &
	swapper=$!
	echo "$swapper" >pg/tare.pid
	server pg
	[ "$output" = worked ]
	kill -0 "$swapper"
	# a log that leads elsewhere
	ln -sf "$root/secret" pg/tare.log
	server pg
	[[ "$output" != *"root's own"* ]]
	untouched
}

# rows NUMBER: so many executions are in the lab
rows() {
	[ "$(sudo_tare sql --tsv "SELECT count(*) >= $1 FROM query_executions" | tail -n 1)" = 1 ]
}

# bats test_tags=slow
@test "invoker: the guard of a resumed query removes nothing as root" {
	export TMPDIR=$home TARE_QUIET_ROOT=$BATS_TEST_TMPDIR/machine
	mkdir "$TARE_QUIET_ROOT"
	one_query total 'SELECT sum(id) FROM items'
	chmod 644 small.yaml
	env --default-signal=INT SUDO_UID=$user SUDO_GID=$user "$TARE" query -q -r 20000 small.yaml >/dev/null 2>&1 3>&- &
	swapper=$!
	soon rows 5
	kill -INT $swapper
	wait $swapper || [ $? -eq 130 ]
	made=$(sudo_tare sql --tsv "SELECT count(*) FROM query_executions" | tail -n 1)
	SUDO_UID=$user SUDO_GID=$user "$TARE" query resume -q >/dev/null 2>&1 3>&- &
	swapper=$!
	soon rows $((made + 5))
	folder=$(echo tare-query-*)
	as_user mv "$folder" away
	as_user ln -s "$root/tables" "$folder"
	mkdir -m 700 "$root/tables"
	touch "$root/tables/tables.db"
	kill -9 $swapper
	soon none_left "^tare-guard $swapper\\b"
	[ -e "$root/tables/tables.db" ]
	[ -L "$folder" ]
}

# ---- what is read ----

# bats test_tags=long
@test "invoker: what root may read is not read for a user" {
	measured
	echo 'queries: ["SELECT 1"]' >"$root/e.yaml"
	chmod 600 "$root/e.yaml"
	printf 'run,sample,et_ns,pt_ns,daemon,daemon_pt_ns\na,1,5,5,,\n' >"$root/r.csv"
	chmod 600 "$root/r.csv"
	printf 'url: sqlite:x.db\nquery_files: [%s]\n' "$root/secret" >q.yaml
	chmod 644 q.yaml
	printf 'queries: ["SELECT 1"]\nurl: "odbc:DSN=x"\ndriver: %s\n' "$root/secret" >d.yaml
	chmod 644 d.yaml
	as_user ln -s "$root/r.csv" link.csv
	for command in "import $root/r.csv" "import link.csv" "query check $root/e.yaml" "query $root/e.yaml sqlite:x.db" \
		"query import $root/r.csv" "doctor --from $root/secret" "query check q.yaml" \
		"cutoffs import $root/secret" "serve --token-file $root/secret" "query d.yaml"; do
		# shellcheck disable=SC2086
		run timeout 20 env SUDO_UID=$user SUDO_GID=$user "$TARE" $command
		[ "$status" -ne 0 ]
		[ "$status" -ne 124 ]
		[[ "$output" != *"root's own"* ]]
		flat
		[[ "$output" == *"ermission denied"* || "$output" == *"cannot be read"* || "$output" == *odbc* ]]
	done
	# what it was given open is another matter
	sudo_tare import - <"$root/r.csv"
	sudo_tare import /dev/stdin <"$root/r.csv"
}

# bats test_tags=slow
@test "invoker: a program that the user may not read is not listed" {
	programs=$(dirname "$(realpath "$TARE")")/tests/programs
	mkdir "$place/programs"
	cp "$programs/profile-loop" "$place/programs/copy"
	sudo_tare profile -q --no-code -- "$place/programs/copy" >/dev/null
	sudo_tare profile report --by instruction --function loop | grep -q '%'
	chmod 700 "$place/programs"
	run sudo_tare profile report --by instruction --function loop
	[ "$status" -eq 3 ]
	flat
	[[ "$output" == *"was not stored"* ]]
	# root itself may
	"$TARE" profile report --by instruction --function loop | grep -q '%'
}

# ---- the environment ----

@test "invoker: TARE_RUNTIME_DIR is root's only where nobody else can exchange it" {
	as_user mkdir -m 700 run
	for place_of in "$home/run" "$home/new" "$home/run/below"; do
		TARE_RUNTIME_DIR=$place_of run sudo_tare profile start
		[ "$status" -ne 0 ]
		flat
		[[ "$output" == *"TARE_RUNTIME_DIR"* ]]
	done
	[ -z "$(ls -A run)" ]
	[ ! -e new ]
	# root's own folder, but within one that the user could move it out of
	mkdir -m 700 own
	TARE_RUNTIME_DIR=$home/own run sudo_tare profile start
	[ "$status" -ne 0 ]
	as_user ln -s "$root" link
	TARE_RUNTIME_DIR=$home/link/run run sudo_tare profile start
	[ "$status" -ne 0 ]
	untouched
}

# bats test_tags=long
@test "invoker: TMPDIR and caches are used as the user" {
	measured
	as_user ln -s "$root" tmp
	TMPDIR=$home/tmp run sudo_tare plot -o x.svg
	[ "$status" -ne 0 ]
	XDG_CACHE_HOME=$home/tmp run sudo_tare inc --print 1s
	TMPDIR=$home/tmp run sudo_tare noise selftest -d 1s
	untouched
}

# bats test_tags=long
@test "invoker: duet --git keeps its folder and log as the user" {
	command -v git >/dev/null || skip "needs git"
	as_user git init -q repo
	cd repo
	commit() { as_user env HOME="$home" git -c user.email=t@localhost -c user.name=t commit -q --allow-empty -m "$1"; }
	commit first
	commit second
	run sudo_tare duet --git HEAD~1..HEAD --build "stat -c '%u %a' ../log .. >>$home/owners; ln -sf $root/secret ../log" \
		--max-time 1s -- true
	[ "$(sort -u "$home/owners" | tr '\n' ' ')" = "$user 600 $user 700 " ] ||
		[ "$(sort -u "$home/owners" | tr '\n' ' ')" = "$user 644 $user 700 " ]
	[[ "$output" != *"root's own"* ]]
	untouched
}
