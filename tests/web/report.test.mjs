// What tare itself measures and writes, in a browser: every kind of run, one file.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { accessible, chartsDraw, fits, HOSTILE, open, quiet, scratch, shot, shown, stop } from './browser.mjs';
import { TARE } from './documents.mjs';

const env = { ...process.env, TARE_LAB: path.join(scratch, 'lab.db'), TARE_RUNTIME_DIR: path.join(scratch, 'run'), NO_COLOR: '1' };
const tare = (...words) => execFileSync(TARE, words, { env, cwd: scratch, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });

before(() => {
  fs.mkdirSync(env.TARE_RUNTIME_DIR, { mode: 0o700 });
  tare('time', '-N', '-w', '1', '-r', '12', '--trace', '-n', 'first', 'head -c 3000000 /dev/zero', '-n', 'second', 'head -c 9000000 /dev/zero');
  tare('noise', 'record', '-d', '1s');
  tare('profile', '-F', '199', '-g', '--', 'sh', '-c', 'gzip -6c "$0" >/dev/null', TARE);
  // 5: a machine this busy spoilt every execution, and there is a page of that, too
  try {
    tare('query', '-e', 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) SELECT sum(i) FROM n', 'sqlite::memory:');
  } catch (e) {
    if (e.status !== 5) throw e;
  }
});
after(stop);

test('runs of every kind, as tare writes them, are drawn', async () => {
  const runs = tare('sql', '--csv', 'SELECT id FROM runs ORDER BY id').trim().split('\n').slice(1);
  assert.equal(runs.length, 5);
  tare('report', ...runs, '-o', 'all.html');
  const file = path.join(scratch, 'all.html');
  const tab = await open(file);
  const names = await chartsDraw(tab, 12);
  for (const run of runs) assert.ok(names.some((name) => name.startsWith(`run-${run}-`)), `run ${run} has charts: ${names}`);
  assert.equal(await tab.page.locator('section.time').count(), 2);
  await accessible(tab);
  await fits(tab);
  quiet(tab);
  await shot(tab, 'report-wide');
  await tab.page.setViewportSize({ width: 390, height: 844 });
  await fits(tab);
  quiet(tab);
  await shot(tab, 'report-narrow');
  await tab.close();
});

test('a name that tare was given is text, whatever it is', async () => {
  const names = HOSTILE.filter((name) => !name.includes('\0'));
  tare('time', '-N', '-r', '2', ...names.flatMap((name) => ['-n', name, `true ${JSON.stringify(name.slice(0, 200))}`]));
  tare('report', ...names.map((_, i) => `@${i}`), '-o', 'hostile.html');
  const tab = await open(path.join(scratch, 'hostile.html'));
  await chartsDraw(tab, names.length);
  await shown(tab, ...names);
  await fits(tab);
  quiet(tab);
  assert.equal(await tab.page.locator('section.time').count(), names.length);
  await tab.close();
});
