// The runs of a lab: searched, tagged, ticked.
import type { Api, RunList, RunRow, StudyRow } from './lab_api';
import { ApiError } from './lab_api';
import { themeField } from './page';
import { append, button, foreign, h, short } from './parts/dom';
import * as format from './parts/format';

const PAGE = 50;
const MOST = 1000; // that the server gives at once
const TOGETHER = 16; // in one report
const TYPING_MS = 250;

/** What is ticked, by "run=1" or "study=2": its kind. */
export type Ticks = Map<string, string>;

export function tagsOf(tags: string | null): string[] {
  return (tags ?? '').split(',').map((tag) => tag.trim()).filter(Boolean);
}

/** An error as people read it. */
export function errorWords(error: unknown): string {
  if (!(error instanceof ApiError)) return String(error);
  return error.hint ? `${error.message} (${error.hint})` : error.message;
}

interface Editing { run: number; what: 'name' | 'tags'; text: string }

class List {
  private runs: RunRow[] = [];
  private studies: StudyRow[] = [];
  private more = false;
  private editing: Editing | null = null;
  private asked = new AbortController();
  private typing = 0;
  private again = 0;
  private fetching = false; // more
  private stale = false; // something changed while a field was open
  private unlisten = () => {};
  private readonly body = h('tbody');
  private readonly said = h('p', { class: 'muted', role: 'status' });
  private readonly trouble = h('p', { class: 'bad', role: 'alert', hidden: true });
  private readonly actions = h('div', { class: 'tools lab-actions' });
  private readonly onward = button('More', () => void this.fetchMore(), 'more runs');
  private readonly studyPlace = h('div');
  private readonly field: HTMLInputElement;
  private readonly watch = new IntersectionObserver((seen) => {
    if (seen.some((x) => x.isIntersecting) && this.more) void this.fetchMore();
  }, { rootMargin: '200px' });

