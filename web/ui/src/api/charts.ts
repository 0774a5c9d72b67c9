import { useQuery } from '@tanstack/react-query';
import { address } from './base';
import { answer, api, ApiError, refusal, type Schemas } from './client';

export type ChartItem = Schemas['ChartItem'];
export type ChartRef = Schemas['Chart'];
export type ChartDetails = Schemas['ChartDetails'];

/** Where a release is or will be. Uploaded charts belong to a namespace. */
export interface ChartScope {
  cluster: string;
  /** Without a namespace only the charts for all namespaces are known. */
  namespace: string;
}

const query = ({ cluster, namespace }: ChartScope): Partial<ChartScope> => (namespace === '' ? {} : { cluster, namespace });

/** The charts of the chart directory, of the repositories, and those uploaded to the namespace. */
export function useCharts(scope: ChartScope) {
  return useQuery({
    queryKey: ['charts', query(scope)],
    queryFn: () => readCharts(scope),
    staleTime: 60_000,
  });
}

async function readCharts(scope: ChartScope): Promise<Pick<Schemas['ChartList'], 'items' | 'problems'>> {
  const items: ChartItem[] = [];
  let problems: Schemas['ChartProblem'][];
  let next: string | undefined;
  do {
    const page = await answer(api.GET('/charts', { params: { query: { ...query(scope), limit: 5000, continue: next } } }));
    items.push(...page.items);
    ({ problems, continue: next } = page);
  } while (next);
  return { items, problems };
}

/** The values, README and schema of the selected chart. A chart that needs credentials is read only by the operation. */
export function useChart(chart: ChartRef | null, scope: ChartScope) {
  const { ref = '', repo, version, credentialsSecret } = chart ?? {};
  return useQuery({
    queryKey: ['charts', ref, repo, version, query(scope)],
    queryFn: () => answer(api.GET('/charts/{ref}', { params: { path: { ref }, query: { repo, version, ...query(scope) } } })),
    enabled: ref !== '' && credentialsSecret === undefined,
    staleTime: 300_000,
  });
}

/** Uploads a chart archive for the releases of the namespace and returns its reference. Throws only ApiErrors. */
export async function uploadChart(file: File, scope: ChartScope): Promise<ChartItem> {
  const response = await fetch(`${address('charts')}?${new URLSearchParams({ ...query(scope) }).toString()}`, { method: 'POST', body: file, headers: { 'Content-Type': 'application/gzip' } }).catch(
    (cause: unknown) => {
      throw new ApiError(0, 'unreachable', String(cause));
    },
  );
  if (!response.ok) {
    throw refusal(response, await response.json().catch(() => null));
  }
  return (await response.json()) as ChartItem;
}
