#!/usr/bin/env bats
# tare noise as a user types it, on CPU 1 (0 where only one may be used); the binary is $TARE.

setup() {
	: "${TARE:?set TARE to the binary under test}"
	cd "$BATS_TEST_TMPDIR" || return 1
	export TARE_LAB=$BATS_TEST_TMPDIR/lab.db
	CPU=$(($(nproc) > 1))
}

needs_root() {
	if [ "$(id -u)" -ne 0 ]; then
		[ "${TARE_TEST_REQUIRE:-0}" != 1 ] || return 1
		skip "needs root"
	fi
}

# Names need BPF, which only root has.
needs_names() {
	needs_root
	if ! "$TARE" --version | grep -q '^ *bpf  *can be used'; then
		[ "${TARE_TEST_REQUIRE:-0}" != 1 ] || return 1
		skip "needs BPF"
	fi
}

# A home that user 65534 can reach; bats' own folders are closed to others.
users_home() {
	home=$(mktemp -d /tmp/tare-home.XXXXXX)
	chown 65534:65534 "$home"
	chmod 755 "$home"
}

# flat: the output of the last `run` with errors as one line, not wrapped
flat() {
	output=$(tr -s ' \n' ' ' <<<"$output")
}

# daemon NAME SECONDS [OPTIONS]: a synthetic daemon on $CPU, 3 ms every 200 ms, in the background
daemon() {
	"$TARE" daemon --name "$1" --cpu "$CPU" --period 200ms --work 3ms --count $(($2 * 5)) "${@:3}" \
		>/dev/null 3>&- &
	daemon=$!
	sleep 0.3
}

teardown() {
	[ -z "${daemon:-}" ] || kill "$daemon" 2>/dev/null || true
	[ -z "${home:-}" ] || rm -rf "$home"
}

@test "noise: bad input is told, with 2, and makes no lab" {
	while read -r arguments; do
		echo "tare noise $arguments"
		# shellcheck disable=SC2086
		run "$TARE" noise $arguments
		[ "$status" -eq 2 ]
		[[ "$output" == "tare: "* ]]
	done <<-'END'
		-d 0
		-d 0s
		-d -1
		-d soon
		-d 9ms
		top -d 1us
		-c 9999 -d 1s
		-c 0-1023 -d 1s
		-c x -d 1s
		-c 1-0 -d 1s
		-t 0ns -d 1s
		-t 5000s -d 1s
		-t 5 -d 1s
		-t fast -d 1s
		-P 0 -d 1s
		-P 100 -d 1s
		-P r:5 -d 1s
		--round 0 -d 1s
		--round 1h -d 1s
		--zoom 110us:100us -d 1s
		--zoom 5us:5us -d 1s
		--zoom 5us -d 1s
		--zoom 1:20 -d 1s
		--zoom 1us:20 -d 1s
		--zoom 0:20 -d 1s
		--zoom :20us -d 1s
		--zoom 1us:2us --json -d 1s
		--baseline --no-lab -d 1s
		--worst -1 -d 1s
		--most -1 -d 1s
		--mode both -d 1s
		-n last -d 1s
		record now
		topp
		show 1 2
		show
		diff 1 2 3
		diff
		diff --fail-if-new x
		diff --fail-if-new 50
		diff --fail-if-new 0.5
		hist -b 0 -d 1s
		hist -E 0 -d 1s
		selftest -d 1s
		selftest -c 9999
		selftest now
	END
	[ ! -e "$TARE_LAB" ]
	run "$TARE" noise -c 1023 -d 1s
	[[ "$output" == *"no CPU 1023"*"0"* ]]
	run "$TARE" noise topp
	[[ "$output" == *"tare noise top"* ]]
	run "$TARE" noise diff --fail-if-new 50
	[[ "$output" == *"write 50us"* ]]
	run "$TARE" noise show --zoom 1us:20
	[[ "$output" == *"write 20us"* ]]
	run "$TARE" noise hist 4
	[[ "$output" == *"of a stored run: 'tare noise show RUN --histogram'"* ]]
	run "$TARE" noise top 4
	[[ "$output" == *"of a stored run: 'tare noise show RUN'"* ]]
}

