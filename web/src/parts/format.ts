// Numbers as people read them: three digits, a unit, a space that does not break.

const NBSP = '\u00a0';
export const DASH = '–';

function digits(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  if (size >= 0.9995) return value.toFixed(2);
  return value.toPrecision(2);
}

const UNITS: [number, string][] = [[3600e9, 'h'], [60e9, 'min'], [1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];

/** "12.3 ms"; "–" where it is not known. */
export function ns(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return DASH;
  const size = Math.abs(value);
  if (size === 0) return `0${NBSP}s`;
  const row = size >= 120e9 * 60 ? UNITS[0]! : size >= 120e9 ? UNITS[1]! : UNITS.find(([scale], i) => i >= 2 && size >= scale * 0.9995) ?? UNITS[5]!;
  return digits(value / row[0]) + NBSP + row[1];
}

/** Of an axis: enough digits to tell its ends apart. */
export function nsBetween(value: number, low: number, high: number): string {
  const size = Math.max(Math.abs(low), Math.abs(high));
  const row = UNITS.find(([scale], i) => i >= 2 && size >= scale) ?? UNITS[5]!;
  const span = Math.max((high - low) / row[0], 1e-9);
  const decimals = Math.max(0, Math.min(9, 1 - Math.floor(Math.log10(span))));
  return (value / row[0]).toFixed(decimals).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '') + NBSP + row[1];
}

/** Decimals that leave `digits` of a figure. */
function decimalsOf(value: number, digits: number): number {
  const size = Math.abs(Number(value.toPrecision(digits)));
  return size > 0 ? Math.max(0, Math.min(9, digits - 1 - Math.floor(Math.log10(size)))) : 0;
}

function unitOf(size: number): [number, string] {
  return UNITS.find(([scale], i) => i >= 2 && size >= scale * 0.9995) ?? UNITS[5]!;
}

/** "98 ± 12 ms": one unit, sigma with two digits. */
export function plusMinus(value: number, sigma: number | null | undefined): string {
  if (!sigma) return sigma === 0 ? `${ns(value)} ± 0` : ns(value);
  const [scale, unit] = unitOf(Math.abs(value));
  const decimals = decimalsOf(sigma / scale, 2);
  return `${(value / scale).toFixed(decimals)} ± ${(sigma / scale).toFixed(decimals)}${NBSP}${unit}`;
}

/** "11.98 to 12.02 ms": one unit, as many digits as tell its ends apart. */
export function nsRange(low: number, high: number): string {
  const [scale, unit] = unitOf(Math.max(Math.abs(low), Math.abs(high)));
  const decimals = decimalsOf((high - low) / scale, 2);
  return high > low ? `${(low / scale).toFixed(decimals)} to ${(high / scale).toFixed(decimals)}${NBSP}${unit}` : ns(low);
}

type Known = number | null | undefined;
const positive = (list: readonly Known[]): number[] => list.filter((v): v is number => v !== null && v !== undefined && Number.isFinite(v) && v > 0);

/** As many decimals as show two digits of the least spread, of figures that have not more than seven; where no spread is known, three digits of the least figure. */
function decimalsAlike(figures: number[], spreads: number[], digits: number): number {
  const most = Math.max(...figures);
  const wanted = spreads.length ? decimalsOf(Math.min(...spreads), digits) : decimalsOf(Math.min(...figures), 3);
  return Math.min(wanted, Math.max(0, 6 - Math.floor(Math.log10(most))));
}

/** How to write the times of a column: in one unit and with one number of decimals, so that they can be read downwards; each in its own where they lie too far apart. */
export function nsAlike(values: readonly Known[], spreads: readonly Known[]): (value: Known) => string {
  const known = positive(values);
  if (!known.length || Math.max(...known) >= 1e4 * Math.min(...known)) return ns;
  const [scale, unit] = unitOf(Math.min(...known));
  const decimals = decimalsAlike(known.map((v) => v / scale), positive(spreads).map((v) => v / scale), 2);
  return (value) => (value === null || value === undefined || !Number.isFinite(value) ? DASH : (value / scale).toFixed(decimals) + NBSP + unit);
}

/** The same of ratios; spreads: half the width of their intervals. */
export function ratioAlike(values: readonly Known[], spreads: readonly Known[]): (value: Known) => string {
  const known = positive(values);
  if (!known.length || Math.max(...known) >= 1e4 * Math.min(...known)) return figure;
  const decimals = decimalsAlike(known, positive(spreads), 2);
  return (value) => (value === null || value === undefined || !Number.isFinite(value) ? DASH : value.toFixed(decimals));
}

/** One of a ratio and the ends of its interval, with as many digits as that supports. */
export function ratio(value: number | null | undefined, low: number | null | undefined, high: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return DASH;
  if (low === null || low === undefined || high === null || high === undefined || !(high > low)) return digits(value);
  return value.toFixed(decimalsOf((high - low) / 2, 2));
}

/** A tick is round: "10 %", not "10.0 %". */
export function bare(text: string): string {
  return text.replace(/(\.\d*?)0+(?=\s|$)/, '$1').replace(/\.(?=\s|$)/, '');
}

/** Never rounded to nothing or to all of it. */
export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return DASH;
  if (share >= 0.9995 && share < 1 - 1e-12) return `>99.9${NBSP}%`; // what sums of floats lack is not told
  if (share > 0 && share < 1e-6) return `<0.0001${NBSP}%`;
  return digits(share * 100) + NBSP + '%';
}

export function count(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return DASH;
  return Number.isInteger(value) ? value.toLocaleString('en-US') : digits(value);
}

export function figure(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return DASH;
  return digits(value);
}

export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return DASH;
  const names = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let i = 0;
  while (Math.abs(value) >= 1024 && i < names.length - 1) {
    value /= 1024;
    i++;
  }
  return digits(value) + NBSP + names[i];
}

export function pValue(p: number | null | undefined): string {
  if (p === null || p === undefined || !Number.isFinite(p)) return DASH;
  return p < 0.001 ? '< 0.001' : p.toFixed(3);
}

/** "2026-11-16 06:31:25 UTC" */
export function date(iso: string | null | undefined): string {
  if (!iso) return DASH;
  return iso.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC');
}
