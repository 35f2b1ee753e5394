// Charts of queries: time by cardinality, where the time went.
import { axis, baseOption, chartCard, tip, type ChartHandle, type Option } from '../parts/chart';
import { short } from '../parts/dom';
import { select } from '../parts/fields';
import * as format from '../parts/format';
import { hollow, whiskers } from '../parts/marks';
import { causeColour, type Theme } from '../parts/theme';
import type { Query, QueryAt, QuerySection } from '../types';
import { atName, changesOf, medianOf, queriesOf, rows, splitsOf, spread, TIME_TITLE, TIMES, type OneQuery, type Split, type TimeName } from './query_data';
import { longChart, rowsRoom, rowsSeen, rowsZoom } from './query_rows';

const SYMBOLS = ['circle', 'rect', 'triangle', 'diamond', 'roundRect', 'path://M0,0 L10,0 L5,9 Z'];
const NAMED = 32; // queries in one chart: of more there is no legend, but a list to choose one of
const CROWD = 12; // queries in one chart: of more the medians alone
const LINES = ['solid', 'dashed', 'dotted'];

function known(list: QueryAt[], time: TimeName): boolean {
  return list.some((at) => medianOf(at, time) !== null);
}

function timeAxis(theme: Theme, log: boolean, name: string): Record<string, unknown> {
  return axis(theme, name, {
    type: log ? 'log' : 'value', min: log ? undefined : 0, nameLocation: 'end', nameGap: 12, nameTextStyle: { color: theme.muted, align: 'left', padding: [0, 0, 0, -30] },
    axisLabel: { formatter: (value: number) => format.ns(value) },
  });
}

/** From the least to the most of the executions at an x. */
function reaches(colour: string): Record<string, unknown> {
  return whiskers('y', () => ({ style: { stroke: colour, lineWidth: 1.2, opacity: 0.8 } }));
}

function pointTip(at: QueryAt, time: TimeName): HTMLElement {
  const reach = spread(at, time);
  return tip([atName(at, 60), `${TIME_TITLE[time]}: median ${format.ns(medianOf(at, time))}`,
    reach && `executions: ${format.ns(reach[0])} to ${format.ns(reach[1])}`, `${at.kept} of ${at.made} executions kept`,
    at.plan && `plan ${at.plan}`, at.dropped_by && `dropped: ${at.dropped_by}; median of all that ended`]);
}

function lineOf(theme: Theme, one: OneQuery, i: number, time: TimeName, alone: boolean, crowded: boolean): Record<string, unknown>[] {
  const colour = theme.series[i % theme.series.length]!;
  const symbol = SYMBOLS[i % SYMBOLS.length]!;
  const changes = changesOf(one);
  const began = new Set(changes.map((c) => c.above));
  const list = one.at.filter((at) => medianOf(at, time) !== null);
  const reach = crowded ? [] : list.flatMap((at) => {
    const ends = spread(at, time);
    return ends ? [{ value: [at.cardinality, ...ends], at }] : [];
  });
  const series: Record<string, unknown>[] = [{
    type: 'line', name: String(one.query), color: colour, symbol, symbolSize: 9, lineStyle: { type: LINES[Math.floor(i / theme.series.length) % LINES.length], width: 2 },
    data: list.map((at) => ({
      value: [at.cardinality, medianOf(at, time)], at,
      itemStyle: at.dropped_by ? hollow(theme, colour) : undefined,
      symbolSize: began.has(at) && !alone ? 14 : 9,
      label: { show: !!at.plan && (alone || began.has(at)), formatter: () => at.plan ?? '', position: 'top', color: theme.text, fontWeight: 'bold' },
    })),
    markLine: alone && changes.length ? {
      silent: true, symbol: 'none', lineStyle: { color: theme.bad, type: 'dashed' },
      label: { color: theme.bad, formatter: (p: any) => p.name, position: 'end' },
      data: changes.map((c) => ({ name: `${c.below.plan} → ${c.above.plan}`, xAxis: ((c.below.cardinality ?? 0) + (c.above.cardinality ?? 0)) / 2 })),
    } : undefined,
  }];
  if (reach.length) {
    series.push({ ...reaches(colour), name: String(one.query), silent: !alone, color: colour, data: reach, z: 1 });
  }
  if (alone) {
    // beside the median, which would cover them
    const dots = (keptOnes: boolean) => list.flatMap((at) => at.executions.filter((x) => !x.dropped_by.length === keptOnes && x.times_ns[time] !== null)
      .map((x) => ({ value: [at.cardinality, x.times_ns[time]], execution: x, at })));
    series.push({ type: 'scatter', name: 'kept', symbolSize: 5, symbolOffset: [11, 0], itemStyle: { color: theme.kept, opacity: 0.6 }, data: dots(true), z: 1 },
      { type: 'scatter', name: 'dropped', symbol: 'triangle', symbolSize: 7, symbolOffset: [19, 0], itemStyle: hollow(theme, theme.dropped, 1.2), data: dots(false), z: 1 });
  }
  return series;
}

