// What the series of a chart are, as buttons: Tab reaches them and Space hides one, they wrap where there is little room, and a name is text.
import { foreign, h } from './dom';

/** How a series looks, small. */
export interface Sign {
  colour: string;
  symbol?: string | undefined; // as the library calls it: circle, emptyRect, path://..., of a box of 10 by 10
  size?: [width: number, height: number]; // of the symbol; at most 12
  edge?: string | undefined; // colour of a hollow one's edge
  line?: 'solid' | 'dashed' | 'dotted' | undefined; // it is one
  opacity?: number;
  area?: number | undefined; // how much of its colour is beneath the line
  decal?: { symbol: string; rotation?: number; color: string } | undefined; // what is drawn upon it, for those who do not see its colour
}

export interface LegendItem {
  name: string; // of its series
  label?: string; // where that is not what people read
  title?: string | undefined; // more words, on hover
  sign: Sign;
}

const SHAPES: Record<string, string> = {
  circle: 'M0 5A5 5 0 1 1 10 5A5 5 0 1 1 0 5Z',
  rect: 'M0 0H10V10H0Z',
  roundRect: 'M3 0H7A3 3 0 0 1 10 3V7A3 3 0 0 1 7 10H3A3 3 0 0 1 0 7V3A3 3 0 0 1 3 0Z',
  triangle: 'M5 0L10 10H0Z',
  diamond: 'M5 0L10 5L5 10L0 5Z',
  pin: 'M5 10C2 6.5 1 5 1 4A4 4 0 0 1 9 4C9 5 8 6.5 5 10Z',
  arrow: 'M5 0L10 10L5 7.5L0 10Z',
};
const DASHES = { solid: [], dashed: [5, 3], dotted: [2, 2] };
const WIDTH = 22;
const HEIGHT = 14;
const MANY = 16; // items, from which on they scroll: a chart is not to be pushed out of sight by them

function shapeOf(symbol: string): { path: Path2D; hollow: boolean } {
  if (symbol.startsWith('path://')) return { path: new Path2D(symbol.slice(7)), hollow: false };
  const hollow = symbol.startsWith('empty');
  const name = hollow ? symbol.charAt(5).toLowerCase() + symbol.slice(6) : symbol;
  return { path: new Path2D(SHAPES[name] ?? SHAPES['circle']), hollow };
}

function stripes(pen: CanvasRenderingContext2D, decal: NonNullable<Sign['decal']>): void {
  pen.save();
  pen.clip();
  pen.strokeStyle = pen.fillStyle = decal.color;
  pen.lineWidth = 1.5;
  if (decal.symbol === 'circle') {
    for (let x = 2; x < WIDTH; x += 5) for (let y = 3; y < HEIGHT; y += 5) pen.fillRect(x, y, 2, 2);
  } else {
    const lean = (decal.rotation ?? 0) < 0 ? 1 : -1;
    pen.beginPath();
    for (let x = -HEIGHT; x < WIDTH + HEIGHT; x += 6) {
      pen.moveTo(x, lean > 0 ? HEIGHT : 0);
      pen.lineTo(x + HEIGHT, lean > 0 ? 0 : HEIGHT);
    }
    pen.stroke();
  }
  pen.restore();
}

