// What the parts of a `time` section share: its columns by measure, who is selected, and small pieces of charts.
import type { Measure } from '../document';
import type { PageMeasure, Summary, TimeSection } from '../types';
import type { Chart } from '../parts/chart';
import { h } from '../parts/dom';
import { field } from '../parts/fields';
import * as format from '../parts/format';
import { causeColour, current, type Theme } from '../parts/theme';
import { logTicks } from './noise_model';

export const KEPT = 0;
export const WARMUP = 1;
export const FAILED = 2;
export const CUTOFF = 3;
export const OUTSIDE = 4;
export const RULE_WORDS = ['kept', 'warm-up', 'failed', 'rule (I)', 'rule (II)'] as const;
export const RULE_MEANS = [
  'counts', 'executed to fill caches, never counted', 'exited with an error, was killed or took too long',
  'a daemon in it was above its cutoff', 'outside of mean ± 2 σ of what was left',
] as const;

/** Every rule has a shape beside its colour. */
export const CROSS = 'path://M2 0 L5 3 L8 0 L10 2 L7 5 L10 8 L8 10 L5 7 L2 10 L0 8 L3 5 L0 2 Z';
export const RULE_SYMBOL = ['circle', 'emptyRect', CROSS, 'triangle', 'diamond'] as const;

export function ruleColour(rule: number, theme: Theme): string {
  return [theme.kept, theme.muted, theme.text, theme.dropped, theme.series[1]!][rule] ?? theme.muted;
}

export const MEASURE_NAME: Record<Measure, string> = { et: 'ET', pt_net: 'PT net', pt_exec: 'PT exec', pt_tick: 'PT tick', user: 'user', system: 'system', pt_steady: 'PT(steady), estimated' };
export const MEASURE_WORDS: Record<Measure, string> = {
  et: 'elapsed time',
  pt_net: 'process time, without the interrupts within',
  pt_exec: 'process time, by the scheduler',
  pt_tick: 'process time, counted in ticks',
  user: 'in user code',
  system: 'in the kernel',
  pt_steady: 'process time at the best speed seen of the CPU',
};

/** PT split by one share of all executions: how it spreads is PT's spread, not its own. */
export const isShare = (measure: Measure) => measure === 'user' || measure === 'system';

export interface MeasureColumn {
  measure: Measure;
  name: string;
  values: ArrayLike<number | null>;
}

export interface Shown extends PageMeasure {
  kind: 'ns' | 'bytes' | 'percent' | 'number';
  values: (number | null)[];
}
const KINDS: Partial<Record<PageMeasure['unit'], Shown['kind']>> = { ns: 'ns', bytes: 'bytes', share: 'percent' };

/** What people are shown of every execution: the measures that the catalogue has a title for, where any execution has them. */
export function measuresOf({ measures, columns }: TimeSection): Shown[] {
  const of = columns as unknown as Record<string, (number | null)[] | null>;
  return measures.flatMap((m) => (of[m.column] ? [{ ...m, kind: KINDS[m.unit] ?? 'number', values: of[m.column]! }] : []));
}

export const shownValue = (m: Shown, value: number | null | undefined): string =>
  ({ ns: format.ns, bytes: format.bytes, percent: format.percent, number: m.unit === 'per_s' ? format.figure : format.count })[m.kind](value ?? null);

export interface Time {
  section: TimeSection;
  count: number;
  columns: MeasureColumn[]; // those present, the headline first
  counts: number[]; // by rule
  selected: ReadonlySet<number>; // positions
  select(positions: Iterable<number>): void;
  onSelect(listener: () => void): void;
  open(position: number): void; // shows the execution
}

const COLUMN: Partial<Record<Measure, 'et' | 'net' | 'exec' | 'tick' | 'steady'>> = { et: 'et', pt_net: 'net', pt_exec: 'exec', pt_tick: 'tick', pt_steady: 'steady' };

export function timeOf(section: TimeSection): Time {
  const listeners: (() => void)[] = [];
  const columns: MeasureColumn[] = [];
  for (const measure of ['pt_net', 'pt_exec', 'pt_tick', 'et', 'pt_steady'] as const) {
    const values = section.columns[COLUMN[measure]!];
    if (values) columns.push({ measure, name: MEASURE_NAME[measure], values });
  }
  columns.sort((a, b) => Number(b.measure === section.headline) - Number(a.measure === section.headline));
  const counts = [0, 0, 0, 0, 0];
  for (const rule of section.columns.rule) counts[rule] = (counts[rule] ?? 0) + 1;
  return {
    section, columns, counts, count: section.columns.et.length, selected: new Set(),
    select(positions) {
      this.selected = new Set(positions);
      for (const listener of listeners) listener();
    },
    onSelect(listener) { listeners.push(listener); },
    open() { /* set by the section when it is put together */ },
  };
}

