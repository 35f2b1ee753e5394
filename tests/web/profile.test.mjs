// The page of `tare profile`: flame graph, tables, machine code, and two profiles compared.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, test } from 'node:test';
import { eventually } from './charts.mjs';
import { document_, largeProfile, numbered, sample } from './documents.mjs';
import { accessible, chartsDraw, clickEach, everything, fits, HOSTILE, keyboardReaches, open, painted, quiet, shot, shown, stop } from './browser.mjs';

after(stop);

const smallDocument = () => document_(sample('profiles').sections.slice(0, 1));
const diffDocument = () => document_(sample('profiles').sections, { comparisons: sample('profiles').comparisons });

/** The same tree with its nodes in another order: the last child first. */
function turned(tree) {
  const order = [];
  const visit = (node) => {
    order.push(node);
    for (let i = tree.parent.length - 1; i > 0; i--) if (tree.parent[i] === node) visit(i);
  };
  visit(0);
  const column = (name) => order.map((i) => tree[name][i]);
  return { ...tree, name: column('name'), object: column('object'), self: column('self'), kind: column('kind'), parent: column('parent').map((p) => (p < 0 ? p : order.indexOf(p))) };
}

/** One stack as deep as can be kept, of which a screen shows a part; and many slices. */
function deepDocument(depth = 600) {
  const section = numbered(sample('profiles').sections[0], 6, 'a deep one');
  const names = ['all', 'database', 'main', ...Array.from({ length: depth }, (_, i) => `recursive_${i}`)];
  section.tree = {
    names, where: section.tree.where, name: names.map((_, i) => i), object: names.map((_, i) => (i < 2 ? -1 : 0)), parent: names.map((_, i) => i - 1),
    self: names.map((_, i) => (i === 2 ? 100000 : i === names.length - 1 ? 500000 : 0)), kind: names.map((_, i) => Math.min(i, 2)),
  };
  const { slices } = section;
  for (const [name, values] of Object.entries(slices)) slices[name] = Array.from({ length: 3000 }, (_, i) => (name === 'at_ms' ? i * 500 : values[i % values.length]));
  return document_([section]);
}

function hostileDocument() {
  const doc = diffDocument();
  const name = (i) => HOSTILE[i % HOSTILE.length];
  for (const { tree, listings, profile } of doc.sections) {
    tree.names = tree.names.map((_, i) => name(i));
    tree.where = tree.where.map((_, i) => name(i + 3));
    for (const [i, l] of listings.entries()) {
      Object.assign(l.function, { name: name(i), object: name(i + 1), file: name(i + 2) });
      l.instructions.forEach((x, k) => Object.assign(x, { text: name(k), source: name(k + 1), file: name(k + 2) }));
    }
    for (const view of profile.views) view.rows = Array.from({ length: 2 * HOSTILE.length }, (_, i) => ({ ...view.rows[i % view.rows.length], name: name(i), function: name(i), app: name(i + 1), object: name(i + 2), comm: name(i), container: name(i) }));
  }
  Object.assign(doc.sections[0], { title: name(0), subtitle: name(1), tags: name(3), notes: [name(8)] });
  doc.comparisons[0].diff.rows.forEach((r, i) => Object.assign(r, { name: name(i), object: name(i + 2) }));
  return { ...doc, title: name(0) };
}