function timeOption(theme: Theme, list: OneQuery[], all: OneQuery[], time: TimeName, log: boolean): Option {
  const alone = list.length === 1;
  const base = baseOption(theme);
  return {
    ...base,
    grid: { left: 24, right: 36, top: alone ? 46 : 32, bottom: 30, containLabel: true },
    legend: list.length > NAMED ? { show: false } : {
      data: alone ? [String(list[0]!.query), 'kept', 'dropped'] : list.map((one) => String(one.query)),
      formatter: (key: string) => (/^\d+$/.test(key) ? short(all.find((one) => one.query === Number(key))?.name ?? key, 20) : `execution ${key}`),
    },
    tooltip: {
      ...(base as any).tooltip, trigger: 'item',
      formatter: (p: any) => {
        const x = p.data?.execution;
        if (x) return tip([`${atName(p.data.at, 60)}, execution ${x.number}`, format.ns(x.times_ns[time]), x.dropped_by.length ? `dropped: ${x.dropped_by.join(', ')}` : 'kept']);
        return p.data?.at ? pointTip(p.data.at, time) : tip(['']);
      },
    },
    dataZoom: [{ type: 'inside', filterMode: 'none', zoomOnMouseWheel: 'ctrl', xAxisIndex: 0 }],
    xAxis: axis(theme, 'cardinality', {
      type: 'value', scale: true, min: 'dataMin', max: 'dataMax', boundaryGap: ['4%', '4%'], axisLabel: { formatter: (value: number) => compact(value) },
    }),
    yAxis: timeAxis(theme, log, TIME_TITLE[time]),
    series: list.flatMap((one) => lineOf(theme, one, all.indexOf(one), time, alone, list.length > CROWD)),
  };
}

/** "150 k": of an axis. */
export function compact(value: number): string {
  for (const [scale, unit] of [[1e9, ' G'], [1e6, ' M'], [1e3, ' k']] as const) if (Math.abs(value) >= scale) return `${Number((value / scale).toPrecision(4))}${unit}`;
  return String(Number(value.toPrecision(4)));
}

function timeWords(list: OneQuery[], time: TimeName): string {
  const parts = list.slice(0, 12).map((one) => {
    const drawn = one.at.filter((at) => medianOf(at, time) !== null);
    if (!drawn.length) return `${short(one.name, 40)}: no time known`;
    const [first, last] = [drawn[0]!, drawn[drawn.length - 1]!];
    const changes = changesOf(one).map((c) => `plan ${c.below.plan} changes to ${c.above.plan} between ${rows(c.below.cardinality)} and ${rows(c.above.cardinality)}`);
    return `${short(one.name, 40)}: ${format.ns(medianOf(first, time))} at ${rows(first.cardinality)} to ${format.ns(medianOf(last, time))} at ${rows(last.cardinality)}${changes.length ? `, ${changes.join(', ')}` : ''}`;
  });
  return `Median ${TIME_TITLE[time]} by cardinality. ${parts.join('; ')}${list.length > 12 ? `; and ${list.length - 12} more queries` : ''}.`;
}

