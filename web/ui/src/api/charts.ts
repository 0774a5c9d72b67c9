import { useQuery } from '@tanstack/react-query';
import { address } from './base';
import { answer, api, ApiError, refusal, type Schemas } from './client';

export type ChartItem = Schemas['ChartItem'];
export type ChartRef = Schemas['Chart'];
export type ChartDetails = Schemas['ChartDetails'];

/** The charts of the chart directory, of the repositories, and the uploaded ones. */
export function useCharts() {
  return useQuery({
    queryKey: ['charts'],
    queryFn: readCharts,
    staleTime: 60_000,
  });
}

async function readCharts(): Promise<Pick<Schemas['ChartList'], 'items' | 'problems'>> {
  const items: ChartItem[] = [];
  let problems: Schemas['ChartProblem'][];
  let next: string | undefined;
  do {
    const page = await answer(api.GET('/charts', { params: { query: { limit: 5000, continue: next } } }));
    items.push(...page.items);
    ({ problems, continue: next } = page);
  } while (next);
  return { items, problems };
}

/** The values, README and schema of the selected chart, for a caller who may add charts in the namespace. A chart that needs credentials is read only by the operation. */
export function useChart(chart: ChartRef | null, namespace?: string) {
  const { ref = '', repo, version, credentialsSecret } = chart ?? {};
  return useQuery({
    queryKey: ['charts', ref, repo, version, namespace],
    queryFn: () => answer(api.GET('/charts/{ref}', { params: { path: { ref }, query: { repo, version, namespace } } })),
    enabled: ref !== '' && credentialsSecret === undefined,
    staleTime: 300_000,
  });
}

/** Uploads a chart archive and returns its reference. Throws only ApiErrors. */
export async function uploadChart(file: File): Promise<ChartItem> {
  const response = await fetch(address('charts'), { method: 'POST', body: file, headers: { 'Content-Type': 'application/gzip' } }).catch(
    (cause: unknown) => {
      throw new ApiError(0, 'unreachable', String(cause));
    },
  );
  if (!response.ok) {
    throw refusal(response, await response.json().catch(() => null));
  }
  return (await response.json()) as ChartItem;
}
