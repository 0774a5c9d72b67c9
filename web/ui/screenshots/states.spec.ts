import type { Schemas } from '../src/api/client';
import { ApiProxy } from '../tests/apiproxy';
import { Cable } from '../tests/cable';
import { account, allow, deadKubeconfig, makeNamespace } from '../tests/cluster';
import { CHART, clusterId, completed, expect, helm, install, logLines, newNamespace, statusTag, test } from '../tests/helmtrail';
import { Server } from '../tests/server';
import { shoot } from './camera';

const kubeconfig = () => process.env['KUBECONFIG'] ?? '';

test('log in, a missing right, a cluster that is away, all clusters', async ({ page }) => {
  const namespace = newNamespace();
  await makeNamespace(namespace);
  const { token } = await account(namespace, 'alice');
  await allow(namespace, 'alice', [{ apiGroups: ['helmtrail.dev'], resources: ['releases'], verbs: ['get', 'list'] }]);
  const dead = `gone=${await deadKubeconfig(test.info().outputPath('gone'))}`;
  const guarded = await Server.start(kubeconfig(), '--auth', 'kubernetes', '--cluster', dead);
  try {
    await page.goto(`${guarded.url}/helm/releases/dev/payments`);
    await expect(page.getByRole('heading', { name: 'Log in' })).toBeVisible();
    await shoot(page, 'login');
    await page.getByLabel('Token').fill('pasted-in-part');
    await page.getByRole('button', { name: 'Log in' }).click();
    await expect(page.getByRole('heading', { name: 'The token was rejected' })).toBeVisible();
    await shoot(page, 'login-refused');
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Log in' }).click();
    await expect(page.getByText('kubectl create rolebinding')).toBeVisible();
    await shoot(page, 'forbidden');
    await page.getByRole('button', { name: /^Logged in as/ }).click();
    await shoot(page, 'account');
  } finally {
    await guarded.stop();
  }
  const open = await Server.start(kubeconfig(), '--cluster', dead);
  try {
    await page.goto(`${open.url}/helm/releases/gone`);
    await expect(page.getByText('This page tries again every ten seconds.')).toBeVisible();
    await shoot(page, 'unreachable');
    await page.goto(`${open.url}/helm/releases`);
    await expect(page.getByRole('heading', { name: 'gone: Cannot reach the cluster' })).toBeVisible();
    await shoot(page, 'releases-all');
  } finally {
    await open.stop();
  }
});

test('events: tried again, lost, nothing runs', async ({ page, playwright, request }) => {
  const proxy = await ApiProxy.start(test.info().outputPath('proxied'));
  const server = await Server.start(proxy.kubeconfig);
  const api = await playwright.request.newContext({ baseURL: server.url });
  try {
    const namespace = newNamespace();
    for (let i = 0; i < 3; i++) {
      proxy.refuse('POST', `/namespaces/${namespace}/secrets`);
    }
    await page.goto(server.url + (await install(api, { namespace, name: 'raced', options: { retries: 3 } })));
    await expect(logLines(page, 'RETRYING')).toHaveCount(3);
    await shoot(page, 'events-retrying');
  } finally {
    await api.dispose();
    await server.stop();
    proxy.stop();
  }

  const cable = await Cable.lay();
  try {
    await page.clock.install();
    const namespace = newNamespace();
    const watched = await install(request, { namespace, name: 'far-away', values: { delay: '10s' } });
    await page.goto(cable.url + watched);
    await expect(logLines(page, 'LOG').first()).toBeVisible();
    cable.pullOut();
    await expect(statusTag(page)).toHaveText('Connecting');
    await shoot(page, 'events-connecting');
    await page.clock.fastForward(61_000);
    await expect(statusTag(page)).toHaveText('Failed (connection lost)');
    await shoot(page, 'events-lost');
    await completed(request, watched);
    await page.goto(watched.split('?')[0] ?? '');
    await expect(page.getByRole('heading', { name: /^No active session found/ })).toBeVisible();
    await shoot(page, 'events-none');
  } finally {
    cable.remove();
  }
});

test('events: past the timeout, and run by hand', async ({ page, request }) => {
  const namespace = newNamespace();
  await page.goto(await install(request, { namespace, name: 'late', values: { delay: '30s' }, options: { timeoutSeconds: 60, deadlineSeconds: 120 } }));
  await expect(statusTag(page)).toHaveText('Connected');
  const byHand = helm('install', 'by-hand', CHART, '--namespace', namespace, '--create-namespace', '--set', 'tag=slow', '--wait');
  await page.goto(`/helm/releases/${await clusterId(request)}/${namespace}`);
  await page.getByRole('link', { name: 'Watch the operation running on by-hand' }).click();
  await expect(page.getByRole('heading', { name: 'This operation was started outside helmtrail' })).toBeVisible();
  await expect(page.getByRole('row').filter({ hasText: 'Deployment' })).toBeVisible();
  await shoot(page, 'events-outside');
  await byHand;
});

test('a namespace without releases', async ({ page, request }) => {
  await page.goto(`/helm/releases/${await clusterId(request)}/payments`);
  await expect(page.getByRole('heading', { name: 'No releases yet' })).toBeVisible();
  await shoot(page, 'releases-empty');
});

test('a revision, its secrets revealed', async ({ page, request }) => {
  const namespace = newNamespace();
  await completed(request, await install(request, { namespace, name: 'vault', values: { password: 'correct horse', replicas: 2 } }));
  await page.goto(`/helm/releases/${await clusterId(request)}/${namespace}/vault?tab=revisions`);
  await page.getByRole('button', { name: 'View revision 1' }).click();
  await expect(page.getByRole('textbox', { name: 'Values' })).toContainText('masked');
  await shoot(page, 'revision');
  await page.getByRole('button', { name: 'Reveal secrets' }).click();
  await shoot(page, 'revision-reveal');
});

test.describe('narrow, in Chinese', () => {
  test.use({ locale: 'zh-CN', viewport: { width: 420, height: 900 } });

  test('the pages', async ({ page, request }) => {
    const cluster = await clusterId(request);
    const namespace = newNamespace();
    const watched = await install(request, { namespace, name: 'shop', values: { image: { tag: 'doesnotexist' } }, options: { timeoutSeconds: 60 } });
    await page.goto(watched);
    await expect(page.getByRole('heading', { name: '无法自行恢复' })).toBeVisible();
    await shoot(page, 'events-narrow-zh');
    const session = new URL(watched, 'http://localhost').searchParams.get('sessionId');
    await request.post(`/${cluster}/namespaces/${namespace}/releases/shop/sessions/${session}/cancel`, { data: {} satisfies Schemas['CancelRequest'] });
    await page.goto(`/helm/releases/${cluster}/${namespace}/shop`);
    await expect(page.getByRole('tab').first()).toBeVisible();
    await shoot(page, 'release-narrow-zh');
    await page.goto(`/helm/releases/${cluster}/${namespace}`);
    await expect(page.getByRole('row').filter({ hasText: 'shop' })).toBeVisible();
    await shoot(page, 'releases-narrow-zh');
  });
});
