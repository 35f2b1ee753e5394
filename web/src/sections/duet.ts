// A run of `tare duet`: the answer, the time of each side pair by pair, how the ratio settled, and every execution.
import type { Doc, Duet, DuetComparison, DuetPair, DuetPart, DuetSection, DuetVerdict } from '../types';
import { axis, baseOption, chartCard, tip, zoom, type ChartHandle } from '../parts/chart';
import { foreign, h, short } from '../parts/dom';
import { figure, wide } from '../parts/figures';
import * as format from '../parts/format';
import { sign, whiskers } from '../parts/marks';
import { table } from '../parts/table';
import { numbered } from '../parts/titles';
import type { Theme } from '../parts/theme';

const MEASURE: Record<Duet['measure'], string> = { pt_net: 'process time (net)', pt_exec: 'process time (exec)', turn: 'time in its turns', et: 'elapsed time', instructions: 'instructions in user mode', cycles: 'cycles in user mode' };
const END: Record<DuetVerdict['end'], string> = { open: '· no difference shown', faster: '▼ faster', slower: '▲ slower', same: '= the same' };
const WAY: Record<Duet['way'], string> = { scheduler: 'at once, by the scheduler', freezer: 'at once, by the freezer', whole: 'whole executions in turns' };
const NAME = 24;

/** "0.983 [0.981, 0.985]" */
function interval(value: number | null, low: number | null, high: number | null): string {
  if (value === null || low === null || high === null) return format.DASH;
  const text = format.ratio(value, low, high);
  const decimals = Math.min(6, (text.split('.')[1] ?? '').length);
  return `${text} [${low.toFixed(decimals)}, ${high.toFixed(decimals)}]`;
}
const ratioText = (v: DuetVerdict): string => interval(v.ratio, v.ratio_low, v.ratio_high);
const LONGEST = 40; // longer names are letters, as in the sentences of tare
const lettered = (d: Duet): boolean => d.sides.length <= 26 && d.sides.some((s) => (s.name ?? '').length > LONGEST);
const nameOf = (d: Duet, side: number): string => (lettered(d) ? String.fromCharCode(65 + side) : short(d.sides[side]?.name ?? `side ${side}`, NAME));
const percentOff = (ratio: number | null): string => (ratio === null ? format.DASH : `${ratio >= 1 ? '+' : '−'}${format.percent(Math.abs(ratio - 1))}`);

function colourOf(theme: Theme, end: DuetVerdict['end']): string {
  return end === 'slower' ? theme.bad : end === 'faster' ? theme.good : theme.muted;
}

/** The answer first: one line for each side. */
function answers(d: Duet): HTMLElement {
  return h('div', { class: 'card wide' },
    ...d.verdicts.flatMap((v) => [
      v.gate_sentence ? h('p', { class: `verdict ${v.gate === 'slower' ? 'bad' : v.gate === 'not slower' ? 'ok' : ''}` }, h('strong', {}, foreign(v.gate_sentence, 400))) : null,
      h('p', { class: 'verdict' }, v.gate_sentence ? foreign(v.sentence, 400) : h('strong', {}, foreign(v.sentence, 400)))]),
    ...(lettered(d) ? d.sides.map((side, i) => h('p', {}, `${nameOf(d, i)}: `, h('code', {}, foreign(side.name ?? '', 300)))) : []),
    h('p', { class: 'muted' }, foreign(d.sentence, 1000)),
    h('p', { class: 'muted' }, 'The interval is of this run: how much the ratio varies from run to run is not in it. Several duets of the same two on one page are taken together.'));
}

