import { expect, test } from 'vitest';
import { problemsOf } from './check';
import { Guide } from './guide';
import { overlay } from './overlay';

const schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  required: ['host'],
  additionalProperties: false,
  properties: {
    host: { $ref: '#/definitions/name' },
    replicas: { type: 'integer', minimum: 0 },
    policy: { enum: ['Always', 'Never'] },
    limit: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    password: { type: 'string', maxLength: 12 },
    rows: { type: 'array', items: { type: 'object', properties: { port: { type: 'integer' } } } },
  },
  definitions: { name: { type: 'string', pattern: '^[a-z]+$' } },
};

const check = (text: string, values = 'host: web\nreplicas: 1\n') =>
  problemsOf(text, new Guide({ schema, values })).map(({ from, to, rule, allowed }) => [text.slice(from, to), rule, allowed]);

test.each([
  ['', []],
  ['replicas: 3', []],
  ['replicas: many', [['replicas: many', 'type', 'integer']]],
  ['replicas: -1', [['replicas: -1', 'minimum', '0']]],
  ['policy: Sometimes', [['policy: Sometimes', 'enum', '"Always", "Never"']]],
  ['limit: 3', [['limit: 3', 'type', 'string, null']]],
  ['host: UPPER', [['host: UPPER', 'pattern', '^[a-z]+$']]],
  ['replica: 3', [['replica: 3', 'false', undefined]]],
  ['host: null', [['', 'required', 'host']]],
  ['rows:\n  - port: x', [['port: x', 'type', 'integer']]],
  ['password: «masked:0a8397710e131210»', []],
  ['- a', [['- a', 'mapping', undefined]]],
])('%j is validated with the chart’s defaults', (text, want) => {
  expect(check(text)).toEqual(want);
});

test('a key missing from the defaults is reported at the top', () => {
  expect(check('replicas: 2', '')).toEqual([['', 'required', 'host']]);
});

test('invalid YAML is reported first', () => {
  expect(check('replicas: [').map(([, rule]) => rule)).toEqual(['yaml']);
});

test.each([
  ['text: 2026-11-30', []],
  ['text: 12:30', []],
  ['text: yes', [['text: yes', 'type', 'string']]],
  ['text: 0777', [['text: 0777', 'type', 'string']]],
])('%j is parsed as Helm parses it', (text, want) => {
  const guide = new Guide({ schema: { properties: { text: { type: 'string' } } }, values: '' });
  expect(problemsOf(text, guide).map(({ from, to, rule, allowed }) => [text.slice(from, to), rule, allowed])).toEqual(want);
});

test('an unusable schema reports nothing', () => {
  expect(problemsOf('a: 1', new Guide({ schema: { $ref: 'https://elsewhere.example/schema.json' }, values: '' }))).toEqual([]);
});

test('values are merged into the defaults as Helm does it', () => {
  expect(overlay({ a: { b: 1, c: 2 }, d: [1], e: 1 }, { a: { b: 3 }, d: [2], e: null, f: 4 })).toEqual({ a: { b: 3, c: 2 }, d: [2], f: 4 });
});
