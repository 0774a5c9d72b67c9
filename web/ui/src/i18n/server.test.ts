import { expect, test } from 'vitest';
import { server } from './zh/server';

test('what Kubernetes says stays as it is', () => {
  expect(server.note({ code: 'applyRefused', detail: 'Deployment.apps "web" is invalid' })).toBe('API 服务器拒绝应用该对象：Deployment.apps "web" is invalid');
  expect(server.note(undefined)).toBeNull();
  expect(server.status('CrashLoopBackOff')).toBe('CrashLoopBackOff');
  expect(server.conflict({ field: '.spec.replicas', detail: 'conflict with "kubectl"', warning: '' })).toContain('conflict with "kubectl"（.spec.replicas）');
});

test('a note names the kind of its object', () => {
  expect(server.note({ code: 'unknownKind' }, { kind: 'Widget', apiVersion: 'example.com/v1' })).toBe('集群中没有该类型：example.com/v1 Widget');
  expect(server.why({ status: 'Unknown', reason: 'UnknownKind', kind: 'Widget', apiVersion: 'example.com/v1' })).toBe('集群中没有该类型：example.com/v1 Widget');
});

test("a row's own reason is translated, the cluster's stays", () => {
  const job = { kind: 'Job', apiVersion: 'batch/v1' };
  expect(server.why({ ...job, status: 'Completed', reason: 'RemovedByTTL' })).toBe('它已完成，并在 ttlSecondsAfterFinished 之后被移除');
  expect(server.why({ ...job, status: 'Failed', reason: 'RemovedByTTL' })).toBeNull();
  expect(server.why({ ...job, status: 'Failed', reason: 'BackoffLimitExceeded' })).toBeNull();
  expect(server.why({ kind: 'StatefulSet', apiVersion: 'apps/v1', status: 'Ready', reason: 'OnDelete' })).toContain('仅在被删除后才会更新');
});

test('a code of a later server has no translation', () => {
  expect(server.note({ code: 'later' as 'kept' })).toBeNull();
  expect(server.retry('later' as 'quota')).toBeNull();
});

test('a cause is translated by its parts', () => {
  const pod = { kind: 'Pod', namespace: 'shop', name: 'web-1' };
  const container = { object: pod, container: 'web', role: 'main' } as const;
  expect(server.cause({ ...container, problem: 'imageNotPulled', reason: 'ErrImagePull', image: 'web:2', detail: 'not found' })).toBe(
    'Pod web-1 的容器 web 无法拉取镜像 web:2：not found',
  );
  expect(server.cause({ ...container, role: 'init', problem: 'crashing', reason: 'CrashLoopBackOff', exit: '1 (Error)' })).toBe('Pod web-1 的初始化容器 web 不断崩溃，退出码 1 (Error)');
  expect(server.cause({ object: pod, problem: 'notReady', reason: 'NotReady' })).toBe('Pod web-1 未就绪');
  const job = { kind: 'Job', namespace: 'shop', name: 'hook' };
  expect(server.cause({ object: job, problem: 'failed', reason: 'BackoffLimitExceeded', because: { ...container, problem: 'exited', reason: 'Error', exit: '2 (Error)' } })).toBe(
    'Job hook 已失败（BackoffLimitExceeded）。Pod web-1 的容器 web 已失败，退出码 2 (Error)',
  );
  expect(server.cause({ ...container, count: 2, problem: 'imageNotPulled', reason: 'ErrImagePull', image: 'web:2', detail: 'not found' })).toBe(
    'Pod web-1 等 2 个 Pod 的容器 web 无法拉取镜像 web:2：not found',
  );
  // Causes stored by earlier versions have no parts.
  expect(server.cause({ object: pod, reason: 'Failed' })).toBeNull();
});
