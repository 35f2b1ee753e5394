#!/usr/bin/env bats
# tare time as a user types it; the binary is $TARE.

load common

setup() {
	: "${TARE:?set TARE to the binary under test}"
	BURN=$(dirname "$TARE")/tests/programs/burn
	cd "$BATS_TEST_TMPDIR" || return 1
	export TARE_LAB=$BATS_TEST_TMPDIR/lab.db
}

# A home that user 65534 can reach; bats' own folders are closed to others.
users_home() {
	home=$(mktemp -d /tmp/tare-home.XXXXXX)
	chown 65534:65534 "$home"
	chmod 755 "$home"
}

teardown() {
	[ -z "${home:-}" ] || rm -rf "$home"
}

@test "time: reports process and elapsed time within 80 columns" {
	run "$TARE" time -r 5 "sleep 0.01" "sleep 0.02"
	[ "$status" -eq 0 ]
	[[ "$output" == *"Command 1: sleep 0.01"* ]]
	[[ "$output" == *"Process time"* && "$output" == *"Elapsed time"* && "$output" == *"Summary"* ]]
	while IFS= read -r line; do [ "${#line}" -le 80 ]; done <<<"$output"
	[[ "$output" != *$'\033'* ]]
}

@test "time: JSON has hyperfine's fields with hyperfine's meaning" {
	"$TARE" time -N -r 7 --json "sleep 0.02" >out.json
	jq -e '.results | length == 1' out.json
	jq -e '.results[0] | .command == "sleep 0.02" and (.times | length) == 7 and (.exit_codes | length) == 7
		and (.process_times | length) == 7 and .mean > 0.019 and .mean < 0.2 and .min <= .median and .median <= .max
		and .stddev >= 0' out.json
	jq -e '.results[0] | ((.times | add / length) - .mean) | fabs < 1e-6' out.json
	# a sleeping program uses next to no CPU
	jq -e '.results[0] | (.process_times | max) < .mean / 2' out.json
	jq -e '.results[0].tare.executions | length == 8 and (map(select(.warmup)) | length) == 1' out.json
}

@test "time: process time is what the program used" {
	BURN_LOG=$PWD/burned "$TARE" time -N -w 0 -r 3 --json "$BURN orphan 40ms" >out.json
	for i in 0 1 2; do
		own=$(sed -n "$((i + 1))p" burned)
		jq -e --argjson own "$own" --argjson i $i \
			'.results[0].tare.executions[$i].pt_ns.exec / $own | . > 0.95 and . < 1.05 or $ENV.TARE_TEST_SANITIZED == "1"' out.json
	done
}

@test "time: hooks run in hyperfine's order" {
	"$TARE" time -N -w 1 -r 2 --style none -s 'echo setup >>log' -p 'echo prepare >>log' -C 'echo conclude >>log' \
		-c 'echo cleanup >>log' 'sh -c "echo run >>log"'
	run paste -sd' ' log
	[ "$output" = "setup prepare run conclude prepare run conclude prepare run conclude cleanup" ]
}

@test "time: a failing hook is an error with its name" {
	run "$TARE" time -r 2 -p 'exit 3' true
	[ "$status" -eq 4 ]
	[[ "$output" == *"--prepare command ended with exit code 3"* ]]
}

@test "time: parameters reach commands, names and exports" {
	"$TARE" time -N -r 2 -L a x,y -P n 1 2 -n 'p {a}{n}' --export-json e.json --export-csv e.csv \
		--export-markdown e.md --export-asciidoc e.adoc --export-orgmode e.org --style none 'echo {a} {n}'
	jq -e '[.results[].command] | length == 4' e.json
	# hyperfine's order: the first parameter varies fastest
	"$TARE" time -N -r 1 -w 0 -L a 1,2 -L b x,y --json 'echo {a}{b}' >order.json
	jq -e '[.results[].command] == ["echo 1x", "echo 2x", "echo 1y", "echo 2y"]' order.json
	jq -e '[.results[].parameters | "\(.a)\(.n)"] | sort == ["x1", "x2", "y1", "y2"]' e.json
	jq -e '[.results[].tare.name // .results[].command] | length > 0' e.json
	[ "$(wc -l <e.csv)" -eq 5 ]
	head -1 e.csv | grep -q '^command,mean,stddev,median,user,system,min,max'
	[ "$(grep -c '^|' e.md)" -ge 6 ]
	grep -q '|===' e.adoc
	grep -q '^|' e.org
}

