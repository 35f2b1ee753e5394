// The lab in the browser, against a server that speaks as `tare serve` does.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, afterEach, test } from 'node:test';
import { document_, numbered, queries as queryRuns, queryComparison, timeDocument } from './documents.mjs';
import { accessible, chartsDraw, fits, HOSTILE, keyboardReaches, open, prints, ROOT, shot, shown, stop } from './browser.mjs';

const TOKEN = 'secret-token-of-the-test';
const servers = [];
after(stop);
afterEach(async () => { for (const s of servers.splice(0)) await s.end(); });

function run(id, more = {}) {
  return {
    id, kind: 'time', name: `run number ${id}`, command: `sleep ${id}`, tags: id % 3 ? null : 'night, cold', status: 'complete', started_at: '2026-11-16T05:00:00.000Z', ended_at: '2026-11-16T05:01:00.000Z',
    executions: 10 * id, mean_et_of_all_ns: id * 1e6, mean_pt_exec_of_all_ns: id * 9e5, ...more,
  };
}

async function serve({ runs = Array.from({ length: 120 }, (_, i) => run(i + 1)), studies = [{ id: 3, made_at: '2026-11-15T05:00:00.000Z', source: 'active', daemons: 12, cutoffs: 4 }], port = 0 } = {}) {
  const page = fs.readFileSync(path.join(ROOT, 'web/dist/page.html'), 'utf8');
  const s = { asked: [], refused: [], posts: [], streams: new Set(), runs, studies, report: null, refuse: null, held: null, slow: 0, port };
  const send = (res, code, value) => { res.writeHead(code, { 'Content-Type': 'application/json' }); res.end(JSON.stringify(value)); };
  const server = http.createServer((req, res) => {
    const url = new URL(req.url, 'http://x');
    s.asked.push(req.url);
    const held = s.held && req.url.startsWith(s.held.path) ? s.held.gate : null;
    // what it is by now, told later
    const json = (to, code, value) => {
      if (held) void held.then(() => send(to, code, value));
      else if (s.slow && url.pathname === '/api/runs') setTimeout(send, s.slow, to, code, value);
      else send(to, code, value);
    };
    if (url.pathname === '/') { res.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }); res.end(page); return; }
    if (req.headers['x-tare-token'] !== TOKEN) { s.refused.push(req.url); json(res, 403, { error: 'the token is not the right one', hint: 'use the URL' }); return; }
    if (url.pathname === '/api/runs') {
      const like = url.searchParams.get('like') ?? '';
      const before = Number(url.searchParams.get('before') ?? Infinity);
      const most = Number(url.searchParams.get('most') ?? 50);
      const sort = url.searchParams.get('sort') ?? '-id';
      const skip = Number(url.searchParams.get('skip') ?? 0);
      const key = { et: 'mean_et_of_all_ns', pt: 'mean_pt_exec_of_all_ns', made: 'executions', began: 'started_at' }[sort.replace('-', '')] ?? sort.replace('-', '');
      const order = (a, b) => (sort.startsWith('-') ? -1 : 1) * (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0) || b.id - a.id;
      const found = s.runs.filter((r) => r.id < before && [r.name, r.command, r.tags].some((t) => (t ?? '').includes(like))).sort(order).slice(skip);
      json(res, 200, { runs: found.slice(0, most), studies: s.studies, more: found.length > most });
    } else if (url.pathname === '/api/report') {
      const made = s.report?.(url.searchParams.getAll('run').map(Number));
      if (made) json(res, 200, made);
      else json(res, 404, { error: 'there is no such run in the lab', hint: "'tare list' shows them" });
    } else if (url.pathname === '/api/events') {
      res.writeHead(200, { 'Content-Type': 'text/event-stream' });
      res.write('retry: 2000\nid: 1\n\n: here\n\n');
      const stream = { res, runs: url.searchParams.getAll('run'), last: req.headers['last-event-id'] };
      s.streams.add(stream);
      res.on('close', () => s.streams.delete(stream));
    } else if (req.method === 'POST') {
      let body = '';
      req.on('data', (piece) => { body += piece; });
      req.on('end', () => {
        if (s.refuse) { json(res, 503, s.refuse); return; }
        const id = Number(url.pathname.split('/').pop());
        s.posts.push([id, JSON.parse(body)]);
        Object.assign(s.runs.find((r) => r.id === id), JSON.parse(body));
        void (held ?? Promise.resolve()).then(() => { res.writeHead(204); res.end(); });
      });
    } else {
      json(res, 404, { error: 'nothing' });
    }
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  s.port = server.address().port;
  s.url = `http://127.0.0.1:${s.port}/?token=${TOKEN}`;
  s.tell = (event, data) => { for (const { res } of s.streams) { res.write(`event: ${event}\nda`); res.write(`ta: ${JSON.stringify(data)}\nid: 2\n\n`); } };
  /** Answers to this wait until what it gives is called. */
  s.hold = (path_) => {
    let release;
    s.held = { path: path_, gate: new Promise((resolve) => { release = resolve; }) };
    return () => { s.held = null; release(); };
  };
  s.calls = (path_) => s.asked.filter((u) => u.startsWith(path_)).length;
  s.end = () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  servers.push(s);
  return s;
}

