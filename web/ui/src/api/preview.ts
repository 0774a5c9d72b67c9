import { useMutation, useQuery } from '@tanstack/react-query';
import type { ReleaseRef } from '../app/paths';
import { answer, api, refusal, type ApiError, type Schemas } from './client';
import type { Session } from './release';

/** What an operation would do: the result of a dry run. */
export interface Preview {
  release: ReleaseRef;
  /** The finished session of the dry run. */
  session: Session;
  /** Manifest and hooks as YAML documents; null if Helm could not render them. */
  manifest: string | null;
}

export type ValidatedObject = Schemas['ValidatedObject'];

/** How long the server delays an unchanged answer. */
const WAIT_SECONDS = 30;

/** Starts a dry run and waits for its end. Its result contains no Secrets. */
export function usePreview<Request>(send: (request: Request) => Promise<Schemas['Accepted']>) {
  return useMutation<Preview, ApiError, Request>({
    mutationFn: async (request) => {
      const { release, sessionId } = await send(request);
      const session = await ended(release, sessionId);
      return { release, session, manifest: session.end?.rendered ? await rendered(release, sessionId) : null };
    },
  });
}

async function ended({ cluster, namespace, name }: ReleaseRef, session: string): Promise<Session> {
  let known: Session | undefined;
  let etag: string | undefined;
  while (!known?.end) {
    const { data, error, response } = await api.GET('/{cluster}/namespaces/{namespace}/releases/{name}/sessions/{session}', {
      params: { path: { cluster, namespace, name, session }, query: etag ? { wait: WAIT_SECONDS } : {} },
      headers: etag ? { 'If-None-Match': etag } : {},
    });
    if (!data && response.status !== 304) {
      throw refusal(response, error);
    }
    known = data ?? known;
    etag = response.headers.get('ETag') ?? etag;
  }
  return known;
}

const rendered = ({ cluster, namespace, name }: ReleaseRef, session: string) =>
  answer<string>(
    api.GET('/{cluster}/namespaces/{namespace}/releases/{name}/sessions/{session}/rendered', {
      params: { path: { cluster, namespace, name, session } },
      parseAs: 'text',
    }),
  );

/** The API server's verdict on each object that a dry run rendered. It is asked once. */
export function useValidation({ release: { cluster, namespace, name }, session }: Preview) {
  return useQuery({
    queryKey: ['release', cluster, namespace, name, 'validation', session.id],
    queryFn: () =>
      answer(
        api.GET('/{cluster}/namespaces/{namespace}/releases/{name}/sessions/{session}/validation', {
          params: { path: { cluster, namespace, name, session: session.id } },
        }),
      ),
    staleTime: Infinity,
  });
}
