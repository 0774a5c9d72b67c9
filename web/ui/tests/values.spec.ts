import { expectAccessible } from './axe';
import { editor, write } from './editing';
import { clusterId, expect, newNamespace, test } from './helmtrail';

test.beforeEach(async ({ page, request }) => {
  await page.goto(`/helm/install/${await clusterId(request)}/${newNamespace()}`);
});

test('keys and values of the schema are suggested while typing', async ({ page }) => {
  await page.getByRole('combobox', { name: 'Chart' }).selectOption('settings');
  const values = editor(page, 'Values (YAML)');
  await expect(editor(page, 'Default values')).toContainText('level: info');
  await write(values, 'lev');
  const offered = page.getByRole('listbox').getByRole('option');
  await expect(offered).toHaveText(['levelinfo']);
  await expect(page.getByText('How much is logged', { exact: true })).toBeVisible();
  await expectAccessible(page);
  await values.press('Enter');
  // A key with enumerated values suggests them immediately.
  await expect(offered).toHaveText(['debug', 'info', 'warn']);
  await offered.getByText('warn').click();
  await expect(values).toHaveText('level: warn');
  await expect(page.getByText('No problems found.')).toBeVisible();

  await values.getByText('level').hover();
  await expect(page.getByText('How much is logged')).toBeVisible();
});

test('violations of the schema are marked in place', async ({ page }) => {
  await page.getByRole('combobox', { name: 'Chart' }).selectOption('settings');
  const values = editor(page, 'Values (YAML)');
  await expect(editor(page, 'Default values')).toContainText('level: info');
  await write(values, 'text: x\nlines: many\nlevels: 1');
  await expect(page.getByText('Line 2: lines must be an integer. 1 more problem.')).toBeVisible();
  await expectAccessible(page);
  await write(values, 'lines: 1: 2');
  await expect(page.getByText(/^Line 1: Nested mappings are not allowed/)).toBeVisible();
  await write(values, 'lines: 1');
  await expect(page.getByText('No problems found.')).toBeVisible();
});

test('without a schema the keys of the chart’s defaults are suggested', async ({ page }) => {
  await page.getByRole('combobox', { name: 'Chart' }).selectOption('web');
  const values = editor(page, 'Values (YAML)');
  await expect(editor(page, 'Default values')).toContainText('replicas: 1');
  await write(values, 'hook');
  await expect(page.getByRole('listbox').getByRole('option')).toHaveText(['hookDuration""']);
  await expect(page.getByText('How long a Job runs after the install, for example 5s. If it is empty, there is no Job.', { exact: true })).toBeVisible();
  await values.press('Escape');
  // Fast typing loses nothing.
  const typed = 'replicas: 2\ntag: slow\nconfigMaps: 3';
  await write(values, typed);
  await expect(values).toHaveText(typed.replaceAll('\n', ''));
});

test.describe('in Chinese', () => {
  test.use({ locale: 'zh-CN' });

  test('problems of values are translated', async ({ page }) => {
    await page.getByRole('combobox', { name: 'Chart' }).selectOption('settings');
    await expect(editor(page, '默认值')).toContainText('level: info');
    await write(editor(page, '自定义值 (YAML)'), 'lines: -1');
    await expect(page.getByText('第 1 行：lines 不得小于 0。')).toBeVisible();
  });
});
