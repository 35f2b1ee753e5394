#!/usr/bin/env bats
# tare plot, and plots in the terminal where a table would be longer than the screen; the binary is
# $TARE.

setup() {
	: "${TARE:?set TARE to the binary under test}"
	cd "$BATS_TEST_TMPDIR" || return 1
	export TARE_LAB=$BATS_TEST_TMPDIR/lab.db
	export TARE_RUNTIME_DIR=$BATS_TEST_TMPDIR/run
	export TMPDIR=$BATS_TEST_TMPDIR/tmp
	mkdir -p "$TMPDIR"
	screen=$BATS_TEST_DIRNAME/screen.py
}

needs_gnuplot() {
	if ! command -v gnuplot >/dev/null; then
		[ "${TARE_TEST_REQUIRE:-0}" != 1 ] || return 1
		skip "needs gnuplot"
	fi
}

# imported NAME [COUNT [COMMAND]]: a run of COUNT executions, the tenth of each ten slow
imported() {
	awk -v n="${2:-40}" 'BEGIN {
		print "run,sample,et_ns,pt_ns,daemon,daemon_pt_ns"
		for (i = 1; i <= n; i++)
			printf "1,%d,%d,%d,%s\n", i, 10000000 + i % 7 * 10000 + (i % 10 ? 0 : 5000000),
				9000000 + i % 5 * 10000 + (i % 10 ? 0 : 3000000), i % 10 ? "," : "cron,5000000"
	}' >"samples.csv"
	"$TARE" import --here -n "$1" samples.csv >/dev/null
	rm samples.csv
}

# queries NAME: 3 queries at 12 cardinalities, the plan of each changes
queries() {
	awk 'BEGIN {
		print "query,cardinality,execution,measured_ns,plan,query_user_ns,query_system_ns,query_blkio_ns,query_process,query_processes,own_device_ns,others_device_ns,overall_iowait_ns"
		for (q = 1; q <= 3; q++)
			for (c = 1; c <= 12; c++)
				for (x = 1; x <= 10; x++) {
					f = 20 * c * q * (1 + (x * 7 % 10) / 1000)
					printf "%d,%d,%d,%d,%016x,%d,%d,%d,1,1,%d,0,%d\n", q, 1000 * c, x, 50000 * f, 2 * q + (c > 6),
						30000 * f, 1000 * f * (1 + x % 3), 9000 * f, 8000 * f, 2000 * f
				}
	}' >queries.csv
	"$TARE" query import --dbms sqlite -n "$1" queries.csv >/dev/null
	rm queries.csv
}

refused() { # CODE WORDS ARGUMENTS...
	local code=$1 words=$2
	shift 2
	run "$TARE" plot "$@"
	echo "$output"
	[ "$status" -eq "$code" ]
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"$words"* ]]
}

is_picture() { # FILE
	case $1 in
	*.pdf) [ "$(head -c 5 "$1")" = "%PDF-" ] ;;
	*.png) [ "$(head -c 4 "$1" | tail -c 3)" = PNG ] ;;
	*.svg) grep -q "</svg>" "$1" ;;
	esac
}