function paint(canvas: HTMLCanvasElement, sign: Sign): void {
  const pen = canvas.getContext('2d');
  if (!pen) return;
  pen.setTransform(2, 0, 0, 2, 0, 0);
  pen.clearRect(0, 0, WIDTH, HEIGHT);
  pen.globalAlpha = sign.opacity ?? 1;
  pen.fillStyle = pen.strokeStyle = sign.colour;
  pen.setLineDash([]);
  if (sign.area) {
    pen.globalAlpha = sign.area;
    pen.fillRect(0, HEIGHT / 2, WIDTH, HEIGHT / 2);
    pen.globalAlpha = 1;
  }
  if (sign.line) {
    pen.lineWidth = 2;
    pen.setLineDash(DASHES[sign.line]);
    pen.beginPath();
    pen.moveTo(0, HEIGHT / 2);
    pen.lineTo(WIDTH, HEIGHT / 2);
    pen.stroke();
    pen.setLineDash([]);
  }
  if (sign.symbol) {
    const { path, hollow } = shapeOf(sign.symbol);
    const [width, height] = (sign.size ?? [10, 10]).map((v) => Math.min(12, v)) as [number, number];
    pen.translate((WIDTH - width) / 2, (HEIGHT - height) / 2);
    pen.scale(width / 10, height / 10);
    if (!hollow) pen.fill(path);
    if (hollow || sign.edge) {
      if (sign.edge) pen.strokeStyle = sign.edge;
      pen.lineWidth = 2;
      pen.stroke(path);
    }
  } else if (!sign.line) {
    pen.beginPath();
    pen.rect(3, 1, WIDTH - 6, HEIGHT - 2);
    pen.fill();
    if (sign.decal) stripes(pen, sign.decal);
  }
}

/** Of a series as it is given to the library. */
function signOf(series: any): Sign {
  const { color, borderColor, opacity, decal } = series.itemStyle ?? {};
  const colour = color ?? series.color;
  if (series.type === 'line') return { colour: series.lineStyle?.color ?? colour, line: series.lineStyle?.type ?? 'solid', area: series.areaStyle?.opacity, symbol: series.symbol === 'none' || series.showSymbol === false ? undefined : series.symbol };
  const size = Array.isArray(series.symbolSize) ? series.symbolSize : undefined;
  if (series.type === 'scatter') return { colour, symbol: series.symbol ?? 'circle', edge: borderColor === color ? undefined : borderColor, ...(size ? { size } : {}) };
  return { colour, opacity: opacity ?? 1, decal };
}

/** What an option's legend would have: its data, else every series with a name, each once. */
export function itemsOf(option: any): LegendItem[] {
  const { legend } = option;
  if (!legend || legend.show === false) return [];
  const wanted = legend.data as string[] | undefined;
  const found = new Map<string, LegendItem>();
  for (const series of option.series ?? []) {
    const name = series.name as string | undefined;
    if (name === undefined || found.has(name) || (wanted && !wanted.includes(name))) continue;
    found.set(name, { name, label: legend.formatter?.(name) ?? name, sign: signOf(series) });
  }
  return wanted ? wanted.flatMap((name) => found.get(name) ?? []) : [...found.values()];
}

export interface Legend {
  element: HTMLElement;
  set(items: LegendItem[]): void; // colours may have changed, or all of it
}

/** Whatever is in `hidden` is not pressed; `change` is told when that is another. */
export function legend(label: string, hidden: () => ReadonlySet<string>, change: (name: string, shown: boolean) => void): Legend {
  const element = h('div', { class: 'legend', role: 'group', 'aria-label': label, hidden: true });
  let shown = '';
  let signs: HTMLCanvasElement[] = [];
  function make(item: LegendItem): HTMLElement {
    const canvas = h('canvas', { width: 2 * WIDTH, height: 2 * HEIGHT, 'aria-hidden': 'true' });
    signs.push(canvas);
    const b = h('button', {
      type: 'button', 'aria-pressed': String(!hidden().has(item.name)), title: item.title, 'data-name': item.name,
      onclick: () => {
        const now = hidden().has(item.name);
        b.setAttribute('aria-pressed', String(now));
        change(item.name, now);
      },
    }, canvas, foreign(item.label ?? item.name, 60));
    return b;
  }
  return {
    element,
    set(items) {
      const next = JSON.stringify(items.map((item) => [item.name, item.label]));
      if (next !== shown) {
        shown = next;
        signs = [];
        const focused = (document.activeElement as HTMLElement | null)?.closest('.legend') === element ? (document.activeElement as HTMLElement).dataset['name'] : undefined;
        element.replaceChildren(...items.map(make));
        element.hidden = !items.length;
        element.classList.toggle('many', items.length > MANY);
        if (focused !== undefined) [...element.querySelectorAll('button')].find((b) => b.dataset['name'] === focused)?.focus();
      }
      items.forEach((item, i) => paint(signs[i]!, item.sign));
    },
  };
}
