import { expectAccessible } from './axe';
import { clusterId, completed, expect, install, newNamespace, releaseRows, statusTag, test } from './helmtrail';

// Everyone with read access to a release saw its passwords:
// https://github.com/argoproj/argo-cd/issues/14065
test('secrets of a revision are revealed after a confirmation, and that is recorded', async ({ page, request }) => {
  const namespace = newNamespace();
  await completed(request, await install(request, { namespace, name: 'vault', values: { password: 'correct horse' } }));
  await page.goto(`/helm/releases/${await clusterId(request)}/${namespace}/vault?tab=revisions`);
  await page.getByRole('button', { name: 'View revision 1' }).click();
  const values = page.getByRole('textbox', { name: 'Values' });
  await expect(values).toContainText('password: «masked:');
  await page.getByRole('button', { name: 'Reveal secrets' }).click();
  await expect(page.getByRole('dialog', { name: 'Reveal secrets?' })).toContainText('are recorded permanently');
  await page.getByRole('button', { name: 'Reveal (will be audited)' }).click();
  await expect(values).toContainText('password: correct horse');
  await expect(page.getByText('The access has been recorded.')).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Mask secrets' }).click();
  await expect(values).toContainText('password: «masked:');
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('tab', { name: 'Trail' }).click();
  await expect(page.getByRole('row').filter({ hasText: 'Secrets revealed' })).not.toHaveCount(0);
});

test('an uninstall can keep the history, and the release remains readable', async ({ page, request }) => {
  const namespace = newNamespace();
  await completed(request, await install(request, { namespace, name: 'kept' }));
  await page.goto(`/helm/releases/${await clusterId(request)}/${namespace}/kept`);
  await page.getByRole('button', { name: 'Uninstall kept' }).click();
  const dialog = page.getByRole('dialog', { name: 'Uninstall kept?' });
  await dialog.getByRole('checkbox', { name: 'Keep history' }).check();
  await dialog.getByRole('combobox', { name: 'Deletion propagation' }).selectOption('foreground');
  const sent = page.waitForRequest((asked) => asked.method() === 'DELETE');
  await dialog.getByRole('button', { name: 'Uninstall' }).click();
  expect(new URL((await sent).url()).search).toBe('?keepHistory=true&cascade=foreground');
  await expect(page.getByRole('heading', { level: 1, name: 'Uninstall kept' })).toBeVisible();
  await expect(statusTag(page)).toHaveText('Completed');
  await expect(page.getByRole('list', { name: 'Timeline' })).toContainText('Uninstalling → Uninstalled');
  await page.getByRole('link', { name: 'View Release' }).click();
  await expect(page.locator('h1 ~ .pf-v6-c-label')).toHaveText('Uninstalled');
  await page.getByRole('tab', { name: 'Revisions' }).click();
  await expect(page.getByRole('button', { name: 'View revision 1' })).toBeVisible();
});

test('URLs in the notes are links, and everything else is text', async ({ page, request }) => {
  const namespace = newNamespace();
  await completed(request, await install(request, { namespace, name: 'noted' }));
  await page.goto(`/helm/releases/${await clusterId(request)}/${namespace}/noted?tab=notes`);
  const notes = page.getByRole('tabpanel', { name: 'Notes' });
  await expect(notes).toContainText('not at javascript:alert(1), and <b>this</b> is text.');
  await expect(notes.getByRole('link')).toHaveText(['https://noted.example.com/start?a=1']);
  await expect(notes.getByRole('link')).toHaveAttribute('rel', 'noopener noreferrer');
  for (const tab of ['Notes', 'Revisions', 'Operations', 'Resources']) {
    await page.getByRole('tab', { name: tab }).click();
    await expect(page.getByRole('tabpanel', { name: tab })).toBeVisible();
    await expectAccessible(page);
  }
});

test('the exact time is shown on hover and on focus', async ({ page, request }) => {
  const namespace = newNamespace();
  await completed(request, await install(request, { namespace, name: 'dated' }));
  await page.goto(`/helm/releases/${await clusterId(request)}/${namespace}`);
  const updated = releaseRows(page).locator('time').first();
  const exact = page.getByRole('tooltip').filter({ hasText: /^\w+ \d+, \d{4} at \d+:\d\d:\d\d/ });
  await updated.hover();
  await expect(exact).toBeVisible();
  await page.mouse.move(0, 0);
  await expect(exact).toHaveCount(0);
  await updated.locator('xpath=ancestor-or-self::*[@tabindex="0"][1]').focus();
  await expect(exact).toBeVisible();
});
