#!/usr/bin/env bats
# Counters of a subject's tree; the binary is $TARE. Tests tagged `pmu` need a CPU that counts instructions and cycles:
# tests/run leaves them out where there is none. In QEMU with a fixed -icount and one CPU set TARE_TEST_ICOUNT=1:
# there instructions are exact. With several CPUs each of QEMU's counters has the instructions of all of them. On a real CPU
# an interrupt may add one.

setup() {
	export TARE_LAB="$BATS_TEST_TMPDIR/lab.db"
	COUNT="$(dirname "$TARE")/tests/programs/count"
}

has_pmu() {
	"$TARE" time --no-lab -N -w 0 -r 1 --style none --counters instructions:u true 2>/dev/null
}

# of EVENT [user|value]: that of each execution of the newest run, a number a line
of() {
	"$TARE" sql --csv "SELECT c.${2:-value} FROM counters c JOIN executions e ON e.id = c.execution
		WHERE c.run = (SELECT max(id) FROM runs) AND NOT e.warmup AND c.name = '$1' ORDER BY e.number" | tail -n +2
}

# near A B SHARE: whether A is within SHARE of B
near() {
	awk -v a="$1" -v b="$2" -v share="$3" 'BEGIN { d = a - b; d = d < 0 ? -d : d; exit !(d <= share * b) }' ||
		{ echo "$1 is not within $3 of $2"; return 1; }
}

# made INSTRUCTIONS CYCLES [MISSES]: gives the executions of the newest run such counters, in millions
made() {
	sqlite3 "$TARE_LAB" "INSERT INTO counter SELECT id, 0, 'instructions', $1 * 1000000 + number, $1 * 1000000 + number, 0, 1, 1
			FROM execution WHERE run = (SELECT max(id) FROM run);
		INSERT INTO counter SELECT id, 1, 'cycles', $2 * 1000000, $2 * 1000000, 0, 1, 1
			FROM execution WHERE run = (SELECT max(id) FROM run);
		INSERT INTO counter SELECT id, 2, 'cache-misses', ${3:-1} * 1000000, ${3:-1} * 1000000, 0, 2, 1
			FROM execution WHERE run = (SELECT max(id) FROM run)"
}

@test "time --counters counts what it is told, and shows a table" {
	run "$TARE" time -N -r 3 --style basic --counters page-faults,task-clock "$COUNT 1000 0 100 0"
	[ "$status" -eq 0 ]
	[[ "$output" == *"Counters "*"page-faults"* ]]
	[[ "$output" == *"Measurement"*"Mean"*"Outliers"* ]]
	[[ "$output" == *"task-clock"*"µs ±"* || "$output" == *"task-clock"*"ms ±"* ]]
	run "$TARE" show --counters
	[ "$status" -eq 0 ]
	[[ "$output" == *"elapsed time"*"page-faults"* ]]
	run bash -c "\"$TARE\" show --json | jq -e '.results[0].tare | (.counters | map(.name) == [\"page-faults\", \"task-clock\"])
		and (.executions | all(.counters | length == 2 and all(.value > 0 and .enabled_ns == .running_ns)))'"
	[ "$status" -eq 0 ]
	run bash -c "\"$TARE\" export -x -f csv | head -1"
	[[ "$output" == *,counter_page-faults,counter_task-clock ]]
	[ "$("$TARE" sql --csv "SELECT count(*) FROM counters WHERE name = 'page-faults' AND value > 100" | tail -1)" -eq 4 ]
}

# not with sanitizers, whose own memory has faults, too
# bats test_tags=slow
@test "the counters of 8 threads and of a child that nobody waits for are in the sum" {
	"$TARE" time -N -w 0 -r 3 --style none --counters page-faults "$COUNT 1000 8 0 0 unreaped"
	without=$(of page-faults | sort -n | head -1)
	"$TARE" time -N -w 0 -r 3 --style none --counters page-faults "$COUNT 1000 8 1000 0 unreaped"
	with=$(of page-faults | sort -n | head -1)
	near $((with - without)) 9000 0.01
}

