// Lengths of detours, log-log: as the loop saw them, as the kernel told them, of the baseline and of a source that was chosen; and who made
// the detours of the lengths that one looks at.
import type { Chart as Given, NoiseCombination, NoiseCpu, NoiseLength, NoiseSection, NoiseSource } from '../types';
import { chartColumn } from '../document';
import { axis, baseOption, chartCard, tip, zoom, type Chart, type ChartHandle } from '../parts/chart';
import { append, button, foreign, h, short } from '../parts/dom';
import { select } from '../parts/fields';
import { meter } from '../parts/figures';
import * as format from '../parts/format';
import { table } from '../parts/table';
import { BIN, binned, logTicks, sourceKey, sourceName, tenTo, within, type Choice } from './noise_model';

interface Curve { name: string; y: (number | null)[]; role: 'user' | 'master' | 'baseline' | 'source' }

type Rates = (number | null)[];

/** Rates of all CPUs, or of one; a curve that is not known is null. */
function ratesOf(given: Given, cpu: number): { user: Rates; master: Rates | null; baseline: Rates | null } {
  const block = cpu < 0 || given.blocks.length < 2 ? 0 : cpu + 1;
  const known = (list: Rates | null) => (list?.some((v) => v !== null) ? list : null);
  return { user: chartColumn(given, block, 'seen') ?? [], master: known(chartColumn(given, block, 'told')), baseline: known(chartColumn(given, 0, 'baseline')) };
}

/** log10 of the shortest that each curve is of: smoothing runs beyond it, but nothing shorter was seen. */
function shortestOf(section: NoiseSection, cpu: NoiseCpu): Record<Curve['role'], number> {
  const least = (list: readonly NoiseLength[]) => Math.log10(Math.max(1, list.reduce((low, b) => Math.min(low, b.low_ns), Infinity)));
  return {
    user: Math.log10(Math.max(1, cpu.detours.min_ns ?? cpu.threshold_ns)), master: least(cpu.buckets.filter((b) => b.master_count)),
    baseline: Math.log10(Math.max(1, section.baseline?.diff.base.threshold_ns ?? cpu.threshold_ns)), source: -Infinity,
  };
}

