#!/usr/bin/env bats
# tare report as a user types it; the binary is $TARE.

load samples

# refused CODE WORDS...: `tare report` with the rest as options exits with CODE, says WORDS, writes no out.html
refused() {
	local code=$1 words=$2
	shift 2
	run "$TARE" report "$@"
	[ "$status" -eq "$code" ]
	flat
	[[ "$output" == *"$words"* ]] || { echo "$output" && false; }
	[ ! -e out.html ]
}

# embedded FILE: the document in a page
embedded() {
	grep -o '<script type="application/json" id="tare-document">.*</script>' "$1" |
		sed -e 's/^[^>]*>//' -e 's/<.*//'
}

@test "report: a run becomes a page that asks nobody for anything" {
	"$TARE" time -N -w 1 -r 5 --style none -n first true >/dev/null
	run "$TARE" report -o out.html
	[ "$status" -eq 0 ]
	[ "$output" = "" ]
	grep -q '^<!doctype html>' out.html
	grep -q "Content-Security-Policy.*default-src 'none'" out.html
	# it asks nobody for anything (ECharts has an img in a text, which nobody uses)
	! sed 's/<link rel="icon" href="data:,">//' out.html | grep -Eq '<(script|link|iframe)[^>]*(src|href)=' || false
	[ "$(grep -c 'id="tare-document"' out.html)" -eq 1 ]
	embedded out.html | jq -e '.type == "page" and .served == false and (.sections | length) == 1' >/dev/null
	[ "$(embedded out.html | jq -r '.sections[0] | [.kind, .title, .anchor, .status] | join(" ")')" = \
		"time first run-1 complete" ]
	[ "$(embedded out.html | jq -c '.sections[0].columns | [.number, .rule] | map(length)')" = "[6,6]" ]
	embedded out.html | jq -e '.machines[.sections[0].machine] | (.findings | length) > 0 and .name != ""' >/dev/null
}

@test "report: --json is the document of the page" {
	"$TARE" time -N -w 0 -r 5 --style none true >/dev/null
	"$TARE" report --json >doc.json
	[ "$(wc -l <doc.json)" -eq 1 ]
	"$TARE" report --json -o file.json last
	"$TARE" report -o - >out.html
	"$TARE" report @0 >piped.html
	for file in file.json <(embedded out.html) <(embedded piped.html); do
		[ "$(jq -S 'del(.made_at)' "$file" | cksum)" = "$(jq -S 'del(.made_at)' doc.json | cksum)" ]
	done
	[ "$(jq '.sections[0].kept.et.n' doc.json)" -gt 0 ]
}

@test "report: runs are compared with each other" {
	{ echo $HEADER && generate A 60; } >a.csv
	{ echo $HEADER && generate B 60; } | sed 's/,\(1[0-9]*\),99/,\1,98/' >b.csv
	"$TARE" import a.csv >/dev/null
	"$TARE" import b.csv >/dev/null
	"$TARE" report --json A B A >doc.json
	[ "$(jq -c '[.sections[].title]' doc.json)" = '["A","B"]' ]
	[ "$(jq -r .title doc.json)" = "A, B" ]
	[ "$(jq -c '.comparisons | map([.kind, .sections, .reference, .measure])' doc.json)" = '[["time",[0,1],0,"pt_exec"]]' ]
	[ "$(jq '.comparisons[0].rows[0] | .ratio < 1 and .significant and .section == 1' doc.json)" = true ]
	[[ "$(jq -r '.comparisons[0].rows[0].sentence' doc.json)" == "'B' (run 2) is "*" times faster than 'A' (run 1) in process time (exec): "* ]]
	"$TARE" report --json --reference B A B >doc.json
	[ "$(jq -c '.comparisons | map([.sections, .reference])' doc.json)" = '[[[0,1],1]]' ]
	[ "$(jq '.comparisons[0].rows[0] | .ratio > 1 and .section == 0' doc.json)" = true ]
	refused 2 "run 1, the reference, is none of the runs given" --reference A B -o out.html
	"$TARE" time -N -w 0 -r 2 --style none true "sleep 0.001" >/dev/null
	[ "$("$TARE" report --json --study | jq -c '[.sections[].title]')" = '["true","sleep 0.001"]' ]
	# runs of one name are counted in the page's title
	"$TARE" import b.csv >/dev/null
	[ "$("$TARE" report --json 5 2 | jq -r .title)" = "2 runs of B" ]
	[ "$("$TARE" report --json 1 2 5 3 4 | jq -r .title)" = "A, 2 runs of B, true and 1 more" ]
}

