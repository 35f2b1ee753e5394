// A tree of calls made ready for drawing: totals, places and search. Everything is a column, since there may be several
// 100,000 nodes.
import type { Tree } from '../types';

export type Order = 'size' | 'name';
export const KINDS = ['all', 'app', 'user', 'kernel', 'inlined', 'unknown'] as const;

const SEARCH_MS = 1000; // longer would freeze the page
const TESTED = 1000; // characters of a name that an expression is tried on

export interface Matches {
  hit: Uint8Array; // by node: it matches
  names: number; // different ones that match
  samples: number; // with a match anywhere in the stack, once each
  inside: Uint8Array; // by node: it, or a caller of it, matches
  looked: number; // names that were tested before time was up
}

export class FlameTree {
  readonly size: number;
  readonly parent: Int32Array;
  readonly name: Int32Array;
  readonly self: Float64Array;
  readonly total: Float64Array;
  readonly depth: Uint32Array;
  readonly start: Float64Array; // samples to the left of it, in the order of now
  readonly first: Uint32Array; // children of i: child[first[i]] to child[first[i + 1] - 1], left to right
  readonly child: Uint32Array;
  readonly deepest: number;
  order: Order = 'size';
  private rank: Int32Array | null = null;

  constructor(readonly tree: Tree) {
    const n = Math.min(tree.parent.length, tree.self.length, tree.name.length);
    this.size = n;
    this.parent = Int32Array.from(tree.parent.slice(0, n));
    this.name = Int32Array.from(tree.name.slice(0, n));
    this.self = Float64Array.from(tree.self.slice(0, n));
    this.total = Float64Array.from(this.self);
    this.depth = new Uint32Array(n);
    this.start = new Float64Array(n);
    this.first = new Uint32Array(n + 1);
    this.child = new Uint32Array(Math.max(0, n - 1));
    const { parent, total, depth, first, child } = this;
    let deepest = 0;
    for (let i = 1; i < n; i++) {
      // parents come before children; what says otherwise is hung up where it does no harm
      if (parent[i]! < 0 || parent[i]! >= i) parent[i] = 0;
      depth[i] = depth[parent[i]!]! + 1;
      if (depth[i]! > deepest) deepest = depth[i]!;
      first[parent[i]! + 1]!++;
    }
    if (n) parent[0] = -1;
    this.deepest = deepest;
    for (let i = n - 1; i > 0; i--) total[parent[i]!]! += total[i]!;
    for (let i = 0; i < n; i++) first[i + 1]! += first[i]!;
    const next = first.slice();
    for (let i = 1; i < n; i++) child[next[parent[i]!]!++] = i;
    this.arrange('size');
  }

  get all(): number {
    return this.size ? this.total[0]! : 0;
  }

  text(node: number): string {
    return this.tree.names[this.name[node]!] ?? '';
  }

  object(node: number): string | null {
    return this.tree.where[this.tree.object[node] ?? -1] ?? null;
  }

  kind(node: number): number {
    return this.tree.kind[node] ?? 5;
  }

  /** Children from left to right by size, or by name, which puts the same functions at the same places in two profiles. */
  arrange(order: Order): void {
    const { first, child, total, start, name } = this;
    this.order = order;
    if (order === 'name' && !this.rank) {
      const names = this.tree.names;
      const sorted = names.map((_, i) => i).sort((a, b) => (names[a]! < names[b]! ? -1 : names[a]! > names[b]! ? 1 : 0));
      this.rank = new Int32Array(names.length);
      sorted.forEach((at, i) => { this.rank![at] = i; });
    }
    const rank = this.rank;
    const compare = order === 'size' ? (a: number, b: number) => total[b]! - total[a]! || a - b : (a: number, b: number) => rank![name[a]!]! - rank![name[b]!]! || a - b;
    for (let i = 0; i < this.size; i++) {
      const from = first[i]!;
      const to = first[i + 1]!;
      if (to - from > 1) child.subarray(from, to).sort(compare);
      let at = start[i]!;
      for (let c = from; c < to; c++) {
        start[child[c]!] = at;
        at += total[child[c]!]!;
      }
    }
  }

  path(node: number): number[] {
    const path = [];
    for (let i = node; i >= 0; i = this.parent[i]!) path.push(i);
    return path.reverse();
  }

  within(node: number, ancestor: number): boolean {
    while (node > ancestor) node = this.parent[node]!;
    return node === ancestor;
  }

  /** The child of a node that has this place (in samples), or -1: the node's own. */
  childAt(node: number, at: number): number {
    let low = this.first[node]!;
    let high = this.first[node + 1]!;
    while (low < high) {
      const middle = (low + high) >> 1;
      const c = this.child[middle]!;
      if (this.start[c]! + this.total[c]! <= at) low = middle + 1;
      else high = middle;
    }
    return low < this.first[node + 1]! ? this.child[low]! : -1;
  }

