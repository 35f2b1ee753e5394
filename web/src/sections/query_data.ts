// What several charts of a section of queries derive from it.
import type { Query, QueryAt, QueryExecution, QuerySection } from '../types';
import { chartColumn } from '../document';
import { short } from '../parts/dom';
import * as format from '../parts/format';

export type TimeName = Query['time'];
export const TIMES: readonly TimeName[] = ['measured', 'calculated', 'cpu_blocked', 'cpu_device'];
export const TIME_TITLE: Record<TimeName, string> = { measured: 'elapsed', calculated: 'Time_calc', cpu_blocked: 'CPU + blocked', cpu_device: 'CPU + device' };
export const TIME_WORDS: Record<TimeName, string> = {
  measured: 'elapsed time, from asking to the last row',
  calculated: "TTPv2's calculated time: user + system + blocked on I/O, less half of IOWait",
  cpu_blocked: "user + system time of the query's processes, and the time they were blocked on I/O",
  cpu_device: "user + system time of the query's processes, and the time that devices served them",
};

/** A plan as the program has it from every DBMS. */
export interface PlanNode {
  node?: string; relation?: string; alias?: string; index?: string; join?: string; conditions?: unknown[]; details?: Record<string, unknown>; children?: PlanNode[];
}

const DBMS: Record<string, string> = { postgresql: 'PostgreSQL', mariadb: 'MariaDB', mysql: 'MySQL', sqlite: 'SQLite' };
export function dbmsName(dbms: string): string {
  return DBMS[dbms] ?? (dbms && dbms !== '?' ? dbms : 'not known');
}

/** "150,000" */
export function rows(cardinality: number | null): string {
  return cardinality === null ? '' : format.count(cardinality);
}

/** "scan at 150,000": whatever a name holds, on one line. */
export function atName(at: { name: string; cardinality: number | null }, most = 40): string {
  return at.cardinality === null ? short(at.name, most) : `${short(at.name, most)} at ${rows(at.cardinality)}`;
}

export interface OneQuery { query: number; name: string; sql: string | null; at: QueryAt[] }

/** Queries in their order, each with its Q@Cs by cardinality. */
export function queriesOf(q: Query): OneQuery[] {
  const found = new Map<number, OneQuery>();
  for (const at of q.at) {
    let one = found.get(at.query);
    if (!one) {
      const text = q.texts.find((t) => t.query === at.query);
      found.set(at.query, one = { query: at.query, name: at.name || text?.name || `query ${at.query}`, sql: text?.sql ?? null, at: [] });
    }
    one.at.push(at);
  }
  for (const one of found.values()) one.at.sort((a, b) => (a.cardinality ?? 0) - (b.cardinality ?? 0));
  return [...found.values()];
}

/** The median to draw: of those kept, or where the Q@C is dropped, of all that ended. */
export function medianOf(at: QueryAt, time: TimeName): number | null {
  const figures = at.dropped_by ? at.unfiltered : at.times;
  return figures[time]?.median_ns ?? null;
}

/** Executions that its figures are of. */
export function counted(at: QueryAt): QueryExecution[] {
  return at.executions.filter((x) => (at.dropped_by ? !x.timed_out : !x.dropped_by.length));
}

/** Least and most of the executions that count; null: none is known. */
export function spread(at: QueryAt, time: TimeName): [number, number] | null {
  let low = Infinity;
  let high = -Infinity;
  for (const x of counted(at)) {
    const t = x.times_ns[time];
    if (t === null) continue;
    low = Math.min(low, t);
    high = Math.max(high, t);
  }
  return high >= low ? [low, high] : null;
}

/** other: neither CPU nor own I/O; not_cpu: the same where own I/O is not known, and may be in it. */
export interface Split { at: QueryAt; n: number; measured: number; cpu: number | null; device: number | null; other: number | null; not_cpu: number | null; delay: number | null }

/** Of each Q@C, in their order: means, so that they add up, as tare made them for its figures. */
export function splitsOf(section: QuerySection, q: Query): Split[] {
  const rows: Split[] = [];
  for (const block of [0, 1]) {
    const column = (name: string) => chartColumn(section.charts['split'], block, name);
    column('query')?.forEach((_, i) => {
      const of = (name: string) => column(name)![i] ?? null;
      const at = q.at.find((a) => a.query === of('query') && (a.cardinality ?? 0) === of('cardinality'));
      const [measured, cpu, device] = [of('elapsed_ns')!, of('cpu_ns'), of('io_ns')];
      if (at) rows.push({ at, n: of('executions')!, measured, cpu, device, other: of('other_ns'), not_cpu: cpu === null || device !== null ? null : Math.max(0, measured - cpu), delay: of('run_delay_ns') });
    });
  }
  return rows.sort((a, b) => q.at.indexOf(a.at) - q.at.indexOf(b.at));
}

export interface PlanChange { query: OneQuery; below: QueryAt; above: QueryAt }

/** Where the plan of a query is another one than at the cardinality before. */
export function changesOf(one: OneQuery): PlanChange[] {
  const changes: PlanChange[] = [];
  let last: QueryAt | null = null;
  for (const at of one.at) {
    if (!at.plan_hash) continue;
    if (last && last.plan_hash !== at.plan_hash) changes.push({ query: one, below: last, above: at });
    last = at;
  }
  return changes;
}
