// The machine that it was measured on, and what doctor finds about it: what needs a hand first, what is well folded away.
import type { Finding, PageMachine } from '../types';
import { append, codeText, foreign, h, short } from '../parts/dom';
import { table } from '../parts/table';

const SIGN: Record<Finding['severity'], string> = { bad: '✖', warn: '▲', note: '●', ok: '✔', unknown: '?' };
const ORDER = ['bad', 'warn', 'note', 'unknown', 'ok'] as const;

/** The machine as some runs found it. */
export interface Moment { machine: PageMachine; when: string }
/** What was found, and where that was not found of all moments, or not in the same words, when. */
interface Found extends Finding { told: { condition: string; when: string[] }[] }

/** What holds at all moments is said once; of what does not, each moment has its own words. */
function foundIn(moments: readonly Moment[]): Found[] {
  const list = new Map<string, Found>();
  for (const { machine, when } of moments) {
    for (const f of machine.findings) {
      const key = JSON.stringify([f.id, f.severity, f.effect, f.remedy]);
      const found = list.get(key) ?? { ...f, told: [] };
      const same = found.told.find((t) => t.condition === f.condition);
      if (same) same.when.push(when);
      else found.told.push({ condition: f.condition, when: [when] });
      list.set(key, found);
    }
  }
  for (const found of list.values()) {
    for (const t of found.told) if (t.when.length === moments.length) t.when = [];
    found.condition = found.told.map((t) => (t.when.length ? `${t.when.join(', ')}: ` : '') + t.condition).join('; ');
  }
  return [...list.values()];
}

const tell = (t: Found['told'][number]): HTMLElement => h('div', {}, t.when.length ? h('span', { class: 'muted' }, `${t.when.join(', ')}: `) : null, codeText(t.condition, 300));

function findings(name: string, caption: string, rows: Found[]): HTMLElement {
  return table<Found>({
    name, caption, rows, page: 12,
    columns: [
      { name: 'severity', title: 'severity', kind: 'text', of: (f) => f.severity, show: (f) => h('span', { class: `${f.severity} one-line` }, `${SIGN[f.severity]} ${f.severity}`) },
      { name: 'id', title: 'check', kind: 'text', of: (f) => f.id },
      { name: 'condition', title: 'found', kind: 'text', of: (f) => f.condition, show: (f) => h('div', { class: 'wide-cell' }, ...f.told.map(tell)) },
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

interface Fact { key: string; value: string; when: string }

/** By name; those that were others at another moment are told of each. */
function factsOf(moments: readonly Moment[]): Fact[] {
  const list: Fact[] = [];
  for (const key of [...new Set(moments.flatMap(({ machine }) => Object.keys(machine.facts)))].sort()) {
    const values = new Map<string, string[]>();
    for (const { machine, when } of moments) if (Object.hasOwn(machine.facts, key)) values.set(machine.facts[key]!, [...(values.get(machine.facts[key]!) ?? []), when]);
    for (const [value, when] of values) list.push({ key, value, when: when.length === moments.length ? '' : when.join(', ') });
  }
  return list;
}

/** moments: at least one, all of one machine. */
export function machineSection(moments: readonly Moment[], number: number): HTMLElement[] {
  const { machine } = moments[0]!;
  const facts = factsOf(moments);
  const varying = new Set(facts.filter((f) => f.when).map((f) => f.key)).size;
  const rank = (f: Finding) => ORDER.indexOf(f.severity);
  const sorted = foundIn(moments).sort((a, b) => rank(a) - rank(b));
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
  const all = table<Fact>({
    name: `machine-${machine.fingerprint}`, caption: 'Facts of the machine', rows: facts, page: 25, filter: facts.length > 8,
    columns: [
      { name: 'fact', title: 'fact', kind: 'text', of: (f) => f.key },
      { name: 'value', title: 'value', kind: 'text', of: (f) => f.value, most: 300 },
      ...(varying ? [{ name: 'when', title: 'at', kind: 'text' as const, of: (f: Fact) => f.when || null, show: (f: Fact) => f.when || 'all' }] : []),
    ],
  });
  return [
    h('header', { class: 'section-head' },
      h('p', { class: 'kicker' }, number ? `machine ${number}` : 'machine'),
      h('h2', {}, foreign(machine.name, 120)),
      h('p', { class: 'muted' }, ...counts.map(([s, n], i) => h('span', {}, i ? ' · ' : '', h('span', { class: s }, SIGN[s]), ` ${n} ${s}`))),
      moments.length > 1 ? h('p', { class: 'muted' }, `Runs found it in ${moments.length} states: what differs between them is told with the run.`) : null),
    figures(machine.facts), card,
    h('details', { class: 'card' }, h('summary', {}, `All facts (${new Set(facts.map((f) => f.key)).size}${varying ? `, ${varying} of which were not always the same` : ''})`), all.element),
  ].filter((x): x is HTMLElement => !!x);
}
