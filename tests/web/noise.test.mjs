// Pages of noise: what is drawn, what choosing and zooming do, and what a run may lack.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { eventually } from './charts.mjs';
import { document_, kept, numbered, sample } from './documents.mjs';
import { accessible, chartsDraw, clickEach, csvOf, everything, fits, HOSTILE, open, painted, quiet, shared, shot, shown, stop } from './browser.mjs';

after(stop);

// a calm run, and a loud one, which has the first as its baseline
const noises = () => sample('noises').sections;
const diff = () => sample('noises').comparisons[0].diff;
const loud = noises()[1].noise;
const alone = () => document_([noises()[1]]);
/** Both, held against each other; baseline: the second has the first as its own, too. */
const both = (d, baseline = false) => document_(noises().map((s) => (baseline ? s : { ...s, baseline: null })), { comparisons: [{ kind: 'noise', base: 0, run: 1, diff: d }] });
const one = shared(alone);
const option = (tab, name) => tab.page.evaluate((n) => {
  const o = window.tare.charts.get(n).chart().getOption();
  return { series: o.series.map((s) => ({ name: s.name, type: s.type, points: s.data.length, first: s.data.find((d) => d && (d.value ?? d)[1] !== null) })), zoom: (o.dataZoom ?? []).map((z) => [z.start, z.end]) };
}, name);

test('a page of noise stands what every page has to', async () => {
  await everything(alone(), 'noise', 8);
});

test('figures come first, and are those of the run', async () => {
  const tab = await one();
  const text = (await tab.page.locator('#run-2 .figures').first().textContent()).replaceAll('\u00a0', ' ');
  assert.match(text, /time lost1\.02 %/);
  assert.match(text, /detours480 per s/);
  assert.match(text, /threshold100 ns/);
  assert.match(text, /duty cycle99\.0 %/);
  assert.match(text, /coverage: strict \/ by overlap\d/);
});

test('densities are of the loop, the kernel and the baseline; a histogram has the same', async () => {
  const tab = await one();
  // the first zoom of all
  await tab.page.evaluate(() => { window.tare.charts.get('run-2-parts').chart().getModel().same = true; });
  const range = () => tab.page.textContent('#run-2-range .range');
  const whole = await range();
  const zoom = async (key, until) => {
    await tab.page.focus('#run-2-density .chart-focus');
    await tab.page.keyboard.press(key);
    await eventually(async () => until(await range()), 'the contributors follow');
  };
  await zoom('+', (now) => now !== whole);
  assert.ok(await tab.page.evaluate(() => window.tare.charts.get('run-2-parts').chart().getModel().same), 'what is of other lengths as well is not drawn anew');
  await zoom('0', (now) => now === whole);
  assert.deepEqual((await option(tab, 'run-2-density')).series.map((s) => s.name), ['user level', 'master', 'baseline']);
  await tab.page.locator('#run-2-density select').nth(1).selectOption('histogram');
  assert.deepEqual((await option(tab, 'run-2-density')).series.map((s) => s.name), ['user level', 'master', 'baseline']);
  const rows = (await csvOf(tab, () => tab.page.locator('#run-2-density .tools button', { hasText: 'CSV' }).first().click())).lines;
  assert.equal(rows[0], 'length_ns,user,master,baseline,source');
  // per s and decade, of bins of 1/20 decade: their sum is all detours
  const seen = rows.slice(1).reduce((sum, row) => sum + Number(row.split(',')[1]), 0) * 0.05 * (loud.together.window_ns / 1e9);
  assert.ok(Math.abs(seen - loud.together.detours.count) < 1, `${seen} of ${loud.together.detours.count}`);
  await tab.page.locator('#run-2-density select').nth(1).selectOption('density');
  quiet(tab);
});

test('the speed of each CPU is drawn over time, by kind of work', async () => {
  const tab = await one();
  assert.deepEqual((await option(tab, 'run-2-speed')).series.map((s) => [s.name, s.type]), [['CPU 0', 'line'], ['CPU 1', 'line']]);
  const speeds = () => tab.page.evaluate(() => window.tare.charts.get('run-2-speed').chart().getOption().series[1].data.map((d) => d[1]));
  const busy = (await speeds()).filter((v) => v !== null && v < 0.85).length;
  assert.ok(busy > 15 && busy < 25, `${busy} points of 2 s with a busy sibling`);
  assert.equal((await speeds()).filter((v) => v === null).length, 1, 'a stretch without probes is a gap');
  await tab.page.locator('#run-2-speed select').first().selectOption('chain');
  assert.ok((await speeds()).every((v) => v === null || v > 0.9), 'the clock was steady');
  const rows = (await csvOf(tab, () => tab.page.locator('#run-2-speed .tools button', { hasText: 'CSV' }).first().click())).lines;
  assert.equal(rows[0], 'cpu,begin_ns,length_ns,probes,left_out,chain_ns,ports_ns,turns_ns,loads_ns');
  quiet(tab);
});

