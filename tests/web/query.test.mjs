// The page of `tare query`: one run, and two against each other.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { document_, kept, numbered, queries, query, queryComparison, queryDocument, withAts } from './documents.mjs';
import { accessible, chartsDraw, everything, fits, HOSTILE, open, painted, quiet, shared, shot, shown, stop } from './browser.mjs';

after(stop);
const one = shared(queryDocument);
const text = (tab, at) => tab.page.locator(at).innerText();

test('a page of queries stands what every page has to: wide, narrow, dark, by keyboard', async () => {
  await everything(queryDocument(), 'query', 4);
});

test('every chart is there, with figures first', async () => {
  const tab = await one();
  const names = await tab.page.evaluate(() => [...window.tare.charts.keys()]);
  assert.deepEqual(names.sort(), ['run-7-cardinality', 'run-7-ledgers', 'run-7-model', 'run-7-split']);
  const figures = await text(tab, '#run-7 .figures');
  assert.match(figures, /5 of 8/);
  assert.match(figures, /PostgreSQL/);
  assert.match(figures, /0\.29/);
  assert.match(figures, /cold/);
  assert.match(figures, /CPU \+ device/);
  quiet(tab);
});

test('a query, its time and its scale can be chosen; plan changes are marked', async () => {
  const tab = await one();
  const option = () => tab.page.evaluate(() => {
    const o = window.tare.charts.get('run-7-cardinality').chart().getOption();
    return {
      lines: o.series.filter((s) => s.type === 'line').length, log: o.yAxis[0].type, name: o.yAxis[0].name,
      marks: o.series.flatMap((s) => (s.markLine?.data ?? []).map((d) => d.name)), dots: o.series.filter((s) => s.type === 'scatter').reduce((n, s) => n + s.data.length, 0),
      letters: o.series.filter((s) => s.type === 'line').flatMap((s) => s.data.filter((d) => d.label.show).map((d) => d.label.formatter())),
    };
  });
  let now = await option();
  assert.equal(now.lines, 4);
  assert.deepEqual(now.letters, ['A']); // where plans change
  await tab.page.selectOption('#run-7-cardinality select[aria-label="query of the chart"]', '1');
  await tab.page.selectOption('#run-7-cardinality select[aria-label="scale of the chart"]', 'log');
  await tab.page.selectOption('#run-7-cardinality select[aria-label="time of the chart"]', 'measured');
  now = await option();
  assert.deepEqual([now.lines, now.log, now.name, now.dots], [1, 'log', 'elapsed', 30]);
  assert.deepEqual(now.marks, ['B → A']);
  assert.deepEqual(now.letters, ['B', 'A', 'A']);
  await shot(tab, 'query-one');
  quiet(tab);
});

