import { gzipSync } from 'node:zlib';
import { kube, makeNamespace } from './cluster';
import { clusterId, expect, install, newNamespace, releaseRows, statusTag, test } from './helmtrail';

/** What the events page may load before it is shown, in bytes as they are sent. */
const SCRIPT_MAX = 400_000;

test('the events page comes with less than 400 KB of script, compressed', async ({ page, request }) => {
  const scripts: Promise<number>[] = [];
  page.on('response', (response) => {
    if (new URL(response.url()).pathname.endsWith('.js')) {
      scripts.push(
        response
          .finished()
          .then(() => response.request().sizes())
          .then(({ responseBodySize }) => responseBodySize),
      );
    }
  });
  await page.goto(await install(request, { namespace: newNamespace(), name: 'light' }));
  await expect(statusTag(page)).toHaveText('Completed');
  const bytes = (await Promise.all(scripts)).reduce((sum, size) => sum + size, 0);
  test.info().annotations.push({ type: 'script', description: `${bytes} bytes in ${scripts.length} files` });
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThan(SCRIPT_MAX);
});

const MANY = 1000;
const AT_ONCE = 16;

/** A record as Helm keeps it in its Secret. */
function record(namespace: string, name: string) {
  const time = '2026-11-30T12:00:00Z';
  const release = {
    name,
    namespace,
    version: 1,
    info: { status: 'deployed', first_deployed: time, last_deployed: time, description: 'Install complete' },
    chart: { metadata: { apiVersion: 'v2', name: 'web', version: '1.0.0', appVersion: '2.0' } },
  };
  return {
    type: 'helm.sh/release.v1',
    metadata: { name: `sh.helm.release.v1.${name}.v1`, labels: { owner: 'helm', name, status: 'deployed', version: '1' } },
    data: { release: Buffer.from(gzipSync(JSON.stringify(release)).toString('base64')).toString('base64') },
  };
}

test('a thousand releases are filtered, sorted and turned over without a pause', async ({ page, request }) => {
  const namespace = newNamespace();
  const secrets = `/api/v1/namespaces/${namespace}/secrets`;
  await makeNamespace(namespace);
  let next = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let i = next++; i < MANY; i = next++) {
        const body = record(namespace, `release-${String(i).padStart(4, '0')}`);
        // The API server closes a connection now and then, with or without having done what it was asked.
        await kube('POST', secrets, body).catch(() => kube('PUT', `${secrets}/${body.metadata.name}`, body));
      }
    }),
  );
  try {
    await page.addInitScript(() => {
      const tasks: number[] = [];
      Object.assign(window, { longTasks: tasks });
      new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' });
    });
    await page.goto(`/helm/releases/${await clusterId(request)}/${namespace}`);
    await expect(page.getByText('1000 releases')).toBeVisible();
    const rows = releaseRows(page);
    await expect(rows).toHaveCount(50);
    await page.evaluate(() => {
      (window as unknown as { longTasks: number[] }).longTasks.length = 0;
    });
    await page.getByRole('textbox').pressSequentially('release-0432');
    await expect(rows).toHaveCount(1);
    await page.getByRole('textbox').fill('');
    await expect(rows).toHaveCount(50);
    await page.getByRole('button', { name: 'Name', exact: true }).click();
    await expect(rows.first()).toContainText('release-0999');
    await page.getByRole('button', { name: 'Go to last page' }).click();
    await expect(rows.last()).toContainText('release-0000');
    const longest = await page.evaluate(() => Math.max(0, ...(window as unknown as { longTasks: number[] }).longTasks));
    test.info().annotations.push({ type: 'longest task', description: `${longest} ms` });
    // A person notices a tenth of a second; a busy machine may take several.
    expect(longest).toBeLessThan(1000);
  } finally {
    await kube('DELETE', secrets);
  }
});
