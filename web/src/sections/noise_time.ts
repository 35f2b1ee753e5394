// Noise over the time of the run: the longest detours, what they were made of, and the parts of the run.
import type { NoiseClassNs, NoiseSection, NoiseWorst } from '../types';
import { axis, baseOption, chartCard, tip, zoom, type ChartHandle } from '../parts/chart';
import { short } from '../parts/dom';
import * as format from '../parts/format';
import { sign } from '../parts/marks';
import type { Column } from '../parts/table';
import { classColour } from '../parts/theme';
import { CLASSES, classesOf, classSymbol, logTicks, mainClass, seconds, sourceKey, sourceName, type Choice, type Class } from './noise_model';

const BARS = 30; // of the longest, drawn each on its own

/** "thread 56.2 ms, irq 0.3 ms", the largest first. */
function madeOf(of: NoiseClassNs): string[] {
  return CLASSES.filter((name) => of[name]).sort((a, b) => of[b]! - of[a]!).map((name) => `${name}: ${format.ns(of[name])}`);
}

const classColumns = (classes: Class[]): Column<NoiseWorst>[] => classes.map((name) => ({ name: `${name.replace('-', '_')}_ns`, title: name, kind: 'ns', of: (w: NoiseWorst) => w.class_ns[name] }));

export function worstCards(section: NoiseSection, choice: Choice): HTMLElement[] {
  const worst = choice.noise.worst;
  if (!worst.length) return [];
  const classes = classesOf(worst.map((w) => w.class_ns));
  const columns: Column<NoiseWorst>[] = [
    { name: 'begin_ns', title: 'at', kind: 'number', of: (w) => w.begin_ns, show: (w) => seconds(w.begin_ns) },
    { name: 'cpu', title: 'CPU', kind: 'number', of: (w) => w.cpu },
    { name: 'ns', title: 'length', kind: 'ns', of: (w) => w.ns },
    { name: 'combination', title: 'made of', kind: 'text', of: (w) => w.name, most: 60 },
    ...classColumns(classes),
  ];
  const told = (w: NoiseWorst) => tip([`${format.ns(w.ns)} on CPU ${w.cpu}`, `at ${seconds(w.begin_ns)}`, short(w.name, 160), ...madeOf(w.class_ns)]);
  const groups = CLASSES.map((name) => ({ name, list: worst.filter((w) => mainClass(w.class_ns) === name) })).filter((g) => g.list.length);
  const longest = worst.reduce((a, b) => (b.ns > a.ns ? b : a));
  const shortest = worst.reduce((least, w) => Math.min(least, w.ns), Infinity);
  // within a decade, a logarithm would only make crooked ticks
  const logged = longest.ns > 10 * shortest;
  const scaled = (ns: number) => (logged ? Math.log10(ns) : ns);
  const low = scaled(shortest);
  const high = scaled(longest.ns);
  const margin = Math.max(logged ? 0.05 : 1, (high - low) * 0.08);
  const drawn = worst.slice(0, BARS);
  const height = Math.max(240, 44 + drawn.length * 20);

  const timeline = chartCard<NoiseWorst>({
    name: `${section.anchor}-worst`, title: 'Worst detours', height,
    about: 'When the longest ones began, and how long they were. Shape and colour: the class that took most of them.',
    summary: `The ${worst.length} longest detours over the ${format.ns(choice.noise.elapsed_ns)} of the run. The longest took ${format.ns(longest.ns)} on CPU ${longest.cpu}, at ${seconds(longest.begin_ns)}: ${madeOf(longest.class_ns).join(', ')}.`,
    option: (theme) => ({
      ...baseOption(theme),
      grid: { left: 40, right: 20, top: 14, bottom: 26, containLabel: true },
      xAxis: axis(theme, 'time of the run', { type: 'value', min: 0, max: choice.noise.elapsed_ns / 1e9, axisLabel: { formatter: (v: number) => format.ns(v * 1e9) } }),
      yAxis: axis(theme, 'length', { type: 'value', min: low - margin, max: high + margin, nameGap: 12, axisTick: logged ? { customValues: logTicks(low, high) } : {}, axisLabel: { ...(logged ? { customValues: logTicks(low, high) } : {}), showMinLabel: logged, showMaxLabel: logged, formatter: (v: number) => (logged ? format.ns(10 ** v) : format.nsBetween(v, low, high)) } }),
      dataZoom: zoom(),
      tooltip: { ...(baseOption(theme)['tooltip'] as object), formatter: (p: { seriesIndex: number; dataIndex: number }) => told(groups[p.seriesIndex]!.list[p.dataIndex]!) },
      series: groups.map((g) => ({
        name: g.name, type: 'scatter', symbolSize: 11, ...sign(classSymbol(g.name), classColour(g.name, theme), theme, 0.9),
        data: g.list.map((w) => [w.begin_ns / 1e9, scaled(w.ns)]),
      })),
    }),
    data: { columns, rows: () => worst },
  });

  const used = classesOf(drawn.map((w) => w.class_ns));
  const made = chartCard<NoiseWorst>({
    name: `${section.anchor}-worst-made`, title: 'What the worst were made of', height,
    about: `The time of each by class, longest first${drawn.length < worst.length ? `; the ${drawn.length} longest of ${worst.length}` : ''}. Hover over one to see the sources that followed each other in it.`,
    summary: `Of each of the longest detours, the time by class. ${drawn.slice(0, 3).map((w) => `${format.ns(w.ns)}: ${madeOf(w.class_ns).slice(0, 2).join(', ')}`).join('; ')}.`,
    option: (theme) => ({
      ...baseOption(theme),
      grid: { left: 8, right: 20, top: 8, bottom: 8, containLabel: true },
      xAxis: axis(theme, '', { type: 'value', axisLabel: { formatter: (v: number) => format.ns(v) } }),
      yAxis: axis(theme, '', { type: 'category', inverse: true, data: drawn.map((w) => `CPU ${w.cpu} · ${seconds(w.begin_ns)}`), axisTick: { show: false }, axisLabel: { interval: 0, fontSize: 11 } }),
      tooltip: { ...(baseOption(theme)['tooltip'] as object), trigger: 'axis', axisPointer: { type: 'shadow' }, formatter: (p: { dataIndex: number }[]) => told(drawn[p[0]?.dataIndex ?? 0]!) },
      series: used.map((name) => ({ name, type: 'bar', stack: 'class', barCategoryGap: '25%', itemStyle: { color: classColour(name, theme) }, data: drawn.map((w) => w.class_ns[name] ?? 0) })),
    }),
    data: { columns, rows: () => drawn },
  });
  return [timeline.element, made.element];
}

