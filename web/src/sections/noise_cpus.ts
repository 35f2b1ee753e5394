// CPUs beside each other: the time lost by class, and heat maps of lengths and sources.
import type { NoiseCpu, NoiseLength, NoiseSection } from '../types';
import { axis, baseOption, chartCard, tip, type ChartHandle } from '../parts/chart';
import { short } from '../parts/dom';
import { select } from '../parts/fields';
import * as format from '../parts/format';
import type { Column } from '../parts/table';
import { classColour, type Theme } from '../parts/theme';
import { classesOf, MEANING, sourceKey, sourceName, type Choice } from './noise_model';

const BARS = 16; // CPUs that have a bar of their own
const SOURCES = 24;
const DECADE = 5; // columns of the heat map

const cpuName = (c: NoiseCpu): string => (c.cpu === null ? 'all CPUs' : `CPU ${c.cpu}`);

export function classCard(section: NoiseSection, choice: Choice): HTMLElement[] {
  const { together, cpus } = choice.noise;
  if (!together.detours.ns) return [];
  const most = [...cpus].sort((a, b) => (b.detours.lost_share ?? 0) - (a.detours.lost_share ?? 0)).slice(0, BARS).sort((a, b) => a.cpu! - b.cpu!);
  const rows = cpus.length > 1 ? [together, ...most] : cpus;
  const classes = classesOf([together.detours.class_ns, ...cpus.map((c) => c.detours.class_ns)]);
  const share = (c: NoiseCpu, name: (typeof classes)[number]) => (c.window_ns ? (c.detours.class_ns[name] ?? 0) / c.window_ns : 0);
  const sorted = [...classes].sort((a, b) => share(together, b) - share(together, a));
  return [chartCard<NoiseCpu>({
    name: `${section.anchor}-classes`, title: 'Who took the time', height: 52 + rows.length * 30,
    about: `Share of the time looked at${cpus.length > BARS ? `; the ${BARS} CPUs that lost most` : ''}. ${sorted.map((name) => `${name}: ${MEANING[name]}`).join('; ')}.`,
    summary: `Of ${format.ns(together.window_ns)} looked at, ${format.percent(together.detours.lost_share)} was lost: ${sorted.map((name) => `${name} ${format.percent(share(together, name))}`).join(', ')}.`,
    option: (theme) => ({
      ...baseOption(theme),
      grid: { left: 8, right: 24, top: 8, bottom: 8, containLabel: true },
      xAxis: axis(theme, '', { type: 'value', axisLabel: { formatter: (v: number) => format.percent(v) } }),
      yAxis: axis(theme, '', { type: 'category', inverse: true, data: rows.map(cpuName), axisTick: { show: false } }),
      tooltip: {
        ...(baseOption(theme)['tooltip'] as object), trigger: 'axis', axisPointer: { type: 'shadow' },
        formatter: (p: { dataIndex: number }[]) => {
          const c = rows[p[0]?.dataIndex ?? 0]!;
          return tip([`${cpuName(c)}: ${format.percent(c.detours.lost_share)} lost`, ...classes.map((name) => (c.detours.class_ns[name] === null ? `${name}: not known` : `${name}: ${format.percent(share(c, name))} (${format.ns(c.detours.class_ns[name])})`))]);
        },
      },
      series: classes.map((name) => ({ name, type: 'bar', stack: 'class', barMaxWidth: 22, itemStyle: { color: classColour(name, theme) }, data: rows.map((c) => share(c, name)) })),
    }),
    data: {
      columns: [
        { name: 'cpu', title: 'CPU', kind: 'text', of: cpuName },
        { name: 'lost_share', title: 'lost', kind: 'percent', of: (c) => c.detours.lost_share },
        ...classes.map((name): Column<NoiseCpu> => ({ name: `${name.replace('-', '_')}_ns`, title: name, kind: 'ns', of: (c) => c.detours.class_ns[name] })),
      ],
      rows: () => (cpus.length > 1 ? [together, ...cpus] : cpus),
    },
  }).element];
}

interface Cell { cpu: number; x: number; column: string; ns: number; count: number; share: number; per_s: number }
interface Map2 { columns: string[]; cells: Cell[]; act: (x: number) => void }

function byLength(choice: Choice): Map2 {
  const { together, cpus } = choice.noise;
  const bin = (l: NoiseLength) => Math.floor(Math.log10(Math.max(1, l.low_ns)) * DECADE + 1e-9);
  const first = together.buckets.reduce((least, b) => Math.min(least, bin(b)), Infinity);
  const last = together.buckets.reduce((most, b) => Math.max(most, bin(b)), -Infinity);
  const columns = Number.isFinite(first) ? Array.from({ length: last - first + 1 }, (_, i) => format.bare(format.ns(10 ** ((first + i) / DECADE)))) : [];
  const cells: Cell[] = [];
  cpus.forEach((c, cpu) => {
    const row = new Map<number, Cell>();
    for (const b of c.buckets) {
      const x = bin(b) - first;
      const cell = row.get(x) ?? { cpu, x, column: columns[x] ?? '', ns: 0, count: 0, share: 0, per_s: 0 };
      cell.ns += b.ns;
      cell.count += b.count;
      row.set(x, cell);
    }
    cells.push(...[...row.values()].map((cell) => rate(cell, c)));
  });
  return { columns, cells, act: (x) => choice.set({ low: 10 ** ((first + x) / DECADE), high: 10 ** ((first + x + 1) / DECADE) }) };
}

function rate(cell: Cell, c: NoiseCpu): Cell {
  cell.share = c.window_ns ? cell.ns / c.window_ns : 0;
  cell.per_s = c.window_ns ? (cell.count * 1e9) / c.window_ns : 0;
  return cell;
}

