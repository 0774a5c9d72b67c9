import { useQuery } from '@tanstack/react-query';
import type { ReleaseRef } from '../app/paths';
import { answer, api, type Schemas } from './client';

export type Drift = Schemas['Drift'];
export type DriftObject = Schemas['DriftObject'];
export type FieldChange = Schemas['FieldChange'];

/**
 * How the live objects differ from what the deployed revision says. The API
 * server is asked about every object, so it is done once, and again when the
 * revision is another or somebody asks for it.
 */
export function useDrift({ cluster, namespace, name }: ReleaseRef, revision: number) {
  return useQuery({
    queryKey: ['release', cluster, namespace, name, 'drift', revision],
    queryFn: () => answer(api.GET('/{cluster}/namespaces/{namespace}/releases/{name}/drift', { params: { path: { cluster, namespace, name } } })),
    staleTime: Infinity,
  });
}
