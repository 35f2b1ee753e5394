// A tree of calls made ready for drawing: totals, places, search and differences. Everything is a column, since there may be several
// 100,000 nodes.
import type { Tree } from '../model';

export type Order = 'size' | 'name';
export const KINDS = ['all', 'app', 'user', 'kernel', 'inlined', 'unknown'] as const;

export interface Matches {
  hit: Uint8Array; // by node: it matches
  names: number; // different ones that match
  samples: number; // with a match anywhere in the stack, once each
  inside: Uint8Array; // by node: it, or a caller of it, matches
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
  search(test: (name: string) => boolean): Matches {
    const names = this.tree.names;
    const passes = new Uint8Array(names.length);
    const used = new Uint8Array(names.length);
    for (let i = 0; i < names.length; i++) passes[i] = test(names[i]!) ? 1 : 0;
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
    return { hit, inside, names: count, samples };
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

/** What a person types: a part of a name, /a regular expression/, or = and a whole name. A text: what is wrong with it. */
export function matcher(query: string): ((name: string) => boolean) | string | null {
  if (!query) return null;
  const expression = /^\/(.+)\/([imsu]*)$/s.exec(query);
  if (expression) {
    try {
      const compiled = new RegExp(expression[1]!, expression[2]);
      return (name) => compiled.test(name);
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

export interface Differences {
  share: Float64Array; // by node of the one that is shown: of all samples, there
  other: Float64Array; // of the other profile
  sure: Uint8Array; // more than how the samples fell can make (95 %)
  most: number; // the largest that is sure
}

// Nodes with the same path of names are one place: an inlined copy and the function itself differ in kind only. Gives each node its place.
function places(t: FlameTree, known: Map<number, number>, names: Map<string, number>): { place: Int32Array; total: Float64Array } {
  const at = t.tree.names.map((name) => {
    let number = names.get(name);
    if (number === undefined) names.set(name, number = names.size);
    return number;
  });
  const place = new Int32Array(t.size);
  const total = new Float64Array(known.size + t.size + 1);
  if (t.size) total[0] = t.total[0]!;
  for (let i = 1; i < t.size; i++) {
    const key = place[t.parent[i]!]! * 2 ** 26 + at[t.name[i]!]!;
    let found = known.get(key);
    if (found === undefined) known.set(key, found = known.size + 1);
    place[i] = found;
    total[found]! += t.total[i]!;
  }
  return { place, total };
}

/** What `shown` has more or less than `other`, by path of names. Shares are compared: the profiles may be of different length. */
export function differences(shown: FlameTree, other: FlameTree): Differences {
  const known = new Map<number, number>();
  const names = new Map<string, number>();
  const theirs = places(other, known, names);
  const ours = places(shown, known, names);
  const n = shown.size;
  const d: Differences = { share: new Float64Array(n), other: new Float64Array(n), sure: new Uint8Array(n), most: 0 };
  const n1 = shown.all;
  const n2 = other.all;
  if (!n1 || !n2) return d;
  for (let i = 0; i < n; i++) {
    const x1 = ours.total[ours.place[i]!]!;
    const x2 = theirs.total[ours.place[i]!] ?? 0;
    const pooled = (x1 + x2) / (n1 + n2);
    const change = x1 / n1 - x2 / n2;
    d.share[i] = x1 / n1;
    d.other[i] = x2 / n2;
    if (Math.abs(change) > 1.96 * Math.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2)) && x1 + x2 >= 5) {
      d.sure[i] = 1;
      d.most = Math.max(d.most, Math.abs(change));
    }
  }
  return d;
}
