#!/usr/bin/env bats
# Stored duets in show, export, list, compare, plot, report and sql; the binary is $TARE.

setup() {
	: "${TARE:?set TARE to the binary under test}"
	cd "$BATS_TEST_TMPDIR" || return 1
	export TARE_LAB=$BATS_TEST_TMPDIR/lab.db
	"$(dirname "$TARE")/tests/unit/lab/duet-lab" lab.db
}

says() { # WORDS ARGUMENTS...
	local words=$1
	shift
	run "$TARE" "$@"
	[ "$status" -eq 0 ]
	output=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$output" == *"$words"* ]] || { echo "$output" && return 1; }
}

@test "duet: show begins with the answer" {
	run "$TARE" show 1
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" =~ ^"new is 1."[0-9]+" % faster than old   [1." ]]
	[[ "${lines[0]}" == *"after 24 pairs, "* ]]
	says "Both ran in turns on CPU 1, so both met the same CPU speed (which varied by" show 1
	says "No difference shown: new / old = " show 2
	says "A difference of up to " show 2
	says "take the same time within 0.5 %" show 3
	says "one frozen while the other ran" show 3
	says "compared by elapsed time, because old waits 80 % of the time." show 5
	says "2 pairs left out: an execution failed." show 5
	says "Not known yet: 2 pairs of new and old counted, at least 3 are needed" show 10
	says "new is 2.3" show 12
	says "times as fast as old" show 12
}

@test "duet: show -x has a row for each pair, or a plot where they do not fit the screen" {
	run "$TARE" show -x 1
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" = 25 ]
	[[ "${lines[0]}" == "Pair "*"Ratio"* ]]
	run "$BATS_TEST_DIRNAME/screen.py" 80x20 "$TARE" show -x 1
	[[ "$output" == *"24 pairs, ratio"*"24 pairs are longer than the screen"* ]]
	run "$BATS_TEST_DIRNAME/screen.py" 80x20 "$TARE" show -x --all 1
	[[ "$output" == *"Pair "*"Ratio"* && "$output" != *"longer than the screen"* ]]
}

@test "duet: show answers what --fail-if-slower asked first" {
	run "$TARE" show 6
	[ "${lines[0]}" = "Slower: new takes more than 1 % longer than old" ]
	run "$TARE" show 7
	[ "${lines[0]}" = "Not known yet whether new takes more than 1 % longer than old" ]
}

@test "duet: several sides are a table that fits 80 columns" {
	COLUMNS=80 "$TARE" show 4 >out
	grep -q "^  newer .* the same" out
	grep -q "^  newest .* slower" out
	[ "$(LC_ALL=C.UTF-8 wc -L <out)" -le 80 ]
}

@test "duet: exports" {
	"$TARE" export 1 | python3 -c 'import json, sys; d = json.load(sys.stdin); assert d["type"] == "duet" and len(d["verdicts"][0]["list"]) == 24'
	[ "$("$TARE" export -f csv 5 | wc -l)" -eq 43 ]
	[ "$("$TARE" export -x -f csv 5)" = "$("$TARE" export -f csv 5)" ]
	"$TARE" export -f csv 5 | head -1 | grep -q "^run,name,pair,side,repeat,place,warmup,outcome,status,started_at,et_ns,"
	"$TARE" export -f markdown 4 | grep -q "^| .newest. |"
	"$TARE" export -f markdown 6 | grep -q "^\*\*Slower: new takes more than 1 % longer than old. new is "
	run "$TARE" export -f orgmode 1
	[ "$status" -eq 2 ]
	[[ "$output" == *"as JSON, CSV, TSV or Markdown"* ]]
	run "$TARE" show -p 1
	[ "$status" -eq 2 ]
	run "$TARE" show 11
	[ "$status" -eq 2 ]
	[[ "$output" == *"nothing of run 11 was stored"* ]]
}

@test "duet: compare pools runs of the same two" {
	says "over 3 runs. From run to run the ratio varies by" compare 1 8 9
	says "all runs" compare 1 8 9
	run "$TARE" compare 1 5
	[[ "$output" != *"all runs"* ]]
	[ "$("$TARE" compare -f csv 1 8 | wc -l)" -eq 4 ]
	run "$TARE" compare --fail-if-slower 1% 1 8 9
	[ "$status" -eq 0 ]
	run "$TARE" compare --fail-if-slower 1% 6 7
	[ "$status" -eq 1 ]
	"$TARE" time -N -r 2 -w 0 --style none true >/dev/null
	run "$TARE" compare 1 last
	[ "$status" -eq 0 ]
	run "$TARE" compare 1 13
	[ "$status" -eq 2 ]
	run "$TARE" compare 13 1
	[ "$status" -eq 2 ]
	run "$TARE" compare -m et 1 8
	[ "$status" -eq 2 ]
}

@test "duet: list, sql, report and plot" {
	says "duet 48" list
	says '"kind": "duet"' list --json
	[ "$("$TARE" sql --csv "SELECT way, sides, pairs FROM duets WHERE run = 4" | tail -1)" = scheduler,4,45 ]
	[ "$("$TARE" sql --csv "SELECT count(*) FROM duet_parts WHERE run = 5" | tail -1)" = 42 ]
	"$TARE" report --json 1 8 11 | python3 -c 'import json, sys; d = json.load(sys.stdin); assert [s["kind"] for s in d["sections"]] == ["duet"] * 3 and d["comparisons"][0]["runs"] == 2'
	command -v gnuplot >/dev/null || skip "needs gnuplot"
	"$TARE" plot 1 duet -o duet.svg
	"$TARE" plot 1 4 8 -o forest.svg
	grep -q "ratio to the reference" forest.svg
	grep -q "newest / old (4)" forest.dat
}
