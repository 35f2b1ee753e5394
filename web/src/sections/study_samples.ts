// Samples over time, and when daemons ran long among them.
import type { StudyDaemon, StudySection } from '../types';
import { axis, baseOption, chartCard, tip, zoom, type ChartHandle } from '../parts/chart';
import { short } from '../parts/dom';
import { select } from '../parts/fields';
import * as format from '../parts/format';
import { ring } from '../parts/marks';
import { remember } from '../parts/remember';
import type { Theme } from '../parts/theme';
import { expected, periodText, type Run } from './study_model';

const STRIPS = 30; // daemons

/** The daemon whose samples are marked; whoever marks them is told. */
export class Chosen {
  daemon: StudyDaemon | null;
  private readonly listeners: (() => void)[] = [];
  private readonly name: { value: string | null };
  constructor(section: StudySection) {
    this.name = remember<string | null>(`${section.anchor}-daemon`, null);
    this.daemon = section.study.daemons.find((d) => d.name === this.name.value) ?? null;
  }
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }
  set(daemon: StudyDaemon | null): void {
    this.daemon = daemon;
    this.name.value = daemon?.name ?? null;
    for (const listener of this.listeners) listener();
  }
}

export function samplesCard(section: StudySection, { which, run, samples }: Run, chosen: Chosen): HTMLElement | null {
  if (!samples?.et.length) return null;
  const isL = new Uint8Array(samples.et.length);
  for (const i of samples.l) isL[i] = 1;
  for (const i of samples.dropped) isL[i] = (isL[i] ?? 0) | 2;
  const at = new Map<number, number>();
  samples.number.forEach((n, i) => at.set(n, i));
  const positions: number[][] = [[], [], [], []]; // by kind
  for (let i = 0; i < samples.et.length; i++) positions[isL[i]!]!.push(i);
  let shown: number[][] = []; // positions of what is drawn, by series
  let over: 'number' | 'time' = 'number';
  let near = false;
  let handle: ChartHandle;
  const field = select<'number' | 'time'>(`x axis of the samples of the ${which} run`, [['number', 'by number'], ['time', 'by time']], over, (v) => { over = v; handle.redraw(); });
  field.hidden = !samples.at_us;
  const range = select(`y axis of the samples of the ${which} run`, [['all', 'every ET'], ['near', 'near the cluster']], 'all', (v) => { near = v === 'near'; handle.redraw(); });
  range.hidden = run.cluster_low_ns === null || run.cluster_high_ns === null || !samples.l.length;
  const x = (i: number): number => (over === 'time' && samples.at_us ? samples.at_us[i]! / 1e6 : samples.number[i]!);
  const points = (list: readonly number[]): Float64Array => {
    const out = new Float64Array(2 * list.length);
    for (let k = 0; k < list.length; k++) {
      out[2 * k] = x(list[k]!);
      out[2 * k + 1] = samples.et[list[k]!]!;
    }
    return out;
  };
  const made = new Map<string, Float64Array[]>(); // choosing a daemon does not make them anew
  const pointsByKind = (): Float64Array[] => {
    if (!made.has(over)) made.set(over, positions.map(points));
    return made.get(over)!;
  };
  const KINDS = ['in the cluster', 'L-sample', 'in the cluster, dropped', 'L-sample, dropped'];
  let longest = 0;
  let shortest = 0;
  for (let i = 1; i < samples.et.length; i++) {
    if (samples.et[i]! > samples.et[longest]!) longest = i;
    if (samples.et[i]! < samples.et[shortest]!) shortest = i;
  }
  let culprits: Map<number, StudyDaemon[]> | null = null; // by number of sample, made at the first hover
  const culpritsOf = (n: number): StudyDaemon[] => {
    if (!culprits) {
      culprits = new Map();
      for (const d of section.study.daemons) {
        for (const s of d.runs[which]?.samples ?? []) {
          const list = culprits.get(s);
          if (list) list.push(d);
          else culprits.set(s, [d]);
        }
      }
    }
    return culprits.get(n) ?? [];
  };

  function option(theme: Theme) {
    let low = samples!.et[shortest]!;
    let high = samples!.et[longest]!;
    if (near) {
      const width = Math.max(1, run.cluster_high_ns! - run.cluster_low_ns!);
      low = Math.max(low, run.cluster_low_ns! - width / 2);
      high = Math.min(high, run.cluster_high_ns! + 4 * width);
    }
    const pad = Math.max(1, (high - low) * 0.05);
    const band = run.cluster_low_ns !== null && run.cluster_high_ns !== null && !run.steadied
      ? { silent: true, itemStyle: { color: theme.kept, opacity: 0.1 }, data: [[{ yAxis: run.cluster_low_ns }, { yAxis: run.cluster_high_ns }]] } : undefined;
    const looks = [
      { symbol: 'circle', symbolSize: 4, color: theme.kept }, { symbol: 'triangle', symbolSize: 9, color: theme.series[1] },
      { symbol: 'diamond', symbolSize: 8, color: theme.series[3] }, { symbol: 'diamond', symbolSize: 10, color: theme.dropped },
    ];
    const long = chosen.daemon ? (chosen.daemon.runs[which]?.samples ?? []).flatMap((n) => at.get(n) ?? []) : [];
    const kinds = [0, 1, 2, 3].filter((kind) => kind === 0 || positions[kind]!.length);
    shown = [...kinds.map((kind) => positions[kind]!), long];
    return {
      ...baseOption(theme),
      grid: { left: 44, right: 20, top: 14, bottom: 26, containLabel: true },
      xAxis: axis(theme, over === 'time' ? 'time of the run' : 'sample', { type: 'value', min: 'dataMin', max: 'dataMax', axisLabel: over === 'time' ? { formatter: (v: number) => format.ns(v * 1e9), showMinLabel: false, showMaxLabel: false } : { formatter: (v: number) => format.count(Math.round(v)) } }),
      yAxis: axis(theme, 'ET', { type: 'value', min: low - pad, max: high + pad, nameGap: 12, axisLabel: { showMinLabel: false, showMaxLabel: false, formatter: (v: number) => format.nsBetween(v, low, high) } }),
      dataZoom: zoom(),
      tooltip: {
        ...(baseOption(theme)['tooltip'] as object),
        formatter: (p: { seriesIndex: number; dataIndex: number }) => {
          const i = shown[p.seriesIndex]?.[p.dataIndex];
          if (i === undefined) return tip(['']);
          const n = samples!.number[i]!;
          return tip([`sample ${n}: ${format.ns(samples!.et[i])}`, KINDS[isL[i]!], ...culpritsOf(n).slice(0, 6).map((d) => `${short(d.name, 40)} ran long`)]);
        },
      },
      series: [
        ...kinds.map((kind) => ({ name: KINDS[kind]!, type: 'scatter', dimensions: ['x', 'y'], symbol: looks[kind]!.symbol, symbolSize: looks[kind]!.symbolSize, clip: true, itemStyle: { color: looks[kind]!.color, opacity: kind ? 0.9 : 0.65 }, large: kind === 0, largeThreshold: 3000, data: pointsByKind()[kind]!, ...(kind === 0 ? { markArea: band } : {}) })),
        ...(long.length ? [{ name: `${short(chosen.daemon!.name, 24)} ran long`, type: 'scatter', dimensions: ['x', 'y'], ...ring(theme.text, long.length), data: points(long), z: 5 }] : []),
      ],
    };
  }
  handle = chartCard<number>({
    name: `${section.anchor}-${which}-samples`, title: `Samples of the ${which} run`, height: 320,
    about: `The band is the central cluster${run.steadied ? ', which was found in an ET without the variation of the program itself, and is not drawn here' : ''}.${section.study.cutoffs.length ? ' Dropped ones held an execution of a daemon above its cutoff.' : ''}`,
    summary: `ET of ${format.count(samples.et.length)} samples: ${format.count(samples.l.length)} are L-samples, outside of the cluster${section.study.cutoffs.length ? `, and the cutoffs drop ${format.count(samples.dropped.length)}` : ''}. The longest is sample ${samples.number[longest]} with ${format.ns(samples.et[longest])}.`,
    option,
    axes: () => over,
    controls: [field, range],
    data: {
      columns: [
        { name: 'sample', title: 'sample', kind: 'number', of: (i) => samples.number[i] },
        { name: 'at_us', title: 'at, µs', kind: 'number', of: (i) => samples.at_us?.[i] ?? null },
        { name: 'et_ns', title: 'ET', kind: 'ns', of: (i) => samples.et[i] },
        { name: 'l_sample', title: 'L-sample', kind: 'text', of: (i) => (isL[i]! & 1 ? 'yes' : 'no') },
        { name: 'dropped', title: 'dropped', kind: 'text', of: (i) => (isL[i]! & 2 ? 'yes' : 'no') },
      ],
      rows: () => samples.et.map((_, i) => i),
    },
  });
  chosen.onChange(handle.redraw);
  return handle.element;
}