const timeColumns = (time: () => TimeName) => [
  { name: 'query', title: 'query', kind: 'text' as const, of: (at: QueryAt) => at.name },
  { name: 'cardinality', title: 'cardinality', kind: 'number' as const, of: (at: QueryAt) => at.cardinality },
  { name: 'plan', title: 'plan', kind: 'text' as const, of: (at: QueryAt) => at.plan },
  { name: 'median_ns', title: 'median', kind: 'ns' as const, of: (at: QueryAt) => medianOf(at, time()) },
  { name: 'low_ns', title: 'least', kind: 'ns' as const, of: (at: QueryAt) => spread(at, time())?.[0] ?? null },
  { name: 'high_ns', title: 'most', kind: 'ns' as const, of: (at: QueryAt) => spread(at, time())?.[1] ?? null },
  { name: 'executions_kept', title: 'executions kept', kind: 'number' as const, of: (at: QueryAt) => at.kept },
  { name: 'dropped_by', title: 'dropped by', kind: 'text' as const, of: (at: QueryAt) => at.dropped_by },
];

/** Of queries over tables that vary. */
export function timeByCardinality(section: QuerySection, q: Query, open: (at: QueryAt) => void): ChartHandle | null {
  const all = queriesOf(q).map((one) => ({ ...one, at: one.at.filter((at) => at.cardinality !== null) })).filter((one) => one.at.length);
  const every = all.flatMap((one) => one.at);
  const times = TIMES.filter((t) => known(every, t));
  if (!times.length) return null;
  let time = times.includes(q.time) ? q.time : times[0]!;
  let chosen = all.length === 1 ? String(all[0]!.query) : '';
  let log = false;
  const list = () => (chosen ? all.filter((one) => String(one.query) === chosen) : all);
  const changed = all.filter((one) => changesOf(one).length).length;
  const handle: ChartHandle = chartCard<QueryAt>({
    name: `${section.anchor}-cardinality`, title: 'Time by cardinality', height: 420, summary: timeWords(all, time),
    about: `Medians; whiskers from the least to the most of the executions${q.at_kept < q.at_made ? '; hollow points are Q@Cs that were dropped' : ''}. ${
      every.some((at) => at.plan) ? `Letters are plans, ${changed ? `which change in ${changed} of ${all.length} queries` : 'which never change'}.` : 'Plans are not known.'}`,
    ...(all.length > NAMED ? { hint: 'Hover names a line; the list has a query alone.' } : {}),
    controls: [
      all.length > 1 ? select('query of the chart', [['', 'all queries'], ...all.map((one): [string, string] => [String(one.query), `${short(one.name, 40)}${changesOf(one).length ? ' · plan changes' : ''}`])],
        chosen, (value) => { chosen = value; handle.redraw(); }) : null,
      times.length > 1 ? select('time of the chart', times.map((t): [string, string] => [t, TIME_TITLE[t]]), time, (value) => { time = value as TimeName; handle.redraw(); }) : null,
      select('scale of the chart', [['linear', 'linear'], ['log', 'logarithmic']], 'linear', (value) => { log = value === 'log'; handle.redraw(); }),
    ],
    option: (theme) => timeOption(theme, list(), all, time, log),
    axes: () => chosen,
    data: { columns: timeColumns(() => time), rows: () => list().flatMap((one) => one.at) },
    onReady: (chart) => chart.on('click', (p: any) => { if (p.data?.at) open(p.data.at); }),
  });
  return handle;
}