test('bars show shares, too', async () => {
  const tab = await one();
  await tab.page.selectOption('#run-7-split select', 'share');
  const sum = await tab.page.evaluate(() => window.tare.charts.get('run-7-split').chart().getOption().series.reduce((n, s) => n + s.data[0], 0));
  assert.ok(Math.abs(sum - 1) < 1e-9);
  await tab.page.locator('#run-7-split button', { hasText: 'Table' }).click();
  assert.match(await text(tab, '#run-7-split table'), /own I\/O/);
  // a ledger is longer than what elapsed in the query: both are said, in words, beside the bar and in the table
  const ledger = query().ledgers[0];
  const ms = (ns) => `${(ns / 1e6).toPrecision(3)}\u00a0ms`;
  assert.match(await text(tab, '#run-7-ledgers figcaption'), /Ledger of 51\.0\sms, elapsed in the query itself 50\.0\sms/);
  assert.doesNotMatch(await text(tab, '#run-7-ledgers figcaption'), /Every ns of the elapsed time/);
  assert.ok((await tab.page.evaluate(() => window.tare.charts.get('run-7-ledgers').chart().getOption().yAxis[0].data[0])).endsWith(`, ${ms(ledger.elapsed_ns)}`));
  await tab.page.locator('#run-7-ledgers button', { hasText: 'Table' }).click();
  assert.deepEqual((await tab.page.locator('#run-7-ledgers tbody tr').first().locator('td').allTextContents()).slice(1, 3), [ledger.elapsed_ns, ledger.mean.reduce((a, b) => a + b, 0)].map(ms));
  // no label is left out for want of room
  const ticks = () => tab.page.evaluate(() => {
    const chart = window.tare.charts.get('run-7-split').chart();
    chart.resize({ width: 340 });
    const made = chart.getModel().getComponent('xAxis').axis.scale.getTicks().length;
    const drawn = chart.getZr().storage.getDisplayList(true, false).filter((e) => e.type === 'text' || e.type === 'tspan').map((e) => e.style.text).filter((t) => / (s|µs|ms|%)$/.test(t.replace('\u00a0', ' '))).length;
    chart.resize({ width: 'auto' });
    return [made, drawn];
  });
  for (const shows of ['share', 'time']) {
    await tab.page.selectOption('#run-7-split select', shows);
    const [made, drawn] = await ticks();
    assert.ok(made > 1 && drawn === made, `${shows}: ${drawn} labels of ${made} ticks`);
  }
  quiet(tab);
});

test('own I/O that is not known is not other time', async () => {
  const section = query();
  const [known, unknown] = section.charts.split.blocks;
  for (const [name, values] of Object.entries(known)) unknown[name] = [['io_ns', 'other_ns'].includes(name) ? null : values[0]];
  for (const values of Object.values(known)) values.shift();
  const tab = await open(document_([section]));
  await chartsDraw(tab, 4);
  const bars = await tab.page.evaluate(() => Object.fromEntries(window.tare.charts.get('run-7-split').chart().getOption().series.map((s) => [s.name, s.data.slice(0, 2)])));
  assert.deepEqual([bars['own I/O'][0], bars.other[0], bars['not CPU'][1]], [null, null, null]);
  assert.ok(bars['not CPU'][0] > 0 && bars.other[1] > 0);
  await tab.page.selectOption('#run-7-split select', 'share');
  const sum = await tab.page.evaluate(() => window.tare.charts.get('run-7-split').chart().getOption().series.reduce((n, s) => n + (s.data[0] ?? 0), 0));
  assert.ok(Math.abs(sum - 1) < 1e-9);
  quiet(tab);
  await tab.close();
});

test('shares are of the elapsed time, also where workers go on at once', async () => {
  const section = query();
  for (const [name, value] of Object.entries({ elapsed_ns: 1e9, cpu_ns: 2.5e9, io_ns: 0, other_ns: 0 })) section.charts.split.blocks[0][name][0] = value;
  const tab = await open(document_([section]));
  await chartsDraw(tab, 4);
  await tab.page.selectOption('#run-7-split select', 'share');
  const { cpu, max } = await tab.page.evaluate(() => {
    const chart = window.tare.charts.get('run-7-split').chart();
    const o = chart.getOption();
    return { cpu: o.series[0].data[0], max: chart.getModel().getComponent('xAxis').axis.scale.getExtent()[1] };
  });
  assert.equal(cpu, 2.5);
  assert.ok(max >= 2.5, `the axis ends at ${max}`);
  assert.match(await text(tab, '#run-7-split'), /1 of 8 Q@Cs/);
  quiet(tab);
  await tab.close();
});

test('figures of dropped Q@Cs are all of all executions, in parentheses, or not there', async () => {
  const section = query();
  const at = section.query.at.find((x) => x.dropped_by);
  // some were kept, and too few
  Object.assign(at, { cpu: { median_ns: 5e6, mean_ns: 5e6, sigma_ns: 1 }, own_device: { median_ns: 5e6, mean_ns: 5e6, sigma_ns: 1 } });
  const tab = await open(document_([section]));
  const cells = await tab.page.locator('#run-7-at-card tbody tr').nth(section.query.at.indexOf(at)).locator('td').allTextContents();
  assert.deepEqual(cells.slice(6, 8), ['–', '–']);
  for (const cell of [3, 4, 5, 8]) assert.match(cells[cell], /^\(.+\)$/);
  await tab.close();
});

