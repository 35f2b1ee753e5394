#!/usr/bin/env bats
# tare emp, and --emp, --quiet and --no-cutoffs of tare time, as a user types them; the binary is
# $TARE.

load common

setup() {
	: "${TARE:?set TARE to the binary under test}"
	cd "$BATS_TEST_TMPDIR" || return 1
	export TARE_LAB=$BATS_TEST_TMPDIR/lab.db
	export TARE_RUNTIME_DIR=$BATS_TEST_TMPDIR/run
}

# flat: the output of the last `run` as one line, not wrapped
flat() {
	output=$(tr -s ' \n' ' ' <<<"$output")
}

teardown() {
	[ -z "${bee:-}" ] || kill "$bee" 2>/dev/null || true
	[ -z "${child:-}" ] || kill -9 "$child" 2>/dev/null || true
	[ -z "${home:-}" ] || rm -rf "$home"
}

# tree: files that stand for a machine, to be made quiet
tree() {
	export TARE_QUIET_ROOT=$BATS_TEST_TMPDIR/machine
	boost=$TARE_QUIET_ROOT/sys/devices/system/cpu/cpufreq/boost
	swappiness=$TARE_QUIET_ROOT/proc/sys/vm/swappiness
	mkdir -p "${boost%/*}" "${swappiness%/*}"
	echo 1 >"$boost"
	echo 60 >"$swappiness"
}

# is_loud: the tree is as it was
is_loud() {
	[ "$(grep -h . "$boost" "$swappiness")" = $'1\n60' ]
}

# measure [OPTIONS]: twelve executions, and a warm-up
measure() {
	"$TARE" time -N -r 12 --no-ledger --no-speed --style none -n twelve "$@" true >/dev/null
}

@test "emp: a row for each version, within 80 columns" {
	measure
	run "$TARE" emp
	[ "$status" -eq 0 ]
	[[ "$output" == "Run 1: twelve"* ]]
	for v in 0 1 2 3 4 5 6; do
		[[ "$output" == *$'\n v'$v"  "* ]]
	done
	[[ "$output" != *"samples are enough"* ]]
	run "$TARE" emp --sizes twelve
	[ "$status" -eq 0 ]
	[[ "$output" == *$'\n12  '* && "$output" == *$'\n10  '* ]]
	while IFS= read -r line; do [ "${#line}" -le 80 ]; done <<<"$output"
}

