#!/usr/bin/env bats
# tare duet as a user types it; the binary is $TARE. Figures of precision are in bench/duet.

load common

setup() {
	: "${TARE:?set TARE to the binary under test}"
	BURN=$(dirname "$TARE")/tests/programs/burn
	cd "$BATS_TEST_TMPDIR" || return 1
	export TARE_LAB=$BATS_TEST_TMPDIR/lab.db
}

words() {
	tr -s ' \n' ' ' <<<"$output"
}

# bats test_tags=alone,long
@test "duet: finds that twice the work is about twice the time, and stops by itself" {
	run "$TARE" duet --max-time 30s -n one -n two "$BURN inc 200000000" "$BURN inc 400000000"
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" =~ ^"two ".*"one" ]]
	[ "$("$TARE" show --json last | jq -r .way)" = scheduler ]
	# The host may take the CPU away for a pair or two; that the two alternate is true of most.
	apart=$(sed -n 's/.*In \([0-9]*\) pairs\{0,1\} the two hardly took turns.*/\1/p' <<<"$(words)")
	pairs=$("$TARE" show --json last | jq '.verdicts[0].pairs')
	[ $((2 * ${apart:-0})) -lt "$pairs" ]
	if [ -z "$apart" ]; then [[ "$(words)" == *"ran in turns on CPU"* ]]; fi
	ratio=$("$TARE" show --json last | jq '.verdicts[0].ratio')
	jq -en "$ratio > 1.5 and $ratio < 2.6"
	# the shorter one was started again while the longer one went on
	[ "$("$TARE" sql --tsv 'SELECT count(*) FROM duet_part WHERE repeat > 0' | tail -1)" -gt 0 ]
	while IFS= read -r line; do [ "${#line}" -le 80 ]; done <<<"$output"
}

# bats test_tags=long
@test "duet: a program that waits is compared as a whole, by elapsed time" {
	run "$TARE" duet --max-time 15s "sleep 0.02" "sleep 0.04"
	[ "$status" -eq 0 ]
	[[ "$(words)" == *"sleep 0.04 "*"compared by elapsed time, because 'sleep 0.0"*"waits"* ]]
	[ "$("$TARE" show --json last | jq -r .way)" = whole ]
}

# bats test_tags=long
@test "duet: programs that use several CPUs take turns by the freezer, which leaves nothing behind" {
	needs_root
	[ "$(nproc)" -gt 1 ] || skip "one CPU only"
	cat >many <<-END
		#!/bin/sh
		for i in 1 2 3 4; do $BURN inc 20000000 & done
		wait
	END
	chmod +x many
	"$TARE" duet -v --pairs 4 --max-time 30s ./many ./many >out &
	pid=$!
	wait $pid
	output=$(cat out)
	[[ "$(words)" == *"one frozen while the other ran"* ]]
	[[ "$(words)" == *"CPUs at once"* ]]
	[ ! -e "$(groups_of $pid)" ]
}

# kill_in_pair WAY: kills tare while both sides of a pair run, each in a child that its command has forked
kill_in_pair() {
	cat >forks <<-END
		#!/bin/sh
		# alone first, without a ledger three times for each side: short
		echo >>alone
		[ "\$(wc -l <alone)" -gt 6 ] || exec true
		setsid $BURN inc 90000000001 &
		wait
	END
	chmod +x forks
	rm -f alone
	"$TARE" duet --no-ledger --how "$1" --max-time 60s ./forks ./forks &
	pid=$!
	soon both_run
	[ -d "$(groups_of $pid)" ]
	kill -9 $pid
	wait $pid || true
	soon none_left "inc 90000000001"
	soon none_left "^/bin/sh ./forks"
	soon test ! -e "$(groups_of $pid)"
}

both_run() {
	[ "$(pgrep -fc "inc 90000000001")" = 2 ]
}

# groups_of PID: the control groups of the tare with that process id
groups_of() {
	echo "$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)$(sed -n 's/^0:://p' /proc/self/cgroup)/tare-$1"
}

# bats test_tags=long
@test "duet: killed in the scheduler's way, it leaves no process and no group behind" {
	needs_root
	kill_in_pair scheduler
}

# bats test_tags=long
@test "duet: killed in the freezer's way, it leaves no process and no group behind" {
	needs_root
	kill_in_pair freezer
}

# bats test_tags=long
@test "duet: killed while a command runs alone, it leaves no process and no group behind" {
	needs_root
	printf '#!/bin/sh\nsetsid %s inc 90000000002 &\nwait\n' "$BURN" >forks
	chmod +x forks
	"$TARE" duet ./forks ./forks &
	pid=$!
	soon pgrep -f "inc 90000000002"
	kill -9 $pid
	wait $pid || true
	soon none_left "inc 90000000002"
	soon test ! -e "$(groups_of $pid)"
}

