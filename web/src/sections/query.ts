// A run of `tare query`: what was kept, how long queries take at each cardinality, where that time went, and what the protocol says about it.
import type { Doc, Query, QueryAt, QueryExecution, QuerySection } from '../types';
import { append, button, foreign, h, visible } from '../parts/dom';
import { figure } from '../parts/figures';
import * as format from '../parts/format';
import { remember } from '../parts/remember';
import { table, type Column } from '../parts/table';
import { ledgerChart, splitChart, timeByCardinality, timeByQuery } from './query_charts';
import { atName, dbmsName, medianOf, TIME_TITLE, TIME_WORDS } from './query_data';
import { modelCards } from './query_model';
import { planCard, sqlText } from './query_plans';

function share(part: number, all: number): string {
  return all ? format.percent(part / all) : format.DASH;
}

function figures(q: Query): HTMLElement {
  const r = q.reading;
  return h('dl', { class: 'figures' },
    figure('Q@Cs kept', `${format.count(q.at_kept)} of ${format.count(q.at_made)}`, share(q.at_kept, q.at_made)),
    figure('executions kept', `${format.count(q.executions_kept)} of ${format.count(q.executions_made)}`, share(q.executions_kept, q.executions_made)),
    figure('relative error', format.percent(q.relative_error), 'mean of σ / mean'),
    figure('DBMS', dbmsName(q.server.dbms).slice(0, 40), visible(q.server.version ?? '').slice(0, 60)),
    figure('caches', q.experiment.cold ? 'cold' : 'warm', r ? (q.experiment.cold ? `${r.whole} of ${r.known} Q@Cs read their tables whole` : `${r.warm} of ${r.known} Q@Cs read < 1 % of their tables`) : null),
    figure('headline time', TIME_TITLE[q.time], q.time === 'measured' ? 'from asking to the last row' : null),
    figure('waited for a CPU', format.percent(q.surroundings.run_delay_share), `steal ${format.percent(q.surroundings.steal_share)}${q.surroundings.lost ? `, events lost in ${q.surroundings.lost}` : ''}`));
}

function sayings(q: Query): HTMLElement | null {
  const list: string[] = [`Time is ${TIME_WORDS[q.time]}: the median of the executions kept.`];
  if (q.experiment.imported) list.push('These executions were measured elsewhere and imported.');
  if (!q.at_kept) list.push('Nothing was kept: by the protocol this run has no result. What is drawn are all executions that ended.');
  if (q.server.io_by_process) list.push("The server reads in other threads than the query's: what rests on the query's blocked time is refused.");
  return h('ul', { class: 'notes' }, ...list.map((line) => h('li', {}, line)));
}

// ---- Q@Cs, and the executions of one ----

const EXECUTION: Column<QueryExecution>[] = [
  { name: 'number', title: 'execution', kind: 'number', of: (x) => x.number },
  { name: 'started_at', title: 'began', kind: 'date', of: (x) => x.started_at },
  { name: 'measured_ns', title: 'elapsed', kind: 'ns', of: (x) => x.measured_ns },
  { name: 'calculated_ns', title: 'Time_calc', kind: 'ns', of: (x) => x.times_ns.calculated },
  { name: 'cpu_ns', title: 'CPU', kind: 'ns', of: (x) => x.cpu_ns },
  { name: 'own_device_ns', title: 'own I/O', kind: 'ns', of: (x) => x.own_device_ns },
  { name: 'others_device_ns', title: "others' I/O", kind: 'ns', of: (x) => x.others_device_ns },
  { name: 'run_delay_ns', title: 'waited for a CPU', kind: 'ns', of: (x) => x.run_delay_ns },
  { name: 'read_bytes', title: 'read', kind: 'bytes', of: (x) => x.read_bytes },
  { name: 'rows', title: 'rows', kind: 'number', of: (x) => x.rows },
  { name: 'dropped_by', title: 'kept', kind: 'text', of: (x) => x.dropped_by.join(', '), show: (x) => (x.dropped_by.length ? h('span', { class: 'bad' }, `✖ ${x.dropped_by.join(', ')}`) : h('span', { class: 'ok' }, '✔')) },
];

