/* Points as plots in the terminal. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../fixtures/text-lines.h"
#include "report/chart/chart.h"
#include "report/chart/plot.h"

/* A chart of points, in few words. */
struct scatter {
	const double *x, *y;
	const bool *marked; /* NULL: none */
	size_t count;
	double x_low, x_high, y_low, y_high;
	const char *title, *x_label, *y_label;
	bool times, times_y; /* both axes, or y alone */
	bool log_y;
	const char *signs; /* of each point; NULL: dots */
};

static bool scatter_text(const struct scatter *s, size_t width, size_t height, bool ascii,
			 bool colour, struct strbuf *out)
{
	struct chart *c = chart_new();
	const struct chart_screen screen = { width, height, ascii, colour, s->title, s->y_label };
	if (s->x_label)
		chart_axis_label(&c->x, s->x_label);
	c->x.unit_name = s->times ? "ns" : NULL;
	c->y.unit_name = s->times || s->times_y ? "ns" : NULL;
	c->y.log = s->log_y;
	c->x.from = s->x_low;
	c->x.to = s->x_high;
	c->y.from = s->y_low;
	c->y.to = s->y_high;
	for (size_t i = 0; i < s->count; i++) {
		size_t block = chart_block(c, "x\ty", "a point");
		chart_row(c, block, (double[]){ s->x[i], s->y[i] }, 2, NULL);
		chart_add(c, block, CHART_POINTS,
			  s->marked && s->marked[i] ? CHART_CROSS : CHART_KEPT, NULL, 0, 1)
			->sign = s->signs ? s->signs[i] : 0;
	}
	bool shared = chart_points_text(c, &screen, out);
	chart_free(c);
	return shared;
}

static void assert_plot(const struct scatter *s, size_t width, size_t height, bool ascii,
			const char *expected)
{
	struct strbuf out = { 0 };
	scatter_text(s, width, height, ascii, false, &out);
	assert_string_equal(strbuf_text(&out), expected);
	strbuf_release(&out);
}

/* A point in each corner of the area, one in the cell of the first, one in the middle. */
static const double corner_x[] = { 0, 0, 10, 10, 0.1, 5 }, corner_y[] = { 0, 10, 0, 10, 9, 5 };
static const bool corner_marked[] = { false, false, false, true, false, false };

static struct scatter corners(void)
{
	return (struct scatter){ .x = corner_x,
				 .y = corner_y,
				 .count = 6,
				 .x_high = 10,
				 .y_high = 10,
				 .title = "Corners",
				 .y_label = "up",
				 .x_label = "to the right" };
}

static void few_points_are_drawn_as_dots(void **state)
{
	(void)state;
	struct scatter s = corners();
	s.count = 5;
	assert_plot(&s, 30, 3, false,
		    "Corners\n"
		    "up\n"
		    "10 ┤•                        •\n"
		    "   │\n"
		    " 0 ┤•                        •\n"
		    "   └──────────────────────────\n"
		    "    0     to the right      10\n");
}

static void many_points_are_drawn_in_braille(void **state)
{
	(void)state;
	static double x[205], y[205];
	struct scatter s = corners();
	for (size_t i = 0; i < 205; i++) {
		x[i] = corner_x[i % 5];
		y[i] = corner_y[i % 5];
	}
	s.x = x;
	s.y = y;
	s.count = 205;
	assert_plot(&s, 30, 3, false,
		    "Corners\n"
		    "up\n"
		    "10 ┤⠃                        ⠈\n"
		    "   │\n"
		    " 0 ┤⡀                        ⢀\n"
		    "   └──────────────────────────\n"
		    "    0     to the right      10\n");
}

