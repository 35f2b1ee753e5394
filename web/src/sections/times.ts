// Several runs of `tare time` together: which is faster, how sure that is, and how the spread grows with the length of the task.
import { chartColumn, type Measure } from '../document';
import type { Doc, Summary, TimeComparison, TimeComparisonRow, TimeSection } from '../types';
import { axis, baseOption, chartCard, tip, zoom, type ChartHandle } from '../parts/chart';
import { foreign, h, short } from '../parts/dom';
import { choices } from '../parts/fields';
import * as format from '../parts/format';
import { whisker } from '../parts/marks';
import { table, type Column } from '../parts/table';
import { remember } from '../parts/remember';
import type { Theme } from '../parts/theme';
import { calmly, ticks, visibleX } from './time_common';
import { numbered, titleOf } from '../parts/titles';
import { grid, intervalWords, isShare, MEASURE_NAME, measureField, tick, tooFew } from './time_common';

interface Run {
  section: TimeSection;
  index: number; // of doc.sections
  place: number; // among the runs: of its colour, in every chart
  title: string; // whole, told apart from the others
  label: string; // the same, shorter
  mark: string; // the same, beside a point
  lines: string; // the same, for the narrow place beside an axis
}


const SYMBOLS = ['circle', 'rect', 'triangle', 'diamond', 'roundRect', 'pin', 'arrow'];

function parameters(section: TimeSection, most = 40): string {
  return section.parameters.map((p) => `${short(p.name, 20)} = ${short(p.value, 20)}`).join(', ').slice(0, most * 4);
}

function runsOf(doc: Doc): Run[] {
  const list = doc.sections.flatMap((section, index) => (section.kind === 'time' ? [{ section, index }] : []));
  const marks = list.map(({ section }) => short(section.parameters.map((p) => p.value).join(', ') || section.title, 18));
  return list.map(({ section, index }, place) => {
    const given = parameters(section);
    // its number, where it is of the same name as another, or where names differ only in what is cut out of them
    const more = titleOf(doc, section).slice(section.title.length) || (list.some((other) => other.index !== index && short(other.section.title, 22) === short(section.title, 22)) ? ` (${numbered(doc, section)})` : '');
    const mark = marks[place]!;
    return { section, index, place, title: section.title + more, mark: marks.some((other, i) => i !== place && other === mark) ? `${short(mark, 12)} (${numbered(doc, section)})` : mark, label: `${given ? `${short(section.title, 28)} (${short(given, 28)})` : short(section.title, 36)}${more}`, lines: [short(section.title, 22) + more, ...(given ? [short(given, 22)] : [])].join('\n') };
  });
}

/** Those of which something was kept: the others have no measure, whichever it is. */
const measured = (runs: Run[]): Run[] => runs.filter((r) => Object.values(r.section.kept).some((s) => s?.n));

/** The grade of process time that all have, else ET. */
function common(runs: Run[]): Measure {
  const some = measured(runs);
  return (some.length ? (['pt_net', 'pt_exec', 'pt_tick'] as const).find((m) => some.every((r) => r.section.kept[m])) : null) ?? 'et';
}

function summaryOf(run: Run, measure: Measure): Summary | null {
  return run.section.kept[measure] ?? null;
}

interface Row {
  run: Run;
  s: Summary | null;
  c: TimeComparisonRow | null;
  reference: boolean;
}

/** A point and its interval; where the interval is not known, the point alone. */
function intervalSeries(rows: { at: number; value: number; low: number | null; high: number | null; colour: string; hollow?: boolean; diamond?: boolean }[]): Record<string, unknown> {
  return {
    type: 'custom', data: rows.map((r, i) => [r.value, r.at, r.low ?? r.value, r.high ?? r.value, i]), encode: { x: [0, 2, 3], y: 1 },
    renderItem: (_: unknown, api: any) => {
      const row = rows[api.value(4)]!;
      const p = api.coord([row.value, row.at]);
      const a = api.coord([row.low ?? row.value, row.at]);
      const b = api.coord([row.high ?? row.value, row.at]);
      return {
        type: 'group',
        children: [
          { type: 'rect', shape: { x: a[0] - 6, y: p[1] - 10, width: b[0] - a[0] + 12, height: 20 }, style: { fill: 'rgba(0,0,0,0)' } }, // easier to hit
          ...(row.low === null && row.high === null ? [] : whisker(a, b, { style: { stroke: row.colour, lineWidth: 2 }, cap: 6 })),
          {
            ...(row.diamond ? { type: 'polygon', shape: { points: [[p[0], p[1] - 8], [p[0] + 8, p[1]], [p[0], p[1] + 8], [p[0] - 8, p[1]]] } } : { type: 'circle', shape: { cx: p[0], cy: p[1], r: 5 } }),
            style: { fill: row.hollow ? 'rgba(0,0,0,0)' : row.colour, stroke: row.colour, lineWidth: 2 },
          },
        ],
      };
    },
  };
}

