#!/usr/bin/env bats
# tare noise as a user types it, on CPU 1 (0 where only one may be used); the binary is $TARE.

load common

setup() {
	: "${TARE:?set TARE to the binary under test}"
	cd "$BATS_TEST_TMPDIR" || return 1
	export TARE_LAB=$BATS_TEST_TMPDIR/lab.db
	CPU=$(($(nproc) > 1))
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
	[ -z "${cpuset:-}" ] || rmdir "$cpuset" 2>/dev/null || true
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

# bats test_tags=long
@test "noise: a CPU outside the inherited mask is measured, by -c, by all and by default" {
	[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"
	for cpus in "-c 1" "-c 0,1" "-c all" ""; do
		# shellcheck disable=SC2086
		taskset -c 0 "$TARE" noise $cpus -d 200ms --no-kernel --no-lab --json >out.json 2>err
		jq -e '.settings.cpus | index(1)' out.json
	done
	# tare itself stays on the first CPU of its mask: the default leaves it out
	taskset -c 1 "$TARE" noise -d 200ms --no-kernel --no-lab --json >out.json
	jq -e '.settings.cpus | index(0) != null and index(1) == null' out.json
	run taskset -c 0 "$TARE" noise -c all -d 200ms --no-kernel --no-lab
	[ "$status" -eq 0 ]
	[[ "$output" == *"no CPU is left for tare itself"* ]]
	needs_root # of profiles and duets
	taskset -c 0 "$TARE" profile -c 1 -d 200ms -q
	"$TARE" show --json | jq -e '.run.conditions.cpus == "1"'
	taskset -c 0 "$TARE" duet -N --cpu 1 --max-time 2s true true >/dev/null
	"$TARE" show --json | jq -e '.cpus == "1"'
	# whoever asks keeps its mask
	[ "$(taskset -c 0 bash -c '"$0" noise -c 1 -d 100ms --no-kernel --no-lab -q; taskset -cp $$' "$TARE" | tail -c 2)" = 0 ]
}

# in_cpuset LIST COMMAND...: in a cgroup that may use these CPUs only
in_cpuset() {
	cpuset=$(awk '$3 == "cgroup" && $4 ~ /cpuset/ { print $2; exit }' /proc/self/mounts)
	if [ -z "$cpuset" ]; then
		cpuset=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
		grep -qw cpuset "$cpuset/cgroup.subtree_control" || skip "needs a cpuset"
	fi
	cpuset=$cpuset/tare-test-$$
	[ -d "$cpuset" ] || mkdir "$cpuset" || skip "needs a cgroup that can be made"
	echo "$1" >"$cpuset/cpuset.cpus" || skip "needs a cpuset that can be set"
	cat "${cpuset%/*}"/cpuset.mems >"$cpuset/cpuset.mems" 2>/dev/null || true
	shift
	bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$cpuset" "$@"
}

# bats test_tags=long
@test "noise: a CPU that the cpuset forbids is refused with that reason, also by time and calibrate" {
	needs_root
	[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"
	for command in "noise -c 1 -d 200ms" "time --cpu 0-1 true" "calibrate --cpu 1"; do
		# shellcheck disable=SC2086
		run in_cpuset 0 "$TARE" $command
		[ "$status" -eq 2 ]
		flat
		[[ "$output" == *"the cgroup of this process, "*"/tare-test-$$, may not use CPU 1"*"cpuset leaves it out"* ]]
	done
	# what may be used is measured; a profile only looks at the CPU
	in_cpuset 0 "$TARE" noise -c all -d 200ms --no-kernel --no-lab --json >out.json 2>err
	jq -e '.settings.cpus == [0]' out.json
	in_cpuset 0 "$TARE" profile -c 1 -d 200ms -q
	[ ! -e "$TARE_LAB" ] || "$TARE" list --json | jq -e 'all(.kind == "system")'
}

# bats test_tags=long
@test "noise: another tare noise on the CPU is warned about, and is a source of that name" {
	"$TARE" noise -c "$CPU" -d 60s -q --no-lab --no-kernel 3>&- &
	daemon=$!
	for _ in $(seq 50); do
		grep -qsx "tare-loop/$CPU" /proc/$daemon/task/*/comm && break
		sleep 0.1
	done
	"$TARE" noise -c "$CPU" -d 2s --json >out.json 2>err
	grep -q "another tare noise ($daemon) measures CPU $CPU already" err
	run "$TARE" noise -c "$CPU" -d 100ms -q --no-lab --no-kernel
	[ -z "$output" ]
	if jq -e .settings.kernel out.json; then
		jq -e --arg name "another tare noise ($daemon)" 'any(.together.sources[]; .name == $name and .class == "thread")' out.json
		"$TARE" export -f csv | grep -q "^another tare noise ($daemon),thread,"
	fi
	kill "$daemon"
	wait "$daemon" || true
	# nobody is left to warn about, unless another test measures there
	"$TARE" noise -c "$CPU" -d 100ms --no-lab --no-kernel 2>err >/dev/null
	run grep "($daemon)" err
	[ "$status" -eq 1 ]
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

# bats test_tags=slow
@test "noise: the speed of each CPU is watched over time, unless --no-speed" {
	"$TARE" noise -c all -d 1s --round 300ms --json 2>/dev/null >a.json
	jq -e '.run.conditions.speed and .together.speed == null and
		(.cpus | length > 0 and all(.speed | .probes > 0 and (.points | length > 1)))' a.json
	# points of one length, in order, within the run, which add up
	jq -e '.elapsed_ns as $elapsed | .cpus | all(.speed | . as $s |
		.probes == ([.points[].probes] | add) and .left_out == ([.points[].left_out] | add) and
		(.points | all(.length_ns == $s.point_ns and .begin_ns % .length_ns == 0 and
			.begin_ns < $elapsed and (.probes == 0) == (.chain_ns == null))) and
		([.points[].begin_ns] | . == (unique)))' a.json
	jq -e '.cpus | all(.speed | (.least == null or (.least > 0 and .least <= 1)) and
		(.work | .chain.best_ns <= .chain.worst_ns and .loads.best_ns <= .loads.worst_ns))' a.json
	"$TARE" show | grep -q "^  CPU speed "
	[ "$("$TARE" sql --tsv "SELECT sum(probes) > 0 FROM noise_speed" | tail -1)" -eq 1 ]
	"$TARE" noise -c "$CPU" -d 300ms --no-speed --json >b.json
	jq -e '(.run.conditions.speed | not) and all(.cpus[]; .speed == null)' b.json
	run "$TARE" show
	[ "$status" -eq 0 ]
	[[ "$output" != *"CPU speed"* ]]
	"$TARE" rm 1
	[ "$("$TARE" sql --tsv "SELECT count(*) FROM noise_speed" | tail -1)" -eq 0 ]
}

@test "noise: SMIs are a number where the CPU counts them, and unknown elsewhere" {
	"$TARE" noise -c "$CPU" -d 300ms --json 2>/dev/null >a.json
	if [ -e /sys/bus/event_source/devices/msr/events/smi ]; then
		"$TARE" doctor --facts | grep -qx cpu.smi_count=yes
		[ "$(id -u)" -ne 0 ] || jq -e 'all(.cpus[].smi; .count >= .explained and .explained >= 0)' a.json
		return
	fi
	"$TARE" doctor --facts | grep -qx cpu.smi_count=no
	"$TARE" doctor | grep -q "SMIs) are not counted here \[smi\]"
	jq -e 'all(.together, .cpus[]; .smi == {count: null, explained: null} and .detours.class_ns.smi == null)' a.json
	"$TARE" sql --tsv "SELECT smi_count IS NULL AND smi_explained IS NULL AND smi_ns IS NULL FROM noise_runs" | tail -1 | grep -qx 1
	run "$TARE" noise show
	[ "$status" -eq 0 ]
	[[ "$output" != *[sS][mM][iI]* ]]
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
	[[ "$output" == *"Not seen: who caused a detour (not asked for)"* && "$output" != *unexplained* ]]
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
	[[ "$output" == *"Not seen: who caused a detour (naming sources needs root, or CAP_BPF and CAP_PERFMON): only lengths are known."* ]]
	[[ "$output" == *"Lengths half below"* ]]
	for shown in "noise show --histogram --per-cpu" "noise show --mode succession" "noise show --zoom 1us:1s" "noise show --json" "noise show --export-csv -"; do
		# shellcheck disable=SC2086
		run as_nobody "$home/tare" $shown
		[ "$status" -eq 0 ]
		[[ "$output" == *'"unexplained": null'* || "$output" != *unexplained* ]]
	done
	as_nobody "$home/tare" noise show --json | jq -e '.together | .sources == [] and .combinations == [] and all(.coverage[]; .named == null)'
	run as_nobody "$home/tare" noise diff 1 1 --fail-if-new 0
	[ "$status" -eq 5 ]
	[[ "$output" == "Sources have names in neither of the two;"*"cannot be told: the run has no names"* ]]
	[[ "$output" != *"Source, class"* ]]
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
	"$TARE" noise -c "$CPU" -d 5s --round 250ms -n before --baseline -q
	run "$TARE" noise diff baseline before --fail-if-new 0
	[ "$status" -eq 0 ]
	daemon intruder 9
	"$TARE" noise -c "$CPU" -d 5s --round 250ms -n after -q
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
	"$TARE" noise diff --json before after | jq -e 'any(.sources[]; .name == "intruder" and .change == "new")'
}

# bats test_tags=slow,alone
@test "noise: diff says the same in heading, table, JSON and exit code" {
	needs_names
	"$TARE" noise -c "$CPU" -d 3s --round 250ms -n before -q
	# tasks that come once each: in one of the two only, which is no more than chance
	for i in $(seq 12); do
		"$TARE" daemon --name "once$i" --cpu "$CPU" --period "$((2000 + 150 * i))ms" --work 3ms --count 1 >/dev/null 3>&- &
	done
	"$TARE" noise -c "$CPU" -d 6s --round 250ms -n after -q
	wait
	for pair in "before after" "after before"; do
		# shellcheck disable=SC2086
		"$TARE" noise diff $pair --json >out.json
		new=$(jq '[.sources[] | select(.change == "new")] | length' out.json)
		jq -e '[.sources[] | select(.name | startswith("once"))] | length > 5 and all(.change == "unsure")' out.json
		jq -e '.counts.new + .counts.gone + .counts.grown + .counts.shrunk + .counts.same + .counts.unsure == (.sources | length)' out.json
		jq -e 'all(.sources[]; (.change == "unsure") == (.p == null or .p >= 0.05))' out.json
		# shellcheck disable=SC2086
		run "$TARE" noise diff $pair --fail-if-new 0
		[ "$status" -eq $((new > 0)) ]
		[ "$(grep -c "^new " <<<"$output")" -eq "$new" ]
		[ "$(grep -c "^tare: new source " <<<"$output")" -eq "$new" ]
		[[ "$output" != *once* ]]
		flat
		[[ "$output" == "No source is surely new"* || "$output" == [1-9]*" new source"* || "$new" -eq 0 ]]
		[[ "$output" == *" in one of the two only, too rarely to be sure)"* ]]
	done
}

# bats test_tags=slow,alone
@test "noise: a check that cannot be made is no failed check" {
	needs_names
	"$TARE" noise -c "$CPU" -d 1s -n short -q
	run "$TARE" noise diff short short --fail-if-grown 10%
	[ "$status" -eq 5 ]
	flat
	[[ "$output" == *"whether the noise grew cannot be told"*"longer runs tell"* ]]
	"$TARE" noise -c "$CPU" -d 1s --no-kernel -n nameless -q
	for pair in "short nameless" "nameless short"; do
		# shellcheck disable=SC2086
		run "$TARE" noise diff $pair --fail-if-new 0
		[ "$status" -eq 5 ]
		[[ "$output" == "Sources have names in one of the two only"*"whether a source is new cannot be told"* ]]
		[[ "$output" != *"Source, class"* ]]
	done
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
	"$TARE" noise diff 1 >out
	[ ! -s out ] || grep -Eq "have no sure change \\(|names in neither" out
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
