import { expectAccessible } from './axe';
import { editor, write } from './editing';
import { clusterId, completed, expect, install, newNamespace, statusTag, test } from './helmtrail';
import { program } from './programs';
import { Server } from './server';

test('a chart is installed from the form, upgraded, compared and rolled back', async ({ page, request }) => {
  // It runs three operations and looks at six pages.
  test.slow();
  const namespace = newNamespace();
  await page.goto(`/helm/releases/${await clusterId(request)}/${namespace}`);
  await page.getByRole('link', { name: 'Install' }).click();
  await page.getByRole('combobox', { name: 'Chart' }).selectOption('web');
  await expect(page.getByRole('textbox', { name: 'Release name' })).toHaveValue('web');
  await page.getByRole('textbox', { name: 'Release name' }).fill('Not A Name');
  await expect(page.getByText('Up to 53 lowercase letters')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Install', exact: true })).toBeDisabled();
  await page.getByRole('textbox', { name: 'Release name' }).fill('formed');
  await expect(page.getByRole('textbox', { name: 'Namespace' })).toHaveValue(namespace);
  await expect(editor(page, 'Default values')).toContainText('replicas: 1');
  await write(editor(page, 'Values (YAML)'), 'replicas: 2');
  await page.getByRole('button', { name: 'Wait and timeout' }).click();
  await page.getByRole('spinbutton', { name: 'Timeout in seconds' }).fill('60');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Install', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Install formed' })).toBeVisible();
  await expect(page.getByRole('progressbar')).toHaveAttribute('aria-valuetext', /of 1m|Took/);
  await expect(statusTag(page)).toHaveText('Completed');
  await expect(page.getByRole('row').filter({ hasText: 'Deployment' })).toContainText('2/2');

  await page.getByRole('link', { name: 'View Release' }).click();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Upgrade or roll back' }).click();
  const values = editor(page, 'Values (YAML), starting from revision 1');
  await expect(values).toContainText('replicas: 2');
  await write(values, 'replicas: 3');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Upgrade', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Upgrade formed' })).toBeVisible();
  await expect(statusTag(page)).toHaveText('Completed');

  await page.getByRole('link', { name: 'View Release' }).click();
  await page.getByRole('tab', { name: 'Revisions' }).click();
  await page.getByRole('button', { name: 'View revision 2' }).click();
  await expect(editor(page, 'Values')).toContainText('replicas: 3');
  await page.getByRole('tab', { name: 'Manifest' }).click();
  await expect(editor(page, 'Manifest')).toContainText('kind: ConfigMap');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Close' }).click();

  await page.getByRole('link', { name: 'Compare revision 2 with 1' }).click();
  await expect(page.getByRole('grid', { name: 'Values' }).locator('tbody tr')).toContainText(['replicas']);
  const manifest = page.getByRole('table', { name: /^Deployment .*formed$/ });
  await expect(manifest.locator('[data-kind="removed"]')).toHaveText('  replicas: 2');
  await expect(manifest.locator('[data-kind="added"]')).toHaveText('  replicas: 3');
  await page.getByRole('button', { name: 'Unified' }).click();
  await expect(page).toHaveURL(/from=1&to=2&layout=unified$/);
  await expect(manifest.locator('[data-kind="added"]')).toHaveText('  replicas: 3');
  await expectAccessible(page);

  await page.goBack();
  await page.getByRole('link', { name: 'Roll back to revision 1' }).click();
  await expect(page.getByRole('grid', { name: 'Values' }).locator('tbody tr')).toContainText([/replicas.*3.*2/]);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Roll back', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Roll back formed' })).toBeVisible();
  await expect(statusTag(page)).toHaveText('Completed');
});

test('a release is uninstalled from the list after a warning, and its operations can be replayed', async ({ page, request }) => {
  const namespace = newNamespace();
  await completed(request, await install(request, { namespace, name: 'doomed' }));
  await page.goto(`/helm/releases/${await clusterId(request)}/${namespace}`);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Uninstall doomed' }).click();
  const dialog = page.getByRole('dialog', { name: 'Uninstall doomed?' });
  await dialog.getByRole('checkbox', { name: 'Skip hooks' }).check();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Uninstall' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Uninstall doomed' })).toBeVisible();
  await expect(statusTag(page)).toHaveText('Completed');
  await page.getByRole('link', { name: 'View Release' }).click();
  await expect(page.getByRole('heading', { name: 'Not found' })).toBeVisible();
  const operations = page.getByRole('grid', { name: 'Operations' }).locator('tbody tr');
  await expect(operations).toContainText([/Uninstall.*Completed/, /Install.*Completed/]);
  await operations.last().getByRole('link', { name: 'View log' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Install doomed' })).toBeVisible();
  await expect(statusTag(page)).toHaveText('Completed');
});

test('options that the installed helm lacks are explained', async ({ page }) => {
  const server = await Server.start(process.env['KUBECONFIG'] ?? '', '--helm', await program('helm3'));
  try {
    await page.goto(`${server.url}/helm/install/dev/${newNamespace()}`);
    await page.getByRole('button', { name: 'Conflicts and ownership' }).click();
    await expect(page.getByRole('checkbox', { name: 'Force conflicts' })).toBeDisabled();
    await expect(page.getByText(/^This option requires Helm 4\.0\. The installed version is v?3\..+\.$/)).toHaveCount(2);
    await expect(page.getByRole('checkbox', { name: 'Take ownership of existing objects' })).toBeEnabled();
    await expectAccessible(page);
  } finally {
    await server.stop();
  }
});

test.describe('in Chinese', () => {
  test.use({ locale: 'zh-CN' });

  test('forms and details are translated', async ({ page, request }) => {
    const cluster = await clusterId(request);
    const namespace = newNamespace();
    await completed(request, await install(request, { namespace, name: 'demo' }));
    await page.goto(`/helm/install/${cluster}/${namespace}`);
    await expect(page.getByRole('heading', { level: 1, name: '安装 Chart' })).toBeVisible();
    await page.goto(`/helm/releases/${cluster}/${namespace}/demo`);
    await expect(page.getByRole('tab', { name: 'Revision' })).toBeVisible();
    await page.goto(`/helm/upgrade-rollback/${cluster}/${namespace}/demo`);
    await expect(page.getByRole('button', { name: '升级', exact: true })).toBeVisible();
    await page.goto(`/helm/compare/${cluster}/${namespace}/demo`);
    await expect(page.getByRole('heading', { level: 1, name: '比较 demo 的 Revision' })).toBeVisible();
  });
});
