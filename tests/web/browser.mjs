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

export const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'tare-web-'));
process.on('exit', () => fs.rmSync(scratch, { recursive: true, force: true }));
// Pictures for looking at are made when there is a place for them. All of them take as long as everything else: those of each page, wide and narrow, do unless more are asked for.
const LOOKED_AT = process.env.TARE_WEB_SHOTS_DIR;
const EVERY = process.env.TARE_WEB_SHOTS === 'all';
export const SHOTS = LOOKED_AT || scratch;
fs.mkdirSync(SHOTS, { recursive: true });

let browser = null;
let context = null;
let idle = []; // pages that were closed: a page that opens in one of them starts in half the time
export async function start() {
  browser ??= await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--force-color-profile=srgb', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
  });
  context ??= await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'light', acceptDownloads: true });
  return browser;
}
export async function stop() {
  await browser?.close();
  browser = context = null;
  idle = [];
}

let parts = null; // of the page: before its document, and after it
/** The built page with this document in it, as src/report/page.c puts it there. */
export function html(doc) {
  parts ??= fs.readFileSync(path.join(ROOT, 'web/dist/page.html'), 'utf8').split('TARE-DOCUMENT');
  assert.equal(parts.length, 2, 'the page has one place for its document');
  return parts[0] + JSON.stringify(doc).replaceAll('<', '\\u003c') + parts[1];
}

let files = 0;
/** A tab with the document (an object), the file (a path) or the address in it. Whatever it says on its console or asks the network for is kept.
 * fresh: nothing of an earlier one helps it, as bench wants it. */
export async function open(what, { width = 1280, height = 800, dark = false, fresh = false } = {}) {
  await start();
  const page = fresh ? await browser.newPage({ viewport: { width, height } }) : idle.pop() ?? await context.newPage();
  const now = page.viewportSize();
  if (now.width !== width || now.height !== height) await page.setViewportSize({ width, height });
  if (dark) await page.emulateMedia({ colorScheme: 'dark' });
  const said = [];
  const asked = [];
  const listeners = {
    console: (message) => { if (['error', 'warning'].includes(message.type())) said.push(`${message.type()}: ${message.text()}`); },
    pageerror: (error) => said.push(`error: ${error.stack ?? error}`),
    request: (request) => asked.push(request.url()),
  };
  for (const [event, listener] of Object.entries(listeners)) page.on(event, listener);
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
  const loaded_ms = Date.now() - begun;
  // the next one finds nothing of it: no storage, no listener, no size, no mouse over it
  const close = async () => {
    if (fresh) {
      await page.close();
      return;
    }
    for (const [event, listener] of Object.entries(listeners)) page.off(event, listener);
    await page.evaluate(() => { localStorage.clear(); sessionStorage.clear(); });
    await page.goto('about:blank');
    await page.mouse.move(0, 0);
    await page.emulateMedia({ media: null, colorScheme: 'light' });
    idle.push(page);
  };
  return { page, context: page.context(), said, asked, url, loaded_ms, close };
}

/** One tab for several tests of the same document, drawn: each uses what no other does, or leaves it as it was. */
export function shared(make) {
  let tab = null;
  return async () => {
    if (!tab) {
      tab = await open(make());
      await chartsDraw(tab);
    }
    return tab;
  };
}

/** What a button saves: the file's name, and its lines. */
export async function csvOf(tab, press) {
  const [file] = await Promise.all([tab.page.waitForEvent('download'), press()]);
  return { name: file.suggestedFilename(), lines: fs.readFileSync(await file.path(), 'utf8').trimEnd().split('\r\n') };
}

/** Each of these buttons in turn, as they are by then: rows are made anew by a click. */
export const clickEach = (tab, selector, most = 100) => tab.page.evaluate(([where, end]) => {
  for (let i = 0; i < Math.min(end, document.querySelectorAll(where).length); i++) document.querySelectorAll(where)[i].click();
}, [selector, most]);

/** Nothing on the console, nothing asked of anybody but the file itself. */
export function quiet(tab) {
  assert.deepEqual(tab.said, [], 'the console is silent');
  const others = tab.asked.filter((url) => url !== tab.url && !url.startsWith('data:') && !url.startsWith('blob:') && url.split('#')[0] !== tab.url.split('#')[0]);
  assert.deepEqual(others, [], 'no request leaves the file');
}

