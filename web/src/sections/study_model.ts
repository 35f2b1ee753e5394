// What the page of a study computes of it and of its samples.
import type { PageSamples, StudyPeriod, StudyRun, StudySection } from '../types';
import * as format from '../parts/format';

export interface Run { which: 'short' | 'long'; run: StudyRun; samples: PageSamples | null }

export function runsOf(section: StudySection): Run[] {
  const out: Run[] = [];
  for (const which of ['short', 'long'] as const) {
    const run = section.study.runs[which];
    if (run) out.push({ which, run, samples: section.samples[which] });
  }
  return out;
}

/** "5.00 min ± 0.12 s", with a mark where it rests on two occurrences. */
export function periodText(period: StudyPeriod | null): string {
  if (!period) return format.DASH;
  const value = `${format.ns(period.ns)} ± ${format.ns(period.error_ns)}`;
  return period.uncertain ? `${value} ?` : value;
}

/** Where a period's occurrences are expected among so many samples; too many to be seen are not drawn. */
export function expected(phase: number, period: number, first: number, last: number): number[] {
  const out: number[] = [];
  if (!(period > 0) || (last - first) / period > 2000) return out;
  for (let k = Math.ceil((first - phase) / period); phase + k * period <= last; k++) out.push(phase + k * period);
  return out;
}
