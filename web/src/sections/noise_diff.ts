import type { Comparison, Doc } from '../model';

export function noiseComparison(_doc: Doc, _comparison: Extract<Comparison, { kind: 'noise' }>): HTMLElement[] {
  return [];
}