interface Strip { daemon: StudyDaemon; samples: number[]; period: number | null; expected: number[] }

export function stripsCard(section: StudySection, { which, run, samples }: Run, chosen: Chosen): HTMLElement | null {
  const first = samples?.number[0] ?? 1;
  const last = samples?.number[samples.number.length - 1] ?? run.samples;
  const strips: Strip[] = section.study.daemons.flatMap((daemon, i) => {
    const seen = daemon.runs[which];
    if (!seen?.samples.length) return [];
    // the run's own period is the one that its samples are to be held against
    const period = seen.period?.samples ?? null;
    const phase = section.phases[which][i] ?? null;
    return [{ daemon, samples: seen.samples, period, expected: period && phase !== null ? expected(phase, period, first, last) : [] }];
  });
  if (!strips.length) return null;
  const drawn = strips.slice(0, STRIPS);
  const handle: ChartHandle = chartCard<{ strip: Strip; sample: number }>({
    name: `${section.anchor}-${which}-strips`, title: `When daemons ran long, ${which} run`, height: 70 + drawn.length * 30,
    about: `A strip for each long-running daemon: bars are samples in which it ran long, ticks beneath them where its period would have it.${strips.length > drawn.length ? ` ${drawn.length} of ${strips.length} daemons.` : ''}`,
    summary: drawn.slice(0, 10).map((s) => `${short(s.daemon.name, 24)} ran long in ${s.samples.length} ${s.samples.length === 1 ? 'sample' : 'samples'}${s.period ? `, about every ${format.figure(s.period)} samples` : ''}`).join('; ') + '.',
    option: (theme) => ({
      ...baseOption(theme),
      grid: { left: 8, right: 20, top: 8, bottom: 26, containLabel: true },
      xAxis: axis(theme, 'sample', { type: 'value', min: first, max: Math.max(first + 1, last), axisLabel: { formatter: (v: number) => format.count(Math.round(v)) } }),
      yAxis: axis(theme, '', { type: 'category', inverse: true, data: drawn.map((s) => short(s.daemon.name, 18)), axisTick: { show: false }, axisLabel: { interval: 0 }, splitLine: { show: true, lineStyle: { color: theme.line, opacity: 0.6 } } }),
      dataZoom: zoom(),
      tooltip: {
        ...(baseOption(theme)['tooltip'] as object),
        formatter: (p: { value: number[]; seriesIndex: number }) => {
          const s = drawn[p.value[1]!]!;
          return tip([short(s.daemon.name, 60), p.seriesIndex === 0 ? `ran long in sample ${p.value[0]}` : `expected about sample ${format.figure(p.value[0])}`, `period: ${periodText(s.daemon.runs[which]?.period ?? null)}`]);
        },
      },
      series: [
        {
          name: 'ran long', type: 'scatter', symbol: 'rect', symbolSize: [4, 18], z: 3,
          data: drawn.flatMap((s, y) => s.samples.map((n) => ({ value: [n, y], itemStyle: { color: chosen.daemon && chosen.daemon !== s.daemon ? theme.muted : theme.dropped } }))),
          itemStyle: { color: theme.dropped },
        },
        { name: 'expected by its period', type: 'scatter', symbol: 'rect', symbolSize: [2, 8], symbolOffset: [0, 9], z: 2, itemStyle: { color: theme.accent, opacity: 0.9 }, data: drawn.flatMap((s, y) => s.expected.map((n) => [n, y])) },
      ],
    }),
    data: {
      columns: [
        { name: 'daemon', title: 'daemon', kind: 'text', of: (r) => r.strip.daemon.name, most: 40 },
        { name: 'sample', title: 'sample', kind: 'number', of: (r) => r.sample },
        { name: 'period_samples', title: 'period, samples', kind: 'number', of: (r) => r.strip.period },
      ],
      rows: () => strips.flatMap((strip) => strip.samples.map((sample) => ({ strip, sample }))),
    },
  });
  chosen.onChange(handle.redraw);
  return handle.element;
}