function panel(section: QuerySection, q: Query, at: QueryAt, close: () => void): HTMLElement {
  const sql = q.texts.find((t) => t.query === at.query)?.sql;
  const facts: string[] = [at.kept ? `${at.kept} of ${at.made} executions kept` : `none of ${at.made} executions kept`];
  if (at.plan) facts.push(`plan ${at.plan}${at.several_plans ? ' and others' : ''}`);
  if (at.table_bytes !== null) facts.push(`tables of ${format.bytes(at.table_bytes)}${at.read_share === null ? '' : `, ${format.percent(at.read_share)} of that read`}`);
  if (at.dropped_by) facts.push(`dropped: ${at.dropped_by}`);
  if (at.fired.length) facts.push(`fired: ${at.fired.join(', ')}`);
  if (at.fired_afterwards.length) facts.push(`fired afterwards: ${at.fired_afterwards.join(', ')}`);
  return h('div', { class: 'opened', role: 'region', 'aria-label': `executions of ${atName(at, 60)}` },
    h('h4', { tabindex: -1 }, foreign(atName(at, 120), 160)), h('div', { class: 'tools' }, button('close', close, 'close these executions')),
    h('p', { class: 'muted' }, facts.join(' · ')),
    sql ? h('pre', { class: 'sql', tabindex: 0, role: 'region', 'aria-label': 'SQL' }, sqlText(sql)) : null,
    table({ name: `${section.anchor}-query-${at.query}-${at.cardinality ?? 'all'}`, caption: `Executions of ${atName(at, 60)}`, columns: EXECUTION, rows: at.executions, page: 15 }).element);
}

/** A row has one population: of a dropped Q@C all executions that ended, in parentheses. What is only known of those kept is not known of them. */
const shownOf = (at: QueryAt, value: string): string => (at.dropped_by && value !== format.DASH ? `(${value})` : value);
const keptMedian = (at: QueryAt, figure: QueryAt['cpu']): number | null => (at.dropped_by ? null : figure?.median_ns ?? null);

interface AtTable { element: HTMLElement; open: (at: QueryAt) => void }