/** Every chart is drawn, with data, and loses something when its series are taken out: axes and legends are not enough. Gives their names. */
export async function chartsDraw(tab, atLeast = 1) {
  const found = await tab.page.evaluate(() => {
    window.tare.drawAll();
    return [...window.tare.charts].map(([name, handle]) => {
      const chart = handle.chart();
      const canvases = [...handle.element.querySelectorAll('.chart canvas')];
      const [width, height] = [canvases[0]?.width ?? 0, canvases[0]?.height ?? 0];
      if (!chart || !width || !height) return { name, ready: false };
      const points = (chart.getOption().series ?? []).reduce((sum, s) => sum + (s.data ?? []).length, 0);
      // of a copy: Chromium warns about a canvas that is read again and again
      const copy = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
      const pixels = () => {
        chart.getZr().flush();
        copy.clearRect(0, 0, width, height);
        for (const canvas of canvases) copy.drawImage(canvas, 0, 0);
        return new Uint32Array(copy.getImageData(0, 0, width, height).data.buffer);
      };
      const groups = chart.getModel().getSeries().map((series) => chart.getViewOfSeriesModel(series).group);
      const whole = pixels();
      groups.forEach((group) => group.hide());
      chart.getZr().refresh();
      const without = pixels();
      groups.forEach((group) => group.show());
      chart.getZr().refresh();
      let drawn = 0;
      for (let i = 0; i < whole.length; i++) if (whole[i] !== without[i]) drawn++;
      return { name, points, drawn, ready: true };
    });
  });
  assert.ok(found.length >= atLeast, `${found.length} charts of at least ${atLeast}`);
  for (const chart of found) {
    assert.ok(chart.ready, `${chart.name} is drawn`);
    assert.ok(chart.points > 0, `${chart.name} has data`);
    assert.ok(chart.drawn >= 20, `${chart.name} shows its data: ${chart.drawn} pixels`);
  }
  return found.map((chart) => chart.name);
}

/** axe finds nothing serious or critical: in all of the page, or within a selector; by all rules, or by some. */
export async function accessible(tab, within = null, rules = null) {
  if (!await tab.page.evaluate(() => !!window.axe)) await tab.page.evaluate(AXE);
  const found = await tab.page.evaluate(async ([where, only]) => {
    const options = { resultTypes: ['violations'], preload: false, ...(only ? { runOnly: only } : {}) };
    return (await window.axe.run(where ? { include: where } : document, options)).violations
      .filter((v) => v.impact === 'serious' || v.impact === 'critical')
      .map((v) => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.target.join(' ')).join(' | ')}`);
  }, [within, rules]);
  assert.deepEqual(found, [], 'axe finds nothing serious');
}

/** Tab reaches everything that can be used. */
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
  assert.ok(count > 0 && count <= most, `${count} things to reach: give Tab a smaller page, or more than ${most}`);
  // one key after the other, but not waiting for each
  const keys = await tab.page.context().newCDPSession(tab.page);
  const Tab = { key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9 };
  for (let i = 0; i < count + 10; i += 20) {
    await Promise.all(Array.from({ length: 20 }, () => [keys.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', ...Tab }), keys.send('Input.dispatchKeyEvent', { type: 'keyUp', ...Tab })]).flat());
  }
  await keys.detach();
  const left = await tab.page.evaluate(() => [...document.querySelectorAll('[data-unreached]')].map((e) => e.outerHTML.slice(0, 120)));
  assert.deepEqual(left, [], 'Tab reaches everything');
}

/** Nothing is wider than the window: the page itself never scrolls sideways. */
export async function fits(tab) {
  const [inner, outer] = await tab.page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(inner <= outer + 1, `${inner} px in a window of ${outer}`);
}

/** Legends by keys: Tab goes from the buttons above to the first, Space takes its series out of the drawing and brings it back, and the focus stays. */
export async function legendsWork(tab) {
  const names = await tab.page.evaluate(() => [...window.tare.charts].filter(([, handle]) => handle.element.querySelector('.legend button')).map(([name]) => name));
  const drawn = (name) => tab.page.evaluate((n) => {
    const list = [];
    window.tare.charts.get(n).chart().getModel().eachSeries((series) => list.push(`${series.name}: ${series.getData().count()}`));
    return list;
  }, name);
  for (const name of names) {
    await tab.page.locator(`#${name} .legend button`).first().focus();
    await tab.page.keyboard.press('Shift+Tab');
    await tab.page.keyboard.press('Tab');
    const first = await tab.page.evaluate((n) => {
      const b = document.activeElement;
      return b.closest('figure')?.id === n && b.closest('.legend') ? [b.getAttribute('aria-pressed'), b.textContent, getComputedStyle(b).outlineStyle] : null;
    }, name);
    assert.ok(first, `Tab reaches the legend of ${name}`);
    assert.deepEqual([first[0], first[2]], ['true', 'solid'], `${name}: it is shown, and the focus is seen`);
    const all = await drawn(name);
    await tab.page.keyboard.press('Space');
    const fewer = await drawn(name);
    assert.notDeepEqual(fewer, all, `${name}: Space hides ${first[1]}`);
    assert.equal(await tab.page.evaluate(() => document.activeElement.getAttribute('aria-pressed')), 'false', `${name}: it says so, and keeps the focus`);
    await tab.page.keyboard.press('Space');
    assert.deepEqual(await drawn(name), all, `${name}: Space brings ${first[1]} back`);
  }
  return names;
}

