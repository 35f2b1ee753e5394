// A flame graph: its own canvas, since a chart library has no place for several 100,000 frames. Every frame can be walked to by keys, and what
// is drawn is said in words.
import type { ProfileComparisonSide, Tree } from '../types';
import { append, button, freshId, h, short, visible } from './dom';
import { tip } from './chart';
import { csv, download } from './csv';
import { select } from './fields';
import * as format from './format';
import { onPaper } from './print';
import { remember } from './remember';
import { FlameTree, KINDS, matcher, type Matches, type Order } from './flame_tree';
import { current, onChange, type Theme } from './theme';

export interface FlameSpec {
  name: string; // unique within the page, also of its file
  title: string;
  about?: string;
  tree: Tree;
  other?: Other; // colours say what changed
  controls?: (Node | null)[];
}

export interface Other {
  places: ProfileComparisonSide; // of the tree that is shown
  name: string; // "before"
  later: boolean; // growth is what it has more, not what it has less
}

export interface FlameHandle {
  element: HTMLElement;
  draw(): void; // now, unless it is
  redraw(): void; // colours or sizes are others now
  fit(): void; // its box may have another size now, or has lost where it was scrolled to
  print(on: boolean): void; // paper does not scroll: not only what is scrolled to
  zoom(node: number): void;
  focus(node: number): void;
  search(query: string): void;
  show(tree: Tree, other: Other | null): void; // something else in its place
  dispose(): void; // it is no longer in the page
  rectangle(node: number): { x: number; y: number; width: number; height: number } | null; // px within what is scrolled; null: beside what is zoomed to
  readonly data: FlameTree;
  readonly zoomed: number;
  readonly focused: number;
  readonly drawn: number; // frames of the last drawing
  readonly drawMs: number; // what it took
}

/** By name: for tests, and to draw everything before printing. */
export const flames = new Map<string, FlameHandle>();
export function drawFlames(): void {
  for (const flame of flames.values()) flame.draw();
}

onPaper((printing) => flames.forEach((flame) => flame.print(printing)));
onChange(() => flames.forEach((flame) => flame.redraw()));
let ratio = window.devicePixelRatio;
window.addEventListener('resize', () => {
  flames.forEach((flame) => flame.fit());
  if (window.devicePixelRatio === ratio) return;
  ratio = window.devicePixelRatio;
  flames.forEach((flame) => flame.redraw());
});

const ROW = 18; // px
const NARROWEST = 0.5; // px of a frame that is drawn
const MOST_ROWS = 400; // of a canvas: on paper, where nothing scrolls
const TYPING = 100; // ms without a key until it is searched
const FONT = '11px ui-monospace, "DejaVu Sans Mono", monospace';
const SHADES = 4; // of one kind, by name: neighbours are told apart
const LEVELS = 5; // of a difference, each way

const HUES: [hue: number, saturation: number][] = [[215, 12], [205, 32], [36, 88], [258, 62], [96, 42], [0, 0]]; // by kind
const WORDS = ['everything', 'app', 'user', 'kernel ([k])', 'inlined', 'unknown (an address)'];

interface Colours {
  kinds: string[][];
  more: string[];
  less: string[];
  same: string;
  dim: string;
}

function colours(theme: Theme): Colours {
  const shades = (hue: number, saturation: number) => Array.from({ length: SHADES }, (_, i) =>
    theme.dark ? `hsl(${hue} ${saturation * 0.55}% ${27 + i * 3}%)` : `hsl(${hue} ${saturation}% ${71 + i * 3.5}%)`);
  const levels = (hue: number) => Array.from({ length: LEVELS }, (_, i) => (theme.dark ? `hsl(${hue} ${38 + i * 6}% ${20 + i * 5}%)` : `hsl(${hue} 78% ${93 - i * 6}%)`));
  return {
    kinds: HUES.map(([hue, saturation]) => shades(hue, saturation)), more: levels(4), less: levels(214),
    same: theme.dark ? 'hsl(215 6% 26%)' : 'hsl(215 10% 91%)', dim: theme.dark ? 'hsl(215 8% 19%)' : 'hsl(215 12% 95%)',
  };
}

