// Who held the subject up: of one execution in a line or two, and over all that have details.
import { h, short } from '../parts/dom';
import * as format from '../parts/format';
import { table } from '../parts/table';
import { meaning } from '../parts/theme';
import { WARMUP, type Time } from './time_common';

/** What others do to a subject, and the word between its time and their name. */
const FROM_OUTSIDE = new Map([
  ['queued', 'behind'], ['irq', 'by'], ['softirq', 'by'], ['nmi', 'by'], ['steal', 'by'], ['io', 'on'], ['io_other', 'by'], ['io_idle', 'on'], ['lock', 'in'],
]);

/** "queued 16.2 ms behind cc1": the one or two that cost most; without details, the largest cause of its ledger. */
export function heldUp(time: Time, position: number): string[] {
  const { details, names, ledger } = time.section;
  const detail = details[position];
  const words = (cause: string, ns: number, name: string | undefined) => `${cause} ${format.ns(ns)}${name ? ` ${FROM_OUTSIDE.get(cause) ?? 'by'} ${short(name, 40)}` : ''}`;
  if (detail) {
    const list = detail.entries.map(([cause, name, , ns]) => ({ cause: ledger?.causes[cause] ?? '', name: names[name], ns })).filter((e) => e.ns > 0 && FROM_OUTSIDE.has(e.cause));
    if (!list.some((e) => e.cause === 'queued')) list.push(...detail.others.filter((o) => o[5] > 0).map((o) => ({ cause: 'queued', name: names[o[0]], ns: o[5] })));
    if (list.length) return list.sort((a, b) => b.ns - a.ns).slice(0, 2).map((e) => words(e.cause, e.ns, e.name));
  }
  const row = ledger ? (ledger.index ? ledger.index.indexOf(position) : position) : -1;
  if (row < 0) return [];
  let most = -1;
  ledger!.causes.forEach((cause, c) => {
    const ns = ledger!.wall[c]![row] ?? 0;
    if (cause !== 'run' && ns > 0 && (most < 0 || ns > ledger!.wall[most]![row]!)) most = c;
  });
  return most < 0 ? [] : [`${ledger!.causes[most]} ${format.ns(ledger!.wall[most]![row]!)}: ${meaning(ledger!.causes[most]!)}`];
}

/** Positions that have details; a warm-up is not one of the executions. */
function detailed(time: Time): number[] {
  return Object.keys(time.section.details).map(Number).filter((i) => time.section.columns.rule[i] !== WARMUP);
}

/** "over all 40 executions", "over 12 of 40 executions: ...". */
export function overHowMany(time: Time): string {
  const n = detailed(time).length;
  const all = time.count - time.counts[WARMUP]!;
  return n === all ? `over all ${format.count(all)} executions` : `over the ${format.count(n)} of ${format.count(all)} executions that have details in this page, the remarkable ones`;
}

/** Behind each cause, who took most of it first. */
export function namesByCause(time: Time): Map<string, string[]> {
  const { details, names, ledger } = time.section;
  const sums = new Map<string, Map<string, number>>();
  for (const i of detailed(time)) {
    for (const [c, n, , ns] of details[i]!.entries) {
      const cause = ledger?.causes[c];
      const name = names[n];
      if (!cause || !name || cause === 'run' || ns <= 0) continue;
      const of = sums.get(cause) ?? new Map<string, number>();
      sums.set(cause, of.set(name, (of.get(name) ?? 0) + ns));
    }
  }
  return new Map([...sums].map(([cause, of]) => [cause, [...of].sort((a, b) => b[1] - a[1]).map(([name]) => name)]));
}

interface Other {
  name: string;
  ns: number;
  delayed: number;
  io: number;
  executions: number;
}

function othersOf(time: Time, positions: number[]): Other[] {
  const { details, names } = time.section;
  const list = new Map<string, Other>();
  for (const i of positions) {
    const here = new Set<string>(); // one name may have several PIDs
    for (const [n, , ns, , , delayed, io] of details[i]!.others) {
      const name = names[n] || '(no name)';
      const other = list.get(name) ?? { name, ns: 0, delayed: 0, io: 0, executions: 0 };
      other.ns += ns;
      other.delayed += delayed;
      other.io += io;
      if (!here.has(name)) other.executions++;
      here.add(name);
      list.set(name, other);
    }
  }
  return [...list.values()].sort((a, b) => b.delayed - a.delayed || b.ns - a.ns);
}

/** Over the executions that have details. */
export function whoElse(time: Time): HTMLElement | null {
  const positions = detailed(time);
  const rows = othersOf(time, positions);
  if (!rows.length) return null;
  const n = positions.length;
  const made = table<Other>({
    name: `${time.section.anchor}-others`, caption: 'Who else ran', rows, page: 10,
    columns: [
      { name: 'name', title: 'name', kind: 'text', of: (r) => r.name, most: 48 },
      { name: 'mean_ns', title: 'on a CPU', kind: 'ns', of: (r) => r.ns / n, title_of: 'per execution, any CPU' },
      { name: 'mean_delayed_ns', title: 'held up', kind: 'ns', of: (r) => r.delayed / n, title_of: 'per execution: had a CPU that a thread of the subject was queued for' },
      { name: 'mean_io_delayed_ns', title: 'held up I/O', kind: 'ns', of: (r) => r.io / n, title_of: 'per execution: had the device that a thread of the subject was blocked on' },
      { name: 'executions', title: 'in executions', kind: 'number', of: (r) => r.executions },
    ],
  });
  return h('div', { class: 'card wide time-others' }, h('h3', {}, 'Who else ran'),
    h('p', { class: 'muted' }, `Processes outside of the subject; times are means per execution, ${overHowMany(time)}.`), made.element);
}
