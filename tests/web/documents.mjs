// Documents that the program made, for pages: of fixtures in C (page-sample) and of the labs that are kept (tests/kept). Each call gives a fresh
// copy, so that a test can change what it needs to.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { ROOT, scratch } from './browser.mjs';

export const TARE = path.resolve(process.env.TARE ?? path.join(ROOT, 'build/tare'));
const UNIT = path.join(path.dirname(TARE), 'tests/unit');
const SAMPLE = path.join(UNIT, fs.readdirSync(UNIT, { recursive: true }).find((name) => path.basename(name) === 'page-sample'));

const made = new Map(); // texts, by what was asked
function once(key, make) {
  if (!made.has(key)) made.set(key, make());
  return JSON.parse(made.get(key));
}
const run = (program, words, env = {}) => execFileSync(program, words, { env: { ...process.env, NO_COLOR: '1', ...env }, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'] });

/** A page of fixtures: see page-sample.c. */
export const sample = (...words) => once(words.join(' '), () => run(SAMPLE, ['json', ...words.map(String)]));

/** A page of runs of a kept lab. */
export const kept = (lab, ...runs) => once(`${lab} ${runs}`, () => {
  const file = path.join(scratch, `${lab}.db`);
  if (!fs.existsSync(file)) fs.writeFileSync(file, execFileSync('python3', ['-c', 'import lzma, sys; sys.stdout.buffer.write(lzma.open(sys.argv[1]).read())', path.join(ROOT, `tests/kept/${lab}.db.xz`)], { maxBuffer: 1 << 28 }));
  return run(TARE, ['report', '--json', ...runs.map(String)], { TARE_LAB: file });
});

/** A page of duets: see duet-lab.c for what each is. */
export const duets = (...runs) => once(`duets ${runs}`, () => {
  const file = path.join(scratch, 'duets.db');
  if (!fs.existsSync(file)) run(path.join(UNIT, fs.readdirSync(UNIT, { recursive: true }).find((name) => path.basename(name) === 'duet-lab')), [file]);
  return run(TARE, ['report', '--json', ...runs.map(String)], { TARE_LAB: file });
});

/** A page of these sections, with the machine that the long run was made on. */
export function document_(sections, more = {}) {
  const { colours, machines, ...rest } = sample('run', 398);
  return { ...rest, colours, title: 'a report', machines, comparisons: [], ...more, sections: sections.map((s) => ({ ...s, machine: s.machine === null ? null : Math.min(s.machine, (more.machines ?? machines).length - 1) })) };
}

/** The machine, with few findings: one bad, one to be noted, one as it should be. */
export function machine(name = 'testhost') {
  const [m] = sample('run', 398).machines;
  const finding = (id, severity, condition) => ({ ...m.findings.find((f) => f.id === id), id, severity, condition });
  return { ...m, name, findings: [finding('turbo', 'bad', 'turbo is on'), finding('aslr', 'note', 'addresses are random'), finding('swap', 'ok', 'no swap')] };
}

/** Called by another number, and name. */
export const numbered = (section, number, title = section.title) => ({ ...section, number, title, anchor: `${section.kind === 'study' ? 'study' : 'run'}-${number}` });

export const timeDocument = (count = 398) => sample('run', count);

/** A run that is short, has no ledger and tells of no single execution. */
export function shortRun(number, title = `inc ${number}`) {
  return { ...numbered(sample('run', 20).sections[0], number, title), ledger: null, details: {} };
}

/** Two runs of queries, 7 and 8; some of the second are slower. */
export const queries = () => sample('parts').sections.slice(5, 7).map((s, i) => ({ ...numbered(s, 7 + i), ledgers: s.ledgers.filter((l) => l.elapsed_ns) }));
export const query = () => queries()[0];
export const queryDocument = () => document_([query()]);
export const queryComparison = () => ({ ...sample('parts').comparisons[2], base: 0, other: 1 });

/** The run with other Q@Cs: each is like one that it has. */
export function withAts(section, names, cardinalities) {
  const { query: q, charts } = section;
  const [block] = charts.split.blocks;
  const ats = names.flatMap((name, i) => cardinalities.map((cardinality, k) => ({ like: (i + k) % q.at.length, query: i + 1, name, cardinality })));
  charts.split.blocks[0] = Object.fromEntries(Object.entries(block).map(([key, values]) => [key, ats.map((at) => (key === 'cardinality' ? at.cardinality ?? 0 : at[key] ?? values[at.like]))]));
  q.at = ats.map(({ like, ...at }) => ({ ...structuredClone(q.at[like]), ...at }));
  q.texts = names.map((name, i) => ({ ...q.texts[i % q.texts.length], query: i + 1, name }));
  q.at_made = ats.length;
  const [ledger] = section.ledgers;
  section.ledgers = ats.map(({ query: number, cardinality }) => ({ ...ledger, query: number, cardinality }));
  return section;
}

/** Like that of a large program: so many distinct stacks. The tree of the sample hangs on itself again and again, under other names. */
export function largeProfile(count = 50_000) {
  const section = sample('profiles').sections[0];
  const { tree } = section;
  const size = tree.name.length;
  const leaves = tree.self.filter((n) => n > 0).length;
  const depth = tree.parent.map(() => 0);
  for (let k = 1; k * leaves <= count; k++) {
    const begin = tree.name.length;
    let under = (Math.imul(k, 2654435761) >>> 0) % begin;
    while (under && depth[under] > 28) under = tree.parent[under];
    for (let i = 1; i < size; i++) {
      const at = tree.name.length;
      tree.names.push(`${tree.names[tree.name[i]]}_${k % 300}`);
      tree.name.push(tree.names.length - 1);
      tree.object.push(tree.object[i]);
      tree.kind.push(tree.kind[i] === 1 ? 2 : tree.kind[i]);
      tree.parent.push(tree.parent[i] ? tree.parent[i] - 1 + begin : under);
      tree.self.push(tree.self[i] && 1 + ((i * k) % 400));
      depth[at] = depth[tree.parent[at]] + 1;
    }
  }
  return section;
}
