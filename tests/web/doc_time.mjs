// Documents of `tare time`, made by hand: what page_time.c would make of runs that never were. The same each time.
import fs from 'node:fs';
import { pathToFileURL } from 'node:url';
import { chart, document_, head, random } from './documents.mjs';

const CAUSES = ['run', 'irq', 'softirq', 'queued', 'waking', 'io', 'unseen'];
const NAMES = ['inc', 'kworker/0:1', 'postgres', 'cron', 'tare', 'local timer', 'virtio0-input', 'net_rx', 'timer', 'ksoftirqd/0', 'vda', 'jbd2/vda1-8'];

function gauss(next) {
  return Math.sqrt(-2 * Math.log(next() + 1e-12)) * Math.cos(2 * Math.PI * next());
}

export function summary(values) {
  const n = values.length;
  if (!n) return null;
  const sorted = Float64Array.from(values).sort();
  const mean = values.reduce((a, b) => a + b, 0) / n;
  const sigma = n > 1 ? Math.sqrt(values.reduce((a, b) => a + (b - mean) ** 2, 0) / (n - 1)) : null;
  const half = sigma === null ? null : (1.96 * sigma) / Math.sqrt(n);
  const median = sorted[Math.floor(n / 2)];
  const away = Float64Array.from(values, (v) => Math.abs(v - median)).sort();
  return {
    n, mean_ns: mean, median_ns: median, min_ns: sorted[0], max_ns: sorted[n - 1], stddev_ns: sigma, relative_error: sigma === null ? null : sigma / mean,
    mad_ns: away[Math.floor(n / 2)], ci_low_ns: half === null ? null : mean - half, ci_high_ns: half === null ? null : mean + half,
  };
}

/** A kernel density on a grid of 200; of a sample, since a test has time for no more. */
function density(all, kept) {
  const [low, high] = [all.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b))];
  const pad = (high - low) * 0.05;
  const ns = Array.from({ length: 200 }, (_, i) => Math.round(low - pad + ((high - low + 2 * pad) * i) / 199));
  const of = (values) => {
    const some = values.length > 2000 ? values.filter((_, i) => i % Math.ceil(values.length / 2000) === 0) : values;
    const s = summary(some);
    const width = Math.max(1, 1.06 * Math.min(s.stddev_ns, (s.mad_ns || s.stddev_ns) * 1.48) * some.length ** -0.2);
    return ns.map((x) => {
      let sum = 0;
      for (const v of some) {
        const d = (x - v) / width;
        if (d * d < 40) sum += Math.exp((-d * d) / 2);
      }
      return Number((sum / (some.length * width * 2.5066282746)).toPrecision(6));
    });
  };
  return chart([{ value_ns: ns, all_per_ns: of(all), kept_per_ns: of(kept) }]);
}

/** A trace: the subject on CPU 0, cron in between, ticks above, two threads that wait. */
function trace(et, name, next) {
  const slices = [];
  const waits = [];
  let at = 0;
  while (at < et) {
    const run = Math.min(et - at, Math.round(et / 12 * (0.6 + next())));
    slices.push([0, at, run, 0, name('inc')]);
    for (let t = at + 20_000; t < at + run - 5_000; t += Math.round(et / 60)) slices.push([0, t, 3_000, next() < 0.7 ? 4 : 5, name(next() < 0.5 ? 'local timer' : 'timer')]);
    at += run;
    if (at >= et) break;
    const away = Math.min(et - at, Math.round(et / 30));
    slices.push([0, at, away, next() < 0.5 ? 1 : 3, name(next() < 0.5 ? 'cron' : 'kworker/0:1')]);
    waits.push([0, at, away, name('queued')]);
    at += away;
  }
  slices.push([1, 0, Math.round(et * 0.4), 1, name('postgres')], [1, Math.round(et * 0.45), Math.round(et * 0.1), 2, name('tare')], [1, Math.round(et * 0.5), 9_000, 6, name('local timer')],
    [1, Math.round(et * 0.6), Math.round(et * 0.3), 0, name('inc')]);
  waits.push([1, 0, Math.round(et * 0.6), name('futex')], [1, Math.round(et * 0.9), Math.round(et * 0.1), name('io')]);
  slices.sort((a, b) => a[1] - b[1]);
  return { et_ns: et, cpus: [0, 1], slices, waits, threads: [[name('inc'), 4711], [name('inc'), 4712]], cut: 7 };
}

