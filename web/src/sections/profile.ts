// A profile: figures, samples over time, the flame graph, tables by what is asked, and machine code.
import type { Doc, Profile, ProfileSection, ProfileView } from '../types';
import { axis, baseOption, chartCard, tip, zoom } from '../parts/chart';
import { button, h } from '../parts/dom';
import { figure } from '../parts/figures';
import { flameCard } from '../parts/flame';
import * as format from '../parts/format';
import { listingCard } from './profile_listing';
import { functionLabel, functionName, viewTable, viewWords, type By, type Row } from './profile_views';

const MODES = { tick: 'by the tick', 'cpu-clock': 'by a timer', cycles: 'by the cycle counter', event: 'by an event' };

/** What the samples stand for, if that is events and not time; null: time. */
function events(p: Profile, samples: number): string | null {
  const { event, period } = p.settings;
  return event === null || period === null ? null : `${format.count(samples * period)} ${event}`;
}

function figures(p: Profile): HTMLElement {
  const t = p.totals;
  const taken = t.samples + t.idle + t.others + t.lost;
  const ends = t.stack_ends;
  const whole = ends.complete + ends.elided;
  const followed = whole + ends.limit + ends.broken + ends.no_room;
  const cut = ([[ends.broken, 'broke off'], [ends.elided, 'without their middle'], [ends.limit, 'too deep to follow'], [ends.no_room, 'found no room']] as const)
    .filter(([n], i) => !i || n).map(([n, words]) => `${format.count(n)} ${words}`).join(', ');
  return h('dl', { class: 'figures close' },
    figure('samples', format.count(t.samples), t.cpu_ns === null ? events(p, t.samples) : `${format.ns(t.cpu_ns)} of CPU time`),
    figure('user', format.percent(t.samples ? t.user / t.samples : null), `${format.count(t.user)} samples`),
    figure('kernel', format.percent(t.samples ? t.kernel / t.samples : null), `${format.count(t.kernel)} samples`),
    p.settings.mode === 'event' ? null : figure('idle', format.count(t.idle), taken ? `${format.percent(t.idle / taken)} of all looks` : null),
    t.others ? figure('of others', format.count(t.others), 'taken, not asked for') : null,
    figure('lost', format.count(t.lost), t.throttled || t.untold ? `held back ${format.count(t.throttled)} times, ${format.count(t.untold)} untold` : 'found no room'),
    p.settings.mode === 'event' ? figure('a sample', p.settings.period === 1 ? 'for each' : `for ${format.count(p.settings.period ?? 0)}`, `${p.settings.event ?? 'events'}, ${format.count(p.settings.cpus)} ${p.settings.cpus === 1 ? 'CPU' : 'CPUs'}; not time`)
      : figure('rate', p.settings.hz === null ? format.DASH : `${format.figure(p.settings.hz)} Hz`, `${MODES[p.settings.mode] ?? p.settings.mode}, ${format.count(p.settings.cpus)} ${p.settings.cpus === 1 ? 'CPU' : 'CPUs'}`),
    followed ? figure('whole stacks', format.percent(whole / followed), cut)
      : figure('stacks', 'none', 'run with -g to see callers'),
    figure('tare itself', format.percent(t.self_share), `${format.ns(t.self_ns)} of CPU time`),
    figure('for', format.ns(p.elapsed_ns), `${format.count(p.slices)} ${p.slices === 1 ? 'slice' : 'slices'}`));
}

interface Slice {
  at_ms: number;
  ms: number;
  user: number;
  kernel: number;
  idle: number;
}

const STEPS = 240; // of the chart: thinner ones look like slopes

/** Slices put together where there are more than a picture shows; those with a pause between them stay apart. */
export function together(slices: readonly Slice[], most = STEPS): Slice[] {
  const each = Math.ceil(slices.length / most);
  const list: Slice[] = [];
  let count = 0; // in the last one
  for (const s of slices) {
    const last = list.at(-1);
    if (last && count < each && !pause(last, s)) {
      last.ms = s.at_ms + s.ms - last.at_ms;
      last.user += s.user;
      last.kernel += s.kernel;
      last.idle += s.idle;
      count++;
    } else {
      list.push({ ...s });
      count = 1;
    }
  }
  return list;
}

