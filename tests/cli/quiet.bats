#!/usr/bin/env bats
# tare quiet as a user types it: on a tree of files that stands for a machine, and on this one; the
# binary is $TARE. Whatever a test changes here it puts back, and compares.
# bats file_tags=alone

load common

setup() {
	: "${TARE:?set TARE to the binary under test}"
	cd "$BATS_TEST_TMPDIR" || return 1
	export TARE_LAB=$BATS_TEST_TMPDIR/lab.db
	TARE_RUNTIME_DIR=$(mktemp -d /tmp/tare-run.XXXXXX)
	export TARE_RUNTIME_DIR
	# what the machine has; services are somebody's
	real=(--except "services,jobs,power,irqbalance")
}

teardown() {
	[ -z "${child:-}" ] || kill -9 "$child" 2>/dev/null || true
	[ -z "${cron:-}" ] || kill -9 "$cron" 2>/dev/null || true
	[ -z "${script:-}" ] || rm -f "$script"
	[ -z "${mounted:-}" ] || umount "$mounted"
	unset TARE_QUIET_ROOT
	[ "$(id -u)" -ne 0 ] || "$TARE" quiet --restore > /dev/null
	rm -rf "$TARE_RUNTIME_DIR"
}

# flat: the output of the last `run` with errors as one line, not wrapped
flat() {
	output=$(tr -s ' \n' ' ' <<<"$output")
}

# tree: a machine of files, used by the commands that follow
tree() {
	export TARE_QUIET_ROOT=$BATS_TEST_TMPDIR/machine
	local path text
	while read -r path text; do
		mkdir -p "$TARE_QUIET_ROOT/${path%/*}"
		printf '%b' "$text" > "$TARE_QUIET_ROOT/$path"
	done <<-'TREE'
		sys/devices/system/cpu/online 0-3\n
		sys/devices/system/cpu/smt/control on\n
		sys/devices/system/cpu/cpufreq/boost 1\n
		sys/devices/system/cpu/cpufreq/policy0/scaling_governor schedutil\n
		sys/devices/system/cpu/cpufreq/policy0/scaling_min_freq 400000\n
		sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq 4000000\n
		sys/kernel/mm/transparent_hugepage/enabled [always]\040madvise\040never\n
		sys/devices/virtual/workqueue/cpumask f\n
		proc/irq/7/smp_affinity_list 0-3\n
		proc/irq/default_smp_affinity f\n
		proc/sys/kernel/nmi_watchdog 1\n
		proc/sys/vm/swappiness 60
	TREE
	cp -a "$TARE_QUIET_ROOT" "$BATS_TEST_TMPDIR/before"
}

as_before() {
	diff -r "$BATS_TEST_TMPDIR/before/sys" "$TARE_QUIET_ROOT/sys"
	diff -r "$BATS_TEST_TMPDIR/before/proc" "$TARE_QUIET_ROOT/proc"
}

# settings: every file of this machine that a knob is about, with what it holds
settings() {
	local file
	for file in /proc/irq/*/smp_affinity_list /proc/irq/default_smp_affinity \
		/sys/devices/system/cpu/smt/control /sys/devices/system/cpu/intel_pstate/no_turbo \
		/sys/devices/system/cpu/cpufreq/boost /sys/devices/system/cpu/cpufreq/policy*/scaling_* \
		/sys/kernel/mm/transparent_hugepage/{enabled,defrag} \
		/sys/devices/virtual/workqueue/cpumask \
		/proc/sys/kernel/{nmi_watchdog,timer_migration,numa_balancing,task_delayacct} \
		/proc/sys/kernel/{perf_event_max_sample_rate,randomize_va_space} \
		/proc/sys/vm/{stat_interval,swappiness,dirty_writeback_centisecs} /proc/swaps; do
		case $file in */scaling_cur_freq) continue ;; esac
		[ ! -r "$file" ] || echo "$file $(cat "$file" 2>&1)"
	done
}

# spare: the last CPU, where there is another one
spare() {
	local last
	last=$(($(nproc --all) - 1))
	[ "$last" -eq 0 ] || echo "$last"
}

