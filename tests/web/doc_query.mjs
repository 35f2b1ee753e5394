// Queries by hand: documents as docs/schema/query.schema.json has them.
import { chart, document_, head, random } from './documents.mjs';

const TIMES = ['measured', 'calculated', 'cpu_blocked', 'cpu_device'];
export const MEASURES = [...['q', 'u', 'd'].flatMap((who) => ['user', 'system', 'blkio', 'reads', 'writes', 'nvcsw', 'nivcsw'].map((what) => `${who}.${what}`)), 'o.user', 'o.system', 'o.softirq', 'o.iowait'];

const SCAN = { node: 'Aggregate', children: [{ node: 'Seq Scan', relation: 'sales', conditions: ['(amount > 250)'] }] };
const INDEX = { node: 'Aggregate', children: [{ node: 'Index Scan', relation: 'sales', index: 'sales_amount', conditions: ['(amount > 250)'] }] };
const HASH = {
  node: 'Sort', details: { 'sort key': 's.name' }, children: [{
    node: 'Hash Join', join: 'inner', conditions: ['(v.shop = s.id)'],
    children: [{ node: 'Seq Scan', relation: 'sales', alias: 'v' }, { node: 'Hash', children: [{ node: 'Seq Scan', relation: 'shops', alias: 's' }] }],
  }],
};
const LOOP = { node: 'Sort', details: { 'sort key': 's.name' }, children: [{ node: 'Nested Loop', join: 'inner', children: [{ node: 'Seq Scan', relation: 'shops', alias: 's' }, { node: 'Index Scan', relation: 'sales', alias: 'v', index: 'sales_shop' }] }] };
export const PLANS = [[SCAN, '1111111111111111'], [INDEX, '2222222222222222'], [HASH, '3333333333333333'], [LOOP, '4444444444444444']].map(([plan, hash]) => ({ hash, plan }));

function figure(list) {
  if (!list.length) return null;
  const sorted = [...list].sort((a, b) => a - b);
  const mean = list.reduce((a, b) => a + b, 0) / list.length;
  return { median_ns: sorted[sorted.length >> 1], mean_ns: mean, sigma_ns: Math.sqrt(list.reduce((a, b) => a + (b - mean) ** 2, 0) / Math.max(1, list.length - 1)) };
}
const figures = (list) => Object.fromEntries(TIMES.map((t) => [t, figure(list.map((x) => x.times_ns[t]).filter((x) => x !== null))]));

function execution(number, base, next, known, plan) {
  const cpu = Math.round(base * (0.55 + next() * 0.02));
  const device = Math.round(base * (0.25 + next() * 0.04));
  const measured = Math.round(base * (1 + next() * 0.06));
  const bad = next() < 0.12;
  return {
    number, timed_out: false, started_at: '2026-11-16T05:01:00.000Z', measured_ns: bad ? Math.round(measured * 1.4) : measured, cpu_ns: known ? cpu : null, own_device_ns: known ? device : null,
    others_device_ns: known ? 100000 : null, run_delay_ns: known ? 500000 : null, read_bytes: known ? 5 << 20 : null, rows: 17, plan,
    times_ns: { measured, calculated: known ? cpu + device : null, cpu_blocked: known ? cpu + device : null, cpu_device: known ? cpu + device : null },
    dropped_by: bad ? ['DBMS time', ...(next() < 0.3 ? ['context switch'] : [])] : [],
  };
}

/** known: CPU and devices were seen; plans: they were asked for; varying: the table varies. */
/** Means of the executions that count; in the second block where CPU time or I/O is not known. */
export function splits(at) {
  const blocks = [0, 1].map(() => ({ row: [], elapsed_ns: [], cpu_ns: [], io_ns: [], other_ns: [], query: [], cardinality: [], dropped: [], executions: [], run_delay_ns: [], name: [] }));
  at.forEach((a, row) => {
    const list = a.executions.filter((x) => (a.dropped_by ? !x.timed_out : !x.dropped_by.length));
    const mean = (key) => (list.some((x) => x[key] === null) ? null : list.reduce((sum, x) => sum + x[key], 0) / list.length);
    if (!list.length) return;
    const [elapsed_ns, cpu_ns, io_ns] = ['measured_ns', 'cpu_ns', 'own_device_ns'].map(mean);
    const known = cpu_ns !== null && io_ns !== null;
    const values = { row, elapsed_ns, cpu_ns, io_ns, other_ns: known ? Math.max(0, elapsed_ns - cpu_ns - io_ns) : null, query: a.query, cardinality: a.cardinality ?? 0, dropped: a.dropped_by ? 1 : 0, executions: list.length, run_delay_ns: mean('run_delay_ns'), name: a.name };
    for (const [key, value] of Object.entries(values)) blocks[known ? 0 : 1][key].push(value);
  });
  return chart(blocks);
}