function figures(d: Duet): HTMLElement {
  const [first] = d.verdicts;
  const sum = (of: (v: DuetVerdict) => number) => d.verdicts.reduce((n, v) => n + of(v), 0);
  const out = [sum((v) => v.trimmed) ? `${sum((v) => v.trimmed)} outermost not in the mean` : null, sum((v) => v.failed) ? `${sum((v) => v.failed)} more failed` : null].filter(Boolean);
  const cost = (side: number, value: number | null, low: number | null, high: number | null) =>
    figure(`alternating cost ${nameOf(d, side)}`, value === null ? 'could not be told' : percentOff(value), value === null ? null : `[${percentOff(low)}, ${percentOff(high)}]`);
  return h('dl', { class: 'figures' },
    ...d.sides.map((_, i) => {
      const v = d.verdicts[i ? i - 1 : 0];
      return figure(nameOf(d, i), format.ns(i ? v?.mean_ns.other : v?.mean_ns.reference), i ? `ratio ${v ? ratioText(v) : format.DASH}` : 'the reference');
    }),
    figure('pairs', format.count(sum((v) => v.pairs)), out.join(', ') || null),
    figure('took', format.ns(d.elapsed_ns), `compared by ${MEASURE[d.measure]}`),
    figure('how', WAY[d.way], [d.cpus ? `CPU ${short(d.cpus, 20)}` : null, d.why ? short(d.why, 120) : null].filter(Boolean).join(' · ')),
    ...(d.way === 'whole' || !first ? [] : [
      cost(0, first.cost.reference, first.cost.reference_low, first.cost.reference_high),
      ...d.verdicts.map((v) => cost(v.side, v.cost.other, v.cost.other_low, v.cost.other_high))]));
}

// ---- pair by pair ----

type Row = DuetPair & { side: number };
const rowsOf = (d: Duet): Row[] => d.verdicts.flatMap((v) => v.list.map((p) => ({ ...p, side: v.side }))).sort((a, b) => a.pair - b.pair);
const PAIR_COLUMNS = (d: Duet) => [
  { name: 'pair', title: 'pair', kind: 'number' as const, of: (p: Row) => p.pair },
  { name: 'side', title: 'side', kind: 'text' as const, of: (p: Row) => d.sides[p.side]?.name, most: NAME },
  { name: 'reference_ns', title: 'reference', kind: 'ns' as const, of: (p: Row) => p.reference_ns },
  { name: 'other_ns', title: 'side’s', kind: 'ns' as const, of: (p: Row) => p.other_ns },
  { name: 'ratio', title: 'ratio', kind: 'number' as const, of: (p: Row) => Math.exp(p.log_ratio), show: (p: Row) => Math.exp(p.log_ratio).toFixed(4) },
  { name: 'overlap', title: 'overlap', kind: 'percent' as const, of: (p: Row) => p.overlap },
  { name: 'trimmed', title: 'in the mean', kind: 'text' as const, of: (p: Row) => (p.trimmed ? 'no' : 'yes') },
];
const about = (d: Duet, p: Row): HTMLElement => tip([`pair ${p.pair}: ${nameOf(d, p.side)}`, `${nameOf(d, 0)} ${format.ns(p.reference_ns)}`, `${nameOf(d, p.side)} ${format.ns(p.other_ns)}`, `ratio ${Math.exp(p.log_ratio).toFixed(4)}`, p.trimmed && 'among the outermost: not in the mean']);

function timesCard(section: DuetSection, d: Duet): ChartHandle {
  const rows = rowsOf(d);
  const all = rows.flatMap((p) => [p.reference_ns, p.other_ns]);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const pad = (high - low) * 0.05 || 1;
  return chartCard<Row>({
    name: `${section.anchor}-pairs`, title: 'Time of each side, pair by pair', height: 300,
    about: `${MEASURE[d.measure]} per execution. What both sides of a pair have in common is the speed of the CPU.`,
    summary: `${format.count(rows.length)} pairs; times from ${format.ns(low)} to ${format.ns(high)}.`,
    option: (theme) => ({
      ...baseOption(theme), dataZoom: zoom(), grid: { left: 44, right: 20, top: 14, bottom: 30, containLabel: true },
      xAxis: axis(theme, 'pair', { type: 'value', minInterval: 1, min: 'dataMin', max: 'dataMax' }),
      yAxis: axis(theme, MEASURE[d.measure], { type: 'value', min: Math.max(0, low - pad), max: high + pad, nameGap: 12, axisLabel: { showMinLabel: false, showMaxLabel: false, formatter: (v: number) => format.nsBetween(v, low, high) } }),
      tooltip: { ...(baseOption(theme)['tooltip'] as object), formatter: (p: any) => { const row = rows.find((r) => r.pair === p.value[0]); return row ? about(d, row) : tip(['']); } },
      series: d.sides.map((_, side) => ({
        name: nameOf(d, side), type: 'line', showSymbol: true, symbolSize: 6, lineStyle: { width: 1, opacity: 0.6 }, z: side ? 3 : 2, ...sign(['circle', 'triangle', 'diamond', 'rect'][side % 4]!, theme.series[side % theme.series.length]!, theme),
        data: rows.filter((p) => !side || p.side === side).map((p) => [p.pair, side ? p.other_ns : p.reference_ns]),
      })),
    }),
    data: { columns: PAIR_COLUMNS(d), rows: () => rows },
  });
}

