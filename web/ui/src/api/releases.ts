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

/** Some of a cluster's releases, and the position in its stream from which on they may change. */
interface ReleaseList {
  items: Release[];
  cursor: string;
}

const PAGE = 5000;

/** So long are transitions gathered before the releases that they concern are read. */
const GATHER_MS = 150;

/** When more releases than this changed at once, one list is cheaper than many single answers. */
const SINGLE_MAX = 20;

/** Nothing in the stream tells that a session ended after the last transition, so these releases are read again. */
const SESSION_POLL_MS = 2000;

/** How often a list is read again, and its stream tried again, that the server does not let be followed. */
const UNLIVE_POLL_MS = 5000;

const listKey = (cluster: string, namespace?: string) => ['releases', cluster, namespace ?? null] as const;

/**
 * The releases of a cluster, or of one of its namespaces, kept as the cluster
 * has them: by its stream of transitions or, as long as the server refuses that
 * (`unlive` says why), by asking again and again.
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
  // A stream is granted as soon as there is a release that its reader may see.
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

/** How often the lists of all clusters are read again. A stream for each would take the browser's few connections. */
const ALL_POLL_MS = 5000;

/** The releases of a cluster, as one of several, or why they are not known. */
export interface ClusterReleases {
  cluster: Cluster;
  releases: readonly Release[] | null;
  error: Error | null;
}

/** The releases of several clusters, read again and again. */
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

/** The releases of a cluster to choose from, as they are when they are first asked for. */
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
    // What changes while the pages are read comes after the first one's position.
    cursor ??= page.cursor;
    next = page.continue;
  } while (next);
  return { items, cursor };
}

/** Keeps one list in the query cache as the cluster's stream says, until it is closed. */
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
   * One read at a time, and none beside a read of the whole list: so the last
   * answer that is put into the list was asked for after the last transition.
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
