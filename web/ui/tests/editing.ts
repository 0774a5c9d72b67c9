import type { Locator, Page } from '@playwright/test';

/** An editor by its accessible name. */
export const editor = (page: Page, name: string | RegExp): Locator => page.getByRole('textbox', { name });

/** Replaces the text of an editor by typing. */
export async function write(text: Locator, typed: string): Promise<void> {
  await text.click();
  await text.press('ControlOrMeta+a');
  await text.pressSequentially(typed);
}