function nameAxis(theme: Theme, rows: Row[]): Record<string, unknown> {
  return axis(theme, '', { type: 'category', inverse: true, data: rows.map((r) => r.run.lines), axisTick: { show: false }, axisLabel: { interval: 0, fontSize: 11, lineHeight: 14 } });
}

/** Logarithmic where the longest would leave no room for the others. */
function padded(values: number[]): { type: 'value' | 'log'; min: number; max: number } {
  const low = Math.min(...values);
  const high = Math.max(...values);
  if (low > 0 && high > 8 * low) return { type: 'log', min: 10 ** Math.floor(Math.log10(low)), max: 10 ** Math.ceil(Math.log10(high)) };
  const pad = (high - low || Math.abs(high) * 0.02 || 1) * 0.08;
  return { type: 'value', min: low - pad, max: high + pad };
}

function rangeAxis(theme: Theme, name: string, values: number[], formatter: (value: number) => string): Record<string, unknown> {
  const range = padded(values);
  const round = range.type === 'log';
  return axis(theme, name, { ...range, axisLabel: { formatter, showMinLabel: round, showMaxLabel: round } });
}

function meansCard(rows: Row[], measure: Measure, name: string, control: HTMLElement | null): ChartHandle | null {
  const shown = rows.filter((r): r is Row & { s: Summary } => !!r.s && r.s.n > 0);
  if (!shown.length) return null;
  return chartCard<Row>({
    name: `${name}-means`, title: `Mean ${MEASURE_NAME[measure]} of each`, height: 110 + 34 * shown.length, about: `With its 95 % interval, of the executions kept${shown.some((r) => r.reference) ? '; diamond: the reference' : ''}${shown.some((r) => tooFew(r.s)) ? '; a point alone: too few executions for an interval' : ''}.`,
    summary: shown.map(({ run, s }) => `${run.label}: ${[format.ns(s.mean_ns), intervalWords(s)].filter(Boolean).join(', ')}`).join('; '),
    option: (theme) => {
      const base = baseOption(theme) as any;
      const list = shown.map((r, i) => ({ at: i, value: r.s.mean_ns, low: r.s.ci_low_ns, high: r.s.ci_high_ns, colour: theme.series[r.run.place % 12]!, diamond: r.reference }));
      return {
        ...base, legend: { show: false }, grid: grid(8),
        xAxis: rangeAxis(theme, MEASURE_NAME[measure], list.flatMap((r) => [r.low ?? r.value, r.high ?? r.value]), tick),
        yAxis: nameAxis(theme, shown),
        tooltip: { ...base.tooltip, formatter: (p: any) => {
          const r = shown[p.value?.[4]];
          return r ? tip([r.run.label, `mean ${format.plusMinus(r.s.mean_ns, r.s.stddev_ns)}`, intervalWords(r.s), `${format.count(r.s.n)} kept`, parameters(r.run.section) || null]) : tip([]);
        } },
        series: [intervalSeries(list)],
      };
    },
    controls: [control],
    data: { columns: columns(rows), rows: () => rows },
  });
}

