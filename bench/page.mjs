// node page.mjs MANY.html STACKS.html ROUNDS: how long until a page can be used, and how long what one does with it takes.
import fs from 'node:fs';
import { open, stop } from '../tests/web/browser.mjs';

const [many, stacks, rounds] = [process.argv[2], process.argv[3], Number(process.argv[4] ?? 5)];
const say = (what, list) => {
  const sorted = [...list].sort((a, b) => a - b);
  console.log(`${what}: median ${sorted[sorted.length >> 1].toFixed(0)} ms (${sorted[0].toFixed(0)} to ${sorted.at(-1).toFixed(0)}, n = ${sorted.length})`);
  return sorted[sorted.length >> 1];
};
let bad = fs.statSync(many).size >= 15e6 || fs.statSync(stacks).size >= 15e6;

// Usable: the charts that a window shows are drawn, a key zooms, and the picture that follows has been painted.
const painted = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const opened = [];
const zoomed = [];
for (let i = 0; i < rounds; i++) {
  const begun = performance.now();
  const tab = await open(many, { fresh: true });
  await tab.page.waitForFunction(() => [...window.tare.charts.values()].some((handle) => handle.chart()));
  await painted(tab.page);
  opened.push(performance.now() - begun);
  const chart = tab.page.locator('figure [role="img"]').first();
  await chart.focus();
  const before = performance.now();
  await tab.page.keyboard.press('+');
  await painted(tab.page);
  zoomed.push(performance.now() - before);
  if (tab.said.length) console.log(tab.said.join('\n'));
  await tab.close();
}
bad = say('100,000 executions: open until its charts are drawn', opened) >= 2000 || bad;
say('  zoom by a key until it is painted', zoomed);

const flames = [];
const flameOpened = [];
for (let i = 0; i < rounds; i++) {
  const begun = performance.now();
  const tab = await open(stacks, { fresh: true });
  await tab.page.waitForFunction(() => window.tare.flames?.size > 0);
  await painted(tab.page);
  flameOpened.push(performance.now() - begun);
  flames.push(...await tab.page.evaluate(async () => {
    const handle = [...window.tare.flames.values()][0];
    const took = [];
    for (const node of [0, 1, 2, 5, 20, 0]) {
      const before = performance.now();
      handle.zoom(node);
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      took.push(performance.now() - before);
    }
    return took;
  }));
  await tab.close();
}
say('50,000 stacks: open', flameOpened);
bad = say('  a zoom until it is painted', flames) >= 100 || bad;
await stop();
process.exit(bad ? 1 : 0);
