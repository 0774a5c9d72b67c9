import createClient from 'openapi-fetch';
import { base } from './base';
import type { components, paths } from './schema';
import { signedOut } from './signedOut';

export type Schemas = components['schemas'];

/** The server's codes, and `unreachable` for when there was no answer at all. */
export type ErrorCode = Schemas['Error']['code'] | 'unreachable';

/** A refusal by the server, in its own words, or its absence. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    /** The HTTP status; 0 when there was no answer. */
    readonly status: number,
    readonly code: ErrorCode,
    message: string,
    /** What programs need of it, as docs/openapi.yaml says per code. */
    readonly details: NonNullable<Schemas['Error']['details']> = {},
  ) {
    super(message);
  }

  /** Whether the same request may succeed later, as it is. */
  get passing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** Whether what failed may succeed later, as it is. */
export const isPassing = (error: Error): boolean => error instanceof ApiError && error.passing;

/** The HTTP API, typed by docs/openapi.yaml. Pass what it returns to `answer`. */
export const api = createClient<paths>({ baseUrl: base });

/** Waits for a request and returns its body, if it has one. Throws nothing but an ApiError. */
export async function answer<Data>(request: Promise<{ data?: Data; error?: unknown; response: Response }>): Promise<Data> {
  const { data, error, response } = await request.catch((cause: unknown) => {
    throw new ApiError(0, 'unreachable', cause instanceof Error ? cause.message : String(cause));
  });
  if (!response.ok) {
    throw refusal(response, error);
  }
  return data as Data;
}

/**
 * Reads the error that the server sent; a proxy in between may have sent
 * something else. That one has to log in is kept in signedOut.
 */
export function refusal(response: Response, body: unknown): ApiError {
  if (response.status === 401) {
    signedOut((isError(body) && body.details?.cluster) || '');
  }
  if (isError(body)) {
    return new ApiError(response.status, body.code, body.message, body.details);
  }
  const code = response.status === 404 ? 'not_found' : response.status === 403 ? 'forbidden' : 'internal';
  return new ApiError(response.status, code, `${response.status} ${response.statusText}`.trim());
}

function isError(body: unknown): body is Schemas['Error'] {
  return typeof body === 'object' && body !== null && 'code' in body && 'message' in body;
}