/** Of queries whose tables are what they are. */
export function timeByQuery(section: QuerySection, q: Query, open: (at: QueryAt) => void): ChartHandle | null {
  const list = q.at.filter((at) => at.cardinality === null);
  const times = TIMES.filter((t) => known(list, t));
  if (!times.length) return null;
  let time = times.includes(q.time) ? q.time : times[0]!;
  let log = false;
  const drawn = () => list.filter((at) => medianOf(at, time) !== null);
  const handle: ChartHandle = chartCard<QueryAt>({
    name: `${section.anchor}-queries`, title: 'Time by query', height: list.length > 2 ? 380 : 260,
    summary: `Median ${TIME_TITLE[time]} of each query. ${drawn().slice(0, 20).map((at) => `${short(at.name, 40)}: ${format.ns(medianOf(at, time))}`).join('; ')}.`,
    about: 'Medians; whiskers from the least to the most of the executions.',
    controls: [
      times.length > 1 ? select('time of the chart', times.map((t): [string, string] => [t, TIME_TITLE[t]]), time, (value) => { time = value as TimeName; handle.redraw(); }) : null,
      select('scale of the chart', [['linear', 'linear'], ['log', 'logarithmic']], 'linear', (value) => { log = value === 'log'; handle.redraw(); }),
    ],
    option: (theme) => {
      const rowsOf = drawn();
      const base = baseOption(theme);
      const reach = rowsOf.flatMap((at, i) => {
        const ends = spread(at, time);
        return ends ? [{ value: [i, ...ends], at }] : [];
      });
      return {
        ...base, legend: undefined,
        grid: { left: 24, right: 24, top: 40, bottom: 12, containLabel: true },
        tooltip: { ...(base as any).tooltip, trigger: 'item', formatter: (p: any) => (p.data?.at ? pointTip(p.data.at, time) : tip([''])) },
        dataZoom: [{ type: 'inside', filterMode: 'none', zoomOnMouseWheel: 'ctrl', xAxisIndex: 0 }],
        xAxis: axis(theme, '', { type: 'category', data: rowsOf.map((at) => short(at.name, 18)), axisLabel: { rotate: rowsOf.length > 6 ? 40 : 0 } }),
        yAxis: timeAxis(theme, log, TIME_TITLE[time]),
        series: [
          { type: 'scatter', symbolSize: 10, data: rowsOf.map((at, i) => ({ value: [i, medianOf(at, time)], at, itemStyle: at.dropped_by ? hollow(theme, theme.series[0]!) : undefined })) },
          { ...reaches(theme.series[0]!), data: reach, z: 1 },
        ],
      };
    },
    axes: () => time, // of which not every query has every one
    data: { columns: timeColumns(() => time), rows: () => list },
    onReady: (chart) => chart.on('click', (p: any) => { if (p.data?.at) open(p.data.at); }),
  });
  return handle;
}

interface Stack { name: string; colour: (theme: Theme) => string; decal?: Record<string, unknown>; values: (number | null)[] }

/** Rows that are read from above, of stacked parts; many are looked at through a window that can be moved. wholes: what shares are of. */
function stackOption(theme: Theme, labels: string[], stacks: Stack[], wholes: number[], share: boolean, tipOf: (i: number) => HTMLElement, names: string[]): Option {
  const base = baseOption(theme);
  const part = (value: number | null, i: number) => (value === null ? null : share ? (wholes[i] ? value / wholes[i]! : null) : value);
  // parts may be more than the whole: what several processes do at once
  const beyond = labels.some((_, i) => stacks.reduce((sum, s) => sum + (s.values[i] ?? 0), 0) > wholes[i]! * 1.000001);
  return {
    ...base,
    grid: { left: 12, right: 24 + rowsRoom(labels.length), top: 8, bottom: 12, containLabel: true },
    legend: { formatter: (key: string) => names[stacks.findIndex((s) => s.name === key)] ?? key },
    tooltip: { ...(base as any).tooltip, trigger: 'axis', axisPointer: { type: 'shadow' }, formatter: (p: any) => tipOf(p[0].dataIndex) },
    dataZoom: rowsZoom(theme, labels.length),
    xAxis: axis(theme, '', { type: 'value', ...(share && !beyond ? { max: 1, interval: 0.25 } : {}), splitNumber: 4, axisLabel: { formatter: (value: number) => (share ? format.percent(value) : format.ns(value)) } }),
    // fewer ticks where there is no room for the labels of all of them
    media: [{ query: { maxWidth: 480 }, option: { xAxis: share && !beyond ? { interval: 0.5 } : { splitNumber: 2 } } }, { option: { xAxis: share && !beyond ? { interval: 0.25 } : { splitNumber: 4 } } }],
    yAxis: axis(theme, '', { type: 'category', inverse: true, data: labels, axisLabel: { width: 160, overflow: 'truncate', hideOverlap: true, fontSize: 11 } }),
    series: stacks.map((s) => ({
      type: 'bar', name: s.name, stack: 'all', barMaxWidth: 22, itemStyle: { color: s.colour(theme), decal: s.decal }, data: s.values.map(part),
    })),
  };
}

function stackHeight(rows: number): number {
  return Math.max(3, rows) * 19 + 50;
}

function shortLabel(at: QueryAt): string {
  return at.cardinality === null ? short(at.name, 22) : `${short(at.name, 12)} ${compact(at.cardinality)}${at.plan ? ` ${at.plan}` : ''}`;
}

