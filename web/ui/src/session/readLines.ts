import { address } from '../api/base';
import { refusal } from '../api/client';
import { isEnd, type SessionEvent } from './events';
import type { SessionRef } from './SessionFollower';
import { advance, LINES_KEPT, NOTHING, type Line } from './state';

/**
 * Reads all current lines of a session's log in batches, oldest first. Throws an
 * ApiError if the server refuses.
 */
export async function* readLines({ cluster, namespace, name, sessionId }: SessionRef): AsyncGenerator<readonly Line[]> {
  const leaving = new AbortController();
  const events = address(cluster, 'namespaces', namespace, 'releases', name, 'events');
  const response = await fetch(`${events}?sessionId=${encodeURIComponent(sessionId ?? '')}`, {
    headers: { Accept: 'text/event-stream' },
    signal: leaving.signal,
  });
  if (!response.ok || !response.body) {
    throw refusal(response, await response.json().catch(() => null));
  }
  try {
    let state = NOTHING;
    for await (const events of readEvents(response.body)) {
      for (let i = 0; i < events.length; i += LINES_KEPT) {
        const before = state.linesSeen;
        state = advance(
          state,
          events.slice(i, i + LINES_KEPT).map((event) => ({ event, at: 0 })),
        );
        const added = state.linesSeen - before;
        if (added > 0) {
          yield state.lines.slice(-added);
        }
      }
      // The first heartbeat follows the last stored event.
      if (events.some((event) => event.type === 'HEARTBEAT' || isEnd(event))) {
        return;
      }
    }
  } finally {
    leaving.abort();
  }
}

/** Parses the frames of a stream of server-sent events, in the batches in which they arrive. */
async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<SessionEvent[]> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    const frames = (rest + chunk.value).split('\n\n');
    rest = frames.pop() ?? '';
    yield frames.flatMap((frame) => {
      const data = /^data: ?(.*)$/m.exec(frame)?.[1];
      return data === undefined ? [] : [JSON.parse(data) as SessionEvent];
    });
  }
}