/** What is on a flame graph's canvas: its colours within a rectangle (of a node, or all of it). */
function colours(tab, name, node = null) {
  return tab.page.evaluate(([flame, at]) => {
    window.tare.drawAll();
    const handle = window.tare.flames.get(flame);
    const canvas = handle.element.querySelector('canvas');
    const ratio = canvas.width / canvas.clientWidth;
    const box = at === null ? { x: 0, y: 0, width: canvas.clientWidth, height: canvas.clientHeight } : handle.rectangle(at);
    const [x, y, w, h] = [Math.ceil(box.x * ratio), Math.ceil(box.y * ratio), Math.max(1, Math.floor(box.width * ratio) - 2), Math.floor(box.height * ratio)];
    // of a copy: Chromium warns about a canvas that is read again and again
    const copy = new OffscreenCanvas(w, h).getContext('2d', { willReadFrequently: true });
    copy.drawImage(canvas, -x, -y);
    const { data } = copy.getImageData(0, 0, w, h);
    const seen = new Map();
    for (let i = 0; i < data.length; i += 4) {
      if (!data[i + 3]) continue;
      const colour = `${data[i]},${data[i + 1]},${data[i + 2]}`;
      seen.set(colour, (seen.get(colour) ?? 0) + 1);
    }
    return [...seen].sort((a, b) => b[1] - a[1]).map(([colour]) => colour);
  }, [name, node]);
}
const main = async (...args) => (await colours(...args))[0].split(',').map(Number);

/** The first node with this name. */
function nodeOf(tab, name, text) {
  return tab.page.evaluate(([flame, wanted]) => {
    const { data } = window.tare.flames.get(flame);
    return data.name.findIndex((n) => data.tree.names[n] === wanted);
  }, [name, text]);
}
const state = (tab, name) => tab.page.evaluate((flame) => {
  const f = window.tare.flames.get(flame);
  return {
    zoomed: f.data.text(f.zoomed), focused: f.data.text(f.focused), drawn: f.drawn, found: f.element.querySelector('.flame-found').textContent, status: f.element.querySelector('.flame-status').textContent,
    crumbs: [...f.element.querySelectorAll('.crumbs li')].map((li) => li.textContent),
  };
}, name);

test('a page of a profile stands what every page has to', () => everything(smallDocument(), 'profile', 1));
test('a page of two profiles compared stands what every page has to', () => everything(diffDocument(), 'profile-diff', 3, { again: true }));
test('a page of a profile without stacks stands what every page has to', () => everything(document_([numbered(sample('stackless').sections[0], 3)]), 'profile-stackless', 1, { again: true }));

test('a profile without samples says so', async () => {
  const tab = await open(document_([numbered(sample('parts').sections[4], 4)]));
  await tab.page.evaluate(() => window.tare.drawAll());
  assert.match(await tab.page.textContent('#run-4-flame'), /There are no samples/);
  await tab.page.evaluate(() => { const f = window.tare.flames.get('run-4-flame'); f.zoom(0); f.zoom(7); f.search('/x/'); f.redraw(); });
  await accessible(tab);
  await keyboardReaches(tab);
  quiet(tab);
  await shot(tab, 'profile-empty');
  await tab.close();
});

test('the flame graph draws every kind in its colour, in the right place', async () => {
  const tab = await open(smallDocument());
  const flame = 'run-1-flame';
  assert.ok((await colours(tab, flame)).length > 8);
  const seen = new Set();
  for (const name of ['database', 'execute', 'tcp_sendmsg', 'compare_keys', 'dash+0x12f0']) seen.add((await colours(tab, flame, await nodeOf(tab, flame, name)))[0]);
  assert.equal(seen.size, 5, 'five kinds, five colours');
  const [root, app, leaf] = await tab.page.evaluate(([name]) => {
    const f = window.tare.flames.get(name);
    return [0, 1, f.data.size - 1].map((n) => f.rectangle(n));
  }, [flame]);
  assert.equal(root.x, 0);
  assert.ok(root.y > app.y && app.y > leaf.y, 'a flame grows upwards');
  assert.ok(app.width < root.width && app.width > root.width * 0.9, 'as wide as its share');
  await tab.page.click(`#${flame} button[aria-label^="icicle"]`);
  const turned = await tab.page.evaluate(([name]) => [0, 1].map((n) => window.tare.flames.get(name).rectangle(n).y), [flame]);
  assert.deepEqual(turned, [0, 18], 'an icicle grows downwards');
  assert.ok((await colours(tab, flame, 1)).length > 1);
  await shot(tab, 'profile-icicle');
  quiet(tab);
  await tab.close();
});

