#!/usr/bin/env bats
# What is left one second after tare was killed: nothing. $TARE is the binary; the tests kill tare
# itself, never its guard, unless they say so.

load common

setup() {
	: "${TARE:?set TARE to the binary under test}"
	cd "$BATS_TEST_TMPDIR" || return 1
	export TARE_LAB=$BATS_TEST_TMPDIR/lab.db
	TARE_RUNTIME_DIR=$(mktemp -d /tmp/tare-run.XXXXXX)
	export TARE_RUNTIME_DIR
	# a number of its own, by which a test knows its processes
	mark=$((100000 + RANDOM * 10 + BATS_TEST_NUMBER))
}

teardown() {
	[ -z "${pid:-}" ] || kill -9 "$pid" 2>/dev/null || true
	pkill -9 -f "$mark" || true
	[ -z "${home:-}" ] || rm -rf "$home"
	rm -rf "$TARE_RUNTIME_DIR"
}

# Other load may be on the machine, so three seconds are allowed.
within_a_second() { succeeds_within 3 "$@"; }

no_guard() {
	none_left "^tare-guard $pid\b"
}

no_groups() {
	[ -z "$(find "$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)" -name "tare-$pid" 2>/dev/null)" ]
}

sleeps() {
	pgrep -f "^sleep $mark$" >/dev/null
}

two_sleep() {
	[ "$(pgrep -fc "^sleep $mark$")" -ge 2 ]
}

# killed ARGUMENTS...: starts tare with these, kills it once `sleep $mark` runs, and checks that nothing is left
killed() {
	"$TARE" "$@" >out 2>err &
	pid=$!
	soon sleeps
	kill -9 $pid
	wait $pid || true
	within_a_second none_left "^sleep $mark$"
	within_a_second no_guard
	within_a_second no_groups
}

@test "guard: the child of the shell ends with a killed tare" {
	killed time "sleep $mark; true"
}

@test "guard: what has a real-time priority ends with a killed tare" {
	needs_root
	killed time --sched fifo:10 "sleep $mark; true"
}

@test "guard: what left its session and its parent ends with a killed tare" {
	needs_root
	killed time "(setsid sh -c 'sleep $mark & wait' &); sleep 20; true"
}

@test "guard: what ignores SIGTERM, SIGHUP and SIGINT ends with a killed tare" {
	killed time "trap '' TERM HUP INT; sleep $mark; true"
}

# bats test_tags=long
@test "guard: two hundred processes that go on to fork end with a killed tare" {
	cat >many <<-END
		#!/bin/sh
		for i in \$(seq 100); do
			sh -c 'while :; do sleep 0.05; done' $mark &
		done
		sleep $mark
	END
	chmod +x many
	"$TARE" time ./many >out 2>err &
	pid=$!
	soon sleeps
	kill -9 $pid
	wait $pid || true
	within_a_second none_left "$mark$"
}

@test "guard: tare killed by its own fault or by another signal leaves as little" {
	for signal in SEGV ABRT; do
		"$TARE" time "sleep $mark; true" >out 2>err &
		pid=$!
		soon sleeps
		kill -$signal $pid
		wait $pid || true
		within_a_second none_left "^sleep $mark$"
	done
}

@test "guard: a hook ends with a killed tare" {
	killed time --prepare "sleep $mark; true" true
}

@test "guard: an ordinary user's command ends with a killed tare" {
	needs_root
	# who may make no control group; bats' own folders are closed to others
	home=$(mktemp -d /tmp/tare-home.XXXXXX)
	chown 65534:65534 "$home"
	chmod 755 "$home"
	cp "$TARE" "$home/tare"
	setpriv --reuid=65534 --regid=65534 --clear-groups env -C "$home" -u SUDO_UID -u TARE_RUNTIME_DIR HOME="$home" TARE_LAB= \
		./tare time "trap '' TERM; sh -c 'sleep $mark & sh -c \"sleep $mark & wait\"; wait'; true" >out 2>err &
	pid=$!
	soon two_sleep
	kill -9 $pid
	wait $pid || true
	within_a_second none_left "sleep $mark"
	within_a_second no_guard
}

