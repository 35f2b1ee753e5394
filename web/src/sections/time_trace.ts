// Who had each CPU while a traced execution ran: a lane for each CPU, its interrupts above it, beneath them what the subject's threads waited for.
import type { Detail, Trace } from '../types';
import { axis, baseOption, chartCard, tip, zoom, type Chart, type ChartHandle } from '../parts/chart';
import { short } from '../parts/dom';
import * as format from '../parts/format';
import { causeColour, meaning, textOn, type Theme } from '../parts/theme';
import { calmly, grid, gridRect, tick, visibleWithin, type Time } from './time_common';

const KINDS = ['the subject', 'another process', 'tare', 'a kernel thread', 'hard interrupt', 'soft interrupt', 'NMI'] as const;
const WAIT = 7; // of a rectangle: a wait, not a kind of slice

/** Interrupts have the colours of their causes; the others none that a cause has, since waits beneath them are drawn in those. */
const kindColours = (theme: Theme): string[] => [
  theme.kept, theme.dark ? '#5fd35f' : '#2a8a2a', theme.text, theme.dark ? '#5ccbe8' : '#0e86a6', theme.series[1]!, theme.series[2]!, theme.series[3]!, theme.muted,
];

interface Rect {
  lane: number;
  at: number;
  end: number;
  kind: number;
  name: number; // index of names: of a wait its cause
  merged: number; // slices in it
}

interface Lane {
  label: string;
  rects: Rect[]; // by begin
}

function lanesOf(time: Time, trace: Trace): Lane[] {
  const name = (i: number) => time.section.names[i] ?? '?';
  const lanes: Lane[] = trace.cpus.flatMap((cpu) => [{ label: `CPU ${cpu} interrupts`, rects: [] }, { label: `CPU ${cpu}`, rects: [] }] as Lane[]);
  for (const [cpu, at, ns, kind, who] of trace.slices) {
    const lane = 2 * cpu + (kind >= 4 ? 0 : 1);
    lanes[lane]?.rects.push({ lane, at, end: at + ns, kind, name: who, merged: 1 });
  }
  const threads = trace.threads.map(([who, tid]) => ({ label: `${short(name(who), 16)} ${tid} waits`, rects: [] }) as Lane);
  for (const [thread, at, ns, cause] of trace.waits) threads[thread]?.rects.push({ lane: 0, at, end: at + ns, kind: WAIT, name: cause, merged: 1 });
  // a CPU without an interrupt needs no lane for them
  const all = [...lanes, ...threads].filter((lane) => lane.rects.length);
  all.forEach((lane, i) => {
    lane.rects.sort((a, b) => a.at - b.at);
    for (const rect of lane.rects) rect.lane = i;
  });
  return all;
}

/** What is seen between low and high at this many ns a pixel: neighbours of one kind that share a pixel are one rectangle. */
function visible(lanes: Lane[], low: number, high: number, pixel: number): Rect[] {
  const out: Rect[] = [];
  for (const lane of lanes) {
    let last: Rect | null = null;
    for (const rect of lane.rects) {
      if (rect.end < low || rect.at > high) continue;
      if (last && last.kind === rect.kind && rect.end - rect.at < pixel && rect.at - last.end < pixel / 2 && (last.merged > 1 || last.end - last.at < pixel)) {
        last.end = Math.max(last.end, rect.end);
        last.merged++;
        continue;
      }
      last = { ...rect };
      out.push(last);
    }
  }
  return out;
}

