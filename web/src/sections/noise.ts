import type { Doc, NoiseSection } from '../model';

export function noiseSection(_doc: Doc, _section: NoiseSection): HTMLElement[] {
  return [];
}