test('clicks, buttons and the path zoom', async () => {
  const tab = await open(smallDocument());
  const flame = 'run-1-flame';
  await tab.page.evaluate(() => window.tare.drawAll());
  const click = async (text) => {
    const node = await nodeOf(tab, flame, text);
    await tab.page.locator(`#${flame} canvas`).scrollIntoViewIfNeeded();
    const box = await tab.page.evaluate(([name, n]) => window.tare.flames.get(name).rectangle(n), [flame, node]);
    await tab.page.locator(`#${flame} canvas`).click({ position: { x: box.x + box.width / 2, y: box.y + 8 } });
  };
  await click('scan');
  let now = await state(tab, flame);
  assert.equal(now.zoomed, 'scan');
  assert.equal(now.crumbs.at(-1), 'scan');
  assert.equal(now.crumbs[0], 'all');
  assert.match(now.status, /^scan · user, in \/usr\/bin\/database · 4,600 samples, 67\.6.% of all, 83\.5.% of its caller/);
  const wide = await tab.page.evaluate(([name]) => { const f = window.tare.flames.get(name); return f.rectangle(f.zoomed).width / f.rectangle(0).width; }, [flame]);
  assert.equal(wide, 1);
  await click('btree_search');
  assert.equal((await state(tab, flame)).zoomed, 'btree_search');
  await tab.page.click(`#${flame} button:text-is("Up")`);
  assert.equal((await state(tab, flame)).zoomed, 'scan');
  await click('execute'); // a caller, beneath
  assert.equal((await state(tab, flame)).zoomed, 'execute');
  await tab.page.click(`#${flame} .crumbs button >> nth=1`);
  assert.equal((await state(tab, flame)).zoomed, 'database');
  // the run goes on, and its frames have other numbers
  await tab.page.click(`#${flame} button:text-is("Icicle")`);
  await click('scan');
  await tab.page.evaluate((next) => { window.tare.show(next); window.tare.drawAll(); }, document_(sample('profiles').sections.slice(0, 1).map((s) => ({ ...s, tree: turned(s.tree) }))));
  assert.deepEqual((await state(tab, flame)).crumbs.slice(-2), ['execute', 'scan']);
  assert.equal(await tab.page.getAttribute(`#${flame} button:text-is("Icicle")`, 'aria-pressed'), 'true');
  await tab.page.click(`#${flame} button:text-is("All")`);
  assert.equal((await state(tab, flame)).zoomed, 'all');
  assert.ok(await tab.page.locator(`#${flame} button:text-is("Up")`).isDisabled());
  quiet(tab);
  await tab.close();
});

test('keys walk from frame to frame, zoom and say where one is', async () => {
  const tab = await open(smallDocument());
  const flame = 'run-1-flame';
  await tab.page.evaluate(() => window.tare.drawAll());
  await tab.page.focus(`#${flame} .flame-focus`);
  const press = async (...keys) => {
    for (const key of keys) await tab.page.keyboard.press(key);
    return state(tab, flame);
  };
  assert.equal((await press('ArrowUp')).focused, 'database');
  assert.equal((await press('ArrowRight')).focused, '[ksoftirqd]');
  assert.equal((await press('ArrowRight')).focused, 'sh');
  assert.equal((await press('ArrowRight')).focused, 'sh', 'there is no more');
  assert.equal((await press('ArrowLeft', 'ArrowLeft')).focused, 'database');
  assert.equal((await press('ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowUp')).focused, 'execute');
  const mark = await tab.page.locator(`#${flame} .flame-mark`).boundingBox();
  assert.ok(mark.width > 100, 'the frame is outlined');
  let now = await press('Enter');
  assert.equal(now.zoomed, 'execute');
  assert.match(now.status, /execute · user, in .* of its caller/);
  now = await press('ArrowDown');
  assert.equal(now.focused, 'serve');
  assert.equal(now.zoomed, 'execute', 'callers are walked to without going out');
  assert.equal((await press('Escape')).zoomed, 'serve');
  assert.equal((await press('Home')).zoomed, 'all');
  assert.equal(await tab.page.getAttribute(`#${flame} .flame-status`, 'aria-live'), 'polite');
  await tab.page.click(`#${flame} button[aria-label^="icicle"]`);
  await tab.page.focus(`#${flame} .flame-focus`);
  assert.equal((await press('ArrowDown')).focused, 'database', 'down is inward in an icicle');
  await press('/');
  assert.ok(await tab.page.evaluate(() => document.activeElement.type === 'search'));
  quiet(tab);
  await tab.close();
});

