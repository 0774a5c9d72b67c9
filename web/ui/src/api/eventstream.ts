import { ApiError, refusal } from './client';

/** The callbacks and settings of an EventStream. */
export interface StreamReader {
  /** Returns the URL of the stream after `lastEventId` ("" before the first event). */
  url: (lastEventId: string) => string;
  /** The event types to listen for. Others are ignored. */
  types: readonly string[];
  /** The stream is connected, for the first time or again. */
  onOpen: () => void;
  /** The connection is lost. Reconnecting never stops. */
  onLost: () => void;
  onEvent: (data: string) => void;
  /** The server sends nothing more, or refused. It is the last call. */
  onEnd: (refused: ApiError | null) => void;
  /** Called repeatedly while the page is hidden. Reports whether the stream must be read anyway. */
  wanted?: () => Promise<boolean>;
}

/** Heartbeats arrive every few seconds. After a longer silence the connection is considered dead. */
const SILENCE_MS = 30_000;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 15_000;

/** How often a hidden page asks whether its stream must be read. */
const HIDDEN_POLL_MS = 5000;

const hidden = () => document.visibilityState === 'hidden';

/**
 * Reads server-sent events until it is closed. The browser's EventSource
 * reconnects by itself only while the server is unreachable. On any response but a
 * stream it gives up without a reason. Then this class fetches the reason, and
 * either retries or reports the end to the reader.
 *
 * A browser opens at most six connections to a server over HTTP/1.1 for all its
 * tabs. So a hidden page closes its stream and resumes it when it becomes visible.
 *
 * Events of types that are not in `types` are ignored.
 */
export class EventStream {
  #reader: StreamReader;
  #source: EventSource | null = null;
  #lastEventId = '';
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closing = new AbortController();

  /** Starts reading immediately. */
  constructor(reader: StreamReader) {
    this.#reader = reader;
    document.addEventListener('visibilitychange', this.#onVisibility);
    if (hidden()) {
      void this.#askHidden();
    } else {
      this.#open();
    }
  }

  /** Reconnects immediately instead of waiting for the next attempt. */
  retry(): void {
    this.#failures = 0;
    this.#open();
  }

  /** Closes the stream. No callback is called afterwards. */
  close(): void {
    document.removeEventListener('visibilitychange', this.#onVisibility);
    this.#closing.abort();
    this.#drop();
  }

  readonly #onVisibility = (): void => {
    if (hidden()) {
      this.#drop();
      this.#pollHidden();
    } else if (!this.#source) {
      this.#open();
    }
  };

  #pollHidden(): void {
    this.#timer = setTimeout(() => {
      void this.#askHidden();
    }, HIDDEN_POLL_MS);
  }

  async #askHidden(): Promise<void> {
    // An unreachable server is polled like one without news.
    const wanted = await this.#reader.wanted?.().catch(() => false);
    if (this.#closing.signal.aborted || this.#source) {
      return;
    }
    if (wanted) {
      this.#open();
    } else if (hidden()) {
      this.#pollHidden();
    }
  }

  #open(): void {
    this.#drop();
    const source = new EventSource(this.#reader.url(this.#lastEventId));
    this.#source = source;
    source.onopen = () => {
      this.#watch();
      this.#reader.onOpen();
    };
    source.onerror = () => {
      this.#reader.onLost();
      if (source.readyState === EventSource.CLOSED) {
        void this.#askWhy();
      }
    };
    const receive = (event: MessageEvent<string>) => {
      this.#failures = 0;
      this.#lastEventId = event.lastEventId || this.#lastEventId;
      this.#watch();
      if (event.type === 'HEARTBEAT' && hidden()) {
        // Everything stored has arrived, which is all that a hidden page needs.
        this.#drop();
        this.#pollHidden();
      }
      this.#reader.onEvent(event.data);
    };
    for (const type of this.#reader.types) {
      source.addEventListener(type, receive);
    }
  }

  #drop(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }

  /** Reconnects after a long silence. */
  #watch(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#reader.onLost();
      this.#open();
    }, SILENCE_MS);
  }

  async #askWhy(): Promise<void> {
    this.#drop();
    const asking = new AbortController();
    try {
      const response = await fetch(this.#reader.url(this.#lastEventId), {
        headers: { Accept: 'text/event-stream' },
        signal: AbortSignal.any([asking.signal, this.#closing.signal]),
      });
      if (response.status === 204) {
        this.close();
        this.#reader.onEnd(null);
        return;
      }
      if (!response.ok) {
        const error = refusal(response, await response.json().catch(() => null));
        if (!error.passing) {
          this.close();
          this.#reader.onEnd(error);
          return;
        }
      }
    } catch {
      // The server is unreachable, or the stream was closed: #later checks which.
    } finally {
      asking.abort();
    }
    this.#later();
  }

  #later(): void {
    if (this.#closing.signal.aborted || this.#source) {
      return;
    }
    const delay = Math.min(FIRST_DELAY_MS * 2 ** this.#failures, LONGEST_DELAY_MS);
    this.#failures += 1;
    this.#timer = setTimeout(
      () => {
        this.#open();
      },
      delay * (0.5 + Math.random() / 2),
    );
  }
}
