// The tables of a profile: who and what the samples are of.
import type { ProfileApp, ProfileFunction, ProfileInstance, ProfileObject, ProfileSystem, ProfileThread, ProfileView } from '../types';
import { foreign, h, short } from '../parts/dom';
import * as format from '../parts/format';
import { table, type Column, type TableHandle } from '../parts/table';

export type By = ProfileView['by'];
/** A row of any view; what a view does not have is not there. */
export type Row = Pick<ProfileSystem, 'name' | 'samples' | 'cpu_ns'> & Partial<ProfileSystem & ProfileApp & ProfileInstance & ProfileThread & ProfileObject & ProfileFunction>;

/** A share as a bar with its figure, and its interval where it has one. */
export function share(value: number | null | undefined, low?: number | null, high?: number | null): HTMLElement | string {
  if (value === null || value === undefined) return format.DASH;
  const bar = h('i', { 'aria-hidden': 'true' });
  bar.style.width = `${Math.min(100, value * 100)}%`;
  const known = low !== null && low !== undefined && high !== null && high !== undefined;
  return h('span', { class: 'share' }, bar, h('span', {}, format.percent(value)),
    known ? h('span', { class: 'muted' }, ` ${points(low)}–${points(high)}`) : null);
}

function points(value: number): string {
  const size = value * 100;
  return size >= 99.95 ? '100' : size.toFixed(1);
}

const SHARE: Column<Row>[] = [
  { name: 'samples', title: 'self', kind: 'number', of: (r) => r.samples, title_of: 'samples that it was executing itself' },
  { name: 'share', title: 'share, 95 % interval', kind: 'percent', of: (r) => r.share, show: (r) => share(r.share, r.share_low, r.share_high), title_of: 'of all samples, and between which shares it lies by how samples fall' },
  { name: 'share_low', title: 'share, low', kind: 'percent', of: (r) => r.share_low, exported: true },
  { name: 'share_high', title: 'share, high', kind: 'percent', of: (r) => r.share_high, exported: true },
];
const TOTAL: Column<Row>[] = [
  { name: 'total_samples', title: 'total', kind: 'number', of: (r) => r.total_samples, title_of: 'samples with it anywhere in the stack, once each' },
  { name: 'total_share', title: 'total share', kind: 'percent', of: (r) => r.total_share, show: (r) => share(r.total_share) },
];
const CPU: Column<Row> = { name: 'cpu_ns', title: 'CPU time', kind: 'ns', of: (r) => r.cpu_ns, title_of: 'that the samples stand for' };
const PARTS: Column<Row>[] = [
  { name: 'user', title: 'user', kind: 'number', of: (r) => r.user },
  { name: 'kernel', title: 'kernel', kind: 'number', of: (r) => r.kernel },
];
const NAME: Column<Row> = { name: 'name', title: 'name', kind: 'text', of: (r) => r.name, most: 70 };
const APP: Column<Row> = { name: 'app', title: 'app', kind: 'text', of: (r) => r.app, most: 40 };

export function functionName(row: Row): string {
  return row.function ?? row.name;
}

const MOST = 70;
/** As it is shown: with what it is. */
export function functionLabel(row: Row): string {
  return kernelMark(row) + short(functionName(row), MOST) + inlinedMark(row);
}
const kernelMark = (row: Row) => (row.object === '[kernel]' || (row.samples && row.kernel === row.samples) ? '[k] ' : '');
const inlinedMark = (row: Row) => (row.inlined ? ' (inlined)' : '');
const FUNCTION: Column<Row> = {
  ...NAME, title: 'function', of: functionName, show: (r) => h('span', {}, kernelMark(r), foreign(functionName(r), MOST), inlinedMark(r)),
};

function columns(by: By, stacks: boolean): Column<Row>[] {
  const total = stacks ? TOTAL : [];
  switch (by) {
    case 'system':
      return [NAME, SHARE[0]!, CPU, { name: 'cpu_share', title: 'of CPUs and time', kind: 'percent', of: (r) => r.cpu_share, show: (r) => share(r.cpu_share) }];
    case 'app': return [NAME, ...SHARE, CPU, ...PARTS, { name: 'object', title: 'program', kind: 'text', of: (r) => r.object, most: 50 }];
    case 'instance':
      return [NAME, ...SHARE, CPU, ...PARTS, { name: 'pid', title: 'pid', kind: 'number', of: (r) => r.pid, show: (r) => String(r.pid ?? format.DASH) },
        { name: 'first_sample', title: 'first sample', kind: 'date', of: (r) => r.first_sample },
        { name: 'container', title: 'container', kind: 'text', of: (r) => r.container ?? r.cgroup, most: 30 }];
    case 'thread':
      return [NAME, ...SHARE, CPU, ...PARTS, { name: 'tid', title: 'tid', kind: 'number', of: (r) => r.tid, show: (r) => String(r.tid ?? format.DASH) },
        { name: 'comm', title: 'called', kind: 'text', of: (r) => r.comm, most: 30 }];
    case 'object': return [NAME, ...SHARE, ...total, CPU, APP];
    case 'function':
      return [FUNCTION, ...SHARE, ...total, CPU, { name: 'object', title: 'object', kind: 'text', of: (r) => r.object, show: (r) => base(r.object) }, APP];
    default: return [NAME, ...SHARE, ...total, CPU, APP];
  }
}

function base(path: string | null | undefined): HTMLElement | string {
  if (!path) return format.DASH;
  const shown = foreign(path.startsWith('/') ? path.slice(path.lastIndexOf('/') + 1) : path, 40);
  shown.title = path.slice(0, 2000);
  return shown;
}

export interface ViewOptions {
  name: string; // of the file
  stacks: boolean;
  timed: boolean; // samples stand for CPU time
  onRow?: (row: Row) => void;
  rowLabel?: (row: Row) => string;
  selected?: (row: Row) => boolean;
}

const WORDS: Partial<Record<By, string>> = {
  system: 'What CPUs did', app: 'Programs', instance: 'Processes', thread: 'Threads', object: 'Files that code is in', function: 'Functions', container: 'Containers',
};

export function viewWords(by: By): string {
  return WORDS[by] ?? `By ${by}`;
}

export function viewTable(view: ProfileView, options: ViewOptions): TableHandle<Row> {
  return table<Row>({
    name: options.name, caption: viewWords(view.by), rows: view.rows, page: 15, columns: columns(view.by, options.stacks).filter((c) => options.timed || c !== CPU),
    ...(view.by === 'system' ? {} : { sort: { column: 'samples', down: true } }),
    ...(options.onRow ? { onRow: options.onRow } : {}), ...(options.rowLabel ? { rowLabel: options.rowLabel } : {}),
    ...(options.selected ? { selected: options.selected } : {}),
  });
}