/** Nothing was sampled between these two. */
function pause(a: Slice, b: Slice): boolean {
  return b.at_ms - (a.at_ms + a.ms) > 50 + b.ms / 100;
}

/** CPUs at work over time: samples per time they would have taken, so that slices of different length can be held side by side. */
function overTime(section: ProfileSection, p: Profile): HTMLElement | null {
  const s = section.slices;
  if (!s || !s.at_ms.length) return null;
  const hz = p.settings.hz;
  const parts = (['user', 'kernel', 'idle'] as const).filter((part) => s[part].some((n) => n > 0));
  if (!parts.length) return null;
  const rows = (): Slice[] => s.at_ms.map((at_ms, i) => ({ at_ms, ms: s.ms[i]!, user: s.user[i]!, kernel: s.kernel[i]!, idle: s.idle[i]! }));
  const steps = together(rows());
  const level = (samples: number, ms: number) => (ms > 0 ? samples / (ms / 1000) / (hz ?? 1) : 0);
  const data = (part: 'user' | 'kernel' | 'idle') => {
    const points: [number, number][] = []; // each holds until the next
    steps.forEach((step, i) => {
      const before = steps[i - 1];
      if (before && pause(before, step)) points.push([(before.at_ms + before.ms) / 1000, 0]);
      points.push([step.at_ms / 1000, level(step[part], step.ms)]);
    });
    const last = steps.at(-1)!;
    points.push([(last.at_ms + last.ms) / 1000, points.at(-1)![1]]);
    return points;
  };
  const busy = s.at_ms.map((_, i) => level(s.user[i]! + s.kernel[i]!, s.ms[i]!));
  const top = busy.indexOf(busy.reduce((a, b) => Math.max(a, b), 0));
  const unit = hz === null ? 'samples per s' : 'CPUs';
  return chartCard<Slice>({
    name: `${section.anchor}-slices`, title: 'Samples over time', height: 220,
    about: (hz === null ? 'Samples per second, by slice.' : 'How many CPUs were at what, by slice: samples over those that one busy CPU makes.')
      + (steps.length < s.at_ms.length ? ` The ${format.count(s.at_ms.length)} slices are put together into ${format.count(steps.length)} steps; the table has each.` : ''),
    summary: `${format.count(s.at_ms.length)} slices over ${format.ns(p.elapsed_ns)}: ${format.count(p.totals.user)} samples in user space, ${format.count(p.totals.kernel)} in the kernel${p.settings.mode === 'event' ? '' : `, ${format.count(p.totals.idle)} idle`}. `
      + `The busiest begins at ${format.ns(s.at_ms[top]! * 1e6)} with ${format.figure(busy[top])} ${unit} at work.`,
    option: (theme) => {
      const colour = { user: theme.series[2]!, kernel: theme.series[3]!, idle: theme.series[6]! };
      return {
        ...baseOption(theme),
        grid: { left: 28, right: 20, top: 12, bottom: 32, containLabel: true },
        tooltip: {
          ...(baseOption(theme)['tooltip'] as object), trigger: 'axis',
          formatter: (points: any) => {
            const x = points[0]?.axisValue as number;
            const step = steps.find((k) => x * 1000 >= k.at_ms - 1e-6 && x * 1000 < k.at_ms + k.ms) ?? steps.at(-1)!;
            return tip([`${format.ns(step.at_ms * 1e6)} to ${format.ns((step.at_ms + step.ms) * 1e6)}`,
              ...parts.map((part) => `${part}: ${format.count(step[part])} samples, ${format.figure(level(step[part], step.ms))} ${unit}`)]);
          },
        },
        xAxis: axis(theme, 'time', { type: 'value', min: 0, max: 'dataMax', axisLabel: { formatter: (v: number) => format.ns(v * 1e9), showMaxLabel: false } }),
        yAxis: axis(theme, unit, { type: 'value', min: 0, nameGap: 12 }),
        dataZoom: zoom(),
        series: parts.map((part, k) => ({
          type: 'line', name: part, stack: 'all', data: data(part), symbol: 'none', step: 'end', lineStyle: { width: 1, type: (['solid', 'dashed', 'dotted'] as const)[k], color: colour[part] },
          areaStyle: { color: colour[part], opacity: part === 'idle' ? 0.25 : 0.7 }, itemStyle: { color: colour[part] },
        })),
      };
    },
    data: {
      rows, columns: [
        { name: 'at_ms', title: 'from', kind: 'ns', of: (r) => r.at_ms, show: (r) => format.ns(r.at_ms * 1e6) },
        { name: 'ms', title: 'for', kind: 'ns', of: (r) => r.ms, show: (r) => format.ns(r.ms * 1e6) },
        { name: 'user', title: 'user', kind: 'number', of: (r) => r.user },
        { name: 'kernel', title: 'kernel', kind: 'number', of: (r) => r.kernel },
        { name: 'idle', title: 'idle', kind: 'number', of: (r) => r.idle },
      ],
    },
  }).element;
}