@test "noise: every subcommand has its help" {
	for sub in "" record top hist show diff selftest; do
		# shellcheck disable=SC2086
		run "$TARE" noise $sub --help
		[ "$status" -eq 0 ]
		[[ "$output" == "Usage: tare noise"* ]]
		[ "${#lines[@]}" -le 40 ]
	done
}

@test "noise: a CPU that this process may not use is refused" {
	[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"
	run taskset -c 0 "$TARE" noise -c 1 -d 1s
	[ "$status" -eq 2 ]
	flat
	[[ "$output" == *"CPU 1 may not be used"* ]]
	# the only one left is measured when none is chosen
	run taskset -c 0 "$TARE" noise -d 300ms --no-kernel
	[ "$status" -eq 0 ]
	[[ "$output" == *"measuring CPU 0"*"no CPU is left for tare itself"* ]]
}

# bats test_tags=slow
@test "noise: measured, stored, shown the same again" {
	"$TARE" noise record -c "$CPU" -d 2s -n quiet --tag note >out 2>err
	# what is said where there is one CPU only
	run grep -v "no CPU is left for tare itself" err
	[ -z "$output" ]
	while IFS= read -r line; do [ "${#line}" -le 80 ]; done <out
	run grep -c $'\033' out
	[ "$output" -eq 0 ]
	for again in "noise show" "noise show 1" "noise show quiet" "noise show last" show "show quiet"; do
		# shellcheck disable=SC2086
		"$TARE" $again >again
		cmp out again
	done
	"$TARE" list --json | jq -e '.[0] | .name == "quiet" and .status == "complete" and .kind == "cpu"'
	"$TARE" sql --tsv "SELECT name FROM runs" | grep -qx quiet
	[ "$("$TARE" noise show --per-cpu --histogram --density | wc -l)" -gt "$(wc -l <out)" ]
	"$TARE" noise show --mode succession | grep -q .
	"$TARE" noise show --zoom 1us:1s | grep -q .
}

# bats test_tags=slow
@test "noise: the default leaves one CPU to tare and says which are measured" {
	[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"
	run "$TARE" noise -d 300ms --no-lab
	[ "$status" -eq 0 ]
	[[ "$output" == *"measuring CPU"* ]]
	[ ! -e "$TARE_LAB" ]
	run "$TARE" noise -c all -d 300ms -q
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[[ "$("$TARE" list)" == *"noise of CPUs 0"* ]]
}

# bats test_tags=slow
@test "noise: JSON, CSV and Perfetto are the same from tare export" {
	"$TARE" noise -c "$CPU" -d 1s --json --export-csv a.csv --export-perfetto a.pftrace >a.json
	jq -e 'type == "object"' a.json
	[ "$(wc -l <a.csv)" -ge 2 ]
	[ -s a.pftrace ]
	"$TARE" show --json | jq -S . >b.json
	jq -S . a.json | cmp - b.json
	"$TARE" export | jq -S . | cmp - b.json
	"$TARE" noise show --export-json - | jq -S . | cmp - b.json
	"$TARE" export -f csv | cmp - a.csv
	"$TARE" noise show --histogram --export-csv - >histogram.csv
	[[ "$(head -1 histogram.csv)" == bucket_low_ns,bucket_high_ns,count,* ]]
	[ "$(awk -F, 'NR > 1 { n += $3 } END { print n }' histogram.csv)" -eq "$(jq .together.detours.count a.json)" ]
	"$TARE" export --perfetto -o b.pftrace
	cmp a.pftrace b.pftrace
	for bad in "export -f markdown 1" "export -x 1" "export --perfetto 1 1" "show --ledger 1" "show -p 1" "explain 1"; do
		# shellcheck disable=SC2086
		run "$TARE" $bad
		[ "$status" -eq 2 ]
		[[ "$output" == *"tare noise"* ]]
	done
}

# bats test_tags=long
@test "noise: hist is what rtla's users know" {
	run "$TARE" noise hist -c "$CPU" -d 1s -b 10 -E 5
	[ "$status" -eq 0 ]
	[[ "$output" == *"Index"*"CPU-00$CPU"* ]]
	[[ "$output" == *"over:"*"count:"*"min:"*"avg:"*"max:"* ]]
	"$TARE" list --json | jq -e 'length == 1'
}

# bats test_tags=slow
@test "noise: top without a terminal is a block each second, then the report" {
	run "$TARE" noise top -c "$CPU" -d 2s
	[ "$status" -eq 0 ]
	[[ "$output" != *$'\033'* ]]
	"$TARE" noise show >shown
	[ "${#lines[@]}" -gt "$(grep -c . shown)" ]
	[[ "$output" == *"$(cat shown)" ]]
	"$TARE" noise top -c "$CPU" -d 1s --no-lab --export-csv - >top.csv
	head -1 top.csv | grep -q '^source,class,'
	fields=$(head -1 top.csv | tr -cd , | wc -c)
	[ "$(wc -l <top.csv)" -ge 2 ]
	while IFS= read -r line; do [ "$(tr -cd , <<<"$line" | wc -c)" -eq "$fields" ]; done <top.csv
}

# bats test_tags=slow
@test "noise: interrupted in the middle, what was seen is told and kept" {
	stored=0
	for signal in INT TERM; do
		# a shell without job control has it ignored by what runs in the background
		env --default-signal=INT "$TARE" noise -c "$CPU" -d 60s >out 2>err 3>&- &
		pid=$!
		stored=$((stored + 1))
		for _ in $(seq 100); do
			seen=$("$TARE" sql --tsv "SELECT count(*) FROM noise_runs" 2>/dev/null | tail -1) || true
			[ "${seen:-0}" -lt $stored ] || break
			sleep 0.2
		done
		"$TARE" noise show $stored | head -3 | grep -q "still going"
		sleep 0.3
		kill -$signal $pid
		status=0
		wait $pid || status=$?
		[ "$status" -eq 130 ]
		grep -q interrupted err
		"$TARE" list --json | jq -e '.[0].status == "interrupted"'
		"$TARE" noise show >again
		cmp out again
		head -3 out | grep -q interrupted
	done
}

@test "noise: interrupted before anything was seen, it leaves no whole run" {
	"$TARE" noise -c "$CPU" -d 60s >out 2>err 3>&- &
	pid=$!
	sleep 0.02
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	# before it watches for signals the shell's word is 143
	[ "$status" -eq 130 ] || [ "$status" -eq 143 ]
	[ ! -e "$TARE_LAB" ] || "$TARE" list --json | jq -e 'all(.status == "interrupted")'
}

# bats test_tags=long
@test "noise: --no-kernel has detours without names, and says so" {
	run "$TARE" noise -c "$CPU" -d 1s --no-kernel
	[ "$status" -eq 0 ]
	flat
	[[ "$output" == *"not asked for"* ]]
	"$TARE" export -f csv >out.csv
	if grep -qE '(^|,)(irq|thread|softirq)(,|$)' out.csv; then return 1; fi
}

# bats test_tags=slow
@test "noise: as an ordinary user it works and says what is missing" {
	needs_root
	users_home
	cp "$TARE" "$home/tare"
	as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups env -u SUDO_UID HOME="$home" TARE_LAB= "$@"; }
	cd "$home"
	run as_nobody "$home/tare" noise -c "$CPU" -d 1s
	[ "$status" -eq 0 ]
	flat
	[[ "$output" == *"Not seen: who caused a detour"*"Run as root to have names."* ]]
	[ -f "$home/.local/share/tare/lab.db" ]
	run as_nobody "$home/tare" noise -c "$CPU" -d 1s -P f:10
	[ "$status" -eq 3 ]
	[[ "$output" == *"root"* ]]
	run as_nobody "$home/tare" noise selftest -d 2s
	[ "$status" -eq 3 ]
}

# bats test_tags=slow,alone
@test "noise: the sources of a CPU have names" {
	needs_names
	"$TARE" noise -c "$CPU" -d 2s >/dev/null
	"$TARE" export -f csv >out.csv
	grep -qE '(^|,)irq(,|$)' out.csv
	grep -qE '(^|,)delivery(,|$)' out.csv
}

# bats test_tags=slow,alone
@test "noise: a daemon is found by name, and is new against a baseline without it" {
	needs_names
	"$TARE" noise -c "$CPU" -d 2s -n before --baseline -q
	run "$TARE" noise diff baseline before --fail-if-new 0
	[ "$status" -eq 0 ]
	daemon intruder 6
	"$TARE" noise -c "$CPU" -d 3s -n after -q
	"$TARE" noise show --most 0 | grep -q intruder
	"$TARE" noise show --zoom 2ms:10ms | grep -q intruder
	run "$TARE" noise diff --fail-if-new 1ms
	[ "$status" -eq 1 ]
	[[ "$output" == *"new source intruder"* ]]
	run "$TARE" noise diff after --fail-if-new 1ms
	[ "$status" -eq 1 ]
	run "$TARE" noise diff before after --fail-if-new 10s
	[ "$status" -eq 0 ]
	# the other way round it is gone
	run "$TARE" noise diff after before --fail-if-new 1ms --density
	[[ "$output" == *intruder* && "$output" != *"new source intruder"* ]]
	"$TARE" noise diff --json before after | jq -e 'type == "object"'
}

# bats test_tags=slow,alone
@test "noise: a new source that came only once is caught" {
	needs_names
	"$TARE" noise -c "$CPU" -d 2s -n before --baseline -q
	# longer than any pause between rounds
	"$TARE" daemon --name onlyonce --cpu "$CPU" --period 1500ms --work 100ms --count 1 >/dev/null 3>&- &
	daemon=$!
	"$TARE" noise -c "$CPU" -d 4s -q
	run "$TARE" noise diff --fail-if-new 1ms
	[ "$status" -eq 1 ]
	flat
	[[ "$output" == *"new source onlyonce"* ]]
}

# bats test_tags=slow,alone
@test "noise: a run does not differ from itself" {
	"$TARE" noise -c "$CPU" -d 3s -q
	run "$TARE" noise diff last last --fail-if-new 0
	[ "$status" -eq 0 ]
	run "$TARE" noise diff
	[ "$status" -eq 2 ]
	flat
	[[ "$output" == *"no baseline"*"tare noise record --baseline"* ]]
	"$TARE" noise -c "$CPU" -d 100ms -q --baseline
	run "$TARE" noise diff
	[ "$status" -eq 2 ]
	flat
	[[ "$output" == *"run 2 is the baseline itself"*"records another"* ]]
	run "$TARE" noise diff 2
	[ "$status" -eq 2 ]
	run "$TARE" noise diff 2 2
	[ "$status" -eq 0 ]
	"$TARE" noise diff 1 | grep -q "not surely grown or shrunk ("
	"$TARE" time -N -w 0 -r 1 --style none true >/dev/null
	run "$TARE" noise diff 1 3
	[ "$status" -eq 2 ]
	run "$TARE" noise show 3
	[ "$status" -eq 2 ]
	# the newest run of noise, not the newest
	[ "$("$TARE" noise show)" = "$("$TARE" noise show 2)" ]
}

# bats test_tags=slow,alone
@test "noise: loops may be of the real-time class" {
	needs_root
	run "$TARE" noise -c "$CPU" -d 2s -P f:50
	[ "$status" -eq 0 ]
	"$TARE" list --json | jq -e '.[0].status == "complete"'
	run "$TARE" noise -c "$CPU" -d 500ms -P 1 -q
	[ "$status" -eq 0 ]
}

# bats test_tags=slow,alone
@test "noise: selftest passes" {
	needs_names
	if [ "${TARE_TEST_SANITIZED:-0}" = 1 ]; then
		# a sanitized loop is slow: it need not find all, but must run to the end
		run "$TARE" noise selftest -c "$CPU" -d 2s
		echo "$output"
		[ "$status" -le 1 ]
		[[ "$output" == *"Experiment 2.3"*"checks"* ]]
		return 0
	fi
	# The host may take the CPU away just where an activation is: that hides it. Not three times.
	for _ in 1 2 3; do
		run "$TARE" noise selftest -c "$CPU" -d 3s
		echo "$output"
		[ "$status" -eq 1 ] || break
	done
	[ "$status" -eq 0 ]
	[[ "$output" == *"Experiment 2.1"*"Experiment 2.2"*"Experiment 2.3"*"All "*" checks passed."* ]]
	[[ "$output" != *FAIL* ]]
	# the names have the selftest's process in them; others may run theirs
	name=$(grep -oE 'dummy1\.[0-9]+' <<<"$output" | head -1)
	[ -n "$name" ]
	if pgrep -x "dummy[12]\\.${name#*.}"; then return 1; fi
}