@test "time: interleaved and random order store every execution" {
	for order in interleaved random; do
		"$TARE" time -N -r 4 --order $order --json true false -i >o.json
		jq -e '[.results[].times | length] == [4, 4]' o.json
		jq -e '.results[1].exit_codes | all(. == 1)' o.json
	done
}

# bats test_tags=alone
@test "time: stops when precise enough" {
	"$TARE" time -N --precision 50% -m 3 --json "sleep 0.01" >p.json
	jq -e '.results[0].times | length >= 3 and length <= 20' p.json
}

# bats test_tags=slow
@test "time: a non-zero exit ends the run with 4, is stored, and -i allows it" {
	run "$TARE" time -r 3 'exit 7'
	[ "$status" -eq 4 ]
	[[ "$output" == *"exit code 7"* && "$output" == *"--ignore-failure"* ]]
	run "$TARE" show --json last
	[ "$status" -eq 0 ]
	echo "$output" | jq -e '.tare.failed_runs[0].tare.status == "failed" and .results == []'
	run "$TARE" time -N -i -r 3 --style none false
	[ "$status" -eq 0 ]
	run "$TARE" time -i=7,8 -r 3 --style none 'exit 7'
	[ "$status" -eq 0 ]
	run "$TARE" time -i=8 -r 3 --style none 'exit 7'
	[ "$status" -eq 4 ]
}

@test "time: a command killed by a signal ends the run with 4" {
	run "$TARE" time -N -r 3 'sh -c "kill -SEGV $$"'
	[ "$status" -eq 4 ]
	[[ "$output" == *"signal 11"* ]]
}

@test "time: a command that never ends is ended at --time-limit, with its children" {
	begin=$SECONDS
	run "$TARE" time -r 2 --time-limit 200ms 'sleep 987 & sleep 987'
	[ "$status" -eq 4 ]
	[[ "$output" == *"time limit"* ]]
	[ $((SECONDS - begin)) -lt 20 ]
	none_left 'sleep 987'
}

@test "time: a command that forks forever is ended whole" {
	cat >bomb.sh <<-'END'
		#!/bin/sh
		# at most 300 alive at once, so that a failure of this test does no harm
		n=0
		while :; do
			n=$((n + 1))
			(sleep 986) &
			[ $n -lt 300 ] || { wait; n=0; }
		done
	END
	chmod +x bomb.sh
	run timeout 60 "$TARE" time -N -w 0 -r 1 --time-limit 300ms ./bomb.sh
	[ "$status" -eq 4 ]
	none_left 'sleep 986'
}

# bats test_tags=long
@test "time: what is left behind is ended, or left and said" {
	run "$TARE" time -w 0 -r 2 --grace 50ms 'sleep 985 & exit 0'
	[ "$status" -eq 0 ]
	[[ "$output" == *"left"* ]]
	none_left 'sleep 985'
	# bats waits for whoever holds its descriptor 3
	run "$TARE" time -w 0 -r 1 --orphans leave 'sleep 984 3>&- & exit 0'
	pkill -f 'sleep 984'
	[ "$status" -eq 0 ]
}

