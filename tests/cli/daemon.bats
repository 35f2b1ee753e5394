#!/usr/bin/env bats
# tare daemon; the binary is $TARE.

setup() {
	: "${TARE:?set TARE to the binary under test}"
	cd "$BATS_TEST_TMPDIR" || return 1
}

# refused WORDS...: `tare daemon` with the rest as options exits with 2, says WORDS, leaves no log
refused() {
	local words=$1
	shift
	run timeout 5 "$TARE" daemon --log log "$@"
	[ "$status" -eq 2 ]
	output=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$output" == *"$words"* ]]
	[ ! -e log ]
}

# in_ms MS: CLOCK_MONOTONIC then, in ns
in_ms() {
	python3 -c "import time; print(time.monotonic_ns() + $1 * 10**6)"
}

# bats test_tags=slow,alone
@test "daemon: keeps its period and the length of its work" {
	"$TARE" daemon -p 50ms -w 2ms -n 10 --log log 2>said
	[ "$(head -n 1 log)" = number,begin_ns,length_ns,cpu_ns ]
	[ "$(wc -l <log)" -eq 11 ]
	grep -q "10 activations of " said
	# each begins at its deadline or, on a loaded machine, after it; lengths within wide bounds
	awk -F, 'NR == 2 { first = $2 - 50e6 * $1 }
		NR > 1 {
			late = $2 - first - 50e6 * $1
			if ($1 != NR - 1 || late < -20e6 || late > 45e6) bad = bad " " $0
			if ($3 < 1e6 || $3 > 40e6 || $4 < 1e6 || $4 > 6e6 || $4 > $3 + 1e5) bad = bad " " $0
		}
		END { if (bad) { print bad; exit 1 } }' log
}

# bats test_tags=slow
@test "daemon: goes by its name, and a signal ends it well" {
	for signal in TERM INT HUP; do
		rm -f said
		# bash starts what is in the background with SIGINT ignored; bats waits for fd 3
		env --default-signal=INT "$TARE" daemon --name "bad neighbour" -p 100ms -w 1ms \
			--duration 30s --log log 2>said 3>&- &
		pid=$!
		for ((i = 0; i < 200; i++)); do
			grep -qs works said && break
			sleep 0.05
		done
		[ "$(cat "/proc/$pid/comm")" = "bad neighbour" ]
		grep -q "bad neighbour ($pid) works 1.000 ms every 100.0 ms" said
		sleep 0.5
		kill -s $signal $pid
		wait $pid
		[ "$(wc -l <log)" -ge 3 ]
	done
}

# bats test_tags=slow
@test "daemon: stops at once, even in the midst of long work or sleep" {
	SECONDS=0
	run timeout -s TERM --preserve-status 1 "$TARE" daemon -p 1h -w 1s --log log
	[ "$status" -eq 0 ]
	[ "$(cat log)" = number,begin_ns,length_ns,cpu_ns ]
	run timeout -s TERM --preserve-status 1 "$TARE" daemon --class other -p 1h -w 59m --log log \
		--start-at "$(in_ms 300)"
	[ "$status" -eq 0 ]
	[ "$(wc -l <log)" -eq 1 ]
	[ "$SECONDS" -lt 10 ]
}

@test "daemon: --duration ends it, - is standard output" {
	"$TARE" daemon -p 100ms -w 100us -d 450ms --log - >out 2>said
	lines=$(wc -l <out)
	[ "$lines" -ge 2 ] && [ "$lines" -le 5 ]
}

# bats test_tags=slow,alone
@test "daemon: --start-at and --cpu are followed" {
	at=$(in_ms 1000)
	cpu=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')
	"$TARE" daemon -p 1h -w 1ms -n 1 --start-at "$at" --cpu "$cpu" --log log 2>said
	begin=$(sed -n 2p log | cut -d, -f2) # mawk's %d ends at 2^31
	[ "$begin" -ge "$at" ]
	[ "$begin" -lt $((at + 200000000)) ]
	grep -q "CPU $cpu" said
}

# periods SEED SHARE: what lies between the activations of a daemon, in ms
periods() {
	"$TARE" daemon -p 40ms --busy 200us --jitter "$2" --seed "$1" --fifo -n 12 --log log 2>said
	awk -F, 'NR > 2 { printf "%.0f\n", ($2 - last) / 1e6 } { last = $2 }' log
}

# bats test_tags=slow,alone
@test "daemon: --jitter varies each period, by its seed" {
	periods 1 50% >first
	grep -q "works 200.0 µs every 40.00 ms ± 50 %" said
	# on a loaded machine one comes late, and the next period is shorter for it
	awk '$1 < 19 || $1 > 61 { bad++ } { low = NR == 1 || $1 < low ? $1 : low; high = $1 > high ? $1 : high }
		END { exit !(NR == 11 && bad <= 3 && high - low > 10) }' first
	periods 1 0.5 >again
	periods 2 0.5 >other
	near() { paste first "$1" | awk '{ d = $1 - $2 } d > -3 && d < 3 { n++ } END { print n + 0 }'; }
	[ "$(near again)" -ge 5 ]
	[ "$(near again)" -gt "$(near other)" ]
}

@test "daemon: without the right to real time it runs in the ordinary class" {
	[ "$(id -u)" -eq 0 ] || skip "needs root, to give it up"
	command -v setpriv >/dev/null || skip "needs setpriv"
	run setpriv --bounding-set -sys_nice --inh-caps -sys_nice \
		"$TARE" daemon -p 20ms -w 100us -n 2
	[ "$status" -eq 0 ]
	[[ "$output" == *"runs in the ordinary class"* ]]
	[[ "$output" != *FIFO* ]]
	run "$TARE" daemon --class other -p 20ms -w 100us -n 2
	[ "$status" -eq 0 ]
	[[ "$output" != *class* ]]
}

@test "daemon: bad input is refused" {
	refused "the work (20.00 ms) must be less than the period (10.00 ms)" -p 10ms -w 20ms
	refused "must be less than the period" -p 10ms -w 10ms
	refused "must be less than the shortest period (5.000 ms)" -p 10ms --busy 6ms --jitter 50%
	refused "the jitter must be less than 100%" --jitter 100%
	refused "--jitter" --jitter lots
	refused "--seed" --jitter 5% --seed -1
	refused "either --fifo or --class other" --fifo --class other
	refused "the period is 0" -p 0
	refused "the work is 0" -w 0
	refused "the name 'sixteen_bytes_ab' is too long" --name sixteen_bytes_ab
	refused "the name is empty" --name ''
	refused "there is no CPU 100000" --cpu 100000
	refused "either a count or a duration" -n 3 -d 1s
	refused "is over already" --start-at 1
	refused "--priority is of the class fifo" --class other --priority 3
	refused "--priority" --priority 100
	refused "--priority" --priority 0
	refused "--count" --count 0
	refused "--period" --period soon
	refused "--class" --class batch
	refused "takes no operands" now
	run "$TARE" daemon -p 10ms -w 1ms -n 1 --log /nowhere/log
	[ "$status" -ne 0 ]
	[[ "$output" == *"/nowhere/log"* ]]
}