function ratioCard(section: DuetSection, d: Duet): ChartHandle {
  const rows = rowsOf(d);
  const values = [1, ...rows.map((p) => Math.exp(p.log_ratio)), ...d.verdicts.flatMap((v) => v.steps.flatMap((s) => (s.ratio === null ? [] : [Math.max(s.ratio_low!, s.ratio / 2), Math.min(s.ratio_high!, s.ratio * 2)])))];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const pad = (high - low) * 0.05 || 0.001;
  const digits = Math.min(5, Math.max(2, Math.ceil(2 - Math.log10(high - low + 1e-9))));
  /** The interval at each look, as a band. */
  const band = (v: DuetVerdict, colour: string): Record<string, unknown>[] => {
    const steps = v.steps.filter((s) => s.ratio !== null).map((s) => [v.list[s.pairs - 1]?.pair ?? s.pairs, s.ratio!, s.ratio_low!, s.ratio_high!] as const);
    const id = `${v.side}`;
    return [
      { name: `${nameOf(d, v.side)}: interval`, id: `low-${id}`, type: 'line', stack: `band-${id}`, stackStrategy: 'all', symbol: 'none', color: colour, lineStyle: { opacity: 0 }, itemStyle: { color: colour }, silent: true, data: steps.map((s) => [s[0], s[2]]) },
      { name: `${nameOf(d, v.side)}: interval`, id: `high-${id}`, type: 'line', stack: `band-${id}`, stackStrategy: 'all', symbol: 'none', lineStyle: { opacity: 0 }, silent: true, areaStyle: { color: colour, opacity: 0.18 }, itemStyle: { color: colour }, data: steps.map((s) => [s[0], s[3] - s[2]]) },
      { name: `${nameOf(d, v.side)}: ratio so far`, id: `ratio-${id}`, type: 'line', symbol: 'circle', symbolSize: 5, lineStyle: { color: colour, width: 2 }, itemStyle: { color: colour }, data: steps.map((s) => [s[0], s[1]]), z: 4 },
      ...(steps.length === 1 ? [{ ...whiskers('y', () => ({ style: { stroke: colour, lineWidth: 2 } })), name: `${nameOf(d, v.side)}: interval`, silent: true, data: steps.map((s) => [s[0], s[2], s[3]]) }] : []),
    ];
  };
  return chartCard<Row>({
    name: `${section.anchor}-ratio`, title: 'Ratio over time', height: 320,
    about: 'A point is a pair. The line is the mean so far at each look, the band its interval: those of all looks hold together at 95 %.',
    summary: d.verdicts.map((v) => `${nameOf(d, v.side)}: ${ratioText(v)} after ${format.count(v.judged)} pairs and ${format.count(v.steps.length)} looks.`).join(' '),
    option: (theme) => ({
      ...baseOption(theme), dataZoom: zoom(), grid: { left: 44, right: 20, top: 14, bottom: 30, containLabel: true },
      xAxis: axis(theme, 'pair', { type: 'value', minInterval: 1, min: 'dataMin', max: 'dataMax' }),
      yAxis: axis(theme, `ratio to ${nameOf(d, 0)}`, { type: 'value', min: Math.max(0, low - pad), max: high + pad, nameGap: 12, axisLabel: { showMinLabel: false, showMaxLabel: false, formatter: (v: number) => v.toFixed(digits) } }),
      tooltip: { ...(baseOption(theme)['tooltip'] as object), formatter: (p: any) => { const row = rows.find((r) => r.pair === p.value[0]); return row ? about(d, row) : tip(['']); } },
      series: d.verdicts.flatMap((v, i) => {
        const colour = theme.series[v.side % theme.series.length]!;
        const mine = rows.filter((p) => p.side === v.side);
        return [
          ...band(v, colour),
          { name: nameOf(d, v.side), type: 'scatter', symbolSize: 6, ...sign('circle', colour, theme, 0.85), data: mine.filter((p) => !p.trimmed).map((p) => [p.pair, Math.exp(p.log_ratio)]), z: 3,
            ...(i ? {} : { markLine: { silent: true, symbol: 'none', lineStyle: { color: theme.muted, type: 'dashed' }, label: { show: false }, data: [{ yAxis: 1, name: 'no difference' }] } }) },
          ...(mine.some((p) => p.trimmed) ? [{ name: `${nameOf(d, v.side)}: not in the mean`, type: 'scatter', symbolSize: 8, ...sign('emptyDiamond', colour, theme), data: mine.filter((p) => p.trimmed).map((p) => [p.pair, Math.exp(p.log_ratio)]), z: 3 }] : []),
        ];
      }),
    }),
    data: { columns: PAIR_COLUMNS(d), rows: () => rows },
  });
}

