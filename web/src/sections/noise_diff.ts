// Two runs of noise held against each other: docs/schema/noise-diff.schema.json.
import type { Section } from '../document';
import type { Doc, NoiseComparison, NoiseDiff, NoiseDiffPeak, NoiseDiffSide, NoiseDiffSource } from '../types';
import { axis, baseOption, chartCard, tip, zoom, type Chart } from '../parts/chart';
import { foreign, h, short } from '../parts/dom';
import { select } from '../parts/fields';
import { figure, wide } from '../parts/figures';
import * as format from '../parts/format';
import { sign, whiskers } from '../parts/marks';
import { table, type Column } from '../parts/table';
import type { Theme } from '../parts/theme';
import { titleOf } from '../parts/titles';
import { logTicks, sourceName, tenTo } from './noise_model';

type Change = NoiseDiffSource['change'];

/** What is said of a source; of what is unsure, whether both have it. */
type Said = Exclude<Change, 'unsure'> | 'seen in one only' | 'no difference shown';
const SAYINGS: Said[] = ['new', 'grown', 'shrunk', 'gone', 'seen in one only', 'no difference shown', 'same'];
const SIGN: Record<Said, string> = { new: '✚', grown: '▲', shrunk: '▼', gone: '✖', 'seen in one only': '□', 'no difference shown': '·', same: '=' };
const SYMBOL: Record<Said, string> = { new: 'diamond', grown: 'circle', shrunk: 'rect', gone: 'emptyDiamond', 'seen in one only': 'emptyRect', 'no difference shown': 'emptyCircle', same: 'roundRect' };
const ROWS = 40; // of the chart of ratios
const TOP = 15; // sources by time lost that it shows in any case
const SURE = 0.05; // as tare's own words have it

const oneOnly = (s: NoiseDiffSource): boolean => s.base_rate <= 0 || s.run_rate <= 0;
const said = (s: NoiseDiffSource): Said => (s.change !== 'unsure' ? s.change : oneOnly(s) ? 'seen in one only' : 'no difference shown');
const changed = (s: NoiseDiffSource): boolean => s.change !== 'unsure' && s.change !== 'same';
const larger = (s: NoiseDiffSource): number => Math.max(s.base_share, s.run_share);
const byTime = (list: readonly NoiseDiffSource[]): NoiseDiffSource[] => [...list].sort((a, b) => larger(b) - larger(a));
const counted = (list: readonly NoiseDiffSource[], of: readonly Said[] = SAYINGS): string => of.map((c) => [c, list.filter((s) => said(s) === c).length] as const).filter(([, n]) => n).map(([c, n]) => `${n} ${c}`).join(', ');
/** Of the shares, where there is no estimate with an interval. */
const plain = (s: { ratio: number | null; base_share: number; run_share: number }): number | null => s.ratio ?? (s.base_share > 0 && s.run_share > 0 ? s.run_share / s.base_share : null);

const changeColour = (change: Said, theme: Theme): string => ({ new: theme.bad, grown: theme.bad, shrunk: theme.good, gone: theme.good, 'seen in one only': theme.muted, 'no difference shown': theme.muted, same: theme.muted })[change];
const times = (ratio: number | null): string => (ratio === null ? format.DASH : `${format.figure(ratio)}×`);
/** Of an interval with one end the other is without bound. */
interface Interval { ratio: number | null; ratio_low: number | null; ratio_high: number | null }
const hasInterval = (s: Interval): boolean => s.ratio !== null && (s.ratio_low !== null || s.ratio_high !== null);
const lowEnd = (s: Interval): string => (hasInterval(s) && s.ratio_low === null ? '0×' : times(s.ratio_low));
const highEnd = (s: Interval): string => (hasInterval(s) && s.ratio_high === null ? '∞' : times(s.ratio_high));
const interval = (s: Interval): string => (hasInterval(s) ? `${lowEnd(s)} to ${highEnd(s)}` : '');
const side = (s: NoiseDiffSide): string => `${s.run === null ? '' : `run ${s.run}, `}${short(s.name, 40)}`;

