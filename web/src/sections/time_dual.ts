// The dual-execution scatter: an execution against the one before it, and the zooms by which the central cluster is found. An infrequent
// daemon meets one of a pair and makes an L; what fills the corner comes more often.
import type { StudyLevel } from '../types';
import { axis, baseOption, chartCard, tip, zoom, type Chart, type ChartHandle } from '../parts/chart';
import { append, button, freshId, h } from '../parts/dom';
import * as format from '../parts/format';
import { ring } from '../parts/marks';
import { pairsOf, SHAPE } from '../parts/pairs';
import { remember } from '../parts/remember';
import { table } from '../parts/table';
import { current, onChange, type Theme } from '../parts/theme';
import { culprit, executionName, FAILED, grid, KEPT, RULE_WORDS, tick, visibleX, WARMUP, type Time } from './time_common';

/** What is selected, and how it was written: who looks on while the run goes on keeps it. */
interface Picked {
  window: [number, number, number, number]; // ET of the odd one from, to, of the even one from, to
  texts: string[];
}

type Unit = readonly [ns: number, name: string];

const THUMB = 92;
const MANY = 3000; // points, from which on they are drawn as one
const FRAME = 'path://M5 0 L10 5 L5 10 L0 5 Z M5 1.6 L1.6 5 L5 8.4 L8.4 5 Z'; // around a point that is still seen: an empty symbol is filled

interface Pairs {
  first: Int32Array; // positions; the second one follows
  inside: Int32Array; // indexes of first
  outside: Int32Array;
  dropped: Int32Array; // of both
  low: number;
  high: number;
}

function sorted(time: Time): Pairs {
  const { number, rule, et } = time.section.columns;
  const far = new Set(time.section.dual!.outside);
  const first = pairsOf(number, (i) => rule[i] !== WARMUP && rule[i] !== FAILED);
  const those = (wanted: (i: number) => boolean) => Int32Array.from(first.keys()).filter((k) => wanted(first[k]!));
  let low = Infinity;
  let high = -Infinity;
  for (const i of first) {
    low = Math.min(low, et[i]!, et[i + 1]!);
    high = Math.max(high, et[i]!, et[i + 1]!);
  }
  const outside = (i: number) => far.has(i) || far.has(i + 1);
  return { first, inside: those((i) => !outside(i)), outside: those(outside), dropped: those((i) => rule[i] !== KEPT || rule[i + 1] !== KEPT), low, high };
}

function levelWords(level: StudyLevel, i: number, n: number): string {
  return `Zoom ${i + 1} of ${n}, ${format.ns(level.low_ns)} to ${format.ns(level.high_ns)}: ${SHAPE[level.shape]}. Above the cut at ${format.ns(level.cut_ns)}: `
    + `neither ${format.count(level.neither)}, the first ${format.count(level.first)}, the second ${format.count(level.second)}, both ${format.count(level.both)} `
    + `(by chance ${format.figure(level.both_expected)}).`;
}

