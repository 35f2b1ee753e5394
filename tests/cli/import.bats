#!/usr/bin/env bats
# tare import; the binary is $TARE.

load samples

# refused WORDS: the last file, data.csv, is refused with these words, and no lab is made of it
refused() {
	run "$TARE" import data.csv
	[ "$status" -eq 2 ]
	flat
	[[ "$output" == *"import of data.csv, nothing was stored: $1"* ]] || { echo "$output" && false; }
	[ ! -e "$TARE_LAB" ]
}

@test "import: show, list, export and sql know the run" {
	{ echo $HEADER && generate INC1 60; } >data.csv
	run "$TARE" import data.csv --tag "from the other machine"
	[ "$status" -eq 0 ]
	[ "$output" = "run 1 'INC1': 60 samples, 62 executions of daemons" ]
	run "$TARE" show
	[ "$status" -eq 0 ]
	[[ "$output" == *"Command 1: INC1"* && "$output" == *"Process time (exec)"* ]]
	flat
	[[ "$output" == *"Also ran per execution: backup 15.3 ms"* && "$output" == *"Executions 60"* ]]
	[[ "$output" == *"Not seen: anything but ET, PT and the daemons that the imported file names."* ]]
	"$TARE" export INC1 >out.json
	[ "$(jq '.results[0].times | length' out.json)" -eq 60 ]
	[ "$(jq '.results[0].tare.executions[0].pt_ns.net' out.json)" = null ]
	[ "$(jq '.results[0].tare.executions | map(.number) == [range(1; 61)]' out.json)" = true ]
	run "$TARE" sql --tsv "SELECT status, backend, executions, tags, json_extract(conditions, '\$.imported') FROM runs"
	[ "${lines[1]}" = $'complete\tplain\t60\tfrom the other machine\t1' ]
	run "$TARE" sql --tsv "SELECT name, count(*), min(exec) FROM processes WHERE role = 'daemon' GROUP BY name"
	[ "${lines[1]}" = $'backup\t3\t300000000' ]
	[[ "${lines[2]}" == $'sshd\t59\t'* ]]
}

@test "import: a run for each value of the column, named by it or by --name" {
	{ echo $HEADER && generate short 3 && generate 12 4; } >data.csv
	"$TARE" import data.csv
	"$TARE" import --name theirs - <data.csv
	"$TARE" import - <data.csv
	{ echo $HEADER && generate short 3; } | "$TARE" import -n one -
	run "$TARE" sql --tsv "SELECT name, command, executions FROM runs ORDER BY id"
	[ "${lines[1]}" = $'short\tshort\t3' ]
	[ "${lines[2]}" = $'data-12\t12\t4' ]
	[ "${lines[3]}" = $'theirs-short\tshort\t3' ]
	[ "${lines[4]}" = $'theirs-12\t12\t4' ]
	[ "${lines[6]}" = $'import-12\t12\t4' ]
	[ "${lines[7]}" = $'one\tshort\t3' ]
	run "$TARE" compare theirs-short theirs-12
	[ "$status" -eq 0 ]
}

# NAME OFFSET SEED: 40 executions of about 1 s, which do not depend on each other
scattered() {
	awk -v name="$1" -v off="$2" -v seed="$3" 'BEGIN { srand(seed)
		for (i = 1; i <= 40; i++) printf "%s,%d,%d,,,\n", name, i, 1e9 + off + 4e7 * (rand() - 0.5) }'
}

@test "compare: several runs of a side have the variation between them in the interval" {
	{ echo $HEADER; scattered a1 0 1; scattered a2 30e6 2; scattered a3 60e6 3
	  scattered b1 100e6 4; scattered b2 70e6 5; scattered b3 40e6 6; } | "$TARE" import -n x -
	run "$TARE" compare x-a1 x-b1
	[ "$status" -eq 0 ]
	text=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$text" == *"'x-b1' (run 4) is 1."*" times slower than 'x-a1' (run 1)"* ]]
	[[ "$text" == *"Variation between runs is not in the interval"* ]]
	run "$TARE" compare x-a1,x-a2,x-a3 x-b1,x-b2,x-b3
	text=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$text" == *"No difference shown between 'x-b1' (runs 4, 5, 6) and 'x-a1' (runs 1, 2, 3)"* ]]
	[[ "$text" == *" against 120 executions"* && "$text" != *"Variation between runs"* ]]
	"$TARE" compare -f json 1,2,3 4 | jq -e '.[0].runs == 3 and .[1].runs == 1 and .[1].ratio_low < .[1].ratio'
	run "$TARE" compare 1,2,1 4
	[ "$status" -eq 2 ]
	[[ "$output" == *"run 1 is named twice"* ]]
	run "$TARE" compare 1,nonesuch 4
	[ "$status" -eq 2 ]
	[[ "$output" == *nonesuch* ]]
}

