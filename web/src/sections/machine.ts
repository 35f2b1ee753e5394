// The machine that it was measured on, and what doctor finds about it: what needs a hand first, what is well folded away.
import type { Finding, Machine } from '../model';
import { append, codeText, foreign, h, short } from '../parts/dom';
import { table } from '../parts/table';

const SIGN: Record<Finding['severity'], string> = { bad: '✖', warn: '▲', note: '●', ok: '✔', unknown: '?' };
const ORDER = ['bad', 'warn', 'note', 'unknown', 'ok'] as const;

function findings(name: string, caption: string, rows: Finding[]): HTMLElement {
  return table<Finding>({
    name, caption, rows, page: 12,
    columns: [
      { name: 'severity', title: 'severity', kind: 'text', of: (f) => f.severity, show: (f) => h('span', { class: `${f.severity} one-line` }, `${SIGN[f.severity]} ${f.severity}`) },
      { name: 'id', title: 'check', kind: 'text', of: (f) => f.id },
      { name: 'condition', title: 'found', kind: 'text', of: (f) => f.condition, show: (f) => h('span', { class: 'wide-cell' }, codeText(f.condition, 300)) },
      { name: 'effect', title: 'what it does', kind: 'text', of: (f) => f.effect || null, show: (f) => (f.effect ? h('span', { class: 'wide-cell' }, codeText(f.effect, 400)) : '–') },
      { name: 'remedy', title: 'what mends it', kind: 'text', of: (f) => f.remedy || null, show: (f) => (f.remedy ? h(f.command ? 'code' : 'span', { class: 'wide-cell' }, f.command ? foreign(f.remedy, 700) : codeText(f.remedy, 700)) : '–') },
      { name: 'source', title: 'asked by', kind: 'text', of: (f) => f.source },
    ],
  }).element;
}

/** What one asks of a machine first. Facts that were not found are left out. */
function figures(facts: Record<string, string>): HTMLElement | null {
  const cores = facts['cpu.online.count'] ?? facts['cpu.online'];
  const memory = Number(facts['memory.total_mib']);
  const swap = facts['memory.swap_mib'] ? Number(facts['memory.swap_mib']) : NaN; // what is no number is not known
  const list: [string, string | undefined, string | undefined][] = [
    ['CPU', facts['cpu.model'], cores ? `${short(cores, 20)} online${facts['cpu.threads_per_core'] === '2' ? ', two a core' : ''}` : undefined],
    ['memory', memory > 0 ? `${(memory / 1024).toFixed(1)} GiB` : undefined, swap > 0 ? 'with swap' : swap === 0 ? 'no swap' : undefined],
    ['kernel', facts['kernel.release'], facts['kernel.preemption'] ? `preemption ${short(facts['kernel.preemption'], 20)}` : undefined],
    ['system', facts['system.os'], facts['system.hypervisor'] && facts['system.hypervisor'] !== 'none' ? `guest of ${short(facts['system.hypervisor'], 20)}` : undefined],
  ];
  const shown = list.filter(([, value]) => value);
  return shown.length ? h('dl', { class: 'figures machine-figures' },
    ...shown.map(([title, value, more]) => h('div', {}, h('dt', {}, title), h('dd', {}, foreign(value!, 48), more ? h('small', {}, more) : null)))) : null;
}

export function machineSection(machine: Machine, number: number): HTMLElement[] {
  const facts = Object.entries(machine.facts).sort(([a], [b]) => (a < b ? -1 : 1));
  const rank = (f: Finding) => ORDER.indexOf(f.severity);
  const sorted = [...machine.findings].sort((a, b) => rank(a) - rank(b));
  const counts = ORDER.map((s) => [s, sorted.filter((f) => f.severity === s).length] as const).filter(([, n]) => n);
  const open = sorted.filter((f) => f.severity === 'bad' || f.severity === 'warn' || f.severity === 'note');
  const rest = sorted.filter((f) => !open.includes(f));
  const card = h('div', { class: 'card' }, h('h3', {}, 'What doctor finds'));
  if (open.length) append(card, findings(`findings-${machine.fingerprint}`, 'What doctor finds', open));
  else append(card, h('p', { class: sorted.length ? 'ok' : 'muted' }, sorted.length ? '✔ nothing that needs a hand' : 'Doctor was not asked.'));
  if (rest.length) {
    append(card, h('details', {}, h('summary', {}, `${rest.length} ${rest.length === 1 ? 'check that is well or has' : 'checks that are well or have'} no answer`),
      findings(`findings-${machine.fingerprint}-rest`, 'Checks that are well, or have no answer', rest)));
  }
  const all = table<[string, string]>({
    name: `machine-${machine.fingerprint}`, caption: 'Facts of the machine', rows: facts, page: 25, filter: facts.length > 8,
    columns: [
      { name: 'fact', title: 'fact', kind: 'text', of: ([key]) => key },
      { name: 'value', title: 'value', kind: 'text', of: ([, value]) => value, most: 300 },
    ],
  });
  return [
    h('header', { class: 'section-head' },
      h('p', { class: 'kicker' }, number ? `machine ${number}` : 'machine'),
      h('h2', {}, foreign(machine.name, 120)),
      h('p', { class: 'muted' }, ...counts.map(([s, n], i) => h('span', {}, i ? ' · ' : '', h('span', { class: s }, SIGN[s]), ` ${n} ${s}`)))),
    figures(machine.facts), card,
    h('details', { class: 'card' }, h('summary', {}, `All facts (${facts.length})`), all.element),
  ].filter((x): x is HTMLElement => !!x);
}
