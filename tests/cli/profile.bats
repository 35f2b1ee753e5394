#!/usr/bin/env bats
# tare profile as a user types it, on the kernel that is there; the binary is $TARE.

load common

setup() {
	: "${TARE:?set TARE to the binary under test}"
	cd "$BATS_TEST_TMPDIR" || return 1
	export TARE_LAB=$BATS_TEST_TMPDIR/lab.db
	programs=$(dirname "$(realpath "$TARE")")/tests/programs
	# a socket's name must be short, and the collectors of tests are nobody else's
	TARE_RUNTIME_DIR=$(mktemp -d /tmp/tare-run.XXXXXX)
	export TARE_RUNTIME_DIR
}

teardown() {
	for lab in "$BATS_TEST_TMPDIR"/*.db "$BATS_TEST_TMPDIR"/small/*.db; do
		[ ! -e "$lab" ] || "$TARE" profile stop -q --lab "$lab" 2>/dev/null || true
	done
	[ -z "${busy:-}" ] || kill "$busy" 2>/dev/null || true
	[ -z "${spinner:-}" ] || kill "$spinner" 2>/dev/null || true
	[ -z "${small:-}" ] || umount "$small" || true
	[ -z "${cgroup:-}" ] || { echo 1 >"$cgroup/cgroup.kill" && sleep 0.2 && rmdir "$cgroup"; } || true
	[ -z "${home:-}" ] || rm -rf "$home"
	rm -rf "$TARE_RUNTIME_DIR"
}

# flat: the output of the last `run` with errors as one line, not wrapped
flat() {
	output=$(tr -s ' \n' ' ' <<<"$output")
}

# spin: profile-loop, over and over in the background
spin() {
	bash -c 'trap "kill %1; exit" TERM; while :; do "$0" >/dev/null & wait; done' \
		"$programs/profile-loop" >/dev/null 2>&1 3>&- &
	spinner=$!
}

# spun TICKS: once the loops of spin have had so much CPU time since they were last asked for
spun() {
	local from
	from=$(loop_ticks)
	until_true has_spun $((from + $1))
}
# of those that have ended
loop_ticks() {
	cut -d ' ' -f 16 "/proc/$spinner/stat"
}
has_spun() {
	[ "$(loop_ticks)" -ge "$1" ]
}

# until_status FILTER [OPTION...]: once the collector's status is so; it is in ./now
until_status() {
	until_true status_is "$@"
}
status_is() {
	"$TARE" profile status --json "${@:2}" >now && jq -e "$1" now >/dev/null
}

# sql STATEMENT: the one value that it gives
sql() {
	"$TARE" sql --tsv "$1" | tail -n 1
}

# share FUNCTION [RUN]: of the run's samples, in percent
share() {
	sql "SELECT CAST(100 * sum(share) AS INTEGER) FROM profile_functions
		WHERE function = '$1' AND run = ${2:-1}"
}

# loop_profile NAME: a stored profile of profile-loop
loop_profile() {
	"$TARE" profile -q -n "$1" -- "$programs/profile-loop" >/dev/null
}

# is_going: the newest run is in the lab, and not at its end
is_going() {
	[ "$(sql "SELECT status FROM runs ORDER BY id DESC LIMIT 1" 2>/dev/null)" = going ]
}

# collector: the pid of the one that is running
collector() {
	"$TARE" profile status --json | jq .pid
}

# until_true COMMAND...: waits for it; a machine that is busy takes long
until_true() {
	for _ in $(seq 600); do
		! "$@" || return 0
		sleep 0.1
	done
	echo "in vain: $*"
	return 1
}

is_gone() {
	[[ $(ps -o stat= -p "$1") != [!Z]* ]]
}

# gone PID: once it is; a zombie, of which nobody takes note, is gone
gone() {
	until_true is_gone "$1"
}

@test "profile: bad input is told, with 2, and makes no lab" {
	while read -r arguments; do
		echo "tare profile $arguments"
		# shellcheck disable=SC2086
		run "$TARE" profile $arguments
		[ "$status" -eq 2 ]
		[[ "$output" == "tare: "* ]]
	done <<-'END'
		-d 1us
		-d soon
		-F 0
		-F fast
		-F -5
		-F 99999999
		-F tick --event cycles -d 1s
		--event never
		--event page-faults,minor-faults -d 1s
		--event task-clock -d 1s
		--event page-faults -F 99 -d 1s
		--event page-faults --period 0 -d 1s
		--period 5 -d 1s
		--event cpu-clock --period 5 -d 1s
		--stacks deep
		-g --stacks none -d 1s
		--slice 1ms
		--slice 2h
		--keep lots
		--keep 5
		--keep 500MB --no-lab -d 1s
		-p 0
		-p x
		-p 1,,2
		-p 1 -a
		-p 1 -- true
		--cgroup /a -a
		-c 9999 -d 1s
		-n last -d 1s
		--
		true
		record true
		recrod
		start -- true
		status now
		stop now
		report
		report 1 2
		report --by colour
		report --user --kernel
		report --since 5s --until 2s
		report --json --csv
		report --diff 1
		diff
		diff 1
		export
		export --format svg
		selftest now
		selftest -F often
	END
	[ ! -e "$TARE_LAB" ]
	run "$TARE" profile -F 99999999
	flat
	[[ "$output" == *"kernel.perf_event_max_sample_rate"* ]]
	[[ "$output" == *"$(cat /proc/sys/kernel/perf_event_max_sample_rate)"* ]]
	run "$TARE" profile ls
	[[ "$output" == *"tare profile -- ls"* ]]
	run "$TARE" profile recrod
	[[ "$output" == *"tare profile record"* ]]
}

@test "profile: every subcommand has its help" {
	for sub in "" record start status stop report diff export selftest; do
		# shellcheck disable=SC2086
		run "$TARE" profile $sub --help
		[ "$status" -eq 0 ]
		[[ "$output" == "Usage: tare profile"* ]]
		[ "${#lines[@]}" -le 40 ]
	done
}

# bats test_tags=slow
@test "profile: a loop takes the time of its program" {
	needs_root
	"$TARE" profile -n loop --tag note -- "$programs/profile-loop" >out
	grep -q loop out
	[ "$(share loop)" -ge 90 ]
	run grep -c $'\033' out
	[ "$output" -eq 0 ]
	"$TARE" list | grep -Eq '1 .* loop +profile +complete'
	"$TARE" list --json | jq -e '.[0] | .name == "loop" and .status == "complete" and .kind == "system"'
	# the output of the program comes first, then what every later look shows
	tail -n +2 out >report
	for again in "profile report" "profile report 1" "profile report loop" show "show last"; do
		# shellcheck disable=SC2086
		"$TARE" $again >shown
		diff report shown
	done
}

@test "profile: page faults are samples where they occur, and are called no time" {
	needs_root
	"$TARE" profile -q --event page-faults -- "$programs/count" 1000 0 3000 0 >/dev/null
	[ "$(sql "SELECT mode || ' ' || event || ' ' || period || ' ' || (hz IS NULL) FROM profiles")" = "event page-faults 1 1" ]
	[ "$(sql "SELECT samples >= 3000 FROM profile_apps WHERE app = 'count'")" -eq 1 ]
	"$TARE" profile report >out
	grep -q 'Sampled   by page-faults, each one, on' out
	grep -q 'a sample is the event, not time' out
	# but that of tare itself
	run grep -c 'CPU time' <(grep -v '^  Cost' out)
	[ "$output" -eq 0 ]
	"$TARE" profile report --json >out
	jq -e '.settings | .mode == "event" and .event == "page-faults" and .period == 1 and .hz == null' out
	jq -e '.run.conditions.event == "page-faults"' out
	jq -e '[.. | .cpu_ns?] | length > 3 and all(. == null)' out
	"$TARE" profile export --format speedscope | jq -e '.profiles[0] | .name == "page-faults" and .unit == "none" and .endValue >= 3000'
	"$TARE" profile export --format firefox | jq -e '[.. | .threadCPUDelta?] | all(. == null)'
	"$TARE" profile export --format pprof | zcat | grep -aq page-faults
	run bash -c "\"$TARE\" profile export --format pprof | zcat | grep -ac nanoseconds"
	[ "$output" -eq 0 ]
	"$TARE" report -o page.html
	grep -q 'by page-faults, each one' page.html
	# a period of its own, and the two compared
	"$TARE" profile -q --event page-faults:u --period 10 -- "$programs/count" 1000 0 3000 0 >/dev/null
	"$TARE" profile report >out
	grep -q 'by page-faults:u, one of 10, on' out
	"$TARE" profile diff 1 2 >out
	grep -q 'shares of one thing are compared' out
	run grep -c 'ms/s' out
	[ "$output" -eq 0 ]
	run "$TARE" plot system
	[ "$status" -ne 0 ]
}

@test "profile: users sample events of their own processes" {
	"$TARE" profile -q --unprivileged --event page-faults -- "$programs/count" 1000 0 3000 0 >/dev/null
	[ "$(sql "SELECT sum(samples) >= 3000 AND sum(kernel) = 0 FROM profiles")" -eq 1 ]
	run "$TARE" profile -q --unprivileged --event context-switches -- true
	[ "$status" -eq 3 ]
	[[ "$output" == *"happens in the kernel"* ]]
}

@test "profile: an event that this machine has not is told, with 3" {
	if "$TARE" time --no-lab -N -w 0 -r 1 --style none --counters cache-misses true 2>/dev/null; then return 0; fi
	run "$TARE" profile --event cache-misses -- true
	[ "$status" -eq 3 ]
	[[ "$output" == *"this machine cannot count 'cache-misses'"* ]]
	[ ! -e "$TARE_LAB" ]
}

# bats test_tags=slow
@test "profile: a callee takes the time of its caller's loop" {
	needs_root
	"$TARE" profile -q -F 997 -- "$programs/profile-call" >/dev/null
	[ "$(sql "SELECT max(share) > 0.9 FROM profile_functions")" -eq 1 ]
	[ "$(sql "SELECT hz FROM profiles")" = 997.0 ]
}

# bats test_tags=slow
@test "profile: -g keeps callers" {
	needs_root
	"$TARE" profile -q -g -F 997 -- "$programs/profile-btree" >/dev/null
	"$TARE" profile export --format folded >stacks.txt
	grep -q 'main.*;' stacks.txt
	[ "$(sql "SELECT stacks FROM profiles")" = eh_frame ]
}

# total FUNCTION: the share of samples with it on their stacks, in percent, in the terminal
total() {
	"$TARE" profile report --by function --sort total --top 0 | awk -v f="$1" '$5 == f { print $1 }'
}

# bats test_tags=slow
@test "profile: main is on all stacks of a deep recursion, in every format" {
	needs_root
	for depth in 300 5000; do
		# a few samples may be of the time before main
		"$TARE" profile -q -g -F 997 -- "$programs/profile-deep" "$depth" 1500 >/dev/null
		for format in folded pprof speedscope firefox page; do
			if [ "$format" = page ]; then
				"$TARE" report -o out
			else
				"$TARE" profile export --format "$format" -o out
			fi
			for name in main work; do
				found=$("$BATS_TEST_DIRNAME/profile-totals.py" "$format" out "$name")
				echo "$depth, $format: $name $found %"
				awk -v x="$found" 'BEGIN { exit !(x >= 99) }'
			done
			# what was left out is said, and only where something was
			found=$("$BATS_TEST_DIRNAME/profile-totals.py" "$format" out '[truncated]')
			echo "$depth, $format: truncated $found %"
			awk -v x="$found" -v deep="$depth" 'BEGIN { exit !(deep > 1280 ? x >= 99 : x <= 1) }'
		done
		echo "terminal: $(total main)"
		awk -v x="$(total main)" 'BEGIN { exit !(x >= 99) }'
		"$TARE" profile report --by function --sort total --json >out
		jq -e '.views[0].rows[] | select(.name == "main") | .total_share >= 0.99' out
		jq -e --argjson deep "$depth" '.totals.stack_ends |
			if $deep > 1280 then .elided > 100 * (.complete + .limit + .no_room) else .elided == 0 and .complete > 500 end' out
	done
	"$TARE" profile report | tr -s ' \n' ' ' | grep -q 'without their middle (deeper than 1280 frames)'
	[ "$(sql "SELECT count(*) > 0 FROM profile_frames WHERE end = 'elided' AND function = '[truncated]'")" -eq 1 ]
}

# bats test_tags=slow
@test "profile: a stack that is deeper than anybody follows has a truncated root" {
	needs_root
	"$TARE" profile -q -g -F 997 -- "$programs/profile-deep" 20000 800 >/dev/null
	"$TARE" profile export --format folded -o out
	[ "$("$BATS_TEST_DIRNAME/profile-totals.py" folded out main | cut -d . -f 1)" -le 20 ]
	# the root, right below the app
	grep -q '^profile-deep;\[truncated\];work;work;' out
	"$TARE" profile report --json | jq -e '.totals.stack_ends | .limit > 300 and .no_room == 0'
	"$TARE" profile report | grep -q 'too deep'
}

# bats test_tags=slow,alone
@test "profile: deep stacks that are all different find room" {
	needs_root
	"$TARE" profile -q -g -F 997 -- "$programs/profile-deep" 1200 2000 vary >/dev/null
	"$TARE" profile report --json | jq -e '.totals | .lost == 0 and
		.stack_ends.complete > 800 and .stack_ends.no_room * 20 < .stack_ends.complete'
}

# bats test_tags=slow
@test "profile: callers and callees are shown in the terminal" {
	needs_root
	"$TARE" profile -g -F 997 -- "$programs/profile-call" >out
	grep -q 'profile report --tree' out
	# caller is inlined into main, or not
	"$TARE" profile report --tree --csv >out
	awk -F, 'NR > 1 && $5 == "main" { m = $1; t = $2 } $5 == "callee" && $1 > m { below = $2 }
		END { exit !(t >= 95 && below >= 90 && below <= t) }' out
	"$TARE" profile report --tree | grep -Eq '^ *(9[0-9]|100).* +main +profile-call'
	"$TARE" profile report --tree --json | jq -e 'map(select(.name == "main")) | length == 1'
	# of each function, who called it
	"$TARE" profile report --by callers --csv --user >out
	awk -F, '$5 == "callee" && $1 == 0 { found = NR } NR == found + 1 && found { by = $1 ":" $5; share = $2 }
		END { exit !((by == "1:caller" || by == "1:main") && share >= 85) }' out
	"$TARE" profile report --by callers | grep -Eq '< (caller|main)'
	# one that is never the innermost
	run "$TARE" profile report --function main
	[ "$status" -eq 0 ]
	[[ "$output" == *"Who calls main, of "*"< __libc_start"*"What main calls, of "*callee* ]]
	"$TARE" profile report --function main --json | jq -e '.views[] | select(.by == "function") | .samples > 100'
	run "$TARE" profile report --function no_such_function
	[ "$status" -eq 2 ]
	# rows of its own lines only
	[ "$("$TARE" profile report --function callee --by line --csv --top 0 | grep -c ',callee,')" -gt 0 ]
	[ "$("$TARE" profile report --function callee --by line --csv --top 0 | grep -c ',main,')" -eq 0 ]
	for wrong in "--tree --by function" "--diff 1 1 --tree" "--diff 1 1 --by callers"; do
		# shellcheck disable=SC2086
		run "$TARE" profile report $wrong
		[ "$status" -eq 2 ]
	done
	loop_profile bare
	run "$TARE" profile report --tree
	[ "$status" -eq 2 ]
	[[ "$output" == *"no callers"*"-g"* ]]
}

# bats test_tags=slow
@test "profile: recursion is one row of a tree, and its callers are those of the first call" {
	needs_root
	"$TARE" profile -q -g -F 997 -- "$programs/profile-deep" 700 800 >/dev/null
	[ "$("$TARE" profile report --tree --csv | awk -F, '$5 == "work"' | wc -l)" -eq 1 ]
	"$TARE" profile report --function work --by callers --csv |
		awk -F, '$1 == 0 && $5 == "work" && $2 >= 99 { w = 1 } $1 == 1 && $5 == "main" && $2 >= 99 { m = 1 } END { exit !(w && m) }'
}

# bats test_tags=slow
@test "profile: --stacks fp keeps callers by frame pointers" {
	needs_root
	"$TARE" profile -q --stacks fp -F 997 -- "$programs/profile-call" >/dev/null
	[ "$(sql "SELECT stacks FROM profiles")" = fp ]
	"$TARE" profile export --format folded | grep -qE 'main;(caller;)?callee'
	"$TARE" profile report --by function --sort total --json |
		jq -e '.views[0].rows[] | select(.name == "main") | .total_samples > 10 * .samples'
}

@test "profile: the program's input, output and exit code are passed on" {
	needs_root
	run "$TARE" profile -q -- cat <<<"hello there"
	[ "$status" -eq 0 ]
	[ "$output" = "hello there" ]
	run "$TARE" profile -- sh -c 'exit 3'
	[ "$status" -eq 4 ]
	[[ "$output" == *"exit code 3"* ]]
	run "$TARE" profile -- sh -c 'kill -SEGV $$'
	[ "$status" -eq 4 ]
	[[ "$output" == *"signal 11"* ]]
	before=$(sql "SELECT count(*) FROM runs")
	run "$TARE" profile -- ./not-there
	[ "$status" -eq 2 ]
	[ "$(sql "SELECT count(*) FROM runs")" -eq "$before" ]
}

# bats test_tags=slow,alone
@test "profile: -d samples the whole system for a while" {
	needs_root
	spin
	"$TARE" profile -d 2s -n while >out
	grep -q profile-loop out
	[ "$(sql "SELECT seconds >= 1.9 FROM profiles")" -eq 1 ]
	[ "$(sql "SELECT count(*) FROM profile_apps WHERE app = 'profile-loop'")" -eq 1 ]
}

# bats test_tags=slow
@test "profile: processes that are running are sampled until they end" {
	needs_root
	# it must live until it is followed, and end by itself
	"$programs/profile-loop" 1000000000 3000 >/dev/null 3>&- &
	pid=$!
	timeout 60 "$TARE" profile -q -p $pid
	[ "$(sql "SELECT pid FROM profile_instances ORDER BY samples DESC LIMIT 1")" -eq $pid ]
	# under ASan it has a child at its end, which looks for leaks
	[ -n "${TARE_TEST_SANITIZED-}" ] ||
		[ "$(sql "SELECT group_concat(DISTINCT pid) FROM profile_instances WHERE samples > 0")" -eq $pid ]
	run "$TARE" profile -q -p 4194303 -d 1s
	[ "$status" -eq 2 ]
}

# bats test_tags=slow
@test "profile: a cgroup alone is sampled" {
	needs_root
	root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ -n "$root" ] || skip "needs cgroup v2"
	cgroup=$root/tare-test-$$
	mkdir "$cgroup" || skip "needs a cgroup that can be made"
	spin
	bash -c 'echo $$ >"$0/cgroup.procs"; exec "$1" 100000 600000' "$cgroup" \
		"$programs/profile-call" >/dev/null 2>&1 3>&- &
	busy=$!
	"$TARE" profile start -q --cgroup "$cgroup" --slice 200ms
	until_status '.samples > 20'
	"$TARE" profile stop -q
	kill $busy
	wait $busy || true
	[ "$(sql "SELECT group_concat(DISTINCT app) FROM profile_apps WHERE samples > 0")" = profile-call ]
	# a path from the mount point says the same
	"$TARE" profile -q --cgroup "/${cgroup##*/}" -d 100ms
	run "$TARE" profile --cgroup /no/such/group -d 1s
	[ "$status" -eq 2 ]
}