function atTable(section: QuerySection, q: Query): AtTable {
  let opened: QueryAt | null = null;
  const kept = remember<{ query: number; cardinality: number | null } | null>(`${section.anchor}-opened`, null);
  const sigmaOf = (at: QueryAt) => (at.dropped_by ? at.unfiltered : at.times)[q.time]?.sigma_ns ?? null;
  const place = h('div');
  const list = table<QueryAt>({
    name: `${section.anchor}-at`, caption: 'Queries at cardinalities', rows: q.at, page: 20,
    onRow: (at) => { if (opened === at) close(); else open(at); }, rowLabel: (at) => `executions of ${atName(at, 60)}`, selected: (at) => at === opened,
    columns: [
      { name: 'query', title: 'query', kind: 'text', of: (at) => at.name, most: 30 },
      { name: 'cardinality', title: 'cardinality', kind: 'number', of: (at) => at.cardinality },
      { name: 'plan', title: 'plan', kind: 'text', of: (at) => at.plan, show: (at) => (at.plan ? `${at.plan}${at.several_plans ? ' ▲ several' : ''}` : format.DASH) },
      { name: 'kept', title: 'kept', kind: 'number', of: (at) => at.kept, show: (at) => `${at.kept} / ${at.made}` },
      { name: 'median_ns', title: TIME_TITLE[q.time], title_of: `${TIME_WORDS[q.time]}; in parentheses: dropped, of all that ended`, kind: 'ns', of: (at) => medianOf(at, q.time), show: (at) => shownOf(at, format.ns(medianOf(at, q.time))) },
      { name: 'sigma_ns', title: 'σ', kind: 'ns', of: sigmaOf, show: (at) => shownOf(at, format.ns(sigmaOf(at))) },
      { name: 'measured_ns', title: 'elapsed', kind: 'ns', exported: q.time === 'measured', of: (at) => medianOf(at, 'measured'), show: (at) => shownOf(at, format.ns(medianOf(at, 'measured'))) },
      { name: 'cpu_ns', title: 'CPU', kind: 'ns', of: (at) => keptMedian(at, at.cpu), title_of: 'median of the executions kept; none of a dropped Q@C' },
      { name: 'own_device_ns', title: 'own I/O', kind: 'ns', of: (at) => keptMedian(at, at.own_device), title_of: 'median of the executions kept; none of a dropped Q@C' },
      { name: 'read_share', title: 'read', kind: 'percent', of: (at) => at.read_share, show: (at) => shownOf(at, format.percent(at.read_share)), title_of: 'bytes read, of those of its tables: mean of all executions that ended, since caches have nothing to do with what is dropped' },
      { name: 'dropped_by', title: 'verdict', kind: 'text', of: (at) => at.dropped_by ?? 'kept', show: (at) => (at.dropped_by ? h('span', { class: 'bad one-line' }, `✖ ${at.dropped_by}`) : h('span', { class: 'ok' }, '✔ kept')) },
    ],
  });
  function close(): void {
    opened = kept.value = null;
    place.replaceChildren();
    list.refresh();
  }
  function show(at: QueryAt): HTMLElement {
    opened = at;
    kept.value = { query: at.query, cardinality: at.cardinality };
    const made = panel(section, q, at, () => {
      // the row that opened it, which refresh() leaves the focus with; where another page of rows is shown, the table
      const row = list.element.querySelector<HTMLElement>('tbody button[aria-pressed="true"]') ?? list.element.querySelector<HTMLElement>('.scroll');
      row?.focus();
      close();
    });
    place.replaceChildren(made);
    list.refresh();
    return made;
  }
  const open = (at: QueryAt) => show(at).querySelector('h4')!.focus();
  const again = kept.value && q.at.find((at) => at.query === kept.value!.query && at.cardinality === kept.value!.cardinality);
  if (again) show(again);
  return { element: h('div', { class: 'card', id: `${section.anchor}-at-card` }, h('h3', {}, 'Queries at cardinalities'), h('p', { class: 'muted' }, h('span', { class: 'hint' }, 'A query’s name opens its executions. '), 'In parentheses: the Q@C is dropped, and its figures are of all executions that ended.'), list.element, place), open };
}

// ---- what was dropped, and by which checks ----

interface Dropped { what: 'Q@C' | 'execution'; by: string; n: number; at: QueryAt[] }

function droppedOf(q: Query): Dropped[] {
  const found = new Map<string, Dropped>();
  const add = (what: Dropped['what'], by: string, at: QueryAt, n: number) => {
    const key = `${what} ${by}`;
    const row = found.get(key) ?? { what, by, n: 0, at: [] };
    row.n += n;
    if (row.at[row.at.length - 1] !== at) row.at.push(at);
    found.set(key, row);
  };
  for (const at of q.at) {
    if (at.dropped_by) add('Q@C', at.dropped_by, at, 1);
    for (const x of at.executions) for (const by of x.dropped_by) add('execution', by, at, 1);
  }
  return [...found.values()].sort((a, b) => (a.what === b.what ? b.n - a.n : a.what === 'Q@C' ? -1 : 1));
}

function droppedCard(section: QuerySection, q: Query): HTMLElement {
  const list = droppedOf(q);
  const names = (at: QueryAt[]) => at.slice(0, 6).map((x) => atName(x, 24)).join(', ') + (at.length > 6 ? ` and ${at.length - 6} more` : '');
  return h('div', { class: 'card' }, h('h3', {}, 'Dropped'),
    list.length ? table<Dropped>({
      name: `${section.anchor}-dropped`, caption: 'What was dropped, by check', rows: list,
      columns: [
        { name: 'what', title: 'dropped', kind: 'text', of: (d) => d.what, show: (d) => (d.what === 'Q@C' ? 'Q@Cs' : 'executions') },
        { name: 'by', title: 'by', kind: 'text', of: (d) => d.by },
        { name: 'count', title: 'how many', kind: 'number', of: (d) => d.n, show: (d) => `${format.count(d.n)} (${share(d.n, d.what === 'Q@C' ? q.at_made : q.executions_made)})` },
        { name: 'of', title: 'of', kind: 'text', of: (d) => d.at.map((x) => atName(x)).join('; '), show: (d) => h('span', { class: 'wide-cell' }, names(d.at)) },
      ],
    }).element : h('p', {}, 'Nothing was dropped.'));
}

