import { expect, test } from 'vitest';
import { keyAt, placeAt } from './place';

/** The text up to the cursor. */
const at = (text: string) => placeAt(text.split('\n'));

test.each([
  ['', 'key', [], '', 0],
  ['rep', 'key', [], 'rep', 0],
  ['replicas:', 'key', [], 'replicas:', 0],
  ['replicas: ', 'value', ['replicas'], '', 0],
  ['replicas: 1\nima', 'key', [], 'ima', 0],
  ['image:\n  ta', 'key', ['image'], 'ta', 2],
  ['image:\n  tag: sl', 'value', ['image', 'tag'], 'sl', 2],
  ['image:\n  tag: x\nrep', 'key', [], 'rep', 0],
  ['a:\n  # of b\n\n  b:\n    c', 'key', ['a', 'b'], 'c', 4],
  ['"a.b":\n  c', 'key', ['a.b'], 'c', 2],
  ["it's: 1\n'it''s':\n  c", 'key', ["it's"], 'c', 2],
  ['hosts:\n  - na', 'key', ['hosts', null], 'na', 4],
  ['hosts:\n- na', 'key', ['hosts', null], 'na', 2],
  ['hosts:\n- name: x\n  po', 'key', ['hosts', null], 'po', 2],
  ['hosts:\n- name: x\n- name: y\n  port: ', 'value', ['hosts', null, 'port'], '', 2],
  ['hosts:\n- paths:\n  - pa', 'key', ['hosts', null, 'paths', null], 'pa', 4],
  ['rows:\n- - a', 'key', ['rows', null, null], 'a', 4],
  ['hosts:\n- name: x\nrep', 'key', [], 'rep', 0],
])('%j is written at a %s of %j', (text, kind, path, word, indent) => {
  expect(at(text)).toEqual({ kind, path, word, indent });
});

test.each(['# rep', 'a: 1 # rep', 'text: |\n  rep', 'a: {re', 'a: [', 'a: *re', 'script: >-\n  one\n  two'])('%j is no place', (text) => {
  expect(at(text)).toBeNull();
});

test('a key is identified by its full path', () => {
  expect(keyAt(['image:', '  tag: slow'])).toEqual(['image', 'tag']);
  expect(keyAt(['hosts:', '  - name: x'])).toEqual(['hosts', null, 'name']);
  expect(keyAt(['hosts:', '  - x'])).toBeNull();
});
