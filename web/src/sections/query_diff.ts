// Two runs of queries against each other, Q@C by Q@C.
import type { Doc, QueryCompare, QueryComparison, QueryPair, QuerySide } from '../types';
import { axis, baseOption, chartCard, tip } from '../parts/chart';
import { append, foreign, h, short, visible } from '../parts/dom';
import { figure } from '../parts/figures';
import * as format from '../parts/format';
import { whiskers } from '../parts/marks';
import { table } from '../parts/table';
import type { Theme } from '../parts/theme';
import { compact } from './query_charts';
import { atName, dbmsName, TIME_TITLE, TIME_WORDS, type PlanNode } from './query_data';
import { diffList } from './query_plans';
import { longChart, rowsRoom, rowsSeen, rowsZoom } from './query_rows';

const WORDS: Record<QueryPair['change'], string> = { same: '· no difference shown', slower: '▲ slower', faster: '▼ faster', only_base: '− kept only in the base', only_other: '+ kept only in the other' };
const SYMBOL: Partial<Record<QueryPair['change'], string>> = { same: 'circle', slower: 'triangle', faster: 'path://M0,0 L10,0 L5,9 Z' };

function ratio(value: number | null): string {
  return value === null ? format.DASH : `${value.toPrecision(3)}×`;
}
function interval(low: number | null, high: number | null): string {
  return low === null || high === null ? '' : `${low.toPrecision(3)} to ${high.toPrecision(3)}`;
}

/** Of a Q@C that its run did not keep: in parentheses. */
function dropped(value: number | null, gone: boolean): string {
  return gone && value !== null ? `(${format.ns(value)})` : format.ns(value);
}

function sideWords(side: QuerySide): string {
  return [side.run === null ? null : `run ${side.run}`, side.name && short(side.name, 60), `${visible(dbmsName(side.dbms))} ${visible(side.version ?? '')}`.trim(), side.cold ? 'cold' : 'warm', `${side.kept} ${side.kept === 1 ? 'Q@C' : 'Q@Cs'} kept`].filter(Boolean).join(', ');
}

function colourOf(theme: Theme, change: QueryPair['change']): string {
  return change === 'slower' ? theme.bad : change === 'faster' ? theme.good : theme.muted;
}

function ratioOption(theme: Theme, d: QueryCompare, list: QueryPair[]): Record<string, unknown> {
  const base = baseOption(theme);
  const ends = list.flatMap((p) => [p.ratio_low ?? p.ratio!, p.ratio_high ?? p.ratio!]).filter((x) => x > 0);
  const low = Math.min(0.97, ...ends) / 1.02;
  const high = Math.max(1.03, ...ends) * 1.02;
  return {
    ...base, legend: undefined,
    grid: { left: 12, right: 28 + rowsRoom(list.length), top: 26, bottom: 34, containLabel: true },
    tooltip: {
      ...(base as any).tooltip, trigger: 'item',
      formatter: (p: any) => {
        const x = list[p.data?.pair as number];
        return x ? tip([atName(x, 60), `${ratio(x.ratio)} (${interval(x.ratio_low, x.ratio_high)})`, `${format.ns(x.base_ns)} → ${format.ns(x.other_ns)}`, WORDS[x.change], `p ${format.pValue(x.p)}`,
          !x.same_plan && `plan changed: ${short(x.plan_change ?? '', 200)}`]) : tip(['']);
      },
    },
    dataZoom: rowsZoom(theme, list.length),
    xAxis: axis(theme, 'other / base', {
      type: high / low > 3 ? 'log' : 'value', logBase: 2, min: low, max: high, axisLabel: { showMinLabel: false, showMaxLabel: false, formatter: (x: number) => `${Number(x.toPrecision(3))}×` },
    }),
    yAxis: axis(theme, '', { type: 'category', inverse: true, data: list.map((p) => `${short(p.name, 14)}${p.cardinality === null ? '' : ` ${compact(p.cardinality)}`}${p.same_plan ? '' : ' ⇄'}`), axisLabel: { width: 140, overflow: 'truncate', fontSize: 11 } }),
    series: [
      {
        type: 'scatter', z: 3, symbolSize: 11,
        data: list.map((p, i) => ({
          value: [p.ratio, i], pair: i, symbol: SYMBOL[p.change] ?? 'circle',
          itemStyle: { color: colourOf(theme, p.change), borderColor: p.same_plan ? undefined : theme.text, borderWidth: p.same_plan ? 0 : 2 },
        })),
        markLine: {
          silent: true, symbol: 'none', label: { color: theme.text, position: 'start', formatter: (p: any) => p.name },
          data: [{ xAxis: 1, name: 'equal', lineStyle: { color: theme.text } },
            ...(d.ratio === null || Math.abs(Math.log(d.ratio)) < Math.log(high / low) * 0.06 ? [] : [{ xAxis: d.ratio, name: 'mean', lineStyle: { color: theme.accent, type: 'dashed' } }])],
        },
      },
      {
        ...whiskers('x', (i) => (list[i] ? { style: { stroke: colourOf(theme, list[i].change), lineWidth: 1.6 } } : null)),
        data: list.flatMap((p, i) => (p.ratio_low === null || p.ratio_high === null ? [] : [{ value: [i, p.ratio_low, p.ratio_high], pair: i }])),
      },
    ],
  };
}

