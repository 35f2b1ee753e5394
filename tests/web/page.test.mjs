// What holds for every page, whatever is in it.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { document_, machine, numbered, sample } from './documents.mjs';
import { accessible, fits, html, HOSTILE, keyboardReaches, open, quiet, shot, shown, stop } from './browser.mjs';

after(stop);

test('a page has a policy that allows its own script and nothing else', async () => {
  const text = html(document_([]));
  const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(text)[1];
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /script-src 'sha256-[^']+'(;|$)/);
  assert.doesNotMatch(policy, /unsafe/);
  assert.doesNotMatch(text.replace(/<script>[\s\S]*?<\/script>/g, ''), /(src|href)="http/);
});

test('a document without sections shows its machine', async () => {
  const tab = await open(document_([]));
  assert.equal(await tab.page.locator('h2').first().textContent(), 'testhost');
  await accessible(tab);
  await keyboardReaches(tab);
  quiet(tab);
  await shot(tab, 'machine-wide');
  await tab.close();
});

test('machines and facts with hostile names are text', async () => {
  const machines = HOSTILE.map((name, i) => {
    const m = machine(name);
    m.facts = Object.fromEntries([...Object.entries(m.facts), [name, HOSTILE.at(i - 1)]]);
    m.findings[0].condition = HOSTILE.at(i - 2);
    m.findings[0].remedy = HOSTILE.at(i - 3);
    return m;
  });
  const tab = await open(document_([], { title: HOSTILE[0], machines }));
  await shown(tab, ...HOSTILE);
  for (const summary of await tab.page.locator('summary', { hasText: 'All facts' }).all()) await summary.click();
  await shown(tab, ...HOSTILE);
  await fits(tab);
  quiet(tab);
  await tab.close();
});

test('one machine at several moments is one section, with what differs told by run', async () => {
  const moments = [['0.5', 'warn'], ['9.5', 'warn'], ['0.1', 'ok']].map(([load, severity]) => ({
    ...machine(), facts: { ...machine().facts, 'now.load.1': load },
    findings: [...machine().findings, { id: 'load', severity, condition: `The load is ${load}`, effect: severity === 'ok' ? '' : 'waits', remedy: '', command: false, source: 'tare' }],
  }));
  const sections = [[3, 0], [4, 1], [5, 2], [6, 1]].map(([number, at]) => ({ ...numbered(sample('noises').sections[0], number), notes: ['Nothing is stored.'], machine: at, noise: null, charts: {} }));
  const tab = await open(document_(sections, { machines: [...moments, { ...machine(), fingerprint: 'fedcba9876543210' }] }));
  assert.deepEqual(await tab.page.locator('nav').first().locator('a[href^="#machine-"]').allTextContents(), ['testhost (machine 1)', 'testhost (machine 2)']);
  assert.deepEqual(await tab.page.locator('.section-head a').evaluateAll((list) => list.map((a) => a.getAttribute('href'))), Array(4).fill('#machine-0'));
  assert.deepEqual(await tab.page.locator('section[id^="machine-"]').evaluateAll((list) => list.map((s) => s.id)), ['machine-0', 'machine-3']);
  const found = await tab.page.locator('#machine-0 .card tbody').first().locator('tr').allInnerTexts();
  assert.equal(found.length, 3);
  assert.match(found[0], /bad\s+turbo\s+turbo is on/, 'what holds always is said without a run');
  assert.match(found[1], /load\s+run 3: The load is 0\.5\s+run 4, run 6: The load is 9\.5\s+waits/);
  await tab.page.locator('#machine-0 summary', { hasText: 'no answer' }).click();
  assert.match(await tab.page.locator('#machine-0 details').first().innerText(), /run 5: The load is 0\.1/);
  await tab.page.locator('#machine-0 summary', { hasText: 'All facts (4, 1 of which were not always the same)' }).click();
  const facts = (await tab.page.locator('#machine-0 > details tbody tr').allInnerTexts()).map((row) => row.trim().split(/\s*\t\s*/));
  assert.deepEqual(facts.filter(([key]) => /load|release/.test(key)), [['kernel.release', '6.18', 'all'], ['now.load.1', '0.5', 'run 3'], ['now.load.1', '9.5', 'run 4, run 6'], ['now.load.1', '0.1', 'run 5']]);
  await fits(tab);
  quiet(tab);
  await tab.close();
});

test('a page that was cut says so', async () => {
  const tab = await open(document_([]));
  const damaged = tab.url.replace(/[^/]+$/, 'cut.html').replace('file://', '');
  const fs = await import('node:fs');
  fs.writeFileSync(damaged, html(document_([])).replace('"type":"page"', '"type":'));
  const cut = await open(damaged);
  assert.match(await cut.page.textContent('main'), /damaged/);
  await cut.close();
  await tab.close();
});

test('colours can be chosen', async () => {
  const tab = await open(document_([]));
  const before = await tab.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await tab.page.selectOption('select[aria-label="colours"]', 'dark');
  const after_ = await tab.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.notEqual(before, after_);
  await accessible(tab);
  await tab.close();
});

test('characters that nobody sees are shown, and none is cut in two', async () => {
  const m = machine('a\u061cb\u2028c\u200bd\u2060e');
  const tab = await open(document_([], { title: '👩'.repeat(200), machines: [m] }));
  assert.match(await tab.page.textContent('h2'), /a\\u061cb\\u2028c\\u200bd\\u2060e/);
  const title = await tab.page.textContent('h1');
  assert.ok(title.isWellFormed?.() ?? !/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(title), title);
  quiet(tab);
  await tab.close();
});

test('every colour of a series stands out from the card', async () => {
  for (const dark of [false, true]) {
    const tab = await open(document_([]), { dark });
    const colours = await tab.page.evaluate(() => {
      const style = getComputedStyle(document.documentElement);
      return ['card', ...Array.from({ length: 12 }, (_, i) => `series-${i}`)].map((n) => style.getPropertyValue(`--${n}`).trim());
    });
    const light = (hex) => [1, 3, 5].map((i) => parseInt(hex === '#fff' ? 'ff' : hex.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
      .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const card = light(colours[0]);
    colours.slice(1).forEach((colour, i) => {
      const [a, b] = [light(colour), card].sort((x, y) => y - x);
      assert.ok((a + 0.05) / (b + 0.05) >= 3, `series ${i}, ${colour}: ${(a + 0.05) / (b + 0.05)}`);
    });
    await tab.close();
  }
});
