// Figures first: means, what was dropped and why, what to beware of.
import type { Measure } from '../document';
import type { MeanCounter, Summary, TimeSection } from '../types';
import { codeText, foreign, h } from '../parts/dom';
import * as format from '../parts/format';
import { table, type Column } from '../parts/table';
import { CUTOFF, executionName, FAILED, intervalWords, isShare, KEPT, meanSigma, MEASURE_NAME, MEASURE_WORDS, OUTSIDE, precise, RULE_MEANS, RULE_WORDS, tooFew, WARMUP, type Time } from './time_common';

const ORDER: Measure[] = ['pt_net', 'pt_exec', 'pt_tick', 'pt_steady', 'et', 'user', 'system'];

function present(time: Time): Measure[] {
  const { headline, lead, kept, unfiltered } = time.section;
  const list = ORDER.filter((m) => kept[m] || unfiltered[m]);
  const rank = (m: Measure) => (m === headline ? 2 : m === lead ? 1 : 0);
  return list.sort((a, b) => rank(b) - rank(a));
}

function headlineFigure(time: Time, measure: Measure): HTMLElement {
  const kept = time.section.kept[measure];
  const all = time.section.unfiltered[measure];
  const between = kept && intervalWords(kept);
  return h('div', { 'data-measure': measure },
    h('dt', { title: MEASURE_WORDS[measure] }, `${MEASURE_NAME[measure]}, ${MEASURE_WORDS[measure]}`),
    h('dd', {}, meanSigma(kept),
      kept ? h('small', {}, `${format.count(kept.n)} kept of ${format.count(all?.n ?? kept.n)} measured`, kept.relative_error === null ? null : ` · σ is ${format.percent(kept.relative_error)}`) : null,
      between ? h('small', {}, between) : null,
      all ? h('small', {}, `unfiltered ${meanSigma(all)}`) : null));
}

/** How steady the CPU was; null: it was not watched, or of one execution. */
function speedWords({ steady, kept }: TimeSection): string | null {
  if (!steady || steady.executions < 2) return null;
  const words = `CPU speed ${steady.varied < 0.01 ? 'steady: it varied' : 'varied'} by ${format.percent(steady.varied)}`;
  return kept.pt_steady ? `${words}, which explains ${format.percent(steady.explained)} of σ` : words;
}

const DERIVED: Record<Exclude<MeanCounter['kind'], 'count'>, (name: string) => string> = {
  per_cycle: () => 'instructions per cycle', ghz: () => 'clock, GHz', clock: () => 'cycles / ref-cycles', effective_clock: () => 'aperf / mperf', slots: (name) => `slots: ${name}`, per_1000_instructions: (name) => `${name} per 1,000 instructions`,
};

/** What the CPU counted, as a table; null: nothing. */
function counters({ anchor, counters: list }: TimeSection): HTMLElement | null {
  if (!list?.length) return null;
  const shown = (value: number | null | undefined) => (value === null || value === undefined ? null : Math.abs(value) >= 1000 ? format.count(Math.round(value)) : format.figure(value));
  const number = (name: string, title: string, of: (c: MeanCounter) => number | null): Column<MeanCounter> => ({ name, title, kind: 'number', of, show: (c) => shown(of(c)) ?? format.DASH });
  const rows = table<MeanCounter>({
    name: `${anchor}-counters`, caption: 'Counters', rows: list, page: 30,
    columns: [
      { name: 'counter', title: 'counter', kind: 'text', of: (c) => (c.kind === 'count' ? c.name : DERIVED[c.kind](c.name)) + (c.scaled ? ' (scaled up)' : '') },
      number('mean', 'mean', (c) => c.mean), number('stddev', 'σ', (c) => c.stddev), number('min', 'least', (c) => c.min), number('max', 'most', (c) => c.max),
      number('outliers', 'outliers', (c) => c.outliers), number('user', 'in user mode', (c) => c.user), number('kernel', 'in the kernel', (c) => c.kernel),
    ],
  });
  return h('details', { class: 'counters' }, h('summary', {}, 'Counters of the CPU and the kernel'), rows.element);
}

