// The dual-execution scatter at each zoom: small ones side by side, one of them large. Where samples are gone, the counts stand for them.
import type { StudyLevel, StudySection } from '../types';
import { axis, baseOption, chartCard, tip, zoom, type ChartHandle } from '../parts/chart';
import { append, button, h } from '../parts/dom';
import * as format from '../parts/format';
import { pairsOf, SHAPE } from '../parts/pairs';
import { remember } from '../parts/remember';
import { current, onChange, type Theme } from '../parts/theme';
import type { Run } from './study_model';

const SMALL = 104; // px

const inside = (level: StudyLevel, a: number, b: number): boolean => a >= level.low_ns && a <= level.high_ns && b >= level.low_ns && b <= level.high_ns;

/** A level in small: a sign on a button, whose words say the same. */
function miniature(level: StudyLevel, points: Float64Array | null, next: StudyLevel | undefined): { canvas: HTMLCanvasElement; paint: () => void } {
  const canvas = h('canvas', { width: SMALL * 2, height: SMALL * 2, 'aria-hidden': 'true', class: 'mini' });
  function paint(): void {
    const theme = current();
    const pen = canvas.getContext('2d');
    if (!pen) return;
    const size = canvas.width;
    const span = Math.max(1, level.high_ns - level.low_ns);
    const at = (value: number) => ((value - level.low_ns) / span) * (size - 12) + 6;
    pen.clearRect(0, 0, size, size);
    pen.strokeStyle = theme.line;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.moveTo(at(level.cut_ns), 0);
    pen.lineTo(at(level.cut_ns), size);
    pen.moveTo(0, size - at(level.cut_ns));
    pen.lineTo(size, size - at(level.cut_ns));
    pen.stroke();
    if (points) {
      for (let i = 0; i < points.length; i += 2) {
        const a = points[i]!;
        const b = points[i + 1]!;
        if (!inside(level, a, b)) continue;
        pen.fillStyle = a > level.cut_ns || b > level.cut_ns ? theme.dropped : theme.kept;
        pen.fillRect(at(a) - 2.5, size - at(b) - 2.5, 5, 5);
      }
    } else {
      for (const [n, x, y] of quadrants(level)) {
        pen.fillStyle = x > level.cut_ns || y > level.cut_ns ? theme.dropped : theme.kept;
        pen.beginPath();
        pen.arc(at(x), size - at(y), n ? 4 + (20 * Math.sqrt(n)) / Math.sqrt(total(level)) : 0, 0, 7);
        pen.fill();
      }
    }
    if (next) {
      pen.strokeStyle = theme.accent;
      pen.strokeRect(at(next.low_ns), size - at(next.high_ns), at(next.high_ns) - at(next.low_ns), at(next.high_ns) - at(next.low_ns));
    }
  }
  return { canvas, paint };
}

const total = (level: StudyLevel): number => Math.max(1, level.neither + level.first + level.second + level.both);

/** The four counts and the middle of where they are. */
function quadrants(level: StudyLevel): [n: number, x: number, y: number, words: string][] {
  const low = (level.low_ns + level.cut_ns) / 2;
  const high = (level.high_ns + level.cut_ns) / 2;
  return [[level.neither, low, low, 'neither is slow'], [level.first, high, low, 'the first is slow'], [level.second, low, high, 'the second is slow'], [level.both, high, high, 'both are slow']];
}

