import { describe, expect, test } from 'vitest';
import type { EndEvent, HeartbeatEvent, LogEvent, Resource, ResourceStatusEvent, SessionEvent, StartedEvent } from './events';
import { advance, elapsedSeconds, LINES_KEPT, NOTHING, type SessionState } from './state';

const common = (seq: number, elapsed = seq) => ({
  seq,
  time: '2026-11-30T12:00:00.000Z',
  sessionId: 's1',
  elapsedSeconds: elapsed,
});

const started = (seq: number): StartedEvent => ({
  ...common(seq, 0),
  type: 'STARTED',
  operation: 'install',
  origin: 'helmtrail',
  cluster: 'c',
  namespace: 'ns',
  release: 'demo',
  timeoutSeconds: 300,
  deadlineSeconds: 315,
});

const log = (seq: number, line = `line ${seq}`): LogEvent => ({ ...common(seq), type: 'LOG', line });

const heartbeat = (elapsed: number): HeartbeatEvent => ({
  type: 'HEARTBEAT',
  time: '2026-11-30T12:00:00.000Z',
  sessionId: 's1',
  elapsedSeconds: elapsed,
  timeoutSeconds: 300,
  deadlineSeconds: 315,
  phase: 'waiting',
});

const end = (seq: number, type: EndEvent['type']): EndEvent => ({
  ...common(seq),
  type,
  exitCode: type === 'COMPLETED' ? 0 : 1,
  process: { exitCode: 0 },
  release: { revision: 1, status: 'deployed' },
  agrees: true,
  causes: [],
  leftovers: [],
  startRevision: 0,
  revisions: [1],
  durationSeconds: 7.5,
});

const deployment = (name: string, ready: number): Resource => ({
  kind: 'Deployment',
  apiVersion: 'apps/v1',
  namespace: 'ns',
  name,
  status: ready > 0 ? 'Ready' : 'Progressing',
  ready,
  total: 1,
  current: ready > 0,
});

const resources = (seq: number, full: boolean, rows: Resource[], more: Partial<ResourceStatusEvent> = {}): ResourceStatusEvent => ({
  ...common(seq),
  type: 'RESOURCE_STATUS',
  full,
  resources: rows,
  summary: { ready: rows.filter((r) => r.ready).length, total: rows.length, causes: [] },
  ...more,
});

const at = (when: number) => (event: SessionEvent) => ({ event, at: when });
const follow = (state: SessionState, ...events: SessionEvent[]) => advance(state, events.map(at(0)));
const seqs = (state: SessionState) => state.lines.map((line) => line.seq);

describe('each event once', () => {
  test('a duplicate event is dropped, in the same batch or a later one', () => {
    const first = follow(NOTHING, started(1), log(2), log(2), log(3));
    expect(seqs(first)).toEqual([1, 2, 3]);
    const replayed = follow(first, started(1), log(2), log(3), log(4));
    expect(seqs(replayed)).toEqual([1, 2, 3, 4]);
    expect(replayed.linesSeen).toBe(4);
  });

  test('a replay without news gives an equal state', () => {
    const first = follow(NOTHING, started(1), log(2));
    expect(follow(first, started(1), log(2))).toEqual(first);
  });

  test('the previous state is not modified', () => {
    const first = follow(NOTHING, started(1), resources(2, true, [deployment('a', 0)]));
    const copy = structuredClone(first);
    follow(first, log(3), resources(4, false, [deployment('a', 1)]));
    expect(first).toEqual(copy);
  });

  test('one batch and many give the same', () => {
    const events = [started(1), log(2), heartbeat(2), resources(3, true, [deployment('a', 0)]), log(4), end(5, 'FAILED')];
    const single = events.reduce((state, event) => follow(state, event), NOTHING);
    expect(follow(NOTHING, ...events)).toEqual(single);
  });
});