function ratiosCard(rows: Row[], measure: Measure, reference: Run, name: string): HTMLElement | null {
  const shown = rows.filter((r): r is Row & { c: TimeComparisonRow } => r.c !== null && r.c.ratio !== null);
  if (!shown.length) return null;
  return chartCard<Row>({
    name: `${name}-ratios`, title: 'Against the reference', height: 110 + 34 * shown.length,
    about: `${MEASURE_NAME[measure]} divided by that of ${reference.label}, with 95 % interval; hollow: no difference shown.`,
    summary: shown.map(({ run, c }) => `${run.label}: ${ratioWords(c)} times, p ${format.pValue(c.p)}`).join('; '),
    option: (theme) => {
      const base = baseOption(theme) as any;
      const list = shown.map((r, i) => ({
        at: i, value: r.c.ratio!, low: r.c.ratio_low, high: r.c.ratio_high, hollow: !r.c.significant, colour: !r.c.significant ? theme.muted : r.c.ratio! < 1 ? theme.good : theme.bad,
      }));
      const series = intervalSeries(list) as any;
      series.markLine = { silent: true, symbol: 'none', label: { show: false }, lineStyle: { color: theme.text, type: 'dashed' }, data: [{ xAxis: 1 }] };
      return {
        ...base, legend: { show: false }, grid: grid(8),
        xAxis: rangeAxis(theme, 'times the reference', [1, ...list.flatMap((r) => [r.low ?? r.value, r.high ?? r.value])], (v) => `${Number(v.toPrecision(4))}`),
        yAxis: nameAxis(theme, shown),
        tooltip: { ...base.tooltip, formatter: (p: any) => {
          const r = shown[p.value?.[4]];
          return r ? tip([r.run.label, short(r.c.sentence, 400), `ratio ${ratioWords(r.c)}`, `p ${format.pValue(r.c.p)} (${short(r.c.test, 60)})`]) : tip([]);
        } },
        series: [series],
      };
    },
    data: { columns: columns(rows), rows: () => rows },
  }).element;
}

/** "14.0 (13.7 to 14.5)", "14.0 (too few: about 40 needed)" */
function ratioWords(c: TimeComparisonRow): string {
  const show = (v: number | null) => format.ratio(v, c.ratio_low, c.ratio_high);
  const few = tooFew(c);
  if (few) return `${show(c.ratio)} (${few})`;
  return show(c.ratio) + (c.ratio_low === null || c.ratio_high === null ? '' : ` (${show(c.ratio_low)} to ${show(c.ratio_high)})`);
}

function columns(rows: Row[]): Column<Row>[] {
  const ns = format.nsAlike(rows.map((r) => r.s?.mean_ns), rows.map((r) => r.s?.stddev_ns));
  const ratio = format.ratioAlike(rows.map((r) => r.c?.ratio), rows.map((r) => (r.c && r.c.ratio_low !== null && r.c.ratio_high !== null ? (r.c.ratio_high - r.c.ratio_low) / 2 : null)));
  return [
    { name: 'run', title: 'run', kind: 'text', of: (r) => r.run.title, show: (r) => h('a', { href: `#${r.run.section.anchor}` }, foreign(r.run.label, 80)) },
    { name: 'parameters', title: 'parameters', kind: 'text', exported: !rows.some((r) => r.run.section.parameters.length), of: (r) => parameters(r.run.section) || null },
    { name: 'n', title: 'n', kind: 'number', of: (r) => r.s?.n }, { name: 'mean_ns', title: 'mean', kind: 'ns', of: (r) => r.s?.mean_ns, show: (r) => ns(r.s?.mean_ns) },
    { name: 'stddev_ns', title: 'σ', kind: 'ns', of: (r) => r.s?.stddev_ns, show: (r) => ns(r.s?.stddev_ns) }, { name: 'ci_low_ns', title: '95 % from', kind: 'ns', of: (r) => r.s?.ci_low_ns, show: (r) => tooFew(r.s) ?? ns(r.s?.ci_low_ns) },
    { name: 'ci_high_ns', title: 'to', kind: 'ns', of: (r) => r.s?.ci_high_ns, show: (r) => ns(r.s?.ci_high_ns) },
    { name: 'ratio', title: 'ratio', kind: 'number', of: (r) => (r.reference ? 1 : r.c?.ratio), show: (r) => (r.reference ? 'reference' : ratio(r.c?.ratio)) },
    { name: 'ratio_low', title: '95 % from', kind: 'number', of: (r) => r.c?.ratio_low, show: (r) => tooFew(r.c) ?? ratio(r.c?.ratio_low) },
    { name: 'ratio_high', title: 'to', kind: 'number', of: (r) => r.c?.ratio_high, show: (r) => ratio(r.c?.ratio_high) },
    { name: 'p', title: 'p', kind: 'p', of: (r) => r.c?.p }, { name: 'test', title: 'test', kind: 'text', of: (r) => r.c?.test, most: 40 },
    { name: 'sentence', title: 'in words', kind: 'text', of: (r) => r.c?.sentence, most: 200 },
  ];
}

