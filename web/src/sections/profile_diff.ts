import type { Comparison, Doc } from '../model';

export function profileComparison(_doc: Doc, _comparison: Extract<Comparison, { kind: 'profile' }>): HTMLElement[] {
  return [];
}