# bats test_tags=long
@test "time: bad input is said clearly and exits with 2" {
	check() {
		local words=$1
		shift
		run "$TARE" "$@"
		[ "$status" -eq 2 ] || { echo "status $status of: $*: $output"; return 1; }
		[[ "$output" == "tare: "* && "$output" == *"$words"* ]] || { echo "of $*: $output"; return 1; }
	}
	touch plain; chmod 644 plain
	check "unknown command 'tmie'" tmie
	check "did you mean" tmie
	check "no command given" time
	check "command is empty" time ''
	check "no such command" time -N no-such-program-here
	check "not" time -N -r 1 ./plain
	check "No such file" time -N -r 1 ./missing/prog
	printf '#!/no/such/interpreter\n' >script; chmod +x script
	check "interpreter" time -N -r 1 ./script
	check "a directory" time -N -r 1 ./
	check "whole number" time -r x true
	check "whole number" time -r 0 true
	check "whole number" time -r -3 true
	check "contradict" time -r 3 -m 2 true
	check "contradict" time -r 3 --precision 1% true
	check "larger" time -m 5 -M 3 true
	check "contradict" time -N -S bash true
	check "share" time --precision lots true
	check "share" time --fail-if-slower 2 true true
	check "never reached" time --precision 0% true
	check "nothing to compare" time --fail-if-slower 2% true
	check "mix" time --json --show-output true
	check "a time such as" time --time-limit soon true
	check "one of" time --order sideways true
	check "--cpu" time --cpu one true
	check "--sched" time --sched fast true
	check "cannot write" time --export-json no/such/dir/x.json true
	check "cannot read the input" time --input no-such-file true
	check "given 2 times for 3 commands" time -p a -p b true true true
	check "unclosed" time -N "echo 'x"
	check "never gets" time -P n 3 1 'echo {n}'
	check "given twice" time -L n 1,2 -L n 3 'echo {n}'
	check "unknown option '--rnus'" time --rnus 3 true
	check "needs" time --runs
	check "--shell" time -S "'" true
}

@test "time: a CPU that is not there is refused" {
	run "$TARE" time -N -r 1 --cpu 900 true
	[ "$status" -eq 2 ]
	[[ "$output" == *"no CPU 900"* ]]
	# one that is not tare's own, as isolated ones are
	taskset -c 0 "$TARE" time -N -r 1 --style none --cpu $(($(nproc) - 1)) true
}

@test "time: taskset says where the command runs unless --cpu does" {
	on() { taskset -c "$1" "$TARE" time -N -w 0 -r 1 --style none --output out "${@:2}" 'sh -c "taskset -cp $$"'; }
	last=$(($(getconf _NPROCESSORS_ONLN) - 1))
	on 0
	grep -q ': 0$' out
	on 0 --cpu "$last"
	grep -q ": $last\$" out
	on 0 --cpu all
	[ "$last" -eq 0 ] || grep -q ": 0[-,].*$last\$" out
}

@test "time: odd names survive every format" {
	odd=$'a "quoted" \'one\', with | pipe\nand newline \xff\xfe and caf\xc3\xa9'
	"$TARE" time -N -r 2 -n "$odd" --export-json o.json --export-csv o.csv --export-markdown o.md true >text
	jq -e '.results | length == 1' o.json
	iconv -f utf-8 -t utf-8 o.json o.csv o.md text >/dev/null
	[ "$(grep -c '^|' o.md)" -eq 3 ]
	run "$TARE" show --json last
	echo "$output" | jq -e . >/dev/null
	run "$TARE" list --json
	echo "$output" | jq -e . >/dev/null
}

# bats test_tags=slow
@test "time: the command may close its output, read its input, fill a pipe" {
	"$TARE" time -r 2 --style none 'exec >&- 2>&-; true'
	echo hello >in
	"$TARE" time -N -r 2 --style none --input in --output out cat
	[ "$(cat out)" = hello ]
	"$TARE" time -r 2 --style none --output pipe 'head -c 5000000 /dev/zero'
	run "$TARE" time -w 0 -r 1 --show-output 'echo visible'
	[[ "$output" == *visible* ]]
}

@test "time: pinning, nice and ASLR reach the command" {
	"$TARE" time -N -w 0 -r 1 --style none --cpu 0 --nice 5 --no-aslr --output out \
		'sh -c "taskset -cp $$; nice; cat /proc/self/personality"'
	grep -q ': 0$' out
	grep -qx 5 out
	grep -q '^00040000' out
}