interface CheckRow { name: string; fired: number; of: number; step: string; of_what: string }

function checksCard(section: QuerySection, q: Query): HTMLElement {
  const put = (step: string, of_what: string, list: Omit<CheckRow, 'step' | 'of_what'>[]): CheckRow[] => list.map((c) => ({ ...c, step, of_what }));
  const list = [...put('1', 'experiment', q.checks.experiment), ...put('1', 'execution', q.checks.execution), ...put('1', 'Q@C', q.checks.at),
    ...(q.post ? put('5', 'Q@C, afterwards', q.post.checks) : [])];
  const fired = list.filter((c) => c.fired).length;
  const post = q.post;
  return h('div', { class: 'card' }, h('h3', {}, 'Sanity checks'),
    h('p', { class: 'muted' }, `${fired} of ${list.length} checks fired at least once. Form of the checks: ${q.options.form}.`),
    table<CheckRow>({
      name: `${section.anchor}-checks`, caption: 'Sanity checks', rows: list, page: 40,
      columns: [
        { name: 'name', title: 'check', kind: 'text', of: (c) => c.name },
        { name: 'fired', title: 'fired', kind: 'number', of: (c) => c.fired, show: (c) => h('span', { class: c.fired ? 'bad' : c.of ? 'ok' : null }, `${c.fired ? '✖' : c.of ? '✔' : '·'} ${format.count(c.fired)}`) },
        { name: 'evaluated', title: 'evaluated', kind: 'number', of: (c) => c.of },
        { name: 'share', title: 'share', kind: 'percent', of: (c) => (c.of ? c.fired / c.of : null) },
        { name: 'step', title: 'step', kind: 'text', of: (c) => c.step },
        { name: 'of_what', title: 'of', kind: 'text', of: (c) => c.of_what },
      ],
    }).element,
    q.checks.missing.length ? h('p', {}, 'Not found in one execution or another: ', ...q.checks.missing.flatMap((m, i) => [i ? ', ' : '', h('code', {}, foreign(m))])) : null,
    post ? h('p', { class: 'muted' }, `Afterwards, measured and calculated time differ by ${format.percent(post.kept_difference)} in the Q@Cs kept, ${format.percent(post.dropped_difference)} in those dropped; relative error of calculated times ${format.percent(post.relative_error)}.`,
      post.constant.length ? ` Measures that never vary: ${post.constant.map(visible).join(', ')}.` : null) : h('p', { class: 'muted' }, 'Step 5 was refused: calculated times mean nothing here.'));
}

// ---- for a paper ----

/** Clipboards are for secure pages that are asked nicely; elsewhere the text is selected, ready for Ctrl+C. */
async function copy(text: string, place: HTMLElement, said: HTMLElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    said.textContent = 'Copied.';
  } catch {
    const range = document.createRange();
    range.selectNodeContents(place);
    const selection = window.getSelection();
    selection?.removeAllRanges();
    selection?.addRange(range);
    said.textContent = 'The text is selected: Ctrl+C copies it.';
  }
}