# started COMMAND...: in the background, as $child, once it has made the machine quiet
started() {
	"$@" > out 2> err < /dev/null 3>&- &
	child=$!
	for _ in $(seq 500); do
		[ ! -e quiet ] || return 0
		sleep 0.02
	done
	cat err
	return 1
}

# without_systemd: from here on $TARE sees an empty /run, which is $own_run: no systemd and no cron of this machine
without_systemd() {
	needs_root
	own_run=$BATS_TEST_TMPDIR/run
	mkdir "$own_run"
	cat > tare-apart <<-END
		#!/bin/sh
		exec unshare --mount sh -c 'mount --bind "\$0" /run && exec "\$@"' "$own_run" "$TARE" "\$@"
	END
	chmod +x tare-apart
	TARE=$PWD/tare-apart
}

# init_script COMMANDS: a service tare-test, which runs while there is a file "runs"; what it does when
# it has stopped
init_script() {
	without_systemd
	[ -x /usr/sbin/service ] || skip "needs service(8)"
	script=/etc/init.d/tare-test
	cat > "$script" <<-END
		#!/bin/sh
		cd $PWD || exit 1
		case \$1 in
		status) [ -e runs ] || exit 3 ;;
		start) touch runs ;;
		stop) rm runs; $1 ;;
		esac
	END
	chmod +x "$script"
	touch runs
}

@test "quiet: a machine of files is changed and put back to the byte" {
	tree
	run "$TARE" quiet --isolate 3 --only default,smt
	[ "$status" -eq 0 ]
	[[ "$output" == *"cpufreq/boost "*"1 "*"0 "*"changed"* ]]
	[ "$(cat machine/sys/devices/system/cpu/smt/control)" = off ]
	[ "$(cat machine/proc/irq/7/smp_affinity_list)" = 0-2 ]
	[ "$(cat machine/sys/devices/virtual/workqueue/cpumask)" = 7 ]
	[ "$(cat machine/sys/devices/system/cpu/cpufreq/policy0/scaling_min_freq)" = 4000000 ]
	run "$TARE" quiet --status
	[[ "$output" == "Quiet since "*"10 changes are to be put back." ]]
	run "$TARE" quiet
	[ "$status" -eq 2 ]
	flat
	[[ "$output" == *"quiet already"*"tare quiet --restore"* ]]
	run flock machine/run/tare/quiet.journal "$TARE" quiet --restore
	[ "$status" -eq 2 ]
	[[ "$output" == *"another tare is at it"* ]]
	run "$TARE" quiet --restore
	[ "$status" -eq 0 ]
	[[ "$output" == *"10 restored."* ]]
	as_before
	run "$TARE" quiet --restore
	[ "$status" -eq 0 ]
	[ "$output" = "Nothing to do." ]
	run "$TARE" quiet --status
	[[ "$output" == "Not quiet"* ]]
}

@test "quiet: another's is put back by force only, and nothing is made quiet for no command" {
	tree
	empty=
	# shellcheck disable=SC2086
	run "$TARE" quiet -- $empty
	[ "$status" -eq 2 ]
	[[ "$output" == *"no command after --"* ]]
	as_before
	"$TARE" quiet -- sleep 60 3>&- &
	pid=$!
	for ((i = 0; i < 100; i++)); do
		! "$TARE" quiet --status | grep -q "^Quiet" || break
		sleep 0.05
	done
	run "$TARE" quiet --restore
	[ "$status" -eq 2 ]
	[[ "$output" == *"quiet for process $pid, which still runs"* ]]
	run "$TARE" quiet --restore --force
	[ "$status" -eq 0 ]
	as_before
	kill "$pid"
	wait "$pid" || true
	as_before
}

@test "quiet: the exit status of its command is passed on" {
	tree
	run "$TARE" quiet -- sh -c 'cat machine/sys/devices/system/cpu/cpufreq/boost; exit 7'
	[ "$status" -eq 7 ]
	[ "$output" = 0 ]
	as_before
	run "$TARE" quiet -- sh -c 'kill -9 $$'
	[ "$status" -eq 137 ]
	as_before
	run "$TARE" quiet -- ./no-such-command
	[ "$status" -eq 2 ]
	as_before
}