@test "time: --sched gives the command a real-time class" {
	needs_root
	"$TARE" time -N -w 0 -r 1 --style none --sched fifo:7 --output out 'sh -c "chrt -p $$"'
	grep -q SCHED_FIFO out
	grep -q 7 out
}

@test "time: the environment's size varies, HYPERFINE_ITERATION counts" {
	"$TARE" time -w 0 -r 5 --style none 'echo "$HYPERFINE_ITERATION ${#TARE_PADDING}" >>log'
	[ "$(awk '{ print $1 }' log | paste -sd' ')" = "0 1 2 3 4" ]
	[ "$(awk '{ print $2 }' log | sort -u | wc -l)" -gt 1 ]
	rm log
	"$TARE" time -w 0 -r 3 --no-padding --style none 'echo "${#TARE_PADDING}" >>log'
	[ "$(sort -u log)" = 0 ]
}

# bats test_tags=slow,alone
@test "time: --fail-if-slower fails only beyond its share of the baseline" {
	"$TARE" time -N -r 20 -n quick --style none "$BURN loop 5ms"
	run "$TARE" time -N -r 20 --baseline quick --fail-if-slower 10% "$BURN loop 10ms"
	[ "$status" -eq 1 ]
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"slower than 'quick'"*"Welch"* ]]
	run "$TARE" time -N -r 10 --baseline quick --fail-if-slower 300% --style none "$BURN loop 10ms"
	[ "$status" -eq 0 ]
	run "$TARE" compare --fail-if-slower 10% quick last
	[ "$status" -eq 1 ]
	run "$TARE" compare last quick
	[ "$status" -eq 0 ]
	[[ "$output" == *faster* ]]
	run "$TARE" time --baseline nonesuch true
	[ "$status" -eq 2 ]
	# what waits is judged by elapsed time when asked to
	run "$TARE" time -N -r 8 --style none --measure et --fail-if-slower 50% 'sleep 0.01' 'sleep 0.05'
	[ "$status" -eq 1 ]
	# a check that could never fail is not passed
	run "$TARE" time -N -r 2 --style none --fail-if-slower 2% true true
	[ "$status" -eq 1 ]
	[[ "$output" == *"too few"* ]]
}

# bats test_tags=long
@test "time: what sleeps is compared by elapsed time everywhere, and it is said why" {
	run "$TARE" time -N -r 8 --export-json s.json --export-csv s.csv --export-markdown s.md --export-orgmode s.org \
		--export-asciidoc s.adoc 'sleep 0.05' 'sleep 0.2'
	[ "$status" -eq 0 ]
	flat=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$flat" == *"Summary: elapsed time, since 'sleep 0."*"' slept or did I/O "*" % of its time sleep 0.05 was fastest "* ]]
	# the figures begin with what it is judged by
	[[ "$(sed -n 2p <<<"$output")" == "  Elapsed time "* ]]
	jq -e '.tare.comparisons == [.tare.comparisons[0]] and (.tare.comparisons[0] |
		.measure == "et" and .why == "waits" and .reference == 0 and .ratio > 2 and .ratio < 5)' s.json
	jq -e '[.results[].tare.protocol.headline] == ["et", "et"]' s.json
	for table in s.md s.org s.adoc; do
		grep -q Relative $table
		none=$(grep -c 'PT relative' $table) || [ "$none" -eq 0 ]
	done
	grep -q '^| `sleep 0.05` |.* 1.00 |' s.md
	python3 - <<-'END'
		import csv
		rows = list(csv.DictReader(open("s.csv")))
		assert [r["measure"] for r in rows] == ["et", "et"]
		assert float(rows[0]["relative"]) == 1 and 2 < float(rows[1]["relative"]) < 5
	END
	run "$TARE" compare @1 last
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"in elapsed time"*"Compared by elapsed time: 'sleep 0."*"slept or did I/O"* ]]
	"$TARE" report --json @1 last | jq -e '.comparisons[0] | .measure == "et" and (.why | test("slept or did I/O")) and .rows[0].ratio > 2'
	run "$TARE" compare --fail-if-slower 50% @1 last
	[ "$status" -eq 1 ]
	run "$TARE" time -N -r 8 --style none --fail-if-slower 50% 'sleep 0.05' 'sleep 0.2'
	[ "$status" -eq 1 ]
	# it is what --precision watches, too: the process time of a sleep varies by far more
	"$TARE" time -N --precision 20% -M 200 --json 'sleep 0.02' >p.json
	jq -e '.results[0].times | length < 100' p.json
}

