// Pages of daemon studies: samples, zooms that are linked, strips, cutoffs, and what a study may lack.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, test } from 'node:test';
import { document_, machine, sample } from './documents.mjs';
import { accessible, chartsDraw, clickEach, everything, fits, HOSTILE, open, painted, quiet, shared, shot, shown, stop } from './browser.mjs';

after(stop);

const study = (which = 'paper') => ({ ...sample(which).sections[0], anchor: 'study-3', number: 3 });
const made = study();
const checker = made.study.daemons.find((d) => d.name === 'rhn_check');
const one = shared(() => document_([made]));
const series = (tab, name) => tab.page.evaluate((n) => window.tare.charts.get(n).chart().getOption().series.map((s) => [s.name, ArrayBuffer.isView(s.data) ? s.data.length / 2 : s.data.length]), name);
const axisOf = (tab, name, which) => tab.page.evaluate(([n, a]) => { const o = window.tare.charts.get(n).chart().getOption()[a][0]; return [o.min, o.max]; }, [name, which]);

test('a page of a study stands what every page has to', async () => {
  await everything(document_([made]), 'study', 7);
});

test('samples are marked: L, dropped, and those of a chosen daemon', async () => {
  const tab = await one();
  const { l, dropped } = made.samples.short;
  const groups = Object.fromEntries(await series(tab, 'study-3-short-samples'));
  assert.equal(groups['in the cluster'], 800 - l.length);
  assert.equal(groups['L-sample'], l.length - dropped.length);
  assert.equal(groups['L-sample, dropped'], dropped.length);
  const zoom = () => tab.page.evaluate(() => window.tare.charts.get('study-3-short-samples').chart().getOption().dataZoom.map((z) => [Math.round(z.start), Math.round(z.end)]));
  await tab.page.evaluate(() => window.tare.charts.get('study-3-short-samples').chart().dispatchAction({ type: 'dataZoom', dataZoomIndex: 0, start: 20, end: 60 }));
  await tab.page.getByRole('button', { name: 'mark the samples in which rhn_check ran long' }).click();
  assert.deepEqual(await zoom(), [[20, 60]], 'choosing one leaves the window');
  const marked = (await series(tab, 'study-3-short-samples')).at(-1);
  assert.deepEqual(marked, ['rhn_check ran long', checker.runs.short.samples.length]);
  assert.match(await tab.page.locator('#study-3-daemon-card').textContent(), /Marked: rhn_check, long in 9 samples, period 3\.98\sh ± 22\.0\ss/);
  // near the cluster, and by time
  const [, far] = await axisOf(tab, 'study-3-short-samples', 'yAxis');
  await tab.page.locator('#study-3-short-samples select').nth(1).selectOption('near');
  const [, close] = await axisOf(tab, 'study-3-short-samples', 'yAxis');
  assert.ok(close < far && close < 1.02 * made.study.runs.short.length_ns, `${close} of ${far}`);
  await tab.page.locator('#study-3-short-samples select').first().selectOption('time');
  assert.deepEqual(await zoom(), [[0, 100]], 'but it is of no use on another axis');
  // the study goes on
  await tab.page.evaluate((next) => window.tare.show(next), document_([made]));
  await chartsDraw(tab);
  assert.match(await tab.page.locator('#study-3-daemon-card').textContent(), /Marked: rhn_check/);
  assert.deepEqual((await series(tab, 'study-3-short-samples')).at(-1), marked);
  await shot(tab, 'study-chosen');
  await tab.page.getByRole('button', { name: 'mark the samples of no daemon' }).click();
  quiet(tab);
});

test('zooms are linked: by Enter, by buttons, by a click into the frame', async () => {
  const tab = await one();
  const levels = made.study.runs.short.levels;
  const card = tab.page.locator('#study-3-short-zooms');
  const words = card.locator('p[aria-live]');
  const covers = async (i) => {
    const [low, high] = await axisOf(tab, 'study-3-short-zooms', 'xAxis');
    assert.ok(low <= levels[i].low_ns && high >= levels[i].high_ns && high - low < (levels[i].high_ns - levels[i].low_ns) * 1.1, `zoom ${i + 1}`);
    const n = (await series(tab, 'study-3-short-zooms')).reduce((a, [, count]) => a + count, 0);
    assert.equal(n, levels[i].neither + levels[i].first + levels[i].second + levels[i].both, `pairs of zoom ${i + 1}`);
    assert.deepEqual(await card.locator('.level').evaluateAll((list) => list.map((b) => b.getAttribute('aria-pressed'))), levels.map((_, k) => String(k === i)));
  };
  await covers(0);
  assert.match(await words.textContent(), new RegExp(`both in ${levels[0].both} \\(expected.*an L: what is far out is seldom`));
  await card.locator('.level').nth(2).focus();
  await tab.page.keyboard.press('Enter');
  await covers(2);
  assert.match(await words.textContent(), /Zoom 3 of 3.*The shape is symmetric/);
  await card.getByRole('button', { name: 'Zoom out: the zoom before' }).click();
  await covers(1);
  const at = await tab.page.evaluate((l) => {
    const chart = window.tare.charts.get('study-3-short-zooms').chart();
    chart.getDom().scrollIntoView({ block: 'center' });
    const box = chart.getDom().getBoundingClientRect();
    const [x, y] = chart.convertToPixel({ gridIndex: 0 }, [(l.low_ns + l.high_ns) / 2, (l.low_ns + l.high_ns) / 2]);
    return [box.x + x, box.y + y];
  }, levels[2]);
  await tab.page.mouse.click(...at);
  await covers(2);
  await tab.page.evaluate((next) => window.tare.show(next), document_([made]));
  await chartsDraw(tab);
  await covers(2);
  assert.match(await words.textContent(), /Zoom 3 of 3/, 'a study that goes on');
  assert.ok(await card.getByRole('button', { name: 'Zoom in: the next zoom' }).isDisabled());
  await shot(tab, 'study-zoomed');
  await accessible(tab, '#study-3-short-zooms');
  quiet(tab);
});

