import createClient from 'openapi-fetch';
import { base } from './base';
import type { components, paths } from './schema';
import { signedOut } from './signedOut';

export type Schemas = components['schemas'];

/** The server's error codes, and `unreachable` for no answer. */
export type ErrorCode = Schemas['Error']['code'] | 'unreachable';

/** An error that the server returned, or the lack of an answer. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    /** The HTTP status; 0 for no answer. */
    readonly status: number,
    readonly code: ErrorCode,
    message: string,
    /** Data for programs; docs/openapi.yaml describes it for each code. */
    readonly details: NonNullable<Schemas['Error']['details']> = {},
  ) {
    super(message);
  }

  /** Reports whether the same request may succeed later. */
  get passing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** Reports whether the same request may succeed later. */
export const isPassing = (error: Error): boolean => error instanceof ApiError && error.passing;

/** The HTTP API, typed by docs/openapi.yaml. Pass its results to `answer`. */
export const api = createClient<paths>({ baseUrl: base });

/** Waits for a request and returns its body, if any. Throws only ApiErrors. */
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
 * Returns the error of a response. A proxy may have sent another body than the
 * server does. A required login is recorded in signedOut.
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