@test "report: a study of daemons becomes a page" {
	{ echo $HEADER && generate INC1 200; } >data.csv
	refused 2 "there is no lab" --daemons -o out.html
	"$TARE" import --here data.csv >/dev/null
	refused 2 "there is no study of this machine yet" --daemons -o out.html
	"$TARE" calibrate --from INC1 >/dev/null
	"$TARE" report --json --daemons >doc.json
	[ "$(jq -c '[.sections[] | [.kind, .anchor, .subtitle]]' doc.json)" = \
		'[["study","study-1","Stored runs: 200 of 1.00 s"]]' ]
	[ "$(jq -c '.sections[0].samples | [(.short.et | length), .long]' doc.json)" = "[200,null]" ]
	[ "$(jq '.sections[0] | .samples.short.number as $n | [.samples.short.l[] | $n[.]] == .study.runs.short.l_samples' doc.json)" = true ]
	[ "$(jq '.sections[0].samples.short.dropped | length' doc.json)" -eq 10 ]
	# the cutoffs are applied to the run
	"$TARE" report --json --daemons=1 INC1 >doc.json
	[ "$(jq -c '[.sections[].kind]' doc.json)" = '["time","study"]' ]
	[ "$(jq '[.sections[0].reasons[] | select(.daemon == "backup")] | length' doc.json)" -eq 10 ]
	[ "$("$TARE" report --json --no-cutoffs INC1 | jq '[.sections[0].reasons[].daemon | select(.)] | length')" -eq 0 ]
	# its run goes, the study stays
	"$TARE" rm INC1
	"$TARE" report --json --daemons >doc.json
	[ "$(jq '.sections[0].samples.short' doc.json)" = null ]
	[[ "$(jq -r '.sections[0].notes[0]' doc.json)" == "The short run is no longer in the lab"* ]]
	refused 2 "there is no study 7" --daemons=7 -o out.html
	refused 2 "a study has a number, unlike 'x'" --daemons=x -o out.html
}

@test "report: a run of which nothing is stored yet has a note" {
	command -v sqlite3 >/dev/null || skip "needs sqlite3"
	"$TARE" noise -c 0 -d 200ms --no-kernel -q -n begun
	"$TARE" noise -c 0 -d 200ms --no-kernel -q -n whole
	sqlite3 lab.db "PRAGMA foreign_keys = ON; DELETE FROM noise WHERE run = 1"
	"$TARE" report --json begun whole >doc.json
	[ "$(jq -c '[.sections[] | [.anchor, .noise == null]], .comparisons' doc.json | tr '\n' ' ')" = \
		'[["run-1",true],["run-2",false]] [] ' ]
	[[ "$(jq -r '.sections[0].notes[-1]' doc.json)" == "Nothing of this run is stored"* ]]
	# nor is one of queries an error
	sqlite3 lab.db "UPDATE run SET kind = 3 WHERE id = 1"
	"$TARE" report --json begun | jq -e '.sections[0] | .kind == "query" and .query == null' >/dev/null
}