test('choosing a source filters the charts, by keyboard, and is taken back', async () => {
  const tab = await one();
  const button = tab.page.locator('#run-2-source-card button', { hasText: 'updatedb' });
  await button.focus();
  await tab.page.keyboard.press('Enter');
  assert.match(await tab.page.locator('#run-2-source-card .chosen').textContent(), /Chosen: updatedb \(thread\): 92 times/);
  assert.deepEqual((await option(tab, 'run-2-density')).series.map((s) => s.name).slice(-1), ['updatedb (thread)']);
  assert.deepEqual((await option(tab, 'run-2-parts')).series.map((s) => s.name), ['updatedb (thread)']);
  // its lengths are about 62 µs
  const { series } = await option(tab, 'run-2-density');
  const first = series.at(-1).first[0];
  assert.ok(first > 4 && first < 4.9, `begins at 10^${first} ns`);
  assert.equal(await tab.page.evaluate(() => document.activeElement.textContent), 'updatedb', 'the row keeps the focus');
  assert.equal(await button.getAttribute('aria-pressed'), 'true');
  await shot(tab, 'noise-source');
  await accessible(tab, '#run-2-source-card');
  await tab.page.keyboard.press('Enter');
  assert.equal((await option(tab, 'run-2-density')).series.length, 3);
  // the run goes on: what was chosen is chosen still
  await button.click();
  await tab.page.evaluate((doc) => {
    window.tare.show(doc);
    window.tare.drawAll();
  }, alone());
  assert.equal((await option(tab, 'run-2-density')).series.length, 4);
  assert.equal(await button.getAttribute('aria-pressed'), 'true');
  await button.click();
  quiet(tab);
});

test('zooming shows who contributed, and fields do the same', async () => {
  const tab = await one();
  const words = tab.page.locator('#run-2-range .range');
  const all = await words.textContent();
  assert.match(all, new RegExp(`${loud.together.detours.count.toLocaleString('en-US')} detours of all lengths`));
  await tab.page.locator('#run-2-density .chart-focus').focus();
  await tab.page.keyboard.press('+');
  await tab.page.waitForFunction((before) => document.querySelector('#run-2-range .range').textContent !== before, all);
  assert.match(await words.textContent(), /detours from .* to /);
  const [from, to] = [tab.page.locator('#run-2-range input[type=number]').nth(0), tab.page.locator('#run-2-range input[type=number]').nth(1)];
  assert.ok(Number(await from.inputValue()) > 0);
  // 300 µs to 1 ms: the journal's
  await from.fill('300');
  await to.fill('1000');
  await to.press('Tab');
  const [[start, end]] = (await option(tab, 'run-2-density')).zoom;
  assert.ok(start > 50 && end < 85, `${start} to ${end}`);
  const names = await tab.page.locator('#run-2-range tbody').first().locator('th').allTextContents();
  assert.ok(names.includes('timer_systemd-journal') && !names.includes('timer'), names.join());
  const wanted = loud.together.combinations.find((c) => c.name === 'timer_systemd-journal').lengths.filter((l) => l.high_ns > 300e3 && l.low_ns < 1e6).reduce((a, l) => a + l.count, 0);
  const csv = (await csvOf(tab, () => tab.page.locator('#run-2-range button', { hasText: 'CSV' }).first().click())).lines.join('\n');
  assert.match(csv, new RegExp(`timer_systemd-journal,${wanted},`));
  await shot(tab, 'noise-zoomed');
  // the chart keeps its range when something else is chosen
  await tab.page.locator('#run-2-source-card button.link').first().click();
  assert.ok((await option(tab, 'run-2-density')).zoom[0][0] > 50);
  await tab.page.getByRole('button', { name: 'All lengths' }).click();
  assert.match(await words.textContent(), /of all lengths/);
  assert.deepEqual((await option(tab, 'run-2-density')).zoom, [[0, 100]]);
  await tab.page.getByRole('button', { name: 'no source chosen' }).click();
  quiet(tab);
});

