// Elements without markup: whatever a name holds, it is text.

type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: any) => void)>;

/** An element; attributes that are functions are listeners ("onclick"), false and null ones are left out. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.replace(/^on/, ''), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  append(element, ...children);
  return element;
}

export function append(element: Node, ...children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** A button with a text; what it does is said by `label` where that is not enough. */
export function button(text: string, onclick: (event: MouseEvent) => void, label?: string): HTMLButtonElement {
  return h('button', { type: 'button', onclick, 'aria-label': label, title: label }, text);
}

let counter = 0;
/** An id that nothing else has. */
export function freshId(prefix: string): string {
  return `${prefix}-${++counter}`;
}

const pairAt = (text: string, i: number): boolean => /[\udc00-\udfff]/.test(text.charAt(i)) && /[\ud800-\udbff]/.test(text.charAt(i - 1));

/** Its first so many characters, or one less where that would cut one in two. */
function headOf(text: string, most: number): string {
  return text.slice(0, pairAt(text, most) ? most - 1 : most);
}

/** Any text on one line, not longer than so many characters; its middle goes. Characters that would turn the direction of what follows
 * or that nobody sees are shown, not obeyed. */
export function short(text: string, most = 80): string {
  const line = visible(text);
  if (line.length <= most) return line;
  const head = Math.ceil((most - 1) * 0.6);
  const tail = line.length - (most - 1 - head);
  return `${headOf(line, head)}…${line.slice(pairAt(line, tail) ? tail + 1 : tail)}`;
}

/** Characters of control and direction, and those without width, as what they are. */
export function visible(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/g, (c) => {
    if (c === '\n' || c === '\t') return ' ';
    return `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** The same with what is between backticks as code; a backtick without another one stays. */
export function codeText(text: string, most = 1000): HTMLElement {
  const parts = short(text, most).split('`');
  if (parts.length % 2 === 0) parts.push(parts.splice(-2).join('`'));
  return h('bdi', { title: text.length > most ? headOf(visible(text), 2000) : null }, ...parts.map((part, i) => (i % 2 ? h('code', {}, part) : part)));
}

/** An isolated piece of foreign text: whole on hover. */
export function foreign(text: string, most = 80): HTMLElement {
  const shown = short(text, most);
  return h('bdi', { title: shown === text ? null : headOf(visible(text), 2000) }, shown);
}
