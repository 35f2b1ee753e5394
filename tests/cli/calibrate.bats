#!/usr/bin/env bats
# tare calibrate as a user types it, on the kernel that is there; the binary is $TARE.

load common

setup() {
	: "${TARE:?set TARE to the binary under test}"
	cd "$BATS_TEST_TMPDIR" || return 1
	export TARE_LAB=$BATS_TEST_TMPDIR/lab.db XDG_CACHE_HOME=$BATS_TEST_TMPDIR
	schemas=$BATS_TEST_DIRNAME/../../docs/schema
	# a socket's name must be short, and the watches of tests are nobody else's
	TARE_RUNTIME_DIR=$(mktemp -d /tmp/tare-run.XXXXXX)
	export TARE_RUNTIME_DIR
}

teardown() {
	[ -z "${study:-}" ] || kill -9 "$study" 2>/dev/null || true
	for lab in "$BATS_TEST_TMPDIR"/*.db; do
		[ ! -e "$lab" ] || "$TARE" calibrate --watch-stop -q --lab "$lab" 2>/dev/null || true
	done
	rm -rf "$TARE_RUNTIME_DIR"
}

# refused WORDS ARGUMENTS...: exits with 2, says WORDS
refused() {
	local words=$1
	shift
	run timeout 20 "$TARE" calibrate "$@"
	echo "$output"
	[ "$status" -eq 2 ]
	output=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$output" == *"$words"* ]]
}

# sql STATEMENT: the one value that it gives
sql() {
	"$TARE" sql --tsv "$1" | tail -n 1
}

# samples COUNT EVERY DELAY NAME LENGTH: CSV of a run of that name, in ms. Each EVERYth sample takes
# DELAY more, by 'seldom'; 'often' runs 2 or 3 ms in each.
samples() {
	awk -v n="$1" -v every="$2" -v delay="$3" -v run="$4" -v length_ms="$5" 'BEGIN {
		print "run,sample,et_ns,pt_ns,daemon,daemon_pt_ns"
		for (i = 1; i <= n; i++) {
			slow = every && i % every == 5
			et = length_ms + (i * 7919) % 11 + (slow ? delay : 0)
			printf "%s,%d,%d000000,%d000000,often,%d000000\n", run, i, et, length_ms, 2 + i % 2
			if (slow)
				printf "%s,%d,%d000000,%d000000,seldom,%d000000\n", run, i, et, length_ms, delay
		}
	}'
}

@test "calibrate: a stored run gives its daemon and cutoff" {
	samples 200 20 300 short 1000 >short.csv
	"$TARE" import --here short.csv
	"$TARE" calibrate --from short --json >study.json
	jq -e '.daemons | map(select(.name == "seldom")) | length == 1' study.json
	# midway between nothing and 300 ms, in the unit of the data
	[ "$("$TARE" cutoffs --json | jq -c '[.cutoffs[] | [.daemon, .cutoff_ns]]')" = \
		'[["seldom",150000000]]' ]
	# the same again, as it is stored
	"$TARE" cutoffs show --json | jq -S 'del(.made_at)' >again.json
	jq -S 'del(.made_at)' study.json | cmp - again.json
	run "$TARE" calibrate --from short --plot
	[ "$status" -eq 0 ]
	[[ "$output" == *seldom* ]]
	run "$TARE" cutoffs show --plot
	[ "$status" -eq 0 ]
	[ "$(wc -l <<<"$output")" -gt 40 ]
	[ "$("$TARE" cutoffs studies --json | jq length)" -eq 2 ]
	"$TARE" cutoffs rm-study 2
	[ "$("$TARE" cutoffs --json | jq .study)" -eq 1 ]
	# nothing is lost with the run but the plots
	"$TARE" rm short
	run "$TARE" cutoffs show --plot
	[ "$status" -eq 0 ]
	[[ "$output" == *seldom* ]] && [[ "$output" == *"no plots"* ]]
}

@test "calibrate: a study takes a short run and a longer one" {
	samples 200 20 300 short 1000 >short.csv
	samples 40 0 0 long 60000 >long.csv
	"$TARE" import --here short.csv
	"$TARE" import --here long.csv
	"$TARE" calibrate --from short long --no-store --json >study.json
	[ "$("$TARE" cutoffs --json | jq '.cutoffs | length')" -eq 0 ]
	refused "is not longer than run" --from long short
	refused "both runs are run" --from long long
	"$TARE" calibrate --from short long
	[ "$("$TARE" cutoffs studies --json | jq '.[0].long_ns > .[0].short_ns')" = true ]
}

# 'often' takes 4 to 6 ms in each sample of the short run, but 2 ms in the long one, and 3 ms in its
# two slow samples: a cutoff of 3 ms would drop the whole short run.
@test "calibrate: a cutoff that would drop what is usual is not given" {
	awk 'BEGIN {
		print "run,sample,et_ns,pt_ns,daemon,daemon_pt_ns"
		for (i = 1; i <= 200; i++) {
			slow = i % 20 == 5
			et = 1000 + (i * 7919) % 11 + (slow ? 300 : 0)
			printf "short,%d,%d000000,1000000000,often,%d000000\n", i, et, 4 + i % 3
			if (slow) printf "short,%d,%d000000,1000000000,seldom,300000000\n", i, et
		}
		for (i = 1; i <= 40; i++) {
			slow = i == 11 || i == 24
			printf "long,%d,%d000000,60000000000,often,%d000000\n", i,
				60000 + (i * 7919) % 11 + (slow ? 3000 : 0), slow ? 3 : 2
		}
	}' >all.csv
	"$TARE" import --here all.csv
	"$TARE" calibrate --from short long --json >study.json
	jq -e '.daemons[] | select(.name == "often") | .undecided and .cutoffs == []' study.json
	jq -e '.daemons[] | select(.name == "seldom") | .undecided == false and (.cutoffs | length) > 0' study.json
	jq -e '[.cutoffs[].daemon] | index("often") == null' study.json
	jq -e '.runs.short.dropped | length == 10' study.json
	run "$TARE" cutoffs show
	output=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$output" == *"often: cannot tell. The long run gives a cutoff of 3.00 ms, but it takes up to 6.00 ms in usual samples of the short run."* ]]
	[ "$("$TARE" cutoffs --json | jq '[.cutoffs[] | select(.daemon == "often")] | length')" -eq 0 ]
}

# The program's own process time varies by 0.3 s, which hides the daemon's 0.1 s.
@test "calibrate: --steady says whether the CPU's speed is left out, and what that does" {
	awk 'BEGIN {
		print "run,sample,et_ns,pt_ns,daemon,daemon_pt_ns"
		for (i = 1; i <= 200; i++) {
			slow = i % 20 == 5
			own = 1000 + (i * 7919) % 307
			et = own + (i * 31) % 5 + (slow ? 100 : 0)
			printf "uneven,%d,%d000000,%d000000,%s,%d000000\n", i, et, own,
				slow ? "seldom" : "often", slow ? 100 : 1
			own = 100000 + i % 3
			printf "even,%d,%d000000,%d000000,often,1000000\n", i, own, own
		}
	}' >all.csv
	"$TARE" import --here all.csv
	for way in auto:true yes:true no:false; do
		"$TARE" calibrate --from uneven --no-store --json --steady "${way%:*}" >study.json
		jq -e ".runs.short.steadied == ${way#*:}" study.json
		[ "$(jq '.runs.short.dropped | length' study.json)" -eq "$([ "${way%:*}" = no ] && echo 0 || echo 10)" ]
	done
	run "$TARE" calibrate --from uneven --no-store
	output=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$output" == *"Steadied. By elapsed time as it was (--steady no) there would be 0 L-samples instead of 10, 0 dropped instead of 10, and 0 cutoffs instead of 1."* ]]
	run "$TARE" calibrate --from uneven --no-store --steady no
	output=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$output" == *"Not steadied. With the median process time in place of each sample's own (--steady yes) there would be 10 L-samples instead of 0,"* ]]
	# nothing to leave out, and all of it the program's own
	"$TARE" calibrate --from even --no-store --json | jq -e '.runs.short.steadied == false'
	refused "does not go with" --watch-status --steady no
}

@test "calibrate: samples that are all alike give no cutoff, too few are refused" {
	awk 'BEGIN { print "run,sample,et_ns,pt_ns,daemon,daemon_pt_ns"
		for (i = 1; i <= 50; i++) print "alike," i ",1000000000,1000000000,,"
		for (i = 1; i <= 5; i++) print "few," i ",1000000000,1000000000,," }' >all.csv
	"$TARE" import --here all.csv
	run "$TARE" calibrate --from alike
	[ "$status" -eq 0 ]
	[[ "$output" == *"it gives no cutoff"* ]]
	[ "$("$TARE" cutoffs --json | jq '.cutoffs | length')" -eq 0 ]
	refused "has 5 samples that count a study takes 6 or more" --from few
	[ "$("$TARE" cutoffs studies --json | jq length)" -eq 1 ]
	# of another machine nothing is in force here
	"$TARE" import --name elsewhere all.csv
	run "$TARE" calibrate --from elsewherealike
	[ "$status" -eq 0 ] || [ "$status" -eq 2 ]
	[ "$("$TARE" cutoffs studies --json | jq length)" -eq 1 ]
}

# what sanitizers add to each execution blurs the ratio
# bats test_tags=slow,alone
@test "calibrate: the active study makes both runs, and is continued only with its own options" {
	run "$TARE" calibrate --short 20ms:7 --long 80ms:6 --cpu 0
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(sql "SELECT group_concat(executions, ' ') FROM (SELECT executions FROM runs ORDER BY id)")" = "7 6" ]
	[ "$(sql "SELECT count(*) FROM runs WHERE status = 'complete'")" = 2 ]
	[ "$(sql "SELECT count(DISTINCT study) FROM runs")" = 1 ]
	"$TARE" cutoffs studies --json |
		jq -e '.[0] | [.source, .short_ns, .long_ns] == ["active", 20000000, 80000000]'
	# the work of the long one is four times that of the short one
	ratio=$(sql "SELECT CAST(100.0 * max(mean_pt_exec_ns) / min(mean_pt_exec_ns) AS INTEGER) FROM runs")
	[ "$ratio" -gt 200 ] && [ "$ratio" -lt 800 ]
	ended=$(sql "SELECT group_concat(ended_at) FROM runs")
	# plain is quicker to open
	refused "is complete" --continue --backend plain
	refused "was begun with other options" --continue --backend plain --short 20ms:9
	refused "was begun with other options" --continue --backend plain --long 70ms:6
	refused "was begun with other options" --continue --backend plain --cpu 0-1
	"$TARE" calibrate --continue=1 -q
	[ "$("$TARE" cutoffs studies --json | jq length)" -eq 2 ]
	# made anew of the same runs, which are as they were
	[ "$(sql "SELECT group_concat(ended_at) FROM runs")" = "$ended" ]
}

# until_is STATEMENT: waits until the one value that it gives is 1
until_is() {
	for ((i = 0; i < 600; i++)); do
		[ ! -e "$TARE_LAB" ] || [ "$(sql "$1" 2>/dev/null)" != 1 ] || return 0
		sleep 0.02
	done
	echo "never: $1"
	return 1
}

# start ARGUMENTS...: `tare calibrate` with these in the background, as $study
start() {
	# bash starts what is in the background with SIGINT ignored; bats waits for fd 3
	env --default-signal=INT "$TARE" calibrate "$@" >/dev/null 2>said 3>&- &
	study=$!
}

# end SIGNAL: ends it with that; what it said is in $told, its exit code in $code
end() {
	kill -s "$1" "$study"
	code=0
	wait "$study" || code=$?
	study=
	told=$(tr -s ' \n' ' ' <said)
}

# numbers RUN: of its samples, in the order they were stored
numbers() {
	sql "SELECT group_concat(number) FROM (SELECT number FROM executions
		WHERE run = $1 AND NOT warmup ORDER BY id)"
}

# bats test_tags=slow
@test "calibrate: interrupted anywhere, it goes on where it stopped" {
	again=
	# in the short run, anywhere, in the long run
	for at in INT:1 KILL:3 TERM:7; do
		# the same again, and that it shall go on
		start --short 20ms:6 --long 50ms:8 $again
		again=--continue
		until_is "SELECT count(*) >= ${at#*:} FROM executions WHERE NOT warmup"
		end "${at%:*}"
		if [ "${at%:*}" = KILL ]; then
			[ "$code" -eq 137 ]
		else
			[ "$code" -eq 130 ]
			grep -q "samples of the .* run are stored as run [12] 'tare calibrate --continue=[12]' goes on" <<<"$told"
		fi
		[ "$("$TARE" cutoffs studies --json | jq length)" -eq 0 ]
	done
	run "$TARE" calibrate --continue
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(numbers 1)" = 1,2,3,4,5,6 ]
	[ "$(numbers 2)" = 1,2,3,4,5,6,7,8 ]
	[ "$(sql "SELECT count(*) FROM runs WHERE status = 'complete'")" = 2 ]
	[ "$("$TARE" cutoffs studies --json | jq length)" -eq 1 ]
}

# bats test_tags=slow
@test "calibrate: a study that goes on is nobody else's to go on with" {
	# its first sample comes late enough to be interrupted before
	start --short 10ms:6 --long 20s:6
	until_is "SELECT count(*) = 2 AND sum(status = 'complete') = 1 FROM runs"
	refused "run 2 is going" --continue --backend plain
	end INT
	[ "$code" -eq 130 ]
	[[ "$told" == *"0 of 6 samples of the long run are stored as run 2 "* ]]
	start --continue
	until_is "SELECT status = 'going' FROM runs WHERE id = 2"
	refused "run 2 is going" --continue --backend plain
	refused "run 2 is going" --continue=1 --backend plain
	end INT
	[ "$code" -eq 130 ]
	[ "$(numbers 1)" = 1,2,3,4,5,6 ]
	[ "$(sql "SELECT count(*) FROM runs")" = 2 ]
}

# bats test_tags=long
@test "calibrate: bad input is refused" {
	refused "a time and a count" --short 1s
	refused "a time and a count" --short :8
	refused "a time and a count" --short soon:8
	refused "a time and a count" --short 1s:
	refused "a time and a count" --short 1s:-8
	refused "a count from 6" --short 1s:5
	refused "a count from 6" --short 1s:100001
	refused "a time from 1ms" --short 0s:8
	refused "a time from 1ms" --short 1us:8
	refused "must take longer" --short 1s:8 --long 1s:8
	refused "a list such as 0,2-3" --cpu first
	refused "there is no CPU 900" --cpu 900
	refused "are different things" --watch --from-watch
	refused "are different things" --from 1 --watch-stop
	refused "--length does not go with --active" --length 1s
	refused "--short does not go with --watch" --watch --short 1s:8
	refused "--json does not go with --watch" --watch --json
	refused "are different things" --watch-stop --watch-rm 1
	refused "the number of a watch, not 'all'" --watch-rm all
	refused "the number of a watch" --watch-rm 0
	refused "--length does not go with --watch-rm" --watch-rm 1 --length 1s
	refused "unexpected '7'" 7
	refused "unexpected 'c'" --from a b c
	refused "a size of 1MB or more" --watch --keep 3
	refused "how long, such as 8h" --watch soon
	refused "how long, such as 8h" --watch=0
	refused "--plot is no JSON" --plot --json
	[ ! -e lab.db ] # nothing of it came so far
	samples 10 0 0 ten 1000 >ten.csv
	"$TARE" import --here ten.csv
	refused "given 3 times" --from-watch --length 1s --length 2s --length 3s
	refused "the same twice" --from-watch --length 1s --length 1000ms
	refused "not before" --from-watch --since 1h --until 2h
	refused "a time ago such as 2h" --from-watch --since yesterday
	refused "one CPU" --from-watch --cpu 0-1
	refused "nothing was watched on this machine yet" --from-watch
	refused "in that time" --from-watch --since '2026-01-01 10:00'
	refused "there is no watch 7" --watch-rm 7
	refused "no run" --from nothing
	refused "no study to go on with" --continue
	refused "is none of 'tare calibrate'" --continue ten
}

@test "calibrate: a watch that is not running is said, with 1" {
	for what in status stop; do
		run "$TARE" calibrate --watch-$what
		[ "$status" -eq 1 ]
		[[ "$output" == *"no watch is running"* ]]
	done
	run "$TARE" calibrate --watch-status --json
	[ "$status" -eq 1 ]
	[ "$(jq -c '[.running, .record]' <<<"$output")" = '[false,[]]' ]
}

@test "calibrate: a watch without privileges is refused" {
	[ "$(id -u)" -eq 0 ] || skip "needs root, to give it up"
	command -v setpriv >/dev/null || skip "needs setpriv"
	chmod 777 . "$TARE_RUNTIME_DIR"
	mkdir -m 700 mine
	chown nobody mine
	run env TARE_RUNTIME_DIR="$PWD/mine" TARE_LAB="$PWD/mine/lab.db" setpriv --reuid nobody --clear-groups \
		"$TARE" calibrate --watch
	[ "$status" -eq 3 ]
}

# studied OPTION...: `tare calibrate --from-watch` with these, as soon as enough was watched: on a busy
# machine little of a CPU is left to the program that windows stand for
studied() {
	for ((i = 0; i < 60; i++)); do
		run "$TARE" calibrate --from-watch "$@"
		[ "$status" -ne 0 ] || return 0
		sleep 0.5
	done
	echo "$output"
	return 1
}

# bats test_tags=slow
@test "calibrate: a watch goes on in the background, and is studied while it goes" {
	needs_root
	run "$TARE" calibrate --watch
	[ "$status" -eq 0 ]
	[[ "$output" == "watching: watch 1, pid "* ]]
	pid=$("$TARE" calibrate --watch-status --json | jq .pid)
	[ "$(ps -o sid= -p "$pid" | tr -d ' ')" = "$pid" ]
	refused "a watch is running already, pid $pid" --watch
	refused "a watch is running already, pid $pid" --watch --foreground
	"$TARE" daemon --name beater -p 200ms -w 20ms -n 10 --cpu 0 2>/dev/null
	studied --length 5ms --cpu 0 --json
	[ "$(jq -c '[.daemons[] | select(.name == "beater")] | length' <<<"$output")" -eq 1 ]
	[ "$("$TARE" cutoffs studies --json | jq -r '.[0].source')" = watch ]
	refused "no CPU 1000 on record" --from-watch --cpu 1000
	refused "has 0 windows of 3600 s" --from-watch --length 1h
	if python3 -c 'import jsonschema' 2>/dev/null; then
		"$TARE" calibrate --watch-status --json >status.json
		python3 - "$schemas/watch-status.schema.json" status.json <<-'END'
			import json, jsonschema, sys
			schema, document = (json.load(open(name)) for name in sys.argv[1:])
			jsonschema.Draft202012Validator(schema).validate(document)
			assert set(document) == set(schema["properties"]), document
		END
	fi
	run "$TARE" calibrate --watch-stop
	[ "$status" -eq 0 ]
	[[ "$output" == "stopped: watch 1, "* ]]
	for ((i = 0; i < 100; i++)); do
		[ -e "/proc/$pid" ] || break
		sleep 0.05
	done
	[ ! -e "/proc/$pid" ]
	run "$TARE" calibrate --watch-stop
	[ "$status" -eq 1 ]
}

# bats test_tags=slow
@test "calibrate: a watch that was killed leaves what it had; the next one adds to it" {
	needs_root
	"$TARE" calibrate --watch -q
	pid=$("$TARE" calibrate --watch-status --json | jq .pid)
	sleep 1
	studied --length 2ms --no-store -q # it stores what there is
	kill -9 "$pid"
	while [ -e "/proc/$pid" ]; do sleep 0.01; done
	"$TARE" calibrate --watch -q 1s
	for ((i = 0; i < 200; i++)); do
		"$TARE" calibrate --watch-status >/dev/null 2>&1 || break
		sleep 0.05
	done
	run "$TARE" calibrate --watch-status --json
	[ "$status" -eq 1 ]
	[ "$(jq -c '[.record[] | .going]' <<<"$output")" = '[false,false]' ]
	[ "$(jq '[.record[] | .covered_ns] | add > 1500000000' <<<"$output")" = true ]
	studied --length 2ms
	[[ "$output" == *"in 2 stretches"* ]]
}

# bats test_tags=long
@test "calibrate: a watch in the foreground ends after its time, or by Ctrl-C" {
	needs_root
	run "$TARE" calibrate --watch=300ms --foreground
	[ "$status" -eq 0 ]
	[[ "$output" == "watched: "* ]]
	env --default-signal=INT timeout -s INT --preserve-status 1 "$TARE" calibrate --watch --foreground
	[ "$("$TARE" calibrate --watch-status --json | jq '.record | length')" -eq 2 ]
}

# on a CPU that others have all the time, half a second has no window
# bats test_tags=slow
@test "calibrate: a study of watches is of the machine that they saw; a watch is removed" {
	needs_root
	command -v sqlite3 >/dev/null || skip "needs sqlite3"
	"$TARE" calibrate --watch -q
	studied --length 2ms --no-store -q
	refused "watch 1 is going" --watch-rm 1
	"$TARE" calibrate --watch-stop -q
	# as if the kernel had been updated since
	sqlite3 lab.db "UPDATE machine SET fingerprint = 'older', facts_text = NULL, facts =
		CAST(replace(CAST(facts AS TEXT), 'kernel.release=', 'kernel.release=older-') AS BLOB)"
	sqlite3 lab.db "PRAGMA wal_checkpoint(TRUNCATE)" >/dev/null
	before=$(sha256sum <lab.db)
	studied --length 2ms --no-store --json
	[[ "$(jq -r '.machine.facts["kernel.release"]' <<<"$output")" == older-* ]]
	[ "$(sha256sum <lab.db)" = "$before" ]
	studied --length 2ms
	[[ "$output" != *"was made with kernel"* ]]
	[ "$(sql "SELECT count(*) FROM machines")" = 1 ]
	[ "$(sql "SELECT machine FROM studies")" = 1 ]
	"$TARE" calibrate --watch=500ms --foreground -q
	studied --length 2ms
	[[ "$output" == *"watch 1 was made with kernel older-"* ]]
	[ "$(sql "SELECT max(machine) FROM studies")" = 2 ]
	run "$TARE" calibrate --watch-rm 1
	[ "$status" -eq 0 ]
	[ "$output" = "removed: watch 1" ]
	[ "$("$TARE" calibrate --watch-status --json | jq -c '[.record[].watch]')" = '[2]' ]
	studied --length 2ms
	[[ "$output" != *"was made with kernel"* ]]
	[ "$("$TARE" cutoffs studies --json | jq length)" -eq 3 ]
	refused "there is no watch 1" --watch-rm 1
}