function densityCard(name: string, diff: NoiseDiff): HTMLElement[] {
  const d = diff.density;
  if (!d?.ns.length) return [];
  const x = d.ns.map((ns) => Math.log10(Math.max(ns, 1)));
  // smoothing runs beyond the threshold, but nothing shorter is a detour
  const lowest = Math.max(x[0]!, Math.log10(Math.max(1, Math.min(diff.base.threshold_ns, diff.run.threshold_ns))));
  const highest = x[x.length - 1]!;
  const window = Math.max(diff.base.window_ns, diff.run.window_ns) / 1e9;
  const least = Math.floor(Math.log10(0.2 / Math.max(1e-9, window)));
  // of what is in sight
  const ticks = (chart: Chart) => {
    const z = (chart.getOption() as any).dataZoom[0];
    const customValues = logTicks(lowest + ((highest - lowest) * z.start) / 100, lowest + ((highest - lowest) * z.end) / 100);
    chart.setOption({ xAxis: { axisTick: { customValues }, axisLabel: { customValues } } });
  };
  const points = (y: number[], s: NoiseDiffSide) => x.map((v, i) => [v, d.ns[i]! >= s.threshold_ns && y[i]! > 10 ** least ? Math.log10(y[i]!) : null]);
  return [chartCard<number>({
    name: `${name}-density`, title: 'Lengths of detours in both', height: 340,
    about: `Distance of the two: ${format.figure(d.distance)} (0: the same, 1: no length in common). Both axes are logarithmic; the densities have a bandwidth of ${format.figure(d.bandwidth)} decades, and begin at the threshold.`,
    summary: `Densities of the lengths of detours in ${side(diff.base)} and in ${side(diff.run)}. Their distance is ${format.figure(d.distance)}, of 0 for the same to 1 for no length in common.`,
    option: (theme) => ({
      ...baseOption(theme),
      grid: { left: 44, right: 20, top: 14, bottom: 26, containLabel: true },
      xAxis: axis(theme, 'length of a detour', { type: 'value', min: lowest, max: highest, axisTick: { show: true, customValues: logTicks(lowest, highest) }, axisLabel: { customValues: logTicks(lowest, highest), formatter: (v: number) => format.ns(10 ** v) } }),
      yAxis: axis(theme, 'per s of a CPU and decade', { type: 'value', min: least, minInterval: 1, nameGap: 12, axisLabel: { formatter: tenTo } }),
      dataZoom: zoom(),
      tooltip: {
        ...(baseOption(theme)['tooltip'] as object), trigger: 'axis',
        formatter: (p: { dataIndex: number }[]) => {
          const i = p[0]?.dataIndex ?? 0;
          return tip([format.ns(d.ns[i]!), `base: ${format.figure(d.base[i]!)} per s and decade`, `run: ${format.figure(d.run[i]!)} per s and decade`]);
        },
      },
      series: [
        { name: `base: ${side(diff.base)}`, type: 'line', symbol: 'none', lineStyle: { width: 2, type: 'dashed', color: theme.series[10] }, itemStyle: { color: theme.series[10] }, data: points(d.base, diff.base) },
        { name: `run: ${side(diff.run)}`, type: 'line', symbol: 'none', lineStyle: { width: 2, color: theme.series[0] }, itemStyle: { color: theme.series[0] }, areaStyle: { opacity: 0.12, color: theme.series[0], origin: 'start' }, data: points(d.run, diff.run) },
      ],
    }),
    data: {
      columns: [
        { name: 'length_ns', title: 'length', kind: 'ns', of: (i) => d.ns[i] },
        { name: 'base', title: 'base', kind: 'number', of: (i) => d.base[i] },
        { name: 'run', title: 'run', kind: 'number', of: (i) => d.run[i] },
      ],
      rows: () => d.ns.flatMap((_, i) => (x[i]! < lowest ? [] : i)),
    },
    onReady: (chart) => chart.on('datazoom', () => { setTimeout(() => ticks(chart)); }),
    onDraw: ticks,
  }).element];
}