test('a run of which nothing is stored yet has its head and a note', async () => {
  const tab = await open(document_([{ ...query(), status: 'going', notes: ['Nothing of this run is stored yet.'], query: null, matrix: null, ledgers: [] }]));
  assert.match(await text(tab, '#run-7'), /going[^]*Nothing of this run is stored yet/i);
  quiet(tab);
  await tab.close();
});

test('a Q@C opens its executions, by keyboard', async () => {
  const tab = await one();
  const first = tab.page.locator('#run-7-at-card tbody button').first();
  await first.focus();
  await tab.page.keyboard.press('Enter');
  const panel = tab.page.locator('.opened');
  assert.match(await panel.innerText(), /scan at 100,000/);
  assert.equal(await panel.locator('tbody tr').count(), 10);
  assert.match(await panel.innerText(), /count\(\*\)/);
  await accessible(tab, '#run-7-at-card');
  // the run goes on: it stays open, and takes no focus
  await tab.page.evaluate((next) => window.tare.show(next), queryDocument());
  await chartsDraw(tab);
  assert.match(await panel.innerText(), /scan at 100,000/);
  assert.equal(await tab.page.evaluate(() => document.activeElement.tagName), 'BODY');
  await tab.page.locator('.opened button', { hasText: 'close' }).click();
  assert.equal(await tab.page.locator('.opened').count(), 0);
  // the row that opened it has the focus again, not the first one
  const third = tab.page.locator('#run-7-at-card tbody button').nth(2);
  const name = await third.getAttribute('aria-label');
  await third.click();
  await tab.page.locator('.opened button', { hasText: 'close' }).click();
  assert.equal(await tab.page.evaluate(() => document.activeElement.getAttribute('aria-label')), name);
  quiet(tab);
});

test('checks and what was dropped are counted', async () => {
  const tab = await one();
  const checks = await text(tab, '.query-checks');
  assert.match(checks, /excessive variation/);
  assert.match(checks, /ephemeral process/);
  assert.match(checks, /strict monotonicity/);
  assert.match(checks, /9 of 30 checks fired/);
});

test('the matrix shows levels that were predicted, and which are off', async () => {
  const tab = await one();
  const found = await tab.page.evaluate(() => {
    const o = window.tare.charts.get('run-7-model').chart().getOption();
    return { cells: o.series[0].data.length, framed: o.series[0].data.filter((d) => d.itemStyle?.borderWidth === 2).length, signs: o.series[1].data.map((d) => d.sign) };
  });
  assert.ok(found.cells > 50);
  assert.ok(found.framed > 10);
  assert.ok(found.signs.includes('●') && found.signs.some((s) => s.endsWith('!')) && found.signs.some((s) => s[0] === '○'));
  assert.match(await text(tab, '#run-7'), /predicted relations were observed/);
});