@test "emp: the versions agree with what tare show says" {
	measure
	"$TARE" emp --json --sizes >emp.json
	"$TARE" show --json >show.json
	jq -e '[.versions[].version] == ["v0", "v1", "v2", "v3", "v4", "v5", "v6"]' emp.json
	jq -e '[.versions[:5][] | .n == 12 and .dropped_outside == 0] | all' emp.json
	# rounded, for their last digits are those of sums in another order
	for of in kept:5 unfiltered:4; do
		shown=$(jq ".results[0].tare.protocol | .measures[.headline].${of%:*}.mean_ns | round" show.json)
		[ "$(jq ".versions[${of#*:}].value.mean_ns | round" emp.json)" = "$shown" ]
	done
	jq -e '.versions[5] | .n + .dropped_cutoff + .dropped_outside == 12' emp.json
	jq -e '.versions[6] | .n + .dropped_cutoff + .dropped_outside == 10' emp.json
	jq -e '[.sizes[].n] == [12, 10, 5]' emp.json
	"$TARE" emp --json | jq -e '.sizes == null'
}

@test "emp: CSV and Markdown have every row" {
	measure
	run "$TARE" emp --csv
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 8 ]
	[[ "${lines[0]}" == version,adds,held,* && "${lines[7]}" == v6,* ]]
	run "$TARE" emp --csv --sizes
	[ "${#lines[@]}" -eq 4 ]
	[[ "${lines[0]}" == n,recommended,* && "${lines[1]}" == 12,* ]]
	run "$TARE" emp --markdown
	[[ "${lines[0]}" == "| EMP |"* ]]
	[ "${#lines[@]}" -eq 9 ]
}

# ET and PT, in ms: one execution took longer, another used more.
@test "emp: rule II judges by the measure that is asked for" {
	awk 'BEGIN {
		print "run,sample,et_ns,pt_ns,daemon,daemon_pt_ns"
		for (i = 1; i <= 20; i++)
			printf "both,%d,%d000000,%d000000,,\n", i, i == 20 ? 300 : 110 + i % 2, i == 5 ? 109 : 100 + i % 2
	}' >both.csv
	"$TARE" import --here both.csv
	"$TARE" emp --json >pt.json
	jq -e '.versions[5] | .measure != "et" and .value.max_ns == 101e6 and .et.max_ns == 300e6' pt.json
	"$TARE" emp --json --sizes --measure et >et.json
	jq -e '.versions[5] | .measure == "et" and .value.max_ns == 111e6 and .et.max_ns == 111e6' et.json
	jq -e '.sizes[0].value.max_ns == 111e6' et.json
	"$TARE" emp -m et | grep -q "Rule II judges elapsed time"
	# a comparison drops the same ones: 300 ms of ET, or the fifth for its PT
	"$TARE" import --here both.csv
	"$TARE" compare -m et -f json 1 2 | jq -e '.[1] | .executions == 19 and .mean_ns < 111e6'
	"$TARE" show --json --measure et 1 | jq -e '.results[0].tare.protocol.measures.et.kept.max_ns == 111000000'
	"$TARE" report --json --measure et 1 | jq -e '.sections[0] | .rule2 != null and .lead == "et"'
	run "$TARE" emp -m net
	[ "$status" -eq 2 ]
	[[ "$output" == *"has pt_net"* ]]
}

@test "emp: what is not known of the machine is neither met nor unmet" {
	measure
	"$TARE" emp --json >emp.json
	# each of them is true, false or null, and the text agrees
	jq -e '.versions | map(.held) | all(. == true or . == false or . == null)' emp.json
	"$TARE" emp >text
	[ "$(grep -c 'Cannot be said: ' text)" -eq "$(jq '[.versions[] | select(.held == null)] | length' emp.json)" ]
	[ "$(grep -c 'Not met: ' text)" -eq "$(jq '[.versions[] | select(.held == false)] | length' emp.json)" ]
	[ "$("$TARE" emp --csv | python3 -c 'import csv, sys; print(sum(r["held"] == "" for r in csv.DictReader(sys.stdin)))')" -eq \
		"$(jq '[.versions[] | select(.held == null)] | length' emp.json)" ]
	# a kernel without cpufreq, as doctor has it
	if "$TARE" doctor --facts | grep -q "cpu.frequency.driver.*none"; then
		jq -e '.versions[3].held != true' emp.json
	fi
}

@test "emp: a run of which nothing counts is too few samples" {
	"$TARE" time -N -r 2 --style none false || true
	run "$TARE" emp --sizes
	[ "$status" -eq 0 ]
	[[ "$output" == *"0 samples: too few"* ]]
	"$TARE" emp --json --sizes | jq -e '.sizes == [] and .versions[5].value == null'
}

@test "emp: bad input is refused" {
	run "$TARE" emp
	[ "$status" -eq 2 ]
	[ ! -e "$TARE_LAB" ]
	measure
	for words in "no-such-run" "1 1" "--csv --json" "--markdown --csv" "--nonsense"; do
		# shellcheck disable=SC2086
		run "$TARE" emp $words
		[ "$status" -eq 2 ]
		[[ "$output" == *"tare: "* ]]
	done
	run "$TARE" emp --help
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -le 24 ]
}

@test "time: --no-cutoffs is kept with the run" {
	measure --no-cutoffs
	"$TARE" show --json | jq -e '.results[0].tare.conditions.cutoffs == false'
	measure
	"$TARE" show --json | jq -e '.results[0].tare | .conditions.cutoffs and .protocol.cutoffs == null'
	run "$TARE" show --no-cutoffs
	[ "$status" -eq 0 ]
}