@test "quiet: SIGINT and SIGTERM put everything back" {
	tree
	for signal in INT TERM; do
		rm -f quiet
		# a shell's background job ignores SIGINT otherwise
		started env --default-signal=INT "$TARE" quiet -- sh -c 'touch quiet; exec sleep 60'
		[ "$(cat machine/sys/devices/system/cpu/cpufreq/boost)" = 0 ]
		kill "-$signal" "$child"
		code=0
		wait "$child" || code=$?
		child=
		[ "$code" -eq 130 ]
		as_before
	done
}

@test "quiet: after kill -9, of its guard too, the next tare puts everything back and says so" {
	tree
	started "$TARE" quiet -- sh -c 'touch quiet; exec sleep 60'
	"$TARE" --version 2> said # its owner lives: not touched
	[ ! -s said ]
	[ "$(cat machine/sys/devices/system/cpu/cpufreq/boost)" = 0 ]
	kill_both "$child"
	wait "$child" || true
	child=
	[ "$(cat machine/sys/devices/system/cpu/cpufreq/boost)" = 0 ]
	"$TARE" --version 2> said
	[[ "$(cat said)" == "tare: put back 6 settings that process "*" left behind at "* ]]
	[ "$(wc -l < said)" -eq 1 ]
	as_before
	"$TARE" --version 2> said
	[ ! -s said ]
}

@test "quiet: what another changed meanwhile is left, and told" {
	tree
	"$TARE" quiet
	echo 5 > machine/proc/sys/vm/swappiness
	run "$TARE" quiet --restore
	[ "$status" -eq 0 ]
	[[ "$output" == *"left: somebody made it '5' meanwhile; it was '60'"* ]]
	[ "$(cat machine/proc/sys/vm/swappiness)" = 5 ]
	printf 60 > machine/proc/sys/vm/swappiness
	as_before
	"$TARE" quiet
	echo 5 > machine/proc/sys/vm/swappiness
	run "$TARE" quiet --restore --force
	[ "$status" -eq 0 ]
	as_before
}

@test "quiet: what is left after kill -9 is not counted as put back" {
	tree
	started "$TARE" quiet -- sh -c 'touch quiet; exec sleep 60'
	kill_both "$child"
	wait "$child" || true
	child=
	echo 5 > machine/proc/sys/vm/swappiness
	"$TARE" --version 2> said
	[[ "$(cat said)" == "tare: put back 5 settings that process "*"left /proc/sys/vm/swappiness: "* ]]
	printf 60 > machine/proc/sys/vm/swappiness
	as_before
}

@test "quiet: a read-only sysfs is refused and told, the rest is done" {
	needs_root
	tree
	mounted=$TARE_QUIET_ROOT/sys
	mount --bind "$mounted" "$mounted"
	mount -o remount,ro,bind "$mounted"
	run "$TARE" quiet --dry-run
	[ "$status" -eq 0 ]
	[[ "$output" == *"boost"*"refused: Read-only file system"* ]]
	run "$TARE" quiet
	[ "$status" -eq 0 ]
	[[ "$output" == *"boost"*"refused: Read-only file system"* ]]
	[[ "$output" == *"2 changed, "*" refused."* ]]
	[ "$(cat machine/proc/sys/vm/swappiness)" = 10 ]
	"$TARE" quiet --restore
	umount "$mounted"
	mounted=
	as_before
}

@test "quiet: without room for the journal nothing is changed" {
	needs_root
	tree
	mounted=$TARE_QUIET_ROOT/run
	mkdir "$mounted"
	mount -t tmpfs -o size=16k none "$mounted"
	mkdir -m 700 "$mounted/tare"
	dd if=/dev/zero of="$mounted/tare/full" 2>/dev/null || true
	run "$TARE" quiet
	[ "$status" -eq 3 ]
	flat
	[[ "$output" == *"cannot write the journal"*"No space left"*"nothing was changed"* ]]
	as_before
	[ "$(ls "$mounted/tare")" = full ]
	# a directory that others may write to is no place for it
	rm "$mounted/tare/full"
	chmod 777 "$mounted/tare"
	run "$TARE" quiet
	[ "$status" -eq 3 ]
	as_before
	umount "$mounted"
	mounted=
}

