// What the page of a study computes of docs/schema/study.schema.json and of its samples.
import type { Level, StudyDaemon, StudyPeriod, StudyRun, StudySamples, StudySection, StudySeen } from '../model';
import * as format from '../parts/format';

export type Which = 'short' | 'long';
export interface Run { which: Which; run: StudyRun; samples: StudySamples | null }

export function runsOf(section: StudySection): Run[] {
  const out: Run[] = [];
  for (const which of ['short', 'long'] as const) {
    const run = section.study.runs[which];
    if (run) out.push({ which, run, samples: section.samples[which] });
  }
  return out;
}

export const SHAPE: Record<Level['shape'], string> = {
  symmetric: 'Symmetric: nothing stands out, this is the central cluster',
  L: 'L: slow samples are seldom and come alone, infrequent daemons',
  corner: 'Corner: slow samples come together, a frequent daemon, or two bands',
};

/** Pairs of samples 1 and 2, 3 and 4, ...: positions of both. */
export function pairsOf(samples: StudySamples): [number, number][] {
  const out: [number, number][] = [];
  for (let i = 0; i + 1 < samples.number.length; i++) {
    if (samples.number[i]! % 2 === 1 && samples.number[i + 1] === samples.number[i]! + 1) out.push([i, ++i]);
  }
  return out;
}

/** "5.00 min ± 0.12 s", with a mark where it rests on two occurrences. */
export function periodText(period: StudyPeriod | null): string {
  if (!period) return format.DASH;
  const value = period.ns === null ? `${format.figure(period.samples)} samples` : `${format.ns(period.ns)} ± ${format.ns(period.error_ns)}`;
  return period.uncertain ? `${value} ?` : value;
}

export const seenIn = (daemon: StudyDaemon, which: Which): StudySeen | null => daemon.runs[which];

/** Where a period's occurrences are expected among so many samples: the phase is the one that lies nearest to what was seen. */
export function expected(seen: readonly number[], period: number, first: number, last: number): number[] {
  if (!(period > 0) || !seen.length || (last - first) / period > 2000) return [];
  let sine = 0;
  let cosine = 0;
  for (const s of seen) {
    sine += Math.sin((2 * Math.PI * s) / period);
    cosine += Math.cos((2 * Math.PI * s) / period);
  }
  const phase = (Math.atan2(sine, cosine) / (2 * Math.PI)) * period;
  const out: number[] = [];
  for (let x = phase + Math.ceil((first - phase) / period) * period; x <= last; x += period) out.push(x);
  return out;
}