function planChanges(doc: Doc, comparison: QueryComparison, list: QueryPair[]): HTMLElement | null {
  const changed = list.filter((p) => !p.same_plan);
  if (!changed.length) return null;
  const planIn = (index: number, hash: string | null): PlanNode | null => {
    const section = doc.sections[index];
    return section?.kind === 'query' && hash ? section.query?.plans.find((p) => p.hash === hash)?.plan ?? null : null;
  };
  const card = h('div', { class: 'card' }, h('h3', {}, `Plans that changed (${changed.length})`));
  // the same change at other cardinalities is said once
  const seen = new Map<string, QueryPair[]>();
  for (const p of changed) {
    const key = `${p.query} ${p.base_plan} ${p.other_plan}`;
    seen.set(key, [...(seen.get(key) ?? []), p]);
  }
  for (const same of [...seen.values()].slice(0, 100)) {
    const p = same[0]!;
    const places = same.slice(0, 6).map((x) => (x.cardinality === null ? '' : format.count(x.cardinality))).filter(Boolean).join(', ');
    const before = planIn(comparison.base, p.base_plan);
    const after = planIn(comparison.other, p.other_plan);
    const fold = h('details', {}, h('summary', {}, h('strong', {}, foreign(p.name, 60)), places ? ` at ${places}${same.length > 6 ? ` and ${same.length - 6} more` : ''}` : '', p.plan_change ? h('span', { class: 'muted' }, ' – ', foreign(p.plan_change, 300)) : null));
    fold.addEventListener('toggle', () => append(fold, before || after ? diffList(before, after) : h('p', { class: 'muted' }, 'The plans themselves are not in this page.')), { once: true });
    append(card, fold);
  }
  if (seen.size > 100) append(card, h('p', { class: 'muted' }, `and ${seen.size - 100} more, in the table`));
  return card;
}

