// Samples over time: who was kept, who was dropped by which rule, who did it.
import type { Measure } from '../document';
import { axis, baseOption, chartCard, tip, zoom, type Chart, type ChartHandle } from '../parts/chart';
import { short } from '../parts/dom';
import { choices } from '../parts/fields';
import * as format from '../parts/format';
import { ring, sign } from '../parts/marks';
import { remember } from '../parts/remember';
import { current, type Theme } from '../parts/theme';
import {
  columnOf, culprit, CUTOFF, executionName, FAILED, grid, KEPT, meanSigma, measureField, OUTSIDE, ruleColour, RULE_MEANS, RULE_SYMBOL, RULE_WORDS, tick, WARMUP, type MeasureColumn, type Time,
} from './time_common';
import { executionColumns, positions } from './time_table';
import { heldUp } from './time_who';

const SIZE = [5, 7, 9, 10, 10];
const LARGE = 3000; // points, from which on the library draws them as one, without edges

interface Extent {
  min: number;
  max: number;
}

interface Points {
  data: Float64Array; // x, y, x, y, ...
  at: Int32Array; // positions
}

function ofRule(time: Time, rule: number): number[] {
  const at: number[] = [];
  for (let i = 0; i < time.count; i++) if (time.section.columns.rule[i] === rule) at.push(i);
  return at;
}

function points(time: Time, column: MeasureColumn, timed: boolean, wanted: number[]): Points {
  const at = wanted.filter((i) => column.values[i] != null);
  const data = new Float64Array(2 * at.length);
  const { at_us, number, rule } = time.section.columns;
  at.forEach((p, k) => {
    // warm-ups count on their own, and end where the measured ones begin with 1
    data[2 * k] = timed ? at_us[p]! * 1000 : rule[p] === WARMUP ? number[p]! - time.counts[WARMUP]! : number[p]!;
    data[2 * k + 1] = column.values[p]!;
  });
  return { data, at: Int32Array.from(at) };
}

