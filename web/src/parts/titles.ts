// What things are called, such that two of one name are told apart wherever they are named.
import type { Comparison, Doc, Section } from '../model';
import { short } from './dom';

export const LISTED = 48; // characters of a title in the contents

const same = (a: string, b: string): boolean => short(a, LISTED) === short(b, LISTED);

/** "run 7", "study 3"; where the lab has no number for it, its place in the page. */
export function numbered(doc: Doc, section: Section): string {
  const what = section.kind === 'study' ? 'study' : 'run';
  return section.number === null ? `${what} at place ${doc.sections.indexOf(section) + 1}` : `${what} ${section.number}`;
}

/** Its title; "noise of CPU 1 (run 7)" where another section is called the same, or differs in what is cut out of both. */
export function titleOf(doc: Doc, section: Section): string {
  return doc.sections.some((other) => other !== section && same(other.title, section.title)) ? `${section.title} (${numbered(doc, section)})` : section.title;
}

/** Of the machine at this place. */
export function machineTitle(doc: Doc, at: number): string {
  const { name } = doc.machines[at]!;
  return doc.machines.some((other, i) => i !== at && same(other.name, name)) ? `${name} (machine ${at + 1})` : name;
}

const KINDS = { noise: 'Noise', profile: 'Profiles', query: 'Queries' };

/** "Noise compared: run 7 with run 3": what it is of, and which, since there may be several. */
export function comparisonTitle(doc: Doc, comparison: Exclude<Comparison, { kind: 'time' }>): string {
  const [first, second] = comparison.kind === 'noise' ? [comparison.base, comparison.run] : comparison.kind === 'profile' ? [comparison.before, comparison.after] : [comparison.base, comparison.other];
  const name = (at: number) => (doc.sections[at] ? numbered(doc, doc.sections[at]) : 'another');
  return `${KINDS[comparison.kind]} compared: ${name(second)} with ${name(first)}`;
}
