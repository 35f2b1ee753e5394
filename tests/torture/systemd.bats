#!/usr/bin/env bats
# `tare quiet` on a machine with systemd: runs in the guest that tests/torture/guest boots, where nothing is anybody's.
# A test tagged bootN runs after the N-th boot; the last of each leaves the machine as the next one wants to find it.

load ../cli/common

setup_file() {
	# what runs from boot on: these files are there after the next boot, too
	[ ! -e /etc/systemd/system/tare-sleeper.service ] || return 0
	unit tare-sleeper.service "ExecStart=/bin/sleep infinity"
	unit tare-slow.service "ExecStart=/bin/sleep infinity" "ExecStop=/bin/sleep 4"
	unit tare-served.service "ExecStart=/bin/sleep infinity"
	unit tare-ticked.service "Type=oneshot" "ExecStart=/bin/sh -c 'echo tick >> /run/ticks'"
	unit tare-broken.service "ExecStart=/bin/sh -c 'test -e /run/works && exec sleep infinity'"
	printf '[Socket]\nListenStream=/run/served.socket\n[Install]\nWantedBy=sockets.target\n' \
		> /etc/systemd/system/tare-served.socket
	printf '[Timer]\nOnBootSec=1s\nOnUnitActiveSec=1s\nAccuracySec=100ms\n[Install]\nWantedBy=timers.target\n' \
		> /etc/systemd/system/tare-ticked.timer
	systemctl daemon-reload
	systemctl enable --now tare-sleeper.service tare-slow.service tare-served.socket tare-served.service tare-ticked.timer
	soon is_active tare-ticked.timer
}

setup() {
	: "${TARE:?set TARE to the binary under test}"
	cd "$BATS_TEST_TMPDIR" || return 1
	export TARE_LAB=$BATS_TEST_TMPDIR/lab.db
}

# keeps_journal: it outlives the boot
keeps_journal() {
	export TARE_RUNTIME_DIR=/var/lib/tare-journal
}

teardown() {
	[ -z "${child:-}" ] || kill -9 "$child" 2>/dev/null || true
	[ -n "${leaves:-}" ] || "$TARE" quiet --restore --force >/dev/null || true
}

# unit NAME LINE...: a service that multi-user.target wants
unit() {
	local name=$1
	shift
	printf '%s\n' "[Service]" "$@" "[Install]" "WantedBy=multi-user.target" > "/etc/systemd/system/$name"
}

is_active() {
	[ "$(systemctl show -P ActiveState "$1")" = active ]
}

is_inactive() {
	[ "$(systemctl show -P ActiveState "$1")" = inactive ]
}

# units: all that run and that tare could stop, but for those that come and go by themselves
units() {
	systemctl list-units --plain --no-legend --state=active --type=service,socket,timer | awk '$4 != "exited" { print $1 }' |
		grep -v 'tare-ticked.service\|^run-\|^user\|getty' | sort
}

# as_in FILE: what runs is what the file says, within a minute. Emulation is slow, and systemd takes its time to start things.
as_in() {
	local until=$((SECONDS + 60))
	until units | diff "$1" - > difference; do
		[ "$SECONDS" -lt "$until" ] || { cat difference; return 1; }
	done
}

# started COMMAND...: in the background, as $child, once it has made the machine quiet
started() {
	"$@" > out 2> err < /dev/null 3>&- &
	child=$!
	succeeds_within 60 test -e quiet
}

# bats test_tags=boot1
@test "systemd: a service is stopped and started again" {
	run "$TARE" quiet --only services --stop tare-sleeper
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"service tare-sleeper.service"*active*inactive*changed* ]]
	is_inactive tare-sleeper.service
	run "$TARE" quiet --restore
	[ "$status" -eq 0 ]
	is_active tare-sleeper.service
}

# bats test_tags=boot1
@test "systemd: with a service its socket is stopped, so that nothing starts it again" {
	"$TARE" quiet --only services --stop tare-served
	is_inactive tare-served.service
	is_inactive tare-served.socket
	"$TARE" quiet --restore
	is_active tare-served.socket
	is_active tare-served.service
}

# bats test_tags=boot1
@test "systemd: timers are stopped, start nothing meanwhile, and go on" {
	systemctl list-units --plain --no-legend --state=active --type=timer | awk '{ print $1 }' | sort > timers
	[ "$(wc -l < timers)" -ge 3 ]
	run "$TARE" quiet --only jobs --json
	echo "$output"
	[ "$status" -eq 0 ]
	[ -z "$(systemctl list-units --plain --no-legend --state=active --type=timer)" ]
	soon is_inactive tare-ticked.service
	rm -f /run/ticks
	sleep 3
	[ ! -e /run/ticks ]
	"$TARE" quiet --restore
	systemctl list-units --plain --no-legend --state=active --type=timer | awk '{ print $1 }' | sort | diff timers -
	soon test -e /run/ticks
}