test('search counts each sample once, and says what is wrong with an expression', async () => {
  const tab = await open(smallDocument());
  const flame = 'run-1-flame';
  await tab.page.evaluate(() => window.tare.drawAll());
  const input = tab.page.locator(`#${flame} input[type=search]`);
  const field = { fill: (text) => input.fill(text).then(() => tab.page.waitForTimeout(150)), press: (key) => input.press(key), getAttribute: (name) => input.getAttribute(name) };
  const all = await tab.page.evaluate((name) => window.tare.flames.get(name).data.all, flame);
  await field.fill('BTREE');
  assert.match((await state(tab, flame)).found, /^1 name, 54\.4.% of samples$/);
  assert.equal(all, 6800);
  const matched = await main(tab, flame, await nodeOf(tab, flame, 'btree_search'));
  const other = await main(tab, flame, await nodeOf(tab, flame, 'hash_row'));
  assert.ok(Math.abs(matched[0] - matched[2]) > Math.abs(other[0] - other[2]), 'what does not match is pale');
  // both are in the same stacks
  await field.fill('/^(btree_search|compare_keys|scan)$/');
  assert.match((await state(tab, flame)).found, /^3 names, 67\.6.% of samples$/);
  await shot(tab, 'profile-search');
  await field.fill('=scan');
  assert.match((await state(tab, flame)).found, /^1 name, 67\.6/);
  await field.fill('/(/');
  assert.match((await state(tab, flame)).found, /^not a regular expression/);
  assert.equal(await field.getAttribute('aria-invalid'), 'true');
  await field.fill('/(');
  assert.match((await state(tab, flame)).found, /^nothing matches$/);
  await field.fill('compare');
  await field.press('Enter');
  assert.equal((await state(tab, flame)).focused, 'compare_keys');
  await field.press('Enter');
  assert.equal((await state(tab, flame)).focused, 'compare_rows');
  await field.press('Enter');
  assert.equal((await state(tab, flame)).focused, 'compare_keys', 'and from the begin');
  await tab.page.evaluate((name) => { const f = window.tare.flames.get(name); f.zoom(f.data.name.findIndex((n) => f.data.tree.names[n] === 'sort_rows')); }, flame);
  assert.match((await state(tab, flame)).found, /^2 names, 45\.6.% of samples, 76\.9.% of what is shown$/);
  await field.press('Escape');
  assert.equal((await state(tab, flame)).found, '');
  quiet(tab);
  await tab.close();
});

test('an expression that takes too long is refused or stopped', async () => {
  const doc = smallDocument();
  const { tree } = doc.sections[0];
  tree.names[tree.names.indexOf('scan')] = `${'a'.repeat(10000)}!`;
  const tab = await open(doc);
  const flame = 'run-1-flame';
  const found = (query) => tab.page.evaluate(([name, text]) => { const f = window.tare.flames.get(name); f.search(text); return f.element.querySelector('.flame-found').textContent; }, [flame, query]);
  await tab.page.evaluate(() => window.tare.drawAll());
  for (const query of ['/(a+)+$/', '/(a|aa)*$/', '/((a*))+x/', '/(a?){40}x/']) assert.match(await found(query), /could take forever/, query);
  for (const query of ['/^(btree|hash)_/', '/(?:a)+b/', '/[(+*]+x/', '/\\(x+\\)*z/', '/(sc|x)?y*z/']) assert.doesNotMatch(await found(query), /forever/, query);
  assert.match(await found('/^a+$/'), /^1 name/, 'the begin of a name is looked at');
  const stopped = await tab.page.evaluate((name) => {
    const { data } = window.tare.flames.get(name);
    let calls = 0;
    const m = data.search(() => { const until = performance.now() + 20; while (performance.now() < until); calls++; return true; }, 50);
    return { looked: m.looked, calls };
  }, flame);
  assert.ok(stopped.looked === stopped.calls && stopped.looked <= 3, JSON.stringify(stopped));
  quiet(tab);
  await tab.close();
});

