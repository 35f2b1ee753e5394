// Two profiles: what has a larger or smaller share of the samples than before, as a flame graph and function by function.
import type { Doc, ProfileChange, ProfileComparison, ProfileDiff, ProfileSection, ProfileSide } from '../types';
import { axis, baseOption, chartCard, tip } from '../parts/chart';
import { button, foreign, h, short } from '../parts/dom';
import { figure } from '../parts/figures';
import { flameCard } from '../parts/flame';
import * as format from '../parts/format';
import { whiskers } from '../parts/marks';
import { table } from '../parts/table';
import { titleOf } from '../parts/titles';
import { share } from './profile_views';

const CHANGES = 15; // in the chart

/** "+1.2" percentage points. */
function points(value: number | null): string {
  if (value === null) return format.DASH;
  const size = Math.abs(value) * 100;
  const text = size.toFixed(size >= 10 ? 1 : 2);
  return `${Number(text) === 0 ? '±' : value > 0 ? '+' : '−'}${text}`;
}

function profileOf(doc: Doc, index: number): ProfileSection | null {
  const section = doc.sections[index];
  return section?.kind === 'profile' ? section : null;
}

function sideFigure(title: string, side: ProfileSide): HTMLElement {
  return figure(title, `${format.count(side.samples)} samples`,
    `${side.cpu_per_s === null ? '' : `${format.figure(side.cpu_per_s)} CPUs busy, `}${format.ns(side.elapsed_ns)}${side.hz === null ? '' : ` at ${format.figure(side.hz)} Hz`}${side.event === null ? '' : `, by ${side.event}`}`);
}

function nameOf(row: ProfileChange): HTMLElement {
  return h('span', {}, row.kernel ? '[k] ' : '', foreign(row.name, 70));
}

function changesTable(name: string, diff: ProfileDiff, onRow: (row: ProfileChange) => void): HTMLElement {
  return table<ProfileChange>({
    name, caption: 'What changed', rows: diff.rows, page: 15, onRow, rowLabel: (row) => `${row.kernel ? '[k] ' : ''}${short(row.name, 70)}: mark in the flame graph`,
    columns: [
      { name: 'name', title: diff.by, kind: 'text', of: (r) => r.name, show: nameOf },
      { name: 'change', title: 'change, points', kind: 'number', of: (r) => r.change, show: (r) => `${r.change === null || r.change === 0 ? '' : r.change > 0 ? '▲ ' : '▼ '}${points(r.change)}`, title_of: 'after - before, of the share in percent' },
      { name: 'change_low', title: '95 % interval', kind: 'number', of: (r) => r.change_low, show: (r) => (r.change_low === null ? format.DASH : `${points(r.change_low)} to ${points(r.change_high)}`) },
      { name: 'change_high', title: 'change, high', kind: 'number', of: (r) => r.change_high, exported: true },
      { name: 'p', title: 'p', kind: 'p', of: (r) => r.p, title_of: 'that equal shares differ so much by how samples fall, adjusted over all rows' },
      { name: 'sure', title: 'sure', kind: 'text', of: (r) => r.sure, show: (r) => (r.sure ? h('span', { class: 'one-line' }, '✔ sure') : format.DASH) },
      { name: 'before_share', title: 'before', kind: 'percent', of: (r) => r.before_share, show: (r) => share(r.before_share) },
      { name: 'after_share', title: 'after', kind: 'percent', of: (r) => r.after_share, show: (r) => share(r.after_share) },
      { name: 'before', title: 'samples before', kind: 'number', of: (r) => r.before },
      { name: 'after', title: 'samples after', kind: 'number', of: (r) => r.after },
      { name: 'before_cpu_per_s', title: 'CPU s per s before', kind: 'number', of: (r) => r.before_cpu_per_s, exported: true },
      { name: 'after_cpu_per_s', title: 'CPU s per s after', kind: 'number', of: (r) => r.after_cpu_per_s, exported: true },
      { name: 'object', title: 'object', kind: 'text', of: (r) => r.object, most: 40 },
    ],
  }).element;
}