@test "guard: it survives what the subject sends to its process group, and a hang-up" {
	cat >unkind <<-END
		#!/bin/sh
		trap '' HUP TERM INT QUIT
		kill -HUP 0
		kill -QUIT 0
		kill -TERM 0
		sleep $mark
	END
	chmod +x unkind
	# in a session of its own, so that the test is not meant; tare takes them for the user's wish to end
	setsid "$TARE" time -N ./unkind >out 2>err &
	wait $! || true
	within_a_second none_left "^sleep $mark$"
	within_a_second none_left "unkind"
	# and with a guard that got them, too, but a tare that did not end by them
	setsid sh -c "trap '' HUP TERM QUIT INT; exec '$TARE' quiet --only default -- ./unkind" >out 2>err &
	pid=$!
	soon sleeps
	kill -9 "$(pgrep -f "^$TARE quiet" | head -1)"
	wait $pid || true
	within_a_second none_left "^sleep $mark$"
}

@test "guard: it holds no descriptor of tare's, no terminal and is nobody's child here" {
	"$TARE" time "sleep $mark; true" > >(cat >out) 2>err &
	pid=$!
	soon sleeps
	guard=$(pgrep -f "^tare-guard $pid\b")
	[ "$(ls /proc/"$guard"/fd)" = "$(printf '0\n1\n2')" ]
	[ "$(readlink /proc/"$guard"/fd/1)" = /dev/null ]
	[[ "$(readlink /proc/"$guard"/fd/0)" == *pidfd* ]]
	[ "$(ps -o tty= -p "$guard" | tr -d ' ')" = '?' ]
	[ "$(ps -o ppid= -p "$guard" | tr -d ' ')" != "$pid" ]
	kill -9 $pid
	wait $pid || true
}

@test "guard: it ends with tare, and uses no CPU" {
	"$TARE" time -r 3 "sleep 0.3" >out 2>err &
	pid=$!
	soon pgrep -f "^tare-guard $pid\b"
	guard=$(pgrep -f "^tare-guard $pid\b")
	sleep 0.3
	before=$(awk '{ print $14 + $15 }' /proc/"$guard"/stat)
	[ "$before" -le 5 ]
	wait $pid
	no_guard
	no_groups
}

@test "guard: a command that stays may stay" {
	"$TARE" time -N -r 1 --orphans leave "sh -c 'setsid sleep $mark & true'" >out 2>err
	sleeps
	# and is in no group of tare's
	[[ "$(cat /proc/"$(pgrep -of "^sleep $mark$")"/cgroup)" != */tare-* ]]
}

@test "guard: a hook's daemon stays after tare's end" {
	"$TARE" time -N -r 2 --setup "setsid sleep $mark >/dev/null 2>&1 &" true >out 2>err
	sleeps
}

@test "guard: a tare within a tare leaves nothing, and neither does the outer one" {
	cp "$TARE" inner
	killed time "./inner time 'sleep $mark; true'"
	within_a_second none_left "^./inner"
	"$TARE" time -N -r 2 --export-json x.json "./inner time -N -r 2 --lab '$PWD/in.db' true" >out 2>err
	jq -e '[.results[0].tare.executions[]?.left_behind // 0] | add // 0 == 0' x.json
	if grep -i "left.*process" out err; then return 1; fi
}

@test "guard: several at once keep to their own" {
	"$TARE" time "sleep $mark; true" >out1 2>err1 &
	pid=$!
	other=$((mark + 1000000))
	"$TARE" time "sleep $other; true" >out2 2>err2 &
	second=$!
	soon sleeps
	soon pgrep -f "^sleep $other$"
	kill -9 $pid
	wait $pid || true
	within_a_second none_left "^sleep $mark$"
	pgrep -f "^sleep $other$"
	kill -9 $second
	wait $second || true
	within_a_second none_left "^sleep $other$"
}

# ---- knobs ----

# machine: files that stand for a machine
machine() {
	export TARE_QUIET_ROOT=$PWD/machine
	mkdir -p machine/proc/sys/kernel
	echo 1 >machine/proc/sys/kernel/nmi_watchdog
}

knob_is() {
	[ "$(cat machine/proc/sys/kernel/nmi_watchdog)" = "$1" ]
}

@test "guard: knobs are put back, and the command ends, without a next tare" {
	machine
	"$TARE" quiet --only watchdog -- sh -c "sleep $mark; true" >out 2>err &
	pid=$!
	soon knob_is 0
	soon sleeps
	kill -9 $pid
	wait $pid || true
	within_a_second knob_is 1
	within_a_second none_left "^sleep $mark$"
	within_a_second no_guard
	[ -z "$(find machine/run -name 'quiet.journal*')" ]
}

