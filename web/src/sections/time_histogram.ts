// How a measure is distributed: a histogram whose bins follow the zoom, and the density in the same units (executions a bin).
import { chartColumn, type Measure } from '../document';
import { axis, baseOption, chartCard, tip, zoom, type Chart, type ChartHandle } from '../parts/chart';
import { below, binsOf } from '../parts/bins';
import { choices } from '../parts/fields';
import * as format from '../parts/format';
import { remember } from '../parts/remember';
import type { Theme } from '../parts/theme';
import { calmly, columnOf, FAILED, grid, KEPT, meanSigma, measureField, ticks, visibleWithin, WARMUP, type MeasureColumn, type Time } from './time_common';

function sorted(time: Time, column: MeasureColumn, keptOnly: boolean): Float64Array {
  const list: number[] = [];
  const { rule } = time.section.columns;
  for (let i = 0; i < time.count; i++) {
    const v = column.values[i];
    if (v == null || (keptOnly ? rule[i] !== KEPT : rule[i] === WARMUP || rule[i] === FAILED)) continue;
    list.push(v);
  }
  return Float64Array.from(list).sort();
}

export type Bin = [from: number, to: number, all: number, kept: number];

export function histogramCard(time: Time): ChartHandle {
  const { section } = time;
  const chosen = <T>(name: string, initial: T) => remember<T>(`${section.anchor}-histogram-${name}`, initial);
  const measure = chosen<Measure>('measure', time.columns[0]!.measure);
  const scale = chosen<'value' | 'log'>('scale', 'value');
  const which = chosen<'kept' | 'all' | 'both'>('which', 'both');
  let column = columnOf(time, measure.value);
  let all: Float64Array = new Float64Array(0);
  let kept: Float64Array = new Float64Array(0);
  let bins: Bin[] = [];
  let range: [number, number] = [0, 1];
  let loaded = '';
  let drawn = ''; // the axis that the chart has: its window is of use for the same one only

  function load(): void {
    const key = `${column.measure} ${which.value}`;
    if (loaded === key) return;
    loaded = key;
    all = sorted(time, column, false);
    kept = sorted(time, column, true);
    const values = which.value === 'kept' ? kept : all;
    const low = values[0] ?? 0;
    const high = values[values.length - 1] ?? 1;
    const pad = (high - low || Math.max(high * 0.01, 1)) * 0.04;
    range = [Math.max(low - pad, Math.min(low, 1)), high + pad];
  }
  function axisRange(): [number, number] {
    return scale.value === 'log' ? [Math.max(range[0], range[1] / 1e6, 1), range[1]] : range;
  }
  /** Of what is in sight. */
  function makeBins(from: number, to: number): void {
    const [scaled, back] = scale.value === 'log' ? [Math.log10, (v: number) => 10 ** v] : [(v: number) => v, (v: number) => v];
    const seen = (list: Float64Array) => list.subarray(below(list, from), below(list, to)).map(scaled);
    const lists = [seen(all), seen(kept)] as const;
    const values = which.value === 'kept' ? lists[1] : lists[0];
    bins = [];
    if (!values.length) return;
    const [low, high] = [values[0]!, values[values.length - 1]!];
    const count = binsOf(values, low, high);
    const width = (high - low) / count || Math.max(Math.abs(low) * 1e-3, 1e-3);
    for (let k = 0; k < count; k++) bins.push([back(low + k * width), back(low + (k + 1) * width), 0, 0]);
    lists.forEach((list, of) => list.forEach((v) => { if (v >= low && v <= high) bins[Math.min(count - 1, Math.floor((v - low) / width))]![of ? 3 : 2]++; }));
  }
  /** The density, in executions a bin as wide as those shown. */
  function curve(key: 'all' | 'kept'): [number, number][] {
    const density = section.charts[`density_${column.measure}`];
    const [ns, per_ns] = [chartColumn(density, 0, 'value_ns'), chartColumn(density, 0, `${key}_per_ns`)];
    const first = bins[0];
    if (!ns || !per_ns || !first) return [];
    const n = key === 'all' ? all.length : kept.length;
    const width = first[1] - first[0];
    const ratio = Math.log(first[1] / first[0]);
    return ns.map((x, i) => [x!, (per_ns[i] ?? 0) * n * (scale.value === 'log' ? x! * ratio : width)] as [number, number]).filter(([x]) => x > 0 || scale.value !== 'log');
  }
  function series(theme: Theme): Record<string, unknown>[] {
    const [low, high] = axisRange();
    const bars = (key: 'all' | 'kept', colour: string, index: 2 | 3) => ({
      id: `bins-${key}`, name: key, type: 'custom', encode: { x: [0, 1], y: 2 }, z: key === 'kept' ? 3 : 2, clip: true,
      itemStyle: { color: colour, opacity: key === 'all' ? 0.45 : 0.75 },
      data: bins.map((b) => [b[0], b[1], b[index], b[2], b[3]]),
      renderItem: (_: unknown, api: any) => {
        const a = api.coord([Math.max(api.value(0), low), api.value(2)]);
        const b = api.coord([Math.min(api.value(1), high), 0]);
        return { type: 'rect', shape: { x: a[0], y: a[1], width: Math.max(1, b[0] - a[0] - 1), height: b[1] - a[1] }, style: { fill: api.visual('color'), opacity: key === 'all' ? 0.45 : 0.75 } };
      },
    });
    const line = (key: 'all' | 'kept', colour: string) => ({
      id: `density-${key}`, name: `density of ${key}`, type: 'line', data: curve(key), showSymbol: false, smooth: false, z: 5, silent: true,
      lineStyle: { color: colour, width: 2, type: key === 'all' ? 'dashed' : 'solid' }, itemStyle: { color: colour },
    });
    const list: Record<string, unknown>[] = [];
    if (which.value !== 'kept') list.push(bars('all', theme.series[1]!, 2));
    if (which.value !== 'all') list.push(bars('kept', theme.kept, 3));
    if (which.value !== 'kept') list.push(line('all', theme.series[1]!));
    if (which.value !== 'all') list.push(line('kept', theme.text));
    return list;
  }
  function option(theme: Theme) {
    const base = baseOption(theme) as any;
    load();
    const [min, max] = axisRange();
    const same = drawn === `${loaded} ${scale.value}`;
    drawn = `${loaded} ${scale.value}`;
    const window = visibleWithin(same ? handle.chart() : null, min, max);
    makeBins(...window);
    return {
      ...base,
      grid: grid(14, 26),
      dataZoom: zoom(),
      xAxis: axis(theme, column.name, { type: scale.value, min, max, ...ticks(scale.value, ...window) }),
      yAxis: axis(theme, 'executions', { type: 'value', min: 0, minInterval: 1, nameGap: 12, axisLabel: { formatter: (v: number) => format.count(v) } }),
      tooltip: {
        ...base.tooltip,
        formatter: (p: any) => (Array.isArray(p.value) && p.value.length > 3
          ? tip([`${format.nsBetween(p.value[0], p.value[0], p.value[1])} to ${format.nsBetween(p.value[1], p.value[0], p.value[1])}`, `${format.count(p.value[3])} measured`, `${format.count(p.value[4])} kept`]) : tip([])),
      },
      series: series(theme),
    };
  }
  let themeNow: Theme | null = null;
  const rebin = calmly(() => {
    const chart = handle.chart();
    if (!chart || !themeNow) return;
    const window = visibleWithin(chart, ...axisRange());
    makeBins(...window);
    chart.setOption({ series: series(themeNow), ...(scale.value === 'log' ? { xAxis: ticks('log', ...window) } : {}) });
  });
  const median = section.kept[column.measure]?.median_ns;
  const handle: ChartHandle = chartCard<Bin>({
    name: `${section.anchor}-histogram`, title: 'How it is distributed', height: 320,
    about: 'Executions a bin. The lines are densities in the same unit.', hint: 'The bins follow the zoom.',
    summary: `Histogram and density of ${column.name}: ${meanSigma(section.kept[column.measure])} of those kept, median ${format.ns(median ?? null)}; `
      + `without rules ${meanSigma(section.unfiltered[column.measure])}.`,
    controls: [
      measureField(time.columns.map((c) => c.measure), column.measure, (m) => {
        measure.value = m;
        column = columnOf(time, m);
        handle.redraw();
        rebin();
      }),
      choices('x axis', [['value', 'linear'], ['log', 'log']], scale.value, (v) => { scale.value = v; handle.redraw(); rebin(); }),
      choices('which executions', [['both', 'both'], ['kept', 'kept'], ['all', 'all']], which.value, (v) => { which.value = v; handle.redraw(); rebin(); }),
    ],
    option: (theme) => option(themeNow = theme),
    data: {
      columns: [
        { name: 'from_ns', title: 'from', kind: 'ns', of: (b) => b[0], show: (b) => format.nsBetween(b[0], b[0], b[1]) },
        { name: 'to_ns', title: 'to', kind: 'ns', of: (b) => b[1], show: (b) => format.nsBetween(b[1], b[0], b[1]) },
        { name: 'measured', title: 'measured', kind: 'number', of: (b) => b[2] }, { name: 'kept', title: 'kept', kind: 'number', of: (b) => b[3] },
      ],
      rows: () => {
        if (!bins.length) {
          load();
          makeBins(...axisRange());
        }
        return bins;
      },
    },
    onReady: (chart: Chart) => { chart.on('datazoom', rebin); },
  });
  return handle;
}
