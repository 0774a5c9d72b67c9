import type { Page } from '@playwright/test';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expectAccessible } from './axe';
import { authorityFile, ChartServer } from './chartserver';
import { kube, makeNamespace } from './cluster';
import { editor } from './editing';
import { clusterId, expect, helm, newNamespace, statusTag, test } from './helmtrail';
import { Server } from './server';

let folder: string;
let archive: string;

test.beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'helmtrail-ui-charts-'));
  await helm('package', path.join(import.meta.dirname, 'charts', 'settings'), '--version', '2.0.0', '--destination', folder);
  archive = path.join(folder, 'settings-2.0.0.tgz');
});

test.afterAll(() => rm(folder, { recursive: true, force: true }));

test('an archive is uploaded and installed', async ({ page, request }) => {
  await page.goto(`/helm/install/${await clusterId(request)}/${newNamespace()}`);
  await page.getByRole('radio', { name: 'Upload' }).check();
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

test('a file that is not a chart is refused at the upload', async ({ page, request }) => {
  await page.goto(`/helm/install/${await clusterId(request)}/${newNamespace()}`);
  await page.getByRole('radio', { name: 'Upload' }).check();
  await page.locator('input[type="file"]').setInputFiles({ name: 'none.tgz', mimeType: 'application/gzip', buffer: Buffer.from('no chart') });
  await expect(page.getByRole('heading', { name: 'Invalid request' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Install', exact: true })).toBeDisabled();
});

test('a chart is installed from a URL with credentials', async ({ page }) => {
  const login = { username: 'reader', password: 'open sesame' };
  const charts = await ChartServer.start({ name: 'settings', version: '2.0.0', archive: await readFile(archive), tls: true, login });
  const server = await Server.start(process.env['KUBECONFIG'] ?? '', '--chart-hosts', charts.host);
  try {
    const namespace = newNamespace();
    await makeNamespace(namespace);
    const data = { ...login, 'ca.crt': await readFile(authorityFile(), 'utf8') };
    await kube('POST', `/api/v1/namespaces/${namespace}/secrets`, { metadata: { name: 'login' }, stringData: data });

    await page.goto(`${server.url}/helm/install/dev/${namespace}`);
    await page.getByRole('radio', { name: 'URL' }).check();
    await page.getByRole('textbox', { name: 'Chart URL' }).fill(`https://${charts.host}/charts/settings-2.0.0.tgz`);
    await page.getByRole('textbox', { name: 'Credentials Secret' }).fill('login');
    await page.getByRole('textbox', { name: 'Release name' }).fill('fetched');
    await expect(page.getByText('The credentials are used only by the operation')).toBeVisible();
    await page.getByRole('button', { name: 'Install', exact: true }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Install fetched' })).toBeVisible();
    await expect(statusTag(page)).toHaveText('Completed');
  } finally {
    await server.stop();
    charts.stop();
  }
});

/** Submits the form and checks that the release has version 2.0.0 of the chart. */
async function installs(page: Page, release: string): Promise<void> {
  await page.getByRole('button', { name: 'Install', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: `Install ${release}` })).toBeVisible();
  await expect(statusTag(page)).toHaveText('Completed');
  await page.getByRole('link', { name: 'View Release' }).click();
  await expect(page.getByText('settings 2.0.0')).toBeVisible();
}

test('charts of a configured repository are in the catalog, and an unreachable repository is named', async ({ page }) => {
  const charts = await ChartServer.start({ name: 'settings', version: '2.0.0', archive: await readFile(archive) });
  const server = await Server.start(process.env['KUBECONFIG'] ?? '', '--chart-hosts', `${charts.host},127.0.0.1:1`, '--repo', `own=http://${charts.host}/charts`, '--repo', 'gone=http://127.0.0.1:1/charts');
  try {
    await page.goto(`${server.url}/helm/install/dev/${newNamespace()}`);
    await expect(page.getByRole('heading', { name: 'Could not load the charts of gone' })).toBeVisible();
    await expectAccessible(page);
    await page.getByRole('combobox', { name: 'Chart' }).selectOption('own/settings');
    await expect(page.getByRole('combobox', { name: 'Version' })).toHaveValue('2.0.0');
    await expect(editor(page, 'Default values')).toContainText('level: info');
    await installs(page, 'settings');
  } finally {
    await server.stop();
    charts.stop();
  }
});

test('a chart of an OCI registry is read, and installed', async ({ page }) => {
  const charts = await ChartServer.start({ name: 'settings', version: '2.0.0', archive: await readFile(archive), tls: true });
  process.env['SSL_CERT_FILE'] = authorityFile(); // for helmtrail, which fetches the chart
  const server = await Server.start(process.env['KUBECONFIG'] ?? '', '--chart-hosts', charts.host).finally(() => {
    delete process.env['SSL_CERT_FILE'];
  });
  try {
    await page.goto(`${server.url}/helm/install/dev/${newNamespace()}`);
    await page.getByRole('radio', { name: 'URL' }).check();
    await page.getByRole('textbox', { name: 'Chart URL' }).fill(`oci://${charts.host}/team/settings`);
    await page.getByRole('textbox', { name: 'Version' }).fill('2.0.0');
    await page.getByRole('button', { name: 'Load', exact: true }).click();
    await expect(editor(page, 'Default values')).toContainText('level: info');
    await page.getByRole('textbox', { name: 'Release name' }).fill('pulled');
    await installs(page, 'pulled');
  } finally {
    await server.stop();
    charts.stop();
  }
});
