/* What the documents of this folder are made of: docs/schema/ comes from it. */
#include "report/core/shapes.h"
#include "report/duet/document.h"

static const char *const duet_type[] = { "duet" };
static const char *const end_names[] = { [DUET_OPEN] = "open",
					 [DUET_FASTER] = "faster",
					 [DUET_SLOWER] = "slower",
					 [DUET_SAME] = "same" };
static const char *const gate_names[] = { [DUET_GATE_NONE] = "none",
					  [DUET_GATE_SLOWER] = "slower",
					  [DUET_GATE_NOT_SLOWER] = "not slower",
					  [DUET_GATE_NOT_KNOWN] = "not known yet" };
#define POSITIVE .more = "\"minimum\": 0"

#define X(member, ...) FACT(struct duet_pair, member, __VA_ARGS__)
static const struct field pair_fields[] = {
	X(pair, "pair", FIELD_U32, "its number"),
	X(at_ns, "began_at", FIELD_DATE, NULL),
	X(ns[0], "reference_ns", FIELD_REAL, "by the measure, per whole execution",
	  .flags = FIELD_ALWAYS, POSITIVE),
	X(ns[1], "other_ns", FIELD_REAL, NULL, .flags = FIELD_ALWAYS, POSITIVE),
	X(log_ratio, "log_ratio", FIELD_REAL, "natural logarithm of other / reference",
	  .flags = FIELD_ALWAYS),
	X(overlap, "overlap", FIELD_REAL, "the smaller of the two sides'", POSITIVE),
	X(trimmed, "trimmed", FIELD_BOOL, "among the outermost, which the mean leaves out"),
	{ 0 },
};
static const struct shape pair_shape = { "duet_pair", NULL, pair_fields };

#undef X
#define X(member, ...) FACT(struct duet_step, member, __VA_ARGS__)
static const struct field step_fields[] = {
	X(pairs, "pairs", FIELD_U64, "counted by then"),
	X(ratio, "ratio", FIELD_REAL, NULL, POSITIVE),
	X(low, "ratio_low", FIELD_REAL, NULL, POSITIVE),
	X(high, "ratio_high", FIELD_REAL, NULL, POSITIVE),
	X(level, "level", FIELD_REAL, "nominal error rate of this look's interval", POSITIVE),
	{ 0 },
};
static const struct shape step_shape = {
	"duet_step", "A look at the pairs so far: the intervals of all looks hold together.",
	step_fields
};

