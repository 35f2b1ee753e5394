// Several runs of `tare time` on one page.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ask, namesFit, numbers, pixel } from './charts.mjs';
import { document_, sample, shortRun } from './documents.mjs';
import { accessible, chartsDraw, csvOf, everything, fits, HOSTILE, open, quiet, shown, SHOTS, stop } from './browser.mjs';

after(stop);
const timesDocument = () => sample('runs');

test('several runs are compared', async () => {
  await everything(timesDocument(), 'times', 12, { again: true, also: compared });
});

async function compared(tab, names) {
  const text = await tab.page.textContent('#together');
  assert.match(text, /took 10\.\d\d times as long/);
  assert.match(text, /< 0\.001.*Welch's t/);
  for (const name of ['together-0-means', 'together-0-ratios', 'together-spread', 'together-density']) assert.ok(names.includes(name), name);
  assert.equal(Object.values(await ask(tab, 'together-spread', 'points'))[0], 4);
  const saved = await csvOf(tab, () => tab.page.click('#together-0-means button[aria-label$="download as CSV"]'));
  assert.equal(saved.lines.length, 5);
  assert.match(saved.lines[0], /^run,parameters,n,mean_ns,stddev_ns,ci_low_ns,ci_high_ns,ratio,ratio_low,ratio_high,p,test,sentence$/);
  assert.equal((await ask(tab, 'together-density', 'axis'))[0], 'log', 'lengths that differ a hundredfold');
  assert.deepEqual(await numbers(tab, 'together-density'), ['20 ms', '50 ms', '100 ms', '200 ms', '500 ms', '1 s']);
  await namesFit(tab);
  await tab.page.click('#together-density button[data-value="value"]');
  assert.equal((await ask(tab, 'together-density', 'axis'))[0], 'value');
  // a reference that is not the first, and one that failed: nothing of it was kept
  const doc = timesDocument();
  Object.assign(doc.comparisons[0], { reference: 2, sections: [0, 1, 2] });
  const failed = doc.sections[3];
  Object.assign(failed, { kept: { et: null }, unfiltered: { et: null }, charts: {}, dual: null });
  await tab.page.evaluate((next) => { window.tare.show(next); window.tare.drawAll(); }, doc);
  const colours = await tab.page.evaluate(() => {
    const names = [...document.querySelectorAll('#together-density .legend button')].map((b) => b.textContent.split(' (')[0]);
    const means = window.tare.charts.get('together-0-means').chart();
    const drawn = [];
    means.getViewOfSeriesModel(means.getModel().getSeriesByIndex(0)).group.eachChild((row) => drawn.push(row.children().at(-1).style.fill));
    const lines = window.tare.charts.get('together-density').chart().getOption().series.map((s) => s.lineStyle.color);
    return { means: means.getOption().yAxis[0].data.map((name, i) => [name.split('\n')[0], drawn[i]]).sort(), densities: names.map((name, i) => [name, lines[i]]).sort() };
  });
  assert.equal(colours.means.length, 3);
  assert.deepEqual(colours.means, colours.densities, 'a run has one colour');
  assert.equal((await ask(tab, 'together-density', 'axis'))[1], 'PT net', 'what was compared');
}

test('runs together have any measure that all have; ratios stay those of what was compared', async () => {
  const doc = timesDocument();
  delete doc.sections[2].kept.pt_exec;
  const tab = await open(doc);
  const select = tab.page.locator('#together-0-means select');
  assert.deepEqual(await select.locator('option').allTextContents(), ['PT net', 'ET', 'user', 'system']);
  assert.doesNotMatch(await tab.page.textContent('#together'), /Ratios and p are of/);
  const ratios = await tab.page.textContent('#together-0-ratios');
  await select.selectOption('et');
  assert.equal(await tab.page.textContent('#together-0-means h3'), 'Mean ET of each');
  assert.match(await tab.page.textContent('#together'), /Runs by ETRatios and p are of PT net/);
  assert.equal(await tab.page.textContent('#together-0-ratios'), ratios);
  const saved = await csvOf(tab, () => tab.page.click('#together-0-means button[aria-label$="download as CSV"]'));
  assert.equal(Number(saved.lines[1].split(',')[3 + (saved.lines[1].split(',').length - saved.lines[0].split(',').length)]), doc.sections[0].kept.et.mean_ns);
  await chartsDraw(tab);
  await tab.page.locator('#together').screenshot({ path: `${SHOTS}/times-together.png` });
  await select.selectOption('user');
  const share = await csvOf(tab, () => tab.page.click('#together-0-means button[aria-label$="download as CSV"]'));
  assert.match(share.lines[1], /,,,,1,/, 'no spread of a share');
  assert.ok(await tab.page.evaluate(() => document.activeElement.closest('#together-0-means')), 'the focus stays');
  await accessible(tab);
  quiet(tab);
  await tab.close();
});

test('runs without a comparison are shown together, too', async () => {
  const doc = timesDocument();
  doc.comparisons = [];
  const tab = await open(doc);
  const names = await chartsDraw(tab);
  assert.ok(names.includes('together-0-means') && !names.includes('together-0-ratios'));
  quiet(tab);
  await tab.close();
});

test('figures have the digits that their spread leaves them', async () => {
  const doc = timesDocument();
  const s = doc.sections[0];
  Object.assign(s.kept.pt_net, { mean_ns: 98.4e6, stddev_ns: 12.3e6, ci_low_ns: 95.71e6, ci_high_ns: 101.2e6 });
  Object.assign(s.kept.et, { mean_ns: 12.0004e6, stddev_ns: 996, ci_low_ns: 12e6, ci_high_ns: 12.0008e6 });
  Object.assign(doc.comparisons[0].rows[1], { ratio: 14.02, ratio_low: 13.68, ratio_high: 14.49 });
  const dropped = s.columns.rule.findIndex((rule) => rule > 2);
  Object.assign(s.reasons[dropped], { value_ns: 2334750, low_ns: 1775320, high_ns: 2333980 });
  const tab = await open(doc);
  const row = await tab.page.locator('#run-1 .time-dropped tbody tr').first().textContent();
  assert.match(row, /2\.33475.ms.*2\.33398.ms$/, 'what was judged is seen to lie above');
  const figures = await tab.page.textContent('#run-1 .time-figures');
  assert.match(figures, /98 ± 12\u00a0ms/);
  assert.match(figures, /95\.7 to 101\.2\u00a0ms/);
  assert.match(figures, /12\.0004 ± 0\.0010\u00a0ms/);
  assert.match(await tab.page.textContent('#together-0-ratios'), /14\.02 \(13\.68 to 14\.49\) times, p < 0\.001/);
  // downwards, a column has one unit and one number of decimals
  const cells = await tab.page.locator('#together .table tbody tr').evaluateAll((rows) => rows.map((row) => [...row.children].slice(3, 10).map((cell) => cell.textContent)));
  for (let column = 0; column < 7; column++) {
    const looks = cells.map((row) => row[column]).filter((text) => /\d/.test(text)).map((text) => text.replace(/^[\d]+/, '').replace(/\d/g, '0'));
    assert.equal(new Set(looks).size, 1, `column ${column}: ${cells.map((row) => row[column])}`);
  }
  await tab.close();
});

test('thirteen runs are told apart in one chart', async () => {
  const doc = document_(Array.from({ length: 13 }, (_, k) => shortRun(k + 1)), { title: 'many' });
  const tab = await open(doc);
  const looks = await tab.page.evaluate(() => window.tare.charts.get('together-density').draw().getOption().series.map((s) => `${s.lineStyle.color} ${s.lineStyle.type}`));
  assert.equal(new Set(looks).size, 13);
  await tab.close();
  const compared = await open(timesDocument());
  assert.match(await compared.page.textContent('#together-0-means'), /diamond: the reference/);
  await compared.close();
});

test('runs of one name are told apart by their numbers', async () => {
  const tab = await open(document_([shortRun(7, 'same'), shortRun(8, 'same'), shortRun(9, 'other')]));
  const saved = await csvOf(tab, () => tab.page.click('#together-0-means button[aria-label$="download as CSV"]'));
  assert.deepEqual(saved.lines.slice(1).map((line) => line.split(',')[0]), ['same (run 7)', 'same (run 8)', 'other']);
  const marks = await tab.page.evaluate(() => {
    const { series } = window.tare.charts.get('together-spread').draw().getOption();
    return series[0].data.map((value) => series[0].label.formatter({ value }));
  });
  assert.deepEqual(marks, ['same (run 7)', 'same (run 8)', 'other']);
  const titles = ['same (run 7)', 'same (run 8)', 'other'];
  assert.deepEqual(await tab.page.locator('section.time h2').allTextContents(), titles);
  assert.deepEqual((await tab.page.locator('nav a').allTextContents()).slice(1, 4), titles);
  assert.deepEqual(await tab.page.locator('section.time').evaluateAll((list) => list.map((e) => e.getAttribute('aria-label'))), titles);
  assert.deepEqual(await tab.page.locator('#together tbody th').allTextContents(), titles);
  assert.deepEqual(await tab.page.evaluate(() => window.tare.charts.get('together-0-means').draw().getOption().yAxis[0].data), titles);
  await tab.page.evaluate(() => window.tare.charts.get('together-density').draw());
  assert.deepEqual(await tab.page.locator('#together-density .legend button').allTextContents(), titles);
  await tab.page.locator('#run-8 .time-executions tbody button').first().click();
  assert.match(await tab.page.textContent('dialog[open] header'), /of same \(run 8\)/);
  // names that every object has: the library keeps by name what is hidden
  const own = ['hasOwnProperty', '__proto__', 'constructor'];
  await tab.page.evaluate((next) => { window.tare.show(next); window.tare.drawAll(); }, document_(own.map((title, i) => shortRun(i + 1, title))));
  assert.deepEqual(await tab.page.locator('#together-density .legend button').allTextContents(), own);
  const lines = () => tab.page.evaluate(() => {
    const list = [];
    window.tare.charts.get('together-density').chart().getModel().eachSeries((series) => list.push(series.name));
    return list.length;
  });
  for (let i = 0; i < own.length; i++) {
    await tab.page.locator('#together-density .legend button').nth(i).evaluate((button) => button.click());
    assert.equal(await lines(), own.length - 1 - i, `${own[i]} is hidden`);
  }
  quiet(tab);
  // names that differ in what is cut out of them
  const long = (x) => `/usr/bin/very/long/path/to/some/program --with-option=${x} --and-many-more-options-behind-it file`;
  await tab.page.evaluate((next) => window.tare.show(next), document_([shortRun(7, long('one')), shortRun(8, long('two'))]));
  const listed = (await tab.page.locator('nav a').allTextContents()).slice(1, 3);
  assert.match(listed[0], /\(run 7\)$/);
  assert.match(listed[1], /\(run 8\)$/);
  await tab.close();
});

test('names that are markup, script or longer than a page are text', async () => {
  const doc = timesDocument();
  const name = (i) => HOSTILE[i % HOSTILE.length];
  doc.sections.forEach((s, k) => {
    Object.assign(s, { title: name(5 * k), subtitle: name(5 * k + 1), command: name(5 * k + 1), parameters: [{ name: name(5 * k + 2), value: name(5 * k + 3) }], names: s.names.map((_, i) => name(5 * k + i)) });
    s.warnings = [{ id: 'noisy_et', text: name(5 * k + 4), remedy: name(5 * k + 5) }];
    Object.values(s.reasons).forEach((reason, i) => Object.assign(reason, { text: name(i), daemon: reason.daemon && name(i) }));
  });
  doc.comparisons[0].rows.forEach((row, i) => { row.sentence = name(i + 1); });
  const tab = await open(doc);
  await chartsDraw(tab);
  const s = doc.sections[0];
  const i = s.columns.rule.indexOf(3);
  const at = await pixel(tab, `${s.anchor}-samples`, s.columns.at_us[i] * 1000, s.columns.net[i]);
  await tab.page.mouse.move(at.x, at.y);
  await tab.page.mouse.click(at.x, at.y);
  await tab.page.locator('dialog[open]').waitFor();
  await tab.page.evaluate(() => window.tare.drawAll());
  await shown(tab, ...HOSTILE);
  await fits(tab);
  await tab.page.keyboard.press('Escape');
  await tab.page.setViewportSize({ width: 320, height: 700 });
  await tab.page.waitForFunction(() => [...window.tare.charts.values()].every((handle) => handle.chart().getWidth() <= 320));
  await fits(tab);
  const boxes = (what) => tab.page.locator(what).evaluateAll((list) => list.map((a) => a.getBoundingClientRect().toJSON()));
  assert.ok((await boxes('nav a')).every((box) => box.right <= 320), 'contents');
  assert.ok((await boxes('#together .table a')).every((box) => box.height >= 24), 'for fingers');
  quiet(tab);
  await tab.close();
});
