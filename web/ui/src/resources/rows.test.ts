import { expect, test } from 'vitest';
import { resourceKey, type Resource } from '../session/events';
import { disagreements, withOwners } from './rows';

const resource = (kind: string, name: string, owner?: string): Resource => ({
  kind,
  apiVersion: kind === 'Pod' ? 'v1' : 'apps/v1',
  namespace: 'ns',
  name,
  status: 'Ready',
  ready: 0,
  total: 0,
  current: true,
  owner,
});

const rows = (...resources: Resource[]) =>
  withOwners(new Map(resources.map((r) => [resourceKey(r), r]))).map(({ resource: { name }, depth }) => `${'-'.repeat(depth)}${name}`);

test('a resource is below its owner, whatever the order', () => {
  expect(
    rows(
      resource('Pod', 'a-1', 'apps/Deployment/ns/a'),
      resource('Deployment', 'a'),
      resource('Deployment', 'b'),
      resource('Pod', 'a-2', 'apps/Deployment/ns/a'),
    ),
  ).toEqual(['a', '-a-1', '-a-2', 'b']);
});

test('no row is lost to an unknown owner, to itself as owner, or to a cycle', () => {
  expect(rows(resource('Pod', 'lonely', 'apps/Deployment/ns/gone'))).toEqual(['lonely']);
  expect(rows(resource('Pod', 'self', '/Pod/ns/self'))).toEqual(['self']);
  expect(rows(resource('Pod', 'x', '/Pod/ns/y'), resource('Pod', 'y', '/Pod/ns/x')).map((r) => r.replace(/^-+/, '')).sort()).toEqual(['x', 'y']);
});

test('only the versions of Helm that disagree are named, and both at once if they agree with each other', () => {
  expect(disagreements({ current: false })).toEqual([]);
  expect(disagreements({ current: false, helm: { helm3: 'ready', helm4: 'waits' } })).toEqual([{ helm: 'helm3', verdict: 'ready' }]);
  expect(disagreements({ current: true, helm: { helm3: 'ready', helm4: 'cannotJudge' } })).toEqual([{ helm: 'helm4', verdict: 'cannotJudge' }]);
  expect(disagreements({ current: false, helm: { helm3: 'ready', helm4: 'ready' } })).toEqual([{ helm: 'both', verdict: 'ready' }]);
});
