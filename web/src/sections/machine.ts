// The machine that it was measured on, and what doctor finds about it.
import type { Finding, Machine } from '../model';
import { foreign, h } from '../parts/dom';
import { table } from '../parts/table';

const SIGN: Record<Finding['severity'], string> = { bad: '✖', warn: '▲', note: '●', ok: '✔', unknown: '?' };

export function machineSection(machine: Machine, number: number): HTMLElement[] {
  const facts = Object.entries(machine.facts).sort(([a], [b]) => (a < b ? -1 : 1));
  const counts = (['bad', 'warn', 'note', 'ok', 'unknown'] as const).map((s) => [s, machine.findings.filter((f) => f.severity === s).length] as const).filter(([, n]) => n);
  const findings = table<Finding>({
    name: `findings-${machine.fingerprint}`, caption: 'What doctor finds', rows: machine.findings, page: 12,
    columns: [
      { name: 'severity', title: 'severity', kind: 'text', of: (f) => f.severity, show: (f) => h('span', { class: f.severity }, `${SIGN[f.severity]} ${f.severity}`) },
      { name: 'id', title: 'check', kind: 'text', of: (f) => f.id },
      { name: 'condition', title: 'found', kind: 'text', of: (f) => f.condition, most: 300 },
      { name: 'effect', title: 'what it does', kind: 'text', of: (f) => f.effect || null, most: 400 },
      { name: 'remedy', title: 'what mends it', kind: 'text', of: (f) => f.remedy || null, most: 700, show: (f) => (f.remedy ? h(f.command ? 'code' : 'span', {}, foreign(f.remedy, 700)) : '–') },
      { name: 'source', title: 'asked by', kind: 'text', of: (f) => f.source },
    ],
  });
  const all = table<[string, string]>({
    name: `machine-${machine.fingerprint}`, caption: 'Facts of the machine', rows: facts, page: 20,
    columns: [
      { name: 'fact', title: 'fact', kind: 'text', of: ([key]) => key },
      { name: 'value', title: 'value', kind: 'text', of: ([, value]) => value, most: 300 },
    ],
  });
  return [
    h('header', { class: 'section-head' },
      h('p', { class: 'kicker' }, number ? `machine ${number}` : 'machine'),
      h('h2', {}, foreign(machine.name, 120)),
      h('p', { class: 'muted' }, ...counts.map(([s, n], i) => `${i ? ' · ' : ''}${n} ${s}`))),
    h('div', { class: 'card' }, h('h3', {}, 'What doctor finds'), findings.element),
    h('details', { class: 'card' }, h('summary', {}, 'All facts'), all.element),
  ];
}
