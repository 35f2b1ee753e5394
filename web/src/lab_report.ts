// The page of runs that were chosen, drawn again while one of them goes on.
import type { Route } from './lab';
import { Api, ApiError, errorWords } from './lab_api';
import { keep } from './lab_keep';
import type { Doc } from './types';
import { showDocument } from './page';
import { button, h } from './parts/dom';

const LEAST_MS = 2_000; // between two of the same report
const REST = 4; // and so many times as long as the last one took

function clock(when: Date): string {
  return when.toTimeString().slice(0, 8);
}

export function showReport(api: Api, root: HTMLElement, route: Route, back: string): () => void {
  const asked = new AbortController();
  const path = new URLSearchParams([...route.runs.map((run) => ['run', String(run)]), ...route.studies.map((study) => ['study', String(study)])]);
  let timer = 0;
  let busy = false;
  let dirty = false;
  let shown: Doc | null = null;
  let next = 0; // when it may be asked again
  let down: ApiError | null = null; // the stream's
  let updated: Date | null = null;
  let waiting = false; // what is newer, for a dialog to be closed
  let pressed = false; // a button of the pointer
  let late = false; // what is newer, for it to be released
  const live = h('span', { class: 'live' });
  const alarm = h('span', { class: 'bad', role: 'alert' });
  const status = h('span', { class: 'lab-status' }, live, alarm);
  const backLink = h('a', { href: back }, '← runs');

  function say(error: unknown): void {
    const going = shown?.sections.some((section) => section.status === 'going') ?? false;
    live.className = going && !error ? 'live ok' : 'live muted';
    live.textContent = !updated ? '' : waiting ? `newer data when this is closed; as of ${clock(updated)}` : going && !error ? `● live, ${clock(updated)}` : `as of ${clock(updated)}`;
    const words = error ? `✖ ${errorWords(error)}` : '';
    if (alarm.textContent !== words) alarm.textContent = words;
  }

  function first(text: string, ...more: HTMLElement[]): void {
    root.replaceChildren(h('header', { class: 'top' }, h('span', { class: 'mark', 'aria-hidden': 'true' }, 'tare'), backLink, h('h1', {}, 'Report'), status),
      h('main', { id: 'main', tabindex: -1 }, h('p', { role: 'status' }, text), ...more));
  }

  function draw(doc: Doc): void {
    const restore = shown ? keep(root) : null;
    shown = doc;
    updated = new Date();
    showDocument(doc, root, { back: backLink, live: status });
    restore?.();
    say(down);
  }

  /** Who reads an execution keeps it, and so does who drags something: what is newer comes when it is closed, or released. */
  function held(): boolean {
    const dialog = root.querySelector('dialog[open]');
    if (!dialog) return late = pressed;
    if (!waiting) {
      waiting = true;
      dialog.addEventListener('close', () => {
        waiting = false;
        if (!asked.signal.aborted) schedule(true);
      }, { once: true });
      say(down);
    }
    return true;
  }

  async function fetchNow(): Promise<void> {
    if (held()) return;
    if (busy) {
      dirty = true;
      return;
    }
    busy = true;
    dirty = false;
    const begun = Date.now();
    try {
      const doc = await api.get<Doc>(`/api/report?${path}`, asked.signal);
      if (!asked.signal.aborted && !held()) draw(doc);
    } catch (error) {
      if (asked.signal.aborted) return;
      say(error);
      const gone = error instanceof ApiError && (error.status === 0 || error.status >= 500);
      if (!shown) first(gone ? 'Trying again…' : 'There is nothing to show.', button('Try again', () => schedule(true)));
      if (gone) dirty = true;
    } finally {
      busy = false;
      next = Date.now() + Math.max(LEAST_MS, REST * (Date.now() - begun));
      if (dirty && !asked.signal.aborted) schedule();
    }
  }

  function schedule(now = false): void {
    dirty = true;
    if (timer && !now) return;
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      timer = 0;
      void fetchNow();
    }, now ? 0 : Math.max(0, next - Date.now()));
  }

  /** Each event says whether it is pressed: not every release is told of (a menu's, a scroll bar's). */
  function press(event: PointerEvent): void {
    pressed = event.type !== 'pointercancel' && (event.buttons & 1) === 1;
    if (pressed || !late) return;
    late = false;
    schedule(true);
  }

  first('Reading…');
  for (const kind of ['pointerdown', 'pointermove', 'pointerup', 'pointercancel'] as const) window.addEventListener(kind, press, { capture: true, signal: asked.signal });
  // first the events, then the report: what changes between is told
  const listened = new URLSearchParams(route.runs.map((run) => ['run', String(run)]));
  const unlisten = route.runs.length ? api.listen(`/api/events?${listened}`, (event) => { if (event === 'change') schedule(); }, (error) => {
    const was = down;
    down = error;
    say(error);
    if (was && !error) schedule(); // it was away: whatever happened meanwhile
  }) : () => {};
  void fetchNow();
  return () => {
    unlisten();
    asked.abort();
    clearTimeout(timer);
  };
}