export function samplesCard(time: Time): ChartHandle {
  const { section } = time;
  const kept = <T>(name: string, initial: T) => remember<T>(`${section.anchor}-samples-${name}`, initial);
  const measure = kept<Measure>('measure', time.columns[0]!.measure);
  let column = columnOf(time, measure.value);
  const timed = kept('timed', section.columns.at_us.length > 1 && section.columns.at_us[time.count - 1]! > 0);
  const range = kept<'all' | 'measured' | 'kept'>('range', startRange());
  let drawn: Points[] = [];
  let hiddenNow: ReadonlySet<string> = new Set();
  const present = RULE_WORDS.map((_, rule) => rule).filter((rule) => time.counts[rule]);
  const limits = section.rule2 ? [section.rule2.low_ns, section.rule2.high_ns] as const : null;
  const bound = format.nsAlike(limits ?? [], [limits ? limits[1] - limits[0] : null]);
  // a warm-up that took far longer would flatten the rest
  function startRange(): 'all' | 'measured' {
    let [low, high, lowest, highest] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < time.count; i++) {
      const v = column.values[i];
      if (v == null) continue;
      lowest = Math.min(lowest, v);
      highest = Math.max(highest, v);
      const rule = section.columns.rule[i];
      if (rule === WARMUP || rule === FAILED) continue;
      low = Math.min(low, v);
      high = Math.max(high, v);
    }
    return highest - lowest > 2 * (high - low) && high > low ? 'measured' : 'all';
  }
  const dropped = [CUTOFF, OUTSIDE, FAILED, WARMUP].filter((r) => time.counts[r]).map((r) => `${format.count(time.counts[r])} ${RULE_WORDS[r]}`);

  function series(theme: Theme, rule: number): Record<string, unknown> {
    const p = points(time, column, timed.value, ofRule(time, rule));
    drawn[rule] = p;
    return {
      id: `rule-${rule}`, name: RULE_WORDS[rule], type: 'scatter', dimensions: ['x', 'y'], data: p.data, large: true, largeThreshold: LARGE,
      ...sign(p.at.length < LARGE ? RULE_SYMBOL[rule]! : 'circle', ruleColour(rule, theme), theme, rule === KEPT ? (p.at.length > 2000 ? 0.6 : 0.85) : 1), symbolSize: p.at.length > 20_000 ? 3 : p.at.length > 1000 ? SIZE[rule]! - 3 : SIZE[rule], z: rule === KEPT ? 2 : 4, emphasis: { disabled: true },
    };
  }
  function selected(theme: Theme): Record<string, unknown> {
    // around what is drawn
    const p = points(time, column, timed.value, [...time.selected].filter((i) => !hiddenNow.has(RULE_WORDS[section.columns.rule[i]!]!)).sort((a, b) => a - b));
    drawn[RULE_WORDS.length] = p;
    return {
      id: 'selected', name: 'selected', type: 'scatter', dimensions: ['x', 'y'], data: p.data, ...ring(theme.accent, p.at.length), z: 6, emphasis: { disabled: true },
    };
  }
  /** What is to be seen, and the bounds. */
  function yRange(): { min?: number; max?: number } {
    let [low, high] = limits && column.measure === section.lead ? limits : [Infinity, -Infinity];
    for (let i = 0; i < time.count; i++) {
      const v = column.values[i];
      const rule = section.columns.rule[i];
      if (v == null || (range.value === 'kept' && rule !== KEPT) || (range.value === 'measured' && (rule === WARMUP || rule === FAILED))) continue;
      if (v < low) low = v;
      if (v > high) high = v;
    }
    const pad = (high - low) * 0.05 || Math.abs(high) * 0.01 || 1;
    return low <= high ? { min: low >= 0 ? Math.max(0, low - pad) : low - pad, max: high + pad } : {};
  }
  /** From the begin of the run or the first of them, with some room: no point lies on the frame. */
  function xRange(): { min: (x: Extent) => number; max: (x: Extent) => number } {
    const from = (x: Extent) => (timed.value ? Math.min(x.min, 0) : x.min);
    const room = (x: Extent) => (x.max - from(x)) * 0.02 || 0.5;
    return { min: (x) => from(x) - room(x), max: (x) => x.max + room(x) };
  }
  function numberAt(v: number): string {
    if (!Number.isInteger(v) || v + time.counts[WARMUP]! < 1) return '';
    return v < 1 ? `w${v + time.counts[WARMUP]!}` : format.count(v);
  }
  function option(theme: Theme, hidden: ReadonlySet<string>) {
    const base = baseOption(theme) as any;
    drawn = [];
    hiddenNow = hidden;
    const rules = present.filter((rule) => !hidden.has(RULE_WORDS[rule]!));
    const list = rules.map((rule) => series(theme, rule));
    if (limits && list[0] && column.measure === section.lead) {
      (list[0] as any).markLine = {
        silent: true, symbol: 'none', z: 7, lineStyle: { color: theme.series[1], type: 'dashed' }, label: { color: theme.text, textBorderColor: theme.card, textBorderWidth: 3 },
        data: limits.map((y, i) => ({ yAxis: y, name: i ? 'upper bound' : 'lower bound', label: { position: i ? 'insideEndTop' : 'insideEndBottom', formatter: `rule (II): ${bound(y)}` } })),
      };
    }
    return {
      ...base,
      grid: grid(14, 30),
      dataZoom: zoom(),
      xAxis: axis(theme, timed.value ? 'since the run began' : 'execution', {
        type: 'value', ...xRange(), minInterval: timed.value ? undefined : 1, axisLabel: { showMinLabel: false, showMaxLabel: false, formatter: timed.value ? tick : numberAt },
      }),
      yAxis: axis(theme, column.name, { type: 'value', scale: true, ...yRange(), nameGap: 12, axisLine: { onZero: false, lineStyle: { color: theme.line } }, axisLabel: { formatter: tick, showMinLabel: false, showMaxLabel: false } }),
      tooltip: { ...base.tooltip, formatter: (p: any) => about(p.seriesId, p.dataIndex) },
      series: [...list, selected(theme)],
    };
  }
  function position(seriesId: string, index: number): number | undefined {
    return drawn[seriesId === 'selected' ? RULE_WORDS.length : Number(seriesId.slice(5))]?.at[index];
  }
  function about(seriesId: string, index: number): HTMLElement {
    const i = position(seriesId, index);
    if (i === undefined) return tip([]);
    const rule = section.columns.rule[i]!;
    return tip([
      executionName(time, i), ...time.columns.map((c) => `${c.name} ${format.ns(c.values[i] ?? null)}`), `began ${format.ns(section.columns.at_us[i]! * 1000)} into the run`,
      rule === KEPT ? 'kept' : `${RULE_WORDS[rule]}: ${RULE_MEANS[rule]}`, section.reasons[i]?.daemon ? `culprit: ${short(section.reasons[i]!.daemon!, 60)}` : null,
      culprit(time, i) ? short(culprit(time, i)!, 300) : null, ...heldUp(time, i),
    ]);
  }
  const handle: ChartHandle = chartCard({
    name: `${section.anchor}-samples`, title: 'Samples over time', height: 360,
    about: 'A point is an execution.', hint: 'Hover tells who disturbed it, a click opens it. Ctrl and the wheel, or + and −, zoom.',
    summary: `${format.count(time.count - time.counts[WARMUP]!)} executions in the order in which they ran; ${column.name} of those kept is ${meanSigma(section.kept[column.measure])}. `
      + (dropped.length ? `Marked: ${dropped.join(', ')}. ` : 'None was dropped. ')
      + (limits ? `Rule (II) keeps from ${format.ns(limits[0])} to ${format.ns(limits[1])}.` : ''),
    controls: [
      measureField(time.columns.map((c) => c.measure), column.measure, (m) => {
        measure.value = m;
        column = columnOf(time, m);
        handle.redraw();
      }),
      choices('x axis', [['when', 'when'], ['number', 'number']], timed.value ? 'when' : 'number', (v) => { timed.value = v === 'when'; handle.redraw(); }),
      choices('what the y axis has to hold', [['all', 'all'], ['measured', 'measured'], ['kept', 'kept']], range.value, (v) => { range.value = v; handle.redraw(); }),
    ],
    option,
    legend: (theme) => present.map((rule) => ({ name: RULE_WORDS[rule]!, title: RULE_MEANS[rule]!, sign: { symbol: RULE_SYMBOL[rule]!, colour: ruleColour(rule, theme) } })),
    data: { columns: executionColumns(time), rows: () => positions(time) },
    onReady(chart: Chart) {
      chart.on('click', (p: any) => {
        const i = p.seriesId && p.dataIndex != null ? position(p.seriesId, p.dataIndex) : undefined;
        if (i !== undefined) time.open(i);
      });
    },
  });
  // the ring alone: the points are many
  time.onSelect(() => handle.chart()?.setOption({ series: [selected(current())] }));
  return handle;
}
