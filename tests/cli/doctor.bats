#!/usr/bin/env bats
# tare doctor; the binary is $TARE.

setup() {
	machines=$BATS_TEST_DIRNAME/../golden/machines
	: "${TARE:?set TARE to the binary under test}"
}

@test "doctor: judges this machine, within 80 columns" {
	run "$TARE" doctor --all
	[ "$status" -eq 0 ]
	[[ "${lines[-1]}" =~ :\ [0-9]+\ bad,\ [0-9]+\ warn,\ [0-9]+\ note,\ [0-9]+\ ok\.$ ]]
	while IFS= read -r line; do
		[ "${#line}" -le 80 ] || [[ "$line" != *" "*" "* ]]
	done <<<"$output"
	[[ "$output" != *$'\033'* ]]
}

@test "doctor: worst first, with effect and remedy" {
	run "$TARE" doctor --from "$machines/laptop.txt"
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" == "BAD     The machine runs on its battery [battery]" ]]
	[[ "$output" == *"-> echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"* ]]
	[[ "$output" == *"Mend the bad ones before measuring here: 1 bad, 10 warn, 20 note,"* ]]
	[[ "$output" != *$'\nok '* ]]
}

@test "doctor: a command that is broken can be pasted" {
	"$TARE" doctor --from "$machines/laptop.txt" | sed -n '/-> echo performance |/,/^[a-zA-Z]/p' |
		sed -n -e 's/^ *-> //' -e '1,/[^\\]$/p' > "$BATS_TEST_TMPDIR/command"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/command")" -eq 2 ]
	run bash -f -c "sudo() { echo \"as root: \$*\"; cat; }; $(cat "$BATS_TEST_TMPDIR/command")"
	[ "${lines[0]}" = "as root: tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor" ]
	[ "${lines[1]}" = performance ]
}

@test "doctor: --fail-if decides the exit code" {
	run "$TARE" doctor --fail-if bad --from "$machines/laptop.txt"
	[ "$status" -eq 1 ]
	run "$TARE" doctor --fail-if bad --from "$machines/vm.txt"
	[ "$status" -eq 0 ]
	run "$TARE" doctor --fail-if warn --from "$machines/vm.txt"
	[ "$status" -eq 1 ]
	run "$TARE" doctor --fail-if warn --from "$machines/server.txt"
	[ "$status" -eq 0 ]
	run "$TARE" doctor --fail-if note --from "$machines/server.txt"
	[ "$status" -eq 1 ]
	run "$TARE" doctor --fail-if sometimes
	[ "$status" -eq 2 ]
}

@test "doctor: --all adds what is in order and what is not known" {
	run "$TARE" doctor --all --from "$machines/ancient.txt"
	[[ "$output" == *$'\nok      '* ]]
	[[ "$output" == *$'\n?       not known here: '* ]]
	run "$TARE" doctor --from "$machines/ancient.txt"
	[[ "$output" != *"not known here"* ]]
}

@test "doctor: --json is what the schema says" {
	"$TARE" doctor --json --all > "$BATS_TEST_TMPDIR/all.json"
	"$TARE" doctor --json --from "$machines/laptop.txt" > "$BATS_TEST_TMPDIR/laptop.json"
	"$TARE" doctor --json --facts > "$BATS_TEST_TMPDIR/facts.json"
	run python3 - "$BATS_TEST_TMPDIR" "$BATS_TEST_DIRNAME/../../docs/schema/doctor.schema.json" <<-'PY'
		import json, sys
		schema = json.load(open(sys.argv[2]))
		load = lambda name: json.load(open(f"{sys.argv[1]}/{name}.json"))
		try:
		    import jsonschema
		    for name in ("all", "laptop", "facts"):
		        jsonschema.validate(load(name), schema)
		except ImportError:
		    pass
		finding = schema["properties"]["findings"]["items"]
		finding = schema["$defs"][finding["$ref"].split("/")[-1]] if "$ref" in finding else finding
		for d in (load("all"), load("laptop")):
		    assert set(d) == {"tare", "fingerprint", "verdict", "counts", "findings"}, d.keys()
		    for f in d["findings"]:
		        assert set(f) == set(finding["required"]), f
		        assert f["severity"] in finding["properties"]["severity"]["enum"], f
		assert sum(load("all")["counts"].values()) == len(load("all")["findings"])
		assert load("laptop")["verdict"] == "bad"
		assert all(f["severity"] in ("note", "warn", "bad") for f in load("laptop")["findings"])
		facts = load("facts")
		assert set(facts) == {"tare", "fingerprint", "facts"} and facts["facts"]["kernel.release"]
		assert facts["fingerprint"] == load("all")["fingerprint"]
	PY
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "doctor: --facts can be read back" {
	"$TARE" doctor --facts > "$BATS_TEST_TMPDIR/facts"
	grep -qx "kernel.release=$(uname -r)" "$BATS_TEST_TMPDIR/facts"
	"$TARE" doctor --facts --from - < "$BATS_TEST_TMPDIR/facts" | cmp - "$BATS_TEST_TMPDIR/facts"
}

@test "doctor: facts from elsewhere cannot reach the terminal" {
	printf 'kernel.release=\033[31m2.6.1\nsystem.container=\033]0;x\007\n' > "$BATS_TEST_TMPDIR/evil"
	run "$TARE" doctor --from "$BATS_TEST_TMPDIR/evil"
	[ "$status" -eq 0 ]
	[[ "$output" == *"\\x1b]0;x\\x07"* ]]
	[[ "$output" != *$'\033'* ]]
}

@test "doctor: no facts, no file, an operand: said, not judged" {
	run "$TARE" doctor --from "$BATS_TEST_TMPDIR/absent"
	[ "$status" -eq 2 ]
	[[ "$output" == *"cannot read the facts in"*"No such file"* ]]
	: > "$BATS_TEST_TMPDIR/empty"
	run "$TARE" doctor --from "$BATS_TEST_TMPDIR/empty"
	[ "$status" -eq 2 ]
	run "$TARE" doctor now
	[ "$status" -eq 2 ]
	[[ "$output" == *"takes no operands"* ]]
}

@test "doctor: works without privileges" {
	[ "$(id -u)" -eq 0 ] || skip "needs ROOT to drop it"
	chmod 755 "$BATS_TEST_TMPDIR"
	cp "$TARE" "$BATS_TEST_TMPDIR/tare"
	cd /
	run setpriv --reuid=65534 --regid=65534 --clear-groups "$BATS_TEST_TMPDIR/tare" doctor
	[ "$status" -eq 0 ]
	[[ "$output" == *"[privilege]"* ]]
}

@test "doctor: coloured on a terminal only, and not with NO_COLOR" {
	command -v script > /dev/null || skip "needs script(1)"
	TERM=xterm run env -u NO_COLOR script -qec "$TARE doctor --from $machines/laptop.txt" /dev/null
	[[ "$output" == *$'\033[1;31mBAD'* ]]
	TERM=xterm NO_COLOR=1 run script -qec "$TARE doctor --from $machines/laptop.txt" /dev/null
	[[ "$output" != *$'\033'* ]]
	[[ "$output" == *"BAD"* ]]
}