#undef X
#define X(member, ...) FACT(struct duet_said, member, __VA_ARGS__)
static const struct field verdict_fields[] = {
	X(v.side, "side", FIELD_U32, "compared with side 0", .more = "\"minimum\": 1"),
	X(name, "name", FIELD_TEXT, NULL, .flags = FIELD_ALWAYS),
	X(sentence, "sentence", FIELD_TEXT, "the answer in words", .flags = FIELD_ALWAYS),
	X(gate_sentence, "gate_sentence", FIELD_TEXT, "that to --fail-if-slower"),
	X(v.end, "end", FIELD_ENUM,
	  "faster or slower than the reference, the same within ± precision, or open",
	  .limit = DUET_SAME + 1, .names = end_names),
	X(v.gate, "gate", FIELD_ENUM, "the end of --fail-if-slower; none: not given",
	  .limit = DUET_GATE_NOT_KNOWN + 1, .names = gate_names),
	X(v.ratio, "ratio", FIELD_REAL, "other / reference; null: fewer than 3 pairs", POSITIVE),
	X(v.low, "ratio_low", FIELD_REAL, NULL, POSITIVE),
	X(v.high, "ratio_high", FIELD_REAL, NULL, POSITIVE),
	X(v.sigma, "sigma", FIELD_REAL, "of the log ratio of one pair", POSITIVE),
	X(v.pairs, "pairs", FIELD_U64, "counted"),
	X(v.judged, "judged", FIELD_U64, "of those, by the last look, which the ratio is of"),
	X(v.trimmed, "trimmed", FIELD_U64, "of those, left out of the mean as outermost"),
	X(v.failed, "failed", FIELD_U64, "pairs left out because an execution failed"),
	X(v.unusable, "unusable", FIELD_U64,
	  "pairs left out because a time is not known or not longer than the shell's"),
	X(v.mean_ns[0], "mean_ns.reference", FIELD_REAL,
	  "per execution, over the pairs counted; of instructions and cycles, as many", POSITIVE),
	X(v.mean_ns[1], "mean_ns.other", FIELD_REAL, NULL, POSITIVE),
	X(v.spread[0], "spread.reference", FIELD_REAL, "sigma / mean over the pairs", POSITIVE),
	X(v.spread[1], "spread.other", FIELD_REAL, NULL, POSITIVE),
	X(v.cost[0], "cost.reference", FIELD_REAL,
	  "what sharing cost: time in pairs / time alone; null: could not be told", POSITIVE),
	X(v.cost_low[0], "cost.reference_low", FIELD_REAL, NULL, POSITIVE),
	X(v.cost_high[0], "cost.reference_high", FIELD_REAL, NULL, POSITIVE),
	X(v.cost[1], "cost.other", FIELD_REAL, NULL, POSITIVE),
	X(v.cost_low[1], "cost.other_low", FIELD_REAL, NULL, POSITIVE),
	X(v.cost_high[1], "cost.other_high", FIELD_REAL, NULL, POSITIVE),
	X(v.list, "list", FIELD_LIST, "The pairs counted.", .shape = &pair_shape,
	  .limit = sizeof(struct duet_pair)),
	X(v.steps, "steps", FIELD_LIST, "The last is the verdict's.", .shape = &step_shape,
	  .limit = sizeof(struct duet_step)),
	{ 0 },
};
const struct shape duet_verdict_shape = { "duet_verdict", "One side against the reference.",
					  verdict_fields };

static const struct shape facts_shape = { "duet_facts", NULL, duet_fields };
static const struct shape side_shape = { "duet_side", NULL, duet_side_fields };
static const struct shape part_shape = { "duet_part", "One execution of one side.",
					 duet_part_fields };
static const struct shape look_shape = { "duet_look", NULL, duet_look_fields };

#undef X
#define X(member, ...) FACT(struct duet_head, member, __VA_ARGS__)
static const struct field duet_document_fields[] = {
	X(type, "type", FIELD_ENUM, NULL, .limit = 1, .names = duet_type),
	X(format, "format", FIELD_U64, "Raised when a field changes its meaning.",
	  .more = "\"const\": 1"),
	{ "run", FIELD_OBJECT, .shape = &stored_run_shape, .flags = FIELD_MAYBE },
	{ "machine", FIELD_OBJECT, .shape = &machine_shape, .flags = FIELD_MAYBE },
	X(data, "", FIELD_SPLICE, NULL, .shape = &facts_shape),
	X(sentence, "sentence", FIELD_TEXT, "how it was done, in words", .flags = FIELD_ALWAYS),
	X(elapsed_ns, "elapsed_ns", FIELD_REAL, "how long all of it took", POSITIVE),
	X(result.measure, "measure", FIELD_ENUM, "what is compared", .limit = DUET_MEASURES,
	  .names = duet_measure_names),
	X(result.done, "done", FIELD_BOOL, "every verdict is sure"),
	X(data.sides, "sides", FIELD_LIST, "The first is the reference.", .shape = &side_shape,
	  .limit = sizeof(struct duet_side)),
	{ "verdicts", FIELD_LIST, .shape = &duet_verdict_shape, .flags = FIELD_BY_HAND,
	  .meaning = "One for each side but the reference." },
	X(data.looks, "looks", FIELD_LIST, "When it judged the pairs and could have stopped.",
	  .shape = &look_shape, .limit = sizeof(struct duet_look)),
	X(data.parts, "parts", FIELD_LIST, "Every execution, in the order in which they ended.",
	  .shape = &part_shape, .limit = sizeof(struct duet_part)),
	{ 0 },
};
const struct shape duet_shape = { "duet",
				  "Programs that shared a CPU in turns, compared pair by pair.",
				  duet_document_fields };
