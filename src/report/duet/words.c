#include "report/duet/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Beyond these a multiple reads better than a percentage. */
#define MULTIPLE_BELOW 0.75
#define MULTIPLE_ABOVE 1.5
#define DECIMALS_MOST 6

/* One digit of half the interval's width, or two if that is a 1. */
static int decimals_for(double width)
{
	if (!(width > 0))
		return DECIMALS_MOST;
	double power = floor(log10(width / 2));
	int decimals = (width / 2 < 2 * pow(10, power)) - (int)power;
	return decimals < 0 ? 0 : decimals > DECIMALS_MOST ? DECIMALS_MOST : decimals;
}

/* As many more that an end beside 1 does not read as 1, where the interval is without it. */
static int decimals_apart(int decimals, double low, double high, double times)
{
	double off = times * (low > 1 ? low - 1 : high < 1 ? 1 - high : 1);
	while (decimals < DECIMALS_MOST && off < 0.5 * pow(10, -decimals))
		decimals++;
	return decimals;
}

struct duet_figures duet_figures_of(double ratio, double low, double high)
{
	struct duet_figures f = { .change = "not known", .ratio = "-" };
	if (isnan(ratio))
		return f;
	int d = decimals_apart(decimals_for(high - low), low, high, 1);
	d = d < 2 ? 2 : d;
	snprintf(f.ratio, sizeof f.ratio, "%.*f" NO_BREAK "[%.*f," NO_BREAK "%.*f]", d, ratio, d,
		 low, d, high);
	if (ratio < MULTIPLE_BELOW) {
		d = decimals_for(1 / low - 1 / high);
		snprintf(f.change, sizeof f.change, "%.*f times as fast", d, 1 / ratio);
		snprintf(f.interval, sizeof f.interval, "[%.*f," NO_BREAK "%.*f]", d, 1 / high, d,
			 1 / low);
	} else if (ratio > MULTIPLE_ABOVE) {
		snprintf(f.change, sizeof f.change, "%.*f times as long", d, ratio);
		snprintf(f.interval, sizeof f.interval, "[%.*f," NO_BREAK "%.*f]", d, low, d, high);
	} else {
		const bool faster = ratio < 1;
		double ends[2] = { faster ? 1 - high : low - 1, faster ? 1 - low : high - 1 };
		d = decimals_apart(decimals_for(100 * (high - low)), low, high, 100);
		snprintf(f.change, sizeof f.change, "%.*f" NO_BREAK "%% %s", d,
			 100 * fabs(ratio - 1), faster ? "faster" : "slower");
		snprintf(f.interval, sizeof f.interval, "[%.*f," NO_BREAK "%.*f]" NO_BREAK "%%", d,
			 100 * ends[0], d, 100 * ends[1]);
	}
	return f;
}

const char *duet_change(const char *other, const char *base, const struct duet_figures *f,
			struct strbuf *out)
{
	bool long_ = strstr(f->change, "as long");
	strbuf_printf(out, "%s %s %s %s %s", other, long_ ? "takes" : "is", f->change,
		      strstr(f->change, "times") ? "as" : "than", base);
	return strbuf_text(out);
}

void duet_format_mean(const struct duet_view *v, double mean, int digits, enum time_unit unit,
		      char out[WORDS])
{
	if (duet_is_count(v->result->measure))
		format_amount(mean, out);
	else
		format_duration(mean, digits, unit, out);
}

#define LETTERS 26

bool duet_lettered(const struct duet *d)
{
	bool is = false;
	array_each(side, &d->sides) {
		FREED char *shown = display_copy(side->name);
		is |= text_width(shown) > DUET_NAME;
	}
	return is && d->sides.count <= LETTERS;
}

char *duet_name(const struct duet *d, size_t side)
{
	struct strbuf out = { 0 };
	if (duet_lettered(d)) {
		strbuf_putc(&out, (char)('A' + side));
		return strbuf_detach(&out);
	}
	FREED char *shown = display_copy(d->sides.items[side].name);
	put_fitted(&out, shown, DUET_NAME);
	return strbuf_detach(&out);
}

double duet_elapsed_ns(const struct duet_view *v)
{
	int64_t begin = v->run->started_at_ns, end = 0;
	array_each(p, &v->duet->parts) {
		int64_t ended = p->started_at_ns + (p->et_ns == ABSENT_NS ? 0 : (int64_t)p->et_ns);
		end = ended > end ? ended : end;
		begin = begin ? begin : p->started_at_ns;
	}
	return end > begin ? (double)(end - begin) : (double)NAN;
}

/* "1 %" */
static const char *allowed_words(double share, char out[WORDS])
{
	snprintf(out, WORDS, "%g" NO_BREAK "%%", round(share * 1e6) / 1e4);
	return out;
}

void duet_sentence(const struct duet_view *v, const struct duet_verdict *s, struct strbuf *out)
{
	FREED char *base = duet_name(v->duet, 0), *other = duet_name(v->duet, s->side);
	const struct duet_figures f = duet_figures_of(s->ratio, s->low, s->high);
	const char *count =
		duet_is_count(v->result->measure) ? duet_measure_names[v->result->measure] : NULL;
	char within[WORDS];
	SCOPED(strbuf_release) struct strbuf words = { 0 };
	if (isnan(s->ratio))
		strbuf_printf(
			out,
			"Not known yet: %zu pair%s of %s and %s counted, at least 3 are needed",
			s->pairs, s->pairs == 1 ? "" : "s", other, base);
	else if (s->end == DUET_SAME)
		strbuf_printf(out, "%s and %s take the same %s within %s: %s / %s = %s", other,
			      base, count ? count : "time",
			      allowed_words(v->duet->precision, within), other, base, f.ratio);
	else if (s->end == DUET_OPEN)
		strbuf_printf(out, "No difference shown: %s / %s = %s", other, base, f.ratio);
	else if (count)
		strbuf_printf(out, "%s takes %s %s than %s: %s / %s = %s", other,
			      s->ratio < 1 ? "fewer" : "more", count, base, other, base, f.ratio);
	else
		strbuf_printf(out, "%s   %s", duet_change(other, base, &f, &words), f.interval);
}