interface PartRow { begin_ns: number; end_ns: number; lost: number | null; of: Partial<Record<Class, number>>; source: number } // lost null: nothing was looked at

/** Shares of the time of each part, by class; of one CPU where one is chosen, of one source, too. */
function partRows(choice: Choice): PartRow[] {
  const { parts, cpus, together } = choice.noise;
  const keys = cpus.map((c) => c.sources.map(sourceKey));
  return parts.map((part, i) => {
    const row: PartRow = { begin_ns: part.begin_ns, end_ns: parts[i + 1]?.begin_ns ?? choice.noise.elapsed_ns, lost: null, of: {}, source: 0 };
    // a part's window is known of all CPUs together: that of one is taken to be its share of the run's
    const window = choice.cpu < 0 ? part.window_ns : together.window_ns ? (part.window_ns * choice.shown.window_ns) / together.window_ns : 0;
    if (!window) return row;
    row.lost = 0;
    for (const share of part.shares) {
      if (choice.cpu >= 0 && share.cpu !== choice.cpu) continue;
      const source = cpus[share.cpu]?.sources[share.source];
      if (!source) continue;
      const value = share.ns / window;
      row.of[source.class] = (row.of[source.class] ?? 0) + value;
      row.lost! += value;
      if (keys[share.cpu]![share.source] === choice.source) row.source += value;
    }
    return row;
  });
}

