#!/usr/bin/env bats
# list, rename, rm and sql as a user types them; the binary is $TARE.

setup() {
	: "${TARE:?set TARE to the binary under test}"
	ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	cd "$BATS_TEST_TMPDIR" || return 1
	export TARE_LAB=$BATS_TEST_TMPDIR/lab.db
}

# flat: the output of the last `run` with errors as one line, not wrapped
flat() {
	output=$(tr -s ' \n' ' ' <<<"$output")
}

# measure NAME [RUNS]: a run of true with this name
measure() {
	"$TARE" time -N -w 0 -r "${2:-2}" --style none -n "$1" true >/dev/null
}

ODD=$'it\'s "q", 100%\n<b>\xff|é'

@test "lab: commands that only look make no lab" {
	for command in list "rename last x" "rm last" "sql SELECT"; do
		# shellcheck disable=SC2086
		run "$TARE" $command
		[ "$status" -eq 2 ]
		flat
		[[ "$output" == *"there is no lab at $TARE_LAB"* && "$output" == *"tare time"* ]]
	done
	run "$TARE" list --lab "$PWD/other/lab.db"
	[ "$status" -eq 2 ]
	[ -z "$(ls)" ]
}

@test "list: newest first, by pattern, by number" {
	measure apple 3
	measure banana
	run "$TARE" list
	[ "$status" -eq 0 ]
	[[ "${lines[1]}" == *banana*2/2*complete*s ]]
	[[ "${lines[2]}" == *apple*3/3*complete*s ]]
	[ "${#lines[@]}" -eq 3 ]
	run "$TARE" list -n 1
	[[ "$output" == *banana* && "$output" != *apple* ]]
	run "$TARE" list APP
	[[ "$output" == *apple* && "$output" != *banana* ]]
	run "$TARE" list nothing-like-it
	[ "$status" -eq 0 ]
	[ "$output" = "no runs" ]
	run "$TARE" list -n 0
	[ "$status" -eq 2 ]
	run "$TARE" list a b
	[ "$status" -eq 2 ]
}

@test "list, show: tags are seen" {
	measure apple
	measure pear
	[[ "$("$TARE" list)" != *Tags* ]]
	"$TARE" tag apple "before the fix"
	run "$TARE" list
	[[ "${lines[0]}" == *Tags && "${lines[1]}" == *pear* && "${lines[2]}" == *apple*"before the fix" ]]
	"$TARE" list --json | jq -e 'map(.tags) == [null, "before the fix"]'
	run "$TARE" show apple
	[[ "$output" == *"  Tags  "*"before the fix"* ]]
	[[ "$("$TARE" show pear)" != *"  Tags"* ]]
}

# bats test_tags=slow
@test "list, show: a narrow screen has fewer columns, not longer lines" {
	screen=$BATS_TEST_DIRNAME/screen.py
	measure a-name-of-some-length
	measure another-of-that-length
	"$TARE" tag last "before the fix"
	for size in 60 80 120; do
		for command in list "show -p --all" "show -x"; do
			# shellcheck disable=SC2086
			LC_ALL=C.UTF-8 NO_COLOR=1 run "$screen" ${size}x200 "$TARE" $command
			echo "$size: $output"
			[ "$status" -eq 0 ]
			for line in "${lines[@]}"; do [ "${#line}" -le $size ]; done
		done
	done
	LC_ALL=C.UTF-8 NO_COLOR=1 run "$screen" 60x24 "$TARE" compare @0 @1
	[[ "$output" == *another-of-that-* && "$output" == *" executions)"* ]]
	for line in "${lines[@]}"; do [ "${#line}" -le 60 ]; done
	LC_ALL=C.UTF-8 run "$screen" 60x24 "$TARE" list
	[[ "$output" == *a-name-of-some-length* && "$output" == *Status* && "$output" != *Executions* ]]
	LC_ALL=C.UTF-8 run "$screen" 80x24 "$TARE" list
	[[ "$output" == *"before the fix"* ]]
}