function hatch(context: CanvasRenderingContext2D, theme: Theme): CanvasPattern | string {
  const tile = h('canvas', { width: 6, height: 6 });
  const draw = tile.getContext('2d')!;
  draw.strokeStyle = theme.muted;
  draw.lineWidth = 1;
  draw.beginPath();
  for (const x of [-3, 3, 9]) {
    draw.moveTo(x - 4, 7);
    draw.lineTo(x + 4, -1);
  }
  draw.stroke();
  return context.createPattern(tile, 'repeat') ?? theme.muted;
}

const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) (entry.target as any).drawFlame?.();
}, { rootMargin: '300px' });

function signed(points: number): string {
  const text = Math.abs(points * 100).toFixed(Math.abs(points) >= 0.1 ? 1 : 2);
  return `${points > 0 ? '+' : points < 0 ? '−' : '±'}${text} points`;
}

class Flame implements FlameHandle {
  readonly element: HTMLElement;
  zoomed = 0;
  focused = 0;
  drawn = 0;
  drawMs = 0;
  private made: FlameTree | null = null;
  private other: Other | null;
  private most = 0; // the largest change that is sure, of a share
  private labels: string[] = []; // by name, made when they are drawn
  private query = '';
  private matches: Matches | null = null;
  private readonly path: { value: string[] }; // to what is zoomed to, by names: numbers of frames are others in the next tree
  private readonly turned: { value: boolean };
  private ready = false;
  private explained: boolean | null = null; // the legend is of this theme
  private wrong = ''; // with the query
  private width = 0;
  private rows = 0;
  private top = 0; // px above what the canvas shows, which is as high as the box that scrolls
  private height = 0; // of the canvas
  private whole = false; // for paper
  private room = 0; // height of the box that scrolls
  private away = 0; // px scrolled from the outermost row
  private typed = 0; // timer
  private frame = 0;
  private readonly sizes = new ResizeObserver(() => this.fit());
  private readonly canvas = h('canvas', { 'aria-hidden': 'true' });
  private readonly mark = h('div', { class: 'flame-mark', hidden: true });
  private readonly hover = h('div', { class: 'flame-hover', hidden: true });
  private readonly tooltip = h('div', { class: 'flame-tip', hidden: true });
  private readonly area: HTMLElement;
  private readonly scroll: HTMLElement;
  private readonly crumbs = h('ol', { class: 'crumbs' });
  private readonly status = h('p', { class: 'flame-status', 'aria-live': 'polite' });
  private readonly found = h('span', { class: 'flame-found', 'aria-live': 'polite' });
  private readonly legend = h('ul', { class: 'flame-legend' });
  private readonly words: HTMLElement;
  private readonly field: HTMLInputElement;
  private readonly up: HTMLButtonElement;
  private readonly all: HTMLButtonElement;
  private readonly nextButtons: HTMLButtonElement[];
  private readonly nothing = h('p', { class: 'muted', hidden: true }, 'There are no samples.');