@test "plot: every kind of a run of time is drawn, with data and script" {
	needs_gnuplot
	imported one
	imported two 30
	for kind in samples histogram density dual; do
		"$TARE" plot one $kind -o $kind.pdf
		is_picture $kind.pdf
		grep -q "^# figure: $kind" $kind.dat
		grep -q "^# name: one" $kind.dat
	done
	"$TARE" plot one two compare -o c.svg
	is_picture c.svg
	[ "$(grep -c "^# name" c.dat)" -eq 2 ]
	"$TARE" plot one two sigma -o s.png
	is_picture s.png
	# the first that fits
	"$TARE" plot one -o first.svg
	grep -q "^# figure: samples" first.dat
	"$TARE" plot one two -o first.svg
	grep -q "^# figure: compare" first.dat
	[ -z "$(ls "$TMPDIR")" ]
}

# unpacked FILE: the objects of a PDF; cairo packs them from 1.18 on
unpacked() {
	python3 - "$1" <<-'END'
		import re, sys, zlib
		data = open(sys.argv[1], "rb").read()
		for part in re.split(rb"\bstream\r?\n", data):
		    try:
		        sys.stdout.buffer.write(zlib.decompressobj().decompress(part))
		    except zlib.error:
		        pass
		sys.stdout.buffer.write(data)
	END
}

@test "plot: the script makes the same figure again" {
	needs_gnuplot
	imported one
	"$TARE" plot one --title "A title" --size 3x2in -o fig.svg
	cp fig.svg before.svg
	rm fig.svg
	gnuplot fig.gp
	cmp fig.svg before.svg
	grep -q "A title" fig.svg
	grep -q 'width="288" height="192"' fig.svg
	"$TARE" plot one --wide -o wide.pdf
	unpacked wide.pdf >wide.objects
	grep -aq "MediaBox \[ 0 0 49[0-9]" wide.objects
	# fonts are within it
	grep -aq FontFile wide.objects
	"$TARE" plot one -o - --format svg >out.svg
	is_picture out.svg
	[ ! -e figure.dat ]
	# what was written is said where somebody reads it
	mkdir "a b"
	run "$screen" 80x24 "$TARE" plot one -o "a b/fig.svg"
	[ "$output" = "tare: wrote 'a b/fig.svg', 'a b/fig.dat' and 'a b/fig.gp'" ]
	run "$TARE" plot one -o fig.svg
	[ -z "$output" ]
}

@test "plot: dropped executions are blocks of their own" {
	needs_gnuplot
	imported one 60
	"$TARE" plot one -o fig.svg
	grep -q "^# block 0: kept" fig.dat
	grep -q "^# block 1: dropped by rule (II)" fig.dat
	[ "$(grep -c "rule II\|is above" fig.dat)" -ge 1 ]
}

@test "plot: values far from 0 and near each other are drawn" {
	needs_gnuplot
	printf 'run,sample,et_ns,pt_ns,daemon,daemon_pt_ns\n%s\n%s\n' far,1,1000000000000000,0,, far,2,1000000000000001,0,, >far.csv
	"$TARE" import far.csv >/dev/null
	for kind in density samples; do
		timeout 10 "$TARE" plot far $kind --measure et -o far.svg
		is_picture far.svg
	done
	grep -qP "\t1000000000000001\t" far.dat
	# without a complaint of gnuplot's
	run gnuplot far.gp
	[ "$status" -eq 0 ] && [ -z "$output" ]
}

@test "plot: queries are drawn, with changes of plan marked" {
	needs_gnuplot
	queries q
	for kind in query split matrix; do
		"$TARE" plot q $kind -o $kind.png
		is_picture $kind.png
	done
	"$TARE" plot q query --query 2 -o two.svg
	grep -q "^# block 0: query 2" two.dat
	! grep -q "query 1" two.dat || false
	# a change of plan is marked
	[ "$(awk -F'\t' '$6 == 1' two.dat | wc -l)" -eq 1 ]
	refused 2 "has no query '9'" q query --query 9 -o x.pdf
	# one notation, not 200000 beside 1e+06
	grep -q "^set xtics nomirror ('0' 0, '2k' 2000, " two.gp
	# one without a table that varies, beside cardinalities that are near each other
	{
		echo query,cardinality,execution,measured_ns,plan,query_user_ns,query_system_ns,query_process,query_processes
		for at in 1,1000000 1,1000040 1,1000090 2,0; do for x in $(seq 10); do echo "$at,$x,$((50000000 + x * 1000)),1,30000000,$((x * 1000000)),1,1"; done; done
	} >queries.csv
	"$TARE" query import --dbms sqlite -n near queries.csv >/dev/null
	run "$TARE" plot near query -o near.svg
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"1 Q@C without a table that varies is not drawn: 'split' shows it"* ]]
	! grep -q "query 2" near.svg || false
	"$TARE" plot near split -o near.svg
	grep -o ">query 1.*M<" near.svg | sed 's/.*[^0-9.]\([0-9.]*M\)<$/\1/' >labels
	[ "$(cat labels)" = $'1M\n1.00004M\n1.00009M' ]
}

@test "plot: Q@Cs that were all dropped are drawn, and it is said" {
	needs_gnuplot
	{
		echo query,cardinality,execution,measured_ns,plan,query_user_ns,query_system_ns,query_process,query_processes
		for c in 1000 2000; do for x in 1 2 3; do echo "1,$c,$x,$((c * 50000 + x * 1000)),1,30000000,1000000,1,1"; done; done
	} >queries.csv
	"$TARE" query import --dbms sqlite -n few queries.csv >/dev/null
	for kind in query split; do
		run "$TARE" plot few $kind -o $kind.svg
		echo "$output"
		[ "$status" -eq 0 ]
		[ "$output" = "tare: all Q@Cs of this figure were dropped by the protocol: what is drawn is of all of their executions" ]
		grep -q ">dropped (2 of 2)<" $kind.svg
		run gnuplot $kind.gp
		[ "$status" -eq 0 ] && [ -z "$output" ]
	done
}