export function zoomCard(section: StudySection, { which, run, samples }: Run): HTMLElement | null {
  const levels = run.levels;
  if (!levels.length) return null;
  // points of a steadied run are not those that the levels were found in
  const pairs = samples ? pairsOf(samples.number) : new Int32Array(0);
  const points = samples && pairs.length ? new Float64Array(pairs.length * 2) : null;
  if (samples && points) pairs.forEach((a, i) => { points[2 * i] = samples.et[a]!; points[2 * i + 1] = samples.et[a + 1]!; });
  // of what is drawn: which pairs, by series
  let drawn: number[][] = [];
  const asked = remember(`${section.anchor}-${which}-zoom`, 0);
  let at = Math.min(asked.value, levels.length - 1); // a run that goes on may have fewer by now
  let handle: ChartHandle;
  const minis = levels.map((level, i) => miniature(level, points, levels[i + 1]));
  const words = h('p', { 'aria-live': 'polite' });
  const buttons = levels.map((level, i) => {
    const b = h('button', { type: 'button', class: 'level', 'aria-pressed': String(i === at), onclick: () => show(i) },
      minis[i]!.canvas, h('span', {}, `${i + 1}: ${level.shape}`), h('small', {}, `${format.count(level.first + level.second)} alone, ${format.count(level.both)} both`));
    return b;
  });
  const paint = () => minis.forEach((m) => m.paint());
  onChange(paint);

  function describe(): void {
    const level = levels[at]!;
    out.disabled = at === 0;
    deeper.disabled = at === levels.length - 1;
    words.textContent = `Zoom ${at + 1} of ${levels.length}, ${format.nsBetween(level.low_ns, level.low_ns, level.high_ns)} to ${format.nsBetween(level.high_ns, level.low_ns, level.high_ns)}: of ${format.count(total(level))} pairs, `
      + `neither is slow in ${format.count(level.neither)}, the first in ${format.count(level.first)}, the second in ${format.count(level.second)}, both in ${format.count(level.both)} (expected: ${format.figure(level.both_expected)}). The shape is ${SHAPE[level.shape] ?? level.shape}.`;
  }
  function show(next: number): void {
    at = asked.value = Math.max(0, Math.min(levels.length - 1, next));
    buttons.forEach((b, i) => b.setAttribute('aria-pressed', String(i === at)));
    describe();
    handle.redraw();
  }
  const out = button('Zoom out', () => show(at - 1), `Zoom out: the zoom before, ${which} run`);
  const deeper = button('Zoom in', () => show(at + 1), `Zoom in: the next zoom, ${which} run`);

  function series(level: StudyLevel, theme: Theme) {
    const next = levels[at + 1];
    const marks = {
      silent: true, symbol: 'none', label: { show: false }, lineStyle: { color: theme.muted, type: 'dashed', width: 1 },
      data: [{ xAxis: level.cut_ns }, { yAxis: level.cut_ns }],
    };
    const area = next ? { silent: true, itemStyle: { color: theme.accent, opacity: 0.08, borderColor: theme.accent, borderWidth: 1 }, data: [[{ coord: [next.low_ns, next.low_ns] }, { coord: [next.high_ns, next.high_ns] }]] } : undefined;
    if (!points) {
      const most = Math.sqrt(total(level));
      return [{
        name: 'pairs', type: 'scatter', markLine: marks, markArea: area, data: quadrants(level).map(([n, x, y]) => [x, y, n]), symbolSize: (v: number[]) => (v[2] ? 14 + (46 * Math.sqrt(v[2])) / most : 0),
        itemStyle: { color: theme.kept, opacity: 0.8 }, label: { show: true, formatter: (p: { value: number[] }) => (p.value[2] ? String(p.value[2]) : ''), color: theme.text, position: 'top' },
      }];
    }
    const fast: number[] = [];
    const slow: number[] = [];
    for (let i = 0; i < pairs.length; i++) {
      const a = points[2 * i]!;
      const b = points[2 * i + 1]!;
      if (inside(level, a, b)) (a > level.cut_ns || b > level.cut_ns ? slow : fast).push(i);
    }
    drawn = [fast, slow];
    const data = (list: number[]) => {
      const out = new Float64Array(list.length * 2);
      list.forEach((i, k) => out.set(points.subarray(2 * i, 2 * i + 2), 2 * k));
      return out;
    };
    const common = { type: 'scatter', large: true, largeThreshold: 4000, dimensions: ['x', 'y'] };
    return [
      { ...common, name: 'neither slow', symbolSize: 6, itemStyle: { color: theme.kept, opacity: 0.7 }, data: data(fast), markLine: marks, markArea: area },
      { ...common, name: 'one or both slow', symbol: 'triangle', symbolSize: 8, itemStyle: { color: theme.dropped, opacity: 0.8 }, data: data(slow) },
    ];
  }

  handle = chartCard<StudyLevel>({
    name: `${section.anchor}-${which}-zooms`, title: `Zooms of the ${which} run`, height: 420,
    about: `Samples 1 and 2, 3 and 4 and so on against each other.${levels.length > 1 ? ' The frame is the next zoom: click in it, or choose one above.' : ''}${run.steadied ? ' The zooms were found in an ET without the variation of the program itself; the points are ET as it was measured.' : ''}${points ? '' : ' The samples are not in this report: circles are the counts of pairs.'}`,
    summary: `${levels.length} ${levels.length === 1 ? 'zoom' : 'zooms'} into pairs of samples of the ${which} run. ${levels.map((l, i) => `${i + 1}: ${l.shape}, ${l.first} first and ${l.second} second slow alone, ${l.both} both of ${format.figure(l.both_expected)} expected`).join('; ')}.`,
    option: (theme) => {
      const level = levels[at]!;
      const pad = Math.max(1, (level.high_ns - level.low_ns) * 0.03);
      const label = { showMinLabel: false, showMaxLabel: false, formatter: (v: number) => format.nsBetween(v, level.low_ns, level.high_ns) };
      return {
        ...baseOption(theme),
        grid: { left: 40, right: 24, top: 14, bottom: 26, containLabel: true },
        xAxis: axis(theme, 'first sample of a pair', { type: 'value', min: level.low_ns - pad, max: level.high_ns + pad, splitNumber: 4, axisLabel: label }),
        yAxis: axis(theme, 'second', { type: 'value', min: level.low_ns - pad, max: level.high_ns + pad, nameGap: 12, axisLabel: label }),
        dataZoom: zoom(true),
        tooltip: {
          ...(baseOption(theme)['tooltip'] as object),
          formatter: (p: { value: number[]; dataIndex: number; seriesIndex: number }) => {
            if (!points || !samples) return tip([`${p.value[2]} pairs`, quadrants(level)[p.dataIndex]![3]]);
            const first = pairs[drawn[p.seriesIndex]?.[p.dataIndex] ?? -1];
            if (first === undefined) return tip(['']);
            return tip([`samples ${samples.number[first]} and ${samples.number[first + 1]}`, format.ns(samples.et[first]), format.ns(samples.et[first + 1])]);
          },
        },
        series: series(level, theme),
      };
    },
    axes: () => String(at),
    data: {
      columns: [
        { name: 'zoom', title: 'zoom', kind: 'number', of: (l) => levels.indexOf(l) + 1 },
        { name: 'low_ns', title: 'from', kind: 'ns', of: (l) => l.low_ns },
        { name: 'high_ns', title: 'to', kind: 'ns', of: (l) => l.high_ns },
        { name: 'cut_ns', title: 'slow above', kind: 'ns', of: (l) => l.cut_ns },
        { name: 'neither', title: 'neither', kind: 'number', of: (l) => l.neither },
        { name: 'first', title: 'first', kind: 'number', of: (l) => l.first },
        { name: 'second', title: 'second', kind: 'number', of: (l) => l.second },
        { name: 'both', title: 'both', kind: 'number', of: (l) => l.both },
        { name: 'both_expected', title: 'both, expected', kind: 'number', of: (l) => l.both_expected, show: (l) => format.figure(l.both_expected) },
        { name: 'shape', title: 'shape', kind: 'text', of: (l) => l.shape },
      ],
      rows: () => levels,
    },
    onReady: (chart) => chart.getZr().on('click', (event: any) => {
      const next = levels[at + 1];
      const [x, y] = (chart.convertFromPixel({ gridIndex: 0 }, [event.offsetX, event.offsetY]) as number[]) ?? [];
      if (next && x !== undefined && y !== undefined && inside(next, x, y)) show(at + 1);
    }),
  });
  const row = h('div', { class: 'levels', role: 'group', 'aria-label': `zooms of the ${which} run` }, ...buttons);
  const tools = handle.element.querySelector('.tools')!;
  tools.before(row, words);
  append(tools, out, deeper);
  describe();
  paint();
  return handle.element;
}