@test "list: JSON is typed" {
	measure apple 3
	"$TARE" list --json >out.json
	jq -e 'length == 1 and (.[0] | .id == 1 and .name == "apple" and .command == "true"
		and .executions == 3 and .planned == 3 and .status == "complete" and .mean_et_of_all_ns > 0
		and (.started_at | test("^20.*Z$")))' out.json
	"$TARE" list --json nothing-like-it | jq -e '. == []'
}

@test "list, sql: odd names stay on their line and valid" {
	measure "$ODD"
	run "$TARE" list
	[ "${#lines[@]}" -eq 2 ]
	[[ "${lines[1]}" == *'it'\''s "q", 100%\n<b>'* ]]
	"$TARE" list --json | jq -e --arg n $'it\'s "q", 100%\n<b>\ufffd|é' '.[0].name == $n'
	"$TARE" sql --json "SELECT name FROM runs" |
		jq -e --arg n $'it\'s "q", 100%\n<b>\ufffd|é' '.[0].name == $n'
	"$TARE" sql --csv "SELECT name, id FROM runs" | tail -n 2 >out.csv
	[ "$(iconv -f UTF-8 -t UTF-8 out.csv)" = $'"it\'s ""q"", 100%\n<b>\ufffd|é",1' ]
	[ "$("$TARE" sql --tsv "SELECT name FROM runs" | wc -l)" -eq 2 ]
	"$TARE" rename "$ODD" plain
	[[ "$("$TARE" list)" == *plain* ]]
}

@test "list, explain: a run of queries is one" {
	command -v sqlite3 || skip "needs sqlite3"
	measure a
	sqlite3 "$TARE_LAB" "UPDATE run SET kind = 3, planned = 40;
		INSERT INTO query_run (run, dbms, cpus, queries, cold, imported, io_by_process, planned, time_limit_ns, tick_ns, seed)
			VALUES (1, 'sqlite', 1, 1, 0, 0, 0, 10, 0, 0, 0);
		INSERT INTO query_at VALUES (1, 1, 1, 1000, 0);
		INSERT INTO query_execution (at, execution, measured_ns) VALUES (1, 1, 5), (1, 2, 6), (1, 3, 7)"
	run "$TARE" list
	[[ "$output" == *"query 3/40"* ]]
	"$TARE" list --json | jq -e '.[0] | .kind == "query" and .executions == 3 and .planned == 40 and .mean_et_of_all_ns == null'
	run "$TARE" explain 1
	[ "$status" -eq 3 ]
	[[ "$output" == *"run 1: no ledger was kept"* ]]
	"$TARE" rm 1
	[ "$(sqlite3 "$TARE_LAB" "SELECT count(*) FROM query_execution")" -eq 0 ]
}

@test "rename: finds the run and refuses what could not be found again" {
	measure apple
	run "$TARE" rename apple pear
	[ "$status" -eq 0 ]
	[ "$output" = "run 1 is now 'pear'" ]
	run "$TARE" rename apple plum
	[ "$status" -eq 2 ]
	[[ "$output" == *"there is no run 'apple'"* ]]
	for name in "" 12 last @3; do
		run "$TARE" rename pear "$name"
		[ "$status" -eq 2 ]
	done
	run "$TARE" rename pear
	[ "$status" -eq 2 ]
	[ "$("$TARE" sql --tsv "SELECT name FROM runs" | tail -n 1)" = pear ]
}

# bats test_tags=slow
@test "rm: several, all or none" {
	for name in a b c d; do measure $name; done
	run "$TARE" rm a nosuch
	[ "$status" -eq 2 ]
	[[ "$output" == *"no run 'nosuch'"* ]]
	[ "$("$TARE" list --json | jq length)" -eq 4 ]
	run "$TARE" rm @0 @1 d
	[ "$status" -eq 0 ]
	[ "$output" = $'removed run 4 \'d\'\nremoved run 3 \'c\'' ]
	run "$TARE" rm
	[ "$status" -eq 2 ]
	[ "$("$TARE" list --json | jq -c 'map(.name)')" = '["b","a"]' ]
	[ "$("$TARE" sql --tsv "SELECT count(*) FROM executions" | tail -n 1)" -eq 4 ]
}

@test "rm: a study goes with all its runs" {
	"$TARE" time -N -w 0 -r 2 --style none -n x -n y true true >/dev/null
	measure z
	run "$TARE" rm --study y
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 2 ]
	[ "$("$TARE" list --json | jq -c 'map(.name)')" = '["z"]' ]
}

@test "rm: a run that is going stays; one whose tare was killed does not" {
	"$TARE" time -N -w 0 -r 1000 --style none -n long "sleep 0.05" >/dev/null 2>&1 3>&- &
	pid=$!
	for _ in $(seq 100); do
		"$TARE" list 2>/dev/null | grep -q "long *[1-9][0-9]*/1000 *going" && break
		sleep 0.05
	done
	run "$TARE" rm long
	[ "$status" -eq 2 ]
	[[ "$output" == *"run 1 is going"* ]]
	kill -KILL "$pid"
	wait "$pid" || true
	run "$TARE" list
	[[ "$output" == *interrupted* ]]
	[ "$("$TARE" list --json | jq '.[0].executions > 0')" = true ]
	"$TARE" rm long
	[ "$("$TARE" list --json | jq length)" -eq 0 ]
}

# bats test_tags=slow
@test "sql: without a statement describes every view, as docs/lab.md does" {
	run "$TARE" sql
	[ "$status" -eq 0 ]
	for view in runs executions processes daemons overall machines; do
		[[ "$output" == *$'\n'"$view: "* ]]
	done
	while IFS= read -r line; do [ "${#line}" -le 80 ]; done <<<"$output"
	"$TARE" sql --json | jq -r '.[] | "| `\(.column)` | \(.meaning) |"' >described
	[ "$(wc -l <described)" -gt 100 ]
	while IFS= read -r line; do grep -qF -- "$line" "$ROOT/docs/lab.md" || { echo "not in docs: $line"; false; }; done <described
}

@test "sql: forms, types and standard input are followed" {
	measure a
	run "$TARE" sql "SELECT id, name, NULL AS n, 1.5 AS r FROM runs"
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" == *id*name*n*r* && "${lines[1]}" == *1*a*-*1.5* ]]
	"$TARE" sql --json "SELECT id, name, NULL AS n, 1.5 AS r, x'00ff' AS b FROM runs" |
		jq -e '. == [{id: 1, name: "a", n: null, r: 1.5, b: "X'\''00FF'\''"}]'
	[ "$(echo "SELECT 1 AS a, 2 AS b WHERE 0" | "$TARE" sql --csv -)" = "a,b" ]
	"$TARE" sql --json "SELECT 1 WHERE 0" | jq -e '. == []'
	run "$TARE" sql --csv --json "SELECT 1"
	[ "$status" -eq 2 ]
	run "$TARE" sql SELECT 1
	[ "$status" -eq 2 ]
}

@test "sql: nothing that writes or reaches elsewhere is allowed" {
	measure a
	before=$(sha256sum <"$TARE_LAB")
	for statement in "DELETE FROM run" "ATTACH 'out.db' AS o" "VACUUM INTO 'out.db'" \
		"PRAGMA user_version = 5" "SELECT 1; SELECT 2" "SELECT load_extension('x')" "SELEC" ""; do
		run "$TARE" sql "$statement"
		[ "$status" -eq 2 ]
		[[ "$output" == "tare: SQL: "* ]]
	done
	[ "$before" = "$(sha256sum <"$TARE_LAB")" ]
	[ "$(ls)" = lab.db ]
}

@test "lab: a file of another program is refused and left alone" {
	sqlite3 foreign.db "CREATE TABLE t (x); INSERT INTO t VALUES (1)" || skip "needs sqlite3"
	echo "not a database, but longer than a word" >text
	before=$(cat foreign.db text | sha256sum)
	for command in "list" "rename last x" "rm last" "sql SELECT" "time -N -r 2 true"; do
		for file in foreign.db text; do
			# shellcheck disable=SC2086
			run "$TARE" $command --lab "$file"
			[ "$status" -eq 2 ]
			flat
			[[ "$output" == *"$file is not a tare lab"*"nothing was changed"* ]]
		done
	done
	[ "$before" = "$(cat foreign.db text | sha256sum)" ]
	[ "$(ls | tr '\n' ' ')" = "foreign.db text " ]
}

@test "sql: columns of the same name are all in the JSON" {
	measure apple
	"$TARE" sql --json 'SELECT 1 a, 2 a, 3 b' | jq -e '. == [{"a": 1, "a_2": 2, "b": 3}]'
	"$TARE" sql --json 'SELECT 1 a, 2 a, 3 a_2' | jq -e '. == [{"a": 1, "a_3": 2, "a_2": 3}]'
}

@test "lab: errors are wrapped at 80 columns" {
	run "$TARE" list --lab "$(printf 'no %.0s' {1..60})such/lab"
	[ "$status" -eq 2 ]
	[ "${#lines[@]}" -gt 2 ]
	for line in "${lines[@]}"; do
		[ "${#line}" -le 80 ]
	done
	[[ "${lines[0]}" == "tare: "* && "${lines[1]}" == "      "[!\ ]* ]]
	run "$TARE" list --lab "$(printf 'x%.0s' {1..100})"
	flat
	[[ "$output" == *"$(printf 'x%.0s' {1..100})"* ]]
}

# bats test_tags=slow
@test "lab: under sudo no home is made, nor root taken for the user" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	home=$(getent passwd nobody | cut -d: -f6)
	[ ! -e "$home" ] || skip "the home of nobody exists"
	run env TARE_LAB= SUDO_UID="$(id -u nobody)" SUDO_GID="$(id -g nobody)" \
		"$TARE" time -N -r 2 true
	[ "$status" -eq 3 ]
	[[ "$output" == *"$home"*"--lab FILE"* ]]
	[ ! -e "$home" ]
	for uid in abc 4294967295 -1 4242424; do
		run env SUDO_UID="$uid" SUDO_GID=1 "$TARE" time --no-lab -N -r 2 true
		[ "$status" -eq 2 ]
		flat
		[[ "$output" == *"SUDO_UID '$uid'"*"names no user"*"--as-root"* ]]
		env SUDO_UID="$uid" SUDO_GID=1 "$TARE" time --no-lab --as-root -N -r 2 true
	done
	env SUDO_UID=0 SUDO_GID=0 "$TARE" time --no-lab -N -r 2 true
}

