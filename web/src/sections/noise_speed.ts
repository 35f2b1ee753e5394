// How fast the watched CPUs were over the time of a run of noise, by probes of known work.
import type { NoiseCpu, NoiseSection, NoiseSpeed, NoiseSpeedPoint } from '../types';
import { axis, baseOption, chartCard, tip, zoom, type ChartHandle } from '../parts/chart';
import { select } from '../parts/fields';
import * as format from '../parts/format';
import type { Column } from '../parts/table';
import { seconds, type Choice } from './noise_model';

const LINES = 12; // CPUs that have a line each

type Kind = 'chain' | 'ports' | 'turns' | 'loads';
const KINDS: [Kind, string][] = [['chain', 'dependent work (clock)'], ['ports', 'full ports'], ['turns', 'tight loops'], ['loads', 'loads from memory']];

type Watched = NoiseCpu & { speed: NoiseSpeed };
interface Row { cpu: number; point: NoiseSpeedPoint }

const took = (p: NoiseSpeedPoint, kind: Kind): number | null => p[`${kind}_ns`];

/** The speed of a point, as a share of the CPU's best; null: no probe of it counts. */
function share(c: Watched, p: NoiseSpeedPoint, kind: Kind): number | null {
  const ns = took(p, kind);
  const best = c.speed.work[kind].best_ns;
  return ns && best ? best / ns : null;
}

/** Places in time and shares; a stretch without a probe breaks the line. */
function line(c: Watched, kind: Kind): [number, number | null][] {
  const out: [number, number | null][] = [];
  let end = 0;
  for (const p of c.speed.points) {
    if (out.length && p.begin_ns > end) out.push([end / 1e9, null]);
    out.push([(p.begin_ns + p.length_ns / 2) / 1e9, share(c, p, kind)]);
    end = p.begin_ns + p.length_ns;
  }
  return out;
}

export function speedCard(section: NoiseSection, choice: Choice): HTMLElement[] {
  const watched = choice.noise.cpus.filter((c): c is Watched => !!c.speed && c.speed.points.length > 1);
  if (!watched.length) return [];
  const unsteady = (kind: Kind) => watched.reduce((most, c) => Math.max(most, c.speed.work[kind].varied ?? 0), 0);
  // what is in a shared cache changes by itself: loads are shown when they are asked for
  let kind: Kind = (['chain', 'ports', 'turns'] as Kind[]).reduce((a, b) => (unsteady(b) > unsteady(a) ? b : a));
  const one = () => (choice.cpu < 0 ? null : choice.noise.cpus[choice.cpu]?.cpu ?? null);
  const least = (c: Watched) => c.speed.least ?? 1;
  const most = [...watched].sort((a, b) => least(a) - least(b));
  const drawn = () => (one() !== null ? watched.filter((c) => c.cpu === one()) : most.slice(0, LINES).sort((a, b) => a.cpu! - b.cpu!));
  const worst = most[0]!;
  const columns: Column<Row>[] = [
    { name: 'cpu', title: 'CPU', kind: 'number', of: (r) => r.cpu },
    { name: 'begin_ns', title: 'from', kind: 'number', of: (r) => r.point.begin_ns, show: (r) => seconds(r.point.begin_ns) },
    { name: 'length_ns', title: 'length', kind: 'ns', of: (r) => r.point.length_ns },
    { name: 'probes', title: 'probes', kind: 'number', of: (r) => r.point.probes },
    { name: 'left_out', title: 'left out', kind: 'number', of: (r) => r.point.left_out },
    ...KINDS.map(([k, title]): Column<Row> => ({ name: `${k}_ns`, title, kind: 'ns', of: (r) => took(r.point, k) })),
  ];
  let handle: ChartHandle;
  const kinds = select<Kind>('the work of a probe', KINDS, kind, (next) => { kind = next; handle.redraw(); });
  handle = chartCard<Row>({
    name: `${section.anchor}-speed`, title: 'Speed of the CPU, over the run', height: 300,
    about: `How fast known work was done, as a share of the best of each CPU: means of ${format.ns(worst.speed.point_ns)}, interrupted probes left out. A lower clock slows all kinds down, a busy sibling mostly full ports and tight loops.${watched.length > LINES ? ` The ${LINES} CPUs that varied most.` : ''} A gap: no probe.`,
    summary: `The speed of ${watched.length} ${watched.length === 1 ? 'CPU' : 'CPUs'} over the ${format.ns(choice.noise.elapsed_ns)} of the run. That of CPU ${worst.cpu} varied most: from ${format.percent(least(worst))} to 100 % of its best.`,
    option: (theme) => {
      const cpus = drawn();
      return {
        ...baseOption(theme),
        grid: { left: 40, right: 20, top: 14, bottom: 26, containLabel: true },
        xAxis: axis(theme, 'time of the run', { type: 'value', min: 0, max: choice.noise.elapsed_ns / 1e9, axisLabel: { formatter: (v: number) => format.ns(v * 1e9), showMaxLabel: false } }),
        yAxis: axis(theme, 'of its best speed', { type: 'value', scale: true, nameGap: 12, axisLabel: { formatter: (v: number) => format.percent(v) } }),
        dataZoom: zoom(),
        tooltip: {
          ...(baseOption(theme)['tooltip'] as object), trigger: 'axis',
          formatter: (p: { seriesName: string; value: [number, number | null] }[]) => tip([seconds((p[0]?.value[0] ?? 0) * 1e9), ...p.map((at) => `${at.seriesName}: ${format.percent(at.value[1])}`)]),
        },
        series: cpus.map((c) => ({ name: `CPU ${c.cpu}`, type: 'line', showSymbol: false, lineStyle: { width: 1.5 }, data: line(c, kind) })),
      };
    },
    controls: [kinds],
    data: { columns, rows: () => drawn().flatMap((c) => c.speed.points.map((point) => ({ cpu: c.cpu!, point }))) },
  });
  let before = choice.cpu;
  choice.onChange(() => {
    if (choice.cpu !== before) handle.redraw();
    before = choice.cpu;
  });
  return [handle.element];
}