@test "duet: it answers although its guard was killed" {
	needs_root
	"$TARE" duet --pairs 4 --max-time 30s "$BURN inc 20000003" "$BURN inc 20000003" >out &
	pid=$!
	soon pgrep -f "^tare-guard $pid\b"
	kill -9 "$(pgrep -f "^tare-guard $pid\b")"
	wait $pid
	grep -q "20000003" out
	[ ! -e "$(groups_of $pid)" ]
}

# bats test_tags=long
@test "duet: what a command leaves behind goes on if that is asked for, and is out of tare's groups" {
	needs_root
	printf '#!/bin/sh\nsleep 1003 &\n%s inc 1000000\n' "$BURN" >leaves
	chmod +x leaves
	"$TARE" time --duet --orphans leave -N -r 1 ./leaves ./leaves &
	pid=$!
	wait $pid
	left=$(pgrep -f "sleep 1003")
	[ ! -e "$(groups_of $pid)" ]
	# shellcheck disable=SC2086
	kill $left
}

# bats test_tags=long
@test "duet: interrupted, it keeps the pairs so far" {
	"$TARE" duet --precision 0.0001% --max-time 60s "$BURN inc 10000000" "$BURN inc 11000000" >out 2>err &
	pid=$!
	soon has_pairs
	kill $pid
	code=0
	wait $pid || code=$?
	[ "$code" = 130 ]
	grep -q interrupted err
	[ "$("$TARE" sql --tsv "SELECT status FROM runs" | tail -1)" = interrupted ]
	[ "$("$TARE" show --json last | jq '.verdicts[0].pairs')" -gt 2 ]
	none_left "inc 1[01]000000\$"
}

has_pairs() {
	[ "$("$TARE" sql --tsv "SELECT count(*) > 8 FROM duet_part WHERE pair > 0" | tail -1)" = 1 ]
}

@test "duet: one that fails, one that is missing, one that never ends" {
	run "$TARE" duet true false
	[ "$status" -eq 4 ]
	[[ "$output" == *"'false' ended with exit code 1"* ]]
	run "$TARE" duet true no-such-command
	[ "$status" -eq 2 ]
	run "$TARE" duet --time-limit 200ms "sleep 0.01" "sleep 1000"
	[ "$status" -eq 4 ]
	[[ "$output" == *"'sleep 1000' was ended at its time limit of 0.2 s"* ]]
	none_left "sleep 1000"
	run "$TARE" duet --max-time 500ms "sleep 1001" "sleep 1001"
	[ "$status" -eq 4 ]
	[[ "$output" == *"raise --max-time"* ]]
	# nothing of all that is kept
	run "$TARE" list
	[[ "$output" != *complete* ]]
}

@test "duet: failures may be wanted" {
	run "$TARE" duet -i --pairs 4 --max-time 10s false false
	[ "$status" -eq 0 ]
}

@test "duet: bad input has exit code 2" {
	for bad in "true" "--max-time 0s true true" "--period 1us true true" "--turn 1us true true" \
		"--cpu 4095 true true" "--how nonsense true true" "--build make true true" \
		"--git HEAD true true" "--precision 0 true true"; do
		# shellcheck disable=SC2086
		run "$TARE" duet $bad
		[ "$status" -eq 2 ] || { echo "$bad: $status $output" && return 1; }
	done
	# there are no turns without the freezer, and while both run elapsed time is as much the other's
	for bad in "--how whole --measure turn" "--how scheduler --measure turn" "--how scheduler --measure et"; do
		# shellcheck disable=SC2086
		run "$TARE" duet $bad "$BURN inc 1000000" "$BURN inc 1000000"
		[ "$status" -eq 2 ] || { echo "$bad: $status $output" && return 1; }
		[[ "$(words)" == *"no comparison by $(grep -o -- '--measure.*' <<<"$bad"): "* ]]
	done
	rm -f lab.db
	run "$TARE" time --duet --trace true true
	[ "$status" -eq 2 ]
	[ ! -e lab.db ]
}

# bats test_tags=long
@test "duet: time --duet is the same, and several go against the first" {
	run "$TARE" time --duet -N -r 4 -n a -n b -n c "$BURN inc 1000000" "$BURN inc 1000000" "$BURN inc 4000000"
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" == "Against a "* ]]
	[[ "$output" == *"the reference"* ]]
	[ "$("$TARE" show --json last | jq '.verdicts | length')" = 2 ]
}

# bats test_tags=alone,long
@test "duet: --fail-if-slower has three ends" {
	run "$TARE" duet --max-time 20s --fail-if-slower 10% "$BURN inc 20000000" "$BURN inc 40000000"
	[ "$status" -eq 1 ]
	[[ "${lines[0]}" == "Slower: "* ]]
	run "$TARE" duet --max-time 20s --fail-if-slower 90% "$BURN inc 20000000" "$BURN inc 20000000"
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" == "Not slower: "* ]]
	# one pair is never enough to be sure
	run "$TARE" duet --pairs 1 --fail-if-slower 1% "$BURN inc 20000000" "$BURN inc 20000000"
	[ "$status" -eq 5 ]
}

