// The form for a run's name and tags: what is written stays until it is stored or given up.
import { errorWords, type Api, type RunRow } from './lab_api';
import { button, h } from './parts/dom';

export interface Edit { element: HTMLElement; focus: () => void }

/** done: with what was stored, or null when it was given up. */
export function editForm(api: Api, run: RunRow, done: (stored: { name?: string; tags?: string } | null) => void): Edit {
  const field = (what: 'name' | 'tags', about: string) => h('input', { type: 'text', value: run[what] ?? '', 'aria-label': `${what} of run ${run.id}${about}`, placeholder: what === 'tags' ? 'tags, with commas between' : null });
  const name = field('name', '');
  const tags = field('tags', ', with commas between');
  const said = h('small', { class: 'muted', role: 'status' });
  const wrong = h('small', { class: 'bad', role: 'alert' });
  const submit = h('button', { type: 'submit' }, 'Save');
  let busy = false;
  const save = async () => {
    if (busy) return;
    // what stayed as it was is not sent: somebody else may have changed it
    const change: { name?: string; tags?: string } = {};
    if (name.value !== (run.name ?? '')) change.name = name.value;
    if (tags.value !== (run.tags ?? '')) change.tags = tags.value;
    if (change.name === undefined && change.tags === undefined) {
      done(null);
      return;
    }
    const wait = (on: boolean) => {
      busy = on;
      name.readOnly = tags.readOnly = on;
      submit.toggleAttribute('aria-disabled', on); // :disabled would take the focus from it
      said.textContent = on ? 'saving…' : '';
    };
    wrong.textContent = '';
    wait(true);
    try {
      await api.edit(run.id, change);
      done(change);
    } catch (error) {
      wait(false);
      wrong.textContent = `✖ not saved: ${errorWords(error)}`;
      if (document.activeElement === document.body) (change.name === undefined ? tags : name).focus();
    }
  };
  const element = h('form', {
    class: 'lab-edit', 'aria-label': `run ${run.id}`, onsubmit: (event: Event) => { event.preventDefault(); void save(); },
    onkeydown: (event: KeyboardEvent) => { if (event.key === 'Escape' && !busy) done(null); },
  }, h('label', {}, h('span', {}, 'name'), name), h('label', {}, h('span', {}, 'tags'), tags), submit, button('Cancel', () => { if (!busy) done(null); }), said, wrong);
  return { element, focus: () => { name.focus(); name.select(); } };
}
