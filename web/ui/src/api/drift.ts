import { useQuery } from '@tanstack/react-query';
import type { ReleaseRef } from '../app/paths';
import { answer, api, type Schemas } from './client';

export type Drift = Schemas['Drift'];
export type DriftObject = Schemas['DriftObject'];
export type FieldChange = Schemas['FieldChange'];

/**
 * Compares the live objects with the record of a revision. Every object costs a
 * request to the API server, so the result is refetched only for another revision
 * or on request.
 */
export function useDrift({ cluster, namespace, name }: ReleaseRef, revision: number) {
  return useQuery({
    queryKey: ['release', cluster, namespace, name, 'drift', revision],
    queryFn: () => answer(api.GET('/{cluster}/namespaces/{namespace}/releases/{name}/drift', { params: { path: { cluster, namespace, name } } })),
    staleTime: Infinity,
  });
}