const rows = (tab) => tab.page.locator('.lab-runs tbody tr');
const until = async (what, most = 8000) => {
  const end = Date.now() + most;
  while (!(await what())) {
    assert.ok(Date.now() < end, `waited for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};
function queries(numbers, more = {}) {
  const sections = numbers.map((number, i) => numbered(queryRuns()[i % 2], number, `shop ${number}`));
  return document_(sections.map((s) => ({ ...s, ...more })), { title: numbers.join(' and '), served: true, comparisons: sections.length === 2 ? [queryComparison()] : [] });
}

/** Runs of all kinds, as the server tells of them. */
const OTHERS = [
  run(1, { name: 'noise of 2 CPUs', command: 'tare noise', kind: 'noise', executions: null, mean_et_of_all_ns: null, mean_pt_exec_of_all_ns: null, noise: { cpus: 2, watched_ns: 60e9, lost_share: 0.00031 } }),
  run(2, { name: 'all of it', command: 'tare profile', kind: 'profile', executions: null, mean_et_of_all_ns: null, mean_pt_exec_of_all_ns: null, profile: { samples: 12345, cpu_ns: 12.36e9 } }),
  run(3, { name: 'quick', command: 'tare query', kind: 'query', executions: 480, mean_et_of_all_ns: null, mean_pt_exec_of_all_ns: null, query: { queries: 10, ats: 48 } }),
  run(4, { name: 'just begun', command: 'tare noise', kind: 'noise', executions: null, mean_et_of_all_ns: null, mean_pt_exec_of_all_ns: null, status: 'going' }),
];

test('the list: newest first, more on demand, by keyboard, narrow and dark', async () => {
  const s = await serve();
  s.runs[119].status = 'going';
  OTHERS.forEach((other, i) => { s.runs[115 + i] = { ...other, id: 116 + i }; });
  const tab = await open(s.url);
  await rows(tab).nth(49).waitFor();
  assert.match(await rows(tab).first().innerText(), /run number 120/);
  const says = async (i) => (await rows(tab).nth(i).locator('td').allInnerTexts()).slice(-2).map((text) => text.replaceAll('\u00a0', ' '));
  assert.match(await rows(tab).first().innerText(), /1,200 executions\s+120.ms\s+108.ms/);
  assert.deepEqual([await says(4), await says(3), await says(2), await says(1)],
    [['60.0 s of 2 CPUs', '0.031 % of time lost'], ['12,345 samples', '12.4 s of CPU time'], ['480 executions', '48 Q@Cs of 10 queries'], ['–', '–']]);
  await fits(tab);
  await accessible(tab);
  await shot(tab, 'lab-wide');
  await tab.page.emulateMedia({ colorScheme: 'dark' });
  await accessible(tab, null, ['color-contrast']);
  await shot(tab, 'lab-dark');
  await tab.page.emulateMedia({ colorScheme: 'light' });
  await prints(tab);
  await tab.page.evaluate(() => document.documentElement.setAttribute('data-printing', ''));
  const widths = await tab.page.locator('.lab-runs thead th:not(.of-tick)').evaluateAll((list) => list.map((e) => e.getBoundingClientRect().width));
  assert.ok(widths.length === 8 && widths.every((width) => width > 50), `columns on paper: ${widths.map(Math.round)} px`);
  assert.equal(await tab.page.locator('.lab-list').locator('input, .pencil, .of-tick').locator('visible=true').count(), 0, 'nothing to press on paper');
  await tab.page.evaluate(() => document.documentElement.removeAttribute('data-printing'));
  // more comes while the lab changes all the time
  s.slow = 200;
  await tab.page.getByRole('button', { name: 'more runs' }).scrollIntoViewIfNeeded();
  await until(async () => {
    s.tell('runs', {});
    return (await rows(tab).count()) >= 100;
  });
  s.slow = 0;
  await tab.page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
  await until(async () => (await rows(tab).count()) === 120);
  assert.ok(await tab.page.getByRole('button', { name: 'more runs' }).isHidden());
  // what is not changed is not drawn anew
  await tab.page.evaluate(() => document.querySelectorAll('.lab-runs tbody tr').forEach((row) => { row.dataset.old = ''; }));
  s.runs[0].name = 'another name';
  s.tell('runs', {});
  await tab.page.getByRole('link', { name: 'another name' }).waitFor();
  assert.equal(await tab.page.locator('tr[data-old]').count(), 119);
  assert.deepEqual(tab.said, []);
  await tab.close();
  const narrow = await open(s.url, { width: 390, height: 844 });
  await rows(narrow).nth(49).waitFor();
  await fits(narrow);
  await shot(narrow, 'lab-narrow');
  // without headings there is a field
  await narrow.page.getByRole('combobox', { name: 'order of runs' }).selectOption('by command');
  await until(async () => /^sleep 1$/.test(await rows(narrow).first().locator('code').innerText()));
  await narrow.page.getByRole('button', { name: 'the other way round' }).click();
  await until(async () => /^tare/.test(await rows(narrow).first().locator('code').innerText()));
  assert.match(narrow.page.url(), /#sort=-command$/);
  assert.deepEqual(narrow.said, []);
  await narrow.close();
  s.runs.splice(0, 110);
  const few = await open(s.url);
  await rows(few).first().waitFor();
  await keyboardReaches(few);
  await few.close();
});

test('the token leaves the address, a reload still has it, and no call lacks it', async () => {
  const s = await serve();
  const tab = await open(s.url);
  await rows(tab).first().waitFor();
  assert.doesNotMatch(tab.page.url(), /token/);
  await tab.page.reload();
  await rows(tab).first().waitFor();
  assert.deepEqual(s.refused, []);
  assert.ok(tab.asked.filter((u) => u.includes('/api/')).every((u) => !u.includes(TOKEN)));
  await tab.close();
  const none = await open(s.url.split('?')[0]);
  assert.match(await none.page.textContent('main'), /needs the token/);
  await none.close();
  const wrong = await open(s.url.replace(TOKEN, 'wrong'));
  await wrong.page.getByText('the token is not the right one').waitFor();
  await wrong.close();
});

test('search waits until typing ends, and is kept in the address', async () => {
  const s = await serve();
  const tab = await open(s.url);
  await rows(tab).nth(49).waitFor();
  const before = s.asked.length;
  await tab.page.getByRole('searchbox').pressSequentially('number 77', { delay: 20 });
  await until(async () => (await rows(tab).count()) === 1);
  assert.equal(s.asked.slice(before).filter((u) => u.startsWith('/api/runs')).length, 1);
  assert.match(tab.page.url(), /#like=number%2077$/);
  await tab.page.getByRole('searchbox').fill('no such');
  await tab.page.getByText('no run matches').waitFor();
  // until there is an answer the list is what it was, and can be used
  await tab.page.getByRole('searchbox').fill('');
  await until(async () => (await rows(tab).count()) === 50);
  const focused = () => tab.page.evaluate(() => document.activeElement.getAttribute('aria-label'));
  await tab.page.getByRole('checkbox').first().check();
  await tab.page.getByRole('button', { name: 'clear the ticks' }).focus();
  await tab.page.getByRole('checkbox').nth(1).evaluate((box) => box.click());
  assert.equal(await focused(), 'clear the ticks');
  const release = s.hold('/api/runs?');
  await tab.page.getByRole('searchbox').fill('number 2');
  await until(() => s.asked.at(-1).includes('number+2'));
  await tab.page.getByRole('button', { name: 'run 119: change name and tags' }).click();
  assert.equal(await focused(), 'name of run 119');
  await tab.page.keyboard.type('a draft');
  await tab.page.getByRole('button', { name: 'clear the ticks' }).focus();
  await tab.page.keyboard.press('Enter');
  assert.equal(await focused(), 'search runs');
  assert.equal(await tab.page.locator('.lab-runs input:checked').count(), 0);
  assert.equal(await rows(tab).count(), 50);
  assert.equal(await tab.page.textContent('main .tools > [role=status]'), '50 and more runs');
  release();
  await until(async () => (await rows(tab).count()) === 11);
  assert.equal(await tab.page.locator('form').count(), 0);
  await tab.page.getByRole('searchbox').fill('number 119');
  await tab.page.locator('form').waitFor();
  assert.equal(await tab.page.getByLabel('name of run 119').inputValue(), 'a draft');
  assert.deepEqual(tab.said, []);
  await tab.close();
});

test('sorted by any column, by keyboard, more of it too, and kept in the address', async () => {
  const s = await serve({ runs: Array.from({ length: 70 }, (_, i) => run(i + 1, { name: `run ${(i * 37) % 70}`, mean_et_of_all_ns: ((i * 11) % 70) * 1e6 })) });
  const tab = await open(s.url);
  await rows(tab).nth(49).waitFor();
  const heading = (name) => tab.page.getByRole('columnheader', { name });
  const times = async () => (await rows(tab).locator('td[data-title="mean ET of all"]').allInnerTexts()).map(parseFloat);
  assert.equal(await heading('mean ET of all').getAttribute('aria-sort'), 'none');
  await heading('mean ET').getByRole('button').focus();
  await tab.page.keyboard.press('Enter');
  await until(async () => (await times())[0] === 69);
  assert.equal(await heading('mean ET').getAttribute('aria-sort'), 'descending');
  assert.deepEqual(await tab.page.locator('.lab-runs thead th:not(.of-tick)').evaluateAll((all) => all.filter((th) => th.scrollWidth > th.clientWidth).map((th) => th.textContent)), [], 'no heading is cut');
  assert.match(tab.page.url(), /#sort=-et$/);
  await tab.page.getByRole('button', { name: 'more runs' }).scrollIntoViewIfNeeded();
  await until(async () => (await rows(tab).count()) === 70);
  assert.deepEqual(await times(), Array.from({ length: 70 }, (_, i) => 69 - i));
  await tab.page.evaluate(() => window.scrollTo(0, 0));
  assert.match(await tab.page.evaluate(() => document.activeElement.textContent), /mean ET/);
  await tab.page.keyboard.press('Enter');
  await until(async () => (await times())[0] === 0);
  assert.equal(await heading('mean ET').getAttribute('aria-sort'), 'ascending');
  await accessible(tab, '.lab-runs');
  // with a search, over a report and back, and after a reload
  await tab.page.getByRole('searchbox').fill('run 1');
  await until(async () => (await rows(tab).count()) === 11);
  assert.match(tab.page.url(), /#like=run%201&sort=et$/);
  s.report = timed;
  await rows(tab).first().getByRole('link').click();
  await tab.page.getByRole('link', { name: '← runs' }).click();
  await until(async () => (await rows(tab).count()) === 11);
  await tab.page.reload();
  await until(async () => (await rows(tab).count()) === 11);
  const some = await times();
  assert.deepEqual(some, [...some].sort((a, b) => a - b));
  // the third time it is as it was
  await heading('mean ET').getByRole('button').click();
  await until(async () => /#like=run%201$/.test(tab.page.url()));
  assert.equal(await tab.page.locator('th[aria-sort]:not([aria-sort="none"])').count(), 0);
  assert.deepEqual(tab.said, []);
  await tab.close();
});

test('tags: shown, clicked, changed; what the server refuses is said', async () => {
  const s = await serve({ runs: [run(1), run(2), run(3)] });
  const tab = await open(s.url);
  await rows(tab).first().waitFor();
  await tab.page.getByRole('button', { name: 'runs with cold' }).click();
  await until(async () => (await rows(tab).count()) === 1);
  assert.equal(await tab.page.getByRole('searchbox').inputValue(), 'cold');
  await tab.page.getByRole('searchbox').fill('');
  await until(async () => (await rows(tab).count()) === 3);
  const change = (id) => tab.page.getByRole('button', { name: `run ${id}: change name and tags` });
  const focused = () => tab.page.evaluate(() => document.activeElement.getAttribute('aria-label'));
  await change(2).click();
  assert.equal(await focused(), 'name of run 2');
  await tab.page.keyboard.type('second </b>');
  await tab.page.keyboard.press('Tab');
  await tab.page.keyboard.type('mine, "quoted" </b>');
  s.refuse = { error: 'the lab is busy', hint: 'try again' };
  await tab.page.keyboard.press('Enter');
  await tab.page.getByText('not saved: the lab is busy (try again)').waitFor();
  await accessible(tab);
  await shot(tab, 'lab-edit');
  s.refuse = null;
  s.tell('runs', {}); // what others do meanwhile does not end it
  await tab.page.waitForTimeout(200);
  await tab.page.keyboard.press('Enter');
  await tab.page.getByRole('button', { name: 'runs with mine' }).waitFor();
  await tab.page.getByRole('link', { name: 'second </b>' }).waitFor();
  // both at once, and nothing but what was changed
  assert.deepEqual(s.posts, [[2, { name: 'second </b>', tags: 'mine, "quoted" </b>' }]]);
  assert.match(await focused(), /run 2: change/);
  await change(1).click();
  await tab.page.keyboard.type('first of all');
  await tab.page.keyboard.press('Enter');
  await tab.page.getByRole('link', { name: 'first of all' }).waitFor();
  assert.deepEqual(s.posts[1], [1, { name: 'first of all' }]);
  await change(1).click();
  await tab.page.keyboard.press('Enter'); // nothing to store
  await change(1).click();
  await tab.page.keyboard.type('not this');
  await tab.page.keyboard.press('Escape');
  assert.match(await focused(), /run 1: change/);
  assert.equal(s.posts.length, 2);
  // one that is stored late ends no other, nor does it take what is typed
  const name = (id) => tab.page.getByLabel(`name of run ${id}`);
  let release = s.hold('/api/runs/1');
  await change(1).click();
  await tab.page.keyboard.type('stored late');
  await tab.page.keyboard.press('Enter');
  await tab.page.getByText('saving…').waitFor();
  await change(2).click();
  await tab.page.keyboard.type('half wri');
  release();
  await tab.page.getByRole('link', { name: 'stored late' }).waitFor();
  await tab.page.keyboard.type('tten');
  assert.equal(await name(2).inputValue(), 'half written');
  release = s.hold('/api/runs/1');
  s.refuse = { error: 'the lab is busy' };
  await change(1).click();
  await tab.page.keyboard.type('not stored');
  await tab.page.keyboard.press('Enter');
  await tab.page.getByText('saving…').waitFor();
  await name(2).focus();
  release();
  await tab.page.getByText('not saved: the lab is busy').waitFor();
  assert.equal(await focused(), 'name of run 2');
  assert.equal(await name(1).inputValue(), 'not stored');
  s.refuse = null;
  // nor does one that is given up; what changed meanwhile comes after the last
  s.runs[2].name = 'changed by others';
  s.tell('runs', {});
  await change(3).click();
  await tab.page.keyboard.press('Escape');
  assert.deepEqual([await name(1).inputValue(), await name(2).inputValue(), await name(3).count()], ['not stored', 'half written', 0]);
  await name(2).press('Escape');
  assert.equal(await tab.page.getByText('changed by others').count(), 0);
  release = s.hold('/api/runs/1');
  await name(1).press('Enter');
  await tab.page.getByText('saving…').waitFor();
  release();
  await tab.page.getByRole('link', { name: 'changed by others' }).waitFor();
  assert.equal(s.posts.at(-1)[1].name, 'not stored');
  assert.deepEqual(tab.said.filter((text) => !/503/.test(text)), []);
  await tab.close();
});

test('hostile names, commands and tags are text', async () => {
  const s = await serve({ runs: HOSTILE.map((name, i) => run(i + 1, { name, command: name, tags: `${name}, x` })), studies: [{ id: 1, made_at: null, source: HOSTILE[0], daemons: 1, cutoffs: 0 }] });
  for (const options of [{}, { width: 390, height: 844 }]) {
    const tab = await open(s.url, options);
    await rows(tab).nth(HOSTILE.length - 1).waitFor();
    await shown(tab, ...HOSTILE);
    await fits(tab);
    assert.deepEqual(tab.said, []);
    await tab.close();
  }
});

test('two that are ticked are compared; back is back', async () => {
  const s = await serve({ runs: [run(1, { kind: 'query' }), run(2, { kind: 'query' }), run(3)] });
  s.report = queries;
  const tab = await open(s.url);
  await rows(tab).first().waitFor();
  await tab.page.getByRole('checkbox', { name: /tick run 1:/ }).check();
  await tab.page.getByRole('checkbox', { name: /tick run 3:/ }).check();
  await tab.page.getByRole('button', { name: 'Report of 2' }).waitFor();
  await tab.page.getByRole('checkbox', { name: /tick run 3:/ }).uncheck();
  await tab.page.getByRole('checkbox', { name: /tick run 2:/ }).focus();
  await tab.page.keyboard.press('Space');
  await tab.page.getByRole('button', { name: 'Compare 2' }).click();
  await tab.page.locator('#compared-0').waitFor();
  assert.match(tab.page.url(), /#run=1&run=2$/);
  assert.ok(s.asked.includes('/api/report?run=1&run=2'));
  await chartsDraw(tab, 8);
  await accessible(tab, 'header');
  await fits(tab);
  // a link within the page does not leave it
  await tab.page.locator('nav a[href="#machine-0"]').click();
  assert.match(tab.page.url(), /#run=1&run=2$/);
  assert.equal(await tab.page.evaluate(() => document.activeElement.id), 'machine-0');
  await tab.page.goBack();
  await rows(tab).first().waitFor();
  assert.ok(await tab.page.getByRole('checkbox', { name: /tick run 1:/ }).isChecked());
  await tab.page.goForward();
  await tab.page.locator('#compared-0').waitFor();
  await tab.page.reload();
  await tab.page.locator('#compared-0').waitFor();
  await tab.page.getByRole('link', { name: '← runs' }).click();
  await rows(tab).first().waitFor();
  assert.deepEqual(tab.said, []);
  await tab.close();
});

test('a report is live while its run goes on, and stays where it was', async () => {
  const s = await serve({ runs: [run(7, { kind: 'query', status: 'going' })] });
  let made = 0;
  let done = false;
  s.report = (numbers) => {
    const doc = queries(numbers, { status: done ? 'complete' : 'going' });
    doc.sections[0].query.executions_made = 1000 + ++made;
    return doc;
  };
  const tab = await open(`${s.url}#run=7`);
  await tab.page.getByText('1,001').waitFor();
  await tab.page.getByText('● live').waitFor();
  await chartsDraw(tab, 4);
  await tab.page.locator('summary', { hasText: 'Deviations' }).click();
  await tab.page.selectOption('#run-7-cardinality select[aria-label="query of the chart"]', '2');
  await tab.page.selectOption('select[aria-label="colours"]', 'dark');
  await tab.page.locator('#run-7-split button', { hasText: 'Table' }).click();
  await tab.page.locator('#run-7-at-card thead button', { hasText: 'elapsed' }).click();
  await tab.page.evaluate(() => window.scrollTo(0, 900));
  await until(() => s.streams.size === 1);
  for (let i = 0; i < 30; i++) s.tell('change', { run: 7, status: 'going', stamp: i });
  await tab.page.getByText('1,002').waitFor();
  await tab.page.waitForTimeout(300);
  assert.ok(made < 10, `${made} reports for a flood of 30 changes`);
  const kept = await tab.page.evaluate(() => ({
    y: window.scrollY, theme: document.documentElement.dataset.theme, query: document.querySelector('#run-7-cardinality select').value,
    open: [...document.querySelectorAll('details')].filter((d) => d.open).map((d) => d.querySelector('summary').textContent),
    table: !!document.querySelector('#run-7-split table'), sort: document.querySelector('#run-7-at-card th[aria-sort="descending"]')?.textContent, focus: document.activeElement.textContent,
    colours: document.querySelector('select[aria-label="colours"]').value,
  }));
  assert.ok(Math.abs(kept.y - 900) < 3, `at ${kept.y}`);
  assert.equal(kept.theme, 'dark');
  assert.equal(kept.colours, 'dark');
  assert.equal(kept.query, '2');
  assert.deepEqual(kept.open.map((t) => t.slice(0, 10)), ['Deviations']);
  assert.ok(kept.table);
  assert.match(kept.sort, /elapsed/);
  assert.match(kept.focus, /elapsed/);
  await shot(tab, 'lab-live');
  done = true;
  await until(async () => {
    s.tell('change', { run: 7, status: 'complete', stamp: 99 });
    return /as of/.test(await tab.page.textContent('.live'));
  }, 20000);
  assert.deepEqual(tab.said, []);
  await tab.close();
});

const timed = (numbers, count = 120) => document_(numbers.map((number) => ({ ...numbered(timeDocument(count).sections[0], number), status: 'going' })), { title: 'live', served: true });

/** A live report of a run of time, and what makes it be drawn anew. */
async function live() {
  const s = await serve({ runs: [run(7, { status: 'going' })] });
  let made = 0;
  s.report = (numbers) => {
    const doc = timed(numbers, 120 + 2 * made);
    doc.title = `drawn ${++made}`;
    return doc;
  };
  const tab = await open(`${s.url}#run=7`);
  await tab.page.locator('h1', { hasText: 'drawn 1' }).waitFor();
  await until(() => s.streams.size === 1);
  const again = async () => {
    const next = made + 1;
    s.tell('change', { run: 7, status: 'going', stamp: next });
    await tab.page.locator('h1', { hasText: `drawn ${next}` }).waitFor({ timeout: 30000 });
  };
  return { s, tab, again, made: () => made };
}

test('what was chosen in a report stays when it is drawn anew', async () => {
  const { s, tab, again } = await live();
  const p = tab.page;
  await p.click('#run-7-samples button[data-value="number"]');
  await p.click('#run-7-samples .legend button[data-name="warm-up"]');
  await p.selectOption('#run-7-histogram select', 'et');
  await p.click('#run-7-histogram button[data-value="log"]');
  await p.click('#run-7-ledger button[data-value="et"]');
  await p.click('#run-7-ledger .legend button[data-name="run"]');
  await p.click('#run-7-dual .zooms button[data-level="2"]');
  await p.fill('input[data-window="0"]', '12.5');
  await p.keyboard.press('Tab');
  const chosen = await p.textContent('#run-7-dual .dual-side > p');
  assert.match(chosen, /Selected/);
  await p.locator('.time-executions thead button', { hasText: 'ET' }).first().click();
  for (let i = 0; i < 3; i++) await p.getByRole('button', { name: 'Executions: rows after', exact: true }).click();
  await again();
  const pressed = (selector) => p.getAttribute(selector, 'aria-pressed');
  assert.equal(await pressed('#run-7-samples button[data-value="number"]'), 'true');
  assert.equal(await pressed('#run-7-samples .legend button[data-name="warm-up"]'), 'false');
  assert.equal(await p.inputValue('#run-7-histogram select'), 'et');
  assert.equal(await pressed('#run-7-histogram button[data-value="log"]'), 'true');
  assert.equal(await pressed('#run-7-ledger button[data-value="et"]'), 'true');
  assert.equal(await pressed('#run-7-ledger .legend button[data-name="run"]'), 'false');
  assert.equal(await pressed('#run-7-dual .zooms button[data-level="2"]'), 'true');
  assert.match(await p.textContent('#run-7-dual .dual-side > p'), /Zoom 2 of 2.*Selected/s);
  assert.match(await p.textContent('.time-executions [aria-live]'), /^46–60 of 124/);
  assert.match(await p.textContent('.time-executions th[aria-sort="descending"]'), /ET/);
  const option = (name) => p.evaluate((n) => { const o = window.tare.charts.get(n).draw().getOption(); return [o.xAxis[0].type, o.xAxis[0].name, o.series.map((x) => x.id)]; }, name);
  assert.equal((await option('run-7-samples'))[1], 'execution');
  assert.ok(!(await option('run-7-samples'))[2].includes('rule-1'));
  assert.deepEqual((await option('run-7-histogram')).slice(0, 2), ['log', 'ET']);
  // another time it is as ever
  await p.getByRole('link', { name: '← runs' }).click();
  await rows(tab).first().waitFor();
  assert.equal(await p.evaluate(() => window.tare.charts.size), 0, 'the list has no charts of the report');
  await p.goBack();
  await p.locator('#run-7-samples').waitFor();
  assert.equal(await pressed('#run-7-samples button[data-value="number"]'), 'false');
  assert.deepEqual(tab.said, []);
  assert.equal(s.refused.length, 0);
  await tab.close();
});

test('an open execution stays while the run goes on', async () => {
  const { s, tab, made } = await live();
  await tab.page.locator('.time-executions tbody button').nth(4).click();
  const dialog = tab.page.locator('dialog[open]');
  const title = await dialog.locator('h2').textContent();
  const drawn = made();
  s.tell('change', { run: 7, status: 'going', stamp: 1 });
  await tab.page.getByText('newer data when this is closed').waitFor({ timeout: 15000 });
  assert.equal(await dialog.locator('h2').textContent(), title);
  assert.equal(await tab.page.textContent('h1'), 'drawn 1');
  await tab.page.keyboard.press('Escape');
  await tab.page.locator('h1', { hasText: /drawn [2-9]/ }).waitFor();
  assert.ok(made() > drawn);
  assert.match(await tab.page.evaluate(() => document.activeElement.getAttribute('aria-label')), /open execution/);
  assert.deepEqual(tab.said, []);
  await tab.close();
});

test('a report that is drawn often takes nothing from who writes or drags, and leaves nothing behind', async () => {
  const { s, tab, again } = await live();
  const p = tab.page;
  // what is half written is not acted upon, but not lost either
  const field = p.locator('input[data-window="0"]');
  const ALL = /^(\d+) pairs.* Selected: \1 pairs/;
  const says = () => p.textContent('#run-7-dual .dual-side > p');
  await field.focus();
  await p.keyboard.type('1');
  await again();
  assert.equal(await p.evaluate(() => document.activeElement.dataset.window), '0');
  assert.equal(await field.inputValue(), '1');
  assert.doesNotMatch(await says(), /Selected/);
  await p.keyboard.press('Enter');
  assert.match(await says(), ALL);
  await p.keyboard.type('2.6');
  await again();
  assert.equal(await field.inputValue(), '12.6');
  assert.match(await says(), ALL);
  await p.keyboard.press('Tab');
  assert.match(await says(), /Selected: \d/);
  assert.doesNotMatch(await says(), ALL);
  // a rectangle that is being dragged
  await p.locator('#run-7-dual').getByRole('button', { name: 'select pairs' }).click();
  await p.locator('#run-7-dual .chart').scrollIntoViewIfNeeded();
  const box = await p.locator('#run-7-dual .chart').boundingBox();
  const release = s.hold('/api/report');
  const asked = s.calls('/api/report');
  s.tell('change', { run: 7, status: 'going', stamp: 0 });
  await until(() => s.calls('/api/report') > asked);
  await p.mouse.move(box.x + 120, box.y + 60);
  await p.mouse.down();
  await p.mouse.move(box.x + 200, box.y + 150, { steps: 3 });
  const title = await p.textContent('h1');
  release();
  await p.waitForTimeout(300);
  assert.equal(await p.textContent('h1'), title);
  await p.mouse.move(box.x + 300, box.y + 250, { steps: 3 });
  await p.mouse.up();
  const values = () => p.locator('input[data-window]').evaluateAll((list) => list.map((e) => Number(e.value)));
  await until(async () => (await values()).every((v) => v > 0));
  const dragged = await values();
  await until(async () => (await p.textContent('h1')) !== title); // now
  assert.deepEqual(await values(), dragged);
  const cdp = await tab.context.newCDPSession(tab.page);
  const nodes = async () => {
    await tab.page.evaluate(() => window.tare.drawAll());
    for (let i = 0; i < 3; i++) await cdp.send('HeapProfiler.collectGarbage');
    return (await cdp.send('Memory.getDOMCounters')).nodes;
  };
  const before = await nodes();
  for (let i = 0; i < 3; i++) await again();
  const after_ = await nodes();
  console.log(`# ${before} nodes, after 3 more redraws ${after_}`);
  assert.ok(after_ < 1.3 * before, `${before} nodes, then ${after_}`);
  await tab.close();
});

test('the list follows the lab', async () => {
  const s = await serve({ runs: [run(1)] });
  const tab = await open(s.url);
  await rows(tab).first().waitFor();
  await tab.page.getByRole('checkbox', { name: /tick run 1:/ }).check();
  await until(() => s.streams.size === 1);
  s.runs.push(run(2, { status: 'going' }));
  s.tell('runs', {});
  await until(async () => (await rows(tab).count()) === 2);
  assert.ok(await tab.page.getByRole('checkbox', { name: /tick run 1:/ }).isChecked());
  assert.match(await tab.page.textContent('.lab-runs'), /● going/);
  // even one that changes all the time is shown, and how it was in the end
  s.slow = 400;
  s.runs.push(run(3));
  await until(async () => {
    s.tell('runs', {});
    return (await rows(tab).count()) === 3;
  }, 4000);
  s.slow = 0;
  await tab.page.waitForTimeout(500);
  const asked = s.calls('/api/runs?');
  const release = s.hold('/api/runs?');
  s.tell('runs', {});
  await until(() => s.calls('/api/runs?') > asked);
  s.runs.push(run(4));
  for (let i = 0; i < 5; i++) s.tell('runs', {});
  await tab.page.waitForTimeout(100);
  release();
  await until(async () => (await rows(tab).count()) === 4, 2000);
  assert.equal(s.calls('/api/runs?'), asked + 2);
  s.runs[1].executions = 7777; // of which no event tells
  await tab.page.getByText('7,777 executions').waitFor();
  await tab.close();
});

test('a run that is not there, and a lab without runs, are told', async () => {
  const s = await serve({ runs: [], studies: [] });
  const tab = await open(`${s.url}#run=99`);
  await tab.page.getByText("there is no such run in the lab ('tare list' shows them)").waitFor();
  await tab.page.getByRole('link', { name: '← runs' }).click();
  await tab.page.getByText('there are no runs yet').waitFor();
  await accessible(tab);
  await tab.close();
});

test('a server that is gone is missed, and found again', async () => {
  const s = await serve({ runs: [run(7, { kind: 'query' })] });
  s.report = (numbers) => queries(numbers, { status: 'going' });
  const report = await open(`${s.url}#run=7`);
  const list = await open(s.url);
  await report.page.locator('#run-7').waitFor();
  await rows(list).first().waitFor();
  await until(() => s.streams.size === 2);
  await s.end();
  await report.page.getByText('tare serve does not answer').waitFor();
  assert.ok(await report.page.locator('#run-7').isVisible(), 'what was shown stays');
  await list.page.getByText('tare serve does not answer').waitFor();
  assert.equal(await rows(list).count(), 1);
  await list.page.evaluate(() => {
    window.alerts = 0;
    new MutationObserver(() => window.alerts++).observe(document.querySelector('main [role=alert]'), { childList: true, characterData: true, subtree: true });
  });
  await list.page.waitForTimeout(5000);
  assert.ok((await list.page.evaluate(() => window.alerts)) <= 1, 'the same trouble is told once');
  await shot(list, 'lab-gone');
  const again = await serve({ runs: [run(7, { kind: 'query' }), run(8)], port: s.port });
  again.report = s.report;
  await until(async () => (await rows(list).count()) === 2, 20000);
  await list.page.getByText('tare serve does not answer').waitFor({ state: 'hidden', timeout: 20000 });
  await until(async () => (await report.page.textContent('.lab-status [role=alert]')) === '', 20000);
  assert.ok([...again.streams].some((x) => x.last), 'it says what it saw last');
  await report.close();
  await list.close();
});
