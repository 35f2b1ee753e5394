// The runs of a lab: searched, sorted, tagged, ticked.
import type { Api, RunList, RunRow, StudyRow } from './lab_api';
import { ApiError, errorWords } from './lab_api';
import { editForm, type Edit } from './lab_edit';
import { COLUMNS, made, result, type Column } from './lab_row';
import { themeField } from './page';
import { append, button, foreign, h, short } from './parts/dom';
import * as format from './parts/format';

const PAGE = 50;
const MOST = 1000; // that the server gives at once
const TOGETHER = 16; // in one report
const TYPING_MS = 250;
const GOING_MS = 5000;

/** What is ticked, by "run=1" or "study=2": its kind. */
export type Ticks = Map<string, string>;

/** What the list shows: runs with this text, in this order ("-et"; "": the newest first). */
export interface Asked { like: string; sort: string }

export function tagsOf(tags: string | null): string[] {
  return (tags ?? '').split(',').map((tag) => tag.trim()).filter(Boolean);
}

class List {
  private runs: RunRow[] = [];
  private studies: StudyRow[] = [];
  private more = false;
  private of: Asked | null = null; // what these were asked for by: another answer may be awaited
  private readonly editing = new Map<number, Edit>(); // by run
  private asked = new AbortController();
  private typing = 0;
  private again = 0;
  private later = 0;
  private busy = false; // with an answer that is awaited
  private changes = false; // since these were asked for
  private further = false; // more of them are wanted
  private stale = false; // something changed while a field was open
  private unlisten = () => {};
  private drawn = new Map<number, { text: string; element: HTMLElement }>(); // rows that may stay as they are
  private readonly head = h('tr');
  private readonly body = h('tbody');
  private readonly caption = h('caption');
  private readonly order = h('select', { 'aria-label': 'order of runs', onchange: () => this.sortBy(this.order.value) },
    h('option', { value: '' }, 'newest first'), ...COLUMNS.map((column) => h('option', { value: (column.down ? '-' : '') + column.sort }, `by ${column.title}`)));
  private readonly said = h('p', { class: 'muted', role: 'status' });
  private readonly trouble = h('p', { class: 'bad', role: 'alert', hidden: true });
  private readonly open = button('', () => { location.hash = `#${[...this.ticks.keys()].join('&')}`; });
  private readonly clear = button('Clear', () => this.untick(), 'clear the ticks');
  private readonly ticked = h('span', { class: 'muted' });
  private readonly onward = button('More', () => this.fetchMore(), 'more runs');
  private readonly studyPlace = h('div');
  private readonly field: HTMLInputElement;
  private readonly watch = new IntersectionObserver((seen) => {
    if (seen.some((x) => x.isIntersecting)) this.fetchMore();
  }, { rootMargin: '200px' });