/** Those of which every run that kept something has a mean, the one that was compared first. */
function measuresOf(runs: Run[], first: Measure): Measure[] {
  const some = measured(runs);
  const all = (Object.keys(MEASURE_NAME) as Measure[]).filter((m) => m !== first && some.every((r) => summaryOf(r, m)?.n));
  return [first, ...all];
}

/** Of a share only the mean is known. */
function known(s: Summary | null, measure: Measure): Summary | null {
  return s && isShare(measure) ? { ...s, stddev_ns: null, ci_low_ns: null, ci_high_ns: null, needed_n: 0 } : s;
}

function compared(runs: Run[], comparison: TimeComparison | null, at: number): (HTMLElement | null)[] {
  const judged = comparison?.measure ?? common(runs);
  const name = `together-${at}`;
  const of = (index: number) => runs.find((r) => r.index === index);
  const reference = comparison ? of(comparison.reference) ?? null : null;
  const list = comparison ? [...new Set([comparison.reference, ...comparison.sections])].map(of).filter((r) => r !== undefined) : runs;
  const measures = measuresOf(list, judged);
  const asked = remember<Measure>(`${name}-measure`, judged);
  const rowsOf = (measure: Measure): Row[] => list.map((run) => ({
    run, s: known(summaryOf(run, measure), measure), c: comparison?.rows.find((c) => c.section === run.index && run !== reference) ?? null, reference: run === reference,
  }));
  const rows = rowsOf(judged);
  const sentences = rows.filter((r) => r.c?.sentence);
  const means = h('div', { class: 'one-of-cards' });
  const tables = h('div', { class: 'card wide' });
  let card: ChartHandle | null = null;
  function show(measure: Measure): void {
    const chosen = rowsOf(measure);
    card?.dispose();
    card = meansCard(chosen, measure, name, measureField(measures, measure, (m) => {
      asked.value = m;
      show(m);
      means.querySelector('select')?.focus(); // the one that was used is gone
    }));
    means.replaceChildren(...(card ? [card.element] : []));
    tables.replaceChildren(h('h3', {}, `Runs by ${MEASURE_NAME[measure]}`),
      ...(reference && measure !== judged ? [h('p', { class: 'muted' }, `Ratios and p are of ${MEASURE_NAME[judged]}: that is what was compared.`)] : []),
      table<Row>({ name: `${name}-runs`, caption: 'Runs together', rows: chosen, columns: columns(chosen).filter((c) => c.name !== 'sentence'), page: 20 }).element);
  }
  show(measures.includes(asked.value) ? asked.value : judged);
  return [
    sentences.length ? h('div', { class: 'card wide compared' }, h('ul', { class: 'warnings' }, ...sentences.map((r) => h('li', {}, foreign(r.c!.sentence, 600)))),
      comparison?.why ? h('p', { class: 'muted' }, `Compared by ${MEASURE_NAME[judged]}: `, foreign(comparison.why, 200), '.') : null) : null,
    means, reference ? ratiosCard(rows, judged, reference, name) : null, tables,
  ];
}

interface Spread {
  run: Run;
  measure: Measure;
  mean: number;
  sigma: number;
}

