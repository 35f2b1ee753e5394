#include "record/duet.h"

#include <stdlib.h>

const char *const duet_way_names[DUET_WAYS] = { "scheduler", "freezer", "whole" };

#define X(member, ...) FACT(struct duet, member, __VA_ARGS__)

const struct field duet_fields[] = {
	X(way, "way", FIELD_ENUM,
	  "how the sides shared the CPUs: scheduler (at once on one CPU), freezer (at once on several, "
	  "one frozen while the other ran) or whole (whole executions in turns)",
	  .limit = DUET_WAYS, .names = duet_way_names),
	X(why, "why", FIELD_TEXT, "why this way"),
	X(lacks, "lacks", FIELD_TEXT, "what could not be done here, and its effect"),
	X(cpus, "cpus", FIELD_TEXT, "the CPUs that they shared"),
	X(period_ns, "period_ns", FIELD_U64,
	  "the time between the wake-ups that make the scheduler alternate; 0: none",
	  .unit = UNIT_NS),
	X(slice_ns, "slice_ns", FIELD_U64, "the slice asked of the scheduler; 0: its own",
	  .unit = UNIT_NS),
	X(turn_ns, "turn_ns", FIELD_U64, "a turn by the freezer; 0: none", .unit = UNIT_NS),
	X(max_time_ns, "max_time_ns", FIELD_U64, "to go on for at most", .unit = UNIT_NS),
	X(precision, "precision", FIELD_REAL, "to stop once the interval is within ± this share",
	  .unit = UNIT_SHARE),
	X(precise, "precise", FIELD_BOOL, "not to stop before that even if the sign is sure"),
	X(slower, "slower", FIELD_REAL, "the share that --fail-if-slower allows",
	  .unit = UNIT_SHARE),
	X(seed, "seed", FIELD_U64, "of order and padding", .flags = FIELD_ONLY_SQL),
	{ "seed", FIELD_TEXT, .flags = FIELD_ONLY_JSON | FIELD_BY_HAND | FIELD_ALWAYS,
	  .meaning = "of order and padding: 64 bits, as digits" },
	X(revisions, "revisions", FIELD_TEXT, "the git revisions that were built and compared"),
	{ 0 },
};

#undef X
#define X(member, ...) FACT(struct duet_side, member, __VA_ARGS__)

const struct field duet_side_fields[] = {
	X(name, "name", FIELD_RAW, "the user's name for it, or the command"),
	X(command, "command", FIELD_RAW, "as given"),
	{ 0 },
};

#undef X
#define X(member, ...) FACT(struct duet_part, member, __VA_ARGS__)

const struct field duet_part_fields[] = {
	X(pair, "pair", FIELD_U32, "from 1; 0: it ran alone, to see what sharing costs",
	  .title = "pair"),
	X(side, "side", FIELD_U32, "0 is the reference", .title = "side"),
	X(repeat, "repeat", FIELD_U32, "0: the one that the pair began with", .title = "repeat"),
	X(place, "place", FIELD_U32, "the order in which the sides of the pair were started"),
	X(warmup, "warmup", FIELD_BOOL, "of the first pair of its sides, which is not counted"),
	X(outcome, "outcome", FIELD_ENUM, "exited, signalled or timed out",
	  .limit = OUTCOME_TIMED_OUT + 1, .names = outcome_names),
	X(status, "status", FIELD_I32, "exit code or signal"),
	X(started_at_ns, "started_at_ns", FIELD_DATE, "UTC", .json = "started_at",
	  .csv = "started_at"),
	X(et_ns, "et_ns", FIELD_NS,
	  "from exec to the end of its first process, the turns of the other side included",
	  .title = "ET"),
	X(turn_ns, "turn_ns", FIELD_NS, "of ET, while it was not frozen", .title = "its turns"),
	X(pt_ns[GRADE_NET], "pt_net_ns", FIELD_NS,
	  "process time at grade net: without the interrupts within", .title = "PT net",
	  .json = "pt_ns.net"),
	X(pt_ns[GRADE_EXEC], "pt_exec_ns", FIELD_NS, "process time at grade exec: by the scheduler",
	  .title = "PT exec", .json = "pt_ns.exec"),
	X(pt_ns[GRADE_TICK], "pt_tick_ns", FIELD_NS, "process time at grade tick: counted in ticks",
	  .title = "PT tick", .json = "pt_ns.tick"),
	X(overlap, "overlap", FIELD_REAL,
	  "the share of it, by CPU time, that ran while the other side did", .title = "overlap",
	  .unit = UNIT_SHARE),
	X(switches, "switches", FIELD_KNOWN, "how often it was taken off a CPU", .unit = UNIT_COUNT,
	  .title = "switches"),
	X(padding, "padding", FIELD_U64, "bytes of environment that moved its stack",
	  .unit = UNIT_BYTES),
	X(instructions, "instructions", FIELD_KNOWN, "executed in user mode", .unit = UNIT_COUNT),
	X(cycles, "cycles", FIELD_KNOWN, "of the CPU, in user mode", .unit = UNIT_COUNT),
	{ 0 },
};

#undef X
#define X(member, ...) FACT(struct duet_look, member, __VA_ARGS__)

const struct field duet_look_fields[] = {
	X(pairs, "pairs", FIELD_U32, "pairs so far"),
	X(spent, "spent", FIELD_REAL, "the share of the error rate that was used up by then",
	  .unit = UNIT_SHARE),
	{ 0 },
};

#undef X

void duet_release(struct duet *d)
{
	for (size_t i = 0; i < d->sides.count; i++) {
		free(d->sides.items[i].name);
		free(d->sides.items[i].command);
	}
	array_release(&d->sides);
	array_release(&d->parts);
	array_release(&d->looks);
	array_release(&d->expected_codes);
	free(d->why);
	free(d->lacks);
	free(d->cpus);
	free(d->revisions);
	*d = (struct duet){ 0 };
}
