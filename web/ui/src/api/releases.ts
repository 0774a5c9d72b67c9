import { useQueries, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { address } from './base';
import { answer, api, ApiError, type Schemas } from './client';
import { EventStream } from './eventstream';

export type Release = Schemas['Release'];
export type Cluster = Schemas['Cluster'];
type ClusterEvent = Schemas['ClusterEvent'];

/** The clusters that the server watches. */
export function useClusters() {
  return useQuery({
    queryKey: ['clusters'],
    queryFn: async () => (await answer(api.GET('/clusters'))).items,
    refetchInterval: 10_000,
  });
}

/** A page of a cluster's releases, and the position in its stream after which they may change. */
interface ReleaseList {
  items: Release[];
  cursor: string;
}

const PAGE = 5000;

/** How long transitions are collected before their releases are read. */
const GATHER_MS = 150;

/** If more releases than this have changed at once, one list is cheaper than single reads. */
const SINGLE_MAX = 20;

/** The stream does not report the end of a session after its last transition, so releases with a session are read again. */
const SESSION_POLL_MS = 2000;

/** How often a list is refetched, and its stream retried, while the server refuses the stream. */
const UNLIVE_POLL_MS = 5000;

const listKey = (cluster: string, namespace?: string) => ['releases', cluster, namespace ?? null] as const;

/**
 * The live releases of a cluster or of one of its namespaces. The cluster's stream
 * of transitions keeps them current. While the server refuses the stream (`unlive`
 * is its error), they are polled.
 */
export function useReleases(cluster: string, namespace?: string) {
  const [unlive, setUnlive] = useState<ApiError | null>(null);
  const queries = useQueryClient();
  const query = useQuery({
    queryKey: listKey(cluster, namespace),
    queryFn: () => readAll(cluster, namespace),
    refetchInterval: unlive ? UNLIVE_POLL_MS : false,
  });
  const known = query.data !== undefined;
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (!known) {
      return;
    }
    const follower = new ListFollower(queries, cluster, namespace, setUnlive);
    return () => {
      follower.close();
    };
  }, [queries, cluster, namespace, known, attempt]);
  // The server grants a stream as soon as there is a release that the user may see.
  useEffect(() => {
    if (!unlive) {
      return;
    }
    const timer = setTimeout(() => {
      setAttempt((before) => before + 1);
    }, UNLIVE_POLL_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [unlive]);
  return { ...query, unlive };
}

/** How often the lists of all clusters are refetched. A stream for each would use up the browser's connections. */
const ALL_POLL_MS = 5000;

/** The releases of one of several clusters, or the error that prevents reading them. */
export interface ClusterReleases {
  cluster: Cluster;
  releases: readonly Release[] | null;
  error: Error | null;
}

/** The releases of several clusters, refetched regularly. */
export function useAllReleases(clusters: readonly Cluster[]): ClusterReleases[] {
  const lists = useQueries({
    queries: clusters.map(({ id }) => ({
      queryKey: listKey(id),
      queryFn: () => readAll(id),
      refetchInterval: ALL_POLL_MS,
    })),
  });
  return clusters.map((cluster, i) => ({ cluster, releases: lists[i]?.data?.items ?? null, error: lists[i]?.error ?? null }));
}

/** The releases of a cluster for a selection, fetched once. */
export function useReleaseNames(cluster: string) {
  return useQuery({ queryKey: ['releases', cluster, 'choice'], queryFn: async () => (await readAll(cluster)).items });
}

async function readAll(cluster: string, namespace?: string): Promise<ReleaseList> {
  const items: Release[] = [];
  let cursor: string | undefined;
  let next: string | undefined;
  do {
    const query = { limit: PAGE, continue: next };
    const page = await answer(
      namespace === undefined
        ? api.GET('/{cluster}/releases', { params: { path: { cluster }, query } })
        : api.GET('/{cluster}/namespaces/{namespace}/releases', { params: { path: { cluster, namespace }, query } }),
    );
    items.push(...page.items);
    // Changes during the paging come after the position of the first page.
    cursor ??= page.cursor;
    next = page.continue;
  } while (next);
  return { items, cursor };
}

/** Updates one list in the query cache from the cluster's stream until it is closed. */
class ListFollower {
  #changed = new Map<string, { namespace: string; name: string }>();
  #gathering: ReturnType<typeof setTimeout> | undefined;
  #polling: ReturnType<typeof setInterval>;
  #stream: EventStream;
  #closed = false;

  constructor(
    private readonly queries: QueryClient,
    private readonly cluster: string,
    private readonly namespace: string | undefined,
    onUnlive: (refused: ApiError | null) => void,
  ) {
    const since = this.#list()?.cursor ?? '';
    this.#stream = new EventStream({
      types: ['TRANSITION', 'RESET', 'HEARTBEAT'] satisfies ClusterEvent['type'][],
      url: (lastEventId) =>
        `${address(cluster, 'releases', 'events')}?since=${encodeURIComponent(lastEventId || since)}`,
      onOpen: () => {
        onUnlive(null);
      },
      onLost: () => undefined,
      onEvent: (data) => {
        this.#receive(JSON.parse(data) as ClusterEvent);
      },
      onEnd: onUnlive,
    });
    this.#polling = setInterval(() => {
      this.#pollSessions();
    }, SESSION_POLL_MS);
  }

  close(): void {
    this.#closed = true;
    this.#stream.close();
    clearTimeout(this.#gathering);
    clearInterval(this.#polling);
  }

  #key() {
    return listKey(this.cluster, this.namespace);
  }

  #list(): ReleaseList | undefined {
    return this.queries.getQueryData<ReleaseList>(this.#key());
  }

  #receive(event: ClusterEvent): void {
    if (event.type === 'RESET') {
      void this.#readList();
    } else if (event.type === 'TRANSITION' && (this.namespace === undefined || this.namespace === event.namespace)) {
      this.#gather(event);
    }
  }

  #pollSessions(): void {
    for (const release of this.#list()?.items ?? []) {
      if (release.session) {
        this.#gather(release);
      }
    }
  }

  #gather({ namespace, name }: { namespace: string; name: string }): void {
    this.#changed.set(`${namespace}/${name}`, { namespace, name });
    this.#gathering ??= setTimeout(() => void this.#readChanged(), GATHER_MS);
  }

  /**
   * Only one read runs at a time, and none during a read of the whole list. So the
   * last answer was requested after the last transition.
   */
  async #readChanged(): Promise<void> {
    if (this.queries.isFetching({ queryKey: this.#key() }) === 0) {
      const changed = [...this.#changed.values()];
      this.#changed.clear();
      if (changed.length > SINGLE_MAX) {
        await this.#readList();
      } else {
        await Promise.all(changed.map((release) => this.#readOne(release.namespace, release.name)));
      }
    }
    const more = this.#changed.size > 0 && !this.#closed;
    this.#gathering = more ? setTimeout(() => void this.#readChanged(), GATHER_MS) : undefined;
  }

  #readList(): Promise<void> {
    return this.queries.invalidateQueries({ queryKey: this.#key() });
  }

  async #readOne(namespace: string, name: string): Promise<void> {
    try {
      const path = { cluster: this.cluster, namespace, name };
      this.#put(namespace, name, await answer(api.GET('/{cluster}/namespaces/{namespace}/releases/{name}', { params: { path } })));
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) {
        this.#put(namespace, name, null);
      } else {
        await this.#readList();
      }
    }
  }

  #put(namespace: string, name: string, release: Release | null): void {
    this.queries.setQueryData<ReleaseList>(this.#key(), (list) => {
      if (!list) {
        return list;
      }
      const items = [...list.items];
      const found = items.findIndex((item) => item.namespace === namespace && item.name === name);
      items.splice(found < 0 ? items.length : found, found < 0 ? 0 : 1, ...(release ? [release] : []));
      return { ...list, items };
    });
  }
}
