import { address } from '../api/base';
import { answer, api, ApiError } from '../api/client';
import { EventStream } from '../api/eventstream';
import type { ReleaseRef } from '../app/paths';
import { EVENT_TYPES, isEnd, type SessionEvent } from './events';
import { advance, NOTHING, type Received, type SessionState } from './state';

/** A session of a release; without an id, the running one. */
export interface SessionRef extends ReleaseRef {
  sessionId: string | null;
}

/** The current state of a session. It is immutable. */
export interface SessionView {
  session: SessionState;
  /**
   * connecting: there is no connection yet, or no longer. lost: there has been none
   * for a while, and reconnecting continues. closed: no more events will arrive.
   */
  connection: 'connecting' | 'connected' | 'lost' | 'closed';
  /** The error with which the server refused the stream. */
  refused: ApiError | null;
}

/** Events are rendered in batches, at most one per this time, so that the page stays responsive. */
const DRAW_MS = 100;

/** How often a hidden page is rendered, which has no animation frames. */
const HIDDEN_DRAW_MS = 1000;

/** The maximum number of waiting events. More are applied without waiting for a frame. */
const WAITING_MAX = 5000;

/** After this time without a connection the page reports it as lost. */
const LOST_MS = 60_000;

/** Follows a session's stream between start and stop. It is an external store for React. */
export class SessionFollower {
  #ref: SessionRef;
  #stream: EventStream | null = null;
  #view: SessionView = { session: NOTHING, connection: 'connecting', refused: null };
  #listeners = new Set<() => void>();
  #waiting: Received[] = [];
  #frame = 0;
  #drawnAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #losing: ReturnType<typeof setTimeout> | undefined;

  constructor(ref: SessionRef) {
    this.#ref = ref;
  }

  /** Reports whether `ref` is the followed session: by release and id, or as the running session. */
  follows(ref: SessionRef): boolean {
    const { cluster, namespace, name, sessionId } = this.#ref;
    return (
      ref.cluster === cluster &&
      ref.namespace === namespace &&
      ref.name === name &&
      (ref.sessionId === sessionId || ref.sessionId === this.#view.session.sessionId)
    );
  }

  start(): void {
    if (this.#stream || this.#view.connection === 'closed') {
      return;
    }
    this.#lose();
    this.#stream = new EventStream({
      types: EVENT_TYPES,
      url: () => this.#url(),
      onOpen: () => {
        clearTimeout(this.#losing);
        this.#losing = undefined;
        this.#show({ connection: 'connected' });
      },
      onLost: () => {
        this.#lose();
      },
      onEvent: (data) => {
        this.#receive(JSON.parse(data) as SessionEvent);
      },
      onEnd: (refused) => {
        this.#flush();
        this.#close(refused);
      },
      wanted: () => this.#hasEnded(),
    });
  }

  /** Reconnects a lost stream immediately. */
  readonly retry = (): void => {
    clearTimeout(this.#losing);
    this.#losing = undefined;
    this.#lose();
    this.#stream?.retry();
  };

  stop(): void {
    this.#stream?.close();
    this.#stream = null;
    clearTimeout(this.#losing);
    this.#losing = undefined;
    this.#flush();
  }

  readonly view = (): SessionView => this.#view;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The URL of the stream after the last event of the state. */
  #url(): string {
    this.#flush();
    const { cluster, namespace, name, sessionId: asked } = this.#ref;
    const { sessionId, lastSeq } = this.#view.session;
    const query = new URLSearchParams();
    if (asked || sessionId) {
      query.set('sessionId', sessionId || (asked ?? ''));
    }
    if (lastSeq > 0) {
      query.set('lastEventId', `${sessionId}.${lastSeq}`);
    }
    return `${address(cluster, 'namespaces', namespace, 'releases', name, 'events')}${query.size > 0 ? `?${query}` : ''}`;
  }

  #receive(event: SessionEvent): void {
    this.#waiting.push({ event, at: performance.now() });
    if (isEnd(event)) {
      // Nothing follows. The browser would reconnect.
      this.#stream?.close();
      this.#stream = null;
      this.#flush();
      this.#close(null);
    } else if (this.#waiting.length >= WAITING_MAX) {
      this.#flush();
    } else if (this.#waiting.length === 1) {
      this.#frame = requestAnimationFrame(this.#draw);
      this.#timer = setTimeout(() => {
        this.#flush();
      }, HIDDEN_DRAW_MS);
    }
  }

  /** Shows `connecting` immediately, and `lost` after a while. */
  #lose(): void {
    if (this.#losing === undefined) {
      this.#show({ connection: 'connecting' });
      this.#losing = setTimeout(() => {
        this.#show({ connection: 'lost' });
      }, LOST_MS);
    }
  }

  #close(refused: ApiError | null): void {
    clearTimeout(this.#losing);
    this.#show({ connection: 'closed', refused });
  }

  /** Asks the server whether the session has ended. */
  async #hasEnded(): Promise<boolean> {
    const { cluster, namespace, name } = this.#ref;
    const session = this.#view.session.sessionId;
    if (session === '') {
      return true;
    }
    const path = { cluster, namespace, name, session };
    const { state } = await answer(
      api.GET('/{cluster}/namespaces/{namespace}/releases/{name}/sessions/{session}', { params: { path } }),
    );
    return state !== 'running';
  }

  readonly #draw = (): void => {
    const now = performance.now();
    if (now - this.#drawnAt < DRAW_MS) {
      this.#frame = requestAnimationFrame(this.#draw);
      return;
    }
    this.#drawnAt = now;
    this.#flush();
  };

  #flush(): void {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    if (this.#waiting.length > 0) {
      const received = this.#waiting;
      this.#waiting = [];
      this.#show({ session: advance(this.#view.session, received) });
    }
  }

  #show(change: Partial<SessionView>): void {
    this.#view = { ...this.#view, ...change };
    for (const listener of this.#listeners) {
      listener();
    }
  }
}
