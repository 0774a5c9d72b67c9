import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { answer, api, type ApiError, type Schemas } from './client';
import { signedIn } from './signedOut';

export type WhoAmI = Schemas['WhoAmI'];
export type SignedIn = Schemas['SignedIn'];

const ME = ['me'];

/** Who the reader is in each cluster, and whether anybody has to log in at all. */
export function useMe() {
  return useQuery({ queryKey: ME, queryFn: () => answer(api.GET('/me')) });
}

/** Gives the server a token, which it keeps where no script can read it. */
export function useLogin() {
  const queries = useQueryClient();
  return useMutation<SignedIn, ApiError, Schemas['LoginRequest']>({
    mutationFn: (body) => answer(api.POST('/login', { body })),
    onSuccess: async () => {
      // Somebody else may be shown something else.
      queries.removeQueries({ predicate: ({ queryKey }) => queryKey !== ME });
      await queries.invalidateQueries({ queryKey: ME });
      signedIn();
    },
  });
}

/** Makes the server forget the token of a cluster. */
export function useLogout() {
  const queries = useQueryClient();
  return useMutation<unknown, ApiError, string>({
    mutationFn: (cluster) => answer(api.POST('/logout', { params: { query: { cluster } } })),
    onSuccess: () => queries.resetQueries(),
  });
}