  constructor(private readonly spec: FlameSpec) {
    this.other = spec.other ?? null;
    this.path = remember<string[]>(`${spec.name}-path`, []);
    this.turned = remember(`${spec.name}-icicle`, false);
    const help = freshId('help');
    const summary = freshId('summary');
    this.words = h('p', { id: summary, class: 'visually-hidden' });
    this.area = h('div', {
      class: 'flame-focus', tabindex: 0, role: 'application', 'aria-roledescription': 'flame graph', 'aria-label': spec.title, 'aria-describedby': `${summary} ${help}`,
      onkeydown: (event: KeyboardEvent) => this.key(event),
      onfocus: () => { this.place(); this.say(); },
      onblur: () => { this.mark.hidden = true; },
    }, this.canvas, this.hover, this.mark);
    this.canvas.addEventListener('mousemove', (event) => this.point(event));
    this.canvas.addEventListener('mouseleave', () => this.leave());
    this.canvas.addEventListener('click', (event) => {
      const node = this.at(event);
      if (node >= 0) this.zoom(node);
    });
    this.scroll = h('div', { class: 'flame-scroll', onscroll: () => this.scrolled() }, this.area);
    this.field = h('input', {
      type: 'search', placeholder: 'search: text or /regex/', 'aria-label': `${spec.title}: search a function`, spellcheck: 'false', autocomplete: 'off',
      oninput: () => {
        window.clearTimeout(this.typed);
        this.typed = window.setTimeout(() => this.look(this.field.value), TYPING);
      },
      onkeydown: (event: KeyboardEvent) => {
        if (event.key === 'Enter') {
          if (this.query !== this.field.value) this.look(this.field.value);
          this.jump(event.shiftKey ? -1 : 1);
        } else if (event.key === 'Escape' && this.field.value) {
          event.preventDefault();
          this.search('');
        }
      },
    });
    this.up = button('Up', () => this.out(), `${spec.title}: up one frame`);
    this.all = button('All', () => this.zoom(0), `${spec.title}: all`);
    this.nextButtons = [button('‹', () => this.jump(-1), 'match before'), button('›', () => this.jump(1), 'next match')];
    const turned = button('Icicle', () => {
      this.turned.value = !this.icicle;
      turned.setAttribute('aria-pressed', String(this.icicle));
      this.reveal(this.zoomed, true);
      this.redraw();
    }, 'icicle: outermost on top');
    turned.setAttribute('aria-pressed', String(this.icicle));
    const order = select<Order>(`${spec.title}: order`, [['size', 'by size'], ['name', 'by name']], 'size', (v) => { this.data.arrange(v); this.redraw(); });
    this.element = h('figure', { class: 'card flame', id: spec.name, 'data-flame': spec.name },
      h('figcaption', {}, h('h3', {}, spec.title), spec.about ? h('p', { class: 'muted' }, spec.about) : null),
      h('div', { class: 'tools' }, ...(spec.controls ?? []), turned, order, this.up, this.all, this.field, ...this.nextButtons, this.found,
        h('span', { class: 'grow' }), button('CSV', () => this.save(), `${spec.title}: download as CSV`)),
      h('nav', { 'aria-label': `${spec.title}: where` }, this.crumbs),
      this.words, this.nothing, this.scroll, this.status, this.legend,
      h('p', { id: help, class: 'muted flame-help' }, 'Click a frame or press Enter to zoom in, Escape to go out. Arrow keys walk to callers, callees and neighbours; n and p to matches; / searches.'),
      this.tooltip);
    (this.element as any).drawFlame = () => this.draw();
    seen.observe(this.element);
    for (const b of this.nextButtons) b.disabled = true;
    flames.set(spec.name, this);
  }

  private get icicle(): boolean {
    return this.turned.value;
  }

  get data(): FlameTree {
    this.made ??= new FlameTree(this.spec.tree);
    return this.made;
  }

  draw(): void {
    if (this.ready) return;
    this.ready = true;
    seen.unobserve(this.element);
    this.prepare();
    this.zoomed = this.focused = this.before();
    this.reveal(this.zoomed, true);
    this.redraw();
    this.sizes.observe(this.area);
    this.sizes.observe(this.scroll);
  }

  dispose(): void {
    seen.unobserve(this.element);
    this.sizes.disconnect();
    window.clearTimeout(this.typed);
    window.cancelAnimationFrame(this.frame);
    this.ready = false;
    if (flames.get(this.spec.name) === this) flames.delete(this.spec.name);
  }

  show(tree: Tree, other: Other | null): void {
    const order = this.made?.order ?? 'size';
    this.made = new FlameTree(tree);
    if (order !== 'size') this.made.arrange(order);
    this.other = other;
    this.zoomed = this.focused = 0;
    this.path.value = [];
    this.labels = [];
    this.ready ? this.prepare() : this.draw();
    this.reveal(0, true);
    this.look(this.query);
    this.say();
  }

  private nameOf(node: number): string {
    return `${this.data.kind(node)} ${this.data.object(node)} ${this.data.text(node)}`;
  }

