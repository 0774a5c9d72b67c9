import { useTranslation } from 'react-i18next';
import type { ApiError, Schemas } from '../api/client';
import type { Cause, Sentence } from '../session/events';

/**
 * What the server says, in a language other than its own, which is English:
 * told by the codes and parts that come with each sentence. What Helm and
 * Kubernetes say stays as it is.
 */
export interface ServerWords {
  /** What went wrong. Moments are written by `moment`. */
  error: (error: Pick<ApiError, 'code' | 'details'>, moment: (time: string) => string) => string;
  /** Reports whether the server's own message says more than the translation of its code. */
  quotes: (code: ApiError['code']) => boolean;
  /** Introduces the server's own message where it is quoted. */
  quoted: string;
  /** Why an object is not ready; null for a kind of trouble that is not known. The object stands in it as "Kind name". */
  cause: (cause: Pick<Cause, keyof Sentence | 'because' | 'count'>) => string | null;
  /** How an object is, in one word; Kubernetes' own words stay. */
  status: (word: string) => string;
  /** Why a revision is odd. */
  anomaly: (code: Schemas['Anomaly']['code']) => string;
  /** One of the sentences that come without a code; null for one that is not known. */
  sentence: (english: string) => string | null;
}

let spoken: ServerWords | null = null;

/** Sets the words of the language that is spoken from now on; null for English. */
export const setServerWords = (words: ServerWords | null): void => {
  spoken = words;
};

/** The words of the language of the pages; null where the server's own are the reader's. */
export function useServerWords(): ServerWords | null {
  useTranslation(); // The language may change.
  return spoken;
}
