import { expect, test } from 'vitest';
import type { Release } from '../../api/releases';
import { readFilter, select, writeFilter, type Sort } from './filter';

const release = (namespace: string, name: string, more: Partial<Release> = {}): Release => ({
  cluster: 'c',
  namespace,
  name,
  revision: 1,
  status: 'deployed',
  description: '',
  chart: 'web',
  chartVersion: '1.0.0',
  appVersion: '',
  updated: '2026-11-30T12:00:00Z',
  stuck: null,
  session: null,
  ...more,
});

const all = [
  release('b', 'shop', { status: 'failed', updated: '2026-11-30T13:00:00Z' }),
  release('a', 'shop', { chart: 'Postgres' }),
  release('a', 'blog', { updated: '2026-11-29T12:00:00Z' }),
];

const byNamespace: Sort = { key: 'namespace', descending: false };
const found = (text: string, statuses: string[] = [], sort = byNamespace) =>
  select(all, { text, statuses }, sort).map(({ namespace, name }) => `${namespace}/${name}`);

test('without a filter all are shown, by namespace and name', () => {
  expect(found('')).toEqual(['a/blog', 'a/shop', 'b/shop']);
});

test('text matches name, namespace and chart case-insensitively', () => {
  expect(found('SHOP')).toEqual(['a/shop', 'b/shop']);
  expect(found(' postgres ')).toEqual(['a/shop']);
  expect(found('b')).toEqual(['a/blog', 'b/shop']);
  expect(found('nothing')).toEqual([]);
});

test('statuses are alternatives, and narrow the text', () => {
  expect(found('', ['failed'])).toEqual(['b/shop']);
  expect(found('', ['failed', 'deployed'])).toHaveLength(3);
  expect(found('blog', ['failed'])).toEqual([]);
});

test('sorts in both directions, and ties by namespace and name', () => {
  expect(found('', [], { key: 'updated', descending: true })).toEqual(['b/shop', 'a/shop', 'a/blog']);
  expect(found('', [], { key: 'name', descending: false })).toEqual(['a/blog', 'a/shop', 'b/shop']);
});

test('a filter survives the URL and keeps other parameters', () => {
  const filter = { text: 'a&b=c', statuses: ['failed', 'pending-install'] };
  const search = writeFilter(new URLSearchParams('x=1'), filter);
  expect(readFilter(new URLSearchParams(search.toString()))).toEqual(filter);
  expect(search.get('x')).toBe('1');
  expect(writeFilter(search, { text: '', statuses: [] }).toString()).toBe('x=1');
});
