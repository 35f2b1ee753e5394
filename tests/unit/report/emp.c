/* The report of `tare emp`. */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"
#include "csv.h"
#include "fixture.h"
#include "report/time/emp.h"

static struct summary summary_of(size_t n, double mean, double stddev)
{
	return (struct summary){ .n = n,
				 .mean = mean,
				 .stddev = stddev,
				 .relative_error = stddev / mean,
				 .median = mean,
				 .min = mean,
				 .max = mean };
}

static void make_versions(struct emp_versions *out)
{
	*out = (struct emp_versions){ .count = EMP_STEADY };
	for (enum emp_version v = EMP_V0; v < EMP_STEADY; v++) {
		size_t n = v < EMP_V5 ? 800 : v == EMP_V5 ? 780 : 10;
		out->rows[v] = (struct emp_version_row){
			.version = v,
			.held = v < EMP_V3,
			.unsaid = v == EMP_V6,
			.measure = v ? EMP_PT_NET : EMP_ET,
			.n = n,
			.dropped_cutoff = v == EMP_V5 ? 15 : 0,
			.dropped_outside = v == EMP_V5 ? 5 : 0,
			.et = summary_of(n, 128.3e9, v < EMP_V5 ? 1.4e9 : 2.5e6),
			.value = summary_of(n, v ? 128.25e9 : 128.3e9, v ? 2.6e6 : 1.4e9),
		};
	}
	snprintf(out->rows[EMP_V3].why, EMP_WHY, "Turbo (boost) is on");
	snprintf(out->rows[EMP_V4].why, EMP_WHY, "v3 is not met");
	snprintf(out->rows[EMP_V6].why, EMP_WHY, "nobody knows");
	snprintf(out->rows[EMP_V2].why, EMP_WHY, "The clock is kept by NTP");
}

static void make_sizes(emp_size_list *out, size_t enough)
{
	static const size_t sizes[] = { 800, 400, 10 };
	for (size_t i = 0; i < 3; i++)
		array_push(out, (struct emp_size_row){ .n = sizes[i],
						       .dropped_cutoff = sizes[i] / 50,
						       .et = summary_of(sizes[i], 128.3e9, 2.5e6),
						       .value = summary_of(1, 128.2e9, 0),
						       .recommended = sizes[i] == enough });
}

static const char expected_versions[] =
	"Run 7: ./prog\n"
	"Process is process time (net).\n"
	"\n"
	"EMP  Met  kept   I  II    Process        σ   σ/mean    Elapsed        σ\n"
	" v0  yes   800   0   0          -        -        -  128.300 s   1.40 s\n"
	" v1  yes   800   0   0  128.250 s  2.60 ms  0.002 %  128.300 s   1.40 s\n";
static const char expected_notes[] = " v0  elapsed time of every execution\n"
				     " v1  process time; non-critical daemons stopped\n"
				     " v2  clock kept by NTP. The clock is kept by NTP\n"
				     " v3  turbo and frequency scaling off. Not met: Turbo (boost) "
				     "is on\n"
				     " v4  up-to-date kernel. Not met: v3 is not met\n";

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s'\ndoes not hold\n'%s'", text, part);
}

