// Light and dark: the style sheet's variables are the one source of colours, for charts too.

export interface Theme {
  dark: boolean;
  text: string;
  muted: string;
  line: string;
  card: string;
  accent: string;
  kept: string;
  dropped: string;
  warm: string;
  good: string;
  bad: string;
  series: string[]; // told apart by people who do not see all colours
}

export type Choice = 'auto' | 'light' | 'dark';

const dark = window.matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();
let scope: Set<() => void> | null = null; // those of the page that is shown

export function choice(): Choice {
  try {
    const kept = localStorage.getItem('tare-theme');
    return kept === 'light' || kept === 'dark' ? kept : 'auto';
  } catch {
    return 'auto'; // a page from disk may have no storage
  }
}

export function choose(next: Choice): void {
  try {
    if (next === 'auto') localStorage.removeItem('tare-theme');
    else localStorage.setItem('tare-theme', next);
  } catch {
    // it holds for this page, then
  }
  apply(next);
}

function apply(next: Choice): void {
  if (next === 'auto') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.setAttribute('data-theme', next);
  for (const listener of listeners) listener();
}

export function begin(): void {
  apply(choice());
  dark.addEventListener('change', () => listeners.forEach((listener) => listener()));
  // paper is white
  window.addEventListener('beforeprint', () => {
    document.documentElement.setAttribute('data-theme', 'light');
    listeners.forEach((listener) => listener());
  });
  window.addEventListener('afterprint', () => apply(choice()));
}

/** Called when colours change, until what it gives back is called or the page is replaced. */
export function onChange(listener: () => void): () => void {
  const mine = scope;
  listeners.add(listener);
  mine?.add(listener);
  return () => {
    listeners.delete(listener);
    mine?.delete(listener);
  };
}

/** Ends what was subscribed since the last call: another page comes. */
export function newScope(): void {
  for (const listener of scope ?? []) listeners.delete(listener);
  scope = new Set();
}

export function current(): Theme {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    dark: of('is-dark') === '1',
    text: of('text'), muted: of('muted'), line: of('line'), card: of('card'), accent: of('accent'),
    kept: of('kept'), dropped: of('dropped'), warm: of('warm'), good: of('good'), bad: of('bad'),
    series: Array.from({ length: 12 }, (_, i) => of(`series-${i}`)),
  };
}

// The causes of the ledger, each with one colour wherever it is drawn.
const CAUSE: Record<string, number> = {
  run: 0, irq: 1, softirq: 2, nmi: 3, steal: 4, queued: 5, waking: 6, throttled: 7, io: 8, io_other: 9, io_idle: 10, fault: 11,
};
export function causeColour(cause: string, theme: Theme): string {
  const known = CAUSE[cause];
  if (known !== undefined) return theme.series[known]!;
  if (cause === 'unseen') return theme.muted;
  let sum = 0;
  for (const c of cause) sum = (sum * 31 + c.charCodeAt(0)) >>> 0;
  return `hsl(${sum % 360} ${theme.dark ? '35% 60%' : '35% 45%'})`;
}

const onColour = new Map<string, string>();
let pen: CanvasRenderingContext2D | null = null;

/** Black or white, whichever is read better upon this colour. */
export function textOn(colour: string): string {
  const known = onColour.get(colour);
  if (known) return known;
  pen ??= document.createElement('canvas').getContext('2d')!;
  pen.fillStyle = colour;
  const hex = pen.fillStyle as string; // "#rrggbb", however it was written
  const [r, g, b] = [1, 3, 5].map((i) => {
    const part = parseInt(hex.slice(i, i + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
  const text = 1.05 / (luminance + 0.05) >= (luminance + 0.05) / 0.057 ? '#ffffff' : '#10151b';
  onColour.set(colour, text);
  return text;
}