test('one CPU of several can be looked at', async () => {
  const tab = await one();
  await tab.page.locator('#run-2-density select').first().selectOption('1');
  assert.match(await tab.page.locator('#run-2-range .range').textContent(), new RegExp(`${loud.cpus[1].detours.count.toLocaleString('en-US')} detours of all lengths on CPU 1`));
  // its density is the one that tare made
  const section = noises()[1];
  const drawn = await tab.page.evaluate(() => window.tare.charts.get('run-2-density').chart().getOption().series[0].data.map((d) => d[1]));
  const best = (list) => list.reduce((most, v, i) => ((v ?? -99) > (list[most] ?? -99) ? i : most), 0);
  assert.equal(best(drawn), best(section.charts.noise.blocks[2].seen));
  await tab.page.locator('#run-2-density select').first().selectOption('-1');
  quiet(tab);
});

test('a part that was not looked at is a gap, and one CPU has its own window', async () => {
  const section = noises()[1];
  const data = section.noise;
  // CPU 1 was looked at for a third of the time that CPU 0 was
  const [first, second] = [data.cpus[0], { ...data.cpus[1], window_ns: data.cpus[0].window_ns / 3 }];
  const whole = first.window_ns + second.window_ns;
  const uneven = { ...data, cpus: [first, second], together: { ...data.together, window_ns: whole }, parts: data.parts.map((p, i) => ({ ...p, window_ns: i === 2 ? 0 : whole / 10, shares: i === 2 ? [] : p.shares })) };
  const tab = await open(document_([{ ...section, noise: uneven }]));
  await chartsDraw(tab);
  const parts = () => tab.page.evaluate(() => window.tare.charts.get('run-2-parts').chart().getOption().series.map((s) => s.data));
  assert.ok((await parts()).every((of) => of[2] === null && of[3] !== null));
  const words = await tab.page.locator('#run-2-parts').textContent();
  assert.match(words, /in 1 nothing was looked at/);
  assert.doesNotMatch(words, /from 0\.00/);
  await tab.page.locator('#run-2-density select').first().selectOption('1');
  const lost = (await parts()).reduce((sum, of) => sum + (of[3] ?? 0), 0);
  const wanted = uneven.parts[3].shares.filter((s) => s.cpu === 1).reduce((a, s) => a + s.ns, 0) / (second.window_ns / 10);
  assert.ok(Math.abs(lost / wanted - 1) < 1e-9, `${lost} of ${wanted}`);
  assert.match(await tab.page.evaluate(() => window.tare.charts.get('run-2-parts').chart().getOption().yAxis[0].name), /about/);
  quiet(tab);
  await tab.close();
});

test('a run of which nothing is stored yet has its head and a note', async () => {
  const tab = await open(document_([{ ...noises()[1], status: 'going', notes: ['Nothing of this run is stored yet.'], noise: null, charts: {}, baseline: null }]));
  assert.match(await tab.page.locator('#run-2').textContent(), /going.*Nothing of this run is stored yet/s);
  quiet(tab);
  await tab.close();
});

test('the heat map is by length or by source, and a cell chooses', async () => {
  const tab = await one();
  const lengths = await option(tab, 'run-2-heat');
  await tab.page.locator('#run-2-heat select').first().selectOption('source');
  const sources = await option(tab, 'run-2-heat');
  assert.equal(sources.series[0].points, loud.cpus.reduce((a, c) => a + c.sources.length, 0));
  assert.notEqual(lengths.series[0].points, sources.series[0].points);
  await shot(tab, 'noise-heat');
  const at = await tab.page.evaluate(() => {
    const chart = window.tare.charts.get('run-2-heat').chart();
    chart.getDom().scrollIntoView({ block: 'center' });
    const box = chart.getDom().getBoundingClientRect();
    const [x, y] = chart.convertToPixel({ gridIndex: 0 }, [1, 0]);
    return [box.x + x, box.y + y];
  });
  await tab.page.mouse.click(...at);
  assert.match(await tab.page.locator('#run-2-source-card .chosen').textContent(), /Chosen: timer/);
  quiet(tab);
});

test('worst detours say what they were made of', async () => {
  const tab = await one();
  const csv = (await csvOf(tab, () => tab.page.locator('#run-2-worst .tools button', { hasText: 'CSV' }).first().click())).lines;
  assert.equal(csv.length, 21);
  assert.match(csv[0], /^begin_ns,cpu,ns,combination,/);
  assert.ok(csv[1].includes(String(loud.worst[0].ns)));
  await tab.page.locator('#run-2-worst .tools button', { hasText: 'Table' }).click();
  assert.equal(await tab.page.locator('#run-2-worst tbody tr').count(), 20);
});

