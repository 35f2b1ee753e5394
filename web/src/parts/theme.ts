// Light and dark: the style sheet's variables are the one source of colours, for charts too.
import type { Colour, Doc } from '../types';

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

// The causes of the ledger and the classes of noise have one colour wherever they are drawn: that of the document.
let colours: Doc['colours'] = { causes: {}, classes: {} };
export function setColours(of: Doc['colours']): void {
  colours = of;
}
const shade = (of: Colour | undefined, theme: Theme): string => (of ? (theme.dark ? of.dark : of.light) : theme.muted);
export const causeColour = (cause: string, theme: Theme): string => shade(colours.causes[cause], theme);
export const classColour = (name: string, theme: Theme): string => shade(colours.classes[name], theme);
/** What a cause means to people. */
export const meaning = (cause: string): string => colours.causes[cause]?.meaning ?? '';

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