/** Whatever is zoomed to is in sight afterwards, too. */
export async function zoomsStay(tab, while_) {
  const zooms = () => tab.page.evaluate(() => [...window.tare.charts].flatMap(([name, handle]) => (handle.chart().getOption().dataZoom ?? []).map((z, i) => [name, i, z.start, z.end])));
  const zoom = async (list) => {
    await tab.page.evaluate((all) => { for (const [name, dataZoomIndex, start, end] of all) window.tare.charts.get(name).chart().dispatchAction({ type: 'dataZoom', dataZoomIndex, start, end }); }, list);
    await tab.page.waitForTimeout(120); // those that tell others do so a little later
  };
  const before = await zooms();
  await zoom(before.map(([name, i]) => [name, i, 20, 60]));
  const rounded = async () => (await zooms()).map(([name, i, start, end]) => `${name} ${i}: ${Math.round(start)} to ${Math.round(end)}`);
  const near = await rounded();
  await while_();
  assert.deepEqual(await rounded(), near, 'zooms stay');
  await zoom(before);
}

/** On paper: every row of a table up to 500, nothing wider than the sheet, nothing beneath the edge of a box that scrolls. */
export async function prints(tab) {
  const size = tab.page.viewportSize();
  await tab.page.emulateMedia({ media: 'print' });
  await tab.page.setViewportSize({ width: 688, height: 970 }); // A4 within its margins
  await tab.page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  const found = await tab.page.evaluate(() => {
    const seen = (e) => e.checkVisibility();
    const right = document.querySelector('main').getBoundingClientRect().right + 1;
    return {
      wide: [...document.querySelectorAll('main table, main canvas, main p, main dl, main pre')].filter(seen).filter((e) => e.getBoundingClientRect().right > right).map((e) => `${e.closest('[id]').id}: ${e.tagName} ends at ${Math.round(e.getBoundingClientRect().right)} of ${Math.round(right)}`),
      cut: [...document.querySelectorAll('main .scroll')].filter(seen).filter((e) => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== 'visible').map((e) => e.getAttribute('aria-label')),
      few: [...document.querySelectorAll('main .table')].filter(seen).map((e) => {
        const told = /of ([\d,]+)$/.exec(e.querySelector('[aria-live]').textContent);
        return told && e.querySelectorAll('tbody tr').length !== Math.min(500, Number(told[1].replaceAll(',', ''))) ? e.querySelector('caption').textContent : null;
      }).filter(Boolean),
      buttons: [...document.querySelectorAll('main .tools, main .pager')].filter(seen).length,
    };
  });
  assert.deepEqual(found, { wide: [], cut: [], few: [], buttons: 0 });
  await fits(tab);
  await tab.page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
  await tab.page.emulateMedia({ media: null });
  await tab.page.setViewportSize(size);
}

/** A picture for looking at: of the whole page, or of the window. */
export async function shot(tab, name, fullPage = true) {
  if (!LOOKED_AT || (!EVERY && !/-(wide|narrow)$/.test(name))) return;
  await tab.page.evaluate(() => window.tare?.drawAll());
  await painted(tab);
  await tab.page.screenshot({ path: path.join(SHOTS, `${name}.png`), fullPage });
}

/** What was asked for is on the screen. */
export const painted = (tab) => tab.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** What every page has to stand: wide and narrow, light and dark, on paper, by keyboard, for axe; its pictures are NAME-wide, -narrow, -dark.
 * again: another page had the same controls, so that keys need not walk through them, nor contrasts be seen in the dark. also: more that is asked of it, meanwhile. */
