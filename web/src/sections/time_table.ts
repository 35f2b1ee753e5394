// Every execution as a row: what all charts of a section are made of.
import { h } from '../parts/dom';
import { field } from '../parts/fields';
import * as format from '../parts/format';
import { remember } from '../parts/remember';
import { table, type Column } from '../parts/table';
import { executionName, measuresOf, RULE_MEANS, RULE_WORDS, shownValue, type Time } from './time_common';

/** A row is a position. */
export function executionColumns(time: Time): Column<number>[] {
  const { columns, reasons } = time.section;
  const list: Column<number>[] = [
    { name: 'number', title: 'execution', kind: 'number', of: (i) => columns.number[i] },
    { name: 'rule', title: 'counts', kind: 'text', of: (i) => RULE_WORDS[columns.rule[i]!] ?? '?', title_of: RULE_WORDS.map((w, i) => `${w}: ${RULE_MEANS[i]}`).join('; ') },
    { name: 'at_us', title: 'began', kind: 'number', of: (i) => columns.at_us[i], show: (i) => format.ns(columns.at_us[i]! * 1000), title_of: 'since the run began' },
  ];
  for (const m of measuresOf(time.section)) {
    list.push({ name: m.name, title: m.title, kind: m.kind, of: (i) => m.values[i], show: (i) => shownValue(m, m.values[i]), title_of: m.meaning });
  }
  if (Object.keys(reasons).length) {
    list.push({ name: 'daemon', title: 'culprit', kind: 'text', of: (i) => reasons[i]?.daemon || null, most: 32 });
    list.push({ name: 'reason', title: 'why', kind: 'text', of: (i) => reasons[i]?.text || null, most: 120 });
  }
  return list;
}

export function positions(time: Time): number[] {
  return Array.from({ length: time.count }, (_, i) => i);
}

export function executionsTable(time: Time): HTMLElement {
  const { section } = time;
  const asked = remember(`${section.anchor}-executions-shown`, 'all');
  const rows = () => {
    const all = positions(time);
    const shown = asked.value;
    if (shown === 'all') return all;
    if (shown === 'selected') return all.filter((i) => time.selected.has(i));
    if (shown === 'detail') return all.filter((i) => section.details[i]);
    return all.filter((i) => section.columns.rule[i] === Number(shown));
  };
  const made = table<number>({
    name: `${section.anchor}-executions`, caption: 'Executions', columns: executionColumns(time), rows: rows(), page: 15,
    onRow: (i) => time.open(i), rowLabel: (i) => `open ${executionName(time, i)}`, selected: (i) => time.selected.has(i),
  });
  const options: [string, string][] = [['all', `all ${format.count(time.count)}`]];
  RULE_WORDS.forEach((words, rule) => { if (time.counts[rule]) options.push([String(rule), `${words} (${format.count(time.counts[rule])})`]); });
  const details = Object.keys(section.details).length;
  if (details && details < time.count) options.push(['detail', `with details (${format.count(details)})`]);
  if (section.dual) options.push(['selected', 'selected in the scatter']);
  made.element.querySelector('.tools')?.prepend(field('Show', options, asked.value, (v) => { asked.value = v; made.set(rows()); }));
  time.onSelect(() => (asked.value === 'selected' ? made.set(rows()) : made.refresh()));
  return h('div', { class: 'card wide time-executions' }, h('h3', {}, 'Executions'),
    h('p', { class: 'muted hint' }, 'The number of an execution opens it: its ledger, the daemons that ran, the interrupts.'), made.element);
}