export function figures(time: Time): HTMLElement {
  const { section } = time;
  const list = present(time);
  const grade = ORDER.find((m) => list.includes(m)); // the best of process time
  const first = list.filter((m) => m === grade || m === section.lead || m === section.headline || m === 'pt_steady' || m === 'et');
  const sum = list.map((m) => [m, section.kept[m] ?? null, section.unfiltered[m] ?? null] as const);
  type Row = { measure: Measure; which: string; s: Summary | null };
  const value = (r: Row, name: string, pick: (s: Summary) => number | null) => (r.s && (name === 'mean_ns' || !isShare(r.measure)) ? pick(r.s) : null);
  const rows: Row[] = sum.flatMap(([measure, kept, all]) => [{ measure, which: 'kept', s: kept }, { measure, which: 'unfiltered', s: all }]);
  const alike = format.nsAlike(rows.map((r) => r.s?.mean_ns), rows.map((r) => (isShare(r.measure) ? null : r.s?.stddev_ns)));
  const ns = (name: string, title: string, pick: (s: Summary) => number | null): Column<Row> => ({
    name, title, kind: 'ns', of: (r) => value(r, name, pick), show: (r) => alike(value(r, name, pick)),
  });
  // from too few it is a guess
  const worth = (r: Row) => value(r, 'effective_n', (s) => (tooFew(s) ? null : s.effective_n));
  const measures = table<Row>({
    name: `${section.anchor}-measures`, caption: 'Every measure', rows, page: 20,
    columns: [
      { name: 'measure', title: 'measure', kind: 'text', of: (r) => MEASURE_NAME[r.measure] },
      { name: 'which', title: 'of', kind: 'text', of: (r) => r.which },
      { name: 'n', title: 'n', kind: 'number', of: (r) => r.s?.n },
      ns('mean_ns', 'mean', (s) => s.mean_ns), ns('stddev_ns', 'σ', (s) => s.stddev_ns),
      { name: 'relative_error', title: 'σ / mean', kind: 'percent', of: (r) => value(r, 'relative_error', (s) => s.relative_error) },
      { ...ns('ci_low_ns', '95 % from', (s) => s.ci_low_ns), show: (r) => (isShare(r.measure) ? null : tooFew(r.s)) ?? alike(value(r, 'ci_low_ns', (s) => s.ci_low_ns)) }, ns('ci_high_ns', 'to', (s) => s.ci_high_ns), ns('median_ns', 'median', (s) => s.median_ns),
      ns('mad_ns', 'MAD', (s) => s.mad_ns), ns('min_ns', 'least', (s) => s.min_ns), ns('max_ns', 'most', (s) => s.max_ns),
      { name: 'effective_n', title: 'worth', kind: 'number', of: (r) => worth(r), show: (r) => format.figure(worth(r)), title_of: 'as many independent executions would tell as much about the mean' },
    ],
  });
  const speed = speedWords(section);
  const measured = time.count - time.counts[WARMUP]!;
  const planned = section.planned ?? 0;
  const dropped = [FAILED, CUTOFF, OUTSIDE].filter((r) => time.counts[r]).map((r) => `${format.count(time.counts[r])} ${RULE_WORDS[r]}`);
  return h('div', { class: 'card wide time-figures' },
    h('dl', { class: 'figures' }, ...first.map((m) => headlineFigure(time, m)),
      h('div', {}, h('dt', {}, 'executions'),
        h('dd', {}, measured ? `${format.count(time.counts[KEPT])} of ${format.count(measured)} kept` : 'none measured', section.status !== 'complete' && planned > measured ? h('small', {}, `${format.count(planned)} ${planned === 1 ? 'was' : 'were'} planned`) : null, dropped.length ? h('small', {}, `dropped: ${dropped.join(', ')}`) : null,
          time.counts[WARMUP] ? h('small', {}, `${format.count(time.counts[WARMUP])} ${time.counts[WARMUP] === 1 ? 'warm-up' : 'warm-ups'} before`) : null,
          section.shell_ns ? h('small', {}, `${format.ns(section.shell_ns)} of the shell taken off each ET`) : null,
          speed ? h('small', { class: 'cpu-speed' }, speed) : null,
          h('small', {}, `measured by ${section.backend}`)))),
    section.status === 'failed' && !section.warnings.some((w) => w.id === 'failures')
      ? h('p', { class: 'note' }, 'The run failed, but no execution did: its command could not be started, or one of ', h('code', {}, '--setup'), ', ', h('code', {}, '--prepare'), ', ', h('code', {}, '--conclude'), ' and ', h('code', {}, '--cleanup'), ' failed. It is told when the run is repeated.') : null,
    section.parameters.length ? h('p', {}, 'With ', ...section.parameters.flatMap((p, i) => [i ? ', ' : '', foreign(p.name, 40), ' = ', h('code', {}, foreign(p.value, 80))]), '.') : null,
    counters(section),
    h('details', {}, h('summary', {}, 'Every measure, kept and unfiltered'), measures.element,
      list.some(isShare) ? h('p', { class: 'muted' }, 'User and system are known as shares of the whole only, so they have a mean, and no spread of their own.') : null));
}

