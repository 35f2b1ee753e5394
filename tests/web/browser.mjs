// What the tests of pages share: Debian's Chromium, a page made of a document (or one that tare wrote), and what is asked of each.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const need = createRequire(path.join(ROOT, 'web/package.json'));
const { chromium } = need('playwright-core');
const AXE = fs.readFileSync(need.resolve('axe-core/axe.min.js'), 'utf8');

export const SHOTS = process.env.TARE_WEB_SHOTS ?? path.join(os.tmpdir(), 'tare-web-shots');
fs.mkdirSync(SHOTS, { recursive: true });
export const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'tare-web-'));
process.on('exit', () => fs.rmSync(scratch, { recursive: true, force: true }));

let browser = null;
export async function start() {
  browser ??= await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--force-color-profile=srgb', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
  });
  return browser;
}
export async function stop() {
  await browser?.close();
  browser = null;
}

/** The built page with this document in it, as src/report/page.c puts it there. */
export function html(doc) {
  const page = fs.readFileSync(path.join(ROOT, 'web/dist/page.html'), 'utf8');
  const text = JSON.stringify(doc).replaceAll('<', '\\u003c');
  assert.equal(page.split('TARE-DOCUMENT').length, 2, 'the page has one place for its document');
  return page.replace('TARE-DOCUMENT', () => text);
}

let files = 0;
/** A tab with the document (an object), the file (a path) or the address in it. Whatever it says on its console or asks the network for is kept. */
export async function open(what, { width = 1280, height = 800, dark = false } = {}) {
  await start();
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light', acceptDownloads: true });
  const page = await context.newPage();
  const said = [];
  const asked = [];
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) said.push(`${message.type()}: ${message.text()}`); });
  page.on('pageerror', (error) => said.push(`error: ${error.stack ?? error}`));
  page.on('request', (request) => asked.push(request.url()));
  let url = what;
  if (typeof what === 'object') {
    const file = path.join(scratch, `${++files}.html`);
    fs.writeFileSync(file, html(what));
    url = pathToFileURL(file).href;
  } else if (!/^[a-z]+:/.test(what)) {
    url = pathToFileURL(path.resolve(what)).href;
  }
  const begun = Date.now();
  await page.goto(url, { waitUntil: 'load' });
  return { page, context, said, asked, url, loaded_ms: Date.now() - begun, close: () => context.close() };
}

/** Nothing on the console, nothing asked of anybody but the file itself. */
export function quiet(tab) {
  assert.deepEqual(tab.said, [], 'the console is silent');
  const others = tab.asked.filter((url) => url !== tab.url && !url.startsWith('data:') && !url.startsWith('blob:') && url.split('#')[0] !== tab.url.split('#')[0]);
  assert.deepEqual(others, [], 'no request leaves the file');
}

/** Every chart is drawn, with data, and has something on its canvas. Gives their names. */
export async function chartsDraw(tab, atLeast = 1) {
  const found = await tab.page.evaluate(() => {
    window.tare.drawAll();
    return [...window.tare.charts].map(([name, handle]) => {
      const chart = handle.chart();
      const series = (chart?.getOption().series ?? []).map((s) => (s.data ?? []).length);
      let colours = 0;
      const canvas = handle.element.querySelector('canvas');
      if (canvas?.width) {
        const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        const seen = new Set();
        for (let i = 0; i < pixels.length && seen.size < 8; i += 4) if (pixels[i + 3]) seen.add((pixels[i] << 16) | (pixels[i + 1] << 8) | pixels[i + 2]);
        colours = seen.size;
      }
      return { name, points: series.reduce((a, b) => a + b, 0), colours, ready: !!chart };
    });
  });
  assert.ok(found.length >= atLeast, `${found.length} charts of at least ${atLeast}`);
  for (const chart of found) {
    assert.ok(chart.ready, `${chart.name} is drawn`);
    assert.ok(chart.points > 0, `${chart.name} has data`);
    assert.ok(chart.colours >= 2, `${chart.name} shows something`);
  }
  return found.map((chart) => chart.name);
}