// ---- forest plots ----

interface ForestRow { label: string; ratio: number; low: number; high: number; end: DuetVerdict['end']; pairs: number | null; pooled?: boolean }

function forestCard(name: string, title: string, about_: string, list: ForestRow[]): ChartHandle | null {
  if (!list.length) return null;
  const ends = list.flatMap((r) => [Math.max(r.low, r.ratio / 4), Math.min(r.high, r.ratio * 4), 1]);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const pad = (high - low) * 0.06 || 0.001;
  const digits = Math.min(5, Math.max(2, Math.ceil(2 - Math.log10(high - low + 1e-9))));
  return chartCard<ForestRow>({
    name, title, about: about_, height: 90 + 28 * list.length,
    summary: list.map((r) => `${r.label}: ${interval(r.ratio, r.low, r.high)}.`).join(' '),
    option: (theme) => ({
      ...baseOption(theme), legend: { show: false }, grid: { left: 12, right: 28, top: 14, bottom: 34, containLabel: true },
      xAxis: axis(theme, 'ratio to the reference', { type: 'value', min: Math.max(0, low - pad), max: high + pad, axisLabel: { showMinLabel: false, showMaxLabel: false, formatter: (v: number) => v.toFixed(digits) } }),
      yAxis: axis(theme, '', { type: 'category', inverse: true, data: list.map((r) => r.label), axisLabel: { width: 150, overflow: 'truncate', fontSize: 11 } }),
      tooltip: { ...(baseOption(theme)['tooltip'] as object), formatter: (p: any) => { const r = list[p.dataIndex]; return r ? tip([r.label, `ratio ${interval(r.ratio, r.low, r.high)}`, END[r.end], r.pairs !== null && `${r.pairs} pairs`]) : tip(['']); } },
      series: [
        { ...whiskers('x', (at) => ({ style: { stroke: colourOf(theme, list[at]!.end), lineWidth: 2 } })), name: 'interval', silent: true, data: list.map((r, i) => [i, Math.max(r.low, low - pad), Math.min(r.high, high + pad)]) },
        { name: 'ratio', type: 'scatter', data: list.map((r, i) => ({ value: [r.ratio, i], symbol: r.pooled ? 'diamond' : 'circle', symbolSize: r.pooled ? 14 : 9, itemStyle: { color: colourOf(theme, r.end) } })), z: 3,
          markLine: { silent: true, symbol: 'none', lineStyle: { color: theme.muted, type: 'dashed' }, label: { show: false }, data: [{ xAxis: 1, name: 'no difference' }] } },
      ],
    }),
    data: {
      rows: () => list, columns: [
        { name: 'of', title: 'of', kind: 'text', of: (r) => r.label }, { name: 'ratio', title: 'ratio', kind: 'number', of: (r) => r.ratio, show: (r) => interval(r.ratio, r.low, r.high) },
        { name: 'ratio_low', title: 'low', kind: 'number', of: (r) => r.low }, { name: 'ratio_high', title: 'high', kind: 'number', of: (r) => r.high },
        { name: 'end', title: 'verdict', kind: 'text', of: (r) => r.end, show: (r) => END[r.end] }, { name: 'pairs', title: 'pairs', kind: 'number', of: (r) => r.pairs },
      ],
    },
  });
}

const forestRow = (v: DuetVerdict, label: string): ForestRow[] => (v.ratio === null ? [] : [{ label, ratio: v.ratio, low: v.ratio_low!, high: v.ratio_high!, end: v.end, pairs: v.judged }]);

