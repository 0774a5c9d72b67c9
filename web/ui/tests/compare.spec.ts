import type { APIRequestContext } from '@playwright/test';
import type { Schemas } from '../src/api/client';
import { expectAccessible } from './axe';
import { clusterId, completed, expect, install, newNamespace, test } from './helmtrail';
import { Server } from './server';

/** Upgrades a release of the chart settings and waits until it has completed. */
async function upgrade(request: APIRequestContext, namespace: string, name: string, values: Record<string, unknown>): Promise<void> {
  const address = `/${await clusterId(request)}/namespaces/${namespace}/releases/${name}`;
  const response = await request.put(address, { data: { chart: { ref: 'settings' }, values } });
  await completed(request, ((await response.json()) as Schemas['Accepted']).page);
}

test('revisions of other releases and clusters are compared, and the URL holds the selection', async ({ page, request }) => {
  const [one, other] = [newNamespace(), newNamespace()];
  await completed(request, await install(request, { namespace: one, name: 'here', chart: 'settings', values: { level: 'debug' } }));
  await completed(request, await install(request, { namespace: other, name: 'there', chart: 'settings', values: { level: 'warn' } }));
  // The same API server under another name counts as another cluster.
  const first = await clusterId(request);
  const server = await Server.start(process.env['KUBECONFIG'] ?? '', '--cluster', `second=${process.env['KUBECONFIG'] ?? ''}`);
  try {
    await page.goto(`${server.url}/helm/compare/${first}/${one}/here`);
    await expect(page.getByText('Revision 1 is the only revision, so there is nothing to compare it with.')).toBeVisible();
    await page.getByRole('combobox', { name: 'Release to compare with' }).selectOption(`${other}/there`);
    const level = page.getByRole('grid', { name: 'Values' }).locator('tbody tr');
    await expect(level).toHaveText(['levelchangedwarndebug']);
    await page.getByRole('combobox', { name: 'Cluster' }).selectOption('second');
    await expect(page).toHaveURL(/fromCluster=second/);
    await expect(level).toHaveText(['levelchangedwarndebug']);
    await page.getByRole('button', { name: 'Unified' }).click();
    await page.getByRole('checkbox', { name: 'Include chart defaults' }).click();
    await expect(page.getByRole('checkbox', { name: 'Include chart defaults' })).toBeChecked();
    await expectAccessible(page);
    const address = new URL(page.url());
    expect(Object.fromEntries(address.searchParams)).toEqual({ fromRelease: 'there', fromNamespace: other, fromCluster: 'second', layout: 'unified', all: 'true' });

    await page.reload();
    await expect(level).toHaveText(['levelchangedwarndebug']);
    await expect(page.getByRole('combobox', { name: 'Cluster' })).toHaveValue('second');
    await expect(page.getByRole('button', { name: 'Unified' })).toHaveAttribute('aria-pressed', 'true');
    await expect(page.getByRole('checkbox', { name: 'Include chart defaults' })).toBeChecked();
  } finally {
    await server.stop();
  }
});

test('values, objects, hooks and notes are compared, and unchanged lines are folded', async ({ page, request }) => {
  const cluster = await clusterId(request);
  const namespace = newNamespace();
  const address = `/${cluster}/namespaces/${namespace}/releases/hooked`;
  await completed(request, await install(request, { namespace, name: 'hooked', values: { hookDuration: '1s' } }));
  const upgraded = await request.put(address, { data: { chart: { ref: 'web' }, values: { hookDuration: '2s', replicas: 2 } } });
  await completed(request, ((await upgraded.json()) as Schemas['Accepted']).page);
  await page.goto(`/helm/compare/${cluster}/${namespace}/hooked?from=1&to=2`);
  await expect(page.getByRole('heading', { level: 2 })).toHaveText(['Values', 'Manifest', 'Hooks', 'Notes']);
  const changed = (name: string | RegExp) => page.getByRole('table', { name }).locator('[data-kind="removed"], [data-kind="added"]');
  for (const layout of ['Side by side', 'Unified']) {
    await page.getByRole('button', { name: layout }).click();
    await expect(changed(/^Deployment /)).toHaveText(['  replicas: 1', '  replicas: 2']);
    await expect(changed(/^Job /)).toHaveText([/duration: "?1s/, /duration: "?2s/]);
    await expect(changed('Notes')).toHaveText(['It has 1 replicas.', 'It has 2 replicas.']);
    await expect(page.getByRole('table', { name: /^Job / }).getByRole('cell', { name: 'unchanged' })).not.toHaveCount(0);
  }
  await expect(page.getByRole('button', { name: /^ConfigMap / })).toHaveCount(0);
  await expectAccessible(page);
});

