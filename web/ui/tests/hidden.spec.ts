import type { Page } from '@playwright/test';
import { expect, HELD, install, letReady, newNamespace, statusTag, test } from './helmtrail';

/** Simulates switching to or from the tab, which a headless browser never does. */
const setVisibility = (page: Page, state: DocumentVisibilityState) =>
  page.evaluate((value) => {
    Object.defineProperty(document, 'visibilityState', { value, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);

test('a hidden tab closes its stream, polls, and shows the end in its title and icon', async ({ page, request }) => {
  const namespace = newNamespace();
  const watched = await install(request, { namespace, name: 'demo', values: HELD });
  const open = new Set<string>();
  const asked: string[] = [];
  page.on('request', (started) => {
    if (started.url().includes('/events?')) {
      open.add(started.url());
    } else if (started.url().includes('/sessions/')) {
      asked.push(started.url());
    }
  });
  page.on('requestfailed', (failed) => open.delete(failed.url()));
  page.on('requestfinished', (finished) => open.delete(finished.url()));

  await page.goto(watched);
  const icon = page.locator('link[rel="icon"]');
  await expect(statusTag(page)).toHaveText('Connected');
  await expect(icon).toHaveAttribute('href', /tab-running\.svg$/);
  expect(open.size).toBe(1);

  await setVisibility(page, 'hidden');
  await expect.poll(() => open.size).toBe(0);
  await letReady(namespace, 'demo');
  await expect(page).toHaveTitle('Completed: Install demo – helmtrail');
  await expect(icon).toHaveAttribute('href', /tab-succeeded\.svg$/);
  expect(asked.length).toBeGreaterThan(0);

  // A tab whose session has ended has no stream, visible or not.
  await setVisibility(page, 'visible');
  expect(open.size).toBe(0);
});

// Over HTTP/1.1 six open streams blocked a whole origin, silently:
// https://github.com/Dictionarry-Hub/profilarr/issues/434
test('seven tabs on running operations all stay alive over six connections', async ({ context, request }) => {
  const namespace = newNamespace();
  const pages = [];
  for (let i = 0; i < 7; i++) {
    const page = await context.newPage();
    await page.goto(await install(request, { namespace, name: `tab-${i}`, values: i < 6 ? HELD : { tag: 'doesnotexist' } }));
    await expect(page.locator('h1')).toHaveText(`Install tab-${i}`);
    if (i < 6) {
      await setVisibility(page, 'hidden');
      pages.push(page);
    } else {
      // The visible tab is live and can cancel.
      await expect(statusTag(page)).toHaveText('Connected');
      await page.getByRole('button', { name: 'Cancel Operation', exact: true }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel Operation' }).click();
      await expect(statusTag(page)).toHaveText('Canceled');
    }
  }
  await Promise.all(pages.map((_, i) => letReady(namespace, `tab-${i}`)));
  for (const page of pages) {
    await expect(page).toHaveTitle(/^Completed/, { timeout: 60_000 });
  }
});
