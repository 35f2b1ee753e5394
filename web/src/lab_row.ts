// What a run is in the list: its columns, what they are sorted by, and what came of it, kind by kind.
import type { RunRow } from './lab_api';
import * as format from './parts/format';

export interface Column { sort: string; title: string; down: boolean; number: boolean; about: string }

/** As the server sorts them. Figures of different kinds do not compare: those it sorts kind by kind. */
export const COLUMNS: readonly Column[] = [
  { sort: 'name', title: 'run', down: false, number: false, about: 'name' },
  { sort: 'command', title: 'command', down: false, number: false, about: 'command' },
  { sort: 'tags', title: 'tags', down: false, number: false, about: 'tags' },
  { sort: 'status', title: 'status', down: false, number: false, about: 'status' },
  { sort: 'began', title: 'began, UTC', down: true, number: false, about: 'begin' },
  { sort: 'made', title: 'measured', down: true, number: true, about: 'how much was measured, kind by kind' },
  { sort: 'et', title: 'mean ET of all', down: true, number: true, about: 'mean elapsed time of all executions, or what came of it, kind by kind' },
  { sort: 'pt', title: 'mean PT of all', down: true, number: true, about: 'mean process time of all executions, or what came of it, kind by kind' },
];

/** "et", "-et" or, of anything else, "": the newest first. */
export function sortOf(text: string | null): string {
  return COLUMNS.some((column) => column.sort === text?.replace(/^-/, '')) ? text! : '';
}

const some = (count: number | null, one: string, many = `${one}s`) => `${format.count(count)} ${count === 1 ? one : many}`;

/** How much was measured. */
export function made(run: RunRow): string {
  if (run.noise) return `${format.ns(run.noise.watched_ns)} of ${some(run.noise.cpus, 'CPU')}`;
  if (run.profile) return some(run.profile.samples, 'sample');
  return run.executions === null ? format.DASH : some(run.executions, 'execution');
}

/** What came of a run that has no ET and PT; null: it has. */
export function result(run: RunRow): string | null {
  if (run.kind === 'time') return null;
  if (run.noise) return `${format.percent(run.noise.lost_share)} of time lost`;
  if (run.profile) return `${format.ns(run.profile.cpu_ns)} of CPU time`;
  if (run.query) return `${some(run.query.ats, 'Q@C')} of ${some(run.query.queries, 'query', 'queries')}`;
  if (run.duet) return `${some(run.duet.pairs, 'pair')} of ${some(run.duet.sides, 'side')}`;
  return format.DASH;
}