function detail(et, traced, name, next) {
  const delayed = Math.round(et * 0.02 * next());
  return {
    processes: [[name('inc'), 0, 4711, Math.round(et * 0.97)], [name('cron'), 1, 812, delayed], [name('postgres'), 1, 900, 40_000], [name('tare'), 2, 4000, 90_000]],
    entries: [[3, name('cron'), 812, delayed, 2], [1, name('local timer'), 0, 12_000, 4], [2, name('timer'), 0, 8_000, 4], [5, name('vda'), 0, 30_000, 1], [6, name(''), 0, 100, 0]],
    others: [[name('cron'), 812, delayed * 2, 3, delayed, delayed, 0], [name('postgres'), 900, 40_000, 5, 20_000, 0, 7_000], [name('kworker/0:1'), 12, 15_000, 2, 9_000, 1_000, 0]],
    interrupts: [[1, name('local timer'), 14, 42_000, 12_000], [2, name('net_rx'), 3, 9_000, 0]],
    trace: traced ? trace(et, name, next) : null,
  };
}

/**
 * count measured executions of about mean ns. daemons: every so many one is disturbed by cron (rule (I)); others lie outside by themselves (II).
 * details: of how many. hostile: a name, or several in turn, wherever one can stand.
 */
export function timeSection(number, { count = 400, mean = 12_000_000, spread = 0.004, seed = number, title = `inc ${number}`, parameters = [], hostile = null, details = count, ledger = true, pt = true } = {}) {
  const next = random(seed * 7919 + 17);
  const bad = hostile === null ? null : [hostile].flat();
  let turn = 5 * number;
  const evil = (text) => (bad ? bad[turn++ % bad.length] : text);
  const name = ((names) => (text) => {
    const shown = bad && text !== 'inc' && text !== '' ? bad[(NAMES.indexOf(text) + 5 * number) % bad.length] : text;
    const at = names.indexOf(shown);
    return at >= 0 ? at : names.push(shown) - 1;
  });
  const names = hostile === null ? [...NAMES] : [];
  const index = name(names);
  const columns = { number: [], at_us: [], et: [], net: pt ? [] : null, exec: pt ? [] : null, tick: null, rss: [], rule: [] };
  const wall = CAUSES.map(() => []);
  const reasons = {};
  const outside = [];
  const period = Math.max(7, Math.round(count / 12));
  let at = 0;
  const total = count + 2;
  for (let i = 0; i < total; i++) {
    const warm = i < 2;
    const n = warm ? i + 1 : i - 1;
    const daemon = !warm && n % period === 5;
    const own = Math.round(mean * (1 + spread * gauss(next)) * (warm ? 1.3 : 1));
    const irq = Math.round(mean * 0.001 * (1 + next()));
    const soft = Math.round(mean * 0.0006 * (1 + next()));
    const queued = daemon ? Math.round(mean * (0.25 + 0.1 * next())) : Math.round(mean * 0.0008 * next());
    const waking = Math.round(mean * 0.0003 * next());
    const io = n % 3 ? 0 : Math.round(mean * 0.002 * next());
    const unseen = Math.round(mean * 0.0001);
    [own, irq, soft, queued, waking, io, unseen].forEach((v, c) => wall[c].push(v));
    const et = own + irq + soft + queued + waking + io + unseen;
    columns.number.push(n);
    columns.at_us.push(Math.round(at / 1000));
    at += et + 300_000;
    columns.et.push(et);
    columns.net?.push(own);
    columns.exec?.push(own + irq + soft);
    columns.rss.push(1_800_000 + (i % 7) * 4096);
    columns.rule.push(warm ? 1 : daemon ? 3 : 0);
    if (daemon) {
      const daemon_ = evil('cron');
      reasons[i] = { text: `${daemon_} had the CPU for ${Math.round(queued / 1000)} µs, above its cutoff of 500 µs`, daemon: daemon_, value_ns: queued, low_ns: 0, high_ns: 500_000 };
      outside.push(i);
    }
  }
  if (count > 60) columns.rule[40] = 2;
  const judged = columns.net ?? columns.et;
  const left = judged.filter((_, i) => columns.rule[i] === 0);
  const s = summary(left);
  const [low, high] = [s.mean_ns - 2 * s.stddev_ns, s.mean_ns + 2 * s.stddev_ns];
  judged.forEach((v, i) => {
    if (columns.rule[i] !== 0 || (v >= low && v <= high)) return;
    columns.rule[i] = 4;
    reasons[i] = { text: `it ran for longer itself${evil('')}`, daemon: null, value_ns: v, low_ns: Math.round(low), high_ns: Math.round(high) };
  });
  const of = (values, wanted) => values.filter((_, i) => wanted(columns.rule[i]));
  const kept = (r) => r === 0;
  const measured = (r) => r === 0 || r === 3 || r === 4;
  const both = (values) => [values ? summary(of(values, kept)) : null, values ? summary(of(values, measured)) : null];
  const measures = { et: both(columns.et), pt_net: both(columns.net), pt_exec: both(columns.exec), pt_tick: both(columns.tick), user: both(columns.net?.map((v) => v * 0.98)), system: both(columns.net?.map((v) => v * 0.02)) };
  const means = wall.map((list) => {
    const values = of(list, kept);
    return Math.round(values.reduce((a, b) => a + b, 0) / values.length);
  });
  const sorted = [...of(columns.et, measured)].sort((a, b) => a - b);
  const edge = sorted[Math.max(0, sorted.length - outside.length - 1)];
  const level = (lowest, highest, shape) => ({
    low_ns: lowest, high_ns: highest, cut_ns: edge, neither: Math.round(count / 2) - 10, first: 4, second: 5, both: shape === 'corner' ? 9 : 0, both_expected: 0.12, shape,
  });
  const remarkable = {};
  let left_ = details;
  for (let i = 0; i < total && left_ > 0; i++) {
    if (details < total && columns.rule[i] === 0) continue;
    remarkable[i] = detail(columns.et[i], i % 3 === 0 || columns.rule[i] === 3, index, next);
    left_--;
  }
  return {
    ...head('time', number, evil(title), { subtitle: evil(`inc --loops ${number}`) }),
    command: evil(`inc --loops ${number}`), parameters: bad ? [{ name: evil(), value: evil() }] : parameters, backend: 'bpf', headline: pt ? 'pt_net' : 'et', shell_ns: number % 2 ? 0 : 700_000, planned: count,
    kept: Object.fromEntries(Object.entries(measures).map(([m, [k]]) => [m, k])), unfiltered: Object.fromEntries(Object.entries(measures).map(([m, [, u]]) => [m, u])),
    warnings: [{ id: 'noisy_et', text: `ET varies by 6.1 %, PT by 0.40 %: the machine was disturbed${evil('')}`, remedy: `PT is the figure to use; \`tare doctor\` tells how to quiet this machine${evil('')}` }],
    rule2: { low_ns: Math.round(low), high_ns: Math.round(high) }, columns, reasons, charts: Object.fromEntries(['net', 'et'].filter((m) => columns[m]).map((m) => [m === 'et' ? 'density_et' : 'density_pt_net', density(of(columns[m], measured), of(columns[m], kept))])),
    ledger: ledger ? { index: null, causes: CAUSES, wall, mean: means } : null,
    dual: { levels: [level(sorted[0], sorted[sorted.length - 1], 'L'), level(sorted[0], edge, 'corner'), level(sorted[0], sorted[Math.floor(sorted.length * 0.9)], 'symmetric')], outside },
    names, details: remarkable,
  };
}