/* What is marked is seen without colour, in both. */
static void marked_points_are_seen_without_colour(void **state)
{
	(void)state;
	struct scatter s = corners();
	struct strbuf out = { 0 };
	s.marked = corner_marked;
	assert_plot(&s, 30, 5, false,
		    "Corners\n"
		    "up\n"
		    "10 ┤•                        ●\n"
		    "   │\n"
		    " 5 ┤             •\n"
		    "   │\n"
		    " 0 ┤•                        •\n"
		    "   └──────────────────────────\n"
		    "    0     to the right      10\n");
	assert_plot(&s, 30, 5, true,
		    "Corners\n"
		    "up\n"
		    "10 +:                        x\n"
		    "   |\n"
		    " 5 +             o\n"
		    "   |\n"
		    " 0 +o                        o\n"
		    "   +--------------------------\n"
		    "    0     to the right      10\n");
	scatter_text(&s, 30, 5, true, true, &out);
	assert_non_null(strstr(strbuf_text(&out), "\033[31mx\033[0m\n"));
	strbuf_release(&out);
}

static void points_outside_are_arrows_at_the_frame(void **state)
{
	(void)state;
	static const double x[] = { 5, 5, 1, 9, 9, 5 }, y[] = { 9, 1, 5, 5, 9, 4 };
	struct scatter s = {
		.x = x, .y = y, .count = 6, .x_low = 2, .x_high = 8, .y_low = 2, .y_high = 8
	};
	assert_plot(&s, 30, 5, true,
		    "8 +             ^            ^\n"
		    "  |\n"
		    "5 +<                         >\n"
		    "  |             o\n"
		    "2 +             v\n"
		    "  +---------------------------\n"
		    "   2                         8\n");
}

static void axes_of_times_have_units_and_enough_digits(void **state)
{
	(void)state;
	static const double x = 14 * 3600e9, y = 128.0015e9;
	struct scatter s = { .x = &x,
			     .y = &y,
			     .count = 1,
			     .x_high = 28 * 3600e9,
			     .y_low = 128e9,
			     .y_high = 128.002e9,
			     .x_label = "time into the run",
			     .times = true };
	assert_plot(&s, 40, 4, true,
		    "128.00200 s +             o\n"
		    "            |\n"
		    "            |\n"
		    "128.00000 s +\n"
		    "            +---------------------------\n"
		    "             0.0 h  time into t~  28.0 h\n");
	s.times = false;
	s.times_y = true;
	s.x_high = 100;
	s.y_low = 0;
	s.y_high = 5000;
	assert_plot(&s, 30, 2, true,
		    "5.00 us +                    ^\n"
		    "0.00 us +\n"
		    "        +---------------------\n"
		    "         0  time into th~  100\n");
}

/* Between the ends, which are those of the data, on the line where it belongs. */
static void a_round_number_stands_on_the_line_where_it_belongs(void **state)
{
	(void)state;
	static const double x = 1, y = 20e6;
	struct scatter s = { .x = &x,
			     .y = &y,
			     .count = 1,
			     .x_low = 1,
			     .x_high = 3,
			     .y_low = 10.12e6,
			     .y_high = 32.44e6,
			     .times_y = true };
	assert_plot(&s, 30, 7, true,
		    "32.4 ms +\n"
		    "        |\n"
		    "        |\n"
		    "20.0 ms +o\n"
		    "        |\n"
		    "        |\n"
		    "10.1 ms +\n"
		    "        +---------------------\n"
		    "         1                   3\n");
	s.log_y = true;
	s.y_low = 9.7e6;
	s.y_high = 324e6;
	assert_plot(&s, 30, 5, true,
		    " 324 ms +\n"
		    " 100 ms +\n"
		    "        |\n"
		    "        |o\n"
		    "9.70 ms +\n"
		    "        +---------------------\n"
		    "         1                   3\n");
	s.y_high = 124e6; /* no power of ten about its middle */
	assert_plot(&s, 30, 5, true,
		    " 124 ms +\n"
		    "50.0 ms +\n"
		    "        |\n"
		    "        |o\n"
		    "9.70 ms +\n"
		    "        +---------------------\n"
		    "         1                   3\n");
	/* none with so few digits: none is told */
	s.log_y = s.times_y = false;
	s.y_low = 0;
	s.y_high = 1;
	assert_plot(&s, 30, 5, true,
		    "1 +^\n"
		    "  |\n"
		    "  |\n"
		    "  |\n"
		    "0 +\n"
		    "  +---------------------------\n"
		    "   1                         3\n");
}