@test "plot: a daemon study is drawn by zoom and by period" {
	needs_gnuplot
	imported samples 200
	"$TARE" calibrate --from samples --quiet
	"$TARE" plot --daemons=1 -o zooms.svg
	grep -q "^# figure: zooms" zooms.dat
	"$TARE" plot --daemons=1 zooms --zoom 1 -o zooms.svg
	"$TARE" plot --daemons=1 periods -o periods.svg
	is_picture periods.svg
	[ "$(grep -c "cron$" periods.dat)" -ge 15 ]
	refused 2 "zoom level" --daemons=1 zooms --zoom 99 -o x.pdf
	refused 2 "--zoom does not go with 'periods'" --daemons=1 periods --zoom 1 -o x.pdf
	refused 2 "no study 7" --daemons=7 -o x.pdf
	refused 2 "has no long run" --daemons=1 --long -o x.pdf
	refused 2 "is not a figure of a daemon study" --daemons=1 ledger -o x.pdf
}

# bats test_tags=long
@test "plot: hostile names are text" {
	needs_gnuplot
	long=$(head -c 10000 /dev/zero | tr '\0' x)
	i=0
	for name in '"; system("touch pwned") #' '`touch pwned`' "'; system('touch pwned') #" $'line\nsystem("touch pwned")' '@x %s %n \n {/Bold x}_2^3' '</text><script>' "$long"; do
		i=$((i + 1))
		imported "$name"
		for kind in samples compare; do
			"$TARE" plot last $kind -o "$i-$kind.svg"
			is_picture "$i-$kind.svg"
			gnuplot "$i-$kind.gp"
		done
	done
	[ -z "$(find . -name pwned)" ]
	! grep -q "<script>" ./*.svg || false
	grep -q "&lt;script" 6-compare.svg
	grep -qF "@x %s %n" 5-compare.svg
	# as it was, in the data
	grep -qF '# name: `touch pwned`' 2-samples.dat
	[ "$(grep -c '^[^#]' 7-compare.dat)" -eq 1 ]
}

@test "plot: hostile names of files are names and nothing else" {
	needs_gnuplot
	imported one
	mkdir "a dir's"
	for name in "a b.svg" "it's.svg" 'd"q`touch pwned`.svg' "<touch pwned.svg" "|touch pwned.svg" "-.svg" "~x.svg" "a dir's/ü.svg" "@x\$y.svg"; do
		"$TARE" plot one -o "./$name"
		is_picture "./$name"
		[ -s "./${name%.svg}.dat" ]
		[ -s "./${name%.svg}.gp" ]
		before=$(cksum <"./$name")
		(cd "$(dirname "./$name")" && gnuplot "./$(basename "${name%.svg}").gp")
		[ "$before" = "$(cksum <"./$name")" ]
	done
	[ -z "$(find . -name pwned)" ]
	refused 2 "control character" one -o $'x\ny.svg'
	refused 2 "no UTF-8" one -o $'x\xff.svg'
}

@test "plot: what is wrong is said" {
	imported one
	imported two
	refused 2 "-o FILE is missing" one
	refused 2 "does not end in .pdf, .svg or .png" one -o x.gif
	refused 2 "neither a run nor a kind of figure 'tare plot --help'" one nothing -o x.pdf
	refused 2 "did you mean 'ledger'?" one ledgr -o x.pdf
	refused 2 "no run 'xyz'" xyz -o x.pdf
	refused 2 "does not fit run 1, which is one of 'tare time' what fits: samples" one noise -o x.pdf
	refused 2 "shows one run, not several" one two dual -o x.pdf
	refused 2 "no size from" one --size 0x3 -o x.pdf
	refused 2 "no size from" one --size big -o x.pdf
	refused 2 "nothing to plot: no measured execution of this run has a ledger" one ledger -o x.pdf
	refused 2 "has no process time (net)" one --measure net -o x.pdf
	refused 2 "run 1 is one task length, 'sigma' is drawn over several give several runs, or --study" one sigma -o x.pdf
	refused 2 "'tare plot --daemons zooms -o FILE' draws it" one zooms -o x.pdf
	refused 2 "--zoom does not go with 'samples'" one --zoom 1 -o x.pdf
	refused 2 "--query does not go with 'dual'" one dual --query 1 -o x.pdf
	refused 2 "--measure does not go with 'sigma'" one two sigma --measure et -o x.pdf
	refused 2 "--measure does not go with 'ledger'" one ledger --measure et -o x.pdf
	refused 2 "--top does not go with 'samples'" one samples --top 3 -o x.pdf
	queries q
	refused 2 "--query does not go with 'matrix'" q matrix --query 1 -o x.pdf
	refused 2 "disagree" one --format png -o x.pdf
	[ ! -e x.pdf ] && [ ! -e x.dat ] && [ ! -e x.gp ]
}

@test "plot: a run of nothing but failures is refused" {
	run "$TARE" time -N -w 0 -r 1 --style none -n failing false
	[ "$status" -ne 0 ]
	refused 2 "nothing to plot: no execution of run 1 was measured" failing -o x.pdf
}

@test "plot: I/O that is not known is not 0" {
	needs_gnuplot
	{
		echo query,cardinality,execution,measured_ns,plan,query_user_ns,query_system_ns,query_process,query_processes
		for x in $(seq 10); do echo "1,1000,$x,$((50000000 + x * 1000)),1,30000000,$((x * 1000000)),1,1"; done
	} >queries.csv
	"$TARE" query import --dbms sqlite -n partly queries.csv >/dev/null
	"$TARE" plot partly split -o split.svg
	is_picture split.svg
	grep -q "^# block 0: the same where CPU time or I/O is not known" split.dat
	[ "$(awk -F'\t' '/^[0-9]/ { print $3, $4, $5 }' split.dat)" = "35500000 NaN NaN" ]
}

@test "plot: under sudo the files are the user's" {
	needs_gnuplot
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	getent passwd 65534 >/dev/null || skip "needs a user 65534"
	# where that user gets to
	export TMPDIR=/tmp
	dir=$(mktemp -d)
	export TARE_LAB=$dir/lab.db
	imported one
	chown -R 65534:65534 "$dir"
	SUDO_UID=65534 SUDO_GID=65534 run "$TARE" plot one samples -o "$dir/x.svg"
	owners=$(stat -c %u "$dir"/x.*)
	mkdir "$dir/bin"
	printf '#!/bin/sh\nid -ru >&2\nid -u >&2\nid -G >&2\nexit 1\n' >"$dir/bin/gnuplot"
	chmod -R a+rx "$dir/bin"
	printf '%s\n' "$output"
	[ "$status" -eq 0 ]
	is_picture "$dir/x.svg"
	[ "$owners" = $'65534\n65534\n65534' ]
	PATH=$dir/bin:$PATH SUDO_UID=65534 SUDO_GID=65534 run "$TARE" plot one samples -o "$dir/y.svg"
	rm -r "$dir"
	[ "$status" -eq 3 ]
	[[ "$output" == *"gnuplot failed: 65534 65534 65534"* ]]
}

@test "plot: an end by a signal leaves nothing behind" {
	imported one
	mkdir bin
	printf '#!/bin/sh\ntouch "%s/started"\nexec sleep 30\n' "$PWD" >bin/gnuplot
	chmod +x bin/gnuplot
	PATH=$PWD/bin:$PATH python3 -c '
import os, signal, subprocess, sys, time
p = subprocess.Popen(sys.argv[1:], start_new_session=True)
while not os.path.exists("started") and p.poll() is None:
    time.sleep(0.05)
os.killpg(p.pid, signal.SIGINT)
sys.exit(p.wait(20) != -signal.SIGINT)' "$TARE" plot one -o x.pdf
	[ -z "$(ls "$TMPDIR")" ]
	[ ! -e x.dat ] && [ ! -e x.pdf ]
}

@test "plot: any directory serves for temporary files" {
	needs_gnuplot
	imported one
	long=$TMPDIR
	for i in 1 2 3; do long=$long/$(head -c 120 /dev/zero | tr '\0' d); done
	mkdir -p "$long"
	TMPDIR=$long "$TARE" plot one --format svg -o messages
	grep -q "</svg>" messages
	[ -z "$(ls "$long")" ]
}

@test "plot: a directory that is not there is refused" {
	needs_gnuplot
	imported one
	refused 2 "cannot write nowhere/x.dat" one -o nowhere/x.pdf
}

@test "plot: without gnuplot data and script are written" {
	imported one
	run env PATH=/nonexistent "$TARE" plot one -o x.pdf
	[ "$status" -eq 3 ]
	[[ "$output" == *"there is no gnuplot to draw with"*"apt install gnuplot-nox"* ]]
	[ -s x.dat ] && [ -s x.gp ] && [ ! -e x.pdf ]
}

@test "plot: when gnuplot fails its words are told, and nothing is replaced" {
	imported one
	mkdir bin
	printf '#!/bin/sh\necho "line 3: no such terminal" >&2\nexit 1\n' >bin/gnuplot
	chmod +x bin/gnuplot
	for end in pdf dat gp; do echo old >x.$end; done
	PATH=$PWD/bin:$PATH refused 3 "gnuplot failed: line 3: no such terminal" one -o x.pdf
	[ "$(cat x.pdf x.dat x.gp)" = $'old\nold\nold' ]
	[ -z "$(ls "$TMPDIR")" ]
}

@test "terminal: executions that do not fit are a plot" {
	imported many 100
	export NO_COLOR=1 TERM=xterm LC_ALL=C.UTF-8
	run "$screen" 80x24 "$TARE" show --executions many
	echo "$output"
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -le 23 ]
	[[ "$output" == *"100 executions, process time (exec); ●: "*" dropped or failed"* ]]
	[[ "$output" == *"100 executions are longer than the screen: --all prints them, as does a pipe"* ]]
	# few points are seen, the tick between the ends is round
	[[ "$output" == *"•••"* && "$output" == *"10.00 ms ┤"* ]]
	[[ "$output" != *$'\033'* ]]
	for line in "${lines[@]}"; do [ "${#line}" -le 80 ]; done
	LC_ALL=C run "$screen" 80x24 "$TARE" show -x many
	[ -z "$(tr -d '\n -~' <<<"$output")" ]
	[[ "$output" == *"x: 10 dropped or failed"* ]]
	# whole words on a narrow screen
	run "$screen" 60x24 "$TARE" show -x many
	[[ "${lines[-2]}" == *"--all prints" && "${lines[-1]}" == "them, as does a pipe" ]]
	# asked for, or room enough, or no terminal: the rows
	run "$screen" 80x24 "$TARE" show -x --all many
	[ "${#lines[@]}" -gt 100 ]
	run "$screen" 80x200 "$TARE" show -x many
	[ "${#lines[@]}" -gt 100 ]
	run "$TARE" show -x many
	[ "${#lines[@]}" -gt 100 ]
	imported few 5
	run "$screen" 80x24 "$TARE" show -x few
	[ "${#lines[@]}" -le 8 ]
	[[ "$output" != *"--all"* ]]
	run "$TARE" show --all many
	[ "$status" -eq 2 ]
}

@test "terminal: warm-ups are rows, too" {
	"$TARE" time -N -r 5 -w 2 --style none -n warm true >/dev/null
	LC_ALL=C.UTF-8 run "$screen" 80x6 "$TARE" show -x warm
	echo "$output"
	[[ "$output" == *"5 executions, "* ]]
	[[ "$output" == *"5 executions and 2 warm-ups are longer than the screen"* ]]
}

@test "terminal: processes that do not fit are bars" {
	"$TARE" time -N -r 3 --style none -n busy true >/dev/null
	rows=$("$TARE" show -p busy | wc -l)
	[ "$rows" -gt 2 ] || skip "nothing else ran"
	LC_ALL=C.UTF-8 run "$screen" 80x$((rows > 6 ? 6 : rows)) "$TARE" show -p busy
	echo "$output"
	[[ "$output" == *"CPU time of processes over all executions"* ]]
	[[ "$output" == *"--all prints them"* ]]
}

@test "terminal: many Q@Cs are a plot by cardinality" {
	queries q
	NO_COLOR=1 LC_ALL=C.UTF-8 run "$screen" 80x24 "$TARE" query report q
	echo "$output"
	[[ "$output" == *"36 Q@Cs, "*"by cardinality"* ]]
	[[ "$output" == *"1 query 1, 2 query 2, 3 query 3"* ]]
	for line in "${lines[@]}"; do [ "${#line}" -le 80 ]; done
	run "$screen" 80x24 "$TARE" query report --all q
	[[ "$output" != *"by cardinality"* ]]
	run "$TARE" query report q
	[[ "$output" != *"by cardinality"* ]]
}
