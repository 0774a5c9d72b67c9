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
  /** One release. */
  release: (release: ReleaseRef) => join('releases', release.cluster, release.namespace, release.name),
  /** The form that installs, into a namespace when it is given. */
  install: (cluster: string, namespace?: string) => join('install', cluster, ...(namespace ? [namespace] : [])),
  /** The form that upgrades or, with a revision to go back to, rolls back. */
  change: (release: ReleaseRef, rollbackTo?: number) =>
    join('upgrade-rollback', release.cluster, release.namespace, release.name) + query({ to: rollbackTo?.toString() }),
  /** How two revisions differ; see CompareSelection for all that the address may hold. */
  compare: (release: ReleaseRef, from?: number, to?: number) =>
    join('compare', release.cluster, release.namespace, release.name) + query({ from: from?.toString(), to: to?.toString() }),
  /** Where one logs in, to a cluster if it is given, and goes on to `to`, another of these addresses. */
  login: (cluster?: string, to?: string) => join('login') + query({ cluster, to }),
  /** The events of a session; without an id, of the release's running session. */
  events: (release: ReleaseRef, sessionId?: string | null) =>
    join('events', release.cluster, release.namespace, release.name) + query({ sessionId: sessionId ?? undefined }),
};
