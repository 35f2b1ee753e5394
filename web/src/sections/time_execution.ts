// One execution, opened over the page: its ledger, who else ran, interrupts, processes, and its timeline where it was traced.
import type { Detail } from '../types';
import type { ChartHandle } from '../parts/chart';
import { append, button, foreign, freshId, h } from '../parts/dom';
import { figure } from '../parts/figures';
import * as format from '../parts/format';
import { table, type Column } from '../parts/table';
import { causeColour, current, meaning, onChange } from '../parts/theme';
import { causeSwatch, executionName, KEPT, measuresOf, RULE_MEANS, RULE_WORDS, shownValue, type Time } from './time_common';
import { traceCard } from './time_trace';

const ROLES = ['subject', 'daemon', 'tare'] as const;

interface Share {
  cause: string;
  ns: number;
  mean: number | null; // of the kept
}

/** Its part of the ledger's columns, by cause; nothing where it has none here. */
function shares(time: Time, position: number): Share[] {
  const ledger = time.section.ledger;
  if (!ledger) return [];
  const row = ledger.index ? ledger.index.indexOf(position) : position;
  if (row < 0) return [];
  return ledger.causes.map((cause, c) => ({ cause, ns: ledger.wall[c]![row] ?? 0, mean: ledger.mean?.[c] ?? null })).filter((s) => s.ns || s.mean).sort((a, b) => b.ns - a.ns);
}

/** Colours of what is marked with its cause. */
function paint(root: HTMLElement): void {
  const theme = current();
  for (const part of root.querySelectorAll<HTMLElement>('[data-cause]')) part.style.background = causeColour(part.dataset['cause']!, theme);
}

function ledgerBar(list: Share[], total: number): HTMLElement {
  const bar = h('div', { class: 'ledger-bar', 'aria-hidden': 'true' });
  for (const { cause, ns } of list) {
    if (!ns) continue;
    const part = h('span', { title: `${cause} ${format.ns(ns)}`, 'data-cause': cause });
    part.style.width = `${(100 * ns) / total}%`;
    bar.appendChild(part);
  }
  return bar;
}

function ledgerPart(time: Time, position: number): HTMLElement | null {
  const list = shares(time, position);
  const total = list.reduce((sum, s) => sum + s.ns, 0);
  if (!total) return null;
  const made = table<Share>({
    name: `${time.section.anchor}-${position + 1}-ledger`, caption: 'Its ledger', rows: list, page: 24, filter: false,
    columns: [
      { name: 'cause', title: 'cause', kind: 'text', of: (s) => s.cause, show: (s) => causeSwatch(s.cause) },
      { name: 'ns', title: 'time', kind: 'ns', of: (s) => s.ns }, { name: 'share', title: 'share', kind: 'percent', of: (s) => s.ns / total },
      { name: 'mean_ns', title: 'mean of the kept', kind: 'ns', of: (s) => s.mean }, { name: 'more_ns', title: 'more', kind: 'ns', of: (s) => (s.mean === null ? null : s.ns - s.mean) },
      { name: 'meaning', title: 'the subject was', kind: 'text', of: (s) => meaning(s.cause), most: 120 },
    ],
  });
  return h('div', { class: 'part' }, h('h3', {}, 'Its ledger'), ledgerBar(list, total), made.element);
}