export function queryComparison(doc: Doc, comparison: QueryComparison): HTMLElement[] {
  const d = comparison.diff;
  const name = `compared-${comparison.base}-${comparison.other}`;
  const list = d.pairs.filter((p) => p.ratio !== null && p.ratio > 0);
  const madeIn = (index: number) => { const section = doc.sections[index]; return (section?.kind === 'query' && section.query?.at_made) || 0; };
  const made = Math.max(madeIn(comparison.base), madeIn(comparison.other), d.pairs.length);
  const one = d.pairs.filter((p) => p.change === 'only_base' || p.change === 'only_other').length;
  const parts: (HTMLElement | null)[] = [
    h('p', { class: 'muted' }, `Base: ${sideWords(d.base)}. Other: ${sideWords(d.other)}. Time is ${TIME_WORDS[d.time]}.`),
    h('dl', { class: 'figures' }, ...([
      ['other / base', ratio(d.ratio), d.ratio === null ? 'nothing to compare' : `geometric mean, ${interval(d.ratio_low, d.ratio_high)}`],
      ['Q@Cs compared', format.count(d.compared), `of ${format.count(made)}, by ${TIME_TITLE[d.time]}`],
      ['slower', format.count(d.slower), 'significantly'], ['faster', format.count(d.faster), 'significantly'], ['plans changed', format.count(d.plan_changes), ''],
    ] as const).map(([title, value, more]) => figure(title, value, more))),
    d.compared < made ? h('p', {}, `${format.count(made - d.compared)} of ${format.count(made)} Q@Cs are not compared, since they were not kept in both runs${one ? `, ${format.count(one)} of them in one alone` : ''}. More are kept where the machine is quiet (`, h('code', {}, 'tare doctor'), ' says what disturbs it) and where each query is executed more often.') : null,
  ];
  if (list.length) {
    const worst = [...list].sort((a, b) => Math.abs(Math.log(b.ratio!)) - Math.abs(Math.log(a.ratio!))).slice(0, 3);
    const height = (rows: number) => Math.max(3, rows) * 20 + 90;
    parts.push(longChart(`${name}-ratios`, chartCard<QueryPair>({
      name: `${name}-ratios`, title: 'Ratio of times', height: height(rowsSeen(list.length)),
      summary: `Time of the other run divided by that of the base, of ${list.length} Q@Cs with intervals of 95 %. Geometric mean ${ratio(d.ratio)}; ${d.slower} slower, ${d.faster} faster, ${d.plan_changes} with another plan. Furthest from equal: ${worst.map((p) => `${atName(p)} ${ratio(p.ratio)}`).join(', ')}.`,
      about: 'Right of 1 the other run takes longer. ▲ slower, ▼ faster, ● no difference shown; ⇄ and a ring: another plan. Bars are intervals of 95 %.',
      option: (theme) => ratioOption(theme, d, list),
    }), list.length, height).element);
  }
  parts.push(!d.pairs.length ? h('p', { class: 'card' }, 'No Q@C was kept in either run: there is nothing to compare.') : h('div', { class: 'card' }, h('h3', {}, 'Each Q@C'), table<QueryPair>({
    name: `${name}-pairs`, caption: 'Each Q@C of both runs', rows: d.pairs, page: 20,
    columns: [
      { name: 'query', title: 'query', kind: 'text', of: (p) => p.name, most: 30 },
      { name: 'cardinality', title: 'cardinality', kind: 'number', of: (p) => p.cardinality },
      { name: 'change', title: 'change', kind: 'text', of: (p) => p.change, show: (p) => h('span', { class: p.change === 'slower' ? 'bad' : p.change === 'faster' ? 'ok' : null }, WORDS[p.change]) },
      { name: 'ratio', title: 'ratio', kind: 'number', of: (p) => p.ratio, show: (p) => ratio(p.ratio) },
      { name: 'ratio_low', title: 'from', kind: 'number', of: (p) => p.ratio_low, show: (p) => ratio(p.ratio_low) },
      { name: 'ratio_high', title: 'to', kind: 'number', of: (p) => p.ratio_high, show: (p) => ratio(p.ratio_high) },
      { name: 'p', title: 'p', kind: 'p', of: (p) => p.p, title_of: 'Mann-Whitney, corrected by Holm' },
      { name: 'base_ns', title: 'base', kind: 'ns', of: (p) => p.base_ns, show: (p) => dropped(p.base_ns, p.change === 'only_other'), title_of: 'in parentheses: dropped, of all executions that ended' },
      { name: 'other_ns', title: 'other', kind: 'ns', of: (p) => p.other_ns, show: (p) => dropped(p.other_ns, p.change === 'only_base'), title_of: 'in parentheses: dropped, of all executions that ended' },
      { name: 'plan_change', title: 'plan', kind: 'text', of: (p) => (p.same_plan ? null : p.plan_change ?? 'changed'), show: (p) => (p.same_plan ? format.DASH : h('span', { class: 'wide-cell' }, foreign(p.plan_change ?? 'changed', 120))) },
    ],
  }).element));
  parts.push(planChanges(doc, comparison, d.pairs));
  return parts.filter((x): x is HTMLElement => !!x);
}
