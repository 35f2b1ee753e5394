/* The shapes of the documents that tare writes. */
#ifndef TARE_REPORT_CORE_SHAPES_H
#define TARE_REPORT_CORE_SHAPES_H

#include "record/field.h"

/* core */
extern const struct shape machine_shape, warning_shape, noise_run_shape, level_shape,
	doctor_counts_shape, finding_shape, doctor_shape, change_shape, knob_shape, status_shape,
	quiet_shape;
/* time */
extern const struct shape grades_shape, shell_shape, summary_shape, et_shape, measures_shape,
	cutoffs_shape, drop_shape, protocol_shape, mean_causes_shape, entrie_shape, other_shape,
	cost_shape, mean_ledger_shape, causes_shape, account_shape, time_entrie_shape, thread_shape,
	time_other_shape, interrupt_shape, events_shape, event_ns_shape, time_cost_shape,
	ledger_shape, verdict_shape, judged_shape, run_shape, result_shape, comparison_shape,
	tare_shape, time_shape, version_shape, size_shape, emp_shape, median_shape, name_shape,
	contribution_shape, explain_thread_shape, explained_shape, explain_shape;
/* noise */
extern const struct shape noise_source_shape, noise_told_shape, noise_combination_shape,
	noise_cpu_report_shape, noise_shape, noise_diff_side_shape, noise_diff_counts_shape,
	noise_diff_source_shape, noise_diff_peak_shape, noise_diff_shape;
/* profile */
extern const struct shape profile_totals_shape, profile_view_shape, profile_shape,
	profile_side_shape, profile_change_shape, profile_diff_shape, listing_line_shape,
	profile_listing_shape;
/* query */
extern const struct shape experiment_shape, server_shape, options_shape, text_shape, plan_shape,
	event_shape, measured_shape, times_shape, times_ns_shape, query_judged_shape, at_shape,
	query_experiment_shape, query_execution2_shape, query_at_shape, checks_shape, post_shape,
	reading_shape, surroundings_shape, model_shape, item_shape, query_shape,
	query_compare_base_shape, pair_shape, query_compare_shape;
/* study */
extern const struct shape study_run_shape, runs_shape, period_shape, cutoff_shape, seen_shape,
	study_runs_shape, daemon_shape, study_cutoff_shape, study_shape, cutoffs_machine_shape,
	changed_shape, cutoffs_cutoff_shape, cutoffs_cutoffs_shape, record_shape,
	watch_status_shape;
/* page */
extern const struct shape page_finding_shape, page_machine_shape, parameter_shape,
	page_summary_shape, kept_shape, rule2_shape, columns_shape, reason_shape,
	page_density_shape, page_ledger_shape, dual_shape, trace_shape, detail_shape,
	page_time_shape, page_samples_shape, samples_shape, phases_shape, page_study_shape,
	page_cpu_shape, page_density2_shape, baseline_shape, page_noise_shape, tree_shape,
	slices_shape, page_profile_shape, matrix_shape, page_ledger2_shape, page_query_shape,
	page_row_shape, comparison_time_shape, comparison_noise_shape, before_shape, places_shape,
	comparison_profile_shape, comparison_query_shape, doc_shape;

/* Every document; ended by one without a name. */
extern const struct document documents[];

#endif