# bats test_tags=slow
@test "profile: Ctrl-C ends it and keeps what was sampled" {
	needs_root
	spin
	# what is started in the background has SIGINT ignored
	env --default-signal=INT "$TARE" profile >out 2>err 3>&- &
	pid=$!
	until_true is_going
	spun 30
	kill -INT $pid
	code=0
	wait $pid || code=$?
	[ "$code" -eq 130 ]
	grep -q profile-loop out
	grep -q interrupted err
	[ "$("$TARE" list --json | jq -r '.[0].status')" = interrupted ]
}

# bats test_tags=slow
@test "profile: every view has its rows" {
	needs_root
	loop_profile loop
	for by in app instance thread object function line instruction container system; do
		run "$TARE" profile report --by $by
		echo "$by: $output"
		[ "$status" -eq 0 ]
		case $by in
		app | instance | thread | object) [[ "$output" == *profile-loop* ]] ;;
		function | instruction) [[ "$output" == *loop* ]] ;;
		line) [[ "$output" == *loop.c:1* ]] ;;
		esac
		"$TARE" profile report --by $by --json | jq -e . >/dev/null
		"$TARE" profile report --by $by --csv | python3 -c '
import csv, sys
rows = list(csv.reader(sys.stdin))
assert len(rows) > 1 and len({len(row) for row in rows}) == 1, rows'
		"$TARE" profile report --by $by --markdown | grep -q '^|'
	done
	run "$TARE" profile report --by instance
	[[ "$output" == *"profile-loop#0"* ]]
}

