import { readFile } from 'node:fs/promises';
import { expectAccessible } from './axe';
import { expect, install, logLines, newNamespace, statusTag, test } from './helmtrail';

test.use({ permissions: ['clipboard-read', 'clipboard-write'] });

test('the log is searched, copied, shown with times, and downloaded as a whole', async ({ page, request }) => {
  const watched = await install(request, { namespace: newNamespace(), name: 'demo' });
  await page.goto(watched);
  await expect(statusTag(page)).toHaveText('Completed');
  await expectAccessible(page);

  await expect(logLines(page).first().locator('time')).toBeHidden();
  await page.getByRole('button', { name: 'Show timestamps' }).click();
  await expect(logLines(page).first().locator('time')).toHaveText(/^\d\d:\d\d:\d\d$/);
  await page.getByRole('button', { name: 'Show timestamps' }).click();

  await page.getByRole('textbox', { name: 'Search displayed lines' }).fill('INSTALL → ');
  await expect(logLines(page, 'LOG')).toHaveCount(0);
  await expect(logLines(page, 'RELEASE_STATUS')).toHaveCount(1);
  await expect(page.getByRole('log').locator('mark')).toHaveText('install → ');
  await page.getByRole('button', { name: 'Copy displayed lines' }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toMatch(/^Revision 1: Pending install → Deployed/);
  await page.getByRole('textbox', { name: 'Search displayed lines' }).fill('');

  const shown = await logLines(page).locator('span').allTextContents();
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download the full log' }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toMatch(/^demo-.+\.log$/);
  const text = await readFile(await download.path(), 'utf8');
  expect(text.replace(/^\d{4}-\S+Z /gm, '')).toBe(shown.join('\n') + '\n');
});
