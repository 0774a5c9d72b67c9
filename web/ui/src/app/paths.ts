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

/** The paths of the pages, below /helm. */
export const paths = {
  /** The releases of a cluster, optionally of one namespace or filtered by the text `q`. */
  releases: (cluster?: string, namespace?: string, q?: string) =>
    join('releases', ...[cluster, namespace].filter((s) => s !== undefined)) + query({ q }),
  /** One release. */
  release: (release: ReleaseRef) => join('releases', release.cluster, release.namespace, release.name),
  /** The install form, optionally for a namespace. */
  install: (cluster: string, namespace?: string) => join('install', cluster, ...(namespace ? [namespace] : [])),
  /** The upgrade form or, with a target revision, the rollback form. */
  change: (release: ReleaseRef, rollbackTo?: number) =>
    join('upgrade-rollback', release.cluster, release.namespace, release.name) + query({ to: rollbackTo?.toString() }),
  /** The comparison of two revisions; CompareSelection has the other parameters. */
  compare: (release: ReleaseRef, from?: number, to?: number) =>
    join('compare', release.cluster, release.namespace, release.name) + query({ from: from?.toString(), to: to?.toString() }),
  /** The login page, optionally for a cluster. After the login it continues to the path `to`. */
  login: (cluster?: string, to?: string) => join('login') + query({ cluster, to }),
  /** The events of a session; without an id, of the release's running session. */
  events: (release: ReleaseRef, sessionId?: string | null) =>
    join('events', release.cluster, release.namespace, release.name) + query({ sessionId: sessionId ?? undefined }),
};
