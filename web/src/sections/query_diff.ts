import type { Comparison, Doc } from '../model';

export function queryComparison(_doc: Doc, _comparison: Extract<Comparison, { kind: 'query' }>): HTMLElement[] {
  return [];
}
