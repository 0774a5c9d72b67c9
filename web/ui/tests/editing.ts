import type { Locator, Page } from '@playwright/test';

/** An editor by its accessible name. */
export const editor = (page: Page, name: string | RegExp): Locator => page.getByRole('textbox', { name });

/** Replaces the text of an editor. Several lines are inserted at once: when typed, a line break could accept a completion. */
export async function write(text: Locator, typed: string): Promise<void> {
  await text.click();
  await text.press('ControlOrMeta+a');
  if (typed.includes('\n')) {
    await text.page().keyboard.insertText(typed);
  } else {
    await text.pressSequentially(typed);
  }
}