/** The largest changes, with their intervals. */
function changesChart(name: string, diff: ProfileDiff): HTMLElement | null {
  const rows = diff.rows.filter((r) => r.change !== null && r.change !== 0).slice(0, CHANGES);
  if (!rows.length) return null;
  const first = rows[0]!;
  return chartCard<ProfileChange>({
    name, title: 'The largest changes', height: 60 + rows.length * 22,
    about: 'Points of the share of samples, after less before, with 95 % intervals.',
    summary: `The largest of ${format.count(diff.rows.length)}: ${short(first.name.slice(0, 500), 60)} ${points(first.change)} points (${points(first.change_low)} to ${points(first.change_high)}). ${format.count(diff.rows.filter((r) => r.sure).length)} changes are sure.`,
    option: (theme) => ({
      ...baseOption(theme),
      legend: { show: false },
      grid: { left: 8, right: 24, top: 8, bottom: 40, containLabel: true },
      tooltip: {
        ...(baseOption(theme)['tooltip'] as object), trigger: 'item',
        formatter: (point: any) => {
          const r = rows[point.dataIndex]!;
          return tip([short(r.name.slice(0, 2000), 200), r.object && `in ${short(r.object, 80)}`, `${points(r.change)} points, ${points(r.change_low)} to ${points(r.change_high)}`,
            `${format.percent(r.before_share)} before, ${format.percent(r.after_share)} after`, `p ${format.pValue(r.p)}${r.sure ? '' : ': not sure'}`]);
        },
      },
      xAxis: axis(theme, 'points', { type: 'value', axisLabel: { formatter: (v: number) => (v > 0 ? `+${v}` : v < 0 ? `−${-v}` : '0') } }),
      yAxis: axis(theme, '', { type: 'category', inverse: true, data: rows.map((_, i) => String(i)), axisLabel: { formatter: (_: string, i: number) => short((rows[i]!.kernel ? '[k] ' : '') + rows[i]!.name.slice(0, 500), 26), interval: 0 } }),
      series: [
        {
          type: 'bar', barWidth: '62%', data: rows.map((r) => ({
            value: r.change! * 100,
            itemStyle: { color: r.change! > 0 ? theme.bad : theme.kept, opacity: r.sure ? 0.85 : 0.35 },
          })),
        },
        {
          ...whiskers('x', () => ({ style: { stroke: theme.text, lineWidth: 1 } })), silent: true,
          data: rows.map((r, i) => [i, (r.change_low ?? r.change!) * 100, (r.change_high ?? r.change!) * 100]),
        },
      ],
    }),
  }).element;
}

export function profileComparison(doc: Doc, comparison: ProfileComparison): HTMLElement[] {
  const diff = comparison.diff;
  const before = profileOf(doc, comparison.before);
  const after = profileOf(doc, comparison.after);
  const name = `compared-${before?.anchor ?? comparison.before}-${after?.anchor ?? comparison.after}`;
  const sure = diff.rows.filter((r) => r.sure).length;
  const parts: (HTMLElement | null)[] = [
    h('p', {}, 'After: ', after ? h('a', { href: `#${after.anchor}` }, foreign(titleOf(doc, after), 100)) : 'not in this page', ' · before: ',
      before ? h('a', { href: `#${before.anchor}` }, foreign(titleOf(doc, before), 100)) : 'not in this page'),
    h('dl', { class: 'figures' }, sideFigure('before', diff.before), sideFigure('after', diff.after),
      figure('sure changes', format.count(sure), `of ${format.count(diff.rows.length)}, by ${diff.by}`)),
  ];
  let mark = (_: ProfileChange) => {};
  const places = comparison.places;
  if (before && after) {
    const buttons = [button('After', () => choose(true), 'the profile after, coloured by what changed'), button('Before', () => choose(false), 'the profile before: what went')];
    const flame = flameCard({
      name: `${name}-flame`, title: 'What changed, by callers', tree: after.tree, other: { places: places.after, name: 'before', later: false }, controls: buttons,
      about: 'Colours and signs say what surely grew or shrank from before to after, the stronger the more points of its share: p below 0.05, adjusted for the number of paths. What went is to be seen in the profile before.',
    });
    const press = (now: boolean) => buttons.forEach((b, i) => b.setAttribute('aria-pressed', String((i === 0) === now)));
    const choose = (now: boolean) => {
      flame.show(now ? after.tree : before.tree, now ? { places: places.after, name: 'before', later: false } : { places: places.before, name: 'after', later: true });
      press(now);
    };
    press(true);
    mark = (row) => flame.search(`=${row.name}`);
    parts.push(flame.element);
  }
  parts.push(changesChart(`${name}-changes`, diff),
    h('div', { class: 'card', id: `${name}-table` }, h('h3', {}, `By ${diff.by}`),
      h('p', { class: 'muted' }, 'Sure: p below 0.05, adjusted for the number of rows.', h('span', { class: 'hint' }, ' Choosing one marks it in the flame graph.')),
      changesTable(`${name}-table`, diff, (row) => mark(row))));
  return parts.filter((part): part is HTMLElement => !!part);
}
