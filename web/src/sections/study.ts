import type { Doc, StudySection } from '../model';

export function studySection(_doc: Doc, _section: StudySection): HTMLElement[] {
  return [];
}