/** One table of several, chosen by buttons. */
function otherViews(section: ProfileSection, views: ProfileView[], stacks: boolean, timed: boolean): HTMLElement | null {
  if (!views.length) return null;
  const place = h('div', { 'aria-live': 'off' });
  const heading = h('h3');
  const choose = (view: ProfileView) => {
    heading.textContent = viewWords(view.by);
    place.replaceChildren(viewTable(view, { name: `${section.anchor}-${view.by}`, stacks, timed }).element);
    buttons.forEach((b, i) => b.setAttribute('aria-pressed', String(views[i] === view)));
  };
  const buttons = views.map((view) => button(view.by, () => choose(view), `by ${view.by}`));
  choose(views.find((view) => view.by === 'app') ?? views[0]!);
  return h('div', { class: 'card', id: `${section.anchor}-views` }, heading, h('div', { class: 'tools', role: 'group', 'aria-label': 'view by' }, ...buttons), place);
}

export function profileSection(_doc: Doc, section: ProfileSection): HTMLElement[] {
  const { profile: p, listings } = section;
  const stacks = p.settings.stacks !== 'none';
  const timed = p.settings.mode !== 'event';
  const flame = flameCard({
    name: `${section.anchor}-flame`, title: 'Flame graph', tree: section.tree,
    about: stacks ? 'Each frame is a function, beside it what else its caller called; as wide as the share of samples with it in the stack.'
      : 'Sampled without stacks: apps, and the functions that they were in.',
  });
  const listing = listings.length ? listingCard(`${section.anchor}-listing`, listings) : null;
  const listingOf = (row: Row) => listings.find((l) => l.function.name === functionName(row) && l.function.object === row.object && (!row.address || l.function.address === row.address))
    ?? listings.find((l) => l.function.name === functionName(row) && l.function.object === row.object) ?? null;
  let chosen: Row | null = null;
  const order: By[] = [...(timed ? ['system' as const] : []), 'app', 'instance', 'thread', 'object', 'container', 'line', 'instruction'];
  const functions = p.views.find((view) => view.by === 'function');
  const made = functions && viewTable(functions, {
    name: `${section.anchor}-function`, stacks, timed,
    onRow: (row) => {
      chosen = chosen === row ? null : row;
      flame.search(chosen ? `=${functionName(chosen)}` : '');
      const code = chosen && listingOf(chosen);
      if (code) listing!.open(code);
      made!.refresh();
      said.textContent = !chosen ? '' : `${functionLabel(chosen)} is marked in the flame graph${code ? '; its machine code is beneath.' : listing ? '; its machine code is not in this page.' : '.'}`;
      refocus();
    },
    rowLabel: (row) => `${functionLabel(row)}: mark in the flame graph`,
    selected: (row) => row === chosen,
  });
  const said = h('p', { class: 'muted', 'aria-live': 'polite' });
  // the rows were made anew
  const refocus = () => made?.element.querySelector<HTMLElement>('tr.selected button')?.focus({ preventScroll: true });
  return [
    figures(p),
    overTime(section, p), flame.element,
    made ? h('div', { class: 'card', id: `${section.anchor}-functions` }, h('h3', {}, 'Functions'), h('p', { class: 'muted hint' }, 'Choosing one marks it in the flame graph and opens its machine code.'), made.element, said) : null,
    listing?.element ?? null,
    otherViews(section, order.flatMap((by) => p.views.filter((view) => view.by === by)), stacks, timed),
  ].filter((element): element is HTMLElement => !!element);
}
