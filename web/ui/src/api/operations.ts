import { useMutation } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import { paths, type ReleaseRef } from '../app/paths';
import { answer, api, type ApiError, type Schemas } from './client';

export type Options = Schemas['Options'];
export type Strategy = Schemas['Strategy'];
type Accepted = Schemas['Accepted'];

/** The options of an uninstall. */
export type UninstallOptions = Pick<Options, 'keepHistory' | 'noHooks' | 'cascade' | 'timeoutSeconds' | 'overridePending'>;

/** Submits an operation and opens its events page when it is accepted. */
export function useSubmit<Request>(send: (request: Request) => Promise<Accepted>) {
  const navigate = useNavigate();
  return useMutation<Accepted, ApiError, Request>({
    mutationFn: send,
    onSuccess: ({ release, sessionId }) => navigate(paths.events(release, sessionId)),
  });
}

export const install = (cluster: string, namespace: string, body: Schemas['InstallRequest']) =>
  answer(api.POST('/{cluster}/namespaces/{namespace}/releases', { params: { path: { cluster, namespace } }, body }));

export const upgrade = ({ cluster, namespace, name }: ReleaseRef, body: Schemas['UpgradeRequest']) =>
  answer(api.PUT('/{cluster}/namespaces/{namespace}/releases/{name}', { params: { path: { cluster, namespace, name } }, body }));

export const rollback = ({ cluster, namespace, name }: ReleaseRef, body: Schemas['RollbackRequest']) =>
  answer(api.POST('/{cluster}/namespaces/{namespace}/releases/{name}/rollback', { params: { path: { cluster, namespace, name } }, body }));

export const uninstall = ({ cluster, namespace, name }: ReleaseRef, query: UninstallOptions) =>
  answer(api.DELETE('/{cluster}/namespaces/{namespace}/releases/{name}', { params: { path: { cluster, namespace, name }, query } }));

/** `resourceVersion` is that of the stuck record as the user saw it; the server refuses another. */
export const recover = ({ cluster, namespace, name }: ReleaseRef, strategy: Strategy, resourceVersion: string) =>
  answer(
    api.POST('/{cluster}/namespaces/{namespace}/releases/{name}/recover', {
      params: { path: { cluster, namespace, name } },
      body: { strategy, resourceVersion },
    }),
  );

/** Cancels a session. With force, Helm gets no time to record its result. */
export const cancel = ({ cluster, namespace, name }: ReleaseRef, session: string, force: boolean) =>
  answer(
    api.POST('/{cluster}/namespaces/{namespace}/releases/{name}/sessions/{session}/cancel', {
      params: { path: { cluster, namespace, name, session } },
      body: { force },
    }),
  );