@test "completion: values, files and runs are offered" {
	measure apple
	# shellcheck source=/dev/null
	. "$ROOT/completions/tare"
	offered() { COMP_WORDS=("$TARE" "$@") COMP_CWORD=$#; _tare; echo "${COMPREPLY[*]}"; }
	[ "$(offered --)" = "--help --version" ]
	[[ "$(offered export -f '')" == "json csv "* ]]
	[ "$(offered compare -m e)" = "et exec" ]
	[ "$(offered time -u s)" = second ]
	[ "$(offered time --baseline '')" = "last 1 apple" ]
	for option in --lab --output -o; do
		[ -z "$(offered export "$option" '')" ]
	done
	"$TARE" tag apple "red, very round" >/dev/null
	[ "$(offered tag '')" = "last 1 apple" ]
	[ "$(offered tag apple '')" = red ]
	[ "$(offered tag --lab x.db '')" = "last 1 apple" ]
	[ "$(offered tag --lab = x.db apple '')" = red ]
	[ -z "$(offered tag apple red '')" ]
	[ "$(offered tag --add '')" = red ]
	[ "$(offered tag --add red '')" = "last 1 apple" ]
}

# four_kinds: runs 1 and 2 of time, 3 of noise, 4 a profile, 5 of queries, the latter without data,
# made by sqlite3 out of runs of time
four_kinds() {
	command -v sqlite3 >/dev/null || skip "needs sqlite3"
	for name in one two five six seven; do
		measure "$name"
	done
	sqlite3 "$TARE_LAB" "UPDATE run SET kind = 1 WHERE id = 3;
		UPDATE run SET kind = 2 WHERE id = 4; UPDATE run SET kind = 3 WHERE id = 5"
}

# takes KIND COMMAND...: the run that 'last' is to the command is of this kind, or is missed
takes() {
	local kind=$1
	shift
	run "$TARE" "$@"
	flat
	echo "$*: $output"
	[[ "$output" != *"is one of 'tare"* && "$output" != *"is a profile"* && "$output" != *"there is no"* ]] || return 1
	case $kind in
	time) [ "$status" -eq 0 ] && [[ "$output" == *two* || "$output" == *'"two"'* || "$output" == *"run 2"* ]] ;;
	noise) [[ "$output" == *"run 3"* ]] ;;
	profile) [[ "$output" == *"run 4"* ]] ;;
	query) [[ "$output" == *"run 5"* ]] ;;
	esac
}

