import { expect, test } from 'vitest';
import { parseUnified, sideBySide } from './unified';

const DIFF = `--- a
+++ b
@@ -1,3 +1,3 @@
 kind: Deployment
-replicas: 1
+replicas: 2
 end
@@ -9,2 +9,3 @@
 x: 1
+y: 2
`;

test('lines have numbers, and gaps between hunks are folds', () => {
  expect(parseUnified(DIFF)).toEqual([
    { kind: 'same', text: 'kind: Deployment', before: 1, after: 1 },
    { kind: 'removed', text: 'replicas: 1', before: 2 },
    { kind: 'added', text: 'replicas: 2', after: 2 },
    { kind: 'same', text: 'end', before: 3, after: 3 },
    { kind: 'fold', text: '' },
    { kind: 'same', text: 'x: 1', before: 9, after: 9 },
    { kind: 'added', text: 'y: 2', after: 10 },
  ]);
});

test('a removed line that looks like a header is a line', () => {
  expect(parseUnified('@@ -1 +1 @@\n--- a\n+++ b').map(({ kind, text }) => [kind, text])).toEqual([
    ['removed', '-- a'],
    ['added', '++ b'],
  ]);
});

test('side by side, lines are beside those that they replace', () => {
  expect(sideBySide(parseUnified(DIFF)).map((pair) => pair.map((line) => line?.text ?? null))).toEqual([
    ['kind: Deployment', 'kind: Deployment'],
    ['replicas: 1', 'replicas: 2'],
    ['end', 'end'],
    ['', ''],
    ['x: 1', 'x: 1'],
    [null, 'y: 2'],
  ]);
});