# bats test_tags=long
@test "duet: without privileges it compares all the same, and says what is lost" {
	needs_root
	home=$(mktemp -d /tmp/tare-home.XXXXXX)
	cp "$TARE" "$BURN" "$home"
	chown -R 65534:65534 "$home"
	run setpriv --reuid 65534 --regid 65534 --clear-groups env -C "$home" HOME="$home" TARE_LAB="$home/lab.db" \
		./tare duet --how scheduler --pairs 4 --max-time 20s "./burn inc 20000000" "./burn inc 60000000"
	rm -rf "$home"
	[ "$status" -eq 0 ]
	[[ "$(words)" == *"needs root"* ]]
	[[ "$(words)" == *"Without root nothing can make the two alternate at exact times"* ]]
}

# bats test_tags=alone,long
@test "duet: a command that changes its own priority or leaves a daemon behind is measured, and said" {
	needs_root
	cat >daemon <<-END
		#!/bin/sh
		sleep 1002 &
		$BURN inc 10000000
	END
	chmod +x daemon
	run "$TARE" duet --pairs 2 --max-time 30s ./daemon ./daemon
	[ "$status" -eq 0 ]
	none_left "sleep 1002"
	for change in "chrt -f 5" "nice -n 19"; do
		run "$TARE" duet --how scheduler --pairs 4 --max-time 30s "$change $BURN inc 200000000" \
			"$BURN inc 200000000"
		[ "$status" -eq 0 ]
		[[ "$(words)" == *"hardly took turns"* ]]
		[[ "$(words)" != *"met the same CPU speed"* ]]
	done
}

@test "duet: one that stops itself is ended at its limit" {
	printf '#!/bin/sh\nkill -STOP $$\n' >stops
	chmod +x stops
	run "$TARE" duet --time-limit 1s true ./stops
	[ "$status" -eq 4 ]
	[[ "$output" == *"'./stops' was ended at its time limit"* ]]
	none_left "^/bin/sh ./stops"
}

# bats test_tags=long
@test "duet: one CPU is enough, also for programs that would use more" {
	run taskset -c 0 "$TARE" duet --pairs 3 --max-time 20s -n two -n one \
		"sh -c '$BURN inc 2500000 & $BURN inc 2500000; wait'" "$BURN inc 5000000"
	[ "$status" -eq 0 ]
	[[ "$(words)" == *" on CPU 0"* ]]
}

# bats test_tags=long
@test "duet: --git builds two revisions, compares them and removes them" {
	git init -q repo && cd repo
	git config user.email tester@localhost
	git config user.name tester
	printf 'all:\n\tcp %s prog\n' "$BURN" >Makefile
	echo 10000000 >n
	printf '#!/bin/sh\nexec ./prog inc "$(cat n)"\n' >go
	chmod +x go
	git add . && git commit -qm first
	echo 30000000 >n
	git commit -qam second
	run "$TARE" duet --git HEAD~1..HEAD --build make --fail-if-slower 10% --max-time 20s \
		--export-markdown ../summary.md -- ./go
	[ "$status" -eq 1 ]
	# its short id, or more of it if that is a number
	read -r _ id _ <<<"${lines[0]}"
	[[ "${lines[0]}" == "Slower: "* && ${#id} -ge 7 && "$(git rev-parse HEAD)" == "$id"* ]]
	grep -q '^| ' ../summary.md
	[ "$(git worktree list | wc -l)" = 1 ]
	run "$TARE" duet --git HEAD~1..HEAD --build 'echo broken; false' -- ./go
	[ "$status" -eq 4 ]
	[[ "$output" == *"failed: broken"* ]]
	run "$TARE" duet --git nothing..HEAD -- ./go
	[ "$status" -eq 2 ]
	[ "$(git worktree list | wc -l)" = 1 ]
}

@test "duet: --git takes a commit whose short id is a number" {
	git init -q repo && cd repo
	git config user.email tester@localhost
	git config user.name tester
	git commit -q --allow-empty -m first
	tree=$(git rev-parse 'HEAD^{tree}')
	for ((i = 0; i < 2000; i++)); do
		commit=$(git commit-tree -p HEAD -m "$i" "$tree")
		[[ "${commit:0:7}" == *[a-f]* ]] || break
	done
	git reset -q --hard "$commit"
	run "$TARE" duet --git HEAD~1..HEAD --pairs 3 --max-time 10s --json -- true
	[ "$status" -eq 0 ]
	name=$(jq -r '.sides[1].name' <<<"$output")
	[[ "$name" == *[a-f] && "$commit" == "$name"* ]]
}

@test "duet: --json has the schema's members, and the CSV a row per execution" {
	run "$TARE" duet --json --pairs 4 --max-time 10s --export-csv parts.csv true true
	[ "$status" -eq 0 ]
	jq -e '.verdicts[0].ratio > 0 and (.parts | length) > 6' <<<"$output"
	[ "$(wc -l <parts.csv)" -gt 6 ]
}
