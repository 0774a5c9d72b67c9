const join = (...segments: string[]) => `/${segments.map(encodeURIComponent).join('/')}`;

const query = (parameters: Record<string, string | undefined>) => {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value) {
      search.set(name, value);
    }
  }
  return search.size > 0 ? `?${search}` : '';
};

/** A release's name in a namespace of a cluster. */
export interface ReleaseRef {
  cluster: string;
  namespace: string;
  name: string;
}

/** The addresses of the pages, below /helm. */
export const paths = {
  /** The list of a cluster's releases, of one namespace when it is given, filtered by text when `q` is. */
  releases: (cluster?: string, namespace?: string, q?: string) =>
    join('releases', ...[cluster, namespace].filter((s) => s !== undefined)) + query({ q }),
  /** The events of a session; without an id, of the release's running session. */
  events: (release: ReleaseRef, sessionId?: string | null) =>
    join('events', release.cluster, release.namespace, release.name) + query({ sessionId: sessionId ?? undefined }),
};