export function densityCards(section: NoiseSection, choice: Choice): HTMLElement[] {
  const given = section.charts['noise']!;
  if (!given) return []; // nothing to draw
  const density = ratesOf(given, -1);
  const grid = chartColumn(given, 0, 'length_ns')!.map((ns) => Math.log10(Math.max(ns!, 1))); // log10 of the lengths at which they are drawn
  const shortest = shortestOf(section, choice.noise.together);
  const edge = Math.min(shortest.user, shortest.master, density.baseline ? shortest.baseline : Infinity);
  const lowest = Math.max(grid[0]!, Math.floor(edge / BIN) * BIN);
  const highest = grid[grid.length - 1]!;
  // bins of a histogram are steps between whole multiples of BIN
  const steps = Array.from({ length: Math.ceil((highest - lowest) / BIN) + 1 }, (_, i) => (Math.floor(lowest / BIN) + i + 0.5) * BIN);
  let form = 'density' as 'density' | 'histogram';
  const kernel = choice.noise.settings.kernel;

  function curves(): { x: number[]; list: Curve[] } {
    const shown = choice.shown;
    const window = shown.window_ns;
    const list: Curve[] = [];
    const x = form === 'density' ? grid : steps;
    const make = (lengths: readonly NoiseLength[]) => binned(lengths, x, window);
    const told = form === 'density' ? ratesOf(given, choice.cpu) : null;
    list.push({ name: 'user level', role: 'user', y: told ? told.user : make(shown.buckets) });
    if (kernel) {
      // of one bucket of strict time, the detours are the count: the mean of a bucket stays in it
      const master = shown.buckets.filter((b) => b.master_count).map((b) => ({ low_ns: b.low_ns, high_ns: b.high_ns, count: b.master_count!, ns: b.master_ns ?? 0 }));
      const y = told ? told.master ?? [] : make(master);
      if (y.some((v) => v! > 0)) list.push({ name: 'master', role: 'master', y });
    }
    if (density.baseline) {
      list.push({ name: 'baseline', role: 'baseline', y: form === 'density' ? density.baseline : steps.map((s) => at(grid, density.baseline!, s)) });
    }
    const source = choice.chosen;
    // bins in either form: of single sources there are no densities
    if (source) list.push({ name: sourceName(source, 30), role: 'source', y: make(source.lengths) });
    if (form === 'density') {
      const from = shortestOf(section, shown);
      for (const c of list) c.y = c.y.map((v, i) => (x[i]! < from[c.role] ? null : v));
    }
    return { x, list };
  }

  const floor = () => Math.floor(Math.log10(0.2 / Math.max(1e-9, choice.shown.window_ns / 1e9)));
  let handle: ChartHandle;
  let telling = false; // the range is told to the chart, not by it

  const cpu = select('CPU that the densities, sources and contributors are of', [['-1', 'all CPUs'], ...choice.noise.cpus.map((c, i) => [String(i), `CPU ${c.cpu}`] as const)],
    String(choice.cpu), (v) => choice.set({ cpu: Number(v) }));
  cpu.hidden = choice.noise.cpus.length < 2;
  const shape = select<typeof form>('how lengths are shown', [['density', 'density'], ['histogram', 'histogram']], form, (v) => { form = v; handle.redraw(); });

  const ticks = () => {
    const customValues = logTicks(choice.low > 0 ? Math.max(lowest, Math.log10(choice.low)) : lowest, choice.high < Infinity ? Math.min(highest, Math.log10(choice.high)) : highest);
    return { axisTick: { show: true, customValues }, axisLabel: { customValues } };
  };

  function option(theme: Parameters<Parameters<typeof chartCard>[0]['option']>[0]) {
    const { x, list } = curves();
    const least = floor();
    const filtered = list.some((c) => c.role === 'source');
    const style = {
      user: { color: theme.series[0], type: 'solid' as const, width: 2, area: 0.12 },
      master: { color: theme.series[1], type: 'dashed' as const, width: 2, area: 0 },
      baseline: { color: theme.muted, type: 'dotted' as const, width: 2, area: 0 },
      source: { color: theme.series[4], type: 'solid' as const, width: 3, area: 0.3 },
    };
    const [zoomed] = zoom();
    return {
      ...baseOption(theme),
      grid: { left: 44, right: 20, top: 14, bottom: 26, containLabel: true },
      xAxis: axis(theme, 'length of a detour', { type: 'value', min: lowest, max: highest, ...ticks(), axisLabel: { ...ticks().axisLabel, formatter: (v: number) => format.ns(10 ** v) } }),
      yAxis: axis(theme, 'per s of a CPU and decade', { type: 'value', min: least, minInterval: 1, nameGap: 12, axisLabel: { formatter: tenTo } }),
      dataZoom: [{ ...zoomed, minSpan: 0.5, ...(choice.ranged ? { startValue: Math.max(lowest, Math.log10(Math.max(choice.low, 1))), endValue: Math.min(highest, Math.log10(choice.high)) } : {}) }],
      tooltip: {
        ...(baseOption(theme)['tooltip'] as object), trigger: 'axis',
        formatter: (params: { dataIndex: number }[]) => {
          const i = params[0]?.dataIndex ?? 0;
          return tip([format.ns(10 ** x[i]!), ...list.map((c) => `${c.name}: ${format.figure(c.y[i] ?? null)} per s and decade${c.role === 'source' ? ', its occurrences' : ''}`)]);
        },
      },
      series: list.map((c) => {
        const s = style[c.role];
        const dim = filtered && c.role !== 'source' ? 0.45 : 1;
        return {
          name: c.name, type: 'line', symbol: 'none', step: form === 'histogram' || c.role === 'source' ? 'middle' : false, z: c.role === 'source' ? 4 : 2,
          lineStyle: { color: s.color, type: s.type, width: s.width, opacity: dim }, itemStyle: { color: s.color, opacity: dim },
          areaStyle: s.area ? { color: s.color, opacity: s.area * dim, origin: 'start' } : undefined,
          data: x.map((v, i) => [v, (c.y[i] ?? 0) > 10 ** least ? Math.log10(c.y[i]!) : form === 'histogram' ? least : null]),
        };
      }),
    };
  }

  const peak = density ? peakOf(grid, density.user) : peakOf(steps, binned(choice.noise.together.buckets, steps, choice.noise.together.window_ns));
  handle = chartCard<{ x: number; y: (number | null)[] }>({
    name: `${section.anchor}-density`, title: 'Lengths of detours', height: 380,
    about: `User level: as the loop saw them; master: as the kernel told them. Both axes are logarithmic. The densities have a bandwidth of ${format.figure(given.bandwidth)} decades, and begin at the shortest detour${density.baseline ? ', that of the baseline at its threshold' : ''}. A chosen source is a histogram of the occurrences of the source, not of whole detours: it may stand above them.`,
    hint: `Zoom in (+ and −, Ctrl and the wheel) and the contributors beneath are those of the lengths in view; choose a source in the table to see it.`,
    summary: `Density of the lengths of ${format.count(choice.noise.together.detours.count)} detours, from ${format.ns(choice.noise.together.detours.min_ns)} to ${format.ns(choice.noise.together.detours.max_ns)}; most have about ${format.ns(peak)}.`
      + (kernel ? '' : " The kernel's side was not seen, so there is no master distribution.") + (density.baseline ? " The baseline's density is drawn over it." : ''),
    option,
    axes: () => `${choice.low} ${choice.high}`, // its zoom is what is chosen
    controls: [cpu, shape],
    data: {
      columns: [
        { name: 'length_ns', title: 'length', kind: 'ns', of: (r) => 10 ** r.x },
        { name: 'user', title: 'as the loop saw', kind: 'number', of: (r) => r.y[0] },
        { name: 'master', title: 'as the kernel told', kind: 'number', of: (r) => r.y[1] },
        { name: 'baseline', title: 'baseline', kind: 'number', of: (r) => r.y[2] },
        { name: 'source', title: 'chosen source', kind: 'number', of: (r) => r.y[3] },
      ],
      rows: () => {
        const { x, list } = curves();
        return x.flatMap((v, i) => (v < lowest ? [] : { x: v, y: (['user', 'master', 'baseline', 'source'] as const).map((role) => list.find((c) => c.role === role)?.y[i] ?? null) }));
      },
    },
    onReady: (chart: Chart) => {
      let timer = 0;
      chart.on('datazoom', () => {
        if (telling) return;
        window.clearTimeout(timer);
        timer = window.setTimeout(() => {
          const z = (chart.getOption() as any).dataZoom?.[0];
          if (!z) return;
          const value = (percent: number) => 10 ** (lowest + ((highest - lowest) * percent) / 100);
          telling = true;
          choice.set({ low: z.start <= 0.01 ? 0 : value(z.start), high: z.end >= 99.99 ? Infinity : value(z.end) });
          telling = false;
        }, 60);
      });
    },
  });
  handle.element.classList.add('wide');
  let before = { cpu: choice.cpu, source: choice.source };
  choice.onChange(() => {
    cpu.value = String(choice.cpu);
    if (before.cpu !== choice.cpu || before.source !== choice.source) {
      before = { cpu: choice.cpu, source: choice.source };
      handle.redraw();
      return;
    }
    handle.chart()?.setOption({ xAxis: ticks() });
    if (!telling) {
      telling = true;
      const part = (value: number) => Math.min(100, Math.max(0, (100 * (Math.log10(Math.max(value, 1)) - lowest)) / (highest - lowest)));
      handle.chart()?.dispatchAction({ type: 'dataZoom', dataZoomIndex: 0, start: choice.low > 0 ? part(choice.low) : 0, end: choice.high < Infinity ? part(choice.high) : 100 });
      telling = false;
    }
  });
  return kernel ? [handle.element, contributors(section, choice)] : [handle.element];
}