export async function everything(doc, name, charts = 1, { again = false, also = async () => {} } = {}) {
  const tab = await open(doc);
  const names = await chartsDraw(tab, charts);
  await shot(tab, `${name}-wide`);
  await accessible(tab);
  await fits(tab);
  await tab.page.emulateMedia({ colorScheme: 'dark' });
  await painted(tab);
  const colours = await tab.page.evaluate(() => [getComputedStyle(document.documentElement).getPropertyValue('--text').trim(), ...[...window.tare.charts.values()].map((handle) => handle.chart().getOption().textStyle.color)]);
  assert.deepEqual([...new Set(colours)], [colours[0]], 'charts follow the colours of the page');
  await shot(tab, `${name}-dark`);
  if (!again) await accessible(tab, null, ['color-contrast']);
  await tab.page.emulateMedia({ colorScheme: 'light' });
  await tab.page.setViewportSize({ width: 390, height: 844 });
  await tab.page.waitForFunction(() => [...window.tare.charts.values()].every((handle) => handle.chart().getWidth() <= 390));
  await fits(tab);
  await shot(tab, `${name}-narrow`);
  await tab.page.setViewportSize({ width: 1280, height: 800 });
  if (!again) {
    await keyboardReaches(tab);
    assert.ok((await legendsWork(tab)).length > 0, 'it has legends');
  }
  await zoomsStay(tab, () => prints(tab));
  await also(tab, names);
  quiet(tab);
  await tab.close();
}

// Names that a page must show as text, whatever it is of.
export const HOSTILE = [
  '</script><script>window.hacked=1</script>', '"><img src=x onerror="window.hacked=1">', "'; DROP TABLE runs; --", '\u202egnp.exe\u202c', '<!-- <![CDATA[', '${window.hacked=1}',
  '{{constructor.constructor("window.hacked=1")()}}', '=HYPERLINK("http://example.invalid")', `${'long '.repeat(2048)}end`, '\u0000\u0007\u001b[31m', '👩‍👩‍👧‍👦 ünïcödé עברית',
  '{b} {a|x} {c}', '__proto__', 'constructor', 'hasOwnProperty', '%s %d', '\u061cmark\u2028line',
];

let tags = null;
/** Every element is one that the page itself makes: read from its sources, since a name may become any other. */
export async function notHacked(tab) {
  if (!tags) {
    const source = path.join(ROOT, 'web/src');
    const text = fs.readdirSync(source, { recursive: true }).filter((name) => name.endsWith('.ts')).map((name) => fs.readFileSync(path.join(source, name), 'utf8')).join('\n');
    tags = [...new Set([...text.matchAll(/\bh\('([a-z0-9]+)'/g)].map((match) => match[1].toUpperCase()))];
    assert.ok(tags.includes('DIV') && !tags.includes('IMG') && !tags.includes('SCRIPT'));
  }
  const found = await tab.page.evaluate((known) => ({
    hacked: window.hacked, scripts: document.scripts.length,
    tags: [...new Set([...document.querySelectorAll('#tare *')].map((e) => e.tagName).filter((tag) => !known.includes(tag)))],
    handlers: [...document.querySelectorAll('#tare *')].filter((e) => e.getAttributeNames().some((a) => a.startsWith('on') || a === 'src' || (a === 'href' && /^(?!#|https?:)/.test(e.getAttribute(a))))).map((e) => e.outerHTML.slice(0, 120)),
  }), tags);
  assert.equal(found.hacked, undefined, 'a name was run as script');
  assert.deepEqual(found.tags, [], 'a name became markup');
  assert.deepEqual(found.handlers, [], 'a name became an attribute');
}

/** These names are on the page, as text: whole, or without their middle, with characters that turn a line or end it shown as what they are. */
export async function shown(tab, ...names) {
  await notHacked(tab);
  // what is beside it is the document and the script
  const text = await tab.page.evaluate(() => [...document.body.children].filter((e) => !['SCRIPT', 'NOSCRIPT', 'STYLE'].includes(e.tagName)).map((e) => e.textContent).join('\n'));
  const [raw] = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/.exec(text) ?? [null];
  assert.equal(raw && `U+${raw.charCodeAt(0).toString(16)} in ${JSON.stringify(text.slice(Math.max(0, text.indexOf(raw) - 30), text.indexOf(raw) + 30))}`, null, 'a control character is obeyed');
  const plain = (any) => any.replace(/\\u[0-9a-f]{4}/g, '').replace(/[\p{Cc}\p{Cf}\s]+/gu, '');
  const all = plain(text);
  const cut = [...all.matchAll(/…/g)].map((match) => match.index);
  const missing = names.filter((name) => {
    const whole = plain(name);
    if (all.includes(whole)) return false;
    return !cut.some((at) => {
      // how much of it a place has room for differs
      const some = (from, to, fits_) => Array.from({ length: to - from }, (_, n) => from + n).some(fits_);
      return some(8, 120, (n) => whole.startsWith(all.slice(at - n, at))) && some(5, 80, (n) => whole.endsWith(all.slice(at + 1, at + 1 + n)));
    });
  });
  assert.deepEqual(missing.map((name) => name.slice(0, 100)), [], 'names that are not shown');
}
