import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { answer, api, type ApiError, type Schemas } from './client';
import { signedIn } from './signedOut';

export type WhoAmI = Schemas['WhoAmI'];
export type SignedIn = Schemas['SignedIn'];

const ME = ['me'];

/** The current user in each cluster, and whether the server requires a login. */
export function useMe() {
  return useQuery({ queryKey: ME, queryFn: () => answer(api.GET('/me')) });
}

/** Sends a token to the server, which keeps it in a cookie that scripts cannot read. */
export function useLogin() {
  const queries = useQueryClient();
  return useMutation<SignedIn, ApiError, Schemas['LoginRequest']>({
    mutationFn: (body) => answer(api.POST('/login', { body })),
    onSuccess: async () => {
      // Another user may see other data.
      queries.removeQueries({ predicate: ({ queryKey }) => queryKey !== ME });
      await queries.invalidateQueries({ queryKey: ME });
      signedIn();
    },
  });
}

/** Logs out of a cluster. */
export function useLogout() {
  const queries = useQueryClient();
  return useMutation<unknown, ApiError, string>({
    mutationFn: (cluster) => answer(api.POST('/logout', { params: { query: { cluster } } })),
    onSuccess: () => queries.resetQueries(),
  });
}
