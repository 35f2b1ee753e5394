// A chart in a card: drawn when it comes into view, redrawn when colours or size change, zoomed by mouse and by keys, with its words and its
// figures for those who do not see it.
import * as echarts from 'echarts/core';
import { BarChart, CustomChart, HeatmapChart, LineChart, ScatterChart } from 'echarts/charts';
import {
  BrushComponent, DataZoomComponent, GridComponent, LegendComponent, MarkAreaComponent, MarkLineComponent, ToolboxComponent, TooltipComponent, VisualMapComponent,
} from 'echarts/components';
import { CanvasRenderer } from 'echarts/renderers';
import type { EChartsCoreOption, EChartsType } from 'echarts/core';
import { append, button, freshId, h } from './dom';
import { download } from './csv';
import { bare } from './format';
import { itemsOf, legend, type LegendItem } from './legend';
import { onPaper } from './print';
import { remember } from './remember';
import { tableCsv, table, type Column, type TableHandle } from './table';
import { current, onChange, type Theme } from './theme';

echarts.use([BarChart, CustomChart, HeatmapChart, LineChart, ScatterChart, BrushComponent, DataZoomComponent, GridComponent, LegendComponent,
  MarkAreaComponent, MarkLineComponent, ToolboxComponent, TooltipComponent, VisualMapComponent, CanvasRenderer]);

export type { EChartsCoreOption as Option, EChartsType as Chart };

export interface ChartSpec<Row = any> {
  name: string; // unique within the page, also of its file: "run-12-samples"
  title: string;
  summary: string; // what one would say who sees it: read by screen readers
  about?: string; // a sentence beneath the title
  hint?: string; // how to use it: not printed
  height?: number;
  option: (theme: Theme, hidden: ReadonlySet<string>) => EChartsCoreOption; // its legend is drawn beside it, as buttons; hidden: series that were taken out there
  legend?: (theme: Theme) => LegendItem[]; // where option() leaves out itself what is hidden
  axes?: () => string; // where it says something else than before, the axes are of something else, and a zoom does not stay
  data?: { columns: Column<Row>[]; rows: () => readonly Row[] }; // the same as a table and CSV
  controls?: (Node | null)[]; // of its own
  onReady?: (chart: EChartsType) => void; // once; listeners stay when it is redrawn
  onDraw?: (chart: EChartsType) => void; // each time: what an option does not hold is gone
}

export interface ChartHandle {
  element: HTMLElement;
  chart: () => EChartsType | null; // null: not drawn yet
  draw: () => EChartsType; // now
  redraw: () => void; // option() says something else now
  dispose: () => void; // it is not shown again
}

/** By name: for tests, and to draw everything before printing. */
export const charts = new Map<string, ChartHandle>();

/** Texts of a tooltip, never markup; the first is its heading. */
export function tip(lines: (string | null | undefined | false)[]): HTMLElement {
  const [first, ...rest] = lines.filter((line): line is string => !!line);
  const box = h('div', { class: 'tip' }, h('strong', {}, first ?? ''));
  for (const line of rest) append(box, h('div', {}, line));
  return box;
}

/** What every chart has in common; merge what is your own over it. */
export function baseOption(theme: Theme): EChartsCoreOption {
  return {
    animation: false,
    textStyle: { color: theme.text, fontFamily: 'system-ui, sans-serif' },
    color: theme.series,
    grid: { left: 12, right: 20, top: 12, bottom: 12, containLabel: true },
    tooltip: { confine: true, backgroundColor: theme.card, borderColor: theme.line, textStyle: { color: theme.text, fontSize: 12 } },
    legend: {}, // of all series; { show: false }: none
  };
}

/** The looks of an axis. */
export function axis(theme: Theme, name: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  const label = { ...(more['axisLabel'] ?? {}) } as Record<string, unknown>;
  const formatter = label['formatter'];
  if (typeof formatter === 'function' && more['type'] !== 'category') {
    label['formatter'] = (...given: unknown[]) => {
      const text: unknown = formatter(...given);
      return typeof text === 'string' ? bare(text) : text;
    };
  }
  return {
    name, nameLocation: 'middle', nameGap: 30, nameMoveOverlap: true, nameTextStyle: { color: theme.muted },
    axisLine: { lineStyle: { color: theme.line } },
    ...more,
    // an end that is not round has no number, so no line either
    splitLine: { lineStyle: { color: theme.line, opacity: 0.6 }, showMinLine: label['showMinLabel'] !== false, showMaxLine: label['showMaxLabel'] !== false, ...(more['splitLine'] ?? {}) },
    axisLabel: { color: theme.muted, hideOverlap: true, ...label },
  };
}

