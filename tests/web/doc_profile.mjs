// Profiles made by hand: a small one with everything, a large one for speed, hostile ones, empty ones.
import { document_, head, random } from './documents.mjs';
import { HOSTILE } from './browser.mjs';

const KIND = { root: 0, app: 1, user: 2, kernel: 3, inlined: 4, unknown: 5 };

/** A tree of folded stacks: [[app, [name, kind, object], ...], samples]. */
export function treeOf(stacks) {
  const tree = { names: ['all'], where: [], name: [0], object: [-1], parent: [-1], self: [0], kind: [0] };
  const names = new Map([['all', 0]]);
  const where = new Map();
  const nodes = new Map();
  const index = (map, list, text) => {
    if (!map.has(text)) {
      map.set(text, list.length);
      list.push(text);
    }
    return map.get(text);
  };
  // parents come before children, as C writes them: nodes are made outermost first
  for (const [frames, samples] of stacks) {
    let at = 0;
    for (const [text, kind, object] of frames) {
      const name = index(names, tree.names, text);
      const key = `${at}/${name}/${kind}`;
      let node = nodes.get(key);
      if (node === undefined) {
        node = tree.name.length;
        nodes.set(key, node);
        tree.name.push(name);
        tree.object.push(object ? index(where, tree.where, object) : -1);
        tree.parent.push(at);
        tree.self.push(0);
        tree.kind.push(kind);
      }
      at = node;
    }
    tree.self[at] += samples;
  }
  return tree;
}

const LIB = '/usr/lib/x86_64-linux-gnu/libc.so.6';
const u = (name, object = '/usr/bin/database') => [name, KIND.user, object];
const k = (name) => [name, KIND.kernel, '[kernel]'];
const inl = (name, object = '/usr/bin/database') => [name, KIND.inlined, object];
const app = (name) => [name, KIND.app, null];
const unknown = (name, object) => [name, KIND.unknown, object];

/** A database that searches a tree; `more` shifts samples from hashing to searching. */
export function stacks(more = 0) {
  const start = [app('database'), u('_start'), u('__libc_start_main', LIB), u('main'), u('serve')];
  return [
    [[...start, u('execute'), u('scan'), u('btree_search'), inl('compare_keys')], 2400 + more],
    [[...start, u('execute'), u('scan'), u('btree_search')], 1300 + more],
    [[...start, u('execute'), u('scan'), u('hash_row')], 900 - more],
    [[...start, u('execute'), u('sort_rows'), u('qsort_r', LIB), u('compare_rows')], 700],
    [[...start, u('execute'), u('sort_rows'), u('qsort_r', LIB)], 210],
    [[...start, u('parse'), u('lex')], 160],
    [[...start, u('parse'), u('allocate'), u('malloc', LIB), k('asm_exc_page_fault'), k('handle_mm_fault'), k('clear_page')], 230],
    [[...start, u('reply'), u('write', LIB), k('entry_SYSCALL_64'), k('ksys_write'), k('vfs_write')], 340],
    [[...start, u('reply'), u('write', LIB), k('entry_SYSCALL_64'), k('ksys_write'), k('sock_write_iter'), k('tcp_sendmsg')], 410],
    [[app('sh'), u('_start', '/usr/bin/dash'), unknown('dash+0x12f0', '/usr/bin/dash')], 30],
    [[app('[ksoftirqd]'), k('ret_from_fork'), k('run_ksoftirqd'), k('handle_softirqs'), k('net_rx_action')], 120],
  ];
}