test('a run without the kernel has no names, and none of what it lacks is shown', async () => {
  const section = { ...numbered(kept('noise', 'unnamed').sections[0], 4), baseline: null };
  const [block] = section.charts.noise.blocks;
  block.baseline = block.seen.map(() => null);
  const tab = await open(document_([section]));
  await chartsDraw(tab, 2);
  assert.deepEqual((await option(tab, 'run-4-density')).series.map((s) => s.name), ['user level']);
  const text = await tab.page.locator('#run-4').textContent();
  assert.match(text, /Detours have no names here: only their lengths are shown/);
  assert.doesNotMatch(text, /coverage|Against the baseline|NaN|undefined|null|unexplained|Contributors|Sources/);
  assert.equal(await tab.page.locator('#run-4-density select:visible').count(), 1, 'there is no CPU to choose');
  await fits(tab);
  await shot(tab, 'noise-plain');
  quiet(tab);
  await tab.close();
});

test('a run without a detour says so', async () => {
  const tab = await open(document_([numbered(sample('parts').sections[2], 4)]));
  assert.match(await tab.page.locator('#run-4').textContent(), /No detour was seen/);
  quiet(tab);
  await tab.close();
});

test('64 CPUs fit', async () => {
  const section = numbered(noises()[1], 4);
  const data = section.noise;
  const [all, ...each] = section.charts.noise.blocks;
  section.charts.noise.blocks = [all, ...Array.from({ length: 64 }, (_, i) => each[i % 2])];
  section.noise = { ...data, cpus: Array.from({ length: 64 }, (_, i) => ({ ...data.cpus[i % 2], cpu: i })), settings: { ...data.settings, cpus: Array.from({ length: 64 }, (_, i) => i) } };
  const tab = await open(document_([section]));
  await chartsDraw(tab, 6);
  await fits(tab);
  await shot(tab, 'noise-many');
  quiet(tab);
  await tab.close();
});

test('sources with hostile names are text, wherever they are shown', async () => {
  const [section, d] = [noises()[1], diff()];
  const like = (list) => HOSTILE.map((name, i) => ({ ...list[i % list.length], name }));
  for (const cpu of [section.noise.together, ...section.noise.cpus]) Object.assign(cpu, { sources: [...cpu.sources, ...like(cpu.sources)], combinations: [...cpu.combinations, ...like(cpu.combinations)] });
  section.noise.worst = like(section.noise.worst);
  Object.assign(d, { sources: like(d.sources), peaks: like(d.peaks), text: HOSTILE[1], notes: HOSTILE });
  section.baseline = { number: 1, name: HOSTILE[2], diff: d };
  const tab = await open(document_([{ ...section, title: HOSTILE[0] }, numbered(section, 3)], { comparisons: [{ kind: 'noise', base: 1, run: 0, diff: d }] }));
  await chartsDraw(tab, 12);
  await tab.page.locator('#run-2-heat select').first().selectOption('source');
  for (const card of ['#run-2-source-card', '#run-2-range']) await clickEach(tab, `${card} tbody button.link`);
  // hover over everything that has a tooltip
  await tab.page.evaluate(() => {
    for (const handle of window.tare.charts.values()) handle.chart().getOption().series.forEach((s, i) => handle.chart().dispatchAction({ type: 'showTip', seriesIndex: i, dataIndex: 0 }));
  });
  await painted(tab);
  await shown(tab, ...HOSTILE);
  await fits(tab);
  await shot(tab, 'noise-hostile');
  const csv = (await csvOf(tab, () => tab.page.locator('#run-2-source-card button', { hasText: 'CSV' }).first().click())).lines.join('\n');
  assert.match(csv, /"'=HYPERLINK\(""http:\/\/example.invalid""\)"/, 'a formula is kept a text');
  quiet(tab);
  await tab.close();
});

test('a comparison of two runs stands what every page has to', async () => {
  const doc = both(diff());
  doc.comparisons[0].diff.sources.find((s) => s.name === 'steal').ratio_high = null;
  await everything(doc, 'noise-diff', 14, { again: true, also: (tab) => compared(tab, doc.comparisons[0].diff) });
});

