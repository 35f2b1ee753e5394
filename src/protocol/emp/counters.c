#include "protocol/emp/counters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const emp_counter_kind_names[EMP_COUNTER_KINDS] = {
	"count", "per_cycle", "ghz", "clock", "effective_clock", "slots", "per_1000_instructions",
};

const char *const emp_slots[EMP_SLOTS_OF] = { "retiring", "bad speculation", "frontend bound",
					      "backend bound" };

/* Tukey's fences: quartiles and this many times the distance between them. */
#define FENCE 1.5

/* Process time without interrupts, whose cycles are counted with the subject's, would be too
 * short. */
static double process_ns(const struct execution *x)
{
	uint64_t ns = x->pt_ns[GRADE_EXEC] != ABSENT_NS ? x->pt_ns[GRADE_EXEC]
							: x->pt_ns[GRADE_NET];
	return ns == ABSENT_NS || !ns ? NAN : (double)ns;
}

static double count_of(const struct execution *x, const char *name)
{
	const struct counter *c = counter_find(&x->counters, name);
	return c ? (double)c->value : NAN;
}

/* NaN without a divisor. */
static double divided(double by, double value)
{
	return by > 0 ? value / by : NAN;
}

/* Whether both modes are in it: cycles of user mode alone say nothing about the clock. */
static bool is_whole(const struct execution *x, const char *name)
{
	const struct counter *c = counter_find(&x->counters, name);
	return c && !(c->user >= 0 && c->kernel < 0);
}

/* Of the event as it was named, or of user mode alone. */
static double count_either(const struct execution *x, const char *name)
{
	char only[COUNTER_NAME];
	double count = count_of(x, name);
	snprintf(only, sizeof only, "%s:u", name);
	return isnan(count) ? count_of(x, only) : count;
}

/* Top-down analysis, level 1: what became of the places in the pipeline. Intel's CPUs count all
 * four; the formulas for arm64 are ARM's (perf's pmu-events/arch/arm64/sbsa.json). */
static double slots_share(const struct execution *x, const char *name)
{
	static const char *const intel[EMP_SLOTS_OF] = { "topdown-retiring", "topdown-bad-spec",
							 "topdown-fe-bound", "topdown-be-bound" };
	double counts[EMP_SLOTS_OF], sum = 0;
	size_t which = 0;
	for (size_t i = 0; i < EMP_SLOTS_OF; i++) {
		counts[i] = count_either(x, intel[i]);
		sum += counts[i];
		if (strcmp(name, emp_slots[i]) == 0)
			which = i;
	}
	if (!isnan(sum))
		return divided(sum, counts[which]);
	double slots = count_either(x, "slots");
	double used = 1 - divided(slots, count_either(x, "stall_slot"));
	double retired = divided(count_either(x, "op_spec"), count_either(x, "op_retired"));
	const double shares[EMP_SLOTS_OF] = {
		used * retired, used * (1 - retired),
		divided(slots, count_either(x, "stall_slot_frontend")),
		divided(slots, count_either(x, "stall_slot_backend"))
	};
	return shares[which];
}

/* Instructions of the modes in which the event was counted. */
static double instructions_beside(const struct execution *x, const char *name)
{
	const char *modes = strrchr(name, ':');
	if (!modes)
		return count_of(x, "instructions");
	if (strcmp(modes, ":u") == 0) {
		int64_t user = counter_in_user_mode(&x->counters, "instructions");
		return user < 0 ? NAN : (double)user;
	}
	const struct counter *both = counter_find(&x->counters, "instructions");
	return both && strcmp(modes, ":k") == 0 && both->kernel >= 0
		       ? (double)both->kernel
		       : count_of(x,
				  strcmp(modes, ":k") == 0 ? "instructions:k" : "instructions:uk");
}

