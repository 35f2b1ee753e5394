// The page of `tare duet`: one of two sides, one of several, several duets together.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { duets } from './documents.mjs';
import { everything, HOSTILE, open, quiet, shared, shot, stop } from './browser.mjs';

after(stop);
const one = shared(() => duets(1));
const text = (tab, at) => tab.page.locator(at).innerText();

test('a page of a duet stands what every page has to: wide, narrow, dark, by keyboard', async () => {
  await everything(duets(1), 'duet', 2);
});

test('the answer comes first, then figures, then charts', async () => {
  const tab = await one();
  const names = await tab.page.evaluate(() => [...window.tare.charts.keys()]);
  assert.deepEqual(names.sort(), ['run-1-pairs', 'run-1-ratio']);
  assert.match(await text(tab, '#run-1 .verdict'), /new is 1\.\d+ % faster than old/);
  const figures = await text(tab, '#run-1 .figures');
  assert.match(figures, /the reference/);
  assert.match(figures, /0\.98\d* \[0\.9\d+, 0\.9\d+\]/);
  assert.match(figures, /4 outermost/);
  quiet(tab);
});

test('the ratio has its band, its line at 1 and every pair', async () => {
  const tab = await one();
  const drawn = await tab.page.evaluate(() => {
    const o = window.tare.charts.get('run-1-ratio').draw().getOption();
    return { points: o.series.filter((s) => s.type === 'scatter').reduce((n, s) => n + s.data.length, 0), line: o.series.some((s) => s.markLine?.data?.[0]?.yAxis === 1), band: o.series.filter((s) => s.areaStyle?.opacity > 0).length, looks: o.series.find((s) => s.id === 'ratio-1').data.length };
  });
  assert.deepEqual(drawn, { points: 24, line: true, band: 1, looks: 4 });
});

test('several sides have a forest plot, failed executions a row', async () => {
  const tab = await open(duets(4, 5));
  const rows = await tab.page.evaluate(() => window.tare.charts.get('run-4-forest').draw().getOption().yAxis[0].data);
  assert.deepEqual(rows, ['new', 'newer', 'newest']);
  await tab.page.locator('#run-5 summary', { hasText: 'Every execution' }).click();
  assert.match(await text(tab, '#run-5 table'), /PT net/);
  assert.match(await text(tab, '#run-5 .figures'), /2 more failed/);
  await shot(tab, 'duet-several');
  quiet(tab);
});

test('duets of the same two are taken together', async () => {
  const tab = await open(duets(1, 8, 9));
  assert.match(await text(tab, '#compared-0'), /over 3 runs/);
  const rows = await tab.page.evaluate(() => window.tare.charts.get('duets-forest').draw().getOption().yAxis[0].data);
  assert.deepEqual(rows, ['run 1: new / old', 'run 8: new / old', 'run 9: new / old', 'all runs']);
  await shot(tab, 'duets');
  quiet(tab);
});

test('few pairs, a gate and hostile names', async () => {
  const doc = duets(6, 10);
  for (const section of doc.sections) section.duet.sides.forEach((side, i) => { side.name = HOSTILE[i % HOSTILE.length]; });
  const tab = await open(doc);
  assert.match(await text(tab, '#run-6 .verdict >> nth=0'), /Slower/);
  assert.match(await text(tab, '#run-10'), /at least 3 are needed/);
  quiet(tab);
});
