import { afterEach, expect, test, vi } from 'vitest';
import { readLines } from './readLines';

vi.mock('../api/base', () => ({ base: '', address: (...path: string[]) => `/${path.join('/')}` }));

afterEach(() => {
  vi.unstubAllGlobals();
});

const common = { time: '2026-11-30T12:00:00.000Z', sessionId: 's1', elapsedSeconds: 1 };

test('an event of an unknown type is skipped, and the lines after it are read', async () => {
  const events = [
    { ...common, seq: 1, type: 'LOG', line: 'before' },
    { ...common, seq: 2, type: 'FROM_A_LATER_SERVER', anything: { nested: true } },
    { ...common, seq: 3, type: 'LOG', line: 'after' },
    { ...common, type: 'HEARTBEAT', timeoutSeconds: null, deadlineSeconds: null, phase: 'running' },
  ];
  const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(body)));
  const lines: string[] = [];
  for await (const some of readLines({ cluster: 'c', namespace: 'ns', name: 'demo', sessionId: 's1' })) {
    lines.push(...some.map((line) => (line.type === 'LOG' ? line.line : line.type)));
  }
  expect(lines).toEqual(['before', 'after']);
});