export const timeDocument = (options = {}) => document_([timeSection(12, options)], { title: 'run 12' });

/** Runs of three lengths and one that is faster, with what compare says of them. */
export function timesDocument(hostile = null) {
  const sections = [1, 2, 3, 4].map((k) => timeSection(k, {
    count: 120, mean: [12e6, 11.6e6, 120e6, 1.2e9][k - 1], title: `inc of length ${k}`, hostile, seed: k + 30, spread: [0.004, 0.006, 0.003, 0.002][k - 1],
    parameters: [{ name: 'length', value: ['12ms', '11.6ms', '120ms', '1.2s'][k - 1] }],
  }));
  const mean = (k) => sections[k].kept.pt_net.mean_ns;
  const rows = [1, 2, 3].map((k) => {
    const ratio = mean(k) / mean(0);
    return { section: k, ratio, ratio_low: ratio * 0.995, ratio_high: ratio * 1.006, p: k === 1 ? 0.0312 : 1e-9, test: 'Mann-Whitney U', significant: k !== 1, sentence: `${hostile ? [hostile].flat().at(k) : `inc of length ${k + 1}`} took ${ratio.toFixed(2)} times as long as the first` };
  });
  return document_(sections, { title: 'four runs', comparisons: [{ kind: 'time', sections: [0, 1, 2, 3], reference: 0, measure: 'pt_net', rows }] });
}

/** As many as a report has to stand; 200 have details. */
export const largeDocument = (count = 100_000) => document_([timeSection(99, { count, mean: 2_000_000, details: 200, seed: 5 })], { title: `${count} executions` });

if (process.argv[1] && import.meta.url === pathToFileURL(fs.realpathSync(process.argv[1])).href) {
  // for benchmarks: node doc_time.mjs COUNT FILE.html
  const { html } = await import('./browser.mjs');
  fs.writeFileSync(process.argv[3], html(largeDocument(Number(process.argv[2]))));
}
