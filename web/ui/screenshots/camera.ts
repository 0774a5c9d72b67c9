import type { Page } from '@playwright/test';
import path from 'node:path';
import { expect } from '../tests/helmtrail';

const FOLDER = path.join(import.meta.dirname, '../../../docs/screenshots');

/** Takes a screenshot of the window in both themes: name.png and name-dark.png. */
export async function shoot(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const dark = colorScheme === 'dark';
    await expect(page.locator('html')).toHaveClass(dark ? /pf-v6-theme-dark/ : /^$/);
    await page.screenshot({ path: path.join(FOLDER, `${name}${dark ? '-dark' : ''}.png`), animations: 'disabled' });
  }
  await page.emulateMedia({ colorScheme: 'light' });
}
