import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReleaseRef } from '../app/paths';
import { address } from './base';
import { answer, api, ApiError, refusal, type Schemas } from './client';

export type TrailEntry = Schemas['TrailEntry'];
export type TrailState = Schemas['TrailState'];

const PAGE = 5000;

/** The trail is asked for this often, while it is seen. */
const POLL_MS = 5000;

const ROUTE = '/{cluster}/namespaces/{namespace}/releases/{name}/trail';

interface TrailOptions {
  /** One of the release's lives; that of today without it. */
  lineage?: string;
  /** Read every link of the chain anew. */
  verify?: boolean;
  /** What the trail is known to have grown by; another asks for it again. */
  known?: string;
}

/** All that was ever seen of a release, the oldest first, and whether the chain holds. */
export function useTrail(ref: ReleaseRef, { lineage, verify = false, known }: TrailOptions) {
  return useQuery({
    queryKey: ['release', ref.cluster, ref.namespace, ref.name, 'trail', lineage, verify, known],
    queryFn: () => readTrail(ref, lineage, verify),
    placeholderData: keepPreviousData,
    // What a transition brings with it, such as pruning, comes a moment later. To verify anew is for people to ask.
    refetchInterval: verify ? false : POLL_MS,
  });
}

async function readTrail({ cluster, namespace, name }: ReleaseRef, lineage: string | undefined, verify: boolean) {
  const items: TrailEntry[] = [];
  let state: TrailState;
  let next: string | undefined;
  do {
    const query = { limit: PAGE, ...(lineage && { lineage }), ...(next && { continue: next }), ...(verify && !next && { verify }) };
    // Without an Accept it is never lines of JSON.
    const page = (await answer(api.GET(ROUTE, { params: { path: { cluster, namespace, name }, query } }))) as Schemas['TrailList'];
    items.push(...page.items);
    state = page.state;
    next = page.continue;
  } while (next);
  return { items, state };
}

/** The trail as a program reads it, an entry a line. Throws nothing but an ApiError. */
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
