import { useSyncExternalStore } from 'react';

/** The server's word that one has to log in. */
export interface SignedOut {
  /** The cluster to log in to, "" where that does not matter. */
  cluster: string;
  /** When it was said, in milliseconds of Date.now(). */
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

/** Keeps that a request was refused because nobody is logged in to a cluster. */
export const signedOut = (cluster: string) => {
  set({ cluster, at: Date.now() });
};

/** Forgets it: somebody has logged in. */
export const signedIn = () => {
  set(null);
};

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Whether the last answers say that one has to log in, whichever request they were for. */
export function useSignedOut(): SignedOut | null {
  return useSyncExternalStore(subscribe, () => last);
}