/** Ratios of the time lost with their intervals; what only one has is at the edge. */
function ratioCard(name: string, diff: NoiseDiff): HTMLElement[] {
  const known = byTime(diff.sources).filter((s) => oneOnly(s) || plain(s) !== null);
  const picked = new Set([...new Set([...known.slice(0, TOP), ...known.filter(changed), ...known])].slice(0, ROWS));
  const rows = known.filter((s) => picked.has(s));
  if (!rows.length) return [];
  let low = -0.5;
  let high = 0.5;
  for (const s of rows) {
    for (const value of [plain(s), s.ratio_low, s.ratio_high]) {
      if (!value || !Number.isFinite(value)) continue;
      low = Math.max(-4, Math.min(low, Math.log10(value)));
      high = Math.min(4, Math.max(high, Math.log10(value)));
    }
  }
  low -= 0.35;
  high += 0.35;
  const inside = (ratio: number) => Math.min(high, Math.max(low, ratio > 0 ? Math.log10(ratio) : low));
  const place = (s: NoiseDiffSource) => (s.base_rate <= 0 ? high - 0.12 : s.run_rate <= 0 ? low + 0.12 : inside(plain(s)!));
  const told = (s: NoiseDiffSource) => tip([`${SIGN[said(s)]} ${said(s)}: ${sourceName(s, 80)}`, plain(s) === null ? 'in one of the two only' : `time lost: ${times(plain(s))} (${interval(s) || 'no interval'})`,
    `per s: ${format.figure(s.base_rate)} → ${format.figure(s.run_rate)}`, `of the time: ${format.percent(s.base_share)} → ${format.percent(s.run_share)}`, `p ${format.pValue(s.p)}, adjusted`]);
  const left = known.length - rows.length;
  return [chartCard<NoiseDiffSource>({
    name: `${name}-ratios`, title: 'Sources, run against base', height: 66 + rows.length * 22,
    about: `Time lost to each, run by base, the largest first, with 95 % intervals where there were enough parts; one that runs into the edge goes on beyond it. A change is said where p, adjusted for the number of sources, is below ${SURE}: an interval, which is of one source alone, may lack 1 without that. What only the run has is at the right edge, what only the base has at the left; grey: too rare to be sure.${left ? ` ${left} more are left to the table.` : ''}`,
    summary: `${counted(diff.sources)}. ${[...rows.filter(changed), ...rows.filter((s) => !changed(s))].slice(0, 6).map((s) => `${sourceName(s, 30)} ${said(s)}${plain(s) === null ? '' : ` ${times(plain(s))}`}`).join('; ')}.`,
    option: (theme) => ({
      ...baseOption(theme), legend: { data: SAYINGS.filter((c) => rows.some((s) => said(s) === c)) },
      grid: { left: 8, right: 20, top: 8, bottom: 26, containLabel: true },
      xAxis: axis(theme, 'time lost: run / base', { type: 'value', min: low, max: high, axisTick: { show: true, customValues: logTicks(low, high) }, axisLabel: { customValues: logTicks(low, high), formatter: (v: number) => `${format.bare(format.figure(10 ** v))}×` } }),
      yAxis: axis(theme, '', { type: 'category', inverse: true, data: rows.map((s) => `${short(s.name, 22)} ${SIGN[said(s)]}`), axisTick: { show: false }, axisLabel: { interval: 0, fontSize: 11 } }),
      tooltip: { ...(baseOption(theme)['tooltip'] as object), formatter: (p: { value: number[]; seriesName: string }) => told(rows[p.value[p.seriesName === 'interval' ? 0 : 1]!]!) },
      series: [
        ...SAYINGS.map((change, i) => ({
          name: change, type: 'scatter', symbolSize: 10, ...sign(SYMBOL[change], changeColour(change, theme), theme),
          data: rows.flatMap((s, y) => (said(s) === change ? [[place(s), y]] : [])), z: 3,
          ...(i === 0 ? { markLine: { silent: true, symbol: 'none', label: { show: false }, lineStyle: { color: theme.text, type: 'dashed', width: 1 }, data: [{ xAxis: 0 }] } } : {}),
        })),
        {
          ...whiskers('x', () => ({ style: { stroke: theme.muted, lineWidth: 1.5 } })), name: 'interval', silent: true, z: 2, clip: true, // what ends beyond the picture, or not at all, runs out of it
          data: rows.flatMap((s, y) => (hasInterval(s) ? [[y, s.ratio_low ? Math.log10(s.ratio_low) : low - 1, s.ratio_high === null ? high + 1 : s.ratio_high > 0 ? Math.log10(s.ratio_high) : low - 1]] : [])),
        },
      ],
    }),
    data: { columns: sourceColumns(), rows: () => rows },
  }).element];
}

function sourceColumns(): Column<NoiseDiffSource>[] {
  return [
    { name: 'source', title: 'source', kind: 'text', of: (s) => s.name, most: 40 },
    { name: 'class', title: 'class', kind: 'text', of: (s) => s.class },
    { name: 'change', title: 'change', kind: 'text', of: said, show: (s) => h('span', { class: `lines ${!changed(s) ? 'muted' : s.change === 'new' || s.change === 'grown' ? 'bad' : 'ok'}` }, `${SIGN[said(s)]} ${said(s)}`) },
    { name: 'ratio', title: 'ratio', kind: 'number', of: plain, show: (s) => times(plain(s)), title_of: 'of the time lost: run / base; without an interval it is just the quotient' },
    { name: 'ratio_low', title: 'from', kind: 'number', of: (s) => s.ratio_low, show: lowEnd, title_of: '95 % interval' },
    { name: 'ratio_high', title: 'to', kind: 'number', of: (s) => s.ratio_high, show: highEnd },
    { name: 'p', title: 'p', kind: 'p', of: (s) => s.p, title_of: 'adjusted by Benjamini and Hochberg for the number of sources' },
    { name: 'base_share', title: 'of time, base', kind: 'percent', of: (s) => s.base_share },
    { name: 'run_share', title: 'run', kind: 'percent', of: (s) => s.run_share },
    { name: 'base_rate', title: 'per s, base', kind: 'number', of: (s) => s.base_rate, show: (s) => format.figure(s.base_rate) },
    { name: 'run_rate', title: 'run', kind: 'number', of: (s) => s.run_rate, show: (s) => format.figure(s.run_rate) },
    { name: 'base_mean_ns', title: 'mean, base', kind: 'ns', of: (s) => s.base_mean_ns },
    { name: 'run_mean_ns', title: 'run', kind: 'ns', of: (s) => s.run_mean_ns },
    { name: 'base_max_ns', title: 'max, base', kind: 'ns', of: (s) => s.base_max_ns },
    { name: 'run_max_ns', title: 'run', kind: 'ns', of: (s) => s.run_max_ns },
  ];
}