# bats test_tags=long
@test "time: --measure rules headline, summary, exports, page and exit code alike" {
	# asked MEASURE WORDS JSON: for everything that came of the last two runs
	asked() {
		run "$TARE" show --study last
		[[ "$output" == *"Summary: $2, as asked for"* ]] || { echo "$output"; return 1; }
		[[ "$(sed -n 2p <<<"$output")" == "  ${2^} "* ]] || { echo "$output"; return 1; }
		jq -e --arg m "$3" '([.tare.comparisons[].measure] == [$m]) and .tare.comparisons[0].why == "asked" and
			[.results[].tare.protocol.headline] == [$m, $m] and .results[0].tare.conditions.measure == $ARGS.positional[0]' \
			m.json --args "$1" || return 1
		"$TARE" show --study --json last | jq -e --arg m "$3" '.tare.comparisons[0].measure == $m' || return 1
		"$TARE" report --study --json last | jq -e --arg m "$3" '.comparisons[0].measure == $m and .sections[0].headline == $m' || return 1
		"$TARE" export --study -f csv last | grep -q ",$3,1$" || return 1
	}
	"$TARE" time -N -r 5 --measure et --export-json m.json --export-markdown m.md "$BURN loop 3ms" "$BURN loop 6ms" >text
	grep -q "Summary: elapsed time, as asked for" text
	grep -q ' Relative |' m.md
	asked et "elapsed time" et
	"$TARE" time -N -r 5 --measure exec --export-json m.json --export-markdown m.md 'sleep 0.01' 'sleep 0.03' >text
	grep -q "PT exec .*PT relative" m.md
	asked exec "process time (exec)" pt_exec
	# a sleep four times as long takes hardly more CPU
	run "$TARE" time -N -r 40 --style none --measure exec --fail-if-slower 150% 'sleep 0.004' 'sleep 0.018'
	[ "$status" -eq 0 ] || [[ "$output" == *"too few executions to tell"* ]]
	run "$TARE" time -N -r 8 --style none --fail-if-slower 150% 'sleep 0.02' 'sleep 0.09'
	[ "$status" -eq 1 ]
}

# bats test_tags=long
@test "time: contention is called contention, and process time is what it is judged by" {
	needs_root
	hogs=()
	for _ in 1 2; do
		taskset -c 0 timeout 60 "$BURN" loop 60s 3>&- &
		hogs+=($!)
	done
	run "$TARE" time -N --cpu 0 -w 0 -r 4 --export-json c.json "$BURN loop 20ms" "$BURN loop 40ms"
	kill "${hogs[@]}"
	[ "$status" -eq 0 ]
	flat=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$flat" == *"the command queued for a CPU "*" % of its time: "*"process time does not have that in it"* ]]
	[[ "$flat" == *"Summary: process time ("*"only queued for a CPU"* ]]
	[[ "$flat" != *"says little about it"* ]]
	jq -e '[.results[].tare.protocol.warnings[].id] | index("contended") and (index("waiting") | not)' c.json
	jq -e '.tare.comparisons[0] | .why == "queued" and .reference == 0 and .ratio > 1.5 and .ratio < 2.5 or $ENV.TARE_TEST_SANITIZED == "1"' c.json
}