function paperCard(q: Query): HTMLElement {
  const text = h('div', { class: 'paper' }, ...q.paragraphs.map((p) => h('p', {}, h('bdi', {}, visible(p)))));
  const said = h('span', { role: 'status', class: 'muted' });
  const fit = q.paragraphs.length > 0;
  return h('div', { class: 'card' }, h('h3', {}, 'For a paper'),
    fit ? h('div', { class: 'tools' }, button('Copy', () => void copy(q.paragraphs.join('\n\n'), text, said), 'copy the paragraphs'), said) : null,
    fit ? text : h('p', {}, `No paragraphs for a paper, as ${q.no_paragraphs ?? 'the run is not fit for one'}.`),
    h('details', {}, h('summary', {}, `The ${q.items.length} items that the protocol asks for`),
      h('dl', { class: 'items' }, ...q.items.flatMap((item) => [h('dt', {}, foreign(item.name)), h('dd', {}, foreign(item.text, 4000))]))),
    h('details', {}, h('summary', {}, `Deviations from the protocol as printed (${q.deviations.length})`),
      h('ol', { class: 'notes' }, ...q.deviations.map((d) => h('li', {}, foreign(d, 2000))))));
}

function eventsCard(section: QuerySection, q: Query): HTMLElement | null {
  if (!q.events.length) return null;
  const nameOf = (query: number | null) => (query === null ? null : q.at.find((at) => at.query === query)?.name ?? `query ${query}`);
  const letter = (hash: string | null) => (hash === null ? null : q.at.find((at) => at.plan_hash === hash)?.plan ?? hash.slice(0, 8));
  return h('details', { class: 'card' }, h('summary', {}, `What happened meanwhile (${q.events.length})`),
    table<Query['events'][number]>({
      name: `${section.anchor}-events`, caption: 'Events of the run', rows: q.events, page: 20,
      columns: [
        { name: 'at', title: 'when', kind: 'date', of: (e) => e.at },
        { name: 'kind', title: 'what', kind: 'text', of: (e) => e.kind },
        { name: 'query', title: 'query', kind: 'text', of: (e) => nameOf(e.query) },
        { name: 'cardinality', title: 'cardinality', kind: 'number', of: (e) => e.cardinality },
        { name: 'plan', title: 'plan', kind: 'text', of: (e) => e.plan, show: (e) => (e.plan ? `${e.before ? `${letter(e.before)} → ` : ''}${letter(e.plan)}` : format.DASH) },
        { name: 'text', title: 'more', kind: 'text', of: (e) => e.text, most: 300 },
      ],
    }).element);
}

function serverCard(section: QuerySection, q: Query): HTMLElement | null {
  const settings = Object.entries(q.server.settings ?? {});
  if (!settings.length && !q.experiment.text) return null;
  const card = h('details', { class: 'card' }, h('summary', {}, 'Experiment and settings of the server'));
  if (q.experiment.text) append(card, h('pre', { class: 'sql', tabindex: 0, role: 'region', 'aria-label': 'the experiment file' }, sqlText(q.experiment.text)));
  if (settings.length) {
    append(card, table<[string, unknown]>({
      name: `${section.anchor}-settings`, caption: 'Settings of the server', rows: settings, page: 20,
      columns: [
        { name: 'setting', title: 'setting', kind: 'text', of: ([key]) => key },
        { name: 'value', title: 'value', kind: 'text', of: ([, value]) => (typeof value === 'object' ? JSON.stringify(value) : String(value)), most: 300 },
      ],
    }).element);
  }
  return card;
}

export function querySection(_doc: Doc, section: QuerySection): HTMLElement[] {
  const q = section.query;
  if (!q) return []; // its notes say why
  const list = atTable(section, q);
  const open = (at: QueryAt) => {
    list.open(at);
    list.element.scrollIntoView({ block: 'nearest' });
  };
  return [
    figures(q), sayings(q),
    timeByCardinality(section, q, open)?.element, timeByQuery(section, q, open)?.element,
    list.element,
    splitChart(section, q)?.element, ledgerChart(section, q)?.element,
    planCard(q),
    h('div', { class: 'cards query-checks' }, h('div', {}, droppedCard(section, q), paperCard(q)), checksCard(section, q)),
    ...modelCards(section, q),
    eventsCard(section, q), serverCard(section, q),
  ].filter((x): x is HTMLElement => !!x);
}