test('of a deep one only what is scrolled to is drawn, from the root on', async () => {
  const tab = await open(deepDocument());
  const flame = 'run-6-flame';
  assert.equal((await state(tab, flame)).status, '', 'nothing is said before somebody asks');
  const look = () => tab.page.evaluate((name) => {
    window.tare.drawAll();
    const f = window.tare.flames.get(name);
    const scroll = f.element.querySelector('.flame-scroll');
    const canvas = f.element.querySelector('canvas');
    return { top: scroll.scrollTop, rest: scroll.scrollHeight - scroll.clientHeight - scroll.scrollTop, view: scroll.clientHeight, all: scroll.scrollHeight, canvas: canvas.clientHeight, pixels: canvas.height, drawn: f.drawn };
  }, flame);
  let now = await look();
  assert.equal(now.all, 603 * 18);
  assert.ok(now.rest <= 1, 'the root is in sight');
  assert.ok(now.canvas <= now.view && now.pixels <= 2 * now.view, JSON.stringify(now));
  assert.ok(now.drawn < 50);
  assert.equal((await state(tab, flame)).status, '');
  // higher than all of it, and as it was
  await tab.page.setViewportSize({ width: 1280, height: 16000 });
  await tab.page.waitForTimeout(100);
  await tab.page.setViewportSize({ width: 1280, height: 800 });
  await eventually(async () => (await look()).rest <= 1, 'the root is in sight again');
  await shot(tab, 'profile-deep'); // makes the window tiny for a moment
  await eventually(async () => (await look()).rest <= 1, 'and again');
  await tab.page.evaluate((name) => window.tare.flames.get(name).element.querySelector('.flame-scroll').scrollTo(0, 2000), flame);
  await tab.page.waitForTimeout(200);
  const middle = await tab.page.evaluate((name) => {
    const f = window.tare.flames.get(name);
    const canvas = f.element.querySelector('canvas');
    const box = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new MouseEvent('click', { bubbles: true, clientX: box.left + 50, clientY: box.top + 40 }));
    const row = f.rectangle(f.zoomed);
    return { text: f.data.text(f.zoomed), y: row.y };
  }, flame);
  assert.ok(Math.abs(middle.y - 2040) <= 18, JSON.stringify(middle));
  assert.match(middle.text, /^recursive_4[89]\d$/);
  assert.ok((await colours(tab, flame)).length > 1, 'and it is drawn there');
  // steps of the slices are as wide as can be seen
  const points = await tab.page.evaluate(() => window.tare.charts.get('run-6-slices').draw().getOption().series[0].data.length);
  assert.ok(points > 200 && points <= 242, `${points} points`);
  assert.match(await tab.page.textContent('#run-6-slices'), /3,000 slices are put together into 231 steps/);
  quiet(tab);
  await tab.close();
});

test('a flame graph that is no longer there is let go', async () => {
  const tab = await open(smallDocument());
  const left = await tab.page.evaluate(() => {
    window.tare.drawAll();
    const f = window.tare.flames.get('run-1-flame');
    f.dispose();
    f.redraw();
    return window.tare.flames.size;
  });
  assert.equal(left, 0);
  quiet(tab);
  await tab.close();
});