@test "time: a command that is not found is said so, stored nowhere and not reported" {
	for command in nosuchcommand './no/such/prog x' 'cd / && nosuchcommand'; do
		run "$TARE" time "$command"
		[ "$status" -eq 2 ]
		[ "${lines[0]}" = "tare: command not found: '$command'" ]
		[[ "$output" != *"Command 1"* && "$output" != *Summary* ]]
	done
	run "$TARE" list
	[[ "$output" == "no runs" ]]
	# asked to, it is measured all the same; and what ends so later has been found
	"$TARE" time -i -r 2 --style none nosuchcommand
	run "$TARE" time -w 0 -r 3 'echo x >>count; [ "$(wc -l <count)" -lt 2 ] || exit 127'
	[ "$status" -eq 4 ]
	[[ "$output" == *"exit code 127"* ]]
}

@test "time: a lab is made only where its folder is" {
	for lab in postgresql://localhost/shop nosuchfolder/lab.db; do
		run "$TARE" time -r 1 --lab "$lab" true
		[ "$status" -eq 2 ]
		[[ "$(tr -s ' \n' ' ' <<<"$output")" == "tare: cannot make lab $lab: there is no folder ${lab%/*} "* ]]
	done
	[ -z "$(ls -A)" ]
	mkdir folder
	"$TARE" time -N -r 1 --style none --lab folder/lab.db true
	# the default place is made
	TARE_LAB=$PWD/own/lab.db "$TARE" time -N -r 1 --style none true
	[ -f own/lab.db ]
	HOME=$PWD/home TARE_LAB='' XDG_DATA_HOME='' "$TARE" time -N -r 1 --style none true
	[ -f home/.local/share/tare/lab.db ]
}

@test "time: short units are understood, and what to type for a percentage is said" {
	run "$TARE" time -N -r 2 -u ms true
	[ "$status" -eq 0 ]
	[[ "$output" == *" ms"* ]]
	run "$TARE" show -u us last
	[[ "$output" == *" µs"* ]]
	"$TARE" export -u ns -f markdown last | grep -q '\[ns\]'
	run "$TARE" time --precision 5 true
	[ "$status" -eq 2 ]
	[[ "$output" == *"for 5 percent, type 5%"* ]]
	run "$TARE" time -u parsec true
	[ "$status" -eq 2 ]
}

@test "time: what is not above the shell's own cost is not 0 ± 0" {
	command -v sqlite3 >/dev/null || skip "needs sqlite3"
	# the cost of the shell that was taken off is made larger than any execution
	"$TARE" time -r 5 --style none :
	sqlite3 lab.db 'UPDATE run SET shell_et_ns = 1e9, shell_pt_net_ns = 1e9, shell_pt_exec_ns = 1e9, shell_pt_tick_ns = 1e9'
	run "$TARE" show last
	[ "$status" -eq 0 ]
	[[ "$output" == *"Elapsed time          not above the shell's own"* ]]
	[[ "$output" != *"± 0 ns"* && "$output" != *"[0, 0]"* ]]
	"$TARE" show --json last | jq -e '.results[0].tare.protocol.measures.et.kept | .ci_low_ns == null and .stddev_ns == null'
	for format in markdown asciidoc orgmode csv; do
		run "$TARE" export -f "$format" last
		[ "$status" -eq 0 ]
		[[ "$output" != *nan* && "$output" != *"± 0"* ]]
	done
	run "$TARE" compare last 1
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"No comparison can be made"*"no time above the shell's own"* ]]
}

@test "time: one run has one mean, or it is said which" {
	"$TARE" time -N -r 12 --export-markdown one.md --export-json one.json --style none "$BURN loop 3ms"
	run "$TARE" show -u ns last
	kept=$(jq '.results[0].tare.protocol.measures.et.kept.mean_ns | round' one.json)
	shown=$(sed -n 's/^  Elapsed time *\([0-9]*\) ns .*/\1/p' <<<"$output")
	# to the digits shown
	[ $(((kept - shown) * 1000 / kept)) -eq 0 ]
	"$TARE" export -f markdown -u ns last | grep -q "| $shown ± "
	"$TARE" report --json last | jq -e --argjson kept "$kept" '.sections[0].kept.et.mean_ns | round == $kept'
	# those of all say so
	"$TARE" list | grep -q "ET of all"
	"$TARE" list --json | jq -e '.[0] | has("mean_et_of_all_ns") and (has("mean") | not)'
	jq -e '.results[0] | (.times | add / length) - .mean | fabs < 1e-9' one.json
}

