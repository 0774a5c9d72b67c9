import { useSyncExternalStore } from 'react';

/** The server requires a login. */
export interface SignedOut {
  /** The cluster to log in to, "" for any. */
  cluster: string;
  /** When the server said so, in milliseconds of Date.now(). */
  at: number;
}

let last: SignedOut | null = null;
const listeners = new Set<() => void>();

function set(next: SignedOut | null): void {
  last = next;
  for (const listener of listeners) {
    listener();
  }
}

/** Records that a request was refused for lack of a login to a cluster. */
export const signedOut = (cluster: string) => {
  set({ cluster, at: Date.now() });
};

/** Clears the record after a login. */
export const signedIn = () => {
  set(null);
};

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Returns the login that the server requires, whichever request it refused. */
export function useSignedOut(): SignedOut | null {
  return useSyncExternalStore(subscribe, () => last);
}
