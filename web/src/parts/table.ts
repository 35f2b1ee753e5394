// A table that sorts, filters, turns pages and can be had as CSV.
import { append, button, foreign, freshId, h, visible } from './dom';
import { csv, download } from './csv';
import * as format from './format';
import { onPaper } from './print';

export type Cell = string | number | boolean | null | undefined;

export interface Column<Row> {
  name: string; // of the CSV's column: et_ns
  title: string; // what people read
  kind: 'text' | 'ns' | 'number' | 'percent' | 'bytes' | 'p' | 'date';
  of: (row: Row) => Cell; // the figure itself: sorted by and exported
  show?: (row: Row) => Node | string; // where the kind's own way will not do
  most?: number; // characters of a text
  title_of?: string; // longer words for the heading, on hover
  exported?: boolean; // in the CSV alone
}

export interface TableSpec<Row> {
  name: string; // of the file, without .csv
  caption: string;
  columns: Column<Row>[];
  rows: readonly Row[];
  page?: number; // rows at once; 25
  filter?: boolean; // a field for it; by default where there is more than a page
  sort?: { column: string; down: boolean };
  onRow?: (row: Row) => void; // rows open something: their first cell is a button
  rowLabel?: (row: Row) => string;
  selected?: (row: Row) => boolean;
}

export interface TableHandle<Row> {
  element: HTMLElement;
  set(rows: readonly Row[]): void;
  refresh(): void; // selected() says otherwise now
  state(): TableState;
  restore(state: TableState): void;
  print(on: boolean): void; // paper has no pages to turn, and no edge to scroll beyond
}

export interface TableState {
  sort: { column: string; down: boolean } | null;
  filter: string; // as it was written
  at: number; // page
}

/** By its element: a page that is drawn anew asks how its tables were. */
export const tables = new WeakMap<Element, TableHandle<any>>();

const TYPING_MS = 120;
const PAPER = 500; // rows; more are for a file
const SMALL = 0.75; // of the type, where a table is wider than the paper; where that does not do, words are broken, too
const SMALLEST = 0.55;
const USED = 'button, a[href]';
const NUMERIC = new Set(['ns', 'number', 'percent', 'bytes', 'p']);

function shown<Row>(column: Column<Row>, row: Row): Node | string {
  if (column.show) return column.show(row);
  const value = column.of(row);
  if (value === null || value === undefined) return format.DASH;
  switch (column.kind) {
    case 'ns': return format.ns(value as number);
    case 'number': return format.count(value as number);
    case 'percent': return format.percent(value as number);
    case 'bytes': return format.bytes(value as number);
    case 'p': return format.pValue(value as number);
    case 'date': return format.date(value as string);
    default: return foreign(String(value), column.most ?? 60);
  }
}

function order(a: Cell, b: Cell): number {
  const missing = (x: Cell) => x === null || x === undefined || (typeof x === 'number' && Number.isNaN(x));
  if (missing(a) || missing(b)) return Number(missing(a)) - Number(missing(b));
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
}

export function tableCsv<Row>(columns: Column<Row>[], rows: Iterable<Row>): string {
  function* cells() {
    for (const row of rows) yield columns.map((column) => column.of(row));
  }
  return csv(columns.map((column) => column.name), cells());
}

onPaper((printing) => {
  for (const element of document.querySelectorAll('.table')) if (!printing || element.checkVisibility()) tables.get(element)?.print(printing);
});