/** CPU, own I/O, other. */
export function splitChart(section: QuerySection, q: Query): ChartHandle | null {
  const list = splitsOf(section, q);
  if (!list.length || list.every((s) => s.cpu === null && s.device === null)) return null;
  let share = false;
  const unknown = list.some((s) => s.not_cpu !== null);
  const parallel = list.filter((s) => (s.cpu ?? 0) + (s.device ?? 0) > s.measured).length;
  const mean = (of: (s: Split) => number | null) => {
    const some = list.filter((s) => of(s) !== null && s.measured > 0);
    return some.length ? some.reduce((sum, s) => sum + of(s)! / s.measured, 0) / some.length : null;
  };
  const handle: ChartHandle = chartCard<Split>({
    name: `${section.anchor}-split`, title: 'Where the time went', height: stackHeight(rowsSeen(list.length)),
    summary: `Elapsed time of each query at each cardinality, split. On average ${format.percent(mean((s) => s.cpu))} is CPU time of the query, ${format.percent(mean((s) => s.device))} its own I/O and ${format.percent(mean((s) => s.other))} anything else${unknown ? '; where its I/O is not known, what is not CPU is one part' : ''}.`,
    about: `Means of the executions kept (of dropped Q@Cs: of all that ended). Own I/O is the time that devices served the query; other is the rest of the elapsed time: waiting for a CPU, for others’ I/O, for locks. Shares are of the elapsed time${
      parallel ? `: in ${parallel} of ${list.length} Q@Cs CPU time and I/O are more than that, since several processes, or a process and its I/O, went on at once` : ''}.${unknown ? ' Where own I/O is not known, it is in what is not CPU.' : ''}`,
    controls: [select('what the bars show', [['time', 'time'], ['share', 'share']], 'time', (value) => { share = value === 'share'; handle.redraw(); })],
    option: (theme) => stackOption(theme, list.map((s) => shortLabel(s.at)), [
      { name: 'CPU', colour: (t) => t.series[0]!, values: list.map((s) => s.cpu) },
      { name: 'own I/O', colour: (t) => t.series[8]!, decal: { symbol: 'rect', dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: -Math.PI / 4, color: theme.card }, values: list.map((s) => s.device) },
      { name: 'other', colour: (t) => t.series[6]!, decal: { symbol: 'circle', dashArrayX: [[6, 6], [0, 6, 6, 0]], dashArrayY: [4, 0], symbolSize: 0.7, color: theme.card }, values: list.map((s) => s.other) },
      ...(unknown ? [{ name: 'not CPU', colour: (t: Theme) => t.series[5]!, decal: { symbol: 'rect', dashArrayX: [1, 0], dashArrayY: [1, 5], rotation: Math.PI / 4, color: theme.card }, values: list.map((s) => s.not_cpu) }] : []),
    ], list.map((s) => s.measured), share, (i) => {
      const s = list[i]!;
      return tip([atName(s.at, 60), `elapsed ${format.ns(s.measured)}, mean of ${s.n}`, `CPU ${format.ns(s.cpu)}`, `own I/O ${format.ns(s.device)}`, s.not_cpu === null ? `other ${format.ns(s.other)}` : `not CPU ${format.ns(s.not_cpu)}`,
        s.delay !== null && `waited for a CPU ${format.ns(s.delay)} (all threads)`]);
    }, ['CPU', 'own I/O', 'other', 'not CPU']),
    data: {
      columns: [
        { name: 'query', title: 'query', kind: 'text', of: (s) => s.at.name },
        { name: 'cardinality', title: 'cardinality', kind: 'number', of: (s) => s.at.cardinality },
        { name: 'executions', title: 'executions', kind: 'number', of: (s) => s.n },
        { name: 'measured_ns', title: 'elapsed', kind: 'ns', of: (s) => s.measured },
        { name: 'cpu_ns', title: 'CPU', kind: 'ns', of: (s) => s.cpu },
        { name: 'own_device_ns', title: 'own I/O', kind: 'ns', of: (s) => s.device },
        { name: 'other_ns', title: 'other', kind: 'ns', of: (s) => s.other },
        ...(unknown ? [{ name: 'not_cpu_ns', title: 'not CPU', kind: 'ns' as const, of: (s: Split) => s.not_cpu }] : []),
        { name: 'run_delay_ns', title: 'waited for a CPU', kind: 'ns', of: (s) => s.delay },
      ],
      rows: () => list,
    },
  });
  return longChart(`${section.anchor}-split`, handle, list.length, stackHeight);
}

