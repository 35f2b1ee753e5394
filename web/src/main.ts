import './style.css';
import type { Doc } from './types';
import { begin } from './parts/theme';
import { charts, drawAll as drawCharts } from './parts/chart';
import { drawFlames, flames } from './parts/flame';
import { h } from './parts/dom';
import { showDocument } from './page';
import { startLab } from './lab';

begin();
const drawAll = () => {
  drawCharts();
  drawFlames();
};
window.addEventListener('beforeprint', drawAll);

const root = document.getElementById('tare')!;
(window as any).tare = { charts, flames, drawAll, show: (doc: Doc) => showDocument(doc, root) }; // for tests
const text = document.getElementById('tare-document')?.textContent ?? '';
if (text.startsWith('{')) {
  let doc: Doc | null = null;
  try {
    doc = JSON.parse(text) as Doc;
  } catch {
    root.replaceChildren(h('main', {}, h('h1', {}, 'tare'), h('p', {}, 'The data of this report is damaged: the file was not written to its end.')));
  }
  if (doc) showDocument(doc, root);
} else {
  startLab(root);
}