export function partsCard(section: NoiseSection, choice: Choice): HTMLElement[] {
  if (!choice.noise.parts.length) return [];
  const all = partRows(choice);
  const known = all.filter((r) => r.lost !== null);
  const worst = known.length ? known.reduce((a, b) => (b.lost! > a.lost! ? b : a)) : null;
  const least = known.length ? known.reduce((a, b) => (b.lost! < a.lost! ? b : a)) : null;
  const about = () => (choice.cpu < 0 ? '' : 'about ');
  const columns: Column<PartRow>[] = [
    { name: 'begin_ns', title: 'from', kind: 'number', of: (r) => r.begin_ns, show: (r) => seconds(r.begin_ns) },
    { name: 'lost_share', title: 'lost', kind: 'percent', of: (r) => r.lost },
    ...CLASSES.filter((name) => all.some((r) => r.of[name])).map((name): Column<PartRow> => ({ name: `${name.replace('-', '_')}_share`, title: name, kind: 'percent', of: (r) => (r.lost === null ? null : r.of[name] ?? 0) })),
    { name: 'source_share', title: 'chosen source', kind: 'percent', of: (r) => (choice.source === null || r.lost === null ? null : r.source) },
  ];
  const handle: ChartHandle = chartCard<PartRow>({
    name: `${section.anchor}-parts`, title: 'Time lost, over the run', height: 320,
    about: 'By part of the run, split by class: a part begins at the time beneath it, and parts need not be equally long. It is of the chosen CPU and source alone, where one is. Shares of one CPU are about right: how long it was looked at is known of the whole run, not of each part. A gap: nothing was looked at.',
    summary: `Share of the time lost in ${all.length} parts of the run${least && worst ? `: from ${format.percent(least.lost)} (at ${seconds(least.begin_ns)}) to ${format.percent(worst.lost)} (at ${seconds(worst.begin_ns)})` : ''}${known.length < all.length ? `; in ${all.length - known.length} nothing was looked at` : ''}.`,
    option: (theme) => {
      const rows = partRows(choice);
      const source = choice.chosen;
      const used = CLASSES.filter((name) => rows.some((r) => r.of[name]));
      return {
        ...baseOption(theme),
        grid: { left: 40, right: 20, top: 14, bottom: 26, containLabel: true },
        xAxis: axis(theme, 'part of the run, by its begin', { type: 'category', data: rows.map((r) => format.bare(format.ns(r.begin_ns))) }),
        yAxis: axis(theme, choice.cpu < 0 ? 'of the time' : 'of the time, about', { type: 'value', nameGap: 12, axisLabel: { formatter: (v: number) => format.percent(v) } }),
        dataZoom: zoom(),
        tooltip: {
          ...(baseOption(theme)['tooltip'] as object), trigger: 'axis', axisPointer: { type: 'shadow' },
          formatter: (p: { dataIndex: number }[]) => {
            const r = rows[p[0]?.dataIndex ?? 0]!;
            if (r.lost === null) return tip([`${seconds(r.begin_ns)} to ${seconds(r.end_ns)}`, 'nothing was looked at']);
            return tip([`${seconds(r.begin_ns)} to ${seconds(r.end_ns)}`, `lost: ${about()}${format.percent(r.lost)}`, source && `${sourceName(source)}: ${format.percent(r.source)}`,
              ...used.filter((name) => r.of[name]).map((name) => `${name}: ${format.percent(r.of[name])}`)]);
          },
        },
        series: source
          ? [{ name: sourceName(source, 30), type: 'bar', itemStyle: { color: classColour(source.class, theme) }, data: rows.map((r) => (r.lost === null ? null : r.source)) }]
          : used.map((name) => ({ name, type: 'bar', stack: 'class', itemStyle: { color: classColour(name, theme) }, data: rows.map((r) => (r.lost === null ? null : r.of[name] ?? 0)) })),
      };
    },
    data: { columns, rows: () => partRows(choice) },
  });
  let before = `${choice.cpu} ${choice.source}`;
  choice.onChange(() => {
    const now = `${choice.cpu} ${choice.source}`;
    if (now !== before) handle.redraw();
    before = now;
  });
  return [handle.element];
}
