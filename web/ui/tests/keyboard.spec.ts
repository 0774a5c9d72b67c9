import type { Locator, Page } from '@playwright/test';
import { clusterId, expect, install, logLines, newNamespace, statusTag, test } from './helmtrail';

/** More tab stops than any page has. */
const STOPS = 60;

/** Presses Tab until the element has the focus. */
async function tabTo(page: Page, wanted: Locator): Promise<void> {
  for (let i = 0; i < STOPS; i++) {
    await page.keyboard.press('Tab');
    if (await wanted.evaluate((element) => element.matches(':focus')).catch(() => false)) {
      return;
    }
  }
  await expect(wanted).toBeFocused();
}

test('an install is filled in, submitted, canceled and left with the keyboard alone', async ({ page, request }) => {
  const namespace = newNamespace();
  await page.goto(`/helm/releases/${await clusterId(request)}/${namespace}`);
  await expect(page.getByRole('heading', { name: 'No releases yet' })).toBeVisible();

  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Skip to content' })).toBeFocused();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Install' })).toBeFocused();
  await page.keyboard.press('Enter');

  await expect(page.getByRole('heading', { level: 1, name: 'Install a chart' })).toBeVisible();
  await tabTo(page, page.getByRole('combobox', { name: 'Chart' }));
  await page.keyboard.press('w');
  await expect(page.getByRole('textbox', { name: 'Release name' })).toHaveValue('web');
  // The Tab key leaves the editor again.
  await tabTo(page, page.getByRole('textbox', { name: 'Values (YAML)' }));
  await page.keyboard.type('tag: doesnotexist');
  await tabTo(page, page.getByRole('button', { name: 'Install', exact: true }));
  await page.keyboard.press('Enter');

  // The new page starts at its top.
  await expect(page.getByRole('heading', { level: 1, name: 'Install web' })).toBeInViewport();
  await expect(statusTag(page)).toHaveText('Connected');
  const cancel = page.getByRole('button', { name: 'Cancel Operation', exact: true });
  await tabTo(page, cancel);
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Cancel the install of web?' });
  await expect(dialog).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  await expect(cancel).toBeFocused();
  await page.keyboard.press('Enter');
  await tabTo(page, dialog.getByRole('button', { name: 'Cancel Operation' }));
  await page.keyboard.press('Enter');
  await expect(statusTag(page)).toHaveText('Canceled');

  await tabTo(page, page.getByRole('link', { name: 'View Release' }));
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'web' })).toBeInViewport();
  await tabTo(page, page.getByRole('tab', { name: 'Revisions' }));
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'View revision 1' })).toBeVisible();
});

test('the log is scrolled with the keyboard, and jumps to its end', async ({ page, request }) => {
  await page.goto(await install(request, { namespace: newNamespace(), name: 'talkative', values: { configMaps: 60 } }));
  await expect(statusTag(page)).toHaveText('Completed');
  await tabTo(page, page.getByRole('log'));
  await page.keyboard.press('Home');
  await expect(logLines(page).first()).toBeInViewport();
  await tabTo(page, page.getByRole('button', { name: /^Jump to end/ }));
  await page.keyboard.press('Enter');
  await expect(logLines(page).last()).toBeInViewport();
});