double emp_counter_value(const struct execution *x, enum emp_counter_kind kind, const char *name)
{
	double instructions = count_of(x, "instructions"), cycles = count_of(x, "cycles");
	switch (kind) {
	case EMP_PER_CYCLE:
		return isnan(cycles) && isnan(instructions)
			       ? divided(count_of(x, "cycles:u"), count_of(x, "instructions:u"))
			       : divided(cycles, instructions);
	case EMP_GHZ:
		return is_whole(x, "cycles") ? cycles / process_ns(x) : NAN;
	case EMP_CLOCK:
		return divided(count_of(x, "ref-cycles"), cycles);
	case EMP_EFFECTIVE:
		return divided(count_of(x, "msr/mperf/"), count_of(x, "msr/aperf/"));
	case EMP_SLOTS:
		return slots_share(x, name);
	case EMP_PER_1000:
		return divided(instructions_beside(x, name), 1000 * count_of(x, name));
	default:
		return count_of(x, name);
	}
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return ORDER(x, y);
}

size_t emp_outliers(const double *values, size_t n)
{
	if (!n)
		return 0;
	FREED double *sorted = xmalloc((n + 1) * sizeof *sorted);
	size_t outliers = 0;
	memcpy(sorted, values, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, by_size);
	double low = sorted[n / 4], high = sorted[n - 1 - n / 4], reach = FENCE * (high - low);
	for (size_t i = 0; i < n; i++)
		outliers += values[i] < low - reach || values[i] > high + reach;
	return outliers;
}

/* The other events that a derived figure is made of. */
static bool is_scaled(const struct execution *x, enum emp_counter_kind kind, const char *name)
{
	static const char *const others[EMP_COUNTER_KINDS] = { [EMP_PER_CYCLE] = "cycles",
							       [EMP_CLOCK] = "ref-cycles",
							       [EMP_EFFECTIVE] = "msr/mperf/",
							       [EMP_PER_1000] = "instructions" };
	const char *const names[] = { kind == EMP_SLOTS ? "slots" : name, others[kind] };
	for (size_t i = 0; i < 2 && names[i]; i++) {
		char user[COUNTER_NAME];
		snprintf(user, sizeof user, "%s:u", names[i]);
		const struct counter *c = counter_find(&x->counters, names[i]);
		c = c ? c : counter_find(&x->counters, user);
		if (c && counter_is_scaled(c))
			return true;
	}
	return false;
}

/* Adds it if a kept execution has it. */
static void add(const struct execution *executions, const struct emp_result *r,
		enum emp_counter_kind kind, const char *name, emp_counter_list *out)
{
	struct emp_counter e = { .kind = kind, .name = name, .user = 0, .kernel = 0 };
	FREED double *values = xmalloc((r->count + 1) * sizeof *values);
	size_t n = 0;
	for (size_t i = 0; i < r->count; i++) {
		if (r->verdicts[i].rule != EMP_KEPT)
			continue;
		const struct execution *x = &executions[i];
		const struct counter *c = counter_find(&x->counters, name);
		values[n] = emp_counter_value(x, kind, name);
		if (isnan(values[n])) {
			e.unknown++;
			continue;
		}
		n++;
		e.scaled |= is_scaled(x, kind, name);
		e.user_only |= c && c->user >= 0 && c->kernel < 0;
		e.user += c && c->user >= 0 ? (double)c->user : NAN;
		e.kernel += c && c->kernel >= 0 ? (double)c->kernel : NAN;
	}
	if (!n)
		return;
	bool apart = kind == EMP_COUNTED;
	e.user = apart ? e.user / (double)n : NAN;
	e.kernel = apart ? e.kernel / (double)n : NAN;
	e.outliers = emp_outliers(values, n);
	summarise(values, n, &e.kept);
	array_push(out, e);
}

static bool is_missing(const char *name)
{
	return strstr(name, "-misses") != NULL;
}

void emp_counters(const struct execution *executions, const struct emp_result *r,
		  emp_counter_list *out)
{
	const struct execution *first = NULL;
	for (size_t i = 0; i < r->count && !first; i++)
		if (r->verdicts[i].rule == EMP_KEPT && executions[i].counters.count)
			first = &executions[i];
	if (!first)
		return;
	array_each(c, &first->counters)
		add(executions, r, EMP_COUNTED, c->name, out);
	add(executions, r, EMP_PER_CYCLE, "instructions", out);
	add(executions, r, EMP_GHZ, "cycles", out);
	add(executions, r, EMP_CLOCK, "cycles", out);
	add(executions, r, EMP_EFFECTIVE, "msr/aperf/", out);
	for (size_t i = 0; i < EMP_SLOTS_OF; i++)
		add(executions, r, EMP_SLOTS, emp_slots[i], out);
	array_each(c, &first->counters)
		if (is_missing(c->name))
			add(executions, r, EMP_PER_1000, c->name, out);
}

