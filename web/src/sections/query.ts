import type { Doc, QuerySection } from '../model';

export function querySection(_doc: Doc, _section: QuerySection): HTMLElement[] {
  return [];
}
