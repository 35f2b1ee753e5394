// A run of `tare time`: figures, samples, distribution, ledger, pairs, executions.
import type { Doc, TimeSection } from '../types';
import { h } from '../parts/dom';
import { wide } from '../parts/figures';
import { titleOf } from '../parts/titles';
import { FAILED, timeOf, WARMUP } from './time_common';
import { droppedTable, figures, warnings } from './time_figures';
import { samplesCard } from './time_samples';
import { histogramCard } from './time_histogram';
import { ledgerCard, meanLedger } from './time_ledger';
import { dualCard } from './time_dual';
import { executionsTable } from './time_table';
import { executionDialog } from './time_execution';
import { whoElse } from './time_who';

export function timeSection(doc: Doc, section: TimeSection): HTMLElement[] {
  const time = timeOf(section);
  const first = [figures(time), warnings(time)].filter((e) => e !== null);
  if (!time.count) return [h('div', { class: 'cards' }, ...first, h('p', { class: 'muted' }, section.status === 'going' ? 'No execution yet.' : 'No execution.'))];
  const dialog = executionDialog(time, doc.sections.length > 1 ? titleOf(doc, section) : null);
  const measured = time.count - time.counts[WARMUP]! - time.counts[FAILED]!;
  return [
    h('div', { class: 'cards' }, ...first, ...wide([samplesCard(time).element]), droppedTable(time),
      measured ? histogramCard(time).element : null, meanLedger(time), ...wide([ledgerCard(time)?.element ?? null]), whoElse(time), ...wide([dualCard(time)]), executionsTable(time)),
    dialog,
  ];
}
