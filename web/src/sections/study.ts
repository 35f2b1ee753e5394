// The page of a daemon study: figures, samples, zooms, daemons with their periods, cutoffs.
import type { Doc, StudyDaemon, StudySection } from '../types';
import { axis, baseOption, chartCard, tip } from '../parts/chart';
import { append, button, foreign, h, short } from '../parts/dom';
import { figure, wide } from '../parts/figures';
import * as format from '../parts/format';
import { table, type Column } from '../parts/table';
import { periodText, runsOf, type Run } from './study_model';
import { Chosen, samplesCard, stripsCard } from './study_samples';
import { zoomCard } from './study_zoom';

const SOURCE = { active: 'executions of tare inc', watch: 'windows of a watch', runs: 'stored runs' };

function figures(section: StudySection, runs: Run[]): HTMLElement {
  const { study } = section;
  const long = study.daemons.filter((d) => d.long_running).length;
  const list = h('dl', { class: 'figures' },
    figure('long-running daemons', format.count(long), `of ${format.count(study.daemons.length)} that were seen`),
    study.cutoffs.length ? figure('cutoffs', format.count(study.cutoffs.length), study.cutoffs.some((c) => c.edited) ? 'some edited by hand' : null) : null,
    figure('samples', runs.map(({ run }) => format.count(run.samples)).join(' + ') || '0', SOURCE[study.source] ?? study.source));
  for (const { which, run } of runs) {
    append(list,
      figure(`${which} run: L-samples`, format.count(run.l_samples.length), `of ${format.count(run.samples)} of ${format.ns(run.length_ns)}${study.cutoffs.length ? `; ${format.count(run.dropped.length)} dropped` : ''}`),
      !study.cutoffs.length ? figure(`${which} run: σ of ET`, format.ns(run.sigma_ns), run.sigma_ns !== null && run.mean_ns ? `${format.percent(run.sigma_ns / run.mean_ns)} of the mean` : null) : figure(`${which} run: σ of ET`, `${format.ns(run.sigma_ns)} → ${format.ns(run.sigma_kept_ns)}`, run.sigma_ns && run.sigma_kept_ns !== null ? `${format.percent(run.sigma_kept_ns / run.sigma_ns)} of it is left by the cutoffs` : null));
  }
  return list;
}

function sigmaCard(section: StudySection, runs: Run[]): HTMLElement | null {
  const some = runs.filter(({ run }) => run.sigma_ns !== null);
  if (!some.length) return null;
  // of the mean: runs of different lengths are beside each other
  const part = (sigma: number | null, mean: number | null) => (sigma === null || !mean ? null : sigma / mean);
  const label = (sigma: number | null, mean: number | null) => (sigma === null || !mean ? '' : `${format.percent(sigma / mean)} (${format.ns(sigma)})`);
  return chartCard<Run>({
    name: `${section.anchor}-sigma`, title: 'Spread before and after the cutoffs', height: 94 + some.length * 70,
    about: 'Standard deviation of ET, as a share of the mean.',
    summary: some.map(({ which, run }) => `${which} run: σ ${format.ns(run.sigma_ns)} of all samples, ${format.ns(run.sigma_kept_ns)} without the ${run.dropped.length} dropped ones`).join('; ') + '.',
    option: (theme) => ({
      ...baseOption(theme),
      grid: { left: 8, right: 124, top: 8, bottom: 12, containLabel: true },
      xAxis: axis(theme, '', { type: 'value', min: 0, axisLabel: { formatter: (v: number) => format.percent(v) } }),
      yAxis: axis(theme, '', { type: 'category', inverse: true, data: some.map(({ which, run }) => `${which}, ${format.ns(run.length_ns)}`), axisTick: { show: false } }),
      tooltip: {
        ...(baseOption(theme)['tooltip'] as object),
        formatter: (p: { dataIndex: number }) => {
          const { which, run } = some[p.dataIndex]!;
          return tip([`${which} run`, `all: σ ${format.ns(run.sigma_ns)}, mean ${format.ns(run.mean_ns)}`, `kept: σ ${format.ns(run.sigma_kept_ns)}, mean ${format.ns(run.mean_kept_ns)}`]);
        },
      },
      series: [
        { name: 'all samples', type: 'bar', barMaxWidth: 18, itemStyle: { color: theme.warm }, data: some.map(({ run }) => part(run.sigma_ns, run.mean_ns)), label: { show: true, position: 'right', color: theme.text, formatter: (p: { dataIndex: number }) => label(some[p.dataIndex]!.run.sigma_ns, some[p.dataIndex]!.run.mean_ns) } },
        { name: 'without dropped ones', type: 'bar', barMaxWidth: 18, itemStyle: { color: theme.kept }, data: some.map(({ run }) => part(run.sigma_kept_ns, run.mean_kept_ns)), label: { show: true, position: 'right', color: theme.text, formatter: (p: { dataIndex: number }) => label(some[p.dataIndex]!.run.sigma_kept_ns, some[p.dataIndex]!.run.mean_kept_ns) } },
      ],
    }),
    data: {
      columns: [
        { name: 'run', title: 'run', kind: 'text', of: (r) => r.which },
        { name: 'length_ns', title: 'length', kind: 'ns', of: (r) => r.run.length_ns },
        { name: 'samples', title: 'samples', kind: 'number', of: (r) => r.run.samples },
        { name: 'dropped', title: 'dropped', kind: 'number', of: (r) => r.run.dropped.length },
        { name: 'mean_ns', title: 'mean', kind: 'ns', of: (r) => r.run.mean_ns },
        { name: 'mean_kept_ns', title: 'mean, kept', kind: 'ns', of: (r) => r.run.mean_kept_ns },
        { name: 'sigma_ns', title: 'σ', kind: 'ns', of: (r) => r.run.sigma_ns },
        { name: 'sigma_kept_ns', title: 'σ, kept', kind: 'ns', of: (r) => r.run.sigma_kept_ns },
      ],
      rows: () => some,
    },
  }).element;
}