/* A * where two meet, told to the caller; what is marked keeps its sign, in parentheses. */
static void points_that_meet_are_a_star_and_marked_ones_in_parentheses(void **state)
{
	(void)state;
	static const double x[] = { 0, 10, 10, 10 }, y[] = { 0, 10, 10, 0 };
	static const bool dropped[] = { false, true, false, true };
	static const double same[4];
	static const bool all[] = { true, true, true, true };
	struct scatter s = {
		.x = x, .y = y, .count = 4, .x_high = 10, .y_high = 10, .signs = "1122"
	};
	struct strbuf out = { 0 };
	assert_true(scatter_text(&s, 30, 2, true, false, &out));
	assert_string_equal(strbuf_text(&out), "10 +                         *\n"
					       " 0 +1                        2\n"
					       "   +--------------------------\n"
					       "    0                       10\n");
	strbuf_clear(&out);
	s.marked = dropped;
	assert_true(scatter_text(&s, 30, 2, true, false, &out));
	assert_string_equal(strbuf_text(&out), "10 +                     *\n"
					       " 0 + 1                  (2)\n"
					       "   +------------------------\n"
					       "    0                     10\n");
	strbuf_clear(&out);
	s.signs = "1222"; /* of one query, but not all of it dropped */
	assert_true(scatter_text(&s, 30, 2, true, false, &out));
	assert_non_null(strstr(strbuf_text(&out), " *\n"));
	strbuf_clear(&out);
	s.marked = all;
	s.signs = "1232";
	assert_false(scatter_text(&s, 30, 2, true, true, &out));
	assert_non_null(strstr(strbuf_text(&out), "\033[31m(2)\033[0m\n"));
	assert_non_null(strstr(strbuf_text(&out), "\033[31m(23)\033[0m\n"));
	strbuf_clear(&out);
	s.x = s.y = same; /* one and two are told, three are not */
	assert_true(scatter_text(&s, 30, 2, true, false, &out));
	assert_non_null(strstr(strbuf_text(&out), "(*)\n"));
	strbuf_release(&out);
}

static void an_empty_plot_says_that_it_has_no_points(void **state)
{
	(void)state;
	struct scatter s = { .title = "Empty", .x_high = 1, .y_high = 1 };
	assert_plot(&s, 30, 3, false,
		    "Empty\n"
		    "1 ┤\n"
		    "  │ no points\n"
		    "0 ┤\n"
		    "  └───────────────────────────\n"
		    "   0                         1\n");
}

/* In the middle, however large it is. */
static void equal_values_are_drawn_in_the_middle(void **state)
{
	(void)state;
	static const double same[] = { 1e9, 1e9, 1e9 };
	struct scatter s = { .x = same,
			     .y = same,
			     .count = 3,
			     .x_low = 1e9,
			     .x_high = 1e9,
			     .y_low = 1e9,
			     .y_high = 1e9,
			     .times = true };
	assert_plot(&s, 30, 5, true,
		    "1.00100 s +\n"
		    "          |\n"
		    "1.00000 s +         :\n"
		    "          |\n"
		    "0.99900 s +\n"
		    "          +-------------------\n"
		    "           0.99900 s 1.00100 s\n");
}

/* Whatever the bounds, the points and the size. */
static void any_bounds_and_points_are_drawn_within_the_size(void **state)
{
	(void)state;
	static const double values[] = { 0,	-0.0,	1,   -1,       1e-9,	  1e9,	 1e18,
					 1e300, -1e300, NAN, INFINITY, -INFINITY, 1e308, -1e308 };
	const size_t n = sizeof values / sizeof *values;
	for (size_t i = 0; i < n * n; i++)
		for (int way = 0; way < 4; way++) {
			struct scatter s = { .x = values,
					     .y = values + 1,
					     .count = n - 1,
					     .x_low = values[i / n],
					     .x_high = values[i % n],
					     .y_low = values[i % n],
					     .y_high = values[i / n],
					     .title = "a title that is longer than the plot is",
					     .x_label = "and what stands below it is so, too",
					     .times = way & 1 };
			struct strbuf out = { 0 };
			size_t width = way & 2 ? 30 : 77;
			scatter_text(&s, width, 7, way & 1, false, &out);
			assert_int_equal(assert_lines(&out, width, way & 1), 1 + 7 + 2);
			strbuf_release(&out);
		}
}

