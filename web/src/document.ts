// Parts of the page's document: names for what types.ts has none for, and figures of charts.
import type { Chart, Doc, TimeSection } from './types';

export type Section = Doc['sections'][number];
export type Comparison = Doc['comparisons'][number];
export type Measure = TimeSection['headline'];

/** A column of a chart that tare made, which is of figures; null: there is none. */
export function chartColumn(chart: Chart | undefined, block: number, name: string): (number | null)[] | null {
  return (chart?.blocks[block]?.[name] as (number | null)[] | undefined) ?? null;
}