static void versions_and_sizes_are_shown_as_text(void **state)
{
	(void)state;
	static struct fixture f;
	struct emp_versions versions;
	emp_size_list sizes = { 0 };
	struct strbuf out = { 0 };
	fixture_init(&f, "./prog", 3, 1);
	make_versions(&versions);
	emp_text(&f.view, &versions, NULL, NULL, &out);
	assert_has(out.text, expected_versions);
	assert_has(out.text, " v5  no    780  15   5  128.250 s");
	assert_has(out.text, " v6  ?      10   0   0  128.250 s");
	assert_has(out.text, " v6  ten samples. Cannot be said: nobody knows\n");
	assert_has(out.text, expected_notes);
	assert_null(strstr(out.text, "samples are enough"));

	strbuf_clear(&out);
	make_sizes(&sizes, 400);
	emp_text(&f.view, &versions, &sizes, NULL, &out);
	assert_has(out.text, "400  <-   400   8   0  128.200 s  -       -  128.300 s  2.50 ms\n"
			     " 10        10   0   0  128.200 s  -       -  128.300 s  2.50 ms\n"
			     "400 samples are enough: σ and the share of outliers of the first 400 "
			     "are near\nthose of all 800, or differ by no more than chance.\n");
	for (char *line = strtok(out.text, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(text_width(line) <= 80);
	strbuf_release(&out);
	array_release(&sizes);
	fixture_release(&f);
}

static void the_advice_says_when_fewer_samples_are_not_enough(void **state)
{
	(void)state;
	static struct fixture f;
	struct emp_versions versions;
	emp_size_list sizes = { 0 };
	struct strbuf out = { 0 };
	fixture_init(&f, "./prog", 3, 1);
	f.run.id = 0;
	make_versions(&versions);
	make_sizes(&sizes, 800);
	emp_text(&f.view, &versions, &sizes, NULL, &out);
	assert_has(out.text, "Fewer than these 800 samples do not show");
	assert_memory_equal(out.text, "./prog\n", 7);
	array_release(&sizes);
	strbuf_clear(&out);
	/* no process time, no executions */
	for (enum emp_version v = EMP_V0; v < EMP_VERSIONS; v++)
		versions.rows[v] = (struct emp_version_row){ .version = v, .measure = EMP_ET };
	emp_text(&f.view, &versions, &sizes, NULL, &out);
	assert_has(out.text, "0 samples: too few to study");
	assert_has(out.text, " v6  no      0  0   0        -  -       -        -  -\n");
	assert_null(strstr(out.text, "Process is"));
	strbuf_release(&out);
	fixture_release(&f);
}

static void versions_and_sizes_become_csv(void **state)
{
	(void)state;
	struct emp_versions versions;
	emp_size_list sizes = { 0 };
	struct strbuf out = { 0 };
	struct csv csv;
	make_versions(&versions);
	struct table *t = emp_versions_table(&versions, NULL);
	table_render(t, TABLE_CSV, NULL, &out);
	table_free(t);
	csv_parse(out.text, &csv);
	assert_int_equal(csv.rows, 8);
	assert_string_equal(csv_at(&csv, 1, "measure"), "et");
	assert_string_equal(csv_at(&csv, 6, "version"), "v5");
	assert_string_equal(csv_at(&csv, 6, "dropped_cutoff"), "15");
	assert_string_equal(csv_at(&csv, 6, "dropped_outside"), "5");
	assert_string_equal(csv_at(&csv, 6, "mean_ns"), "128250000000");
	assert_string_equal(csv_at(&csv, 6, "et_stddev_ns"), "2500000");
	assert_string_equal(csv_at(&csv, 4, "held"), "0");
	assert_string_equal(csv_at(&csv, 4, "why"), "Turbo (boost) is on");
	assert_string_equal(csv_at(&csv, 7, "held"), "");
	csv_release(&csv);
	strbuf_clear(&out);
	make_sizes(&sizes, 10);
	t = emp_sizes_table(&sizes, EMP_PT_EXEC, NULL);
	table_render(t, TABLE_CSV, NULL, &out);
	table_free(t);
	csv_parse(out.text, &csv);
	assert_int_equal(csv.rows, 4);
	assert_string_equal(csv_at(&csv, 3, "n"), "10");
	assert_string_equal(csv_at(&csv, 3, "recommended"), "1");
	assert_string_equal(csv_at(&csv, 2, "recommended"), "0");
	assert_string_equal(csv_at(&csv, 2, "stddev_ns"), ""); /* of one value */
	assert_string_equal(csv_at(&csv, 2, "dropped_cutoff"), "8");
	csv_release(&csv);
	strbuf_release(&out);
	array_release(&sizes);
}

static void versions_and_sizes_become_json(void **state)
{
	(void)state;
	static struct fixture f;
	struct emp_versions versions;
	emp_size_list sizes = { 0 };
	struct strbuf out = { 0 };
	fixture_init(&f, "./prog \xff", 3, 1);
	make_versions(&versions);
	make_sizes(&sizes, 10);
	emp_json(&f.view, &versions, &sizes, &out);
	json_t *root = json_loads(out.text, 0, NULL);
	assert_non_null(root);
	json_t *v5 = json_array_get(json_object_get(root, "versions"), 5);
	assert_int_equal(json_integer_value(json_object_get(v5, "n")), 780);
	assert_int_equal(json_integer_value(json_object_get(v5, "dropped_cutoff")), 15);
	assert_true(json_is_false(json_object_get(v5, "held")));
	json_t *v6 = json_array_get(json_object_get(root, "versions"), 6);
	assert_true(json_is_null(json_object_get(v6, "held")));
	assert_true(json_is_null(json_object_get(v5, "why")));
	assert_true(json_real_value(json_object_get(json_object_get(v5, "value"), "mean_ns")) ==
		    128.25e9);
	assert_int_equal(json_array_size(json_object_get(root, "sizes")), 3);
	assert_int_equal(json_integer_value(json_object_get(root, "run")), 7);
	json_decref(root);
	strbuf_clear(&out);
	emp_json(&f.view, &versions, NULL, &out);
	root = json_loads(out.text, 0, NULL);
	assert_true(json_is_null(json_object_get(root, "sizes")));
	json_decref(root);
	strbuf_release(&out);
	array_release(&sizes);
	fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_and_sizes_are_shown_as_text),
		cmocka_unit_test(the_advice_says_when_fewer_samples_are_not_enough),
		cmocka_unit_test(versions_and_sizes_become_csv),
		cmocka_unit_test(versions_and_sizes_become_json),
	};
	return cmocka_run_group_tests_name("report-emp", tests, NULL, NULL);
}
