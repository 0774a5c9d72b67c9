import { makeNamespace, makeRelease } from '../tests/cluster';
import { CHART, clusterId, expect, helm, releaseRows, test } from '../tests/helmtrail';
import { timed, watchTasks } from './stopwatch';

const MANY = 5000;
const NAMESPACE = 'many';

test('the list of 5,000 releases', async ({ page, request }) => {
  await makeNamespace(NAMESPACE);
  const names = Array.from({ length: MANY }, (_, i) => `release-${String(i).padStart(4, '0')}`);
  for (let i = 0; i < MANY; i += 25) {
    await Promise.all(names.slice(i, i + 25).map((name, j) => makeRelease(NAMESPACE, name, j % 4 === 1 ? 'failed' : 'deployed')));
  }
  const cluster = await clusterId(request);
  const known = async () => ((await (await request.get(`/${cluster}/releases?limit=5000`)).json()) as { items: unknown[] }).items.length;
  await expect.poll(known).toBe(MANY);

  await watchTasks(page);
  const rows = releaseRows(page);
  const search = page.getByRole('textbox', { name: 'Filter by name, namespace or chart' });
  await timed(page, 'opened, until its first rows', async () => {
    await page.goto(`/helm/releases/${cluster}`);
    await expect(rows).toHaveCount(50);
  });
  console.log(`elements in the page: ${await page.locator('*').count()}`);
  await timed(page, 'searched, five letters typed at once', async () => {
    await search.pressSequentially('-4321');
    await expect(rows).toHaveCount(1);
  });
  await timed(page, 'all of them again', async () => {
    await search.fill('');
    await expect(rows).toHaveCount(50);
  });
  await timed(page, 'sorted by time', async () => {
    await page.getByRole('button', { name: 'Updated' }).click();
    await expect(page.getByRole('columnheader', { name: 'Updated' })).toHaveAttribute('aria-sort', 'ascending');
  });
  await timed(page, 'turned over', async () => {
    await page.getByRole('button', { name: 'Go to next page' }).click();
    await expect(rows.first()).toContainText('release-0050');
  });
  await timed(page, 'one installed by hand, until it shows', async () => {
    await search.fill('by-hand');
    await helm('install', 'by-hand', CHART, '--namespace', NAMESPACE);
    await expect(rows).toHaveText(/by-hand.*Deployed/);
  });
});