@test "what cannot be counted is an error, and the right one" {
	run "$TARE" time -N -r 2 --counters page-faults,no-such-event true
	[ "$status" -eq 2 ]
	[[ "$output" == *"no event 'no-such-event'"* ]]
	run "$TARE" time -N -r 2 --counters cycles:x true
	[ "$status" -eq 2 ]
	run "$TARE" time -N -r 2 --counters none --measure instructions true
	[ "$status" -eq 2 ]
	[[ "$output" == *"contradict"* ]]
	"$TARE" time -N -r 2 --style none --counters none true
	run "$TARE" show --counters
	[ "$status" -eq 3 ]
	[[ "$output" == *"nothing was counted"* ]]
	run "$TARE" compare 1 1 --measure instructions
	[ "$status" -eq 2 ]
	[[ "$output" == *"instructions in user mode"* ]]
}

@test "without hardware counters only doctor says so" {
	if has_pmu; then return 0; fi
	run "$TARE" time -N -r 3 --style basic true
	[ "$status" -eq 0 ]
	[[ "$output" != *[Cc]ounter* ]]
	# the facts of the machine say that it has none
	run bash -c "\"$TARE\" show --json | jq 'del(.. | .machine?)'; \"$TARE\" show --ledger; \"$TARE\" list"
	[[ "$output" != *'"counter'* && "$output" != *Counter* ]]
	[ "$("$TARE" sql --csv "SELECT count(*) FROM counters" | tail -1)" -eq 0 ]
	run "$TARE" doctor
	[ "$(grep -c 'no hardware counters' <<<"$output")" -eq 1 ]
	run "$TARE" time -N -r 2 --counters topdown true
	[ "$status" -eq 3 ]
	[[ "$output" == *"cannot count 'topdown'"* ]]
	for command in "time -N -r 2 --measure instructions true" "time -N -r 2 --measure cycles true" \
		"time -N -r 2 --counters cycles true" "duet --measure instructions true true"; do
		# shellcheck disable=SC2086 # words
		run "$TARE" $command
		[ "$status" -eq 3 ]
		[[ "$output" == *"no hardware counters"* || "$output" == *"cannot count 'cycles'"* ]]
	done
}

@test "stored counters are shown, derived from and compared by" {
	"$TARE" time -N -r 5 --style none --counters none -n first "$TARE inc --turns 3000000"
	made 100 50
	"$TARE" time -N -r 5 --style none --counters none -n second "$TARE inc --turns 3000000"
	made 110 60 2
	run "$TARE" show --study 1
	[ "$status" -eq 0 ]
	[[ "$output" == *"100 M instructions, 2.00 per cycle"* ]]
	[[ "$output" == *"10.00 cache-misses"*"scaled up"* ]]
	run "$TARE" show --counters 1 2
	[ "$status" -eq 0 ]
	[[ "$output" == *"instructions per cycle"* ]]
	[[ "$output" == *"cache-misses *"* ]]
	[[ "$output" == *"+10.00 %"* || "$output" == *"+10.0 %"* ]]
	run "$TARE" compare 1 2 --measure instructions
	[ "$status" -eq 0 ]
	[[ "$(tr -s '\n ' ' ' <<<"$output")" == *"takes 1.100 times more instructions than"*"in user mode: ratio 1.1000"* ]]
	run "$TARE" compare 2 1 --measure cycles --fail-if-slower 1%
	[ "$status" -eq 0 ]
	run "$TARE" compare 1 2 --measure cycles --fail-if-slower 1%
	[ "$status" -eq 1 ]
	run bash -c "\"$TARE\" compare 1 2 --measure instructions --format json | jq -e '.[1].measure == \"instructions\" and
		(.[1].ratio - 1.1 | fabs) < 0.001'"
	[ "$status" -eq 0 ]
}