function at(grid: readonly number[], y: Rates, x: number): number {
  const step = grid.length > 1 ? (grid[grid.length - 1]! - grid[0]!) / (grid.length - 1) : 1;
  return y[Math.round((x - grid[0]!) / step)] ?? 0;
}

function peakOf(grid: readonly number[], y: Rates): number {
  let best = 0;
  y.forEach((v, i) => { if ((v ?? 0) > (y[best] ?? 0)) best = i; });
  return 10 ** (grid[best] ?? 0);
}

interface Contributor { name: string; count: number; ns: number; share: number; key: string }

function rowsOf(list: readonly (NoiseCombination | NoiseSource)[], low: number, high: number, total: number): Contributor[] {
  const rows: Contributor[] = [];
  for (const c of list) {
    const { count, ns } = within(c.lengths, low, high);
    if (!count) continue;
    const source = 'class' in c ? c : null;
    rows.push({ name: source ? sourceName(source, 60) : c.name, count, ns, share: total ? ns / total : 0, key: source ? sourceKey(source) : c.name });
  }
  return rows.sort((a, b) => b.ns - a.ns);
}

function contributors(section: NoiseSection, choice: Choice): HTMLElement {
  const field = (label: string) => h('input', { type: 'number', min: 0, step: 'any', class: 'length', 'aria-label': `${label} length in µs`, onchange: () => apply() });
  const from = field('least');
  const to = field('greatest');
  const words = h('p', { 'aria-live': 'polite', class: 'range' });
  const apply = () => choice.set({ low: Math.max(0, Number(from.value) * 1e3 || 0), high: to.value === '' || !(Number(to.value) > 0) ? Infinity : Number(to.value) * 1e3 });
  const all = button('All lengths', () => choice.set({ low: 0, high: Infinity }));

  const made = table<Contributor>({
    name: `${section.anchor}-contributors`, caption: 'What detours of these lengths are made of', rows: [], page: 12, filter: true,
    columns: [
      { name: 'combination', title: 'combination of sources', kind: 'text', of: (r) => r.name, most: 52 },
      { name: 'count', title: 'detours', kind: 'number', of: (r) => r.count },
      { name: 'ns', title: 'time', kind: 'ns', of: (r) => r.ns },
      { name: 'share', title: 'of their time', kind: 'percent', of: (r) => r.share, show: (r) => meter(r.share) },
    ],
  });
  const alone = table<Contributor>({
    name: `${section.anchor}-alone`, caption: 'Sources that alone take so long', rows: [], page: 12,
    columns: [
      { name: 'source', title: 'source', kind: 'text', of: (r) => r.name, most: 50 },
      { name: 'count', title: 'times', kind: 'number', of: (r) => r.count },
      { name: 'ns', title: 'time', kind: 'ns', of: (r) => r.ns },
    ],
    onRow: (row) => choice.set({ source: choice.source === row.key ? null : row.key }),
    rowLabel: (row) => `choose ${short(row.name, 60)}`,
    selected: (row) => row.key === choice.source,
  });

  let last = '';
  function show(): void {
    const cpu = choice.shown;
    from.value = choice.low > 0 ? String(Number((choice.low / 1e3).toPrecision(4))) : '';
    to.value = choice.high < Infinity ? String(Number((choice.high / 1e3).toPrecision(4))) : '';
    const key = `${choice.cpu} ${choice.low} ${choice.high}`;
    if (key === last) return alone.refresh();
    last = key;
    const total = within(cpu.buckets, choice.low, choice.high);
    made.set(rowsOf(cpu.combinations, choice.low, choice.high, total.ns));
    alone.set(rowsOf(cpu.sources, choice.low, choice.high, total.ns));
    const span = choice.ranged
      ? choice.high === Infinity ? `of ${format.ns(choice.low)} and longer` : choice.low > 0 ? `from ${format.ns(choice.low)} to ${format.ns(choice.high)}` : `shorter than ${format.ns(choice.high)}`
      : 'of all lengths';
    words.textContent = `${format.count(total.count)} detours ${span}${cpu.cpu === null ? '' : ` on CPU ${cpu.cpu}`}: ${format.ns(total.ns)}, ${format.percent(cpu.detours.ns ? total.ns / cpu.detours.ns : 0)} of the time lost.`;
  }
  choice.onChange(show);
  const element = h('div', { class: 'card wide', id: `${section.anchor}-range` },
    h('h3', {}, 'Contributors'),
    h('p', { class: 'muted' }, 'Of the lengths in view; or write them here. They are rounded outward to the edges of buckets.'),
    h('div', { class: 'tools' }, h('label', {}, 'from ', from, ' µs'), h('label', {}, 'to ', to, ' µs'), all), words,
    h('div', { class: 'pair' }, h('div', {}, h('h4', {}, 'In succession'), made.element), h('div', {}, h('h4', {}, 'Alone this long'), alone.element)));
  show();
  return element;
}

