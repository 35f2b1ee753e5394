// The page of a run of noise: figures first, then lengths, sources, time and CPUs.
import type { Doc, Noise, NoiseCpu, NoiseSection } from '../types';
import { foreign, h } from '../parts/dom';
import { figure, wide } from '../parts/figures';
import * as format from '../parts/format';
import { classCard, heatCard } from './noise_cpus';
import { densityCards, sourceCard } from './noise_density';
import { differences } from './noise_diff';
import { Choice } from './noise_model';
import { speedCard } from './noise_speed';
import { partsCard, worstCards } from './noise_time';

function coverageFigure(c: NoiseCpu): HTMLElement | null {
  // of all detours, where that was told: short ones are beyond what a kernel can tell
  const told = c.coverage.find((row) => row.from_ns === 0) ?? c.coverage[0];
  if (!told || told.strict === null) return null;
  const longer = c.coverage.filter((row) => row !== told).map((row) => `${format.percent(row.strict)} from ${format.ns(row.from_ns)}`).join(', ');
  return figure('coverage: strict / by overlap', `${format.percent(told.strict)} / ${format.percent(told.overlap)}`, `${format.percent(told.named)} named${longer ? `; strict: ${longer}` : ''}`);
}

function figures(noise: Noise): HTMLElement {
  const all = noise.together;
  const { settings } = noise;
  const thresholds = new Set(noise.cpus.map((c) => c.threshold_ns));
  const list = h('dl', { class: 'figures' },
    figure('time lost', format.percent(all.detours.lost_share), `${format.ns(all.detours.ns)} of ${format.ns(all.window_ns)} looked at`),
    figure('detours', `${format.figure(all.detours.per_s)} per s`, `of a CPU; ${format.count(all.detours.count)} in all`),
    figure('longest', format.ns(all.detours.max_ns), `shortest ${format.ns(all.detours.min_ns)}`),
    figure('threshold', format.ns(all.threshold_ns), thresholds.size > 1 ? 'the largest of the CPUs' : 'a longer gap is a detour'),
    figure('duty cycle', format.percent(all.duty_cycle), 'of the time that passed'));
  const covered = coverageFigure(all);
  if (covered) list.appendChild(covered);
  list.appendChild(figure(settings.cpus.length === 1 ? 'CPU' : 'CPUs', settings.cpus.length > 8 ? format.count(settings.cpus.length) : settings.cpus.join(', '),
    settings.realtime ? `real-time class, priority ${settings.priority ?? format.DASH}` : 'fair class'));
  return list;
}

function remarks(noise: Noise): HTMLElement | null {
  const { together: all, settings } = noise;
  const list: (string | HTMLElement)[] = [];
  if (!settings.kernel) list.push('Detours have no names here: only their lengths are shown.');
  else if (!settings.steal_told) list.push('The hypervisor does not tell its steal, or there is none.');
  if (all.lost) list.push(`${format.count(all.lost)} events of the kernel found no room.`);
  if (all.host.period_ns !== null && all.host.in_phase) {
    list.push(`In ${all.host.fitted} of ${all.host.rounds} rounds, what is otherwise unexplained comes every ${format.ns(all.host.period_ns)}: ${format.count(all.host.in_phase)} of ${format.count(all.host.looked_at)} detours; by chance it would be ${format.percent(all.host.chance)}.`);
  }
  if (all.smi.count) list.push(`Firmware took the ${settings.cpus.length === 1 ? 'CPU' : 'CPUs'} ${format.count(all.smi.count)} times, by the count of SMIs${all.smi.explained === null ? '' : `; ${format.count(all.smi.explained)} of them are in detours with time that nothing else explains`}.`);
  if (settings.kernel && all.untold.length) {
    const names = all.untold.slice(0, 8).flatMap((u, i) => [i ? ', ' : '', foreign(u.name, 30), ` (${format.count(u.count)})`]);
    list.push(h('span', {}, 'Counted by /proc/interrupts, but without a tracepoint: ', ...names, all.untold.length > 8 ? `, and ${all.untold.length - 8} more.` : '.'));
  }
  return list.length ? h('ul', { class: 'notes' }, ...list.map((text) => h('li', {}, text))) : null;
}

/** Where the page holds this run against its baseline anyway; -1: nowhere. */
function comparedAt(doc: Doc, section: NoiseSection): number {
  return doc.comparisons.findIndex((c) => c.kind === 'noise' && doc.sections[c.run] === section && doc.sections[c.base]?.number === section.baseline?.number);
}

export function noiseSection(doc: Doc, section: NoiseSection): HTMLElement[] {
  const { noise } = section;
  if (!noise) return []; // its notes say why
  const choice = new Choice(noise, section.anchor);
  const out: HTMLElement[] = [figures(noise)];
  const said = remarks(noise);
  if (said) out.push(said);
  if (!noise.together.detours.count) {
    const speed = wide(speedCard(section, choice));
    out.push(h('p', {}, 'No detour was seen.'), ...(speed.length ? [h('div', { class: 'cards' }, ...speed)] : []));
    return out;
  }
  const baseline = section.baseline;
  const named = noise.settings.kernel;
  out.push(h('div', { class: 'cards' },
    ...(named ? wide(classCard(section, choice)) : []),
    ...densityCards(section, choice),
    ...(named ? [sourceCard(section, choice), ...worstCards(section, choice), ...wide(partsCard(section, choice))] : []),
    ...wide(speedCard(section, choice)),
    ...heatCard(section, choice)));
  if (baseline) {
    const compared = comparedAt(doc, section);
    out.push(h('h3', { class: 'beside' }, `Against the baseline, run ${baseline.number} `, foreign(baseline.name, 60)),
      ...(compared < 0 ? differences(`${section.anchor}-baseline`, baseline.diff, false) : [h('p', {}, 'Compared ', h('a', { href: `#compared-${compared}` }, 'above'), '.')]));
  }
  return out;
}
