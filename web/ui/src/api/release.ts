import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import type { ReleaseRef } from '../app/paths';
import { answer, api, type Schemas } from './client';

export type Session = Schemas['Session'];
export type HistoryItem = Schemas['HistoryItem'];
export type Stuck = Schemas['Stuck'];
export type Lineage = Schemas['Lineage'];

/** The parts of a revision that the pages show. */
export const PARTS = ['values', 'manifest', 'hooks', 'notes', 'chart', 'metadata'] as const;
export type Part = (typeof PARTS)[number];

/** How often data that changes by itself is refetched while the page is visible. */
const POLL_MS = 3000;

const key = ({ cluster, namespace, name }: ReleaseRef, ...what: unknown[]) => ['release', cluster, namespace, name, ...what];

const path = ({ cluster, namespace, name }: ReleaseRef) => ({ cluster, namespace, name });

/** The newest revision of a release. */
export function useRelease(ref: ReleaseRef) {
  return useQuery({
    queryKey: key(ref),
    queryFn: () => answer(api.GET('/{cluster}/namespaces/{namespace}/releases/{name}', { params: { path: path(ref) } })),
    refetchInterval: POLL_MS,
  });
}

/** The objects of a release as they are now. */
export function useResources(ref: ReleaseRef) {
  return useQuery({
    queryKey: key(ref, 'resources'),
    queryFn: () => answer(api.GET('/{cluster}/namespaces/{namespace}/releases/{name}/resources', { params: { path: path(ref) } })),
    refetchInterval: POLL_MS,
  });
}

/** The first page of a release's revisions, newest first, and its lineages. A page holds more than Helm keeps by default. */
function historyOf(ref: ReleaseRef, { revision, lineage }: { revision?: number; lineage?: string }) {
  return queryOptions({
    queryKey: key(ref, 'history', revision, lineage),
    queryFn: () =>
      answer(api.GET('/{cluster}/namespaces/{namespace}/releases/{name}/history', { params: { path: path(ref), query: lineage ? { lineage } : {} } })),
    placeholderData: keepPreviousData,
  });
}

/** The revisions of a release, newest first, including those no longer in the cluster. A change of `revision` refetches them. */
export function useHistory(ref: ReleaseRef, revision?: number, lineage?: string) {
  return useQuery({ ...historyOf(ref, { revision, lineage }), select: ({ items }) => items });
}

/** The lineages of a release's name, newest first. */
export function useLineages(ref: ReleaseRef) {
  return useQuery({ ...historyOf(ref, {}), select: ({ lineages }) => lineages });
}

/** The first page of a release's sessions, newest first. */
export function useSessions(ref: ReleaseRef) {
  return useQuery({
    queryKey: key(ref, 'sessions'),
    queryFn: async () =>
      (await answer(api.GET('/{cluster}/namespaces/{namespace}/releases/{name}/sessions', { params: { path: path(ref), query: { limit: 100 } } })))
        .items,
    refetchInterval: POLL_MS,
  });
}

export type Diff = Schemas['Diff'];

/** The revisions to compare. `from` may belong to another release, also in another cluster. */
export interface DiffSelection {
  from?: number;
  to?: number;
  fromRelease?: string;
  fromNamespace?: string;
  fromCluster?: string;
  /** The lineages of the revisions, if not the current ones. */
  fromLineage?: string;
  toLineage?: string;
  /** The dry run whose result is compared instead of a revision `to`. */
  toSession?: string;
  /** Compare the merged values instead of those given by the user. */
  all?: boolean;
}

interface DiffOptions {
  /** Reveal secrets. This needs a permission, and each answer is recorded, so it is fetched once and dropped when the page is left. */
  reveal?: boolean;
}

/** The difference of two revisions. */
export function useDiff(ref: ReleaseRef, query: DiffSelection, { reveal = false }: DiffOptions = {}) {
  return useQuery({
    queryKey: key(ref, 'diff', query, reveal),
    queryFn: () =>
      answer(
        api.GET('/{cluster}/namespaces/{namespace}/releases/{name}/diff', { params: { path: path(ref), query: reveal ? { ...query, reveal } : query } }),
      ),
    ...(reveal ? { gcTime: 0, staleTime: Infinity } : { placeholderData: keepPreviousData }),
  });
}

interface PartOptions {
  /** For values only: the merged values instead of those given by the user. */
  all?: boolean;
  /** The lineage of the revision, if not the current one. */
  lineage?: string;
  /** Reveal secrets. This needs a permission and is recorded. */
  reveal?: boolean;
  enabled?: boolean;
}

/** A part of a revision as text: YAML, or plain text for the notes. Secrets are masked unless revealed. */
export function usePart(ref: ReleaseRef, revision: number, part: Part, { all = false, lineage, reveal = false, enabled = true }: PartOptions = {}) {
  return useQuery({
    queryKey: key(ref, 'revision', revision, part, all, lineage, reveal),
    queryFn: () =>
      answer<string>(
        api.GET('/{cluster}/namespaces/{namespace}/releases/{name}/revisions/{revision}/{part}', {
          params: { path: { ...path(ref), revision, part }, query: { ...(all && { all }), ...(lineage && { lineage }), ...(reveal && { reveal }) } },
          headers: { Accept: part === 'notes' ? 'text/plain' : 'application/yaml' },
          parseAs: 'text',
        }),
      ),
    enabled,
    // A revision never changes. Revealed data is dropped with the page that showed it.
    staleTime: Infinity,
    ...(reveal && { gcTime: 0 }),
  });
}
