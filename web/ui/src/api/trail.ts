import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReleaseRef } from '../app/paths';
import { address } from './base';
import { answer, api, ApiError, refusal, type Schemas } from './client';

export type TrailEntry = Schemas['TrailEntry'];
export type TrailState = Schemas['TrailState'];

const PAGE = 5000;

/** How often a visible trail is refetched. */
const POLL_MS = 5000;

const ROUTE = '/{cluster}/namespaces/{namespace}/releases/{name}/trail';

interface TrailOptions {
  /** A lineage of the release; the default is the current one. */
  lineage?: string;
  /** Verify every link of the chain again. */
  verify?: boolean;
  /** A key of the release's state. A change refetches the trail. */
  known?: string;
}

/** The trail of a release, oldest entry first, and the state of the chain. */
export function useTrail(ref: ReleaseRef, { lineage, verify = false, known }: TrailOptions) {
  return useQuery({
    queryKey: ['release', ref.cluster, ref.namespace, ref.name, 'trail', lineage, verify, known],
    queryFn: () => readTrail(ref, lineage, verify),
    placeholderData: keepPreviousData,
    // What a transition causes, such as pruning, arrives a moment later. Only people ask to verify again.
    refetchInterval: verify ? false : POLL_MS,
  });
}

async function readTrail({ cluster, namespace, name }: ReleaseRef, lineage: string | undefined, verify: boolean) {
  const items: TrailEntry[] = [];
  let state: TrailState;
  let next: string | undefined;
  do {
    const query = { limit: PAGE, ...(lineage && { lineage }), ...(next && { continue: next }), ...(verify && !next && { verify }) };
    // Without an Accept header the answer is not NDJSON.
    const page = (await answer(api.GET(ROUTE, { params: { path: { cluster, namespace, name }, query } }))) as Schemas['TrailList'];
    items.push(...page.items);
    state = page.state;
    next = page.continue;
  } while (next);
  return { items, state };
}

/** The trail as NDJSON. Throws only ApiErrors. */
export async function exportTrail({ cluster, namespace, name }: ReleaseRef, lineage?: string): Promise<Blob> {
  const trail = address(cluster, 'namespaces', namespace, 'releases', name, 'trail');
  const response = await fetch(trail + (lineage ? `?lineage=${encodeURIComponent(lineage)}` : ''), { headers: { Accept: 'application/x-ndjson' } }).catch(
    (cause: unknown) => {
      throw new ApiError(0, 'unreachable', String(cause));
    },
  );
  if (!response.ok) {
    throw refusal(response, await response.json().catch(() => null));
  }
  return response.blob();
}