test('gaps of machine code are told, and no others, at addresses of the kernel, too', async () => {
  const tab = await open(smallDocument());
  const listing = tab.page.locator('#run-1-listing');
  const gaps = async (index) => {
    await listing.locator('select').selectOption({ index });
    await listing.locator('button:text-is("Unfold")').click();
    assert.equal(await tab.page.evaluate(() => document.activeElement.textContent), 'Unfold', 'focus stays');
    assert.equal(await listing.locator('tr[data-at]').count(), 160);
    return listing.locator('tr:has-text("not in this page")').count();
  };
  assert.equal(await gaps(1), 0);
  assert.equal(await gaps(3), 1);
  quiet(tab);
  await tab.close();
});

test('a tooltip is text', async () => {
  const tab = await open(smallDocument());
  await tab.page.evaluate(() => window.tare.drawAll());
  const canvas = tab.page.locator('#run-1-flame canvas');
  const box = await tab.page.evaluate(() => { const f = window.tare.flames.get('run-1-flame'); return f.rectangle(1); });
  await canvas.hover({ position: { x: 60, y: box.y + 8 } });
  assert.match(await tab.page.textContent('#run-1-flame .flame-tip'), /^databaseapp6,650 samples, 97\.8.% of all/);
  assert.ok(await tab.page.locator('#run-1-flame .flame-hover').isVisible());
  await canvas.hover({ position: { x: 2, y: 2 } });
  await tab.page.mouse.move(0, 0);
  assert.ok(await tab.page.locator('#run-1-flame .flame-tip').isHidden());
  quiet(tab);
  await tab.close();
});

test('a function that is chosen is marked, and its machine code opened', async () => {
  const tab = await open(smallDocument());
  await tab.page.evaluate(() => window.tare.drawAll());
  const listing = tab.page.locator('#run-1-listing');
  await tab.page.click('#run-1-functions button[aria-label^="hash_row"]');
  assert.match((await state(tab, 'run-1-flame')).found, /13\.2/);
  assert.match(await listing.locator('p').first().textContent(), /^hash_row in .*160 instructions/);
  assert.equal(await tab.page.locator('#run-1-functions tr.selected').count(), 1);
  assert.ok(await tab.page.evaluate(() => document.activeElement.closest('tr.selected') !== null), 'focus stays');
  // folded where nothing was seen
  const rows = await listing.locator('tr[data-at]').count();
  assert.ok(rows > 10 && rows < 60, `${rows} rows`);
  assert.match(await listing.locator('tr:has(strong)').textContent(), /495.*◀ hottest/);
  assert.ok(await listing.locator('tr.source').count() > 1, 'lines of source are between');
  await listing.locator('.fold button').first().click();
  assert.ok(await listing.locator('tr[data-at]').count() > rows);
  await listing.locator('button:text-is("Unfold")').click();
  assert.equal(await listing.locator('tr[data-at]').count(), 160);
  // keys go from hot to hot
  await listing.locator('.listing-scroll').focus();
  const seen = [];
  for (const key of ['n', 'n', 'p', 'p', 'n']) {
    await tab.page.keyboard.press(key);
    seen.push(await listing.locator('tr.at').getAttribute('data-at'));
  }
  assert.deepEqual(seen, ['60', '61', '60', '121', '60']);
  assert.match(await listing.locator('[aria-live]').textContent(), /hot 1 of 5: 495 samples/);
  await listing.locator('select').selectOption({ index: 1 });
  assert.match(await listing.locator('p').first().textContent(), /^btree_search/);
  // chosen again: as it was
  await tab.page.click('#run-1-functions button[aria-label^="hash_row"]');
  assert.equal((await state(tab, 'run-1-flame')).found, '');
  await accessible(tab, '#run-1-listing');
  quiet(tab);
  await tab.close();
});

