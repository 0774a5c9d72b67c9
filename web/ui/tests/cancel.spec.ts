import { expectAccessible } from './axe';
import { clusterId, completed, expect, install, logLines, newNamespace, releaseRows, statusTag, test } from './helmtrail';
import type { Schemas } from '../src/api/client';

test('an install is canceled after a warning, and its remaining resources are listed', async ({ page, request }) => {
  await page.goto(await install(request, { namespace: newNamespace(), name: 'unwanted', values: { tag: 'doesnotexist' } }));

  // The cause appears at the top while the operation is running.
  const causes = page.locator('.pf-v6-c-alert').filter({ hasText: 'This will not recover by itself' });
  await expect(causes).toContainText('doesnotexist');
  await expect(page.getByRole('row').filter({ hasText: 'Pod' })).toContainText('ImagePullBackOff');
  await expectAccessible(page);

  await page.getByRole('button', { name: 'Cancel Operation', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Cancel the install of unwanted?' });
  await expect(dialog).toContainText('Resources that are already created stay in the cluster');
  await expect(dialog).not.toContainText('stuck');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Keep running' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(statusTag(page)).toHaveText('Connected');

  await page.getByRole('button', { name: 'Cancel Operation', exact: true }).click();
  await dialog.getByRole('button', { name: 'Cancel Operation' }).click();
  await expect(statusTag(page)).toHaveText('Canceled');
  await expect(page).toHaveTitle('Canceled: Install unwanted – helmtrail');
  await expect(page.getByRole('heading', { name: 'Install of unwanted was canceled' })).toBeVisible();
  await expect(page.getByRole('listitem').filter({ hasText: 'Deployment unwanted' })).toBeVisible();
  await expect(logLines(page).last()).toHaveAttribute('data-type', 'CANCELED');
  await expect(page.getByRole('button', { name: 'Cancel Operation', exact: true })).toHaveCount(0);
});

test('a slow cancellation can be forced', async ({ page, request }) => {
  const namespace = newNamespace();
  await completed(request, await install(request, { namespace, name: 'web', values: { tag: 'doesnotexist' }, options: { wait: false } }));
  // When canceled, this upgrade rolls back and waits for Pods that never get ready.
  const upgrade = await request.put(`/${await clusterId(request)}/namespaces/${namespace}/releases/web`, {
    data: { chart: { ref: 'web' }, values: { tag: 'doesnotexist', replicas: 2 }, options: { wait: true, rollbackOnFailure: true } },
  });
  await page.goto(((await upgrade.json()) as Schemas['Accepted']).page);
  await expect(page.getByRole('row').filter({ hasText: 'Deployment' })).toContainText('0/2');
  await page.getByRole('button', { name: 'Cancel Operation', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel Operation' }).click();
  await page.getByRole('button', { name: 'Force stop' }).click();
  const dialog = page.getByRole('dialog', { name: 'Force stop Helm?' });
  await expect(dialog).toContainText('the release stays pending and is stuck');
  await dialog.getByRole('button', { name: 'Force stop' }).click();
  await expect(statusTag(page)).toHaveText('Canceled');
  await expect(page.getByRole('button', { name: 'Force stop' })).toHaveCount(0);
});

test('a canceled rollback leaves the release stuck, and its page recovers it', async ({ page, request }) => {
  const namespace = newNamespace();
  const address = `/${await clusterId(request)}/namespaces/${namespace}/releases/web`;
  await completed(request, await install(request, { namespace, name: 'web', values: { tag: 'doesnotexist' }, options: { wait: false } }));
  const upgrade = await request.put(address, { data: { chart: { ref: 'web' }, options: { wait: false } } });
  await completed(request, ((await upgrade.json()) as Schemas['Accepted']).page);
  const rollback = await request.post(`${address}/rollback`, { data: { revision: 1, options: { wait: true } } });
  await page.goto(((await rollback.json()) as Schemas['Accepted']).page);

  await expect(logLines(page, 'RELEASE_STATUS').first()).toContainText('Pending rollback');
  await page.getByRole('button', { name: 'Cancel Operation', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Cancel the rollback of web?' });
  await expect(dialog).toContainText('web will be stuck');
  await dialog.getByRole('button', { name: 'Cancel Operation' }).click();
  await expect(statusTag(page)).toHaveText('Canceled');

  await page.getByRole('link', { name: 'Back to Releases' }).click();
  await page.getByRole('textbox', { name: 'Filter by name, namespace or chart' }).fill(namespace);
  await expect(releaseRows(page)).toContainText([/web.*Pending rollback.*Stuck/]);
  await page.getByRole('link', { name: 'web', exact: true }).click();
  await expect(page.getByRole('heading', { name: /Stuck in Pending rollback/ })).toBeVisible();
  // The page shows the resources and causes, too.
  await expect(page.locator('.pf-v6-c-alert').filter({ hasText: 'This will not recover by itself' })).toContainText('cannot pull its image web:doesnotexist');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Mark as failed' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Mark as failed' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Recover web' })).toBeVisible();
  await expect(statusTag(page)).toHaveText('Completed');
  await page.getByRole('link', { name: 'View Release' }).click();
  await expect(page.locator('h1 ~ .pf-v6-c-label')).toHaveText('Failed');
  await expect(page.getByRole('heading', { name: /Stuck/ })).toHaveCount(0);
});