/** axe finds nothing serious or critical. */
export async function accessible(tab) {
  await tab.page.evaluate(AXE);
  const found = await tab.page.evaluate(async () => (await window.axe.run(document, { resultTypes: ['violations'] })).violations
    .filter((v) => v.impact === 'serious' || v.impact === 'critical')
    .map((v) => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.target.join(' ')).join(' | ')}`));
  assert.deepEqual(found, [], 'axe finds nothing serious');
}

/** Tab reaches everything that can be used, and leaves it again. */
export async function keyboardReaches(tab, most = 600) {
  const count = await tab.page.evaluate(() => {
    const all = [...document.querySelectorAll('a[href], button:not(:disabled), input:not(:disabled), select, textarea, summary, [tabindex="0"]')]
      .filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest('[hidden]'));
    all.forEach((e) => e.setAttribute('data-unreached', ''));
    document.body.setAttribute('tabindex', '-1');
    document.body.focus();
    document.addEventListener('focusin', (event) => event.target.removeAttribute('data-unreached'));
    return all.length;
  });
  for (let i = 0; i < Math.min(count + 10, most); i++) await tab.page.keyboard.press('Tab');
  if (count + 10 > most) return;
  const left = await tab.page.evaluate(() => [...document.querySelectorAll('[data-unreached]')].map((e) => e.outerHTML.slice(0, 120)));
  assert.deepEqual(left, [], 'Tab reaches everything');
}

/** Nothing is wider than the window: the page itself never scrolls sideways. */
export async function fits(tab) {
  const [inner, outer] = await tab.page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(inner <= outer + 1, `${inner} px in a window of ${outer}`);
}

/** A picture of the whole page, for looking at. */
export async function shot(tab, name) {
  await tab.page.evaluate(() => window.tare?.drawAll());
  await tab.page.waitForTimeout(150);
  await tab.page.screenshot({ path: path.join(SHOTS, `${name}.png`), fullPage: true });
}

/** What every page has to stand: wide and narrow, light and dark, by keyboard, for axe; its pictures are NAME-wide, -narrow, -dark. */
export async function everything(doc, name, charts = 1) {
  const wide = await open(doc);
  await chartsDraw(wide, charts);
  await shot(wide, `${name}-wide`);
  await accessible(wide);
  await fits(wide);
  await keyboardReaches(wide);
  quiet(wide);
  await wide.close();
  for (const [suffix, options] of [['narrow', { width: 390, height: 844 }], ['dark', { dark: true }]]) {
    const tab = await open(doc, options);
    await chartsDraw(tab, charts);
    await shot(tab, `${name}-${suffix}`);
    await accessible(tab);
    await fits(tab);
    quiet(tab);
    await tab.close();
  }
}

// Names that a page must show as text, whatever it is of.
export const HOSTILE = [
  '</script><script>window.hacked=1</script>', '"><img src=x onerror="window.hacked=1">', "'; DROP TABLE runs; --", '\u202egnp.exe\u202c', '<!-- <![CDATA[', '${window.hacked=1}',
  '{{constructor.constructor("window.hacked=1")()}}', '=HYPERLINK("http://example.invalid")', `${'long '.repeat(2048)}end`, '\u0000\u0007\u001b[31m', '👩‍👩‍👧‍👦 ünïcödé עברית',
];
// The same in few pages: all in one name, and the long one.
export const HOSTILE_AT_ONCE = [HOSTILE.filter((name) => name.length < 100).join(' '), HOSTILE.find((name) => name.length >= 100)];
export async function notHacked(tab) {
  assert.equal(await tab.page.evaluate(() => window.hacked), undefined, 'a name was run as script');
  assert.equal(await tab.page.evaluate(() => document.querySelectorAll('#tare img').length), 0, 'a name became markup');
}
