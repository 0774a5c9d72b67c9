import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect } from './helmtrail';

/** Fails if axe finds violations in the current page, in either theme. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await settled(page, colorScheme);
    const axe = new AxeBuilder({ page }).options({ resultTypes: ['violations'], preload: false });
    // The themes differ only in colours.
    const { violations } = await (
      colorScheme === 'dark' ? axe.withRules('color-contrast') : axe.withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
    ).analyze();
    expect(
      violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html, failureSummary }) => [html.slice(0, 200), failureSummary]) })),
      colorScheme,
    ).toEqual([]);
  }
}

/** Waits until the whole page is in one theme: the class changes with the next frame, and then colours may fade, one after another where they are inherited. */
async function settled(page: Page, colorScheme: 'dark' | 'light'): Promise<void> {
  const root = expect(page.locator('html'));
  await (colorScheme === 'dark' ? root : root.not).toContainClass('pf-v6-theme-dark');
  await page.evaluate(async () => {
    const fading = () => document.getAnimations().filter((animation) => animation instanceof CSSTransition && animation.playState === 'running');
    for (let some = fading(); some.length > 0; some = fading()) {
      await Promise.allSettled(some.map(({ finished }) => finished));
    }
  });
}