@test "runs are shown with what is known of them" {
	"$TARE" time -N -r 6 --style none --counters none --keep-outliers "$TARE inc --turns 1000000"
	"$TARE" time -N -r 6 --style none --counters none --keep-outliers "$TARE inc --turns 1000000"
	made 100 50
	sqlite3 "$TARE_LAB" "UPDATE counter SET value = NULL, user = NULL, kernel = NULL WHERE position = 0
		AND execution = (SELECT max(execution) FROM counter)"
	run "$TARE" show --counters 1 2
	[ "$status" -eq 0 ]
	[[ "$output" == *"nothing was counted"*"instructions (5 of 6)"* ]]
	run "$TARE" show 2
	[[ "$(tr -s '\n ' ' ' <<<"$output")" == *"not all are known in 1 of 6 executions"* ]]
	# in user mode alone it is another count
	sqlite3 "$TARE_LAB" "INSERT INTO counter SELECT id, 0, 'instructions', 100000000, 100000000, NULL, 1, 1
		FROM execution WHERE run = 1"
	run "$TARE" show --counters 2 1
	[[ "$(grep 'instructions:u' <<<"$output")" != *%*%* ]]
	run bash -c "\"$TARE\" export -x -f csv 1 2 | head -1"
	[[ "$output" == *,counter_user_instructions* ]]
}