  private keepPath(): void {
    this.path.value = this.data.path(this.zoomed).slice(1).map((node) => this.nameOf(node));
  }

  /** What was zoomed to before the page was drawn anew, or as much of it as there is. */
  private before(): number {
    const t = this.data;
    let node = 0;
    for (const name of this.path.value) {
      const next = t.child.subarray(t.first[node]!, t.first[node + 1]!).find((child) => this.nameOf(child) === name);
      if (next === undefined) break;
      node = next;
    }
    return node;
  }

  zoom(node: number): void {
    if (!(node >= 0 && node < this.data.size)) return;
    this.zoomed = node;
    this.keepPath();
    this.focused = node;
    if (!this.ready) this.draw();
    this.reveal(node);
    this.redraw();
    this.count();
    this.place();
    this.say();
  }

  focus(node: number): void {
    if (!(node >= 0 && node < this.data.size)) return;
    const t = this.data;
    // what is beside the view cannot be walked to with the view as it is
    if (!t.within(node, this.zoomed) && !t.within(this.zoomed, node)) {
      let common = node;
      while (!t.within(this.zoomed, common)) common = t.parent[common]!;
      this.zoomed = common;
      this.keepPath();
      this.redraw();
      this.count();
    }
    this.focused = node;
    this.reveal(node);
    this.place();
    this.say();
  }

  search(query: string): void {
    this.field.value = query;
    this.look(query);
  }

  rectangle(node: number): { x: number; y: number; width: number; height: number } | null {
    const t = this.data;
    const y = this.y(t.depth[node]!);
    if (t.within(this.zoomed, node)) return { x: 0, y, width: this.width, height: ROW - 1 };
    if (!t.within(node, this.zoomed)) return null;
    const scale = this.scale();
    return { x: (t.start[node]! - t.start[this.zoomed]!) * scale, y, width: t.total[node]! * scale, height: ROW - 1 };
  }

  private y(row: number): number {
    return this.icicle ? row * ROW : (this.rows - 1 - row) * ROW;
  }

  private scale(): number {
    const total = this.data.total[this.zoomed]!;
    return total > 0 ? this.width / total : 0;
  }

  /** What depends on the trees alone. */
  private prepare(): void {
    const t = this.data;
    this.rows = t.deepest + 1;
    this.area.style.height = `${this.rows * ROW}px`;
    this.most = 0;
    for (let i = 1; this.other && i < t.size; i++) if (this.other.places.sure[i]) this.most = Math.max(this.most, Math.abs(this.change(i)));
    this.explained = null;
    const largest = t.size ? t.widestChild(0) : -1;
    const self = new Float64Array(t.tree.names.length);
    for (let i = 1; i < t.size; i++) if (t.kind(i) !== 1) self[t.name[i]!]! += t.self[i]!;
    const hottest = self.indexOf(self.reduce((best, samples) => Math.max(best, samples), 0));
    this.words.textContent = !t.all ? 'There are no samples.'
      : `${format.count(t.all)} samples in ${format.count(t.size - 1)} frames, up to ${t.deepest} deep.`
        + (largest >= 0 ? ` The largest app is ${short(t.text(largest), 60)} with ${format.percent(t.total[largest]! / t.all)}.` : '')
        + (self[hottest] ? ` Most samples end in ${short(t.tree.names[hottest]!, 60)}: ${format.percent(self[hottest]! / t.all)}.` : '');
    const empty = !t.all;
    this.nothing.hidden = !empty;
    this.scroll.hidden = empty;
    this.status.hidden = empty;
    this.field.disabled = empty;
  }

  print(on: boolean): void {
    this.draw();
    this.whole = on;
    this.redraw();
  }

  redraw(): void {
    if (!this.ready) return;
    const began = performance.now();
    this.crumb();
    this.explain(current());
    this.repaint();
    this.drawMs = performance.now() - began;
  }

