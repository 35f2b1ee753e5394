// A document as a page: head, contents, sections, comparisons, machines.
import type { Section } from './document';
import type { Doc } from './types';
import { charts } from './parts/chart';
import { flames } from './parts/flame';
import { append, button, foreign, h, short } from './parts/dom';
import { download } from './parts/csv';
import { select } from './parts/fields';
import * as format from './parts/format';
import { choice, choose, newScope, setColours, type Choice } from './parts/theme';
import { comparisonTitle, LISTED, machineMoment, machinesApart, machineTitle, titleOf } from './parts/titles';
import { timeSection } from './sections/time';
import { timesTogether } from './sections/times';
import { studySection } from './sections/study';
import { noiseSection } from './sections/noise';
import { noiseComparison } from './sections/noise_diff';
import { profileSection } from './sections/profile';
import { profileComparison } from './sections/profile_diff';
import { querySection } from './sections/query';
import { queryComparison } from './sections/query_diff';
import { duetComparison, duetSection } from './sections/duet';
import { machineSection } from './sections/machine';

/** What a section's own file makes: everything beneath its head. */
function content(doc: Doc, section: Section): HTMLElement[] {
  switch (section.kind) {
    case 'time': return timeSection(doc, section);
    case 'study': return studySection(doc, section);
    case 'noise': return noiseSection(doc, section);
    case 'profile': return profileSection(doc, section);
    case 'query': return querySection(doc, section);
    case 'duet': return duetSection(doc, section);
  }
}

const WORDS: Record<Section['kind'], string> = { time: 'time', study: 'daemon study', noise: 'noise', profile: 'profile', query: 'queries', duet: 'duet' };

function head(doc: Doc, section: Section): HTMLElement {
  const machine = section.machine === null ? null : doc.machines[section.machine];
  const bad = machine?.findings.filter((f) => f.severity === 'bad' || f.severity === 'warn').length ?? 0;
  return h('header', { class: 'section-head' },
    h('p', { class: 'kicker' }, WORDS[section.kind], section.number === null ? null : ` · ${section.kind === 'study' ? 'study' : 'run'} ${section.number}`,
      section.status === 'complete' ? null : h('span', { class: `badge ${section.status}` }, section.status)),
    h('h2', {}, foreign(titleOf(doc, section), 120)),
    section.subtitle && section.subtitle !== section.title ? h('p', { class: 'subtitle' }, h('code', {}, foreign(section.subtitle, 300))) : null,
    h('p', { class: 'muted' }, format.date(section.started_at),
      machine ? h('span', {}, ' · ', h('a', { href: `#machine-${machinesApart(doc).find((places) => places.includes(section.machine!))![0]}` }, foreign(machineTitle(doc, section.machine!), 60)), bad ? ` (${bad} ${bad === 1 ? 'finding' : 'findings'})` : '') : null,
      section.tags ? h('span', {}, ' · ', foreign(section.tags, 80)) : null));
}

function notes(section: Section): HTMLElement | null {
  if (!section.notes.length) return null;
  return h('ul', { class: 'notes' }, ...section.notes.map((note) => h('li', {}, foreign(note, 2000))));
}

export function themeField(): HTMLElement {
  return select<Choice>('colours', (['auto', 'light', 'dark'] as const).map((c) => [c, c] as const), choice(), choose);
}

export interface PageParts {
  back?: HTMLElement; // to the runs of a lab
  live?: HTMLElement; // what goes on
}

/** What is shown goes: its charts and flames, and what they listen to. */
export function clearPage(): void {
  for (const handle of charts.values()) handle.dispose();
  charts.clear();
  for (const flame of flames.values()) flame.dispose();
  newScope();
}

export function showDocument(doc: Doc, root: HTMLElement, parts: PageParts = {}): void {
  clearPage();
  setColours(doc.colours);
  document.title = `${doc.title} – tare`;
  const main = h('main', { id: 'main', tabindex: -1 });
  const links: [string, string][] = [];
  const together = timesTogether(doc);
  if (together.length) {
    links.push(['together', 'Together']);
    append(main, h('section', { id: 'together', 'aria-label': 'runs together' }, h('header', { class: 'section-head' }, h('h2', {}, 'Together')), ...together));
  }
  doc.comparisons.forEach((comparison, i) => {
    if (comparison.kind === 'time') return;
    const made = comparison.kind === 'noise' ? noiseComparison(doc, comparison) : comparison.kind === 'profile' ? profileComparison(doc, comparison) : comparison.kind === 'duet' ? duetComparison(doc, comparison) : queryComparison(doc, comparison);
    const title = comparisonTitle(doc, comparison);
    links.push([`compared-${i}`, title]);
    append(main, h('section', { id: `compared-${i}`, 'aria-label': title }, h('header', { class: 'section-head' }, h('h2', {}, title)), ...made));
  });
  for (const section of doc.sections) {
    links.push([section.anchor, titleOf(doc, section)]);
    append(main, h('section', { id: section.anchor, class: section.kind, 'aria-label': short(titleOf(doc, section), 80) },
      head(doc, section), notes(section), ...content(doc, section)));
  }
  machinesApart(doc).forEach((places, i, all) => {
    const first = places[0]!;
    const title = machineTitle(doc, first);
    links.push([`machine-${first}`, title]);
    append(main, h('section', { id: `machine-${first}`, 'aria-label': short(`machine ${title}`, 80) },
      ...machineSection(places.map((at) => ({ machine: doc.machines[at]!, when: machineMoment(doc, at) })), all.length > 1 ? i + 1 : 0)));
  });
  root.replaceChildren(
    h('a', { class: 'skip', href: '#main' }, 'to the content'),
    h('header', { class: 'top' },
      h('span', { class: 'mark', 'aria-hidden': 'true' }, 'tare'), parts.back ?? null, h('h1', {}, foreign(doc.title, 100)), parts.live ?? null,
      h('span', { class: 'grow' }),
      button('JSON', () => download('tare-report.json', 'application/json', JSON.stringify(doc)), 'download the data of this page as JSON'),
      button('Print', () => window.print(), 'print this page'), themeField()),
    h('nav', { 'aria-label': 'contents' }, h('ul', {}, ...links.map(([anchor, title]) => h('li', {}, h('a', { href: `#${anchor}` }, foreign(title, LISTED)))))),
    main,
    h('footer', { class: 'muted' }, `Made ${format.date(doc.made_at)} by tare ${doc.tare}. Times are in ns in the data; what was not seen is not 0.`));
}