test('a plan is a tree for keys', async () => {
  const tab = await one();
  const plansOf = 'select[aria-label="plans of which query"]';
  await tab.page.selectOption(plansOf, '2');
  const tree = tab.page.getByRole('tree').first();
  const rows = tree.getByRole('treeitem');
  const seen = () => rows.evaluateAll((list) => list.filter((x) => !x.hidden).length);
  const all = await seen();
  assert.ok(all >= 4);
  await rows.first().focus();
  await tab.page.keyboard.press('ArrowDown');
  await tab.page.keyboard.press('ArrowDown');
  await tab.page.keyboard.press('ArrowLeft'); // folds the hash
  assert.equal(await seen(), 3);
  assert.equal(await tab.page.evaluate(() => document.activeElement.getAttribute('aria-expanded')), 'false');
  await tab.page.keyboard.press('ArrowLeft'); // to its parent
  assert.equal(await tab.page.evaluate(() => document.activeElement.getAttribute('aria-level')), '1');
  await tab.page.keyboard.press('End');
  await tab.page.keyboard.press('ArrowRight'); // opens it again
  assert.equal(await seen(), all);
  await tab.page.keyboard.press('Home');
  await tab.page.keyboard.press('Enter');
  assert.equal(await seen(), 1);
  await tab.page.selectOption(plansOf, '1');
  assert.match(await text(tab, '#run-7'), /From B to A, between 100,000 and 500,000/);
  // one sentence is announced, no trees
  assert.equal(await tab.page.locator('[aria-live] [role=tree], [role=status] [role=tree]').count(), 0);
  assert.match(await tab.page.locator('.card:has(select[aria-label="plans of which query"]) > [role=status]').innerText(), /^scan: 2 plans/);
  assert.match(await tab.page.getByRole('tree').first().innerText(), /(Seq|Index) Scan on t/);
  await accessible(tab, '[role=tree]');
  quiet(tab);
});

test('a run that is not fit for a paper says why, and has nothing to copy', async () => {
  const section = query();
  Object.assign(section.query, { paragraphs: [], no_paragraphs: 'the run is not complete' });
  const tab = await open(document_([section]));
  assert.match(await text(tab, '.query-checks'), /No paragraphs for a paper, as the run is not complete\./);
  assert.equal(await tab.page.getByRole('button', { name: 'copy the paragraphs' }).count(), 0);
  quiet(tab);
  await tab.close();
});

test('the paragraphs can be copied, or are selected where there is no clipboard', async () => {
  const tab = await one();
  await tab.page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (t) => { window.copied = t; } }, configurable: true }));
  const copy = tab.page.getByRole('button', { name: 'copy the paragraphs' });
  await copy.click();
  await tab.page.getByText('Copied.').waitFor();
  assert.match(await tab.page.evaluate(() => window.copied), /dropped, too\.\n\nExperiment-wide/);
  await tab.page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true }));
  await copy.click();
  await tab.page.getByText('The text is selected').waitFor();
  assert.match(await tab.page.evaluate(() => getSelection().toString()), /Query times on PostgreSQL[\s\S]*query's time is 0\.29 %\./);
  quiet(tab);
});

test('SQL, names, plans and settings are text, whatever they hold', async () => {
  const at = (i) => HOSTILE[i % HOSTILE.length];
  const section = withAts({ ...query(), title: at(0) }, HOSTILE, [150000, 300000]);
  section.query.texts.forEach((text_, i) => { text_.sql = at(i + 1); });
  const pairs = Object.fromEntries(HOSTILE.map((name, i) => [name, at(i + 1)]));
  section.query.plans = section.query.plans.map((p, i) => ({ ...p, plan: { node: at(i), relation: at(i + 4), conditions: [...HOSTILE, 5, null], details: pairs, children: HOSTILE.map((node) => ({ node })) } }));
  section.query.server = { dbms: at(1), version: at(2), settings: { ...pairs, x: pairs }, io_by_process: true };
  section.query.paragraphs = HOSTILE;
  section.query.items = HOSTILE.map((name, i) => ({ name, text: at(i + 3) }));
  section.query.deviations = HOSTILE;
  section.query.events[0].text = at(8);
  section.query.experiment.text = HOSTILE.join('\n');
  section.ledgers = section.ledgers.map((l) => ({ ...l, causes: [...HOSTILE.slice(0, 3), ...HOSTILE.slice(-3)] }));
  const other = { ...section, number: 8, anchor: 'run-8' };
  const diff = queryComparison();
  diff.diff.pairs = section.query.at.map((x, i) => ({ ...diff.diff.pairs[i % diff.diff.pairs.length], name: x.name, plan_change: at(i) }));
  const tab = await open(document_([section, other], { comparisons: [diff] }));
  await chartsDraw(tab, 8);
  for (const summary of await tab.page.locator('summary').all()) await summary.click();
  await tab.page.locator('#run-7-at-card tbody button').first().click();
  await tab.page.selectOption('#run-7-cardinality select', '1');
  for (const b of await tab.page.locator('#run-7 .legend button').all()) await b.click();
  // tooltips are made of the same names
  await tab.page.evaluate(() => { for (const [, handle] of window.tare.charts) handle.chart().dispatchAction({ type: 'showTip', seriesIndex: 0, dataIndex: 0 }); });
  await painted(tab);
  await shown(tab, ...HOSTILE);
  await fits(tab);
  quiet(tab);
  await tab.close();
});

