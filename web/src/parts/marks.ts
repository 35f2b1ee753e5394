// What is drawn at a point of a chart: intervals, hollow signs, rings.
import type { Theme } from './theme';

type Ends = { style: { stroke: string; lineWidth: number; opacity?: number }; cap?: number };

/** The parts of an interval from one pixel to another, with a bar across at either end. */
export function whisker(a: readonly number[], b: readonly number[], { style, cap = 4 }: Ends): Record<string, unknown>[] {
  const upright = a[0] === b[0];
  const line = (x1: number, y1: number, x2: number, y2: number) => ({ type: 'line', shape: { x1, y1, x2, y2 }, style });
  const across = ([x, y]: readonly number[]) => (upright ? line(x! - cap, y!, x! + cap, y!) : line(x!, y! - cap, x!, y! + cap));
  return [line(a[0]!, a[1]!, b[0]!, b[1]!), across(a), across(b)];
}

/** For a custom series whose data are [place, low, high]: flat at a row, or upright at an x. */
export function whiskers(along: 'x' | 'y', look: (at: number) => Ends | null): Record<string, unknown> {
  const at = (api: any, i: number) => api.coord(along === 'x' ? [api.value(i), api.value(0)] : [api.value(0), api.value(i)]);
  return {
    type: 'custom', encode: along === 'x' ? { x: [1, 2], y: 0 } : { x: 0, y: [1, 2] },
    renderItem: (_: unknown, api: any) => {
      const ends = look(api.value(0));
      return ends && { type: 'group', children: whisker(at(api, 1), at(api, 2), ends) }; // null: out of the window, the zoom made it empty
    },
  };
}

/** Filled with what it lies on: the library fills its own empty symbols white, in dark colours too. */
export function hollow(theme: Theme, colour: string, width = 2): Record<string, unknown> {
  return { color: theme.card, borderColor: colour, borderWidth: width };
}

/** A sign of this shape; "empty" ones are hollow. */
export function sign(symbol: string, colour: string, theme: Theme, opacity = 1): { symbol: string; itemStyle: Record<string, unknown> } {
  if (!symbol.startsWith('empty')) return { symbol, itemStyle: { color: colour, opacity } };
  return { symbol: symbol.charAt(5).toLowerCase() + symbol.slice(6), itemStyle: { ...hollow(theme, colour), opacity } };
}

const MANY = 3000; // points, from which on the library draws them as one, without edges

/** Around points that are chosen: the point within is still seen. Of very many, dots that let it through. */
export function ring(colour: string, count: number): Record<string, unknown> {
  return count < MANY
    ? { symbol: 'circle', symbolSize: 13, large: false, itemStyle: { color: 'transparent', borderColor: colour, borderWidth: 2, opacity: 1 } }
    : { symbol: 'circle', symbolSize: 3, large: true, largeThreshold: MANY, itemStyle: { color: colour, borderColor: colour, borderWidth: 0, opacity: 0.5 } };
}
