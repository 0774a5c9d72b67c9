import { ApiError, refusal } from './client';

/** What a reader of an EventStream is told. */
export interface StreamReader {
  /** The address to ask, for what comes after `lastEventId` ("" before the first event). */
  url: (lastEventId: string) => string;
  /** The event types to listen for. */
  types: readonly string[];
  /** The stream is there, for the first time or again. */
  onOpen: () => void;
  /** The stream is away. It is tried again without end. */
  onLost: () => void;
  onEvent: (data: string) => void;
  /** The server will send nothing more: it said so, or it refused. There is no further call. */
  onEnd: (refused: ApiError | null) => void;
  /** Asked now and then while the page is hidden: whether there is something for which the stream must be read all the same. */
  wanted?: () => Promise<boolean>;
}

/** Heartbeats come every few seconds; a longer silence is a connection that died without a word. */
const SILENCE_MS = 30_000;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 15_000;

/** How often a hidden page asks whether its stream is wanted. */
const HIDDEN_POLL_MS = 5000;

const hidden = () => document.visibilityState === 'hidden';

/**
 * Reads server-sent events until it is closed. The browser's EventSource
 * reconnects by itself only while the server cannot be reached; it gives up for
 * ever, and does not say why, on any answer but a stream. Then this class asks
 * for the reason and goes on, or tells the reader that it is final.
 *
 * A browser keeps six connections to a server over HTTP/1.1, those of all its
 * tabs together. So a hidden page gives its stream up, and goes on where it was
 * once it is seen again.
 */
export class EventStream {
  #reader: StreamReader;
  #source: EventSource | null = null;
  #lastEventId = '';
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closing = new AbortController();

  /** Starts reading at once. */
  constructor(reader: StreamReader) {
    this.#reader = reader;
    document.addEventListener('visibilitychange', this.#onVisibility);
    if (hidden()) {
      void this.#askHidden();
    } else {
      this.#open();
    }
  }

  /** Tries at once instead of waiting for the next attempt. */
  retry(): void {
    this.#failures = 0;
    this.#open();
  }

  /** Ends the stream; the reader is told nothing more. */
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
    // A server that is away is asked again like one that has nothing new.
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
        // All that was stored has come, which is what a hidden page wanted.
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

  /** Opens the stream anew when nothing has come for too long. */
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
      // The server is away, or the reader has left: #later knows which.
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