@test "top-down shares are derived from what was counted" {
	"$TARE" time -N -r 3 --style none --counters none "$TARE inc --turns 1000000"
	made 100 50
	for event in "slots 1000" "topdown-retiring 200" "topdown-bad-spec 100" "topdown-fe-bound 300" "topdown-be-bound 400"; do
		sqlite3 "$TARE_LAB" "INSERT INTO counter SELECT e.id, (SELECT max(position) + 1 FROM counter WHERE execution = e.id),
			'${event% *}', ${event#* } * 1000000, NULL, NULL, 1, 1 FROM execution e"
	done
	run "$TARE" show
	[ "$status" -eq 0 ]
	[[ "$(tr -s '\n ' ' ' <<<"$output")" == *"slots: 20 % retiring, 10 % bad speculation, 30 % frontend bound, 40 % backend bound"* ]]
	run "$TARE" show --counters
	[[ "$output" == *"slots: frontend bound"*"30"* ]]
	run bash -c "\"$TARE\" show --json | jq -e '[.results[0].tare.counters[] | select(.kind == \"slots\") | .name] ==
		[\"retiring\", \"bad speculation\", \"frontend bound\", \"backend bound\"]'"
	[ "$status" -eq 0 ]
}

@test "--measure instructions is kept with the runs and rules their summary" {
	"$TARE" time -N -r 4 --style none --counters none "$TARE inc --turns 1000000"
	made 100 50
	"$TARE" time -N -r 4 --style none --counters none "$TARE inc --turns 1000000"
	made 200 90
	run "$TARE" show --measure instructions 1 2
	[ "$status" -eq 0 ]
	[[ "$output" == *"Summary: instructions in user mode"* ]]
	[[ "$output" == *"took the fewest"* ]]
	[[ "$output" == *"2.00"*"times fewer than"* ]]
}

@test "a report of counted runs is made" {
	"$TARE" time -N -r 4 --style none --counters page-faults "$TARE inc --turns 1000000"
	"$TARE" report -o "$BATS_TEST_TMPDIR/page.html"
	grep -q '"counters":\[{"name":"page-faults"' "$BATS_TEST_TMPDIR/page.html"
}

# bats test_tags=pmu
@test "instructions of a counted loop are exact, and equal over ten runs" {
	"$TARE" time -N -w 1 -r 10 --no-aslr --no-padding --style none --counters instructions:u "$COUNT 1000000 0 0 0"
	short=$(of instructions:u | sort -n)
	"$TARE" time -N -w 1 -r 10 --no-aslr --no-padding --style none --counters instructions:u "$COUNT 3000000 0 0 0"
	long=$(of instructions:u | sort -n)
	least=$(head -1 <<<"$short") most=$(tail -1 <<<"$short") more=$(($(head -1 <<<"$long") - least))
	if [ "${TARE_TEST_ICOUNT:-0}" = 1 ]; then
		[ "$least" -eq "$most" ]
		[ "$more" -eq 4000000 ]
	else
		near "$least" "$most" 0.0001
		near "$more" 4000000 0.0001
	fi
}

# bats test_tags=pmu
@test "instructions of 8 threads and of a child that nobody waits for are in the sum" {
	"$TARE" time -N -w 0 -r 3 --style none --counters instructions:u "$COUNT 1000 8 0 0 unreaped"
	without=$(of instructions:u | sort -n | head -1)
	"$TARE" time -N -w 0 -r 3 --style none --counters instructions:u "$COUNT 5001000 8 0 0 unreaped"
	with=$(of instructions:u | sort -n | head -1)
	near $((with - without)) 90000000 0.001
}

# bats test_tags=pmu
@test "what is multiplexed is scaled within 2 %, and instructions stay exact" {
	event=$([ "$(uname -m)" = aarch64 ] && echo 8 || echo c0) # instructions retired
	list=instructions:u
	for zeros in "" 0 00 000 0000 00000 000000 0000000 00000000 000000000 0000000000 00000000000; do
		list=$list,r$zeros$event:u
	done
	run "$TARE" time -N -w 0 -r 1 --style basic --counters "$list" "$COUNT 200000000 0 0 0"
	[ "$status" -eq 0 ]
	[[ "$output" == *"scaled up"* ]]
	exact=$(of instructions:u)
	near "$exact" 400000000 0.005
	for name in ${list//,/ }; do
		[ "$name" = instructions:u ] || near "$(of "$name")" "$exact" 0.02
	done
	run "$TARE" sql --csv "SELECT count(*) FROM counters WHERE running_ns < enabled_ns"
	[ "$(tail -1 <<<"$output")" -gt 0 ]
	run "$TARE" sql --csv "SELECT count(*) FROM counters WHERE name = 'instructions:u' AND running_ns < enabled_ns"
	[ "$(tail -1 <<<"$output")" -eq 0 ]
}

# bats test_tags=pmu
@test "the usual counters are read without being asked, and commands compare by instructions" {
	run "$TARE" time -N -r 5 --style basic --measure instructions "$COUNT 1000000 0 0 0" "$COUNT 2000000 0 0 0"
	[ "$status" -eq 0 ]
	[[ "$output" == *"Counters "*"instructions"*"per cycle"* ]]
	[[ "$output" == *"Summary: instructions in user mode, as asked for"* ]]
	[[ "$output" == *"took the fewest"* ]]
	run "$TARE" duet --pairs 5 --measure instructions "$COUNT 1000000 0 0 0" "$COUNT 2000000 0 0 0"
	[ "$status" -eq 0 ]
	[[ "$output" == *"more instructions than"* ]]
}

# sampled EVENT PERIOD: what the samples of a counted loop stand for
sampled() {
	"$TARE" profile -q --event "$1" --period "$2" -- "$COUNT" 20000000 0 0 0 >/dev/null
	"$TARE" sql --csv "SELECT sum(a.samples) * $2 FROM profile_apps a
		WHERE a.run = (SELECT max(id) FROM runs) AND a.app = 'count'" | tail -1
}

# QEMU's counter of instructions overflows at the tick only; that of cycles when it should.
# bats test_tags=pmu
@test "samples by an event of the CPU stand for as many as the CPU counts" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	"$TARE" time -N -w 0 -r 3 --style none --counters cycles:u,instructions:u "$COUNT 20000000 0 0 0"
	counted=$(of cycles:u | sort -n | sed -n 2p)
	near "$(sampled cycles:u 1000003)" "$counted" 0.05
	run "$TARE" profile report
	[[ "$output" == *"by cycles:u, one of 1000003"* ]]
	if [ "${TARE_TEST_ICOUNT:-0}" != 1 ]; then
		near "$(sampled instructions:u 100003)" 40000000 0.05
	fi
	"$TARE" profile -q --event cycles -F 997 -- "$COUNT" 20000000 0 0 0 >/dev/null
	run "$TARE" sql --csv "SELECT mode || (samples > 10) FROM profiles ORDER BY run DESC LIMIT 1"
	[ "$(tail -1 <<<"$output")" = cycles1 ]
}
