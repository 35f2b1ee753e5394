// Plans as trees that fold, and what changes between two of them. The shape of a plan is described in src/subject/dbms/plan.h.
import type { Query, QueryAt } from '../types';
import { append, button, foreign, h, short, visible } from '../parts/dom';
import { select } from '../parts/fields';
import { changesOf, queriesOf, rows, type OneQuery, type PlanNode } from './query_data';

const DEEP = 24; // levels that are indented: deeper ones would run out of the card
const MOST = 2000; // lines of a plan: comparing takes the product of two

interface Line { depth: number; head: string; rest: string; children: number }

function text(value: unknown): string {
  return typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value);
}

/** "Hash Join (inner) on t as x using t_a", and "(a = b); sort key: a": as `tare query report --plans` has it. */
function describe(node: PlanNode): { head: string; rest: string } {
  const head = [text(node.node) || '?', node.join ? `(${text(node.join)})` : '', node.relation ? `on ${text(node.relation)}` : '', node.alias ? `as ${text(node.alias)}` : '', node.index ? `using ${text(node.index)}` : ''];
  const rest = [...(Array.isArray(node.conditions) ? node.conditions.map(text) : []), ...Object.entries(node.details ?? {}).map(([key, value]) => `${key}: ${text(value)}`)];
  return { head: head.filter(Boolean).join(' '), rest: rest.join('; ') };
}

/** Without recursion: a plan may be deeper than the stack. */
function linesOf(plan: PlanNode | null): Line[] {
  const lines: Line[] = [];
  const todo: [PlanNode, number][] = plan ? [[plan, 0]] : [];
  while (todo.length && lines.length < MOST) {
    const [node, depth] = todo.pop()!;
    const children = Array.isArray(node.children) ? node.children : [];
    lines.push({ depth, ...describe(node), children: children.length });
    for (let i = children.length - 1; i >= 0; i--) todo.push([children[i]!, depth + 1]);
  }
  return lines;
}