export function traceCard(time: Time, position: number, detail: Detail): ChartHandle | null {
  const trace = detail.trace;
  if (!trace) return null;
  const { names } = time.section;
  const lanes = lanesOf(time, trace);
  if (!lanes.length) return null;
  let rects: Rect[] = [];
  let themeNow: Theme | null = null;
  const colour = (rect: Rect, theme: Theme) => (rect.kind === WAIT ? causeColour(names[rect.name] ?? '?', theme)
    : kindColours(theme)[rect.kind] ?? theme.muted);
  const who = (rect: Rect) => (rect.kind !== WAIT && rect.merged > 1 ? `${rect.merged}` : short(names[rect.name] ?? '?', 40));

  const kinds = [...KINDS, 'waits'];
  let hiddenNow: ReadonlySet<string> = new Set();
  function series(theme: Theme): Record<string, unknown>[] {
    return kinds.map((kind, k) => {
      const list = rects.map((rect, i) => [rect, i] as const).filter(([rect]) => rect.kind === k);
      return {
        id: `kind-${k}`, name: kind, type: 'custom', clip: true, progressive: 0, encode: { x: [1, 2], y: 0 }, itemStyle: { color: kindColours(theme)[k] },
        data: list.map(([rect, i]) => [rect.lane, rect.at, rect.end, i]),
        renderItem: (_: unknown, api: any) => {
          const rect = rects[api.value(3)];
          if (!rect) return null;
          const a = api.coord([api.value(1), api.value(0)]);
          const b = api.coord([api.value(2), api.value(0)]);
          const full = api.size([0, 1])[1] as number;
          const height = full * (rect.kind >= 4 && rect.kind !== WAIT ? 0.55 : 0.8);
          const width = Math.max(1, b[0] - a[0]);
          // interrupts stand on the lane of their CPU
          const y = rect.kind >= 4 && rect.kind !== WAIT ? a[1] + full / 2 - height : a[1] - height / 2;
          const fill = colour(rect, theme);
          // not beyond what is drawn: a text in the middle of what is out of sight is not read
          const from = Math.max(a[0], api.coord([Math.max(0, low_()), 0])[0]);
          const room = Math.min(b[0], api.coord([high_(), 0])[0]) - from;
          return {
            type: 'group',
            children: [
              { type: 'rect', shape: { x: a[0], y, width, height }, style: { fill, stroke: theme.card, lineWidth: width > 3 ? 0.5 : 0 } },
              ...(room > 30 && full >= 12 ? [{ type: 'text', silent: true, x: from + 4, y: y + height / 2, style: { text: who(rect), fill: textOn(fill), font: '11px system-ui, sans-serif', verticalAlign: 'middle', width: room - 8, overflow: 'truncate', ellipsis: '…' } }] : []),
            ],
          };
        },
      };
    }).filter((s) => s.data.length && !hiddenNow.has(s.name));
  }
  let range: [number, number] = [0, trace.et_ns];
  const low_ = () => range[0];
  const high_ = () => range[1];

  function option(theme: Theme) {
    const base = baseOption(theme) as any;
    const chart = handle.chart();
    range = visibleWithin(chart, 0, trace!.et_ns);
    rects = visible(lanes, range[0], range[1], (range[1] - range[0]) / (chart?.getWidth() || 900));
    return {
      ...base,
      grid: grid(),
      dataZoom: zoom(),
      xAxis: axis(theme, 'since the execution began', { type: 'value', min: 0, max: trace!.et_ns, axisLabel: { formatter: tick, showMaxLabel: false } }),
      yAxis: axis(theme, '', { type: 'category', inverse: true, data: lanes.map((lane) => lane.label), axisTick: { show: false }, splitLine: { show: true, lineStyle: { color: theme.line, opacity: 0.5 } }, axisLabel: { interval: 0, fontSize: 11 } }),
      tooltip: {
        ...base.tooltip,
        formatter: (p: any) => {
          const rect = rects[p.value?.[3]];
          if (!rect) return tip([]);
          const wait = rect.kind === WAIT;
          return tip([rect.merged > 1 ? `${rect.merged} short ones` : short(names[rect.name] ?? '?', 120), wait ? meaning(names[rect.name] ?? '') : KINDS[rect.kind],
            `from ${format.ns(rect.at)}, for ${format.ns(rect.end - rect.at)}`]);
        },
      },
      series: series(theme),
    };
  }
  const update = calmly(() => {
    const chart = handle.chart();
    if (!chart || !themeNow) return;
    range = visibleWithin(chart, 0, trace.et_ns);
    rects = visible(lanes, range[0], range[1], (range[1] - range[0]) / Math.max(1, gridRect(chart).width));
    chart.setOption({ series: series(themeNow) }, { replaceMerge: ['series'] });
  });
  const row = lanes.length > 24 ? 16 : 24;
  type Row = [lane: string, rect: Rect];
  const handle: ChartHandle = chartCard<Row>({
    name: `${time.section.anchor}-trace-${position}`, title: 'Who had each CPU', height: 112 + row * lanes.length,
    about: trace.cut ? `${format.count(trace.cut)} of the shortest slices are left out.` : 'Interrupts stand above what they interrupted; beneath, what each thread waited for.',
    summary: `Timeline of ${format.ns(trace.et_ns)} on ${trace.cpus.length} CPUs: ${format.count(trace.slices.length)} slices, ${format.count(trace.waits.length)} waits of ${trace.threads.length} threads.`,
    option: (theme, hidden) => {
      hiddenNow = hidden;
      return option(themeNow = theme);
    },
    // of the whole of it, however little is in sight
    legend: (theme) => kinds.flatMap((name, k) => (lanes.some((lane) => lane.rects.some((rect) => rect.kind === k)) ? [{ name, sign: { colour: kindColours(theme)[k]! } }] : [])),
    data: {
      columns: [
        { name: 'lane', title: 'lane', kind: 'text', of: ([lane]) => lane },
        { name: 'at_ns', title: 'from', kind: 'ns', of: ([, r]) => r.at }, { name: 'ns', title: 'for', kind: 'ns', of: ([, r]) => r.end - r.at },
        { name: 'kind', title: 'kind', kind: 'text', of: ([, r]) => (r.kind === WAIT ? 'wait' : KINDS[r.kind] ?? '?') },
        { name: 'name', title: 'who', kind: 'text', of: ([, r]) => names[r.name] ?? '?' },
      ],
      rows: () => lanes.flatMap((lane) => lane.rects.map((rect): Row => [lane.label, rect])),
    },
    onReady: (chart: Chart) => { chart.on('datazoom', update); },
  });
  return handle;
}
