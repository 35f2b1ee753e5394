# shellcheck shell=bash disable=SC2034
# What tests of imported samples have in common: `load samples`.

setup() {
	: "${TARE:?set TARE to the binary under test}"
	cd "$BATS_TEST_TMPDIR" || return 1
	export TARE_LAB=$BATS_TEST_TMPDIR/lab.db
}

HEADER=run,sample,et_ns,pt_ns,daemon,daemon_pt_ns

# flat: the output of the last `run` with errors as one line, not wrapped
flat() {
	output=$(tr -s ' \n' ' ' <<<"$output")
}

# generate RUN SAMPLES: CSV without header: samples of a second; sshd runs in all of them, backup for 0.3 s in
# every twentieth from the 7th on, nothing in the first
generate() {
	awk -v run="$1" -v samples="$2" 'BEGIN {
		srand(1)
		for (i = 1; i <= samples; i++) {
			slow = i % 20 == 7
			times = sprintf("%d,%d", 1e9 + 1e5 * rand() + 3e8 * slow, 999e6 + 1e4 * rand())
			if (i == 1)
				printf "%s,%d,%s,,\n", run, i, times
			else
				printf "%s,%d,%s,sshd,%d\n", run, i, times, 2e4 + 1e4 * rand()
			if (slow)
				printf "%s,%d,%s,backup,%d\n", run, i, times, 3e8
		}
	}'
}