/** Zoom by wheel and drag on the x axis, and y too when asked; keys and buttons use the same. */
export function zoom(both = false): Record<string, unknown>[] {
  const inside = { type: 'inside', filterMode: 'none', zoomOnMouseWheel: 'ctrl', moveOnMouseMove: true };
  return both ? [{ ...inside, xAxisIndex: 0 }, { ...inside, yAxisIndex: 0 }] : [{ ...inside, xAxisIndex: 0 }];
}

interface Zoom { start: number; end: number; xAxisIndex?: unknown; yAxisIndex?: unknown }
type Along = 'x' | 'y' | 'all';

/** Zooms and moves what goes along an axis; false where there is nothing to move. */
function step(chart: EChartsType, factor: number, shift: number, along: Along = 'all'): boolean {
  const option = chart.getOption() as any;
  let moved = false;
  ((option.dataZoom ?? []) as Zoom[]).forEach((z, i) => {
    const upright = z.xAxisIndex === undefined && z.yAxisIndex !== undefined;
    if ((along === 'x' && upright) || (along === 'y' && !upright)) return;
    if (factor === 1 && z.start <= 0 && z.end >= 100) return; // all is seen
    const turned = upright && option.yAxis?.[[z.yAxisIndex].flat()[0] as number]?.inverse ? -1 : 1;
    const middle = (z.start + z.end) / 2 + turned * shift * (z.end - z.start);
    const half = Math.min(50, ((z.end - z.start) / 2) * factor);
    const low = Math.max(0, Math.min(100 - 2 * half, middle - half));
    chart.dispatchAction({ type: 'dataZoom', dataZoomIndex: i, start: factor === Infinity ? 0 : low, end: factor === Infinity ? 100 : low + 2 * half });
    moved = true;
  });
  return moved;
}

const zooms = new WeakMap<EChartsType, Map<string, [number, number]>>();

/** Where it has been zoomed to: what is drawn anew starts there. A zoom with an id of its own, as that of paper, starts where that one was. */
function keepZoom(chart: EChartsType, option: EChartsCoreOption): void {
  const had = zooms.get(chart) ?? new Map<string, [number, number]>();
  zooms.set(chart, had);
  const key = (zoom: any, i: number) => `${i} ${zoom.id ?? ''}`;
  (chart as any).getModel()?.eachComponent('dataZoom', (model: any, i: number) => had.set(key(model.option, i), model.getPercentRange()));
  const next = option['dataZoom'] as Record<string, unknown>[] | undefined;
  if (!next) return;
  option['dataZoom'] = next.map((zoom, i) => {
    const range = had.get(key(zoom, i));
    return range ? { ...zoom, startValue: undefined, endValue: undefined, start: range[0], end: range[1] } : zoom;
  });
}

const KEYS: Record<string, [factor: number, shift: number, along?: Along]> = {
  '+': [0.5, 0], '=': [0.5, 0], '-': [2, 0], '0': [Infinity, 0], ArrowLeft: [1, -0.25, 'x'], ArrowRight: [1, 0.25, 'x'], ArrowDown: [1, -0.25, 'y'], ArrowUp: [1, 0.25, 'y'],
};

const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) (entry.target as any).drawChart?.();
}, { rootMargin: '300px' });

export function drawAll(): void {
  for (const handle of charts.values()) handle.draw();
}

// A legend comes with the drawing and is as high as it wraps: the next card of that name keeps the room, or what is read would move.
const rooms = new Map<string, number>();

onPaper(() => {
  for (const handle of charts.values()) handle.chart()?.resize();
});

