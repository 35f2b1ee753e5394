// Small pieces that the pages of noise and of studies share.
import { baseOption } from '../parts/chart';
import { h } from '../parts/dom';
import * as format from '../parts/format';
import type { Theme } from '../parts/theme';

/** baseOption with signs in the legend that keep their shape, and only of these. */
export function narrowLegend(theme: Theme, names?: string[]): Record<string, unknown> {
  const base = baseOption(theme);
  return { ...base, legend: { ...(base['legend'] as object), itemWidth: 14, ...(names ? { data: names } : {}) } };
}

/** A sign of this shape; "empty" ones are drawn by their edge, since the library fills them white, in dark colours too. */
export function sign(symbol: string, colour: string, theme: Theme, opacity = 1): { symbol: string; itemStyle: Record<string, unknown> } {
  if (!symbol.startsWith('empty')) return { symbol, itemStyle: { color: colour, opacity } };
  const shape = symbol.slice(5);
  return { symbol: shape.charAt(0).toLowerCase() + shape.slice(1), itemStyle: { color: theme.card, borderColor: colour, borderWidth: 2, opacity } };
}

export function figure(title: string, value: string, more?: string | null): HTMLElement {
  return h('div', {}, h('dt', {}, title), h('dd', {}, value, more ? h('small', {}, more) : null));
}

/** A share as a little bar beside its figure. */
export function meter(share: number): HTMLElement {
  const bar = h('span', { class: 'meter', 'aria-hidden': 'true' });
  bar.style.width = `${Math.max(1, Math.round(Math.min(1, share) * 80))}px`;
  return h('span', { class: 'metered' }, bar, format.percent(share));
}

export function wide(list: HTMLElement[]): HTMLElement[] {
  for (const element of list) element.classList.add('wide');
  return list;
}
