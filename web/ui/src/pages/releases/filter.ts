import type { Release } from '../../api/releases';

/** The filter, which is kept in the page's URL. */
export interface Filter {
  text: string;
  /** Helm's statuses; empty means all. */
  statuses: readonly string[];
}

export const readFilter = (search: URLSearchParams): Filter => ({
  text: search.get('q') ?? '',
  statuses: search.get('status')?.split(',').filter(Boolean) ?? [],
});

/** Returns `search` with the filter. Other parameters are kept. */
export function writeFilter(search: URLSearchParams, { text, statuses }: Filter): URLSearchParams {
  const next = new URLSearchParams(search);
  for (const [name, value] of [
    ['q', text],
    ['status', statuses.join(',')],
  ] as const) {
    if (value) {
      next.set(name, value);
    } else {
      next.delete(name);
    }
  }
  return next;
}

/** The sortable columns. */
export type SortKey = 'cluster' | 'name' | 'namespace' | 'status' | 'updated';

export interface Sort {
  key: SortKey;
  descending: boolean;
}

/** Returns the matching releases, sorted. Text matches name, namespace or chart case-insensitively, like the API's `q`. */
export function select(releases: readonly Release[], { text, statuses }: Filter, { key, descending }: Sort): Release[] {
  const wanted = text.trim().toLowerCase();
  const fits = (release: Release) =>
    (statuses.length === 0 || statuses.includes(release.status)) &&
    [release.name, release.namespace, release.chart].some((word) => word.toLowerCase().includes(wanted));
  const direction = descending ? -1 : 1;
  return releases.filter(fits).sort((a, b) => direction * compare(a[key], b[key]) || compare(a.cluster, b.cluster) || compare(a.namespace, b.namespace) || compare(a.name, b.name));
}

/** Compares by code units, like the API. */
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