const struct emp_counter *emp_counter_find(const emp_counter_list *list, enum emp_counter_kind kind,
					   const char *name)
{
	array_each(c, list)
		if (c->kind == kind && strcmp(c->name, name) == 0)
			return c;
	return NULL;
}

/* ---- why one ran longer ---- */

/* A change that is worth a word, and the part of a change that explains it. */
#define MATTERS 0.01
#define MOST 0.5

/* "12 % more" */
static void put_change(double ratio, struct strbuf *out)
{
	strbuf_printf(out, "%.*f %% %s", fabs(ratio - 1) < 0.1 ? 1 : 0, 100 * fabs(ratio - 1),
		      ratio >= 1 ? "more" : "fewer");
}

/* A stall counts for something if it is this part of the cycles that are more, and a miss, which
 * costs up to some hundred cycles, if there are this many to a cycle. */
#define STALLS_LEAST 0.1
#define MISSES_LEAST 0.001

/* Puts the stall, or the miss, that grew most, if it grew by more than the cycles did. */
static bool put_grown(const struct execution *x, const struct execution *base, bool misses,
		      const char *before, struct strbuf *out)
{
	double cycles = count_of(x, "cycles"), usual = count_of(base, "cycles");
	double most = (misses ? MISSES_LEAST : STALLS_LEAST) * (cycles - usual), was = 0;
	const char *what = NULL;
	array_each(c, &x->counters) {
		double now = count_of(x, c->name), then = count_of(base, c->name);
		if ((misses ? !is_missing(c->name) : strncmp(c->name, "stalled-", 8) != 0) ||
		    !(now - then > most) || !(now * usual > then * cycles))
			continue;
		most = now - then;
		was = then;
		what = c->name;
	}
	if (!what)
		return false;
	strbuf_puts(out, before);
	if (was > 0)
		put_change(1 + most / was, out);
	else
		strbuf_printf(out, "%.0f more", most);
	strbuf_printf(out, " %s", what);
	return true;
}

void emp_counters_explain(const struct execution *x, const struct execution *base,
			  struct strbuf *out)
{
	double time = log(process_ns(x) / process_ns(base));
	double instructions = count_of(x, "instructions") / count_of(base, "instructions");
	double cycles = count_of(x, "cycles") / count_of(base, "cycles");
	double ghz = emp_counter_value(x, EMP_GHZ, "cycles");
	double usual = emp_counter_value(base, EMP_GHZ, "cycles");
	if (!(fabs(time) >= log1p(MATTERS)) || !(instructions > 0) || !(cycles > 0))
		return;
	/* ln time = ln instructions + ln cycles per instruction + ln time per cycle */
	double work = log(instructions) / time, stalls = log(cycles / instructions) / time;
	if (work >= MOST) {
		strbuf_puts(out, "it executed ");
		put_change(instructions, out);
		strbuf_puts(out, " instructions: it did ");
		strbuf_puts(out, instructions > 1 ? "more" : "less");
	} else if (stalls >= MOST) {
		strbuf_puts(out, "each instruction took ");
		put_change(cycles / instructions, out);
		strbuf_puts(out, " cycles");
		if (time > 0) {
			strbuf_puts(out, ": it stalled");
			bool stalls_too = put_grown(x, base, false, ", with ", out);
			put_grown(x, base, true, stalls_too ? " and " : ", with ", out);
		}
	} else if (1 - work - stalls >= MOST && ghz > 0 && usual > 0) {
		strbuf_printf(out,
			      "the same cycles took %s: the clock ran at %.2f instead of %.2f GHz",
			      time > 0 ? "longer" : "less time", ghz, usual);
	}
}