/** Of this measure; the headline's where nobody has it. */
export function columnOf(time: Time, measure: Measure): MeasureColumn {
  return time.columns.find((c) => c.measure === measure) ?? time.columns[0]!;
}

/** "execution 17", "warm-up 1". */
export function executionName(time: Time, position: number): string {
  const { number, rule } = time.section.columns;
  return `${rule[position] === WARMUP ? 'warm-up' : 'execution'} ${number[position]}`;
}

/** The daemon or the reason, as one line. */
export function culprit(time: Time, position: number): string | null {
  const reason = time.section.reasons[position];
  return reason ? reason.text || reason.daemon : null;
}

export function meanSigma(s: Summary | null | undefined): string {
  if (!s || !s.n) return format.DASH;
  return format.plusMinus(s.mean_ns, s.stddev_ns);
}

/** To choose one of them; nothing where there is no choice. */
export function measureField(measures: readonly Measure[], chosen: Measure, change: (measure: Measure) => void): HTMLElement | null {
  return measures.length > 1 ? field('Measure', measures.map((m) => [m, MEASURE_NAME[m]] as const), chosen, change) : null;
}

/** A cause with its colour, which [data-cause] is found by when colours change. */
export function causeSwatch(cause: string): HTMLElement {
  const box = h('span', { class: 'swatch', 'aria-hidden': 'true', 'data-cause': cause });
  box.style.background = causeColour(cause, current());
  return h('span', {}, box, cause);
}

/** With as many digits as `about` leaves it. */
export function precise(value: number | null | undefined, about: number | null | undefined): string {
  if (value === null || value === undefined || !about) return format.ns(value);
  return format.nsAlike([value], [about])(value);
}

export function interval(low: number | null, high: number | null): string {
  return low === null || high === null ? format.DASH : format.nsRange(low, high);
}

/** Why there is no interval, where that is known. */
export const tooFew = (s: { needed_n: number } | null | undefined): string | null => (s?.needed_n ? `too few: about ${format.count(s.needed_n)} needed` : null);

/** "95 % interval 3.1 to 3.3 ms", "no 95 % interval, too few: about 40 needed"; null: of one execution. */
export function intervalWords(s: Summary): string | null {
  if (s.ci_low_ns !== null && s.ci_high_ns !== null) return `95 % interval ${interval(s.ci_low_ns, s.ci_high_ns)}`;
  const few = tooFew(s);
  return few && `no 95 % interval, ${few}`;
}

/** A tick of an axis: round already, so what is left of it is shown, in its unit. */
export function tick(value: number): string {
  const size = Math.abs(value);
  const [scale, unit] = size >= 1e9 ? [1e9, 's'] : size >= 1e6 ? [1e6, 'ms'] : size >= 1e3 ? [1e3, 'µs'] : [1, 'ns'];
  return size === 0 ? '0' : `${Number((value / (scale as number)).toPrecision(9))}\u00a0${unit}`;
}

/** Of an axis of times: where it has numbers. Of a logarithmic one the library knows decades alone. */
export function ticks(type: 'value' | 'log', low: number, high: number): Record<string, Record<string, unknown>> {
  if (type === 'value') return { axisLabel: { formatter: tick, showMinLabel: false, showMaxLabel: false } };
  const customValues = logTicks(Math.log10(low), Math.log10(high)).map((v) => Number((10 ** v).toPrecision(12)));
  return { axisTick: { customValues }, axisLabel: { customValues, formatter: tick } };
}

/** Room for the names of axes, which ECharts does not count in. */
export function grid(top = 14, left = 12): Record<string, unknown> {
  return { left, right: 20, top, bottom: 32, containLabel: true };
}

/** What the x axis shows now, within these; all of it where nothing is drawn yet. */
export function visibleWithin(chart: Chart | null, low: number, high: number): [number, number] {
  if (!(chart as any)?.getModel()) return [low, high];
  const [from, to] = visibleX(chart!);
  return from < high && to > low ? [Math.max(low, from), Math.min(high, to)] : [low, high];
}

/** What the x axis shows now. */
export function visibleX(chart: Chart): [number, number] {
  const rect = gridRect(chart);
  const low = chart.convertFromPixel({ xAxisIndex: 0 }, rect.x as any) as unknown as number;
  const high = chart.convertFromPixel({ xAxisIndex: 0 }, (rect.x + rect.width) as any) as unknown as number;
  return [Math.min(low, high), Math.max(low, high)];
}

export function gridRect(chart: Chart): { x: number; y: number; width: number; height: number } {
  return (chart as any).getModel().getComponent('grid', 0).coordinateSystem.getRect();
}

/** Calls once a frame at most: a wheel turns faster than a chart is drawn. */
export function calmly(work: () => void): () => void {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      work();
    });
  };
}
