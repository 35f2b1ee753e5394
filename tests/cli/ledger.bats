#!/usr/bin/env bats
# What only a kept ledger can show, against a live kernel; the binary is $TARE.
# bats file_tags=alone

setup() {
	: "${TARE:?set TARE to the binary under test}"
	BURN=$(dirname "$TARE")/tests/programs/burn
	cd "$BATS_TEST_TMPDIR" || return 1
	export TARE_LAB=$BATS_TEST_TMPDIR/lab.db
	if [ "$(id -u)" -ne 0 ]; then
		[ "${TARE_TEST_REQUIRE:-0}" != 1 ] || return 1
		skip "needs root"
	fi
}

# A competitor with a name of its own: a shell that burns on CPU 0. It is real-time, with this priority, and so are its
# subjects: whatever else runs on the machine can neither take their CPUs nor be to blame.
make_disturber() {
	chrt -r "$1" true || skip "needs real-time priorities"
	cp "$(command -v dash || command -v bash)" disturber
	cat >disturb <<-END
	#!/bin/sh
	# as --prepare of an execution: the fifth measured one (and one warm-up before it) is disturbed
	n=\$(cat count 2>/dev/null || echo 0)
	echo \$((n + 1)) >count
	[ \$n -eq 5 ] || exit 0
	setsid taskset -c 0 chrt -r $1 timeout 2 ./disturber -c 'echo >running; i=0; while :; do i=\$((i + 1)); done' </dev/null >/dev/null 2>&1 &
	echo \$! >disturber.pid
	# on a busy machine that takes a while
	until [ -e running ]; do sleep 0.01; done
	END
	chmod +x disturb
}

teardown() {
	[ ! -s "$BATS_TEST_TMPDIR/disturber.pid" ] || kill "$(cat "$BATS_TEST_TMPDIR/disturber.pid")" 2>/dev/null || true
}

# The competitor must be gone before the next execution begins.
end_disturber() {
	cat >undisturb <<-'END'
	#!/bin/sh
	[ -s disturber.pid ] || exit 0
	kill "$(cat disturber.pid)" 2>/dev/null
	: >disturber.pid
	sleep 0.1
	END
	chmod +x undisturb
}

@test "ledger: its line adds up to the elapsed time" {
	run "$TARE" time -N -r 5 --cpu 0 "$BURN loop 20ms"
	[ "$status" -eq 0 ]
	[[ "$output" == *"  Ledger  "*"run "*" %"* ]]
	[[ "$output" == *"Process time (net)"* ]]
	while IFS= read -r line; do [ "${#line}" -le 80 ]; done <<<"$output"
	"$TARE" show --json >out.json
	jq -e '.results[0].tare.executions | all((.et_ns - ([.ledger.wall_ns[]] | add) | fabs) < 5000)' out.json
	jq -e '.results[0].tare.executions | all(.ledger | .account as $a | .entries | group_by(.cause)
		| all(([.[].ns] | add) == $a.ns[.[0].cause]))' out.json
	jq -e '.results[0].tare | .grade == "net" and .ledger.executions >= 3' out.json
}

@test "ledger: --ledger shows the whole of a run or of an execution" {
	run "$TARE" time -N -r 3 --ledger "$BURN loop 20ms"
	[ "$status" -eq 0 ]
	[[ "$output" == *"Ledger of run 1, mean of"*"Cause"*"run"*"Others that ran"*"tare's own cost"* ]]
	run "$TARE" show --ledger -e w1
	[ "$status" -eq 0 ]
	[[ "$output" == *"Ledger of run 1, warm-up 1"* ]]
	[[ "$("$TARE" show --ledger -u microsecond)" != *" ms "* ]]
	run "$TARE" show --ledger -e 2
	[ "$status" -eq 0 ]
	[[ "$output" == *"Ledger of run 1, execution 2"*"The subject's threads"* ]]
	while IFS= read -r line; do [ "${#line}" -le 80 ]; done <<<"$output"
	"$TARE" export -x -f csv >out.csv
	[[ "$(head -1 out.csv)" == *,wall_run_ns,* ]]
}

