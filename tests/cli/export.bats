#!/usr/bin/env bats
# export as a user types it, as far as other files do not; the binary is $TARE.

setup() {
	: "${TARE:?set TARE to the binary under test}"
	cd "$BATS_TEST_TMPDIR" || return 1
	export TARE_LAB=$BATS_TEST_TMPDIR/lab.db
}

# refused WORDS...: `tare export` with the rest as options exits with 2, says WORDS, writes nothing
refused() {
	local words=$1
	shift
	run "$TARE" export "$@"
	[ "$status" -eq 2 ]
	output=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$output" == *"$words"* ]]
	[ ! -e out ]
}

@test "export: --perfetto says what it lacks" {
	"$TARE" time -N -w 1 -r 2 --style none true >/dev/null
	refused "run 1 has no trace 'tare time --trace' records one" --perfetto -o out
	refused "execution 2 of run 1 has no trace" --perfetto -o out last 2
	refused "warm-up 1 of run 1 has no trace" --perfetto -o out last w1
	refused "run 1 has no execution 3" --perfetto -o out last 3
	refused "run 1 has no warm-up 2" --perfetto -o out last w2
	for name in 0 -1 w 1x '' 99999999999999999999; do
		refused "'$name' is not the number of an execution" --perfetto -o out -- last "$name"
	done
	refused "there is no run 'nothing'" --perfetto -o out nothing
	refused "one run and one execution" --perfetto -o out last 1 2
	for option in --executions --study --format=json --time-unit=second; do
		refused "has one format" --perfetto -o out "$option"
	done
}

@test "export: a trace is not for a terminal" {
	command -v script >/dev/null || skip "needs script(1)"
	"$TARE" time -N -w 0 -r 1 --style none true >/dev/null
	run script -qec "'$TARE' export --perfetto" /dev/null
	[ "$status" -eq 2 ]
	[[ "$output" == *"nothing for a terminal"* ]]
}

@test "export: a recorded trace is written for Perfetto" {
	"$TARE" time --help-all | grep -q -- --trace || skip "needs tare time --trace"
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	"$TARE" time --trace -N -w 0 -r 2 --style none 'sleep 0.01' >/dev/null
	"$TARE" export --perfetto -o first 2>said
	grep -q "this is execution 1 of run 1" said
	"$TARE" export --perfetto last 2 >second 2>said
	[[ "$(cat said)" != *"this is"* ]]
	for file in first second; do
		# a packet is field 1; its length takes four bytes
		[ "$(head -c 1 "$file" | od -An -tx1)" = " 0a" ]
		grep -aq "subject: sleep" "$file"
	done
}
