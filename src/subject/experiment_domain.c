#include "subject/experiment_domain.h"

#include <stdio.h>
#include <string.h>

int64_t column_units(enum column_kind kind)
{
	return kind == KIND_DECIMAL ? 100 : kind == KIND_REAL ? 1000000 : 1;
}

static struct column_domain text_domain(const struct experiment_table *t,
					const struct experiment_column *c)
{
	struct column_domain d = { .step = 1, .count = c->distinct, .again = c->distinct != 0 };
	if (c->words && !c->length) {
		uint64_t n = 0;
		while (c->words[n])
			n++;
		d.count = c->distinct && c->distinct < n ? c->distinct : n;
		d.again = true;
	} else if (!d.count) {
		d.count = t->rows;
	}
	return d;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
	while (b) {
		int64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

struct column_domain column_domain(const struct experiment_table *t,
				   const struct experiment_column *c)
{
	struct column_domain d;
	int64_t units = column_units(c->kind);
	if (c->of) {
		d = column_domain(c->of, &c->of->columns.items[c->of_column]);
		/* Both steps are multiples of their common divisor, which becomes the new step;
		 * not every value in between occurs. */
		d.base += c->add_from * units;
		if (c->add_from != c->add_to) {
			uint64_t span = (d.count - 1) * (uint64_t)d.step +
					(uint64_t)(c->add_to - c->add_from) * (uint64_t)units;
			d.step = common_divisor(d.step, units);
			d.count = span / (uint64_t)d.step + 1;
		}
	} else if (c->kind == KIND_TEXT) {
		d = text_domain(t, c);
	} else if (c->serial) {
		uint64_t repeat = c->repeat ? c->repeat : 1;
		d = (struct column_domain){ .base = c->ranged ? c->from * units : units,
					    .step = units,
					    .count = c->distinct,
					    .again = c->distinct != 0 };
		if (!d.count)
			d.count = (t->rows + repeat - 1) / repeat;
	} else {
		uint64_t span = c->ranged ? (uint64_t)((c->to - c->from) * units) + 1 : 0;
		d = (struct column_domain){ .base = c->from * units, .step = 1, .count = span };
		if (c->distinct && c->ranged && c->distinct < span) {
			d.count = c->distinct;
			d.step = (int64_t)(span / c->distinct);
		} else if (!c->ranged) {
			d.count = c->distinct ? c->distinct : t->rows;
		}
	}
	if (!d.count)
		d.count = 1;
	return d;
}

bool column_may_be_null(const struct experiment_column *c)
{
	for (; c->of; c = &c->of->columns.items[c->of_column])
		if (c->nulls > 0)
			return true;
	return c->nulls > 0;
}

/* ---- dates: Gregorian, counted in years that begin in March ---- */

#define DAYS_OF_400_YEARS 146097
#define MARCH_0000 719468 /* days from 0000-03-01 to 1970-01-01 */

static void date_write(int64_t days, char *out)
{
	int64_t z = days + MARCH_0000, era = z / DAYS_OF_400_YEARS, of_era = z % DAYS_OF_400_YEARS;
	int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
	int64_t month = (5 * of_year + 2) / 153, day = of_year - (153 * month + 2) / 5 + 1;
	month = month < 10 ? month + 3 : month - 9;
	year += era * 400 + (month <= 2);
	out[0] = (char)('0' + year / 1000 % 10);
	out[1] = (char)('0' + year / 100 % 10);
	out[2] = (char)('0' + year / 10 % 10);
	out[3] = (char)('0' + year % 10);
	out[4] = out[7] = '-';
	out[5] = (char)('0' + month / 10);
	out[6] = (char)('0' + month % 10);
	out[8] = (char)('0' + day / 10);
	out[9] = (char)('0' + day % 10);
	out[10] = '\0';
}

bool date_parse(const char *text, int64_t *days)
{
	int year;
	unsigned month, day;
	char again[COLUMN_VALUE_MOST];
	if (strlen(text) != 10 || sscanf(text, "%4d-%2u-%2u", &year, &month, &day) != 3 ||
	    year < 1 || month < 1 || month > 12 || day < 1 || day > 31)
		return false;
	year -= month <= 2;
	int64_t era = year / 400, of_era = year % 400;
	int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
	int64_t found = era * DAYS_OF_400_YEARS + of_era * 365 + of_era / 4 - of_era / 100 +
			of_year - MARCH_0000;
	date_write(found, again);
	if (strcmp(again, text) != 0) /* the 30th of February */
		return false;
	*days = found;
	return true;
}

/* ---- numbers ---- */

void column_write(enum column_kind kind, int64_t value, char *out)
{
	if (kind == KIND_DATE) {
		date_write(value, out);
		return;
	}
	char digits[COLUMN_VALUE_MOST];
	int n = 0, after = kind == KIND_DECIMAL ? 2 : kind == KIND_REAL ? 6 : 0;
	uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	do {
		if (after && n == after)
			digits[n++] = '.';
		digits[n++] = (char)('0' + left % 10);
		left /= 10;
	} while (left || (after && n < after + 2));
	if (value < 0)
		*out++ = '-';
	while (n)
		*out++ = digits[--n];
	*out = '\0';
}