/** The table that chooses. */
export function sourceCard(section: NoiseSection, choice: Choice): HTMLElement {
  const words = h('p', { 'aria-live': 'polite', class: 'chosen' });
  const none = button('Show all', () => choice.set({ source: null }), 'no source chosen: show all');
  const list = table<NoiseSource>({
    name: `${section.anchor}-sources`, caption: 'Sources', rows: [], page: 15, filter: true, sort: { column: 'ns', down: true },
    columns: [
      { name: 'source', title: 'source', kind: 'text', of: (s) => s.name, most: 40 },
      { name: 'class', title: 'class', kind: 'text', of: (s) => s.class },
      { name: 'share', title: 'of time lost', kind: 'percent', of: (s) => s.share, show: (s) => (s.share === null ? format.DASH : meter(s.share)) },
      { name: 'ns', title: 'time', kind: 'ns', of: (s) => s.ns },
      { name: 'count', title: 'times', kind: 'number', of: (s) => s.count },
      { name: 'per_s', title: 'per s', kind: 'number', of: (s) => (choice.shown.window_ns ? (s.count * 1e9) / choice.shown.window_ns : null), show: (s) => format.figure(choice.shown.window_ns ? (s.count * 1e9) / choice.shown.window_ns : null) },
      { name: 'min_ns', title: 'min', kind: 'ns', of: (s) => s.min_ns },
      { name: 'mean_ns', title: 'mean', kind: 'ns', of: (s) => s.mean_ns },
      { name: 'sigma_ns', title: 'σ', kind: 'ns', of: (s) => s.sigma_ns },
      { name: 'max_ns', title: 'max', kind: 'ns', of: (s) => s.max_ns },
      { name: 'period_ns', title: 'period', kind: 'ns', of: (s) => s.period_ns, title_of: 'from one occurrence to the next; none where it does not hold' },
      { name: 'period_share', title: 'in period', kind: 'percent', of: (s) => s.period_share, title_of: 'of its intervals, those within 5 % of the period or of a multiple of it' },
    ],
    onRow: (s) => choice.set({ source: choice.source === sourceKey(s) ? null : sourceKey(s) }),
    rowLabel: (s) => `choose ${sourceName(s, 60)}`,
    selected: (s) => sourceKey(s) === choice.source,
  });
  let cpu = -2;
  function show(): void {
    if (cpu !== choice.cpu) list.set(choice.shown.sources);
    else list.refresh();
    cpu = choice.cpu;
    const s = choice.chosen;
    none.hidden = choice.source === null;
    words.replaceChildren();
    if (s) append(words, 'Chosen: ', foreign(sourceName(s, 60), 80), `: ${format.count(s.count)} times, ${format.ns(s.ns)}, ${format.percent(s.share)} of the time lost${s.period_ns === null ? '' : `, every ${format.ns(s.period_ns)}`}.`);
    else append(words, choice.source === null ? 'Choose a source: lengths and time are shown of its occurrences.' : 'The chosen source does not occur on this CPU.');
  }
  choice.onChange(show);
  show();
  return h('div', { class: 'card wide', id: `${section.anchor}-source-card` }, h('h3', {}, 'Sources'), h('div', { class: 'tools' }, words, none), list.element);
}
