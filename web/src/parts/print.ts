// Paper: what is drawn or laid out for it is told before the printer looks, and after it did.

const listeners: ((printing: boolean) => void)[] = [];

/** Called in the order in which they came; the page is as wide as the paper by then, and laid out as it is on it. */
export function onPaper(listener: (printing: boolean) => void): void {
  listeners.push(listener);
}

window.addEventListener('beforeprint', () => {
  document.documentElement.setAttribute('data-printing', '');
  for (const listener of listeners) listener(true);
});
window.addEventListener('afterprint', () => {
  document.documentElement.removeAttribute('data-printing');
  for (const listener of listeners) listener(false);
});
