// Documents made by hand, for pages: what is in a document beside its sections. Numbers that look random are the same each time.
export function random(seed = 1) {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13; state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5; state >>>= 0;
    return state / 2 ** 32;
  };
}

export function machine(name = 'testhost') {
  return {
    name, fingerprint: '0123456789abcdef', facts: { 'cpu.model': 'A CPU', 'cpu.online': '2', 'kernel.release': '6.18' },
    findings: [
      { id: 'turbo', severity: 'bad', condition: 'turbo is on', effect: 'the speed of a CPU depends on its neighbours', remedy: 'echo 1 >/sys/devices/system/cpu/intel_pstate/no_turbo', command: true, source: 'EMP v3' },
      { id: 'aslr', severity: 'note', condition: 'addresses are random', effect: 'layouts differ', remedy: 'setarch -R', command: true, source: 'pyperf' },
      { id: 'swap', severity: 'ok', condition: 'no swap', effect: '', remedy: '', command: false, source: 'TTP step 0' },
    ],
  };
}

const CAUSES = ['run', 'irq', 'softirq', 'nmi', 'steal', 'queued', 'waking', 'throttled', 'io', 'io_other', 'io_idle', 'fault', 'futex', 'pipe', 'socket', 'timer', 'poll', 'child', 'lock', 'sleep', 'stopped', 'unseen'];
const CLASSES = ['irq', 'softirq', 'nmi', 'thread', 'work', 'fault', 'throttled', 'delivery', 'steal', 'host-periodic', 'unexplained'];
const hex = (i, light) => `#${[53, 97, 29].map((step) => ((light ? 40 : 120) + ((i * step) % 130)).toString(16).padStart(2, '0')).join('')}`;
const colour = (i, meaning) => ({ light: hex(i, true), dark: hex(i, false), ...(meaning ? { meaning } : {}) });
export const colours = {
  causes: Object.fromEntries(CAUSES.map((name, i) => [name, colour(i, `what ${name} is`)])),
  classes: Object.fromEntries(CLASSES.map((name, i) => [name, colour(i)])),
};

/** A chart that tare made. */
export function chart(blocks, { x = 'length', y = 'density', log = false, bandwidth = null } = {}) {
  const axis = (name) => ({ name, log, low: 0.1, high: 1e9 });
  return { x: axis(x), y: axis(y), bandwidth, blocks };
}

export function document_(sections, { comparisons = [], title = 'a report', machines = [machine()], served = false } = {}) {
  return { type: 'page', format: 1, tare: '0.1.0', made_at: '2026-11-16T06:00:00.000Z', title, served, colours, machines, sections, comparisons };
}

export function head(kind, number, title, more = {}) {
  return {
    kind, anchor: `${kind === 'study' ? 'study' : 'run'}-${number}`, number, title, subtitle: title, status: 'complete', started_at: '2026-11-16T05:00:00.000Z',
    ended_at: '2026-11-16T05:10:00.000Z', tags: null, version: '0.1.0', conditions: { runs: 10 }, machine: 0, notes: [], charts: {}, ...more,
  };
}
