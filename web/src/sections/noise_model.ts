// What several parts of a page of noise compute.
import type { Noise, NoiseClassNs, NoiseCpu, NoiseLength, NoiseSource } from '../types';
import { short } from '../parts/dom';
import * as format from '../parts/format';
import { remember } from '../parts/remember';

export type Class = keyof NoiseClassNs;

export const MEANING: Record<Class, string> = {
  irq: 'hard interrupts', softirq: 'soft interrupts', nmi: 'NMIs', thread: 'other tasks', work: "kernel workers' items", fault: 'page faults',
  throttled: 'the price of the real-time class', delivery: 'on the way into and out of the kernel', steal: "the hypervisor's, by its clock",
  'host-periodic': 'in phase with the host, inferred', smi: "firmware's, by the CPU's count of SMIs", unexplained: 'nobody told',
};

export const CLASSES = Object.keys(MEANING) as Class[];

const SYMBOL: Record<Class, string> = {
  irq: 'triangle', softirq: 'diamond', nmi: 'pin', thread: 'circle', work: 'rect', fault: 'arrow', throttled: 'roundRect', delivery: 'emptyDiamond',
  steal: 'emptyTriangle', 'host-periodic': 'emptyRect', smi: 'emptyPin', unexplained: 'emptyCircle',
};
export const classSymbol = (name: Class): string => SYMBOL[name] ?? 'circle';

export const sourceKey = (source: { class: string; name: string }): string => `${source.class}\n${source.name}`;
/** "timer (irq)"; the classes that have but one source are named like it. */
export const sourceName = (source: { class: string; name: string }, most = 40): string => (source.name === source.class ? source.name : `${short(source.name, most)} (${source.class})`);

/** The class that took most of it. */
export function mainClass(of: NoiseClassNs): Class {
  let best: Class = 'unexplained';
  for (const name of CLASSES) if ((of[name] ?? 0) > (of[best] ?? 0)) best = name;
  return best;
}

/** Classes that took anything, anywhere. */
export function classesOf(list: Iterable<NoiseClassNs>): Class[] {
  const some = new Set<Class>();
  for (const of of list) for (const name of CLASSES) if (of[name]) some.add(name);
  return CLASSES.filter((name) => some.has(name));
}

/** Those whose buckets reach into the range; like --zoom, it is rounded outward to edges of buckets. */
export function within(lengths: readonly NoiseLength[], low: number, high: number): { count: number; ns: number } {
  let count = 0;
  let ns = 0;
  for (const l of lengths) {
    if (l.high_ns <= low || l.low_ns >= high) continue;
    count += l.count;
    ns += l.ns;
  }
  return { count, ns };
}

const centre = (l: NoiseLength): number => Math.log10(Math.sqrt(Math.max(l.low_ns, 1) * Math.max(l.high_ns, 1)));

export const BIN = 0.05; // decades, of a histogram that is drawn

/** A histogram, in equal parts of a decade, at each x of the grid: per s of a CPU and decade, as a density is. */
export function binned(lengths: readonly NoiseLength[], grid: readonly number[], window_ns: number): number[] {
  const out = new Array<number>(grid.length).fill(0);
  if (!window_ns) return out;
  const sums = new Map<number, number>();
  for (const l of lengths) {
    const bin = Math.floor(centre(l) / BIN);
    sums.set(bin, (sums.get(bin) ?? 0) + l.count);
  }
  grid.forEach((x, i) => { out[i] = ((sums.get(Math.floor(x / BIN + 1e-9)) ?? 0) * 1e9) / window_ns / BIN; });
  return out;
}

/** Round values of an axis whose figures are log10: what the library picks are round logarithms. */
export function logTicks(low: number, high: number): number[] {
  const span = high - low;
  if (span < 0.7) {
    const from = 10 ** low;
    const to = 10 ** high;
    const raw = (to - from) / 5;
    const unit = 10 ** Math.floor(Math.log10(raw));
    const step = ([1, 2, 5, 10].find((m) => m * unit >= raw) ?? 10) * unit;
    return Array.from({ length: 12 }, (_, i) => (Math.ceil(from / step) + i) * step).filter((v) => v > 0 && v <= to).map(Math.log10);
  }
  const out: number[] = [];
  for (let decade = Math.floor(low); decade <= high; decade++) {
    for (const m of span > 4 ? [1] : span > 2.5 ? [1, 3] : [1, 2, 5]) {
      const value = decade + Math.log10(m);
      if (value >= low && value <= high) out.push(value);
    }
  }
  return out;
}

/** A power of ten on an axis. */
export function tenTo(power: number): string {
  if (!Number.isInteger(power)) return format.figure(10 ** power);
  if (power >= -3 && power <= 5) return (10 ** power).toLocaleString('en-US', { maximumFractionDigits: 3 });
  return `1e${power}`;
}

export const seconds = (ns: number): string => `${(ns / 1e9).toFixed(3)} s`;

type Chosen = Partial<Pick<Choice, 'cpu' | 'source' | 'low' | 'high'>>;

/** What is chosen on the page of one run; whoever shows it is told when it changes. */
export class Choice {
  cpu = -1; // index of cpus; -1: all together
  source: string | null = null;
  low = 0;
  high = Infinity;
  private readonly listeners: (() => void)[] = [];
  private readonly kept: { value: Chosen };
  /** name: whoever looks on while the run goes on keeps what was chosen by it. */
  constructor(readonly noise: Noise, name: string) {
    this.kept = remember<Chosen>(`${name}-choice`, {});
    Object.assign(this, this.kept.value);
    if (this.cpu >= noise.cpus.length) this.cpu = -1;
  }
  get shown(): NoiseCpu {
    return this.noise.cpus[this.cpu] ?? this.noise.together;
  }
  get chosen(): NoiseSource | null {
    return this.shown.sources.find((s) => sourceKey(s) === this.source) ?? null;
  }
  get ranged(): boolean {
    return this.low > 0 || this.high < Infinity;
  }
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }
  set(what: Chosen): void {
    Object.assign(this, what);
    this.kept.value = { ...this.kept.value, ...what };
    for (const listener of this.listeners) listener();
  }
}
