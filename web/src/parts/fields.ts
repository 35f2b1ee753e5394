// Fields by which somebody chooses: one of several in a list, or beside each other as buttons.
import { freshId, h } from './dom';

type Options<T> = readonly (readonly [value: T, words: string])[];

/** A list; what it is of is said to those who do not see what is beside it. */
export function select<T extends string>(label: string, options: Options<T>, value: T, change: (value: T) => void): HTMLSelectElement {
  const made = h('select', { 'aria-label': label, onchange: () => change(made.value as T) },
    ...options.map(([v, words]) => h('option', { value: v, selected: v === value }, words)));
  return made;
}

/** The same with its label in sight. */
export function field<T extends string>(label: string, options: Options<T>, value: T, change: (value: T) => void): HTMLElement {
  const made = select(label, options, value, change);
  made.id = freshId('field');
  made.removeAttribute('aria-label');
  return h('span', { class: 'field' }, h('label', { for: made.id }, label), made);
}

/** Two or three choices as buttons, one of which is pressed. */
export function choices<T extends string>(label: string, options: Options<T>, value: T, change: (value: T) => void): HTMLElement {
  const buttons = options.map(([v, words]) => h('button', {
    type: 'button', 'aria-pressed': String(v === value), 'data-value': v,
    onclick: () => {
      for (const b of buttons) b.setAttribute('aria-pressed', String(b.dataset['value'] === v));
      change(v);
    },
  }, words));
  return h('span', { class: 'choices', role: 'group', 'aria-label': label }, ...buttons);
}
