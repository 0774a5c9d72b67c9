import {
  isEnd,
  resourceKey,
  type Cause,
  type EndEvent,
  type LogEvent,
  type Phase,
  type ReleaseStatusEvent,
  type Resource,
  type ResourceStatusEvent,
  type RetryingEvent,
  type SessionEvent,
  type StartedEvent,
  type Summary,
} from './events';

/** How many of the newest log lines are kept. */
export const LINES_KEPT = 500;

/** The log line of a RESOURCE_STATUS: the counts, and causes that the previous one did not have. */
export interface ResourceLine extends Pick<ResourceStatusEvent, 'seq' | 'type' | 'time'> {
  ready: number;
  total: number;
  causes: readonly Cause[];
}

/** How many of the newest milestones are kept. */
export const MILESTONES_KEPT = 100;

/** An event for the timeline. */
export type Milestone = StartedEvent | ReleaseStatusEvent | RetryingEvent | EndEvent;

/** One entry of the log; `seq` is unique among them. */
export type Line = StartedEvent | LogEvent | ReleaseStatusEvent | RetryingEvent | EndEvent | ResourceLine;

/** The clock of a session. */
export interface Clock {
  elapsedSeconds: number;
  /** The time of `elapsedSeconds`, in milliseconds of performance.now(). */
  at: number;
  /** 0 if unknown, as for an observed session. */
  timeoutSeconds: number;
  phase: Phase | null;
}

/** The state of a session, built from its events. */
export interface SessionState {
  /** "" until the first event. */
  sessionId: string;
  lastSeq: number;
  started: StartedEvent | null;
  /** The latest status of the newest revision. */
  release: ReleaseStatusEvent | null;
  /** By resourceKey, in the order of their first appearance. */
  resources: ReadonlyMap<string, Resource>;
  summary: Summary | null;
  lines: readonly Line[];
  milestones: readonly Milestone[];
  /** The number of lines so far, including those no longer kept. */
  linesSeen: number;
  clock: Clock | null;
  end: EndEvent | null;
}

export const NOTHING: SessionState = {
  sessionId: '',
  lastSeq: 0,
  started: null,
  release: null,
  resources: new Map(),
  summary: null,
  lines: [],
  linesSeen: 0,
  milestones: [],
  clock: null,
  end: null,
};

/** An event and its time of arrival in milliseconds of performance.now(). */
export interface Received {
  event: SessionEvent;
  at: number;
}

/**
 * Returns the state after more events. It is pure, and its cost does not depend on
 * the number of earlier events. Events that the state already has are dropped, so a
 * replay changes nothing. RESET and events of another session start from NOTHING.
 */
export function advance(state: SessionState, received: readonly Received[]): SessionState {
  let next = { ...state };
  let added: Line[] = [];
  for (const { event, at } of received) {
    if (event.type === 'RESET' || (next.sessionId !== '' && next.sessionId !== event.sessionId)) {
      next = { ...NOTHING };
      added = [];
    }
    next.sessionId = event.sessionId;
    if (event.type === 'RESET' || next.end) {
      continue;
    }
    if ('seq' in event) {
      if (event.seq <= next.lastSeq) {
        continue;
      }
      next.lastSeq = event.seq;
    }
    const line = apply(next, event);
    if (line) {
      added.push(line);
    }
    next.clock = tick(next.clock, event, at);
  }
  next.linesSeen += added.length;
  next.milestones = [...next.milestones, ...added.filter(isMilestone)].slice(-MILESTONES_KEPT);
  next.lines = added.length > 0 ? [...next.lines, ...added].slice(-LINES_KEPT) : next.lines;
  return next;
}

function isMilestone(line: Line): line is Milestone {
  return line.type !== 'LOG' && line.type !== 'RESOURCE_STATUS';
}

/** Applies an event to a state and returns its log line, if any. */
function apply(state: SessionState, event: Exclude<SessionEvent, { type: 'RESET' }>): Line | null {
  if (isEnd(event)) {
    state.end = event;
    return event;
  }
  switch (event.type) {
    case 'STARTED':
      state.started = event;
      return event;
    case 'RELEASE_STATUS':
      if (event.revision >= (state.release?.revision ?? 0)) {
        state.release = event;
      }
      return event;
    case 'RESOURCE_STATUS': {
      const line = resourceLine(state.summary, event);
      state.resources = changedResources(state.resources, event);
      state.summary = event.summary;
      return line;
    }
    case 'LOG':
    case 'RETRYING':
      return event;
    case 'HEARTBEAT':
      return null;
    default:
      // A type that a later server has added. It does not compile if a known type is missing above.
      event satisfies never;
      return null;
  }
}

function changedResources(before: ReadonlyMap<string, Resource>, event: ResourceStatusEvent): ReadonlyMap<string, Resource> {
  const resources = new Map(event.full ? [] : before);
  for (const resource of event.resources) {
    resources.set(resourceKey(resource), resource);
  }
  for (const key of event.removed ?? []) {
    resources.delete(key);
  }
  return resources;
}

/** Returns a line only for news. */
function resourceLine(before: Summary | null, { seq, type, time, summary }: ResourceStatusEvent): ResourceLine | null {
  const known = new Set(before?.causes.map(({ text }) => text));
  const causes = summary.causes.filter(({ text }) => !known.has(text));
  if (before && before.ready === summary.ready && before.total === summary.total && causes.length === 0) {
    return null;
  }
  return { seq, type, time, ready: summary.ready, total: summary.total, causes };
}

/** A heartbeat that is behind our own clock by less than this was delayed on its way. */
const LATENESS_SECONDS = 1;

function tick(clock: Clock | null, event: SessionEvent, at: number): Clock {
  const counted = clock ? clock.elapsedSeconds + (at - clock.at) / 1000 : 0;
  if (event.type === 'HEARTBEAT') {
    const late = counted > event.elapsedSeconds && counted - event.elapsedSeconds < LATENESS_SECONDS;
    return {
      elapsedSeconds: late ? counted : event.elapsedSeconds,
      at,
      timeoutSeconds: event.timeoutSeconds ?? 0,
      phase: event.phase,
    };
  }
  return {
    elapsedSeconds: isEnd(event) ? event.durationSeconds : Math.max(counted, event.elapsedSeconds),
    at,
    timeoutSeconds: event.type === 'STARTED' ? (event.timeoutSeconds ?? 0) : (clock?.timeoutSeconds ?? 0),
    phase: phaseAfter(clock?.phase ?? null, event),
  };
}

/** The phase that an event implies before the next heartbeat reports it. */
function phaseAfter(phase: Phase | null, { type }: SessionEvent): Phase | null {
  if (type === 'RETRYING') {
    return 'retrying';
  }
  return type === 'LOG' && (phase === 'queued' || phase === 'retrying') ? 'running' : phase;
}

/** The elapsed time of the session at `now`, a time of performance.now(). */
export function elapsedSeconds({ clock, end }: SessionState, now: number): number {
  if (!clock) {
    return 0;
  }
  return end ? end.durationSeconds : clock.elapsedSeconds + Math.max(0, now - clock.at) / 1000;
}