@test "quiet: a dry run works for everyone, a change takes root" {
	needs_root
	chmod 755 "$BATS_TEST_TMPDIR"
	cp "$TARE" tare
	settings > settings.before
	anyone=(setpriv --reuid=65534 --regid=65534 --clear-groups env -u TARE_RUNTIME_DIR HOME=/)
	for option in --dry-run --list; do
		run "${anyone[@]}" ./tare quiet "$option"
		[ "$status" -eq 0 ]
	done
	for option in --all --restore; do
		run "${anyone[@]}" ./tare quiet "$option"
		[ "$status" -eq 3 ]
		[[ "$output" == *"that takes root"*"sudo tare quiet"* ]]
	done
	settings | diff settings.before -
}

@test "quiet: this machine is as it was after --restore" {
	needs_root
	isolate=$(spare)
	settings > settings.before
	"$TARE" quiet "${real[@]}" ${isolate:+--isolate "$isolate"} --json > made.json
	settings > settings.quiet
	# what is said to be changed is
	jq -e '[.changes[] | select(.state == "changed")] | length > 0' made.json
	while IFS=$'\t' read -r file after; do
		[ ! -f "$file" ] || grep -qF -- "$after" "$file"
	done < <(jq -r '.changes[] | select(.state == "changed") | [.what, .after] | @tsv' made.json)
	run diff settings.before settings.quiet
	[ "$status" -eq 1 ]
	run "$TARE" quiet --restore
	[ "$status" -eq 0 ]
	[[ "$output" != *"left"* ]]
	settings | diff settings.before -
	run diff settings.before settings.quiet
	[[ "$output" != *randomize_va_space* ]]
}

@test "quiet: this machine is as it was after kill -9 and the next start" {
	needs_root
	isolate=$(spare)
	settings > settings.before
	started "$TARE" quiet "${real[@]}" ${isolate:+--isolate "$isolate"} -- sh -c 'touch quiet; exec sleep 60'
	[ -z "$isolate" ] || [ "$(taskset -cp "$(pgrep -P "$child")" | sed 's/.*: //')" = "$isolate" ]
	kill_both "$child"
	wait "$child" || true
	child=
	run diff settings.before <(settings)
	[ "$status" -eq 1 ]
	run "$TARE" list
	[[ "$output" == *"tare: put back "*" settings that process "* ]]
	settings | diff settings.before -
}

@test "quiet: this machine is as it was soon after kill -9, without a next start" {
	needs_root
	isolate=$(spare)
	settings > settings.before
	started "$TARE" quiet "${real[@]}" ${isolate:+--isolate "$isolate"} -- sh -c 'touch quiet; setsid sleep 60 & wait'
	run diff settings.before <(settings)
	[ "$status" -eq 1 ]
	kill -9 "$child"
	wait "$child" || true
	as_it_was() { settings | diff settings.before -; }
	soon as_it_was
	soon none_left "^tare-guard $child\b"
	child=
	[ -z "$(find "$TARE_RUNTIME_DIR" -name 'quiet.journal' -o -name 'quiet.journal.[0-9]*')" ]
}

@test "quiet: a script of init.d is stopped and started" {
	init_script :
	run "$TARE" quiet --only services --stop tare-test --keep tare-test
	[ -e runs ]
	"$TARE" quiet --restore
	run "$TARE" quiet --only services --stop tare-test
	[ "$status" -eq 0 ]
	[[ "$output" == *"service tare-test "*running*stopped*changed* ]]
	[ ! -e runs ]
	"$TARE" quiet --restore
	[ -e runs ]
}

@test "quiet: Ctrl-C does not wait for a service that stops slowly, and starts it again" {
	init_script 'sleep 45.25 & echo $! > waits; touch quiet; wait'
	SECONDS=0
	started env --default-signal=INT "$TARE" quiet --only services --stop tare-test
	kill -INT "$child"
	code=0
	wait "$child" || code=$?
	child=
	[ "$code" -eq 130 ]
	[ "$SECONDS" -lt 30 ]
	[ -e runs ]
	run "$TARE" quiet --status
	[[ "$output" == "Not quiet"* ]]
	! grep -qs '^State:.[^Z]' "/proc/$(cat waits)/status"
}

