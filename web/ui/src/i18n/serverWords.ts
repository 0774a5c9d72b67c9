import { useTranslation } from 'react-i18next';
import type { ApiError, Schemas } from '../api/client';
import type { Cause, Resource, Sentence } from '../session/events';

/** An object that a note is about. */
type Noted = Pick<Resource, 'apiVersion' | 'kind'>;

/**
 * Translates the server's sentences, which are English, by the codes and parts
 * that come with them. What Helm and Kubernetes say stays as it is. A result of
 * null means that there is no translation.
 */
export interface ServerWords {
  /** What went wrong. `moment` formats times. */
  error: (error: Pick<ApiError, 'code' | 'details'>, moment: (time: string) => string) => string;
  /** Reports whether the server's own message says more than the translation of its code. */
  quotes: (code: ApiError['code']) => boolean;
  /** Introduces the server's own message where it is quoted. */
  quoted: string;
  /** Why an object is not ready; null for an unknown problem. The object appears in it as "Kind name". */
  cause: (cause: Pick<Cause, keyof Sentence | 'because' | 'count'>) => string | null;
  /** The status of an object in one word. Kubernetes' own words stay. */
  status: (word: string) => string;
  /** Why an object has its status, if that is helmtrail's own message. */
  why: (resource: Pick<Resource, 'status' | 'reason' | 'kind' | 'apiVersion'>) => string | null;
  /** Why a revision is odd. */
  anomaly: (code: Schemas['Anomaly']['code']) => string;
  /** A message about an object or, without one, about a whole manifest. */
  note: (note: Schemas['Note'] | undefined, object?: Noted) => string | null;
  /** A field that another manager owns. */
  conflict: (conflict: Schemas['FieldConflict']) => string;
  /** Why an attempt failed. */
  retry: (code: Schemas['RetryCode']) => string | null;
}

let current: ServerWords | null = null;

/** Sets the words of the current language; null for English. */
export const setServerWords = (words: ServerWords | null): void => {
  current = words;
};

/** Returns the words of the current language; null for English, in which the server's messages are shown. */
export function useServerWords(): ServerWords | null {
  useTranslation(); // The language may change.
  return current;
}
