// A function's machine code with its samples, the lines of source between. Stretches without samples are folded.
import type { ProfileListing, ProfileListingInstruction } from '../types';
import { button, foreign, h, short } from '../parts/dom';
import { csv, download } from '../parts/csv';
import { select } from '../parts/fields';
import * as format from '../parts/format';

const NEAR = 2; // instructions shown beside one with samples
const LEAST = 6; // that are worth folding
const HOT = 0.02; // of the function's samples

export interface ListingHandle {
  element: HTMLElement;
  open(listing: ProfileListing): void;
}

/** Positions of hot instructions, in their order: those with a good part of the function's samples, the hottest in any case. */
export function hotOnes(instructions: readonly ProfileListingInstruction[]): number[] {
  const all = instructions.reduce((sum, i) => sum + i.samples, 0);
  if (!all) return [];
  const most = instructions.reduce((best, i) => Math.max(best, i.samples), 0);
  return instructions.flatMap((i, at) => (i.samples >= HOT * all || i.samples === most ? [at] : []));
}

/** Stretches of instructions, by turns to show and to fold. */
function stretches(instructions: readonly ProfileListingInstruction[]): { from: number; to: number; fold: boolean }[] {
  const n = instructions.length;
  const shown = new Uint8Array(n);
  instructions.forEach((instruction, i) => {
    if (instruction.samples) shown.fill(1, Math.max(0, i - NEAR), i + NEAR + 1);
  });
  const list: { from: number; to: number; fold: boolean }[] = [];
  for (let i = 0; i < n;) {
    let to = i + 1;
    while (to < n && shown[to] === shown[i]) to++;
    const fold = !shown[i] && to - i >= LEAST;
    const last = list.at(-1);
    if (last && !last.fold && !fold) last.to = to;
    else list.push({ from: i, to, fold });
    i = to;
  }
  return list;
}

