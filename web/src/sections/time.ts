import type { Doc, TimeSection } from '../model';

export function timeSection(_doc: Doc, _section: TimeSection): HTMLElement[] {
  return [];
}
