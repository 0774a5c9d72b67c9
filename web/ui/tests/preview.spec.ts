import type { Schemas } from '../src/api/client';
import { expectAccessible } from './axe';
import { editor, write } from './editing';
import { clusterId, completed, expect, install, newNamespace, statusTag, test } from './helmtrail';

test('an install is previewed, rejected by the API server, corrected and submitted', async ({ page, request }) => {
  // It makes three previews and an install.
  test.slow();
  const namespace = newNamespace();
  await completed(request, await install(request, { namespace, name: 'other' }));
  await page.goto(`/helm/install/${await clusterId(request)}/${namespace}`);
  await page.getByRole('combobox', { name: 'Chart' }).selectOption('web');
  await page.getByRole('textbox', { name: 'Release name' }).fill('seen');
  const values = editor(page, 'Values (YAML)');

  // helm itself cannot render it.
  await write(values, 'tag: a"b');
  await page.getByRole('button', { name: 'Preview' }).click();
  await expect(page.getByRole('heading', { name: 'Helm could not render the chart' })).toBeVisible();
  await expect(page.getByText(/YAML parse error on web\/templates\/web\.yaml/)).toBeVisible();

  // helm renders it, and the API server rejects it.
  await write(values, 'replicas: -1');
  await expect(page.getByText('The form has changed since this preview.')).toBeVisible();
  await page.getByRole('button', { name: 'Preview' }).click();
  await expect(page.getByText('Server-side dry run: 1 object rejected')).toBeVisible();
  // Rejected objects come first, whatever their order in the manifest.
  await expect(page.getByRole('button', { name: /^\w+ seen\S* (Create|Update|Unchanged|Rejected|Not checked)$/ }).first()).toHaveText(/Deployment seen.*Rejected/);
  await expect(page.getByText(/spec\.replicas: Invalid value: -1/)).toBeVisible();
  await expect(page.getByRole('button', { name: 'ConfigMap seen-0 Create' })).toBeVisible();
  await expectAccessible(page);

  await expect(values).toHaveText('replicas: -1');
  await write(values, 'replicas: 2');
  await page.getByRole('button', { name: 'Preview' }).click();
  await expect(page.getByText('Server-side dry run passed')).toBeVisible();
  await expect(editor(page, 'Deployment seen')).toContainText('replicas: 2');
  await page.getByRole('button', { name: 'Notes' }).click();
  await expect(page.getByText('Thank you for installing seen.')).toBeVisible();
  await page.getByRole('button', { name: 'Install', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Install seen' })).toBeVisible();
  await expect(statusTag(page)).toHaveText('Completed');
});

test('an upgrade shows the changes of values and objects, and keeps passwords', async ({ page, request }) => {
  test.slow();
  const cluster = await clusterId(request);
  const namespace = newNamespace();
  const values = { level: 'debug', password: 'correct horse' };
  await completed(request, await install(request, { namespace, name: 'kept', chart: 'settings', values }));
  await page.goto(`/helm/upgrade-rollback/${cluster}/${namespace}/kept`);
  const text = editor(page, 'Values (YAML), starting from revision 1');
  await expect(text).toContainText('password: «masked:');
  await text.click();
  await text.press('ControlOrMeta+End');
  await text.pressSequentially('text: as it is');
  const differences = page.getByRole('grid', { name: 'Changes to the values' }).locator('tbody tr');
  await expect(differences).toHaveText([/textadded–as it is/]);
  await page.getByRole('button', { name: 'Compared with chart defaults' }).click();
  await expect(differences).toHaveText([/levelchangedinfodebug/, /passwordchanged.*masked/, /textchangedas it wasas it is/]);
  await text.locator('.cm-line', { hasText: 'level: debug' }).click();
  await text.press('End');
  await text.press('Shift+Home');
  await text.pressSequentially('level: warn');
  await expect(differences.first()).toHaveText(/levelchangedinfowarn/);

  await page.getByRole('button', { name: 'Preview' }).click();
  const manifest = page.getByRole('table', { name: /^ConfigMap .*kept$/ });
  await expect(manifest.locator('[data-kind="removed"]')).toHaveText('  LEVEL: debug');
  await expect(manifest.locator('[data-kind="added"]')).toHaveText('  LEVEL: warn');
  await expect(page.getByRole('button', { name: 'ConfigMap kept Update' })).toBeVisible();
  const changes = page.getByRole('grid', { name: 'Changes to ConfigMap kept' }).locator('tbody tr');
  await expect(changes).toHaveText([/data\.LEVEL.*debug.*warn/]);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Upgrade', exact: true }).click();
  await expect(statusTag(page)).toHaveText('Completed');

  const revealed = await request.get(`/${cluster}/namespaces/${namespace}/releases/kept/revisions/2/values?reveal=true`);
  expect(await revealed.json()).toEqual({ level: 'warn', password: 'correct horse', text: 'as it is' } satisfies Record<string, unknown>);
});

test('a rollback shows what it changes before it is confirmed', async ({ page, request }) => {
  const cluster = await clusterId(request);
  const namespace = newNamespace();
  await completed(request, await install(request, { namespace, name: 'back', chart: 'settings', values: { level: 'debug' } }));
  const upgraded = await request.put(`/${cluster}/namespaces/${namespace}/releases/back`, { data: { chart: { ref: 'settings' }, values: { level: 'warn' } } });
  await completed(request, ((await upgraded.json()) as Schemas['Accepted']).page);
  await page.goto(`/helm/upgrade-rollback/${cluster}/${namespace}/back?to=1`);
  const manifest = page.getByRole('table', { name: /^ConfigMap .*back$/ });
  await expect(manifest.locator('[data-kind="removed"]')).toHaveText('  LEVEL: warn');
  await expect(manifest.locator('[data-kind="added"]')).toHaveText('  LEVEL: debug');
  await page.getByRole('button', { name: 'Conflicts and ownership' }).click();
  await expect(page.getByText('For a field that the chart sets but another field manager owns, such as kubectl or an autoscaler.')).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Roll back', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Roll back back' })).toBeVisible();
  await expect(statusTag(page)).toHaveText('Completed');
});

test.describe('in Chinese', () => {
  test.use({ locale: 'zh-CN' });

  test('a preview is translated', async ({ page, request }) => {
    const namespace = newNamespace();
    await page.goto(`/helm/install/${await clusterId(request)}/${namespace}`);
    await page.getByRole('combobox', { name: 'Chart' }).selectOption('web');
    await page.getByRole('button', { name: '预览' }).click();
    await expect(page.getByText('试运行：2 个对象。未做任何更改。')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Deployment web 创建' })).toBeVisible();
    await expectAccessible(page);
  });
});
