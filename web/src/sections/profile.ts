import type { Doc, ProfileSection } from '../model';

export function profileSection(_doc: Doc, _section: ProfileSection): HTMLElement[] {
  return [];
}
