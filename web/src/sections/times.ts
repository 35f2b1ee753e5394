import type { Doc } from '../model';

/** What several runs of `tare time` say together; nothing where there are fewer than two. */
export function timesTogether(_doc: Doc): HTMLElement[] {
  return [];
}
