// The causal model: what goes with what among the 25 measures, against what the paper predicts of 73 pairs.
import type { Query, QueryRelation, QuerySection } from '../types';
import { axis, baseOption, chartCard, tip } from '../parts/chart';
import { h } from '../parts/dom';
import * as format from '../parts/format';
import { table } from '../parts/table';
import type { Theme } from '../parts/theme';


const SIGN: Record<QueryRelation['predicted'], string> = { low: '○', med: '◐', high: '●' };
const WHO: Record<string, string> = { q: 'the query', u: 'utilities', d: 'daemons', o: 'the whole machine' };
const WHAT: Record<string, string> = {
  user: 'user time', system: 'system time', blkio: 'blocked on I/O', reads: 'reads', writes: 'writes', nvcsw: 'voluntary switches', nivcsw: 'involuntary switches',
  softirq: 'soft interrupts', iowait: 'IOWait',
};

/** "q.user": "user time of the query" */
function words(measure: string): string {
  const [who = '', what = ''] = measure.split('.');
  return WHO[who] && WHAT[what] ? `${WHAT[what]} of ${WHO[who]}` : measure;
}

function offWords(relation: QueryRelation): string {
  if (relation.off === null) return 'not known';
  return relation.off ? `✖ ${relation.off} ${relation.off === 1 ? 'level' : 'levels'}` : 'as predicted';
}

interface Cell { left: string; right: string; r: number | null; relation: QueryRelation | null }

function cells(matrix: NonNullable<QuerySection['matrix']>, model: QueryRelation[]): Cell[] {
  const of = new Map<string, QueryRelation>();
  for (const relation of model) {
    of.set(`${relation.left} ${relation.right}`, relation);
    of.set(`${relation.right} ${relation.left}`, relation);
  }
  return matrix.measures.flatMap((left, i) => matrix.measures.map((right, j) => ({
    left, right, r: i === j ? null : matrix.r[i]?.[j] ?? null, relation: of.get(`${left} ${right}`) ?? null,
  })));
}

function matrixOption(theme: Theme, measures: string[], list: Cell[], width: number): Record<string, unknown> {
  const n = measures.length;
  const size = width < 500 ? 8 : 11;
  const base = baseOption(theme);
  const place = (i: number) => [i % n, Math.floor(i / n)];
  const labels = { interval: 0, fontSize: size, hideOverlap: false, width: 80 };
  return {
    ...base, legend: undefined,
    grid: { left: 4, right: 4, top: 4, bottom: 52, containLabel: true },
    tooltip: {
      ...(base as any).tooltip, trigger: 'item',
      formatter: (p: any) => {
        const c = list[p.data.cell as number]!;
        return tip([`${c.left} and ${c.right}`, words(c.left), words(c.right), c.left === c.right ? 'the same' : `r ${c.r === null ? 'not known: one of them never varies' : format.figure(c.r)}`,
          c.relation && `${c.relation.id}: predicted ${c.relation.predicted} (paper: ${c.relation.papers_r}), ${c.relation.observed ? `observed ${c.relation.observed}` : 'not observed'}`,
          c.relation?.off ? `off by ${c.relation.off} ${c.relation.off === 1 ? 'level' : 'levels'}` : null]);
      },
    },
    xAxis: axis(theme, '', { type: 'category', data: measures, splitLine: { show: false }, axisLabel: { ...labels, rotate: 90 } }),
    yAxis: axis(theme, '', { type: 'category', data: measures, inverse: true, splitLine: { show: false }, axisLabel: labels }),
    visualMap: {
      type: 'continuous', min: -1, max: 1, calculable: false, orient: 'horizontal', left: 'center', bottom: 0, itemWidth: 12, itemHeight: 120, seriesIndex: 0, dimension: 2,
      text: ['r = 1', '−1'], textStyle: { color: theme.text }, inRange: { color: [theme.series[1], theme.card, theme.series[0]] },
    },
    series: [
      {
        type: 'heatmap', itemStyle: { borderColor: theme.line, borderWidth: 0.5 },
        // those with a frame last, or their neighbours would cover it
        data: list.flatMap((c, i) => (c.r === null ? [] : [{ value: [...place(i), c.r], cell: i, itemStyle: c.relation?.off ? { borderColor: theme.bad, borderWidth: 2 } : undefined }]))
          .sort((a, b) => Number(!!a.itemStyle) - Number(!!b.itemStyle)),
      },
      {
        type: 'scatter', symbol: 'rect', symbolSize: size, itemStyle: { color: 'transparent' }, z: 3,
        label: { show: true, fontSize: size, formatter: (p: any) => p.data.sign },
        data: list.flatMap((c, i) => (c.relation ? [{ value: place(i), cell: i, sign: SIGN[c.relation.predicted] + (c.relation.off ? '!' : ''), label: { color: Math.abs(c.r ?? 0) > 0.6 ? theme.card : theme.text } }] : [])),
      },
    ],
  };
}

