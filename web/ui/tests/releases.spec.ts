import { expectAccessible } from './axe';
import { Cable } from './cable';
import { makeNamespace, makeRelease } from './cluster';
import { CHART, clusterId, expect, HELD, helm, install, letReady, newNamespace, releaseRows, test } from './helmtrail';

test('a release that helm installs outside helmtrail appears, changes and disappears live', async ({ page, request }) => {
  const namespace = newNamespace();
  await page.goto(`/helm/releases/${await clusterId(request)}?q=${namespace}`);
  await expect(page.getByRole('heading', { name: 'Releases', exact: true })).toBeVisible();

  await helm('install', 'by-hand', CHART, '--namespace', namespace, '--create-namespace');
  const row = page.getByRole('row').filter({ hasText: namespace });
  await expect(row).toContainText('Deployed', { timeout: 10_000 });
  await expect(row.getByRole('gridcell')).toContainText(['by-hand', namespace, 'Deployed', '1', 'web 1.0.0', '2.0', 'now']);

  await helm('upgrade', 'by-hand', CHART, '--namespace', namespace);
  await expect(row.getByRole('gridcell', { name: '2', exact: true })).toBeVisible({ timeout: 10_000 });

  await helm('uninstall', 'by-hand', '--namespace', namespace);
  await expect(row).toHaveCount(0, { timeout: 10_000 });
});

test('an empty namespace says so, then fills', async ({ page, request }) => {
  const namespace = newNamespace();
  await page.goto(`/helm/releases/${await clusterId(request)}/${namespace}`);
  await expect(page.getByRole('heading', { name: 'No releases yet' })).toBeVisible();
  await expect(page.getByText('Releases stored with HELM_DRIVER=configmap or sql are not shown')).toBeVisible();
  await expectAccessible(page);
  await helm('install', 'first', CHART, '--namespace', namespace, '--create-namespace');
  await expect(page.getByRole('row').filter({ hasText: 'first' })).toContainText('Deployed', { timeout: 10_000 });
});

test('changes during a lost connection appear after reconnecting', async ({ page, request }) => {
  const namespace = newNamespace();
  const cable = await Cable.lay();
  try {
    await page.goto(`${cable.url}/helm/releases/${await clusterId(request)}/${namespace}`);
    await expect(page.getByRole('heading', { name: 'No releases yet' })).toBeVisible();
    cable.pullOut();
    await expect(page.getByRole('heading', { name: 'Cannot reach helmtrail: the data shown may be out of date' })).toBeVisible();
    await helm('install', 'unseen', CHART, '--namespace', namespace, '--create-namespace');
    cable.putBack();
    await expect(page.getByRole('row').filter({ hasText: 'unseen' })).toContainText('Deployed');
    await expect(page.getByRole('heading', { name: /the data shown may be out of date/ })).toHaveCount(0);
  } finally {
    cable.remove();
  }
});

test('the list is filtered by text and status, and the URL has the filter', async ({ page, request }) => {
  const namespace = newNamespace();
  await helm('install', 'good', CHART, '--namespace', namespace, '--create-namespace');
  // The API server rejects the manifest, which leaves a failed record without waiting.
  await expect(helm('install', 'bad', CHART, '--namespace', namespace, '--set', 'replicas=-1')).rejects.toThrow();
  await page.goto(`/helm/releases/${await clusterId(request)}/${namespace}`);
  const rows = releaseRows(page);
  await expect(rows).toHaveCount(2);

  await page.getByRole('textbox', { name: 'Filter by name, namespace or chart' }).fill('GOO');
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText('good');
  await page.reload();
  await expect(rows).toHaveCount(1);

  await page.getByRole('textbox').fill('');
  await page.getByRole('button', { name: 'Status', exact: true, expanded: false }).click();
  await page.getByRole('menuitem', { name: 'Failed 1' }).click();
  await page.keyboard.press('Escape');
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText('bad');

  await page.getByRole('textbox').fill('good');
  await expect(page.getByRole('heading', { name: 'No releases match the filters' })).toBeVisible();
  await page.getByRole('button', { name: 'Clear all filters' }).last().click();
  await expect(rows).toHaveCount(2);
});

test('the list is sorted in both directions, and has pages', async ({ page, request }) => {
  const namespace = newNamespace();
  await makeNamespace(namespace);
  await Promise.all(Array.from({ length: 51 }, (_, i) => makeRelease(namespace, `r-${String(i).padStart(2, '0')}`)));
  await page.goto(`/helm/releases/${await clusterId(request)}/${namespace}`);
  const rows = releaseRows(page);
  await expect(page.getByText('51 releases')).toBeVisible();
  await expect(rows).toHaveCount(50);
  await expect(rows.first()).toContainText('r-00');
  await page.getByRole('button', { name: 'Name' }).click();
  await expect(rows.first()).toContainText('r-50');
  await page.getByRole('button', { name: 'Go to next page' }).click();
  await expect(rows).toHaveText([/^r-00/]);
});

test('a running operation links to its events until it has ended', async ({ page, request }) => {
  const namespace = newNamespace();
  await page.goto(`/helm/releases/${await clusterId(request)}/${namespace}`);
  await install(request, { namespace, name: 'slow', values: HELD });
  const link = page.getByRole('link', { name: 'Watch the operation running on slow' });
  await link.click();
  await expect(page.getByRole('heading', { name: 'Install slow' })).toBeVisible();
  await page.goBack();
  await letReady(namespace, 'slow');
  await expect(page.getByRole('row').filter({ hasText: 'slow' })).toContainText('Deployed');
  await expect(link).toHaveCount(0);
});

test('an unknown cluster is reported with a way back', async ({ page }) => {
  await page.goto('/helm/releases/nowhere');
  await expect(page.getByRole('heading', { name: 'Not found' })).toBeVisible();
  await page.getByRole('link', { name: 'Back to Releases' }).click();
  await expect(page.getByRole('heading', { name: 'Releases', exact: true })).toBeVisible();
});

test('an unknown path says so', async ({ page }) => {
  await page.goto('/helm/no/such/page');
  await expect(page.getByRole('heading', { name: 'Page not found' })).toBeVisible();
  await expectAccessible(page);
});
