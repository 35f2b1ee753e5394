// Where the time of each execution went: a stacked bar each, several in one where there are more than fit; and their mean.
import { axis, baseOption, chartCard, tip, zoom, type Chart, type ChartHandle } from '../parts/chart';
import { foreign, h } from '../parts/dom';
import { choices } from '../parts/fields';
import * as format from '../parts/format';
import { remember } from '../parts/remember';
import { table } from '../parts/table';
import { causeColour, meaning, onChange, type Theme } from '../parts/theme';
import { calmly, causeSwatch, executionName, FAILED, grid, KEPT, ruleColour, RULE_SYMBOL, RULE_WORDS, tick, visibleWithin, WARMUP, type Time } from './time_common';
import { namesByCause, overHowMany } from './time_who';

const BARS = 240;

interface Bar {
  from: number; // ranks: from, and up to but without to
  to: number;
  mean: number[]; // by cause
}

/** The executions that have a ledger, as rows of wall. */
function ledgerRows(time: Time): Int32Array {
  const ledger = time.section.ledger!;
  return Int32Array.from(ledger.index ?? Array.from({ length: ledger.wall[0]?.length ?? 0 }, (_, i) => i));
}

export function ledgerCard(time: Time): ChartHandle | null {
  const { section } = time;
  const ledger = section.ledger;
  if (!ledger || !ledger.causes.length) return null;
  const at = ledgerRows(time);
  if (!at.length) return null;
  const byNumber = Int32Array.from(at, (_, k) => k);
  let byEt: Int32Array | null = null;
  const by = remember<'number' | 'et'>(`${section.anchor}-ledger-order`, 'number');
  let order = ordered();
  let bars: Bar[] = [];
  let themeNow: Theme | null = null;
  let hiddenNow: ReadonlySet<string> = new Set();
  let top = 0;

  function sortedByEt(): Int32Array {
    const et = section.columns.et;
    byEt ??= Int32Array.from(byNumber).sort((a, b) => et[at[b]!]! - et[at[a]!]!);
    return byEt;
  }
  function ordered(): Int32Array {
    return by.value === 'et' ? sortedByEt() : byNumber;
  }
  function makeBars(low: number, high: number): void {
    const first = Math.max(0, Math.floor(low + 1e-9));
    const last = Math.min(at.length, Math.ceil(high - 1e-9));
    const each = Math.max(1, Math.ceil((last - first) / BARS));
    bars = [];
    // edges do not move with the window, so that bars do not change when it is only shifted
    for (let from = Math.floor(first / each) * each; from < last; from += each) {
      const to = Math.min(at.length, from + each);
      const mean = ledger!.wall.map((wall) => {
        let sum = 0;
        for (let k = from; k < to; k++) sum += wall[order[k]!] ?? 0;
        return sum / (to - from);
      });
      bars.push({ from, to, mean });
    }
  }
  function series(theme: Theme): Record<string, unknown>[] {
    const base = new Float64Array(bars.length);
    const list = ledger!.causes.map((cause, c) => {
      const data: number[][] = [];
      if (!hiddenNow.has(cause)) {
        bars.forEach((bar, b) => {
          const part = bar.mean[c]!;
          if (part > 0) data.push([bar.from, bar.to, base[b]!, base[b]! + part, b]);
          base[b]! += part;
        });
      }
      return {
        id: `cause-${cause}`, name: cause, type: 'custom', data, encode: { x: [0, 1], y: [2, 3] }, clip: true, itemStyle: { color: causeColour(cause, theme) }, progressive: 0,
        renderItem: (_: unknown, api: any) => {
          const a = api.coord([api.value(0) - 0.5, api.value(3)]);
          const b = api.coord([api.value(1) - 0.5, api.value(2)]);
          const width = b[0] - a[0];
          const gap = width > 6 ? 2 : width > 3 ? 1 : 0;
          return { type: 'rect', shape: { x: a[0], y: a[1], width: Math.max(0.7, width - gap), height: Math.max(0, b[1] - a[1]) }, style: { fill: api.visual('color') } };
        },
      };
    });
    top = base.reduce((most, v) => Math.max(most, v), 0);
    return [...list, marks(theme, base)];
  }
  /** Above the bars with a dropped execution, the sign that it has among the samples; of bars with many it would be above each. */
  function marks(theme: Theme, tops: Float64Array): Record<string, unknown> {
    const data: Record<string, unknown>[] = [];
    bars.forEach((bar, b) => {
      if (bar.to - bar.from > 4) return;
      for (let k = bar.from; k < bar.to; k++) {
        const rule = section.columns.rule[at[order[k]!]!]!;
        if (rule < FAILED) continue;
        data.push({ value: [(bar.from + bar.to - 1) / 2, tops[b]!, 0, 0, b], symbol: RULE_SYMBOL[rule], itemStyle: { color: ruleColour(rule, theme) } });
        break;
      }
    });
    return { id: 'dropped', name: 'dropped', type: 'scatter', data, symbolSize: 8, symbolOffset: [0, -7], z: 4, emphasis: { disabled: true } };
  }
  /** The ranks that are in sight: a bar lies around its own. */
  function inSight(chart: Chart | null): [number, number] {
    const [low, high] = visibleWithin(chart, -0.5, at.length - 0.5);
    return [low + 0.5, high + 0.5];
  }
  function label(v: number): string {
    if (!Number.isInteger(v) || v < 0 || v >= at.length) return '';
    if (order !== byNumber) return format.count(v + 1);
    const position = at[v]!;
    return `${section.columns.rule[position] === WARMUP ? 'w' : ''}${section.columns.number[position]}`;
  }
  function name(bar: Bar): string {
    const first = at[order[bar.from]!]!;
    if (bar.to - bar.from === 1) return executionName(time, first);
    if (order === byNumber) return `${executionName(time, first)} to ${section.columns.number[at[order[bar.to - 1]!]!]}`;
    return `the ${format.count(bar.from + 1)}. to ${format.count(bar.to)}. longest`;
  }
  function about(bar: Bar | undefined): HTMLElement {
    if (!bar) return tip([]);
    const total = bar.mean.reduce((a, b) => a + b, 0);
    const first = at[order[bar.from]!]!;
    const one = bar.to - bar.from === 1;
    return tip([
      name(bar), one ? `ET ${format.ns(section.columns.et[first])}, ${RULE_WORDS[section.columns.rule[first]!]}` : `mean of ${bar.to - bar.from}: ${format.ns(total)}`,
      ...ledger!.causes.map((cause, c) => [cause, bar.mean[c]!] as const).filter(([, v]) => v > 0).sort((a, b) => b[1] - a[1]).slice(0, 9)
        .map(([cause, v]) => `${cause} ${format.ns(v)} (${format.percent(v / total)}): ${meaning(cause)}`),
      one ? 'click: opens it' : 'click: opens the longest of them',
    ]);
  }
  function option(theme: Theme) {
    const base = baseOption(theme) as any;
    makeBars(...inSight(handle.chart()));
    const list = series(theme);
    return {
      ...base,
      grid: grid(14),
      dataZoom: zoom(),
      xAxis: axis(theme, order === byNumber ? 'executions, in order' : 'executions, longest first', {
        type: 'value', min: -0.5, max: at.length - 0.5, minInterval: 1, splitLine: { show: false }, axisLabel: { formatter: label },
      }),
      yAxis: axis(theme, '', { type: 'value', min: 0, max: top ? top * 1.06 : 1, axisLine: { show: false }, axisTick: { show: false }, axisLabel: { formatter: tick, showMaxLabel: false } }),
      tooltip: { ...base.tooltip, formatter: (p: any) => about(bars[p.value?.[4]]) },
      series: list,
    };
  }
  const update = calmly(() => {
    const chart = handle.chart();
    if (!chart || !themeNow) return;
    makeBars(...inSight(chart));
    const list = series(themeNow);
    chart.setOption({ series: list, yAxis: { max: top ? top * 1.06 : 1 } });
  });
  function openBar(bar: Bar | undefined): void {
    if (!bar) return;
    const et = section.columns.et;
    let worst = at[order[bar.from]!]!;
    for (let k = bar.from; k < bar.to; k++) if (et[at[order[k]!]!]! > et[worst]!) worst = at[order[k]!]!;
    time.open(worst);
  }
  const mean = ledger.mean ?? ledger.wall.map((of) => of.reduce((a, b) => a + b, 0) / (of.length || 1));
  const total = mean.reduce((a, b) => a + b, 0);
  const largest = ledger.causes.map((cause, c) => [cause, mean[c]!] as const).sort((a, b) => b[1] - a[1]).slice(0, 4);
  const handle: ChartHandle = chartCard<number>({
    name: `${section.anchor}-ledger`, title: 'The ledger of each execution', height: 380,
    about: `Elapsed time by cause, ${at.length > BARS ? 'a bar for some neighbours: their mean' : 'a bar for each execution'}${section.columns.rule.some((rule) => rule >= FAILED) ? '; above it the sign of those that were dropped' : ''}.`,
    hint: `${at.length > BARS ? 'The zoom shows each alone. ' : ''}A click opens the execution. A cause is hidden by its button.`,
    summary: `Stacked bars of ${format.count(at.length)} executions. On average ${largest.map(([cause, v]) => `${format.percent(v / total)} ${cause} (${meaning(cause)})`).join(', ')}.`,
    controls: [choices('order', [['number', 'in order'], ['et', 'longest first']], by.value, (v) => {
      by.value = v;
      order = ordered();
      handle.redraw();
      update();
    })],
    option: (theme, hidden) => {
      hiddenNow = hidden;
      return option(themeNow = theme);
    },
    legend: (theme) => ledger.causes.map((cause) => ({ name: cause, title: meaning(cause), sign: { colour: causeColour(cause, theme) } })),
    data: {
      columns: [
        { name: 'number', title: 'execution', kind: 'number', of: (k) => section.columns.number[at[k]!] },
        { name: 'rule', title: 'counts', kind: 'text', of: (k) => RULE_WORDS[section.columns.rule[at[k]!]!] ?? '?' },
        { name: 'et_ns', title: 'ET', kind: 'ns', of: (k) => section.columns.et[at[k]!] },
        ...ledger.causes.map((cause, c) => ({ name: `${cause}_ns`, title: cause, kind: 'ns' as const, of: (k: number) => ledger.wall[c]![k], title_of: meaning(cause) })),
      ],
      rows: () => Array.from(order),
    },
    onReady(chart: Chart) {
      chart.on('datazoom', update);
      chart.on('click', (p: any) => openBar(bars[p.value?.[4]]));
    },
  });
  return handle;
}