# bats test_tags=slow
@test "time: kill -9 in the 7th of 10 runs leaves 6 and says interrupted" {
	"$TARE" time -N -w 0 -r 10 --style none "sh -c 'echo x >>count; exec sleep 0.6'" &
	pid=$!
	for _ in $(seq 400); do
		[ -f count ] && [ "$(wc -l <count)" -ge 7 ] && break
		sleep 0.02
	done
	kill -9 $pid
	wait $pid || true
	run "$TARE" list
	[ "$status" -eq 0 ]
	[[ "$output" == *"6/10"* && "$output" == *interrupted* ]]
	"$TARE" show --json last >s.json
	jq -e '(.results[0].times | length) == 6 and .results[0].tare.status == "interrupted"' s.json
	"$TARE" sql "PRAGMA integrity_check" | grep -q ok
	none_left 'sleep 0[.]6$'
}

@test "time: interrupted by the user: kept, exit 130" {
	"$TARE" time -N -w 0 -r 100 "sh -c 'echo x >>count; exec sleep 0.1'" >text 2>err &
	pid=$!
	for _ in $(seq 400); do
		[ -f count ] && [ "$(wc -l <count)" -ge 4 ] && break
		sleep 0.02
	done
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	[ "$status" -eq 130 ]
	grep -q interrupted err
	jq -e '.results[0] | (.times | length) >= 3 and .tare.status == "interrupted"' < <("$TARE" show --json)
}

@test "time: as an ordinary user it works and says what is missing" {
	needs_root
	users_home
	cp "$TARE" "$home/tare"
	as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups env -u SUDO_UID HOME="$home" TARE_LAB= "$@"; }
	cd "$home"
	run as_nobody "$home/tare" time -N -r 3 'sleep 0.01'
	[ "$status" -eq 0 ]
	[[ "$output" == *"plain"* && "$output" == *"root"* ]]
	[ -f "$home/.local/share/tare/lab.db" ]
	run as_nobody "$home/tare" time --backend bpf -N -r 3 true
	[ "$status" -eq 3 ]
	run as_nobody "$home/tare" --version
	[[ "$output" == *"bpf      cannot be used here"* ]]
}

@test "time: under sudo the command and the lab are the user's" {
	needs_root
	users_home
	export SUDO_UID=65534 SUDO_GID=65534 TARE_LAB="$home/new/lab.db"
	"$TARE" time -w 0 -r 1 --style none --export-json "$home/x.json" "id -u >$home/who"
	[ "$(cat "$home/who")" = 65534 ]
	[ "$(stat -c %u "$home/new" "$home"/new/* "$home/x.json" | sort -u)" = 65534 ]
	rm "$home/who"
	"$TARE" time -w 0 -r 1 --style none --as-root "id -u >$home/who"
	[ "$(cat "$home/who")" = 0 ]
	[ "$(stat -c %u "$home"/new/* | sort -u)" = 65534 ]
}

# bats test_tags=slow,alone
@test "time: every back end that can be used here gives the same process time" {
	most=1.1
	# the sanitizer's work at the end comes after the program's own reading
	[ -z "${TARE_TEST_SANITIZED:-}" ] || most=3
	for backend in bpf netlink plain; do
		if ! "$TARE" --version | grep -q "^  $backend *can be used"; then
			[ "${TARE_TEST_REQUIRE:-0}" != 1 ]
			continue
		fi
		rm -f burned
		BURN_LOG=$PWD/burned "$TARE" time --backend $backend -N -w 0 -r 3 --json "$BURN loop 30ms" >b.json
		own=$(sort -n burned | sed -n 2p)
		jq -e --argjson own "$own" --argjson most "$most" '[.results[0].tare.executions[].pt_ns.exec] | sort[1] / $own | . > 0.9 and . < $most' b.json
		jq -e --arg backend $backend '.results[0].tare.backend == $backend' b.json
	done
}

