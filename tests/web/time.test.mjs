// The page of `tare time`.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ask, eventually, namesFit, numbers, pixel } from './charts.mjs';
import { document_, numbered, timeDocument } from './documents.mjs';
import { accessible, chartsDraw, csvOf, everything, fits, html, open, quiet, shared, shot, SHOTS, stop } from './browser.mjs';

after(stop);
const common = timeDocument();
const one = shared(() => common);

test('a run is shown: figures first, every chart with data, wide, narrow and dark', async () => {
  await everything(timeDocument(), 'time', 5);
});

test('figures, warnings and the dropped are told in words', async () => {
  const s = common.sections[0];
  const tab = await one();
  const figures = await tab.page.textContent('.time-figures');
  assert.match(figures, new RegExp(`${s.kept.pt_net.n} kept of ${s.unfiltered.pt_net.n} measured`));
  assert.match(figures, /PT net.*ET/s);
  assert.match(figures, new RegExp(`executions${s.kept.pt_net.n} of 398 keptdropped: 1 failed, .*2 warm-ups before`, 's'), 'warm-ups are no executions');
  const measures = await csvOf(tab, () => tab.page.evaluate(() => document.querySelector('.time-figures button[aria-label="Every measure: download as CSV"]').click()));
  assert.match(measures.lines.find((l) => l.startsWith('user,kept')), new RegExp(`^user,kept,${s.kept.user.n},[0-9.]+,,,,,,,,,$`), 'the spread of a share is none');
  assert.doesNotMatch(measures.lines.find((l) => l.startsWith('ET,kept')), /,,/);
  assert.match(await tab.page.textContent('#run-12'), /What helps: see what it says: --show-output/);
  const dropped = await tab.page.textContent('.time-dropped tbody');
  assert.match(dropped, /rule \(I\)/);
  assert.match(dropped, /cron/);
  quiet(tab);
});

test('an estimate is told as one, and an interval that is not known is none', async () => {
  const doc = timeDocument(20);
  const [s] = doc.sections;
  const { pt_net: net } = s.kept;
  Object.assign(s, { headline: 'pt_steady', lead: 'pt_steady', steady: { executions: 20, helps: true, better: true, varied: 0.16, explained: 0.68, coefficients: { chain: 1, ports: 0, turns: 0, loads: 0 }, reference: { chain_ns: 900, ports_ns: null, turns_ns: null, loads_ns: null } } });
  s.columns.steady = s.columns.net.map((v) => v && Math.round(v * 0.9));
  s.kept.pt_steady = { ...net, mean_ns: net.mean_ns * 0.9 };
  s.unfiltered.pt_steady = { ...s.unfiltered.pt_net, mean_ns: net.mean_ns * 0.9 };
  s.kept.et = { ...s.kept.et, ci_low_ns: null, ci_high_ns: null, needed_n: 200 };
  const tab = await open(doc);
  const figure = (measure) => tab.page.textContent(`#${s.anchor} [data-measure="${measure}"]`);
  assert.match(await figure('pt_steady'), /PT\(steady\), estimated.*95 % interval [0-9]/s);
  assert.equal(await tab.page.getAttribute(`#${s.anchor} .figures > div`, 'data-measure'), 'pt_steady', 'what leads is first');
  assert.match(await figure('et'), /no 95 % interval, too few: about 200 needed/);
  assert.match(await tab.page.textContent(`#${s.anchor} .time-figures table`), /PT\(steady\), estimated.*too few: about 200 needed/s);
  assert.match(await tab.page.textContent(`#${s.anchor} .cpu-speed`), /varied by 16.0.%, which explains 68.0.% of σ/);
  const plain = await open(timeDocument(20));
  assert.equal(await plain.page.$('.cpu-speed'), null, 'of a speed that was not watched nothing is told');
  assert.equal(await plain.page.$('[data-measure="pt_steady"]'), null);
  quiet(tab);
});