# bats test_tags=slow
@test "profile: rows below a share are left out, in per cent with and without the sign" {
	needs_root
	loop_profile loop
	limited() {
		"$TARE" profile report --by function --csv --percent-limit "$1"
	}
	[ "$(limited 20)" = "$(limited 20%)" ]
	[ "$(limited 20)" = "$(limited 0.2)" ]
	[ "$(limited 20 | wc -l)" -eq 2 ]
	[ "$(limited 1.5)" = "$(limited 1.5%)" ]
	for bad in 101 200% much -1 ''; do
		run "$TARE" profile report --percent-limit "$bad"
		[ "$status" -eq 2 ]
	done
}

# bats test_tags=slow
@test "profile: a function is listed by instruction" {
	needs_root
	loop_profile loop
	run "$TARE" profile report --by instruction --function loop
	[ "$status" -eq 0 ]
	[[ "$output" == *"%r"* || "$output" == *"%e"* ]]
	"$TARE" profile report --by instruction --function loop --json | jq -e .
	run "$TARE" profile report --by instruction --function no_such_function
	[ "$status" -eq 2 ]
	# of all that are meant the one with the most samples; names mean what they do in filters
	"$TARE" profile report --by instruction --function loop >listing
	for pattern in '*' 'l?op'; do
		"$TARE" profile report --by instruction --function "$pattern" 2>/dev/null >chosen
		diff listing chosen
	done
	run "$TARE" profile report --by instruction --function 'l[o]op'
	[ "$status" -eq 2 ]
	# without stored code it comes from the file, as long as that is the same
	cp "$programs/profile-loop" copy
	"$TARE" profile -q --no-code -- ./copy >/dev/null
	"$TARE" profile report --by instruction --function loop | grep -q '%'
	cp "$programs/profile-call" new && mv new copy
	run "$TARE" profile report --by instruction --function loop
	[ "$status" -eq 3 ]
	flat
	[[ "$output" == *"was not stored"* ]]
}

