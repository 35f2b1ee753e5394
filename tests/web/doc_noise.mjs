// Documents of noise made by hand: lengths are sums of a few bells, and figures add up as tare's do.
import { chart, head, random } from './documents.mjs';

export const CLASSES = ['irq', 'softirq', 'nmi', 'thread', 'work', 'fault', 'throttled', 'delivery', 'steal', 'host-periodic', 'unexplained'];
const EDGE = 1.02;

const zero = (known = CLASSES) => Object.fromEntries(CLASSES.map((c) => [c, known.includes(c) ? 0 : null]));

function lengthsOf(list) {
  const by = new Map();
  for (const ns of list) {
    const at = Math.floor(Math.log(ns) / Math.log(EDGE));
    const b = by.get(at) ?? { low_ns: Math.floor(EDGE ** at), high_ns: Math.ceil(EDGE ** (at + 1)), count: 0, ns: 0 };
    b.count++;
    b.ns += ns;
    by.set(at, b);
  }
  return [...by.entries()].sort((a, b) => a[0] - b[0]).map(([, b]) => b);
}

function figuresOf(list, whole) {
  const ns = list.reduce((a, b) => a + b, 0);
  const mean = ns / list.length;
  return {
    count: list.length, ns, min_ns: Math.min(...list), max_ns: Math.max(...list), mean_ns: mean,
    sigma_ns: list.length > 1 ? Math.sqrt(list.reduce((a, b) => a + (b - mean) ** 2, 0) / list.length) : null, share: whole ? ns / whole : null, lengths: lengthsOf(list),
  };
}

// what is on every machine: class, name, per s, centre in ns, spread in decades
const USUAL = [
  ['irq', 'timer', 250, 9_000, 0.08, 4_000_000], ['softirq', 'softirq:rcu', 60, 2_500, 0.15, null], ['thread', 'kworker/1', 12, 30_000, 0.2, null],
  ['thread', 'systemd-journal', 3, 400_000, 0.3, null], ['steal', 'steal', 2, 1_500_000, 0.25, null], ['unexplained', 'unexplained', 90, 400, 0.15, null],
  ['host-periodic', 'host-periodic', 40, 16_000, 0.05, null],
];

function cpuOf(cpu, sources, combos, detours, window, kernel) {
  const ns = detours.reduce((a, d) => a + d.ns, 0);
  const class_ns = zero(kernel ? CLASSES : ['unexplained']);
  const buckets = new Map();
  for (const d of detours) {
    const at = Math.floor(Math.log(d.ns) / Math.log(EDGE));
    const b = buckets.get(at) ?? { low_ns: Math.floor(EDGE ** at), high_ns: Math.ceil(EDGE ** (at + 1)), count: 0, ns: 0, class_ns: { ...zero(kernel ? CLASSES : ['unexplained']) }, overlap_ns: kernel ? 0 : null, master_count: kernel ? 0 : null, master_ns: kernel ? 0 : null };
    b.count++;
    b.ns += d.ns;
    for (const [c, part] of d.parts) {
      const name = kernel ? c : 'unexplained';
      class_ns[name] += part;
      b.class_ns[name] += part;
    }
    if (kernel && d.strict) {
      b.master_count++;
      b.master_ns += d.strict;
      b.overlap_ns += d.ns;
    }
    buckets.set(at, b);
  }
  const list = [...buckets.entries()].sort((a, b) => a[0] - b[0]).map(([, b]) => b);
  const strict = detours.reduce((a, d) => a + d.strict, 0);
  const over = detours.filter((d) => d.strict).reduce((a, d) => a + d.ns, 0);
  return {
    cpu, rounds: 10, window_ns: window, unwatched_ns: Math.round(window / 1000), duty_cycle: 0.9831, turns: 1e8, threshold_ns: 96, step_ns: 9.6, turn_ns: 10, turn_p999_ns: 10,
    detours: {
      count: detours.length, ns, min_ns: Math.min(...detours.map((d) => d.ns)), max_ns: Math.max(...detours.map((d) => d.ns)), per_s: (detours.length * 1e9) / window, lost_share: ns / window,
      class_ns, overlap_ns: kernel ? over : null,
    },
    coverage: [0, 1000, 8000].map((from_ns) => ({ from_ns, count: detours.filter((d) => d.ns >= from_ns).length, ns, named: kernel ? 1 - class_ns.unexplained / ns : null, strict: kernel ? strict / ns : null, overlap: kernel ? over / ns : null })),
    host: { rounds: 10, fitted: kernel ? 9 : 0, period_ns: kernel ? 1_000_012.2 : null, width_ns: kernel ? 8000 : null, chance: kernel ? 0.016 : null, in_phase: kernel ? 400 : 0, looked_at: kernel ? 1300 : 0 },
    untold: kernel ? [{ name: 'LOC', count: 3 }] : [], events: kernel ? 5000 : null, lost: kernel ? 0 : null, outside: kernel ? 0 : null, outside_ns: kernel ? 0 : null,
    sources: sources.map((s) => ({ class: s.class, name: s.name, ...figuresOf(s.list, ns), period_ns: s.period, period_share: s.period ? 0.83 : null })),
    combinations: [...combos].map(([name, l]) => ({ name, ...figuresOf(l, ns), told: null })),
    buckets: list,
  };
}

