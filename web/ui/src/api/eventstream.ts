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
}

/** Heartbeats come every few seconds; a longer silence is a connection that died without a word. */
const SILENCE_MS = 30_000;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 15_000;

/**
 * Reads server-sent events until it is closed. The browser's EventSource
 * reconnects by itself only while the server cannot be reached; it gives up for
 * ever, and does not say why, on any answer but a stream. Then this class asks
 * for the reason and goes on, or tells the reader that it is final.
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
    this.#open();
  }

  /** Ends the stream; the reader is told nothing more. */
  close(): void {
    this.#closing.abort();
    this.#drop();
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
        this.#reader.onEnd(null);
        return;
      }
      if (!response.ok) {
        const error = refusal(response, await response.json().catch(() => null));
        if (!error.passing) {
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
    if (this.#closing.signal.aborted) {
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