function wilson(x, n) {
  if (!n) return [null, null];
  const z = 1.96;
  const p = x / n;
  const middle = (p + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const half = (z / (1 + (z * z) / n)) * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

const HZ = 997;
function row(name, samples, all, more = {}) {
  const [low, high] = wilson(samples, all);
  return { name, samples, share: all ? samples / all : null, share_low: low, share_high: high, cpu_ns: (samples / HZ) * 1e9, user: samples, kernel: 0, app: null, ...more };
}

/** Views as sleepy makes them, from the tree. */
export function views(tree) {
  const n = tree.name.length;
  const total = [...tree.self];
  for (let i = n - 1; i > 0; i--) total[tree.parent[i]] += total[i];
  const all = total[0];
  const functions = new Map();
  const objects = new Map();
  const apps = [];
  for (let i = 1; i < n; i++) {
    if (tree.kind[i] === KIND.app) {
      apps.push(row(tree.names[tree.name[i]], total[i], all, { app: tree.names[tree.name[i]], object: `/usr/bin/${tree.names[tree.name[i]]}`, build_id: null }));
      continue;
    }
    const object = tree.where[tree.object[i]] ?? null;
    const f = functions.get(`${tree.name[i]}/${tree.object[i]}/${tree.kind[i]}`) ?? { i, self: 0, total: 0, object };
    f.self += tree.self[i];
    f.total += total[i];
    functions.set(`${tree.name[i]}/${tree.object[i]}/${tree.kind[i]}`, f);
    const o = objects.get(object) ?? { self: 0, total: 0 };
    o.self += tree.self[i];
    objects.set(object, o);
  }
  const address = (i) => `0x${(0x1000 + tree.name[i] * 64).toString(16)}`;
  const rows = {
    function: [...functions.values()].map((f) => row(tree.names[tree.name[f.i]], f.self, all, {
      total_samples: f.total, total_share: all ? f.total / all : null, user: tree.kind[f.i] === KIND.kernel ? 0 : f.self, kernel: tree.kind[f.i] === KIND.kernel ? f.self : 0, app: 'database',
      function: tree.kind[f.i] === KIND.unknown ? null : tree.names[tree.name[f.i]], inlined: tree.kind[f.i] === KIND.inlined, address: address(f.i), object: f.object,
      object_kind: f.object === '[kernel]' ? 'kernel' : 'file', build_id: null, file: null, line: null,
    })).sort((a, b) => b.samples - a.samples).slice(0, 2000),
    object: [...objects].map(([name, o]) => row(name ?? 'unknown', o.self, all, { total_samples: o.self, total_share: o.self / all, object: name, object_kind: 'file', build_id: null })),
    app: apps,
    instance: apps.map((a, i) => ({ ...a, name: `${a.name}#0`, instance: 0, pid: 4711 + i, comm: a.name, start_boottime_ns: 1e9, first_sample: '2026-11-16T05:00:00.500Z', container: null, cgroup: '/system.slice' })),
    thread: apps.map((a, i) => ({ ...a, name: `${a.name}#0/${a.name}`, instance: 0, pid: 4711 + i, tid: 4711 + i, comm: a.name })),
    system: ['user', 'kernel', 'idle', 'others', 'lost'].map((name, i) => ({ name, samples: [Math.round(all * 0.85), Math.round(all * 0.15), 1200, 0, 3][i], cpu_ns: 1e9, cpu_share: [0.6, 0.1, 0.3, 0, 0][i] })),
  };
  return ['system', 'app', 'instance', 'thread', 'object', 'function'].map((by) => ({
    by, samples: all, all, elapsed_ns: 10e9, without_function: 0, stack_ends: { leaf: 0, complete: all, limit: 0, broken: 0 }, row_count: rows[by].length, rows: rows[by],
  }));
}

/** Machine code of a function: a hot loop in a long body. */
export function listing(name, object, self, { count = 160, address = '0x1000', text = null, gap = Infinity } = {}) {
  const begin = BigInt(address); // the kernel's are beyond 2^53
  const hot = new Map([[60, 0.55], [61, 0.2], [64, 0.1], [120, 0.12], [121, 0.03]]);
  const instructions = Array.from({ length: count }, (_, i) => {
    const share = hot.get(i) ?? 0;
    return {
      address: `0x${(begin + BigInt(i * 4 + (i >= gap ? 4 : 0))).toString(16)}`, size: 4, text: text ?? ['movq 0x8(%rdi,%rax,8),%rcx', 'cmpq %rcx,%rsi', 'jne 0x1040', 'addq $0x1,%rax'][i % 4], samples: Math.round(self * share),
      share, file: '/src/btree.c', line: 40 + Math.floor(i / 5), source: ['\tfor (size_t i = 0; i < node->count; i++) {', '\t\tif (compare_keys(node->keys[i], key) >= 0)', '\t\t\tbreak;'][Math.floor(i / 5) % 3],
    };
  });
  return {
    type: 'profile-listing', format: 1, run: null, settings: { mode: 'cpu-clock', stacks: 'eh_frame', hz: HZ, cpus: 2 },
    function: { name, object, object_kind: 'file', build_id: null, address, size: count * 4, file: '/src/btree.c', line: 40 }, samples: self, self, elsewhere: 0, instructions,
  };
}

export function profileSection(number, title, tree, { listings = [], stackless = false, slices = 20, head: more = {} } = {}) {
  const made = views(tree);
  const all = made[0].all;
  const next = random(number);
  const column = (f) => Array.from({ length: slices }, (_, i) => f(i));
  const part = (share) => column(() => Math.round((all / Math.max(1, slices)) * share * (0.6 + 0.8 * next())));
  return {
    ...head('profile', number, title, more),
    profile: {
      type: 'profile', format: 1, run: null, machine: null, subject: 'the whole system', settings: { mode: 'cpu-clock', stacks: stackless ? 'none' : 'eh_frame', hz: HZ, cpus: 2 },
      begun_at: '2026-11-16T05:00:00.000Z', elapsed_ns: slices * 5e8, slices,
      totals: {
        samples: all, user: Math.round(all * 0.85), kernel: all - Math.round(all * 0.85), idle: all ? 1200 : 0, others: 0, lost: all ? 3 : 0, throttled: 0, untold: 0, peak_used: 37, peak_room: 8192,
        self_ns: 16770636, self_share: 0.000574, cpu_ns: (all / HZ) * 1e9, stack_ends: stackless ? { leaf: all, complete: 0, limit: 0, broken: 0 } : { leaf: 0, complete: all - (all ? 1 : 0), limit: 0, broken: all ? 1 : 0 },
      },
      views: made,
    },
    tree, listings, slices: { at_ms: column((i) => i * 500), ms: column(() => 500), user: part(0.85), kernel: part(0.15), idle: part(0.2) },
  };
}

export function small(number = 1, more = 0) {
  const tree = treeOf(stacks(more));
  const object = '/usr/bin/database';
  const f = views(tree).find((v) => v.by === 'function').rows;
  const listings = ['compare_keys', 'btree_search', 'hash_row'].map((name) => {
    const r = f.find((x) => x.name === name);
    return listing(name, object, r.samples, { address: r.address });
  });
  // one instruction is missing
  listings.push(listing('tcp_sendmsg', '[kernel]', 410, { address: '0xffffffff81a3c4d1', gap: 62 }));
  return profileSection(number, more ? 'after the change' : 'profile of the whole system', tree, { listings });
}

export function smallDocument() {
  return document_([small()], { title: 'a profile' });
}

/** Two profiles; in the second one btree_search grew, hash_row shrank. */
export function diffDocument() {
  const before = small(1, 0);
  const after = small(2, 600);
  const rows = (s) => new Map(s.profile.views.find((v) => v.by === 'function').rows.map((r) => [r.name, r]));
  const a = rows(before);
  const b = rows(after);
  const n = before.profile.totals.samples;
  const m = after.profile.totals.samples;
  const changes = [...new Set([...a.keys(), ...b.keys()])].map((name) => {
    const x = a.get(name)?.samples ?? 0;
    const y = b.get(name)?.samples ?? 0;
    const change = y / m - x / n;
    return {
      name, object: 'database', kernel: false, before: x, after: y, before_share: x / n, after_share: y / m, before_cpu_per_s: 0.1, after_cpu_per_s: 0.1, change, change_low: change - 0.01, change_high: change + 0.01,
      p: Math.abs(change) > 0.01 ? 1e-6 : 0.7, sure: Math.abs(change) > 0.01,
    };
  }).sort((x, y) => Math.abs(y.change) - Math.abs(x.change));
  const run = (s) => ({ id: s.number, name: s.title, command_line: null, status: s.status, started_at: s.started_at, ended_at: s.ended_at, conditions: s.conditions, tags: s.tags, not_seen: null, version: s.version });
  const side = (s, samples) => ({ run: run(s), mode: 'cpu-clock', hz: HZ, cpus: 2, samples, elapsed_ns: 10e9, cpu_per_s: samples / HZ / 10 });
  const diff = { type: 'profile-diff', format: 1, by: 'function', before: side(before, n), after: side(after, m), rows: changes };
  return document_([before, after], { title: 'before and after', comparisons: [{ kind: 'profile', before: 0, after: 1, diff, places: placesOf(before.tree, after.tree) }] });
}

/** As C makes them of two trees, but for the test: what moved by a point is sure. */
function placesOf(before, after) {
  const sums = (tree) => {
    const total = [...tree.self];
    for (let i = total.length - 1; i > 0; i--) total[tree.parent[i]] += total[i];
    const path = [];
    const at = new Map();
    tree.name.forEach((name, i) => {
      path[i] = i ? `${path[tree.parent[i]]}\0${tree.names[name]}` : '';
      at.set(path[i], (at.get(path[i]) ?? 0) + total[i]);
    });
    return { path, at };
  };
  const a = sums(before);
  const b = sums(after);
  const side = (here, other) => ({
    here: here.path.map((p) => here.at.get(p)), other: here.path.map((p) => other.at.get(p) ?? 0),
    sure: here.path.map((p) => (Math.abs(here.at.get(p) / here.at.get('') - (other.at.get(p) ?? 0) / other.at.get('')) > 0.01 ? 1 : 0)),
  });
  return { before: side(a, b), after: side(b, a) };
}

export function hostileDocument() {
  const names = HOSTILE;
  const list = names.flatMap((name, i) => [
    [[app(name), u(name, name), u(names[(i + 1) % names.length], name), k(name)], 100 + i], [[app(name), u('main', name), inl(name, name)], 50],
  ]);
  const tree = treeOf(list);
  const listings = names.map((name) => {
    const l = listing(name, name, 500, { text: name });
    for (const i of l.instructions) {
      i.source = name;
      i.file = name;
    }
    l.function.file = name;
    return l;
  });
  const section = profileSection(1, names[0], tree, { listings, head: { subtitle: names[1], tags: names[3], notes: [names[8]] } });
  const other = profileSection(2, names[1], treeOf(list.slice(3)));
  const diff = diffDocument().comparisons[0].diff;
  diff.rows.forEach((r, i) => {
    r.name = names[i % names.length];
    r.object = names[(i + 2) % names.length];
  });
  return document_([section, other], { title: names[0], comparisons: [{ kind: 'profile', before: 1, after: 0, diff, places: placesOf(other.tree, section.tree) }] });
}

/** Without stacks: apps and functions. */
export function stacklessDocument() {
  const flat = stacks().map(([frames, samples]) => [[frames[0], frames.at(-1)], samples]);
  return document_([profileSection(3, 'without stacks', treeOf(flat), { stackless: true })]);
}

export function emptyDocument() {
  const tree = { names: ['all'], where: [], name: [0], object: [-1], parent: [-1], self: [0], kind: [0] };
  const section = profileSection(4, 'nothing was sampled', tree, { slices: 0 });
  section.profile.totals.cpu_ns = null;
  section.profile.totals.self_share = null;
  section.profile.settings.hz = null;
  section.profile.views.forEach((view) => { view.rows = view.by === 'system' ? view.rows : []; });
  return document_([section]);
}

/** Like a large program: so many distinct stacks, 10 to 40 deep, whose outer parts are shared. */
export function largeTree(count = 50000, seed = 7) {
  const next = random(seed);
  const pick = (n) => Math.floor(next() * n);
  const functions = Array.from({ length: 6000 }, (_, i) => `ns${i % 40}::module_${i % 300}::Class${i % 900}::method_${i}(std::string const&, int)`);
  const tree = { names: ['all', ...functions], where: Array.from({ length: 30 }, (_, i) => `/usr/lib/libpart${i}.so`), name: [0], object: [-1], parent: [-1], self: [0], kind: [0] };
  const nodes = new Map();
  const down = (at, name, kind) => {
    const key = at * 8192 + name;
    let node = nodes.get(key);
    if (node === undefined) {
      node = tree.name.length;
      nodes.set(key, node);
      tree.name.push(name);
      tree.object.push(kind === 1 ? -1 : name % 30);
      tree.parent.push(at);
      tree.self.push(0);
      tree.kind.push(kind);
    }
    return node;
  };
  let distinct = 0;
  while (distinct < count) {
    const depth = 10 + pick(31);
    const fork = 4 + Math.floor(next() ** 0.3 * (depth - 5)); // from here on it is of its own
    let at = down(0, 1 + pick(5), 1);
    for (let level = 2; level <= depth; level++) {
      // callers have few callees, mostly the first of them
      const choices = level < fork ? 1 + Math.floor(next() ** 6 * 3) : 1 + Math.floor(next() ** 4 * 9);
      const name = 1 + ((Math.imul(at + 1, 2654435761) + choices * 97 + level) >>> 0) % functions.length;
      at = down(at, name, level > depth - 4 && depth % 3 === 0 ? 3 : name % 11 === 0 ? 4 : name % 97 === 0 ? 5 : 2);
    }
    if (!tree.self[at]) distinct++;
    tree.self[at] += 1 + Math.floor(next() ** 6 * 400);
  }
  return tree;
}

export function largeDocument(count = 50000) {
  return document_([profileSection(5, `${count} stacks`, largeTree(count), { slices: 600 })], { title: 'a large profile' });
}

/** One stack as deep as can be kept, of which a screen shows a part. */
export function deepDocument(depth = 600) {
  const deep = Array.from({ length: depth }, (_, i) => u(`recursive_${i}`));
  return document_([profileSection(6, 'a deep one', treeOf([[[app('database'), u('main'), ...deep], 500000], [[app('database'), u('main')], 100000]]), { slices: 3000 })]);
}