  constructor(private readonly api: Api, root: HTMLElement, private like: string, private readonly ticks: Ticks, private readonly liked: (text: string) => void) {
    this.field = h('input', {
      type: 'search', value: like, placeholder: 'name, command or tag', 'aria-label': 'search runs', class: 'lab-search',
      oninput: () => { clearTimeout(this.typing); this.typing = window.setTimeout(() => this.search(this.field.value), TYPING_MS); },
    });
    document.title = 'lab – tare';
    const head = ['', 'run', 'command', 'tags', 'status', 'began', 'executions', 'mean ET, all', 'mean PT, all'];
    root.replaceChildren(
      h('a', { class: 'skip', href: '#main' }, 'to the content'),
      h('header', { class: 'top' }, h('span', { class: 'mark', 'aria-hidden': 'true' }, 'tare'), h('h1', {}, 'Lab'), h('span', { class: 'grow' }), themeField()),
      h('main', { id: 'main', tabindex: -1 },
        h('section', { 'aria-label': 'runs' }, h('div', { class: 'card' },
          h('h2', { class: 'lab-title' }, 'Runs'), h('div', { class: 'tools' }, this.field), this.actions, this.trouble, this.said,
          h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'list of runs' },
            h('table', { class: 'lab-runs' }, h('caption', {}, 'Runs, the newest first'),
              h('thead', {}, h('tr', {}, ...head.map((title, i) => h('th', { scope: 'col', class: i > 5 ? 'number' : null }, title || h('span', { class: 'visually-hidden' }, 'ticked'))))), this.body)),
          h('div', { class: 'tools' }, this.onward))),
        this.studyPlace));
    this.onward.hidden = true;
    this.watch.observe(this.onward);
    this.drawActions();
    this.unlisten = api.listen('/api/events', (event) => { if (event === 'runs') this.changed(); }, (error) => {
      if (error) this.fail(error);
      else if (!this.trouble.hidden) void this.fetch();
    });
    void this.fetch();
  }

  leave(): void {
    this.unlisten();
    this.asked.abort();
    this.watch.disconnect();
    clearTimeout(this.typing);
    clearTimeout(this.again);
  }

  private fail(error: unknown): void {
    const later = error instanceof ApiError && (error.status === 0 || error.status >= 500);
    const words = `✖ ${errorWords(error)}${later ? ' – trying again' : ''}`;
    if (this.trouble.textContent !== words) this.trouble.textContent = words; // an alert is read aloud each time
    this.trouble.hidden = false;
    clearTimeout(this.again);
    if (later) this.again = window.setTimeout(() => void this.fetch(), 4000);
  }

  private query(most: number, before?: number): string {
    const asked = new URLSearchParams({ most: String(most) });
    if (this.like) asked.set('like', this.like);
    if (before !== undefined) asked.set('before', String(before));
    return `/api/runs?${asked}`;
  }

  private async ask(path: string): Promise<RunList | null> {
    this.asked.abort();
    const mine = this.asked = new AbortController();
    try {
      const list = await this.api.get<RunList>(path, mine.signal);
      if (mine.signal.aborted) return null;
      this.trouble.hidden = true;
      return list;
    } catch (error) {
      if (!mine.signal.aborted) this.fail(error);
      return null;
    }
  }

  private async fetch(): Promise<void> {
    const list = await this.ask(this.query(Math.min(MOST, Math.max(PAGE, this.runs.length))));
    if (!list) return;
    this.runs = [...list.runs].sort((a, b) => b.id - a.id);
    this.studies = list.studies;
    this.more = list.more;
    this.draw();
  }

  private async fetchMore(): Promise<void> {
    const last = this.runs[this.runs.length - 1];
    if (!last || this.fetching) return;
    this.fetching = true;
    this.onward.setAttribute('aria-disabled', 'true'); // :disabled would take the focus from it
    const list = await this.ask(this.query(PAGE, last.id));
    this.fetching = false;
    this.onward.removeAttribute('aria-disabled');
    if (!list) return;
    const focused = document.activeElement === this.onward;
    const had = new Set(this.runs.map((run) => run.id));
    this.runs.push(...list.runs.filter((run) => !had.has(run.id)).sort((a, b) => b.id - a.id));
    this.more = list.more && list.runs.length > 0;
    this.draw();
    if (focused && !this.more) this.focus(`open-${last.id}`); // the button goes
    // still in sight: an observer tells of changes only
    this.watch.unobserve(this.onward);
    this.watch.observe(this.onward);
  }

  private changed(): void {
    if (this.editing) this.stale = true; // what is being written stays
    else void this.fetch();
  }

  private search(text: string): void {
    clearTimeout(this.typing);
    this.like = text.trim();
    this.field.value = text;
    this.runs = [];
    this.liked(this.like);
    void this.fetch();
  }

  // ---- drawing ----

  private draw(): void {
    const focus = (document.activeElement as HTMLElement | null)?.dataset?.['focus'];
    this.body.replaceChildren(...this.runs.map((run) => this.row(run)));
    if (!this.runs.length) this.body.replaceChildren(h('tr', {}, h('td', { colspan: 9, class: 'muted' }, this.like ? 'no run matches' : "there are no runs yet: 'tare time COMMAND' makes one")));
    const going = this.runs.filter((run) => run.status === 'going').length;
    this.said.textContent = `${format.count(this.runs.length)}${this.more ? ' and more' : ''} ${this.runs.length === 1 ? 'run' : 'runs'}${this.like ? ' that match' : ''}${going ? `, ${going} going on` : ''}`;
    this.onward.hidden = !this.more;
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
    return h('tr', {},
      h('td', {}, this.tick(`run=${run.id}`, run.kind, `tick run ${run.id}: ${short(name, 60)}`)),
      this.nameCell(run, name),
      h('td', { 'data-title': 'command' }, run.command ? h('code', {}, foreign(run.command, 70)) : format.DASH),
      this.tagCell(run),
      h('td', { 'data-title': 'status' }, run.status === 'complete' ? 'complete' : h('span', { class: `badge ${run.status}` }, run.status === 'going' ? '● going' : run.status)),
      h('td', { 'data-title': 'began', class: 'one-line' }, format.date(run.started_at).replace(/\.\d+ UTC$/, ' UTC')),
      h('td', { 'data-title': 'executions', class: 'number' }, format.count(run.executions)),
      h('td', { 'data-title': 'mean ET, all', class: 'number' }, format.ns(run.mean_et_ns)),
      h('td', { 'data-title': 'mean PT, all', class: 'number' }, format.ns(run.mean_pt_ns)));
  }

  private edits(run: RunRow, what: Editing['what']): boolean {
    return this.editing?.run === run.id && this.editing.what === what;
  }

  private nameCell(run: RunRow, name: string): HTMLElement {
    if (this.edits(run, 'name')) return h('th', { scope: 'row' }, this.form(run, 'name'));
    return h('th', { scope: 'row' }, h('a', { href: `#run=${run.id}`, 'data-focus': `open-${run.id}` }, foreign(name, 50)), ' ',
      this.pencil(run, 'name', `name of run ${run.id}: change`), h('small', { class: 'muted' }, `run ${run.id} · ${run.kind}`));
  }

  private tagCell(run: RunRow): HTMLElement {
    const cell = h('td', { 'data-title': 'tags' });
    if (this.edits(run, 'tags')) {
      append(cell, this.form(run, 'tags'));
      return cell;
    }
    for (const [i, tag] of tagsOf(run.tags).entries()) {
      const chip = h('button', { type: 'button', class: 'tag', 'aria-label': `runs with ${short(tag, 30)}`, 'data-focus': `tag-${run.id}-${i}`, onclick: () => this.search(tag) });
      append(chip, foreign(tag, 30));
      append(cell, chip, ' ');
    }
    append(cell, this.pencil(run, 'tags', `tags of run ${run.id}: change`));
    return cell;
  }

  private pencil(run: RunRow, what: Editing['what'], label: string): HTMLElement {
    const open = button('✎', () => {
      this.editing = { run: run.id, what, text: run[what] ?? '' };
      this.draw();
      this.focus(`field-${what}`);
    }, label);
    open.className = 'pencil';
    open.dataset['focus'] = `edit-${what}-${run.id}`;
    return open;
  }

  private form(run: RunRow, what: Editing['what']): HTMLElement {
    const editing = this.editing!;
    const field = h('input', {
      type: 'text', value: editing.text, oninput: () => { editing.text = field.value; }, 'aria-label': `${what} of run ${run.id}${what === 'tags' ? ', with commas between' : ''}`, 'data-focus': `field-${what}`,
    });
    const wrong = h('small', { class: 'bad', role: 'alert' });
    const close = () => {
      this.editing = null;
      this.draw();
      this.focus(`edit-${what}-${run.id}`);
      if (this.stale) {
        this.stale = false;
        void this.fetch();
      }
    };
    const save = async () => {
      try {
        await this.api.edit(run.id, { [what]: field.value });
        const now = this.runs.find((x) => x.id === run.id);
        if (now) now[what] = field.value || null;
        close();
      } catch (error) {
        wrong.textContent = errorWords(error);
        field.focus();
      }
    };
    return h('form', {
      class: 'lab-edit', onsubmit: (event: Event) => { event.preventDefault(); void save(); },
      onkeydown: (event: KeyboardEvent) => { if (event.key === 'Escape') close(); },
    }, field, h('button', { type: 'submit' }, 'Save'), button('Cancel', close), wrong);
  }

  private drawStudies(): void {
    this.studyPlace.replaceChildren();
    if (!this.studies.length) return;
    append(this.studyPlace, h('section', { 'aria-label': 'studies' }, h('div', { class: 'card' }, h('h2', { class: 'lab-title' }, 'Studies of daemons'),
      h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'list of studies' }, h('table', {}, h('caption', {}, 'Studies of daemons'),
        h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, h('span', { class: 'visually-hidden' }, 'ticked')), ...['study', 'made', 'from', 'daemons', 'cutoffs'].map((title, i) => h('th', { scope: 'col', class: i > 2 ? 'number' : null }, title)))),
        h('tbody', {}, ...this.studies.map((study) => h('tr', {},
          h('td', {}, this.tick(`study=${study.id}`, 'study', `tick study ${study.id}`)),
          h('th', { scope: 'row' }, h('a', { href: `#study=${study.id}`, 'data-focus': `study-${study.id}` }, `study ${study.id}`)),
          h('td', {}, format.date(study.made_at)), h('td', {}, foreign(study.source ?? '', 30)), h('td', { class: 'number' }, format.count(study.daemons)), h('td', { class: 'number' }, format.count(study.cutoffs))))))))));
  }

  private drawActions(): void {
    const n = this.ticks.size;
    const kinds = new Set(this.ticks.values());
    const focus = (document.activeElement as HTMLElement | null)?.dataset?.['focus'];
    const open = button(n > 1 && kinds.size === 1 && !kinds.has('study') ? `Compare ${n}` : n > 1 ? `Report of ${n}` : 'Report',
      () => { location.hash = `#${[...this.ticks.keys()].join('&')}`; });
    open.dataset['focus'] = 'open';
    open.disabled = n === 0 || n > TOGETHER;
    const clear = button('Clear', () => { this.ticks.clear(); this.draw(); }, 'clear the ticks');
    clear.disabled = n === 0;
    this.actions.replaceChildren(open, clear, h('span', { class: 'muted' },
      n > TOGETHER ? `at most ${TOGETHER} in one report` : n ? `${n} ticked${n > 1 && kinds.size > 1 ? ': of several kinds, so they are shown one after another' : ''}` : 'tick one for its report, several to compare them'));
    if (focus === 'open') this.focus('open');
  }
}

export function showList(api: Api, root: HTMLElement, like: string, ticks: Ticks, liked: (text: string) => void): () => void {
  const list = new List(api, root, like, ticks, liked);
  return () => list.leave();
}