  /** The part of the picture that is scrolled to. */
  private repaint(): void {
    if (!this.ready || !this.data.all) return;
    const whole = this.whole;
    const all = this.rows * ROW;
    this.width = this.area.clientWidth || this.width || 600;
    const height = Math.min(all, MOST_ROWS * ROW, whole ? all : this.scroll.clientHeight || 600);
    this.room = this.scroll.clientHeight;
    this.area.style.height = `${whole ? height : all}px`;
    this.top = !whole ? this.scroll.scrollTop : this.icicle ? 0 : all - height;
    this.height = height;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.height = `${height}px`;
    const context = this.canvas.getContext('2d')!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.direction = 'ltr';
    this.paint(context, current());
    this.place();
  }

  private distance(): number {
    const view = this.scroll;
    return this.icicle ? view.scrollTop : view.scrollHeight - view.clientHeight - view.scrollTop;
  }

  private scrolled(): void {
    // in a box of another size nobody scrolled: fit() is to come
    if (this.scroll.clientHeight === this.room) this.away = this.distance();
    window.cancelAnimationFrame(this.frame);
    this.frame = window.requestAnimationFrame(() => { if (this.scroll.scrollTop !== this.top) this.repaint(); });
  }

  /** What was in view stays there, seen from the outermost row: a flame grows from its bottom. */
  fit(): void {
    const view = this.scroll;
    if (!this.ready || !view.clientHeight || !this.area.clientWidth) return;
    view.scrollTop = this.icicle ? this.away : view.scrollHeight - view.clientHeight - this.away;
    if (this.area.clientWidth !== this.width || view.clientHeight !== this.room || view.scrollTop !== this.top) this.repaint();
  }

  private paint(context: CanvasRenderingContext2D, theme: Theme): void {
    const t = this.data;
    const palette = colours(theme);
    const scale = this.scale();
    const left = t.start[this.zoomed]!;
    // by colour, so that the context changes it a few times only
    const parts = new Map<string, number[]>();
    const labels: number[] = []; // node, x, y, width
    const hatched: number[] = [];
    const marked: number[] = [];
    let drawn = 0;
    const inView = (y: number) => y > -ROW && y < this.height;
    const add = (node: number, x: number, w: number) => {
      const y = this.y(t.depth[node]!) - this.top;
      if (!inView(y)) return;
      const colour = this.colour(node, palette);
      let list = parts.get(colour);
      if (!list) parts.set(colour, list = []);
      list.push(x, y, w);
      if (w >= 24) labels.push(node, x, y, w);
      if (this.matches?.hit[node]) marked.push(x, y, w);
      drawn++;
    };
    for (let i = t.parent[this.zoomed]!; i >= 0; i = t.parent[i]!) add(i, 0, this.width);
    add(this.zoomed, 0, this.width);
    const stack = [this.zoomed];
    while (stack.length) {
      const node = stack.pop()!;
      const y = this.y(t.depth[node]! + 1) - this.top;
      // all that is further in is beyond the edge, too
      if (this.icicle ? y >= this.height : y <= -ROW) continue;
      let thin = -1; // where a stretch of too narrow ones began
      let end = 0;
      for (let c = t.first[node]!; c < t.first[node + 1]!; c++) {
        const child = t.child[c]!;
        const w = t.total[child]! * scale;
        const x = (t.start[child]! - left) * scale;
        if (w >= NARROWEST) {
          if (thin >= 0 && end - thin >= NARROWEST) hatched.push(thin, y, end - thin);
          thin = -1;
          add(child, x, w);
          stack.push(child);
        } else {
          if (thin < 0) thin = x;
          end = x + w;
        }
      }
      if (thin >= 0 && end - thin >= NARROWEST) hatched.push(thin, y, end - thin);
    }
    const rectangles = (list: number[]) => {
      for (let i = 0; i < list.length; i += 3) {
        const w = list[i + 2]!;
        context.fillRect(list[i]!, list[i + 1]!, w > 3 ? w - 0.75 : w, ROW - 1);
      }
    };
    for (const [colour, list] of parts) {
      context.fillStyle = colour;
      rectangles(list);
    }
    if (hatched.length) {
      context.fillStyle = hatch(context, theme);
      rectangles(hatched);
    }
    context.fillStyle = theme.text;
    // a match has a bar beneath it, too: colours are not the only sign
    for (let i = 0; i < marked.length; i += 3) context.fillRect(marked[i]!, marked[i + 1]! + ROW - 3, Math.max(marked[i + 2]! - 0.75, 0.5), 2);
    this.write(context, theme, labels);
    this.drawn = drawn;
  }