test('strips have a mark for each long execution, and the grid of the period', async () => {
  const tab = await one();
  const daemons = made.study.daemons.filter((d) => d.long_running);
  const strips = Object.fromEntries(await series(tab, 'study-3-short-strips'));
  assert.equal(strips['ran long'], daemons.reduce((a, d) => a + d.runs.short.samples.length, 0));
  const expected = await tab.page.evaluate(() => window.tare.charts.get('study-3-short-strips').chart().getOption()).then((o) => o.series[1].data.filter((d) => d[1] === o.yAxis[0].data.indexOf('rhn_check')).map((d) => d[0]));
  const wanted = checker.runs.short.samples;
  assert.equal(expected.length, wanted.length);
  expected.forEach((x, i) => assert.ok(Math.abs(x - wanted[i]) < 0.7, `${x} beside ${wanted[i]}`));
});

test('cutoffs are downloaded as CSV, in full and by range of length', async () => {
  const tab = await one();
  const [file] = await Promise.all([tab.page.waitForEvent('download'), tab.page.getByRole('button', { name: 'Cutoffs: download as CSV', exact: true }).click()]);
  const rows = fs.readFileSync(await file.path(), 'utf8').trim().split('\r\n');
  assert.equal(rows[0], 'daemon,from_ns,below_ns,cutoff_ns,edited');
  assert.equal(rows[2], 'flush-9:0,0,3600000000000,64000000,no');
  assert.equal(rows.length, 1 + made.study.cutoffs.length);
});

test('without samples the zooms are their counts', async () => {
  const tab = await open(document_([{ ...made, samples: { short: null, long: null } }]));
  const names = await chartsDraw(tab, 5);
  assert.ok(!names.includes('study-3-short-samples'));
  assert.match(await tab.page.locator('#study-3').textContent(), /The samples of the short run are not in this report/);
  assert.deepEqual(await series(tab, 'study-3-short-zooms'), [['pairs', 4]]);
  await accessible(tab, '#study-3-short-zooms');
  await shot(tab, 'study-counts');
  quiet(tab);
  await tab.close();
});

test('few samples have no zooms, and there may be no long run, no daemon', async () => {
  const few = study('unexplained');
  few.study.runs.short.levels = [];
  const tab = await open(document_([few]));
  const names = await chartsDraw(tab, 1);
  assert.deepEqual(names, ['study-3-short-samples']);
  const text = await tab.page.locator('#study-3').textContent();
  assert.match(text, /too few samples to zoom in/);
  assert.match(text, /No daemon is long-running/);
  assert.doesNotMatch(text, /left by the cutoffs|cutoffs drop|The frame/);
  assert.doesNotMatch(text, /NaN|undefined|null/);
  quiet(tab);
  await tab.close();
  const none = await open(document_([study('nothing')]));
  assert.match(await none.page.locator('#study-3').textContent(), /long-running daemons0/);
  quiet(none);
  await none.close();
});

test('hovering names the sample and who ran long in it, whatever is chosen', async () => {
  const tab = await one();
  const tipOf = (name, series, index) => tab.page.evaluate(([n, s, i]) => {
    const o = window.tare.charts.get(n).chart().getOption();
    return o.tooltip[0].formatter({ seriesIndex: s, dataIndex: i, value: [] }).textContent;
  }, [name, series, index]);
  const { et, l, dropped, number } = made.samples.short;
  const kept = et.map((_, i) => i).filter((i) => !l.includes(i) && !dropped.includes(i));
  assert.match(await tipOf('study-3-short-samples', 0, 17), new RegExp(`sample ${number[kept[17]]}:`));
  await tab.page.getByRole('button', { name: 'mark the samples in which rhn_check ran long' }).click();
  const last = (await series(tab, 'study-3-short-samples')).length - 1;
  const said = await tipOf('study-3-short-samples', last, 1);
  assert.match(said, new RegExp(`sample ${checker.runs.short.samples[1]}:`));
  assert.match(said, /rhn_check ran long/);
  // pairs, in the second zoom
  await tab.page.locator('#study-3-short-zooms .level').nth(1).click();
  const level = made.study.runs.short.levels[1];
  const fast = et.map((_, i) => i).filter((i) => i % 2 === 0 && et[i] <= level.cut_ns && et[i + 1] <= level.cut_ns);
  assert.match(await tipOf('study-3-short-zooms', 0, 3), new RegExp(`samples ${number[fast[3]]} and ${number[fast[3]] + 1}`));
  quiet(tab);
});