/** The ledgers of Q@Cs, by cause. */
export function ledgerChart(section: QuerySection, q: Query): ChartHandle | null {
  const list = section.ledgers.filter((l) => l.mean.some((ns) => ns > 0));
  if (!list.length) return null;
  const atOf = (l: typeof list[number]) => q.at.find((at) => at.query === l.query && at.cardinality === l.cardinality);
  const nameOf = (l: typeof list[number]) => ({ name: atOf(l)?.name ?? `query ${l.query}`, cardinality: l.cardinality });
  const sums = new Map<string, number>();
  for (const l of list) l.causes.forEach((cause, i) => sums.set(cause, (sums.get(cause) ?? 0) + (l.mean[i] ?? 0)));
  const all = [...sums.values()].reduce((a, b) => a + b, 0);
  const causes = [...sums.keys()].filter((cause) => sums.get(cause)! > 0);
  const of = (l: typeof list[number], cause: string) => l.mean[l.causes.indexOf(cause)] ?? 0;
  let share = true;
  const spanOf = (l: typeof list[number]) => l.mean.reduce((a, b) => a + b, 0);
  // what the ledger has beyond the query is most of it where the query is short
  const furthest = list.reduce((a, b) => (spanOf(b) * a.elapsed_ns > spanOf(a) * b.elapsed_ns ? b : a));
  const spans = `${list.length > 1 ? `furthest apart in ${atName(nameOf(furthest), 30)}: ` : ''}ledger of ${format.ns(spanOf(furthest))}, elapsed in the query itself ${format.ns(furthest.elapsed_ns)}`;
  const biggest = [...causes].sort((a, b) => sums.get(b)! - sums.get(a)!).slice(0, 4);
  const handle: ChartHandle = chartCard<typeof list[number]>({
    name: `${section.anchor}-ledgers`, title: 'Ledgers of the queries', height: stackHeight(rowsSeen(list.length)),
    summary: `Time of the ledger of each query at each cardinality by cause, mean over the executions kept; ${spans}. Most of it: ${biggest.map((c) => `${short(c, 30)} ${format.percent(sums.get(c)! / all)}`).join(', ')}.`,
    about: `A ledger begins before the query is asked and ends after it: its time is that of the process that executes the query, not the elapsed time alone. ${spans.charAt(0).toUpperCase()}${spans.slice(1)}. Beside each name stands what elapsed in the query itself. Every ns of the ledger has one cause; means over the executions kept.`,
    controls: [select('what the bars show', [['share', 'share'], ['time', 'time']], 'share', (value) => { share = value === 'share'; handle.redraw(); })],
    option: (theme) => stackOption(theme, list.map((l) => { const at = atOf(l); return `${at ? shortLabel(at) : atName(nameOf(l), 14)}, ${format.ns(l.elapsed_ns)}`; }),
      causes.map((cause, i) => ({ name: String(i), colour: (t: Theme) => causeColour(cause, t), values: list.map((l) => of(l, cause)) })), list.map(spanOf), share,
      (i) => {
        const l = list[i]!;
        const total = spanOf(l);
        return tip([atName(nameOf(l), 60), `ledger of ${format.ns(total)}, elapsed in the query itself ${format.ns(l.elapsed_ns)}`, ...[...causes].filter((c) => of(l, c) > 0).sort((a, b) => of(l, b) - of(l, a)).slice(0, 10)
          .map((c) => `${short(c, 30)} ${format.ns(of(l, c))} (${format.percent(of(l, c) / total)})`)]);
      }, causes.map((c) => short(c, 30))),
    data: {
      columns: [
        { name: 'query', title: 'query', kind: 'text', of: (l) => nameOf(l).name },
        { name: 'cardinality', title: 'cardinality', kind: 'number', of: (l) => l.cardinality },
        { name: 'elapsed_ns', title: 'elapsed in the query', kind: 'ns', of: (l) => l.elapsed_ns },
        { name: 'ledger_ns', title: 'ledger', kind: 'ns', of: spanOf },
        ...causes.map((cause) => ({ name: `${cause}_ns`, title: short(cause, 30), kind: 'ns' as const, of: (l: typeof list[number]) => of(l, cause) })),
      ],
      rows: () => list,
    },
  });
  return longChart(`${section.anchor}-ledgers`, handle, list.length, stackHeight);
}