function sourcesCard(name: string, diff: NoiseDiff): HTMLElement {
  const counts = SAYINGS.map((c) => [c, diff.sources.filter((s) => said(s) === c).length] as const).filter(([, n]) => n);
  const all = byTime(diff.sources);
  const list = table<NoiseDiffSource>({ name: `${name}-sources`, caption: 'Sources of either run, by time lost', rows: all, page: 15, columns: sourceColumns() });
  const which = select<Said | ''>('which changes are shown', [['', `all (${all.length})`], ...counts.map(([c, n]) => [c, `${c} (${n})`] as const)], '',
    (wanted) => list.set(wanted ? all.filter((s) => said(s) === wanted) : all));
  list.element.querySelector('.tools')?.prepend(which);
  return h('div', { class: 'card wide' }, h('h3', {}, 'Sources of either'), list.element);
}

function peaksCard(name: string, diff: NoiseDiff): HTMLElement | null {
  if (!diff.peaks?.length) return null;
  return h('div', { class: 'card wide' }, h('h3', {}, 'Lengths that became more or less frequent'), table<NoiseDiffPeak>({
    name: `${name}-peaks`, caption: 'Lengths that became more or less frequent', rows: diff.peaks,
    columns: [
      { name: 'low_ns', title: 'from', kind: 'ns', of: (p) => p.low_ns },
      { name: 'high_ns', title: 'to', kind: 'ns', of: (p) => p.high_ns },
      { name: 'base_rate', title: 'per s, base', kind: 'number', of: (p) => p.base_rate, show: (p) => format.figure(p.base_rate) },
      { name: 'run_rate', title: 'run', kind: 'number', of: (p) => p.run_rate, show: (p) => format.figure(p.run_rate) },
      { name: 'combination', title: 'made by', kind: 'text', of: (p) => p.name || null, most: 60 },
    ],
  }).element);
}

/** Everything but a heading; overlay: with both densities, where nothing else on the page shows them. */
export function differences(name: string, diff: NoiseDiff, overlay = true): HTMLElement[] {
  const { total } = diff;
  const out: HTMLElement[] = [
    h('p', { class: 'verdict' }, foreign(diff.text, 1000)),
    h('dl', { class: 'figures' },
      figure('time lost', `${format.percent(total.base_share)} → ${format.percent(total.run_share)}`, `${side(diff.base)} → ${side(diff.run)}`),
      figure('ratio', times(plain(total)), interval(total) || 'no interval: parts too few or too uneven'),
      figure('p', format.pValue(total.p)),
      figure('sources', counted(diff.sources, ['new', 'grown', 'shrunk', 'gone']) || 'none surely changed', counted(diff.sources, ['seen in one only', 'no difference shown', 'same'])),
      figure('looked at', `${format.ns(diff.base.window_ns)} and ${format.ns(diff.run.window_ns)}`, `in ${diff.base.parts} and ${diff.run.parts} parts`)),
  ];
  if (diff.notes.length) out.push(h('ul', { class: 'notes' }, ...diff.notes.map((note) => h('li', {}, foreign(note, 1000)))));
  const cards = [...(overlay ? densityCard(name, diff) : []), ...ratioCard(name, diff)];
  // beside a long list of sources, the densities would stand above much empty space
  if (cards.length === 1 || diff.sources.length > 14) wide(cards);
  const peaks = peaksCard(name, diff);
  out.push(h('div', { class: 'cards' }, ...cards, diff.sources.length ? sourcesCard(name, diff) : null, peaks));
  return out;
}

export function noiseComparison(doc: Doc, comparison: NoiseComparison): HTMLElement[] {
  const [base, run] = [doc.sections[comparison.base], doc.sections[comparison.run]];
  const link = (s: Section) => h('a', { href: `#${s.anchor}` }, foreign(titleOf(doc, s), 80));
  return [
    base && run ? h('p', { class: 'muted' }, 'Noise: ', link(base), ' → ', link(run)) : h('p', {}),
    ...differences(`noise-${base?.anchor ?? comparison.base}-${run?.anchor ?? comparison.run}`, comparison.diff),
  ];
}