@test "report: bad input is refused" {
	refused 2 "there is no lab" -o out.html
	"$TARE" time -N -w 0 -r 1 --style none true >/dev/null
	refused 2 "there is no run 'nothing'" -o out.html nothing
	refused 2 "there is no run 'nothing'" -o out.html last nothing
	refused 2 "cannot write none/out.html" -o none/out.html
	refused 2 "--nothing" --nothing -o out.html
	mkdir dir
	refused 2 "cannot write dir" -o dir
	[ "$(id -u)" -eq 0 ] || {
		chmod 500 dir
		refused 2 "cannot write dir/out.html: Permission denied" -o dir/out.html
	}
	# what was there stays
	echo old >kept.html
	run "$TARE" report nothing -o kept.html
	[ "$status" -eq 2 ]
	[ "$(cat kept.html)" = old ]
	"$TARE" report -o kept.html
	grep -q tare-document kept.html
	[ "$(find . -maxdepth 1 -name '*kept*' | wc -l)" -eq 1 ]
}

@test "report: a page is not for a terminal, which is told where it is" {
	command -v script >/dev/null || skip "needs script(1)"
	"$TARE" time -N -w 0 -r 1 --style none true >/dev/null
	for options in "" "-o -"; do
		run script -qec "'$TARE' report $options" /dev/null
		[ "$status" -eq 2 ]
		[[ "$output" == *"nothing for a terminal"*"--output FILE.html"* ]]
	done
	run script -qec "'$TARE' report -o out.html" /dev/null
	[ "$status" -eq 0 ]
	[[ "$output" == "tare: wrote out.html, "*iB* ]]
	run script -qec "'$TARE' report --json" /dev/null
	[ "$status" -eq 0 ]
	[[ "$output" == *'"type":"page"'* ]]
}

@test "report: names are text" {
	local long
	long=$(printf '<b>%.0s' $(seq 2500))
	"$TARE" time -N -w 0 -r 2 --style none -n '</script><script>alert("1")</script>' "true '<!-- \" & ' $(printf '\xe2\x80\xae \xff')" >/dev/null
	"$TARE" time -N -w 0 -r 2 --style none -n "$long" "true" >/dev/null
	"$TARE" report -o out.html @1 last
	"$TARE" report --json @1 last >doc.json
	[ "$(jq -r '.sections[0].title' doc.json)" = '</script><script>alert("1")</script>' ]
	[ "$(jq -r '.sections[1].title' doc.json)" = "$long" ]
	# of the data, nothing is markup
	[ "$(grep -c 'alert(' out.html)" -eq "$(grep 'id="tare-document"' out.html | grep -c 'alert(')" ]
	! grep -q '<script>alert' out.html || false
	[ "$(embedded out.html | jq -S 'del(.made_at)' | cksum)" = "$(jq -S 'del(.made_at)' doc.json | cksum)" ]
}

@test "report: what is cut is said" {
	{ echo $HEADER && generate MANY 20500; } >data.csv
	"$TARE" import data.csv >/dev/null
	"$TARE" report --json >doc.json
	[ "$(jq '.sections[0].columns.et | length' doc.json)" -eq 20500 ]
	[ "$(jq '.sections[0].details | length' doc.json)" -le 400 ]
	jq -e '[.sections[0].notes[] | select(test("of 20500 executions"))] | length == 1' doc.json >/dev/null
	[ "$(wc -c <doc.json)" -lt 3000000 ]
}

@test "report: a trace tells who had each CPU" {
	"$TARE" time --help-all | grep -q -- --trace || skip "needs tare time --trace"
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	"$TARE" time --trace -N -w 0 -r 3 --style none 'sleep 0.01' >/dev/null
	"$TARE" report --json >doc.json
	[ "$(jq '[.sections[0].details[] | select(.trace)] | length' doc.json)" -eq 3 ]
	# it slept until a time
	jq -e '.sections[0] | .names as $n | .details["1"].trace |
		([.slices[] | select(.[3] == 0) | $n[.[4]]] | index("sleep") != null) and
		([.waits[] | select($n[.[3]] == "timer") | .[2]] | add > 9e6) and
		([.slices[] | .[1] + .[2]] | max) <= .et_ns' doc.json >/dev/null
	jq -e '.sections[0] | .ledger as $l | [range(.columns.et | length) | . as $i | ([$l.wall[][$i]] | add)] ==
		[.columns.et[]]' doc.json >/dev/null
}
