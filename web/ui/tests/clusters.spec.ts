import { expectAccessible } from './axe';
import { deadKubeconfig } from './cluster';
import { CHART, expect, helm, newNamespace, test } from './helmtrail';
import { Server } from './server';

let server: Server;

test.beforeAll(async () => {
  server = await Server.start(process.env['KUBECONFIG'] ?? '', '--cluster', `gone=${await deadKubeconfig(test.info().outputPath('gone'))}`);
});

test.afterAll(() => server.stop());

test('the releases of all clusters are one list, and an unreachable cluster is named', async ({ page }) => {
  const namespace = newNamespace();
  await helm('install', 'shop', CHART, '--namespace', namespace, '--create-namespace');
  await page.goto(`${server.url}/helm/releases?q=${namespace}`);
  await expect(page.getByRole('heading', { level: 1, name: 'Releases of all clusters' })).toBeVisible();
  const row = page.getByRole('row').filter({ hasText: namespace });
  await expect(row.getByRole('gridcell')).toContainText(['shop', 'dev', namespace, 'Deployed']);
  await expect(page.getByRole('heading', { name: 'gone: Cannot reach the cluster' })).toBeVisible();
  await expectAccessible(page);
  await helm('uninstall', 'shop', '--namespace', namespace);
  await expect(row).toHaveCount(0);

  await page.getByRole('button', { name: 'Cluster', exact: true }).click();
  await page.getByRole('option', { name: 'gone' }).click();
  await expect(page).toHaveURL(`${server.url}/helm/releases/gone`);
});

test('the page of an unreachable cluster says what to do and links to the others', async ({ page }) => {
  await page.goto(`${server.url}/helm/releases/gone`);
  await expect(page.getByRole('heading', { level: 1, name: 'Cannot reach the cluster' })).toBeVisible();
  await expect(page.getByText('connection refused')).toBeVisible();
  await expect(page.getByText('Check that the API server is running')).toBeVisible();
  await expect(page.getByText('This page tries again every ten seconds.')).toBeVisible();
  await expectAccessible(page);
  const again = page.waitForRequest('**/gone/releases?*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await again;
  await page.getByRole('link', { name: 'All clusters' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Releases of all clusters' })).toBeVisible();
});

test.describe('in Chinese', () => {
  test.use({ locale: 'zh-CN' });

  test('the list of all clusters is translated', async ({ page }) => {
    await page.goto(`${server.url}/helm/releases/gone`);
    await expect(page.getByRole('heading', { level: 1, name: '无法连接集群' })).toBeVisible();
    await page.getByRole('link', { name: '所有集群' }).click();
    await expect(page.getByRole('heading', { level: 1, name: '所有集群的 Releases' })).toBeVisible();
  });
});
