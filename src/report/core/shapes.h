/* The shapes of the documents that tare writes. */
#ifndef TARE_REPORT_CORE_SHAPES_H
#define TARE_REPORT_CORE_SHAPES_H

#include "record/field.h"

/* core */
extern const struct shape summary_shape, machine_shape, warning_shape, stored_run_shape,
	finding_shape, doctor_shape, quiet_shape, speed_cpu_shape, doctor_speed_shape,
	speed_figures_shape;
/* time */
extern const struct shape cutoffs_shape, steady_shape, verdict_shape, drop_shape, mean_ledger_shape,
	judged_shape, run_shape, hyperfine_shape, parameters_shape, ratio_shape, comparison_shape,
	tare_shape, time_shape, version_shape, size_shape, emp_shape, explain_thread_shape,
	explained_shape, explain_shape, mean_counter_shape;
/* noise */
extern const struct shape noise_source_shape, noise_told_shape, noise_combination_shape,
	noise_cpu_report_shape, noise_speed_shape, noise_shape, noise_diff_shape;
/* profile */
extern const struct shape profile_totals_shape, profile_view_shape, profile_shape,
	profile_change_shape, profile_diff_shape, listing_line_shape, profile_listing_shape;
/* query */
extern const struct shape query_options_shape, query_figure_shape, query_judged_shape,
	query_row_shape, query_wide_check_shape, query_check_shape, query_at_check_shape,
	query_post_shape, query_reading_shape, query_surroundings_shape, query_relation_shape,
	query_item_shape, query_shape, query_side_shape, query_ratio_shape, query_pair_shape,
	query_setting_shape, query_compare_shape;
/* duet */
extern const struct shape duet_verdict_shape, duet_shape;
/* study */
extern const struct shape study_shape, cutoffs_cutoffs_shape, watch_status_shape;
/* page */
extern const struct shape chart_shape, page_measure_shape, reason_shape, ledger_columns_shape,
	dual_shape, trace_shape, detail_shape, time_section_shape, page_samples_shape,
	study_section_shape, baseline_shape, noise_section_shape, stack_tree_shape, slices_shape,
	profile_section_shape, matrix_shape, query_ledger_shape, query_section_shape,
	duet_section_shape, duet_comparison_shape, time_comparison_row_shape,
	profile_comparison_side_shape, doc_shape;

/* Every document; the last entry has no name. */
extern const struct document documents[];

#endif