export function listingCard(name: string, listings: ProfileListing[]): ListingHandle {
  let shown: ProfileListing | null = null;
  let hot: number[] = [];
  let most = 1;
  let at = -1; // of hot
  const folds = new Set<() => HTMLElement[]>(); // what unfolds them
  const head = h('p', { class: 'muted' });
  const status = h('span', { class: 'flame-found', 'aria-live': 'polite' });
  const body = h('tbody');
  const place = h('div', { class: 'listing-scroll', tabindex: 0, role: 'region', 'aria-label': 'machine code', onkeydown: key },
    h('table', { class: 'listing' }, h('caption', {}, 'machine code with its samples'),
      h('thead', {}, h('tr', {}, ...['samples', 'share', 'address', 'instruction'].map((title) => h('th', { scope: 'col' }, title)))), body));
  const choose = select('function whose code is shown', listings.map((l, i) => [String(i), `${short(l.function.name.slice(0, 500), 60)} (${format.count(l.self)})`] as const), '0', (i) => open(listings[Number(i)]!));
  const before = button('‹ hot', () => step(-1), 'hot instruction before (p)');
  const after = button('hot ›', () => step(1), 'next hot instruction (n)');
  const unfold = button('Unfold', () => { for (const open of folds) open(); }, 'unfold instructions without samples');
  const element = h('div', { class: 'card listing-card', id: name },
    h('h3', {}, 'Machine code'),
    h('div', { class: 'tools' }, choose, before, after, unfold,
      button('CSV', save, 'machine code: download as CSV'), status),
    head, place,
    h('p', { class: 'muted flame-help' }, 'A sample is at the instruction that would have come next: its cost is mostly of the one before. n and p go to hot instructions.'));

  function instruction(i: number): HTMLElement[] {
    const list = shown!.instructions;
    const row = list[i]!;
    const rows: HTMLElement[] = [];
    const before = list[i - 1];
    // addresses of the kernel are beyond what a number holds exactly; of a long function only what is near samples may be here
    if (before && BigInt(before.address) + BigInt(before.size) < BigInt(row.address)) rows.push(h('tr', { class: 'cold' }, h('td', { colspan: 4 }, '⋯ code without samples that is not in this page')));
    if (row.line !== null && (!before || before.line !== row.line || before.file !== row.file)) {
      const file = row.file === null ? '' : row.file.slice(row.file.lastIndexOf('/') + 1);
      rows.push(h('tr', { class: 'source' }, h('td', { colspan: 4, title: row.file?.slice(0, 2000) }, foreign(`${file}:${row.line}`, 60), row.source ? '  ' : '', row.source ? foreign(row.source.slice(0, 2000).replaceAll('\t', '    '), 200) : null)));
    }
    const bar = h('i', { 'aria-hidden': 'true' });
    bar.style.width = `${(row.samples / most) * 100}%`;
    const hottest = row.samples === most;
    rows.push(h('tr', { 'data-at': i, tabindex: -1, class: row.samples ? null : 'cold' },
      h('td', { class: 'heat' }, row.samples ? bar : null, h('span', {}, row.samples ? format.count(row.samples) : '')),
      h('td', { class: 'number' }, row.samples ? format.percent(row.share) : ''),
      h('td', {}, row.address),
      h('td', {}, foreign(row.text, 160), hottest ? h('strong', { class: 'bad' }, '  ◀ hottest') : null)));
    return rows;
  }

  function part(from: number, to: number): HTMLElement[] {
    const rows: HTMLElement[] = [];
    for (let i = from; i < to; i++) rows.push(...instruction(i));
    return rows;
  }

  function folded(from: number, to: number): HTMLElement {
    const open = () => {
      const rows = part(from, to);
      row.replaceWith(...rows);
      folds.delete(open);
      return rows;
    };
    folds.add(open);
    // the button that had the focus goes
    const row = h('tr', { class: 'fold' }, h('td', { colspan: 4 },
      button(`⋯ ${format.count(to - from)} instructions without samples`, () => open().find((r) => r.hasAttribute('data-at'))?.focus({ preventScroll: true }))));
    return row;
  }

  function open(listing: ProfileListing): void {
    shown = listing;
    const list = listing.instructions;
    most = Math.max(1, list.reduce((best, i) => Math.max(best, i.samples), 0));
    hot = hotOnes(list);
    at = -1;
    choose.value = String(listings.indexOf(listing));
    const f = listing.function;
    head.replaceChildren(foreign(f.name, 120), ' in ', foreign(f.object, 80), f.file ? h('span', {}, ', ', foreign(f.file, 80), f.line === null ? '' : `:${f.line}`) : '',
      ` · ${format.bytes(f.size)}, ${format.count(list.length)} instructions · ${format.count(listing.self)} samples`,
      listing.elsewhere ? `, ${format.count(listing.elsewhere)} of them at no instruction of the list` : '');
    folds.clear();
    body.replaceChildren(...stretches(list).flatMap((s) => (s.fold ? [folded(s.from, s.to)] : part(s.from, s.to))));
    before.disabled = after.disabled = !hot.length;
    unfold.disabled = !body.querySelector('.fold');
    status.textContent = list.length ? `${format.count(hot.length)} hot` : 'The code was not kept.';
    place.scrollTop = 0;
  }

  function step(by: 1 | -1): void {
    if (!hot.length) return;
    at = at < 0 ? (by > 0 ? 0 : hot.length - 1) : (at + by + hot.length) % hot.length;
    body.querySelector('tr.at')?.classList.remove('at');
    const row = body.querySelector<HTMLElement>(`tr[data-at="${hot[at]}"]`);
    const i = shown!.instructions[hot[at]!]!;
    status.textContent = `hot ${at + 1} of ${hot.length}: ${format.count(i.samples)} samples, ${format.percent(i.share)}, at ${i.address}`;
    if (!row) return;
    row.classList.add('at');
    // only this box scrolls, not the page
    place.scrollTop += row.getBoundingClientRect().top - place.getBoundingClientRect().top - place.clientHeight / 3;
  }

  function key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key !== 'n' && event.key !== 'p') return;
    event.preventDefault();
    step(event.key === 'n' ? 1 : -1);
  }

  function save(): void {
    if (!shown) return;
    download(`${name}.csv`, 'text/csv', csv(['address', 'size', 'text', 'samples', 'share', 'file', 'line', 'source'],
      shown.instructions.map((i) => [i.address, i.size, i.text, i.samples, i.share, i.file, i.line, i.source])));
  }
  if (listings[0]) open(listings[0]);
  return { element, open };
}