function daemonCard(section: StudySection, chosen: Chosen): HTMLElement {
  const words = h('p', { 'aria-live': 'polite' });
  const none = button('Mark none', () => chosen.set(null), 'mark the samples of no daemon');
  const runs = (d: StudyDaemon) => [d.runs.short, d.runs.long] as const;
  const longest = (d: StudyDaemon) => runs(d).reduce((most, r) => Math.max(most, r?.long_most_ns ?? 0, r?.cluster_max_ns ?? 0), 0);
  const sorted = [...section.study.daemons].sort((a, b) => longest(b) - longest(a));
  const list = table<StudyDaemon>({
    name: `${section.anchor}-daemons`, caption: 'Daemons', rows: sorted, page: 15,
    columns: [
      { name: 'daemon', title: 'daemon', kind: 'text', of: (d) => d.name, most: 40 },
      { name: 'long_running', title: 'long-running', kind: 'text', of: (d) => (d.long_running ? 'yes' : 'no'), show: (d) => (d.long_running ? h('strong', {}, 'yes') : 'no') },
      { name: 'period_ns', title: 'period', kind: 'ns', of: (d) => d.period?.ns ?? null, show: (d) => (d.period?.ns == null ? periodText(d.period) : `${format.ns(d.period.ns)}${d.period.uncertain ? ' ?' : ''}`), title_of: '?: it rests on two occurrences' },
      { name: 'period_error_ns', title: '±', kind: 'ns', of: (d) => d.period?.error_ns ?? null, title_of: 'standard error of the period' },
      { name: 'samples', title: 'samples', kind: 'number', of: (d) => runs(d).reduce((sum, r) => sum + (r?.samples.length ?? 0), 0), title_of: 'in which it ran long' },
      ...(['short', 'long'] as const).filter((which) => section.study.runs[which]).flatMap((which): Column<StudyDaemon>[] => [
        { name: `${which}_cluster_max_ns`, title: `${which}: cluster max`, kind: 'ns', of: (d) => d.runs[which]?.cluster_max_ns ?? null, title_of: 'its largest process time in a sample of the cluster' },
        { name: `${which}_long_least_ns`, title: 'least long', kind: 'ns', of: (d) => d.runs[which]?.long_least_ns ?? null, title_of: 'the smallest process time of its long executions' },
        { name: `${which}_long_most_ns`, title: 'most', kind: 'ns', of: (d) => d.runs[which]?.long_most_ns ?? null, title_of: 'the largest' },
      ]),
      { name: 'cutoffs', title: 'cutoffs', kind: 'text', of: (d) => d.cutoffs.map((c) => `${format.ns(c.cutoff_ns)}${range(c)}`).join('; ') || null, show: (d) => (d.cutoffs.length ? h('div', { class: 'lines' }, ...d.cutoffs.map((c) => h('div', {}, `${format.ns(c.cutoff_ns)}${range(c)}`))) : format.DASH) },
    ],
    onRow: (d) => chosen.set(chosen.daemon === d ? null : d),
    rowLabel: (d) => `mark the samples in which ${short(d.name, 40)} ran long`,
    selected: (d) => d === chosen.daemon,
  });
  function show(): void {
    const d = chosen.daemon;
    list.refresh();
    none.hidden = !d;
    words.replaceChildren();
    if (!d) return append(words, 'Choose a daemon: samples in which it ran long are marked.');
    append(words, 'Marked: ', foreign(d.name, 40), `, long in ${format.count(runs(d).reduce((sum, r) => sum + (r?.samples.length ?? 0), 0))} samples, period ${periodText(d.period)}.`);
  }
  chosen.onChange(show);
  show();
  return h('div', { class: 'card wide', id: `${section.anchor}-daemon-card` }, h('h3', {}, 'Daemons'), h('div', { class: 'tools' }, words, none), list.element);
}