/** Of a machine that is quiet, σ grows with the root of the length; daemons make it grow with the length itself. */
function spreadCard(runs: Run[]): HTMLElement | null {
  const measures = (['et', 'pt_net', 'pt_exec', 'pt_tick', 'pt_steady'] as const).filter((m) => runs.some((r) => r.section.kept[m]));
  const rows: Spread[] = measures.flatMap((measure) => runs.flatMap((run) => {
    const s = summaryOf(run, measure);
    return s && s.stddev_ns !== null && s.stddev_ns > 0 && s.mean_ns > 0 ? [{ run, measure, mean: s.mean_ns, sigma: s.stddev_ns }] : [];
  }));
  if (rows.length < 2) return null;
  // decades, so that a tick is at each
  const limits = (values: number[]) => ({ min: 10 ** Math.floor(Math.log10(Math.min(...values) * 0.9)), max: 10 ** Math.ceil(Math.log10(Math.max(...values) * 1.1)) });
  const card: ChartHandle = chartCard<Spread>({
    name: 'together-spread', title: 'σ against the length of the task', height: 340, about: 'Of those kept, both axes logarithmic. The thin lines are where σ is 0.1, 1 and 10 % of the mean.',
    summary: rows.map((r) => `${r.run.label}, ${MEASURE_NAME[r.measure]}: mean ${format.ns(r.mean)}, σ ${format.ns(r.sigma)}`).join('; '),
    option: (theme) => {
      const base = baseOption(theme) as any;
      const x = limits(rows.map((r) => r.mean));
      const y = limits(rows.map((r) => r.sigma));
      return {
        ...base,
        grid: { ...grid(14, 34), right: 60 },
        dataZoom: zoom(true),
        xAxis: axis(theme, 'mean', { type: 'log', ...x, axisLabel: { formatter: tick } }),
        yAxis: axis(theme, 'σ', { type: 'log', ...y, axisLabel: { formatter: tick }, nameGap: 12 }),
        tooltip: { ...base.tooltip, formatter: (p: any) => {
          const r = rows[p.value?.[2]];
          return r ? tip([r.run.label, MEASURE_NAME[r.measure], `mean ${format.ns(r.mean)}`, `σ ${format.ns(r.sigma)} (${format.percent(r.sigma / r.mean)})`, parameters(r.run.section) || null]) : tip([]);
        } },
        series: [
          ...measures.map((measure, m) => ({
            name: MEASURE_NAME[measure], type: 'scatter', symbol: SYMBOLS[m % SYMBOLS.length], symbolSize: 11, itemStyle: { color: theme.series[[0, 1, 8, 3, 4][m]!] }, z: 3,
            data: rows.map((r, i) => [r.mean, r.sigma, i] as const).filter(([, , i]) => rows[i]!.measure === measure).map((v) => [...v]),
            labelLayout: { hideOverlap: true, moveOverlap: 'shiftY' }, emphasis: { disabled: true },
            label: { show: m === 0, position: 'right', distance: 9, color: theme.text, fontSize: 10, formatter: (p: any) => rows[p.value[2]]!.run.mark },
          })),
          ...[0.001, 0.01, 0.1].map((share) => ({
            name: `${share * 100} %`, type: 'line', silent: true, showSymbol: false, data: [[x.min, x.min * share], [x.max, x.max * share]], lineStyle: { color: theme.muted, width: 1, type: 'dotted' }, z: 1, clip: true, tooltip: { show: false },
          })),
        ],
        legend: { data: measures.map((m) => MEASURE_NAME[m]) },
      };
    },
    data: {
      columns: [
        { name: 'run', title: 'run', kind: 'text', of: (r) => r.run.title, show: (r) => foreign(r.run.label, 60) }, { name: 'parameters', title: 'parameters', kind: 'text', of: (r) => parameters(r.run.section) || null },
        { name: 'measure', title: 'measure', kind: 'text', of: (r) => MEASURE_NAME[r.measure] }, { name: 'mean_ns', title: 'mean', kind: 'ns', of: (r) => r.mean },
        { name: 'stddev_ns', title: 'σ', kind: 'ns', of: (r) => r.sigma }, { name: 'share', title: 'σ / mean', kind: 'percent', of: (r) => r.sigma / r.mean },
      ],
      rows: () => rows,
    },
  });
  return card.element;
}

