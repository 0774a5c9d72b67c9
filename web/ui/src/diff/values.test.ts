import { expect, test } from 'vitest';
import { valueChanges } from './values';

test('values differ by path', () => {
  const before = { replicas: 1, image: { tag: 'a', pull: 'Always' }, hosts: ['x', { name: 'y' }], old: { a: 1 }, same: [1, { b: 2, c: 3 }], 'a.b': 1 };
  const after = { image: { pull: 'Always', tag: 'b' }, replicas: 2, hosts: ['x', { name: 'z' }, 'w'], same: [1, { c: 3, b: 2 }], new: null, 'a.b': 2 };
  expect(valueChanges(before, after)).toEqual([
    { path: '["a.b"]', change: 'changed', from: 1, to: 2 },
    { path: 'hosts[1].name', change: 'changed', from: 'y', to: 'z' },
    { path: 'hosts[2]', change: 'added', from: null, to: 'w' },
    { path: 'image.tag', change: 'changed', from: 'a', to: 'b' },
    { path: 'new', change: 'added', from: null, to: null },
    { path: 'old', change: 'removed', from: { a: 1 }, to: null },
    { path: 'replicas', change: 'changed', from: 1, to: 2 },
  ]);
});