test('an event of an unknown type only advances the position, and the stream goes on', () => {
  const before = follow(NOTHING, started(1), log(2), resources(3, true, [deployment('a', 1)]));
  const later = { ...common(4), type: 'FROM_A_LATER_SERVER', anything: { nested: true } } as unknown as SessionEvent;
  const after = follow(before, later);
  expect({ ...after, clock: null }).toEqual({ ...before, lastSeq: 4, clock: null });
  expect(seqs(follow(after, log(5), end(6, 'COMPLETED')))).toEqual([1, 2, 3, 5, 6]);
});

describe('RESET', () => {
  const reset: SessionEvent = { type: 'RESET', time: '2026-11-30T12:00:00.000Z', sessionId: 's1', elapsedSeconds: 3 };

  test('drops everything, and the full replay is taken', () => {
    const before = follow(NOTHING, started(1), log(2), resources(3, true, [deployment('a', 1)]));
    expect(follow(before, reset)).toEqual({ ...NOTHING, sessionId: 's1' });
    expect(seqs(follow(before, reset, started(1), log(2)))).toEqual([1, 2]);
  });

  test('drops what came earlier in the same batch', () => {
    const state = follow(NOTHING, started(1), log(2), log(3), reset, started(1));
    expect(seqs(state)).toEqual([1]);
    expect(state.linesSeen).toBe(1);
  });

  test('undoes an end', () => {
    expect(follow(NOTHING, started(1), end(2, 'FAILED'), reset, started(1)).end).toBeNull();
  });

  test('is implied by an event of another session', () => {
    const state = follow(NOTHING, started(1), log(2), { ...started(1), sessionId: 's2' });
    expect(state.sessionId).toBe('s2');
    expect(seqs(state)).toEqual([1]);
  });
});

describe('RESOURCE_STATUS', () => {
  const names = (state: SessionState) => [...state.resources.values()].map((r) => `${r.name} ${r.ready}`);

  test('a full one replaces all rows', () => {
    const state = follow(NOTHING, resources(1, true, [deployment('a', 0), deployment('b', 0)]), resources(2, true, [deployment('b', 1)]));
    expect(names(state)).toEqual(['b 1']);
  });

  test('a partial one changes rows in place, adds and removes', () => {
    const state = follow(
      NOTHING,
      resources(1, true, [deployment('a', 0), deployment('b', 0)]),
      resources(2, false, [deployment('c', 0), deployment('a', 1)], { removed: ['apps/Deployment/ns/b'] }),
    );
    expect(names(state)).toEqual(['a 1', 'c 0']);
  });

  test('rows of the same name in other groups, kinds and namespaces are distinct', () => {
    const a = deployment('a', 0);
    const state = follow(NOTHING, resources(1, true, [a, { ...a, apiVersion: 'v1', kind: 'Service' }, { ...a, namespace: 'other' }]));
    expect(state.resources.size).toBe(3);
  });

  test('makes a line only for news', () => {
    const cause = { object: { kind: 'Pod', name: 'a' }, reason: 'ImagePullBackOff', text: 'the image cannot be pulled', final: false };
    const summary = { ready: 0, total: 1, causes: [cause] };
    const state = follow(
      NOTHING,
      resources(1, true, [deployment('a', 0)]),
      resources(2, false, [deployment('a', 0)]),
      resources(3, false, [deployment('a', 0)], { summary }),
      resources(4, false, [deployment('a', 0)], { summary }),
    );
    expect(state.lines).toMatchObject([
      { seq: 1, ready: 0, total: 1, causes: [] },
      { seq: 3, causes: [cause] },
    ]);
    expect(state.summary).toEqual(summary);
  });
});

