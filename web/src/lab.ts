// `tare serve`: the runs of a lab, and the page of those that are chosen.
import { h } from './parts/dom';

export function startLab(root: HTMLElement): void {
  root.replaceChildren(h('main', { id: 'main' }, h('h1', {}, 'tare'), h('p', {}, 'There is no data in this page.')));
}
