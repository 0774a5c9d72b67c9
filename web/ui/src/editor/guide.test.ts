import { expect, test } from 'vitest';
import { Guide } from './guide';

const values = `# Everything.

# How many there are.
replicas: 1
image:
  # -- Which one.
  tag: "1.0"
  pull: Always
hosts: []
`;

const bare = new Guide({ schema: null, values });

test('without a schema the defaults are suggested with their comments', () => {
  expect(bare.keys([]).map(({ text, holds }) => [text, holds])).toEqual([
    ['replicas', undefined],
    ['image', 'mapping'],
    ['hosts', 'list'],
  ]);
  expect(bare.keys(['image'])).toEqual([
    { text: 'tag', detail: '"1.0"', description: 'Which one.', holds: undefined },
    { text: 'pull', detail: 'Always', description: undefined, holds: undefined },
  ]);
  expect(bare.describe(['replicas'])).toBe('How many there are.');
  expect(bare.values(['image', 'tag'])).toEqual([{ text: '"1.0"' }]);
});

const told = new Guide({
  schema: {
    properties: {
      policy: { enum: ['Always', 'Never', 'on'], description: 'When.' },
      image: { $ref: '#/$defs/image' },
      debug: { type: 'boolean' },
      hosts: { type: 'array', items: { properties: { name: { type: 'string', examples: ['a.example'] } } } },
      labels: { additionalProperties: { type: 'string', description: 'A label.' } },
    },
    $defs: { image: { type: 'object', allOf: [{ properties: { digest: { type: ['string', 'null'] } } }, { $ref: '#/$defs/image' }] } },
  },
  values,
});

test('a schema provides keys and values, including references and lists', () => {
  expect(told.keys([]).map(({ text, holds }) => [text, holds])).toEqual([
    ['policy', 'choice'],
    ['image', 'mapping'],
    ['debug', 'choice'],
    ['hosts', 'list'],
    ['labels', undefined],
    ['replicas', undefined],
  ]);
  expect(told.keys(['image']).map(({ text, detail }) => [text, detail])).toEqual([
    ['digest', 'string, null'],
    ['tag', '"1.0"'],
    ['pull', 'Always'],
  ]);
  expect(told.values(['policy']).map(({ text }) => text)).toEqual(['Always', 'Never', '"on"']);
  expect(told.values(['debug']).map(({ text }) => text)).toEqual(['true', 'false']);
  expect(told.values(['hosts', null, 'name'])).toEqual([{ text: 'a.example' }]);
  expect(told.describe(['policy'])).toBe('When.');
  expect(told.describe(['labels', 'tier'])).toBe('A label.');
});