  private write(context: CanvasRenderingContext2D, theme: Theme, labels: number[]): void {
    context.font = FONT;
    context.textBaseline = 'middle';
    const letter = context.measureText('0000000000').width / 10;
    for (const strong of [true, false]) {
      context.fillStyle = strong ? theme.text : theme.muted;
      for (let i = 0; i < labels.length; i += 4) {
        const node = labels[i]!;
        if ((!this.matches || this.matches.hit[node] === 1) !== strong) continue;
        const text = this.label(node);
        const room = Math.floor((labels[i + 3]! - 6) / letter);
        if (room < 2) continue;
        const cut = text.length > room ? `${text.slice(0, room - 1)}…` : text;
        // letters of other scripts may be wider than this font's
        if (/^[\x20-\x7e…▲▼]*$/.test(cut)) context.fillText(cut, labels[i + 1]! + 3, labels[i + 2]! + ROW / 2);
        else context.fillText(cut, labels[i + 1]! + 3, labels[i + 2]! + ROW / 2, labels[i + 3]! - 6);
      }
    }
  }

  private label(node: number): string {
    const name = this.data.name[node]!;
    const text = (this.labels[name] ??= visible((this.data.tree.names[name] ?? '').slice(0, 300)));
    const kind = this.data.kind(node);
    const sign = this.other?.places.sure[node] ? (this.change(node) > 0 ? '▲ ' : '▼ ') : '';
    return sign + (kind === 3 ? `[k] ${text}` : kind === 4 ? `${text} (inlined)` : text);
  }

  /** Shares of the samples with this path, here and in the other profile. */
  private shares(node: number): [here: number, other: number] {
    const { here, other } = this.other!.places;
    return [here[0] ? (here[node] ?? 0) / here[0] : 0, other[0] ? (other[node] ?? 0) / other[0] : 0];
  }

  /** By how much its share grew in time. */
  private change(node: number): number {
    const [here, other] = this.shares(node);
    return this.other!.later ? other - here : here - other;
  }

  private colour(node: number, palette: Colours): string {
    if (this.matches && !this.matches.hit[node]) return palette.dim;
    if (this.other) {
      if (!this.other.places.sure[node] || !this.most) return palette.same;
      const change = this.change(node);
      const level = Math.min(LEVELS - 1, Math.floor(Math.sqrt(Math.abs(change) / this.most) * LEVELS));
      return (change > 0 ? palette.more : palette.less)[level]!;
    }
    return (palette.kinds[this.data.kind(node)] ?? palette.kinds[5]!)[(Math.imul(this.data.name[node]!, 0x9e3779b1) >>> 16) % SHADES]!;
  }

  private explain(theme: Theme): void {
    if (this.explained === theme.dark) return;
    this.explained = theme.dark;
    const palette = colours(theme);
    const item = (colour: string, text: string) => {
      const swatch = h('span', { class: 'swatch', 'aria-hidden': 'true' });
      swatch.style.background = colour;
      return h('li', {}, swatch, text);
    };
    const items: HTMLElement[] = [];
    if (this.other) {
      items.push(item(palette.more[3]!, '▲ its share grew'), item(palette.less[3]!, '▼ its share shrank'), item(palette.same, 'not sure'));
    } else {
      const there = new Set<number>();
      for (let i = 1; i < this.data.size && there.size < 5; i++) there.add(this.data.kind(i));
      for (const kind of [1, 2, 3, 4, 5]) if (there.has(kind)) items.push(item(palette.kinds[kind]![1]!, WORDS[kind]!));
    }
    const swatch = h('span', { class: 'swatch hatch', 'aria-hidden': 'true' });
    items.push(h('li', {}, swatch, 'too narrow to draw'));
    this.legend.replaceChildren(...items);
  }