test('a spread that is not known has no bar', async () => {
  const unknown = study();
  unknown.study.runs.short.sigma_kept_ns = null;
  const tab = await open(document_([unknown]));
  await chartsDraw(tab);
  const kept = await tab.page.evaluate(() => window.tare.charts.get('study-3-sigma').chart().getOption().series[1].data);
  assert.equal(kept[0], null);
  assert.ok(kept[1] > 0);
  await tab.close();
});

test('swap that is no number is not told', async () => {
  const said = [['0', /no swap/], ['2048', /with swap/], ['unknown', null], ['', null]];
  const doc = document_([], { machines: said.map(([swap], i) => ({ ...machine(), fingerprint: String(i), facts: { 'memory.total_mib': '4096', 'memory.swap_mib': swap } })) });
  const tab = await open(doc);
  const texts = await tab.page.locator('.machine-figures').allTextContents();
  assert.equal(texts.length, said.length);
  said.forEach(([, words], i) => (words ? assert.match(texts[i], words) : assert.doesNotMatch(texts[i], /swap/)));
  await tab.close();
});

test('daemons stand by their longest, and spreads are of the mean', async () => {
  const tab = await one();
  assert.deepEqual(await tab.page.locator('#study-3-daemon-card tbody th').allTextContents(), ['rhn_check', 'proc_monitor', 'flush-9:0', 'java', 'bash', 'cifs', 'kblockd/0', 'khugepaged', 'ntpd']);
  const label = await tab.page.evaluate(() => window.tare.charts.get('study-3-sigma').chart().getOption().series[0].label.formatter({ dataIndex: 0 }));
  assert.match(label, /^[\d.]+\s% \([\d.]+\ss\)$/);
  quiet(tab);
});

test('shares are never rounded to nothing or to all; backticks are code', async () => {
  const nearly = study('live');
  Object.assign(nearly.study.runs.short, { sigma_ns: 1e6, sigma_kept_ns: 999_990 });
  const doc = document_([nearly], { machines: [machine()] });
  doc.machines[0].findings = [{ id: 'x', severity: 'warn', condition: 'run `tare doctor` as root`', effect: '', remedy: '', command: false, source: 'doctor' }];
  const tab = await open(doc);
  assert.match(await tab.page.locator('#study-3 .figures').textContent(), />99\.9\s% of it is left/);
  assert.deepEqual(await tab.page.locator('#machine-0 td code').allTextContents(), ['tare doctor']);
  assert.match(await tab.page.locator('#machine-0').textContent(), /run tare doctor as root`/);
  quiet(tab);
  await tab.close();
});

test('a steadied run says so', async () => {
  const steadied = study();
  for (const run of Object.values(steadied.study.runs)) run.steadied = true;
  const tab = await open(document_([steadied]));
  await chartsDraw(tab);
  assert.match(await tab.page.locator('#study-3').textContent(), /compared by an ET without that/);
  await tab.close();
});

test('daemons with hostile names are text', async () => {
  const hostile = study();
  const long = hostile.study.daemons.filter((d) => d.long_running);
  hostile.study.daemons = HOSTILE.map((name, i) => ({ ...long[i % long.length], name }));
  hostile.study.cutoffs = HOSTILE.map((daemon) => ({ ...hostile.study.cutoffs[0], daemon }));
  for (const which of ['short', 'long']) hostile.phases[which] = HOSTILE.map((_, i) => hostile.phases[which][i % long.length]);
  const tab = await open(document_([hostile]));
  await chartsDraw(tab, 7);
  const rows = tab.page.locator('#study-3-daemon-card button.link');
  const count = await rows.count();
  await clickEach(tab, '#study-3-daemon-card tbody button.link');
  await shown(tab, ...HOSTILE.slice(0, count));
  await tab.page.locator('#study-3-daemon-card').getByRole('button', { name: 'rows after' }).click();
  await tab.page.evaluate(() => {
    for (const handle of window.tare.charts.values()) handle.chart().getOption().series.forEach((s, i) => handle.chart().dispatchAction({ type: 'showTip', seriesIndex: i, dataIndex: 0 }));
  });
  await painted(tab);
  await shown(tab, ...HOSTILE.slice(count));
  await fits(tab);
  await shot(tab, 'study-hostile');
  quiet(tab);
  await tab.close();
});

test('100,000 samples are drawn', async () => {
  const big = study();
  const { short } = big.samples;
  const count = short.et.length;
  const again = (list, step) => Array.from({ length: 125 }, (_, k) => list.map((v) => v + k * step)).flat();
  Object.assign(short, { number: again(short.number, count), at_us: null, et: again(short.et, 0), l: again(short.l, count), dropped: again(short.dropped, count) });
  assert.equal(short.et.length, 100_000);
  const tab = await open(document_([big]));
  await chartsDraw(tab, 4);
  quiet(tab);
  await tab.close();
});