// ---- executions ----

function partsCard(section: DuetSection, d: Duet): HTMLElement | null {
  if (!d.parts.length) return null;
  return h('details', { class: 'card wide' }, h('summary', {}, `Every execution (${format.count(d.parts.length)})`),
    table<DuetPart>({
      name: `${section.anchor}-parts`, caption: 'Executions', rows: d.parts, page: 20,
      columns: [
        { name: 'pair', title: 'pair', kind: 'number', of: (p) => p.pair, show: (p) => (p.pair ? `${p.pair}${p.warmup ? ' (warm-up)' : ''}` : 'alone') },
        { name: 'side', title: 'side', kind: 'text', of: (p) => d.sides[p.side]?.name, most: NAME },
        { name: 'repeat', title: 'repeat', kind: 'number', of: (p) => p.repeat },
        { name: 'place', title: 'started as', kind: 'number', of: (p) => p.place + 1 },
        { name: 'pt_net_ns', title: 'PT net', kind: 'ns', of: (p) => p.pt_ns.net },
        { name: 'pt_exec_ns', title: 'PT exec', kind: 'ns', of: (p) => p.pt_ns.exec },
        { name: 'et_ns', title: 'ET', kind: 'ns', of: (p) => p.et_ns },
        { name: 'turn_ns', title: 'its turns', kind: 'ns', of: (p) => p.turn_ns },
        { name: 'overlap', title: 'overlap', kind: 'percent', of: (p) => p.overlap },
        { name: 'switches', title: 'switches', kind: 'number', of: (p) => p.switches },
        { name: 'outcome', title: 'outcome', kind: 'text', of: (p) => `${p.outcome} ${p.status}`, show: (p) => (p.outcome === 'exited' && p.status === 0 ? h('span', { class: 'ok' }, '✔') : h('span', { class: 'bad' }, `✖ ${p.outcome} ${p.status}`)) },
        { name: 'started_at', title: 'began', kind: 'date', of: (p) => p.started_at },
      ],
    }).element);
}

export function duetSection(_doc: Doc, section: DuetSection): HTMLElement[] {
  const d = section.duet;
  if (!d) return []; // its notes say why
  const pairs = d.verdicts.some((v) => v.list.length);
  const forest = d.verdicts.length > 1 ? forestCard(`${section.anchor}-forest`, `Each side against ${nameOf(d, 0)}`, 'Ratios with intervals; left of 1 is faster.', d.verdicts.flatMap((v) => forestRow(v, nameOf(d, v.side)))) : null;
  return [
    answers(d), figures(d), ...wide([forest?.element ?? null, pairs ? ratioCard(section, d).element : null, pairs ? timesCard(section, d).element : null, partsCard(section, d)]),
  ].filter((element): element is HTMLElement => element !== null);
}

/** Several duets on one page, and what they say together if they are of the same two. */
export function duetComparison(doc: Doc, comparison: DuetComparison): HTMLElement[] {
  const list = comparison.sections.flatMap((at) => {
    const section = doc.sections[at];
    if (section?.kind !== 'duet' || !section.duet) return [];
    const d = section.duet;
    return d.verdicts.flatMap((v) => forestRow(v, `${numbered(doc, section)}: ${nameOf(d, v.side)} / ${nameOf(d, 0)}`));
  });
  if (comparison.runs > 1 && comparison.ratio !== null) {
    const [low, high] = [comparison.ratio_low!, comparison.ratio_high!];
    list.push({ label: 'all runs', ratio: comparison.ratio, low, high, end: high < 1 ? 'faster' : low > 1 ? 'slower' : 'open', pairs: null, pooled: true });
  }
  const forest = forestCard('duets-forest', 'Ratios of the duets', comparison.runs > 1 ? 'Ratios with intervals; left of 1 is faster. That of all runs holds the variation between them.' : 'Ratios with intervals; left of 1 is faster. They do not compare the same two, so that nothing is taken together.', list);
  return [comparison.sentence ? h('div', { class: 'card wide' }, h('p', {}, h('strong', {}, foreign(comparison.sentence, 1000)))) : null, ...wide([forest?.element ?? null])].filter((element): element is HTMLElement => element !== null);
}
