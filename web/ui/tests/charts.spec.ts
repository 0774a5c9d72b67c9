import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { kube, makeNamespace } from './cluster';
import { clusterId, expect, helm, newNamespace, statusTag, test } from './helmtrail';

let folder: string;
let archive: string;

test.beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'helmtrail-ui-charts-'));
  await helm('package', path.join(import.meta.dirname, 'charts', 'settings'), '--version', '2.0.0', '--destination', folder);
  archive = path.join(folder, 'settings-2.0.0.tgz');
});

test.afterAll(() => rm(folder, { recursive: true, force: true }));

test('an archive is handed over and installed', async ({ page, request }) => {
  await page.goto(`/helm/install/${await clusterId(request)}/${newNamespace()}`);
  await page.getByRole('radio', { name: 'Archive' }).check();
  await page.locator('input[type="file"]').setInputFiles(archive);
  await expect(page.getByRole('textbox', { name: 'Release name' })).toHaveValue('settings');
  await expect(page.getByRole('textbox', { name: 'Default values' })).toContainText('level: info');
  await page.getByRole('tab', { name: 'README' }).click();
  await expect(page.getByRole('textbox', { name: 'README' })).toContainText('Its values have a schema.');
  await page.getByRole('button', { name: 'Install', exact: true }).click();
  await expect(statusTag(page)).toHaveText('Completed');
  await page.getByRole('link', { name: 'View Release' }).click();
  await expect(page.getByText('settings 2.0.0')).toBeVisible();
});

test('what is no chart is refused where it was handed over', async ({ page, request }) => {
  await page.goto(`/helm/install/${await clusterId(request)}/${newNamespace()}`);
  await page.getByRole('radio', { name: 'Archive' }).check();
  await page.locator('input[type="file"]').setInputFiles({ name: 'none.tgz', mimeType: 'application/gzip', buffer: Buffer.from('no chart') });
  await expect(page.getByRole('heading', { name: 'The request was refused' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Install', exact: true })).toBeDisabled();
});

test('a chart behind an address and a login is installed', async ({ page, request }) => {
  // The dev cluster's own certificate is good for this machine.
  const pki = path.join(path.dirname(process.env['KUBECONFIG'] ?? ''), 'pki');
  const [key, cert, authority] = await Promise.all(['kube-apiserver.key', 'kube-apiserver.crt', 'ca.crt'].map((file) => readFile(path.join(pki, file))));
  const login = `Basic ${Buffer.from('reader:open sesame').toString('base64')}`;
  const chart = await readFile(archive);
  const server = createServer({ key, cert }, (asked, response) => {
    if (asked.headers.authorization !== login) {
      response.writeHead(401).end();
    } else if (asked.url === '/charts/settings-2.0.0.tgz') {
      response.end(chart);
    } else {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const namespace = newNamespace();
    await makeNamespace(namespace);
    const data = { username: 'reader', password: 'open sesame', 'ca.crt': authority?.toString() };
    await kube('POST', `/api/v1/namespaces/${namespace}/secrets`, { metadata: { name: 'login' }, stringData: data });

    await page.goto(`/helm/install/${await clusterId(request)}/${namespace}`);
    await page.getByRole('radio', { name: 'Address' }).check();
    await page.getByRole('textbox', { name: 'Address' }).fill(`https://127.0.0.1:${port}/charts/settings-2.0.0.tgz`);
    await page.getByRole('textbox', { name: 'Secret with the login' }).fill('login');
    await page.getByRole('textbox', { name: 'Release name' }).fill('fetched');
    await expect(page.getByText('Only helm gets the login, when it runs.')).toBeVisible();
    await page.getByRole('button', { name: 'Install', exact: true }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Install fetched' })).toBeVisible();
    await expect(statusTag(page)).toHaveText('Completed');
  } finally {
    server.close();
  }
});