test('samples: measure, axis, range, bounds, zoom by key and button', async () => {
  const s = common.sections[0];
  const tab = await one();
  const name = 'run-12-samples';
  const points = await ask(tab, name, 'points');
  for (let rule = 0; rule < 5; rule++) assert.equal(points[`rule-${rule}`], s.columns.rule.filter((r) => r === rule).length, `rule ${rule}`);
  const hollow = await tab.page.evaluate((n) => {
    const { symbol, itemStyle } = window.tare.charts.get(n).chart().getOption().series.find((x) => x.id === 'rule-1');
    return [symbol, itemStyle.color === getComputedStyle(document.documentElement).getPropertyValue('--card').trim()];
  }, name);
  assert.deepEqual(hollow, ['rect', true], 'a hollow sign is filled with what it lies on, which the library would fill white');
  assert.deepEqual(await ask(tab, name, 'lines'), [s.rule2.low_ns, s.rule2.high_ns]);
  const all = await ask(tab, name, 'range');
  await tab.page.focus(`#${name} .chart-focus`);
  await tab.page.keyboard.press('+');
  const half = await ask(tab, name, 'range');
  assert.ok(half[1] - half[0] < 0.6 * (all[1] - all[0]), 'a key zooms');
  await tab.page.keyboard.press('ArrowRight');
  assert.ok((await ask(tab, name, 'range'))[0] > half[0], 'a key moves');
  await tab.page.click(`#${name} button[aria-label$="zoom in"]`);
  const quarter = await ask(tab, name, 'range');
  assert.ok(quarter[1] - quarter[0] < 0.6 * (half[1] - half[0]), 'a button zooms');
  await tab.page.selectOption(`#${name} select`, 'et');
  assert.deepEqual((await ask(tab, name, 'range')).map(Math.round), quarter.map(Math.round), 'another measure keeps the window');
  assert.deepEqual(await ask(tab, name, 'lines'), [], 'the bounds are of the headline');
  await tab.page.click(`#${name} button[data-value="number"]`);
  assert.equal((await ask(tab, name, 'axis'))[1], 'execution');
  const lowest = (await ask(tab, name, 'axis'))[2];
  await tab.page.click(`#${name} button[data-value="kept"]`);
  assert.ok((await ask(tab, name, 'axis'))[2] >= lowest);
  await tab.page.click(`#${name} .legend button[data-name="kept"]`);
  assert.equal((await ask(tab, name, 'points'))['rule-0'], undefined, 'a rule can be hidden');
  await tab.page.click(`#${name} .legend button[data-name="kept"]`);
  await tab.page.click(`#${name} button[aria-label$="show all"]`);
  const [from, to] = await ask(tab, name, 'range');
  assert.ok(from < -1 && to > 398 && to < 408, `no point on the frame: ${from} to ${to}`);
  assert.ok(all[0] < 0 && all[1] > s.columns.at_us.at(-1) * 1000, `nor there: ${all}`);
  quiet(tab);
});

test('bounds of a rule that was not applied are not drawn', async () => {
  const doc = timeDocument(5);
  const s = doc.sections[0];
  s.columns.rule = s.columns.rule.map((rule) => (rule === 1 ? 1 : 0));
  Object.assign(s, { rule2: null, reasons: {}, dual: null });
  const tab = await open(doc);
  assert.deepEqual(await ask(tab, 'run-12-samples', 'lines'), []);
  assert.doesNotMatch(await tab.page.textContent('#run-12-samples'), /Rule \(II\) keeps/);
  quiet(tab);
  await tab.close();
});

test('another colour, or the printer, leaves the window and what is drawn in it', async () => {
  const doc = timeDocument();
  const tab = await open(doc);
  await chartsDraw(tab);
  const state = () => tab.page.evaluate(() => ['histogram', 'ledger'].map((n) => {
    const { series, dataZoom } = window.tare.charts.get(`run-12-${n}`).chart().getOption();
    const data = series[0].data;
    return [data.length, data[0][0], data[data.length - 1][1]].map((v) => Math.round(v)).concat(dataZoom[0].start, dataZoom[0].end);
  }));
  const all = await state();
  await tab.page.evaluate(() => {
    for (const n of ['histogram', 'ledger']) window.tare.charts.get(`run-12-${n}`).chart().dispatchAction({ type: 'dataZoom', dataZoomIndex: 0, start: 20, end: 40 });
  });
  await tab.page.waitForTimeout(150);
  const before = await state();
  assert.notDeepEqual(before, all);
  await tab.page.selectOption('select[aria-label="colours"]', 'dark');
  assert.deepEqual(await state(), before);
  await tab.page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  assert.deepEqual((await state()).map((x) => x[3]), [20, 20]);
  await tab.page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
  assert.deepEqual(await state(), before);
  // a timeline as well
  const i = doc.sections[0].columns.rule.indexOf(3);
  await tab.page.selectOption('.time-executions select', '3');
  await tab.page.locator('.time-executions tbody button').first().click();
  const trace = `run-12-trace-${i}`;
  const kinds = () => tab.page.locator(`#${trace} .legend button`).allTextContents();
  await tab.page.evaluate((n) => window.tare.charts.get(n).draw(), trace);
  const every = await kinds();
  const looks = await tab.page.evaluate((n) => {
    const style = getComputedStyle(document.documentElement);
    const causes = [...Array.from({ length: 12 }, (_, k) => `series-${k}`), 'muted'].map((v) => style.getPropertyValue(`--${v}`).trim());
    const series = window.tare.charts.get(n).chart().getOption().series.map((x) => [x.id, x.itemStyle.color]);
    return { colours: series.map(([, colour]) => colour), shared: series.filter(([id, colour]) => ['kind-0', 'kind-1', 'kind-2', 'kind-3'].includes(id) && causes.includes(colour)) };
  }, trace);
  assert.equal(new Set(looks.colours).size, looks.colours.length, 'kinds are told apart');
  assert.deepEqual(looks.shared, [], 'from waits, too');
  await tab.page.focus(`#${trace} .chart-focus`);
  for (const key of ['+', '+', '+']) await tab.page.keyboard.press(key);
  await tab.page.waitForTimeout(150);
  const zoomed = await ask(tab, trace, 'points');
  const colour = () => tab.page.evaluate(() => document.querySelector('dialog[open] .ledger-bar span').style.background);
  const dark = await colour();
  await tab.page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  assert.deepEqual(Object.keys(await ask(tab, trace, 'points')), Object.keys(zoomed));
  assert.equal((await ask(tab, trace, 'points'))['kind-0'], zoomed['kind-0']);
  assert.ok(Object.keys(zoomed).length < every.length, 'not every kind is in sight');
  assert.deepEqual(await kinds(), every, 'the legend is of all of it');
  assert.notEqual(await colour(), dark, 'the bar of an open execution has the colours of the page');
  quiet(tab);
  await tab.close();
});