@test "time: a lab that cannot be used is said, and left as it was" {
	echo "not a database, but precious" >precious
	cp precious copy
	run "$TARE" time --lab precious -r 1 true
	[ "$status" -eq 2 ]
	cmp precious copy
	run "$TARE" time --no-lab -N -r 2 --style none true
	[ "$status" -eq 0 ]
}

@test "time: two at once share a lab" {
	"$TARE" time -N -r 20 --style none true &
	first=$!
	"$TARE" time -N -r 20 --style none true
	wait $first
	[ "$("$TARE" sql --csv 'SELECT count(*) FROM executions WHERE NOT warmup' | tail -1)" = 40 ]
}

@test "time: the command may use the terminal" {
	command -v script >/dev/null || skip "needs script(1)"
	run timeout 20 script -qec "$TARE time -N -w 0 -r 1 \"sh -c 'stty sane </dev/tty'\"" /dev/null
	[ "$status" -eq 0 ]
	[[ "$output" == *"Elapsed time"* ]]
}

@test "time: a hook can be interrupted" {
	begin=$SECONDS
	"$TARE" time -N -r 3 --style none -p 'sleep 983' true 2>err &
	pid=$!
	for _ in $(seq 200); do
		pgrep -f '^sleep 983' >/dev/null && break
		sleep 0.02
	done
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	[ "$status" -eq 130 ]
	[ $((SECONDS - begin)) -lt 20 ]
}

@test "time: under sudo the hooks are root's" {
	needs_root
	users_home
	export SUDO_UID=65534 SUDO_GID=65534 TARE_LAB="$home/lab.db"
	"$TARE" time -w 0 -r 1 --style none --prepare "id -u >$BATS_TEST_TMPDIR/who" true
	[ "$(cat "$BATS_TEST_TMPDIR/who")" = 0 ]
}

@test "time: output of what is left behind is read to its end" {
	"$TARE" time -w 0 -r 1 --json --grace 10s --output pipe '(sleep 0.05; seq 300000) & exit 0' >p.json
	jq -e '.results[0].tare.executions[0] | .left_behind >= 1 and .ended == 0' p.json
}

@test "time: a limit holds for a command that never stops writing" {
	run timeout 30 "$TARE" time -N -w 0 -r 1 --output pipe --time-limit 300ms yes
	[ "$status" -eq 4 ]
	[[ "$output" == *"time limit"* ]]
}

@test "time: a command that never got to exec is not stored as one" {
	mkfifo fifo
	run "$TARE" time -N -w 0 -r 1 --input fifo --time-limit 200ms cat
	[ "$status" -eq 4 ]
	[[ "$output" == *"did not get to run"* ]]
	run "$TARE" list
	[[ "$output" == *"no runs"* ]]
}

@test "output that cannot be written is an error" {
	"$TARE" time -N -r 2 --style none true
	for words in "list" "show" "show --json" "sql SELECT(1)" "--help" "doctor" "export"; do
		status=0
		# shellcheck disable=SC2086
		"$TARE" $words >/dev/full 2>err || status=$?
		[ "$status" -ne 0 ] || { echo "tare $words"; false; }
		grep -q "No space left" err
	done
}

@test "time: an export goes where a link leads, and into a file of a closed folder" {
	echo old >target
	ln -s target link
	"$TARE" time -N -r 2 --style none --export-json link true
	[ -L link ]
	jq -e .results target >/dev/null
}

@test "time: a shortened option that could be two is refused" {
	run "$TARE" time --min 2 true
	[ "$status" -eq 2 ]
	[[ "$output" == *ambiguous* ]]
}

@test "time: --help fits a screen, --help-all has all" {
	run "$TARE" time --help
	[ "${#lines[@]}" -le 36 ]
	run "$TARE" time --help-all
	[[ "$output" == *--no-aslr* && "$output" == *--orphans* ]]
	run "$TARE" help time
	[ "$status" -eq 0 ]
	[[ "$output" == "Usage: tare time"* ]]
	run "$TARE" help nonesuch
	[ "$status" -eq 2 ]
}