test('without a matrix it says that no relation was observed', async () => {
  const section = { ...query(), matrix: null, ledgers: [] };
  for (const x of section.query.model) Object.assign(x, { r: null, p: null, observed: null, off: null });
  const tab = await open(document_([section]));
  assert.deepEqual((await chartsDraw(tab, 2)).sort(), ['run-7-cardinality', 'run-7-split']);
  assert.match(await text(tab, '#run-7'), /No predicted relation was observed/);
  quiet(tab);
  await tab.close();
  section.query.model = [];
  const none = await open(document_([section]));
  await chartsDraw(none, 2);
  quiet(none);
  await none.close();
});

test('an imported run says that it has no plans and no step 5', async () => {
  const section = { ...numbered(kept('query', 'imported').sections[0], 7), charts: {}, matrix: null };
  section.query.post = null;
  for (const at of section.query.at) Object.assign(at, { plan: null, plan_hash: null });
  const tab = await open(document_([section]));
  assert.deepEqual(await chartsDraw(tab, 1), ['run-7-cardinality']);
  const all = await text(tab, '#run-7');
  assert.match(all, /imported/);
  assert.match(all, /Plans are not known/);
  assert.match(all, /Step 5 was refused/);
  assert.equal(await tab.page.getByRole('tree').count(), 0);
  quiet(tab);
  await tab.close();
});

test('tables that do not vary are drawn by query', async () => {
  const tab = await open(document_([withAts(query(), Array.from({ length: 22 }, (_, i) => `q${i + 1}`), [null])]));
  const names = await chartsDraw(tab, 3);
  assert.ok(names.includes('run-7-queries') && !names.includes('run-7-cardinality'));
  await shot(tab, 'query-flat');
  quiet(tab);
  await tab.close();
});

test('everything dropped is drawn hollow and said', async () => {
  const section = query();
  for (const at of section.query.at) {
    Object.assign(at, { dropped_by: 'fewer than 6 executions left', kept: 0, cpu: null, own_device: null });
    for (const t of Object.keys(at.times)) at.times[t] = null;
    for (const x of at.executions) x.dropped_by = ['DBMS time'];
  }
  Object.assign(section.query, { at_kept: 0, executions_kept: 0, relative_error: null });
  const tab = await open(document_([section]));
  await chartsDraw(tab, 3);
  assert.match(await text(tab, '#run-7'), /Nothing was kept/);
  quiet(tab);
  await tab.close();
});