test('views are tables, with intervals, and can be had as CSV', async () => {
  const tab = await open(smallDocument());
  for (const by of ['system', 'app', 'instance', 'thread', 'object']) {
    await tab.page.click(`#run-1-views button:text-is("${by}")`);
    assert.ok(await tab.page.locator('#run-1-views tbody tr').count() >= 3, by);
    const [download] = await Promise.all([tab.page.waitForEvent('download'), tab.page.click('#run-1-views button:text-is("CSV")')]);
    assert.equal(download.suggestedFilename(), `run-1-${by}.csv`);
    const text = fs.readFileSync(await download.path(), 'utf8');
    if (by !== 'system') assert.match(text, /^name,samples,share,share_low,share_high/);
  }
  assert.match(await tab.page.textContent('#run-1-functions tbody tr'), /compare_keys \(inlined\).*2,400.*35\.3.% 34\.2–36\.4/);
  const [download] = await Promise.all([tab.page.waitForEvent('download'), tab.page.click('#run-1-flame button:text-is("CSV")')]);
  const lines = fs.readFileSync(await download.path(), 'utf8').trim().split('\r\n');
  assert.equal(lines[0], 'frame,caller,name,object,kind,self,total');
  assert.equal(lines[1], '0,,all,,all,0,6800');
  quiet(tab);
  await tab.close();
});

test('a comparison colours what grew and what shrank, both ways', async () => {
  const tab = await open(diffDocument());
  const flame = 'compared-run-1-run-2-flame';
  const at = async (name) => main(tab, flame, await nodeOf(tab, flame, name));
  const red = ([r, , b]) => r > b + 10;
  const blue = ([r, , b]) => b > r + 10;
  assert.ok(red(await at('btree_search')), 'grew');
  assert.ok(blue(await at('hash_row')), 'shrank');
  const same = await at('vfs_write');
  assert.ok(!red(same) && !blue(same), 'no change');
  await tab.page.evaluate(([name]) => { const f = window.tare.flames.get(name); f.focus(f.data.name.findIndex((n) => f.data.tree.names[n] === 'hash_row')); }, [flame]);
  assert.match((await state(tab, flame)).status, /−9\.\d\d points: 4\.\d+.% here, 13\.\d.% before$/);
  await tab.page.click(`#${flame} button:text-is("Before")`);
  assert.ok(red(await at('btree_search')), 'grew, seen from before');
  assert.ok(blue(await at('hash_row')), 'shrank, seen from before');
  await tab.page.evaluate(([name]) => { const f = window.tare.flames.get(name); f.focus(f.data.name.findIndex((n) => f.data.tree.names[n] === 'hash_row')); }, [flame]);
  assert.match((await state(tab, flame)).status, /−9\.\d\d points: 13\.\d.% here, 4\.\d+.% after$/);
  await tab.page.click('#compared-run-1-run-2-table button[aria-label^="hash_row"]');
  assert.match((await state(tab, flame)).found, /^1 name, 13/);
  assert.match(await tab.page.textContent('#compared-run-1-run-2-table tbody tr'), /▲ \+|▼ −/);
  quiet(tab);
  await tab.close();
});

test('symbols with hostile names are text', async () => {
  const tab = await open(hostileDocument());
  await chartsDraw(tab, 2);
  const flame = 'run-1-flame';
  await tab.page.evaluate((name) => {
    const f = window.tare.flames.get(name);
    for (let i = 0; i < f.data.size; i++) {
      f.zoom(i);
      f.search(`=${f.data.text(i)}`);
    }
    f.search('');
    f.zoom(0);
  }, flame);
  const canvas = tab.page.locator(`#${flame} canvas`);
  const y = await tab.page.evaluate((name) => window.tare.flames.get(name).rectangle(1).y, flame);
  for (let x = 10; x < 340; x += 30) await canvas.hover({ position: { x, y: y + 5 } });
  await shot(tab, 'profile-hostile-wide');
  await clickEach(tab, '#run-1-functions tbody button', 12);
  for (const by of ['app', 'instance', 'thread', 'object']) await tab.page.click(`#run-1-views button:text-is("${by}")`);
  await fits(tab);
  await shown(tab, ...HOSTILE);
  await accessible(tab);
  await tab.page.setViewportSize({ width: 390, height: 844 });
  await painted(tab);
  await fits(tab);
  await shot(tab, 'profile-hostile-narrow');
  quiet(tab);
  await tab.close();
});