# Every execution meets a busy bee: it computes for 10 ms in each 50 ms.
# bats test_tags=slow,alone
@test "time: rule I drops what a daemon above its cutoff was in" {
	needs_root
	"$TARE" daemon --name busybee --period 50ms --work 10ms >/dev/null 2>&1 &
	bee=$!
	"$TARE" time -N -r 6 --no-ledger --style none -n free "sleep 0.2" >/dev/null
	"$TARE" cutoffs set busybee 1ms
	run "$TARE" show
	[ "$status" -eq 0 ]
	[[ "$output" == *"0 of 6 kept"* && "$output" == *"dropped, rule I "*"busybee ran "* ]]
	[[ "$output" == *"Cutoffs  "*" 1 applied, for a program of "* ]]
	"$TARE" show --json >show.json
	jq -e '[.results[0].tare.protocol.drops[] | .rule == "I" and .daemon == "busybee" and
		.value_ns > .high_ns and .high_ns == 1e6] | length == 6 and all' show.json
	jq -e '[.results[0].tare.protocol.warnings[].id] | index("cutoffs_many")' show.json
	jq -e '.results[0].tare.protocol.measures.et | .kept == null and .unfiltered.n == 6' show.json
	"$TARE" show --executions | grep -q "I .*busybee ran"
	"$TARE" export -f csv | head -1 | grep -q dropped_cutoff
	"$TARE" emp --json | jq -e '.versions[5].dropped_cutoff == 6 and .versions[4].n == 6'
	# none of it, if it is not wanted
	"$TARE" show --no-cutoffs --json | jq -e '.results[0].tare.protocol |
		.cutoffs == null and ([.drops[].rule] | index("I")) == null'
	"$TARE" emp --no-cutoffs --json | jq -e '.versions[5].dropped_cutoff == 0'
	# compare keeps what show keeps
	run "$TARE" compare 1 1
	[ "$status" -eq 2 ]
	# a run that was made without them is shown without them
	"$TARE" time -N -r 2 --no-ledger --no-cutoffs --style none "sleep 0.2" >/dev/null
	"$TARE" show --json | jq -e '.results[0].tare.protocol.cutoffs == null'
	"$TARE" emp --json | jq -e '.versions[5].dropped_cutoff == 2'
}

# bats test_tags=slow,alone
@test "time: a cutoff holds for its range of lengths, and only above it" {
	needs_root
	"$TARE" daemon --name busybee --period 100ms --work 10ms >/dev/null 2>&1 &
	bee=$!
	"$TARE" time -N -r 3 --no-ledger --style none "sleep 0.4" >/dev/null
	"$TARE" cutoffs set busybee 1ms --from 10s
	"$TARE" show --json | jq -e '.results[0].tare.protocol | .cutoffs.hold == 0 and .drops == []'
	"$TARE" show | grep -q "none of 1 is for a program of"
	"$TARE" cutoffs set busybee 5s --below 10s
	"$TARE" show --json | jq -e '.results[0].tare.protocol |
		.cutoffs.count == 2 and .cutoffs.hold == 1 and .drops == []'
}

# bats test_tags=slow
@test "time: --quiet holds during the run and ends with it, whatever its end" {
	tree
	run "$TARE" time --quiet -N -w 0 -r 1 --show-output "grep -h . $boost $swappiness"
	[ "$status" -eq 0 ]
	[[ "$output" == $'0\n10\n'* && "$output" == *"Quiet  "*"turbo, swappiness"* ]]
	is_loud
	"$TARE" show --json | jq -e '[.results[0].tare.conditions.quiet[] | select(.state == "changed") |
		.knob] == ["turbo", "swappiness"]'
	run "$TARE" time --quiet -N -r 2 no-such-command
	[ "$status" -eq 2 ]
	is_loud
	run "$TARE" time --quiet -r 2 false
	[ "$status" -eq 4 ]
	is_loud
	"$TARE" time --quiet -N -r 2 --style none "sleep 60" >/dev/null 2>&1 &
	child=$!
	for _ in $(seq 200); do
		[ "$(cat "$swappiness")" = 60 ] || break
		sleep 0.1
	done
	[ "$(cat "$swappiness")" = 10 ]
	kill -TERM "$child"
	code=0
	wait "$child" || code=$?
	[ "$code" -eq 130 ]
	is_loud
}

