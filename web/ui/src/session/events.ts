import type { Schemas } from '../api/client';

export type SessionEvent = Schemas['Event'];
export type StartedEvent = Schemas['StartedEvent'];
export type LogEvent = Schemas['LogEvent'];
export type HeartbeatEvent = Schemas['HeartbeatEvent'];
export type ReleaseStatusEvent = Schemas['ReleaseStatusEvent'];
export type ResourceStatusEvent = Schemas['ResourceStatusEvent'];
export type RetryingEvent = Schemas['RetryingEvent'];
export type EndEvent = Schemas['EndEvent'];
export type Phase = Schemas['Phase'];
export type Resource = Schemas['Resource'];
export type Summary = Schemas['Summary'];
export type Cause = Schemas['Cause'];
/** The parts of a cause's sentence. */
export type Sentence = Schemas['Sentence'];
export type ObjectRef = Schemas['ObjectRef'];

/** All event types of a session's stream. A test compares them with docs/openapi.yaml. */
export const EVENT_TYPES = [
  'STARTED',
  'LOG',
  'HEARTBEAT',
  'RELEASE_STATUS',
  'RESOURCE_STATUS',
  'RETRYING',
  'RESET',
  'COMPLETED',
  'FAILED',
  'CANCELED',
] as const satisfies readonly SessionEvent['type'][];

/** Reports whether the event is terminal. A terminal event is always the last. */
export function isEnd(event: SessionEvent): event is EndEvent {
  return event.type === 'COMPLETED' || event.type === 'FAILED' || event.type === 'CANCELED';
}

/** The key of a resource within its release: group/kind/namespace/name. */
export function resourceKey({ apiVersion, kind, namespace, name }: Resource): string {
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  return `${group}/${kind}/${namespace ?? ''}/${name}`;
}
