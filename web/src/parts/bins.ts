// How many bins show values: the recipe of src/stats/bins.c, once more since bins follow the zoom. tests/golden/bins.csv holds the two together.

export const MOST_BINS = 60;

/** Of sorted values: how many are below. */
export function below(values: ArrayLike<number>, limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Freedman and Diaconis, but at least 2 sqrt(n) + 4: of sorted values, from low to high. */
export function binsOf(values: ArrayLike<number>, low: number, high: number, most = MOST_BINS): number {
  const n = values.length;
  if (!n || !(high > low)) return 1;
  const iqr = values[Math.floor((n * 3) / 4)]! - values[Math.floor(n / 4)]!;
  const count = Math.ceil(2 * Math.sqrt(n)) + 4;
  return Math.min(most, iqr > 0 ? Math.max(count, Math.ceil((high - low) / ((2 * iqr) / Math.cbrt(n)))) : count);
}