/** names: further sources, one for each. */
export function noise({ cpus = 2, seconds = 10, kernel = true, seed = 7, names = [], scale = 1, parts = 10 } = {}) {
  const next = random(seed);
  const bell = () => next() + next() + next() + next() - 2;
  const usual = [...USUAL, ...names.map((name, i) => ['thread', name, 4, 60_000 * (i + 1), 0.1, null])];
  const window = seconds * 1e9;
  const every = [];
  const all = [];
  const shares = Array.from({ length: parts }, () => []);
  const perCpu = [];
  for (let cpu = 0; cpu < cpus; cpu++) {
    const sources = new Map();
    const combos = new Map();
    const detours = [];
    const note = (map, key, value) => (map.get(key) ?? map.set(key, []).get(key)).push(value);
    const add = (made, at) => {
      const ns = made.reduce((a, [, , n]) => a + n, 0);
      const name = kernel ? made.map(([, n]) => n).join('_') : 'unexplained';
      note(combos, name, ns);
      for (const [c, n, part] of made) {
        const key = kernel ? `${c}\n${n}` : 'unexplained\nunexplained';
        note(sources, key, part);
        const place = [...sources.keys()].indexOf(key);
        const row = shares[Math.min(parts - 1, Math.floor(at * parts))];
        const old = row.find((s) => s.cpu === cpu && s.source === place);
        if (old) { old.count++; old.ns += part; } else row.push({ cpu, source: place, count: 1, ns: part });
      }
      detours.push({ cpu, begin_ns: Math.floor(at * window), ns, name, parts: made.map(([c, , part]) => [c, part]), strict: made.filter(([c]) => !['delivery', 'steal', 'host-periodic', 'unexplained'].includes(c)).reduce((a, [, , n]) => a + n, 0) });
    };
    for (const [c, name, rate, centre, spread] of usual) {
      for (let i = 0; i < rate * seconds * scale * (1 + cpu * 0.3); i++) {
        const ns = Math.max(100, Math.round(centre * 10 ** (bell() * spread)));
        const made = [[c, name, ns]];
        if (name === 'timer' && next() < 0.2) made.push(['softirq', 'softirq:rcu', Math.round(2500 * 10 ** (bell() * 0.1))]);
        if (c === 'thread') made.unshift(['irq', 'timer', 9000]);
        add(made, next());
      }
    }
    const list = [...sources].map(([key, l]) => ({ class: key.split('\n')[0], name: key.slice(key.indexOf('\n') + 1), list: l, period: key === 'irq\ntimer' ? 4_000_000 : null }));
    perCpu.push(cpuOf(cpu, list, combos, detours, window, kernel));
    every.push(...list);
    all.push({ combos, detours });
  }
  const merged = new Map();
  for (const s of every) {
    const key = `${s.class}\n${s.name}`;
    const old = merged.get(key);
    merged.set(key, old ? { ...old, list: [...old.list, ...s.list] } : s);
  }
  const combos = new Map();
  for (const a of all) for (const [name, l] of a.combos) combos.set(name, [...(combos.get(name) ?? []), ...l]);
  const detours = all.flatMap((a) => a.detours);
  const worst = [...detours].sort((a, b) => b.ns - a.ns).slice(0, 20).map((d) => {
    const class_ns = zero(kernel ? CLASSES : ['unexplained']);
    for (const [c, part] of d.parts) class_ns[kernel ? c : 'unexplained'] += part;
    return { cpu: d.cpu, begin_ns: d.begin_ns, ns: d.ns, name: d.name, class_ns };
  });
  return {
    type: 'noise', format: 1, run: null, machine: null,
    settings: { cpus: Array.from({ length: cpus }, (_, i) => i), realtime: false, priority: null, kernel, steal_told: kernel, part_rounds: 1 },
    elapsed_ns: window, together: { ...cpuOf(null, [...merged.values()], combos, detours, window * cpus, kernel) }, cpus: perCpu,
    parts: shares.map((list, i) => ({ begin_ns: Math.floor((i * window) / parts), window_ns: (window * cpus) / parts, count: list.reduce((a, s) => a + s.count, 0), ns: list.reduce((a, s) => a + s.ns, 0), shares: list })),
    worst,
  };
}

