# shellcheck shell=bash disable=SC2034
# What the benchmark scripts share. Each is called with the path of tare and of the build directory.
set -euo pipefail
export LC_ALL=C NO_COLOR=1
TARE=${1:?usage: $0 TARE BUILD}
BUILD=${2:?usage: $0 TARE BUILD}
BURN=$BUILD/tests/programs/burn
scratch=$(mktemp -d)
export TARE_LAB=$scratch/lab.db
background=()
end_background() {
	for pid in "${background[@]}"; do kill "$pid" 2>/dev/null || true; done
	background=()
}
trap 'end_background; rm -rf "$scratch"' EXIT

# n, mean, sigma/mean, median of the numbers on standard input
describe() {
	sort -g | awk '{ x[NR] = $1; s += $1; q += $1 * $1 }
		END { m = s / NR; v = (q - NR * m * m) / (NR > 1 ? NR - 1 : 1); if (v < 0) v = 0
		      printf "%d %.9g %.6g %.9g\n", NR, m, sqrt(v) / m, (x[int((NR + 1) / 2)] + x[int(NR / 2) + 1]) / 2 }'
}

now_ns() { date +%s%N; }

# tare query; 5 says that a busy machine spoilt every execution, which is a result
query() {
	"$TARE" query "$@" || [ $? -eq 5 ]
}
