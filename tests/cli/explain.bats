#!/usr/bin/env bats
# tare explain, and the options about the ledger, with bad input; the binary is $TARE. What needs a
# kept ledger is in ledger.bats.

setup() {
	: "${TARE:?set TARE to the binary under test}"
	cd "$BATS_TEST_TMPDIR" || return 1
	export TARE_LAB=$BATS_TEST_TMPDIR/lab.db
}

# flat: the output of the last `run` with errors as one line, not wrapped
flat() {
	output=$(tr -s ' \n' ' ' <<<"$output")
}

# A run that has no ledger, whoever runs it.
measure() {
	"$TARE" time -N -w 1 -r 3 --no-ledger --style none -n plain true >/dev/null
}

@test "explain: needs a lab, a run, an execution" {
	run "$TARE" explain
	[ "$status" -eq 2 ]
	flat
	[[ "$output" == *"there is no lab at $TARE_LAB"* ]]
	[ ! -e "$TARE_LAB" ]
	measure
	run "$TARE" explain no-such-run
	[ "$status" -eq 2 ]
	[[ "$output" == *no-such-run* ]]
	for bad in 0 4 -1 seven 1x 99999999999999999999 w2 w wx ""; do
		run "$TARE" explain -- last "$bad"
		[ "$status" -eq 2 ]
		flat
		[[ "$output" == *"execution"* || "$output" == *"warm-up"* ]]
	done
	run "$TARE" explain last 4
	flat
	[[ "$output" == *"run 1 has no execution 4"*"it has 1 to 3"* ]]
	run "$TARE" explain last 1 2
	[ "$status" -eq 2 ]
	run "$TARE" explain --nonsense
	[ "$status" -eq 2 ]
}

@test "explain: without a ledger it says how to get one" {
	measure
	for asked in "" 1 w1; do
		# shellcheck disable=SC2086
		run "$TARE" explain last $asked
		[ "$status" -eq 3 ]
		flat
		[[ "$output" == *"run 1: no ledger was kept"*"sudo tare time --ledger"* ]]
	done
	run "$TARE" explain --json
	[ "$status" -eq 3 ]
	[[ "$output" != *"{"* ]]
}

@test "explain: help fits a screen" {
	run "$TARE" explain --help
	[ "$status" -eq 0 ]
	[[ "$output" == *"RUN [EXECUTION]"* && "$output" == *--all* ]]
	[ "${#lines[@]}" -le 24 ]
}

@test "ledger: options that contradict each other are refused" {
	for options in "--ledger --no-ledger" "--trace --no-ledger" "--trace --no-lab"; do
		# shellcheck disable=SC2086
		run "$TARE" time $options true
		[ "$status" -eq 2 ]
		[[ "$output" == *"time: --"* ]]
	done
	[ ! -e "$TARE_LAB" ]
	measure
	"$TARE" show --ledger --json | jq -e '.results[0].tare.ledger == null'
	run "$TARE" show --ledger --json -e 1
	[ "$status" -eq 2 ]
	for bad in 0 seven w2 ""; do
		run "$TARE" show --ledger -e "$bad"
		[ "$status" -eq 2 ]
		[[ "$output" == *execution* || "$output" == *warm-up* ]]
	done
	run "$TARE" show --execution 1
	[ "$status" -eq 2 ]
	run "$TARE" show --ledger --execution 9
	[ "$status" -eq 2 ]
	[[ "$output" == *"run 1 has no execution 9"* ]]
}

@test "ledger: not kept where it cannot be, and only who asked for it is refused" {
	run "$TARE" time --backend plain -N -r 2 true
	[ "$status" -eq 0 ]
	[[ "$output" != *Ledger* ]]
	for option in --ledger --trace; do
		run "$TARE" time --backend plain $option -N -r 2 true
		[ "$status" -eq 3 ]
		flat
		[[ "$output" == *"no ledger can be kept: the plain back end keeps no ledger"* ]]
	done
	run "$TARE" show --ledger last
	[ "$status" -eq 3 ]
	flat
	[[ "$output" == *"run 1: no ledger was kept: the plain back end keeps none"* ]]
	measure
	run "$TARE" show --ledger -e w1
	[ "$status" -eq 3 ]
	flat
	[[ "$output" == *"no ledger was kept of this execution: --no-ledger was given"* ]]
}

@test "ledger: conditions tell, JSON has null, CSV no columns" {
	measure
	"$TARE" show --json >out.json
	jq -e '.results[0].tare | .conditions.ledger == false and .conditions.trace == false
		and .ledger == null and (.executions | all(.ledger == null))' out.json
	"$TARE" export -x -f csv >out.csv
	[[ "$(head -1 out.csv)" != *wall_* ]]
}
