// What holds for every page, whatever is in it.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { document_, machine } from './documents.mjs';
import { accessible, fits, html, HOSTILE_AT_ONCE, keyboardReaches, notHacked, open, quiet, shot, stop } from './browser.mjs';

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
  for (const name of HOSTILE_AT_ONCE) {
    const m = machine(name);
    m.facts[name] = name;
    m.findings[0].condition = name;
    m.findings[0].remedy = name;
    const tab = await open(document_([], { title: name, machines: [m] }));
    await tab.page.locator('summary', { hasText: 'All facts' }).click();
    await notHacked(tab);
    await fits(tab);
    quiet(tab);
    await tab.close();
  }
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