export function table<Row>(spec: TableSpec<Row>): TableHandle<Row> {
  const size = spec.page ?? 25;
  let printed = false;
  const columns = spec.columns.filter((column) => !column.exported);
  let rows = spec.rows;
  let sort = spec.sort ?? null;
  let filter = '';
  let at = 0;
  let list: readonly Row[] | null = null; // what is filtered and sorted; null: to be done
  let drawn: readonly Row[] = [];
  let typing = 0;
  const id = freshId('table');
  const head = h('tr');
  const body = h('tbody');
  const back = button('‹', () => turn(-1), `${spec.caption}: rows before`);
  const on = button('›', () => turn(1), `${spec.caption}: rows after`);
  const count = h('span', { 'aria-live': 'polite' }); // stays, or what is in it is not announced
  const pager = h('div', {}, back, count, on);
  const field = h('input', {
    type: 'search', placeholder: 'filter', 'aria-label': `filter: ${spec.caption}`,
    oninput: () => {
      clearTimeout(typing);
      typing = window.setTimeout(() => { filter = field.value.toLowerCase(); at = 0; list = null; draw(); }, TYPING_MS);
    },
  });
  const tools = h('div', { class: 'tools' },
    field,
    button('CSV', () => download(`${spec.name}.csv`, 'text/csv', tableCsv(spec.columns, rows)), `${spec.caption}: download as CSV`));
  const sheet = h('table', {}, h('caption', {}, spec.caption), h('thead', {}, head), body);
  const view = h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': spec.caption }, sheet);
  const beyond = h('p', { class: 'beyond muted', hidden: true });
  const element = h('div', { class: 'table', id }, tools, view, pager, beyond);

  function heading(column: Column<Row>): HTMLElement {
    const down = sort?.column === column.name ? sort.down : null;
    const mark = down === null ? '' : down ? ' ▾' : ' ▴';
    return h('th', {
      scope: 'col', class: NUMERIC.has(column.kind) ? 'number' : null,
      'aria-sort': down === null ? 'none' : down ? 'descending' : 'ascending',
    }, h('button', {
      type: 'button', title: column.title_of,
      onclick: () => {
        const again = sort?.column === column.name;
        sort = { column: column.name, down: again ? !sort!.down : NUMERIC.has(column.kind) };
        at = 0;
        list = null;
        draw();
        // the heading that was clicked is a new one
        (head.children[columns.indexOf(column)]?.querySelector('button') as HTMLElement | null)?.focus();
      },
    }, column.title + mark));
  }

  function chosen(): readonly Row[] {
    let found = rows;
    if (filter) {
      found = found.filter((row) => spec.columns.some((column) => {
        const value = column.of(row);
        return value !== null && value !== undefined && String(value).toLowerCase().includes(filter);
      }));
    }
    const by = sort && spec.columns.find((column) => column.name === sort!.column);
    if (by) {
      const sign = sort!.down ? -1 : 1;
      found = [...found].sort((a, b) => {
        const x = by.of(a);
        const y = by.of(b);
        // what is not known comes last either way
        if (x === null || x === undefined || y === null || y === undefined) return order(x, y);
        return sign * order(x, y);
      });
    }
    return found;
  }
  function turn(by: number): void {
    if (at + by < 0 || at + by >= pagesOf()) return;
    at += by;
    draw();
  }
  const pagesOf = () => Math.max(1, Math.ceil((list?.length ?? 0) / size));

  function draw(): void {
    list ??= chosen();
    const pages = pagesOf();
    at = Math.min(at, pages - 1);
    field.hidden = !(spec.filter ?? rows.length > size);
    head.replaceChildren(...columns.map(heading));
    const [from, to] = printed ? [0, PAPER] : [at * size, at * size + size];
    drawn = list.slice(from, to);
    body.replaceChildren(...drawn.map((row) => {
      const cells = columns.map((column, i) => {
        const content = shown(column, row);
        const cell = h(i === 0 ? 'th' : 'td', { class: NUMERIC.has(column.kind) ? 'number' : null, scope: i === 0 ? 'row' : null });
        if (i === 0 && spec.onRow) {
          const open = h('button', { type: 'button', class: 'link', 'aria-label': spec.rowLabel?.(row), 'aria-pressed': spec.selected ? String(spec.selected(row)) : null, onclick: () => spec.onRow!(row) });
          append(open, content);
          append(cell, open);
        } else {
          append(cell, content);
        }
        return cell;
      });
      return h('tr', { class: spec.selected?.(row) ? 'selected' : null }, ...cells);
    }));
    if (!list.length) body.replaceChildren(h('tr', {}, h('td', { colspan: columns.length, class: 'muted' }, rows.length ? 'nothing matches' : 'none')));
    const left = list.length - Math.min(list.length, PAPER);
    beyond.textContent = [filter ? `Only rows with “${visible(filter)}”.` : '', left ? `${format.count(left)} more rows are in the CSV of this table and in the JSON of this page.` : ''].filter(Boolean).join(' ');
    beyond.hidden = !printed || !beyond.textContent;
    const some = pages > 1;
    // told of what a filter left, seen or not; not :disabled, which would take the focus away
    pager.className = some ? 'pager' : 'visually-hidden';
    back.hidden = on.hidden = !some;
    back.setAttribute('aria-disabled', String(at === 0));
    on.setAttribute('aria-disabled', String(at === pages - 1));
    const said = some ? `${format.count(at * size + 1)}–${format.count(Math.min(list.length, at * size + size))} of ${format.count(list.length)}`
      : filter ? (list.length ? `${format.count(list.length)} ${list.length === 1 ? 'row' : 'rows'}` : 'nothing matches') : '';
    if (count.textContent !== said) count.textContent = said;
  }
  draw();
  /** Rows and headings are made anew: what has the focus keeps it, wherever its row is by then. */
  function drawAgain(): void {
    const active = document.activeElement;
    const line = active?.closest('tr');
    const place = line && (line === head || line.parentElement === body) ? [...line.querySelectorAll(USED)].indexOf(active!) : -1;
    const row = place < 0 || line === head ? undefined : drawn[[...body.children].indexOf(line!)];
    draw();
    if (place < 0) return;
    const next = line === head ? head : body.children[drawn.indexOf(row!)];
    next?.querySelectorAll<HTMLElement>(USED)[place]?.focus({ preventScroll: true });
  }
  const handle: TableHandle<Row> = {
    element,
    set(next) { rows = next; list = null; draw(); },
    refresh: drawAgain,
    state: () => ({ sort, filter: field.value, at }),
    restore(state) {
      clearTimeout(typing);
      sort = state.sort;
      field.value = state.filter;
      filter = state.filter.toLowerCase();
      at = state.at;
      list = null;
      draw();
    },
    print(on) {
      printed = on;
      drawAgain();
      sheet.style.removeProperty('zoom');
      sheet.classList.remove('tight');
      if (!on) return;
      const room = () => Math.floor((100 * view.clientWidth) / sheet.offsetWidth) / 100;
      sheet.classList.toggle('tight', room() < SMALL);
      if (room() < 1) sheet.style.setProperty('zoom', String(Math.max(SMALLEST, room())));
    },
  };
  tables.set(element, handle);
  return handle;
}
