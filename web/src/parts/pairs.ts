// Pairs of successive measurements: 1 and 2, 3 and 4, ... and the words for what they look like when drawn against each other.
import type { StudyLevel } from '../types';

/** Positions of the first of each pair; the second one follows it. Those that do not count make no pair. */
export function pairsOf(number: ArrayLike<number>, counts: (i: number) => boolean = () => true): Int32Array {
  const first: number[] = [];
  for (let i = 0; i + 1 < number.length; i++) {
    if (number[i]! % 2 === 1 && number[i + 1] === number[i]! + 1 && counts(i) && counts(i + 1)) first.push(i);
  }
  return Int32Array.from(first);
}

export const SHAPE: Record<StudyLevel['shape'], string> = {
  symmetric: 'symmetric: nothing stands apart, this is the central cluster',
  L: 'an L: what is far out is seldom and comes alone, as an infrequent daemon makes it',
  corner: 'a filled corner: what is far out comes together, of a frequent daemon or as a second band',
};
