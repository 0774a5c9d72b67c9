import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect } from './helmtrail';

/** Fails when axe finds what keeps people from using the page as it is shown now, in either theme. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const axe = new AxeBuilder({ page }).options({ resultTypes: ['violations'], preload: false });
    // The themes differ in nothing but colours.
    const { violations } = await (
      colorScheme === 'dark' ? axe.withRules('color-contrast') : axe.withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
    ).analyze();
    expect(
      violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html, failureSummary }) => [html.slice(0, 200), failureSummary]) })),
      colorScheme,
    ).toEqual([]);
  }
}