function bySource(choice: Choice): Map2 {
  const { together, cpus } = choice.noise;
  const top = [...together.sources].sort((a, b) => b.ns - a.ns).slice(0, SOURCES);
  const place = new Map(top.map((s, i) => [sourceKey(s), i]));
  const cells: Cell[] = [];
  cpus.forEach((c, cpu) => {
    for (const s of c.sources) {
      const x = place.get(sourceKey(s));
      if (x !== undefined) cells.push(rate({ cpu, x, column: sourceName(s, 60), ns: s.ns, count: s.count, share: 0, per_s: 0 }, c));
    }
  });
  return { columns: top.map((s) => short(s.name, 18)), cells, act: (x) => choice.set({ source: sourceKey(top[x]!) }) };
}

export function heatCard(section: NoiseSection, choice: Choice): HTMLElement[] {
  const { cpus } = choice.noise;
  if (!cpus.some((c) => c.buckets.length)) return [];
  let of: 'length' | 'source' = 'length';
  let value: 'share' | 'per_s' = 'share';
  const map = () => (of === 'length' ? byLength(choice) : bySource(choice));
  let handle: ChartHandle;
  const columns = select<'length' | 'source'>('columns of the heat map', [['length', 'by length'], ['source', 'by source']], of, (v) => { of = v; handle.redraw(); });
  columns.hidden = !choice.noise.settings.kernel; // there are no sources
  const values = select<'share' | 'per_s'>('what the heat map shows', [['share', 'time lost'], ['per_s', 'times per s']], value, (v) => { value = v; handle.redraw(); });
  const words = (v: number) => (value === 'share' ? format.percent(v) : `${format.figure(v)} per s`);
  const most = cpus.reduce((a, b) => ((b.detours.lost_share ?? 0) > (a.detours.lost_share ?? 0) ? b : a));

  function option(theme: Theme) {
    const { columns: names, cells } = map();
    const some = cells.filter((c) => c[value] > 0);
    const low = some.reduce((least, c) => Math.min(least, c[value]), Infinity);
    const high = some.reduce((top, c) => Math.max(top, c[value]), 0);
    const from = Math.log10(Math.min(low, high) || 1e-9);
    const to = Math.max(from + 0.01, Math.log10(high || 1e-9));
    return {
      ...baseOption(theme), legend: undefined,
      grid: { left: 8, right: 20, top: 12, bottom: 76, containLabel: true },
      xAxis: axis(theme, of === 'length' ? 'length of a detour, from' : '', { type: 'category', data: names, nameGap: 28, splitArea: { show: false }, splitLine: { show: false }, axisLabel: of === 'source' ? { rotate: 50, interval: 0, fontSize: 10, hideOverlap: false } : {} }),
      yAxis: axis(theme, '', { type: 'category', inverse: true, data: cpus.map(cpuName), splitLine: { show: false }, axisLabel: cpus.length > 32 ? { fontSize: 9 } : {} }),
      visualMap: {
        min: from, max: to, dimension: 2, orient: 'horizontal', left: 'center', bottom: 0, itemHeight: 160, itemWidth: 12, calculable: false,
        text: [words(10 ** to), words(10 ** from)], textStyle: { color: theme.text },
        inRange: { color: theme.dark ? ['#26303c', '#2f6db3', '#7db8f5', '#f2c744'] : ['#e4edf7', '#8db9e6', '#2f6db3', '#7a1f5c'] },
      },
      tooltip: {
        ...(baseOption(theme)['tooltip'] as object),
        formatter: (p: { dataIndex: number }) => {
          const c = some[p.dataIndex];
          return c ? tip([`${cpuName(cpus[c.cpu]!)}, ${c.column}`, `${format.ns(c.ns)}: ${format.percent(c.share)} of the time`, `${format.count(c.count)} times: ${format.figure(c.per_s)} per s`]) : tip(['']);
        },
      },
      series: [{ name: value === 'share' ? 'time lost' : 'times per s', type: 'heatmap', data: some.map((c) => [c.x, c.cpu, Math.log10(c[value])]), itemStyle: { borderColor: theme.card, borderWidth: 1 } }],
    };
  }
  handle = chartCard<Cell>({
    name: `${section.anchor}-heat`, title: cpus.length > 1 ? 'CPU by CPU' : 'The CPU', height: Math.min(900, 170 + Math.max(2, cpus.length) * (cpus.length > 32 ? 14 : 26)),
    about: 'The darker (in dark colours: the brighter), the more; the scale is logarithmic.',
    hint: 'A click on a cell looks at its lengths, or chooses its source.',
    summary: `Heat map of ${cpus.length} ${cpus.length === 1 ? 'CPU' : 'CPUs'} by length of detour or by source. ${cpus.length > 1 ? `CPU ${most.cpu} lost most: ${format.percent(most.detours.lost_share)} of its time.` : ''}`,
    option,
    controls: [columns, values],
    data: {
      columns: [
        { name: 'cpu', title: 'CPU', kind: 'number', of: (c) => cpus[c.cpu]!.cpu },
        { name: 'column', title: 'length or source', kind: 'text', of: (c) => c.column },
        { name: 'count', title: 'times', kind: 'number', of: (c) => c.count },
        { name: 'ns', title: 'time', kind: 'ns', of: (c) => c.ns },
        { name: 'share', title: 'of the time', kind: 'percent', of: (c) => c.share },
      ],
      rows: () => map().cells,
    },
    onReady: (chart) => chart.on('click', (event: any) => { if (event.componentType === 'series') map().act(event.value[0]); }),
  });
  handle.element.classList.add('wide');
  return [handle.element];
}
