import type { Schemas } from '../src/api/client';
import { kube } from '../tests/cluster';
import { clusterId, completed, expect, install, logLines, statusTag, test } from '../tests/helmtrail';
import { shoot } from './camera';

const namespace = 'shop';

// Each test builds on what the previous ones left in the cluster.
test.describe.configure({ mode: 'serial' });

test('events: running, completed', async ({ page, request }) => {
  await page.goto(
    await install(request, {
      namespace,
      name: 'storefront',
      values: { replicas: 3, delay: '15s', smokeTest: { enabled: true }, password: 'correct horse' },
      options: { timeoutSeconds: 60 },
    }),
  );
  await expect(statusTag(page)).toHaveText('Connected');
  await expect(page.getByRole('row').filter({ hasText: 'Pod' })).toHaveCount(3);
  await expect(page.getByRole('progressbar')).toHaveAttribute('aria-valuetext', /^[5-9]s of 1m$/);
  await shoot(page, 'events');
  await page.getByRole('button', { name: 'Cancel Operation', exact: true }).click();
  await shoot(page, 'events-cancel');
  await page.getByRole('button', { name: 'Keep running' }).click();
  await page.getByRole('log').scrollIntoViewIfNeeded();
  await shoot(page, 'events-log');
  await expect(statusTag(page)).toHaveText('Completed');
  await page.getByRole('heading', { level: 1 }).scrollIntoViewIfNeeded();
  await shoot(page, 'events-completed');
});

