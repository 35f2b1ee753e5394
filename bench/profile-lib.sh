# shellcheck shell=bash disable=SC2034,SC2154
# What the benchmarks of tare profile share, after bench/lib.sh: a mixed load of gcc, python and
# PostgreSQL that ends by itself.
PROGRAMS=$BUILD/tests/programs
PAIRS=$BUILD/bench/bench-profile-pairs
PYTHON=${PYTHON:-/usr/bin/python3}
# the collector's socket must have a short name, and be nobody else's
TARE_RUNTIME_DIR=$(mktemp -d /tmp/tare-run.XXXXXX)
export TARE_RUNTIME_DIR
postgres_dir=
restore=() # commands that undo what was changed of the machine
undo() {
	for command in "${restore[@]}"; do eval "$command" || true; done
	restore=()
}
leave() {
	undo
	"$TARE" profile stop -q >/dev/null 2>&1 || true
	end_background
	rm -rf "$scratch" "$TARE_RUNTIME_DIR" ${postgres_dir:+"$postgres_dir"}
}
trap leave EXIT

need() { # TOOL...: or nothing is measured
	for tool; do
		command -v "$tool" >/dev/null || {
			echo "not measured: $tool is not here"
			exit 0
		}
	done
}

# A value that is changed until the end: set_until_end FILE VALUE
set_until_end() {
	restore+=("echo '$(cat "$1")' >'$1'")
	echo "$2" >"$1"
}

# rows STATEMENT: of the lab, tab-separated, without a head
rows() { "$TARE" sql --tsv "$1" | tail -n +2; }

# The number of the last run.
last_run() { rows "SELECT max(run) FROM profiles"; }

# median [lowest, highest] of the numbers on standard input: spread FORMAT
spread() { sort -g | awk -v f="$1" '{ x[NR] = $1 } END { if (NR) printf f " [" f ", " f "]",
	(x[int((NR + 1) / 2)] + x[int(NR / 2) + 1]) / 2, x[1], x[NR] }'; }

prepare_gcc() {
	for i in $(seq 120); do
		printf 'struct s%d { int a, b[8]; double c; };\nint f%d(struct s%d *p, int n) { int s = 0; for (int i = 0; i < n; i++) { s += p[i].a * p[i].b[i & 7]; if (s > %d) s -= (int)p[i].c; switch (s & 3) { case 0: s ^= i; break; case 1: s += 3; break; default: s--; } } return s; }\n' \
			"$i" "$i" "$i" "$i"
	done >"$scratch/load.c"
}

load_gcc() { # SECONDS
	local end=$((SECONDS + $1))
	while ((SECONDS < end)); do gcc -O2 -c -o /dev/null "$scratch/load.c"; done
}

load_python() { # SECONDS
	"$PYTHON" -c '
import json, re, sys, time
end = time.monotonic() + float(sys.argv[1])
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
while time.monotonic() < end:
    fib(16)
    text = json.dumps({str(i): [i, i * 1.5, "x" * (i % 50)] for i in range(300)})
    json.loads(text)
    sorted(re.findall("[0-9]+", text), key=len)
' "$1"
}

prepare_postgres() {
	postgres_dir=$(mktemp -d /tmp/tare-pg.XXXXXX)
	chmod 755 "$postgres_dir"
	if ! sh "$PROGRAMS/pgbench.sh" prepare "$postgres_dir" >"$scratch/pg.log" 2>&1; then
		cat "$scratch/pg.log"
		return 1
	fi
}

load_postgres() { # SECONDS
	sh "$PROGRAMS/pgbench.sh" run "$postgres_dir" "$1" >"$scratch/pg.log" 2>&1
}

# mixed_load SECONDS: all three at once, in the background
mixed_load() {
	for one in gcc python postgres; do
		"load_$one" "$1" &
		background+=($!)
	done
}
prepare_mixed() {
	prepare_gcc
	prepare_postgres
}
# Waits for loads that end by themselves.
end_load() {
	wait "${background[@]}" 2>/dev/null || true
	background=()
}