function tables(time: Time, position: number, detail: Detail): HTMLElement[] {
  const { section } = time;
  const name = (i: number) => section.names[i] ?? '?';
  const cause = (i: number) => section.ledger?.causes[i] ?? `cause ${i}`;
  const parts: HTMLElement[] = [];
  const add = <Row>(id: string, caption: string, about: string | null, rows: Row[], columns: Column<Row>[]) => {
    if (!rows.length) return;
    parts.push(h('div', { class: 'part', 'data-part': id }, h('h3', {}, caption), about ? h('p', { class: 'muted' }, about) : null,
      table<Row>({ name: `${section.anchor}-${position + 1}-${id}`, caption, rows, columns, page: 10 }).element));
  };
  add<Detail['others'][number]>('others', 'Who else ran', 'Processes outside of the subject that had a CPU meanwhile.', detail.others, [
    { name: 'name', title: 'name', kind: 'text', of: (r) => name(r[0]), most: 48 }, { name: 'pid', title: 'PID', kind: 'number', of: (r) => r[1], show: (r) => String(r[1]) },
    { name: 'ns', title: 'on a CPU', kind: 'ns', of: (r) => r[2] }, { name: 'bursts', title: 'bursts', kind: 'number', of: (r) => r[3] },
    { name: 'longest_ns', title: 'longest', kind: 'ns', of: (r) => r[4] },
    { name: 'delayed_ns', title: 'held up', kind: 'ns', of: (r) => r[5], title_of: 'had a CPU that a thread of the subject was queued for' },
    { name: 'io_delayed_ns', title: 'held up I/O', kind: 'ns', of: (r) => r[6], title_of: 'had the device that a thread of the subject was blocked on' },
  ]);
  add<Detail['entries'][number]>('entries', 'Behind each cause', 'Of all threads of the subject.', detail.entries, [
    { name: 'cause', title: 'cause', kind: 'text', of: (r) => cause(r[0]) }, { name: 'name', title: 'what', kind: 'text', of: (r) => name(r[1]) || '(no name)', most: 48 },
    { name: 'pid', title: 'PID', kind: 'number', of: (r) => r[2] || null, show: (r) => (r[2] ? String(r[2]) : format.DASH) },
    { name: 'ns', title: 'time', kind: 'ns', of: (r) => r[3] }, { name: 'count', title: 'times', kind: 'number', of: (r) => r[4] },
  ]);
  add<Detail['interrupts'][number]>('interrupts', 'Interrupts', 'Over the whole machine; last, what fell on the subject.', detail.interrupts, [
    { name: 'cause', title: 'kind', kind: 'text', of: (r) => cause(r[0]) }, { name: 'name', title: 'source', kind: 'text', of: (r) => name(r[1]), most: 48 },
    { name: 'count', title: 'times', kind: 'number', of: (r) => r[2] }, { name: 'ns', title: 'time', kind: 'ns', of: (r) => r[3] },
    { name: 'subject_ns', title: 'on the subject', kind: 'ns', of: (r) => r[4] },
  ]);
  add<Detail['processes'][number]>('processes', 'Processes', 'Their process time, most first.', detail.processes, [
    { name: 'name', title: 'name', kind: 'text', of: (r) => name(r[0]), most: 48 }, { name: 'role', title: 'role', kind: 'text', of: (r) => ROLES[r[1]] ?? '?' },
    { name: 'pid', title: 'PID', kind: 'number', of: (r) => r[2], show: (r) => String(r[2]) }, { name: 'pt_ns', title: 'PT', kind: 'ns', of: (r) => r[3] },
  ]);
  return parts;
}

/** Sets what time.open() does; the element is to be put into the page. run: of which, where there are several. */
export function executionDialog(time: Time, run: string | null): HTMLElement {
  const { section } = time;
  const title = freshId('execution');
  const body = h('div', { class: 'execution' });
  let trace: ChartHandle | null = null;
  const dialog = h('dialog', { class: 'execution-dialog', 'aria-labelledby': title, onclose: () => shut() }, body);

  onChange(() => paint(body));

  function shut(): void {
    trace?.dispose();
    trace = null;
    body.replaceChildren();
  }
  function show(position: number): void {
    shut();
    const { columns } = section;
    const rule = columns.rule[position]!;
    const reason = section.reasons[position];
    const detail = section.details[position];
    const step = (by: number, words: string) => {
      const b = button(by < 0 ? '‹' : '›', () => {
        show(position + by);
        (body.querySelector(`[data-step="${by}"]:not(:disabled)`) as HTMLElement | null ?? body.querySelector('h2'))?.focus();
      }, words);
      b.dataset['step'] = String(by);
      b.disabled = position + by < 0 || position + by >= time.count;
      return b;
    };
    trace = detail ? traceCard(time, position, detail) : null;
    append(body,
      h('header', { class: 'execution-head' }, h('h2', { id: title, tabindex: -1 }, executionName(time, position).replace(/^./, (c) => c.toUpperCase())),
        run === null ? null : h('span', { class: 'muted' }, 'of ', foreign(run, 60)),
        h('span', { class: 'grow' }), step(-1, 'the execution before'), step(1, 'the execution after'), button('Close', () => dialog.close(), 'close (Escape)')),
      h('dl', { class: 'figures' },
        ...time.columns.map((c) => figure(c.name, format.ns(c.values[position] ?? null))),
        ...measuresOf(section).filter((m) => !time.columns.some((c) => c.values === m.values)).map((m) => figure(m.title, shownValue(m, m.values[position]))),
        figure('began', format.ns(columns.at_us[position]! * 1000)),
        figure('counts', RULE_WORDS[rule]!)),
      rule === KEPT ? null : h('p', { class: 'note' }, `${RULE_WORDS[rule]}: ${RULE_MEANS[rule]}.`),
      reason?.text ? h('p', {}, foreign(reason.text, 1000)) : null,
      reason?.daemon ? h('p', {}, 'Culprit: ', h('strong', {}, foreign(reason.daemon, 120))) : null,
      trace?.element ?? null,
      ledgerPart(time, position));
    paint(body);
    if (detail) append(body, ...tables(time, position, detail));
    else append(body, h('p', { class: 'muted' }, Object.keys(section.details).length
      ? 'Of a run with many executions only the remarkable ones have their details in this page; `tare show` has them all.'
      : 'Nothing was seen of what else ran meanwhile.'));
  }
  time.open = (position) => {
    show(position);
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    (body.querySelector('h2') as HTMLElement).focus();
    trace?.draw();
  };
  return dialog;
}
