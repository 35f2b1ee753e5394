// Documents of daemon studies made by hand: a cluster, and daemons that lengthen every so many samples.
import { head, random } from './documents.mjs';

function bells(next) {
  return next() + next() + next() + next() - 2;
}

/** daemons: [name, period in samples, phase, what it adds in ns]. */
function run(length, count, daemons, seed, { levels = true, steadied = false } = {}) {
  const next = random(seed);
  const samples = { number: [], at_us: [], et: [], l: [], dropped: [] };
  const seen = daemons.map(() => []);
  let at = 0;
  for (let i = 0; i < count; i++) {
    let et = Math.round(length * (1 + bells(next) * 0.0004));
    daemons.forEach(([, period, phase, adds], d) => {
      if ((i + 1 - phase) % period === 0) {
        et += Math.round(adds * (1 + bells(next) * 0.1));
        seen[d].push(i + 1);
      }
    });
    samples.number.push(i + 1);
    samples.at_us.push(Math.round(at / 1e3));
    samples.et.push(et);
    at += et + 2e6;
    if (et > length * 1.0012) {
      samples.l.push(i);
      if (i % 7) samples.dropped.push(i);
    }
  }
  const sorted = [...samples.et].sort((a, b) => a - b);
  const most = sorted[sorted.length - 1];
  const low = sorted[0];
  const windows = [[low, most, length * 1.02, 'L'], [low, Math.round(length * 1.02), length * 1.0012, 'corner'], [low, Math.round(length * 1.0012), length, 'symmetric']];
  const level = ([a, b, cut, shape]) => {
    const l = { low_ns: a, high_ns: b, cut_ns: Math.round(cut), neither: 0, first: 0, second: 0, both: 0, both_expected: 0, shape };
    for (let i = 0; i + 1 < count; i += 2) {
      const [x, y] = [samples.et[i], samples.et[i + 1]];
      if (x > b || y > b) continue;
      l[x > cut ? (y > cut ? 'both' : 'first') : y > cut ? 'second' : 'neither']++;
    }
    const n = l.neither + l.first + l.second + l.both;
    l.both_expected = n ? ((l.first + l.both) * (l.second + l.both)) / n : 0;
    return l;
  };
  const sigma = (list) => {
    const mean = list.reduce((a, b) => a + b, 0) / list.length;
    return [mean, Math.sqrt(list.reduce((a, b) => a + (b - mean) ** 2, 0) / (list.length - 1))];
  };
  const [mean, all] = sigma(samples.et);
  const [meanKept, kept] = sigma(samples.et.filter((_, i) => !samples.dropped.includes(i)));
  return {
    samples, seen,
    run: {
      run: 4, length_ns: length, samples: count, cluster: count - samples.l.length, cluster_low_ns: low, cluster_high_ns: Math.round(length * 1.0012), levels: levels ? windows.map(level) : [],
      l_samples: samples.l.map((i) => i + 1), dropped: samples.dropped.map((i) => i + 1), mean_ns: mean, mean_kept_ns: meanKept, sigma_ns: all, sigma_kept_ns: kept, sigma_ratio: kept / all,
      steadied, steady_sigma_ns: null, steady_sigma_kept_ns: null,
    },
  };
}

export const DAEMONS = [['jbd2/sda1-8', 41, 5, 5e6], ['rhn_check', 97, 30, 60e6], ['updatedb', 300, 120, 400e6]];

export function study({ short = 800, long = 60, daemons = DAEMONS, levels = true, steadied = false } = {}) {
  const s = run(1e9, short, daemons, 11, { levels, steadied });
  const l = long ? run(16e9, long, daemons.map(([name, period, phase, adds]) => [name, Math.max(2, Math.round(period / 12)), phase % 3, adds * 6]), 12, { levels, steadied }) : null;
  const period = (samples, length, n) => ({ samples, ns: Math.round(samples * length), error_ns: Math.round(length * 0.2), uncertain: n < 3 });
  const seen = (list, samples, length, adds) => ({
    cluster_executions: 300, cluster_max_ns: Math.round(adds / 5), cluster_sigma_ns: adds / 20, long_executions: list.length, long_least_ns: list.length ? Math.round(adds * 0.9) : null,
    long_most_ns: list.length ? Math.round(adds * 1.1) : null, samples: list, period: list.length > 1 ? period(samples, length, list.length) : null, cutoff_ns: list.length ? Math.round(adds * 0.55) : null,
  });
  const rows = daemons.map(([name, every, , adds], d) => ({
    name, long_running: true, period: period(every, 1e9, s.seen[d].length),
    cutoffs: [{ from_ns: 0, below_ns: Math.round(every * 5e7), cutoff_ns: Math.round(adds * 0.55), edited: false }, { from_ns: Math.round(every * 5e7), below_ns: null, cutoff_ns: Math.round(adds * 3), edited: d === 1 }],
    runs: { short: seen(s.seen[d], every, 1e9, adds), long: l ? seen(l.seen[d], Math.max(2, Math.round(every / 12)), 16e9, adds * 6) : null },
  }));
  const idle = { name: 'sshd', long_running: false, period: null, cutoffs: [], runs: { short: { cluster_executions: 12, cluster_max_ns: 200000, cluster_sigma_ns: 1000, long_executions: 0, long_least_ns: null, long_most_ns: null, samples: [], period: null, cutoff_ns: null }, long: null } };
  return {
    study: {
      type: 'study', format: 1, id: 3, source: 'active', made_at: '2026-11-16T05:00:00.000Z', machine_id: 1, machine: null, runs: { short: s.run, long: l?.run ?? null }, daemons: [...rows, idle],
      cutoffs: rows.flatMap((r) => r.cutoffs.map((c, i) => ({ id: i + 1, daemon: r.name, ...c }))),
    },
    samples: { short: s.samples, long: l?.samples ?? null },
    // each period begins at its phase
    phases: { short: [...daemons.map(([, every, phase]) => phase % every), null], long: [...daemons.map(([, every, phase]) => (phase % 3) % Math.max(2, Math.round(every / 12))), null] },
  };
}

export function studySection(number, made, more = {}) {
  return { ...head('study', number, 'daemons of testhost', more), ...made };
}