describe('the log', () => {
  test('keeps the newest 500 lines and counts all', () => {
    const many = Array.from({ length: 12_000 }, (_, i) => log(i + 1));
    const inOne = follow(NOTHING, ...many);
    const inParts = [many.slice(0, 499), many.slice(499, 501), many.slice(501)].reduce((state, part) => follow(state, ...part), NOTHING);
    for (const state of [inOne, inParts]) {
      expect(state.lines).toHaveLength(LINES_KEPT);
      expect(seqs(state).at(0)).toBe(11_501);
      expect(seqs(state).at(-1)).toBe(12_000);
      expect(state.linesSeen).toBe(12_000);
    }
  });

  test('keeps the same array of lines if nothing was added, so that nothing is rendered again', () => {
    const state = follow(NOTHING, started(1), log(2));
    expect(follow(state, heartbeat(3)).lines).toBe(state.lines);
  });
});

describe('the end', () => {
  test.each(['COMPLETED', 'FAILED', 'CANCELED'] as const)('%s is kept, is the last line and stops the clock', (type) => {
    const state = follow(NOTHING, started(1), log(2), end(3, type));
    expect(state.end?.type).toBe(type);
    expect(state.lines.at(-1)).toMatchObject({ type, seq: 3 });
    expect(elapsedSeconds(state, 1_000_000)).toBe(7.5);
  });

  test('nothing changes after it', () => {
    const state = follow(NOTHING, started(1), end(2, 'COMPLETED'));
    expect(follow(state, heartbeat(60), log(3), end(4, 'FAILED'))).toEqual(state);
  });
});

describe('RELEASE_STATUS', () => {
  const status = (seq: number, revision: number, word: string): SessionEvent => ({
    ...common(seq),
    type: 'RELEASE_STATUS',
    revision,
    status: word,
    change: 'status',
    secret: { name: 's', uid: 'u', resourceVersion: '1' },
  });

  test('the newest revision counts, whichever changed last', () => {
    const state = follow(NOTHING, status(1, 2, 'pending-upgrade'), status(2, 1, 'superseded'));
    expect(state.release).toMatchObject({ revision: 2, status: 'pending-upgrade' });
    expect(follow(state, status(3, 2, 'deployed')).release).toMatchObject({ status: 'deployed' });
  });
});

describe('the clock', () => {
  test('runs by itself between heartbeats, which correct it', () => {
    const state = advance(NOTHING, [
      { event: started(1), at: 0 },
      { event: heartbeat(10), at: 1000 },
    ]);
    expect(elapsedSeconds(state, 1000)).toBe(10);
    expect(elapsedSeconds(state, 2500)).toBe(11.5);
    expect(elapsedSeconds(advance(state, [{ event: heartbeat(40), at: 3000 }]), 3000)).toBe(40);
    expect(elapsedSeconds(advance(state, [{ event: heartbeat(2), at: 3000 }]), 3000)).toBe(2);
  });

  test('does not step back for a delayed heartbeat', () => {
    const state = advance(NOTHING, [
      { event: heartbeat(10), at: 0 },
      { event: heartbeat(11.8), at: 2000 },
    ]);
    expect(elapsedSeconds(state, 2000)).toBe(12);
  });

  test('the events of a replay do not set it back', () => {
    const state = advance(NOTHING, [
      { event: heartbeat(60), at: 0 },
      { event: started(1), at: 10 },
      { event: log(2), at: 20 },
    ]);
    expect(elapsedSeconds(state, 1000)).toBeCloseTo(61, 6);
    expect(state.clock).toMatchObject({ timeoutSeconds: 300, phase: 'waiting' });
  });

  test('a line of helm implies the phase running before a heartbeat does', () => {
    const queued = follow(NOTHING, { ...heartbeat(1), phase: 'queued' });
    expect(follow(queued, log(2)).clock?.phase).toBe('running');
    expect(follow(NOTHING, { ...heartbeat(1), phase: 'canceling' }, log(2)).clock?.phase).toBe('canceling');
  });

  test('has no timeout if it is unknown', () => {
    const state = follow(NOTHING, { ...started(1), timeoutSeconds: null, deadlineSeconds: null });
    expect(state.clock?.timeoutSeconds).toBe(0);
  });

  test('is zero before anything is known', () => {
    expect(elapsedSeconds(NOTHING, 5000)).toBe(0);
  });
});
