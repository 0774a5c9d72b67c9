import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import type { ReleaseRef } from '../app/paths';
import { answer, api, type Schemas } from './client';

export type Session = Schemas['Session'];
export type HistoryItem = Schemas['HistoryItem'];
export type Stuck = Schemas['Stuck'];
export type Lineage = Schemas['Lineage'];

/** The parts of a revision that people read. */
export const PARTS = ['values', 'manifest', 'hooks', 'notes', 'chart', 'metadata'] as const;
export type Part = (typeof PARTS)[number];

/** What changes by itself is asked for this often, while the page is seen. */
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

/** The revisions of a release, newest first, and the lives that it has lived; the first page, which is more than Helm keeps by default. */
function historyOf(ref: ReleaseRef, { revision, lineage }: { revision?: number; lineage?: string }) {
  return queryOptions({
    queryKey: key(ref, 'history', revision, lineage),
    queryFn: () =>
      answer(api.GET('/{cluster}/namespaces/{namespace}/releases/{name}/history', { params: { path: path(ref), query: lineage ? { lineage } : {} } })),
    placeholderData: keepPreviousData,
  });
}

/** The revisions of a release, newest first, also those that are no longer in the cluster. They are asked for anew when `revision` is another. */
export function useHistory(ref: ReleaseRef, revision?: number, lineage?: string) {
  return useQuery({ ...historyOf(ref, { revision, lineage }), select: ({ items }) => items });
}

/** The lives that a release's name has lived, newest first. */
export function useLineages(ref: ReleaseRef) {
  return useQuery({ ...historyOf(ref, {}), select: ({ lineages }) => lineages });
}

/** The sessions of a release, newest first, a page at most. */
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

/** What to compare: revisions, of which `from` may be another release's, also in another cluster. */
export interface DiffSelection {
  from?: number;
  to?: number;
  fromRelease?: string;
  fromNamespace?: string;
  fromCluster?: string;
  /** The lives to which the revisions belong, when they are not those of today. */
  fromLineage?: string;
  toLineage?: string;
  /** The dry run whose rendering is compared instead of a revision `to`. */
  toSession?: string;
  /** Compare the values that the charts were rendered with. */
  all?: boolean;
}

interface DiffOptions {
  /** Show secrets as they are. It needs the right to, and each answer is recorded: it is asked for once, and forgotten when it is left. */
  reveal?: boolean;
}

/** How two revisions differ. */
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
  /** values only: those that the chart was rendered with. */
  all?: boolean;
  /** The life to which the revision belongs, when it is not that of today. */
  lineage?: string;
  /** Show secrets as they are. It needs the right to, and is recorded. */
  reveal?: boolean;
  enabled?: boolean;
}

/** A part of a revision as text: YAML, or for the notes what they are. Secrets are masked unless they are revealed. */
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
    // A revision's content does not change. What was revealed is forgotten with the page that showed it.
    staleTime: Infinity,
    ...(reveal && { gcTime: 0 }),
  });
}