function densitiesCard(runs: Run[], first: Measure): HTMLElement | null {
  const measures = [...new Set(runs.flatMap((r) => Object.keys(r.section.charts).map((name) => name.replace('density_', '') as Measure)))];
  if (!measures.length) return null;
  const asked = remember<Measure>('together-density-measure', measures.includes(first) ? first : measures[0]!);
  let measure = measures.includes(asked.value) ? asked.value : measures[0]!;
  const medians = runs.flatMap((r) => r.section.kept[measure]?.median_ns ?? []);
  const scale = remember<'value' | 'log'>('together-density-scale', Math.max(...medians) > 5 * Math.min(...medians) ? 'log' : 'value');
  const shown = () => runs.flatMap((run) => {
    const density = run.section.charts[`density_${measure}`];
    const [ns, kept] = [chartColumn(density, 0, 'value_ns') as number[], chartColumn(density, 0, 'kept_per_ns') as number[]];
    return kept && kept[0] !== null ? [{ run, d: { ns, kept }, i: run.place }] : [];
  });
  type Point = { run: string; ns: number; density: number };
  const retick = calmly(() => {
    const chart = card.chart();
    if (chart && scale.value === 'log') chart.setOption({ xAxis: ticks('log', ...visibleX(chart)) });
  });
  const card: ChartHandle = chartCard<Point>({
    name: 'together-density', title: 'Densities over each other', height: 340, about: 'Of those kept; each is as high as the others at its peak, so that short and long tasks can be seen together.',
    summary: `Densities of ${runs.length} runs: ${runs.map((r) => `${r.label} has its median at ${format.ns(r.section.kept[measure]?.median_ns ?? null)}`).join('; ')}.`,
    controls: [
      measureField(measures, measure, (m) => { measure = asked.value = m; card.redraw(); }),
      choices('x axis', [['value', 'linear'], ['log', 'log']], scale.value, (v) => { scale.value = v as 'value' | 'log'; card.redraw(); }),
    ],
    option: (theme) => {
      const base = baseOption(theme) as any;
      const list = shown();
      const all = list.flatMap(({ d }) => d.ns.filter((x) => scale.value === 'value' || x > 0));
      const range: [number, number] = [Math.min(...all), Math.max(...all)];
      return {
        ...base,
        legend: { formatter: (key: string) => runs[Number(key)]!.label },
        grid: grid(),
        dataZoom: zoom(),
        xAxis: axis(theme, MEASURE_NAME[measure], { type: scale.value, min: range[0], max: range[1], ...ticks(scale.value, ...range) }),
        yAxis: axis(theme, '', { type: 'value', min: 0, max: 1.05, axisLabel: { show: false }, axisTick: { show: false }, splitLine: { show: false } }),
        tooltip: { ...base.tooltip, trigger: 'item', formatter: (p: any) => tip([runs[Number(p.seriesName)]?.label, format.ns(p.value?.[0])]) },
        // not by their labels, which may be any text
        series: list.map(({ d, i }) => {
          const weight = (x: number, k: number) => d.kept[k]! * (scale.value === 'log' ? x : 1);
          const most = d.ns.reduce((m, x, k) => Math.max(m, weight(x, k)), 0) || 1;
          return {
            name: String(i), type: 'line', showSymbol: false, triggerLineEvent: true, data: d.ns.map((x, k) => [x, weight(x, k) / most]).filter(([x]) => scale.value === 'value' || x! > 0),
            lineStyle: { width: 2, color: theme.series[i % 12], type: (['solid', 'dashed', 'dotted'] as const)[Math.floor(i / 12) % 3] }, itemStyle: { color: theme.series[i % 12] }, areaStyle: { color: theme.series[i % 12], opacity: 0.08 },
          };
        }),
      };
    },
    data: {
      columns: [
        { name: 'run', title: 'run', kind: 'text', of: (p) => p.run }, { name: 'ns', title: MEASURE_NAME[measure], kind: 'ns', of: (p) => p.ns },
        { name: 'density_per_ns', title: 'density per ns', kind: 'number', of: (p) => p.density, show: (p) => p.density.toPrecision(3) },
      ],
      rows: () => shown().flatMap(({ run, d }) => d.ns.map((ns, k) => ({ run: run.label, ns, density: d.kept[k]! }))),
    },
    onReady: (chart) => { chart.on('datazoom', retick); },
    onDraw: retick, // where it is zoomed already
  });
  return card.element;
}

/** What several runs of `tare time` say together; nothing where there are fewer than two. */
export function timesTogether(doc: Doc): HTMLElement[] {
  const runs = runsOf(doc);
  if (runs.length < 2) return [];
  const comparisons = doc.comparisons.filter((c): c is TimeComparison => c.kind === 'time');
  const cards = (comparisons.length ? comparisons : [null]).flatMap((c, i) => compared(runs, c, i));
  return [h('div', { class: 'cards' }, ...cards, spreadCard(runs), densitiesCard(runs, comparisons[0]?.measure ?? common(runs)))];
}