export function query({ number = 7, name = 'shop', names = ['scan', 'days', 'by-shop', 'north'], cardinalities = [150000, 300000, 450000, 600000], seed = 3, known = true, plans = true, varying = true, faster = 1, matrix = true, ledgers = true, sql = null } = {}) {
  const next = random(seed);
  const at = [];
  names.forEach((title, q) => (varying ? cardinalities : [null]).forEach((c, i) => {
    // the second half of the cardinalities of every other query has another plan
    const other = q % 2 === 1 && i >= cardinalities.length / 2;
    const pair = q % 2 ? [3, 2] : [0, 1];
    const plan = plans ? PLANS[pair[other ? 1 : 0]].hash : null;
    const base = (faster * (q + 1) * ((c ?? 300000) / 10 + (other ? -4000 : 0)) * 1000) / 2;
    const executions = Array.from({ length: 10 }, (_, n) => execution(n + 1, base, next, known, plan));
    const kept = executions.filter((x) => !x.dropped_by.length);
    const dropped = q === 2 && i === 1 ? 'excessive variation' : kept.length < 6 ? 'fewer than 6 executions left' : null;
    at.push({
      query: q + 1, name: title, cardinality: c, table_bytes: 5 << 20, plan: plans ? (q % 2 ? (other ? 'A' : 'B') : 'A') : null, plan_hash: plan, several_plans: false,
      made: 10, kept: kept.length, dropped_by: dropped, fired: dropped ? ['excessive variation in query computation time'] : [], fired_afterwards: [],
      times: dropped ? figures([]) : figures(kept), unfiltered: figures(executions), cpu: dropped || !known ? null : figure(kept.map((x) => x.cpu_ns)),
      own_device: dropped || !known ? null : figure(kept.map((x) => x.own_device_ns)), blocked: null, read_share: known ? 0.98 : null, executions,
    });
  }));
  const r = MEASURES.map((_, i) => MEASURES.map((_, j) => (i === j ? 1 : i % 7 === 4 || j % 7 === 4 ? null : Math.sin((i + 1) * (j + 1) * 0.7))));
  const model = Array.from({ length: 73 }, (_, i) => {
    const [a, b] = [(i * 3) % 25, (i * 3 + 1 + (i % 11)) % 25];
    const value = matrix && a !== b ? r[a][b] : null;
    const grade = (x) => (Math.abs(x) < 0.3 ? 0 : Math.abs(x) < 0.7 ? 1 : 2);
    const predicted = i % 3;
    return {
      id: `I${i}`, left: MEASURES[a], right: MEASURES[b], predicted: ['low', 'med', 'high'][predicted], papers_r: 0.42, r: value, p: value === null ? null : 0.01,
      observed: value === null ? null : ['low', 'med', 'high'][grade(value)], off: value === null ? null : Math.abs(grade(value) - predicted),
    };
  });
  const made = at.reduce((a, x) => a + x.made, 0);
  const kept = at.reduce((a, x) => a + x.kept, 0);
  const fired = (list, n) => list.map((check, i) => ({ name: check, fired: i === 1 ? 4 : 0, of: n }));
  const q = {
    type: 'query', format: 1, run: null, machine: null, cpus: 2,
    experiment: { name, text: 'name: shop\nscenario: exhaustive\n', scenario: 'exhaustive', queries: names.length, executions: 10, cold: true, imported: !known, time_limit_ns: null, seed: '7' },
    server: { dbms: 'postgresql', version: '15.6', settings: { shared_buffers: '128MB', options: ['a', 'b'] }, io_by_process: false },
    options: { form: 'adapted', tick_ns: 10000000, floor_ns: 100000 },
    texts: names.map((title, i) => ({ query: i + 1, name: title, sql: sql ?? `SELECT COUNT(*), SUM(amount)\nFROM sales\nWHERE amount > ${i}` })),
    plans: plans ? PLANS : [],
    events: [{ kind: 'made table', at: '2026-11-16T05:00:01.000Z', query: null, cardinality: null, plan: null, before: null, text: 'sales' },
      { kind: 'same plan', at: '2026-11-16T05:03:01.000Z', query: 2, cardinality: 450000, plan: PLANS[2].hash, before: PLANS[3].hash, text: null }],
    at_made: at.length, at_kept: at.filter((x) => !x.dropped_by).length, executions_made: made, executions_kept: kept, time: known ? 'cpu_device' : 'measured', relative_error: 0.0142, at,
    checks: {
      experiment: fired(['missing queries', 'unique plan', 'underlying measure', 'derived measure', 'steal time', 'guest time', 'other query process', 'other utility process'], names.length),
      execution: fired(['ephemeral process', 'DBMS time', 'zero query time', 'query time', 'query user tick', 'overall computation time', 'computation time', 'BlockIO delay time', 'IOWait time', 'context switch', 'ambiguous query process', 'no query process', 'timed-out', 'lost events'], made),
      at: fired(['excessive variation in query computation time', 'possible query result cache', 'strict monotonicity', 'relaxed monotonicity'], at.length), missing: known ? [] : ['q_user_ns'],
    },
    post: known ? { checks: fired(['excessive variation in query computation time', 'strict monotonicity', 'relaxed monotonicity'], at.length), kept_difference: 0.021, dropped_difference: 0.31, relative_error: 0.013, constant: ['q.writes'] } : null,
    reading: known ? { known: at.length, whole: at.length, less: 0, more: 0, warm: 0 } : null,
    surroundings: { run_delay_share: known ? 0.012 : null, steal_share: known ? 0.001 : null, lost: 0 }, model,
    deviations: ['daemons of the operating system were left running', 'the checks are of the adapted form'],
    items: ['Protocol', 'Hardware', 'Software', 'Settings', 'Data', 'Queries', 'Executions', 'Checks', 'Times'].map((item) => ({ name: item, text: `what was done about ${item.toLowerCase()}` })),
    paragraphs: ['Query times on PostgreSQL 15.6 were measured with the Tucson Timing Protocol Version 2 (TTPv2), by tare 0.1.0.', 'The run violated none of the experiment-wide sanity checks.'], no_paragraphs: null,
  };
  return {
    ...head('query', number, name, { subtitle: 'tare query shop.yaml postgresql://localhost/shop' }), query: q, charts: { split: splits(at) }, matrix: matrix ? { measures: MEASURES, r } : null,
    ledgers: ledgers && known ? at.map((x) => ({ query: x.query, cardinality: x.cardinality, elapsed_ns: Math.round(x.unfiltered.measured.mean_ns * 0.9), causes: ['run', 'io', 'io_other', 'queued', 'irq', 'socket'], mean: [0.55, 0.25, 0.05, 0.08, 0.01, 0.06].map((s) => s * x.unfiltered.measured.mean_ns) })) : [],
  };
}