/** Over the kept ones; also the legend, in words. */
export function meanLedger(time: Time): HTMLElement | null {
  const { section } = time;
  const ledger = section.ledger;
  const mean = ledger?.mean;
  if (!ledger || !mean || !ledger.causes.length) return null;
  const total = mean.reduce((a, b) => a + b, 0);
  type Row = { cause: string; ns: number };
  const rows: Row[] = ledger.causes.map((cause, c) => ({ cause, ns: mean[c]! })).sort((a, b) => b.ns - a.ns);
  const shown = rows.filter((r) => r.ns > 0);
  const names = namesByCause(time);
  const handle = chartCard<Row>({
    name: `${section.anchor}-mean-ledger`, title: 'The mean ledger', height: 64,
    about: `Of the ${format.count(time.counts[KEPT])} kept: ${format.ns(total)}.${names.size ? ` Names: who took most of a cause, ${overHowMany(time)}.` : ''}`,
    summary: `One bar of ${format.ns(total)}: ${shown.map((r) => `${r.cause} ${format.ns(r.ns)}`).join(', ')}.`,
    option: (theme) => ({
      ...baseOption(theme), legend: { show: false }, grid: { left: 4, right: 12, top: 4, bottom: 4, containLabel: true },
      tooltip: { ...(baseOption(theme) as any).tooltip, formatter: (p: any) => tip([p.seriesName, `${format.ns(p.value)} (${format.percent(p.value / total)})`, meaning(p.seriesName)]) },
      xAxis: axis(theme, '', { type: 'value', max: total || 1, axisLabel: { formatter: tick, showMaxLabel: false } }),
      yAxis: { type: 'category', data: [''], axisLine: { show: false }, axisTick: { show: false } },
      series: shown.map((r) => ({ name: r.cause, type: 'bar', stack: 'mean', barWidth: 22, data: [r.ns], itemStyle: { color: causeColour(r.cause, theme), borderColor: theme.card, borderWidth: 0.5 } })),
    }),
  });
  const made = table<Row>({
    name: `${section.anchor}-mean-ledger`, caption: 'The mean ledger', rows, page: 24, filter: false,
    columns: [
      { name: 'cause', title: 'cause', kind: 'text', of: (r) => r.cause, show: (r) => causeSwatch(r.cause) },
      { name: 'mean_ns', title: 'mean', kind: 'ns', of: (r) => r.ns },
      { name: 'share', title: 'share', kind: 'percent', of: (r) => (total ? r.ns / total : null) },
      ...(names.size ? [{
        name: 'names', title: 'by', kind: 'text' as const, of: (r: Row) => names.get(r.cause)?.slice(0, 3).join(', ') ?? null,
        show: (r: Row) => h('span', {}, ...(names.get(r.cause) ?? [format.DASH]).slice(0, 3).flatMap((name, i) => [i ? ', ' : '', foreign(name, 24)])),
      }] : []),
      { name: 'meaning', title: 'the subject was', kind: 'text', of: (r) => meaning(r.cause), most: 120 },
    ],
  });
  onChange(() => made.refresh());
  handle.element.appendChild(made.element);
  return handle.element;
}