export function chartCard<Row = any>(spec: ChartSpec<Row>): ChartHandle {
  let chart: EChartsType | null = null;
  let beside: TableHandle<Row> | null = null; // the same as a table, while it is shown
  const summary = freshId('summary');
  const place = h('div', { class: 'chart', style: null });
  place.style.height = `${spec.height ?? 320}px`;
  const words = h('p', { id: summary, class: 'visually-hidden' }, spec.summary);
  const tools = h('div', { class: 'tools' }, ...(spec.controls ?? []));
  const hidden = remember<ReadonlySet<string>>(`${spec.name}-hidden`, new Set());
  const signs = legend(`${spec.title}: what is shown`, () => hidden.value, (name, shown) => {
    const next = new Set(hidden.value);
    if (shown) next.delete(name);
    else next.add(name);
    hidden.value = next;
    if (spec.legend) handle.redraw();
    else chart?.dispatchAction({ type: shown ? 'legendSelect' : 'legendUnSelect', name });
  });
  const kept = rooms.get(spec.name);
  if (spec.legend) {
    signs.set(spec.legend(current()));
  } else if (kept) {
    signs.element.hidden = false;
    signs.element.style.minHeight = `${kept}px`;
  }
  const element = h('figure', { class: 'card', id: spec.name, 'data-chart': spec.name },
    h('figcaption', {}, h('h3', {}, spec.title), spec.about || spec.hint ? h('p', { class: 'muted' }, spec.about ?? null, spec.hint ? h('span', { class: 'hint' }, ` ${spec.hint}`) : null) : null), tools, words, signs.element, place);
  const focus = h('div', { class: 'chart-focus', tabindex: 0, role: 'img', 'aria-label': spec.title, 'aria-describedby': summary });
  place.replaceWith(focus);
  focus.appendChild(place);

  const size = new ResizeObserver(() => chart?.resize());
  let axesDrawn = '';

  function put(on: EChartsType): void {
    const theme = current();
    const option = spec.option(theme, hidden.value);
    signs.set(spec.legend?.(theme) ?? itemsOf(option));
    signs.element.style.minHeight = '';
    // the library's own is for the mouse alone, but it hides and shows
    option['legend'] = { show: false, selected: Object.fromEntries([...(spec.legend ? [] : hidden.value)].map((name) => [name, false])) };
    const axes = spec.axes?.() ?? '';
    if (axes === axesDrawn) keepZoom(on, option);
    axesDrawn = axes;
    on.setOption(option, { notMerge: true });
    spec.onDraw?.(on);
  }
  function draw(): EChartsType {
    if (chart) return chart;
    seen.unobserve(element);
    chart = echarts.init(place, null, { renderer: 'canvas' });
    put(chart);
    spec.onReady?.(chart);
    size.observe(place);
    if (((chart.getOption() as any).dataZoom ?? []).length) {
      const act = (factor: number, shift: number) => () => void step(chart!, factor, shift);
      append(tools, h('span', { class: 'zoom-buttons' }, button('+', act(0.5, 0), `${spec.title}: zoom in`), button('−', act(2, 0), `${spec.title}: zoom out`),
        button('⟲', act(Infinity, 0), `${spec.title}: show all`)));
      focus.addEventListener('keydown', (event) => {
        const move = KEYS[event.key];
        if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
        if (step(chart!, ...move)) event.preventDefault();
      });
    }
    return chart;
  }
  const handle: ChartHandle = {
    element,
    chart: () => chart,
    draw,
    redraw() {
      if (chart) put(chart);
      if (spec.data) beside?.set(spec.data.rows());
    },
    dispose() {
      forget();
      size.disconnect();
      seen.unobserve(element);
      if (charts.get(spec.name) === handle) charts.delete(spec.name);
      if (chart && signs.element.offsetHeight) rooms.set(spec.name, signs.element.offsetHeight);
      chart?.dispose();
      chart = null;
    },
  };
  const forget = onChange(handle.redraw);
  if (spec.data) {
    const data = spec.data;
    const toggle = button('Table', () => {
      if (beside) {
        beside.element.remove();
        beside = null;
      } else {
        beside = table({ name: spec.name, caption: spec.title, columns: data.columns, rows: data.rows() });
        element.appendChild(beside.element);
      }
      toggle.setAttribute('aria-expanded', String(!!beside));
    }, `${spec.title}: as a table`);
    toggle.setAttribute('aria-expanded', 'false');
    append(tools, h('span', { class: 'zoom-buttons' }, toggle, button('CSV', () => download(`${spec.name}.csv`, 'text/csv', tableCsv(data.columns, data.rows())), `${spec.title}: download as CSV`)));
  }
  (element as any).drawChart = draw;
  seen.observe(element);
  charts.set(spec.name, handle);
  return handle;
}