@test "quiet: cron is held and goes on" {
	without_systemd
	cp "$(command -v sleep)" cron
	./cron 60 3>&- &
	cron=$!
	echo "$cron" > "$own_run/crond.pid"
	run "$TARE" quiet --only jobs --keep cron
	grep -q '^State:.S' "/proc/$cron/status"
	"$TARE" quiet --restore
	run "$TARE" quiet --only jobs
	[ "$status" -eq 0 ]
	[[ "$output" == *"process cron $cron "*running*paused*changed* ]]
	grep -q '^State:.T' "/proc/$cron/status"
	"$TARE" quiet --restore
	grep -q '^State:.S' "/proc/$cron/status"
	# another process of that number is not meant
	"$TARE" quiet --only jobs
	kill -9 "$cron"
	wait "$cron" || true
	run "$TARE" quiet --restore
	[ "$status" -eq 0 ]
	[[ "$output" == *"left: it is gone"* ]]
}

@test "quiet: --json is what the schema says" {
	tree
	"$TARE" quiet --json --dry-run --isolate 2-3 > plan.json
	"$TARE" quiet --json --list > list.json
	"$TARE" quiet --json > made.json
	"$TARE" quiet --json --status > status.json
	"$TARE" quiet --json --restore > undone.json
	as_before
	python3 - "$BATS_TEST_DIRNAME/../../docs/schema/quiet.schema.json" <<-'PY'
		import json, sys
		schema = json.load(open(sys.argv[1]))
		load = lambda name: json.load(open(f"{name}.json"))
		try:
		    import jsonschema
		    for name in ("plan", "list", "made", "status", "undone"):
		        jsonschema.validate(load(name), schema)
		except ImportError:
		    pass
		made = [c for c in load("made")["changes"] if c["state"] == "changed"]
		undone = load("undone")["changes"]
		assert [c["what"] for c in made] == [c["what"] for c in reversed(undone)], undone
		assert all(c["state"] == "restored" for c in undone), undone
		assert load("status")["status"]["changes"] == len(made) > 3
		assert len(load("list")["knobs"]) > 15
	PY
}

@test "quiet: bad input is refused, and nothing is changed" {
	tree
	while IFS='|' read -r arguments says; do
		# shellcheck disable=SC2086
		run "$TARE" quiet $arguments
		flat
		echo "$arguments: $output"
		[ "$status" -eq 2 ]
		[[ "$output" == *"$says"* ]]
		as_before
		[ ! -e machine/run/tare/quiet.journal ]
	done <<-'BAD'
		--only trubo|did you mean 'turbo'
		--except nothing-like-it|no knob
		--only irq|needs CPUs to isolate
		--isolate 9|the CPUs online are 0-3
		--isolate 0-3|cannot isolate all CPUs
		--isolate x|takes CPUs like
		--stop ssh|never stopped
		--stop cups --only turbo|without the knob 'services'
		--restore --status|one of
		--restore -- true|runs no command
		--force|goes with --restore
		--no-aslr|go with a command
	BAD
}

@test "quiet: at a normal end nothing in the group of isolated CPUs is killed" {
	needs_root
	[ "$(nproc)" -gt 1 ] || skip "needs two CPUs"
	unshare -m true || skip "needs mount namespaces"
	# files stand for the group: what tare writes to them stays
	run unshare -m bash -ec '
		mount -t tmpfs none /sys/fs/cgroup
		cd /sys/fs/cgroup
		echo cpuset >cgroup.controllers
		echo cpuset >cgroup.subtree_control
		mkdir tare-quiet
		cd tare-quiet
		touch cgroup.procs cgroup.kill cgroup.freeze
		echo 0 >cpuset.cpus
		echo isolated >cpuset.cpus.partition
		"$0" quiet --only cpuset --isolate 1 -- true
		sleep 0.5
		[ -s cgroup.procs ]
		[ ! -s cgroup.kill ]' "$TARE"
	echo "$output"
	[ "$status" -eq 0 ]
}
