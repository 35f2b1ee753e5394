// What somebody chose, by name: a page that is drawn anew has it still.

const chosen = new Map<string, unknown>();

/** A choice that lives as long as its report is shown; until somebody makes it, it is `initial`. */
export function remember<T>(name: string, initial: T): { value: T } {
  return {
    get value() { return chosen.has(name) ? chosen.get(name) as T : initial; },
    set value(next: T) { chosen.set(name, next); },
  };
}

/** Another report comes. */
export function forgetChoices(): void {
  chosen.clear();
}
