// Figures in words, before the charts: a title, a number, and what it is of.
import { h } from './dom';
import * as format from './format';

export function figure(title: string, value: string, more?: string | null): HTMLElement {
  return h('div', {}, h('dt', {}, title), h('dd', {}, value, more ? h('small', {}, more) : null));
}

/** A share as a little bar beside its figure. */
export function meter(share: number): HTMLElement {
  const bar = h('span', { class: 'meter', 'aria-hidden': 'true' });
  bar.style.width = `${Math.max(1, Math.round(Math.min(1, share) * 80))}px`;
  return h('span', { class: 'metered' }, bar, format.percent(share));
}

/** Cards that take a row of their own. */
export function wide<T extends Element | null>(list: T[]): T[] {
  for (const element of list) element?.classList.add('wide');
  return list;
}