# bats test_tags=slow
@test "explain: an outlier made on purpose comes with its culprit first" {
	make_disturber 1
	end_disturber
	"$TARE" time -N --sched rr:1 -w 1 -r 10 --cpu 0 --style none --prepare ./disturb --conclude ./undisturb \
		"$BURN loop 300ms" >/dev/null
	run "$TARE" explain
	[ "$status" -eq 0 ]
	[[ "$output" == *"Execution 5 took"*"longer than the median execution"* ]]
	while IFS= read -r line; do [ "${#line}" -le 80 ]; done <<<"$output"
	"$TARE" explain --json >out.json
	jq -e '.explained[] | select(.number == 5) | .why == "slow" and .contributions[0].cause == "queued"
		and .contributions[0].names[0].name == "disturber" and .contributions[0].share > 0.8' out.json
	jq -e '.explained | all(([.contributions[].ns] | add) + .remainder_ns == .difference_ns)' out.json
	[[ "$("$TARE" explain -u microsecond)" != *" ms "* ]]
	run "$TARE" explain last "$(jq .median.number out.json)"
	[ "$status" -eq 2 ]
	[[ "$output" == *"is the median one"* ]]
	# the same when asked for
	"$TARE" explain --json last 5 >asked.json
	jq -e '.explained[0] | .why == "asked" and .contributions[0].names[0].name == "disturber"' asked.json
}

# bats test_tags=slow
@test "explain: a parallel subject with a hog on one CPU, the hog first" {
	[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"
	cp "$(command -v dash || command -v bash)" evilhog
	cat >disturb <<-'END'
	#!/bin/sh
	n=$(cat count 2>/dev/null || echo 0)
	echo $((n + 1)) >count
	[ $n -eq 4 ] || exit 0
	setsid taskset -c 1 chrt -r 2 timeout 2 ./evilhog -c 'echo >running; i=0; while :; do i=$((i + 1)); done' </dev/null >/dev/null 2>&1 &
	echo $! >disturber.pid
	until [ -e running ]; do sleep 0.01; done
	END
	chmod +x disturb
	end_disturber
	cat >both <<-'END'
	#!/bin/sh
	work='i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done'
	taskset -c 0 sh -c "$work" & taskset -c 1 sh -c "$work" &
	wait
	END
	chmod +x both
	"$TARE" time -N --sched rr:1 -w 1 -r 6 --style none --prepare ./disturb --conclude ./undisturb ./both >/dev/null
	"$TARE" explain --json last 4 >out.json
	jq -e '.explained[0].contributions[0] | .cause == "queued" and .names[0].name == "evilhog"
		and .share > 0.5 and .parallel_ns > 0' out.json
	jq -e '.explained | all(([.contributions[].ns] | add) + .remainder_ns == .difference_ns)' out.json
	run "$TARE" explain last 4
	[ "$status" -eq 0 ]
	# its own code may take a little longer, too, but that does not come first
	[[ "${output%%no cause outside it*}" == *evilhog* ]]
	[[ "$output" == *"several threads or processes"* ]]
	while IFS= read -r line; do [ "${#line}" -le 80 ]; done <<<"$output"
}

# Where they may move, the scheduler puts both on the CPU that the hog has not.
# bats test_tags=slow
@test "explain: a parallel subject that evades the hog, which is named all the same" {
	[ "$(nproc)" -eq 2 ] || skip "needs just two CPUs, or the subject evades it at no cost"
	make_disturber 2
	end_disturber
	cat >both <<-'END'
	#!/bin/sh
	work='i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done'
	sh -c "$work" & sh -c "$work" &
	wait
	END
	chmod +x both
	"$TARE" time -N --sched rr:1 -w 1 -r 6 --style none --prepare ./disturb --conclude ./undisturb ./both >/dev/null
	"$TARE" explain --json last 5 >out.json
	jq -e '.explained[0].contributions[:2] | any(.names[0].name == "disturber")' out.json
	jq -e '.explained | all(([.contributions[].ns] | add) + .remainder_ns == .difference_ns)' out.json
}