function range(c: { from_ns: number; below_ns: number | null }): string {
  if (!c.from_ns && c.below_ns === null) return '';
  if (!c.from_ns) return ` below ${format.ns(c.below_ns)}`;
  return c.below_ns === null ? ` from ${format.ns(c.from_ns)}` : ` from ${format.ns(c.from_ns)} to ${format.ns(c.below_ns)}`;
}

function cutoffCard(section: StudySection): HTMLElement {
  type Cutoff = StudySection['study']['cutoffs'][number];
  if (!section.study.cutoffs.length) {
    return h('p', { class: 'card wide' }, section.study.daemons.some((d) => d.long_running) ? 'There are no cutoffs.' : 'No daemon is long-running: there are no cutoffs, and nothing is dropped.');
  }
  return h('div', { class: 'card' }, h('h3', {}, 'Cutoffs'),
    h('p', { class: 'muted' }, 'An execution in which a daemon used more CPU time than its cutoff is dropped. A cutoff holds for programs of some lengths.'),
    table<Cutoff>({
      name: `${section.anchor}-cutoffs`, caption: 'Cutoffs', rows: section.study.cutoffs, page: 20,
      columns: [
        { name: 'daemon', title: 'daemon', kind: 'text', of: (c) => c.daemon, most: 40 },
        { name: 'from_ns', title: 'programs from', kind: 'ns', of: (c) => c.from_ns },
        { name: 'below_ns', title: 'and below', kind: 'ns', of: (c) => c.below_ns, show: (c) => (c.below_ns === null ? 'without end' : format.ns(c.below_ns)) },
        { name: 'cutoff_ns', title: 'cutoff', kind: 'ns', of: (c) => c.cutoff_ns },
        { name: 'edited', title: 'by hand', kind: 'text', of: (c) => (c.edited ? 'yes' : 'no') },
      ],
    }).element);
}

export function studySection(_doc: Doc, section: StudySection): HTMLElement[] {
  const runs = runsOf(section);
  const chosen = new Chosen(section);
  const out: HTMLElement[] = [figures(section, runs)];
  const said = runs.flatMap(({ which, run, samples }) => [
    samples ? null : `The samples of the ${which} run are not in this report.`,
    run.levels.length ? null : `The ${which} run has too few samples to zoom in: all of them are the cluster.`,
    run.steadied ? `The program's own process time varied: samples of the ${which} run were compared by an ET without that.` : null,
  ]).filter((text): text is string => !!text);
  if (said.length) out.push(h('ul', { class: 'notes' }, ...said.map((text) => h('li', {}, text))));
  const cards = h('div', { class: 'cards' });
  for (const run of runs) append(cards, ...wide(some([samplesCard(section, run, chosen)])));
  const zooms = some(runs.map((run) => zoomCard(section, run)));
  append(cards, ...(zooms.length === 1 ? wide(zooms) : zooms), daemonCard(section, chosen));
  for (const run of runs) append(cards, ...wide(some([stripsCard(section, run, chosen)])));
  append(cards, cutoffCard(section), ...some([section.study.cutoffs.length ? sigmaCard(section, runs) : null]));
  out.push(cards);
  return out;
}

const some = <T>(list: (T | null)[]): T[] => list.filter((item): item is T => item !== null);