function relations(section: QuerySection, model: QueryRelation[]): HTMLElement {
  return table<QueryRelation>({
    name: `${section.anchor}-relations`, caption: 'Predicted relations', rows: model, page: 12, filter: true,
    columns: [
      { name: 'id', title: 'id', kind: 'text', of: (x) => x.id },
      { name: 'left', title: 'measure', kind: 'text', of: (x) => x.left, show: (x) => h('span', { title: words(x.left) }, x.left) },
      { name: 'right', title: 'and', kind: 'text', of: (x) => x.right, show: (x) => h('span', { title: words(x.right) }, x.right) },
      { name: 'predicted', title: 'predicted', kind: 'text', of: (x) => x.predicted, show: (x) => `${SIGN[x.predicted]} ${x.predicted}` },
      { name: 'observed', title: 'observed', kind: 'text', of: (x) => x.observed, show: (x) => (x.observed ? `${SIGN[x.observed]} ${x.observed}` : format.DASH) },
      { name: 'off', title: 'off by', kind: 'text', of: (x) => x.off, show: (x) => h('span', { class: x.off ? 'bad' : null }, offWords(x)) },
      { name: 'r', title: 'r', kind: 'number', of: (x) => x.r, show: (x) => format.figure(x.r) },
      { name: 'p', title: 'p', kind: 'p', of: (x) => x.p },
      { name: 'papers_r', title: "the paper's r", kind: 'number', of: (x) => x.papers_r, show: (x) => format.figure(x.papers_r) },
    ],
  }).element;
}

export function modelCards(section: QuerySection, q: Query): HTMLElement[] {
  const model = q.model ?? [];
  const matrix = section.matrix;
  const observed = model.filter((x) => x.off !== null);
  const off = observed.filter((x) => x.off);
  const verdict = observed.length
    ? `${observed.length} of ${model.length} predicted relations were observed: ${observed.length - off.length} at the predicted level, ${off.length} off it${off.length ? ` (${off.filter((x) => x.off === 2).length} by two levels)` : ''}.`
    : 'No predicted relation was observed: too few executions were kept, or their measures are not known.';
  const parts: HTMLElement[] = [];
  const list = matrix ? cells(matrix, model) : [];
  if (matrix && list.some((c) => c.r !== null)) {
    const place = { width: 1000 };
    const strongest = list.filter((c, i) => c.r !== null && i % matrix.measures.length > Math.floor(i / matrix.measures.length)).sort((a, b) => Math.abs(b.r!) - Math.abs(a.r!)).slice(0, 3);
    const card = chartCard<Cell>({
      name: `${section.anchor}-model`, title: 'Correlations of the measures', height: 620,
      summary: `Correlation of every pair of ${matrix.measures.length} measures over the executions kept. ${verdict} Strongest: ${strongest.map((c) => `${c.left} and ${c.right} ${format.figure(c.r)}`).join(', ')}.`,
      about: `q: the query, u: utilities, d: daemons, o: the whole machine. Predicted: ${SIGN.low} low, ${SIGN.med} medium (|r| ≥ 0.3), ${SIGN.high} high (|r| ≥ 0.7); a frame and “!”: off the prediction. Empty: one of them never varies.`,
      option: (theme) => matrixOption(theme, matrix.measures, list, place.width),
      onReady: (chart) => {
        place.width = chart.getWidth();
        if (place.width < 500) card.redraw();
      },
      data: {
        columns: [
          { name: 'left', title: 'measure', kind: 'text', of: (c) => c.left },
          { name: 'right', title: 'and', kind: 'text', of: (c) => c.right },
          { name: 'r', title: 'r', kind: 'number', of: (c) => c.r, show: (c) => format.figure(c.r) },
          { name: 'predicted', title: 'predicted', kind: 'text', of: (c) => c.relation?.predicted ?? null },
          { name: 'off', title: 'off by', kind: 'number', of: (c) => c.relation?.off ?? null },
        ],
        rows: () => list.filter((_, i) => i % matrix.measures.length > Math.floor(i / matrix.measures.length)),
      },
    });
    parts.push(card.element);
  }
  if (model.length) {
    parts.push(h('div', { class: 'card' }, h('h3', {}, 'Predicted relations'), h('p', { class: 'muted' }, verdict), relations(section, model)));
  }
  return parts;
}