/* Each dot of a cell is one of its own: 2 across, 4 up. */
static void each_dot_of_a_cell_can_be_set(void **state)
{
	(void)state;
	enum { COLUMNS = 27, LINES = 3 };
	static double x[COLUMNS * 2 * LINES * 4], y[COLUMNS * 2 * LINES * 4];
	struct scatter s = { .x = x,
			     .y = y,
			     .x_high = COLUMNS * 2,
			     .y_high = LINES * 4 - 3,
			     .count = COLUMNS * 2 * LINES * 4 };
	for (size_t i = 0; i < s.count; i++) {
		size_t line = i / (COLUMNS * 2);
		x[i] = (double)(i % (COLUMNS * 2)) + 0.5;
		y[i] = ((double)line + 0.5) * (LINES * 4 - 3) / (LINES * 4);
	}
	struct strbuf out = { 0 };
	scatter_text(&s, COLUMNS + 3, LINES, false, false, &out);
	size_t full = 0;
	for (const char *at = strbuf_text(&out); (at = strstr(at, "⣿")); at++)
		full++;
	assert_int_equal(full, COLUMNS * LINES);
	strbuf_release(&out);
}

static void bars_are_as_long_as_their_values(void **state)
{
	(void)state;
	static const char *const names[] = { "a", "b\n", "c" }, *const texts[] = { "4", "2", "0" };
	const struct chart_screen screen = { .width = 38, .ascii = true, .title = "Three" };
	struct chart *c = chart_new();
	struct strbuf out = { 0 };
	size_t block = chart_block(c, "row\tvalue\ttext", "bars");
	for (size_t i = 0; i < 3; i++) {
		chart_row(c, block, (double[]){ (double)i, 4 - 2 * (double)i }, 2, texts[i]);
		chart_axis_tick(&c->y, (double)i, names[i]);
	}
	chart_add(c, block, CHART_BARS, CHART_KEPT, NULL, 1, 0);
	chart_bars_text(c, &screen, &out);
	assert_string_equal(strbuf_text(&out), "Three\n"
					       "a                        4 ##########\n"
					       "b\\n                      2 #####\n"
					       "c                        0 \n");
	strbuf_release(&out);
	chart_free(c);
	const struct style style = { .width = 38, .lines = 24 };
	assert_false(plot_wanted(&style, 23));
	assert_true(plot_wanted(&style, 24));
	assert_false(plot_wanted(&(struct style){ 0 }, 1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_points_are_drawn_as_dots),
		cmocka_unit_test(a_round_number_stands_on_the_line_where_it_belongs),
		cmocka_unit_test(points_that_meet_are_a_star_and_marked_ones_in_parentheses),
		cmocka_unit_test(many_points_are_drawn_in_braille),
		cmocka_unit_test(marked_points_are_seen_without_colour),
		cmocka_unit_test(points_outside_are_arrows_at_the_frame),
		cmocka_unit_test(axes_of_times_have_units_and_enough_digits),
		cmocka_unit_test(an_empty_plot_says_that_it_has_no_points),
		cmocka_unit_test(equal_values_are_drawn_in_the_middle),
		cmocka_unit_test(each_dot_of_a_cell_can_be_set),
		cmocka_unit_test(any_bounds_and_points_are_drawn_within_the_size),
		cmocka_unit_test(bars_are_as_long_as_their_values),
	};
	return cmocka_run_group_tests_name("chart-terminal", tests, NULL, NULL);
}