function density(lengths, grid, window, bandwidth = 0.05) {
  return grid.map((ns) => lengths.reduce((sum, l) => {
    const d = (Math.log10(ns) - Math.log10(Math.sqrt(l.low_ns * l.high_ns))) / bandwidth;
    return sum + (Math.abs(d) < 5 ? (l.count * Math.exp(-0.5 * d * d)) / bandwidth / 2.5066 : 0);
  }, 0) * 1e9 / window);
}

const GRID = Array.from({ length: 256 }, (_, i) => 10 ** (1.8 + (5.6 * i) / 255));

export function diff(base, run, names = []) {
  const window = (n) => n.together.window_ns;
  const side = (n, i) => ({ run: i, name: `noise ${i}`, cpus: n.settings.cpus, window_ns: window(n), parts: 10, threshold_ns: 96, kernel: n.settings.kernel, steal_told: true, realtime: false });
  const row = (cls, name, change, ratio) => ({
    class: cls, name, change, base_rate: change === 'new' ? 0 : 12, run_rate: change === 'gone' ? 0 : 12 * (ratio ?? 1), base_share: change === 'new' ? 0 : 0.002, run_share: change === 'gone' ? 0 : 0.002 * (ratio ?? 1),
    base_mean_ns: change === 'new' ? null : 30000, run_mean_ns: change === 'gone' ? null : 31000, base_max_ns: change === 'new' ? null : 90000, run_max_ns: change === 'gone' ? null : 95000,
    ratio, ratio_low: ratio === null ? null : ratio * 0.8, ratio_high: ratio === null ? null : ratio * 1.3, p: change === 'same' ? 0.4 : 0.0004,
  });
  const sources = [
    row('thread', 'updatedb', 'new', null), ...names.map((name) => row('thread', name, 'new', null)), row('thread', 'kworker/1', 'grown', 3.2), row('softirq', 'softirq:rcu', 'shrunk', 0.4),
    row('work', 'work:vmstat_update', 'gone', null), row('irq', 'timer', 'same', 1.01), row('steal', 'steal', 'same', 1.2), row('unexplained', 'unexplained', 'same', null),
  ];
  const counts = { same: 0, new: 0, gone: 0, grown: 0, shrunk: 0 };
  for (const s of sources) counts[s.change]++;
  return {
    format: 1, text: 'More time is lost than in the baseline: 1.6 times (1.4 to 1.9), since updatedb is new and kworker/1 has grown.', notes: ['the thresholds differ: 96 ns and 120 ns'],
    base: side(base, 1), run: side(run, 2), total: { base_share: 0.0061, run_share: 0.0098, ratio: 1.6, ratio_low: 1.4, ratio_high: 1.9, p: 0.0002 }, counts, sources,
    peaks: [{ low_ns: 30000, high_ns: 60000, base_rate: 3, run_rate: 14, name: 'timer_kworker/1' }, { low_ns: 100, high_ns: 300, base_rate: 30, run_rate: 10, name: '' }],
    density: { bandwidth: 0.05, distance: 0.21, ns: GRID, base: density(base.together.buckets, GRID, window(base)), run: density(run.together.buckets, GRID, window(run)) },
  };
}

export function noiseSection(number, data, { baseline = null, names = [], title = 'noise of CPUs 0-1', ...more } = {}) {
  const told = data.together.buckets.filter((b) => b.master_count).map((b) => ({ ...b, count: b.master_count }));
  const blocks = [
    { length_ns: GRID, seen: density(data.together.buckets, GRID, data.together.window_ns), told: density(told, GRID, data.together.window_ns),
      baseline: GRID.map((_, i) => (baseline ? density(baseline.together.buckets, [GRID[i]], baseline.together.window_ns)[0] : null)) },
    ...(data.cpus.length > 1 ? data.cpus.map((c) => ({ seen: density(c.buckets, GRID, c.window_ns), told: density(c.buckets.filter((b) => b.master_count).map((b) => ({ ...b, count: b.master_count })), GRID, c.window_ns) })) : []),
  ];
  return {
    ...head('noise', number, title, more), noise: data, charts: { noise: chart(blocks, { log: true, bandwidth: 0.05 }) },
    baseline: baseline ? { number: 1, name: 'a quiet evening', diff: diff(baseline, data, names) } : null,
  };
}