test('it follows the size of the window and the colours', async () => {
  const tab = await open(smallDocument());
  const flame = 'run-1-flame';
  const before = await colours(tab, flame, 1);
  const width = await tab.page.evaluate((name) => window.tare.flames.get(name).rectangle(0).width, flame);
  await tab.page.setViewportSize({ width: 800, height: 800 });
  await tab.page.waitForFunction(([name, was]) => window.tare.flames.get(name).rectangle(0).width < was - 300, [flame, width]);
  await tab.page.selectOption('select[aria-label="colours"]', 'dark');
  assert.notEqual((await colours(tab, flame, 1))[0], before[0]);
  assert.match(await tab.page.locator('#run-1-functions').innerText(), /Choosing one marks it/);
  await tab.page.emulateMedia({ media: 'print' });
  assert.doesNotMatch(await tab.page.locator('#run-1-functions').innerText(), /Choosing one marks it/);
  await fits(tab);
  quiet(tab);
  await tab.close();
});

test('50,000 distinct stacks are zoomed and searched', async () => {
  const tab = await open(document_([numbered(largeProfile(), 5)]));
  const result = await tab.page.evaluate(async () => {
    const f = window.tare.flames.get('run-5-flame');
    const began = performance.now();
    f.show(f.data.tree, null); // everything that it does before it can be seen
    const canvas = f.element.querySelector('canvas');
    const copy = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    // what was only noted until now has to be drawn for it
    const wait = () => {
      copy.drawImage(canvas, 0, 0);
      copy.getImageData(0, 0, 1, 1);
    };
    wait();
    const first = performance.now() - began;
    const t = f.data;
    // the widest way inwards, and out again
    const way = [0];
    for (let i = t.widestChild(0); i >= 0 && way.length < 14; i = t.widestChild(i)) way.push(i);
    const times = [];
    for (const node of [...way, ...way.reverse()]) {
      const start = performance.now();
      f.zoom(node);
      wait();
      times.push(performance.now() - start);
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    }
    const start = performance.now();
    f.search('/search_1/');
    wait();
    const search = performance.now() - start;
    const leaves = t.self.reduce((sum, s) => sum + (s > 0 ? 1 : 0), 0);
    times.sort((a, b) => a - b);
    return { nodes: t.size, leaves, drawn: f.drawn, first, median: times[times.length >> 1], worst: times.at(-1), search, own: f.drawMs };
  });
  console.log(JSON.stringify(result));
  assert.ok(result.leaves >= 50000);
  assert.ok(result.drawn > 0 && result.drawn < 20_000, `${result.drawn} frames: what is narrower than a pixel is not drawn`);
  // very wide: the tight figures are those of bench/page
  assert.ok(result.median < 2000, `${result.median} ms`);
  assert.ok(result.search < 10_000, `${result.search} ms`);
  quiet(tab);
  await tab.page.evaluate(() => window.tare.flames.get('run-5-flame').search(''));
  await shot(tab, 'profile-large');
  await tab.close();
});

test('a profile by an event speaks of events, not of CPU time', async () => {
  const doc = smallDocument();
  const { profile } = doc.sections[0];
  Object.assign(profile.settings, { mode: 'event', hz: null, event: 'cache-misses', period: 10007 });
  profile.totals.cpu_ns = null;
  for (const view of profile.views) for (const row of view.rows) Object.assign(row, { cpu_ns: null }, 'cpu_share' in row ? { cpu_share: null } : {});
  const tab = await open(doc);
  await chartsDraw(tab);
  const words = await tab.page.locator('dl.figures').first().innerText();
  assert.match(words, new RegExp(`${(profile.totals.samples * 10007).toLocaleString('en-US')} cache-misses`));
  assert.match(words, /for 10,007/);
  assert.doesNotMatch(words, /\bidle\b|\bHz\b/);
  const headings = await tab.page.locator('th').allInnerTexts();
  assert.ok(headings.length > 3 && !headings.some((title) => /CPU time|of CPUs/i.test(title)), headings.join());
  quiet(tab);
  await tab.close();
});
