import { readFile } from 'node:fs/promises';
import type { Schemas } from '../src/api/client';
import { expectAccessible } from './axe';
import { kube } from './cluster';
import { editor } from './editing';
import { clusterId, completed, expect, helm, install, newNamespace, test } from './helmtrail';

test('the trail shows all transitions, including pruned revisions and former lineages', async ({ page, request }) => {
  test.slow();
  const cluster = await clusterId(request);
  const namespace = newNamespace();
  const address = `/${cluster}/namespaces/${namespace}/releases/lived`;
  await completed(request, await install(request, { namespace, name: 'lived', chart: 'settings', values: { level: 'debug' } }));
  const removed = await request.delete(address);
  await completed(request, ((await removed.json()) as Schemas['Accepted']).page);
  await completed(request, await install(request, { namespace, name: 'lived', chart: 'settings', values: { level: 'info' } }));
  // helm keeps the revision that it upgrades, so the second upgrade prunes the first revision.
  for (const text of ['once', 'twice']) {
    const data = { chart: { ref: 'settings' }, values: { level: 'warn', text }, options: { historyMax: 1 } };
    await completed(request, ((await (await request.put(address, { data })).json()) as Schemas['Accepted']).page);
  }

  await page.goto(`/helm/releases/${cluster}/${namespace}/lived?tab=trail`);
  const entries = page.getByRole('grid', { name: 'Trail' }).locator('tbody tr');
  await expect(entries.filter({ hasText: 'Pruned: deleted while newer revisions were kept' })).toHaveCount(1);
  await expect(entries.filter({ hasText: /Pending upgrade→Deployed/ })).toHaveCount(2);
  await expect(page.getByText(/Verified: all \d+ entries of the chain are intact$/)).toBeVisible();
  await page.getByRole('button', { name: 'Verify the chain' }).click();
  await expect(page.getByRole('button', { name: 'Verify the chain' })).toBeEnabled();
  await expect(page.getByText(/Verified: all \d+ entries of the chain are intact$/)).toBeVisible();
  await expectAccessible(page);

  // A pruned revision can still be read.
  await page.getByRole('button', { name: 'View revision 1' }).first().click();
  await expect(editor(page, 'Values')).toContainText('level: info');
  await page.getByRole('button', { name: 'Close' }).click();

  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export as NDJSON' }).click()]);
  expect(download.suggestedFilename()).toBe('lived-trail.ndjson');
  const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as Schemas['TrailEntry']).change)).toContain('pruned');

  const life = page.getByRole('combobox', { name: 'Lineage of the release' });
  await expect(entries.filter({ hasText: 'Uninstalled' })).toHaveCount(1);
  await life.selectOption({ index: 1 });
  await expect(entries.filter({ hasText: 'Uninstalled' })).toHaveCount(0);
  await life.selectOption({ index: 2 });
  await expect(entries.filter({ hasText: 'Uninstalled' })).toHaveCount(1);
  await expect(entries.filter({ hasText: 'Pruned' })).toHaveCount(0);
  await page.getByRole('button', { name: 'View revision 1' }).first().click();
  await expect(editor(page, 'Values')).toContainText('level: debug');
  await page.getByRole('button', { name: 'Close' }).click();

  await page.getByRole('tab', { name: 'Revisions' }).click();
  const pruned = page.getByRole('grid', { name: 'Revisions' }).locator('tbody tr').filter({ hasText: 'pruned, no longer in the cluster' });
  await expect(pruned.getByRole('button', { name: 'View revision 1' })).toBeVisible();
  await expect(pruned.getByRole('link', { name: 'Roll back to revision 1' })).toHaveCount(0);

  // A former lineage can be compared.
  await page.goto(`/helm/compare/${cluster}/${namespace}/lived`);
  await page.getByRole('combobox', { name: 'Lineage to compare with' }).selectOption({ index: 1 });
  await page.getByRole('combobox', { name: 'From', exact: true }).selectOption('1');
  await expect(page.getByRole('grid', { name: 'Values' }).locator('tbody tr')).toHaveText(['levelchangeddebugwarn', 'textadded–twice']);
  await expect(page.getByRole('combobox', { name: 'To', exact: true })).toContainText('no longer in the cluster');
});

test('drift shows which fields differ from the record, and who set them', async ({ page, request }) => {
  const cluster = await clusterId(request);
  const namespace = newNamespace();
  await completed(request, await install(request, { namespace, name: 'drifted', values: { configMaps: 2 } }));
  await page.goto(`/helm/releases/${cluster}/${namespace}/drifted`);
  await page.getByRole('tab', { name: 'Drift' }).click();
  await expect(page.getByText('No drift: the cluster matches revision 1')).toBeVisible();

  const deployment = `/apis/apps/v1/namespaces/${namespace}/deployments/drifted`;
  await kube('PATCH', `${deployment}?fieldManager=somebody`, { spec: { replicas: 3 } });
  await kube('DELETE', `/api/v1/namespaces/${namespace}/configmaps/drifted-1`);
  await page.getByRole('button', { name: 'Compare again' }).click();
  await expect(page.getByText('Drift detected: the cluster differs from revision 1')).toBeVisible();
  await expect(page.getByRole('button', { name: /^ConfigMap .*drifted-1 missing$/ })).toBeVisible();
  const fields = page.getByRole('grid', { name: /^Changed fields of Deployment / }).locator('tbody tr');
  await expect(fields).toHaveText(['spec.replicas13somebody']);
  await expect(page.getByRole('button', { name: '1 object matches the record' })).toBeVisible();
  await expectAccessible(page);
});

test('the trail of an uninstalled release remains readable', async ({ page, request }) => {
  const cluster = await clusterId(request);
  const namespace = newNamespace();
  await completed(request, await install(request, { namespace, name: 'past', chart: 'settings' }));
  await helm('uninstall', 'past', '--namespace', namespace);
  await page.goto(`/helm/releases/${cluster}/${namespace}/past`);
  await expect(page.getByRole('grid', { name: 'Trail' }).locator('tbody tr').filter({ hasText: 'Uninstalled' })).not.toHaveCount(0);
});

test.describe('in Chinese', () => {
  test.use({ locale: 'zh-CN' });

  test('trail and drift are translated', async ({ page, request }) => {
    const namespace = newNamespace();
    await completed(request, await install(request, { namespace, name: 'zh', chart: 'settings' }));
    await page.goto(`/helm/releases/${await clusterId(request)}/${namespace}/zh?tab=trail`);
    await expect(page.getByRole('grid', { name: '审计记录' })).toContainText('状态变化');
    await page.getByRole('tab', { name: '配置漂移' }).click();
    await expect(page.getByText('没有配置漂移：集群与 Revision 1 一致')).toBeVisible();
  });
});