test('events: not ready, failed, canceled', async ({ page, request }) => {
  const values = { image: { tag: 'doesnotexist' } };
  await page.goto(await install(request, { namespace, name: 'checkout', values, options: { timeoutSeconds: 12 } }));
  await expect(page.getByRole('heading', { name: 'This will not recover by itself' })).toBeVisible();
  await shoot(page, 'events-cause');
  await expect(statusTag(page)).toHaveText('Failed', { timeout: 60_000 });
  await shoot(page, 'events-failed');

  await page.goto(await install(request, { namespace, name: 'search', values }));
  await expect(logLines(page, 'RELEASE_STATUS').first()).toBeVisible();
  await page.getByRole('button', { name: 'Cancel Operation', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel Operation' }).click();
  await expect(statusTag(page)).toHaveText('Canceled');
  await shoot(page, 'events-canceled');
});

test('forms: install, upgrade', async ({ page, request }) => {
  const cluster = await clusterId(request);
  await page.goto(`/helm/install/${cluster}/${namespace}`);
  await page.getByRole('combobox', { name: 'Chart' }).selectOption('web');
  await page.getByRole('textbox', { name: 'Release name' }).fill('catalogue');
  const values = page.getByRole('textbox', { name: 'Values (YAML)' });
  await values.click();
  await values.pressSequentially('replicas: 3\ngreeting: Good morning\nserv');
  await expect(page.getByRole('listbox').getByRole('option')).toHaveText([/^service/]);
  await shoot(page, 'install');
  await values.press('Enter');
  await values.press('Escape');
  await values.pressSequentially('port: 99999');
  await page.getByRole('button', { name: 'Wait and timeout' }).click();
  await expect(page.getByText('Line 4: service.port must be at most 65535.')).toBeVisible();
  await shoot(page, 'install-values');
  await values.press('ControlOrMeta+a');
  await values.pressSequentially('greeting: Good morning\nresources: {requests: {cpu: lots}}');
  await page.getByRole('button', { name: 'Preview' }).click();
  await expect(page.getByText('Server-side dry run: 1 object rejected')).toBeVisible();
  await page.getByRole('heading', { name: 'Preview' }).scrollIntoViewIfNeeded();
  await shoot(page, 'install-preview');

  await page.goto(`/helm/upgrade-rollback/${cluster}/${namespace}/storefront`);
  await expect(page.getByRole('textbox', { name: /^Values \(YAML\), starting from revision/ })).toContainText('masked');
  await expect(page.getByRole('textbox', { name: 'Default values' })).toContainText('replicas');
  const current = page.getByRole('textbox', { name: /^Values \(YAML\), starting from revision/ });
  await current.click();
  await current.press('ControlOrMeta+End');
  await current.pressSequentially('greeting: Summer sale');
  await expect(page.getByRole('grid', { name: 'Changes to the values' })).toContainText('Summer sale');
  await shoot(page, 'upgrade');
  await page.getByRole('button', { name: 'Preview' }).click();
  await expect(page.getByText('Server-side dry run passed')).toBeVisible();
  await page.getByRole('heading', { name: 'Preview' }).scrollIntoViewIfNeeded();
  await shoot(page, 'upgrade-preview');
});

test('a release: resources, revisions, operations; comparison and rollback', async ({ page, request }) => {
  const cluster = await clusterId(request);
  const address = `/${cluster}/namespaces/${namespace}/releases/storefront`;
  const upgrade = await request.put(address, {
    data: { chart: { ref: 'web' }, values: { replicas: 4, greeting: 'Summer sale', password: 'battery staple' }, options: { wait: true } },
  });
  await completed(request, ((await upgrade.json()) as Schemas['Accepted']).page);

  await page.goto(`/helm/releases/${cluster}/${namespace}/storefront`);
  await expect(page.getByRole('row').filter({ hasText: 'Deployment' })).toContainText('4/4');
  await shoot(page, 'release');
  await page.getByRole('tab', { name: 'Revisions' }).click();
  await expect(page.getByRole('link', { name: 'Compare revision 2 with 1' })).toBeVisible();
  await shoot(page, 'release-revisions');
  await page.getByRole('tab', { name: 'Operations' }).click();
  await expect(page.getByRole('link', { name: 'View log' })).toHaveCount(3);
  await shoot(page, 'release-operations');
  await page.getByRole('tab', { name: 'Trail' }).click();
  await expect(page.getByRole('grid', { name: 'Trail' })).toContainText('Pending upgrade');
  await shoot(page, 'release-trail');
  const deployment = `/apis/apps/v1/namespaces/${namespace}/deployments/storefront`;
  await kube('PATCH', `${deployment}?fieldManager=kubectl-edit`, { spec: { replicas: 1 } });
  await page.getByRole('tab', { name: 'Drift' }).click();
  await expect(page.getByRole('grid', { name: /^Changed fields of Deployment / })).toContainText('kubectl-edit');
  await shoot(page, 'release-drift');

  await page.goto(`/helm/compare/${cluster}/${namespace}/storefront?from=1&to=2`);
  await expect(page.getByRole('table', { name: /^Deployment/ })).toBeVisible();
  await shoot(page, 'compare');
  await page.goto(`/helm/upgrade-rollback/${cluster}/${namespace}/storefront?to=1`);
  await expect(page.getByRole('table', { name: /^Deployment/ })).toBeVisible();
  await shoot(page, 'rollback');
});

test('a stuck release, uninstall, the releases', async ({ page, request }) => {
  const cluster = await clusterId(request);
  const rollback = await request.post(`/${cluster}/namespaces/${namespace}/releases/checkout/rollback`, {
    data: { revision: 1, options: { wait: true } },
  });
  await page.goto(((await rollback.json()) as Schemas['Accepted']).page);
  await expect(logLines(page, 'RELEASE_STATUS').first()).toContainText('Pending rollback');
  await page.getByRole('button', { name: 'Cancel Operation', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel Operation' }).click();
  await expect(statusTag(page)).toHaveText('Canceled');
  await page.getByRole('link', { name: 'View Release' }).click();
  await expect(page.getByRole('heading', { name: /Stuck in/ })).toBeVisible();
  await shoot(page, 'release-stuck');

  await page.goto(`/helm/releases/${cluster}`);
  await expect(page.getByText('Stuck')).toBeVisible();
  await shoot(page, 'releases');
  await page.getByRole('button', { name: 'Uninstall search' }).click();
  await shoot(page, 'uninstall');
});

test.describe('in Chinese', () => {
  test.use({ locale: 'zh-CN' });

  test('events', async ({ page, request }) => {
    await page.goto(await install(request, { namespace, name: 'reviews', values: { delay: '10s' }, options: { timeoutSeconds: 60 } }));
    await expect(statusTag(page)).toHaveText('已连接');
    await expect(page.getByRole('row').filter({ hasText: 'Pod' })).toHaveCount(2);
    await shoot(page, 'events-zh');
  });
});