@test "compare: too few executions that depend on each other are not compared" {
	{ echo $HEADER; for i in $(seq 10); do echo "up,$i,$((1000000000 + i * 1000000)),,,"; done; scattered b 0 7; } |
		"$TARE" import -n y -
	run "$TARE" show y-up
	[[ "$output" == *"too few: about "*" needed"* ]]
	"$TARE" show --json y-up | jq -e '.results[0].tare.protocol.measures.et.kept |
		.ci_low_ns == null and .ci_high_ns == null and .needed_n > 10 and .effective_n < 1'
	run "$TARE" compare y-b y-up
	[ "$status" -eq 0 ]
	[[ "$output" == *"No comparison can be made"* ]]
	run "$TARE" compare --fail-if-slower 1% y-b y-up
	[ "$status" -eq 1 ]
	[[ "$output" == *"too few executions to tell"* ]]
}

@test "import: the machine is known only if it is this one" {
	{ echo $HEADER && generate A 3; } >data.csv
	"$TARE" import data.csv
	"$TARE" import --here data.csv
	run "$TARE" sql --tsv "SELECT machine IS NULL FROM run ORDER BY id"
	[ "${lines[1]}${lines[2]}" = 10 ]
	run "$TARE" show 1
	[ "$status" -eq 0 ]
}

@test "import: columns and rows may be in any order, quoted, with CRLF, samples left out" {
	printf '%s\r\n' sample,daemon_pt_ns,daemon,run,pt_ns,et_ns '7,5,"a,""b""",x,,1000' '3,,,x,900,950' \
		'7,6,sshd,x,,1000' >data.csv
	"$TARE" import data.csv
	run "$TARE" sql --tsv "SELECT number, et_ns, pt_exec_ns FROM executions ORDER BY id"
	[ "${lines[1]}" = $'3\t950\t900' ]
	[[ "${lines[2]}" == $'7\t1000\t'* && "${lines[2]}" != *900 ]]
	run "$TARE" sql --tsv "SELECT name, exec FROM processes ORDER BY exec DESC"
	[ "${lines[1]}" = $'sshd\t6' ]
	[ "${#lines[@]}" -eq 3 ]
}

@test "import: bad rows are named, and nothing is stored" {
	{ echo $HEADER && generate A 50 && echo A,51,1e9,,,; } >data.csv
	refused "line $(wc -l <data.csv), column et_ns: '1e9' is not a number of ns from 1 on"
	{ echo $HEADER && echo A,1,5,4,, && echo B,1,5,4,sshd,; } >data.csv
	refused "line 3, column daemon_pt_ns: '' is not a number of ns from 0 on"
	{ echo $HEADER && echo A,1,5,4,d,1 && echo A,1,6,4,d,1; } >data.csv
	refused "line 3, column et_ns: it differs from line 2"
	{ echo $HEADER && echo A,1,5,4,; } >data.csv
	refused "line 2: it has 5 fields, the header 6 columns"
	echo A,1,5,4,, >data.csv
	refused "line 1: there is no column 'A'"
	echo run,sample,et_ns,pt_ns >data.csv
	refused "line 1: it lacks the column 'daemon'"
	{ echo $HEADER && echo 'A,1,5,4,"d,1'; } >data.csv
	refused "line 2, field 5: its quote is not closed"
	{ echo $HEADER && printf 'A,1,5,4,d\0,1\n'; } >data.csv
	refused "line 2, field 5: a byte of 0"
	echo $HEADER >data.csv
	refused "there is no sample in it"
	: >data.csv
	refused "there is nothing in it"
	head -c 100000 /dev/urandom >data.csv
	refused "line "
}

@test "import: bad usage is refused" {
	{ echo $HEADER && generate A 3; } >data.csv
	for words in "" "data.csv data.csv" "nothing.csv" "." "--name 12 data.csv" "--name last data.csv"; do
		# shellcheck disable=SC2086
		run "$TARE" import $words
		[ "$status" -eq 2 ]
		[[ "$output" == "tare: "* ]]
		[ ! -e "$TARE_LAB" ]
	done
	run "$TARE" import --lab /proc/lab.db data.csv
	[ "$status" -eq 3 ]
}

# bats test_tags=slow
@test "import: 100,000 samples take seconds" {
	{ echo $HEADER && generate INC1 100000; } >data.csv
	SECONDS=0
	run "$TARE" import data.csv
	[ "$status" -eq 0 ]
	[ "$output" = "run 1 'INC1': 100000 samples, 104999 executions of daemons" ]
	[ "$SECONDS" -lt 20 ]
}
