// Charts of a row for each Q@C that have more rows than a screen: a slider goes through them, and paper has as many as a sheet has room for.
import type { ChartHandle } from '../parts/chart';
import { h } from '../parts/dom';
import { onPaper } from '../parts/print';
import type { Theme } from '../parts/theme';

const ROWS = 30; // at once
const SHEET = 40; // with its heading

const isPaper = (): boolean => document.documentElement.hasAttribute('data-printing');

/** Rows that are seen at once. */
export function rowsSeen(n: number): number {
  return Math.min(n, isPaper() ? SHEET : ROWS);
}

/** To the right of the grid: room for the slider. */
export function rowsRoom(n: number): number {
  return rowsSeen(n) < n && !isPaper() ? 20 : 0;
}

/** The slider, where there is more than is seen at once; on paper its first rows, without it. */
export function rowsZoom(theme: Theme, n: number): Record<string, unknown>[] | undefined {
  const seen = rowsSeen(n);
  if (seen >= n) return undefined;
  return [{ type: 'slider', id: isPaper() ? 'paper' : 'screen', show: !isPaper(), yAxisIndex: 0, width: 16, right: 4, startValue: 0, endValue: seen - 1, brushSelect: false, showDetail: false, borderColor: theme.line, filterMode: 'empty' }];
}

const long = new Map<string, () => void>();
onPaper(() => {
  for (const put of long.values()) put();
});

/** Says which rows are seen, and sees to the paper; height: of so many rows. */
export function longChart(name: string, handle: ChartHandle, n: number, height: (rows: number) => number): ChartHandle {
  long.delete(name);
  if (n <= ROWS) return handle;
  const said = h('p', { class: 'muted rows-seen' });
  handle.element.querySelector('figcaption')!.appendChild(said);
  const tell = () => {
    said.textContent = !isPaper() ? `${ROWS} of ${n} rows are seen at once: the slider beside them, or the keys up and down, go on to the others.` : n > SHEET ? `The first ${SHEET} of ${n} rows.` : '';
  };
  tell();
  long.set(name, () => {
    if (!handle.element.isConnected) return;
    const chart = handle.draw();
    tell();
    chart.getDom().style.height = `${height(rowsSeen(n))}px`;
    handle.redraw();
    chart.resize();
  });
  return handle;
}