void duet_gate_sentence(const struct duet_view *v, const struct duet_verdict *s, struct strbuf *out)
{
	FREED char *base = duet_name(v->duet, 0), *other = duet_name(v->duet, s->side);
	char allowed[WORDS];
	if (s->gate == DUET_GATE_NONE)
		return;
	allowed_words(v->duet->slower, allowed);
	const char *longer = duet_is_count(v->result->measure) ? "more" : "longer";
	if (s->gate == DUET_GATE_SLOWER)
		strbuf_printf(out, "Slower: %s takes more than %s %s than %s", other, allowed,
			      longer, base);
	else if (s->gate == DUET_GATE_NOT_SLOWER)
		strbuf_printf(out, "Not slower: %s takes at most %s %s than %s", other, allowed,
			      longer, base);
	else
		strbuf_printf(out, "Not known yet whether %s takes more than %s %s than %s", other,
			      allowed, longer, base);
}

/* What both sides of a pair share: their covariance over the pairs is the speed's variance. */
static double speed_varied(const struct duet_result *r)
{
	double most = NAN;
	array_each(s, &r->verdicts) {
		double mean[2] = { 0 }, both = 0;
		const double n = (double)s->list.count;
		array_each(p, &s->list)
			for (int i = 0; i < 2; i++)
				mean[i] += log(p->ns[i]) / n;
		array_each(p, &s->list)
			both += (log(p->ns[0]) - mean[0]) * (log(p->ns[1]) - mean[1]) / (n - 1);
		if (n >= 5)
			most = fmax(most, sqrt(fmax(both, 0)));
	}
	return most;
}

void duet_way_sentence(const struct duet_view *v, struct strbuf *out)
{
	const struct duet *d = v->duet;
	const char *both = d->sides.count == 2 ? "Both" : "The two of each pair";
	const char *cpus = d->cpus && *d->cpus ? d->cpus : NULL;
	bool several = cpus && strpbrk(cpus, ",-"), apart;
	size_t pairs = 0, pairs_apart = 0;
	char varied[WORDS];
	double speed = speed_varied(v->result);
	if (d->way == DUET_WHOLE) {
		strbuf_printf(out, "Whole executions in turns (A B B A), compared by %s",
			      duet_measure_words[v->result->measure]);
		if (d->why && *d->why)
			strbuf_printf(out, ", %s%s",
				      strcmp(d->why, "as asked") == 0 ? "" : "because ", d->why);
		strbuf_puts(out, ".");
		return;
	}
	array_each(s, &v->result->verdicts) {
		pairs += s->pairs;
		pairs_apart += s->apart;
	}
	apart = pairs_apart * 10 > pairs;
	strbuf_printf(out, "%s %s on ", both, apart ? "were started" : "ran in turns");
	if (cpus)
		strbuf_printf(out, "CPU%s %s", several ? "s" : "", cpus);
	else
		strbuf_puts(out, "the same CPU");
	if (d->way == DUET_FREEZER)
		strbuf_puts(out, ", one frozen while the other ran");
	if (!apart)
		strbuf_puts(out, ", so both met the same CPU speed");
	if (!apart && !isnan(speed)) {
		format_percent(speed, varied);
		strbuf_printf(out, " (which varied by %s)", varied);
	}
	strbuf_putc(out, '.');
}

/* ---- forest plots in text ---- */

void duet_range_add(struct duet_range *r, double ratio, double low, double high)
{
	if (isnan(ratio))
		return;
	/* an interval that is far wider than the rest would hide them: it goes over the edge */
	r->low = fmin(r->low, log(fmax(low, ratio / 4)));
	r->high = fmax(r->high, log(fmin(high, ratio * 4)));
}

static size_t place_of(double value, double low, double high, size_t columns)
{
	double at = (value - low) / (high - low) * (double)(columns - 1);
	return at < 0 ? 0 : at > (double)(columns - 1) ? columns - 1 : (size_t)round(at);
}

void duet_forest_row(double ratio, double low, double high, double log_low, double log_high,
		     size_t columns, bool ascii, struct strbuf *out)
{
	if (columns < 8 || !(log_high > log_low))
		return;
	size_t one = place_of(0, log_low, log_high, columns);
	bool known = !isnan(ratio);
	size_t from = known ? place_of(log(low), log_low, log_high, columns) : columns;
	size_t to = known ? place_of(log(high), log_low, log_high, columns) : 0;
	size_t dot = known ? place_of(log(ratio), log_low, log_high, columns) : columns;
	for (size_t i = 0; i < columns; i++) {
		const char *sign = i == dot			     ? (ascii ? "o" : "●")
				   : i == one			     ? (ascii ? "|" : "│")
				   : known && i == from && from < to ? (ascii ? "[" : "├")
				   : known && i == to && from < to   ? (ascii ? "]" : "┤")
				   : known && i > from && i < to     ? (ascii ? "-" : "─")
								     : " ";
		strbuf_puts(out, sign);
	}
}