  widestChild(node: number): number {
    let best = -1;
    for (let c = this.first[node]!; c < this.first[node + 1]!; c++) if (best < 0 || this.total[this.child[c]!]! > this.total[best]!) best = this.child[c]!;
    return best;
  }

  /** The sibling so many places to the right; -1: there is none. */
  sibling(node: number, step: number): number {
    const parent = this.parent[node]!;
    if (parent < 0) return -1;
    const from = this.first[parent]!;
    const to = this.first[parent + 1]!;
    const at = this.child.subarray(from, to).indexOf(node) + from + step;
    return at >= from && at < to ? this.child[at]! : -1;
  }

  /** Functions whose name passes the test; the root and nothing else is left out. */
  search(test: (name: string) => boolean, mostMs = SEARCH_MS): Matches {
    const names = this.tree.names;
    const passes = new Uint8Array(names.length);
    const used = new Uint8Array(names.length);
    const began = performance.now();
    let looked = 0;
    while (looked < names.length && performance.now() - began < mostMs) {
      passes[looked] = test(names[looked]!) ? 1 : 0;
      looked++;
    }
    const hit = new Uint8Array(this.size);
    const inside = new Uint8Array(this.size);
    let samples = 0;
    let count = 0;
    for (let i = 1; i < this.size; i++) {
      const name = this.name[i]!;
      hit[i] = passes[name]!;
      inside[i] = hit[i]! | inside[this.parent[i]!]!;
      if (inside[i]) samples += this.self[i]!;
      if (hit[i] && !used[name]) {
        used[name] = 1;
        count++;
      }
    }
    return { hit, inside, names: count, samples, looked };
  }

  /** Of the samples beneath a node, those with a match in their stack. */
  matchedWithin(matches: Matches, node: number): number {
    const from = this.start[node]!;
    const to = from + this.total[node]!;
    let samples = 0;
    for (let i = node; i < this.size; i++) {
      if (matches.inside[i] && this.self[i]! && this.start[i]! >= from && this.start[i]! < to && this.depth[i]! >= this.depth[node]!) samples += this.self[i]!;
    }
    return samples;
  }

  /** The match after (or before) a node, from left to right and outwards in; -1: none. */
  nextMatch(matches: Matches, node: number, step: 1 | -1): number {
    const { start, depth } = this;
    const before = (a: number, b: number) => start[a]! < start[b]! || (start[a] === start[b] && depth[a]! < depth[b]!);
    let next = -1;
    let wrapped = -1;
    for (let i = 0; i < this.size; i++) {
      if (!matches.hit[i] || !this.total[i]) continue;
      if (i !== node && (step > 0 ? before(node, i) : before(i, node)) && (next < 0 || (step > 0 ? before(i, next) : before(next, i)))) next = i;
      if (wrapped < 0 || (step > 0 ? before(i, wrapped) : before(wrapped, i))) wrapped = i;
    }
    return next >= 0 ? next : wrapped;
  }
}

/** Whether a group that repeats has a repetition or a choice within: such an expression may take 2^n steps for n characters, and cannot be stopped. */
export function explodes(expression: string): boolean {
  const groups = [false]; // whether there is one so far, outermost first
  for (let i = 0; i < expression.length; i++) {
    const c = expression[i]!;
    if (c === '\\') {
      i++;
    } else if (c === '[') {
      while (++i < expression.length && expression[i] !== ']') if (expression[i] === '\\') i++;
    } else if (c === '(') {
      groups.push(false);
      if (expression[i + 1] === '?') i++;
    } else if (c === ')') {
      const within = groups.length > 1 && groups.pop()!;
      if (within && '*+{'.includes(expression[i + 1] ?? ' ')) return true;
      if (within) groups[groups.length - 1] = true;
    } else if ('*+?{|'.includes(c)) {
      groups[groups.length - 1] = true;
    }
  }
  return false;
}

/** What a person types: a part of a name, /a regular expression/, or = and a whole name. A text: what is wrong with it. */
export function matcher(query: string): ((name: string) => boolean) | string | null {
  if (!query) return null;
  const expression = /^\/(.+)\/([imsu]*)$/s.exec(query);
  if (expression) {
    try {
      const compiled = new RegExp(expression[1]!, expression[2]);
      if (explodes(expression[1]!)) return 'a group that repeats may not repeat or choose within, it could take forever';
      return (name) => compiled.test(name.slice(0, TESTED));
    } catch (error) {
      return error instanceof Error ? error.message : 'not a regular expression';
    }
  }
  if (query.startsWith('=') && query.length > 1) {
    const whole = query.slice(1);
    return (name) => name === whole;
  }
  const part = query.toLowerCase();
  return (name) => name.toLowerCase().includes(part);
}
