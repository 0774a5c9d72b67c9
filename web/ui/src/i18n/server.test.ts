import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { sentences, server } from './zh/server';

const root = path.join(import.meta.dirname, '../../../..');

/** The sources of a Go package. */
function sources(folder: string): string {
  const files = readdirSync(path.join(root, folder)).filter((file) => file.endsWith('.go') && !file.endsWith('_test.go'));
  return files.map((file) => readFileSync(path.join(root, folder, file), 'utf8')).join('\n');
}

test('the sentences that are translated are those that the server says', () => {
  const said = ['stream', 'informer/drift', 'informer/resources'].map(sources).join('\n');
  for (const [{ source: pattern }] of sentences) {
    const fixed = pattern.replace(/^\^|\$$/g, '').split(/\([^)]*\)/).map((text) => text.replaceAll('\\', ''));
    for (const text of fixed) {
      expect(said.includes(text), text).toBe(true);
    }
  }
});

test('every reason to try again is translated', () => {
  const reasons = [...sources('stream').matchAll(/^\t\{"[^"]+", "([^"]+)"\},$/gm)].map(([, reason = '']) => reason);
  expect(reasons.length).toBeGreaterThan(5);
  expect(reasons.filter((reason) => server.sentence(reason) === null)).toEqual([]);
});

test('what Kubernetes says in a sentence stays as it is', () => {
  expect(server.sentence('the API server refuses to apply it: Deployment.apps "web" is invalid')).toBe('API 服务器拒绝应用该对象：Deployment.apps "web" is invalid');
  expect(server.sentence('Deployment.apps "web" is invalid')).toBeNull();
  expect(server.status('CrashLoopBackOff')).toBe('CrashLoopBackOff');
});

test('a cause is told by its parts', () => {
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