test('keys move a chart along the axis that they point at', async () => {
  const tab = await open(timeDocument());
  const name = 'run-12-dual';
  await tab.page.evaluate((n) => window.tare.charts.get(n).draw(), name);
  const zooms = () => tab.page.evaluate((n) => window.tare.charts.get(n).chart().getOption().dataZoom.map((z) => [z.start, z.end]), name);
  await tab.page.focus(`#${name} .chart-focus`);
  await tab.page.keyboard.press('+');
  assert.deepEqual(await zooms(), [[25, 75], [25, 75]]);
  await tab.page.keyboard.press('ArrowRight');
  assert.deepEqual(await zooms(), [[37.5, 87.5], [25, 75]]);
  await tab.page.keyboard.press('ArrowUp');
  await tab.page.keyboard.press('ArrowUp');
  assert.deepEqual(await zooms(), [[37.5, 87.5], [50, 100]]);
  await tab.page.keyboard.press('ArrowDown');
  assert.deepEqual(await zooms(), [[37.5, 87.5], [37.5, 87.5]]);
  quiet(tab);
  await tab.close();
});

test('a table keeps the focus and tells its rows; a filter waits for the typing', async () => {
  const tab = await one();
  const table = tab.page.locator('.time-executions .table');
  await table.getByRole('button', { name: 'Executions: rows after' }).focus();
  await tab.page.keyboard.press('Enter');
  await tab.page.keyboard.press('Enter');
  assert.match(await table.locator('[aria-live]').textContent(), /^31–45 of 400$/);
  await table.getByRole('button', { name: 'Executions: rows before' }).focus();
  for (let i = 0; i < 3; i++) await tab.page.keyboard.press('Enter');
  assert.match(await table.locator('[aria-live]').textContent(), /^1–15 of 400$/);
  assert.equal(await tab.page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Executions: rows before', 'at the end, too');
  const focused = () => tab.page.evaluate(() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent);
  await table.getByRole('button', { name: 'Executions: rows after' }).click();
  for (const what of [table.locator('tbody button').nth(3), table.locator('thead button').nth(1)]) {
    await what.focus();
    const had = await focused();
    for (const event of ['beforeprint', 'afterprint']) {
      await tab.page.evaluate((name) => window.dispatchEvent(new Event(name)), event);
      assert.equal(await focused(), had, event);
    }
  }
  await table.getByRole('button', { name: 'Executions: rows before' }).click();
  await table.getByRole('searchbox').fill('warm-up');
  await tab.page.waitForFunction(() => document.querySelector('.time-executions [aria-live]').textContent === '2 rows');
  await accessible(tab, '.time-executions');
  await table.getByRole('searchbox').fill('');
  await tab.page.waitForFunction(() => document.querySelector('.time-executions [aria-live]').textContent === '1–15 of 400');
  quiet(tab);
});

test('on paper no chart is wider than its page', async () => {
  const tab = await open(timeDocument(700), { width: 1500, height: 900 });
  await chartsDraw(tab);
  const widths = () => tab.page.evaluate(() => Object.fromEntries([...window.tare.charts].map(([n, c]) => [n, Math.round(c.element.querySelector('.chart canvas').getBoundingClientRect().width)])));
  const before = await widths();
  await tab.page.evaluate(() => window.addEventListener('beforeprint', () => { window.printed = document.querySelector('#run-12-samples .chart canvas').getBoundingClientRect().width; }));
  await tab.page.pdf({ path: `${SHOTS}/time.pdf`, format: 'A4', printBackground: true });
  assert.ok((await tab.page.evaluate(() => window.printed)) > 500, 'charts are drawn for the paper');
  await tab.page.emulateMedia({ media: 'print' });
  await tab.page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  for (const [name, width] of Object.entries(await widths())) assert.ok(width <= (182 / 25.4) * 96, `${name} is ${width} px wide`);
  assert.equal(await tab.page.locator('.time-executions tbody tr').count(), 500);
  assert.match(await tab.page.textContent('.time-executions .beyond:visible'), /^202 more rows are in the CSV of this table and in the JSON of this page\.$/);
  assert.ok(await tab.page.locator('.hint').count() > 2);
  assert.equal(await tab.page.locator('.hint:visible').count(), 0, 'paper has no mouse');
  const titles = await tab.page.evaluate(() => ['samples', 'histogram'].map((n) => window.tare.charts.get(`run-12-${n}`).chart().getOption().yAxis[0]).map((a) => [a.name, a.minInterval]));
  assert.deepEqual(titles, [['PT net', titles[0][1]], ['executions', 1]]);
  await tab.page.setViewportSize({ width: 688, height: 970 }); // A4 within its margins
  await fits(tab);
  await tab.page.setViewportSize({ width: 1500, height: 900 });
  await tab.page.emulateMedia({ media: 'screen' });
  await tab.page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
  await tab.page.waitForTimeout(100);
  assert.deepEqual(await widths(), before, 'and then they are as they were');
  assert.equal(await tab.page.locator('.time-executions tbody tr').count(), 15);
  assert.equal(await tab.page.locator('.beyond:visible').count(), 0);
  quiet(tab);
  await tab.close();
});

test('hover tells the culprit, a click opens the execution with its daemons and its timeline', async () => {
  const doc = timeDocument();
  const s = doc.sections[0];
  const i = s.columns.rule.indexOf(3);
  const tab = await open(doc);
  const at = await pixel(tab, 'run-12-samples', s.columns.at_us[i] * 1000, s.columns.net[i]);
  await tab.page.mouse.move(at.x, at.y);
  await tab.page.waitForFunction(() => /culprit: cron/.test(document.querySelector('#run-12-samples .tip')?.textContent ?? ''));
  await shot(tab, 'time-hover');
  await tab.page.mouse.click(at.x, at.y);
  const dialog = tab.page.locator('dialog[open]');
  await dialog.waitFor();
  assert.equal(await dialog.locator('h2').textContent(), `Execution ${s.columns.number[i]}`);
  assert.match(await dialog.locator('[data-part="others"]').textContent(), /cron/);
  assert.match(await dialog.locator('[data-part="processes"]').textContent(), /daemon/);
  assert.match(await dialog.locator('[data-part="interrupts"]').textContent(), /local timer/);
  assert.match(await dialog.locator('[data-part="entries"]').textContent(), /queued/);
  const trace = `run-12-trace-${i}`;
  const points = await ask(tab, trace, 'points');
  assert.ok(points['kind-0'] > 3 && points['kind-4'] > 3 && points['kind-7'] > 3, JSON.stringify(points));
  const { lines } = await csvOf(tab, () => tab.page.click(`#${trace} button[aria-label$="download as CSV"]`));
  for (const cause of ['queued', 'futex', 'io']) assert.ok(lines.some((line) => line.endsWith(`,wait,${cause}`)), `a wait for ${cause}`);
  await tab.page.focus(`#${trace} .chart-focus`);
  const all = await ask(tab, trace, 'range');
  await tab.page.keyboard.press('+');
  await tab.page.keyboard.press('+');
  await eventually(async () => (await ask(tab, trace, 'points'))['kind-0'] < points['kind-0'], 'what is out of sight is not drawn');
  const zoomed = await ask(tab, trace, 'range');
  assert.ok(zoomed[1] - zoomed[0] < 0.3 * (all[1] - all[0]));
  await accessible(tab, 'dialog');
  await tab.page.keyboard.press('0');
  await eventually(async () => (await ask(tab, trace, 'points'))['kind-0'] === points['kind-0'], 'all is drawn again');
  await shot(tab, 'time-execution', false);
  await dialog.locator('button[data-step="1"]').click();
  assert.equal(await dialog.locator('h2').textContent(), `Execution ${s.columns.number[i + 1]}`);
  await tab.page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await eventually(async () => !(await tab.page.evaluate(() => [...window.tare.charts.keys()].some((n) => n.includes('trace')))), 'its timeline goes with it');
  await tab.page.selectOption('select[aria-label="colours"]', 'dark');
  quiet(tab);
  await tab.close();
});

test('hover tells who held up a kept execution, by name or by its ledger', async () => {
  const doc = timeDocument();
  const s = doc.sections[0];
  const kept = s.columns.rule.flatMap((rule, i) => (rule === 0 ? [i] : []));
  const [named, bare, delayed] = [kept[20], kept[60], kept[100]];
  s.details[named].entries = [[3, s.names.indexOf('postgres'), 900, 16_200_000, 3], [3, s.names.indexOf('cron'), 812, 1_000, 1], [1, s.names.indexOf('local timer'), 0, 12_000, 4]];
  s.details[delayed].entries = [];
  s.details[delayed].others = [[s.names.indexOf('kworker/0:1'), 12, 9_000_000, 2, 9_000, 2_500_000, 0]];
  delete s.details[bare];
  s.ledger.wall[3][bare] = 3_200_000;
  const tab = await open(doc);
  for (const [i, words] of [[named, /queued 16.2.ms behind postgres.*irq 12.0.µs by local timer/s], [delayed, /queued 2.50.ms behind kworker/], [bare, /queued 3.20.ms: runnable, another task had its CPU/]]) {
    const at = await pixel(tab, 'run-12-samples', s.columns.at_us[i] * 1000, s.columns.net[i]);
    await tab.page.mouse.move(0, 0);
    await tab.page.mouse.move(at.x, at.y);
    await tab.page.waitForFunction((n) => document.querySelector('#run-12-samples .tip')?.textContent.startsWith(`execution ${n}`), s.columns.number[i]);
    assert.match(await tab.page.textContent('#run-12-samples .tip'), words);
  }
  quiet(tab);
  await tab.close();
});

test('who else ran is summed up over the executions that have details', async () => {
  const doc = timeDocument(50);
  const s = doc.sections[0];
  const [cron, postgres] = ['cron', 'postgres'].map((n) => s.names.indexOf(n));
  const detail = (entries, others) => ({ processes: [], entries, others, interrupts: [], trace: null });
  s.details = {
    0: detail([[3, cron, 1, 9e9, 1]], [[cron, 1, 9e9, 1, 9e9, 9e9, 0]]), // a warm-up
    5: detail([[3, cron, 1, 1e6, 1], [3, postgres, 2, 3e6, 1]], [[cron, 1, 2e6, 1, 2e6, 1e6, 0], [cron, 7, 2e6, 1, 2e6, 1e6, 0]]),
    6: detail([[3, cron, 1, 1e6, 1]], [[postgres, 2, 8e6, 1, 8e6, 6e6, 4e6]]),
  };
  const tab = await open(doc);
  assert.match(await tab.page.textContent('.time-others'), /over the 2 of 50 executions/);
  const saved = await csvOf(tab, () => tab.page.click('.time-others button[aria-label$="download as CSV"]'));
  assert.deepEqual(saved.lines, ['name,mean_ns,mean_delayed_ns,mean_io_delayed_ns,executions', 'postgres,4000000,3000000,2000000,1', 'cron,2000000,1000000,0,1']);
  assert.match(await tab.page.textContent('#run-12-mean-ledger tbody'), /queued.*postgres, cron/s);
  quiet(tab);
  await tab.close();
});

test('an execution is opened by the keyboard, on a narrow screen too', async () => {
  const tab = await open(timeDocument(), { width: 390, height: 844 });
  await tab.page.locator('.time-executions tbody button').nth(3).focus();
  await tab.page.keyboard.press('Enter');
  const dialog = tab.page.locator('dialog[open]');
  await dialog.waitFor();
  assert.equal(await dialog.locator('h2').textContent(), 'Execution 2');
  await fits(tab);
  await accessible(tab, 'dialog');
  await shot(tab, 'time-execution-narrow', false);
  await tab.page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  assert.match(await tab.page.evaluate(() => document.activeElement.getAttribute('aria-label')), /execution 2/);
  quiet(tab);
  await tab.close();
});

test('the histogram: bins follow the zoom, log axis, kept and all', async () => {
  const s = common.sections[0];
  const tab = await one();
  const name = 'run-12-histogram';
  const sum = (id) => tab.page.evaluate(([n, which]) => window.tare.charts.get(n).draw().getOption().series.find((x) => x.id === which)?.data.reduce((a, b) => a + b[2], 0) ?? null, [name, id]);
  assert.equal(await sum('bins-all'), s.unfiltered.pt_net.n);
  assert.equal(await sum('bins-kept'), s.kept.pt_net.n);
  await tab.page.click(`#${name} button[data-value="log"]`);
  assert.equal((await ask(tab, name, 'axis'))[0], 'log');
  await eventually(async () => (await sum('bins-all')) === s.unfiltered.pt_net.n, 'all are in bins');
  await tab.page.click(`#${name} button[data-value="kept"]`);
  assert.equal(await sum('bins-all'), null);
  await tab.page.click(`#${name} button[aria-label$="zoom in"]`);
  await eventually(async () => (await sum('bins-kept')) < s.kept.pt_net.n, 'only what is in the window is in bins');
  assert.ok(await sum('bins-kept') > 0);
  quiet(tab);
});

test('the ledger: order, hidden causes, neighbours that part with the zoom, a click', async () => {
  const doc = timeDocument();
  const s = doc.sections[0];
  const tab = await open(doc);
  const name = 'run-12-ledger';
  const bars = () => tab.page.evaluate((n) => window.tare.charts.get(n).draw().getOption().series.find((x) => x.id === 'cause-run').data.map((d) => d[1] - d[0]), name);
  assert.ok((await bars()).every((width, k, list) => width === 2 || k === list.length - 1), '400 executions are 200 bars');
  await tab.page.focus(`#${name} .chart-focus`);
  await tab.page.keyboard.press('+');
  await tab.page.waitForFunction((n) => window.tare.charts.get(n).chart().getOption().series.find((x) => x.id === 'cause-run').data[0][1] % 2 === 1
    || window.tare.charts.get(n).chart().getOption().series.find((x) => x.id === 'cause-run').data.every((d) => d[1] - d[0] === 1), name);
  assert.ok((await bars()).every((width) => width === 1));
  await tab.page.keyboard.press('0');
  await tab.page.click(`#${name} button[data-value="et"]`);
  let tops;
  await eventually(async () => {
    tops = await tab.page.evaluate((n) => window.tare.charts.get(n).draw().getOption().series.find((x) => x.id === 'cause-unseen').data.map((d) => d[3]), name);
    return tops.length >= 200 && tops[0] > tops[tops.length - 1];
  }, 'longest first');
  await tab.page.focus(`#${name} .legend button[data-name="run"]`);
  const highest = () => tab.page.evaluate((n) => window.tare.charts.get(n).draw().getOption().yAxis[0].max, name);
  await tab.page.keyboard.press('Enter');
  await eventually(async () => (await highest()) < tops[0], 'without run the bars are shorter');
  await tab.page.keyboard.press('Enter');
  await eventually(async () => (await highest()) >= tops[0], 'and with it as long as before');
  const at = await pixel(tab, name, 0.9, s.columns.et[0] / 3);
  await tab.page.mouse.move(at.x, at.y);
  await tab.page.mouse.click(at.x, at.y);
  const longest = s.columns.et.indexOf(Math.max(...s.columns.et));
  assert.match(await tab.page.locator('dialog[open] h2').textContent(), new RegExp(` ${s.columns.number[longest]}$`));
  quiet(tab);
  await tab.close();
});

test('the ledger names warm-ups as such, marks the dropped, and has its labels below the middle of bars', async () => {
  const doc = timeDocument(30);
  const s = doc.sections[0];
  const tab = await open(doc);
  const seen = await tab.page.evaluate(() => {
    const chart = window.tare.charts.get('run-12-ledger').draw();
    const { xAxis: [x], series } = chart.getOption();
    return { labels: [-0.5, 0, 1, 2, 3, 31.5].map(x.axisLabel.formatter), range: [x.min, x.max], marked: series.find((t) => t.id === 'dropped').data.map((d) => d.value[0]) };
  });
  assert.deepEqual(seen.labels, ['', 'w1', 'w2', '1', '2', '']);
  assert.deepEqual(seen.range, [-0.5, 31.5]);
  assert.deepEqual(seen.marked, s.columns.rule.flatMap((rule, i) => (rule > 1 ? [i] : [])));
  await tab.page.locator('#run-12-ledger').screenshot({ path: `${SHOTS}/time-ledger.png` });
  quiet(tab);
  await tab.close();
});

test('pairs: zoom levels, brush by mouse and by fields, linked to samples and list', async () => {
  const doc = timeDocument();
  const s = doc.sections[0];
  const tab = await open(doc);
  const name = 'run-12-dual';
  const points = await ask(tab, name, 'points');
  assert.equal(points.inside + points.outside, 198, 'the failed one has no pair');
  assert.ok(points.outside > 5);
  const off = (i) => s.columns.rule[i] === 3 || s.columns.rule[i] === 4;
  assert.equal(points.dropped, s.columns.number.filter((n, i) => i > 1 && n % 2 && i !== 40 && i + 1 !== 40 && (off(i) || off(i + 1))).length, 'the dropped have a sign');
  const all = await ask(tab, name, 'range');
  await tab.page.click(`#${name} .zooms button[data-level="2"]`);
  const level = await ask(tab, name, 'range');
  assert.ok(level[1] - level[0] < all[1] - all[0]);
  assert.ok(level[0] <= s.dual.levels[1].low_ns && level[1] >= s.dual.levels[1].high_ns, 'the level is in the window');
  assert.match(await tab.page.textContent(`#${name}`), /Zoom 2 of 2.*symmetric: nothing stands apart/s);
  assert.equal((await ask(tab, name, 'lines')).length, 2);
  await tab.page.click(`#${name} .zooms button[data-level="0"]`);
  await tab.page.click(`#${name} button[aria-label^="select pairs"]`);
  const [a, b] = [await pixel(tab, name, all[0] + (all[1] - all[0]) * 0.5, all[0]), await pixel(tab, name, all[1], all[1])];
  await tab.page.mouse.move(a.x, a.y - 3);
  await tab.page.mouse.down();
  await tab.page.mouse.move((a.x + b.x) / 2, (a.y + b.y) / 2, { steps: 4 });
  await tab.page.mouse.move(b.x - 2, b.y + 2, { steps: 4 });
  await tab.page.mouse.up();
  await tab.page.waitForFunction(() => /Selected: [1-9]/.test(document.querySelector('#run-12-dual').textContent));
  const chosen = (await ask(tab, name, 'points')).chosen;
  assert.ok(chosen > 2, `${chosen} pairs`);
  assert.equal((await ask(tab, 'run-12-samples', 'points')).selected, 2 * chosen, 'they are marked in the samples');
  assert.equal(await tab.page.locator('.selected-pairs tbody tr').count(), Math.min(8, chosen));
  assert.notEqual(await tab.page.inputValue('input[data-window="0"]'), '');
  await shot(tab, 'time-brush');
  const looks = await tab.page.evaluate(() => ['dual', 'samples'].map((n) => window.tare.charts.get(`run-12-${n}`).chart().getOption().series.at(-1)).map((r) => [r.itemStyle.color, r.itemStyle.borderWidth]));
  assert.deepEqual(looks, [['transparent', 2], ['transparent', 2]], 'rings leave their points in sight');
  // the run goes on: what was selected is selected still, its frame, too; so it is in other colours
  const frame = () => tab.page.evaluate(() => window.tare.charts.get('run-12-dual').draw().getModel().getComponent('brush').areas.map((a) => a.coordRange));
  const [fields, framed] = [await tab.page.locator('input[data-window]').evaluateAll((list) => list.map((f) => f.value)), await frame()];
  assert.equal(framed.length, 1);
  await tab.page.evaluate((next) => window.tare.show(next), doc);
  for (const colours of ['dark', 'light']) {
    assert.deepEqual(await frame(), framed);
    assert.deepEqual([(await ask(tab, name, 'points')).chosen, (await ask(tab, 'run-12-samples', 'points')).selected], [chosen, 2 * chosen]);
    assert.deepEqual(await tab.page.locator('input[data-window]').evaluateAll((list) => list.map((f) => f.value)), fields);
    assert.equal(await tab.page.getAttribute(`#${name} button[aria-label^="select pairs"]`, 'aria-pressed'), 'true');
    await tab.page.selectOption('select[aria-label="colours"]', colours);
  }
  await tab.page.selectOption('.time-executions select', 'selected');
  assert.equal(await tab.page.locator('.time-executions tbody tr').count(), Math.min(15, 2 * chosen));
  await tab.page.click(`#${name} button[aria-label="clear the selection"]`);
  assert.equal((await ask(tab, 'run-12-samples', 'points')).selected, 0);
  await tab.page.fill('input[data-window="2"]', String((all[0] + (all[1] - all[0]) * 0.5) / 1e6));
  await tab.page.keyboard.press('Tab');
  const bySecond = (await ask(tab, name, 'points')).chosen;
  const expected = s.columns.et.filter((et, i) => s.columns.number[i] % 2 === 0 && i > 1 && et >= all[0] + (all[1] - all[0]) * 0.5).length;
  assert.equal(bySecond, expected, 'a field that is empty does not limit');
  // rings are around what is drawn
  assert.deepEqual(await tab.page.locator(`#${name} .legend button`).allTextContents(), ['within the cluster', 'one lies outside of it', 'one was dropped']);
  for (const b of await tab.page.locator(`#${name} .legend button`).all()) await b.click();
  assert.equal((await ask(tab, name, 'points')).chosen, 0);
  for (const b of await tab.page.locator(`#${name} .legend button`).all()) await b.click();
  assert.equal((await ask(tab, name, 'points')).chosen, bySecond);
  const rings = async () => (await ask(tab, 'run-12-samples', 'points')).selected;
  const ringed = await rings();
  await tab.page.click('#run-12-samples .legend button[data-name="kept"]');
  assert.ok(await rings() < ringed);
  await tab.page.click('#run-12-samples .legend button[data-name="kept"]');
  assert.equal(await rings(), ringed);
  // an execution takes longer than a second: what is written stays what it was; a zoom that is no more is none
  await tab.page.click(`#${name} .zooms button[data-level="2"]`);
  const written = () => tab.page.locator('input[data-window]').evaluateAll((list) => list.map((f) => [f.value, f.getAttribute('aria-label')]));
  const had = await written();
  assert.match(had[2][1], /in ms$/);
  const longer = structuredClone(doc);
  longer.sections[0].columns.et[50] = 1.5e9;
  longer.sections[0].dual.levels.pop();
  await tab.page.evaluate((next) => { window.tare.show(next); window.tare.drawAll(); }, longer);
  assert.deepEqual(await written(), had);
  assert.deepEqual(await tab.page.locator(`#${name} .zooms button[aria-pressed="true"]`).evaluateAll((list) => list.map((b) => b.dataset.level)), ['0']);
  await tab.page.fill('input[data-window="3"]', '1000');
  await tab.page.keyboard.press('Tab');
  assert.equal((await ask(tab, name, 'points')).chosen, expected, 'of ms still');
  await tab.page.fill('input[data-window="2"]', '5000');
  await tab.page.fill('input[data-window="3"]', '6000');
  await tab.page.keyboard.press('Tab');
  assert.deepEqual(await frame(), [], 'nothing is framed beyond what is drawn');
  await accessible(tab, '#run-12-dual');
  quiet(tab);
  await tab.close();
});

test('executions: filter by rule, pages, CSV with every row', async () => {
  const s = common.sections[0];
  const tab = await one();
  const saved = await csvOf(tab, () => tab.page.click('.time-executions button[aria-label="Executions: download as CSV"]'));
  assert.equal(saved.name, 'run-12-executions.csv');
  assert.equal(saved.lines.length, 401);
  assert.equal(saved.lines[0], 'number,rule,at_us,et_ns,pt_net_ns,pt_exec_ns,rss_peak,switches_per_s,daemon,reason');
  assert.equal(saved.lines[3].split(',').slice(0, 6).join(), [1, 'kept', s.columns.at_us[2], s.columns.et[2], s.columns.net[2], s.columns.exec[2]].join());
  await tab.page.selectOption('.time-executions select', '3');
  const dropped = s.columns.rule.filter((r) => r === 3).length;
  assert.equal(await tab.page.locator('.time-executions tbody tr').count(), dropped);
  const ledger = await csvOf(tab, () => tab.page.click('#run-12-ledger button[aria-label$="download as CSV"]'));
  assert.equal(ledger.lines.length, 401);
  assert.match(ledger.lines[0], /^number,rule,et_ns,run_ns,irq_ns/);
  quiet(tab);
});

test('a measure that the catalogue has a title for is shown, whatever it is', async () => {
  const doc = timeDocument(20);
  const [s] = doc.sections;
  s.measures.push({ column: 'turns_per_s', name: 'turns_per_s', title: 'turns', unit: 'per_s', meaning: 'turns per s' });
  s.measures.push({ column: 'swap_peak', name: 'swap_peak', title: 'peak swap', unit: 'bytes', meaning: 'of the largest process' });
  s.columns.turns_per_s = s.columns.et.map((_, i) => (i ? 12.5 + i : null));
  s.columns.swap_peak = null; // nobody has it
  const tab = await open(doc);
  const heads = await tab.page.locator('.time-executions thead th').allTextContents();
  assert.deepEqual(heads.slice(3), ['ET', 'PT net', 'PT exec', 'peak RSS', 'switches/s', 'turns', 'culprit', 'why']);
  assert.equal(await tab.page.locator('.time-executions thead button', { hasText: 'turns' }).getAttribute('title'), 'turns per s');
  const cells = await tab.page.locator('.time-executions tbody tr').evaluateAll((rows) => rows.slice(0, 2).map((row) => row.children[8].textContent));
  assert.deepEqual(cells, ['–', '13.5']);
  const saved = await csvOf(tab, () => tab.page.click('.time-executions button[aria-label="Executions: download as CSV"]'));
  assert.match(saved.lines[0], /,rss_peak,switches_per_s,turns_per_s,daemon/);
  await tab.page.locator('.time-executions tbody button').nth(1).click();
  assert.match(await tab.page.textContent('dialog[open] .figures'), /peak RSS.*turns13\.5/);
  quiet(tab);
  await tab.close();
});

test('little is enough: no ledger, no PT, no pairs, one execution, none', async () => {
  const plain = (number) => {
    const s = numbered(timeDocument(60).sections[0], number);
    Object.assign(s, { backend: 'plain', headline: 'et', ledger: null, details: {}, dual: null, kept: { et: s.kept.et }, unfiltered: { et: s.unfiltered.et } });
    s.columns.net = s.columns.exec = null;
    return s;
  };
  const one = plain(1);
  const none = plain(2);
  Object.assign(none, { reasons: {}, charts: {}, kept: { et: null }, unfiltered: { et: null }, status: 'going', warnings: [] });
  none.columns = { number: [], at_us: [], et: [], net: null, exec: null, tick: null, rss: null, rule: [] };
  const single = structuredClone(none);
  Object.assign(single, { anchor: 'run-3', number: 3, columns: { ...none.columns, number: [1], at_us: [0], et: [5e6], rule: [0] }, status: 'interrupted' });
  single.kept.et = { n: 1, mean_ns: 5e6, median_ns: 5e6, min_ns: 5e6, max_ns: 5e6, stddev_ns: null, relative_error: null, mad_ns: null, ci_low_ns: null, ci_high_ns: null };
  const warm = structuredClone(single);
  Object.assign(warm, { anchor: 'run-4', number: 4, columns: { ...single.columns, rule: [1] }, kept: { et: null } });
  const tab = await open(document_([one, none, single, warm]));
  const names = await chartsDraw(tab);
  assert.ok(names.includes('run-3-histogram') && names.includes('run-4-samples') && !names.includes('run-4-histogram'), 'of warm-ups alone there is no distribution');
  assert.match(await tab.page.textContent('#run-2'), /No execution yet/);
  await namesFit(tab);
  await accessible(tab);
  await fits(tab);
  quiet(tab);
  await tab.close();

  // a run that failed at its warm-up, and one that failed before
  const ended = structuredClone(single);
  Object.assign(ended, { status: 'failed', planned: 15, kept: { et: null }, warnings: [{ id: 'failures', text: 'warm-up 1 failed: exit status 2; nothing was measured', remedy: 'see what it says: --show-output' }] });
  ended.columns.rule = [1];
  Object.assign(none, { status: 'failed', planned: 1 });
  const failed = await open(document_([ended, none]));
  assert.match(await failed.page.textContent('#run-3 .time-figures'), /none measured15 were planned1 warm-up before/);
  assert.doesNotMatch(await failed.page.textContent('#run-3'), /no execution did/);
  assert.match(await failed.page.textContent('#run-2'), /none measured1 was planned.*The run failed, but no execution did: its command could not be started/);
  assert.deepEqual(await numbers(failed, 'run-3-samples'), ['w1']);
  quiet(failed);
  await failed.close();
});

test('100,000 executions open, zoom and are looked through', async () => {
  const doc = timeDocument(100_000);
  assert.ok(html(doc).length < 15e6, 'below 15 MB');
  const tab = await open(doc);
  const ready = tab.loaded_ms;
  const zoomed = await tab.page.evaluate(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const times = {};
    for (const name of ['run-12-samples', 'run-12-histogram', 'run-12-ledger', 'run-12-dual']) {
      const begun = performance.now();
      const chart = window.tare.charts.get(name).draw();
      await frame();
      const drawn = performance.now();
      chart.dispatchAction({ type: 'dataZoom', dataZoomIndex: 0, start: 40, end: 45 });
      await frame();
      await frame();
      times[name] = [Math.round(drawn - begun), Math.round(performance.now() - drawn)];
    }
    return times;
  });
  console.log(`# 100,000 executions: loaded in ${ready} ms; drawn, zoomed: ${JSON.stringify(zoomed)}`);
  // very wide: the tight figures are those of bench/page
  assert.ok(ready < 30_000, `${ready} ms`);
  for (const [name, [drawn, again]] of Object.entries(zoomed)) assert.ok(drawn < 20_000 && again < 10_000, `${name}: ${drawn}, ${again} ms`);
  await shot(tab, 'time-large');
  quiet(tab);
  await tab.close();
});