  private crumb(): void {
    const t = this.data;
    const path = t.size ? t.path(this.zoomed) : [];
    const shown = path.length > 8 ? [...path.slice(0, 2), -1, ...path.slice(-5)] : path;
    this.crumbs.replaceChildren(...shown.map((node) => {
      if (node < 0) return h('li', {}, `… ${path.length - 7} more …`);
      const text = node === 0 ? 'all' : short(t.text(node).slice(0, 2000), 40);
      if (node === this.zoomed) return h('li', {}, h('bdi', { 'aria-current': 'location' }, text));
      const link = h('button', { type: 'button', class: 'link', onclick: () => { this.zoom(node); this.area.focus({ preventScroll: true }); } });
      append(link, h('bdi', {}, text));
      return h('li', {}, link);
    }));
    this.up.disabled = this.all.disabled = this.zoomed === 0;
  }

  private lines(node: number): string[] {
    const t = this.data;
    const parent = t.parent[node]!;
    const lines = [node === 0 ? 'all' : short(t.text(node).slice(0, 4000), 300)];
    const object = t.object(node);
    const kind = KINDS[t.kind(node)] ?? 'unknown';
    if (node) lines.push(object ? `${kind}, in ${short(object, 120)}` : kind);
    lines.push(`${format.count(t.total[node]!)} ${t.total[node] === 1 ? 'sample' : 'samples'}, ${format.percent(t.total[node]! / t.all)} of all`
      + (parent >= 0 ? `, ${format.percent(t.total[node]! / t.total[parent]!)} of its caller` : ''));
    if (node && t.total[node] !== t.self[node]) lines.push(`${format.count(t.self[node]!)} of these in itself`);
    if (this.other && node) {
      const [here, other] = this.shares(node);
      lines.push(`${signed(this.change(node))}: ${format.percent(here)} here, ${format.percent(other)} ${this.other.name}`
        + (this.other.places.sure[node] ? '' : '; not sure, samples may fall so'));
    }
    return lines;
  }

  private say(): void {
    if (this.data.all) this.status.textContent = this.lines(this.focused).join(' · ');
  }

  private look(query: string): void {
    this.query = query;
    window.clearTimeout(this.typed);
    const test = matcher(query);
    this.wrong = typeof test === 'string' ? short(`not a regular expression: ${test.replace(/^Invalid regular expression: /, '')}`, 120) : '';
    this.field.setAttribute('aria-invalid', String(!!this.wrong));
    this.matches = typeof test === 'function' && this.data.all ? this.data.search(test) : null;
    for (const b of this.nextButtons) b.disabled = !this.matches?.names;
    this.redraw();
    this.count();
  }

  private count(): void {
    const m = this.matches;
    const names = this.data.tree.names.length;
    const stopped = m && m.looked < names ? `; it took too long: ${format.count(m.looked)} of ${format.count(names)} names were tried` : '';
    if (!m) {
      this.found.textContent = this.wrong;
    } else if (!m.names) {
      this.found.textContent = `nothing matches${stopped}`;
    } else {
      const t = this.data;
      const here = this.zoomed ? `, ${format.percent(t.matchedWithin(m, this.zoomed) / t.total[this.zoomed]!)} of what is shown` : '';
      this.found.textContent = `${format.count(m.names)} ${m.names === 1 ? 'name' : 'names'}, ${format.percent(m.samples / t.all)} of samples${here}${stopped}`;
    }
  }

  private jump(step: 1 | -1): void {
    if (!this.matches) return;
    const next = this.data.nextMatch(this.matches, this.focused, step);
    if (next < 0) return;
    this.focus(next);
    this.place(true);
  }