# bats test_tags=boot1
@test "systemd: what is kept, transient or never stopped stays" {
	run "$TARE" quiet --only services --stop dbus
	[ "$status" -eq 2 ]
	[[ "$output" == *"never stopped"* ]]
	run "$TARE" quiet --only services --stop tare-sleeper --keep tare-sleeper
	is_active tare-sleeper.service
	"$TARE" quiet --restore
	systemd-run --quiet --unit=tare-passing sleep 100
	run "$TARE" quiet --only services --stop tare-passing
	[[ "$output" == *"refused: it is transient"* ]]
	is_active tare-passing.service
	systemctl stop tare-passing
}

# bats test_tags=boot1
@test "systemd: all that ran runs again after a command that had the machine quiet" {
	units > units.before
	run "$TARE" quiet --stop tare-sleeper --stop tare-slow -- sh -c 'systemctl is-active tare-sleeper tare-slow cron; exit 7'
	echo "$output"
	[ "$status" -eq 7 ]
	[[ "$output" != active* && "$output" != *$'\n'active* ]]
	as_in units.before
}

# bats test_tags=boot1
@test "systemd: after kill -9 services and timers run again" {
	units > units.before
	started "$TARE" quiet --stop tare-sleeper -- sh -c 'touch quiet; exec sleep 60'
	is_inactive tare-sleeper.service
	kill -9 "$child"
	wait "$child" || true
	child=
	"$TARE" --version
	soon is_active tare-sleeper.service # the guard may be at it
	as_in units.before
	run "$TARE" quiet --status
	[[ "$output" == "Not quiet"* ]]
}

# bats test_tags=boot1
@test "systemd: soon after kill -9 services and timers run again, without another tare" {
	units > units.before
	started "$TARE" quiet --stop tare-sleeper -- sh -c 'touch quiet; exec sleep 60'
	kill -9 "$child"
	wait "$child" || true
	child=
	as_in units.before
	none_left 'sleep 60'
}

# bats test_tags=boot1
@test "systemd: kill -9 while a service is stopping; it runs again" {
	started sh -c 'touch quiet; exec "$@"' sh "$TARE" quiet --only services --stop tare-slow
	soon eval '[ "$(systemctl show -P ActiveState tare-slow)" = deactivating ]'
	kill -9 "$child"
	wait "$child" || true
	child=
	"$TARE" --version
	soon is_active tare-slow.service
	sleep 5 # what was begun is over
	is_active tare-slow.service
}

# bats test_tags=boot1
@test "systemd: Ctrl-C does not wait for a service that stops slowly, and starts it again" {
	started env --default-signal=INT sh -c 'touch quiet; exec "$@"' sh "$TARE" quiet --only services --stop tare-slow
	soon eval '[ "$(systemctl show -P ActiveState tare-slow)" = deactivating ]'
	kill -INT "$child"
	code=0
	wait "$child" || code=$?
	child=
	[ "$code" -eq 130 ]
	soon is_active tare-slow.service
	run "$TARE" quiet --status
	[[ "$output" == "Not quiet"* ]]
}

# bats test_tags=boot1
@test "systemd: a service that does not start again is told, and tried again" {
	touch /run/works
	systemctl start tare-broken
	"$TARE" quiet --only services --stop tare-broken
	is_inactive tare-broken.service
	mv /etc/systemd/system/tare-broken.service aside
	systemctl daemon-reload
	run "$TARE" quiet --restore
	echo "$output"
	[ "$status" -eq 3 ]
	[[ "$output" == *"tare-broken.service"*"refused"* ]]
	mv aside /etc/systemd/system/tare-broken.service
	systemctl daemon-reload
	"$TARE" quiet --restore
	is_active tare-broken.service
	systemctl stop tare-broken
}

# bats test_tags=boot1
@test "systemd: the machine is quiet when its power is cut" {
	leaves=quiet
	units > /var/lib/units
	"$TARE" quiet --only services,jobs --stop tare-sleeper
	is_inactive tare-sleeper.service
	sync
}

# bats test_tags=boot2
@test "systemd: after a power cut all runs again and nothing is to be put back" {
	as_in /var/lib/units
	run "$TARE" quiet --status
	[[ "$output" == "Not quiet"* ]]
	run "$TARE" quiet --restore
	[ "$status" -eq 0 ]
	[ "$output" = "Nothing to do." ]
}

# bats test_tags=boot2
@test "systemd: the machine is quiet when it reboots, and the journal is kept" {
	leaves=quiet
	keeps_journal
	"$TARE" quiet --only services,jobs --stop tare-sleeper
	is_inactive tare-sleeper.service
	[ -e "$TARE_RUNTIME_DIR/quiet.journal" ]
}

# bats test_tags=boot3
@test "systemd: the journal of another boot changes nothing" {
	keeps_journal
	[ -e "$TARE_RUNTIME_DIR/quiet.journal" ]
	as_in /var/lib/units
	systemctl stop tare-sleeper # somebody, after the boot
	"$TARE" --version
	is_inactive tare-sleeper.service
	run "$TARE" quiet --status
	echo "$output"
	[[ "$output" == "Not quiet"* ]]
	run "$TARE" quiet --only services --stop tare-slow
	[ "$status" -eq 0 ]
	"$TARE" quiet --restore
	is_inactive tare-sleeper.service
	is_active tare-slow.service
	systemctl start tare-sleeper
}
