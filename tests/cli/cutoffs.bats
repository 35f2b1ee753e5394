#!/usr/bin/env bats
# tare cutoffs as a user types it; the binary is $TARE.

setup() {
	: "${TARE:?set TARE to the binary under test}"
	cd "$BATS_TEST_TMPDIR" || return 1
	export TARE_LAB=$BATS_TEST_TMPDIR/lab.db
	schemas=$BATS_TEST_DIRNAME/../../docs/schema
}

# refused WORDS ARGUMENTS...: exits with 2, says WORDS; kept: and what is in force stayed
refused() {
	local words=$1
	shift
	[ -e before ] || "$TARE" cutoffs --csv >before
	run "$TARE" cutoffs "$@"
	echo "$output"
	[ "$status" -eq 2 ]
	output=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$output" == *"$words"* ]]
}
kept() {
	"$TARE" cutoffs --csv | cmp - before
}

# row DAEMON: "from below cutoff" of each of its cutoffs, in ns
row() {
	"$TARE" cutoffs --json |
		jq -r --arg d "$1" '.cutoffs[] | select(.daemon == $d) | "\(.from_ns) \(.below_ns) \(.cutoff_ns)"'
}

@test "cutoffs: none, then set, changed, removed" {
	run "$TARE" cutoffs
	[ "$status" -ne 0 ] # there is no lab yet
	"$TARE" cutoffs set rhn_check 281ms
	[ "$(row rhn_check)" = "0 null 281000000" ]
	"$TARE" cutoffs set rhn_check 300ms
	[ "$(row rhn_check)" = "0 null 300000000" ]
	"$TARE" cutoffs set cron 5ms --below 10s
	"$TARE" cutoffs set cron 50ms --from 10s
	[ "$(row cron)" = "0 10000000000 5000000
10000000000 null 50000000" ]
	"$TARE" cutoffs set cron 6ms --below 10s
	[ "$(row cron | head -n 1)" = "0 10000000000 6000000" ]
	run "$TARE" cutoffs
	[ "$status" -eq 0 ]
	[[ "$output" == *rhn_check* ]] && [[ "$output" == *"by hand"* ]]
	id=$("$TARE" cutoffs --json | jq '.cutoffs[] | select(.daemon == "cron" and .below_ns == null) | .id')
	"$TARE" cutoffs set "$id" 70ms
	[ "$(row cron | tail -n 1)" = "10000000000 null 70000000" ]
	id=$("$TARE" cutoffs --json | jq '.cutoffs[] | select(.daemon == "rhn_check") | .id')
	# all of them or none
	run "$TARE" cutoffs rm "$id" nobody
	[ "$status" -eq 2 ]
	[ -n "$(row rhn_check)" ]
	"$TARE" cutoffs rm "$id"
	[ -z "$(row rhn_check)" ]
	"$TARE" cutoffs rm cron
	[ "$("$TARE" cutoffs --json | jq '.cutoffs | length')" -eq 0 ]
	run "$TARE" cutoffs
	[[ "$output" == *"No cutoffs are in force"* ]]
	"$TARE" cutoffs set a 1ms
	"$TARE" cutoffs set b 1ms
	"$TARE" cutoffs rm --all
	[ "$("$TARE" cutoffs --json | jq '.cutoffs | length')" -eq 0 ]
}

@test "cutoffs: bad input is refused" {
	"$TARE" cutoffs set cron 5ms --below 10s
	"$TARE" cutoffs set cron 50ms --from 10s
	refused "takes a DAEMON and a CUTOFF" set cron
	refused "such as 250ms, not 'soon'" set cron soon
	refused "not '-5ms'" set -- cron -5ms
	refused "--below is not above --from" set cron 5ms --from 2s --below 1s
	refused "1 to" set "" 5ms
	refused "1 to" set "a name that is too long" 5ms
	refused "1 to" set 0123456789abcdef 5ms
	refused "1 to" set $'a\nb' 5ms
	refused "2 ranges" set cron 5ms
	refused "" set cron 5ms --from 5s --below 20s
	refused "no cutoff in force on this machine is '999'" rm 999
	refused "is 'nobody'" rm nobody
	refused "a number, a DAEMON, or --all" rm
	refused "--all leaves nothing to name" rm --all cron
	refused "unknown subcommand 'lst'" lst
	refused "takes one FILE" import
	refused "cannot read /nowhere/file" import /nowhere/file
	refused "there is no study 7" show 7
	refused "no study of this machine" show
	refused "a study has a number" show first
	refused "a STUDY" rm-study
	refused "" rm-study 7
	kept
	run "$TARE" cutoffs export /nowhere/file
	[ "$status" -ne 0 ]
	run "$TARE" cutoffs studies
	[ "$status" -eq 0 ]
	[[ "$output" == *"no study yet"* ]]
}

@test "cutoffs: what is exported is imported the same" {
	"$TARE" cutoffs set cron 5ms --below 10s
	"$TARE" cutoffs set cron 50ms --from 10s
	"$TARE" cutoffs set "a b" 7us
	"$TARE" cutoffs export file.json
	"$TARE" cutoffs export | cmp - file.json
	"$TARE" cutoffs import file.json --lab other.db
	"$TARE" cutoffs --csv | cut -d, -f2-5 >here
	"$TARE" cutoffs --csv --lab other.db | cut -d, -f2-5 >there
	cmp here there
	# again, onto themselves; and others stay
	"$TARE" cutoffs set third 1s
	"$TARE" cutoffs import - <file.json
	[ "$("$TARE" cutoffs --json | jq '.cutoffs | length')" -eq 4 ]
	[ "$(jq -r .machine.identity file.json | grep -cE '^[0-9a-f]{16}$')" -eq 1 ]
	[ "$(jq -r .machine.fingerprint file.json | grep -cE '^[0-9a-f]{16}$')" -eq 1 ]
}

@test "cutoffs: what is imported is as old as its file says" {
	"$TARE" cutoffs set cron 5ms
	"$TARE" cutoffs export file.json
	[ "$(jq .valid file.json)" = true ]
	jq '.made_at = "2024-02-29T12:00:00.000Z" | .study = 5' file.json >old.json
	"$TARE" cutoffs import old.json
	"$TARE" cutoffs --json |
		jq -e '.made_at == "2024-02-29T12:00:00.000Z" and .study == null and .valid == false'
	run "$TARE" cutoffs
	[[ "$output" == *"by hand or imported"*"days old"* ]]
	# a date to come, and none: now
	for made in '"9999-12-31T23:59:59.999Z"' null; do
		jq ".made_at = $made" file.json >new.json
		"$TARE" cutoffs import new.json
		"$TARE" cutoffs --json | jq -e '.valid and .made_at >= "2025" and .made_at < "9999"'
	done
}

@test "cutoffs: those of another machine are refused, unless by force" {
	"$TARE" cutoffs set cron 5ms
	"$TARE" cutoffs export file.json
	jq '.machine.identity = "0123456789abcdef" | .machine.host = "else\u001b[31mwhere" |
		.cutoffs[0].cutoff_ns = 1' file.json >other.json
	refused "these cutoffs are of another machine (else\\x1b[31mwhere)" import other.json
	refused "--force takes them" import other.json
	kept
	"$TARE" cutoffs import --force other.json
	[ "$(row cron)" = "0 null 1" ]
}

# bats test_tags=long
@test "cutoffs: hostile files change nothing" {
	"$TARE" cutoffs set cron 5ms
	"$TARE" cutoffs export file.json
	spoil() {
		jq "$1" file.json >bad.json
		refused "$2" import bad.json
	}
	spoil '.kind = "runs"' '"kind"'
	spoil 'del(.kind)' '"kind"'
	spoil '.format = 2' '"format"'
	spoil '.format = "1"' '"format"'
	spoil 'del(.machine)' 'of which machine'
	spoil '.machine.identity = "xyz"' 'of which machine'
	spoil '.machine = [1]' 'of which machine'
	spoil '.cutoffs = {}' 'no list'
	spoil 'del(.cutoffs)' 'no list'
	spoil '.cutoffs[0] = 7' 'cutoff 1 of the file'
	spoil '.cutoffs[0].daemon = null' 'no name of a daemon'
	spoil '.cutoffs[0].daemon = ""' 'cannot be called'
	spoil '.cutoffs[0].daemon = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"' 'cannot be called'
	spoil '.cutoffs[0].daemon = "a\u0007b"' 'cannot be called'
	# behind a good one, and one byte too long
	spoil '.cutoffs[1] = (.cutoffs[0] | .daemon = "0123456789abcdef")' "called '0123456789abcdef'"
	spoil '.cutoffs[1] = (.cutoffs[0] | .daemon = "")' 'cannot be called'
	spoil '.made_at = "yesterday"' '"made_at" is no date'
	spoil '.made_at = 7' '"made_at" is no date'
	spoil '.made_at = "0000-01-01T00:00:00.000Z"' '"made_at" is no date'
	spoil '.cutoffs[0].cutoff_ns = -1' 'times in ns'
	spoil '.cutoffs[0].cutoff_ns = 1.5' 'times in ns'
	spoil '.cutoffs[0].cutoff_ns = "5ms"' 'times in ns'
	spoil 'del(.cutoffs[0].from_ns)' 'times in ns'
	spoil '.cutoffs[0] |= (.from_ns = 5 | .below_ns = 5)' 'times in ns'
	spoil '.cutoffs[0].below_ns = 0' 'times in ns'
	spoil '.cutoffs += .cutoffs' 'overlaps that of another'
	spoil '.cutoffs = [range(10001) as $i | .cutoffs[0] | .daemon = "d\($i)"]' 'more than 10000'
	spoil '[.]' '"kind"'
	# what is no JSON at all
	for text in '' '{' 'null' '{"a":1,"a":2}' '[[[[' $'\xff\xfe' '{"kind":"cutoffs","format":99999999999999999999}'; do
		printf '%s' "$text" >bad.json
		refused "these are no cutoffs of tare" import bad.json
	done
	printf '{"kind":"cut\0offs"}' >bad.json
	refused "these are no cutoffs of tare" import bad.json
	head -c 100000 /dev/urandom >bad.json
	refused "these are no cutoffs of tare" import bad.json
	printf '[%.0s' {1..100000} >bad.json
	refused "these are no cutoffs of tare" import bad.json
	truncate -s 5000000 bad.json
	refused "too large" import bad.json
	refused "cannot read" import .
	kept
}

@test "cutoffs: the JSON is what its schema says" {
	python3 -c 'import jsonschema' 2>/dev/null || skip "needs python3-jsonschema"
	"$TARE" cutoffs set cron 5ms --below 10s
	for file in <("$TARE" cutoffs --json) <("$TARE" cutoffs export); do
		python3 - "$schemas/cutoffs.schema.json" "$file" <<-'END'
			import json, jsonschema, sys
			schema, document = (json.load(open(name)) for name in sys.argv[1:])
			jsonschema.Draft202012Validator(schema).validate(document)
			assert set(document) == set(schema["properties"]), document
			cutoff = schema["$defs"][schema["properties"]["cutoffs"]["items"]["$ref"].rsplit("/", 1)[1]]
			assert set(document["cutoffs"][0]) == set(cutoff["properties"])
		END
	done
}
