import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { clusterId, expect, helm, newNamespace, statusTag, test } from './helmtrail';

// Runs if a page takes a text for HTML or a URL for a harmless one.
const HTML = `<img src=x onerror="window.pwned=1"><script>window.pwned=2</script><a href="javascript:window.pwned=3">here</a>`;

const files = {
  'Chart.yaml': `apiVersion: v2\nname: settings\nversion: 1.0.0\nappVersion: '${HTML}'\ndescription: '${HTML}'\nicon: "javascript:window.pwned=4"\nhome: "javascript:window.pwned=5"\n`,
  'README.md': `# ${HTML}\n\n[here](javascript:window.pwned=6)\n`,
  'values.yaml': `# ${HTML}\ntext: '${HTML}'\n`,
  'values.schema.json': JSON.stringify({ properties: { text: { type: 'string', title: HTML, description: HTML } } }),
  'templates/NOTES.txt': `${HTML}\n\u001b]8;;javascript:window.pwned=7\u0007here\u001b]8;;\u0007\n`,
  'templates/settings.yaml': `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: hostile\n  annotations: { note: '${HTML}' }\ndata:\n  text: '${HTML}'\n`,
};

let folder: string;
let archive: string;

test.beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'helmtrail-ui-hostile-'));
  await mkdir(path.join(folder, 'settings', 'templates'), { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    await writeFile(path.join(folder, 'settings', name), content);
  }
  await helm('package', path.join(folder, 'settings'), '--destination', folder);
  archive = path.join(folder, 'settings-1.0.0.tgz');
});

test.afterAll(() => rm(folder, { recursive: true, force: true }));

test('texts of a chart are shown as texts on every page', async ({ page, request }) => {
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  const harmless = async () => {
    expect(await page.evaluate(() => (window as { pwned?: number }).pwned)).toBeUndefined();
    expect(await page.locator('a[href^="javascript:"], img[src="x"]').count()).toBe(0);
  };
  const cluster = await clusterId(request);
  const namespace = newNamespace();
  await page.goto(`/helm/install/${cluster}/${namespace}`);
  await page.getByRole('radio', { name: 'Upload' }).check();
  await page.locator('input[type="file"]').setInputFiles(archive);
  await expect(page.getByRole('textbox', { name: 'Default values' })).toContainText('window.pwned');
  await page.getByRole('tab', { name: 'README' }).click();
  await expect(page.getByRole('textbox', { name: 'README' })).toContainText('window.pwned=6');
  await page.getByRole('tab', { name: 'Schema' }).click();
  await harmless();
  await page.getByRole('button', { name: 'Install', exact: true }).click();
  await expect(statusTag(page)).toHaveText('Completed');
  await expect(page.getByText('window.pwned=7').first()).toBeAttached();
  await harmless();
  await page.getByRole('link', { name: 'View Release' }).click();
  await expect(page.getByText('settings 1.0.0')).toBeVisible();
  for (const tab of await page.getByRole('tab').all()) {
    await tab.click();
    await harmless();
  }
  await page.goto(`/helm/releases/${cluster}`);
  await expect(page.getByText(namespace)).toBeVisible();
  await harmless();
  await page.goto(`/helm/releases/${cluster}?q=${encodeURIComponent(HTML)}`);
  await harmless();
  expect(dialogs).toEqual([]);
});