// its verdict is said, and the table can be of one change only
async function compared(tab, d) {
  assert.equal(await tab.page.locator('#compared-0 .verdict').textContent(), d.text);
  assert.deepEqual((await option(tab, 'noise-run-1-run-2-density')).series.map((s) => s.name), ['base: run 1, noise of CPUs 0-1', 'run: run 2, noise of CPUs 0-1']);
  const ratios = await option(tab, 'noise-run-1-run-2-ratios');
  assert.deepEqual(ratios.series.map((s) => [s.name, s.points]), [['new', 1], ['grown', 1], ['shrunk', 1], ['gone', 1], ['seen in one only', 0], ['no difference shown', 5], ['same', 0], ['interval', 7]]);
  const card = tab.page.locator('#compared-0 .card', { hasText: 'Sources of either' });
  // steal's interval has no upper end: it is drawn to the edge, and told
  const [drawn, edge] = await tab.page.evaluate(() => {
    const chart = window.tare.charts.get('noise-run-1-run-2-ratios').chart();
    const o = chart.getOption();
    return [Math.max(...o.series.at(-1).data.map((v) => v[2])), o.xAxis[0].max];
  });
  assert.ok(drawn > edge, `${drawn} beyond ${edge}`);
  const steal = await card.locator('tbody tr', { hasText: 'steal' }).first().locator('td').allTextContents();
  assert.match(steal.slice(1, 5).join(), /^· no difference shown,0\.\d+×,0\.\d+×,∞$/);
  assert.match(await tab.page.locator('#noise-run-1-run-2-ratios figcaption').textContent(), /p, adjusted for the number of sources/);
  await card.locator('select').selectOption('grown');
  assert.deepEqual(await card.locator('tbody th').allTextContents(), ['kworker/1']);
}

test('what is not sure is neither new nor gone, and the largest come first', async () => {
  const d = diff();
  const few = d.sources.map((s) => ({ ...s, change: 'unsure', ratio: null, ratio_low: null, ratio_high: null, p: 0.5 }));
  const large = { ...few.find((s) => s.name === 'timer'), base_share: 0.02, run_share: 0.03 };
  Object.assign(d, { sources: [...few.filter((s) => s.name !== 'timer'), large], total: { ...d.total, base_share: 0.01, run_share: 0.02, ratio: null, ratio_low: null, ratio_high: null, p: null } });
  const tab = await open(both(d));
  await chartsDraw(tab);
  const figures = (await tab.page.locator('#compared-0 .figures').textContent()).replaceAll('\u00a0', ' ');
  assert.match(figures, /sourcesnone surely changed2 seen in one only, 7 no difference shown/);
  assert.match(figures, /ratio2\.00×no interval/);
  const card = tab.page.locator('#compared-0 .card', { hasText: 'Sources of either' });
  assert.equal(await card.locator('tbody th').first().textContent(), 'timer');
  assert.equal(await card.locator('tbody .bad, tbody .ok').count(), 0);
  const { series } = await option(tab, 'noise-run-1-run-2-ratios');
  assert.deepEqual(series.map((s) => [s.name, s.points]), [['new', 0], ['grown', 0], ['shrunk', 0], ['gone', 0], ['seen in one only', 2], ['no difference shown', 7], ['same', 0], ['interval', 0]]);
  assert.equal(series.find((s) => s.name === 'no difference shown').first[1], 0, 'the largest is in the first row');
  await shot(tab, 'noise-unsure');
  quiet(tab);
  await tab.close();
});

test('a run that is the baseline of another is compared with it once, by number', async () => {
  const d = diff();
  const doc = both(d, true);
  const tab = await open(doc);
  assert.equal(await tab.page.locator('.verdict').count(), 1);
  assert.match(await tab.page.locator('#compared-0').textContent(), /Noise: noise of CPUs 0-1 \(run 1\) → noise of CPUs 0-1 \(run 2\)/);
  assert.equal(await tab.page.locator('#run-2 a[href="#compared-0"]').count(), 1);
  for (const title of ['nav a[href="#compared-0"]', '#compared-0 h2']) assert.equal(await tab.page.textContent(title), 'Noise compared: run 2 with run 1');
  quiet(tab);
  await tab.close();
});

test('a density is not drawn below the shortest detour, nor below the threshold', async () => {
  // as smooth as a short run's: it would run to lengths that cannot be
  const d = diff();
  const doc = both(d, true);
  const [block] = doc.sections[1].charts.noise.blocks;
  for (const key of ['seen', 'told', 'baseline']) block[key] = block[key].map((v) => v + 5);
  for (const key of ['base', 'run']) d.density[key] = d.density[key].map((v) => v + 5);
  const tab = await open(doc);
  await chartsDraw(tab);
  const [user] = (await option(tab, 'run-2-density')).series;
  assert.ok(10 ** user.first[0] >= loud.together.detours.min_ns, `begins at ${10 ** user.first[0]} ns`);
  for (const s of (await option(tab, 'noise-run-1-run-2-density')).series) assert.ok(10 ** s.first[0] >= 100, `begins at ${10 ** s.first[0]} ns`);
  assert.match(await tab.page.locator('#run-2-density').textContent(), /bandwidth of 0\.\d+ decades/);
  quiet(tab);
  await tab.close();
});