@test "time: --quiet leaves alone what is quiet already" {
	tree
	"$TARE" quiet --only swappiness >/dev/null
	run "$TARE" time --quiet -N -w 0 -r 1 --show-output "grep -h . $boost $swappiness"
	[ "$status" -eq 0 ]
	[[ "$output" == $'1\n10\n'* && "$output" == *"by an earlier 'tare quiet'"* ]]
	[ "$(cat "$swappiness")" = 10 ]
	"$TARE" quiet --restore >/dev/null
	is_loud
}

@test "time: --quiet that had nothing to change leaves what is made quiet meanwhile" {
	tree
	echo 0 >"$boost"
	echo 10 >"$swappiness"
	run "$TARE" time --quiet -N -w 0 -r 1 "sh -c 'echo 60 >$swappiness; $TARE quiet'"
	[ "$status" -eq 0 ]
	[ "$(cat "$swappiness")" = 10 ]
	run "$TARE" quiet --status
	[[ "$output" == "Quiet since "*": 1 changes are to be put back." ]]
	"$TARE" quiet --restore >/dev/null
	[ "$(cat "$swappiness")" = 60 ]
}

# bats test_tags=slow
@test "time: --emp changes and keeps what its version says" {
	tree
	shown() {
		"$TARE" show --json | jq -e ".results[0].tare.conditions | $1"
	}
	run "$TARE" time --emp v2 -N -w 0 -r 1 --show-output "grep -h . $boost $swappiness"
	[ "$status" -eq 0 ]
	[[ "$output" == $'1\n60\n'* && "$output" == *"  EMP  "*" v2; "* ]]
	shown '.emp == "v2" and .keep_outliers and .cutoffs == false'
	run "$TARE" time --emp v6 -N --show-output "grep -h . $boost $swappiness"
	[ "$status" -eq 0 ]
	[[ "$output" == $'0\n60\n'* && "$output" == *"  EMP  "*" v6; "* ]]
	shown '.emp == "v6" and .keep_outliers == false and .cutoffs and .runs == 10'
	"$TARE" time --emp v6 -N -r 3 --style none true
	shown '.runs == 3'
	"$TARE" time --emp v5 -N -m 3 --min-time 0s --style none true
	shown '.runs == 0 and .min_runs == 3'
	is_loud
}

@test "time: --emp and --quiet want root, and say so before anything is made" {
	[ "$(id -u)" -eq 0 ] || skip "needs root, to be somebody else"
	home=$(mktemp -d /tmp/tare-home.XXXXXX)
	chown 65534:65534 "$home"
	# a build may lie where nobody else looks
	tare=$TARE
	if ! setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$TARE"; then
		tare=$home/tare
		cp "$TARE" "$tare"
	fi
	for option in --quiet "--emp v1" "--emp v6"; do
		# shellcheck disable=SC2086
		run setpriv --reuid 65534 --regid 65534 --clear-groups \
			env HOME="$home" TARE_LAB="$home/lab.db" "$tare" time $option true
		[ "$status" -eq 3 ]
		flat
		[[ "$output" == *"time: ${option%% *} changes settings of the machine, which takes root"* ]]
		[ ! -e "$home/lab.db" ]
	done
}

@test "time: --emp that contradicts other options is refused" {
	for words in "--emp v5 --keep-outliers" "--emp v6 --no-cutoffs" "--emp v7" "--emp"; do
		# shellcheck disable=SC2086
		run "$TARE" time $words true
		[ "$status" -eq 2 ]
		[[ "$output" == *"--emp"* ]]
	done
	[ ! -e "$TARE_LAB" ]
}