# bats test_tags=long
@test "last: it is the newest run that the command can take" {
	four_kinds
	takes time emp last
	takes time emp
	run "$TARE" show -x last
	[[ "$status" -eq 0 && "$output" == *kept* ]]
	run "$TARE" show --machine
	[[ "$status" -eq 0 && "$output" == *cpu.* ]]
	takes time compare one last
	takes time export -x -f json last
	takes time export -f asciidoc
	takes noise noise show last
	takes noise noise show
	takes profile profile report last
	takes profile profile report
	takes profile profile export --format folded
	takes query query report last
	takes query query report
	takes query query compare last last
	# anything: the newest of all
	run "$TARE" tag last
	[ "$status" -eq 0 ]
	"$TARE" rename last newest
	[ "$("$TARE" sql --csv "SELECT name FROM runs WHERE id = 5" | tail -1)" = newest ]
	run "$TARE" show last
	[[ "$output" == *"run 5"* ]]
	# places are counted among what the command takes
	run "$TARE" emp @1
	[[ "$output" == *one* ]]
	run "$TARE" emp @2
	[ "$status" -eq 2 ]
	"$TARE" rm last
	[ "$("$TARE" sql --csv "SELECT max(id) FROM runs" | tail -1)" = 4 ]
}

# bats test_tags=long
@test "last: a run of another kind says what it is and which command shows it" {
	four_kinds
	for named in "emp 3|'tare noise show 3' shows it" "emp 4|'tare profile report 4' shows it" \
		"emp 5|'tare query report 5' shows it" "compare 1 3|is one of 'tare noise': it has no executions" \
		"noise show 1|run 1 is one of 'tare time', not one of 'tare noise' 'tare show 1' shows it" \
		"profile report 5|run 5 is one of 'tare query', not a profile" \
		"query report 4|run 4 is a profile, not one of 'tare query'" "query compare 1 5|'tare show 1' shows it" \
		"show -x 3|only --json and --lab go with it" "export -x 4|it goes out as JSON or as CSV"; do
		# shellcheck disable=SC2086
		run "$TARE" ${named%%|*}
		[ "$status" -eq 2 ]
		flat
		echo "$named: $output"
		[[ "$output" == *"${named#*|}"* ]]
	done
}

@test "last: where there is none that the command can take, it says so" {
	command -v sqlite3 >/dev/null || skip "needs sqlite3"
	measure only
	for missed in "noise show|run of 'tare noise'" "profile report|profile" "query report|run of 'tare query'"; do
		# shellcheck disable=SC2086
		run "$TARE" ${missed%%|*}
		[ "$status" -eq 2 ]
		flat
		[[ "$output" == *"there is no ${missed#*|} in $TARE_LAB"* ]]
	done
	sqlite3 "$TARE_LAB" "UPDATE run SET kind = 1"
	for command in emp explain "show -x" "export -x"; do
		# shellcheck disable=SC2086
		run "$TARE" $command
		[ "$status" -eq 2 ]
		flat
		echo "$command: $output"
		[[ "$output" == *"there is no run"* ]]
	done
}

@test "show: the lab is opened once" {
	command -v strace >/dev/null || skip "needs strace"
	measure once
	# leaks cannot be looked for in what is traced
	ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0" strace -f -o trace -e trace=openat "$TARE" show last >/dev/null || skip "strace cannot be used here"
	[ "$(grep -c 'lab.db", O_RDWR' trace)" -eq 1 ]
}