# bats test_tags=slow
@test "profile: it says why there is no machine code" {
	needs_root
	# the kernel's, where its memory cannot be read
	"$TARE" profile -q -F 997 -- dd if=/dev/zero of=/dev/null bs=1M count=20000 2>/dev/null
	kernel=$(sql "SELECT function FROM profile_functions WHERE object = '[kernel]'
		ORDER BY samples DESC LIMIT 1")
	[ -n "$kernel" ]
	run "$TARE" profile report --by instruction --function "[k] $kernel"
	flat
	if [ -e /proc/kcore ]; then
		[[ "$status" -eq 0 || "$output" == *"could not be read from the kernel"* ]]
	else
		[ "$status" -eq 3 ]
		[[ "$output" == *"could not be read from the kernel"*"/proc/kcore"*"not there"* ]]
	fi
	[[ "$output" != *--no-code* ]]
	# that of a program that makes its own: a loop, with a perf map
	[ "$(uname -m)" = x86_64 ] || return 0
	cat >jit.py <<-'END'
		import ctypes, mmap, os
		code = bytes.fromhex("48b90000002000000000" "48ffc9" "75fb" "c3")
		m = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
		m.write(code)
		at = ctypes.addressof(ctypes.c_char.from_buffer(m))
		with open(f"/tmp/perf-{os.getpid()}.map", "w") as f:
		    f.write(f"{at:x} {len(code):x} made_loop\n")
		ctypes.CFUNCTYPE(None)(at)()
		ctypes.CFUNCTYPE(None)(at)()
		print(os.getpid())
	END
	map=/tmp/perf-$("$TARE" profile -q -F 997 -- python3 jit.py).map
	run "$TARE" profile report --by instruction --function made_loop
	rm -f "$map"
	[ "$status" -eq 3 ]
	flat
	[[ "$output" == *"'made_loop'"*"is not kept"* && "$output" != *--no-code* ]]
}

# bats test_tags=slow
@test "profile: filters leave what they name" {
	needs_root
	loop_profile loop
	all=$(sql "SELECT samples FROM profiles")
	sampled() {
		"$TARE" profile report --by function --csv --top 0 "$@" | wc -l
	}
	[ "$(sampled --app 'profile-*')" -gt 1 ]
	[ "$(sampled --function loop)" -eq 2 ]
	[ "$(sampled --object 'profile-loop' --user)" -gt 1 ]
	[ "$(sampled --function 'loop (profile-loop)')" -eq 2 ]
	[ "$all" -gt 0 ]
	for filter in '--app nothing' '--instance 7' '--since 1h' '--tid 1' '--object none.so' \
		'--function no_such' '--comm none' '--container none' '--pid 1 --user'; do
		for as in --json --csv --markdown --user; do
			# shellcheck disable=SC2086
			run "$TARE" profile report --by function $as $filter
			echo "$filter $as: $output"
			[ "$status" -eq 2 ]
			flat
			[[ "$output" == "tare: there are no samples"*"${filter%% *}"* ]]
		done
	done
	loop_profile again
	run "$TARE" profile diff 1 2 --app nothing
	[ "$status" -eq 2 ]
	# of the empty one nothing can be asked
	"$TARE" profile -q -n empty -- true
	if [ "$(sql "SELECT samples FROM profiles WHERE run = 3")" -eq 0 ]; then
		"$TARE" profile report 3 --app nothing
	fi
}

# bats test_tags=slow
@test "profile: --since and --until choose a window of time" {
	needs_root
	spin
	"$TARE" profile -q -d 1200ms --slice 300ms
	slices=$(sql "SELECT slices FROM profiles")
	[ "$slices" -ge 3 ]
	within() {
		"$TARE" profile report --json "$@" | jq .slices
	}
	[ "$(within)" -eq "$slices" ]
	first=$(within --until 300ms)
	rest=$(within --since 300ms)
	[ "$first" -ge 1 ]
	[ $((first + rest)) -eq "$slices" ]
	# the clock of a window is that of the run
	"$TARE" profile report --since 300ms --until 1h --by instance | grep -q profile-loop
	for none in 1h 9000h; do
		run "$TARE" profile report --since $none
		[ "$status" -eq 2 ]
	done
	"$TARE" profile export --format folded --since 300ms | grep -q profile-loop
	[ -z "$("$TARE" profile export --format folded --since 1h)" ]
	run "$TARE" profile diff 1 1 --since 1h
	[ "$status" -eq 2 ]
}

# bats test_tags=slow
@test "profile: the JSON is what its schema says" {
	needs_root
	loop_profile a
	loop_profile b
	schema=$BATS_TEST_DIRNAME/../../docs/schema
	"$TARE" profile report --json >report.json
	"$TARE" profile diff a b --json >diff.json
	"$TARE" show --json >show.json
	cmp report.json show.json
	"$TARE" export >export.json
	python3 - "$schema/profile.schema.json" report.json export.json <<-'END'
		import json, sys
		import jsonschema
		schema = json.load(open(sys.argv[1]))
		for path in sys.argv[2:]:
		    jsonschema.validate(json.load(open(path)), schema)
	END
	jq -e . diff.json
}

# bats test_tags=slow
@test "profile: two are compared by diff" {
	needs_root
	loop_profile a
	"$TARE" profile -q -n b -- "$programs/profile-call" >/dev/null
	run "$TARE" profile diff a b
	[ "$status" -eq 0 ]
	[[ "$output" == *loop* ]]
	first=$output
	run "$TARE" profile report --diff a b
	[ "$output" = "$first" ]
	"$TARE" profile diff a b --by app --csv | grep -q profile-call
	run "$TARE" profile diff a b --by instruction
	[ "$status" -eq 2 ]
}

# bats test_tags=slow
@test "profile: other programs get it in their formats" {
	needs_root
	loop_profile loop
	"$TARE" profile export --format pprof -o out.pb.gz
	gzip -t out.pb.gz
	gzip -dc out.pb.gz | grep -aq loop
	"$TARE" profile export --format folded | grep -Eq '^profile-loop.*loop [0-9]+$'
	"$TARE" profile export --format speedscope | jq -e '.profiles | length > 0'
	"$TARE" profile export --format firefox | jq -e '.threads | length > 0'
	run script -qec "$TARE profile export --format pprof" /dev/null
	[ "$status" -eq 2 ]
	"$TARE" export --format csv | grep -q loop
	run "$TARE" export --perfetto -o x
	[ "$status" -eq 2 ]
}

# bats test_tags=slow
@test "profile: a run that is no profile is refused" {
	needs_root
	"$TARE" time -r 2 -N true >/dev/null
	for what in report "export --format folded"; do
		# shellcheck disable=SC2086
		run "$TARE" profile $what 1
		[ "$status" -eq 2 ]
		[[ "$output" == *"not a profile"* ]]
	done
	loop_profile loop
	for what in explain compare "show --ledger"; do
		# shellcheck disable=SC2086
		run "$TARE" $what loop
		[ "$status" -eq 2 ]
	done
	"$TARE" rename loop ring
	"$TARE" rm ring
	[ "$(sql "SELECT count(*) FROM profiles")" -eq 0 ]
}

# bats test_tags=slow
@test "profile: a binary that is deleted while it is sampled still has names" {
	needs_root
	cp "$programs/profile-loop" gone
	# its file is there as long as it runs, and with each slice it is taken hold of
	"$TARE" profile -q --slice 300ms -- \
		sh -c './gone 4000000000 >/dev/null &
			until [ "$(readlink /proc/$!/exe)" = "$0/gone" ]; do sleep 0.01; done
			rm gone
			wait' "$(realpath .)"
	[ ! -e gone ]
	[ "$(share loop)" -ge 80 ]
}

# bats test_tags=slow
@test "profile: a stripped binary is said as file and offset" {
	needs_root
	strip -o bare "$programs/profile-loop"
	"$TARE" profile -- ./bare >out
	grep -q 'bare+0x' out
}

# bats test_tags=slow
@test "profile: an ordinary user has a profile of a command" {
	needs_root
	home=$(mktemp -d /tmp/tare-home.XXXXXX)
	cp "$TARE" "$programs/profile-loop" "$home"
	chown -R 65534:65534 "$home"
	chmod 755 "$home"
	run setpriv --reuid 65534 --regid 65534 --clear-groups env -u TARE_RUNTIME_DIR -u XDG_RUNTIME_DIR \
		TARE_LAB="$home/lab.db" HOME="$home" "$home/tare" profile -- "$home/profile-loop"
	if [ "$status" -eq 3 ]; then
		# this kernel lets nobody else sample: that is told, with the setting
		[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 2 ]
		[[ "$output" == *perf_event_paranoid* ]]
	else
		[ "$status" -eq 0 ]
		[[ "$output" == *loop* ]]
		[ "$(TARE_LAB=$home/lab.db sql "SELECT sum(kernel) FROM profiles")" -eq 0 ]
	fi
	run setpriv --reuid 65534 --regid 65534 --clear-groups env -u TARE_RUNTIME_DIR -u XDG_RUNTIME_DIR \
		TARE_LAB="$home/lab.db" HOME="$home" "$home/tare" profile -a -d 1s
	[ "$status" -eq 3 ]
	"$TARE" profile -q --unprivileged -- "$programs/profile-loop" >/dev/null
	[ "$(sql "SELECT kernel FROM profiles")" -eq 0 ]
	"$TARE" profile report | tr -s ' \n' ' ' | grep -q "needs root"
}

# bats test_tags=slow
@test "profile: there is no colour where none is wanted" {
	needs_root
	loop_profile loop
	run env NO_COLOR=1 TERM=xterm script -qec "$TARE profile report" /dev/null
	[ "$status" -eq 0 ]
	[[ "$output" != *$'\033'* ]]
}

# bats test_tags=slow
@test "profile: nothing is kept where nothing should be" {
	needs_root
	"$TARE" profile --no-lab -- "$programs/profile-loop" | grep -q loop
	[ ! -e "$TARE_LAB" ]
}

# bats test_tags=slow
@test "profile start: it has a status, is reported while it goes, and is stopped" {
	needs_root
	spin
	run "$TARE" profile status
	[ "$status" -eq 1 ]
	run "$TARE" profile stop
	[ "$status" -eq 1 ]
	[[ "$output" == *"no collector is running"* ]]
	run "$TARE" profile start -n always
	[ "$status" -eq 0 ]
	[[ "$output" == *"run 1, pid "* ]]
	spun 30
	"$TARE" profile status | grep -q "running: run 1 'always'"
	"$TARE" profile status --json | jq -e '.running and .run == 1 and .rss_bytes > 0 and .lab_bytes > 0'
	# nothing is stored before the first 10 s unless somebody asks
	"$TARE" profile report | grep -q profile-loop
	[ "$("$TARE" profile status --json | jq .samples)" -gt 0 ]
	run "$TARE" profile start
	[ "$status" -eq 2 ]
	flat
	[[ "$output" == *"running already, pid $(collector), run 1"*"tare profile stop"* ]]
	run "$TARE" profile stop
	[ "$status" -eq 0 ]
	[[ "$output" == *"tare profile report 1"* ]]
	[[ "$output" != *" 1 slices"* ]]
	run "$TARE" profile status --json
	[ "$status" -eq 1 ]
	jq -e '.running == false' <<<"$output"
	run "$TARE" profile stop
	[ "$status" -eq 1 ]
	[ "$("$TARE" list --json | jq -r '.[0].status')" = complete ]
	[ "$(sql "SELECT samples > 0 FROM profiles")" -eq 1 ]
	"$TARE" profile start -q
	"$TARE" profile stop -q
}

# bats test_tags=slow
@test "profile start: a collector that is killed leaves what was stored" {
	needs_root
	spin
	"$TARE" profile start -q --slice 300ms
	spun 30
	until_status '.stored > 1 and .samples > 10'
	pid=$(collector)
	kill -9 "$pid"
	gone "$pid"
	run "$TARE" profile status
	[ "$status" -eq 1 ]
	[ "$(sql "SELECT samples > 0 FROM profiles WHERE run = 1")" -eq 1 ]
	"$TARE" profile report 1 | grep -q profile-loop
	[ "$("$TARE" list --json | jq -r '.[0].status')" = interrupted ]
	run "$TARE" profile start
	[ "$status" -eq 0 ]
	[[ "$output" == *"run 2, pid"* ]]
	"$TARE" profile stop
}

# bats test_tags=slow
@test "profile start: SIGTERM ends it and stores everything" {
	needs_root
	spin
	"$TARE" profile start -q
	pid=$(collector)
	spun 30
	kill "$pid"
	gone "$pid"
	[ "$(sql "SELECT samples > 0 FROM profiles")" -eq 1 ]
}

# bats test_tags=slow
@test "profile start: root's collector outlives the session of who started it" {
	needs_root
	session=$(mktemp -d /tmp/tare-run.XXXXXX)
	# /run/tare is the machine's: here it is one that goes with the namespace
	run unshare --mount bash -c '
		mount -t tmpfs none /run || exit 77
		unset TARE_RUNTIME_DIR
		export XDG_RUNTIME_DIR=$1
		"$0" profile start -q || exit
		ls /run/tare
		rm -rf "$XDG_RUNTIME_DIR"
		"$0" profile status && "$0" profile stop -q' "$TARE" "$session"
	rm -rf "$session"
	[ "$status" -ne 77 ] || skip "needs a mount namespace"
	[ "$status" -eq 0 ]
	[[ "$output" == *.pid*.sock* ]]
	# a place that is told is the only one
	for bad in relative "$BATS_TEST_TMPDIR/$(printf '%0200d' 0)" "$BATS_TEST_TMPDIR/no/such"; do
		TARE_RUNTIME_DIR=$bad run "$TARE" profile start
		[ "$status" -eq 3 ]
		[[ "$output" == *TARE_RUNTIME_DIR* ]]
	done
}

@test "profile start: it starts with its standard streams closed" {
	needs_root
	"$TARE" profile start -q <&- >&-
	collector
	"$TARE" profile stop -q
	"$TARE" profile start -q <&- >&- 2>&-
	"$TARE" profile stop -q
}

# bats test_tags=slow
@test "profile start: nobody else meets the collector" {
	needs_root
	for mode in 750 711 770; do
		chmod $mode "$TARE_RUNTIME_DIR"
		run "$TARE" profile start
		[ "$status" -eq 3 ]
		flat
		[[ "$output" == *"open to others"* ]]
	done
	chmod 700 "$TARE_RUNTIME_DIR"
	"$TARE" profile start -q
	socket=$(echo "$TARE_RUNTIME_DIR"/*.sock)
	ask='import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(sys.argv[1])
try:
    s.send(b"status")
    print(len(s.recv(65536)))
except OSError:
    print(0)'
	[ "$(python3 -c "$ask" "$socket")" -gt 0 ]
	# not even where the directory lets them in
	chmod 755 "$TARE_RUNTIME_DIR"
	chmod 666 "$socket"
	run setpriv --reuid 65534 --regid 65534 --clear-groups env PATH=/usr/bin:/bin \
		python3 -c "$ask" "$socket"
	[ "$output" = 0 ]
	chmod 700 "$TARE_RUNTIME_DIR"
	"$TARE" profile stop -q
}

# bats test_tags=slow
@test "profile start: two labs have two collectors" {
	needs_root
	"$TARE" profile start -q
	"$TARE" profile start -q --lab other.db
	"$TARE" profile status
	"$TARE" profile status --lab "$PWD/other.db"
	"$TARE" profile stop --lab other.db
	"$TARE" profile status
}

# bats test_tags=slow
@test "profile start: has a bound unless told otherwise" {
	needs_root
	kept() {
		sql "SELECT coalesce(json_extract(conditions, '$.keep_bytes'), 'all')
			FROM runs ORDER BY id DESC LIMIT 1"
	}
	"$TARE" profile start -q
	[ "$(kept)" -eq 500000000 ]
	"$TARE" profile stop -q
	"$TARE" profile start -q --keep 2GB
	[ "$(kept)" -eq 2000000000 ]
	"$TARE" profile stop -q
	"$TARE" profile start -q --keep 0
	[ "$(kept)" = all ]
	"$TARE" profile stop -q
	"$TARE" profile -q -d 100ms
	[ "$(kept)" = all ]
}

# bats test_tags=slow
@test "profile start: its end comes by itself" {
	needs_root
	"$TARE" profile start -q -d 1s
	has_ended() {
		! "$TARE" profile status >/dev/null 2>&1
	}
	until_true has_ended
	[ "$("$TARE" list --json | jq -r '.[0].status')" = complete ]
}

# bats test_tags=slow,alone
@test "profile start: --keep bounds what is stored" {
	needs_root
	# a group alone, so that a slice is as large as its work makes it, whatever else the machine does
	root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ -n "$root" ] || skip "needs cgroup v2"
	cgroup=$root/tare-test-$$
	mkdir "$cgroup" || skip "needs a cgroup that can be made"
	# both see the same, so that what is too much for one is known from the other
	"$TARE" profile start -q -g -F 3989 --slice 200ms --cgroup "$cgroup" --keep 0 --lab all.db
	"$TARE" profile start -q -g -F 3989 --slice 200ms --cgroup "$cgroup" --keep 1MB
	bytes="SELECT coalesce(max(bytes), 0) FROM profiles"
	beyond() {
		[ "$("$TARE" sql --lab all.db --tsv "$bytes" | tail -n 1)" -gt 1600000 ]
	}
	busy() {
		echo "$BASHPID" >"$cgroup/cgroup.procs"
		renice -n -15 -p "$BASHPID" # a busy machine gives it its time all the same
		while :; do ls -lR /usr/include /usr/lib; tar -cf /dev/null /usr/include; done
	}
	busy >/dev/null 2>&1 3>&- &
	busy=$!
	until_true beyond
	stored() {
		"$TARE" profile status --json | jq -e '.error == null and .stored > 3'
	}
	until_true stored
	# also while it goes, about: what was stored last may be more
	bounded() {
		[ "$(sql "$bytes")" -lt 1200000 ]
	}
	until_true bounded
	"$TARE" profile status --json | jq -e .running
	echo 1 >"$cgroup/cgroup.kill"
	"$TARE" profile stop -q
	"$TARE" profile stop -q --lab all.db
	[ "$(sql "$bytes")" -le 1000000 ]
	[ "$(sql "SELECT slices > 0 AND samples > 0 FROM profiles")" -eq 1 ]
}

# bats test_tags=long
@test "profile: a full disk is told; what was sampled is shown all the same" {
	needs_root
	small=$BATS_TEST_TMPDIR/small
	mkdir "$small"
	if ! mount -t tmpfs -o size=6m none "$small"; then
		small=
		skip "needs a file system of its own"
	fi
	spin
	"$TARE" profile start -q --lab "$small/lab.db" --slice 500ms
	dd if=/dev/zero of="$small/fill" bs=4k 2>/dev/null || true
	until_status '.error != null' --lab "$small/lab.db"
	jq -e '.running and (.error | contains("full"))' now
	held=$(jq .slices now)
	"$TARE" profile status --lab "$small/lab.db" | grep -q "could not store"
	# with room again it goes on, and what was held is not lost
	rm "$small/fill"
	until_status ".error == null and .held == 0 and .stored >= $held" --lab "$small/lab.db"
	"$TARE" profile stop -q --lab "$small/lab.db"
	dd if=/dev/zero of="$small/fill" bs=4k 2>/dev/null || true
	run "$TARE" profile --lab "$small/lab.db" -- "$programs/profile-loop"
	[ "$status" -eq 3 ]
	[[ "$output" == *full* || "$output" == *"No space left"* ]]
}

@test "profile: a page says that nothing is stored yet" {
	needs_root
	"$TARE" profile start -q --slice 10min
	run "$TARE" report -o out.html
	[ "$status" -eq 0 ]
	grep -q 'Nothing of this profile is stored yet' out.html
	"$TARE" profile stop -q
}

# bats test_tags=slow,alone
@test "profile selftest: finds what is known" {
	needs_root
	for rate in 997 tick; do
		run "$TARE" profile selftest -F $rate
		echo "$output"
		[ "$status" -eq 0 ]
		[ "$(grep -c '^ok ' <<<"$output")" -eq 5 ]
	done
}
