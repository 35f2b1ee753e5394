#!/usr/bin/env bats
# The speed of the CPU: its probe, PT(steady), tare doctor --speed; the binary is $TARE.

setup() {
	export TARE_LAB="$BATS_TEST_TMPDIR/lab.db"
}

@test "time --json has the probes of each execution" {
	# a probe comes with each tick that finds the subject on a CPU: long enough to have some beside other tests
	"$TARE" time -N -r 3 --json "$TARE inc --turns 400000000" >"$BATS_TEST_TMPDIR/out.json"
	run jq -e '.results[0].tare.executions | map(select(.warmup | not)) | length == 3 and
		all(.speed.probes > 0 and .speed.ports_ns > 0 and .speed.chain_ns > 0 and .speed.turns_ns > 0 and
		.speed.loads_ns > 0 and .speed.left_out >= 0 and .speed.self_ns > 0)' "$BATS_TEST_TMPDIR/out.json"
	[ "$status" -eq 0 ]
	run jq -e '.results[0].tare.protocol | .steady.executions == 3 and (.lead == .headline)' "$BATS_TEST_TMPDIR/out.json"
	[ "$status" -eq 0 ]
}

@test "time --no-speed watches nothing, and says nothing of it" {
	run "$TARE" time -N -r 2 --no-speed --style basic true
	[ "$status" -eq 0 ]
	[[ "$output" != *"CPU speed"* ]]
	run "$TARE" sql "SELECT count(*) FROM executions WHERE speed_probes IS NOT NULL"
	[[ "$output" == *0* ]]
	run bash -c "\"$TARE\" show --json | jq -e '.results[0].tare.protocol.steady == null'"
	[ "$status" -eq 0 ]
}

@test "the text says how much the speed varied" {
	run "$TARE" time -N -r 4 --style basic "$TARE inc --turns 50000000"
	[ "$status" -eq 0 ]
	[[ "$output" == *"CPU speed"*"varied by"* ]]
}

@test "the best speed is kept in the lab" {
	"$TARE" time -N -r 3 --style none "$TARE inc --turns 400000000"
	run sqlite3 "$TARE_LAB" "SELECT count(*) FROM speed_best WHERE ns > 0"
	[ "$status" -eq 0 ]
	[ "$output" -eq 4 ]
}

@test "doctor --speed grades every CPU" {
	run bash -c "\"$TARE\" doctor --speed -d 1.2s --json | jq -e '(.grade | IN(\"steady\", \"shared\", \"throttled\")) and
		(.cpus | length > 0 and all(.probes > 0 and .work.ports.best_ns > 0))'"
	[ "$status" -eq 0 ]
	run "$TARE" doctor --speed -d 300ms
	[ "$status" -eq 0 ]
	[[ "$output" == *"Not known: within "* ]]
	run "$TARE" doctor --speed --facts
	[ "$status" -eq 2 ]
	[[ "$output" == *"leave out --facts"* ]]
}

@test "without privileges the run says what is lost" {
	[ "$(id -u)" -eq 0 ] || skip "needs root to drop privileges"
	id nobody >/dev/null || skip "there is no user nobody"
	place=$(mktemp -d /tmp/tare-speed.XXXXXX)
	chmod 777 "$place"
	install -m 755 "$TARE" "$place/tare"
	cd "$place"
	run setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups --inh-caps=-all env HOME="$place" \
		TARE_LAB="$place/lab.db" "$place/tare" time -N -r 2 --style basic "sleep 0.05"
	rm -rf "$place"
	[ "$status" -eq 0 ]
	[[ "$output" == *"speed of the CPU"* ]]
	[[ "$output" == *"SCHED_FIFO"* ]]
}

@test "emp has a row for PT(steady) where the speed was watched" {
	"$TARE" time -N -r 10 --style none "$TARE inc --turns 30000000"
	run bash -c "\"$TARE\" emp --json | jq -e '[.versions[].version][-1] == \"v6+steady\"'"
	[ "$status" -eq 0 ]
	run "$TARE" emp
	[[ "$output" == *"v6+steady"*"tare's own step"* ]]
}
