#!/usr/bin/env bats
# serve as a user types it, and as a client that must not be believed sees it; the binary is $TARE.

load common

setup() {
	: "${TARE:?set TARE to the binary under test}"
	ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	CLIENT=$ROOT/tests/cli/serve-client
	cd "$BATS_TEST_TMPDIR" || return 1
	export TARE_LAB=$BATS_TEST_TMPDIR/lab.db
	unset TARE_TOKEN
	PID='' HOLDER='' THEIRS=''
}

teardown() {
	[ -z "$PID" ] || kill "$PID" 2>/dev/null || true
	[ -z "$HOLDER" ] || kill "$HOLDER" 2>/dev/null || true
	[ -z "$THEIRS" ] || rm -r "$THEIRS"
}

# flat: the output of the last `run` with errors as one line, not wrapped
flat() {
	output=$(tr -s ' \n' ' ' <<<"$output")
}

# measure NAME [RUNS]: a run of true with this name
measure() {
	"$TARE" time -N -w 0 -r "${2:-2}" --style none -n "$1" true >/dev/null
}

# serve [OPTIONS]: sets PID, URL, BASE and TOKEN; skips where this tare has no server
serve() {
	: >url
	# a confined process cannot be searched for leaks: nobody may look into it, it least of all
	ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 "$TARE" serve --port 0 "$@" >url 2>said 3>&- &
	PID=$!
	for ((i = 0; i < 200; i++)); do
		[ ! -s url ] || break
		kill -0 "$PID" 2>/dev/null || break
		sleep 0.1
	done
	! grep -q "built without" said || skip "this tare was built without libmicrohttpd"
	URL=$(cat url)
	BASE=${URL%%/\?*} TOKEN=${URL##*token=}
	[[ "$URL" == http://*:*/\?token=* ]]
}

# stop: the server ends by itself, with 0
stop() {
	kill -TERM "$PID"
	wait "$PID"
	PID=
}

# api PATH [CURL-ARGUMENT...]
api() {
	curl -sS -H "X-Tare-Token: $TOKEN" "$BASE$1" "${@:2}"
}

@test "serve: needs a lab, and makes none" {
	run "$TARE" serve
	[ "$status" -eq 2 ]
	flat
	[[ "$output" == *"there is no lab at $TARE_LAB"* ]]
	[ -z "$(ls)" ]
}

@test "serve: bad options are told" {
	measure apple
	run "$TARE" serve --listen evil.example
	[ "$status" -eq 2 ]
	[[ "$output" == *"not an address"* ]]
	run "$TARE" serve --port 65536
	[ "$status" -eq 2 ]
	run "$TARE" serve last
	[ "$status" -eq 2 ]
	TARE_TOKEN=short run "$TARE" serve --port 0
	[ "$status" -eq 2 ]
	[[ "$output" == *TARE_TOKEN* ]]
	run "$TARE" serve --token-file none
	[ "$status" -eq 2 ]
}

@test "serve: a port that is taken is told" {
	measure apple
	serve
	run "$TARE" serve --port "${BASE##*:}"
	[ "$status" -eq 3 ]
	flat
	[[ "$output" == *"in use"*"--port"* ]]
	stop
}

@test "serve: the list, reports and changes are served" {
	measure apple
	measure banana 3
	serve
	curl -sS "$BASE/" | grep -q '<div id="tare"'
	api /api/runs | jq -e '(.runs | length) == 2 and (.more | not) and .studies == [] and
		(.runs[0] | .id == 2 and .kind == "time" and .name == "banana" and .command == "true" and
		.status == "complete" and .executions == 3 and .mean_et_of_all_ns > 0 and .tags == null)'
	api "/api/runs?like=APP" | jq -e '[.runs[].name] == ["apple"]'
	api "/api/runs?most=1" | jq -e '[.runs[].id] == [2] and .more'
	api "/api/runs?most=1&before=2" | jq -e '[.runs[].id] == [1] and (.more | not)'
	api "/api/runs?sort=name&most=1" | jq -e '[.runs[].name] == ["apple"] and .more'
	api "/api/runs?sort=name&most=1&skip=1" | jq -e '[.runs[].name] == ["banana"] and (.more | not)'
	api "/api/runs?sort=-made" | jq -e '[.runs[].executions] == [3, 2]'
	[ "$(api "/api/runs?sort=no" -w '%{http_code}' -o /dev/null)" = 400 ]
	api "/api/report?run=1&run=2" | jq -e '.type == "page" and .served'
	api "/api/report?run=1&run=2" --compressed | jq -e .served
	[ "$(api /api/runs/1 -d '{"name":"</script>\"","tags":"red, round"}' -w '%{http_code}')" = 204 ]
	api "/api/runs?like=ROUND" | jq -e '.runs[0] | .id == 1 and .name == "</script>\"" and
		.tags == "red, round" '
	api /api/runs/1 -d '{"tags":""}'
	api /api/runs | jq -e '.runs[1].tags == null'
	api /api/runs/1 -d '{"name":"last"}' | jq -e '(.error | length > 0) and (.hint | length > 0)'
	stop
	"$TARE" list | grep -q '</script>"'
}

@test "serve: it is checked who may ask, for what, and how much" {
	measure apple
	serve
	"$CLIENT" checks "$URL"
	"$TARE" list | grep -q apple
	stop
}

@test "serve: --read-only changes nothing" {
	measure apple
	serve --read-only
	[ "$(api /api/runs/1 -d '{"name":"x"}' -w '%{http_code}' -o /dev/null)" = 403 ]
	"$TARE" list | grep -q apple
	stop
}

# in_the_way: holds the lab for writing, in the background; sets HOLDER
in_the_way() {
	python3 -c 'import sqlite3, sys, time
lab = sqlite3.connect(sys.argv[1], isolation_level=None)
lab.execute("BEGIN IMMEDIATE")
print("held", flush=True)
time.sleep(60)' "$TARE_LAB" >held 3>&- &
	HOLDER=$!
	soon grep -q held held
}

# bats test_tags=slow
@test "serve: a lab that is busy is waited for, then told, and nothing is lost" {
	measure apple
	serve
	in_the_way
	api /api/runs/1 -d '{"name":"pear","tags":"green"}' -w '%{http_code}' -m 20 >refused 3>&- &
	asked=$!
	# the next in line waits no longer than that either
	api /api/runs/1 -d '{"name":"plum"}' -w '%{http_code} %{time_total}' -m 20 >next 3>&- &
	waiting=$!
	# meanwhile it can be read
	api /api/runs -m 3 | jq -e '.runs[0].name == "apple"'
	wait "$asked"
	[[ "$(cat refused)" == *"another program has "*"locked"*"nothing was changed"*503 ]]
	wait "$waiting"
	[[ "$(cat next)" == *"another program has "*"locked"*"503 "[4-8].* ]]
	api /api/runs | jq -e '.runs[0] | .name == "apple" and .tags == null'
	# of one that is done in time nothing is noticed
	api /api/runs/1 -d '{"name":"pear","tags":"green"}' -w '%{http_code}' -m 20 >taken 3>&- &
	asked=$!
	sleep 0.5
	kill "$HOLDER"
	HOLDER=
	wait "$asked"
	[ "$(cat taken)" = 204 ]
	api /api/runs | jq -e '.runs[0] | .name == "pear" and .tags == "green"'
	stop
}

@test "serve: a token of one's own, another address" {
	measure apple
	echo 0123456789abcdef-from-a-file >token
	serve --token-file token --listen 127.0.0.2
	[ "$TOKEN" = 0123456789abcdef-from-a-file ]
	[[ "$BASE" == http://127.0.0.2:* ]]
	api /api/runs | jq -e '.runs[0].name == "apple"'
	! grep -q warning said || false
	stop
	if [ -e /proc/net/if_inet6 ] && grep -q '^0*1 ' /proc/net/if_inet6; then
		serve --listen 0:0:0:0:0:0:0:1
		[[ "$BASE" == "http://[::1]:"* ]]
		api /api/runs -g | jq -e '.runs[0].name == "apple"'
		stop
	fi
	TARE_TOKEN=0123456789abcdef-environment serve --listen 0.0.0.0
	[ "$TOKEN" = 0123456789abcdef-environment ]
	grep -q warning said
	api /api/runs | jq -e '.runs[0].name == "apple"'
	stop
}

# bats test_tags=slow
@test "serve: events tell of changes, and only of these" {
	measure apple
	measure banana
	serve
	"$CLIENT" events "$URL" 1 60 >events 3>&- &
	client=$!
	soon grep -q '^retry' events
	! grep -q '^event' events || false
	"$TARE" tag 2 later >/dev/null
	soon grep -q '^event: runs' events
	! grep -q '^event: change' events || false
	"$TARE" tag 1 red >/dev/null
	soon grep -q '^data: {"run":1,"status":"complete","stamp":[0-9]*}' events
	kill "$client"
	stop
}

# listed FILTER: the newest run in the list is such
listed() {
	api /api/runs | jq -e ".runs[0] | $1" >/dev/null
}

# bats test_tags=slow
@test "serve: a run is seen to go on, and to be killed" {
	measure apple
	serve
	"$TARE" time -N -w 0 -r 1000000 --style none -n pear 'sleep 0.1' >/dev/null 2>&1 3>&- &
	going=$!
	soon listed '.status == "going" and .executions > 1'
	"$CLIENT" events "$URL" 2 60 >events 3>&- &
	client=$!
	soon grep -q '"run":2,"status":"going"' events
	# it leaves no word of its end in the lab
	kill -KILL "$going"
	wait "$going" || true
	soon listed '.status == "interrupted"'
	soon grep -q '"run":2,"status":"interrupted"' events
	kill "$client"
	stop
}

# status_of KEY: of the server, as all its threads say
status_of() {
	cat /proc/"$PID"/task/*/status | sed -n "s/^$1:[[:space:]]*//p" | sort -u
}

# confined: none of its threads has rights, and it still answers and changes
confined() {
	[ "$(status_of CapEff)" = 0000000000000000 ]
	[ "$(status_of CapPrm)" = 0000000000000000 ]
	[ "$(status_of CapAmb)" = 0000000000000000 ]
	[ "$(status_of NoNewPrivs)" = 1 ]
	[ "$(status_of Seccomp)" = 2 ]
	api /api/runs | jq -e '.runs[0].name == "apple"'
	api '/api/report?run=1' | jq -e '.type == "page"'
	api /api/runs/1 -f -d '{"tags":"green"}'
	api /api/runs | jq -e '.runs[0].tags == "green"'
}

# theirs: a lab in a folder that is another user's alone; that of the test is within root's
theirs() {
	THEIRS=$(mktemp -d "${TMPDIR:-/tmp}/tare-theirs-XXXXXX")
	chown 65534:65534 "$THEIRS"
	export TARE_LAB=$THEIRS/lab.db
}

@test "serve: under sudo it becomes who typed it, for good" {
	needs_root
	theirs
	export SUDO_UID=65534 SUDO_GID=65534
	measure apple
	serve
	[ "$(status_of Uid | tr -s '\t' ' ')" = "65534 65534 65534 65534" ]
	[ "$(status_of Gid | tr -s '\t' ' ')" = "65534 65534 65534 65534" ]
	[[ "$(status_of Groups)" =~ ^(65534)?\ ?$ ]]
	confined
	! grep -q "stays root" said || false
	stop
}

@test "serve: root becomes the owner of the lab" {
	needs_root
	theirs
	SUDO_UID=65534 SUDO_GID=65534 measure apple
	unset SUDO_UID SUDO_GID
	serve
	[ "$(status_of Uid | tr -s '\t' ' ')" = "65534 65534 65534 65534" ]
	confined
	stop
}

@test "serve: root whose lab only root can read stays root without its rights, and says so" {
	needs_root
	unset SUDO_UID SUDO_GID
	chmod 700 "$BATS_TEST_TMPDIR"
	measure apple
	serve
	[ "$(status_of Uid | tr -s '\t' ' ')" = "0 0 0 0" ]
	grep -q "stays root, without its capabilities: nobody else can read" said
	confined
	stop
}

# bats test_tags=long
@test "serve: a confined server still shows instructions beside their source" {
	command -v gcc >/dev/null || skip "needs gcc"
	printf '%s\n' 'unsigned spin(unsigned x) {' 'for (unsigned i = 0; i < 1500000000u; i++)' 'x = x * 2654435761u + 1;' \
		'return x; }' 'int main(void) { return spin(1) == 7; }' >spin.c
	gcc -g -O1 -fno-inline spin.c -o spin
	"$TARE" profile -q -F 997 -- ./spin || skip "profiles cannot be made here"
	serve
	api '/api/report?run=1' >page
	jq -e '[.. | strings | select(test("x = x \\* 2654435761u"))] | length > 0' page
	jq -e '[.. | strings | select(test("^imul"))] | length > 0' page
	stop
}

@test "serve: who hangs up makes room for others" {
	measure apple
	serve
	"$CLIENT" hangups "$URL" 400
	stop
}

# bats test_tags=long
@test "serve: a proper client is answered among 900 slow ones" {
	measure apple
	serve
	"$CLIENT" slow "$URL" 900
	stop
}

# bats test_tags=long
@test "serve: a client that does not know HTTP does no harm" {
	measure apple
	serve
	"$CLIENT" fuzz "$URL" "${TARE_SERVE_FUZZ_SECONDS:-3}"
	"$TARE" list | grep -q apple
	stop
}

# stored COUNT: so many runs are in the list
stored() {
	[ "$(api /api/runs | jq '.runs | length')" -eq "$1" ]
}

# bats test_tags=slow
@test "serve: 200 readers are answered while a run is stored" {
	measure apple
	serve
	"$TARE" time -N -w 0 -r 20000 --style none -n pear true >/dev/null 2>&1 3>&- &
	going=$!
	soon stored 2
	"$CLIENT" readers "$URL" 200 2 2
	kill -TERM "$going" 2>/dev/null || true
	wait "$going" || true
	[ -n "${TARE_TEST_SANITIZED-}" ] ||
		[ "$(awk '/^VmHWM/ { print $2 }' "/proc/$PID/status")" -lt 300000 ]
	stop
}

@test "tag: sets, replaces and takes away" {
	measure apple
	run "$TARE" tag last "red, round"
	[ "$status" -eq 0 ]
	[[ "$output" == *"'red, round'"* ]]
	"$TARE" list ROUND | grep -q apple
	[ "$("$TARE" tag apple)" = $'red\nround' ]
	"$TARE" tag 1 $' ,, a\tb\e[31m ,\xff, c,' >/dev/null
	[ "$("$TARE" tag last)" = 'a\tb\x1b[31m
\xff
c' ]
	"$TARE" tag apple green
	[ "$("$TARE" list round 2>&1)" = "no runs" ]
	"$TARE" tag 1 ''
	[ "$("$TARE" list green 2>&1)" = "no runs" ]
	run "$TARE" tag last
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[ "$("$TARE" tag --add checked last)" = "run 1 is now tagged 'checked'" ]
	[ "$("$TARE" tag --add red --add 'round, checked' 1)" = "run 1 is now tagged 'checked, red, round'" ]
	[ "$("$TARE" tag --remove red,checked --add ripe 1)" = "run 1 is now tagged 'round, ripe'" ]
	[ "$("$TARE" tag --remove round --remove ripe 1)" = "run 1 has no tags now" ]
	for operands in "7 x" 7 "" "1 a b" "--add x" "--add x 1 y" "--add , 1" "--remove x 7"; do
		# shellcheck disable=SC2086
		run "$TARE" tag $operands
		[ "$status" -eq 2 ]
	done
}