/** A tree as ARIA has it: one stop for Tab, arrows within. Rows are flat, since indentation is but a look. */
function tree(lines: Line[], label: string): HTMLElement {
  const folded = new Set<number>();
  let at = 0;
  const items = lines.map((line, i) => {
    const mark = h('span', { class: 'fold', 'aria-hidden': 'true' }, line.children ? '▾' : '·');
    const item = h('li', {
      role: 'treeitem', 'aria-level': line.depth + 1, 'aria-expanded': line.children ? 'true' : null, tabindex: i === 0 ? 0 : -1,
      onclick: () => { go(i, false); if (line.children) fold(i, !folded.has(i)); },
    }, mark, h('strong', {}, foreign(line.head, 160)), line.rest ? h('span', { class: 'muted' }, ' ', foreign(line.rest, 400)) : null);
    item.style.paddingLeft = `${Math.min(line.depth, DEEP) * 1.15 + 0.2}rem`;
    return item;
  });

  function draw(): void {
    let hide = Infinity;
    lines.forEach((line, i) => {
      if (line.depth <= hide) hide = Infinity;
      items[i]!.hidden = hide !== Infinity;
      if (line.children) {
        items[i]!.setAttribute('aria-expanded', String(!folded.has(i)));
        items[i]!.firstChild!.textContent = folded.has(i) ? '▸' : '▾';
        if (hide === Infinity && folded.has(i)) hide = line.depth;
      }
    });
  }
  function fold(i: number, on: boolean): void {
    if (on) folded.add(i);
    else folded.delete(i);
    draw();
  }
  function go(i: number, focus = true): void {
    items[at]!.tabIndex = -1;
    at = i;
    items[at]!.tabIndex = 0;
    if (focus) items[at]!.focus();
  }
  function next(from: number, by: 1 | -1): number {
    let i = from + by;
    while (i >= 0 && i < items.length && items[i]!.hidden) i += by;
    return i >= 0 && i < items.length ? i : from;
  }
  function parent(i: number): number {
    let p = i;
    while (p > 0 && lines[p]!.depth >= lines[i]!.depth) p--;
    return p;
  }
  const last = () => next(items.length, -1);
  const keys: Record<string, () => void> = {
    ArrowDown: () => go(next(at, 1)),
    ArrowUp: () => go(next(at, -1)),
    ArrowRight: () => { if (lines[at]!.children) { if (folded.has(at)) fold(at, false); else go(next(at, 1)); } },
    ArrowLeft: () => { if (lines[at]!.children && !folded.has(at)) fold(at, true); else go(parent(at)); },
    Home: () => go(0),
    End: () => go(last()),
    Enter: () => { if (lines[at]!.children) fold(at, !folded.has(at)); },
    ' ': () => { if (lines[at]!.children) fold(at, !folded.has(at)); },
  };
  const list = h('ul', {
    role: 'tree', class: 'plan-tree', 'aria-label': label,
    onkeydown: (event: KeyboardEvent) => {
      const act = keys[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    },
  }, ...items);
  const tools = lines.some((line) => line.depth > 0 && line.children)
    ? h('div', { class: 'tools' }, button('fold all', () => { lines.forEach((line, i) => { if (line.children && line.depth > 0) folded.add(i); }); draw(); if (items[at]!.hidden) go(0, false); }, `${label}: fold all`),
      button('open all', () => { folded.clear(); draw(); }, `${label}: open all`))
    : null;
  return h('div', {}, tools, list);
}

export type Side = 'both' | 'before' | 'after';

/** The longest common subsequence of lines, whatever their depth: a node that is put around others does not change them. */
export function planDiff(before: PlanNode | null, after: PlanNode | null): { side: Side; depth: number; line: string }[] {
  const whole = (line: Line) => (line.rest ? `${line.head}: ${line.rest}` : line.head);
  const a = linesOf(before);
  const b = linesOf(after);
  const x = a.map(whole);
  const y = b.map(whole);
  const stride = y.length + 1;
  const length = new Uint16Array((x.length + 1) * stride);
  for (let p = x.length - 1; p >= 0; p--) {
    for (let q = y.length - 1; q >= 0; q--) {
      length[p * stride + q] = x[p] === y[q] ? length[(p + 1) * stride + q + 1]! + 1 : Math.max(length[(p + 1) * stride + q]!, length[p * stride + q + 1]!);
    }
  }
  const out: { side: Side; depth: number; line: string }[] = [];
  let i = 0;
  let j = 0;
  while (i < x.length || j < y.length) {
    if (i < x.length && j < y.length && x[i] === y[j]) {
      out.push({ side: 'both', depth: b[j]!.depth, line: y[j]! });
      i++;
      j++;
    } else if (j === y.length || (i < x.length && length[(i + 1) * stride + j]! >= length[i * stride + j + 1]!)) {
      out.push({ side: 'before', depth: a[i]!.depth, line: x[i++]! });
    } else {
      out.push({ side: 'after', depth: b[j]!.depth, line: y[j++]! });
    }
  }
  return out;
}

const MARK: Record<Side, string> = { both: ' ', before: '−', after: '+' };
const SAID: Record<Side, string> = { both: '', before: 'gone: ', after: 'new: ' };

export function diffList(before: PlanNode | null, after: PlanNode | null): HTMLElement {
  const list = planDiff(before, after);
  return h('ul', { class: 'plan-diff' }, ...list.map(({ side, depth, line }) => {
    const inner = h('span', {}, foreign(line, 300));
    inner.style.paddingLeft = `${Math.min(depth, DEEP) * 1.15}rem`;
    return h('li', { class: side }, h('span', { class: 'sign', 'aria-hidden': 'true' }, MARK[side]), h('span', { class: 'visually-hidden' }, SAID[side]), inner);
  }));
}

/** "150,000 to 300,000, 600,000": cardinalities with this plan; neighbours are put together. */
function where(one: OneQuery, hash: string): string {
  if (one.at.length === 1 && one.at[0]!.cardinality === null) return '';
  const parts: string[] = [];
  let from: QueryAt | null = null;
  let to: QueryAt | null = null;
  const put = () => { if (from && to) parts.push(from === to ? rows(from.cardinality) : `${rows(from.cardinality)} to ${rows(to.cardinality)}`); from = to = null; };
  for (const at of one.at) {
    if (at.plan_hash === hash) { from ??= at; to = at; } else put();
  }
  put();
  return parts.length > 6 ? `${parts.slice(0, 5).join(', ')} and ${parts.length - 5} more` : parts.join(', ');
}

function plansOf(q: Query, one: OneQuery): { letter: string; hash: string; plan: PlanNode | null }[] {
  const found = new Map<string, string>();
  for (const at of one.at) if (at.plan_hash && !found.has(at.plan_hash)) found.set(at.plan_hash, at.plan ?? '?');
  return [...found].map(([hash, letter]) => ({ hash, letter, plan: q.plans.find((p) => p.hash === hash)?.plan ?? null }));
}

function oneQuery(q: Query, one: OneQuery): HTMLElement[] {
  const parts: HTMLElement[] = [];
  const plans = h('div', { class: 'plans' });
  if (one.sql) parts.push(h('details', {}, h('summary', {}, 'SQL'), h('pre', { tabindex: 0, class: 'sql', role: 'region', 'aria-label': 'SQL of the query' }, sqlText(one.sql))));
  const several = one.at.filter((at) => at.several_plans);
  if (several.length) parts.push(h('p', { class: 'warn' }, `▲ Executions at ${several.map((at) => rows(at.cardinality)).slice(0, 8).join(', ')} did not all have the same plan.`));
  for (const { letter, hash, plan } of plansOf(q, one)) {
    const at = where(one, hash);
    append(plans, h('div', { class: 'plan' }, h('h4', {}, `Plan ${letter}`, at ? ` at ${at}` : '', h('span', { class: 'muted code' }, ` ${hash}`)),
      plan ? tree(linesOf(plan), `plan ${letter} of ${short(one.name, 60)}`) : h('p', { class: 'muted' }, 'The plan itself is not stored.')));
  }
  for (const change of changesOf(one)) {
    const of = (at: QueryAt) => q.plans.find((p) => p.hash === at.plan_hash)?.plan ?? null;
    append(plans, h('div', { class: 'plan' },
      h('h4', {}, `From ${change.below.plan} to ${change.above.plan}, between ${rows(change.below.cardinality)} and ${rows(change.above.cardinality)}`), diffList(of(change.below), of(change.above))));
  }
  return [...parts, plans];
}

/** Lines stay lines; nothing else of the text is obeyed. */
export function sqlText(sql: string): HTMLElement {
  const most = 20_000;
  return h('bdi', {}, sql.slice(0, most).split('\n').map(visible).join('\n'), sql.length > most ? ` … and ${sql.length - most} more characters` : null);
}

export function planCard(q: Query): HTMLElement | null {
  const all = queriesOf(q).filter((one) => one.at.some((at) => at.plan_hash));
  if (!all.length) return null;
  const place = h('div');
  const said = h('p', { role: 'status' });
  const first = all.find((one) => changesOf(one).length) ?? all[0]!;
  const show = (value: string) => {
    const one = all.find((x) => String(x.query) === value) ?? first;
    const n = countOf(one);
    const changes = changesOf(one).length;
    said.replaceChildren();
    append(said, h('strong', {}, foreign(one.name, 200)), `: ${n} ${n === 1 ? 'plan' : 'plans'}${changes ? `, ${changes} ${changes === 1 ? 'change' : 'changes'} with the cardinality` : ''}.`);
    place.replaceChildren(...oneQuery(q, one));
  };
  const countOf = (one: OneQuery) => new Set(one.at.map((at) => at.plan_hash).filter(Boolean)).size;
  const counts = all.map(countOf);
  const card = h('div', { class: 'card' }, h('h3', {}, 'Plans'),
    h('p', { class: 'muted' }, `Letters are given within a query, from the highest cardinality down. ${all.filter((one) => changesOf(one).length).length} of ${all.length} queries change their plan with the cardinality.`));
  if (all.length > 1) {
    append(card, h('div', { class: 'tools' }, select('plans of which query',
      all.map((one, i): [string, string] => [String(one.query), `${short(one.name, 40)} · ${counts[i]} ${counts[i] === 1 ? 'plan' : 'plans'}`]), String(first.query), show)));
  }
  append(card, said, place);
  show(String(first.query));
  return card;
}