@test "guard: of a guard that was killed as well, the next tare puts knobs back" {
	machine
	"$TARE" quiet --only watchdog -- sleep "$mark" >out 2>err &
	pid=$!
	soon knob_is 0
	kill_both $pid
	wait $pid || true
	sleep 0.3
	knob_is 0
	"$TARE" --version >out 2>err
	grep -q "put back 1 setting" err
	knob_is 1
}

@test "guard: knobs are put back when another tare kills the one that changed them" {
	machine
	"$TARE" time -N -w 0 -r 1 --time-limit 1s -i "$TARE quiet --only watchdog -- sh -c 'cat machine/proc/sys/kernel/nmi_watchdog >was; sleep $mark; true'" >out 2>err || true
	[ "$(cat was)" = 0 ]
	within_a_second knob_is 1
	within_a_second none_left "^sleep $mark$"
}

@test "guard: knobs that are to stay do stay" {
	machine
	"$TARE" quiet --only watchdog >out
	sleep 0.3
	knob_is 0
	"$TARE" quiet --restore >out
	knob_is 1
}

# ---- the others ----

has_folder() {
	[ -n "$(ls temporary)" ]
}

has_no_folder() {
	[ -z "$(ls temporary)" ]
}

@test "guard: a killed query leaves no folder, and puts delay accounting back" {
	needs_root
	mkdir temporary
	machine
	accounting=machine/proc/sys/kernel/task_delayacct
	echo 0 >$accounting
	one_query slow 'SELECT count(*) FROM items a, items b, items c WHERE a.id < b.id'
	TMPDIR=$PWD/temporary "$TARE" query -q small.yaml >out 2>err &
	pid=$!
	soon has_folder
	soon grep -q 1 $accounting
	kill -9 $pid
	wait $pid || true
	within_a_second has_no_folder
	within_a_second grep -q 0 $accounting
	within_a_second no_guard
}

# bats test_tags=long
@test "guard: a killed query leaves no server, and keeps the data that the user named" {
	needs_root
	find /usr/lib/postgresql -name initdb | grep -q . || skip "no PostgreSQL"
	machine
	place=$(mktemp -d /tmp/tare-guard.XXXXXX)
	chmod 755 "$place"
	cat >own.yaml <<-END
		name: own
		server: { dbms: postgresql, data: $place/data, make: true }
		queries:
		  - name: slow
		    sql: SELECT pg_sleep(60)
	END
	# while the data is being made, and once it runs
	"$TARE" query -q own.yaml >out 2>err &
	pid=$!
	soon test -d "$place/data.tare-making"
	kill -9 $pid
	wait $pid || true
	within_a_second none_left "initdb.*$place"
	within_a_second test ! -e "$place/data.tare-making"
	"$TARE" query -q own.yaml >out 2>err &
	pid=$!
	soon pgrep -f "postgres: .*SELECT"
	kill -9 $pid
	wait $pid || true
	soon none_left "postgres.*$place"
	within_a_second no_guard
	[ -e "$place/data/PG_VERSION" ]
	[ ! -e "$place/data/postmaster.pid" ]
	rm -rf "$place"
}

@test "guard: a killed calibration leaves no process" {
	needs_root
	"$TARE" calibrate --short 40s:6 >out 2>err &
	pid=$!
	# the long one: those that find out how many turns a while takes come and go
	child() { inc=$(pgrep -P $pid -f 'inc --turns [0-9]{11}'); }
	soon child
	kill -9 $pid
	wait $pid || true
	gone() { [ ! -e "/proc/$inc" ]; }
	within_a_second gone
	within_a_second no_groups
}

@test "guard: a killed duet of git revisions leaves no folder and no build" {
	git init -q repository
	cd repository
	git -c user.name=t -c user.email=t@t commit -q --allow-empty -m one
	git -c user.name=t -c user.email=t@t commit -q --allow-empty -m two
	git config safe.directory "*"
	"$TARE" duet --git HEAD~1..HEAD --build "sleep $mark; true" -- true >out 2>err &
	pid=$!
	soon sleeps
	folder=$(readlink /proc/"$(pgrep -of "^sleep $mark$")"/cwd)
	[ -d "$folder" ]
	kill -9 $pid
	wait $pid || true
	within_a_second none_left "^sleep $mark$"
	within_a_second test ! -e "${folder%/*}"
}

@test "guard: killed measurements of noise leave no process" {
	needs_root
	"$TARE" noise -d 20s >out 2>err &
	pid=$!
	sleep 1
	kill -9 $pid
	wait $pid || true
	within_a_second none_left "$TARE noise -d 20s"
	within_a_second no_guard
}
