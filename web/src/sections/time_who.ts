// Who held the subject up: of one execution in a line or two, and over all that have details.
import { short } from '../parts/dom';
import * as format from '../parts/format';
import type { Time } from './time_common';
import { meaning } from './time_causes';

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