test('of 200 Q@Cs 30 are seen at once, and more on paper', async () => {
  const names = (n) => Array.from({ length: n }, (_, i) => `query number ${i + 1}`);
  const rows = (n) => Array.from({ length: n }, (_, i) => (i + 1) * 100000);
  const doc = document_([withAts(query(), names(20), rows(10))]);
  const tab = await open(doc);
  await chartsDraw(tab, 4);
  await shot(tab, 'query-200');
  const seen = () => tab.page.evaluate(() => {
    const chart = window.tare.charts.get('run-7-split').chart();
    const o = chart.getOption();
    const [from, to] = chart.getModel().getComponent('yAxis').axis.scale.getExtent();
    return [to - from + 1, o.dataZoom[0]?.show ?? null, chart.getHeight() / (to - from + 1) > 15, document.querySelector('#run-7-split .rows-seen').textContent];
  });
  const print = (what) => tab.page.evaluate((event) => void window.dispatchEvent(new Event(event)), what);
  assert.deepEqual((await seen()).slice(0, 3), [30, true, true]);
  assert.match((await seen())[3], /^30 of 200 rows.*slider/);
  await print('beforeprint');
  assert.deepEqual(await seen(), [40, false, true, 'The first 40 of 200 rows.']);
  await print('afterprint');
  assert.deepEqual((await seen()).slice(0, 3), [30, true, true]);
  // where a sheet has room for all, paper has all
  await tab.page.evaluate((fewer) => window.tare.show(fewer), document_([withAts(query(), names(4), rows(9))]));
  await print('beforeprint');
  assert.deepEqual(await seen(), [36, null, true, '']);
  await tab.page.emulateMedia({ media: 'print' });
  assert.doesNotMatch(await text(tab, '#run-7-at-card'), /opens its executions/);
  assert.match(await text(tab, '#run-7-at-card'), /In parentheses/);
  await tab.page.emulateMedia({ media: null });
  await print('afterprint');
  await fits(tab);
  await tab.page.evaluate((many) => window.tare.show(many), doc);
  await tab.page.evaluate(() => window.tare.drawAll());
  const legend = () => tab.page.locator('#run-7-cardinality .legend').evaluate((e) => [e.querySelectorAll('button').length, e.hidden, e.getBoundingClientRect().height <= 140]);
  assert.deepEqual(await legend(), [20, false, true]);
  await tab.page.setViewportSize({ width: 390, height: 844 });
  assert.deepEqual(await legend(), [20, false, true], 'a chart is not pushed out of sight by it');
  await tab.page.evaluate((next) => window.tare.show(next), document_([{ ...withAts(query(), names(40), rows(4)), ledgers: [], matrix: null }]));
  await tab.page.evaluate(() => window.tare.drawAll());
  assert.deepEqual(await legend(), [0, true, true], 'of very many there is a list to choose one of');
  quiet(tab);
  await tab.close();
});

test('two runs are compared by ratios with intervals and plans that changed', async () => {
  const doc = document_(queries(), { comparisons: [queryComparison()], title: 'two runs' });
  await everything(doc, 'query-two', 8, { again: true, also: ratios });
});

async function ratios(tab, names) {
  assert.ok(names.includes('compared-0-1-ratios'));
  const said = await text(tab, '#compared-0');
  assert.match(said, /1\.02×/);
  assert.match(said, /▲ slower/);
  assert.match(said, /Plans that changed/);
  await tab.page.locator('#compared-0 summary').first().click();
  assert.match(await text(tab, '#compared-0 .plan-diff'), /Hash Join/);
}

test('two runs with nothing in common have nothing to compare', async () => {
  const diff = queryComparison();
  diff.diff.pairs.splice(1);
  for (const pair of diff.diff.pairs) Object.assign(pair, { change: 'only_base', base_ns: 2e6, other_ns: 3e6, ratio: null, ratio_low: null, ratio_high: null, p: null });
  Object.assign(diff.diff, { compared: 0, ratio: null, ratio_low: null, ratio_high: null });
  const tab = await open(document_(queries(), { comparisons: [diff] }));
  const said = (await text(tab, '#compared-0')).replaceAll('\u00a0', ' ');
  assert.match(said, /nothing to compare/);
  assert.match(said, /of 8, by CPU \+ device/);
  assert.match(said, /8 of 8 Q@Cs are not compared.*1 of them in one alone.*tare doctor/s);
  const cells = (await tab.page.locator('#compared-0 tbody tr').first().locator('td').allTextContents()).map((cell) => cell.replaceAll('\u00a0', ' '));
  assert.equal(cells[1], '− kept only in the base');
  assert.deepEqual(cells.slice(6, 8), ['2.00 ms', '(3.00 ms)']);
  await chartsDraw(tab, 7);
  quiet(tab);
  await tab.close();
});
