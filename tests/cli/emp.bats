#!/usr/bin/env bats
# tare emp, and --emp, --quiet and --no-cutoffs of tare time, as a user types them; the binary is
# $TARE.

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

# measure [OPTIONS]: twelve executions, and a warm-up
measure() {
	"$TARE" time -N -r 12 --no-ledger --style none -n twelve "$@" true >/dev/null
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

@test "emp: CSV and Markdown" {
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

@test "emp: a run of which nothing counts" {
	"$TARE" time -N -r 2 --style none false || true
	run "$TARE" emp --sizes
	[ "$status" -eq 0 ]
	[[ "$output" == *"0 samples: too few"* ]]
	"$TARE" emp --json --sizes | jq -e '.sizes == [] and .versions[5].value == null'
}

@test "emp: bad input" {
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

@test "time: --emp and --quiet want root, and say so before anything is made" {
	[ "$(id -u)" -eq 0 ] || skip "needs root, to be somebody else"
	home=$(mktemp -d /tmp/tare-home.XXXXXX)
	chown 65534:65534 "$home"
	for option in --quiet "--emp v1" "--emp v6"; do
		# shellcheck disable=SC2086
		run setpriv --reuid 65534 --regid 65534 --clear-groups \
			env HOME="$home" TARE_LAB="$home/lab.db" "$TARE" time $option true
		[ "$status" -eq 3 ]
		flat
		[[ "$output" == *"time: ${option%% *} changes settings of the machine, which takes root"* ]]
		[ ! -e "$home/lab.db" ]
	done
	rm -r "$home"
}

@test "time: --emp that contradicts other options" {
	for words in "--emp v5 --keep-outliers" "--emp v6 --no-cutoffs" "--emp v7" "--emp"; do
		# shellcheck disable=SC2086
		run "$TARE" time $words true
		[ "$status" -eq 2 ]
		[[ "$output" == *"--emp"* ]]
	done
	[ ! -e "$TARE_LAB" ]
}