export function compared(base, other, indexes = [0, 1]) {
  const pairs = base.query.at.map((a, i) => {
    const b = other.query.at[i];
    const both = a.times.measured && b?.times.measured;
    const ratio = both ? b.times.measured.median_ns / a.times.measured.median_ns : null;
    const same_plan = i % 5 !== 3;
    return {
      query: a.query, name: a.name, cardinality: a.cardinality, change: !both ? (a.times.measured ? 'only_base' : 'only_other') : ratio > 1.03 ? 'slower' : ratio < 0.97 ? 'faster' : 'same', same_plan,
      base_plan: a.plan_hash, other_plan: same_plan ? a.plan_hash : PLANS[2].hash, plan_change: same_plan ? null : 'Nested Loop became Hash Join', base_ns: a.times.measured?.median_ns ?? null,
      other_ns: b?.times.measured?.median_ns ?? null, ratio, ratio_low: ratio && ratio * 0.96, ratio_high: ratio && ratio * 1.05, p: ratio && 0.004,
    };
  });
  const known = pairs.filter((p) => p.ratio);
  const side = (s) => ({ run: s.number, name: s.title, dbms: s.query.server.dbms, version: s.query.server.version, cold: true, kept: s.query.at_kept });
  const mean = known.length ? Math.exp(known.reduce((a, p) => a + Math.log(p.ratio), 0) / known.length) : null;
  return {
    kind: 'query', base: indexes[0], other: indexes[1],
    diff: {
      type: 'query-compare', format: 1, base: side(base), other: side(other), time: 'measured', compared: known.length, plan_changes: pairs.filter((p) => !p.same_plan).length,
      slower: pairs.filter((p) => p.change === 'slower').length, faster: pairs.filter((p) => p.change === 'faster').length, ratio: mean, ratio_low: mean && mean * 0.97, ratio_high: mean && mean * 1.03, pairs,
    },
  };
}

export function queryDocument(options = {}, more = {}) {
  return document_([query(options)], { title: 'queries', ...more });
}