  private out(): void {
    if (this.zoomed > 0) this.zoom(this.data.parent[this.zoomed]!);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.data.all) return;
    const t = this.data;
    const inward = () => this.focus(t.widestChild(this.focused));
    const outward = () => this.focus(t.parent[this.focused]!);
    const keys: Record<string, () => void> = {
      ArrowUp: this.icicle ? outward : inward,
      ArrowDown: this.icicle ? inward : outward,
      ArrowLeft: () => this.focus(t.sibling(this.focused, -1)),
      ArrowRight: () => this.focus(t.sibling(this.focused, 1)),
      Enter: () => this.zoom(this.focused),
      ' ': () => this.zoom(this.focused),
      Escape: () => this.out(),
      Backspace: () => this.out(),
      Home: () => this.zoom(0),
      n: () => this.jump(1),
      p: () => this.jump(-1),
      '/': () => this.field.focus(),
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  private at(event: MouseEvent): number {
    const t = this.data;
    if (!t.all) return -1;
    const box = this.area.getBoundingClientRect();
    const x = event.clientX - box.left;
    const line = Math.floor((event.clientY - box.top) / ROW);
    const depth = this.icicle ? line : this.rows - 1 - line;
    if (depth < 0 || x < 0 || x >= this.width) return -1;
    if (depth <= t.depth[this.zoomed]!) return t.path(this.zoomed)[depth] ?? -1;
    const place = t.start[this.zoomed]! + x / this.scale();
    let node = this.zoomed;
    while (node >= 0 && t.depth[node]! < depth) {
      // what is beneath a hatch is not drawn
      if (t.total[node]! * this.scale() < NARROWEST) return -1;
      node = t.childAt(node, place);
    }
    return node;
  }

  private point(event: MouseEvent): void {
    const node = this.at(event);
    if (node < 0) {
      this.leave();
      return;
    }
    this.outline(this.hover, node);
    this.tooltip.replaceChildren(tip(this.lines(node)));
    this.tooltip.hidden = false;
    const card = this.element.getBoundingClientRect();
    const box = this.tooltip.getBoundingClientRect();
    const x = Math.min(event.clientX - card.left + 14, card.width - box.width - 6);
    const below = event.clientY + 18 + box.height < window.innerHeight;
    this.tooltip.style.left = `${Math.max(6, x)}px`;
    this.tooltip.style.top = `${event.clientY - card.top + (below ? 18 : -box.height - 10)}px`;
  }

  private leave(): void {
    this.tooltip.hidden = true;
    this.hover.hidden = true;
  }

  private outline(mark: HTMLElement, node: number): void {
    const box = this.rectangle(node);
    mark.hidden = !box;
    if (!box) return;
    mark.style.left = `${box.x}px`;
    mark.style.top = `${box.y}px`;
    mark.style.width = `${Math.max(2, box.width)}px`;
    mark.style.height = `${box.height}px`;
  }

  /** The frame that keys act on is outlined while they do. */
  private place(anyway = false): void {
    this.hover.hidden = true;
    if (anyway || document.activeElement === this.area) this.outline(this.mark, this.focused);
    else this.mark.hidden = true;
  }

  private reveal(node: number, end = false): void {
    const row = this.rectangle(node);
    if (!row) return;
    const view = this.scroll;
    // from the outermost frame on, as much as there is room for
    if (end) view.scrollTop = this.icicle ? row.y : row.y + ROW - view.clientHeight;
    else if (row.y < view.scrollTop) view.scrollTop = row.y - ROW;
    else if (row.y + ROW > view.scrollTop + view.clientHeight) view.scrollTop = row.y + 2 * ROW - view.clientHeight;
    this.away = this.distance();
  }

  private save(): void {
    const t = this.data;
    function* rows() {
      for (let i = 0; i < t.size; i++) yield [i, t.parent[i]! < 0 ? null : t.parent[i]!, i ? t.text(i) : 'all', t.object(i), KINDS[t.kind(i)] ?? 'unknown', t.self[i]!, t.total[i]!];
    }
    download(`${this.spec.name}.csv`, 'text/csv', csv(['frame', 'caller', 'name', 'object', 'kind', 'self', 'total'], rows()));
  }
}

export function flameCard(spec: FlameSpec): FlameHandle {
  return new Flame(spec);
}
