#!/usr/bin/env bats
# tare inc; the binary is $TARE.
# bats file_tags=alone

setup() {
	: "${TARE:?set TARE to the binary under test}"
	cd "$BATS_TEST_TMPDIR" || return 1
	export TARE_LAB=$BATS_TEST_TMPDIR/lab.db XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
	unset SUDO_UID SUDO_GID
	mkdir "$XDG_CACHE_HOME"
}

# cpu_ms ARGUMENT...: CPU time of `tare inc` with these, as it says itself, in ms
cpu_ms() {
	"$TARE" inc -v "$@" 2>&1 | awk '/turns in/ {
		print $5 * ($6 == "s" ? 1000 : $6 == "ms" ? 1 : $6 == "min" ? 60000 : 0.001) }'
}

# between LOW VALUE HIGH
between() {
	awk -v low="$1" -v value="$2" -v high="$3" 'BEGIN { exit !(value >= low && value <= high) }' ||
		{ echo "$2 is not in $1 to $3" && false; }
}

# bats test_tags=slow
@test "inc: half a second is about that of CPU time" {
	# what shares the core may double it, and the first one calibrates
	"$TARE" inc 1ms
	"$TARE" time -N -w 0 -r 1 --json "$TARE inc 500ms" >out.json
	between 0.35 "$(jq '.results[0].process_times[0]' out.json)" 2
}

# bats test_tags=slow
@test "inc: twice the turns take twice the time" {
	turns=$("$TARE" inc --print 60ms)
	# the least of each is what the host let be: on one that changes its speed it may take more than five rounds to be seen
	for round in {1..20}; do
		cpu_ms --turns "$turns" >>once
		cpu_ms --turns $((2 * turns)) >>twice
		ratio=$(paste <(sort -g once | head -n 1) <(sort -g twice | head -n 1) | awk '{ print $2 / $1 }')
		if [ "$round" -ge 5 ] && between 1.4 "$ratio" 2.9; then break; fi
	done
	between 1.4 "$ratio" 2.9
}

@test "inc: the same time is the same work, kept in the cache" {
	turns=$("$TARE" inc --print 8s)
	[ -s cache/tare/inc ]
	[ "$("$TARE" inc --print 8s)" = "$turns" ]
	between 0.2499 "$(awk -v a="$("$TARE" inc --print 2s)" -v b="$turns" 'BEGIN { print a / b }')" 0.2501
	# what is kept is used; what is asked for anew is not
	sed -i 's/^[^ ]*/1000/' cache/tare/inc
	[ "$("$TARE" inc --print 2s)" = 2000 ]
	[ "$("$TARE" inc --print --calibrate-again 2s)" -gt 1000000 ]
	[ "$("$TARE" inc --print 2s)" -gt 1000000 ]
	[ "$("$TARE" inc --print --turns 77)" = 77 ]
}

# sanitizers read and write by themselves
# bats test_tags=slow
@test "inc: prints nothing unless it is asked to, and reads and writes nothing while it counts" {
	run "$TARE" inc --turns 1000
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	run "$TARE" inc -v --turns 1000
	[[ "$output" == "tare: 1000 turns in "*" of CPU time" ]]
	"$TARE" time -N -w 1 -r 2 --style none "$TARE inc --turns 1000" "$TARE inc --turns 100000000"
	run "$TARE" sql --tsv "SELECT count(DISTINCT syscr) <= 1, count(DISTINCT syscw) <= 1,
		count(DISTINCT rchar) <= 1, count(DISTINCT wchar) <= 1 FROM executions WHERE NOT warmup"
	[ "${lines[1]}" = $'1\t1\t1\t1' ]
}

@test "inc: without a place for its cache it works as well" {
	export XDG_CACHE_HOME=/proc/nowhere
	[ "$("$TARE" inc --print 1s)" -gt 1000000 ]
}

@test "inc: under sudo, the cache is the user's" {
	[ "$(id -u)" -eq 0 ] || skip "needs root, to be called by sudo"
	getent passwd nobody >/dev/null || skip "needs the user nobody"
	SUDO_UID=$(id -u nobody) SUDO_GID=$(id -g nobody) run "$TARE" inc --print 1s
	[ "$status" -eq 0 ]
	[ ! -e cache/tare ]
}

@test "inc: bad input is refused" {
	for words in "" "8s 9s" "soon" "0" "--turns 0" "--turns 5 8s" "-- -1s" "1000000000000d"; do
		# shellcheck disable=SC2086
		run "$TARE" inc $words
		[ "$status" -eq 2 ]
		[[ "$output" == "tare: "* ]]
	done
	"$TARE" inc 1ms
	sed -i 's/^[^ ]*/1e11/' cache/tare/inc
	run "$TARE" inc 100000d
	[ "$status" -eq 2 ]
	[[ "$output" == *"longer than can be counted"* ]]
}

@test "the papers' other programs compute what they should, in either order" {
	programs=$(dirname "$TARE")/tests/programs
	[ -x "$programs/sort" ] || skip "needs the programs of the tests"
	cat >expected.py <<-'END'
		import sys
		n, most, x = int(sys.argv[2]), 2**64, 1
		def draw():
		    global x
		    x = (x * 1664525 + 1013904223) % 2**32
		    return x
		if sys.argv[1] == "sort":
		    values = sorted(draw() for _ in range(n))
		else:
		    a, b = ([[draw() >> 16 for _ in range(n)] for _ in range(n)] for _ in range(2))
		    values = [sum(p * q for p, q in zip(row, column)) for row in a for column in zip(*b)]
		check = 0
		for value in values:
		    check = (check * 31 + value) % most
		print(check)
	END
	for n in 1 2 37; do
		[ "$("$programs/sort" $n)" = "$(python3 expected.py sort $n)" ]
		[ "$("$programs/matrix" matc $n)" = "$(python3 expected.py matrix $n)" ]
		[ "$("$programs/matrix" matr $n)" = "$("$programs/matrix" matc $n)" ]
	done
	for words in "sort" "sort 0" "sort x" "matrix 5" "matrix mat 5" "matrix matc 0"; do
		# shellcheck disable=SC2086
		run "$programs"/$words
		[ "$status" -eq 2 ]
	done
}
