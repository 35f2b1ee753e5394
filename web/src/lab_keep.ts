// A page that is drawn anew while somebody reads it: where they were, what they had opened and chosen.
import { charts } from './parts/chart';
import { tables } from './parts/table';

/** What an element is called, such that the same one of the next page is called so, too. */
function names(root: HTMLElement, selector: string): Map<string, HTMLElement> {
  const found = new Map<string, HTMLElement>();
  for (const element of root.querySelectorAll<HTMLElement>(selector)) {
    const label = element.getAttribute('aria-label') ?? element.getAttribute('href') ?? (element instanceof HTMLDetailsElement ? element.querySelector('summary')?.textContent : element.querySelector('caption')?.textContent ?? element.textContent);
    // figures in a summary's text change: "12 executions"
    const base = `${element.closest('section')?.id ?? ''} ${element.closest('figure')?.id ?? ''} ${element.tagName} ${(label ?? '').slice(0, 120).replace(/\d+/g, '#')}`;
    let key = base;
    for (let i = 2; found.has(key); i++) key = `${base} ${i}`;
    found.set(key, element);
  }
  return found;
}

const FOCUSABLE = 'a[href], button, input, select, summary, [tabindex="0"]';
const FIELDS = 'main select, main input:not(.table input)'; // a table keeps its own

type Field = HTMLInputElement | HTMLSelectElement;
const isField = (target: unknown): target is Field => target instanceof HTMLInputElement || target instanceof HTMLSelectElement;

const told = new WeakMap<Field, string>(); // what a field held when the page last heard of it: of what is written since it hears when it is left
const rewritten = new WeakSet<Field>(); // fields in which the browser does not see what was written before
for (const kind of ['focusin', 'change']) document.addEventListener(kind, ({ target }) => { if (isField(target)) told.set(target, target.value); }, true);
function finish({ target }: Event): void {
  if (isField(target) && rewritten.has(target) && told.get(target) !== target.value) target.dispatchEvent(new Event('change'));
}
document.addEventListener('focusout', finish, true);
document.addEventListener('keyup', (event) => { if (event.key === 'Enter') finish(event); }, true);

function keyOf(root: HTMLElement, selector: string, element: Element | null): string | null {
  for (const [key, other] of names(root, selector)) if (other === element) return key;
  return null;
}

/** Now; what it gives is called when the next page is there. */
export function keep(root: HTMLElement): () => void {
  const top = window.scrollY;
  const focus = keyOf(root, FOCUSABLE, document.activeElement);
  const caret = document.activeElement instanceof HTMLInputElement && document.activeElement.type === 'search' ? document.activeElement.selectionEnd : null;
  const folds = [...names(root, 'details')].map(([key, element]) => [key, (element as HTMLDetailsElement).open] as const);
  const fields = [...names(root, FIELDS)].map(([key, element]) => {
    const { value } = element as Field;
    const focused = element === document.activeElement;
    if (focused) rewritten.delete(element as Field); // it goes, and is not left by anybody
    return { key, value, known: focused ? told.get(element as Field) ?? value : value };
  });
  const pressed = [...names(root, 'main button[aria-expanded]')].filter(([, element]) => element.getAttribute('aria-expanded') === 'true').map(([key]) => key);
  const lists = [...names(root, 'main .table')].flatMap(([key, element]) => {
    const state = tables.get(element)?.state();
    return state ? [[key, state] as const] : [];
  });
  const zooms: [string, { start: number; end: number }[]][] = [];
  const drawn: string[] = [];
  for (const [name, handle] of charts) {
    const chart = handle.chart();
    if (!chart) continue;
    const place = handle.element.getBoundingClientRect();
    if (place.bottom > 0 && place.top < window.innerHeight) drawn.push(name);
    const zoom = ((chart.getOption() as any).dataZoom ?? []) as { start: number; end: number }[];
    if (zoom.some((z) => z.start > 0 || z.end < 100)) zooms.push([name, zoom.map(({ start, end }) => ({ start, end }))]);
  }
  return () => {
    const details = names(root, 'details');
    for (const [key, open] of folds) {
      const element = details.get(key) as HTMLDetailsElement | undefined;
      if (element) element.open = open;
    }
    for (const key of pressed) {
      const element = names(root, 'main button[aria-expanded]').get(key);
      if (element?.getAttribute('aria-expanded') === 'false') element.click();
    }
    const now = names(root, FIELDS);
    const back = fields.flatMap(({ key, value, known }) => {
      const element = now.get(key) as Field | undefined;
      return element && (element.value !== value || element.value !== known) ? [{ element, value, known }] : [];
    });
    // some listen to the one, some to the other; of what is half written those of 'change' do not hear yet, nor do they find it in another field
    for (const { element, known } of back) {
      if (element.value === known) continue;
      element.value = known;
      element.dispatchEvent(new Event('change'));
    }
    for (const { element, value } of back) {
      element.value = value;
      element.dispatchEvent(new Event('input'));
    }
    const listed = names(root, 'main .table');
    for (const [key, state] of lists) {
      const element = listed.get(key);
      if (element) tables.get(element)?.restore(state);
    }
    for (const name of drawn) charts.get(name)?.draw(); // at once: what is in sight does not flicker
    for (const [name, zoom] of zooms) {
      const chart = charts.get(name)?.draw();
      zoom.forEach(({ start, end }, i) => chart?.dispatchAction({ type: 'dataZoom', dataZoomIndex: i, start, end }));
    }
    const target = focus === null ? null : names(root, FOCUSABLE).get(focus);
    target?.focus({ preventScroll: true });
    for (const { element, value, known } of back) {
      if (value === known) continue;
      told.set(element, known);
      rewritten.add(element);
    }
    if (caret !== null && target instanceof HTMLInputElement) target.setSelectionRange(caret, caret);
    window.scrollTo(0, top);
  };
}