test('changed secrets are masked, revealed after a confirmation, and that is recorded', async ({ page, request }) => {
  const cluster = await clusterId(request);
  const namespace = newNamespace();
  await completed(request, await install(request, { namespace, name: 'vault', chart: 'settings', values: { password: 'correct horse' } }));
  await upgrade(request, namespace, 'vault', { password: 'battery staple' });
  await page.goto(`/helm/compare/${cluster}/${namespace}/vault?from=1&to=2&reveal=true`);
  const password = page.getByRole('grid', { name: 'Values' }).locator('tbody tr').filter({ hasText: 'password' });
  await expect(password).toHaveText(/^passwordchanged«masked:[0-9a-f]+»«masked:[0-9a-f]+»$/);
  await page.getByRole('button', { name: 'Reveal secrets' }).click();
  await expect(page.getByRole('dialog')).toContainText('Your access and its time are recorded permanently.');
  await expectAccessible(page);
  await expect(page.getByText('correct horse')).toHaveCount(0);
  await page.getByRole('button', { name: 'Reveal (will be audited)' }).click();
  await expect(password).toHaveText('passwordchangedcorrect horsebattery staple');
  await expect(page.getByText('The access has been recorded.')).toBeVisible();
  // Neither a link nor another selection reveals secrets.
  await page.getByRole('checkbox', { name: 'Include chart defaults' }).click();
  await expect(password).toContainText('masked');

  await page.goto(`/helm/releases/${cluster}/${namespace}/vault?tab=trail`);
  await expect(page.getByRole('grid', { name: 'Trail' }).locator('tbody tr').filter({ hasText: 'Secrets revealed' })).not.toHaveCount(0);
});

test('manifests of a megabyte stay usable', async ({ page, request }) => {
  test.slow();
  const namespace = newNamespace();
  await completed(request, await install(request, { namespace, name: 'big', chart: 'settings', values: { lines: 2000 } }));
  await upgrade(request, namespace, 'big', { lines: 2000, text: 'as it is' });
  const asked = Date.now();
  await page.goto(`/helm/compare/${await clusterId(request)}/${namespace}/big`);
  const first = page.getByRole('table', { name: /^ConfigMap .*big-0$/ });
  await expect(first.locator('[data-kind="added"]').first()).toBeVisible();
  const shown = Date.now() - asked;
  // 4,000 lines differ in each of ten objects. At first 500 rows of the first object are rendered.
  expect(await first.locator('tr').count()).toBe(500);
  await expect(page.getByRole('table', { name: /^ConfigMap .*big-9$/ })).toHaveCount(0);
  const clicked = Date.now();
  await page.getByRole('button', { name: 'Unified' }).click();
  await expect(page.getByRole('button', { name: 'Unified' })).toHaveAttribute('aria-pressed', 'true');
  await page.getByRole('button', { name: 'Show 2000 more lines' }).click();
  await expect(first.locator('tr')).toHaveCount(2500);
  await page.getByRole('button', { name: /^ConfigMap .*big-9 changed$/ }).click();
  await expect(page.getByRole('table', { name: /^ConfigMap .*big-9$/ }).locator('[data-kind="removed"]').first()).toBeAttached();
  test.info().annotations.push({ type: 'measured', description: `shown after ${shown} ms, laid out anew, 2,000 lines more and another object after ${Date.now() - clicked} ms` });
});
