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

/** Called when colours change; gives back what ends that. */
export function onChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
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