export function dualCard(time: Time): HTMLElement | null {
  const { section } = time;
  const dual = section.dual;
  if (!dual) return null;
  const pairs = sorted(time);
  if (!pairs.first.length) return null;
  const { et } = section.columns;
  const levels = dual.levels;
  const pad = (pairs.high - pairs.low || pairs.high * 0.01 || 1) * 0.03;
  const [min, max] = [pairs.low - pad, pairs.high + pad];
  const level = remember(`${section.anchor}-dual-level`, -1); // all
  if (!levels[level.value]) level.value = -1;
  const brushing = remember(`${section.anchor}-dual-brushing`, false);
  const picked = remember<Picked | null>(`${section.anchor}-dual-picked`, null);
  // what is written in a field stays in the unit that it was written in, however long executions become
  const unit = remember<Unit>(`${section.anchor}-dual-unit`, pairs.high >= 1e9 ? [1e9, 's'] : pairs.high >= 1e6 ? [1e6, 'ms'] : [1e3, 'µs']);
  const [scale, unitName] = unit.value;
  let chosen: number[] = []; // indexes of pairs
  let windows = 0; // how often a level was asked for: each time it is all of it

  function data(list: ArrayLike<number>): Float64Array {
    const out = new Float64Array(2 * list.length);
    for (let k = 0; k < list.length; k++) {
      const i = pairs.first[list[k]!]!;
      out[2 * k] = et[i]!;
      out[2 * k + 1] = et[i + 1]!;
    }
    return out;
  }
  /** What the legend has: the rings around what is selected are no kind of their own. */
  const kinds = (theme: Theme) => [
    { id: 'inside', name: 'within the cluster', list: pairs.inside, symbol: 'circle', size: 5, colour: theme.kept },
    { id: 'outside', name: 'one lies outside of it', list: pairs.outside, symbol: 'triangle', size: 8, colour: theme.dropped },
    { id: 'dropped', name: 'one was dropped', list: pairs.dropped, symbol: FRAME, size: 13, colour: theme.series[1]! },
  ].filter((kind) => kind.list.length);
  let shown: Set<number> | null = null; // pairs; null: all
  function option(theme: Theme, hidden: ReadonlySet<string>) {
    const base = baseOption(theme) as any;
    const drawn = kinds(theme).filter((kind) => !hidden.has(kind.name));
    shown = hidden.size ? new Set(drawn.flatMap((kind) => [...kind.list])) : null;
    // of many points ECharts makes one path, which takes minutes to fill unless they are so small that it draws squares
    const scatter = ({ id, name, list, symbol, size, colour }: ReturnType<typeof kinds>[number], i: number) => ({
      id, name, type: 'scatter', dimensions: ['x', 'y'], data: data(list), symbol, symbolSize: list.length < MANY ? size : 3, large: true, largeThreshold: MANY, z: 2 + i,
      itemStyle: { color: colour, opacity: id === 'inside' ? 0.6 : 1 }, emphasis: { disabled: true },
    });
    const look = axis(theme, '', { type: 'value', min, max, axisLabel: { formatter: tick, showMinLabel: false, showMaxLabel: false } });
    const now = levels[level.value];
    return {
      ...base,
      dataZoom: zoomed(now),
      brush: { xAxisIndex: 0, yAxisIndex: 0, seriesIndex: [], brushType: 'rect', brushMode: 'single', transformable: true, throttleType: 'debounce', throttleDelay: 100,
        brushStyle: { borderColor: theme.accent, borderWidth: 2, color: 'rgba(120,160,220,0.18)' } },
      xAxis: { ...look, name: 'ET of the odd one' },
      yAxis: { ...look, name: 'ET of the even one after it', nameGap: 12 },
      toolbox: { show: false }, // the brush would bring one
      grid: grid(14, 30),
      tooltip: { ...base.tooltip, formatter: (p: any) => about(p.seriesId, p.dataIndex) },
      series: [
        ...drawn.map(scatter),
        { ...rings(theme), markLine: now ? { silent: true, symbol: 'none', lineStyle: { color: theme.muted, type: 'dashed' }, label: { show: false }, data: [{ xAxis: now.cut_ns }, { yAxis: now.cut_ns }] } : { data: [] } },
      ],
    };
  }
  const ringed = () => (shown ? chosen.filter((k) => shown!.has(k)) : chosen);
  function rings(theme: Theme): Record<string, unknown> {
    return { id: 'chosen', name: 'selected', type: 'scatter', dimensions: ['x', 'y'], data: data(ringed()), ...ring(theme.accent, ringed().length), z: 5, emphasis: { disabled: true } };
  }
  function zoomed(now: StudyLevel | undefined): Record<string, unknown>[] {
    const margin = now ? (now.high_ns - now.low_ns || 1) * 0.04 : 0;
    const of = (v: number) => Math.max(0, Math.min(100, ((v - min) / (max - min)) * 100));
    const [start, end] = now ? [of(now.low_ns - margin), of(now.high_ns + margin)] : [0, 100];
    return zoom(true).map((z) => ({ ...z, start, end }));
  }
  function pairAt(id: string, index: number): number | undefined {
    return id === 'inside' ? pairs.inside[index] : id === 'outside' ? pairs.outside[index] : id === 'dropped' ? pairs.dropped[index] : ringed()[index];
  }
  function about(id: string, index: number): HTMLElement {
    const pair = pairAt(id, index);
    const i = pair === undefined ? undefined : pairs.first[pair];
    if (i === undefined) return tip([]);
    return tip([`${executionName(time, i)} and ${section.columns.number[i + 1]}`,
      ...[i, i + 1].flatMap((p) => [`${executionName(time, p)}: ET ${format.ns(et[p])}, ${RULE_WORDS[section.columns.rule[p]!]}`, culprit(time, p)?.slice(0, 200)])]);
  }
  const list = table<number>({
    name: `${section.anchor}-pairs`, caption: 'Selected pairs', rows: [], page: 8, onRow: (k) => time.open(pairs.first[k]!), rowLabel: (k) => `open ${executionName(time, pairs.first[k]!)}`,
    columns: [
      { name: 'first', title: 'first', kind: 'number', of: (k) => section.columns.number[pairs.first[k]!] },
      { name: 'first_et_ns', title: 'ET', kind: 'ns', of: (k) => et[pairs.first[k]!] },
      { name: 'first_rule', title: 'counts', kind: 'text', of: (k) => RULE_WORDS[section.columns.rule[pairs.first[k]!]!]! },
      { name: 'second', title: 'second', kind: 'number', of: (k) => section.columns.number[pairs.first[k]! + 1] },
      { name: 'second_et_ns', title: 'ET', kind: 'ns', of: (k) => et[pairs.first[k]! + 1] },
      { name: 'second_rule', title: 'counts', kind: 'text', of: (k) => RULE_WORDS[section.columns.rule[pairs.first[k]! + 1]!]! },
      { name: 'why', title: 'why', kind: 'text', of: (k) => [0, 1].map((d) => culprit(time, pairs.first[k]! + d)).filter(Boolean).join('; ') || null, most: 160 },
    ],
  });
  const listBox = h('div', { class: 'selected-pairs', hidden: true }, h('h4', {}, 'Selected pairs'), list.element);
  const said = h('p', { class: 'muted', 'aria-live': 'polite' });
  const fields = (['from', 'to', 'from', 'to'] as const).map((label, i) => h('input', {
    type: 'number', step: 'any', 'data-window': i, 'aria-label': `ET of the ${i < 2 ? 'odd' : 'even'} one ${i % 2 ? 'to' : 'from'}, in ${unitName}`, placeholder: label, oninput: keepUnit, onchange: () => fromFields(),
  }));

  function keepUnit(): void {
    unit.value = [scale, unitName];
  }
  function pick(now: Picked | null): void {
    picked.value = now;
    keepUnit();
    const next = now?.window;
    chosen = [];
    if (next) {
      for (let k = 0; k < pairs.first.length; k++) {
        const i = pairs.first[k]!;
        if (et[i]! >= next[0] && et[i]! <= next[1] && et[i + 1]! >= next[2] && et[i + 1]! <= next[3]) chosen.push(k);
      }
    }
    handle.chart()?.setOption({ series: [rings(current())] });
    list.set(chosen);
    listBox.hidden = !next;
    say();
    const positions: number[] = [];
    for (const k of chosen) positions.push(pairs.first[k]!, pairs.first[k]! + 1);
    time.select(positions);
  }
  function say(): void {
    const words = !levels[level.value] ? `${format.count(pairs.first.length)} pairs, ${pairs.outside.length ? format.count(pairs.outside.length) : 'none'} with one outside of the central cluster, ${pairs.dropped.length ? format.count(pairs.dropped.length) : 'none'} with one that was dropped.` : levelWords(levels[level.value]!, level.value, levels.length);
    said.textContent = picked.value ? `${words} Selected: ${format.count(chosen.length)} ${chosen.length === 1 ? 'pair' : 'pairs'}, marked in the samples, too.` : words;
  }
  function fromFields(): void {
    const values = fields.map((f) => (f.value === '' ? NaN : Number(f.value) * scale));
    if (values.every(Number.isNaN)) {
      clear();
      return;
    }
    // what is left empty does not limit
    const next = values.map((v, i) => (Number.isNaN(v) ? (i % 2 ? Infinity : -Infinity) : v)) as [number, number, number, number];
    pick({ window: next, texts: fields.map((f) => f.value) });
    frame();
  }
  /** The rectangle, as it is written in the fields. */
  function frame(): void {
    const at = picked.value?.window;
    const within = at && [[Math.max(at[0], min), Math.min(at[1], max)], [Math.max(at[2], min), Math.min(at[3], max)]] as const;
    // beyond what is drawn there is nothing to frame
    const seen = within?.every(([low, high]) => low <= high);
    handle.chart()?.dispatchAction({ type: 'brush', areas: seen ? [{ brushType: 'rect', xAxisIndex: 0, yAxisIndex: 0, coordRange: within }] : [] });
  }
  function clear(): void {
    for (const f of fields) f.value = '';
    pick(null);
    frame();
  }
  const select = button('Select', () => {
    brushing.value = !brushing.value;
    takeCursor(handle.draw());
  }, 'select pairs by dragging a rectangle');
  select.setAttribute('aria-pressed', String(brushing.value));
  function takeCursor(chart: Chart): void {
    select.setAttribute('aria-pressed', String(brushing.value));
    chart.dispatchAction({ type: 'takeGlobalCursor', key: 'brush', brushOption: { brushType: brushing.value ? 'rect' : false, brushMode: 'single' } });
  }
  const handle: ChartHandle = chartCard<number>({
    name: `${section.anchor}-dual`, title: 'Pairs of successive executions', height: 420,
    about: 'Each pair once: the odd execution to the right, the even one after it upwards. The small pictures are the zooms by which the cluster was found; the frame within one is the next.',
    summary: `${format.count(pairs.first.length)} pairs, ${format.count(pairs.outside.length)} with an execution outside of the central cluster, ${format.count(pairs.dropped.length)} with one that was dropped. ${levels.map((l, i) => levelWords(l, i, levels.length)).join(' ')}`,
    controls: [select, button('Clear', clear, 'clear the selection'), h('span', { class: 'window-fields', role: 'group', 'aria-label': `window of the selection, in ${unitName}` },
      h('span', { class: 'one-line' }, 'odd ', fields[0]!, ' – ', fields[1]!), h('span', { class: 'one-line' }, 'even ', fields[2]!, ' – ', fields[3]!, ` ${unitName}`))],
    option,
    axes: () => String(windows),
    legend: (theme) => kinds(theme).map(({ name, symbol, colour }) => ({ name, sign: { symbol, colour } })),
    data: {
      columns: [
        { name: 'first', title: 'odd execution', kind: 'number', of: (k) => section.columns.number[pairs.first[k]!] },
        { name: 'first_et_ns', title: 'its ET', kind: 'ns', of: (k) => et[pairs.first[k]!] },
        { name: 'second_et_ns', title: 'ET of the next', kind: 'ns', of: (k) => et[pairs.first[k]! + 1] },
      ],
      rows: () => Array.from(pairs.first, (_, k) => k),
    },
    onDraw(chart: Chart) {
      takeCursor(chart);
      frame();
    },
    onReady(chart: Chart) {
      chart.on('brushEnd', (event: any) => {
        const range = event.areas?.[0]?.coordRange as [[number, number], [number, number]] | undefined;
        if (!range) {
          clear();
          return;
        }
        const flat: [number, number, number, number] = [range[0][0], range[0][1], range[1][0], range[1][1]];
        // as fine as a pixel or so
        const step = Math.floor(Math.log10((visibleX(chart)[1] - visibleX(chart)[0]) / scale / 500));
        fields.forEach((f, i) => { f.value = String(Number((flat[i]! / scale).toFixed(Math.max(0, Math.min(9, -step))))); });
        pick({ window: flat, texts: fields.map((f) => f.value) });
      });
      chart.on('click', (p: any) => {
        const pair = p.seriesId && p.dataIndex != null ? pairAt(p.seriesId, p.dataIndex) : undefined;
        if (pair === undefined || brushing.value) return;
        const i = pairs.first[pair]!;
        time.open(et[i]! >= et[i + 1]! ? i : i + 1);
      });
      drawThumbs();
    },
  });

  // the zooms, as pictures of their own
  const thumbs: { canvas: HTMLCanvasElement; of: number }[] = [];
  function drawThumbs(): void {
    const theme = current();
    for (const { canvas, of } of thumbs) paint(canvas, of, theme);
  }
  function paint(canvas: HTMLCanvasElement, of: number, theme: Theme): void {
    const scale = window.devicePixelRatio || 1;
    canvas.width = canvas.height = THUMB * scale;
    const g = canvas.getContext('2d')!;
    g.scale(scale, scale);
    const [low, high] = of < 0 ? [min, max] : [levels[of]!.low_ns, levels[of]!.high_ns];
    const size = THUMB - 8;
    const span = high - low || 1;
    const place = (v: number) => 4 + ((v - low) / span) * size;
    const cells = new Uint8Array(THUMB * THUMB);
    const mark = (k: number, what: number) => {
      const i = pairs.first[k]!;
      const x = Math.round(place(Math.min(high, Math.max(low, et[i]!))));
      const y = Math.round(THUMB - place(Math.min(high, Math.max(low, et[i + 1]!))));
      if (x >= 0 && y >= 0 && x < THUMB && y < THUMB) cells[y * THUMB + x] = what;
    };
    pairs.inside.forEach((k) => mark(k, 1));
    pairs.outside.forEach((k) => mark(k, 2));
    g.clearRect(0, 0, THUMB, THUMB);
    for (let c = 0; c < cells.length; c++) {
      if (!cells[c]) continue;
      g.fillStyle = cells[c] === 1 ? theme.kept : theme.dropped;
      g.fillRect((c % THUMB) - 1, Math.floor(c / THUMB) - 1, 2, 2);
    }
    const next = levels[of + 1];
    if (next) {
      g.strokeStyle = theme.text;
      g.lineWidth = 1;
      const a = place(Math.max(low, next.low_ns));
      const b = place(Math.min(high, next.high_ns));
      g.strokeRect(a - 2.5, THUMB - b - 2.5, Math.max(5, b - a + 5), Math.max(5, b - a + 5));
    }
  }
  const strip = h('div', { class: 'zooms', role: 'group', 'aria-label': 'zoom levels' });
  for (let of = -1; of < levels.length; of++) {
    const canvas = h('canvas', { 'aria-hidden': 'true' });
    canvas.style.width = canvas.style.height = `${THUMB}px`;
    thumbs.push({ canvas, of });
    const id = freshId('zoom');
    append(strip, h('button', {
      type: 'button', id, 'data-level': of + 1, 'aria-pressed': String(of === level.value),
      'aria-label': of < 0 ? 'all pairs' : `zoom ${of + 1}: ${levels[of]!.shape}, ${format.ns(levels[of]!.low_ns)} to ${format.ns(levels[of]!.high_ns)}`,
      onclick: () => {
        level.value = of;
        windows++;
        for (const b of strip.querySelectorAll('button')) b.setAttribute('aria-pressed', String(b.id === id));
        handle.redraw();
        handle.draw();
        say();
      },
    }, canvas, h('span', {}, of < 0 ? 'all' : `${of + 1}: ${levels[of]!.shape}`)));
  }
  onChange(drawThumbs);
  const focus = handle.element.querySelector('.chart-focus')!;
  const body = h('div', { class: 'dual' });
  focus.replaceWith(body);
  append(body, focus, h('div', { class: 'dual-side' }, strip, said, listBox));
  if (picked.value) {
    picked.value.texts.forEach((text, i) => { fields[i]!.value = text; });
    pick(picked.value);
  }
  say();
  return handle.element;
}