export function warnings(time: Time): HTMLElement | null {
  const list = time.section.warnings;
  if (!list.length) return null;
  return h('div', { class: 'card wide' }, h('h3', {}, list.length === 1 ? 'A warning' : `${list.length} warnings`),
    h('ul', { class: 'warnings' }, ...list.map((w) => h('li', { 'data-warning': w.id }, h('p', { class: 'note' }, '▲ ', codeText(w.text)),
      w.remedy ? h('p', { class: 'muted' }, 'What helps: ', codeText(w.remedy)) : null))));
}

export function droppedTable(time: Time): HTMLElement | null {
  const { section } = time;
  const rows: number[] = [];
  section.columns.rule.forEach((rule, i) => { if (rule >= FAILED) rows.push(i); });
  if (!rows.length) return null;
  const reason = (i: number) => section.reasons[i];
  // told apart from the bounds, which may be close
  const near = (i: number, value: number | null | undefined) => {
    const { value_ns: judged = null, low_ns: low = null, high_ns: high = null } = reason(i) ?? {};
    const apart = [[low, high], [low, judged], [judged, high]].flatMap(([a, b]) => (a && b && a !== b ? [Math.abs(a - b)] : []));
    return precise(value, apart.length ? Math.min(...apart) : null);
  };
  const made = table<number>({
    name: `${section.anchor}-dropped`, caption: 'Dropped executions', rows, page: 8, onRow: (i) => time.open(i), rowLabel: (i) => `open ${executionName(time, i)}`,
    columns: [
      { name: 'number', title: 'execution', kind: 'number', of: (i) => section.columns.number[i] },
      { name: 'rule', title: 'dropped by', kind: 'text', of: (i) => RULE_WORDS[section.columns.rule[i]!] ?? '?' },
      { name: 'daemon', title: 'culprit', kind: 'text', of: (i) => reason(i)?.daemon || null, most: 40 },
      { name: 'reason', title: 'why', kind: 'text', of: (i) => reason(i)?.text || RULE_MEANS[section.columns.rule[i]!], most: 240 },
      { name: 'et_ns', title: 'ET', kind: 'ns', of: (i) => section.columns.et[i] },
      { name: 'judged_ns', title: 'judged', kind: 'ns', of: (i) => reason(i)?.value_ns, show: (i) => near(i, reason(i)?.value_ns), title_of: 'what the rule went by: rule (I) the daemon’s process time, rule (II) the execution’s' },
      { name: 'low_ns', title: 'allowed from', kind: 'ns', of: (i) => reason(i)?.low_ns, show: (i) => near(i, reason(i)?.low_ns) },
      { name: 'high_ns', title: 'to', kind: 'ns', of: (i) => reason(i)?.high_ns, show: (i) => near(i, reason(i)?.high_ns) },
    ],
  });
  return h('div', { class: 'card wide time-dropped' }, h('h3', {}, 'Dropped, and why'), made.element);
}