  constructor(private readonly api: Api, root: HTMLElement, private asks: Asked, private readonly ticks: Ticks, private readonly changed: (asked: Asked) => void) {
    this.field = h('input', {
      type: 'search', value: asks.like, placeholder: 'name, command or tag', 'aria-label': 'search runs', class: 'lab-search',
      oninput: () => { clearTimeout(this.typing); this.typing = window.setTimeout(() => this.search(this.field.value), TYPING_MS); },
    });
    document.title = 'lab – tare';
    root.replaceChildren(
      h('a', { class: 'skip', href: '#main' }, 'to the content'),
      h('header', { class: 'top' }, h('span', { class: 'mark', 'aria-hidden': 'true' }, 'tare'), h('h1', {}, 'Lab'), h('span', { class: 'grow' }), themeField()),
      h('main', { id: 'main', tabindex: -1 },
        h('section', { 'aria-label': 'runs' }, h('div', { class: 'card' },
          h('h2', { class: 'lab-title' }, 'Runs'), h('div', { class: 'tools' }, this.field, h('span', { class: 'lab-order' }, this.order, button('⇅', () => this.turn(), 'the other way round')), this.said), h('div', { class: 'tools lab-actions' }, this.open, this.clear, this.ticked), this.trouble,
          h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'list of runs' }, h('table', { class: 'lab-list lab-runs' }, this.caption, h('thead', {}, this.head), this.body)),
          h('div', { class: 'tools' }, this.onward))),
        this.studyPlace));
    this.onward.hidden = true;
    this.watch.observe(this.onward);
    this.drawActions();
    this.drawHead();
    this.unlisten = api.listen('/api/events', (event) => { if (event === 'runs') this.renew(); }, (error) => {
      if (error) this.fail(error);
      else if (!this.trouble.hidden) this.begin(); // what was awaited meanwhile may never come
    });
    this.begin();
  }

  leave(): void {
    this.unlisten();
    this.asked.abort();
    this.watch.disconnect();
    for (const timer of [this.typing, this.again, this.later]) clearTimeout(timer);
  }

  private fail(error: unknown): void {
    const later = error instanceof ApiError && (error.status === 0 || error.status >= 500);
    const words = `✖ ${errorWords(error)}${later ? ' – trying again' : ''}`;
    if (this.trouble.textContent !== words) this.trouble.textContent = words; // an alert is read aloud each time
    this.trouble.hidden = false;
    clearTimeout(this.again);
    if (later) this.again = window.setTimeout(() => this.fetch(), 4000);
  }

  /** After those that are there. By number where that is the order: what is new meanwhile does not move it. */
  private query(most: number, after: readonly RunRow[]): string {
    const asked = new URLSearchParams({ most: String(most) });
    if (this.asks.like) asked.set('like', this.asks.like);
    if (this.asks.sort) asked.set('sort', this.asks.sort);
    if (after.length) asked.set(...(this.asks.sort ? ['skip', String(after.length)] : ['before', String(after[after.length - 1]!.id)]) as [string, string]);
    return `/api/runs?${asked}`;
  }

  private async ask(path: string, signal: AbortSignal): Promise<RunList | null> {
    try {
      const list = await this.api.get<RunList>(path, signal);
      if (signal.aborted) return null;
      this.trouble.hidden = true;
      return list;
    } catch (error) {
      if (!signal.aborted) this.fail(error);
      return null;
    }
  }

  /** Whatever is awaited is for another search or order, or lost. */
  private begin(): void {
    this.asked.abort();
    this.asked = new AbortController();
    this.busy = this.further = false;
    this.fetch();
  }

  private fetch(): void {
    this.changes = true;
    void this.work();
  }

  private fetchMore(): void {
    if (!this.more || this.of !== this.asks) return;
    this.further = true;
    void this.work();
  }

  private renew(): void {
    if ([...this.editing.values()].some((edit) => edit.element.isConnected)) this.stale = true; // what is being written stays
    else this.fetch();
  }

  /** One answer after the other: a lab that changes all the time would never be shown if each change gave up the answer that is awaited. */
  private async work(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    const { signal } = this.asked;
    while (this.further || this.changes) {
      const came = this.further ? await this.readOn(signal) : await this.readAll(signal);
      if (signal.aborted) return; // another one works
      if (!came) break; // fail() sees to it
    }
    this.busy = false;
  }

  /** As many as there were. */
  private async readAll(signal: AbortSignal): Promise<boolean> {
    this.changes = false;
    const { asks } = this;
    const wanted = Math.max(PAGE, this.of === asks ? this.runs.length : 0);
    const runs: RunRow[] = [];
    let list: RunList | null;
    let more: boolean;
    do {
      list = await this.ask(this.query(Math.min(MOST, wanted - runs.length), runs), signal);
      if (!list) return false;
      more = this.add(runs, list);
    } while (more && runs.length < wanted);
    this.runs = runs;
    this.studies = list.studies;
    this.more = more;
    this.of = asks;
    this.draw();
    return true;
  }

  private async readOn(signal: AbortSignal): Promise<boolean> {
    this.further = false;
    if (!this.more) return true; // no longer
    const last = this.runs[this.runs.length - 1]!;
    this.onward.setAttribute('aria-disabled', 'true'); // :disabled would take the focus from it
    const list = await this.ask(this.query(PAGE, this.runs), signal);
    this.onward.removeAttribute('aria-disabled');
    if (!list) return false;
    const focused = document.activeElement === this.onward;
    this.more = this.add(this.runs, list);
    this.draw();
    if (focused && !this.more) this.focus(`open-${last.id}`); // the button goes
    return true;
  }

  /** What moved between two answers is there once. Gives whether there are more. */
  private add(runs: RunRow[], list: RunList): boolean {
    const had = new Set(runs.map((run) => run.id));
    runs.push(...list.runs.filter((run) => !had.has(run.id)));
    return list.more && list.runs.length > 0;
  }

  private search(text: string): void {
    clearTimeout(this.typing);
    this.field.value = text;
    this.show({ ...this.asks, like: text.trim() });
  }

  private sortBy(sort: string): void {
    this.show({ ...this.asks, sort });
    this.drawHead();
  }

  /** Of the newest first the oldest are the last. */
  private turn(): void {
    const { sort } = this.asks;
    this.sortBy(!sort ? 'began' : sort.startsWith('-') ? sort.slice(1) : `-${sort}`);
  }

  private show(asks: Asked): void {
    this.asks = asks;
    this.changed(asks);
    this.begin();
  }

  // ---- drawing ----

  /** First as most want it, then the other way round, then the newest first again. */
  private heading(column: Column): HTMLElement {
    const { sort } = this.asks;
    const mine = sort.replace(/^-/, '') === column.sort;
    const down = sort.startsWith('-');
    const next = !mine ? (column.down ? '-' : '') + column.sort : down === column.down ? (down ? '' : '-') + column.sort : '';
    return h('th', { scope: 'col', class: `of-${column.sort}${column.number ? ' number' : ''}`, 'aria-sort': !mine ? 'none' : down ? 'descending' : 'ascending' },
      h('button', { type: 'button', title: `sort by ${column.about}`, 'data-focus': `sort-${column.sort}`, onclick: () => this.sortBy(next) }, column.title, mine ? (down ? ' ▾' : ' ▴') : ''));
  }

  private drawHead(): void {
    const { sort } = this.asks;
    const focus = (document.activeElement as HTMLElement | null)?.dataset?.['focus'];
    const by = COLUMNS.find((column) => column.sort === sort.replace(/^-/, ''));
    this.head.replaceChildren(h('th', { scope: 'col', class: 'of-tick' }, h('span', { class: 'visually-hidden' }, 'ticked')), ...COLUMNS.map((column) => this.heading(column)));
    this.caption.textContent = by ? `Runs by ${by.title}, ${sort.startsWith('-') ? 'descending' : 'ascending'}` : 'Runs, the newest first';
    this.order.value = by ? (by.down ? '-' : '') + by.sort : '';
    if (focus?.startsWith('sort-')) this.focus(focus);
  }

  private draw(): void {
    const focus = (document.activeElement as HTMLElement | null)?.dataset?.['focus'];
    const like = this.of?.like;
    const before = this.drawn;
    this.drawn = new Map();
    const rows = this.runs.map((run) => {
      const text = this.editing.has(run.id) ? 'edited' : JSON.stringify(run);
      const was = before.get(run.id);
      const element = was?.text === text ? was.element : this.row(run);
      this.drawn.set(run.id, { text, element });
      return element;
    });
    // those that are as they were stay, where they are: there may be thousands
    const stay = new Set<Element>(rows);
    for (const old of [...this.body.children]) if (!stay.has(old)) old.remove();
    let at = this.body.firstElementChild;
    for (const row of rows) {
      if (row === at) at = at.nextElementSibling;
      else this.body.insertBefore(row, at);
    }
    if (!this.runs.length) this.body.replaceChildren(h('tr', {}, h('td', { colspan: COLUMNS.length + 1, class: 'muted' }, like ? 'no run matches' : "there are no runs yet: 'tare time COMMAND' makes one")));
    const going = this.runs.filter((run) => run.status === 'going').length;
    const said = `${format.count(this.runs.length)}${this.more ? ' and more' : ''} ${this.runs.length === 1 ? 'run' : 'runs'}${like ? ' that match' : ''}${going ? `, ${going} going on` : ''}`;
    if (this.said.textContent !== said) this.said.textContent = said; // it is read aloud
    clearInterval(this.later);
    if (going) this.later = window.setInterval(() => { if (!document.hidden) this.renew(); }, GOING_MS); // its figures grow, of which nobody is told
    this.onward.hidden = !this.more;
    // still in sight: an observer tells of changes only
    this.watch.unobserve(this.onward);
    this.watch.observe(this.onward);
    this.drawStudies();
    this.drawActions();
    if (focus) this.focus(focus);
  }

  private focus(key: string): void {
    (document.querySelector(`[data-focus="${key}"]`) as HTMLElement | null)?.focus({ preventScroll: true });
  }

  private tick(key: string, kind: string, label: string): HTMLElement {
    const box = h('input', {
      type: 'checkbox', 'aria-label': label, 'data-focus': `tick-${key}`,
      onchange: () => {
        if (box.checked) this.ticks.set(key, kind);
        else this.ticks.delete(key);
        this.drawActions();
      },
    });
    box.checked = this.ticks.has(key);
    return h('label', { class: 'tick' }, box);
  }

  private row(run: RunRow): HTMLElement {
    const name = run.name || run.command || `run ${run.id}`;
    const tick = h('td', {}, this.tick(`run=${run.id}`, run.kind, `tick run ${run.id}: ${short(name, 60)}`));
    const edit = this.editing.get(run.id);
    if (edit) return h('tr', { class: 'lab-editing' }, tick, h('td', { colspan: COLUMNS.length }, edit.element));
    const came = result(run);
    return h('tr', {}, tick,
      h('th', { scope: 'row' }, h('a', { href: `#run=${run.id}`, 'data-focus': `open-${run.id}` }, foreign(name, 50)), h('small', { class: 'muted' }, `run ${run.id} · ${run.kind}`, this.pencil(run))),
      h('td', { 'data-title': 'command' }, run.command ? h('code', {}, foreign(run.command, 70)) : format.DASH),
      this.tagCell(run),
      h('td', { 'data-title': 'status' }, run.status === 'complete' ? 'complete' : h('span', { class: `badge ${run.status}` }, run.status === 'going' ? '● going' : run.status)),
      h('td', { 'data-title': 'began, UTC', class: 'one-line' }, format.date(run.started_at).replace(/ UTC$/, '')),
      h('td', { 'data-title': 'measured', class: 'number' }, made(run)),
      ...(came === null ? [
        h('td', { 'data-title': 'mean ET of all', class: 'number' }, format.ns(run.mean_et_of_all_ns)),
        h('td', { 'data-title': 'mean PT of all', class: 'number' }, format.ns(run.mean_pt_exec_of_all_ns))]
        : [h('td', { 'data-title': 'result', class: 'number', colspan: 2 }, came)]));
  }

  private tagCell(run: RunRow): HTMLElement {
    const cell = h('td', { 'data-title': 'tags', class: run.tags ? null : 'none' });
    for (const [i, tag] of tagsOf(run.tags).entries()) {
      const chip = h('button', { type: 'button', class: 'tag', 'aria-label': `runs with ${short(tag, 30)}`, 'data-focus': `tag-${run.id}-${i}`, onclick: () => this.search(tag) });
      append(chip, foreign(tag, 30));
      append(cell, chip, ' ');
    }
    return cell;
  }

  private pencil(run: RunRow): HTMLElement {
    const open = button('✎', () => this.edit(run.id), `run ${run.id}: change name and tags`);
    open.className = 'pencil';
    open.dataset['focus'] = `edit-${run.id}`;
    return open;
  }

  private edit(id: number): void {
    const run = this.runs.find((x) => x.id === id);
    if (!run) return;
    const form = editForm(this.api, run, (stored) => {
      this.editing.delete(id);
      if (this.asked.signal.aborted) return; // the list was left meanwhile
      const now = this.runs.find((x) => x.id === id);
      if (now && stored?.name !== undefined) now.name = stored.name;
      if (now && stored?.tags !== undefined) now.tags = stored.tags || null;
      const focused = document.activeElement === document.body || form.element.contains(document.activeElement); // or somebody writes elsewhere by now
      this.draw();
      if (focused) this.focus(`edit-${id}`);
      if (!this.stale) return;
      this.stale = false;
      this.renew();
    });
    this.editing.set(id, form);
    this.draw();
    form.focus();
  }

  private drawStudies(): void {
    this.studyPlace.replaceChildren();
    if (!this.studies.length) return;
    append(this.studyPlace, h('section', { 'aria-label': 'studies' }, h('div', { class: 'card' }, h('h2', { class: 'lab-title' }, 'Studies of daemons'),
      h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'list of studies' }, h('table', { class: 'lab-list' }, h('caption', {}, 'Studies of daemons'),
        h('thead', {}, h('tr', {}, h('th', { scope: 'col', class: 'of-tick' }, h('span', { class: 'visually-hidden' }, 'ticked')), ...['study', 'made', 'from', 'daemons', 'cutoffs'].map((title, i) => h('th', { scope: 'col', class: i > 2 ? 'number' : null }, title)))),
        h('tbody', {}, ...this.studies.map((study) => h('tr', {},
          h('td', {}, this.tick(`study=${study.id}`, 'study', `tick study ${study.id}`)),
          h('th', { scope: 'row' }, h('a', { href: `#study=${study.id}`, 'data-focus': `study-${study.id}` }, `study ${study.id}`)),
          h('td', { 'data-title': 'made', class: 'one-line' }, format.date(study.made_at)), h('td', { 'data-title': 'from' }, foreign(study.source ?? '', 30)),
          h('td', { 'data-title': 'daemons', class: 'number' }, format.count(study.daemons)), h('td', { 'data-title': 'cutoffs', class: 'number' }, format.count(study.cutoffs))))))))));
  }

  private drawActions(): void {
    const n = this.ticks.size;
    const kinds = new Set(this.ticks.values());
    this.open.textContent = n > 1 && kinds.size === 1 && !kinds.has('study') ? `Compare ${n}` : n > 1 ? `Report of ${n}` : 'Report';
    this.open.disabled = n === 0 || n > TOGETHER;
    this.clear.disabled = n === 0;
    this.ticked.textContent = n > TOGETHER ? `at most ${TOGETHER} in one report` : n ? `${n} ticked${n > 1 && kinds.size > 1 ? ': of several kinds, so they are shown one after another' : ''}` : 'tick one for its report, several to compare them';
  }

  private untick(): void {
    this.ticks.clear();
    for (const box of document.querySelectorAll<HTMLInputElement>('.tick input')) box.checked = false;
    this.field.focus(); // a button that is disabled has it no more
    this.drawActions();
  }
}

export function showList(api: Api, root: HTMLElement, asked: Asked, ticks: Ticks, changed: (asked: Asked) => void): () => void {
  const list = new List(api, root, asked, ticks, changed);
  return () => list.leave();
}
