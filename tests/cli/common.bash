# shellcheck shell=bash
# What tests of several commands have in common: `load common`.

needs_root() {
	if [ "$(id -u)" -ne 0 ]; then
		[ "${TARE_TEST_REQUIRE:-0}" != 1 ] || return 1
		skip "needs root"
	fi
}

# none_left PATTERN: no process has that command line. `! pgrep` would only count as the last line of a test.
none_left() {
	if pgrep -f "$1"; then return 1; fi
}

# succeeds_within SECONDS COMMAND...: succeeds as soon as the command does, at the latest after so long
succeeds_within() {
	local end=$((SECONDS + $1))
	shift
	while [ $SECONDS -le $end ]; do
		if "$@" >/dev/null 2>&1; then return 0; fi
		sleep 0.05
	done
	"$@"
}

soon() { succeeds_within 10 "$@"; }

# one_query NAME SQL: small.yaml, an experiment with that query of a table `items`
one_query() {
	cat >small.yaml <<-END
		name: small
		cardinalities: [3000]
		tables:
		  - name: items
		    varies: true
		    seed: 7
		    columns:
		      - { name: id, type: integer, serial: true, primary: true }
		queries:
		  - name: $1
		    sql: $2
	END
}

# kill_both PID: kills that tare, and its guard first, so that nobody puts things right
kill_both() {
	soon pgrep -f "^tare-guard $1\b"
	kill -9 "$(pgrep -f "^tare-guard $1\b")"
	kill -9 "$1"
}
